#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "finding/catalog.h"
#include "preflight/baseline.h"

namespace weir::preflight {
namespace {

std::string list_text(const std::vector<std::string>& values) {
  return values.empty() ? "not shown" : join(values, ", ");
}

/// What the loads were given and judged by, of both; none where the file does not say.
struct Asked {
  std::string_view field;
  std::optional<std::string> was;
  std::optional<std::string> is;
};
std::vector<Asked> asked_of(const Identity& was, const Identity& is) {
  const auto or_none = [](const std::optional<std::string>& text) {
    return text && text->empty() ? std::optional<std::string>("none") : text;
  };
  const auto limits = [](const Identity& identity) {
    if (!identity.thresholds) return std::optional<std::string>();
    return std::optional<std::string>(
        identity.thresholds->empty() ? "the defaults" : join(*identity.thresholds, ", "));
  };
  return {{"options of perftest", or_none(was.perftest), or_none(is.perftest)},
          {"collective", or_none(was.collective), or_none(is.collective)},
          {"thresholds", limits(was), limits(is)}};
}

/// How much worse, as a share of what was. From nothing to something of what should be little: all
/// of it.
double worse_by(double was, double is, Better better) {
  const double more = is - was;
  const double worse = better == Better::kMore ? -more : more;
  if (was == 0) return worse > 0 ? 1 : (worse < 0 ? -1 : 0);
  return worse / std::abs(was) + 0.0;  // no -0
}

class Comparer {
 public:
  Comparer(const Baseline& baseline, const finding::Thresholds& limits, Comparison& out)
      : baseline_(baseline), limits_(limits), out_(out) {}

  void stage(const BaselineStage& was, const StageResult& is) {
    for (const BaselineMeasure& measure : was.measures)
      this->measure(was.id, measure, is);
    const std::vector<BaselineCounter> counters = counters_of(is);
    for (const BaselineCounter& counter : was.counters) {
      const auto found =
          std::find_if(counters.begin(), counters.end(),
                       [&](const BaselineCounter& other) { return other.name == counter.name; });
      if (found != counters.end()) this->counter(was.id, counter, found->value);
    }
  }

 private:
  [[nodiscard]] double limit_of(const std::optional<double>& spread) const {
    return std::max(limits_.baseline_change, limits_.baseline_spread * spread.value_or(0));
  }

  void measure(StageId id, const BaselineMeasure& was, const StageResult& stage) {
    const Measure& old = was.measure;
    const auto found =
        std::find_if(stage.measures.begin(), stage.measures.end(), [&](const Measure& other) {
          return other.metric == old.metric && other.subject == old.subject;
        });
    if (found == stage.measures.end() || found->values.count == 0) {
      out_.missing.push_back(fmt::format("stage {} ({}): {}{}", number_of(id), row_of(id).name,
                                         old.metric,
                                         old.subject.empty() ? "" : " of " + old.subject));
      return;
    }
    const Distribution& before = old.values;
    const Distribution& now = found->values;
    add(id, *found, "p50", before.p50, now.p50, was.spread_p50);
    const std::uint64_t least = std::min(before.count, now.count);
    // One value is its own tail.
    if (old.better == Better::kMore) {
      if (least > 1) add(id, *found, "min", before.least, now.least, was.spread_tail);
      return;
    }
    if (least > 1 && least < kValuesForP99)
      add(id, *found, "max", before.most, now.most, was.spread_tail);
    if (least >= kValuesForP99) add(id, *found, "p99", before.p99, now.p99, was.spread_tail);
    if (least >= kValuesForP999) add(id, *found, "p999", before.p999, now.p999, was.spread_tail);
  }

  void add(StageId id, const Measure& now, std::string_view quantile, double was, double is,
           const std::optional<double>& spread) {
    ComparedValue value{.stage = id,
                        .metric = now.metric,
                        .subject = now.subject,
                        .quantile = std::string(quantile),
                        .unit = now.unit,
                        .was = was,
                        .is = is,
                        .worse = worse_by(was, is, now.better),
                        .limit = limit_of(spread),
                        .floor = now.floor};
    const bool is_below =
        now.floor && (now.better == Better::kMore ? is < *now.floor : is > *now.floor);
    value.change = is_below                     ? Change::kBelowFloor
                   : value.worse > value.limit  ? Change::kWorse
                   : value.worse < -value.limit ? Change::kBetter
                                                : Change::kSame;
    out_.values.push_back(std::move(value));
  }

  void counter(StageId id, const BaselineCounter& was, double is) {
    ComparedValue value{.stage = id,
                        .metric = was.name,
                        .subject = {},
                        .quantile = "count",
                        .unit = std::string(unit_of_counters(id)),
                        .was = was.value,
                        .is = is,
                        .worse = worse_by(was.value, is, Better::kLess),
                        .limit = limit_of(was.spread)};
    value.is_judged = baseline_.runs >= limits_.baseline_runs;
    value.change = value.worse > value.limit    ? Change::kWorse
                   : value.worse < -value.limit ? Change::kBetter
                                                : Change::kSame;
    out_.values.push_back(std::move(value));
  }

  const Baseline& baseline_;
  const finding::Thresholds& limits_;
  Comparison& out_;
};

void note_settings(const Baseline& baseline, const Report& run, Comparison& out) {
  std::map<std::string, std::pair<std::string, std::string>> both;
  for (const SettingFact& fact : baseline.settings)
    both[fact.setting].first = list_text(fact.values);
  for (const SettingFact& fact : run.settings)
    both[fact.setting].second = list_text(fact.values);
  for (auto& [setting, values] : both) {
    if (values.first == values.second) continue;
    if (values.first.empty()) values.first = "not shown";
    if (values.second.empty()) values.second = "not shown";
    out.noted.push_back({setting, values.first, values.second});
  }
  if (baseline.tool != run.tool) out.noted.push_back({"tool", baseline.tool, run.tool});
}

std::string change_text(const ComparedValue& value) {
  if (value.change == Change::kBelowFloor)
    return fmt::format("{}, below the floor of {}; it was {}", amount_text(value, value.is),
                       amount_text(value, value.floor.value_or(0)), amount_text(value, value.was));
  return fmt::format("{}, was {}: {:.1f} % worse, and {:.1f} % is allowed",
                     amount_text(value, value.is), amount_text(value, value.was), 100 * value.worse,
                     100 * value.limit);
}

/// One finding per stage and metric, with every place as evidence: one cause moves many values.
void judge_values(Comparison& out) {
  std::map<std::pair<StageId, std::string>, std::vector<const ComparedValue*>> groups;
  for (const ComparedValue& value : out.values)
    if (is_regression(value)) groups[{value.stage, value.metric}].push_back(&value);
  for (const auto& [key, values] : groups) {
    const ComparedValue& worst = **std::max_element(
        values.begin(), values.end(),
        [](const ComparedValue* a, const ComparedValue* b) { return a->worse < b->worse; });
    finding::Finding finding = finding::make_finding(
        "baseline.regressed", fmt::format("{}: {}.", place_text(worst), change_text(worst)));
    if (!worst.subject.empty())
      finding.where.host = worst.subject.substr(0, worst.subject.find(' '));
    constexpr std::size_t kShown = 8;
    for (std::size_t i = 0; i < std::min(values.size(), kShown); ++i)
      finding.evidence.push_back(
          {.source = fmt::format("baseline {}", out.baseline),
           .line = fmt::format("{}: {}", place_text(*values[i]), change_text(*values[i])),
           .counter = "",
           .value = std::nullopt});
    out.judgement.findings.push_back(std::move(finding));
  }
  finding::settle(out.judgement);
}

}  // namespace

std::string_view to_text(Change change) {
  switch (change) {
    case Change::kSame: return "same";
    case Change::kBetter: return "better";
    case Change::kWorse: return "worse";
    case Change::kBelowFloor: return "below floor";
  }
  WEIR_UNREACHABLE("every change has a name");
}

std::string_view to_text(Outcome outcome) {
  switch (outcome) {
    case Outcome::kAsBaseline: return "as the baseline";
    case Outcome::kRegressed: return "regressed";
    case Outcome::kNotComparable: return "not comparable";
    case Outcome::kNothingCompared: return "nothing to compare";
  }
  WEIR_UNREACHABLE("every outcome has a name");
}

std::vector<IdentityDifference> differences(const Identity& was, const Identity& is) {
  std::vector<IdentityDifference> out;
  const auto add = [&](std::string_view field, const std::string& before, const std::string& now) {
    if (before != now) out.push_back({std::string(field), before, now});
  };
  const auto source = [](const Identity& identity) {
    return std::string(identity.is_simulated ? "simulated" : "measured");
  };
  add("source", source(was), source(is));
  // Its name says nothing: the digest is of the design as it takes effect.
  add("design", was.digest, is.digest);
  add("hosts", std::to_string(was.hosts), std::to_string(is.hosts));
  add("speed", list_text(was.speeds), list_text(is.speeds));
  add("MTU", list_text(was.mtus), list_text(is.mtus));
  add("driver", list_text(was.drivers), list_text(is.drivers));
  add("firmware", list_text(was.firmwares), list_text(is.firmwares));
  add("kernel", list_text(was.kernels), list_text(is.kernels));
  add("switch system", list_text(was.switches), list_text(is.switches));
  add("length of the loads", was.is_quick ? "--quick" : "in full",
      is.is_quick ? "--quick" : "in full");
  for (const Asked& each : asked_of(was, is))
    if (each.was && each.is) add(each.field, *each.was, *each.is);
  return out;
}

std::vector<IdentityDifference> not_said(const Identity& was, const Identity& is) {
  constexpr std::string_view kUnknown = "not known: of an earlier version";
  std::vector<IdentityDifference> out;
  for (const Asked& each : asked_of(was, is))
    if (!each.was || !each.is)
      out.push_back({std::string(each.field), each.was.value_or(std::string(kUnknown)),
                     each.is.value_or(std::string(kUnknown))});
  return out;
}

bool is_regression(const ComparedValue& value) {
  return value.is_judged && (value.change == Change::kWorse || value.change == Change::kBelowFloor);
}

std::string place_text(const ComparedValue& value) {
  return fmt::format("stage {} ({}), {}{}{}", number_of(value.stage), row_of(value.stage).name,
                     value.metric, value.quantile == "count" ? "" : " " + value.quantile,
                     value.subject.empty() ? "" : " of " + value.subject);
}

std::string amount_text(const ComparedValue& value, double amount) {
  if (value.quantile == "count") return fmt::format("{:.3g} {}", amount, value.unit);
  return value_text(Measure{.metric = "", .unit = value.unit, .values = {}}, amount);
}

std::size_t Comparison::regressions() const {
  return static_cast<std::size_t>(std::count_if(values.begin(), values.end(), is_regression));
}

Outcome Comparison::outcome() const {
  if (!unlike.empty()) return Outcome::kNotComparable;
  if (values.empty()) return Outcome::kNothingCompared;
  return regressions() > 0 ? Outcome::kRegressed : Outcome::kAsBaseline;
}

Comparison compare(const Baseline& baseline, const Report& run, const finding::Thresholds& limits) {
  Comparison out;
  out.baseline = baseline.name;
  out.digest = digest_of(baseline);
  out.started = run.started;
  out.unlike = differences(baseline.identity, run.identity);
  note_settings(baseline, run, out);
  for (IdentityDifference& each : not_said(baseline.identity, run.identity))
    out.noted.push_back(std::move(each));
  if (!out.unlike.empty()) {
    out.judgement.unknown.push_back(
        {.check = "baseline", .reason = "not comparable: " + out.unlike.front().field});
    out.judgement.conclusion = finding::Conclusion::kInconclusive;
    return out;
  }
  Comparer comparer(baseline, limits, out);
  for (const BaselineStage& stage : baseline.stages) {
    const StageResult& now = run.stages.at(number_of(stage.id));
    // A stage with a red flag measured too: what it says is worth comparing.
    if (now.state == State::kPassed || now.state == State::kFailed) {
      comparer.stage(stage, now);
    } else {
      out.missing.push_back(
          fmt::format("stage {} ({})", number_of(stage.id), row_of(stage.id).name));
    }
  }
  std::stable_sort(out.values.begin(), out.values.end(),
                   [](const ComparedValue& a, const ComparedValue& b) {
                     return is_regression(a) > is_regression(b);
                   });
  judge_values(out);
  if (const StageResult* const failed = run.failed()) {
    out.judgement.unknown.push_back(
        {.check = "stages behind the red flag",
         .reason = fmt::format("the run stopped in stage {} ({})", number_of(failed->id),
                               row_of(failed->id).name),
         .how = "repair that first, and run again"});
  }
  if (out.values.empty()) out.judgement.conclusion = finding::Conclusion::kInconclusive;
  return out;
}

}  // namespace weir::preflight
