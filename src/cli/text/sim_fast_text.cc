#include <fmt/format.h>

#include "base/count_text.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/text/sim_text.h"
#include "units/format.h"

namespace weir::cli {
namespace {

constexpr std::size_t kFastWidth = 100;

std::string bounded(const sim::Estimate& estimate) {
  return fmt::format("{} ±{:.1f} %", approximate(estimate.value), estimate.bound * 100);
}

std::string fast_table(const sim::FastOutcome& outcome) {
  TextTable table({"workload", "messages", "completed", "mean", "p50", "p99", "round"},
                  {Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight});
  for (const sim::FastWorkload& load : outcome.workloads) {
    const auto time = [&](const sim::Estimate& estimate) {
      return load.completed == 0 ? std::string("-") : bounded(estimate);
    };
    table.add_row({load.label, count_text(load.messages), count_text(load.completed),
                   time(load.completion.mean), time(load.completion.p50), time(load.completion.p99),
                   load.round ? bounded(*load.round) : "-"});
  }
  return table.to_text(2);
}

std::string windows_text(const sim::FastOutcome& outcome) {
  const sim::WindowsSeen& seen = outcome.seen;
  return fmt::format(
      "  in the windows  {} flows and {} hops simulated in full: {} packets marked, {} pauses, no "
      "loss\n"
      "  outside         not known: counters, marks, pauses, drops, queues, utilisation\n",
      count_text(seen.flows), count_text(seen.hops), count_text(seen.marked),
      count_text(seen.pauses));
}

}  // namespace

std::string fast_verdict(const sim::FastOutcome& outcome) {
  const std::string windows =
      fmt::format("{} windows of {} checked", outcome.checked, count_text(outcome.windows));
  if (outcome.finished == 0)
    return fmt::format("approximate: none of {} flows finishes in time; {} (simulated).",
                       count_text(outcome.flows), windows);
  const std::string late =
      outcome.finished == outcome.flows
          ? std::string()
          : fmt::format("{} of {} flows NOT finished in time, ",
                        count_text(outcome.flows - outcome.finished), count_text(outcome.flows));
  return fmt::format("approximate: {}completion mean {}, p99 {}, {} (simulated).", late,
                     bounded(outcome.completion.mean), bounded(outcome.completion.p99), windows);
}

void print_fast(const sim::FastOutcome& outcome, Context& context) {
  const bool is_good = outcome.finished == outcome.flows;
  context.out << paint(context, is_good ? Tone::kGood : Tone::kBad, fast_verdict(outcome)) << '\n';
  if (context.quiet) return;
  context.out << '\n' << fast_table(outcome) << '\n' << windows_text(outcome);
  for (const std::string& note : outcome.notes)
    context.out << "\nnote: " << hang(note, kFastWidth - 6, 6);
  if (!outcome.notes.empty()) context.out << '\n';
  context.out << fmt::format("\napproximated ({}), seed {}, digest {:016x} of the approximation\n",
                             outcome.method, outcome.seed, outcome.digest);
}

}  // namespace weir::cli
