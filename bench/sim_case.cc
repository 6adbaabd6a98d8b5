#include "sim_case.h"

#include <fmt/format.h>

#include "sim/hpcc_native.h"

namespace weir::bench {

Result<SimCase> set_up(const std::string& config, const std::string& model) {
  WEIR_TRY(run, sim::read_hpcc(config));
  if (model == "native") sim::make_native(run.network);
  SimCase out;
  out.stop = run.stop;
  WEIR_TRY(sim, sim::Sim::make(std::move(run.network)));
  out.sim = std::move(sim);
  return out;
}

[[gnu::noinline]] void measured_run(SimCase& run) {
  run.sim->run(run.stop);
}

Status check_congested(const SimCase& run) {
  std::uint64_t marks = 0;
  std::uint64_t cnps = 0;
  const sim::Sim& sim = *run.sim;
  for (std::uint32_t p = 0; p < sim.port_count(); ++p)
    marks += sim.port_counters(p).marked;
  const sim::Network& network = sim.network();
  for (std::uint32_t n = 0; n < network.nodes.size(); ++n)
    if (network.nodes[n].kind == sim::NodeKind::kNic) cnps += sim.nic_counters(n).cnp_handled;
  if (marks > 0 && cnps > 0 && sim.open_messages() == 0) return {};
  return invalid_error(fmt::format("{} marks, {} CNPs, {} flows unfinished: not the run to measure",
                                   marks, cnps, sim.open_messages()));
}

}  // namespace weir::bench
