#pragma once
// What every port of a running simulation did since it was asked before: the few quantities that a
// live view shows, without names and facts. Tens of thousands of ports take milliseconds.
//
// What the counters of such a port would not show is absent, as it is in evidence: a counter that
// the driver of the NIC does not have, pauses where PFC is off.
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "design/fabric/intent.h"
#include "sim/engine/sim.h"
#include "sim/fabric/placement.h"

namespace weir::sim {

struct PortActivity {
  bool up = true;
  std::optional<std::uint64_t> sent = {};  // bytes; of a NIC: of RDMA
  std::optional<std::uint64_t> received = {};
  std::optional<Duration> paused = {};   // of the priority that was paused longest
  std::optional<Duration> pausing = {};  // the same of the other end
  std::optional<std::uint64_t> marks = {};
  std::optional<std::uint64_t> cnps = {};    // of a NIC: handled
  std::optional<std::uint64_t> losses = {};  // of a NIC: NAKs, timeouts and discards
};

class Activity {
 public:
  /// `sim` was made of this intent, and outlives this. Its first read() counts from the beginning.
  Activity(const design::Intent& intent, const Placement& placement, const Sim& sim);

  /// NICs host by host, then ports switch by switch, in the order of the intent. `now`: up to which
  /// the simulation ran; where it has nothing to do its own clock stays behind.
  [[nodiscard]] std::vector<PortActivity> read(Time now);

 private:
  struct Tally {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t marks = 0;
    std::uint64_t cnps = 0;
    std::uint64_t losses = 0;
    std::array<Ps, 8> paused{};
  };
  /// What its counters show.
  struct Shown {
    bool traffic = true;
    bool marks = true;
    bool cnps = false;
    bool naks = false;
    bool timeouts = false;
    bool discards = false;
    bool failures = false;
    PrioritySet pauses;
  };
  struct Watched {
    PortId port{0};
    PortId peer{0};
    NodeId nic = kNo<NodeId>;  // none: of a switch
    LinkId link{0};
    Shown shown;
  };

  [[nodiscard]] Shown shown_by(const design::HostIntent& host, const NicConfig& config) const;
  [[nodiscard]] static Shown shown_by(const SwitchConfig& config);
  [[nodiscard]] Tally tally_of(const Watched& watched, Ps now) const;
  [[nodiscard]] PortActivity change_of(const Watched& watched, const Tally& now) const;
  [[nodiscard]] std::optional<Duration> longest_pause(const Watched& watched, PortId port) const;

  const Sim& sim_;
  std::vector<Watched> watched_;
  Table<PortId, Tally> before_;
  Table<PortId, Tally> now_;
};

}  // namespace weir::sim
