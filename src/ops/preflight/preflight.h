#pragma once
// Go or no-go before training: the stages of preflight/stage.h on the hosts of a lab or on real
// ones, each judged by what was measured and by what the counters did around it. Stops at the first
// red flag.
#include <functional>
#include <optional>
#include <string>

#include "finding/thresholds.h"
#include "host/change/state_directory.h"
#include "ops/source/hosts.h"
#include "ops/source/progress.h"
#include "ops/source/switch_configs.h"
#include "preflight/report.h"

namespace weir::ops {

struct PreflightRequest {
  Source source;
  std::string design = {};                // empty: the lab's own
  std::vector<SwitchFile> switches = {};  // stand for the switches themselves, in stage 0
  bool is_quick = false;
  std::optional<preflight::StageId> from = {};   // none: the first
  std::optional<preflight::StageId> until = {};  // none: the last
  std::optional<Duration> soak = {};             // none: no soak
  std::vector<std::string> perftest = {};        // on hosts: more words for every perftest
  std::string collective = {};         // on hosts: a command of nccl-tests, run on the first
  Duration collective_limit = 1800_s;  // then it is ended
  std::string drain = {};              // on hosts: the command that drains a rail …
  std::string restore = {};            // … and the one that ends it
  bool despite_lint = false;           // the design may be broken
  std::string resume = {};  // a file of an earlier run: what passed there is not run again
  finding::Severity red_flag = finding::Severity::kError;  // findings from here on stop it
  finding::Thresholds thresholds = {};
  std::string state = {};    // where the failure of stage 7 is written down, as an apply is
  std::string tool = {};     // "weir 0.1.0"
  host::LockWait wait = {};  // for another that changes the hosts
  ProgressCallback progress = {};
  std::function<bool()> is_interrupted = {};
  std::function<void(const preflight::Report&)> on_plan = {};  // budgets are known, nothing has run
  std::function<void(const preflight::Report&, preflight::StageId)> on_stage = {};  // one is done
};

/// A failure where nothing could be run, or (kInterrupted) where it was stopped: then everything is
/// as it was before, and on_stage has told what was done.
[[nodiscard]] Result<preflight::Report> run_preflight(const PreflightRequest& request);

/// What `weir preflight --out` wrote.
[[nodiscard]] weir::Result<preflight::Report> read_preflight(const std::string& path);

}  // namespace weir::ops
