#include "diagnose/behaviour/failure.h"

#include <fmt/format.h>

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
  if (!during.is_survived())
    judgement.findings.push_back(finding::make_finding(
        "failover.window_too_short",
        during.lost.empty()
            ? fmt::format("The load did not survive the failure ({}): it ended with status {}.",
                          failure, during.exit_status)
            : fmt::format("Hosts that were not lost did not finish either ({}): a collective stops "
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
