#pragma once
// Parsers of files that others wrote do not run as root.
//
// People type `sudo weir diagnose FILE` as they type everything else with sudo on a host. Before a
// verb that looks at files alone reads the first byte, the process gives up what it does not need,
// for good (no_new_privs):
//
// - One that prints becomes `nobody` and keeps the one capability to read what root may read
//   (CAP_DAC_READ_SEARCH: bundles are 0600).
// - One that writes files stays the user it is, so that they are its own, and also keeps
//   CAP_DAC_OVERRIDE (a home directory is another's); Landlock confines what it can make, change
//   and remove to the directories of its outputs. Kernels before 5.13 and those without Landlock do
//   not.
//
// Neither can start programs, open sockets, signal or trace others, open files by handle, make
// namespaces, type at its terminal or change owners, modes and times (seccomp, under every ABI of
// the machine). A parser that were taken over could then print, and write beside its outputs.
#include <string>
#include <vector>

#include "base/result.h"

namespace weir {

/// Gives up root; `places` are the directories under which the process may write (the nearest that
/// exists, where one does not), none: it only prints. Does nothing where the process is not root.
/// In a user namespace without a `nobody` the user stays and the capabilities go. An error where
/// even that is refused. REQUIRES: one thread.
[[nodiscard]] Status give_up_root(const std::vector<std::string>& places);

/// For a process that goes on to answer on a socket: `nobody` with the capability to read what root
/// may read (keys, a lab of root's). One that writes (a lab that runs a load) stays the user it is
/// and keeps what give_up_root() keeps; Landlock confines it to `places`. REQUIRES: one thread.
[[nodiscard]] Status give_up_root_to_serve(const std::vector<std::string>& places);

}  // namespace weir
