#pragma once
// A host of a lab behind the interface that real hosts have too.
#include <cstdint>
#include <memory>

#include "host/host_io.h"
#include "lab/fabric/lab.h"

namespace weir::lab {

/// REQUIRES: `host` is an index into the intent's hosts.
[[nodiscard]] std::unique_ptr<host::HostIo> make_host(std::shared_ptr<Lab::Shared> shared,
                                                      std::uint32_t host);

}  // namespace weir::lab
