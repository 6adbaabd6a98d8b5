#pragma once
// Counters of the machine around its NICs: processor time, TCP, marks that IP saw, GPUs; and of a
// network device as rtnetlink has them.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "counters/snapshot.h"
#include "host/kernel/kernel.h"
#include "host/linux/text.h"

namespace weir::host {

struct ProcessorTime {  // ticks since boot, of all processors together
  std::uint64_t all = 0;
  std::uint64_t busy = 0;     // neither idle nor waiting for a disk
  std::uint64_t softirq = 0;  // where the kernel's network stack runs
  friend bool operator==(const ProcessorTime&, const ProcessorTime&) = default;
};
/// /proc/stat.
[[nodiscard]] Parsed<ProcessorTime> parse_processor_time(std::string_view text);

/// /proc/net/snmp and /proc/net/netstat: a line of names and a line of numbers, both after
/// `section`, "Tcp:". Absent where the kernel does not count it.
[[nodiscard]] Parsed<std::uint64_t> parse_protocol_counter(std::string_view text,
                                                           std::string_view section,
                                                           std::string_view name);

/// "97,100": percent of each GPU, as about("gpu_busy") says it; the mean of them.
[[nodiscard]] Parsed<std::uint64_t> parse_gpu_busy(std::string_view text);

/// All of it, as samples of Place::kHost. What is not there is left out.
void add_machine_counters(Kernel& kernel, std::vector<counters::Sample>& samples);

/// The kernel's own counters of a network device: one question in place of two dozen files.
[[nodiscard]] Answer<std::vector<counters::Sample>> read_link_statistics(
    Kernel& kernel, const std::string& net_folder);
[[nodiscard]] Parsed<std::vector<counters::Sample>> parse_link_statistics(std::string_view message);

}  // namespace weir::host
