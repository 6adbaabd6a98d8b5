#pragma once
// A design file, loaded and derived. Every operation on a design begins here, so that all say the
// same about a file that is missing or wrong.
#include <string>
#include <string_view>
#include <vector>

#include "design/fabric/intent.h"
#include "design/file/fabric.h"
#include "ops/source/failure.h"

namespace weir::ops {

/// A fabric as designed: the file, and what follows from it for every host and switch.
struct Fabric {
  design::Design design;
  design::Intent intent;
};

/// `path` - is standard input. A failure lists every mistake of the file with its place.
[[nodiscard]] Result<Fabric> load_fabric(const std::string& path);
/// The same of a text with that digest alone: of one that was sent, its beginning may be a design
/// too.
[[nodiscard]] Result<Fabric> load_fabric(const std::string& path, std::string_view digest);
/// Of a text that was made here; `name` is what errors call it.
[[nodiscard]] Result<Fabric> fabric_from_text(std::string_view text, const std::string& name);
[[nodiscard]] std::string design_digest(std::string_view text);

/// Ids of what lint calls an error in the design. A failure that names them, unless `is_allowed`: a
/// broken design is not what hosts are changed to, or compared with.
[[nodiscard]] Result<std::vector<std::string>> lint_errors(const Fabric& fabric, bool is_allowed);

/// Other values for settings of the design, each "path=value", and all that follows from them anew.
[[nodiscard]] weir::Status set_values(const std::vector<std::string>& settings, Fabric& fabric);

/// What the design wants of a host or switch, or nullptr where it does not know it.
[[nodiscard]] const design::HostIntent* find_host(const design::Intent&, std::string_view name);
[[nodiscard]] const design::SwitchIntent* find_switch(const design::Intent&, std::string_view name);

[[nodiscard]] std::vector<std::string> switch_names(const design::Intent&);

}  // namespace weir::ops
