#include "design/tables/switch_models.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/table.h"
#include "base/text.h"
#include "units/format.h"

namespace weir::design {
namespace {

using vocab::SwitchSystem;

// Names, lanes, modes and pools: platform.json, hwsku.json, port_config.ini and buffer templates of
// sonic-buildimage (device/<vendor>/<platform>), July 2026; Cumulus Linux 5.19 documentation
// (splits on odd ports only); Juniper JVD configurations. What rests on general knowledge says
// "unverified".

constexpr CageMode split(int ports, BitRate speed, int lanes, bool odd_only = false) {
  return {ports, speed, lanes, odd_only};
}

constexpr CageBlock kQsfp56x32 = {32, 200_Gbps, 4, {split(2, 100_Gbps, 4), split(4, 50_Gbps, 4)}};
constexpr CageBlock kDd400x32 = {32, 400_Gbps, 8, {split(2, 200_Gbps, 8), split(4, 100_Gbps, 8)}};
constexpr CageBlock kDd400x64 = {64, 400_Gbps, 8, {split(2, 200_Gbps, 8), split(4, 100_Gbps, 8)}};
constexpr CageBlock kOsfp800OddOctets = {
    64, 800_Gbps, 8, {split(2, 400_Gbps, 8), split(4, 200_Gbps, 8), split(8, 100_Gbps, 8, true)}};
constexpr CageBlock kOsfp800 = {
    64, 800_Gbps, 8, {split(2, 400_Gbps, 8), split(4, 200_Gbps, 8), split(8, 100_Gbps, 8)}};

constexpr std::string_view kSonicDevice = "sonic-buildimage";

constexpr std::array kModels = {
    SwitchModel{.name = "sn3700",
                .title = "NVIDIA SN3700",
                .asic = "spectrum2",
                .blocks = {kQsfp56x32},
                .buffer = 34'287'552_B,
                .systems = "CS",
                .sonic_hwskus = "1x200G=ACS-MSN3700",
                .source = kSonicDevice},
    SwitchModel{
        .name = "sn3700c",
        .title = "NVIDIA SN3700C",
        .asic = "spectrum2",
        .blocks = {CageBlock{32, 100_Gbps, 4, {split(2, 50_Gbps, 4), split(4, 25_Gbps, 4)}}},
        .systems = "CS",
        .sonic_hwskus = "1x100G=ACS-MSN3700C",
        .source = "sonic-buildimage; buffer as the SN3700's, unverified"},
    SwitchModel{
        .name = "sn4600c",
        .title = "NVIDIA SN4600C",
        .asic = "spectrum3",
        .blocks = {CageBlock{64, 100_Gbps, 4, {split(2, 50_Gbps, 4), split(4, 25_Gbps, 4, true)}}},
        .buffer = 60'817'392_B,
        .systems = "CS",
        .sonic_hwskus = "1x100G=ACS-MSN4600C",
        .source = "sonic-buildimage; Cumulus: 4x on odd ports only"},
    SwitchModel{
        .name = "sn4700",
        .title = "NVIDIA SN4700",
        .asic = "spectrum3",
        .blocks = {CageBlock{
            32, 400_Gbps, 8, {split(2, 200_Gbps, 8), split(4, 100_Gbps, 8), split(4, 25_Gbps, 4)}}},
        .buffer = 60'817'392_B,
        .systems = "CS",
        .sonic_hwskus = "1x400G=ACS-MSN4700 2x200G=Mellanox-SN4700-V64 "
                        "4x100G=Mellanox-SN4700-C128",
        .source = kSonicDevice},
    SwitchModel{.name = "sn5400",
                .title = "NVIDIA SN5400",
                .asic = "spectrum4",
                .blocks = {CageBlock{
                    64,
                    400_Gbps,
                    8,
                    {split(2, 200_Gbps, 8), split(4, 100_Gbps, 8), split(8, 50_Gbps, 8, true)}}},
                .service = {2, 25_Gbps, 8},
                .buffer = 158'229'504_B,
                .systems = "CS",
                .sonic_hwskus = "1x400G=ACS-SN5400",
                .source = "sonic-buildimage; Cumulus: 8x on odd ports only"},
    SwitchModel{.name = "sn5600",
                .title = "NVIDIA SN5600",
                .asic = "spectrum4",
                .blocks = {kOsfp800OddOctets},
                .service = {1, 25_Gbps, 8},
                .buffer = 158'229'504_B,
                .systems = "CS",
                .sonic_hwskus = "1x800G=ACS-SN5600 2x400G=Mellanox-SN5600-O128 "
                                "4x200G=Mellanox-SN5600-V256 8x100G=Mellanox-SN5600-C256S1",
                .source = "sonic-buildimage; Cumulus: 8x on odd ports only. The profile "
                          "SN5600-C256S1 has no lossless profiles"},
    SwitchModel{.name = "sn5600d",
                .title = "NVIDIA SN5600D",
                .asic = "spectrum4",
                .blocks = {kOsfp800OddOctets},
                .service = {1, 25_Gbps, 8},
                .buffer = 158'229'504_B,
                .systems = "CS",
                .source = "sonic-buildimage (as the SN5600)"},
    SwitchModel{.name = "sn5610",
                .title = "NVIDIA SN5610",
                .asic = "spectrum4",
                .blocks = {kOsfp800OddOctets},
                .service = {2, 25_Gbps, 8},
                .systems = "CS",
                .source = "sonic-buildimage; modes and buffer as the SN5600's"},
    SwitchModel{.name = "sn5640",
                .title = "NVIDIA SN5640",
                .asic = "spectrum5",
                .blocks = {kOsfp800},
                .service = {2, 25_Gbps, 8},
                .buffer = 136'209'408_B,
                .systems = "CS",
                .sonic_hwskus = "2x400G=Mellanox-SN5640-O128X2 8x100G=Mellanox-SN5640-C512S2",
                .source = "sonic-buildimage; unsplit 800G is not listed there"},
    SwitchModel{.name = "7050dx4-32s",
                .title = "Arista 7050DX4-32S",
                .asic = "trident4",
                .blocks = {kDd400x32},
                .service = {2, 10_Gbps, 1},
                .systems = "ES",
                .sonic_hwskus = "1x400G=Arista-7050DX4-32S",
                .source = "sonic-buildimage (names); splits and buffer unverified"},
    SwitchModel{.name = "7050px4-32s",
                .title = "Arista 7050PX4-32S",
                .asic = "trident4",
                .blocks = {kDd400x32},
                .service = {2, 10_Gbps, 1},
                .systems = "ES",
                .source = "as the 7050DX4-32S"},
    SwitchModel{.name = "7060dx4-32",
                .title = "Arista 7060DX4-32",
                .asic = "tomahawk3",
                .blocks = {CageBlock{
                    32,
                    400_Gbps,
                    8,
                    {split(2, 200_Gbps, 8), split(4, 100_Gbps, 8), split(1, 100_Gbps, 4)}}},
                .service = {2, 10_Gbps, 4},
                .systems = "ES",
                .sonic_hwskus = "1x400G=Arista-7060DX4-32",
                .source = kSonicDevice},
    SwitchModel{.name = "7060px4-32",
                .title = "Arista 7060PX4-32",
                .asic = "tomahawk3",
                .blocks = {CageBlock{
                    32,
                    400_Gbps,
                    8,
                    {split(2, 200_Gbps, 8), split(4, 100_Gbps, 8), split(1, 100_Gbps, 4)}}},
                .service = {2, 10_Gbps, 4},
                .systems = "ES",
                .source = kSonicDevice},
    SwitchModel{.name = "7060dx5-32",
                .title = "Arista 7060DX5-32",
                .asic = "tomahawk4",
                .blocks = {CageBlock{
                    32,
                    400_Gbps,
                    8,
                    {split(2, 200_Gbps, 8), split(4, 100_Gbps, 8), split(2, 100_Gbps, 8)}}},
                .service = {1, 10_Gbps, 1},
                .systems = "ES",
                .sonic_hwskus = "1x400G=Arista-7060DX5-32",
                .source = kSonicDevice},
    SwitchModel{
        .name = "7060dx5-64s",
        .title = "Arista 7060DX5-64S",
        .asic = "tomahawk4",
        .blocks = {CageBlock{
            64, 400_Gbps, 8, {split(2, 200_Gbps, 8), split(4, 100_Gbps, 8), split(8, 50_Gbps, 8)}}},
        .service = {2, 10_Gbps, 1},
        .systems = "ES",
        .sonic_hwskus = "1x400G=Arista-7060DX5-64S",
        .source = kSonicDevice},
    SwitchModel{.name = "7060x6-64pe",
                .title = "Arista 7060X6-64PE",
                .asic = "tomahawk5",
                .blocks = {kOsfp800OddOctets},
                .service = {2, 10_Gbps, 1},
                .buffer = 166'115'492_B,
                .sonic_pool_xoff = 29'423'360_B,
                .systems = "ES",
                .sonic_hwskus = "1x800G=Arista-7060X6-64PE 2x400G=Arista-7060X6-64PE-O128S2 "
                                "4x200G=Arista-7060X6-64PE-256x200G",
                .source = "sonic-buildimage; 8x100G on odd ports only"},
    SwitchModel{.name = "7060x6-64pe-b",
                .title = "Arista 7060X6-64PE-B",
                .asic = "tomahawk5",
                .blocks = {kOsfp800},
                .service = {2, 10_Gbps, 1},
                .buffer = 166'115'492_B,
                .sonic_pool_xoff = 29'423'360_B,
                .systems = "ES",
                .sonic_hwskus = "1x800G=Arista-7060X6-64PE-B-P64 "
                                "8x100G=Arista-7060X6-64PE-B-C512S2",
                .source = kSonicDevice},
    SwitchModel{
        .name = "7280dr3a-36",
        .title = "Arista 7280DR3A-36",
        .asic = "jericho2",
        .blocks = {CageBlock{36, 400_Gbps, 8, {split(2, 200_Gbps, 8), split(4, 100_Gbps, 8)}}},
        .systems = "ES",
        .source = "sonic-buildimage (names; two ASICs); splits and buffer unverified"},
    SwitchModel{.name = "7280cr3-32d4",
                .title = "Arista 7280CR3-32D4",
                .asic = "jericho2",
                .blocks = {CageBlock{32, 100_Gbps, 4, {split(4, 25_Gbps, 4)}},
                           CageBlock{4, 400_Gbps, 8, {split(4, 100_Gbps, 8)}}},
                .systems = "ES",
                .sonic_hwskus = "mixed=Arista-7280CR3-C32D4",
                .source = "sonic-buildimage (names); splits and buffer unverified"},
    SwitchModel{.name = "7800r4",
                .title = "Arista 7800R4",
                .asic = "jericho3",
                .systems = "E",
                .source = "a chassis: line cards and slots decide the names"},
    SwitchModel{.name = "n9k-c9332d-gx2b",
                .title = "Cisco Nexus 9332D-GX2B",
                .asic = "cloudscale",
                .blocks = {kDd400x32},
                .service = {2, 10_Gbps, 1},
                .systems = "N",
                .has_sonic_names = false,
                .source = "NX-OS 10.6 interfaces guide (breakout maps); buffer unverified"},
    SwitchModel{.name = "n9k-c9364d-gx2a",
                .title = "Cisco Nexus 9364D-GX2A",
                .asic = "cloudscale",
                .blocks = {kDd400x64},
                .service = {2, 10_Gbps, 1},
                .systems = "N",
                .has_sonic_names = false,
                .source = "NX-OS 10.6 interfaces guide (breakout maps); buffer unverified"},
    SwitchModel{
        .name = "n9k-c9364c-gx",
        .title = "Cisco Nexus 9364C-GX",
        .asic = "cloudscale",
        .blocks = {CageBlock{64, 100_Gbps, 4, {split(2, 50_Gbps, 4), split(4, 25_Gbps, 4)}}},
        .systems = "N",
        .has_sonic_names = false,
        .source = "NetBox device types; buffer unverified: set `buffer`"},
    SwitchModel{.name = "n9364e-sg2-q",
                .title = "Cisco Nexus 9364E-SG2-Q",
                .asic = "silicon-one-g200",
                .blocks = {kOsfp800},
                .systems = "N",
                .has_sonic_names = false,
                .source = "Cisco data sheet (256 MB shared); 8x100 unverified"},
    SwitchModel{.name = "n9364e-sg2-o",
                .title = "Cisco Nexus 9364E-SG2-O",
                .asic = "silicon-one-g200",
                .blocks = {kOsfp800},
                .systems = "N",
                .has_sonic_names = false,
                .source = "Cisco data sheet (256 MB shared); 8x100 unverified"},
    SwitchModel{
        .name = "qfx5130-32cd",
        .title = "Juniper QFX5130-32CD",
        .asic = "trident4",
        .blocks = {CageBlock{
            32, 400_Gbps, 8, {split(2, 200_Gbps, 8), split(4, 100_Gbps, 8), split(8, 50_Gbps, 8)}}},
        .service = {2, 10_Gbps, 1},
        .systems = "J",
        .has_sonic_names = false,
        .source = "Juniper's QFX5K buffer post; splits unverified"},
    SwitchModel{.name = "qfx5220-32cd",
                .title = "Juniper QFX5220-32CD",
                .asic = "tomahawk3",
                .blocks = {kDd400x32},
                .service = {2, 10_Gbps, 1},
                .systems = "J",
                .has_sonic_names = false,
                .source = "Juniper's QFX5K buffer post; splits unverified"},
    SwitchModel{.name = "qfx5230-64cd",
                .title = "Juniper QFX5230-64CD",
                .asic = "tomahawk4",
                .blocks = {kDd400x64},
                .service = {2, 10_Gbps, 1},
                .systems = "Js",
                .has_sonic_names = false,
                .source = "Juniper's QFX5K buffer post; splits unverified"},
    SwitchModel{.name = "qfx5240-64od",
                .title = "Juniper QFX5240-64OD",
                .asic = "tomahawk5",
                .blocks = {kOsfp800},
                .service = {2, 10_Gbps, 1},
                .systems = "Js",
                .has_sonic_names = false,
                .source = "Juniper JVD (2x400G); 4x200G and 8x100G unverified"},
    SwitchModel{.name = "qfx5240-64qd",
                .title = "Juniper QFX5240-64QD",
                .asic = "tomahawk5",
                .blocks = {kOsfp800},
                .service = {2, 10_Gbps, 1},
                .systems = "Js",
                .has_sonic_names = false,
                .source = "Juniper JVD (2x400G); 4x200G and 8x100G unverified"},
    SwitchModel{.name = "ptx10008",
                .title = "Juniper PTX10008",
                .asic = "express5",
                .systems = "J",
                .has_sonic_names = false,
                .source = "a chassis: line cards and slots decide the names"},
    SwitchModel{
        .name = "ds4000",
        .title = "Celestica DS4000",
        .asic = "tomahawk3",
        .blocks = {CageBlock{
            32, 400_Gbps, 8, {split(2, 200_Gbps, 8), split(4, 100_Gbps, 8), split(8, 50_Gbps, 8)}}},
        .service = {1, 10_Gbps, 1},
        .systems = "S",
        .source = "sonic-buildimage (Silverstone), Hedgehog's switch profile"},
    SwitchModel{.name = "ds5000",
                .title = "Celestica DS5000",
                .asic = "tomahawk5",
                .blocks = {kOsfp800},
                .service = {1, 25_Gbps, 1},
                .systems = "s",
                .source = "Hedgehog's switch profile; at most 320 ports in all"},
    SwitchModel{.name = "as9726-32db",
                .title = "Edgecore AS9726-32DB",
                .asic = "trident4",
                .blocks = {CageBlock{32, 400_Gbps, 8, {}}},
                .service = {2, 10_Gbps, 1},
                .systems = "S",
                .sonic_base = 1,
                .sonic_lane_step = 0,
                .sonic_hwskus = "1x400G=Accton-AS9726-32D",
                .source = "sonic-buildimage: no platform.json, hence no splits"},
    SwitchModel{.name = "ais800-64d",
                .title = "Edgecore AIS800-64D",
                .asic = "tomahawk5",
                .blocks = {kOsfp800},
                .systems = "s",
                .has_sonic_names = false,
                .source = "unverified: its SONiC is not upstream"},
    SwitchModel{.name = "ais800-64o",
                .title = "Edgecore AIS800-64O",
                .asic = "tomahawk5",
                .blocks = {kOsfp800},
                .systems = "s",
                .has_sonic_names = false,
                .source = "unverified: its SONiC is not upstream"},
    SwitchModel{.name = "z9332f",
                .title = "Dell Z9332F",
                .asic = "tomahawk3",
                .blocks = {CageBlock{
                    32,
                    400_Gbps,
                    8,
                    {split(2, 200_Gbps, 8), split(4, 100_Gbps, 8), split(1, 100_Gbps, 4)}}},
                .service = {2, 10_Gbps, 1},
                .buffer = 66'394'076_B,
                .systems = "S",
                .sonic_hwskus = "1x400G=DellEMC-Z9332f-O32",
                .source = kSonicDevice},
    SwitchModel{.name = "z9664f",
                .title = "Dell Z9664F",
                .asic = "tomahawk4",
                .blocks = {CageBlock{64, 400_Gbps, 4, {}}},
                .service = {2, 10_Gbps, 1},
                .buffer = 113'620'296_B,
                .sonic_pool_xoff = 50'653'696_B,
                .systems = "S",
                .sonic_hwskus = "1x400G=DellEMC-Z9664f-O64",
                .source = "sonic-buildimage: no splits listed"},
    SwitchModel{.name = "z9864f",
                .title = "Dell Z9864F",
                .asic = "tomahawk5",
                .blocks = {CageBlock{
                    64,
                    800_Gbps,
                    8,
                    {split(2, 400_Gbps, 8), split(4, 200_Gbps, 8), split(8, 100_Gbps, 8),
                     split(4, 100_Gbps, 8)}}},
                .service = {2, 25_Gbps, 1},
                .buffer = 162'539'680_B,
                .sonic_pool_xoff = 33'374'584_B,
                .systems = "S",
                .sonic_hwskus = "1x800G=Dell-Z9864f-O64",
                .source = kSonicDevice},
    SwitchModel{
        .name = "w6940-64oc",
        .title = "Micas W6940-64OC",
        .asic = "tomahawk5",
        .blocks = {CageBlock{64, 800_Gbps, 8, {split(2, 400_Gbps, 8), split(4, 200_Gbps, 8)}}},
        .service = {2, 25_Gbps, 2},
        .systems = "S",
        .sonic_base = 1,
        .sonic_hwskus = "1x800G=M2-W6940-64OC",
        .source = kSonicDevice},
};

/// Number of the first lane of a cage, from 0, over all blocks.
int first_lane(const SwitchModel& model, int cage) {
  const CageBlock& first = model.blocks[0];
  if (cage <= first.count) return (cage - 1) * first.lanes;
  return first.count * first.lanes + (cage - 1 - first.count) * model.blocks[1].lanes;
}

int sonic_number(const SwitchModel& model, int cage, int lane) {
  if (model.sonic_lane_step == 0) return model.sonic_base + cage - 1;
  return model.sonic_base + (first_lane(model, cage) + lane) * model.sonic_lane_step;
}

std::string modes_text(const SwitchModel& model) {
  std::vector<std::string> words;
  for (const CageBlock& block : model.blocks) {
    for (const CageMode& mode : block.modes)
      if (mode.ports != 0)
        words.push_back(fmt::format("{}x{}{}", mode.ports, weir::to_text(mode.speed),
                                    mode.odd_only ? " (odd)" : ""));
  }
  return words.empty() ? "-" : join(words, " ");
}

std::string cages_text(const SwitchModel& model) {
  if (model.is_modular()) return "chassis";
  std::string out;
  for (const CageBlock& block : model.blocks)
    if (block.count != 0)
      out += fmt::format("{}{} x {}", out.empty() ? "" : " + ", block.count,
                         weir::to_text(block.native));
  return out;
}

}  // namespace

bool SwitchModel::runs(SwitchSystem system) const {
  switch (system) {
    case SwitchSystem::kCumulus: return systems.find('C') != std::string_view::npos;
    case SwitchSystem::kEos: return systems.find('E') != std::string_view::npos;
    case SwitchSystem::kNxos: return systems.find('N') != std::string_view::npos;
    case SwitchSystem::kJunos: return systems.find('J') != std::string_view::npos;
    case SwitchSystem::kSonic: return systems.find_first_of("Ss") != std::string_view::npos;
  }
  WEIR_UNREACHABLE("every switch system is listed");
}

const CageBlock& SwitchModel::block_of(int cage) const {
  return cage <= blocks[0].count ? blocks[0] : blocks[1];
}

std::span<const SwitchModel> switch_models() {
  return kModels;
}

const SwitchModel* find_switch_model(std::string_view name) {
  const auto* const found = std::find_if(
      kModels.begin(), kModels.end(), [&](const SwitchModel& model) { return model.name == name; });
  return found == kModels.end() ? nullptr : found;
}

std::optional<CageMode> mode_for(const CageBlock& block, BitRate speed, int split) {
  std::optional<CageMode> best;
  const bool is_whole =
      split <= 1 && (block.native == speed || (split == 1 && speed < block.native));
  if (is_whole) best = CageMode{1, speed, block.lanes, false};
  for (const CageMode& mode : block.modes) {
    const bool fits = mode.ports != 0 && mode.speed == speed && (split == 0 || mode.ports == split);
    if (fits && (!best || mode.ports > best->ports)) best = mode;
  }
  return best;
}

int most_ports(const SwitchModel& model, BitRate speed) {
  int ports = 0;
  for (int cage = 1; cage <= model.cages(); ++cage) {
    const auto mode = mode_for(model.block_of(cage), speed, 0);
    const bool is_even = cage % 2 == 0;
    if (!mode || (mode->odd_only && (is_even || cage == model.cages()))) continue;
    ports += mode->ports;
  }
  return ports;
}

std::string port_name(const SwitchModel& model, SwitchSystem system, const CagePort& port) {
  const CageMode& mode = port.mode;
  const int lane = mode.ports > 1 ? port.sub * (mode.lanes / mode.ports) : 0;
  const bool is_split = mode.ports > 1;
  switch (system) {
    case SwitchSystem::kCumulus:
      return is_split ? fmt::format("swp{}s{}", port.cage, port.sub)
                      : fmt::format("swp{}", port.cage);
    case SwitchSystem::kEos: return fmt::format("Ethernet{}/{}", port.cage, lane + 1);
    case SwitchSystem::kNxos:
      return is_split ? fmt::format("Ethernet1/{}/{}", port.cage, port.sub + 1)
                      : fmt::format("Ethernet1/{}", port.cage);
    case SwitchSystem::kJunos:
      return is_split ? fmt::format("et-0/0/{}:{}", port.cage - 1, port.sub)
                      : fmt::format("et-0/0/{}", port.cage - 1);
    case SwitchSystem::kSonic:
      return fmt::format("Ethernet{}", sonic_number(model, port.cage, lane));
  }
  WEIR_UNREACHABLE("every system names its ports");
}

std::string cage_name(const SwitchModel& model, SwitchSystem system, int cage) {
  return port_name(model, system, {cage, 0, CageMode{1, {}, 1, false}});
}

std::string service_port_names(const SwitchModel& model, SwitchSystem system) {
  const int count = model.service.count;
  if (count == 0) return {};
  const int first = model.cages() + 1;
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    switch (system) {
      case SwitchSystem::kCumulus: names.push_back(fmt::format("swp{}", first + i)); break;
      case SwitchSystem::kEos: names.push_back(fmt::format("Ethernet{}", first + i)); break;
      case SwitchSystem::kNxos: names.push_back(fmt::format("Ethernet1/{}", first + i)); break;
      case SwitchSystem::kJunos: break;  // xe- or et-: the sources disagree
      case SwitchSystem::kSonic:
        if (model.has_sonic_names)
          names.push_back(fmt::format("Ethernet{}", sonic_number(model, first, 0) +
                                                        i * std::max(model.service.sonic_step, 1)));
        break;
    }
  }
  return join(names, ", ");
}

std::string explain_models() {
  TextTable table({"model", "asic", "cages", "lanes", "splits", "systems"},
                  {Align::kLeft, Align::kLeft, Align::kLeft, Align::kRight});
  for (const SwitchModel& model : kModels) {
    std::vector<std::string> systems;
    for (const auto& entry : vocab::kSwitchSystems)
      if (model.runs(entry.system)) systems.emplace_back(entry.name);
    table.add_row({std::string(model.name), std::string(model.asic), cages_text(model),
                   model.is_modular() ? "-" : std::to_string(model.blocks[0].lanes),
                   modes_text(model), join(systems, " ")});
  }
  constexpr std::size_t kModelsWidth = 100;
  std::string out =
      "Switch models: `model` of a group of switches; port names and breakout follow from it\n\n" +
      table.to_text(2) + "\n" +
      wrap(
          "(odd): on odd cages only; the next even cage is then disabled. A chassis, and SONiC "
          "where it comes from the vendor only, need `ports:` with the names.",
          kModelsWidth) +
      "\n\nSources, and what they leave open\n";
  for (const SwitchModel& model : kModels)
    out += wrap(fmt::format("  {:<16} {}: {}", model.name, model.title, model.source), kModelsWidth,
                19) +
           "\n";
  return out;
}

}  // namespace weir::design
