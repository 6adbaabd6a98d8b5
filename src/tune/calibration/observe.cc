#include "tune/calibration/observe.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/engine/sim.h"
#include "sim/fabric/from_design.h"
#include "sim/workload/workload.h"

namespace weir::tune {
namespace {

using sim::NodeId;
using sim::QpId;

constexpr double kPsPerMs = 1e9;
constexpr double kPsPerMicrosecond = 1e6;
constexpr Duration kSettling = 1500_us;  // DCQCN's slowest timer is 300 us
constexpr Duration kWatched = 4_ms;
constexpr Duration kJoinAt = 100_us;
constexpr Duration kAfterJoin = 600_us;
constexpr std::uint32_t kLatencyMessages = 16;
constexpr std::uint32_t kJoinSeeds = 12;
constexpr std::int64_t kLeastPackets = 400;  // in a window, however slow the link

/// What was counted up to a moment.
struct Tally {
  double delivered = 0;  // bytes of the senders
  double marks = 0;
  double packets = 0;  // received by the receiver
  double cnps = 0;
  double pauses = 0;
};

class TrialRun {
 public:
  TrialRun(const design::Intent& intent, const CalibrationPlan& plan, const Trial& trial)
      : intent_(intent), plan_(plan), trial_(trial) {}

  Status build(const design::Design& design, std::uint64_t seed) {
    WEIR_TRY(fabric, sim::build_network(design, intent_, {.seed = seed}));
    if (!trial_.has_reaction_point)
      for (sim::NicConfig& nic : fabric.network.nics) {
        nic.rp_enabled = false;
        nic.congestion_control = "none";
      }
    receiver_ = node_of(fabric, trial_.receiver);
    for (const std::string& sender : trial_.senders)
      senders_.push_back(node_of(fabric, sender));
    if (!trial_.probe.empty()) probe_ = node_of(fabric, trial_.probe);
    speed_ = fabric.nics[receiver_].speed;
    set_times(fabric, design);
    WEIR_TRY(load, sim::Workloads::add(fabric, specs()));
    load_ = std::move(load);
    WEIR_TRY(made, sim::Sim::make(std::move(fabric.network)));
    sim_ = std::move(made);
    load_->start(*sim_);
    return {};
  }

  Result<std::vector<double>> watch() {
    if (trial_.kind == TrialKind::kLatency) {
      sim_->run(Time::at(100_s));
      return std::vector<double>{mean_latency(senders_.front(), Time())};
    }
    sim_->run_until(Time::at(settling_));
    const Tally before = tally();
    sim_->run_until(Time::at(settling_ + watched_));
    const Tally after = tally();
    const auto ms = static_cast<double>(watched_.raw()) / kPsPerMs;
    std::vector<double> out;
    for (const Statistic statistic : statistics_of(trial_))
      out.push_back(value_of(statistic, before, after, ms));
    return out;
  }

 private:
  [[nodiscard]] NodeId node_of(const sim::Fabric& fabric, std::string_view host) const {
    for (const NodeId node : fabric.nics.ids())
      if (fabric.hosts[fabric.nics[node].host] == host && fabric.nics[node].rail == plan_.rail)
        return node;
    WEIR_UNREACHABLE("check_plan() knows every host");
  }

  /// Long enough for the queue to be full without a reaction point, and for a probe to cross it
  /// several times; in every case for some hundred packets.
  void set_times(const sim::Fabric& fabric, const design::Design& design) {
    const Duration packet =
        serialization_time(Bytes::raw(4'096 + 82), std::max(speed_, BitRate::raw(1'000'000)));
    const double rate =
        static_cast<double>(
            std::max(design.calibration.host_rate.value_or(100_percent), 1_percent).raw()) /
        static_cast<double>(kSharePerWhole);
    const auto least = Duration::raw(
        static_cast<std::int64_t>(static_cast<double>((packet * kLeastPackets).raw()) / rate));
    if (trial_.kind == TrialKind::kJoin) {
      settling_ = kJoinAt;
      watched_ = kAfterJoin;
      return;
    }
    settling_ = std::max(trial_.kind == TrialKind::kIncast ? kSettling : 200_us, least);
    watched_ = std::max(trial_.kind == TrialKind::kIncast ? kWatched : 500_us, least * 2);
    if (trial_.has_reaction_point || trial_.kind != TrialKind::kIncast) return;
    const Duration full = full_queue_time(fabric);
    settling_ = full + 200_us;
    // A level is cheap to hold, and its marks are rare.
    watched_ = std::max(trial_.is_level ? 3_ms : 1_ms, full * 2);
  }

  /// Time that the most the senders' ingress groups may hold takes on the receiver's link.
  [[nodiscard]] Duration full_queue_time(const sim::Fabric& fabric) const {
    std::int64_t most = 0;
    for (const sim::SwitchConfig& config : fabric.network.switches)
      for (const sim::IngressGroup& group : config.groups) {
        if (!group.lossless) continue;
        const auto n = static_cast<std::int64_t>(senders_.size());
        std::int64_t each = config.buffer.raw() / (n + 1);
        if (group.static_threshold) each = group.static_threshold->raw();
        if (group.alpha) {
          const double alpha = std::ldexp(1.0, group.alpha->log2());
          each = static_cast<std::int64_t>(alpha * static_cast<double>(config.buffer.raw()) /
                                           (1 + alpha * static_cast<double>(n)));
        }
        most = std::max(most, each * n);
      }
    // No more than the senders have outstanding.
    const std::int64_t outstanding =
        static_cast<std::int64_t>(senders_.size()) * trial_.qps * trial_.depth * trial_.size.raw();
    return serialization_time(Bytes::raw(std::min(most, outstanding)), speed_) * 5 / 4;
  }

  [[nodiscard]] sim::WorkloadSpec pair(const std::string& from, Bytes size, std::uint32_t count,
                                       std::uint32_t depth, int qps) const {
    sim::WorkloadSpec spec = sim::parse_workload("pair").value();
    spec.from = from;
    spec.to = trial_.receiver;
    spec.hosts = from + "," + trial_.receiver;
    spec.rails = {plan_.rail};
    spec.qps = qps;
    spec.size = size * qps;
    spec.iterations = count;
    spec.depth = depth;
    return spec;
  }

  /// Messages of a connection that last until the end.
  [[nodiscard]] std::uint32_t endless(Bytes size, int qps) const {
    const Bytes all = bytes_in((settling_ + watched_) * 5 / 4, speed_);
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(
        all.raw() / (size * qps).raw() + trial_.depth, trial_.depth, 1'000'000));
  }

  [[nodiscard]] std::vector<sim::WorkloadSpec> specs() const {
    std::vector<sim::WorkloadSpec> out;
    if (trial_.kind == TrialKind::kLatency)
      return {pair(trial_.senders.front(), trial_.size, kLatencyMessages, 1, 1)};
    for (std::size_t i = 0; i < trial_.senders.size(); ++i) {
      const bool is_joining = trial_.kind == TrialKind::kJoin && i + 1 == trial_.senders.size();
      const std::uint32_t count = is_joining ? kJoinMessages : endless(trial_.size, trial_.qps);
      const auto depth = static_cast<std::uint32_t>(trial_.depth);
      out.push_back(
          pair(trial_.senders[i], trial_.size, count, std::min(depth, count), trial_.qps));
      if (is_joining) out.back().start = Time::at(kJoinAt);
    }
    if (!trial_.probe.empty()) out.push_back(pair(trial_.probe, 2_B, 5'000, 1, 1));
    return out;
  }

  [[nodiscard]] bool is_sender(NodeId node) const {
    return std::find(senders_.begin(), senders_.end(), node) != senders_.end();
  }

  [[nodiscard]] Tally tally() const {
    Tally out;
    const auto& qps = sim_->network().qps;
    for (const QpId qp : qps.ids())
      if (is_sender(qps[qp].source)) out.delivered += static_cast<double>(sim_->qp_delivered(qp));
    const sim::NicCounters& nic = sim_->nic_counters(receiver_);
    out.marks = static_cast<double>(nic.ce_received);
    out.cnps = static_cast<double>(nic.cnp_sent);
    out.packets = static_cast<double>(sim_->port_counters(sim_->port_of(receiver_, 0)).rx_frames);
    for (const NodeId sender : senders_) {
      const sim::PortCounters counters = sim_->port_counters(sim_->port_of(sender, 0));
      for (const std::uint64_t pauses : counters.pause_rx)
        out.pauses += static_cast<double>(pauses);
    }
    return out;
  }

  /// Of messages from `node` that were posted since `from` and have arrived.
  [[nodiscard]] double mean_latency(NodeId node, Time from) const {
    const auto& messages = sim_->messages();
    const auto asked_before = sim_->network().nic_config(node).message_latency.raw();
    double sum = 0;
    double count = 0;
    double last = 0;
    for (const sim::MessageRecord& message : messages) {
      if (sim_->network().qps[message.qp].source != node || message.delivered == sim::kNever)
        continue;
      const sim::Ps asked = message.post - asked_before;
      last = static_cast<double>(message.delivered - asked);
      if (asked < from.since_start().raw()) continue;
      sum += last;
      ++count;
    }
    return (count > 0 ? sum / count : last) / kPsPerMicrosecond;
  }

  [[nodiscard]] double value_of(Statistic statistic, const Tally& before, const Tally& after,
                                double ms) const {
    const double packets = after.packets - before.packets;
    switch (statistic) {
      case Statistic::kBandwidth: return (after.delivered - before.delivered) * 8 / ms / 1e6;
      case Statistic::kProbeLatency: return mean_latency(*probe_, Time::at(settling_));
      case Statistic::kMarkShare: return packets > 0 ? (after.marks - before.marks) / packets : 0;
      case Statistic::kCnpRate: return (after.cnps - before.cnps) / ms;
      case Statistic::kPauseRate: return (after.pauses - before.pauses) / ms;
      case Statistic::kJoinMarks: return after.marks - before.marks;
      case Statistic::kJoinCnps: return after.cnps - before.cnps;
      case Statistic::kLatency: break;
    }
    WEIR_UNREACHABLE("watch() measures the latency of an idle path");
  }

  const design::Intent& intent_;
  const CalibrationPlan& plan_;
  const Trial& trial_;
  NodeId receiver_{0};
  std::vector<NodeId> senders_;
  std::optional<NodeId> probe_;
  BitRate speed_;
  Duration settling_;
  Duration watched_;
  std::unique_ptr<sim::Workloads> load_;
  std::unique_ptr<sim::Sim> sim_;
};

}  // namespace

Result<std::vector<double>> observe(const design::Design& design, const design::Intent& intent,
                                    const CalibrationPlan& plan, const Trial& trial,
                                    const Assumption& assumption, std::uint64_t seed) {
  design::Design assumed = design;
  write_values(assumption.values, assumption.is_set, assumed.calibration);
  assumed.calibration.cnp_scope.write(assumption.cnp_scope, {});
  // A join is short: several of them are one observation, as on a host.
  const std::uint32_t runs = trial.kind == TrialKind::kJoin ? kJoinSeeds : 1;
  std::vector<double> out;
  for (std::uint32_t run = 0; run < runs; ++run) {
    TrialRun made(intent, plan, trial);
    WEIR_TRY_STATUS(made.build(assumed, seed * runs + run));
    WEIR_TRY(values, made.watch());
    out.resize(values.size(), 0);
    for (std::size_t i = 0; i < values.size(); ++i)
      out[i] += values[i] / runs;
  }
  return out;
}

}  // namespace weir::tune
