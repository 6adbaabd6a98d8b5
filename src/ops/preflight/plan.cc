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
  const auto rounds = preflight::rounds_for(bench.leaves(), bench.request().is_quick);
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

}  // namespace

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
    const auto receivers = receivers_of(bench);
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

namespace {

/// "about 12 min".
std::string minutes_text(std::int64_t seconds) {
  constexpr std::int64_t kMinute = 60;
  if (seconds < 2 * kMinute) return fmt::format("about {} s", seconds);
  return fmt::format("about {} min", (seconds + kMinute / 2) / kMinute);
}

/// Loads of pairs, one after the other: alone, few, then the rounds, then small messages.
std::int64_t pair_loads(const Bench& bench) {
  const bool is_quick = bench.request().is_quick;
  const auto rounds = preflight::rounds_for(bench.leaves(), is_quick).size();
  const auto grown =
      is_quick ? 1 : std::max<std::size_t>(preflight::growth(bench.hosts()).size(), 1);
  return static_cast<std::int64_t>(rounds + grown + 1);
}

}  // namespace

void plan_hosts(const Bench& bench, std::int64_t seconds, preflight::Report& report) {
  const PreflightRequest& request = bench.request();
  const auto at = [&](StageId id) -> preflight::StageResult& {
    return report.stages.at(preflight::number_of(id));
  };
  constexpr std::int64_t kAround = 6;  // to connect, to look before and after
  const std::int64_t each = seconds + kAround;
  at(StageId::kFacts).budget = fmt::format("{}, no load", counted(bench.hosts(), "host"));
  at(StageId::kIdle).budget = request.is_quick ? "30 s" : "5 min";
  if (bench.hosts() < 2) {
    for (const StageId id : {StageId::kPath, StageId::kPairs, StageId::kOverload,
                             StageId::kCollectives, StageId::kFailure, StageId::kSoak})
      at(id).budget = "-", at(id).why = "needs more hosts than one: --hosts, or --lab DIR";
    at(StageId::kLoopback).budget = minutes_text(each);
    return;
  }
  at(StageId::kPath).budget = fmt::format(
      "pings of full size and up to 2000 messages from every NIC, {}", minutes_text(each));
  at(StageId::kLoopback).budget = fmt::format("every NIC with itself, {}", minutes_text(each));
  at(StageId::kPairs).budget =
      fmt::format("{}, {}", pairs_budget(bench), minutes_text(pair_loads(bench) * each));
  if (bench.hosts() < 3) {
    does_not_apply(at(StageId::kOverload), "two hosts cannot overload a third");
  } else {
    const auto receivers = receivers_of(bench);
    at(StageId::kOverload).budget =
        fmt::format("{} senders to {}, {}", bench.hosts() - 1, join(receivers, ", then to "),
                    minutes_text(static_cast<std::int64_t>(receivers.size()) * each));
  }
  at(StageId::kCollectives).budget =
      fmt::format("{}perftest all-to-all, then beside best effort, {}",
                  request.collective.empty() ? "" : "the collective, ", minutes_text(2 * each));
  if (request.drain.empty()) {
    at(StageId::kFailure).budget = "-";
    at(StageId::kFailure).why = "how a rail is drained is not said: --drain CMD --restore CMD";
  } else {
    at(StageId::kFailure).budget =
        fmt::format("{}: before, during, after, {}", request.drain, minutes_text(3 * each));
  }
  at(StageId::kSoak).budget = request.soak ? approximate(*request.soak) : "-";
  if (!request.soak) at(StageId::kSoak).why = "not asked for: --soak TIME";
}

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

std::vector<std::string> receivers_of(const Bench& bench) {
  const std::vector<std::uint32_t> below = bench.leaves();
  std::set<std::uint32_t> leaves;
  std::vector<std::string> out;
  for (std::uint32_t i = 0; i < bench.hosts(); ++i) {
    const design::HostIntent& host = bench.host(i);
    if (host.nics.empty()) continue;
    if (!leaves.insert(below[i]).second) continue;
    out.push_back(host.name);
    if (bench.request().is_quick) break;
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

}  // namespace weir::ops
