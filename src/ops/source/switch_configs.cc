#include "ops/source/switch_configs.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/name_pattern.h"
#include "base/text.h"
#include "evidence/as_set.h"
#include "ops/source/fabric.h"

namespace weir::ops {
namespace {

/// A command that failed leaves an empty file: nothing in it could match.
weir::Result<std::string> read_text(const std::string& file) {
  WEIR_TRY(text, read_file(file));
  if (trim(text).empty())
    return parse_error(file + ": expected the configuration of a switch, found an empty file");
  return text;
}

/// The switch that a file is of, where the user does not say: its host name, or the file's name up
/// to the first dot.
Result<const design::SwitchIntent*> switch_of(const std::string& file,
                                              const design::Intent& intent) {
  if (find_switch(intent, file) != nullptr)
    return bad_request(fmt::format("--switch: expected NAME=FILE, found '{}'", file));
  WEIR_TRY(text, or_bad_input(read_text(file)));
  const platforms::Platform* const seen = platforms::recognise(text);
  std::string host;
  if (seen != nullptr) {
    WEIR_TRY(parsed, or_bad_input(seen->parse(text, file)));
    host = parsed.state.name;
  }
  const std::string name = std::filesystem::path(file).filename().string();
  for (const std::string& candidate : {host, name.substr(0, name.find('.'))})
    if (const design::SwitchIntent* const found = find_switch(intent, candidate)) return found;
  return bad_request(fmt::format(
      "--switch: expected NAME=FILE, found '{}': {} no switch of the design, which has {}", file,
      host.empty() ? "its name is"
                   : fmt::format("neither its host name '{}' nor its name is", host),
      compact_names(switch_names(intent))));
}

weir::Result<platforms::Parsed> read_config(const design::SwitchIntent& wanted,
                                            const std::string& file) {
  WEIR_TRY(text, read_text(file));
  // A switch may run another system than the design says: that is to be found, not assumed.
  const platforms::Platform* const seen = platforms::recognise(text);
  const platforms::Platform& platform =
      seen != nullptr ? *seen : platforms::platform_of(wanted.system);
  return platform.parse(text, file);
}

/// A file given for one switch that says it is another of the design: nothing it holds would be
/// judged right. A host name that the design does not have may be a site's own.
Status check_name(const SwitchFile& given, const std::string& own, const design::Intent& intent) {
  if (own == given.name || given.name.empty() || find_switch(intent, own) == nullptr) return {};
  return bad_input(
      fmt::format("{} is the configuration of {} (its host name), not of {}: "
                  "--switch {}={} compares it",
                  given.file, own, given.name, own, given.file));
}

}  // namespace

Result<std::vector<SwitchConfig>> read_switch_configs(const std::vector<SwitchFile>& files,
                                                      const design::Intent& intent) {
  std::vector<SwitchConfig> configs;
  for (const SwitchFile& given : files) {
    const design::SwitchIntent* wanted = find_switch(intent, given.name);
    if (given.name.empty()) {
      WEIR_TRY(own, switch_of(given.file, intent));
      wanted = own;
    }
    if (wanted == nullptr)
      return bad_request(fmt::format("the design has no switch '{}'{}", given.name,
                                     did_you_mean(given.name, switch_names(intent))));
    WEIR_TRY(parsed, or_bad_input(read_config(*wanted, given.file)));
    if (const Status named = check_name(given, parsed.state.name, intent); !named)
      return named.error();
    parsed.state.name = wanted->name;
    configs.push_back({wanted->name, given.file, std::move(parsed)});
  }
  return configs;
}

std::vector<finding::Unknown> unread_lines(const std::vector<SwitchConfig>& configs) {
  std::vector<finding::Unknown> out;
  for (const SwitchConfig& config : configs) {
    const std::vector<platforms::Unread>& unread = config.parsed.unread;
    if (unread.empty()) continue;
    std::vector<std::string> lines;
    for (const platforms::Unread& line : unread)
      lines.push_back(std::to_string(line.line));
    out.push_back({.check = fmt::format("{}: {} of {}", config.name, counted(unread.size(), "line"),
                                        config.file),
                   .reason = fmt::format("not understood: line{} {}", unread.size() == 1 ? "" : "s",
                                         join(lines, ",")),
                   .how = "read them: what depends on them was not judged"});
  }
  return out;
}

design::SwitchIntent held_by_system(const design::Intent& intent,
                                    const design::SwitchIntent& wanted) {
  const platforms::Lowered lowered = platforms::platform_of(wanted.system).lower(intent, wanted);
  return evidence::as_set(wanted, lowered.state);
}

design::Intent lowered(const design::Intent& intent, const std::vector<SwitchConfig>& configs,
                       const lab::Lab* lab) {
  design::Intent out = intent;
  for (std::size_t i = 0; i < out.switches.size(); ++i) {
    design::SwitchIntent& wanted = out.switches[i];
    const bool has_file = std::any_of(configs.begin(), configs.end(), [&](const auto& config) {
      return config.name == wanted.name;
    });
    const auto profile = lab == nullptr ? weir::Result<std::string>(std::string())
                                        : lab->buffer_profile(wanted.name);
    if (has_file || (profile && *profile == "loaded"))
      wanted = held_by_system(intent, intent.switches[i]);
  }
  return out;
}

}  // namespace weir::ops
