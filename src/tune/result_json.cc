#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/json.h"
#include "base/json_cursor.h"
#include "base/text.h"
#include "tune/result.h"
#include "vocab/codec.h"

namespace weir::vocab {

template <>
struct EnumNames<tune::Objective> {
  static constexpr std::array<std::string_view, 4> kNames = {"step-time", "p99", "throughput",
                                                             "latency"};
};
template <>
struct EnumNames<tune::StepState> {
  static constexpr std::array<std::string_view, 3> kNames = {"passed", "failed", "not run"};
};
template <>
struct EnumNames<tune::TargetState> {
  static constexpr std::array<std::string_view, 3> kNames = {"met", "missed", "not judged"};
};
template <>
struct EnumNames<tune::Verdict> {
  static constexpr std::array<std::string_view, 4> kNames = {"refused", "nothing to tune",
                                                             "not proven", "tuned"};
};

}  // namespace weir::vocab

namespace weir::tune {
namespace {

// The one description of the result: writer and reader visit it, so that neither forgets a field.

template <class V, class S>
void visit_change(V& v, S& s) {
  v("mean", s.mean);
  v("low", s.low);
  v("high", s.high);
  v("pairs", s.pairs);
  v("p_t", s.p_t);
  v("p_wilcoxon", s.p_wilcoxon);
}

template <class V, class S>
void visit_metrics(V& v, S& s) {
  v("finished", s.finished);
  v("flows", s.flows);
  v("stuck", s.stuck);
  v("mean_us", s.mean_us);
  v("p99_us", s.p99_us);
  v("max_us", s.max_us);
  v("slowdown_mean", s.slowdown_mean);
  v("slowdown_p99", s.slowdown_p99);
  v("step_us", s.step_us);
  v("step_max_us", s.step_max_us);
  v("duration_us", s.duration_us);
  v("bus_gbps", s.bus_gbps);
  v("utilisation", s.utilisation);
  v("pauses", s.pauses);
  v("pause_share", s.pause_share);
  v("lossless_drops", s.lossless_drops);
  v("retransmitted", s.retransmitted);
  v("marked", s.marked);
  v("mark_share", s.mark_share);
  v("cnps", s.cnps);
  v("queue_bytes", s.queue_bytes);
  v("jain", s.jain);
  v("victim_slowdown", s.victim_slowdown);
  v("rdma_share", s.rdma_share);
  v("digest", s.digest);
}

template <class V, class S>
void visit_setting(V& v, S& s) {
  v("knob", s.knob);
  v("value", s.value);
}

template <class V, class S>
void visit_spread(V& v, S& s) {
  v("mean", s.mean);
  v("min", s.least);
  v("max", s.most);
}

template <class V, class S>
void visit_summary(V& v, S& s) {
  v("runs", s.runs);
  v("failed", s.failed);
  v("bad", s.bad);
  v("bad_upper", s.bad_upper);
  v("objective", s.objective);
  v("mean_us", s.mean_us);
  v("p99_us", s.p99_us);
  v("max_us", s.max_us);
  v("slowdown_p99", s.slowdown_p99);
  v("pauses", s.pauses);
  v("pause_share", s.pause_share);
  v("marked", s.marked);
  v("mark_share", s.mark_share);
  v("cnps", s.cnps);
  v("queue_bytes", s.queue_bytes);
  v("jain", s.jain);
  v("utilisation", s.utilisation);
  v("victim_slowdown", s.victim_slowdown);
}

template <class V, class S>
void visit_workload(V& v, S& s) {
  v("workload", s.workload);
  v("held_out", s.is_held_out);
  v("start", s.start);
  v("chosen", s.chosen);
  v("objective", s.objective);
  v("mean", s.mean);
  v("p99", s.p99);
  v("fisher_p", s.fisher_p);
}

template <class V, class S>
void visit_bought(V& v, S& s) {
  v("knob", s.knob);
  v("from", s.from);
  v("to", s.to);
  v("move", s.move);
  v("objective", s.objective);
  v("runs", s.runs);
  v("bad_with", s.bad_with);
  v("bad_without", s.bad_without);
  v("fisher_p", s.fisher_p);
  v("price", s.price);
  v("has_peer", s.has_peer);
}

template <class V, class S>
void visit_sensitivity(V& v, S& s) {
  v("knob", s.knob);
  v("effect", s.effect);
  v("interaction", s.interaction);
  v("pause_effect", s.pause_effect);
  v("inert", s.is_inert);
}

template <class V, class S>
void visit_tried(V& v, S& s) {
  v("move", s.move);
  v("knob", s.knob);
  v("from", s.from);
  v("to", s.to);
  v("objective", s.objective);
  v("bad_start", s.bad_start);
  v("bad", s.bad);
  v("runs", s.runs);
  v("outcome", s.outcome);
}

template <class V, class S>
void visit_curve(V& v, S& s) {
  v("pause_limit", s.pause_limit);
  v("settings", s.settings);
  v("objective", s.objective);
  v("pause_share", s.pause_share);
  v("pauses", s.pauses);
  v("runs", s.runs);
  v("bad", s.bad);
  v("knee", s.is_knee);
}

template <class V, class S>
void visit_failure(V& v, S& s) {
  v("name", s.name);
  v("fault", s.fault);
  v("workload", s.workload);
  v("start", s.start);
  v("chosen", s.chosen);
  v("start_passes", s.start_passes);
  v("chosen_passes", s.chosen_passes);
  v("reason", s.reason);
}

template <class V, class S>
void visit_peer_workload(V& v, S& s) {
  v("workload", s.workload);
  v("ours", s.ours);
  v("peer", s.peer);
  v("ratio", s.ratio);
  v("agrees", s.agrees);
}

template <class V, class S>
void visit_peer(V& v, S& s) {
  v("was_run", s.was_run);
  v("why_not", s.why_not);
  v("checked", s.checked);
  v("unchecked", s.unchecked);
  v("workloads", s.workloads);
  v("agrees", s.agrees);
}

template <class V, class S>
void visit_target_side(V& v, S& s) {
  v("state", s.state);
  v("text", s.text);
}

template <class V, class S>
void visit_target(V& v, S& s) {
  v("goal", s.goal);
  v("workload", s.workload);
  v("start", s.start);
  v("chosen", s.chosen);
}

template <class V, class S>
void visit_step(V& v, S& s) {
  v("name", s.name);
  v("state", s.state);
  v("text", s.text);
  v("details", s.details);
}

template <class V, class S>
void visit_result(V& v, S& s) {
  v("design", s.design);
  v("design_digest", s.design_digest);
  v("objective", s.objective);
  v("pause_limit", s.pause_limit);
  v("tolerance", s.tolerance);
  v("seed", s.seed);
  v("budget_runs", s.budget_runs);
  v("runs", s.runs);
  v("verdict", s.verdict);
  v("reason", s.reason);
  v("steps", s.steps);
  v("workloads", s.workloads);
  v("held_out", s.held_out);
  v("start", s.start);
  v("chosen", s.chosen);
  v("proposed", s.proposed);
  v("outcomes", s.outcomes);
  v("gain", s.gain);
  v("bought", s.bought);
  v("sensitivity", s.sensitivity);
  v("tried", s.tried);
  v("curve", s.curve);
  v("failures", s.failures);
  v("target", s.target);
  v("peer", s.peer);
  v("fixed", s.fixed);
  v("notes", s.notes);
}

class ResultWriter {
 public:
  template <class T>
  void operator()(std::string_view key, const T& value) {
    out_[std::string(key)] = vocab::Codec<T>::write(value);
  }
  [[nodiscard]] Json take() { return std::move(out_); }

 private:
  Json out_ = Json::object();
};

/// To ten digits: the last ones of a quantile differ between compilers, and say nothing.
void round_numbers(Json& value) {
  if (value.is_number_float()) {
    const std::string text = fmt::format("{:.10g}", value.get<double>());
    double rounded = 0;
    std::from_chars(text.data(), text.data() + text.size(), rounded);
    value = rounded;
  } else if (value.is_structured()) {
    for (Json& item : value)
      round_numbers(item);
  }
}

/// Stops at the first error. Every member must be there: a result is read by what wrote it.
class ResultReader {
 public:
  explicit ResultReader(const JsonCursor& at) : at_(at) {}

  template <class T>
  void operator()(std::string_view key, T& out) {
    if (error_) return;
    const auto found = at_.find(key);
    if (!found) {  // null is how an optional value is absent
      if (at_.value().contains(std::string(key)) && is_optional(out)) return;
      error_ = at_.wrong(fmt::format("a member '{}'", key));
      return;
    }
    auto read = vocab::Codec<T>::read(*found);
    if (read) {
      out = std::move(read).value();
    } else {
      error_ = read.error();
    }
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  template <class T>
  static bool is_optional(const std::optional<T>&) {
    return true;
  }
  template <class T>
  static bool is_optional(const T&) {
    return false;
  }

  const JsonCursor& at_;
  std::optional<Error> error_;
};

}  // namespace
}  // namespace weir::tune

// A section is an object of its fields, in the order of its visitor.
#define WEIR_TUNE_SECTION(Type, visitor)                   \
  template <>                                              \
  struct weir::vocab::Codec<weir::tune::Type> {            \
    static Json write(const tune::Type& value) {           \
      tune::ResultWriter writer;                           \
      tune::visitor(writer, value);                        \
      return writer.take();                                \
    }                                                      \
    static Result<tune::Type> read(const JsonCursor& at) { \
      WEIR_TRY_STATUS(at.expect_object());                 \
      tune::Type value;                                    \
      tune::ResultReader reader(at);                       \
      tune::visitor(reader, value);                        \
      if (reader.error()) return *reader.error();          \
      return value;                                        \
    }                                                      \
  }

WEIR_TUNE_SECTION(Change, visit_change);
WEIR_TUNE_SECTION(Metrics, visit_metrics);
WEIR_TUNE_SECTION(KnobSetting, visit_setting);
WEIR_TUNE_SECTION(Spread, visit_spread);
WEIR_TUNE_SECTION(Summary, visit_summary);
WEIR_TUNE_SECTION(WorkloadOutcome, visit_workload);
WEIR_TUNE_SECTION(Bought, visit_bought);
WEIR_TUNE_SECTION(Sensitivity, visit_sensitivity);
WEIR_TUNE_SECTION(TriedMove, visit_tried);
WEIR_TUNE_SECTION(CurvePoint, visit_curve);
WEIR_TUNE_SECTION(FailureOutcome, visit_failure);
WEIR_TUNE_SECTION(TargetSide, visit_target_side);
WEIR_TUNE_SECTION(TargetRow, visit_target);
WEIR_TUNE_SECTION(PeerWorkload, visit_peer_workload);
WEIR_TUNE_SECTION(PeerCheck, visit_peer);
WEIR_TUNE_SECTION(StepOutcome, visit_step);
WEIR_TUNE_SECTION(TuneResult, visit_result);

#undef WEIR_TUNE_SECTION

namespace weir::tune {

std::string_view to_text(Objective objective) {
  return vocab::enum_name(objective);
}
std::string_view to_text(Verdict verdict) {
  return vocab::enum_name(verdict);
}
std::string_view to_text(StepState state) {
  return vocab::enum_name(state);
}

std::string_view to_text(TargetState state) {
  return vocab::enum_name(state);
}

Result<Objective> parse_objective(std::string_view text) {
  const auto& names = vocab::EnumNames<Objective>::kNames;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == text) return static_cast<Objective>(i);
  return parse_error(
      fmt::format("expected step-time, p99, throughput or latency, found '{}'", text));
}

Json to_json(const TuneResult& result) {
  Json out = {{"schema", "weir/tune/1"}, {"simulated", true}};
  out.update(vocab::Codec<TuneResult>::write(result));
  round_numbers(out);
  return out;
}
Result<TuneResult> tune_result_from_json(const Json& document) {
  return vocab::Codec<TuneResult>::read(JsonCursor(document));
}
Json to_json(const Metrics& metrics) {
  return vocab::Codec<Metrics>::write(metrics);
}
Result<Metrics> metrics_from_json(const Json& document) {
  return vocab::Codec<Metrics>::read(JsonCursor(document));
}

}  // namespace weir::tune
