#include "ops/watch/rounds.h"

#include <algorithm>
#include <chrono>
#include <ctime>

#include <fmt/format.h>

namespace weir::ops {
namespace {

using RoundClock = std::chrono::steady_clock;
constexpr std::int64_t kPicosecondsPerNanosecond = 1000;

}  // namespace

FleetRounds::FleetRounds(FleetSource fleet, Duration pace)
    : fleet_(std::move(fleet)), pace_(pace), looks_(fleet_.hosts.size()) {
  fleet_.limits.is_interrupted = [this, asked = std::move(fleet_.limits.is_interrupted)] {
    return is_over() || (asked && asked());
  };
  thread_ = std::thread([this] { run(); });
}

FleetRounds::~FleetRounds() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

bool FleetRounds::is_over() const {
  const std::lock_guard lock(mutex_);
  return is_over_;
}

void FleetRounds::run() {
  auto next = RoundClock::now();
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      ended_.wait_until(lock, next, [this] { return is_over_; });
      if (is_over_) return;
    }
    const auto begin = RoundClock::now();
    look_at_all();
    next = std::max(begin + std::chrono::nanoseconds(pace_.raw() / kPicosecondsPerNanosecond),
                    RoundClock::now());
    const std::lock_guard lock(mutex_);
    ++count_;
    last_seconds_ = std::chrono::duration<double>(RoundClock::now() - begin).count();
  }
}

/// A fleet per round: its budget is of the round, and a door that was dead is tried again.
void FleetRounds::look_at_all() {
  const auto set = open_hosts({.fleet = fleet_});
  if (!set) {
    for (std::size_t i = 0; i < looks_.size(); ++i)
      keep(i, Error{ErrorCode::kIo, set.error().what});
    return;
  }
  for_each_host(*set, [&](std::size_t i, host::HostIo& host) {
    auto seen = host.observe();
    if (!is_over()) keep(i, std::move(seen));
  });
}

void FleetRounds::keep(std::size_t host, weir::Result<evidence::Evidence> seen) {
  const std::lock_guard lock(mutex_);
  Look& look = looks_[host];
  look.was_tried = true;
  ++changes_;
  if (look.now != nullptr) look.before = std::move(look.now);
  look.now = nullptr;
  look.error.clear();
  if (!seen) {
    look.error = seen.error().what;
    return;
  }
  look.now = std::make_shared<const evidence::Evidence>(std::move(*seen));
  look.last_seen = static_cast<double>(std::time(nullptr));
}

std::vector<FleetRounds::Look> FleetRounds::looks() const {
  const std::lock_guard lock(mutex_);
  return looks_;
}

std::string FleetRounds::unseen_text(std::size_t host, const Look& look) const {
  return fmt::format("{}: {}", fleet_.hosts[host].name, look.was_tried ? look.error : kNotYet);
}

Observation FleetRounds::now() const {
  Observation out;
  const std::vector<Look> seen = looks();
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i].now != nullptr) {
      out.hosts.push_back(*seen[i].now);
    } else {
      out.unseen.push_back(unseen_text(i, seen[i]));
    }
  }
  return out;
}

Observation FleetRounds::now_with_window() const {
  Observation out;
  const std::vector<Look> seen = looks();
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i].now == nullptr) {
      out.unseen.push_back(unseen_text(i, seen[i]));
      continue;
    }
    out.hosts.push_back(*seen[i].now);
    if (seen[i].has_window()) seen[i].add_window(out.hosts.back());
  }
  return out;
}

std::vector<evidence::Evidence> FleetRounds::window() const {
  std::vector<evidence::Evidence> out;
  for (const Look& look : looks()) {
    if (!look.has_window()) continue;
    out.push_back(*look.now);
    look.add_window(out.back());
  }
  return out;
}

bool FleetRounds::Look::has_window() const {
  if (now == nullptr || before == nullptr) return false;
  if (before->snapshots.empty() || now->snapshots.empty()) return false;
  // The clock of a host begins again with it.
  return before->snapshots.back().clock_ns < now->snapshots.back().clock_ns;
}

void FleetRounds::Look::add_window(evidence::Evidence& host) const {
  std::vector<counters::Snapshot>& kept = host.snapshots;
  kept.erase(kept.begin(), kept.end() - 1);
  kept.insert(kept.begin(), before->snapshots.back());
}

std::vector<WatchedHost> FleetRounds::hosts() const {
  const std::lock_guard lock(mutex_);
  std::vector<WatchedHost> out;
  for (std::size_t i = 0; i < looks_.size(); ++i) {
    WatchedHost host{.host = fleet_.hosts[i].name, .last_seen = looks_[i].last_seen};
    if (looks_[i].was_tried) host.is_seen = looks_[i].now != nullptr;
    out.push_back(std::move(host));
  }
  return out;
}

std::uint64_t FleetRounds::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

std::uint64_t FleetRounds::changes() const {
  const std::lock_guard lock(mutex_);
  return changes_;
}

double FleetRounds::last_seconds() const {
  const std::lock_guard lock(mutex_);
  return last_seconds_;
}

}  // namespace weir::ops
