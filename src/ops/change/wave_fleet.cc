// Waves on a fleet: every host is changed by its own weir, with its deadline armed there first.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/file.h"
#include "base/parallel.h"
#include "base/text.h"
#include "base/untrusted/printable.h"
#include "ops/change/waves.h"
#include "units/format.h"

namespace weir::ops {
namespace {

constexpr Duration kUsualDeadline = 300_s;
constexpr Duration kChangeTime = 180_s;  // links that go down train for half a minute
constexpr Duration kShortTime = 30_s;

using Members = std::map<std::string, std::unique_ptr<host::FleetMember>>;

weir::Result<Members> members_of(const FleetSource& fleet, bool can_be_interrupted) {
  FleetSource own = fleet;
  own.reach.keeps_connection = true;  // an apply, a look and a confirmation
  // Each wave waits for its own hosts; the deadline on the hosts is what bounds them.
  own.limits.budget = 86400_s;
  if (!can_be_interrupted) own.limits.is_interrupted = {};
  WEIR_TRY(made, host::make_fleet(own.hosts, own.reach, own.limits));
  Members members;
  for (auto& member : made) {
    const std::string name = member->name();
    members.emplace(name, std::move(member));
  }
  return members;
}

std::string short_line(std::string_view text) {
  constexpr std::size_t kMost = 200;
  text = trim(text);
  return printable_line(text.substr(0, std::min(text.find('\n'), kMost)));
}

class FleetWaves final : public WaveDriver {
 public:
  FleetWaves(const WaveRequest& request, const Plan& plan, Members members, std::string design)
      : request_(request),
        intent_(plan.fabric.intent),
        members_(std::move(members)),
        design_(std::move(design)) {}

  void apply(std::vector<WaveHost>& wave) override {
    const Duration within = request_.apply.confirm_within.value_or(kUsualDeadline);
    std::vector<std::string> words = {"apply",
                                      "-",
                                      "--yes",
                                      "--json",
                                      "--confirm-within",
                                      fmt::format("{}s", within.raw() / 1'000'000'000'000)};
    if (request_.apply.despite_lint) words.emplace_back("--despite-lint");
    for_each(wave, members_, [&](WaveHost& host, host::FleetMember& member) {
      const auto& is_interrupted = request_.apply.is_interrupted;
      if (is_interrupted && is_interrupted())
        return set(host, WaveHostState::kUntouched, "not asked: interrupted before its turn");
      // Whether it was lost before or after its changes, nobody here knows: its deadline does.
      const auto outcome = member.run_weir(words, design_, kChangeTime);
      if (!outcome) return set(host, state_of(outcome.error()), outcome.error().what);
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
    for_each(wave, members_, [&](WaveHost& host, host::FleetMember& member) {
      if (host.state != WaveHostState::kApplied) return;
      auto outcome = member.run_weir({"confirm", "--json"}, "", kShortTime);
      if (!outcome) outcome = member.run_weir({"confirm", "--json"}, "", kShortTime);
      if (!outcome) return set(host, WaveHostState::kLost, outcome.error().what);
      if (outcome->exit_status == 0) return set(host, WaveHostState::kConfirmed, "");
      set(host, WaveHostState::kFailed,
          fmt::format("weir confirm: status {}: {}", outcome->exit_status,
                      short_line(outcome->errors)));
    });
  }

  void roll_back(std::vector<WaveHost>& wave) override {
    // A fleet of its own: what was interrupted is still to be put back.
    auto members = members_of(*request_.planned.source.fleet, false);
    if (!members) return;
    for_each(wave, *members, [&](WaveHost& host, host::FleetMember& member) {
      const bool may_be_changed = host.state == WaveHostState::kApplied ||
                                  host.state == WaveHostState::kConfirmed ||
                                  host.state == WaveHostState::kLost;
      if (!may_be_changed) return;
      const auto was_undone = undo(host, member);
      if (was_undone && *was_undone) return set(host, WaveHostState::kRolledBack, host.detail);
      if (was_undone)
        return set(host, WaveHostState::kFailed,
                   fmt::format("{}{}no apply awaits its confirmation there: not begun, rolled back "
                               "by itself, or confirmed; nothing was undone",
                               host.detail, host.detail.empty() ? "" : "; "));
      const std::string note =
          host.state == WaveHostState::kConfirmed
              ? "confirmed, and could not be rolled back: "
              : "rolls itself back when its deadline is over; could not be rolled back now: ";
      set(host, WaveHostState::kLost, note + was_undone.error().what);
    });
  }

 private:
  /// Whether an apply was undone. The last one there is this one only where we confirmed it; else
  /// an earlier one, which was kept, may be the last.
  static weir::Result<bool> undo(const WaveHost& host, host::FleetMember& member) {
    std::vector<std::string> words = {"rollback", "--yes", "--json"};
    if (host.state != WaveHostState::kConfirmed) words.emplace_back("--pending");
    WEIR_TRY(outcome, member.run_weir(words, "", kChangeTime));
    return read_rollback_answer(outcome.exit_status, outcome.output, outcome.errors);
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
  void for_each(std::vector<WaveHost>& wave, Members& members, const Body& body) const {
    const unsigned fanout = request_.planned.source.fleet->limits.fanout;
    for_each_index(wave.size(), fanout,
                   [&](std::size_t i) { body(wave[i], *members.at(wave[i].host)); });
  }

  const WaveRequest& request_;
  const design::Intent& intent_;
  Members members_;
  std::string design_;
};

}  // namespace

Result<std::unique_ptr<WaveDriver>> make_fleet_driver(const WaveRequest& request,
                                                      const Plan& plan) {
  WEIR_CHECK(request.planned.source.fleet.has_value());
  const FleetSource& fleet = *request.planned.source.fleet;
  if (!host::runs_lines(fleet.reach))
    return bad_request("--exec has no %c, the place of the command to run on the host");
  if (request.planned.design == "-")
    return bad_request("the design is sent to every host: name its file instead of -");
  WEIR_TRY(design, or_bad_input(read_file(request.planned.design)));
  WEIR_TRY(members, or_bad_request(members_of(fleet, true)));
  return std::unique_ptr<WaveDriver>(
      std::make_unique<FleetWaves>(request, plan, std::move(members), std::move(design)));
}

}  // namespace weir::ops
