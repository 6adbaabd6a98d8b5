#pragma once
// A look at a host that has nothing but a POSIX shell with cat, readlink and uname: the files of
// sysfs and procfs as a bundle. What only netlink and ioctl tell (the QoS of most drivers,
// ethtool's counters) is not in it, and hence unknown: never wrong, and never healthy either.
#include <string>

namespace weir::host {

/// One line without quotes ' and without '!', so that the login shell of the far side, whichever it
/// is, passes it on whole. $WEIR_SYSROOT is in front of every path that is read; for tests.
[[nodiscard]] std::string collector_line();

}  // namespace weir::host
