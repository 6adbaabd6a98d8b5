#pragma once
// The process around the command line: streams and signals.
#include <string>
#include <vector>

namespace weir::tune {
class Crew;
}

namespace weir::cli {

/// All of main(): `words` without the program's name. `crew`: the other ranks of weir-mpi.
[[nodiscard]] int run_process(const std::vector<std::string>& words, tune::Crew* crew = nullptr);

}  // namespace weir::cli
