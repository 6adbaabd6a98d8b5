#include "sim/workload/workload.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/text.h"
#include "design/fabric/patterns.h"
#include "model/ideal.h"
#include "sim/workload/limits.h"
#include "sim/workload/traffic.h"
#include "units/format.h"

namespace weir::sim {
namespace {

constexpr std::size_t kMostQps = std::size_t{1} << 23U;
constexpr std::size_t kMostFlows = 2'000'000;

enum Purpose : std::uint64_t { kPortDraw = 0x504F5254, kPermutationDraw = 0x5045524D };

bool is_stream(WorkloadKind kind) {
  return kind == WorkloadKind::kPair || kind == WorkloadKind::kIncast ||
         kind == WorkloadKind::kPermutation;
}

/// What a training step does is what the collective of that name does.
WorkloadKind collective_of(const WorkloadSpec& spec) {
  if (spec.kind != WorkloadKind::kTraining) return spec.kind;
  switch (spec.collective) {
    case StepCollective::kAllReduce: return WorkloadKind::kAllReduce;
    case StepCollective::kAllGather: return WorkloadKind::kAllGather;
    case StepCollective::kReduceScatter: return WorkloadKind::kReduceScatter;
    case StepCollective::kAllToAll: return WorkloadKind::kAllToAll;
  }
  WEIR_UNREACHABLE("every collective is a workload");
}

/// Rounds of a list of tests are in its graph already.
std::uint32_t rounds_of(const WorkloadSpec& spec) {
  return is_stream(spec.kind) || spec.kind == WorkloadKind::kNcclTests ? 1 : spec.iterations;
}

struct Group {
  std::vector<NodeId> nodes;
};

Error too_many_messages(std::uint64_t most) {
  return invalid_error(
      fmt::format("more than {} messages: choose fewer hosts, iterations or larger chunks",
                  with_thousands(static_cast<std::int64_t>(most))));
}

Result<Program> collective_program(const WorkloadSpec& spec, std::uint32_t ranks) {
  switch (collective_of(spec)) {
    case WorkloadKind::kAllToAll: return all_to_all(ranks, spec.size);
    case WorkloadKind::kAllGather: return ring_all_gather(ranks, spec.size);
    case WorkloadKind::kReduceScatter: return ring_reduce_scatter(ranks, spec.size);
    case WorkloadKind::kAllReduce: break;
    case WorkloadKind::kPair:
    case WorkloadKind::kIncast:
    case WorkloadKind::kPermutation:
    case WorkloadKind::kTraining:
    case WorkloadKind::kFlows:
    case WorkloadKind::kStorage:
    case WorkloadKind::kLossy:
    case WorkloadKind::kTrace:
    case WorkloadKind::kModel:
    case WorkloadKind::kSimai:
    case WorkloadKind::kChakra:
    case WorkloadKind::kNcclTests: WEIR_UNREACHABLE("not a collective");
  }
  switch (spec.algorithm) {
    case Algorithm::kRing: return ring_all_reduce(ranks, spec.size);
    case Algorithm::kTree:
      if (tree_transfers(ranks, spec.size, spec.chunk) > kMostTransfers)
        return too_many_messages(kMostTransfers);
      return double_tree_all_reduce(ranks, spec.size, spec.chunk);
    case Algorithm::kHalvingDoubling: break;
  }
  if (!std::has_single_bit(ranks))
    return invalid_error(
        fmt::format("halving-doubling needs a power of two of ranks, not {}; choose hosts, or "
                    "algo=ring",
                    ranks));
  return halving_doubling_all_reduce(ranks, spec.size);
}

/// Senders of a stream, on several threads, note it for the one receiver they have in common.
void note_last_byte(Ps& last, Ps at) {
  const std::atomic_ref<Ps> shared(last);
  Ps seen = shared.load(std::memory_order_relaxed);
  while (seen < at && !shared.compare_exchange_weak(seen, at, std::memory_order_relaxed)) {
  }
}

}  // namespace

/// Turns one spec after the other into jobs.
class WorkloadBuilder {
 public:
  WorkloadBuilder(Fabric& fabric, bool replays) : fabric_(fabric), replays_(replays) {
    for (const NicPlace& nic : fabric.nics)
      out_->nic_rate_.push_back(nic.speed);
    out_->owner_.resize(fabric.network.messages.size());
  }

  Status add(const WorkloadSpec& spec) {
    WEIR_TRY(groups, groups_of(spec));
    Workloads::Job job;
    job.spec = spec;
    job.qps = static_cast<std::uint32_t>(spec.qps.value_or(fabric_.qps_per_connection));
    job.on_delivery = !is_stream(spec.kind);
    job.begin = spec.start;
    if (is_open_loop(spec.kind)) {
      job.qps = 1;
      out_->jobs_.push_back(std::move(job));
      if (spec.kind == WorkloadKind::kTrace) return add_trace(spec);
      for (const Group& group : groups)
        WEIR_TRY_STATUS(add_flows(spec, group));
      return {};
    }
    if (is_graph(spec.kind)) {
      WEIR_TRY_STATUS(add_graph_lane(job, groups.front()));
    } else {
      for (Group& group : groups)
        WEIR_TRY_STATUS(add_lane(job, group));
    }
    return add_job(std::move(job));
  }

  std::unique_ptr<Workloads> finish() {
    out_->owner_.resize(out_->owner_.size() + spare_);
    fabric_.network.spare_messages += spare_;
    return std::move(out_);
  }

 private:
  // ---- hosts and rails

  [[nodiscard]] Result<std::vector<std::uint32_t>> hosts_of(const WorkloadSpec& spec) const {
    std::vector<std::uint32_t> hosts;
    if (spec.hosts.empty()) {
      for (std::uint32_t h = 0; h < fabric_.hosts.size(); ++h)
        hosts.push_back(h);
      return hosts;
    }
    WEIR_TRY(names, design::expand_names(spec.hosts));
    for (const std::string& name : names) {
      WEIR_TRY(host, find_host(name));
      if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) hosts.push_back(host);
    }
    return hosts;
  }

  [[nodiscard]] Result<std::uint32_t> find_host(std::string_view name) const {
    const auto found = std::find(fabric_.hosts.begin(), fabric_.hosts.end(), name);
    if (found == fabric_.hosts.end())
      return not_found_error(
          fmt::format("no host is named '{}'{}", name, did_you_mean(name, fabric_.hosts)));
    return static_cast<std::uint32_t>(found - fabric_.hosts.begin());
  }

  /// Ranks in the order of hosts as chosen, then rails.
  [[nodiscard]] Result<std::vector<Group>> groups_of(const WorkloadSpec& spec) const {
    WEIR_TRY(hosts, hosts_of(spec));
    std::vector<std::vector<NodeId>> nics_of(fabric_.hosts.size());
    int most_rails = 0;
    for (const NodeId n : fabric_.nics.ids()) {
      nics_of[fabric_.nics[n].host].push_back(n);
      most_rails = std::max(most_rails, fabric_.nics[n].rail + 1);
    }
    for (const int rail : spec.rails)
      if (rail >= most_rails)
        return invalid_error(fmt::format(
            "rail {} does not exist: hosts have {} (0 to {})", rail,
            most_rails == 1 ? "one rail" : fmt::format("{} rails", most_rails), most_rails - 1));
    const auto wanted = [&](int rail) {
      return spec.rails.empty() ||
             std::find(spec.rails.begin(), spec.rails.end(), rail) != spec.rails.end();
    };
    const bool is_one_group = spec.group == Grouping::kAll || is_graph(spec.kind);
    std::vector<Group> groups(is_one_group ? 1 : static_cast<std::size_t>(most_rails));
    for (const std::uint32_t host : hosts)
      for (const NodeId nic : nics_of[host]) {
        const int rail = fabric_.nics[nic].rail;
        if (!wanted(rail)) continue;
        groups[is_one_group ? 0 : static_cast<std::size_t>(rail)].nodes.push_back(nic);
      }
    std::erase_if(groups, [](const Group& group) { return group.nodes.empty(); });
    if (spec.kind == WorkloadKind::kTrace) return groups;
    if (groups.empty()) return invalid_error("no NIC is chosen");
    if (is_graph(spec.kind)) return groups;  // not everybody talks to everybody
    for (const Group& group : groups)
      WEIR_TRY_STATUS(check_group(group));
    return groups;
  }

  [[nodiscard]] Status check_group(const Group& group) const {
    if (group.nodes.size() < 2)
      return invalid_error(fmt::format("{} alone has nobody to talk to; choose two hosts at least",
                                       fabric_.nic_name(group.nodes.front())));
    for (const NodeId node : group.nodes)
      WEIR_TRY_STATUS(check_path(group.nodes.front(), node));
    return {};
  }

  [[nodiscard]] Status check_path(NodeId a, NodeId b) const {
    if (fabric_.nics[a].component == fabric_.nics[b].component) return {};
    return invalid_error(
        fmt::format("there is no path between {} and {}; group=rail keeps each "
                    "rail on its own",
                    fabric_.nic_name(a), fabric_.nic_name(b)));
  }

  // ---- queue pairs

  [[nodiscard]] Result<const ClassPlace*> class_named(std::string_view name) const {
    std::vector<std::string> names;
    for (const ClassPlace& cls : fabric_.classes) {
      if (cls.name == name) return &cls;
      names.push_back(cls.name);
    }
    return not_found_error(fmt::format("the design has no class '{}'{}; it has {}", name,
                                       did_you_mean(name, names), join(names, ", ")));
  }

  /// RDMA is marked as its host is configured; other classes as the design says, lossy ones without
  /// ECN.
  [[nodiscard]] TosByte tos_of(const WorkloadSpec& spec, const ClassPlace& cls, NodeId node) const {
    if (spec.tos) return *spec.tos;
    if (cls.name == design::kRdmaClass) return fabric_.nics[node].rdma_tos;
    return tos_byte(cls.dscp, spec.kind == WorkloadKind::kLossy ? Ecn::kNotEct : Ecn::kEct0);
  }

  Status add_qps(const WorkloadSpec& spec, std::string_view class_name, NodeId source,
                 NodeId target, std::uint32_t count) {
    WEIR_TRY(cls, class_named(class_name));
    Network& network = fabric_.network;
    if (network.qps.size() + count > kMostQps)
      return invalid_error(fmt::format("more than {} queue pairs; choose fewer hosts, qps or flows",
                                       with_thousands(kMostQps)));
    const std::uint64_t draw =
        mix64(network.replica_seed() ^ mix64(kPortDraw + network.qps.size()));
    QueuePair qp;
    qp.source = source;
    qp.target = target;
    qp.tos = static_cast<std::uint8_t>(tos_of(spec, *cls, source).value());
    qp.service_level = static_cast<std::uint8_t>(cls->priority.value());
    qp.operation = spec.operation;
    qp.is_socket = spec.kind == WorkloadKind::kLossy;
    for (std::uint32_t i = 0; i < count; ++i) {
      qp.source_port = static_cast<std::uint16_t>(kFirstSourcePort + (draw + i) % kSourcePorts);
      network.qps.push_back(qp);
    }
    return {};
  }

  // ---- programs

  Status add_lane(Workloads::Job& job, Group& group) {
    const auto ranks = static_cast<std::uint32_t>(group.nodes.size());
    auto plan = static_cast<std::uint32_t>(job.plans.size());
    // Groups of one size run the same program, unless it depends on who is in it.
    if (!is_stream(job.spec.kind))
      for (std::uint32_t p = 0; p < job.plans.size(); ++p)
        if (job.plans[p].program.ranks == ranks) plan = p;
    if (plan == job.plans.size()) {
      WEIR_TRY(program, program_of(job.spec, group, job.lanes.size()));
      job.plans.push_back(connect(std::move(program)));
    }
    return add_lane_of(job, plan, group);
  }

  /// The ranks of a job with a graph of its own are one lane.
  Status add_graph_lane(Workloads::Job& job, Group& group) {
    std::vector<std::uint32_t> hosts;
    for (const NodeId node : group.nodes)
      hosts.push_back(fabric_.nics[node].host);
    WEIR_TRY(graph, job_graph(job.spec, hosts));
    job.is_graph = true;
    job.phases = std::move(graph.phases);
    out_->notes_.insert(out_->notes_.end(), graph.notes.begin(), graph.notes.end());
    job.plans.push_back(connect(std::move(graph.program)));
    const Workloads::Plan& plan = job.plans.back();
    for (const Pairing& pair : plan.connections)
      WEIR_TRY_STATUS(check_path(group.nodes[pair.from], group.nodes[pair.to]));
    std::vector<Duration> computes(group.nodes.size());
    std::size_t tasks = 0;
    for (const Transfer& task : plan.program.transfers) {
      if (task.what == TaskKind::kCompute) computes[task.from] += task.takes;
      if (task.what != TaskKind::kSend) ++tasks;
    }
    job.compute = *std::max_element(computes.begin(), computes.end());
    job.ready.resize(plan.program.transfers.size());
    job.posted.resize(plan.connections.size());
    job.work.reserve(plan.program.transfers.size());
    constexpr std::size_t kSpansKept = 4'000'000;
    job.spans.reserve(std::min(tasks * job.spec.iterations, std::max(tasks, kSpansKept)));
    return add_lane_of(job, 0, group);
  }

  Status add_lane_of(Workloads::Job& job, std::uint32_t plan, Group& group) {
    Workloads::Lane lane;
    lane.plan = plan;
    lane.first_qp = fabric_.network.qps.end_id();
    lane.first_transfer = static_cast<std::uint32_t>(job.lane_of.size());
    lane.first_rank = static_cast<std::uint32_t>(job.last_byte.size());
    lane.nodes = std::move(group.nodes);
    job.last_byte.resize(job.last_byte.size() + lane.nodes.size(), -1);
    for (const Pairing& pair : job.plans[plan].connections)
      WEIR_TRY_STATUS(add_qps(job.spec, job.spec.traffic_class, lane.nodes[pair.from],
                              lane.nodes[pair.to], job.qps));
    job.lane_of.resize(job.lane_of.size() + job.plans[plan].program.transfers.size(),
                       static_cast<std::uint32_t>(job.lanes.size()));
    job.lanes.push_back(std::move(lane));
    return {};
  }

  [[nodiscard]] Result<Program> program_of(const WorkloadSpec& spec, const Group& group,
                                           std::size_t lane) const {
    const auto ranks = static_cast<std::uint32_t>(group.nodes.size());
    if (!is_stream(spec.kind)) return collective_program(spec, ranks);
    WEIR_TRY(pairs, pairs_of(spec, group, lane));
    if (pairs.size() * std::uint64_t{spec.iterations} > kMostTransfers)
      return too_many_messages(kMostTransfers);
    return stream(ranks, pairs, spec.size, spec.iterations, spec.depth);
  }

  [[nodiscard]] Result<std::vector<Pairing>> pairs_of(const WorkloadSpec& spec, const Group& group,
                                                      std::size_t lane) const {
    const auto ranks = static_cast<std::uint32_t>(group.nodes.size());
    if (spec.kind == WorkloadKind::kPermutation) {
      if (spec.shift >= ranks)
        return invalid_error(
            fmt::format("a shift of {} among {} ranks; 1 to {}", spec.shift, ranks, ranks - 1));
      return permutation(ranks, spec.shift,
                         RandomStream(fabric_.network.seed, lane, kPermutationDraw));
    }
    if (spec.kind == WorkloadKind::kPair) {
      WEIR_TRY(from, rank_of(group, spec.from, 0));
      WEIR_TRY(to, rank_of(group, spec.to, from == 1 ? 0 : 1));
      if (from == to) return invalid_error("the sender is the receiver");
      return std::vector<Pairing>{{from, to}};
    }
    WEIR_TRY(to, rank_of(group, spec.to, 0));
    const std::uint32_t senders = spec.senders == 0 ? ranks - 1 : spec.senders;
    if (senders > ranks - 1)
      return invalid_error(fmt::format("{} senders among {} other hosts", senders, ranks - 1));
    std::vector<Pairing> pairs;
    for (std::uint32_t r = 0; pairs.size() < senders; ++r)
      if (r != to) pairs.push_back({r, to});
    return pairs;
  }

  /// The first rank on the host of that name.
  [[nodiscard]] Result<std::uint32_t> rank_of(const Group& group, const std::string& name,
                                              std::uint32_t fallback) const {
    if (name.empty()) return fallback;
    WEIR_TRY(host, find_host(name));
    for (std::uint32_t r = 0; r < group.nodes.size(); ++r)
      if (fabric_.nics[group.nodes[r]].host == host) return r;
    return invalid_error(fmt::format("{} is not among the chosen hosts and rails", name));
  }

  static Workloads::Plan connect(Program program) {
    Workloads::Plan plan;
    using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
    const auto key = [](const Transfer& t) { return Key{t.channel, t.from, t.to}; };
    std::vector<Key> keys;
    keys.reserve(program.transfers.size());
    for (const Transfer& transfer : program.transfers)
      if (transfer.what == TaskKind::kSend) keys.push_back(key(transfer));
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    for (const auto& [channel, from, to] : keys)
      plan.connections.push_back({from, to});
    for (const Transfer& transfer : program.transfers)
      plan.connection.push_back(static_cast<std::uint32_t>(
          std::lower_bound(keys.begin(), keys.end(), key(transfer)) - keys.begin()));
    plan.program = std::move(program);
    return plan;
  }

  /// The messages that can go at once are the network's; the others are room.
  Status add_job(Workloads::Job job) {
    job.rounds = rounds_of(job.spec);
    if (!job.is_graph && job.spec.kind == WorkloadKind::kTraining) job.compute = job.spec.compute;
    // The fabric comes to rest where computing is not only beside what is sent.
    job.repeats = has_steps(job.spec.kind) && job.rounds > 1 && job.compute.raw() > 0;
    job.waits.resize(job.lane_of.size());
    job.parts.resize(job.lane_of.size());
    job.steps.reserve(job.rounds);
    out_->begin_round(job);
    std::uint64_t per_round = 0;
    for (const std::uint32_t parts : job.parts)
      per_round += parts;
    job.messages = per_round * job.rounds;
    job.per_round = per_round;
    const bool may_repeat = replays_ && job.repeats && 2 * per_round <= kMostMessages;
    const std::uint64_t kept = may_repeat ? std::min(job.messages, kMostMessages) : job.messages;
    if (kept > kMostMessages) return too_many_messages(kMostMessages);
    const auto index = static_cast<std::uint32_t>(out_->jobs_.size());
    for (std::uint32_t t = 0; t < job.lane_of.size(); ++t)
      if (job.waits[t] == 0) job.first.push_back(t);
    out_->begin_tasks(job, [&](std::uint32_t t, Ps at) {
      const Workloads::Lane& lane = job.lanes[job.lane_of[t]];
      const Workloads::Plan& plan = job.plans[lane.plan];
      const Transfer& transfer = plan.program.transfers[t - lane.first_transfer];
      const QpId first = lane.first_qp + plan.connection[t - lane.first_transfer] * job.qps;
      for (std::uint32_t p = 0; p < job.parts[t]; ++p) {
        fabric_.network.messages.push_back(
            {first + p, part_of(transfer.size, job.parts[t], p), Time::at(Duration::raw(at))});
        out_->owner_.push_back({index, t});
      }
      job.first_messages += job.parts[t];
    });
    job.left_at_begin = job.left;
    spare_ += kept - job.first_messages;
    out_->jobs_.push_back(std::move(job));
    return {};
  }

  // ---- flows that nothing depends on

  struct OpenFlow {
    Time at;
    NodeId from;
    NodeId to;
    Bytes size;
  };

  Status add_flow(const WorkloadSpec& spec, std::string_view class_name, const OpenFlow& flow) {
    const QpId qp = fabric_.network.qps.end_id();
    WEIR_TRY_STATUS(add_qps(spec, class_name, flow.from, flow.to, 1));
    fabric_.network.messages.push_back({qp, flow.size, flow.at});
    out_->owner_.push_back({static_cast<std::uint32_t>(out_->jobs_.size() - 1), Workloads::kNone});
    ++out_->jobs_.back().messages;
    return {};
  }

  Status add_flows(const WorkloadSpec& spec, const Group& group) {
    OpenLoop open;
    if (spec.sizes.empty())
      open.fixed_size = spec.size;
    else
      open.sizes = find_distribution(spec.sizes);
    open.sources = static_cast<std::uint32_t>(group.nodes.size());
    open.rate = BitRate::max();
    for (const NodeId node : group.nodes)
      open.rate = std::min(open.rate, fabric_.nics[node].speed);
    open.load = spec.load;
    open.start = spec.start;
    open.duration = spec.duration;
    const std::uint64_t purpose = mix64(out_->jobs_.size()) ^ to_index(group.nodes.front());
    const auto arrivals =
        poisson_arrivals(open, fabric_.network.replica_seed(), purpose, kMostFlows);
    if (arrivals.size() >= kMostFlows)
      return invalid_error(
          fmt::format("more than {} flows; choose a shorter duration, fewer hosts "
                      "or a lower load",
                      with_thousands(kMostFlows)));
    for (const Arrival& flow : arrivals)
      WEIR_TRY_STATUS(add_flow(spec, spec.traffic_class,
                               {flow.at, group.nodes[flow.from], group.nodes[flow.to], flow.size}));
    return {};
  }

  Status add_trace(const WorkloadSpec& spec) {
    WEIR_TRY(text, read_file(spec.file));
    std::size_t number = 0;
    for (const std::string_view raw : split(text, '\n')) {
      ++number;
      const std::string_view line = trim(raw.substr(0, raw.find('#')));
      if (line.empty() || line.starts_with("start_us")) continue;
      const Status status = add_trace_line(spec, line);
      if (!status) return status.error().within(fmt::format("{}:{}", spec.file, number));
    }
    if (out_->jobs_.back().messages == 0)
      return invalid_error(fmt::format("{} has no flows", spec.file));
    return {};
  }

  Status add_trace_line(const WorkloadSpec& spec, std::string_view line) {
    const auto fields = split(line, ',');
    if (fields.size() < 4 || fields.size() > 5)
      return parse_error(
          fmt::format("expected start_us,source,target,bytes[,class], found '{}'", line));
    WEIR_TRY(start, parse_duration(std::string(trim(fields[0])) + "us"));
    WEIR_TRY(from, nic_named(trim(fields[1])));
    WEIR_TRY(to, nic_named(trim(fields[2])));
    if (from == to) return invalid_error("a flow from a NIC to itself");
    WEIR_TRY_STATUS(check_path(from, to));
    const auto size = parse_u64(trim(fields[3]));
    if (!size || *size == 0 || *size > std::uint64_t{1} << 40U)
      return parse_error(fmt::format("expected a number of bytes, found '{}'", trim(fields[3])));
    return add_flow(spec, fields.size() == 5 ? trim(fields[4]) : spec.traffic_class,
                    {spec.start + start, from, to, Bytes::raw(static_cast<std::int64_t>(*size))});
  }

  /// "gpu01", "gpu01:2" or "gpu01:mlx5_2".
  [[nodiscard]] Result<NodeId> nic_named(std::string_view name) const {
    const std::size_t colon = name.find(':');
    WEIR_TRY(host, find_host(name.substr(0, colon)));
    const std::string_view which = colon == std::string_view::npos ? "0" : name.substr(colon + 1);
    for (const NodeId n : fabric_.nics.ids()) {
      const NicPlace& nic = fabric_.nics[n];
      if (nic.host == host && (nic.device == which || std::to_string(nic.rail) == which)) return n;
    }
    return not_found_error(fmt::format("{} has no NIC '{}'; write a rail (0, 1, …) or a device",
                                       fabric_.hosts[host], which));
  }

  Fabric& fabric_;
  bool replays_;
  std::unique_ptr<Workloads> out_{new Workloads};
  std::size_t spare_ = 0;
};

Result<std::unique_ptr<Workloads>> Workloads::add(Fabric& fabric,
                                                  const std::vector<WorkloadSpec>& specs,
                                                  bool replays) {
  WorkloadBuilder builder(fabric, replays);
  for (const WorkloadSpec& spec : specs) {
    const Status status = builder.add(spec);
    if (!status) return status.error().within("workload " + std::string(row_of(spec.kind).name));
  }
  return builder.finish();
}

void Workloads::start(Sim& sim) {
  sim_ = &sim;
  sim.set_driver(this);
}

/// A step computes first; the collective begins while it still does, where they overlap.
Time Workloads::first_post(const Job& job) {
  if (job.spec.kind != WorkloadKind::kTraining) return job.begin;
  return job.begin + (job.spec.compute - share_of(job.spec.compute, job.spec.overlap));
}

/// As many messages as queue pairs, none of them empty.
std::uint32_t Workloads::parts_of(const Job& job, Bytes size) const {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(size.raw(), 1, job.qps));
}

void Workloads::begin_round(Job& job) {
  for (std::uint32_t t = 0; t < job.lane_of.size(); ++t) {
    const Lane& lane = job.lanes[job.lane_of[t]];
    const Transfer& transfer = job.plans[lane.plan].program.transfers[t - lane.first_transfer];
    job.waits[t] = transfer.needs;
    job.parts[t] = transfer.what == TaskKind::kSend ? parts_of(job, transfer.size) : 0;
  }
  job.left = static_cast<std::uint32_t>(job.lane_of.size());
  std::fill(job.ready.begin(), job.ready.end(), 0);
  job.first_post = -1;
  job.latest = 0;
}

/// Messages of a connection are posted in the order in which they are known of.
Ps Workloads::post_time(Job& job, std::uint32_t connection, Ps at) {
  if (!job.is_graph) return at;
  at = std::max(at, job.posted[connection]);
  job.posted[connection] = at;
  if (job.first_post < 0 || at < job.first_post) job.first_post = at;
  return at;
}

/// Time of a task is known as soon as it begins, so no clock is needed: what follows it is posted
/// for later.
template <class Post>
void Workloads::work_off(Job& job, Post post) {
  while (!job.work.empty()) {
    const auto [task, at] = job.work.back();
    job.work.pop_back();
    const Lane& lane = job.lanes[job.lane_of[task]];
    const Plan& plan = job.plans[lane.plan];
    const std::uint32_t local = task - lane.first_transfer;
    const Transfer& transfer = plan.program.transfers[local];
    if (transfer.what == TaskKind::kSend) {
      post(task, post_time(job, plan.connection[local], at));
      continue;
    }
    const Ps end = at + transfer.takes.raw();
    --job.left;
    if (job.spans.size() < job.spans.capacity() && end > at) job.spans.push_back({task, at, end});
    finish_task(job, task, end,
                [&](std::uint32_t next, Ps begin) { job.work.emplace_back(next, begin); });
  }
}

/// `post` gets what can begin now, in the order of the program.
template <class Post>
void Workloads::finish_task(Job& job, std::uint32_t task, Ps at, Post post) {
  const Lane& lane = job.lanes[job.lane_of[task]];
  const Program& program = job.plans[lane.plan].program;
  const Transfer& transfer = program.transfers[task - lane.first_transfer];
  note_last_byte(job.last_byte[lane.first_rank + transfer.to], at);
  if (job.is_graph) job.latest = std::max(job.latest, at);
  for (std::uint32_t i = 0; i < transfer.next_count; ++i) {
    const std::uint32_t next = lane.first_transfer + program.next[transfer.first_next + i];
    if (job.is_graph) job.ready[next] = std::max(job.ready[next], at);
    if (--job.waits[next] == 0) post(next, job.is_graph ? job.ready[next] : at);
  }
}

template <class Post>
void Workloads::begin_tasks(Job& job, Post post) {
  const Ps begin = first_post(job).since_start().raw();
  for (const std::uint32_t task : job.first) {
    if (!job.is_graph) {
      post(task, begin);
      continue;
    }
    job.work.emplace_back(task, begin);
    work_off(job, post);
  }
}

void Workloads::post_transfer(std::uint32_t job_index, std::uint32_t transfer_index, Time at) {
  Job& job = jobs_[job_index];
  const Lane& lane = job.lanes[job.lane_of[transfer_index]];
  const Plan& plan = job.plans[lane.plan];
  const std::uint32_t local = transfer_index - lane.first_transfer;
  const Transfer& transfer = plan.program.transfers[local];
  const QpId first = lane.first_qp + plan.connection[local] * job.qps;
  const std::uint32_t parts = job.parts[transfer_index];
  for (std::uint32_t p = 0; p < parts; ++p) {
    const MessageId message = sim_->post(first + p, part_of(transfer.size, parts, p), at);
    WEIR_CHECK(owner_.contains(message));
    owner_[message] = {job_index, transfer_index};
  }
}

void Workloads::on_sent(MessageId message, Ps now) {
  if (!owner_.contains(message)) return;
  const Owner owner = owner_[message];
  if (owner.transfer != kNone && !jobs_[owner.job].on_delivery) advance(owner, now);
}

void Workloads::on_delivered(MessageId message, Ps now) {
  if (!owner_.contains(message)) return;
  const Owner owner = owner_[message];
  if (owner.transfer != kNone && jobs_[owner.job].on_delivery) advance(owner, now);
}

void Workloads::on_call(std::uint32_t job, Ps now) {
  if (--jobs_[job].left == 0) end_round(job, Time::at(Duration::raw(now)));
}

void Workloads::on_numbered(MessageId first, std::span<const MessageId> order) {
  std::vector<Owner> owners;
  owners.reserve(order.size());
  for (const MessageId old : order)
    owners.push_back(owner_[old]);
  std::copy(owners.begin(), owners.end(), owner_.begin() + to_index(first));
}

/// Everything of a transfer happens at the NIC that waits for it: what comes next there is posted
/// at once. The end of a round is everybody's. A graph's tasks begin in an order that is the whole
/// job's, so one thread simulates it.
Threads Workloads::threads(unsigned count) const {
  std::optional<Duration> reach;
  for (const Job& job : jobs_) {
    if (job.is_graph) return {};
    for (const Plan& plan : job.plans)
      for (const Transfer& transfer : plan.program.transfers)
        for (std::uint32_t i = 0; i < transfer.next_count; ++i) {
          const std::uint32_t next = plan.program.next[transfer.first_next + i];
          const std::uint32_t here = job.on_delivery ? transfer.to : transfer.from;
          if (plan.program.transfers[next].from != here) return {};
        }
    if (!is_open_loop(job.spec.kind) && job.rounds > 1)
      reach = std::min(reach.value_or(Duration::max()), first_post(job) - job.begin);
  }
  return {count, reach};
}

void Workloads::advance(const Owner& owner, Ps at) {
  Job& job = jobs_[owner.job];
  if (--job.parts[owner.transfer] > 0) return;
  const auto post = [&](std::uint32_t next, Ps when) {
    post_transfer(owner.job, next, Time::at(Duration::raw(when)));
  };
  if (job.is_graph) {
    finish_task(job, owner.transfer, at,
                [&](std::uint32_t next, Ps when) { job.work.emplace_back(next, when); });
    work_off(job, post);
  } else {
    finish_task(job, owner.transfer, at, post);
  }
  const Lane& lane = job.lanes[job.lane_of[owner.transfer]];
  const Transfer& transfer =
      job.plans[lane.plan].program.transfers[owner.transfer - lane.first_transfer];
  sim_->call_in_order(lane.nodes[job.on_delivery ? transfer.to : transfer.from], owner.job);
}

/// Of the ranks that get anything: the last one, the first of them where several are.
void Workloads::find_straggler(const Job& job, StepResult& step) {
  std::vector<Ps> times;
  Ps last = -1;
  const Ps begin = step.communication.since_start().raw();
  for (const Lane& lane : job.lanes)
    for (std::uint32_t r = 0; r < lane.nodes.size(); ++r) {
      const Ps at = job.last_byte[lane.first_rank + r];
      if (at < begin) continue;
      times.push_back(at);
      if (at <= last) continue;
      last = at;
      step.straggler = lane.nodes[r];
    }
  if (times.empty()) return;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  step.late = Duration::raw(last - *middle);
}

void Workloads::end_round(std::uint32_t job_index, Time now) {
  Job& job = jobs_[job_index];
  Time end = now;
  if (job.spec.kind == WorkloadKind::kTraining) end = std::max(end, job.begin + job.spec.compute);
  if (job.is_graph) end = Time::at(Duration::raw(job.latest));
  const Time posted = job.is_graph ? Time::at(Duration::raw(job.first_post)) : first_post(job);
  StepResult step{job.begin, posted, now, end, job.compute, kNo<NodeId>, Duration()};
  find_straggler(job, step);
  job.steps.push_back(step);
  if (job.steps.size() == job.rounds) return;
  job.begin = end;
  begin_round(job);
  if (sim_->posted() + job.per_round > owner_.size()) {
    is_out_of_room_ = true;
    return;
  }
  begin_tasks(job, [&](std::uint32_t transfer, Ps at) {
    post_transfer(job_index, transfer, Time::at(Duration::raw(at)));
  });
}

// ---- exact replay

bool Workloads::has_rounds_to_repeat() const {
  return std::any_of(jobs_.begin(), jobs_.end(),
                     [](const Job& job) { return job.repeats && job.steps.size() < job.rounds; });
}

std::optional<WorkloadMark> Workloads::mark() const {
  WorkloadMark out;
  std::uint64_t pending = 0;
  for (const Job& job : jobs_) {
    const bool is_over = is_open_loop(job.spec.kind) || job.steps.size() == job.rounds;
    if (!is_over && job.left != job.left_at_begin) return std::nullopt;
    if (!is_over) pending += job.first_messages;
    out.jobs.push_back({job.steps.size(), job.begin, is_over});
  }
  if (pending != sim_->open_messages()) return std::nullopt;
  return out;
}

RoundsAgain Workloads::rounds_again(const WorkloadMark& before, const WorkloadMark& now,
                                    Duration period) const {
  std::uint64_t fewest = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t most = 0;
  std::uint64_t before_last = fewest;
  bool ends_whole = true;
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    const WorkloadMark::Job& then = before.jobs[j];
    const WorkloadMark::Job& here = now.jobs[j];
    if (then.is_over) continue;
    const std::uint64_t done = here.steps - then.steps;
    if (here.is_over || done == 0 || here.begin - then.begin != period) return {};
    const std::uint64_t left = jobs_[j].rounds - here.steps;
    ends_whole = ends_whole && left % done == 0;
    fewest = std::min(fewest, left / done);
    most = std::max(most, left / done);
    before_last = std::min(before_last, (left - 1) / done);
  }
  if (ends_whole && fewest == most) return {most, true};
  return {before_last, false};
}

std::uint64_t Workloads::rounds_left_alone() const {
  const Job* only = nullptr;
  for (const Job& job : jobs_) {
    if (is_open_loop(job.spec.kind) || job.steps.size() == job.rounds) continue;
    if (only != nullptr || job.is_graph || !job.repeats) return 0;
    only = &job;
  }
  return only == nullptr ? 0 : only->rounds - only->steps.size();
}

std::uint64_t Workloads::repeat(const WorkloadMark& before, std::uint64_t times, Duration period) {
  std::uint64_t rounds = 0;
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    if (before.jobs[j].is_over) continue;
    Job& job = jobs_[j];
    const std::size_t first = before.jobs[j].steps;
    const std::size_t end = job.steps.size();
    for (std::uint64_t k = 1; k <= times; ++k)
      for (std::size_t s = first; s < end; ++s)
        job.steps.push_back(job.steps[s].later(period * static_cast<std::int64_t>(k)));
    const Duration shift = period * static_cast<std::int64_t>(times);
    std::erase_if(job.spans, [&](const Span& span) {  // of the round to come
      return span.begin >= job.begin.since_start().raw();
    });
    job.spans.shrink_to_fit();  // and none of later ones
    job.begin = job.begin + shift;
    for (auto* const values : {&job.ready, &job.posted})
      for (Ps& value : *values)
        if (value > 0) value += shift.raw();
    if (job.is_graph && job.first_post >= 0) job.first_post += shift.raw();
    if (job.is_graph) job.latest += shift.raw();
    rounds += (end - first) * times;
  }
  return rounds;
}

std::uint64_t Workloads::message_count() const {
  std::uint64_t count = 0;
  for (const Job& job : jobs_)
    count += job.messages;
  return count;
}

bool Workloads::finished() const {
  return std::all_of(jobs_.begin(), jobs_.end(),
                     [&](const Job& job) {
                       return is_open_loop(job.spec.kind) || job.steps.size() == job.rounds;
                     }) &&
         std::none_of(sim_->messages().begin(), sim_->messages().end(),
                      [](const MessageRecord& m) { return m.state == MessageState::kPosted; });
}

std::vector<Flow> Workloads::flows(std::size_t workload) const {
  std::vector<Flow> out;
  for (const MessageId m : sim_->messages().ids())
    if (owner_.contains(m) && owner_[m].job == workload) out.push_back(flow_of(*sim_, m));
  return out;
}

/// Of all jobs in one pass over the messages.
void Workloads::count_messages(std::vector<WorkloadResult>& results) const {
  std::vector<std::vector<TimesOf>> times(jobs_.size());
  const auto add = [&](MessageId m, std::uint64_t count, Ps) {
    if (!owner_.contains(m)) return;
    WorkloadResult& result = results[owner_[m].job];
    const MessageRecord& message = sim_->messages()[m];
    if (message.state == MessageState::kFailed) result.failed += count;
    if (message.state != MessageState::kDone) return;
    result.completed += count;
    result.bytes += Bytes::raw(message.size) * static_cast<std::int64_t>(count);
    times[owner_[m].job].push_back({Duration::raw(message.done - message.post), count});
  };
  for_each_with_count(sim_->repeats(), sim_->messages().end_id(), add);
  for (std::size_t j = 0; j < jobs_.size(); ++j)
    results[j].completion = completion_times_of(std::move(times[j]));
}

std::vector<WorkloadResult> Workloads::results() const {
  std::vector<WorkloadResult> out;
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    const Job& job = jobs_[j];
    WorkloadResult result;
    result.label = job.spec.label;
    result.kind = job.spec.kind;
    result.messages = job.messages;
    result.groups = static_cast<std::uint32_t>(job.lanes.size());
    result.steps = job.steps;
    measure(job, result);
    out.push_back(std::move(result));
  }
  count_messages(out);
  for (WorkloadResult& result : out)
    result.finished = result.completed == result.messages;
  return out;
}

void Workloads::measure(const Job& job, WorkloadResult& result) const {
  if (job.lanes.empty()) return;
  BitRate slowest = BitRate::max();
  for (const Lane& lane : job.lanes) {
    result.ranks = std::max(result.ranks, static_cast<std::uint32_t>(lane.nodes.size()));
    for (const NodeId node : lane.nodes)
      slowest = std::min(slowest, nic_rate_[node]);
  }
  if (is_stream(job.spec.kind)) return;
  if (job.is_graph) return measure_phases(job, result);
  const auto n = static_cast<int>(result.ranks);
  const model::Collective collective{n, job.spec.size, slowest, Duration()};
  double size = static_cast<double>(job.spec.size.raw());
  double factor = static_cast<double>(n - 1) / n;
  const WorkloadKind kind = collective_of(job.spec);
  if (kind == WorkloadKind::kAllToAll) {
    result.bound = model::all_to_all_nic_bound({n, job.spec.size, slowest});
    size *= n;
  } else if (kind == WorkloadKind::kAllReduce) {
    result.bound = model::all_reduce_bound(collective);
    factor *= 2;
  } else {
    result.bound = model::ring_all_gather(collective);
  }
  if (job.steps.empty()) return;
  double seconds = 0;
  for (const StepResult& step : job.steps)
    seconds +=
        static_cast<double>((step.communicated - step.communication).raw()) / kPicosecondsPerSecond;
  seconds /= static_cast<double>(job.steps.size());
  result.algorithm_bandwidth = size * 8 / seconds;
  result.bus_bandwidth = *result.algorithm_bandwidth * factor;
}

/// A phase lasts from the barrier before it to its last task.
void Workloads::measure_phases(const Job& job, WorkloadResult& result) const {
  if (job.steps.empty()) return;  // phases are of one round
  const auto n = static_cast<double>(result.ranks);
  for (std::size_t p = 0; p < job.phases.size(); ++p) {
    const GraphPhase& phase = job.phases[p];
    const Ps begin = p == 0 ? job.steps[0].begin.since_start().raw() : job.ready[phase.first];
    const Ps end = p + 1 < job.phases.size() ? job.ready[job.phases[p + 1].first] : job.latest;
    PhaseResult out{phase.name, phase.size, phase.iterations,
                    Duration::raw(end - begin) / std::int64_t{phase.iterations}};
    const double seconds = static_cast<double>(out.time.raw()) / kPicosecondsPerSecond;
    out.algorithm_bandwidth = static_cast<double>(phase.size.raw()) * 8 / seconds;
    const double once = (n - 1) / n;
    out.bus_bandwidth = out.algorithm_bandwidth *
                        (phase.collective == StepCollective::kAllReduce ? 2 * once : once);
    result.phases.push_back(std::move(out));
  }
}

std::vector<RankTimes> Workloads::rank_times() const {
  std::vector<RankTimes> out;
  std::vector<std::size_t> place(jobs_.size());
  for (std::size_t j = 0; j < jobs_.size(); ++j) {
    const Job& job = jobs_[j];
    if (!has_steps(job.spec.kind) && !job.is_graph) continue;
    RankTimes times{job.spec.label, {}, {}, {}};
    for (const Lane& lane : job.lanes)
      times.nodes.insert(times.nodes.end(), lane.nodes.begin(), lane.nodes.end());
    // As many steps as were simulated and kept.
    const std::uint64_t messages = sim_->messages().size();
    const std::uint64_t kept =
        std::max<std::uint64_t>(messages / std::max<std::uint64_t>(job.per_round, 1), 1);
    times.steps.assign(job.steps.begin(),
                       job.steps.begin() + static_cast<std::ptrdiff_t>(
                                               std::min<std::uint64_t>(kept, job.steps.size())));
    for (const Span& span : job.spans) {
      const Transfer& task = job.plans[0].program.transfers[span.task];
      if (task.what == TaskKind::kWait) continue;
      const auto add = [&](std::uint32_t rank) {
        times.spans.push_back({rank, task.what, Time::at(Duration::raw(span.begin)),
                               Time::at(Duration::raw(span.end))});
      };
      add(task.from);
      if (task.to != task.from) add(task.to);
    }
    if (!job.is_graph)
      for (const StepResult& step : times.steps)
        for (std::uint32_t rank = 0; rank < times.nodes.size(); ++rank)
          times.spans.push_back(
              {rank, TaskKind::kCompute, step.begin, step.begin + job.spec.compute});
    place[j] = out.size();
    out.push_back(std::move(times));
  }
  add_messages(out, place);
  return out;
}

/// When messages of each rank were under way, sent or received.
void Workloads::add_messages(std::vector<RankTimes>& out,
                             const std::vector<std::size_t>& place) const {
  for (const MessageId m : sim_->messages().ids()) {
    if (!owner_.contains(m) || owner_[m].transfer == kNone) continue;
    const Job& job = jobs_[owner_[m].job];
    const MessageRecord& message = sim_->messages()[m];
    if ((!has_steps(job.spec.kind) && !job.is_graph) || message.state != MessageState::kDone)
      continue;
    const Lane& lane = job.lanes[job.lane_of[owner_[m].transfer]];
    const Transfer& transfer =
        job.plans[lane.plan].program.transfers[owner_[m].transfer - lane.first_transfer];
    for (const std::uint32_t rank : {transfer.from, transfer.to})
      out[place[owner_[m].job]].spans.push_back({lane.first_rank + rank, TaskKind::kSend,
                                                 Time::at(Duration::raw(message.post)),
                                                 Time::at(Duration::raw(message.delivered))});
  }
}

}  // namespace weir::sim
