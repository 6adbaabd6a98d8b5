#pragma once
// Buffer faults of single switch systems: partitions that do not add up, overlapping groups, a
// lookup without a row, thresholds in percent of another queue. Not for other folders.
#include <functional>
#include <string>
#include <string_view>

#include "design/fabric/intent.h"
#include "evidence/evidence.h"

namespace weir::diagnose {

/// The id of a finding, the port it is on (empty: the switch) and what is wrong.
using Wrong = std::function<void(std::string_view id, const std::string& port, std::string text)>;

void check_partitions(const evidence::Switch& found, const design::SwitchIntent& wanted,
                      const Wrong& wrong);
void check_port_buffers(const evidence::Switch& found, const evidence::SwitchPort& port,
                        const design::SwitchIntent& wanted, const design::SwitchPortIntent& intent,
                        const Wrong& wrong);

}  // namespace weir::diagnose
