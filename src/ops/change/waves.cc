#include "ops/change/waves.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "base/hosts/host_set.h"
#include "base/text.h"
#include "diagnose/validate/validate.h"

namespace weir::ops {
namespace {

std::vector<std::string> names_in(const std::vector<WaveHost>& hosts, WaveHostState state) {
  std::vector<std::string> names;
  for (const WaveHost& host : hosts)
    if (host.state == state) names.push_back(host.host);
  return names;
}

/// What of a wave is a reason to stop; empty where nothing is.
std::string flag_of(const std::vector<WaveHost>& hosts) {
  for (const WaveHostState bad :
       {WaveHostState::kFailed, WaveHostState::kLost, WaveHostState::kUndoneInPart}) {
    const std::vector<std::string> names = names_in(hosts, bad);
    if (names.empty()) continue;
    const auto first = std::find_if(hosts.begin(), hosts.end(),
                                    [&](const auto& host) { return host.state == bad; });
    return fmt::format("{}: {}: {}", fold_hosts(names), state_text(bad), first->detail);
  }
  return "";
}

std::string new_faults(const std::vector<std::string>& now,
                       const std::vector<std::string>& before) {
  std::vector<std::string> fresh;
  for (const std::string& fault : now)
    if (std::find(before.begin(), before.end(), fault) == before.end()) fresh.push_back(fault);
  if (fresh.empty()) return "";
  return fmt::format("a fault that was not there before: {}{}", fresh.front(),
                     fresh.size() > 1 ? fmt::format(" and {} more", fresh.size() - 1) : "");
}

/// Applies, looks, confirms; the red flag, if any.
std::string run_wave(Wave& wave, WaveDriver& driver, const std::vector<std::string>& before,
                     const std::function<bool()>& is_interrupted, const WaveEvent& note) {
  const auto was_interrupted = [&] { return is_interrupted && is_interrupted(); };
  const auto noted = [&](std::string_view what) -> std::string {
    const weir::Status written = note(what, wave);
    return written ? "" : written.error().what;
  };
  if (std::string wrong = noted("apply"); !wrong.empty()) return wrong;
  driver.apply(wave.hosts);
  if (std::string wrong = noted("applied"); !wrong.empty()) return wrong;
  if (was_interrupted()) return "interrupted";
  if (std::string flag = flag_of(wave.hosts); !flag.empty()) return flag;
  const std::vector<std::string> now = driver.faults(wave.hosts);
  if (was_interrupted()) return "interrupted";
  if (std::string flag = flag_of(wave.hosts); !flag.empty()) return flag;
  if (std::string flag = new_faults(now, before); !flag.empty()) return flag;
  if (std::string wrong = noted("confirm"); !wrong.empty()) return wrong;
  driver.confirm(wave.hosts);
  return flag_of(wave.hosts);
}

}  // namespace

std::string_view state_text(WaveHostState state) {
  switch (state) {
    case WaveHostState::kUntouched: return "not touched";
    case WaveHostState::kNothing: return "as designed already";
    case WaveHostState::kApplied: return "changed, not confirmed";
    case WaveHostState::kConfirmed: return "changed and confirmed";
    case WaveHostState::kRolledBack: return "rolled back";
    case WaveHostState::kFailed: return "failed";
    case WaveHostState::kLost: return "lost";
    case WaveHostState::kUndoneInPart: return "rolled back in part";
  }
  WEIR_UNREACHABLE("every state has a name");
}

std::size_t Waves::count(WaveHostState state) const {
  std::size_t count = 0;
  for (const Wave& wave : waves)
    count += names_in(wave.hosts, state).size();
  return count;
}

std::vector<Wave> plan_waves(const std::vector<std::string>& hosts, WaveSizes sizes) {
  WEIR_CHECK(sizes.canary > 0);
  const std::size_t tenth = std::max<std::size_t>(hosts.size() / 10, 1);
  const std::size_t batch = sizes.batch == 0 ? tenth : sizes.batch;
  std::vector<Wave> waves = {{"canary", {}}, {"batch", {}}, {"rest", {}}};
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const std::size_t wave = i < sizes.canary ? 0 : i < sizes.canary + batch ? 1 : 2;
    waves[wave].hosts.push_back({.host = hosts[i]});
  }
  std::erase_if(waves, [](const Wave& wave) { return wave.hosts.empty(); });
  return waves;
}

Waves drive_waves(std::vector<Wave> waves, WaveDriver& driver,
                  const std::vector<std::string>& faults_before,
                  const std::function<bool()>& is_interrupted, const WaveEvent& note) {
  Waves out;
  out.waves = std::move(waves);
  for (Wave& wave : out.waves) {
    out.red_flag = run_wave(wave, driver, faults_before, is_interrupted, note);
    if (out.red_flag.empty()) {
      (void)note("done", wave).has_value();
      continue;
    }
    out.was_interrupted = is_interrupted && is_interrupted();
    // What cannot be written down is rolled back all the same.
    (void)note("roll back", wave).has_value();
    driver.roll_back(wave.hosts);
    (void)note("stopped", wave).has_value();
    break;
  }
  return out;
}

std::vector<std::string> error_texts(const std::vector<evidence::Evidence>& hosts,
                                     const design::Intent& intent) {
  std::vector<std::string> texts;
  for (const finding::Finding& found : diagnose::validate(hosts, intent).findings) {
    if (found.severity < finding::Severity::kError || found.where.host.empty()) continue;
    texts.push_back(fmt::format("{} {}: {}", found.where.host, found.where.device, found.id));
  }
  return texts;
}

Result<WavePlan> plan_wave_apply(const WaveRequest& request) {
  WEIR_TRY(set, open_hosts(request.planned.source));
  if (set.are_captured)
    return bad_request("a captured machine cannot be changed: weir plan shows what would change");
  WEIR_TRY(fabric, fabric_for(request.planned.design, set));
  WEIR_TRY(lint, lint_errors(fabric, request.apply.despite_lint));
  WEIR_TRY(plan, plan_hosts(std::move(set), std::move(fabric)));
  return WavePlan{std::move(plan), std::move(lint)};
}

Result<Waves> apply_in_waves(WavePlan planned, const WaveRequest& request) {
  const Plan& plan = planned.plan;
  std::vector<std::string> names;
  for (const host::HostPlan& host : plan.hosts)
    names.push_back(host.host);
  if (names.empty()) return no_host_seen(plan.seen);
  const std::vector<std::string> before = error_texts(plan.seen.hosts, plan.fabric.intent);
  WEIR_TRY(journal, WaveJournal::create(plan.set.lab && request.apply.state.empty()
                                            ? plan.set.lab->directory() + "/journal"
                                            : request.apply.state,
                                        plan.fabric.design.file));
  std::unique_ptr<WaveDriver> driver;
  if (plan.set.lab) {
    driver = make_lab_driver(request, plan);
  } else {
    WEIR_TRY(made, make_fleet_driver(request, plan));
    driver = std::move(made);
  }
  Waves done =
      drive_waves(plan_waves(names, request.sizes), *driver, before, request.apply.is_interrupted,
                  [&](std::string_view what, const Wave& wave) { return journal.add(what, wave); });
  done.journal = journal.path();
  done.is_simulated = plan.seen.is_simulated();
  return done;
}

}  // namespace weir::ops
