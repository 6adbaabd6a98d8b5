#pragma once
// The load that was observed, rehearsed: what the counters of the fabric as designed would be, and
// of the fabric with this fault or that.
//
// Some faults leave no counter that speaks for itself: DCQCN's parameters, marking thresholds a
// factor of two off, hash seeds. But the design is known, what ran is known, and the simulator is
// at hand: the same load is played on the fabric as designed, several times by other chances. Where
// what was observed is none of these, faults are played too, and the one whose counters look most
// like the observed ones is named. It is a guess (confidence low): a simulation is no fabric.
//
// Pure: the same case and load, the same answer.
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "design/file/fabric.h"
#include "diagnose/core/view.h"
#include "finding/finding.h"
#include "lab/rehearsal/rehearsal_chances.h"
#include "sim/results/results.h"
#include "sim/workload/workload_spec.h"

namespace weir::lab {

/// What ran while the counters were read.
struct KnownLoad {
  std::vector<sim::WorkloadSpec> workloads;
  std::uint64_t seed = 1;        // decides who talks to whom, where the workload leaves that open
  std::optional<Duration> took;  // nullopt: the window of the counters says nothing about it
  Duration limit = 10_ms;        // of a rehearsal, simulated
};

/// One load on one fabric; what was played once is not played again, so several cases of the same
/// run (what all saw, what one host saw) cost little more than one.
class Rehearsal {
 public:
  /// REQUIRES: `intent` was derived from `design` without errors; both outlive this.
  Rehearsal(const design::Design& design, const design::Intent& intent, KnownLoad load,
            unsigned jobs = 1);

  /// Whether the load fits the fabric; the error names the workload and what is wrong with it.
  [[nodiscard]] Status check() const;
  /// How many there were.
  [[nodiscard]] std::size_t runs() const { return count_; }

  /// Adds the guess that fits best, where one fits clearly better than the fabric as designed.
  /// What rules know for sure stays, and is played along where the simulator can; else nothing is
  /// rehearsed. REQUIRES: `of.intent` is the one of the constructor.
  [[nodiscard]] finding::Judgement judge(const diagnose::Case& of, finding::Judgement said);

  /// Called after runs, with how many there were; report only.
  void on_progress(std::function<void(std::size_t)> told) { told_ = std::move(told); }

 private:
  /// What chance decides in the runs of one comparison.
  struct Chances {
    std::vector<std::uint64_t> lucks;  // of each run
    LinkLoads loads;                   // that paths are chosen by; empty: by luck as well
    friend auto operator<=>(const Chances&, const Chances&) = default;
  };
  struct Run {
    sim::Results results;
    std::vector<std::int64_t> bytes;  // of each queue pair
  };
  using Runs = std::vector<Run>;
  /// The first `count` of this fabric; none where the faults do not fit it.
  const Runs& play(const std::vector<std::string>& faults, std::size_t count,
                   const Chances& chances);
  /// Of the first `count` runs; fewer where some could not be played.
  const std::vector<Ports>& ports_of(const Chances& chances, std::size_t count);
  /// Where part of the load comes at random: draws in which NICs send and receive what was counted.
  [[nodiscard]] std::vector<std::uint64_t> lucks_for(const diagnose::View& view);
  [[nodiscard]] Result<sim::Fabric> fabric_of(std::uint64_t luck) const;

  friend class Comparison;
  const design::Design& design_;
  const design::Intent& intent_;
  KnownLoad load_;
  unsigned jobs_;
  std::map<std::pair<Chances, std::vector<std::string>>, Runs> played_;
  std::map<Chances, std::vector<Ports>> ports_;
  std::function<void(std::size_t)> told_;
  std::size_t count_ = 0;
};

}  // namespace weir::lab
