#include "diagnose/behaviour/failure.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/name_pattern.h"
#include "counters/catalog.h"
#include "finding/catalog.h"

namespace weir::diagnose {

std::uint64_t lossless_drops(const std::vector<Observation>& observations) {
  std::uint64_t sum = 0;
  for (const Observation& moved : observations)
    if (moved.counter == "switch.pg.drop_headroom.packets" ||
        moved.counter == "nic.prio.rx_discard.packets")
      sum += moved.amount;
  return sum;
}

bool shows_failure(const std::vector<Observation>& observations) {
  return std::any_of(observations.begin(), observations.end(), [](const Observation& moved) {
    const counters::Counter* counter = counters::find(moved.counter);
    const bool is_link = moved.counter.find("link_down") != std::string::npos;
    return is_link || (counter != nullptr && counter->topic == counters::Topic::kLoss);
  });
}

finding::Judgement judge_failure(const std::array<FailurePhase, 3>& phases,
                                 const std::string& failure) {
  const auto& [before, during, after] = phases;
  finding::Judgement judgement = after.judgement;
  if (!before.is_finished() || before.judgement.count(finding::Severity::kError) > 0)
    judgement.unknown.push_back({"behaviour under failure",
                                 "the fabric was not healthy before the failure",
                                 "fix that first: weir verify without --under-failure"});
  if (during.lossless_drops > before.lossless_drops)
    judgement.findings.push_back(finding::make_finding(
        "headroom.too_small",
        fmt::format("During the failure ({}) {} packets of the lossless class were dropped for "
                    "want of buffer.",
                    failure, during.lossless_drops)));
  if (!during.shows_failure)
    judgement.findings.push_back(finding::make_finding(
        "failover.not_injected",
        fmt::format("No link went down and nothing was lost during the failure ({}): it did not "
                    "reach the traffic, so nothing was proven.",
                    failure)));
  const bool is_all_lost = !during.lost.empty() && during.others == 0;
  if (!during.is_survived() && is_all_lost)
    judgement.unknown.push_back(
        {"behaviour under failure",
         fmt::format("no host is left ({}): {} lost", failure, compact_names(during.lost)),
         "a failure that some hosts outlive: link=LINK, host=HOST, or one rail of several"});
  if (!during.is_survived() && !is_all_lost)
    judgement.findings.push_back(finding::make_finding(
        "failover.window_too_short",
        during.lost.empty()
            ? fmt::format("The load did not survive the failure ({}): it ended with status {}.",
                          failure, during.exit_status)
            : fmt::format("Hosts that were not lost did not finish ({}): a collective stops "
                          "with its first rank, or their paths failed too.",
                          failure)));
  const finding::Conclusion known = judgement.conclusion;
  finding::settle(judgement);
  if (judgement.conclusion == finding::Conclusion::kHealthy &&
      (known == finding::Conclusion::kInconclusive || !judgement.unknown.empty()))
    judgement.conclusion = finding::Conclusion::kInconclusive;
  return judgement;
}

}  // namespace weir::diagnose
