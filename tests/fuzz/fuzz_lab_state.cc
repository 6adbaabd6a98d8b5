// The state of a lab, as a user may have edited it: it reads as a whole or not at all, and what
// reads is written and reads again.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/check.h"
#include "lab/fabric/state.h"
#include "scratch.h"

namespace weir::lab {
namespace {

constexpr std::string_view kDesign =
    "weir: 1\nname: pair\nhosts:\n  gpu: { names: \"gpu[1-2]\", nic: connectx6dx, stack: ofed }\n"
    "switches:\n  leaf: { names: leaf1, system: cumulus, asic: spectrum3 }\nlinks:\n"
    "  - { from: gpu, to: leaf, speed: 100G, cable: dac, length: 3m }\n";

/// One folder per process, in memory where there is such a place.
const Blueprint& blueprint() {
  static const Blueprint made = [] {
    const std::string dir = scratch_path("lab");
    std::filesystem::create_directories(dir);
    std::ofstream(design_file(dir)) << kDesign;
    auto loaded = load_blueprint(dir, design_file(dir));
    WEIR_CHECK(loaded.has_value());
    return std::move(loaded).value();
  }();
  return made;
}

/// With the digest of this design, which no fuzzer would find.
std::string with_digest(std::string text) {
  constexpr std::string_view kPlace = "@DESIGN@";
  if (const auto at = text.find(kPlace); at != std::string::npos)
    text.replace(at, kPlace.size(), blueprint().digest);
  return text;
}

void read_one(const std::string& text) {
  std::ofstream(state_file(blueprint().directory), std::ios::trunc) << text;
  const auto state = read_state(blueprint());
  if (!state) {
    WEIR_CHECK(!state.error().what.empty());
    return;
  }
  WEIR_CHECK(write_state(blueprint(), *state));
  WEIR_CHECK(read_state(blueprint()).has_value());
}

}  // namespace
}  // namespace weir::lab

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weir::lab::read_one(
      weir::lab::with_digest(std::string(reinterpret_cast<const char*>(data), size)));
  return 0;
}
