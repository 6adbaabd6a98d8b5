#pragma once
// What an observer of a simulated NIC would have written down beyond what the engine knows: its
// settings, its GIDs, and what the driver stack does not show.
#include "design/fabric/intent.h"
#include "evidence/evidence.h"
#include "lab/fabric/nic_settings.h"
#include "lab/fabric/state.h"

namespace weir::lab {

/// Completes facts that the simulation began.
void add_settings(const NicPlatform& platform, const NicSettings& settings,
                  const design::NicIntent& nic, const design::Intent& intent, evidence::Nic& out);
void add_host_facts(const NicPlatform& platform, evidence::Host& out);

/// GIDs as a kernel builds them: link-local and address, each as RoCE v1 and v2.
[[nodiscard]] std::vector<evidence::Gid> gids_of(const design::NicIntent& nic, std::uint32_t host);

/// A clock that starts with the lab, on a day nobody takes for today.
[[nodiscard]] std::string time_text(Duration clock);
[[nodiscard]] evidence::Provenance provenance(const Blueprint& blueprint, const State& state,
                                              const std::string& host);

}  // namespace weir::lab
