// weir diagnose: from anything that was observed to the cause.
#include "ops/inspect/diagnose.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/fleet/fleet_input.h"
#include "cli/frame/commands.h"
#include "cli/frame/host_input.h"
#include "cli/frame/judging.h"
#include "cli/frame/known_load.h"
#include "cli/frame/progress.h"
#include "cli/frame/threshold_option.h"
#include "cli/json/diagnose_json.h"
#include "cli/text/diagnose_text.h"
#include "cli/text/questions_text.h"
#include "diagnose/core/diagnose.h"
#include "diagnose/paste/pasted.h"

namespace weir::cli {
namespace {

/// Every number that rules decide by.
ExitCode list_thresholds(const Args& args, Context& context, const finding::Thresholds& set) {
  if (context.json) {
    print_thresholds_json(context, args.command(), set);
    return ExitCode::kOk;
  }
  TextTable table({"threshold", "value", "unit", "source", "meaning"});
  for (const finding::ThresholdInfo& info : finding::threshold_table())
    table.add_row({std::string(info.name), finding::value_text(info, set), std::string(info.unit),
                   std::string(info.source), std::string(info.meaning)});
  context.out << table.to_text(2);
  return ExitCode::kOk;
}

/// "Nothing wrong in what was read (2 readings: mlnx_qos of gpu01 eth2, ibstat of gpu01)."
std::string nothing_wrong(const readers::Paste& paste) {
  constexpr std::size_t kMost = 6;
  std::vector<std::string> names;
  for (const readers::PastePart& part : paste.parts) {
    std::string name = readers::to_text(part);
    if (part.tool != "date" && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  const std::size_t count = names.size();
  std::string more;
  if (count > kMost) {
    more = fmt::format(" and {} more", count - kMost);
    names.resize(kMost);
  }
  return fmt::format("Nothing wrong in what was read ({} reading{}: {}{}); the rest is not judged.",
                     count, count == 1 ? "" : "s", join(names, ", "), more);
}

std::string diagnose_verdict(const ops::Diagnosed& found) {
  if (found.paste && diagnose::shows_nothing_wrong(*found.paste, found.judgement))
    return nothing_wrong(*found.paste);
  const bool is_open = found.judgement.conclusion == finding::Conclusion::kInconclusive;
  if (is_open && found.hosts + found.switches == 0)
    return "Inconclusive: no output, setting or error line in the text shows what is wrong.";
  std::string verdict = diagnose::headline(found.judgement, found.hosts, found.switches);
  verdict.insert(verdict.size() - 1, simulated_word(found.is_simulated));  // before the full stop
  return verdict;
}

ops::Result<ops::DiagnoseRequest> diagnose_request(const Args& args, const Context& context) {
  ops::DiagnoseRequest request;
  request.files = args.all("FILE");
  WEIR_TRY(source, source_of(args, context));
  if (args.has("lab") || args.has("root") || names_fleet(args)) request.source = std::move(source);
  const bool has_file = !args.has("lab") && file_exists(std::string(kDesignFile));
  request.design = args.get("design").value_or(has_file ? std::string(kDesignFile) : "");
  WEIR_TRY(thresholds, ops::or_bad_request(thresholds_of(args)));
  request.thresholds = thresholds;
  WEIR_TRY(load, ops::or_bad_request(known_load(args)));
  request.load = std::move(load);
  return request;
}

void print_diagnosed(const ops::Diagnosed& found, Context& context) {
  print_findings(context, found.judgement, diagnose_verdict(found));
  if (context.quiet) return;
  if (found.expectation) context.out << '\n' << expectation_text(*found.expectation);
  // A text without counters has no answers to the questions about them.
  if (!found.paste || found.has_counters) print_questions(found.questions, context);
}

ExitCode run_diagnose(const Args& args, Context& context) {
  auto request = diagnose_request(args, context);
  if (!request) return fail(context, args.command(), request.error());
  if (args.has("list-thresholds")) return list_thresholds(args, context, request->thresholds);
  Progress bar(context.err, context.stderr_is_terminal, "simulating the load");
  request->progress = bar.callback();
  const auto found = ops::diagnose_all(*request);
  bar.clear();
  if (!found) return fail(context, args.command(), found.error());
  for (const std::string& text : ops::fold_reasons(found->unseen))
    context.err << "weir: could not read " << text << '\n';
  if (found->paste) print_what_was_read(*found->paste, context);
  if (context.json) {
    print_diagnosed_json(context, args.command(), *found, diagnose_verdict(*found));
  } else {
    print_diagnosed(*found, context);
  }
  return exit_for(args, found->judgement);
}

std::vector<Option> options() {
  std::vector<Option> out = {
      {.name = "design",
       .metavar = "DESIGN",
       .help = "the design (default: the lab's, or ./fabric.yaml)",
       .completes = Completes::kFiles},
      threshold_option(),
      {.name = "list-thresholds", .help = "list the thresholds: value, unit, source, meaning"}};
  for (Option& option : known_load_options())
    out.push_back(std::move(option));
  return out;
}

}  // namespace

Command diagnose_command() {
  return {
      .name = "diagnose",
      .group = Group::kOperators,
      .summary = "find the cause, its place and the fix, from what was observed",
      .description =
          "Reads evidence (snapshots around a load, weir sim --json) and plain text from anywhere: "
          "outputs, logs, descriptions. Names the cause first: place, what it explains, how sure "
          "that is, the fix. With --workload, it also compares with simulated runs of that load.",
      .arguments = {{.name = "FILE",
                     .help = "evidence, snapshots or plain text; - reads standard input",
                     .repeated = true,
                     .completes = Completes::kFiles}},
      .options = with_host_options(options()),
      .examples = {{"weir diagnose before.json after.json", "two snapshots around a load"},
                   {"weir sim -w incast -f np-off,at=gpu01 --json | weir diagnose -",
                    "a simulated fabric with a fault"},
                   {"ethtool -S eth2 | weir diagnose -", "what a tool printed"},
                   {"weir diagnose a.json b.json -w all-reduce,size=64MB --took 5ms",
                    "also compare with simulated runs of the load"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kFindings, ExitCode::kBadInput, ExitCode::kPartial},
      .judges = true,
      .looks = Looks::kAtFilesIfNamed,
      .takes_fleet = true,
      .run = run_diagnose,
  };
}

}  // namespace weir::cli
