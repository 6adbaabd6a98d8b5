// PFC, link pause and the watchdog.
#include <algorithm>

#include <fmt/format.h>

#include "design/lint/rules.h"
#include "units/format.h"

namespace weir::design {
namespace {

// The priority that stays: RDMA's, else the lowest that is on.
Priority kept_priority(const Design& design) {
  if (const auto* rdma = design.find_class(kRdmaClass)) return *rdma->value.priority;
  unsigned lowest = 0;
  while (lowest + 1 < Priority::kLimit && !design.pfc.priorities->contains(Priority::of(lowest)))
    ++lowest;
  return Priority::of(lowest);
}

// Where PFC came to be on for more than one: the line that says so, else the class that made it so.
TextPosition place_of_second_priority(const Design& design, Priority kept) {
  if (design.pfc.priorities.is_written()) return design.pfc.priorities.at();
  for (const auto& cls : design.classes) {
    if (*cls.value.lossless && *cls.value.priority != kept)
      return first_known({cls.value.lossless.at(), cls.value.priority.at(), cls.at});
  }
  return {};
}

}  // namespace

void check_pfc_multiple_priorities(LintCase& c) {
  const PrioritySet on = *c.design.pfc.priorities;
  if (on.count() < 2) return;
  const Priority kept = kept_priority(c.design);
  // A lossless CNP class is a fault of its own; a second priority follows from it.
  const auto* const cnp = c.design.find_class(kCnpClass);
  const bool is_cnp_alone = cnp != nullptr && *cnp->value.priority != kept && on.count() == 2 &&
                            on.contains(*cnp->value.priority);
  if (is_cnp_alone) return;
  auto& found =
      c.report("pfc.multiple_priorities", place_of_second_priority(c.design, kept),
               fmt::format("PFC is on for {} priorities ({}); one lossless priority is enough",
                           on.count(), to_text(on)));
  found.where.priority = to_text(on);
  // Nothing is left that a pause would spare: best effort and CNPs stand with RDMA.
  const bool is_all =
      std::all_of(c.design.classes.begin(), c.design.classes.end(),
                  [&](const auto& cls) { return on.contains(*cls.value.priority); });
  if (is_all) {
    found.severity = finding::Severity::kError;
    found.verdict = fmt::format(
        "PFC is on for {} priorities ({}), every class included: one slow receiver stops all "
        "traffic, CNPs too",
        on.count(), to_text(on));
  }
  for (const auto& cls : c.design.classes) {
    if (on.contains(*cls.value.priority)) {
      LintCase::add_evidence(found, fmt::format("class '{}' has priority {} and is {}", cls.name,
                                                to_text(*cls.value.priority),
                                                *cls.value.lossless ? "lossless" : "not lossless"));
    }
  }
  LintCase::add_evidence(
      found,
      fmt::format("each lossless priority takes headroom on every port: {} times now", on.count()));
  LintCase::add_fix(found, {fmt::format("pfc: {{ priorities: {} }}", to_text(kept))},
                    "and 'lossless: false' in every class but rdma");
}

void check_pfc_off(LintCase& c) {
  if (c.design.pfc.priorities->count() > 0) return;
  const auto lossless = std::find_if(c.design.classes.begin(), c.design.classes.end(),
                                     [](const auto& cls) { return *cls.value.lossless; });
  if (lossless == c.design.classes.end()) {
    const auto* const rdma = c.design.find_class(kRdmaClass);
    if (rdma == nullptr) return;
    auto& found =
        c.report("pfc.off", first_known({rdma->value.lossless.at(), rdma->at}),
                 "class 'rdma' is not lossless: no hop pauses, so a full queue drops RDMA");
    found.where.priority = to_text(*rdma->value.priority);
    LintCase::add_fix(found, {"lossless: on"}, "under classes, rdma");
    return;
  }
  const std::string priority = to_text(*lossless->value.priority);
  auto& found = c.report(
      "pfc.off", first_known({c.design.pfc.priorities.at(), lossless->at}),
      fmt::format(
          "class '{}' is lossless and PFC is on for no priority: a full queue drops its packets",
          lossless->name));
  found.where.priority = priority;
  LintCase::add_fix(found, {fmt::format("pfc: {{ priorities: {} }}", priority)});
}

void check_pfc_wrong_priority(LintCase& c) {
  const PrioritySet on = *c.design.pfc.priorities;
  if (on.count() == 0) return;  // pfc.off
  for (const auto& cls : c.design.classes) {
    const Priority priority = *cls.value.priority;
    if (!*cls.value.lossless || on.contains(priority)) continue;
    auto& found =
        c.report("pfc.wrong_priority",
                 first_known({c.design.pfc.priorities.at(), cls.value.priority.at(), cls.at}),
                 fmt::format("PFC protects priority {}, and lossless class '{}' has priority {}",
                             to_text(on), cls.name, to_text(priority)));
    found.where.priority = to_text(priority);
    LintCase::add_fix(found, {fmt::format("pfc: {{ priorities: {} }}", to_text(priority))});
  }
}

void check_watchdog_off(LintCase& c) {
  const auto causes = switch_causes(
      c, [](const SwitchIntent& node) { return !node.watchdog && node.pfc.count() > 0; },
      [](const SwitchGroup& group) { return own_line(group.watchdog); },
      c.design.watchdog.enabled.at());
  for (const SwitchCause& cause : causes) {
    auto& found =
        c.report("watchdog.off", cause.at,
                 fmt::format("PFC is on and its watchdog is off on {}: one stuck receiver can "
                             "pause the whole fabric for good",
                             to_text(cause)));
    found.where.switch_name = cause.first().name;
    LintCase::add_fix(found,
                      {cause.group != nullptr ? "watchdog: true" : "watchdog: { enabled: true }"},
                      belongs_under(cause));
  }
}

void check_watchdog_slow(LintCase& c) {
  // Usual are 100 ms to 400 ms (SONiC's and Meta's 200 ms); a job's transport gives up within
  // seconds.
  constexpr Duration kSlow = 1_s;
  const auto causes = switch_causes(
      c,
      [&](const SwitchIntent& node) {
        return node.watchdog && node.pfc.count() > 0 && node.watchdog_detect > kSlow;
      },
      [](const SwitchGroup&) { return OwnLine(); }, c.design.watchdog.detect.at());
  for (const SwitchCause& cause : causes) {
    const Nccl& nccl = c.design.nccl;
    const Duration once = Duration::raw((4'096_ns).raw() << *nccl.timeout);
    auto& found = c.report(
        "watchdog.slow", cause.at,
        fmt::format("the PFC watchdog of {} waits {} before it acts: a stuck receiver stops its "
                    "neighbours for that long",
                    to_text(cause), to_text(cause.first().watchdog_detect)));
    found.where.switch_name = cause.first().name;
    LintCase::add_evidence(
        found, fmt::format("usual are 100ms to 400ms; an RDMA connection gives up after about {} "
                           "(timeout {}, {} retries)",
                           approximate(once * std::max(*nccl.retry_count, 1)), *nccl.timeout,
                           *nccl.retry_count));
    LintCase::add_fix(found, {"watchdog: { detect: 200ms, restore: 200ms }"});
  }
}

void check_pause_global_on(LintCase& c) {
  constexpr std::string_view kTail =
      "link pause stops every class and cannot work together with PFC";
  const auto causes = switch_causes(
      c, [](const SwitchIntent& node) { return node.global_pause; },
      [](const SwitchGroup& group) { return own_line(group.global_pause); });
  for (const SwitchCause& cause : causes) {
    auto& found =
        c.report("pause.global_on", cause.at,
                 fmt::format("802.3x link pause is on for {}: {}", to_text(cause), kTail));
    found.where.switch_name = cause.first().name;
    LintCase::add_fix(found, {"global_pause: false"}, belongs_under(cause));
  }
  for (const HostCause& cause :
       host_causes(c, [](const HostIntent& host) { return host.nics.front().global_pause; })) {
    auto& found = c.report(
        "pause.global_on", first_known({cause.group->value.global_pause.at(), cause.group->at}),
        fmt::format("802.3x link pause is on for {}: {}", to_text(cause), kTail));
    found.where.host = cause.first().name;
    LintCase::add_fix(found, {"global_pause: false"}, belongs_under(cause));
  }
}

}  // namespace weir::design
