#pragma once
// From anything that was observed to the cause: evidence, captures, labs, and plain text.
#include <optional>
#include <string>
#include <vector>

#include "diagnose/core/interpret.h"
#include "finding/finding.h"
#include "finding/thresholds.h"
#include "lab/expectation/expectation.h"
#include "ops/source/hosts.h"
#include "ops/source/progress.h"
#include "readers/paste/paste.h"

namespace weir::ops {

struct DiagnoseRequest {
  std::vector<std::string> files = {};  // JSON of ours, bundles, or text; - is standard input
  std::optional<Source> source = {};    // a lab or captures beside them
  std::string design = {};              // empty: the lab's, or none
  finding::Thresholds thresholds = {};
  std::optional<lab::KnownLoad> load = {};  // what ran: compared with simulated runs on the design
  ProgressCallback progress = {};
};

struct Diagnosed {
  std::optional<readers::Paste> paste;  // of the files that are plain text, together
  std::size_t hosts = 0;
  std::size_t switches = 0;
  bool has_counters = false;
  bool is_simulated = false;
  std::vector<std::string> unseen;
  finding::Judgement judgement;
  std::vector<diagnose::Question> questions;
  std::optional<lab::Expectation> expectation;
};

[[nodiscard]] Result<Diagnosed> diagnose_all(const DiagnoseRequest& request);

}  // namespace weir::ops
