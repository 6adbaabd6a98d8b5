// Files beside a tuning: its result, and the blocks that were measured on a live fabric. Any file
// may come; a result that reads is written and reads again as the same.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/json.h"
#include "ops/tune/block_file.h"
#include "ops/tune/result_file.h"
#include "scratch.h"

namespace weir::ops {
namespace {

void read_all(std::string_view data) {
  static const std::string path = scratch_path("tune");
  std::ofstream(path, std::ios::binary)
      .write(data.data(), static_cast<std::streamsize>(data.size()));
  if (const auto result = read_tune_result(path)) {
    const Json written = tune::to_json(*result);
    const auto again = tune::tune_result_from_json(written);
    WEIR_CHECK(again.has_value());
    WEIR_CHECK(tune::to_json(*again) == written);
  } else {
    WEIR_CHECK(!result.error().what.empty());
  }
  auto parts = read_block_file(path);
  if (!parts) {
    WEIR_CHECK(!parts.error().what.empty());
  } else if (const auto block = make_block("01-A", std::move(*parts)); !block) {
    WEIR_CHECK(!block.error().what.empty());
  }
}

}  // namespace
}  // namespace weir::ops

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weir::ops::read_all(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
