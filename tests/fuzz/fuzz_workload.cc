// What a user writes for `weir sim`: the first line is a workload and a fault, the rest a trace of
// flows, replayed on the smallest template.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "base/check.h"
#include "design/fabric/intent.h"
#include "design/file/load.h"
#include "design/file/templates.h"
#include "scratch.h"
#include "sim/fabric/from_design.h"
#include "sim/fault/fault.h"
#include "sim/workload/workload.h"
#include "sim/workload/workload_spec.h"

namespace weir::sim {
namespace {

const std::string& trace_file() {
  static const std::string path = scratch_path("trace");
  return path;
}

const Fabric& small_fabric() {
  static const Fabric made = [] {
    const design::Loaded loaded =
        design::load_text(std::string(design::find_template("pair")->text), "pair.yaml");
    const design::Derived derived = design::derive(loaded.design);
    auto fabric = build_network(loaded.design, derived.intent);
    WEIR_CHECK(fabric);
    return *fabric;
  }();
  return made;
}

void read_line(const std::string& line) {
  if (const auto spec = parse_workload(line); !spec) WEIR_CHECK(!spec.error().what.empty());
  if (const auto fault = parse_fault(line); !fault) WEIR_CHECK(!fault.error().what.empty());
}

void read_trace(std::string_view text) {
  std::ofstream(trace_file(), std::ios::trunc) << text;
  WorkloadSpec spec;
  spec.kind = WorkloadKind::kTrace;
  spec.file = trace_file();
  Fabric fabric = small_fabric();
  if (const auto added = Workloads::add(fabric, {spec}); !added)
    WEIR_CHECK(!added.error().what.empty());
}

}  // namespace
}  // namespace weir::sim

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = text.find('\n');
  weir::sim::read_line(std::string(text.substr(0, end)));
  if (end != std::string_view::npos) weir::sim::read_trace(text.substr(end + 1));
  return 0;
}
