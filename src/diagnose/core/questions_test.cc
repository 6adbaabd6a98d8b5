// The five questions say what was counted, and of what was not read nothing.
#include "base/testing.h"
#include "diagnose/core/interpret.h"
#include "diagnose/core/made_case.h"

namespace weir::diagnose {
namespace {

enum Asked : std::size_t { kDcqcn, kDropping, kPfc, kTraffic, kLink };

Question asked(MadeCase made, Asked which) {
  return five_questions(View({made.pieces(), nullptr, {}})).at(which);
}

bool says(const Question& question, std::string_view words) {
  return question.sentence.find(words) != std::string::npos;
}

TEST(Questions, AReceiverHadTrafficToo) {
  COVERS("D8");
  MadeCase made;
  made.host("gpu01", {{"ethtool/tx_prio0_bytes", 0},
                      {"ethtool/tx_prio3_bytes", 0},
                      {"ethtool/rx_prio3_bytes", 400'000'000'000}});
  const Question flow = asked(made, kTraffic);
  EXPECT_EQ(flow.answer, Answer::kYes) << flow.sentence;
  EXPECT_TRUE(says(flow, "400,000,000,000 of 400,000,000,000 bytes received")) << flow.sentence;
}

TEST(Questions, TheSendersOfAReceiversMarksWereNotSeen) {
  COVERS("D8");
  MadeCase made;
  made.host("gpu01", {{"hw_counters/np_ecn_marked_roce_packets", 40'000},
                      {"hw_counters/np_cnp_sent", 9'000},
                      {"hw_counters/rp_cnp_handled", 0}});
  const Question open = asked(made, kDcqcn);
  EXPECT_EQ(open.answer, Answer::kUnknown) << open.sentence;
  EXPECT_TRUE(says(open, "9000 CNPs sent")) << open.sentence;
  made.forget("rp_cnp_handled");
  const Question unread = asked(made, kDcqcn);
  EXPECT_EQ(unread.answer, Answer::kUnknown) << unread.sentence;
  EXPECT_FALSE(says(unread, "0 handled")) << unread.sentence;
}

TEST(Questions, ASenderThatIgnoresCnpsIsJudgedWithoutMarks) {
  COVERS("D8", "I13");
  const auto sender = [](std::uint64_t ignored) {
    MadeCase made;
    made.host("gpu01", {{"hw_counters/np_ecn_marked_roce_packets", 0},
                        {"hw_counters/np_cnp_sent", 0},
                        {"hw_counters/rp_cnp_handled", 94'100},
                        {"hw_counters/rp_cnp_ignored", ignored}});
    return asked(made, kDcqcn);
  };
  const Question deaf = sender(5'900);
  EXPECT_EQ(deaf.answer, Answer::kNo) << deaf.sentence;
  EXPECT_FALSE(deaf.is_good);
  EXPECT_TRUE(says(deaf, "5900 were ignored")) << deaf.sentence;
  const Question well = sender(25);
  EXPECT_EQ(well.answer, Answer::kYes) << well.sentence;
  EXPECT_TRUE(says(well, "94100 handled")) << well.sentence;
}

TEST(Questions, OfSwitchesThatWereNotReadNothingIsSaid) {
  COVERS("D8");
  MadeCase made;
  made.host("gpu01", {{"ethtool/rx_discards_phy", 0}});
  const Question drops = asked(made, kDropping);
  EXPECT_EQ(drops.answer, Answer::kNo) << drops.sentence;
  EXPECT_TRUE(drops.sentence.starts_with("No loss events at the NICs; not read: drops in the"))
      << drops.sentence;
  made.host("gpu02", {{"ethtool/rx_prio3_pause", 12}});
  const Question pauses = asked(made, kPfc);
  EXPECT_EQ(pauses.answer, Answer::kYes);
  EXPECT_FALSE(says(pauses, "between switches")) << pauses.sentence;
}

TEST(Questions, DropsInTheLosslessClassAreNamedWhereASwitchCountsThem) {
  COVERS("D8");
  MadeCase made;
  made.host("gpu01", {{"ethtool/rx_discards_phy", 0}});
  made.port("swp1", "gpu01", "mlx5_0");
  const Question drops = asked(made, kDropping);
  EXPECT_EQ(drops.sentence, "No drops in the lossless class and no loss events at the NICs.");
}

TEST(Questions, OneKindOfLinkCounterDoesNotSpeakForTheOther) {
  COVERS("D8");
  MadeCase made;
  made.host("gpu01");
  EXPECT_EQ(asked(made, kLink).sentence, "No frame errors and no link-down events.");
  made.forget("link_down_events_phy");
  const Question link = asked(made, kLink);
  EXPECT_EQ(link.sentence, "No frame errors; link-down events were not read.");
  MadeCase blind;
  blind.host("gpu01");
  blind.forget("rx_crc_errors_phy");
  EXPECT_EQ(asked(blind, kLink).answer, Answer::kUnknown);
}

TEST(Questions, WithoutEthtoolThePriorityIsNotReadAndTheBytesAre) {
  COVERS("D8");
  MadeCase made;
  made.host("gpu01", {{"counters/port_rcv_data", 90'000'000'000},
                      {"counters/port_rcv_packets", 0},
                      {"counters/port_xmit_packets", 0}});
  made.forget("prio");
  const Question flow = asked(made, kTraffic);
  EXPECT_EQ(flow.answer, Answer::kYes) << flow.sentence;
  EXPECT_FALSE(says(flow, "the driver does not count")) << flow.sentence;
  EXPECT_TRUE(says(flow, "in which priority was not read")) << flow.sentence;
}

TEST(Questions, ReorderingIsNotLoss) {
  COVERS("D8", "I17");
  MadeCase made;
  made.host("gpu01", {{"hw_counters/out_of_sequence", 512'000},
                      {"hw_counters/local_ack_timeout_err", 0},
                      {"ethtool/rx_discards_phy", 0}});
  const Question drops = asked(made, kDropping);
  EXPECT_EQ(drops.answer, Answer::kNo) << drops.sentence;
  EXPECT_TRUE(says(drops, "came late")) << drops.sentence;
  MadeCase lost;
  lost.host("gpu01", {{"hw_counters/out_of_sequence", 512'000},
                      {"hw_counters/local_ack_timeout_err", 400},
                      {"ethtool/rx_discards_phy", 0}});
  EXPECT_EQ(asked(lost, kDropping).answer, Answer::kYes);
}

// A window of 10 ms.
TEST(Questions, PausesThatHoldAPortAreNotGood) {
  COVERS("D8");
  const auto paused = [](std::uint64_t microseconds) {
    MadeCase made;
    made.host("gpu01",
              {{"ethtool/rx_prio3_pause", 40}, {"ethtool/rx_prio3_pause_duration", microseconds}});
    return asked(made, kPfc);
  };
  EXPECT_FALSE(paused(3'000).is_good);
  EXPECT_TRUE(says(paused(3'000), "30 % of the window")) << paused(3'000).sentence;
  EXPECT_TRUE(paused(20).is_good) << paused(20).sentence;
}

TEST(Questions, CountersAtRestAreToldFromCountersThatShowNoTraffic) {
  COVERS("D3");
  MadeCase made;
  made.host("gpu01", {{"hw_counters/np_ecn_marked_roce_packets", 100'000},
                      {"counters/port_rcv_data", 312'500'000}});
  made.forget("prio");
  for (const finding::Unknown& open : made.judge().unknown)
    EXPECT_EQ(open.reason.find("nothing moved"), std::string::npos) << open.reason;
}

/// In words of four bytes, over 10 ms: 1 Gb/s and 400 Gb/s.
TEST(Questions, MarksOnAnIdleLineShowInTheCountersOfTheRdmaDevice) {
  COVERS("I21");
  const auto marked = [](std::uint64_t bytes) {
    MadeCase made;
    evidence::Evidence& host =
        made.host("gpu01", {{"hw_counters/np_ecn_marked_roce_packets", 100'000},
                            {"hw_counters/np_cnp_sent", 20'000},
                            {"hw_counters/rp_cnp_handled", 20'000},
                            {"counters/port_rcv_data", bytes}});
    host.nics.front().link.speed = evidence::Fact<BitRate>::of(400_Gbps);
    made.forget("prio");
    made.forget("_phy");
    return made.said();
  };
  EXPECT_EQ(marked(312'500), "ecn.thresholds_too_low");
  EXPECT_NE(marked(125'000'000), "ecn.thresholds_too_low");
}

}  // namespace
}  // namespace weir::diagnose
