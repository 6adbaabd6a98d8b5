#include "ops/watch/watch.h"

#include <algorithm>
#include <utility>

#include "diagnose/core/convention.h"
#include "diagnose/core/diagnose.h"
#include "diagnose/core/join.h"
#include "diagnose/validate/validate.h"
#include "ops/inspect/validate.h"

namespace weir::ops {
namespace {

/// Every host with the counters of the judgement before in front of those of now.
std::vector<evidence::Evidence> with_window(const std::vector<evidence::Evidence>& before,
                                            const std::vector<evidence::Evidence>& now) {
  std::vector<evidence::Evidence> pieces = before;
  pieces.insert(pieces.end(), now.begin(), now.end());
  return diagnose::join_windows(std::move(pieces));
}

/// Findings of both, each once: settings are judged by validation and by the diagnosis alike.
void add_new(std::vector<finding::Finding> found, finding::Judgement& out) {
  for (finding::Finding& next : found) {
    const bool is_there = std::any_of(out.findings.begin(), out.findings.end(), [&](const auto& f) {
      return f.id == next.id && f.where == next.where;
    });
    if (!is_there) out.findings.push_back(std::move(next));
  }
}

}  // namespace

Result<Watch> Watch::open(WatchRequest request) {
  Watch watch(std::move(request));
  WEIR_TRY(set, open_hosts(watch.request_.source));
  if (set.lab || !watch.request_.design.empty()) {
    WEIR_TRY(fabric, fabric_for(watch.request_.design, set));
    watch.fabric_ = std::move(fabric);
  }
  if (watch.request_.source.fleet && watch.request_.rounds)
    watch.rounds_ =
        std::make_shared<const FleetRounds>(*watch.request_.source.fleet, *watch.request_.rounds);
  return watch;
}

bool Watch::speaks_for_many() const {
  const Source& source = request_.source;
  return !source.lab.empty() || !source.captures.empty() || source.fleet;
}

Result<Observation> Watch::look() const {
  if (rounds_) return rounds_->now();
  WEIR_TRY(set, open_hosts(request_.source));
  return observe(set);
}

Result<std::optional<std::pair<Observation, Observation>>> Watch::last_load() const {
  if (request_.source.lab.empty()) return bad_request("there is no lab");
  WEIR_TRY(set, open_hosts(request_.source));
  std::optional<std::pair<Observation, Observation>> out;
  if (!set.lab || !set.lab->last_run()) return out;
  WEIR_TRY(window, observe_last_load(set));
  out.emplace();
  for (evidence::Evidence& host : window) {
    if (host.nics.empty() || host.snapshots.size() < 2) continue;
    out->second.hosts.push_back(host);
    host.snapshots.resize(1);
    out->first.hosts.push_back(std::move(host));
  }
  return out;
}

Result<finding::Judgement> Watch::judge() {
  if (rounds_) {
    Observation seen = rounds_->now();
    if (seen.hosts.empty()) return no_host_seen(seen);
    const std::vector<evidence::Evidence> window = rounds_->window();
    return judge(seen, &window);
  }
  WEIR_TRY(set, open_hosts(request_.source));
  Observation seen = observe(set);
  auto judgement = judge(set, seen);
  before_ = std::move(seen).all();
  return judgement;
}

Result<finding::Judgement> Watch::judge(Observation& seen) const {
  WEIR_TRY(set, open_hosts(request_.source));
  return judge(set, seen);
}

Result<finding::Judgement> Watch::judge(const HostSet& set, Observation& seen) const {
  if (set.lab && set.lab->last_run()) {
    WEIR_TRY(last, observe_last_load(set));
    return judge(seen, &last);
  }
  // A lab in which nothing ran yet shows what is there now.
  if (set.lab) return judge(seen, nullptr);
  if (before_.empty()) {
    const std::vector<evidence::Evidence> nothing;
    return judge(seen, &nothing);
  }
  const std::vector<evidence::Evidence> window = with_window(before_, seen.all());
  return judge(seen, &window);
}

finding::Judgement Watch::judge(Observation& seen,
                                const std::vector<evidence::Evidence>* window) const {
  const bool has_switches = seen.switches.has_value();
  std::vector<evidence::Evidence> now = std::move(seen).all();
  const design::Intent usual = fabric_ ? design::Intent() : diagnose::conventional_intent(now);
  const design::Intent& intent = fabric_ ? fabric_->intent : usual;
  finding::Judgement out = diagnose::validate(diagnose::View({now, &intent, request_.thresholds}));
  const std::vector<evidence::Evidence>& shown = window == nullptr ? now : *window;
  if (!shown.empty()) {
    const design::Intent* designed = fabric_ ? &fabric_->intent : nullptr;
    finding::Judgement behaviour =
        diagnose::diagnose(diagnose::Case{shown, designed, request_.thresholds});
    add_new(std::move(behaviour.findings), out);
    std::move(behaviour.unknown.begin(), behaviour.unknown.end(), std::back_inserter(out.unknown));
  }
  finding::settle(out);
  seen.put_back(std::move(now), has_switches);
  add_unseen(seen, out);
  return out;
}

}  // namespace weir::ops
