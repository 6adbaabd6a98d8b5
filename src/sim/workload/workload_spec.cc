#include "sim/workload/workload_spec.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "base/check.h"
#include "base/table.h"
#include "base/text.h"
#include "sim/workload/traffic.h"
#include "units/format.h"

namespace weir::sim {
namespace {

constexpr std::array kCommon{
    WorkloadParameter{"hosts", "all", "names or patterns, joined by '+': gpu[01-08]+gpu12"},
    WorkloadParameter{"rails", "all", "0, 0-3 or 0+2: which NICs of each host"},
    WorkloadParameter{"group", "rail",
                      "rail: each rail on its own; all: every NIC is a rank of one group"},
    WorkloadParameter{"start", "0s", "when it begins"},
    WorkloadParameter{"qps", "design",
                      "queue pairs of a connection, each with its own UDP source port; its bytes "
                      "are split evenly among them"},
    WorkloadParameter{"op", "write", "write, send or read"},
    WorkloadParameter{"class", "rdma", "a traffic class of the design"},
    WorkloadParameter{"tos", "class", "TOS byte 0-255 instead of the class's marking"},
    WorkloadParameter{"label", "name", "its name in results"}};

constexpr WorkloadParameter kSizeKey{"size", "1MB", "bytes of a message (of a connection)"};
constexpr WorkloadParameter kIterations{"iterations", "1", "messages of a connection"};
constexpr WorkloadParameter kDepth{"depth", "2", "messages that a connection has outstanding"};
constexpr WorkloadParameter kRounds{"iterations", "1",
                                    "times in a row; the next begins when all have the last byte"};
constexpr WorkloadParameter kAlgorithm{
    "algo", "ring", "ring, tree (double binary tree) or halving-doubling (2^k ranks)"};
constexpr WorkloadParameter kChunk{"chunk", "128KiB", "what travels through a tree at once"};
constexpr WorkloadParameter kDuration{"duration", "1ms",
                                      "flows arrive within it; the last end later"};

std::vector<WorkloadRow> patterns_and_collectives() {
  return {
      {WorkloadKind::kPair,
       "pair",
       "one host sends to another",
       {{"from", "first", "the sender"},
        {"to", "second", "the receiver"},
        kSizeKey,
        kIterations,
        kDepth}},
      {WorkloadKind::kIncast,
       "incast",
       "many hosts send to one at once",
       {{"to", "first", "the receiver"},
        {"senders", "all", "how many of the others send"},
        kSizeKey,
        kIterations,
        kDepth}},
      {WorkloadKind::kPermutation,
       "permutation",
       "every rank sends to one other and hears from one other",
       {{"shift", "random", "rank r sends to r + shift; random: one cycle drawn from the seed"},
        kSizeKey,
        kIterations,
        kDepth}},
      {WorkloadKind::kAllToAll,
       "all-to-all",
       "every rank sends to every other",
       {{"size", "1MB", "bytes of each pair of ranks"}, kRounds}},
      {WorkloadKind::kAllReduce,
       "all-reduce",
       "the sum of everybody's data, at everybody",
       {{"size", "64MB", "bytes of a rank's buffer"}, kAlgorithm, kChunk, kRounds}},
      {WorkloadKind::kAllGather,
       "all-gather",
       "everybody's part, at everybody (ring)",
       {{"size", "64MB", "bytes of the whole, 1/n from each rank"}, kRounds}},
      {WorkloadKind::kReduceScatter,
       "reduce-scatter",
       "the sum of everybody's data, 1/n at each (ring)",
       {{"size", "64MB", "bytes of a rank's buffer"}, kRounds}},
  };
}

std::vector<WorkloadRow> steps_and_loads() {
  return {
      {WorkloadKind::kTraining,
       "training",
       "steps of computing and a collective",
       {{"compute", "1ms", "computing in a step"},
        {"overlap", "0%", "share of it during which the collective already runs"},
        {"collective", "all-reduce", "all-reduce, all-gather, reduce-scatter or all-to-all"},
        {"size", "16MB", "of the collective"},
        kAlgorithm,
        kChunk,
        {"steps", "3", "how many"}}},
      {WorkloadKind::kFlows,
       "flows",
       "flows between random ranks at a load, each with a queue pair of its own",
       {{"sizes", "websearch", "websearch, hadoop, storage, or one size: 64KB"},
        {"load", "30%", "payload, of each NIC's rate"},
        kDuration}},
      {WorkloadKind::kStorage,
       "storage",
       "storage traffic beside the rest, in its own class",
       {{"sizes", "storage", "websearch, hadoop, storage, or one size: 64KB"},
        {"load", "10%", "payload, of each NIC's rate"},
        kDuration,
        {"class", "storage", "a traffic class of the design"}}},
      {WorkloadKind::kLossy,
       "lossy",
       "bursts of best-effort traffic that may be dropped and do not slow down",
       {{"sizes", "64KB", "of a burst: a size, or websearch, hadoop, storage"},
        {"load", "10%", "payload, of each NIC's rate"},
        kDuration,
        {"class", "best_effort", "a traffic class of the design"}}},
      {WorkloadKind::kTrace,
       "trace",
       "flows of a file: start_us,source,target,bytes[,class]",
       {{"file", "", "CSV; source and target are host or host:rail"}}},
  };
}

constexpr WorkloadParameter kInside{
    "inside", "3600G",
    "between the GPUs of a host, each way: what stays inside is time, no traffic"};
constexpr WorkloadParameter kSteps{"steps", "1", "how many"};

std::vector<WorkloadRow> jobs() {
  return {
      {WorkloadKind::kModel,
       "model",
       "training steps of a transformer: tensor, pipeline, data and expert parallel",
       {{"of", "70B", "7B, 8B, 13B, 34B, 70B, 175B or 405B: layers, hidden and params at once"},
        {"layers", "of", "of the model"},
        {"hidden", "of", "width of a layer"},
        {"params", "of", "of a dense model, such as 70B"},
        {"tp", "8", "ranks that share a layer, within a host"},
        {"pp", "1", "pipeline stages"},
        {"dp", "rest", "copies of the model; rest: ranks / (tp * pp)"},
        {"ep", "1", "ranks that share the experts, among the copies"},
        {"experts", "0", "of each layer; 0: a dense model"},
        {"topk", "2", "experts that a token goes to"},
        {"seq", "4096", "tokens of a sequence"},
        {"microbatches", "8", "of a step, one after the other"},
        {"batch", "1", "sequences of a micro-batch"},
        {"precision", "bf16", "fp32, bf16, fp16 or fp8: of activations and gradients"},
        {"flops", "400T", "that a GPU does in a second, of those that count"},
        {"overlap", "0%", "share of the last backward pass that gradients are sent beside"},
        kInside,
        kSteps}},
      {WorkloadKind::kSimai,
       "simai",
       "a workload file of SimAI (AICB)",
       {{"file", "", "its path"}, kInside, kSteps}},
      {WorkloadKind::kChakra,
       "chakra",
       "Chakra execution traces, one file per rank, as ASTRA-sim reads them",
       {{"file", "", "the path without .RANK.et (or .RANK.json)"},
        {"groups", "none", "JSON file of communicator groups"},
        kInside,
        kSteps}},
      {WorkloadKind::kNcclTests,
       "nccl-tests",
       "a list of nccl-tests runs, one command per line, each size after the other",
       {{"file", "", "its path"}, kInside}},
  };
}

const std::vector<WorkloadRow>& rows() {
  static const std::vector<WorkloadRow> table = [] {
    std::vector<WorkloadRow> all = patterns_and_collectives();
    for (const auto& more : {steps_and_loads(), jobs()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return table;
}

/// Pieces between commas that stand outside brackets.
std::vector<std::string_view> split_outside_brackets(std::string_view text) {
  std::vector<std::string_view> pieces;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') ++depth;
    if (text[i] == ']') --depth;
    if (text[i] != ',' || depth > 0) continue;
    pieces.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  pieces.push_back(text.substr(begin));
  return pieces;
}

template <class T>
struct Choice {
  std::string_view word;
  T value;
};

template <class T, std::size_t N>
Result<T> choose(std::string_view text, const std::array<Choice<T>, N>& choices) {
  std::vector<std::string> words;
  for (const auto& choice : choices) {
    if (choice.word == text) return choice.value;
    words.emplace_back(choice.word);
  }
  return parse_error(
      fmt::format("'{}' is none of {}{}", text, join(words, ", "), did_you_mean(text, words)));
}

Result<std::uint32_t> count_of(std::string_view text, std::uint32_t least, std::uint32_t most) {
  const auto number = parse_u64(text);
  if (!number || *number < least || *number > most)
    return parse_error(
        fmt::format("expected a number from {} to {}, found '{}'", least, most, text));
  return static_cast<std::uint32_t>(*number);
}

Result<std::vector<int>> rails_of(std::string_view text) {
  constexpr std::uint32_t kMostRails = 63;
  std::vector<int> rails;
  if (text == "all") return rails;
  for (const std::string_view piece : split(text, '+')) {
    const std::size_t dash = piece.find('-');
    WEIR_TRY(first, count_of(piece.substr(0, dash), 0, kMostRails));
    std::uint32_t last = first;
    if (dash != std::string_view::npos) {
      WEIR_TRY(end, count_of(piece.substr(dash + 1), first, kMostRails));
      last = end;
    }
    for (std::uint32_t rail = first; rail <= last; ++rail)
      rails.push_back(static_cast<int>(rail));
  }
  return rails;
}

Status set_sizes(WorkloadSpec& spec, std::string_view text) {
  if (find_distribution(text) != nullptr) {
    spec.sizes = text;
    return {};
  }
  const auto fixed = parse_bytes(text);
  if (fixed && *fixed > Bytes()) {
    spec.sizes.clear();
    spec.size = *fixed;
    return {};
  }
  std::vector<std::string> names;
  for (const SizeDistribution& d : size_distributions())
    names.emplace_back(d.name);
  return parse_error(fmt::format("expected {} or a size such as 64KB, found '{}'{}",
                                 join(names, ", "), text, did_you_mean(text, names)));
}

/// A parameter that `text` sets in one place: reads it with `parse`, refuses what is not positive.
template <class T, class Parse>
Status set_positive(T& to, std::string_view text, Parse parse) {
  WEIR_TRY(value, parse(text));
  if (value <= T()) return parse_error(fmt::format("expected more than nothing, found '{}'", text));
  to = value;
  return {};
}

template <class T>
Status assign(T& to, Result<T> value) {
  if (!value) return std::move(value).error();
  to = *std::move(value);
  return {};
}

/// Parameters that every workload has; nullopt for others.
std::optional<Status> set_common(WorkloadSpec& spec, std::string_view key, std::string_view text) {
  if (key == "hosts") {
    spec.hosts = text == "all" ? "" : std::string(text);
    std::replace(spec.hosts.begin(), spec.hosts.end(), '+', ',');
    return Status();
  }
  if (key == "rails") return assign(spec.rails, rails_of(text));
  if (key == "group") {
    constexpr std::array kWords{Choice<Grouping>{"rail", Grouping::kRail},
                                Choice<Grouping>{"all", Grouping::kAll}};
    return assign(spec.group, choose(text, kWords));
  }
  if (key == "start") {
    const auto start = parse_duration(text);
    if (!start) return start.error();
    if (*start < Duration()) return parse_error("a start before the run begins");
    spec.start = Time::at(*start);
    return Status();
  }
  if (key == "qps") {
    if (text == "design") return Status();
    const auto qps = count_of(text, 1, 1024);
    if (!qps) return qps.error();
    spec.qps = static_cast<int>(*qps);
    return Status();
  }
  if (key == "op") {
    constexpr std::array kWords{Choice<Operation>{"write", Operation::kWrite},
                                Choice<Operation>{"send", Operation::kSend},
                                Choice<Operation>{"read", Operation::kRead}};
    return assign(spec.operation, choose(text, kWords));
  }
  if (key == "class") {
    spec.traffic_class = text;
    return Status();
  }
  if (key == "tos") {
    if (text == "class") return Status();
    const auto tos = count_of(text, 0, 255);
    if (!tos) return tos.error();
    spec.tos = TosByte::of(*tos);
    return Status();
  }
  if (key == "label") {
    if (text != "name") spec.label = text;
    return Status();
  }
  return std::nullopt;
}

constexpr std::array<KnownModel, 7> kKnownModels{{
    {"7B", 32, 4096, 6'740'000'000},
    {"8B", 32, 4096, 8'030'000'000},
    {"13B", 40, 5120, 13'020'000'000},
    {"34B", 48, 8192, 33'740'000'000},
    {"70B", 80, 8192, 70'550'000'000},
    {"175B", 96, 12288, 174'600'000'000},
    {"405B", 126, 16384, 405'850'000'000},
}};

Status set_known_model(ModelShape& model, std::string_view text) {
  std::vector<std::string> names;
  for (const KnownModel& known : kKnownModels) {
    names.emplace_back(known.name);
    if (known.name != text) continue;
    model.layers = known.layers;
    model.hidden = known.hidden;
    model.parameters = known.parameters;
    return {};
  }
  return parse_error(fmt::format("'{}' is none of {}{}; give layers, hidden and params instead",
                                 text, join(names, ", "), did_you_mean(text, names)));
}

/// "70B", "1.5T", "400T": a decimal number with a letter for thousands.
Result<std::uint64_t> decimal_count(std::string_view text) {
  constexpr std::array<Choice<std::uint64_t>, 5> kLetters{{{"K", 1'000},
                                                           {"M", 1'000'000},
                                                           {"G", 1'000'000'000},
                                                           {"B", 1'000'000'000},
                                                           {"T", 1'000'000'000'000}}};
  std::uint64_t unit = 1;
  std::string_view digits = text;
  for (const auto& letter : kLetters)
    if (text.ends_with(letter.word)) unit = letter.value;
  if (unit > 1) digits.remove_suffix(1);
  const std::size_t point = digits.find('.');
  const auto whole = parse_u64(digits.substr(0, point));
  constexpr std::uint64_t kMost = 1'000'000;
  std::uint64_t parts = 0;
  if (point != std::string_view::npos && unit > 1) {
    const std::string_view tail = digits.substr(point + 1);
    const auto fraction = parse_u64(tail);
    if (!fraction || tail.size() > 3)
      return parse_error(fmt::format("expected a number such as 70B, found '{}'", text));
    parts = *fraction;
    for (std::size_t i = tail.size(); i < 3; ++i)
      parts *= 10;
  }
  if (!whole || *whole > kMost || (unit == 1 && point != std::string_view::npos))
    return parse_error(fmt::format("expected a number such as 70B, found '{}'", text));
  return *whole * unit + parts * (unit / 1000);
}

/// Parameters of a model; nullopt for others.
std::optional<Status> set_model(ModelShape& model, std::string_view key, std::string_view text) {
  struct Count {
    std::string_view key;
    std::uint32_t* value;
    std::uint32_t least;
    std::uint32_t most;
    std::string_view nothing;  // a word that leaves it as it is
  };
  const std::array<Count, 11> counts{{{"layers", &model.layers, 1, 10'000, "of"},
                                      {"hidden", &model.hidden, 1, 1'000'000, "of"},
                                      {"tp", &model.tensor, 1, 64, ""},
                                      {"pp", &model.pipeline, 1, 1024, ""},
                                      {"dp", &model.data, 1, 1'000'000, "rest"},
                                      {"ep", &model.expert, 1, 4096, ""},
                                      {"experts", &model.experts, 0, 65'536, ""},
                                      {"topk", &model.active, 1, 65'536, ""},
                                      {"seq", &model.sequence, 1, 100'000'000, ""},
                                      {"microbatches", &model.micro_batches, 1, 100'000, ""},
                                      {"batch", &model.batch, 1, 100'000, ""}}};
  for (const Count& count : counts) {
    if (count.key != key) continue;
    if (!count.nothing.empty() && text == count.nothing) return Status();
    if (key == "layers" || key == "hidden") model.parameters = 0;  // no longer those of a known one
    return assign(*count.value, count_of(text, count.least, count.most));
  }
  if (key == "of") return set_known_model(model, text);
  if (key == "params")
    return text == "of" ? Status() : assign(model.parameters, decimal_count(text));
  if (key == "flops") return set_positive(model.flops, text, decimal_count);
  if (key == "precision") {
    constexpr std::array kWords{Choice<std::uint32_t>{"fp32", 4}, Choice<std::uint32_t>{"bf16", 2},
                                Choice<std::uint32_t>{"fp16", 2}, Choice<std::uint32_t>{"fp8", 1}};
    return assign(model.element, choose(text, kWords));
  }
  return std::nullopt;
}

Status set_own(WorkloadSpec& spec, std::string_view key, std::string_view text) {
  constexpr std::uint32_t kMost = 1'000'000;
  if (key == "size") return set_positive(spec.size, text, parse_bytes);
  if (key == "iterations" || key == "steps")
    return assign(spec.iterations, count_of(text, 1, kMost));
  if (key == "depth") return assign(spec.depth, count_of(text, 1, kMost));
  if (key == "from") {
    spec.from = text == "first" ? "" : std::string(text);
    return {};
  }
  if (key == "to") {
    spec.to = text == "first" || text == "second" ? "" : std::string(text);
    return {};
  }
  if (key == "senders") {
    if (text == "all") return {};
    return assign(spec.senders, count_of(text, 1, kMost));
  }
  if (key == "shift") {
    if (text == "random") return {};
    return assign(spec.shift, count_of(text, 1, kMost));
  }
  if (key == "algo") {
    constexpr std::array kWords{Choice<Algorithm>{"ring", Algorithm::kRing},
                                Choice<Algorithm>{"tree", Algorithm::kTree},
                                Choice<Algorithm>{"halving-doubling", Algorithm::kHalvingDoubling}};
    return assign(spec.algorithm, choose(text, kWords));
  }
  if (key == "chunk") return set_positive(spec.chunk, text, parse_bytes);
  if (key == "compute") return assign(spec.compute, parse_duration(text));
  if (key == "overlap") {
    WEIR_TRY_STATUS(assign(spec.overlap, parse_share(text)));
    if (spec.overlap < Share() || spec.overlap > 100_percent)
      return parse_error(fmt::format("expected 0% to 100%, found '{}'", text));
    return {};
  }
  if (key == "collective") {
    constexpr std::array kWords{
        Choice<StepCollective>{"all-reduce", StepCollective::kAllReduce},
        Choice<StepCollective>{"all-gather", StepCollective::kAllGather},
        Choice<StepCollective>{"reduce-scatter", StepCollective::kReduceScatter},
        Choice<StepCollective>{"all-to-all", StepCollective::kAllToAll}};
    return assign(spec.collective, choose(text, kWords));
  }
  if (key == "sizes") return set_sizes(spec, text);
  if (key == "load") return set_positive(spec.load, text, parse_share);
  if (key == "duration") return set_positive(spec.duration, text, parse_duration);
  if (key == "file") {
    spec.file = text;
    return {};
  }
  if (key == "groups") {
    if (text != "none") spec.groups_file = text;
    return {};
  }
  if (key == "inside") return set_positive(spec.inside, text, parse_rate);
  if (const auto model = set_model(spec.model, key, text)) return *model;
  WEIR_UNREACHABLE("the table names no other parameter");
}

Status set(WorkloadSpec& spec, std::string_view key, std::string_view text) {
  const auto common = set_common(spec, key, text);
  return common ? *common : set_own(spec, key, text);
}

bool has_own(const WorkloadRow& row, std::string_view name) {
  return std::any_of(row.own.begin(), row.own.end(),
                     [&](const WorkloadParameter& p) { return p.name == name; });
}

std::vector<WorkloadParameter> parameters_of(const WorkloadRow& row) {
  std::vector<WorkloadParameter> all = row.own;
  for (const WorkloadParameter& p : kCommon)
    if (!has_own(row, p.name)) all.push_back(p);
  return all;
}

}  // namespace

std::span<const WorkloadRow> workload_table() {
  return rows();
}

std::span<const KnownModel> known_models() {
  return kKnownModels;
}

const WorkloadRow& row_of(WorkloadKind kind) {
  const auto found = std::find_if(rows().begin(), rows().end(),
                                  [&](const WorkloadRow& row) { return row.kind == kind; });
  WEIR_CHECK(found != rows().end());
  return *found;
}

Result<WorkloadSpec> parse_workload(std::string_view text) {
  const std::vector<std::string_view> pieces = split_outside_brackets(text);
  const std::string_view name = trim(pieces.front());
  const auto row = std::find_if(rows().begin(), rows().end(),
                                [&](const WorkloadRow& r) { return r.name == name; });
  if (row == rows().end()) {
    std::vector<std::string> names;
    for (const WorkloadRow& r : rows())
      names.emplace_back(r.name);
    return parse_error(fmt::format("unknown workload '{}'{}; one of {}", name,
                                   did_you_mean(name, names), join(names, ", ")));
  }
  WorkloadSpec spec;
  spec.kind = row->kind;
  spec.label = row->name;
  const std::vector<WorkloadParameter> parameters = parameters_of(*row);
  for (const WorkloadParameter& p : parameters)
    WEIR_TRY_STATUS(set(spec, p.name, p.fallback));
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    const std::string_view piece = trim(pieces[i]);
    const std::size_t equals = piece.find('=');
    if (equals == std::string_view::npos)
      return parse_error(
          fmt::format("workload {}: expected parameter=value, found '{}'", name, piece));
    const std::string_view key = trim(piece.substr(0, equals));
    std::vector<std::string> known;
    for (const WorkloadParameter& p : parameters)
      known.emplace_back(p.name);
    if (std::find(known.begin(), known.end(), key) == known.end())
      return parse_error(fmt::format("workload {}: unknown parameter '{}'{}; it takes {}", name,
                                     key, did_you_mean(key, known), join(known, ", ")));
    const Status status = set(spec, key, trim(piece.substr(equals + 1)));
    if (!status) return status.error().within(fmt::format("workload {}: {}", name, key));
  }
  if (has_own(*row, "file") && spec.file.empty())
    return parse_error(fmt::format("workload {0}: a file is needed: {0},file=PATH", name));
  return spec;
}

Result<std::vector<WorkloadSpec>> parse_workloads(std::string_view text, std::string_view file) {
  std::vector<WorkloadSpec> out;
  std::size_t number = 0;
  for (const std::string_view raw : split(text, '\n')) {
    ++number;
    const std::string_view line = trim(raw.substr(0, raw.find('#')));
    if (line.empty()) continue;
    auto spec = parse_workload(line);
    if (!spec) return spec.error().within(fmt::format("{}:{}", file, number));
    out.push_back(std::move(*spec));
  }
  if (out.empty())
    return parse_error(fmt::format(
        "{}: expected workloads, one per line, found none; see --list-workloads", file));
  return out;
}

std::string list_workloads(std::size_t width) {
  std::string out =
      "Workloads: --workload \"name,parameter=value,...\", as often as wanted; @FILE: a file of "
      "them.\n";
  const auto add = [&](std::span<const WorkloadParameter> parameters) {
    TextTable table({"", "", ""});
    for (const WorkloadParameter& p : parameters)
      table.add_row({std::string(p.name), p.fallback.empty() ? "(needed)" : std::string(p.fallback),
                     std::string(p.meaning)});
    out += table.to_text(4, width);
  };
  for (const WorkloadRow& row : rows()) {
    out += fmt::format("\n  {}: {}\n", row.name, row.summary);
    add(row.own);
  }
  out += "\n  all of them:\n";
  add(kCommon);
  return out;
}

}  // namespace weir::sim
