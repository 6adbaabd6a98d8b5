#include "preflight/report.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "base/name_pattern.h"

namespace weir::preflight {
namespace {

void add_once(std::vector<std::string>& list, const std::string& name) {
  if (!name.empty() && std::find(list.begin(), list.end(), name) == list.end())
    list.push_back(name);
}

constexpr std::array<std::string_view, 5> kStateNames = {"passed", "failed", "open", "not_run",
                                                         "not_applicable"};

}  // namespace

std::string_view to_text(State state) {
  return kStateNames.at(static_cast<std::size_t>(state));
}

std::optional<State> parse_state(std::string_view text) {
  for (std::size_t i = 0; i < kStateNames.size(); ++i)
    if (kStateNames.at(i) == text) return static_cast<State>(i);
  return std::nullopt;
}

std::string_view to_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::kGo: return "go";
    case Verdict::kNoGo: return "no-go";
    case Verdict::kCannotTell: return "cannot tell";
  }
  WEIR_UNREACHABLE("every verdict has a name");
}

const Measure* StageResult::find(std::string_view metric) const {
  const auto found = std::find_if(measures.begin(), measures.end(), [&](const Measure& each) {
    return each.metric == metric && each.subject.empty();
  });
  return found == measures.end() ? nullptr : &*found;
}

Report empty_report() {
  Report report;
  for (const StageRow& row : stages())
    report.stages.at(number_of(row.id)).id = row.id;
  return report;
}

std::vector<std::string> unseen_names(const Report& report) {
  std::vector<std::string> names;
  for (const std::string& text : report.unseen)
    names.push_back(text.substr(0, text.find(": ")));
  return names;
}

std::vector<std::string> lost_names(const Report& report) {
  std::vector<std::string> names;
  for (const LostHost& host : report.lost)
    names.push_back(host.name);
  return names;
}

const StageResult* Report::failed() const {
  const auto* const found =
      std::find_if(stages.begin(), stages.end(),
                   [](const StageResult& stage) { return stage.state == State::kFailed; });
  return found == stages.end() ? nullptr : found;
}

Verdict Report::verdict() const {
  if (failed() != nullptr) return Verdict::kNoGo;
  // A soak that nobody requested is not part of the question.
  const bool all = std::all_of(stages.begin(), stages.end(), [](const StageResult& stage) {
    return stage.state == State::kPassed || stage.state == State::kNotApplicable ||
           (stage.id == StageId::kSoak && stage.state == State::kNotRun);
  });
  return all && unseen.empty() && lost.empty() ? Verdict::kGo : Verdict::kCannotTell;
}

Failing failing_of(const Report& report) {
  Failing out;
  const StageResult* const stage = report.failed();
  if (stage == nullptr || stage->judgement.findings.empty()) return out;
  const finding::Severity worst = stage->judgement.findings.front().severity;
  for (const finding::Finding& finding : stage->judgement.findings) {
    if (finding.severity != worst) continue;
    add_once(out.hosts, finding.where.host);
    if (!finding.where.rail.empty()) add_once(out.rails, finding.where.rail);
    add_once(out.switches, finding.where.switch_name);
    add_once(out.links, finding.where.link);
    if (!finding.where.switch_name.empty() && !finding.where.port.empty())
      add_once(out.links, finding.where.switch_name + " " + finding.where.port);
  }
  return out;
}

diagnose::Totals sum_of(const diagnose::Totals& a, const diagnose::Totals& b) {
  using Amount = std::optional<std::uint64_t>;
  diagnose::Totals out;
  out.window = a.window + b.window;
  for (const auto member :
       {&diagnose::Totals::pauses, &diagnose::Totals::marks, &diagnose::Totals::cnps,
        &diagnose::Totals::sent_bytes, &diagnose::Totals::dropped, &diagnose::Totals::loss_signs,
        &diagnose::Totals::disordered, &diagnose::Totals::timeouts, &diagnose::Totals::watchdog}) {
    const Amount& first = a.*member;
    const Amount& second = b.*member;
    if (first || second) out.*member = first.value_or(0) + second.value_or(0);
  }
  if (a.pause_share || b.pause_share)
    out.pause_share = std::max(a.pause_share.value_or(0), b.pause_share.value_or(0));
  return out;
}

finding::Judgement whole_judgement(const Report& report) {
  finding::Judgement out;
  for (const StageResult& stage : report.stages) {
    out.findings.insert(out.findings.end(), stage.judgement.findings.begin(),
                        stage.judgement.findings.end());
    out.unknown.insert(out.unknown.end(), stage.judgement.unknown.begin(),
                       stage.judgement.unknown.end());
  }
  // One fault shows in several stages: said once, where it showed first.
  std::vector<finding::Finding> unique;
  for (finding::Finding& finding : out.findings) {
    const bool is_known = std::any_of(unique.begin(), unique.end(), [&](const auto& other) {
      return other.id == finding.id && other.where == finding.where;
    });
    // Notes on a load stay with its stage.
    if (!is_known && finding.severity != finding::Severity::kInfo)
      unique.push_back(std::move(finding));
  }
  out.findings = std::move(unique);
  for (const std::string& name : unseen_names(report)) {
    const std::string check = "looking at " + name;  // as validate says it
    if (std::none_of(out.unknown.begin(), out.unknown.end(),
                     [&](const auto& known) { return known.check == check; }))
      out.unknown.push_back({.check = check,
                             .reason = name + " was not seen at the start, and left out",
                             .how = "preflight again when it is back, or without it"});
  }
  for (const LostHost& host : report.lost)
    out.unknown.push_back(
        {.check = "looking at " + host.name,
         .reason = fmt::format("{} was lost in stage {} ({}) and left out from there on: {}",
                               host.name, number_of(host.stage), row_of(host.stage).name, host.why),
         .how = "preflight again when it is back, or without it"});
  finding::settle(out);
  if (report.verdict() == Verdict::kCannotTell && out.conclusion == finding::Conclusion::kHealthy)
    out.conclusion = finding::Conclusion::kInconclusive;
  return out;
}

}  // namespace weir::preflight
