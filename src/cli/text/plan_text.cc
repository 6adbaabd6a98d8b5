#include "cli/text/plan_text.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/name_pattern.h"
#include "base/table.h"
#include "base/text.h"

namespace weir::cli {
namespace {

using host::HostPlan;
using host::Leftover;
using host::Step;

struct PlanGroup {
  const HostPlan* plan = nullptr;  // the first; the others are the same
  std::vector<std::string> hosts;
};

bool is_same(const Step& a, const Step& b) {
  return a.operation == b.operation && a.before == b.before;
}
bool is_same(const Leftover& a, const Leftover& b) {
  return a.device == b.device && a.reason == b.reason &&
         evidence::subject_of(a.deviation) == evidence::subject_of(b.deviation) &&
         a.deviation.found == b.deviation.found;
}

bool is_same(const HostPlan& a, const HostPlan& b) {
  const auto same = [](const auto& x, const auto& y) { return is_same(x, y); };
  return std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(), same) &&
         std::equal(a.left.begin(), a.left.end(), b.left.begin(), b.left.end(), same);
}

std::vector<PlanGroup> group(std::span<const HostPlan> plans) {
  std::vector<PlanGroup> groups;
  for (const HostPlan& plan : plans) {
    if (plan.steps.empty() && plan.left.empty()) continue;
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const PlanGroup& known) {
      return is_same(*known.plan, plan);
    });
    if (same == groups.end()) {
      groups.push_back({&plan, {plan.host}});
    } else {
      same->hosts.push_back(plan.host);
    }
  }
  return groups;
}

std::string before_text(const Step& step) {
  return step.before ? host::value_text(*step.before) : "not shown yet";
}

}  // namespace

std::string plan_table(std::span<const HostPlan> plans, Tense tense) {
  const bool is_done = tense == Tense::kIsNow;
  std::string text;
  for (const PlanGroup& alike : group(plans)) {
    text += fmt::format("\n{}\n", compact_names(alike.hosts));
    if (!alike.plan->steps.empty()) {
      TextTable table({"rail", "setting", is_done ? "was" : "is", is_done ? "is now" : "will be"});
      for (const Step& step : alike.plan->steps)
        table.add_row({step.rail, host::name_of(step.operation.change), before_text(step),
                       host::value_text(step.operation.change)});
      text += table.to_text(2);
    }
    for (const Leftover& left : alike.plan->left) {
      const evidence::DeviationText words = evidence::text_of(left.deviation);
      const std::string found = left.deviation.missing ? "" : ", is " + words.found;
      const std::string line =
          fmt::format("rail {} ({}) {}: wanted {}{}: not changed: {}", left.rail, left.device,
                      evidence::subject_of(left.deviation), words.expected, found, left.reason);
      text += "  " + hang(line, 86, 2) + "\n";
    }
  }
  return text;
}

std::string plan_commands(std::span<const HostPlan> plans) {
  std::string text;
  for (const PlanGroup& alike : group(plans)) {
    if (alike.plan->steps.empty()) continue;
    const std::string others =
        alike.hosts.size() > 1 ? fmt::format(" (the same on {})", compact_names(alike.hosts)) : "";
    text += fmt::format("\nwhat that is on {}{}:\n", alike.hosts.front(), others);
    std::vector<std::pair<std::string_view, std::vector<std::string>>> risks;
    for (const Step& step : alike.plan->steps) {
      for (const std::string& command : step.commands)
        text += fmt::format("  {}\n", command);
      if (step.risk.empty()) continue;
      const std::string name = host::name_of(step.operation.change);
      const auto known = std::find_if(risks.begin(), risks.end(),
                                      [&](const auto& risk) { return risk.first == step.risk; });
      if (known == risks.end()) {
        risks.push_back({step.risk, {name}});
      } else if (std::find(known->second.begin(), known->second.end(), name) ==
                 known->second.end()) {
        known->second.push_back(name);
      }
    }
    for (const auto& [risk, names] : risks)
      text += hang(fmt::format("risk: {}: {}", join(names, ", "), risk), 88, 6) + "\n";
    std::vector<std::string_view> lost;
    for (const Step& step : alike.plan->steps) {
      if (step.not_restored.empty() ||
          std::find(lost.begin(), lost.end(), step.not_restored) != lost.end())
        continue;
      lost.push_back(step.not_restored);
      text += hang(fmt::format("not restored by a rollback: {}", step.not_restored), 88, 6) + "\n";
    }
  }
  return text;
}

}  // namespace weir::cli
