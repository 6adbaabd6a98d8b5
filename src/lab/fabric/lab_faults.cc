// Faults of a lab. A fault that a real host or switch would show in its settings is a wrong setting
// here: correcting the setting repairs the fault, and clearing the fault restores the setting. All
// others last until they are cleared.
#include <algorithm>
#include <array>
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "base/untrusted/json_parse.h"
#include "lab/fabric/shared.h"
#include "sim/fault/fault.h"
#include "units/format.h"

namespace weir::lab {
namespace {

/// The register that the fault sets, in its own steps: Mbit/s, microseconds.
std::optional<host::SetKnob> knob_of(const sim::Fault& fault) {
  if (const auto* const wrong = std::get_if<sim::WrongRateIncrease>(&fault.kind))
    return host::SetKnob{"rpg_ai_rate", wrong->rate.raw() / 1'000'000};
  if (const auto* const wrong = std::get_if<sim::WrongAlphaPeriod>(&fault.kind))
    return host::SetKnob{"dce_tcp_rtt", wrong->period.raw() / 1'000'000};
  return std::nullopt;
}

/// The settings of each NIC with the fault, and whether it changes the behaviour of any NIC, even
/// if no setting shows that.
struct Edited {
  std::vector<std::vector<NicSettings>> nics;
  bool touches_nics = false;
};

Result<Edited> edit_nics(const Blueprint& blueprint, const sim::Fault& fault,
                         const design::Intent& present, const State& state) {
  Edited out{state.nics, false};
  design::Intent after = present;
  WEIR_TRY_STATUS(sim::apply_to_intent(fault, after));
  for (std::uint32_t h = 0; h < state.nics.size(); ++h)
    for (std::uint32_t rail = 0; rail < state.nics[h].size(); ++rail) {
      const design::NicIntent& was = present.hosts[h].nics[rail];
      const design::NicIntent& is = after.hosts[h].nics[rail];
      if (is.traffic_class != was.traffic_class || is.ecn_np != was.ecn_np ||
          is.ecn_rp != was.ecn_rp)
        out.touches_nics = true;
      take_over(was, is, blueprint.platform(h), out.nics[h][rail]);
    }
  const std::optional<host::SetKnob> change = knob_of(fault);
  if (!change) return out;
  WEIR_TRY(site, sim::resolve(fault, present));
  for (const sim::NicRef& nic : site.nics) {
    out.touches_nics = out.touches_nics || !blueprint.platform(nic.host).model->has_dcqcn_knobs;
    const auto done = perform(*change, blueprint.platform(nic.host), out.nics[nic.host][nic.rail]);
    if (!done && done.error().code != ErrorCode::kUnsupported) return done.error();
  }
  return out;
}

/// Faults that have no effect if no NIC changes.
bool is_of_settings(const sim::Fault& fault) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "wrong-trust", "wrong-dscp", "wrong-tc", "wrong-nic-map", "wrong-pfc-priority",
      "wrong-mtu",   "np-off",     "rp-off",   "dcqcn-rate-ai", "dcqcn-alpha-period"};
  return fault.is_whole_run() &&
         std::find(kNames.begin(), kNames.end(), fault.type->name) != kNames.end();
}

/// Faults that a switch would show in its configuration. Routes and cables are not part of it.
bool is_of_switch_settings(const sim::Fault& fault) {
  return fault.type->place == sim::FaultPlace::kSwitches && fault.type->name != "routing-loop" &&
         fault.type->name != "bounce-routing";
}

std::string value_now(const State& state, const SettingChange& change) {
  return all_keys(state.nics[change.nic.host][change.nic.rail])[change.key].dump();
}

Status undo(const SettingChange& change, State& state) {
  if (value_now(state, change) != change.after) return {};  // changed again since
  const Json object = {{change.key, Json::parse(change.before)}};
  return set_keys(JsonCursor(object), state.nics[change.nic.host][change.nic.rail]);
}

}  // namespace

Status add_fault(const Blueprint& blueprint, Profiles& profiles, const std::string& text,
                 State& state) {
  WEIR_TRY(fault, sim::parse_fault(text));
  for (const FaultRecord& record : state.faults)
    if (record.text == text) return invalid_error(fmt::format("the lab already has {}", text));
  WEIR_TRY(present, present_intent(blueprint, state, profiles, {}));
  WEIR_TRY(edited, edit_nics(blueprint, fault, present, state));
  FaultRecord record;
  record.text = text;
  for (std::uint32_t h = 0; h < state.nics.size(); ++h)
    for (std::uint32_t rail = 0; rail < state.nics[h].size(); ++rail) {
      const Json before = all_keys(state.nics[h][rail]);
      const Json changed = difference(state.nics[h][rail], edited.nics[h][rail]);
      for (const auto& [key, value] : changed.items())
        record.changes.push_back({{h, rail}, key, before[key].dump(), value.dump()});
    }
  if (is_of_switch_settings(fault)) {
    WEIR_TRY(site, sim::resolve(fault, present));
    record.switches = site.switches;
  }
  record.is_setting = !record.changes.empty() || !record.switches.empty();
  if (!record.is_setting && is_of_settings(fault) && !edited.touches_nics)
    return invalid_error(fmt::format("{} has no effect: the settings are already so", text));
  state.nics = std::move(edited.nics);
  state.faults.push_back(std::move(record));
  return {};
}

Result<std::size_t> clear_faults(const std::function<bool(const FaultRecord&)>& matches,
                                 State& state) {
  std::size_t cleared = 0;
  std::vector<FaultRecord> left;
  // Last in, first out: a later fault may have overwritten settings of an earlier one.
  for (auto record = state.faults.rbegin(); record != state.faults.rend(); ++record) {
    if (!matches(*record)) {
      left.insert(left.begin(), *record);
      continue;
    }
    for (const SettingChange& change : record->changes)
      WEIR_TRY_STATUS(undo(change, state));
    ++cleared;
  }
  state.faults = std::move(left);
  return cleared;
}

void forget_repaired(State& state) {
  std::erase_if(state.faults, [&](const FaultRecord& record) {
    return record.is_setting && record.switches.empty() &&
           std::none_of(record.changes.begin(), record.changes.end(),
                        [&](const SettingChange& change) {
                          return value_now(state, change) == change.after;
                        });
  });
}

}  // namespace weir::lab
