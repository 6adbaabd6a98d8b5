#include "sim/results/results.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/digest.h"
#include "base/json.h"
#include "counters/snapshot.h"
#include "evidence/json.h"
#include "sim/fabric/path.h"
#include "sim/results/fidelity.h"
#include "sim/results/results_evidence.h"

namespace weir::sim {
namespace {

double microseconds(Duration duration) {
  return static_cast<double>(duration.raw()) / 1e6;
}

Totals totals_of(const Sim& sim) {
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
  return out;
}

/// Values with how often each occurs.
using Weighted = std::vector<std::pair<double, std::uint64_t>>;  // report only

/// Adds up one by one as long as that takes no time to speak of, so that a run has the same sum
/// whether its values were simulated or repeated.
class Sum {
 public:
  explicit Sum(bool is_exact) : is_exact_(is_exact) {}
  void add(double value, std::uint64_t times) {
    if (!is_exact_) sum_ += value * static_cast<double>(times);
    for (std::uint64_t i = 0; is_exact_ && i < times; ++i)
      sum_ += value;
  }
  [[nodiscard]] double value() const { return sum_; }

 private:
  bool is_exact_;
  double sum_ = 0;  // report only
};

double completion_ps(const Flow& flow) {
  return static_cast<double>(std::max<std::int64_t>(flow.completion.raw(), 1));
}

void add_slowdowns(Weighted values, bool is_exact, Totals& out) {
  std::sort(values.begin(), values.end());
  Sum sum(is_exact);
  std::uint64_t count = 0;
  for (const auto& [slowdown, times] : values) {
    sum.add(slowdown, times);
    count += times;
  }
  out.slowdown_mean = sum.value() / static_cast<double>(count);
  const auto rank = static_cast<std::uint64_t>(std::ceil(0.99 * static_cast<double>(count) - 1e-9));
  std::uint64_t passed = 0;
  for (const auto& [slowdown, times] : values) {
    passed += times;
    out.slowdown_p99 = slowdown;
    if (passed >= rank) break;
  }
}

/// jain_index() of the goodputs of finished flows, in the order of the flows.
double fairness_of(const Results& results, bool is_exact) {
  Sum sum(is_exact);
  Sum squares(is_exact);
  const auto add = [&](MessageId m, std::uint64_t times) {
    const Flow& flow = results.flows[to_index(m)];
    if (!flow.is_done()) return;
    const double goodput = static_cast<double>(flow.size.raw()) / completion_ps(flow);
    sum.add(goodput, times);
    squares.add(goodput * goodput, times);
  };
  const auto count = to_id<MessageId>(results.flows.size());
  if (is_exact)
    for_each_in_order(results.repeats, count, [&](MessageId m, Ps) { add(m, 1); });
  else
    for_each_with_count(results.repeats, count,
                        [&](MessageId m, std::uint64_t times, Ps) { add(m, times); });
  const double all = static_cast<double>(results.totals.finished) * squares.value();
  return squares.value() == 0 ? 1 : sum.value() * sum.value() / all;
}

void add_flows(const Results& results, Time end, Totals& out) {
  std::vector<TimesOf> completions;
  Weighted slowdowns;
  Time first = Time::never();
  Time last;
  const auto add = [&](MessageId m, std::uint64_t times, Ps shift) {
    const Flow& flow = results.flows[to_index(m)];
    first = std::min(first, flow.post);
    out.flows += times;
    out.failed += flow.state == MessageState::kFailed ? times : 0;
    if (!flow.is_done()) return;
    out.finished += times;
    last = std::max(last, flow.post + flow.completion + Duration::raw(shift));
    completions.push_back({flow.completion, times});
    if (flow.ideal.raw() > 0)
      slowdowns.emplace_back(completion_ps(flow) / static_cast<double>(flow.ideal.raw()), times);
  };
  for_each_with_count(results.repeats, to_id<MessageId>(results.flows.size()), add);
  if (out.finished < out.flows) last = std::max(last, end);
  if (first < last) out.duration = last - first;
  out.completion = completion_times_of(std::move(completions));
  const bool is_exact = out.flows <= kMostMessages;
  if (!slowdowns.empty()) add_slowdowns(std::move(slowdowns), is_exact, out);
  if (out.finished > 0) out.jain = fairness_of(results, is_exact);
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
  const QpPaths paths(network, sim.routes());
  struct Ideal {
    Bytes size = Bytes::raw(-1);
    Duration time;
  };
  Table<QpId, Ideal> last(network.qps.size());  // messages of a QP are mostly of one size
  for (const MessageId m : sim.messages().ids()) {
    Flow flow = flow_of(sim, m);
    const QpId qp = sim.messages()[m].qp;
    if (last[qp].size != flow.size) last[qp] = {flow.size, paths.ideal(network.qps[qp], flow.size)};
    flow.ideal = last[qp].time;
    out.flows.push_back(flow);
  }
  out.repeats = sim.repeats();
  out.totals = totals_of(sim);
  add_flows(out, end, out.totals);
  out.totals.utilisation = utilisation_of(sim, out.totals.duration);
  return out;
}

std::vector<Flow> every_flow(const Results& results) {
  std::vector<Flow> out;
  out.reserve(results.totals.flows);
  for_each_in_order(results.repeats, to_id<MessageId>(results.flows.size()),
                    [&](MessageId m, Ps shift) {
                      Flow& flow = out.emplace_back(results.flows[to_index(m)]);
                      flow.message = to_id<MessageId>(out.size() - 1);
                      flow.post = flow.post + Duration::raw(shift);
                    });
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

std::string difference(const Results& a, const Results& b) {
  if (a.digest != b.digest)
    return fmt::format("digest {:016x} against {:016x}", a.digest, b.digest);
  const std::vector<Flow> left = every_flow(a);
  const std::vector<Flow> right = every_flow(b);
  if (left.size() != right.size())
    return fmt::format("{} flows against {}", left.size(), right.size());
  for (std::size_t i = 0; i < left.size(); ++i)
    if (!(left[i] == right[i])) return fmt::format("flow {}", i);
  Json first;
  Json second;
  add_json(first, a, true);
  add_json(second, b, true);
  for (const auto& [key, value] : first.items())
    if (value != second[key]) return key;
  return "";
}

std::string flows_csv(const Results& results, const Sim& sim) {
  std::string text = "flow,source,target,bytes,post_us,completion_us,ideal_us,state\n";
  for (const Flow& flow : every_flow(results)) {
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
