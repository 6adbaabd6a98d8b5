// I2: throughput is down, nothing pauses, marks and CNPs are far over what the load explains.
// Either the switches mark too early, or the NICs' DCQCN takes back too much and gives too little.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "design/tables/nic_knobs.h"
#include "diagnose/core/switch_queues.h"
#include "diagnose/rules/rule.h"
#include "model/wred.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

struct Setting {
  const PortView* port = nullptr;
  Bytes found;
  WantedMarking wanted;
};

std::optional<Setting> wrong_setting(const View& view, const std::string& name) {
  for (const PortView* port : view.ports_of(name)) {
    const evidence::EgressQueue* queue = rdma_queue(view, *port);
    const auto wanted = wanted_marking(*port);
    if (queue == nullptr || !wanted || !queue->ecn_min.is_known()) continue;
    const double factor =
        wanted->is_designed ? view.thresholds().threshold_factor : view.thresholds().far_from_usual;
    if (static_cast<double>(queue->ecn_min->raw()) * factor <
        static_cast<double>(wanted->min.raw()))
      return Setting{port, *queue->ecn_min, *wanted};
  }
  return std::nullopt;
}

bool has_marking_facts(const View& view, const std::string& name) {
  for (const PortView* port : view.ports_of(name)) {
    const evidence::EgressQueue* queue = rdma_queue(view, *port);
    if (queue != nullptr && queue->ecn_min.is_known()) return true;
  }
  return false;
}

/// More marks than the queues can have had as designed, by more than chance.
std::optional<MarksByCurve> too_many_marks(const View& view, const std::string& name) {
  auto marks = marks_by_curve(view, name);
  if (!marks || marks->fullest == nullptr) return std::nullopt;
  const double most = view.thresholds().marks_over_curve * marks->about +
                      view.thresholds().chance * std::sqrt(marks->about) +
                      view.thresholds().marks_slack;
  return static_cast<double>(marks->marked) > most ? marks : std::nullopt;
}

void look_at_switch(const View& view, const std::string& name, Suspicions& out) {
  const std::optional<Setting> setting = wrong_setting(view, name);
  const SwitchCounts counts = counts_of(view, name);
  std::optional<MarksByCurve> eager;
  if (!setting && !has_marking_facts(view, name)) eager = too_many_marks(view, name);
  if (!setting && !eager) return;
  finding::Where where;
  where.switch_name = name;
  where.priority = std::to_string(view.rdma());
  finding::Finding finding = finding::make_finding(
      "ecn.thresholds_too_low",
      setting
          ? fmt::format("{} marks RDMA from {} of queue on; {} is {}.", name,
                        approximate(setting->found),
                        setting->wanted.is_designed ? "the design's threshold" : "the usual start",
                        approximate(setting->wanted.min))
          : fmt::format("{} marked {} packets though no queue passed {} (port {}); as designed "
                        "that is about {:.0f}.",
                        name, eager->marked, approximate(eager->peak), eager->fullest->name,
                        eager->about),
      where);
  finding.confidence = setting ? finding::Confidence::kCertain : finding::Confidence::kMedium;
  if (setting) {
    finding.evidence.push_back(
        fact_line(name_of(*setting->port),
                  fmt::format("marking begins: expected {}, found {}", to_text(setting->wanted.min),
                              to_text(setting->found))));
  }
  if (counts.marked) {
    finding.evidence.push_back(
        fact_line(name, fmt::format("packets marked: {} of {} sent", *counts.marked, counts.sent)));
  }
  out.add(std::move(finding), {{"dcqcn.too_conservative"}, {"ecmp.imbalance"}, {"pfc.sustained"}});
}

/// Parameters of which a wrong value has one known effect.
struct Knob {
  std::string_view name;
  std::string_view id_when_large;
  std::string_view id_when_small;
};
constexpr Knob kKnobs[] = {
    {"rpg_ai_rate", "dcqcn.too_aggressive", "dcqcn.too_conservative"},
    {"rpg_hai_rate", "dcqcn.too_aggressive", "dcqcn.too_conservative"},
    {"dce_tcp_rtt", "dcqcn.too_conservative", "dcqcn.too_aggressive"},
    {"rpg_time_reset", "dcqcn.too_conservative", "dcqcn.too_aggressive"},
};

void look_at_knobs(const View& view, const NicView& nic, Suspicions& out) {
  if (view.intent() == nullptr || nic.facts == nullptr || !nic.facts->ecn.parameters.is_known())
    return;
  for (const Knob& row : kKnobs) {
    const auto wanted = view.intent()->dcqcn.find(row.name);
    const design::NicKnob* knob = design::find_knob(row.name);
    if (wanted == view.intent()->dcqcn.end() || knob == nullptr || wanted->second <= 0) continue;
    for (const evidence::Parameter& found : *nic.facts->ecn.parameters) {
      if (design::find_knob(found.name) != knob) continue;
      const double ratio = static_cast<double>(found.value) / static_cast<double>(wanted->second);
      const bool is_large = ratio >= view.thresholds().threshold_factor;
      if (!is_large && ratio * view.thresholds().threshold_factor > 1) continue;
      const auto text = [&](std::int64_t value) {
        return value >= knob->min && value <= knob->max ? design::knob_text(*knob, value)
                                                        : std::to_string(value);
      };
      finding::Finding finding = finding::make_finding(
          is_large ? row.id_when_large : row.id_when_small,
          fmt::format("{} has {} at {}; the design's value is {}.", name_of(nic), row.name,
                      text(found.value), text(wanted->second)),
          nic.where());
      finding.evidence.push_back(
          fact_line(nic.counts.source(), fmt::format("{}: expected {}, found {}", row.name,
                                                     text(wanted->second), text(found.value))));
      out.add(std::move(finding), {{"ecmp.imbalance"}, {"pfc.sustained"}});
    }
  }
}

}  // namespace

void look_for_early_marking(const View& view, Suspicions& out) {
  for (const std::string& name : view.switches())
    look_at_switch(view, name, out);
  for (const NicView& nic : view.nics())
    look_at_knobs(view, nic, out);
}

}  // namespace weir::diagnose
