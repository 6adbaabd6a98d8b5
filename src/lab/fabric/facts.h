#pragma once
// Facts of a simulated NIC that the engine does not know: its settings, its GIDs, and what its
// driver stack does not show.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "design/fabric/intent.h"
#include "evidence/evidence.h"
#include "lab/fabric/nic_settings.h"
#include "lab/fabric/state.h"

namespace weir::lab {

/// Adds to the facts that come from the simulation.
void add_settings(const NicPlatform& platform, const NicSettings& settings,
                  const design::NicIntent& nic, const design::Intent& intent, evidence::Nic& out);
void add_host_facts(const NicPlatform& platform, evidence::Host& out);

/// The GID of an address (IPv4 mapped into IPv6), with or without a prefix length; nullopt if it is
/// not an address.
[[nodiscard]] std::optional<std::array<std::uint8_t, 16>> gid_bytes(std::string_view address);
/// GIDs as a kernel builds them: link-local and address, each as RoCE v1 and v2.
[[nodiscard]] std::vector<evidence::Gid> gids_of(const design::NicIntent& nic, std::uint32_t host);

/// The lab's clock starts at the epoch, so that no time of a lab is taken for a real one.
[[nodiscard]] std::string time_text(Duration clock);
[[nodiscard]] evidence::Provenance provenance(const Blueprint& blueprint, const State& state,
                                              const std::string& host);

}  // namespace weir::lab
