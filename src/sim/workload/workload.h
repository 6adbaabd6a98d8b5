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
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/engine/sim.h"
#include "sim/fabric/from_design.h"
#include "sim/workload/collective.h"
#include "sim/workload/flow.h"
#include "sim/workload/job_graph.h"
#include "sim/workload/workload_spec.h"
#include "units/quantity.h"

namespace weir::sim {

/// One round of a collective, or one training step.
struct StepResult {
  Time begin;
  Time communication;              // when the first message was posted
  Time communicated;               // last byte delivered
  Time end;                        // … and computing over
  Duration compute;                // of a training step
  NodeId straggler = kNo<NodeId>;  // the NIC that got its last byte last …
  Duration late;                   // … this much after the median NIC

  [[nodiscard]] Duration time() const { return end - begin; }
  /// Communication that computing does not hide.
  [[nodiscard]] Duration exposed() const { return time() - compute; }
  friend bool operator==(const StepResult&, const StepResult&) = default;
  [[nodiscard]] StepResult later(Duration by) const {
    return {begin + by, communication + by, communicated + by, end + by, compute, straggler, late};
  }
};

/// A stretch of one rank's time, for pictures.
struct RankSpan {
  std::uint32_t rank = 0;  // of the workload, in the order of hosts, then rails
  TaskKind what = TaskKind::kSend;
  Time begin;
  Time end;
};
/// What each rank of a workload did while its first steps ran; nothing of replayed ones.
struct RankTimes {
  std::string label;
  std::vector<NodeId> nodes;      // by rank
  std::vector<RankSpan> spans;    // in no order
  std::vector<StepResult> steps;  // that the spans are of
};

/// One size of one test of a list.
struct PhaseResult {
  std::string name;
  Bytes size;
  std::uint32_t iterations = 1;
  Duration time;                   // of one iteration
  double algorithm_bandwidth = 0;  // report only: bit/s
  double bus_bandwidth = 0;        // report only
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
  std::vector<PhaseResult> phases;            // of a list of tests, as far as it came
  /// No round can be shorter (sim/ideal: user bytes at line rate, no latency).
  std::optional<Duration> bound;
};

/// Where the workloads are while nothing moves: what exact replay compares (docs/replay.md).
struct WorkloadMark {
  struct Job {
    std::size_t steps = 0;  // finished
    Time begin;             // of the next one
    bool is_over = false;
  };
  std::vector<Job> jobs;
};
struct RoundsAgain {
  std::uint64_t times = 0;
  bool is_last = false;  // all workloads are over then
};

class Workloads final : public Driver {
 public:
  /// Adds queue pairs, first messages and room for the others to fabric.network. The error names
  /// the workload and what does not fit the fabric.
  /// `replays`: rounds will be repeated where they can, so that there may be more messages than a
  /// run can keep.
  [[nodiscard]] static Result<std::unique_ptr<Workloads>> add(
      Fabric& fabric, const std::vector<WorkloadSpec>& specs, bool replays = false);

  /// REQUIRES: `sim` was made of the network that add() saw.
  void start(Sim& sim);

  [[nodiscard]] bool finished() const;
  [[nodiscard]] std::vector<WorkloadResult> results() const;
  /// Messages of one workload, by its place in `specs`, in the order of posting.
  [[nodiscard]] std::vector<Flow> flows(std::size_t workload) const;
  /// Place in `specs` of the workload that a message of the network is of.
  [[nodiscard]] std::size_t workload_of(MessageId message) const { return owner_[message].job; }
  /// Messages that will have been posted when all is done.
  [[nodiscard]] std::uint64_t message_count() const;
  /// Of workloads with steps, or with a graph of their own.
  [[nodiscard]] std::vector<RankTimes> rank_times() const;
  /// Sentences: what of a file is not simulated.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

  // ---- exact replay

  /// Some workload computes between rounds and has one to come that may be like one before.
  [[nodiscard]] bool has_rounds_to_repeat() const;
  /// None: some workload is in the middle of a round.
  [[nodiscard]] std::optional<WorkloadMark> mark() const;
  /// How often what lies between two marks, `period` apart, can follow itself.
  [[nodiscard]] RoundsAgain rounds_again(const WorkloadMark& before, const WorkloadMark& now,
                                         Duration period) const;
  /// The rounds to come of the one workload that is not over, where what it does on a part of the
  /// fabric depends on nothing but when a round begins; 0: there is no such workload.
  [[nodiscard]] std::uint64_t rounds_left_alone() const;
  /// Takes the rounds since `before` as done again, so many times; how many rounds that are.
  std::uint64_t repeat(const WorkloadMark& before, std::uint64_t times, Duration period);
  /// A round could not be repeated and has no room: the run ended before its time.
  [[nodiscard]] bool is_out_of_room() const { return is_out_of_room_; }

  /// How many threads may simulate it: what it posts for one NIC because of what another did.
  [[nodiscard]] Threads threads(unsigned count) const;

  void on_sent(MessageId message, Ps now) override;
  void on_delivered(MessageId message, Ps now) override;
  void on_call(std::uint32_t job, Ps now) override;  // one more transfer of the round is done
  void on_numbered(MessageId first, std::span<const MessageId> order) override;

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
    std::uint32_t first_rank = 0;      // into last_byte
    std::vector<NodeId> nodes;         // by rank
  };
  struct Span {
    std::uint32_t task = 0;
    Ps begin = 0;
    Ps end = 0;
  };
  struct Job {
    WorkloadSpec spec;
    std::vector<Plan> plans;
    std::vector<Lane> lanes;
    std::vector<std::uint32_t> lane_of;  // by transfer of all lanes
    std::vector<std::uint32_t> waits;    // transfers that are still needed, by transfer
    std::vector<std::uint32_t> parts;    // messages that are still under way, by transfer
    std::vector<Ps> last_byte;           // in this round, by rank of all lanes
    std::uint32_t qps = 1;
    std::uint32_t left = 0;    // transfers of this round
    std::uint32_t rounds = 1;  // of the program
    bool on_delivery = true;  // what follows waits for the last byte at the target, not for its ACK
    Time begin;               // of this round
    std::vector<StepResult> steps;
    std::uint64_t messages = 0;  // in all
    std::uint64_t per_round = 0;
    std::vector<std::uint32_t> first;  // transfers that wait for nothing
    std::uint64_t first_messages = 0;  // posted when a round begins
    std::uint32_t left_at_begin = 0;   // transfers, after what begins a round
    bool repeats = false;              // the fabric may rest between rounds
    bool is_graph = false;             // it has more than transfers; what follows is its alone
    Duration compute;                  // of the rank that computes longest
    std::vector<Ps> ready;             // when all it waits for is there, by transfer
    std::vector<Ps> posted;            // the latest message, by connection
    std::vector<std::pair<std::uint32_t, Ps>> work;  // tasks that can begin, and when
    Ps first_post = -1;                              // of this round
    Ps latest = 0;                                   // end of any task of this round
    std::vector<Span> spans;  // of all but transfers, with room for the first rounds
    std::vector<GraphPhase> phases;
  };
  static constexpr std::uint32_t kNone = 0xFFFFFFFFU;
  struct Owner {
    std::uint32_t job = kNone;
    std::uint32_t transfer = kNone;  // of all lanes; none: nothing depends on it
  };

  Workloads() = default;
  [[nodiscard]] static Time first_post(const Job& job);
  /// Begins what can begin at the start of a round; `post(transfer, at)` for each transfer.
  template <class Post>
  void begin_tasks(Job& job, Post post);
  /// A transfer or task is done at `at`: begins what waited for it alone.
  template <class Post>
  void finish_task(Job& job, std::uint32_t transfer, Ps at, Post post);
  template <class Post>
  void work_off(Job& job, Post post);
  [[nodiscard]] static Ps post_time(Job& job, std::uint32_t connection, Ps at);
  void measure_phases(const Job& job, WorkloadResult& result) const;
  void add_messages(std::vector<RankTimes>& out, const std::vector<std::size_t>& place) const;
  [[nodiscard]] std::uint32_t parts_of(const Job& job, Bytes size) const;
  void begin_round(Job& job);
  void post_transfer(std::uint32_t job, std::uint32_t transfer, Time at);
  void advance(const Owner& owner, Ps now);
  void end_round(std::uint32_t job, Time now);
  static void find_straggler(const Job& job, StepResult& step);
  void measure(const Job& job, WorkloadResult& result) const;
  void count_messages(std::vector<WorkloadResult>& results) const;

  Sim* sim_ = nullptr;
  std::vector<Job> jobs_;
  Table<MessageId, Owner> owner_;  // with room for all that are not repeated
  bool is_out_of_room_ = false;
  Table<NodeId, BitRate> nic_rate_;
  std::vector<std::string> notes_;
};

}  // namespace weir::sim
