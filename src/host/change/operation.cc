#include "host/change/operation.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "design/tables/nic_knobs.h"
#include "units/format.h"

namespace weir::host {
namespace {

using evidence::Fact;
using evidence::Nic;
using evidence::Setting;

template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
template <class... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

// ---- values in words ----

using Map = std::array<std::optional<Priority>, 64>;

std::string entry_text(const std::optional<Priority>& priority) {
  return priority ? weir::to_text(*priority) : "no entry";
}

/// "24-25,27-31" of the code points for which `is_member` holds.
template <class IsMember>
std::string ranges(const IsMember& is_member) {
  std::string text;
  for (std::size_t first = 0; first < 64; ++first) {
    if (!is_member(first)) continue;
    std::size_t last = first;
    while (last + 1 < 64 && is_member(last + 1))
      ++last;
    if (!text.empty()) text += ',';
    text += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    first = last;
  }
  return text;
}

/// The entry that most code points have.
std::optional<Priority> usual_entry(const Map& map) {
  const auto count = [&](const std::optional<Priority>& entry) {
    return std::count(map.begin(), map.end(), entry);
  };
  return *std::max_element(map.begin(), map.end(),
                           [&](const auto& a, const auto& b) { return count(a) < count(b); });
}

/// What a NIC does by itself: eight code points a priority (DSCP / 8).
std::optional<Priority> firmware_entry(std::size_t dscp) {
  return Priority::of(static_cast<unsigned>(dscp) / 8);
}

/// Told as the exceptions from a rule, the rule being the one with fewer of them.
std::string map_text(const Map& map) {
  const std::optional<Priority> usual = usual_entry(map);
  std::size_t from_usual = 0;
  std::size_t from_firmware = 0;
  for (std::size_t d = 0; d < 64; ++d) {
    if (map.at(d) != usual) ++from_usual;
    if (map.at(d) != firmware_entry(d)) ++from_firmware;
  }
  const bool is_by_eights = from_firmware <= from_usual;
  const auto rule = [&](std::size_t d) { return is_by_eights ? firmware_entry(d) : usual; };
  std::string text;
  const auto add = [&](const std::optional<Priority>& entry) {
    const std::string points =
        ranges([&](std::size_t d) { return map.at(d) == entry && rule(d) != entry; });
    if (!points.empty()) text += fmt::format("{}→{}, ", points, entry_text(entry));
  };
  for (unsigned p = 0; p < 8; ++p)
    add(Priority::of(p));
  add(std::nullopt);
  if (is_by_eights) return text + (text.empty() ? "DSCP/8" : "the rest DSCP/8");
  if (text.empty() && !usual) return "no entries";
  return text + fmt::format("{}→{}", text.empty() ? "all" : "the rest", entry_text(usual));
}

std::string scheduling_text(const SetScheduling& change) {
  std::vector<std::string> parts;
  for (std::size_t tc = 0; tc < 8; ++tc) {
    const evidence::Tsa tsa = change.tsa.at(tc);
    const std::string share =
        tsa == evidence::Tsa::kEts ? fmt::format(" {}%", change.percent.at(tc)) : "";
    parts.push_back(fmt::format("{}{}", evidence::to_text(tsa), share));
  }
  std::string text;
  for (std::size_t first = 0; first < 8; ++first) {
    std::size_t last = first;
    while (last + 1 < 8 && parts[last + 1] == parts[first])
      ++last;
    if (first == 0 && last == 7) return "all " + parts[0];
    if (!text.empty()) text += ", ";
    text += first == last ? fmt::format("TC{} {}", first, parts[first])
                          : fmt::format("TC{}-{} {}", first, last, parts[first]);
    first = last;
  }
  return text;
}

template <class T>
std::string list_text(const std::array<T, 8>& values) {
  std::vector<std::string> words;
  for (const T& value : values)
    words.push_back(weir::to_text(value));
  return join(words, ",");
}

std::string knob_value(const SetKnob& change) {
  const design::NicKnob* knob = design::find_knob(change.name);
  const bool is_in_range =
      knob != nullptr && change.value >= knob->min && change.value <= knob->max;
  return is_in_range ? design::knob_text(*knob, change.value) : std::to_string(change.value);
}

std::string_view on_off(bool is_on) {
  return is_on ? "on" : "off";
}

// ---- facts in the shape of a change ----

std::optional<Change> scheduling_found(const evidence::Qos& qos) {
  if (!qos.tsa.is_known() || !qos.tc_bandwidth.is_known()) return std::nullopt;
  SetScheduling found{.tsa = *qos.tsa, .percent = *qos.tc_bandwidth};
  // mlx5 shows 100 % for each vendor class (host-interfaces 1.4): only ETS shares mean anything.
  for (std::size_t tc = 0; tc < 8; ++tc)
    if (found.tsa.at(tc) != evidence::Tsa::kEts) found.percent.at(tc) = 0;
  return found;
}

std::optional<Change> knob_found(const SetKnob& like, const Nic& nic) {
  if (!nic.ecn.parameters.is_known()) return std::nullopt;
  const auto& parameters = *nic.ecn.parameters;
  const auto found = std::find_if(parameters.begin(), parameters.end(),
                                  [&](const auto& p) { return p.name == like.name; });
  if (found == parameters.end()) return std::nullopt;
  return SetKnob{like.name, found->value};
}

/// One fact that is the whole change.
template <class Made, class T>
std::optional<Change> of_fact(const Fact<T>& fact) {
  if (!fact.is_known()) return std::nullopt;
  return Made{*fact};
}

/// Two facts that are.
template <class Made, class A, class B>
std::optional<Change> of_facts(const Fact<A>& a, const Fact<B>& b) {
  if (!a.is_known() || !b.is_known()) return std::nullopt;
  return Made{*a, *b};
}

}  // namespace

Setting setting_of(const Change& change) {
  return std::visit(Overloaded{[](const SetGlobalPause&) { return Setting::kGlobalPause; },
                               [](const SetDcbx&) { return Setting::kDcbx; },
                               [](const SetTrust&) { return Setting::kTrust; },
                               [](const SetDscpMap&) { return Setting::kDscpToPriority; },
                               [](const SetPriorityToTc&) { return Setting::kPriorityToTc; },
                               [](const SetScheduling&) { return Setting::kScheduling; },
                               [](const SetPfc&) { return Setting::kPfc; },
                               [](const SetCableLength&) { return Setting::kCableLength; },
                               [](const SetEcn&) { return Setting::kEcnRp; },
                               [](const SetCnpMarking&) { return Setting::kCnpMarking; },
                               [](const SetKnob&) { return Setting::kKnob; },
                               [](const SetTrafficClass&) { return Setting::kTrafficClass; },
                               [](const SetCmTos&) { return Setting::kCmTos; },
                               [](const SetMtu&) { return Setting::kMtu; },
                               [](const SetRings&) { return Setting::kRings; },
                               [](const SetStackMtu&) { return Setting::kStackMtu; },
                               [](const SetIrqNodes&) { return Setting::kIrqAffinity; },
                               [](const SetSysctl&) { return Setting::kSysctl; }},
                    change);
}

std::string name_of(const Change& change) {
  if (const auto* knob = std::get_if<SetKnob>(&change)) return knob->name;
  if (const auto* sysctl = std::get_if<SetSysctl>(&change)) return sysctl->name;
  if (std::holds_alternative<SetEcn>(change)) return "ECN";
  return std::string(evidence::to_text(setting_of(change)));
}

std::string value_text(const Change& change) {
  return std::visit(
      Overloaded{
          [](const SetGlobalPause& c) {
            return fmt::format("rx {}, tx {}", on_off(c.rx), on_off(c.tx));
          },
          [](const SetDcbx& c) {
            return std::string(c.mode == evidence::DcbxMode::kOs ? "the operating system decides"
                                                                 : "the firmware's agent decides");
          },
          [](const SetTrust& c) { return std::string(evidence::to_text(c.trust)); },
          [](const SetDscpMap& c) { return map_text(c.priority); },
          [](const SetPriorityToTc& c) { return list_text(c.tc); },
          [](const SetScheduling& c) { return scheduling_text(c); },
          [](const SetPfc& c) { return weir::to_text(c.on); },
          [](const SetCableLength& c) { return weir::to_text(c.length); },
          [](const SetEcn& c) {
            return fmt::format("NP {}, RP {}", weir::to_text(c.np), weir::to_text(c.rp));
          },
          [](const SetCnpMarking& c) {
            return fmt::format("DSCP {}, priority {}", c.dscp.value(), c.priority.value());
          },
          [](const SetKnob& c) { return knob_value(c); },
          [](const SetTrafficClass& c) {
            return c.tos ? fmt::format("{} (DSCP {})", c.tos->value(), dscp_of(*c.tos).value())
                         : std::string("not forced");
          },
          [](const SetCmTos& c) {
            return fmt::format("{} (DSCP {})", c.tos.value(), dscp_of(c.tos).value());
          },
          [](const SetMtu& c) { return fmt::format("{}", c.mtu.raw()); },
          [](const SetRings& c) { return fmt::format("rx {}, tx {}", c.rx, c.tx); },
          [](const SetStackMtu& c) { return fmt::format("{}", c.mtu.raw()); },
          [](const SetIrqNodes& c) { return fmt::format("node {}", fmt::join(c.nodes, ", ")); },
          [](const SetSysctl& c) { return c.value; }},
      change);
}

std::string to_text(const Change& change) {
  return fmt::format("{}: {}", name_of(change), value_text(change));
}

std::optional<Change> as_found(const Change& like, const Nic& nic) {
  using Found = std::optional<Change>;
  return std::visit(
      Overloaded{
          [&](const SetGlobalPause&) {
            return of_facts<SetGlobalPause>(nic.link.pause_rx, nic.link.pause_tx);
          },
          [&](const SetDcbx&) { return of_fact<SetDcbx>(nic.qos.dcbx); },
          [&](const SetTrust&) { return of_fact<SetTrust>(nic.qos.trust); },
          [&](const SetDscpMap&) { return of_fact<SetDscpMap>(nic.qos.dscp_to_priority); },
          [&](const SetPriorityToTc&) { return of_fact<SetPriorityToTc>(nic.qos.priority_to_tc); },
          [&](const SetScheduling&) { return scheduling_found(nic.qos); },
          [&](const SetPfc&) { return of_fact<SetPfc>(nic.qos.pfc); },
          [&](const SetCableLength&) { return of_fact<SetCableLength>(nic.qos.cable_length); },
          [&](const SetEcn&) { return of_facts<SetEcn>(nic.ecn.np, nic.ecn.rp); },
          [&](const SetCnpMarking&) {
            return of_facts<SetCnpMarking>(nic.ecn.cnp_dscp, nic.ecn.cnp_priority);
          },
          [&](const SetKnob& c) { return knob_found(c, nic); },
          [&](const SetTrafficClass&) { return of_fact<SetTrafficClass>(nic.rdma.traffic_class); },
          [&](const SetCmTos&) { return of_fact<SetCmTos>(nic.rdma.cm_tos); },
          [&](const SetMtu&) -> Found { return of_fact<SetMtu>(nic.link.mtu); },
          [&](const SetRings&) { return of_facts<SetRings>(nic.rings.rx, nic.rings.tx); },
          [&](const SetStackMtu&) -> Found {
            if (!nic.link.layers.is_known()) return std::nullopt;
            const std::optional<Bytes> least = evidence::stack_mtu(*nic.link.layers);
            if (!least) return std::nullopt;
            return SetStackMtu{*least};
          },
          [&](const SetIrqNodes&) { return of_fact<SetIrqNodes>(nic.pcie.irq_numa_nodes); },
          [&](const SetSysctl&) -> Found { return std::nullopt; }},
      like);
}

std::optional<Change> as_found(const Change& like, const std::string& device,
                               const evidence::Evidence& host) {
  const auto* sysctl = std::get_if<SetSysctl>(&like);
  if (sysctl == nullptr) {
    const Nic* const nic = host.find_nic(device);
    return nic == nullptr ? std::nullopt : as_found(like, *nic);
  }
  if (!host.host.sysctls.is_known()) return std::nullopt;
  for (const evidence::NamedText& one : *host.host.sysctls) {
    if (one.name != sysctl->name) continue;
    std::string value = one.value;
    std::replace(value.begin(), value.end(), '\t', ' ');
    return SetSysctl{one.name, value};
  }
  return std::nullopt;
}

}  // namespace weir::host
