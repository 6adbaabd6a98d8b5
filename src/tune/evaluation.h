#pragma once
// The runs of a tuning. Everything that it decides is made of runs, each a pure function of its
// order (tune/run.h), so a result once known is never computed again: not within a tuning, not
// after it was interrupted.
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "design/fabric/variant.h"
#include "tune/crew/crew.h"
#include "tune/result.h"
#include "tune/run.h"

namespace weir::tune {

[[nodiscard]] double objective_of(const Metrics& metrics, Objective objective);
/// REQUIRES: at least one run.
[[nodiscard]] Summary summary_of(const std::vector<Metrics>& runs, Objective objective,
                                 double pause_limit);

/// Ratios of the objective of two lists of the same seeds; pairs of which one has no value (it did
/// not finish) are left out.
[[nodiscard]] std::vector<double> objective_ratios(const std::vector<Metrics>& before,
                                                   const std::vector<Metrics>& after,
                                                   Objective objective);

class Evaluator {
 public:
  /// Called after each run, in no particular order of runs: how many have been made so far.
  using Progress = std::function<void(std::uint64_t runs)>;

  /// Makes runs on `jobs` threads; with a foreman, his workers make them.
  Evaluator(const design::Design& design, unsigned jobs, Progress progress = {},
            Foreman* foreman = nullptr);
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;
  ~Evaluator();

  /// Keeps every result as a line of `path`, as soon as its run ends. With `is_resumed`, what is
  /// there already counts; a last line that was cut short is dropped. An error where the file is of
  /// another design, or where a run of it gives another result now.
  [[nodiscard]] Status keep_results(const std::string& path, bool is_resumed);

  /// In the order of `orders`. The error is that of the first run that could not be made.
  [[nodiscard]] Result<std::vector<Metrics>> run(const std::vector<RunOrder>& orders);

  /// Different runs so far, taken from the file or made.
  [[nodiscard]] std::uint64_t runs() const { return runs_; }
  /// Of those, how many were made here and now.
  [[nodiscard]] std::uint64_t made() const { return made_; }
  /// Runs at a time.
  [[nodiscard]] unsigned jobs() const { return jobs_; }
  /// CPU time of these runs when they were made. For the estimate of a budget in minutes, nothing
  /// else. REQUIRES: run() made them.
  [[nodiscard]] double cpu_seconds(const std::vector<RunOrder>& orders) const;

  /// The design under these settings; kept, so that it is derived once.
  [[nodiscard]] Result<const design::Variant*> variant(const std::vector<std::string>& settings) {
    return variants_.get(settings);
  }

 private:
  struct Known {
    MadeRun made;
    bool is_used = false;  // by this tuning
  };
  [[nodiscard]] std::uint64_t key_of(const RunOrder& order) const;
  /// How many bytes of the file are whole lines.
  [[nodiscard]] Result<std::size_t> read_results(const std::string& path);
  /// Makes them and calls keep() for each.
  [[nodiscard]] Status make(const std::vector<RunOrder>& orders);
  void keep(const RunOrder& order, const MadeRun& made);

  Variants variants_;
  std::uint64_t design_digest_ = 0;
  unsigned jobs_;
  Progress progress_;
  Foreman* foreman_;
  std::map<std::uint64_t, Known> known_;
  std::mutex guard_;  // of what keep() changes
  std::FILE* file_ = nullptr;
  std::uint64_t runs_ = 0;
  std::uint64_t made_ = 0;
};

}  // namespace weir::tune
