#include "lab/fabric/nccl_tests.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "lab/fabric/shared.h"
#include "sim/workload/workload_spec.h"
#include "units/format.h"

namespace weir::lab {
namespace {

struct CollectiveTool {
  std::string_view name;
  std::string_view workload;
  std::string_view title;  // as nccl-tests names the operation
};
constexpr auto kCollectiveTools = std::to_array<CollectiveTool>({
    {"all_reduce_perf", "all-reduce", "sum"},
    {"all_gather_perf", "all-gather", "none"},
    {"reduce_scatter_perf", "reduce-scatter", "sum"},
    {"alltoall_perf", "all-to-all", "none"},
});

/// All that one size may put on the wire: some seconds of a simulation.
constexpr std::int64_t kMostTraffic = 8'000'000'000;

const CollectiveTool* collective_tool(std::string_view word) {
  const std::string_view name = word.substr(word.rfind('/') + 1);
  const auto* const found =
      std::find_if(kCollectiveTools.begin(), kCollectiveTools.end(),
                   [&](const CollectiveTool& tool) { return tool.name == name; });
  return found == kCollectiveTools.end() ? nullptr : found;
}

/// "8", "8M", "1G": powers of two, as nccl-tests reads them.
Result<std::int64_t> size_of(std::string_view text) {
  std::int64_t scale = 1;
  if (!text.empty()) {
    const char last = text.back();
    if (last == 'K' || last == 'k') scale = 1 << 10;
    if (last == 'M' || last == 'm') scale = 1 << 20;
    if (last == 'G' || last == 'g') scale = 1 << 30;
    if (scale > 1) text.remove_suffix(1);
  }
  WEIR_TRY(number, parse_u64(text));
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 40U;
  if (number > kLargest / static_cast<std::uint64_t>(scale)) return invalid_error("too large");
  return static_cast<std::int64_t>(number) * scale;
}

/// NCCL_IB_TC=106 of `-x NCCL_IB_TC=106`, `--export=ALL,NCCL_IB_TC=106` or `env NCCL_IB_TC=106`.
Status take_traffic_class(std::string_view word, NcclTestCall& call) {
  constexpr std::string_view kName = "NCCL_IB_TC=";
  const std::size_t at = word.find(kName);
  if (at == std::string_view::npos) return {};
  std::string_view value = word.substr(at + kName.size());
  value = value.substr(0, value.find(','));
  const auto number = parse_u64(value);
  if (!number || *number > 255)
    return invalid_error(fmt::format("NCCL_IB_TC: expected 0 to 255, found '{}'", value));
  call.traffic_class = TosByte::of(static_cast<unsigned>(*number));
  return {};
}

Status take_launcher_word(const std::vector<std::string>& words, std::size_t i,
                          NcclTestCall& call) {
  const std::string& word = words[i];
  WEIR_TRY_STATUS(take_traffic_class(word, call));
  const bool is_count = word == "-np" || word == "-n" || word == "--ntasks" || word == "-N";
  if (!is_count || word == "-N" || i + 1 >= words.size()) return {};
  const auto number = parse_u64(words[i + 1]);
  if (!number || *number == 0 || *number > 1'000'000)
    return invalid_error(
        fmt::format("{}: expected a number of ranks, found '{}'", word, words[i + 1]));
  call.ranks = static_cast<std::uint32_t>(*number);
  return {};
}

/// An option of the program and its value.
Status take_option(const std::string& name, const std::string& value, NcclTestCall& call) {
  const auto size = [&](auto& out) -> Status {
    const auto read = size_of(value);
    if (!read || *read <= 0)
      return invalid_error(fmt::format("{}: expected a size, found '{}'", name, value));
    out = std::remove_reference_t<decltype(out)>(Bytes::raw(*read));
    return {};
  };
  if (name == "-b" || name == "--minbytes") return size(call.least);
  if (name == "-e" || name == "--maxbytes") return size(call.most);
  if (name == "-i" || name == "--stepbytes") return size(call.step);
  if (name == "-f" || name == "--stepfactor") {
    const auto read = parse_u64(value);
    if (!read || *read < 2 || *read > 1024)
      return invalid_error(fmt::format("{}: expected 2 or more, found '{}'", name, value));
    call.factor = static_cast<std::int64_t>(*read);
  }
  return {};  // -g, -t, -n, -w, -c, -o, -d change nothing that is simulated
}

// ---- the run ----

struct Ranks {
  std::size_t hosts = 0;
  std::size_t rails = 0;  // of each host
  [[nodiscard]] std::size_t count() const { return hosts * rails; }
};

Result<Ranks> ranks_of(const Lab::Shared& shared, const NcclTestCall& call) {
  const auto& hosts = shared.blueprint.intent.hosts;
  Ranks out{hosts.size(), hosts.front().nics.size()};
  if (call.ranks == 0) return out;
  if (call.ranks < out.rails) {
    out.rails = 1;
    out.hosts = call.ranks;
  } else {
    out.hosts = (call.ranks + out.rails - 1) / out.rails;
  }
  if (out.hosts < 2) return invalid_error("one host only: the test would not use the network");
  if (out.hosts > hosts.size())
    return invalid_error(
        fmt::format("There are not enough slots available: {} ranks, the lab has "
                    "{} NICs",
                    call.ranks, hosts.size() * out.rails));
  return out;
}

struct Round {
  Bytes size;
  Duration time;
  double algorithm = 0;  // GB/s
  double bus = 0;
};

double share_moved(std::string_view workload, double ranks) {
  return (workload == "all-reduce" ? 2.0 : 1.0) * (ranks - 1) / ranks;
}

Load load_for(const Lab::Shared& shared, const NcclTestCall& call, const Ranks& ranks, Bytes size,
              const std::vector<std::string>& command) {
  const CollectiveTool& tool = *collective_tool(call.tool);
  sim::WorkloadSpec spec = sim::parse_workload(tool.workload).value();
  spec.label = call.tool;
  std::vector<std::string> names;
  for (std::size_t h = 0; h < ranks.hosts; ++h)
    names.push_back(shared.blueprint.intent.hosts[h].name);
  spec.hosts = join(names, ",");
  for (std::size_t rail = 0; rail < ranks.rails; ++rail)
    spec.rails.push_back(shared.blueprint.intent.hosts.front().nics[rail].rail);
  const bool is_all_to_all = tool.workload == "all-to-all";
  const auto parts = static_cast<std::int64_t>(is_all_to_all ? ranks.hosts : ranks.rails);
  spec.size = Bytes::raw(std::max<std::int64_t>(size.raw() / parts, 1));
  Load load;
  load.command = join(command, " ");
  load.limit = 1_s;
  if (call.traffic_class) load.job.tos = call.traffic_class;
  load.workloads.push_back(std::move(spec));
  return load;
}

std::int64_t traffic_of(const CollectiveTool& tool, const Ranks& ranks, Bytes size) {
  const double moved = share_moved(tool.workload, static_cast<double>(ranks.count()));
  const double each = static_cast<double>(size.raw()) / static_cast<double>(ranks.rails);
  return static_cast<std::int64_t>(moved * each * static_cast<double>(ranks.count()));
}

std::string table_head(const NcclTestCall& call, const Lab::Shared& shared, const Ranks& ranks) {
  std::string out = fmt::format("# Collective test starting: {}\n", call.tool);
  out += fmt::format(
      "# nThread 1 nGpus 1 minBytes {} maxBytes {} step: {}({}) warmup iters: 0 iters: 1 agg "
      "iters: "
      "1 validation: 0 graph: 0\n#\n# Using devices\n",
      call.least.raw(), call.most.raw(), call.factor > 0 ? call.factor : call.step.raw(),
      call.factor > 0 ? "factor" : "bytes");
  for (std::size_t r = 0; r < ranks.count(); ++r)
    out += fmt::format("#  Rank {:>2} Group  0 Pid {:>6} on {:>10} device {:>2} simulated\n", r,
                       40000 + r, shared.blueprint.intent.hosts[r / ranks.rails].name,
                       r % ranks.rails);
  out +=
      "#\n"
      "#                                                              out-of-place                 "
      " "
      "     in-place          \n"
      "#       size         count      type   redop    root     time   algbw   busbw #wrong     "
      "time "
      "  algbw   busbw #wrong\n"
      "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            "
      "(us) "
      " (GB/s)  (GB/s)       \n";
  return out;
}

std::string table_row(const Round& round, std::string_view operation) {
  return fmt::format(
      "{:>12} {:>13} {:>9} {:>7} {:>7} {:>8.2f} {:>7.2f} {:>7.2f} {:>6} {:>8} {:>7} "
      "{:>7} {:>6}\n",
      round.size.raw(), round.size.raw() / 4, "float", operation, -1,
      static_cast<double>(round.time.raw()) / 1e6, round.algorithm, round.bus, "N/A", "N/A", "N/A",
      "N/A", "N/A");
}

std::optional<Round> round_of(const NcclTestCall& call, const Ranks& ranks, Bytes size,
                              const LoadOutcome& done) {
  const sim::WorkloadResult& result = done.workloads.front();
  if (!done.is_finished || result.failed > 0 || result.steps.empty()) return std::nullopt;
  Round round{size, {}, 0, 0};
  for (const sim::StepResult& step : result.steps)
    round.time += step.communicated - step.communication;
  round.time = round.time / static_cast<std::int64_t>(result.steps.size());
  const double seconds = std::max(static_cast<double>(round.time.raw()), 1.0) * 1e-12;
  round.algorithm = static_cast<double>(size.raw()) / seconds / 1e9;
  round.bus = round.algorithm *
              share_moved(collective_tool(call.tool)->workload, static_cast<double>(ranks.count()));
  return round;
}

}  // namespace

std::vector<Bytes> NcclTestCall::sizes() const {
  std::vector<Bytes> out;
  constexpr std::size_t kMostSizes = 64;
  for (Bytes size = least; size <= most && out.size() < kMostSizes;
       size = factor > 0 ? size * factor : size + step)
    out.push_back(size);
  return out;
}

bool is_nccl_test(const std::vector<std::string>& command) {
  return std::any_of(command.begin(), command.end(),
                     [](const std::string& word) { return collective_tool(word) != nullptr; });
}

std::vector<std::string> nccl_test_names() {
  std::vector<std::string> names;
  for (const CollectiveTool& tool : kCollectiveTools)
    names.emplace_back(tool.name);
  return names;
}

Result<NcclTestCall> parse_nccl_test(const std::vector<std::string>& command) {
  NcclTestCall call;
  std::size_t i = 0;
  for (; collective_tool(command[i]) == nullptr; ++i)
    WEIR_TRY_STATUS(take_launcher_word(command, i, call));
  call.tool = collective_tool(command[i])->name;
  for (++i; i < command.size(); ++i) {
    const std::size_t equals =
        command[i].starts_with("--") ? command[i].find('=') : std::string::npos;
    if (equals != std::string::npos) {
      WEIR_TRY_STATUS(
          take_option(command[i].substr(0, equals), command[i].substr(equals + 1), call));
    } else if (command[i].starts_with('-') && i + 1 < command.size()) {
      WEIR_TRY_STATUS(take_option(command[i], command[i + 1], call));
      ++i;
    }
  }
  if (call.most < call.least) call.most = call.least;
  return call;
}

Result<host::CommandOutcome> run_nccl_test(Lab::Shared& shared,
                                           const std::vector<std::string>& command) {
  const auto failed = [](const Error& error) {
    return host::CommandOutcome{1, "", fmt::format("{}\n", error.what), {}};
  };
  const auto call = parse_nccl_test(command);
  if (!call) return failed(call.error());
  const auto ranks = ranks_of(shared, *call);
  if (!ranks) return failed(ranks.error());
  const CollectiveTool& tool = *collective_tool(call->tool);
  host::CommandOutcome out;
  out.output = table_head(*call, shared, *ranks);
  out.errors = "simulated by the lab, not measured; results are not checked\n";
  std::vector<double> bus;
  for (const Bytes size : call->sizes()) {
    if (traffic_of(tool, *ranks, size) > kMostTraffic) {
      out.errors +=
          fmt::format("sizes from {} on were not simulated: too much traffic for {} NICs\n",
                      to_text(size), ranks->count());
      break;
    }
    const auto done = shared.run_load(load_for(shared, *call, *ranks, size, command));
    if (!done) {
      const ErrorCode code = done.error().code;
      if (code == ErrorCode::kIo || code == ErrorCode::kPermission) return done.error();
      return failed(done.error());
    }
    out.elapsed += done->elapsed;
    const auto round = round_of(*call, *ranks, size, *done);
    if (!round) {
      out.exit_status = 1;
      out.errors += fmt::format(
          "NCCL WARN NET/IB : Got completion from peer with status=IBV_WC_RETRY_EXC_ERR(12)\n"
          "{}: Test NCCL failure: not finished with {}\n",
          call->tool, to_text(size));
      return out;
    }
    bus.push_back(round->bus);
    out.output += table_row(*round, tool.title);
  }
  if (bus.empty()) {
    out.exit_status = 1;
    return out;
  }
  double sum = 0;
  for (const double value : bus)
    sum += value;
  out.output +=
      fmt::format("# Avg bus bandwidth    : {:.4f} \n#\n", sum / static_cast<double>(bus.size()));
  return out;
}

}  // namespace weir::lab
