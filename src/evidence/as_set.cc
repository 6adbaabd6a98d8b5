#include "evidence/as_set.h"

#include <algorithm>

#include "design/file/words.h"
#include "design/tables/platforms.h"
#include "model/buffers.h"

namespace weir::evidence {
namespace {

using design::SwitchIntent;
using design::SwitchPortIntent;

const SwitchPort* find_port(const Switch& found, const std::string& name) {
  const auto at = std::find_if(found.ports.begin(), found.ports.end(),
                               [&](const SwitchPort& port) { return port.name == name; });
  return at == found.ports.end() ? nullptr : &*at;
}

const EgressQueue* find_queue(const SwitchPort& port, Queue queue) {
  const auto at = std::find_if(port.queues.begin(), port.queues.end(),
                               [&](const EgressQueue& each) { return each.queue == queue; });
  return at == port.queues.end() ? nullptr : &*at;
}

/// The group of the lossless classes of a port, or its first where none is marked so. REQUIRES:
/// groups.
const GroupBuffer& main_group(const SwitchPort& port) {
  const auto at = std::find_if(port.groups.begin(), port.groups.end(),
                               [](const GroupBuffer& group) { return group.lossless.is(true); });
  return at == port.groups.end() ? port.groups.front() : *at;
}

/// A design speaks of a switch as a whole: the first port that says anything speaks for the others.
template <class Test>
const SwitchPort* first_port(const Switch& found, Test&& says) {
  const auto at = std::find_if(found.ports.begin(), found.ports.end(), says);
  return at == found.ports.end() ? nullptr : &*at;
}

void set_maps(const Switch& found, SwitchIntent& out) {
  const std::array<Priority, 8> number = priority_of_class(found);
  const SwitchPort* port = first_port(found, [](const auto& p) { return p.trust.is_known(); });
  if (port != nullptr) {
    out.trust = *port->trust == TrustMode::kPcp ? design::Trust::kPcp : design::Trust::kDscp;
    if (*port->trust == TrustMode::kNone || *port->trust == TrustMode::kPort)
      out.dscp_to_priority.fill(Priority::of(0));
  }
  const bool is_trusted =
      port == nullptr || (*port->trust != TrustMode::kNone && *port->trust != TrustMode::kPort);
  for (std::size_t d = 0; d < 64 && found.dscp_to_tc.is_known() && is_trusted; ++d)
    if (const auto tc = found.dscp_to_tc->at(d))
      out.dscp_to_priority.at(d) = number.at(tc->value());
  for (std::size_t c = 0; c < 8 && found.pcp_to_tc.is_known(); ++c)
    if (const auto tc = found.pcp_to_tc->at(c)) out.pcp_to_priority.at(c) = number.at(tc->value());
  if (!found.tc_to_queue.is_known()) return;
  for (std::size_t tc = 8; tc-- > 0;)
    out.priority_to_queue.at(number.at(tc).value()) = found.tc_to_queue->at(tc);
}

void set_pfc(const Switch& found, SwitchIntent& out) {
  const bool is_said = first_port(found, [](const auto& p) { return p.pfc.is_known(); }) != nullptr;
  if (!is_said) return;
  out.pfc = paused_on(found);
  out.lossless = out.pfc;
  for (unsigned p = 0; p < 8; ++p)
    out.priority_to_pg.at(p) = PriorityGroup::of(out.pfc.contains(Priority::of(p)) ? p : 0);
}

void set_queues(const Switch& found, SwitchIntent& out) {
  const SwitchPort* port = first_port(found, [](const auto& p) { return !p.queues.empty(); });
  if (port == nullptr) return;
  for (unsigned q = 0; q < 8; ++q) {
    const EgressQueue* queue = find_queue(*port, Queue::of(q));
    design::Share8& share = out.queues.at(q);
    if (queue == nullptr || !queue->scheduler.is_known()) continue;
    const bool is_strict = *queue->scheduler == Scheduler::kStrict;
    share.scheduling = is_strict ? design::Scheduling::kStrict : design::Scheduling::kDwrr;
    if (queue->weight.is_known()) share.minimum = 1_percent * std::int64_t{*queue->weight};
    share.used = is_strict || (queue->weight.is_known() && *queue->weight > 0);
  }
}

/// What a switch sizes for a cable of another length: the bytes on the cable are the difference.
Bytes sized_for(const SwitchPortIntent& port, Length assumed) {
  if (assumed >= port.cable) return port.headroom;
  const Length lost = port.cable - assumed;
  const Duration both_ways = Duration::raw(2 * (5_ns).raw() * lost.raw() / (1_m).raw());
  return std::max(port.headroom - bytes_in(both_ways, port.speed), 0_B);
}

void set_headroom(const SwitchPort& from, const design::SystemModel& system,
                  SwitchPortIntent& port) {
  if (from.groups.empty()) {
    if (from.pfc.is_known() && from.pfc->count() == 0) port.headroom = {};
    return;
  }
  const GroupBuffer& group = main_group(from);
  if (group.headroom.is_known()) {
    port.headroom = *group.headroom;
  } else if (from.cable_length.is_known()) {
    port.headroom = sized_for(port, *from.cable_length);
  } else if (group.headroom_auto.is(true)) {
    port.headroom = sized_for(port, system.auto_headroom_limit);
  }
  if (group.headroom_auto.is_known()) port.headroom_is_auto = *group.headroom_auto;
}

void set_port(const Switch& found, const SwitchPort& from, const SwitchIntent& node,
              SwitchPortIntent& port) {
  if (from.mtu.is_known()) port.mtu = *from.mtu;
  if (from.max_rate.is_known())
    port.shaper = from.max_rate->raw() > 0 ? std::optional(*from.max_rate) : std::nullopt;
  set_headroom(from, design::system_model(node.system), port);
  for (unsigned p = 0; p < 8; ++p) {
    if (!node.lossless.contains(Priority::of(p))) continue;
    const EgressQueue* queue = find_queue(from, node.priority_to_queue.at(p));
    if (queue == nullptr || !queue->ecn.is_known()) continue;
    const Bytes total = node.buffers.total;
    const auto min = marking_bytes(found, *queue, queue->ecn_min, queue->ecn_min_share, total);
    const auto max = marking_bytes(found, *queue, queue->ecn_max, queue->ecn_max_share, total);
    const bool has_shares = queue->ecn_min_share.is_known() && queue->ecn_max_share.is_known();
    port.wred.ecn = *queue->ecn && ((min && max) || has_shares);
    if (min) port.wred.min = *min;
    if (max) port.wred.max = *max;
    if (queue->ecn_probability.is_known()) port.wred.probability = *queue->ecn_probability;
    return;
  }
}

void set_groups(const Switch& found, SwitchIntent& out) {
  const SwitchPort* port = first_port(found, [](const auto& p) { return !p.groups.empty(); });
  if (port == nullptr) return;
  const GroupBuffer& group = main_group(*port);
  design::BufferIntent& buffers = out.buffers;
  if (group.reserved.is_known()) buffers.reserved_per_group = *group.reserved;
  if (group.xon.is_known()) buffers.xon_offset = *group.xon;
  if (group.alpha.is_known()) {
    buffers.alpha = *group.alpha;
    buffers.threshold = design::Threshold::kDynamic;
  } else if (group.xoff.is_known()) {
    buffers.static_xoff = *group.xoff;
    buffers.threshold = design::Threshold::kStatic;
  }
}

/// The sums follow the ports; what headroom takes, the shared pool gives.
void set_sums(const Switch& found, SwitchIntent& out) {
  design::BufferIntent& buffers = out.buffers;
  const Bytes before = buffers.headroom_pool;
  buffers.headroom_sum = {};
  for (const SwitchPortIntent& port : out.ports)
    buffers.headroom_sum += port.headroom * out.lossless.count();
  if (found.headroom_oversubscription.is_known())
    buffers.headroom_oversubscription = static_cast<int>(*found.headroom_oversubscription);
  buffers.headroom_pool = buffers.headroom_sum / std::max(buffers.headroom_oversubscription, 1);
  const Bytes freed = before - buffers.headroom_pool;
  buffers.lossless_shared += freed;
  if (buffers.plan) {
    buffers.plan->lossless_shared += freed;
    buffers.plan->headroom_sum = buffers.headroom_sum;
    buffers.plan->headroom = buffers.headroom_pool;
  }
}

template <class Enum, std::size_t N>
void set_word(const Fact<std::string>& word, const std::array<Enum, N>& choices, Enum& out) {
  if (!word.is_known()) return;
  for (const Enum choice : choices)
    if (design::to_word(choice) == *word) out = choice;
}

void set_rest(const Switch& found, SwitchIntent& out) {
  const auto first = [&](auto member) -> std::optional<bool> {
    const SwitchPort* port =
        first_port(found, [&](const SwitchPort& p) { return (p.*member).is_known(); });
    return port == nullptr ? std::nullopt : std::optional(*(port->*member));
  };
  out.global_pause = first(&SwitchPort::global_pause).value_or(out.global_pause);
  out.rewrites_dscp = first(&SwitchPort::rewrites_dscp).value_or(out.rewrites_dscp);
  if (found.watchdog.enabled.is_known()) out.watchdog = *found.watchdog.enabled;
  if (found.watchdog.detection.is_known()) out.watchdog_detect = *found.watchdog.detection;
  if (found.watchdog.restoration.is_known()) out.watchdog_restore = *found.watchdog.restoration;
  using design::LoadBalancing;
  using design::WatchdogAction;
  set_word(found.watchdog.action,
           std::array{WatchdogAction::kDrop, WatchdogAction::kForward, WatchdogAction::kAlert},
           out.watchdog_action);
  set_word(found.load_balancing,
           std::array{LoadBalancing::kEcmp, LoadBalancing::kSpray, LoadBalancing::kAdaptive},
           out.load_balancing);
  if (found.ecmp_seed.is_known()) out.ecmp_seed = *found.ecmp_seed;
  if (found.cut_through.is_known())
    out.forwarding =
        *found.cut_through ? design::Forwarding::kCutThrough : design::Forwarding::kStoreAndForward;
}

}  // namespace

std::optional<Bytes> largest_queue(const Switch& found, const EgressQueue& queue, Bytes total) {
  if (!found.pools.is_known() || !queue.alpha.is_known()) return std::nullopt;
  for (const Pool& pool : *found.pools) {
    if (pool.name != "egress lossless" || pool.share.raw() == 0) continue;
    return std::max(model::dynamic_threshold(share_of(total, pool.share), *queue.alpha, 1), 1_B);
  }
  return std::nullopt;
}

std::optional<Bytes> marking_bytes(const Switch& found, const EgressQueue& queue,
                                   const Fact<Bytes>& bytes, const Fact<Share>& share,
                                   Bytes total) {
  if (bytes.is_known()) return *bytes;
  const auto whole = largest_queue(found, queue, total);
  if (!share.is_known() || !whole) return std::nullopt;
  return share_of(*whole, *share);
}

PrioritySet paused_on(const Switch& found) {
  const SwitchPort* port = first_port(found, [](const auto& p) { return p.pfc.is_known(); });
  if (port == nullptr) return {};
  if (port->pfc_active.is_known()) return *port->pfc_active;
  return port->pfc_negotiated.is(true) ? PrioritySet() : *port->pfc;
}

std::array<Priority, 8> priority_of_class(const Switch& found) {
  std::array<Priority, 8> number{};
  for (unsigned tc = 0; tc < 8; ++tc)
    number.at(tc) = Priority::of(tc);
  if (!found.tc_to_queue.is_known() || !found.pfc_to_queue.is_known()) return number;
  const SwitchPort* port = first_port(found, [](const auto& p) { return p.pfc.is_known(); });
  const PrioritySet paused = port == nullptr ? PrioritySet() : *port->pfc;
  std::array<bool, 8> is_done{};
  PrioritySet taken = paused;
  for (unsigned tc = 0; tc < 8; ++tc) {
    for (unsigned p = 8; p-- > 0;) {
      if (!paused.contains(Priority::of(p)) ||
          found.pfc_to_queue->at(p) != found.tc_to_queue->at(tc))
        continue;
      // Its own number where several priorities pause the queue.
      if (is_done.at(tc) && number.at(tc).value() == tc) continue;
      number.at(tc) = Priority::of(p);
      is_done.at(tc) = true;
    }
  }
  for (unsigned tc = 0; tc < 8; ++tc) {
    if (is_done.at(tc)) continue;
    unsigned p = tc;
    for (unsigned other = 0; taken.contains(Priority::of(p)) && other < 8; ++other)
      p = other;
    number.at(tc) = Priority::of(taken.contains(Priority::of(p)) ? 0 : p);
    taken.insert(number.at(tc));
  }
  return number;
}

SwitchIntent as_set(SwitchIntent start, const Switch& found) {
  SwitchIntent out = std::move(start);
  set_maps(found, out);
  set_pfc(found, out);
  set_queues(found, out);
  set_groups(found, out);
  for (SwitchPortIntent& port : out.ports)
    if (const SwitchPort* from = find_port(found, port.name)) set_port(found, *from, out, port);
  set_sums(found, out);
  set_rest(found, out);
  return out;
}

}  // namespace weir::evidence
