#include "diagnose/core/diagnose.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include <fmt/format.h>

#include "base/name_pattern.h"
#include "base/text.h"
#include "counters/catalog.h"
#include "diagnose/core/fixes.h"
#include "diagnose/core/interpret.h"
#include "diagnose/paste/events.h"
#include "diagnose/rules/rule.h"
#include "finding/catalog.h"

namespace weir::diagnose {
namespace {

using finding::Finding;
using finding::Severity;

/// Begins the line that stands for the evidence of places that are not shown.
constexpr std::string_view kMorePlaces = "the same at";

/// Candidates by what a cause may say of them: id and place, and whether they are measured. A list
/// is used up when it is taken, so that all causes together take time in proportion to the
/// candidates.
class ById {
 public:
  explicit ById(std::span<const Candidate> candidates) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const Finding& finding = candidates[i].finding;
      // A wrong setting is never absorbed: it is a fault of its own and needs its own fix.
      if (finding.confidence == finding::Confidence::kCertain) continue;
      std::set<std::pair<std::string_view, std::string_view>> places;
      for (const std::string_view host : {std::string_view(), std::string_view(finding.where.host)})
        for (const std::string_view device :
             {std::string_view(), std::string_view(finding.where.switch_name)})
          places.emplace(host, device);
      for (const auto& [host, device] : places)
        lists_[{finding.id, host, device, candidates[i].is_measured}].push_back(i);
    }
  }

  /// What follows from candidate `cause`, which is behind it in the order of causes.
  [[nodiscard]] std::vector<std::size_t> take(const Candidate& candidate, std::size_t cause) {
    std::vector<std::size_t> out;
    for (const Consequence& follows : candidate.explains)
      for (const bool is_measured : {false, true}) {
        if (is_measured && follows.is_general) continue;
        const auto at = lists_.find({follows.id, follows.host, follows.switch_name, is_measured});
        if (at == lists_.end()) continue;
        for (const std::size_t other : at->second)
          if (other > cause) out.push_back(other);
        lists_.erase(at);
      }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

 private:
  using Key = std::tuple<std::string_view, std::string_view, std::string_view, bool>;
  std::map<Key, std::vector<std::size_t>> lists_;
};

/// Candidates are in the order of causes: each absorbs the later ones it explains.
std::vector<Finding> folded(std::vector<Candidate> candidates) {
  constexpr std::size_t kLines = 12;  // a fabric of thousands of NICs has as many consequences
  std::vector<bool> is_folded(candidates.size(), false);
  ById by_id(candidates);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (is_folded[i]) continue;
    Finding& cause = candidates[i].finding;
    std::size_t consequences = 0;
    for (const std::size_t j : by_id.take(candidates[i], i)) {
      if (is_folded[j]) continue;
      const Finding& other = candidates[j].finding;
      is_folded[j] = true;
      cause.severity = std::max(cause.severity, other.severity);
      if (++consequences > kLines) continue;
      cause.evidence.push_back(
          {.source = finding::to_text(other.where), .line = "consequence: " + other.verdict});
    }
    if (consequences > kLines)
      cause.evidence.push_back(
          {.line = fmt::format("consequence: the same or similar at {} more places",
                               consequences - kLines)});
  }
  std::vector<Finding> out;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (!is_folded[i]) out.push_back(std::move(candidates[i].finding));
  return out;
}

std::string short_place(const Finding& finding) {
  return finding.where.host.empty() ? finding.where.switch_name : finding.where.host;
}

/// Places of one finding on the host of the first: all its rails are named, and get a fix.
struct Rails {
  std::vector<std::string> devices;  // the first finding's first
  std::vector<std::string> numbers;
};

Rails rails_of_first(const std::vector<Finding>& same) {
  Rails out;
  for (const Finding& place : same) {
    const finding::Where& where = place.where;
    if (where.host.empty() || where.host != same.front().where.host || where.device.empty())
      continue;
    if (std::find(out.devices.begin(), out.devices.end(), where.device) != out.devices.end())
      continue;
    out.devices.push_back(where.device);
    if (!where.rail.empty()) out.numbers.push_back(where.rail);
  }
  return out;
}

/// Evidence of the other places: every rail of the first host, and the first places of others.
void add_evidence_of_others(const std::vector<Finding>& same, Finding& out) {
  constexpr std::size_t kLines = 8;
  std::size_t left_out = 0;
  for (const Finding& place : same) {
    if (&place == &same.front() || place.evidence.empty()) continue;
    const bool is_here = !place.where.host.empty() && place.where.host == same.front().where.host;
    if (is_here || out.evidence.size() < kLines) {
      out.evidence.push_back(place.evidence.front());
    } else {
      ++left_out;
    }
  }
  if (left_out > 0)
    out.evidence.push_back({.line = fmt::format("{} {} more place{}", kMorePlaces, left_out,
                                                left_out == 1 ? "" : "s")});
}

/// The same fault at many places is one finding; if it is everywhere, without a place.
Finding merged(const std::vector<Finding>& same, const View& view) {
  constexpr std::size_t kNamed = 4;
  Finding out = same.front();
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const Finding& place : same) {
    std::string name = short_place(place);
    if (known.insert(name).second) names.push_back(std::move(name));
    out.severity = std::max(out.severity, place.severity);
  }
  add_evidence_of_others(same, out);
  const Rails rails = rails_of_first(same);
  std::vector<std::string> shown(
      names.begin() + 1,
      names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kNamed + 1)));
  if (rails.devices.size() > 1) {
    shown.insert(shown.begin(), compact_names(std::span(rails.devices).subspan(1)));
    out.where.device = compact_names(rails.devices);
    if (!out.where.rail.empty()) out.where.rail = compact_names(rails.numbers);
    out.where.link.clear();  // that of the first alone
  }
  if (!shown.empty()) {
    out.verdict += fmt::format(" Also at {}{}.", join(shown, ", "),
                               names.size() > kNamed + 1
                                   ? fmt::format(" and {} more", names.size() - kNamed - 1)
                                   : std::string());
  }
  std::set<std::string_view> hosts;
  for (const NicView& nic : view.nics())
    hosts.insert(nic.host);
  const bool is_everywhere = names.size() >= hosts.size() || names.size() >= view.switches().size();
  if (!is_everywhere || names.size() <= kNamed) return out;
  // The fix is that of the first place, if all are hosts or all are switches.
  const bool is_one_kind = std::all_of(same.begin(), same.end(), [&](const Finding& place) {
    return place.where.switch_name.empty() == out.where.switch_name.empty();
  });
  if (is_one_kind) fit_fixes(view, out);
  out.where = {};
  return out;
}

std::vector<Finding> without_repetition(std::vector<Finding> findings, const View& view) {
  constexpr std::size_t kApart = 3;
  std::vector<Finding> out;
  std::vector<std::string> done;
  for (const Finding& finding : findings) {
    if (std::find(done.begin(), done.end(), finding.id) != done.end()) continue;
    std::vector<Finding> same;
    std::copy_if(findings.begin(), findings.end(), std::back_inserter(same),
                 [&](const Finding& other) { return other.id == finding.id; });
    done.push_back(finding.id);
    if (same.size() > kApart) {
      out.push_back(merged(same, view));
    } else {
      out.insert(out.end(), same.begin(), same.end());
    }
  }
  return out;
}

/// The first three findings should be three different causes: further places of a cause that is
/// already listed go behind the others.
void put_repetitions_behind(std::vector<Finding>& findings, std::size_t known) {
  std::vector<std::string> seen;
  std::vector<Finding> again;
  std::vector<Finding> out;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (i == known) std::move(again.begin(), again.end(), std::back_inserter(out));
    const bool is_again =
        i < known && std::find(seen.begin(), seen.end(), findings[i].id) != seen.end();
    seen.push_back(findings[i].id);
    (is_again ? again : out).push_back(std::move(findings[i]));
  }
  if (known >= findings.size()) std::move(again.begin(), again.end(), std::back_inserter(out));
  findings = std::move(out);
}

/// Notes last, and guesses after what is known, whatever their severity; then by severity, then by
/// confidence, then in the order of causes.
void sort(std::vector<Finding>& findings) {
  const auto is_note = [](const Finding& finding) { return finding.severity == Severity::kInfo; };
  const auto is_guess = [](const Finding& finding) {
    return finding.confidence == finding::Confidence::kLow;
  };
  std::stable_sort(findings.begin(), findings.end(), [&](const Finding& a, const Finding& b) {
    if (is_note(a) != is_note(b)) return is_note(b);
    if (is_guess(a) != is_guess(b)) return is_guess(b);
    if (a.severity != b.severity) return a.severity > b.severity;
    return a.confidence > b.confidence;
  });
  const auto known = std::count_if(findings.begin(), findings.end(), [&](const Finding& finding) {
    return !is_note(finding) && !is_guess(finding);
  });
  put_repetitions_behind(findings, static_cast<std::size_t>(known));
}

/// Findings that a relation within one reading supports, whatever the time: marks without a CNP,
/// traffic in one priority and none in the other, drops although pauses were sent.
bool is_relation(std::string_view id) {
  constexpr auto kRelations = std::to_array<std::string_view>(
      {"np.disabled", "rp.disabled", "cnp.lost", "dscp.unmarked", "dscp.nic_map_wrong",
       "dscp.one_way", "dscp.unmapped_hop", "dscp.rewritten", "trust.not_dscp",
       "pfc.wrong_priority", "pfc.multiple_priorities", "class.shared_queue", "headroom.too_small",
       "config.not_applied", "load.no_rdma"});
  return std::find(kRelations.begin(), kRelations.end(), id) != kRelations.end();
}

/// A setting, a state or a level: true of the moment, not a sum.
bool is_of_now(const finding::EvidenceLine& line) {
  if (line.counter.empty())
    return !line.line.starts_with("consequence: ") && !line.line.starts_with(kMorePlaces);
  const counters::Counter* counter = counters::find(line.counter);
  return counter != nullptr && counter->kind == counters::Kind::kGauge &&
         line.value.value_or(0) > 0;
}

/// A single reading of sums supports "not zero since an unknown time" and no more.
void weigh_single_readings(const View& view, std::vector<Finding>& findings) {
  for (Finding& finding : findings) {
    const bool is_sum = !finding.evidence.empty() &&
                        std::none_of(finding.evidence.begin(), finding.evidence.end(), is_of_now);
    if (!is_sum || !view.is_read_once(finding.where)) continue;
    finding.confidence = std::min(finding.confidence, finding::Confidence::kMedium);
    if (!is_relation(finding.id)) {
      finding.severity = Severity::kInfo;
      finding.evidence.push_back(
          {.line = "one reading: a sum since the counters were last cleared, which may be long "
                   "ago; read it again after a minute under load and compare (weir snapshot, weir "
                   "diff)"});
    }
  }
}

/// A question without an answer, and "healthy", may not stand together.
void add_open_questions(const View& view, finding::Judgement& judgement) {
  for (const Question& question : five_questions(view)) {
    if (question.answer != Answer::kUnknown) continue;
    judgement.unknown.push_back({question.question, question.sentence,
                                 "counters of the hosts before and after a load: weir snapshot"});
  }
}

/// At rest they show it, too.
bool counts_traffic(const View& view) {
  const auto counts_any = [](const Counts& counts, auto... ids) {
    return (counts.sum(ids).has_value() || ...);
  };
  return std::any_of(view.nics().begin(), view.nics().end(),
                     [&](const NicView& nic) {
                       return counts_any(nic.counts, "nic.port.tx.bytes", "nic.port.rx.bytes",
                                         "nic.prio.tx.bytes", "nic.prio.rx.bytes",
                                         "nic.rdma.tx.bytes", "nic.rdma.rx.bytes",
                                         "nic.rdma.tx.packets", "nic.rdma.rx.packets");
                     }) ||
         std::any_of(view.ports().begin(), view.ports().end(), [&](const PortView& port) {
           return counts_any(port.counts, "switch.port.tx.bytes", "switch.queue.tx.bytes");
         });
}

finding::Conclusion conclusion(const View& view, finding::Judgement& judgement) {
  if (judgement.count(Severity::kError) + judgement.count(Severity::kWarning) > 0)
    return finding::Conclusion::kFindings;
  if (!view.has_counters()) {
    judgement.unknown.push_back({"behaviour", "no counters were given",
                                 "two snapshots around a load: weir snapshot, or weir verify"});
  } else if (view.traffic() < view.thresholds().bytes_that_matter) {
    judgement.unknown.push_back(
        {"behaviour",
         view.is_read_once({})   ? "one reading of counters: whether anything moves it cannot show"
         : !counts_traffic(view) ? "no counter of bytes or packets was given"
         : view.traffic() == 0
             ? "nothing moved in any class: counters at rest say nothing about a load"
             : "almost no traffic between the snapshots: nothing was tested",
         "take the snapshots around a load"});
  }
  if (judgement.unknown.empty()) add_open_questions(view, judgement);
  return judgement.unknown.empty() ? finding::Conclusion::kHealthy
                                   : finding::Conclusion::kInconclusive;
}

/// What counters and a log both show of a device is one finding, with the lines of both.
void add_logged(std::vector<Finding> logged, std::vector<Finding>& findings) {
  using Key = std::tuple<std::string, std::string, std::string>;
  const auto key_of = [](const Finding& finding) {
    return Key(finding.id, finding.where.host, finding.where.device);
  };
  std::map<Key, std::size_t> known;
  for (std::size_t i = 0; i < findings.size(); ++i)
    known.emplace(key_of(findings[i]), i);
  for (Finding& line : logged) {
    const auto [same, is_new] = known.emplace(key_of(line), findings.size());
    if (is_new) {
      findings.push_back(std::move(line));
    } else {
      std::move(line.evidence.begin(), line.evidence.end(),
                std::back_inserter(findings[same->second].evidence));
    }
  }
}

}  // namespace

finding::Judgement diagnose(const View& view) {
  Suspicions suspicions;
  for (const Rule& rule : rules())
    rule.look(view, suspicions);
  finding::Judgement judgement;
  judgement.findings = without_repetition(folded(std::move(suspicions.candidates())), view);
  judgement.unknown = std::move(suspicions.unknown());
  weigh_single_readings(view, judgement.findings);
  finding::Judgement logs;
  for (const evidence::Evidence& host : view.evidence())
    judge_kernel_log(host, view.thresholds(), logs);
  add_logged(std::move(logs.findings), judgement.findings);
  sort(judgement.findings);
  for (Finding& finding : judgement.findings)
    fit_fixes(view, finding);
  judgement.conclusion = conclusion(view, judgement);
  // Counters say what a log says, and more: without it a fabric may still be called healthy.
  std::move(logs.unknown.begin(), logs.unknown.end(), std::back_inserter(judgement.unknown));
  return judgement;
}

namespace {

/// "Not the fabric: the program ran out of GPU memory."
std::string not_fabric(const finding::Judgement& judgement) {
  const auto cause =
      std::find_if(judgement.findings.begin(), judgement.findings.end(),
                   [](const Finding& finding) { return finding.id == "app.not_fabric"; });
  // Without one a setting of the host or of the job is the cause.
  const bool is_other = cause == judgement.findings.end();
  if (is_other &&
      (judgement.findings.empty() || judgement.findings.front().severity == Severity::kInfo))
    return "Not the fabric.";
  std::string verdict = is_other ? judgement.findings.front().verdict : cause->verdict;
  if (verdict.starts_with("The ") || verdict.starts_with("A ")) verdict[0] += 'a' - 'A';
  return fmt::format("Not the fabric: {}", verdict);
}

}  // namespace

std::string headline(const finding::Judgement& judgement, std::size_t hosts, std::size_t switches) {
  const std::string seen = fmt::format("{} host{} and {} switch{}", hosts, hosts == 1 ? "" : "s",
                                       switches, switches == 1 ? "" : "es");
  switch (judgement.conclusion) {
    case finding::Conclusion::kHealthy: return fmt::format("Healthy: no fault found on {}.", seen);
    case finding::Conclusion::kNotFabric: return not_fabric(judgement);
    case finding::Conclusion::kInconclusive:
      if (judgement.count(Severity::kError) > 0)
        return fmt::format("Cannot tell the cause: {}", judgement.findings.front().verdict);
      return fmt::format("Cannot tell: not enough data from {}.", seen);
    case finding::Conclusion::kFindings: break;
  }
  const Finding& first = judgement.findings.front();
  const std::string place = finding::to_text(first.where);
  const finding::CatalogEntry* entry = finding::find(first.id);
  const std::size_t more = judgement.findings.size() - 1;
  return fmt::format(
      "Most likely cause: {}{}{}.", entry != nullptr ? entry->title : first.id,
      place.empty() ? std::string() : ", at " + place,
      more == 0 ? std::string() : fmt::format("; {} more finding{}", more, more == 1 ? "" : "s"));
}

}  // namespace weir::diagnose
