#include "cli/verbs/verify_pair.h"

#include <algorithm>
#include <ctime>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/frame/progress.h"
#include "cli/frame/transition.h"
#include "cli/verbs/verify_burst.h"
#include "cli/verbs/verify_load.h"
#include "host/probe/remote.h"

namespace weir::cli {
namespace {

using evidence::Evidence;
using host::Remote;

/// Of a rail: what perftest's -D takes, and time to connect, to tear down, and to be slow.
constexpr std::int64_t kSpareSeconds = 40;
Duration limit_of(const PairTest& test) {
  return Duration::raw((test.seconds + kSpareSeconds) * kPicosecondsPerSecond);
}

std::vector<std::string> ssh_words(const Args& args) {
  std::vector<std::string> words;
  const std::string line = args.get("ssh").value_or("");
  for (const std::string_view word : split(line, ' '))
    if (!word.empty()) words.emplace_back(word);
  return words;
}

std::string without_prefix(const std::string& address) {
  return address.substr(0, address.find('/'));
}

/// "user@gpu02" → "gpu02": as the design knows it.
std::string host_of(const std::string& destination) {
  const std::size_t at = destination.rfind('@');
  return at == std::string::npos ? destination : destination.substr(at + 1);
}

// ---- looking at the other end ----

/// What weir sees there; the error says why there is nothing.
Result<Evidence> remote_snapshot(const Remote& remote) {
  WEIR_TRY(outcome, remote.run({"weir", "snapshot", "--json"}));
  constexpr int kNotFound = 127;
  if (outcome.exit_status == kNotFound)
    return not_found_error(fmt::format("weir is not installed on {}", remote.name()));
  if (outcome.output.empty() || outcome.output.front() != '{') {
    return Error{ErrorCode::kIo,
                 fmt::format("weir snapshot on {} ended with status {}: {}", remote.name(),
                             outcome.exit_status, trim(outcome.errors))};
  }
  WEIR_TRY(list, read_snapshot_text(outcome.output, "weir snapshot on " + remote.name()));
  if (list.empty()) return not_found_error(fmt::format("{} showed nothing", remote.name()));
  return std::move(list.front());
}

bool shows_cuda(const Result<host::CommandOutcome>& help) {
  // perftest prints its help and fails (real-host 1.7).
  return help.has_value() && (help->output + help->errors).find("--use_cuda") != std::string::npos;
}

// ---- one run ----

/// This host and how to look at it.
struct Here {
  HostSet set;
  DesignInput input;
  std::string name;
  Evidence seen;
};

std::optional<Here> look_here(const Args& args, Context& context, ExitCode& code) {
  auto set = open_hosts(args, context, code);
  if (!set) return std::nullopt;
  if (set->are_captured) {
    code = usage_error(context, args.command(), "--root is a captured machine: nothing runs there");
    return std::nullopt;
  }
  auto input = design_for(args, context, *set, code);
  if (!input) return std::nullopt;
  auto seen = set->hosts.front()->observe();
  if (!seen) {
    code = fail(context, ExitCode::kCouldNotLook, seen.error().what);
    return std::nullopt;
  }
  std::string name = set->hosts.front()->name();
  return Here{std::move(*set), std::move(*input), std::move(name), std::move(*seen)};
}

/// "ib_write_bw -D 5": the program, and what else both ends are told.
Result<PairTest> test_of(const Args& args, const design::Intent& intent) {
  PairTest test;
  const std::string line = args.value("perftest");
  for (const std::string_view word : split(line, ' '))
    if (!word.empty()) test.words.emplace_back(word);
  const auto command = host::perftest_command(test.words);
  if (!command)
    return invalid_error(
        fmt::format("--perftest: expected ib_write_bw or one of its siblings, "
                    "found '{}'",
                    line));
  constexpr std::int64_t kLongest = 3600;
  if (command->duration) test.seconds = command->duration->raw() / kPicosecondsPerSecond;
  if (test.seconds > kLongest) return invalid_error("--perftest: -D of an hour at most");
  if (!intent.hosts.empty() && !intent.hosts.front().nics.empty())
    test.traffic_class = intent.hosts.front().nics.front().traffic_class;
  return test;
}

Result<int> rail_of(const Args& args) {
  WEIR_TRY(rail, parse_u64(args.value("rail")));
  if (rail > 255) return invalid_error("--rail: 0 to 255");
  return static_cast<int>(rail);
}

std::string end_text(const PairEnd& end) {
  return fmt::format(
      "{}: {}{}, {}", end.name, end.device,
      end.gid_index ? fmt::format(", GID {}", *end.gid_index) : ", GID as perftest chooses",
      end.address.empty() ? "no address of the rail" : end.address);
}

/// Both ends of a window, each once: the other end may be this machine under another name.
std::vector<Evidence> joined(const std::vector<Evidence>& here,
                             const std::optional<Evidence>& there, bool& is_same) {
  std::vector<Evidence> all = here;
  is_same = there && !here.empty() && there->provenance.host == here.front().provenance.host;
  if (there && !is_same) all.push_back(*there);
  return all;
}

}  // namespace

Result<PairEnd> choose_end(const std::string& name, const Evidence* seen,
                           const design::Intent& intent, int rail) {
  PairEnd end;
  end.name = name;
  end.seen = seen;
  const design::HostIntent* wanted = find_host(intent, name);
  if (wanted != nullptr) {
    const auto nic = std::find_if(wanted->nics.begin(), wanted->nics.end(),
                                  [&](const auto& one) { return one.rail == rail; });
    if (nic == wanted->nics.end())
      return invalid_error(
          fmt::format("--rail {}: {} has {} rails", rail, name, wanted->nics.size()));
    end.device = nic->device;
    end.address = without_prefix(nic->address);
  }
  if (seen == nullptr) {
    if (end.device.empty())
      return not_found_error(
          fmt::format("the design has no host {}, and weir is not there to say "
                      "which device it has",
                      name));
    return end;
  }
  const evidence::Nic* nic = end.device.empty() ? nullptr : seen->find_nic(end.device);
  if (nic == nullptr && !end.device.empty())
    return not_found_error(
        fmt::format("{} has no device {}; the design puts rail {} on it", name, end.device, rail));
  if (nic == nullptr) {
    if (static_cast<std::size_t>(rail) >= seen->nics.size())
      return not_found_error(
          fmt::format("{} shows {} RDMA devices, none for rail {}", name, seen->nics.size(), rail));
    nic = &seen->nics[static_cast<std::size_t>(rail)];
    end.device = nic->device;
  }
  if (nic->rdma.gids.is_known()) {
    for (const evidence::Gid& gid : *nic->rdma.gids) {
      if (gid.type != evidence::GidType::kRoceV2 || gid.gid.starts_with("fe80")) continue;
      end.gid_index = gid.index;
      break;
    }
  }
  if (end.address.empty() && nic->addresses.is_known() && !nic->addresses->empty())
    end.address = without_prefix(nic->addresses->front());
  const evidence::Gpu* nearest = nullptr;
  evidence::Distance best = evidence::Distance::kSys;
  for (const evidence::GpuDistance& one : seen->distances) {
    if (one.nic != end.device || !one.distance.is_known()) continue;
    const auto gpu = std::find_if(seen->gpus.begin(), seen->gpus.end(),
                                  [&](const evidence::Gpu& g) { return g.index == one.gpu; });
    if (gpu == seen->gpus.end() || (nearest != nullptr && *one.distance >= best)) continue;
    nearest = &*gpu;
    best = *one.distance;
  }
  if (nearest == nullptr && !seen->gpus.empty()) nearest = &seen->gpus.front();
  if (nearest != nullptr && nearest->pcie.address.is_known()) end.gpu_bus = *nearest->pcie.address;
  return end;
}

GpuChoice choose_gpu(const PairEnd& one, const PairEnd& other) {
  for (const PairEnd* end : {&one, &other}) {
    if (end->seen == nullptr)
      return {false, fmt::format("host memory: whether {} has GPUs is not known", end->name)};
    if (!end->gpu_bus) return {false, fmt::format("host memory: {} shows no GPU", end->name)};
    if (!end->perftest_has_cuda)
      return {false, fmt::format("host memory: perftest on {} was built without CUDA", end->name)};
  }
  return {true, fmt::format("GPU memory: {} next to {} on {}, {} next to {} on {}", *one.gpu_bus,
                            one.device, one.name, *other.gpu_bus, other.device, other.name)};
}

std::vector<std::string> perftest_words(const PairTest& test, const PairEnd& end,
                                        const std::string& server) {
  std::vector<std::string> words = test.words;
  words.emplace_back("-d");
  words.push_back(end.device);
  if (end.gid_index) {
    words.emplace_back("-x");
    words.push_back(std::to_string(*end.gid_index));
  }
  words.emplace_back("-p");
  words.push_back(std::to_string(test.port));
  words.push_back(fmt::format("--tclass={}", test.traffic_class.value()));
  words.emplace_back("-F");
  if (words.front().ends_with("_bw")) words.emplace_back("--report_gbits");
  if (test.uses_gpu && end.gpu_bus) words.push_back("--use_cuda_bus_id=" + *end.gpu_bus);
  if (!server.empty()) words.push_back(server);
  return words;
}

Result<PairOutcome> run_pair(const Remote& remote, const PairTest& test,
                             const std::vector<std::string>& server_words,
                             const std::vector<std::string>& client_words) {
  // timeout(1): a server whose client never comes ends by itself, whatever becomes of ssh.
  std::vector<std::string> bounded = {"timeout", std::to_string(test.seconds + kSpareSeconds)};
  bounded.insert(bounded.end(), server_words.begin(), server_words.end());
  WEIR_TRY(server, host::RunningCommand::start(remote.command(bounded)));
  WEIR_TRY(listening, remote.run_shell(host::wait_for_listener(test.port)));
  if (listening.exit_status != 0) {
    WEIR_TRY(ended, server->finish(Duration::raw(kPicosecondsPerSecond)));
    return Error{
        ErrorCode::kIo,
        fmt::format("{} on {} does not listen on port {}: {}", test.words.front(), remote.name(),
                    test.port, trim(ended.errors.empty() ? ended.output : ended.errors))};
  }
  WEIR_TRY(client, host::RunningCommand::start(client_words));
  PairOutcome both;
  WEIR_TRY(client_done, client->finish(limit_of(test)));
  both.client = std::move(client_done);
  WEIR_TRY(server_done, server->finish(limit_of(test)));
  both.server = std::move(server_done);
  return both;
}

ExitCode run_verify_pair(const Args& args, Context& context) {
  ExitCode code = ExitCode::kOk;
  auto here = look_here(args, context, code);
  if (!here) return code;
  const design::Intent& intent = here->input.intent;
  auto test = test_of(args, intent);
  if (!test) return usage_error(context, args.command(), test.error().what);
  const auto rail = rail_of(args);
  if (!rail) return usage_error(context, args.command(), rail.error().what);
  const Remote remote(args.value("pair"), ssh_words(args));
  auto there = remote_snapshot(remote);
  Drive drive;
  drive.ran_on = here->name;
  if (!there) {
    drive.notes.push_back(fmt::format("judged from this end alone: {}", there.error().what));
  }
  const std::string peer = host_of(remote.name());
  auto client = choose_end(here->name, &here->seen, intent, *rail);
  if (!client) return fail(context, ExitCode::kCouldNotLook, client.error().what);
  auto server = choose_end(peer, there ? &*there : nullptr, intent, *rail);
  if (!server) return fail(context, ExitCode::kCouldNotLook, server.error().what);
  if (client->gpu_bus && server->gpu_bus) {
    client->perftest_has_cuda = shows_cuda(host::run_command({test->words.front(), "--help"}));
    server->perftest_has_cuda = shows_cuda(remote.run({test->words.front(), "--help"}));
  }
  const GpuChoice gpu = choose_gpu(*client, *server);
  test->uses_gpu = gpu.uses_gpu;
  drive.notes.push_back(gpu.why);
  drive.notes.push_back("client " + end_text(*client));
  drive.notes.push_back("server " + end_text(*server));
  const std::string address =
      args.get("address").value_or(server->address.empty() ? peer : server->address);
  drive.words = perftest_words(*test, *client, address);

  const Observation before = observe(here->set, context);
  Progress bar(context.err, context.stderr_is_terminal, "running");
  auto both = run_pair(remote, *test, perftest_words(*test, *server, ""), drive.words);
  bar.clear();
  if (!both) return fail(context, ExitCode::kCouldNotLook, both.error().what);
  const Observation after = observe(here->set, context);
  std::optional<Evidence> there_after;
  if (there) {
    if (auto again = remote_snapshot(remote)) there_after = std::move(*again);
  }
  drive.outcome = std::move(both->client);
  if (drive.outcome.exit_status == 0) drive.outcome.exit_status = both->server.exit_status;
  drive.outcome.errors += both->server.errors;
  bool is_same = false;
  const std::vector<Evidence> start =
      joined(before.all(), there ? std::optional(*there) : std::nullopt, is_same);
  const std::vector<Evidence> end = joined(after.all(), there_after, is_same);
  if (is_same) drive.notes.push_back(fmt::format("{} is this machine: seen once", peer));
  drive.sees_all_ends = there_after.has_value();
  Verified verified = judge_load(std::move(drive), window_of(start, end), intent);
  return print_verified(args, context, verified);
}

// ---- many senders ----

namespace {

struct Sender {
  Remote remote;
  PairEnd end;
  std::optional<Evidence> before;
  std::optional<Evidence> after;
  std::vector<std::string> words;
  std::unique_ptr<host::RunningCommand> client;
};

/// Starts at a second of the clock, so that all start together; hosts of a cluster share a clock.
std::string at_second(std::time_t when, const std::vector<std::string>& words, std::int64_t limit) {
  return fmt::format("while [ \"$(date +%s)\" -lt {} ]; do sleep 0.02; done; exec timeout {} {}",
                     static_cast<long long>(when), limit, host::shell_line(words));
}

Result<std::vector<Sender>> senders_of(const Args& args, const design::Intent& intent, int rail,
                                       std::vector<std::string>& notes) {
  std::vector<Sender> senders;
  for (const std::string_view name : split(args.value("from"), ',')) {
    if (trim(name).empty()) continue;
    Sender one{.remote = Remote(std::string(trim(name)), ssh_words(args)), .end = {}};
    auto seen = remote_snapshot(one.remote);
    if (seen) {
      one.before = std::move(*seen);
    } else {
      notes.push_back(fmt::format("not looked at: {}", seen.error().what));
    }
    senders.push_back(std::move(one));
  }
  if (senders.empty()) return invalid_error("--from names no host");
  for (Sender& one : senders) {
    WEIR_TRY(end, choose_end(host_of(one.remote.name()), one.before ? &*one.before : nullptr,
                             intent, rail));
    one.end = std::move(end);
  }
  return senders;
}

/// Servers here, one a sender, each on its own port; then all clients at the same second.
Result<host::CommandOutcome> run_burst(const PairTest& test, const PairEnd& receiver,
                                       const std::string& address, std::vector<Sender>& senders) {
  std::vector<std::unique_ptr<host::RunningCommand>> servers;
  for (std::size_t i = 0; i < senders.size(); ++i) {
    PairTest own = test;
    own.port = test.port + static_cast<unsigned>(i);
    WEIR_TRY(server, host::RunningCommand::start(perftest_words(own, receiver, "")));
    servers.push_back(std::move(server));
    WEIR_TRY(listening, host::run_command({"sh", "-c", host::wait_for_listener(own.port)}));
    if (listening.exit_status != 0) {
      WEIR_TRY(ended, servers.back()->finish(Duration::raw(kPicosecondsPerSecond)));
      return Error{ErrorCode::kIo,
                   fmt::format("{} does not listen on port {}: {}", test.words.front(), own.port,
                               trim(ended.errors.empty() ? ended.output : ended.errors))};
    }
    senders[i].words = perftest_words(own, senders[i].end, address);
  }
  constexpr std::time_t kToGather = 3;
  const std::time_t when = std::time(nullptr) + kToGather;
  for (Sender& one : senders) {
    WEIR_TRY(client, host::RunningCommand::start(one.remote.shell(
                         at_second(when, one.words, test.seconds + kSpareSeconds))));
    one.client = std::move(client);
  }
  host::CommandOutcome all;
  for (Sender& one : senders) {
    WEIR_TRY(done, one.client->finish(limit_of(test)));
    all.output += fmt::format("# {}\n{}", one.remote.name(), done.output);
    all.errors += done.errors;
    all.elapsed = std::max(all.elapsed, done.elapsed);
    if (all.exit_status == 0) all.exit_status = done.exit_status;
  }
  for (auto& server : servers) {
    WEIR_TRY(done, server->finish(limit_of(test)));
    if (all.exit_status == 0) all.exit_status = done.exit_status;
  }
  return all;
}

std::vector<Evidence> ends_of(const Observation& here, const std::vector<Sender>& senders,
                              std::optional<Evidence> Sender::*when) {
  std::vector<Evidence> all = here.all();
  for (const Sender& one : senders) {
    const std::optional<Evidence>& seen = one.*when;
    if (!seen) continue;
    const bool is_there = std::any_of(all.begin(), all.end(), [&](const Evidence& other) {
      return other.provenance.host == seen->provenance.host;
    });
    if (!is_there) all.push_back(*seen);
  }
  return all;
}

}  // namespace

ExitCode run_verify_burst(const Args& args, Context& context) {
  ExitCode code = ExitCode::kOk;
  auto here = look_here(args, context, code);
  if (!here) return code;
  const design::Intent& intent = here->input.intent;
  auto test = test_of(args, intent);
  if (!test) return usage_error(context, args.command(), test.error().what);
  const auto rail = rail_of(args);
  if (!rail) return usage_error(context, args.command(), rail.error().what);
  Drive drive;
  drive.ran_on = here->name;
  auto senders = senders_of(args, intent, *rail, drive.notes);
  if (!senders) return fail(context, ExitCode::kCouldNotLook, senders.error().what);
  auto receiver = choose_end(here->name, &here->seen, intent, *rail);
  if (!receiver) return fail(context, ExitCode::kCouldNotLook, receiver.error().what);
  const std::string address =
      args.get("address").value_or(receiver->address.empty() ? here->name : receiver->address);
  drive.notes.push_back("receiver " + end_text(*receiver));
  for (const Sender& one : *senders)
    drive.notes.push_back("sender " + end_text(one.end));
  const Observation before = observe(here->set, context);
  Progress bar(context.err, context.stderr_is_terminal, "running");
  auto outcome = run_burst(*test, *receiver, address, *senders);
  bar.clear();
  if (!outcome) return fail(context, ExitCode::kCouldNotLook, outcome.error().what);
  const Observation after = observe(here->set, context);
  for (Sender& one : *senders) {
    if (!one.before) continue;
    if (auto again = remote_snapshot(one.remote)) one.after = std::move(*again);
  }
  drive.outcome = std::move(*outcome);
  // What the senders say is the sum of their rows: what this host received.
  drive.words = perftest_words(*test, *receiver, "");
  drive.sees_all_ends = false;
  const std::vector<Evidence> window = window_of(ends_of(before, *senders, &Sender::before),
                                                 ends_of(after, *senders, &Sender::after));
  Verified verified = judge_load(std::move(drive), window, intent);
  const Burst burst = judge_burst(window, intent, senders->size(), here->name, verified.judgement);
  return print_burst(args, context, verified, burst);
}

}  // namespace weir::cli
