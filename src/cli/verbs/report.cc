// weir report: what was found, on a page or two, for people who were not there.
#include "ops/report/report.h"

#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "base/untrusted/printable.h"
#include "cli/fleet/fleet_input.h"
#include "cli/frame/commands.h"
#include "cli/frame/help.h"
#include "cli/frame/host_input.h"
#include "cli/frame/threshold_option.h"
#include "cli/json/report_json.h"
#include "ops/report/tuning_report.h"

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

std::string output_file(const Args& args) {
  return args.has("output") ? args.value("output") : std::string(kDefaultFile);
}

/// As asked, else by the file's ending, else HTML; nullopt for an ending that no format has.
std::optional<Format> format_of(const Args& args) {
  const std::string asked = args.has("format") ? args.value("format") : "";
  const std::string ending = std::filesystem::path(output_file(args)).extension().string();
  for (const Ending& entry : kEndings)
    if (asked.empty() ? entry.ending == ending : entry.format == asked) return entry.is;
  return ending.empty() ? std::optional(Format::kHtml) : std::nullopt;
}

ops::Result<ops::ReportRequest> report_request(const Args& args, const Context& context) {
  ops::ReportRequest request;
  request.files = args.all("FILE");
  WEIR_TRY(source, source_of(args, context));
  if (args.has("lab") || args.has("root") || names_fleet(args)) request.source = std::move(source);
  request.design = args.get("design").value_or("");
  request.baseline = args.get("baseline").value_or("");
  request.baselines = args.value("baselines");
  request.title = args.get("title").value_or("");
  WEIR_TRY(thresholds, ops::or_bad_request(thresholds_of(args)));
  request.thresholds = thresholds;
  request.tool = version_line();
  return request;
}

std::string text_of(const Args& args, const render::Report& report, Format format) {
  switch (format) {
    case Format::kHtml: return render::report_html(report);
    case Format::kMarkdown: return render::report_markdown(report);
    case Format::kJson: break;
  }
  return report_document(args.command(), report);
}

ExitCode write(const Args& args, Context& context, const render::Report& report, Format format) {
  const std::string file = output_file(args);
  if (context.json) {
    print_report_json(context, args.command(), report);
    if (!args.has("output")) return ExitCode::kOk;
  }
  const std::string text = printable(text_of(args, report, format));
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

/// Of a tuning: its own page, and its own inputs.
ExitCode report_tuning(const Args& args, Context& context) {
  for (const std::string_view other : {"FILE", "lab", "root", "design"})
    if (args.has(other))
      return usage_error(context, args.command(), "--tune reports a tuning alone: no other input");
  const auto format = format_of(args);
  if (context.json || !format || *format != Format::kHtml)
    return usage_error(context, args.command(),
                       "the report of a tuning is HTML; its numbers are in tune.json beside it");
  const auto page = ops::tuning_report({.result = args.value("tune"),
                                        .title = args.get("title").value_or(""),
                                        .tool = version_line()});
  if (!page) return fail(context, args.command(), page.error());
  const std::string text = printable(render::tuning_html(*page));
  const std::string file = output_file(args);
  if (file == "-") {
    context.out << text;
    return ExitCode::kOk;
  }
  if (const Status written = write_file_atomic(file, text); !written)
    return fail(context, ExitCode::kBadInput, written.error().what);
  if (!context.quiet)
    context.out << fmt::format("{} (simulated).\nwrote {}\n", page->verdict, file);
  return ExitCode::kOk;
}

ExitCode run_report(const Args& args, Context& context) {
  if (args.has("tune")) return report_tuning(args, context);
  if (!args.has("FILE") && !args.has("lab") && !args.has("root"))
    return usage_error(context, args.command(),
                       "nothing to report from: name a folder of weir sim --out, JSON files, "
                       "--lab DIR, --root BUNDLE or --tune DIR");
  const auto format = format_of(args);
  if (!format)
    return usage_error(context, args.command(),
                       fmt::format("{}: a report is .html, .md or .json; for another ending say "
                                   "which with --format",
                                   output_file(args)));
  const auto request = report_request(args, context);
  if (!request) return fail(context, args.command(), request.error());
  const auto reported = ops::report(*request);
  if (!reported) return fail(context, args.command(), reported.error());
  return write(args, context, reported->report, *format);
}

std::vector<Option> report_options() {
  return with_host_options(
      {{.name = "design",
        .letter = 'd',
        .metavar = "FILE",
        .help = "the design, for the map and the fixes",
        .completes = Completes::kFiles},
       {.name = "format",
        .metavar = "F",
        .help = "format of the file (default: by its ending, else html)",
        .choices = {"html", "md", "json"}},
       {.name = "output",
        .letter = 'o',
        .metavar = "FILE",
        .help = "file to write; - is standard output (default: report.html)",
        .completes = Completes::kFiles,
        .writes = Writes::kFileAlways},
       {.name = "tune",
        .metavar = "DIR",
        .help = "the report of a tuning instead: what weir tune --out wrote",
        .completes = Completes::kFiles},
       {.name = "baseline",
        .metavar = "NAME",
        .help = "put a baseline of weir baseline and its trend first"},
       {.name = "baselines",
        .metavar = "DIR",
        .help = "where that baseline is",
        .default_value = "baselines",
        .completes = Completes::kFiles},
       {.name = "title", .metavar = "T", .help = "title (default: the name of the design)"},
       threshold_option()});
}

}  // namespace

Command report_command() {
  return {
      .name = "report",
      .group = Group::kOperators,
      .summary = "one page to hand on: verdict, causes, fixes, curves, map",
      .description =
          "Writes one self-contained HTML file of a page or two: the verdict, what was measured, "
          "what "
          "is wrong and why, what to type in which order and how to test it again, then queues, "
          "pauses and rates over time, the map of the fabric and every rail. Reads a lab, "
          "evidence, "
          "findings of other verbs, and results of weir sim. Needs no network and prints well. "
          "Exit "
          "status 0 means that the report was written, whatever it says.",
      .arguments = {{.name = "FILE",
                     .help = "a folder of weir sim --out, or JSON: snapshots, findings, weir sim",
                     .repeated = true,
                     .completes = Completes::kFiles}},
      .options = report_options(),
      .examples = {{"weir report --lab lab", "the last load of a lab"},
                   {"weir report results/ -o report.html", "what weir sim --out results wrote"},
                   {"weir report results/ --format md -o -", "for a ticket"},
                   {"weir report --tune tuned", "what weir tune --out tuned found"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kCouldNotLook},
      .looks = Looks::kAtFilesIfNamed,
      .takes_fleet = true,
      .run = run_report,
  };
}

}  // namespace weir::cli
