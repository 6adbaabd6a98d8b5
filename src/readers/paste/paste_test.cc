#include "readers/paste/paste.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/testing.h"
#include "base/text.h"
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
      {"paste/ip.txt", "ip", 5},
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

}  // namespace
}  // namespace weir::readers
