#pragma once
// The screen of weir top as text: a row per rail, a curve of what it sent, the findings below.
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "finding/finding.h"
#include "ops/watch/rates.h"

namespace weir::cli {

enum class TopSort { kPaused, kPausing, kMarks, kSent, kReceived, kLosses, kName };
inline constexpr TopSort kTopSorts[] = {TopSort::kPaused, TopSort::kPausing,  TopSort::kMarks,
                                        TopSort::kSent,   TopSort::kReceived, TopSort::kLosses,
                                        TopSort::kName};
[[nodiscard]] std::string_view to_text(TopSort);  // "paused" "pausing" "marks" …

/// What each rail sent in the looks before, as shares of its line; the oldest first.
class TopHistory {
 public:
  void add(const std::vector<ops::RailRates>& rows);
  /// Braille, two looks per character, at most `columns`; blank where a look gave no number.
  [[nodiscard]] std::string curve(const ops::RailRates& row, std::size_t columns) const;

 private:
  static constexpr std::size_t kKept = 32;
  std::map<std::string, std::deque<double>> shares_;  // by host and device; negative: unknown
};

struct TopView {
  TopSort sort = TopSort::kPaused;
  std::string filter;  // of host or device; empty: all
  std::size_t width = 80;
  std::size_t height = 0;  // lines; 0: as many as there are
  bool is_simulated = false;
  std::optional<bool> has_load;  // of a lab: rates are those of its last load, or there is none yet
  std::string status;            // before the first line: the time, "held"
  std::string keys;              // what may be typed
};

/// Rows that the filter lets through, the largest first; equal ones by name.
[[nodiscard]] std::vector<ops::RailRates> chosen_rows(std::vector<ops::RailRates> rows,
                                                      const TopView& view);

/// Lines of at most `width` columns, no more than `height`.
[[nodiscard]] std::vector<std::string> top_screen(const std::vector<ops::RailRates>& rows,
                                                  const TopHistory& history,
                                                  const finding::Judgement* judgement,
                                                  const TopView& view);

}  // namespace weir::cli
