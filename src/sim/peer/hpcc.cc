#include "sim/peer/hpcc.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "sim/peer/hpcc_native.h"
#include "sim/peer/hpcc_peer.h"
#include "units/format.h"

namespace weir::sim {
namespace {

using Words = std::vector<std::string_view>;

Words words_of(std::string_view line) {
  Words words;
  std::size_t at = 0;
  while (at < line.size()) {
    while (at < line.size() && (line[at] == ' ' || line[at] == '\t' || line[at] == '\r'))
      ++at;
    const std::size_t from = at;
    while (at < line.size() && line[at] != ' ' && line[at] != '\t' && line[at] != '\r')
      ++at;
    if (at > from) words.push_back(line.substr(from, at - from));
  }
  return words;
}

Result<double> parse_double(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0))  // nor "nan"
    return parse_error(fmt::format("expected a decimal number, found '{}'", text));
  return value;
}

/// A decimal fraction as so many parts of `whole`, to the nearest: "0.2" of 1000000 is 200000.
Result<std::int64_t> parse_decimal(std::string_view text, std::int64_t whole) {
  WEIR_TRY(value, parse_double(text));
  const double parts = value * static_cast<double>(whole) + 0.5;
  constexpr double kMost = 9e18;  // below the largest 64-bit number
  if (parts > kMost) return parse_error(fmt::format("{} is too large", text));
  return static_cast<std::int64_t>(parts);
}

struct Config {
  std::map<std::string, Words, std::less<>> values;

  [[nodiscard]] Result<std::string_view> text(std::string_view key) const {
    const auto found = values.find(key);
    if (found == values.end() || found->second.empty())
      return not_found_error(fmt::format("the configuration lacks {}", key));
    return found->second[0];
  }
  [[nodiscard]] Result<std::int64_t> number(std::string_view key, std::int64_t unit,
                                            std::optional<std::int64_t> otherwise = {}) const {
    const auto found = text(key);
    if (!found && otherwise) return *otherwise;
    WEIR_TRY(value, text(key));
    auto parsed = parse_decimal(value, unit);
    if (!parsed) return parsed.error().within(std::string(key));
    return parsed;
  }
  [[nodiscard]] Result<std::int64_t> rate(std::string_view key) const {
    WEIR_TRY(value, text(key));
    std::string written(value);
    if (written.ends_with("b/s")) written.replace(written.size() - 3, 3, "bps");
    WEIR_TRY(parsed, parse_rate(written));
    return parsed.raw();
  }
  /// KMAX_MAP and its like: a count, then pairs of link rate and value.
  [[nodiscard]] Result<std::map<std::int64_t, std::int64_t>> by_rate(std::string_view key,
                                                                     std::int64_t unit) const {
    std::map<std::int64_t, std::int64_t> map;
    const auto found = values.find(key);
    if (found == values.end())
      return not_found_error(fmt::format("the configuration lacks {}", key));
    const Words& words = found->second;
    for (std::size_t i = 1; i + 1 < words.size(); i += 2) {
      WEIR_TRY(rate, parse_u64(words[i]));
      WEIR_TRY(value, parse_decimal(words[i + 1], unit));
      map[static_cast<std::int64_t>(rate)] = value;
    }
    return map;
  }
};

Result<std::string> read_beside(const std::string& config_path, std::string_view name) {
  const std::size_t slash = config_path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : config_path.substr(0, slash);
  const std::string written(name);
  if (file_exists(written)) return read_file(written);
  for (std::string at = directory + "/"; at.size() < directory.size() + 8; at += "../")
    if (file_exists(at + written)) return read_file(at + written);
  return not_found_error(
      fmt::format("{}: not found as written, beside {} or in the two directories above it", written,
                  config_path));
}

Result<Config> parse_config(const std::string& content) {
  Config config;
  for (const std::string_view line : split(content, '\n')) {
    Words words = words_of(line);
    if (words.empty() || words[0].starts_with('#')) continue;
    const std::string key(words[0]);
    words.erase(words.begin());
    config.values[key] = std::move(words);
  }
  WEIR_TRY(mode, config.number("CC_MODE", 1));
  if (mode != 1)
    return Error{ErrorCode::kUnsupported,
                 fmt::format("CC_MODE {}: only 1 (DCQCN) can be simulated", mode)};
  WEIR_TRY(back_to_zero, config.number("L2_BACK_TO_ZERO", 1, 0));
  if (back_to_zero != 0)
    return Error{ErrorCode::kUnsupported, "L2_BACK_TO_ZERO 1: chunk mode cannot be simulated"};
  return config;
}

Result<NicConfig> nic_from(const Config& config, std::int64_t payload) {
  NicConfig nic;
  nic.mtu = Bytes::raw(payload);
  nic.dscp_to_priority.fill(3);
  nic.ack_priority = Priority::of(7);  // ACKs go first at the host, and pause does not hold them
  nic.strict.insert(Priority::of(7));
  nic.pfc.insert(Priority::of(3));
  nic.nak_interval = 500_us;
  DcqcnConfig& dcqcn = nic.dcqcn;
  dcqcn = dcqcn_defaults(DcqcnVariant::kHpccNs3);
  WEIR_TRY(alpha, config.number("ALPHA_RESUME_INTERVAL", 1'000'000));
  WEIR_TRY(cut, config.number("RATE_DECREASE_INTERVAL", 1'000'000));
  WEIR_TRY(timer, config.number("RP_TIMER", 1'000'000));
  WEIR_TRY(gain, config.number("EWMA_GAIN", kAlphaOne));
  if (gain > kAlphaOne) return parse_error("EWMA_GAIN: expected 0 to 1");
  WEIR_TRY(fast, config.number("FAST_RECOVERY_TIMES", 1));
  WEIR_TRY(ai, config.rate("RATE_AI"));
  WEIR_TRY(hai, config.rate("RATE_HAI"));
  WEIR_TRY(least, config.rate("MIN_RATE"));
  WEIR_TRY(clamp, config.number("CLAMP_TARGET_RATE", 1, 0));
  dcqcn.alpha_period = Duration::raw(alpha);
  dcqcn.cut_period = Duration::raw(cut);
  dcqcn.increase_period = Duration::raw(timer);
  dcqcn.g = gain;
  dcqcn.threshold = static_cast<std::uint32_t>(fast);
  dcqcn.ai_rate = ai;
  dcqcn.hai_rate = hai;
  dcqcn.min_rate = least;
  dcqcn.clamp_target = clamp != 0;
  prepare(dcqcn);
  return nic;
}

constexpr std::uint64_t kMostNodes = 65536;

Status read_topology(const std::string& content, std::int64_t error_ppm, Network& network) {
  std::vector<Words> lines;
  for (const std::string_view line : split(content, '\n'))
    if (Words words = words_of(line); !words.empty()) lines.push_back(std::move(words));
  if (lines.size() < 2 || lines[0].size() < 3)
    return parse_error("topology: line 1 must be 'nodes switches links'");
  WEIR_TRY(nodes, parse_u64(lines[0][0]));
  WEIR_TRY(links, parse_u64(lines[0][2]));
  if (lines.size() - 2 < links)
    return parse_error(
        fmt::format("topology: {} links promised, {} found", links, lines.size() - 2));
  // A host has one link, so that more are not joined; the peer gives each node an address of two
  // bytes (hpcc_address).
  const std::uint64_t most = std::min<std::uint64_t>(2 * links + lines[1].size(), kMostNodes);
  if (nodes > most)
    return parse_error(
        fmt::format("topology: {} nodes; {} are the most that {} links and {} switches can be, and "
                    "{} the most that the simulator addresses",
                    nodes, 2 * links + lines[1].size(), links, lines[1].size(), kMostNodes));
  network.nodes.resize(nodes);
  for (const std::string_view word : lines[1]) {
    WEIR_TRY(id, parse_u64(word));
    if (id >= nodes) return parse_error(fmt::format("topology: switch {} of {} nodes", id, nodes));
    network.nodes[to_id<NodeId>(id)].kind = NodeKind::kSwitch;
  }
  for (std::size_t i = 2; i < 2 + links; ++i) {
    const Words& w = lines[i];
    if (w.size() < 5)
      return parse_error(fmt::format("topology line {}: expected 'a b rate delay loss'", i + 1));
    Link link;
    WEIR_TRY(a, parse_u64(w[0]));
    WEIR_TRY(b, parse_u64(w[1]));
    WEIR_TRY(rate, parse_rate(w[2]));
    WEIR_TRY(delay, parse_duration(w[3]));
    WEIR_TRY(loss, parse_decimal(w[4], std::int64_t{1} << 32U));
    if (a >= nodes || b >= nodes)
      return parse_error(
          fmt::format("topology line {}: nodes {} and {} of {}", i + 1, a, b, nodes));
    link.a = to_id<NodeId>(a);
    link.b = to_id<NodeId>(b);
    link.rate = rate;
    link.propagation = delay;
    link.error_threshold = static_cast<std::uint64_t>(std::max(loss, error_ppm));
    network.links.push_back(link);
  }
  return {};
}

Status configure_switches(const Config& config, Network& network) {
  WEIR_TRY(buffer, config.number("BUFFER_SIZE", 1));
  WEIR_TRY(qcn, config.number("ENABLE_QCN", 1));
  WEIR_TRY(kmin, config.by_rate("KMIN_MAP", 1000));
  WEIR_TRY(kmax, config.by_rate("KMAX_MAP", 1000));
  WEIR_TRY(pmax, config.by_rate("PMAX_MAP", kSharePerWhole));
  std::int64_t nic_rate = 0;
  for (const Link& link : network.links)
    for (const NodeId end : {link.a, link.b})
      if (network.nodes[end].kind == NodeKind::kNic) nic_rate = link.rate.raw();
  for (const NodeId n : network.nodes.ids()) {
    if (network.nodes[n].kind != NodeKind::kSwitch) continue;
    network.nodes[n].config = static_cast<std::uint32_t>(network.switches.size());
    SwitchConfig sw;
    sw.buffer = Bytes::raw(buffer << 20U);
    sw.dscp_to_class.fill(3);
    sw.pfc.insert(Priority::of(3));
    IngressGroup& group = sw.groups[3];
    group.lossless = true;
    group.reserved = 4_KiB;
    group.xon_offset = 3_KiB;
    group.alpha = Alpha::from_log2(-3);
    for (const Link& link : network.links) {
      if (link.a != n && link.b != n) continue;
      const std::int64_t rate = link.rate.raw();
      int shift = 3;
      for (std::int64_t r = rate; r > nic_rate && shift > 0; r /= 2)
        --shift;
      sw.port_alpha.push_back(Alpha::from_log2(-shift));
      // three times what the cable holds one way: rate * delay / 8 * 3
      sw.port_headroom.push_back(bytes_in(link.propagation, link.rate) * 3);
      Wred wred;
      wred.enabled = qcn != 0;
      if (qcn != 0 && (!kmin.contains(rate) || !kmax.contains(rate) || !pmax.contains(rate)))
        return not_found_error(fmt::format("KMIN_MAP, KMAX_MAP or PMAX_MAP lacks rate {}", rate));
      if (qcn != 0) {
        wred.min = Bytes::raw(kmin[rate]);
        wred.max = Bytes::raw(kmax[rate]);
        wred.max_probability = Share::raw(pmax[rate]);
      }
      sw.port_wred.push_back(wred);
    }
    network.switches.push_back(std::move(sw));
  }
  return {};
}

struct Path {
  std::uint32_t rtt_ns = 0;
  std::int64_t bottleneck = 0;
};

/// Next hops by descending node id, and for each pair of hosts the peer's idea of its RTT.
class Paths {
 public:
  Paths(const Network& network, std::int64_t payload) : network_(network), payload_(payload) {
    around_.resize(network.nodes.size());
    for (const LinkId l : network.links.ids()) {
      around_[network.links[l].a].emplace_back(network.links[l].b, l);
      around_[network.links[l].b].emplace_back(network.links[l].a, l);
    }
    for (auto& list : around_)
      std::sort(list.begin(), list.end(), std::greater<>());
  }
  /// Breadth first from `destination`, as the peer does it.
  void search(NodeId destination) {
    distance_.assign(network_.nodes.size(), -1);
    path_.assign(network_.nodes.size(), {});
    std::vector<NodeId> queue{destination};
    distance_[destination] = 0;
    path_[destination].bottleneck = INT64_MAX;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const NodeId node = queue[i];
      if (node != destination && network_.nodes[node].kind == NodeKind::kNic) continue;
      for (const auto& [next, l] : around_[node]) {
        if (distance_[next] >= 0) continue;
        const Link& link = network_.links[l];
        distance_[next] = distance_[node] + 1;
        path_[next].rtt_ns = path_[node].rtt_ns +
                             static_cast<std::uint32_t>(link.propagation.raw() / 1000 * 2) +
                             static_cast<std::uint32_t>(payload_ * 8'000'000'000 / link.rate.raw());
        path_[next].bottleneck = std::min(path_[node].bottleneck, link.rate.raw());
        queue.push_back(next);
      }
    }
  }
  [[nodiscard]] const Path& path(NodeId from) const { return path_[from]; }
  [[nodiscard]] std::vector<NodeId> next(NodeId node) const {
    std::vector<NodeId> hops;
    for (const auto& [neighbour, link] : around_[node])
      if (distance_[neighbour] >= 0 && distance_[neighbour] + 1 == distance_[node])
        hops.push_back(neighbour);
    return hops;
  }

 private:
  const Network& network_;
  std::int64_t payload_;
  Table<NodeId, std::vector<std::pair<NodeId, LinkId>>> around_;
  Table<NodeId, int> distance_;
  Table<NodeId, Path> path_;
};

Status read_flows(const std::string& content, HpccRun& run) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint16_t> count;
  std::size_t line_number = 0;
  std::optional<std::uint64_t> group;
  for (const std::string_view line : split(content, '\n')) {
    const Words w = words_of(line);
    if (++line_number == 1 || w.empty()) continue;
    if (w.size() < 6)
      return parse_error(
          fmt::format("flows line {}: expected 'src dst group port bytes start'", line_number));
    WEIR_TRY(source, parse_u64(w[0]));
    WEIR_TRY(target, parse_u64(w[1]));
    WEIR_TRY(pg, parse_u64(w[2]));
    WEIR_TRY(port, parse_u64(w[3]));
    WEIR_TRY(bytes, parse_u64(w[4]));
    WEIR_TRY(start, parse_double(w[5]));
    const std::uint64_t nodes = run.network.nodes.size();
    if (source >= nodes || target >= nodes)
      return parse_error(fmt::format("flows line {}: from node {} to node {} of {}", line_number,
                                     source, target, nodes));
    constexpr double kLongest = 9e6;  // seconds: Time ends behind that
    if (port > UINT16_MAX || bytes > INT64_MAX || start > kLongest)
      return parse_error(fmt::format(
          "flows line {}: expected a port up to 65535, bytes up to 2^63 and a start within {} s",
          line_number, kLongest));
    if (group.value_or(pg) != pg)
      return Error{ErrorCode::kUnsupported, "flows of more than one priority group"};
    group = pg;
    QueuePair qp;
    qp.source = to_id<NodeId>(source);
    qp.target = to_id<NodeId>(target);
    qp.source_port = static_cast<std::uint16_t>(10000 + count[{source, target}]++);
    qp.tos = (3U << 2U) | 2U;
    run.target_port.push_back(static_cast<std::uint16_t>(port));
    run.network.messages.push_back({run.network.qps.end_id(),
                                    Bytes::raw(static_cast<std::int64_t>(bytes)),
                                    Time::at(Duration::raw(hpcc_time(start)))});
    run.network.qps.push_back(qp);
  }
  return {};
}

void set_paths(HpccRun& run, std::int64_t payload) {
  Network& network = run.network;
  Paths paths(network, payload);
  const std::size_t nodes = network.nodes.size();
  run.base_rtt_ns.resize(network.qps.size());
  run.bottleneck.resize(network.qps.size());
  ExplicitRoutes routes;
  routes.next.assign(nodes, Table<NodeId, std::vector<NodeId>>(nodes));
  for (const NodeId d : network.nodes.ids()) {
    if (network.nodes[d].kind != NodeKind::kNic) continue;
    paths.search(d);
    for (const NodeId n : network.nodes.ids())
      if (network.nodes[n].kind == NodeKind::kSwitch) routes.next[n][d] = paths.next(n);
    for (const QpId q : network.qps.ids()) {
      if (network.qps[q].target != d) continue;
      const Path& path = paths.path(network.qps[q].source);
      run.base_rtt_ns[q] = path.rtt_ns;
      run.bottleneck[q] = path.bottleneck;
    }
  }
  network.routes = std::move(routes);
}

/// Everything but the paths and what follows from them.
Result<HpccRun> make_run(const Config& config, const std::string& topology,
                         const std::string& flows) {
  HpccRun run;
  Network& network = run.network;
  network.model = Model::kHpcc;
  WEIR_TRY(payload, config.number("PACKET_PAYLOAD_SIZE", 1));
  // PPP-sized Ethernet 14 + IP 20 + UDP 8 + sequence 6; ACK 60; pause frame 43; no gap.
  network.wire = {
      .data_header = 48, .reth = 0, .ack_frame = 60, .cnp_frame = 60, .pfc_frame = 43, .gap = 0};
  WEIR_TRY(nic, nic_from(config, payload));
  WEIR_TRY(stop, config.number("SIMULATOR_STOP_TIME", 1'000'000'000));
  run.stop = Time::at(Duration::raw(stop * 1000));
  WEIR_TRY(errors, config.number("ERROR_RATE_PER_LINK", std::int64_t{1} << 32U, 0));
  WEIR_TRY_STATUS(read_topology(topology, errors, network));
  WEIR_TRY_STATUS(configure_switches(config, network));
  WEIR_TRY_STATUS(read_flows(flows, run));
  network.nics.push_back(nic);
  // Of two things at one instant the peer does first what it scheduled first: the ACK when it was
  // longer on its way than an alpha period.
  for (const Link& link : network.links)
    for (const NodeId end : {link.a, link.b})
      if (network.nodes[end].kind == NodeKind::kNic)
        network.nics[0].dcqcn.cnp_before_tick =
            link.propagation + serialization_time(60_B, link.rate) > nic.dcqcn.alpha_period;
  // Streams that its set-up takes: six per node and two more, found by search on a reference run.
  network.peer_streams = 2 + 6 * network.nodes.size();
  WEIR_TRY_STATUS(check_network(network));
  return run;
}

Result<HpccRun> read_run(const std::string& config_path, const Config& config) {
  WEIR_TRY(topology_name, config.text("TOPOLOGY_FILE"));
  WEIR_TRY(topology, read_beside(config_path, topology_name));
  WEIR_TRY(flow_name, config.text("FLOW_FILE"));
  WEIR_TRY(flows, read_beside(config_path, flow_name));
  return make_run(config, topology, flows);
}

/// The peer's paths, and the window that is made of them.
Status add_paths(const Config& config, HpccRun& run) {
  Network& network = run.network;
  set_paths(run, network.nics[0].mtu.raw());
  WEIR_TRY(window, config.number("HAS_WIN", 1, 0));
  WEIR_TRY(scales, config.number("VAR_WIN", 1, 0));
  if (window == 0) return {};
  std::int64_t largest = 0;
  for (const QpId q : network.qps.ids())
    largest = std::max(largest, run.base_rtt_ns[q] * run.bottleneck[q] / 8 / 1'000'000'000);
  network.nics[0].window = largest;
  network.nics[0].window_follows_rate = scales != 0;
  return {};
}

}  // namespace

Result<HpccRun> read_hpcc_native(const std::string& config_path) {
  WEIR_TRY(content, read_file(config_path));
  WEIR_TRY(config, parse_config(content));
  WEIR_TRY(window, config.number("HAS_WIN", 1, 0));
  // A window is made of the peer's paths, so then they are needed after all.
  WEIR_TRY(run, window != 0 ? read_hpcc(config_path) : read_run(config_path, config));
  make_native(run.network);
  return run;
}

Result<HpccRun> read_hpcc(const std::string& config_path) {
  WEIR_TRY(content, read_file(config_path));
  WEIR_TRY(config, parse_config(content));
  WEIR_TRY(run, read_run(config_path, config));
  WEIR_TRY_STATUS(add_paths(config, run));
  return run;
}

Result<HpccRun> parse_hpcc(const HpccFiles& files) {
  WEIR_TRY(config, parse_config(files.config));
  WEIR_TRY(run, make_run(config, files.topology, files.flows));
  WEIR_TRY_STATUS(add_paths(config, run));
  return run;
}

std::string hpcc_fct(const HpccRun& run, const Sim& sim) {
  std::vector<MessageId> order;
  for (const MessageId m : sim.messages().ids())
    if (sim.messages()[m].state == MessageState::kDone) order.push_back(m);
  std::stable_sort(order.begin(), order.end(), [&](MessageId a, MessageId b) {
    return sim.messages()[a].done < sim.messages()[b].done;
  });
  std::string out;
  const std::int64_t payload = sim.network().nics[0].mtu.raw();
  for (const MessageId m : order) {
    const MessageRecord& message = sim.messages()[m];
    const QueuePair& qp = sim.network().qps[message.qp];
    const std::int64_t packets = (message.size - 1) / payload + 1;
    const std::int64_t alone = run.base_rtt_ns[message.qp] + (message.size + packets * 48) *
                                                                 8'000'000'000 /
                                                                 run.bottleneck[message.qp];
    out +=
        fmt::format("{:08x} {:08x} {} {} {} {} {} {}\n", hpcc_address(qp.source),
                    hpcc_address(qp.target), qp.source_port, run.target_port[message.qp],
                    message.size, message.post / 1000, (message.done - message.post) / 1000, alone);
  }
  return out;
}

std::string hpcc_pfc(const PauseLog& log, const Sim& sim) {
  std::string out;
  for (const PauseLog::Entry& entry : log.entries()) {
    const NodeId node = sim.node_of(entry.port);
    const bool is_switch = sim.network().nodes[node].kind == NodeKind::kSwitch;
    out += fmt::format("{} {} {} {} {}\n", entry.at / 1000, to_index(node), is_switch ? 1 : 0,
                       sim.local_port(entry.port) + 1, entry.pause ? 1 : 0);
  }
  return out;
}

}  // namespace weir::sim
