#pragma once
// A Linux machine behind HostIo: this one, or one from a capture.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/host_io.h"
#include "host/kernel/kernel.h"

namespace weir::host {

/// Devices of which no file is opened: firmware that answers slowly, or logs every read.
using ExcludedDevices = std::vector<std::string>;

/// The machine this runs on. Never fails here; observe() says what is in the way.
[[nodiscard]] std::unique_ptr<HostIo> make_linux_host(ExcludedDevices excluded = {});

/// Whether this machine shows an RDMA device at all.
[[nodiscard]] bool has_rdma_device();

/// A captured machine, a directory (kernel_replay.h) or a bundle (bundle.h): facts and counters as
/// they were; nothing can be changed or run on it. A bundle with a second look has two snapshots.
[[nodiscard]] Result<std::unique_ptr<HostIo>> open_captured_host(const std::string& path,
                                                                 ExcludedDevices excluded = {});
/// A bundle whose text is at hand; `name` says where it came from.
[[nodiscard]] Result<std::unique_ptr<HostIo>> open_bundle(std::string_view text,
                                                          const std::string& name,
                                                          ExcludedDevices excluded = {});

/// What a path names: itself where it is a capture or a bundle, else the bundles in the directory,
/// by name. An error where there is none.
[[nodiscard]] Result<std::vector<std::string>> find_captures(const std::string& path);

/// On any kernel; `capture` is empty for the running one and says where it came from otherwise.
/// `later`, where there is one, has the counters a while later.
[[nodiscard]] std::unique_ptr<HostIo> make_host(std::unique_ptr<Kernel> kernel, std::string capture,
                                                std::unique_ptr<Kernel> later = nullptr,
                                                ExcludedDevices excluded = {});

}  // namespace weir::host
