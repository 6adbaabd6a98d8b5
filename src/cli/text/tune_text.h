#pragma once
// A tuning on one page: what to change, what each change bought, what it costs, what does nothing.
#include <string>

#include "cli/frame/context.h"
#include "ops/tune/tune.h"

namespace weir::cli {

[[nodiscard]] std::string tune_verdict(const tune::TuneResult& result);
void print_tuned(const ops::Tuned& tuned, Context& context);
[[nodiscard]] std::string list_tune_knobs(std::size_t width);

}  // namespace weir::cli
