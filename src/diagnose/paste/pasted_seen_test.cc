// What a text shows literally of links, addresses, cables and switches: each fault, and a text near
// it that shows none.
#include <fmt/format.h>

#include "base/testing.h"
#include "diagnose/paste/pasted.h"
#include "finding/shown.h"

namespace weir::diagnose {
namespace {

finding::Judgement seen(std::string_view text) {
  const readers::Paste paste = readers::read_paste({{"paste.txt", text}});
  return judge_pasted({paste, paste.evidence});
}

const finding::Finding* find_id(const finding::Judgement& judgement, std::string_view id) {
  for (const finding::Finding& finding : judgement.findings)
    if (finding.id == id) return &finding;
  return nullptr;
}

/// How loudly an id is said; empty where it is not.
std::string loudness(std::string_view text, std::string_view id) {
  const finding::Judgement judgement = seen(text);
  const finding::Finding* const found = find_id(judgement, id);
  return found == nullptr ? std::string() : std::string(finding::to_text(found->severity));
}

struct SeenCase {
  std::string_view what;
  std::string text;
  std::string_view id;
  std::string_view severity;  // empty: not said
};

void check(const std::vector<SeenCase>& cases) {
  for (const SeenCase& item : cases)
    EXPECT_EQ(loudness(item.text, item.id), item.severity) << item.what;
}

std::string rates(std::string_view odd) {
  return fmt::format(
      "mlx5_0 400 Gb/sec (4X NDR)\nmlx5_1 400 Gb/sec (4X NDR)\nmlx5_2: 400 Gb/sec (4X NDR)\n"
      "mlx5_3 {}\n",
      odd);
}

TEST(PastedSeen, PortsSlowerThanTheirSisters) {
  const std::string able =
      "$ mlxlink -d mlx5_3\nOperational Info\n----------------\n"
      "State                              : Active\n"
      "Speed                              : 100G\n"
      "Enabled Link Speed (Ext.)          : 0x00010ff2 (400G_4X,200G_4X,100G_4X)\n"
      "Supported Cable Speed (Ext.)       : 0x00010ff2 (400G_4X,200G_4X,100G_4X)\n";
  check({
      {"one of four, and nobody says that it could do more", rates("100 Gb/sec (4X EDR)"),
       "link.degraded", "info"},
      {"port and cable could do more", rates("100 Gb/sec (4X EDR)") + able, "link.degraded",
       "error"},
      {"all alike", rates("400 Gb/sec (4X NDR)"), "link.degraded", ""},
      {"files by path",
       "/sys/class/infiniband/mlx5_0/ports/1/rate:200 Gb/sec (4X HDR)\n"
       "/sys/class/infiniband/mlx5_1/ports/1/rate:200 Gb/sec (4X HDR)\n"
       "/sys/class/infiniband/mlx5_2/ports/1/rate:200 Gb/sec (4X HDR)\n"
       "/sys/class/infiniband/mlx5_3/ports/1/rate:50 Gb/sec (1X HDR)\n",
       "link.degraded", "info"},
      {"two kinds of cards",
       "mlx5_0 400 Gb/sec (4X NDR)\nmlx5_1 400 Gb/sec (4X NDR)\nmlx5_2 200 Gb/sec (4X HDR)\n"
       "mlx5_3 200 Gb/sec (4X HDR)\n",
       "link.degraded", ""},
      {"ethtool in a loop",
       "rail0 Speed: 400000Mb/s\nrail1 Speed: 400000Mb/s\nrail2 Speed: 400000Mb/s\n"
       "rail3 Speed: 100000Mb/s\n",
       "link.degraded", "warning"},
  });
}

std::string rails(std::string_view second) {
  return fmt::format(
      "root@n1:~# ip -br -4 addr\n"
      "eno1   UP  172.16.0.4/24\nrail0  UP  10.9.0.40/24\nrail1  UP  {}\n",
      second);
}
constexpr std::string_view kPlainRules =
    "root@n1:~# ip rule\n0:\tfrom all lookup local\n32766:\tfrom all lookup main\n";
constexpr std::string_view kSourceRules =
    "root@n1:~# ip rule\n0:\tfrom all lookup local\n100:\tfrom 10.9.0.40 lookup 100\n"
    "101:\tfrom 10.9.0.41 lookup 101\n32766:\tfrom all lookup main\n";

TEST(PastedSeen, RailsInOneSubnet) {
  check({
      {"without rules", rails("10.9.0.41/24") + std::string(kPlainRules), "rail.same_subnet",
       "error"},
      {"rules are not shown", rails("10.9.0.41/24"), "rail.same_subnet", "info"},
      {"a rule for each", rails("10.9.0.41/24") + std::string(kSourceRules), "rail.same_subnet",
       ""},
      {"a subnet each", rails("10.9.1.41/24") + std::string(kPlainRules), "rail.same_subnet", ""},
      {"the two ends of a /31",
       "root@n1:~# ip -br addr\nrail0 UP 10.0.0.0/31\nrail1 UP 10.0.0.1/31\n", "rail.same_subnet",
       ""},
      {"ports for management",
       "root@n1:~# ip -br addr\neno1 UP 10.0.0.4/24\neno2 UP 10.0.0.5/24\n" +
           std::string(kPlainRules),
       "rail.same_subnet", ""},
      {"a route that leaves by another rail",
       rails("10.9.1.41/24") + "root@n1:~# ip route get 10.9.8.7 from 10.9.1.41\n"
                               "10.9.8.7 from 10.9.1.41 via 172.16.0.1 dev eno1 uid 0\n    cache\n",
       "rail.no_route", "error"},
      {"a route that leaves by its own",
       rails("10.9.1.41/24") + "root@n1:~# ip route get 10.9.8.7 from 10.9.1.41\n"
                               "10.9.8.7 from 10.9.1.41 via 10.9.1.1 dev rail1 uid 0\n    cache\n",
       "rail.no_route", ""},
  });
}

std::string lldp(const std::vector<std::pair<std::string, std::string>>& links) {
  std::string out =
      "root@n5:~# lldpcli show neighbors\n-----------\nLLDP neighbors:\n-----------\n";
  for (const auto& [port, system] : links)
    out += fmt::format(
        "Interface:    {}, via: LLDP, RID: 1\n  Chassis:\n    SysName:      {}\n  Port:\n"
        "    PortID:       ifname swp5\n-----------\n",
        port, system);
  return out;
}

TEST(PastedSeen, CablesThatAreExchanged) {
  const auto swapped =
      lldp({{"rail0", "leaf0"}, {"rail1", "leaf1"}, {"rail2", "leaf3"}, {"rail3", "leaf2"}});
  check({
      {"numbers of rails and leaves", swapped, "wiring.mismatch", "error"},
      {"an offset is a plan too",
       lldp({{"rail0", "leaf1"}, {"rail1", "leaf2"}, {"rail2", "leaf3"}, {"rail3", "leaf4"}}),
       "wiring.mismatch", ""},
      {"names that tell nothing of rails",
       lldp({{"eth0", "leaf0"}, {"eth1", "leaf1"}, {"eth2", "leaf3"}, {"eth3", "leaf2"}}),
       "wiring.mismatch", "info"},
      {"a plan that the text states",
       "Plan: host port ethN -> leafN\n" +
           lldp({{"eth0", "leaf0"}, {"eth1", "leaf3"}, {"eth2", "leaf2"}}),
       "wiring.mismatch", "error"},
      {"all of them differ: it is another plan",
       "Plan: host port ethN -> leafN\n" + lldp({{"eth0", "leaf1"}, {"eth1", "leaf2"}}),
       "wiring.mismatch", ""},
      {"one rail on a leaf of another",
       lldp({{"rail0", "leaf0"}, {"rail1", "leaf1"}, {"rail2", "leaf2"}, {"rail3", "leaf0"}}),
       "wiring.mismatch", "info"},
      {"and the leaves are named after rails",
       lldp({{"gpu0", "rail0-a"}, {"gpu1", "rail1-a"}, {"gpu2", "rail2-a"}, {"gpu3", "rail0-a"}}),
       "wiring.mismatch", "error"},
      {"all to one switch",
       lldp({{"rail0", "leaf7"}, {"rail1", "leaf7"}, {"rail2", "leaf7"}, {"rail3", "leaf7"}}),
       "wiring.mismatch", ""},
      {"as key and value",
       "lldp.rail0.chassis.name=r0-leaf3\nlldp.rail1.chassis.name=r1-leaf3\n"
       "lldp.rail2.chassis.name=r3-leaf3\nlldp.rail3.chassis.name=r2-leaf3\n",
       "wiring.mismatch", "error"},
  });
}

constexpr std::string_view kJunosLane =
    "noc@qfx> show interfaces diagnostics optics et-0/0/31\nPhysical interface: et-0/0/31\n"
    "  Lane 0\n    Laser receiver power             :  {}\n"
    "    Laser receiver power low alarm   :  {}\n"
    "  Lane 1\n    Laser receiver power             :  {}\n";

std::string junos(std::string_view first, std::string_view alarm, std::string_view second) {
  return fmt::format(fmt::runtime(kJunosLane), first, alarm, second);
}

std::string uncorrected(std::string_view first, std::string_view second) {
  return fmt::format(
      "noc@qfx> show interfaces et-0/0/31 extensive | match FEC\n"
      "    FEC Uncorrected Errors                   {}\n"
      "noc@qfx> show interfaces et-0/0/31 extensive | match FEC\n"
      "    FEC Uncorrected Errors                   {}\n",
      first, second);
}

TEST(PastedSeen, LightAndCodeWords) {
  check({
      {"an alarm", junos("0.021 mW / -16.78 dBm", "On", "0.981 mW / -0.08 dBm"),
       "link.physical_errors", "error"},
      {"no alarm", junos("0.921 mW / -0.36 dBm", "Off", "0.981 mW / -0.08 dBm"),
       "link.physical_errors", ""},
      {"no light at all: a spare port has none",
       junos("0.000 mW / - Inf dBm", "On", "0.000 mW / - Inf dBm"), "link.physical_errors", "info"},
      {"code words that grow", uncorrected("55120", "57981"), "link.physical_errors", "error"},
      {"code words of long ago", uncorrected("55120", "55120"), "link.physical_errors", ""},
      {"a row of EOS below its alarm",
       "leaf7#show interfaces Ethernet12/1 transceiver detail\n"
       "                    High Alarm  High Warn   Low Alarm   Low Warn\n"
       "           Rx Power  Threshold   Threshold   Threshold   Threshold\n"
       "Port       (dBm)     (dBm)       (dBm)       (dBm)       (dBm)\n"
       "Et12/1     -14.32    5.50        4.50        -10.40      -9.40\n",
       "link.physical_errors", "error"},
      {"a row of NX-OS with its sign",
       "n9k# show interface ethernet 1/17 transceiver details\nEthernet1/17\n"
       "  Rx Power     -13.77 dBm --    5.00 dBm   -8.90 dBm    4.00 dBm     -5.90 dBm\n",
       "link.physical_errors", "error"},
      {"the same in range",
       "n9k# show interface ethernet 1/17 transceiver details\nEthernet1/17\n"
       "  Rx Power      -3.77 dBm       5.00 dBm   -8.90 dBm    4.00 dBm     -5.90 dBm\n",
       "link.physical_errors", ""},
      {"a channel below the threshold of its module",
       "root@n1:~# ethtool -m rail0\n\tIdentifier : 0x18 (QSFP-DD)\n"
       "\tRcvr signal avg optical power(Channel 1)  : 1.0151 mW / 0.06 dBm\n"
       "\tRcvr signal avg optical power(Channel 2)  : 0.0251 mW / -16.00 dBm\n"
       "\tLaser rx power low alarm threshold        : 0.1514 mW / -8.20 dBm\n",
       "link.physical_errors", "error"},
  });
}

std::string sonic(std::string_view to, std::string_view job) {
  return fmt::format(
      "admin@tor:~$ sonic-db-cli CONFIG_DB hget \"DSCP_TO_TC_MAP|AZURE\" 26\n{}\n"
      "admin@tor:~$ show pfc priority\nInterface    Lossless priorities\n"
      "-----------  ---------------------\nEthernet64   3,4\n{}\n",
      to, job);
}

TEST(PastedSeen, CodePointsAndQueuesOfSwitches) {
  const std::string policy =
      "n9k# show running-config ipqos\npolicy-map type queuing OUT\n"
      "  class type queuing c-out-8q-q3\n"
      "    random-detect minimum-threshold 150 kbytes maximum-threshold 3000 kbytes "
      "drop-probability 7 weight 0{}\n"
      "  class type queuing c-out-8q-q-default\n    random-detect minimum-threshold 1 kbytes\n"
      "n9k# show interface priority-flow-control\n"
      "Port               Mode Oper(VL bmap)  RxPPP      TxPPP\n"
      "Ethernet1/29       On   On  (8)       0          112\n";
  check({
      {"the class is not lossless", sonic("1", "NCCL_IB_TC=106"), "dscp.unmapped_hop", "error"},
      {"it is", sonic("4", "NCCL_IB_TC=106"), "dscp.unmapped_hop", ""},
      {"the job uses another code point", sonic("1", "NCCL_IB_TC=16"), "dscp.unmapped_hop", ""},
      {"nobody says which one RDMA uses", sonic("1", ""), "dscp.unmapped_hop", ""},
      {"WRED that drops", fmt::format(fmt::runtime(policy), ""), "ecn.off_on_lossless", "error"},
      {"WRED that marks", fmt::format(fmt::runtime(policy), " ecn"), "ecn.off_on_lossless", ""},
      {"a profile of SONiC",
       "\"WRED_PROFILE\": {\n  \"AZURE_LOSSLESS\": {\n    \"ecn\": \"ecn_none\"\n  }\n},\n"
       "\"QUEUE\": {\n  \"Ethernet0|3-4\": {\n    \"wred_profile\": \"AZURE_LOSSLESS\"\n  }\n},\n"
       "\"PORT_QOS_MAP\": {\n  \"Ethernet0\": {\n    \"pfc_enable\": \"3,4\"\n  }\n}\n",
       "ecn.off_on_lossless", "error"},
  });
}

TEST(PastedSeen, CnpsNeedNotBeEcnCapable) {
  const std::string tshark =
      "$ tshark -r r.pcap -T fields -e ip.dsfield.dscp -e ip.dsfield.ecn -e infiniband.bth.opcode\n"
      "26\t{}\t7\n26\t{}\t7\n48\t0\t129\n26\t0\t17\n";
  check({
      {"data", fmt::format(fmt::runtime(tshark), 0, 0), "ecn.not_ect", "error"},
      {"CNPs and acknowledgements", fmt::format(fmt::runtime(tshark), 2, 3), "ecn.not_ect", ""},
  });
}

TEST(PastedSeen, MtusOfSisters) {
  const std::string loop =
      "$ for i in rail0 rail1 rail2; do echo \"$i $(cat /sys/class/net/$i/mtu)\"; done\n"
      "rail0 9000\nrail1 9000\nrail2 {}\n";
  check({
      {"one is small", fmt::format(fmt::runtime(loop), 1500), "mtu.mismatch", "warning"},
      {"all are large", fmt::format(fmt::runtime(loop), 9000), "mtu.mismatch", ""},
      {"a port for management is no sister",
       "1: eno1: <BROADCAST,UP,LOWER_UP> mtu 1500 qdisc mq\n"
       "2: rail0: <BROADCAST,UP,LOWER_UP> mtu 9000 qdisc mq\n"
       "3: rail1: <BROADCAST,UP,LOWER_UP> mtu 9000 qdisc mq\n",
       "mtu.mismatch", ""},
  });
}

TEST(PastedSeen, FilesOfDevicesInLoopsAndLists) {
  const std::string trust =
      "$ for i in 0 1; do echo -n \"rail$i \"; cat /sys/class/net/rail$i/qos/trust; done\n"
      "rail0 dscp\nrail1 {}\n";
  const std::string cnp =
      "$ cat /sys/class/net/rail0/ecn/roce_np/cnp_dscp "
      "/sys/class/net/rail0/ecn/roce_np/cnp_802p_prio\n{}\n";
  check({
      {"one trusts PCP", fmt::format(fmt::runtime(trust), "pcp"), "trust.not_dscp", "error"},
      {"both trust DSCP", fmt::format(fmt::runtime(trust), "dscp"), "trust.not_dscp", ""},
      {"CNPs in the priority that PFC protects",
       fmt::format(fmt::runtime(cnp), "26\n3") +
           "# mlnx_qos -i rail0\nPFC configuration:\n\tenabled     0   0   0   1   0   0   0   0\n",
       "cnp.shares_rdma_priority", "error"},
      {"which priority RDMA has is not shown", fmt::format(fmt::runtime(cnp), "26\n3"),
       "cnp.shares_rdma_priority", "info"},
      {"CNPs as the site has them", fmt::format(fmt::runtime(cnp), "46\n5"),
       "cnp.shares_rdma_priority", ""},
      {"a device that the host does not have",
       "export NCCL_IB_HCA==mlx5_0,mlx5_9\n$ ls /sys/class/infiniband\nmlx5_0  mlx5_1\n",
       "nccl.hca_unknown", "error"},
      {"devices that it has",
       "export NCCL_IB_HCA==mlx5_0,mlx5_1\n$ ls /sys/class/infiniband\nmlx5_0  mlx5_1\n",
       "nccl.hca_unknown", ""},
  });
}

TEST(PastedSeen, AContainerWithoutTheAddressOfItsGid) {
  const std::string pod =
      "root@pod:/# ip -4 -br a\nlo UNKNOWN 127.0.0.1/8\neth0@if92 UP 10.244.3.17/24\n{}"
      "root@pod:/# show_gids\nDEV\tPORT\tINDEX\tGID\tIPv4\tVER\tDEV\n"
      "mlx5_0\t1\t3\t0000:0000:0000:0000:0000:ffff:c0a8:0a15\t192.168.10.21\tv2\tnet1\n";
  check({
      {"the interface is outside", fmt::format(fmt::runtime(pod), ""),
       "container.gid_outside_netns", "error"},
      {"it is inside", fmt::format(fmt::runtime(pod), "net1@if7 UP 192.168.10.21/24\n"),
       "container.gid_outside_netns", ""},
      {"a host: others list what they chose",
       fmt::format(fmt::runtime(pod), "eno1 UP 10.0.0.4/24\n"), "container.gid_outside_netns", ""},
  });
}

TEST(PastedSeen, PlansOfASite) {
  const std::string map =
      "# cma_roce_tos -d mlx5_0\n96\n# mlnx_qos -i rail0 | egrep -A3 \"trust|PFC\"\n"
      "Priority trust state: dscp\ndscp2prio mapping:\n\tprio:0 dscp:07,06,\n"
      "\tprio:{} dscp:31,30,29,28,27,26,25,24,\nPFC configuration:\n"
      "\tpriority    0   1   2   3   4   5   6   7\n\tenabled     0   0   0   1   0   0   0   0\n";
  check({
      {"DSCP 24 in the priority that is protected", fmt::format(fmt::runtime(map), 3),
       "dscp.unmarked", ""},
      {"code points that were cut off are not wrong", fmt::format(fmt::runtime(map), 3),
       "dscp.nic_map_wrong", ""},
      {"a code point alone is no fault", "# cma_roce_tos -d mlx5_0\n96\n", "dscp.unmarked", ""},
      {"a DSCP as a byte is", "# cma_roce_tos -d mlx5_0\n26\n", "dscp.tos_confusion", "error"},
      {"a limit in what is left of the classes",
       "tc: 3 ratelimit: 50.0 Gbps, tsa: ets, bw: 50%\n\t priority:  3\n", "shaper.on_rdma_path",
       "error"},
      {"a limit of another class",
       "tc: 1 ratelimit: 50.0 Gbps, tsa: ets, bw: 50%\n\t priority:  1\n", "shaper.on_rdma_path",
       ""},
  });
}

std::string looped(std::string_view fourth, std::string_view fifth, std::string_view separator) {
  std::string out =
      "root@n14:~# for i in 0 1 2 3 4 5; do echo -n \"rail$i: \"; lldpctl rail$i -f keyvalue | "
      "egrep \"chassis.name|port.ifname\" | cut -d= -f2 | xargs; done\n";
  for (const int i : {0, 1, 2, 3})
    out += fmt::format("rail{}{}leaf-f-r{} Ethernet14/1\n", i, separator, i);
  return out + fmt::format("rail4{0}{1} Ethernet14/1\nrail5{0}{2} Ethernet14/1\n", separator,
                           fourth, fifth);
}

std::string sonic_lldp(int leaf, int first, int second, int third) {
  std::string out = fmt::format(
      "admin@leaf-r{}:~$ show lldp table\nLocalPort  RemoteDevice  RemotePortID  Capability  "
      "RemotePortDescr\n",
      leaf);
  int port = 0;
  for (const int rail : {first, second, third}) {
    out += fmt::format("Ethernet{}  gpu0{}  b8:3f:d2:60:0{}:00  O  rdma{}\n", port * 8, port + 6,
                       port + 6, rail);
    ++port;
  }
  return out;
}

TEST(PastedSeen, CablesAsTheSwitchesSeeThem) {
  const std::string list = "cabling plan\nhost,nic,leaf\ngpu06,rdma0,leaf-r0\n";
  check({
      {"two exchanged, as other hosts show", sonic_lldp(0, 0, 1, 0) + sonic_lldp(1, 1, 0, 1),
       "wiring.mismatch", "error"},
      {"each where the others are", sonic_lldp(0, 0, 0, 0) + sonic_lldp(1, 1, 1, 1),
       "wiring.mismatch", ""},
      {"one switch alone, by the plan", "rail N NIC (rdmaN) -> leaf-rN\n" + sonic_lldp(0, 0, 1, 0),
       "wiring.mismatch", "error"},
      {"one switch alone, without a plan", sonic_lldp(0, 0, 1, 0), "wiring.mismatch", ""},
      {"a list", list + "gpu06,rdma1,leaf-r1\n" + sonic_lldp(0, 1, 0, 0) + sonic_lldp(1, 0, 1, 1),
       "wiring.mismatch", "error"},
      {"a list of other hosts",
       "cabling plan\nhost,nic,leaf\ngpu09,rdma0,leaf-r4\n" + sonic_lldp(0, 0, 0, 0),
       "wiring.mismatch", ""},
  });
}

TEST(PastedSeen, CablesThatALoopAroundLldpctlPrints) {
  const std::string plan = "Rail N of every server goes to leaf-f-rN.\n";
  const std::string wrong = looped("leaf-f-r5", "leaf-f-r4", ": ");
  const std::string right = looped("leaf-f-r4", "leaf-f-r5", ": ");
  check({
      {"exchanged, with the plan", plan + wrong, "wiring.mismatch", "error"},
      {"exchanged, by the convention", wrong, "wiring.mismatch", "error"},
      {"an arrow between", looped("leaf-f-r5", "leaf-f-r4", " -> "), "wiring.mismatch", "error"},
      {"nothing between", looped("leaf-f-r5", "leaf-f-r4", " "), "wiring.mismatch", "error"},
      {"as planned", plan + right, "wiring.mismatch", ""},
      {"lines of another command", "root@n14:~# cat notes\nrail4: leaf-f-r5 Ethernet14/1\n",
       "wiring.mismatch", ""},
      {"three hosts: the rails are no hosts",
       right + "root@n15:~# " + wrong.substr(wrong.find("for")) + "root@n16:~# " +
           right.substr(right.find("for")),
       "wiring.mismatch", "error"},
  });
}

std::string classified(std::string_view said, std::string_view rows,
                       std::string_view command = "show class-of-service classifier name roce") {
  return fmt::format(
      "{}\n\nops@l07> {}\nClassifier: roce, Code point type: dscp, Index: 41210\n"
      "  Code point         Forwarding class                    Loss priority\n{}",
      said, command, rows);
}

TEST(PastedSeen, ClassifiersWithTheCodePointOfRdmaElsewhere) {
  const std::string narrow =
      "  000000             best-effort                         low\n"
      "  011000             NO-LOSS                             low\n";
  const std::string other = "  011010             best-effort                         low\n";
  const std::string whole = "  011010             NO-LOSS                             low\n";
  const std::string_view sent = "Hosts run with NCCL_IB_TC=106.";
  check({
      {"not listed", classified(sent, narrow), "dscp.unmapped_hop", "error"},
      {"in another class", classified(sent, narrow + other), "dscp.unmapped_hop", "error"},
      {"told in words", classified("All our hosts send DSCP 26, seen on a mirror port.", narrow),
       "dscp.unmapped_hop", "error"},
      {"in the lossless class", classified(sent, narrow + whole), "dscp.unmapped_hop", ""},
      {"another code point in use", classified("Hosts run with NCCL_IB_TC=96.", narrow),
       "dscp.unmapped_hop", ""},
      {"nobody says what RDMA carries", classified("Here is the leaf.", narrow),
       "dscp.unmapped_hop", ""},
      {"a filter may have left it out",
       classified(sent, narrow, "show class-of-service classifier | match 0000"),
       "dscp.unmapped_hop", ""},
      {"no lossless class in it: another classifier may be bound",
       classified(sent, "  000000             best-effort                         low\n"),
       "dscp.unmapped_hop", ""},
  });
}

std::string storm_line(std::string_view time, bool begins, std::string_view port = "Ethernet104") {
  return fmt::format(
      "Sep 17 {}.201934 leaf2 NOTICE swss#orchagent: :- {} on port {}, queue index 3, queue id "
      "0x15000000000a31 and port id 0x100000000002f\n",
      time,
      begins ? "startWdActionOnQueue: PFC Watchdog detected PFC storm"
             : "stopWdActionOnQueue: PFC Watchdog storm restored",
      port);
}

TEST(PastedSeen, StormsInTheLogOfTheWatchdog) {
  const std::string ended = storm_line("08:41:12", true) + storm_line("08:41:14", false);
  const std::string again = ended + storm_line("08:41:31", true);
  check({
      {"again, and no end", again, "pfc.storm", "error"},
      {"the newest first",
       storm_line("08:41:31", true) + storm_line("08:41:14", false) + storm_line("08:41:12", true),
       "pfc.storm", "error"},
      {"one that has begun", storm_line("08:41:12", true), "pfc.storm", "warning"},
      {"each ended", again + storm_line("08:41:40", false), "pfc.storm", "info"},
      {"ended, the newest first",
       storm_line("08:41:40", false) + storm_line("08:41:31", true) + storm_line("08:41:14", false),
       "pfc.storm", "info"},
      {"two ports, each ended",
       ended + storm_line("08:41:31", true, "Ethernet8") +
           storm_line("08:41:33", false, "Ethernet8"),
       "pfc.storm", "info"},
      {"below a command", "admin@leaf2:~$ sudo grep -i storm /var/log/syslog\n" + again,
       "pfc.storm", "error"},
      {"NX-OS",
       "2025 Sep 17 08:41:12 l1 %TAHUSD-SLOT1-2-TAHUSD_SYSLOG_PFCWD_QUEUE_SHUTDOWN: PFC watchdog: "
       "queue 3 of Ethernet1/7 is shutdown\n"
       "2025 Sep 17 08:41:14 l1 %TAHUSD-SLOT1-2-TAHUSD_SYSLOG_PFCWD_QUEUE_RESTORED: PFC watchdog: "
       "queue 3 of Ethernet1/7 is restored\n"
       "2025 Sep 17 08:41:20 l1 %TAHUSD-SLOT1-2-TAHUSD_SYSLOG_PFCWD_QUEUE_SHUTDOWN: PFC watchdog: "
       "queue 3 of Ethernet1/7 is shutdown\n",
       "pfc.storm", "error"},
      {"words of a person", "last year the PFC watchdog detected PFC storm on port Ethernet104\n",
       "pfc.storm", ""},
  });
  const finding::Judgement judgement = seen(again);
  const finding::Finding* const found = find_id(judgement, "pfc.storm");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->where.switch_name, "leaf2");
  EXPECT_EQ(found->where.port, "Ethernet104");
}

std::string roce_mode(std::string_view name, std::string_view mode) {
  return fmt::format(
      "cumulus@{}:mgmt:~$ nv show qos roce | egrep \"^mode|pfc\"\nmode                {}     {}\n",
      name, mode, mode);
}

TEST(PastedSeen, OneSwitchWithRoceInAnotherMode) {
  const std::string others = roce_mode("leaf01", "lossless") + roce_mode("leaf02", "lossless");
  const std::string odd = roce_mode("leaf03", "lossy");
  const std::string pfc =
      "# mlnx_qos -i rail0\nPFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n"
      "\tenabled     0   0   0   1   0   0   0   0   \n";
  check({
      {"two others are lossless", others + odd, "pfc.off", "error"},
      {"the others in words",
       odd + roce_mode("leaf01", "lossless") + "leaf02, leaf04: same as leaf01\n", "pfc.off",
       "error"},
      {"one other, and a host with PFC", roce_mode("leaf01", "lossless") + odd + "\n" + pfc,
       "pfc.off", "error"},
      {"one other", roce_mode("leaf01", "lossless") + odd, "pfc.off", "warning"},
      {"all lossless", others, "pfc.off", ""},
      {"all lossy: it is meant so", odd + roce_mode("leaf04", "lossy"), "pfc.off", ""},
      {"most are lossy", odd + roce_mode("leaf01", "lossless") + "leaf02, leaf04: same as leaf03\n",
       "pfc.off", ""},
      {"lossless by now", others + odd + roce_mode("leaf03", "lossless"), "pfc.off", ""},
  });
}

}  // namespace
}  // namespace weir::diagnose
