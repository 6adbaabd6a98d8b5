#include "readers/switches/switch_show.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/testing.h"
#include "readers/paste/merge.h"

namespace weir::readers {
namespace {

Recognised read_sample(const std::string& name) {
  const std::string path = fmt::format("{}/switch/show/{}", WEIR_TEST_DATA, name);
  const auto text = read_file(path);
  EXPECT_TRUE(text.has_value()) << path;
  auto read = read_text(text.value_or(""), name);
  EXPECT_TRUE(read.has_value()) << read.error().what;
  return read ? std::move(read).value() : Recognised();
}

Recognised read_pasted(std::string_view text) {
  auto read = read_text(text, "paste.txt");
  EXPECT_TRUE(read.has_value()) << read.error().what;
  return read ? std::move(read).value() : Recognised();
}

std::optional<std::uint64_t> counted(const Recognised& text, std::string_view port,
                                     std::string_view id, std::optional<unsigned> number = {}) {
  if (text.evidence.snapshots.empty()) return std::nullopt;
  for (const counters::PortCounters& counters_of_port :
       text.evidence.snapshots.front().switch_ports) {
    if (counters_of_port.netdev() != port) continue;
    const counters::Reading reading = counters_of_port.read(id, number);
    return reading.has_value() ? std::optional(reading.value()) : std::nullopt;
  }
  return std::nullopt;
}

const evidence::SwitchPort* find_port(const Recognised& text, std::string_view name) {
  if (text.evidence.switches.empty()) return nullptr;
  for (const evidence::SwitchPort& port : text.evidence.switches.front().ports)
    if (port.name == name) return &port;
  return nullptr;
}

struct Expected {
  std::string file;
  std::string kind;
  std::string port;
  std::string id;
  std::optional<unsigned> number;
  std::uint64_t value;
};

TEST(SwitchShow, EverySampleGivesItsCountersUnderOurNames) {
  COVERS("D4", "I1");
  const std::string rx = "switch.prio.pause_rx.frames";
  const std::string tx = "switch.prio.pause_tx.frames";
  const std::string storm = "switch.queue.watchdog_storm.events";
  const std::vector<Expected> cases = {
      {"sonic-pfc_wm_drops.txt", "sonic-show", "Ethernet16", rx, 3, 57},
      {"sonic-pfc_wm_drops.txt", "sonic-show", "Ethernet0", tx, 3, 1043},
      {"sonic-pfc_wm_drops.txt", "sonic-show", "Ethernet16", "switch.queue.ecn_marked.packets", 3,
       90211},
      {"sonic-pfc_wm_drops.txt", "sonic-show", "Ethernet0", "switch.pg.headroom_max.bytes", 3,
       45720},
      {"sonic-pfc_wm_drops.txt", "sonic-show", "Ethernet0", "switch.pg.drop_headroom.packets", 3,
       0},
      {"cumulus-roce_counters_swp3.txt", "cumulus-show", "swp3", rx, 3, 57},
      {"cumulus-roce_counters_swp3.txt", "cumulus-show", "swp3", "switch.prio.rx.bytes", 3,
       13421772800},
      {"cumulus-roce_counters_swp3.txt", "cumulus-show", "swp3", "switch.pg.occupancy_max.bytes", 3,
       236544},
      {"cumulus-roce_counters_swp3.txt",
       "cumulus-show",
       "swp3",
       "switch.port.cnp_tx.packets",
       {},
       14223},
      {"cumulus-pfc_watchdog_swp1.txt", "cumulus-show", "swp1", storm, 3, 2},
      {"arista-pfc.txt", "eos-show", "Ethernet3/1", rx, 3, 57},
      {"arista-pfc.txt", "eos-show", "Ethernet1/1", tx, 3, 1043},
      {"arista-pfc_watchdog.json", "eos-show", "Ethernet1/1", storm, 3, 1},
      {"nxos-pfc.txt", "nxos-show", "Ethernet1/1", tx, 3, 1043},
      {"nxos-pfc.txt", "nxos-show", "Ethernet1/3", "switch.queue.tx.bytes", 3, 12500000000},
      {"nxos-pfc.txt", "nxos-show", "Ethernet1/3", "switch.pg.drop_headroom.packets", 3, 0},
      {"nxos-pfc_wd.txt", "nxos-show", "Ethernet1/1", storm, 3, 1},
      {"junos-pfc_buffers.txt", "junos-show", "et-0/0/2", rx, 3, 57},
      {"junos-pfc_buffers.txt", "junos-show", "et-0/0/2", tx, 3, 3},
      {"junos-pfc_buffers.txt", "junos-show", "et-0/0/2", "switch.pg.occupancy_max.bytes", 3,
       254000},
  };
  for (const Expected& expected : cases) {
    const Recognised read = read_sample(expected.file);
    EXPECT_EQ(read.kind, expected.kind) << expected.file;
    EXPECT_TRUE(read.unread.empty()) << expected.file << ": " << read.unread.front().text;
    EXPECT_EQ(counted(read, expected.port, expected.id, expected.number), expected.value)
        << expected.file << " " << expected.port << " " << expected.id;
    EXPECT_EQ(read.evidence.provenance.origin, evidence::Origin::kText);
  }
}

TEST(SwitchShow, FactsOfTheSamplesAreRead) {
  COVERS("C7");
  const Recognised nxos = read_sample("nxos-pfc.txt");
  EXPECT_EQ(nxos.evidence.switches.front().name, "leaf01");
  EXPECT_TRUE(find_port(nxos, "Ethernet1/1")->pfc_active.is(PrioritySet::from_mask(8)));
  EXPECT_TRUE(find_port(nxos, "Ethernet1/4")->pfc_active.is(PrioritySet()));  // Auto Off
  const evidence::SwitchPort* third = find_port(nxos, "Ethernet1/3");
  ASSERT_EQ(third->groups.size(), 1U);
  EXPECT_TRUE(third->groups[0].headroom.is(271232_B));
  EXPECT_TRUE(third->groups[0].xon.is(1664_B));
  ASSERT_EQ(third->queues.size(), 3U);
  EXPECT_TRUE(third->queues[0].scheduler.is(evidence::Scheduler::kStrict));
  EXPECT_TRUE(third->queues[1].weight.is(50));

  const Recognised eos = read_sample("arista-pfc.txt");
  const evidence::SwitchPort* first = find_port(eos, "Ethernet1/1");
  ASSERT_EQ(first->queues.size(), 1U);
  EXPECT_TRUE(first->queues[0].ecn_min.is(100_KB));
  EXPECT_TRUE(first->queues[0].ecn_max.is(1500_KB));

  const Recognised sonic = read_sample("sonic-pfc_wm_drops.txt");
  EXPECT_TRUE(sonic.evidence.switches.front().watchdog.detection.is(200_ms));
  EXPECT_TRUE(sonic.evidence.switches.front().watchdog.restoration.is(400_ms));

  const Recognised cumulus = read_sample("cumulus-pfc_watchdog_swp1.txt");
  EXPECT_TRUE(cumulus.evidence.switches.front().watchdog.enabled.is(true));
  const evidence::SwitchPort* swp1 = find_port(cumulus, "swp1");
  ASSERT_EQ(swp1->queues.size(), 2U);
  EXPECT_TRUE(swp1->queues[0].stuck.is(false));
  EXPECT_TRUE(swp1->queues[1].stuck.is(true));

  const Recognised junos = read_sample("junos-pfc_buffers.txt");
  const auto& pools = *junos.evidence.switches.front().pools;
  ASSERT_EQ(pools.size(), 4U);
  EXPECT_EQ(pools[1].size, 22632_KiB);
  EXPECT_EQ(pools[2].kind, evidence::PoolKind::kHeadroom);
}

TEST(SwitchShow, ANumberWithoutItsPriorityIsKeptButGivenToNoPriority) {
  const Recognised read = read_pasted("Port        RxPfc       TxPfc\nEt1/1   7  9\n");
  EXPECT_EQ(counted(read, "Ethernet1/1", "switch.prio.pause_rx.frames", 3), std::nullopt);
  const auto& ports = read.evidence.snapshots.front().switch_ports;
  EXPECT_EQ(ports.front().read("switch.port.pause_rx.frames").value(), 7U);
  ASSERT_EQ(read.evidence.gaps.size(), 1U);
  EXPECT_EQ(read.evidence.switches.front().name, "paste");
}

TEST(SwitchShow, JsonOfNxosAndCumulusIsReadByTheSameNames) {
  const Recognised nxos = read_pasted(R"json({"TABLE_module": {"ROW_module": {
    "TABLE_pfc_interface": {"ROW_pfc_interface": [
      {"if_name_str": "Ethernet1/1", "admin": "On", "oper": "On (8)", "rx-stats": "5",
       "tx-stats": "6"}]},
    "TABLE_queuing_interface": {"ROW_queuing_interface": {"if_name_str": "Ethernet1/2",
      "dir": "Egress", "TABLE_qosgrp_egress_stats": {"ROW_qosgrp_egress_stats": {"eq-qosgrp": "3",
        "TABLE_qosgrp_egress_stats_entry": {"ROW_qosgrp_egress_stats_entry": [
          {"eq-stat-type": "Tx", "eq-stat-units": "Pkts", "eq-uc-stat-value": "11"}]}}},
      "TABLE_pfc_stats": {"ROW_pfc_stats": [{"cos": "3", "tx-pause-count": "1",
        "rx-pause-count": "2"}]}}}}}})json");
  EXPECT_EQ(counted(nxos, "Ethernet1/1", "switch.prio.pause_rx.frames", 3), 5U);
  EXPECT_EQ(counted(nxos, "Ethernet1/2", "switch.queue.tx.packets", 3), 11U);
  EXPECT_EQ(counted(nxos, "Ethernet1/2", "switch.prio.pause_rx.frames", 3), 2U);
  const Recognised cumulus = read_pasted(
      "cumulus@leaf01:~$ nv show interface swp3 qos roce counters -o json\n"
      R"({"rx-stats": {"rx-pfc-stats": {"pause-packets": 57},
          "rx-roce-stats": {"pg-max-usage": "231.00 KB"}}})");
  EXPECT_EQ(counted(cumulus, "swp3", "switch.prio.pause_rx.frames", 3), 57U);
  EXPECT_EQ(counted(cumulus, "swp3", "switch.pg.occupancy_max.bytes", 3), 236544U);
}

TEST(SwitchShow, SonicTablesBesideTheSamplesAreRead) {
  const Recognised read = read_pasted(
      "      QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP\n"
      "-----------  -----------  -------------------------  ------------  ------------\n"
      "Ethernet0:3      stormed                        3/2       100/300       100/300\n"
      "\n"
      "      IFACE    STATE    RX_OK     RX_BPS    RX_UTIL    RX_ERR    RX_DRP    RX_OVR    TX_OK"
      "    TX_BPS    TX_UTIL    TX_ERR    TX_DRP    TX_OVR\n"
      "-----------  -------  -------  ---------  ---------  --------  --------  --------  -------"
      "  --------  ---------  --------  --------  --------\n"
      "  Ethernet0        U   10,254  200.54 B/s     41.70%         0        28         0      202"
      "  18.79 B/s      0.00%         0         0         0\n"
      "\n"
      "Egress shared pool occupancy per unicast queue:\n"
      "       Port    UC0      UC1    UC2    UC3    UC4    UC5    UC6    UC7    UC8    UC9\n"
      "-----------  -----  -------  -----  -----  -----  -----  -----  -----  -----  -----\n"
      "  Ethernet0      0  2554880      0      9      0      0      0   2048      0      0\n"
      "\n"
      "  Interface  Lossless priorities\n"
      "-----------  ---------------------\n"
      "  Ethernet0  3,4\n");
  EXPECT_EQ(counted(read, "Ethernet0", "switch.queue.watchdog_storm.events", 3), 3U);
  EXPECT_EQ(counted(read, "Ethernet0", "switch.queue.drop_watchdog.packets", 3), 300U);
  EXPECT_TRUE(find_port(read, "Ethernet0")->queues.front().stuck.is(true));
  EXPECT_EQ(counted(read, "Ethernet0", "switch.port.rx.packets"), 10254U);
  EXPECT_EQ(counted(read, "Ethernet0", "switch.port.rx.utilisation.percent"), 41U);
  EXPECT_EQ(counted(read, "Ethernet0", "switch.queue.depth_max.bytes", 3), 9U);
  EXPECT_TRUE(find_port(read, "Ethernet0")->pfc.is(PrioritySet::from_mask(0x18)));
  EXPECT_TRUE(read.unread.empty());
}

TEST(SwitchShow, RowsThatDoNotFitTheirTableAreListedByLine) {
  const Recognised read = read_pasted(
      "admin@leaf2:~$ show pfc counters\n"
      "   Port Rx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7\n"
      "-----------  ------  ------  ------  ------  ------  ------  ------  ------\n"
      "  Ethernet0       0       0       0     x57       0       0       0       0\n"
      "  Ethernet8       0       0\n");
  ASSERT_EQ(read.unread.size(), 2U);
  EXPECT_EQ(read.unread[0].line, 4);
  EXPECT_EQ(read.unread[1].line, 5);
  EXPECT_EQ(read.evidence.switches.front().name, "leaf2");
}

TEST(SwitchShow, OneTextMayHoldSeveralSwitches) {
  const Recognised read = read_pasted(
      "admin@leaf1:~$ show pfc priority\n  Interface  Lossless priorities\n  Ethernet0  3\n"
      "admin@leaf2:~$ show pfc priority\n  Interface  Lossless priorities\n  Ethernet0  4\n");
  ASSERT_EQ(read.evidence.switches.size(), 2U);
  EXPECT_TRUE(read.evidence.switches[1].ports.front().pfc.is(PrioritySet::from_mask(0x10)));
}

TEST(SwitchShow, ATextThatNoReaderKnowsIsRefusedWithWhatCanBeRead) {
  const auto read = read_text("hello\nworld\n", "notes.txt");
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(read.error().what.find("notes.txt"), std::string::npos);
  EXPECT_NE(read.error().what.find("SONiC"), std::string::npos);
}

TEST(SwitchShow, EverySampleIsKnownToOneReaderOnly) {
  for (const char* name :
       {"sonic-pfc_wm_drops.txt", "cumulus-roce_counters_swp3.txt", "cumulus-pfc_watchdog_swp1.txt",
        "arista-pfc.txt", "arista-pfc_watchdog.json", "nxos-pfc.txt", "nxos-pfc_wd.txt",
        "junos-pfc_buffers.txt"}) {
    const auto text = read_file(fmt::format("{}/switch/show/{}", WEIR_TEST_DATA, name));
    ASSERT_TRUE(text.has_value());
    int knowing = 0;
    for (const Reader& reader : readers())
      knowing += reader.recognises(*text) ? 1 : 0;
    EXPECT_EQ(knowing, 1) << name;
  }
}

TEST(SwitchShow, OutputsOfOneMomentAreOneLookAndARepeatIsALaterOne) {
  COVERS("D8");
  const auto pieces = [](std::vector<std::string> names) {
    std::vector<evidence::Evidence> out;
    for (const std::string& name : names)
      out.push_back(read_sample(name).evidence);
    return merge_texts(std::move(out));
  };
  const auto together = pieces({"nxos-pfc.txt", "nxos-pfc_wd.txt"});
  ASSERT_EQ(together.size(), 1U);
  ASSERT_EQ(together[0].snapshots.size(), 1U);
  EXPECT_EQ(together[0].switches.size(), 1U);
  EXPECT_TRUE(together[0].switches[0].watchdog.enabled.is(true));
  const auto twice = pieces({"nxos-pfc.txt", "nxos-pfc.txt"});
  EXPECT_EQ(twice.size(), 2U);
}

TEST(SwitchShow, EosCountersByPortQueueAndPriority) {
  COVERS("D4");
  const Recognised read = read_pasted(
      "leaf21#show clock\nWed Apr  8 09:14:02 2026\nTimezone: UTC\n"
      "leaf21#show priority-flow-control counters detail\n"
      "Port   RxPfc0 RxPfc1 RxPfc2 RxPfc3 RxPfc4 RxPfc5 RxPfc6 RxPfc7\n"
      "Et7/1       0      0      0   9120      0      0      0      0\n"
      "Port   TxPfc0 TxPfc1 TxPfc2 TxPfc3 TxPfc4 TxPfc5 TxPfc6 TxPfc7\n"
      "Et7/1       0      0      0      4      0      0      0      0\n"
      "leaf21#show interfaces counters errors\n"
      "Port    FCS  Align  Symbol  Rx  Runts  Giants  Tx\nEt7/1    12      0       0  12      0    "
      "   0   0\n"
      "leaf21#show interfaces counters\n"
      "Port   InOctets InUcastPkts InMcastPkts InBcastPkts\nEt7/1  9182736  91827  4  2\n"
      "leaf21#show qos interfaces ecn counters queue\n"
      "Interface   Tx-Queue   ECN Marked Packets\nEt7/1       UC3        817\n"
      "leaf21#show interfaces Ethernet9/1 | include errors\n"
      "     0 input errors, 3 CRC, 0 alignment, 0 symbol, 0 input discards\n"
      "leaf21#show clock\nWed Apr  8 09:14:32 2026\nTimezone: UTC\n"
      "leaf21#show priority-flow-control counters detail\n"
      "Port   RxPfc0 RxPfc1 RxPfc2 RxPfc3 RxPfc4 RxPfc5 RxPfc6 RxPfc7\n"
      "Et7/1       0      0      0   9523      0      0      0      0\n");
  EXPECT_TRUE(read.unread.empty());
  EXPECT_EQ(counted(read, "Ethernet7/1", "switch.prio.pause_rx.frames", 3), 9120U);
  EXPECT_EQ(counted(read, "Ethernet7/1", "switch.prio.pause_tx.frames", 3), 4U);
  EXPECT_EQ(counted(read, "Ethernet7/1", "switch.port.crc_error.packets"), 12U);
  EXPECT_EQ(counted(read, "Ethernet7/1", "switch.port.rx.bytes"), 9182736U);
  EXPECT_EQ(counted(read, "Ethernet7/1", "switch.queue.ecn_marked.packets", 3), 817U);
  EXPECT_EQ(counted(read, "Ethernet9/1", "switch.port.crc_error.packets"), 3U);
  ASSERT_EQ(read.evidence.snapshots.size(), 2U);
  EXPECT_EQ(read.evidence.snapshots[1].clock_ns, 30'000'000'000);
}

TEST(SwitchShow, TotalsOfEosBelongToTheSwitchThatPrintedThem) {
  const Recognised read = read_pasted(
      "leaf1#show priority-flow-control\nPort Enabled Priorities Active Note\nEt1/1 Yes 3 Yes\n"
      "leaf1#show priority-flow-control counters\nPort RxPfc TxPfc\nEt1/1 7 9\n"
      "leaf2#show priority-flow-control counters\nPort RxPfc TxPfc\nEt1/1 70 90\n");
  ASSERT_EQ(read.evidence.snapshots.size(), 1U);
  for (const counters::PortCounters& port : read.evidence.snapshots[0].switch_ports) {
    const bool is_first = port.device() == "leaf1";
    const counters::Reading placed = port.read("switch.prio.pause_rx.frames", 3);
    const counters::Reading all = port.read("switch.port.pause_rx.frames");
    EXPECT_EQ(placed.has_value(), is_first);
    EXPECT_EQ(all.has_value(), !is_first);
    EXPECT_EQ((is_first ? placed : all).value(), is_first ? 7U : 70U);
  }
}

TEST(SwitchShow, EosStatusIsReadByTheColumnsOfItsTable) {
  const std::string letters =
      "leaf1#show priority-flow-control\n"
      "E: PFC Enabled, D: PFC Disabled, A: PFC Active, W: PFC Watchdog Enabled\n"
      "Port     Status  Priorities Action      Timeout  Recovery        Polling         Note\n";
  const PrioritySet three = PrioritySet::from_mask(1U << 3);
  const PrioritySet both = PrioritySet::from_mask(3U << 3);
  struct Row {
    std::string_view text;
    PrioritySet pfc;
    PrioritySet active;
  };
  for (const Row& row :
       {Row{"E A W   3          -  -  - / -  - / -  DCBX disabled", three, three},
        Row{"E A W   3    drop     1.00", three, three},
        Row{"E A     3    -        -", three, three}, Row{"E A -   3    -        -", three, three},
        Row{"E   W   3    -        -", three, PrioritySet()},
        Row{"EAW     34   -        -", both, both}, Row{"E A W   3 4  -        -", both, both},
        Row{"E A W   -    -        2", PrioritySet(), PrioritySet()},
        Row{"D       3    -        -", PrioritySet(), PrioritySet()},
        Row{"D - -        -        -", PrioritySet(), PrioritySet()}}) {
    const Recognised read = read_pasted(letters + "Et1/1    " + std::string(row.text) + "\n");
    const evidence::SwitchPort* port = find_port(read, "Ethernet1/1");
    ASSERT_NE(port, nullptr) << row.text;
    EXPECT_TRUE(port->pfc.is(row.pfc)) << row.text;
    EXPECT_TRUE(port->pfc_active.is(row.active)) << row.text;
  }
  const Recognised two = read_pasted(
      "leaf1#show priority-flow-control\nPort Enabled Priorities Active Note\n"
      "Et1/1 Yes 3 4 Yes DCBX disabled\nEt2/1 No No\n");
  EXPECT_TRUE(find_port(two, "Ethernet1/1")->pfc_active.is(both));
  EXPECT_TRUE(find_port(two, "Ethernet2/1")->pfc.is(PrioritySet()));
}

TEST(SwitchShow, EosStatusWithUnknownColumnsSaysNothingOfPfc) {
  const std::string legend =
      "E: PFC Enabled, D: PFC Disabled, A: PFC Active, W: PFC Watchdog Enabled\n";
  for (const std::string_view table :
       {"Port Mode Status Priorities Action\nEt1/1 auto E 3 drop\nEt2/1 1 2\n",
        "Port Status Priorities Action\nEt1/1 X 3 drop\nEt2/1 E A W drop -\n",
        "Port Enabled Priorities Active Note\nEt1/1 E A W 3\nEt2/1 Yes 3 drop\n"}) {
    const Recognised read = read_pasted(legend + std::string(table) + "Et3/1 0 0\n" +
                                        "Port RxPfc TxPfc\nEt1/1 7 9\nEt2/1 7 9\n");
    for (const std::string_view name : {"Ethernet1/1", "Ethernet2/1", "Ethernet3/1"}) {
      const evidence::SwitchPort* port = find_port(read, name);
      EXPECT_TRUE(port == nullptr || !port->pfc.is_known()) << table;
    }
    EXPECT_EQ(read.unread.size(), 3U) << table;
  }
}

TEST(SwitchShow, NxosClassificationOfThePolicyInUse) {
  const std::string pfc = "Port   Mode Oper(VL bmap)  RxPPP   TxPPP\nEthernet1/9 On On (8) 0 0\n";
  const std::string config =
      "lf1# show running-config ipqos\nclass-map type qos match-any ROCE\n  match dscp 24-25,26\n"
      "policy-map type qos IN\n  class ROCE\n    set qos-group 3\n";
  const std::string use = "interface Ethernet1/9\n  service-policy type qos input IN\n";
  const auto map_of = [&](const std::string& text) {
    return read_pasted("lf1# show interface priority-flow-control\n" + pfc + text)
        .evidence.switches.front()
        .dscp_to_tc;
  };
  const auto map = map_of(config + use);
  ASSERT_TRUE(map.is_known());
  EXPECT_EQ(map->at(24), TrafficClass::of(3));
  EXPECT_EQ(map->at(26), TrafficClass::of(3));
  EXPECT_EQ(map->at(27), std::nullopt);
  EXPECT_FALSE(map_of(config).is_known()) << "no port uses it";
  EXPECT_FALSE(map_of(config + "pause pfc-cos 4\n" + use).is_known()) << "another number";
  EXPECT_FALSE(map_of(config + use + "  service-policy type qos input OTHER\n").is_known());
  EXPECT_FALSE(map_of("lf1# show run\npause pfc-cos 3\n").is_known()) << "no class";
}

TEST(SwitchShow, NxosShortenedCommandsAndErrors) {
  COVERS("D4");
  const Recognised read = read_pasted(
      "lf3# sh int priority-flow-control\n"
      "Port               Mode Oper(VL bmap)  RxPPP      TxPPP\n"
      "Ethernet1/3        On   On  (20)      1204       88\nEthernet1/5        Auto Off   0   0\n"
      "lf3# sh int counters errors\n"
      "Port       Align-Err  FCS-Err  Xmit-Err  Rcv-Err  UnderSize  OutDiscards\n"
      "Eth1/5             0       41         0       41          0            0\n"
      "Port       Single-Col  Multi-Col  Late-Col  Exces-Col  Carri-Sen  Runts-Err\n"
      "Eth1/5             0          0         0          0          0          7\n"
      "lf3# sh int e1/6\nEthernet1/6 is up\nadmin state is up, Dedicated Interface\n"
      "  MTU 1500 bytes, BW 400000000 Kbit , DLY 10 usec\n"
      "    0 runts  0 giants  5 CRC  0 no buffer\n");
  EXPECT_EQ(read.evidence.switches.front().name, "lf3");
  EXPECT_EQ(counted(read, "Ethernet1/3", "switch.prio.pause_rx.frames", 5), 1204U);
  EXPECT_EQ(counted(read, "Ethernet1/5", "switch.port.crc_error.packets"), 41U);
  EXPECT_EQ(counted(read, "Ethernet1/6", "switch.port.crc_error.packets"), 5U);
  EXPECT_TRUE(find_port(read, "Ethernet1/6")->mtu.is(1500_B));
  EXPECT_TRUE(read.unread.empty()) << read.unread.front().text;
}

TEST(SwitchShow, JunosQueuesAndBrokenFrames) {
  COVERS("D4");
  const Recognised read = read_pasted(
      "ops@q1> show interfaces queue et-0/0/14\nPhysical interface: et-0/0/14, up, Physical link "
      "is "
      "Up\nForwarding classes: 16 supported, 4 in use\n"
      "Queue: 3, Forwarding classes: no-loss\n  Queued:\n"
      "    Packets              :   900   10 pps\n  Transmitted:\n"
      "    Packets              :   800   10 pps\n    Bytes                :   64000   10 bps\n"
      "    Tail-dropped packets :   100   0 pps\n    RED-dropped packets  :   2   0 pps\n"
      "    ECN-CE packets       :   55   0 pps\n"
      "ops@q1> show interfaces et-0/0/5 extensive | match \"CRC|Physical\"\n"
      "Physical interface: et-0/0/5, Enabled, Physical link is Up\n"
      "    CRC/Align errors                        4411                0\n");
  EXPECT_EQ(counted(read, "et-0/0/14", "switch.queue.tx.packets", 3), 800U);
  EXPECT_EQ(counted(read, "et-0/0/14", "switch.queue.drop_tail.packets", 3), 100U);
  EXPECT_EQ(counted(read, "et-0/0/14", "switch.queue.drop_wred.packets", 3), 2U);
  EXPECT_EQ(counted(read, "et-0/0/14", "switch.queue.ecn_marked.packets", 3), 55U);
  EXPECT_EQ(counted(read, "et-0/0/5", "switch.port.crc_error.packets"), 4411U);
}

TEST(SwitchShow, CumulusPortsAndTheirClasses) {
  COVERS("D4");
  const Recognised read = read_pasted(
      "cumulus@leaf05:mgmt:~$ nv show interface\n"
      "Interface  Admin Status  Oper Status  Speed  MTU    Type      Remote Host  Remote Port\n"
      "---------  ------------  -----------  -----  -----  --------  -----------  -----------\n"
      "lo         up            unknown             65536  loopback\n"
      "swp5       up            up           400G   1500   swp       ml-a6        eth2\n"
      "swp6       up            down                9216   swp\n"
      "cumulus@leaf05:mgmt:~$ nv show interface swp12 counters\n"
      "in-bytes             1.00 KB\nin-pkts              32\nout-drops            4\n"
      "cumulus@leaf05:mgmt:~$ nv show interface swp12 counters qos\nIngress Buffer Statistics\n"
      "    priority-group  rx-frames  rx-buffer-discards  rx-shared-buffer-discards\n"
      "    --------------  ---------  ------------------  -------------------------\n"
      "    3               3298       0 Bytes             0 Bytes\n"
      "    4               3298       9 KB                0 Bytes\n"
      "PFC Statistics\n"
      "    switch-priority  rx-pause-frames  rx-pause-duration  tx-pause-frames  "
      "tx-pause-duration\n"
      "    ---------------  ---------------  -----------------  ---------------  "
      "-----------------\n"
      "    3                19               214                7                88\n");
  EXPECT_TRUE(read.unread.empty()) << read.unread.front().text;
  EXPECT_TRUE(find_port(read, "swp5")->mtu.is(1500_B));
  EXPECT_TRUE(find_port(read, "swp6")->mtu.is(9216_B));
  EXPECT_FALSE(find_port(read, "swp6")->up.is_known()) << "nobody may use it";
  EXPECT_EQ(find_port(read, "lo"), nullptr);
  EXPECT_EQ(counted(read, "swp12", "switch.port.rx.bytes"), 1024U);
  EXPECT_EQ(counted(read, "swp12", "switch.port.drop.packets"), 4U);
  EXPECT_EQ(counted(read, "swp12", "switch.pg.drop_headroom.packets", 3), 0U);
  EXPECT_EQ(counted(read, "swp12", "switch.pg.drop_headroom.packets", 4), std::nullopt)
      << "a size is no number of packets";
  EXPECT_EQ(counted(read, "swp12", "switch.prio.pause_rx.microseconds", 3), 214U);
}

TEST(SwitchShow, TrustOfEosPortsIsWhatWasTyped) {
  const Recognised read = read_pasted(
      "leaf2#show qos interfaces trust\nPort                    Trust Mode\n"
      "                 Operational   Configured\n---------------- ------------- ----------\n"
      "Ethernet1/1      DSCP          DEFAULT\nEthernet2/1      COS           COS\n"
      "Ethernet3/1      COS           DEFAULT\n");
  using evidence::TrustMode;
  ASSERT_NE(find_port(read, "Ethernet2/1"), nullptr);
  EXPECT_TRUE(find_port(read, "Ethernet1/1")->trust.is(TrustMode::kDscp));
  EXPECT_TRUE(find_port(read, "Ethernet2/1")->trust.is(TrustMode::kPcp));
  EXPECT_EQ(find_port(read, "Ethernet3/1"), nullptr) << "a switched port as it comes";
}

TEST(SwitchShow, CumulusShowsItsRoceSettings) {
  const Recognised read = read_pasted(
      "cumulus@leaf3:mgmt:~$ nv show qos roce\n        operational  applied\n-----  ----  ----\n"
      "mode                lossless     lossless\npfc\n  pfc-priority      4            4\n"
      "  rx-enabled        enabled      enabled\n  tx-enabled        enabled      enabled\n"
      "trust\n  trust-mode        pcp          pcp\n"
      "cumulus@leaf3:mgmt:~$ nv show interface swp16 qos roce status\n"
      "pfc\n  pfc-priority      3      switch-prio on which PFC is enabled\n"
      "  rx-enabled        yes    PFC Rx Enabled status\n"
      "trust\n  trust-mode        pcp,dscp\n");
  const evidence::SwitchPort* const all = find_port(read, "qos roce");
  const evidence::SwitchPort* const port = find_port(read, "swp16");
  ASSERT_TRUE(all != nullptr && port != nullptr);
  EXPECT_EQ(all->pfc->mask(), 1U << 4U);
  EXPECT_TRUE(all->trust.is(evidence::TrustMode::kPcp));
  EXPECT_EQ(port->pfc->mask(), 1U << 3U);
  EXPECT_TRUE(port->trust.is(evidence::TrustMode::kBoth));
}

TEST(SwitchShow, JunosShowsPrioritiesWithPfcAndRatesOfItsQueues) {
  std::string table = "Name: roce, Index: 21, Type: Input\n  Priority    PFC             MRU\n";
  for (const char* bits : {"000", "001", "010", "011", "100", "101", "110", "111"})
    table += fmt::format("  {}         {}\n", bits,
                         std::string_view(bits) == "011" ? "Enabled         9216" : "Disabled");
  const Recognised profile =
      read_pasted("ops@qfx1> show class-of-service congestion-notification\n" + table);
  ASSERT_NE(find_port(profile, "congestion-notification roce"), nullptr);
  EXPECT_EQ(find_port(profile, "congestion-notification roce")->pfc->mask(), 1U << 3U);
  EXPECT_EQ(find_port(read_pasted("Physical interface: et-0/0/7, Enabled, Physical link is Up\n" +
                                  table.substr(0, table.size() / 2)),
                      "congestion-notification roce"),
            nullptr)
      << "half of the priorities";
  const auto queue = [](unsigned rate) {
    return read_pasted(fmt::format(
        "Physical interface: et-0/0/7, Enabled, Physical link is Up\n"
        "Queue: 3, Forwarding classes: no-loss\n  Transmitted:\n"
        "    Packets              :      900      {0} pps\n"
        "    Tail-dropped packets :      100      {0} pps\n    Total-dropped packets:   100\n",
        rate));
  };
  const Recognised dropping = queue(11);
  ASSERT_EQ(dropping.evidence.snapshots.size(), 2U) << "the system measures the rate itself";
  EXPECT_EQ(dropping.evidence.snapshots[1].clock_ns, 1'000'000'000);
  EXPECT_EQ(queue(0).evidence.snapshots.size(), 1U);
}

TEST(SwitchShow, SonicListsItsPorts) {
  const Recognised read = read_pasted(
      "  Interface            Lanes    Speed    MTU    FEC    Alias    Vlan    Oper    Admin   "
      "          Type    Asym PFC\n-----------  ----  ----\n"
      "  Ethernet0  1,2,3,4,5,6,7,8     400G   9100     rs     etp1  routed      up       up  "
      "OSFP 8X Pluggable          N/A\n"
      "  Ethernet8  9,10,11,12          400G   1500     rs     etp2  routed    down       up  "
      "OSFP 8X Pluggable          N/A\n");
  ASSERT_NE(find_port(read, "Ethernet8"), nullptr);
  EXPECT_EQ(find_port(read, "Ethernet0")->mtu->raw(), 9100);
  EXPECT_TRUE(find_port(read, "Ethernet0")->up.is(true));
  EXPECT_EQ(find_port(read, "Ethernet8")->mtu->raw(), 1500);
  EXPECT_FALSE(find_port(read, "Ethernet8")->up.is_known()) << "it may be one that nobody uses";
}

TEST(SwitchShow, TheWatchdogOfEosIsReadAsATable) {
  const Recognised read = read_pasted(
      "leaf5#show priority-flow-control counters watchdog\n"
      "Port    TxQ   Total times   Total times\n              stuck         recovered\n"
      "------- ----- ------------- -----------\nEt7/1   UC3   12            11\n");
  EXPECT_EQ(counted(read, "Ethernet7/1", "switch.queue.watchdog_storm.events", 3), 12U);
}

}  // namespace
}  // namespace weir::readers
