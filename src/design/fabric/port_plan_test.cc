// Ports of switch models: names that exist, one per lane, on every system and at every speed.
#include "design/fabric/port_plan.h"

#include <map>
#include <set>

#include <fmt/format.h>

#include "base/testing.h"
#include "design/fabric/intent.h"
#include "design/file/load.h"
#include "design/file/value_text.h"
#include "design/lint/lint.h"
#include "design/tables/platforms.h"

namespace weir::design {
namespace {

std::vector<PortWish> wishes(std::size_t down, std::size_t up, BitRate speed) {
  std::vector<PortWish> out;
  for (std::size_t i = 0; i < down; ++i)
    out.push_back({speed, 0, false, fmt::format("gpu{}", i)});
  for (std::size_t i = 0; i < up; ++i)
    out.push_back({speed, 0, true, fmt::format("spine{}", i)});
  return out;
}

std::vector<std::string> names_of(const PortPlan& plan) {
  std::vector<std::string> out;
  for (const PlannedPort& port : plan.ports)
    out.push_back(port.name);
  return out;
}

PortPlan planned(SwitchSystem system, std::string_view model, std::size_t down, std::size_t up,
                 BitRate speed) {
  return plan_ports(system, find_switch_model(model), {}, wishes(down, up, speed));
}

PortPlan planned(SwitchSystem system, std::string_view model, std::string_view ports,
                 std::size_t down, std::size_t up, BitRate speed) {
  const auto spec = ValueText<PortSpec>::parse(ports);
  EXPECT_TRUE(spec) << (spec ? "" : spec.error().what);
  return plan_ports(system, find_switch_model(model), *spec, wishes(down, up, speed));
}

TEST(PortPlan, AFull128Times400GHasTheNamesOfEachSystem) {
  COVERS("F1");
  const auto sonic = names_of(planned(SwitchSystem::kSonic, "sn5600", 64, 64, 400_Gbps));
  for (std::size_t i = 0; i < 128; ++i)
    EXPECT_EQ(sonic[i], fmt::format("Ethernet{}", i * 4));
  const auto cumulus = names_of(planned(SwitchSystem::kCumulus, "sn5600", 64, 64, 400_Gbps));
  EXPECT_EQ(cumulus.front(), "swp1s0");
  EXPECT_EQ(cumulus[1], "swp1s1");
  EXPECT_EQ(cumulus.back(), "swp64s1");
  const auto eos = names_of(planned(SwitchSystem::kEos, "7060x6-64pe", 64, 64, 400_Gbps));
  EXPECT_EQ(eos.front(), "Ethernet1/1");
  EXPECT_EQ(eos[1], "Ethernet1/5");
  EXPECT_EQ(eos.back(), "Ethernet64/5");
  const auto nxos = names_of(planned(SwitchSystem::kNxos, "n9364e-sg2-o", 64, 64, 400_Gbps));
  EXPECT_EQ(nxos.front(), "Ethernet1/1/1");
  EXPECT_EQ(nxos.back(), "Ethernet1/64/2");
  const auto junos = names_of(planned(SwitchSystem::kJunos, "qfx5240-64od", 64, 64, 400_Gbps));
  EXPECT_EQ(junos.front(), "et-0/0/0:0");
  EXPECT_EQ(junos.back(), "et-0/0/63:1");
}

TEST(PortPlan, StepsFollowLanesAndBaseFollowsTheVendor) {
  COVERS("F1");
  using enum SwitchSystem;
  const auto first_two_and_last = [](const PortPlan& plan) {
    EXPECT_EQ(plan.fault, "");
    const auto names = names_of(plan);
    return std::vector{names[0], names[1], names.back()};
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(first_two_and_last(planned(kSonic, "sn4700", 32, 0, 400_Gbps)),
            (Names{"Ethernet0", "Ethernet8", "Ethernet248"}));
  EXPECT_EQ(first_two_and_last(planned(kSonic, "sn4700", 64, 0, 200_Gbps)),
            (Names{"Ethernet0", "Ethernet4", "Ethernet252"}));
  EXPECT_EQ(first_two_and_last(planned(kSonic, "sn4700", 128, 0, 100_Gbps)),
            (Names{"Ethernet0", "Ethernet2", "Ethernet254"}));
  EXPECT_EQ(first_two_and_last(planned(kSonic, "z9664f", 64, 0, 400_Gbps)),
            (Names{"Ethernet0", "Ethernet4", "Ethernet252"}));
  EXPECT_EQ(first_two_and_last(planned(kSonic, "as9726-32db", 32, 0, 400_Gbps)),
            (Names{"Ethernet1", "Ethernet2", "Ethernet32"}));
  EXPECT_EQ(first_two_and_last(planned(kSonic, "w6940-64oc", 64, 0, 800_Gbps)),
            (Names{"Ethernet1", "Ethernet9", "Ethernet505"}));
  EXPECT_EQ(first_two_and_last(planned(kSonic, "sn5600", 256, 0, 100_Gbps)),
            (Names{"Ethernet0", "Ethernet1", "Ethernet503"}));
  EXPECT_EQ(first_two_and_last(planned(kCumulus, "sn5600", 256, 0, 200_Gbps)),
            (Names{"swp1s0", "swp1s1", "swp64s3"}));
  EXPECT_EQ(first_two_and_last(planned(kEos, "7060x6-64pe", 256, 0, 200_Gbps)),
            (Names{"Ethernet1/1", "Ethernet1/3", "Ethernet64/7"}));
  EXPECT_EQ(service_port_names(*find_switch_model("sn5600"), kSonic), "Ethernet512");
  EXPECT_EQ(service_port_names(*find_switch_model("w6940-64oc"), kSonic),
            "Ethernet513, Ethernet515");
  EXPECT_EQ(service_port_names(*find_switch_model("7060dx4-32"), kSonic),
            "Ethernet256, Ethernet260");
  EXPECT_EQ(service_port_names(*find_switch_model("sn5400"), kCumulus), "swp65, swp66");
}

TEST(PortPlan, UplinksTakeTheLastCages) {
  COVERS("F1");
  const auto names = names_of(planned(SwitchSystem::kCumulus, "sn5600", 5, 4, 400_Gbps));
  EXPECT_EQ(names, (std::vector<std::string>{"swp1s0", "swp1s1", "swp2s0", "swp2s1", "swp3s0",
                                             "swp63s0", "swp63s1", "swp64s0", "swp64s1"}));
}

/// Every model, system and speed of its cages, as full as it gets: names are there, differ, lie
/// within the lanes of the box, and one more link does not fit.
TEST(PortPlan, EveryModelHoldsWhatItsCagesHoldAndNoMore) {
  COVERS("F1", "A2");
  for (const SwitchModel& model : switch_models()) {
    ASSERT_NE(find_asic(model.asic), nullptr) << model.name;
    for (const auto& entry : vocab::kSwitchSystems) {
      const SwitchSystem system = entry.system;
      for (const BitRate speed : {25_Gbps, 50_Gbps, 100_Gbps, 200_Gbps, 400_Gbps, 800_Gbps}) {
        SCOPED_TRACE(fmt::format("{} {} {}", model.name, entry.name, speed.raw()));
        const auto most = static_cast<std::size_t>(most_ports(model, speed));
        const PortPlan full = plan_ports(system, &model, {}, wishes(most, 0, speed));
        const bool has_names = model.runs(system) && !model.is_modular() &&
                               (system != SwitchSystem::kSonic || model.has_sonic_names);
        if (!has_names) {
          if (most > 0) EXPECT_NE(full.fault, "");
          continue;
        }
        EXPECT_EQ(full.fault, "");
        std::set<std::string> names;
        std::set<std::pair<int, int>> lanes;
        for (const PlannedPort& port : full.ports) {
          EXPECT_TRUE(names.insert(port.name).second) << port.name;
          const CageBlock& block = model.block_of(port.place.cage);
          EXPECT_LE(port.place.cage, model.cages());
          const int each = port.place.mode.lanes / port.place.mode.ports;
          for (int lane = 0; lane < each; ++lane) {
            const int at = port.place.sub * each + lane;
            EXPECT_LT(at, block.lanes);
            EXPECT_TRUE(lanes.insert({port.place.cage, at}).second) << port.name;
          }
        }
        EXPECT_NE(plan_ports(system, &model, {}, wishes(most + 1, 0, speed)).fault, "");
      }
    }
  }
}

TEST(PortPlan, OnlyOddCagesAreSplitInEight) {
  COVERS("F1");
  const PortPlan plan = planned(SwitchSystem::kCumulus, "sn5600", 16, 8, 100_Gbps);
  EXPECT_EQ(plan.ports[8].name, "swp3s0");
  EXPECT_EQ(plan.ports[16].name, "swp63s0");
  EXPECT_NE(planned(SwitchSystem::kCumulus, "sn5600", 257, 0, 100_Gbps).fault, "");
  EXPECT_EQ(planned(SwitchSystem::kCumulus, "sn5640", 512, 0, 100_Gbps).fault, "");
}

TEST(PortPlan, NamesAndCagesCanBeWritten) {
  COVERS("F1");
  using enum SwitchSystem;
  const auto in_order = planned(kSonic, "sn5600", "Ethernet[0-12:4]", 4, 0, 400_Gbps);
  EXPECT_EQ(in_order.fault, "");
  EXPECT_EQ(names_of(in_order).back(), "Ethernet12");
  EXPECT_EQ(in_order.ports.back().place.cage, 2);
  const auto by_peer =
      planned(kCumulus, "sn5600", "gpu[0-1]=swp[7-8]s0, spine0=swp64s1", 2, 1, 400_Gbps);
  EXPECT_EQ(names_of(by_peer), (std::vector<std::string>{"swp7s0", "swp8s0", "swp64s1"}));
  const auto cages = planned(kEos, "7060x6-64pe", "33-34", 4, 0, 400_Gbps);
  EXPECT_EQ(names_of(cages), (std::vector<std::string>{"Ethernet33/1", "Ethernet33/5",
                                                       "Ethernet34/1", "Ethernet34/5"}));
  const auto subs = planned(kJunos, "qfx5240-64od", "12.2,13.1", 2, 0, 400_Gbps);
  EXPECT_EQ(names_of(subs), (std::vector<std::string>{"et-0/0/11:1", "et-0/0/12:0"}));
}

TEST(PortPlan, WrittenNamesThatTheBoxDoesNotHaveAreRefused) {
  COVERS("F1", "A2");
  using enum SwitchSystem;
  EXPECT_NE(planned(kCumulus, "sn5600", "swp[1-4]s2", 4, 0, 400_Gbps).fault, "");
  EXPECT_NE(planned(kSonic, "sn5600", "Ethernet[0-6:2]", 4, 0, 400_Gbps).fault, "");
  EXPECT_NE(planned(kSonic, "sn5600", "Ethernet[0-4:4]", 4, 0, 400_Gbps).fault, "");  // too few
  EXPECT_NE(planned(kCumulus, "sn5600", "swp1s0,swp1s0", 2, 0, 400_Gbps).fault, "");
  EXPECT_NE(planned(kCumulus, "sn5600", "2", 0, 0, 100_Gbps).fault.empty(), false);
  EXPECT_NE(planned(kCumulus, "sn5600", "swp1s[0-7],swp2s0", 9, 0, 100_Gbps).fault, "");
  // A box that is not in the table is taken at its word.
  EXPECT_EQ(planned(kSonic, "no-such-box", "Eth1/[1-4]", 4, 0, 400_Gbps).fault, "");
}

TEST(PortPlan, WithoutAModelNamesAreAssumed) {
  COVERS("F1");
  const PortPlan plan = plan_ports(SwitchSystem::kSonic, nullptr, {}, wishes(2, 0, 400_Gbps));
  EXPECT_TRUE(plan.is_assumed);
  EXPECT_EQ(names_of(plan), (std::vector<std::string>{"Ethernet0", "Ethernet8"}));
}

std::string fabric(std::string_view leaf, std::string_view link) {
  return fmt::format(
      "weir: 1\nhosts:\n  gpu: {{ names: 'gpu[1-8]', nic: connectx7 }}\nswitches:\n  leaf: {{ "
      "names: leaf1, {} }}\nlinks:\n  - {{ from: gpu, to: leaf, {} }}\n",
      leaf, link);
}

std::vector<std::string> lint_ids(const std::string& text) {
  const Loaded loaded = load_text(text, "test.yaml");
  EXPECT_TRUE(loaded.is_good()) << to_text(loaded);
  const Derived derived = derive(loaded.design);
  EXPECT_TRUE(derived.errors.empty());
  std::vector<std::string> ids;
  for (const finding::Finding& found : lint(loaded.design, derived.intent).findings)
    ids.push_back(found.id);
  return ids;
}

bool has(const std::vector<std::string>& ids, std::string_view id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

TEST(PortPlan, LintSaysWhenAFabricDoesNotFitItsModel) {
  COVERS("A2", "F1");
  const std::string dac = "speed: 400G, cable: dac, length: 2m";
  EXPECT_TRUE(lint_ids(fabric("system: sonic, model: sn5600", dac)).empty());
  EXPECT_TRUE(has(lint_ids(fabric("system: eos, model: sn5600", dac)), "platform.cannot"));
  EXPECT_TRUE(has(lint_ids(fabric("system: sonic, model: sn3700", dac)), "platform.cannot"));
  EXPECT_TRUE(has(lint_ids(fabric("system: sonic, model: sn5600, asic: tomahawk5", dac)),
                  "platform.cannot"));
  EXPECT_TRUE(
      has(lint_ids(fabric("system: sonic, model: sn5600", "speed: 40G, cable: dac, length: 2m")),
          "platform.cannot"));
  EXPECT_FALSE(has(lint_ids(fabric("system: sonic, model: sn5600",
                                   "speed: 40G, split: 1, cable: dac, length: 2m")),
                   "platform.cannot"));
  const Loaded unknown = load_text(fabric("system: sonic, model: sn9999", dac), "test.yaml");
  EXPECT_FALSE(unknown.is_good());
  EXPECT_TRUE(load_text(fabric("system: sonic, model: mine, asic: tomahawk5, ports: "
                               "'Ethernet[0-28:4]'",
                               dac),
                        "test.yaml")
                  .is_good());
}

std::string lagged(std::string_view links) {
  return fmt::format(
      "weir: 1\nhosts:\n  h: {{ names: 'h[1-4]', nic: connectx7 }}\nswitches:\n"
      "  leaf: {{ names: 'leaf[1-2]', system: eos, asic: tomahawk5, tier: 1 }}\n"
      "  spine: {{ names: 'spine[1-2]', system: eos, asic: tomahawk5, tier: 2 }}\nlinks:\n{}",
      links);
}

TEST(PortChannels, ParallelLinksOfAPairAreOneAtBothEnds) {
  COVERS("F1");
  const Loaded loaded = load_text(
      lagged("  - { from: h, to: leaf, wiring: block, speed: 400G, length: 2m }\n"
             "  - { from: leaf, to: spine, wiring: mesh, count: 3, lag: on, speed: 400G, "
             "length: 30m }\n"
             "  - { from: leaf, to: spine, wiring: mesh, count: 2, speed: 100G, length: 30m }\n"),
      "lag");
  ASSERT_TRUE(loaded.is_good()) << to_text(loaded);
  const Derived derived = derive(loaded.design);
  ASSERT_TRUE(derived.errors.empty()) << derived.errors.front().message;
  for (const SwitchIntent& node : derived.intent.switches) {
    SCOPED_TRACE(node.name);
    std::map<int, std::set<std::uint32_t>> peers;  // of each port-channel
    std::map<int, int> sizes;
    for (const SwitchPortIntent& port : node.ports) {
      peers[port.channel].insert(port.peer.node);
      ++sizes[port.channel];
    }
    ASSERT_EQ(sizes.size(), 3U);
    EXPECT_EQ(sizes[1], 3);
    EXPECT_EQ(sizes[2], 3);
    EXPECT_EQ(peers[1].size(), 1U);
    EXPECT_EQ(peers[2].size(), 1U);
    EXPECT_EQ(sizes[0], node.tier == 1 ? 2 + 4 : 4);
  }
}

TEST(PortChannels, AreRefusedForHostsAndForSingleLinks) {
  COVERS("F1");
  const auto error_of = [](std::string_view links) {
    const Loaded loaded = load_text(lagged(links), "lag");
    if (!loaded.is_good()) return to_text(loaded);
    const Derived derived = derive(loaded.design);
    return derived.errors.empty() ? std::string() : derived.errors.front().message;
  };
  EXPECT_NE(error_of("  - { from: h, to: leaf, wiring: block, lag: on, speed: 400G, length: 2m }\n")
                .find("a port-channel joins links between switches"),
            std::string::npos);
  const std::string hosts = "  - { from: h, to: leaf, wiring: block, speed: 400G, length: 2m }\n";
  EXPECT_NE(error_of(hosts + "  - { from: leaf, to: spine, wiring: mesh, lag: on, speed: 400G, "
                             "length: 30m }\n")
                .find("count of 2 or more, found count 1"),
            std::string::npos);
  EXPECT_EQ(error_of(hosts + "  - { from: leaf, to: spine, wiring: mesh, lag: off, speed: 400G, "
                             "length: 30m }\n"),
            "");
}

TEST(Cables, LengthKindAndFecAreChecked) {
  COVERS("A2");
  const auto ids = [](std::string_view link) {
    return lint_ids(fabric("system: sonic, model: sn5600", link));
  };
  EXPECT_TRUE(has(ids("speed: 400G, cable: dac, length: 12m"), "cable.too_long"));
  EXPECT_TRUE(has(ids("speed: 400G, cable: dac, length: 50m"), "cable.too_long"));
  EXPECT_TRUE(has(ids("speed: 400G, cable: dac, length: 3.5m"), "cable.too_long"));
  EXPECT_FALSE(has(ids("speed: 400G, cable: dac, length: 3m"), "cable.too_long"));
  EXPECT_TRUE(has(ids("speed: 800G, cable: dac, length: 3m"), "cable.too_long"));
  EXPECT_FALSE(has(ids("speed: 800G, cable: dac, length: 2m"), "cable.too_long"));
  EXPECT_TRUE(has(ids("speed: 400G, cable: aoc, length: 150m"), "cable.too_long"));
  EXPECT_FALSE(has(ids("speed: 400G, cable: fibre, length: 150m"), "cable.too_long"));
  EXPECT_TRUE(has(ids("speed: 400G, cable: dac, length: 2m, fec: none"), "fec.wrong"));
  EXPECT_TRUE(has(ids("speed: 200G, cable: dac, length: 2m, fec: fc"), "fec.wrong"));
  EXPECT_FALSE(has(ids("speed: 400G, cable: dac, length: 2m, fec: rs"), "fec.wrong"));
  EXPECT_FALSE(has(lint_ids(fabric("system: sonic, asic: spectrum3",
                                   "speed: 25G, cable: dac, length: 2m, fec: none")),
                   "fec.wrong"));
}

TEST(Subnets, OneBehindTwoRoutingLeavesIsAnError) {
  COVERS("A2");
  const auto two_leaves = [](std::string_view addressing) {
    return lint_ids(fmt::format(
        "weir: 1\nhosts:\n  gpu: {{ names: 'gpu[1-8]', nic: connectx7 }}\nswitches:\n  leaf: {{ "
        "names: 'leaf[1-2]', system: sonic, model: sn5600 }}\n  spine: {{ names: spine1, system: "
        "sonic, model: sn5600 }}\nlinks:\n  - {{ from: gpu, to: leaf, speed: 400G, length: 2m }}\n"
        "  - {{ from: leaf, to: spine, count: 4, speed: 400G, length: 20m }}\n{}",
        addressing));
  };
  const auto is_wrong = [&](std::string_view addressing) {
    return has(two_leaves(addressing), "subnet.two_leaves");
  };
  EXPECT_FALSE(is_wrong(""));  // the default has one for each leaf
  EXPECT_TRUE(is_wrong("addressing: { subnets: '10.{rail}.0.0/16' }\n"));
  EXPECT_FALSE(is_wrong("addressing: { subnets: '10.{rail}.{leaf}.0/24' }\n"));
  EXPECT_FALSE(is_wrong("addressing: { subnets: '10.{rail}.0.0/16', nic_prefix: 31 }\n"));
  EXPECT_FALSE(is_wrong("addressing: { subnets: '10.{rail}.0.0/16', l3_from: spine }\n"));
  EXPECT_TRUE(is_wrong("addressing: { subnets: '10.{pod}.0.0/16' }\n"));  // there is one pod
}

TEST(Subnets, ANicCanHaveASubnetOfItsOwn) {
  COVERS("F1");
  const Loaded loaded =
      load_text(fabric("system: sonic, model: sn5600", "speed: 400G, cable: dac, length: 2m") +
                    "addressing: { subnets: '10.{rail}.{leaf}.0/24', nic_prefix: 31 }\n",
                "test.yaml");
  ASSERT_TRUE(loaded.is_good()) << to_text(loaded);
  const Derived derived = derive(loaded.design);
  ASSERT_TRUE(derived.errors.empty());
  const NicIntent& first = derived.intent.hosts[0].nics[0];
  const NicIntent& third = derived.intent.hosts[2].nics[0];
  EXPECT_EQ(first.gateway, "10.0.0.0/31");
  EXPECT_EQ(first.address, "10.0.0.1/31");
  EXPECT_EQ(third.subnet, "10.0.0.4/31");
  EXPECT_EQ(third.address, "10.0.0.5/31");
}

TEST(Lint, WatchdogPausesAndMarkingNearXoff) {
  COVERS("A2");
  const auto ids = [](std::string_view more) {
    return lint_ids(fabric("system: cumulus, model: sn5600", "speed: 400G, length: 2m") +
                    std::string(more));
  };
  EXPECT_TRUE(has(ids("watchdog: { detect: 60s }\n"), "watchdog.slow"));
  EXPECT_FALSE(has(ids("watchdog: { detect: 400ms }\n"), "watchdog.slow"));
  EXPECT_FALSE(has(ids("watchdog: { enabled: off, detect: 60s }\n"), "watchdog.slow"));
  EXPECT_FALSE(has(ids("classes: { management: { dscp: 16-23, scheduling: vendor } }\n"),
                   "platform.cannot"));
  const auto severity = [](std::string_view more, std::string_view id) {
    const Loaded loaded = load_text(
        fabric("system: cumulus, model: sn5600", "speed: 400G, length: 2m") + std::string(more),
        "test.yaml");
    EXPECT_TRUE(loaded.is_good()) << to_text(loaded);
    const Derived derived = derive(loaded.design);
    for (const finding::Finding& found : lint(loaded.design, derived.intent).findings)
      if (found.id == id) return std::string(to_text(found.severity));
    return std::string("none");
  };
  EXPECT_EQ(severity("pfc: { priorities: [0-7] }\n", "pfc.multiple_priorities"), "error");
  EXPECT_EQ(severity("pfc: { priorities: [3, 4] }\n", "pfc.multiple_priorities"), "warning");
  // Static XOFF of 1 MB: a maximum at 999 KB is below it and of no use.
  const std::string xoff = "buffers: { threshold: static, xoff: 1MB }\nwred: { min: 100KB, ";
  EXPECT_EQ(severity(xoff + "max: 999KB }\n", "ecn.above_xoff"), "warning");
  EXPECT_EQ(severity(xoff + "max: 1001KB }\n", "ecn.above_xoff"), "error");
}

}  // namespace
}  // namespace weir::design
