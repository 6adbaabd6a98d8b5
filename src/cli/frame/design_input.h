#pragma once
// The design argument of a verb: where the file is, and loading it.
#include <string>
#include <string_view>

#include "cli/frame/command.h"
#include "ops/source/fabric.h"

namespace weir::cli {

inline constexpr std::string_view kDesignFile = "fabric.yaml";
inline constexpr const char* kDesignVariable = "WEIR_DESIGN";

/// The optional argument DESIGN.
[[nodiscard]] Argument design_argument();

/// The argument DESIGN, else $WEIR_DESIGN, else ./fabric.yaml where there is one.
[[nodiscard]] ops::Result<std::string> design_path(const Args&, const Context&);

/// The same for a verb on hosts: without an argument, --lab is the lab's own design (empty).
[[nodiscard]] ops::Result<std::string> design_path_for_hosts(const Args&, const Context&);

/// The same for a verb that does without one: empty too where there is none.
[[nodiscard]] std::string design_path_if_any(const Args&, const Context&);

/// The design at design_path().
[[nodiscard]] ops::Result<ops::Fabric> load_design(const Args&, const Context&);

/// "16 hosts, 3 switches, 32 links": the size of what was read, so that a wrong file is noticed.
[[nodiscard]] std::string size_of(const design::Intent&);

}  // namespace weir::cli
