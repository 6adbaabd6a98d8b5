#pragma once
// What the counters say, in words: every counter that moved as a sentence with its amount and rate
// (D3), and the five questions (D8), each with the counters behind the answer.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/core/view.h"
#include "finding/finding.h"

namespace weir::diagnose {

/// One counter that moved.
struct Observation {
  finding::Where where;
  std::string key;      // "ethtool/rx_prio3_pause"
  std::string counter;  // catalogue id
  std::uint64_t amount = 0;
  std::string quantity;                                   // "480 frames, 67,000 per second"
  std::string meaning;                                    // for pauses: who paused whom
  finding::Severity severity = finding::Severity::kInfo;  // info: normal

  [[nodiscard]] std::string sentence() const { return quantity + ": " + meaning; }
};

/// Worst first, then by place. Without unknown counters, gauges and settings.
[[nodiscard]] std::vector<Observation> interpret(const View& view);

/// One line per counter, except plain traffic (the five questions cover that): the sum over all
/// ports and the port with most. In the order of `observations`.
[[nodiscard]] std::vector<std::string> summary_of(const std::vector<Observation>& observations);

using finding::Answer;

struct Question {
  std::string question;  // "Are we dropping?"
  Answer answer = Answer::kUnknown;
  bool is_good = true;  // the answer is the wanted one; false if it is not known
  std::string sentence;
  std::vector<finding::EvidenceLine> lines;  // the counters that say so
};

/// Is DCQCN working; are we dropping; is PFC firing; did traffic flow, and on the right device; is
/// the link healthy. Always these five, in this order.
[[nodiscard]] std::vector<Question> five_questions(const View& view);

}  // namespace weir::diagnose
