#include "sim/results/results.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/digest.h"
#include "base/json.h"
#include "counters/snapshot.h"
#include "evidence/json.h"
#include "sim/results/fidelity.h"
#include "sim/results/results_evidence.h"

namespace weir::sim {
namespace {

double microseconds(Duration duration) {
  return static_cast<double>(duration.raw()) / 1e6;
}

template <class T>
const T& at_rank(const std::vector<T>& sorted, double share) {
  const auto rank =
      static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size()) - 1e-9));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

using LinksAt = Table<NodeId, std::vector<LinkId>>;  // in the order of the node's ports

LinksAt links_at_nodes(const Network& network) {
  LinksAt links(network.nodes.size());
  for (const LinkId l : network.links.ids()) {
    links[network.links[l].a].push_back(l);
    links[network.links[l].b].push_back(l);
  }
  return links;
}

/// The links from one NIC to another, by the first of equal paths; none where there is no path.
std::vector<LinkId> path_of(const Sim& sim, const LinksAt& links_at, NodeId source, NodeId target) {
  const Network& network = sim.network();
  std::vector<LinkId> path;
  NodeId node = source;
  while (node != target && path.size() <= network.nodes.size()) {
    std::uint32_t port = 0;
    if (node != source) {
      const auto ports = sim.routes().next(node, target);
      if (ports.empty()) return {};
      port = ports[0];
    }
    if (links_at[node].empty()) return {};
    const LinkId link = links_at[node][port];
    path.push_back(link);
    node = network.links[link].a == node ? network.links[link].b : network.links[link].a;
  }
  return node == target ? path : std::vector<LinkId>();
}

struct Path {
  std::vector<LinkId> links;
  BitRate slowest;
  Duration delay;  // cables and pipelines
  Duration frame;  // waits for a whole frame, but for the slowest link's
  Duration ack;    // the same for an ACK, all links
};

Duration on_wire(const Sim& sim, std::int64_t frame, BitRate rate) {
  return serialization_time(Bytes::raw(frame + sim.network().wire.gap), rate);
}

Path measure(const Sim& sim, const LinksAt& links_at, const QueuePair& qp,
             std::int64_t full_frame) {
  constexpr std::int64_t kHeader = 64;  // what a cut-through switch reads before it acts
  const Network& network = sim.network();
  Path path;
  path.links = path_of(sim, links_at, qp.source, qp.target);
  path.slowest = BitRate::max();
  for (const LinkId l : path.links)
    path.slowest = std::min(path.slowest, network.links[l].rate);
  bool is_slowest_counted = false;
  NodeId node = qp.source;
  for (const LinkId l : path.links) {
    const Link& link = network.links[l];
    node = link.a == node ? link.b : link.a;
    path.delay += link.propagation;
    bool cuts_through = false;
    if (network.nodes[node].kind == NodeKind::kSwitch) {
      const SwitchConfig& config = network.switch_config(node);
      path.delay += config.pipeline;
      cuts_through = config.forwarding == Forwarding::kCutThrough;
    }
    const std::int64_t waits = cuts_through ? kHeader - network.wire.gap : full_frame;
    const std::int64_t ack_waits =
        cuts_through ? kHeader - network.wire.gap : network.wire.ack_frame;
    path.ack += on_wire(sim, ack_waits, link.rate);
    if (!is_slowest_counted && link.rate == path.slowest && !cuts_through) {
      is_slowest_counted = true;
      continue;
    }
    path.frame += on_wire(sim, waits, link.rate);
  }
  return path;
}

Duration ideal_of(const Sim& sim, const LinksAt& links_at, QpId index, Bytes size) {
  const Network& network = sim.network();
  const QueuePair& qp = network.qps[index];
  const std::int64_t mtu = network.nic_config(qp.source).mtu.raw();
  const std::int64_t packets = std::max<std::int64_t>((size.raw() + mtu - 1) / mtu, 1);
  const std::int64_t full = std::min(mtu, size.raw()) + network.wire.data_header;
  const Path path = measure(sim, links_at, qp, full);
  if (path.links.empty()) return {};
  std::int64_t bytes = size.raw() + packets * (network.wire.data_header + network.wire.gap);
  if (qp.operation == Operation::kWrite) bytes += network.wire.reth;
  return serialization_time(Bytes::raw(bytes), path.slowest) + path.frame + path.delay * 2 +
         path.ack;
}

Totals totals_of(const Sim& sim, const std::vector<Flow>& flows) {
  Totals out;
  for (const PortId p : sim.ports()) {
    const PortCounters& port = sim.port_counters(p);
    for (std::size_t r = 0; r < kDropReasons; ++r)
      out.drops[r] += port.drops[r];
    out.marked += port.marked;
    const bool is_switch = sim.network().nodes[sim.node_of(p)].kind == NodeKind::kSwitch;
    for (std::uint32_t queue = 0; is_switch && queue < 8; ++queue)
      out.deepest_queue = std::max(out.deepest_queue, Bytes::raw(sim.queue_peak(p, queue)));
    for (unsigned priority = 0; priority < 8; ++priority) {
      out.pauses += port.pause_tx[priority];
      out.pause_time += Duration::raw(sim.paused_for(p, priority));
    }
  }
  out.lossless_drops = sim.lossless_drops();
  const Network& network = sim.network();
  for (const NodeId n : network.nodes.ids()) {
    if (network.nodes[n].kind != NodeKind::kNic) continue;
    const NicCounters& nic = sim.nic_counters(n);
    out.cnp_sent += nic.cnp_sent;
    out.cnp_handled += nic.cnp_handled;
    out.retransmitted += nic.retransmitted;
    out.received += sim.port_counters(sim.port_of(n, 0)).rx_frames;
  }
  out.flows = flows.size();
  return out;
}

void add_flows(const std::vector<Flow>& flows, Time end, Totals& out) {
  std::vector<Duration> completions;
  std::vector<double> slowdowns;
  std::vector<double> goodputs;
  Time first = Time::never();
  Time last;
  for (const Flow& flow : flows) {
    first = std::min(first, flow.post);
    out.failed += flow.state == MessageState::kFailed ? 1 : 0;
    if (flow.state != MessageState::kDone) continue;
    ++out.finished;
    last = std::max(last, flow.post + flow.completion);
    completions.push_back(flow.completion);
    const auto time = static_cast<double>(std::max<std::int64_t>(flow.completion.raw(), 1));
    if (flow.ideal.raw() > 0) slowdowns.push_back(time / static_cast<double>(flow.ideal.raw()));
    goodputs.push_back(static_cast<double>(flow.size.raw()) / time);
  }
  if (out.finished < out.flows) last = std::max(last, end);
  if (first < last) out.duration = last - first;
  out.completion = completion_times(std::move(completions));
  if (!slowdowns.empty()) {
    std::sort(slowdowns.begin(), slowdowns.end());
    double sum = 0;
    for (const double slowdown : slowdowns)
      sum += slowdown;
    out.slowdown_mean = sum / static_cast<double>(slowdowns.size());
    out.slowdown_p99 = at_rank(slowdowns, 0.99);
  }
  if (!goodputs.empty()) out.jain = jain_index(goodputs);
}

/// Mean over the NICs that data is sent to, of the share of the time in which their wire is busy.
double utilisation_of(const Sim& sim, Duration span) {
  const Network& network = sim.network();
  Table<NodeId, std::uint8_t> receives(network.nodes.size(), 0);
  for (const QueuePair& qp : network.qps)
    receives[qp.target] = 1;
  double sum = 0;
  double count = 0;
  for (const Link& link : network.links) {
    for (const NodeId node : {link.a, link.b}) {
      if (network.nodes[node].kind != NodeKind::kNic || receives[node] == 0) continue;
      const PortCounters& port = sim.port_counters(sim.port_of(node, 0));
      const auto bytes =
          static_cast<double>(port.rx_bytes) +
          static_cast<double>(port.rx_frames) * static_cast<double>(network.wire.gap);
      ++count;
      if (span.raw() > 0)
        sum +=
            bytes * 8e12 / static_cast<double>(link.rate.raw()) / static_cast<double>(span.raw());
    }
  }
  return count == 0 ? 0 : sum / count;
}

Json times_json(const CompletionTimes& times) {
  return {{"mean", microseconds(times.mean)},
          {"p50", microseconds(times.p50)},
          {"p99", microseconds(times.p99)},
          {"p999", microseconds(times.p999)},
          {"max", microseconds(times.max)}};
}

void add_counters(std::string& text, const std::string& owner,
                  const std::vector<counters::PortCounters>& ports) {
  for (const counters::PortCounters& port : ports)
    for (const counters::ShownSample& sample : port.samples())
      if (sample.reading.has_value() && sample.reading.value() != 0)
        text += fmt::format("{},{},{},{},{}\n", owner.empty() ? port.device() : owner,
                            owner.empty() ? "" : port.device(), port.netdev(), sample.key(),
                            sample.reading.value());
}

}  // namespace

Results collect_flows(const Sim& sim, Time end) {
  Results out;
  out.digest = sim.digest();
  out.seed = sim.network().seed;
  const Network& network = sim.network();
  const LinksAt links_at = links_at_nodes(network);
  struct Ideal {
    Bytes size = Bytes::raw(-1);
    Duration time;
  };
  Table<QpId, Ideal> last(network.qps.size());  // messages of a QP are mostly of one size
  for (const MessageId m : sim.messages().ids()) {
    Flow flow = flow_of(sim, m);
    const QpId qp = sim.messages()[m].qp;
    if (last[qp].size != flow.size) last[qp] = {flow.size, ideal_of(sim, links_at, qp, flow.size)};
    flow.ideal = last[qp].time;
    out.flows.push_back(flow);
  }
  out.totals = totals_of(sim, out.flows);
  add_flows(out.flows, end, out.totals);
  out.totals.utilisation = utilisation_of(sim, out.totals.duration);
  return out;
}

Results collect(const design::Intent& intent, const Placement& placement, const Sim& sim,
                Time end) {
  Results out = collect_flows(sim, end);
  EvidenceSource source(intent, placement, sim, end);
  for (std::uint32_t h = 0; h < intent.hosts.size(); ++h)
    out.hosts.push_back(host_evidence(source, h));
  out.switches = switch_evidence(source);
  return out;
}

void add_json(Json& object, const Results& results, bool with_evidence) {
  const Totals& totals = results.totals;
  object["flows"] = {{"count", totals.flows},
                     {"finished", totals.finished},
                     {"failed", totals.failed},
                     {"fct_us", times_json(totals.completion)},
                     {"slowdown", {{"mean", totals.slowdown_mean}, {"p99", totals.slowdown_p99}}}};
  object["drops"] = Json::object();
  for (std::size_t r = 0; r < kDropReasons; ++r)
    if (totals.drops[r] > 0)
      object["drops"][std::string(to_text(static_cast<DropReason>(r)))] = totals.drops[r];
  object["lossless_drops"] = totals.lossless_drops;
  object["pfc"] = {{"pauses", totals.pauses}, {"pause_us", microseconds(totals.pause_time)}};
  object["ecn"] = {{"marked", totals.marked},
                   {"share", totals.received == 0 ? 0.0
                                                  : static_cast<double>(totals.marked) /
                                                        static_cast<double>(totals.received)}};
  object["cnp"] = {{"sent", totals.cnp_sent}, {"handled", totals.cnp_handled}};
  object["retransmitted"] = totals.retransmitted;
  object["utilisation"] = totals.utilisation;
  object["jain"] = totals.jain;
  object["simulated_us"] = microseconds(totals.duration);
  if (!with_evidence) return;
  object["ports"] = Json::array();
  if (!results.switches.snapshots.empty())
    for (const counters::PortCounters& port : results.switches.snapshots.back().switch_ports)
      object["ports"].push_back(counters::to_json(port));
  object["hosts"] = Json::array();
  for (const evidence::Evidence& host : results.hosts)
    object["hosts"].push_back(evidence::to_json(host));
  object["switches"] = evidence::to_json(results.switches);
}

std::string flows_csv(const Results& results, const Sim& sim) {
  std::string text = "flow,source,target,bytes,post_us,completion_us,ideal_us,state\n";
  for (const Flow& flow : results.flows) {
    const std::string_view state = flow.state == MessageState::kDone     ? "done"
                                   : flow.state == MessageState::kFailed ? "failed"
                                                                         : "unfinished";
    text +=
        fmt::format("{},{},{},{},{:.6f},{:.6f},{:.6f},{}\n", to_index(flow.message),
                    sim.network().nodes[flow.source].name, sim.network().nodes[flow.target].name,
                    flow.size.raw(), microseconds(flow.post.since_start()),
                    microseconds(flow.completion), microseconds(flow.ideal), state);
  }
  return text;
}

std::string counters_csv(const Results& results) {
  std::string text = "node,device,port,counter,value\n";
  for (const evidence::Evidence& host : results.hosts)
    add_counters(text, host.provenance.host, host.snapshots.back().nics);
  if (!results.switches.snapshots.empty())
    add_counters(text, "", results.switches.snapshots.back().switch_ports);
  return text;
}

}  // namespace weir::sim
