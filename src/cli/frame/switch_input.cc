#include "cli/frame/switch_input.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"

namespace weir::cli {
namespace {

constexpr std::size_t kShown = 5;  // lines of a file that are said on stderr

const design::SwitchIntent* find_switch(const design::Intent& intent, std::string_view name) {
  const auto at = std::find_if(intent.switches.begin(), intent.switches.end(),
                               [&](const design::SwitchIntent& one) { return one.name == name; });
  return at == intent.switches.end() ? nullptr : &*at;
}

std::string no_such_switch(const design::Intent& intent, std::string_view name) {
  std::vector<std::string> names;
  for (const design::SwitchIntent& one : intent.switches)
    names.push_back(one.name);
  return fmt::format("--switch: the design has no switch '{}'{}", name, did_you_mean(name, names));
}

Result<platforms::Parsed> read_config(const design::SwitchIntent& wanted, const std::string& file) {
  WEIR_TRY(text, read_file(file));
  // A box may run another system than the design says: then that is what is to be found.
  const platforms::Platform* const seen = platforms::recognise(text);
  const platforms::Platform& platform =
      seen != nullptr ? *seen : platforms::platform_of(wanted.system);
  WEIR_TRY(parsed, platform.parse(text, file));
  parsed.state.name = wanted.name;
  return parsed;
}

void say_unread(const SwitchConfig& config, Context& context) {
  if (context.quiet) return;
  const auto& unread = config.parsed.unread;
  for (std::size_t i = 0; i < std::min(unread.size(), kShown); ++i)
    context.err << fmt::format("weir: {}:{}: not understood: {} ({})\n", config.file,
                               unread[i].line, unread[i].text, unread[i].why);
  if (unread.size() > kShown)
    context.err << fmt::format("weir: {}: and {} more lines\n", config.file,
                               unread.size() - kShown);
}

}  // namespace

Option switch_option() {
  return {.name = "switch",
          .metavar = "NAME=FILE",
          .help = "a switch's configuration, as it is",
          .repeated = true,
          .completes = Completes::kFiles};
}

std::optional<std::vector<SwitchConfig>> read_switch_configs(const Args& args,
                                                             const design::Intent& intent,
                                                             Context& context, ExitCode& code) {
  std::vector<SwitchConfig> configs;
  for (const std::string& given : args.all("switch")) {
    const auto equals = given.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == given.size()) {
      code = usage_error(context, args.command(),
                         fmt::format("--switch: expected NAME=FILE, found '{}'", given));
      return std::nullopt;
    }
    SwitchConfig config;
    const std::string name = given.substr(0, equals);
    config.wanted = find_switch(intent, name);
    config.file = given.substr(equals + 1);
    if (config.wanted == nullptr) {
      code = usage_error(context, args.command(), no_such_switch(intent, name));
      return std::nullopt;
    }
    auto parsed = read_config(*config.wanted, config.file);
    if (!parsed) {
      code = fail(context, ExitCode::kBadInput, parsed.error().what);
      return std::nullopt;
    }
    config.parsed = std::move(parsed).value();
    say_unread(config, context);
    configs.push_back(std::move(config));
  }
  return configs;
}

}  // namespace weir::cli
