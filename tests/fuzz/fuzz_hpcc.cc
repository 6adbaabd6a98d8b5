// The input files of another simulator: the configuration names the others. The text is cut at
// lines of dashes into configuration, topology, flows and trace.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/check.h"
#include "scratch.h"
#include "sim/peer/hpcc.h"

namespace weir::sim {
namespace {

const std::string& folder() {
  static const std::string made = [] {
    const std::string path = scratch_path("hpcc");
    std::filesystem::create_directories(path);
    return path;
  }();
  return made;
}

void read_all(std::string_view text) {
  constexpr std::string_view kCut = "----\n";
  for (const char* const name : {"config.txt", "topology.txt", "flow.txt", "trace.txt"}) {
    const std::size_t end = text.find(kCut);
    std::ofstream(folder() + "/" + name, std::ios::trunc) << text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + kCut.size());
  }
  const std::string config = folder() + "/config.txt";
  for (const auto& run : {read_hpcc(config), read_hpcc_native(config)})
    if (!run) WEIR_CHECK(!run.error().what.empty());
}

}  // namespace
}  // namespace weir::sim

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weir::sim::read_all({reinterpret_cast<const char*>(data), size});
  return 0;
}
