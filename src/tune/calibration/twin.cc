#include "tune/calibration/twin.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/parallel.h"
#include "base/rng.h"
#include "design/file/load.h"

namespace weir::tune {
namespace {

constexpr std::uint64_t kFabricPurpose = 81;
constexpr std::uint64_t kHiddenPurpose = 82;
constexpr std::uint64_t kFirstTwinSeed = 500'000'000;  // far from those of a fit

class TwinDraw {
 public:
  TwinDraw(std::uint64_t seed, std::uint64_t purpose) : random_(seed, 0, purpose) {}

  template <class T>
  T any(std::initializer_list<T> choices) {
    return *(choices.begin() + random_.below(choices.size()));
  }
  /// Even over the logarithm.
  double between(double low, double high) {
    constexpr double kParts = 1'000'000;
    const double share = static_cast<double>(random_.below(1'000'000)) / kParts;
    return low * std::pow(high / low, share);
  }

 private:
  RandomStream random_;
};

/// One leaf, or two and a spine; four to eight hosts; a small buffer, so that a queue is full
/// within a millisecond.
std::string draw_fabric(std::uint64_t seed, int& hosts) {
  TwinDraw draw(seed, kFabricPurpose);
  const bool has_spine = draw.any({0, 1, 1, 1}) == 1;
  hosts = has_spine ? draw.any({6, 8}) : draw.any({4, 5, 6});
  const int speed = draw.any({25, 50, 100});
  const std::string_view nic = speed == 100 ? "connectx6dx" : "connectx5";
  const std::string_view asic = draw.any({"spectrum3", "tomahawk3", "spectrum4"});
  const int mtu = draw.any({1024, 2048, 4096});
  const int buffer = 4 + speed * draw.any({2, 4}) / 100;  // MB
  std::string text = fmt::format(
      "weir: 1\nname: twin{}\nhosts:\n  gpu:\n    names: gpu[1-{}]\n    nic: {}\n    rails: 1\n"
      "switches:\n  leaf:\n    names: leaf[1-{}]\n    system: sonic\n    asic: {}\n    tier: 1\n"
      "    buffer: {}MB\n",
      seed, hosts, nic, has_spine ? 2 : 1, asic, buffer);
  if (has_spine)
    text += fmt::format(
        "  spine:\n    names: spine1\n    system: sonic\n    asic: {}\n    tier: 2\n"
        "    buffer: {}MB\n",
        asic, buffer);
  text += fmt::format(
      "links:\n  - {{ from: gpu, to: leaf, wiring: block, speed: {}G, cable: dac, length: {}m }}\n",
      speed, draw.any({1, 2, 3}));
  if (has_spine)
    text += fmt::format(
        "  - {{ from: leaf, to: spine, wiring: mesh, count: {}, speed: {}G, cable: aoc, "
        "length: {}m }}\n",
        hosts / 2, speed, draw.any({10, 30, 50}));
  text += fmt::format(
      "mtu:\n  host: 9000B\n  switch: 9216B\n  rdma: {}B\n"
      "addressing:\n  subnets: 10.{{rail}}.{{leaf}}.0/24\n",
      mtu);
  // Thresholds of the usual size for the speed, and Kmin not always small against Kmax.
  text += fmt::format("wred:\n  min: {}KB\n  max: {}KB\n  probability: {}%\n",
                      speed * draw.any({1, 2}), speed * draw.any({4, 6}), draw.any({5, 10, 20}));
  return text;
}

Assumption draw_hidden(std::uint64_t seed) {
  TwinDraw draw(seed, kHiddenPurpose);
  Assumption out;
  out.is_set.fill(true);
  const auto set = [&](Unknown unknown, double low, double high) {
    out.values.at(static_cast<std::size_t>(unknown)) = draw.between(low, high);
  };
  using enum Unknown;
  set(kNicLatency, 0.6, 3);
  set(kSwitchLatency, 0.6, 1.8);
  set(kHostRate, 0.85, 1);
  set(kXoff, 0.6, 1.5);
  set(kPauseReaction, 0.6, 3);
  set(kCnpGap, 0.6, 2.5);
  set(kWredMin, 0.6, 1.6);
  set(kWredMax, 0.7, 1.5);
  set(kWredProbability, 0.6, 1.6);
  set(kCnpDelay, 1.5, 15);
  out.cnp_scope =
      draw.any({design::CnpScope::kQp, design::CnpScope::kDestination, design::CnpScope::kPort});
  return out;
}

}  // namespace

bool Twin::is_recovered(double share) const {
  return worst_error() <= share && (!fit.cnp_scope || *fit.cnp_scope == hidden_scope);
}

std::size_t Twin::identified() const {
  return static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [](const TwinRow& row) {
    return row.fitted.state == UnknownState::kIdentified;
  }));
}

double Twin::worst_error() const {
  double out = 0;
  for (const TwinRow& row : rows)
    if (row.fitted.state == UnknownState::kIdentified) out = std::max(out, std::abs(row.error()));
  return out;
}

Result<std::vector<MeasuredStatistic>> measure_twin(const design::Design& design,
                                                    const design::Intent& intent,
                                                    const CalibrationPlan& plan,
                                                    const Assumption& hidden, std::uint64_t seed,
                                                    unsigned jobs) {
  const auto repeats = static_cast<std::size_t>(plan.repeats);
  std::vector<Result<std::vector<double>>> runs(plan.trials.size() * repeats,
                                                invalid_error("not run"));
  for_each_index(runs.size(), jobs, [&](std::size_t i) {
    runs[i] = observe(design, intent, plan, plan.trials[i / repeats], hidden,
                      kFirstTwinSeed + seed * 10'000 + i);
  });
  std::vector<MeasuredStatistic> out;
  for (std::size_t t = 0; t < plan.trials.size(); ++t) {
    const std::vector<Statistic> statistics = statistics_of(plan.trials[t]);
    for (std::size_t s = 0; s < statistics.size(); ++s) {
      MeasuredStatistic measured{plan.trials[t].id, statistics[s], {}};
      for (std::size_t r = 0; r < repeats; ++r) {
        const auto& run = runs[t * repeats + r];
        if (!run) return run.error();
        measured.repeats.push_back((*run)[s]);
      }
      out.push_back(std::move(measured));
    }
  }
  return out;
}

Result<Twin> run_twin(std::uint64_t seed, unsigned jobs,
                      const std::function<void(double, std::string_view)>& progress) {
  Twin out;
  out.seed = seed;
  out.text = draw_fabric(seed, out.hosts);
  const design::Loaded loaded = design::load_text(out.text, fmt::format("twin{}.yaml", seed));
  if (!loaded.is_good()) return invalid_error(design::to_text(loaded));
  const design::Derived derived = design::derive(loaded.design);
  if (!derived.errors.empty()) return invalid_error(derived.errors.front().message);
  WEIR_TRY(plan, plan_calibration(loaded.design, derived.intent));
  const Assumption hidden = draw_hidden(seed);
  out.hidden_scope = hidden.cnp_scope;
  out.speed = derived.intent.hosts.front().nics.front().speed;
  FitRequest request;
  WEIR_TRY(measured, measure_twin(loaded.design, derived.intent, plan, hidden, seed, jobs));
  request.plan = std::move(plan);
  request.measured = std::move(measured);
  request.seed = seed;
  request.jobs = jobs;
  request.progress = progress;
  WEIR_TRY(fit, fit_calibration(loaded.design, derived.intent, request));
  out.fit = std::move(fit);
  for (std::size_t i = 0; i < kUnknowns; ++i)
    out.rows.push_back({static_cast<Unknown>(i), hidden.values.at(i), out.fit.unknowns.at(i)});
  return out;
}

}  // namespace weir::tune
