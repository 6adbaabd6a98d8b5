// I2 and I10 on the NIC: a DCQCN parameter far off the design.
#include <fmt/format.h>

#include "design/tables/nic_knobs.h"
#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

/// Parameters of which a wrong value has one known effect.
struct Parameter {
  std::string_view name;
  std::string_view id_when_large;
  std::string_view id_when_small;
};
constexpr Parameter kParameters[] = {
    {"rpg_ai_rate", "dcqcn.too_aggressive", "dcqcn.too_conservative"},
    {"rpg_hai_rate", "dcqcn.too_aggressive", "dcqcn.too_conservative"},
    {"dce_tcp_rtt", "dcqcn.too_conservative", "dcqcn.too_aggressive"},
    {"rpg_time_reset", "dcqcn.too_conservative", "dcqcn.too_aggressive"},
};

}  // namespace

void look_at_dcqcn(const View& view, const NicView& nic, Suspicions& out) {
  if (view.intent() == nullptr || nic.facts == nullptr || !nic.facts->ecn.parameters.is_known())
    return;
  const double factor = view.thresholds().threshold_factor;
  for (const Parameter& row : kParameters) {
    const auto wanted = view.intent()->dcqcn.find(row.name);
    const design::NicKnob* knob = design::find_knob(row.name);
    if (wanted == view.intent()->dcqcn.end() || knob == nullptr || wanted->second <= 0) continue;
    const auto text = [&](std::int64_t value) {
      return value >= knob->min && value <= knob->max ? design::knob_text(*knob, value)
                                                      : std::to_string(value);
    };
    for (const evidence::Parameter& found : *nic.facts->ecn.parameters) {
      if (design::find_knob(found.name) != knob) continue;
      const double ratio = static_cast<double>(found.value) / static_cast<double>(wanted->second);
      const bool is_large = ratio >= factor;
      if (!is_large && ratio * factor > 1) continue;
      out.add({.id = is_large ? row.id_when_large : row.id_when_small,
               .verdict = fmt::format("{} has {} = {}; the design says {}.", name_of(nic), row.name,
                                      text(found.value), text(wanted->second)),
               .where = nic.where(),
               .evidence = {fact_line(nic.counts.source(),
                                      fmt::format("{}: expected {}, found {}", row.name,
                                                  text(wanted->second), text(found.value)))},
               .explains = {{"ecmp.imbalance"}, {"pfc.sustained"}}});
    }
  }
}

}  // namespace weir::diagnose
