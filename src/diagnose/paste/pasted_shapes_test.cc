// Shapes of pasted text that are read as such: each with a fault, and one near it that shows none.
#include <fmt/format.h>

#include "base/testing.h"
#include "diagnose/core/view.h"
#include "diagnose/paste/configs.h"
#include "diagnose/paste/pasted.h"
#include "readers/paste/merge.h"

namespace weir::diagnose {
namespace {

/// The first error or warning; empty where there is none.
std::string loudest(std::string_view text) {
  const readers::Paste paste = readers::read_paste({{"paste.txt", text}});
  std::vector<evidence::Evidence> pieces = paste.evidence;
  for (evidence::Evidence& piece : pasted_configs(paste))
    pieces.push_back(std::move(piece));
  const std::vector<evidence::Evidence> merged = readers::merge_texts(std::move(pieces));
  const View view({merged, nullptr, {}});
  const finding::Judgement judgement = diagnose_paste(paste, view);
  for (const finding::Finding& finding : judgement.findings)
    if (finding.severity > finding::Severity::kInfo) return finding.id;
  return "";
}

struct Shape {
  std::string_view what;
  std::string_view fault;
  std::string_view id;
  std::string_view near;  // no error and no warning
};

void check_shapes(const std::vector<Shape>& shapes) {
  for (const Shape& shape : shapes) {
    EXPECT_EQ(loudest(shape.fault), shape.id) << shape.what;
    EXPECT_EQ(loudest(shape.near), "") << shape.what;
  }
}

TEST(PastedShapes, CountersOfTwoMoments) {
  COVERS("I13");
  check_shapes({
      {"a sentence with both values",
       "rp_cnp_ignored went from 0 to 4112938 in half a minute\nrp_cnp_handled stayed at 12\n",
       "rp.disabled",
       "rp_cnp_handled went from 120 to 4112938 in half a minute\nrp_cnp_ignored stayed at 0\n"},
      {"a rule for an alarm is no measurement",
       "rp_cnp_ignored went from 0 to 4112938\nrp_cnp_handled stayed at 12\n", "rp.disabled",
       "page us when rp_cnp_ignored went from 0 to 4112938\n"},
      {"two columns",
       "counter            before   after\n-----------------  ------   -----\n"
       "out_of_buffer      20       811902\nout_of_sequence    0        0\n",
       "app.receives_too_few",
       "counter            before   after\nout_of_buffer      811902   811902\n"
       "out_of_sequence    0        0\n"},
      {"two hosts side by side are no window",
       "counter            before   after\nout_of_buffer      20       811902\n",
       "app.receives_too_few",
       "counter            gpu01    gpu02\nout_of_buffer      20       811902\n"},
      {"a file of the kernel, twice",
       "h4$ cat /sys/class/net/ens5np0/carrier_changes\n14\n"
       "h4$ cat /sys/class/net/ens5np0/carrier_changes\n30\n",
       "link.flapping",
       "h4$ cat /sys/class/net/ens5np0/carrier_changes\n30\n"
       "h4$ cat /sys/class/net/ens5np0/carrier_changes\n30\n"},
      {"an exporter, twice",
       "node_infiniband_link_downed_total{device=\"mlx5_3\",port=\"1\",instance=\"g1:9100\"} 57\n"
       "later\n"
       "node_infiniband_link_downed_total{device=\"mlx5_3\",port=\"1\",instance=\"g1:9100\"} 63\n",
       "link.flapping",
       "node_infiniband_link_downed_total{device=\"mlx5_3\",port=\"1\",instance=\"g1:9100\"} 57\n"},
  });
}

TEST(PastedShapes, PortsThatAreDown) {
  COVERS("C2");
  check_shapes({
      {"a member of a bond",
       "$ cat /proc/net/bonding/bond0\nEthernet Channel Bonding Driver: v6.8.0\n\n"
       "Bonding Mode: IEEE 802.3ad Dynamic link aggregation\nMII Status: up\n\n"
       "Slave Interface: ens1f0np0\nMII Status: up\nSpeed: 100000 Mbps\n\n"
       "Slave Interface: ens1f1np1\nMII Status: down\nSpeed: Unknown\n",
       "link.degraded",
       "$ cat /proc/net/bonding/bond0\nEthernet Channel Bonding Driver: v6.8.0\n\n"
       "Bonding Mode: IEEE 802.3ad Dynamic link aggregation\nMII Status: up\n\n"
       "Slave Interface: ens1f0np0\nMII Status: up\nSpeed: 100000 Mbps\n\n"
       "Slave Interface: ens1f1np1\nMII Status: up\nSpeed: 100000 Mbps\n"},
      {"one of four RDMA ports; its MTU is none",
       "hca_id:\tmlx5_0\n\tstate:\tPORT_ACTIVE (4)\n\tactive_mtu:\t4096 (5)\n"
       "hca_id:\tmlx5_1\n\tstate:\tPORT_ACTIVE (4)\n\tactive_mtu:\t4096 (5)\n"
       "hca_id:\tmlx5_2\n\tstate:\tPORT_DOWN (1)\n\tactive_mtu:\t1024 (3)\n"
       "hca_id:\tmlx5_3\n\tstate:\tPORT_ACTIVE (4)\n\tactive_mtu:\t4096 (5)\n"
       "NCCL sees three NICs\n",
       "link.degraded",
       "hca_id:\tmlx5_0\n\tstate:\tPORT_ACTIVE (4)\n\tactive_mtu:\t4096 (5)\n"
       "hca_id:\tmlx5_1\n\tstate:\tPORT_DOWN (1)\n\tactive_mtu:\t1024 (3)\n"
       "the second port is not cabled\n"},
      {"no route from a rail",
       "n1# ip route get 10.33.2.19 oif rail2\nRTNETLINK answers: "
       "Network is unreachable\n",
       "rail.no_route",
       "n1# ip route get 10.33.2.19 oif rail2\n10.33.2.19 via 10.32.2.1 dev rail2 src 10.32.2.12 "
       "uid 0\n"},
  });
}

TEST(PastedShapes, SettingsThatContradictEachOther) {
  COVERS("C1");
  constexpr std::string_view kHost =
      "g1# mlnx_qos -i ens1np0\nDCBX mode: OS controlled\nPriority trust state: dscp\n"
      "PFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n"
      "\tenabled     0   0   0   1   0   0   0   0   \n";
  const std::string mask =
      "g1# mlxconfig -d 0000:5e:00.0 q ROCE_CC_PRIO_MASK_P1\nDevice type:        ConnectX6DX\n"
      "Device:             0000:5e:00.0\n\nConfigurations:          Next Boot\n"
      "        ROCE_CC_PRIO_MASK_P1                        ";
  const std::string roce =
      "cumulus@leaf1:~$ nv show qos roce\n                    operational  applied\n"
      "------------------  -----------  --------\nmode                lossless     lossless\n"
      "pfc\n  pfc-priority      ";
  const std::string fleet =
      "n101: mlx5_0 trust=dscp tc=106 pfc=0,0,0,1,0,0,0,0\n"
      "n102: mlx5_0 trust=dscp tc=106 pfc=0,0,0,1,0,0,0,0\nn103: mlx5_0 trust=";
  const std::string wrong_mask = std::string(kHost) + mask + "16\n";
  const std::string right_mask = std::string(kHost) + mask + "255\n";
  const std::string wrong_roce = std::string(kHost) + roce + "5\n";
  const std::string right_roce = std::string(kHost) + roce + "3\n";
  const std::string wrong_fleet = fleet + "pcp tc=106 pfc=0,0,0,1,0,0,0,0\n";
  const std::string right_fleet = fleet + "dscp tc=106 pfc=0,0,0,1,0,0,0,0\n";
  check_shapes({
      {"the firmware controls another priority", wrong_mask, "rp.disabled", right_mask},
      {"the switch pauses another priority", wrong_roce, "pfc.wrong_priority", right_roce},
      {"one host of several", wrong_fleet, "trust.not_dscp", right_fleet},
      {"a profile of SONiC that drops",
       "admin@l1:~$ show ecn\nProfile: AZURE_LOSSLESS\n-------  --------\necn      ecn_none\n"
       "-------  --------\n",
       "ecn.off_on_lossless",
       "admin@l1:~$ show ecn\nProfile: AZURE_LOSSLESS\n-------  --------\necn      ecn_all\n"
       "-------  --------\n"},
  });
  EXPECT_EQ(loudest(mask + "16\n"), "") << "which priority RDMA has the text does not say";
}

std::string queue_of_junos(unsigned dropped, std::string_view name) {
  return fmt::format(
      "u@qfx1> show interfaces queue et-0/0/18\nPhysical interface: et-0/0/18, up, Physical link "
      "is Up\nQueue: 4, Forwarding classes: {}\n  Transmitted:\n    Packets              :    "
      "73201188450               4210233 pps\n    Tail-dropped packets :    {}     0 pps\n",
      name, dropped);
}

TEST(PastedShapes, QueuesThatDropAndPortsThatWereForgotten) {
  COVERS("D4");
  const std::string drops = queue_of_junos(10, "NO-LOSS") + queue_of_junos(4010, "NO-LOSS");
  const std::string none = queue_of_junos(4010, "NO-LOSS") + queue_of_junos(4010, "NO-LOSS");
  const std::string lossy = queue_of_junos(10, "bulk") + queue_of_junos(4010, "bulk");
  EXPECT_EQ(loudest(drops), "pfc.off");
  EXPECT_EQ(loudest(none), "");
  EXPECT_EQ(loudest(lossy), "") << "a queue that may drop";
  const auto ports = [](std::string_view second) {
    return fmt::format(
        "n1# show running-config interface ethernet 1/1-3\n\ninterface Ethernet1/1\n"
        "  priority-flow-control mode on\n  service-policy type qos input ROCE\n\n"
        "interface Ethernet1/2\n{}\ninterface Ethernet1/3\n"
        "  priority-flow-control mode on\n  service-policy type qos input ROCE\n",
        second);
  };
  EXPECT_EQ(loudest(ports("  priority-flow-control mode on\n")), "fleet.drift");
  EXPECT_EQ(loudest(ports("  description uplink\n")), "") << "another kind of port";
  EXPECT_EQ(loudest(ports("  priority-flow-control mode on\n  service-policy type qos input "
                          "ROCE\n")),
            "");
}

TEST(PastedShapes, LogsOfSwitchesAndCarriersOfRails) {
  COVERS("I18");
  const auto log = [](int times) {
    std::string out;
    for (int n = 0; n < times; ++n)
      out += fmt::format(
          "Oct  6 10:{0:02}:02 leaf1 Ebra: %LINEPROTO-5-UPDOWN: Line protocol on Interface "
          "Ethernet12/1, changed state to down\nOct  6 10:{0:02}:09 leaf1 Ebra: "
          "%LINEPROTO-5-UPDOWN: Line protocol on Interface Ethernet12/1, changed state to up\n",
          n);
    return out;
  };
  EXPECT_EQ(loudest(log(4)), "link.flapping");
  EXPECT_EQ(loudest(log(3)), "") << "a restart of the host does that";
  EXPECT_EQ(loudest(log(1)), "") << "a host that was booted";
  const auto links = [](std::string_view third) {
    return fmt::format(
        "n1# ip -br link\n"
        "rail0  UP    b8:3f:d2:00:00:01 <BROADCAST,MULTICAST,UP,LOWER_UP>\n"
        "rail1  UP    b8:3f:d2:00:00:02 <BROADCAST,MULTICAST,UP,LOWER_UP>\n"
        "rail2  {}\n",
        third);
  };
  EXPECT_EQ(loudest(links("DOWN  b8:3f:d2:00:00:03 <NO-CARRIER,BROADCAST,MULTICAST,UP>")),
            "link.degraded");
  EXPECT_EQ(loudest(links("DOWN  b8:3f:d2:00:00:03 <BROADCAST,MULTICAST>")), "") << "shut down";
}

TEST(PastedShapes, FormsOfOneTool) {
  COVERS("C1");
  check_shapes({
      {"counters as JSON",
       "$ rdma -j statistic show\n[{\"ifname\":\"mlx5_0\",\"port\":1,"
       "\"np_ecn_marked_roce_packets\":8120331,\"np_cnp_sent\":0}]\n",
       "np.disabled",
       "$ rdma -j statistic show\n[{\"ifname\":\"mlx5_0\",\"port\":1,"
       "\"np_ecn_marked_roce_packets\":8120331,\"np_cnp_sent\":7120331}]\n"},
      {"DCB as JSON, over several lines",
       "$ dcb -jp pfc show dev ens1np0\n{\n  \"pfc_cap\": 8,\n"
       "  \"prio_pfc\": [ false,false,false,false,false,false,false,false ]\n}\n",
       "pfc.off",
       "$ dcb -jp pfc show dev ens1np0\n{\n  \"pfc_cap\": 8,\n"
       "  \"prio_pfc\": [ false,false,false,true,false,false,false,false ]\n}\n"},
      {"nicctl",
       "# nicctl show qos\n  Classification type     : PCP\n  PFC :\n"
       "    PFC no-drop priorities  : 3\n",
       "trust.not_dscp",
       "# nicctl show qos\n  Classification type     : DSCP\n  DSCP-to-priority :\n"
       "    DSCP                    : 26 ==> priority : 3\n  PFC :\n"
       "    PFC no-drop priorities  : 3\n"},
      {"tracepath",
       "$ tracepath -n 10.2.0.9\n 1?: [LOCALHOST]    pmtu 9000\n 1:  10.1.0.1  0.211ms\n"
       " 2:  10.1.9.1  0.310ms pmtu 1500\n     Resume: pmtu 1500 hops 2 back 2\n",
       "mtu.mismatch",
       "$ tracepath -n 10.2.0.9\n 1?: [LOCALHOST]    pmtu 9000\n 1:  10.1.0.1  0.211ms\n"
       "     Resume: pmtu 9000 hops 2 back 2\n"},
      {"statements of Junos",
       "set class-of-service interfaces et-0/0/1 congestion-notification-profile CNP\n"
       "set class-of-service interfaces et-0/0/1 unit 0 classifiers dscp CLS\n"
       "set class-of-service interfaces et-0/0/2 congestion-notification-profile CNP\n"
       "set class-of-service interfaces et-0/0/2 unit 0 classifiers dscp CLS\n"
       "set class-of-service interfaces et-0/0/3 unit 0 classifiers dscp CLS\n",
       "fleet.drift",
       "set class-of-service interfaces et-0/0/1 congestion-notification-profile CNP\n"
       "set class-of-service interfaces et-0/0/2 congestion-notification-profile CNP\n"
       "set class-of-service interfaces et-0/0/3 congestion-notification-profile CNP\n"},
      {"bandwidths of pairs",
       "n1-n2   391.2\nn1-n3   390.8\nn1-n4   98.1\nn2-n3   391.0\n"
       "n2-n4   97.9\n",
       "host.straggler", "n1-n2   391.2\nn1-n3   390.8\nn1-n4   390.1\nn2-n3   391.0\n"},
  });
}

TEST(PastedShapes, ReadingsOfWhichThePersonSaysHowFarApartTheyAre) {
  COVERS("I1");
  const auto frames = [](std::string_view wait, unsigned later) {
    return fmt::format(
        "leaf#show priority-flow-control counters\nPort RxPfc TxPfc\nEt1/1 0 0\n"
        "Et2/1 9182736 0\n{}\nleaf#show priority-flow-control counters\nPort RxPfc TxPfc\n"
        "Et1/1 0 0\nEt2/1 {} 0\n",
        wait, later);
  };
  EXPECT_EQ(loudest(frames("(30 seconds later)", 12182736)), "pfc.storm");
  EXPECT_EQ(loudest(frames("(10 minutes later)", 9183736)), "");
  EXPECT_EQ(loudest(frames("later", 12182736)), "") << "how long it was nobody says";
}

TEST(PastedShapes, WhatOneFaultExplains) {
  COVERS("C6");
  check_shapes({
      {"the firmware of a NIC stopped, and its link went down",
       "[884120.118] ionic 0000:61:00.0: FW heartbeat stalled at 4294838272\n"
       "[884120.119] ionic 0000:61:00.0 benic3p1: Link down\n"
       "[884145.902] ionic 0000:61:00.0: FW recovery failed: -110\n",
       "nic.failed", "[    4.118] ionic 0000:61:00.0: FW: 1.110.0\n"},
      {"buffers that a measured round trip does not allow",
       "$ ping -c3 10.2.0.4 | tail -1\nrtt min/avg/max/mdev = 27.9/28.0/28.1/0.04 ms\n"
       "$ sysctl net.ipv4.tcp_rmem\nnet.ipv4.tcp_rmem = 4096\t87380\t212992\n",
       "host.tcp_untuned",
       "$ ping -c3 10.2.0.4 | tail -1\nrtt min/avg/max/mdev = 0.021/0.030/0.041/0.004 ms\n"
       "$ sysctl net.ipv4.tcp_rmem\nnet.ipv4.tcp_rmem = 4096\t87380\t212992\n"},
      {"broken frames of a Cumulus port",
       "cumulus@l1:~$ nv show interface swp12 counters errors\nFCS Errors               88120\n"
       "cumulus@l1:~$ nv show interface swp12 counters errors\nFCS Errors               102441\n",
       "link.physical_errors",
       "cumulus@l1:~$ nv show interface swp12 counters errors\nFCS Errors               88120\n"
       "cumulus@l1:~$ nv show interface swp12 counters errors\nFCS Errors               88120\n"},
      {"an InfiniBand port among Ethernet ones",
       "$ ibstat mlx5_6\nCA 'mlx5_6'\n\tPort 1:\n\t\tState: Down\n\t\tPhysical state: Polling\n"
       "\t\tRate: 10\n\t\tLink layer: InfiniBand\n\nthe other seven are Ethernet and up\n",
       "link.infiniband",
       "$ ibstat mlx5_6\nCA 'mlx5_6'\n\tPort 1:\n\t\tState: Active\n"
       "\t\tPhysical state: LinkUp\n\t\tRate: 400\n\t\tLink layer: InfiniBand\n"},
      {"counters of a rule for alarms", "link_downed +57\n", "link.flapping",
       "  expr: increase(link_downed[10m]) > 57\n"},
      {"a port that was shut",
       "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev e0\n"
       "link mlx5_1/1 state DOWN physical_state POLLING netdev e1\n",
       "link.degraded",
       "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev e0\n"
       "link mlx5_1/1 state DOWN physical_state DISABLED netdev e1\n"},
      {"another socket; a board without PCIe switches",
       "\tGPU0\tGPU1\tNIC0\nGPU0\t X \tNV18\tSYS\nGPU1\tNV18\t X \tNODE\n"
       "NIC0\tSYS\tNODE\t X \n",
       "pcie.gpu_far",
       "\tGPU0\tGPU1\tNIC0\nGPU0\t X \tNV18\tNODE\nGPU1\tNV18\t X \tNODE\n"
       "NIC0\tNODE\tNODE\t X \n"},
  });
}

TEST(PastedShapes, WordsAroundOutputs) {
  check_shapes({
      {"a ping's size is no MTU", "gpu1 active_mtu 4096\ngpu2 active_mtu 1024\n", "mtu.mismatch",
       "MTU 9000 everywhere (ping -M do -s 8972 ok)\n"},
      {"a link-local source",
       "h1:1:2 [0] NCCL WARN NET/IB: Got completion from peer 10.1.0.4<4> with "
       "status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0) vendor_err=129 localGid "
       "fe80::a2:1 remoteGids fe80::a2:2 hca mlx5_0\n",
       "gid.not_routable",
       "h1:1:2 [0] NCCL WARN NET/IB: Got completion from peer 10.1.0.4<4> with "
       "status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_SEND(0) vendor_err=129 localGid "
       "::ffff:10.1.0.3 remoteGids ::ffff:10.1.0.4 hca mlx5_0\n"},
  });
}

/// `show qos maps` of EOS with the class of DSCP 26, and the priority of PFC on two ports.
std::string eos_map(std::string_view class_of_26, std::string_view pfc, std::string_view words) {
  return fmt::format(
      "leaf5#show qos maps\n   Dscp-tc map:\n     d1 :  d2 0  1  2  3  4  5  6  7  8  9\n"
      "      0 :     1  1  1  1  1  1  1  1  0  0\n      1 :     0  0  0  0  0  0  2  2  2  2\n"
      "      2 :     2  2  2  2  3  3  {}  3  3  3\n      3 :     3  3  4  4  4  4  4  4  4  4\n"
      "      4 :     5  5  5  5  5  5  5  5  6  6\n      5 :     6  6  6  6  6  6  7  7  7  7\n"
      "      6 :     7  7  7  7\nleaf5#show priority-flow-control status | include Et\n"
      "Et1/1 E A W  {}   -   -   - / -   - / -   DCBX disabled\n"
      "Et2/1 E A W  {}   -   -   - / -   - / -   DCBX disabled\n{}\n",
      class_of_26, pfc, pfc, words);
}

TEST(PastedShapes, MapOfASwitchAgainstItsPfcAsTheTextNamesTheCodePoint) {
  COVERS("I14", "I15");
  EXPECT_EQ(loudest(eos_map("1", "3", "On the servers RoCE uses DSCP 26 and CNPs use DSCP 48.")),
            "dscp.unmapped_hop");
  EXPECT_EQ(loudest(eos_map("1", "3", "export NCCL_IB_TC=106")), "dscp.unmapped_hop");
  EXPECT_EQ(loudest(eos_map("3", "4", "hosts mark RDMA with DSCP 26")), "pfc.wrong_priority");
  EXPECT_EQ(loudest(eos_map("3", "3", "hosts mark RDMA with DSCP 26")), "");
  EXPECT_EQ(loudest(eos_map("3", "4", "RoCE is DSCP 34, CNP = DSCP 26")), "");
  EXPECT_EQ(loudest(eos_map("3", "4", "CNPs use DSCP 26")), "");
  EXPECT_EQ(loudest(eos_map("3", "4", "CNP is marked DSCP 26 here")), "");
  // Nobody says which code point RDMA carries: 34 may be the plan, or 24.
  EXPECT_EQ(loudest(eos_map("3", "4", "")), "");
  EXPECT_EQ(loudest(eos_map("1", "3", "")), "");
}

/// Two readings of the overflow of a port, as a filter leaves them.
std::string nxos_overflow(std::string_view after, std::string_view pauses) {
  return fmt::format(
      "n9k# show clock\n08:00:01.111 UTC Mon Oct 12 2026\n"
      "n9k# show queuing interface ethernet 1/9 | i Overflow\n"
      "Ingress Overflow Drop Pkts                    : 10233\n"
      "n9k# show interface ethernet 1/9 priority-flow-control\n"
      "Port               Mode Oper(VL bmap)  RxPPP      TxPPP\n"
      "Ethernet1/9        On   On  (8)       120        8812033\n"
      "n9k# show clock\n08:01:01.413 UTC Mon Oct 12 2026\n"
      "n9k# show queuing interface ethernet 1/9 | i Overflow\n"
      "Ingress Overflow Drop Pkts                    : {}\n"
      "n9k# show interface ethernet 1/9 priority-flow-control\n"
      "Port               Mode Oper(VL bmap)  RxPPP      TxPPP\n"
      "Ethernet1/9        On   On  (8)       120        {}\n",
      after, pauses);
}

TEST(PastedShapes, OverflowOfANexusPortBelongsToItsLosslessPriority) {
  COVERS("I10");
  EXPECT_EQ(loudest(nxos_overflow("40120", "8990331")), "headroom.too_small");
  EXPECT_EQ(loudest(nxos_overflow("10233", "8812040")), "");
}

TEST(PastedShapes, LinksAndWatchdogs) {
  check_shapes({
      {"bits that the error correction let through",
       "# mlxlink -d mlx5_4 -c\nOperational Info\n----------------\nState : Active\n"
       "Physical Counters and BER Info\n------------------------------\n"
       "Effective Physical Errors : 48213\nEffective Physical BER : 2E-10\n",
       "link.physical_errors",
       "# mlxlink -d mlx5_4 -c\nOperational Info\n----------------\nState : Active\n"
       "Physical Counters and BER Info\n------------------------------\n"
       "Effective Physical Errors : 2\nEffective Physical BER : 8E-17\nSymbol BER : 15E-255\n"},
      {"signs of an alarm in a table of EOS",
       "leaf2#show interfaces Ethernet14/1 transceiver detail\n"
       "                     High Alarm  High Warn  Low Alarm  Low Warn\n"
       "   Optical Rx Power  Threshold   Threshold  Threshold  Threshold\n"
       "Port      (dBm)      (dBm)       (dBm)      (dBm)      (dBm)\n"
       "Et14/1    -13.21 --   7.00        4.00      -10.00     -7.90\n",
       "link.physical_errors",
       "leaf2#show interfaces Ethernet14/1 transceiver detail\n"
       "                     High Alarm  High Warn  Low Alarm  Low Warn\n"
       "   Optical Rx Power  Threshold   Threshold  Threshold  Threshold\n"
       "Port      (dBm)      (dBm)       (dBm)      (dBm)      (dBm)\n"
       "Et14/1     -8.21 -    7.00        4.00      -10.00     -7.90\n"},
      {"a table of watchdogs without a row",
       "admin@leaf1:~$ show pfc priority\nInterface    Lossless priorities\n"
       "-----------  ---------------------\nEthernet0    3\n"
       "admin@leaf1:~$ show pfcwd config\nPORT    ACTION    DETECTION TIME    RESTORATION TIME\n"
       "------  --------  ----------------  ------------------\nadmin@leaf1:~$ show version\n",
       "watchdog.off",
       "admin@leaf1:~$ show pfcwd config\nPORT    ACTION    DETECTION TIME    RESTORATION TIME\n"
       "------  --------  ----------------  ------------------\nadmin@leaf1:~$ show version\n"},
      {"a watchdog that holds a queue after the storm",
       "admin@leaf1:~$ show pfcwd stats; date\n"
       "QUEUE  STATUS  STORM DETECTED/RESTORED  TX OK/DROP  RX OK/DROP  TX LAST OK/DROP  RX LAST "
       "OK/DROP\nEthernet20:3  stormed  1/0  0/88  0/0  0/88  0/0\nTue Apr 14 10:00:00 UTC 2026\n"
       "admin@leaf1:~$ show pfc counters\n"
       "Port Rx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7\n"
       "Ethernet20    0    0    0    44120    0    0    0    0\n"
       "admin@leaf1:~$ show pfcwd stats; date\n"
       "QUEUE  STATUS  STORM DETECTED/RESTORED  TX OK/DROP  RX OK/DROP  TX LAST OK/DROP  RX LAST "
       "OK/DROP\nEthernet20:3  stormed  1/0  0/99  0/0  0/99  0/0\nTue Apr 14 10:10:00 UTC 2026\n"
       "admin@leaf1:~$ show pfc counters\n"
       "Port Rx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7\n"
       "Ethernet20    0    0    0    44120    0    0    0    0\n",
       "watchdog.stuck",
       "admin@leaf1:~$ show pfcwd stats\n"
       "QUEUE  STATUS  STORM DETECTED/RESTORED  TX OK/DROP  RX OK/DROP  TX LAST OK/DROP  RX LAST "
       "OK/DROP\nEthernet20:3  operational  1/1  0/88  0/0  0/88  0/0\n"},
  });
}

TEST(PastedShapes, HostsAndTheirJobs) {
  check_shapes({
      {"the loop over the roles in small letters",
       "prio 2 np=1 rp=1\nprio 3 np=1 rp=0\nprio 4 np=1 rp=1\n", "rp.disabled",
       "prio 2 np=0 rp=0\nprio 3 np=1 rp=1\nprio 4 np=0 rp=0\n"},
      {"several counters by one cat",
       "10:00:00 # cat /sys/class/infiniband/mlx5_6/ports/1/hw_counters/{out_of_buffer,"
       "rnr_nak_retry_err}\n20\n0\n10:01:00 # cat /sys/class/infiniband/mlx5_6/ports/1/"
       "hw_counters/{out_of_buffer,rnr_nak_retry_err}\n811902\n0\n",
       "app.receives_too_few",
       "10:00:00 # cat /sys/class/infiniband/mlx5_6/ports/1/hw_counters/{out_of_buffer,"
       "rnr_nak_retry_err}\n811902\n0\n10:01:00 # cat /sys/class/infiniband/mlx5_6/ports/1/"
       "hw_counters/{out_of_buffer,rnr_nak_retry_err}\n811902\n0\n"},
      {"a timer below the round trip",
       "$ ping -c 1 10.2.1.9\nPING 10.2.1.9 (10.2.1.9) 56(84) bytes of data.\n"
       "64 bytes from 10.2.1.9: icmp_seq=1 ttl=60 time=4.11 ms\n\n"
       "--- 10.2.1.9 ping statistics ---\n1 packets transmitted, 1 received, 0% packet loss, "
       "time 0ms\nrtt min/avg/max/mdev = 4.104/4.110/4.121/0.007 ms\n"
       "export NCCL_IB_TIMEOUT=8\n",
       "transport.timer_below_rtt",
       "$ ping -c 1 10.2.1.9\nPING 10.2.1.9 (10.2.1.9) 56(84) bytes of data.\n"
       "64 bytes from 10.2.1.9: icmp_seq=1 ttl=60 time=4.11 ms\n\n"
       "--- 10.2.1.9 ping statistics ---\n1 packets transmitted, 1 received, 0% packet loss, "
       "time 0ms\nrtt min/avg/max/mdev = 4.104/4.110/4.121/0.007 ms\n"
       "export NCCL_IB_TIMEOUT=20\n"},
      {"cables against a plan that lists each port",
       "plan: ens1 -> leaf1, ens2 -> leaf2, ens3 -> leaf3\n"
       "[root@gpu07 ~]# lldpcli show neighbors\nInterface:    ens1, via: LLDP\n"
       "    SysName:      leaf1\nInterface:    ens2, via: LLDP\n    SysName:      leaf3\n"
       "Interface:    ens3, via: LLDP\n    SysName:      leaf2\n",
       "wiring.mismatch",
       "plan: ens1 -> leaf1, ens2 -> leaf2, ens3 -> leaf3\n"
       "[root@gpu07 ~]# lldpcli show neighbors\nInterface:    ens1, via: LLDP\n"
       "    SysName:      leaf1\nInterface:    ens2, via: LLDP\n    SysName:      leaf2\n"
       "Interface:    ens3, via: LLDP\n    SysName:      leaf3\n"},
      {"a test without its banner that uses link-local addresses",
       "local address: LID 0000 QPN 0x0a2b PSN 0x31a2f1 RKey 0x20ab00 VAddr 0x007f2a100000\n"
       "GID: 254:128:00:00:00:00:00:00:14:02:236:255:254:33:01:09\n"
       "#bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n"
       " Completion with error at client\n Failed status 12: wr_id 0 syndrom 0x81\n",
       "gid.not_routable",
       "local address: LID 0000 QPN 0x0a2b PSN 0x31a2f1 RKey 0x20ab00 VAddr 0x007f2a100000\n"
       "GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:00:01:22\n"
       "#bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
       " 65536      22408681         0.00               391.62             0.746956\n"},
  });
}

TEST(PastedShapes, LinesOfHostsContainersAndWordsBehindOutputs) {
  check_shapes({
      {"counters of a NIC, a reading a line",
       "gpu22 10:00:00 mlx5_4 packet_seq_err=112 out_of_sequence=31 local_ack_timeout_err=7\n"
       "gpu22 10:01:00 mlx5_4 packet_seq_err=45112 out_of_sequence=882031 "
       "local_ack_timeout_err=911\n",
       "path.loss",
       "gpu22 10:00:00 mlx5_4 packet_seq_err=112 out_of_sequence=31 local_ack_timeout_err=7\n"
       "gpu22 10:01:00 mlx5_4 packet_seq_err=112 out_of_sequence=31 local_ack_timeout_err=7\n"},
      {"one field of lldptool",
       "[root@c01 ~]# lldptool -t -i ens2f0np0 -V PFC -c willing\nwilling=yes\n", "dcbx.willing",
       "[root@c01 ~]# lldptool -t -i ens2f0np0 -V PFC -c willing\nwilling=no\n"},
      {"a container is named by its id", "root@4a2e1:/# ulimit -l\n64\n", "limits.memlock_low",
       "root@4a2e1:/# ulimit -l\nunlimited\n"},
      {"a sentence behind an output that is not read",
       "jnpr@leaf2> show class-of-service classifier name roce\n"
       "Classifier: roce, Code point type: dscp, Index: 11\n"
       "  Code point         Forwarding class                    Loss priority\n"
       "  011010             best-effort                         low\n"
       "  011000             no-loss                             low\n\n"
       "jnpr@leaf2> show class-of-service forwarding-class\n"
       "Forwarding class       ID      Queue  Policing priority  No-Loss   PFC priority\n"
       "  no-loss              1       3       normal           Enabled      3\n"
       "Our hosts send RoCE with DSCP 26.\n",
       "dscp.unmapped_hop",
       "jnpr@leaf2> show class-of-service classifier name roce\n"
       "Classifier: roce, Code point type: dscp, Index: 11\n"
       "  Code point         Forwarding class                    Loss priority\n"
       "  011010             best-effort                         low\n"
       "  011000             no-loss                             low\n\n"
       "jnpr@leaf2> show class-of-service forwarding-class\n"
       "Forwarding class       ID      Queue  Policing priority  No-Loss   PFC priority\n"
       "  no-loss              1       3       normal           Enabled      3\n"
       "Our hosts send RoCE with DSCP 24.\n"},
      {"a bond beside the rails is none of them",
       "export NCCL_IB_HCA=mlx5_0,mlx5_1\n$ ibdev2netdev\nmlx5_0 port 1 ==> ens1np0 (Up)\n"
       "mlx5_1 port 1 ==> ens2np0 (Up)\nmlx5_2 port 1 ==> ens3np0 (Up)\n",
       "nccl.hca_list_short",
       "export NCCL_IB_HCA=mlx5_0,mlx5_1\n$ ibdev2netdev\nmlx5_0 port 1 ==> ens1np0 (Up)\n"
       "mlx5_1 port 1 ==> ens2np0 (Up)\nmlx5_bond_0 port 1 ==> bond0 (Up)\n"},
      {"devices that a job exports and the host has not",
       "export NCCL_IB_HCA=mlx5_8,mlx5_9\n$ ibdev2netdev\nmlx5_0 port 1 ==> ens1np0 (Up)\n"
       "mlx5_1 port 1 ==> ens2np0 (Up)\n",
       "nccl.hca_unknown",
       "export NCCL_IB_HCA=mlx5_0,mlx5_1\n$ ibdev2netdev\nmlx5_0 port 1 ==> ens1np0 (Up)\n"
       "mlx5_1 port 1 ==> ens2np0 (Up)\n"},
  });
}

TEST(PastedShapes, ADeviceAndItsInterfacePastedApartAreOneNic) {
  const auto text = [](std::string_view netdev) {
    return fmt::format(
        "# ethtool -S {} | grep prio3_pause\nrx_prio3_pause: 5\n"
        "# cat /sys/class/infiniband/mlx5_6/ports/1/hw_counters/np_cnp_sent\n9\n",
        netdev);
  };
  const auto nics = [&](std::string_view netdev) {
    return readers::read_paste({{"paste.txt", text(netdev)}}).evidence.front().nics.size();
  };
  EXPECT_EQ(nics("ens6np0"), 1U);
  EXPECT_EQ(nics("eno1"), 2U);  // named for something else
}

TEST(PastedShapes, RanksWithDifferentReleasesOfNcclAreNotTheFabrics) {
  const readers::Paste paste =
      readers::read_paste({{"log",
                            "h1:112:190 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\n"
                            "h2:118:201 [0] NCCL INFO NCCL version 2.18.3+cuda12.1\n"}});
  const finding::Judgement judgement = diagnose_paste(paste, View({paste.evidence, nullptr, {}}));
  EXPECT_EQ(judgement.conclusion, finding::Conclusion::kNotFabric);
}

TEST(PastedShapes, PortsThatNobodyUsesAndServersOlderThanTheirCards) {
  check_shapes({
      {"one of two ports; two of four",
       "mlx5_0 port 1 ==> ens1np0 (Up)\nmlx5_1 port 1 ==> ens2np0 (Down)\n", "link.degraded",
       "mlx5_0 port 1 ==> ens1np0 (Up)\nmlx5_1 port 1 ==> ens2np0 (Up)\n"
       "mlx5_2 port 1 ==> ens3np0 (Down)\nmlx5_3 port 1 ==> ens4np0 (Down)\n"},
      {"lanes that are missing; a slot of an older generation",
       "[    3.120441] mlx5_core 0000:9a:00.0: 126.024 Gb/s available PCIe bandwidth, limited by "
       "16.0 GT/s PCIe x8 link at 0000:98:01.0 (capable of 252.048 Gb/s with 16.0 GT/s PCIe x16 "
       "link)\n",
       "pcie.link_degraded",
       "[    3.120441] mlx5_core 0000:9a:00.0: 252.048 Gb/s available PCIe bandwidth, limited by "
       "16.0 GT/s PCIe x16 link at 0000:98:01.0 (capable of 504.112 Gb/s with 32.0 GT/s PCIe x16 "
       "link)\n"},
      {"a heading with the length of the window",
       "counter          t0     t0+60s\nrp_cnp_handled   1202   1202\n"
       "rp_cnp_ignored   0      3312003\n",
       "rp.disabled",
       "counter          t0     t0+60s\nrp_cnp_handled   1202   3312003\n"
       "rp_cnp_ignored   0      0\n"},
      {"rates of SONiC with packets per second",
       "admin@leaf3:~$ show interfaces counters rates\n"
       "IFACE STATE RX_OK RX_BPS RX_PPS RX_UTIL TX_OK TX_BPS TX_PPS TX_UTIL\n"
       "Ethernet480 U 112 6210.11 MB/s 1.5M/s 12.42% 991 48910.2 MB/s 11.9M/s 97.82%\n"
       "Ethernet484 U 112 6190.11 MB/s 1.5M/s 12.38% 11 210.2 MB/s 0.05M/s 0.42%\n"
       "Ethernet488 U 112 6230.11 MB/s 1.5M/s 12.46% 981 48810.2 MB/s 11.8M/s 97.62%\n"
       "Ethernet492 U 112 6205.11 MB/s 1.5M/s 12.41% 10 190.2 MB/s 0.05M/s 0.38%\n",
       "ecmp.imbalance",
       "admin@leaf3:~$ show interfaces counters rates\n"
       "IFACE STATE RX_OK RX_BPS RX_PPS RX_UTIL TX_OK TX_BPS TX_PPS TX_UTIL\n"
       "Ethernet480 U 112 6210.11 MB/s 1.5M/s 12.42% 991 28910.2 MB/s 11.9M/s 57.82%\n"
       "Ethernet484 U 112 6190.11 MB/s 1.5M/s 12.38% 971 28210.2 MB/s 11.5M/s 56.42%\n"
       "Ethernet488 U 112 6230.11 MB/s 1.5M/s 12.46% 981 28810.2 MB/s 11.8M/s 57.62%\n"
       "Ethernet492 U 112 6205.11 MB/s 1.5M/s 12.41% 961 28190.2 MB/s 11.5M/s 56.38%\n"},
  });
}

/// Ports that nobody uses are no excuse for another that is used and degraded.
TEST(PastedShapes, UnusedPortsBesideADegradedOne) {
  COVERS("I18");
  const auto port = [](std::string_view name, std::string_view speed, std::string_view duplex,
                       std::string_view link) {
    return fmt::format(
        "root@n1:~# ethtool {}\nSettings for {}:\n\tSpeed: {}\n\tDuplex: {}\n"
        "\tLink detected: {}\n",
        name, name, speed, duplex, link);
  };
  const std::string unused = port("ens1np0", "Unknown!", "Unknown! (255)", "no") +
                             port("ens2np0", "Unknown!", "Unknown! (255)", "no");
  EXPECT_EQ(loudest(unused + port("ens3np0", "400000Mb/s", "Full", "yes")), "");
  EXPECT_EQ(loudest(unused + port("ens3np0", "400000Mb/s", "Half", "yes")), "link.degraded");
}

}  // namespace
}  // namespace weir::diagnose
