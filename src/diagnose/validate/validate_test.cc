#include "diagnose/validate/validate.h"

#include <algorithm>

#include "base/testing.h"
#include "diagnose/core/convention.h"
#include "finding/shown.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

using evidence::Evidence;
using evidence::Fact;
using finding::Conclusion;

/// A host whose NIC is as the convention wants it, every fact of it read.
Evidence good_host(const std::string& name) {
  Evidence out;
  out.provenance.host = name;
  out.nics.emplace_back();
  evidence::Nic& nic = out.nics[0];
  nic.device = "mlx5_0";
  nic.netdev = Fact<std::string>::of("eth0");
  nic.driver = Fact<std::string>::of("mlx5_core");
  nic.stack = Fact<evidence::Stack>::of(evidence::Stack::kInbox);
  nic.firmware = Fact<std::string>::of("28.43.1014");
  nic.link.up = Fact<bool>::of(true);
  nic.link.pause_rx = Fact<bool>::of(false);
  nic.link.pause_tx = Fact<bool>::of(false);
  nic.qos.trust = Fact<evidence::TrustMode>::of(evidence::TrustMode::kDscp);
  std::array<std::optional<Priority>, 64> map{};
  for (unsigned d = 0; d < 64; ++d)
    map.at(d) = Priority::of(d / 8);
  nic.qos.dscp_to_priority = Fact<std::array<std::optional<Priority>, 64>>::of(map);
  nic.qos.pfc = Fact<PrioritySet>::of(PrioritySet::from_mask(8));
  nic.qos.tc_max_rate = Fact<std::array<BitRate, 8>>::of({});
  nic.qos.dcbx = Fact<evidence::DcbxMode>::of(evidence::DcbxMode::kOs);
  nic.ecn.np = Fact<PrioritySet>::of(PrioritySet::from_mask(0xFF));
  nic.ecn.rp = Fact<PrioritySet>::of(PrioritySet::from_mask(0xFF));
  nic.ecn.cnp_dscp = Fact<Dscp>::of(48_dscp);
  nic.ecn.cnp_priority = Fact<Priority>::of(6_prio);
  nic.rdma.gids = Fact<std::vector<evidence::Gid>>::of(
      {{3, "::ffff:10.0.0.1", evidence::GidType::kRoceV2, "eth0"}});
  nic.rdma.traffic_class = Fact<std::optional<TosByte>>::of(std::nullopt);
  nic.rdma.cm_tos = Fact<TosByte>::of(106_tos);
  return out;
}

finding::Judgement checked(const std::vector<Evidence>& hosts) {
  return validate(hosts, conventional_intent(hosts));
}

const finding::Finding* find(const finding::Judgement& judgement, std::string_view id) {
  if (!finding::is_raised(judgement.findings, id)) return nullptr;
  return &*std::find_if(judgement.findings.begin(), judgement.findings.end(),
                        [&](const finding::Finding& finding) { return finding.id == id; });
}

TEST(Validate, AHostOfTheUsualConventionIsHealthy) {
  COVERS("C1", "C11");
  const finding::Judgement judgement = checked({good_host("gpu01"), good_host("gpu02")});
  EXPECT_EQ(judgement.conclusion, Conclusion::kHealthy);
  for (const finding::Finding& known : judgement.findings)
    ADD_FAILURE() << known.verdict;
  for (const finding::Unknown& unknown : judgement.unknown)
    ADD_FAILURE() << unknown.check;
}

// NCCL, UCX and perftest set their own byte; RDMA-CM's default is what the kernel comes with.
TEST(Validate, TheKernelsDefaultOfRdmaCmIsANote) {
  COVERS("C1");
  Evidence host = good_host("gpu01");
  host.nics[0].rdma.cm_tos = Fact<TosByte>::of(0_tos);
  const finding::Judgement judgement = checked({host});
  ASSERT_EQ(judgement.findings.size(), 1U);
  EXPECT_EQ(judgement.findings[0].severity, finding::Severity::kInfo);
  EXPECT_EQ(judgement.conclusion, Conclusion::kHealthy);
  host.nics[0].rdma.cm_tos = Fact<TosByte>::of(26_tos);
  const finding::Judgement typed = checked({host});
  ASSERT_NE(find(typed, "dscp.tos_confusion"), nullptr);
  EXPECT_EQ(find(typed, "dscp.tos_confusion")->severity, finding::Severity::kError);
}

TEST(Validate, AFactoryNicFailsWithTheFaultsByName) {
  COVERS("C1", "C11");
  Evidence host = good_host("gpu01");
  host.nics[0].qos.trust = Fact<evidence::TrustMode>::of(evidence::TrustMode::kPcp);
  host.nics[0].qos.pfc = Fact<PrioritySet>::of(PrioritySet());
  host.nics[0].link.pause_rx = Fact<bool>::of(true);
  host.nics[0].rdma.cm_tos = Fact<TosByte>::of(0_tos);
  const finding::Judgement judgement = checked({host});
  EXPECT_EQ(judgement.conclusion, Conclusion::kFindings);
  for (const char* id : {"trust.not_dscp", "pfc.off", "pause.global_on", "dscp.unmarked"}) {
    const finding::Finding* found = find(judgement, id);
    ASSERT_NE(found, nullptr) << id;
    EXPECT_EQ(found->where.host, "gpu01");
    EXPECT_EQ(found->where.device, "mlx5_0");
    EXPECT_FALSE(found->fix.empty()) << id;
  }
  EXPECT_NE(find(judgement, "trust.not_dscp")->verdict.find("expected dscp, found pcp"),
            std::string::npos);
}

TEST(Validate, ThePriorityThatPfcIsOnDecidesTheFault) {
  COVERS("C1", "I15", "I25");
  Evidence host = good_host("gpu01");
  host.nics[0].qos.pfc = Fact<PrioritySet>::of(PrioritySet::from_mask(1U << 4U));
  EXPECT_NE(find(checked({host}), "pfc.wrong_priority"), nullptr);
  host.nics[0].qos.pfc = Fact<PrioritySet>::of(PrioritySet::from_mask(0x18));
  EXPECT_NE(find(checked({host}), "pfc.multiple_priorities"), nullptr);
}

TEST(Validate, AForcedDscpIsConfusionAndAnyOtherByteUnmarked) {
  COVERS("A3", "C1");
  Evidence host = good_host("gpu01");
  host.nics[0].rdma.traffic_class = Fact<std::optional<TosByte>>::of(26_tos);
  EXPECT_NE(find(checked({host}), "dscp.tos_confusion"), nullptr);
  host.nics[0].rdma.traffic_class = Fact<std::optional<TosByte>>::of(96_tos);
  EXPECT_NE(find(checked({host}), "dscp.unmarked"), nullptr);
}

TEST(Validate, WhatCouldNotBeReadIsUnknownAndNeverPassed) {
  COVERS("C1");
  Evidence host = good_host("gpu01");
  host.nics[0].qos.pfc = Fact<PrioritySet>::missing(evidence::Missing::kPermission);
  const finding::Judgement judgement = checked({host});
  EXPECT_EQ(judgement.conclusion, Conclusion::kInconclusive);
  ASSERT_EQ(judgement.unknown.size(), 1U);
  EXPECT_EQ(judgement.unknown[0].check, "gpu01 mlx5_0: PFC");
  EXPECT_EQ(judgement.unknown[0].reason, "permission denied");
}

TEST(Validate, DriftIsAFindingOfItsOwn) {
  COVERS("C2");
  std::vector<Evidence> hosts = {good_host("gpu01"), good_host("gpu02"), good_host("gpu03")};
  hosts[1].nics[0].firmware = Fact<std::string>::of("28.39.2048");
  const finding::Judgement judgement = checked(hosts);
  ASSERT_EQ(judgement.findings.size(), 1U);
  EXPECT_EQ(judgement.findings[0].id, "fleet.drift");
  EXPECT_EQ(judgement.findings[0].where.host, "gpu02");
  EXPECT_NE(judgement.findings[0].verdict.find("28.39.2048"), std::string::npos);
  hosts[1].nics[0].firmware = hosts[0].nics[0].firmware;
  EXPECT_EQ(find(checked(hosts), "fleet.drift"), nullptr);
}

TEST(Validate, ValuesThatTheDesignTakesAlikeAreNoDrift) {
  COVERS("C2");
  std::vector<Evidence> hosts = {good_host("gpu01"), good_host("gpu02"), good_host("gpu03")};
  evidence::Nic& nic = hosts[1].nics[0];
  nic.ecn.np = Fact<PrioritySet>::of(PrioritySet::from_mask(0xFF));
  nic.ecn.rp = Fact<PrioritySet>::of(PrioritySet::from_mask(0xFF));
  hosts[0].nics[0].rdma.traffic_class = Fact<std::optional<TosByte>>::of(std::nullopt);
  nic.rdma.traffic_class = Fact<std::optional<TosByte>>::of(106_tos);
  EXPECT_EQ(checked(hosts).conclusion, Conclusion::kHealthy);
  nic.ecn.np = Fact<PrioritySet>::of(PrioritySet());
  nic.rdma.traffic_class = Fact<std::optional<TosByte>>::of(96_tos);
  const finding::Judgement judgement = checked(hosts);
  const finding::Finding* drift = find(judgement, "fleet.drift");
  ASSERT_NE(drift, nullptr);
  EXPECT_EQ(drift->where.host, "gpu02");
  EXPECT_EQ(drift->evidence.size(), 2U);
}

TEST(Validate, AnotherConventionCanBeAsked) {
  COVERS("C11");
  const std::vector<Evidence> hosts = {good_host("gpu01")};
  Convention convention;
  convention.dscp = 34_dscp;
  convention.priority = 4_prio;
  const finding::Judgement judgement = validate(hosts, conventional_intent(hosts, convention));
  EXPECT_NE(find(judgement, "pfc.wrong_priority"), nullptr);
}

// ---- switches ----

design::Intent with_switch() {
  design::Intent intent;
  intent.switches.emplace_back();
  design::SwitchIntent& known = intent.switches[0];
  known.name = "leaf1";
  for (std::size_t d = 24; d < 32; ++d)
    known.dscp_to_priority.at(d) = 3_prio;
  known.priority_to_queue[3] = 3_queue;
  known.priority_to_pg[3] = PriorityGroup::of(3);
  known.pfc.insert(3_prio);
  known.lossless.insert(3_prio);
  known.watchdog = true;
  known.watchdog_detect = 200_ms;
  known.ports.emplace_back();
  known.ports[0].name = "swp1";
  known.ports[0].speed = 100_Gbps;
  known.ports[0].mtu = 9216_B;
  known.ports[0].headroom_need = 90'000_B;
  known.ports[0].headroom = 100'000_B;
  known.ports[0].wred = {true, 25'000_B, 375'000_B, Share::raw(100'000), {}};
  return intent;
}

Evidence good_switch() {
  Evidence out;
  out.switches.emplace_back();
  evidence::Switch& device = out.switches[0];
  device.name = "leaf1";
  device.platform = Fact<std::string>::of("sonic");
  std::array<std::optional<TrafficClass>, 64> map{};
  for (std::size_t d = 0; d < 64; ++d)
    map.at(d) = TrafficClass::of(d / 8 == 3 ? 3 : 0);
  device.dscp_to_tc = Fact<std::array<std::optional<TrafficClass>, 64>>::of(map);
  device.watchdog.enabled = Fact<bool>::of(true);
  device.watchdog.detection = Fact<Duration>::of(200_ms);
  device.ports.emplace_back();
  evidence::SwitchPort& port = device.ports[0];
  port.name = "swp1";
  port.speed = Fact<BitRate>::of(100_Gbps);
  port.mtu = Fact<Bytes>::of(9216_B);
  port.trust = Fact<evidence::TrustMode>::of(evidence::TrustMode::kDscp);
  port.pfc = Fact<PrioritySet>::of(PrioritySet::from_mask(8));
  port.groups.emplace_back();
  port.groups[0].group = PriorityGroup::of(3);
  port.groups[0].headroom = Fact<Bytes>::of(95'000_B);
  port.queues.emplace_back();
  port.queues[0].queue = 3_queue;
  port.queues[0].ecn = Fact<bool>::of(true);
  port.queues[0].ecn_min = Fact<Bytes>::of(25'000_B);
  port.queues[0].ecn_max = Fact<Bytes>::of(375'000_B);
  return out;
}

std::string switch_says(const Evidence& evidence) {
  const finding::Judgement judgement = validate(std::vector{evidence}, with_switch());
  if (judgement.findings.empty()) return std::string(finding::to_text(judgement.conclusion));
  EXPECT_EQ(judgement.findings.size(), 1U);
  EXPECT_EQ(judgement.findings[0].where.switch_name, "leaf1");
  const std::string& id = judgement.findings[0].id;
  EXPECT_TRUE(finding::is_raised(judgement.findings, id));
  // The switch as designed is the case beside each of them.
  const finding::Judgement good = validate(std::vector{good_switch()}, with_switch());
  EXPECT_FALSE(finding::is_raised(good.findings, id));
  return id;
}

TEST(Validate, AGidOfAnAddressThatIsGoneIsStale) {
  COVERS("C8");
  Evidence host = good_host("gpu01");
  host.nics[0].addresses = Fact<std::vector<std::string>>::of({"10.0.0.1/24"});
  EXPECT_EQ(find(checked({host}), "gid.stale"), nullptr);
  host.nics[0].addresses = Fact<std::vector<std::string>>::of({"10.0.0.9/24"});
  ASSERT_NE(find(checked({host}), "gid.stale"), nullptr);
  EXPECT_NE(find(checked({host}), "gid.stale")->verdict.find("found 10.0.0.1"), std::string::npos);
  // A VLAN's address is not in the list of the NIC's own.
  host.nics[0].rdma.gids = Fact<std::vector<evidence::Gid>>::of(
      {{3, "::ffff:10.0.0.1", evidence::GidType::kRoceV2, "eth0.100"}});
  EXPECT_EQ(find(checked({host}), "gid.stale"), nullptr);
}

TEST(Validate, DevicesThatCarryEachOthersRailChangedNames) {
  COVERS("C1", "E2");
  const auto named = [](const std::string& first, const std::string& second) {
    Evidence host = good_host("gpu01");
    host.nics.push_back(host.nics[0]);
    host.nics[1].device = "mlx5_1";
    const auto gid = [](const std::string& address) {
      return Fact<std::vector<evidence::Gid>>::of(
          {{3, "::ffff:" + address, evidence::GidType::kRoceV2, "eth0"}});
    };
    host.nics[0].rdma.gids = gid(first);
    host.nics[1].rdma.gids = gid(second);
    design::Intent intent = conventional_intent(std::vector{host});
    for (std::size_t rail = 0; rail < 2; ++rail) {
      intent.hosts[0].nics[rail].rail = static_cast<int>(rail);
      intent.hosts[0].nics[rail].subnet = rail == 0 ? "10.0.0.0/16" : "10.1.0.0/16";
    }
    return find(validate(std::vector{host}, intent), "inventory.renamed") != nullptr;
  };
  EXPECT_TRUE(named("10.1.0.1", "10.0.0.1"));
  EXPECT_FALSE(named("10.0.0.1", "10.1.0.1"));
  EXPECT_FALSE(named("10.1.0.1", "10.1.0.2")) << "one address is wrong, which is another fault";
}

TEST(Validate, AContainerWithoutDevicesInExclusiveModeIsAMatterOfNamespaces) {
  COVERS("C5");
  Evidence host = good_host("gpu01");
  host.host.in_container = Fact<bool>::of(true);
  host.host.uverbs_visible = Fact<bool>::of(false);
  host.host.rdma_namespaces = Fact<std::string>::of("exclusive");
  EXPECT_NE(find(checked({host}), "k8s.netns_mode_wrong"), nullptr);
  EXPECT_EQ(find(checked({host}), "container.no_ipc_lock"), nullptr);
  host.host.rdma_namespaces = Fact<std::string>::of("shared");
  EXPECT_EQ(find(checked({host}), "k8s.netns_mode_wrong"), nullptr);
  EXPECT_NE(find(checked({host}), "container.no_ipc_lock"), nullptr);
}

TEST(Validate, HeadroomIsJudgedByWhatIsProgrammedNotByTheCableOfTheNic) {
  COVERS("C10");
  const auto said = [](Length cable, std::optional<Bytes> buffer) {
    Evidence host = good_host("gpu01");
    host.nics[0].qos.cable_length = Fact<Length>::of(cable);
    if (buffer) {
      host.nics[0].qos.priority_to_buffer = Fact<std::array<unsigned, 8>>::of({0, 0, 0, 1});
      host.nics[0].qos.buffer_size = Fact<std::array<Bytes, 8>>::of({100'000_B, *buffer});
      host.nics[0].qos.buffer_xoff = Fact<std::array<Bytes, 8>>::of({0_B, 100'000_B});
    }
    design::Intent intent = conventional_intent(std::vector{host});
    intent.hosts[0].nics[0].cable = 10_m;
    intent.hosts[0].nics[0].xoff_need = 50'000_B;
    const finding::Judgement judgement = validate(std::vector{host}, intent);
    const bool is_small = find(judgement, "headroom.too_small") != nullptr;
    EXPECT_EQ(
        judgement.count(finding::Severity::kWarning) + judgement.count(finding::Severity::kError) >
            0,
        is_small);
    return is_small;
  };
  EXPECT_FALSE(said(30_m, std::nullopt)) << "sized for a longer cable";
  EXPECT_FALSE(said(5_m, 200'000_B)) << "there is more than the cable needs";
  EXPECT_TRUE(said(5_m, 120'000_B));
  EXPECT_TRUE(said(5_m, std::nullopt));
}

TEST(Validate, TcpOfAHostIsJudgedByItsLineAndItsCongestionControl) {
  COVERS("C6");
  const auto said = [](BitRate speed, const std::vector<evidence::NamedText>& sysctls) {
    Evidence host = good_host("gpu01");
    host.nics[0].link.speed = Fact<BitRate>::of(speed);
    host.host.sysctls = Fact<std::vector<evidence::NamedText>>::of(sysctls);
    return find(checked({host}), "host.tcp_untuned") != nullptr;
  };
  EXPECT_TRUE(said(100_Gbps, {{"net.core.rmem_max", "4194304"}}));
  EXPECT_FALSE(said(25_Gbps, {{"net.core.rmem_max", "4194304"}})) << "25G for 1 ms is 3.1 MB";
  EXPECT_TRUE(said(100_Gbps, {{"net.ipv4.tcp_wmem", "4096 16384 4194304"}}));
  EXPECT_FALSE(said(100_Gbps, {{"net.ipv4.tcp_wmem", "4096 65536 33554432"}}));
  EXPECT_TRUE(
      said(100_Gbps, {{"net.ipv4.tcp_congestion_control", "dctcp"}, {"net.ipv4.tcp_ecn", "0"}}));
  EXPECT_FALSE(
      said(100_Gbps, {{"net.ipv4.tcp_congestion_control", "dctcp"}, {"net.ipv4.tcp_ecn", "1"}}));
  EXPECT_TRUE(said(100_Gbps, {{"net.ipv4.tcp_congestion_control", "reno"}}));
  EXPECT_FALSE(said(100_Gbps, {{"net.ipv4.tcp_congestion_control", "cubic"}}));
}

TEST(ValidateSwitch, AsDesignedIsHealthyAndEveryFaultHasItsName) {
  COVERS("C7");
  EXPECT_EQ(switch_says(good_switch()), "healthy");
  const auto broken = [](auto&& change) {
    Evidence evidence = good_switch();
    change(evidence.switches[0], evidence.switches[0].ports[0]);
    return switch_says(evidence);
  };
  using Sw = evidence::Switch;
  using Port = evidence::SwitchPort;
  EXPECT_EQ(broken([](Sw&, Port& p) { p.pfc = Fact<PrioritySet>::of(PrioritySet()); }), "pfc.off");
  EXPECT_EQ(broken([](Sw&, Port& p) { p.mtu = Fact<Bytes>::of(1500_B); }), "mtu.mismatch");
  EXPECT_EQ(broken([](Sw&, Port& p) { p.groups[0].headroom = Fact<Bytes>::of(9000_B); }),
            "headroom.too_small");
  EXPECT_EQ(broken([](Sw&, Port& p) { p.queues[0].ecn = Fact<bool>::of(false); }),
            "ecn.off_on_lossless");
  EXPECT_EQ(broken([](Sw&, Port& p) { p.queues[0].ecn_min = Fact<Bytes>::of(1000_B); }),
            "ecn.thresholds_too_low");
  EXPECT_EQ(broken([](Sw& s, Port&) { s.watchdog.enabled = Fact<bool>::of(false); }),
            "watchdog.off");
  EXPECT_EQ(broken([](Sw& s, Port&) {
              auto map = *s.dscp_to_tc;
              map[26] = TrafficClass::of(0);
              s.dscp_to_tc = Fact<std::array<std::optional<TrafficClass>, 64>>::of(map);
            }),
            "dscp.unmapped_hop");
  EXPECT_EQ(broken([](Sw&, Port& p) { p.pfc = Fact<PrioritySet>(); }), "inconclusive");
}

// ---- the machine ----

Evidence gpu_host() {
  Evidence host = good_host("gpu01");
  host.gpus.emplace_back();
  host.distances.push_back({"mlx5_0", 0, Fact<evidence::Distance>::of(evidence::Distance::kPix)});
  host.host.peermem = Fact<bool>::of(false);
  host.host.dmabuf = Fact<bool>::of(true);
  return host;
}

TEST(Validate, AGpuHostWithDmaBufIsFine) {
  COVERS("C5");
  EXPECT_EQ(checked({gpu_host()}).conclusion, Conclusion::kHealthy);
}

struct MachineFault {
  const char* id;
  void (*breaks)(Evidence&);
};
const std::array<MachineFault, 17> kMachineFaults = {{
    {"gdr.off", [](Evidence& h) { h.host.dmabuf = Fact<bool>::of(false); }},
    {"pcie.gpu_far",
     [](Evidence& h) {
       h.distances[0].distance = Fact<evidence::Distance>::of(evidence::Distance::kSys);
     }},
    {"pcie.acs_on", [](Evidence& h) { h.nics[0].pcie.acs_redirect = Fact<bool>::of(true); }},
    {"pcie.acs_on",
     [](Evidence& h) { h.host.iommu = Fact<evidence::Iommu>::of(evidence::Iommu::kTranslating); }},
    {"pcie.link_degraded",
     [](Evidence& h) {
       h.nics[0].pcie.width = Fact<unsigned>::of(8);
       h.nics[0].pcie.width_max = Fact<unsigned>::of(16);
     }},
    {"limits.memlock_low",
     [](Evidence& h) { h.host.memlock = Fact<std::optional<Bytes>>::of(64_KiB); }},
    {"container.no_ipc_lock", [](Evidence& h) { h.host.uverbs_visible = Fact<bool>::of(false); }},
    {"dcbx.two_agents", [](Evidence& h) { h.host.lldpad_running = Fact<bool>::of(true); }},
    {"host.tcp_untuned",
     [](Evidence& h) {
       h.host.sysctls =
           Fact<std::vector<evidence::NamedText>>::of({{"net.core.rmem_max", "212992"}});
     }},
    {"host.tcp_untuned",
     [](Evidence& h) {
       h.nics[0].pcie.numa_node = Fact<unsigned>::of(0);
       h.nics[0].pcie.irq_numa_nodes = Fact<std::vector<unsigned>>::of({0, 1});
     }},
    {"link.degraded",
     [](Evidence& h) {
       h.nics[0].link.duplex = Fact<evidence::Duplex>::of(evidence::Duplex::kHalf);
     }},
    {"link.degraded",
     [](Evidence& h) {
       h.nics[0].link.speed = Fact<BitRate>::of(400_Gbps);
       h.nics[0].link.fec = Fact<std::string>::of("Off");
     }},
    {"gid.wrong_netdev",
     [](Evidence& h) {
       h.nics[0].rdma.gids = Fact<std::vector<evidence::Gid>>::of(
           {{3, "::ffff:10.0.0.1", evidence::GidType::kRoceV2, "docker0"}});
     }},
    {"mtu.mismatch",
     [](Evidence& h) {
       h.nics[0].link.mtu = Fact<Bytes>::of(9000_B);
       h.nics[0].link.layers = Fact<std::vector<evidence::Layer>>::of({{"bond0", "bond", 1500_B}});
     }},
    {"headroom.too_small",
     [](Evidence& h) {
       h.nics[0].qos.buffer_size = Fact<std::array<Bytes, 8>>::of({131072_B});
       h.nics[0].qos.priority_to_buffer = Fact<std::array<unsigned, 8>>::of({});
     }},
    {"nccl.ib_disabled",
     [](Evidence& h) {
       h.host.nccl_conf = Fact<std::vector<evidence::NamedText>>::of({{"NCCL_IB_DISABLE", "1"}});
     }},
    {"dscp.tos_confusion",
     [](Evidence& h) {
       h.host.nccl_conf = Fact<std::vector<evidence::NamedText>>::of({{"NCCL_IB_TC", "26"}});
     }},
}};

TEST(Validate, WhatIsWrongAroundTheNicsHasItsName) {
  COVERS("C4", "C5", "C6", "C8", "C10");
  for (const MachineFault& known : kMachineFaults) {
    Evidence host = gpu_host();
    known.breaks(host);
    const finding::Judgement judgement = checked({host});
    const finding::Finding* found = find(judgement, known.id);
    ASSERT_NE(found, nullptr) << known.id;
    EXPECT_NE(found->verdict.find("expected"), std::string::npos) << found->verdict;
    EXPECT_EQ(judgement.findings.size(), 1U) << known.id << " comes alone";
    EXPECT_EQ(find(checked({gpu_host()}), known.id), nullptr) << "without it";
  }
}

/// A host whose kernel wrote this, looked at ten days after its boot.
Evidence logged_host(std::vector<std::string> lines) {
  constexpr std::int64_t kTenDays = 864'000;
  Evidence host = gpu_host();
  host.nics[0].pcie.address = Fact<std::string>::of("0000:18:00.0");
  host.gpus[0].pcie.address = Fact<std::string>::of("0000:5e:00.0");
  host.host.kernel_log = Fact<std::vector<std::string>>::of(std::move(lines), "dmesg");
  host.snapshots.emplace_back();
  host.snapshots[0].clock_ns = kTenDays * 1'000'000'000;
  return host;
}

struct Logged {
  const char* id;  // null: no finding
  std::vector<std::string> lines;
};

TEST(Validate, TheKernelsLogOfAHostIsJudgedAsAPastedOneIs) {
  COVERS("C5");
  const std::vector<Logged> cases = {
      {"link.flapping",
       {"[863000.000001] mlx5_core 0000:18:00.0 eth0: Link down",
        "[863002.000001] mlx5_core 0000:18:00.0 eth0: Link up",
        "[863100.000001] mlx5_core 0000:18:00.0 eth0: Link down",
        "[863102.000001] mlx5_core 0000:18:00.0 eth0: Link up"}},
      {"link.degraded", {"[863000.000001] mlx5_core 0000:18:00.0 eth0: Link down"}},
      {"pcie.errors",
       {"[863000.000001] pcieport 0000:17:00.0: AER: Corrected error message received from "
        "0000:18:00.0"}},
      {"pcie.link_degraded",
       {"[    9.208412] mlx5_core 0000:18:00.0: 126.028 Gb/s available PCIe bandwidth, limited by "
        "16.0 GT/s PCIe x8 link at 0000:17:00.0"}},
      {"nic.failed",
       {"[863000.000001] NETDEV WATCHDOG: eth0 (mlx5_core): transmit queue 3 timed out"}},
      {"app.not_fabric", {"[863000.000001] NVRM: Xid (PCI:0000:5e:00): 79, pid=77, name=x"}},
      // The days before yesterday, another NIC, a disk's controller, and a boot.
      {nullptr,
       {"[  3000.000001] mlx5_core 0000:18:00.0 eth0: Link down",
        "[863000.000001] igb 0000:99:00.0 eno1: igb: eno1 NIC Link is Down",
        "[863000.000001] pcieport 0000:80:00.0: AER: Corrected error message received from "
        "0000:81:00.0",
        "[    8.000001] mlx5_core 0000:18:00.0 eth0: Link down"}},
      {nullptr, {}},
  };
  for (const Logged& known : cases) {
    const finding::Judgement judgement = checked({logged_host(known.lines)});
    const std::string first = known.lines.empty() ? "no line" : known.lines.front();
    if (known.id == nullptr) {
      EXPECT_EQ(judgement.conclusion, Conclusion::kHealthy) << first;
      continue;
    }
    const finding::Finding* found = find(judgement, known.id);
    ASSERT_NE(found, nullptr) << first;
    EXPECT_EQ(found->evidence.front().line, first);
  }
}

TEST(Validate, ALogThatMayNotBeReadIsAnOptionalCheck) {
  COVERS("C5");
  Evidence host = gpu_host();
  host.host.kernel_log =
      Fact<std::vector<std::string>>::missing(evidence::Missing::kPermission, "dmesg");
  const finding::Judgement judgement = checked({host});
  ASSERT_EQ(judgement.unknown.size(), 1U);
  EXPECT_FALSE(judgement.unknown[0].is_required);
  EXPECT_NE(judgement.unknown[0].reason.find("dmesg_restrict"), std::string::npos);
  EXPECT_TRUE(judgement.findings.empty());
}

TEST(Validate, TheFamilyOfTheGidIsTheDesigns) {
  COVERS("C8");
  const auto said = [](const std::string& address) {
    const Evidence host = good_host("gpu01");
    design::Intent intent = conventional_intent(std::vector{host});
    intent.hosts[0].nics[0].address = address;
    intent.hosts[0].nics[0].subnet = address;
    return find(validate(std::vector{host}, intent), "gid.wrong_family") != nullptr;
  };
  EXPECT_TRUE(said("fd00::1/64"));
  EXPECT_FALSE(said("10.0.0.1/16"));
}

TEST(Validate, SaysWhatAppliesToInfiniband) {
  COVERS("C9");
  Evidence host = good_host("gpu01");
  host.nics[0] = evidence::Nic();
  host.nics[0].device = "mlx5_0";
  host.nics[0].link_layer = Fact<evidence::LinkLayer>::of(evidence::LinkLayer::kInfiniband);
  design::Intent intent = conventional_intent(std::vector<Evidence>{host});
  const finding::Judgement open = validate(std::vector<Evidence>{host}, intent);
  ASSERT_EQ(open.findings.size(), 1U);
  EXPECT_EQ(open.findings[0].id, "link.infiniband");
  EXPECT_EQ(open.findings[0].severity, finding::Severity::kInfo) << "nothing is wrong with it";
  EXPECT_NE(open.findings[0].verdict.find("SHARP"), std::string::npos);
  EXPECT_TRUE(open.unknown.empty()) << open.unknown.front().check;
  intent.hosts[0].nics[0].speed = 400_Gbps;
  const finding::Judgement asked = validate(std::vector<Evidence>{host}, intent);
  EXPECT_EQ(asked.findings[0].severity, finding::Severity::kError) << "the design wants RoCE on it";
}

TEST(Validate, GidIndexesThatDifferAreAFinding) {
  COVERS("C8", "C2");
  Evidence other = good_host("gpu03");
  other.nics[0].rdma.gids = Fact<std::vector<evidence::Gid>>::of(
      {{0, "fe80::1", evidence::GidType::kRoceV1, "eth0"},
       {1, "::ffff:10.0.0.3", evidence::GidType::kRoceV2, "eth0"}});
  const finding::Judgement judgement = checked({good_host("gpu01"), good_host("gpu02"), other});
  const finding::Finding* found = find(judgement, "gid.index_differs");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->where.host, "gpu03");
}

TEST(Validate, ANicThatIsGoneIsAFinding) {
  COVERS("C1");
  const std::vector<Evidence> before = {good_host("gpu01")};
  design::Intent intent = conventional_intent(before);
  intent.hosts[0].nics.push_back(intent.hosts[0].nics[0]);
  intent.hosts[0].nics[1].device = "mlx5_1";
  const finding::Judgement judgement = validate(before, intent);
  const finding::Finding* found = find(judgement, "link.degraded");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->where.device, "mlx5_1");
}

TEST(Validate, WhatADriverCannotDoIsNotUnknown) {
  COVERS("C1");
  Evidence host = good_host("gpu01");
  evidence::Nic& nic = host.nics[0];
  nic.driver = Fact<std::string>::of("rdma_rxe");
  const auto none = [](auto& fact) {
    fact = std::decay_t<decltype(fact)>::missing(evidence::Missing::kUnsupported, "DCB");
  };
  none(nic.qos.trust);
  none(nic.qos.dscp_to_priority);
  none(nic.qos.pfc);
  none(nic.qos.tc_max_rate);
  none(nic.qos.dcbx);
  none(nic.link.pause_rx);
  none(nic.link.pause_tx);
  nic.ecn = {};
  nic.rdma.traffic_class = Fact<std::optional<TosByte>>::missing(evidence::Missing::kAbsent, "tc");
  const finding::Judgement judgement = checked({host});
  for (const finding::Unknown& unknown : judgement.unknown)
    ADD_FAILURE() << unknown.check;
  ASSERT_EQ(judgement.findings.size(), 1U);
  EXPECT_EQ(judgement.findings[0].id, "platform.cannot");
  EXPECT_EQ(judgement.findings[0].severity, finding::Severity::kWarning);
}

TEST(Validate, ALinkThatFlapsWhileWatchedIsAFinding) {
  COVERS("C4");
  Evidence host = good_host("gpu01");
  for (const std::uint64_t downs : {1U, 3U}) {
    counters::Snapshot snapshot;
    snapshot.clock_ns = static_cast<std::int64_t>(downs) * 1'000'000'000;
    snapshot.nics.push_back(
        {"mlx5_0",
         "eth0",
         "mlx5_core",
         {{counters::Place::kNet, "carrier_down_count", counters::Reading::of(downs)},
          {counters::Place::kEthtool, "rx_crc_errors_phy", counters::Reading::of(0)}}});
    host.snapshots.push_back(std::move(snapshot));
  }
  const finding::Judgement judgement = checked({host});
  const finding::Finding* found = find(judgement, "link.flapping");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->verdict.find("2 times"), std::string::npos) << found->verdict;
  host.snapshots.pop_back();
  const finding::Judgement once = checked({host});
  EXPECT_EQ(find(once, "link.flapping"), nullptr) << "one look has no window";
}

/// Two rails of one host, of which one was seen.
design::Intent two_rails() {
  Evidence host = good_host("gpu01");
  host.nics.push_back(host.nics.front());
  host.nics.back().device = "mlx5_1";
  host.nics.back().netdev = Fact<std::string>::of("eth1");
  design::Intent out = conventional_intent(std::vector{host});
  for (std::size_t rail = 0; rail < 2; ++rail)
    out.hosts.front().nics.at(rail).rail = static_cast<int>(rail);
  return out;
}

TEST(Validate, ATextDoesNotShowThatANicIsMissing) {
  COVERS("C1");
  Evidence host = good_host("gpu01");
  const std::string_view gone = "has no RDMA device mlx5_1";
  const finding::Judgement read = validate(std::vector{host}, two_rails());
  ASSERT_NE(find(read, "link.degraded"), nullptr);
  EXPECT_NE(find(read, "link.degraded")->verdict.find(gone), std::string::npos);
  host.provenance.origin = evidence::Origin::kText;
  EXPECT_EQ(find(validate(std::vector{host}, two_rails()), "link.degraded"), nullptr);
}

TEST(Validate, ATextMayShowANicByItsInterface) {
  COVERS("C1");
  Evidence host = good_host("gpu01");
  host.provenance.origin = evidence::Origin::kText;
  host.nics.front().device = "eth1";
  host.nics.front().netdev = Fact<std::string>::of("eth1");
  host.nics.front().qos.trust = Fact<evidence::TrustMode>::of(evidence::TrustMode::kPcp);
  const finding::Judgement judgement = validate(std::vector{host}, two_rails());
  const finding::Finding* const found = find(judgement, "trust.not_dscp");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->where.rail, "1");
  EXPECT_EQ(found->where.device, "eth1");
}

TEST(Validate, ARoutableGidOfAnotherAddressIsNotCalledUnroutable) {
  COVERS("C1", "C3");
  Evidence host = good_host("gpu01");
  design::Intent intent = conventional_intent(std::vector{host});
  intent.hosts.front().nics.front().address = "10.9.9.1/24";
  const finding::Judgement judgement = validate(std::vector{host}, intent);
  EXPECT_EQ(find(judgement, "gid.not_routable"), nullptr);
  EXPECT_NE(find(judgement, "config.differs"), nullptr);
  host.nics.front().rdma.gids =
      Fact<std::vector<evidence::Gid>>::of({{1, "fe80::1", evidence::GidType::kRoceV2, "eth0"}});
  EXPECT_NE(find(validate(std::vector{host}, intent), "gid.not_routable"), nullptr);
}

}  // namespace
}  // namespace weir::diagnose
