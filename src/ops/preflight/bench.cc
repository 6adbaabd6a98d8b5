#include "ops/preflight/bench.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/text.h"
#include "ops/verify/verify.h"
#include "preflight/measure.h"

namespace weir::ops {
namespace {

// One queue pair per direction: its messages arrive in order, so that what arrives after the first
// of them was sent after it, and the rate is that of the wire without the start.
constexpr std::int64_t kMessageBytes = 256 * 1024;
constexpr std::uint32_t kMessages = 16;
constexpr std::uint32_t kQuickMessages = 8;
constexpr int kQueuePairs = 1;
constexpr Duration kPairLimit = 20_ms;
constexpr std::uint32_t kPings = 200;
constexpr double kPicosecondsPerSecond = 1e12;

std::size_t common_rails(const design::HostIntent& a, const design::HostIntent& b) {
  return std::min(a.nics.size(), b.nics.size());
}

sim::WorkloadSpec pair_spec(const std::string& from, const std::string& to) {
  sim::WorkloadSpec spec = sim::parse_workload("pair").value();
  spec.hosts = from + "," + to;
  spec.from = from;
  spec.to = to;
  return spec;
}

/// Flows between two hosts, on one rail: when they had arrived, and their sizes.
struct Stream {
  std::vector<std::pair<std::int64_t, std::int64_t>> done;  // ps, bytes
  std::size_t open = 0;
};
using StreamKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // from, to, rail

/// The rail of a NIC: the NICs of a host are numbered in the order of their rails.
std::map<sim::NodeId, std::uint32_t> rails_of(const lab::LoadOutcome& outcome) {
  std::map<std::uint32_t, std::vector<sim::NodeId>> nics;  // by host
  for (std::size_t i = 0; i < outcome.flows.size(); ++i) {
    nics[outcome.ends[i].first].push_back(outcome.flows[i].source);
    nics[outcome.ends[i].second].push_back(outcome.flows[i].target);
  }
  std::map<sim::NodeId, std::uint32_t> rails;
  for (auto& [host, nodes] : nics) {
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    for (std::uint32_t rail = 0; rail < nodes.size(); ++rail)
      rails.emplace(nodes[rail], rail);
  }
  return rails;
}

std::map<StreamKey, Stream> streams_of(const lab::LoadOutcome& outcome) {
  const std::map<sim::NodeId, std::uint32_t> rails = rails_of(outcome);
  std::map<StreamKey, Stream> out;
  for (std::size_t i = 0; i < outcome.flows.size(); ++i) {
    const sim::Flow& flow = outcome.flows[i];
    const auto [from, to] = outcome.ends[i];
    Stream& stream = out[{from, to, rails.at(flow.source)}];
    if (flow.is_done()) {
      // At the receiver, where messages arrive in order: acknowledgements may come in a bunch.
      stream.done.emplace_back((flow.post + outcome.deliveries[i]).since_start().raw(),
                               flow.size.raw());
    } else {
      ++stream.open;
    }
  }
  return out;
}

/// Bits per second after the first message; 0 where not all arrived.
double steady_rate(Stream& stream) {
  if (stream.open > 0 || stream.done.size() < 2) return 0;
  std::sort(stream.done.begin(), stream.done.end());
  std::int64_t bytes = 0;
  for (std::size_t i = 1; i < stream.done.size(); ++i)
    bytes += stream.done[i].second;
  const std::int64_t time = stream.done.back().first - stream.done.front().first;
  return time > 0
             ? static_cast<double>(bytes) * 8 * kPicosecondsPerSecond / static_cast<double>(time)
             : 0;
}

}  // namespace

std::vector<std::uint32_t> Bench::kinds() const {
  std::map<std::string, std::uint32_t> known;
  std::vector<std::uint32_t> out;
  for (const design::HostIntent& host : intent().hosts) {
    std::string kind = host.nic_model != nullptr ? std::string(host.nic_model->name) : "";
    for (const design::NicIntent& nic : host.nics)
      kind += fmt::format("/{}", nic.speed.raw());
    out.push_back(known.try_emplace(kind, static_cast<std::uint32_t>(known.size())).first->second);
  }
  return out;
}

Result<Window> Bench::watch(const std::function<Status()>& action) {
  WEIR_TRY(before, observe_some(set_));
  WEIR_TRY_STATUS(action());
  if (is_interrupted())
    return Failure{FailureKind::kInterrupted, "interrupted: the load has ended"};
  const Observation after = observe(set_);
  return Window{window_of(before.all(), after.all()), after.unseen};
}

Result<lab::LoadOutcome> Bench::run(std::vector<sim::WorkloadSpec> workloads,
                                    const std::string& command, Duration limit) {
  if (is_interrupted())
    return Failure{FailureKind::kInterrupted, "interrupted before the next load"};
  lab::Load load;
  load.command = command;
  load.workloads = std::move(workloads);
  load.limit = limit;
  return or_could_not_look(set_.lab->run_load(load));
}

Result<lab::LoadOutcome> Bench::run(const std::vector<std::string>& workloads, Duration limit) {
  std::vector<sim::WorkloadSpec> specs;
  for (const std::string& text : workloads) {
    WEIR_TRY(spec, or_could_not_look(sim::parse_workload(text)));
    specs.push_back(std::move(spec));
  }
  return run(std::move(specs), join(workloads, " + "), limit);
}

Result<std::vector<preflight::Sample>> Bench::exchange(const preflight::Round& round,
                                                       std::uint32_t number) {
  std::vector<sim::WorkloadSpec> specs;
  for (const preflight::HostPair& pair : round)
    for (const auto& [from, to] :
         {std::pair(pair.first, pair.second), std::pair(pair.second, pair.first)}) {
      sim::WorkloadSpec spec = pair_spec(name(from), name(to));
      spec.size = Bytes::raw(kMessageBytes);
      spec.iterations = request_.is_quick ? kQuickMessages : kMessages;
      spec.depth = 4;
      spec.qps = kQueuePairs;
      specs.push_back(std::move(spec));
    }
  WEIR_TRY(outcome, run(std::move(specs),
                        fmt::format("preflight: {} in pairs", counted(round.size() * 2, "host")),
                        kPairLimit));
  std::map<StreamKey, Stream> streams = streams_of(outcome);
  std::vector<preflight::Sample> out;
  for (const preflight::HostPair& pair : round)
    for (const auto& [from, to] :
         {std::pair(pair.first, pair.second), std::pair(pair.second, pair.first)}) {
      const design::HostIntent& sender = intent().hosts[from];
      const design::HostIntent& receiver = intent().hosts[to];
      for (std::uint32_t rail = 0; rail < common_rails(sender, receiver); ++rail)
        out.push_back({.from = from,
                       .to = to,
                       .rail = rail,
                       .round = number,
                       .rate = steady_rate(streams[{from, to, rail}]),
                       .floor = static_cast<double>(
                           preflight::pair_floor(sender.nics[rail], receiver.nics[rail],
                                                 request_.limits.floor_share)
                               .raw())});
    }
  return out;
}

Result<std::vector<double>> Bench::latencies(const preflight::Round& round) {
  std::vector<sim::WorkloadSpec> specs;
  for (const preflight::HostPair& pair : round) {
    sim::WorkloadSpec spec = pair_spec(name(pair.first), name(pair.second));
    spec.size = 64_B;
    spec.iterations = kPings;
    spec.qps = 1;
    specs.push_back(std::move(spec));
  }
  WEIR_TRY(outcome, run(std::move(specs), "preflight: small messages in pairs", kPairLimit));
  std::vector<double> out;
  for (std::size_t i = 0; i < outcome.flows.size(); ++i)
    if (outcome.flows[i].is_done())
      out.push_back(static_cast<double>(outcome.deliveries[i].raw()) / kPicosecondsPerSecond);
  return out;
}

void settle_stage(const PreflightRequest& request, finding::Judgement judgement,
                  preflight::StageResult& stage) {
  const bool is_red = std::any_of(
      judgement.findings.begin(), judgement.findings.end(),
      [&](const finding::Finding& found) { return found.severity >= request.red_flag; });
  const bool is_open =
      judgement.conclusion == finding::Conclusion::kInconclusive || judgement.is_partial();
  stage.state = is_red    ? preflight::State::kFailed
                : is_open ? preflight::State::kOpen
                          : preflight::State::kPassed;
  if (is_red) {
    stage.why = judgement.findings.front().verdict;
  } else if (is_open && !judgement.unknown.empty()) {
    const finding::Unknown& first = judgement.unknown.front();
    stage.why = fmt::format("{}: {}", first.check, first.reason);
  } else if (is_open) {
    stage.why = "too little data to call it healthy";
  }
  stage.judgement = std::move(judgement);
}

}  // namespace weir::ops
