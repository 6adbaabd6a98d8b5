#include "design/lint/lint.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <ostream>
#include <set>

#include <fmt/format.h>

#include "base/testing.h"
#include "base/text.h"
#include "design/fabric/effective.h"
#include "design/file/load.h"
#include "design/file/templates.h"
#include "design/lint/rules.h"
#include "finding/catalog.h"
#include "finding/shown.h"
#include "units/format.h"

namespace weir::design {
namespace {

using finding::Finding;
using finding::Judgement;
using finding::Severity;

/// Lint of a text that loads and derives.
Judgement lint_text(std::string_view text) {
  const Loaded loaded = load_text(text, "fabric.yaml");
  EXPECT_TRUE(loaded.is_good()) << to_text(loaded);
  if (!loaded.is_good()) return {};
  const Derived derived = derive(loaded.design);
  for (const Diagnostic& error : derived.errors)
    ADD_FAILURE() << error.at.line << ": " << error.message;
  return derived.errors.empty() ? lint(loaded.design, derived.intent) : Judgement();
}

std::string template_text(std::string_view name) {
  const Template* const found = find_template(name);
  EXPECT_NE(found, nullptr) << name;
  std::string text = found == nullptr ? std::string() : std::string(found->text);
  // Edits of "pair" change its system and its ASIC: it stands for switches without a model.
  const std::size_t model = text.find("    model:");
  if (name == "pair") text.erase(model, text.find('\n', model) + 1 - model);
  return text;
}

/// Replaces the first `find`, which must be there; an empty one stands for the end of the text.
struct Edit {
  std::string_view find;
  std::string_view put;
};

std::string edited(std::string text, const std::vector<Edit>& edits) {
  for (const Edit& edit : edits) {
    const auto at = edit.find.empty() ? text.size() : text.find(edit.find);
    EXPECT_NE(at, std::string::npos) << "no '" << edit.find << "' in the template";
    if (at == std::string::npos) continue;
    text.replace(at, edit.find.size(), edit.put);
    if (edit.find.empty()) text += '\n';
  }
  return text;
}

std::size_t changed_lines(const std::string& before, const std::string& after) {
  const auto lines = split(before, '\n');
  const std::multiset<std::string_view> known(lines.begin(), lines.end());
  std::size_t changed = 0;
  for (const std::string_view line : split(after, '\n'))
    changed += known.contains(line) ? 0 : 1;
  return changed;
}

std::string summary(const Judgement& judgement) {
  std::string out;
  for (const Finding& found : judgement.findings) {
    out += fmt::format("{}: {}: {}: {}\n", to_text(found.where), finding::to_text(found.severity),
                       found.id, found.verdict);
  }
  return out.empty() ? "no findings" : out;
}

const Finding* find_id(const Judgement& judgement, std::string_view id) {
  if (!finding::is_raised(judgement.findings, id)) return nullptr;
  return &*std::find_if(judgement.findings.begin(), judgement.findings.end(),
                        [&](const Finding& f) { return f.id == id; });
}

// ---- one edit, one finding ----

struct Case {
  std::string_view name;
  std::string_view id;
  std::string_view base;
  std::vector<Edit> edits;
  std::string_view line;     // text of the line that is reported
  std::string_view verdict;  // a part of the sentence, with the numbers
  Severity severity = Severity::kError;
  std::vector<std::string_view> also = {};  // ids that follow from the same edit
};

std::ostream& operator<<(std::ostream& out, const Case& test) {
  return out << test.name;
}

constexpr std::string_view kSpine = "    tier: 2\n";
constexpr std::string_view kHosts = "    rails: 1 ";

const std::vector<Case> marking_cases = {
    {"DscpTypedAsTrafficClass",
     "dscp.tos_confusion",
     "pod16",
     {{"", "marking: { traffic_class: 26 }"}},
     "traffic_class: 26",
     "is 26, which is the DSCP; the setting wants the TOS byte, 106"},
    {"DscpTypedAsNcclTrafficClass",
     "dscp.tos_confusion",
     "rail256",
     {{"nccl:\n", "nccl:\n  traffic_class: 26\n"}},
     "traffic_class: 26",
     "nccl.traffic_class is 26"},
    {"DscpTypedForOneGroupOfHosts",
     "dscp.tos_confusion",
     "pod16",
     {{kHosts, "    traffic_class: 26\n    rails: 1 "}},
     "traffic_class: 26",
     "hosts.gpu.traffic_class is 26"},
    {"TosByteOfAnotherClass",
     "dscp.tos_confusion",
     "pod16",
     {{"", "marking: { rdma_cm_tos: 130 }"}},
     "rdma_cm_tos: 130",
     "a TOS byte of DSCP 32, which class 'rdma' does not hold; 106 marks DSCP 26"},
    {"OneCodePointOfTheOctet",
     "dscp.narrow_map",
     "pod16",
     {{"[26, 24-31]", "26"}},
     "dscp: 26",
     "holds DSCP 26 and not the rest of 24-31",
     Severity::kWarning},
    {"SpineMapsRdmaElsewhere",
     "dscp.unmapped_hop",
     "pod16",
     {{kSpine, "    tier: 2\n    dscp_overrides: [{ dscp: 26, priority: 1 }]\n"}},
     "dscp_overrides",
     "spine1 maps DSCP 26 (class 'rdma') to priority 1; the design means priority 3"},
    {"SpineRewritesDscp",
     "dscp.rewritten",
     "pod16",
     {{kSpine, "    tier: 2\n    rewrites_dscp: on\n"}},
     "rewrites_dscp",
     "spine1 rewrites"},
    {"SpineTrustsPcp",
     "trust.mixed",
     "pod16",
     {{kSpine, "    tier: 2\n    trust: pcp\n"}},
     "trust: pcp",
     "spine1 trusts pcp, the rest of the fabric trusts dscp"},
    {"HostsTrustPcp",
     "trust.mixed",
     "pod16",
     {{kHosts, "    trust: pcp\n    rails: 1 "}},
     "trust: pcp",
     "16 hosts (gpu01 is the first) trust pcp"},
    {"ServiceLevelUnderPcpTrust",
     "dscp.unmarked",
     "pair",
     {{"", "trust: pcp"}, {"", "addressing: { vlan: 100 }"}, {"", "nccl: { service_level: 0 }"}},
     "service_level: 0",
     "gpu1 mlx5_0 trusts PCP and the job's service level is 0: RDMA leaves in priority 0, not 3"},
    {"PcpTrustWithoutATag",
     "trust.mixed",
     "pair",
     {{"", "trust: pcp"}},
     "leaf:",
     "leaf1 swp1 trusts PCP, and RDMA data is without a tag there"},
};

const std::vector<Case> class_cases = {
    {"CnpInRdmasPriority",
     "cnp.shares_rdma_priority",
     "pod16",
     {{"priority: 6", "priority: 3"}},
     "priority: 3",
     "CNPs have priority 3, which is RDMA's"},
    {"CnpMarkedAsRdma",
     "cnp.shares_rdma_priority",
     "pod16",
     {{"", "dcqcn: { cnp_dscp: 26 }"}},
     "cnp_dscp: 26",
     "CNPs are marked DSCP 26"},
    {"CnpSentInRdmasPriority",
     "cnp.shares_rdma_priority",
     "pod16",
     {{"", "dcqcn: { cnp_802p_prio: 3 }"}},
     "cnp_802p_prio: 3",
     "NICs send CNPs in priority 3"},
    {"CnpLossless",
     "cnp.lossless",
     "pod16",
     {{"scheduling: strict", "scheduling: strict\n    lossless: on"}},
     "lossless: on",
     "CNPs (priority 6) are under PFC",
     Severity::kWarning},
    {"CnpUnderPfc",
     "cnp.lossless",
     "pod16",
     {{"", "pfc: { priorities: [3, 6] }"}},
     "pfc:",
     "CNPs (priority 6) are under PFC",
     Severity::kWarning},
    {"StorageInRdmasPriority",
     "class.shared_queue",
     "pod16",
     {{"priority: 4", "priority: 3"}},
     "priority: 3",
     "class 'storage' shares priority 3 with lossless class 'rdma'"},
    {"CnpInRdmasQueue",
     "class.shared_queue",
     "pod16",
     {{"scheduling: strict", "scheduling: strict\n    queue: 3"}},
     "queue: 3",
     "class 'cnp' shares queue 3 with lossless class 'rdma'"},
    {"StorageInRdmasTrafficClass",
     "class.shared_queue",
     "pod16",
     {{"priority: 4", "priority: 4\n    traffic_class: 3"}},
     "traffic_class: 3",
     "class 'storage' shares traffic class 3"},
    {"ManagementWithoutMinimum",
     "class.no_guarantee",
     "pod16",
     {{"minimum: 5%", "minimum: 0%"}},
     "minimum: 0%",
     "no guaranteed minimum",
     Severity::kWarning},
    {"MinimaOverTheLine",
     "class.no_guarantee",
     "pod16",
     {{"minimum: 50%", "minimum: 80%"}},
     "minimum: 80%",
     "add up to 115%",
     Severity::kWarning},
    {"UplinkShaper",
     "shaper.on_rdma_path",
     "pod16",
     {{"length: 30m }", "length: 30m, shaper: 90G }"}},
     "shaper: 90G",
     "16 links (leaf to spine) at 90G of their 100G"},
    {"RdmaLimit",
     "shaper.on_rdma_path",
     "pod16",
     {{"minimum: 50%", "minimum: 50%\n    limit: 80%"}},
     "limit: 80%",
     "limited to 80%"},
    {"TwoPfcPriorities",
     "pfc.multiple_priorities",
     "pod16",
     {{"", "pfc: { priorities: [3, 4] }"}},
     "pfc:",
     "PFC is on for 2 priorities (3,4)",
     Severity::kWarning},
    {"TwoLosslessClasses",
     "pfc.multiple_priorities",
     "pod16",
     {{"priority: 4", "priority: 4\n    lossless: on"}},
     "lossless: on",
     "2 priorities (3,4)",
     Severity::kWarning},
    {"RdmaNotLossless",
     "pfc.off",
     "pod16",
     {{"lossless: on", "lossless: off"}},
     "lossless: off",
     "class 'rdma' is not lossless"},
    {"PfcOnAnotherPriority",
     "pfc.wrong_priority",
     "pod16",
     {{"", "pfc: { priorities: 4 }"}},
     "pfc:",
     "PFC protects priority 4, and lossless class 'rdma' has priority 3"},
    {"HostsPauseTheLink",
     "pause.global_on",
     "pod16",
     {{kHosts, "    global_pause: on\n    rails: 1 "}},
     "global_pause",
     "16 hosts (gpu01 is the first)"},
    {"SpinePausesTheLink",
     "pause.global_on",
     "pod16",
     {{kSpine, "    tier: 2\n    global_pause: on\n"}},
     "global_pause",
     "on for spine1"},
    {"NoWatchdog",
     "watchdog.off",
     "pod16",
     {{"enabled: on", "enabled: off"}},
     "enabled: off",
     "off on 3 switches (leaf1 is the first)",
     Severity::kWarning},
    {"NoWatchdogOnTheSpine",
     "watchdog.off",
     "pod16",
     {{kSpine, "    tier: 2\n    watchdog: off\n"}},
     "watchdog: off",
     "off on spine1",
     Severity::kWarning},
    {"WatchdogOfAMinute",
     "watchdog.slow",
     "pod16",
     {{"detect: 200ms", "detect: 60s"}},
     "detect: 60s",
     "waits 60s",
     Severity::kWarning},
    {"CopperOfTwelveMetres",
     "cable.too_long",
     "rail256",
     {{"cable: dac, length: 3m", "cable: dac, length: 12m"}},
     "length: 12m",
     "12m of dac at 400G"},
    {"NoFecOnPam4",
     "fec.wrong",
     "rail256",
     {{"cable: dac, length: 3m", "fec: none, cable: dac, length: 3m"}},
     "fec: none",
     "fec: none at 400G"},
    {"OneSubnetOnTwoLeaves",
     "subnet.two_leaves",
     "pod16",
     {{"10.{rail}.{leaf}.0/24", "10.{rail}.0.0/16"}},
     "subnets: 10.{rail}.0.0/16",
     "behind leaf1 and behind leaf2"},
};

const std::vector<Case> buffer_cases = {
    {"HeadroomOfTheFolkloreTable",
     "headroom.too_small",
     "rail256",
     {{"", "buffers: { headroom: 20KB }"}},
     "headroom: 20KB",
     "needs 103KB (400G, 30m, MTU 9216B): not even two frames"},
    {"HeadroomOfOneGroup",
     "headroom.too_small",
     "rail256",
     {{kSpine, "    tier: 2\n    headroom: 65KB\n"}},
     "headroom: 65KB",
     "65KB of headroom per port; spine1 swp1s0 needs 103KB"},
    {"HeadroomLargerThanTheBuffer",
     "headroom.exceeds_buffer",
     "pod16",
     {{"    names: leaf[1-2]\n", "    names: leaf[1-2]\n    buffer: 800KB\n"}},
     "buffer: 800KB",
     "headroom takes 803KB on 2 switches (leaf1 is the first) and lossless traffic has 800KB"},
    {"PoolsOver100",
     "buffer.pools_over_100",
     "pod16",
     {{"", "buffers: { profile: roce-balanced, pools: { lossless: 60% } }"}},
     "lossless: 60%",
     "add up to 110%"},
    {"GuaranteesLargerThanTheirPool",
     "buffer.pools_over_100",
     "pod16",
     {{"", "buffers: { profile: roce-balanced, pools: { reserved: 0.5% } }"}},
     "reserved: 0.5%",
     "take 320KB and the reserved pool has 304KB"},
};

const std::vector<Case> ecn_cases = {
    {"EcnOff",
     "ecn.off_on_lossless",
     "pod16",
     {{"", "wred: { ecn: off }"}},
     "ecn: off",
     "3 switches (leaf1 is the first)"},
    {"EcnOffOnSpines",
     "ecn.off_on_lossless",
     "rail256",
     {{kSpine, "    tier: 2\n    wred: { ecn: off }\n"}},
     "ecn: off",
     "8 switches (spine1 is the first)"},
    {"MinAboveTheBound",
     "ecn.above_xoff",
     "pod16",
     {{"", "wred: { min: 3MB, max: 4MB }"}},
     "min: 3MB",
     "marking begins at 3MB and must begin at 1.86MB or less"},
    {"MinAboveTheBoundOnTheSpine",
     "ecn.above_xoff",
     "pod16",
     {{kSpine, "    tier: 2\n    wred: { min: 3MB, max: 4MB }\n"}},
     "min: 3MB",
     "on spine1"},
    {"MaxAboveXoffOfOneQueue",
     "ecn.above_xoff",
     "pod16",
     {{"", "wred: { max: 40MB }"}},
     "max: 40MB",
     "every packet at 40MB and one congested queue is paused at 29.8MB"},
    {"StaticXoffTooLow",
     "ecn.above_xoff",
     "pod16",
     {{"", "buffers: { threshold: static, xoff: 390KB }"}},
     "xoff: 390KB",
     "marking begins at 25KB and must begin at 24.4KB or less"},
    {"RampTooShort",
     "ecn.pmax_too_small",
     "pod16",
     {{"", "wred: { probability: 1% }\ndcqcn: { variant: paper }"}},
     "probability: 1%",
     "15 senders to one 100G port have no equilibrium at probability 1%",
     Severity::kWarning},
    {"MoreSendersThanTheRampHolds",
     "ecn.pmax_too_small",
     "pod16",
     {{"", "expect: { incast: 4000 }"}},
     "incast: 4000",
     "4000 senders to one 100G port",
     Severity::kWarning},
    {"NoNotificationPoint",
     "np.disabled",
     "pod16",
     {{"", "dcqcn: { notification_point: off }"}},
     "notification_point",
     "receivers send no CNPs"},
    {"NoReactionPoint",
     "rp.disabled",
     "pod16",
     {{"", "dcqcn: { reaction_point: off }"}},
     "reaction_point",
     "senders ignore CNPs"},
    {"LoopLongerThanTheMargin",
     "dcqcn.unstable",
     "clos1k",
     {{"", "dcqcn: { variant: paper, rpg_ai_rate: 400Mbps }"}},
     "rpg_ai_rate: 400Mbps",
     "stable up to a delay of",
     Severity::kWarning},
    {"ConnectxClimbsTooFast",
     "dcqcn.unstable",
     "pod16",
     {{"", "dcqcn: { rpg_time_reset: 75us, rpg_ai_rate: 50Mbps }"}},
     "rpg_time_reset",
     "climbs more than 10 times as fast",
     Severity::kInfo},
    {"TimerBelowTheRoundTrip",
     "dcqcn.unstable",
     "clos1k",
     {{"", "dcqcn: { rpg_time_reset: 5us }"}},
     "rpg_time_reset: 5us",
     "shorter than the round trip",
     Severity::kInfo,
     {"ecn.pmax_too_small"}},
    {"ThresholdsOnTheNic",
     "nic_knob.does_not_exist",
     "pod16",
     {{"", "dcqcn: { Kmin: 100KB }"}},
     "Kmin",
     "dcqcn.Kmin: no NIC has it"},
    {"MistypedKnob",
     "nic_knob.does_not_exist",
     "pod16",
     {{"", "dcqcn: { rpg_ai_rat: 5Mbps }"}},
     "rpg_ai_rat",
     "did you mean 'rpg_ai_rate'?"},
    {"KnobWithoutUnit",
     "nic_knob.bad_value",
     "pod16",
     {{"", "dcqcn: { rpg_ai_rate: 5 }"}},
     "rpg_ai_rate: 5",
     "did you mean 5Mbps?"},
};

const std::vector<Case> path_cases = {
    {"NarrowSwitches",
     "mtu.mismatch",
     "pod16",
     {{"switch: 9216B", "switch: 9000B"}},
     "switch: 9000B",
     "48 switch ports (leaf1 swp1 is the first) let through 9000B, hosts send 9014B"},
    {"NarrowLink",
     "mtu.mismatch",
     "clos1k",
     {{"length: 30m }", "length: 30m, mtu: 1500B }"}},
     "mtu: 1500B",
     "2,048 switch ports"},
    {"LinkEndsDiffer",
     "mtu.mismatch",
     "rail256",
     {{kSpine, "    tier: 2\n    mtu: 9100B\n"}},
     "mtu: 9100B",
     "the ends of 256 links differ: leaf0 swp49s0 has MTU 9216B, spine1 swp1s0 has 9100B"},
    {"RdmaLargerThanTheHostMtu",
     "mtu.mismatch",
     "pod16",
     {{"host: 9000B", "host: 1500B"}},
     "host: 1500B",
     "RDMA packets of 4096B do not fit the MTU 1500B"},
    {"MtuOverTheSystemsMaximum",
     "mtu.platform_max",
     "pod16",
     {{"switch: 9216B", "switch: 9300B"}},
     "switch: 9300B",
     "Cumulus Linux (NVUE) takes at most 9216B"},
    {"RailsInOneSubnet",
     "rail.same_subnet",
     "rail256",
     {{"10.{rail}.0.0/16", "10.0.0.0/16"}},
     "10.0.0.0/16",
     "8 rails of 32 hosts (gpu01 is the first) share a subnet"},
    {"RailInsideAnothersSubnet",
     "rail.same_subnet",
     "rail256",
     {{"subnets: 10.{rail}.0.0/16 ",
       "subnets: [10.0.0.0/13, 10.8.0.0/16, 10.9.0.0/16, 10.10.0.0/16, "
       "10.11.0.0/16, 10.12.0.0/16, 10.13.0.0/16, 10.7.0.0/16] "}},
     "subnets:",
     "2 rails of 32 hosts (gpu01 is the first) share a subnet (rail 0 in 10.0.0.0/13, rail 7"},
    {"RailsThatNeverMeet",
     "rail.isolated",
     "rail256",
     {{"  - { from: leaf, to: spine", "  # - { from: leaf, to: spine"}},
     "rails: 8",
     "meet at no switch",
     Severity::kInfo},
    {"OneSeedEverywhere",
     "ecmp.same_seed",
     "clos1k",
     {{"seeds: per-switch", "seeds: same"}},
     "seeds: same",
     "(tier 1) and pod1-spine1 (tier 2) hash with seed 0",
     Severity::kWarning},
    {"OneSeedForTwoTiers",
     "ecmp.same_seed",
     "pod16",
     {{"    tier: 1\n", "    tier: 1\n    ecmp_seed: 7\n"},
      {kSpine, "    tier: 2\n    ecmp_seed: 7\n"}},
     "ecmp_seed: 7",
     "hash with seed 7",
     Severity::kWarning},
    {"FewerUplinks",
     "fabric.oversubscribed",
     "pod16",
     {{"count: 8", "count: 4"}},
     "count: 4",
     "2 switches (leaf1 is the first): 800G down to 400G up, oversubscribed 2:1",
     Severity::kInfo},
    {"BounceOnOneLosslessPriority",
     "routing.cyclic_buffer_dependency",
     "rail256",
     {{"", "routing: bounce"}},
     "routing: bounce",
     "up again after it came down"},
    {"BounceWithoutADetour",
     "routing.cyclic_buffer_dependency",
     "pod16",
     {{"", "routing: bounce"}},
     "routing: bounce",
     "up again after it came down",
     Severity::kWarning},
    {"LeavesJoined",
     "routing.cyclic_buffer_dependency",
     "pod16",
     {{"  - { from: gpu",
       "  - { from: leaf1, to: leaf2, speed: 100G, length: 3m }\n  - { from: gpu"}},
     "from: leaf1, to: leaf2",
     "leaf1 to leaf2 stays within one tier"},
    {"LeafToCore",
     "routing.cyclic_buffer_dependency",
     "clos1k",
     {{"  - { from: gpu",
       "  - { from: pod1-leaf1, to: core01, speed: 400G, length: 90m }\n  - { from: gpu"}},
     "to: core01",
     "pod1-leaf1 to core01 skips a tier",
     Severity::kWarning},
    {"AdaptiveRouting",
     "routing.ordering_risk",
     "rail256",
     {{"", "load_balancing: { mode: adaptive }"}},
     "mode: adaptive",
     "for RDMA WRITEs only",
     Severity::kWarning},
};

const std::vector<Case> platform_cases = {
    {"SystemOnAForeignAsic",
     "platform.cannot",
     "pair",
     {{"system: cumulus", "system: nxos"}},
     "system: nxos",
     "Cisco NX-OS (Nexus 9000) does not run on NVIDIA Spectrum-3"},
    {"SprayOnAnAsicWithout",
     "platform.cannot",
     "pod16",
     {{"", "load_balancing: { mode: spray }"}},
     "mode: spray",
     "load balancing 'spray' on 3 switches (leaf1 is the first)",
     Severity::kError,
     {"routing.ordering_risk"}},
    {"ProbabilityBetweenSteps",
     "platform.cannot",
     "pod16",
     {{"", "wred: { probability: 7.5% }"}},
     "probability: 7.5%",
     "7.5% on 3 switches (leaf1 is the first); NVIDIA Cumulus Linux (NVUE) knows "
     "steps of 1%"},
    {"WatchdogTooQuick",
     "platform.cannot",
     "pod16",
     {{"detect: 200ms", "detect: 20ms"}},
     "detect: 20ms",
     "takes 100ms to"},
    {"WatchdogActionUnknown",
     "platform.cannot",
     "pod16",
     {{"detect: 200ms", "action: forward"}},
     "action: forward",
     "the watchdog action 'forward'"},
    {"StaticXoffOnEos",
     "platform.cannot",
     "pair",
     {{"system: cumulus", "system: eos"},
      {"asic: spectrum3 ", "asic: tomahawk3 "},
      {"", "buffers: { threshold: static, xoff: 1MB }"}},
     "threshold: static",
     "Arista EOS has none"},
    {"PoolsOnEos",
     "platform.cannot",
     "pair",
     {{"system: cumulus", "system: eos"},
      {"asic: spectrum3 ", "asic: tomahawk3 "},
      {"", "buffers: { profile: roce-balanced, pools: { lossless: 50% } }"}},
     "lossless: 50%",
     "Arista EOS cannot carve its buffer"},
    {"HeadroomInBytesOnJunos",
     "platform.cannot",
     "pair",
     {{"system: cumulus", "system: junos"},
      {"asic: spectrum3 ", "asic: tomahawk3 "},
      {"", "buffers: { headroom: 200KB }"}},
     "headroom: 200KB",
     "Juniper Junos (QFX, EVO) sizes it itself"},
    {"ThresholdsBelowAPercentOnJunos",
     "platform.cannot",
     "pair",
     {{"system: cumulus", "system: junos"},
      {"asic: spectrum3 ", "asic: tomahawk3 "},
      {"", "wred: { min: 100KB, max: 400KB, at_speed: 100G }"}},
     "min: 100KB",
     "says thresholds in percent of a queue that may hold",
     Severity::kWarning},
    {"ThresholdsBelowAPercentOnPtx",
     "platform.cannot",
     "pair",
     {{"system: cumulus", "system: junos"},
      {"asic: spectrum3 ", "asic: express5 "},
      {"", "wred: { min: 10MB, max: 12MB, at_speed: 100G }"}},
     "min: 10MB",
     "and 1% of it is 42.9MB",
     Severity::kWarning},
    {"HeadroomOutOfRange",
     "platform.cannot",
     "pod16",
     {{"", "buffers: { headroom: 3MB }"}},
     "headroom: 3MB",
     "3MB of headroom on 3 switches"},
    {"SharedHeadroomOnEos",
     "platform.cannot",
     "pair",
     {{"system: cumulus", "system: eos"},
      {"asic: spectrum3 ", "asic: tomahawk3 "},
      {"", "buffers: { headroom_oversubscription: 2 }"}},
     "headroom_oversubscription",
     "gives each port its own"},
    {"AlphaOutOfRange",
     "platform.cannot",
     "pair",
     {{"", "buffers: { alpha: 1/256 }"}},
     "alpha: 1/256",
     "alpha 1/256 on leaf1",
     Severity::kError,
     {"ecn.above_xoff"}},
    {"LosslessEverywhereOnNxos",
     "platform.cannot",
     "pair",
     {{"system: cumulus", "system: nxos"},
      {"asic: spectrum3 ", "asic: generic "},
      {"", "pfc: { priorities: [1, 2, 3, 4] }"}},
     "pfc:",
     "4 lossless priorities on leaf1; Cisco NX-OS (Nexus 9000) has 3 at most",
     Severity::kError,
     {"pfc.multiple_priorities"}},
    {"MorePortsThanTheBox",
     "platform.cannot",
     "pod16",
     {{kSpine, "    tier: 2\n    ports: 12\n"}},
     "ports: 12",
     "16 ports in use on spine1"},
    {"LinkFasterThanTheAsic",
     "platform.cannot",
     "pair",
     {{"spectrum3", "spectrum1"}, {"100G", "200G"}},
     "asic: spectrum1",
     "a link of 200G on leaf1; NVIDIA Spectrum (SN2000) has ports of 100G at most"},
    {"MoreThanTheAsicSwitches",
     "platform.cannot",
     "pair",
     {{"names: gpu[1-2]", "names: gpu[1-128]"}, {"speed: 100G", "speed: 200G"}},
     "asic: spectrum3",
     "links of 25.6T in sum on leaf1; NVIDIA Spectrum-3 (SN4000) switches 12.8T"},
    {"MoreThanTheModelHolds",
     "platform.cannot",
     "pod16",
     {{"count: 8, speed: 100G", "count: 20, speed: 400G"}},
     "ports: swp[1-64]",
     "swp9 is no port of NVIDIA SN4600C with 400G links"},
    {"LinkFasterThanTheNic",
     "platform.cannot",
     "pair",
     {{"connectx6dx", "connectx5"}, {"100G", "200G"}},
     "nic: connectx5",
     "a link of 200G to 2 hosts (gpu1 is the first)"},
    {"KnobsOfAnotherNic",
     "platform.cannot",
     "pair",
     {{"connectx6dx", "e810"}, {"", "dcqcn: { rpg_ai_rate: 5Mbps }"}},
     "rpg_ai_rate",
     "Intel E810 has none of these parameters"},
    {"SprayToANicThatWantsOrder",
     "platform.cannot",
     "rail256",
     {{"connectx7", "thor2"}, {"", "load_balancing: { mode: spray }"}},
     "mode: spray",
     "spraying to 32 hosts (gpu01 is the first); Broadcom Thor 2"},
};

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto& family :
       {marking_cases, class_cases, buffer_cases, ecn_cases, path_cases, platform_cases})
    all.insert(all.end(), family.begin(), family.end());
  return all;
}

class OneEdit : public testing::TestWithParam<Case> {};

TEST_P(OneEdit, IsFoundWithItsLineItsNumbersAndAFix) {
  COVERS("A2");
  const Case& test = GetParam();
  const std::string before = template_text(test.base);
  const std::string text = edited(before, test.edits);
  EXPECT_LE(changed_lines(before, text), 3U);
  EXPECT_EQ(find_id(lint_text(before), test.id), nullptr) << "without the edit";
  const Judgement judgement = lint_text(text);
  const Finding* const found = find_id(judgement, test.id);
  ASSERT_NE(found, nullptr) << summary(judgement);
  EXPECT_EQ(found->severity, test.severity) << summary(judgement);
  EXPECT_NE(found->verdict.find(test.verdict), std::string::npos) << found->verdict;
  ASSERT_TRUE(found->where.position.is_known());
  const auto line = static_cast<std::size_t>(found->where.position.line);
  const auto lines = split(text, '\n');
  ASSERT_LE(line, lines.size());
  EXPECT_NE(lines[line - 1].find(test.line), std::string_view::npos) << lines[line - 1];
  ASSERT_FALSE(found->fix.empty());
  EXPECT_EQ(found->fix.front().platform, "design");
  EXPECT_FALSE(found->fix.front().commands.empty() && found->fix.front().note.empty());
  for (const Finding& other : judgement.findings) {
    const bool is_expected = other.id == test.id || std::find(test.also.begin(), test.also.end(),
                                                              other.id) != test.also.end();
    EXPECT_TRUE(is_expected) << summary(judgement);
  }
}

INSTANTIATE_TEST_SUITE_P(Lint, OneEdit, testing::ValuesIn(all_cases()),
                         [](const auto& instance) { return std::string(instance.param.name); });

/// The line to write instead, where the edit was one line at the end and the finding prints one for
/// the same section.
std::optional<std::string> line_instead(const Case& test) {
  const bool is_appended = test.edits.size() == 1 && test.edits.front().find.empty();
  if (!is_appended || !test.also.empty()) return std::nullopt;
  const Judgement judgement = lint_text(edited(template_text(test.base), test.edits));
  const Finding* const found = find_id(judgement, test.id);
  if (found == nullptr || found->fix.front().commands.size() != 1) return std::nullopt;
  const std::string& line = found->fix.front().commands.front();
  const std::string_view written = test.edits.front().put;
  const bool is_same_section =
      line.substr(0, line.find(':')) == written.substr(0, written.find(':'));
  return is_same_section ? std::optional(line) : std::nullopt;
}

TEST(Lint, FindingsAreGoneWithTheLineTheyPrint) {
  COVERS("A2");
  int tried = 0;
  for (const Case& test : all_cases()) {
    const auto line = line_instead(test);
    if (!line) continue;
    ++tried;
    const Judgement after = lint_text(edited(template_text(test.base), {{"", *line}}));
    EXPECT_TRUE(after.findings.empty()) << test.name << ": " << *line << "\n" << summary(after);
  }
  EXPECT_GE(tried, 20);
}

TEST(Lint, EveryRuleHasACaseAndACatalogueEntry) {
  COVERS("A2");
  std::set<std::string_view> covered;
  for (const Case& test : all_cases())
    covered.insert(test.id);
  for (const LintRule& rule : lint_rules()) {
    EXPECT_TRUE(covered.contains(rule.id)) << rule.id;
    const finding::CatalogEntry* const entry = finding::find(rule.id);
    ASSERT_NE(entry, nullptr) << rule.id;
    EXPECT_EQ(entry->id, rule.id) << "an alias";
  }
}

TEST(Lint, TemplatesAreClean) {
  COVERS("A2");
  for (const Template& design_template : templates()) {
    const Judgement judgement = lint_text(design_template.text);
    EXPECT_TRUE(judgement.findings.empty()) << design_template.name << "\n" << summary(judgement);
    EXPECT_EQ(judgement.conclusion, finding::Conclusion::kHealthy);
  }
}

TEST(Lint, InfoAloneStaysHealthyAndErrorsComeFirst) {
  COVERS("A2");
  const std::string info = edited(template_text("pod16"), {{"count: 8", "count: 4"}});
  EXPECT_EQ(lint_text(info).conclusion, finding::Conclusion::kHealthy);
  const Judgement mixed =
      lint_text(edited(info, {{"enabled: on", "enabled: off"}, {"", "wred: { ecn: off }"}}));
  ASSERT_EQ(mixed.findings.size(), 3U) << summary(mixed);
  EXPECT_EQ(mixed.findings[0].id, "ecn.off_on_lossless");
  EXPECT_EQ(mixed.findings[1].id, "watchdog.off");
  EXPECT_EQ(mixed.findings[2].id, "fabric.oversubscribed");
  EXPECT_EQ(mixed.conclusion, finding::Conclusion::kFindings);
}

TEST(Lint, OneWrongLineIsOneFindingHoweverManyNodesItConcerns) {
  COVERS("A2");
  const std::vector<Edit> edits = {{"switch: 9216B", "switch: 1500B"},
                                   {"enabled: on", "enabled: off"},
                                   {"", "wred: { ecn: off }\nbuffers: { headroom: 2KB }"}};
  const Judgement judgement = lint_text(edited(template_text("clos1k"), edits));
  EXPECT_EQ(judgement.findings.size(), 4U) << summary(judgement);
}

// ---- boundaries ----

/// A switch of the DCQCN paper: 32 ports of 40G, 12 MB, 22.4 KB of headroom per group, eight
/// lossless priorities or one (theory: beta 8 is alpha 1).
std::string paper_switch(std::string_view min, bool all_lossless) {
  std::string classes;
  for (unsigned p = 0; p < 8; ++p) {
    if (p == 3) continue;
    const std::string name = p == 6 ? "cnp" : fmt::format("c{}", p);
    classes += fmt::format("  {}: {{ dscp: {}-{}, priority: {}, lossless: {} }}\n", name, 8 * p,
                           8 * p + 7, p, all_lossless ? "on" : "off");
  }
  return fmt::format(
      "weir: 1\n"
      "hosts: {{ h: {{ names: 'h[1-32]', nic: connectx5 }} }}\n"
      "switches: {{ s: {{ names: s1, system: sonic, asic: generic, buffer: 12MB, headroom: 22.4KB "
      "}} }}\n"
      "links: [{{ from: h, to: s, speed: 40G, length: 3m }}]\n"
      "classes:\n"
      "  rdma: {{ dscp: '26,24-31', priority: 3 }}\n"
      "{}"
      "wred: {{ min: {}, max: 400KB }}\n"
      "buffers: {{ reserved_per_port: 0B, alpha: 1 }}\n",
      classes, min);
}

TEST(Lint, EcnBoundOfTheDcqcnPaperHoldsToTheByte) {
  COVERS("A2");
  // 12 MB - 8 x 32 x 22.4 KB = 6,265,600 B; / (32 x 9) = 21,755.6 B.
  EXPECT_EQ(find_id(lint_text(paper_switch("21755B", true)), "ecn.above_xoff"), nullptr);
  const Judgement over = lint_text(paper_switch("21756B", true));
  const Finding* const found = find_id(over, "ecn.above_xoff");
  ASSERT_NE(found, nullptr) << summary(over);
  EXPECT_NE(found->evidence.front().line.find("hence 21755B at most"), std::string::npos)
      << found->evidence.front().line;
}

TEST(Lint, OneLosslessClassMayMarkEightTimesLater) {
  COVERS("A2");
  // 12 MB - 32 x 22.4 KB = 11,283,200 B; / (32 x 2) = 176,300 B, not below itself.
  EXPECT_EQ(find_id(lint_text(paper_switch("176299B", false)), "ecn.above_xoff"), nullptr);
  EXPECT_NE(find_id(lint_text(paper_switch("176300B", false)), "ecn.above_xoff"), nullptr);
}

TEST(Lint, MixedPortSpeedsAreJudgedByTheSumOfTheirThresholds) {
  COVERS("A2");
  // A leaf with 8 x 100G down and 2 x 400G up: thresholds add up to 16 times that of a 100G port.
  const std::vector<Edit> uplinks = {{"count: 8, speed: 100G", "count: 2, speed: 400G"}};
  const auto with_min = [&](std::string_view min) {
    std::string text = edited(template_text("pod16"), uplinks);
    return lint_text(text + fmt::format("wred: {{ min: {}, max: 6MB }}\n", min));
  };
  const Judgement over = with_min("1.9MB");
  const Finding* const found = find_id(over, "ecn.above_xoff");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->fix.front().commands.front(), "wred: { min: 1.8MB }") << found->verdict;
  EXPECT_EQ(find_id(with_min("1.8MB"), "ecn.above_xoff"), nullptr);
}

Judgement pod16_with(std::string_view from, const std::string& to) {
  return lint_text(edited(template_text("pod16"), {{from, to}}));
}

TEST(Lint, HeadroomExactlyAsNeededPassesAndOneByteLessFails) {
  COVERS("A2");
  const Loaded loaded = load_text(template_text("pod16"), "fabric.yaml");
  Bytes need;
  for (const SwitchIntent& node : derive(loaded.design).intent.switches) {
    for (const SwitchPortIntent& port : node.ports)
      need = std::max(need, port.headroom_need);
  }
  const auto with = [&](Bytes headroom) {
    return pod16_with("", fmt::format("buffers: {{ headroom: {}B }}", headroom.raw()));
  };
  EXPECT_EQ(find_id(with(need), "headroom.too_small"), nullptr);
  EXPECT_NE(find_id(with(need - 1_B), "headroom.too_small"), nullptr);
}

TEST(Lint, HeadroomThatOnlyAVendorsTableFindsSmallIsAWarning) {
  COVERS("A2");
  // clos1k: Tomahawk 5 rows ask for several times the standard's sum.
  const auto with = [](std::string_view headroom) {
    return lint_text(edited(template_text("clos1k"),
                            {{"", fmt::format("buffers: {{ headroom: {} }}", headroom)}}));
  };
  const Judgement careful = with("200KB");
  ASSERT_NE(find_id(careful, "headroom.too_small"), nullptr);
  EXPECT_EQ(find_id(careful, "headroom.too_small")->severity, Severity::kWarning)
      << summary(careful);
  EXPECT_EQ(find_id(with("100KB"), "headroom.too_small")->severity, Severity::kError);
}

TEST(Lint, AFrameThatJustFitsPasses) {
  COVERS("A2");
  EXPECT_TRUE(pod16_with("switch: 9216B", "switch: 9014B").findings.empty());
  EXPECT_NE(find_id(pod16_with("switch: 9216B", "switch: 9013B"), "mtu.mismatch"), nullptr);
  // A VLAN tag takes four bytes more.
  EXPECT_NE(
      find_id(lint_text(edited(template_text("pod16"), {{"switch: 9216B", "switch: 9017B"},
                                                        {"  l3_from", "  vlan: 7\n  l3_from"}})),
              "mtu.mismatch"),
      nullptr);
  EXPECT_TRUE(pod16_with("host: 9000B", "host: 4192B").findings.empty());
  EXPECT_NE(find_id(pod16_with("host: 9000B", "host: 4191B"), "mtu.mismatch"), nullptr);
}

TEST(Lint, EosCarriesWith9214WhatOthersCarryWith9216) {
  COVERS("A2");
  const std::vector<Edit> eos_leaves = {{"system: cumulus ", "system: eos "},
                                        {"    model: sn4600c  ", "    # no model"},
                                        {"    ports: swp[1-64] ", "    # no names "},
                                        {"asic: spectrum3 ", "asic: tomahawk3 "}};
  EXPECT_TRUE(lint_text(edited(template_text("pod16"), eos_leaves)).findings.empty());
  std::vector<Edit> written = eos_leaves;
  written.push_back({"    tier: 1\n", "    tier: 1\n    mtu: 9214B\n"});
  const Judgement same = lint_text(edited(template_text("pod16"), written));
  EXPECT_TRUE(same.findings.empty()) << summary(same);
  written.back().put = "    tier: 1\n    mtu: 9212B\n";
  EXPECT_NE(find_id(lint_text(edited(template_text("pod16"), written)), "mtu.mismatch"), nullptr);
}

TEST(Lint, PoolsOfExactly100PercentPass) {
  COVERS("A2", "F3");
  const auto with = [](std::string_view lossy) {
    return lint_text(
        edited(template_text("pod16"),
               {{"", fmt::format("buffers: {{ pools: {{ lossless: 50%, lossy: {}, storage: "
                                 "20%, reserved: 15% }} }}",
                                 lossy)}}));
  };
  EXPECT_TRUE(with("15%").findings.empty());
  EXPECT_NE(find_id(with("15.1%"), "buffer.pools_over_100"), nullptr);
}

TEST(Lint, TheEffectiveDesignOfASoundOneIsSound) {
  COVERS("A2");
  for (const Template& each : templates()) {
    const auto loaded = load_text(each.text, std::string(each.name));
    ASSERT_TRUE(lint_text(std::string(each.text)).findings.empty()) << each.name;
    const auto again = lint_text(effective_text(loaded.design));
    for (const finding::Finding& found : again.findings)
      ADD_FAILURE() << each.name << ": " << found.verdict;
  }
}

TEST(Lint, IncastIsJudgedAtTheLastNumberOfSendersThatHasAnEquilibrium) {
  COVERS("A2");
  const auto with = [](int incast) {
    return lint_text(
        edited(template_text("pod16"),
               {{"", fmt::format("wred: {{ probability: 1% }}\ndcqcn: {{ variant: paper }}\n"
                                 "expect: {{ incast: {} }}",
                                 incast)}}));
  };
  EXPECT_EQ(find_id(with(12), "ecn.pmax_too_small"), nullptr);
  const Judgement lost = with(13);
  ASSERT_NE(find_id(lost, "ecn.pmax_too_small"), nullptr);
  EXPECT_NE(find_id(lost, "ecn.pmax_too_small")->verdict.find("lost from 13 senders on"),
            std::string::npos);
}

TEST(Lint, Ipv6RailsAreComparedAsPrefixes) {
  COVERS("A2");
  const auto with = [](std::string_view subnet) {
    return lint_text(edited(template_text("rail256"), {{"subnets: 10.{rail}.0.0/16 ", subnet}}));
  };
  EXPECT_TRUE(with("family: ipv6\n  subnets: \"fd00:{rail}::/64\" ").findings.empty());
  const Judgement same = with("family: ipv6\n  subnets: \"fd00::/64\" ");
  ASSERT_NE(find_id(same, "rail.same_subnet"), nullptr);
  EXPECT_EQ(find_id(same, "rail.same_subnet")->fix.front().commands.front(),
            "addressing: { subnets: \"fd00:{rail}::/64\" }");
}

TEST(Lint, HostsWithoutASwitchAreJudgedToo) {
  COVERS("A2");
  const auto with = [](std::string_view tail) {
    return lint_text(fmt::format(
        "weir: 1\n"
        "hosts: {{ a: {{ names: a, nic: connectx7 }}, b: {{ names: b, nic: connectx7 }} }}\n"
        "links: [{{ from: a, to: b, wiring: mesh, speed: 400G, length: 3m }}]\n"
        "{}\n",
        tail));
  };
  const Judgement clean = with("");
  EXPECT_TRUE(clean.findings.empty()) << summary(clean);
  const Judgement confused = with("marking: { traffic_class: 26 }");
  ASSERT_EQ(confused.findings.size(), 1U) << summary(confused);
  EXPECT_EQ(confused.next, (std::vector<std::string>{"weir lint fabric.yaml"}));
}

TEST(Lint, NextNamesTheCalculatorBehindTheNumbers) {
  COVERS("A2");
  const Judgement judgement = pod16_with("", "buffers: { headroom: 20KB }");
  EXPECT_EQ(judgement.next,
            (std::vector<std::string>{"weir calc buffers fabric.yaml", "weir lint fabric.yaml"}));
}

TEST(Lint, ClosOf1024HostsTakesFarLessThanASecond) {
  COVERS("A2");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(lint_text(template_text("clos1k")).findings.empty());
  // Ten times the budget of the optimised build: debug and sanitised builds run this too.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

}  // namespace
}  // namespace weir::design
