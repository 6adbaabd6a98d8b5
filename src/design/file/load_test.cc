#include "design/file/load.h"

#include "base/json.h"
#include "base/testing.h"
#include "design/fabric/effective.h"
#include "design/fabric/intent.h"
#include "design/fabric/patterns.h"
#include "design/fabric/subnet.h"
#include "design/file/schema.h"
#include "design/file/templates.h"
#include "design/file/words.h"
#include "units/format.h"

namespace weir::design {
namespace {

// The smallest design that loads; tests replace one line of it.
constexpr std::string_view kSmall = R"(weir: 1
hosts:
  gpu: { names: "gpu[1-4]", nic: connectx7 }
switches:
  leaf: { names: leaf1, system: sonic, asic: tomahawk5 }
links:
  - { from: gpu, to: leaf, speed: 400G, length: 3m }
)";

std::string edited(std::string_view from, std::string_view to) {
  std::string text(kSmall);
  const auto at = text.find(from);
  WEIR_CHECK(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string errors_of(const std::string& text) {
  return to_text(load_text(text, "f.yaml"));
}

TEST(Load, TheSmallestDesignLoadsAndEveryDefaultHasAReason) {
  COVERS("A1");
  const Loaded loaded = load_text(kSmall, "f.yaml");
  ASSERT_TRUE(loaded.is_good()) << to_text(loaded);
  EXPECT_EQ(*loaded.design.wred.min, 100_KB);
  EXPECT_FALSE(loaded.design.wred.min.is_written());
  EXPECT_FALSE(loaded.design.wred.min.why().empty());
  EXPECT_EQ(*loaded.design.marking.traffic_class, 106_tos);
  EXPECT_EQ(*loaded.design.expect.incast, 3);
  EXPECT_EQ(loaded.design.pfc.priorities->mask(), 1U << 3U);
}

TEST(Load, ABareNumberIsAnErrorWithItsPlaceAndASuggestion) {
  COVERS("A1");
  EXPECT_EQ(
      errors_of(edited("speed: 400G", "speed: 400")),
      "f.yaml:7:35: links[0].speed: expected a rate such as 400G, 25Gbps or 40Mbps, found '400'; "
      "a bare number has no unit: did you mean 400G?\n");
}

TEST(Load, UnknownAndDuplicateKeysAreErrorsWithASuggestion) {
  COVERS("A1");
  EXPECT_EQ(errors_of(edited("speed: 400G", "sped: 400G, speed: 400G")),
            "f.yaml:7:28: unknown key 'sped' in links[0]; did you mean 'speed'?\n");
  EXPECT_EQ(errors_of(std::string(kSmall) + "weir: 1\n"),
            "f.yaml:8:1: 'weir' appears twice in the same mapping; first at line 1\n");
  EXPECT_EQ(errors_of(edited("asic: tomahawk5", "asic: tomahwak5")).substr(0, 61),
            "f.yaml:5:46: unknown ASIC 'tomahwak5'; did you mean 'tomahawk");
}

TEST(Load, AllErrorsOfAFileAreReportedAtOnceInItsOrder) {
  const std::string text = std::string(kSmall) + "trust: both\nmtu: { rdma: 3000B }\nwred: [1]\n";
  EXPECT_EQ(errors_of(text),
            "f.yaml:8:8: trust: expected one of dscp, pcp, found 'both'\n"
            "f.yaml:9:14: mtu.rdma: expected 256B, 512B, 1024B, 2048B or 4096B, found 3000B\n"
            "f.yaml:10:7: wred: expected a mapping (key: value), found a list\n");
}

TEST(Load, WhatYamlOffersBeyondADesignIsRefused) {
  EXPECT_NE(errors_of("weir: &a 1\n").find("an anchor"), std::string::npos);
  EXPECT_NE(errors_of("weir: 1\n---\nweir: 1\n").find("second YAML document"), std::string::npos);
  EXPECT_NE(errors_of("a: [").find("not YAML"), std::string::npos);
  EXPECT_NE(errors_of("").find("weir: 1"), std::string::npos);
  EXPECT_NE(errors_of("- 1\n").find("expected a mapping"), std::string::npos);
  EXPECT_NE(errors_of(std::string(100, '[')).find("deeper"), std::string::npos);
}

TEST(Load, MissingPartsAreNamed) {
  EXPECT_EQ(errors_of(edited("length: 3m", "cable: dac")),
            "f.yaml:7:5: links[0].length is missing\n");
  EXPECT_NE(errors_of("weir: 1\n").find("'hosts'"), std::string::npos);
}

TEST(Load, ADscpBelongsToOneClass) {
  const std::string text =
      std::string(kSmall) + "classes: { rdma: { dscp: 26 }, storage: { dscp: 24-31 } }\n";
  EXPECT_EQ(errors_of(text),
            "f.yaml:8:49: classes.storage.dscp: DSCP 26 belongs to class 'rdma' already\n");
}

TEST(Load, AUsualClassUnderAnotherNameIsNamed) {
  COVERS("A1");
  EXPECT_EQ(errors_of(std::string(kSmall) + "classes: { roce: { dscp: 24-31, priority: 3 } }\n"),
            "f.yaml:8:26: classes.roce.dscp: DSCP 24 belongs to class 'rdma', which every fabric "
            "has; name this class 'rdma', or write classes.rdma.dscp\n");
}

TEST(Load, AClassWithoutCodePointsIsPrintedWithoutThem) {
  COVERS("A1");
  const Loaded first =
      load_text(std::string(kSmall) + "classes: { other: { priority: 1 } }\n", "f.yaml");
  ASSERT_TRUE(first.is_good()) << to_text(first);
  const Loaded second = load_text(effective_text(first.design), "f.yaml");
  ASSERT_TRUE(second.is_good()) << to_text(second);
  EXPECT_EQ(second.design.find_class("other")->value.dscp->mask, 0U);
}

TEST(Load, NamesAndTextsThatCannotBePrintedAgainAreRefused) {
  COVERS("A1");
  EXPECT_EQ(errors_of(std::string(kSmall) + "classes: { 'a b': { dscp: 40 } }\n"),
            "f.yaml:8:12: classes: expected a name of letters, digits, '_' and '-', found 'a b'\n");
  EXPECT_EQ(errors_of(std::string(kSmall) + "classes: { '': { dscp: 40 } }\n"),
            "f.yaml:8:12: classes: expected a name of letters, digits, '_' and '-', found ''\n");
  EXPECT_EQ(errors_of(std::string(kSmall) + "classes: { \"a\\nb\": { dscp: 40 } }\n"),
            "f.yaml:8:12: classes: expected a name of letters, digits, '_' and '-', found "
            "'a\\u000ab'\n");
  EXPECT_EQ(errors_of(std::string(kSmall) + "dcqcn: { rpg_ai_rate: \"5\\u2028Mbps\" }\n"),
            "f.yaml:8:23: dcqcn.rpg_ai_rate: expected a text of one line, found a control "
            "character\n");
}

TEST(Load, SetValueWritesByPathAndRefillsWhatFollows) {
  COVERS("A1");
  Design design = load_text(kSmall, "f.yaml").design;
  ASSERT_TRUE(set_value(design, "wred.at_speed", "800G"));
  EXPECT_EQ(*design.wred.min, 200_KB);
  ASSERT_TRUE(set_value(design, "switches.leaf.mtu", "1500B"));
  EXPECT_EQ(*design.switches.front().value.mtu, 1500_B);
  ASSERT_TRUE(set_value(design, "links.0.length", "100m"));
  EXPECT_EQ(*design.links.front().length, 100_m);
  ASSERT_TRUE(set_value(design, "dcqcn.rpg_ai_rate", "10Mbps"));
  EXPECT_EQ(design.dcqcn.knobs.front().text, "10Mbps");
  EXPECT_EQ(set_value(design, "wred.mni", "1KB").error().what,
            "no setting 'wred.mni' in the design; did you mean 'wred.min'?");
  EXPECT_FALSE(set_value(design, "wred.min", "1"));
  EXPECT_FALSE(set_value(design, "hosts.gpu.rails", "99"));
  EXPECT_EQ(*design.hosts.front().value.rails, 1);
}

class EveryTemplate : public testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(Templates, EveryTemplate,
                         testing::Values("pair", "pod16", "rail256", "clos1k"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(EveryTemplate, LoadsAndDerives) {
  COVERS("A1");
  const Loaded loaded = load_text(find_template(GetParam())->text, "t.yaml");
  ASSERT_TRUE(loaded.is_good()) << to_text(loaded);
  const Derived derived = derive(loaded.design);
  for (const Diagnostic& error : derived.errors)
    ADD_FAILURE() << weir::to_text("t.yaml", error.at) << " " << error.message;
  EXPECT_EQ(derived.intent.hosts.size(),
            static_cast<std::size_t>(
                *loaded.design.expect.incast < 64 ? *loaded.design.expect.incast + 1 : 1024));
}

TEST_P(EveryTemplate, TheEffectiveTextIsADesignThatMeansTheSame) {
  COVERS("A1");
  const Loaded first = load_text(find_template(GetParam())->text, "t.yaml");
  const std::string text = effective_text(first.design);
  const Loaded second = load_text(text, "t.yaml");
  ASSERT_TRUE(second.is_good()) << to_text(second) << text;
  // Written out in full, nothing is left to default: the same lines without the reasons.
  const std::string again = effective_text(second.design);
  const auto without_reasons = [](const std::string& with) {
    std::string out;
    std::size_t at = 0;
    while (at < with.size()) {
      const auto end = with.find('\n', at);
      std::string line = with.substr(at, end - at);
      line.erase(std::min(line.find("  # "), line.size()));
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + "\n";
      at = end + 1;
    }
    return out;
  };
  EXPECT_EQ(without_reasons(text), without_reasons(again));
  EXPECT_EQ(again.find("  # "), std::string::npos);
}

TEST(Templates, HaveTheSizesTheyPromise) {
  COVERS("A1", "G6");
  const auto shape = [](std::string_view name) {
    const Intent intent = derive(load_text(find_template(name)->text, "t").design).intent;
    return std::array{intent.hosts.size(), intent.nic_count, intent.switches.size(),
                      intent.links.size()};
  };
  EXPECT_EQ(shape("pair"), (std::array<std::size_t, 4>{2, 2, 1, 2}));
  EXPECT_EQ(shape("pod16"), (std::array<std::size_t, 4>{16, 16, 3, 32}));
  EXPECT_EQ(shape("rail256"), (std::array<std::size_t, 4>{32, 256, 16, 256 + 8 * 8 * 4}));
  EXPECT_EQ(shape("clos1k"), (std::array<std::size_t, 4>{1024, 1024, 128, 1024 + 1024 + 1024}));
}

TEST(Intent, SaysWhatMustBeTrueOfANic) {
  COVERS("A1");
  const Intent intent = derive(load_text(find_template("rail256")->text, "t").design).intent;
  const NicIntent& nic = intent.hosts.at(6).nics.at(5);
  EXPECT_EQ(nic.device, "mlx5_5");
  EXPECT_EQ(nic.subnet, "10.5.0.0/16");
  EXPECT_EQ(nic.address, "10.5.0.7/16");
  EXPECT_EQ(nic.speed, 400_Gbps);
  EXPECT_EQ(nic.traffic_class, 106_tos);
  EXPECT_EQ(nic.pfc.mask(), 8U);
  EXPECT_EQ(nic.ecn_rp.mask(), 8U);
  for (unsigned d = 24; d < 32; ++d)
    EXPECT_EQ(nic.dscp_to_priority.at(d), 3_prio);
  EXPECT_EQ(nic.dscp_to_priority.at(48), 6_prio);
  EXPECT_EQ(nic.dscp_to_priority.at(0), 0_prio);
  // Rail 5 of every host meets at leaf 5.
  EXPECT_EQ(intent.switches.at(intent.links.at(nic.link).upper.node).name, "leaf5");
}

TEST(Intent, SaysWhatMustBeTrueOfASwitchPort) {
  COVERS("A1", "F2");
  const Intent intent = derive(load_text(find_template("pod16")->text, "t").design).intent;
  const SwitchIntent& leaf = intent.switches.at(0);
  ASSERT_EQ(leaf.ports.size(), 16U);
  const SwitchPortIntent& access = leaf.ports.at(0);
  const SwitchPortIntent& uplink = leaf.ports.at(8);
  EXPECT_TRUE(access.is_access);
  EXPECT_FALSE(uplink.is_access);
  EXPECT_EQ(access.name, "swp1");
  EXPECT_EQ(access.headroom_need, 48128_B);  // Spectrum-3 formula, 100G, 3 m, 9216 B, 50 % small
  EXPECT_EQ(uplink.headroom_need, 52224_B);  // 30 m
  EXPECT_EQ(access.wred.min, 25_KB);         // 100 KB at 400G, scaled
  ASSERT_TRUE(leaf.buffers.plan.has_value());
  EXPECT_EQ(leaf.buffers.plan->headroom_sum, Bytes::raw(8 * 48128 + 8 * 52224));
  EXPECT_EQ(leaf.queues.at(6).scheduling, Scheduling::kStrict);
  EXPECT_EQ(leaf.queues.at(3).minimum, 50_percent);
}

TEST(Intent, AnOverrideOfOneSwitchStaysThere) {
  std::string text(find_template("pod16")->text);
  text = text.replace(
      text.find("    tier: 2\n"), 12,
      "    tier: 2\n    mtu: 1500B\n    dscp_overrides: [{ dscp: 26, priority: 1 }]\n");
  const Derived derived = derive(load_text(text, "t").design);
  EXPECT_EQ(derived.intent.switches.at(2).dscp_to_priority.at(26), 1_prio);
  EXPECT_EQ(derived.intent.switches.at(0).dscp_to_priority.at(26), 3_prio);
  EXPECT_EQ(derived.intent.switches.at(2).ports.at(0).mtu, 1500_B);
}

TEST(Topology, FaultsOfTheWiringAreNamedWithTheirPlace) {
  COVERS("A1");
  const auto first_error = [](const std::string& text) {
    const Loaded loaded = load_text(text, "f.yaml");
    if (!loaded.is_good()) return to_text(loaded);
    const Derived derived = derive(loaded.design);
    if (derived.errors.empty()) return std::string("none");
    return weir::to_text("f.yaml", derived.errors.front().at) + " " +
           derived.errors.front().message;
  };
  EXPECT_EQ(first_error(edited("from: gpu,", "from: gpux,")),
            "f.yaml:7:13 'gpux' is neither a group nor a node; did you mean 'gpu'?");
  EXPECT_EQ(first_error(edited("names: leaf1", "names: \"leaf[1-3]\"")),
            "f.yaml:7:5 4 nodes of 'from' cannot be split into 3 equal parts");
  EXPECT_EQ(first_error(edited("from: gpu,", "from: \"gpu[1-2]\",")),
            "f.yaml:3:3 rail 0 of host 'gpu3' has no cable: no link reaches it");
  EXPECT_EQ(first_error(edited("from: gpu, to: leaf,", "from: gpu, to: leaf, count: 2,")),
            "f.yaml:7:5 host 'gpu1' has 1 rails and more cables than that");
  EXPECT_EQ(first_error(edited("from: gpu, to: leaf", "from: leaf, to: gpu")).substr(0, 41),
            "f.yaml:7:23 a host as the upper end: 'fro");
  EXPECT_EQ(first_error(std::string(kSmall) + "addressing: { subnets: 10.0.0.0/30 }\n"),
            "f.yaml:8:24 addressing.subnets: 10.0.0.0/30 has no room for 4 hosts");
}

/// Of a subnet for each leaf the hosts of that leaf count.
TEST(Topology, ASubnetThatIsFullSaysForHowMany) {
  COVERS("A1");
  std::string text(find_template("pod16")->text);
  const std::size_t at = text.find("  subnets:");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, text.find('\n', at) - at, "  subnets: 10.{rail}.{leaf}.0/30");
  const Derived derived = derive(load_text(text, "t").design);
  ASSERT_FALSE(derived.errors.empty());
  EXPECT_NE(derived.errors.front().message.find("has no room for 8 NICs"), std::string::npos)
      << derived.errors.front().message;
}

TEST(Patterns, ExpandInOrderWithTheirZeroes) {
  COVERS("A1");
  EXPECT_EQ(*expand_names("gpu[008-010]"),
            (std::vector<std::string>{"gpu008", "gpu009", "gpu010"}));
  EXPECT_EQ(*expand_names("p[1-2]-l[1,3]"),
            (std::vector<std::string>{"p1-l1", "p1-l3", "p2-l1", "p2-l3"}));
  EXPECT_EQ(*expand_names("a, b[1-2]"), (std::vector<std::string>{"a", "b1", "b2"}));
  for (const char* bad :
       {"", "a[", "a[2-1]", "a[x]", "a[1-999999]", "a b", "[1-1000][1-1000]", ","})
    EXPECT_FALSE(expand_names(bad)) << bad;
}

TEST(Subnet, OverlapAndHostAddresses) {
  COVERS("A1");
  EXPECT_TRUE(parse_subnet("10.0.0.0/8")->overlaps(*parse_subnet("10.4.0.0/16")));
  EXPECT_FALSE(parse_subnet("10.1.0.0/16")->overlaps(*parse_subnet("10.2.0.0/16")));
  EXPECT_FALSE(parse_subnet("10.0.0.0/8")->overlaps(*parse_subnet("fd00::/8")));
  EXPECT_EQ(*parse_subnet("10.1.0.0/16")->host(258), "10.1.1.2/16");
  EXPECT_EQ(*parse_subnet("fd00:1::/64")->host(3), "fd00:1::3/64");
  EXPECT_FALSE(parse_subnet("10.0.0.0/30")->host(3));  // the broadcast address
  EXPECT_EQ(parse_subnet("10.0.0.1/16").error().what,
            "expected a subnet such as 10.0.0.0/16 or fd00:1::/64, found '10.0.0.1/16'; a host "
            "address: did "
            "you mean 10.0.0.0/16?");
  for (const char* bad : {"", "10.0.0.0", "10.0.0.0/33", "10.0.0/8", "fd00::/129", "x/8"})
    EXPECT_FALSE(parse_subnet(bad)) << bad;
}

// Walks a JSON Schema beside the YAML of a template: every key must be known to it.
void expect_keys_known(const Json& schema, const YamlNode& node, const std::string& path) {
  if (node.kind == YamlNode::Kind::kSequence && schema.contains("items")) {
    for (const YamlNode& item : node.items)
      expect_keys_known(schema["items"], item, path + "[]");
  }
  if (node.kind != YamlNode::Kind::kMapping) return;
  for (const YamlEntry& entry : node.entries) {
    const bool is_listed =
        schema.contains("properties") && schema["properties"].contains(entry.key);
    const bool is_free =
        schema.contains("additionalProperties") && schema["additionalProperties"].is_object();
    EXPECT_TRUE(is_listed || is_free) << path << "." << entry.key;
    if (is_listed)
      expect_keys_known(schema["properties"][entry.key], entry.value, path + "." + entry.key);
    if (!is_listed && is_free)
      expect_keys_known(schema["additionalProperties"], entry.value, path + "." + entry.key);
  }
}

TEST_P(EveryTemplate, EveryKeyIsInTheSchema) {
  COVERS("A1");
  expect_keys_known(design_schema(), parse_yaml(find_template(GetParam())->text).root, "");
}

TEST(Schema, RefusesUnknownKeysAndDescribesEachKnownOne) {
  COVERS("A1");
  const Json schema = design_schema();
  EXPECT_EQ(schema["additionalProperties"], false);
  EXPECT_EQ(schema["properties"]["wred"]["properties"]["mark_at"]["enum"],
            Json({"dequeue", "enqueue"}));
  EXPECT_FALSE(
      schema["properties"]["hosts"]["additionalProperties"]["properties"]["rails"]["description"]
          .get<std::string>()
          .empty());
}

}  // namespace
}  // namespace weir::design
