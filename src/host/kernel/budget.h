#pragma once
// A kernel for a limited time: what is asked after the budget is spent answers ETIMEDOUT at once,
// so that one firmware that hangs leaves the facts of the others, and says which are missing. A
// read that never returns is beyond it.
#include <memory>

#include "host/kernel/kernel.h"
#include "units/quantity.h"

namespace weir::host {

/// Counted from now, by the clock of `inner`, which outlives it; one without a clock (a capture)
/// has no budget.
[[nodiscard]] std::unique_ptr<Kernel> make_budget_kernel(Kernel& inner, Duration budget);

}  // namespace weir::host
