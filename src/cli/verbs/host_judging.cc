#include "cli/verbs/host_judging.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/name_pattern.h"
#include "finding/fold.h"

namespace weir::cli {

void add_unseen(const Observation& seen, finding::Judgement& judgement) {
  for (const std::string& one : seen.unseen)
    judgement.unknown.push_back({.check = "looking at " + one.substr(0, one.find(':')),
                                 .reason = one,
                                 .how = "see the message; the other hosts were judged"});
  if (!seen.unseen.empty() && judgement.conclusion == finding::Conclusion::kHealthy)
    judgement.conclusion = finding::Conclusion::kInconclusive;
}

std::string match_verdict(const Observation& seen, const finding::Judgement& judgement,
                          std::string_view against) {
  const std::string simulated = simulated_word(seen.is_simulated());
  const std::string hosts = counted(seen.hosts.size(), "host");
  const std::string unknown =
      judgement.unknown.empty()
          ? ""
          : fmt::format("{} could not look",
                        counted(finding::fold(judgement.unknown).size(), "check"));
  const bool is_one = seen.hosts.size() == 1;
  std::vector<finding::Finding> faults;
  std::copy_if(judgement.findings.begin(), judgement.findings.end(), std::back_inserter(faults),
               [](const finding::Finding& one) { return one.severity > finding::Severity::kInfo; });
  const std::size_t notes = judgement.findings.size() - faults.size();
  if (faults.empty()) {
    const std::string rest = notes == 0 ? "" : fmt::format("; {}", counted(notes, "note"));
    if (unknown.empty())
      return fmt::format("{}{} {} {}{}.", hosts, simulated, is_one ? "matches" : "match", against,
                         rest);
    return fmt::format("{}{}: nothing contradicts {}, but {}{}.", hosts, simulated, against,
                       unknown, rest);
  }
  std::set<std::string> names;
  for (const finding::Finding& finding : faults)
    names.insert(finding.where.host.empty() ? finding.where.switch_name : finding.where.host);
  const std::vector<std::string> list(names.begin(), names.end());
  const std::size_t kinds = finding::fold(faults).size();
  const std::string places =
      faults.size() > kinds ? fmt::format(" in {}", counted(faults.size(), "place")) : "";
  const std::string rest = unknown.empty() ? "" : "; " + unknown;
  return fmt::format("{}{} {} not match {}: {}{}{}.", compact_names(list), simulated,
                     list.size() == 1 ? "does" : "do", against, counted(kinds, "fault"), places,
                     rest);
}

}  // namespace weir::cli
