#pragma once
// A simulation for tests.
#include <memory>
#include <utility>

#include "base/testing.h"
#include "sim/engine/sim.h"

namespace weir::sim::test {

/// REQUIRES: the network is sound.
inline std::unique_ptr<Sim> made(Network network) {
  auto sim = Sim::make(std::move(network));
  EXPECT_TRUE(sim.has_value()) << (sim ? "" : sim.error().what);
  return std::move(sim).value();
}

}  // namespace weir::sim::test
