#include "sim/workload/task_graph.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "sim/workload/limits.h"

namespace weir::sim {
namespace {

/// What one rank's link inside the host carries in a collective of n members, all in one host.
Bytes inside_bytes(StepCollective kind, std::int64_t n, Bytes size) {
  const Bytes once = size / n * (n - 1);
  return kind == StepCollective::kAllReduce ? once * 2 : once;
}

Program program_for(StepCollective kind, std::uint32_t ranks, Bytes size) {
  switch (kind) {
    case StepCollective::kAllReduce: return ring_all_reduce(ranks, size);
    case StepCollective::kAllGather: return ring_all_gather(ranks, size);
    case StepCollective::kReduceScatter: return ring_reduce_scatter(ranks, size);
    case StepCollective::kAllToAll:
      return all_to_all(ranks, std::max(size / std::int64_t{ranks}, Bytes::raw(1)));
  }
  WEIR_UNREACHABLE("every collective has a program");
}

std::vector<std::uint32_t> picked(const std::vector<std::uint32_t>& from,
                                  const std::vector<std::size_t>& places) {
  std::vector<std::uint32_t> out;
  for (const std::size_t place : places)
    out.push_back(from[place]);
  return out;
}

}  // namespace

TaskGraph::TaskGraph(std::vector<std::uint32_t> host, BitRate inside)
    : host_(std::move(host)), inside_(inside) {
  program_.ranks = ranks();
}

bool TaskGraph::is_full() const {
  return program_.transfers.size() > kMostTransfers || edges_.size() > 4 * kMostTransfers;
}

TaskId TaskGraph::add(Transfer transfer) {
  program_.transfers.push_back(transfer);
  return static_cast<TaskId>(program_.transfers.size() - 1);
}

void TaskGraph::order(TaskId before, TaskId after) {
  if (before != kNoTask) edges_.emplace_back(before, after);
}

TaskId TaskGraph::compute(std::uint32_t rank, Duration takes, TaskId after) {
  Transfer task{.from = rank, .to = rank, .size = {}};
  task.what = TaskKind::kCompute;
  task.takes = takes;
  const TaskId id = add(task);
  order(after, id);
  return id;
}

TaskId TaskGraph::inside(std::uint32_t rank, Duration takes, TaskId after) {
  const TaskId id = compute(rank, takes, after);
  program_.transfers[id].what = TaskKind::kInside;
  return id;
}

TaskId TaskGraph::wait(std::uint32_t rank, Duration takes, TaskId after) {
  const TaskId id = compute(rank, takes, after);
  program_.transfers[id].what = TaskKind::kWait;
  return id;
}

TaskId TaskGraph::send(std::uint32_t from, std::uint32_t to, Bytes size, std::uint32_t channel,
                       TaskId sender_after, TaskId receiver_after) {
  Transfer task{.from = from, .to = to, .size = size};
  task.channel = channel;
  if (host_[from] == host_[to]) {
    task.what = TaskKind::kInside;
    task.takes = serialization_time(size, inside_);
  }
  const TaskId id = add(task);
  order(sender_after, id);
  if (receiver_after != sender_after) order(receiver_after, id);
  return id;
}

std::vector<TaskId> TaskGraph::barrier(const std::vector<std::uint32_t>& members,
                                       const std::vector<TaskId>& entries) {
  const TaskId all = wait(members.front(), Duration(), kNoTask);
  for (const TaskId entry : entries)
    order(entry, all);
  std::vector<TaskId> done;
  for (const std::uint32_t rank : members)
    done.push_back(wait(rank, Duration(), all));
  return done;
}

std::vector<TaskId> TaskGraph::inside_collective(StepCollective kind,
                                                 const std::vector<std::uint32_t>& members,
                                                 const std::vector<TaskId>& entries, Bytes size) {
  std::vector<TaskId> done = barrier(members, entries);
  const auto n = static_cast<std::int64_t>(members.size());
  for (const TaskId task : done) {
    program_.transfers[task].what = TaskKind::kInside;
    program_.transfers[task].takes = serialization_time(inside_bytes(kind, n, size), inside_);
  }
  return done;
}

/// Every transfer of the collective's program, after both sides have entered.
std::vector<TaskId> TaskGraph::flat_collective(StepCollective kind,
                                               const std::vector<std::uint32_t>& members,
                                               const std::vector<TaskId>& entries, Bytes size,
                                               std::uint32_t channel) {
  const Program program = program_for(kind, static_cast<std::uint32_t>(members.size()), size);
  std::vector<TaskId> done;
  const auto first = static_cast<TaskId>(program_.transfers.size());
  for (const Transfer& transfer : program.transfers) {
    // What is passed on was received, so its sender is there.
    const TaskId sender = transfer.needs == 0 ? entries[transfer.from] : kNoTask;
    send(members[transfer.from], members[transfer.to], transfer.size, channel, sender,
         entries[transfer.to]);
  }
  for (const std::uint32_t rank : members)
    done.push_back(wait(rank, Duration(), kNoTask));
  for (TaskId t = 0; t < program.transfers.size(); ++t) {
    const Transfer& transfer = program.transfers[t];
    for (std::uint32_t i = 0; i < transfer.next_count; ++i)
      order(first + t, first + program.next[transfer.first_next + i]);
    order(first + t, done[transfer.from]);
    order(first + t, done[transfer.to]);
  }
  return done;
}

std::vector<std::vector<std::size_t>> TaskGraph::by_host(
    const std::vector<std::uint32_t>& members) const {
  std::map<std::uint32_t, std::vector<std::size_t>> hosts;
  for (std::size_t i = 0; i < members.size(); ++i)
    hosts[host_[members[i]]].push_back(i);
  std::vector<std::vector<std::size_t>> out;
  for (auto& [host, places] : hosts)
    out.push_back(std::move(places));
  return out;
}

/// Reduced inside each host, then around one ring per place in the hosts, then gathered inside.
std::vector<TaskId> TaskGraph::rail_collective(StepCollective kind,
                                               const std::vector<std::uint32_t>& members,
                                               const std::vector<TaskId>& entries, Bytes size,
                                               std::uint32_t channel) {
  const auto hosts = by_host(members);
  const auto width = static_cast<std::int64_t>(hosts.front().size());
  std::vector<TaskId> at = entries;
  const auto inside_step = [&](StepCollective step) {
    for (const auto& places : hosts) {
      std::vector<TaskId> own;
      for (const std::size_t place : places)
        own.push_back(at[place]);
      const auto done = inside_collective(step, picked(members, places), own, size);
      for (std::size_t i = 0; i < places.size(); ++i)
        at[places[i]] = done[i];
    }
  };
  if (kind != StepCollective::kAllGather) inside_step(StepCollective::kReduceScatter);
  const Bytes share = std::max(size / width, Bytes::raw(1));
  for (std::size_t rail = 0; rail < hosts.front().size(); ++rail) {
    std::vector<std::uint32_t> ring;
    std::vector<TaskId> own;
    for (const auto& places : hosts) {
      ring.push_back(members[places[rail]]);
      own.push_back(at[places[rail]]);
    }
    const auto done = flat_collective(kind, ring, own, share, channel);
    for (std::size_t h = 0; h < hosts.size(); ++h)
      at[hosts[h][rail]] = done[h];
  }
  if (kind != StepCollective::kReduceScatter) inside_step(StepCollective::kAllGather);
  return at;
}

std::vector<TaskId> TaskGraph::collective(StepCollective kind,
                                          const std::vector<std::uint32_t>& members,
                                          const std::vector<TaskId>& entries, Bytes size,
                                          std::uint32_t channel) {
  WEIR_CHECK(members.size() == entries.size() && !members.empty());
  if (members.size() == 1) return entries;
  const auto hosts = by_host(members);
  if (hosts.size() == 1) return inside_collective(kind, members, entries, size);
  const std::size_t width = hosts.front().size();
  const bool is_even = std::all_of(hosts.begin(), hosts.end(),
                                   [&](const auto& places) { return places.size() == width; });
  if (is_even && width > 1 && kind != StepCollective::kAllToAll)
    return rail_collective(kind, members, entries, size, channel);
  return flat_collective(kind, members, entries, size, channel);
}

Result<Program> TaskGraph::finish() && {
  std::vector<Transfer>& tasks = program_.transfers;
  if (is_full())
    return invalid_error(
        fmt::format("more than {} tasks: choose fewer layers, micro-batches or hosts",
                    with_thousands(kMostTransfers)));
  if (std::none_of(tasks.begin(), tasks.end(),
                   [](const Transfer& task) { return task.what == TaskKind::kSend; }))
    return invalid_error("nothing is sent from host to host: there is nothing to simulate");
  std::stable_sort(edges_.begin(), edges_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  program_.next.reserve(edges_.size());
  for (const auto& [before, after] : edges_) {
    Transfer& task = tasks[before];
    if (task.next_count == 0) task.first_next = static_cast<std::uint32_t>(program_.next.size());
    ++task.next_count;
    ++tasks[after].needs;
    program_.next.push_back(after);
  }
  // Everything is reached from what waits for nothing, or there is a circle.
  std::vector<std::uint32_t> needs;
  std::vector<TaskId> ready;
  for (TaskId t = 0; t < tasks.size(); ++t) {
    needs.push_back(tasks[t].needs);
    if (tasks[t].needs == 0) ready.push_back(t);
  }
  for (std::size_t i = 0; i < ready.size(); ++i) {
    const Transfer& task = tasks[ready[i]];
    for (std::uint32_t n = 0; n < task.next_count; ++n)
      if (--needs[program_.next[task.first_next + n]] == 0)
        ready.push_back(program_.next[task.first_next + n]);
  }
  if (ready.size() != tasks.size())
    return invalid_error(
        fmt::format("{} wait for each other in a circle: ranks disagree about the order of their "
                    "collectives, or a send and its receive wait for one another",
                    counted(tasks.size() - ready.size(), "task")));
  return std::move(program_);
}

}  // namespace weir::sim
