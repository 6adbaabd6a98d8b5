#include "cli/frame/command.h"

#include <algorithm>
#include <filesystem>

#include "base/check.h"
#include "base/text_position.h"
#include "cli/fleet/fleet_input.h"
#include "cli/json/error.h"

namespace weir::cli {

namespace {

ExitCode exit_code_of(ops::FailureKind kind) {
  switch (kind) {
    case ops::FailureKind::kRequest: return ExitCode::kUsage;
    case ops::FailureKind::kBadInput: return ExitCode::kBadInput;
    case ops::FailureKind::kCouldNotLook: return ExitCode::kCouldNotLook;
    case ops::FailureKind::kRolledBack: return ExitCode::kRolledBack;
    case ops::FailureKind::kInterrupted: return ExitCode::kInterrupted;
    case ops::FailureKind::kLeft: return ExitCode::kPartial;
  }
  WEIR_UNREACHABLE("every kind of failure has an exit code");
}

}  // namespace

std::vector<Option> common_options(const Command& command) {
  std::vector<Option> options;
  if (command.judges) {
    options.push_back({.name = "fail-on",
                       .metavar = "SEVERITY",
                       .help = "lowest severity that makes the exit status 1",
                       .default_value = "error",
                       .choices = {"info", "warning", "error"}});
  }
  options.push_back({.name = "json", .help = "one JSON object on standard output"});
  options.push_back({.name = "quiet", .letter = 'q', .help = "print only the verdict"});
  options.push_back({.name = "color",
                     .metavar = "WHEN",
                     .help = "colours; auto: on a terminal, unless NO_COLOR is set",
                     .default_value = "auto",
                     .choices = {"auto", "always", "never"}});
  options.push_back({.name = "no-color", .help = "the same as --color never"});
  options.push_back({.name = "help", .letter = 'h', .help = "the help of the verb"});
  return options;
}

std::vector<Option> all_options(const Command& command) {
  std::vector<Option> options = command.options;
  if (command.takes_fleet) {
    const std::vector<Option> fleet = fleet_options(command);
    options.insert(options.end(), fleet.begin(), fleet.end());
  }
  const std::vector<Option> common = common_options(command);
  options.insert(options.end(), common.begin(), common.end());
  return options;
}

ExitCode usage_error(Context& context, const Command& command, std::string_view message) {
  fail(context, ExitCode::kUsage, message);
  context.err << "see weir " << command.name << " --help\n";
  return ExitCode::kUsage;
}

ExitCode fail(Context& context, const Command& command, const ops::Failure& failure) {
  const ExitCode code = exit_code_of(failure.kind);
  for (const ops::FileError& place : failure.places)
    context.err << to_text(place.file, {place.line, place.column}) << ": " << place.message << '\n';
  context.err << "weir: " << failure.what << '\n';
  if (code == ExitCode::kUsage) context.err << "see weir " << command.name << " --help\n";
  if (context.json) print_error_json(context, code, failure.what, failure.places);
  return code;
}

Args::Args(const Command& command) : command_(&command) {
  for (const Argument& argument : command.arguments)
    values_[std::string(argument.name)];
  for (const Option& option : all_options(command))
    values_[std::string(option.name)];
}

void Args::add(std::string_view name, std::string value) {
  const auto found = values_.find(name);
  WEIR_CHECK(found != values_.end());
  found->second.push_back(std::move(value));
}

void Args::fill_defaults() {
  for (const Option& option : all_options(*command_)) {
    if (!option.default_value.empty() && !has(option.name))
      add(option.name, std::string(option.default_value));
  }
}

std::optional<std::string> Args::get(std::string_view name) const {
  const std::vector<std::string>& values = all(name);
  if (values.empty()) return std::nullopt;
  return values.back();
}

const std::string& Args::value(std::string_view name) const {
  const std::vector<std::string>& values = all(name);
  WEIR_CHECK(!values.empty());
  return values.back();
}

const std::vector<std::string>& Args::all(std::string_view name) const {
  const auto found = values_.find(name);
  WEIR_CHECK(found != values_.end());
  return found->second;
}

namespace {

/// False where the verb has no such option.
bool is_given(const Args& args, std::string_view name) {
  const auto& options = args.command().options;
  return std::any_of(options.begin(), options.end(),
                     [&](const Option& option) { return option.name == name; }) &&
         args.has(name);
}

bool looks_at_files(const Args& args) {
  const Command& command = args.command();
  const auto given = [&](std::string_view name) { return is_given(args, name); };
  if (given("from-host") || given("launcher")) return false;  // a launcher starts programs
  if (asks_machines(args)) return false;                      // so does the way to a fleet
  // weir validate --switch looks at no host unless one is named.
  const bool is_captured = given("root") || given("switch") || given("lab") || given("tune");
  const auto is_named = [&](const Argument& argument) { return args.has(argument.name); };
  switch (command.looks) {
    case Looks::kAtFiles: return true;
    case Looks::kAtHostOrFiles: return is_captured;
    case Looks::kAtFilesIfNamed: return is_captured || is_named(command.arguments.front());
    case Looks::kAtFilesIfAllNamed:
      return is_captured ||
             std::all_of(command.arguments.begin(), command.arguments.end(), is_named);
    case Looks::kElsewhere: break;
  }
  return false;
}

}  // namespace

bool asks_machines(const Args& args) {
  return names_fleet(args) && !is_given(args, "lab") && !is_given(args, "root");
}

bool is_serving(const Args& args) {
  const auto& options = args.command().options;
  return args.command().serves && std::none_of(options.begin(), options.end(), [&](const auto& o) {
           return o.writes == Writes::kFile && args.has(o.name);
         });
}

std::vector<std::string> places_of_server(const Args& args) {
  const auto lab = args.get("lab");
  if (!lab || args.has("replay")) return {};
  return {*lab};  // its load and its faults are written there
}

std::optional<std::vector<std::string>> confinement(const Args& args) {
  if (is_serving(args) || !looks_at_files(args)) return std::nullopt;
  std::vector<std::string> places;
  for (const Option& option : args.command().options) {
    if (option.writes == Writes::kNothing) continue;
    const std::vector<std::string>& values = args.all(option.name);
    if (values.empty() && option.writes == Writes::kFileAlways) places.emplace_back(".");
    if (!values.empty() && option.writes == Writes::kHere) places.emplace_back(".");
    if (option.writes == Writes::kHere) continue;
    for (const std::string& value : values) {
      if (value == "-") continue;
      std::filesystem::path path(value);
      if (!path.has_filename()) path = path.parent_path();  // "lab/"
      places.push_back(option.writes == Writes::kDirectory ? value : path.parent_path().string());
    }
  }
  return places;
}

}  // namespace weir::cli
