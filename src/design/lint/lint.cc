#include "design/lint/lint.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "design/lint/rules.h"
#include "finding/catalog.h"

namespace weir::design {
namespace {

constexpr auto kRules = std::to_array<LintRule>({
    // Marking and classes first: everything else rests on traffic being in the right class.
    {"dscp.tos_confusion", check_dscp_tos_confusion},
    {"dscp.unmapped_hop", check_dscp_unmapped_hop},
    {"dscp.rewritten", check_dscp_rewritten},
    {"dscp.narrow_map", check_dscp_narrow_map},
    {"trust.mixed", check_trust_mixed},
    {"cnp.shares_rdma_priority", check_cnp_shares_rdma_priority},
    {"cnp.lossless", check_cnp_lossless},
    {"class.shared_queue", check_class_shared_queue},
    {"class.no_guarantee", check_class_no_guarantee},
    {"pfc.off", check_pfc_off},
    {"pfc.wrong_priority", check_pfc_wrong_priority},
    {"pfc.multiple_priorities", check_pfc_multiple_priorities},
    {"pause.global_on", check_pause_global_on},
    {"watchdog.off", check_watchdog_off},
    {"watchdog.slow", check_watchdog_slow},
    {"headroom.too_small", check_headroom_too_small},
    {"headroom.exceeds_buffer", check_headroom_exceeds_buffer},
    {"buffer.pools_over_100", check_buffer_pools_over_100},
    {"ecn.off_on_lossless", check_ecn_off_on_lossless},
    {"ecn.above_xoff", check_ecn_above_xoff},
    {"ecn.pmax_too_small", check_ecn_pmax_too_small},
    {"np.disabled", check_np_disabled},
    {"rp.disabled", check_rp_disabled},
    {"dcqcn.unstable", check_dcqcn_unstable},
    {"nic_knob.does_not_exist", check_nic_knob_does_not_exist},
    {"nic_knob.bad_value", check_nic_knob_bad_value},
    {"mtu.mismatch", check_mtu_mismatch},
    {"mtu.platform_max", check_mtu_platform_max},
    {"cable.too_long", check_cable_too_long},
    {"fec.wrong", check_fec_wrong},
    {"shaper.on_rdma_path", check_shaper_on_rdma_path},
    {"routing.cyclic_buffer_dependency", check_routing_cyclic_buffer_dependency},
    {"rail.same_subnet", check_rail_same_subnet},
    {"subnet.two_leaves", check_subnet_two_leaves},
    {"ecmp.same_seed", check_ecmp_same_seed},
    {"routing.ordering_risk", check_routing_ordering_risk},
    {"platform.cannot", check_platform_cannot},
    {"rail.isolated", check_rail_isolated},
    {"fabric.oversubscribed", check_fabric_oversubscribed},
    // Last: the proof says what no rule has said.
    {"dscp.unmarked", check_losslessness},
});

// The largest power of ten that leaves `bytes` at least two digits.
std::int64_t two_digit_step(Bytes bytes) {
  std::int64_t step = 1;
  while (bytes.raw() / step >= 100)
    step *= 10;
  return step;
}

// The calculators that show the arithmetic behind a family of findings, then lint again.
std::vector<std::string> next_commands(const finding::Judgement& judgement,
                                       const std::string& file) {
  struct Calculator {
    std::string_view family;
    std::string_view verb;
  };
  constexpr auto kCalculators = std::to_array<Calculator>({{"ecn.above", "calc buffers"},
                                                           {"headroom.", "calc buffers"},
                                                           {"buffer.", "calc buffers"},
                                                           {"ecn.pmax", "calc wred"},
                                                           {"dcqcn.", "calc wred"}});
  std::vector<std::string> commands;
  for (const finding::Finding& found : judgement.findings) {
    for (const Calculator& calculator : kCalculators) {
      if (!found.id.starts_with(calculator.family)) continue;
      std::string command = fmt::format("weir {} {}", calculator.verb, file);
      if (std::find(commands.begin(), commands.end(), command) == commands.end())
        commands.push_back(std::move(command));
    }
  }
  if (!judgement.findings.empty()) commands.push_back(fmt::format("weir lint {}", file));
  return commands;
}

}  // namespace

std::span<const LintRule> lint_rules() {
  return kRules;
}

finding::Judgement lint(const Design& design, const Intent& intent) {
  LintCase lint_case(design, intent);
  for (const LintRule& rule : kRules)
    rule.check(lint_case);
  finding::Judgement judgement;
  judgement.findings = std::move(lint_case).take();
  finding::settle(judgement);
  judgement.next = next_commands(judgement, design.file);
  return judgement;
}

finding::Finding& LintCase::report(std::string_view id, TextPosition at, std::string verdict) {
  finding::Where where;
  where.file = design.file;
  where.position = first_known({at, design.format.at()});
  findings_.push_back(finding::make_finding(id, std::move(verdict), std::move(where)));
  return findings_.back();
}

bool LintCase::has_reported(std::string_view id) const {
  return std::any_of(findings_.begin(), findings_.end(),
                     [&](const finding::Finding& finding) { return finding.id == id; });
}

void LintCase::add_evidence(finding::Finding& found, std::string line) {
  found.evidence.push_back({{}, std::move(line), {}, std::nullopt});
}

void LintCase::add_fix(finding::Finding& found, std::vector<std::string> lines, std::string note) {
  found.fix.push_back({"design", std::move(lines), std::move(note)});
}

TextPosition first_known(std::initializer_list<TextPosition> places) {
  for (const TextPosition place : places)
    if (place.is_known()) return place;
  return {};
}

std::string count_and_first(std::size_t count, const std::string& first, std::string_view plural) {
  if (count == 1) return first;
  return fmt::format("{} {} ({} is the first)", with_thousands(static_cast<std::int64_t>(count)),
                     plural, first);
}

std::string to_text(const SwitchCause& cause) {
  return count_and_first(cause.nodes.size(), cause.first().name, "switches");
}

std::string to_text(const HostCause& cause) {
  return count_and_first(cause.nodes.size(), cause.first().name, "hosts");
}

std::string belongs_under(const SwitchCause& cause) {
  return cause.group == nullptr ? std::string()
                                : fmt::format("under switches, {}", cause.group->name);
}

std::string belongs_under(const HostCause& cause) {
  return fmt::format("under hosts, {}", cause.group->name);
}

std::vector<SwitchCause> switch_causes(const LintCase& c,
                                       const std::function<bool(const SwitchIntent&)>& is_at_fault,
                                       const std::function<OwnLine(const SwitchGroup&)>& own,
                                       TextPosition whole_file) {
  std::vector<SwitchCause> causes;
  for (const SwitchIntent& node : c.intent.switches) {
    if (!is_at_fault(node)) continue;
    const Named<SwitchGroup>& group = c.group_of(node);
    const OwnLine line = own(group.value);
    const Named<SwitchGroup>* const owner = line.is_written ? &group : nullptr;
    auto cause = std::find_if(causes.begin(), causes.end(),
                              [&](const SwitchCause& known) { return known.group == owner; });
    if (cause == causes.end()) {
      const TextPosition at = first_known({line.is_written ? line.at : whole_file, group.at});
      cause = causes.insert(cause, {at, owner, {}});
    }
    cause->nodes.push_back(&node);
  }
  return causes;
}

std::vector<HostCause> host_causes(const LintCase& c,
                                   const std::function<bool(const HostIntent&)>& is_at_fault) {
  std::vector<HostCause> causes;
  for (const HostIntent& host : c.intent.hosts) {
    if (!is_at_fault(host)) continue;
    const Named<HostGroup>& group = c.group_of(host);
    // Hosts of one group are consecutive in the intent.
    if (causes.empty() || causes.back().group != &group) causes.push_back({&group, {}});
    causes.back().nodes.push_back(&host);
  }
  return causes;
}

std::string listed(std::span<const std::string> words) {
  if (words.size() < 2) return words.empty() ? std::string() : words.front();
  return fmt::format("{} and {}", join(words.first(words.size() - 1), ", "), words.back());
}

Bytes round_below(Bytes limit) {
  const std::int64_t step = two_digit_step(limit);
  return Bytes::raw(limit.raw() / step * step);
}

Bytes round_above(Bytes need) {
  const std::int64_t step = two_digit_step(need);
  return Bytes::raw((need.raw() + step - 1) / step * step);
}

}  // namespace weir::design
