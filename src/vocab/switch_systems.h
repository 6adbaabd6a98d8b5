#pragma once
// The switch systems: what each is called, in one table. What a system can express is in
// design/tables/platforms.h, how its files are written and read in src/platforms.
#include <array>
#include <cstdint>
#include <string_view>

#include "vocab/nic_drivers.h"

namespace weir::vocab {

enum class SwitchSystem : std::uint8_t { kCumulus, kEos, kNxos, kJunos, kSonic };

struct SwitchSystemName {
  SwitchSystem system;
  std::string_view name;         // in a design file, `render --to` and evidence: "eos"
  std::string_view title;        // "Arista EOS"
  std::string_view show_reader;  // the reader of its show output
  Driver driver;                 // whose counter names it prints
};

/// In the order of SwitchSystem.
inline constexpr auto kSwitchSystems = std::to_array<SwitchSystemName>({
    {SwitchSystem::kCumulus, "cumulus", "NVIDIA Cumulus Linux (NVUE)", "cumulus-show",
     Driver::kCumulus},
    {SwitchSystem::kEos, "eos", "Arista EOS", "eos-show", Driver::kEos},
    {SwitchSystem::kNxos, "nxos", "Cisco NX-OS (Nexus 9000)", "nxos-show", Driver::kNxos},
    {SwitchSystem::kJunos, "junos", "Juniper Junos (QFX, EVO)", "junos-show", Driver::kJunos},
    {SwitchSystem::kSonic, "sonic", "SONiC", "sonic-show", Driver::kSonic},
});

/// Not a system of its own: models that several systems load beside their own configuration.
inline constexpr std::string_view kOpenConfig = "openconfig";

[[nodiscard]] constexpr const SwitchSystemName& names_of(SwitchSystem system) {
  return kSwitchSystems[static_cast<std::size_t>(system)];
}

}  // namespace weir::vocab
