#include "cli/verbs/planning.h"

#include <fmt/format.h>

namespace weir::cli {

namespace {

/// The facts of the devices that the design knows, however long it takes: what was not read in time
/// would not be changed.
Observation look(const HostSet& set, const design::Intent& intent, Context& context) {
  Observation seen;
  for (const auto& host : set.hosts) {
    host::Scope scope{.devices = {}, .with_machine = true};
    if (const design::HostIntent* wanted = find_host(intent, host->name())) {
      for (const design::NicIntent& nic : wanted->nics)
        scope.devices.push_back(nic.device);
    }
    Result<evidence::Evidence> facts = host->facts(scope);
    if (facts) {
      seen.hosts.push_back(std::move(*facts));
      continue;
    }
    seen.unseen.push_back(fmt::format("{}: {}", host->name(), facts.error().what));
    context.err << "weir: could not look at " << seen.unseen.back() << '\n';
  }
  return seen;
}

}  // namespace

std::optional<Planning> make_plans(const Args& args, Context& context, ExitCode& code) {
  auto set = open_hosts(args, context, code);
  if (!set) return std::nullopt;
  auto input = design_for(args, context, *set, code);
  if (!input) return std::nullopt;
  Observation seen = look(*set, input->intent, context);
  if (seen.hosts.empty()) {
    code = fail(context, ExitCode::kCouldNotLook, "no host could be looked at");
    return std::nullopt;
  }
  Planning planning{std::move(*set), std::move(*input), std::move(seen), {}, ""};
  for (const evidence::Evidence& host : planning.seen.hosts) {
    const std::string& name = host.provenance.host;
    const design::HostIntent* wanted = find_host(planning.input.intent, name);
    if (wanted == nullptr) {
      planning.seen.unseen.push_back(
          fmt::format("{}: {} does not know it", name, planning.input.design.file));
      context.err << "weir: " << planning.seen.unseen.back() << '\n';
      continue;
    }
    planning.plans.push_back(host::plan_host(host, *wanted, planning.input.intent));
  }
  if (const auto design = args.get("DESIGN")) planning.words += " " + *design;
  planning.words += planning.set.flag();
  for (const std::string& host : args.all("host"))
    planning.words += " --host " + host;
  return planning;
}

}  // namespace weir::cli
