// What hosts of a fleet print to the controller: any bytes may come for the answer of ssh -G, of
// weir apply --json, of weir rollback --json and of weir confirm --json. What is no answer is an
// error with words, and a status that no weir ends with is never taken for a success.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "host/fleet/reach.h"
#include "ops/change/fleet_change.h"
#include "ops/change/waves.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(static_cast<const char*>(static_cast<const void*>(data)), size);
  if (const auto target = weir::host::parse_ssh_answer(text)) {
    WEIR_CHECK(target->port <= 65535);
    WEIR_CHECK(!target->gate().empty());
  }
  const std::string_view errors = text.substr(0, text.find('\n'));
  for (const int status : {0, 6, 255}) {
    weir::ops::WaveHost host;
    weir::ops::read_apply_answer(status, text, errors, host);
    for (const weir::ops::FleetHostAnswer& answer :
         {weir::ops::read_rollback_answer(status, text, errors),
          weir::ops::read_confirm_answer(status, text, errors)}) {
      const bool is_failed = answer.state == weir::ops::FleetHostState::kFailed ||
                             answer.state == weir::ops::FleetHostState::kNoAnswer;
      WEIR_CHECK(!is_failed || !answer.detail.empty());
      WEIR_CHECK(status != 255 || is_failed);
    }
  }
  return 0;
}
