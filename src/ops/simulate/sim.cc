#include "ops/simulate/sim.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "base/check.h"
#include "base/file.h"
#include "base/partial_file.h"
#include "sim/peer/hpcc.h"
#include "sim/peer/hpcc_native.h"
#include "sim/results/capture.h"
#include "tune/calibration/range.h"

namespace weir::ops {
namespace {

// ---- a trace ----

std::string_view kind_word(sim::PacketKind kind) {
  switch (kind) {
    case sim::PacketKind::kData: return "data";
    case sim::PacketKind::kAck: return "ack";
    case sim::PacketKind::kNak: return "nak";
    case sim::PacketKind::kRnr: return "rnr_nak";
    case sim::PacketKind::kReadRequest: return "read_request";
    case sim::PacketKind::kCnp: return "cnp";
    case sim::PacketKind::kPfc: return "pfc";
    case sim::PacketKind::kDatagram: return "datagram";
  }
  WEIR_UNREACHABLE("every kind has a word");
}

/// One line per frame put on a wire or dropped. Written beside the file and renamed at the end, so
/// that a killed run leaves no half of one under its name.
class Trace final : public sim::Observer {
 public:
  static weir::Result<std::unique_ptr<Trace>> open(const std::string& path) {
    auto file = PartialFile::create(path);
    if (!file) return file.error().within("--trace");
    auto trace = std::make_unique<Trace>(std::move(*file));
    std::fputs("time_ps,node,port,what,qp,psn,bytes,tos\n", trace->file_.stream());
    return trace;
  }
  explicit Trace(PartialFile file) : file_(std::move(file)) {}
  /// The simulation does not exist yet when the trace is opened.
  void watch(const sim::Sim& sim) { sim_ = &sim; }
  weir::Status close() {
    const weir::Status finished = file_.finish();
    if (!finished) return finished.error().within("--trace");
    return {};
  }

  void on_frame(sim::Ps at, sim::PortId port, const sim::Packet& packet) override {
    line(at, port, packet, kind_word(packet.kind));
  }
  void on_pause(sim::Ps, sim::PortId, std::uint8_t, std::uint8_t) override {}
  void on_drop(sim::Ps at, sim::PortId port, const sim::Packet& packet,
               sim::DropReason reason) override {
    line(at, port, packet, fmt::format("drop:{}", sim::to_text(reason)));
  }

 private:
  void line(sim::Ps at, sim::PortId port, const sim::Packet& packet, std::string_view what) {
    const sim::NodeId node = sim_->node_of(port);
    const std::string text = fmt::format(
        "{},{},{},{},{},{},{},{}\n", at, sim_->network().nodes[node].name, sim_->local_port(port),
        what, sim::to_index(packet.qp), packet.psn, packet.size, packet.tos);
    std::fputs(text.c_str(), file_.stream());
  }
  PartialFile file_;
  const sim::Sim* sim_ = nullptr;
};

// ---- a capture ----

/// Two observers of the same run.
class Both final : public sim::Observer {
 public:
  Both(sim::Observer& first, sim::Observer& second) : first_(first), second_(second) {}
  void on_frame(sim::Ps at, sim::PortId port, const sim::Packet& packet) override {
    first_.on_frame(at, port, packet);
    second_.on_frame(at, port, packet);
  }
  void on_pause(sim::Ps at, sim::PortId port, std::uint8_t pause, std::uint8_t resume) override {
    first_.on_pause(at, port, pause, resume);
    second_.on_pause(at, port, pause, resume);
  }
  void on_drop(sim::Ps at, sim::PortId port, const sim::Packet& packet,
               sim::DropReason reason) override {
    first_.on_drop(at, port, packet, reason);
    second_.on_drop(at, port, packet, reason);
  }

 private:
  sim::Observer& first_;
  sim::Observer& second_;
};

/// The files that watch a run, and how they are hooked into it.
struct Watchers {
  std::unique_ptr<Trace> trace;
  std::unique_ptr<sim::CaptureTap> tap;
  std::unique_ptr<Both> both;

  void attach(sim::Experiment& experiment) {
    if (trace && tap) {
      both = std::make_unique<Both>(*trace, *tap);
      experiment.observer = both.get();
    } else if (trace) {
      experiment.observer = trace.get();
    } else if (tap) {
      experiment.observer = tap.get();
    }
    experiment.on_made = [this](const sim::Sim& sim) {
      if (trace) trace->watch(sim);
      if (tap) tap->watch(sim);
    };
  }
  weir::Status close() {
    if (trace) WEIR_TRY_STATUS(trace->close());
    if (!tap) return {};
    const weir::Status closed = tap->close();
    if (!closed) return closed.error().within("--pcap");
    return {};
  }
};

weir::Status open_watchers(const SimRequest& request, const design::Intent& intent, Watchers& out) {
  if (!request.trace.empty()) {
    WEIR_TRY(trace, Trace::open(request.trace));
    out.trace = std::move(trace);
  }
  if (request.pcap.empty()) return {};
  sim::PortPlace place;  // the first host's
  if (!request.pcap_port.empty()) {
    const auto found = sim::find_port(intent, request.pcap_port);
    if (!found) return found.error().within("--at");
    place = *found;
  }
  auto writer = wire::CaptureWriter::open(request.pcap);
  if (!writer) return writer.error().within("--pcap");
  out.tap = std::make_unique<sim::CaptureTap>(std::move(*writer), place, intent);
  return {};
}

}  // namespace

namespace {

Result<Fabric> load_with(const std::string& design, const std::vector<std::string>& settings) {
  WEIR_TRY(fabric, load_fabric(design));
  if (const weir::Status set = set_values(settings, fabric); !set)
    return bad_request(set.error().within("--set").what);
  return fabric;
}

/// What of an experiment the design's calibration says nothing about.
Result<std::vector<std::string>> calibration_notes(const Fabric& fabric,
                                                   const sim::Experiment& experiment) {
  WEIR_TRY(outside, or_bad_input(tune::outside_calibration(fabric.design, fabric.intent,
                                                           experiment.workloads)));
  for (std::string& what : outside)
    what.insert(0, "beyond the calibration of this design: ");
  return outside;
}

}  // namespace

Result<Simulated> simulate(const SimRequest& request) {
  WEIR_TRY(fabric, load_with(request.design, request.settings));
  Simulated out;
  out.fabric = std::make_unique<Fabric>(std::move(fabric));
  sim::Experiment experiment = request.experiment;
  experiment.design = &out.fabric->design;
  experiment.intent = out.fabric->intent;
  Watchers watchers;
  WEIR_TRY_STATUS(or_bad_input(open_watchers(request, out.fabric->intent, watchers)));
  watchers.attach(experiment);
  WEIR_TRY(outcome, or_bad_input(sim::simulate(
                        experiment, [&](double share) { tell(request.progress, share); })));
  WEIR_TRY_STATUS(or_bad_input(watchers.close()));
  out.outcome = std::move(outcome);
  if (request.checks_replay) {
    experiment.replays = false;
    WEIR_TRY(without, or_bad_input(sim::simulate(
                          experiment, [&](double share) { tell(request.progress, share); })));
    const std::string found = sim::difference(out.outcome, without);
    if (!found.empty()) check_failed(__FILE__, __LINE__, "replay changed the result: " + found);
    out.is_replay_checked = true;
  }
  WEIR_TRY(outside, calibration_notes(*out.fabric, experiment));
  out.outcome.notes.insert(out.outcome.notes.end(), outside.begin(), outside.end());
  out.faults = std::move(experiment.faults);
  return out;
}

Result<Approximated> simulate_fast(const FastRequest& request) {
  WEIR_TRY(fabric, load_with(request.design, request.settings));
  sim::Experiment experiment = request.experiment;
  experiment.design = &fabric.design;
  experiment.intent = fabric.intent;
  Approximated out;
  out.file = fabric.design.file;
  WEIR_TRY(outcome, or_bad_input(sim::simulate_fast(
                        experiment, [&](double share) { tell(request.progress, share); })));
  out.outcome = std::move(outcome);
  WEIR_TRY(outside, calibration_notes(fabric, experiment));
  out.outcome.notes.insert(out.outcome.notes.end(), outside.begin(), outside.end());
  return out;
}

Result<HpccSimulated> simulate_hpcc(const HpccRequest& request) {
  const double begin = sim::cpu_seconds();
  WEIR_TRY(run, or_bad_input(sim::read_hpcc(request.config)));
  sim::Network network = run.network;
  if (request.is_native) sim::make_native(network);
  WEIR_TRY(made, or_bad_input(sim::Sim::make(std::move(network))));
  HpccSimulated out;
  sim::Outcome& outcome = out.outcome;
  outcome.sim = std::move(made);
  sim::PauseLog log;
  outcome.sim->set_observer(&log);
  const double ready = sim::cpu_seconds();
  const auto flows = static_cast<double>(outcome.sim->messages().size());
  sim::run(*outcome.sim, {.end = run.stop, .progress = [&](const sim::Sim& sim) {
                            const auto open = static_cast<double>(sim.open_messages());
                            tell(request.progress, 1 - open / std::max(flows, 1.0));
                          }});
  outcome.perf = {outcome.sim->hops(),   outcome.sim->data_hops(),
                  outcome.sim->events(), sim::cpu_seconds() - ready,
                  ready - begin,         sim::max_rss_bytes()};
  outcome.is_finished = outcome.sim->open_messages() == 0;
  outcome.results = sim::collect_flows(
      *outcome.sim, outcome.is_finished ? Time::at(Duration::raw(outcome.sim->now())) : run.stop);
  out.fct = sim::hpcc_fct(run, *outcome.sim);
  out.pfc = sim::hpcc_pfc(log, *outcome.sim);
  outcome.sim->set_observer(nullptr);
  return out;
}

}  // namespace weir::ops
