// What a host prints for the loads that it was given (ops/verify/host_load.h): it may print
// anything. A load has an outcome for each task, none says more than was printed, and the reasons
// are lines of it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "ops/verify/host_load.h"

namespace weir::ops {
namespace {

void read_output(std::string_view text, std::size_t tasks) {
  const std::vector<TaskOutcome> outcomes = read_load_output(text, tasks);
  WEIR_CHECK(outcomes.size() == tasks);
  std::size_t said = 0;
  for (const TaskOutcome& task : outcomes) {
    WEIR_CHECK(task.status >= kDidNotSay && task.status <= 255);
    said += task.text.size();
    FlowOutcome flow;
    flow.client_status = task.status;
    flow.client = task.text;
    WEIR_CHECK(flow_rate(flow) >= 0);
    WEIR_CHECK(!failure_text("gpu1", "gpu2", {}, flow).empty());
  }
  WEIR_CHECK(said <= text.size() + 1);  // the last line may have no end
}

}  // namespace
}  // namespace weir::ops

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::size_t tasks : {std::size_t{0}, std::size_t{1}, std::size_t{3}})
    weir::ops::read_output(text, tasks);
  return 0;
}
