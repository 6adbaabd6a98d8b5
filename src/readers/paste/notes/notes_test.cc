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

}  // namespace
}  // namespace weir::readers
