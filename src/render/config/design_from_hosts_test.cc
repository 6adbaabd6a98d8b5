#include "render/config/design_from_hosts.h"

#include "base/testing.h"
#include "design/fabric/intent.h"
#include "design/file/load.h"

namespace weir::render {
namespace {

using evidence::Evidence;
using evidence::Fact;
using evidence::Nic;

Nic rail(const std::string& device, const std::string& netdev, BitRate speed) {
  Nic nic;
  nic.device = device;
  nic.netdev = Fact<std::string>::of(netdev);
  nic.driver = Fact<std::string>::of("mlx5_core");
  nic.model = Fact<std::string>::of("NVIDIA ConnectX-7");
  nic.stack = Fact<evidence::Stack>::of(evidence::Stack::kOfed);
  nic.link_layer = Fact<evidence::LinkLayer>::of(evidence::LinkLayer::kEthernet);
  nic.link.speed = Fact<BitRate>::of(speed);
  nic.link.mtu = Fact<Bytes>::of(9000_B);
  nic.qos.pfc = Fact<PrioritySet>::of(PrioritySet::from_mask(0x20));
  std::array<std::optional<Priority>, 64> map{};
  for (unsigned d = 0; d < 64; ++d)
    map.at(d) = Priority::of(d / 8);
  nic.qos.dscp_to_priority = Fact<std::array<std::optional<Priority>, 64>>::of(map);
  return nic;
}

Evidence host(const std::string& name) {
  Evidence out;
  out.provenance.host = name;
  out.nics = {rail("mlx5_0", "rail0", 400_Gbps), rail("mlx5_3", "rail1", 400_Gbps),
              rail("mlx5_4", "storage", 100_Gbps)};
  out.nics[0].addresses = Fact<std::vector<std::string>>::of({"10.1.0.7/16"});
  out.nics[1].addresses = Fact<std::vector<std::string>>::of({"10.2.0.7/16"});
  return out;
}

}  // namespace

TEST(DesignFromHosts, LoadsAndSaysWhatWasFound) {
  COVERS("C11", "A1");
  const std::vector<Evidence> hosts = {host("gpu01"), host("gpu02")};
  const FoundDesign found = design_from_hosts(hosts, "test");
  EXPECT_EQ(found.hosts, 2U);
  EXPECT_EQ(found.rails, 2U) << "the slower NIC is none";
  const auto loaded = design::load_text(found.text, "found.yaml");
  ASSERT_TRUE(loaded.errors.empty()) << loaded.errors.front().message << "\n" << found.text;
  const auto derived = design::derive(loaded.design);
  ASSERT_TRUE(derived.errors.empty());
  ASSERT_EQ(derived.intent.hosts.size(), 2U);
  const design::HostIntent& first = derived.intent.hosts[0];
  EXPECT_EQ(first.name, "gpu01");
  ASSERT_EQ(first.nics.size(), 2U);
  EXPECT_EQ(first.nics[1].device, "mlx5_3") << "devices are not numbered through";
  EXPECT_EQ(first.nics[1].netdev, "rail1");
  EXPECT_EQ(first.nics[1].subnet, "10.2.0.0/16");
  EXPECT_EQ(first.nics[0].speed, 400_Gbps);
  EXPECT_TRUE(first.nics[0].pfc.contains(5_prio)) << "as found, whatever is usual";
  EXPECT_EQ(first.nics[0].dscp_to_priority.at(40), 5_prio);
  EXPECT_NE(found.text.find("not used: mlx5_4 (100G)"), std::string::npos) << found.text;
  EXPECT_FALSE(found.open.empty());
}

TEST(DesignFromHosts, LeavesOpenWhatCouldNotBeRead) {
  COVERS("C11");
  Evidence bare;
  bare.provenance.host = "box";
  bare.nics.emplace_back();
  bare.nics[0].device = "rxe0";
  const std::vector<Evidence> hosts = {bare};
  const FoundDesign found = design_from_hosts(hosts, "bare");
  EXPECT_TRUE(design::load_text(found.text, "found.yaml").errors.empty()) << found.text;
  for (const char* what :
       {"speed not known", "addressing: not known", "PFC could not be read", "dcqcn: not known"}) {
    EXPECT_NE(found.text.find(what), std::string::npos) << what << "\n" << found.text;
  }
}

TEST(DesignFromHosts, IsNotForInfiniband) {
  COVERS("C9");
  Evidence first = host("gpu01");
  for (Nic& nic : first.nics)
    nic.link_layer = Fact<evidence::LinkLayer>::of(evidence::LinkLayer::kInfiniband);
  const std::vector<Evidence> hosts = {first};
  EXPECT_FALSE(has_ethernet_rdma(hosts));
}

}  // namespace weir::render
