#include "cli/verbs/lab_load.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/frame/host_input.h"
#include "cli/json/object.h"
#include "platforms/common/platform.h"

namespace weir::cli {
namespace {

struct Loaded {
  std::string name;
  std::string file;
  std::string system;
  platforms::Parsed parsed;
};

Result<const design::SwitchIntent*> switch_named(const design::Intent& intent,
                                                 const std::string& name) {
  std::vector<std::string> names;
  for (const design::SwitchIntent& node : intent.switches) {
    if (node.name == name) return &node;
    names.push_back(node.name);
  }
  return not_found_error(
      fmt::format("the lab has no switch '{}'{}", name, did_you_mean(name, names)));
}

Result<Loaded> read_configuration(const design::SwitchIntent& node, const std::string& file) {
  WEIR_TRY(text, read_file(file));
  const platforms::Platform& platform = platforms::platform_of(node.system);
  WEIR_TRY(parsed, platform.parse(text, file));
  parsed.state.name = node.name;
  return Loaded{node.name, file, std::string(platform.name), std::move(parsed)};
}

/// The file that weir render writes for the switch, or else the first file that starts with its
/// name and is recognised as a configuration of its system.
Result<std::string> file_of(const design::Intent& intent, const design::SwitchIntent& node,
                            const std::string& directory) {
  const platforms::Platform& platform = platforms::platform_of(node.system);
  const platforms::Rendered rendered = platform.render(intent, node);
  const std::string usual = directory + "/" + rendered.files.front().name;
  if (std::filesystem::is_regular_file(usual)) return usual;
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error))
    if (entry.path().filename().string().rfind(node.name + ".", 0) == 0)
      files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    const auto text = read_file(file);
    if (text && platform.recognises(*text)) return file;
  }
  return not_found_error(fmt::format("{}: expected {} for {}, found no configuration of {}",
                                     directory, rendered.files.front().name, node.name,
                                     platform.title));
}

Result<std::vector<Loaded>> read_all(const Args& args, const std::vector<std::string>& files,
                                     const design::Intent& intent) {
  std::vector<Loaded> out;
  if (args.has("all")) {
    for (const design::SwitchIntent& node : intent.switches) {
      WEIR_TRY(file, file_of(intent, node, args.value("all")));
      WEIR_TRY(loaded, read_configuration(node, file));
      out.push_back(std::move(loaded));
    }
  }
  for (const std::string& given : files) {
    const auto equals = given.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == given.size())
      return invalid_error(fmt::format("load: expected NAME=FILE, found '{}'", given));
    WEIR_TRY(node, switch_named(intent, given.substr(0, equals)));
    WEIR_TRY(loaded, read_configuration(*node, given.substr(equals + 1)));
    out.push_back(std::move(loaded));
  }
  return out;
}

void print_loaded(const Args& args, Context& context, const std::vector<Loaded>& all) {
  Json list = Json::array();
  for (const Loaded& item : all) {
    list.push_back({{"switch", item.name},
                    {"file", item.file},
                    {"system", item.system},
                    {"unread", item.parsed.unread.size()}});
    if (context.quiet || context.json) continue;
    const std::size_t unread = item.parsed.unread.size();
    context.out << fmt::format(
        "{}: {} ({}){}\n", item.name, item.file, item.system,
        unread == 0 ? "" : fmt::format(", {} not understood", counted(unread, "line")));
    for (const platforms::Unread& line : item.parsed.unread)
      context.out << fmt::format("  {}: {} ({})\n", line.line, line.text, line.why);
  }
  if (!context.json) return;
  Json object = json_object(args.command());
  object["schema"] = "weir/lab-switch-load/1";
  object["loaded"] = std::move(list);
  print_json(context, object);
}

}  // namespace

ExitCode load_switches(const Args& args, const std::vector<std::string>& files, Context& context,
                       lab::Lab& lab) {
  const auto loaded = read_all(args, files, lab.intent());
  if (!loaded) return fail(context, ExitCode::kBadInput, loaded.error().what);
  if (const Status begun = lab.begin(); !begun)
    return fail(context, ExitCode::kBadInput, begun.error().what);
  for (const Loaded& item : *loaded)
    if (const Status done = lab.load_switch(item.parsed.state); !done)
      return fail(context, ExitCode::kBadInput, done.error().what);
  if (const Status written = lab.commit(); !written)
    return fail(context, ExitCode::kBadInput, written.error().what);
  print_loaded(args, context, *loaded);
  return ExitCode::kOk;
}

}  // namespace weir::cli
