#pragma once
// What NICs, ASICs and switch systems are and can do: the capability tables of the design.
//
// Every row cites its source in `source` and says there what only hardware can tell ("unverified").
// Lint and the renderers read these rows; none of them keeps a limit of its own.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "design/file/fabric.h"
#include "units/qos_code.h"
#include "units/quantity.h"
#include "vocab/nic_drivers.h"

namespace weir::design {

// A row states what differs from the defaults of its type.

// PFC reaction. IEEE 802.3 31B.3.7 bounds it in pause quanta: 394 at 100G (2.02 us), 453 at 200G
// and 905 at 400G (1.16 us), the same 905 at 800G (0.58 us); headroom is computed with that bound
// (model::pause_response_bound). What devices really take is not published. The simulator needs one
// figure per kind, below the bound at every speed: a NIC's transmit path looks at its pause state a
// little later than a switch's scheduler does. Both unverified.
inline constexpr Duration kNicReaction = 500_ns;
inline constexpr Duration kSwitchReaction = 300_ns;

/// Out-of-order delivery that a NIC can take without calling it loss.
enum class Reordering : std::uint8_t { kNone, kWrites, kAll };

struct NicModel {
  std::string_view name;   // "connectx7"
  std::string_view title;  // "NVIDIA ConnectX-7"
  vocab::Driver driver;    // kAny for the generic row
  BitRate max_speed;
  int max_ring;                       // descriptors that both directions of the netdev accept
  bool has_dcqcn_knobs = false;       // the mlx5 parameter set of nic_knobs.h
  bool has_dcb_netlink = false;       // PFC, ETS and DSCP maps through DCB netlink
  bool has_pfc_duration = false;      // counts pause time, not only frames
  bool has_selective_repeat = false;  // retransmits only the lost packet; others go back N
  Reordering reordering =
      Reordering::kNone;               // what it can do when configured; off by default on ConnectX
  CnpScope cnp_scope = CnpScope::kQp;  // what it paces CNPs by; unverified on every NIC
  Duration pfc_reaction =
      kNicReaction;           // from the last bit of a PFC frame to the last bit it lets out
  std::string_view tool;      // the vendor's QoS tool
  std::string_view cc_place;  // where its congestion control is set
  std::string_view source;
};

/// Makers' lines of silicon; which systems run on an ASIC goes by it.
enum class AsicFamily : std::uint8_t {
  kGeneric,
  kSpectrum,
  kTomahawk,
  kTrident,
  kJericho,
  kCloudScale,
  kSiliconOne,
  kExpress,
};

struct AsicModel {
  std::string_view name;  // "spectrum4"
  std::string_view title;
  AsicFamily family;
  Bytes buffer;            // on chip, as far as software can allocate it; whole cells
  Bytes deep_buffer = {};  // beside it (HBM), usable part; 0 = none
  Bytes cell;
  Bytes packet_descriptor = {};  // kept in the first cell of each packet; 0 = none or not known
  int ports;                     // at its fastest speed
  int max_ports;                 // with break-out cables
  BitRate max_speed;
  std::string_view headroom_model;  // a row of model/headroom's table
  Duration pipeline_latency;        // first bit in → first bit out, idle
  Duration pfc_reaction = kSwitchReaction;
  bool can_spray = false;  // packets of one flow over all paths
  bool can_adapt = false;  // adaptive routing or dynamic load balancing
  bool can_share_headroom = true;
  std::string_view source;
};

/// What a switch's operating system can express.
struct SystemModel {
  SwitchSystem system;
  std::string_view name = vocab::names_of(system).name;  // "cumulus", as in the design file
  std::string_view title = vocab::names_of(system).title;
  Bytes max_mtu;                      // of a port, as the system counts it
  bool wred_in_bytes = true;          // false: percent of the queue only (Junos)
  bool has_headroom_override = true;  // bytes; Junos takes a cable length and an MRU instead
  Bytes headroom_min = {};            // what an override may be; meaningless without one
  Bytes headroom_max = Bytes::max();
  Length auto_headroom_limit =
      Length::max();                   // longest cable for which it sizes headroom on its own
  bool has_headroom_pool = false;      // headroom shared between ports, oversubscribed
  bool has_buffer_pools = false;       // can carve shares for classes
  bool has_one_lossless_pool = false;  // … but one only for all lossless classes
  bool has_static_xoff = false;
  Alpha min_alpha = Alpha::from_log2(-7);
  Alpha max_alpha;
  Share probability_step = 1_percent;  // smallest step of the marking probability
  int max_lossless_priorities;
  Duration watchdog_detect_min;
  Duration watchdog_detect_max;
  Duration watchdog_restore_min;
  Duration watchdog_restore_max;
  bool has_watchdog_forward = false;
  bool has_watchdog_alert = false;
  std::string_view source;
};

[[nodiscard]] std::span<const NicModel> nic_models();
[[nodiscard]] std::span<const AsicModel> asic_models();
[[nodiscard]] std::span<const SystemModel> system_models();
[[nodiscard]] const NicModel* find_nic(std::string_view name);
[[nodiscard]] const AsicModel* find_asic(std::string_view name);
[[nodiscard]] const SystemModel& system_model(SwitchSystem);

/// Whether switches with this system and this ASIC are sold. The generic ASIC goes with every
/// system.
[[nodiscard]] bool runs_on(SwitchSystem, const AsicModel&);

/// Signal speed in the cable, as a delay per metre: what a link really takes. Headroom is computed
/// with the upper bound for all cables instead (model::cable_delay).
[[nodiscard]] Duration delay_per_metre(CableKind);

/// Text tables for `weir explain nics|asics|systems`, with the source of each row.
[[nodiscard]] std::string explain_nics();
[[nodiscard]] std::string explain_asics();
[[nodiscard]] std::string explain_systems();

}  // namespace weir::design
