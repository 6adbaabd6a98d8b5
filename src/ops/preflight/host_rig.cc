// Loads of a preflight on real hosts: perftest, run by shells there (host_load.h).
#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "base/parallel.h"
#include "base/text.h"
#include "diagnose/behaviour/preflight.h"
#include "host/probe/load_report.h"
#include "ops/preflight/bench.h"
#include "ops/preflight/host_moments.h"
#include "ops/verify/host_load.h"
#include "preflight/gpu_loopback.h"
#include "preflight/measure.h"
#include "units/format.h"
#include "units/rate_text.h"

namespace weir::ops {
namespace {

using preflight::Better;

constexpr std::int64_t kSeconds = 5;
constexpr std::int64_t kQuickSeconds = 2;
constexpr std::int64_t kSoakSeconds = 60;

class HostRig final : public Rig {
 public:
  explicit HostRig(Bench& bench) : bench_(bench), moments_(bench) {
    for (std::uint32_t i = 0; i < bench_.hosts(); ++i)
      for (const auto& host : bench_.set().hosts)
        if (host->name() == bench_.name(i)) hosts_[i] = host.get();
  }

  void plan(preflight::Report& report) const override { plan_hosts(bench_, seconds(), report); }

  Result<Duration> rest() override {
    const std::chrono::seconds time(bench_.request().is_quick ? 30 : 300);
    for (std::chrono::seconds done{0}; done < time; ++done) {
      if (bench_.is_interrupted())
        return Failure{FailureKind::kInterrupted, "interrupted while the counters were watched"};
      tell(bench_.request().progress,
           static_cast<double>(done.count()) / static_cast<double>(time.count()), "idle");
      std::this_thread::sleep_for(std::chrono::seconds(1));
    }
    return 1_s * time.count();
  }

  Result<LoadRun> neighbours(finding::Judgement& judgement) override {
    WEIR_TRY(notes, ping_neighbours(judgement));
    std::vector<Flow> flows;
    for (std::uint32_t i = 0; i < bench_.hosts(); ++i)
      add_flows(i, (i + 1) % bench_.hosts(), counted_messages(2000), flows);
    WEIR_TRY(out, run("neighbour_bandwidth", flows));
    out.notes.insert(out.notes.end(), notes.begin(), notes.end());  // behind why it failed
    out.summary = fmt::format("{} reached the next host's NIC", counted(out.transfers, "NIC"));
    return out;
  }

  Result<LoadRun> loopback(finding::Judgement& judgement) override {
    std::vector<Flow> flows;
    for (std::uint32_t i = 0; i < bench_.hosts(); ++i)
      add_flows(i, i, counted_messages(5000), flows);
    WEIR_TRY(out, run("loopback_bandwidth", flows));
    judge_loopback(flows, out, judgement);
    out.summary = fmt::format("{} in loopback, {}", counted(out.transfers, "NIC"), out.summary);
    WEIR_TRY_STATUS(add_gpu_loopback(flows, out, judgement));
    return out;
  }

  Result<std::vector<preflight::Sample>> exchange(const preflight::Round& round,
                                                  std::uint32_t number) override {
    std::vector<Flow> flows;
    for (const auto& [from, to] : both_ways(round))
      add_flows(from, to, timed("ib_write_bw"), flows);
    WEIR_TRY(outcomes, start_watched(flows));
    std::vector<preflight::Sample> out = bench_.samples_of(round, number);
    for (preflight::Sample& sample : out)
      for (std::size_t i = 0; i < flows.size(); ++i)
        if (flows[i].from == sample.from && flows[i].to == sample.to &&
            flows[i].rail == sample.rail)
          sample.rate = flow_rate(outcomes[i]);
    return out;
  }

  [[nodiscard]] Bytes window() const override {
    // perftest's own: -t 128, -s 65536.
    return Bytes::raw(perftest_number("-t", "--tx-depth", 128) *
                      perftest_number("-s", "--size", 65536));
  }

  Result<Latencies> latencies(const preflight::Round& round) override {
    std::vector<Flow> flows;
    for (const preflight::HostPair& pair : round)
      add_flows(pair.first, pair.second, {"ib_write_lat", "-n", latency_count(), "-s", "64"},
                flows);
    LoadLooks looks =
        moments_.looks(When::kAround);  // reading would delay messages of microseconds
    WEIR_TRY(outcomes, start(flows, &looks));
    Latencies out;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      const host::PerftestReport report = host::read_perftest(outcomes[i].client);
      if (report.latency.empty() || !report.latency.front().typical) {
        out.notes.push_back("no latency: " + failure_text(flows[i], outcomes[i]));
        continue;
      }
      const host::LatencyRow& row = report.latency.front();
      out.seconds.push_back(seconds_of(*row.typical));
      if (row.p99) out.p99.push_back(seconds_of(*row.p99));
      if (row.p99) out.jitter.push_back(seconds_of(*row.p99) - seconds_of(*row.typical));
      if (row.p999) out.p999.push_back(seconds_of(*row.p999));
      if (row.p99) moments_.add_tail(flows[i], seconds_of(*row.p99), looks);
    }
    return out;
  }

  Result<LoadRun> incast(const std::string& receiver) override {
    std::uint32_t to = 0;
    while (to + 1 < bench_.hosts() && bench_.name(to) != receiver)
      ++to;
    std::vector<std::string> words = timed("ib_write_bw");
    words.insert(words.end(), {"-q", "4"});
    std::vector<Flow> flows;
    for (std::uint32_t from = 0; from < bench_.hosts(); ++from)
      if (from != to) add_flows(from, to, words, flows);
    return run("bandwidth_to_" + receiver, flows);
  }

  [[nodiscard]] bool has_all_reduce() const override {
    return !bench_.request().collective.empty();
  }
  Result<LoadRun> all_reduce() override;

  Result<LoadRun> all_to_all() override {
    const std::vector<Flow> flows = all_to_all_flows(seconds(), std::nullopt);
    WEIR_TRY(outcomes, start_watched(flows));
    nics_ = {};
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> sent;  // by host and rail
    for (std::size_t i = 0; i < flows.size(); ++i)
      sent[{flows[i].from, flows[i].rail}] += flow_rate(outcomes[i]);
    for (const auto& [nic, rate] : sent) {
      nics_.rates.push_back(rate);
      const auto line = bench_.line_rate(bench_.host(nic.first).nics[nic.second]);
      if (rate > static_cast<double>(line.raw())) ++nics_.above_line;
    }
    nics_.streams = sent.empty() ? 0 : flows.size() / sent.size();
    LoadRun out = run_of("all_to_all_bandwidth", flows, outcomes);
    if (nics_.above_line == 0)  // else its streams did not run at the same time
      out.measures.push_back(
          measure_of("all_to_all_nic_bandwidth", "bit/s", Better::kMore, nics_.rates));
    return out;
  }

  [[nodiscard]] bool has_other_classes() const override { return true; }  // best effort
  Result<LoadRun> all_to_all_with_others() override {
    std::vector<Flow> flows = all_to_all_flows(seconds(), std::nullopt);
    const std::size_t ours = flows.size();
    // Best effort from every host to the next, beside it: the fabric must keep the classes apart.
    for (std::uint32_t i = 0; i < bench_.hosts(); ++i)
      add_flows(i, (i + 1) % bench_.hosts(), timed("ib_write_bw"), flows, 1);
    for (std::size_t i = ours; i < flows.size(); ++i)
      flows[i].test.traffic_class = TosByte::of(0);
    WEIR_TRY(outcomes, start_watched(flows));
    std::vector<Flow> measured(flows.begin(), flows.begin() + static_cast<std::ptrdiff_t>(ours));
    outcomes.resize(ours);
    return run_of("all_to_all_bandwidth_with_background", measured, outcomes);
  }

  std::string expectation(const std::vector<evidence::Evidence>& window, Duration took) override;
  std::vector<std::string> take_moments() override { return moments_.take(); }
  Result<FailureRun> under_failure() override;

  Result<LoadRun> soak_load() override {
    return run("all_to_all_bandwidth", all_to_all_flows(kSoakSeconds, std::nullopt));
  }

 private:
  /// A number among the words of the user: "-t 8", "--tx-depth 8", "--tx-depth=8".
  [[nodiscard]] std::int64_t perftest_number(std::string_view brief, std::string_view full,
                                             std::int64_t usual) const {
    const std::vector<std::string>& words = bench_.request().perftest;
    std::int64_t out = usual;
    for (std::size_t i = 0; i < words.size(); ++i) {
      std::string text;
      if ((words[i] == brief || words[i] == full) && i + 1 < words.size()) text = words[i + 1];
      if (words[i].starts_with(fmt::format("{}=", full))) text = words[i].substr(full.size() + 1);
      if (const auto number = parse_u64(text); number && *number <= 1U << 30U)
        out = static_cast<std::int64_t>(*number);
    }
    return out;
  }
  [[nodiscard]] std::int64_t seconds() const {
    return bench_.request().is_quick ? kQuickSeconds : kSeconds;
  }
  [[nodiscard]] std::vector<std::string> timed(std::string program) const {
    return {std::move(program), "-D", std::to_string(seconds())};
  }

  /// Of the slowest link of the design.
  [[nodiscard]] BitRate least_rate() const {
    BitRate rate = BitRate::raw(std::numeric_limits<std::int64_t>::max());
    for (std::uint32_t i = 0; i < bench_.hosts(); ++i)
      for (const design::NicIntent& nic : bench_.host(i).nics)
        rate = std::min(rate, bench_.line_rate(nic));
    return rate;
  }
  /// `most` messages of 64 KiB, or as many as the slowest link takes in a second.
  [[nodiscard]] std::vector<std::string> counted_messages(std::int64_t most) const {
    constexpr std::int64_t kBitsPerMessage = 65536 * 8;
    constexpr std::int64_t kFewest = 5;  // perftest's own minimum
    const std::int64_t count = std::clamp(least_rate().raw() / kBitsPerMessage, kFewest, most);
    return {"ib_write_bw", "-n", std::to_string(count), "-s", "65536"};
  }
  /// Enough for a p999; of links that are shaped below 1 Gb/s for a p99, within the time of a load.
  [[nodiscard]] std::string latency_count() const { return least_rate() < 1_Gbps ? "100" : "1000"; }

  /// With the words of the user, on every rail that both have, or on the first `most`.
  void add_flows(std::uint32_t from, std::uint32_t to, std::vector<std::string> words,
                 std::vector<Flow>& flows, std::size_t most = 64) const {
    const std::vector<std::string>& more = bench_.request().perftest;
    words.insert(words.end(), more.begin(), more.end());
    ops::add_flows({from, &bench_.host(from)}, {to, &bench_.host(to)}, words, flows, most);
  }

  [[nodiscard]] std::vector<Flow> all_to_all_flows(std::int64_t time,
                                                   std::optional<std::uint32_t> without) const {
    std::vector<Flow> flows;
    for (const auto& [from, to] : all_to_all_pairs(bench_.hosts()))
      add_flows(from, to, {"ib_write_bw", "-D", std::to_string(time)}, flows);
    if (without) std::erase_if(flows, [&](const Flow& flow) { return flow.rail == *without; });
    return flows;
  }

  [[nodiscard]] weir::Result<PairEnd> end_of(std::uint32_t host, std::uint32_t rail) const {
    return choose_end(bench_.name(host), bench_.last_seen(host), bench_.intent(),
                      bench_.host(host).nics[rail].rail);
  }

  [[nodiscard]] Result<std::vector<FlowOutcome>> start(const std::vector<Flow>& flows,
                                                       LoadLooks* looks = nullptr) {
    return run_flows(
        hosts_, flows, [&](std::uint32_t host, std::uint32_t rail) { return end_of(host, rail); },
        bench_.request().is_interrupted, looks);
  }
  /// Looked at throughout: for loads that last.
  [[nodiscard]] Result<std::vector<FlowOutcome>> start_watched(const std::vector<Flow>& flows) {
    LoadLooks looks = moments_.looks(When::kThroughout);
    WEIR_TRY(outcomes, start(flows, &looks));
    moments_.add(looks);
    return outcomes;
  }

  [[nodiscard]] LoadRun run_of(std::string metric, const std::vector<Flow>& flows,
                               const std::vector<FlowOutcome>& outcomes) const {
    LoadRun out;
    out.is_finished = true;
    out.transfers = flows.size();
    std::vector<double> rates;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      const double rate = flow_rate(outcomes[i]);
      out.rates.push_back(rate);
      if (rate > 0) {
        rates.push_back(rate);
        continue;
      }
      out.is_finished = false;
      out.open.emplace_back(flows[i].from, flows[i].to);
      if (out.notes.empty()) out.notes.push_back(failure_text(flows[i], outcomes[i]));
    }
    preflight::Measure measure =
        measure_of(std::move(metric), "bit/s", Better::kMore, std::move(rates));
    out.summary =
        fmt::format("{} in the median of {}", preflight::value_text(measure, measure.values.p50),
                    counted(flows.size(), "stream"));
    out.measures.push_back(std::move(measure));
    for (const Flow& flow : flows)
      out.elapsed = std::max(out.elapsed, 1_s * flow.test.seconds);
    return out;
  }

  [[nodiscard]] std::string failure_text(const Flow& flow, const FlowOutcome& outcome) const {
    return ops::failure_text(bench_.name(flow.from), bench_.name(flow.to), flow, outcome);
  }

  [[nodiscard]] Result<LoadRun> run(std::string metric, const std::vector<Flow>& flows) {
    const auto begin = std::chrono::steady_clock::now();
    // A counted number of messages may be sent within one moment.
    const bool lasts = std::all_of(flows.begin(), flows.end(),
                                   [](const Flow& flow) { return flow.test.is_timed; });
    WEIR_TRY(outcomes, lasts ? start_watched(flows) : start(flows));
    LoadRun out = run_of(std::move(metric), flows, outcomes);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    out.elapsed = Duration::raw(static_cast<std::int64_t>(took.count() * 1e12));
    return out;
  }

  struct Pings;
  [[nodiscard]] Pings ping_next(std::uint32_t from);
  [[nodiscard]] finding::Where narrow_end(std::uint32_t from, std::uint32_t to,
                                          std::uint32_t rail) const;
  Result<std::vector<std::string>> ping_neighbours(finding::Judgement& judgement);
  void judge_loopback(const std::vector<Flow>& flows, LoadRun& run,
                      finding::Judgement& judgement) const;
  [[nodiscard]] std::vector<preflight::GpuTrial> gpu_trials(const std::vector<Flow>& flows,
                                                            const LoadRun& run) const;
  void judge_gpu_loopback(const std::vector<Flow>& flows, LoadRun& run,
                          finding::Judgement& judgement) const;
  Status add_gpu_loopback(const std::vector<Flow>& flows, LoadRun& out,
                          finding::Judgement& judgement);
  Result<Phase> run_phase(std::string_view name, std::optional<std::uint32_t> without,
                          diagnose::Totals& totals);

  Bench& bench_;
  HostMoments moments_;
  LoadHosts hosts_;
  /// What NICs sent in the last all-to-all: of each the sum of its streams.
  struct SentByNics {
    std::vector<double> rates;
    std::size_t streams = 0;     // of a NIC
    std::size_t above_line = 0;  // NICs whose sum is more than their link carries
  };
  SentByNics nics_;
};

// ---- stage 2: packets of full size, undivided ----

constexpr int kPingWorks = 0;
constexpr int kNoPing = 127;

/// Two pings to a neighbour: a small one, and one that fills the MTU and must not be divided. The
/// ping of busybox has no -M: it would call every path too narrow.
std::string ping_line(const std::vector<std::pair<std::string, std::int64_t>>& targets) {
  std::string out = fmt::format(
      "ping -n -q -c 1 -W 2 -M do -s 8 127.0.0.1 >/dev/null 2>&1 || exit {}\n", kNoPing);
  for (const auto& [address, mtu] : targets) {
    const bool is_ipv6 = address.find(':') != std::string::npos;
    constexpr std::int64_t kIpv4Headers = 28;  // IP and ICMP
    constexpr std::int64_t kIpv6Headers = 48;
    const std::int64_t size = mtu - (is_ipv6 ? kIpv6Headers : kIpv4Headers);
    out += fmt::format(
        "ping -n -q -c 2 -i 0.3 -W 2 {0} >/dev/null 2>&1; a=$?; "
        "ping -n -q -c 2 -i 0.3 -W 2 -M do -s {1} {0} >/dev/null 2>&1; echo \"weir-ping $a $?\"\n",
        address, size);
  }
  return out;
}

/// Of one host: whom it pings on which rail, and what each ping said.
struct HostRig::Pings {
  struct Asked {
    std::uint32_t to = 0;
    std::uint32_t rail = 0;
  };
  std::vector<Asked> asked;
  weir::Result<host::CommandOutcome> answer = Error{ErrorCode::kIo, "not run"};
};

HostRig::Pings HostRig::ping_next(std::uint32_t from) {
  Pings out;
  const auto host = hosts_.find(from);
  if (host == hosts_.end()) return out;
  const std::uint32_t to = (from + 1) % bench_.hosts();
  const design::HostIntent& receiver = bench_.host(to);
  std::vector<std::pair<std::string, std::int64_t>> targets;
  const std::size_t rails = std::min(bench_.host(from).nics.size(), receiver.nics.size());
  for (std::uint32_t rail = 0; rail < rails; ++rail) {
    const auto end = end_of(to, rail);
    if (!end || end->address.empty()) continue;
    targets.emplace_back(end->address, receiver.nics[rail].mtu.raw());
    out.asked.push_back({to, rail});
  }
  out.answer = host->second->run({"sh", "-c", ping_line(targets)},
                                 {.is_interrupted = bench_.request().is_interrupted,
                                  .limit = 60_s + 15_s * static_cast<std::int64_t>(rails)});
  return out;
}

/// The end of a path that shows a smaller MTU than it should; else the sender, with the link.
finding::Where HostRig::narrow_end(std::uint32_t from, std::uint32_t to, std::uint32_t rail) const {
  finding::Where where{.host = bench_.name(from),
                       .rail = fmt::format("{}", bench_.host(from).nics[rail].rail)};
  for (const std::uint32_t host : {from, to}) {
    const evidence::Evidence* const seen = bench_.last_seen(host);
    const evidence::Nic* const nic =
        seen == nullptr ? nullptr : seen->find_nic(bench_.host(host).nics[rail].device);
    if (nic == nullptr || !nic->link.mtu.is_known()) continue;
    if (*nic->link.mtu >= bench_.host(host).nics[rail].mtu) continue;
    where.host = bench_.name(host);
    return where;
  }
  where.link = fmt::format("{} - {}", bench_.name(from), bench_.name(to));
  return where;
}

Result<std::vector<std::string>> HostRig::ping_neighbours(finding::Judgement& judgement) {
  std::vector<Pings> pings(bench_.hosts());
  for_each_index(bench_.hosts(), bench_.hosts(),
                 [&](std::size_t i) { pings[i] = ping_next(static_cast<std::uint32_t>(i)); });
  std::vector<std::string> silent;
  for (std::uint32_t from = 0; from < bench_.hosts(); ++from) {
    const auto& answer = pings[from].answer;
    if (!answer || answer->exit_status == kNoPing) {
      silent.push_back(bench_.name(from));
      continue;
    }
    std::size_t next = 0;
    for (const std::string_view line : split(answer->output, '\n')) {
      if (!line.starts_with("weir-ping ") || next >= pings[from].asked.size()) continue;
      const auto [to, rail] = pings[from].asked[next++];
      const bool small_passes = line.starts_with(fmt::format("weir-ping {} ", kPingWorks));
      if (!small_passes) silent.push_back(bench_.name(to));
      if (!small_passes || line.ends_with(fmt::format(" {}", kPingWorks))) continue;
      const design::NicIntent& nic = bench_.host(to).nics[rail];
      judgement.findings.push_back(diagnose::narrow_path({.from = bench_.name(from),
                                                          .to = bench_.name(to),
                                                          .rail = nic.rail,
                                                          .mtu = nic.mtu,
                                                          .where = narrow_end(from, to, rail)}));
    }
    if (next < pings[from].asked.size()) silent.push_back(bench_.name(from));
  }
  finding::settle(judgement);
  if (silent.empty()) return std::vector<std::string>();
  std::sort(silent.begin(), silent.end());
  silent.erase(std::unique(silent.begin(), silent.end()), silent.end());
  return std::vector<std::string>{
      fmt::format("the MTU of the path is known by RDMA alone: {} cannot ping or be pinged",
                  join(silent, ", "))};
}

// ---- stage 3: each NIC with itself ----

namespace {

/// Hosts whose perftest was built with CUDA; each is asked once, all at the same time.
std::set<std::uint32_t> hosts_with_cuda(const LoadHosts& hosts,
                                        const std::set<std::uint32_t>& asked,
                                        const std::function<bool()>& is_interrupted) {
  if (asked.empty()) return {};
  const std::vector<std::uint32_t> numbers(asked.begin(), asked.end());
  std::vector<char> has(numbers.size(), 0);
  for_each_index(numbers.size(), static_cast<unsigned>(numbers.size()), [&](std::size_t i) {
    const auto help = hosts.at(numbers[i])
                          ->run({"sh", "-c", "ib_write_bw --help 2>&1; exit 0"},
                                {.is_interrupted = is_interrupted, .limit = 60_s});
    has[i] = help && help->output.find("--use_cuda") != std::string::npos ? 1 : 0;
  });
  std::set<std::uint32_t> out;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (has[i] != 0) out.insert(numbers[i]);
  return out;
}

/// The GPU that perftest is given, and how far it is from the NIC.
void add_gpu_facts(const evidence::Evidence& seen, const PairEnd& end, preflight::GpuTrial& trial) {
  for (const evidence::Gpu& gpu : seen.gpus) {
    if (!end.gpu_bus || !gpu.pcie.address.is(*end.gpu_bus)) continue;
    trial.gpu_link = preflight::pcie_rate(gpu.pcie);
    if (gpu.model.is_known()) trial.model = *gpu.model;
    for (const evidence::GpuDistance& pair : seen.distances)
      if (pair.nic == end.device && pair.gpu == gpu.index && pair.distance.is_known())
        trial.distance = *pair.distance;
  }
}

}  // namespace

void HostRig::judge_loopback(const std::vector<Flow>& flows, LoadRun& run,
                             finding::Judgement& judgement) const {
  double least = 0;
  std::vector<diagnose::Loopback> nics;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const design::NicIntent& nic = bench_.host(flows[i].from).nics[flows[i].rail];
    const double floor = static_cast<double>(bench_.line_rate(nic).raw()) *
                         bench_.request().thresholds.loopback_floor;
    least = least == 0 ? floor : std::min(least, floor);
    nics.push_back({.host = bench_.name(flows[i].from),
                    .rail = nic.rail,
                    .rate = run.rates[i],
                    .floor = floor});
  }
  run.measures.front().floor = least;
  diagnose::judge_loopbacks(nics, judgement);
}

std::vector<preflight::GpuTrial> HostRig::gpu_trials(const std::vector<Flow>& flows,
                                                     const LoadRun& run) const {
  std::vector<preflight::GpuTrial> out;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const design::NicIntent& nic = bench_.host(flows[i].from).nics[flows[i].rail];
    preflight::GpuTrial& trial = out.emplace_back();
    trial.line_rate = static_cast<double>(bench_.line_rate(nic).raw());
    trial.rate = run.rates[i];
    const auto end = end_of(flows[i].from, flows[i].rail);
    const evidence::Evidence* const seen = bench_.last_seen(flows[i].from);
    if (end && seen != nullptr) add_gpu_facts(*seen, *end, trial);
  }
  return out;
}

void HostRig::judge_gpu_loopback(const std::vector<Flow>& flows, LoadRun& run,
                                 finding::Judgement& judgement) const {
  const finding::Thresholds& limits = bench_.request().thresholds;
  const std::vector<preflight::GpuTrial> trials = gpu_trials(flows, run);
  const auto add = [&](std::size_t i, std::optional<double> floor, std::optional<double> median) {
    judgement.findings.push_back(
        diagnose::slow_gpu_loopback({.host = bench_.name(flows[i].from),
                                     .rail = bench_.host(flows[i].from).nics[flows[i].rail].rail,
                                     .rate = trials[i].rate,
                                     .floor = floor,
                                     .median = median}));
  };
  double least = 0;
  bool have_all = true;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const auto floor = preflight::gpu_floor(trials[i], limits.loopback_floor);
    have_all = have_all && floor;
    if (!floor) continue;
    least = least == 0 ? *floor : std::min(least, *floor);
    if (trials[i].rate > 0 && trials[i].rate < *floor) add(i, floor, std::nullopt);
  }
  if (have_all && !trials.empty()) run.measures.front().floor = least;
  const preflight::GpuComparison found = preflight::compare_gpu_trials(trials, limits);
  for (const preflight::GpuOutlier& outlier : found.outliers)
    add(outlier.trial, std::nullopt, outlier.median);
  if (found.compared > 0)
    run.notes.push_back(
        fmt::format("with GPU memory: no floor is known for {} (no PCIe switch joins NIC and GPU, "
                    "or the host does not show it), which were compared with each other",
                    counted(found.compared, "NIC")));
  if (found.alone > 0)
    run.notes.push_back(fmt::format(
        "with GPU memory: no floor is known for {} (no PCIe switch joins NIC and GPU, or the host "
        "does not show it), and too few are alike to compare: the rate was not judged",
        counted(found.alone, "NIC")));
  finding::settle(judgement);
}

Status HostRig::add_gpu_loopback(const std::vector<Flow>& flows, LoadRun& out,
                                 finding::Judgement& judgement) {
  std::set<std::uint32_t> with_gpus;
  for (const Flow& flow : flows) {
    const evidence::Evidence* const seen = bench_.last_seen(flow.from);
    if (seen != nullptr && !seen->gpus.empty()) with_gpus.insert(flow.from);
  }
  const std::set<std::uint32_t> with_cuda =
      hosts_with_cuda(hosts_, with_gpus, bench_.request().is_interrupted);
  std::vector<Flow> with_gpu;
  std::string why_not;
  for (const Flow& flow : flows) {
    const std::string& name = bench_.name(flow.from);
    const auto end = end_of(flow.from, flow.rail);
    if (!with_gpus.contains(flow.from)) {
      why_not = name + " shows no GPU";
    } else if (!with_cuda.contains(flow.from)) {
      why_not = fmt::format("perftest on {} was built without CUDA", name);
    } else if (!end || !end->gpu_bus) {  // perftest would use the host's memory
      why_not = fmt::format("{} does not show the PCIe address of its GPU", name);
    }
    if (!with_cuda.contains(flow.from) || !end || !end->gpu_bus) continue;
    Flow gpu = flow;
    gpu.test.uses_gpu = true;
    with_gpu.push_back(std::move(gpu));
  }
  if (!why_not.empty()) out.notes.push_back("GPUDirect was not tried everywhere: " + why_not);
  if (with_gpu.empty()) return {};
  WEIR_TRY(gpu, run("gpu_loopback_bandwidth", with_gpu));
  judge_gpu_loopback(with_gpu, gpu, judgement);
  out.is_finished = out.is_finished && gpu.is_finished;
  out.open.insert(out.open.end(), gpu.open.begin(), gpu.open.end());
  out.notes.insert(out.notes.end(), gpu.notes.begin(), gpu.notes.end());
  for (preflight::Measure& measure : gpu.measures)
    out.measures.push_back(std::move(measure));
  return {};
}

// ---- stages 6 and 7 ----

namespace {

/// Bus bandwidth, in bit/s, of the sizes from a quarter of the largest on: small messages take the
/// latency, whatever the fabric can carry.
std::vector<double> rates_of_large_messages(const host::CollectiveReport& report) {
  constexpr double kBitsPerGigabyte = 8e9;
  Bytes largest;
  for (const host::CollectiveRow& row : report.rows)
    largest = std::max(largest, row.size);
  std::vector<double> rates;
  for (const host::CollectiveRow& row : report.rows)
    if (row.size >= largest / 4) rates.push_back(row.bus_bandwidth * kBitsPerGigabyte);
  return rates;
}

}  // namespace

Result<LoadRun> HostRig::all_reduce() {
  const std::string& command = bench_.request().collective;
  const auto first = hosts_.find(0);
  if (first == hosts_.end()) return could_not_look("the first host of the design is not reached");
  std::string left;
  auto ran = first->second->run({"sh", "-c", command},
                                {.is_interrupted = bench_.request().is_interrupted,
                                 .on_left = [&](const std::string& why) { left = why; },
                                 .limit = bench_.request().collective_limit});
  if (!left.empty()) return Failure{FailureKind::kLeft, std::move(left)};
  if (bench_.is_interrupted())
    return Failure{FailureKind::kInterrupted, "interrupted: the collective was stopped"};
  WEIR_TRY(outcome, or_could_not_look(std::move(ran)));
  const host::CollectiveReport report = host::read_nccl_tests(outcome.output);
  LoadRun out;
  out.elapsed = outcome.elapsed;
  out.is_finished = outcome.exit_status == 0 && report.is_there() && !report.is_failed;
  out.transfers = report.rows.size();
  out.measures.push_back(measure_of("collective_bus_bandwidth", "bit/s", Better::kMore,
                                    rates_of_large_messages(report)));
  if (!out.is_finished) {
    const std::string_view said = trim(outcome.errors);
    out.notes.push_back(fmt::format("{}: status {}: {}", command, outcome.exit_status,
                                    said.empty() ? std::string_view(report.failure) : said));
  }
  if (report.network == "Socket")
    out.notes.emplace_back("NCCL used sockets: this says nothing of the RDMA fabric");
  return out;
}

std::string HostRig::expectation(const std::vector<evidence::Evidence>& /*window*/,
                                 Duration /*took*/) {
  const auto expected = expected_nic_rate(bench_);
  if (!expected) return fmt::format("not compared with the simulator: {}", expected.error().what);
  const double measured = preflight::median_of(nics_.rates);
  const std::string head = fmt::format(
      "all-to-all, what a NIC sends: measured {} (sum of its {}; median of {}), expected {} by the "
      "simulator on the fabric as designed",
      rate_text(measured), counted(nics_.streams, "stream"), counted(nics_.rates.size(), "NIC"),
      rate_text(*expected));
  if (nics_.above_line > 0)
    return fmt::format(
        "{}; not compared: the streams of {} add up to more than its link carries, so that they "
        "did not run at the same time",
        head, counted(nics_.above_line, "NIC"));
  return fmt::format("{}: {:.0f} % of it", head, 100 * measured / *expected);
}

Result<Phase> HostRig::run_phase(std::string_view name, std::optional<std::uint32_t> without,
                                 diagnose::Totals& totals) {
  LoadRun load;
  WEIR_TRY(window, bench_.watch([&]() -> Status {
    WEIR_TRY(ran, run("all_to_all_bandwidth", all_to_all_flows(seconds(), without)));
    load = std::move(ran);
    return {};
  }));
  Drive drive;
  drive.ran_on = bench_.name(0);
  drive.words = {"ib_write_bw"};
  drive.outcome.exit_status = load.is_finished ? 0 : 1;
  drive.outcome.elapsed = load.elapsed;
  drive.sees_all_ends = window.unseen.empty();
  const diagnose::View view(bench_.subject(window));
  const Verified verified = judge_drive(std::move(drive), view);
  totals = verified.totals;
  return Phase{.name = name,
               .elapsed = load.elapsed,
               .pauses = diagnose::count_burst(view, 0, bench_.name(0)).pauses,
               .result = {.exit_status = load.is_finished ? 0 : 1,
                          .lossless_drops = diagnose::lossless_drops(verified.judged.observations),
                          .judgement = verified.judgement(),
                          .shows_failure = diagnose::shows_failure(verified.judged.observations)}};
}

Result<FailureRun> HostRig::under_failure() {
  const PreflightRequest& request = bench_.request();
  const std::size_t rails = bench_.host(0).nics.size();
  // The load stays off the rail that goes: jobs do, too.
  const auto without =
      rails > 1 ? std::optional(static_cast<std::uint32_t>(rails - 1)) : std::nullopt;
  FailureRun out;
  out.failure = request.drain;
  WEIR_TRY(around, around_command({.failure = request.drain,
                                   .restore = request.restore,
                                   .command = {},
                                   .state = request.state,
                                   .tool = request.tool,
                                   .wait = request.wait,
                                   .is_interrupted = request.is_interrupted},
                                  bench_.design().file, [&](std::string_view name) {
                                    return run_phase(name, without, out.totals);
                                  }));
  for (const Phase& phase : around.phases)
    out.phases.emplace_back(phase.name, phase.elapsed);
  out.judgement = std::move(around.judgement);
  return out;
}

}  // namespace

std::unique_ptr<Rig> make_host_rig(Bench& bench) {
  return std::make_unique<HostRig>(bench);
}

}  // namespace weir::ops
