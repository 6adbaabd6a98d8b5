#include "sim/workload/chakra_graph.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "readers/workload/chakra.h"
#include "sim/workload/task_graph.h"

namespace weir::sim {
namespace {

using readers::ChakraTrace;
using readers::TraceCollective;
using readers::TraceNode;
using readers::TraceNodeKind;

/// The file of a rank, "PREFIX.3.et" or "PREFIX.3.json"; empty: there is none.
std::string trace_file(const std::string& prefix, std::size_t rank) {
  for (const std::string_view ending : {"et", "json"})
    if (std::string path = fmt::format("{}.{}.{}", prefix, rank, ending); file_exists(path))
      return path;
  return "";
}

struct RankTrace {
  std::string file;
  ChakraTrace trace;
  std::vector<std::size_t> order;  // places of nodes, each after all it waits for
  std::vector<TaskId> entry;       // by place: the task that waits for what the node waits for …
  std::vector<TaskId> done;        // … and the one with which it is done
};

Error wrong_node(const RankTrace& rank, const TraceNode& node, const std::string& what) {
  return invalid_error(fmt::format("{}: {}: node {} ({}): {}", rank.file, node.where, node.id,
                                   node.name.empty() ? "no name" : node.name, what));
}

class ChakraComposer {
 public:
  ChakraComposer(const WorkloadSpec& spec, const std::vector<std::uint32_t>& host)
      : spec_(spec), graph_(host, spec.inside) {}

  Result<Program> compose(std::vector<std::string>& notes) {
    WEIR_TRY_STATUS(read_files());
    note_untimed(notes);
    for (RankTrace& rank : ranks_)
      WEIR_TRY_STATUS(add_nodes(rank));
    WEIR_TRY_STATUS(match_collectives());
    WEIR_TRY_STATUS(match_sends());
    for (RankTrace& rank : ranks_)
      add_order(rank);
    auto program = std::move(graph_).finish();
    if (!program) return program.error().within(spec_.file);
    return program;
  }

 private:
  Status read_files() {
    if (!spec_.groups_file.empty()) {
      WEIR_TRY(text, read_file(spec_.groups_file));
      WEIR_TRY(groups, readers::read_rank_groups(text, spec_.groups_file));
      groups_ = std::move(groups);
    }
    for (std::size_t r = 0; r < graph_.ranks(); ++r) {
      RankTrace rank;
      rank.file = trace_file(spec_.file, r);
      if (rank.file.empty())
        return not_found_error(
            fmt::format("{0}.{1}.et (or {0}.{1}.json): not found; {2} are chosen, and each is a "
                        "rank with a file",
                        spec_.file, r, counted(graph_.ranks(), "NIC")));
      WEIR_TRY(content, read_file(rank.file));
      auto trace = readers::read_chakra(content);
      if (!trace) return trace.error().within(rank.file);
      for (const auto& [name, members] : trace->groups)
        groups_.try_emplace(name, members);
      rank.trace = std::move(*trace);
      ranks_.push_back(std::move(rank));
    }
    if (!trace_file(spec_.file, graph_.ranks()).empty())
      return invalid_error(
          fmt::format("{}: there are traces of more ranks than the {} that are chosen; choose more "
                      "hosts or rails",
                      spec_.file, counted(graph_.ranks(), "NIC")));
    return {};
  }

  void note_untimed(std::vector<std::string>& notes) const {
    std::size_t untimed = 0;
    for (const RankTrace& rank : ranks_)
      untimed += static_cast<std::size_t>(
          std::count_if(rank.trace.nodes.begin(), rank.trace.nodes.end(),
                        [](const TraceNode& node) { return node.is_untimed; }));
    if (untimed == 0) return;
    notes.push_back(fmt::format(
        "{}: {} with operations (num_ops) and no duration: taken as no time, because Weir has no "
        "roofline model that gives them one",
        spec_.file, counted(untimed, "node")));
  }

  /// The order of the trace as far as dependencies allow it.
  static Status sort_nodes(RankTrace& rank) {
    const std::vector<TraceNode>& nodes = rank.trace.nodes;
    std::unordered_map<std::uint64_t, std::size_t> places;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (!places.try_emplace(nodes[i].id, i).second)
        return wrong_node(rank, nodes[i], "another node has the same id");
    std::vector<std::size_t> needs(nodes.size());
    std::vector<std::vector<std::size_t>> next(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i)
      for (const std::uint64_t id : nodes[i].after) {
        const auto found = places.find(id);
        if (found == places.end())
          return wrong_node(rank, nodes[i],
                            fmt::format("waits for node {}, which is not in the file", id));
        next[found->second].push_back(i);
        ++needs[i];
      }
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (needs[i] == 0) ready.push(i);
    while (!ready.empty()) {
      const std::size_t place = ready.top();
      ready.pop();
      rank.order.push_back(place);
      for (const std::size_t later : next[place])
        if (--needs[later] == 0) ready.push(later);
    }
    if (rank.order.size() == nodes.size()) return {};
    const auto stuck =
        std::find_if(needs.begin(), needs.end(), [](std::size_t count) { return count > 0; });
    return wrong_node(rank, nodes[static_cast<std::size_t>(stuck - needs.begin())],
                      "it waits, over others, for itself");
  }

  Status add_nodes(RankTrace& rank) {
    WEIR_TRY_STATUS(sort_nodes(rank));
    const auto number = static_cast<std::uint32_t>(&rank - ranks_.data());
    rank.entry.assign(rank.trace.nodes.size(), kNoTask);
    rank.done.assign(rank.trace.nodes.size(), kNoTask);
    TaskId computed = kNoTask;
    for (const std::size_t place : rank.order) {
      const TraceNode& node = rank.trace.nodes[place];
      if (node.kind == TraceNodeKind::kCompute) {
        computed = graph_.compute(number, node.takes, computed);
        rank.entry[place] = rank.done[place] = computed;
        continue;
      }
      const Duration takes = node.kind == TraceNodeKind::kOther ? node.takes : Duration();
      rank.entry[place] = graph_.wait(number, takes, kNoTask);
      if (node.kind == TraceNodeKind::kOther) rank.done[place] = rank.entry[place];
      if (node.kind == TraceNodeKind::kCollective)
        collectives_[node.group == "0" ? "" : node.group].emplace_back(number, place);
      if (node.kind == TraceNodeKind::kSend)
        WEIR_TRY_STATUS(add_end(rank, place, number, node.peer, 0));
      if (node.kind == TraceNodeKind::kReceive)
        WEIR_TRY_STATUS(add_end(rank, place, node.peer, number, 1));
    }
    return {};
  }

  Status add_end(const RankTrace& rank, std::size_t place, std::uint64_t from, std::uint64_t to,
                 std::size_t side) {
    const TraceNode& node = rank.trace.nodes[place];
    if (from >= graph_.ranks() || to >= graph_.ranks() || from == to)
      return wrong_node(
          rank, node,
          fmt::format("expected another rank below {}, found {}", graph_.ranks(), node.peer));
    auto& ends =
        sends_[{static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to), node.tag}];
    (side == 0 ? ends.first : ends.second).push_back(place);
    return {};
  }

  Result<std::vector<std::uint32_t>> members_of(const std::string& group, const RankTrace& rank,
                                                const TraceNode& node) {
    std::vector<std::uint32_t> members;
    if (group.empty()) {
      for (std::uint32_t r = 0; r < graph_.ranks(); ++r)
        members.push_back(r);
      return members;
    }
    const auto found = groups_.find(group);
    if (found == groups_.end())
      return wrong_node(rank, node,
                        fmt::format("its group '{}' is not known; give groups=FILE", group));
    members = found->second;
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
    if (members.empty() || members.back() >= graph_.ranks())
      return wrong_node(rank, node,
                        fmt::format("its group '{}' has a rank beyond the {} that are chosen",
                                    group, graph_.ranks()));
    return members;
  }

  Status match_collectives() {
    std::uint32_t channel = 1;
    for (const auto& [group, uses] : collectives_) {
      const RankTrace& first = ranks_[uses.front().first];
      const TraceNode& first_node = first.trace.nodes[uses.front().second];
      WEIR_TRY(members, members_of(group, first, first_node));
      std::vector<std::vector<std::size_t>> places(members.size());
      for (const auto& [number, place] : uses) {
        const auto found = std::lower_bound(members.begin(), members.end(), number);
        if (found == members.end() || *found != number)
          return wrong_node(ranks_[number], ranks_[number].trace.nodes[place],
                            fmt::format("rank {} is not in its group '{}'", number, group));
        places[static_cast<std::size_t>(found - members.begin())].push_back(place);
      }
      for (std::size_t m = 0; m < members.size(); ++m)
        if (places[m].size() != places[0].size())
          return invalid_error(fmt::format(
              "{}: group '{}': rank {} takes part in {} collectives, rank {} in {}", spec_.file,
              group, members[0], places[0].size(), members[m], places[m].size()));
      for (std::size_t k = 0; k < places[0].size() && !graph_.is_full(); ++k)
        WEIR_TRY_STATUS(add_collective(members, places, k, channel));
      ++channel;
    }
    return {};
  }

  Status add_collective(const std::vector<std::uint32_t>& members,
                        const std::vector<std::vector<std::size_t>>& places, std::size_t k,
                        std::uint32_t channel) {
    const auto node_of = [&](std::size_t m) -> const TraceNode& {
      return ranks_[members[m]].trace.nodes[places[m][k]];
    };
    const TraceNode& first = node_of(0);
    std::vector<TaskId> entries;
    for (std::size_t m = 0; m < members.size(); ++m) {
      const TraceNode& node = node_of(m);
      if (node.collective != first.collective || node.size != first.size)
        return wrong_node(
            ranks_[members[m]], node,
            fmt::format("it is a {} of {} bytes, where rank {} has a {} of {} (node {})",
                        readers::to_text(node.collective), node.size.raw(), members[0],
                        readers::to_text(first.collective), first.size.raw(), first.id));
      entries.push_back(ranks_[members[m]].entry[places[m][k]]);
    }
    const auto n = static_cast<std::int64_t>(members.size());
    std::vector<TaskId> done;
    switch (first.collective) {
      case TraceCollective::kBarrier: done = graph_.barrier(members, entries); break;
      case TraceCollective::kAllReduce:
        done = graph_.collective(StepCollective::kAllReduce, members, entries, first.size, channel);
        break;
      case TraceCollective::kAllGather:  // of what one rank gives
        done = graph_.collective(StepCollective::kAllGather, members, entries, first.size * n,
                                 channel);
        break;
      case TraceCollective::kReduceScatter:
        done = graph_.collective(StepCollective::kReduceScatter, members, entries, first.size,
                                 channel);
        break;
      case TraceCollective::kAllToAll:
        done = graph_.collective(StepCollective::kAllToAll, members, entries, first.size, channel);
        break;
      case TraceCollective::kReduce:
      case TraceCollective::kGather:
      case TraceCollective::kScatter:
      case TraceCollective::kBroadcast:
        return wrong_node(ranks_[members[0]], first,
                          fmt::format("{} is not simulated", readers::to_text(first.collective)));
    }
    for (std::size_t m = 0; m < members.size(); ++m)
      ranks_[members[m]].done[places[m][k]] = done[m];
    return {};
  }

  Status match_sends() {
    for (const auto& [key, ends] : sends_) {
      const auto& [from, to, tag] = key;
      RankTrace& sender = ranks_[from];
      RankTrace& receiver = ranks_[to];
      if (ends.first.size() != ends.second.size())
        return invalid_error(
            fmt::format("{}: rank {} sends {} to rank {} with tag {}, which receives {}",
                        spec_.file, from, counted(ends.first.size(), "message"), to, tag,
                        counted(ends.second.size(), "message")));
      for (std::size_t k = 0; k < ends.first.size(); ++k) {
        const std::size_t s = ends.first[k];
        const std::size_t r = ends.second[k];
        const TraceNode& sent = sender.trace.nodes[s];
        if (sent.size != receiver.trace.nodes[r].size)
          return wrong_node(
              receiver, receiver.trace.nodes[r],
              fmt::format("it receives {} bytes, but rank {} sends {} (node {})",
                          receiver.trace.nodes[r].size.raw(), from, sent.size.raw(), sent.id));
        const TaskId task = graph_.send(from, to, sent.size, 0, sender.entry[s], receiver.entry[r]);
        sender.done[s] = receiver.done[r] = task;
      }
    }
    return {};
  }

  void add_order(const RankTrace& rank) {
    std::unordered_map<std::uint64_t, std::size_t> places;
    for (std::size_t i = 0; i < rank.trace.nodes.size(); ++i)
      places[rank.trace.nodes[i].id] = i;
    for (const std::size_t place : rank.order)
      for (const std::uint64_t id : rank.trace.nodes[place].after)
        graph_.order(rank.done[places[id]], rank.entry[place]);
  }

  using SendKey = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;  // from, to, tag
  const WorkloadSpec& spec_;
  TaskGraph graph_;
  readers::RankGroups groups_;
  std::vector<RankTrace> ranks_;
  std::map<std::string, std::vector<std::pair<std::uint32_t, std::size_t>>> collectives_;
  std::map<SendKey, std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> sends_;
};

}  // namespace

Result<Program> chakra_program(const WorkloadSpec& spec, const std::vector<std::uint32_t>& host,
                               std::vector<std::string>& notes) {
  return ChakraComposer(spec, host).compose(notes);
}

}  // namespace weir::sim
