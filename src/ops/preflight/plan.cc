// What a preflight will do, said before it does anything.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "ops/preflight/bench.h"
#include "preflight/schedule.h"
#include "units/format.h"

namespace weir::ops {
namespace {

using preflight::StageId;
using preflight::State;

void does_not_apply(preflight::StageResult& stage, std::string why) {
  stage.state = State::kNotApplicable;
  stage.budget = "-";
  stage.why = std::move(why);
}

std::string pairs_budget(const Bench& bench) {
  const auto rounds = preflight::rounds_for(bench.hosts(), bench.request().is_quick);
  const auto all = preflight::circle_rounds(bench.hosts());
  std::string out =
      fmt::format("{} with all {} hosts", counted(rounds.size(), "round"), bench.hosts());
  if (rounds.size() < all.size()) out += fmt::format(" (of {} for all pairs)", all.size());
  const auto sizes = preflight::growth(bench.hosts());
  if (!sizes.empty() && !bench.request().is_quick)
    out = fmt::format("2{} hosts first, then {}",
                      sizes.size() > 1 ? fmt::format(" to {}", sizes.back()) : "", out);
  return out;
}

void plan_lab(const Bench& bench, preflight::Report& report) {
  const PreflightRequest& request = bench.request();
  auto& stages = report.stages;
  const auto at = [&](StageId id) -> preflight::StageResult& {
    return stages.at(preflight::number_of(id));
  };
  const bool is_quick = request.is_quick;
  at(StageId::kFacts).budget = fmt::format("{} and {}, no load", counted(bench.hosts(), "host"),
                                           counted(bench.intent().switches.size(), "switch"));
  at(StageId::kIdle).budget = is_quick ? "500 us simulated" : "2 ms simulated";
  at(StageId::kPath).budget = "256 KB from every NIC to the next host's";
  does_not_apply(at(StageId::kLoopback), "a lab simulates neither a loopback nor GPUs");
  at(StageId::kPairs).budget = pairs_budget(bench);
  if (bench.hosts() < 3) {
    does_not_apply(at(StageId::kOverload), "two hosts cannot overload a third");
  } else {
    const auto receivers = receivers_of(bench.intent(), is_quick);
    at(StageId::kOverload).budget =
        fmt::format("{} senders to {}", bench.hosts() - 1, join(receivers, ", then to "));
  }
  at(StageId::kCollectives).budget =
      fmt::format("all-reduce, all-to-all{}",
                  background_of(bench.intent()).empty() ? "" : ", all-to-all with other classes");
  const std::string failure = failure_of(bench.intent());
  if (failure.empty()) {
    does_not_apply(at(StageId::kFailure), "hosts have one rail each, and leaves one uplink each");
  } else {
    at(StageId::kFailure).budget = fmt::format("{}: before, during, after", failure);
  }
  if (request.soak) {
    at(StageId::kSoak).budget = fmt::format("{} simulated", approximate(*request.soak));
  } else {
    at(StageId::kSoak).budget = "-";
    at(StageId::kSoak).why = "not asked for: --soak TIME";
  }
}

}  // namespace

std::string failure_of(const design::Intent& intent) {
  const bool has_rails =
      std::all_of(intent.hosts.begin(), intent.hosts.end(),
                  [](const design::HostIntent& host) { return host.nics.size() > 1; });
  if (has_rails && !intent.hosts.empty())
    return fmt::format("rail={}", intent.hosts.front().nics.back().rail);
  for (const design::SwitchIntent& device : intent.switches) {
    if (device.tier != 1) continue;
    std::vector<std::string> up;
    for (const design::SwitchPortIntent& port : device.ports)
      if (!port.is_access) up.push_back(port.name);
    if (up.size() > 1) return fmt::format("link={}/{}", device.name, up.front());
  }
  return {};
}

std::vector<std::string> receivers_of(const design::Intent& intent, bool is_quick) {
  std::set<std::uint32_t> leaves;
  std::vector<std::string> out;
  for (const design::HostIntent& host : intent.hosts) {
    if (host.nics.empty()) continue;
    const std::uint32_t leaf = intent.links[host.nics.front().link].upper.node;
    if (!leaves.insert(leaf).second) continue;
    out.push_back(host.name);
    if (is_quick) break;
  }
  return out;
}

std::vector<std::string> background_of(const design::Intent& intent) {
  std::vector<std::string> out;
  const auto has = [&](std::string_view name) {
    return std::find(intent.class_names.begin(), intent.class_names.end(), name) !=
           intent.class_names.end();
  };
  if (has("storage")) out.emplace_back("storage,load=10%,duration=200us");
  if (has("best_effort")) out.emplace_back("lossy,load=5%,duration=200us");
  return out;
}

void plan_stages(const Bench& bench, preflight::Report& report) {
  if (bench.is_lab()) return plan_lab(bench, report);
  for (preflight::StageResult& stage : report.stages) {
    stage.budget = "-";
    stage.why = "needs more hosts than this one: --lab DIR, or weir verify --pair for each pair";
  }
  report.stages[0].budget = "this host, no load";
  report.stages[1].budget = bench.request().is_quick ? "30 s" : "5 min";
}

}  // namespace weir::ops
