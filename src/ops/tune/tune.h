#pragma once
// A design tuned: the search, the files it leaves, and the design with what it found.
#include <string>
#include <vector>

#include "ops/source/fabric.h"
#include "ops/source/progress.h"
#include "tune/tune.h"

namespace weir::ops {

struct TuneRequest {
  std::string design;
  std::string lab = {};           // a lab's design, where its hosts and switches are as designed
  tune::TuneRequest tuning = {};  // its results and progress are set here
  std::string out = {};           // a directory for tune.json and results.jsonl; empty: none
  std::string apply_to = {};      // a file for the design with the chosen values; empty: none
  bool is_forced = false;         // that file may exist
  tune::Crew* crew = nullptr;     // makes the runs
  /// This program; job steps of Slurm with it make the runs, `tuning.jobs` of them. Empty: none.
  std::string worker_program = {};
  ProgressCallback progress = {};
};

struct Tuned {
  tune::TuneResult result;
  std::string patch;                 // lines of the design file; empty where nothing is to change
  std::vector<std::string> written;  // files
};
[[nodiscard]] Result<Tuned> tune(const TuneRequest& request);

}  // namespace weir::ops
