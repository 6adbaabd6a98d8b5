#pragma once
// What counters did between two snapshots, for a terminal: what moved, how fast, which numbers
// wrapped or began again, and in words who paused whom.
#include <cstdint>
#include <string>
#include <vector>

#include "counters/delta.h"

namespace weir::render {

/// A table of everything that moved or changed its kind, `elapsed_ns` giving the rates; empty where
/// nothing did. Every line ends with a newline.
[[nodiscard]] std::string delta_table(const counters::PortDelta& delta, std::int64_t elapsed_ns,
                                      std::size_t indent = 2);

/// Counters that moved: counted more than zero, wrapped, or started again.
[[nodiscard]] std::size_t moved(const counters::PortDelta& delta);

/// A sentence for each direction and priority of PFC on a NIC: received pauses mean that the switch
/// or what is behind it is full, sent ones that this host is too slow.
[[nodiscard]] std::vector<std::string> pause_sentences(const counters::PortDelta& nic,
                                                       std::int64_t elapsed_ns);

/// "The processors were busy 12 % of the time, 3 % of it in soft interrupts."; empty where nobody
/// counted. The NIC that carries the machine's counters has it.
[[nodiscard]] std::string processor_sentence(const counters::PortDelta& nic);

/// "1.23k/s", "98.4G/s": an amount over the time.
[[nodiscard]] std::string rate_text(std::uint64_t amount, std::int64_t elapsed_ns);

}  // namespace weir::render
