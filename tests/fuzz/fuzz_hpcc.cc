// The input files of another simulator: the configuration names the others. The text is cut at
// lines of dashes into configuration, topology, flows and trace.
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <unistd.h>

#include "base/check.h"
#include "sim/peer/hpcc.h"

namespace weir::sim {
namespace {

const std::string& folder() {
  static const std::string made = [] {
    const std::filesystem::path shm = "/dev/shm";
    std::error_code error;
    const std::string dir =
        (std::filesystem::is_directory(shm, error) ? shm : std::filesystem::temp_directory_path()) /
        ("weir-fuzz-hpcc-" + std::to_string(::getpid()));
    std::filesystem::create_directories(dir);
    return dir;
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
