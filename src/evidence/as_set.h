#pragma once
// A switch's settings as an intent: what the switch would do, in the shape that the simulator, the
// proof and validation use.
//
// Each system numbers its classes in its own way (NX-OS by queue); here a class that PFC
// protects has the priority of its pause frames, and the others keep their number where it is
// free. What the settings do not say stays as it is in the intent that one starts from.
#include <optional>

#include "design/fabric/intent.h"
#include "evidence/evidence.h"

namespace weir::evidence {

[[nodiscard]] design::SwitchIntent as_set(design::SwitchIntent start, const Switch& found);

/// The priority of each traffic class of `found`; classes that it does not distinguish have the
/// same.
[[nodiscard]] std::array<Priority, 8> priority_of_class(const Switch& found);

/// What marking thresholds in percent are percents of (Junos): the largest queue that a port can
/// have while no other is congested, alpha * S / (1 + alpha) with S the lossless partition at
/// egress. Nullopt where the switch does not carve its buffer in percent.
[[nodiscard]] std::optional<Bytes> largest_queue(const Switch& found, const EgressQueue& queue,
                                                 Bytes total);

/// A threshold in bytes, whichever way the switch says it; nullopt where that cannot be known.
[[nodiscard]] std::optional<Bytes> marking_bytes(const Switch& found, const EgressQueue& queue,
                                                 const Fact<Bytes>& bytes, const Fact<Share>& share,
                                                 Bytes total);

/// Priorities that are paused on this switch for certain: DCBX may take back what it negotiates.
[[nodiscard]] PrioritySet paused_on(const Switch& found);

}  // namespace weir::evidence
