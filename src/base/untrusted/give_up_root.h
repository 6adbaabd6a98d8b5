#pragma once
// Parsers of files that others wrote do not run as root.
//
// People type `sudo weir diagnose FILE` as they type everything else with sudo on a host. Before a
// verb that only reads files looks at the first byte, the process gives up what it does not need:
// it becomes `nobody`, keeps the one capability to read what root may read (CAP_DAC_READ_SEARCH:
// bundles are 0600), can gain nothing back (no_new_privs), and can neither start programs nor open
// sockets nor trace others (seccomp). A parser that were taken over could then print, and no more.
#include "base/result.h"

namespace weir {

/// Gives up root, for good. Does nothing where the process is not root. In a user namespace without
/// a `nobody` the user stays and the capabilities go. An error where even that is refused.
[[nodiscard]] Status give_up_root();

}  // namespace weir
