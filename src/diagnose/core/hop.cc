#include "diagnose/core/hop.h"

#include <algorithm>

namespace weir::diagnose {
namespace {

template <class T>
std::optional<T> known(const evidence::Fact<T>& fact) {
  return fact.is_known() ? std::optional<T>(*fact) : std::nullopt;
}

std::optional<design::HopTrust> trust_of(const evidence::SwitchPort& port) {
  if (!port.trust.is_known()) return std::nullopt;
  switch (*port.trust) {
    case evidence::TrustMode::kDscp:
    case evidence::TrustMode::kBoth: return design::HopTrust::kDscp;  // IP packets have a DSCP
    case evidence::TrustMode::kPcp: return design::HopTrust::kPcp;
    case evidence::TrustMode::kPort:
    case evidence::TrustMode::kNone: return design::HopTrust::kNothing;
  }
  return std::nullopt;
}

/// What is in effect; where DCBX decides and nobody saw how, nothing is known.
std::optional<PrioritySet> pfc_of(const evidence::SwitchPort& port) {
  if (port.pfc_active.is_known()) return *port.pfc_active;
  if (port.pfc_negotiated.is(true)) return std::nullopt;
  return known(port.pfc);
}

std::optional<bool> is_lossless(const evidence::GroupBuffer& group) {
  if (group.lossless.is_known()) return *group.lossless;
  if (group.headroom.is_known()) return *group.headroom > Bytes();
  return std::nullopt;
}

design::HopQueue queue_of(const evidence::EgressQueue& queue) {
  design::HopQueue out;
  out.marks = known(queue.ecn);
  if (queue.scheduler.is_known()) {
    out.strict = *queue.scheduler == evidence::Scheduler::kStrict;
    out.served = *out.strict || !queue.weight.is(0);
  }
  return out;
}

design::HopPort port_of(const evidence::SwitchPort& port) {
  design::HopPort out;
  out.name = port.name;
  out.trust = trust_of(port);
  out.pfc = pfc_of(port);
  out.link_pause = known(port.global_pause);
  out.rewrites = known(port.rewrites_dscp);
  for (const evidence::GroupBuffer& group : port.groups)
    out.lossless_groups.at(group.group.value()) = is_lossless(group);
  for (const evidence::EgressQueue& queue : port.queues)
    out.queues.at(queue.queue.value()) = queue_of(queue);
  return out;
}

template <std::size_t N>
std::optional<std::array<std::optional<Priority>, N>> map_of(
    const evidence::Fact<std::array<std::optional<TrafficClass>, N>>& fact) {
  if (!fact.is_known()) return std::nullopt;
  std::array<std::optional<Priority>, N> map{};
  for (std::size_t i = 0; i < N; ++i)
    if (fact->at(i)) map.at(i) = Priority::of(fact->at(i)->value());
  return map;
}

}  // namespace

design::Hop hop_of(const evidence::Switch& found, const design::SwitchIntent& wanted,
                   std::string source) {
  design::Hop hop;
  hop.name = wanted.name;
  hop.source = std::move(source);
  hop.dscp_to_priority = map_of(found.dscp_to_tc);
  hop.pcp_to_priority = map_of(found.pcp_to_tc);
  hop.priority_to_queue = known(found.tc_to_queue);
  hop.priority_to_group = known(found.tc_to_group);
  hop.pfc_to_queue = known(found.pfc_to_queue);
  hop.priority_to_dscp = known(found.tc_to_dscp);
  for (const design::SwitchPortIntent& port : wanted.ports) {
    const auto at =
        std::find_if(found.ports.begin(), found.ports.end(),
                     [&](const evidence::SwitchPort& known) { return known.name == port.name; });
    design::HopPort unread;
    unread.name = port.name;
    hop.ports.push_back(at == found.ports.end() ? std::move(unread) : port_of(*at));
  }
  return hop;
}

}  // namespace weir::diagnose
