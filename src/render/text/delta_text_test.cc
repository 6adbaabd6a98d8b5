#include "render/text/delta_text.h"

#include "base/testing.h"

namespace weir::render {
namespace {

using counters::Place;
using counters::PortCounters;
using counters::Reading;
using counters::Sample;

constexpr std::int64_t kSecond = 1'000'000'000;

counters::PortDelta delta_of(std::vector<Sample> before, std::vector<Sample> after) {
  return counters::difference(PortCounters("mlx5_0", "eth0", "mlx5_core", std::move(before)),
                              PortCounters("mlx5_0", "eth0", "mlx5_core", std::move(after)));
}

Sample sample(Place place, std::string name, std::uint64_t value) {
  return {place, std::move(name), Reading::of(value)};
}

TEST(DeltaText, WhatMovedIsShownWithItsRate) {
  COVERS("D2");
  const auto delta = delta_of({sample(Place::kHwCounters, "np_cnp_sent", 100),
                               sample(Place::kHwCounters, "out_of_sequence", 7)},
                              {sample(Place::kHwCounters, "np_cnp_sent", 2'600),
                               sample(Place::kHwCounters, "out_of_sequence", 7)});
  EXPECT_EQ(moved(delta), 1U);
  const std::string text = delta_table(delta, 2 * kSecond, 0);
  EXPECT_NE(text.find("hw_counters/np_cnp_sent  +2,500  packets  1.25k/s"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("out_of_sequence"), std::string::npos);
}

TEST(DeltaText, WrapsResetsAndNewNamesAreSaid) {
  COVERS("D2");
  const auto delta = delta_of({sample(Place::kHwCounters, "out_of_sequence", 4'294'967'290U),
                               sample(Place::kEthtool, "rx_prio3_bytes", 5'000)},
                              {sample(Place::kHwCounters, "out_of_sequence", 4),
                               sample(Place::kEthtool, "rx_prio3_bytes", 12),
                               sample(Place::kEthtool, "rx_prio3_pause", 0)});
  const std::string text = delta_table(delta, kSecond);
  EXPECT_NE(text.find("+10"), std::string::npos) << text;
  EXPECT_NE(text.find("wrapped once"), std::string::npos);
  EXPECT_NE(text.find("at least 12"), std::string::npos);
  EXPECT_NE(text.find("reset in between"), std::string::npos);
  EXPECT_NE(text.find("new"), std::string::npos);
}

TEST(DeltaText, NothingMovedIsNoTable) {
  const auto delta = delta_of({sample(Place::kHwCounters, "np_cnp_sent", 1)},
                              {sample(Place::kHwCounters, "np_cnp_sent", 1)});
  EXPECT_EQ(delta_table(delta, kSecond), "");
}

TEST(DeltaText, PausesSayWhoHeldWhom) {
  COVERS("D4");
  const auto received = delta_of({sample(Place::kEthtool, "rx_prio3_pause", 0),
                                  sample(Place::kEthtool, "rx_prio3_pause_duration", 0)},
                                 {sample(Place::kEthtool, "rx_prio3_pause", 10),
                                  sample(Place::kEthtool, "rx_prio3_pause_duration", 20'000)});
  const auto sentences = pause_sentences(received, kSecond);
  ASSERT_EQ(sentences.size(), 1U);
  EXPECT_EQ(sentences[0],
            "mlx5_0 priority 3: the switch paused this host (10 pause frames, 20,000 us, 2 % of "
            "the time): the congestion is at or beyond the switch");
  const auto sent = delta_of({sample(Place::kEthtool, "tx_prio3_pause", 1)},
                             {sample(Place::kEthtool, "tx_prio3_pause", 3)});
  ASSERT_EQ(pause_sentences(sent, kSecond).size(), 1U);
  EXPECT_NE(pause_sentences(sent, kSecond)[0].find("this NIC or host is the bottleneck"),
            std::string::npos);
}

TEST(DeltaText, TheProcessorsShareIsASentence) {
  COVERS("D1");
  const auto ticks = [](std::uint64_t all, std::uint64_t busy, std::uint64_t softirq) {
    return std::vector<Sample>{sample(Place::kHost, "cpu_all_ticks", all),
                               sample(Place::kHost, "cpu_busy_ticks", busy),
                               sample(Place::kHost, "cpu_softirq_ticks", softirq)};
  };
  EXPECT_EQ(processor_sentence(delta_of(ticks(1000, 100, 10), ticks(2000, 350, 40))),
            "CPUs: 25.0 % busy, 3.0 % in soft interrupts.");
  EXPECT_EQ(processor_sentence(delta_of({}, {})), "");
}

}  // namespace
}  // namespace weir::render
