// The losslessness proof as a rule: where the chain of a class breaks and no other rule has said
// why, that is a finding of its own.
#include <algorithm>

#include <fmt/format.h>

#include "design/lint/rules.h"
#include "design/prove/prove.h"
#include "units/format.h"

namespace weir::design {
namespace {

TextPosition place_of(const LintCase& c, const Chain& chain) {
  if (chain.id == "dscp.unmarked") return c.design.nccl.service_level.at();
  for (const SwitchIntent& node : c.intent.switches)
    if (node.name == chain.where.switch_name) return c.group_of(node).at;
  for (const HostIntent& host : c.intent.hosts)
    if (host.name == chain.where.host) return c.group_of(host).at;
  return {};
}

/// What to write, for faults that the design can take back.
void add_fix(const LintCase& c, const Chain& chain, finding::Finding& found) {
  const auto* const rdma = c.design.find_class(kRdmaClass);
  if (chain.id == "dscp.unmarked") {
    LintCase::add_fix(
        found, {fmt::format("nccl: {{ service_level: {} }}", to_text(*rdma->value.priority))},
        "or trust: dscp, where the service level is not read");
  } else if (chain.id == "trust.mixed") {
    LintCase::add_fix(found, {"trust: dscp"},
                      "a packet that is not tagged, or was routed, has no PCP");
  } else if (chain.id == "class.no_guarantee") {
    const bool is_cnp = chain.kind == TrafficKind::kCnp;
    LintCase::add_fix(found, {is_cnp ? "scheduling: strict" : "minimum: 50%"},
                      is_cnp ? "under classes, cnp" : "under classes, rdma");
  }
}

}  // namespace

void check_losslessness(LintCase& c) {
  const Proof proof = prove(c.design, c.intent);
  for (const Chain& chain : proof.chains) {
    if (chain.proven != Proven::kBroken || c.has_reported(chain.id)) continue;
    const std::string more =
        chain.places > 1 ? fmt::format("; the same at {} more", chain.places - 1) : "";
    auto& found = c.report(chain.id, first_known({place_of(c, chain), c.design.trust.at()}),
                           fmt::format("{}: {}{}", title_of(chain.kind), chain.reason, more));
    const finding::Where at = chain.where;
    found.where.host = at.host;
    found.where.rail = at.rail;
    found.where.device = at.device;
    found.where.switch_name = at.switch_name;
    found.where.port = at.port;
    for (const ChainStep& step : chain.steps)
      LintCase::add_evidence(found, fmt::format("{}: {}", step.place, step.what));
    add_fix(c, chain, found);
  }
}

}  // namespace weir::design
