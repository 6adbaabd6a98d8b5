// I22: rare marks, constant pauses. ECN begins after PFC has already stopped the senders, or never.
#include <cmath>

#include <fmt/format.h>

#include "diagnose/core/switch_queues.h"
#include "diagnose/rules/rule.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

struct LateSetting {
  const PortView* port = nullptr;
  bool is_off = false;
  Bytes found;
  WantedMarking wanted;
};

std::optional<LateSetting> late_wrong_setting(const View& view, const std::string& name) {
  for (const PortView* port : view.ports_of(name)) {
    const evidence::EgressQueue* queue = rdma_queue(view, *port);
    const auto wanted = wanted_marking(*port);
    if (queue == nullptr || !wanted || !queue->ecn.is_known()) continue;
    if (!*queue->ecn) return LateSetting{port, true, {}, *wanted};
    if (!queue->ecn_min.is_known()) continue;
    const double factor =
        wanted->is_designed ? view.thresholds().threshold_factor : view.thresholds().far_from_usual;
    if (static_cast<double>(queue->ecn_min->raw()) >
        factor * static_cast<double>(wanted->min.raw()))
      return LateSetting{port, false, *queue->ecn_min, *wanted};
  }
  return std::nullopt;
}

finding::Finding finding_for(const View& view, const std::string& name,
                             const std::optional<LateSetting>& setting,
                             const SwitchCounts& counts) {
  finding::Where where;
  where.switch_name = name;
  where.priority = std::to_string(view.rdma());
  if (setting && setting->is_off) {
    return finding::make_finding(
        "ecn.off_on_lossless",
        fmt::format("{} does not mark RDMA at all: ECN is off on its queue.", name), where);
  }
  if (setting) {
    return finding::make_finding(
        "ecn.thresholds_too_high",
        fmt::format("{} marks RDMA from {} of queue on; {} is {}.", name,
                    approximate(setting->found),
                    setting->wanted.is_designed ? "the design's threshold" : "the usual start",
                    approximate(setting->wanted.min)),
        where);
  }
  const PortView& any = *view.ports_of(name).front();
  const evidence::EgressQueue* queue = rdma_queue(view, any);
  const bool is_set_right = any.wanted == nullptr && queue != nullptr && queue->ecn_min.is_known();
  if (is_set_right) {
    return finding::make_finding(
        "ecn.above_xoff",
        fmt::format("{} sent {} pauses and marked {} packets, although it marks from {} of queue "
                    "on: it pauses before that.",
                    name, counts.pauses_sent.value_or(0), counts.marked.value_or(0),
                    approximate(*queue->ecn_min)),
        where);
  }
  return finding::make_finding(
      "ecn.thresholds_too_high",
      fmt::format("{} sent {} pauses and marked {} packets while its queues were long: ECN comes "
                  "too late.",
                  name, counts.pauses_sent.value_or(0), counts.marked.value_or(0)),
      where);
}

/// Fewer marks than the queues must have had as designed, by more than chance; absent where no
/// design or no queue length is known.
std::optional<bool> marks_too_few(const View& view, const std::string& name) {
  const auto marks = marks_by_curve(view, name);
  if (!marks || marks->fullest == nullptr) return std::nullopt;
  const double chance = view.thresholds().chance * std::sqrt(marks->at_least);
  return marks->at_least > static_cast<double>(marks->marked) + chance;
}

bool pauses_without_marks(const View& view, const SwitchCounts& counts) {
  return counts.pauses_sent && counts.marked &&
         *counts.pauses_sent >= view.thresholds().pauses_that_matter &&
         static_cast<double>(*counts.marked) <
             view.thresholds().marks_per_pause * static_cast<double>(*counts.pauses_sent);
}

}  // namespace

void look_for_late_marking(const View& view, Suspicions& out) {
  for (const std::string& name : view.switches()) {
    const SwitchCounts counts = counts_of(view, name);
    const std::optional<LateSetting> setting = late_wrong_setting(view, name);
    const std::optional<bool> too_few = marks_too_few(view, name);
    const bool shows = too_few.value_or(pauses_without_marks(view, counts));
    if (!setting && !shows) continue;
    finding::Finding finding = finding_for(view, name, setting, counts);
    finding.confidence = setting ? finding::Confidence::kCertain : finding::Confidence::kMedium;
    if (setting) {
      finding.evidence.push_back(fact_line(
          name_of(*setting->port),
          setting->is_off ? std::string("ECN of the RDMA queue: off")
                          : fmt::format("marking begins: expected {}, found {}",
                                        to_text(setting->wanted.min), to_text(setting->found))));
    }
    if (counts.pauses_sent) {
      finding.evidence.push_back(fact_line(
          name, fmt::format("pauses sent in priority {}: {}; packets marked: {}", view.rdma(),
                            *counts.pauses_sent, counts.marked.value_or(0))));
    }
    Candidate& added =
        out.add(std::move(finding),
                {{"pfc.sustained"}, {"buffer.too_small"}, {"ecmp.imbalance"}, {"path.loss"}});
    added.is_measured = too_few.value_or(false);
  }
}

}  // namespace weir::diagnose
