// weir exam: how often the diagnosis names the cause, on randomly drawn fabrics and faults.
#include "lab/exam/exam.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/parallel.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/progress.h"
#include "cli/json/developer_json.h"
#include "cli/text/diagnose_text.h"
#include "sim/fault/fault.h"

namespace weir::cli {
namespace {

using lab::ExamReport;
using lab::ExamView;
using lab::Tally;
using lab::ViewScore;

constexpr std::uint64_t kMostSeeds = 1'000'000;

// ---- the request ----

Status take_seeds(const std::string& text, lab::ExamOptions& out) {
  const std::size_t dash = text.find('-');
  const auto first = parse_u64(text.substr(0, dash));
  const auto last = dash == std::string::npos ? first : parse_u64(text.substr(dash + 1));
  if (!first || !last || *last < *first || *last - *first >= kMostSeeds)
    return invalid_error(fmt::format("--seeds: expected A-B or a number, found '{}'", text));
  out.first_seed = *first;
  out.last_seed = *last;
  return {};
}

Status take_faults(const Args& args, lab::ExamOptions& out) {
  if (!args.has("faults")) return {};
  std::vector<std::string> known = {std::string(lab::kHealthyQuestion)};
  for (const sim::FaultType& type : sim::fault_types())
    known.emplace_back(type.name);
  for (const std::string_view name : split(args.value("faults"), ',')) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      return invalid_error(
          fmt::format("--faults: no fault '{}' (weir sim --list-faults names them){}", name,
                      did_you_mean(name, known)));
    out.faults.emplace_back(name);
  }
  return {};
}

Result<lab::ExamOptions> gather_exam(const Args& args) {
  lab::ExamOptions out;
  WEIR_TRY_STATUS(take_seeds(args.value(args.has("replay") ? "replay" : "seeds"), out));
  WEIR_TRY_STATUS(take_faults(args, out));
  out.compares_load = args.has("expectation");
  out.jobs = available_cores();
  if (args.has("jobs")) {
    const auto jobs = parse_u64(args.value("jobs"));
    if (!jobs || *jobs < 1 || *jobs > 1024)
      return invalid_error(
          fmt::format("--jobs: expected a number from 1 to 1024, found '{}'", args.value("jobs")));
    out.jobs = static_cast<unsigned>(*jobs);
  }
  return out;
}

// ---- the report ----

std::string share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "-"
                    : fmt::format("{:.1f} %",
                                  100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string exam_verdict(const ExamReport& report) {
  const ExamView view = lab::kExamViews.front();
  const ViewScore& score = score_of(report, view);
  return fmt::format(
      "The diagnosis names the cause first in {} of {} broken fabrics ({}) and finds no fault in "
      "{} of {} healthy ones.",
      share(score.faulty.cause, score.faulty.runs), score.faulty.runs, lab::to_title(view),
      score.healthy.cause, score.healthy.runs);
}

std::string views_text(const ExamReport& report) {
  TextTable table({"view", "cause", "place", "confident and wrong", "inconclusive",
                   "called healthy", "healthy right"},
                  {Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight});
  for (const ExamView view : lab::kExamViews) {
    const ViewScore& score = score_of(report, view);
    const Tally& faulty = score.faulty;
    const std::uint64_t all = faulty.runs + score.healthy.runs;
    table.add_row({std::string(lab::to_title(view)), share(faulty.cause, faulty.runs),
                   share(faulty.place, faulty.runs),
                   share(faulty.confident_wrong + score.healthy.confident_wrong, all),
                   share(faulty.inconclusive, faulty.runs),
                   share(faulty.called_healthy, faulty.runs),
                   share(score.healthy.cause, score.healthy.runs)});
  }
  return table.to_text(2);
}

std::string faults_text(const ExamReport& report) {
  std::vector<std::string> header = {"fault", "runs"};
  std::vector<Align> align = {Align::kLeft, Align::kRight};
  for (const ExamView view : lab::kExamViews) {
    header.push_back(fmt::format("{}: cause", lab::to_text(view)));
    header.emplace_back("place");
    align.insert(align.end(), {Align::kRight, Align::kRight});
  }
  TextTable table(header, align);
  for (const auto& [name, first] : score_of(report, lab::kExamViews.front()).by_fault) {
    std::vector<std::string> row = {name, std::to_string(first.runs)};
    for (const ExamView view : lab::kExamViews) {
      const Tally& tally = score_of(report, view).by_fault.at(name);
      row.push_back(share(tally.cause, tally.runs));
      row.push_back(share(tally.place, tally.runs));
    }
    table.add_row(std::move(row));
  }
  return table.to_text(2);
}

std::string confusion_text(const ViewScore& score) {
  TextTable table({"fault", "answer", "times"}, {Align::kLeft, Align::kLeft, Align::kRight});
  for (const auto& [pair, times] : score.wrong)
    table.add_row({pair.first, pair.second, std::to_string(times)});
  return table.to_text(2);
}

/// Runs with values outside the range that their load leads one to expect.
std::string outside_text(const ExamReport& report) {
  std::string out = "Runs with a value outside the expected range of their load:\n";
  TextTable table({"view", "broken", "healthy"}, {Align::kLeft, Align::kRight, Align::kRight});
  for (const ExamView view : lab::kExamViews) {
    const ViewScore& score = score_of(report, view);
    table.add_row({std::string(lab::to_title(view)),
                   share(score.faulty.outside, score.faulty.compared),
                   share(score.healthy.outside, score.healthy.compared)});
  }
  return out + table.to_text(2);
}

void print_exam(const ExamReport& report, const lab::ExamOptions& options, Context& context) {
  context.out << paint(context, Tone::kStrong, exam_verdict(report)) << '\n';
  if (context.quiet) return;
  context.out << fmt::format(
      "Simulated. Seeds {}-{}: {} counted, {} without a fault that had an effect; {} questions "
      "drawn again.\n\n",
      report.first_seed, report.last_seed, report.counted, report.uncounted, report.redraws);
  context.out << views_text(report) << '\n' << faults_text(report);
  for (const ExamView view : lab::kExamViews) {
    if (score_of(report, view).wrong.empty()) continue;
    context.out << fmt::format("\nWrong answers, {}:\n", lab::to_title(view))
                << confusion_text(score_of(report, view));
  }
  if (options.compares_load) context.out << '\n' << outside_text(report);
  if (report.misses.empty()) return;
  context.out << "\nMisses:\n";
  TextTable table({"seed", "view", "fault", "answer", "replay"},
                  {Align::kRight, Align::kLeft, Align::kLeft, Align::kLeft, Align::kLeft});
  for (const lab::Miss& miss : report.misses)
    table.add_row({std::to_string(miss.seed), std::string(lab::to_text(miss.view)), miss.fault,
                   miss.said, miss.replay});
  context.out << table.to_text(2);
}

// ---- one seed in detail ----

void print_replay(const lab::ExamRun& run, Context& context) {
  const lab::Question& question = run.question;
  context.out << paint(context, Tone::kStrong,
                       fmt::format("Seed {}: {}.", question.seed, lab::name_of(question)))
              << fmt::format(" Simulated; {} questions drawn again.\n\n", run.redraws);
  if (!run.is_counted) context.out << "Not counted: " << run.trouble << ".\n\n";
  context.out << question.text << "\nweir sim DESIGN";
  for (const std::string& load : question.workloads)
    context.out << fmt::format(" \\\n  --workload '{}'", load);
  for (const std::string& fault : question.faults)
    context.out << fmt::format(" \\\n  --fault '{}'", fault);
  context.out << fmt::format(" \\\n  --seed {} --duration 10ms\n", lab::simulation_seed(question));
  for (std::size_t i = 0; i < lab::kExamViews.size() && run.is_counted; ++i) {
    const ExamView view = lab::kExamViews.at(i);
    context.out << fmt::format(
        "\n{}{}: {} ({})\n", lab::to_title(view),
        view == ExamView::kOneHost ? " (" + run.witness + ")" : std::string(),
        mark_text(run.marks.at(i)), run.marks.at(i).said);
    for (const finding::Finding& item : run.judgements.at(i).findings) {
      context.out << fmt::format("  {} {} ({}) {}\n", finding::to_text(item.severity), item.id,
                                 finding::to_text(item.confidence), item.verdict);
      for (const finding::EvidenceLine& line : item.evidence)
        context.out << fmt::format("      {}: {}\n", line.source, line.line);
    }
    for (const finding::Unknown& item : run.judgements.at(i).unknown)
      context.out << fmt::format("  unknown {}: {}\n", item.check, item.reason);
    if (const auto& expected = run.expectations.at(i)) context.out << expectation_text(*expected);
  }
}

ExitCode run_exam(const Args& args, Context& context) {
  auto options = gather_exam(args);
  if (!options) return usage_error(context, args.command(), options.error().what);
  if (args.has("replay")) {
    const lab::ExamRun run =
        lab::sit_exam(options->first_seed, {options->faults, options->compares_load, context.json});
    if (context.json) {
      print_replay_json(context, args.command(), run);
    } else {
      print_replay(run, context);
    }
    return ExitCode::kOk;
  }
  Progress bar(context.err, context.stderr_is_terminal, "examining");
  const std::uint64_t seeds = options->last_seed - options->first_seed + 1;
  options->progress = [&](std::uint64_t done) {
    bar.update(static_cast<double>(done) / static_cast<double>(seeds),
               fmt::format("{} of {}", done, seeds));
  };
  const ExamReport report = lab::run_exam(*options);
  bar.clear();
  if (context.json) {
    print_exam_json(context, args.command(), report, exam_verdict(report));
  } else {
    print_exam(report, *options, context);
  }
  return ExitCode::kOk;
}

}  // namespace

Command exam_command() {
  return {
      .name = "exam",
      .group = Group::kDevelopers,
      .summary = "how often the diagnosis names the cause, on random faults",
      .description =
          "Every seed draws a fabric, a load and a fault (or none, or two), simulates them, and "
          "asks "
          "the diagnosis for the cause. A fault counts only if the same run without it differs. "
          "Three views are scored separately: all evidence, counters only, one host only.",
      .options =
          {{.name = "seeds", .metavar = "A-B", .help = "range of seeds", .default_value = "1-100"},
           {.name = "faults", .metavar = "F,F", .help = "only these faults (healthy: no fault)"},
           {.name = "expectation", .help = "also compare with simulated loads (slower)"},
           {.name = "jobs", .metavar = "N", .help = "threads (default: one per core)"},
           {.name = "replay",
            .metavar = "SEED",
            .help = "show the question and answers of a seed"}},
      .examples = {{"weir exam --seeds 1-400", "the score and all misses"},
                   {"weir exam --seeds 1-50 --faults np-off,rp-off", "two kinds of fault"},
                   {"weir exam --replay 17", "one question in detail"}},
      .exit_codes = {ExitCode::kOk},
      .run = run_exam,
  };
}

}  // namespace weir::cli
