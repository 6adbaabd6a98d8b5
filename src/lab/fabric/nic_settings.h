#pragma once
// What one simulated NIC is set to, as its owner could read and change it.
//
// A NIC begins as it comes out of the box (factory_settings) and changes by operations alone. The
// rules of the real driver hold: writing a DSCP map turns trust to DSCP, going back to PCP empties
// the map, and what the driver or firmware does not offer is refused in its words.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/json_cursor.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "design/fabric/intent.h"
#include "evidence/evidence.h"
#include "host/change/operation.h"
#include "units/qos_code.h"
#include "units/quantity.h"

namespace weir::lab {

struct NicSettings {
  bool pause_rx = true;  // 802.3x
  bool pause_tx = true;
  evidence::DcbxMode dcbx = evidence::DcbxMode::kFirmware;
  evidence::TrustMode trust = evidence::TrustMode::kPcp;
  /// Entries of the map; there are none under PCP trust. The NIC takes a code point without one
  /// for priority 0: deleting an entry does that.
  std::array<std::optional<Priority>, 64> dscp_to_priority{};
  std::array<TrafficClass, 8> priority_to_tc{};
  std::array<evidence::Tsa, 8> tsa{};
  std::array<unsigned, 8> tc_bandwidth{};
  PrioritySet pfc;
  Length cable;
  PrioritySet np;
  PrioritySet rp;
  Dscp cnp_dscp;
  Priority cnp_priority;
  std::map<std::string, std::int64_t, std::less<>> knobs;  // registers, without the CNP's marking
  std::optional<TosByte> traffic_class;                    // forced on every queue pair
  TosByte cm_tos;
  Bytes mtu;
  unsigned ring_rx = 0;
  unsigned ring_tx = 0;

  friend bool operator==(const NicSettings&, const NicSettings&) = default;
};

/// What the driver stack of a host lets a user change.
struct NicPlatform {
  const design::NicModel* model = nullptr;  // not null
  design::HostStack stack = design::HostStack::kOfed;

  [[nodiscard]] bool is_mlx5() const { return model->driver == vocab::Driver::kMlx5; }
  /// The vendor's driver has switches for ECN and the forced traffic class; the kernel's has not.
  [[nodiscard]] bool is_ofed_mlx5() const { return is_mlx5() && stack == design::HostStack::kOfed; }
};

[[nodiscard]] NicSettings factory_settings(const NicPlatform& platform);
/// As the design wants it, where the platform lets it be so.
[[nodiscard]] NicSettings designed_settings(const NicPlatform& platform,
                                            const design::NicIntent& nic,
                                            const design::Intent& intent);

struct Effect {
  bool changed = false;
  bool flaps_link = false;  // a new PFC mask takes the link of mlx5 down for a moment
};
/// The error has the reason that the driver would have: not supported, or a value it refuses.
[[nodiscard]] Result<Effect> perform(const host::Change& change, const NicPlatform& platform,
                                     NicSettings& settings);

/// Makes the intent say what the NIC does. `tos` is what its RDMA packets are marked with.
void write_to(const NicSettings& settings, TosByte tos, design::NicIntent& nic);
/// Takes over into `settings` what a fault changed between two intents of the NIC. Where the
/// platform has no such setting it stays as it is.
void take_over(const design::NicIntent& before, const design::NicIntent& after,
               const NicPlatform& platform, NicSettings& settings);

/// Every key with its value.
[[nodiscard]] Json all_keys(const NicSettings& settings);
/// Only the keys in which `settings` differs from `base`.
[[nodiscard]] Json difference(const NicSettings& base, const NicSettings& settings);
/// Sets the keys of a JSON object; unknown ones are errors, as an older Weir must not drop them.
[[nodiscard]] Status set_keys(const JsonCursor& object, NicSettings& settings);

}  // namespace weir::lab
