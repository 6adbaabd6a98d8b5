#include "sim/results/results_evidence.h"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

#include "counters/catalog.h"
#include "design/file/words.h"
#include "evidence/deviation.h"

namespace weir::sim {
namespace {

using counters::Reading;
using evidence::Fact;

const std::string kSimulated = "simulation";

template <class T>
Fact<T> known(T value) {
  return Fact<T>::of(std::move(value), kSimulated);
}

/// A clock that starts with the run, on a day nobody takes for today.
std::string time_text(Ps ps) {
  const std::int64_t us = ps / 1'000'000;
  const std::int64_t s = us / 1'000'000;
  return fmt::format("1970-01-01T{:02}:{:02}:{:02}.{:06}Z", s / 3600, s / 60 % 60, s % 60,
                     us % 1'000'000);
}

evidence::Provenance provenance(const EvidenceSource& source, std::string host) {
  return {.host = std::move(host),
          .time = time_text(source.end.since_start().raw()),
          .tool = "weir sim",
          .origin = evidence::Origin::kLab,
          .simulated = true,
          .detail = fmt::format("seed {}", source.sim.network().seed)};
}

// ---- counters ----

/// Readings under the names that a driver has for the ids of the catalogue; what the driver does
/// not show is left out.
class Counting {
 public:
  /// `id`: text that outlives `layouts`, such as a literal.
  Counting(counters::Driver driver, LayoutsByNames& layouts) : driver_(driver), layouts_(layouts) {}

  void add(std::string_view id, std::uint64_t value, unsigned number = 0) {
    const counters::RawName* const name = layouts_.name_of(driver_, id);
    if (name != nullptr) add(*name, value, number);
  }
  void add(const counters::RawName& name, std::uint64_t value, unsigned number = 0) {
    names_.push_back({&name, number});
    readings_.push_back(Reading::of(value / std::max<std::uint64_t>(name.scale, 1)));
  }
  [[nodiscard]] counters::Driver driver() const { return driver_; }
  [[nodiscard]] counters::PortCounters take(std::string device, std::string netdev,
                                            std::string driver) const {
    const LayoutsByNames::Entry& entry = layouts_.of(driver_, names_);
    std::vector<Reading> sorted(entry.layout->size(), Reading::of(0));
    // Backwards: where two groups stand for one priority, the first counts.
    for (std::size_t i = readings_.size(); i-- > 0;)
      sorted[entry.positions[i]] = readings_[i];
    return {std::move(device), std::move(netdev), std::move(driver), entry.layout,
            std::move(sorted)};
  }

 private:
  counters::Driver driver_;
  LayoutsByNames& layouts_;
  std::vector<CounterName> names_;
  std::vector<Reading> readings_;
};

std::uint64_t whole_microseconds(Ps ps) {
  return static_cast<std::uint64_t>(ps / 1'000'000);
}

std::uint64_t dropped(const PortCounters& port, DropReason reason) {
  return port.drops[static_cast<std::size_t>(reason)];
}

std::uint64_t downs_of(const Sim& sim, LinkId link) {
  return static_cast<std::uint64_t>(std::count_if(
      sim.network().changes.begin(), sim.network().changes.end(), [&](const LinkChange& change) {
        return change.link == link && !change.up && change.at.since_start().raw() <= sim.now();
      }));
}

bool is_up(const Sim& sim, LinkId link) {
  bool up = sim.network().links[link].up;
  for (const LinkChange& change : sim.network().changes)
    if (change.link == link && change.at.since_start().raw() <= sim.now()) up = change.up;
  return up;
}

/// Ids of the pauses of a priority, at a NIC and at a switch.
struct PauseIds {
  std::string_view rx_frames, tx_frames, rx_time, tx_time, transitions;
};
constexpr PauseIds kNicPauses = {"nic.prio.pause_rx.frames", "nic.prio.pause_tx.frames",
                                 "nic.prio.pause_rx.microseconds", "nic.prio.pause_tx.microseconds",
                                 "nic.prio.pause_rx.transitions.events"};
constexpr PauseIds kSwitchPauses = {"switch.prio.pause_rx.frames", "switch.prio.pause_tx.frames",
                                    "switch.prio.pause_rx.microseconds",
                                    "switch.prio.pause_tx.microseconds",
                                    "switch.prio.pause_rx.transitions.events"};

/// What both ends know of the pauses of a link: this port's pause frames are those the peer heard.
void add_pauses(Counting& out, const PauseIds& ids, const EvidenceSource& source, PortId port,
                unsigned priority) {
  const Sim& sim = source.sim;
  const PortId peer = source.peers[port];
  const Ps end = std::max(source.end.since_start().raw(), sim.now());
  const PortCounters& self = sim.port_counters(port);
  const PortCounters& other = sim.port_counters(peer);
  out.add(ids.rx_frames, self.pause_rx[priority], priority);
  out.add(ids.tx_frames, other.pause_rx[priority], priority);
  out.add(ids.rx_time, whole_microseconds(sim.paused_for(port, priority, end)), priority);
  out.add(ids.tx_time, whole_microseconds(sim.paused_for(peer, priority, end)), priority);
  out.add(ids.transitions, other.pause_tx[priority], priority);
}

void add_transport(Counting& out, const NicCounters& nic) {
  out.add("nic.resp.out_of_buffer.packets", nic.out_of_buffer);
  out.add("nic.resp.out_of_sequence.packets", nic.out_of_sequence);
  out.add("nic.resp.duplicate_request.packets", nic.duplicate_request);
  out.add("nic.req.seq_nak_received.packets", nic.packet_seq_err);
  out.add("nic.req.implied_nak.events", nic.implied_nak_seq_err);
  out.add("nic.req.ack_timeout.events", nic.local_ack_timeout);
  out.add("nic.req.rnr_nak_received.packets", nic.rnr_nak_received);
  out.add("nic.req.retry_exceeded.events", nic.retries_exhausted);
  out.add("nic.np.ecn_marked.packets", nic.ce_received);
  out.add("nic.np.cnp_sent.packets", nic.cnp_sent);
  out.add("nic.rp.cnp_handled.packets", nic.cnp_handled);
  out.add("nic.rp.cnp_ignored.packets", nic.cnp_ignored);
}

void add_rdma(Counting& out, const RdmaTraffic& rdma) {
  out.add("nic.rdma.rx_unicast.packets", rdma.rx_packets);
  out.add("nic.rdma.rx_unicast.bytes", rdma.rx_bytes);
  out.add("nic.rdma.tx_unicast.packets", rdma.tx_packets);
  out.add("nic.rdma.tx_unicast.bytes", rdma.tx_bytes);
}

// ---- the files under /sys/class/infiniband that mlx5 has beside those above ----

const counters::RawName& mlx5_name(std::string_view key) {
  const counters::Match match = counters::find_key(counters::Driver::kMlx5, key);
  WEIR_CHECK(match.name != nullptr);
  return *match.name;
}

/// What never happens to a simulated NIC, or what an Ethernet port never counts: docs/lab.md says
/// which of them and why.
constexpr std::string_view kAlwaysZero[] = {
    // No atomics, no dynamically connected transport, no request that is refused for what it
    // asks, no queue pair that is torn down; RNR NAKs are retried for ever.
    "hw_counters/rx_atomic_requests",
    "hw_counters/rx_dct_connect",
    "hw_counters/resp_local_length_error",
    "hw_counters/resp_cqe_error",
    "hw_counters/resp_cqe_flush_error",
    "hw_counters/req_remote_invalid_request",
    "hw_counters/req_remote_access_errors",
    "hw_counters/resp_remote_access_errors",
    "hw_counters/req_rnr_retries_exceeded",
    // Adaptive retransmission and slow restart (ROCE_ACCEL) are off.
    "hw_counters/roce_adp_retrans",
    "hw_counters/roce_adp_retrans_to",
    "hw_counters/roce_slow_restart",
    "hw_counters/roce_slow_restart_cnps",
    "hw_counters/roce_slow_restart_trans",
    // A damaged frame fails the check of its link and goes no further.
    "hw_counters/rx_icrc_encapsulated",
    // The InfiniBand group of the port, which an Ethernet port does not feed.
    "counters/symbol_error",
    "counters/link_error_recovery",
    "counters/link_downed",
    "counters/port_rcv_errors",
    "counters/port_rcv_remote_physical_errors",
    "counters/port_rcv_switch_relay_errors",
    "counters/port_xmit_discards",
    "counters/port_xmit_constraint_errors",
    "counters/port_rcv_constraint_errors",
    "counters/local_link_integrity_errors",
    "counters/excessive_buffer_overrun_errors",
    "counters/VL15_dropped",
    "counters/port_xmit_wait",
    // All RDMA of the model has one receiver.
    "counters/multicast_xmit_packets",
    "counters/multicast_rcv_packets",
};

/// Milliseconds for which the driver keeps the values it has read (mlx5, kernels with HZ=1000).
constexpr std::uint64_t kLifespan = 10;

struct Mlx5Names {
  const counters::RawName& writes = mlx5_name("hw_counters/rx_write_requests");
  const counters::RawName& reads = mlx5_name("hw_counters/rx_read_requests");
  const counters::RawName& errors = mlx5_name("hw_counters/req_cqe_error");
  const counters::RawName& flushes = mlx5_name("hw_counters/req_cqe_flush_error");
  const counters::RawName& lifespan = mlx5_name("hw_counters/lifespan");
  const counters::RawName& tx_data = mlx5_name("counters/port_xmit_data");
  const counters::RawName& rx_data = mlx5_name("counters/port_rcv_data");
  const counters::RawName& tx_packets = mlx5_name("counters/port_xmit_packets");
  const counters::RawName& rx_packets = mlx5_name("counters/port_rcv_packets");
  const counters::RawName& tx_unicast = mlx5_name("counters/unicast_xmit_packets");
  const counters::RawName& rx_unicast = mlx5_name("counters/unicast_rcv_packets");
  std::vector<const counters::RawName*> zeros;

  Mlx5Names() {
    for (const std::string_view key : kAlwaysZero)
      zeros.push_back(&mlx5_name(key));
  }
};

void add_mlx5_files(Counting& out, const RdmaTraffic& rdma, const Requests& requests) {
  static const Mlx5Names names;
  out.add(names.writes, requests.writes);
  out.add(names.reads, requests.reads);
  out.add(names.errors, requests.errors);
  out.add(names.flushes, requests.flushes);
  out.add(names.lifespan, kLifespan);
  out.add(names.tx_data, rdma.tx_bytes);
  out.add(names.rx_data, rdma.rx_bytes);
  out.add(names.tx_packets, rdma.tx_packets);
  out.add(names.rx_packets, rdma.rx_packets);
  out.add(names.tx_unicast, rdma.tx_packets);
  out.add(names.rx_unicast, rdma.rx_packets);
  for (const counters::RawName* const name : names.zeros)
    out.add(*name, 0);
}

/// Requests by the NIC that received or posted them. A message counts when its last byte arrived.
Table<NodeId, Requests> requests_of(const Sim& sim) {
  const Network& network = sim.network();
  Table<NodeId, Requests> out(network.nodes.size());
  Table<QpId, std::uint8_t> has_failed(network.qps.size(), 0);
  const auto add = [&](MessageId m, std::uint64_t count, Ps) {
    const MessageRecord& message = sim.messages()[m];
    const QueuePair& qp = network.qps[message.qp];
    if (qp.is_socket) return;
    const bool is_read = qp.operation == Operation::kRead;
    Requests& responder = out[is_read ? qp.source : qp.target];
    Requests& requester = out[is_read ? qp.target : qp.source];
    if (message.delivered != kNever) {
      responder.reads += is_read ? count : 0;
      responder.writes += qp.operation == Operation::kWrite ? count : 0;
    }
    // The first work request of a broken queue pair ends with the error, the others are flushed.
    if (message.state != MessageState::kFailed || message.post > sim.now()) return;
    ++(has_failed[message.qp] != 0 ? requester.flushes : requester.errors);
    has_failed[message.qp] = 1;
  };
  for_each_with_count(sim.repeats(), sim.messages().end_id(), add);
  return out;
}

void count_nic(Counting& out, const EvidenceSource& source, NodeId node, LinkId link) {
  const Sim& sim = source.sim;
  const PortId port = sim.port_of(node, 0);
  const PortCounters& p = sim.port_counters(port);
  const NicConfig& config = sim.network().nics[sim.network().nodes[node].config];
  const RdmaTraffic rdma = rdma_of(p, sim.nic_counters(node));
  add_transport(out, sim.nic_counters(node));
  add_rdma(out, rdma);
  if (out.driver() == counters::Driver::kMlx5) add_mlx5_files(out, rdma, source.requests[node]);
  for (unsigned priority = 0; priority < 8; ++priority) {
    out.add("nic.prio.rx.bytes", p.rx_class_bytes[priority], priority);
    out.add("nic.prio.rx.packets", p.rx_class_frames[priority], priority);
    out.add("nic.prio.tx.bytes", p.tx_class_bytes[priority], priority);
    out.add("nic.prio.tx.packets", p.tx_class_frames[priority], priority);
    if (config.pfc.contains(Priority::of(priority)))
      add_pauses(out, kNicPauses, source, port, priority);
  }
  out.add("nic.port.rx.bytes", p.rx_bytes);
  out.add("nic.port.tx.bytes", p.tx_bytes);
  out.add("nic.port.rx.packets", p.rx_frames);
  out.add("nic.port.tx.packets", p.tx_frames);
  out.add("nic.mac.pause_control_rx.frames", p.pfc_rx_frames);
  out.add("nic.mac.pause_control_tx.frames", p.pfc_tx_frames);
  out.add("nic.port.rx_discard.packets", dropped(p, DropReason::kReceiverBuffer));
  out.add("nic.port.rx_oversize.packets", dropped(p, DropReason::kMtu));
  out.add("nic.phy.crc_error.packets", dropped(p, DropReason::kBitError));
  out.add("nic.phy.symbol_error.events", dropped(p, DropReason::kBitError));
  out.add("nic.phy.link_down.events", downs_of(sim, link));
}

/// Counters that the engine keeps by port and a switch shows by queue or group belong to the
/// lossless one: only it marks, and only it has a watchdog.
void add_lossless(Counting& out, const Sim& sim, PortId port, unsigned queue, unsigned group) {
  const PortCounters& p = sim.port_counters(port);
  out.add("switch.queue.ecn_marked.packets", p.marked, queue);
  out.add("switch.queue.drop_watchdog.packets", dropped(p, DropReason::kWatchdog), queue);
  out.add("switch.queue.watchdog_storm.events", p.watchdog_trips, queue);
  out.add("switch.queue.watchdog_restored.events", p.watchdog_restores, queue);
  out.add("switch.pg.drop_headroom.packets",
          dropped(p, DropReason::kHeadroom) + dropped(p, DropReason::kHeadroomPool), group);
}

void add_port(Counting& out, const PortCounters& p, std::uint64_t downs) {
  std::uint64_t drops = 0;
  for (const std::uint64_t count : p.drops)
    drops += count;
  out.add("switch.port.rx.bytes", p.rx_bytes);
  out.add("switch.port.tx.bytes", p.tx_bytes);
  out.add("switch.port.rx.packets", p.rx_frames);
  out.add("switch.port.tx.packets", p.tx_frames);
  out.add("switch.port.drop.packets", drops);
  out.add("switch.port.drop_mtu.packets", dropped(p, DropReason::kMtu));
  out.add("switch.port.drop_ttl.packets", dropped(p, DropReason::kTtl));
  out.add("switch.port.drop_no_route.packets", dropped(p, DropReason::kNoRoute));
  out.add("switch.port.drop_link_down.packets", dropped(p, DropReason::kLinkDown));
  out.add("switch.port.crc_error.packets", dropped(p, DropReason::kBitError));
  out.add("switch.port.link_down.events", downs);
}

void count_switch(Counting& out, const EvidenceSource& source, NodeId node, std::uint32_t local,
                  LinkId link) {
  const Sim& sim = source.sim;
  const PortId port = sim.port_of(node, local);
  const PortCounters& p = sim.port_counters(port);
  const SwitchConfig& config = sim.network().switches[sim.network().nodes[node].config];
  const SharedBuffer& buffer = sim.buffer_of(node);
  add_port(out, p, downs_of(sim, link));
  unsigned lossless = 8;
  for (unsigned i = 0; i < 8; ++i) {
    const unsigned priority = config.group_to_priority[i];
    const SharedBuffer::Group group = buffer.group(local, i);
    if (config.groups[i].lossless && lossless == 8) lossless = i;
    out.add("switch.prio.rx.bytes", p.rx_class_bytes[i], priority);
    out.add("switch.prio.rx.packets", p.rx_class_frames[i], priority);
    if (config.pfc.contains(Priority::of(i))) add_pauses(out, kSwitchPauses, source, port, i);
    out.add("switch.queue.tx.bytes", p.tx_class_bytes[i], i);
    out.add("switch.queue.tx.packets", p.tx_class_frames[i], i);
    out.add("switch.queue.depth.bytes", static_cast<std::uint64_t>(sim.queue_bytes(port, i)), i);
    out.add("switch.queue.depth_max.bytes", static_cast<std::uint64_t>(sim.queue_peak(port, i)), i);
    out.add("switch.pg.occupancy.bytes",
            static_cast<std::uint64_t>(group.used + group.headroom_used), i);
    out.add("switch.pg.occupancy_max.bytes", static_cast<std::uint64_t>(group.peak), i);
    out.add("switch.pg.headroom.bytes", static_cast<std::uint64_t>(group.headroom_used), i);
    out.add("switch.pg.headroom_max.bytes", static_cast<std::uint64_t>(group.headroom_peak), i);
  }
  // Priority 0 stands for the lossy classes, as best effort does.
  out.add("switch.queue.drop_tail.packets", dropped(p, DropReason::kEgressBuffer),
          config.class_to_queue[0]);
  out.add("switch.queue.drop_wred.packets", dropped(p, DropReason::kWred),
          config.class_to_queue[0]);
  out.add("switch.pg.drop_admission.packets", dropped(p, DropReason::kIngressBuffer),
          config.class_to_group[0]);
  if (lossless < 8)
    add_lossless(out, sim, port, config.class_to_queue[config.group_to_priority[lossless]],
                 lossless);
  if (local == 0) {
    out.add("switch.pool.occupancy.bytes", static_cast<std::uint64_t>(buffer.total_used()));
    out.add("switch.pool.occupancy_max.bytes", static_cast<std::uint64_t>(buffer.total_peak()));
  }
}

/// The port before the run: nothing counted; settings are what they are.
counters::PortCounters zeroed(const counters::PortCounters& port) {
  std::vector<Reading> readings;
  readings.reserve(port.readings().size());
  for (const counters::ShownSample& sample : port.samples()) {
    const bool is_setting =
        sample.match.counter != nullptr && sample.match.counter->kind == counters::Kind::kSetting;
    readings.push_back(is_setting ? sample.reading : Reading::of(0));
  }
  return port.with(std::move(readings));
}

// ---- facts of a host ----

std::string kernel_driver(vocab::Driver driver) {
  const vocab::NicDriver* const row = vocab::find_driver(driver);
  return std::string(row == nullptr ? to_text(driver) : row->kernel);
}

std::string node_name(const design::Intent& intent, const design::PortRef& port) {
  return port.kind == design::NodeKind::kHost ? intent.hosts[port.node].name
                                              : intent.switches[port.node].name;
}

/// Who is at the end of a link that `port` is the other end of, as LLDP would say it.
evidence::Neighbour neighbour_at(const design::Intent& intent, const design::PortRef& port) {
  const std::string name = port.kind == design::NodeKind::kHost
                               ? intent.hosts[port.node].nics[port.port].netdev
                               : intent.switches[port.node].ports[port.port].name;
  return {node_name(intent, port), name};
}

void set_qos(const design::NicIntent& nic, const NicConfig& config, evidence::Qos& out) {
  out.trust =
      known(config.trust == Trust::kDscp ? evidence::TrustMode::kDscp : evidence::TrustMode::kPcp);
  std::array<std::optional<Priority>, 64> map{};
  for (std::size_t d = 0; d < 64; ++d)
    map.at(d) = Priority::of(config.dscp_to_priority.at(d));
  out.dscp_to_priority = known(map);
  out.priority_to_tc = known(nic.priority_to_tc);
  out.pfc = known(config.pfc);
  out.pfc_classes = known(8U);
  const vocab::SetScheduling scheduling = evidence::wanted_scheduling(nic);
  out.tsa = known(scheduling.tsa);
  out.tc_bandwidth = known(scheduling.percent);
  out.tc_max_rate = known(std::array<BitRate, 8>{});
  out.dcbx = known(evidence::DcbxMode::kOs);
  out.dcbx_willing = known(false);
  out.cable_length = known(nic.cable);
}

/// The GID index of an interface's address on a host with IPv4 and link-local addresses.
constexpr unsigned kGidIndex = 3;

/// An IPv4 address is mapped into IPv6.
std::string gid_text(const std::string& address) {
  const std::string bare = address.substr(0, address.find('/'));
  return bare.find(':') == std::string::npos ? "::ffff:" + bare : bare;
}

/// Registers as the NIC shows them: the design's, and over them what this NIC really runs with.
std::vector<evidence::Parameter> dcqcn_parameters(const design::Intent& intent,
                                                  const NicConfig& nic) {
  const bool runs_dcqcn = nic.congestion_control == "dcqcn";
  std::vector<evidence::Parameter> out;
  for (const auto& [name, value] : intent.dcqcn) {
    std::int64_t shown = value;
    if (runs_dcqcn && name == "rpg_ai_rate") shown = nic.dcqcn.ai_rate / 1'000'000;
    if (runs_dcqcn && name == "dce_tcp_rtt") shown = nic.dcqcn.alpha_period.raw() / 1'000'000;
    out.push_back({name, shown});
  }
  return out;
}

void set_ecn(const design::Intent& intent, const design::NicIntent& nic, const NicConfig& config,
             evidence::Ecn& out) {
  out.np = known(config.np_enabled ? nic.ecn_np : PrioritySet());
  out.rp = known(config.rp_enabled ? nic.ecn_rp : PrioritySet());
  out.cnp_dscp = known(config.cnp_dscp);
  out.cnp_priority = known(config.cnp_priority);
  out.algorithm = known(std::string("dcqcn"));
  out.parameters = known(dcqcn_parameters(intent, config));
}

evidence::Nic nic_facts(const EvidenceSource& source, const NicRef& ref) {
  const design::HostIntent& host = source.intent.hosts[ref.host];
  const design::NicIntent& nic = host.nics[ref.rail];
  const Network& network = source.sim.network();
  const NicConfig& config = network.nic_config(source.placement.node_of(ref));
  const design::LinkIntent& link = source.intent.links[nic.link];
  const bool up = is_up(source.sim, LinkId{nic.link});
  evidence::Nic out;
  out.device = nic.device;
  out.netdev = known(nic.netdev);
  out.rail = known(static_cast<unsigned>(nic.rail));
  out.model = known(std::string(host.nic_model->title));
  out.driver = known(kernel_driver(host.nic_model->driver));
  out.stack = known(host.stack == design::HostStack::kOfed ? evidence::Stack::kOfed
                                                           : evidence::Stack::kInbox);
  out.link_layer = known(evidence::LinkLayer::kEthernet);
  out.is_virtual = known(false);
  out.addresses = known(std::vector<std::string>{nic.address});
  out.link.up = known(up);
  out.link.speed = known(network.links[LinkId{nic.link}].rate);
  out.link.duplex = known(evidence::Duplex::kFull);
  out.link.mtu = known(nic.mtu);
  out.link.active_mtu = known(config.mtu);
  out.link.pause_rx = known(nic.global_pause);
  out.link.pause_tx = known(nic.global_pause);
  const bool is_lower = link.lower.kind == design::NodeKind::kHost && link.lower.node == ref.host &&
                        link.lower.port == ref.rail;
  out.link.neighbour = known(neighbour_at(source.intent, is_lower ? link.upper : link.lower));
  set_qos(nic, config, out.qos);
  set_ecn(source.intent, nic, config, out.ecn);
  out.rdma.active = known(up);
  if (!nic.address.empty())
    out.rdma.gids = known(std::vector<evidence::Gid>{
        {kGidIndex, gid_text(nic.address), evidence::GidType::kRoceV2, nic.netdev}});
  out.rdma.traffic_class = known(std::optional(nic.traffic_class));
  out.rdma.cm_tos = known(nic.rdma_cm_tos);
  out.rdma.out_of_order = known(config.accepts_reordering);
  out.rings.rx = known(static_cast<unsigned>(nic.ring));
  out.rings.tx = known(static_cast<unsigned>(nic.ring));
  return out;
}

// ---- facts of a switch ----

void set_maps(const SwitchConfig& config, evidence::Switch& out) {
  std::array<std::optional<TrafficClass>, 64> dscp{};
  for (std::size_t d = 0; d < 64; ++d)
    dscp.at(d) = TrafficClass::of(config.dscp_to_class.at(d));
  out.dscp_to_tc = known(dscp);
  std::array<Queue, 8> queues{};
  std::array<PriorityGroup, 8> groups{};
  std::array<Queue, 8> paused{};
  for (std::size_t i = 0; i < 8; ++i) {
    queues.at(i) = Queue::of(config.class_to_queue.at(i));
    groups.at(i) = PriorityGroup::of(config.class_to_group.at(i));
    paused.at(i) = Queue::of(config.priority_to_queue.at(i));
  }
  out.tc_to_queue = known(queues);
  out.tc_to_group = known(groups);
  out.pfc_to_queue = known(paused);
}

evidence::GroupBuffer group_facts(const SwitchConfig& config, std::uint32_t port, unsigned index) {
  const IngressGroup& group = config.groups[index];
  evidence::GroupBuffer out;
  out.group = PriorityGroup::of(index);
  out.lossless = known(group.lossless);
  out.reserved = known(group.reserved);
  out.headroom = known(headroom_of(config, port, index));
  out.xon = known(group.xon_offset);
  if (group.static_threshold) out.xoff = known(*group.static_threshold);
  if (group.alpha) out.alpha = known(*group.alpha);
  return out;
}

evidence::EgressQueue queue_facts(const SwitchConfig& config, std::uint32_t port, unsigned index) {
  const bool has_own =
      port < config.port_wred.size() && ((config.port_wred_queues >> index) & 1U) != 0;
  const Wred& wred = has_own ? config.port_wred[port] : config.queues[index].wred;
  evidence::EgressQueue out;
  out.queue = Queue::of(index);
  out.ecn = known(wred.enabled);
  if (wred.enabled) {
    out.ecn_min = known(wred.min);
    out.ecn_max = known(wred.max);
    out.ecn_probability = known(wred.max_probability);
  }
  const bool strict = config.queues[index].scheduling == Scheduling::kStrict;
  out.scheduler = known(strict ? evidence::Scheduler::kStrict : evidence::Scheduler::kWeighted);
  out.weight = known(static_cast<unsigned>(config.queues[index].weight));
  return out;
}

evidence::SwitchPort port_facts(const EvidenceSource& source, std::uint32_t index,
                                std::uint32_t port) {
  const design::SwitchIntent& sw = source.intent.switches[index];
  const design::SwitchPortIntent& intent = sw.ports[port];
  const Network& network = source.sim.network();
  const NodeId node = source.placement.switches[index];
  const SwitchConfig& config = network.switches[network.nodes[node].config];
  evidence::SwitchPort out;
  out.name = intent.name;
  out.neighbour = known(neighbour_at(source.intent, intent.peer));
  out.up = known(is_up(source.sim, LinkId{intent.link}));
  out.speed = known(network.links[LinkId{intent.link}].rate);
  out.mtu = known(intent.mtu);
  out.trust = known(sw.trust == design::Trust::kDscp ? evidence::TrustMode::kDscp
                                                     : evidence::TrustMode::kPcp);
  out.pfc = known(config.pfc);
  out.pfc_active = known(config.pfc);
  out.global_pause = known(sw.global_pause);
  out.cable_length = known(source.intent.links[intent.link].length);
  for (unsigned i = 0; i < 8; ++i) {
    out.groups.push_back(group_facts(config, port, i));
    out.queues.push_back(queue_facts(config, port, i));
  }
  return out;
}

/// Ports beside each other mostly have the same buffers and queues: these are kept once.
void share_lists(const evidence::SwitchPort& before, evidence::SwitchPort& port) {
  if (port.groups == before.groups) port.groups = before.groups;
  if (port.queues == before.queues) port.queues = before.queues;
}

evidence::Switch switch_facts(const EvidenceSource& source, std::uint32_t index) {
  const design::SwitchIntent& sw = source.intent.switches[index];
  const Network& network = source.sim.network();
  const SwitchConfig& config =
      network.switches[network.nodes[source.placement.switches[index]].config];
  evidence::Switch out;
  out.name = sw.name;
  out.platform = known(std::string(design::to_word(sw.system)));
  out.asic = known(std::string(sw.asic->title));
  set_maps(config, out);
  out.watchdog.enabled = known(sw.watchdog);
  out.watchdog.detection = known(sw.watchdog_detect);
  out.watchdog.restoration = known(sw.watchdog_restore);
  out.watchdog.action = known(std::string(design::to_word(sw.watchdog_action)));
  out.pools = known(std::vector<evidence::Pool>{
      {"lossless", evidence::PoolKind::kLossless, sw.buffers.lossless_shared, {}},
      {"headroom", evidence::PoolKind::kHeadroom, sw.buffers.headroom_pool, {}}});
  out.load_balancing = known(std::string(design::to_word(sw.load_balancing)));
  out.ecmp_seed = known(sw.ecmp_seed);
  for (std::uint32_t port = 0; port < sw.ports.size(); ++port) {
    out.ports.push_back(port_facts(source, index, port));
    if (port > 0) share_lists(out.ports[port - 1], out.ports[port]);
  }
  return out;
}

counters::Snapshot snapshot_at(Ps at) {
  counters::Snapshot out;
  out.time = time_text(at);
  out.clock_ns = at / 1000;
  return out;
}

}  // namespace

Table<PortId, PortId> peers_of(const Sim& sim) {
  const Network& network = sim.network();
  Table<NodeId, std::uint32_t> next(network.nodes.size(), 0);
  Table<PortId, PortId> peers(sim.port_count(), kNo<PortId>);
  for (const Link& link : network.links) {
    const PortId a = sim.port_of(link.a, next[link.a]++);
    const PortId b = sim.port_of(link.b, next[link.b]++);
    peers[a] = b;
    peers[b] = a;
  }
  return peers;
}

RdmaTraffic rdma_of(const PortCounters& port, const NicCounters& nic) {
  const auto all = [](const std::array<std::uint64_t, 8>& by_priority) {
    return std::accumulate(by_priority.begin(), by_priority.end(), std::uint64_t{0});
  };
  return {.rx_packets = all(port.rx_class_frames) - nic.socket_rx_frames,
          .rx_bytes = all(port.rx_class_bytes) - nic.socket_rx_bytes,
          .tx_packets = all(port.tx_class_frames) - nic.socket_tx_frames,
          .tx_bytes = all(port.tx_class_bytes) - nic.socket_tx_bytes};
}

const counters::RawName* LayoutsByNames::name_of(counters::Driver driver, std::string_view id) {
  const auto [place, is_new] = names_[driver].try_emplace(id, nullptr);
  if (!is_new) return place->second;
  const counters::Counter* const counter = counters::find(id);
  WEIR_CHECK(counter != nullptr);
  place->second = counters::name_for(*counter, driver);
  // The driver's own ethtool name before the kernel's: people read that one, and its condition (PFC
  // is on) holds wherever the caller adds the counter.
  for (const counters::RawName& name : counters::names_of(*counter)) {
    if (name.driver != driver || name.place != counters::Place::kEthtool) continue;
    place->second = &name;
    break;
  }
  return place->second;
}

const LayoutsByNames::Entry& LayoutsByNames::of(counters::Driver driver,
                                                const std::vector<CounterName>& names) {
  const auto [place, is_new] = entries_.try_emplace({driver, names});
  Entry& entry = place->second;
  if (!is_new) return entry;
  std::vector<counters::Sample> samples;
  for (const CounterName& name : names)
    samples.push_back({name.raw->place, counters::spell(*name.raw, name.number), Reading::of(0)});
  entry.layout = counters::PortCounters("", "", kernel_driver(driver), samples).layout();
  for (const counters::Sample& sample : samples)
    entry.positions.push_back(
        static_cast<std::uint32_t>(*entry.layout->find(sample.place, sample.name)));
  return entry;
}

EvidenceSource::EvidenceSource(const design::Intent& intent_, const Placement& placement_,
                               const Sim& sim_, Time end_)
    : intent(intent_),
      placement(placement_),
      sim(sim_),
      end(end_),
      peers(peers_of(sim_)),
      requests(requests_of(sim_)) {}

std::vector<counters::PortCounters> host_counters(EvidenceSource& source, std::uint32_t host) {
  const design::HostIntent& intent = source.intent.hosts[host];
  const std::string driver = kernel_driver(intent.nic_model->driver);
  std::vector<counters::PortCounters> out;
  for (std::uint32_t rail = 0; rail < intent.nics.size(); ++rail) {
    const design::NicIntent& nic = intent.nics[rail];
    Counting counting(counters::driver_of(driver), source.layouts);
    count_nic(counting, source, source.placement.node_of({host, rail}), LinkId{nic.link});
    out.push_back(counting.take(nic.device, nic.netdev, driver));
  }
  return out;
}

std::vector<counters::PortCounters> switch_counters(EvidenceSource& source) {
  std::vector<counters::PortCounters> out;
  for (std::uint32_t s = 0; s < source.intent.switches.size(); ++s) {
    const design::SwitchIntent& sw = source.intent.switches[s];
    const NodeId node = source.placement.switches[s];
    for (std::uint32_t port = 0; port < sw.ports.size(); ++port) {
      Counting counting(counters::Driver::kSwitch, source.layouts);
      count_switch(counting, source, node, port, LinkId{sw.ports[port].link});
      out.push_back(counting.take(sw.name, sw.ports[port].name, "switch"));
    }
  }
  return out;
}

evidence::Evidence host_evidence(EvidenceSource& source, std::uint32_t host) {
  const design::HostIntent& intent = source.intent.hosts[host];
  evidence::Evidence out;
  out.provenance = provenance(source, intent.name);
  counters::Snapshot start = snapshot_at(0);
  counters::Snapshot end = snapshot_at(source.end.since_start().raw());
  end.nics = host_counters(source, host);
  for (std::uint32_t rail = 0; rail < intent.nics.size(); ++rail) {
    out.nics.push_back(nic_facts(source, {host, rail}));
    start.nics.push_back(zeroed(end.nics[rail]));
  }
  out.snapshots.push_back(std::move(start));
  out.snapshots.push_back(std::move(end));
  return out;
}

evidence::Evidence switch_evidence(EvidenceSource& source) {
  evidence::Evidence out;
  out.provenance = provenance(source, "");
  counters::Snapshot start = snapshot_at(0);
  counters::Snapshot end = snapshot_at(source.end.since_start().raw());
  for (std::uint32_t s = 0; s < source.intent.switches.size(); ++s)
    out.switches.push_back(switch_facts(source, s));
  end.switch_ports = switch_counters(source);
  for (const counters::PortCounters& port : end.switch_ports)
    start.switch_ports.push_back(zeroed(port));
  out.snapshots.push_back(std::move(start));
  out.snapshots.push_back(std::move(end));
  return out;
}

}  // namespace weir::sim
