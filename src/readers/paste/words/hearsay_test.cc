#include "readers/paste/words/hearsay.h"

#include "base/testing.h"
#include "base/text.h"

namespace weir::readers {
namespace {

std::string reported(std::string_view text) {
  std::vector<std::string> out;
  for (const std::string& line : without_hearsay(split(text, '\n')))
    out.emplace_back(trim(line));
  return join(out, "|");
}

TEST(Hearsay, IsASentenceThatDeniesRemembersAdvisesAsksOrExplains) {
  for (const std::string_view text : {
           "dmesg is clean: no NVRM: Xid, no machine checks.",
           "We never saw CUDA out of memory in this job.",
           "No bridge shows SrcValid+ or ReqRedir+.",
           "None of 64 nodes has Priority trust state: pcp any more.",
           "We grepped the logs for 'Using network Socket' and found nothing.",
           "NCCL_NET=Socket was only for the smoke test without GPUs.",
           "GPU 3 of node7 reported NVRM: Xid 31 in March.",
           "ACS was on at delivery (SrcValid+) and has been off since the BIOS update.",
           "Please never set NCCL_IB_DISABLE=1 on the training partition.",
           "If you see 'Using network Socket' in the log, the plugin is missing.",
           "Is NCCL_IB_TC=26 still set anywhere?",
           "Example: NCCL_NET=Socket turns RDMA off.",
           "Reminder: document why tclass 26 is wrong and 106 right",
           "- do not use NCCL_IB_TC=26 on these hosts",
       })
    EXPECT_TRUE(is_hearsay(text)) << text;
}

TEST(Hearsay, IsNotWhatAToolPrintsOrAPersonReports) {
  for (const std::string_view text : {
           "NCCL_IB_TC=26",
           "Our job sets NCCL_IB_TC=26 on all nodes.",
           "OSError: [Errno 28] No space left on device",
           "ibv_reg_dmabuf_mr failed: Operation not supported",
           "Couldn't connect to 10.10.1.6:18515",
           "could not insert 'nvidia_peermem': Invalid argument",
           "GID is NULL, please check your GID index by specifying MC_GID_INDEX",
           "gpu1:88:201 [0] NCCL WARN NET/IB : No device found.",
           "[12.1] nfs: server fs1 not responding, still trying",
           "4: ens108np0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 state UP group default qlen "
           "1000",
           "     0 runts  0 giants  2210 CRC  0 no buffer",
           "Default DSCP: 0",
           "",
       })
    EXPECT_FALSE(is_hearsay(text)) << text;
}

TEST(Hearsay, TakesASentenceOutAndLeavesTheOthers) {
  EXPECT_EQ(reported("It was fine in May. NCCL_IB_TC=26 is set in the job."),
            "NCCL_IB_TC=26 is set in the job.");
  EXPECT_EQ(reported("rnr_nak_retry_err went from 0 to 912, no packet_seq_err"),
            "rnr_nak_retry_err went from 0 to 912");
  EXPECT_EQ(reported("Runbook: look at the counters. NCCL_IB_TC=26 marks DSCP 6."), "");
}

TEST(Hearsay, GoesOnInAWrappedLineAndInAListBelow) {
  EXPECT_EQ(reported("We looked through all logs of the last three days, and they never show the\n"
                     "message Using network Socket."),
            "|");
  EXPECT_EQ(reported("We saw none of these:\n- NVRM: Xid\n- CUDA out of memory\nNVRM: Xid 79"),
            "|||NVRM: Xid 79");
  EXPECT_EQ(reported("There are no drops on the leaves\nnp_cnp_sent: 0"), "|np_cnp_sent: 0");
}

TEST(Hearsay, IsAllOfAManualButForWhatAHostPrinted) {
  std::string page =
      "# Marking\n\n## Values\n\nNCCL_IB_TC=26 marks DSCP 6.\n\n## Usage\n\n## See\n";
  for (int i = 0; i < 40; ++i)
    page += "More of it.\n";
  EXPECT_TRUE(is_document(split(page, '\n')));
  EXPECT_EQ(reported(page).find("NCCL_IB_TC"), std::string::npos);
  page += "```\n$ export NCCL_IB_TC=26\n```\n```\nroot@gpu1:~# cat trust\npcp\n```\n";
  EXPECT_EQ(reported(page).find("NCCL_IB_TC"), std::string::npos);
  EXPECT_NE(reported(page).find("|pcp|"), std::string::npos);
  EXPECT_FALSE(is_document(split("# Slow since Monday\n## Log\nNCCL_IB_TC=26\n", '\n')));
}

TEST(Prose, IsWordsOfALanguageWithOthersBetweenThem) {
  EXPECT_TRUE(is_prose("RDMA uses DSCP 26, and CNPs use priority 6."));
  EXPECT_TRUE(is_prose("the setting `ulimit -l 64`, a mistyped `NCCL_ALGO`; more"));
  EXPECT_FALSE(is_prose("Priority trust state: pcp"));
  EXPECT_FALSE(is_prose("np_ecn_marked_roce_packets 8712, np_cnp_sent 0"));
  EXPECT_FALSE(is_prose("rx_prio3_pause:    12 of the port"));
}

}  // namespace
}  // namespace weir::readers
