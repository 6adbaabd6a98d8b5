#pragma once
// The kernel this program runs on; no child process.
#include <memory>

#include "host/kernel/kernel.h"

namespace weir::host {

[[nodiscard]] std::unique_ptr<Kernel> make_live_kernel();

}  // namespace weir::host
