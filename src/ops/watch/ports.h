#pragma once
// Every port that is watched, of hosts and switches, with what it did between two looks and what is
// at the other end of its cable. What the live page draws; rails of `weir top` are its NICs.
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "evidence/evidence.h"
#include "ops/watch/rates.h"

namespace weir::ops {

struct WatchedPort : Rates {
  std::string device;  // host or switch
  std::string name;    // "mlx5_0", "swp1"
  int tier = 0;        // 0: a host; 1: leaf, 2: spine …; of a switch without a design 1
  std::optional<unsigned> rail = {};  // of a NIC
  std::optional<std::size_t> peer = {};
  std::string neighbour = {};  // its name, where it is not watched
  std::optional<bool> up = {};
  std::optional<BitRate> speed = {};

  /// What it sent of what it could.
  [[nodiscard]] std::optional<double> used() const;
};

/// NICs host by host, then ports switch by switch. Evidence with several snapshots has rates of the
/// time between the first and the last.
[[nodiscard]] std::vector<WatchedPort> watched_ports(const std::vector<evidence::Evidence>& seen,
                                                     const design::Intent* intent);
/// The same of one look after the other. Keeps the counters of the last: of a thousand hosts they
/// are hundreds of megabytes, and are not copied.
class PortWatch {
 public:
  [[nodiscard]] std::vector<WatchedPort> next(Observation seen, const design::Intent* intent);

 private:
  std::map<std::string, counters::Snapshot> before_;  // by host; "" for the switches
};

}  // namespace weir::ops
