#include "readers/paste/paste.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/testing.h"
#include "base/text.h"
#include "counters/delta.h"
#include "readers/paste/paste_text.h"

namespace weir::readers {
namespace {

using evidence::Missing;

std::string data(const std::string& name) {
  const auto text = read_file(std::string(WEIR_TEST_DATA) + "/" + name, std::size_t{1} << 22U);
  EXPECT_TRUE(text.has_value()) << name;
  return text ? *text : std::string();
}

Paste paste_of(std::string_view text) {
  return read_paste({{"paste.txt", text}});
}

std::string tools_of(const Paste& paste) {
  std::vector<std::string> out;
  for (const PastePart& part : paste.parts)
    out.push_back(to_text(part));
  return join(out, "; ");
}

evidence::Nic only_nic(const Paste& paste) {
  if (paste.evidence.size() != 1 || paste.evidence[0].nics.size() != 1) {
    ADD_FAILURE() << "expected one host with one NIC";
    return {};
  }
  return paste.evidence[0].nics[0];
}

TEST(Paste, RecognisesEveryToolByItsContent) {
  COVERS("D8");
  struct Case {
    std::string_view file;
    std::string_view parts;
    std::size_t rest;
  };
  const Case cases[] = {
      {"counters/ethtool_S_mlx5_pfc3.txt", "ethtool -S (mlx5)", 0},
      {"counters/ethtool_S_bnxt_pfc3.txt", "ethtool -S (bnxt)", 0},
      {"counters/ethtool_S_ice_pfc3.txt", "ethtool -S (irdma)", 0},
      {"counters/ethtool_S_ionic_pfc3.txt", "ethtool -S (ionic)", 0},
      {"paste/mlnx_qos_default.txt", "mlnx_qos", 0},
      {"paste/mlnx_qos_lldpad.txt", "mlnx_qos", 0},
      {"paste/dcb.txt",
       "dcb of fnic0; dcb of fnic0; dcb of fnic0; dcb of fnic0; dcb of fnic0; dcb of fnic0; dcb of "
       "fnic0",
       8},
      {"paste/show_gids.txt", "show_gids of mlx5_0", 0},
      {"paste/ibdev2netdev.txt", "ibdev2netdev", 0},
      {"paste/rdma_link.txt", "rdma link", 0},
      {"paste/ibv_devinfo-v.txt", "ibv_devinfo of rxe_a", 0},
      {"paste/ip.txt", "ip; ip route", 0},
      {"paste/lspci_acs.txt", "lspci", 0},
      {"paste/lspci_nic_downgraded.txt", "lspci", 0},
      {"paste/dmesg_flaps.txt", "the kernel's log", 0},
      {"paste/dmesg_boot.txt", "the kernel's log", 0},
      {"paste/hw_counters_grep.txt", "files of the kernel of gpu02 mlx5_0", 0},
      {"paste/tcpdump_v.txt", "tcpdump of eth2", 0},
      {"load/ib_write_bw_D60_gbits_client.composed.txt", "perftest (RDMA_Write BW Test) of mlx5_0",
       0},
      {"load/errors_stderr.composed.txt", "perftest", 0},
      {"load/all_reduce_perf_2node.composed.txt", "nccl-tests (all_reduce_perf)", 0},
      {"nccl/nccl_retry_exceeded.composed.log", "a log of NCCL (1 rank)", 0},
      {"switch/show/sonic-pfc_wm_drops.txt", "output of SONiC's show commands of leaf01", 0},
  };
  for (const Case& test : cases) {
    const Paste paste = paste_of(data(std::string(test.file)));
    EXPECT_EQ(tools_of(paste), test.parts) << test.file;
    EXPECT_EQ(paste.rest.size(), test.rest)
        << test.file << ": " << (paste.rest.empty() ? "" : paste.rest[0].text);
    EXPECT_TRUE(paste.unread.empty()) << test.file << ": " << paste.unread[0].line.text;
  }
}

TEST(Paste, ReadsPromptsPrefixesAndHeadings) {
  struct Case {
    std::string_view line;
    std::string_view host;
    std::string_view tool;
    std::string_view device;
  };
  const Case cases[] = {
      {"root@gpu01:~# ethtool -S eth2", "gpu01", "ethtool", "eth2"},
      {"[root@gpu-7.lab ~]# mlnx_qos -i ens1f0np0", "gpu-7.lab", "mlnx_qos", "ens1f0np0"},
      {"(base) me@gpu01:/tmp$ sudo /usr/sbin/ethtool -S eth2 | grep prio", "gpu01", "ethtool",
       "eth2"},
      {"$ ssh root@gpu03 ibv_devinfo -d mlx5_3", "gpu03", "ibv_devinfo", "mlx5_3"},
      {"# dcb pfc show dev eth2", "", "dcb", "eth2"},
      {"### rdma statistic show link mlx5_0/1", "", "rdma", "mlx5_0"},
      {"=== gpu07 ===", "gpu07", "", ""},
      {"--- mlx5_1 ---", "", "", "mlx5_1"},
      {"gpu12 | CHANGED | rc=0 >>", "gpu12", "", ""},
      {"cat /sys/class/infiniband/mlx5_0/tc/1/traffic_class", "", "cat", "mlx5_0"},
      {"leaf01# show pfc counters", "leaf01", "show", ""},
  };
  for (const Case& test : cases) {
    const auto mark = mark_of(test.line);
    ASSERT_TRUE(mark.has_value()) << test.line;
    EXPECT_EQ(mark->host, test.host) << test.line;
    EXPECT_EQ(mark->tool(), test.tool) << test.line;
    EXPECT_EQ(mark->device, test.device) << test.line;
  }
  for (const std::string_view line :
       {"ethtool shows a lot of discards", "     rx_prio3_pause: 12", "tc: 3 ratelimit: unlimited",
        "Pre-set maximums:", "[  12.345] mlx5_core 0000:18:00.0 eth2: Link down",
        "    192.0.2.1.49476 > 192.0.2.2.4791: UDP, length 1056", "-----", "RX:\t\t1024",
        "\tLnkCap:\tPort #0, Speed 32GT/s", "Is ip the culprit?"})
    EXPECT_FALSE(mark_of(line).has_value()) << line;
}

TEST(Paste, TwoDumpsOfADeviceAreAWindow) {
  COVERS("D2");
  const std::string dump = data("counters/ethtool_S_mlx5_pfc3.txt");
  const Paste paste =
      paste_of("root@gpu01:~# ethtool -S eth2\n" + dump + "root@gpu01:~# ethtool -S eth2\n" + dump);
  ASSERT_EQ(paste.evidence.size(), 1U);
  EXPECT_EQ(paste.evidence[0].provenance.host, "gpu01");
  ASSERT_EQ(paste.evidence[0].snapshots.size(), 2U);
  const counters::PortCounters& port = paste.evidence[0].snapshots[0].nics.at(0);
  EXPECT_EQ(port.driver(), "mlx5_core");
  EXPECT_EQ(port.netdev(), "eth2");
  EXPECT_TRUE(port.read("nic.prio.pause_rx.frames", 3).has_value());
}

TEST(Paste, NamesOfOneNicAreJoinedWhateverOrderTheyComeIn) {
  const Paste paste = paste_of(data("paste/mixed.txt"));
  ASSERT_EQ(paste.evidence.size(), 1U);
  const evidence::Evidence& host = paste.evidence[0];
  EXPECT_EQ(host.provenance.host, "gpu01");
  const evidence::Nic nic = only_nic(paste);
  EXPECT_EQ(nic.device, "mlx5_0");
  EXPECT_TRUE(nic.netdev.is("eth2"));
  EXPECT_TRUE(nic.qos.trust.is(evidence::TrustMode::kPcp));
  EXPECT_TRUE(nic.link.active_mtu.is(1024_B));
  EXPECT_TRUE(nic.pcie.width.is(8));
  EXPECT_TRUE(nic.pcie.width_max.is(16));
  EXPECT_TRUE(host.host.memlock.is(std::optional(Bytes::raw(8192 * 1024))));
  EXPECT_EQ(host.snapshots.size(), 2U);
  EXPECT_EQ(paste.job.variables.size(), 2U);
  EXPECT_EQ(paste.events.size(), 8U);
  EXPECT_TRUE(paste.unread.empty());
  ASSERT_EQ(paste.rest.size(), 4U) << paste.rest.back().text;
  EXPECT_EQ(paste.rest[0].line, 1);
  EXPECT_EQ(paste.rest[2].text, "export NCCL_IB_HCA=mlx5_0");
}

TEST(Paste, ReadsTheSettingsOfMlnxQos) {
  const Paste paste = paste_of(data("paste/mlnx_qos_wrapped.txt"));
  const evidence::Nic nic = only_nic(paste);
  EXPECT_EQ(nic.device, "NIC");
  EXPECT_EQ(paste.evidence[0].provenance.host, kThisHost);
  EXPECT_TRUE(nic.qos.dcbx.is(evidence::DcbxMode::kOs));
  EXPECT_TRUE(nic.qos.trust.is(evidence::TrustMode::kDscp));
  EXPECT_EQ(nic.qos.dscp_to_priority->at(40), Priority::of(3));
  EXPECT_EQ(nic.qos.dscp_to_priority->at(48), Priority::of(6));
  EXPECT_TRUE(nic.qos.pfc.is(PrioritySet::from_mask(8)));
  EXPECT_EQ(nic.qos.tc_max_rate->at(3), 200_Gbps);
  EXPECT_EQ(nic.qos.tsa->at(6), evidence::Tsa::kStrict);
  EXPECT_EQ(nic.qos.tc_bandwidth->at(3), 90U);
  EXPECT_EQ(nic.qos.buffer_size->at(1), 130944_B);
  EXPECT_TRUE(paste_of(data("paste/mlnx_qos_lldpad.txt")).evidence[0].host.lldpad_running.is(true));
}

TEST(Paste, WhatWasRefusedIsNotOff) {
  const Paste paste = paste_of(data("paste/mlnx_qos_errors.txt"));
  ASSERT_EQ(paste.evidence.size(), 1U);
  const evidence::Nic* lo = paste.evidence[0].find_nic("lo");
  const evidence::Nic* eth0 = paste.evidence[0].find_nic("eth0");
  ASSERT_NE(lo, nullptr);
  ASSERT_NE(eth0, nullptr);
  EXPECT_EQ(lo->qos.pfc.why(), Missing::kUnsupported);
  EXPECT_EQ(eth0->qos.pfc.why(), Missing::kPermission);
  const Paste none = paste_of(data("paste/dcb_unsupported.txt"));
  EXPECT_EQ(only_nic(none).qos.trust.why(), Missing::kUnsupported);
  EXPECT_EQ(only_nic(paste_of("$ lspci -vv\n18:00.0 Ethernet controller: Mellanox Technologies\n"
                              "\tCapabilities: <access denied>\n"))
                .pcie.width.why(),
            Missing::kPermission);
}

TEST(Paste, ReadsDcbAsMlnxQosReads) {
  const evidence::Nic nic = only_nic(paste_of(data("paste/dcb.txt")));
  EXPECT_TRUE(nic.qos.pfc.is(PrioritySet::from_mask(8)));
  EXPECT_TRUE(nic.qos.trust.is(evidence::TrustMode::kDscp));
  EXPECT_TRUE(nic.qos.dcbx.is(evidence::DcbxMode::kOs));
  EXPECT_TRUE(nic.qos.dcbx_willing.is(false));
  EXPECT_EQ(nic.qos.buffer_size->at(1), 128_KiB);
  EXPECT_EQ(nic.qos.dscp_to_priority->at(26), Priority::of(3));
  EXPECT_FALSE(nic.qos.dscp_to_priority->at(0).has_value());
  const evidence::Nic names = only_nic(paste_of(data("paste/dcb_app_names.txt")));
  EXPECT_EQ(names.qos.dscp_to_priority->at(26), Priority::of(3));
}

TEST(Paste, ReadsDevicesAndTheirGids) {
  const evidence::Nic nic = only_nic(paste_of(data("paste/show_gids.txt")));
  ASSERT_EQ(nic.rdma.gids->size(), 4U);
  EXPECT_EQ(nic.rdma.gids->at(3).type, evidence::GidType::kRoceV2);
  EXPECT_EQ(nic.rdma.gids->at(3).netdev, "eth2");
  const evidence::Nic info = only_nic(paste_of(data("paste/ibv_devinfo-v.txt")));
  EXPECT_TRUE(info.link.active_mtu.is(4096_B));
  EXPECT_TRUE(info.rdma.active.is(true));
  EXPECT_EQ(info.rdma.gids->at(1).gid, "0000:0000:0000:0000:0000:ffff:c000:0201");
  const Paste real = paste_of(data("paste/rdma.txt"));
  EXPECT_TRUE(real.evidence[0].host.rdma_namespaces.is("shared"));
  EXPECT_EQ(real.evidence[0].find_nic("mlx5_0")->firmware.value(), "22.36.1010");
}

TEST(Paste, LinesThatAParallelShellMixedAreSorted) {
  const Paste paste = paste_of(data("paste/pdsh_rdma_link.txt"));
  ASSERT_EQ(paste.evidence.size(), 2U);
  EXPECT_EQ(paste.evidence[0].provenance.host, "gpu01");
  EXPECT_EQ(paste.evidence[0].nics.size(), 3U);
  EXPECT_EQ(paste.evidence[1].provenance.host, "gpu02");
  EXPECT_TRUE(paste.evidence[1].nics[1].rdma.active.is(false));
  EXPECT_TRUE(paste.evidence[1].host.rdma_namespaces.is("exclusive"));
}

TEST(Paste, ReadsWhatTheKernelSaid) {
  const Paste paste = paste_of(data("paste/journal_firmware.txt"));
  ASSERT_EQ(paste.events.size(), 3U);
  EXPECT_EQ(paste.events[0].kind, EventKind::kFirmware);
  EXPECT_EQ(paste.events[0].host, "gpu07");
  EXPECT_EQ(paste.events[0].device, "0000:9a:00.0");
  EXPECT_EQ(paste.rest.size(), 1U) << "a line of another program";
  EXPECT_TRUE(paste_of(data("paste/dmesg_boot.txt")).events.empty());
}

TEST(Paste, CountsPacketsByTheirMarking) {
  COVERS("D3");
  const Paste plain = paste_of(data("paste/tcpdump_v.txt"));
  ASSERT_EQ(plain.captures.size(), 1U);
  EXPECT_EQ(plain.captures[0].by_tos.at(0).tos, 0x6aU);
  EXPECT_EQ(plain.captures[0].by_tos.at(0).data, 5U);
  EXPECT_EQ(plain.captures[0].by_tos.at(0).other, 1U);
  const Paste bytes = paste_of(data("paste/tcpdump_cnp_x.txt"));
  ASSERT_EQ(bytes.captures.size(), 1U);
  EXPECT_EQ(bytes.captures[0].by_tos.at(0).cnps, 3U);
  const Paste six = paste_of(data("paste/tcpdump_ipv6.txt"));
  ASSERT_EQ(six.captures.size(), 1U);
  EXPECT_EQ(six.captures[0].by_tos.at(0).data, 4U);
}

TEST(Paste, ReadsOddAndTornTexts) {
  struct Case {
    std::string_view text;
    std::string_view parts;
    std::size_t unread;
    std::size_t rest;
  };
  const Case cases[] = {
      {"", "", 0, 0},
      {"\xff\xfe\x00garbage", "", 0, 1},
      {"rx_discards_phy: 12\nrx_prio3_pause: 4\n", "counters (mlx5)", 0, 0},
      {"out_of_buffer 12\nnp_cnp_sent 3\n", "counters", 0, 0},
      {"out_of_buffer 12\nis what we see\n", "", 0, 2},
      {"NIC statistics:\n     rx_prio3_pause: many\n     rx_discards_phy: 1\n", "ethtool -S (mlx5)",
       1, 0},
      {"Priority trust state: dscp\ndscp2prio mapping:\n\tprio:3 dscp:2x,\n", "mlnx_qos", 1, 0},
      {"PFC configuration:\n\tpriority    0   1   2\n", "mlnx_qos", 1, 0},
      {"\tstate:\t\t\tPORT_DOWN (1)\n\tactive_mtu:\t\t1024 (3)\n", "ibv_devinfo", 0, 0},
      {"> > Pause parameters for eth2:\n> > RX:\t\ton\n> > TX:\t\ton\n", "ethtool (pause) of eth2",
       0, 0},
      {"2026-11-15T14:39:00Z net.core.rmem_max = 212992\n", "sysctl", 0, 0},
      {"$ cma_roce_tos -d mlx5_0\n106\n", "traffic class of mlx5_0", 0, 0},
      {"$ lsmod | grep peer\nnvidia_peermem         16384  0\n", "lsmod", 0, 0},
      {"max locked memory       (kbytes, -l) 64\n", "ulimit", 0, 0},
      {"meeting at ten\n", "", 0, 1},
  };
  for (const Case& test : cases) {
    const Paste paste = paste_of(test.text);
    EXPECT_EQ(tools_of(paste), test.parts) << test.text;
    EXPECT_EQ(paste.unread.size(), test.unread) << test.text;
    EXPECT_EQ(paste.rest.size(), test.rest) << test.text;
  }
}

TEST(Paste, DeltasOfAScriptAreAWindow) {
  COVERS("D2", "D8");
  const Paste paste = paste_of(
      "root@gpu01:~# ./diff.sh\n=== hw_counters deltas (RDMA-specific) ===\n"
      " np_cnp_sent: pre=10 post=25 DELTA=15\n np_ecn_marked_roce_packets: pre=1 post=4 DELTA=3\n"
      "=== ethtool deltas ===\n"
      "<      rx_prio3_pause: 7\n---\n>      rx_prio3_pause: 9\n");
  ASSERT_EQ(paste.evidence.size(), 1U) << tools_of(paste);
  ASSERT_EQ(paste.evidence[0].snapshots.size(), 2U);
  const auto delta = counters::difference(paste.evidence[0].snapshots[0].nics[0],
                                          paste.evidence[0].snapshots[1].nics[0]);
  EXPECT_EQ(delta.amount("nic.np.cnp_sent.packets"), 15U);
  EXPECT_EQ(delta.amount("nic.prio.pause_rx.frames", 3U), 2U);
}

TEST(Paste, ALaterWindowOfAScriptTakesThePlaceOfTheFirst) {
  const Paste paste = paste_of(
      "gpu01$ ./diff.sh\n out_of_sequence: pre=1 post=1 DELTA=0\n\nafter the change:\n"
      " out_of_sequence: pre=1 post=901 DELTA=900\n");
  ASSERT_EQ(paste.evidence.at(0).snapshots.size(), 2U);
  const auto delta = counters::difference(paste.evidence[0].snapshots[0].nics[0],
                                          paste.evidence[0].snapshots[1].nics[0]);
  EXPECT_EQ(delta.amount("nic.resp.out_of_sequence.packets"), 900U);
}

TEST(Paste, TwoReadingsWithTheirTimesHaveALength) {
  COVERS("D2");
  constexpr std::string_view kReadings =
      "     tx_prio3_pause: 1\n     tx_prio3_pause_duration: 10\n";
  const auto elapsed = [](const std::string& text) {
    const Paste paste = paste_of(text);
    const auto& snapshots = paste.evidence.at(0).snapshots;
    EXPECT_EQ(snapshots.size(), 2U) << text;
    return (snapshots.back().clock_ns - snapshots.front().clock_ns) / 1'000'000'000;
  };
  const std::string command = "root@gpu07:~# ethtool -S eth2 | grep pause";
  EXPECT_EQ(elapsed(command + "\nMon Nov  4 10:31:02 UTC 2024\n" + std::string(kReadings) +
                    "Mon Nov  4 10:31:12 UTC 2024\n" + std::string(kReadings)),
            10);
  EXPECT_EQ(elapsed(command + "; sleep 60; ethtool -S eth2 | grep pause\n" +
                    std::string(kReadings) + std::string(kReadings)),
            60);
  EXPECT_EQ(elapsed(command + "\n23:59:58\n" + std::string(kReadings) + "00:00:03\n" +
                    std::string(kReadings)),
            5);
  EXPECT_EQ(
      elapsed(command + "\n" + std::string(kReadings) + command + "\n" + std::string(kReadings)), 0)
      << "no time is known";
}

TEST(Paste, TheLoopOverTheEcnFilesSetsBothRoles) {
  const Paste paste = paste_of(
      "gpu05# for p in 2 3; do cat /sys/class/net/ib0/ecn/roce_np/enable/$p; done\n"
      "Priority 2: NP=1 RP=0\nPriority 3: NP=0 RP=1\n");
  const evidence::Nic nic = only_nic(paste);
  EXPECT_EQ(nic.ecn.np->mask(), 1U << 2U);
  EXPECT_EQ(nic.ecn.rp->mask(), 1U << 3U);
  EXPECT_TRUE(paste_of("Priority 3: high\n").parts.empty());
}

TEST(Paste, EcnFilesOfOnePrioritySetTheirRole) {
  const std::string folder = "/sys/class/net/eth2/ecn/roce_rp/enable/";
  std::string headed;
  for (const char* p : {"2", "3"})
    headed += "==> " + folder + p + " <==\n" + (*p == '3' ? "0" : "1") + "\n\n";
  for (const std::string& text :
       {"gpu01# cat " + folder + "*\n1\n1\n1\n0\n1\n1\n1\n1\n",
        "root@gpu01:~# for p in {0..7}; do cat " + folder + "$p; done\n1\n1\n1\n0\n1\n1\n1\n1\n"}) {
    const evidence::Nic nic = only_nic(paste_of(text));
    EXPECT_EQ(nic.ecn.rp.is_known() ? nic.ecn.rp->mask() : 0U, 0xF7U) << text;
    EXPECT_FALSE(nic.ecn.np.is_known()) << text;
  }
  // What was not read is not on: only the priorities in the text are in the set.
  for (const std::string& text :
       {folder + "2: 1\n" + folder + "3: 0\n", folder + "2:1\n" + folder + "3:0\n", headed}) {
    const evidence::Nic nic = only_nic(paste_of(text));
    EXPECT_EQ(nic.ecn.rp.is_known() ? nic.ecn.rp->mask() : 0xFFU, 1U << 2U) << text;
  }
  for (const std::string& text :
       {folder + "3 = 0\n", "gpu01: " + folder + "3: 0\n", "gpu01# cat " + folder + "3\n0\n"}) {
    const evidence::Nic nic = only_nic(paste_of(text));
    EXPECT_EQ(nic.ecn.rp.is_known() ? nic.ecn.rp->mask() : 0xFFU, 0U) << text;
  }
  const evidence::Nic np =
      only_nic(paste_of("/sys/class/net/eth2/ecn/roce_np/enable/3:0\n" + folder + "3:1\n"));
  EXPECT_EQ(np.ecn.np->mask(), 0U);
  EXPECT_EQ(np.ecn.rp->mask(), 1U << 3U);
  // Priority 5 alone says nothing of the one that RDMA uses.
  EXPECT_FALSE(only_nic(paste_of(folder + "5:0\n")).ecn.rp.is_known());
  EXPECT_FALSE(only_nic(paste_of("Priority 5: NP=0 RP=1\n")).ecn.np.is_known());
  for (const std::string& text :
       {"gpu01# cat " + folder + "3 /sys/class/net/eth2/carrier\n1\n0\n",
        "gpu01# cat " + folder + "*\n1\n0\n", "gpu01# echo 0 > " + folder + "3\n",
        folder + "8: 0\n", folder + "3: 2\n"})
    EXPECT_TRUE(paste_of(text).parts.empty()) << text << tools_of(paste_of(text));
}

TEST(Paste, WhatIsAroundEveryLineIsTakenOff) {
  const std::vector<std::string> lines{"Infiniband device 'mlx5_0' port 1 status:",
                                       "\tdefault gid:\t fe80::1",
                                       "\tstate:\t\t 4: ACTIVE",
                                       "\tphys state:\t 5: LinkUp",
                                       "\trate:\t\t 400 Gb/sec (4X NDR)",
                                       "\tlink_layer:\t Ethernet"};
  const auto with = [&](auto prefix) {
    std::string out;
    for (std::size_t n = 0; n < lines.size(); ++n)
      out += prefix(n) + lines[n] + "\n";
    return out;
  };
  const std::string plain = with([](std::size_t) { return std::string(); });
  for (const std::string& text :
       {with([](std::size_t n) { return fmt::format("[10:00:0{}] ", n); }),
        with([](std::size_t n) { return fmt::format("10:00:0{} ", n); }),
        with([](std::size_t n) { return fmt::format("2026/11/16 10:00:0{} ", n); }),
        with([](std::size_t n) { return fmt::format("[2026-11-16 10:00:0{}.120] ", n); }),
        with([](std::size_t) { return std::string("| "); }),
        with([](std::size_t) { return std::string(">> "); }),
        with([](std::size_t n) { return fmt::format("{:6}\t", n + 1); }),
        with([](std::size_t n) { return fmt::format("{:4}  ", n + 7); }),
        "look:\n```" + plain + "```\nwhat now?\n", "```text\n" + plain + "```\n",
        "<pre>\n" + plain + "</pre>\n"}) {
    const Paste paste = paste_of(text);
    ASSERT_EQ(paste.evidence.size(), 1U) << text << tools_of(paste);
    EXPECT_TRUE(only_nic(paste).link.up.is(true)) << text;
  }
  EXPECT_TRUE(paste_of("10:00:01 state: ACTIVE\n12 apples\n13 pears\n").evidence.empty());
  EXPECT_TRUE(only_nic(paste_of("<pre>\n7: eth2: &lt;BROADCAST,UP,LOWER_UP&gt; mtu 9000 qdisc mq "
                                "state UP\nroot@n1:~# ibdev2netdev\nmlx5_0 port 1 ==&gt; eth2 "
                                "(Up)\n</pre>\n"))
                  .link.up.is(true));
}

TEST(Paste, ATimeBeforeThePromptIsThatOfTheReading) {
  const Paste paste = paste_of(
      "2026-11-16T14:00:00 node-b7 $ ethtool -S eth3\nNIC statistics:\n     rx_discards_phy: 3\n"
      "2026-11-16T14:01:00 node-b7 $ ethtool -S eth3\nNIC statistics:\n     rx_discards_phy: 4\n");
  ASSERT_EQ(paste.evidence.size(), 1U);
  EXPECT_EQ(paste.evidence[0].provenance.host, "node-b7");
  const auto& snapshots = paste.evidence[0].snapshots;
  ASSERT_EQ(snapshots.size(), 2U);
  EXPECT_EQ(snapshots[1].clock_ns - snapshots[0].clock_ns, 60'000'000'000);
}

TEST(Paste, PiecesOfAConfigurationAreKeptForTheirPlatform) {
  const std::string piece = "interface Ethernet4/1\n   ip address 10.40.4.1/31\n   qos trust cos\n";
  const Paste shown = paste_of("leaf2#show running-config interfaces Ethernet4/1\n" + piece);
  ASSERT_EQ(shown.configs.size(), 1U) << tools_of(shown);
  EXPECT_EQ(shown.configs[0].switch_name, "leaf2");
  EXPECT_NE(shown.configs[0].text.find("qos trust cos"), std::string::npos);
  EXPECT_TRUE(shown.not_read.empty());
  EXPECT_EQ(paste_of("We have this on the leaf:\n" + piece + "Is it right?\n").configs.size(), 1U);
  EXPECT_TRUE(paste_of("interface Ethernet4/1 is the one with the errors\n").configs.empty());
}

TEST(Paste, TablesOfSwitchesAreReadBehindSeveralCommandsAndWithoutPrompts) {
  const std::string show = "show priority-group drop counters";
  const auto table = [](const char* drops) {
    return std::string("Ingress PG dropped packets:\n     Port    PG0    PG1    PG2    PG3\n") +
           "---------  -----  -----  -----  -----\nEthernet0      0      0      0  " + drops + "\n";
  };
  const std::string first = "Mon 16 Nov 2026 12:59:50 PM UTC\n" + table("18842");
  const std::string later = "Mon 16 Nov 2026 01:00:20 PM UTC\n" + table("24119");
  const std::string at = "admin@t0-12:~$ ";
  for (const std::string& text :
       {at + "date; " + show + "\n" + first + at + "sleep 30; date; " + show + "\n" + later,
        at + "date && " + show + "\n" + first + at + "sleep 30 && date && " + show + "\n" + later,
        "t0-12# date; " + show + "\n" + first + "t0-12# sleep 30; date; " + show + "\n" + later,
        first + later, "date; " + show + "\n" + first + "date; " + show + "\n" + later,
        first + later +
            "show pfc priority\nInterface    Lossless priorities\n"
            "-----------  -------------------\nEthernet0    3\n"}) {
    const Paste paste = paste_of(text);
    ASSERT_EQ(paste.evidence.size(), 1U) << text << tools_of(paste);
    ASSERT_EQ(paste.evidence[0].snapshots.size(), 2U) << text;
    EXPECT_EQ(paste.evidence[0].snapshots[1].clock_ns, 30'000'000'000) << text;
  }
  EXPECT_TRUE(paste_of(at + "date; ls\n" + "show.txt\n").evidence.empty());
}

TEST(Paste, PingsAreReadBySize) {
  COVERS("C4");
  const Paste paste = paste_of(
      "gpu01$ ping -M do -s 8972 -c 3 10.0.1.7\nPING 10.0.1.7 (10.0.1.7) 8972(9000) bytes of "
      "data.\n\n--- 10.0.1.7 ping statistics ---\n3 packets transmitted, 0 received, 100% packet "
      "loss, time 2045ms\n\ngpu01$ ping -M do -s 1472 -c 1 10.0.1.7\n"
      "1480 bytes from 10.0.1.7: icmp_seq=1 ttl=61 time=0.021 ms\n");
  ASSERT_EQ(paste.pings.size(), 2U) << tools_of(paste);
  EXPECT_EQ(paste.pings[0].payload, 8972U);
  EXPECT_EQ(paste.pings[0].sent, 3U);
  EXPECT_EQ(paste.pings[0].replies, 0U);
  EXPECT_EQ(paste.pings[1].payload, 1472U);
  EXPECT_EQ(paste.pings[1].replies, 1U);
}

TEST(Paste, PortsAsIbstatIbstatusAndMlxlinkShowThem) {
  COVERS("C3");
  const evidence::Nic up = only_nic(paste_of(
      "Infiniband device 'mlx5_0' port 1 status:\n\tdefault gid:\t fe80::1\n\tstate:\t\t 4: "
      "ACTIVE\n\tphys state:\t 5: LinkUp\n\trate:\t\t 400 Gb/sec (4X NDR)\n\tlink_layer:\t "
      "Ethernet\n"));
  EXPECT_TRUE(up.link.up.is(true));
  EXPECT_EQ(up.link.speed->raw(), 400'000'000'000);
  const evidence::Nic down = only_nic(
      paste_of("CA 'mlx5_3'\n\tCA type: MT4129\n\tPort 1:\n\t\tState: Down\n\t\tPhysical state: "
               "Disabled\n\t\tRate: 40\n\t\tLink layer: Ethernet\n"));
  EXPECT_TRUE(down.link.up.is(false));
  EXPECT_FALSE(down.link.speed.is_known()) << "the rate of a port that is down is a placeholder";
  const Paste link = paste_of(
      "# mlxlink -d mlx5_2 -m\nOperational Info\n----------------\nState : Active\nPhysical state "
      ": LinkUp\nSpeed : 400G\nModule Info\n-----------\nRx Power Current [dBm] : "
      "0.91,-11.84,0.88 [-9.9..6]\n");
  EXPECT_EQ(only_nic(link).link.speed->raw(), 400'000'000'000);
  ASSERT_EQ(link.events.size(), 1U);
  EXPECT_EQ(link.events[0].kind, EventKind::kSignal);
  EXPECT_EQ(link.events[0].lane, "lane 2");
  const Paste module = paste_of(
      "# ethtool -m eth4\n\tIdentifier : 0x18 (QSFP-DD)\n"
      "\tRcvr signal avg optical power(Channel 1) : 1.2023 mW / 0.80 dBm\n"
      "\tRcvr signal avg optical power(Channel 2) : 0.0456 mW / -13.41 dBm\n"
      "\tLaser rx power low alarm threshold : 0.0741 mW / -11.30 dBm\n");
  ASSERT_EQ(module.events.size(), 1U);
  EXPECT_EQ(module.events[0].lane, "channel 2");
  EXPECT_TRUE(paste_of("# mlxlink -d mlx5_2 -m\nState : Active\nPhysical state : LinkUp\nRx Power "
                       "Current [dBm] : 0.91,1.84 [-9.9..6]\nRecommendation : No issue was "
                       "observed\n")
                  .events.empty());
}

TEST(Paste, FirmwareSettingsAndTheTopologyOfGpus) {
  COVERS("C5");
  const evidence::Nic nic = only_nic(
      paste_of("# mlxconfig -d 3b:00.0 q\nDevice #1:\n----------\nDevice type:    ConnectX7\n"
               "Device:         3b:00.0\nConfigurations:                Next Boot\n"
               "         LINK_TYPE_P1                        ETH(2)\n"
               "         ROCE_CC_PRIO_MASK_P1                255\n"));
  EXPECT_EQ(nic.firmware_settings->size(), 2U);
  EXPECT_TRUE(nic.link_layer.is(evidence::LinkLayer::kEthernet));
  const Paste topology = paste_of(
      "$ nvidia-smi topo -m\n\tGPU0\tGPU1\tNIC0\tCPU Affinity\nGPU0\t X \tNV18\tPIX\t0-47\n"
      "GPU1\tNV18\t X \tSYS\t0-47\n\nLegend:\n\n  X    = Self\n");
  ASSERT_EQ(topology.evidence.size(), 1U) << tools_of(topology);
  ASSERT_EQ(topology.evidence[0].distances.size(), 2U);
  EXPECT_TRUE(topology.evidence[0].distances[1].distance.is(evidence::Distance::kSys));
}

TEST(Paste, HowBusyTheMachineIs) {
  COVERS("I24");
  const Paste paste = paste_of(
      "$ nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader\n14 %\n11 %\n"
      "$ top -bn1 | head -4\n%Cpu(s): 96.8 us,  2.9 sy,  0.0 ni,  0.1 id,  0.0 wa\n");
  ASSERT_EQ(paste.uses.size(), 2U) << tools_of(paste);
  EXPECT_EQ(paste.uses[0].percent, (std::vector<unsigned>{14, 11}));
  EXPECT_EQ(paste.uses[1].percent, (std::vector<unsigned>{100}));
}

TEST(Paste, AKernelsLogHasAKernelsShape) {
  COVERS("C5", "D8");
  for (const std::string_view log :
       {"[   14.882341] mlx5_core 0000:41:00.0: firmware version: 20.39.1002\n",
        "<6>[812736.110021] Lustre: scratch: Connection lost\n",
        "[Sun Nov 15 14:00:00 2026] mlx5_core 0000:18:00.0 eth2: Link down\n",
        "Nov 15 14:00:01 gpu01 kernel: NVRM: Xid (PCI:0000:4e:00): 48\n",
        "2026-11-15T14:00:01.123456+00:00 gpu01 kernel: mlx5_core 0000:18:00.0 eth2: Link up\n",
        "mlx5_core 0000:18:00.0 eth2: Link down\n",
        "[  12.5] mlx5_core 0000:18:00.0 eth2: Link down\n"})
    EXPECT_EQ(tools_of(paste_of(log)).substr(0, 16), "the kernel's log") << log;
  for (const std::string_view noise :
       {"[1.2] see the appendix\n", "[3.14159265] pi: the usual one\n", "[0.1.2.3] loopback\n",
        "[2026] report: all well\n", "Ask the Linux kernel: it knows the driver.\n",
        "my notes on a kernel: panics, oopses and mlx5_core\n", "x1 kernel: something happened\n",
        "[12.345678] 0.5 0.25 0.125\n", "[12.345678] %$#: !!\n",
        "Nov 32nd 14h gpu01 kernel: maybe\n", "[INFO] 2026-11-15 14:00:00 server: Link down\n",
        "2026/02/11 10:12:07 [error] 2213#2213: *88121 upstream timed out\n"}) {
    const Paste paste = paste_of(noise);
    EXPECT_TRUE(paste.parts.empty()) << noise << tools_of(paste);
    EXPECT_TRUE(paste.evidence.empty() && paste.events.empty()) << noise;
  }
}

TEST(Paste, LinkStatisticsOfOldAndNewReleasesAreRead) {
  COVERS("D1");
  const auto text = [](std::string_view columns, std::string_view crc) {
    return fmt::format(
        "7: ens3np0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 4200 qdisc mq state UP\n"
        "    link/ether 94:6d:ae:01:22:fe brd ff:ff:ff:ff:ff:ff\n"
        "    RX: bytes  packets  errors  dropped {}\n"
        "    81726354410 71625344 {} 3 0 1822\n"
        "    RX errors: length   crc     frame   fifo    overrun\n"
        "               0        {}      0       0       0\n"
        "    TX: bytes  packets  errors  dropped carrier collsns\n"
        "    71625344109 61524433 0 0 0 0\n"
        "    TX errors: aborted  fifo   window heartbt transns\n"
        "               0        0      0      0       2\n"
        "    altname enp27s0f0np0\n",
        columns, crc, crc);
  };
  for (const std::string_view columns : {"missed  mcast", "overrun mcast"}) {
    const Paste twice = paste_of(
        fmt::format("$ date; ip -s -s link show ens3np0\n08:00:01\n{}$ date; ip -s -s link show "
                    "ens3np0\n08:01:01\n{}",
                    text(columns, "120"), text(columns, "988")));
    EXPECT_TRUE(twice.unread.empty());
    ASSERT_EQ(twice.evidence.size(), 1U) << tools_of(twice);
    const auto& moments = twice.evidence[0].snapshots;
    ASSERT_EQ(moments.size(), 2U);
    EXPECT_EQ(moments[0].nics[0].read(counters::Place::kStatistics, "rx_crc_errors").value(), 120U);
    EXPECT_EQ(moments[1].nics[0].read(counters::Place::kStatistics, "rx_errors").value(), 988U);
    EXPECT_EQ(moments[1].nics[0].read(counters::Place::kStatistics, "rx_dropped").value(), 3U);
    EXPECT_EQ(moments[1].nics[0].read(counters::Place::kNet, "carrier_changes").value(), 2U);
    EXPECT_EQ(moments[1].clock_ns - moments[0].clock_ns, 60'000'000'000);
    EXPECT_FALSE(twice.evidence[0].nics[0].link.mtu.is_known()) << "nobody says it carries RDMA";
  }
  // Without broken frames it is an interface like any other.
  EXPECT_TRUE(paste_of(text("missed mcast", "0")).evidence.empty());
  const Paste cut = paste_of(
      "7: eth0: <UP,LOWER_UP> mtu 1500 qdisc mq state UP\n    RX: bytes packets errors\n    1 2\n");
  EXPECT_EQ(cut.unread.size(), 1U);
}

TEST(Paste, ACommandThatIsNotReadIsListedAndSaysNothing) {
  COVERS("D8");
  const Paste paste = paste_of(
      "root@gpu01:~# iperf3 -c 10.0.0.2\nConnecting to host 10.0.0.2, port 5201\n"
      "[  5]   0.00-1.00   sec  1.10 GBytes  9.42 Gbits/sec  PFC storm, link down\n\n"
      "After that the whole job hangs again.\n"
      "root@gpu01:~# cat notes.txt\nsome notes of mine\n"
      "root@gpu01:~# frobnicate\nall fine here\n");
  ASSERT_EQ(paste.not_read.size(), 2U);
  EXPECT_EQ(paste.not_read[0].command, "iperf3 -c 10.0.0.2");
  EXPECT_EQ(paste.not_read[0].first, 2);
  EXPECT_EQ(paste.not_read[0].last, 3);
  EXPECT_EQ(paste.not_read[1].command, "frobnicate");
  std::string words;
  for (const Cited& line : paste.words)
    words += line.text + "\n";
  EXPECT_EQ(words.find("PFC storm"), std::string::npos) << words;
  EXPECT_NE(words.find("the whole job hangs"), std::string::npos) << words;
  EXPECT_NE(words.find("some notes of mine"), std::string::npos) << words;
}

TEST(Paste, AShowCommandThatIsNotReadIsListedBesideThoseThatAre) {
  COVERS("D8");
  const Paste paste = paste_of(
      "leaf1#show clock\nWed Apr  8 09:14:02 2026\nTimezone: UTC\n"
      "leaf1#show version\nArista DCS-7060X6\nSoftware image version: 4.33.1F\n"
      "leaf1#show priority-flow-control counters\nPort RxPfc TxPfc\nEt1/1 7 9\n"
      "admin@leaf2:~$ show platform summary\nPlatform: x86_64\n"
      "admin@leaf2:~$ show pfc counters\n"
      "  Port Rx  PFC0  PFC1  PFC2  PFC3  PFC4  PFC5  PFC6  PFC7\n"
      "Ethernet0     0     0     0     5     0     0     0     0\n");
  ASSERT_EQ(paste.not_read.size(), 2U);
  EXPECT_EQ(paste.not_read[0].command, "show version");
  EXPECT_EQ(paste.not_read[1].command, "show platform summary");
  EXPECT_EQ(paste.evidence.size(), 2U) << "two systems in one text: " << tools_of(paste);
}

TEST(Paste, AnActiveLinkIsUpWhateverItsNegotiationShows) {
  COVERS("C3");
  const auto link = [](std::string_view state, std::string_view physical) {
    return only_nic(paste_of(fmt::format(
        "# mlxlink -d mlx5_2\nOperational Info\n----------------\nState : {}\nPhysical state : "
        "{}\nSpeed : 400G\n",
        state, physical)));
  };
  EXPECT_TRUE(link("Active", "ETH_AN_FSM_ENABLE").link.up.is(true));
  EXPECT_TRUE(link("Active", "LinkUp").link.up.is(true));
  EXPECT_TRUE(link("Polling", "ETH_AN_FSM_ENABLE").link.up.is(false));
  EXPECT_TRUE(link("Disable", "Disabled").link.up.is(false));
}

TEST(Paste, TheFileOfTheTrustIsRead) {
  COVERS("C1");
  const evidence::Nic pcp =
      only_nic(paste_of("[root@st-2 ~]# cat /sys/class/net/enp3s0f1np1/qos/trust\npcp\n"));
  EXPECT_TRUE(pcp.qos.trust.is(evidence::TrustMode::kPcp));
  EXPECT_TRUE(paste_of("pcp\n").evidence.empty());
}

TEST(Paste, GidsWithoutTheirTypesSayNothing) {
  const std::string folder = "/sys/class/infiniband/mlx5_0/ports/1/";
  const std::string gid = folder + "gids/3:0000:0000:0000:0000:0000:ffff:0a0a:0105\n";
  EXPECT_FALSE(only_nic(paste_of(gid)).rdma.gids.is_known());
  const evidence::Nic typed = only_nic(paste_of(gid + folder + "gid_attrs/types/3:RoCE v2\n"));
  ASSERT_TRUE(typed.rdma.gids.is_known());
  EXPECT_EQ(typed.rdma.gids->front().type, evidence::GidType::kRoceV2);
}

TEST(Paste, SpeedsByFileByLoopAndBehindAGrep) {
  for (const std::string_view text :
       {"n1# ethtool ens1np0 | grep -i speed\n\tSpeed: 400000Mb/s\n",
        "n1# cat /sys/class/net/ens1np0/speed\n400000\n",
        "n1# for i in ens1np0; do echo -n \"$i \"; cat /sys/class/net/$i/speed; done\n"
        "ens1np0 400000\n",
        "/sys/class/net/ens1np0/speed:400000\n"}) {
    const evidence::Nic nic = only_nic(paste_of(text));
    EXPECT_EQ(nic.link.speed.is_known() ? nic.link.speed->raw() : 0, 400'000'000'000) << text;
  }
  EXPECT_TRUE(paste_of("n1# cat /sys/class/net/ens1np0/carrier\n1\n").evidence.empty());
}

}  // namespace
}  // namespace weir::readers
