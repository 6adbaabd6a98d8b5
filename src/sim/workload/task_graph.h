#pragma once
// A job as a graph: what every rank computes and sends, and after what. One step of training, or
// the whole of a recorded trace; made into a Program, which the driver works through.
//
// Ranks of one host reach each other by the links inside the host, at `inside`: such a transfer is
// time, not traffic. So is a collective whose members are all in one host. Of a group with the same
// number of members, more than one, in each of several hosts, a reduction or gathering goes as
// collective libraries do it: inside the hosts first, then one ring per rail, each over its share.
#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sim/workload/collective.h"
#include "sim/workload/workload_spec.h"
#include "units/quantity.h"

namespace weir::sim {

using TaskId = std::uint32_t;
inline constexpr TaskId kNoTask = 0xFFFFFFFFU;

class TaskGraph {
 public:
  /// `host`: of each rank.
  TaskGraph(std::vector<std::uint32_t> host, BitRate inside);

  [[nodiscard]] std::uint32_t size() const {
    return static_cast<std::uint32_t>(program_.transfers.size());
  }
  /// Too large to go on with: finish() will say so.
  [[nodiscard]] bool is_full() const;
  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(host_.size()); }

  /// The GPU of `rank` is busy so long. kNoTask as `after`: from the beginning.
  TaskId compute(std::uint32_t rank, Duration takes, TaskId after);
  /// `rank` is busy with links inside its host.
  TaskId inside(std::uint32_t rank, Duration takes, TaskId after);
  /// Time that passes at `rank` and keeps no GPU busy.
  TaskId wait(std::uint32_t rank, Duration takes, TaskId after);
  /// After both sides are there. `channel`: a number of the communicator; messages of one channel
  /// between two ranks keep their order.
  TaskId send(std::uint32_t from, std::uint32_t to, Bytes size, std::uint32_t channel,
              TaskId sender_after, TaskId receiver_after);
  void order(TaskId before, TaskId after);

  /// Each member enters after the task of its place in `entries`; returned is the task with which
  /// it is done. `size`: of a rank's buffer (all-reduce, reduce-scatter), of the whole
  /// (all-gather), of what one rank sends to all together (all-to-all). REQUIRES: members differ.
  std::vector<TaskId> collective(StepCollective kind, const std::vector<std::uint32_t>& members,
                                 const std::vector<TaskId>& entries, Bytes size,
                                 std::uint32_t channel);
  /// Everybody goes on when everybody is there; nothing is sent.
  std::vector<TaskId> barrier(const std::vector<std::uint32_t>& members,
                              const std::vector<TaskId>& entries);

  /// The error: it is too large, has no message for the fabric, or waits for itself.
  [[nodiscard]] Result<Program> finish() &&;

 private:
  TaskId add(Transfer transfer);
  std::vector<TaskId> inside_collective(StepCollective kind,
                                        const std::vector<std::uint32_t>& members,
                                        const std::vector<TaskId>& entries, Bytes size);
  std::vector<TaskId> flat_collective(StepCollective kind,
                                      const std::vector<std::uint32_t>& members,
                                      const std::vector<TaskId>& entries, Bytes size,
                                      std::uint32_t channel);
  std::vector<TaskId> rail_collective(StepCollective kind,
                                      const std::vector<std::uint32_t>& members,
                                      const std::vector<TaskId>& entries, Bytes size,
                                      std::uint32_t channel);
  [[nodiscard]] std::vector<std::vector<std::size_t>> by_host(
      const std::vector<std::uint32_t>& members) const;

  std::vector<std::uint32_t> host_;
  BitRate inside_;
  Program program_;
  std::vector<std::pair<TaskId, TaskId>> edges_;
};

}  // namespace weir::sim
