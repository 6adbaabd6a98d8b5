#include "host/linux/text.h"

#include "base/testing.h"

namespace weir::host {

using evidence::Missing;

TEST(LinuxText, ReadsNumbersAndRefusesEverythingElse) {
  EXPECT_EQ(*parse_number(" 300\n"), 300U);
  EXPECT_EQ(*parse_number("0x1021\n"), 0x1021U);
  for (const std::string_view bad : {"", "\n", "12 13", "-4", "0x", "9e3", "99999999999999999999"})
    EXPECT_EQ(parse_number(bad).why(), Missing::kError) << bad;
  EXPECT_EQ(parse_unsigned("-1\n").why(), Missing::kUnsupported) << "the kernel's 'not known'";
  EXPECT_EQ(parse_flag("").why(), Missing::kError) << "a firmware error prints nothing at all";
  EXPECT_EQ(parse_flag("2\n").why(), Missing::kError);
}

TEST(LinuxText, ReadsLinkAndPortTexts) {
  COVERS("C4");
  EXPECT_TRUE(*parse_port_active("4: ACTIVE\n"));
  EXPECT_FALSE(*parse_port_active("1: DOWN\n"));
  EXPECT_EQ(parse_port_active("ACTIVE").why(), Missing::kError);
  EXPECT_EQ(*parse_speed("400000\n"), 400_Gbps);
  EXPECT_EQ(parse_speed("-1\n").why(), Missing::kUnsupported);
  EXPECT_EQ(parse_speed("4294967295\n").why(), Missing::kUnsupported);
  EXPECT_EQ(*parse_port_rate("400 Gb/sec (4X NDR)\n"), 400_Gbps);
  EXPECT_EQ(*parse_port_rate("2.5 Gb/sec (1X SDR)\n"), 2500_Mbps);
  EXPECT_EQ(*parse_pci_speed("32.0 GT/s PCIe\n"), 32000U);
  EXPECT_EQ(*parse_pci_speed("2.5 GT/s"), 2500U);
  EXPECT_EQ(*parse_pci_speed("16 GT/s\n"), 16000U);
  EXPECT_EQ(parse_pci_speed("Unknown\n").why(), Missing::kUnsupported);
}

TEST(LinuxText, ReadsListsOfProcessors) {
  EXPECT_EQ(*parse_cpu_list("0-2,8\n"), (std::vector<unsigned>{0, 1, 2, 8}));
  EXPECT_TRUE(parse_cpu_list("\n")->empty()) << "a memory node without processors";
  for (const std::string_view bad : {"2-1", "0-99999999", "a", "1,,2", "-"})
    EXPECT_FALSE(parse_cpu_list(bad)) << bad;
}

TEST(LinuxText, ReadsTheForcedTrafficClassAsTheDriverPrintsIt) {
  COVERS("C1");
  EXPECT_FALSE(parse_traffic_class("")->global.has_value()) << "an empty file: not set";
  EXPECT_EQ(parse_traffic_class("Global tclass=106\n")->global, 106_tos);
  EXPECT_EQ(parse_traffic_class("106\n")->global, 106_tos) << "as some documents show it";
  const auto rules = parse_traffic_class(
      "dst_ip=10.10.1.0/24,tclass=104\nsrc_ip=10.10.1.5,dst_ip=10.10.2.7/32,tclass=184\n");
  ASSERT_TRUE(rules);
  EXPECT_EQ(rules->rules.size(), 2U);
  EXPECT_FALSE(rules->global.has_value());
  EXPECT_EQ(parse_traffic_class("Global tclass=256\n").why(), Missing::kError);
  EXPECT_EQ(parse_traffic_class("on\n").why(), Missing::kError);
}

TEST(LinuxText, ReadsTheVendorsBufferTablesWholeOrNotAtAll) {
  COVERS("C10");
  const std::string whole =
      "Port buffer size = 262016\nSpare buffer size = 128\n"
      "Buffer\tSize\txoff_threshold\txon_threshold\n"
      "0\t130944\t0\t0\n1\t130944\t119808\t92160\n2\t0\t0\t0\n3\t0\t0\t0\n4\t0\t0\t0\n"
      "5\t0\t0\t0\n6\t0\t0\t0\n7\t0\t0\t0\n";
  const auto table = parse_buffer_table(whole);
  ASSERT_TRUE(table);
  EXPECT_EQ(table->total, 262016_B);
  EXPECT_EQ(table->xoff[1], 119808_B);
  EXPECT_FALSE(parse_buffer_table(whole.substr(0, whole.size() - 8))) << "seven rows of eight";
  EXPECT_EQ(
      (*parse_priority_to_buffer(
          "Priority\tBuffer\n0\t\t0\n1\t\t0\n2\t\t0\n3\t\t1\n4\t\t0\n5\t\t0\n6\t\t0\n7\t\t0\n"))[3],
      1U);
  EXPECT_EQ((*parse_max_rates("0 0 0 25000000 0 0 0 0\n"))[3], 25_Gbps);
  EXPECT_FALSE(parse_max_rates("0 0 0\n"));
}

TEST(LinuxText, ReadsLimitsOfTheProcess) {
  COVERS("C5");
  const std::string head = "Limit                     Soft Limit           Hard Limit\n";
  EXPECT_EQ(
      *parse_memlock(head + "Max locked memory         8388608              8388608   bytes\n"),
      8388608_B);
  EXPECT_EQ(
      *parse_memlock(head + "Max locked memory         unlimited            unlimited bytes\n"),
      std::nullopt);
  EXPECT_EQ(parse_memlock(head).why(), Missing::kError);
}

TEST(LinuxText, TakesTheRdmaMtuThatTheKernelTakes) {
  COVERS("C3");
  EXPECT_EQ(*roce_mtu_within(9000_B), 4096_B);
  EXPECT_EQ(*roce_mtu_within(4200_B), 4096_B);
  EXPECT_EQ(*roce_mtu_within(2200_B), 2048_B);
  EXPECT_EQ(*roce_mtu_within(1500_B), 1024_B);
  EXPECT_EQ(roce_mtu_within(300_B).why(), Missing::kUnsupported);
}

TEST(LinuxText, FindsTheIpv4AddressInAGid) {
  COVERS("C8");
  EXPECT_EQ(ipv4_of_gid("0000:0000:0000:0000:0000:ffff:0a0a:0105"), "10.10.1.5");
  EXPECT_EQ(ipv4_of_gid("fe80:0000:0000:0000:5aa2:e1ff:fe10:0a00"), std::nullopt);
  EXPECT_EQ(ipv4_of_gid("0000:0000:0000:0000:0000:ffff:0a0a"), std::nullopt);
}

}  // namespace weir::host
