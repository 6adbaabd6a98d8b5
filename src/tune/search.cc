#include "tune/search.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "base/rng.h"
#include "design/lint/lint.h"
#include "tune/statistics/statistics.h"

namespace weir::tune {
namespace {

// Random streams of a tuning, one per purpose.
constexpr std::uint64_t kScreenDraw = 0x5C4EE1;
constexpr std::uint64_t kCubeDraw = 0xC0BE;

/// Knobs of the hypercube at most: a hundred points say little about more.
constexpr std::size_t kMostActive = 8;
/// The linearised model's verdict (docs/theory.md): packets decide here.
constexpr std::string_view kStability = "dcqcn.unstable";
/// Pairs of moves that are tried together.
constexpr std::size_t kMostPairs = 6;

std::size_t place_in(const std::vector<std::int64_t>& grid, std::int64_t value) {
  const auto found = std::lower_bound(grid.begin(), grid.end(), value);
  return std::min<std::size_t>(static_cast<std::size_t>(found - grid.begin()), grid.size() - 1);
}

void shuffle(std::vector<std::size_t>& items, RandomStream& random) {
  for (std::size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[random.below(i)]);
}

double mean_of(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// How often each id of a warning or error occurs.
std::map<std::string, std::size_t> complaints_of(const design::Variant& variant) {
  std::map<std::string, std::size_t> out;
  for (const finding::Finding& found : design::lint(variant.design, variant.intent).findings)
    if (found.severity != finding::Severity::kInfo) ++out[found.id];
  return out;
}

double positive_ratio(double before, double after) {
  return before > 0 && after > 0 ? std::log(after / before) : 0;
}

std::uint64_t count_bad(const Runs& runs, double pause_limit) {
  std::uint64_t bad = 0;
  for (const auto& load : runs)
    for (const Metrics& run : load)
      bad += run.pause_share > pause_limit ? 1U : 0U;
  return bad;
}

}  // namespace

std::vector<std::string> Space::settings(const Point& point) const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < knobs.size(); ++i)
    if (point[i] != start[i])
      out.push_back(fmt::format("{}={}", knobs[i]->id, value_text(*knobs[i], point[i])));
  return out;
}

std::vector<KnobSetting> Space::changes(const Point& point) const {
  std::vector<KnobSetting> out;
  for (std::size_t i = 0; i < knobs.size(); ++i)
    if (point[i] != start[i])
      out.push_back({std::string(knobs[i]->id), value_text(*knobs[i], point[i])});
  return out;
}

std::size_t Space::count_changes(const Point& point) const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < knobs.size(); ++i)
    count += point[i] != start[i] ? 1U : 0U;
  return count;
}

std::uint64_t seed_of(std::uint64_t tuning_seed, SeedSet set, std::size_t index) {
  // Far enough apart that no set reaches the next, nor one tuning the next.
  constexpr std::uint64_t kSet = 1'000'000;
  return (tuning_seed * 10 + static_cast<std::uint64_t>(set)) * kSet + index + 1;
}

Score score_of(const Runs& start, const Runs& runs, const Question& question) {
  Score out;
  std::vector<double> gains;
  std::vector<double> sides;
  std::vector<double> queues;
  out.worst = -1e9;
  for (std::size_t load = 0; load < runs.size(); ++load) {
    for (std::size_t i = 0; i < runs[load].size(); ++i) {
      const Metrics& run = runs[load][i];
      const Metrics& before = start[load][i];
      out.failed += run.is_lossless() ? 0U : 1U;
      out.bad += run.pause_share > question.pause_limit ? 1U : 0U;
      out.pause_share = std::max(out.pause_share, run.pause_share);
      if (run.victim_slowdown && before.victim_slowdown)
        sides.push_back(positive_ratio(*before.victim_slowdown, *run.victim_slowdown));
      sides.push_back(positive_ratio(run.jain, before.jain));  // more is fairer
      queues.push_back(positive_ratio(before.queue_bytes, run.queue_bytes));
    }
    const double gain = mean_of(objective_ratios(
        {start[load].begin(), start[load].begin() + static_cast<std::ptrdiff_t>(runs[load].size())},
        runs[load], question.objective));
    gains.push_back(gain);
    out.worst = std::max(out.worst, gain);
    out.excess += std::max(0.0, gain - question.tolerance);
  }
  out.gain = mean_of(gains);
  out.side = mean_of(sides);
  out.queue = mean_of(queues);
  return out;
}

bool is_better(const Score& a, const Score& b) {
  if (a.failed != b.failed) return a.failed < b.failed;
  if (a.bad != b.bad) return a.bad < b.bad;
  return a.gain + a.excess < b.gain + b.excess;
}

namespace {

/// Keeps those of `left` whose level is within `tolerance` of the least.
void keep_least(std::vector<std::size_t>& left, double tolerance,
                const std::function<double(std::size_t)>& level) {
  double least = level(left.front());
  for (const std::size_t each : left)
    least = std::min(least, level(each));
  std::erase_if(left, [&](std::size_t each) { return level(each) > least + tolerance; });
}

std::size_t best_in_stages(const std::vector<Contender>& all, std::vector<std::size_t> left,
                           double tolerance) {
  keep_least(left, 0, [&](std::size_t i) { return static_cast<double>(all[i].score.bad); });
  keep_least(left, 0, [&](std::size_t i) { return all[i].is_slower ? 1.0 : 0.0; });
  keep_least(left, tolerance, [&](std::size_t i) { return all[i].score.gain; });
  keep_least(left, tolerance, [&](std::size_t i) { return all[i].score.side; });
  keep_least(left, tolerance, [&](std::size_t i) { return all[i].score.queue; });
  keep_least(left, 0, [&](std::size_t i) { return static_cast<double>(all[i].changes); });
  return left.front();
}

}  // namespace

std::vector<std::size_t> rank_in_stages(const std::vector<Contender>& contenders,
                                        double tolerance) {
  std::vector<std::size_t> left(contenders.size());
  std::iota(left.begin(), left.end(), std::size_t{0});
  std::vector<std::size_t> out;
  while (!left.empty()) {
    out.push_back(best_in_stages(contenders, left, tolerance));
    std::erase(left, out.back());
  }
  return out;
}

Result<std::vector<Runs>> Search::evaluate(const std::vector<Point>& points, SeedSet set,
                                           std::size_t seeds,
                                           const std::vector<std::string>& loads) {
  std::vector<RunOrder> orders;
  for (const Point& point : points)
    for (const std::string& load : loads)
      for (std::size_t i = 0; i < seeds; ++i)
        orders.push_back(
            {space_.settings(point), {load}, {}, seed_of(seed_, set, i), question_.limit});
  WEIR_TRY(metrics, evaluator_.run(orders));
  std::vector<Runs> out(points.size(), Runs(loads.size()));
  std::size_t next = 0;
  for (Runs& runs : out)
    for (auto& load : runs)
      for (std::size_t i = 0; i < seeds; ++i)
        load.push_back(metrics[next++]);
  return out;
}

Result<std::vector<Candidate>> Search::judge(std::vector<Candidate> candidates, std::size_t seeds) {
  std::vector<Point> points = {space_.start};
  for (const Candidate& candidate : candidates)
    points.push_back(candidate.point);
  WEIR_TRY(runs, evaluate(points, SeedSet::kSearch, seeds, question_.loads));
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    candidates[i].seeds = seeds;
    candidates[i].score = score_of(runs[0], runs[i + 1], question_);
  }
  std::stable_sort(
      candidates.begin(), candidates.end(),
      [](const Candidate& a, const Candidate& b) { return is_better(a.score, b.score); });
  return candidates;
}

const Search::Complaint& Search::complaint(const Point& point) {
  const std::vector<std::string> settings = space_.settings(point);
  const auto known = complaints_.find(settings);
  if (known != complaints_.end()) return known->second;
  if (!start_complaints_) {
    const auto start = evaluator_.variant({});
    start_complaints_ = start ? complaints_of(**start) : std::map<std::string, std::size_t>();
  }
  Complaint out;
  const auto variant = evaluator_.variant(settings);
  if (!variant) {
    out.objection = variant.error().what;
  } else {
    for (const auto& [id, count] : complaints_of(**variant)) {
      const auto before = start_complaints_->find(id);
      if (before != start_complaints_->end() && count <= before->second) continue;
      (id == kStability ? out.warning : out.objection) = id;
    }
  }
  return complaints_.emplace(settings, std::move(out)).first->second;
}

std::optional<std::string> Search::objection(const Point& point) {
  return complaint(point).objection;
}

std::optional<std::string> Search::new_warning(const Point& point) {
  return complaint(point).warning;
}

Point Search::stepped(const Point& point, std::size_t knob, std::int64_t by) const {
  const auto& grid = space_.grids[knob];
  const auto at = static_cast<std::int64_t>(place_in(grid, point[knob])) + by;
  if (at < 0 || at >= static_cast<std::int64_t>(grid.size())) return point;
  Point out = point;
  out[knob] = grid[static_cast<std::size_t>(at)];
  return out;
}

namespace {

/// One knob turned, the others as they were.
struct ScreenStep {
  std::size_t knob = 0;
  std::size_t before = 0;  // places in the list of points
  std::size_t after = 0;
  double grid_steps = 1;
  bool is_from_start = false;
};

/// What the steps of one knob did.
struct KnobEffects {
  std::vector<double> sizes;   // |ln ratio| per step of the grid
  std::vector<double> signs;   // ln ratio per step of the grid
  std::vector<double> pauses;  // change of the share of bad runs
  bool moves_start = false;    // from the start values, by the tolerance
};

double deviation_of(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values)
    squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::vector<KnobEffects> effects_of(const std::vector<ScreenStep>& steps,
                                    const std::vector<Runs>& runs, std::size_t knobs,
                                    const Question& question) {
  std::vector<KnobEffects> effects(knobs);
  for (const ScreenStep& step : steps) {
    KnobEffects& knob = effects[step.knob];
    const auto all =
        static_cast<double>(runs[step.before].size() * runs[step.before].front().size());
    const double bad = static_cast<double>(count_bad(runs[step.after], question.pause_limit)) -
                       static_cast<double>(count_bad(runs[step.before], question.pause_limit));
    knob.pauses.push_back(std::abs(bad) / all);
    std::vector<double> whole;
    for (std::size_t load = 0; load < question.loads.size(); ++load)
      for (const double ratio :
           objective_ratios(runs[step.before][load], runs[step.after][load], question.objective)) {
        whole.push_back(std::abs(ratio));
        knob.sizes.push_back(std::abs(ratio) / step.grid_steps);
        knob.signs.push_back(ratio / step.grid_steps);
      }
    if (step.is_from_start && (mean_of(whole) >= question.tolerance || bad != 0))
      knob.moves_start = true;
  }
  return effects;
}

}  // namespace

Result<std::vector<Sensitivity>> Search::screen(const Plan& plan) {
  std::vector<Point> points;
  std::vector<ScreenStep> steps;
  const auto half_grid = [&](std::size_t knob) {
    return static_cast<std::int64_t>(std::max<std::size_t>(space_.grids[knob].size() / 2, 1));
  };
  const auto try_step = [&](std::size_t base, std::size_t knob, std::int64_t by, bool from_start) {
    const Point moved = stepped(points[base], knob, by);
    if (moved == points[base] || objection(moved)) return false;
    steps.push_back({knob, base, points.size(), static_cast<double>(std::abs(by)), from_start});
    points.push_back(moved);
    return true;
  };
  for (std::size_t t = 0; t < plan.trajectories; ++t) {
    RandomStream random(seed_, t, kScreenDraw);
    // The first star is around the start values, both ways; the others around points up to two
    // steps of the grid away, one way each.
    Point centre = space_.start;
    for (std::size_t knob = 0; t > 0 && knob < space_.knobs.size(); ++knob) {
      const Point moved = stepped(centre, knob, static_cast<std::int64_t>(random.below(5)) - 2);
      if (!objection(moved)) centre = moved;
    }
    const std::size_t base = points.size();
    points.push_back(centre);
    for (std::size_t knob = 0; knob < space_.knobs.size(); ++knob) {
      const std::int64_t by = random.below(2) == 0 ? half_grid(knob) : -half_grid(knob);
      const bool was_made = try_step(base, knob, by, t == 0);
      if (t == 0 || !was_made) {
        const bool other_way = try_step(base, knob, -by, t == 0);
        // Near an end of the grid half of it may be too far: one step then.
        if (!was_made && !other_way && !try_step(base, knob, 1, t == 0))
          static_cast<void>(try_step(base, knob, -1, t == 0));
      }
    }
  }
  WEIR_TRY(runs, evaluate(points, SeedSet::kSearch, plan.screen_seeds, question_.loads));
  const std::vector<KnobEffects> effects = effects_of(steps, runs, space_.knobs.size(), question_);
  std::vector<Sensitivity> rows;
  std::vector<std::tuple<bool, double, std::size_t>> ranked;
  for (std::size_t knob = 0; knob < space_.knobs.size(); ++knob) {
    const KnobEffects& seen = effects[knob];
    // A knob that could not be stepped was not seen to be inert.
    const bool is_inert = !seen.moves_start && !seen.sizes.empty();
    rows.push_back({std::string(space_.knobs[knob]->id), mean_of(seen.sizes),
                    deviation_of(seen.signs), mean_of(seen.pauses), is_inert});
    ranked.emplace_back(
        is_inert,
        -(rows.back().effect * static_cast<double>(half_grid(knob)) + rows.back().pause_effect),
        knob);
  }
  std::stable_sort(ranked.begin(), ranked.end());
  std::vector<Sensitivity> sorted;
  active_.clear();
  for (const auto& [is_inert, rank, knob] : ranked) {
    if (!is_inert && active_.size() < kMostActive) active_.push_back(knob);
    sorted.push_back(rows[knob]);
  }
  return sorted;
}

namespace {

/// What the seeds show of a move, and no more: few runs seldom show a difference.
std::string_view outcome_of_move(const TriedMove& row, double tolerance) {
  constexpr double kShown = 0.05;
  if (row.bad != row.bad_start && fisher_p(row.bad_start, row.runs, row.bad, row.runs) < kShown)
    return row.bad > row.bad_start ? "more pauses" : "fewer pauses";
  const Change& change = row.objective;
  const bool is_small = change.pairs >= 2 && change.low > -tolerance && change.high < tolerance;
  if (is_small && row.bad == row.bad_start) return "does nothing";
  if (change.is_less() && change.mean <= -tolerance) return "better";
  if (change.is_more() && change.mean >= tolerance) return "worse";
  return "no difference shown";
}

}  // namespace

Result<std::vector<TriedMove>> Search::try_moves(const Plan& plan) {
  struct Trial {
    const Move* move = nullptr;
    std::size_t knob = 0;
    Point point;
  };
  std::vector<Trial> trials;
  std::vector<TriedMove> out;
  for (const Move& move : moves()) {
    const auto found = std::find_if(space_.knobs.begin(), space_.knobs.end(),
                                    [&](const Knob* knob) { return knob->id == move.knob; });
    if (found == space_.knobs.end()) continue;
    const auto knob = static_cast<std::size_t>(found - space_.knobs.begin());
    for (const std::int64_t value : values_of(move, space_.start[knob])) {
      Point point = space_.start;
      point[knob] = value;
      TriedMove row{std::string(move.name),
                    std::string(move.knob),
                    value_text(**found, space_.start[knob]),
                    value_text(**found, value),
                    {},
                    0,
                    0,
                    0,
                    {}};
      if (const auto against = objection(point)) {
        row.outcome = fmt::format("not allowed: {}", *against);
        out.push_back(std::move(row));
        continue;
      }
      trials.push_back({&move, knob, std::move(point)});
      out.push_back(std::move(row));
    }
  }
  std::vector<Point> points = {space_.start};
  for (const Trial& trial : trials)
    points.push_back(trial.point);
  WEIR_TRY(runs, evaluate(points, SeedSet::kSearch, plan.move_seeds, question_.loads));
  moved_.clear();
  std::size_t next = 0;
  for (TriedMove& row : out) {
    if (!row.outcome.empty()) continue;
    const Runs& tried = runs[next + 1];
    std::vector<double> ratios;
    for (std::size_t load = 0; load < question_.loads.size(); ++load)
      for (const double ratio : objective_ratios(runs[0][load], tried[load], question_.objective))
        ratios.push_back(ratio);
    row.objective = change_of(ratios);
    row.runs = plan.move_seeds * question_.loads.size();
    row.bad_start = count_bad(runs[0], question_.pause_limit);
    row.bad = count_bad(tried, question_.pause_limit);
    const Score score = score_of(runs[0], tried, question_);
    row.outcome = score.failed > 0 ? "loses packets" : outcome_of_move(row, question_.tolerance);
    moved_.push_back({trials[next].point, row.move, plan.move_seeds, score});
    ++next;
  }
  return out;
}

std::vector<Candidate> Search::combined_moves() const {
  std::vector<Candidate> good = moved_;
  std::erase_if(good, [&](const Candidate& candidate) {
    return candidate.score.failed > 0 || candidate.score.gain > question_.tolerance;
  });
  std::stable_sort(good.begin(), good.end(), [](const Candidate& a, const Candidate& b) {
    return is_better(a.score, b.score);
  });
  std::vector<Candidate> out;
  for (std::size_t i = 0; i < good.size() && out.size() < kMostPairs; ++i) {
    for (std::size_t j = i + 1; j < good.size() && out.size() < kMostPairs; ++j) {
      Candidate pair{space_.start, {}, 0, {}};
      bool is_one_knob = false;
      for (std::size_t knob = 0; knob < space_.knobs.size(); ++knob) {
        const bool first = good[i].point[knob] != space_.start[knob];
        const bool second = good[j].point[knob] != space_.start[knob];
        is_one_knob = is_one_knob || (first && second);
        if (first) pair.point[knob] = good[i].point[knob];
        if (second) pair.point[knob] = good[j].point[knob];
      }
      if (!is_one_knob) out.push_back(std::move(pair));
    }
  }
  return out;
}

std::vector<Candidate> Search::hypercube(std::size_t count) {
  std::vector<Candidate> out;
  if (active_.empty()) return out;
  RandomStream random(seed_, 0, kCubeDraw);
  // One permutation per knob: each of `count` equal parts of its grid is used once.
  std::vector<std::vector<std::size_t>> parts(active_.size(), std::vector<std::size_t>(count));
  for (auto& order : parts) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    shuffle(order, random);
  }
  for (std::size_t i = 0; i < count; ++i) {
    Candidate candidate{space_.start, {}, 0, {}};
    // Every other point is near the start: far ones are seldom good at everything.
    const bool is_near = i % 2 == 0;
    for (std::size_t a = 0; a < active_.size(); ++a) {
      const std::size_t knob = active_[a];
      const auto& grid = space_.grids[knob];
      const double share = (static_cast<double>(parts[a][i]) + 0.5) / static_cast<double>(count);
      Point moved = candidate.point;
      if (is_near) {
        moved = stepped(candidate.point, knob, static_cast<std::int64_t>(share * 5) - 2);
      } else {
        moved[knob] = grid[std::min(
            static_cast<std::size_t>(share * static_cast<double>(grid.size())), grid.size() - 1)];
      }
      if (!objection(moved)) candidate.point = std::move(moved);
    }
    if (candidate.point != space_.start) out.push_back(std::move(candidate));
  }
  return out;
}

void Search::keep_in_archive(const std::vector<Candidate>& candidates) {
  for (const Candidate& candidate : candidates) {
    const auto found = std::find_if(archive_.begin(), archive_.end(), [&](const Candidate& kept) {
      return kept.point == candidate.point;
    });
    if (found == archive_.end()) {
      archive_.push_back(candidate);
    } else if (candidate.seeds > found->seeds) {
      *found = candidate;
    }
  }
}

Result<std::vector<Candidate>> Search::thin_out(const Plan& plan) {
  std::vector<Candidate> left;
  const auto add = [&](const std::vector<Candidate>& more) {
    for (const Candidate& candidate : more) {
      const bool is_known = std::any_of(left.begin(), left.end(), [&](const Candidate& known) {
        return known.point == candidate.point;
      });
      if (!is_known && !objection(candidate.point)) left.push_back(candidate);
    }
  };
  add(moved_);
  add(combined_moves());
  add(hypercube(plan.candidates));
  std::size_t seeds = plan.first_seeds;
  for (std::size_t rung = 0; rung < plan.rungs && !left.empty(); ++rung, seeds *= 3) {
    WEIR_TRY(judged, judge(std::move(left), seeds));
    left = std::move(judged);
    keep_in_archive(left);
    if (rung + 1 < plan.rungs) left.resize(std::max<std::size_t>((left.size() + 2) / 3, 1));
  }
  return left;
}

Result<std::vector<Candidate>> Search::refine(const Plan& plan, std::vector<Candidate> best) {
  for (std::size_t round = 0; round < plan.refinements && !best.empty(); ++round) {
    std::vector<Candidate> around = {best.front()};
    for (const std::size_t knob : active_)
      for (const std::int64_t by : {-1, 1}) {
        Candidate next{stepped(best.front().point, knob, by), {}, 0, {}};
        if (next.point != best.front().point && next.point != space_.start &&
            !objection(next.point))
          around.push_back(std::move(next));
      }
    const Point centre = best.front().point;
    WEIR_TRY(judged, judge(std::move(around), plan.first_seeds * 3));
    keep_in_archive(judged);
    if (judged.front().point == centre) break;
    // The centre is judged on the same seeds, so that the step is a paired one.
    const auto old = std::find_if(judged.begin(), judged.end(),
                                  [&](const Candidate& each) { return each.point == centre; });
    const bool is_worth_it = judged.front().score.bad < old->score.bad ||
                             judged.front().score.gain < old->score.gain - question_.tolerance;
    if (!is_worth_it) break;
    best.insert(best.begin(), judged.front());
  }
  return best;
}

}  // namespace weir::tune
