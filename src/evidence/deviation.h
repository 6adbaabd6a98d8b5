#pragma once
// Where a NIC is not what the design wants: the one comparison of facts with intent. Validation
// turns a deviation into a finding, the planner into an operation; neither compares on its own.
//
// A fact that could not be read is a deviation of its own kind (`missing` says why): it is neither
// right nor wrong, and nobody may count it as right.
//
// An intent may leave things open (one made from a convention instead of a design): a speed, MTU,
// ring or cable of 0, no address, no traffic class in use and no DCQCN value ask for nothing.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "design/fabric/intent.h"
#include "evidence/evidence.h"

namespace weir::evidence {

/// In the order in which they are safe to change (PFC last of all: it may take the link down).
enum class Setting : std::uint8_t {
  kLinkUp,       // not ours to change
  kSpeed,        // not ours to change
  kGidV2,        // a RoCEv2 GID in the rail's subnet; not ours to change
  kGlobalPause,  // 802.3x
  kDcbx,         // the operating system decides, no firmware agent, not willing
  kTrust,
  kDscpToPriority,
  kPriorityToTc,
  kScheduling,  // TSA and ETS shares
  kTcMaxRate,   // a limit on the RDMA class: found, not changed
  kMtu,
  kActiveMtu,  // follows from kMtu; not ours to change
  kStackMtu,   // of bonds, VLANs and bridges on top; where the design asks for it
  kRings,
  kIrqAffinity,  // where the design asks for it
  kSysctl,       // of the host; one deviation each, where the design asks for it
  kCableLength,
  kCmTos,
  kTrafficClass,  // forced on the port
  kCnpMarking,
  kKnob,  // one deviation each
  kEcnNp,
  kEcnRp,
  kPfc,
};
[[nodiscard]] std::string_view to_text(Setting);  // "trust", "DSCP map", …: as a column shows it

struct Deviation {
  Setting setting = Setting::kTrust;
  std::string item;                // which one: the knob's name, "DSCP 24-31"; else empty
  std::string expected;            // as a person reads it: "dscp", "priority 3", "9000B"
  std::string found;               // empty where missing
  std::optional<Missing> missing;  // could not be read, and why
};

/// What the traffic classes of a NIC are set to: the shares of the ETS classes as whole percents
/// that add up to 100, by largest remainder. A class nobody uses is strict, with no share.
struct TcScheduling {
  std::array<Tsa, 8> tsa{};
  std::array<unsigned, 8> percent{};
};
[[nodiscard]] TcScheduling wanted_scheduling(const design::NicIntent& wanted);

/// Host tuning that the design asks for (host_tuning); `device` is empty where it is the whole
/// host's. None of it is needed for RDMA.
struct TuningDeviation {
  std::string device;
  int rail = 0;
  Deviation deviation;
};
[[nodiscard]] std::vector<TuningDeviation> tuning_deviations(const Evidence& found,
                                                             const design::HostIntent& wanted,
                                                             const design::Intent& intent);

/// The socket-buffer sysctls with their largest value raised where it is lower: "4096 131072
/// 268435456". nullopt where it is large enough.
[[nodiscard]] std::optional<std::string> raised_sysctl(std::string_view value);

/// The least MTU of what stands on a NIC and has the NIC's own frames: bonds, VLANs, bridges.
/// nullopt where there is nothing.
[[nodiscard]] std::optional<Bytes> stack_mtu(const std::vector<Layer>& layers);
[[nodiscard]] bool carries_whole_frames(const Layer& layer);

/// Of one NIC; empty where all is as designed and all was read, in the order of Setting. `intent`
/// has the DCQCN values; those and the cable length are asked of mlx5 alone. ECN on more priorities
/// than designed is no deviation (it acts on marked packets only), PFC on more is one; nor is the
/// vendors' map of DSCP / 8 for best effort. A forced traffic class deviates where it is set and
/// its DSCP differs: the NIC fills in the ECN bits.
[[nodiscard]] std::vector<Deviation> deviations(const Nic& found, const design::NicIntent& wanted,
                                                const design::Intent& intent);

/// What the driver does not have is as the design wants it: no pause, no limit, no negotiation, no
/// forced class, no ring to size. It is missing, and nobody needs to look for it.
[[nodiscard]] bool cannot_be_wrong(const Deviation& deviation, const Nic& nic);

}  // namespace weir::evidence
