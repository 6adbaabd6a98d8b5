#pragma once
// The search of step three: which values of which knobs are worth a closer look.
//
//   screening    elementary effects (Morris) in stars: each knob turned alone, around the start
//                values and around points near them; what moves nothing there is left alone
//   moves        each named move from the start values
//   hypercube    a Latin hypercube over the knobs that are left, and the moves, thinned out by
//                successive halving: a third stays at each rung and is run on three times the seeds
//   refinement   single steps of the grid from the best
//
// All of it on the search seeds, start and candidate on the same ones. Decisions fall between
// batches, in the order of the candidates, so that they do not depend on who ran first.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tune/evaluation.h"
#include "tune/plan.h"
#include "tune/table/knobs.h"
#include "tune/table/moves.h"

namespace weir::tune {

/// One value per knob of the space.
using Point = std::vector<std::int64_t>;

struct Space {
  std::vector<const Knob*> knobs;
  std::vector<std::vector<std::int64_t>> grids;
  Point start;

  /// "path=value" of every knob that is not at its start value.
  [[nodiscard]] std::vector<std::string> settings(const Point& point) const;
  [[nodiscard]] std::vector<KnobSetting> changes(const Point& point) const;
  [[nodiscard]] std::size_t count_changes(const Point& point) const;
};

/// What is asked.
struct Question {
  std::vector<std::string> loads;
  Objective objective = Objective::kStepTime;
  double pause_limit = 0.01;
  double tolerance = 0.01;
  Duration limit = 1'000_ms;
};

/// Disjoint sets of seeds: what was searched on, selected by, and reported is never the same run.
enum class SeedSet : std::uint8_t { kSearch, kSelection, kReport };
[[nodiscard]] std::uint64_t seed_of(std::uint64_t tuning_seed, SeedSet set, std::size_t index);

/// Runs of one point: by load, then by seed.
using Runs = std::vector<std::vector<Metrics>>;

/// A point against the start, on the same seeds. Compared from top to bottom.
struct Score {
  std::uint64_t failed = 0;  // runs that lost lossless packets or did not finish
  std::uint64_t bad = 0;     // runs that were paused for more than the limit
  double gain = 0;           // mean ln ratio of the objective over the loads; less is better
  double worst = 0;          // … of the load that fared worst
  double excess = 0;         // sum of what loads lost beyond the tolerance
  double side = 0;           // ln ratio: victims and fairness
  double queue = 0;          // ln ratio: the deepest queue
  double pause_share = 0;    // the largest of all runs
};
[[nodiscard]] Score score_of(const Runs& start, const Runs& runs, const Question& question);
/// Fewer failures, fewer bad runs, then the smaller gain plus excess.
[[nodiscard]] bool is_better(const Score& a, const Score& b);

/// A finalist, by what ranks it.
struct Contender {
  Score score;
  bool is_slower = false;  // on some load; the price of fewer bad runs
  std::size_t changes = 0;
};
/// Places of all contenders, best first. The best of those that are left is found in stages: fewest
/// bad runs, slower on no load, then gain, victims, queue, each within the tolerance of the best,
/// then fewest changes. "Equal within a tolerance" is no order that a sort may use.
[[nodiscard]] std::vector<std::size_t> rank_in_stages(const std::vector<Contender>& contenders,
                                                      double tolerance);

struct Candidate {
  Point point;
  std::string move;  // that it was made by; empty: several, or none
  std::size_t seeds = 0;
  Score score;
};

class Search {
 public:
  Search(Evaluator& evaluator, Space space, Question question, std::uint64_t seed)
      : evaluator_(evaluator),
        space_(std::move(space)),
        question_(std::move(question)),
        seed_(seed) {}

  /// Runs of `points` on the first `seeds` seeds of a set.
  [[nodiscard]] Result<std::vector<Runs>> evaluate(const std::vector<Point>& points, SeedSet set,
                                                   std::size_t seeds,
                                                   const std::vector<std::string>& loads);
  [[nodiscard]] Result<std::vector<Candidate>> judge(std::vector<Candidate> candidates,
                                                     std::size_t seeds);

  /// What lint would complain of that it does not of the start, but for the fluid model's doubts
  /// of stability, which the simulation answers; nullopt: nothing.
  [[nodiscard]] std::optional<std::string> objection(const Point& point);
  /// Those doubts; nullopt: none.
  [[nodiscard]] std::optional<std::string> new_warning(const Point& point);

  [[nodiscard]] Result<std::vector<Sensitivity>> screen(const Plan& plan);
  [[nodiscard]] Result<std::vector<TriedMove>> try_moves(const Plan& plan);
  /// Best first; REQUIRES: screen() and try_moves() were called.
  [[nodiscard]] Result<std::vector<Candidate>> thin_out(const Plan& plan);
  [[nodiscard]] Result<std::vector<Candidate>> refine(const Plan& plan,
                                                      std::vector<Candidate> best);

  /// Every candidate that was judged on more than the first rung.
  [[nodiscard]] const std::vector<Candidate>& archive() const { return archive_; }
  [[nodiscard]] const Space& space() const { return space_; }
  [[nodiscard]] const Question& question() const { return question_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] Evaluator& evaluator() { return evaluator_; }

 private:
  [[nodiscard]] Point stepped(const Point& point, std::size_t knob, std::int64_t by) const;
  [[nodiscard]] std::vector<Candidate> hypercube(std::size_t count);
  [[nodiscard]] std::vector<Candidate> combined_moves() const;
  void keep_in_archive(const std::vector<Candidate>& candidates);

  Evaluator& evaluator_;
  Space space_;
  Question question_;
  std::uint64_t seed_;
  std::vector<std::size_t> active_;  // knobs that are not inert, most influential first
  std::vector<Candidate> moved_;     // single moves, judged
  std::vector<Candidate> archive_;
  struct Complaint {
    std::optional<std::string> objection;
    std::optional<std::string> warning;
  };
  [[nodiscard]] const Complaint& complaint(const Point& point);
  std::map<std::vector<std::string>, Complaint> complaints_;
  std::optional<std::map<std::string, std::size_t>> start_complaints_;
};

}  // namespace weir::tune
