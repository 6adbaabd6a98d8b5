// SONiC, Junos and OpenConfig: configurations written by hand, in all their forms, broken ones, and
// what is not understood.
#include <cstdlib>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/testing.h"
#include "base/text.h"
#include "design/file/drawn_design.h"
#include "design/file/load.h"
#include "design/file/templates.h"
#include "platforms/junos/junos.h"
#include "platforms/openconfig/openconfig.h"
#include "platforms/sonic/sonic.h"
#include "units/format.h"

namespace weir::platforms {
namespace {

using evidence::EgressQueue;
using evidence::GroupBuffer;
using evidence::SwitchPort;

std::string sample(const std::string& name) {
  const auto text = read_file(std::string(WEIR_TEST_DATA) + "/switch/" + name);
  EXPECT_TRUE(text) << name;
  return text.value_or("");
}

Parsed read_sample(const Platform& platform, const std::string& name) {
  const std::string text = sample(name);
  EXPECT_NE(recognise(text), nullptr) << name;
  EXPECT_EQ(recognise(text)->name, platform.name) << name;
  const auto parsed = platform.parse(text, name);
  EXPECT_TRUE(parsed) << parsed.error().what;
  return parsed ? *parsed : Parsed{};
}

const EgressQueue* queue_of(const SwitchPort& port, unsigned queue) {
  for (const EgressQueue& candidate : port.queues)
    if (candidate.queue.value() == queue) return &candidate;
  return nullptr;
}
const GroupBuffer* group_of(const SwitchPort& port, unsigned group) {
  for (const GroupBuffer& candidate : port.groups)
    if (candidate.group.value() == group) return &candidate;
  return nullptr;
}

std::vector<std::string> unread_of(const Parsed& parsed) {
  std::vector<std::string> out;
  for (const Unread& item : parsed.unread)
    out.push_back(fmt::format("{}: {}: {}", item.line, item.text, item.why));
  return out;
}

/// The intent that the samples' author states: RoCE on DSCP 26 in a lossless class 3, half of the
/// line; CNPs on DSCP 48, strict and lossy; PFC on 3 only; MTU 9216; cables of 3, 3, 30 and 100 m.
void expect_intent(const evidence::Switch& state) {
  EXPECT_EQ(state.name, "leaf01");
  ASSERT_TRUE(state.dscp_to_tc.is_known());
  EXPECT_EQ(state.dscp_to_tc->at(26)->value(), 3U);
  EXPECT_EQ(state.dscp_to_tc->at(48)->value(), 6U);
  EXPECT_EQ(state.dscp_to_tc->at(0)->value(), 0U);
  EXPECT_EQ(state.tc_to_queue->at(3).value(), 3U);
  EXPECT_EQ(state.tc_to_group->at(3).value(), 3U);
  EXPECT_EQ(state.tc_to_group->at(6).value(), 0U);
  EXPECT_EQ(state.pfc_to_queue->at(3).value(), 3U);
  EXPECT_TRUE(state.watchdog.enabled.is(true));
  EXPECT_TRUE(state.watchdog.detection.is(200_ms));
  EXPECT_TRUE(state.watchdog.restoration.is(400_ms));
  EXPECT_TRUE(state.watchdog.action.is("drop"));
  ASSERT_EQ(state.ports.size(), 4U);
  for (const SwitchPort& port : state.ports) {
    SCOPED_TRACE(port.name);
    EXPECT_TRUE(port.mtu.is(9216_B));
    EXPECT_TRUE(port.trust.is(evidence::TrustMode::kDscp));
    EXPECT_TRUE(port.pfc.is(PrioritySet::from_mask(0b1000)));
    EXPECT_TRUE(port.watchdog.is(true));
    const EgressQueue* const rdma = queue_of(port, 3);
    ASSERT_NE(rdma, nullptr);
    EXPECT_TRUE(rdma->ecn.is(true));
    EXPECT_TRUE(rdma->ecn_probability.is(10_percent));
    EXPECT_TRUE(rdma->scheduler.is(evidence::Scheduler::kWeighted));
    EXPECT_TRUE(rdma->weight.is(50U));
    EXPECT_TRUE(queue_of(port, 6)->scheduler.is(evidence::Scheduler::kStrict));
    EXPECT_TRUE(queue_of(port, 6)->ecn.is(false));
    ASSERT_NE(group_of(port, 3), nullptr);
    EXPECT_TRUE(group_of(port, 3)->lossless.is(true));
  }
}

TEST(SwitchSamples, TheTraditionalSonicConfigurationSaysWhatItsAuthorStates) {
  COVERS("C7", "F1");
  const Parsed parsed = read_sample(sonic(), "sonic/leaf01.config_db.traditional.json");
  EXPECT_EQ(unread_of(parsed), std::vector<std::string>());
  expect_intent(parsed.state);
  EXPECT_TRUE(parsed.state.buffer_model.is("traditional"));
  EXPECT_TRUE(parsed.state.model.is("Nokia-IXR7220-H5-64O"));
  const std::array<std::pair<Length, Bytes>, 4> rows = {
      {{5_m, 307'848_B}, {5_m, 307'848_B}, {40_m, 330'200_B}, {300_m, 499'618_B}}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const SwitchPort& port = parsed.state.ports[i];
    EXPECT_TRUE(port.cable_length.is(rows.at(i).first)) << port.name;
    EXPECT_TRUE(group_of(port, 3)->headroom.is(rows.at(i).second)) << port.name;
    EXPECT_TRUE(group_of(port, 3)->xon.is(2288_B));
    EXPECT_TRUE(group_of(port, 3)->alpha.is(Alpha::from_log2(0)));
    EXPECT_TRUE(queue_of(port, 3)->ecn_min.is(100'000_B));
    EXPECT_TRUE(queue_of(port, 3)->ecn_max.is(1'500'000_B));
    EXPECT_TRUE(queue_of(port, 0)->weight.is(50U));
  }
  ASSERT_TRUE(parsed.state.pools.is_known());
  EXPECT_EQ(parsed.state.pools->at(0).size, 161'176'208_B - 29'520'896_B);
  EXPECT_EQ(parsed.state.pools->at(1).size, 29'520'896_B);
  EXPECT_EQ(parsed.state.ports[0].mtu.source(), "sonic/leaf01.config_db.traditional.json:18");
}

TEST(SwitchSamples, TheDynamicSonicConfigurationHasTheHeadroomThatItsBoxComputes) {
  COVERS("C7", "F1");
  const Parsed parsed = read_sample(sonic(), "sonic/leaf01.config_db.dynamic.json");
  EXPECT_EQ(unread_of(parsed), std::vector<std::string>());
  expect_intent(parsed.state);
  EXPECT_TRUE(parsed.state.buffer_model.is("dynamic"));
  // NVIDIA's formula for Spectrum-4 at 400G, half of the packets small.
  const std::array<Bytes, 4> headroom = {89'088_B, 89'088_B, 103'424_B, 139'264_B};
  const std::array<Length, 4> cables = {3_m, 3_m, 30_m, 100_m};
  for (std::size_t i = 0; i < headroom.size(); ++i) {
    const SwitchPort& port = parsed.state.ports[i];
    EXPECT_TRUE(port.cable_length.is(cables.at(i)));
    EXPECT_TRUE(group_of(port, 3)->headroom_auto.is(true));
    EXPECT_TRUE(group_of(port, 3)->headroom.is(headroom.at(i)))
        << to_text(*group_of(port, 3)->headroom);
    EXPECT_TRUE(group_of(port, 3)->alpha.is(Alpha::from_log2(0)));
  }
}

TEST(SwitchSamples, TheJunosCommandsSayWhatTheirAuthorStates) {
  COVERS("C7", "F1");
  const Parsed parsed = read_sample(junos(), "junos/leaf01.set");
  EXPECT_EQ(unread_of(parsed), std::vector<std::string>());
  evidence::Switch state = parsed.state;
  EXPECT_EQ(state.name, "");  // the sample does not say
  state.name = "leaf01";
  expect_intent(state);
  EXPECT_TRUE(queue_of(state.ports[0], 3)->ecn_min_share.is(10_percent));
  EXPECT_TRUE(queue_of(state.ports[0], 3)->ecn_max_share.is(50_percent));
  EXPECT_FALSE(queue_of(state.ports[0], 3)->ecn_min.is_known());
  EXPECT_TRUE(group_of(state.ports[0], 3)->headroom_auto.is(true));
  EXPECT_TRUE(group_of(state.ports[0], 3)->alpha.is(Alpha::from_log2(0)));
  EXPECT_TRUE(state.ports[3].cable_length.is(100_m));
  EXPECT_EQ(state.pools->at(0).share, 66_percent);
  EXPECT_EQ(state.pools->at(1).share, 24_percent);
  EXPECT_EQ(state.dscp_to_tc->at(56)->value(), 7U);  // by `import default`
  EXPECT_TRUE(state.lldp.is(true));
  EXPECT_TRUE(state.telemetry.queue_monitor.is(true));
}

TEST(SwitchSamples, JunosSaysTheSameInEachOfItsForms) {
  COVERS("C7");
  const std::string commands = sample("junos/leaf01.set");
  std::string cos;  // the XML has this part alone
  for (const std::string_view line : split(commands, '\n'))
    if (line.starts_with("set class-of-service ")) cos += std::string(line) + "\n";
  const auto from_set = junos_parse(cos, "a");
  const auto from_xml = junos_parse(sample("junos/leaf01.cos.xml"), "b");
  ASSERT_TRUE(from_set);
  ASSERT_TRUE(from_xml) << from_xml.error().what;
  EXPECT_EQ(unread_of(*from_xml), std::vector<std::string>());
  EXPECT_EQ(differences(from_set->state, from_xml->state), std::vector<std::string>());
  EXPECT_TRUE(same_state(from_set->state, from_xml->state));
  const auto blocks = junos_parse(
      "class-of-service {\n  forwarding-classes {\n    class A queue-num 3 no-loss pfc-priority "
      "5;\n"
      "    inactive: class B queue-num 4;\n  }\n  drop-profiles {\n    P {\n      interpolate {\n"
      "        fill-level [ 10 50 ];\n        drop-probability [ 0 10 ];\n      }\n    }\n  }\n}\n",
      "d");
  ASSERT_TRUE(blocks) << blocks.error().what;
  EXPECT_EQ(blocks->state.tc_to_queue->at(5).value(), 3U);
  EXPECT_EQ(blocks->state.tc_to_group->at(5).value(), 5U);
  EXPECT_EQ(unread_of(*blocks),
            (std::vector<std::string>{"4: set class-of-service forwarding-classes inactive: class "
                                      "B queue-num 4: inactive"}));
}

TEST(SwitchSamples, OpenConfigSaysTheSharesOfTheIntentThatItKnows) {
  COVERS("C7", "F1");
  const Parsed parsed = read_sample(openconfig(), "openconfig/leaf01.openconfig.json");
  EXPECT_EQ(unread_of(parsed), std::vector<std::string>());
  ASSERT_EQ(parsed.state.ports.size(), 4U);
  EXPECT_EQ(parsed.state.dscp_to_tc->at(26)->value(), 3U);
  EXPECT_EQ(parsed.state.dscp_to_tc->at(48)->value(), 6U);
  EXPECT_FALSE(parsed.state.dscp_to_tc->at(0).has_value());
  for (const SwitchPort& port : parsed.state.ports) {
    EXPECT_TRUE(port.mtu.is(9216_B));
    EXPECT_FALSE(port.pfc.is_known());
    EXPECT_TRUE(queue_of(port, 3)->ecn_min.is(100'000_B));
    EXPECT_TRUE(queue_of(port, 3)->ecn_max.is(1'500'000_B));
    EXPECT_TRUE(queue_of(port, 3)->ecn_probability.is(10_percent));
    EXPECT_TRUE(queue_of(port, 3)->alpha.is(Alpha::from_log2(0)));
    EXPECT_TRUE(queue_of(port, 3)->weight.is(50U));
    EXPECT_TRUE(queue_of(port, 6)->scheduler.is(evidence::Scheduler::kStrict));
  }
}

TEST(SwitchSamples, ForeignSonicFilesParseAndListWhatIsNotUnderstood) {
  COVERS("C7");
  const char* const directory = std::getenv("WEIR_FOREIGN_SWITCH_CONFIGS");
  if (directory == nullptr) GTEST_SKIP() << "WEIR_FOREIGN_SWITCH_CONFIGS names no folder";
  const auto read = [&](const std::string& name) {
    const auto text = read_file(std::string(directory) + "/" + name);
    EXPECT_TRUE(text) << text.error().what;
    EXPECT_EQ(recognise(*text)->name, "sonic") << name;
    const auto parsed = sonic_parse(*text, name);
    EXPECT_TRUE(parsed) << parsed.error().what;
    return parsed.value_or({});
  };
  const Parsed stock = read("sonic-stock-qos-arista7050.json");
  EXPECT_EQ(unread_of(stock), std::vector<std::string>());
  EXPECT_EQ(stock.state.dscp_to_tc->at(26)->value(), 1U);  // the trap of the stock map
  EXPECT_TRUE(stock.state.ports.front().pfc.is(PrioritySet::from_mask(0b11000)));
  EXPECT_TRUE(queue_of(stock.state.ports.front(), 3)->ecn_min.is(1_MiB));
  EXPECT_FALSE(stock.state.ports.front().mtu.is_known());  // a fragment: nobody said
  EXPECT_FALSE(stock.state.watchdog.enabled.is_known());
  const Parsed buffers = read("sonic-stock-buffers-dell6100.json");
  EXPECT_EQ(unread_of(buffers), std::vector<std::string>());
  EXPECT_TRUE(buffers.state.ports.front().cable_length.is(5_m));
  const Parsed capability = read("sonic-dell-z9864f-platform_qos.json");
  ASSERT_EQ(capability.unread.size(), 1U);
  EXPECT_EQ(capability.unread.front().line, 2);
  EXPECT_TRUE(capability.state.ports.empty());
}

// ---- what is rendered ----

TEST(SwitchRender, OpenConfigIsReadBackAsItIsLowered) {
  COVERS("F1");
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const auto loaded =
        design::load_text(design::drawn_design(seed, design::SwitchSystem::kSonic), "drawn");
    ASSERT_TRUE(loaded.is_good());
    const auto derived = design::derive(loaded.design);
    const design::SwitchIntent& node = derived.intent.switches.front();
    const Lowered lowered = openconfig_lower(derived.intent, node);
    const Rendered rendered = openconfig_render(derived.intent, node);
    EXPECT_EQ(recognise(rendered.files.front().text), &openconfig());
    const auto parsed = openconfig_parse(rendered.files.front().text, "a");
    ASSERT_TRUE(parsed) << parsed.error().what;
    EXPECT_EQ(unread_of(*parsed), std::vector<std::string>());
    ASSERT_TRUE(same_state(lowered.state, parsed->state))
        << fmt::format("{}", fmt::join(differences(lowered.state, parsed->state), "\n"));
    const bool says_no_pfc = std::any_of(
        lowered.remarks.begin(), lowered.remarks.end(),
        [](const Remark& remark) { return remark.what == "PFC" && remark.becomes.empty(); });
    EXPECT_EQ(says_no_pfc, node.pfc.count() > 0);
  }
}

/// pod16 as a design of another system and ASIC.
design::Derived pod16(std::string_view system, std::string_view asic) {
  std::string text(design::find_template("pod16")->text);
  const auto replace = [&](std::string_view from, const std::string& to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  };
  replace("system: cumulus", fmt::format("system: {}", system));
  replace("asic: spectrum3", fmt::format("asic: {}", asic));
  replace("model: sn4600c", "");
  replace("ports: swp[1-64]", "");
  const auto loaded = design::load_text(text, "pod16");
  EXPECT_TRUE(loaded.is_good()) << design::to_text(loaded);
  return design::derive(loaded.design);
}

TEST(SwitchRender, QfxAndPtxAreToldApart) {
  COVERS("F1");
  const design::Derived qfx = pod16("junos", "tomahawk5");
  const design::Derived ptx = pod16("junos", "jericho2");
  const std::string qfx_text =
      junos_render(qfx.intent, qfx.intent.switches.front()).files.front().text;
  const Rendered ptx_made = junos_render(ptx.intent, ptx.intent.switches.front());
  const std::string& ptx_text = ptx_made.files.front().text;
  EXPECT_NE(qfx_text.find("shared-buffer ingress buffer-partition lossless-headroom percent"),
            std::string::npos);
  EXPECT_EQ(ptx_text.find("set class-of-service shared-buffer"), std::string::npos);
  EXPECT_EQ(ptx_text.find("dynamic-threshold"), std::string::npos);
  EXPECT_NE(ptx_text.find("Juniper PTX"), std::string::npos);
  const auto parsed = junos_parse(ptx_text, "a");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(unread_of(*parsed), std::vector<std::string>());
  EXPECT_TRUE(
      same_state(junos_lower(ptx.intent, ptx.intent.switches.front()).state, parsed->state));
}

TEST(SwitchRender, JunosPartitionsAddUpAndHoldTheHeadroom) {
  COVERS("F1");
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const auto loaded =
        design::load_text(design::drawn_design(seed, design::SwitchSystem::kJunos), "drawn");
    const auto derived = design::derive(loaded.design);
    const design::SwitchIntent& node = derived.intent.switches.front();
    const JunosPartitions parts = junos_partitions(node);
    EXPECT_EQ(parts.lossless + parts.headroom + parts.lossy, 100U);
    EXPECT_GE(parts.lossless, 1U);
    const bool fits = node.buffers.headroom_pool < node.buffers.total / 2;
    if (fits) {
      EXPECT_GE(node.buffers.total / 100 * parts.headroom + 100_B, node.buffers.headroom_pool);
    }
  }
}

TEST(SwitchRender, SonicLeavesHeadroomAndPoolsToThePlatform) {
  COVERS("F1", "C7");
  for (const std::string_view asic : {"spectrum4", "tomahawk5"}) {
    const bool is_dynamic = asic == "spectrum4";
    const design::Derived pod = pod16("sonic", asic);
    const design::SwitchIntent& leaf = pod.intent.switches.front();
    const Rendered rendered = sonic_render(pod.intent, leaf);
    const Json db = Json::parse(rendered.files[0].text);
    EXPECT_EQ(db.contains("BUFFER_PG"), is_dynamic);
    if (is_dynamic) {
      EXPECT_EQ(db["BUFFER_PG"]["Ethernet0|3"]["profile"], "NULL");
      EXPECT_EQ(db["DEFAULT_LOSSLESS_BUFFER_PARAMETER"]["AZURE"]["over_subscribe_ratio"], "0");
    }
    for (const auto& [name, pool] : db["BUFFER_POOL"].items()) {
      EXPECT_FALSE(pool.contains("size")) << name;
      EXPECT_FALSE(pool.contains("xoff")) << name;
    }
    EXPECT_FALSE(db.contains("SFLOW"));
    EXPECT_FALSE(db["FEATURE"].contains("gnmi"));
    // What the stock configuration has on 3-4 goes first, and nothing else.
    ASSERT_EQ(rendered.files[1].name, "leaf1.remove.json");
    const Json gone = Json::parse(rendered.files[1].text);
    EXPECT_EQ(gone.size(), 3U);
    EXPECT_TRUE(gone["BUFFER_PG"]["Ethernet0|3-4"].is_null());
    EXPECT_TRUE(gone["BUFFER_QUEUE"]["Ethernet0|3-4"].is_null());
    EXPECT_TRUE(gone["QUEUE"]["Ethernet0|4"].is_null());
    EXPECT_EQ(gone["QUEUE"].size(), leaf.ports.size());
  }
}

TEST(SwitchRender, ALengthWithoutALookupRowIsRoundedUpAndAProfileInBytesComesAlong) {
  COVERS("F1", "C7");
  design::Derived pod = pod16("sonic", "tomahawk5");
  for (design::SwitchPortIntent& port : pod.intent.switches.front().ports)
    port.headroom_is_auto = false;
  const design::SwitchIntent& leaf = pod.intent.switches.front();
  const Lowered lowered = sonic_lower(pod.intent, leaf);
  EXPECT_TRUE(lowered.state.ports.front().cable_length.is(5_m));
  EXPECT_TRUE(lowered.state.ports.back().cable_length.is(40_m));
  for (std::size_t i = 0; i < leaf.ports.size(); ++i)
    EXPECT_GE(*group_of(lowered.state.ports[i], 3)->headroom, leaf.ports[i].headroom);
  const std::string text = sonic_render(pod.intent, leaf).files.front().text;
  EXPECT_NE(text.find("\"pg_lossless_100000_5m_profile\""), std::string::npos);
}

// ---- what is wrong ----

TEST(SwitchConfigs, SonicErrorsNameFileLineAndWhatWasExpected) {
  COVERS("C7");
  const auto error = [](std::string_view text) {
    const auto parsed = sonic_parse(text, "leaf1.json");
    return parsed ? std::string("parsed") : parsed.error().what;
  };
  EXPECT_EQ(error("{\n \"PORT\": {\n  \"Ethernet0\": {\n   \"mtu\": \"9217\" } } }"),
            "leaf1.json:4: PORT|Ethernet0 mtu: expected a number from 68 to 9216, found '9217'");
  EXPECT_EQ(error("{\"PORT\": [\n]}"),
            "leaf1.json:1: PORT: expected an object of rows, found 'an array'");
  EXPECT_EQ(error("[1]"), "leaf1.json:1: expected CONFIG_DB, an object of tables, found an array");
  EXPECT_EQ(
      error("{\"CABLE_LENGTH\": {\"A\": {\n\"Ethernet0\": \"3\"}}}"),
      "leaf1.json:2: CABLE_LENGTH Ethernet0: expected whole metres such as \"40m\", found '3'");
  EXPECT_EQ(
      error("{\"PORT_QOS_MAP\": {\"Ethernet0\": {\n\"pfc_enable\": \"3,8\"}}}"),
      "leaf1.json:2: PORT_QOS_MAP|Ethernet0 pfc_enable: expected priorities from 0 to 7, such "
      "as \"3,4\", found '3,8'");
  const std::string whole = sample("sonic/leaf01.config_db.traditional.json");
  for (const std::size_t part : {3U, 10U, 50U, 90U}) {
    const std::string cut = whole.substr(0, whole.size() * part / 100);
    const std::string what = error(cut);
    EXPECT_EQ(what.rfind("leaf1.json:", 0), 0U) << what;
    EXPECT_NE(what.find("expected"), std::string::npos) << what;
  }
}

TEST(SwitchConfigs, JunosErrorsNameFileLineAndWhatWasExpected) {
  COVERS("C7");
  const auto error = [](std::string_view text) {
    const auto parsed = junos_parse(text, "leaf1");
    return parsed ? std::string("parsed") : parsed.error().what;
  };
  const std::string cos = "set class-of-service ";
  EXPECT_EQ(error(cos + "forwarding-classes class A queue-num 12"),
            "leaf1:1: expected a queue from 0 to 11, found '12'");
  EXPECT_EQ(error("\n" + cos +
                  "classifiers dscp R forwarding-class A loss-priority low code-points "
                  "01x010"),
            "leaf1:2: expected 6 bits such as 011010, found '01x010'");
  EXPECT_EQ(error(cos + "shared-buffer ingress buffer-partition lossless percent 101"),
            "leaf1:1: expected a share in percent from 0 to 100, found '101'");
  EXPECT_EQ(error("<configuration>\n<class-of-service>\n</configuration>"),
            "leaf1:3: expected </class-of-service>, found </configuration>");
  EXPECT_EQ(error("<configuration>\n<class-of-service>"),
            "leaf1:2: expected </class-of-service>, found the end of the file");
  EXPECT_EQ(error("class-of-service {\n  forwarding-classes {"),
            "leaf1:2: expected '}', found the end of the file");
  EXPECT_EQ(error("hello"),
            "leaf1:1: expected a Junos configuration (set commands, XML or the text "
            "of show configuration), found none of them");
}

TEST(SwitchConfigs, WhatIsNotThereIsListedAndStaysUnknown) {
  COVERS("C7");
  const auto sonic_text = sonic_parse(
      "{\n\"PORT\": {\"Ethernet0\": {\"speed\": \"400000\"}},\n\"QUEUE\": {\n"
      "\"Ethernet0|3\": {\n\"wred_profile\": \"NOWHERE\"},\n\"Ethernet0|99\": {}},\n"
      "\"BGP_NEIGHBOR\": {}\n}",
      "a");
  ASSERT_TRUE(sonic_text) << sonic_text.error().what;
  EXPECT_EQ(unread_of(*sonic_text),
            (std::vector<std::string>{
                "6: \"Ethernet0|99\": {}},: expected PORT|N with a queue N from 0 to 7, found "
                "'Ethernet0|99'",
                "7: \"BGP_NEIGHBOR\": {}: table BGP_NEIGHBOR is not about QoS, buffers or ports"}));
  // A whole database: what it names and does not have is not there.
  ASSERT_EQ(sonic_text->faults.size(), 1U);
  EXPECT_EQ(sonic_text->faults.front().line, 5);
  EXPECT_NE(sonic_text->faults.front().text.find("WRED_PROFILE|NOWHERE"), std::string::npos);
  EXPECT_FALSE(queue_of(sonic_text->state.ports.front(), 3)->ecn.is_known());
  EXPECT_TRUE(sonic_text->state.ports.front().mtu.is(9100_B));  // SONiC's own
  const auto junos_text = junos_parse(
      "set class-of-service forwarding-classes class A queue-num 3\n"
      "set class-of-service interfaces et-0/0/0 scheduler-map NOWHERE\n"
      "set class-of-service interfaces et-* scheduler-map M\nset routing-options static\n"
      "delete interfaces et-0/0/1\n",
      "a");
  ASSERT_TRUE(junos_text) << junos_text.error().what;
  EXPECT_EQ(
      unread_of(*junos_text),
      (std::vector<std::string>{
          "2: set class-of-service interfaces et-0/0/0 scheduler-map NOWHERE: names "
          "scheduler-map NOWHERE, which is not in the file",
          "3: set class-of-service interfaces et-* scheduler-map M: a wildcard for interfaces",
          "4: set routing-options static: unknown statement",
          "5: delete interfaces et-0/0/1: expected a set command"}));
}

TEST(SwitchConfigs, ARowThatComesTwiceIsListed) {
  COVERS("C7");
  const auto parsed = sonic_parse(
      "{\"PORT\": {\"Ethernet0\": {\"mtu\": \"9216\"},\n\"Ethernet0\": {\"mtu\": \"1500\"}}}", "a");
  ASSERT_TRUE(parsed) << parsed.error().what;
  ASSERT_EQ(parsed->unread.size(), 1U);
  EXPECT_EQ(parsed->unread.front().why, "'Ethernet0' appears twice: the last one is used");
  EXPECT_TRUE(parsed->state.ports.front().mtu.is(1500_B));
}

TEST(SwitchConfigs, AMapThatIsNotThatOfTheOtherPortsIsListed) {
  COVERS("C7");
  const auto parsed = sonic_parse(
      "{\"PORT\": {\"Ethernet0\": {}, \"Ethernet8\": {}},\n\"DSCP_TO_TC_MAP\": {\"A\": {\"26\": "
      "\"3\"}, \"B\": {\"26\": \"1\"}},\n\"PORT_QOS_MAP\": {\n\"Ethernet0\": {\"dscp_to_tc_map\": "
      "\"A\"},\n\"Ethernet8\": {\"dscp_to_tc_map\": \"[DSCP_TO_TC_MAP|B]\"}}}",
      "a");
  ASSERT_TRUE(parsed) << parsed.error().what;
  ASSERT_EQ(parsed->unread.size(), 1U);
  EXPECT_EQ(parsed->unread.front().line, 5);
  EXPECT_TRUE(parsed->state.ports[0].trust.is(evidence::TrustMode::kDscp));
  EXPECT_FALSE(parsed->state.ports[1].trust.is_known());
}

}  // namespace
}  // namespace weir::platforms
