#pragma once
// Pseudonyms throughout a bundle, and back for who has the design.
#include <string_view>

#include "design/fabric/intent.h"
#include "evidence/evidence.h"
#include "host/bundle/bundle.h"
#include "host/bundle/pseudonym.h"

namespace weir::host {

/// Replaces host and neighbour names and every address, and drops what no check needs: names of
/// processes (but those of LLDP agents), words of the kernel's command line that have nothing to do
/// with devices and memory, serial numbers of cards. What Weir concludes stays the same.
void pseudonymise(Bundle& bundle, const Pseudonyms& pseudonyms);

/// Where a host of the design is behind the pseudonym of this evidence, its name and addresses are
/// put back; true where that was so.
bool restore_names(evidence::Evidence& evidence, const design::Intent& intent,
                   const Pseudonyms& pseudonyms);

}  // namespace weir::host
