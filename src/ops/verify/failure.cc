#include <functional>

#include <fmt/format.h>

#include "base/text.h"
#include "base/untrusted/quote.h"
#include "host/change/rollback.h"
#include "ops/change/state.h"
#include "ops/verify/stage.h"
#include "units/format.h"

namespace weir::ops {
namespace {

/// How a failure begins, and what is written down before it does.
struct Failing {
  host::JournalFailure record;
  std::function<weir::Status()> begin;
};

std::optional<std::string> after_key(const std::string& text, std::string_view key) {
  if (!text.starts_with(key)) return std::nullopt;
  return text.substr(key.size());
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
  return Failing{{.what = request.failure, .restore = "", .faults = faults},
                 [&lab, faults, what = request.failure] { return add_faults(lab, faults, what); }};
}

Result<Failing> commanded_failure(const FailureRequest& request,
                                  const std::function<bool()>& is_interrupted) {
  const std::string why = why_no_failure(request.failure);
  if (!why.empty())
    return bad_input(fmt::format("--under-failure '{}': {} (weir explain failover.not_injected)",
                                 request.failure, why));
  return Failing{
      {.what = request.failure, .restore = request.restore, .faults = {}},
      [line = request.failure, is_interrupted] { return run_failure_line(line, is_interrupted); }};
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
                                             const ProgressCallback& progress,
                                             const host::LoadControl& control) {
  WEIR_TRY(watched, watch_command(stage, words, progress, false, control));
  const diagnose::View view(stage.subject(watched.window));
  Verified verified = judge_drive(std::move(watched.drive), view);
  Phase phase{.name = name,
              .elapsed = verified.drive.outcome.elapsed,
              .pauses = diagnose::count_burst(view, 0, stage.ran_on).pauses,
              .result = {.exit_status = verified.drive.outcome.exit_status,
                         .lossless_drops = diagnose::lossless_drops(verified.judged.observations),
                         .judgement = verified.judgement(),
                         .shows_failure = stage.set.lab.has_value() ||
                                          diagnose::shows_failure(verified.judged.observations)}};
  if (const auto& survivors = verified.drive.outcome.survivors) {
    phase.result.lost = survivors->lost;
    phase.result.others_finished = survivors->are_finished;
  }
  return std::pair(std::move(phase), std::move(verified));
}

/// A failure from before it is injected until it is over, written down so that a rollback can end
/// it.
class Injection {
 public:
  Injection(const Failing& failing, lab::Lab* lab, host::JournalWriter journal)
      : failing_(failing), lab_(lab), journal_(std::move(journal)) {}
  Injection(const Injection&) = delete;
  Injection& operator=(const Injection&) = delete;
  /// Where an exception comes through; all else has called finish().
  ~Injection() { static_cast<void>(finish({})); }

  weir::Status begin() {
    WEIR_TRY_STATUS(journal_.failing(failing_.record));
    is_on_ = true;  // one that fails half-way is ended too
    return failing_.begin();
  }
  weir::Status end() {
    WEIR_TRY_STATUS(end_failure(failing_.record, lab_));
    is_on_ = false;
    return journal_.healed();
  }
  weir::Status note_load(const host::StartedLoad& load) {
    host::JournalLoad record = host::load_of_process(load.group);
    record.host = load.host;
    record.stop = load.stop;
    return journal_.load(record);
  }
  /// A load that could not be ended.
  void note_left(const std::string& why) { left_ = why; }

  /// On every way out: ends what is still on. What could not be ended is in the answer, and its
  /// journal stays open: a rollback tries again, and so does the next boot.
  std::vector<std::string> finish(const std::function<void(const std::string&)>& say) {
    if (is_finished_) return {};
    is_finished_ = true;
    std::vector<std::string> out;
    if (is_on_ && say && !failing_.record.restore.empty())
      say(fmt::format("ending the failure, {} at most: {}", to_text(kFailureLimit),
                      failing_.record.restore));
    if (is_on_)
      if (const weir::Status ended = end(); !ended && is_on_)
        out.push_back("the failure is NOT over: " + ended.error().what);
    if (!left_.empty()) out.push_back(left_);
    if (out.empty()) static_cast<void>(journal_.ended(true));
    return out;
  }

 private:
  const Failing& failing_;
  lab::Lab* lab_;
  host::JournalWriter journal_;
  std::string left_;
  bool is_on_ = false;
  bool is_finished_ = false;
};

/// A new journal, for a failure.
Result<host::JournalWriter> begin_journal(const host::StateDirectory& state, bool is_lab,
                                          const std::string& design, const FailureRequest& asked) {
  WEIR_TRY_STATUS(refuse_open_journal(state));
  WEIR_TRY(journal, or_state_failure(state.create()));
  WEIR_TRY_STATUS(or_state_failure(journal.begin({.time = time_now(),
                                                  .tool = asked.tool,
                                                  .design = design,
                                                  .boot = is_lab ? std::string() : host::boot_id(),
                                                  .verb = "verify"})));
  constexpr std::size_t kRecords = 16384;  // two commands of a line each, three loads
  WEIR_TRY_STATUS(or_state_failure(journal.reserve(kRecords)));
  return journal;
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

namespace {

constexpr std::array<std::string_view, 3> kPhaseNames = {"before", "during", "after"};

using RunPhase = std::function<Result<Phase>(std::string_view, const host::LoadControl&)>;

/// `run` in its three phases; the failure may still be on.
Result<FailureAround> run_phases(Injection& injection, const FailureRequest& asked,
                                 const std::function<bool()>& is_interrupted, const RunPhase& run) {
  host::LoadControl control;
  control.is_interrupted = is_interrupted;
  control.on_start = [&](const host::StartedLoad& load) { return injection.note_load(load); };
  control.on_left = [&](const std::string& why) { injection.note_left(why); };
  FailureAround out;
  for (std::size_t i = 0; i < kPhaseNames.size(); ++i) {
    const weir::Status changed = i == 1   ? injection.begin()
                                 : i == 2 ? injection.end()
                                          : weir::Status();
    if (!changed && is_interrupted && is_interrupted())
      return Failure{FailureKind::kInterrupted, "interrupted"};
    if (!changed) return not_injected(changed.error());
    WEIR_TRY(phase, run(kPhaseNames.at(i), control));
    out.phases.push_back(std::move(phase));
  }
  out.judgement = diagnose::judge_failure(
      {out.phases[0].result, out.phases[1].result, out.phases[2].result}, asked.failure);
  return out;
}

/// The failure from before it is injected until it is over.
Result<FailureAround> run_around(const Failing& failing, const FailureRequest& asked, lab::Lab* lab,
                                 const std::string& design,
                                 const std::function<bool()>& is_interrupted, const RunPhase& run) {
  const host::StateDirectory state = state_directory(asked.state, lab);
  WEIR_TRY_STATUS(or_state_failure(state.prepare()));
  WEIR_TRY(lock, or_state_failure(state.lock(asked.wait)));
  WEIR_TRY(journal, begin_journal(state, lab != nullptr, design, asked));
  Injection injection(failing, lab, std::move(journal));
  auto out = run_phases(injection, asked, is_interrupted, run);
  const std::vector<std::string> left = injection.finish(asked.wait.say);
  if (left.empty()) return out;
  const bool is_said = out || out.error().kind == FailureKind::kLeft;  // of the load
  return Failure{FailureKind::kLeft,
                 fmt::format("{}{}. weir rollback{} tries again",
                             is_said ? std::string() : out.error().what + "; ", join(left, "; "),
                             asked.state.empty() ? "" : " --state " + shell_word(asked.state))};
}

}  // namespace

Result<FailureAround> around_command(const FailureRequest& asked, const std::string& design,
                                     const std::function<Result<Phase>(std::string_view)>& run) {
  if (asked.restore.empty())
    return bad_request("--drain needs --restore: what ends the failure, whatever happens");
  WEIR_TRY(failing, commanded_failure(asked, asked.is_interrupted));
  return run_around(failing, asked, nullptr, design, asked.is_interrupted,
                    [&](std::string_view name, const host::LoadControl&) { return run(name); });
}

Result<Verified> verify_failure(const VerifyRequest& request, const FailureRequest& asked) {
  WEIR_TRY(stage, set_up(request));
  WEIR_TRY(words, load_of(asked, stage));
  WEIR_TRY(failing, stage.set.lab ? lab_failure(asked, *stage.set.lab, stage.fabric.intent)
                                  : commanded_failure(asked, request.is_interrupted));
  std::optional<Verified> last;
  WEIR_TRY(
      around,
      run_around(failing, asked, stage.set.lab ? &*stage.set.lab : nullptr,
                 stage.fabric.design.file, request.is_interrupted,
                 [&](std::string_view name, const host::LoadControl& control) -> Result<Phase> {
                   WEIR_TRY(phase, run_phase(name, stage, words, request.progress, control));
                   last = std::move(phase.second);
                   return std::move(phase.first);
                 }));
  last->judged.judgement = std::move(around.judgement);
  last->failure = asked.failure;
  last->phases = std::move(around.phases);
  return std::move(*last);
}

}  // namespace weir::ops
