#include "tune/failures.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "tune/loads.h"
#include "units/format.h"

namespace weir::tune {
namespace {

/// The first link between two switches, as a fault names it.
std::string link_between_switches(const design::Intent& intent) {
  for (const design::SwitchIntent& node : intent.switches)
    for (const design::SwitchPortIntent& port : node.ports)
      if (!port.is_access) return fmt::format("{}/{}", node.name, port.name);
  return {};
}

/// A switch above the leaves that is not the only one of its tier; empty where there is none.
std::string spare_switch(const design::Intent& intent) {
  int highest = 1;
  for (const design::SwitchIntent& node : intent.switches)
    highest = std::max(highest, node.tier);
  std::vector<std::string> names;
  for (const design::SwitchIntent& node : intent.switches)
    if (node.tier == highest && highest > 1) names.push_back(node.name);
  return names.size() > 1 ? names.front() : std::string();
}

std::vector<RunOrder> broken_orders(Search& search, const std::vector<std::string>& settings,
                                    const Scenario& scenario, Duration limit, std::size_t seeds) {
  std::vector<RunOrder> orders;
  for (std::size_t i = 0; i < seeds; ++i) {
    RunOrder order{settings, scenario.loads, {}, 0, limit, scenario.dead_host};
    order.seed = seed_of(search.seed(), SeedSet::kSelection, i);
    if (!scenario.fault.empty()) order.faults = {scenario.fault};
    orders.push_back(std::move(order));
  }
  return orders;
}

/// Empty where it passes.
std::string trouble_of(const std::vector<Metrics>& runs) {
  std::uint64_t drops = 0;
  std::uint64_t stuck = 0;
  for (const Metrics& run : runs) {
    drops += run.lossless_drops;
    stuck += run.stuck;
  }
  if (drops > 0) return fmt::format("{} of lossless packets", counted(drops, "drop"));
  if (stuck > 0) return fmt::format("{} did not finish", counted(stuck, "flow"));
  return {};
}

}  // namespace

std::vector<Scenario> scenarios_of(const design::Intent& intent,
                                   const std::vector<TimedLoad>& loads) {
  std::vector<Scenario> out;
  WEIR_CHECK(!loads.empty());
  // The load that lasts longest meets the failure in full.
  const auto longest = std::max_element(
      loads.begin(), loads.end(),
      [](const TimedLoad& a, const TimedLoad& b) { return a.duration_us < b.duration_us; });
  const std::string from = fmt::format(
      "{}us", std::max<std::int64_t>(static_cast<std::int64_t>(longest->duration_us / 5), 1));
  const std::string link = link_between_switches(intent);
  if (!link.empty())
    out.push_back(
        {"link", fmt::format("link-down,at={},from={}", link, from), {longest->text}, {}});
  const std::string top = spare_switch(intent);
  if (!top.empty())
    out.push_back(
        {"switch", fmt::format("switch-down,at={},from={}", top, from), {longest->text}, {}});
  const std::size_t rails = intent.hosts.front().nics.size();
  if (rails > 1 && longest->text.find("rails=") == std::string::npos)
    out.push_back({"rail",
                   "",
                   {with_parameters(longest->text, {{"rails", fmt::format("0-{}", rails - 2)}})},
                   {}});
  const auto independent = std::find_if(loads.begin(), loads.end(),
                                        [](const TimedLoad& load) { return !load.has_steps; });
  const std::string last = intent.hosts.back().name;
  if (intent.hosts.size() > 2) {
    const std::string victim_load =
        independent != loads.end() ? independent->text : "permutation,size=4MB,shift=1";
    out.push_back(
        {"host", fmt::format("link-down,at={},from={}", last, from), {victim_load}, last});
  }
  if (intent.hosts.size() > 2) {
    const std::size_t senders = std::min<std::size_t>(intent.hosts.size() - 1, 15);
    out.push_back(
        {"burst",
         "",
         {longest->text, fmt::format("incast,to={},senders={},size=1MB,start={},label=burst", last,
                                     senders, from)},
         {}});
  }
  return out;
}

Result<std::vector<FailureOutcome>> break_things(Search& search, const Point& point,
                                                 const std::vector<Scenario>& scenarios,
                                                 std::size_t seeds) {
  const std::vector<std::string> chosen = search.space().settings(point);
  WEIR_TRY(variant, search.evaluator().variant(chosen));
  // A tail that is lost with a link is sent again after an ACK timeout (InfiniBand 9.7.6.1.3:
  // 4.096 us * 2^n), which may be seconds: time for two, in whole microseconds.
  const std::int64_t timeout = 4096 * (std::int64_t{1} << *variant->design.nccl.timeout) / 1000 + 1;
  const Duration limit = search.question().limit + 1_us * (2 * timeout);
  // All at once, so that no core waits for the last of a scenario.
  std::vector<RunOrder> orders;
  for (const Scenario& scenario : scenarios)
    for (const auto& settings : {std::vector<std::string>(), chosen})
      for (RunOrder& order : broken_orders(search, settings, scenario, limit, seeds))
        orders.push_back(std::move(order));
  WEIR_TRY(runs, search.evaluator().run(orders));
  const Question& question = search.question();
  std::vector<FailureOutcome> out;
  auto next = runs.begin();
  for (const Scenario& scenario : scenarios) {
    const auto middle = next + static_cast<std::ptrdiff_t>(seeds);
    const auto end = middle + static_cast<std::ptrdiff_t>(seeds);
    const std::vector<Metrics> before(next, middle);
    const std::vector<Metrics> after(middle, end);
    next = end;
    FailureOutcome row;
    row.name = scenario.name;
    row.fault = scenario.fault;
    row.workload = scenario.loads.front();
    row.start = summary_of(before, question.objective, question.pause_limit);
    row.chosen = summary_of(after, question.objective, question.pause_limit);
    const std::string start_trouble = trouble_of(before);
    const std::string trouble = trouble_of(after);
    row.start_passes = start_trouble.empty();
    row.chosen_passes = trouble.empty();
    row.reason = trouble.empty() ? start_trouble : trouble;
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace weir::tune
