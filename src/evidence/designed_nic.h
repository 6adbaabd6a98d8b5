#pragma once
// Which NIC of a host a design means. A host that was read shows its RDMA devices, and a device of
// another name is another one. A text may show a NIC by its network interface alone.
#include <string_view>

#include "design/fabric/intent.h"
#include "evidence/evidence.h"

namespace weir::evidence {

/// What the design wants of this NIC; null where it means none like it. `netdev` may be empty.
[[nodiscard]] const design::NicIntent* designed_nic(const design::HostIntent& host, Origin origin,
                                                    std::string_view device,
                                                    std::string_view netdev);
[[nodiscard]] const design::NicIntent* designed_nic(const design::HostIntent& host, Origin origin,
                                                    const Nic& nic);

/// The other way round; `wanted` is one of the NICs of `host`.
[[nodiscard]] const Nic* find_designed(const Evidence& found, const design::HostIntent& host,
                                       const design::NicIntent& wanted);

}  // namespace weir::evidence
