#pragma once
// Who is watched while a load runs, shared by the ways of driving one.
#include <functional>

#include "ops/verify/verify.h"

namespace weir::ops {

struct Stage {
  HostSet set;
  Fabric fabric;
  std::string ran_on;  // the host that starts the load
  finding::Thresholds thresholds;

  [[nodiscard]] diagnose::Case subject(const std::vector<evidence::Evidence>& window) const {
    return {.evidence = window, .intent = &fabric.intent, .thresholds = thresholds};
  }
};
[[nodiscard]] Result<Stage> set_up(const VerifyRequest& request);

/// What was watched, and what the load did.
struct Watched {
  Drive drive;
  std::vector<evidence::Evidence> window;
  Observation after;
};

/// Looks, runs, looks again. A failure (kInterrupted) where the load was interrupted.
[[nodiscard]] Result<Watched> watch_command(Stage& stage, const std::vector<std::string>& words,
                                            const ProgressCallback& progress, bool watches_idle,
                                            const host::LoadControl& control = {});

}  // namespace weir::ops
