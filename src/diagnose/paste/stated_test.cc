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
      {"ibv_reg_mr fails under the batch system\nulimit -l is 64 there", "limits.memlock_low"},
      {"max locked memory in the pod is 64 kbytes", "limits.memlock_low"},
      {"one node active_mtu 1024, other 4096", "mtu.mismatch"},
      {"hosts: mtu 9000\nleaf port: mtu 1500", "mtu.mismatch"},
      {"active_mtu 1024 (3), max_mtu 4096 (5)", "mtu.below_4096"},
      {"np_ecn_marked_roce_packets 8712, np_cnp_sent 0", "np.disabled"},
      {"np_ecn_marked_roce_packets 0, np_cnp_sent 0\n2x25G into 10G", "ecn.not_marking"},
      {"receiver np_cnp_sent 8123\nsender rp_cnp_handled 0", "cnp.lost"},
      {"rp_cnp_ignored 55", "rp.disabled"},
      {"rnr_nak_retry_err 17 here", "app.receives_too_few"},
      {"tx_prio0_bytes 991234, tx_prio3_bytes 12", "dscp.unmarked"},
      {"cma_roce_tos -t 26 on both hosts", "dscp.tos_confusion"},
      {"expected DSCP 26, the wire shows DSCP 6", "dscp.tos_confusion"},
      {"ECN bits of RDMA: tcpdump shows tos 0x68", "ecn.not_ect"},
      {"DSCP_TO_TC_MAP \"26\": \"1\"\nlossless: 3 and 4", "dscp.unmapped_hop"},
      {"GID index 3 on mlx5_0, index 5 on mlx5_1", "gid.index_differs"},
      {"dgid fe80::e42:a1ff:fe7d:dfc8, retry exceeded", "gid.not_routable"},
      {"container: inet 172.17.0.2/16\nGID ::ffff:0a02:0005", "container.gid_outside_netns"},
      {"8 NICs, all in one /24", "rail.same_subnet"},
      {"rtt 45 ms over the long link\nretransmission timer 16 ms", "transport.timer_below_rtt"},
      {"n1,n2: 49.1\nn1,n3: 22.0\nn2,n3: 21.8\nn1,n4: 48.9", "host.straggler"},
      {"lspci: ACSCtl: SrcValid+", "pcie.acs_on"},
      {"NCCL_IB_TC=106 does nothing\nibv_devinfo: link_layer InfiniBand", "link.infiniband"},
      {"DCBX willing = yes on the NIC", "dcbx.willing"},
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
       })
    EXPECT_EQ(ids(stated(text)), "") << text;
}

TEST(Stated, QuotesTheLinesAndIsNeverCertain) {
  const auto findings = stated("it is slow\none node active_mtu 1024\nthe other active_mtu 4096");
  ASSERT_EQ(findings.size(), 1U);
  const finding::Finding& found = findings.front();
  EXPECT_EQ(found.confidence, finding::Confidence::kMedium);
  ASSERT_EQ(found.evidence.size(), 2U);
  EXPECT_EQ(found.evidence.front().source, "mail.txt:2");
  EXPECT_EQ(found.evidence.front().line, "one node active_mtu 1024");
}

}  // namespace
}  // namespace weir::diagnose
