#pragma once
// The exam of the diagnosis: fabrics, loads and faults nobody chose, and a score.
//
// Every seed draws a fabric, a load and a fault (or none, or two), simulates, hides the cause, and
// asks the diagnosis what is wrong, through the same call that `weir diagnose` makes. Fair by
// construction:
//
//   - What counts as the right answer stands in one table (accepted_ids), fixed beforehand.
//   - A fault counts only where it did something: the twin run of the same seed without it must
//     differ. Otherwise fabric, load and size are drawn again; the kind of fault stays.
//   - Evidence holds what a real host or switch would show, and no more: a driver stack that has no
//     such file shows no such fact.
//   - Three views are scored apart: everything; counters without any setting; one host alone.
//
// The same seed gives the same question and the same answer, whatever the number of threads.
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "evidence/evidence.h"
#include "finding/finding.h"
#include "lab/exam/exam_draw.h"

namespace weir::lab {

enum class ExamView : std::uint8_t {
  kFull,      // facts and counters of all hosts and switches
  kCounters,  // counters, names and cabling; no setting of anything
  kOneHost,   // facts and counters of the host concerned, nothing else
};
inline constexpr std::array kExamViews = {ExamView::kFull, ExamView::kCounters, ExamView::kOneHost};
[[nodiscard]] std::string_view to_text(ExamView);   // "full" "counters" "one_host"
[[nodiscard]] std::string_view to_title(ExamView);  // "full evidence" …

/// Ids that name this fault: the cause, not what follows from it. Empty for an unknown name.
[[nodiscard]] std::vector<std::string_view> accepted_ids(std::string_view fault);

/// How an answer did. Of a healthy fabric `cause` means: called healthy.
struct Mark {
  bool cause = false;            // one fault: first; two: both among the first three
  bool place = false;            // and at the right host, switch or link
  bool confident_wrong = false;  // something else first, and not as a mere guess
  bool inconclusive = false;     // "cannot tell"
  bool called_healthy = false;
  std::string said;  // the first finding's id, or the conclusion
};

/// What is to be found: the fault's name, and every place that is right for it.
struct Culprit {
  std::string fault;
  std::vector<std::string> hosts = {};
  std::vector<std::string> switches = {};
  std::vector<std::pair<std::string, std::string>> ports = {};  // of switches: both ends of a link,
                                                                // or the port that a host is behind
  bool is_everywhere = false;  // no single place: none, or any of them
};

/// REQUIRES: one or two culprits; none for a healthy fabric.
[[nodiscard]] Mark mark_answer(const finding::Judgement& said,
                               const std::vector<Culprit>& culprits);

/// One seed: what was asked, what the diagnosis said.
struct ExamRun {
  Question question;
  bool is_counted = false;    // a healthy fabric, or a fault that did something
  std::uint64_t redraws = 0;  // questions put aside before this one
  std::string trouble;        // why no question could be asked; empty where one was
  std::vector<Culprit> culprits;
  std::string witness;  // the host of the one-host view
  std::array<Mark, kExamViews.size()> marks;
  std::array<finding::Judgement, kExamViews.size()> judgements;
  std::array<std::vector<evidence::Evidence>, kExamViews.size()> evidence;  // where it is kept
};
struct Sitting {
  std::vector<std::string> faults = {};  // only these kinds; empty: all, healthy and pairs included
  bool tells_load = true;                // the diagnosis is told what ran, as it is told the design
  bool keeps_evidence = false;
};
[[nodiscard]] ExamRun sit_exam(std::uint64_t seed, const Sitting& how);

struct Tally {
  std::uint64_t runs = 0;
  std::uint64_t cause = 0;
  std::uint64_t place = 0;
  std::uint64_t confident_wrong = 0;
  std::uint64_t inconclusive = 0;
  std::uint64_t called_healthy = 0;
};

struct Miss {
  std::uint64_t seed = 0;
  ExamView view = ExamView::kFull;
  std::string fault;  // "np-off", or two with " + " between; "healthy"
  std::string said;
  std::string replay;  // a line to type
};

struct ViewScore {
  Tally faulty;
  Tally healthy;
  std::map<std::string, Tally> by_fault;                               // pairs under "two faults"
  std::map<std::pair<std::string, std::string>, std::uint64_t> wrong;  // (fault, said): how often
};

struct ExamReport {
  std::uint64_t first_seed = 1;
  std::uint64_t last_seed = 1;
  std::uint64_t counted = 0;
  std::uint64_t uncounted = 0;  // no draw of the seed had an effect
  std::uint64_t redraws = 0;
  std::array<ViewScore, kExamViews.size()> views;
  std::vector<Miss> misses;  // by seed, then view
};

struct ExamOptions {
  std::uint64_t first_seed = 1;
  std::uint64_t last_seed = 100;
  std::vector<std::string> faults;                                    // see Sitting
  bool tells_load = true;                                             // the same
  std::vector<ExamView> views{kExamViews.begin(), kExamViews.end()};  // whose misses are listed
  unsigned jobs = 1;
  std::function<void(std::uint64_t done)> progress;  // report only; called by one thread at a time
};
/// REQUIRES: names of faults that exist, or "healthy".
[[nodiscard]] ExamReport run_exam(const ExamOptions& options);

/// "np-off", "np-off + wrong-mtu", "healthy".
[[nodiscard]] std::string name_of(const Question& question);

}  // namespace weir::lab
