#include "lab/fabric/perftest.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/text.h"
#include "lab/fabric/facts.h"
#include "lab/fabric/shared.h"
#include "sim/fabric/from_design.h"
#include "units/format.h"

namespace weir::lab {
namespace {

const std::string kRule(87, '-');

struct Tool {
  std::string_view name;
  std::string_view title;
  sim::Operation operation;
  bool is_latency;
};
constexpr std::array kTools = {
    Tool{"ib_write_bw", "RDMA_Write BW Test", sim::Operation::kWrite, false},
    Tool{"ib_send_bw", "Send BW Test", sim::Operation::kSend, false},
    Tool{"ib_read_bw", "RDMA_Read BW Test", sim::Operation::kRead, false},
    Tool{"ib_write_lat", "RDMA_Write Latency Test", sim::Operation::kWrite, true},
    Tool{"ib_send_lat", "Send Latency Test", sim::Operation::kSend, true},
    Tool{"ib_read_lat", "RDMA_Read Latency Test", sim::Operation::kRead, true},
};

const Tool* find_tool(std::string_view name) {
  const auto* const found = std::find_if(kTools.begin(), kTools.end(),
                                         [&](const Tool& tool) { return tool.name == name; });
  return found == kTools.end() ? nullptr : found;
}

// ---- the command line ----

enum class Flag : std::uint8_t {
  kDevice,
  kGid,
  kQps,
  kSize,
  kIterations,
  kDuration,
  kLevel,
  kTclass,
  kTos,
  kMtu,
  kDepth,
  kCm,
  kGbits,
  kBoth,
  kAllSizes,
  kIgnored,
  kIgnoredValue,
};
struct FlagRow {
  std::string_view letter;  // with its dash; may be empty
  std::string_view name;
  Flag flag;
};
// perftest 6.29. Flags that change nothing in a simulation are ignored.
constexpr std::array kFlags = {
    FlagRow{"-d", "--ib-dev", Flag::kDevice},
    FlagRow{"-x", "--gid-index", Flag::kGid},
    FlagRow{"-q", "--qp", Flag::kQps},
    FlagRow{"-s", "--size", Flag::kSize},
    FlagRow{"-n", "--iters", Flag::kIterations},
    FlagRow{"-D", "--duration", Flag::kDuration},
    FlagRow{"-S", "--sl", Flag::kLevel},
    FlagRow{"", "--tclass", Flag::kTclass},
    FlagRow{"-T", "--tos", Flag::kTos},
    FlagRow{"-m", "--mtu", Flag::kMtu},
    FlagRow{"-t", "--tx-depth", Flag::kDepth},
    FlagRow{"-R", "--rdma_cm", Flag::kCm},
    FlagRow{"-b", "--bidirectional", Flag::kBoth},
    FlagRow{"-a", "--all", Flag::kAllSizes},
    FlagRow{"", "--report_gbits", Flag::kGbits},
    FlagRow{"-F", "--CPU-freq", Flag::kIgnored},
    FlagRow{"-N", "--no peak-bw", Flag::kIgnored},
    FlagRow{"", "--use_cuda_dmabuf", Flag::kIgnored},
    FlagRow{"-i", "--ib-port", Flag::kIgnoredValue},
    FlagRow{"-p", "--port", Flag::kIgnoredValue},
    FlagRow{"-r", "--rx-depth", Flag::kIgnoredValue},
    FlagRow{"-Q", "--cq-mod", Flag::kIgnoredValue},
    FlagRow{"-I", "--inline_size", Flag::kIgnoredValue},
    FlagRow{"", "--use_cuda", Flag::kIgnoredValue},
    FlagRow{"", "--use_cuda_bus_id", Flag::kIgnoredValue},
};

bool takes_value(Flag flag) {
  return flag != Flag::kCm && flag != Flag::kGbits && flag != Flag::kBoth &&
         flag != Flag::kAllSizes && flag != Flag::kIgnored;
}

/// "65536", "64K", "1M": perftest's suffixes are powers of two.
Result<std::uint64_t> parse_count(std::string_view text, std::uint64_t most) {
  std::uint64_t scale = 1;
  if (!text.empty()) {
    const char last = text.back();
    if (last == 'K' || last == 'k') scale = 1U << 10U;
    if (last == 'M' || last == 'm') scale = 1U << 20U;
    if (last == 'G' || last == 'g') scale = 1U << 30U;
    if (scale > 1) text.remove_suffix(1);
  }
  WEIR_TRY(number, parse_u64(text));
  if (number > most / scale) return invalid_error(fmt::format("at most {}", most));
  return number * scale;
}

class Parser {
 public:
  explicit Parser(const std::vector<std::string>& words) : words_(words) {}

  Result<PerftestCall> parse() {
    call_.tool = words_.front().substr(words_.front().rfind('/') + 1);
    const Tool& tool = *find_tool(call_.tool);
    call_.size = tool.is_latency ? 2 : 65536;
    call_.iterations = tool.is_latency || tool.operation != sim::Operation::kWrite ? 1000 : 5000;
    for (std::size_t i = 1; i < words_.size(); ++i)
      WEIR_TRY_STATUS(take(i));
    if (tool.is_latency) call_.depth = 1;
    if (call_.all_sizes && call_.duration)
      return invalid_error(" -a is not supported with -D: duration mode runs one size");
    if (tos_given_ && !call_.uses_cm)
      return invalid_error(" TOS only valid for rdma_cm based QP; without -R use --tclass");
    if (call_.server.empty())
      return invalid_error(
          " the lab starts the server itself: name the other host last, as in "
          "`ib_write_bw -d mlx5_0 gpu02`");
    return std::move(call_);
  }

 private:
  Status take(std::size_t& i) {
    const std::string& word = words_[i];
    if (word.size() < 2 || word.front() != '-') {
      if (!call_.server.empty())
        return invalid_error(
            fmt::format(" Invalid Command line: '{}' beside '{}'", word, call_.server));
      call_.server = word;
      return {};
    }
    const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    const auto* const row =
        std::find_if(kFlags.begin(), kFlags.end(), [&](const FlagRow& candidate) {
          return candidate.name == name || (!candidate.letter.empty() && candidate.letter == name);
        });
    if (row == kFlags.end())
      return invalid_error(fmt::format(" '{}': the lab's {} has no such option", word, call_.tool));
    if (!takes_value(row->flag)) return set(row->flag, "", name);
    if (equals != std::string::npos) return set(row->flag, word.substr(equals + 1), name);
    if (i + 1 >= words_.size()) return invalid_error(fmt::format(" {} needs a value", name));
    return set(row->flag, words_[++i], name);
  }

  Status set(Flag flag, const std::string& value, const std::string& name) {
    const auto number = [&](std::uint64_t least, std::uint64_t most, auto& out) -> Status {
      const auto read = parse_count(value, most);
      if (!read || *read < least)
        return invalid_error(fmt::format(" {}: expected a number from {} to {}, found '{}'", name,
                                         least, most, value));
      out = static_cast<std::remove_reference_t<decltype(out)>>(*read);
      return {};
    };
    constexpr std::uint64_t kLargestMessage = std::uint64_t{1} << 31U;
    switch (flag) {
      case Flag::kDevice: call_.device = value; return {};
      case Flag::kGid: return number(0, 255, call_.gid_index.emplace());
      case Flag::kQps: return number(1, 16384, call_.qps);
      case Flag::kSize: return number(1, kLargestMessage, call_.size);
      case Flag::kIterations: return number(1, 100'000'000, call_.iterations);
      case Flag::kLevel: return number(0, 7, call_.level);
      case Flag::kDepth: return number(1, 16384, call_.depth);
      case Flag::kCm: call_.uses_cm = true; return {};
      case Flag::kGbits: call_.in_gbits = true; return {};
      case Flag::kBoth: call_.is_bidirectional = true; return {};
      case Flag::kAllSizes: call_.all_sizes = true; return {};
      case Flag::kDuration: {
        std::int64_t seconds = 0;
        WEIR_TRY_STATUS(number(1, 1'000'000, seconds));
        call_.duration = 1_s * seconds;
        return {};
      }
      case Flag::kTos:
      case Flag::kTclass: {
        unsigned tos = 0;
        WEIR_TRY_STATUS(number(0, 255, tos));
        call_.tclass = TosByte::of(tos);
        tos_given_ = tos_given_ || flag == Flag::kTos;
        return {};
      }
      case Flag::kMtu: {
        std::int64_t mtu = 0;
        WEIR_TRY_STATUS(number(256, 4096, mtu));
        call_.mtu = Bytes::raw(mtu);
        return {};
      }
      case Flag::kIgnored:
      case Flag::kIgnoredValue: return {};
    }
    WEIR_UNREACHABLE("every flag is handled");
  }

  const std::vector<std::string>& words_;
  PerftestCall call_;
  bool tos_given_ = false;
};

// ---- the run ----

struct Ends {
  std::uint32_t client = 0;  // hosts
  std::uint32_t server = 0;
  std::uint32_t rail = 0;
  Bytes active_mtu;
};

const design::NicIntent& nic_at(const Lab::Shared& shared, std::uint32_t host, std::uint32_t rail) {
  return shared.blueprint.intent.hosts[host].nics[rail];
}

/// By name, or by the address of one of its NICs.
std::optional<std::uint32_t> find_server(const design::Intent& intent, const std::string& name) {
  for (std::uint32_t h = 0; h < intent.hosts.size(); ++h) {
    if (intent.hosts[h].name == name) return h;
    for (const design::NicIntent& nic : intent.hosts[h].nics)
      if (nic.address.substr(0, nic.address.find('/')) == name) return h;
  }
  return std::nullopt;
}

Result<Ends> find_ends(const Lab::Shared& shared, std::uint32_t host, const PerftestCall& call) {
  Ends ends;
  ends.client = host;
  const auto server = find_server(shared.blueprint.intent, call.server);
  if (!server) return invalid_error(fmt::format("Couldn't connect to {}:18515", call.server));
  ends.server = *server;
  if (ends.server == host) return invalid_error(" the server is this host; name another");
  const auto& nics = shared.blueprint.intent.hosts[host].nics;
  if (!call.device.empty()) {
    const auto found = std::find_if(nics.begin(), nics.end(), [&](const design::NicIntent& nic) {
      return nic.device == call.device;
    });
    if (found == nics.end())
      return invalid_error(fmt::format(
          "IB device {} not found\n Unable to find the Infiniband/RoCE device", call.device));
    ends.rail = static_cast<std::uint32_t>(found - nics.begin());
  }
  if (ends.rail >= shared.blueprint.intent.hosts[ends.server].nics.size())
    return invalid_error(
        fmt::format("Couldn't connect to {}:18515: it has no such rail", call.server));
  const auto active = [&](std::uint32_t h) {
    return sim::rdma_payload(4096_B, shared.state.nics[h][ends.rail].mtu);
  };
  ends.active_mtu = std::min(active(host), active(ends.server));
  if (call.mtu && *call.mtu > ends.active_mtu)
    return invalid_error(
        fmt::format("Requested mtu is higher than active mtu {}", ends.active_mtu.raw()));
  const std::size_t gids = gids_of(nic_at(shared, host, ends.rail), host).size();
  if (call.gid_index && *call.gid_index >= gids)
    return invalid_error(
        fmt::format("Invalid gid index {}: the port has {}", *call.gid_index, gids));
  return ends;
}

constexpr std::int64_t kSizes = 23;  // of -a: 2^1 to 2^23

/// The requested number of messages, or as many as the line can carry in the simulated time.
std::uint32_t iterations_of(const PerftestCall& call, BitRate speed) {
  const Duration share = call.all_sizes ? kLongest / kSizes : kLongest;
  const Duration time = std::min(call.duration.value_or(share), share);
  const std::int64_t round = std::max<std::int64_t>(call.size * call.qps, 1);
  std::int64_t fits = std::max<std::int64_t>(bytes_in(time, speed).raw() / round, 1);
  // Small messages are bound by packets, not by bytes: a frame of 64 bytes and its overhead.
  constexpr std::int64_t kSmallest = 150;
  fits = std::min(fits,
                  std::max<std::int64_t>(bytes_in(time, speed).raw() / (kSmallest * call.qps), 1));
  if (find_tool(call.tool)->is_latency) fits = std::min<std::int64_t>(fits, 5000);
  const auto most = static_cast<std::uint32_t>(std::min<std::int64_t>(fits, 1'000'000));
  return call.duration ? most : std::min(call.iterations, most);
}

Load load_of(const Lab::Shared& shared, const PerftestCall& call, const Ends& ends,
             const std::vector<std::string>& command) {
  const auto& hosts = shared.blueprint.intent.hosts;
  const Tool& tool = *find_tool(call.tool);
  sim::WorkloadSpec spec = sim::parse_workload("pair").value();
  spec.label = call.tool;
  spec.hosts = fmt::format("{},{}", hosts[ends.client].name, hosts[ends.server].name);
  spec.rails = {nic_at(shared, ends.client, ends.rail).rail};
  spec.operation = tool.operation;
  spec.qps = static_cast<int>(call.qps);
  spec.size = Bytes::raw(call.size * call.qps);
  spec.iterations = iterations_of(call, nic_at(shared, ends.client, ends.rail).speed);
  spec.depth = std::min(call.depth, spec.iterations);
  // Data of a READ flows from the server.
  const bool is_read = tool.operation == sim::Operation::kRead;
  spec.from = hosts[is_read ? ends.server : ends.client].name;
  spec.to = hosts[is_read ? ends.client : ends.server].name;
  Load load;
  load.command = join(command, " ");
  load.limit = kLongest * 5;
  load.job = {.tos = call.tclass, .uses_cm = call.uses_cm, .level = call.level};
  if (!call.tclass && !call.uses_cm) load.job.tos = TosByte::of(0);
  load.path_mtu = std::min(call.mtu.value_or(ends.active_mtu), ends.active_mtu);
  load.workloads.push_back(spec);
  if (call.is_bidirectional) {
    std::swap(spec.from, spec.to);
    load.workloads.push_back(std::move(spec));
  }
  return load;
}

// ---- the output ----

std::string gid_line(const Lab::Shared& shared, std::uint32_t host, std::uint32_t rail) {
  const auto bytes =
      gid_bytes(nic_at(shared, host, rail).address).value_or(std::array<std::uint8_t, 16>{});
  std::string out = " GID: ";
  for (std::size_t i = 0; i < bytes.size(); ++i)
    out += fmt::format("{}{:02}", i == 0 ? "" : ":", bytes.at(i));
  return out + "\n";
}

std::string header(const Lab::Shared& shared, const PerftestCall& call, const Ends& ends,
                   Bytes mtu) {
  const Tool& tool = *find_tool(call.tool);
  std::string out;
  if (!tool.is_latency && call.duration)
    out += " WARNING: BW peak won't be measured in this run.\n";
  out += kRule + "\n" + fmt::format("                    {}\n", tool.title);
  out += fmt::format(" Dual-port       : OFF\t\tDevice         : {}\n",
                     nic_at(shared, ends.client, ends.rail).device);
  out += fmt::format(" Number of qps   : {}\t\tTransport type : IB\n", call.qps);
  out += " Connection type : RC\t\tUsing SRQ      : OFF\n";
  out += fmt::format(" TX depth        : {}\n", call.depth);
  out += fmt::format(" Mtu             : {}[B]\n", mtu.raw());
  out += " Link type       : Ethernet\n";
  out += fmt::format(" GID index       : {}\n", call.gid_index.value_or(3));
  out += fmt::format(" rdma_cm QPs\t : {}\n", call.uses_cm ? "ON" : "OFF");
  out += fmt::format(" Data ex. method : {}\n", call.uses_cm ? "rdma_cm" : "Ethernet");
  out += kRule + "\n";
  out += " local address: LID 0000 QPN 0x0048 PSN 0x000001\n" +
         gid_line(shared, ends.client, ends.rail);
  out += " remote address: LID 0000 QPN 0x0048 PSN 0x000001\n" +
         gid_line(shared, ends.server, ends.rail);
  return out + kRule + "\n";
}

/// The best tenth of the run, in bytes per second.
double peak_rate(const std::vector<sim::Flow>& flows) {
  std::vector<std::pair<std::int64_t, std::int64_t>> done;  // ps, bytes
  for (const sim::Flow& flow : flows)
    if (flow.state == sim::MessageState::kDone)
      done.emplace_back((flow.post + flow.completion).since_start().raw(), flow.size.raw());
  std::sort(done.begin(), done.end());
  const std::size_t window = std::max<std::size_t>(done.size() / 10, 1);
  double best = 0;
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < done.size(); ++i) {
    bytes += done[i].second;
    if (i < window) continue;
    bytes -= done[i - window].second;
    const std::int64_t time = done[i].first - done[i - window].first;
    if (time > 0)
      best = std::max(best, static_cast<double>(bytes) * 1e12 / static_cast<double>(time));
  }
  return best;
}

std::string bandwidth_row(const PerftestCall& call, const LoadOutcome& done, bool is_first) {
  std::int64_t bytes = 0;
  std::uint64_t messages = 0;
  for (const sim::Flow& flow : done.flows) {
    if (flow.state != sim::MessageState::kDone) continue;
    bytes += flow.size.raw();
    ++messages;
  }
  const double seconds = std::max(static_cast<double>(done.totals.duration.raw()), 1.0) * 1e-12;
  const double average = static_cast<double>(bytes) / seconds;
  const double unit = call.in_gbits ? 8.0 / 1e9 : 1.0 / (1 << 20);
  const double peak = call.duration ? 0 : std::max(peak_rate(done.flows), average);
  const std::string_view name = call.in_gbits ? "Gb/sec" : "MiB/sec";
  const std::string head = fmt::format(
      " #bytes     #iterations    BW peak[{}]    BW average[{}]   MsgRate[Mpps]\n", name, name);
  return (is_first ? head : std::string()) +
         fmt::format(" {:<7}    {:<10}       {:<7.2f}            {:<7.2f}\t\t     {:<7.6f}\n",
                     call.size, messages, peak * unit, average * unit,
                     static_cast<double>(messages) / seconds / 1e6);
}

/// Half a round trip, as ping-pong measures it: from the post to the last byte at the other side. A
/// READ is a whole round trip.
std::string latency_row(const PerftestCall& call, const LoadOutcome& done, bool is_first) {
  const bool is_read = find_tool(call.tool)->operation == sim::Operation::kRead;
  std::vector<double> times;
  for (std::size_t i = 0; i < done.flows.size(); ++i) {
    const sim::Flow& flow = done.flows[i];
    if (flow.state != sim::MessageState::kDone) continue;
    const Duration time = is_read ? flow.completion : done.deliveries[i];
    times.push_back(static_cast<double>(time.raw()) / 1e6);
  }
  if (times.empty()) return "";
  std::sort(times.begin(), times.end());
  const auto count = static_cast<double>(times.size());
  const double mean = std::accumulate(times.begin(), times.end(), 0.0) / count;
  double squares = 0;
  for (const double time : times)
    squares += (time - mean) * (time - mean);
  const auto rank = [&](double share) {
    return times[std::min(times.size() - 1, static_cast<std::size_t>(std::ceil(share * count)))];
  };
  if (call.duration)
    return fmt::format(
        " #bytes        #iterations       t_avg[usec]    tps average\n"
        " {:<7}       {:<10}         {:<7.2f}        {:<7.2f}\n",
        call.size, times.size(), mean, 1e6 / (2 * mean));
  const std::string_view head =
      " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    "
      "t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] \n";
  return std::string(is_first ? head : std::string_view()) +
         fmt::format(
             " {:<7} {:<10}          {:<7.2f}        {:<7.2f}      {:<7.2f}  \t       {:<7.2f}     "
             "\t"
             "{:<7.2f}\t\t{:<7.2f} \t\t{:<7.2f}\n",
             call.size, times.size(), times.front(), times.back(), rank(0.5), mean,
             std::sqrt(squares / count), rank(0.99), rank(0.999));
}

/// On stderr: what the real program does not print.
std::string remarks(const PerftestCall& call, const Load& load, const LoadOutcome& done) {
  std::string out = "simulated by the lab, not measured\n";
  const std::uint32_t ran = load.workloads.front().iterations;
  if (call.duration)
    out += fmt::format("{} of the requested {} were simulated\n",
                       approximate(std::min(kLongest, *call.duration)), to_text(*call.duration));
  else if (call.all_sizes && ran < call.iterations)
    out += fmt::format("with {} only {} of the requested {} iterations were simulated\n",
                       to_text(Bytes::raw(call.size)), ran, call.iterations);
  else if (ran < call.iterations)
    out += fmt::format("{} of the requested {} iterations were simulated\n", ran, call.iterations);
  if (!done.is_finished)
    out += fmt::format("not finished after {} of simulated time\n", to_text(load.limit));
  for (const std::string& note : done.notes)
    out += fmt::format("note: {}\n", note);
  return out;
}

}  // namespace

bool is_perftest(const std::string& tool) {
  return find_tool(tool) != nullptr;
}

std::vector<std::string> perftest_names() {
  std::vector<std::string> names;
  for (const Tool& tool : kTools)
    names.emplace_back(tool.name);
  return names;
}

Result<PerftestCall> parse_perftest(const std::vector<std::string>& command) {
  return Parser(command).parse();
}

Result<host::CommandOutcome> run_perftest(Lab::Shared& shared, std::uint32_t host,
                                          const std::vector<std::string>& command) {
  const auto failed = [](const Error& error) {
    return host::CommandOutcome{1, "", fmt::format("{}\n", error.what), {}};
  };
  auto call = parse_perftest(command);
  if (!call) return failed(call.error());
  const auto ends = find_ends(shared, host, *call);
  if (!ends) return failed(ends.error());
  const Tool& tool = *find_tool(call->tool);
  host::CommandOutcome out;
  for (std::int64_t i = 0; i < (call->all_sizes ? kSizes : 1); ++i) {
    if (call->all_sizes) call->size = std::int64_t{2} << i;
    const Load load = load_of(shared, *call, *ends, command);
    const auto done = shared.run_load(load);
    if (!done) {
      const ErrorCode code = done.error().code;
      if (code == ErrorCode::kIo || code == ErrorCode::kPermission) return done.error();
      return failed(done.error());
    }
    if (i == 0) out.output = header(shared, *call, *ends, *load.path_mtu);
    out.elapsed += done->elapsed;
    // Of all sizes the last is cut most.
    if (!call->all_sizes || i + 1 == kSizes) out.errors += remarks(*call, load, *done);
    if (done->totals.failed > 0 || done->totals.finished == 0) {
      if (call->all_sizes && i + 1 < kSizes) out.errors += remarks(*call, load, *done);
      out.exit_status = 1;
      out.errors +=
          " Completion with error at client\n"
          " Failed status-transport retry counter exceeded (12): wr_id 0 syndrom 0x81\n";
      return out;
    }
    out.output +=
        tool.is_latency ? latency_row(*call, *done, i == 0) : bandwidth_row(*call, *done, i == 0);
  }
  out.output += kRule + "\n";
  return out;
}

}  // namespace weir::lab
