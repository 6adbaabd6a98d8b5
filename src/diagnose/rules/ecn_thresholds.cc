// I22 and I2: ECN that starts too late or too early. Late: rare marks and constant pauses, because
// PFC stops the senders before ECN does, or ECN is off. Early: throughput is down, nothing pauses,
// and there are far more marks than the queues explain. Both are one comparison of the marking
// threshold that was read with the wanted one, or, if none was read, of the marks with the designed
// curve.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "diagnose/core/switch_queues.h"
#include "diagnose/rules/rule.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

enum class Starts : std::uint8_t { kLate, kEarly };

struct WrongSetting {
  const PortView* port = nullptr;
  WantedMarking wanted;
  std::optional<Bytes> found;  // absent: ECN is off
};

/// Pauses, or PFC on the RDMA priority: the queue belongs to a lossless class. Also where a system
/// counts pauses without their priority.
bool is_lossless(const View& view, const PortView& port) {
  const Priority rdma = Priority::of(view.rdma());
  if (port.facts != nullptr && port.facts->pfc.is_known() && port.facts->pfc->contains(rdma))
    return true;
  if (port.counts.delta() == nullptr) return false;
  return std::any_of(port.counts.delta()->deltas.begin(), port.counts.delta()->deltas.end(),
                     [](const counters::Delta& delta) {
                       const bool is_pause = delta.name == "port.pause_rx.frames" ||
                                             delta.name.find("pause_tx") != std::string::npos;
                       return is_pause && delta.amount.value_or(delta.at_least.value_or(0)) > 0;
                     });
}

bool any_is_lossless(const View& view, const std::string& name) {
  const auto ports = view.ports_of(name);
  return std::any_of(ports.begin(), ports.end(),
                     [&](const PortView* port) { return is_lossless(view, *port); });
}

std::optional<WrongSetting> wrong_setting(const View& view, const std::string& name,
                                          Starts starts) {
  for (const PortView* port : view.ports_of(name)) {
    const evidence::EgressQueue* queue = rdma_queue(view, *port);
    const auto wanted = wanted_marking(*port);
    // Without a speed no threshold is known, and none is needed to see that ECN is off.
    const bool is_off = starts == Starts::kLate && queue != nullptr && queue->ecn.is(false);
    if (is_off && !wanted && port->wanted == nullptr && any_is_lossless(view, name))
      return WrongSetting{port, {}, {}};
    if (queue == nullptr || !wanted) continue;
    if (starts == Starts::kLate && !queue->ecn.is_known()) continue;
    if (starts == Starts::kLate && !*queue->ecn) return WrongSetting{port, *wanted, {}};
    if (!queue->ecn_min.is_known()) continue;
    const double factor =
        wanted->is_designed ? view.thresholds().threshold_factor : view.thresholds().far_from_usual;
    const auto found = static_cast<double>(queue->ecn_min->raw());
    const auto designed = static_cast<double>(wanted->min.raw());
    if (starts == Starts::kLate ? found > factor * designed : found * factor < designed)
      return WrongSetting{port, *wanted, *queue->ecn_min};
  }
  return std::nullopt;
}

std::string setting_verdict(const std::string& name, const WrongSetting& setting) {
  return fmt::format("{} marks RDMA from a queue of {}; {} {}.", name, approximate(*setting.found),
                     setting.wanted.is_designed ? "the design says" : "the usual start is",
                     approximate(setting.wanted.min));
}

finding::EvidenceLine setting_line(const WrongSetting& setting) {
  return fact_line(name_of(*setting.port),
                   !setting.found
                       ? std::string("ECN of the RDMA queue: off")
                       : fmt::format("ECN min threshold: expected {}, found {}",
                                     to_text(setting.wanted.min), to_text(*setting.found)));
}

// ---- late ----

/// Fewer marks than the queues must have had as designed, by more than chance; absent if no design
/// or no queue length is known.
std::optional<bool> marks_too_few(const View& view, const std::string& name) {
  const auto marks = marks_by_curve(view, name);
  if (!marks || marks->fullest == nullptr) return std::nullopt;
  const double chance = view.thresholds().chance * std::sqrt(marks->at_least);
  return marks->at_least > static_cast<double>(marks->marked) + chance;
}

bool pauses_without_marks(const View& view, const SwitchCounts& counts) {
  return counts.pauses_sent && counts.marked &&
         *counts.pauses_sent >= view.thresholds().pauses_that_matter &&
         !is_at_least(*counts.marked, view.thresholds().marks_per_pause, *counts.pauses_sent);
}

/// The id and the verdict.
std::pair<std::string_view, std::string> late_verdict(const View& view, const std::string& name,
                                                      const std::optional<WrongSetting>& setting,
                                                      const SwitchCounts& counts) {
  if (setting && !setting->found)
    return {"ecn.off_on_lossless", fmt::format("{} marks no RDMA: ECN is off on its queue.", name)};
  if (setting) return {"ecn.thresholds_too_high", setting_verdict(name, *setting)};
  const std::string seen = fmt::format("{} sent {} pauses and marked {} packets", name,
                                       counts.pauses_sent.value_or(0), counts.marked.value_or(0));
  const PortView& any = *view.ports_of(name).front();
  const evidence::EgressQueue* queue = rdma_queue(view, any);
  if (any.wanted == nullptr && queue != nullptr && queue->ecn_min.is_known()) {
    return {"ecn.above_xoff", fmt::format("{}, although marking starts at {}: XOFF is below that.",
                                          seen, approximate(*queue->ecn_min))};
  }
  return {"ecn.thresholds_too_high", seen + " while its queues were long: ECN starts too late."};
}

// ---- early ----

bool has_marking_facts(const View& view, const std::string& name) {
  const auto ports = view.ports_of(name);
  return std::any_of(ports.begin(), ports.end(), [&](const PortView* port) {
    const evidence::EgressQueue* queue = rdma_queue(view, *port);
    return queue != nullptr && queue->ecn_min.is_known();
  });
}

/// More marks than the queues can have had as designed, by more than chance.
std::optional<MarksByCurve> too_many_marks(const View& view, const std::string& name) {
  auto marks = marks_by_curve(view, name);
  if (!marks || marks->fullest == nullptr) return std::nullopt;
  const Thresholds& limits = view.thresholds();
  const double most = limits.marks_over_curve * marks->about +
                      limits.chance * std::sqrt(marks->about) + limits.marks_slack;
  return static_cast<double>(marks->marked) > most ? marks : std::nullopt;
}

}  // namespace

void look_for_late_marking(const View& view, Suspicions& out) {
  for (const std::string& name : view.switches()) {
    const SwitchCounts counts = counts_of(view, name);
    const auto setting = wrong_setting(view, name, Starts::kLate);
    const std::optional<bool> too_few = marks_too_few(view, name);
    if (!setting && !too_few.value_or(pauses_without_marks(view, counts))) continue;
    auto [id, verdict] = late_verdict(view, name, setting, counts);
    std::vector<finding::EvidenceLine> lines;
    if (setting) lines.push_back(setting_line(*setting));
    if (counts.pauses_sent) {
      lines.push_back(fact_line(
          name, fmt::format("pauses sent in priority {}: {}; packets marked: {}", view.rdma(),
                            *counts.pauses_sent, counts.marked.value_or(0))));
    }
    Suspicion late{
        .id = id,
        .verdict = std::move(verdict),
        .where = switch_place(view, name),
        .confidence = setting ? finding::Confidence::kCertain : finding::Confidence::kMedium,
        .evidence = std::move(lines),
        .explains = {{"pfc.sustained"}, {"buffer.too_small"}, {"ecmp.imbalance"}, {"path.loss"}},
        .is_measured = too_few.value_or(false)};
    // Without a design that says otherwise, a threshold that nothing reached is a note; that PFC
    // works instead of ECN shows in pauses.
    const bool is_at_rest = counts.pauses_sent == std::optional<std::uint64_t>(0);
    const bool is_designed = setting && setting->port->wanted != nullptr;
    if (setting && setting->found && is_at_rest && !is_designed)
      late.severity = finding::Severity::kInfo;
    out.add(std::move(late));
  }
}

void look_for_early_marking(const View& view, Suspicions& out) {
  for (const std::string& name : view.switches()) {
    const SwitchCounts counts = counts_of(view, name);
    const auto setting = wrong_setting(view, name, Starts::kEarly);
    std::optional<MarksByCurve> eager;
    if (!setting && !has_marking_facts(view, name)) eager = too_many_marks(view, name);
    if (!setting && !eager) continue;
    std::vector<finding::EvidenceLine> lines;
    if (setting) lines.push_back(setting_line(*setting));
    if (counts.marked) {
      lines.push_back(fact_line(
          name, fmt::format("packets marked: {} of {} sent", *counts.marked, counts.sent)));
    }
    Suspicion early{
        .id = "ecn.thresholds_too_low",
        .verdict = setting ? setting_verdict(name, *setting)
                           : fmt::format("{} marked {} packets although no queue exceeded {} "
                                         "(port {}); the designed curve gives about {:.0f}.",
                                         name, eager->marked, approximate(eager->peak),
                                         eager->fullest->name, eager->about),
        .where = switch_place(view, name),
        .confidence = setting ? finding::Confidence::kCertain : finding::Confidence::kMedium,
        .evidence = std::move(lines),
        .explains = {{"dcqcn.too_conservative"}, {"ecmp.imbalance"}, {"pfc.sustained"}}};
    if (setting && counts.marked == std::optional<std::uint64_t>(0))
      early.severity = finding::Severity::kInfo;  // nothing was marked too early
    out.add(std::move(early));
  }
  for (const NicView& nic : view.nics())
    look_at_dcqcn(view, nic, out);
  look_at_algorithms(view, out);
}

}  // namespace weir::diagnose
