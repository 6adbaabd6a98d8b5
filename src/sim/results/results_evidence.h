#pragma once
// A simulated host or fabric as an observer would have written it down. See results.h.
#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "counters/layout.h"
#include "design/fabric/intent.h"
#include "evidence/evidence.h"
#include "sim/engine/sim.h"
#include "sim/fabric/placement.h"

namespace weir::sim {

/// The driver's name for a counter, and the priority, queue … in it.
struct CounterName {
  const counters::RawName* raw = nullptr;
  unsigned number = 0;
  friend auto operator<=>(const CounterName&, const CounterName&) = default;
};

/// Layouts of counters by the names that were added, in that order: spelled out once for all ports
/// that count the same.
class LayoutsByNames {
 public:
  struct Entry {
    counters::SharedLayout layout;
    std::vector<std::uint32_t> positions;  // in the layout, by the order in which names were added
  };
  const Entry& of(counters::Driver driver, const std::vector<CounterName>& names);
  /// Null where the driver does not show the counter.
  const counters::RawName* name_of(counters::Driver driver, std::string_view id);

 private:
  std::map<std::pair<counters::Driver, std::vector<CounterName>>, Entry> entries_;
  std::map<counters::Driver, std::unordered_map<std::string_view, const counters::RawName*>> names_;
};

/// Work requests of a NIC: those it answered, and its own that failed.
struct Requests {
  std::uint64_t writes = 0;
  std::uint64_t reads = 0;
  std::uint64_t errors = 0;
  std::uint64_t flushes = 0;
};

/// A simulated fabric, and what all its observations share. Make one for all hosts of a fabric: it
/// takes time in proportion to the fabric.
class EvidenceSource {
 public:
  EvidenceSource(const design::Intent& intent_, const Placement& placement_, const Sim& sim_,
                 Time end_);

  const design::Intent& intent;
  const Placement& placement;
  const Sim& sim;
  Time end;                     // of the observation
  Table<PortId, PortId> peers;  // the port at the other end of each port
  Table<NodeId, Requests> requests;
  LayoutsByNames layouts;
};

/// The port at the other end of each port.
[[nodiscard]] Table<PortId, PortId> peers_of(const Sim& sim);

/// What the NIC's RDMA engine sent and took: all frames that are no socket's.
struct RdmaTraffic {
  std::uint64_t rx_packets = 0;
  std::uint64_t rx_bytes = 0;
  std::uint64_t tx_packets = 0;
  std::uint64_t tx_bytes = 0;
};
[[nodiscard]] RdmaTraffic rdma_of(const PortCounters& port, const NicCounters& nic);

[[nodiscard]] evidence::Evidence host_evidence(EvidenceSource& source, std::uint32_t host);
[[nodiscard]] evidence::Evidence switch_evidence(EvidenceSource& source);
/// The counters of that evidence alone, at its end: by rail, and switch by switch.
[[nodiscard]] std::vector<counters::PortCounters> host_counters(EvidenceSource& source,
                                                                std::uint32_t host);
[[nodiscard]] std::vector<counters::PortCounters> switch_counters(EvidenceSource& source);

}  // namespace weir::sim
