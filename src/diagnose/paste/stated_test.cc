#include "diagnose/paste/stated.h"

#include "base/testing.h"
#include "base/text.h"

namespace weir::diagnose {
namespace {

std::vector<finding::Finding> stated(std::string_view text) {
  std::vector<readers::Cited> lines;
  for (const std::string_view line : split(text, '\n'))
    lines.push_back({"mail.txt", static_cast<int>(lines.size() + 1), std::string(line)});
  return stated_faults(lines);
}

std::string ids(const std::vector<finding::Finding>& findings) {
  std::vector<std::string> out;
  for (const finding::Finding& finding : findings)
    out.push_back(finding.id);
  return join(out, ", ");
}

struct StatedCase {
  std::string_view text;
  std::string_view ids;  // all of them, in order
};

TEST(Stated, NamesWhatTheTextStatesLiterally) {
  const std::vector<StatedCase> cases = {
      {"ibv_create_qp: Cannot allocate memory", "limits.memlock_low"},
      {"memlock 64K", "limits.memlock_low"},
      {"peer A active_mtu=4096, peer B active_mtu=1024", "mtu.mismatch"},
      {"eth2: mtu 9000 qdisc mq\neth3: mtu 1500 qdisc mq", "mtu.mismatch"},
      {"active_mtu 1024 (3), max_mtu 4096 (5)", "mtu.below_4096"},
      {"np_ecn_marked_roce_packets 8712, np_cnp_sent 0", "np.disabled"},
      {"np_ecn_marked_roce_packets 0, np_cnp_sent 0\n2x25G into 10G", "ecn.not_marking"},
      {"receiver np_cnp_sent 8123\nsender rp_cnp_handled 0", "cnp.lost"},
      {"rp_cnp_ignored 55", "rp.disabled"},
      {"The job of this morning has rp_cnp_ignored=5900 on all senders.", "rp.disabled"},
      {"rnr_nak_retry_err +17", "app.receives_too_few"},
      {"link_downed 3 -> 17", "link.flapping"},
      {"tx_prio0_bytes 991234, tx_prio3_bytes 12", "dscp.unmarked"},
      {"cma_roce_tos -t 26 on both hosts", "dscp.tos_confusion"},
      {"MC_IB_TC=26 -> captured DSCP 6", "dscp.tos_confusion"},
      {"DSCP_TO_TC_MAP \"26\": \"1\"\nlossless: 3 4", "dscp.unmapped_hop"},
      {"GID index 3 on mlx5_0, index 5 on mlx5_1", "gid.index_differs"},
      {"dgid fe80::e42:a1ff:fe7d:dfc8, retry exceeded", "gid.not_routable"},
      {"container: inet 172.17.0.2/16\nGID ::ffff:0a02:0005", "container.gid_outside_netns"},
      {"eth2 10.1.0.11/16, eth3 10.1.0.12/16", "rail.same_subnet"},
      {"n1,n2: 49.1\nn1,n3: 22.0\nn2,n3: 21.8\nn1,n4: 48.9", "host.straggler"},
      {"lspci: ACSCtl: SrcValid+", "pcie.acs_on"},
      {"NCCL_IB_TC=106 does nothing\nibv_devinfo: link_layer InfiniBand", "link.infiniband"},
      {"DCBX willing: yes", "dcbx.willing"},
      {"iter 4.81s | data 4.02s", "app.not_fabric"},
      {"step 412: 3.9 s = dataloader 3.1 s + forward 0.3 s", "app.not_fabric"},
      {"Epoch 3: data wait 78% of step time", "app.not_fabric"},
  };
  for (const StatedCase& stated_case : cases)
    EXPECT_EQ(ids(stated(stated_case.text)), stated_case.ids) << stated_case.text;
}

TEST(Stated, SaysNothingOfWordsRemediesWishesAndZeros) {
  for (const std::string_view text : {
           "all-reduce is slow and PFC pauses are everywhere",
           "ulimit -l unlimited",
           "ulimit -l 64 was fixed by the vendor",
           "active_mtu 4096 on both",
           "MTU 1500 should be 9000",
           "np_ecn_marked_roce_packets 0, np_cnp_sent 0",
           "rp_cnp_ignored 0",
           "tx_prio0_bytes 10, tx_prio3_bytes 99123",
           "NCCL_IB_TC=106",
           "tos 0x6a, ECN bits 10",
           "GID index 3 on mlx5_0 and on mlx5_1",
           "10.0.1.1 on mlx5_0, 10.0.2.1 on mlx5_1",
           "rtt 4 ms, retransmission timer 16 ms",
           "n1,n2: 49.1\nn1,n3: 48.0\nn2,n3: 47.8",
           "with SrcValid+ cleared it works",
           "10.0.0.0/31 on mlx5_0, 10.0.0.2/31 on mlx5_1",
           "iter 4.81s | data 0.02s",
           "data wait 3%",
           "lnksta downgraded on the SATA controller only",
       })
    EXPECT_EQ(ids(stated(text)), "") << text;
}

TEST(Stated, TakesNoWordsOfASentenceForAState) {
  for (const std::string_view text : {
           "one node active_mtu 1024, other 4096",
           "Host MTU 9000, switch MTU 9216, RDMA MTU 4096: as designed.",
           "hosts: mtu=9000 switches: mtu=9216 oob: mtu=1500",
           "active_mtu is 4096 on all 1024 ports.",
           "memlock 128 hosts, and all are unlimited",
           "Headroom drops: 0",
           "RDMA uses DSCP 26, CNPs use priority 6.",
           "The BGP packets have tos 0xc0, ECN is on.",
           "802.3x pause: 0 on all 64 ports.",
           "link_downed 57 since 2023",
           "symbol_error 12",
           "rp_cnp_ignored: none in 7 days.",
           "outbound_pci_stalled_wr 3 % at most",
           "rtt 45 ms over the long link\nretransmission timer 16 ms",
           "All rails sit inside one 10.0.0.0/16 aggregate.",
           "willing: yes on the management switch, RDMA ports are willing: no",
           "np_ecn_marked_roce_packets 8 and np_cnp_sent 0 after boot; now they are 91000",
       })
    EXPECT_EQ(ids(stated(text)), "") << text;
}

TEST(Stated, SaysNothingOfMessagesThatAreDeniedOrPast) {
  for (const std::string_view text : {
           "dmesg is clean: no NVRM: Xid, all-reduce is slow",
           "We never saw CUDA out of memory",
           "The logs never show Using network Socket",
           "No bridge shows SrcValid+ or ReqRedir+.",
           "NCCL_NET=Socket was only for the smoke test.",
       })
    EXPECT_EQ(ids(stated(text)), "") << text;
  EXPECT_EQ(ids(stated("NVRM: Xid (PCI:0000:4f:00): 79, GPU has fallen off the bus.")),
            "app.not_fabric");
}

TEST(Stated, QuotesTheLinesAndIsNeverCertain) {
  const auto findings = stated("it is slow\nnode1: active_mtu 1024\nnode2: active_mtu 4096");
  ASSERT_EQ(findings.size(), 1U);
  const finding::Finding& found = findings.front();
  EXPECT_EQ(found.confidence, finding::Confidence::kMedium);
  ASSERT_EQ(found.evidence.size(), 2U);
  EXPECT_EQ(found.evidence.front().source, "mail.txt:2");
  EXPECT_EQ(found.evidence.front().line, "node1: active_mtu 1024");
}

}  // namespace
}  // namespace weir::diagnose
