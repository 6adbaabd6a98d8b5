#pragma once
// What a change of a setting does to traffic while it is made, by place: one table. A row that was
// not verified on that system says so; such a change is tried on a spare port, or in a window.
#include <cstdint>
#include <span>
#include <string_view>

#include "design/fabric/intent.h"
#include "vocab/switch_systems.h"

namespace weir::tune {

enum class LiveEffect : std::uint8_t {
  kLive,      // at once, traffic goes on
  kUnknown,   // not documented: tried on a spare port first
  kDisturbs,  // packets are lost or held for a moment
  kStops,     // ports stop until it is done
};
[[nodiscard]] std::string_view to_text(LiveEffect);  // "live" "not known" "disturbs" "stops ports"

/// What is changed.
enum class RolloutPlace : std::uint8_t { kNic, kMarking, kBuffers };
[[nodiscard]] std::string_view to_text(RolloutPlace);  // "NIC" "ECN thresholds" "buffers"
/// Of a knob of the tuner: "dcqcn.*", "wred.*", "buffers.*".
[[nodiscard]] RolloutPlace place_of_knob(std::string_view knob);

struct LiveRow {
  std::string_view id;     // "sonic-marking"
  std::string_view where;  // "SONiC, WRED_PROFILE"
  LiveEffect effect = LiveEffect::kUnknown;
  std::string_view persistence;  // what a restart makes of it
  std::string_view trap;         // may be empty
  std::string_view source;
  bool is_verified = false;  // read in that source; else believed

  [[nodiscard]] bool needs_window() const { return effect != LiveEffect::kLive || !is_verified; }
};

[[nodiscard]] std::span<const LiveRow> live_rows();
/// For a switch. REQUIRES: kMarking or kBuffers.
[[nodiscard]] const LiveRow& live_row(vocab::SwitchSystem system, RolloutPlace place);
/// For the NICs of a host; nullptr where they have no such settings.
[[nodiscard]] const LiveRow* live_row(const design::HostIntent& host);

}  // namespace weir::tune
