// Configurations of switches against the design, by meaning: what render writes is clean, and each
// trap is found where a configuration shows it.
#include "ops/source/switch_configs.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/testing.h"
#include "design/file/drawn_design.h"
#include "design/file/load.h"
#include "design/file/templates.h"
#include "diagnose/validate/configuration.h"
#include "diagnose/validate/validate.h"
#include "evidence/as_set.h"
#include "finding/shown.h"

namespace weir::ops {
namespace {

using design::SwitchSystem;

struct TrapFabric {
  design::Intent intent;
  const platforms::Platform* platform = nullptr;

  [[nodiscard]] const design::SwitchIntent& leaf() const { return intent.switches.front(); }
  [[nodiscard]] std::string clean() const {
    return platform->render(intent, leaf()).files.front().text;
  }
  [[nodiscard]] finding::Judgement audit(const std::string& text) const {
    auto parsed = platform->parse(text, "leaf1.cfg");
    EXPECT_TRUE(parsed) << parsed.error().what;
    if (!parsed) return {};
    evidence::Evidence evidence;
    parsed->state.name = leaf().name;
    evidence.switches.push_back(parsed->state);
    design::Intent held = intent;
    held.switches.front() = evidence::as_set(leaf(), platform->lower(intent, leaf()).state);
    finding::Judgement out = diagnose::validate({&evidence, 1}, held);
    diagnose::validate_configuration(*parsed, held.switches.front(), out);
    return out;
  }
};

TrapFabric fabric(SwitchSystem system, std::string_view length = "30m") {
  const std::string_view asic = system == SwitchSystem::kCumulus ? "spectrum4"
                                : system == SwitchSystem::kEos   ? "tomahawk5"
                                : system == SwitchSystem::kNxos  ? "cloudscale"
                                                                 : "tomahawk5";
  const std::string text = fmt::format(
      "weir: 1\nname: traps\nhosts:\n  gpu: {{ names: 'gpu[1-2]', nic: connectx7 }}\n"
      "switches:\n  leaf: {{ names: leaf1, system: {}, asic: {}, tier: 1, buffer: 160MB }}\n"
      "links:\n  - {{ from: gpu, to: leaf, wiring: block, speed: 400G, cable: fibre, length: {} "
      "}}\nwred: {{ min: 100KB, max: 1500KB, probability: 10%, at_speed: 400G }}\n"
      "watchdog: {{ detect: 200ms, restore: 400ms }}\n",
      design::to_word(system), asic, length);
  const design::Loaded loaded = design::load_text(text, "traps");
  EXPECT_TRUE(loaded.is_good()) << design::to_text(loaded);
  TrapFabric out;
  out.intent = design::derive(loaded.design).intent;
  out.platform = &platforms::platform_of(system);
  return out;
}

std::string ids(const finding::Judgement& judgement) {
  std::string out;
  for (const finding::Finding& found : judgement.findings)
    out += fmt::format("{} {}\n", found.id, found.verdict);
  for (const finding::Unknown& found : judgement.unknown)
    out += fmt::format("unknown {} {}\n", found.check, found.reason);
  return out;
}

bool has(const finding::Judgement& judgement, std::string_view id) {
  return finding::is_raised(judgement.findings, id);
}

/// Every line that contains `what`, replaced as a whole; empty: left out.
std::string with_lines(const std::string& text, std::string_view what, std::string_view instead) {
  std::string out;
  std::size_t changed = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find('\n', at);
    if (end == std::string::npos) end = text.size();
    const std::string_view line = std::string_view(text).substr(at, end - at);
    const bool is_comment = line.find_first_of("#!") == line.find_first_not_of(' ');
    if (!is_comment && line.find(what) != std::string_view::npos) {
      ++changed;
      if (!instead.empty()) out += std::string(instead) + "\n";
    } else {
      out += std::string(line) + "\n";
    }
    at = end + 1;
  }
  EXPECT_GT(changed, 0U) << what << " is not in\n" << text;
  return out;
}

TEST(SwitchAudit, WhatRenderWritesMatchesItsDesign) {
  COVERS("C7", "F1");
  for (const platforms::Platform& platform : platforms::platforms()) {
    SCOPED_TRACE(platform.name);
    const TrapFabric trapped = fabric(platform.system);
    EXPECT_EQ(ids(trapped.audit(trapped.clean())), "") << trapped.clean();
  }
}

struct Trap {
  std::string_view name;
  SwitchSystem system;
  std::string_view line;     // that contains this …
  std::string_view instead;  // … becomes this
  std::string_view id;
  std::string_view says;
};

const std::vector<Trap>& traps() {
  using enum SwitchSystem;
  static const std::vector<Trap> kTraps = {
      {"NVUE marks with probability 100 unless told", kCumulus, "probability 10", "",
       "config.differs", "marking probability: expected 10%, found 100%"},
      {"NVUE marks traffic class 0 as well", kCumulus, "traffic-class 0 ecn disable", "",
       "ecn.on_lossy", "queue 0: expected ECN off, found on"},
      {"NVUE reckons with its own cable length", kCumulus, "cable-length", "", "headroom.too_small",
       "cable length: expected 30m, found 10m"},
      {"NVUE leaves link pause on", kCumulus, "qos pfc profile",
       "nv set qos link-pause p rx enable\nnv set interface swp1-2 qos link-pause profile p",
       "pause.global_on", "global pause: expected off, found on"},
      {"NVUE watches no port", kCumulus, "pfc-watchdog state", "", "watchdog.off",
       "PFC watchdog is off"},
      {"EOS keeps its default map", kEos, "qos map dscp", "", "dscp.default_map",
       "DSCP 0-7: in queue 1, which has no bandwidth share"},
      {"EOS marks without thresholds", kEos, "random-detect ecn minimum",
       "      random-detect ecn minimum-threshold 3 milliseconds maximum-threshold 9 milliseconds",
       "ecn.off_on_lossless", "found ECN without any"},
      {"EOS drops by WRED where it should mark", kEos, "random-detect ecn minimum",
       "      random-detect drop minimum-threshold 100 kbytes maximum-threshold 1500 kbytes "
       "drop-probability 10",
       "ecn.off_on_lossless", "found WRED without ECN, which drops"},
      {"EOS pauses the CNPs' class", kEos, "priority 3 no-drop",
       "   priority-flow-control priority 3 no-drop\n   priority-flow-control priority 6 no-drop",
       "cnp.lossless", "DSCP 48 (CNP)"},
      {"EOS has no watchdog", kEos, "priority-flow-control pause watchdog", "", "watchdog.off",
       "PFC watchdog is off"},
      {"EOS leaves 802.3x on", kEos, "dcbx mode ieee", "   flowcontrol receive on",
       "pause.global_on", "global pause: expected off, found on"},
      {"EOS sizes buffers while RDMA is elsewhere", kEos, "to traffic-class 3",
       "qos map dscp 24 25 26 27 28 29 30 31 to traffic-class 0", "buffer.before_classification",
       "headroom or pools are configured"},
      {"EOS has less headroom than the cable needs", kEos, "ingress headroom",
       "   ingress headroom bytes 20000", "headroom.too_small", "found 20KB"},
      {"NX-OS leaves PFC to DCBX", kNxos, "priority-flow-control mode",
       "  priority-flow-control mode auto", "dcbx.willing", "found negotiated by DCBX"},
      {"NX-OS has a class without an MTU", kNxos, "    mtu 9216", "", "mtu.mismatch",
       "MTU: expected 9216B, found 1.5KB"},
      {"NX-OS watches only globally", kNxos, "  priority-flow-control watch-dog-interval on", "",
       "watchdog.off", "PFC watchdog is off"},
      {"NX-OS pauses the CNPs' class", kNxos, "pause pfc-cos 3",
       "    pause pfc-cos 3\n  class type network-qos c-8q-nq6\n    pause pfc-cos 6\n    mtu 9216",
       "cnp.lossless", "DSCP 48 (CNP)"},
  };
  return kTraps;
}

TEST(SwitchAudit, EachTrapIsFoundWhereAConfigurationShowsItAndOnlyThere) {
  COVERS("C7", "F1", "A2");
  for (const Trap& trap : traps()) {
    SCOPED_TRACE(trap.name);
    const TrapFabric trapped = fabric(trap.system);
    const std::string clean = trapped.clean();
    EXPECT_FALSE(has(trapped.audit(clean), trap.id));
    const finding::Judgement judgement = trapped.audit(with_lines(clean, trap.line, trap.instead));
    ASSERT_TRUE(has(judgement, trap.id)) << ids(judgement);
    EXPECT_NE(ids(judgement).find(trap.says), std::string::npos) << ids(judgement);
  }
}

TEST(SwitchAudit, NxosBeyondAHundredMetresWantsAPauseBuffer) {
  COVERS("C7", "A2");
  const TrapFabric trapped = fabric(SwitchSystem::kNxos, "300m");
  const std::string clean = trapped.clean();
  EXPECT_EQ(ids(trapped.audit(clean)), "");
  const finding::Judgement judgement =
      trapped.audit(with_lines(clean, "service-policy type queuing input", ""));
  ASSERT_TRUE(has(judgement, "headroom.too_small")) << ids(judgement);
  EXPECT_NE(ids(judgement).find("expected an explicit pause buffer beyond 100m, found none"),
            std::string::npos);
}

TEST(SwitchAudit, AnMtuOf9214IsRightOnEosAndElsewhereItIsNot) {
  COVERS("C7", "A2");
  const TrapFabric eos = fabric(SwitchSystem::kEos);
  EXPECT_NE(eos.clean().find("   mtu 9214\n"), std::string::npos);
  EXPECT_FALSE(has(eos.audit(eos.clean()), "mtu.mismatch"));
  const TrapFabric cumulus = fabric(SwitchSystem::kCumulus);
  EXPECT_TRUE(has(cumulus.audit(with_lines(cumulus.clean(), "link mtu 9216",
                                           "nv set interface swp1-2 link mtu 9214")),
                  "mtu.mismatch"));
}

// ---- port-channels and VLANs ----

/// Two hosts, and two links to each of two spines.
TrapFabric two_links_each(SwitchSystem system, std::string_view lag, int vlan = 0,
                          std::string_view l3_from = "leaf") {
  const std::string_view asic = system == SwitchSystem::kCumulus ? "spectrum4"
                                : system == SwitchSystem::kNxos  ? "cloudscale"
                                                                 : "tomahawk5";
  const std::string text = fmt::format(
      "weir: 1\nname: lagged\nhosts:\n  gpu: {{ names: 'gpu[1-2]', nic: connectx7 }}\n"
      "switches:\n"
      "  leaf: {{ names: leaf1, system: {0}, asic: {1}, tier: 1, buffer: 160MB }}\n"
      "  spine: {{ names: 'spine[1-2]', system: {0}, asic: {1}, tier: 2, buffer: 160MB }}\n"
      "links:\n  - {{ from: gpu, to: leaf, wiring: block, speed: 400G, length: 3m }}\n"
      "  - {{ from: leaf, to: spine, wiring: mesh, count: 2, lag: {2}, speed: 400G, length: 30m "
      "}}\naddressing: {{ subnets: '10.0.0.0/16', vlan: {3}, l3_from: {4} }}\n"
      "watchdog: {{ detect: 200ms, restore: 400ms }}\n",
      design::to_word(system), asic, lag, vlan, l3_from);
  const design::Loaded loaded = design::load_text(text, "lagged");
  EXPECT_TRUE(loaded.is_good()) << design::to_text(loaded);
  TrapFabric out;
  out.intent = design::derive(loaded.design).intent;
  out.platform = &platforms::platform_of(system);
  return out;
}

/// The first `from` behind `anchor` replaced.
std::string replaced(std::string text, std::string_view anchor, std::string_view from,
                     std::string_view to) {
  const std::size_t start = text.find(anchor);
  EXPECT_NE(start, std::string::npos) << anchor << " is not in\n" << text;
  if (start == std::string::npos) return text;
  const std::size_t at = text.find(from, start);
  EXPECT_NE(at, std::string::npos) << from << " is not in\n" << text;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

struct ChannelTrap {
  std::string_view name;
  SwitchSystem system;
  std::string_view anchor;
  std::string_view from;
  std::string_view to;
  std::string_view id;  // empty: nothing is wrong
  std::string_view says;
};

const std::vector<ChannelTrap>& channel_traps() {
  using enum SwitchSystem;
  static const std::vector<ChannelTrap> kTraps = {
      {"NVUE lacks a member", kCumulus, "interface bond1", "member swp3-4", "member swp3",
       "ports.differ", "swp4 port-channel: expected bond1 with swp3, found none"},
      {"NVUE has a member elsewhere", kCumulus, "interface bond1", "member swp3-4",
       "member swp3\nnv set interface bond2 bond member swp4", "ports.differ",
       "swp4 port-channel: expected bond1 with swp3, found bond2"},
      {"NVUE gives a bond another MTU", kCumulus, "link mtu 9216", "link mtu 9216",
       "link mtu 9216\nnv set interface bond2 link mtu 1500", "mtu.mismatch",
       "bond2 MTU: expected 9216B, found 1.5KB"},
      {"NVUE names the bond otherwise", kCumulus, "interface bond1", "member swp3-4",
       "member swp3-4\nnv set interface bond1 description uplink", "", ""},
      {"EOS lacks a member", kEos, "interface Ethernet4/1", "   channel-group 1 mode active\n", "",
       "ports.differ",
       "Ethernet4/1 port-channel: expected Port-Channel1 with Ethernet3/1, found none"},
      {"EOS has a member elsewhere", kEos, "interface Ethernet4/1", "channel-group 1",
       "channel-group 2", "ports.differ",
       "Ethernet4/1 port-channel: expected Port-Channel1 with Ethernet3/1, found Port-Channel2"},
      {"EOS gives a port-channel another MTU", kEos, "interface Port-Channel2", "mtu 9214",
       "mtu 9000", "mtu.mismatch", "Port-Channel2 MTU: expected 9214B, found 9KB"},
      {"EOS bundles a host's port", kEos, "interface Ethernet1/1", "   dcbx mode ieee",
       "   channel-group 1 mode active\n   dcbx mode ieee", "ports.differ",
       "Ethernet1/1 port-channel: expected none, found Port-Channel1"},
      {"EOS gives a host a port-channel of one", kEos, "interface Ethernet1/1", "   dcbx mode ieee",
       "   channel-group 9 mode active\n   dcbx mode ieee", "", ""},
      {"NX-OS lacks a member", kNxos, "interface Ethernet1/4", "  channel-group 1 mode active\n",
       "", "ports.differ",
       "Ethernet1/4 port-channel: expected port-channel1 with Ethernet1/3, found none"},
      {"NX-OS has a member elsewhere", kNxos, "interface Ethernet1/4", "channel-group 1",
       "channel-group 2", "ports.differ", "found port-channel2"},
      {"NX-OS gives a port-channel another MTU", kNxos, "interface port-channel1", "mtu 9216",
       "mtu 1500", "mtu.mismatch", "port-channel1 MTU: expected 9216B, found 1.5KB"},
      {"NX-OS joins without LACP", kNxos, "interface Ethernet1/4", "channel-group 1 mode active",
       "channel-group 1", "", ""},
      {"Junos lacks a member", kJunos, "set interfaces et-0/0/3 ether-options 802.3ad",
       "set interfaces et-0/0/3 ether-options 802.3ad ae0\n", "", "ports.differ",
       "et-0/0/3 port-channel: expected ae0 with et-0/0/2, found none"},
      {"Junos has a member elsewhere", kJunos, "set interfaces et-0/0/3 ether-options 802.3ad",
       "ae0", "ae1", "ports.differ", "found ae1"},
      {"Junos gives a LAG another MTU", kJunos, "set interfaces ae1 mtu", "mtu 9216", "mtu 1514",
       "mtu.mismatch", "ae1 MTU: expected 9216B, found 1514B"},
      {"Junos says how often LACP speaks", kJunos, "set interfaces ae0 mtu",
       "set interfaces ae0 mtu",
       "set interfaces ae0 aggregated-ether-options lacp periodic fast\nset interfaces ae0 mtu", "",
       ""},
      {"SONiC lacks a member", kSonic, "PORTCHANNEL_MEMBER", "\"PortChannel1|Ethernet24\": {},", "",
       "ports.differ",
       "Ethernet24 port-channel: expected PortChannel1 with Ethernet16, found none"},
      {"SONiC has a member elsewhere", kSonic, "PORTCHANNEL_MEMBER", "PortChannel1|Ethernet24",
       "PortChannel2|Ethernet24", "ports.differ", "found PortChannel2"},
      {"SONiC gives a port-channel another MTU", kSonic, "\"PORTCHANNEL\"", "\"mtu\": \"9216\"",
       "\"mtu\": \"9100\"", "mtu.mismatch", "PortChannel1 MTU: expected 9216B, found 9.1KB"},
      {"SONiC wants both links", kSonic, "\"PORTCHANNEL\"", "\"min_links\": \"1\"",
       "\"min_links\": \"2\"", "", ""},
  };
  return kTraps;
}

void expect_trap(const TrapFabric& trapped, const ChannelTrap& trap) {
  SCOPED_TRACE(trap.name);
  const finding::Judgement judgement =
      trapped.audit(replaced(trapped.clean(), trap.anchor, trap.from, trap.to));
  if (trap.id.empty()) {
    EXPECT_EQ(ids(judgement), "");
    return;
  }
  ASSERT_TRUE(has(judgement, trap.id)) << ids(judgement);
  bool is_said = false;
  std::string lines;
  for (const finding::Finding& found : judgement.findings)
    for (const finding::EvidenceLine& line : found.evidence) {
      const std::string text = fmt::format("{} {}", line.source, line.line);
      is_said |= found.id == trap.id && text.find(trap.says) != std::string::npos;
      lines += text + "\n";
    }
  EXPECT_TRUE(is_said) << trap.says << "\n" << lines;
}

// ---- shares, queues, and lines without effect ----

const std::vector<ChannelTrap>& share_traps() {
  using enum SwitchSystem;
  constexpr std::string_view kSays =
      "bandwidth shares: expected queue 0 27%, queue 2 7%, queue 3 66%, found queue 0 68%, queue 2 "
      "18%, queue 3 15%";
  static const std::vector<ChannelTrap> kTraps = {
      {"NVUE starves RDMA", kCumulus, "egress-scheduler default-global traffic-class 3 bw",
       "bw-percent 66", "bw-percent 6", "config.differs", kSays},
      {"EOS starves RDMA", kEos, "uc-tx-queue 3", "bandwidth percent 66", "bandwidth percent 6",
       "config.differs", kSays},
      {"NX-OS starves RDMA", kNxos, "c-out-8q-q3", "percent 66", "percent 6", "config.differs",
       kSays},
      {"Junos starves RDMA", kJunos, "schedulers rdma transmit", "percent 66", "percent 6",
       "config.differs", kSays},
      {"SONiC starves RDMA", kSonic, "\"queue3\"", "\"weight\": \"66\"", "\"weight\": \"6\"",
       "config.differs", kSays},
      {"NVUE rounds otherwise", kCumulus, "egress-scheduler default-global traffic-class 3 bw",
       "bw-percent 66", "bw-percent 67", "", ""},
      {"SONiC rounds otherwise", kSonic, "\"queue3\"", "\"weight\": \"66\"", "\"weight\": \"68\"",
       "", ""},
  };
  return kTraps;
}

const std::vector<ChannelTrap>& queue_traps() {
  using enum SwitchSystem;
  constexpr std::string_view kCnps = "CNPs (DSCP 48): expected queue 6 (strict), found queue 0";
  constexpr std::string_view kRdma =
      "DSCP 24-31: expected queue 3, found queue 4, which has no ECN and no bandwidth share";
  static const std::vector<ChannelTrap> kTraps = {
      {"NVUE lets CNPs wait", kCumulus, "default-global switch-priority 6 traffic-class",
       "traffic-class 6", "traffic-class 0", "config.differs", kCnps},
      {"EOS lets CNPs wait", kEos, "qos map traffic-class 6", "tx-queue 6", "tx-queue 0",
       "config.differs", kCnps},
      {"NX-OS lets CNPs wait", kNxos, "policy-map type qos WEIR-CLASSIFY", "set qos-group 6",
       "set qos-group 0", "config.differs", kCnps},
      {"Junos lets CNPs wait", kJunos, "classifiers dscp ROCE forwarding-class cnp",
       "class cnp loss-priority low code-points 110000",
       "class best-effort loss-priority low code-points 110000", "config.differs", kCnps},
      {"SONiC lets CNPs wait", kSonic, "\"TC_TO_QUEUE_MAP\"", "\"6\": \"6\"", "\"6\": \"0\"",
       "config.differs", kCnps},
      {"another code point than that of CNPs", kJunos, "classifiers dscp ROCE forwarding-class cnp",
       "class cnp loss-priority low code-points 110001",
       "class best-effort loss-priority low code-points 110001", "", ""},
      {"NVUE moves RDMA", kCumulus, "default-global switch-priority 3 traffic-class",
       "traffic-class 3", "traffic-class 4", "dscp.unmapped_hop", kRdma},
      {"EOS moves RDMA", kEos, "qos map traffic-class 3", "tx-queue 3", "tx-queue 4",
       "dscp.unmapped_hop", kRdma},
      {"SONiC moves RDMA", kSonic, "\"TC_TO_QUEUE_MAP\"", "\"3\": \"3\"", "\"3\": \"4\"",
       "dscp.unmapped_hop", kRdma},
      {"Junos moves RDMA", kJunos, "class rdma queue-num", "queue-num 3", "queue-num 4",
       "dscp.unmapped_hop", "DSCP 24-31: expected queue 3, found queue 4"},
      {"EOS moves a class without code points", kEos, "qos map traffic-class 5", "tx-queue 5",
       "tx-queue 4", "", ""},
  };
  return kTraps;
}

const std::vector<ChannelTrap>& effect_traps() {
  using enum SwitchSystem;
  static const std::vector<ChannelTrap> kTraps = {
      {"EOS shuts a port that is stuck", kEos, "watchdog port action", "action drop",
       "action errdisable", "config.differs",
       "watchdog action: expected drop, found errdisable, which shuts the port"},
      {"EOS drops by the global line", kEos, "   priority-flow-control pause watchdog port action",
       "   priority-flow-control pause watchdog port action drop\n", "", "", ""},
      {"EOS never applies its buffers", kEos, "queue profile ROCE apply",
       "queue profile ROCE apply", "queue profile ROCE", "config.differs",
       "defines queue profile ROCE, and no line applies it"},
      {"Junos answers another priority", kJunos, "output ieee-802.1",
       "code-point 011 flow-control-queue 3", "code-point 100 flow-control-queue 4",
       "config.differs", "has no flow-control-queue for priority 3"},
      {"Junos answers priority 3 by default", kJunos,
       "set class-of-service congestion-notification-profile PFC-30M output",
       "set class-of-service congestion-notification-profile PFC-30M output ieee-802.1 code-point "
       "011 flow-control-queue 3",
       "", "", ""},
      {"NVUE plans for 30 km", kCumulus, "cable-length", "cable-length 30\n",
       "cable-length 30000\n", "config.differs", "headroom for cables that are not there"},
      {"NVUE plans for 300 m", kCumulus, "cable-length", "cable-length 30\n", "cable-length 300\n",
       "", ""},
      {"NVUE reserves nothing", kCumulus, "buffer reserved", "reserved 19456", "reserved 0",
       "config.differs", "reserved buffer of priority group 3: expected 19.5KB, found none"},
      {"NVUE reserves more", kCumulus, "buffer reserved", "reserved 19456", "reserved 30000", "",
       ""},
      {"SONiC watches one of two priorities", kSonic, "\"PORT_QOS_MAP\"", "\"pfc_enable\": \"3\"",
       "\"pfc_enable\": \"3,4\"", "watchdog.off",
       "PFC watchdog: expected priority 3,4, found priority 3: 4 is not watched"},
      {"SONiC names a profile that is not there", kSonic, "\"WRED_PROFILE\"",
       "\"ROCE_ECN_400000\": {", "\"OTHER\": {", "config.differs",
       "names WRED_PROFILE|ROCE_ECN_400000, which is not in the file"},
  };
  return kTraps;
}

TEST(SwitchAudit, SharesQueuesAndLinesWithoutEffectAreFoundAndNearOnesAreNot) {
  COVERS("C7", "A2");
  for (const auto* const traps : {&share_traps(), &queue_traps(), &effect_traps()})
    for (const ChannelTrap& trap : *traps)
      expect_trap(fabric(trap.system), trap);
}

TEST(SwitchAudit, AWatchdogThatMissesOnePriorityIsOnAllTheSame) {
  COVERS("C7");
  const TrapFabric trapped = fabric(SwitchSystem::kSonic);
  const std::string text = ids(trapped.audit(replaced(
      trapped.clean(), "\"PORT_QOS_MAP\"", "\"pfc_enable\": \"3\"", "\"pfc_enable\": \"3,4\"")));
  EXPECT_EQ(text.find("watchdog is off"), std::string::npos) << text;
}

// ---- how cages are split ----

TrapFabric split_cages(SwitchSystem system, std::string_view model) {
  const std::string text = fmt::format(
      "weir: 1\nname: split\nhosts:\n  gpu: {{ names: 'gpu[1-4]', nic: connectx7 }}\n"
      "switches:\n  leaf: {{ names: leaf1, system: {}, model: {}, tier: 1 }}\n"
      "links:\n  - {{ from: gpu, to: leaf, wiring: block, speed: 400G, length: 3m }}\n",
      design::to_word(system), model);
  const design::Loaded loaded = design::load_text(text, "split");
  EXPECT_TRUE(loaded.is_good()) << design::to_text(loaded);
  TrapFabric out;
  out.intent = design::derive(loaded.design).intent;
  out.platform = &platforms::platform_of(system);
  return out;
}

TEST(SwitchAudit, AnotherBreakoutOrNoneIsFoundWhereTheConfigurationIsWhole) {
  COVERS("C7", "C3");
  using enum SwitchSystem;
  const std::vector<std::pair<std::string_view, ChannelTrap>> traps = {
      {"sn5600",
       {"NVUE splits in four", kCumulus, "nv set interface swp1-2", "breakout 2x", "breakout 4x",
        "ports.differ", "swp[1-2] breakout: expected 2x, found 4x"}},
      {"sn5600",
       {"NVUE forgets a cage", kCumulus, "nv set interface swp1-2", "swp1-2 link breakout",
        "swp1 link breakout", "ports.differ", "swp2 breakout: expected 2x, found none"}},
      {"sn5600",
       {"NVUE splits a cage beside", kCumulus, "nv set interface swp1-2", "swp1-2 link breakout 2x",
        "swp1-3 link breakout 2x", "", ""}},
      {"7060x6-64pe",
       {"EOS runs half the lanes", kEos, "interface Ethernet1/1\n", "speed 400g-4", "speed 200g-4",
        "ports.differ",
        "Ethernet1/1 speed: expected 400G, 4 lanes each, found 200G, 4 lanes each"}},
      {"7060x6-64pe",
       {"EOS leaves a port as it comes", kEos, "interface Ethernet1/1\n", "   speed 400g-4\n", "",
        "ports.differ", "Ethernet1/1 speed: expected 400G, 4 lanes each, found none"}},
      {"n9364e-sg2-q",
       {"NX-OS splits in four", kNxos, "interface breakout", "map 400g-2x", "map 200g-4x",
        "ports.differ", "breakout: expected 2x, 400G, found 4x, 200G"}},
      {"qfx5240-64od",
       {"Junos splits in four", kJunos, "number-of-sub-ports", "number-of-sub-ports 2",
        "number-of-sub-ports 4", "ports.differ", "breakout: expected 2x"}},
  };
  for (const auto& [model, trap] : traps) {
    const TrapFabric split = split_cages(trap.system, model);
    EXPECT_EQ(ids(split.audit(split.clean())), "") << split.clean();
    expect_trap(split, trap);
  }
  // All lines of a kind gone: in a whole configuration the ports do not exist; a part says nothing.
  const TrapFabric split = split_cages(kCumulus, "sn5600");
  const std::string unsplit = replaced(split.clean(), "nv set interface swp1-2",
                                       "nv set interface swp1-2 link breakout 2x\n", "");
  EXPECT_TRUE(has(split.audit(unsplit), "ports.differ"));
  EXPECT_EQ(ids(split.audit(replaced(unsplit, "nv set", "nv set system hostname leaf1\n", ""))),
            "");
}

// ---- hash seeds of two tiers ----

TEST(SwitchAudit, OneSeedAtTwoTiersIsFoundAndAnotherSeedThanTheDesignsIsNot) {
  COVERS("C7", "I4");
  const TrapFabric tiers = two_links_each(SwitchSystem::kCumulus, "off");
  const auto audited = [&](int low, int high) {
    std::vector<evidence::Evidence> all(2);
    for (const bool is_high : {false, true}) {
      const auto node = std::find_if(
          tiers.intent.switches.begin(), tiers.intent.switches.end(),
          [&](const auto& known) { return known.name == (is_high ? "spine1" : "leaf1"); });
      const int seed = is_high ? high : low;
      const std::string text = tiers.platform->render(tiers.intent, *node).files.front().text;
      auto parsed = tiers.platform->parse(
          with_lines(text, "hash-seed", fmt::format("nv set system forwarding hash-seed {}", seed)),
          "cfg");
      EXPECT_TRUE(parsed);
      all[is_high ? 1 : 0].switches.push_back(parsed->state);
    }
    return has(diagnose::validate(all, tiers.intent), "ecmp.same_seed");
  };
  EXPECT_TRUE(audited(7, 7));
  EXPECT_FALSE(audited(7, 8));
}

// ---- a running configuration ----

TEST(SwitchAudit, LinesThatCannotConcernRoceAreReadOver) {
  COVERS("C7");
  const TrapFabric trapped = fabric(SwitchSystem::kEos);
  const std::string_view other =
      "username admin privilege 15 role network-admin secret sha512 $6$a$b\n"
      "logging host 10.0.0.9\nntp server 10.0.0.8\naaa authorization exec default local\n"
      "route-map RM permit 10\n   match ip address prefix-list PL\n!\n"
      "ip prefix-list PL seq 10 permit 10.0.0.0/8\n"
      "banner motd\nqos map dscp is for the night shift\nEOF\n"
      "router bgp 65001\n   router-id 10.0.0.1\n   address-family ipv4\n      neighbor S activate\n"
      "interface Management1\n   ip address 10.1.0.1/24\n";
  const std::string text =
      replaced(trapped.clean(), "lldp run", "lldp run\n", "lldp run\n" + std::string(other));
  const auto parsed = trapped.platform->parse(text, "running.cfg");
  ASSERT_TRUE(parsed) << parsed.error().what;
  for (const platforms::Unread& unread : parsed->unread)
    ADD_FAILURE() << unread.line << ": " << unread.text;
  EXPECT_EQ(ids(trapped.audit(text)), "");
  // What may police RDMA is not read over.
  EXPECT_FALSE(
      trapped.platform->parse(text + "policy-map type quality-of-service P\n", "running.cfg")
          ->unread.empty());
}

TEST(SwitchAudit, AMemberThatIsMissingOrElsewhereAndAnotherMtuAreFoundOnPortChannels) {
  COVERS("C3", "C7");
  for (const platforms::Platform& platform : platforms::platforms()) {
    SCOPED_TRACE(platform.name);
    const TrapFabric lagged = two_links_each(platform.system, "on");
    EXPECT_EQ(ids(lagged.audit(lagged.clean())), "") << lagged.clean();
  }
  for (const ChannelTrap& trap : channel_traps()) {
    SCOPED_TRACE(trap.name);
    const TrapFabric lagged = two_links_each(trap.system, "on");
    const finding::Judgement judgement =
        lagged.audit(replaced(lagged.clean(), trap.anchor, trap.from, trap.to));
    if (trap.id.empty()) {
      EXPECT_EQ(ids(judgement), "");
      continue;
    }
    ASSERT_TRUE(has(judgement, trap.id)) << ids(judgement);
    bool is_said = false;
    for (const finding::Finding& found : judgement.findings)
      for (const finding::EvidenceLine& line : found.evidence)
        is_said |=
            fmt::format("{} {}", line.source, line.line).find(trap.says) != std::string::npos;
    EXPECT_TRUE(is_said) << ids(judgement);
  }
}

/// The numbers of port-channels are a switch's own affair.
TEST(SwitchAudit, APortChannelOfAnotherNumberIsTheSame) {
  COVERS("C7");
  const TrapFabric lagged = two_links_each(SwitchSystem::kEos, "on");
  std::string text = lagged.clean();
  for (const std::string_view what : {"Port-Channel2", "channel-group 2"})
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what))
      text.replace(at + what.size() - 1, 1, "71");
  EXPECT_EQ(ids(lagged.audit(text)), "") << text;
}

TEST(SwitchAudit, LinksThatTheDesignKeepsApartAreNotBundled) {
  COVERS("C7");
  const TrapFabric apart = two_links_each(SwitchSystem::kNxos, "off");
  const TrapFabric lagged = two_links_each(SwitchSystem::kNxos, "on");
  EXPECT_EQ(ids(apart.audit(apart.clean())), "");
  const finding::Judgement judgement = apart.audit(lagged.clean());
  ASSERT_TRUE(has(judgement, "ports.differ")) << ids(judgement);
  EXPECT_EQ(judgement.findings.front().severity, finding::Severity::kWarning);
  EXPECT_TRUE(has(lagged.audit(apart.clean()), "ports.differ"));
}

struct VlanTrap {
  std::string_view name;
  SwitchSystem system;
  std::string_view anchor;
  std::string_view from;
  std::string_view to;
  std::string_view says;  // empty: nothing is wrong
};

TEST(SwitchAudit, PortsOutsideTheVlanInAnotherOrAboveTheGatewayAreFound) {
  COVERS("C7", "F1");
  using enum SwitchSystem;
  const std::vector<VlanTrap> traps = {
      {"EOS port in another VLAN", kEos, "interface Ethernet2/1", "allowed vlan 100",
       "allowed vlan 200", "Ethernet2/1 VLAN 100: expected a member, found a member of VLAN 200"},
      {"EOS port in none", kEos, "interface Ethernet2/1", "allowed vlan 100", "allowed vlan none",
       "Ethernet2/1 VLAN 100: expected a member, found none"},
      {"EOS uplink that bridges", kEos, "interface Port-Channel1", "   service-profile",
       "   switchport mode trunk\n   switchport trunk allowed vlan 100\n   service-profile",
       "Ethernet3/1 VLAN 100: expected no member, it is routed, found a member"},
      {"EOS trunk of all VLANs", kEos, "interface Ethernet2/1",
       "   switchport trunk allowed vlan 100\n", "", ""},
      {"EOS range around it", kEos, "interface Ethernet2/1", "allowed vlan 100",
       "allowed vlan 1,90-110", ""},
      {"EOS access port", kEos, "interface Ethernet2/1",
       "   switchport mode trunk\n   switchport trunk allowed vlan 100\n",
       "   switchport access vlan 100\n", ""},
      {"NX-OS port in another VLAN", kNxos, "interface Ethernet1/1", "allowed vlan 100",
       "allowed vlan 10,1000",
       "Ethernet1/1 VLAN 100: expected a member, found a member of VLAN 10"},
      {"NX-OS list in two lines", kNxos, "interface Ethernet1/1", "allowed vlan 100",
       "allowed vlan 10\n  switchport trunk allowed vlan add 100", ""},
      {"NVUE port left out", kCumulus, "bridge domain br_default vlan", "interface swp1-2 bridge",
       "interface swp1 bridge", "swp2 VLAN 100: expected a member, found none"},
      {"NVUE port with a VLAN of its own", kCumulus, "bridge domain br_default vlan",
       "interface swp1-2 bridge domain br_default",
       "interface swp1 bridge domain br_default\nnv set interface swp2 bridge domain br_default "
       "access 200",
       "swp2 VLAN 100: expected a member, found a member of VLAN 200"},
      {"NVUE access port", kCumulus, "bridge domain br_default vlan",
       "interface swp1-2 bridge domain br_default",
       "interface swp1-2 bridge domain br_default access 100", ""},
      {"NVUE bond that bridges", kCumulus, "bridge domain br_default vlan",
       "interface swp1-2 bridge", "interface swp1-2,bond2 bridge",
       "swp5 VLAN 100: expected no member, it is routed, found a member"},
      {"Junos VLAN of another number", kJunos, "set vlans v100", "vlan-id 100", "vlan-id 101",
       "et-0/0/0 VLAN 100: expected a member, found a member of VLAN 101"},
      {"Junos VLAN of another name", kJunos, "set vlans v100", "set vlans v100 vlan-id 100",
       "set vlans v100 description roce\nset vlans v100 vlan-id 100", ""},
      {"SONiC port left out", kSonic, "VLAN_MEMBER", "Vlan100|Ethernet8", "Vlan200|Ethernet8",
       "Ethernet8 VLAN 100: expected a member, found a member of VLAN 200"},
      {"SONiC port untagged", kSonic, "VLAN_MEMBER", "\"tagged\"", "\"untagged\"", ""},
  };
  for (const VlanTrap& trap : traps) {
    SCOPED_TRACE(trap.name);
    const TrapFabric tagged = two_links_each(trap.system, "on", 100);
    EXPECT_EQ(ids(tagged.audit(tagged.clean())), "") << tagged.clean();
    const finding::Judgement judgement =
        tagged.audit(replaced(tagged.clean(), trap.anchor, trap.from, trap.to));
    if (trap.says.empty()) {
      EXPECT_EQ(ids(judgement), "");
    } else {
      EXPECT_NE(ids(judgement).find(trap.says), std::string::npos) << ids(judgement);
    }
  }
}

/// Where the spines route, the leaf bridges its uplinks too: as the port-channel, not its ports.
TEST(SwitchAudit, APortChannelBelowTheGatewayCarriesTheVlan) {
  COVERS("C7", "F1");
  for (const platforms::Platform& platform : platforms::platforms()) {
    SCOPED_TRACE(platform.name);
    const TrapFabric tagged = two_links_each(platform.system, "on", 100, "spine");
    EXPECT_EQ(ids(tagged.audit(tagged.clean())), "") << tagged.clean();
  }
}

/// A VLAN that no line of the configuration names is not known to be missing.
TEST(SwitchAudit, AConfigurationWithoutVlansLeavesThemOpen) {
  COVERS("C7");
  const TrapFabric tagged = two_links_each(SwitchSystem::kEos, "on", 100);
  const TrapFabric plain = two_links_each(SwitchSystem::kEos, "on");
  const finding::Judgement open = tagged.audit(plain.clean());
  ASSERT_EQ(open.unknown.size(), 1U) << ids(open);
  EXPECT_EQ(open.unknown.front().check, "leaf1: ports of VLAN 100");
  EXPECT_TRUE(open.unknown.front().is_required);
}

/// A lab's switches have ports and no configuration: what only that would say is optional.
TEST(SwitchAudit, PortChannelsAndVlansOfALabAreOptional) {
  COVERS("C7");
  const TrapFabric tagged = two_links_each(SwitchSystem::kEos, "on", 100);
  evidence::Evidence evidence;
  evidence.switches.push_back(tagged.platform->lower(tagged.intent, tagged.leaf()).state);
  evidence::Switch& leaf = evidence.switches.front();
  leaf.interfaces.clear();
  for (evidence::SwitchPort& port : leaf.ports)
    port.channel = {};
  const finding::Judgement judgement = diagnose::validate({&evidence, 1}, tagged.intent);
  std::string open;
  for (const finding::Unknown& each : judgement.unknown)
    if (!each.is_required) open += each.check + "\n";
  EXPECT_EQ(open, "leaf1: port-channels\nleaf1: ports of VLAN 100\n");
  EXPECT_FALSE(has(judgement, "ports.differ"));
}

/// Of another box, the fix is to render the switch; hosts are not concerned.
TEST(SwitchAudit, OtherPortsHaveTheirOwnFindingAndFix) {
  COVERS("C7", "F1");
  const TrapFabric eos = fabric(SwitchSystem::kEos);
  TrapFabric named = eos;
  for (design::SwitchIntent& node : named.intent.switches)
    node.ports_assumed = false;
  std::string text = eos.clean();
  for (auto at = text.find("interface Ethernet"); at != std::string::npos;
       at = text.find("interface Ethernet", at + 20))
    text.replace(at, 18, "interface Ethernet4");
  const finding::Judgement judgement = named.audit(text);
  const auto found =
      std::find_if(judgement.findings.begin(), judgement.findings.end(),
                   [](const finding::Finding& each) { return each.id == "ports.differ"; });
  ASSERT_NE(found, judgement.findings.end()) << ids(judgement);
  ASSERT_EQ(found->fix.size(), 1U);
  EXPECT_EQ(found->fix.front().commands, std::vector<std::string>{"weir render --node leaf1"});
  EXPECT_FALSE(has(named.audit(eos.clean()), "ports.differ"));
}

/// Rows of other tables for ports that PORT does not have are no ports.
TEST(SwitchAudit, PortsThatTheBoxDoesNotHaveAreMissingAndNothingElse) {
  COVERS("C7");
  TrapFabric sonic = fabric(SwitchSystem::kSonic);
  for (design::SwitchIntent& node : sonic.intent.switches)
    node.ports_assumed = false;
  const std::string text = sonic.clean();
  const std::string& gone = sonic.leaf().ports.back().name;
  const std::size_t port = text.find(fmt::format("\"{}\": {{", gone), text.find("\"PORT\": {"));
  ASSERT_NE(port, std::string::npos) << text;
  const std::size_t end = text.find('}', port) + 1;
  const std::size_t begin = text.rfind(',', port);
  const finding::Judgement judgement = sonic.audit(text.substr(0, begin) + text.substr(end));
  ASSERT_EQ(judgement.findings.size(), 1U) << ids(judgement);
  EXPECT_EQ(judgement.findings.front().id, "ports.differ");
  EXPECT_NE(judgement.findings.front().verdict.find(gone), std::string::npos) << ids(judgement);
  EXPECT_TRUE(judgement.unknown.empty()) << ids(judgement);
}

/// "Ethernet8" of a box with half as many ports is another port than that of the design.
TEST(SwitchAudit, PortsOfAnotherBreakoutAreNotComparedByName) {
  COVERS("C7");
  TrapFabric sonic = fabric(SwitchSystem::kSonic);
  design::SwitchIntent& leaf = sonic.intent.switches.front();
  leaf.ports_assumed = false;
  const std::string text = sonic.clean();
  leaf.ports.front().name = "Ethernet900";
  leaf.ports.back().cable = 300_m;
  const finding::Judgement judgement = sonic.audit(text);
  ASSERT_EQ(judgement.findings.size(), 1U) << ids(judgement);
  EXPECT_EQ(judgement.findings.front().id, "ports.differ");
}

/// Many ports without a line are one line.
TEST(SwitchAudit, PortsWithoutALineAreNamedTogether) {
  COVERS("C7");
  TrapFabric eos = fabric(SwitchSystem::kEos);
  const std::string text = eos.clean();
  design::SwitchIntent& leaf = eos.intent.switches.front();
  for (int number = 40; number < 48; ++number) {
    leaf.ports.push_back(leaf.ports.front());
    leaf.ports.back().name = fmt::format("Ethernet{}/1", number);
  }
  const auto parsed = eos.platform->parse(text, "leaf1.cfg");
  ASSERT_TRUE(parsed);
  evidence::Evidence evidence;
  evidence.switches.push_back(parsed->state);
  evidence.switches.front().name = leaf.name;
  const finding::Judgement judgement = diagnose::validate({&evidence, 1}, eos.intent);
  const auto open = std::count_if(
      judgement.unknown.begin(), judgement.unknown.end(),
      [](const finding::Unknown& each) { return each.check.find("port") != std::string::npos; });
  EXPECT_EQ(open, 1) << ids(judgement);
}

/// A design that its own rendering contradicts would make every audit useless.
TEST(SwitchAudit, DrawnDesignsMatchTheirOwnRendering) {
  COVERS("C7", "F1");
  for (const platforms::Platform& platform : platforms::platforms()) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      SCOPED_TRACE(fmt::format("{} seed {}", platform.name, seed));
      const design::Loaded loaded =
          design::load_text(design::drawn_design(seed, platform.system), "drawn");
      TrapFabric trapped;
      trapped.intent = design::derive(loaded.design).intent;
      trapped.platform = &platform;
      const finding::Judgement judgement = trapped.audit(trapped.clean());
      EXPECT_EQ(judgement.count(finding::Severity::kError), 0) << ids(judgement);
    }
  }
}

}  // namespace
}  // namespace weir::ops
