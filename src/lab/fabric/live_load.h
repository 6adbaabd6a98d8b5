#pragma once
// A load that goes on in a lab for as long as someone watches it.
//
// The simulated network lives on from slice to slice: what ports did is read from it directly, so
// that a fabric of thousands of NICs can be shown every second. The lab's files follow more slowly:
// what was counted is saved beside the simulation, no more often than the machine can bear. Other
// verbs then see the counters, with everything since the last save but one as their last load. When
// another verb changes the lab, the network is set up anew as it is set now; so it is when the load
// is over.
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lab/fabric/lab.h"
#include "sim/results/activity.h"

namespace weir::lab {

struct LiveSlice {
  Duration simulated;  // of the fabric's time
  Duration clock;      // the lab's, after it
  std::vector<sim::PortActivity> ports;
  bool is_new_network = false;  // the first slice of it
  /// How often the settings of the lab were taken over, and up to which of them the files have
  /// counters of the load.
  std::uint64_t settings = 0;
  std::uint64_t saved_settings = 0;
};

class LiveLoad {
 public:
  /// An error where the lab cannot be opened or its fabric cannot run the load.
  [[nodiscard]] static Result<LiveLoad> start(const std::string& directory, Load load);
  LiveLoad(LiveLoad&&) noexcept;
  LiveLoad& operator=(LiveLoad&&) noexcept;
  /// What is not saved yet is saved.
  ~LiveLoad();

  /// Runs on for at most `most` of simulated time and for about `busy` of this machine's. An error
  /// where the lab is gone, or where its fabric cannot run the load any more.
  [[nodiscard]] Result<LiveSlice> advance(Duration most, std::chrono::nanoseconds busy);

  /// That the network was made from, as it is set now; valid until the next advance().
  [[nodiscard]] const design::Intent& intent() const;
  [[nodiscard]] const sim::Network& network() const;
  [[nodiscard]] const std::vector<std::string>& faults() const;

 private:
  struct Impl;
  explicit LiveLoad(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace weir::lab
