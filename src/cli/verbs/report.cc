// weir report: what was found, on one sheet or two, for people who were not there.
#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/help.h"
#include "cli/frame/threshold_option.h"
#include "cli/frame/transition.h"
#include "cli/json/object.h"
#include "cli/verbs/last_load.h"
#include "cli/verbs/report_input.h"
#include "diagnose/core/diagnose.h"
#include "diagnose/core/interpret.h"
#include "diagnose/core/join.h"
#include "diagnose/validate/validate.h"
#include "render/report/report_facts.h"
#include "units/format.h"

namespace weir::cli {
namespace {

constexpr std::string_view kDefaultFile = "report.html";

enum class Format { kHtml, kMarkdown, kJson };

struct Ending {
  std::string_view format;  // of --format
  std::string_view ending;
  Format is;
};
constexpr Ending kEndings[] = {{"html", ".html", Format::kHtml},
                               {"md", ".md", Format::kMarkdown},
                               {"json", ".json", Format::kJson}};

std::string file_of(const Args& args) {
  return args.has("output") ? args.value("output") : std::string(kDefaultFile);
}

/// As asked, else by the file's ending, else HTML; nullopt for an ending that no format has.
std::optional<Format> format_of(const Args& args) {
  const std::string asked = args.has("format") ? args.value("format") : "";
  const std::string ending = std::filesystem::path(file_of(args)).extension().string();
  for (const Ending& one : kEndings)
    if (asked.empty() ? one.ending == ending : one.format == asked) return one.is;
  return ending.empty() ? std::optional(Format::kHtml) : std::nullopt;
}

// ---- what there is ----

struct Sources {
  ReportInput input;
  std::optional<DesignInput> design;
  std::optional<lab::RunRecord> run;  // a lab's last load
  std::vector<std::string> faults;    // that are in the lab now
  std::string lab_flag;               // " --lab DIR"
};

bool add_lab(const Args& args, Context& context, Sources& sources, ExitCode& code) {
  const auto hosts = open_hosts(args, context, code);
  if (!hosts) return false;
  auto seen = observe_last_load(*hosts, args.has("FILE"), context);
  if (!seen) {
    code = fail(context, ExitCode::kCouldNotLook, seen.error().what);
    return false;
  }
  std::move(seen->begin(), seen->end(), std::back_inserter(sources.input.evidence));
  sources.lab_flag = source_words(args);
  sources.run = hosts->lab->last_run();
  for (const lab::ActiveFault& fault : hosts->lab->faults())
    sources.faults.push_back(fault.text);
  sources.design = DesignInput{hosts->lab->design(), hosts->lab->intent()};
  return true;
}

/// --design, else the lab's, else the one that a simulation names, where it is still there. None:
/// no map.
bool add_design(const Args& args, Context& context, Sources& sources, ExitCode& code) {
  const auto& named = sources.input.design_file;
  const bool is_asked = args.has("design");
  if (!is_asked && (sources.design || !named || !file_exists(*named))) return true;
  sources.design = load_design_file(is_asked ? args.value("design") : *named, context, code);
  return sources.design.has_value();
}

std::optional<Sources> gather_report(const Args& args, Context& context, ExitCode& code) {
  Sources sources;
  for (const std::string& file : args.all("FILE")) {
    if (const Status added = add_report_file(file, sources.input); !added) {
      code = fail(context, ExitCode::kBadInput, added.error().what);
      return std::nullopt;
    }
  }
  if (args.has("lab") && !add_lab(args, context, sources, code)) return std::nullopt;
  if (!add_design(args, context, sources, code)) return std::nullopt;
  sources.input.evidence = diagnose::join_windows(std::move(sources.input.evidence));
  return sources;
}

// ---- filling in ----

Status add_curves(const ReportInput& input, const design::Intent* intent, render::Report& report) {
  if (!input.curves_folder) return {};
  std::string ports;
  std::string rates;
  for (auto [text, name] : {std::pair(&ports, "ports.csv"), {&rates, "rates.csv"}}) {
    const std::string path = fmt::format("{}/{}", *input.curves_folder, name);
    if (!file_exists(path)) continue;
    WEIR_TRY(content, read_file(path));
    *text = std::move(content);
  }
  WEIR_TRY(timeline, timeline_from_csv(ports, rates, intent));
  report.timeline = std::move(timeline);
  return {};
}

/// What other verbs found, what the settings say, what the counters say.
finding::Judgement judge(const ReportInput& input, const diagnose::View& view) {
  finding::Judgement all;
  bool is_settled = true;
  const auto add = [&](const finding::Judgement& one) {
    for (const finding::Finding& found : one.findings)
      if (std::find(all.findings.begin(), all.findings.end(), found) == all.findings.end())
        all.findings.push_back(found);
    all.unknown.insert(all.unknown.end(), one.unknown.begin(), one.unknown.end());
    all.next.insert(all.next.end(), one.next.begin(), one.next.end());
    is_settled = is_settled && one.conclusion != finding::Conclusion::kInconclusive;
  };
  for (const finding::Judgement& one : input.judgements)
    add(one);
  if (!input.evidence.empty()) add(diagnose::diagnose(view));
  if (!input.evidence.empty() && view.intent() != nullptr) add(diagnose::validate(view));
  finding::settle(all);
  if (all.conclusion == finding::Conclusion::kHealthy && !is_settled)
    all.conclusion = finding::Conclusion::kInconclusive;
  return all;
}

void add_questions(const diagnose::View& view, render::Report& report) {
  if (view.evidence().empty()) return;
  for (const diagnose::Question& one : diagnose::five_questions(view)) {
    const render::Answer answer = one.answer == diagnose::Answer::kYes  ? render::Answer::kYes
                                  : one.answer == diagnose::Answer::kNo ? render::Answer::kNo
                                                                        : render::Answer::kUnknown;
    report.questions.push_back({one.question, answer, one.is_good, one.sentence});
  }
}

/// The sum over the NICs of what each counted; nullopt where none did.
template <class T>
std::optional<T> over_nics(const std::vector<render::RailRow>& rows,
                           std::optional<T> render::RailRow::*member) {
  std::optional<T> sum;
  for (const render::RailRow& row : rows)
    if (row.*member) sum = sum.value_or(T{}) + *(row.*member);
  return sum;
}

/// Over all NICs, where no simulation has told more.
void add_numbers(render::Report& report) {
  using render::RailRow;
  if (!report.numbers.empty() || report.rails.empty()) return;
  const auto count = [](std::optional<std::uint64_t> n) {
    return n ? count_text(*n) : std::string("?");
  };
  const auto discards = over_nics(report.rails, &RailRow::discards);
  report.numbers.push_back({"Discards at NICs", count(discards),
                            !discards        ? "no counter of them"
                            : *discards == 0 ? "as it must be"
                                             : "must be 0"});
  const auto received = over_nics(report.rails, &RailRow::received_gbps);
  const auto nics = static_cast<double>(report.rails.size());
  report.numbers.push_back({"Received a NIC",
                            received ? fmt::format("{:.1f} Gb/s", *received / nics) : "?",
                            "mean of the window"});
  const RailRow* worst = nullptr;
  const auto pause = [](const RailRow& row) {
    return std::max(row.paused_share.value_or(-1), row.pausing_share.value_or(-1));
  };
  for (const RailRow& row : report.rails)
    if (worst == nullptr || pause(row) > pause(*worst)) worst = &row;
  const bool is_known = pause(*worst) >= 0;
  const bool is_paused = pause(*worst) > 0;
  report.numbers.push_back({"Longest paused",
                            is_known ? fmt::format("{:.1f} %", pause(*worst) * 100) : "?",
                            is_paused ? worst->host + " " + worst->device : "of the window"});
  report.numbers.push_back({"CNPs sent", count(over_nics(report.rails, &RailRow::cnps_sent)),
                            count(over_nics(report.rails, &RailRow::cnps_handled)) + " handled"});
}

void add_run(const Sources& sources, render::Report& report) {
  if (!sources.run) return;
  const lab::RunRecord& run = *sources.run;
  report.source = fmt::format("lab, load {}, seed {}", run.load, run.seed);
  report.measured.push_back({.what = fmt::format("load {}", run.load),
                             .command = run.command,
                             .result = fmt::format("{} in {} of simulated time:",
                                                   run.is_finished ? "finished" : "NOT finished",
                                                   approximate(run.elapsed))});
  if (!sources.faults.empty())
    report.measured.push_back({.what = "broken on purpose",
                               .command = join(sources.faults, "; "),
                               .result = "the lab has faults now:"});
  for (const std::string& note : run.notes)
    report.notes.push_back("Not simulated: " + note);
  report.timeline = timeline_of(run, sources.design->intent);
}

void add_provenance(const ReportInput& input, render::Report& report) {
  std::vector<std::string> details;
  for (const evidence::Evidence& one : input.evidence) {
    report.is_simulated = report.is_simulated || one.provenance.simulated;
    if (!one.provenance.detail.empty() &&
        std::find(details.begin(), details.end(), one.provenance.detail) == details.end())
      details.push_back(one.provenance.detail);
    // A simulation has no date; its own time begins in 1970.
    if (!one.provenance.simulated) report.time = std::max(report.time, one.provenance.time);
  }
  if (report.source.empty()) report.source = join(details, ", ");
  report.tool = version_line();
}

std::vector<render::Retest> retests_of(const Args& args, const Sources& sources) {
  const ReportInput& input = sources.input;
  const std::string design = args.has("design")  ? args.value("design")
                             : input.design_file ? *input.design_file
                                                 : std::string("DESIGN");
  const std::string& lab = sources.lab_flag;
  std::vector<render::Retest> retests = {{"lint", "weir lint " + design},
                                         {"validate", "weir validate" + lab}};
  if (sources.run)
    retests.push_back({"", fmt::format("weir verify{} -- {}", lab, sources.run->command)});
  else if (!input.workloads.empty())
    retests.push_back({"", fmt::format("weir sim {} -w {} -o DIR && weir report DIR", design,
                                       input.workloads.front())});
  return retests;
}

std::size_t count_hosts(const std::vector<evidence::Evidence>& evidence) {
  return static_cast<std::size_t>(
      std::count_if(evidence.begin(), evidence.end(),
                    [](const evidence::Evidence& one) { return !one.nics.empty(); }));
}

std::size_t count_switches(const ReportInput& input) {
  std::size_t count = 0;
  for (const evidence::Evidence& one : input.evidence)
    count += one.switches.size();
  return count;
}

Status fill(const Args& args, const finding::Thresholds& thresholds, Sources& sources) {
  ReportInput& input = sources.input;
  render::Report& report = input.report;
  const design::Intent* intent = sources.design ? &sources.design->intent : nullptr;
  WEIR_TRY_STATUS(add_curves(input, intent, report));
  add_run(sources, report);
  const diagnose::View view(
      {.evidence = input.evidence, .intent = intent, .thresholds = thresholds});
  report.judgement = judge(input, view);
  report.thresholds = thresholds;
  add_questions(view, report);
  if (!report.judgement.findings.empty())
    report.summary = report.judgement.findings.front().verdict;
  else if (!input.evidence.empty())
    report.summary =
        diagnose::headline(report.judgement, count_hosts(input.evidence), count_switches(input));
  report.rails = render::rails_of(input.evidence);
  add_numbers(report);
  if (intent != nullptr) {
    report.intent = intent;
    report.loads = render::loads_of(*intent, input.evidence);
    report.platforms = render::platforms_of(*intent);
    report.subject = size_of(*intent);
  }
  report.title = sources.design ? sources.design->design.name.value_or("RoCEv2 fabric")
                                : std::string("RoCEv2 fabric");
  if (args.has("title")) report.title = args.value("title");
  report.retests = retests_of(args, sources);
  add_provenance(input, report);
  return {};
}

// ---- writing ----

std::string text_of(const Args& args, const render::Report& report, Format format) {
  switch (format) {
    case Format::kHtml: return render::report_html(report);
    case Format::kMarkdown: return render::report_markdown(report);
    case Format::kJson: break;
  }
  Json object = json_object(args.command());
  render::add_report_json(object, report);
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

ExitCode write(const Args& args, Context& context, const render::Report& report, Format format) {
  const std::string file = file_of(args);
  if (context.json) {
    Json object = json_object(args.command());
    render::add_report_json(object, report);
    print_json(context, object);
    if (!args.has("output")) return ExitCode::kOk;
  }
  const std::string text = text_of(args, report, format);
  if (file == "-") {
    if (!context.json) context.out << text;
    return ExitCode::kOk;
  }
  if (const Status written = write_file_atomic(file, text); !written)
    return fail(context, ExitCode::kBadInput, written.error().what);
  if (!context.json && !context.quiet)
    context.out << fmt::format("{}{}\nwrote {}\n", render::verdict_of(report.judgement),
                               report.is_simulated ? " (simulated)." : ".", file);
  return ExitCode::kOk;
}

ExitCode run_report(const Args& args, Context& context) {
  if (!args.has("FILE") && !args.has("lab"))
    return usage_error(context, args.command(),
                       "nothing to report from: name a folder of weir sim --out, JSON files, or "
                       "--lab DIR");
  const auto format = format_of(args);
  if (!format)
    return usage_error(context, args.command(),
                       fmt::format("{}: a report is .html, .md or .json; for another ending say "
                                   "which with --format",
                                   file_of(args)));
  const auto thresholds = thresholds_of(args);
  if (!thresholds) return usage_error(context, args.command(), thresholds.error().what);
  ExitCode code = ExitCode::kOk;
  auto sources = gather_report(args, context, code);
  if (!sources) return code;
  if (const Status filled = fill(args, *thresholds, *sources); !filled)
    return fail(context, ExitCode::kBadInput, filled.error().what);
  return write(args, context, sources->input.report, *format);
}

std::vector<Option> report_options() {
  return with_host_options(
      {{.name = "design",
        .letter = 'd',
        .metavar = "FILE",
        .help = "the design: for the map and for fixes",
        .completes = Completes::kFiles},
       {.name = "format",
        .metavar = "F",
        .help = "of the file; else by its ending, else html",
        .choices = {"html", "md", "json"}},
       {.name = "output",
        .letter = 'o',
        .metavar = "FILE",
        .help = "where to write it (report.html); - is standard output",
        .completes = Completes::kFiles},
       {.name = "title", .metavar = "T", .help = "in the heading (the design's name)"},
       threshold_option()});
}

}  // namespace

Command report_command() {
  return {
      .name = "report",
      .group = Group::kOperators,
      .summary = "one sheet to hand on: verdict, causes, plan, curves, map",
      .description =
          "Writes one self-contained HTML file of a page or two: the verdict in words, what was "
          "measured, what deviates and why, what to type in which order and how to test it again, "
          "then queues, pauses and rates over time, the map of the fabric and every rail. Reads "
          "a lab, evidence, findings of other verbs, and results of weir sim. Needs no network, "
          "prints "
          "well, and says nothing by colour alone. Exit status 0 means written, whatever it says.",
      .arguments = {{.name = "FILE",
                     .help = "a folder of weir sim --out, or JSON: snapshots, findings, weir sim",
                     .repeated = true,
                     .completes = Completes::kFiles}},
      .options = report_options(),
      .examples = {{"weir report --lab lab", "the last load of a lab"},
                   {"weir report results/ -o report.html", "what weir sim --out results wrote"},
                   {"weir report results/ --format md -o -", "for a ticket"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kCouldNotLook},
      .rows = {"J5", "D8"},
      .run = run_report,
  };
}

}  // namespace weir::cli
