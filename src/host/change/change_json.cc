#include "host/change/change_json.h"

#include <array>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "base/json.h"

namespace weir::host {

namespace {

using evidence::DcbxMode;
using evidence::TrustMode;
using evidence::Tsa;

constexpr std::array kTrustModes = {TrustMode::kDscp, TrustMode::kPcp, TrustMode::kBoth,
                                    TrustMode::kPort, TrustMode::kNone};
constexpr std::array kTsas = {Tsa::kStrict, Tsa::kCbs, Tsa::kEts, Tsa::kVendor};
constexpr std::array kDcbxModes = {DcbxMode::kOs, DcbxMode::kFirmware};

// ---- writing ----

struct Writer {
  Json operator()(const SetGlobalPause& c) const {
    return {{"set", "pause"}, {"rx", c.rx}, {"tx", c.tx}};
  }
  Json operator()(const SetDcbx& c) const {
    return {{"set", "dcbx"}, {"mode", evidence::to_text(c.mode)}};
  }
  Json operator()(const SetTrust& c) const {
    return {{"set", "trust"}, {"mode", evidence::to_text(c.trust)}};
  }
  Json operator()(const SetDscpMap& c) const {
    Json map = Json::array();
    for (const auto& priority : c.priority)
      map.push_back(priority ? Json(priority->value()) : Json());
    return {{"set", "dscp_map"}, {"map", std::move(map)}};
  }
  Json operator()(const SetPriorityToTc& c) const {
    Json map = Json::array();
    for (const TrafficClass tc : c.tc)
      map.push_back(tc.value());
    return {{"set", "priority_to_tc"}, {"map", std::move(map)}};
  }
  Json operator()(const SetScheduling& c) const {
    Json tsa = Json::array();
    for (const Tsa one : c.tsa)
      tsa.push_back(evidence::to_text(one));
    return {{"set", "scheduling"}, {"tsa", std::move(tsa)}, {"percent", c.percent}};
  }
  Json operator()(const SetPfc& c) const { return {{"set", "pfc"}, {"mask", c.on.mask()}}; }
  Json operator()(const SetCableLength& c) const {
    return {{"set", "cable_length"}, {"millimetres", c.length.raw()}};
  }
  Json operator()(const SetEcn& c) const {
    return {{"set", "ecn"}, {"np", c.np.mask()}, {"rp", c.rp.mask()}};
  }
  Json operator()(const SetCnpMarking& c) const {
    return {{"set", "cnp"}, {"dscp", c.dscp.value()}, {"priority", c.priority.value()}};
  }
  Json operator()(const SetKnob& c) const {
    return {{"set", "knob"}, {"name", c.name}, {"value", c.value}};
  }
  Json operator()(const SetTrafficClass& c) const {
    return {{"set", "traffic_class"}, {"tos", c.tos ? Json(c.tos->value()) : Json()}};
  }
  Json operator()(const SetCmTos& c) const { return {{"set", "cm_tos"}, {"tos", c.tos.value()}}; }
  Json operator()(const SetMtu& c) const { return {{"set", "mtu"}, {"bytes", c.mtu.raw()}}; }
  Json operator()(const SetRings& c) const {
    return {{"set", "rings"}, {"rx", c.rx}, {"tx", c.tx}};
  }
  Json operator()(const SetStackMtu& c) const {
    return {{"set", "stack_mtu"}, {"bytes", c.mtu.raw()}};
  }
  Json operator()(const SetIrqNodes& c) const { return {{"set", "irq_nodes"}, {"nodes", c.nodes}}; }
  Json operator()(const SetSysctl& c) const {
    return {{"set", "sysctl"}, {"name", c.name}, {"value", c.value}};
  }
};

// ---- reading ----

template <class Enum, std::size_t N>
Result<Enum> word_at(const JsonCursor& place, const std::array<Enum, N>& known) {
  WEIR_TRY(word, place.text());
  for (const Enum one : known)
    if (evidence::to_text(one) == word) return one;
  return place.wrong("one of the words it is written with");
}

template <class Enum, std::size_t N>
Result<Enum> word_of(const JsonCursor& parent, std::string_view key,
                     const std::array<Enum, N>& known) {
  WEIR_TRY(place, parent.member(key));
  return word_at(place, known);
}

Result<std::uint64_t> number_of(const JsonCursor& parent, std::string_view key,
                                std::uint64_t most) {
  WEIR_TRY(place, parent.member(key));
  WEIR_TRY(number, place.whole_number());
  if (number > most) return place.wrong(fmt::format("a number up to {}", most));
  return number;
}

/// A code of the units layer (Priority, Dscp, TosByte), which knows its own range.
template <class Code>
Result<Code> code_at(const JsonCursor& place) {
  WEIR_TRY(number, place.whole_number());
  if (number <= std::numeric_limits<unsigned>::max()) {
    if (const auto code = Code::make(static_cast<unsigned>(number))) return *code;
  }
  return place.wrong("a number in its range");
}

template <class Code>
Result<Code> code_of(const JsonCursor& parent, std::string_view key) {
  WEIR_TRY(place, parent.member(key));
  return code_at<Code>(place);
}

Result<bool> flag_of(const JsonCursor& parent, std::string_view key) {
  WEIR_TRY(place, parent.member(key));
  return place.boolean();
}

/// The member `key`, a list of `size`.
Result<JsonCursor> list_of(const JsonCursor& parent, std::string_view key, std::size_t size) {
  WEIR_TRY(place, parent.member(key));
  WEIR_TRY_STATUS(place.expect_array());
  if (place.size() != size) return place.wrong(fmt::format("a list of {}", size));
  return place;
}

Result<PrioritySet> mask_of(const JsonCursor& parent, std::string_view key) {
  WEIR_TRY(mask, number_of(parent, key, 255));
  return PrioritySet::from_mask(static_cast<std::uint8_t>(mask));
}

Result<Change> pause_from(const JsonCursor& place) {
  WEIR_TRY(rx, flag_of(place, "rx"));
  WEIR_TRY(tx, flag_of(place, "tx"));
  return Change(SetGlobalPause{rx, tx});
}

Result<Change> dcbx_from(const JsonCursor& place) {
  WEIR_TRY(mode, word_of(place, "mode", kDcbxModes));
  return Change(SetDcbx{mode});
}

Result<Change> trust_from(const JsonCursor& place) {
  WEIR_TRY(mode, word_of(place, "mode", kTrustModes));
  return Change(SetTrust{mode});
}

Result<Change> dscp_map_from(const JsonCursor& place) {
  SetDscpMap change;
  WEIR_TRY(map, list_of(place, "map", change.priority.size()));
  for (std::size_t d = 0; d < change.priority.size(); ++d) {
    const JsonCursor entry = map.at(d);
    if (entry.value().is_null()) continue;
    WEIR_TRY(priority, code_at<Priority>(entry));
    change.priority.at(d) = priority;
  }
  return Change(change);
}

Result<Change> priority_to_tc_from(const JsonCursor& place) {
  SetPriorityToTc change;
  WEIR_TRY(map, list_of(place, "map", change.tc.size()));
  for (std::size_t p = 0; p < change.tc.size(); ++p) {
    WEIR_TRY(tc, code_at<TrafficClass>(map.at(p)));
    change.tc.at(p) = tc;
  }
  return Change(change);
}

Result<Change> scheduling_from(const JsonCursor& place) {
  SetScheduling change;
  WEIR_TRY(tsas, list_of(place, "tsa", change.tsa.size()));
  WEIR_TRY(percents, list_of(place, "percent", change.percent.size()));
  for (std::size_t tc = 0; tc < change.tsa.size(); ++tc) {
    WEIR_TRY(tsa, word_at(tsas.at(tc), kTsas));
    WEIR_TRY(percent, percents.at(tc).whole_number());
    if (percent > 100) return percents.at(tc).wrong("a percentage");
    change.tsa.at(tc) = tsa;
    change.percent.at(tc) = static_cast<unsigned>(percent);
  }
  return Change(change);
}

Result<Change> pfc_from(const JsonCursor& place) {
  WEIR_TRY(on, mask_of(place, "mask"));
  return Change(SetPfc{on});
}

Result<Change> cable_from(const JsonCursor& place) {
  constexpr std::uint64_t kMost = 65'535'000;  // what the NIC's register holds, in millimetres
  WEIR_TRY(length, number_of(place, "millimetres", kMost));
  return Change(SetCableLength{Length::raw(static_cast<std::int64_t>(length))});
}

Result<Change> ecn_from(const JsonCursor& place) {
  WEIR_TRY(np, mask_of(place, "np"));
  WEIR_TRY(rp, mask_of(place, "rp"));
  return Change(SetEcn{np, rp});
}

Result<Change> cnp_from(const JsonCursor& place) {
  WEIR_TRY(dscp, code_of<Dscp>(place, "dscp"));
  WEIR_TRY(priority, code_of<Priority>(place, "priority"));
  return Change(SetCnpMarking{dscp, priority});
}

Result<Change> knob_from(const JsonCursor& place) {
  WEIR_TRY(name_place, place.member("name"));
  WEIR_TRY(name, name_place.text());
  WEIR_TRY(value_place, place.member("value"));
  WEIR_TRY(value, value_place.integer());
  return Change(SetKnob{name, value});
}

Result<Change> traffic_class_from(const JsonCursor& place) {
  if (!place.find("tos")) return Change(SetTrafficClass{});
  WEIR_TRY(tos, code_of<TosByte>(place, "tos"));
  return Change(SetTrafficClass{tos});
}

Result<Change> cm_tos_from(const JsonCursor& place) {
  WEIR_TRY(tos, code_of<TosByte>(place, "tos"));
  return Change(SetCmTos{tos});
}

template <class Made>
Result<Change> mtu_from(const JsonCursor& place) {
  constexpr std::uint64_t kMost = 65536;
  WEIR_TRY(bytes, number_of(place, "bytes", kMost));
  return Change(Made{Bytes::raw(static_cast<std::int64_t>(bytes))});
}

Result<Change> irq_nodes_from(const JsonCursor& place) {
  constexpr std::uint64_t kMost = 65535;
  WEIR_TRY(nodes, place.member("nodes"));
  WEIR_TRY_STATUS(nodes.expect_array());
  SetIrqNodes change;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    WEIR_TRY(node, nodes.at(i).whole_number());
    if (node > kMost) return nodes.at(i).wrong("a memory node");
    change.nodes.push_back(static_cast<unsigned>(node));
  }
  return Change(change);
}

Result<Change> sysctl_from(const JsonCursor& place) {
  WEIR_TRY(name_place, place.member("name"));
  WEIR_TRY(name, name_place.text());
  WEIR_TRY(value_place, place.member("value"));
  WEIR_TRY(value, value_place.text());
  return Change(SetSysctl{name, value});
}

Result<Change> rings_from(const JsonCursor& place) {
  constexpr std::uint64_t kMost = std::numeric_limits<unsigned>::max();
  WEIR_TRY(rx, number_of(place, "rx", kMost));
  WEIR_TRY(tx, number_of(place, "tx", kMost));
  return Change(SetRings{static_cast<unsigned>(rx), static_cast<unsigned>(tx)});
}

struct Kind {
  std::string_view name;
  Result<Change> (*read)(const JsonCursor& place);
};
constexpr std::array kKinds = {
    Kind{"pause", pause_from},
    Kind{"dcbx", dcbx_from},
    Kind{"trust", trust_from},
    Kind{"dscp_map", dscp_map_from},
    Kind{"priority_to_tc", priority_to_tc_from},
    Kind{"scheduling", scheduling_from},
    Kind{"pfc", pfc_from},
    Kind{"cable_length", cable_from},
    Kind{"ecn", ecn_from},
    Kind{"cnp", cnp_from},
    Kind{"knob", knob_from},
    Kind{"traffic_class", traffic_class_from},
    Kind{"cm_tos", cm_tos_from},
    Kind{"mtu", mtu_from<SetMtu>},
    Kind{"rings", rings_from},
    Kind{"stack_mtu", mtu_from<SetStackMtu>},
    Kind{"irq_nodes", irq_nodes_from},
    Kind{"sysctl", sysctl_from},
};

}  // namespace

Json to_json(const Change& change) {
  return std::visit(Writer(), change);
}

Result<Change> change_from(const JsonCursor& place) {
  WEIR_TRY_STATUS(place.expect_object());
  WEIR_TRY(name_place, place.member("set"));
  WEIR_TRY(name, name_place.text());
  for (const Kind& kind : kKinds)
    if (kind.name == name) return kind.read(place);
  return name_place.wrong("a setting that this Weir knows");
}

}  // namespace weir::host
