#include "sim/fault/fault.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/testing.h"
#include "counters/catalog.h"
#include "design/file/load.h"
#include "design/file/templates.h"
#include "finding/catalog.h"
#include "sim/fabric/from_design.h"

namespace weir::sim {
namespace {

struct Pod {
  design::Design design;
  design::Intent intent;
};

Pod pod16() {
  design::Loaded loaded = design::load_text(design::find_template("pod16")->text, "fabric.yaml");
  EXPECT_TRUE(loaded.is_good());
  design::Derived derived = design::derive(loaded.design);
  EXPECT_TRUE(derived.errors.empty());
  return {std::move(loaded.design), std::move(derived.intent)};
}

Fault fault_of(std::string_view text) {
  auto fault = parse_fault(text);
  EXPECT_TRUE(fault.has_value()) << (fault ? "" : fault.error().what);
  return *fault;
}

std::string error_of(std::string_view text) {
  const auto fault = parse_fault(text);
  return fault ? "no error" : fault.error().what;
}

TEST(FaultTable, NamesOnlyCountersAndFindingsThatExist) {
  COVERS("G9");
  for (const FaultType& type : fault_types()) {
    SCOPED_TRACE(std::string(type.name));
    EXPECT_FALSE(type.signs.empty());
    EXPECT_FALSE(type.findings.empty());
    for (const Sign& sign : type.signs)
      EXPECT_NE(counters::find(sign.counter), nullptr) << sign.counter;
    for (const std::string_view id : type.findings) {
      const finding::CatalogEntry* entry = finding::find(id);
      EXPECT_TRUE(entry != nullptr && entry->id == id) << id;
    }
  }
}

TEST(FaultTable, EveryDefaultIsAValueThatTheParserTakes) {
  COVERS("G9");
  for (const FaultType& type : fault_types()) {
    std::string text = fmt::format("{},at=x", type.name);
    for (const FaultParameter& parameter : type.parameters)
      if (!parameter.fallback.empty())
        text += fmt::format(",{}={}", parameter.name, parameter.fallback);
    EXPECT_EQ(error_of(text), "no error");
  }
}

TEST(FaultTable, StandsInTheManual) {
  COVERS("G9");
  const auto manual = read_file(std::string(WEIR_TEST_DATA) + "/../../docs/faults.md");
  ASSERT_TRUE(manual.has_value()) << manual.error().what;
  for (const FaultType& type : fault_types()) {
    const auto at = manual->find(fmt::format("\n| `{}` |", type.name));
    ASSERT_NE(at, std::string::npos) << type.name;
    const std::string row = manual->substr(at + 1, manual->find('\n', at + 1) - at - 1);
    for (const FaultParameter& parameter : type.parameters)
      EXPECT_NE(row.find(fmt::format("`{}{}{}`", parameter.name,
                                     parameter.fallback.empty() ? "" : "=", parameter.fallback)),
                std::string::npos)
          << row;
    for (const std::string_view id : type.findings)
      EXPECT_NE(row.find(fmt::format("`{}`", id)), std::string::npos) << row;
    EXPECT_EQ(row.find("`from`") != std::string::npos, type.is_timed) << row;
  }
}

TEST(FaultText, GivesNamePlacesTimesAndValues) {
  COVERS("G9");
  const Fault fault = fault_of("slow-receiver, at=gpu[03,05], rate=40G, from=100us, until=2ms");
  EXPECT_EQ(fault.type->name, "slow-receiver");
  EXPECT_EQ(fault.at, (std::vector<std::string>{"gpu03", "gpu05"}));
  EXPECT_EQ(fault.from, Time::at(100_us));
  EXPECT_EQ(fault.until, Time::at(2_ms));
  EXPECT_EQ(std::get<SlowReceiver>(fault.kind).rate, 40_Gbps);
}

TEST(FaultText, EveryErrorSaysWhatWasFoundAndWhatWasMeant) {
  EXPECT_EQ(error_of("slow-reciever,at=gpu03"),
            "no fault 'slow-reciever'; did you mean 'slow-receiver'? (weir sim --list-faults shows "
            "them all)");
  EXPECT_EQ(error_of("slow-receiver"), "slow-receiver needs a place: slow-receiver,at=gpu03");
  EXPECT_EQ(error_of("slow-receiver,at=gpu03,rat=40G"),
            "slow-receiver takes at, from, until, rate, not 'rat'; did you mean 'rate'?");
  EXPECT_EQ(error_of("wrong-trust,at=gpu03,from=1us"),
            "wrong-trust takes at, not 'from': it holds for the whole run");
  EXPECT_EQ(error_of("np-off,at=gpu03,from=2us,until=1us"), "np-off: until is not after from");
  EXPECT_EQ(error_of("np-off,at="), "np-off: 'at' needs a value, as in at=…");
  EXPECT_NE(error_of("slow-receiver,at=gpu03,rate=40").find("slow-receiver: rate: "),
            std::string::npos);
  EXPECT_NE(error_of("wrong-dscp,at=gpu03,dscp=64").find("'64' is above 63"), std::string::npos);
  EXPECT_NE(error_of("degraded-link,at=gpu03,ber=2").find("up to 1e-3"), std::string::npos);
}

TEST(FaultSites, AreHostsRailsSwitchesAndLinksOfTheFabric) {
  const Pod pod = pod16();
  EXPECT_EQ(resolve(fault_of("np-off,at=gpu03"), pod.intent)->nics, (std::vector<NicRef>{{2, 0}}));
  EXPECT_EQ(resolve(fault_of("np-off,at=gpu03/mlx5_0"), pod.intent)->nics,
            (std::vector<NicRef>{{2, 0}}));
  EXPECT_EQ(resolve(fault_of("pool-too-small"), pod.intent)->switches.size(), 3U);
  EXPECT_EQ(resolve(fault_of("link-down,at=leaf1/swp1"), pod.intent)->links,
            resolve(fault_of("link-down,at=gpu01"), pod.intent)->links);
  EXPECT_EQ(resolve(fault_of("link-down,at=leaf1-spine1"), pod.intent)->links.size(), 1U);
  const auto wrong = resolve(fault_of("np-off,at=gpu33"), pod.intent);
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().what.find("np-off: no host 'gpu33' in this fabric; did you mean 'gpu"),
            0U)
      << wrong.error().what;
  const auto port = resolve(fault_of("link-down,at=leaf1/swp99"), pod.intent);
  ASSERT_FALSE(port.has_value());
  EXPECT_NE(port.error().what.find("leaf1 has no port 'swp99'"), std::string::npos);
}

TEST(FaultEdits, TouchTheNamedHostAlone) {
  COVERS("G9", "C1");
  Pod pod = pod16();
  ASSERT_TRUE(apply_to_intent(fault_of("wrong-tc,at=gpu03"), pod.intent).has_value());
  EXPECT_EQ(pod.intent.hosts[2].nics[0].traffic_class, 26_tos);
  EXPECT_EQ(pod.intent.hosts[3].nics[0].traffic_class, 106_tos);
  ASSERT_TRUE(apply_to_intent(fault_of("wrong-mtu,at=gpu04,mtu=1500B"), pod.intent).has_value());
  EXPECT_EQ(pod.intent.hosts[3].nics[0].rdma_mtu, 1024_B);
  EXPECT_EQ(pod.intent.hosts[4].nics[0].rdma_mtu, 4096_B);
}

TEST(FaultEdits, PfcTooWideAtOneSwitchIsThatSwitchAlone) {
  COVERS("G9");
  const Pod before = pod16();
  Pod edited = pod16();
  ASSERT_TRUE(apply_to_intent(fault_of("pfc-too-wide,at=leaf2"), edited.intent).has_value());
  for (std::size_t s = 0; s < edited.intent.switches.size(); ++s) {
    const bool is_wide = edited.intent.switches[s].pfc.count() == 8;
    EXPECT_EQ(is_wide, edited.intent.switches[s].name == "leaf2") << edited.intent.switches[s].name;
  }
  for (std::size_t h = 0; h < edited.intent.hosts.size(); ++h)
    EXPECT_EQ(edited.intent.hosts[h].nics[0].pfc, before.intent.hosts[h].nics[0].pfc);
  Pod all = pod16();
  ASSERT_TRUE(apply_to_intent(fault_of("pfc-too-wide"), all.intent).has_value());
  EXPECT_EQ(all.intent.hosts[0].nics[0].pfc.count(), 8);
}

TEST(FaultEdits, ASwitchGoesDownWithAllItsLinks) {
  COVERS("G9");
  Pod pod = pod16();
  auto fabric = build_network(pod.design, pod.intent);
  ASSERT_TRUE(fabric.has_value());
  std::vector<FaultAction> actions;
  const Fault fault = fault_of("switch-down,at=leaf2,from=20us,until=60us");
  ASSERT_TRUE(apply_to_network(fault, pod.intent, placement_of(pod.intent, fabric->network),
                               fabric->network, actions)
                  .has_value());
  std::size_t ports = 0;
  for (const design::SwitchIntent& sw : pod.intent.switches)
    if (sw.name == "leaf2") ports = sw.ports.size();
  const auto& changes = fabric->network.changes;
  EXPECT_EQ(changes.size(), 2 * ports);
  EXPECT_EQ(changes.front().at, Time::at(20_us));
  EXPECT_EQ(changes.back().at, Time::at(60_us));
}

TEST(FaultEdits, AMomentIsAnActionAndNotAnEdit) {
  COVERS("G9");
  Pod pod = pod16();
  const Fault fault = fault_of("rp-off,at=gpu03,from=100us,until=200us");
  ASSERT_TRUE(apply_to_intent(fault, pod.intent).has_value());
  EXPECT_GT(pod.intent.hosts[2].nics[0].ecn_rp.count(), 0);
  auto fabric = build_network(pod.design, pod.intent);
  ASSERT_TRUE(fabric.has_value());
  std::vector<FaultAction> actions;
  ASSERT_TRUE(apply_to_network(fault, pod.intent, placement_of(pod.intent, fabric->network),
                               fabric->network, actions)
                  .has_value());
  ASSERT_EQ(actions.size(), 2U);
  EXPECT_EQ(actions[0].at, Time::at(100_us));
  EXPECT_FALSE(std::get<CongestionControlChange>(actions[0].change).rp);
  EXPECT_TRUE(std::get<CongestionControlChange>(actions[1].change).rp);
}

TEST(FaultEdits, WhatAFabricCannotHaveIsAnErrorThatSaysWhy) {
  Pod pod = pod16();
  auto fabric = build_network(pod.design, pod.intent);
  ASSERT_TRUE(fabric.has_value());
  std::vector<FaultAction> actions;
  const Status status =
      apply_to_network(fault_of("bounce-routing,at=leaf1"), pod.intent,
                       placement_of(pod.intent, fabric->network), fabric->network, actions);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().what,
            "bounce-routing at leaf1: needs two switches above it and two beside it; it has 1 and "
            "1");
}

}  // namespace
}  // namespace weir::sim
