#include "cli/help.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "base/text.h"

namespace weir::cli {
namespace {

constexpr std::size_t kColumns = 79;  // a terminal of 80 may wrap at its last column

using Entries = std::vector<std::pair<std::string, std::string>>;

// `text` as it stands after `margin` columns, its further lines under the first.
std::string hang(std::string_view text, std::size_t margin) {
  const std::string wrapped = wrap(text, kColumns - margin);
  std::string out;
  for (const char c : wrapped) {
    out += c;
    if (c == '\n') out.append(margin, ' ');
  }
  return out;
}

std::string two_columns(const Entries& entries) {
  std::size_t left = 0;
  for (const auto& [name, text] : entries)
    left = std::max(left, display_width(name));
  std::string out;
  for (const auto& [name, text] : entries) {
    const std::string padding(left - display_width(name), ' ');
    out += fmt::format("  {}{}  {}\n", name, padding, hang(text, left + 4));
  }
  return out;
}

std::string section(std::string_view title, const Entries& entries) {
  return entries.empty() ? std::string() : fmt::format("\n{}:\n{}", title, two_columns(entries));
}

template <class Select>
Entries verbs_where(std::span<const Command> table, Select select) {
  Entries entries;
  for (const Command& command : table) {
    if (select(command)) entries.emplace_back(command.name, command.summary);
  }
  return entries;
}

std::string exit_line(std::span<const ExitMeaning> exits) {
  std::vector<std::string> pieces;
  for (const ExitMeaning& exit : exits)
    pieces.push_back(fmt::format("{} {}", static_cast<int>(exit.code), exit.brief));
  constexpr std::string_view kTitle = "exit status: ";
  return fmt::format("{}{}\n", kTitle, hang(join(pieces, ", "), kTitle.size()));
}

std::string group_help(std::span<const Command> table, std::string_view first) {
  const std::string prefix = fmt::format("{} ", first);
  const Entries verbs =
      verbs_where(table, [&](const Command& c) { return c.name.starts_with(prefix); });
  WEIR_CHECK(!verbs.empty());
  return fmt::format("usage: weir {} WHAT [OPTIONS]\n{}\nweir {} --help shows one of them.\n",
                     first, section("where WHAT is", verbs), verbs.front().first);
}

std::string with_choices(std::string_view help, const std::vector<std::string_view>& choices,
                         std::string_view default_value) {
  std::string notes;
  if (!choices.empty()) notes += fmt::format("{}", fmt::join(choices, ", "));
  if (!default_value.empty())
    notes += fmt::format("{}default: {}", notes.empty() ? "" : "; ", default_value);
  return notes.empty() ? std::string(help) : fmt::format("{} ({})", help, notes);
}

// The common options in a line or two: they are the same everywhere and must not push the verb's
// own off the screen.
std::string common_line(const Command& command) {
  std::vector<std::string> pieces;
  for (const Option& option : common_options(command)) {
    if (option.choices.empty()) {
      pieces.push_back(spelling(option));
    } else {
      pieces.push_back(fmt::format("--{} {}", option.name, fmt::join(option.choices, "|")));
    }
  }
  constexpr std::string_view kTitle = "common:  ";
  return fmt::format("\n{}{}\n", kTitle, hang(join(pieces, "  "), kTitle.size()));
}

std::string verb_help(const Command& command) {
  Entries arguments;
  for (const Argument& argument : command.arguments)
    arguments.emplace_back(argument.name, full_help(argument));
  Entries options;
  for (const Option& option : command.options)
    options.emplace_back(spelling(option), full_help(option));
  Entries examples;
  for (const Example& example : command.examples)
    examples.emplace_back(example.command, example.note);
  constexpr std::string_view kUsage = "usage: ";
  std::string out =
      fmt::format("{}{}\n\n{}\n", kUsage, hang(usage_line(command), kUsage.size() + 5),
                  wrap(command.description, kColumns));
  out += section("arguments", arguments);
  out += section("options", options);
  out += common_line(command);
  out += section("examples", examples);
  return out + "\n" + exit_line(exits_of(command));
}

}  // namespace

std::string version_line() {
  return "weir " WEIR_VERSION;
}

std::string overview_help(std::span<const Command> table) {
  const auto of_group = [&](Group group) {
    return verbs_where(table, [=](const Command& c) { return c.group == group; });
  };
  std::string out =
      fmt::format("{}: {}\n\nusage: weir VERB [ARGUMENTS] [OPTIONS]\n", version_line(), kTagline);
  out += section("For operators", of_group(Group::kOperators));
  out += section("For developers", of_group(Group::kDevelopers));
  out += "\n" + wrap(
                    "weir VERB --help explains a verb, with examples; man weir has them all. Every "
                    "verb takes --json (one object on standard output) and --quiet.",
                    kColumns);
  return out + "\n" + exit_line(exit_meanings());
}

std::string help_for(std::span<const Command> table, std::string_view verb) {
  if (verb.empty()) return overview_help(table);
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const Command& command) { return command.name == verb; });
  return found == table.end() ? group_help(table, verb) : verb_help(*found);
}

std::string usage_line(const Command& command) {
  std::string line = fmt::format("weir {}", command.name);
  for (const Argument& argument : command.arguments) {
    const std::string name = fmt::format("{}{}", argument.name, argument.repeated ? "..." : "");
    line += argument.required ? fmt::format(" {}", name) : fmt::format(" [{}]", name);
  }
  for (const Option& option : command.options) {
    const std::string value = option.is_flag() ? "" : fmt::format(" {}", option.metavar);
    line += fmt::format(" [--{}{}]{}", option.name, value, option.repeated ? "..." : "");
  }
  return line;
}

std::string spelling(const Option& option) {
  const std::string letter = option.letter == '\0' ? "" : fmt::format("-{}, ", option.letter);
  const std::string value = option.is_flag() ? "" : fmt::format(" {}", option.metavar);
  return fmt::format("{}--{}{}", letter, option.name, value);
}

std::string full_help(const Option& option) {
  return with_choices(option.help, option.choices, option.default_value);
}

std::string full_help(const Argument& argument) {
  return with_choices(argument.help, argument.choices, "");
}

std::vector<ExitMeaning> exits_of(const Command& command) {
  std::vector<ExitMeaning> exits;
  for (const ExitMeaning& exit : exit_meanings()) {
    const bool own = std::find(command.exit_codes.begin(), command.exit_codes.end(), exit.code) !=
                     command.exit_codes.end();
    if (own || exit.code == ExitCode::kUsage) exits.push_back(exit);
  }
  return exits;
}

}  // namespace weir::cli
