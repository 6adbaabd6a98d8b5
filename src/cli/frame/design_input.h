#pragma once
// The design file of a verb: where it is, and reading it. Every verb that takes a design goes
// through here, so that all say the same about a file that is missing or wrong.
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/frame/command.h"
#include "design/fabric/intent.h"
#include "design/file/fabric.h"

namespace weir::cli {

inline constexpr std::string_view kDesignFile = "fabric.yaml";
inline constexpr const char* kDesignVariable = "WEIR_DESIGN";

/// The optional argument DESIGN.
[[nodiscard]] Argument design_argument();

struct DesignInput {
  design::Design design;
  design::Intent intent;
};

/// The argument DESIGN, else $WEIR_DESIGN, else ./fabric.yaml, loaded and derived. Where it cannot
/// be had, says why and leaves the exit code in `code`: kUsage when no file is named and none is
/// there, kBadInput when it cannot be read or has errors, which are all listed with their places.
[[nodiscard]] std::optional<DesignInput> load_design(const Args&, Context&, ExitCode& code);

/// The same for a file that is known; - is standard input.
[[nodiscard]] std::optional<DesignInput> load_design_file(const std::string& path, Context&,
                                                          ExitCode& code);

/// Other values for settings of the design, each "path=value", and all that follows from them anew.
[[nodiscard]] Status set_values(const std::vector<std::string>& settings, DesignInput& input);

/// "16 hosts, 3 switches, 32 links": the size of what was read, so that a wrong file is noticed.
[[nodiscard]] std::string size_of(const design::Intent&);

}  // namespace weir::cli
