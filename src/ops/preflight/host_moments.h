#pragma once
// Slow moments of loads on hosts, gathered over the loads of a stage: what NICs counted while they
// ran (verify/load_looks.h), lined up as the lab's are (preflight/measure.h). Internal to this
// folder.
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ops/verify/host_load.h"
#include "preflight/moments.h"

namespace weir::ops {

class Bench;

class HostMoments {
 public:
  /// REQUIRES: the bench outlives it.
  explicit HostMoments(const Bench& bench) : bench_(bench) {}

  /// To be filled in by a load. REQUIRES: it lives no longer than this.
  [[nodiscard]] LoadLooks looks(When when) const;
  /// Of a load that was looked at throughout.
  void add(const LoadLooks& looks);
  /// The tail of small messages between two NICs, looked at before and after: pairs stand for
  /// moments, and a high tail for a low rate.
  void add_tail(const Flow& flow, double seconds, const LoadLooks& looks);
  /// Sentences on all since it was last asked; none where no load was looked at.
  [[nodiscard]] std::vector<std::string> take();

 private:
  using NicKey = std::pair<std::uint32_t, std::uint32_t>;  // host, rail
  struct Gathered {
    preflight::LineUp found;
    std::vector<double> intervals;  // seconds
    std::map<NicKey, std::size_t> slow;
    std::set<NicKey> coarse;
    std::set<NicKey> silent;  // no bytes could be read
    std::vector<double> tail_rates;
    preflight::FlowControl tail_control;
  };
  [[nodiscard]] std::string nic_text(const NicKey& nic) const;
  [[nodiscard]] std::string hosts_of(const std::set<NicKey>& nics) const;

  const Bench& bench_;
  Gathered gathered_;
};

}  // namespace weir::ops
