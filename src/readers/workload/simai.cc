#include "readers/workload/simai.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"

namespace weir::readers {
namespace {

constexpr std::uint64_t kMostLayers = 1'000'000;
constexpr std::uint64_t kMostNanoseconds = 100'000'000'000'000;  // a day of one layer is a mistake
constexpr std::uint64_t kMostLayerBytes = std::uint64_t{1} << 46U;
constexpr std::size_t kLayerWords = 12;

struct NumberedLine {
  std::size_t number = 0;
  std::vector<std::string_view> words;
};

std::vector<NumberedLine> numbered_lines(std::string_view text) {
  std::vector<NumberedLine> lines;
  std::size_t number = 0;
  for (const std::string_view raw : split(text, '\n')) {
    ++number;
    NumberedLine line{number, {}};
    std::size_t at = 0;
    while (at < raw.size()) {
      const std::size_t begin = raw.find_first_not_of(" \t\r", at);
      if (begin == std::string_view::npos) break;
      at = std::min(raw.find_first_of(" \t\r", begin), raw.size());
      line.words.push_back(raw.substr(begin, at - begin));
    }
    if (!line.words.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

Error wrong_at(std::size_t line, std::string_view what, std::string_view expected,
               std::string_view found) {
  return parse_error(
      fmt::format("line {}: {}: expected {}, found '{}'", line, what, expected, found));
}

Result<std::uint64_t> whole(std::size_t line, std::string_view what, std::string_view word,
                            std::uint64_t least, std::uint64_t most) {
  const auto value = parse_u64(word);
  if (value && *value >= least && *value <= most) return *value;
  return wrong_at(line, what, fmt::format("a whole number from {} to {}", least, most), word);
}

struct CollectiveWord {
  std::string_view word;
  TraceCollective collective;
};
constexpr std::array<CollectiveWord, 5> kWords{{
    {"ALLREDUCE", TraceCollective::kAllReduce},
    {"ALLGATHER", TraceCollective::kAllGather},
    {"REDUCESCATTER", TraceCollective::kReduceScatter},
    {"ALLTOALL", TraceCollective::kAllToAll},
    {"BROADCAST", TraceCollective::kBroadcast},
}};

Result<std::optional<SimaiCommunication>> communication_of(std::size_t line, std::string_view what,
                                                           std::string_view word,
                                                           std::string_view size,
                                                           ParallelGroup own) {
  WEIR_TRY(bytes, whole(line, fmt::format("{} bytes", what), size, 0, kMostLayerBytes));
  if (word == "NONE" || bytes == 0) return std::optional<SimaiCommunication>();
  for (const CollectiveWord& known : kWords) {
    if (!word.starts_with(known.word)) continue;
    SimaiCommunication out{known.collective, own, Bytes::raw(static_cast<std::int64_t>(bytes))};
    const std::string_view suffix = word.substr(known.word.size());
    if (suffix == "_EP") out.group = ParallelGroup::kExpert;
    if (suffix == "_DP_EP") out.group = ParallelGroup::kDataExpert;
    if (suffix.empty() || suffix == "_EP" || suffix == "_DP_EP")
      return std::optional<SimaiCommunication>(out);
  }
  return wrong_at(line, what,
                  "NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL or BROADCAST, alone or with "
                  "_EP or _DP_EP",
                  word);
}

/// Three words: time, communication, bytes.
Result<SimaiPhase> phase_of(const NumberedLine& line, std::size_t first, std::string_view what,
                            ParallelGroup own) {
  WEIR_TRY(time, whole(line.number, fmt::format("{} time", what), line.words[first], 0,
                       kMostNanoseconds));
  WEIR_TRY(sent,
           communication_of(line.number, what, line.words[first + 1], line.words[first + 2], own));
  return SimaiPhase{Duration::raw(static_cast<std::int64_t>(time) * 1000), sent};
}

Result<SimaiLayer> layer_of(const NumberedLine& line) {
  if (line.words.size() < kLayerWords)
    return parse_error(
        fmt::format("line {}: expected a layer of {} words (name, dependency, three times time, "
                    "communication and bytes, update time), found {}",
                    line.number, kLayerWords, line.words.size()));
  SimaiLayer layer;
  layer.name = line.words[0];
  WEIR_TRY(forward, phase_of(line, 2, "forward", ParallelGroup::kTensor));
  WEIR_TRY(input, phase_of(line, 5, "input gradient", ParallelGroup::kTensor));
  WEIR_TRY(weight, phase_of(line, 8, "weight gradient", ParallelGroup::kData));
  WEIR_TRY(update, whole(line.number, "update time", line.words[11], 0, kMostNanoseconds));
  layer.forward = forward;
  layer.input_gradient = input;
  layer.weight_gradient = weight;
  layer.update = Duration::raw(static_cast<std::int64_t>(update) * 1000);
  return layer;
}

Status read_header(const NumberedLine& line, SimaiWorkload& out) {
  if (!line.words[0].starts_with("HYBRID_TRANSFORMER"))
    return wrong_at(line.number, "parallelism",
                    "HYBRID_TRANSFORMER or HYBRID_TRANSFORMER_FWD_IN_BCKWD", line.words[0]);
  struct Key {
    std::string_view word;
    std::uint32_t* value;
  };
  const std::array<Key, 4> keys{{{"model_parallel_NPU_group:", &out.tensor},
                                 {"ep:", &out.expert},
                                 {"pp:", &out.pipeline},
                                 {"all_gpus:", &out.gpus}}};
  for (std::size_t i = 1; i + 1 < line.words.size(); ++i)
    for (const Key& key : keys) {
      if (line.words[i] != key.word) continue;
      WEIR_TRY(value, whole(line.number, key.word, line.words[i + 1], 1, 0xFFFFFF));
      *key.value = static_cast<std::uint32_t>(value);
    }
  return {};
}

}  // namespace

Result<SimaiWorkload> read_simai(std::string_view text) {
  const std::vector<NumberedLine> lines = numbered_lines(text);
  if (lines.size() < 3)
    return parse_error(fmt::format("expected a header, a number of layers and the layers, found {}",
                                   counted(lines.size(), "line")));
  SimaiWorkload out;
  WEIR_TRY_STATUS(read_header(lines[0], out));
  WEIR_TRY(count, whole(lines[1].number, "number of layers", lines[1].words[0], 1, kMostLayers));
  if (lines.size() - 2 < count)
    return parse_error(fmt::format("line {}: {} layers are promised, {} found", lines[1].number,
                                   count, lines.size() - 2));
  for (std::size_t i = 0; i < count; ++i) {
    WEIR_TRY(layer, layer_of(lines[i + 2]));
    out.layers.push_back(std::move(layer));
  }
  return out;
}

}  // namespace weir::readers
