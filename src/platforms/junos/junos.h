#pragma once
// Juniper Junos: `set` commands; read back from `set` commands or from XML (`| display xml`).
//
// Two families. QFX (Tomahawk, Trident) carves its shared buffer into partitions by percent and
// takes alpha as dynamic-threshold; PTX (deep buffers) has neither statement. A class of the design
// is a forwarding class with its queue; a lossless one has `no-loss` and `pfc-priority`. The
// traffic class of a forwarding class is its PFC priority, or else its queue's number, or else the
// lowest number that is free.
//
// lower: ECN thresholds become whole percents of the largest queue a port can have (below), each at
// most half a percent of it away, except that marking starts at 1 % at least; partitions become
// whole percents that add up to 100, headroom rounded up; headroom itself is the switch's own
// business, from cable length and MRU. The rest as lower_common.h says.
#include "platforms/common/systems.h"

namespace weir::platforms {

struct JunosClass {
  std::string name;
  unsigned queue = 0;
  bool is_lossless = false;
  std::optional<unsigned> pfc_priority;
  unsigned traffic_class = 0;  // set by assign_traffic_classes
};

/// By queue, then in the order given. At most eight: others keep 0 and are returned false for.
bool assign_traffic_classes(std::vector<JunosClass>&);

/// The maps that follow from classes with traffic classes.
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

/// What fill levels are percents of: the largest queue that one port can have while no other is
/// congested, alpha * S / (1 + alpha) with S the lossless partition (PTX: a port's part of the deep
/// buffer). Which size a given Junos release takes for 100 % is known only to hardware.
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
