#include "ops/inspect/validate.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "diagnose/validate/configuration.h"
#include "diagnose/validate/validate.h"

namespace weir::ops {
namespace {

/// Counts again after `time`: what links did in it is in the difference.
void watch(const HostSet& set, Duration time, const ProgressCallback& progress, Observation& seen) {
  constexpr std::int64_t kPicosecondsPerMillisecond = 1'000'000'000;
  constexpr std::int64_t kStep = 500;
  const std::int64_t total = time.raw() / kPicosecondsPerMillisecond;
  for (std::int64_t done = 0; done < total; done += kStep) {
    tell(progress, static_cast<double>(done) / static_cast<double>(total));
    std::this_thread::sleep_for(std::chrono::milliseconds(std::min(kStep, total - done)));
  }
  std::vector<std::optional<weir::Result<counters::Snapshot>>> again(set.hosts.size());
  const auto seen_before = [&](const std::string& name) {
    return std::find_if(seen.hosts.begin(), seen.hosts.end(),
                        [&](const auto& other) { return other.provenance.host == name; });
  };
  for_each_host(set, [&](std::size_t i, host::HostIo& host) {
    if (seen_before(host.name()) != seen.hosts.end()) again[i] = host.snapshot();
  });
  for (std::size_t i = 0; i < again.size(); ++i) {
    if (!again[i]) continue;
    const auto& host = set.hosts[i];
    const auto same = seen_before(host->name());
    weir::Result<counters::Snapshot>& later = *again[i];
    if (later) {
      same->snapshots.push_back(std::move(*later));
    } else {
      seen.unseen.push_back(fmt::format("{}: {}", host->name(), later.error().what));
    }
  }
}

/// Files of switches stand for the switches themselves.
void put_over(const std::vector<SwitchConfig>& configs, Observation& seen) {
  if (configs.empty()) return;
  if (!seen.switches) {
    seen.switches.emplace();
    seen.switches->provenance.origin = evidence::Origin::kText;
  }
  for (const SwitchConfig& config : configs) {
    std::erase_if(seen.switches->switches,
                  [&](const evidence::Switch& other) { return other.name == config.name; });
    seen.switches->switches.push_back(config.parsed.state);
  }
}

std::vector<std::string> unknown_hosts(const Observation& seen, const design::Intent& intent) {
  std::vector<std::string> names;
  for (const evidence::Evidence& host : seen.hosts)
    if (find_host(intent, host.provenance.host) == nullptr) names.push_back(host.provenance.host);
  return names;
}

/// What the files say beside the settings of the switches. What it could not tell before, it still
/// cannot.
void add_configurations(const design::Intent& intent, Validated& out) {
  const finding::Conclusion before = out.judgement.conclusion;
  for (const SwitchConfig& config : out.configs)
    if (const design::SwitchIntent* const wanted = find_switch(intent, config.name))
      diagnose::validate_configuration(config.parsed, *wanted, out.judgement);
  if (out.configs.empty()) return;
  finding::settle(out.judgement);
  if (out.judgement.conclusion == finding::Conclusion::kHealthy) out.judgement.conclusion = before;
}

void judge(const design::Intent& intent, const finding::Thresholds& thresholds, Validated& out) {
  const bool has_switches = out.seen.switches.has_value();
  std::vector<evidence::Evidence> all = std::move(out.seen).all();
  out.judgement = diagnose::validate(diagnose::View({all, &intent, thresholds}));
  out.seen.put_back(std::move(all), has_switches);
  add_configurations(intent, out);
  add_unseen(out.seen, out.judgement);
  const std::vector<finding::Unknown> unread = unread_lines(out.configs);
  out.judgement.unknown.insert(out.judgement.unknown.end(), unread.begin(), unread.end());
}

Result<Validated> validate_files(const ValidateRequest& request) {
  Validated out;
  WEIR_TRY(fabric, load_fabric(request.design));
  WEIR_TRY(overridden, lint_errors(fabric, request.despite_lint));
  out.fabric = std::move(fabric);
  WEIR_TRY(configs, read_switch_configs(request.switches, out.fabric.intent));
  out.configs = std::move(configs);
  put_over(out.configs, out.seen);
  judge(lowered(out.fabric.intent, out.configs, nullptr), request.thresholds, out);
  if (out.judgement.conclusion == finding::Conclusion::kHealthy && !out.judgement.unknown.empty())
    out.judgement.conclusion = finding::Conclusion::kInconclusive;
  return out;
}

}  // namespace

void add_unseen(const Observation& seen, finding::Judgement& judgement) {
  for (const std::string& text : seen.unseen)
    judgement.unknown.push_back({.check = "looking at " + text.substr(0, text.find(':')),
                                 .reason = text,
                                 .how = "see the message; the other hosts were judged"});
  if (!seen.unseen.empty() && judgement.conclusion == finding::Conclusion::kHealthy)
    judgement.conclusion = finding::Conclusion::kInconclusive;
}

Result<Checked> check(const Source& source, const diagnose::Convention& convention,
                      const finding::Thresholds& thresholds) {
  WEIR_TRY(set, open_hosts(source));
  set.with_switches = false;
  WEIR_TRY(seen, observe_some(set));
  Checked out;
  const design::Intent intent = diagnose::conventional_intent(seen.hosts, convention);
  out.judgement = diagnose::validate(diagnose::View({seen.hosts, &intent, thresholds}));
  add_unseen(seen, out.judgement);
  out.seen = std::move(seen);
  return out;
}

Result<Validated> validate(const ValidateRequest& request) {
  if (!request.source) return validate_files(request);
  Validated out;
  WEIR_TRY(set, open_hosts(*request.source));
  WEIR_TRY(fabric, fabric_for(request.design, set));
  WEIR_TRY(overridden, lint_errors(fabric, request.despite_lint));
  out.fabric = std::move(fabric);
  WEIR_TRY(configs, read_switch_configs(request.switches, out.fabric.intent));
  out.configs = std::move(configs);
  WEIR_TRY(seen, observe_some(set));
  out.seen = std::move(seen);
  if (request.watch) watch(set, *request.watch, request.progress, out.seen);
  restore_names(out.seen, out.fabric.intent, request.bundle_key);
  put_over(out.configs, out.seen);
  judge(lowered(out.fabric.intent, out.configs, set.lab ? &*set.lab : nullptr), request.thresholds,
        out);
  out.not_in_design = unknown_hosts(out.seen, out.fabric.intent);
  return out;
}

}  // namespace weir::ops
