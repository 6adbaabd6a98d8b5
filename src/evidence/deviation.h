#pragma once
// Where a NIC is not what the design wants: the one comparison of facts with intent. Validation
// turns a deviation into a finding, the planner into an operation; neither compares on its own.
//
// A deviation holds values, not words: what was wanted and what was found, as the types of
// vocab/setting.h. text_of() is the one place that makes words of it.
//
// A fact that could not be read is a deviation of its own kind (`missing` says why): it is neither
// right nor wrong, and must not be counted as right.
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
#include "vocab/setting.h"

namespace weir::evidence {

using vocab::Setting;
using vocab::SettingValue;

/// Entries of a value that is a map or a pair, first to last: code points, priorities, classes, or
/// the first (rx, DSCP) and the second (tx, priority) of two.
struct Part {
  unsigned first = 0;
  unsigned last = 0;
  friend bool operator==(const Part&, const Part&) = default;
};

struct Deviation {
  Setting setting = Setting::kTrust;
  SettingValue wanted;
  std::optional<SettingValue> found;  // nullopt where missing
  std::optional<Missing> missing;     // could not be read, and why
  std::optional<Part> part;           // which entries of the value; nullopt: all of it
  friend bool operator==(const Deviation&, const Deviation&) = default;
};

/// As a person reads it.
struct DeviationText {
  std::string item;      // which one: the parameter's name, "DSCP 24-31"; else empty
  std::string expected;  // "dscp", "priority 3", "9000B"
  std::string found;     // empty where missing
};
[[nodiscard]] DeviationText text_of(const Deviation& deviation);
/// The setting and the item: "DSCP map DSCP 24-31".
[[nodiscard]] std::string subject_of(const Deviation& deviation);

/// A value alone, as a plan shows it: "dscp", "3", "26→3, the rest DSCP/8".
[[nodiscard]] std::string value_text(const SettingValue& value);

/// What the traffic classes of a NIC are set to: the shares of the ETS classes as whole percents
/// that add up to 100, by largest remainder. An unused class is strict, with no share.
[[nodiscard]] vocab::SetScheduling wanted_scheduling(const design::NicIntent& wanted);

/// Of one NIC; empty where all is as designed and all was read, in the order of Setting. `intent`
/// has the DCQCN values; those and the cable length are asked of mlx5 alone. ECN on more priorities
/// than designed is no deviation (it acts on marked packets only), PFC on more is one; nor is the
/// vendors' map of DSCP / 8 for best effort. A forced traffic class deviates where it is set and
/// its DSCP differs: the NIC fills in the ECN bits.
[[nodiscard]] std::vector<Deviation> deviations(const Nic& found, const design::NicIntent& wanted,
                                                const design::Intent& intent);

/// What the driver does not have is as the design wants it: no pause, no limit, no negotiation, no
/// forced class, no ring to size. It is missing, and need not be looked for.
[[nodiscard]] bool cannot_be_wrong(const Deviation& deviation, const Nic& nic);

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

/// The least MTU of the devices on top of a NIC that have the NIC's own frames: bonds, VLANs,
/// bridges. nullopt where there is nothing.
[[nodiscard]] std::optional<Bytes> stack_mtu(const std::vector<Layer>& layers);
[[nodiscard]] bool carries_whole_frames(const Layer& layer);

/// The setting of `like` as the NIC has it, or why that is not known.
[[nodiscard]] Fact<SettingValue> fact_of(const SettingValue& like, const Nic& nic);
/// The setting of `like` as the NIC has it; nullopt where it could not be read.
[[nodiscard]] std::optional<SettingValue> as_found(const SettingValue& like, const Nic& nic);
/// The same for a device of a host, or for the whole host; nullopt too where the device is gone.
[[nodiscard]] std::optional<SettingValue> as_found(const SettingValue& like,
                                                   const std::string& device, const Evidence& host);

/// What the design wants of one setting of a NIC that is `found`; nullopt where it asks for
/// nothing.
[[nodiscard]] std::optional<SettingValue> wanted_of(Setting setting, const Nic& found,
                                                    const design::NicIntent& wanted,
                                                    const design::Intent& intent);

/// The lines one would type to set `value` by hand, for the stack that this NIC runs on; `before`
/// is the NIC as it was found. Empty where nothing can be typed for it.
[[nodiscard]] std::vector<std::string> commands_for(const SettingValue& value, const Nic& before);

/// Why this NIC's driver or port cannot be set so, and what can be done instead; empty where it
/// can.
[[nodiscard]] std::string_view obstacle_to(const SettingValue& value, const Nic& nic);

}  // namespace weir::evidence
