// Findings that a text raises, each beside a text near it that does not: an id is what was written,
// not what its words remind of. What other tests show by settings and counters is not here.
#include "base/testing.h"
#include "base/text.h"
#include "diagnose/core/made_case.h"
#include "diagnose/paste/pasted.h"
#include "finding/shown.h"

namespace weir::diagnose {
namespace {

finding::Judgement said_of(std::string_view text) {
  const readers::Paste paste = readers::read_paste({{"paste.txt", text}});
  return diagnose_paste(paste, View({.evidence = paste.evidence}));
}

struct Pair {
  std::string_view id;
  std::string_view raised;
  std::string_view spared;
};

constexpr Pair kPairs[] = {
    {"app.not_fabric", "NVRM: Xid (PCI:0000:4f:00): 79, GPU has fallen off the bus.\n",
     "dmesg is clean: no NVRM: Xid (PCI:0000:4f:00), all-reduce is slow\n"},
    {"container.gid_outside_netns", "container: inet 172.17.0.2/16\nGID ::ffff:0a02:0005\n",
     "container: inet 10.2.0.5/16\nGID ::ffff:0a02:0005\n"},
    {"dcbx.two_agents", "bpftrace: lldpad RTM_SETDCB DCB_CMD_IEEE_SET on eth0\n",
     "lldpad is not installed on this host\n"},
    {"dcbx.willing", "DCBX willing: yes\n", "DCBX willing: no\n"},
    {"ecn.not_marking", "np_ecn_marked_roce_packets 0, np_cnp_sent 0\n2x25G into 10G\n",
     "np_ecn_marked_roce_packets 812, np_cnp_sent 90\n2x25G into 10G\n"},
    {"gdr.not_persistent", "nvidia_peermem is gone after reboot\n",
     "nvidia_peermem is loaded, the host was up for a month\n"},
    {"gdr.not_registered",
     "peermem is loaded; /sys/kernel/mm/memory_peers/nv_mem: no such file or directory\n",
     "peermem is loaded; /sys/kernel/mm/memory_peers/nv_mem is there\n"},
    {"gid.changed", "IBV_EVENT_GID_CHANGE on mlx5_0\n", "IBV_EVENT_COMM_EST on mlx5_0\n"},
    {"gid.index_differs", "GID index 3 on mlx5_0, index 5 on mlx5_1\n",
     "GID index 3 on mlx5_0, index 3 on mlx5_1\n"},
    {"host.straggler", "n1,n2: 49.1\nn1,n3: 22.0\nn2,n3: 21.8\nn1,n4: 48.9\n",
     "n1,n2: 49.1\nn1,n3: 48.0\nn2,n3: 48.8\nn1,n4: 48.9\n"},
    {"k8s.qos_on_vf", "in the pod mlnx_qos says Operation not supported\n",
     "on the host mlnx_qos set PFC on priority 3\n"},
    {"kernel.regression", "CmaTotal: 0 kB on 6.17.0-1014-nvidia\n",
     "CmaTotal: 65536 kB on 6.17.0-1014-nvidia\n"},
    {"link.infiniband", "NCCL_IB_TC=106 does nothing\nibv_devinfo: link_layer InfiniBand\n",
     "NCCL_IB_TC=106 does nothing\nibv_devinfo: link_layer Ethernet\n"},
    {"mtu.below_4096", "active_mtu 1024 (3), max_mtu 4096 (5)\n",
     "active_mtu 4096 (5), max_mtu 4096 (5)\n"},
    {"nccl.stale_conf", "/etc/nccl.conf in the image: NCCL_IB_TC=106\n",
     "there is no /etc/nccl.conf on this host\n"},
    {"packet.icrc_bad", "rx_icrc_encapsulated 0 -> 55 in an hour\n", "rx_icrc_encapsulated 0\n"},
    {"pcie.acs_on", "lspci: ACSCtl: SrcValid+ TransBlk-\n", "lspci: ACSCtl: SrcValid- TransBlk-\n"},
    {"pcie.errors",
     "[ 91.2] mlx5_core 0000:3b:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer\n",
     "[ 91.2] mlx5_core 0000:3b:00.0: firmware version: 28.43.1014\n"},
    {"pcie.link_degraded", "LnkSta: Speed 16GT/s (downgraded), Width x16\n",
     "LnkSta: Speed 32GT/s, Width x16\n"},
    {"pcie.slot_power",
     "[ 3.1] mlx5_core 0000:3b:00.0: mlx5_pcie_event:301:(pid 1): Detected insufficient power on "
     "the PCIe slot (27W).\n",
     "[ 3.1] mlx5_core 0000:3b:00.0: mlx5_pcie_event:304:(pid 1): PCIe slot advertised sufficient "
     "power (75W).\n"},
    {"peer.dead",
     "gpu1:100:200 [0] misc/socket.cc:50 NCCL WARN socketProgress: Connection closed by remote "
     "peer gpu2<41234>\n",
     "gpu1:100:200 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n"},
    {"rail.no_route", "RDMA_CM_EVENT_ADDR_ERROR towards 10.1.0.7\n",
     "RDMA_CM_EVENT_ADDR_RESOLVED towards 10.1.0.7\n"},
    {"rail.same_subnet", "eth2 10.1.0.11/16, eth3 10.1.0.12/16\n",
     "eth2 10.1.0.11/24, eth3 10.1.1.11/24\n"},
    {"telemetry.collector_blind", "strconv.ParseUint: parsing \"N/A (no PMA)\": invalid syntax\n",
     "strconv.ParseUint of every counter worked\n"},
    {"telemetry.counter_absent", "ls hw_counters: No such file or directory\n",
     "ls hw_counters: duplicate_request out_of_sequence\n"},
    {"platform.cannot", "orchagent: SAI_STATUS_NOT_SUPPORTED for the attribute\n",
     "orchagent: SAI_STATUS_SUCCESS for the attribute\n"},
};

TEST(Pairs, ATextRaisesAFindingAndTheTextBesideItDoesNot) {
  COVERS("D8", "I9", "C5");
  for (const Pair& pair : kPairs) {
    SCOPED_TRACE(pair.id);
    const finding::Judgement raised = said_of(pair.raised);
    EXPECT_TRUE(finding::is_raised(raised.findings, pair.id));
    EXPECT_FALSE(finding::is_raised(said_of(pair.spared).findings, pair.id));
  }
}

TEST(Pairs, AKernelsLogOfAGpuADiskOrMemoryIsNotTheFabric) {
  COVERS("C5", "D8");
  for (const std::string_view line :
       {"NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.",
        "Out of memory: Killed process 4123 (python3) total-vm:91234kB",
        "blk_update_request: I/O error, dev nvme0n1, sector 128"}) {
    const finding::Judgement said = said_of("[  812.334455] " + std::string(line) + "\n");
    EXPECT_TRUE(finding::is_raised(said.findings, "app.not_fabric")) << line;
    EXPECT_EQ(said.conclusion, finding::Conclusion::kNotFabric) << line;
  }
  const finding::Judgement other =
      said_of("[  812.334455] mlx5_core 0000:3b:00.0 eth2: Link down\n");
  EXPECT_FALSE(finding::is_raised(other.findings, "app.not_fabric"));
}

TEST(Pairs, GpusThatWaitWhileTheCpusWorkAreANote) {
  COVERS("I24");
  const auto said = [](int gpu, const std::string& cpu) {
    const finding::Judgement judgement =
        said_of("$ nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader\n" +
                std::to_string(gpu) + " %\n11 %\n$ top -bn1 | head -4\n%Cpu(s): " + cpu +
                " us,  2.9 sy,  0.0 ni, " + (cpu == "12.0" ? "85.1" : "0.3") + " id,  0.0 wa\n");
    EXPECT_EQ(
        judgement.count(finding::Severity::kWarning) + judgement.count(finding::Severity::kError),
        0U);
    return finding::is_raised(judgement.findings, "nccl.socket_fallback");
  };
  EXPECT_TRUE(said(14, "96.8"));
  EXPECT_FALSE(said(97, "96.8"));
  EXPECT_FALSE(said(14, "12.0"));
}

TEST(Pairs, StepsThatTakeTwiceAsLongAgainAndAgainAreANote) {
  COVERS("I6");
  const auto said = [](const std::vector<double>& times) {
    std::string text = "training got slow\n";
    for (const double time : times)
      text += "step_time " + std::to_string(time) + "s loss 2.1\n";
    const finding::Judgement judgement = said_of(text);
    EXPECT_EQ(
        judgement.count(finding::Severity::kWarning) + judgement.count(finding::Severity::kError),
        0U);
    return finding::is_raised(judgement.findings, "ecn.thresholds_too_high");
  };
  EXPECT_TRUE(said({9.0, 0.8, 1.9, 0.8, 2.1, 0.9}));
  EXPECT_FALSE(said({9.0, 0.8, 0.9, 0.8, 2.1, 0.9})) << "one long step is a checkpoint";
  EXPECT_FALSE(said({9.0, 0.8, 0.9, 0.8, 0.9})) << "the first is warm-up";
}

}  // namespace
}  // namespace weir::diagnose
