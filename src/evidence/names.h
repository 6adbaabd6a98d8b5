#pragma once
// The names in evidence, held to the policy of names: whoever wrote the evidence chose them.
#include <string>

#include "base/result.h"
#include "evidence/evidence.h"

namespace weir::evidence {

/// Host, RDMA devices, network interfaces, switches and their ports. Errors begin with the place
/// as a JSON Pointer into the evidence: "/nics/0/device: expected …".
[[nodiscard]] Status check_names(const Evidence& evidence);

/// The same for one switch; `place` is the way to it.
[[nodiscard]] Status check_names(const Switch& device, const std::string& place);

}  // namespace weir::evidence
