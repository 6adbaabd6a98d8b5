#include "ops/verify/host_load.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/parallel.h"
#include "base/text.h"
#include "base/untrusted/quote.h"
#include "host/probe/load_report.h"

namespace weir::ops {
namespace {

constexpr std::string_view kTaskMark = "weir-task ";
constexpr std::string_view kStatusMark = "weir-status ";
constexpr int kNoSuchProgram = 127;  // POSIX, Shell Command Language
// While a client tries until its server listens.
constexpr std::int64_t kConnectSeconds = 30;
// For the way to a host and back, and a queue before it (slurm).
constexpr std::int64_t kWaySeconds = 120;

/// Tasks of each host, and which flow they belong to.
struct HostScript {
  std::vector<HostTask> tasks;
  std::vector<std::size_t> flows;
};

weir::Result<std::map<std::uint32_t, HostScript>> scripts_of(
    const std::vector<Flow>& flows,
    const std::function<weir::Result<PairEnd>(std::uint32_t, std::uint32_t)>& ends) {
  std::map<std::uint32_t, HostScript> out;
  std::map<std::uint32_t, unsigned> servers;  // ports taken, by host
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const Flow& flow = flows[i];
    WEIR_TRY(client, ends(flow.from, flow.rail));
    WEIR_TRY(server, ends(flow.to, flow.rail));
    PairTest test = flow.test;
    test.port += servers[flow.to]++;
    const std::string address = server.address.empty() ? server.name : server.address;
    HostScript& there = out[flow.to];
    there.tasks.push_back({true, perftest_words(test, server, "")});
    there.flows.push_back(i);
    HostScript& here = out[flow.from];
    here.tasks.push_back({false, perftest_words(test, client, address)});
    here.flows.push_back(i);
  }
  return out;
}

std::string last_line(const std::string& text) {
  const std::string_view trimmed = trim(text);
  const std::size_t at = trimmed.rfind('\n');
  return std::string(at == std::string_view::npos ? trimmed : trimmed.substr(at + 1));
}

/// The NICs that the flows of a host use, and their rails.
struct HostLooks {
  LookPlan plan;
  std::vector<std::uint32_t> rails;
};
HostLooks looks_of(std::uint32_t host, const std::vector<Flow>& flows, const LoadLooks* looks) {
  HostLooks out;
  if (looks == nullptr) return out;
  out.plan.when = looks->when;
  for (const Flow& flow : flows) {
    if (flow.from != host && flow.to != host) continue;
    if (std::find(out.rails.begin(), out.rails.end(), flow.rail) != out.rails.end()) continue;
    auto nic = looks->nic(host, flow.rail);
    if (!nic) continue;
    out.rails.push_back(flow.rail);
    out.plan.nics.push_back(std::move(*nic));
  }
  return out;
}

std::int64_t longest_of(const std::vector<Flow>& flows) {
  std::int64_t longest = 0;
  for (const Flow& flow : flows)
    longest = std::max(longest, flow.test.limit_seconds());
  return longest;
}

}  // namespace

double flow_rate(const FlowOutcome& outcome) {
  if (!outcome.is_done()) return 0;
  const host::PerftestReport report = host::read_perftest(outcome.client);
  if (report.bandwidth.empty() || !report.bandwidth.back().average) return 0;
  return static_cast<double>(report.bandwidth.back().average->raw());
}

std::string failure_text(const std::string& from, const std::string& to, const Flow& flow,
                         const FlowOutcome& outcome) {
  const host::PerftestReport report = host::read_perftest(outcome.client);
  const std::string said = last_line(outcome.client);
  return fmt::format("{} to {}, rail {}: {}", from, to, flow.rail,
                     !report.problems.empty() ? report.problems.front()
                     : said.empty()           ? fmt::format("status {}", outcome.client_status)
                                              : said);
}

void add_flows(const FlowHost& from, const FlowHost& to, const std::vector<std::string>& words,
               std::vector<Flow>& flows, std::size_t most) {
  const auto& sends = from.intent->nics;
  const std::size_t rails = std::min({sends.size(), to.intent->nics.size(), most});
  const auto command = host::perftest_command(words);
  for (std::uint32_t rail = 0; rail < rails; ++rail) {
    Flow flow{.from = from.number, .to = to.number, .rail = rail, .test = {}};
    flow.test.words = words;
    flow.test.is_timed = command && command->duration;
    if (flow.test.is_timed) flow.test.seconds = command->duration->raw() / kPicosecondsPerSecond;
    flow.test.traffic_class = sends[rail].traffic_class;
    flows.push_back(std::move(flow));
  }
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> all_to_all_pairs(std::uint32_t hosts) {
  const std::uint32_t others = hosts - 1;
  const std::uint32_t peers = std::min(others, kMostPeers);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
  for (std::uint32_t from = 0; from < hosts; ++from)
    for (std::uint32_t k = 0; k < peers; ++k)
      out.emplace_back(from, (from + 1 + k * others / peers) % hosts);
  return out;
}

Source source_for_loads(Source source) {
  if (!source.fleet) return source;
  constexpr Duration kWeek = 604800_s;
  host::FleetLimits& limits = source.fleet->limits;
  limits.budget = kWeek;
  limits.logins_per_door =
      std::max(limits.logins_per_door, static_cast<unsigned>(source.fleet->hosts.size()));
  source.fleet->reach.keeps_connection = true;
  return source;
}

std::string load_line(const std::vector<HostTask>& tasks, std::int64_t limit_seconds,
                      const LookPlan& looks) {
  const LookLines look = look_lines(looks);
  // Every line ends with what a shell takes for a separator: the whole is one word of `sh -c`.
  std::string out = fmt::format(
      // The directory has a name that nobody knows, and the mark that stop_line() looks for.
      "d=$(umask 077; mktemp -d \"${{TMPDIR:-/tmp}}/weir-load-XXXXXXXXXX\") || exit 1\n"
      ": >\"$d/.${{WEIR_LOAD:-weir-load}}\"\n"
      // dash knows no jobs in $(jobs -p).
      "p=; q=; trap 'trap \"\" HUP INT TERM; kill $p $q 2>/dev/null; wait $p; rm -rf \"$d\"' EXIT\n"
      "trap 'exit 143' HUP INT TERM\n"
      // A shell that ends leaves what it waits for behind: each task ends its own.
      "run() {{ trap 'kill $t 2>/dev/null; exit 143' HUP INT TERM; \"$@\" & t=$!; wait $t; }}\n"
      "server() {{ n=$1; shift; run timeout {0} \"$@\" >\"$d/$n\" 2>&1; "
      "echo \"{1}$?\" >>\"$d/$n\"; }}\n"
      // Until the server listens: what says that it could not connect is tried again.
      "b=$(date +%s)\n"
      "client() {{ n=$1; shift; while :; do run timeout {0} \"$@\" >\"$d/$n\" 2>&1; s=$?; "
      "[ $s -ne 0 ] && [ $(($(date +%s) - b)) -lt {2} ] && grep -qi \"connect\" \"$d/$n\" || "
      "break; run sleep 0.25; done; echo \"{1}$s\" >>\"$d/$n\"; }}\n",
      limit_seconds, kStatusMark, kConnectSeconds);
  out += look.begin;
  for (std::size_t i = 0; i < tasks.size(); ++i)
    out += fmt::format("{} {} {} & p=\"$p $!\"\n", tasks[i].is_server ? "server" : "client", i,
                       shell_line(tasks[i].words));
  out += "wait $p\n" + look.end;
  out +=
      fmt::format("i=0; while [ $i -lt {} ]; do echo \"{}$i\"; cat \"$d/$i\"; i=$((i + 1)); done\n",
                  tasks.size(), kTaskMark);
  out += look.print;
  return out;
}

std::vector<TaskOutcome> read_load_output(std::string_view output, std::size_t tasks) {
  std::vector<TaskOutcome> out(tasks);
  TaskOutcome* current = nullptr;
  if (output.ends_with('\n')) output.remove_suffix(1);
  for (const std::string_view line : split(output, '\n')) {
    if (line.starts_with(kTaskMark)) {
      const auto number = parse_u64(std::string(line.substr(kTaskMark.size())));
      current = number && *number < tasks ? &out[*number] : nullptr;
    } else if (line.starts_with(kLooksMark)) {
      current = nullptr;  // see load_looks.h
    } else if (current != nullptr && line.starts_with(kStatusMark)) {
      constexpr std::uint64_t kMostStatus = 255;
      const auto status = parse_u64(std::string(line.substr(kStatusMark.size())));
      if (status && *status <= kMostStatus) current->status = static_cast<int>(*status);
    } else if (current != nullptr) {
      current->text.append(line).push_back('\n');
    }
  }
  return out;
}

Result<std::vector<FlowOutcome>> run_flows(
    const LoadHosts& hosts, const std::vector<Flow>& flows,
    const std::function<weir::Result<PairEnd>(std::uint32_t, std::uint32_t)>& ends,
    const std::function<bool()>& is_interrupted, LoadLooks* looks) {
  WEIR_TRY(scripts, or_could_not_look(scripts_of(flows, ends)));
  struct Part {
    std::uint32_t number = 0;
    host::HostIo* host = nullptr;
    const HostScript* script = nullptr;
    HostLooks looks;
    std::string left;
    weir::Result<host::CommandOutcome> outcome = Error{ErrorCode::kIo, "not run"};
  };
  std::vector<Part> parts;
  for (const auto& [number, script] : scripts) {
    const auto host = hosts.find(number);
    if (host == hosts.end() || host->second == nullptr)
      return could_not_look(fmt::format("host {} of the design is not among --hosts", number));
    parts.push_back({number, host->second, &script, looks_of(number, flows, looks), {}});
  }
  const std::int64_t limit = longest_of(flows);
  // A launcher that hangs must not hold the preflight for the week that its loads may take.
  const Duration most_time = 1_s * (limit + kConnectSeconds + kWaySeconds);
  // All at the same time: a server waits for its client.
  for_each_index(parts.size(), static_cast<unsigned>(parts.size()), [&](std::size_t i) {
    Part& part = parts[i];
    part.outcome =
        part.host->run({"sh", "-c", load_line(part.script->tasks, limit, part.looks.plan)},
                       {.is_interrupted = is_interrupted,
                        .on_left = [&](const std::string& why) { part.left = why; },
                        .limit = most_time});
  });
  if (is_interrupted && is_interrupted()) {
    for (const Part& part : parts)
      if (!part.left.empty()) return Failure{FailureKind::kLeft, "interrupted: " + part.left};
    return Failure{FailureKind::kInterrupted, "interrupted: what was started was stopped"};
  }
  std::vector<FlowOutcome> out(flows.size());
  for (Part& part : parts) {
    if (!part.outcome)
      return could_not_look(fmt::format("{}: {}", part.host->name(), part.outcome.error().what));
    auto seen = read_looks(part.outcome->output, part.looks.plan);
    for (std::size_t i = 0; i < seen.size(); ++i)
      looks->seen[{part.number, part.looks.rails[i]}] = std::move(seen[i]);
    const HostScript& script = *part.script;
    const auto answers = read_load_output(part.outcome->output, script.tasks.size());
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (answers[i].status == kNoSuchProgram)
        return could_not_look(fmt::format("{} on {}: {}", script.tasks[i].words.front(),
                                          part.host->name(), last_line(answers[i].text)));
      if (answers[i].status == kDidNotSay)  // the way to it broke: nothing is known of the load
        return could_not_look(fmt::format(
            "{} did not say how the load ended: {}", part.host->name(),
            part.outcome->errors.empty() ? fmt::format("status {}", part.outcome->exit_status)
                                         : last_line(part.outcome->errors)));
      FlowOutcome& flow = out[script.flows[i]];
      if (script.tasks[i].is_server) {
        flow.server_status = answers[i].status;
        flow.server = answers[i].text;
      } else {
        flow.client_status = answers[i].status;
        flow.client = answers[i].text;
      }
    }
  }
  return out;
}

}  // namespace weir::ops
