#pragma once
// A load that ran while the counters were watched: what it says it did, held against what the NICs
// counted. Pure: the same evidence and the same claim, the same judgement.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diagnose/core/interpret.h"
#include "diagnose/core/view.h"
#include "evidence/evidence.h"
#include "finding/finding.h"
#include "units/quantity.h"

namespace weir::diagnose {

/// What is known of the program, from its command line, its output and its exit status.
struct LoadClaim {
  std::string host;     // where it was started
  std::string program;  // "ib_write_bw"
  int exit_status = 0;
  bool claims_data = false;           // it reports data that it moved
  std::optional<Bytes> expected;      // how much, at least
  bool is_inbound = false;            // the data was received here
  std::string device;                 // the one it reports
  bool used_sockets = false;          // NCCL: "Using network Socket"
  std::optional<unsigned> tclass;     // --tclass, a TOS byte
  std::vector<std::string> problems;  // error lines, explained
  bool sees_all_ends = false;         // every host that took part was watched
};

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
  [[nodiscard]] bool is_busy(const Thresholds& limits) const;
};

/// What the program says it moved, against what the counters saw in the RDMA priority.
struct Volume {
  Bytes expected;               // as the program says
  std::uint64_t rdma = 0;       // bytes in the RDMA priority
  std::uint64_t elsewhere = 0;  // in the other priorities except that of CNPs
  unsigned priority = 3;

  [[nodiscard]] bool is_there() const { return rdma >= static_cast<std::uint64_t>(expected.raw()); }
};
[[nodiscard]] std::string to_text(const Volume&);

struct LoadJudgement {
  std::vector<Question> questions;
  std::vector<Observation> observations;
  std::vector<DeviceTraffic> devices;
  std::optional<Volume> volume;
  finding::Judgement judgement;
};

/// The evidence of `view` has both snapshots of each host and of the switches; `idle` is the
/// window before the load, where one was watched.
[[nodiscard]] LoadJudgement judge_load(const View& view, const LoadClaim& claim,
                                       std::span<const evidence::Evidence> idle);

}  // namespace weir::diagnose
