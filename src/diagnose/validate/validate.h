#pragma once
// Configuration against intent: every deviation of a NIC or switch as a finding that names the
// fault, with what was expected, what was found and what to type. What could not be read is
// unknown, never right.
//
// Drift is a finding of its own: rails of a host, or hosts, that differ where the design makes them
// equal, whatever the design wants of them. Where it takes several values (ECN on more priorities
// than it asks for, a traffic class that is forced or not) they do not differ.
#include "diagnose/core/view.h"
#include "finding/finding.h"

namespace weir::diagnose {

/// Hosts and switches that the evidence has and the intent knows; others of the evidence are
/// unknown. A device that the intent has and its host does not show among others is a finding. An
/// InfiniBand port is told what applies to it instead. Conclusion:
/// healthy, findings, or inconclusive where nothing is wrong and something could not be read.
/// REQUIRES: the view has an intent.
[[nodiscard]] finding::Judgement validate(const View& view);
/// For a caller that needs nothing else of the view.
[[nodiscard]] inline finding::Judgement validate(std::span<const evidence::Evidence> evidence,
                                                 const design::Intent& intent) {
  return validate(View({evidence, &intent, {}}));
}

}  // namespace weir::diagnose
