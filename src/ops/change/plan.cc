#include "ops/change/plan.h"

#include <algorithm>

#include <fmt/format.h>

namespace weir::ops {
namespace {

/// The facts of the devices that the design knows, however long it takes: what was not read in time
/// would not be changed.
Observation read_facts(const HostSet& set, const design::Intent& intent) {
  Observation seen;
  seen.unseen = set.absent;
  std::vector<std::optional<weir::Result<evidence::Evidence>>> looks(set.hosts.size());
  for_each_host(set, [&](std::size_t i, host::HostIo& host) {
    host::Scope scope{.devices = {}, .with_machine = true};
    if (const design::HostIntent* wanted = find_host(intent, host.name())) {
      for (const design::NicIntent& nic : wanted->nics)
        scope.devices.push_back(nic.device);
    }
    looks[i] = host.facts(scope);
  });
  for (std::size_t i = 0; i < looks.size(); ++i) {
    if (looks[i]->has_value()) {
      seen.hosts.push_back(std::move(**looks[i]));
    } else {
      seen.unseen.push_back(fmt::format("{}: {}", set.hosts[i]->name(), looks[i]->error().what));
    }
  }
  return seen;
}

}  // namespace

std::size_t Plan::step_count() const {
  std::size_t count = 0;
  for (const host::HostPlan& host : hosts)
    count += host.steps.size();
  return count;
}

std::size_t Plan::leftover_count() const {
  std::size_t count = 0;
  for (const host::HostPlan& host : hosts)
    count += host.left.size();
  return count;
}

bool Plan::is_partial() const {
  return !seen.unseen.empty() ||
         std::any_of(hosts.begin(), hosts.end(), [](const host::HostPlan& host) {
           return std::any_of(host.left.begin(), host.left.end(),
                              [](const host::Leftover& left) { return left.is_unread; });
         });
}

Result<Plan> plan(const PlanRequest& request) {
  WEIR_TRY(set, open_hosts(request.source));
  WEIR_TRY(fabric, fabric_for(request.design, set));
  return plan_hosts(std::move(set), std::move(fabric));
}

Result<Plan> plan_hosts(HostSet set, Fabric fabric) {
  Observation seen = read_facts(set, fabric.intent);
  if (seen.hosts.empty()) return no_host_seen(seen);
  Plan plan{std::move(set), std::move(fabric), std::move(seen), {}};
  for (const evidence::Evidence& host : plan.seen.hosts) {
    const std::string& name = host.provenance.host;
    const design::HostIntent* wanted = find_host(plan.fabric.intent, name);
    if (wanted == nullptr) {
      plan.seen.unseen.push_back(fmt::format("{}: not in {}", name, plan.fabric.design.file));
      continue;
    }
    plan.hosts.push_back(host::plan_host(host, *wanted, plan.fabric.intent));
  }
  return plan;
}

}  // namespace weir::ops
