#include "cli/frame/threshold_option.h"

namespace weir::cli {

Option threshold_option() {
  return {.name = "threshold",
          .metavar = "NAME=V",
          .help = "set a threshold (weir diagnose --list-thresholds)",
          .repeated = true};
}

Result<finding::Thresholds> thresholds_of(const Args& args) {
  finding::Thresholds thresholds;
  for (const std::string& assignment : args.all("threshold"))
    WEIR_TRY_STATUS(finding::set_threshold(assignment, thresholds));
  return thresholds;
}

}  // namespace weir::cli
