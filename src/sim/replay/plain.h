#pragma once
// Plain traffic: data and ACKs that nothing delays, marks or drops. What it moves, and what it
// leaves alone.
#include "sim/engine/engine.h"

namespace weir::sim::engine {

/// Calls `see(std::uint64_t&)` for every counter of ports and NICs that plain traffic moves, always
/// in one order.
template <class AnyTables, class See>
void for_each_counter(AnyTables& sim, const Region& region, See&& see) {
  for (const PortId p : region.ports)
    for (auto& part : sim.traffic_of(p))
      for (auto* const tally : {&part.rx, &part.tx}) {
        see(tally->frames);
        see(tally->bytes);
      }
  for (const std::uint32_t n : region.nics) {
    auto& c = sim.nics[n].counters;
    for (auto* const counter : {&c.acks_sent, &c.socket_tx_frames, &c.socket_tx_bytes,
                                &c.socket_rx_frames, &c.socket_rx_bytes})
      see(*counter);
  }
}

/// Of domains, which mean something only where they are added up.
template <class See>
void for_each_sum(const Tables& sim, See&& see) {
  for (const auto& domain : sim.domains)
    for (std::uint64_t* const counter : {&domain->data_hops, &domain->created, &domain->consumed})
      see(*counter);
}

/// Every counter that plain traffic leaves alone. They only grow, so that their sum stays the same
/// only if each of them does.
[[nodiscard]] std::uint64_t incidents_of(const Tables& sim, const Region& region);

/// Sets Tables::whole.
void find_whole(Tables& sim);

}  // namespace weir::sim::engine
