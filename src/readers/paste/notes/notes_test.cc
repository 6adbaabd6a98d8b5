#include "base/testing.h"
#include "readers/paste/notes/noted.h"
#include "readers/paste/paste.h"

namespace weir::readers {
namespace {

PasteNoted noted(std::string_view text) {
  return read_paste({{"paste.txt", text}}).noted;
}

TEST(Noted, BindingsOfAddresses) {
  COVERS("D8");
  const PasteNoted all = noted(
      "gpu02# ip neigh show dev rail0\n10.30.1.1  lladdr  b8:3f:d2:11:0a:10  REACHABLE\n"
      "10.30.1.2  lladdr  b8:3f:d2:11:0a:10  STALE\n10.30.1.3 lladdr b8:3f:d2:11:0a:18 FAILED\n"
      "10.30.1.4 lladdr 00:00:5e:00:01:0a REACHABLE\n"
      "gpu02# arping -c 1 -I rail3 10.44.3.17\n"
      "Unicast reply from 10.44.3.17 [94:6D:AE:03:77:1A]  0.681ms\n");
  ASSERT_EQ(all.bindings.size(), 3U);  // nobody has a failed one, and many a VRRP address
  EXPECT_TRUE(all.bindings[0].is_fresh);
  EXPECT_FALSE(all.bindings[1].is_fresh);
  EXPECT_EQ(all.bindings[2].mac, "94:6d:ae:03:77:1a");
  EXPECT_TRUE(noted("10.30.1.1 is at b8:3f:d2:11:0a:10 says the wiki\n").bindings.empty());
}

TEST(Noted, FiltersOfPort4791) {
  COVERS("D8");
  const PasteNoted all = noted(
      "leaf1# show ip access-lists A\n        10 permit udp any any eq 4791 [match=3]\n"
      "        20 deny udp any any eq 4791 [match=17]\n        30 deny udp any any eq 47910\n");
  ASSERT_EQ(all.filters.size(), 1U);
  EXPECT_EQ(all.filters[0].matches, 17U);
  EXPECT_TRUE(noted("we should deny udp 4791 there, or drop it\n").filters.empty() ||
              !noted("we should deny udp 4791 there, or drop it\n").filters[0].matches);
}

TEST(Noted, FecOfPorts) {
  COVERS("D8");
  const PasteNoted all = noted(
      "admin@tor-9:~$ show interfaces fec status\n  Interface    FEC Oper    FEC Admin\n"
      "-----------  ----------  -----------\n Ethernet60          rs           rs\n"
      " Ethernet64         N/A         none\n");
  ASSERT_EQ(all.fec.size(), 2U);
  EXPECT_FALSE(all.fec[0].is_off);
  EXPECT_TRUE(all.fec[1].is_off && all.fec[1].is_down == true);
  EXPECT_TRUE(noted("admin@tor-9:~$ show version\nEthernet64 N/A none\n").fec.empty());
}

TEST(Noted, ResultsOfQueuePairs) {
  COVERS("D8");
  const PasteNoted all = noted(
      "n1$ for q in 1 2; do echo -n \"qps=$q \"; ib_write_bw -d mlx5_bond_0 -q $q -D 5 a | tail "
      "-1; "
      "done\nqps=1  65536      938128           0.00               196.74 \t\t   0.375252\n"
      "qps=2  65536      1873016          0.00               392.80 \t\t   0.749207\n");
  ASSERT_EQ(all.qp_rates.size(), 2U);
  EXPECT_EQ(all.qp_rates[1].qps, 2U);
  EXPECT_DOUBLE_EQ(all.qp_rates[1].rate, 392.80);
  EXPECT_TRUE(noted("qps=1 65536 938128 0.00 196.74 0.375252\n").qp_rates.empty());
}

TEST(Noted, CodePointsOfSeveralSwitches) {
  COVERS("D8");
  const Paste paste =
      read_paste({{"paste.txt",
                   "$ for l in a b; do echo -n \"$l \"; ssh $l sonic-db-cli CONFIG_DB hget "
                   "'\"DSCP_TO_TC_MAP|AZURE\"' 26; done\nleaf-a 3\nleaf-b 1\nelapsed 12\n"}});
  ASSERT_EQ(paste.code_points.size(), 2U);
  EXPECT_EQ(paste.code_points[1].switch_name, "leaf-b");
  EXPECT_EQ(paste.code_points[1].traffic_class.value(), 1U);
}

TEST(Noted, EntriesAndSectionsOfQueues) {
  COVERS("D8");
  const PasteNoted redis = noted(
      "admin@tor3:~$ redis-cli -n 4 hgetall \"QUEUE|Ethernet0|3\"\n1) \"scheduler\"\n"
      "2) \"scheduler.1\"\nadmin@tor3:~$ date\n");
  ASSERT_EQ(redis.queue_entries.size(), 1U);
  EXPECT_FALSE(redis.queue_entries[0].has_profile);
  const PasteNoted table = noted(
      "admin@tor3:~$ sonic-cfggen -d --var-json QUEUE\n{\n    \"Ethernet0|3\": {\n"
      "        \"scheduler\": \"scheduler.1\",\n        \"wred_profile\": \"AZURE\"\n    }\n}\n");
  ASSERT_EQ(table.queue_entries.size(), 1U);
  EXPECT_TRUE(table.queue_entries[0].has_profile);
  constexpr std::string_view kSection =
      "   uc-tx-queue 3\n      no priority\n      bandwidth percent 60\n";
  const PasteNoted section =
      noted("leaf1#show running-config | section tx-queue\n" + std::string(kSection));
  ASSERT_EQ(section.queue_entries.size(), 1U);
  EXPECT_EQ(section.queue_entries[0].queue, "3");
  // a filter may have left the curve out
  EXPECT_TRUE(noted("leaf1#show running-config | include queue|prio|band\n" + std::string(kSection))
                  .queue_entries.empty());
}

TEST(Noted, LimitsOfQueues) {
  COVERS("D8");
  const PasteNoted all = noted(
      "spine2#show running-config | section tx-queue 6\n   uc-tx-queue 6\n      no priority\n"
      "      shape rate 600 kbps\n"
      "spine3# show run | sec queuing\n  class type queuing c-out-8q-q7\n"
      "    shape min 0 kbps max 1000 kbps\n"
      "lab@qfx1> show configuration | display set\n"
      "set class-of-service schedulers CNP-S shaping-rate 2m\n"
      "set class-of-service forwarding-classes class CNP queue-num 5\n");
  ASSERT_EQ(all.queue_limits.size(), 3U);
  EXPECT_EQ(all.queue_limits[0].queue, "6");
  EXPECT_EQ(all.queue_limits[0].rate, BitRate::raw(600'000));
  EXPECT_EQ(all.queue_limits[1].rate, BitRate::raw(1'000'000));
  EXPECT_EQ(all.queue_limits[2].queue, "CNP-S");
  ASSERT_EQ(all.cnp_queues.size(), 1U);
  EXPECT_EQ(all.cnp_queues[0].queue, 5U);
  EXPECT_TRUE(noted("   shape rate 600 kbps\n").queue_limits.empty());  // of which queue?
}

TEST(Noted, PrioritiesThatStatementsPause) {
  COVERS("D8");
  const auto paused = [](std::string_view text) {
    return read_paste({{"paste.txt", text}}).lossless;
  };
  ASSERT_EQ(paused("set class-of-service forwarding-classes class NO-LOSS pfc-priority 4\n").size(),
            1U);
  ASSERT_EQ(paused("nv set qos pfc default-global switch-priority 4\n").size(), 1U);
  EXPECT_EQ(paused("class NO-LOSS queue-num 4 no-loss pfc-priority 4;\n")[0].priorities.mask(),
            0x10);
  EXPECT_TRUE(paused("our pfc-priority 4 is wrong, I think\n").empty());
}

TEST(Noted, LoopsOverHosts) {
  COVERS("D8");
  const auto modes = [](std::string_view loop) {
    const std::string text = std::string(loop) +
                             "\n== leaf1 ==\nmode  lossless  lossless\n"
                             "== leaf2 ==\nmode  lossy  lossy\n";
    return read_paste({{"paste.txt", text}}).roce_modes;
  };
  for (const std::string_view loop :
       {"$ for h in leaf1 leaf2; do echo \"== $h ==\"; ssh $h nv show qos roce; done",
        "$ for i in {1..2}; do echo == leaf$i ==; ssh -q cumulus@leaf${i} 'nv show qos roce'; done",
        "$ for i in $(seq 1 2); do echo == leaf$i ==; ssh leaf$i \"nv show qos roce\"; done"}) {
    const auto found = modes(loop);
    ASSERT_EQ(found.size(), 2U) << loop;
    EXPECT_EQ(found[1].switch_name, "leaf2");
    EXPECT_FALSE(found[1].is_lossless);
  }
}

}  // namespace
}  // namespace weir::readers
