#pragma once
// Workloads on a fabric: turns specs into queue pairs and messages, drives what depends on what has
// arrived, and says afterwards how long everything took.
//
//   auto fabric = build_network(design, intent);
//   auto load = Workloads::add(*fabric, specs);          // before the engine is made
//   auto sim = Sim::make(std::move(fabric->network));
//   (*load)->start(**sim);
//   (*sim)->run();
//   (*load)->results();
//
// Everything is sized in add(): how many messages there will be is known exactly, so that nothing
// is allocated during a run. No timer is needed either: a step that begins later is a message
// posted for later.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/engine/sim.h"
#include "sim/fabric/from_design.h"
#include "sim/workload/collective.h"
#include "sim/workload/flow.h"
#include "sim/workload/workload_spec.h"
#include "units/quantity.h"

namespace weir::sim {

/// One round of a collective, or one training step.
struct StepResult {
  Time begin;
  Time communication;  // when the first message was posted
  Time communicated;   // last byte delivered
  Time end;            // … and computing over

  [[nodiscard]] Duration time() const { return end - begin; }
};

struct WorkloadResult {
  std::string label;
  WorkloadKind kind = WorkloadKind::kPair;
  std::uint32_t groups = 0;  // rails that work on their own
  std::uint32_t ranks = 0;   // of the largest group
  std::uint64_t messages = 0;
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;
  Bytes bytes;                    // of user data, completed
  bool finished = false;          // every message is complete
  std::vector<StepResult> steps;  // finished ones
  CompletionTimes completion;
  /// Of collectives, from the mean time of a round, in bit/s of one rank: size over time, and that
  /// times what each algorithm must move at least (2(n-1)/n and so on): comparable with the line
  /// rate.
  std::optional<double> algorithm_bandwidth;  // report only
  std::optional<double> bus_bandwidth;        // report only
  /// No round can be shorter (sim/ideal: user bytes at line rate, no latency).
  std::optional<Duration> bound;
};

class Workloads final : public Driver {
 public:
  /// Adds queue pairs, first messages and room for the others to fabric.network. The error names
  /// the workload and what does not fit the fabric.
  [[nodiscard]] static Result<std::unique_ptr<Workloads>> add(
      Fabric& fabric, const std::vector<WorkloadSpec>& specs);

  /// REQUIRES: `sim` was made of the network that add() saw.
  void start(Sim& sim);

  [[nodiscard]] bool finished() const;
  [[nodiscard]] std::vector<WorkloadResult> results() const;
  /// Messages of one workload, by its place in `specs`, in the order of posting.
  [[nodiscard]] std::vector<Flow> flows(std::size_t workload) const;
  /// Messages that will have been posted when all is done.
  [[nodiscard]] std::size_t message_count() const { return owner_.size(); }

  void on_sent(MessageId message) override;
  void on_delivered(MessageId message) override;
  void on_call(std::uint32_t token) override;

 private:
  friend class WorkloadBuilder;

  /// A program and the connections that it uses.
  struct Plan {
    Program program;
    std::vector<Pairing> connections;
    std::vector<std::uint32_t> connection;  // by transfer
  };
  /// A program at work on the NICs of one group.
  struct Lane {
    std::uint32_t plan = 0;
    QpId first_qp{0};
    std::uint32_t first_transfer = 0;  // into waits and parts
    std::vector<NodeId> nodes;         // by rank
  };
  struct Job {
    WorkloadSpec spec;
    std::vector<Plan> plans;
    std::vector<Lane> lanes;
    std::vector<std::uint32_t> lane_of;  // by transfer of all lanes
    std::vector<std::uint32_t> waits;    // transfers that are still needed, by transfer
    std::vector<std::uint32_t> parts;    // messages that are still under way, by transfer
    std::uint32_t qps = 1;
    std::uint32_t left = 0;    // transfers of this round
    std::uint32_t rounds = 1;  // of the program
    bool on_delivery = true;  // what follows waits for the last byte at the target, not for its ACK
    Time begin;               // of this round
    std::vector<StepResult> steps;
    std::uint64_t messages = 0;  // in all
  };
  static constexpr std::uint32_t kNone = 0xFFFFFFFFU;
  struct Owner {
    std::uint32_t job = kNone;
    std::uint32_t transfer = kNone;  // of all lanes; none: nothing depends on it
  };

  Workloads() = default;
  [[nodiscard]] static Time first_post(const Job& job);
  [[nodiscard]] std::uint32_t parts_of(const Job& job, Bytes size) const;
  void begin_round(Job& job);
  void post_transfer(std::uint32_t job, std::uint32_t transfer, Time at);
  void advance(const Owner& owner);
  void end_round(std::uint32_t job);
  void measure(const Job& job, WorkloadResult& result) const;

  Sim* sim_ = nullptr;
  std::vector<Job> jobs_;
  Table<MessageId, Owner> owner_;  // with room for all
  Table<NodeId, BitRate> nic_rate_;
};

}  // namespace weir::sim
