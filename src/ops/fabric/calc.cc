#include "ops/fabric/calc.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "design/file/load.h"
#include "design/prove/fluid.h"

namespace weir::ops {
namespace {

auto kind_key(const design::SwitchIntent& intent) {
  const auto& plan = intent.buffers.plan;
  return std::tuple(intent.group, intent.ports.size(), intent.buffers.total,
                    plan ? plan->headroom_sum : Bytes(), plan ? plan->lossless_shared : Bytes());
}

std::vector<SwitchKind> kinds_of(const design::Intent& intent) {
  std::vector<SwitchKind> kinds;
  for (std::size_t i = 0; i < intent.switches.size(); ++i) {
    const design::SwitchIntent& node = intent.switches[i];
    const auto same = std::find_if(kinds.begin(), kinds.end(), [&](const SwitchKind& kind) {
      return kind_key(intent.switches[kind.index]) == kind_key(node);
    });
    if (same == kinds.end()) {
      kinds.push_back({{node.name}, i, {}});
    } else {
      same->names.push_back(node.name);
    }
  }
  return kinds;
}

/// The whole design derived again under each profile: headroom margins and pools follow from it.
void add_variants(BufferAnswer& answer) {
  for (const model::BufferProfile& profile : model::buffer_profiles()) {
    design::Design changed = answer.fabric.design;
    const weir::Status status = design::set_value(changed, "buffers.profile", profile.name);
    if (status && *changed.buffers.profile == *answer.fabric.design.buffers.profile)
      answer.profile = profile.name;
    const design::Derived derived = status ? design::derive(changed) : design::Derived{};
    const bool is_usable = status.has_value() && derived.errors.empty();
    for (SwitchKind& kind : answer.kinds)
      kind.variants.push_back(
          {&profile, is_usable ? derived.intent.switches[kind.index].buffers.plan : std::nullopt});
  }
}

/// Fastest first.
std::vector<SpeedAnswer> speeds_of(const design::Intent& intent) {
  std::map<BitRate, SpeedAnswer, std::greater<>> classes;
  for (const design::SwitchIntent& node : intent.switches) {
    for (const design::SwitchPortIntent& port : node.ports) {
      SpeedAnswer& entry = classes[port.speed];
      const bool is_better = entry.ports == 0 || (port.is_access && !entry.port.is_access);
      entry.speed = port.speed;
      ++entry.ports;
      if (!is_better) continue;
      entry.port = port;
      entry.switch_name = node.name;
    }
  }
  std::vector<SpeedAnswer> list;
  for (auto& [speed, entry] : classes)
    list.push_back(std::move(entry));
  return list;
}

}  // namespace

bool BufferAnswer::fits(const SwitchKind& kind) const {
  const auto& plan = first_of(kind).buffers.plan;
  return plan && plan->fits();
}

Result<BufferAnswer> calc_buffers(const std::string& design) {
  WEIR_TRY(fabric, load_fabric(design));
  if (fabric.intent.switches.empty())
    return bad_input(fmt::format("{} has no switches, so there is no buffer", fabric.design.file));
  BufferAnswer answer{std::move(fabric), {}, {}};
  answer.kinds = kinds_of(answer.fabric.intent);
  add_variants(answer);
  return answer;
}

Result<WredAnswer> calc_wred(const std::string& design) {
  constexpr std::array kFlows = {2, 4, 8, 16, 32, 64};
  WEIR_TRY(fabric, load_fabric(design));
  WredAnswer answer{fabric.design.file, design::least_loop_delay(fabric.design, fabric.intent),
                    speeds_of(fabric.intent)};
  if (answer.speeds.empty())
    return bad_input(fmt::format("{} has no switch ports, and only a switch marks", answer.file));
  for (SpeedAnswer& entry : answer.speeds) {
    entry.start = model::wred_start(entry.speed);
    entry.published = model::published_wred_at(entry.speed);
    entry.fluid = design::fluid_at(fabric.design, fabric.intent, entry.port, kFlows.front());
    if (entry.fluid) entry.rows = model::fluid_table(*entry.fluid, kFlows, answer.loop_delay);
  }
  return answer;
}

Result<HeadroomAnswer> calc_headroom(const model::HeadroomInput& input, bool compares_models) {
  WEIR_TRY(headroom, or_bad_request(model::headroom(input)));
  HeadroomAnswer answer{input, std::move(headroom), {}};
  if (!compares_models) return answer;
  model::HeadroomInput common = input;
  // What only some models take would only fail the others.
  common.peer_response.reset();
  common.cell.reset();
  for (const model::HeadroomModelInfo& entry : model::headroom_models()) {
    common.model = entry.model;
    answer.all.push_back({&entry, model::headroom(common)});
  }
  return answer;
}

}  // namespace weir::ops
