#pragma once
// Configuration against intent: every deviation of a NIC or switch as a finding that names the
// fault, with the expected and the found value and the fix. What could not be read is unknown.
//
// Drift is a finding of its own: rails of a host, or hosts, that differ although the design makes
// them equal. Values that the design accepts alike (ECN on more priorities than wanted, a traffic
// class that is forced or not) do not count as different.
#include <string_view>

#include "diagnose/core/view.h"
#include "finding/finding.h"

namespace weir::diagnose {

/// The reason of a finding::Unknown for a setting that was not read.
inline constexpr std::string_view kNotRead = "not read, or not present";

/// Compares the hosts and switches that are both in the evidence and in the intent; others are
/// unknown. A device of the intent that its host does not have is a finding. For an InfiniBand port
/// the finding says what applies instead. Conclusion: healthy, findings, or inconclusive if nothing
/// is wrong but something could not be read.
/// REQUIRES: the view has an intent.
[[nodiscard]] finding::Judgement validate(const View& view);
/// For a caller that needs nothing else of the view.
[[nodiscard]] inline finding::Judgement validate(std::span<const evidence::Evidence> evidence,
                                                 const design::Intent& intent) {
  return validate(View({evidence, &intent, {}}));
}

}  // namespace weir::diagnose
