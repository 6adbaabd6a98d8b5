#pragma once
// The report: one sheet that an engineer hands on. Verdict first, then what was measured, what
// deviates and why, what to do in which order and how to test it again, then the curves, the map
// and the rails.
//
// A Report is plain data that a verb fills in from wherever its evidence came: this knows neither
// the simulator nor the rules. The same report gives the same bytes. HTML is one file without
// scripts, links to elsewhere or fonts; it prints on one or two sheets, and shapes, numbers and
// line styles carry the meaning, never a colour alone. Long lists are folded, and the fold says how
// many it holds.
//
// Whether numbers were simulated or measured is said in the heading and beside the curves.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "design/fabric/intent.h"
#include "finding/finding.h"
#include "finding/thresholds.h"
#include "units/quantity.h"

namespace weir::render {

enum class Answer : std::uint8_t { kYes, kNo, kUnknown };
[[nodiscard]] std::string_view to_text(Answer);  // "yes" "no" "cannot tell"

/// One of the questions that come before every other: "Are we dropping?".
struct Question {
  std::string question;
  Answer answer = Answer::kUnknown;
  bool is_good = false;  // as it should be; means nothing where the answer is unknown
  std::string why;       // the counters that say so
};

struct KeyNumber {
  std::string name;   // "Drops of lossless traffic"
  std::string value;  // "0", with its unit
  std::string note;   // half a line; may be empty
};

/// A test or a look: the baseline, the load test, the settings that were read.
struct Measurement {
  std::string what;
  std::string command;  // what was typed; empty where nothing was
  std::string result;
};

/// How one sample stands for the many that a pixel holds.
enum class Merge : std::uint8_t { kPeak, kMean };

struct Curve {
  std::string label;           // "leaf1 swp9", "whole fabric"
  std::vector<double> values;  // one a time
};

/// A value worth a line across a panel: "ECN min 150KB".
struct Level {
  std::string label;
  double value = 0;
};

struct Panel {
  std::string title;  // "Fullest queue"
  std::string unit;   // "KB": of the values; said once
  Merge merge = Merge::kPeak;
  std::vector<Curve> curves;  // most important first
  std::vector<Level> levels;
};

/// Panels over one axis of time.
struct Timeline {
  std::vector<double> times_us;  // rising
  std::vector<Panel> panels;
  std::string note;  // what is not in it
};

/// What a link carried, as a share of its line rate, 0 to 1; absent where nobody looked.
struct LinkLoad {
  std::uint32_t link = 0;  // index into Intent::links
  std::optional<double> up;
  std::optional<double> down;
};

/// What one NIC did in the window of the test; absent where a counter was not there.
struct RailRow {
  std::string host;
  std::string device;
  std::optional<unsigned> rail;
  std::optional<double> sent_gbps;
  std::optional<double> received_gbps;
  std::optional<double> paused_share;   // of the time it was told to stand still
  std::optional<double> pausing_share;  // of the time it told the switch to
  std::optional<std::uint64_t> marked;
  std::optional<std::uint64_t> cnps_sent;
  std::optional<std::uint64_t> cnps_handled;
  std::optional<std::uint64_t> out_of_order;  // sequence errors, either side
  std::optional<std::uint64_t> discards;
};

/// The command that shows whether a finding of that phase (finding::phases()) is gone.
struct Retest {
  std::string phase;  // empty: of any other phase
  std::string command;
};

struct Report {
  std::string title;    // "pod16"
  std::string verdict;  // in words, one line; empty: verdict_of(judgement)
  std::string summary;  // a sentence or two under it
  std::string subject;  // "16 hosts, 3 switches, 32 links"
  bool is_simulated = false;
  std::string source;  // "lab demo, load 3, seed 1"
  std::string time;    // when it was observed; RFC 3339 or empty
  std::string tool;    // "weir 0.1.0"
  std::vector<KeyNumber> numbers;
  std::vector<Question> questions;
  std::vector<Measurement> measured;
  finding::Judgement judgement;
  finding::Thresholds thresholds;      // that it was judged by
  std::vector<std::string> platforms;  // of the fabric; empty: all fixes are shown
  std::vector<Retest> retests;
  const design::Intent* intent = nullptr;  // of the map; none: no map
  std::vector<LinkLoad> loads;
  std::vector<RailRow> rails;
  Timeline timeline;
  std::vector<std::string> notes;
};

/// Findings of one id: one problem at several places. Numbered from 1 in the order of importance;
/// text, plan and map use the same number.
struct Problem {
  int number = 0;
  std::vector<const finding::Finding*> findings;  // at least one
  [[nodiscard]] const finding::Finding& first() const { return *findings.front(); }
};
[[nodiscard]] std::vector<Problem> problems_of(const finding::Judgement&);
/// "gpu03, gpu07 and 14 more": the places of a problem, `most` of them named.
[[nodiscard]] std::string places_of(const Problem&, std::size_t most = 3);

/// What to do about a problem, and how to see that it is done.
struct PlanStep {
  int problem = 0;
  std::string priority;  // "1 now" "2 soon" "3 later"
  std::string what;
  std::string where;
  std::vector<finding::Fix> fixes;  // of the fabric's platforms
  std::string retest;
};
[[nodiscard]] std::vector<PlanStep> plan_of(const Report&);

/// "Not ready: 2 errors, 1 warning".
[[nodiscard]] std::string verdict_of(const finding::Judgement&);

/// The table of rails, folded where it is long.
struct RailTable {
  struct Line {
    std::string name;  // "gpu03 mlx5_0", or "rail 0: 500 more like it"
    std::vector<std::string> cells;
    bool is_fold = false;
    std::size_t count = 1;
  };
  std::vector<std::string> header;  // the first for the name
  std::vector<Line> lines;
};
[[nodiscard]] RailTable rail_table(const Report&);

[[nodiscard]] std::string report_html(const Report&);
[[nodiscard]] std::string report_markdown(const Report&);
/// The fields of weir/report/1 after `schema`.
void add_report_json(Json& object, const Report&);

}  // namespace weir::render
