#pragma once
// The report for an engineer or a ticket: verdict first, then what was measured, what deviates and
// why, the plan with commands and retests, then the curves, the map and the rails.
//
// A Report is plain data, filled in by the caller: this depends neither on the simulator nor on the
// rules. The same report gives the same bytes. HTML is one file without scripts, external links or
// fonts; it prints on one or two sheets, and shapes, numbers and line styles carry the meaning,
// never colour alone. Long lists are shortened and say by how much.
//
// The heading and the captions say whether numbers were simulated or measured.
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

using finding::Answer;

/// One of the first questions of every diagnosis: "Are we dropping?".
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

/// A test or reading: the baseline, the load test, the settings.
struct Measurement {
  std::string what;
  std::string command;  // may be empty
  std::string result;
};

/// What the fabric did when it was good, and how it went since: part 1 of a report.
struct BaselineRow {
  std::string what;   // "pairs: bandwidth"
  std::string count;  // of values
  std::string p50;
  std::string p99;
  std::string p999;
  std::string spread;         // run to run; "?" of one run
  std::string now;            // the last run that was compared: "-11.2 %"; empty: none
  bool is_regressed = false;  // of that one
  std::vector<double> trend;  // p50 of every run, oldest first
};
struct BaselinePart {
  std::string title;    // "good: pod16, 16 hosts, 3 runs, 2026-08-01"
  std::string verdict;  // of the last comparison; empty: none
  std::vector<BaselineRow> rows;
  std::vector<std::string> settings;  // "trust: dscp"
};

/// How the samples of one pixel become one value.
enum class Merge : std::uint8_t { kPeak, kMean };

struct Curve {
  std::string label;           // "leaf1 swp9", "whole fabric"
  std::vector<double> values;  // one per time
};

/// A horizontal line in a panel: "ECN min 150KB".
struct Level {
  std::string label;
  double value = 0;
};

struct Panel {
  std::string title;  // "Fullest queue"
  std::string unit;   // "KB"
  Merge merge = Merge::kPeak;
  std::vector<Curve> curves;  // most important first
  std::vector<Level> levels;
};

/// What one rank, or several together, did: the share of them, 0 to 1, at each place of the time.
struct Lane {
  std::string label;
  std::vector<double> compute;
  std::vector<double> exposed;  // communication beside which nothing is computed
};

struct LaneChart {
  std::string title;
  double begin_us = 0;
  double end_us = 0;
  std::vector<Lane> lanes;       // all of one length
  std::vector<double> marks_us;  // ends of steps
  std::string note;              // shares in words
};

/// Panels over one axis: time, or the values of something that was varied.
struct Timeline {
  std::vector<double> times_us;  // rising
  std::vector<Panel> panels;
  std::string note = {};  // what is missing
  /// What was varied and its values, one per place of `times_us`; empty for time.
  std::string axis = {};
  std::vector<std::string> ticks = {};
  LaneChart lanes = {};  // above the panels, over a time of its own; may be empty
};

/// The mean load of a link as a share of its line rate, 0 to 1; absent where not measured.
struct LinkLoad {
  std::uint32_t link = 0;  // index into Intent::links
  std::optional<double> up;
  std::optional<double> down;
};

/// Counters of one NIC over the test; absent where the NIC has no such counter.
struct RailRow {
  std::string host;
  std::string device;
  std::optional<unsigned> rail;
  std::optional<double> sent_gbps;
  std::optional<double> received_gbps;
  std::optional<double> paused_share;   // of the time it was paused by the switch
  std::optional<double> pausing_share;  // of the time it paused the switch
  std::optional<std::uint64_t> marked;
  std::optional<std::uint64_t> cnps_sent;
  std::optional<std::uint64_t> cnps_handled;
  std::optional<std::uint64_t> out_of_order;  // sequence errors, either side
  std::optional<std::uint64_t> discards;
};

/// The command that checks whether findings of a phase (finding::phases()) are fixed.
struct Retest {
  std::string phase;  // empty: all other phases
  std::string command;
};

struct Report {
  std::string title;    // "pod16"
  std::string verdict;  // in words, one line; empty: verdict_of(judgement)
  std::string summary;  // one or two sentences
  std::string subject;  // "16 hosts, 3 switches, 32 links"
  bool is_simulated = false;
  std::string source;  // "lab demo, load 3, seed 1"
  std::string time;    // when it was observed; RFC 3339 or empty
  std::string tool;    // "weir 0.1.0"
  std::vector<KeyNumber> numbers;
  std::vector<Question> questions;
  std::optional<BaselinePart> baseline = {};
  std::vector<Measurement> measured;
  finding::Judgement judgement;
  finding::Thresholds thresholds;      // that it was judged by
  std::vector<std::string> platforms;  // of the fabric; empty: show all fixes
  std::vector<Retest> retests;
  const design::Intent* intent = nullptr;  // for the map; nullptr: no map
  std::vector<LinkLoad> loads;
  std::vector<RailRow> rails;
  Timeline timeline;
  std::vector<std::string> notes;
};

/// Findings with one id: one problem at several places. Numbered from 1 by importance; text, plan
/// and map use the same number.
struct Problem {
  int number = 0;
  std::vector<const finding::Finding*> findings;  // at least one
  [[nodiscard]] const finding::Finding& first() const { return *findings.front(); }
};
[[nodiscard]] std::vector<Problem> problems_of(const finding::Judgement&);
/// "gpu03, gpu07 and 14 more": the places of a problem, at most `most` by name.
[[nodiscard]] std::string places_of(const Problem&, std::size_t most = 3);

/// How to fix a problem, and how to check it.
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

/// The table of rails; a long one has lines that summarise several NICs.
struct RailTable {
  struct Line {
    std::string name;  // "gpu03 mlx5_0", or "rail 0: 500 others"
    std::vector<std::string> cells;
    bool is_fold = false;
    std::size_t count = 1;
  };
  std::vector<std::string> header;  // the first is of the name
  std::vector<Line> lines;
};
[[nodiscard]] RailTable rail_table(const Report&);

[[nodiscard]] std::string report_html(const Report&);
[[nodiscard]] std::string report_markdown(const Report&);
/// The fields of weir/report/1 after `schema`.
void add_report_json(Json& object, const Report&);

}  // namespace weir::render
