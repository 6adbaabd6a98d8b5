// The results of a tuning that was interrupted (results.jsonl): what is there counts, so that
// anything may be there. The design's digest, which no fuzzer would find, stands for @DESIGN@. The
// first run of a file is made again to compare it: here only where it is that of the corpus, since
// a simulation takes as long as its order says.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/check.h"
#include "base/file.h"
#include "base/json.h"
#include "base/untrusted/json_parse.h"
#include "design/file/load.h"
#include "scratch.h"
#include "small_design.h"
#include "tune/evaluation.h"

namespace weir::tune {
namespace {

std::string with_digest(std::string text) {
  static const std::string digest =
      fmt::format("{:016x}", Variants(small_design()).design_digest());
  constexpr std::string_view kPlace = "@DESIGN@";
  for (auto at = text.find(kPlace); at != std::string::npos; at = text.find(kPlace, at))
    text.replace(at, kPlace.size(), digest);
  return text;
}

bool begins_with_another_run(const std::string& text) {
  const auto document = parse_json(text.substr(0, text.find('\n')));
  if (!document) return false;
  const auto order = run_order_from_json(*document);
  if (!order) return false;
  const RunOrder own = {.loads = {"incast,size=50KB"}, .seed = 1, .limit = 100_ms};
  return to_json(*order) != to_json(own);
}

void read_all(const std::string& text) {
  if (begins_with_another_run(text)) return;
  static const std::string path = scratch_path("results");
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary) << text;
  Evaluator evaluator(small_design(), 1);
  const Status kept = evaluator.keep_results(path, true);
  const auto after = read_file(path);
  WEIR_CHECK(after.has_value());
  // What is refused is left as it was; of what is taken over, a last line without an end goes.
  WEIR_CHECK(kept ? text.starts_with(*after) && (after->empty() || after->ends_with('\n'))
                  : *after == text && !kept.error().what.empty());
}

}  // namespace
}  // namespace weir::tune

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weir::tune::read_all(
      weir::tune::with_digest(std::string(reinterpret_cast<const char*>(data), size)));
  return 0;
}
