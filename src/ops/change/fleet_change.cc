#include "ops/change/fleet_change.h"

#include <algorithm>

#include "base/check.h"
#include "base/parallel.h"
#include "ops/change/fleet_members.h"

namespace weir::ops {
namespace {

std::vector<std::string> words_of(FleetVerb verb) {
  switch (verb) {
    case FleetVerb::kRollback: return {"rollback", "--yes", "--json"};
    case FleetVerb::kRollbackPending: return {"rollback", "--pending", "--yes", "--json"};
    case FleetVerb::kConfirm: return {"confirm", "--json"};
  }
  WEIR_UNREACHABLE("every verb has words");
}

FleetHostAnswer ask_host(host::FleetMember& member, FleetVerb verb) {
  const bool is_confirm = verb == FleetVerb::kConfirm;
  const auto outcome = member.run_weir(words_of(verb), "", is_confirm ? kShortTime : kChangeTime);
  if (!outcome) {
    // A host without weir was not changed by it either.
    const bool is_absent = outcome.error().code == ErrorCode::kNotFound;
    return {.state = is_absent ? FleetHostState::kFailed : FleetHostState::kNoAnswer,
            .detail = outcome.error().what};
  }
  return is_confirm ? read_confirm_answer(outcome->exit_status, outcome->output, outcome->errors)
                    : read_rollback_answer(outcome->exit_status, outcome->output, outcome->errors);
}

}  // namespace

std::string_view state_text(FleetVerb verb, FleetHostState state) {
  const bool is_confirm = verb == FleetVerb::kConfirm;
  switch (state) {
    case FleetHostState::kDone: return is_confirm ? "confirmed" : "rolled back";
    case FleetHostState::kKept: return "kept already";
    case FleetHostState::kNothing:
      return is_confirm ? "nothing to confirm" : "nothing to roll back";
    case FleetHostState::kTooLate: return "too late, rolled back already";
    case FleetHostState::kInPart: return "rolled back in part";
    case FleetHostState::kFailed: return "failed";
    case FleetHostState::kNoAnswer: return "no answer";
    case FleetHostState::kNotAsked: return "not asked";
  }
  WEIR_UNREACHABLE("every state has a name");
}

std::size_t FleetChange::count(FleetHostState state) const {
  return static_cast<std::size_t>(std::count_if(
      hosts.begin(), hosts.end(), [&](const auto& host) { return host.state == state; }));
}

std::size_t FleetChange::changes() const {
  std::size_t sum = 0;
  for (const FleetHostAnswer& host : hosts)
    sum += host.changes;
  return sum;
}

bool FleetChange::is_kept() const {
  return std::all_of(hosts.begin(), hosts.end(), [](const auto& host) { return host.is_kept; });
}

std::vector<std::string> FleetChange::names(const std::vector<FleetHostState>& states) const {
  std::vector<std::string> out;
  for (const FleetHostAnswer& host : hosts)
    if (std::find(states.begin(), states.end(), host.state) != states.end())
      out.push_back(host.host);
  return out;
}

Result<FleetChange> change_fleet(const FleetSource& fleet, FleetVerb verb,
                                 const std::function<bool()>& is_interrupted) {
  WEIR_TRY(members, open_members(fleet, Interruptible::kNo));
  FleetChange out{.verb = verb, .hosts = std::vector<FleetHostAnswer>(fleet.hosts.size())};
  for_each_index(fleet.hosts.size(), fleet.limits.fanout, [&](std::size_t i) {
    const std::string& name = fleet.hosts[i].name;
    FleetHostAnswer& answer = out.hosts[i];
    if (is_interrupted && is_interrupted()) {
      answer.detail = "interrupted before its turn";
    } else {
      answer = ask_host(*members.at(name), verb);
    }
    answer.host = name;
  });
  return out;
}

}  // namespace weir::ops
