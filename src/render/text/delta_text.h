#pragma once
// Counters between two snapshots, for a terminal: which changed, at what rate, which wrapped or
// were reset, and in words who paused whom.
#include <cstdint>
#include <string>
#include <vector>

#include "counters/delta.h"

namespace weir::render {

/// A table of the counters that changed, with rates over `elapsed_ns`; empty where none did. Every
/// line ends with a newline.
[[nodiscard]] std::string delta_table(const counters::PortDelta& delta, std::int64_t elapsed_ns,
                                      std::size_t indent = 2);

/// How many counters changed: counted, wrapped, or were reset.
[[nodiscard]] std::size_t moved(const counters::PortDelta& delta);

/// A sentence for each direction and priority of PFC on a NIC: received pauses mean that the switch
/// or what is behind it is full, sent ones that this host is too slow.
[[nodiscard]] std::vector<std::string> pause_sentences(const counters::PortDelta& nic,
                                                       std::int64_t elapsed_ns);

/// "CPUs: 12 % busy, 3 % in soft interrupts."; empty without CPU counters. They belong to one NIC
/// of the host.
[[nodiscard]] std::string processor_sentence(const counters::PortDelta& nic);

/// "1.23k/s", "98.4G/s": an amount over the time.
[[nodiscard]] std::string rate_text(std::uint64_t amount, std::int64_t elapsed_ns);

}  // namespace weir::render
