#pragma once
// What each rail does now: the difference of two looks, per second.
#include <optional>
#include <string>
#include <vector>

#include "ops/source/hosts.h"
#include "units/quantity.h"

namespace weir::ops {

/// Absent where the counter is absent, or where the rail was not counted twice: never zero.
struct RailRates {
  std::string host;
  std::string device;
  std::string netdev;
  std::optional<unsigned> rail;
  std::optional<bool> up;
  std::optional<BitRate> speed;
  std::optional<double> sent;      // bits per second, of RDMA
  std::optional<double> received;  // ditto
  std::optional<double> paused;    // share of the time, of the priority that was paused longest
  std::optional<double> pausing;   // the same of the switch, paused by this NIC
  std::optional<double> marks;     // packets per second that arrived marked
  std::optional<double> cnps;      // handled per second: each slows this NIC down
  std::optional<double> losses;    // per second: NAKs, timeouts and discards
};

/// One row per NIC of the later look.
[[nodiscard]] std::vector<RailRates> rail_rates(const Observation& before,
                                                const Observation& after);

}  // namespace weir::ops
