#pragma once
// The result of a preflight: a state per stage, what was measured and found in it, and the verdict.
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_cursor.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "diagnose/behaviour/totals.h"
#include "finding/finding.h"
#include "preflight/measure.h"
#include "preflight/stage.h"

namespace weir::preflight {

enum class State : std::uint8_t {
  kPassed,
  kFailed,         // a red flag: what follows is not run
  kOpen,           // it ran, or tried to, and cannot tell
  kNotRun,         // not asked for, or an earlier stage failed
  kNotApplicable,  // this fabric, or a lab, has no such thing: no part of the verdict
};
[[nodiscard]] std::string_view to_text(State);  // "passed" "failed" "open" "not_run" …
[[nodiscard]] std::optional<State> parse_state(std::string_view);

struct StageResult {
  StageId id = StageId::kFacts;
  State state = State::kNotRun;
  std::string why;     // one sentence; of a stage that passed: what was done
  std::string budget;  // what was planned, said before anything ran
  Duration took;       // of the hosts' clock: simulated in a lab
  std::vector<Measure> measures;
  std::vector<std::string> notes;
  std::optional<diagnose::Totals> totals = {};  // of all windows of the stage; none: nothing ran
  finding::Judgement judgement;

  [[nodiscard]] const Measure* find(std::string_view metric) const;
};

enum class Verdict : std::uint8_t { kGo, kNoGo, kCannotTell };
[[nodiscard]] std::string_view to_text(Verdict);  // "go" "no-go" "cannot tell"

/// Which fabric it was, as it was then: a preflight goes on only with the same one.
struct Identity {
  std::string design;  // its name
  std::string digest;  // of the design as it takes effect
  bool is_simulated = false;
  bool is_quick = false;
  std::uint64_t hosts = 0;
  std::vector<std::string> drivers;    // "mlx5_core 24.10-1.1.4", each once
  std::vector<std::string> firmwares;  // each once; none: no host showed one
  std::vector<std::string> kernels;
  std::vector<std::string> speeds;         // "400Gbps"
  std::vector<std::string> mtus;           // "9000B, RDMA 4096B"
  std::vector<std::string> switches = {};  // "sonic 202311.4": system, and version where shown
  // What the loads were given and judged by; none: a file of an earlier version does not say.
  std::optional<std::string> perftest = {};                 // "-u 18"; empty in a lab
  std::optional<std::string> collective = {};               // the command; empty: none was run
  std::optional<std::vector<std::string>> thresholds = {};  // "pair_floor=90%": not the defaults

  friend bool operator==(const Identity&, const Identity&) = default;
};

/// A QoS or MTU setting as the NICs showed it, each value once.
struct SettingFact {
  std::string setting;  // "trust"
  std::vector<std::string> values;

  friend bool operator==(const SettingFact&, const SettingFact&) = default;
};

/// A host that took part and then could not be reached: later stages ran without it.
struct LostHost {
  std::string name;
  StageId stage = StageId::kFacts;  // in which
  std::string why;

  friend bool operator==(const LostHost&, const LostHost&) = default;
};

struct Report {
  Identity identity;
  std::string tool;          // "weir 0.1.0"
  std::string started = {};  // RFC 3339; a lab's own time
  std::string ended = {};
  std::vector<SettingFact> settings = {};
  /// "gpu03: why": named, not seen at the start, and left out. Without them it is never a go.
  std::vector<std::string> unseen = {};
  std::vector<LostHost> lost = {};  // the same for these
  std::array<StageResult, kStages> stages;

  [[nodiscard]] Verdict verdict() const;
  [[nodiscard]] const StageResult* failed() const;  // the first red flag; nullptr: none
};
[[nodiscard]] Report empty_report();
/// "gpu03" of "gpu03: why".
[[nodiscard]] std::vector<std::string> unseen_names(const Report& report);
[[nodiscard]] std::vector<std::string> lost_names(const Report& report);

/// Hosts, rails, switches and links that the findings of the red flag name, each once.
struct Failing {
  std::vector<std::string> hosts;
  std::vector<std::string> rails;
  std::vector<std::string> switches;
  std::vector<std::string> links;
};
[[nodiscard]] Failing failing_of(const Report& report);

/// Two windows of one stage as one: sums, the longer pause share, and both times.
[[nodiscard]] diagnose::Totals sum_of(const diagnose::Totals& a, const diagnose::Totals& b);

/// Warnings, errors and open questions of all stages that ran, as one judgement.
[[nodiscard]] finding::Judgement whole_judgement(const Report& report);

/// verdict, identity{…}, tool, unseen[], lost[]{host, stage, why}, stages[]{number, name, state,
/// why, budget, took_us, measures[]{…}, notes[], findings, …}, failing{…}
[[nodiscard]] Json to_json(const Report& report);
[[nodiscard]] Json to_json(const Identity& identity);
[[nodiscard]] Json to_json(const Measure& measure);
/// Reads what to_json wrote; the error names the place.
[[nodiscard]] Result<Report> report_from_json(const JsonCursor& at);
[[nodiscard]] Result<Identity> identity_from_json(const JsonCursor& at);
[[nodiscard]] Result<Measure> measure_from_json(const JsonCursor& at);
[[nodiscard]] Json to_json(const std::vector<SettingFact>& settings);
[[nodiscard]] Result<std::vector<SettingFact>> settings_from_json(const JsonCursor& at);

}  // namespace weir::preflight
