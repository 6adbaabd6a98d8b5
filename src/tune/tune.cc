#include "tune/tune.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/digest.h"
#include "base/text.h"
#include "design/fabric/effective.h"
#include "tune/failures.h"
#include "tune/loads.h"
#include "tune/peer.h"
#include "tune/search.h"
#include "tune/steps.h"
#include "tune/target.h"
#include "units/format.h"

namespace weir::tune {
namespace {

/// Simulated time that a load may take under the start values; a tuning of more is a typing error.
constexpr Duration kLongestLoad = 10'000_ms;
/// A candidate is given up after so many times what the start values take.
constexpr std::int64_t kPatience = 5;
constexpr double kSignificant = 0.05;
/// What a load may lose for the sake of the others, held out or not.
constexpr double kRegret = 0.02;
/// Limits of the curve, beside the request's own: shares of the time that a port may be paused.
constexpr std::array kCurveLimits = {0.0, 0.001, 0.01, 0.05, 0.2, 0.5, 1.0};

Space space_of(const design::Variant& fabric, const TuneRequest& request,
               std::vector<KnobSetting>& fixed) {
  const auto any = [](const std::vector<std::string>& globs, std::string_view id) {
    return std::any_of(globs.begin(), globs.end(),
                       [&](const std::string& glob) { return matches(glob, id); });
  };
  Space space;
  for (const Knob& knob : knobs()) {
    if (!any(request.knobs, knob.id)) continue;
    if (any(request.keep, knob.id)) {
      fixed.push_back({std::string(knob.id), "kept, as requested"});
      continue;
    }
    if (const auto why = why_fixed(knob, fabric.design, fabric.intent)) {
      fixed.push_back({std::string(knob.id), *why});
      continue;
    }
    const std::int64_t start = start_value(knob, fabric.design, fabric.intent);
    space.knobs.push_back(&knob);
    space.start.push_back(start);
    space.grids.push_back(grid_of(knob, start, fabric.intent));
  }
  return space;
}

std::size_t move_values_of(const Space& space) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < space.knobs.size(); ++i)
    for (const Move& move : moves())
      if (move.knob == space.knobs[i]->id) count += values_of(move, space.start[i]).size();
  return count;
}

std::string move_of(const Knob& knob, std::int64_t start, std::int64_t value) {
  for (const Move& move : moves()) {
    if (move.knob != knob.id || move.factor == 0) continue;
    const bool goes_up = move.factor > 1;
    if ((value > start) == goes_up) return std::string(move.name);
  }
  return {};
}

/// One number per seed, the mean over the loads: runs of one seed under several loads are not
/// independent evidence of one change.
std::vector<double> ratios_by_seed(const Runs& before, const Runs& after, Objective objective) {
  std::vector<double> out;
  std::size_t seeds = before.front().size();
  for (const auto& load : before)
    seeds = std::min(seeds, load.size());
  for (std::size_t i = 0; i < seeds; ++i) {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t load = 0; load < before.size(); ++load) {
      const auto ratio = objective_ratios({before[load][i]}, {after[load][i]}, objective);
      if (ratio.empty()) continue;
      sum += ratio.front();
      ++count;
    }
    if (count > 0) out.push_back(sum / static_cast<double>(count));
  }
  return out;
}

std::uint64_t runs_in(const Runs& runs) {
  std::uint64_t count = 0;
  for (const auto& load : runs)
    count += load.size();
  return count;
}

std::uint64_t bad_in(const Runs& runs, double pause_limit) {
  std::uint64_t bad = 0;
  for (const auto& load : runs)
    for (const Metrics& run : load)
      bad += run.pause_share > pause_limit ? 1U : 0U;
  return bad;
}

std::uint64_t failed_in(const Runs& runs) {
  std::uint64_t failed = 0;
  for (const auto& load : runs)
    for (const Metrics& run : load)
      failed += run.is_lossless() ? 0U : 1U;
  return failed;
}

Change change_in(const std::vector<Metrics>& before, const std::vector<Metrics>& after,
                 double (*value)(const Metrics&)) {
  std::vector<double> first;
  std::vector<double> second;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!before[i].finished || !after[i].finished) continue;
    if (value(before[i]) <= 0 || value(after[i]) <= 0) continue;
    first.push_back(value(before[i]));
    second.push_back(value(after[i]));
  }
  return change_of(log_ratios(first, second));
}

/// The tuning from its first run to its verdict; one object so that the parts of the story share
/// what they know.
class Tuning {
 public:
  Tuning(const design::Variant& fabric, const TuneRequest& request)
      : fabric_(fabric),
        request_(request),
        evaluator_(
            fabric.design, request.jobs, [this](std::uint64_t) { tell_progress(); },
            request.foreman) {}

  Result<TuneResult> run() {
    WEIR_TRY_STATUS(prepare());
    WEIR_TRY(is_sound, lay_groundwork());
    if (!is_sound) return finish();
    WEIR_TRY(is_worth_it, look_at_start());
    if (!is_worth_it) return finish();
    WEIR_TRY(finalists, search_values());
    if (finalists.empty()) return finish();
    WEIR_TRY(chosen, select(std::move(finalists)));
    if (!chosen) return finish();
    WEIR_TRY_STATUS(report(*chosen));
    return finish();
  }

 private:
  void tell_progress() const {
    if (request_.progress)
      request_.progress(evaluator_.runs(), std::max(expected_, evaluator_.runs()), stage_);
  }
  void enter(std::string_view stage) {
    stage_ = stage;
    tell_progress();
  }
  Result<TuneResult> finish() {
    result_.runs = evaluator_.runs();
    return std::move(result_);
  }
  void conclude(Verdict verdict, std::string reason) {
    result_.verdict = verdict;
    result_.reason = std::move(reason);
  }

  Status prepare() {
    result_.design = fabric_.design.file;
    Digest digest;
    digest.add(design::effective_values(fabric_.design));
    result_.design_digest = digest.to_text();
    result_.objective = request_.objective;
    result_.pause_limit = request_.pause_limit;
    result_.tolerance = kTolerance;
    result_.seed = request_.seed;
    result_.steps = {{"classify", StepState::kNotRun, {}, {}},
                     {"pfc", StepState::kNotRun, {}, {}},
                     {"search", StepState::kNotRun, {}, {}},
                     {"failure", StepState::kNotRun, {}, {}}};
    if (fabric_.intent.hosts.size() < 2) return invalid_error("a tuning needs at least two hosts");
    result_.workloads = request_.loads.empty() ? usual_loads(fabric_.intent) : request_.loads;
    for (const std::string& text : result_.workloads) {
      auto load = parse_load(text);
      if (!load)
        return invalid_error("--workload: " + load.error().what);  // a word, no file of ours
      const auto other = held_out_of(*load, fabric_.intent);
      if (other && std::find(result_.workloads.begin(), result_.workloads.end(), *other) ==
                       result_.workloads.end())
        result_.held_out.push_back(*other);
      if (!other) result_.notes.push_back(fmt::format("{} has no neighbour to hold out", text));
    }
    for (const auto* globs : {&request_.knobs, &request_.keep})
      for (const std::string& glob : *globs)
        if (std::none_of(knobs().begin(), knobs().end(),
                         [&](const Knob& knob) { return matches(glob, knob.id); }))
          return invalid_error(
              fmt::format("'{}' matches no knob; weir tune --list-knobs has them", glob));
    space_ = space_of(fabric_, request_, result_.fixed);
    for (std::size_t i = 0; i < space_.knobs.size(); ++i)
      result_.start.push_back(
          {std::string(space_.knobs[i]->id), value_text(*space_.knobs[i], space_.start[i])});
    if (!request_.results.empty())
      WEIR_TRY_STATUS(evaluator_.keep_results(request_.results, request_.is_resumed));
    question_.loads = result_.workloads;
    question_.objective = request_.objective;
    question_.pause_limit = request_.pause_limit;
    question_.tolerance = kTolerance;
    if (request_.budget.minutes == 0) return make_plan(request_.budget.runs);
    return {};
  }

  Status make_plan(std::uint64_t runs) {
    result_.budget_runs = runs;
    const Problem problem{space_.knobs.size(), result_.workloads.size(), result_.held_out.size(),
                          move_values_of(space_), kScenarios};
    auto plan = plan_for(problem, runs);
    if (!plan) return plan.error().within("--budget");
    plan_ = *plan;
    expected_ = plan_.most_runs(problem);
    return {};
  }

  // ---- steps one and two ----

  Result<bool> lay_groundwork() {
    enter("classify");
    if (!request_.deviations.empty()) {
      StepOutcome& classify = result_.steps[0];
      classify.state = StepState::kFailed;
      classify.details = request_.deviations;
      classify.text = fmt::format("the fabric is not as designed: {}", request_.deviations.front());
      conclude(Verdict::kRefused, classify.text);
      return false;
    }
    WEIR_TRY(groundwork,
             check_groundwork(fabric_, seed_of(request_.seed, SeedSet::kSearch, 0), evaluator_));
    result_.steps[0] = groundwork.classify;
    result_.steps[1] = groundwork.pfc;
    if (groundwork.holds()) return true;
    const bool is_classified = groundwork.classify.state == StepState::kPassed;
    conclude(Verdict::kRefused, is_classified ? groundwork.pfc.text : groundwork.classify.text);
    return false;
  }

  // ---- the start values ----

  Result<bool> look_at_start() {
    enter("start values");
    std::vector<RunOrder> orders;
    for (const std::string& load : result_.workloads)
      orders.push_back({{}, {load}, {}, seed_of(request_.seed, SeedSet::kSearch, 0), kLongestLoad});
    WEIR_TRY(first, evaluator_.run(orders));
    double longest = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (!first[i].is_lossless()) {
        conclude(Verdict::kRefused,
                 fmt::format("{} {} with the start values", result_.workloads[i],
                             first[i].lossless_drops > 0 ? "loses lossless packets"
                                                         : "does not finish within 10 s"));
        return false;
      }
      longest = std::max(longest, first[i].duration_us);
      timed_.push_back({result_.workloads[i], first[i].duration_us, first[i].step_us.has_value()});
    }
    question_.limit = std::max(1_us * (static_cast<std::int64_t>(longest) * kPatience), 100_ms);
    if (request_.budget.minutes > 0) {
      // One significant digit, so that small differences in speed give the same plan.
      const double each = evaluator_.cpu_seconds(orders) / static_cast<double>(first.size());
      const double runs = request_.budget.minutes * 60 * evaluator_.jobs() / std::max(each, 1e-4);
      const double magnitude = std::pow(10, std::floor(std::log10(std::max(runs, 1.0))));
      WEIR_TRY_STATUS(
          make_plan(static_cast<std::uint64_t>(std::floor(runs / magnitude) * magnitude)));
      result_.notes.push_back(
          fmt::format("the time of --budget is {} runs here", result_.budget_runs));
    }
    search_.emplace(evaluator_, space_, question_, request_.seed);
    WEIR_TRY(runs, search_->evaluate({space_.start}, SeedSet::kSearch, plan_.last_seeds(),
                                     question_.loads));
    WEIR_TRY_STATUS(judge_start(runs[0]));
    bool is_quiet = true;
    for (const auto& load : runs[0])
      for (const Metrics& run : load)
        is_quiet = is_quiet && run.marked == 0 && run.pauses == 0;
    // Where some runs are bad, a handful of seeds would take a rate of a few percent for none.
    select_seeds_ = plan_.select_seeds;
    if (bad_in(runs[0], request_.pause_limit) > 0)
      select_seeds_ = std::max(select_seeds_, kSeedsToRank);
    for (std::size_t load = 0; load < question_.loads.size(); ++load)
      if (bad_in({runs[0][load]}, request_.pause_limit) > 0)
        paused_loads_.push_back(question_.loads[load]);
    if (is_quiet) {
      conclude(Verdict::kNothingToTune,
               "no packet was marked and no port was paused: no knob acts on these loads");
      pass_search("no run marked a packet or paused a port");
      return false;
    }
    if (space_.knobs.empty()) {
      conclude(Verdict::kNothingToTune, "no knob is left to turn");
      pass_search("no knob is left to turn");
      return false;
    }
    return true;
  }

  /// Until something better is found, the target is judged by the start values.
  Status judge_start(const Runs& runs) {
    const RunOrder idle{
        {}, {idle_load()}, {}, seed_of(request_.seed, SeedSet::kReport, 0), question_.limit};
    WEIR_TRY(alone, evaluator_.run({idle}));
    return say_target(runs, nullptr, alone.front(), nullptr);
  }

  Status say_target(const Runs& start, const Runs* chosen, const Metrics& idle_start,
                    const Metrics* idle_chosen) {
    result_.target.clear();
    for (std::size_t i = 0; i < question_.loads.size(); ++i) {
      WEIR_TRY(load, parse_load(question_.loads[i]));
      for (TargetRow& row :
           judge_target(load, start[i], chosen == nullptr ? nullptr : &(*chosen)[i],
                        request_.pause_limit, request_.thresholds))
        result_.target.push_back(std::move(row));
    }
    result_.target.push_back(judge_idle(idle_start, idle_chosen));
    return {};
  }

  void pass_search(std::string text) {
    result_.steps[2].state = StepState::kPassed;
    result_.steps[2].text = std::move(text);
  }

  // ---- step three ----

  Result<std::vector<Candidate>> search_values() {
    enter("screening");
    WEIR_TRY(sensitivity, search_->screen(plan_));
    result_.sensitivity = std::move(sensitivity);
    enter("moves");
    WEIR_TRY(tried, search_->try_moves(plan_));
    result_.tried = std::move(tried);
    const bool all_inert = std::all_of(result_.sensitivity.begin(), result_.sensitivity.end(),
                                       [](const Sensitivity& row) { return row.is_inert; });
    const bool nothing_moves =
        std::all_of(result_.tried.begin(), result_.tried.end(), [](const TriedMove& row) {
          return row.outcome.starts_with("not allowed") ||
                 (row.outcome != "loses packets" && row.bad == row.bad_start &&
                  std::abs(row.objective.mean) < kTolerance);
        });
    if (all_inert && nothing_moves) {
      conclude(Verdict::kNothingToTune,
               fmt::format("none of {} moves the objective by {:.0f} %",
                           counted(space_.knobs.size(), "knob"), 100 * kTolerance));
      pass_search("every knob is inert");
      return std::vector<Candidate>();
    }
    enter("search");
    WEIR_TRY(best, search_->thin_out(plan_));
    WEIR_TRY(refined, search_->refine(plan_, std::move(best)));
    if (refined.size() > plan_.finalists) refined.resize(plan_.finalists);
    return refined;
  }

  /// Whether a load has more bad runs, beyond chance.
  [[nodiscard]] bool has_more_bad(const std::vector<Metrics>& before,
                                  const std::vector<Metrics>& after) const {
    const std::uint64_t bad_before = bad_in({before}, request_.pause_limit);
    const std::uint64_t bad_after = bad_in({after}, request_.pause_limit);
    return bad_after > bad_before &&
           fisher_p(bad_before, before.size(), bad_after, after.size()) < kSignificant;
  }

  /// Whether the objective of a load gets worse, beyond the tolerance and beyond chance.
  [[nodiscard]] bool is_slower(const std::vector<Metrics>& before,
                               const std::vector<Metrics>& after) const {
    const Change change = change_of(objective_ratios(before, after, request_.objective));
    return change.is_more() && change.mean > kRegret;
  }

  /// Indices of the finalists that are left, best first, by the selection seeds.
  Result<std::vector<std::size_t>> rank_finalists(const std::vector<Candidate>& finalists) {
    std::vector<Point> points = {space_.start};
    for (const Candidate& finalist : finalists)
      points.push_back(finalist.point);
    std::vector<std::string> loads = question_.loads;
    loads.insert(loads.end(), result_.held_out.begin(), result_.held_out.end());
    WEIR_TRY(runs, search_->evaluate(points, SeedSet::kSelection, select_seeds_, loads));
    const auto tuned = static_cast<std::ptrdiff_t>(question_.loads.size());
    const auto part = [&](const Runs& all) { return Runs(all.begin(), all.begin() + tuned); };
    const Score start = score_of(part(runs[0]), part(runs[0]), question_);
    std::vector<Contender> contenders;
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < finalists.size(); ++i) {
      const Runs& mine = runs[i + 1];
      if (failed_in(mine) > 0) continue;
      const Score score = score_of(part(runs[0]), part(mine), question_);
      if (score.bad > start.bad) continue;
      const bool fewer_bad = score.bad < start.bad;
      bool more_bad = false;
      bool slower = false;
      for (std::size_t load = 0; load < loads.size(); ++load) {
        more_bad = more_bad || has_more_bad(runs[0][load], mine[load]);
        slower = slower || is_slower(runs[0][load], mine[load]);
      }
      if (more_bad || (slower && !fewer_bad)) continue;
      if (!fewer_bad && score.gain >= -kTolerance) continue;
      contenders.push_back({score, slower, space_.count_changes(finalists[i].point)});
      left.push_back(i);
    }
    std::vector<std::size_t> out;
    for (const std::size_t place : rank_in_stages(contenders, kTolerance))
      out.push_back(left[place]);
    return out;
  }

  /// Puts knobs back, one at a time, while that costs nothing. What is left is needed.
  Result<Point> eliminate(Point point) {
    while (space_.count_changes(point) > 1) {
      std::vector<Point> points = {space_.start, point};
      std::vector<std::size_t> knob_of;
      for (std::size_t knob = 0; knob < space_.knobs.size(); ++knob) {
        if (point[knob] == space_.start[knob]) continue;
        Point without = point;
        without[knob] = space_.start[knob];
        if (search_->objection(without)) continue;
        points.push_back(std::move(without));
        knob_of.push_back(knob);
      }
      WEIR_TRY(runs,
               search_->evaluate(points, SeedSet::kSelection, select_seeds_, question_.loads));
      const Score whole = score_of(runs[0], runs[1], question_);
      std::optional<std::size_t> spare;
      double cheapest = kUnbounded;
      for (std::size_t i = 0; i < knob_of.size(); ++i) {
        const Score less = score_of(runs[0], runs[i + 2], question_);
        if (less.failed > whole.failed || less.bad > whole.bad) continue;
        const double cost = less.gain - whole.gain;
        // What costs less than the tolerance, or no more than chance, is not needed.
        const Change paired = change_of(ratios_by_seed(runs[1], runs[i + 2], request_.objective));
        const bool is_needed = cost >= kTolerance && paired.is_more();
        if (!is_needed && cost < cheapest) {
          cheapest = cost;
          spare = knob_of[i];
        }
      }
      if (!spare) break;
      point[*spare] = space_.start[*spare];
    }
    return point;
  }

  /// A finalist without the changes that it does not need.
  struct Settled {
    Point point;
    std::vector<FailureOutcome> failures;
    double paused_rate = 0;  // bound of the load that pauses most
  };

  /// nullopt: it does not stand a failure that the start values stand.
  Result<std::optional<Settled>> settle(const Point& finalist) {
    enter("selection");
    WEIR_TRY(point, eliminate(finalist));
    enter("failures");
    WEIR_TRY(failures, break_things(*search_, point, scenarios_of(fabric_.intent, timed_),
                                    plan_.failure_seeds));
    const auto broken = std::find_if(
        failures.begin(), failures.end(),
        [](const FailureOutcome& row) { return row.start_passes && !row.chosen_passes; });
    if (broken != failures.end()) {
      result_.notes.push_back(fmt::format("{} was dropped: {} after the failure '{}'",
                                          words_of_changes(point), broken->reason, broken->name));
      return std::optional<Settled>();
    }
    Settled out{std::move(point), std::move(failures), 0};
    enter("selection");
    // The fewest bad runs of a few dozen are partly chance: twice as many seeds say more.
    for (const std::string& load : paused_loads_) {
      WEIR_TRY(runs, search_->evaluate({out.point}, SeedSet::kSelection, kSeedsToBound, {load}));
      const std::uint64_t bad = bad_in(runs[0], request_.pause_limit);
      out.paused_rate = std::max(out.paused_rate, upper_bound(bad, kSeedsToBound));
    }
    return std::optional<Settled>(std::move(out));
  }

  /// The best finalist whose bad runs are rare; where none has so few, the one that has fewest.
  Result<std::optional<Point>> select(std::vector<Candidate> finalists) {
    enter("selection");
    WEIR_TRY(order, rank_finalists(finalists));
    WEIR_TRY_STATUS(draw_curve());
    std::optional<Settled> best;
    for (const std::size_t i : order) {
      WEIR_TRY(settled, settle(finalists[i].point));
      if (!settled) continue;
      if (!best || settled->paused_rate < best->paused_rate) best = std::move(settled);
      if (best->paused_rate < request_.thresholds.tuned_paused_runs) break;
    }
    if (best) {
      judge_failures(best->failures);
      result_.failures = std::move(best->failures);
      return std::optional<Point>(std::move(best->point));
    }
    conclude(Verdict::kNothingToTune,
             "nothing that was tried is better than the start values on fresh seeds and held-out "
             "loads");
    pass_search(fmt::format("{} were tried; none holds on fresh seeds",
                            counted(search_->archive().size(), "setting")));
    return std::optional<Point>();
  }

  void judge_failures(const std::vector<FailureOutcome>& failures) {
    StepOutcome& step = result_.steps[3];
    step.state = StepState::kPassed;
    std::vector<std::string> names;
    for (const FailureOutcome& row : failures) {
      names.push_back(row.name);
      if (!row.chosen_passes)
        step.details.push_back(
            fmt::format("{}: {}, with the start values too", row.name, row.reason));
    }
    step.text = fmt::format("start and chosen values stand {}", join(names, ", "));
    if (!step.details.empty())
      step.text = fmt::format("no worse than the start values under {}", join(names, ", "));
  }

  [[nodiscard]] std::string words_of_changes(const Point& point) const {
    return join(space_.settings(point), ", ");
  }

  // ---- the curve ----

  Status draw_curve() {
    enter("curve");
    struct Choice {
      double limit;
      Point point;
    };
    std::vector<Choice> choices;
    for (const double limit : kCurveLimits) {
      const Candidate* best = nullptr;
      for (const Candidate& candidate : search_->archive()) {
        if (candidate.seeds < plan_.first_seeds * 3 || candidate.score.failed > 0) continue;
        if (candidate.score.pause_share > limit) continue;
        if (best == nullptr || candidate.score.gain < best->score.gain) best = &candidate;
      }
      const Point& point = best == nullptr ? space_.start : best->point;
      if (!choices.empty() && choices.back().point == point) continue;
      choices.push_back({limit, point});
      if (choices.size() == plan_.curve_points) break;
    }
    std::vector<Point> points = {space_.start};
    for (const Choice& choice : choices)
      points.push_back(choice.point);
    WEIR_TRY(runs,
             search_->evaluate(points, SeedSet::kSelection, plan_.select_seeds, question_.loads));
    for (std::size_t i = 0; i < choices.size(); ++i) {
      CurvePoint row;
      row.pause_limit = choices[i].limit;
      row.settings = space_.changes(choices[i].point);
      row.objective = change_of(ratios_by_seed(runs[0], runs[i + 1], request_.objective));
      row.runs = runs_in(runs[i + 1]);
      row.bad = bad_in(runs[i + 1], choices[i].limit);
      for (const auto& load : runs[i + 1])
        for (const Metrics& run : load) {
          row.pause_share = std::max(row.pause_share, run.pause_share);
          row.pauses += static_cast<double>(run.pauses) / static_cast<double>(row.runs);
        }
      result_.curve.push_back(std::move(row));
    }
    mark_knee();
    return {};
  }

  /// The point furthest below the line between the ends.
  void mark_knee() {
    auto& curve = result_.curve;
    if (curve.size() < 3) return;
    const double first = curve.front().objective.mean;
    const double last = curve.back().objective.mean;
    const auto steps = static_cast<double>(curve.size() - 1);
    double deepest = 0;
    CurvePoint* knee = nullptr;
    for (std::size_t i = 1; i + 1 < curve.size(); ++i) {
      const double line = first + (last - first) * static_cast<double>(i) / steps;
      if (line - curve[i].objective.mean > deepest) {
        deepest = line - curve[i].objective.mean;
        knee = &curve[i];
      }
    }
    if (knee != nullptr) knee->is_knee = true;
  }

  // ---- the report ----

  /// A load of which some start runs are bad is run often enough to bound the rate.
  Result<Runs> report_runs(const Point& point, const std::vector<std::string>& loads,
                           const std::vector<std::size_t>& seeds) {
    Runs out;
    for (std::size_t load = 0; load < loads.size(); ++load) {
      WEIR_TRY(runs, search_->evaluate({point}, SeedSet::kReport, seeds[load], {loads[load]}));
      out.push_back(std::move(runs[0][0]));
    }
    return out;
  }

  Status report(const Point& point) {
    enter("report");
    std::vector<std::string> loads = question_.loads;
    loads.insert(loads.end(), result_.held_out.begin(), result_.held_out.end());
    std::vector<std::size_t> seeds(loads.size(), plan_.report_seeds);
    WEIR_TRY(start, report_runs(space_.start, loads, seeds));
    for (std::size_t load = 0; load < loads.size(); ++load) {
      const Runs mine = {start[load]};
      const bool is_tuned = load < question_.loads.size();
      if (is_tuned && bad_in(mine, request_.pause_limit) > 0)
        seeds[load] = std::max(seeds[load], kSeedsToBound);
    }
    WEIR_TRY(before, report_runs(space_.start, loads, seeds));
    WEIR_TRY(after, report_runs(point, loads, seeds));
    for (std::size_t load = 0; load < loads.size(); ++load)
      result_.outcomes.push_back(
          outcome_of(loads[load], load >= question_.loads.size(), before[load], after[load]));
    const auto tuned = static_cast<std::ptrdiff_t>(question_.loads.size());
    const Runs tuned_before(before.begin(), before.begin() + tuned);
    const Runs tuned_after(after.begin(), after.begin() + tuned);
    result_.gain = change_of(ratios_by_seed(tuned_before, tuned_after, request_.objective));
    result_.proposed = space_.changes(point);
    if (!is_proven(tuned_before, tuned_after, after)) {
      pass_search(fmt::format("{} were tried", counted(search_->archive().size(), "setting")));
      return {};
    }
    result_.chosen = space_.changes(point);
    std::vector<RunOrder> idle(
        2, {{}, {idle_load()}, {}, seed_of(request_.seed, SeedSet::kReport, 0), question_.limit});
    idle[1].settings = space_.settings(point);
    WEIR_TRY(alone, evaluator_.run(idle));
    WEIR_TRY_STATUS(say_target(tuned_before, &tuned_after, alone[0], &alone[1]));
    if (const auto warning = search_->new_warning(point))
      result_.notes.push_back(
          fmt::format("weir lint will warn of the chosen values: {}", *warning));
    pass_search(fmt::format("{} were tried, {} kept", counted(search_->archive().size(), "setting"),
                            counted(result_.chosen.size(), "change")));
    WEIR_TRY_STATUS(say_what_was_bought(point, tuned_after));
    enter("peer");
    WEIR_TRY(peer, check_in_peer(*search_, point, plan_.peer_seeds));
    result_.peer = std::move(peer);
    return {};
  }

  [[nodiscard]] WorkloadOutcome outcome_of(const std::string& load, bool is_held_out,
                                           const std::vector<Metrics>& before,
                                           const std::vector<Metrics>& after) const {
    WorkloadOutcome out;
    out.workload = load;
    out.is_held_out = is_held_out;
    out.start = summary_of(before, request_.objective, request_.pause_limit);
    out.chosen = summary_of(after, request_.objective, request_.pause_limit);
    out.objective = change_of(objective_ratios(before, after, request_.objective));
    out.mean = change_in(before, after, [](const Metrics& m) { return m.mean_us; });
    out.p99 = change_in(before, after, [](const Metrics& m) { return m.p99_us; });
    out.fisher_p = fisher_p(out.start.bad, out.start.runs, out.chosen.bad, out.chosen.runs);
    return out;
  }

  /// On the report seeds, once. Says why not.
  bool is_proven(const Runs& before, const Runs& after, const Runs& all_after) {
    const std::uint64_t bad_before = bad_in(before, request_.pause_limit);
    const std::uint64_t bad_after = bad_in(after, request_.pause_limit);
    const double p = fisher_p(bad_before, runs_in(before), bad_after, runs_in(after));
    const bool fewer_bad = bad_after < bad_before && p < kSignificant;
    const bool more_bad = bad_after > bad_before && p < kSignificant;
    const bool gains = result_.gain.is_less() && result_.gain.p() < kSignificant &&
                       result_.gain.mean < -kTolerance;
    std::string why;
    if (failed_in(all_after) > 0) {
      why = "it loses lossless packets";
    } else if (more_bad) {
      why = "more runs are paused beyond the limit";
    } else if (!fewer_bad && !gains) {
      why = "on fresh seeds its gain cannot be distinguished from none";
    }
    for (const WorkloadOutcome& row : result_.outcomes) {
      if (!why.empty()) break;
      if (row.chosen.bad > row.start.bad && row.fisher_p < kSignificant)
        why = fmt::format("more runs of {} are paused beyond the limit", row.workload);
      else if (!fewer_bad && row.objective.is_more() && row.objective.mean > kRegret)
        why = fmt::format("{} gets {:.1f} % worse", row.workload, 100 * row.objective.mean);
    }
    if (!why.empty()) {
      conclude(Verdict::kNotProven, fmt::format("the best that was found is not proven: {}", why));
      return false;
    }
    conclude(Verdict::kTuned,
             fewer_bad ? fmt::format("{} of {} runs were paused beyond the limit, now {} of {}",
                                     bad_before, runs_in(before), bad_after, runs_in(after))
                       : fmt::format("{} {:+.1f} % ({:+.1f} to {:+.1f})",
                                     to_text(request_.objective), 100 * result_.gain.mean,
                                     100 * result_.gain.low, 100 * result_.gain.high));
    return true;
  }

  Status say_what_was_bought(const Point& point, const Runs& with) {
    enter("bought");
    std::vector<std::size_t> seeds;
    for (const auto& load : with)
      seeds.push_back(load.size());
    for (std::size_t knob = 0; knob < space_.knobs.size(); ++knob) {
      if (point[knob] == space_.start[knob]) continue;
      const Knob& turned = *space_.knobs[knob];
      Point without = point;
      without[knob] = space_.start[knob];
      WEIR_TRY(runs, report_runs(without, question_.loads, seeds));
      Bought row;
      row.knob = turned.id;
      row.from = value_text(turned, space_.start[knob]);
      row.to = value_text(turned, point[knob]);
      row.move = move_of(turned, space_.start[knob], point[knob]);
      row.objective = change_of(ratios_by_seed(runs, with, request_.objective));
      row.runs = runs_in(with);
      row.bad_with = bad_in(with, request_.pause_limit);
      row.bad_without = bad_in(runs, request_.pause_limit);
      row.fisher_p = fisher_p(row.bad_with, row.runs, row.bad_without, runs_in(runs));
      row.price = turned.price;
      row.has_peer = turned.has_peer();
      result_.bought.push_back(std::move(row));
    }
    return {};
  }

  static constexpr std::size_t kScenarios = 5;  // at most

  const design::Variant& fabric_;
  const TuneRequest& request_;
  Evaluator evaluator_;
  TuneResult result_;
  Space space_;
  Question question_;
  Plan plan_;
  std::size_t select_seeds_ = 0;
  std::uint64_t expected_ = 0;
  std::string stage_;
  std::vector<TimedLoad> timed_;
  std::vector<std::string> paused_loads_;  // some of their runs are bad with the start values
  std::optional<Search> search_;
};

}  // namespace

Result<Budget> parse_budget(std::string_view text) {
  const auto error = [&] {
    return parse_error(fmt::format(
        "expected a time or a number of runs, such as 10min or 2000runs, found '{}'", text));
  };
  constexpr std::uint64_t kMostRuns = 10'000'000;
  const std::size_t digits = text.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos) return error();
  const auto number = parse_u64(text.substr(0, digits));
  if (!number || *number == 0 || *number > kMostRuns) return error();
  const std::string_view unit = text.substr(digits);
  const auto amount = static_cast<double>(*number);
  if (unit == "runs") return Budget{*number, 0};
  if (unit == "s") return Budget{0, amount / 60};
  if (unit == "min") return Budget{0, amount};
  if (unit == "h") return Budget{0, amount * 60};
  return error();
}

Result<TuneResult> tune(const design::Variant& fabric, const TuneRequest& request) {
  return Tuning(fabric, request).run();
}

}  // namespace weir::tune
