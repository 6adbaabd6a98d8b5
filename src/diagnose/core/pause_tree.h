#pragma once
// From a port that is paused to what pauses it: who sends the pauses, why, and who else waits.
//
//   a port is paused      <-  the port at the other end of its cable sends pauses
//   a switch sends them   <-  it cannot pass on what arrives: one of its own ports is paused
//   it is not             <-  the queue of its busiest port is the root: more arrives than leaves
//   a host sends them     <-  it is the root: it does not take in what arrives
//
// A pure function of what ports counted. Where switches are not watched, the walk ends at the
// switch, and hosts that send pauses are named as what may be behind it.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "finding/thresholds.h"

namespace weir::diagnose {

/// A port as pauses see it. Absent: not counted.
struct PausePort {
  std::string device;               // host or switch
  int tier = 0;                     // 0: a host; 1: leaf, 2: spine …
  std::optional<std::size_t> peer;  // the other end of its cable
  std::optional<double> paused;     // share of the time that it had to be silent
  std::optional<double> pausing;    // … that it made the other end be silent
  std::optional<double> marks;      // packets per second that it marked (of a switch)
  std::optional<double> used;       // share of its speed that it sent
};

enum class PauseEnd : std::uint8_t {
  kHost,    // the host at `port` does not take in what arrives
  kQueue,   // more arrives for `port` than it can send
  kCircle,  // the walk came back to `port`: nothing moves
  kUnseen,  // the other end of `port` is not watched
};
[[nodiscard]] std::string_view to_text(PauseEnd);  // "host" "queue" "circle" "unseen"

struct PauseRoot {
  PauseEnd kind = PauseEnd::kUnseen;
  std::size_t port = 0;
  bool is_inferred = false;  // a host that sends pauses, beyond switches that are not watched

  friend bool operator==(const PauseRoot&, const PauseRoot&) = default;
};

struct PauseStep {
  std::size_t port = 0;            // paused …
  std::optional<std::size_t> by;   // … by this one, at the other end
  std::vector<PauseStep> because;  // paused ports of that device, the longest first
  std::optional<PauseRoot> root;   // where the walk ends here
};

struct PauseTree {
  PauseStep first;
  std::vector<PauseRoot> roots;      // each once, the one behind the longest pauses first
  std::vector<std::size_t> victims;  // every port that is paused because of the first root
};

/// A port counts as paused from pause_warning on. nullopt: `from` is not.
[[nodiscard]] std::optional<PauseTree> follow_pause(std::span<const PausePort> ports,
                                                    std::size_t from,
                                                    const finding::Thresholds& limits);

}  // namespace weir::diagnose
