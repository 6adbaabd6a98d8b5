// weir diagnose: from anything that was observed to the cause.
#include "diagnose/core/diagnose.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/judging.h"
#include "cli/frame/pasted_input.h"
#include "cli/frame/threshold_option.h"
#include "cli/frame/transition.h"
#include "cli/json/object.h"
#include "cli/verbs/known_load.h"
#include "cli/json/questions_json.h"
#include "cli/text/questions_text.h"
#include "diagnose/core/interpret.h"
#include "diagnose/core/join.h"
#include "diagnose/paste/pasted.h"
#include "readers/paste/merge.h"

namespace weir::cli {
namespace {

using Pieces = std::vector<evidence::Evidence>;

/// JSON of ours; nullopt where it is none: plain text.
std::optional<Result<Pieces>> read_document(const std::string& text, const std::string& path) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool may_be = first != std::string::npos && (text[first] == '{' || text[first] == '[');
  const Json document = may_be ? Json::parse(text, nullptr, false) : Json(Json::value_t::discarded);
  const bool is_ours = document.is_object() && document.contains("schema");
  if (!is_ours && !document.is_object() && !read_snapshot_text(text, path)) return std::nullopt;
  if (!is_simulation(document)) return read_snapshot_text(text, path);
  Result<Pieces> pieces = read_simulation(document);
  if (!pieces) return pieces.error().within(path);
  return pieces;
}

/// What the files and the lab show; the lab's own design where no other is named.
struct Input {
  Pieces pieces;
  std::optional<readers::Paste> paste;  // of the files that are plain text, together
  std::optional<DesignInput> design;
};

std::optional<Error> read_files(const Args& args, Input& input) {
  std::vector<PastedText> texts;
  for (const std::string& path : args.all("FILE")) {
    auto text = read_file(path, kLargestResults);
    if (!text) return text.error();
    auto document = read_document(*text, path);
    if (!document) {
      texts.push_back({path, std::move(*text)});
    } else if (!*document) {
      return document->error();
    } else {
      std::move((*document)->begin(), (*document)->end(), std::back_inserter(input.pieces));
    }
  }
  if (texts.empty()) return std::nullopt;
  auto paste = read_pasted(texts);
  if (!paste) return paste.error();
  std::move(paste->evidence.begin(), paste->evidence.end(), std::back_inserter(input.pieces));
  input.paste = std::move(*paste);
  return std::nullopt;
}

std::optional<Input> read_input(const Args& args, Context& context, ExitCode& code) {
  Input input;
  if (const auto error = read_files(args, input)) {
    code = fail(context, ExitCode::kBadInput, error->what);
    return std::nullopt;
  }
  if (input.paste) print_what_was_read(*input.paste, context);
  std::optional<HostSet> hosts;
  if (args.has("lab")) {
    hosts = open_hosts(args, context, code);
    if (!hosts) return std::nullopt;
    auto seen = observe_last_load(*hosts, args.has("FILE"), context);
    if (!seen) {
      code = fail(context, ExitCode::kCouldNotLook, seen.error().what);
      return std::nullopt;
    }
    std::move(seen->begin(), seen->end(), std::back_inserter(input.pieces));
  } else if (args.has("root")) {
    hosts = open_hosts(args, context, code);
    if (!hosts) return std::nullopt;
    Observation seen = observe(*hosts, context);
    std::move(seen.hosts.begin(), seen.hosts.end(), std::back_inserter(input.pieces));
  }
  if (input.pieces.empty() && !input.paste) {
    code = usage_error(context, args.command(),
                       "nothing to diagnose: name files, --root PATH or --lab DIR");
    return std::nullopt;
  }
  if (const auto path = args.get("design")) {
    input.design = load_design_file(*path, context, code);
    if (!input.design) return std::nullopt;
  } else if (hosts && hosts->lab) {
    input.design = DesignInput{hosts->lab->design(), hosts->lab->intent()};
  } else if (file_exists(std::string(kDesignFile))) {
    input.design = load_design_file(std::string(kDesignFile), context, code);
    if (!input.design) return std::nullopt;
  }
  return input;
}

/// Every number that rules decide by.
ExitCode list_thresholds(const Args& args, Context& context, const finding::Thresholds& set) {
  if (context.json) {
    Json list = Json::array();
    for (const finding::ThresholdInfo& info : finding::threshold_table())
      list.push_back({{"name", info.name},
                      {"value", finding::value_text(info, set)},
                      {"unit", info.unit},
                      {"rows", info.rows},
                      {"source", info.source},
                      {"meaning", info.meaning}});
    Json document = json_object(args.command());
    document["thresholds"] = std::move(list);
    context.out << document.dump(2) << '\n';
    return ExitCode::kOk;
  }
  TextTable table({"threshold", "value", "unit", "source", "meaning"});
  for (const finding::ThresholdInfo& info : finding::threshold_table())
    table.add_row({std::string(info.name), finding::value_text(info, set), std::string(info.unit),
                   std::string(info.source), std::string(info.meaning)});
  context.out << table.to_text(2);
  return ExitCode::kOk;
}

struct Seen {
  std::size_t hosts = 0;
  std::size_t switches = 0;
  bool has_counters = false;
  bool is_simulated = false;
};

Seen seen_in(const Pieces& evidence) {
  Seen seen;
  for (const evidence::Evidence& one : evidence) {
    const bool has_nics =
        !one.nics.empty() || (!one.snapshots.empty() && !one.snapshots.back().nics.empty());
    seen.hosts += has_nics ? 1 : 0;
    seen.switches += one.switches.size();
    seen.has_counters = seen.has_counters || !one.snapshots.empty();
    seen.is_simulated = seen.is_simulated || one.provenance.simulated;
  }
  return seen;
}

std::string verdict_of(const finding::Judgement& judgement, const Seen& seen) {
  const bool is_open = judgement.conclusion == finding::Conclusion::kInconclusive;
  if (is_open && seen.hosts + seen.switches == 0)
    return "Inconclusive: no output, setting or error line in the text shows what is wrong.";
  std::string verdict = diagnose::headline(judgement, seen.hosts, seen.switches);
  verdict.insert(verdict.size() - 1, simulated_word(seen.is_simulated));  // before the full stop
  return verdict;
}

ExitCode run_diagnose(const Args& args, Context& context) {
  ExitCode code = ExitCode::kOk;
  const auto thresholds = thresholds_of(args);
  if (!thresholds) return usage_error(context, args.command(), thresholds.error().what);
  if (args.has("list-thresholds")) return list_thresholds(args, context, *thresholds);
  const auto load = known_load(args);
  if (!load) return usage_error(context, args.command(), load.error().what);
  auto input = read_input(args, context, code);
  if (!input) return code;
  if (*load && !input->design)
    return usage_error(context, args.command(),
                       "--workload is compared with the fabric as designed: name it with --design");
  const Pieces evidence = diagnose::join_windows(readers::merge_texts(std::move(input->pieces)));
  diagnose::Case subject;
  subject.evidence = evidence;
  subject.thresholds = *thresholds;
  if (input->design) subject.intent = &input->design->intent;
  const Seen seen = seen_in(evidence);
  const diagnose::View view(subject);
  const finding::Judgement judgement =
      input->paste ? diagnose::diagnose_paste(*input->paste, view) : diagnose::diagnose(view);
  std::optional<lab::Expectation> expected;
  if (*load) {
    auto compared = compare_load(subject, input->design->design, **load, context);
    if (!compared) return fail(context, ExitCode::kBadInput, compared.error().what);
    expected = std::move(*compared);
  }
  const auto questions = diagnose::five_questions(view);
  std::string verdict = verdict_of(judgement, seen);
  Json extra = {{"questions", questions_json(questions)},
                {"hosts", seen.hosts},
                {"switches", seen.switches},
                {"simulated", seen.is_simulated}};
  if (input->paste) {
    extra["read"] = read_json(*input->paste);
    extra["unread"] = unread_json(*input->paste);
  }
  if (expected) extra["expectation"] = expectation_json(*expected);
  const ExitCode result = print_judgement(args, context, judgement, verdict, extra);
  if (expected && !context.json && !context.quiet)
    context.out << '\n' << expectation_text(*expected);
  // Nobody asked a text without counters what they say.
  const bool has_questions = !input->paste || seen.has_counters;
  if (!context.json && !context.quiet && has_questions) print_questions(questions, context);
  const bool is_open = judgement.conclusion == finding::Conclusion::kInconclusive;
  return result == ExitCode::kOk && is_open ? ExitCode::kPartial : result;
}

std::vector<Option> options() {
  std::vector<Option> out = {
      {.name = "design",
       .metavar = "DESIGN",
       .help = "the design (default: the lab's, or ./fabric.yaml)",
       .completes = Completes::kFiles},
      threshold_option(),
      {.name = "list-thresholds", .help = "list the thresholds: value, unit, source, meaning"}};
  for (Option& one : known_load_options())
    out.push_back(std::move(one));
  return out;
}

}  // namespace

Command diagnose_command() {
  return {
      .name = "diagnose",
      .group = Group::kOperators,
      .summary = "what is wrong, where, and what to type, from what was observed",
      .description =
          "Reads evidence (snapshots around a load, weir sim --json) and plain text from anywhere: "
          "outputs, logs, people's words. Names the cause first: place, what it explains, how sure "
          "that is, the fix. With --workload, it also compares with simulated runs of that load.",
      .arguments = {{.name = "FILE",
                     .help = "what was observed; - reads standard input",
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
      .rows = {"D8", "I1", "I14"},
      .judges = true,
      .run = run_diagnose,
  };
}

}  // namespace weir::cli
