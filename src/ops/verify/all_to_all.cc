// perftest from every host of a fleet to others at the same time, with all of them watched.
#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "base/hosts/host_set.h"
#include "base/text.h"
#include "host/probe/load_report.h"
#include "ops/inspect/validate.h"
#include "ops/verify/host_load.h"
#include "ops/verify/stage.h"
#include "preflight/measure.h"
#include "units/rate_text.h"

namespace weir::ops {
namespace {

/// The hosts that take part: those of the design that were named, by their number here.
struct Party {
  std::vector<const design::HostIntent*> hosts;
  LoadHosts ways;
  std::vector<std::string> names;
};

Result<Party> party_of(const Stage& stage) {
  Party out;
  for (const design::HostIntent& host : stage.fabric.intent.hosts)
    for (const auto& way : stage.set.hosts) {
      if (way->name() != host.name) continue;
      out.ways.emplace(static_cast<std::uint32_t>(out.hosts.size()), way.get());
      out.hosts.push_back(&host);
      out.names.push_back(host.name);
    }
  if (out.hosts.size() < 2)
    return bad_request(fmt::format("--all-to-all: expected two hosts of {} or more, found {}",
                                   stage.fabric.design.file, out.hosts.size()));
  return out;
}

std::vector<Flow> flows_of(const Party& party, const std::vector<std::string>& perftest) {
  std::vector<Flow> flows;
  for (const auto& [from, to] : all_to_all_pairs(static_cast<std::uint32_t>(party.hosts.size())))
    add_flows({from, party.hosts[from]}, {to, party.hosts[to]}, perftest, flows);
  return flows;
}

/// What the streams moved, in a sentence each; true where all of them finished.
bool note_rates(const Party& party, const std::vector<Flow>& flows,
                const std::vector<FlowOutcome>& outcomes, Drive& drive) {
  constexpr std::size_t kNamed = 4;
  struct Rate {
    double value = 0;
    std::size_t flow = 0;
  };
  std::vector<Rate> rates;
  std::vector<std::string> failed;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const double rate = flow_rate(outcomes[i]);
    if (rate > 0) {
      rates.push_back({rate, i});
    } else {
      failed.push_back(failure_text(party.names[flows[i].from], party.names[flows[i].to], flows[i],
                                    outcomes[i]));
    }
  }
  std::sort(rates.begin(), rates.end(),
            [](const Rate& a, const Rate& b) { return a.value < b.value; });
  if (!rates.empty()) {
    const Flow& slowest = flows[rates.front().flow];
    drive.notes.push_back(
        fmt::format("{} between {}: {} in the median, least {} ({} to {}, rail {})",
                    counted(rates.size(), "stream"), counted(party.hosts.size(), "host"),
                    rate_text(rates[rates.size() / 2].value), rate_text(rates.front().value),
                    party.names[slowest.from], party.names[slowest.to], slowest.rail));
  }
  for (std::size_t i = 0; i < std::min(failed.size(), kNamed); ++i)
    drive.notes.push_back("failed: " + failed[i]);
  if (failed.size() > kNamed)
    drive.notes.push_back(fmt::format("failed: {} more", failed.size() - kNamed));
  return failed.empty();
}

}  // namespace

Result<Verified> verify_all_to_all(const VerifyRequest& request,
                                   const std::vector<std::string>& perftest) {
  if (!request.source.lab.empty()) return verify_load(request, {"all-to-all"});
  if (!request.source.fleet)
    return bad_request("--all-to-all runs between the hosts of a fleet: add --hosts SET");
  if (!host::perftest_command(perftest) || !perftest.front().ends_with("_bw"))
    return bad_request(
        fmt::format("--perftest: expected ib_write_bw or another bandwidth test of perftest, found "
                    "'{}'",
                    join(perftest, " ")));
  const auto is_healing = std::make_shared<std::atomic<bool>>(false);
  VerifyRequest loaded = request;
  loaded.source = source_for_loads(request.source, is_healing);
  WEIR_TRY(stage, set_up(loaded));
  WEIR_TRY(party, party_of(stage));
  WEIR_TRY(before, observe_some(stage.set));
  const std::vector<Flow> flows = flows_of(party, perftest);
  const auto seen = [&](std::uint32_t host) -> const evidence::Evidence* {
    const auto found =
        std::find_if(before.hosts.begin(), before.hosts.end(),
                     [&](const auto& each) { return each.provenance.host == party.names[host]; });
    return found == before.hosts.end() ? nullptr : &*found;
  };
  const auto begin = std::chrono::steady_clock::now();
  WEIR_TRY(outcomes, run_flows(
                         party.ways, flows,
                         [&](std::uint32_t host, std::uint32_t rail) {
                           return choose_end(party.names[host], seen(host), stage.fabric.intent,
                                             party.hosts[host]->nics[rail].rail);
                         },
                         request.is_interrupted, *is_healing));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const Observation after = observe(stage.set);
  Drive drive;
  drive.words = {"all-to-all"};
  drive.words.insert(drive.words.end(), perftest.begin(), perftest.end());
  drive.ran_on = stage.ran_on;
  drive.outcome.elapsed = Duration::raw(static_cast<std::int64_t>(took.count() * 1e12));
  drive.outcome.exit_status = note_rates(party, flows, outcomes, drive) ? 0 : 1;
  drive.sees_all_ends = after.unseen.empty();
  const std::vector<evidence::Evidence> window = window_of(before.all(), after.all());
  Verified verified = judge_drive(std::move(drive), diagnose::View(stage.subject(window)));
  verified.drive.ran_on = fold_hosts(party.names);
  add_unseen(after, verified.judged.judgement);
  return verified;
}

}  // namespace weir::ops
