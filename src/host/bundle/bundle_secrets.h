#pragma once
// What leaves a host in a bundle, and what never does.
//
// Two gates, whether names are kept or not: an allow-list of the files that Weir reads, so that a
// file that a later version reads is not sent before someone has thought of it; and, in what people
// write by hand (nccl.conf, the kernel's command line, os-release), only settings that are known,
// with values that are documented.
#include <string>
#include <string_view>
#include <vector>

#include "host/bundle/bundle.h"

namespace weir::host {

/// True for files below /sys and /proc that Weir reads, and the few of /etc, /run and $HOME.
[[nodiscard]] bool may_leave(std::string_view path);

/// nccl.conf with the variables of NCCL and UCX alone; a value that is not one of those which the
/// documentation of its variable gives is "(left out)". `devices`: names of this host's NICs, as
/// values of variables that name some.
[[nodiscard]] std::string conf_without_secrets(std::string_view content,
                                               const std::vector<std::string>& devices = {});
/// Words about devices, memory and processors with the values that the kernel documents; any other
/// value is "(left out)", any other word is gone; "-" where there are none.
[[nodiscard]] std::string short_command_line(std::string_view content);

/// os-release(5) with PRETTY_NAME alone, which is all that is read of it; one that is no name of a
/// distribution is "(left out)".
[[nodiscard]] std::string short_os_release(std::string_view content);

/// Takes out of a bundle what must not leave; names (paths) of what was changed or taken out.
std::vector<std::string> withhold(Bundle& bundle);

/// One thing that leaves the host, for people to read before it does.
struct Leaving {
  std::string kind;  // "file", "list", "path", "about", "talk"
  std::string name;
  std::size_t bytes = 0;
};
[[nodiscard]] std::vector<Leaving> leaving(const Bundle& bundle);

}  // namespace weir::host
