// Waves on a fleet: every host is changed by its own weir, with its deadline armed there first.
#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include <fmt/format.h>

#include "base/file.h"
#include "base/parallel.h"
#include "ops/change/fleet_change.h"
#include "ops/change/fleet_members.h"
#include "ops/change/waves.h"
#include "units/format.h"

namespace weir::ops {
namespace {

constexpr Duration kUsualDeadline = 300_s;
constexpr int kUndoAttempts = 3;  // what could not be written once may be written next time
constexpr auto kBetweenAttempts = std::chrono::seconds(2);
constexpr int kConfirmAttempts = 3;  // a connection that broke off once may hold the next time

class FleetWaves final : public WaveDriver {
 public:
  FleetWaves(const WaveRequest& request, const Plan& plan, FleetMembers members, std::string design)
      : request_(request),
        intent_(plan.fabric.intent),
        members_(std::move(members)),
        design_(std::move(design)) {}

  void apply(std::vector<WaveHost>& wave) override {
    const Duration within = deadline();
    std::vector<std::string> words = {"apply", "-", "--yes", "--json",
                                      // A connection that breaks off leaves the host a part of it.
                                      "--expect", design_digest(design_), "--confirm-within",
                                      fmt::format("{}s", within.raw() / 1'000'000'000'000)};
    if (request_.apply.despite_lint) words.emplace_back("--despite-lint");
    for_each(wave, members_, [&](WaveHost& host, host::FleetMember& member) {
      const auto& is_interrupted = request_.apply.is_interrupted;
      if (is_interrupted && is_interrupted())
        return set(host, WaveHostState::kUntouched, "not asked: interrupted before its turn");
      // Whether it was lost before or after its changes, nobody here knows: its deadline does.
      const auto outcome = member.run_weir(words, design_, kChangeTime);
      if (!outcome) {
        host.is_unheard = state_of(outcome.error()) == WaveHostState::kLost;
        return set(host, state_of(outcome.error()), outcome.error().what);
      }
      read_apply_answer(outcome->exit_status, outcome->output, outcome->errors, host);
    });
  }

  std::vector<std::string> faults(std::vector<WaveHost>& wave) override {
    std::vector<std::optional<evidence::Evidence>> seen(wave.size());
    for_each(wave, members_, [&](WaveHost& host, host::FleetMember& member) {
      if (host.state != WaveHostState::kApplied) return;
      auto look = member.observe();
      if (!look) return set(host, WaveHostState::kLost, look.error().what);
      seen[static_cast<std::size_t>(&host - wave.data())] = std::move(*look);
    });
    std::vector<evidence::Evidence> all;
    for (auto& host : seen)
      if (host) all.push_back(std::move(*host));
    return all.empty() ? std::vector<std::string>() : error_texts(all, intent_);
  }

  void confirm(std::vector<WaveHost>& wave) override {
    // A fleet of its own: an interruption must not leave half of the wave kept.
    auto members = open_members(*request_.planned.source.fleet, Interruptible::kNo);
    if (!members) {
      for (WaveHost& host : wave)
        if (host.state == WaveHostState::kApplied)
          set(host, WaveHostState::kLost, members.error().what);
      return;
    }
    for_each(wave, *members, [&](WaveHost& host, host::FleetMember& member) {
      if (host.state != WaveHostState::kApplied) return;
      host.was_asked_to_keep = true;
      auto is_kept = ask_to_keep(member);
      for (int i = 1; !is_kept && i < kConfirmAttempts; ++i)
        is_kept = ask_to_keep(member);
      // Also where it put a part back only: the rollback of the wave asks for the rest.
      if (!is_kept) return set(host, WaveHostState::kLost, is_kept.error().what);
      if (*is_kept) return set(host, WaveHostState::kConfirmed, "");
      set(host, WaveHostState::kFailed, "its deadline was over: it rolled itself back");
    });
  }

  void roll_back(std::vector<WaveHost>& wave) override {
    // A fleet of its own: what was interrupted is still to be put back.
    auto members = open_members(*request_.planned.source.fleet, Interruptible::kNo);
    if (!members) return;
    for_each(wave, *members, [&](WaveHost& host, host::FleetMember& member) {
      const bool may_be_changed = host.state == WaveHostState::kApplied ||
                                  host.state == WaveHostState::kConfirmed ||
                                  host.state == WaveHostState::kLost;
      if (!may_be_changed) return;
      const auto undone = undo(host, member);
      if (undone && undone->state == FleetHostState::kDone)
        return set(host, WaveHostState::kRolledBack, host.detail);
      if (undone && undone->state == FleetHostState::kInPart)
        return set(host, WaveHostState::kUndoneInPart, undone->detail);
      if (undone && host.is_unheard)
        return set(host, WaveHostState::kLost,
                   fmt::format("{}; no apply awaits its confirmation there yet, and nothing was "
                               "undone; one that only begins now rolls itself back {} later",
                               host.detail, to_text(deadline())));
      if (undone)
        return set(host, WaveHostState::kFailed,
                   fmt::format("{}{}no apply awaits its confirmation there: not begun, rolled back "
                               "by itself, or confirmed; nothing was undone",
                               host.detail, host.detail.empty() ? "" : "; "));
      set(host, WaveHostState::kLost,
          std::string(fate_of(host)) + "; could not be rolled back now: " + undone.error().what);
    });
  }

 private:
  [[nodiscard]] Duration deadline() const {
    return request_.apply.confirm_within.value_or(kUsualDeadline);
  }
  /// Confirming twice is confirming once: asked again, a host says that it is kept already.
  static weir::Result<bool> ask_to_keep(host::FleetMember& member) {
    WEIR_TRY(outcome, member.run_weir({"confirm", "--json"}, "", kShortTime));
    FleetHostAnswer answer =
        read_confirm_answer(outcome.exit_status, outcome.output, outcome.errors);
    if (answer.is_kept) return true;
    if (answer.state == FleetHostState::kTooLate) return false;
    if (answer.state == FleetHostState::kNothing) answer.detail = "weir confirm: no apply there";
    return Error{ErrorCode::kIo, std::move(answer.detail)};
  }
  /// What was undone: kDone, kInPart or kNothing. The last apply there is this one only where we
  /// confirmed it; else an earlier one, which was kept, may be the last.
  static weir::Result<FleetHostAnswer> undo(const WaveHost& host, host::FleetMember& member) {
    if (host.state == WaveHostState::kConfirmed) return send_rollback(member, {});
    WEIR_TRY(pending, send_rollback(member, {"--pending"}));
    if (pending.state != FleetHostState::kNothing || !host.was_asked_to_keep) return pending;
    // Asked to keep it, and the answer was lost: if it did, the last apply there is this one.
    WEIR_TRY(is_kept, ask_to_keep(member));
    return is_kept ? send_rollback(member, {}) : weir::Result<FleetHostAnswer>(pending);
  }
  /// Asked again while a part is left: the guard of the host has ended with the first rollback.
  static weir::Result<FleetHostAnswer> send_rollback(host::FleetMember& member,
                                                     const std::vector<std::string>& more) {
    std::vector<std::string> words = {"rollback", "--yes", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    for (int attempt = 1;; ++attempt) {
      WEIR_TRY(outcome, member.run_weir(words, "", kChangeTime));
      FleetHostAnswer answer =
          read_rollback_answer(outcome.exit_status, outcome.output, outcome.errors);
      if (answer.state == FleetHostState::kInPart && attempt < kUndoAttempts) {
        std::this_thread::sleep_for(kBetweenAttempts);
        words = {"rollback", "--yes", "--json", "--pending"};
        continue;
      }
      const bool is_answer = answer.state == FleetHostState::kDone ||
                             answer.state == FleetHostState::kInPart ||
                             answer.state == FleetHostState::kNothing;
      if (is_answer) return answer;
      return Error{ErrorCode::kIo, std::move(answer.detail)};
    }
  }
  /// What becomes of a host that cannot be put back from here.
  static std::string_view fate_of(const WaveHost& host) {
    if (host.state == WaveHostState::kConfirmed) return "changed and confirmed";
    if (host.was_asked_to_keep)
      return "asked to confirm, no answer came: it is kept, or rolls itself back when its deadline "
             "is over";
    return "rolls itself back when its deadline is over";
  }
  static void set(WaveHost& host, WaveHostState state, std::string detail) {
    host.state = state;
    host.detail = std::move(detail);
  }
  /// A host without weir was not changed.
  static WaveHostState state_of(const Error& error) {
    return error.code == ErrorCode::kNotFound ? WaveHostState::kFailed : WaveHostState::kLost;
  }

  template <class Body>
  void for_each(std::vector<WaveHost>& wave, FleetMembers& members, const Body& body) const {
    const unsigned fanout = request_.planned.source.fleet->limits.fanout;
    for_each_index(wave.size(), fanout,
                   [&](std::size_t i) { body(wave[i], *members.at(wave[i].host)); });
  }

  const WaveRequest& request_;
  const design::Intent& intent_;
  FleetMembers members_;
  std::string design_;
};

}  // namespace

Result<std::unique_ptr<WaveDriver>> make_fleet_driver(const WaveRequest& request,
                                                      const Plan& plan) {
  WEIR_CHECK(request.planned.source.fleet.has_value());
  const FleetSource& fleet = *request.planned.source.fleet;
  if (request.planned.design == "-")
    return bad_request("the design is sent to every host: name its file instead of -");
  WEIR_TRY(design, or_bad_input(read_file(request.planned.design)));
  WEIR_TRY(members, open_members(fleet, Interruptible::kYes));
  return std::unique_ptr<WaveDriver>(
      std::make_unique<FleetWaves>(request, plan, std::move(members), std::move(design)));
}

}  // namespace weir::ops
