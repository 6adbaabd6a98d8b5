// Fault texts: reading them, and finding their places in a fabric.
#include "sim/fault/fault.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"
#include "design/fabric/patterns.h"
#include "units/format.h"

namespace weir::sim {
namespace {

using design::Intent;

using Value = FaultValues::Value;

template <class T>
Result<Value> as_value(const Result<T>& parsed) {
  if (!parsed) return parsed.error();
  return Value(*parsed);
}

Result<Value> parse_number(std::string_view text, std::uint64_t most) {
  WEIR_TRY(number, parse_u64(text));
  if (number > most) return invalid_error(fmt::format("'{}' is above {}", text, most));
  return Value(number);
}

Result<Value> parse_error_rate(std::string_view text) {
  double rate = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rate);
  if (error != std::errc{} || end != text.data() + text.size() || rate <= 0 || rate > 1e-3)
    return invalid_error(
        fmt::format("'{}' is no rate of bit errors; write one above 0 and up to 1e-3", text));
  return Value(rate);
}

Result<Value> parse_value(ValueKind kind, std::string_view text) {
  switch (kind) {
    case ValueKind::kRate: return as_value(parse_rate(text));
    case ValueKind::kBytes: return as_value(parse_bytes(text));
    case ValueKind::kDuration: return as_value(parse_duration(text));
    case ValueKind::kShare: return as_value(parse_share(text));
    case ValueKind::kNumber: return parse_number(text, 1'000'000);
    case ValueKind::kDscp: return parse_number(text, Dscp::kLimit - 1);
    case ValueKind::kTos: return parse_number(text, TosByte::kLimit - 1);
    case ValueKind::kPriority: return parse_number(text, Priority::kLimit - 1);
    case ValueKind::kErrorRate: return parse_error_rate(text);
    case ValueKind::kName: return Value(std::string(text));
  }
  WEIR_UNREACHABLE("every kind can be read");
}

/// What holds where the text says nothing.
FaultValues default_values(const FaultType& type) {
  FaultValues values;
  for (const FaultParameter& parameter : type.parameters)
    values.set(parameter.name, parameter.fallback.empty()
                                   ? Value()
                                   : parse_value(parameter.kind, parameter.fallback).value());
  return values;
}

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (const FaultType& type : fault_types())
    names.emplace_back(type.name);
  return names;
}

std::vector<std::string> keys_of(const FaultType& type) {
  std::vector<std::string> keys = {"at"};
  if (type.is_timed) keys.insert(keys.end(), {"from", "until"});
  for (const FaultParameter& parameter : type.parameters)
    keys.emplace_back(parameter.name);
  return keys;
}

Result<Time> parse_time(std::string_view key, std::string_view text) {
  const auto duration = parse_duration(text);
  if (!duration) return duration.error().within(std::string(key));
  if (duration->raw() < 0)
    return invalid_error(fmt::format("{}: '{}' is before the start", key, text));
  return Time::at(*duration);
}

// Commas inside brackets belong to a pattern of names.
std::vector<std::string_view> pieces_of(std::string_view text) {
  std::vector<std::string_view> pieces;
  std::size_t start = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      pieces.push_back(trim(text.substr(start, i - start)));
      start = i + 1;
    } else if (text[i] == '[') {
      ++depth;
    } else if (text[i] == ']') {
      --depth;
    }
  }
  return pieces;
}

Status take_pair(Fault& fault, FaultValues& values, std::string_view piece) {
  const FaultType& type = *fault.type;
  const auto equals = piece.find('=');
  const std::string_view key = trim(piece.substr(0, equals));
  const std::vector<std::string> keys = keys_of(type);
  if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
    const bool is_time = key == "from" || key == "until";
    return invalid_error(
        fmt::format("{} takes {}, not '{}'{}", type.name, join(keys, ", "), key,
                    is_time ? ": it holds for the whole run" : did_you_mean(key, keys)));
  }
  if (equals == std::string_view::npos || trim(piece.substr(equals + 1)).empty())
    return invalid_error(fmt::format("{}: '{}' needs a value, as in {}=…", type.name, key, key));
  const std::string_view value = trim(piece.substr(equals + 1));
  if (key == "at" && value == "all" && !type.needs_place) return {};
  if (key == "at") {
    WEIR_TRY(names, design::expand_names(value));
    fault.at.insert(fault.at.end(), names.begin(), names.end());
    return {};
  }
  if (key == "from" || key == "until") {
    WEIR_TRY(time, parse_time(key, value));
    (key == "from" ? fault.from : fault.until) = time;
    return {};
  }
  for (const FaultParameter& parameter : type.parameters) {
    if (parameter.name != key) continue;
    auto parsed = parse_value(parameter.kind, value);
    if (!parsed) return parsed.error().within(fmt::format("{}: {}", type.name, key));
    values.set(key, std::move(*parsed));
  }
  return {};
}

// ---- places ----

Status find_host(std::string_view name, const Intent& intent, FaultSite& site) {
  const auto slash = name.find('/');
  const std::string_view host_name = name.substr(0, slash);
  std::vector<std::string> known;
  for (std::uint32_t h = 0; h < intent.hosts.size(); ++h) {
    const design::HostIntent& host = intent.hosts[h];
    known.push_back(host.name);
    if (host.name != host_name) continue;
    const std::size_t before = site.nics.size();
    for (const design::NicIntent& nic : host.nics) {
      const std::string_view rail =
          slash == std::string_view::npos ? std::string_view() : name.substr(slash + 1);
      if (!rail.empty() && rail != nic.device && rail != std::to_string(nic.rail)) continue;
      site.nics.push_back({h, static_cast<std::uint32_t>(nic.rail)});
      site.links.push_back(LinkId{nic.link});
    }
    if (site.nics.size() > before) return {};
    return invalid_error(fmt::format("{} has no NIC '{}'; it has {} to {}", host.name,
                                     name.substr(slash + 1), host.nics.front().device,
                                     host.nics.back().device));
  }
  return not_found_error(
      fmt::format("no host '{}' in this fabric{}", host_name, did_you_mean(host_name, known)));
}

Status find_switch(std::string_view name, const Intent& intent, FaultSite& site) {
  std::vector<std::string> known;
  for (std::uint32_t s = 0; s < intent.switches.size(); ++s) {
    known.push_back(intent.switches[s].name);
    if (known.back() != name) continue;
    site.switches.push_back(s);
    return {};
  }
  return not_found_error(
      fmt::format("no switch '{}' in this fabric{}", name, did_you_mean(name, known)));
}

std::string node_name(const Intent& intent, const design::PortRef& port) {
  return port.kind == design::NodeKind::kHost ? intent.hosts[port.node].name
                                              : intent.switches[port.node].name;
}

Status find_port(std::string_view switch_name, std::string_view port_name, const Intent& intent,
                 FaultSite& site) {
  FaultSite of_switch;
  WEIR_TRY_STATUS(find_switch(switch_name, intent, of_switch));
  std::vector<std::string> known;
  for (const design::SwitchPortIntent& port : intent.switches[of_switch.switches.front()].ports) {
    known.push_back(port.name);
    if (port.name != port_name) continue;
    site.links.push_back(LinkId{port.link});
    return {};
  }
  return not_found_error(
      fmt::format("{} has no port '{}'; {}{}", switch_name, port_name,
                  known.empty() ? "it has none"
                                : fmt::format("{} to {} have a cable", known.front(), known.back()),
                  did_you_mean(port_name, known)));
}

// "leaf1/swp9"; "leaf1-spine1", the first of several; a host (all its rails).
Status find_link(std::string_view name, const Intent& intent, FaultSite& site) {
  for (std::uint32_t l = 0; l < intent.links.size(); ++l) {
    const std::string a = node_name(intent, intent.links[l].lower);
    const std::string b = node_name(intent, intent.links[l].upper);
    if (name != a + "-" + b && name != b + "-" + a) continue;
    site.links.push_back(LinkId{l});
    return {};
  }
  const auto slash = name.find('/');
  const std::string_view node = name.substr(0, slash);
  const bool is_host = std::any_of(intent.hosts.begin(), intent.hosts.end(),
                                   [&](const design::HostIntent& h) { return h.name == node; });
  if (is_host) return find_host(name, intent, site);
  if (slash != std::string_view::npos) return find_port(node, name.substr(slash + 1), intent, site);
  return not_found_error(fmt::format(
      "no link '{}' in this fabric; name a switch's port (leaf1/swp9), two nodes (leaf1-spine1) "
      "or a host",
      name));
}

}  // namespace

Result<Fault> parse_fault(std::string_view text) {
  const std::vector<std::string_view> pieces = pieces_of(text);
  Fault fault;
  fault.text = std::string(trim(text));
  fault.type = find_fault(pieces.front());
  if (fault.type == nullptr)
    return invalid_error(fmt::format("no fault '{}'{} (weir sim --list-faults shows them all)",
                                     pieces.front(), did_you_mean(pieces.front(), type_names())));
  FaultValues values = default_values(*fault.type);
  for (std::size_t i = 1; i < pieces.size(); ++i)
    WEIR_TRY_STATUS(take_pair(fault, values, pieces[i]));
  fault.kind = fault.type->make(values);
  if (fault.until <= fault.from)
    return invalid_error(fmt::format("{}: until is not after from", fault.type->name));
  if (fault.type->needs_place && fault.at.empty()) {
    const std::string_view example = fault.type->place == FaultPlace::kHosts      ? "gpu03"
                                     : fault.type->place == FaultPlace::kSwitches ? "leaf1"
                                                                                  : "leaf1/swp9";
    return invalid_error(
        fmt::format("{} needs a place: {},at={}", fault.type->name, fault.type->name, example));
  }
  return fault;
}

Result<FaultSite> resolve(const Fault& fault, const Intent& intent) {
  FaultSite site;
  const FaultPlace place = fault.type->place;
  for (const std::string& name : fault.at) {
    const Status found = place == FaultPlace::kHosts      ? find_host(name, intent, site)
                         : place == FaultPlace::kSwitches ? find_switch(name, intent, site)
                                                          : find_link(name, intent, site);
    if (!found) return found.error().within(std::string(fault.type->name));
  }
  if (!fault.at.empty()) return site;
  if (place == FaultPlace::kHosts)
    for (const design::HostIntent& host : intent.hosts)
      WEIR_TRY_STATUS(find_host(host.name, intent, site));
  for (std::uint32_t s = 0; place == FaultPlace::kSwitches && s < intent.switches.size(); ++s)
    site.switches.push_back(s);
  return site;
}

}  // namespace weir::sim
