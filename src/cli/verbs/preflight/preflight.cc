// weir preflight: go or no-go before training, in stages.
#include "ops/preflight/preflight.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"
#include "base/hosts/host_set.h"
#include "base/name_pattern.h"
#include "base/table.h"
#include "base/text.h"
#include "base/untrusted/quote.h"
#include "cli/fleet/fleet_input.h"
#include "cli/frame/change_input.h"
#include "cli/frame/commands.h"
#include "cli/frame/design_input.h"
#include "cli/frame/help.h"
#include "cli/frame/host_input.h"
#include "cli/frame/interruption.h"
#include "cli/frame/progress.h"
#include "cli/frame/switch_input.h"
#include "cli/frame/threshold_option.h"
#include "cli/json/preflight/preflight_json.h"
#include "render/text/findings_text.h"
#include "units/format.h"

namespace weir::cli {
namespace {

using preflight::Report;
using preflight::StageResult;
using preflight::State;
using preflight::Verdict;

constexpr std::size_t kPreflightWidth = 100;

std::string fabric_text(const Report& report) {
  return fmt::format("{}, {}{}", report.identity.design,
                     counted(static_cast<std::size_t>(report.identity.hosts), "host"),
                     simulated_word(report.identity.is_simulated));
}

std::string preflight_stage_text(const StageResult& stage) {
  return fmt::format("{} ({})", preflight::number_of(stage.id), preflight::row_of(stage.id).name);
}

std::string failing_text(const preflight::Failing& failing) {
  std::vector<std::string> parts;
  const auto add = [&](std::string_view what, const std::vector<std::string>& names) {
    if (!names.empty()) parts.push_back(fmt::format("{} {}", what, compact_names(names)));
  };
  add(failing.hosts.size() == 1 ? "host" : "hosts", failing.hosts);
  add(failing.rails.size() == 1 ? "rail" : "rails", failing.rails);
  add(failing.switches.size() == 1 ? "switch" : "switches", failing.switches);
  if (!failing.links.empty())
    parts.push_back(fmt::format("{} {}", failing.links.size() == 1 ? "link" : "links",
                                join(failing.links, ", ")));
  return join(parts, "; ");
}

/// "gpu[03-04] were lost in stage 4 (pairs)".
std::vector<std::string> lost_words(const Report& report) {
  std::vector<std::string> out;
  for (const StageResult& stage : report.stages) {
    std::vector<std::string> names;
    for (const preflight::LostHost& host : report.lost)
      if (host.stage == stage.id) names.push_back(host.name);
    if (names.empty()) continue;
    out.push_back(fmt::format("{} {} lost in stage {}", fold_hosts(names),
                              names.size() == 1 ? "was" : "were", preflight_stage_text(stage)));
  }
  return out;
}

std::string preflight_verdict(const Report& report) {
  const std::string head = fmt::format("{}: ", fabric_text(report));
  switch (report.verdict()) {
    case Verdict::kGo: {
      const auto passed =
          std::count_if(report.stages.begin(), report.stages.end(),
                        [](const StageResult& stage) { return stage.state == State::kPassed; });
      return fmt::format("Go. {}no red flag in {}.", head,
                         counted(static_cast<std::size_t>(passed), "stage"));
    }
    case Verdict::kNoGo: {
      const std::string places = failing_text(preflight::failing_of(report));
      return fmt::format(
          "No-go. {}red flag in stage {}{}.{}{}", head, preflight_stage_text(*report.failed()),
          places.empty() ? "" : ": " + places,
          report.unseen.empty()
              ? ""
              : fmt::format(" Not seen: {}.", fold_hosts(preflight::unseen_names(report))),
          report.lost.empty() ? "" : fmt::format(" Lost: {}.", join(lost_words(report), ", ")));
    }
    case Verdict::kCannotTell: break;
  }
  std::vector<std::string> lacking;
  if (!report.unseen.empty())
    lacking.push_back(fmt::format("{} {} not seen", fold_hosts(preflight::unseen_names(report)),
                                  report.unseen.size() == 1 ? "was" : "were"));
  for (const std::string& words : lost_words(report))
    lacking.push_back(words);
  std::vector<std::string> open;
  for (const StageResult& stage : report.stages)
    if (stage.state == State::kOpen ||
        (stage.state == State::kNotRun && stage.id != preflight::StageId::kSoak))
      open.push_back(preflight_stage_text(stage));
  if (!open.empty())
    lacking.push_back(fmt::format("{} without an answer of stage {}",
                                  lacking.empty() ? "but" : "and", join(open, ", ")));
  return fmt::format("Cannot tell. {}no red flag, {}{}.", head,
                     report.unseen.empty() && report.lost.empty() ? "" : "but ",
                     join(lacking, ", "));
}

void print_plan(const Report& report, Context& context) {
  context.out << fmt::format("Preflight of {}. Stages and their budgets:\n\n", fabric_text(report));
  for (const std::string& text : ops::fold_reasons(report.unseen))
    context.out << hang(fmt::format("not seen, and left out of every load: {}", text),
                        kPreflightWidth, 8)
                << '\n';
  if (!report.unseen.empty()) context.out << '\n';
  TextTable table({"", "stage", "what", "budget"});
  for (const StageResult& stage : report.stages) {
    const preflight::StageRow& row = preflight::row_of(stage.id);
    table.add_row({std::to_string(preflight::number_of(stage.id)), std::string(row.name),
                   std::string(row.what), stage.budget});
  }
  context.out << table.to_text(2, kPreflightWidth) << '\n' << std::flush;
}

Tone tone_of(State state) {
  switch (state) {
    case State::kPassed: return Tone::kGood;
    case State::kFailed: return Tone::kBad;
    case State::kOpen: return Tone::kWarning;
    case State::kNotRun:
    case State::kNotApplicable: break;
  }
  return Tone::kFaint;
}

std::string state_word(State state) {
  switch (state) {
    case State::kPassed: return "passed";
    case State::kFailed: return "FAILED";
    case State::kOpen: return "cannot tell";
    case State::kNotRun: return "not run";
    case State::kNotApplicable: return "does not apply";
  }
  return {};
}

void print_stage(const StageResult& stage, Context& context, std::string_view when = {}) {
  const std::string line = fmt::format(
      "stage {} {:<12} {}{}: {}", preflight::number_of(stage.id), preflight::row_of(stage.id).name,
      paint(context, tone_of(stage.state), state_word(stage.state)), when, stage.why);
  context.out << hang(line, kPreflightWidth, 8) << '\n';
  for (const std::string& note : stage.notes)
    if (!note.empty()) context.out << "        " << hang(note, kPreflightWidth - 8, 8) << '\n';
  context.out << std::flush;
}

/// Of a preflight that goes on: what is not run again.
void print_earlier(const Report& report, Context& context) {
  for (const StageResult& stage : report.stages)
    if (stage.state == State::kPassed) print_stage(stage, context, " before");
}

void print_measures(const Report& report, Context& context) {
  using enum Align;
  TextTable table({"stage", "measure", "n", "least", "p50", "p99", "p999", "most", "floor"},
                  {kLeft, kLeft, kRight, kRight, kRight, kRight, kRight, kRight, kRight});
  bool has_rows = false;
  for (const StageResult& stage : report.stages)
    for (const preflight::Measure& measure : stage.measures) {
      const auto text = [&](double value) { return preflight::value_text(measure, value); };
      const preflight::Distribution& values = measure.values;
      if (values.count == 0 || !measure.subject.empty()) continue;  // single NICs: in the file
      has_rows = true;
      table.add_row({std::to_string(preflight::number_of(stage.id)), measure.metric,
                     std::to_string(values.count), text(values.least), text(values.p50),
                     text(values.p99), text(values.p999), text(values.most),
                     measure.floor ? text(*measure.floor) : ""});
    }
  if (has_rows)
    context.out << fmt::format("\nmeasured{}:\n", simulated_word(report.identity.is_simulated))
                << table.to_text(2);
}

/// The hosts of the request, less those that were not seen.
std::string source_text(const Args& args, const std::vector<std::string>& unseen) {
  std::string source = args.has("DESIGN") ? " " + shell_word(args.value("DESIGN")) : "";
  if (args.has("lab")) source += " --lab " + shell_word(args.value("lab"));
  return source + fleet_words_without(args, unseen);
}

/// The same preflight; `is_kept`: what passed is in the file of --out.
std::string same_preflight(const Args& args, bool is_kept, const std::vector<std::string>& unseen) {
  std::string again = fmt::format("weir preflight{}", source_text(args, unseen));
  for (const std::string_view option : {"quick", "despite-lint"})
    if (args.has(option)) again += fmt::format(" --{}", option);
  for (const std::string_view option :
       {"perftest", "soak", "collective", "collective-limit", "drain", "restore"})
    if (args.has(option)) again += fmt::format(" --{} {}", option, shell_word(args.value(option)));
  for (const std::string_view option : {"switch", "threshold"})
    for (const std::string& value : args.all(option))
      again += fmt::format(" --{} {}", option, shell_word(value));
  if (args.value("fail-on") != "error") again += " --fail-on " + args.value("fail-on");
  if (args.has("out")) again += " --out " + shell_word(args.value("out"));
  const std::string_view kept = is_kept && args.has("out") ? "out" : "resume";
  if (args.has(kept)) again += " --resume " + shell_word(args.value(kept));
  return again;
}

/// What to type now.
std::vector<std::string> next_of(const Report& report, const Args& args) {
  std::vector<std::string> unseen = preflight::unseen_names(report);
  const std::vector<std::string> lost = preflight::lost_names(report);
  // A preflight goes on with the hosts it began with, lost ones too.
  const std::string again = same_preflight(args, true, unseen);
  unseen.insert(unseen.end(), lost.begin(), lost.end());
  const std::string source = source_text(args, unseen);
  if (report.verdict() == Verdict::kGo) return {};
  if (const StageResult* const failed = report.failed()) {
    if (failed->id == preflight::StageId::kFacts)
      return {fmt::format("weir plan{}", source), fmt::format("weir apply{}", source), again};
    return {fmt::format("weir diagnose{}", source), again};
  }
  return {again};
}

/// An interruption, with what goes on from there.
ops::Failure with_way_on(ops::Failure failure, const Args& args, bool is_kept) {
  if (failure.kind != ops::FailureKind::kInterrupted) return failure;
  std::string again = same_preflight(args, is_kept, {});
  for (const std::string_view option : {"from-stage", "until"})
    if (args.has(option)) again += fmt::format(" --{} {}", option, args.value(option));
  const bool goes_on = args.has("resume") || (is_kept && args.has("out"));
  failure.what += fmt::format("; {}: {}", goes_on ? "to go on" : "to begin again", again);
  return failure;
}

void print_report(const Report& report, const std::vector<std::string>& next, Context& context) {
  if (!context.quiet) {
    for (const StageResult& stage : report.stages)
      if (stage.state == State::kNotRun || stage.state == State::kNotApplicable)
        print_stage(stage, context);
    print_measures(report, context);
    context.out << '\n';
  }
  const std::string headline = preflight_verdict(report);
  const bool is_good = report.verdict() == Verdict::kGo;
  context.out << wrap(paint(context, is_good ? Tone::kGood : Tone::kBad, headline), kPreflightWidth)
              << '\n';
  finding::Judgement judgement = preflight::whole_judgement(report);
  judgement.next = next;
  const std::string text =
      render::findings_text(judgement, "", {.colour = context.colour, .quiet = context.quiet});
  context.out << text.substr(text.find('\n') + 1);
}

ops::Result<std::optional<preflight::StageId>> stage_of(const Args& args, std::string_view name) {
  const auto text = args.get(name);
  if (!text) return std::optional<preflight::StageId>();
  WEIR_TRY(stage, ops::or_bad_request(preflight::parse_stage(*text)));
  return std::optional(stage);
}

/// "4h" and "30min" beside the units of a design; `option` is whose it is.
Result<Duration> long_time(const std::string& text, std::string_view option) {
  constexpr std::int64_t kSecondsPerMinute = 60;
  constexpr std::int64_t kMostMinutes = 60 * 24 * 7;
  const auto whole = [&](std::string_view unit) -> std::optional<std::uint64_t> {
    if (!text.ends_with(unit)) return std::nullopt;
    const auto number = parse_u64(text.substr(0, text.size() - unit.size()));
    return number ? std::optional(*number) : std::nullopt;
  };
  std::optional<std::uint64_t> minutes = whole("min");
  if (const auto hours = whole("h")) minutes = *hours * 60;
  if (!minutes) {
    const auto time = parse_duration(text);
    if (!time) return time.error().within(std::string(option));
    if (time->raw() <= 0)
      return invalid_error(fmt::format("{}: expected a time above zero", option));
    return *time;
  }
  if (*minutes == 0 || *minutes > kMostMinutes)
    return invalid_error(fmt::format("{}: expected at most a week", option));
  return 1_s * (static_cast<std::int64_t>(*minutes) * kSecondsPerMinute);
}

ops::Result<ops::PreflightRequest> preflight_request(const Args& args, const Context& context) {
  ops::PreflightRequest request;
  WEIR_TRY(source, with_fleet({.lab = args.get("lab").value_or("")}, args, context));
  request.source = std::move(source);
  WEIR_TRY(design, design_path_for_hosts(args, context));
  request.design = std::move(design);
  WEIR_TRY(files, switch_files(args.all("switch"), "--switch", SwitchNames::kOptional));
  request.switches = std::move(files);
  request.is_quick = args.has("quick");
  WEIR_TRY(from, stage_of(args, "from-stage"));
  request.from = from;
  WEIR_TRY(until, stage_of(args, "until"));
  request.until = until;
  if (const auto soak = args.get("soak")) {
    WEIR_TRY(time, ops::or_bad_request(long_time(*soak, "--soak")));
    request.soak = time;
  }
  if (const auto limit = args.get("collective-limit")) {
    WEIR_TRY(time, ops::or_bad_request(long_time(*limit, "--collective-limit")));
    request.collective_limit = time;
  }
  const std::string perftest = args.get("perftest").value_or("");
  for (const std::string_view word : split(perftest, ' '))
    if (!word.empty()) request.perftest.emplace_back(word);
  request.collective = args.get("collective").value_or("");
  request.drain = args.get("drain").value_or("");
  request.restore = args.get("restore").value_or("");
  if (request.drain.empty() != request.restore.empty())
    return ops::bad_request("--drain and --restore go together: what fails, and what ends it");
  request.despite_lint = args.has("despite-lint");
  request.resume = args.get("resume").value_or("");
  request.red_flag = finding::parse_severity(args.value("fail-on")).value();
  WEIR_TRY(thresholds, ops::or_bad_request(thresholds_of(args)));
  request.thresholds = thresholds;
  request.state = args.get("state").value_or("");
  request.tool = version_line();
  request.wait = wait_for_lock(context);
  return request;
}

ExitCode exit_of_preflight(const Report& report) {
  switch (report.verdict()) {
    case Verdict::kGo: return ExitCode::kOk;
    case Verdict::kNoGo: return ExitCode::kFindings;
    case Verdict::kCannotTell: break;
  }
  return ExitCode::kPartial;
}

ExitCode run_preflight_verb(const Args& args, Context& context) {
  auto request = preflight_request(args, context);
  if (!request) return fail(context, args.command(), request.error());
  const bool is_shown = !context.json && !context.quiet;
  Progress bar(context.err, context.stderr_is_terminal, "preflight");
  request->progress = bar.callback();
  const Interruption interruption;  // what was started is ended with us
  request->is_interrupted = Interruption::has_come;
  Status written;
  bool is_kept = false;  // a stage, in the file
  const auto write = [&](const Report& report) {
    if (!args.has("out")) return;
    written = write_file_atomic(
        args.value("out"), preflight_text_json(args.command(), report, preflight_verdict(report),
                                               next_of(report, args)));
    is_kept = written.has_value();
  };
  request->on_plan = [&](const Report& report) {
    if (!is_shown) return;
    print_plan(report, context);
    print_earlier(report, context);
  };
  request->on_stage = [&](const Report& report, preflight::StageId id) {
    bar.clear();
    write(report);
    if (is_shown) print_stage(report.stages.at(preflight::number_of(id)), context);
  };
  const auto report = ops::run_preflight(*request);
  bar.clear();
  if (!report) return fail(context, args.command(), with_way_on(report.error(), args, is_kept));
  write(*report);
  if (!written) return fail(context, ExitCode::kCouldNotLook, written.error().what);
  const std::vector<std::string> next = next_of(*report, args);
  if (context.json) {
    context.out << preflight_text_json(args.command(), *report, preflight_verdict(*report), next);
  } else {
    print_report(*report, next, context);
  }
  return exit_of_preflight(*report);
}

}  // namespace

Command preflight_command() {
  return {
      .name = "preflight",
      .group = Group::kOperators,
      .summary = "go or no-go before training, in stages; stops at a red flag",
      .description =
          "Says what each stage will do, then runs them: 0 facts, 1 idle counters, 2 paths, 3 "
          "loopback, 4 pairs of hosts, 5 overload, 6 collectives, 7 a failure, 8 a soak. "
          "Counters are judged beside each. A slow host is tried again before it is blamed. Exit "
          "status 0: go, 1: no-go, 5: cannot tell.",
      .arguments = {design_argument()},
      .options = {{.name = "lab",
                   .metavar = "DIR",
                   .help = "the hosts of a lab instead of this machine",
                   .completes = Completes::kFiles,
                   .writes = Writes::kDirectory},
                  switch_option(),
                  {.name = "quick", .help = "shorter stages, and a few rounds of pairs"},
                  {.name = "from-stage",
                   .metavar = "S",
                   .help = "begin with this stage, by number or name"},
                  {.name = "until", .metavar = "S", .help = "end with this stage"},
                  {.name = "soak",
                   .metavar = "TIME",
                   .help = "stage 8, so long: 4h; in a lab simulated: 20ms"},
                  {.name = "perftest",
                   .metavar = "WORDS",
                   .help = "on hosts: more options for every perftest: '-u 18'"},
                  {.name = "collective",
                   .metavar = "CMD",
                   .help = "stage 6 on hosts: nccl-tests, on the first one"},
                  {.name = "collective-limit",
                   .metavar = "TIME",
                   .help = "ends it when it takes longer (30min)"},
                  {.name = "drain",
                   .metavar = "CMD",
                   .help = "stage 7 on hosts: drains the last rail, run here"},
                  {.name = "restore", .metavar = "CMD", .help = "ends what --drain began"},
                  {.name = "out",
                   .letter = 'o',
                   .metavar = "FILE",
                   .help = "write the result there, after each stage",
                   .completes = Completes::kFiles,
                   .writes = Writes::kFile},
                  {.name = "resume",
                   .metavar = "FILE",
                   .help = "go on from a file of --out, where it stopped",
                   .completes = Completes::kFiles},
                  state_option(),
                  despite_lint_option(),
                  threshold_option()},
      .examples = {{"weir preflight --lab lab --quick", ""},
                   {"weir preflight fabric.yaml --hosts gpu[01-16] --quick", ""},
                   {"weir preflight --lab lab --resume preflight.json", ""}},
      .exit_codes = {ExitCode::kOk, ExitCode::kFindings, ExitCode::kBadInput,
                     ExitCode::kCouldNotLook, ExitCode::kPartial, ExitCode::kInterrupted},
      .judges = true,
      .takes_fleet = true,
      .run = run_preflight_verb,
  };
}

}  // namespace weir::cli
