// Cumulus, EOS and NX-OS: configurations written by hand, broken ones, and what is not understood.
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/testing.h"
#include "base/text.h"
#include "design/file/drawn_design.h"
#include "design/file/load.h"
#include "platforms/common/platform.h"
#include "units/format.h"

namespace weir::platforms {
namespace {

using design::SwitchSystem;
using evidence::EgressQueue;
using evidence::SwitchPort;

Parsed read_sample(SwitchSystem system, const std::string& name) {
  const std::string path = std::string(WEIR_TEST_DATA) + "/switch/" + name;
  const auto text = read_file(path);
  EXPECT_TRUE(text) << path;
  EXPECT_EQ(recognise(*text), &platform_of(system)) << name;
  const auto parsed = platform_of(system).parse(*text, name);
  EXPECT_TRUE(parsed) << parsed.error().what;
  return parsed ? *parsed : Parsed{};
}

const EgressQueue* queue_of(const SwitchPort& port, unsigned queue) {
  for (const EgressQueue& candidate : port.queues)
    if (candidate.queue.value() == queue) return &candidate;
  return nullptr;
}

/// The intent that the samples' author states: RoCE on DSCP 26 in a lossless class 3, marked from
/// 100 kB to 1.5 MB at 10 %; CNPs on DSCP 48, strict and lossy; the rest shares what is left.
void expect_intent(const evidence::Switch& state, std::size_t ports, Bytes mtu, unsigned cnp,
                   unsigned rest) {
  EXPECT_EQ(state.name, "leaf01");
  ASSERT_TRUE(state.dscp_to_tc.is_known());
  for (unsigned d = 0; d < 64; ++d) {
    // The samples leave other octets at their system's default.
    if (d / 8 != 3 && d / 8 != 6) continue;
    const unsigned expected = d == 26 ? 3 : d == 48 ? cnp : rest;
    EXPECT_EQ(state.dscp_to_tc->at(d)->value(), expected) << "DSCP " << d;
  }
  EXPECT_EQ(state.tc_to_queue->at(3).value(), 3U);
  EXPECT_EQ(state.tc_to_queue->at(cnp).value(), cnp);
  EXPECT_TRUE(state.watchdog.enabled.is(true));
  EXPECT_TRUE(state.watchdog.detection.is(200_ms));
  EXPECT_TRUE(state.watchdog.action.is("drop"));
  ASSERT_EQ(state.ports.size(), ports);
  for (const SwitchPort& port : state.ports) {
    SCOPED_TRACE(port.name);
    EXPECT_TRUE(port.mtu.is(mtu));
    EXPECT_TRUE(port.trust.is(evidence::TrustMode::kDscp));
    EXPECT_TRUE(port.pfc.is(PrioritySet::from_mask(0b1000)));
    EXPECT_TRUE(port.pfc_negotiated.is(false));
    EXPECT_TRUE(port.global_pause.is(false));
    EXPECT_TRUE(port.watchdog.is(true));
    const EgressQueue* rdma = queue_of(port, 3);
    ASSERT_NE(rdma, nullptr);
    EXPECT_TRUE(rdma->ecn.is(true));
    EXPECT_TRUE(rdma->ecn_min.is(100'000_B));
    EXPECT_TRUE(rdma->ecn_max.is(1'500'000_B));
    EXPECT_TRUE(rdma->ecn_probability.is(10_percent));
    EXPECT_TRUE(rdma->scheduler.is(evidence::Scheduler::kWeighted));
    EXPECT_TRUE(rdma->weight.is(50U));
    const EgressQueue* notes = queue_of(port, cnp);
    ASSERT_NE(notes, nullptr);
    EXPECT_TRUE(notes->scheduler.is(evidence::Scheduler::kStrict));
    EXPECT_TRUE(notes->ecn.is(false));
    const EgressQueue* others = queue_of(port, rest);
    ASSERT_NE(others, nullptr);
    EXPECT_TRUE(others->weight.is(50U));
  }
}

std::vector<std::string> unread_of(const Parsed& parsed) {
  std::vector<std::string> out;
  for (const Unread& item : parsed.unread)
    out.push_back(fmt::format("{}: {}: {}", item.line, item.text, item.why));
  return out;
}

TEST(SwitchSamples, TheCumulusCommandsSayWhatTheirAuthorStates) {
  COVERS("C7", "F1");
  const Parsed parsed = read_sample(SwitchSystem::kCumulus, "cumulus/leaf01.nv");
  EXPECT_EQ(unread_of(parsed), std::vector<std::string>());
  expect_intent(parsed.state, 4, 9216_B, 6, 0);
  EXPECT_TRUE(parsed.state.watchdog.restoration.is(100_ms));
  EXPECT_TRUE(parsed.state.ports[0].cable_length.is(3_m));
  EXPECT_TRUE(parsed.state.ports[2].cable_length.is(30_m));
  EXPECT_TRUE(parsed.state.ports[3].cable_length.is(100_m));  // the bundle's own
  EXPECT_TRUE(parsed.state.ports[0].groups.front().alpha.is(Alpha::from_log2(0)));
  EXPECT_EQ(parsed.state.pools->front().share, 60_percent);
  EXPECT_EQ(parsed.state.ports[0].mtu.source(), "cumulus/leaf01.nv:3");
  // What the bundle brings along and nobody took back.
  EXPECT_TRUE(queue_of(parsed.state.ports[0], 0)->ecn.is(true));
  EXPECT_TRUE(queue_of(parsed.state.ports[0], 0)->ecn_probability.is(100_percent));
}

TEST(SwitchSamples, TheTreeOfNvueSaysWhatItsCommandsSay) {
  COVERS("C7");
  const Parsed tree = read_sample(SwitchSystem::kCumulus, "cumulus/leaf01.startup.yaml");
  EXPECT_EQ(unread_of(tree), std::vector<std::string>());
  const Parsed commands = read_sample(SwitchSystem::kCumulus, "cumulus/leaf01.nv");
  // The tree leaves out the octets of the map, the queues, alpha, and the fourth port's name.
  for (const std::string& line : differences(commands.state, tree.state)) {
    EXPECT_TRUE(line.rfind("dscp_to_tc", 0) == 0 || line.find("alpha") != std::string::npos)
        << line;
  }
}

TEST(SwitchSamples, BothFilesOfACumulusSwitchSayTheSame) {
  COVERS("F1", "C7");
  const Platform& platform = platform_of(SwitchSystem::kCumulus);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const design::Loaded loaded =
        design::load_text(design::drawn_design(seed, SwitchSystem::kCumulus), "drawn");
    const design::Derived derived = design::derive(loaded.design);
    const design::SwitchIntent& node = derived.intent.switches.front();
    const Rendered rendered = platform.render(derived.intent, node);
    ASSERT_EQ(rendered.files.size(), 2U);
    const auto tree = platform.parse(rendered.files[1].text, rendered.files[1].name);
    ASSERT_TRUE(tree) << tree.error().what;
    EXPECT_EQ(unread_of(*tree), std::vector<std::string>());
    EXPECT_EQ(differences(platform.lower(derived.intent, node).state, tree->state),
              std::vector<std::string>());
  }
}

TEST(SwitchSamples, TheEosConfigurationSaysWhatItsAuthorStates) {
  COVERS("C7", "F1");
  const Parsed parsed = read_sample(SwitchSystem::kEos, "arista/leaf01.cfg");
  EXPECT_EQ(unread_of(parsed), std::vector<std::string>());
  expect_intent(parsed.state, 4, 9214_B, 6, 1);
  EXPECT_TRUE(parsed.state.watchdog.restoration.is(400_ms));
  const auto& group = parsed.state.ports[0].groups.front();
  EXPECT_TRUE(group.headroom.is(331'776_B));
  EXPECT_TRUE(group.alpha.is(Alpha::from_log2(0)));
  EXPECT_TRUE(parsed.state.telemetry.queue_monitor.is(true));
  EXPECT_TRUE(parsed.state.telemetry.ecn_counters.is(true));
  // The default map: DSCP 0 is class 1 and DSCP 8 class 0.
  EXPECT_EQ(parsed.state.dscp_to_tc->at(0)->value(), 1U);
  EXPECT_EQ(parsed.state.dscp_to_tc->at(8)->value(), 0U);
}

TEST(SwitchSamples, TheNxosConfigurationSaysWhatItsAuthorStates) {
  COVERS("C7", "F1");
  const Parsed parsed = read_sample(SwitchSystem::kNxos, "nxos/leaf01.cfg");
  EXPECT_EQ(unread_of(parsed), std::vector<std::string>());
  expect_intent(parsed.state, 4, 9216_B, 7, 0);
  EXPECT_TRUE(parsed.state.watchdog.restoration.is(400_ms));
  EXPECT_TRUE(parsed.state.ports[0].groups.front().headroom_auto.is(true));
}

/// Configurations from other projects, where they are available.
TEST(SwitchSamples, ForeignConfigurationsParseAndListWhatIsNotUnderstood) {
  COVERS("C7");
  const char* const directory = std::getenv("WEIR_FOREIGN_SWITCH_CONFIGS");
  if (directory == nullptr) GTEST_SKIP() << "WEIR_FOREIGN_SWITCH_CONFIGS names no folder";
  for (const auto& [name, system] : {std::pair("eos-avd-qos.cfg", SwitchSystem::kEos),
                                     std::pair("nxos-azure-local-qos.cfg", SwitchSystem::kNxos)}) {
    SCOPED_TRACE(name);
    const auto text = read_file(std::string(directory) + "/" + name);
    ASSERT_TRUE(text) << text.error().what;
    EXPECT_EQ(recognise(*text), &platform_of(system));
    const auto parsed = platform_of(system).parse(*text, name);
    ASSERT_TRUE(parsed) << parsed.error().what;
    EXPECT_FALSE(parsed->unread.empty());
    const auto lines = split(*text, '\n');
    for (const Unread& item : parsed->unread) {
      ASSERT_GE(item.line, 1);
      ASSERT_LE(item.line, static_cast<int>(lines.size()));
      EXPECT_EQ(trim(lines[static_cast<std::size_t>(item.line) - 1]), item.text);
      EXPECT_FALSE(item.why.empty());
    }
  }
}

TEST(SwitchConfigs, AValueOutOfRangeIsNamedByItsLineAndWhatWasExpected) {
  COVERS("C7");
  const auto error = [](SwitchSystem system, std::string_view text) {
    const auto parsed = platform_of(system).parse(text, "leaf1");
    return parsed ? std::string("parsed") : parsed.error().what;
  };
  EXPECT_EQ(error(SwitchSystem::kCumulus,
                  "nv set qos roce\nnv set qos mapping default-global dscp 64 switch-priority 3\n"),
            "leaf1:2: expected a DSCP from 0 to 63, found '64'");
  EXPECT_EQ(error(SwitchSystem::kCumulus, "nv set interface swp1 link mtu"),
            "leaf1:1: expected 'VALUE' after 'nv set interface swp1 link mtu', found the end of "
            "the line");
  EXPECT_EQ(error(SwitchSystem::kCumulus, "nv set qos roce\nset qos\n"),
            "leaf1:2: expected a command 'nv set …', found 'set qos'");
  EXPECT_EQ(error(SwitchSystem::kCumulus, "- set:\n    qos: {roce: [\n").rfind("leaf1:3: ", 0), 0U);
  EXPECT_EQ(error(SwitchSystem::kEos, "qos profile A\n   uc-tx-queue 9\n"),
            "leaf1:2: expected a queue from 0 to 7, found '9'");
  EXPECT_EQ(error(SwitchSystem::kEos, "interface Ethernet1/1\n   mtu 9216\n"),
            "leaf1:2: expected an MTU from 68 to 9214, found '9216'");
  EXPECT_EQ(error(SwitchSystem::kEos,
                  "qos profile A\n   uc-tx-queue 3\n      random-detect ecn minimum-threshold 100"),
            "leaf1:3: expected a value after 'minimum-threshold', found the end of the line");
  EXPECT_EQ(error(SwitchSystem::kNxos,
                  "policy-map type network-qos N\n"
                  "  class type network-qos c-8q-nq3\n    pause pfc-cos 8\n"),
            "leaf1:3: expected a CoS from 0 to 7, found '8'");
  EXPECT_EQ(error(SwitchSystem::kNxos, "interface Ethernet1/1\n  priority-flow-control mode maybe"),
            "leaf1:2: expected on, off or auto, found 'maybe'");
}

TEST(SwitchConfigs, ALineThatIsNotUnderstoodIsListedAndChangesNothing) {
  COVERS("C7");
  const auto parsed = platform_of(SwitchSystem::kEos)
                          .parse("hostname a\nqos profile P\n   frobnicate 7\n", "leaf1");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(unread_of(*parsed), (std::vector<std::string>{"3: frobnicate 7: unknown statement"}));
  EXPECT_EQ(parsed->state.name, "a");
}

TEST(SwitchConfigs, AThresholdInAnotherUnitThanBytesStaysUnknown) {
  COVERS("C7");
  const auto parsed =
      platform_of(SwitchSystem::kEos)
          .parse(
              "qos profile P\n   uc-tx-queue 3\n      random-detect ecn minimum-threshold 320 "
              "segments maximum-threshold 320 segments weight 10\ninterface Ethernet1/1\n"
              "   service-profile P\n",
              "leaf1");
  ASSERT_TRUE(parsed);
  ASSERT_EQ(parsed->unread.size(), 1U);
  EXPECT_EQ(parsed->unread[0].line, 3);
  const EgressQueue* queue = queue_of(parsed->state.ports.front(), 3);
  ASSERT_NE(queue, nullptr);
  EXPECT_TRUE(queue->ecn.is(true));
  EXPECT_FALSE(queue->ecn_min.is_known());
  EXPECT_TRUE(queue->ecn_weight.is(10U));
}

}  // namespace
}  // namespace weir::platforms
