#pragma once
// A fleet that is watched: a thread of its own looks at the hosts, round after round, and keeps
// what it saw last of each. Whoever scrapes, draws or judges reads that: many readers cost the
// hosts no more logins than one, and nobody waits for a host that does not answer.
//
// A host counts as soon as it has answered, not when its round is over. One that could not be read
// is not shown as it was before: what is not known now is absent. Two looks at each host are kept,
// for what its counters did in between; no more, however long it runs.
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "ops/source/hosts.h"
#include "units/quantity.h"

namespace weir::ops {

/// What became of the last look at a host.
struct WatchedHost {
  std::string host;
  std::optional<bool> is_seen = {};      // none: it was not looked at yet
  std::optional<double> last_seen = {};  // Unix seconds, of the last look that succeeded
};

class FleetRounds {
 public:
  /// A round begins `pace` after the one before began, or when that one is over, the later of the
  /// two. The first begins at once.
  FleetRounds(FleetSource fleet, Duration pace);
  FleetRounds(const FleetRounds&) = delete;
  FleetRounds& operator=(const FleetRounds&) = delete;
  /// Ends what is being run for the present round.
  ~FleetRounds();

  // ---- from any thread
  [[nodiscard]] Observation now() const;
  /// Every host that was seen twice, with the counters of the look before and those of now; none
  /// that was restarted in between.
  [[nodiscard]] std::vector<evidence::Evidence> window() const;
  /// As now(); a host that window() has with both looks, for rates of its own, however long ago
  /// others answered.
  [[nodiscard]] Observation now_with_window() const;
  /// Of a host that was not looked at yet: the reason in `unseen`.
  static constexpr std::string_view kNotYet = "not looked at yet";
  [[nodiscard]] std::vector<WatchedHost> hosts() const;
  /// Hosts that have answered or not in time, in all rounds: it grows whenever there is news.
  [[nodiscard]] std::uint64_t changes() const;
  /// Rounds that are over, and how long the last of them took.
  [[nodiscard]] std::uint64_t count() const;
  [[nodiscard]] double last_seconds() const;

 private:
  struct Look {
    std::shared_ptr<const evidence::Evidence> now;
    std::shared_ptr<const evidence::Evidence> before;  // the one that succeeded before
    std::string error;
    std::optional<double> last_seen;
    bool was_tried = false;

    /// It was seen twice, and not restarted in between.
    [[nodiscard]] bool has_window() const;
    /// REQUIRES: has_window(), and `host` is a copy of `now`.
    void add_window(evidence::Evidence& host) const;
  };
  void run();
  void look_at_all();
  void keep(std::size_t host, weir::Result<evidence::Evidence> seen);
  /// The looks as they are; evidence is shared, not copied.
  [[nodiscard]] std::vector<Look> looks() const;
  [[nodiscard]] std::string unseen_text(std::size_t host, const Look& look) const;
  [[nodiscard]] bool is_over() const;

  FleetSource fleet_;
  Duration pace_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<Look> looks_;  // in the order of the fleet
  std::uint64_t count_ = 0;
  std::uint64_t changes_ = 0;
  double last_seconds_ = 0;
  bool is_over_ = false;
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace weir::ops
