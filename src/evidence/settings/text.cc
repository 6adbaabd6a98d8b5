// Settings in words: the one place that prints them.
#include "base/text.h"

#include <algorithm>

#include <fmt/format.h>

#include "design/tables/nic_knobs.h"
#include "evidence/settings/row.h"
#include "units/format.h"

namespace weir::evidence {
namespace {

using DscpMap = std::array<std::optional<Priority>, 64>;

template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
template <class... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

std::string_view on_off(std::optional<bool> is_on) {
  return !is_on ? "unknown" : *is_on ? "on" : "off";
}

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
std::optional<Priority> usual_entry(const DscpMap& map) {
  const auto count = [&](const std::optional<Priority>& entry) {
    return std::count(map.begin(), map.end(), entry);
  };
  return *std::max_element(map.begin(), map.end(),
                           [&](const auto& a, const auto& b) { return count(a) < count(b); });
}

/// What a NIC does by itself: eight code points per priority (DSCP / 8).
std::optional<Priority> firmware_entry(std::size_t dscp) {
  return Priority::of(static_cast<unsigned>(dscp) / 8);
}

/// As the exceptions from a rule, the rule being the one with fewer of them.
std::string map_text(const DscpMap& map) {
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

std::string shares_text(const vocab::SetScheduling& value) {
  std::vector<std::string> parts;
  for (std::size_t tc = 0; tc < 8; ++tc) {
    const Tsa tsa = value.tsa.at(tc);
    const std::string share = tsa == Tsa::kEts ? fmt::format(" {}%", value.percent.at(tc)) : "";
    parts.push_back(fmt::format("{}{}", to_text(tsa), share));
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

/// The parts of a value that needs no words of its own: "9000"; "rx 8192, tx 1024".
struct PartsPrinter {
  std::vector<std::pair<std::string_view, std::string>> parts;

  void operator()(std::string_view key, const auto& part) { parts.emplace_back(key, text(part)); }

  static std::string text(bool is_on) { return std::string(on_off(is_on)); }
  static std::string text(unsigned number) { return std::to_string(number); }
  static std::string text(std::int64_t number) { return std::to_string(number); }
  static std::string text(const std::string& words) { return words; }
  static std::string text(Bytes size) { return std::to_string(size.raw()); }
  static std::string text(const auto& part) { return std::string(to_text(part)); }
  template <class T>
  static std::string text(const std::optional<T>& part) {
    return part ? text(*part) : "unknown";
  }
  template <class T, std::size_t N>
  static std::string text(const std::array<T, N>& entries) {
    std::vector<std::string> words;
    for (const T& entry : entries)
      words.push_back(text(entry));
    return join(words, ",");
  }
  template <class T>
  static std::string text(const std::vector<T>& entries) {
    std::vector<std::string> words;
    for (const T& entry : entries)
      words.push_back(text(entry));
    return join(words, ", ");
  }
};

template <class T>
std::string parts_text(T value) {
  PartsPrinter printer;
  value.visit(printer);
  if (printer.parts.size() == 1) return printer.parts.front().second;
  std::vector<std::string> words;
  for (const auto& [key, text] : printer.parts)
    words.push_back(fmt::format("{} {}", key, text));
  return join(words, ", ");
}

std::string knob_value(const vocab::SetKnob& value) {
  const design::NicKnob* const knob = design::find_knob(value.name);
  const bool is_in_range = knob != nullptr && value.value >= knob->min && value.value <= knob->max;
  return is_in_range ? design::knob_text(*knob, value.value) : std::to_string(value.value);
}

std::string tos_text(TosByte tos) {
  return fmt::format("{} (DSCP {})", tos.value(), dscp_of(tos).value());
}

// ---- a deviation: one entry of a map, one half of a pair, or the whole value ----

std::string item_of(const Deviation& deviation) {
  const Part part = deviation.part.value_or(Part{});
  if (!deviation.part) {
    const auto* const knob = std::get_if<vocab::SetKnob>(&deviation.wanted);
    const auto* const sysctl = std::get_if<vocab::SetSysctl>(&deviation.wanted);
    return knob != nullptr ? knob->name : sysctl != nullptr ? sysctl->name : "";
  }
  return std::visit(
      Overloaded{
          [&](const vocab::SetDscpMap&) {
            return part.first == part.last ? fmt::format("DSCP {}", part.first)
                                           : fmt::format("DSCP {}-{}", part.first, part.last);
          },
          [&](const vocab::SetPriorityToTc&) { return fmt::format("priority {}", part.first); },
          [&](const vocab::SetRings&) { return std::string(part.first == 0 ? "rx" : "tx"); },
          [&](const vocab::SetCnpMarking&) {
            return std::string(part.first == 0 ? "DSCP" : "priority");
          },
          [&](const auto&) { return fmt::format("class {}", part.first); }},
      deviation.wanted);
}

std::string part_text(const SettingValue& value, unsigned at) {
  return std::visit(
      Overloaded{
          [&](const vocab::SetDscpMap& v) {
            const auto& entry = v.priority.at(at);
            return entry ? "priority " + weir::to_text(*entry) : std::string("no entry");
          },
          [&](const vocab::SetPriorityToTc& v) { return "class " + weir::to_text(v.tc.at(at)); },
          [&](const vocab::SetScheduling& v) {
            const Tsa tsa = v.tsa.at(at);
            return tsa == Tsa::kEts ? fmt::format("ETS {} %", v.percent.at(at))
                                    : std::string(to_text(tsa));
          },
          [&](const vocab::ClassLimits& v) {
            return v.limit.at(at).raw() == 0 ? std::string("no limit")
                                             : weir::to_text(v.limit.at(at));
          },
          [&](const vocab::SetRings& v) { return std::to_string(at == 0 ? v.rx : v.tx); },
          [&](const vocab::SetCnpMarking& v) {
            return at == 0 ? weir::to_text(v.dscp) : weir::to_text(v.priority);
          },
          [&](const auto&) { return value_text(value); }},
      value);
}

/// With the unit or the word that a sentence needs and a column does not.
std::string sentence_text(Setting setting, const SettingValue& value) {
  const auto bytes = [](Bytes size) { return fmt::format("{}B", size.raw()); };
  return std::visit(Overloaded{[&](const vocab::SetMtu& v) { return bytes(v.mtu); },
                               [&](const vocab::SetStackMtu& v) { return bytes(v.mtu); },
                               [&](const vocab::SetPfc& v) {
                                 return v.on == PrioritySet() ? std::string("none")
                                                              : "priority " + weir::to_text(v.on);
                               },
                               [&](const vocab::SetEcn& v) {
                                 const PrioritySet half = setting == Setting::kEcnNp ? v.np : v.rp;
                                 return half == PrioritySet()
                                            ? std::string("off")
                                            : "on for priority " + weir::to_text(half);
                               },
                               [&](const auto&) { return value_text(value); }},
                    value);
}

std::string expected_text(const Deviation& deviation) {
  if (deviation.part) return part_text(deviation.wanted, deviation.part->first);
  return std::visit(
      Overloaded{[](const vocab::SetGlobalPause& v) { return std::string(on_off(v.rx)); },
                 [](const vocab::RoceGids& v) {
                   return v.gids.empty() ? std::string("a RoCEv2 GID that is not link-local")
                                         : "a RoCEv2 GID of " + v.gids.front();
                 },
                 [](const vocab::SetDscpMap&) { return std::string("the designed map"); },
                 [](const vocab::SetPriorityToTc&) { return std::string("the designed map"); },
                 [](const vocab::SetScheduling&) { return std::string("the designed shares"); },
                 [](const vocab::SetIrqNodes& v) {
                   return v.nodes.empty() ? std::string("the NIC's own node") : value_text(v);
                 },
                 [](const vocab::SetKnob& v) {
                   return v.name.empty() ? std::string("the designed DCQCN values") : value_text(v);
                 },
                 [&](const auto&) { return sentence_text(deviation.setting, deviation.wanted); }},
      deviation.wanted);
}

std::string dcbx_text(const vocab::SetDcbx& value) {
  std::vector<std::string> parts;
  if (value.mode == DcbxMode::kFirmware) parts.emplace_back("firmware-controlled");
  if (value.is_willing) parts.emplace_back("willing: the switch may change it");
  if (value.has_firmware_agent) parts.emplace_back("firmware LLDP agent running");
  return parts.empty() ? "OS-controlled" : join(parts, "; ");
}

}  // namespace

std::string value_text(const SettingValue& value) {
  return std::visit(
      Overloaded{[](const vocab::DevicePresent& v) {
                   return v.is_there ? "RDMA device " + v.device : std::string("no such device");
                 },
                 [](const vocab::LinkState& v) { return std::string(v.is_up ? "up" : "down"); },
                 [](const vocab::RoceGids& v) {
                   return v.gids.empty() ? std::string("no RoCEv2 GID") : join(v.gids, ", ");
                 },
                 [](const vocab::RdmaMtu& v) { return fmt::format("{}B", v.mtu.raw()); },
                 [](const vocab::SetDcbx& v) { return dcbx_text(v); },
                 [](const vocab::SetDscpMap& v) { return map_text(v.priority); },
                 [](const vocab::SetScheduling& v) { return shares_text(v); },
                 [](const vocab::SetEcn& v) {
                   return fmt::format("NP {}, RP {}", weir::to_text(v.np), weir::to_text(v.rp));
                 },
                 [](const vocab::SetCnpMarking& v) {
                   return fmt::format("DSCP {}, priority {}", v.dscp.value(), v.priority.value());
                 },
                 [](const vocab::SetKnob& v) { return knob_value(v); },
                 [](const vocab::SetTrafficClass& v) {
                   return v.tos ? tos_text(*v.tos) : std::string("not forced");
                 },
                 [](const vocab::SetCmTos& v) { return tos_text(v.tos); },
                 [](const vocab::SetIrqNodes& v) {
                   return fmt::format("node {}", fmt::join(v.nodes, ", "));
                 },
                 [](const vocab::SetSysctl& v) { return v.value; },
                 [](const auto& v) { return parts_text(v); }},
      value);
}

DeviationText text_of(const Deviation& deviation) {
  DeviationText out{.item = item_of(deviation), .expected = expected_text(deviation), .found = ""};
  if (!deviation.found) return out;
  out.found = deviation.part ? part_text(*deviation.found, deviation.part->first)
                             : sentence_text(deviation.setting, *deviation.found);
  return out;
}

std::string subject_of(const Deviation& deviation) {
  const std::string item = item_of(deviation);
  const std::string_view setting = vocab::to_text(deviation.setting);
  return item.empty() ? std::string(setting) : fmt::format("{} {}", setting, item);
}

}  // namespace weir::evidence
