#include "cli/frame/design_input.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "design/file/load.h"

namespace weir::cli {
namespace {

std::optional<std::string> design_path(const Args& args, const Context& context) {
  if (auto path = args.get("DESIGN")) return path;
  if (auto path = context.environment(kDesignVariable); path && !path->empty()) return path;
  if (file_exists(std::string(kDesignFile))) return std::string(kDesignFile);
  return std::nullopt;
}

Result<design::Loaded> read_design(const std::string& path) {
  if (path != "-") return design::load_file(path);
  WEIR_TRY(text, read_file(path));
  return design::load_text(text, "stdin");
}

std::string counted(std::size_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", with_thousands(static_cast<std::int64_t>(n)), n == 1 ? one : many);
}

// Every error with its place: a person fixes them all in one go, an editor jumps to each.
ExitCode report_errors(Context& context, const std::string& file,
                       const std::vector<design::Diagnostic>& errors) {
  Json list = Json::array();
  for (const design::Diagnostic& error : errors) {
    context.err << to_text(file, error.at) << ": " << error.message << '\n';
    list.push_back({{"file", file},
                    {"line", error.at.line},
                    {"column", error.at.column},
                    {"message", error.message}});
  }
  return fail(context, ExitCode::kBadInput,
              fmt::format("{} cannot be used: {}", file, counted(errors.size(), "error", "errors")),
              {{"errors", std::move(list)}});
}

}  // namespace

Argument design_argument() {
  return {
      .name = "DESIGN",
      .help = "the design file; - reads standard input (default: $WEIR_DESIGN or ./fabric.yaml)",
      .completes = Completes::kFiles};
}

std::optional<DesignInput> load_design(const Args& args, Context& context, ExitCode& code) {
  const auto path = design_path(args, context);
  if (!path) {
    code =
        usage_error(context, args.command(),
                    "no design: name a file, set WEIR_DESIGN, or write ./fabric.yaml (weir init)");
    return std::nullopt;
  }
  return load_design_file(*path, context, code);
}

std::optional<DesignInput> load_design_file(const std::string& path, Context& context,
                                            ExitCode& code) {
  Result<design::Loaded> loaded = read_design(path);
  if (!loaded) {
    code = fail(context, ExitCode::kBadInput, loaded.error().what);
    return std::nullopt;
  }
  if (!loaded->is_good()) {
    code = report_errors(context, loaded->design.file, loaded->errors);
    return std::nullopt;
  }
  design::Derived derived = design::derive(loaded->design);
  if (!derived.errors.empty()) {
    code = report_errors(context, loaded->design.file, derived.errors);
    return std::nullopt;
  }
  return DesignInput{std::move(loaded->design), std::move(derived.intent)};
}

Status set_values(const std::vector<std::string>& settings, DesignInput& input) {
  if (settings.empty()) return {};
  for (const std::string& text : settings) {
    const auto equals = text.find('=');
    if (equals == std::string::npos)
      return parse_error(fmt::format("expected path=value, found '{}'", text));
    WEIR_TRY_STATUS(
        design::set_value(input.design, text.substr(0, equals), text.substr(equals + 1)));
  }
  design::Derived derived = design::derive(input.design);
  if (!derived.errors.empty()) return invalid_error(derived.errors.front().message);
  input.intent = std::move(derived.intent);
  return {};
}

std::string size_of(const design::Intent& intent) {
  return fmt::format("{}, {}, {}", counted(intent.hosts.size(), "host", "hosts"),
                     counted(intent.switches.size(), "switch", "switches"),
                     counted(intent.links.size(), "link", "links"));
}

}  // namespace weir::cli
