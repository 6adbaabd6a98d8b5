#include "tune/calibration/fit.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "base/parallel.h"
#include "base/text.h"
#include "design/file/words.h"
#include "sim/fabric/from_design.h"
#include "tune/calibration/minimise.h"
#include "tune/statistics/statistics.h"

namespace weir::tune {
namespace {

constexpr double kUnit = 0.05;  // of a logarithm: what a singular value counts in
constexpr double kStep = 0.15;  // of a logarithm, each way: paired differences
/// No statistic is compared more closely than this share of it, in their order. CNPs and pauses
/// come in whole packets: their rates are stairs over the time that is wanted.
constexpr std::array<double, kStatistics> kFloors = {0.005, 0.01, 0.02, 0.02,
                                                     0.03,  0.15, 0.05, 0.05};
constexpr double kAbsoluteFloor = 1e-3;
constexpr double kShortStep = 0.06;
constexpr double kLeaning = 0.2;  // of what a frozen unknown is off: an unknown that follows it
constexpr double kUnseen = 1 / kUnit;  // an unknown is known to a factor of e, whatever happens
constexpr double kNamed = 0.3;         // of a direction: a part of it that is worth a name
constexpr double kWorstChiSquare = 9;  // per row: three standard deviations each
constexpr double kScopeMargin = 10;    // of chi square: one scope explains more than another
constexpr double kQuantile = 1.96;
constexpr double kHeldOutSigmas = 3;
constexpr double kHeldOutShare = 0.10;  // a prediction further off than that is none
constexpr std::size_t kFitSeeds = 2;
constexpr std::size_t kJacobianSeeds = 4;
constexpr double kSureEntry = 3;         // standard errors: less is taken for none
constexpr double kResolved = 0.10;       // of a value: an interval beyond it does not identify
constexpr double kBracketStep = 0.02;    // of a logarithm
constexpr int kBracketSteps = 15;        // each way
constexpr double kWorseByChance = 3.84;  // of chi square, one degree of freedom: 95 %

using IsFree = std::array<bool, kUnknowns>;

/// One statistic to be matched.
struct Target {
  const Trial* trial = nullptr;
  std::size_t column = 0;  // of the trial's statistics
  Statistic statistic = Statistic::kLatency;
  std::vector<double> repeats;
  double mean = 0;
  double variance = 0;  // of one repeat
  double sigma = 1;     // of measured less simulated
};

double floor_of(const Target& target) {
  return std::max(kFloors.at(static_cast<std::size_t>(target.statistic)) * std::abs(target.mean),
                  kAbsoluteFloor);
}

bool is_random(const Trial& trial) {
  return trial.kind == TrialKind::kIncast || trial.kind == TrialKind::kJoin;
}

/// What the levels leave open of Kmax, and what Pmax then is, to what was fitted: the slope of
/// marking is known better than its end.
struct MaxRange {
  double low = 0;
  double high = 0;
  double least_probability = 1;
  double most_probability = 1;
};

/// An interval that is as narrow as what is called identified.
bool is_resolved(double low, double value, double high) {
  constexpr double kMost = kResolved + 0.001;  // rounding
  return high <= value * (1 + kMost) && low >= value / (1 + kMost);
}

class Fitter {
 public:
  Fitter(const design::Design& design, const design::Intent& intent, const FitRequest& request)
      : design_(design), intent_(intent), request_(request) {}

  Result<FitResult> fit() {
    WEIR_TRY_STATUS(check_plan(request_.plan, intent_));
    WEIR_TRY_STATUS(take_targets());
    at_.values = start_values(design_.calibration);
    at_.cnp_scope = design_.calibration.cnp_scope.value_or(table_scope());
    free_unknowns();
    guess_rate();
    tell(0, "noise");
    WEIR_TRY_STATUS(estimate_noise());
    WEIR_TRY_STATUS(fit_blocks());
    WEIR_TRY_STATUS(estimate_noise());
    tell(0.6, "all together");
    WEIR_TRY_STATUS(minimise_over(at_.is_set, all_fitted(), 0.08, 40));
    WEIR_TRY_STATUS(identify());
    tell(0.97, "residuals");
    WEIR_TRY_STATUS(fill_rows());
    judge();
    fill_range();
    return std::move(out_);
  }

 private:
  void tell(double share, std::string_view stage) const {
    if (request_.progress) request_.progress(share, stage);
  }

  [[nodiscard]] design::CnpScope table_scope() const {
    return intent_.hosts.front().nic_model->cnp_scope;
  }

  // ---- what was measured ----

  Status take_targets() {
    for (const MeasuredStatistic& measured : request_.measured) {
      const Trial* const trial = request_.plan.find(measured.trial);
      if (trial == nullptr)
        return invalid_error(fmt::format("measured trial '{}' is not of the plan", measured.trial));
      const std::vector<Statistic> all = statistics_of(*trial);
      const auto found = std::find(all.begin(), all.end(), measured.statistic);
      if (found == all.end())
        return invalid_error(
            fmt::format("trial {} has no statistic {}", trial->id, to_text(measured.statistic)));
      if (measured.repeats.size() < 2)
        return invalid_error(fmt::format(
            "trial {}, {}: expected two repeats or more, found {}: without them nothing "
            "is known of the noise",
            trial->id, to_text(measured.statistic), measured.repeats.size()));
      Target target{trial, static_cast<std::size_t>(found - all.begin()), measured.statistic,
                    measured.repeats};
      const auto count = static_cast<double>(measured.repeats.size());
      for (const double value : measured.repeats)
        target.mean += value / count;
      for (const double value : measured.repeats)
        target.variance += (value - target.mean) * (value - target.mean) / (count - 1);
      targets_.push_back(std::move(target));
    }
    if (all_fitted().empty()) return invalid_error("nothing was measured that can be fitted");
    return {};
  }

  [[nodiscard]] std::set<const Trial*> trials_that(
      const std::function<bool(const Trial&)>& is_wanted) const {
    std::set<const Trial*> out;
    for (const Target& target : targets_)
      if (!target.trial->is_held_out && is_wanted(*target.trial)) out.insert(target.trial);
    return out;
  }
  [[nodiscard]] std::set<const Trial*> all_fitted() const {
    return trials_that([](const Trial&) { return true; });
  }
  static bool is_off(const Trial& trial) { return !trial.has_reaction_point; }

  /// Of idle messages whose sizes are far enough apart: microseconds of the shortest, and
  /// microseconds per byte.
  struct LatencySlope {
    double shortest = 0;
    double per_byte = 0;
  };
  [[nodiscard]] std::optional<LatencySlope> latency_slope() const {
    constexpr std::int64_t kFarApart = 2'048;
    const Target* shortest = nullptr;
    const Target* longest = nullptr;
    for (const Target& target : targets_) {
      const Trial& trial = *target.trial;
      if (trial.kind != TrialKind::kLatency || trial.is_held_out) continue;
      if (shortest == nullptr || trial.size < shortest->trial->size) shortest = &target;
      if (longest == nullptr || trial.size > longest->trial->size) longest = &target;
    }
    if (shortest == nullptr || shortest->trial->senders != longest->trial->senders)
      return std::nullopt;
    const std::int64_t apart = (longest->trial->size - shortest->trial->size).raw();
    if (apart < kFarApart || longest->mean <= shortest->mean) return std::nullopt;
    return LatencySlope{shortest->mean,
                        (longest->mean - shortest->mean) / static_cast<double>(apart)};
  }

  /// A link that is far slower than the design's would be a long way for the search.
  void guess_rate() {
    const auto slope = latency_slope();
    if (!slope || at_.is_set.at(static_cast<std::size_t>(Unknown::kHostRate)) == false) return;
    const double ratio = 8e6 / slope->per_byte /
                         static_cast<double>(std::max(speed_of_receiver().raw(), std::int64_t{1}));
    constexpr double kSlow = 0.5;
    if (ratio > kSlow) return;
    at_.values.at(static_cast<std::size_t>(Unknown::kHostRate)) =
        std::max(ratio, info_of(Unknown::kHostRate).low);
    at_.values.at(static_cast<std::size_t>(Unknown::kNicLatency)) =
        std::max(slope->shortest / 2, 1.0);
  }

  /// Unknowns that some trial can show.
  void free_unknowns() {
    const auto set = [&](bool is_free, std::initializer_list<Unknown> list) {
      for (const Unknown unknown : list)
        at_.is_set.at(static_cast<std::size_t>(unknown)) = is_free;
    };
    const auto has = [&](const std::function<bool(const Trial&)>& is_wanted) {
      return !trials_that(is_wanted).empty();
    };
    using enum Unknown;
    set(has([](const Trial& t) { return t.kind == TrialKind::kLatency; }),
        {kNicLatency, kSwitchLatency});
    set(has([](const Trial& t) { return t.kind == TrialKind::kBandwidth; }) || latency_slope(),
        {kHostRate});
    set(has(is_off), {kXoff, kPauseReaction, kCnpGap});
    set(has([](const Trial& t) { return is_random(t) && t.has_reaction_point; }),
        {kWredMin, kWredMax, kWredProbability, kCnpDelay});
    if (intent_.switches.empty()) set(false, {kSwitchLatency});
    measured_ = at_.is_set;
  }

  // ---- simulated ----

  struct Job {
    const Trial* trial = nullptr;
    const Assumption* assumption = nullptr;
    std::uint64_t seed = 0;
    std::vector<double> values;
    std::optional<Error> error;
  };

  Status run(std::vector<Job>& jobs) {
    for_each_index(jobs.size(), request_.jobs, [&](std::size_t i) {
      auto values = observe(design_, intent_, request_.plan, *jobs[i].trial, *jobs[i].assumption,
                            jobs[i].seed);
      if (values)
        jobs[i].values = *std::move(values);
      else
        jobs[i].error = values.error();
    });
    for (const Job& job : jobs)
      if (job.error) return job.error->within(fmt::format("trial {}", job.trial->id));
    out_.points += jobs.size();
    return {};
  }

  [[nodiscard]] std::uint64_t seed_of(std::size_t i) const { return request_.seed * 1'000 + i; }

  using BySeed = std::map<const Trial*, std::vector<std::vector<double>>>;
  Result<BySeed> simulate_at(const Assumption& assumption, const std::set<const Trial*>& trials,
                             std::size_t seeds) {
    std::vector<Job> jobs;
    for (const Trial* trial : trials)
      for (std::size_t i = 0; i < (is_random(*trial) ? seeds : 1); ++i)
        jobs.push_back({trial, &assumption, seed_of(i), {}, {}});
    WEIR_TRY_STATUS(run(jobs));
    BySeed out;
    for (Job& job : jobs)
      out[job.trial].push_back(std::move(job.values));
    return out;
  }

  static double mean_of(const BySeed& values, const Target& target) {
    double sum = 0;
    const auto& seeds = values.at(target.trial);
    for (const std::vector<double>& row : seeds)
      sum += row[target.column];
    return sum / static_cast<double>(seeds.size());
  }

  /// Repeats tell the noise of the measurement, seeds that of the simulation.
  Status estimate_noise() {
    std::set<const Trial*> trials;
    for (const Target& target : targets_)
      trials.insert(target.trial);
    WEIR_TRY(values, simulate_at(at_, trials, kJacobianSeeds));
    for (Target& target : targets_) {
      const auto& seeds = values.at(target.trial);
      const double mean = mean_of(values, target);
      double variance = 0;
      for (const std::vector<double>& row : seeds)
        variance += (row[target.column] - mean) * (row[target.column] - mean) /
                    std::max<double>(static_cast<double>(seeds.size()) - 1, 1);
      const double floor = floor_of(target);
      // Where both vary by the same cause, three repeats alone may look quiet by chance.
      const double spread = std::max(target.variance, variance);
      target.sigma = std::sqrt(spread / static_cast<double>(target.repeats.size()) +
                               variance / static_cast<double>(kFitSeeds) + floor * floor);
    }
    return {};
  }

  [[nodiscard]] Result<double> chi_square_at(const Assumption& assumption,
                                             const std::set<const Trial*>& trials) {
    WEIR_TRY(values, simulate_at(assumption, trials, kFitSeeds));
    double sum = 0;
    for (const Target& target : targets_) {
      if (!trials.contains(target.trial)) continue;
      const double z = (mean_of(values, target) - target.mean) / target.sigma;
      sum += z * z;
    }
    return sum;
  }

  // ---- the search ----

  /// Moves at_ to the best of the free unknowns by these trials.
  Status minimise_over(const IsFree& is_free, const std::set<const Trial*>& trials, double step,
                       int points) {
    std::vector<std::size_t> index;
    for (std::size_t i = 0; i < kUnknowns; ++i)
      if (is_free.at(i) && at_.is_set.at(i)) index.push_back(i);
    if (index.empty() || trials.empty()) return {};
    std::vector<double> start;
    std::vector<double> low;
    std::vector<double> high;
    for (const std::size_t i : index) {
      start.push_back(std::log(at_.values.at(i)));
      low.push_back(std::log(unknowns()[i].low));
      high.push_back(std::log(unknowns()[i].high));
    }
    std::optional<Error> error;
    const Minimum found =
        minimise(start, low, high, step, points, [&](const std::vector<double>& at, double& value) {
          Assumption tried = at_;
          for (std::size_t k = 0; k < index.size(); ++k)
            tried.values.at(index[k]) = std::exp(at[k]);
          const auto sum = chi_square_at(tried, trials);
          if (!sum) {
            error = sum.error();
            return false;
          }
          value = *sum;
          return true;
        });
    if (error) return *error;
    for (std::size_t k = 0; k < index.size(); ++k)
      at_.values.at(index[k]) = std::exp(found.at[k]);
    last_chi_square_ = found.value;
    return {};
  }

  static IsFree only(std::initializer_list<Unknown> list) {
    IsFree out{};
    for (const Unknown unknown : list)
      out.at(static_cast<std::size_t>(unknown)) = true;
    return out;
  }

  Status fit_blocks() {
    using enum Unknown;
    tell(0.05, "latency and rate");
    const auto idle = trials_that([](const Trial& t) { return !is_random(t); });
    WEIR_TRY_STATUS(minimise_over(only({kNicLatency, kSwitchLatency, kHostRate}), idle, 0.5, 80));
    guess_marking();
    const auto off = trials_that([](const Trial& t) { return is_off(t) && !t.is_level; });
    if (!off.empty()) {
      tell(0.1, "what CNPs are paced by");
      WEIR_TRY_STATUS(choose_scope(off));
      tell(0.2, "pauses and CNPs");
      WEIR_TRY_STATUS(minimise_over(only({kXoff, kPauseReaction, kCnpGap}), off, 0.2, 40));
    }
    const auto on =
        trials_that([](const Trial& t) { return is_random(t) && t.has_reaction_point; });
    tell(0.35, "marking");
    const auto levels = trials_that([](const Trial& t) { return t.is_level; });
    WEIR_TRY_STATUS(minimise_over(only({kWredMin, kWredMax, kWredProbability}),
                                  levels.empty() ? on : levels, 0.06, 40));
    if (!levels.empty()) {
      WEIR_TRY_STATUS(scan_max(levels));
      WEIR_TRY_STATUS(
          minimise_over(only({kWredMin, kWredMax, kWredProbability}), levels, 0.04, 25));
    }
    return scan_delay(trials_that([](const Trial& t) { return t.kind == TrialKind::kJoin; }));
  }

  /// A queue that a trial held, and the share of packets that were marked there.
  struct Level {
    double queue = 0;  // bytes
    double share = 0;
  };

  /// Both as measured: the queue is what the probe waited for.
  [[nodiscard]] std::vector<Level> measured_levels() const {
    const Trial* idle = request_.plan.find("latency-far");
    if (idle == nullptr) idle = request_.plan.find("latency-2");
    const auto mean = [&](const Trial* trial, Statistic statistic) -> std::optional<double> {
      for (const Target& target : targets_)
        if (target.trial == trial && target.statistic == statistic) return target.mean;
      return std::nullopt;
    };
    const double base = mean(idle, Statistic::kLatency).value_or(0);
    const double bytes_per_us = static_cast<double>(speed_of_receiver().raw()) / 8e6 *
                                at_.values.at(static_cast<std::size_t>(Unknown::kHostRate));
    std::vector<Level> out;
    for (const Trial* trial : trials_that([](const Trial& t) { return t.is_level; })) {
      const auto latency = mean(trial, Statistic::kProbeLatency);
      const auto share = mean(trial, Statistic::kMarkShare);
      if (latency && share) out.push_back({(*latency - base) * bytes_per_us, *share});
    }
    return out;
  }

  /// Kmin and slope from a line through the levels on the ramp, Kmax from where the shares jump:
  /// a search that begins on the wrong side of the jump would stay there.
  void guess_marking() {
    constexpr double kLeastShare = 0.002;
    constexpr double kJump = 0.6;  // no ramp goes that high; beyond Kmax all is marked
    double count = 0;
    double queues = 0;
    double shares = 0;
    double squares = 0;
    double products = 0;
    double below = 0;
    double above = 0;
    for (const Level& level : measured_levels()) {
      if (level.share >= kJump) {
        above = above == 0 ? level.queue : std::min(above, level.queue);
        continue;
      }
      below = std::max(below, level.queue);
      if (level.share < kLeastShare) continue;
      ++count;
      queues += level.queue;
      shares += level.share;
      squares += level.queue * level.queue;
      products += level.queue * level.share;
    }
    const double spread = squares - queues * queues / std::max(count, 1.0);
    const design::WredIntent wred =
        wred_of(intent_, request_.plan.trials.front().receiver, request_.plan.rail);
    if (count < 2 || spread <= 0 || wred.min.raw() <= 0 || wred.probability.raw() <= 0) return;
    const double slope = (products - queues * shares / count) / spread;
    if (slope <= 0) return;
    const double least = queues / count - shares / count / slope;
    const double most = above > 0 ? (std::max(below, least) + above) / 2 : below * 1.1;
    const auto set = [&](Unknown unknown, double ratio) {
      const UnknownInfo& info = info_of(unknown);
      at_.values.at(static_cast<std::size_t>(unknown)) = std::clamp(ratio, info.low, info.high);
    };
    set(Unknown::kWredMin, least / static_cast<double>(wred.min.raw()));
    set(Unknown::kWredMax, most / static_cast<double>(wred.max.raw()));
    set(Unknown::kWredProbability,
        slope * (most - least) * kSharePerWhole / static_cast<double>(wred.probability.raw()));
  }

  /// Another Kmax of the same slope: the levels on the ramp do not change, those beyond it do.
  [[nodiscard]] Assumption with_max(double max) const {
    const design::WredIntent wred =
        wred_of(intent_, request_.plan.trials.front().receiver, request_.plan.rail);
    const auto value = [](Unknown unknown) { return static_cast<std::size_t>(unknown); };
    const double least_queue =
        at_.values.at(value(Unknown::kWredMin)) * static_cast<double>(wred.min.raw());
    const auto ramp = [&](double ratio) {
      return std::max(ratio * static_cast<double>(wred.max.raw()) - least_queue, 1.0);
    };
    const UnknownInfo& probability = info_of(Unknown::kWredProbability);
    Assumption out = at_;
    out.values.at(value(Unknown::kWredMax)) = max;
    double& share = out.values.at(value(Unknown::kWredProbability));
    share = std::clamp(share * ramp(max) / ramp(at_.values.at(value(Unknown::kWredMax))),
                       probability.low, probability.high);
    return out;
  }

  Status scan_max(const std::set<const Trial*>& trials) {
    const double start = at_.values.at(static_cast<std::size_t>(Unknown::kWredMax));
    Assumption best = at_;
    std::optional<double> least;
    for (int step = -7; step <= 7; ++step) {
      const Assumption tried = with_max(start * std::exp(step * 0.035));
      WEIR_TRY(sum, chi_square_at(tried, trials));
      if (least && sum >= *least) continue;
      least = sum;
      best = tried;
    }
    at_ = best;
    return {};
  }

  /// The Kmax that explain the levels no worse than the best one does, and the middle of them as
  /// the answer. Shares jump at Kmax: between two levels nothing tells where it is, and a
  /// derivative does not show that.
  Status bracket_max() {
    const std::set<const Trial*> levels = trials_that([](const Trial& t) { return t.is_level; });
    const auto place = static_cast<std::size_t>(Unknown::kWredMax);
    if (levels.empty() || !at_.is_set.at(place)) return {};
    const double start = at_.values.at(place);
    std::map<int, double> sums;
    for (int step = -kBracketSteps; step <= kBracketSteps; ++step) {
      WEIR_TRY(sum, chi_square_at(with_max(start * std::exp(step * kBracketStep)), levels));
      sums[step] = sum;
    }
    const auto best = std::min_element(
        sums.begin(), sums.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    std::size_t rows = 0;
    for (const Target& target : targets_)
      rows += levels.contains(target.trial) ? 1U : 0U;
    const double allowed =
        best->second + kWorseByChance * std::max(1.0, best->second / static_cast<double>(rows));
    int first = best->first;
    int last = best->first;
    for (const auto& [step, sum] : sums) {
      if (sum > allowed) continue;
      first = std::min(first, step);
      last = std::max(last, step);
    }
    const bool is_open = first == -kBracketSteps || last == kBracketSteps;
    // Half a step further each way: the end lies between this point and the next.
    const UnknownInfo& info = info_of(Unknown::kWredMax);
    const double low =
        first == -kBracketSteps ? info.low : start * std::exp((first - 0.5) * kBracketStep);
    const double high =
        last == kBracketSteps ? info.high : start * std::exp((last + 0.5) * kBracketStep);
    const double middle =
        is_open ? start * std::exp(best->first * kBracketStep) : std::sqrt(low * high);
    const double least =
        with_max(low).values.at(static_cast<std::size_t>(Unknown::kWredProbability));
    const double most =
        with_max(high).values.at(static_cast<std::size_t>(Unknown::kWredProbability));
    at_ = with_max(middle);
    const double share = at_.values.at(static_cast<std::size_t>(Unknown::kWredProbability));
    max_range_ = MaxRange{low, high, least / share, most / share};
    return {};
  }

  /// A short delay hides behind the time until the first mark, so that a search which begins there
  /// sees nothing: a grid looks further.
  Status scan_delay(const std::set<const Trial*>& trials) {
    if (trials.empty()) return {};
    std::optional<Assumption> best;
    double least = 0;
    for (const double delay : {1.0, 2.0, 3.5, 5.0, 7.0, 10.0, 14.0, 20.0, 30.0, 50.0}) {
      Assumption tried = at_;
      tried.values.at(static_cast<std::size_t>(Unknown::kCnpDelay)) = delay;
      WEIR_TRY(sum, chi_square_at(tried, trials));
      if (best && sum >= least) continue;
      best = tried;
      least = sum;
    }
    at_ = *best;
    return {};
  }

  /// Where a gap is paced by something else, it is another gap: each scope begins at its own best.
  Status scan_gap(const std::set<const Trial*>& trials) {
    const Assumption start = at_;
    std::optional<double> least;
    for (const double gap : {0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8}) {
      Assumption tried = start;
      tried.values.at(static_cast<std::size_t>(Unknown::kCnpGap)) = gap;
      WEIR_TRY(sum, chi_square_at(tried, trials));
      if (least && sum >= *least) continue;
      least = sum;
      at_ = tried;
    }
    return {};
  }

  Status choose_scope(const std::set<const Trial*>& trials) {
    using enum Unknown;
    const Assumption start = at_;
    std::optional<Assumption> best;
    for (const auto& word : design::words(design::CnpScope{})) {
      at_ = start;
      at_.cnp_scope = word.value;
      WEIR_TRY_STATUS(scan_gap(trials));
      WEIR_TRY_STATUS(minimise_over(only({kXoff, kCnpGap}), trials, 0.1, 24));
      out_.scopes.push_back({word.value, last_chi_square_});
      if (!best || last_chi_square_ < least_) {
        best = at_;
        least_ = last_chi_square_;
      }
    }
    at_ = *best;
    std::vector<double> sums;
    for (const ScopeScore& score : out_.scopes)
      sums.push_back(score.chi_square);
    std::sort(sums.begin(), sums.end());
    if (sums[1] - sums[0] >= kScopeMargin) {
      out_.cnp_scope = at_.cnp_scope;
      return {};
    }
    is_scope_open_ = true;
    out_.notes.push_back(fmt::format(
        "what CNPs are paced by cannot be identified from these trials; cnp_gap is that of pacing "
        "by {}",
        design::to_word(at_.cnp_scope)));
    return {};
  }

  // ---- what can be identified ----

  /// In units and standard deviations; an entry that the seeds do not agree on is none.
  Result<Matrix> jacobian(const std::vector<std::size_t>& columns) {
    const std::set<const Trial*> trials = all_fitted();
    std::vector<Assumption> points;
    for (const std::size_t i : columns)
      for (const double sign : {-1.0, 1.0}) {
        Assumption moved = at_;
        const UnknownInfo& info = unknowns()[i];
        // Marks jump at Kmax: a long step would see the jump wherever it is.
        const double step = info.unknown == Unknown::kWredMax ? kShortStep : kStep;
        moved.values.at(i) =
            std::clamp(at_.values.at(i) * std::exp(sign * step), info.low, info.high);
        points.push_back(moved);
      }
    std::vector<Job> jobs;
    for (const Assumption& point : points)
      for (const Trial* trial : trials)
        for (std::size_t s = 0; s < (is_random(*trial) ? kJacobianSeeds : 1); ++s)
          jobs.push_back({trial, &point, seed_of(s), {}, {}});
    WEIR_TRY_STATUS(run(jobs));
    std::map<std::pair<const Assumption*, const Trial*>, std::vector<const Job*>> found;
    for (const Job& job : jobs)
      found[{job.assumption, job.trial}].push_back(&job);
    Matrix out;
    for (const Target& target : targets_) {
      if (target.trial->is_held_out) continue;
      std::vector<double> row;
      for (std::size_t c = 0; c < columns.size(); ++c) {
        const auto& down = found.at({&points[2 * c], target.trial});
        const auto& up = found.at({&points[2 * c + 1], target.trial});
        const double width =
            std::log(points[2 * c + 1].values.at(columns[c]) / points[2 * c].values.at(columns[c]));
        row.push_back(entry_of(down, up, target, width));
      }
      out.push_back(std::move(row));
    }
    return out;
  }

  static double entry_of(const std::vector<const Job*>& down, const std::vector<const Job*>& up,
                         const Target& target, double width) {
    if (width <= 0) return 0;
    const auto count = static_cast<double>(down.size());
    double mean = 0;
    double squares = 0;
    for (std::size_t s = 0; s < down.size(); ++s) {
      const double difference = up[s]->values[target.column] - down[s]->values[target.column];
      mean += difference / count;
      squares += difference * difference / count;
    }
    if (down.size() > 1) {
      const double error = std::sqrt(std::max(squares - mean * mean, 0.0) / (count - 1));
      if (std::abs(mean) < kSureEntry * error) return 0;
    }
    return mean / width * kUnit / target.sigma;
  }

  /// What the Jacobian is asked about: a Kmax that levels bracket has its range already.
  [[nodiscard]] std::vector<std::size_t> fitted_columns() const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < kUnknowns; ++i)
      if (at_.is_set.at(i) && !(max_range_ && i == static_cast<std::size_t>(Unknown::kWredMax)))
        out.push_back(i);
    return out;
  }

  /// Freezes one unknown of a direction after the other until every direction can be identified;
  /// then the others are fitted once more.
  Status identify() {
    tell(0.75, "what can be identified");
    WEIR_TRY_STATUS(bracket_max());
    const std::vector<std::size_t> columns = fitted_columns();
    before_freezing_ = at_.values;
    if (columns.empty()) return {};
    WEIR_TRY(matrix, jacobian(columns));
    freeze_unseen(std::move(matrix), columns);
    if (out_.unseen.empty()) return {};
    tell(0.9, "all that can be identified");
    IsFree is_free = at_.is_set;
    if (max_range_) is_free.at(static_cast<std::size_t>(Unknown::kWredMax)) = false;
    return minimise_over(is_free, all_fitted(), 0.08, 30);
  }

  void freeze_unseen(Matrix matrix, std::vector<std::size_t> columns) {
    while (!columns.empty()) {
      const Directions directions = directions_of(matrix);
      const std::vector<double> deviations = deviations_of(directions, kUnseen);
      out_.singular_values = directions.singular_values;
      deviations_.clear();
      for (std::size_t c = 0; c < columns.size(); ++c)
        deviations_[columns[c]] = deviations[c];
      if (directions.singular_values.back() >= 1) return;
      const std::size_t frozen = unseen_in(directions, matrix, columns);
      std::vector<double> held;
      for (const std::vector<double>& row : matrix)
        held.push_back(row[frozen]);
      at_.is_set.at(columns[frozen]) = false;
      at_.values.at(columns[frozen]) = start_values(design_.calibration).at(columns[frozen]);
      for (std::vector<double>& row : matrix)
        row.erase(row.begin() + static_cast<std::ptrdiff_t>(frozen));
      columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(frozen));
      const std::vector<double> response = response_of(matrix, held);
      for (std::size_t c = 0; c < response.size(); ++c)
        if (std::abs(response[c]) > kLeaning) leaning_.insert(columns[c]);
    }
  }

  /// Names the last direction; returns the column that keeps what the design says: of its large
  /// parts a ratio before a time, since a ratio has a configured value to keep, then the one that
  /// shows least.
  std::size_t unseen_in(const Directions& directions, const Matrix& matrix,
                        const std::vector<std::size_t>& columns) {
    const std::vector<double>& vector = directions.vectors.back();
    UnseenDirection out;
    out.singular_value = directions.singular_values.back();
    double largest = 0;
    for (const double part : vector)
      largest = std::max(largest, std::abs(part));
    std::optional<std::size_t> chosen;
    double chosen_rank = 0;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (std::abs(vector[c]) < kNamed * largest) continue;
      out.parts.emplace_back(static_cast<Unknown>(columns[c]), vector[c]);
      double rank = unknowns()[columns[c]].is_ratio ? 0 : 1e9;
      for (const std::vector<double>& row : matrix)
        rank += row[c] * row[c];
      if (!chosen || rank < chosen_rank) {
        chosen = c;
        chosen_rank = rank;
      }
    }
    std::sort(out.parts.begin(), out.parts.end(),
              [](const auto& a, const auto& b) { return std::abs(a.second) > std::abs(b.second); });
    out.frozen = static_cast<Unknown>(columns[*chosen]);
    out_.unseen.push_back(std::move(out));
    return *chosen;
  }

  // ---- the answer ----

  Status fill_rows() {
    std::set<const Trial*> trials;
    for (const Target& target : targets_)
      trials.insert(target.trial);
    WEIR_TRY(values, simulate_at(at_, trials, kJacobianSeeds));
    double squares = 0;
    for (const Target& target : targets_) {
      FitRow row;
      row.trial = target.trial->id;
      row.statistic = target.statistic;
      row.is_held_out = target.trial->is_held_out;
      row.repeats = target.repeats.size();
      row.measured = target.mean;
      row.simulated = mean_of(values, target);
      row.sigma = target.sigma;
      const auto count = static_cast<double>(target.repeats.size());
      const double half = std::max(student_quantile(target.repeats.size() - 1) *
                                       std::sqrt(target.variance * (1 + 1 / count)),
                                   kQuantile * floor_of(target));
      row.low = target.mean - half;
      row.high = target.mean + half;
      if (!row.is_held_out) out_.chi_square += row.z() * row.z();
      const double scale = std::max(std::abs(row.measured), kAbsoluteFloor);
      squares += std::pow((row.simulated - row.measured) / scale, 2);
      out_.rows.push_back(std::move(row));
    }
    out_.residual = std::sqrt(squares / static_cast<double>(out_.rows.size()));
    fill_unknowns();
    return {};
  }

  void fill_unknowns() {
    for (std::size_t i = 0; i < kUnknowns; ++i) {
      FittedUnknown out;
      out.unknown = static_cast<Unknown>(i);
      out.value = at_.values.at(i);
      out.low = unknowns()[i].low;
      out.high = unknowns()[i].high;
      if (at_.is_set.at(i)) {
        set_range(out);
        out.state = is_resolved(out.low, out.value, out.high) && !is_named(out.unknown)
                        ? UnknownState::kIdentified
                        : UnknownState::kConditional;
      } else if (measured_.at(i)) {
        out.state = UnknownState::kFrozen;
      }
      out_.unknowns.push_back(out);
    }
  }

  /// By the Jacobian; of Kmax by the levels around it, and Pmax follows that.
  void set_range(FittedUnknown& out) {
    if (max_range_ && out.unknown == Unknown::kWredMax) {
      out.low = max_range_->low;
      out.high = max_range_->high;
      if (!is_resolved(out.low, out.value, out.high))
        out_.notes.push_back(fmt::format(
            "wred_max is between {:.0f} % and {:.0f} % of the design: no level of the plan lies "
            "between, and wred_probability is known only with it",
            100 * out.low, 100 * out.high));
      return;
    }
    const double factor =
        std::exp(kQuantile * kUnit * deviations_.at(static_cast<std::size_t>(out.unknown)));
    out.low = out.value / factor;
    out.high = out.value * factor;
    if (max_range_ && out.unknown == Unknown::kWredProbability) {
      out.low *= max_range_->least_probability;
      out.high *= max_range_->most_probability;
    }
  }

  /// Part of a direction that cannot be identified, or moved by what was frozen.
  [[nodiscard]] bool is_named(Unknown unknown) const {
    const auto i = static_cast<std::size_t>(unknown);
    if (is_scope_open_ && unknown == Unknown::kCnpGap) return true;
    if (leaning_.contains(i)) return true;
    if (std::abs(std::log(at_.values.at(i) / before_freezing_.at(i))) > kUnit) return true;
    return std::any_of(out_.unseen.begin(), out_.unseen.end(), [&](const UnseenDirection& each) {
      return std::any_of(each.parts.begin(), each.parts.end(),
                         [&](const auto& part) { return part.first == unknown; });
    });
  }

  void judge() {
    const FitRow* worst = nullptr;
    const FitRow* widest = nullptr;
    std::size_t fitted = 0;
    for (const FitRow& row : out_.rows) {
      if (row.is_held_out) continue;
      ++fitted;
      if (worst == nullptr || std::abs(row.z()) > std::abs(worst->z())) worst = &row;
      if (widest == nullptr || row.width() > widest->width()) widest = &row;
    }
    const auto told = std::count_if(
        out_.unknowns.begin(), out_.unknowns.end(),
        [](const FittedUnknown& each) { return each.state == UnknownState::kIdentified; });
    const auto some = std::count_if(
        out_.unknowns.begin(), out_.unknowns.end(),
        [](const FittedUnknown& each) { return each.state == UnknownState::kConditional; });
    if (told + some == 0) {
      out_.reason = fmt::format(
          "cannot be calibrated here: what was measured varies too much from run to run to tell "
          "any unknown within 10 % (most: {} of {}, measured {:.4g}, {:.4g} to {:.4g} from run to "
          "run)",
          to_text(widest->statistic), widest->trial, widest->measured, widest->low, widest->high);
      return;
    }
    if (out_.chi_square > kWorstChiSquare * static_cast<double>(fitted)) {
      out_.reason = fmt::format(
          "cannot be calibrated here: no values of the unknowns reproduce what was measured "
          "(furthest: {} of {}, measured {:.4g}, simulated {:.4g})",
          to_text(worst->statistic), worst->trial, worst->measured, worst->simulated);
      return;
    }
    for (const FitRow& row : out_.rows) {
      if (!row.is_held_out || row.is_within()) continue;
      const double share =
          std::abs(row.simulated - row.measured) / std::max(std::abs(row.measured), kAbsoluteFloor);
      if (std::abs(row.z()) < kHeldOutSigmas || share < kHeldOutShare) continue;
      out_.reason = fmt::format(
          "cannot be calibrated here: {} of {}, which was held out, is predicted as {:.4g} and was "
          "measured as {:.4g} ({:.4g} to {:.4g} from run to run)",
          to_text(row.statistic), row.trial, row.simulated, row.measured, row.low, row.high);
      return;
    }
    out_.is_calibrated = true;
    out_.reason = fmt::format("calibrated: {} identified within 10 %{}",
                              counted(static_cast<std::size_t>(told), "unknown"),
                              out_.unseen.empty()
                                  ? ""
                                  : fmt::format(", {} cannot be identified and {} as designed",
                                                counted(out_.unseen.size(), "unknown"),
                                                out_.unseen.size() == 1 ? "stays" : "stay"));
  }

  [[nodiscard]] BitRate speed_of_receiver() const {
    for (const design::HostIntent& host : intent_.hosts)
      if (host.name == request_.plan.trials.front().receiver)
        for (const design::NicIntent& nic : host.nics)
          if (nic.rail == request_.plan.rail) return nic.speed;
    return {};
  }

  void fill_range() {
    for (const Target& target : targets_) {
      const Trial& trial = *target.trial;
      const auto fan_in = static_cast<int>(trial.senders.size()) + (trial.probe.empty() ? 0 : 1);
      out_.range.fan_in = std::max(out_.range.fan_in, fan_in);
      out_.range.flows =
          std::max(out_.range.flows, static_cast<int>(trial.senders.size()) * trial.qps +
                                         (trial.probe.empty() ? 0 : 1));
    }
    for (const design::HostIntent& host : intent_.hosts) {
      if (host.name != request_.plan.trials.front().receiver) continue;
      for (const design::NicIntent& nic : host.nics)
        if (nic.rail == request_.plan.rail) {
          out_.range.rdma_mtu = sim::rdma_payload(nic.rdma_mtu, nic.mtu);
          out_.range.speed = nic.speed;
        }
    }
  }

  const design::Design& design_;
  const design::Intent& intent_;
  const FitRequest& request_;
  std::vector<Target> targets_;
  Assumption at_;
  IsFree measured_{};
  UnknownValues before_freezing_{};
  bool is_scope_open_ = false;
  std::set<std::size_t> leaning_;  // unknowns that follow a frozen one
  std::map<std::size_t, double> deviations_;
  double last_chi_square_ = 0;
  double least_ = 0;
  std::optional<MaxRange> max_range_;
  FitResult out_;
};

}  // namespace

std::string_view to_text(UnknownState state) {
  switch (state) {
    case UnknownState::kIdentified: return "identified";
    case UnknownState::kConditional: return "conditional";
    case UnknownState::kFrozen: return "frozen";
    case UnknownState::kNotMeasured: break;
  }
  return "not-measured";
}

const FittedUnknown& FitResult::of(Unknown unknown) const {
  return unknowns.at(static_cast<std::size_t>(unknown));
}

Result<FitResult> fit_calibration(const design::Design& design, const design::Intent& intent,
                                  const FitRequest& request) {
  return Fitter(design, intent, request).fit();
}

design::Calibration calibration_of(const FitResult& result, std::string source) {
  design::Calibration out;
  if (!result.is_calibrated) return out;
  UnknownValues values{};
  IsFree is_set{};
  std::vector<std::string> frozen;
  for (std::size_t i = 0; i < kUnknowns; ++i) {
    const FittedUnknown& each = result.unknowns.at(i);
    values.at(i) = each.value;
    is_set.at(i) =
        each.state == UnknownState::kIdentified || each.state == UnknownState::kConditional;
    if (each.state == UnknownState::kFrozen) frozen.emplace_back(info_of(each.unknown).key);
  }
  write_values(values, is_set, out);
  out.source.write(std::move(source), {});
  if (result.cnp_scope) out.cnp_scope.write(*result.cnp_scope, {});
  if (!frozen.empty()) out.not_identified.write(std::move(frozen), {});
  out.residual.write(Share::raw(std::llround(std::min(result.residual, 10.0) * kSharePerWhole)),
                     {});
  out.fan_in.write(result.range.fan_in, {});
  out.flows.write(result.range.flows, {});
  out.rdma_mtu.write(result.range.rdma_mtu, {});
  out.speed.write(result.range.speed, {});
  return out;
}

}  // namespace weir::tune
