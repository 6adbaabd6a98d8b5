#pragma once
// The result of a tuning on one page: what to change, what each change bought, what pausing would
// buy, which knobs matter, and what the fabric does before and after. Numbers and words come ready
// from the caller, as this layer knows no tuner. One self-contained HTML file, for screen (light
// and dark) and print.
#include <string>
#include <vector>

#include "render/report/report.h"

namespace weir::render {

/// A relative change: -0.12 is 12 % less. Without an interval low and high equal the mean.
struct Estimate {
  double mean = 0;
  double low = 0;
  double high = 0;
};
/// "-5.2 % (-6.1 to -4.2)".
[[nodiscard]] std::string to_text(const Estimate& estimate);

struct EstimateRow {
  std::string label;
  Estimate value;
  std::string note;  // under the label; may be empty
};

/// One point of the trade-off.
struct TradeOffPoint {
  std::string limit;  // "1 %": of the axis
  Estimate value;
  std::string note;
  bool is_marked = false;  // the knee
};

struct RankRow {
  std::string label;
  double effect = 0;
  double spread = 0;  // how much it depends on the other knobs
  bool is_inert = false;
};

/// One quantity before and after, for every workload.
struct BeforeAfter {
  struct Row {
    std::string label;
    double before = 0;
    double after = 0;
    std::string before_text;
    std::string after_text;
  };
  std::string title;
  std::vector<Row> rows;
};

struct PageTable {
  std::string title;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::string caption;
};

struct TuningPage {
  std::string title;
  std::string subject;
  std::string verdict;
  std::string summary;
  bool is_good = false;
  std::vector<KeyNumber> numbers;
  PageTable changes;
  std::string patch;  // lines for the design file
  std::string objective;
  std::vector<EstimateRow> bought;
  std::vector<TradeOffPoint> trade_off;
  std::string trade_off_note;
  std::vector<RankRow> ranking;
  std::vector<BeforeAfter> before_after;
  std::vector<PageTable> tables;
  std::vector<std::string> notes;
  std::string tool;
};

[[nodiscard]] std::string tuning_html(const TuningPage& page);

// ---- the figures ----

/// Bars from zero with their intervals; empty without rows.
[[nodiscard]] std::string draw_estimates(const std::vector<EstimateRow>& rows,
                                         const std::string& what);
[[nodiscard]] std::string draw_trade_off(const std::vector<TradeOffPoint>& points,
                                         const std::string& what);
[[nodiscard]] std::string draw_ranking(const std::vector<RankRow>& rows);
[[nodiscard]] std::string draw_before_after(const BeforeAfter& panel);

}  // namespace weir::render
