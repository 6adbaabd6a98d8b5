#include "cli/json/change_json.h"

#include "base/json.h"
#include "cli/json/object.h"

namespace weir::cli {
namespace {

using host::HostOutcome;
using host::StepOutcome;

Json step_json(const host::Step& step) {
  Json object = {{"device", step.operation.device},
                 {"rail", step.rail},
                 {"setting", host::name_of(step.operation.change)},
                 {"from", nullptr},
                 {"to", host::value_text(step.operation.change)},
                 {"commands", step.commands},
                 {"risk", step.risk},
                 {"reversible", step.is_reversible},
                 {"not_restored", step.not_restored}};
  if (step.before) object["from"] = host::value_text(*step.before);
  return object;
}

Json step_json(const StepOutcome& outcome) {
  Json object = step_json(outcome.step);
  object["state"] = host::to_text(outcome.state);
  object["error"] = outcome.error;
  return object;
}

Json host_plan_json(const host::HostPlan& plan) {
  Json steps = Json::array();
  for (const host::Step& step : plan.steps)
    steps.push_back(step_json(step));
  Json left = Json::array();
  for (const host::Leftover& leftover : plan.left) {
    const evidence::DeviationText words = evidence::text_of(leftover.deviation);
    Json entry = {{"device", leftover.device},
                  {"rail", leftover.rail},
                  {"setting", evidence::to_text(leftover.deviation.setting)},
                  {"item", words.item},
                  {"expected", words.expected},
                  {"found", words.found},
                  {"reason", leftover.reason},
                  {"unread", leftover.is_unread}};
    if (leftover.deviation.missing) entry["found"] = nullptr;
    left.push_back(std::move(entry));
  }
  return {{"host", plan.host}, {"steps", std::move(steps)}, {"left", std::move(left)}};
}

Json outcome_json(const HostOutcome& outcome) {
  Json steps = Json::array();
  for (const StepOutcome& step : outcome.steps)
    steps.push_back(step_json(step));
  return {{"host", outcome.host},
          {"done", outcome.is_done()},
          {"restored", !outcome.is_done() && outcome.is_restored()},
          {"failure", outcome.failure},
          {"steps", std::move(steps)}};
}

}  // namespace

void print_plan_json(Context& context, const Command& command, const ops::Plan& plan,
                     std::string_view verdict, const std::vector<std::string>& next) {
  Json object = json_object(command);
  object["verdict"] = verdict;
  object["design"] = plan.fabric.design.file;
  object["hosts"] = Json::array();
  object["unseen"] = plan.seen.unseen;
  object["next"] = next;
  print_json(context, object, {"hosts", plan.hosts.size(), [&](std::size_t at) {
                                 return host_plan_json(plan.hosts[at]);
                               }});
}

void print_applied_json(Context& context, const Command& command,
                        const ops::Transaction& transaction, const ops::Applied& applied,
                        std::string_view verdict, const std::vector<std::string>& next) {
  const ops::Plan& plan = transaction.plan;
  Json object = json_object(command);
  object["verdict"] = verdict;
  object["design"] = plan.fabric.design.file;
  object["changed"] =
      applied.count(host::StepState::kDone) + applied.count(host::StepState::kUnconfirmed);
  object["hosts"] = Json::array();
  object["unseen"] = plan.seen.unseen;
  object["confirm_until"] = applied.is_failed() ? Json() : or_null(applied.confirm_until);
  object["guard"] = Json();
  if (applied.guard && !applied.is_failed())
    object["guard"] = {{"by", applied.guard->by}, {"unit", applied.guard->unit}};
  object["pending"] = Json();
  if (transaction.pending)
    object["pending"] = {{"apply", transaction.pending->title},
                         {"phase", host::to_text(transaction.pending->phase)}};
  object["next"] = next;
  print_json(context, object, {"hosts", applied.hosts.size(), [&](std::size_t at) {
                                 return outcome_json(applied.hosts[at]);
                               }});
}

void print_waves_json(Context& context, const Command& command, const ops::Waves& done,
                      const std::string& design, const std::vector<std::string>& unseen,
                      std::string_view verdict, const std::vector<std::string>& next) {
  Json object = json_object(command);
  object["verdict"] = verdict;
  object["design"] = design;
  std::size_t changed = 0;
  Json waves = Json::array();
  for (const ops::Wave& wave : done.waves) {
    Json hosts = Json::array();
    for (const ops::WaveHost& host : wave.hosts) {
      if (host.state == ops::WaveHostState::kConfirmed) changed += host.changes;
      hosts.push_back({{"host", host.host},
                       {"state", state_text(host.state)},
                       {"changes", host.changes},
                       {"detail", host.detail}});
    }
    waves.push_back({{"wave", wave.name}, {"hosts", std::move(hosts)}});
  }
  object["changed"] = changed;
  object["hosts"] = Json::array();
  object["unseen"] = unseen;
  object["confirm_until"] = Json();
  object["guard"] = Json();
  object["pending"] = Json();
  object["waves"] = std::move(waves);
  object["red_flag"] = done.red_flag;
  object["journal"] = done.journal;
  object["next"] = next;
  print_json(context, object);
}

void print_rollback_json(Context& context, const Command& command,
                         const host::StoredJournal& stored, const host::Rollback& done,
                         const std::vector<host::ChangedSince>& since, std::string_view verdict) {
  Json object = json_object(command);
  object["verdict"] = verdict;
  object["journal"] = stored.file;
  object["design"] = stored.journal.head.design;
  object["applied"] = stored.journal.head.time;
  object["whole"] = done.is_whole;
  object["restarted"] = done.was_restarted;
  object["survived"] = done.survived;
  object["failure"] = stored.journal.failure ? Json(stored.journal.failure->what) : Json();
  object["stopped_load"] = done.stopped_load;
  object["error"] = done.heal_error.empty() ? done.load_error : done.heal_error;
  object["changed_since"] = Json::array();
  for (const host::ChangedSince& setting : since)
    object["changed_since"].push_back({{"host", setting.host},
                                       {"rail", setting.rail},
                                       {"setting", host::name_of(setting.applied)},
                                       {"applied", host::value_text(setting.applied)},
                                       {"found", host::value_text(setting.found)}});
  object["steps"] = Json::array();
  for (const HostOutcome& host : done.hosts) {
    for (const StepOutcome& outcome : host.steps) {
      Json step = step_json(outcome.step);
      step["host"] = host.host;
      step["state"] = host::to_text(outcome.state);
      step["error"] = outcome.error;
      object["steps"].push_back(std::move(step));
    }
  }
  print_json(context, object);
}

void print_nothing_to_roll_back_json(Context& context, const Command& command,
                                     std::string_view verdict) {
  Json object = json_object(command);
  object["verdict"] = verdict;
  object["journal"] = nullptr;
  object["whole"] = true;
  object["steps"] = Json::array();
  print_json(context, object);
}

void print_confirmed_json(Context& context, const Command& command, std::string_view verdict,
                          ops::ConfirmState state) {
  Json object = json_object(command);
  object["verdict"] = verdict;
  object["confirmed"] =
      state == ops::ConfirmState::kConfirmed || state == ops::ConfirmState::kKeptAlready;
  object["state"] = ops::confirm_state_text(state);
  print_json(context, object);
}

void print_fleet_change_json(Context& context, const Command& command, const ops::FleetChange& done,
                             std::string_view verdict, const std::vector<std::string>& next) {
  using ops::FleetHostState;
  Json object = json_object(command);
  object["verdict"] = verdict;
  const std::size_t well = done.count(FleetHostState::kDone) + done.count(FleetHostState::kNothing);
  if (done.verb == ops::FleetVerb::kConfirm) {
    object["confirmed"] = done.is_kept();
  } else {
    object["journal"] = nullptr;
    object["whole"] = well == done.hosts.size();
    object["steps"] = Json::array();
  }
  object["fleet"] = Json::array();
  for (const ops::FleetHostAnswer& host : done.hosts)
    object["fleet"].push_back({{"host", host.host},
                               {"state", state_text(done.verb, host.state)},
                               {"changes", host.changes},
                               {"detail", host.detail}});
  object["next"] = next;
  print_json(context, object);
}

}  // namespace weir::cli
