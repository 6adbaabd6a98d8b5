// The history of baselines, a SQLite file that lies where others may write: any bytes may be there.
// It is read as `weir baseline list` and `weir top` read it, and never changed by that; then
// written to as a new run is.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/file.h"
#include "scratch.h"
#include "store/history.h"

namespace weir::store {
namespace {

template <typename Rows>
void check(const Result<Rows>& rows) {
  if (!rows) WEIR_CHECK(!rows.error().what.empty());
}

void read_one(const std::string& path) {
  auto history = History::open(path, Access::kRead);
  check(history);
  if (!history) return;
  const auto runs = history->runs();
  check(runs);
  if (runs && !runs->empty()) check(history->trends(runs->front().design_digest));
  check(history->last_comparisons());
}

void write_one(const std::string& path) {
  auto history = History::open(path, Access::kWrite, true);
  check(history);
  if (!history) return;
  preflight::Report report = preflight::empty_report();
  report.identity.digest = "d";
  report.stages.front().measures.push_back({.metric = "pair_bandwidth", .subject = "gpu1 rail 0"});
  report.stages.front().measures.back().values.count = 1;
  check(history->add_run(report));
}

void read_all(const std::string& bytes) {
  static const std::string path = scratch_path("history");
  for (const char* const beside : {"", "-journal", "-wal", "-shm"})
    std::filesystem::remove(path + beside);
  std::ofstream(path, std::ios::binary) << bytes;
  read_one(path);
  const auto after = read_file(path);
  WEIR_CHECK(after.has_value() && *after == bytes);
  write_one(path);
}

}  // namespace
}  // namespace weir::store

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weir::store::read_all(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
