#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/digest.h"
#include "base/rng.h"
#include "sim/fabric/from_design.h"
#include "sim/fast/estimate.h"
#include "sim/fast/fluid.h"
#include "sim/fast/methods.h"
#include "sim/workload/workload.h"
#include "units/format.h"

namespace weir::sim {
namespace {

constexpr std::uint64_t kTimeWindows = 4;
constexpr std::int64_t kWindowsPerChecked = 60;
// A window begins with every flow at line rate. The first third of it is not compared; measured
// (docs/fast.md): windows of two increase periods of DCQCN show flows that are 4 % too slow.
constexpr std::int64_t kIncreasePeriods = 3;
constexpr std::int64_t kFewestPerChecked = 3;  // else there is little to gain
// A window is run so often in the model, to average over chance in it: that costs next to nothing.
// Each run is paired with the full one, so that by chance either of a pair may be the slower one.
constexpr std::uint64_t kModelRuns = 4;
constexpr std::uint64_t kWindowDraw = 0x57494E44;

struct TimeWindow {
  Time begin;
  Time end;

  /// From here on it is compared.
  [[nodiscard]] Time warm() const { return begin + (end - begin) / 3; }
};

Duration shortest_window(const Network& network) {
  Duration longest;
  for (const NicConfig& nic : network.nics)
    longest = std::max(longest, nic.dcqcn.increase_period);
  return longest * kIncreasePeriods;
}

/// The time of the arrivals in as many parts as windows are checked; one window at random in each.
/// Empty where the run is too short.
std::vector<TimeWindow> choose_windows(const Network& network, Time limit, std::uint64_t& windows) {
  Time first = Time::never();
  Time last;
  for (const Message& message : network.messages) {
    first = std::min(first, message.post);
    last = std::max(last, message.post);
  }
  last = std::min(last, limit);
  if (first > last) return {};
  const Duration part = (last - first) / static_cast<std::int64_t>(kTimeWindows);
  const Duration length = std::max(part / kWindowsPerChecked, shortest_window(network));
  const auto choices = static_cast<std::uint64_t>(part.raw() / length.raw());
  if (choices < kFewestPerChecked) return {};
  windows = kTimeWindows * choices;
  std::vector<TimeWindow> out;
  for (std::uint64_t w = 0; w < kTimeWindows; ++w) {
    RandomStream random(network.replica_seed(), w, kWindowDraw);
    const auto chosen = static_cast<std::int64_t>(random.below(choices));
    const Time begin = first + part * static_cast<std::int64_t>(w) + length * chosen;
    out.push_back({begin, begin + length});
  }
  return out;
}

/// Flows by size: the smaller half, up to 90 %, the rest.
std::vector<std::size_t> size_classes(const Network& network) {
  std::vector<Bytes> sizes;
  for (const Message& message : network.messages)
    sizes.push_back(message.size);
  std::sort(sizes.begin(), sizes.end());
  const Bytes half = sizes[sizes.size() / 2];
  const Bytes most = sizes[sizes.size() * 9 / 10];
  std::vector<std::size_t> out;
  for (const Message& message : network.messages)
    out.push_back(message.size < half ? 0 : message.size < most ? 1 : 2);
  return out;
}

/// A window as a run of its own: what is left of the flows under way, and those that arrive.
struct WindowRun {
  Network network;
  std::vector<std::size_t> size_class;  // by message: that of the whole flow
};

WindowRun window_of(const Network& whole, const std::vector<std::size_t>& classes,
                    const FluidModel& model, Time end) {
  WindowRun out;
  out.network = whole;
  out.network.qps.clear();
  out.network.messages.clear();
  const auto add = [&](MessageId m, Bytes size, Time post) {
    out.network.messages.push_back({out.network.qps.end_id(), size, post});
    out.network.qps.push_back(whole.qps[whole.messages[m].qp]);
    out.size_class.push_back(classes[to_index(m)]);
  };
  for (const MessageId m : model.under_way())
    add(m, std::max(whole.messages[m].size - model.arrived(m).bytes, 1_B), model.now());
  for (const MessageId m : whole.messages.ids())
    if (whole.messages[m].post >= model.now() && whole.messages[m].post < end)
      add(m, whole.messages[m].size, whole.messages[m].post);
  return out;
}

/// What of a message had arrived at some instant, and how long after its post.
struct Progress {
  double bytes = 0;  // report only
  double time = 0;   // report only: ps
};
using ProgressOfAll = std::vector<Progress>;

ProgressOfAll progress_in(const Sim& sim, Time now) {
  ProgressOfAll out;
  for (const MessageId m : sim.messages().ids()) {
    const MessageRecord& message = sim.messages()[m];
    const Time post = sim.network().messages[m].post;
    if (message.state == MessageState::kDone)
      out.push_back({static_cast<double>(message.size),
                     static_cast<double>(message.done - post.since_start().raw())});
    else
      out.push_back({static_cast<double>(sim.qp_delivered(message.qp)),
                     static_cast<double>(std::max(now - post, Duration()).raw())});
  }
  return out;
}

ProgressOfAll progress_in(const FluidModel& model, const Network& network) {
  ProgressOfAll out;
  for (const MessageId m : network.messages.ids()) {
    const FluidModel::Arrived arrived = model.arrived(m);
    out.push_back(
        {static_cast<double>(arrived.bytes.raw()), static_cast<double>(arrived.after.raw())});
  }
  return out;
}

/// What moved between two instants; in place of `after`.
ProgressOfAll between(const ProgressOfAll& before, ProgressOfAll after) {
  for (std::size_t i = 0; i < after.size(); ++i) {
    after[i].bytes -= before[i].bytes;
    after[i].time -= before[i].time;
  }
  return after;
}

/// Of each flow the time that both needed for what the slower one delivered.
void add_pairs(const ProgressOfAll& full, const ProgressOfAll& model,
               const std::vector<std::size_t>& classes, std::vector<PairedTime>& out) {
  for (std::size_t i = 0; i < full.size(); ++i) {
    const double bytes = std::min(full[i].bytes, model[i].bytes);  // report only
    if (bytes <= 0 || full[i].time <= 0 || model[i].time <= 0) continue;
    out.push_back(
        {classes[i], full[i].time * bytes / full[i].bytes, model[i].time * bytes / model[i].bytes});
  }
}

void count(const Sim& sim, WindowsSeen& seen) {
  seen.flows += sim.messages().size();
  seen.hops += sim.hops();
  for (const PortId p : sim.ports()) {
    const PortCounters port = sim.port_counters(p);
    seen.marked += port.marked;
    for (const std::uint64_t pauses : port.pause_tx)
      seen.pauses += pauses;
  }
}

/// Runs one window in full and in the model.
Result<std::vector<PairedTime>> check_in_full(const WindowRun& run, const TimeWindow& window,
                                              WindowsSeen& seen, Digest& digest) {
  WEIR_TRY(sim, Sim::make(run.network));
  sim->run_until(window.warm());
  const ProgressOfAll warm = progress_in(*sim, window.warm());
  sim->run_until(window.end);
  WEIR_TRY_STATUS(check_window(*sim));
  const ProgressOfAll full = between(warm, progress_in(*sim, window.end));
  digest.add(sim->digest());
  count(*sim, seen);
  std::vector<PairedTime> pairs;
  Network network = run.network;
  for (std::uint64_t k = 0; k < kModelRuns; ++k) {
    network.replica = run.network.replica + k;
    FluidModel model(network);
    model.run(window.warm());
    const ProgressOfAll before = progress_in(model, network);
    model.run(window.end);
    add_pairs(full, between(before, progress_in(model, network)), run.size_class, pairs);
  }
  return pairs;
}

using PairsOfWindows = std::vector<std::vector<PairedTime>>;

/// What the model says of the flows that finish in time, corrected by what the windows showed.
Status add_workloads(const Network& network, const Workloads& load, const FluidModel& model,
                     const std::vector<std::size_t>& classes, Time end, const PairsOfWindows& pairs,
                     FastOutcome& out) {
  std::vector<std::vector<ModelTime>> times(out.workloads.size());
  std::vector<ModelTime> all;
  for (const MessageId m : network.messages.ids()) {
    FastWorkload& workload = out.workloads[load.workload_of(m)];
    ++workload.messages;
    const auto done = model.completion(m);
    if (!done || network.messages[m].post + *done > end) continue;
    ++workload.completed;
    all.push_back({classes[to_index(m)], static_cast<double>(done->raw())});
    times[load.workload_of(m)].push_back(all.back());
  }
  out.flows = network.messages.size();
  out.finished = all.size();
  if (all.empty()) return {};
  if (!show_every_class(all, pairs))
    return cannot_approximate(
        "the windows that are simulated in full saw too few flows to say how far the rest is off");
  out.completion = correct_by_windows(all, pairs);
  for (std::size_t w = 0; w < times.size(); ++w)
    if (!times[w].empty())
      out.workloads[w].completion =
          times.size() == 1 ? out.completion : correct_by_windows(times[w], pairs);
  return {};
}

}  // namespace

Result<FastOutcome> approximate_flows(const Experiment& experiment, const RunProgress& progress) {
  WEIR_TRY(fabric, build_network(*experiment.design, experiment.intent,
                                 {experiment.seed, experiment.replica}));
  WEIR_TRY(load, Workloads::add(fabric, experiment.workloads));
  const Network& network = fabric.network;
  if (const std::string_view obstacle = fluid_obstacle(network); !obstacle.empty())
    return cannot_approximate(obstacle);
  FastOutcome out;
  const Time end = Time::at(experiment.limit);
  const std::vector<TimeWindow> windows = choose_windows(network, end, out.windows);
  if (windows.empty())
    return cannot_approximate(
        fmt::format("arrivals are simulated in full in {} windows of {}, and this run is not three "
                    "times as long",
                    kTimeWindows, to_text(shortest_window(network))));
  const std::vector<std::size_t> classes = size_classes(network);
  FluidModel model(network);
  Digest digest;
  PairsOfWindows pairs;
  for (const TimeWindow& window : windows) {
    if (progress) progress(static_cast<double>(pairs.size()) / static_cast<double>(windows.size()));
    model.run(window.begin);
    WEIR_TRY(checked, check_in_full(window_of(network, classes, model, window.end), window,
                                    out.seen, digest));
    pairs.push_back(std::move(checked));
  }
  model.run(end);
  digest.add(model.digest());
  out.method = "flow-level";
  out.checked = windows.size();
  out.digest = digest.value();
  out.seed = experiment.seed;
  for (const WorkloadSpec& spec : experiment.workloads)
    out.workloads.emplace_back().label = spec.label;
  WEIR_TRY_STATUS(add_workloads(network, *load, model, classes, end, pairs, out));
  out.notes = fabric.notes;
  out.notes.insert(out.notes.end(), load->notes().begin(), load->notes().end());
  if (out.seen.pauses > 0)
    out.notes.emplace_back(
        "the windows saw pauses, which the flow-level model does not have: the bound includes what "
        "they cost in the windows, not what they may cost elsewhere");
  return out;
}

}  // namespace weir::sim
