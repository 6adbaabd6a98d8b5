#pragma once
// Configuration files of switches, read with the design beside them.
#include <string>
#include <vector>

#include "design/fabric/intent.h"
#include "evidence/evidence.h"
#include "finding/finding.h"
#include "lab/fabric/lab.h"
#include "ops/source/failure.h"
#include "platforms/common/platform.h"

namespace weir::ops {

struct SwitchFile {
  std::string name;  // of a switch of the design; empty: as its configuration or the file says
  std::string file;
};

struct SwitchConfig {
  std::string name;
  std::string file;
  platforms::Parsed parsed;  // the state bears the design's name
};

/// Each file with the system that its text shows, or else the one that the design names.
[[nodiscard]] Result<std::vector<SwitchConfig>> read_switch_configs(
    const std::vector<SwitchFile>& files, const design::Intent& intent);

/// Lines that were not understood: what depends on them was not judged.
[[nodiscard]] std::vector<finding::Unknown> unread_lines(const std::vector<SwitchConfig>& configs);

/// What the switch's system can hold of its design.
[[nodiscard]] design::SwitchIntent held_by_system(const design::Intent& intent,
                                                  const design::SwitchIntent& wanted);

/// The intent with what these systems can hold of it: of the switches with a file, and of those of
/// a lab that run a configuration that was loaded.
[[nodiscard]] design::Intent lowered(const design::Intent& intent,
                                     const std::vector<SwitchConfig>& configs, const lab::Lab* lab);

}  // namespace weir::ops
