#pragma once
// What `weir verify` makes of a load, wherever it ran: the window between two looks, the five
// questions, what the program says against what the counters saw, and the diagnosis. The ways of
// driving a load (a command, a pair over ssh, a burst) differ; this is what they share.
#include <optional>
#include <string>
#include <vector>

#include "cli/frame/command.h"
#include "cli/frame/judging.h"
#include "diagnose/core/diagnose.h"
#include "diagnose/core/interpret.h"
#include "evidence/evidence.h"
#include "finding/finding.h"
#include "host/probe/load_report.h"

namespace weir::cli {

/// Evidence over the window of a load: facts as they are after it, both snapshots.
[[nodiscard]] std::vector<evidence::Evidence> window_of(
    const std::vector<evidence::Evidence>& before, const std::vector<evidence::Evidence>& after);

/// What one device carried of RDMA, as its counters have it; absent where it does not count that.
struct DeviceTraffic {
  std::string host;
  std::string device;
  bool is_designed = true;  // a rail of the design, or the design does not know the host
  std::optional<std::uint64_t> tx_bytes;
  std::optional<std::uint64_t> rx_bytes;
  std::optional<std::uint64_t> packets;         // both ways
  std::optional<std::uint64_t> tx_in_priority;  // bytes of the RDMA priority
  std::optional<std::uint64_t> rx_in_priority;

  [[nodiscard]] bool is_known() const { return tx_bytes || packets || tx_in_priority; }
  /// Enough traffic to judge by.
  [[nodiscard]] bool is_busy(const finding::Thresholds& limits = {}) const;
};

/// What the program says it moved, against what the counters saw in the RDMA priority.
struct Volume {
  Bytes expected;               // as the program says
  std::uint64_t rdma = 0;       // bytes in the RDMA priority
  std::uint64_t elsewhere = 0;  // in the other priorities but the CNPs'
  unsigned priority = 3;

  [[nodiscard]] bool is_there() const { return rdma >= static_cast<std::uint64_t>(expected.raw()); }
};

/// The load as it was driven.
struct Drive {
  std::vector<std::string> words;
  std::string ran_on;
  host::CommandOutcome outcome;
  bool sees_all_ends = false;            // every host that took part was watched
  std::vector<std::string> notes;        // what was chosen, and why
  std::vector<evidence::Evidence> idle;  // the window before it, where one was watched
};

struct Verified {
  Drive drive;
  host::LoadReport load;
  std::vector<diagnose::Question> questions;
  std::vector<diagnose::Observation> observations;
  std::vector<DeviceTraffic> devices;
  std::optional<Volume> volume;
  finding::Judgement judgement;
  bool is_simulated = false;

  [[nodiscard]] bool is_failed() const { return drive.outcome.exit_status != 0; }
};

/// Pure. `window` has both snapshots of each host and of the switches.
[[nodiscard]] Verified judge_load(Drive drive, const std::vector<evidence::Evidence>& window,
                                  const design::Intent& intent);

/// A headline in place of the usual one where `verdict` is not empty. Returns the exit status: 5
/// where the command failed.
ExitCode print_verified(const Args& args, Context& context, const Verified& verified,
                        const std::string& verdict = {}, const Json* extra = nullptr);

}  // namespace weir::cli
