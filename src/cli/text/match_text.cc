#include "cli/text/match_text.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/name_pattern.h"
#include "base/text.h"
#include "cli/frame/host_input.h"
#include "finding/fold.h"

namespace weir::cli {
namespace {

std::vector<std::string> names_of(const std::vector<evidence::Switch>& switches) {
  std::vector<std::string> names;
  for (const evidence::Switch& node : switches)
    names.push_back(node.name);
  return names;
}

/// Where the faults are: hosts, or else switches.
std::vector<std::string> places_of(const std::vector<finding::Finding>& faults) {
  std::set<std::string> names;
  for (const finding::Finding& fault : faults)
    names.insert(fault.where.host.empty() ? fault.where.switch_name : fault.where.host);
  return {names.begin(), names.end()};
}

}  // namespace

std::string skipped_text(const finding::Judgement& judgement) {
  if (judgement.unknown.empty()) return "";
  return fmt::format("; {} skipped: data not available",
                     counted(finding::fold(judgement.unknown).size(), "check"));
}

std::string match_verdict(const ops::Observation& seen, const finding::Judgement& judgement,
                          std::string_view against, finding::Severity fail_on) {
  const std::string simulated = simulated_word(seen.is_simulated());
  const std::vector<std::string> switches =
      seen.switches ? names_of(seen.switches->switches) : std::vector<std::string>();
  const bool has_hosts = !seen.hosts.empty();
  const std::string all =
      (has_hosts ? counted(seen.hosts.size(), "host") : compact_names(switches)) + simulated;
  const bool is_single = (has_hosts ? seen.hosts.size() : switches.size()) == 1;
  std::vector<finding::Finding> faults;
  std::copy_if(
      judgement.findings.begin(), judgement.findings.end(), std::back_inserter(faults),
      [](const finding::Finding& found) { return found.severity > finding::Severity::kInfo; });
  const std::string skipped = skipped_text(judgement);
  if (faults.empty()) {
    const std::size_t notes = judgement.findings.size();
    const std::string rest =
        (notes == 0 ? "" : fmt::format("; {}", counted(notes, "note"))) + skipped;
    if (skipped.empty())
      return fmt::format("{} {} {}{}.", all, is_single ? "matches" : "match", against, rest);
    return fmt::format("{}: no difference from {} found{}.", all, against, rest);
  }
  const std::vector<std::string> places = places_of(faults);
  const std::size_t kinds = finding::fold(faults).size();
  const std::string where =
      faults.size() > kinds ? fmt::format(" in {}", counted(faults.size(), "place")) : "";
  // The exit status is good: the words are too, and say where the limit is.
  const bool is_below =
      std::all_of(faults.begin(), faults.end(),
                  [&](const finding::Finding& found) { return found.severity < fail_on; });
  if (is_below)
    return fmt::format("{}{} {} from {}: {}{} below --fail-on {}{}.", compact_names(places),
                       simulated, places.size() == 1 ? "differs" : "differ", against,
                       counted(kinds, "difference"), where, finding::to_text(fail_on), skipped);
  return fmt::format("{}{} {} not match {}: {}{}{}.", compact_names(places), simulated,
                     places.size() == 1 ? "does" : "do", against, counted(kinds, "fault"), where,
                     skipped);
}

}  // namespace weir::cli
