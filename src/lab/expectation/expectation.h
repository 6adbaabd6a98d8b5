#pragma once
// What the design leads one to expect of a load: the load that ran is simulated on the fabric as
// designed a few times, each time with other random draws (replicas), and every counter and time of
// the real run that lies outside the range of the replicas is listed.
//
// This is a comparison, not a diagnosis: it names no fault, has no severity and changes no
// conclusion. Hardware differs from the model by more than chance does.
//
// Pure: the same case and load give the same answer, whatever the number of threads.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "design/file/fabric.h"
#include "diagnose/core/view.h"
#include "sim/results/results.h"
#include "sim/workload/workload_spec.h"

namespace weir::lab {

/// What ran while the counters were read.
struct KnownLoad {
  std::vector<sim::WorkloadSpec> workloads;
  std::uint64_t seed = 1;        // of the workload: draws who talks to whom
  std::optional<Duration> took;  // nullopt: not measured, and not compared
  Duration limit = 100_ms;       // simulated time after which a replica is given up
};

/// A value of the real run outside the range of the replicas.
struct Deviation {
  std::string what;     // "ECN-marked packets received"
  std::string counter;  // its id; empty for the time of the load
  std::string where;    // a host or a switch; empty: the sum (or maximum) of all that was seen
  std::string unit;     // "packets", "us", "bytes"
  double measured = 0;
  double low = 0;  // of the replicas
  double high = 0;
};

struct Expectation {
  std::size_t replicas = 0;
  std::size_t compared = 0;        // values that both the real run and every replica have
  std::vector<Deviation> outside;  // totals first; within them the furthest outside first
};

/// Simulated runs of one load on one fabric as designed. Several cases of the same run (all hosts,
/// one host) can be compared with them.
class Replicas {
 public:
  static constexpr std::size_t kCount = 8;

  /// Called after each replica with how many are done, by one thread at a time; report only.
  using Told = std::function<void(std::size_t done)>;

  /// An error if the load does not fit the fabric (it names the workload and what is wrong with
  /// it), or does not finish on it in time.
  /// REQUIRES: `intent` was derived from `design` without errors.
  [[nodiscard]] static Result<Replicas> play(const design::Design& design,
                                             const design::Intent& intent, const KnownLoad& load,
                                             unsigned jobs = 1, const Told& told = {});

  /// What was not observed of the real fabric is not looked at in the simulated one either.
  /// REQUIRES: the view has the intent that the replicas were played on.
  [[nodiscard]] Expectation compare(const diagnose::View& observed) const;

 private:
  std::vector<sim::Results> runs_;
  std::optional<Duration> took_;
};

}  // namespace weir::lab
