#pragma once
// Assignments of environment variables in a line of any text. Not for other folders.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::readers {

/// Whether a communication library could read a variable of this name.
[[nodiscard]] bool concerns_communication(std::string_view name);

/// Every NAME=VALUE of a line: `export A=1`, `A=1 B=2 command`, `mpirun -x A=1`, `docker run -e
/// A=1`,
/// `#SBATCH --export=ALL,A=1`, `-genv A 1`, `"A": "1"`, `A: "1"`. Comments are left out, and so is
/// a value that only a shell can know.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> assignments_in(
    std::string_view line);

/// `- name: A` of a Kubernetes container's environment; empty for any other line.
[[nodiscard]] std::string yaml_name_in(std::string_view line);
/// `value: "1"`; false for any other line.
[[nodiscard]] bool yaml_value_in(std::string_view line, std::string& value);

}  // namespace weir::readers
