#include "ops/tune/judge.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "ops/tune/block_file.h"
#include "ops/tune/result_file.h"

namespace weir::ops {
namespace {

namespace fs = std::filesystem;

enum class BlockSide { kBefore, kAfter };

/// "03-B.start.json" is block 3, with the change.
struct BlockName {
  std::uint64_t number = 0;
  BlockSide side = BlockSide::kBefore;

  friend auto operator<=>(const BlockName&, const BlockName&) = default;
};

std::string to_text(const BlockName& name) {
  return fmt::format("{:02}-{}", name.number, name.side == BlockSide::kBefore ? 'A' : 'B');
}

std::optional<BlockName> parse_block_name(const std::string& file) {
  const std::size_t digits = std::min(file.find_first_not_of("0123456789"), file.size());
  const auto number = parse_u64(std::string_view(file).substr(0, digits));
  if (!number) return std::nullopt;
  std::string_view rest = std::string_view(file).substr(digits);
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '_')) rest.remove_prefix(1);
  if (rest.empty()) return std::nullopt;
  const char letter = rest.front();
  const bool is_before = letter == 'A' || letter == 'a';
  if (!is_before && letter != 'B' && letter != 'b') return std::nullopt;
  const auto is_alphanumeric = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  if (rest.size() > 1 && is_alphanumeric(rest[1])) return std::nullopt;  // "01-after"
  return BlockName{*number, is_before ? BlockSide::kBefore : BlockSide::kAfter};
}

std::vector<fs::path> listed(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator();
       at.increment(error))
    out.push_back(at->path());
  std::sort(out.begin(), out.end());
  return out;
}

using BlocksByName = std::map<BlockName, std::vector<BlockPart>>;

weir::Status add_block_file(const fs::path& path, std::vector<BlockPart>& into) {
  WEIR_TRY(parts, read_block_file(path.string()));
  into.insert(into.end(), std::make_move_iterator(parts.begin()),
              std::make_move_iterator(parts.end()));
  return {};
}

struct Folder {
  std::vector<tune::BlockPair> pairs;
  std::vector<std::string> ignored;
};

weir::Result<BlocksByName> blocks_in(const std::string& folder, std::vector<std::string>& ignored) {
  BlocksByName blocks;
  for (const fs::path& path : listed(folder)) {
    const auto name = parse_block_name(path.filename().string());
    if (!name) {
      ignored.push_back(path.filename().string());
      continue;
    }
    std::vector<BlockPart>& into = blocks[*name];
    if (!is_directory(path.string())) {
      WEIR_TRY_STATUS(add_block_file(path, into));
      continue;
    }
    for (const fs::path& inside : listed(path))
      WEIR_TRY_STATUS(add_block_file(inside, into));
  }
  return blocks;
}

/// Every two neighbours are a pair: A B, B A, A B …
weir::Result<Folder> read_folder(const std::string& folder) {
  Folder out;
  WEIR_TRY(blocks, blocks_in(folder, out.ignored));
  if (blocks.empty())
    return invalid_error(fmt::format(
        "{}: expected blocks named by number and letter, A without the change, B with it: 01-A, "
        "02-B, 03-B, 04-A; found none",
        folder));
  std::optional<std::pair<BlockName, tune::Block>> first;
  for (auto& [name, parts] : blocks) {
    WEIR_TRY(block, make_block(to_text(name), std::move(parts)));
    if (!first) {
      first.emplace(name, std::move(block));
      continue;
    }
    if (first->first.side == name.side)
      return invalid_error(fmt::format(
          "{}: {} and {} follow each other; every two blocks are compared, so one of them must be "
          "A and one B, in the order A B B A",
          folder, to_text(first->first), to_text(name)));
    const bool is_after = name.side == BlockSide::kAfter;
    tune::Block& other = first->second;
    out.pairs.push_back(is_after ? tune::BlockPair{std::move(other), std::move(block)}
                                 : tune::BlockPair{std::move(block), std::move(other)});
    first.reset();
  }
  if (first)
    return invalid_error(fmt::format("{}: {} has no other block to be compared with", folder,
                                     to_text(first->first)));
  return out;
}

/// A result is a block; two snapshots, one after the other, are one.
weir::Result<std::vector<tune::Block>> blocks_of(const std::vector<std::string>& files) {
  std::vector<tune::Block> out;
  for (const std::string& file : files) {
    WEIR_TRY(parts, read_block_file(file));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::string name = parts[i].origin;
      std::vector<BlockPart> own;
      own.push_back(std::move(parts[i]));
      if (!own.front().captures.empty() && i + 1 < parts.size() && !parts[i + 1].captures.empty())
        own.push_back(std::move(parts[++i]));
      WEIR_TRY(block, make_block(name, std::move(own)));
      out.push_back(std::move(block));
    }
  }
  return out;
}

weir::Result<std::vector<tune::BlockPair>> read_pairs(const std::vector<std::string>& paths) {
  const auto middle = paths.begin() + static_cast<std::ptrdiff_t>(paths.size() / 2);
  WEIR_TRY(before, blocks_of({paths.begin(), middle}));
  WEIR_TRY(after, blocks_of({middle, paths.end()}));
  if (before.size() != after.size())
    return invalid_error(fmt::format(
        "{} without the change and {} with it: each is compared with the other of its number",
        counted(before.size(), "block"), after.size()));
  std::vector<tune::BlockPair> pairs;
  for (std::size_t i = 0; i < before.size(); ++i)
    pairs.push_back({std::move(before[i]), std::move(after[i])});
  return pairs;
}

weir::Result<tune::Prediction> read_prediction(const JudgeRequest& request) {
  WEIR_TRY(result, read_tune_result(request.predicted));
  tune::Prediction out;
  out.objective = result.objective;
  out.origin = request.predicted;
  out.change = result.gain;
  if (request.knob.empty()) {
    if (result.verdict != tune::Verdict::kTuned)
      return invalid_error(fmt::format("{}: predicts nothing: {}", request.predicted,
                                       tune::to_text(result.verdict)));
    return out;
  }
  std::vector<std::string> known;
  for (const tune::Bought& bought : result.bought) {
    known.push_back(bought.knob);
    if (bought.knob != request.knob) continue;
    out.change = bought.objective;
    out.origin += ", " + bought.knob;
    return out;
  }
  return invalid_error(fmt::format("--knob: '{}' is no change of {}{}", request.knob,
                                   request.predicted, did_you_mean(request.knob, known)));
}

}  // namespace

Result<tune::Judged> judge_blocks(const JudgeRequest& request) {
  tune::JudgeOptions options{
      .goal = request.goal, .prediction = {}, .thresholds = request.thresholds};
  if (!request.predicted.empty()) {
    WEIR_TRY(prediction, or_bad_input(read_prediction(request)));
    options.prediction = std::move(prediction);
  }
  if (request.paths.size() == 1 && !file_exists(request.paths.front()))
    return bad_input(fmt::format("{}: no such directory of blocks", request.paths.front()));
  if (request.paths.size() == 1 && is_directory(request.paths.front())) {
    WEIR_TRY(folder, or_bad_input(read_folder(request.paths.front())));
    WEIR_TRY(judged, or_bad_input(tune::judge(folder.pairs, options)));
    if (!folder.ignored.empty())
      judged.notes.push_back(
          fmt::format("not read, since no block is named so: {}", join(folder.ignored, ", ")));
    return judged;
  }
  if (request.paths.size() % 2 != 0)
    return bad_request(
        "expected one directory of blocks, or files: those without the change, then as many with "
        "it");
  WEIR_TRY(pairs, or_bad_input(read_pairs(request.paths)));
  WEIR_TRY(judged, or_bad_input(tune::judge(pairs, options)));
  judged.notes.emplace_back(
      "files do not say in which order the blocks ran: if all without the change came first, what "
      "drifted since counts as the change");
  return judged;
}

}  // namespace weir::ops
