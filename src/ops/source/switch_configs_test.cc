// Configurations of switches against the design, by meaning: what render writes is clean, and each
// trap is found where a configuration shows it.
#include "ops/source/switch_configs.h"

#include <fmt/format.h>

#include "base/testing.h"
#include "design/file/drawn_design.h"
#include "design/file/load.h"
#include "design/file/templates.h"
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
    const auto parsed = platform->parse(text, "leaf1.cfg");
    EXPECT_TRUE(parsed) << parsed.error().what;
    if (!parsed) return {};
    evidence::Evidence evidence;
    evidence.switches.push_back(parsed->state);
    evidence.switches.front().name = leaf().name;
    design::Intent held = intent;
    held.switches.front() = evidence::as_set(leaf(), platform->lower(intent, leaf()).state);
    return diagnose::validate({&evidence, 1}, held);
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
