#pragma once
// The configuration of hosts and switches against the usual convention, or against a design.
#include <optional>
#include <string>
#include <vector>

#include "diagnose/core/convention.h"
#include "finding/finding.h"
#include "finding/thresholds.h"
#include "ops/source/hosts.h"
#include "ops/source/progress.h"
#include "ops/source/switch_configs.h"
#include "units/quantity.h"

namespace weir::ops {

struct Checked {
  Observation seen;
  finding::Judgement judgement;
};

/// Against what RoCEv2 fabrics usually agree on.
[[nodiscard]] Result<Checked> check(const Source& source, const diagnose::Convention& convention,
                                    const finding::Thresholds& thresholds);

struct ValidateRequest {
  std::optional<Source> source = Source{};  // none: the files of switches alone
  std::string design = {};                  // empty: the lab's own
  bool despite_lint = false;                // the design may be broken
  std::vector<SwitchFile> switches = {};    // stand for the switches themselves
  std::optional<Duration> watch = {};       // count again after this long: what links did in it
  std::string bundle_key = {};              // the secret that bundles were made with
  finding::Thresholds thresholds = {};
  ProgressCallback progress = {};
};

struct Validated {
  Fabric fabric;
  Observation seen;
  std::vector<SwitchConfig> configs;
  std::vector<std::string> not_in_design;  // hosts that were seen and that the design does not have
  finding::Judgement judgement;
};

[[nodiscard]] Result<Validated> validate(const ValidateRequest& request);

/// Hosts that could not be looked at are unknown: nothing is healthy because nobody looked.
void add_unseen(const Observation& seen, finding::Judgement& judgement);

}  // namespace weir::ops
