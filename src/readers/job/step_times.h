#pragma once
// The time of every step of a training job: a file with one time per line, or the log of
// Megatron-LM ("… | elapsed time per iteration (ms): 412.5 | …").
#include <string_view>
#include <vector>

#include "units/quantity.h"

namespace weir::readers {

/// In the order of the text. Empty where it holds none, and where a line of a plain list is no time
/// ("412ms", "0.41s"): half a list would be another measurement. Blank lines and lines that begin
/// with '#' are passed over.
[[nodiscard]] std::vector<Duration> read_step_times(std::string_view text);

}  // namespace weir::readers
