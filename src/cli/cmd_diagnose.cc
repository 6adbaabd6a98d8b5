// weir diagnose: from anything that was observed to the cause.
#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/design_input.h"
#include "cli/host_input.h"
#include "cli/judging.h"
#include "cli/last_load.h"
#include "cli/questions.h"
#include "cli/snapshot_file.h"
#include "diagnose/diagnose.h"
#include "diagnose/interpret.h"
#include "diagnose/join.h"
#include "evidence/json.h"
#include "readers/merge.h"
#include "readers/readers.h"

namespace weir::cli {
namespace {

using Pieces = std::vector<evidence::Evidence>;

/// `weir sim --json`: evidence of every host, and of the switches together.
Result<Pieces> read_simulation(const Json& document) {
  Pieces pieces;
  const auto add = [&](const Json& value) -> Status {
    WEIR_TRY(one, evidence::evidence_from_json(value));
    pieces.push_back(std::move(one));
    return {};
  };
  for (const Json& host : document.at("hosts"))
    WEIR_TRY_STATUS(add(host));
  if (document.contains("switches")) WEIR_TRY_STATUS(add(document.at("switches")));
  return pieces;
}

/// What a tool or a switch printed; lines that fit nothing are said on stderr, the first few.
Result<Pieces> read_printed(const std::string& text, const std::string& path, Context& context) {
  WEIR_TRY(read, readers::read_text(text, path));
  constexpr std::size_t kShown = 5;
  for (std::size_t i = 0; i < std::min(read.unread.size(), kShown) && !context.quiet; ++i)
    context.err << fmt::format("weir: {}:{}: not understood: {} ({})\n", path, read.unread[i].line,
                               read.unread[i].text, read.unread[i].why);
  Pieces pieces;
  pieces.push_back(std::move(read.evidence));
  return pieces;
}

std::string known_texts() {
  std::vector<std::string> titles;
  for (const readers::Reader& one : readers::readers())
    titles.emplace_back(one.title);
  return "; of printed texts: " + join(titles, ", ");
}

Result<Pieces> read_pieces(const std::string& path, Context& context) {
  WEIR_TRY(text, read_file(path, kLargestResults));
  const Json document = Json::parse(text, nullptr, false);
  const bool is_ours = document.is_object() && document.contains("schema");
  if (!is_ours && readers::recognise(text) != nullptr) return read_printed(text, path, context);
  const bool is_simulation = document.is_object() && document.contains("schema") &&
                             document.at("schema") == "weir/sim/1" && document.contains("hosts") &&
                             document.at("hosts").is_array();
  if (!is_simulation) {
    Result<Pieces> pieces = read_snapshot_text(text, path);
    if (!pieces && document.is_discarded()) return parse_error(pieces.error().what + known_texts());
    return pieces;
  }
  Result<Pieces> pieces = read_simulation(document);
  if (!pieces) return pieces.error().within(path);
  return pieces;
}

/// What the files and the lab show; the lab's own design where no other is named.
struct Input {
  Pieces pieces;
  std::optional<DesignInput> design;
};

std::optional<Input> read_input(const Args& args, Context& context, ExitCode& code) {
  Input input;
  for (const std::string& path : args.all("FILE")) {
    auto pieces = read_pieces(path, context);
    if (!pieces) {
      code = fail(context, ExitCode::kBadInput, pieces.error().what);
      return std::nullopt;
    }
    std::move(pieces->begin(), pieces->end(), std::back_inserter(input.pieces));
  }
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
  if (input.pieces.empty()) {
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

/// Every number that rules go by: its value, unit and meaning.
ExitCode list_thresholds(const Args& args, Context& context, const diagnose::Thresholds& set) {
  if (context.json) {
    Json list = Json::array();
    for (const diagnose::ThresholdInfo& info : diagnose::threshold_table())
      list.push_back({{"name", info.name},
                      {"value", diagnose::value_text(info, set)},
                      {"unit", info.unit},
                      {"rows", info.rows},
                      {"meaning", info.meaning}});
    Json document = json_object(args.command());
    document["thresholds"] = std::move(list);
    context.out << document.dump(2) << '\n';
    return ExitCode::kOk;
  }
  TextTable table({"threshold", "value", "unit", "rows", "meaning"});
  for (const diagnose::ThresholdInfo& info : diagnose::threshold_table())
    table.add_row({std::string(info.name), diagnose::value_text(info, set), std::string(info.unit),
                   std::string(info.rows), std::string(info.meaning)});
  context.out << table.to_text(2);
  return ExitCode::kOk;
}

ExitCode run_diagnose(const Args& args, Context& context) {
  ExitCode code = ExitCode::kOk;
  diagnose::Thresholds thresholds;
  for (const std::string& one : args.all("threshold"))
    if (const Status set = diagnose::set_threshold(one, thresholds); !set)
      return usage_error(context, args.command(), set.error().what);
  if (args.has("list-thresholds")) return list_thresholds(args, context, thresholds);
  auto input = read_input(args, context, code);
  if (!input) return code;
  const Pieces evidence = diagnose::join_windows(readers::merge_texts(std::move(input->pieces)));
  diagnose::Case subject;
  subject.evidence = evidence;
  subject.thresholds = thresholds;
  if (input->design) subject.intent = &input->design->intent;
  std::size_t hosts = 0;
  std::size_t switches = 0;
  bool is_simulated = false;
  for (const evidence::Evidence& one : evidence) {
    hosts +=
        one.nics.empty() && (one.snapshots.empty() || one.snapshots.back().nics.empty()) ? 0 : 1;
    switches += one.switches.size();
    is_simulated = is_simulated || one.provenance.simulated;
  }
  const finding::Judgement judgement = diagnose::diagnose(subject);
  const auto questions = diagnose::five_questions(subject);
  std::string verdict = diagnose::headline(judgement, hosts, switches);
  verdict.insert(verdict.size() - 1, simulated_word(is_simulated));  // before the full stop
  Json extra = {{"questions", questions_json(questions)},
                {"hosts", hosts},
                {"switches", switches},
                {"simulated", is_simulated}};
  const ExitCode result = print_judgement(args, context, judgement, verdict, extra);
  if (!context.json && !context.quiet) print_questions(questions, context);
  const bool is_open = judgement.conclusion == finding::Conclusion::kInconclusive;
  return result == ExitCode::kOk && is_open ? ExitCode::kPartial : result;
}

}  // namespace

Command diagnose_command() {
  return {
      .name = "diagnose",
      .group = Group::kOperators,
      .summary = "what is wrong, where, and what to type, from what was observed",
      .description =
          "Reads evidence of hosts and switches (snapshots around a load, evidence files, the "
          "output of weir sim --json, what a switch's show commands printed), and names the cause "
          "first: its place, what it explains, "
          "how sure that is, and the fix. Two snapshots of a host are a window. With a design it "
          "also knows what was wanted.",
      .arguments = {{.name = "FILE",
                     .help = "what was observed; - reads standard input",
                     .repeated = true,
                     .completes = Completes::kFiles}},
      .options = with_host_options(
          {{.name = "design",
            .metavar = "DESIGN",
            .help = "the design (default: the lab's, or ./fabric.yaml)",
            .completes = Completes::kFiles},
           {.name = "threshold",
            .metavar = "NAME=VALUE",
            .help = "another value for a number that rules go by",
            .repeated = true},
           {.name = "list-thresholds", .help = "those numbers: value, unit, meaning"}}),
      .examples = {{"weir diagnose before.json after.json", "two snapshots around a load"},
                   {"weir sim -w incast -f np-off,at=gpu01 --json | weir diagnose -",
                    "a simulated fabric with a fault"},
                   {"weir diagnose leaf1-before.txt leaf1-after.txt", "show outputs of a switch"},
                   {"weir diagnose --lab L", "a lab, its last load"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kFindings, ExitCode::kBadInput, ExitCode::kPartial},
      .rows = {"D8", "I1", "I14"},
      .judges = true,
      .run = run_diagnose,
  };
}

}  // namespace weir::cli
