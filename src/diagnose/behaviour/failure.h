#pragma once
// The same load three times: before a failure, during it and after it. The fabric stays lossless
// and carries the load during the failure, and recovers after it.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "diagnose/core/interpret.h"
#include "finding/finding.h"

namespace weir::diagnose {

struct FailurePhase {
  int exit_status = 0;
  std::uint64_t lossless_drops = 0;
  finding::Judgement judgement;
  std::vector<std::string> lost = {};  // hosts that the failure took away
  std::size_t others = 0;              // hosts that are left beside them
  bool others_finished = false;        // all that the other hosts had to send to each other arrived
  bool shows_failure = true;           // a link went down, or packets were lost or sent again

  [[nodiscard]] bool is_finished() const { return exit_status == 0; }
  /// A load cannot outlive its own hosts; what counts is what the others did.
  [[nodiscard]] bool is_survived() const {
    return is_finished() || (!lost.empty() && others_finished);
  }
};

/// What of the lossless class was dropped for want of buffer: a link that goes down takes what is
/// on it along, and that is no fault of the fabric.
[[nodiscard]] std::uint64_t lossless_drops(const std::vector<Observation>& observations);

/// Whether counters show that something failed: a link that went down, loss, retransmissions.
[[nodiscard]] bool shows_failure(const std::vector<Observation>& observations);

/// `failure` is what failed, in words. What the failure itself shows is expected and no finding.
[[nodiscard]] finding::Judgement judge_failure(const std::array<FailurePhase, 3>& phases,
                                               const std::string& failure);

}  // namespace weir::diagnose
