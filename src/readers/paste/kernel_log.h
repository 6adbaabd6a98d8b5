#pragma once
// The kernel's log, pasted or read on a host: which lines are a kernel's, which of them name a
// problem of a NIC, its PCIe path, GPUs or the machine, and whose.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "readers/paste/paste.h"

namespace weir::readers {

struct KernelLogLine {
  std::string_view host;     // where syslog put one in front
  std::string_view message;  // without host and time
};

/// "18:00.0", "0000:18:00.0".
[[nodiscard]] bool is_pci_address(std::string_view text);

/// A line as dmesg, syslog(2) or journalctl print it; nullopt for any other.
[[nodiscard]] std::optional<KernelLogLine> kernel_log_line(std::string_view text);
/// Whether a message begins with who says it ("mlx5_core 0000:18:00.0 eth2: …", "NVRM: …").
[[nodiscard]] bool has_kernel_speaker(std::string_view message);
/// A message of a driver without its time, as people cut it.
[[nodiscard]] bool is_bare_kernel_message(std::string_view text);

/// The problem that a message names; nullopt where it names none.
[[nodiscard]] std::optional<EventKind> kernel_event(std::string_view message);

/// "mlx5_core 0000:18:00.0 eth2: Link down": both may be empty.
struct KernelDevice {
  std::string address;
  std::string netdev;
};
[[nodiscard]] KernelDevice kernel_device(std::string_view message);

/// Seconds since the boot, of "[   12.345678] …"; nullopt where a line has another time or none.
[[nodiscard]] std::optional<double> seconds_since_boot(std::string_view line);

/// The lines of a log that name a problem, the last `most` of them.
[[nodiscard]] std::vector<std::string> problem_lines(std::string_view log, std::size_t most);

/// Such a line with nothing but its time, the driver, the PCI address, the interface where it is
/// one of `netdevs`, and the words of the table by which it was recognised: no name of a process, a
/// server or a file. Empty for a line that names no problem.
[[nodiscard]] std::string without_names(std::string_view line,
                                        const std::vector<std::string>& netdevs);

}  // namespace weir::readers
