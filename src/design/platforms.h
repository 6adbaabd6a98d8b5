#pragma once
// What NICs, ASICs and switch systems are and can do: the capability tables of the design.
// Every number cites its source in platforms.cc; what only hardware can tell is marked unverified.
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "design/fabric.h"
#include "units/quantity.h"

namespace weir::design {

/// Out-of-order delivery that a NIC can take without calling it loss.
enum class Reordering : std::uint8_t { kNone, kWrites, kAll };

struct NicModel {
  std::string_view name;         // "connectx7"
  std::string_view title;        // "NVIDIA ConnectX-7"
  std::string_view driver;       // "mlx5"
  BitRate max_speed;
  int max_ring;                  // descriptors
  bool has_dcqcn_knobs;          // the mlx5 parameter set of nic_knobs.h
  bool has_dcb_netlink;          // PFC, ETS and DSCP maps through DCB netlink
  bool has_pfc_duration;         // counts pause time, not only frames
  Reordering reordering;
  Duration pfc_reaction;         // from the last bit of a PFC frame to the last bit it lets out
  std::string_view source;
};

struct AsicModel {
  std::string_view name;             // "spectrum4"
  std::string_view title;
  Bytes buffer;
  Bytes cell;
  Bytes packet_descriptor;           // kept in the first cell of each packet
  int ports;                         // at its fastest speed
  BitRate max_speed;
  std::string_view headroom_model;   // a row of model/headroom's table
  Duration pipeline_latency;         // first bit in → first bit out, idle
  Duration pfc_reaction;
  bool can_spray;
  bool can_adapt;                    // adaptive routing or dynamic load balancing
  bool can_share_headroom;
  std::string_view source;
};

/// What a switch's operating system can express.
struct SystemModel {
  SwitchSystem system;
  std::string_view title;
  Bytes max_mtu;
  bool wred_in_bytes;                // false: percent of the queue only (Junos)
  bool has_headroom_override;
  bool has_buffer_pools;             // can carve shares for classes
  bool has_static_xoff;
  Share probability_step;            // smallest step of the marking probability
  int max_lossless_priorities;
  Duration watchdog_detect_min;
  Duration watchdog_detect_max;
  bool has_watchdog_forward;
  bool has_watchdog_alert;
  std::string_view source;
};

[[nodiscard]] std::span<const NicModel> nic_models();
[[nodiscard]] std::span<const AsicModel> asic_models();
[[nodiscard]] std::span<const SystemModel> system_models();
[[nodiscard]] const NicModel* find_nic(std::string_view name);
[[nodiscard]] const AsicModel* find_asic(std::string_view name);
[[nodiscard]] const SystemModel& system_model(SwitchSystem);

/// Signal speed in the cable, as a delay a metre.
[[nodiscard]] Duration delay_per_metre(CableKind);

}  // namespace weir::design
