#pragma once
// The design's congestion control as the fluid model (model/dcqcn_fluid.h) sees it: flows that meet
// at one port. Lint and the calculators ask the same question through it.
#include <string_view>

#include "base/result.h"
#include "design/fabric/intent.h"
#include "design/file/fabric.h"
#include "model/dcqcn_fluid.h"
#include "units/quantity.h"

namespace weir::design {

/// `flows` senders to the host behind `port`. Thresholds are the port's, packets are of mtu.rdma.
/// The ConnectX variant takes every value from the intent's registers; a published variant takes
/// its paper's values, and from the registers only what the design writes. Fails where the model
/// has no place for the values (a ramp without width, an increase of nothing).
[[nodiscard]] Result<model::FluidParameters> fluid_at(const Design& design, const Intent& intent,
                                                      const SwitchPortIntent& port, int flows);

/// A lower bound of the loop delay between the two hosts that are farthest apart: mark → CNP →
/// slower packets at the marking port. Empty queues; propagation, the switches' own latency and one
/// data packet count, a NIC's time to answer does not (not published).
[[nodiscard]] Duration least_loop_delay(const Design& design, const Intent& intent);

/// The design's own line for a knob, under whichever of its names; nullptr where it has none.
[[nodiscard]] const Knob* written_knob(const Design& design, std::string_view name);

}  // namespace weir::design
