#pragma once
// The steps before the search: is RDMA traffic in its class, and does PFC fire when it must? A
// tuning of a fabric that fails one of them would tune the fault.
#include <cstdint>

#include "base/result.h"
#include "design/fabric/variant.h"
#include "tune/evaluation.h"
#include "tune/result.h"

namespace weir::tune {

/// A burst that must make the receiver's switch pause its ingresses, by calculation: unless no more
/// comes in than goes out, as from one sender.
struct Burst {
  std::string receiver;
  std::string leaf;
  std::size_t senders = 0;
  std::size_t ingresses = 0;  // ports by which it reaches the receiver's switch
  Bytes xoff;                 // of each of them, when all are congested alike
  Bytes silent;               // no pause is possible up to this size per sender
  Bytes size;                 // per sender: pauses
  bool can_wait = true;       // more can come to the receiver's switch than leaves it
  [[nodiscard]] std::string load() const;
};
/// REQUIRES: at least two hosts.
[[nodiscard]] Burst burst_of(const design::Intent& intent);

struct Groundwork {
  StepOutcome classify;
  StepOutcome pfc;
  [[nodiscard]] bool holds() const {
    return classify.state == StepState::kPassed && pfc.state == StepState::kPassed;
  }
};
/// Lint and the proof, then the burst with the reaction point off: the share of bytes in the RDMA
/// class, pauses, drops. REQUIRES: `evaluator` is of the same design.
[[nodiscard]] Result<Groundwork> check_groundwork(const design::Variant& fabric, std::uint64_t seed,
                                                  Evaluator& evaluator);

}  // namespace weir::tune
