#pragma once
// One run as a pure function: settings, workload, seed and fault in, metrics out. Everything that a
// tuning decides is made of such runs, so a result once known is never computed again: not within a
// tuning, not after it was interrupted.
//
// Common random numbers: the engine has one random stream per purpose (arrivals, sizes, targets of
// each sender, source ports, marks of each port), so that a seed means the same load under every
// setting and two settings are compared pair by pair.
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "design/fabric/variant.h"
#include "sim/results/simulate.h"
#include "tune/result.h"

namespace weir::tune {

/// A workload to tune for, as it was written.
struct Load {
  std::string text;
  sim::WorkloadSpec spec;
};
[[nodiscard]] Result<Load> parse_load(const std::string& text);

struct RunOrder {
  std::vector<std::string> settings;  // "path=value", over the design's
  std::vector<std::string> loads;     // they run at once
  std::vector<std::string> faults;
  std::uint64_t seed = 1;
  Duration limit = 1'000_ms;  // simulated
};

[[nodiscard]] double objective_of(const Metrics& metrics, Objective objective);
[[nodiscard]] Metrics metrics_of(const sim::Outcome& outcome);

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

  Evaluator(const design::Design& design, unsigned jobs, Progress progress = {});
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;
  ~Evaluator();

  /// Keeps every result as a line of `path`, in the order of the runs. With `is_resumed`, what is
  /// there already counts; a last line that was cut short is dropped. An error where the file is of
  /// another design, or where a run of it gives another result now.
  [[nodiscard]] Status keep_results(const std::string& path, bool is_resumed);

  /// In the order of `orders`. The error is that of the first run that could not be made.
  [[nodiscard]] Result<std::vector<Metrics>> run(const std::vector<RunOrder>& orders);

  /// Different runs so far, taken from the file or made.
  [[nodiscard]] std::uint64_t runs() const { return runs_; }
  [[nodiscard]] unsigned jobs() const { return jobs_; }
  /// CPU time of the runs that were made. For the estimate of a budget in minutes, nothing else.
  [[nodiscard]] double cpu_seconds() const { return cpu_seconds_; }

  /// The design under these settings; kept, so that it is derived once.
  [[nodiscard]] Result<const design::Variant*> variant(const std::vector<std::string>& settings);

 private:
  struct Known {
    Metrics metrics;
    bool is_used = false;  // by this tuning
  };
  struct Pending;
  [[nodiscard]] std::uint64_t key_of(const RunOrder& order) const;
  [[nodiscard]] Status read_results(const std::string& path);
  [[nodiscard]] Status make(std::vector<Pending>& pending);

  const design::Design& design_;
  std::uint64_t design_digest_ = 0;
  unsigned jobs_;
  Progress progress_;
  std::map<std::uint64_t, Known> known_;
  std::map<std::vector<std::string>, std::unique_ptr<design::Variant>> variants_;
  std::FILE* file_ = nullptr;
  std::uint64_t runs_ = 0;
  double cpu_seconds_ = 0;
};

}  // namespace weir::tune
