#pragma once
// What the counters say, in words: every counter that moved as a sentence with its number and rate
// (D3), and the five questions answered first (D8), each with the counters behind the answer.
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
  std::string quantity;                                   // "480 frames, 67,000 a second"
  std::string meaning;                                    // of pauses who stopped whom
  finding::Severity severity = finding::Severity::kInfo;  // info: as it should be

  [[nodiscard]] std::string sentence() const { return quantity + ": " + meaning; }
};

/// Worst first, then by place. Counters that the catalogue does not know, gauges and settings are
/// left out.
[[nodiscard]] std::vector<Observation> interpret(const View& view);

/// One line for each counter that is no plain traffic (the five questions speak of that), however
/// many ports it moved at: the sum, and where it moved most. In the order of `observations`.
[[nodiscard]] std::vector<std::string> summary_of(const std::vector<Observation>& observations);

enum class Answer : std::uint8_t { kYes, kNo, kUnknown };
[[nodiscard]] std::string_view to_text(Answer);  // "yes" "no" "cannot tell"

struct Question {
  std::string question;  // "Are we dropping?"
  Answer answer = Answer::kUnknown;
  bool is_good = true;  // the answer is what one hopes for; false where it is not known
  std::string sentence;
  std::vector<finding::EvidenceLine> lines;  // the counters that say so
};

/// Is DCQCN working; are we dropping; is PFC firing; did traffic flow, and on the right device; is
/// the link healthy. Always five, in this order.
[[nodiscard]] std::vector<Question> five_questions(const View& view);

}  // namespace weir::diagnose
