#pragma once
// What the rules of lint share; not for other folders. One function per rule, one file per family
// (lint_pfc.cc, lint_ecn.cc, …), one table of them all (lint.cc).
//
// A rule reports one finding per *cause*, not per place: a wrong line that concerns 1,000 ports is
// one finding that says so and names the first of them.
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_position.h"
#include "design/fabric/intent.h"
#include "design/file/fabric.h"
#include "finding/finding.h"

namespace weir::design {

/// What a rule reads, and where it puts what it found.
class LintCase {
 public:
  LintCase(const Design& a_design, const Intent& an_intent) : design(a_design), intent(an_intent) {}

  const Design& design;
  const Intent& intent;

  /// A finding with the catalogue's severity; the caller adds evidence, fixes and the node's name.
  /// The reference holds until the next report().
  finding::Finding& report(std::string_view id, TextPosition at, std::string verdict);

  /// `line` is what was computed here from the design, as a sentence or a sum: hence no source.
  static void add_evidence(finding::Finding& found, std::string line);

  /// What to write into the design: `lines` as they stand in the file.
  static void add_fix(finding::Finding& found, std::vector<std::string> lines,
                      std::string note = {});

  [[nodiscard]] const Named<SwitchGroup>& group_of(const SwitchIntent& node) const {
    return design.switches[node.group];
  }
  [[nodiscard]] const Named<HostGroup>& group_of(const HostIntent& node) const {
    return design.hosts[node.group];
  }
  [[nodiscard]] const LinkGroup& group_of(const LinkIntent& link) const {
    return design.links[link.group];
  }

  /// A finding of this id is there already.
  [[nodiscard]] bool has_reported(std::string_view id) const;

  [[nodiscard]] std::vector<finding::Finding> take() && { return std::move(findings_); }

 private:
  std::vector<finding::Finding> findings_;
};

struct LintRule {
  std::string_view id;
  void (*check)(LintCase&);
};
/// Every rule, in the order in which findings of one severity and place are shown.
[[nodiscard]] std::span<const LintRule> lint_rules();

// ---- the rules ----

void check_pfc_multiple_priorities(LintCase&);
void check_pfc_off(LintCase&);
void check_pfc_wrong_priority(LintCase&);
void check_watchdog_off(LintCase&);
void check_watchdog_slow(LintCase&);
void check_pause_global_on(LintCase&);

void check_ecn_above_xoff(LintCase&);
void check_ecn_off_on_lossless(LintCase&);
void check_ecn_pmax_too_small(LintCase&);
void check_np_disabled(LintCase&);
void check_rp_disabled(LintCase&);
void check_dcqcn_unstable(LintCase&);

void check_headroom_too_small(LintCase&);
void check_headroom_exceeds_buffer(LintCase&);
void check_buffer_pools_over_100(LintCase&);

void check_cable_too_long(LintCase&);
void check_fec_wrong(LintCase&);

void check_mtu_mismatch(LintCase&);
void check_mtu_platform_max(LintCase&);

void check_dscp_tos_confusion(LintCase&);
void check_dscp_narrow_map(LintCase&);
void check_dscp_unmapped_hop(LintCase&);
void check_dscp_rewritten(LintCase&);
void check_trust_mixed(LintCase&);

void check_cnp_shares_rdma_priority(LintCase&);
void check_cnp_lossless(LintCase&);
void check_class_no_guarantee(LintCase&);
void check_class_shared_queue(LintCase&);
void check_shaper_on_rdma_path(LintCase&);

void check_rail_same_subnet(LintCase&);
void check_subnet_two_leaves(LintCase&);
void check_rail_isolated(LintCase&);
void check_routing_ordering_risk(LintCase&);
void check_ecmp_same_seed(LintCase&);
void check_fabric_oversubscribed(LintCase&);
void check_routing_cyclic_buffer_dependency(LintCase&);

void check_losslessness(LintCase&);  // the proof; what the rules above have not said yet

void check_nic_knob_does_not_exist(LintCase&);
void check_nic_knob_bad_value(LintCase&);
void check_platform_cannot(LintCase&);

// ---- words and places that several rules need ----

/// The first place that is known: the setting at fault, else the section, group or link behind it.
[[nodiscard]] TextPosition first_known(std::initializer_list<TextPosition> places);

/// Switches that one line puts at fault, the first of them first.
struct SwitchCause {
  TextPosition at;
  const Named<SwitchGroup>* group = nullptr;  // the group whose own line it is; nullptr: the file's
  std::vector<const SwitchIntent*> nodes;
  [[nodiscard]] const SwitchIntent& first() const { return *nodes.front(); }
};
/// "leaf1", or "8 switches (leaf1 is the first)".
[[nodiscard]] std::string to_text(const SwitchCause&);
/// "under switches, leaf", or nothing: where the line of a fix belongs.
[[nodiscard]] std::string belongs_under(const SwitchCause&);

/// Whether a group has a line of its own for something, and where.
struct OwnLine {
  bool is_written = false;
  TextPosition at;
};
template <class T>
[[nodiscard]] OwnLine own_line(const Setting<T>& setting) {
  return {setting.is_written(), setting.at()};
}
/// Gathers the switches for which `is_at_fault`, by cause: the group's `own` line, or else the line
/// `whole_file` that all groups without one share.
[[nodiscard]] std::vector<SwitchCause> switch_causes(
    const LintCase& c, const std::function<bool(const SwitchIntent&)>& is_at_fault,
    const std::function<OwnLine(const SwitchGroup&)>& own, TextPosition whole_file = {});

/// The same for hosts, whose lines always belong to a group.
struct HostCause {
  const Named<HostGroup>* group = nullptr;
  std::vector<const HostIntent*> nodes;
  [[nodiscard]] const HostIntent& first() const { return *nodes.front(); }
};
[[nodiscard]] std::string to_text(const HostCause&);
[[nodiscard]] std::string belongs_under(const HostCause&);  // "under hosts, gpu"
[[nodiscard]] std::vector<HostCause> host_causes(
    const LintCase& c, const std::function<bool(const HostIntent&)>& is_at_fault);

/// "gpu1", or "16 hosts (gpu1 is the first)".
[[nodiscard]] std::string count_and_first(std::size_t count, const std::string& first,
                                          std::string_view plural);

/// "a", "a and b", "a, b and c".
[[nodiscard]] std::string listed(std::span<const std::string> words);

/// A size that a person would write: at most two significant digits, rounded down; never above
/// `limit`.
[[nodiscard]] Bytes round_below(Bytes limit);
/// The same, rounded up: never below `need`.
[[nodiscard]] Bytes round_above(Bytes need);

}  // namespace weir::design
