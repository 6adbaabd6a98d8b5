#include "lab/fabric/testbed.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/check.h"
#include "design/file/load.h"
#include "evidence/as_set.h"
#include "lab/fabric/recorder.h"
#include "sim/fabric/from_design.h"
#include "sim/results/replay.h"
#include "sim/results/sampler.h"

namespace weir::lab {
namespace {

using design::Intent;
using design::SwitchIntent;

/// A switch as shipped: it classifies by VLAN priority, which routed frames do not have, sends no
/// pauses, marks nothing, and all packets share one buffer. Ports, speeds and MTU are as designed.
void make_factory(SwitchIntent& sw) {
  sw.trust = design::Trust::kPcp;
  sw.pfc = {};
  sw.lossless = {};
  sw.watchdog = false;
  for (unsigned d = 0; d < 64; ++d)
    sw.dscp_to_priority.at(d) = Priority::of(d >> 3U);
  for (unsigned p = 0; p < 8; ++p) {
    sw.priority_to_queue.at(p) = Queue::of(p);
    sw.priority_to_pg.at(p) = PriorityGroup::of(0);
    sw.queues.at(p) = {};
  }
  design::BufferIntent& buffers = sw.buffers;
  buffers.headroom_sum = {};
  buffers.headroom_pool = {};
  buffers.reserved_per_group = {};
  buffers.lossless_shared = buffers.total;
  if (buffers.plan) {
    buffers.plan->lossless_shared = buffers.total;
    buffers.plan->lossy_pool = {};
    buffers.plan->storage_pool = {};
  }
  for (design::SwitchPortIntent& port : sw.ports) {
    port.headroom = {};
    port.wred.ecn = false;
  }
}

TosByte marking(const NicPlatform& platform, const NicSettings& settings, const Job& job,
                const design::Design& design) {
  TosByte tos = *design.nccl.traffic_class;
  if (job.uses_cm) tos = settings.cm_tos;
  if (job.tos) tos = *job.tos;
  if (settings.traffic_class) tos = *settings.traffic_class;
  // ConnectX programs the DSCP alone and sets ECT itself (host-interfaces §6).
  return platform.is_mlx5() ? tos_byte(dscp_of(tos), Ecn::kEct0) : tos;
}

/// Faults of settings, or all others. A fault of switches is at those that still have it.
Result<std::vector<sim::Fault>> parse_all(const Blueprint& blueprint, const State& state,
                                          bool settings) {
  std::vector<sim::Fault> out;
  for (const FaultRecord& record : state.faults) {
    if (record.is_setting != settings) continue;
    WEIR_TRY(fault, sim::parse_fault(record.text));
    if (settings && fault.type->place == sim::FaultPlace::kSwitches) {
      if (record.switches.empty()) continue;
      fault.at.clear();
      for (const std::uint32_t index : record.switches)
        fault.at.push_back(blueprint.intent.switches[index].name);
    }
    out.push_back(std::move(fault));
  }
  return out;
}

/// Writes each NIC's own DCQCN parameters.
class KnobWriter {
 public:
  KnobWriter(const Blueprint& blueprint, const Intent& intent)
      : blueprint_(blueprint), intent_(intent) {}

  void write(const NicSettings& settings, sim::NicConfig& config) {
    if (settings.knobs.empty()) return;
    const auto interval = settings.knobs.find("min_time_between_cnps");
    if (interval != settings.knobs.end())
      config.cnp_interval = share_of(1_us * interval->second,
                                     blueprint_.design.calibration.cnp_gap.value_or(100_percent));
    if (config.congestion_control == "none") return;
    const auto [found, is_new] = made_.try_emplace(settings.knobs);
    if (is_new) {
      Intent copy;
      copy.dcqcn = intent_.dcqcn;
      copy.dcqcn_variant = intent_.dcqcn_variant;
      for (const auto& [name, value] : settings.knobs)
        copy.dcqcn[name] = value;
      found->second = sim::dcqcn_of(blueprint_.design, copy);
    }
    config.dcqcn = found->second;
  }

 private:
  const Blueprint& blueprint_;
  const Intent& intent_;
  std::map<std::map<std::string, std::int64_t, std::less<>>, sim::DcqcnConfig> made_;
};

void write_knobs(const Blueprint& blueprint, const State& state, const Intent& intent,
                 const sim::Placement& placement, sim::Network& network) {
  KnobWriter writer(blueprint, intent);
  for (std::uint32_t h = 0; h < state.nics.size(); ++h)
    for (std::uint32_t rail = 0; rail < state.nics[h].size(); ++rail) {
      writer.write(state.nics[h][rail], network.nic_config(placement.node_of({h, rail})));
    }
}

/// A queue pair carries the traffic class its port forces and the service level of its job; the
/// reaction point is active only on priorities that have it enabled.
void finish_qps(const Blueprint& blueprint, const State& state, const Intent& intent,
                const Load& load, const sim::Fabric& fabric, sim::Network& network) {
  const unsigned level =
      load.job.level.value_or(static_cast<unsigned>(*blueprint.design.nccl.service_level));
  sim::Table<sim::NodeId, PrioritySet> used(fabric.nics.size());
  for (sim::QueuePair& qp : network.qps) {
    qp.service_level = static_cast<std::uint8_t>(level);
    const sim::NicPlace& place = fabric.nics[qp.source];
    const auto rail = static_cast<std::uint32_t>(place.rail);
    const bool is_forced = state.nics[place.host][rail].traffic_class.has_value();
    const bool asks_otherwise = std::any_of(load.workloads.begin(), load.workloads.end(),
                                            [&](const sim::WorkloadSpec& spec) {
                                              return spec.traffic_class == design::kRdmaClass &&
                                                     spec.tos && spec.tos->value() == qp.tos;
                                            });
    if (is_forced && asks_otherwise)
      qp.tos = static_cast<std::uint8_t>(intent.hosts[place.host].nics[rail].traffic_class.value());
    const sim::NicConfig& config = network.nic_config(qp.source);
    const unsigned priority = config.trust == sim::Trust::kDscp
                                  ? config.dscp_to_priority.at(qp.tos >> 2U)
                                  : qp.service_level;
    used[qp.source].insert(Priority::of(priority));
  }
  for (const sim::NodeId n : fabric.nics.ids()) {
    const auto rail = static_cast<std::uint32_t>(fabric.nics[n].rail);
    const PrioritySet rp = intent.hosts[fabric.nics[n].host].nics[rail].ecn_rp;
    if (used[n].count() == 0 || (used[n].mask() & rp.mask()) != 0) continue;
    sim::NicConfig& config = network.nic_config(n);
    config.rp_enabled = false;
    config.congestion_control = "none";
  }
}

/// One note in place of one per NIC.
std::vector<std::string> condensed(const std::vector<std::string>& notes, const Intent& intent) {
  std::size_t pausing = 0;
  std::size_t all = 0;
  for (const design::HostIntent& host : intent.hosts)
    for (const design::NicIntent& nic : host.nics) {
      ++all;
      if (nic.global_pause) ++pausing;
    }
  std::vector<std::string> out;
  if (pausing > 0)
    out.push_back(fmt::format(
        "802.3x pause is on at {} of {} NICs; only priority pause is simulated", pausing, all));
  for (const std::string& note : notes)
    if (note.find("global pause (802.3x)") == std::string::npos) out.push_back(note);
  return out;
}

/// From the intent on: the network, its load, and the faults that no setting shows.
Result<Testbed> build(const Blueprint& blueprint, const State& state, const Load& load,
                      Intent intent, unsigned threads = 1) {
  Testbed bed;
  bed.intent = std::move(intent);
  WEIR_TRY(fabric, sim::build_network(blueprint.design, bed.intent, {.seed = state.seed}));
  bed.notes = condensed(fabric.notes, bed.intent);
  WEIR_TRY(workloads, sim::Workloads::add(fabric, load.workloads));
  bed.load = std::move(workloads);
  bed.placement = sim::placement_of(bed.intent, fabric.network);
  write_knobs(blueprint, state, bed.intent, bed.placement, fabric.network);
  finish_qps(blueprint, state, bed.intent, load, fabric, fabric.network);
  if (load.path_mtu)
    for (sim::NicConfig& nic : fabric.network.nics)
      nic.mtu = std::min(nic.mtu, *load.path_mtu);
  WEIR_TRY(faults, parse_all(blueprint, state, false));
  WEIR_TRY(in_settings, parse_all(blueprint, state, true));
  // Those of NICs are in their settings already.
  for (sim::Fault& fault : in_settings)
    if (fault.type->place == sim::FaultPlace::kSwitches) faults.push_back(std::move(fault));
  for (const sim::Fault& fault : faults)
    WEIR_TRY_STATUS(
        sim::apply_to_network(fault, bed.intent, bed.placement, fabric.network, bed.actions));
  // A fault that begins or ends may change every path.
  WEIR_TRY(sim, sim::Sim::make(std::move(fabric.network),
                               bed.load->threads(bed.actions.empty() ? threads : 1)));
  bed.sim = std::move(sim);
  return bed;
}

}  // namespace

Result<const Intent*> Profiles::with(const Blueprint& blueprint, const std::string& profile) {
  const auto found = intents_.find(profile);
  if (found != intents_.end()) return &found->second;
  design::Design design = blueprint.design;
  WEIR_TRY_STATUS(design::set_value(design, "buffers.profile", profile));
  design::Derived derived = design::derive(design);
  if (!derived.errors.empty()) return invalid_error(derived.errors.front().message);
  return &intents_.emplace(profile, std::move(derived.intent)).first->second;
}

Result<Intent> present_intent(const Blueprint& blueprint, const State& state, Profiles& profiles,
                              const Job& job) {
  Intent intent = blueprint.intent;
  for (std::size_t s = 0; s < state.switches.size(); ++s) {
    const SwitchState& set = state.switches[s];
    if (set.profile) {
      WEIR_TRY(other, profiles.with(blueprint, *set.profile));
      intent.switches[s] = other->switches[s];
    }
    if (set.is_factory) make_factory(intent.switches[s]);
    if (set.loaded) intent.switches[s] = evidence::as_set(intent.switches[s], *set.loaded);
  }
  // Of a fault made of settings only the part at switches is taken: the settings of NICs follow
  // below, and may have been corrected since.
  WEIR_TRY(in_settings, parse_all(blueprint, state, true));
  for (const sim::Fault& fault : in_settings)
    WEIR_TRY_STATUS(sim::apply_to_intent(fault, intent));
  for (std::uint32_t h = 0; h < state.nics.size(); ++h)
    for (std::uint32_t rail = 0; rail < state.nics[h].size(); ++rail) {
      const NicSettings& settings = state.nics[h][rail];
      design::NicIntent& nic = intent.hosts[h].nics[rail];
      nic = blueprint.intent.hosts[h].nics[rail];
      write_to(settings, marking(blueprint.platform(h), settings, job, blueprint.design), nic);
    }
  WEIR_TRY(others, parse_all(blueprint, state, false));
  for (const sim::Fault& fault : others)
    WEIR_TRY_STATUS(sim::apply_to_intent(fault, intent));
  return intent;
}

Result<Testbed> set_up(const Blueprint& blueprint, const State& state, Profiles& profiles,
                       const Load& load, unsigned threads) {
  WEIR_TRY(intent, present_intent(blueprint, state, profiles, load.job));
  return build(blueprint, state, load, std::move(intent), threads);
}

Result<Testbed> set_up_at_rest(const Blueprint& blueprint, const State& state, Profiles& profiles) {
  WEIR_TRY(intent, present_intent(blueprint, state, profiles, {}));
  for (design::HostIntent& host : intent.hosts)
    for (design::NicIntent& nic : host.nics)
      nic.pfc = PrioritySet::from_mask(0xFF);
  WEIR_TRY(bed, build(blueprint, state, {}, std::move(intent)));
  bed.sim->run_until(Time::at(1_ps));
  return bed;
}

namespace {

/// Every flow, those of repeated steps included, with its ends and when its last byte came.
void add_flows(const Testbed& bed, const sim::Results& results, LoadOutcome& out) {
  std::map<sim::NodeId, std::uint32_t> host_of;
  for (std::uint32_t h = 0; h < bed.intent.hosts.size(); ++h)
    for (std::uint32_t rail = 0; rail < bed.intent.hosts[h].nics.size(); ++rail)
      host_of.emplace(bed.placement.node_of({h, rail}), h);
  const auto messages = bed.sim->messages();
  sim::for_each_in_order(
      results.repeats, messages.end_id(), [&](sim::MessageId m, sim::Ps /*shift*/) {
        const sim::Flow& flow = results.flows[sim::to_index(m)];
        const sim::Ps delivered = messages[m].delivered;
        out.deliveries.push_back(
            delivered == sim::kNever ? Duration() : Time::at(Duration::raw(delivered)) - flow.post);
        out.ends.emplace_back(host_of.at(flow.source), host_of.at(flow.target));
      });
  out.flows = sim::every_flow(results);
}

/// False: a step was replayed that should not have been; nothing is to be trusted.
bool run_to_end(Testbed& bed, const Load& load, bool replays, Recorder& recorder,
                const std::function<void(double)>& progress, std::uint64_t& replayed) {
  sim::Sim& sim = *bed.sim;
  bed.load->start(sim);
  const Time end = Time::at(load.limit);
  std::optional<sim::Replay> replay;
  std::optional<sim::Steady> steady;
  if (replays && bed.actions.empty()) {
    replay.emplace(sim, *bed.load, end, &recorder);
    steady.emplace(sim);
  }
  const auto messages = static_cast<double>(std::max<std::uint64_t>(bed.load->message_count(), 1));
  const auto share_done = [&](const sim::Sim& at) {
    const auto done = static_cast<double>(at.message_count() - at.open_messages());
    progress(std::max(done / messages,
                      static_cast<double>(at.now()) / static_cast<double>(load.limit.raw())));
  };
  sim::run(sim, {.end = end,
                 .actions = bed.actions,
                 .watch = replay ? replay->watch() : &recorder,
                 .steady = steady ? &*steady : nullptr,
                 .progress = progress ? share_done : std::function<void(const sim::Sim&)>(),
                 .is_finished = [&] { return bed.load->finished(); },
                 .at_rest = replay && replay->is_on() ? [&] { replay->at_rest(); }
                                                      : std::function<void()>()});
  if (replay) replayed = replay->report().steps;
  return !replay || !replay->must_be_undone();
}

}  // namespace

Result<TestbedRun> run(const Blueprint& blueprint, const State& state, Profiles& profiles,
                       const Load& load, const std::function<void(double)>& progress, Speed speed) {
  TestbedRun out;
  WEIR_TRY(made, set_up(blueprint, state, profiles, load, speed.threads));
  out.bed = std::move(made);
  Testbed& bed = out.bed;
  Recorder recorder(bed.intent, bed.placement);
  if (!run_to_end(bed, load, speed.replays, recorder, progress, out.replayed))
    return run(blueprint, state, profiles, load, progress, {speed.threads, false});
  const sim::Sim& sim = *bed.sim;
  const Status sound = sim.audit();
  if (!sound) check_failed(__FILE__, __LINE__, sound.error().what);
  out.outcome.is_finished = bed.load->finished() && sim.open_messages() == 0;
  out.end = Time::at(out.outcome.is_finished ? Duration::raw(std::max<sim::Ps>(sim.now(), 0))
                                             : load.limit);
  out.record = recorder.finish(sim, out.end);
  out.record.command = load.command;
  out.record.is_finished = out.outcome.is_finished;
  out.record.notes = bed.notes;
  const sim::Results flows = sim::collect_flows(sim, out.end);
  out.outcome.totals = flows.totals;
  add_flows(bed, flows, out.outcome);
  out.outcome.workloads = bed.load->results();
  out.outcome.notes = bed.notes;
  out.outcome.elapsed = out.end.since_start();
  return out;
}

}  // namespace weir::lab
