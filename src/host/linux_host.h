#pragma once
// A Linux machine behind HostIo: this one, or one from a capture.
#include <memory>
#include <string>

#include "base/result.h"
#include "host/host_io.h"
#include "host/kernel.h"

namespace weir::host {

/// The machine this runs on. Never fails here; observe() says what stands in the way.
[[nodiscard]] std::unique_ptr<HostIo> make_linux_host();

/// A captured machine (kernel_replay.h): facts and counters as they were; nothing can be changed or
/// run on it.
[[nodiscard]] Result<std::unique_ptr<HostIo>> open_captured_host(const std::string& directory);

/// On any kernel; `capture` is empty for the running one and says where it came from otherwise.
[[nodiscard]] std::unique_ptr<HostIo> make_host(std::unique_ptr<Kernel> kernel,
                                                std::string capture);

}  // namespace weir::host
