#pragma once
// One run as a pure function: settings, workload, seed and fault in, metrics out. It does not
// matter who makes it: a thread here, a rank of weir-mpi or a worker on another node.
//
// Common random numbers: the engine has one random stream per purpose (arrivals, sizes, targets of
// each sender, source ports, marks of each port), so that a seed means the same load under every
// setting and two settings are compared pair by pair.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
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
  Duration limit = 1'000_ms;   // simulated
  std::string dead_host = {};  // whose own flows need not finish
  /// Under the rules of the HPCC simulator, on the flows of a run of the start values.
  bool is_in_peer = false;
};
/// Members "settings", "workloads", "faults", "seed", "limit_us", and the rest where it is said.
[[nodiscard]] Json to_json(const RunOrder& order);
[[nodiscard]] Result<RunOrder> run_order_from_json(const Json& document);

struct MadeRun {
  Metrics metrics;
  double cpu_seconds = 0;
};

[[nodiscard]] Metrics metrics_of(const sim::Outcome& outcome, const std::string& dead_host = {});

/// Designs under settings; each is derived once and kept.
class Variants {
 public:
  explicit Variants(const design::Design& design) : design_(design) {}

  /// Stays until trim().
  [[nodiscard]] Result<const design::Variant*> get(const std::vector<std::string>& settings);
  /// Forgets them where they have become many.
  void trim();
  /// Of the design as it was given: who makes runs of it must have the same.
  [[nodiscard]] std::uint64_t design_digest() const;

 private:
  const design::Design& design_;
  std::map<std::vector<std::string>, std::unique_ptr<design::Variant>> variants_;
};

/// A run, ready to be made on any thread. `variant` is the design under the order's settings,
/// `start` the design as it is.
struct ReadyRun {
  RunOrder order;
  const design::Variant* variant = nullptr;
  const design::Variant* start = nullptr;
  sim::Experiment experiment;  // without the intent, which is large: it comes with the run
};
/// The error is of the order's texts.
[[nodiscard]] Result<ReadyRun> ready_run(const RunOrder& order, Variants& variants);
[[nodiscard]] Result<MadeRun> make_run(const ReadyRun& run);

}  // namespace weir::tune
