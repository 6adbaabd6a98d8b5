// Files of jobs: Chakra traces (of two ranks, cut at a line of dashes), SimAI workloads, lists of
// nccl-tests, groups of ranks and training scripts; each read, and made into a graph where it can.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "base/check.h"
#include "readers/job/training_job.h"
#include "readers/workload/chakra.h"
#include "scratch.h"
#include "sim/workload/job_graph.h"

namespace weir::sim {
namespace {

void write_file_for(const std::string& path, std::string_view content) {
  std::ofstream(path, std::ios::trunc | std::ios::binary) << content;
}

void make_graph(WorkloadKind kind, const std::string& file) {
  WorkloadSpec spec;
  spec.kind = kind;
  spec.file = file;
  spec.inside = BitRate::raw(3'600'000'000'000);
  const auto graph = job_graph(spec, {0, 1});
  if (!graph) WEIR_CHECK(!graph.error().what.empty());
}

void read_all(std::string_view text) {
  constexpr std::string_view kCut = "----\n";
  const std::string base = scratch_path("job_files");
  const std::size_t cut = text.find(kCut);
  write_file_for(base + ".0.et", text.substr(0, cut));
  write_file_for(base + ".1.et",
                 cut == std::string_view::npos ? text : text.substr(cut + kCut.size()));
  make_graph(WorkloadKind::kChakra, base);
  write_file_for(base, text);
  make_graph(WorkloadKind::kSimai, base);
  make_graph(WorkloadKind::kNcclTests, base);
  if (const auto groups = readers::read_rank_groups(text, "groups"); !groups)
    WEIR_CHECK(!groups.error().what.empty());
  (void)readers::read_training_job(text);
}

}  // namespace
}  // namespace weir::sim

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weir::sim::read_all({reinterpret_cast<const char*>(data), size});
  return 0;
}
