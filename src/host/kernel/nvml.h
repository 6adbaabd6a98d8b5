#pragma once
// How busy the GPUs are, from NVIDIA's management library where it is there. Opened at run time:
// nothing of Weir needs it.
#include <string>

#include "host/kernel/kernel.h"

namespace weir::host {

/// "97,100": percent of the last sampling period, one number per GPU. ENOENT where there is no such
/// library; EIO where it does not answer.
[[nodiscard]] Answer<std::string> read_gpu_busy();

}  // namespace weir::host
