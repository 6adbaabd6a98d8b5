#pragma once
// What a process that watches does again and again: look at hosts, and judge what it saw at a pace
// of its own. Neither an HTTP server nor a terminal is known here.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "finding/finding.h"
#include "finding/thresholds.h"
#include "ops/source/fabric.h"
#include "ops/source/hosts.h"
#include "ops/watch/rounds.h"

namespace weir::ops {

struct WatchRequest {
  Source source = {};
  /// Of a fleet: its hosts are looked at by a thread of their own at this pace (rounds.h), and what
  /// it saw last is what everybody sees. None: every look asks the hosts.
  std::optional<Duration> rounds = {};
  std::string design = {};  // empty: the lab's; of a machine: what RoCEv2 fabrics usually agree on
  finding::Thresholds thresholds = {};
};

class Watch {
 public:
  /// Loads the design. A failure where it is broken or a lab or capture cannot be opened; hosts
  /// that cannot be looked at now may be there later.
  [[nodiscard]] static Result<Watch> open(WatchRequest request);

  /// nullptr where there is no design.
  [[nodiscard]] const Fabric* fabric() const { return fabric_ ? &*fabric_ : nullptr; }
  /// Several hosts are looked at from here: a lab, captures, or a fleet.
  [[nodiscard]] bool speaks_for_many() const;

  /// nullptr where no fleet is watched in rounds.
  [[nodiscard]] const FleetRounds* rounds() const { return rounds_.get(); }

  /// Settings and counters of every host now; a lab is read again, others may have changed it.
  [[nodiscard]] Result<Observation> look() const;

  /// Of a lab: what was seen before and after its last load; nullopt where none has run. A failure
  /// where this is no lab.
  [[nodiscard]] Result<std::optional<std::pair<Observation, Observation>>> last_load() const;

  /// Settings against the design, and what the counters did since the judgement before; in a lab,
  /// what they did around its last load; of a fleet in rounds, between the last two looks at each
  /// host. A failure where no host of a fleet was seen yet.
  [[nodiscard]] Result<finding::Judgement> judge();
  /// The same of what look() has just seen, which is as it was afterwards.
  [[nodiscard]] Result<finding::Judgement> judge(Observation& seen) const;

 private:
  explicit Watch(WatchRequest request) : request_(std::move(request)) {}
  [[nodiscard]] Result<finding::Judgement> judge(const HostSet& set, Observation& seen) const;
  /// Settings of `seen` against the design, and what the counters did in `window`; nullptr: what
  /// they show now.
  [[nodiscard]] finding::Judgement judge(Observation& seen,
                                         const std::vector<evidence::Evidence>* window) const;

  WatchRequest request_;
  std::shared_ptr<const FleetRounds> rounds_;  // of all copies
  std::optional<Fabric> fabric_;
  std::vector<evidence::Evidence> before_;  // what the judgement before saw of each host
};

}  // namespace weir::ops
