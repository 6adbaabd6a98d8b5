#pragma once
// The exam of the diagnosis: randomly drawn fabrics, loads and faults, and a score.
//
// Every seed draws a fabric, a load and a fault (or none, or two), simulates them, and asks the
// diagnosis for the cause through the same call that `weir diagnose` makes. Fair by construction:
//
//   - The right answers are in one table (accepted_ids), fixed beforehand.
//   - A fault counts only if it had an effect: the same run without it must differ. Otherwise
//     fabric, load and size are drawn again; the kind of fault stays.
//   - Evidence contains what a real host or switch would show and no more: if the driver stack has
//     no file for a fact, the fact is missing.
//   - Three views are scored separately: all evidence; counters without settings; one host.
//
// The same seed gives the same question and the same answer, whatever the compiler and the number
// of threads.
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "evidence/evidence.h"
#include "finding/finding.h"
#include "lab/exam/exam_draw.h"
#include "lab/expectation/expectation.h"

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

/// How an answer scored. For a healthy fabric `cause` means: called healthy.
struct Mark {
  bool cause = false;            // one fault: first; two: both among the first three
  bool place = false;            // and at the right host, switch or link
  bool confident_wrong = false;  // something else first, with more than low confidence
  bool inconclusive = false;     // "cannot tell"
  bool called_healthy = false;
  std::string said;  // the first finding's id, or the conclusion
};

/// A fault to be found, and every place that is right for it.
struct Culprit {
  std::string fault;
  std::vector<std::string> hosts = {};
  std::vector<std::string> switches = {};
  std::vector<std::pair<std::string, std::string>> ports = {};  // switch and port: both ends of a
                                                                // link, or the port of a host
  bool is_everywhere = false;  // any place is right, and none at all
};

/// REQUIRES: one or two culprits; none for a healthy fabric.
[[nodiscard]] Mark mark_answer(const finding::Judgement& said,
                               const std::vector<Culprit>& culprits);

/// One seed: the question and the answers.
struct ExamRun {
  Question question;
  bool is_counted = false;    // a healthy fabric, or a fault that did something
  std::uint64_t redraws = 0;  // questions without an effect before this one
  std::string trouble;        // why it is not counted; empty if it is
  std::vector<Culprit> culprits;
  std::string witness;  // the host of the one-host view
  std::array<Mark, kExamViews.size()> marks;
  std::array<finding::Judgement, kExamViews.size()> judgements;
  std::array<std::optional<Expectation>, kExamViews.size()> expectations;   // if compares_load
  std::array<std::vector<evidence::Evidence>, kExamViews.size()> evidence;  // if keeps_evidence
};
struct Sitting {
  std::vector<std::string> faults = {};  // only these kinds; empty: all, healthy and pairs included
  bool compares_load = false;            // also compare with simulated runs of the load (slow)
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
  std::uint64_t compared = 0;  // with simulated runs of the load
  std::uint64_t outside = 0;   // of these: runs with a value outside the expected range
};

struct Miss {
  std::uint64_t seed = 0;
  ExamView view = ExamView::kFull;
  std::string fault;  // "np-off", or two with " + " between; "healthy"
  std::string said;
  std::string replay;  // the command that shows it
};

struct ViewScore {
  Tally faulty;
  Tally healthy;
  std::map<std::string, Tally> by_fault;                               // pairs under "two faults"
  std::map<std::pair<std::string, std::string>, std::uint64_t> wrong;  // count by (fault, said)
};

struct ExamReport {
  std::uint64_t first_seed = 1;
  std::uint64_t last_seed = 1;
  std::uint64_t counted = 0;
  std::uint64_t uncounted = 0;  // seeds of which no drawn fault had an effect
  std::uint64_t redraws = 0;
  std::array<ViewScore, kExamViews.size()> views;
  std::vector<Miss> misses;  // by seed, then view
};

struct ExamOptions {
  std::uint64_t first_seed = 1;
  std::uint64_t last_seed = 100;
  std::vector<std::string> faults;  // see Sitting
  bool compares_load = false;       // see Sitting
  unsigned jobs = 1;
  std::function<void(std::uint64_t done)> progress;  // report only; called by one thread at a time
};
/// REQUIRES: names of faults that exist, or "healthy".
[[nodiscard]] ExamReport run_exam(const ExamOptions& options);

/// "np-off", "np-off + wrong-mtu", "healthy".
[[nodiscard]] std::string name_of(const Question& question);

}  // namespace weir::lab
