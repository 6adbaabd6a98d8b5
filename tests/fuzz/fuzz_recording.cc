// A recorded run for the live page: a folder of snapshots, one after the other, beside a design.
// The input is cut at lines of dashes into the files of the folder. Times go wherever the files
// say, and are shown as they are.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/check.h"
#include "counters/delta.h"
#include "ops/source/snapshot_file.h"
#include "ops/watch/replay.h"
#include "scratch.h"

namespace weir::ops {
namespace {

constexpr std::size_t kMostFiles = 4;

const std::string& folder() {
  static const std::string made = [] {
    const std::string path = scratch_path("recording");
    std::filesystem::create_directories(path);
    return path;
  }();
  return made;
}

std::vector<std::string> write_files(std::string_view text) {
  constexpr std::string_view kCut = "\n----\n";
  std::vector<std::string> files;
  for (std::size_t i = 0; i < kMostFiles; ++i) {
    const std::string file = folder() + "/" + std::to_string(i) + ".json";
    std::filesystem::remove(file);
    if (text.empty()) continue;
    const std::size_t end = text.find(kCut);
    std::ofstream(file, std::ios::binary) << text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + kCut.size());
    files.push_back(file);
  }
  return files;
}

/// As `weir diff` and a calibration compare two looks at a host.
void compare(const std::string& before, const std::string& after) {
  const auto first = read_snapshot_file(before);
  const auto second = read_snapshot_file(after);
  if (!first || !second) return;
  for (const evidence::Evidence& a : *first)
    for (const evidence::Evidence& b : *second)
      if (!a.snapshots.empty() && !b.snapshots.empty())
        (void)counters::difference(a.snapshots.front(), b.snapshots.back()).has_value();
}

void replay(const ReplayRequest& request) {
  const auto read = read_replay(request);
  if (!read) {
    WEIR_CHECK(!read.error().what.empty());
    return;
  }
  WEIR_CHECK(!read->moments.empty());
}

void read_all(std::string_view text) {
  const std::vector<std::string> files = write_files(text);
  replay({.path = folder()});
  if (files.empty()) return;
  replay({.path = files.front()});
  if (files.size() >= 2) compare(files[0], files[1]);
}

}  // namespace
}  // namespace weir::ops

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weir::ops::read_all({reinterpret_cast<const char*>(data), size});
  return 0;
}
