#pragma once
// Juniper Junos: `set` commands; read back from `set` commands or from XML (`| display xml`).
//
// Two families. QFX (Tomahawk, Trident) divides its shared buffer into partitions by percent, with
// alpha as dynamic-threshold; PTX (deep buffers) has neither statement. A class of the design is a
// forwarding class with its queue; a lossless one has `no-loss` and `pfc-priority`. The traffic
// class of a forwarding class is its PFC priority, else its queue number, else the lowest free
// number.
//
// Lowering: ECN thresholds become whole percents of the largest queue of a port (below), at most
// half a percent off, and marking starts at 1 % or more; partitions become whole percents that add
// up to 100, with headroom rounded up; the switch computes headroom itself, from cable length and
// MRU. For the rest see lower_common.h.
#include "platforms/common/systems.h"

namespace weir::platforms {

struct JunosClass {
  std::string name;
  unsigned queue = 0;
  bool is_lossless = false;
  std::optional<unsigned> pfc_priority;
  unsigned traffic_class = 0;  // set by assign_traffic_classes
};

/// In the order of queues, then as given. False where there are more than eight: the rest keep 0.
bool assign_traffic_classes(std::vector<JunosClass>&);

/// Sets the maps of queues, groups and pauses. REQUIRES: assign_traffic_classes().
void set_class_maps(const std::vector<JunosClass>&, evidence::Switch& state);

/// PTX: deep buffers in virtual output queues, no partitions.
[[nodiscard]] bool is_ptx(const design::AsicModel&);

/// Partitions of a QFX, in percent.
struct JunosPartitions {
  unsigned lossless = 0;
  unsigned headroom = 0;
  unsigned lossy = 0;
};
[[nodiscard]] JunosPartitions junos_partitions(const design::SwitchIntent&);

/// The size that fill levels are percents of: the largest queue of one port while no other port is
/// congested, alpha * S / (1 + alpha) with S the lossless partition (PTX: a port's part of the deep
/// buffer). What a given Junos release counts as 100 % depends on the hardware.
[[nodiscard]] Bytes junos_largest_queue(const design::SwitchIntent&);

struct JunosPlan {
  Lowered lowered;
  std::vector<JunosClass> classes;
};
[[nodiscard]] JunosPlan junos_plan(const design::Intent&, const design::SwitchIntent&);
[[nodiscard]] Lowered junos_lower(const design::Intent&, const design::SwitchIntent&);
[[nodiscard]] Rendered junos_render(const design::Intent&, const design::SwitchIntent&);
[[nodiscard]] Result<Parsed> junos_parse(std::string_view text, std::string_view file);

}  // namespace weir::platforms
