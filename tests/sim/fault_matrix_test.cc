// Every fault under every workload: a counter that must move does, against the same run without the
// fault. No cell is empty, and no cell moves by chance: a tenth more or less, and never a single
// count.
#include <array>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "../tight_fabric.h"
#include "base/testing.h"
#include "design/file/load.h"
#include "sim/results/simulate.h"

namespace weir::sim {
namespace {

// Increases that come soon, so that short runs show what a control loop does.
const std::string kDesign =
    std::string(test::kTightFabric) + "dcqcn: { rpg_time_reset: 20us, rpg_byte_reset: 64000B }\n";

struct Load {
  std::string_view name;
  std::string_view text;
  std::string_view sustained;  // fewer flows for longer
};
constexpr Load kLoads[] = {
    {"incast", "incast,to=gpu01,size=1MB,qps=4,iterations=2", "incast,to=gpu01,size=10MB"},
    {"permutation", "permutation,size=4MB,shift=4,qps=4", "permutation,size=20MB,shift=4"},
    {"all-to-all", "all-to-all,size=300KB,qps=2", "all-to-all,size=3MB"},
    {"all-reduce",
     "all-reduce,algo=halving-doubling,hosts=gpu[01-02]+gpu[05-06]+gpu[09-12],size=4MB,qps=16",
     "all-reduce,algo=halving-doubling,hosts=gpu[01-02]+gpu[05-06]+gpu[09-12],size=40MB"},
    {"training", "training,collective=all-to-all,size=200KB,compute=50us,steps=2,qps=2",
     "training,collective=all-to-all,size=2MB,compute=50us,steps=2"},
    {"flows", "flows,load=90%,duration=400us,sizes=1MB", "flows,load=90%,duration=4ms,sizes=4MB"},
};

// A control loop shows what is wrong with it once it has left its first cuts behind, which takes
// milliseconds; everything else shows at once.
bool shows_late(const FaultType& type) {
  return type.name.starts_with("dcqcn-");
}

constexpr Duration kShort = 3_ms;
constexpr Duration kLong = 40_ms;

// gpu01 receives in every load, gpu05 (below another leaf) sends in every load; both congest.
const std::map<std::string_view, std::string_view>& places() {
  static const std::map<std::string_view, std::string_view> all = {
      {"wrong-trust", "at=gpu05"},
      {"wrong-dscp", "at=gpu05"},
      {"wrong-tc", "at=gpu05"},
      {"wrong-nic-map", "at=gpu05"},
      {"switch-wrong-map", "at=leaf1"},
      {"tcp-fallback", "at=gpu05"},
      {"wrong-mtu", "at=gpu01"},
      {"wrong-pfc-priority", "at=gpu[01-12]"},
      {"nic-pause-storm", "at=gpu01,from=20us"},
      {"slow-receiver", "at=gpu01"},
      {"np-off", "at=gpu01"},
      {"rp-off", "at=gpu05"},
      {"routing-loop", "at=leaf3,to=gpu01"},
      {"bounce-routing", "at=leaf2"},
      {"link-down", "at=leaf1-spine1,from=20us"},
      {"switch-down", "at=spine1,from=20us"},
      {"degraded-link", "at=gpu01"},
      {"few-receives", "at=gpu01,receives=0"},
  };
  return all;
}

std::string spec_of(const FaultType& type) {
  const auto found = places().find(type.name);
  return found == places().end() ? std::string(type.name)
                                 : fmt::format("{},{}", type.name, found->second);
}

struct Bench {
  design::Design design;
  design::Intent intent;

  static const Bench& get() {
    static const Bench bench = [] {
      design::Loaded loaded = design::load_text(kDesign, "matrix");
      EXPECT_TRUE(loaded.is_good()) << design::to_text(loaded);
      design::Derived derived = design::derive(loaded.design);
      EXPECT_TRUE(derived.errors.empty());
      return Bench{std::move(loaded.design), std::move(derived.intent)};
    }();
    return bench;
  }
};

Outcome simulated(std::string_view load, const std::string& fault, Duration limit) {
  Experiment experiment;
  experiment.design = &Bench::get().design;
  experiment.intent = Bench::get().intent;
  experiment.limit = limit;
  auto workload = parse_workload(load);
  EXPECT_TRUE(workload.has_value()) << (workload ? "" : workload.error().what);
  experiment.workloads.push_back(*workload);
  if (!fault.empty()) {
    auto parsed = parse_fault(fault);
    EXPECT_TRUE(parsed.has_value()) << (parsed ? "" : parsed.error().what);
    experiment.faults.push_back(*parsed);
  }
  auto outcome = simulate(experiment);
  EXPECT_TRUE(outcome.has_value()) << (outcome ? "" : outcome.error().what);
  return std::move(outcome).value();
}

// ---- reading a sign ----

constexpr unsigned kRdmaPriority = 3;

bool counts(const Sign& sign, const counters::ShownSample& sample) {
  if (!sample.match || sample.match.counter->id != sign.counter) return false;
  const bool is_rdma = sample.match.number.value_or(kRdmaPriority) == kRdmaPriority;
  return sign.classes == Sign::Classes::kAll || is_rdma == (sign.classes == Sign::Classes::kRdma);
}

std::uint64_t sum_of(const Sign& sign, const counters::PortCounters& port) {
  std::uint64_t sum = 0;
  for (const counters::ShownSample& sample : port.samples())
    if (counts(sign, sample)) sum += sample.reading.value() * sample.match.name->scale;
  return sum;
}

std::uint64_t measured(const Sign& sign, const FaultSite& site, const Results& results) {
  const design::Intent& intent = Bench::get().intent;
  const bool anywhere = sign.scope != Sign::Scope::kPlace;
  const auto is_link_at = [&](std::uint32_t link) {
    return std::find(site.links.begin(), site.links.end(), LinkId{link}) != site.links.end();
  };
  std::uint64_t sum = 0;
  std::uint64_t largest = 0;
  for (std::uint32_t h = 0; h < intent.hosts.size(); ++h)
    if (anywhere || is_link_at(intent.hosts[h].nics[0].link))
      sum += sum_of(sign, results.hosts[h].snapshots.back().nics[0]);
  std::size_t at = 0;
  for (std::uint32_t s = 0; s < intent.switches.size(); ++s) {
    const bool is_here =
        std::find(site.switches.begin(), site.switches.end(), s) != site.switches.end();
    for (const design::SwitchPortIntent& port : intent.switches[s].ports) {
      const std::uint64_t count =
          sum_of(sign, results.switches.snapshots.back().switch_ports[at++]);
      if (anywhere || is_here || is_link_at(port.link)) sum += count;
      if (!port.is_access) largest = std::max(largest, count);
    }
  }
  return sign.scope == Sign::Scope::kLargest ? largest : sum;
}

bool has_moved(const Sign& sign, std::uint64_t without, std::uint64_t with) {
  const std::uint64_t step = std::max<std::uint64_t>(without / 10, 1);
  return sign.moves == Sign::Moves::kUp ? with >= without + step : with + step <= without;
}

/// Empty where a sign of the fault shows.
std::string verdict(const FaultType& type, const Results& without, const Results& with) {
  const auto fault = parse_fault(spec_of(type));
  const auto site = resolve(*fault, Bench::get().intent);
  std::string seen;
  for (const Sign& sign : type.signs) {
    const std::uint64_t before = measured(sign, *site, without);
    const std::uint64_t after = measured(sign, *site, with);
    if (has_moved(sign, before, after)) return "";
    seen += fmt::format("  {} {} -> {}", sign.counter, before, after);
  }
  return seen;
}

TEST(FaultMatrix, EveryFaultMovesItsCounterUnderEveryWorkload) {
  COVERS("G9", "G8");
  for (const Load& load : kLoads) {
    const std::array<Outcome, 2> twins = {simulated(load.text, "", kShort),
                                          simulated(load.sustained, "", kLong)};
    for (const Outcome& twin : twins) {
      EXPECT_EQ(twin.results.totals.lossless_drops, 0U) << load.name;
      EXPECT_TRUE(twin.is_finished) << load.name;
    }
    for (const FaultType& type : fault_types()) {
      SCOPED_TRACE(fmt::format("{} under {}", spec_of(type), load.name));
      const bool late = shows_late(type);
      const Outcome broken =
          simulated(late ? load.sustained : load.text, spec_of(type), late ? kLong : kShort);
      EXPECT_EQ(verdict(type, twins.at(late ? 1 : 0).results, broken.results), "");
    }
  }
}

TEST(FaultMatrix, TheTwinShowsPausesMarksAndCnpsUnderEveryWorkload) {
  COVERS("G1", "G2", "G3", "G7");
  for (const Load& load : kLoads) {
    SCOPED_TRACE(std::string(load.name));
    const Totals totals = simulated(load.text, "", kShort).results.totals;
    EXPECT_GT(totals.marked, 0U);
    EXPECT_GT(totals.cnp_sent, 0U);
    EXPECT_GT(totals.pauses, 0U);
  }
}

}  // namespace
}  // namespace weir::sim
