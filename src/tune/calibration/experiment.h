#pragma once
// The ten-minute experiment: which loads are run on four hosts, in which order, what is read
// afterwards, and what each of them identifies.
//
// Every load is steady (or repeated many times), so that neither clocks nor the start of programs
// have to agree: what is compared are rates, shares and mean latencies. Queue lengths are seen by
// the latency of a probe that crosses them, since no host counter shows a queue.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "design/fabric/intent.h"
#include "design/file/fabric.h"
#include "units/quantity.h"

namespace weir::tune {

enum class TrialKind : std::uint8_t { kLatency, kBandwidth, kIncast, kJoin };
[[nodiscard]] std::string_view to_text(TrialKind kind);
[[nodiscard]] std::optional<TrialKind> parse_trial_kind(std::string_view text);

enum class Statistic : std::uint8_t {
  kLatency,       // us, mean of ib_write_lat
  kBandwidth,     // Gb/s of payload, the senders together
  kProbeLatency,  // us, mean of ib_write_lat beside the load
  kMarkShare,     // marked packets of those received
  kCnpRate,       // CNPs of the receiver, per ms
  kPauseRate,     // pause transitions at the senders, per ms
  kJoinMarks,     // marked packets per join
  kJoinCnps,      // CNPs per join
};
inline constexpr std::size_t kStatistics = 8;
[[nodiscard]] std::string_view to_text(Statistic statistic);
[[nodiscard]] std::optional<Statistic> parse_statistic(std::string_view text);
[[nodiscard]] std::string_view unit_of(Statistic statistic);

/// One load of the experiment.
struct Trial {
  std::string id;  // "rp-off-4": letters, digits, '-'
  TrialKind kind = TrialKind::kLatency;
  std::vector<std::string> senders;  // hosts
  std::string receiver;
  std::string probe;  // a host whose latency to the receiver is measured beside; empty: none
  int qps = 1;        // of each sender
  Bytes size;         // of a message
  int depth = 128;    // messages that a queue pair has outstanding; 128 is perftest's own
  bool has_reaction_point = true;
  bool is_level = false;     // the depth sets the queue: marks are compared, CNPs are not
  bool is_held_out = false;  // predicted, not fitted
  int seconds = 4;           // of one repeat; of a join: how many joins
  std::string purpose;       // what it identifies
};

inline constexpr int kJoinMessages = 20;  // that a joining sender sends

/// What the fit compares of a trial.
[[nodiscard]] std::vector<Statistic> statistics_of(const Trial& trial);

struct CalibrationPlan {
  std::string design;  // name
  int rail = 0;
  int repeats = 3;
  std::vector<std::string> hosts;  // receiver, senders, probe; two of a pair
  std::vector<Trial> trials;
  std::vector<std::string> notes;

  [[nodiscard]] const Trial* find(std::string_view id) const;
  /// Of all repeats, with what programs and snapshots take around them.
  [[nodiscard]] int seconds() const;
};

/// For four hosts of the design (two where it has no more: then latency and bandwidth only). The
/// error says why the design offers no such hosts.
[[nodiscard]] Result<CalibrationPlan> plan_calibration(const design::Design& design,
                                                       const design::Intent& intent);

/// Marking as configured at the port that the host is behind.
[[nodiscard]] design::WredIntent wred_of(const design::Intent& intent, std::string_view host,
                                         int rail);

/// A plan that was read: hosts are of the design, and every number is one that can be simulated.
[[nodiscard]] Status check_plan(const CalibrationPlan& plan, const design::Intent& intent);

/// What is typed, in order; `where` is a host, or empty for the machine that has the results.
struct PlanCommand {
  std::string where;
  std::string text;
  bool is_background = false;
};
[[nodiscard]] std::vector<PlanCommand> commands_of(const CalibrationPlan& plan, const Trial& trial,
                                                   int repeat, const design::Intent& intent);
/// Turns the reaction point of a host on (1) or off (0); empty where its driver has no file for it.
[[nodiscard]] std::string reaction_point_command(const design::Intent& intent,
                                                 std::string_view host, int rail,
                                                 std::string_view value);
/// The same for all trials, as a script that uses ssh.
[[nodiscard]] std::string script_of(const CalibrationPlan& plan, const design::Intent& intent);

/// Files of one repeat, beneath the directory of the plan.
[[nodiscard]] std::string folder_of(const Trial& trial, int repeat);

}  // namespace weir::tune
