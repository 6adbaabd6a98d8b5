#include "cli/frame/transition.h"

namespace weir::cli {
namespace {

const Command& no_command() {
  static const Command kCommand{.name = "VERB"};
  return kCommand;
}

}  // namespace

std::optional<DesignInput> load_design(const Args& args, Context& context, ExitCode& code) {
  auto fabric = load_design(args, context);
  if (fabric) return std::move(*fabric);
  code = fail(context, args.command(), fabric.error());
  return std::nullopt;
}

std::optional<DesignInput> load_design_file(const std::string& path, Context& context,
                                            ExitCode& code) {
  auto fabric = ops::load_fabric(path);
  if (fabric) return std::move(*fabric);
  code = fail(context, no_command(), fabric.error());
  return std::nullopt;
}

std::optional<HostSet> open_hosts(const Args& args, Context& context, ExitCode& code) {
  const auto source = source_of(args);
  if (!source) {
    code = fail(context, args.command(), source.error());
    return std::nullopt;
  }
  auto set = ops::open_hosts(*source);
  if (set) return std::move(*set);
  code = fail(context, args.command(), set.error());
  return std::nullopt;
}

std::optional<DesignInput> design_for(const Args& args, Context& context, const HostSet& set,
                                      ExitCode& code) {
  if (set.lab && !args.has("DESIGN")) return DesignInput{set.lab->design(), set.lab->intent()};
  return load_design(args, context, code);
}

Observation observe(const HostSet& set, Context& context) {
  Observation seen = ops::observe(set);
  print_unseen(seen, context);
  return seen;
}

}  // namespace weir::cli
