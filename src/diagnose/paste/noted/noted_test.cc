// What is noted beside the readers, judged: each fault as systems show it, and a text near it that
// shows none.
#include <array>

#include <fmt/format.h>

#include "base/testing.h"
#include "diagnose/core/view.h"
#include "diagnose/paste/configs.h"
#include "diagnose/paste/pasted.h"
#include "finding/shown.h"
#include "readers/paste/merge.h"

namespace weir::diagnose {
namespace {

/// Whether a text leads to it, as a warning or an error.
bool leads_to(std::string_view text, std::string_view id, const finding::Thresholds& limits = {}) {
  const readers::Paste paste = readers::read_paste({{"paste.txt", text}});
  std::vector<evidence::Evidence> pieces = paste.evidence;
  for (evidence::Evidence& piece : pasted_configs(paste))
    pieces.push_back(std::move(piece));
  const std::vector<evidence::Evidence> merged = readers::merge_texts(std::move(pieces));
  const View view({merged, nullptr, limits});
  finding::Judgement judgement = diagnose_paste(paste, view);
  std::erase_if(judgement.findings, [](const finding::Finding& finding) {
    return finding.severity == finding::Severity::kInfo;
  });
  return finding::is_raised(judgement.findings, id);
}

constexpr std::string_view kEosmapDrift =
    "nccl env: NCCL_IB_TC=104 on all ranks. only receivers behind leaf12 lose "
    "packets\n"
    "$ for l in leaf10 leaf11 leaf12 leaf13; do echo -n \"$l: \"; ssh $l "
    "sonic-db-cli CONFIG_DB hget \"DSCP_TO_TC_MAP\\|AZURE\" 26; done\n"
    "leaf10: 3\n"
    "leaf11: 3\n"
    "leaf12: 0\n"
    "leaf13: 3\n";

constexpr std::string_view kEosmapOk =
    "nccl env: NCCL_IB_TC=104 on all ranks\n"
    "$ for l in leaf10 leaf11 leaf12 leaf13; do echo -n \"$l: \"; ssh $l "
    "sonic-db-cli CONFIG_DB hget \"DSCP_TO_TC_MAP\\|AZURE\" 26; done\n"
    "leaf10: 3\n"
    "leaf11: 3\n"
    "leaf12: 3\n"
    "leaf13: 3\n";

TEST(Noted, MapsOfSisters) {
  COVERS("D8");
  EXPECT_TRUE(leads_to(kEosmapDrift, "dscp.unmapped_hop"));
  EXPECT_FALSE(leads_to(kEosmapOk, "dscp.unmapped_hop"));
}

constexpr std::string_view kSonicPfcPrioMissing =
    "admin@leaf4:~$ show pfc priority\n"
    "Interface    Lossless priorities\n"
    "-----------  ---------------------\n"
    "Ethernet0    3,4\n"
    "Ethernet8    3,4\n"
    "Ethernet16   3,4\n"
    "Ethernet24   N/A\n"
    "Ethernet32   3,4\n"
    "admin@leaf4:~$ show interfaces counters\n"
    "      IFACE    STATE      RX_OK        RX_BPS    RX_UTIL    RX_ERR    RX_DRP  "
    "  RX_OVR      TX_OK        TX_BPS    TX_UTIL    TX_ERR    TX_DRP    TX_OVR\n"
    "-----------  -------  ---------  ------------  ---------  --------  --------  "
    "--------  ---------  ------------  ---------  --------  --------  --------\n"
    "  Ethernet0        U  881,203,338  1021.20 MB/s     20.42%         0         "
    "0         0  804,410,203  1110.75 MB/s     22.21%         0         0         "
    "0\n"
    "  Ethernet8        U  891,203,338  1021.20 MB/s     20.42%         0         "
    "0         0  804,410,203  1110.75 MB/s     22.21%         0         0         "
    "0\n"
    " Ethernet16        U  881,203,338  1021.20 MB/s     20.42%         0         "
    "0         0  804,410,203  1110.75 MB/s     22.21%         0         0         "
    "0\n"
    " Ethernet24        U  871,203,338  1021.20 MB/s     20.42%         0   "
    "8120338         0  804,410,203  1110.75 MB/s     22.21%         0         0   "
    "      0\n"
    " Ethernet32        U  861,203,338  1021.20 MB/s     20.42%         0         "
    "0         0  804,410,203  1110.75 MB/s     22.21%         0         0         "
    "0\n";

constexpr std::string_view kHostoffMlx =
    "incast loses packets\n"
    "admin@tor1:~$ show pfc counters\n"
    "    Port Rx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7\n"
    "-----------  ------  ------  ------  ------  ------  ------  ------  ------\n"
    "  Ethernet0       0       0       0       0       0       0       0       0\n"
    "  Ethernet8       0       0       0       0       0       0       0       0\n"
    "\n"
    "    Port Tx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7\n"
    "-----------  ------  ------  ------  ------  ------  ------  ------  ------\n"
    "  Ethernet0       0       0       0   881,203       0       0       0       0\n"
    "  Ethernet8       0       0       0   901,338       0       0       0       0\n"
    "admin@tor1:~$ show priority-group drop counters\n"
    "Ingress PG dropped packets:\n"
    "      Port    PG0    PG1    PG2     PG3    PG4    PG5    PG6    PG7\n"
    "----------  -----  -----  -----  ------  -----  -----  -----  -----\n"
    " Ethernet0      0      0      0  120338      0      0      0      0\n"
    " Ethernet8      0      0      0  118203      0      0      0      0\n"
    "admin@tor1:~$ exit\n"
    "root@n1:~# mlnx_qos -i eth2\n"
    "DCBX mode: OS controlled\n"
    "Priority trust state: dscp\n"
    "PFC configuration:\n"
    "\tpriority    0   1   2   3   4   5   6   7\n"
    "\tenabled     0   0   0   0   0   0   0   0\n"
    "\tbuffer      0   0   0   0   0   0   0   0\n";

constexpr std::string_view kCase43 =
    "leaf5#show priority-flow-control | begin E: PFC\n"
    "E: PFC Enabled, D: PFC Disabled, A: PFC Active, W: PFC Watchdog Enabled\n"
    "Port       Status  Priorities  Action      Timeout  Recovery        Polling   "
    "      Note\n"
    "                                                  Interval/Mode   Config/Oper\n"
    "------------------------------------------------------------------------------"
    "---------\n"
    "Et1/1      E A W   3           drop        0.2      0.4 / auto      0.1 / 0.1\n"
    "Et2/1      E A W   3           drop        0.2      0.4 / auto      0.1 / 0.1\n"
    "Et48/1     E A W   3           drop        0.2      0.4 / auto      0.1 / 0.1\n"
    "Et49/1     D - -               -           -        - / -           - / -\n"
    "Et50/1     E A W   3           drop        0.2      0.4 / auto      0.1 / 0.1\n"
    "Et51/1     E A W   3           drop        0.2      0.4 / auto      0.1 / 0.1\n"
    "Et52/1     E A W   3           drop        0.2      0.4 / auto      0.1 / 0.1\n"
    "leaf5#show interfaces description | egrep \"Et(49|5[0-2])/1\"\n"
    "Et49/1                         up             up                 spine1 Et5/1\n"
    "Et50/1                         up             up                 spine2 Et5/1\n"
    "Et51/1                         up             up                 spine3 Et5/1\n"
    "Et52/1                         up             up                 spine4 Et5/1\n"
    "leaf5#show interfaces counters discards | egrep \"Port|Et(49|5[0-2])/1\"\n"
    "Port          InDiscards   OutDiscards\n"
    "Et49/1           8812331             0\n"
    "Et50/1                 0             0\n"
    "Et51/1                 0             0\n"
    "Et52/1                 0             0\n"
    "\n"
    "! each spine, its port to leaf5\n"
    "spine1#show priority-flow-control counters | i Et5/1\n"
    "Et5/1                            0        2218834\n"
    "spine2#show priority-flow-control counters | i Et5/1\n"
    "Et5/1                        41002          39118\n"
    "spine3#show priority-flow-control counters | i Et5/1\n"
    "Et5/1                        40877          38820\n"
    "spine4#show priority-flow-control counters | i Et5/1\n"
    "Et5/1                        41311          39402\n"
    "\n"
    "leaf5#show logging last 2 days | i Et49/1|Ethernet49/1\n"
    "Feb  3 09:02:11 leaf5 ConfigAgent: %SYS-5-CONFIG_I: Configured from console "
    "by jdoe on vty4 (10.0.9.2)\n";

constexpr std::string_view kSonicPfcPrioOk =
    "admin@leaf4:~$ show pfc priority\n"
    "Interface    Lossless priorities\n"
    "-----------  ---------------------\n"
    "Ethernet0    3,4\n"
    "Ethernet8    3,4\n"
    "Ethernet16   3,4\n"
    "Ethernet24   N/A\n"
    "Ethernet32   3,4\n"
    "admin@leaf4:~$ show interfaces counters\n"
    "      IFACE    STATE      RX_OK        RX_BPS    RX_UTIL    RX_ERR    RX_DRP  "
    "  RX_OVR      TX_OK        TX_BPS    TX_UTIL    TX_ERR    TX_DRP    TX_OVR\n"
    "-----------  -------  ---------  ------------  ---------  --------  --------  "
    "--------  ---------  ------------  ---------  --------  --------  --------\n"
    "  Ethernet0        U  881,203,338  1021.20 MB/s     20.42%         0         "
    "0         0  804,410,203  1110.75 MB/s     22.21%         0         0         "
    "0\n"
    "  Ethernet8        U  891,203,338  1021.20 MB/s     20.42%         0         "
    "0         0  804,410,203  1110.75 MB/s     22.21%         0         0         "
    "0\n"
    " Ethernet16        U  881,203,338  1021.20 MB/s     20.42%         0         "
    "0         0  804,410,203  1110.75 MB/s     22.21%         0         0         "
    "0\n"
    " Ethernet24        U  871,203     1.20 MB/s     0.42%         0   0         0 "
    " 804,410  1.75 MB/s     0.21%         0         0         0\n"
    " Ethernet32        U  861,203,338  1021.20 MB/s     20.42%         0         "
    "0         0  804,410,203  1110.75 MB/s     22.21%         0         0         "
    "0\n";

constexpr std::string_view kEosDOk =
    "leaf5#show priority-flow-control | begin E: PFC\n"
    "E: PFC Enabled, D: PFC Disabled, A: PFC Active, W: PFC Watchdog Enabled\n"
    "Port       Status  Priorities  Action      Timeout  Recovery        Polling   "
    "      Note\n"
    "                                                  Interval/Mode   Config/Oper\n"
    "------------------------------------------------------------------------------"
    "---------\n"
    "Et1/1      E A W   3           drop        0.2      0.4 / auto      0.1 / 0.1\n"
    "Et2/1      E A W   3           drop        0.2      0.4 / auto      0.1 / 0.1\n"
    "Et48/1     D - -               -           -        - / -           - / -\n"
    "Et49/1     E A W   3           drop        0.2      0.4 / auto      0.1 / 0.1\n"
    "leaf5#show interfaces counters discards | egrep \"Port|Et(1|2|48|49)/1\"\n"
    "Port          InDiscards   OutDiscards\n"
    "Et1/1                  0             0\n"
    "Et2/1                  0             0\n"
    "Et48/1               112             0\n"
    "Et49/1                 0             0\n";

constexpr std::string_view kNxosOffDropsOk =
    "n9k-leaf2# show interface priority-flow-control | begin Port\n"
    "Port               Mode Oper(VL bmap)  RxPPP      TxPPP\n"
    "============================================================\n"
    "Ethernet1/25       On   On  (8)        12         0\n"
    "Ethernet1/26       On   On  (8)        0          1882204\n"
    "Ethernet1/27       Auto Off            0          0\n"
    "Ethernet1/28       Auto Off            0          0\n"
    "Ethernet1/29       On   On  (8)        0          1879911\n"
    "n9k-leaf2# show queuing interface ethernet 1/25 | grep -A 10 \"QOS GROUP 3\"\n"
    "|                              QOS GROUP 3                    |\n"
    "+-------------------------------------------------------------+\n"
    "|                           |  Unicast       |Multicast       |\n"
    "+-------------------------------------------------------------+\n"
    "|                   Tx Pkts |     20233842211|               0|\n"
    "|                   Tx Byts |  83768106753540|               0|\n"
    "| WRED/AFD & Tail Drop Pkts |               0|               0|\n"
    "| WRED/AFD & Tail Drop Byts |               0|               0|\n";

TEST(Noted, PfcOfSisters) {
  COVERS("D8");
  EXPECT_TRUE(leads_to(kSonicPfcPrioMissing, "pfc.off"));
  EXPECT_TRUE(leads_to(kHostoffMlx, "pfc.off"));
  EXPECT_TRUE(leads_to(kCase43, "pfc.off"));
  EXPECT_FALSE(leads_to(kSonicPfcPrioOk, "pfc.off"));
  EXPECT_FALSE(leads_to(kEosDOk, "pfc.off"));
  EXPECT_FALSE(leads_to(kNxosOffDropsOk, "pfc.off"));
}

constexpr std::string_view kBondTwoCommands =
    "bond of 2x100, nccl gets half of what I expect\n"
    "[root@h1 ~]# ib_write_bw -d mlx5_bond_0 -x 3 -q 1 -D 5 --report_gbits 10.1.1.2\n"
    " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   "
    "MsgRate[Mpps]\n"
    " 65536      468128           0.00               98.21 \t\t   0.187252\n"
    "[root@h1 ~]# ib_write_bw -d mlx5_bond_0 -x 3 -q 4 -D 5 --report_gbits 10.1.1.2\n"
    " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   "
    "MsgRate[Mpps]\n"
    " 65536      936128           0.00               196.44 \t\t   0.374252\n"
    "[root@h1 ~]# cat job.env\n"
    "export NCCL_IB_HCA=mlx5_bond_0\n"
    "export NCCL_IB_QPS_PER_CONNECTION=1\n";

constexpr std::string_view kBondOk =
    "[root@h1 ~]# ib_write_bw -d mlx5_bond_0 -x 3 -q 1 -D 5 --report_gbits 10.1.1.2\n"
    " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   "
    "MsgRate[Mpps]\n"
    " 65536      468128           0.00               98.21 \t\t   0.187252\n"
    "[root@h1 ~]# ib_write_bw -d mlx5_bond_0 -x 3 -q 4 -D 5 --report_gbits 10.1.1.2\n"
    " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   "
    "MsgRate[Mpps]\n"
    " 65536      936128           0.00               196.44 \t\t   0.374252\n"
    "[root@h1 ~]# cat job.env\n"
    "export NCCL_IB_HCA=mlx5_bond_0\n"
    "export NCCL_IB_QPS_PER_CONNECTION=4\n";

TEST(Noted, PairsOfBonds) {
  COVERS("D8");
  EXPECT_TRUE(leads_to(kBondTwoCommands, "lag.too_few_qps"));
  EXPECT_FALSE(leads_to(kBondOk, "lag.too_few_qps"));
}

constexpr std::string_view kFecNxos =
    "host h9 port does not come up, switch n9k-3 Eth1/9\n"
    "n9k-3# show interface ethernet 1/7-9 fec\n"
    "------------------------------------------------------------------------------"
    "--\n"
    "Name          Ifindex       Admin-fec  Oper-fec   Status      Speed  Type\n"
    "------------------------------------------------------------------------------"
    "--\n"
    "Eth1/7        0x1a000c00    rs-fec     rs-fec     connected   100G    "
    "QSFP-100G-CR4\n"
    "Eth1/8        0x1a000e00    rs-fec     rs-fec     connected   100G    "
    "QSFP-100G-CR4\n"
    "Eth1/9        0x1a001000    off        off        notconnec   100G    "
    "QSFP-100G-CR4\n"
    "[root@h9 ~]# ethtool --show-fec ens1f0np0\n"
    "FEC parameters for ens1f0np0:\n"
    "Supported/Configured FEC encodings: RS\n"
    "Active FEC encoding: None\n"
    "[root@h9 ~]# ethtool ens1f0np0 | grep -E \"Speed|Link\"\n"
    "\tSpeed: Unknown!\n"
    "\tLink detected: no\n";

constexpr std::string_view kFecCumulus =
    "link to gpu7 does not come up\n"
    "cumulus@leaf1:mgmt:~$ nv show interface swp7 link\n"
    "                  operational  applied\n"
    "----------------  -----------  -------\n"
    "auto-negotiate    off          off\n"
    "duplex            full         full\n"
    "speed             400G         auto\n"
    "fec               off          off\n"
    "mtu               9216         9216\n"
    "state             down         up\n"
    "root@gpu7:~# ethtool --show-fec rail0\n"
    "FEC parameters for rail0:\n"
    "Supported/Configured FEC encodings: RS\n"
    "Active FEC encoding: None\n"
    "root@gpu7:~# ethtool rail0 | egrep \"Speed|Link detected\"\n"
    "\tSpeed: Unknown!\n"
    "\tLink detected: no\n";

constexpr std::string_view kFecSonicOk =
    "admin@tor-9:~$ show interfaces fec status\n"
    "  Interface    FEC Oper    FEC Admin\n"
    "-----------  ----------  -----------\n"
    "  Ethernet0          rs           rs\n"
    "  Ethernet4          rs           rs\n"
    "  Ethernet8         N/A           rs\n"
    " Ethernet12        none         none\n";

TEST(Noted, FecOfBothEnds) {
  COVERS("D8");
  EXPECT_TRUE(leads_to(kFecNxos, "fec.wrong"));
  EXPECT_TRUE(leads_to(kFecCumulus, "fec.wrong"));
  EXPECT_FALSE(leads_to(kFecSonicOk, "fec.wrong"));
}

constexpr std::string_view kTosUniq =
    "root@g1:~# mlnx_qos -i rail0 | grep -A3 PFC\n"
    "PFC configuration:\n"
    "\tpriority    0   1   2   3   4   5   6   7\n"
    "\tenabled     0   0   0   1   0   0   0   0\n"
    "\tbuffer      0   0   0   1   0   0   0   0\n"
    "root@g1:~# tcpdump -nnvr /tmp/mirror.pcap udp dst port 4791 2>/dev/null | "
    "grep -o \"tos 0x[0-9a-f]*\" | sort | uniq -c\n"
    "   9811 tos 0x0\n"
    "     12 tos 0xc0\n";

constexpr std::string_view kTosUniqOk =
    "root@g1:~# mlnx_qos -i rail0 | grep -A3 PFC\n"
    "PFC configuration:\n"
    "\tpriority    0   1   2   3   4   5   6   7\n"
    "\tenabled     0   0   0   1   0   0   0   0\n"
    "\tbuffer      0   0   0   1   0   0   0   0\n"
    "root@g1:~# tcpdump -nnvr /tmp/mirror.pcap udp dst port 4791 2>/dev/null | "
    "grep -o \"tos 0x[0-9a-f]*\" | sort | uniq -c\n"
    "   9811 tos 0x6a\n"
    "     12 tos 0xc0\n";

TEST(Noted, PacketsCountedByMarking) {
  COVERS("D8");
  EXPECT_TRUE(leads_to(kTosUniq, "dscp.unmarked"));
  EXPECT_FALSE(leads_to(kTosUniqOk, "dscp.unmarked"));
}

constexpr std::string_view kFluxArpN =
    "gpu02$ arp -n | grep 10.9.0\n"
    "10.9.0.11                ether   b8:3f:d2:aa:00:10   C                     "
    "eth0\n"
    "10.9.0.12                ether   b8:3f:d2:aa:00:10   C                     "
    "eth0\n"
    "10.9.0.13                ether   b8:3f:d2:aa:00:10   C                     "
    "eth0\n"
    "10.9.0.14                ether   b8:3f:d2:aa:00:10   C                     "
    "eth0\n"
    "gpu01$ ip -br link\n"
    "lo               UNKNOWN        00:00:00:00:00:00 <LOOPBACK,UP,LOWER_UP>\n"
    "eth0             UP             b8:3f:d2:aa:00:10 "
    "<BROADCAST,MULTICAST,UP,LOWER_UP>\n"
    "eth1             UP             b8:3f:d2:aa:00:18 "
    "<BROADCAST,MULTICAST,UP,LOWER_UP>\n"
    "eth2             UP             b8:3f:d2:aa:00:20 "
    "<BROADCAST,MULTICAST,UP,LOWER_UP>\n"
    "eth3             UP             b8:3f:d2:aa:00:28 "
    "<BROADCAST,MULTICAST,UP,LOWER_UP>\n"
    "gpu01$ ip -br addr\n"
    "lo               UNKNOWN        127.0.0.1/8 ::1/128\n"
    "eth0             UP             10.9.0.11/24\n"
    "eth1             UP             10.9.0.12/24\n"
    "eth2             UP             10.9.0.13/24\n"
    "eth3             UP             10.9.0.14/24\n";

constexpr std::string_view kFluxEosArp =
    "leaf1#show ip arp vlan 30\n"
    "Address         Age (sec)  Hardware Addr   Interface\n"
    "10.9.0.11         0:01:12  b83f.d2aa.0010  Vlan30, Ethernet1/1\n"
    "10.9.0.12         0:01:12  b83f.d2aa.0010  Vlan30, Ethernet1/1\n"
    "10.9.0.13         0:01:14  b83f.d2aa.0010  Vlan30, Ethernet1/1\n"
    "gpu01$ ip -br link | grep rail\n"
    "rail0            UP             b8:3f:d2:aa:00:10 "
    "<BROADCAST,MULTICAST,UP,LOWER_UP>\n"
    "rail1            UP             b8:3f:d2:aa:00:18 "
    "<BROADCAST,MULTICAST,UP,LOWER_UP>\n"
    "rail2            UP             b8:3f:d2:aa:00:20 "
    "<BROADCAST,MULTICAST,UP,LOWER_UP>\n";

constexpr std::string_view kNeighOk =
    "gpu02$ ip neigh show\n"
    "10.9.0.11 dev rail0 lladdr b8:3f:d2:aa:00:10 REACHABLE\n"
    "10.9.1.11 dev rail1 lladdr b8:3f:d2:aa:00:18 REACHABLE\n"
    "10.9.2.11 dev rail2 lladdr b8:3f:d2:aa:00:20 STALE\n"
    "10.9.0.1 dev rail0 lladdr 00:1c:73:aa:bb:cc REACHABLE\n"
    "10.9.1.1 dev rail1 lladdr 00:1c:73:aa:bb:cc REACHABLE\n"
    "10.9.2.1 dev rail2 lladdr 00:1c:73:aa:bb:cc REACHABLE\n"
    "gpu01$ ip -br link | grep rail\n"
    "rail0            UP             b8:3f:d2:aa:00:10 "
    "<BROADCAST,MULTICAST,UP,LOWER_UP>\n"
    "rail1            UP             b8:3f:d2:aa:00:18 "
    "<BROADCAST,MULTICAST,UP,LOWER_UP>\n"
    "rail2            UP             b8:3f:d2:aa:00:20 "
    "<BROADCAST,MULTICAST,UP,LOWER_UP>\n";

TEST(Noted, OnePortForSeveralAddresses) {
  COVERS("D8");
  EXPECT_TRUE(leads_to(kFluxArpN, "rail.same_subnet"));
  EXPECT_TRUE(leads_to(kFluxEosArp, "rail.same_subnet"));
  EXPECT_FALSE(leads_to(kNeighOk, "rail.same_subnet"));
}

constexpr std::string_view kDupLog =
    "some peers of gpu12 time out since the rebuild of gpu30\n"
    "2026 Mar 11 08:12:02 n9k-leaf2 %ARP-2-DUP_SRC_IP:  arp [5120]  Source address "
    "of packet received from 946d.ae03.771a on Ethernet1/30 is duplicate of local, "
    "10.44.3.1\n";

constexpr std::string_view kDupJunos =
    "ops@qfx1> show log messages | match DUPL\n"
    "Mar 11 08:12:02  qfx1 /kernel: KERN_ARP_DUPLICATE_ADDR: duplicate IP address "
    "10.44.3.17! sent from address: 94:6d:ae:03:77:1a (error count = 118)\n";

constexpr std::string_view kCase46 =
    "# clush -w gpu40,gpu41,gpu42 \"ib_write_bw -d mlx5_3 -x 3 -D 3 --report_gbits "
    "10.44.3.17 2>&1 | egrep '^ 65536|status'\"\n"
    "gpu40:  Failed status 12: wr_id 0 syndrom 0x81\n"
    "gpu41: 65536      1118710          0.00               391.02 \t\t   0.745811\n"
    "gpu42:  Failed status 12: wr_id 0 syndrom 0x81\n"
    "\n"
    "# clush -bw gpu40,gpu41,gpu42 \"ip neigh show 10.44.3.17\"\n"
    "---------------\n"
    "gpu[40,42] (2)\n"
    "---------------\n"
    "10.44.3.17 dev rail3 lladdr 94:6d:ae:03:77:1a REACHABLE\n"
    "---------------\n"
    "gpu41\n"
    "---------------\n"
    "10.44.3.17 dev rail3 lladdr b8:3f:d2:40:91:c6 REACHABLE\n"
    "\n"
    "# arping -c 3 -I rail3 10.44.3.17          (on gpu40)\n"
    "ARPING 10.44.3.17 from 10.44.3.40 rail3\n"
    "Unicast reply from 10.44.3.17 [94:6D:AE:03:77:1A]  0.681ms\n"
    "Unicast reply from 10.44.3.17 [B8:3F:D2:40:91:C6]  0.702ms\n"
    "Unicast reply from 10.44.3.17 [94:6D:AE:03:77:1A]  0.677ms\n"
    "Unicast reply from 10.44.3.17 [B8:3F:D2:40:91:C6]  0.699ms\n"
    "Sent 3 probes (1 broadcast(s))\n"
    "Received 4 response(s)\n"
    "\n"
    "leaf-r3#show mac address-table | i 1ac6|771a|91c6\n"
    " 443    946d.ae03.771a    DYNAMIC     Et44/1     1       0:01:12 ago\n"
    " 443    b83f.d240.91c6    DYNAMIC     Et17/1     1       6 days, 2:10:44 ago\n"
    "Et17/1 = gpu17, Et44/1 = gpu44 (reimaged this morning from the gpu17 "
    "kickstart)\n";

constexpr std::string_view kDupTwoHostsOk =
    "gpu40$ ip neigh show 10.44.3.17\n"
    "10.44.3.17 dev rail3 lladdr b8:3f:d2:40:91:c6 REACHABLE\n"
    "gpu41$ ip neigh show 10.44.3.17\n"
    "10.44.3.17 dev rail3 lladdr b8:3f:d2:40:91:c6 REACHABLE\n"
    "gpu42$ ip neigh show 10.44.3.17\n"
    "10.44.3.17 dev rail3 lladdr 94:6d:ae:03:77:1a STALE\n"
    "gpu40$ arping -c 2 -I rail3 10.44.3.17\n"
    "ARPING 10.44.3.17 from 10.44.3.40 rail3\n"
    "Unicast reply from 10.44.3.17 [B8:3F:D2:40:91:C6]  0.681ms\n"
    "Unicast reply from 10.44.3.17 [B8:3F:D2:40:91:C6]  0.702ms\n";

TEST(Noted, TwoStationsAtOneAddress) {
  COVERS("D8");
  EXPECT_TRUE(leads_to(kDupLog, "address.duplicate"));
  EXPECT_TRUE(leads_to(kDupJunos, "address.duplicate"));
  EXPECT_TRUE(leads_to(kCase46, "address.duplicate"));
  EXPECT_FALSE(leads_to(kDupTwoHostsOk, "address.duplicate"));
}

constexpr std::string_view kIommuDmesg =
    "root@g7:~# dmesg | grep -i iommu | head -4\n"
    "[    1.120338] iommu: Default domain type: Translated\n"
    "[    1.120339] iommu: DMA domain TLB invalidation policy: lazy mode\n"
    "root@g7:~# ethtool -S rail0 | egrep "
    "\"outbound_pci_stalled_wr_events|tx_prio3_pause:\"; sleep 10; ethtool -S rail0 "
    "| egrep \"outbound_pci_stalled_wr_events|tx_prio3_pause:\"\n"
    "     tx_prio3_pause: 40118220\n"
    "     outbound_pci_stalled_wr_events: 882013\n"
    "     tx_prio3_pause: 43902118\n"
    "     outbound_pci_stalled_wr_events: 961882\n";

constexpr std::string_view kIommuOk =
    "root@g7:~# dmesg | grep -i iommu | head -4\n"
    "[    1.120338] iommu: Default domain type: Translated\n"
    "[    1.120339] iommu: DMA domain TLB invalidation policy: lazy mode\n"
    "root@g7:~# ib_write_bw -d mlx5_0 -x 3 --report_gbits g8 | tail -2\n"
    " 65536      5000             392.04             391.83 \t\t   0.747356\n";

TEST(Noted, TranslatingIommus) {
  COVERS("D8");
  EXPECT_TRUE(leads_to(kIommuDmesg, "pcie.acs_on"));
  EXPECT_FALSE(leads_to(kIommuOk, "pcie.acs_on"));
}

constexpr std::string_view kEcnLowNxos =
    "1:1, one flow only, 100 of 400G. np_ecn_marked grows on the receiver:\n"
    "gpu09$ for i in 1 2; do cat "
    "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/np_ecn_marked_roce_packets; "
    "sleep 10; done\n"
    "1200338\n"
    "9120338\n"
    "n9k-1# show running-config | section \"policy-map type queuing QOUT\"\n"
    "policy-map type queuing QOUT\n"
    "  class type queuing c-out-8q-q3\n"
    "    bandwidth remaining percent 50\n"
    "    random-detect minimum-threshold 6 kbytes maximum-threshold 12 kbytes "
    "drop-probability 100 weight 0 ecn\n"
    "  class type queuing c-out-8q-q-default\n"
    "    bandwidth remaining percent 50\n"
    "n9k-2# show running-config | section \"policy-map type queuing QOUT\"\n"
    "policy-map type queuing QOUT\n"
    "  class type queuing c-out-8q-q3\n"
    "    bandwidth remaining percent 50\n"
    "    random-detect minimum-threshold 600 kbytes maximum-threshold 3000 kbytes "
    "drop-probability 7 weight 0 ecn\n"
    "  class type queuing c-out-8q-q-default\n"
    "    bandwidth remaining percent 50\n";

constexpr std::string_view kEcnLowSonic =
    "gpu09$ for i in 1 2; do cat "
    "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/np_ecn_marked_roce_packets; "
    "sleep 10; done\n"
    "1200338\n"
    "9120338\n"
    "$ for s in leaf1 leaf2; do echo $s $(ssh $s sonic-db-cli CONFIG_DB hgetall "
    "'\"WRED_PROFILE|ROCE_LOSSLESS\"'); done\n"
    "leaf1 {'ecn': 'ecn_all', 'green_drop_probability': '100', "
    "'green_max_threshold': '16384', 'green_min_threshold': '8192', "
    "'wred_green_enable': 'true'}\n"
    "leaf2 {'ecn': 'ecn_all', 'green_drop_probability': '5', "
    "'green_max_threshold': '2097152', 'green_min_threshold': '1048576', "
    "'wred_green_enable': 'true'}\n";

constexpr std::string_view kThresholdsOk =
    "leaf3#show running-config interfaces Ethernet9/1 | section tx-queue 3\n"
    "   uc-tx-queue 3\n"
    "      bandwidth percent 50\n"
    "      random-detect ecn minimum-threshold 500 kbytes maximum-threshold 1500 "
    "kbytes max-mark-probability 10 weight 0\n"
    "spine1#show running-config interfaces Ethernet9/1 | section tx-queue 3\n"
    "   uc-tx-queue 3\n"
    "      bandwidth percent 50\n"
    "      random-detect ecn minimum-threshold 2000 kbytes maximum-threshold 8000 "
    "kbytes max-mark-probability 10 weight 0\n";

TEST(Noted, LowThresholds) {
  COVERS("D8");
  EXPECT_TRUE(leads_to(kEcnLowNxos, "ecn.thresholds_too_low"));
  EXPECT_TRUE(leads_to(kEcnLowSonic, "ecn.thresholds_too_low"));
  EXPECT_FALSE(leads_to(kThresholdsOk, "ecn.thresholds_too_low"));
}

constexpr std::string_view kUplinkEos =
    "rack 6 all-to-all 25% slower since 4\n"
    "Mar  2 04:02:17 leaf6 Ebra: %LINEPROTO-5-UPDOWN: Line protocol on Interface "
    "Ethernet51/1 (spine3 Et6/1), changed state to down\n"
    "leaf6#show interfaces status | i Et(49|5[0-2])/1\n"
    "Et49/1     spine1 Et6/1         connected    routed   full   400G   "
    "400GBASE-DR4\n"
    "Et50/1     spine2 Et6/1         connected    routed   full   400G   "
    "400GBASE-DR4\n"
    "Et51/1     spine3 Et6/1         notconnect   routed   full   400G   "
    "400GBASE-DR4\n"
    "Et52/1     spine4 Et6/1         connected    routed   full   400G   "
    "400GBASE-DR4\n";

constexpr std::string_view kUplinkEosNolog =
    "rack 6 all-to-all 25% slower\n"
    "leaf6#show interfaces description | i spine\n"
    "Et49/1                         up             up                 spine1 Et5/1\n"
    "Et50/1                         up             up                 spine2 Et5/1\n"
    "Et51/1                         up             down               spine3 Et5/1\n"
    "Et52/1                         up             up                 spine4 Et5/1\n";

constexpr std::string_view kUplinkJunos =
    "ops@qfx6> show log messages | match LINK_DOWN\n"
    "Mar  2 04:02:17  qfx6 mib2d[5120]: SNMP_TRAP_LINK_DOWN: ifIndex 541, "
    "ifAdminStatus up(1), ifOperStatus down(2), ifName et-0/0/50\n"
    "ops@qfx6> show interfaces terse | match \"et-0/0/(48|49|50|51) \"\n"
    "et-0/0/48               up    up\n"
    "et-0/0/49               up    up\n"
    "et-0/0/50               up    down\n"
    "et-0/0/51               up    up\n";

constexpr std::string_view kStatusOk =
    "leaf6#show interfaces status\n"
    "Port       Name                 Status       Vlan     Duplex Speed  Type      "
    "      Flags Encapsulation\n"
    "Et1/1      gpu01 rail0          connected    routed   full   400G   "
    "400GBASE-DR4\n"
    "Et2/1      gpu02 rail0          connected    routed   full   400G   "
    "400GBASE-DR4\n"
    "Et3/1                           notconnect   routed   full   400G   Not "
    "Present\n"
    "Et49/1     spine1 Et6/1         connected    routed   full   400G   "
    "400GBASE-DR4\n"
    "Et50/1     spine2 Et6/1         connected    routed   full   400G   "
    "400GBASE-DR4\n";

constexpr std::string_view kUplinksOk =
    "leaf6#show interfaces description\n"
    "Interface                      Status         Protocol           Description\n"
    "Et1/1                          up             up                 gpu01 rail0\n"
    "Et2/1                          up             down               gpu02 rail0 "
    "(not racked yet)\n"
    "Et3/1                          admin down     down\n"
    "Et49/1                         up             up                 spine1 Et5/1\n"
    "Et50/1                         up             up                 spine2 Et5/1\n"
    "Et51/1                         admin down     down               spine3 Et5/1 "
    "planned Q3\n";

TEST(Noted, LinksThatStayDown) {
  COVERS("D8");
  EXPECT_TRUE(leads_to(kUplinkEos, "link.degraded"));
  EXPECT_TRUE(leads_to(kUplinkEosNolog, "link.degraded"));
  EXPECT_TRUE(leads_to(kUplinkJunos, "link.degraded"));
  EXPECT_FALSE(leads_to(kStatusOk, "link.degraded"));
  EXPECT_FALSE(leads_to(kUplinksOk, "link.degraded"));
}

constexpr std::string_view kAclNxos =
    "ping ok, rdma between racks not\n"
    "n9k-b1# show ip access-lists RACK\n"
    "IP access list RACK\n"
    "        statistics per-entry\n"
    "        10 permit icmp any any [match=88120]\n"
    "        20 permit tcp any any [match=991822038]\n"
    "        30 deny udp any any eq 4791 [match=18273]\n"
    "        40 permit ip any any [match=1120]\n";

constexpr std::string_view kAclIptables =
    "hyper1:~# iptables -nvL FORWARD | head -5\n"
    "Chain FORWARD (policy ACCEPT 0 packets, 0 bytes)\n"
    " pkts bytes target     prot opt in     out     source               "
    "destination\n"
    "18273  1827K DROP       udp  --  br0    *       0.0.0.0/0            "
    "0.0.0.0/0            udp dpt:4791\n"
    " 991K   88M ACCEPT     all  --  *      *       0.0.0.0/0            0.0.0.0/0\n";

constexpr std::string_view kAclSonic =
    "admin@leaf1:~$ show acl rule\n"
    "Table    Rule    Priority    Action    Match                 Status\n"
    "-------  ------  ----------  --------  --------------------  --------\n"
    "DATAACL  RULE_1  9999        FORWARD   IP_PROTOCOL: 6        Active\n"
    "DATAACL  RULE_2  9998        DROP      IP_PROTOCOL: 17       Active\n"
    "                                       L4_DST_PORT: 4791\n"
    "admin@leaf1:~$ aclshow -a\n"
    "RULE NAME    TABLE NAME      PRIO    PACKETS COUNT    BYTES COUNT\n"
    "-----------  ------------  ------  ---------------  -------------\n"
    "RULE_1       DATAACL         9999        991822038   88120338221\n"
    "RULE_2       DATAACL         9998            18273       1827300\n";

constexpr std::string_view kUfw =
    "gpu60 from other racks: ping ok, ib_write_bw hangs then status 12\n"
    "Mar 11 08:12:02 hv3 kernel: [UFW BLOCK] IN=br0 OUT=vnet3 SRC=10.60.0.53 "
    "DST=10.61.0.60 LEN=1100 TOS=0x00 PREC=0x00 TTL=62 ID=0 DF PROTO=UDP SPT=51234 "
    "DPT=4791 LEN=1080\n"
    "Mar 11 08:12:03 hv3 kernel: [UFW BLOCK] IN=br0 OUT=vnet3 SRC=10.60.0.53 "
    "DST=10.61.0.60 LEN=1100 TOS=0x00 PREC=0x00 TTL=62 ID=0 DF PROTO=UDP SPT=51234 "
    "DPT=4791 LEN=1080\n";

constexpr std::string_view kAclOk =
    "n9k-b1# show ip access-lists RACK\n"
    "IP access list RACK\n"
    "        statistics per-entry\n"
    "        10 permit udp any any eq 4791 [match=991822038]\n"
    "        20 permit tcp any any [match=991822038]\n"
    "        30 deny udp any any eq 69 [match=18273]\n"
    "        40 deny udp 192.0.2.0/24 any eq 4791 [match=0]\n";

TEST(Noted, FiltersOfRoce) {
  COVERS("D8");
  EXPECT_TRUE(leads_to(kAclNxos, "path.filtered"));
  EXPECT_TRUE(leads_to(kAclIptables, "path.filtered"));
  EXPECT_TRUE(leads_to(kAclSonic, "path.filtered"));
  EXPECT_TRUE(leads_to(kUfw, "path.filtered"));
  EXPECT_FALSE(leads_to(kAclOk, "path.filtered"));
}

constexpr std::string_view kCnpSonicUc6 =
    "gpu30 mlx5_0 np_cnp_sent: 100000 -> 4022105\n"
    "gpu02 mlx5_0 rp_cnp_handled: 500 -> 1684\n"
    "admin@leaf08:~$ show queue counters Ethernet48 ; sleep 60; show queue "
    "counters Ethernet48\n"
    "     Port    TxQ    Counter/pkts    Counter/bytes    Drop/pkts    Drop/bytes\n"
    "---------  -----  --------------  ---------------  -----------  ------------\n"
    "Ethernet48   UC3     991,822,038  4,101,203,338,112            0             0\n"
    "Ethernet48   UC6          20,338        1,520,338     88120338   6,520,338,112\n";

constexpr std::string_view kCnpOk =
    "gpu30 mlx5_0 np_cnp_sent: 100000 -> 4022105\n"
    "gpu02 mlx5_0 rp_cnp_handled: 500 -> 3911684\n"
    "cumulus@leaf08:mgmt:~$ for k in 1 2; do nv show interface swp49 qos roce "
    "counters | egrep \"cnp-packets|discard\" ; sleep 60; done\n"
    "    cnp-packets                20338                  Tx CNP Packets\n"
    "    unicast-no-buffer-discard  12                     Tx buffer discards for "
    "CNP traffic\n"
    "    unicast-no-buffer-discard  0                      Tx buffer discards for "
    "RoCE traffic\n"
    "    cnp-packets                3920931                Tx CNP Packets\n"
    "    unicast-no-buffer-discard  12                     Tx buffer discards for "
    "CNP traffic\n"
    "    unicast-no-buffer-discard  0                      Tx buffer discards for "
    "RoCE traffic\n";

TEST(Noted, CnpsThatAreLost) {
  COVERS("D8");
  EXPECT_TRUE(leads_to(kCnpSonicUc6, "cnp.lost"));
  EXPECT_FALSE(leads_to(kCnpOk, "cnp.lost"));
}

constexpr std::string_view kCase41 =
    "RCA notes, pod 3, \"PFC everywhere since spine2 was replaced\"\n"
    "\n"
    "admin@spine1:~$ show queue wredcounters Ethernet64 | egrep \"Port|UC3\"\n"
    "      Port    TxQ    WredDrp/pkts    WredDrp/bytes    EcnMarked/pkts    "
    "EcnMarked/bytes\n"
    "Ethernet64    UC3               0                0        88,120,331    "
    "364,817,170,340\n"
    "admin@spine2:~$ show queue wredcounters Ethernet64 | egrep \"Port|UC3\"\n"
    "      Port    TxQ    WredDrp/pkts    WredDrp/bytes    EcnMarked/pkts    "
    "EcnMarked/bytes\n"
    "Ethernet64    UC3               0                0                 0          "
    "        0\n"
    "\n"
    "admin@spine1:~$ show pfc counters | sed -n '/Port Tx/,$p' | egrep "
    "\"Port|Ethernet(0|64|128) \"\n"
    "    Port Tx    PFC0    PFC1    PFC2     PFC3    PFC4    PFC5    PFC6    PFC7\n"
    "  Ethernet0       0       0       0    1,022       0       0       0       0\n"
    " Ethernet64       0       0       0      988       0       0       0       0\n"
    "Ethernet128       0       0       0    1,104       0       0       0       0\n"
    "admin@spine2:~$ show pfc counters | sed -n '/Port Tx/,$p' | egrep "
    "\"Port|Ethernet(0|64|128) \"\n"
    "    Port Tx    PFC0    PFC1    PFC2         PFC3    PFC4    PFC5    PFC6    "
    "PFC7\n"
    "  Ethernet0       0       0       0   71,220,118       0       0       0      "
    " 0\n"
    " Ethernet64       0       0       0   68,904,331       0       0       0      "
    " 0\n"
    "Ethernet128       0       0       0   70,118,902       0       0       0      "
    " 0\n"
    "\n"
    "$ diff <(ssh spine1 sonic-db-cli CONFIG_DB hgetall '\"QUEUE|Ethernet64|3\"') "
    "<(ssh spine2 sonic-db-cli CONFIG_DB hgetall '\"QUEUE|Ethernet64|3\"')\n"
    "1c1\n"
    "< {'scheduler': 'scheduler.1', 'wred_profile': 'ROCE_LOSSLESS'}\n"
    "---\n"
    "> {'scheduler': 'scheduler.1'}\n"
    "$ for s in spine1 spine2; do echo $s $(ssh $s sonic-db-cli CONFIG_DB hgetall "
    "'\"WRED_PROFILE|ROCE_LOSSLESS\"'); done\n"
    "spine1 {'ecn': 'ecn_all', 'green_drop_probability': '5', "
    "'green_max_threshold': '2097152', 'green_min_threshold': '1048576', "
    "'wred_green_enable': 'true'}\n"
    "spine2 {'ecn': 'ecn_all', 'green_drop_probability': '5', "
    "'green_max_threshold': '2097152', 'green_min_threshold': '1048576', "
    "'wred_green_enable': 'true'}\n"
    "(both carry the same load, counters cleared together on Monday)\n";

constexpr std::string_view kNeverMarkIdleOk =
    "admin@spine1:~$ show queue wredcounters Ethernet64 | egrep \"Port|UC3\"\n"
    "      Port    TxQ    WredDrp/pkts    WredDrp/bytes    EcnMarked/pkts    "
    "EcnMarked/bytes\n"
    "Ethernet64    UC3               0                0        88,120,331    "
    "364,817,170,340\n"
    "admin@spine2:~$ show queue wredcounters Ethernet64 | egrep \"Port|UC3\"\n"
    "      Port    TxQ    WredDrp/pkts    WredDrp/bytes    EcnMarked/pkts    "
    "EcnMarked/bytes\n"
    "Ethernet64    UC3               0                0                 0          "
    "        0\n"
    "admin@spine1:~$ show pfc counters | sed -n '/Port Tx/,$p' | egrep "
    "\"Port|Ethernet(0|64) \"\n"
    "    Port Tx    PFC0    PFC1    PFC2     PFC3    PFC4    PFC5    PFC6    PFC7\n"
    "  Ethernet0       0       0       0    1,022       0       0       0       0\n"
    " Ethernet64       0       0       0      988       0       0       0       0\n"
    "admin@spine2:~$ show pfc counters | sed -n '/Port Tx/,$p' | egrep "
    "\"Port|Ethernet(0|64) \"\n"
    "    Port Tx    PFC0    PFC1    PFC2     PFC3    PFC4    PFC5    PFC6    PFC7\n"
    "  Ethernet0       0       0       0        0       0       0       0       0\n"
    " Ethernet64       0       0       0        0       0       0       0       0\n";

TEST(Noted, SwitchesThatNeverMark) {
  COVERS("D8");
  EXPECT_TRUE(leads_to(kCase41, "ecn.off_on_lossless"));
  EXPECT_FALSE(leads_to(kNeverMarkIdleOk, "ecn.off_on_lossless"));
}

constexpr std::string_view kCase51 =
    "EP all-to-all (nvshmem ibgda). 4 NICs of 400G on this leaf, each talks to its "
    "one peer behind leaf7, 8 uplinks. dispatch 21 GB/s, we expect 44.\n"
    "\n"
    "leaf2#show interfaces Ethernet49/1-56/1 counters rates\n"
    "Port      Name                  Intvl   In Mbps      %  In Kpps  Out Mbps     "
    " % Out Kpps\n"
    "Et49/1    spine1 Et2/1           0:05    1204.0   0.3%       35     980.0   "
    "0.2%       29\n"
    "Et50/1    spine2 Et2/1           0:05  391022.0  97.8%    11637  396110.0  "
    "99.0%    11788\n"
    "Et51/1    spine3 Et2/1           0:05    1188.0   0.3%       35     990.0   "
    "0.2%       29\n"
    "Et52/1    spine4 Et2/1           0:05    1210.0   0.3%       36    1012.0   "
    "0.3%       30\n"
    "Et53/1    spine5 Et2/1           0:05  388790.0  97.2%    11571  395220.0  "
    "98.8%    11762\n"
    "Et54/1    spine6 Et2/1           0:05    1195.0   0.3%       35    1001.0   "
    "0.3%       29\n"
    "Et55/1    spine7 Et2/1           0:05    1201.0   0.3%       35    1008.0   "
    "0.3%       29\n"
    "Et56/1    spine8 Et2/1           0:05    1190.0   0.3%       35     997.0   "
    "0.2%       29\n"
    "leaf2#show ip route 10.50.8.0/24 | i via\n"
    " B E      10.50.8.0/24 [20/0] via 10.254.1.0, Ethernet49/1\n"
    "                              via 10.254.2.0, Ethernet50/1\n"
    "                              via 10.254.3.0, Ethernet51/1\n"
    "                              via 10.254.4.0, Ethernet52/1\n"
    "                              via 10.254.5.0, Ethernet53/1\n"
    "                              via 10.254.6.0, Ethernet54/1\n"
    "                              via 10.254.7.0, Ethernet55/1\n"
    "                              via 10.254.8.0, Ethernet56/1\n"
    "leaf2#show running-config | i load-sharing\n"
    "ip load-sharing trident fields ip source-ip destination-ip protocol udp "
    "source-port destination-port\n"
    "$ tcpdump -nn -r leaf2-mirror.pcap 'udp dst port 4791' 2>/dev/null | awk "
    "'{print $3}' | awk -F. '{print $5}' | sort | uniq -c | sort -rn\n"
    "  50000 49152\n"
    "$ rdma res show qp link mlx5_0/1 | grep -c \"state RTS\"\n"
    "192\n"
    "rx_prio3_pause_duration on the senders: 49% of the window\n";

constexpr std::string_view kEntropyFew =
    "leaf2#show interfaces Ethernet49/1-52/1 counters rates\n"
    "Port      Name                  Intvl   In Mbps      %  In Kpps  Out Mbps     "
    " % Out Kpps\n"
    "Et49/1    spine1 Et2/1           0:05  181204.0  45.3%     5435  190980.0  "
    "47.7%     5729\n"
    "Et50/1    spine2 Et2/1           0:05  191022.0  47.8%     5637  196110.0  "
    "49.0%     5788\n"
    "Et51/1    spine3 Et2/1           0:05  181188.0  45.3%     5435  180990.0  "
    "45.2%     5429\n"
    "Et52/1    spine4 Et2/1           0:05  181210.0  45.3%     5436  181012.0  "
    "45.3%     5430\n"
    "$ tcpdump -nn -r m.pcap 'udp dst port 4791' | awk '{print $3}' | awk -F. "
    "'{print $5}' | sort | uniq -c | sort -rn\n"
    "  5000 49152\n"
    "  4800 53211\n"
    "  4700 60111\n";

TEST(Noted, EntropyOfSourcePorts) {
  COVERS("D8");
  EXPECT_TRUE(leads_to(kCase51, "ecmp.imbalance"));
  EXPECT_FALSE(leads_to(kEntropyFew, "ecmp.imbalance"));
}

TEST(Noted, ABondAndItsMembersHaveOneMac) {
  COVERS("D8");
  EXPECT_FALSE(
      leads_to("g1# ip -br link\nbond0 UP b8:3f:d2:aa:00:10 <BROADCAST,MULTICAST,UP,LOWER_UP>\n"
               "eth0 UP b8:3f:d2:aa:00:10 <BROADCAST,MULTICAST,UP,LOWER_UP>\n"
               "eth1 UP b8:3f:d2:aa:00:10 <BROADCAST,MULTICAST,UP,LOWER_UP>\n",
               "rail.same_subnet"));
}

TEST(Noted, WhatACommandLooksForIsNotWhatItFound) {
  COVERS("D8");
  EXPECT_TRUE(
      leads_to("root@g1:~# lspci -vvv\n\t\tACSCtl: SrcValid+ TransBlk- ReqRedir+ CmpltRedir+\n",
               "pcie.acs_on"));
  EXPECT_FALSE(
      leads_to("root@g1:~# lspci -vvv | grep ACSCtl | grep -c 'ReqRedir+'\n0\n", "pcie.acs_on"));
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

TEST(Noted, QueueWithoutAProfile) {
  COVERS("D8");
  const std::string text =
      "leaf1#show running-config | section uc-tx-queue 3\n   uc-tx-queue 3\n"
      "      bandwidth percent 60\n"
      "leaf2#show running-config | section uc-tx-queue 3\n   uc-tx-queue 3\n"
      "      bandwidth percent 60\n"
      "      random-detect ecn minimum-threshold 500 kbytes maximum-threshold 1500 kbytes\n";
  EXPECT_TRUE(leads_to(text, "ecn.off_on_lossless"));
  EXPECT_FALSE(leads_to(replaced(text, "leaf2", "spine2"), "ecn.off_on_lossless"));
  EXPECT_FALSE(leads_to(replaced(text, "queue 3", "queue 1"), "ecn.off_on_lossless"));
}

TEST(Noted, LimitedQueueOfCnps) {
  COVERS("D8");
  const std::string text =
      "n31: np_cnp_sent: pre=0 post=6000000 DELTA=6000000\n"
      "n01: rp_cnp_handled: pre=0 post=40000 DELTA=40000\n\n"
      "spine2#show interfaces ethernet 3/1 counters queue\n"
      "Port        TxQ    Counter/pkts   Counter/bytes     Drop/pkts    Drop/bytes\n"
      "Et3/1       UC3       641820338   2644299792560            0             0\n"
      "Et3/1       UC6           40000         2960000      5960000     441040000\n"
      "spine2#show running-config | section tx-queue 6\n   uc-tx-queue 6\n"
      "      shape rate 600 kbps\n";
  EXPECT_TRUE(leads_to(text, "cnp.lost"));
  const std::string heard = replaced(text, "post=40000 DELTA=40000", "post=5990000 DELTA=5990000");
  EXPECT_FALSE(leads_to(heard, "cnp.lost"));  // the drops are old
}

TEST(Noted, RdmaCountedInPriority0) {
  COVERS("D8");
  const std::string text =
      "root@n9:~# mlnx_qos -i eth2 | egrep \"trust|enabled\"\nPriority trust state: dscp\n"
      "\tenabled     0   0   0   1   0   0   0   0\n"
      "root@n9:~# ethtool -S eth2 | grep bytes\n"
      "     tx_vport_rdma_unicast_bytes: 1000000000000\n     tx_prio0_bytes: 31000000000000\n"
      "     tx_prio3_bytes: 39000000000000\n"
      "root@n9:~# sleep 10; ethtool -S eth2 | grep bytes\n"
      "     tx_vport_rdma_unicast_bytes: 1400000000000\n     tx_prio0_bytes: 31405000000000\n"
      "     tx_prio3_bytes: 39000000000000\n";
  EXPECT_TRUE(leads_to(text, "dscp.unmarked"));
  const std::string other = replaced(text, "31405000000000", "32900000000000");
  EXPECT_FALSE(leads_to(other, "dscp.unmarked"));  // other traffic: nobody knows what it is
  const std::string right =
      "root@n9:~# date\n" + replaced(replaced(text, "31405000000000", "31000000000100"),
                                     "39000000000000\nroot@n9:~# sleep",
                                     "38595000000000\nroot@n9:~# sleep");
  EXPECT_FALSE(leads_to(right, "dscp.unmarked"));
}

TEST(Noted, PortLeftInModeAuto) {
  COVERS("D8");
  const std::string text =
      "leaf6# show interface priority-flow-control\n"
      "Port               Mode Oper(VL bmap)  RxPPP      TxPPP\n"
      "Ethernet1/1        On   On  (8)       1120       40218\n"
      "Ethernet1/2        On   On  (8)       980        38110\n"
      "Ethernet1/3        On   On  (8)       1044       41207\n"
      "Ethernet1/4        Auto Off           0          0\n"
      "leaf6# show queuing interface ethernet 1/4 | begin \"Ingress Queuing\"\n"
      "Ingress Queuing for Ethernet1/4\n"
      "Ingress Overflow Drop Pkts                  722104\n";
  EXPECT_TRUE(leads_to(text, "pfc.off"));
  EXPECT_FALSE(leads_to(replaced(text, "722104", "12"), "pfc.off"));
  // two ports without: they may be for something else
  EXPECT_FALSE(leads_to(
      replaced(text, "On   On  (8)       1044       41207", "Auto Off           0          0"),
      "pfc.off"));
}

TEST(Noted, APortInModeAutoThatDiscardsWhatItReceives) {
  COVERS("D8");
  const std::string text =
      "leaf-n9k-2# show interface ethernet 1/7-9 priority-flow-control\n"
      "Port               Mode Oper(VL bmap)  RxPPP      TxPPP\n"
      "Ethernet1/7        On   On  (8)       1204       88120\n"
      "Ethernet1/8        On   On  (8)       977        91044\n"
      "Ethernet1/9        Auto Off           0          0\n"
      "leaf-n9k-2# show interface ethernet 1/9 | include discard\n"
      "    0 input with dribble  412877 input discard\n"
      "leaf-n9k-2# show interface ethernet 1/8 | include discard\n"
      "    0 input with dribble  0 input discard\n";
  const std::string later =
      "leaf-n9k-2# show interface ethernet 1/9 | include discard\n"
      "    0 input with dribble  436102 input discard\n";
  EXPECT_TRUE(leads_to(text, "pfc.off"));
  EXPECT_TRUE(leads_to(text + later, "pfc.off"));
  // they do not grow; the neighbour with PFC drops too
  EXPECT_FALSE(leads_to(text + replaced(later, "436102", "412877"), "pfc.off"));
  EXPECT_FALSE(leads_to(replaced(text, "  0 input discard", "  5120 input discard"), "pfc.off"));
}

TEST(Noted, AProfileWithoutEcnAndAQueueThatBearsItOut) {
  COVERS("I22");
  const std::string profile =
      "    \"WRED_PROFILE\": {\n        \"ROCE_WRED\": {\n            \"ecn\": \"ecn_none\",\n"
      "            \"wred_green_enable\": \"true\"\n        }\n    },\n"
      "    \"QUEUE\": {\n        \"Ethernet48|3\": {\n"
      "            \"wred_profile\": \"ROCE_WRED\"\n        }\n    },\n\n";
  const auto reading = [](std::string_view dropped, std::string_view marked) {
    return fmt::format(
        "admin@t0-22:~$ show queue wredcounters Ethernet48\n"
        "      Port    TxQ    WredDrp/pkts    WredDrp/bytes    EcnMarked/pkts    EcnMarked/bytes\n"
        "Ethernet48    UC3         {}         496,456,800      {}                 0\n",
        dropped, marked);
  };
  const std::string dropping = reading("118,204", "0") + reading("131,877", "0");
  EXPECT_TRUE(leads_to(profile + dropping, "ecn.off_on_lossless"));
  EXPECT_FALSE(leads_to(profile + reading("0", "0") + reading("0", "0"), "ecn.off_on_lossless"));
  EXPECT_FALSE(leads_to(profile + reading("118,204", "0") + reading("131,877", "40"),
                        "ecn.off_on_lossless"));
  EXPECT_FALSE(
      leads_to(replaced(profile, "ecn_none", "ecn_all") + dropping, "ecn.off_on_lossless"));
}

TEST(Noted, APlanIsNoReading) {
  COVERS("I11");
  const std::string loop = "$ ./ecn_loop.sh eth2\nPriority 0: NP=0 RP=0\nPriority 3: NP=1 RP=1\n";
  const std::string other = "Priority 3: NP=0 RP=1\n";
  EXPECT_FALSE(leads_to(loop + "\nSite plan (intended):\n" + other, "np.disabled"));
  EXPECT_TRUE(leads_to(loop + "\nFound on gpu07, not as planned:\n" + other, "np.disabled"));
  EXPECT_TRUE(leads_to("Site plan (intended):\n" + other + "\n$ ./ecn_loop.sh eth2\n" + other,
                       "np.disabled"));
}

TEST(Noted, RowsOfRailsWithTheirTrust) {
  COVERS("I14");
  const std::string rows = "trust per rail on gpu14\nrail0 dscp\nrail1 dscp\nrail2 pcp\n";
  EXPECT_TRUE(leads_to(rows, "trust.not_dscp"));
  EXPECT_FALSE(leads_to(replaced(rows, "pcp", "dscp"), "trust.not_dscp"));
  EXPECT_FALSE(leads_to("rail2 pcp\n", "trust.not_dscp"));  // alone it may be words
  EXPECT_TRUE(
      leads_to("clush -w gpu[01-03] cat /sys/class/net/eth2/qos/trust\n"
               "gpu01: dscp\ngpu02: dscp\ngpu03: pcp\n",
               "trust.not_dscp"));
}

TEST(Noted, RatesOfAPanelByHost) {
  COVERS("I1");
  const auto panel = [](std::string_view rate) {
    return fmt::format(
        "panel 14: rate(node_ethtool_tx_prio3_pause_duration{{device=\"rail4\"}}[1m])  unit: us/s\n"
        "\"Time\",\"gpu-b16\",\"gpu-b17\"\n\"2026-11-10 16:20:00\",0,{0}\n"
        "\"2026-11-10 16:21:00\",3,{0}\n\"2026-11-10 16:22:00\",0,{0}\n",
        rate);
  };
  EXPECT_TRUE(leads_to(panel("640118"), "receiver.slow"));
  EXPECT_FALSE(leads_to(panel("12"), "receiver.slow"));
}

TEST(Noted, CablesOfAListWithBothNamesOfAPort) {
  COVERS("A1");
  const auto lldp = [](std::string_view first, std::string_view second) {
    return fmt::format(
        "root@hx-904:~# lldpcli show neighbors summary\nLLDP neighbors:\n"
        "Interface:    ens7np0, via: LLDP\n  Chassis:\n    SysName:      {}\n"
        "  Port:\n    PortID:       ifname swp14\n"
        "Interface:    ens8np0, via: LLDP\n  Chassis:\n    SysName:      {}\n"
        "  Port:\n    PortID:       ifname swp14\n",
        first, second);
  };
  const std::string plan =
      "  hx-904  ens7np0 (mlx5_6) -> rail6-leaf swp14\n"
      "  hx-904  ens8np0 (mlx5_7) -> rail7-leaf swp14\n\n";
  EXPECT_TRUE(leads_to(plan + lldp("rail7-leaf", "rail6-leaf"), "wiring.mismatch"));
  EXPECT_FALSE(leads_to(plan + lldp("rail6-leaf", "rail7-leaf"), "wiring.mismatch"));
}

TEST(Noted, PacketsWithAWrongIcrc) {
  COVERS("I18");
  const auto reading = [](unsigned packets) {
    return fmt::format(
        "root@gpu7:~# cat /sys/class/infiniband/mlx5_0/ports/1/hw_counters/rx_icrc_encapsulated\n"
        "{}\n",
        packets);
  };
  EXPECT_TRUE(leads_to(reading(10) + reading(8210), "packet.icrc_bad"));
  EXPECT_FALSE(leads_to(reading(10) + reading(10), "packet.icrc_bad"));
  EXPECT_FALSE(leads_to(reading(8210), "packet.icrc_bad"));  // since the driver was loaded
}

TEST(Noted, PausesOfJunosAndTheHost) {
  COVERS("D8");
  const std::string text =
      "set class-of-service forwarding-classes class NO-LOSS queue-num 4\n"
      "set class-of-service forwarding-classes class NO-LOSS pfc-priority 4\n\n"
      "root@gpu1:~# dcb pfc show dev eth4\n"
      "prio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off\n";
  EXPECT_TRUE(leads_to(text, "pfc.wrong_priority"));
  const std::string both =
      "set class-of-service forwarding-classes class RDMA pfc-priority 3\n" + text;
  EXPECT_FALSE(leads_to(both, "pfc.wrong_priority"));  // a class for each
}

TEST(Noted, AThresholdOfTheUserDecidesAlsoForPastedText) {
  COVERS("I4", "I14");
  finding::Thresholds high;
  high.dscps_counted = high.source_ports_counted = high.sisters_meant_alike = 1'000'000'000;
  EXPECT_FALSE(leads_to(kTosUniq, "dscp.unmarked", high));
  EXPECT_FALSE(leads_to(kCase51, "ecmp.imbalance", high));
  EXPECT_FALSE(leads_to(kUplinkEosNolog, "link.degraded", high));
}

constexpr std::string_view kSessions =
    "admin@leaf3:~$ show ip bgp summary\n"
    "BGP router identifier 10.1.0.3, local AS number 65103 vrf-id 0\n\n"
    "Neighbor        V         AS   MsgRcvd   MsgSent   TblVer  InQ OutQ  Up/Down State/PfxRcd   "
    "PfxSnt Desc\n"
    "10.0.0.0        4      65001     88011     88012       51    0    0 04w2d11h          508   "
    "    12 spine-1\n"
    "10.0.0.2        4      65002     77011     77012        0    0    0 3d06h18m Idle (Admin)   "
    "     0 spine-2\n";

TEST(Noted, SessionsOfBgpThatAreDown) {
  COVERS("D3");
  constexpr std::string_view kId = "routing.bgp_down";
  const std::string text(kSessions);
  EXPECT_TRUE(leads_to(text, kId));
  EXPECT_TRUE(leads_to(replaced(text, "Idle (Admin)", "Active"), kId));
  EXPECT_FALSE(leads_to(replaced(text, "Idle (Admin)", "508"), kId));
  // a collector, and a peer of which nothing is known
  EXPECT_FALSE(leads_to(replaced(text, "0 spine-2", "0 mgmt-spine-2"), kId));
  EXPECT_FALSE(leads_to(replaced(text, "0 spine-2", "0 N/A"), kId));
  // meant so, and meant so in the past
  const std::string planned = "spine-2 is in maintenance until Friday\n" + text;
  EXPECT_FALSE(leads_to(planned, kId));
  EXPECT_TRUE(leads_to("maintenance of spine-2 is over, CHG closed\n" + text, kId));
  // never up, or on its way
  EXPECT_FALSE(leads_to(replaced(text, "3d06h18m Idle (Admin)", "never    Active"), kId));
  EXPECT_FALSE(leads_to(replaced(text, "3d06h18m Idle (Admin)", "00:00:40 Active"), kId));
}

/// Four sessions without names to one AS, as EOS, NX-OS and Junos print them.
constexpr auto kUnnamedSessions = std::to_array<std::string_view>(
    {"leaf-12#show bgp summary\n"
     "BGP summary information for VRF default\n"
     "Router identifier 10.255.0.12, local AS number 65012\n"
     "Neighbor Status Codes: m - Under maintenance\n"
     "Neighbor          AS Session State AFI/SAFI       AFI/SAFI State   NLRI Rcd   NLRI Acc\n"
     "-------- ----------- ------------- -------------- -------------- ---------- ----------\n"
     "10.0.12.0      65001 Established   IPv4 Unicast   Negotiated            130        130\n"
     "10.0.12.2      65001 Established   IPv4 Unicast   Negotiated            130        130\n"
     "10.0.12.4      65001 Active        IPv4 Unicast   Configured              0          0\n",
     "leaf101# show ip bgp summary\n"
     "BGP summary information for VRF default, address family IPv4 Unicast\n"
     "BGP router identifier 10.255.1.101, local AS number 65101\n"
     "BGP table version is 4411, IPv4 Unicast config peers 4, capable peers 3\n"
     "66 network entries and 192 paths using 31360 bytes of memory\n\n"
     "Neighbor        V    AS    MsgRcvd    MsgSent   TblVer  InQ OutQ Up/Down  State/PfxRcd\n"
     "10.1.1.0        4 65001     81120      81115     4411    0    0     8w0d 64\n"
     "10.1.1.2        4 65001     81120      81115     4411    0    0     8w0d 64\n"
     "10.1.1.6        4 65001     70021      70100        0    0    0 00:55:12 Active\n",
     "admin@leaf5> show bgp summary\n"
     "Groups: 1 Peers: 3 Down peers: 1\n"
     "Peer                     AS      InPkt     OutPkt    OutQ   Flaps Last Up/Dwn State|#Active\n"
     "10.1.5.0              65001     120331     120201       0       1       5w2d 32/32/32/0\n"
     "10.1.5.2              65001     120331     120201       0       1       5w2d 32/32/32/0\n"
     "10.1.5.4              65001          0          0       0       3    1:12:09 Active\n"});

TEST(Noted, ASessionOfBgpIsLikeThoseBesideIt) {
  COVERS("D3");
  constexpr std::string_view kId = "routing.bgp_down";
  for (const std::string_view table : kUnnamedSessions)
    EXPECT_TRUE(leads_to(std::string(table), kId)) << table;
  // an AS of its own, beside one AS that all others have: a firewall, a collector
  std::string text(kUnnamedSessions[1]);
  EXPECT_FALSE(leads_to(replaced(text, "10.1.1.6        4 65001", "10.1.1.6        4 64999"), kId));
  EXPECT_FALSE(leads_to(replaced(text, "00:55:12", "   never"), kId));
  EXPECT_FALSE(leads_to(replaced(text, "00:55:12 Active", "    8w0d 64"), kId));
}

TEST(Noted, ARemarkAboutWorkIsAboutWhatItNames) {
  COVERS("D3");
  constexpr std::string_view kId = "routing.bgp_down";
  const std::string text(kSessions);
  EXPECT_TRUE(leads_to("spine-7 is in maintenance until Friday.\n\n" + text, kId));
  EXPECT_FALSE(leads_to("This rack is in maintenance until Friday.\n\n" + text, kId));
  EXPECT_TRUE(
      leads_to("This rack is in maintenance until Friday.\n\n"
               "The table below is from this morning, and it is what we see.\n\n" +
                   text,
               kId));
}

TEST(Noted, SessionsOfBgpOverALinkThatIsDown) {
  COVERS("D3");
  const std::string link =
      "leaf3#show interfaces status\n"
      "Et49/1     spine-1 Et3/1    connected    routed   full   400G   400GBASE-DR4\n"
      "Et50/1     spine-2 Et3/1    notconnect   routed   full   400G   400GBASE-DR4\n";
  EXPECT_FALSE(leads_to(link + replaced(std::string(kSessions), "admin@leaf3:~$ ", "leaf3#"),
                        "routing.bgp_down"));
}

TEST(Noted, FecOfTwoSwitches) {
  COVERS("D8");
  const std::string row =
      "admin@leaf3:~$ show interfaces status\n"
      "Ethernet0  1,2,3,4  400G  9216  rs    etp1  routed  up    up  QSFP-DD Doub...  N/A\n"
      "Ethernet8  5,6,7,8  400G  9216  none  etp2  routed  down  up  QSFP-DD Doub...  N/A\n";
  EXPECT_TRUE(leads_to(row, "fec.wrong"));
  EXPECT_FALSE(leads_to(replaced(row, "down  up  QSFP-DD Doub...", "down  up  N/A"), "fec.wrong"));
  EXPECT_FALSE(leads_to(replaced(row, "none  etp2", "rs    etp2"), "fec.wrong"));
  const std::string eos =
      "spine7#show interfaces Et15/1 status\n"
      "Et15/1     leaf3            notconnect   routed   full   400G   400GBASE-DR4\n"
      "spine7#show running-config interfaces Et15/1\n"
      "interface Ethernet15/1\n   error-correction encoding reed-solomon\n";
  const std::string slow = replaced(replaced(row, "400G  9216  none", "100G  9216  none"),
                                    "400G  9216  rs", "100G  9216  rs");
  EXPECT_FALSE(leads_to(slow, "fec.wrong"));
  EXPECT_TRUE(leads_to(slow + eos, "fec.wrong"));
}

}  // namespace
}  // namespace weir::diagnose
