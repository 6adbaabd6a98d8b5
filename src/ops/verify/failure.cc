#include <functional>

#include <fmt/format.h>

#include "base/text.h"
#include "host/probe/linux_command.h"
#include "ops/verify/stage.h"

namespace weir::ops {
namespace {

/// How a failure begins and ends; in a lab a fault, on hosts two commands of the user's.
struct Failing {
  std::function<weir::Status()> begin;
  std::function<weir::Status()> end;
};

std::optional<std::string> after_key(const std::string& text, std::string_view key) {
  if (!text.starts_with(key)) return std::nullopt;
  return text.substr(key.size());
}

weir::Status clear_faults(lab::Lab& lab, const std::vector<std::string>& faults) {
  for (const std::string& fault : faults) {
    WEIR_TRY(cleared, lab.clear_fault(fault));
    WEIR_CHECK(cleared > 0);
  }
  return {};
}

/// All of them or none.
weir::Status add_faults(lab::Lab& lab, const std::vector<std::string>& faults,
                        const std::string& what) {
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const weir::Status added = lab.add_fault(faults[i]);
    if (added) continue;
    for (std::size_t earlier = 0; earlier < i; ++earlier)
      static_cast<void>(lab.clear_fault(faults[earlier]));
    if (what != faults[i]) return added;
    return added.error().within("--under-failure (link=LINK, host=HOST, rail=N or a fault)");
  }
  return {};
}

Result<Failing> lab_failure(const FailureRequest& request, lab::Lab& lab,
                            const design::Intent& intent) {
  std::vector<std::string> faults = faults_of(request.failure, intent);
  if (faults.empty())
    return bad_input(
        fmt::format("--under-failure {}: no host of the design has that rail", request.failure));
  return Failing{[&lab, faults, what = request.failure] { return add_faults(lab, faults, what); },
                 [&lab, faults] { return clear_faults(lab, faults); }};
}

weir::Status run_line(const std::string& line) {
  WEIR_TRY(outcome, host::run_command({"sh", "-c", line}));
  if (outcome.exit_status == 0) return {};
  return Error{ErrorCode::kIo,
               fmt::format("{}: status {}: {}", line, outcome.exit_status, trim(outcome.errors))};
}

Result<Failing> commanded_failure(const FailureRequest& request) {
  const std::string why = why_no_failure(request.failure);
  if (!why.empty())
    return bad_input(fmt::format("--under-failure '{}': {} (weir explain failover.not_injected)",
                                 request.failure, why));
  return Failing{[line = request.failure] { return run_line(line); },
                 [line = request.restore] { return run_line(line); }};
}

Result<std::vector<std::string>> load_of(const FailureRequest& request, const Stage& stage) {
  if (!request.command.empty()) return request.command;
  std::vector<std::string> words;
  if (stage.set.lab) words = load_under(request.failure, stage.fabric.intent);
  if (words.empty())
    return bad_request(stage.set.lab ? "the design has no other rail to carry a load: say what to "
                                       "run with -- COMMAND"
                                     : "what to run: -- COMMAND");
  return words;
}

Result<std::pair<Phase, Verified>> run_phase(std::string_view name, Stage& stage,
                                             const std::vector<std::string>& words,
                                             const ProgressCallback& progress) {
  WEIR_TRY(watched, watch_command(stage, words, progress, false));
  const diagnose::View view(stage.subject(watched.window));
  Verified verified = judge_drive(std::move(watched.drive), view);
  Phase phase{.name = name,
              .elapsed = verified.drive.outcome.elapsed,
              .pauses = diagnose::count_burst(view, 0, stage.ran_on).pauses,
              .result = {.exit_status = verified.drive.outcome.exit_status,
                         .lossless_drops = diagnose::lossless_drops(verified.judged.observations),
                         .judgement = verified.judgement()}};
  return std::pair(std::move(phase), std::move(verified));
}

Failure not_injected(const Error& error) {
  const bool is_system = error.code == ErrorCode::kIo;
  return {is_system ? FailureKind::kCouldNotLook : FailureKind::kBadInput, error.what};
}

}  // namespace

std::vector<std::string> faults_of(const std::string& what, const design::Intent& intent) {
  // Not at once: the load is under way when it happens.
  const auto down = [](std::string_view at) {
    return fmt::format("link-down,at={},from=20us", at);
  };
  if (const auto at = after_key(what, "link=")) return {down(*at)};
  if (const auto at = after_key(what, "host=")) return {down(*at)};
  const auto rail = after_key(what, "rail=");
  if (!rail) return {what};
  std::vector<std::string> all;
  for (const design::HostIntent& host : intent.hosts)
    for (const design::NicIntent& nic : host.nics)
      if (std::to_string(nic.rail) == *rail)
        all.push_back(down(fmt::format("{}/{}", host.name, nic.rail)));
  return all;
}

std::vector<std::string> load_under(const std::string& what, const design::Intent& intent) {
  std::vector<std::string> words = {"all-to-all", "size=256KB"};
  const auto drained = after_key(what, "rail=");
  if (!drained) return words;
  std::vector<std::string> others;
  for (const design::NicIntent& nic : intent.hosts.front().nics)
    if (std::to_string(nic.rail) != *drained) others.push_back(std::to_string(nic.rail));
  if (others.empty()) return {};
  words.push_back("rails=" + join(others, "+"));
  return words;
}

std::string why_no_failure(const std::string& command) {
  const bool is_link = command.find("ip link") != std::string::npos ||
                       command.find("ifconfig") != std::string::npos ||
                       command.find("ifdown") != std::string::npos;
  if (!is_link || command.find("ssh") != std::string::npos) return {};
  return "taking a host's interface down does not stop RoCE: its packets never pass the interface. "
         "Shut the switch's port, or the queue pair's peer";
}

Result<Verified> verify_failure(const VerifyRequest& request, const FailureRequest& asked) {
  WEIR_TRY(stage, set_up(request));
  WEIR_TRY(words, load_of(asked, stage));
  WEIR_TRY(failing, stage.set.lab ? lab_failure(asked, *stage.set.lab, stage.fabric.intent)
                                  : commanded_failure(asked));
  constexpr std::array<std::string_view, 3> kNames = {"before", "during", "after"};
  std::vector<Phase> phases;
  std::optional<Verified> last;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const weir::Status changed = i == 1 ? failing.begin() : i == 2 ? failing.end() : weir::Status();
    if (!changed) return not_injected(changed.error());
    auto phase = run_phase(kNames.at(i), stage, words, request.progress);
    if (!phase) {
      if (i == 1) static_cast<void>(failing.end());  // never leave a failure behind
      return std::move(phase).error();
    }
    phases.push_back(std::move(phase->first));
    last = std::move(phase->second);
  }
  last->judged.judgement = diagnose::judge_failure(
      {phases[0].result, phases[1].result, phases[2].result}, asked.failure);
  last->failure = asked.failure;
  last->phases = std::move(phases);
  return std::move(*last);
}

}  // namespace weir::ops
