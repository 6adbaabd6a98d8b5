// What a fault changes in a running simulation, between two slices of it.
#include <algorithm>

#include "sim/engine/sim.h"

namespace weir::sim {

void Sim::set_drain(std::uint32_t node, BitRate drain) {
  Nic& nic = nics_[index_of_[node]];
  if (nic.config->drain.raw() > 0) drain_level(nic);
  nic.receive_at = now();
  network_.nics[network_.nodes[node].config].drain = drain;
  if (nic.receive_paused == 0 || nic.drain_pending || drain.raw() == 0) return;
  nic.drain_pending = true;
  const std::int64_t above =
      std::max<std::int64_t>(nic.receive_level - nic.config->receive_xon.raw(), 0);
  events_.push(now() + std::max<Ps>(serialization_time(Bytes::raw(above), drain).raw(), 1),
               tie_of(EventKind::kNicDrain, nic.port->self));
}

void Sim::set_congestion_control(std::uint32_t node, bool np, bool rp) {
  NicConfig& config = network_.nics[network_.nodes[node].config];
  config.np_enabled = np;
  config.rp_enabled = rp;
}

void Sim::set_errors(std::uint32_t link, std::uint64_t threshold) {
  network_.links[link].error_threshold = threshold;
  for (const std::size_t end : {std::size_t{0}, std::size_t{1}}) {
    Port& port = ports_[link_ports_[2 * std::size_t{link} + end]];
    error_threshold_[port.self] = threshold;
    refresh_disturbed(port);
  }
}

}  // namespace weir::sim
