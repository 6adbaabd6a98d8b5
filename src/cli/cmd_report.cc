// weir report: what was found, on one sheet or two, for people who were not there.
#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/design_input.h"
#include "cli/help.h"
#include "cli/report_input.h"
#include "design/load.h"
#include "diagnose/diagnose.h"
#include "render/report_facts.h"

namespace weir::cli {
namespace {

constexpr std::string_view kDefaultFile = "report.html";

enum class Format { kHtml, kMarkdown, kJson };

Format format_of(const Args& args, const std::string& file) {
  const std::string asked = args.has("format") ? args.value("format") : "";
  if (asked == "md" || (asked.empty() && file.ends_with(".md"))) return Format::kMarkdown;
  if (asked == "json" || (asked.empty() && file.ends_with(".json"))) return Format::kJson;
  return Format::kHtml;
}

// ---- the design ----

Result<DesignInput> read_design(const std::string& file) {
  WEIR_TRY(loaded, design::load_file(file));
  if (!loaded.is_good())
    return invalid_error(fmt::format("{} cannot be used: {}; weir lint {} lists every error", file,
                                     loaded.errors.front().message, file));
  design::Derived derived = design::derive(loaded.design);
  if (!derived.errors.empty())
    return invalid_error(
        fmt::format("{} cannot be used: {}", file, derived.errors.front().message));
  return DesignInput{std::move(loaded.design), std::move(derived.intent)};
}

/// --design, else the one that a simulation names, where it is still there. None: no map.
Result<std::optional<DesignInput>> find_design(const Args& args, const ReportInput& input) {
  const bool is_named = args.has("design");
  if (!is_named && (!input.design_file || !file_exists(*input.design_file)))
    return std::optional<DesignInput>();
  WEIR_TRY(found, read_design(is_named ? args.value("design") : *input.design_file));
  return std::optional(std::move(found));
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

/// What other verbs found comes first: they saw more than the counters.
finding::Judgement judge(const ReportInput& input, const design::Intent* intent) {
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
  if (!input.evidence.empty())
    add(diagnose::diagnose({.evidence = input.evidence, .intent = intent}));
  finding::settle(all);
  if (all.conclusion == finding::Conclusion::kHealthy && !is_settled)
    all.conclusion = finding::Conclusion::kInconclusive;
  return all;
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

std::vector<render::Retest> retests_of(const Args& args, const ReportInput& input) {
  const std::string design = args.has("design")  ? args.value("design")
                             : input.design_file ? *input.design_file
                                                 : std::string("DESIGN");
  std::vector<render::Retest> retests = {{"lint", "weir lint " + design}};
  if (!input.workloads.empty())
    retests.push_back({"", fmt::format("weir sim {} -w {} -o DIR && weir report DIR", design,
                                       input.workloads.front())});
  return retests;
}

std::size_t count_hosts(const std::vector<evidence::Evidence>& evidence) {
  return static_cast<std::size_t>(
      std::count_if(evidence.begin(), evidence.end(),
                    [](const evidence::Evidence& one) { return !one.nics.empty(); }));
}

Status fill(const Args& args, ReportInput& input, const std::optional<DesignInput>& design) {
  render::Report& report = input.report;
  const design::Intent* intent = design ? &design->intent : nullptr;
  WEIR_TRY_STATUS(add_curves(input, intent, report));
  report.judgement = judge(input, intent);
  const std::size_t hosts = count_hosts(input.evidence);
  if (!report.judgement.findings.empty())
    report.summary = report.judgement.findings.front().verdict;
  else if (!input.evidence.empty())
    report.summary = diagnose::headline(report.judgement, hosts, 0);
  report.rails = render::rails_of(input.evidence);
  if (design) {
    report.intent = intent;
    report.loads = render::loads_of(*intent, input.evidence);
    report.platforms = render::platforms_of(*intent);
    report.subject = size_of(*intent);
  }
  report.title = args.has("title")                        ? args.value("title")
                 : design && design->design.name.is_set() ? *design->design.name
                                                          : std::string("RoCEv2 fabric");
  report.retests = retests_of(args, input);
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

ExitCode write(const Args& args, Context& context, const render::Report& report) {
  const std::string file = args.has("output") ? args.value("output") : std::string(kDefaultFile);
  if (context.json) {
    Json object = json_object(args.command());
    render::add_report_json(object, report);
    print_json(context, object);
    if (!args.has("output")) return ExitCode::kOk;
  }
  const std::string text = text_of(args, report, format_of(args, file));
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
  if (!args.has("FILE"))
    return usage_error(context, args.command(),
                       "nothing to report from: name a folder of weir sim --out, or JSON files");
  ReportInput input;
  for (const std::string& file : args.all("FILE"))
    if (const Status added = add_report_file(file, input); !added)
      return fail(context, ExitCode::kBadInput, added.error().what);
  const auto design = find_design(args, input);
  if (!design) return fail(context, ExitCode::kBadInput, design.error().what);
  if (const Status filled = fill(args, input, *design); !filled)
    return fail(context, ExitCode::kBadInput, filled.error().what);
  return write(args, context, input.report);
}

std::vector<Option> options() {
  return {{.name = "design",
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
          {.name = "title", .metavar = "T", .help = "in the heading (the design's name)"}};
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
          "evidence, findings of other verbs, and results of weir sim. Needs no network, prints "
          "well, and says nothing by colour alone. Exit status 0 means written, whatever it says.",
      .arguments = {{.name = "FILE",
                     .help = "a folder of weir sim --out, or JSON: evidence, findings, weir sim",
                     .repeated = true,
                     .completes = Completes::kFiles}},
      .options = options(),
      .examples = {{"weir report results/ -o report.html", "what weir sim --out results wrote"},
                   {"weir report results/ --format md -o -", "for a ticket"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput},
      .rows = {"J5", "D8"},
      .run = run_report,
  };
}

}  // namespace weir::cli
