#include "ops/watch/rates.h"

#include <gtest/gtest.h>

namespace weir::ops {
namespace {

using counters::Place;
using counters::Reading;
using counters::Sample;

Observation look(std::int64_t clock_ns, std::uint64_t words, std::uint64_t paused_us) {
  Observation seen;
  evidence::Evidence& host = seen.hosts.emplace_back();
  host.provenance.host = "gpu1";
  evidence::Nic& nic = host.nics.emplace_back();
  nic.device = "mlx5_0";
  nic.netdev = evidence::Fact<std::string>::of("eth0");
  counters::Snapshot& snapshot = host.snapshots.emplace_back();
  snapshot.clock_ns = clock_ns;
  snapshot.nics.emplace_back(
      "mlx5_0", "eth0", "mlx5_core",
      std::vector<Sample>{{Place::kCounters, "port_xmit_data", Reading::of(words)},
                          {Place::kEthtool, "rx_prio3_pause_duration", Reading::of(paused_us)}});
  return seen;
}

// COVERS K1
TEST(Rates, AreDifferencesPerSecondOfTheHostsClock) {
  const auto rows = rail_rates(look(0, 1000, 0), look(2'000'000'000, 251'000, 500'000));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_DOUBLE_EQ(*rows[0].sent, 250'000.0 * 4 * 8 / 2);
  EXPECT_DOUBLE_EQ(*rows[0].paused, 0.25);
  EXPECT_FALSE(rows[0].marks) << "not shown by this port";
}

TEST(Rates, WithoutASecondLookOrTimeBetweenThemNothingIsKnown) {
  EXPECT_FALSE(rail_rates({}, look(5, 1000, 0))[0].sent);
  EXPECT_FALSE(rail_rates(look(5, 1000, 0), look(5, 1000, 0))[0].sent);
}

}  // namespace
}  // namespace weir::ops
