#pragma once
// The models of `lab` for programs.
#include <string>
#include <vector>

#include "cli/frame/command.h"
#include "ops/simulate/lab.h"

namespace weir::cli {

void print_lab_json(Context&, const Command&, const lab::Lab&);
void print_lab_gone_json(Context&, const Command&, const std::string& directory);
void print_lab_faults_json(Context&, const Command&, const lab::Lab&);
void print_lab_switch_json(Context&, const Command&, const ops::LabSwitch&);
void print_loaded_json(Context&, const std::vector<ops::LoadedConfig>&);

}  // namespace weir::cli
