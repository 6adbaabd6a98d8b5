// weir sim: the fabric of a design, packet by packet, healthy or broken on purpose.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/progress.h"
#include "cli/frame/transition.h"
#include "cli/json/object.h"
#include "cli/verbs/sim_hpcc.h"
#include "cli/verbs/sim_repeat.h"
#include "cli/verbs/sim_report.h"
#include "sim/results/capture.h"
#include "sim/results/simulate.h"
#include "units/format.h"

namespace weir::cli {
namespace {

constexpr std::size_t kSimWidth = 100;
constexpr std::string_view kPlainLoad = "all-to-all";

// ---- lists ----

Json fault_json(const sim::FaultType& type) {
  Json object = {{"name", type.name}, {"summary", type.summary}};
  object["needs_place"] = type.needs_place;
  object["is_timed"] = type.is_timed;
  object["parameters"] = Json::array();
  for (const sim::FaultParameter& one : type.parameters)
    object["parameters"].push_back(
        {{"name", one.name}, {"default", one.fallback}, {"help", one.help}});
  object["counters"] = Json::array();
  for (const sim::Sign& sign : type.signs)
    object["counters"].push_back(
        {{"id", sign.counter}, {"moves", sign.moves == sim::Sign::Moves::kUp ? "up" : "down"}});
  object["findings"] = type.findings;
  return object;
}

ExitCode list_faults(Context& context) {
  if (context.json) {
    Json object = {{"schema", "weir/sim-faults/1"}, {"faults", Json::array()}};
    for (const sim::FaultType& type : sim::fault_types())
      object["faults"].push_back(fault_json(type));
    print_json(context, object);
    return ExitCode::kOk;
  }
  context.out << fmt::format(
                     "{} faults; weir sim --fault NAME,at=PLACE[,PARAMETER=VALUE…] adds one.\n\n",
                     sim::fault_types().size())
              << sim::fault_list(kSimWidth);
  return ExitCode::kOk;
}

ExitCode list_loads(Context& context) {
  if (context.json) {
    Json object = {{"schema", "weir/sim-workloads/1"}, {"workloads", Json::array()}};
    for (const sim::WorkloadRow& row : sim::workload_table()) {
      Json one = {{"name", row.name}, {"summary", row.summary}, {"parameters", Json::array()}};
      for (const sim::WorkloadParameter& parameter : row.own)
        one["parameters"].push_back({{"name", parameter.name},
                                     {"default", parameter.fallback},
                                     {"help", parameter.meaning}});
      object["workloads"].push_back(std::move(one));
    }
    print_json(context, object);
    return ExitCode::kOk;
  }
  context.out << sim::list_workloads(kSimWidth);
  return ExitCode::kOk;
}

// ---- what the user asks for ----

template <class T, class Parse>
Status read_all(const Args& args, std::string_view name, Parse parse, std::vector<T>& out) {
  for (const std::string& text : args.all(name)) {
    auto one = parse(text);
    if (!one) return one.error().within(fmt::format("--{}", name));
    out.push_back(std::move(*one));
  }
  return {};
}

Status read_duration(const Args& args, std::string_view name, Duration& out) {
  if (!args.has(name)) return {};
  const auto value = parse_duration(args.value(name));
  if (!value) return value.error().within(fmt::format("--{}", name));
  if (value->raw() <= 0) return invalid_error(fmt::format("--{}: must be more than 0", name));
  out = *value;
  return {};
}

Status gather(const Args& args, sim::Experiment& out) {
  WEIR_TRY_STATUS(read_all(args, "workload", sim::parse_workload, out.workloads));
  if (out.workloads.empty()) out.workloads.push_back(sim::parse_workload(kPlainLoad).value());
  WEIR_TRY_STATUS(read_all(args, "fault", sim::parse_fault, out.faults));
  const auto seed = parse_u64(args.value("seed"));
  if (!seed) return seed.error().within("--seed");
  out.seed = *seed;
  WEIR_TRY_STATUS(read_duration(args, "duration", out.limit));
  if (args.has("out")) out.sample_every = 10_us;
  return read_duration(args, "sample", out.sample_every);
}

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

/// One line a frame put on a wire or dropped. Written beside the file and renamed at the end, so
/// that a killed run leaves no half of one under its name.
class Trace final : public sim::Observer {
 public:
  static Result<std::unique_ptr<Trace>> open(const std::string& path) {
    std::error_code error;
    const auto found = std::filesystem::symlink_status(path, error);
    if (std::filesystem::exists(found) && !std::filesystem::is_regular_file(found))
      return Error{ErrorCode::kIo,
                   fmt::format("--trace: {} is no plain file and was left as it is", path)};
    auto trace = std::make_unique<Trace>();
    trace->path_ = path;
    trace->file_ = std::fopen(trace->partial().c_str(), "w");
    if (trace->file_ == nullptr)
      return Error{ErrorCode::kIo, fmt::format("--trace: cannot write {}", trace->partial())};
    std::fputs("time_ps,node,port,what,qp,psn,bytes,tos\n", trace->file_);
    return trace;
  }
  Trace() = default;
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  ~Trace() override {
    if (file_ == nullptr) return;
    std::fclose(file_);
    std::remove(partial().c_str());
  }
  /// The simulation does not exist yet when the trace is opened.
  void watch(const sim::Sim& sim) { sim_ = &sim; }
  Status close() {
    const bool is_whole = std::ferror(file_) == 0 && std::fclose(file_) == 0;
    file_ = nullptr;
    if (!is_whole || std::rename(partial().c_str(), path_.c_str()) != 0)
      return Error{ErrorCode::kIo, fmt::format("--trace: cannot write {}", path_)};
    return {};
  }

  void on_frame(sim::Ps at, std::uint32_t port, const sim::Packet& packet) override {
    line(at, port, packet, kind_word(packet.kind));
  }
  void on_pause(sim::Ps, std::uint32_t, std::uint8_t, std::uint8_t) override {}
  void on_drop(sim::Ps at, std::uint32_t port, const sim::Packet& packet,
               sim::DropReason reason) override {
    line(at, port, packet, fmt::format("drop:{}", sim::to_text(reason)));
  }

 private:
  [[nodiscard]] std::string partial() const { return path_ + ".partial"; }
  void line(sim::Ps at, std::uint32_t port, const sim::Packet& packet, std::string_view what) {
    const std::uint32_t node = sim_->node_of(port);
    fmt::print(file_, "{},{},{},{},{},{},{},{}\n", at, sim_->network().nodes[node].name,
               port - sim_->port_of(node, 0), what, packet.qp, packet.psn, packet.size, packet.tos);
  }
  std::string path_;
  std::FILE* file_ = nullptr;
  const sim::Sim* sim_ = nullptr;
};

// ---- a capture ----

/// Two who look at the same run.
class Both final : public sim::Observer {
 public:
  Both(sim::Observer& one, sim::Observer& two) : one_(one), two_(two) {}
  void on_frame(sim::Ps at, std::uint32_t port, const sim::Packet& packet) override {
    one_.on_frame(at, port, packet);
    two_.on_frame(at, port, packet);
  }
  void on_pause(sim::Ps at, std::uint32_t port, std::uint8_t pause, std::uint8_t resume) override {
    one_.on_pause(at, port, pause, resume);
    two_.on_pause(at, port, pause, resume);
  }
  void on_drop(sim::Ps at, std::uint32_t port, const sim::Packet& packet,
               sim::DropReason reason) override {
    one_.on_drop(at, port, packet, reason);
    two_.on_drop(at, port, packet, reason);
  }

 private:
  sim::Observer& one_;
  sim::Observer& two_;
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
  Status close() {
    if (trace) WEIR_TRY_STATUS(trace->close());
    if (!tap) return {};
    const Status closed = tap->close();
    if (!closed) return closed.error().within("--pcap");
    return {};
  }
};

Status open_watchers(const Args& args, const design::Intent& intent, Watchers& out) {
  if (args.has("trace")) {
    WEIR_TRY(trace, Trace::open(args.value("trace")));
    out.trace = std::move(trace);
  }
  if (!args.has("pcap")) return {};
  sim::PortPlace place;  // the first host's
  if (args.has("at")) {
    const auto found = sim::find_port(intent, args.value("at"));
    if (!found) return found.error().within("--at");
    place = *found;
  }
  auto writer = wire::CaptureWriter::open(args.value("pcap"));
  if (!writer) return writer.error().within("--pcap");
  out.tap = std::make_unique<sim::CaptureTap>(std::move(*writer), place, intent);
  return {};
}

// ---- the run ----

Status write_results(const std::string& folder, const sim::Outcome& outcome, const Json& object) {
  WEIR_TRY_STATUS(make_directory(folder));
  const auto put = [&](std::string_view name, std::string_view text) {
    return write_file_atomic(fmt::format("{}/{}", folder, name), text);
  };
  WEIR_TRY_STATUS(put("flows.csv", sim::flows_csv(outcome.results, *outcome.sim)));
  WEIR_TRY_STATUS(put("counters.csv", sim::counters_csv(outcome.results)));
  if (outcome.samples) {
    WEIR_TRY_STATUS(put("ports.csv", outcome.samples->ports_csv(*outcome.sim)));
    WEIR_TRY_STATUS(put("rates.csv", outcome.samples->rates_csv(*outcome.sim)));
  }
  return put("sim.json", object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

Json result_object(const Args& args, const DesignInput& input, const sim::Experiment& experiment,
                   const sim::Outcome& outcome) {
  Json object = json_object(args.command());
  add_sim_json(object, outcome, true);
  object["design"] = input.design.file;
  object["faults"] = Json::array();
  for (const sim::Fault& fault : experiment.faults)
    object["faults"].push_back({{"fault", fault.text}, {"findings", fault.type->findings}});
  return object;
}

ExitCode report(const Args& args, Context& context, const DesignInput& input,
                const sim::Experiment& experiment, const sim::Outcome& outcome) {
  if (args.has("out") || context.json) {
    const Json object = result_object(args, input, experiment, outcome);
    if (args.has("out"))
      if (const Status written = write_results(args.value("out"), outcome, object); !written)
        return fail(context, ExitCode::kBadInput, written.error().what);
    if (context.json) {
      print_json(context, object);
      return ExitCode::kOk;
    }
  }
  print_sim(outcome, context);
  if (args.has("out") && !context.quiet)
    context.out << fmt::format(
        "wrote {0}/sim.json, flows.csv, counters.csv, ports.csv, "
        "rates.csv\n",
        args.value("out"));
  return ExitCode::kOk;
}

ExitCode run_sim(const Args& args, Context& context) {
  if (args.has("list-faults")) return list_faults(context);
  if (args.has("list-workloads")) return list_loads(context);
  if (args.has("hpcc") && wants_several_runs(args))
    return usage_error(context, args.command(), "--repeat and --sweep are for designs, not --hpcc");
  if (args.has("hpcc")) return run_sim_hpcc(args, context);
  if (args.value("model") != "hpcc")
    return usage_error(context, args.command(), "--model says how to run --hpcc files; name one");
  sim::Experiment experiment;
  if (const Status good = gather(args, experiment); !good)
    return usage_error(context, args.command(), good.error().what);
  ExitCode code = ExitCode::kOk;
  auto input = load_design(args, context, code);
  if (!input) return code;
  if (const Status good = set_values(args.all("set"), *input); !good)
    return usage_error(context, args.command(), good.error().within("--set").what);
  if (wants_several_runs(args)) return run_sim_repeat(args, context, experiment, *input);
  if (args.has("jobs"))
    return usage_error(context, args.command(), "--jobs is for --repeat and --sweep");
  experiment.design = &input->design;
  experiment.intent = input->intent;
  if (args.has("at") && !args.has("pcap"))
    return usage_error(context, args.command(), "--at says where --pcap looks; name a file");
  Watchers watchers;
  if (const Status opened = open_watchers(args, input->intent, watchers); !opened)
    return fail(context, ExitCode::kBadInput, opened.error().what);
  watchers.attach(experiment);
  Progress bar(context.err, context.stderr_is_terminal, "simulating");
  auto outcome = sim::simulate(experiment, [&](double share) { bar.update(share); });
  bar.clear();
  if (!outcome) return fail(context, ExitCode::kBadInput, outcome.error().what);
  if (const Status written = watchers.close(); !written)
    return fail(context, ExitCode::kBadInput, written.error().what);
  return report(args, context, *input, experiment, *outcome);
}

std::vector<Option> sim_options() {
  return {{.name = "workload",
           .letter = 'w',
           .metavar = "W",
           .help = "what runs, as incast,to=gpu01 (default: all-to-all)",
           .repeated = true},
          {.name = "fault",
           .letter = 'f',
           .metavar = "F",
           .help = "what is wrong, as slow-receiver,at=gpu03,rate=40G",
           .repeated = true},
          {.name = "set",
           .metavar = "PATH=VALUE",
           .help = "another value for a setting of the design",
           .repeated = true},
          {.name = "seed", .metavar = "N", .help = "of everything random", .default_value = "1"},
          {.name = "repeat", .metavar = "N", .help = "run N seeds, from --seed on, into one table"},
          {.name = "sweep",
           .metavar = "PATH=V,V…",
           .help = "run every value of a setting; several: every combination",
           .repeated = true},
          {.name = "jobs", .metavar = "J", .help = "runs at a time (default: the cores)"},
          {.name = "duration",
           .metavar = "T",
           .help = "stop at this simulated time",
           .default_value = "100ms"},
          {.name = "out",
           .letter = 'o',
           .metavar = "DIR",
           .help = "write JSON and CSV there",
           .completes = Completes::kFiles},
          {.name = "sample", .metavar = "T", .help = "interval of the time series (10us)"},
          {.name = "trace",
           .metavar = "FILE",
           .help = "write every frame as CSV",
           .completes = Completes::kFiles},
          {.name = "pcap",
           .metavar = "FILE",
           .help = "write what a port saw as a capture, see --at",
           .completes = Completes::kFiles},
          {.name = "at", .metavar = "PORT", .help = "of --pcap: gpu01, gpu01:mlx5_0, leaf1:swp1"},
          {.name = "list-workloads", .help = "what can run, with parameters"},
          {.name = "list-faults", .help = "what can be wrong, with parameters"},
          {.name = "hpcc",
           .metavar = "CONFIG",
           .help = "run an HPCC simulator's files; writes fct.txt, pfc.txt",
           .completes = Completes::kFiles},
          {.name = "model",
           .metavar = "M",
           .help = "of --hpcc",
           .default_value = "hpcc",
           .choices = {"hpcc", "native"}}};
}

}  // namespace

Command sim_command() {
  return {
      .name = "sim",
      .group = Group::kOperators,
      .summary = "the fabric of a design, packet by packet",
      .description =
          "Simulates the design's fabric under a workload, with faults if you ask for them: "
          "completion times, counters, what every host would show. Same seed, same digest.",
      .arguments = {design_argument()},
      .options = sim_options(),
      .examples = {{"weir sim -w incast,to=gpu01 -f np-off,at=gpu03 --repeat 8", "8 seeds"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput},
      .rows = {"G7", "G8", "G9"},
      .run = run_sim,
  };
}

}  // namespace weir::cli
