// Which class RDMA has, by what a text shows of it; and what follows where nothing shows it.
#include <fmt/format.h>

#include "base/testing.h"
#include "diagnose/core/view.h"
#include "diagnose/paste/configs.h"
#include "diagnose/paste/pasted.h"
#include "diagnose/paste/told.h"
#include "readers/paste/merge.h"

namespace weir::diagnose {
namespace {

finding::Judgement judged(std::string_view text) {
  readers::Paste paste = readers::read_paste({{"paste.txt", text}});
  std::vector<evidence::Evidence> pieces;
  for (evidence::Evidence& piece : paste.evidence)
    pieces.push_back(std::move(piece));
  for (evidence::Evidence& piece : pasted_configs(paste))
    pieces.push_back(std::move(piece));
  const auto evidence = readers::merge_texts(std::move(pieces));
  const Case subject{.evidence = evidence, .told = told_of_rdma(paste)};
  const View view(subject);
  return diagnose_paste(paste, view);
}

/// PFC of a host on one priority, with the map that NICs come with.
std::string host(unsigned pfc, std::string_view more = {}) {
  std::string text =
      "[root@h1 ~]# mlnx_qos -i ens1np0\nPriority trust state: dscp\n"
      "dscp2prio mapping:\n";
  for (unsigned p = 0; p < 8; ++p) {
    text += fmt::format("\tprio:{} dscp:", p);
    for (unsigned dscp = 0; dscp < 8; ++dscp)
      text += fmt::format("{:02},", p * 8 + 7 - dscp);
    text += '\n';
  }
  text += "PFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n\tenabled  ";
  for (unsigned p = 0; p < 8; ++p)
    text += p == pfc ? "   1" : "   0";
  return text + "   \n" + std::string(more);
}
std::string forced(unsigned byte) {
  return fmt::format(
      "[root@h1 ~]# cat /sys/class/infiniband/mlx5_0/tc/1/traffic_class\nGlobal tclass={}\n", byte);
}
/// A leaf of EOS that pauses one priority.
std::string leaf(unsigned pfc) {
  return fmt::format(
      "leaf1#show running-config interfaces Ethernet9/1\ninterface Ethernet9/1\n   mtu 9214\n"
      "   qos trust dscp\n   priority-flow-control on\n"
      "   priority-flow-control priority {} no-drop\n",
      pfc);
}

struct Said {
  std::string id;
  std::string host;
  std::string switch_name;
  std::string verdict;
};
Said first_of(std::string_view text) {
  const finding::Judgement judgement = judged(text);
  if (judgement.findings.empty() || judgement.findings.front().severity == finding::Severity::kInfo)
    return {};
  const finding::Finding& finding = judgement.findings.front();
  return {std::string(finding.id), finding.where.host, finding.where.switch_name, finding.verdict};
}

bool is_left_open(const Said& said) {
  return said.verdict.find("is not shown") != std::string::npos;
}

TEST(RdmaClass, WhatIsSentAndProtectedDecidesWhoIsWrong) {
  COVERS("I15");
  const Said at_host = first_of(host(3, forced(136)) + leaf(4));
  EXPECT_EQ(at_host.id, "pfc.wrong_priority");
  EXPECT_EQ(at_host.host, "h1");
  const Said at_switch = first_of(host(5, forced(186)) + leaf(3));
  EXPECT_EQ(at_switch.id, "pfc.wrong_priority");
  EXPECT_EQ(at_switch.switch_name, "leaf1");
  EXPECT_EQ(first_of(host(3, forced(136)) + leaf(3)).id, "dscp.unmarked");
  EXPECT_EQ(first_of(host(4, forced(136)) + leaf(4)).id, "");
}

TEST(RdmaClass, WordsAndTheJobSayWhatIsSentWhereNoSettingDoes) {
  const Said told = first_of("our plan: RoCE = DSCP 34, prio 4\n\n" + host(3) + leaf(4));
  EXPECT_EQ(told.id, "pfc.wrong_priority");
  EXPECT_EQ(told.host, "h1");
  const Said job = first_of("export NCCL_IB_TC=138\n\n" + host(3) + leaf(4));
  EXPECT_EQ(job.host, "h1");
}

TEST(RdmaClass, WhereNothingDecidesBothSidesAreNamedAndNeitherIsWrong) {
  const Said sides = first_of(host(3) + leaf(4));
  EXPECT_EQ(sides.id, "pfc.wrong_priority");
  EXPECT_TRUE(is_left_open(sides)) << sides.verdict;
  const Said alone = first_of(host(3, forced(136)));
  EXPECT_EQ(alone.id, "pfc.wrong_priority");
  EXPECT_TRUE(is_left_open(alone)) << alone.verdict;
}

TEST(RdmaClass, ThePriorityThatCarriesTheBytesIsTheOneOfRdma) {
  constexpr std::string_view kText =
      "[root@h1 ~]# grep . /sys/class/net/ens1np0/ecn/roce_rp/enable/[34]\n"
      "/sys/class/net/ens1np0/ecn/roce_rp/enable/3:{}\n"
      "/sys/class/net/ens1np0/ecn/roce_rp/enable/4:{}\n"
      "[root@h1 ~]# ethtool -S ens1np0 | egrep 'tx_prio[34]_bytes'\n"
      "     tx_prio3_bytes: 220\n     tx_prio4_bytes: 99120338120114\n";
  EXPECT_EQ(first_of(fmt::format(kText, 1, 0)).id, "rp.disabled");
  EXPECT_EQ(first_of(fmt::format(kText, 0, 1)).id, "");
}

TEST(PastedConclusion, LossWithoutAPlaceIsASymptomAndALimitOfTheHostIsNotTheFabrics) {
  const finding::Judgement loss = judged(
      "host w1, 30 s apart:\npacket_seq_err: 4011 -> 18233\nlocal_ack_timeout_err: 1 -> 9\n");
  EXPECT_EQ(loss.conclusion, finding::Conclusion::kInconclusive);
  EXPECT_EQ(loss.findings.front().id, "path.loss");
  const finding::Judgement memory = judged(
      "w1:12:13 [0] transport/net_ib.cc:1017 NCCL WARN Call to ibv_reg_mr failed with error "
      "Cannot allocate memory\n");
  EXPECT_EQ(memory.conclusion, finding::Conclusion::kNotFabric);
  EXPECT_EQ(memory.findings.front().id, "limits.memlock_low");
}

TEST(PastedTcp, WithTheCodePointOfRdmaItSharesItsClass) {
  COVERS("I23");
  constexpr std::string_view kRule =
      "[root@h1 ~]# iptables -t mangle -S\n"
      "-A POSTROUTING -p tcp -m tcp --dport 873 -j DSCP "
      "--set-dscp {}\n";
  EXPECT_EQ(first_of(fmt::format(kRule, "0x1a") + host(3, forced(106))).id, "class.shared_queue");
  EXPECT_EQ(first_of(fmt::format(kRule, "0x08") + host(3, forced(106))).id, "");
}

}  // namespace
}  // namespace weir::diagnose
