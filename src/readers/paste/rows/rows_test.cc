// Rows that say by themselves what they are: each form, and a line near it that is none.
#include "base/testing.h"
#include "readers/paste/paste.h"

namespace weir::readers {
namespace {

Paste read(std::string_view text) {
  return read_paste({{"paste.txt", text}});
}

TEST(PasteRows, StationsOfEveryTool) {
  const Paste paste = read(
      "gpu07 % ip neigh show dev rail2\n"
      "10.30.2.41 lladdr b8:ce:f6:11:a0:41 REACHABLE\n"
      "gpu07 % arp -n\n"
      "10.30.2.42   ether   B8:CE:F6:11:A0:42   C   rail2\n"
      "gpu07 % sudo arping -I rail2 -c 2 10.30.2.43\n"
      "ARPING 10.30.2.43 from 10.30.2.7 rail2\n"
      "Unicast reply from 10.30.2.43 [B8:CE:F6:11:A0:43]  0.641ms\n"
      "60 bytes from b8:ce:f6:11:a0:44 (10.30.2.43): index=0 time=1.2 msec\n"
      "Sent 2 probes (1 broadcast(s))\n");
  ASSERT_EQ(paste.noted.bindings.size(), 4U);
  EXPECT_EQ(paste.noted.bindings[1].mac, "b8:ce:f6:11:a0:42");
  EXPECT_FALSE(paste.noted.bindings[1].is_probe);
  EXPECT_TRUE(paste.noted.bindings[3].is_probe);
  EXPECT_EQ(paste.noted.bindings[3].address, "10.30.2.43");
  EXPECT_EQ(paste.noted.bindings[0].host, "gpu07");
  EXPECT_TRUE(read("10.30.2.41 answered from b8:ce:f6:11:a0:41 today\n").noted.bindings.empty());
}

TEST(PasteRows, MembersHashesAndSeeds) {
  const Paste paste = read(
      "leaf-st2# show port-channel traffic interface port-channel 10\n"
      "ChanId      Port Rx-Ucst Tx-Ucst Rx-Mcst Tx-Mcst Rx-Bcst Tx-Bcst\n"
      "------ --------- ------- ------- ------- ------- ------- -------\n"
      "    10    Eth1/49  24.10%   0.41%  25.00%  25.02%    0.0%    0.0%\n"
      "    10    Eth1/50  25.77%  98.02%  25.00%  24.99%    0.0%    0.0%\n"
      "leaf-st2# show port-channel load-balance\n"
      "System config:\n  Non-IP: src-dst mac\n  IP: src-dst ip-l4port rotate 0\n"
      "admin@spine-2:~$ sonic-db-cli APPL_DB hget SWITCH_TABLE:switch ecmp_hash_seed\n10\n"
      "leaf1#show run | include load-sharing\n"
      "ip load-sharing trident udp hash seed 7\n");
  ASSERT_EQ(paste.rows.members.size(), 2U);
  EXPECT_EQ(paste.rows.members[1].port, "Eth1/50");
  EXPECT_DOUBLE_EQ(paste.rows.members[1].sent, 98.02);
  ASSERT_EQ(paste.rows.hashes.size(), 1U);
  EXPECT_TRUE(paste.rows.hashes[0].has_ports);
  ASSERT_EQ(paste.rows.seeds.size(), 2U);
  for (const PasteSeed& seed : paste.rows.seeds)
    EXPECT_EQ(seed.seed, seed.switch_name == "leaf1" ? "7" : "10");
  EXPECT_TRUE(read("the random seed 42 was used for the model\n").rows.seeds.empty());
}

const evidence::Nic* nic_of(const Paste& paste, std::string_view device) {
  for (const evidence::Evidence& host : paste.evidence)
    if (const evidence::Nic* nic = host.find_nic(device)) return nic;
  return nullptr;
}

TEST(PasteRows, DevicesWithStateAndRate) {
  const Paste paste = read(
      "$ for d in mlx5_{0..2}; do ibstat $d | awk '/Rate:/{print}'; done\n"
      "mlx5_0 Active 400 Ethernet\nmlx5_1 Active 200 Ethernet\nmlx5_2 Down 400 Ethernet\n");
  ASSERT_NE(nic_of(paste, "mlx5_1"), nullptr);
  EXPECT_EQ(nic_of(paste, "mlx5_1")->link.speed->raw(), 200'000'000'000);
  EXPECT_TRUE(nic_of(paste, "mlx5_2")->rdma.active.is(false));
  // Two rows, or numbers that are no speeds.
  EXPECT_EQ(nic_of(read("mlx5_0 Active 400\nmlx5_1 Active 200\n"), "mlx5_0"), nullptr);
  EXPECT_EQ(nic_of(read("mlx5_0 Active 7\nmlx5_1 Active 9\nmlx5_2 Active 8\n"), "mlx5_0"), nullptr);
}

TEST(PasteRows, TheLastSettingOfADeviceHolds) {
  const Paste paste = read(
      "rail6 trust=pcp enabled 0 0 0 1 0 0 0 0\n"
      "rail7 trust dscp  pfc 0 0 0 1 0 0 0 0  26->3\n"
      "rail7 trust dscp  pfc 0 0 0 0 0 0 0 0  26->3\n");
  ASSERT_NE(nic_of(paste, "rail6"), nullptr);
  EXPECT_TRUE(nic_of(paste, "rail6")->qos.trust.is(evidence::TrustMode::kPcp));
  ASSERT_NE(nic_of(paste, "rail7"), nullptr);
  EXPECT_EQ(nic_of(paste, "rail7")->qos.pfc->count(), 0U);
  EXPECT_EQ(nic_of(read("rail7 should have trust dscp on every host\n"), "rail7"), nullptr);
}

TEST(PasteRows, SessionsOfBgpAsEachSystemPrintsThem) {
  struct Row {
    std::string_view text;
    std::string_view peer;
    std::string_view name;
    std::string_view state;  // "" where it is up
    std::optional<std::uint64_t> seconds;
  };
  constexpr std::uint64_t kDay = 86'400;
  for (const Row& row : std::initializer_list<Row>{
           {"10.0.0.4  4  65003  771204  771211  0  0  0 3d06h18m Idle (Admin)  0 spine-03",
            "10.0.0.4", "spine-03", "Idle (Admin)", 3 * kDay + 6 * 3600 + 18 * 60},
           {"spine2(swp64) 4 4200006000 878110 878102 0 0 0 4d17h21m Idle (Admin) 0 N/A", "swp64",
            "spine2", "Idle (Admin)", 4 * kDay + 17 * 3600 + 21 * 60},
           {"spine1(swp63) 4 4200006000 881203 881200 0 0 0 30w4d02h 400 402 N/A", "swp63",
            "spine1", "", std::nullopt},
           {"spine-3 Et12/1  10.4.3.24  4 65100  11874  11902  0  0  6d04h Idle(Admin)",
            "10.4.3.24", "spine-3 Et12/1", "Idle(Admin)", 6 * kDay + 4 * 3600},
           {"10.3.3.6  4 65200  871204  871190  0  0  0  3d6h Shut (Admin)", "10.3.3.6", "",
            "Shut (Admin)", 3 * kDay + 6 * 3600},
           {"10.2.3.18  64900  401120  401188  0  1  2d 3:10:12 Idle", "10.2.3.18", "", "Idle",
            2 * kDay + 3 * 3600 + 612},
           {"10.2.3.18  64900  401120  401188  0  1  18 Active", "10.2.3.18", "", "Active", 18},
           {"10.2.3.18  64900  401120  401188  0  1  24w1d 5:09:41 Establ", "10.2.3.18", "", "",
            std::nullopt},
           {"swp52  65199  active  2025-08-16T02:00:11Z  2d,1:10:00  180221  180230", "swp52", "",
            "active", std::nullopt},
       }) {
    const Paste paste = read("leaf1# show bgp summary\n" + std::string(row.text) + "\n");
    ASSERT_EQ(paste.rows.sessions.size(), 1U) << row.text;
    const PasteSession& session = paste.rows.sessions.front();
    EXPECT_EQ(session.peer, row.peer);
    EXPECT_EQ(session.name, row.name) << row.text;
    EXPECT_EQ(session.is_up ? "" : session.state, row.state) << row.text;
    EXPECT_EQ(session.seconds, row.seconds) << row.text;
  }
  EXPECT_TRUE(read("leaf1# show bgp summary\nno sessions here at all\n").rows.sessions.empty());
}

TEST(PasteRows, LoopsOverAVariable) {
  const Paste paste = read(
      "root@gpu-w10:~# for i in 5 6; do ethtool -S rail$i | grep rx_discards_phy; done\n"
      "     rx_discards_phy: 0\n     rx_discards_phy: 41882\n");
  EXPECT_NE(nic_of(paste, "rail6"), nullptr);
}

TEST(PasteRows, HostsBelowAParallelShell) {
  const Paste paste = read(
      "$ pdsh -w gpu[12-13] 'ip -4 -br addr show rail2' | sort\n"
      "gpu12: rail2            UP             10.30.2.12/24 \n"
      "gpu13: rail2            UP             10.30.2.13/24 \n");
  ASSERT_EQ(paste.addresses.size(), 2U);
  EXPECT_EQ(paste.addresses[1].host, "gpu13");
}

TEST(PasteRows, SchedulersAndDropProfilesOfJunos) {
  const Paste paste = read(
      "netops@leaf2> show configuration class-of-service schedulers S-NO-LOSS | display set\n"
      "set class-of-service schedulers S-NO-LOSS transmit-rate percent 70\n"
      "set class-of-service schedulers S-NO-LOSS drop-profile-map loss-priority any protocol any "
      "drop-profile DP\n"
      "netops@leaf2> show configuration class-of-service schedulers SCHED\n"
      "transmit-rate percent 60;\nexplicit-congestion-notification;\n"
      "netops@leaf2> show interfaces queue et-0/0/11 forwarding-class NO-LOSS\n"
      "Physical interface: et-0/0/11, up, Physical link is Up\n"
      "Queue: 4, Forwarding classes: NO-LOSS\n"
      "    RED-dropped packets  :               2882815                    211 pps\n"
      "    ECN-CE packets       :                     0                      0 pps\n");
  ASSERT_EQ(paste.rows.schedulers.size(), 2U);
  EXPECT_TRUE(paste.rows.schedulers[0].has_curve);
  EXPECT_FALSE(paste.rows.schedulers[0].marks);
  EXPECT_TRUE(paste.rows.schedulers[1].marks);
  ASSERT_EQ(paste.rows.red_queues.size(), 1U);
  EXPECT_EQ(paste.rows.red_queues[0].dropped, 2'882'815U);
  EXPECT_EQ(paste.rows.red_queues[0].dropped_now, 211U);
}

constexpr std::string_view kSorting =
    "leaf-s1# show running-config ipqos\n"
    "class-map type qos match-all ROCE\n  match dscp 24-26\n"
    "policy-map type qos PM\n  class ROCE\n    set qos-group 3\n"
    "  class class-default\n    set qos-group 0\n";

TEST(PasteRows, ClassificationsOfNxos) {
  const Paste paste = read(kSorting);
  ASSERT_EQ(paste.rows.sortings.size(), 1U);
  EXPECT_EQ(paste.rows.sortings[0].groups.at(26), 3U);
  EXPECT_FALSE(paste.rows.sortings[0].groups.at(48).has_value());
  // A class that matches by something else may take anything.
  EXPECT_TRUE(read("leaf-s1# show running-config ipqos\n"
                   "class-map type qos match-all ROCE\n  match access-group name A\n"
                   "policy-map type qos PM\n  class ROCE\n    set qos-group 3\n")
                  .rows.sortings.empty());
}

TEST(PasteRows, ThresholdsOfWred) {
  const Paste paste = read(
      "n9k# show policy-map type queuing Q\n"
      "  policy-map type queuing Q\n    class type queuing c-out-8q-q3\n"
      "      random-detect minimum-threshold 3000 kbytes maximum-threshold 150 kbytes "
      "drop-probability 7 weight 0 ecn\n"
      "admin@spine-5:~$ show ecn\nProfile: ROCE\n---  ---\necn  ecn_all\n"
      "green_max_threshold  100000\ngreen_min_threshold  1500000\n");
  ASSERT_EQ(paste.rows.curves.size(), 2U);
  for (const PasteCurve& curve : paste.rows.curves)
    EXPECT_GT(curve.min, curve.max);
}

TEST(PasteRows, ACutListingSaysNothingOfItsLastDevice) {
  const std::string table =
      "DEV\tPORT\tINDEX\tGID\tIPv4\tVER\tDEV\n"
      "mlx5_1\t1\t0\tfe80:0000:0000:0000:966d:aeff:fe2c:4411\t\tv1\trail1\n";
  const Paste cut = read("$ show_gids | head -2\n" + table);
  EXPECT_FALSE(nic_of(cut, "mlx5_1")->rdma.gids.is_known());
  const Paste whole = read("$ show_gids\n" + table);
  EXPECT_TRUE(nic_of(whole, "mlx5_1")->rdma.gids.is_known());
}

TEST(PasteRows, ExportersOfAHost) {
  const Paste paste = read(
      "$ curl -s gpu-t07:9879/metrics | grep rp_cnp\n"
      "rdma_rp_cnp_handled_total{device=\"mlx5_3\",port=\"1\"} 88211\n");
  ASSERT_FALSE(paste.evidence.empty());
  EXPECT_EQ(paste.evidence.front().provenance.host, "gpu-t07");
}

}  // namespace
}  // namespace weir::readers
