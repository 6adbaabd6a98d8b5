#pragma once
// What each rail does now: the difference of two looks, per second.
#include <optional>
#include <string>
#include <vector>

#include "counters/delta.h"
#include "ops/source/hosts.h"
#include "units/quantity.h"

namespace weir::ops {

/// What a port did per second, or as a share of the time. Absent where the counter is absent, or
/// where the port was not counted twice: never zero.
struct Rates {
  std::optional<double> sent = {};      // bits per second; of a NIC: of RDMA
  std::optional<double> received = {};  // ditto
  std::optional<double> paused = {};   // share of the time, of the priority that was paused longest
  std::optional<double> pausing = {};  // the same of the other end, paused by this port
  std::optional<double> marks = {};    // packets per second that arrived marked, or were marked
  std::optional<double> cnps = {};     // handled per second: each slows this NIC down
  std::optional<double> losses = {};   // per second: NAKs, timeouts and discards
};

struct RailRates : Rates {
  std::string host;
  std::string device;
  std::string netdev;
  std::optional<unsigned> rail;
  std::optional<bool> up;
  std::optional<BitRate> speed;
};

/// REQUIRES: elapsed_ns > 0.
[[nodiscard]] Rates nic_rates(const counters::PortDelta& delta, std::int64_t elapsed_ns);
[[nodiscard]] Rates switch_port_rates(const counters::PortDelta& delta, std::int64_t elapsed_ns);

/// One row per NIC, of hosts with several snapshots: between the first and the last.
[[nodiscard]] std::vector<RailRates> rail_rates(const Observation& seen);
/// One row per NIC of the later look.
[[nodiscard]] std::vector<RailRates> rail_rates(const Observation& before,
                                                const Observation& after);

}  // namespace weir::ops
