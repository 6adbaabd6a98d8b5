// A pair and a burst over ssh: this host is one end, and whoever is named is the other.
#include <algorithm>
#include <ctime>

#include <fmt/format.h>

#include "base/name_pattern.h"
#include "base/text.h"
#include "base/untrusted/quote.h"
#include "ops/inspect/validate.h"
#include "ops/source/snapshot_file.h"
#include "ops/verify/perftest.h"
#include "ops/verify/stage.h"

namespace weir::ops {
namespace {

using evidence::Evidence;
using host::Remote;

/// "user@gpu02" → "gpu02": as the design knows it.
std::string host_of(const std::string& destination) {
  const std::size_t at = destination.rfind('@');
  return at == std::string::npos ? destination : destination.substr(at + 1);
}

/// What weir sees there; the error says why there is nothing.
weir::Result<Evidence> remote_snapshot(const Remote& remote) {
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

bool shows_cuda(const weir::Result<host::CommandOutcome>& help) {
  // perftest prints its help and fails.
  return help.has_value() && (help->output + help->errors).find("--use_cuda") != std::string::npos;
}

std::string end_text(std::string_view role, const PairEnd& end) {
  return fmt::format(
      "{} {}: {}{}, {}", role, end.name, end.device,
      end.gid_index ? fmt::format(", GID {}", *end.gid_index) : ", GID as perftest chooses",
      end.address.empty() ? "no address of the rail" : end.address);
}

weir::Result<PairTest> test_of(const RemoteRequest& request, const design::Intent& intent) {
  PairTest test;
  test.words = request.perftest;
  const auto command = host::perftest_command(test.words);
  if (!command)
    return invalid_error(
        fmt::format("--perftest: expected ib_write_bw or another perftest program, found '{}'",
                    join(test.words, " ")));
  constexpr std::int64_t kLongest = 3600;
  if (command->duration) test.seconds = command->duration->raw() / kPicosecondsPerSecond;
  if (test.seconds > kLongest) return invalid_error("--perftest: -D of an hour at most");
  if (!intent.hosts.empty() && !intent.hosts.front().nics.empty())
    test.traffic_class = intent.hosts.front().nics.front().traffic_class;
  return test;
}

/// A host over there, before and after.
struct Peer {
  Remote remote;
  PairEnd end;
  std::optional<Evidence> before;
  std::optional<Evidence> after;
};

/// This host, the other ends, and the test between them.
struct Trial {
  Stage stage;
  Evidence seen;  // this host, before anything was started
  PairEnd here;
  std::vector<std::unique_ptr<Peer>> peers;  // each end points into its own evidence
  PairTest test;
  Drive drive;
};

weir::Status add_peers(const RemoteRequest& request, const std::function<bool()>& is_interrupted,
                       Trial& trial) {
  for (const std::string& name : request.hosts) {
    if (is_interrupted && is_interrupted()) return {};
    WEIR_TRY(remote, Remote::make(name, request.ssh, is_interrupted));
    auto peer = std::make_unique<Peer>(Peer{std::move(remote), {}, {}, {}});
    auto seen = remote_snapshot(peer->remote);
    if (seen) {
      peer->before = std::move(*seen);
    } else {
      trial.drive.notes.push_back(fmt::format("not read: {}", seen.error().what));
    }
    trial.peers.push_back(std::move(peer));
  }
  for (const auto& peer : trial.peers) {
    WEIR_TRY(end, choose_end(host_of(peer->remote.name()), peer->before ? &*peer->before : nullptr,
                             trial.stage.fabric.intent, request.rail));
    peer->end = std::move(end);
  }
  return {};
}

/// After each part. Whether the other end has heard is not known: timeout(1) ends it there then.
Status unless_interrupted(const VerifyRequest& request) {
  if (!request.is_interrupted || !request.is_interrupted()) return {};
  return Failure{FailureKind::kInterrupted,
                 "interrupted: what was started was stopped here, and asked to end elsewhere"};
}

Result<std::unique_ptr<Trial>> set_up_trial(const VerifyRequest& request,
                                            const RemoteRequest& remote) {
  WEIR_TRY(stage, set_up(request));
  WEIR_TRY(test, or_bad_request(test_of(remote, stage.fabric.intent)));
  WEIR_TRY(seen, or_could_not_look(stage.set.hosts.front()->observe()));
  auto trial = std::make_unique<Trial>(
      Trial{std::move(stage), std::move(seen), {}, {}, std::move(test), {}});
  trial->drive.ran_on = trial->stage.ran_on;
  WEIR_TRY_STATUS(or_could_not_look(add_peers(remote, request.is_interrupted, *trial)));
  WEIR_TRY_STATUS(unless_interrupted(request));
  WEIR_TRY(here, or_could_not_look(choose_end(trial->stage.ran_on, &trial->seen,
                                              trial->stage.fabric.intent, remote.rail)));
  trial->here = std::move(here);
  return trial;
}

/// This host and the others, each once: another end may be this machine under another name.
std::vector<Evidence> all_ends(const Observation& here, const Trial& trial,
                               std::optional<Evidence> Peer::*when) {
  std::vector<Evidence> all = here.all();
  for (const auto& peer : trial.peers) {
    const std::optional<Evidence>& seen = (*peer).*when;
    if (!seen) continue;
    const bool is_there = std::any_of(all.begin(), all.end(), [&](const Evidence& other) {
      return other.provenance.host == seen->provenance.host;
    });
    if (!is_there) all.push_back(*seen);
  }
  return all;
}

/// Looks at all ends, runs, looks again; what was seen in between.
template <class Run>
Result<std::vector<Evidence>> watch_trial(Trial& trial, const VerifyRequest& request,
                                          const Run& run) {
  const Observation before = observe(trial.stage.set);
  auto done = run();
  WEIR_TRY_STATUS(unless_interrupted(request));
  WEIR_TRY(outcome, or_could_not_look(std::move(done)));
  const Observation after = observe(trial.stage.set);
  for (const auto& peer : trial.peers) {
    if (!peer->before) continue;
    if (auto again = remote_snapshot(peer->remote)) peer->after = std::move(*again);
  }
  WEIR_TRY_STATUS(unless_interrupted(request));
  trial.drive.outcome = std::move(outcome);
  return window_of(all_ends(before, trial, &Peer::before), all_ends(after, trial, &Peer::after));
}

weir::Result<host::CommandOutcome> run_both(const Trial& trial, const Peer& server) {
  WEIR_TRY(both, run_pair(server.remote, trial.test, perftest_words(trial.test, server.end, ""),
                          trial.drive.words));
  host::CommandOutcome outcome = std::move(both.client);
  if (outcome.exit_status == 0) outcome.exit_status = both.server.exit_status;
  outcome.errors += both.server.errors;
  return outcome;
}

/// Starts at a second of the clock, so that all start together; hosts of a cluster share a clock.
std::string at_second(std::time_t when, const std::vector<std::string>& words, std::int64_t limit) {
  return fmt::format("while [ \"$(date +%s)\" -lt {} ]; do sleep 0.02; done; exec timeout {} {}",
                     static_cast<long long>(when), limit, shell_line(words));
}

/// Commands side by side. Those that still run at the end are all asked to end before the first is
/// waited for.
template <class Command>
struct SideBySide {
  std::vector<std::unique_ptr<Command>> all = {};
  SideBySide() = default;
  SideBySide(const SideBySide&) = delete;
  SideBySide& operator=(const SideBySide&) = delete;
  ~SideBySide() {
    for (const auto& command : all)
      command->ask_to_end();
  }
};

/// Servers here, one per sender, each on its own port; then all clients at the same second.
weir::Result<host::CommandOutcome> run_senders(const Trial& trial, const std::string& address,
                                               const std::function<bool()>& is_interrupted) {
  SideBySide<host::RunningCommand> servers;
  std::vector<std::vector<std::string>> words;
  for (const auto& sender : trial.peers) {
    PairTest own = trial.test;
    own.port += static_cast<unsigned>(servers.all.size());
    WEIR_TRY(server, host::RunningCommand::start(perftest_words(own, trial.here, "")));
    servers.all.push_back(std::move(server));
    WEIR_TRY(listening, host::run_command({"sh", "-c", host::wait_for_listener(own.port)}));
    if (listening.exit_status != 0) {
      WEIR_TRY(ended, servers.all.back()->finish(Duration::raw(kPicosecondsPerSecond)));
      return Error{ErrorCode::kIo,
                   fmt::format("{} does not listen on port {}: {}", own.words.front(), own.port,
                               trim(ended.errors.empty() ? ended.output : ended.errors))};
    }
    words.push_back(perftest_words(own, sender->end, address));
  }
  constexpr std::time_t kToGather = 3;
  const std::time_t when = std::time(nullptr) + kToGather;
  const std::int64_t seconds = trial.test.limit_seconds();
  const Duration limit = Duration::raw(seconds * kPicosecondsPerSecond);
  SideBySide<host::RemoteLoad> clients;
  for (std::size_t i = 0; i < trial.peers.size(); ++i) {
    WEIR_TRY(client,
             host::RemoteLoad::start(trial.peers[i]->remote, at_second(when, words[i], seconds)));
    clients.all.push_back(std::move(client));
  }
  host::CommandOutcome all;
  for (std::size_t i = 0; i < clients.all.size(); ++i) {
    WEIR_TRY(done, clients.all[i]->finish(limit, is_interrupted));
    if (is_interrupted && is_interrupted()) return done;
    all.output += fmt::format("# {}\n{}", trial.peers[i]->remote.name(), done.output);
    all.errors += done.errors;
    all.elapsed = std::max(all.elapsed, done.elapsed);
    if (all.exit_status == 0) all.exit_status = done.exit_status;
  }
  for (const auto& server : servers.all) {
    WEIR_TRY(done, server->finish(limit, is_interrupted));
    if (all.exit_status == 0) all.exit_status = done.exit_status;
  }
  return all;
}

Verified with_burst(Verified verified, const diagnose::View& view, std::size_t senders,
                    const std::string& receiver) {
  verified.burst = diagnose::count_burst(view, senders, receiver);
  diagnose::judge_burst(*verified.burst, verified.judged.judgement);
  return verified;
}

Result<Verified> remote_burst(const VerifyRequest& request, const RemoteRequest& remote) {
  WEIR_TRY(trial, set_up_trial(request, remote));
  const std::string address = !remote.address.empty()       ? remote.address
                              : trial->here.address.empty() ? trial->stage.ran_on
                                                            : trial->here.address;
  trial->drive.notes.push_back(end_text("receiver", trial->here));
  for (const auto& sender : trial->peers)
    trial->drive.notes.push_back(end_text("sender", sender->end));
  WEIR_TRY(window, watch_trial(*trial, request, [&] {
             return run_senders(*trial, address, request.is_interrupted);
           }));
  // What the senders report is the sum of their rows: what this host received.
  trial->drive.words = perftest_words(trial->test, trial->here, "");
  const Stage& stage = trial->stage;
  const diagnose::View view(stage.subject(window));
  return with_burst(judge_drive(std::move(trial->drive), view), view, trial->peers.size(),
                    stage.ran_on);
}

/// Everybody, or those that are named, to the host that was chosen.
Result<Verified> lab_burst(const VerifyRequest& request, const RemoteRequest& remote) {
  WEIR_TRY(stage, set_up(request));
  std::vector<std::string> names =
      remote.hosts.empty() ? stage.set.lab->host_names() : remote.hosts;
  std::erase(names, stage.ran_on);
  const std::size_t senders = names.size();
  if (senders < 2) return bad_request("a burst needs two senders besides the receiver");
  names.push_back(stage.ran_on);
  // Many connections start at line rate before the first notification comes back.
  std::vector<std::string> words = {"incast", "to=" + stage.ran_on, "size=4MB", "qps=16",
                                    "depth=1"};
  if (!remote.hosts.empty()) words.push_back("hosts=" + compact_names(names));
  WEIR_TRY(watched, watch_command(stage, words, request.progress, true));
  const diagnose::View view(stage.subject(watched.window));
  Verified verified = judge_drive(std::move(watched.drive), view);
  add_unseen(watched.after, verified.judged.judgement);
  return with_burst(std::move(verified), view, senders, stage.ran_on);
}

/// In a lab the server runs by itself: the same words, with the rail's device and the design's
/// traffic class.
Result<Verified> lab_pair(const VerifyRequest& request, const RemoteRequest& remote) {
  WEIR_TRY(stage, set_up(request));
  WEIR_TRY(test, or_bad_request(test_of(remote, stage.fabric.intent)));
  std::vector<std::string> words = test.words;
  for (const design::HostIntent& host : stage.fabric.intent.hosts) {
    if (host.name != stage.ran_on) continue;
    for (const design::NicIntent& nic : host.nics)
      if (nic.rail == remote.rail) words.insert(words.end(), {"-d", nic.device});
  }
  if (!host::perftest_command(words)->tclass)
    words.push_back(fmt::format("--tclass={}", test.traffic_class.value()));
  words.push_back(remote.hosts.front());
  return verify_load(request, words);
}

}  // namespace

Result<Verified> verify_pair(const VerifyRequest& request, const RemoteRequest& remote) {
  WEIR_CHECK(remote.hosts.size() == 1);
  if (!request.source.lab.empty()) return lab_pair(request, remote);
  WEIR_TRY(trial, set_up_trial(request, remote));
  Peer& server = *trial->peers.front();
  PairEnd& client = trial->here;
  const std::string& program = trial->test.words.front();
  if (client.gpu_bus && server.end.gpu_bus) {
    client.perftest_has_cuda = shows_cuda(host::run_command({program, "--help"}));
    server.end.perftest_has_cuda = shows_cuda(server.remote.run({program, "--help"}));
  }
  const GpuChoice gpu = choose_gpu(client, server.end);
  trial->test.uses_gpu = gpu.uses_gpu;
  Drive& drive = trial->drive;
  drive.notes.push_back(gpu.why);
  drive.notes.push_back(end_text("client", client));
  drive.notes.push_back(end_text("server", server.end));
  const std::string address = !remote.address.empty()      ? remote.address
                              : server.end.address.empty() ? server.end.name
                                                           : server.end.address;
  drive.words = perftest_words(trial->test, client, address);
  WEIR_TRY(window, watch_trial(*trial, request, [&] { return run_both(*trial, server); }));
  if (server.before && server.before->provenance.host == trial->stage.ran_on)
    drive.notes.push_back(fmt::format("{} is this machine: seen once", server.end.name));
  drive.sees_all_ends = server.after.has_value();
  return judge_drive(std::move(drive), diagnose::View(trial->stage.subject(window)));
}

Result<Verified> verify_burst(const VerifyRequest& request, const RemoteRequest& remote) {
  return request.source.lab.empty() ? remote_burst(request, remote) : lab_burst(request, remote);
}

}  // namespace weir::ops
