#include "design/tables/platforms.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/table.h"
#include "base/text.h"
#include "units/format.h"

namespace weir::design {
namespace {

// ---- what no table tells ----
//
// Latency: what data sheets of switches with the ASIC print for cut-through, first bit to first
// bit; from memory, unverified. The simulator wants the order of magnitude, no verdict rests on it.

/// What of `total` holds packets: whole cells.
constexpr Bytes whole_cells(Bytes total, Bytes cell) {
  return cell * (total.raw() / cell.raw());
}

// ---- NICs ----

// Rings: Linux en.h (mlx5: 2^13), ice.h (E810: 8160), ionic_dev.h (transmit 8192, receive 16384),
// bnxt.h (8 pages of 256 descriptors less one, once jumbo frames need aggregation rings).
// Out-of-order placement: NVIDIA OFED manual, "ConnectX-5 adapters and above, RC and XRC QPs";
// SENDs still want order, hence writes only. Selective repeat: RDMA_SELECTIVE_REPEAT_EN of
// mlxconfig.
constexpr NicModel connectx(std::string_view name, std::string_view title, BitRate max_speed) {
  return {.name = name,
          .title = title,
          .driver = vocab::Driver::kMlx5,
          .max_speed = max_speed,
          .max_ring = 8192,
          .has_dcqcn_knobs = true,
          .has_dcb_netlink = true,
          .has_pfc_duration = true,
          .has_selective_repeat = name != "connectx5",
          .reordering = Reordering::kWrites,
          .tool = "mlnx_qos",
          .cc_place = "ecn/roce_rp and ecn/roce_np (OFED), cc_params, mlxconfig",
          .source = "Linux mlx5; NVIDIA OFED manual (out-of-order placement)"};
}
constexpr NicModel programmable(NicModel nic) {
  nic.source =
      "Linux mlx5; NVIDIA OFED manual (out-of-order placement). With programmable congestion "
      "control on (USER_PROGRAMMABLE_CC) the DCQCN parameters may be ignored";
  return nic;
}

constexpr std::array kNics = {
    connectx("connectx5", "NVIDIA ConnectX-5", 100_Gbps),
    connectx("connectx6dx", "NVIDIA ConnectX-6 Dx", 200_Gbps),
    programmable(connectx("connectx7", "NVIDIA ConnectX-7", 400_Gbps)),
    programmable(connectx("connectx8", "NVIDIA ConnectX-8", 800_Gbps)),
    programmable(connectx("bluefield3", "NVIDIA BlueField-3", 400_Gbps)),
    NicModel{.name = "thor2",
             .title = "Broadcom Thor 2 (BCM57608)",
             .driver = vocab::Driver::kBnxt,
             .max_speed = 400_Gbps,
             .max_ring = 2047,
             .has_dcb_netlink = true,
             .has_pfc_duration = true,
             .tool = "niccli",
             .cc_place = "debugfs bnxt_re/<bdf>/cc_config, or configfs bnxt_re (vendor driver)",
             .source = "Linux bnxt_en, bnxt_re (pfc_pri<N>_rx_duration_us). Needs the firmware's "
                       "LLDP agent off; retransmission and reordering unverified"},
    NicModel{.name = "e810",
             .title = "Intel E810",
             .driver = vocab::Driver::kIrdma,
             .max_speed = 100_Gbps,
             .max_ring = 8160,
             .has_dcb_netlink = true,
             .tool = "ethtool --set-priv-flags",
             .cc_place = "configfs irdma/<dev>/roce_dcqcn_enable (vendor driver)",
             .source = "Linux ice, irdma. Needs fw-lldp-agent off; reordering unverified"},
    NicModel{.name = "pollara",
             .title = "AMD Pensando Pollara 400",
             .driver = vocab::Driver::kIonic,
             .max_speed = 400_Gbps,
             .max_ring = 8192,
             .has_selective_repeat = true,
             .reordering = Reordering::kAll,
             .tool = "nicctl",
             .cc_place = "nicctl update dcqcn",
             .source = "Linux ionic; AMD's announcement (selective retransmission, reordering), "
                       "which with RoCEv2 is unverified"},
    NicModel{.name = "generic",
             .title = "any other RDMA NIC",
             .driver = vocab::Driver::kAny,
             .max_speed = 800_Gbps,
             .max_ring = 4096,
             .has_dcb_netlink = true,
             .tool = "dcb",
             .cc_place = "the vendor's own tool",
             .source = "an assumption: what most NICs have; read the ring with `ethtool -g`"},
};

// ---- ASICs ----
//
// Buffers: NVIDIA, the pool that SONiC can allocate (sonic-buildimage 086b03b, buffers_defaults),
// less than the data sheet's total; Broadcom and Silicon One, MMU size, cell and descriptor of
// fboss 14ec47e (switch_asics). Ports and speeds: the makers' announcements.

constexpr std::array kAsics = {
    AsicModel{.name = "spectrum1",
              .title = "NVIDIA Spectrum (SN2000)",
              .family = AsicFamily::kSpectrum,
              .buffer = 13'945'824_B,
              .cell = 96_B,
              .ports = 32,
              .max_ports = 64,
              .max_speed = 100_Gbps,
              .headroom_model = "spectrum1",
              .pipeline_latency = 300_ns,
              .source = "SONiC SN2700 pool (data sheet: 16MB)"},
    AsicModel{.name = "spectrum2",
              .title = "NVIDIA Spectrum-2 (SN3000)",
              .family = AsicFamily::kSpectrum,
              .buffer = 34'287'552_B,
              .cell = 144_B,
              .ports = 32,
              .max_ports = 128,
              .max_speed = 200_Gbps,
              .headroom_model = "spectrum2",
              .pipeline_latency = 425_ns,
              .source = "SONiC MSN3700 pool (data sheet: 42MB). Adaptive routing was a beta of "
                        "Cumulus 5.1 to 5.5 only"},
    AsicModel{.name = "spectrum3",
              .title = "NVIDIA Spectrum-3 (SN4000)",
              .family = AsicFamily::kSpectrum,
              .buffer = 60'817'392_B,
              .cell = 144_B,
              .ports = 32,
              .max_ports = 128,
              .max_speed = 400_Gbps,
              .headroom_model = "spectrum3",
              .pipeline_latency = 500_ns,
              .source = "SONiC MSN4700 pool (data sheet: 64MB). Adaptive routing was a beta of "
                        "Cumulus 5.1 to 5.5 only"},
    AsicModel{.name = "spectrum4",
              .title = "NVIDIA Spectrum-4 (SN5400, SN5600)",
              .family = AsicFamily::kSpectrum,
              .buffer = 158'229'504_B,
              .cell = 192_B,
              .ports = 64,
              .max_ports = 256,
              .max_speed = 800_Gbps,
              .headroom_model = "spectrum4",
              .pipeline_latency = 600_ns,
              .can_spray = true,
              .can_adapt = true,
              .source = "SONiC SN5600 pool; NVIDIA SN5000 manual (ports), NVUE reference (adaptive "
                        "routing from Cumulus 5.6)"},
    AsicModel{.name = "spectrum5",
              .title = "NVIDIA Spectrum-5 (SN5640)",
              .family = AsicFamily::kSpectrum,
              .buffer = 136'209'408_B,
              .cell = 192_B,
              .ports = 64,
              .max_ports = 256,
              .max_speed = 800_Gbps,
              .headroom_model = "spectrum5",
              .pipeline_latency = 600_ns,
              .can_spray = true,
              .can_adapt = true,
              .source = "SONiC SN5640 pool; ports and adaptive routing as Spectrum-4, unverified"},
    AsicModel{.name = "spectrum6",
              .title = "NVIDIA Spectrum-6 (SN6600)",
              .family = AsicFamily::kSpectrum,
              .buffer = 226'492'416_B,
              .cell = 256_B,
              .ports = 128,
              .max_ports = 512,
              .max_speed = 800_Gbps,
              .headroom_model = "spectrum6",
              .pipeline_latency = 600_ns,
              .can_spray = true,
              .can_adapt = true,
              .source = "SONiC SN6600 pool and port layouts (P128, V512); adaptive routing "
                        "unverified"},
    AsicModel{.name = "tomahawk1",
              .title = "Broadcom Tomahawk",
              .family = AsicFamily::kTomahawk,
              .buffer = whole_cells(16_MiB, 208_B),
              .cell = 208_B,
              .packet_descriptor = 64_B,
              .ports = 32,
              .max_ports = 128,
              .max_speed = 100_Gbps,
              .headroom_model = "ieee",
              .pipeline_latency = 500_ns,
              .source = "fboss; no published headroom rows"},
    AsicModel{.name = "tomahawk3",
              .title = "Broadcom Tomahawk 3 (7060X4, Z9332F, QFX5220)",
              .family = AsicFamily::kTomahawk,
              .buffer = whole_cells(64_MiB, 254_B),
              .cell = 254_B,
              .packet_descriptor = 40_B,
              .ports = 32,
              .max_ports = 128,
              .max_speed = 400_Gbps,
              .headroom_model = "tomahawk3",
              .pipeline_latency = 800_ns,
              .can_spray = true,
              .can_adapt = true,
              .source = "fboss (SONiC Z9332F pool: 66394076B); load balancing unverified"},
    AsicModel{.name = "tomahawk4",
              .title = "Broadcom Tomahawk 4 (7060X5, QFX5230)",
              .family = AsicFamily::kTomahawk,
              .buffer = 254_B * 2 * 234'606,
              .cell = 254_B,
              .packet_descriptor = 48_B,
              .ports = 64,
              .max_ports = 256,
              .max_speed = 400_Gbps,
              .headroom_model = "tomahawk4",
              .pipeline_latency = 800_ns,
              .can_spray = true,
              .can_adapt = true,
              .source = "fboss (2 x 234606 cells); load balancing unverified"},
    AsicModel{.name = "tomahawk5",
              .title = "Broadcom Tomahawk 5 (7060X6, QFX5240)",
              .family = AsicFamily::kTomahawk,
              .buffer = 254_B * 2 * 341'080,
              .cell = 254_B,
              .packet_descriptor = 48_B,
              .ports = 64,
              .max_ports = 256,
              .max_speed = 800_Gbps,
              .headroom_model = "tomahawk5",
              .pipeline_latency = 800_ns,
              .can_spray = true,
              .can_adapt = true,
              .source = "fboss (2 x 341080 cells); Broadcom's announcement (ports, dynamic load "
                        "balancing); spraying unverified"},
    AsicModel{.name = "tomahawk6",
              .title = "Broadcom Tomahawk 6",
              .family = AsicFamily::kTomahawk,
              .buffer = 420_B * 500'000,
              .cell = 420_B,
              .packet_descriptor = 48_B,
              .ports = 64,
              .max_ports = 512,
              .max_speed = 1'600_Gbps,
              .headroom_model = "tomahawk6",
              .pipeline_latency = 800_ns,
              .can_spray = true,
              .can_adapt = true,
              .source = "fboss (500000 cells, provisional there); Broadcom's announcement (ports); "
                        "published headroom rows end at 800G"},
    AsicModel{.name = "trident3",
              .title = "Broadcom Trident 3 (7050X3, QFX5120)",
              .family = AsicFamily::kTrident,
              .buffer = 32'256_KiB,
              .cell = 256_B,
              .packet_descriptor = 64_B,
              .ports = 32,
              .max_ports = 128,
              .max_speed = 100_Gbps,
              .headroom_model = "ieee",
              .pipeline_latency = 800_ns,
              .can_adapt = true,
              .source = "Juniper's QFX5K buffer post (QFX5120: 32256KB); no published headroom "
                        "rows; load balancing unverified"},
    AsicModel{.name = "trident4",
              .title = "Broadcom Trident 4 (7050X4, QFX5130)",
              .family = AsicFamily::kTrident,
              .buffer = whole_cells(134'792_KiB, 254_B),
              .cell = 254_B,
              .packet_descriptor = 64_B,
              .ports = 32,
              .max_ports = 128,
              .max_speed = 400_Gbps,
              .headroom_model = "trident4",
              .pipeline_latency = 800_ns,
              .can_adapt = true,
              .source = "Juniper's QFX5K buffer post (QFX5130: 134792KB). QFX5130-48C and S5448F "
                        "have 318B cells: set `cell`; load balancing unverified"},
    AsicModel{.name = "jericho2",
              .title = "Broadcom Jericho 2 (7280R3, 7800R3)",
              .family = AsicFamily::kJericho,
              .buffer = whole_cells(64_MiB, 254_B),
              .deep_buffer = 6'144_MiB,
              .cell = 254_B,
              .packet_descriptor = 30_B,
              .ports = 12,
              .max_ports = 96,
              .max_speed = 400_Gbps,
              .headroom_model = "jericho2",
              .pipeline_latency = 3'800_ns,
              .can_share_headroom = false,
              .source =
                  "fboss; ports are one chip's: set `ports` for a chassis. Load balancing and "
                  "shared headroom unverified"},
    AsicModel{.name = "jericho3",
              .title = "Broadcom Jericho 3 (7280R4, 7700R4)",
              .family = AsicFamily::kJericho,
              .buffer = whole_cells(128_MiB, 254_B),
              .deep_buffer = 12'288_MiB,
              .cell = 254_B,
              .packet_descriptor = 40_B,
              .ports = 18,
              .max_ports = 144,
              .max_speed = 800_Gbps,
              .headroom_model = "ieee",
              .pipeline_latency = 3'800_ns,
              .can_share_headroom = false,
              .source =
                  "fboss; no published headroom rows; ports are one chip's: set `ports` for a "
                  "chassis. Sprays cells into its own scheduled fabric, not packets over "
                  "Ethernet paths; unverified"},
    AsicModel{.name = "silicon-one-q200",
              .title = "Cisco Silicon One Q200",
              .family = AsicFamily::kSiliconOne,
              .buffer = 108_MiB,
              .cell = 384_B,
              .packet_descriptor = 40_B,
              .ports = 32,
              .max_ports = 128,
              .max_speed = 400_Gbps,
              .headroom_model = "ieee",
              .pipeline_latency = 1'500_ns,
              .can_share_headroom = false,
              .source = "fboss; no published headroom rows; load balancing and shared headroom "
                        "unverified"},
    AsicModel{.name = "silicon-one-g200",
              .title = "Cisco Silicon One G200",
              .family = AsicFamily::kSiliconOne,
              .buffer = 256_MiB,
              .cell = 512_B,
              .packet_descriptor = 40_B,
              .ports = 64,
              .max_ports = 512,
              .max_speed = 800_Gbps,
              .headroom_model = "ieee",
              .pipeline_latency = 1'000_ns,
              .can_spray = true,
              .can_adapt = true,
              .can_share_headroom = false,
              .source = "fboss; no published headroom rows; load balancing and shared headroom "
                        "unverified"},
    AsicModel{.name = "cloudscale",
              .title = "Cisco Cloud Scale (Nexus 9300-GX2)",
              .family = AsicFamily::kCloudScale,
              .buffer = whole_cells(120_MB, 208_B),
              .cell = 208_B,
              .ports = 32,
              .max_ports = 128,
              .max_speed = 400_Gbps,
              .headroom_model = "ieee",
              .pipeline_latency = 1'500_ns,
              .can_spray = true,
              .can_adapt = true,
              .can_share_headroom = false,
              .source =
                  "cell: every published pause buffer is a multiple of 208B; buffer (9332D-GX2B, "
                  "120MB; GX, FX and EX have less: set `buffer`), ports and load balancing "
                  "unverified"},
    AsicModel{.name = "express5",
              .title = "Juniper Express 5 (PTX10000)",
              .family = AsicFamily::kExpress,
              .buffer = 64_MiB,
              .deep_buffer = 8'192_MiB,
              .cell = 256_B,
              .ports = 36,
              .max_ports = 288,
              .max_speed = 800_Gbps,
              .headroom_model = "ieee",
              .pipeline_latency = 3'800_ns,
              .can_share_headroom = false,
              .source = "an assumption: virtual output queues in HBM, sizes not published; set "
                        "`buffer` and `cell`. Ports are one line card's: write `ports`"},
    AsicModel{
        .name = "generic",
        .title = "any other shared-buffer ASIC",
        .family = AsicFamily::kGeneric,
        .buffer = 64_MiB,
        .cell = 256_B,
        .ports = 64,
        .max_ports = 512,
        .max_speed = 800_Gbps,
        .headroom_model = "ieee",
        .pipeline_latency = 1'000_ns,
        .can_spray = true,
        .can_adapt = true,
        .source = "an assumption: set `buffer`, `cell` and `ports` to what the data sheet says"},
};

// ---- systems ----

constexpr std::array kSystems = {
    SystemModel{.system = SwitchSystem::kCumulus,
                .max_mtu = 9216_B,
                .headroom_min = 19'456_B,
                .headroom_max = 2'621'440_B,
                .has_headroom_pool = true,
                .has_buffer_pools = true,
                .has_one_lossless_pool = true,
                .has_static_xoff = true,
                .max_alpha = Alpha::from_log2(6),
                .max_lossless_priorities = 8,
                .watchdog_detect_min = 100_ms,
                .watchdog_detect_max = 5'000_s,
                .watchdog_restore_min = 100_ms,
                .watchdog_restore_max = 5_s,
                .source = "Cumulus Linux 5.19 documentation: detection is a polling interval of "
                          "100ms to 5s times a robustness of 1 to 1000, restore one interval "
                          "without pause; NVIDIA advises against setting xoff-threshold. Number of "
                          "lossless priorities unverified"},
    SystemModel{.system = SwitchSystem::kEos,
                .max_mtu = 9214_B,
                .max_alpha = Alpha::from_log2(3),
                .max_lossless_priorities = 8,
                .watchdog_detect_min = 10_ms,
                .watchdog_detect_max = 60_s,
                .watchdog_restore_min = 10_ms,
                .watchdog_restore_max = 60_s,
                .has_watchdog_forward = true,
                .has_watchdog_alert = true,
                .source = "Arista AVD schema and templates; a community guide to EOS 4.36. Polling "
                          "must be at most half of the shorter time. The headroom override "
                          "(platform trident mmu) is not for Jericho. Number of lossless "
                          "priorities unverified"},
    SystemModel{.system = SwitchSystem::kNxos,
                .max_mtu = 9216_B,
                .headroom_min = 5'000_B,
                .headroom_max = 268'435'456_B,
                .auto_headroom_limit = 100_m,
                .has_static_xoff = true,
                .max_alpha = Alpha::from_log2(3),
                .max_lossless_priorities = 3,
                .watchdog_detect_min = 100_ms,
                .watchdog_detect_max = 10_s,
                .watchdog_restore_min = 100_ms,
                .watchdog_restore_max = 100_s,
                .has_watchdog_alert = true,
                .source = "Nexus 9000 QoS guide 10.5; ranges of the DME model. Cables over 100m "
                          "want an explicit pause buffer. Watchdog ranges, alpha and the number of "
                          "lossless priorities unverified"},
    SystemModel{.system = SwitchSystem::kJunos,
                .max_mtu = 9216_B,
                .wred_in_bytes = false,
                .has_headroom_override = false,
                .headroom_max = 0_B,
                .has_headroom_pool = true,
                .has_buffer_pools = true,
                .has_one_lossless_pool = true,
                .max_alpha = Alpha::from_log2(3),
                .max_lossless_priorities = 6,
                .watchdog_detect_min = 200_ms,
                .watchdog_detect_max = 10_s,
                .watchdog_restore_min = 200_ms,
                .watchdog_restore_max = 1_s,
                .has_watchdog_forward = true,
                .source =
                    "Juniper YANG junos-qfx 23.2R2 and 24.4R1: detection is a poll of 100ms to "
                    "1s times 2 to 10 periods; watchdog action `forward` from 24.4R1. "
                    "Lossless, headroom and lossy partitions add up to 100%"},
    SystemModel{.system = SwitchSystem::kSonic,
                .max_mtu = 9216_B,
                .has_headroom_pool = true,
                .min_alpha = Alpha::from_log2(-8),
                .max_alpha = Alpha::from_log2(7),
                .max_lossless_priorities = 8,
                .watchdog_detect_min = 100_ms,
                .watchdog_detect_max = 5_s,
                .watchdog_restore_min = 100_ms,
                .watchdog_restore_max = 60_s,
                .has_watchdog_forward = true,
                .has_watchdog_alert = true,
                .source =
                    "sonic-yang-models of sonic-buildimage 086b03b. The pools of the platforms are "
                    "dynamic, and no patch may change them. In the traditional buffer "
                    "model a port whose speed and cable have no row in pg_profile_lookup.ini "
                    "gets no lossless buffer"},
};

// ---- words ----

std::string yes(bool value) {
  return value ? "yes" : "-";
}

std::string_view reordering_text(Reordering reordering) {
  switch (reordering) {
    case Reordering::kNone: return "-";
    case Reordering::kWrites: return "writes";
    case Reordering::kAll: return "all";
  }
  WEIR_UNREACHABLE("every kind of reordering has a word");
}

constexpr std::size_t kPlatformsWidth = 100;

/// "name  title: source", wrapped, one row per entry.
template <class Rows>
std::string models_and_sources(const Rows& rows) {
  std::size_t widest = 0;
  for (const auto& row : rows)
    widest = std::max(widest, row.name.size());
  const std::size_t indent = 2 + widest + 2;
  std::string out = "\nModels, sources, and what they leave open\n";
  for (const auto& row : rows) {
    const std::string entry =
        fmt::format("  {:<{}}  {}: {}", row.name, widest, row.title, row.source);
    out += wrap(entry, kPlatformsWidth, indent) + "\n";
  }
  return out;
}

std::string range_text(Duration min, Duration max) {
  return weir::to_text(min) + " to " + weir::to_text(max);
}

std::string override_text(const SystemModel& system) {
  if (!system.has_headroom_override) return "-";
  if (system.headroom_max == Bytes::max()) return "any";
  return weir::to_text(system.headroom_min) + " to " + weir::to_text(system.headroom_max);
}

}  // namespace

// ---- look-up ----

std::span<const NicModel> nic_models() {
  return kNics;
}
std::span<const AsicModel> asic_models() {
  return kAsics;
}
std::span<const SystemModel> system_models() {
  return kSystems;
}

const NicModel* find_nic(std::string_view name) {
  const auto* const found = std::find_if(kNics.begin(), kNics.end(),
                                         [&](const NicModel& nic) { return nic.name == name; });
  return found == kNics.end() ? nullptr : found;
}

const AsicModel* find_asic(std::string_view name) {
  const auto* const found = std::find_if(kAsics.begin(), kAsics.end(),
                                         [&](const AsicModel& asic) { return asic.name == name; });
  return found == kAsics.end() ? nullptr : found;
}

const SystemModel& system_model(SwitchSystem system) {
  for (const SystemModel& model : kSystems)
    if (model.system == system) return model;
  WEIR_UNREACHABLE("every switch system has a row");
}

bool runs_on(SwitchSystem system, const AsicModel& asic) {
  using enum AsicFamily;
  const AsicFamily family = asic.family;
  if (family == kGeneric) return true;
  switch (system) {
    case SwitchSystem::kCumulus: return family == kSpectrum;
    case SwitchSystem::kEos: return family == kTomahawk || family == kTrident || family == kJericho;
    case SwitchSystem::kNxos: return family == kCloudScale || family == kSiliconOne;
    case SwitchSystem::kJunos:
      return family == kTomahawk || family == kTrident || family == kExpress;
    case SwitchSystem::kSonic: return family != kExpress;
  }
  WEIR_UNREACHABLE("every switch system is listed");
}

Duration delay_per_metre(CableKind kind) {
  switch (kind) {
    case CableKind::kDac:
    case CableKind::kAec: return 4'300_ps;  // twinax, 4.3 to 5 ns by make: the fast end
    case CableKind::kAoc:
    case CableKind::kFibre: return 5_ns;  // group index of glass about 1.5
  }
  WEIR_UNREACHABLE("every kind of cable is listed");
}

// ---- tables for people ----

std::string explain_nics() {
  TextTable table({"nic", "driver", "fastest", "ring", "DCQCN knobs", "DCB", "pause time",
                   "repeats", "out of order"},
                  {Align::kLeft, Align::kLeft, Align::kRight, Align::kRight});
  for (const NicModel& nic : kNics) {
    table.add_row({std::string(nic.name), std::string(vocab::to_text(nic.driver)),
                   weir::to_text(nic.max_speed), std::to_string(nic.max_ring),
                   yes(nic.has_dcqcn_knobs), yes(nic.has_dcb_netlink), yes(nic.has_pfc_duration),
                   nic.has_selective_repeat ? "selectively" : "go-back-N",
                   std::string(reordering_text(nic.reordering))});
  }
  std::string out = "NICs: `nic` of a group of hosts\n\n" + table.to_text(2) + "\n";
  out += wrap(fmt::format(
                  "A NIC is taken to stop {} after a PFC frame (unverified; IEEE 802.3 31B.3.7 "
                  "allows 1.16us at 400G). `DCB` is DCB netlink. `ring` is the largest that both "
                  "directions take; RDMA does not use it. `weir explain knobs` lists the DCQCN "
                  "knobs; a NIC without them keeps its congestion control elsewhere:",
                  weir::to_text(kNicReaction)),
              kPlatformsWidth) +
         "\n";
  for (const NicModel& nic : kNics)
    if (!nic.has_dcqcn_knobs) out += fmt::format("  {:<11}  {}\n", nic.name, nic.cc_place);
  return out + models_and_sources(kNics);
}

std::string explain_asics() {
  TextTable table(
      {"asic", "buffer", "cell", "ports", "headroom", "latency", "balances", "systems"},
      {Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kLeft, Align::kRight});
  for (const AsicModel& asic : kAsics) {
    std::vector<std::string> systems;
    for (const SystemModel& system : kSystems)
      if (runs_on(system.system, asic)) systems.emplace_back(system.name);
    const std::string_view balances = asic.can_spray   ? "spray, adapt"
                                      : asic.can_adapt ? "adapt"
                                                       : "-";
    table.add_row({std::string(asic.name), approximate(asic.buffer), weir::to_text(asic.cell),
                   fmt::format("{} x {}", asic.ports, weir::to_text(asic.max_speed)),
                   std::string(asic.headroom_model), approximate(asic.pipeline_latency),
                   std::string(balances),
                   systems.size() == kSystems.size() ? "all" : join(systems, " ")});
  }
  return "ASICs: `asic` of a group of switches; `buffer`, `cell` and `ports` there override the "
         "table\n\n" +
         table.to_text(2) + "\n" +
         wrap(fmt::format(
                  "Latencies are the order of magnitude that data sheets print (unverified). A "
                  "switch is taken to stop {} after a PFC frame (unverified). Ports count at the "
                  "fastest speed; break-out cables make more of them.",
                  weir::to_text(kSwitchReaction)),
              kPlatformsWidth) +
         "\n" + models_and_sources(kAsics);
}

std::string explain_systems() {
  std::vector<std::string> header = {""};
  for (const SystemModel& system : kSystems)
    header.emplace_back(system.name);
  TextTable table(header);
  const auto add = [&](std::string what, auto cell) {
    std::vector<std::string> row = {std::move(what)};
    for (const SystemModel& system : kSystems)
      row.push_back(cell(system));
    table.add_row(std::move(row));
  };
  add("largest MTU", [](const SystemModel& s) { return weir::to_text(s.max_mtu); });
  add("WRED thresholds",
      [](const SystemModel& s) { return s.wred_in_bytes ? "bytes" : "percent"; });
  add("marking step", [](const SystemModel& s) { return weir::to_text(s.probability_step); });
  add("headroom in bytes", override_text);
  add("automatic headroom", [](const SystemModel& s) {
    if (s.auto_headroom_limit == Length::max()) return std::string("any cable");
    return "up to " + weir::to_text(s.auto_headroom_limit);
  });
  add("shared headroom", [](const SystemModel& s) { return yes(s.has_headroom_pool); });
  add("buffer pools", [](const SystemModel& s) {
    return !s.has_buffer_pools ? "-" : s.has_one_lossless_pool ? "one lossless" : "yes";
  });
  add("static XOFF", [](const SystemModel& s) { return yes(s.has_static_xoff); });
  add("alpha", [](const SystemModel& s) {
    return weir::to_text(s.min_alpha) + " to " + weir::to_text(s.max_alpha);
  });
  add("lossless priorities",
      [](const SystemModel& s) { return std::to_string(s.max_lossless_priorities); });
  add("watchdog detects in", [](const SystemModel& s) {
    return range_text(s.watchdog_detect_min, s.watchdog_detect_max);
  });
  add("watchdog restores in", [](const SystemModel& s) {
    return range_text(s.watchdog_restore_min, s.watchdog_restore_max);
  });
  add("watchdog drops", [](const SystemModel&) { return yes(true); });
  add("… or forwards", [](const SystemModel& s) { return yes(s.has_watchdog_forward); });
  add("… or only alerts", [](const SystemModel& s) { return yes(s.has_watchdog_alert); });
  return "Switch systems: `system` of a group of switches\n\n" + table.to_text(2) +
         models_and_sources(kSystems);
}

}  // namespace weir::design
