#include "cli/frame/design_input.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"

namespace weir::cli {

Argument design_argument() {
  return {.name = "DESIGN",
          .help = "design file; - is stdin (default: $WEIR_DESIGN or fabric.yaml)",
          .completes = Completes::kFiles};
}

ops::Result<std::string> design_path(const Args& args, const Context& context) {
  if (auto path = args.get("DESIGN")) return std::move(*path);
  if (auto path = context.environment(kDesignVariable); path && !path->empty())
    return std::move(*path);
  if (file_exists(std::string(kDesignFile))) return std::string(kDesignFile);
  return ops::bad_request(
      "no design: name a file, set WEIR_DESIGN, or write ./fabric.yaml (weir init)");
}

ops::Result<std::string> design_path_for_hosts(const Args& args, const Context& context) {
  if (args.has("lab") && !args.has("DESIGN")) return std::string();
  return design_path(args, context);
}

std::string design_path_if_any(const Args& args, const Context& context) {
  if (args.has("lab") && !args.has("DESIGN")) return std::string();
  auto path = design_path(args, context);
  return path ? *path : std::string();
}

ops::Result<ops::Fabric> load_design(const Args& args, const Context& context) {
  WEIR_TRY(path, design_path(args, context));
  return ops::load_fabric(path);
}

std::string size_of(const design::Intent& intent) {
  return fmt::format("{}, {}, {}", counted(intent.hosts.size(), "host"),
                     counted(intent.switches.size(), "switch"),
                     counted(intent.links.size(), "link"));
}

}  // namespace weir::cli
