#include "host/linux/machine_counters.h"

#include <cstring>

#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "base/testing.h"
#include "host/linux/lldp.h"

namespace weir::host {

using evidence::Missing;

TEST(MachineCounters, ReadsProcessorTime) {
  COVERS("D1");
  const auto time = parse_processor_time(
      "cpu  100 5 20 1000 7 1 30 2 50 0\ncpu0 100 5 20 1000 7 1 30 2 50 0\nintr 1\n");
  ASSERT_TRUE(time);
  EXPECT_EQ(time->all, 1165U) << "guests are in user time already";
  EXPECT_EQ(time->busy, 158U) << "neither idle nor waiting";
  EXPECT_EQ(time->softirq, 30U);
  EXPECT_FALSE(parse_processor_time(""));
  EXPECT_FALSE(parse_processor_time("cpu 1 2 x 4 5\n"));
}

TEST(MachineCounters, ReadsWhatIpAndTcpCount) {
  COVERS("D1");
  const std::string_view text =
      "TcpExt: SyncookiesSent TCPTimeouts\nTcpExt: 0 17\nIpExt: InNoRoutes InCEPkts\nIpExt: 1 42\n";
  EXPECT_EQ(*parse_protocol_counter(text, "IpExt:", "InCEPkts"), 42U);
  EXPECT_EQ(parse_protocol_counter(text, "IpExt:", "Nothing").why(), Missing::kAbsent);
  EXPECT_EQ(parse_protocol_counter("IpExt: InCEPkts\n", "IpExt:", "InCEPkts").why(),
            Missing::kAbsent);
  EXPECT_EQ(parse_protocol_counter("T: A\nT: x\n", "T:", "A").why(), Missing::kError);
}

TEST(MachineCounters, TakesTheMeanOfTheGpus) {
  COVERS("D1");
  EXPECT_EQ(*parse_gpu_busy("100,50"), 75U);
  EXPECT_FALSE(parse_gpu_busy(""));
  EXPECT_FALSE(parse_gpu_busy("101"));
}

TEST(MachineCounters, ReadsLinkStatisticsOfRtnetlink) {
  COVERS("D1");
  rtnl_link_stats64 numbers{};
  numbers.rx_packets = 11;
  numbers.tx_bytes = 4'000'000'000'000;
  numbers.rx_crc_errors = 3;
  std::string message(NLMSG_HDRLEN + sizeof(if_stats_msg) + NLA_HDRLEN + sizeof numbers, '\0');
  nlmsghdr header{};
  header.nlmsg_len = static_cast<std::uint32_t>(message.size());
  header.nlmsg_type = RTM_NEWSTATS;
  std::memcpy(message.data(), &header, sizeof header);
  nlattr attribute{};
  attribute.nla_len = static_cast<std::uint16_t>(NLA_HDRLEN + sizeof numbers);
  attribute.nla_type = IFLA_STATS_LINK_64;
  const std::size_t at = NLMSG_HDRLEN + sizeof(if_stats_msg);
  std::memcpy(message.data() + at, &attribute, sizeof attribute);
  std::memcpy(message.data() + at + NLA_HDRLEN, &numbers, sizeof numbers);
  const auto samples = parse_link_statistics(message);
  ASSERT_TRUE(samples);
  const counters::PortCounters port("mlx5_0", "eth2", "mlx5_core", *samples);
  EXPECT_EQ(port.read(counters::Place::kStatistics, "rx_packets").value(), 11U);
  EXPECT_EQ(port.read(counters::Place::kStatistics, "tx_bytes").value(), 4'000'000'000'000U);
  EXPECT_EQ(port.read(counters::Place::kStatistics, "rx_crc_errors").value(), 3U);
  for (const counters::ShownSample& sample : port.samples())
    EXPECT_TRUE(sample.match) << sample.key() << " is not in the catalogue";
  EXPECT_FALSE(parse_link_statistics(message.substr(0, 30)));
}

TEST(Lldp, NamesTheSwitchAndItsPort) {
  COVERS("C1");
  // As a switch sends it: chassis by MAC, port by name, description, system name.
  const std::string frame(
      "\x01\x80\xc2\x00\x00\x0e\x1c\x34\xda\x00\x00\x01\x88\xcc"
      "\x02\x07\x04\x1c\x34\xda\x00\x00\x01"
      "\x04\x05\x05swp5"
      "\x06\x02\x00\x78"
      "\x08\x03gpu"
      "\x0a\x05leaf1"
      "\x00\x00",
      14 + 9 + 7 + 4 + 5 + 7 + 2);
  const auto neighbour = parse_lldp_frame(frame);
  ASSERT_TRUE(neighbour);
  EXPECT_EQ(neighbour->system, "leaf1");
  EXPECT_EQ(neighbour->port, "swp5");
  EXPECT_FALSE(parse_lldp_frame(frame.substr(0, 20)));
  EXPECT_FALSE(parse_lldp_frame("not a frame at all"));
  const std::vector<evidence::Neighbour> both = {{"leaf1", "swp5"}, {"leaf2", "Ethernet1/3"}};
  const auto again = parse_networkd_lldp(networkd_lldp_file(both));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, both);
  EXPECT_FALSE(parse_networkd_lldp("\x09"));
}

}  // namespace weir::host
