#include "cli/frame/help.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "base/text.h"
#include "cli/fleet/fleet_input.h"

namespace weir::cli {
namespace {

constexpr std::size_t kColumns = 79;  // a terminal of 80 may wrap at its last column

using Entries = std::vector<std::pair<std::string, std::string>>;

// `text` after `margin` columns, its further lines under the first.
std::string after(std::size_t margin, std::string_view text) {
  return hang(text, kColumns - margin, margin);
}

// Pieces that hold blanks and must not be broken, after `margin` columns.
std::string fill(const std::vector<std::string>& pieces, std::string_view separator,
                 std::size_t margin) {
  std::string out;
  std::size_t column = margin;
  for (const std::string& piece : pieces) {
    if (!out.empty() && column + separator.size() + display_width(piece) > kColumns) {
      out += "\n" + std::string(margin, ' ');
      column = margin;
    } else if (!out.empty()) {
      out += separator;
      column += separator.size();
    }
    out += piece;
    column += display_width(piece);
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
    out += fmt::format("  {}{}  {}\n", name, padding, after(left + 4, text));
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

// Verbs of two words that share the first: one line of the overview, the words from the table.
struct Family {
  std::string_view first;
  std::string_view summary;
};
constexpr auto kFamilies = std::to_array<Family>({
    {"baseline", "good runs, and later ones"},
    {"calc", "the arithmetic, every term shown"},
    {"calibrate", "the simulator fitted to a real fabric"},
    {"lab", "a simulated fabric, for --lab"},
    {"tune", "new settings on a live fabric, step by step"},
});

bool is_verb(std::span<const Command> table, std::string_view name) {
  return std::any_of(table.begin(), table.end(),
                     [&](const Command& command) { return command.name == name; });
}

Entries overview_of(std::span<const Command> table, Group group) {
  Entries entries;
  std::string_view folded;  // the family that the last entry stands for
  for (const Command& command : table) {
    if (command.group != group || command.name == "help") continue;  // whoever reads it knows
    const std::vector<std::string_view> words = split(command.name, ' ');
    if (words.size() > 1 && is_verb(table, words.front())) continue;  // the verb's help names it
    const auto* family = std::find_if(kFamilies.begin(), kFamilies.end(), [&](const Family& entry) {
      return words.size() > 1 && entry.first == words.front();
    });
    if (family == kFamilies.end()) {
      folded = {};
      entries.emplace_back(command.name, command.summary);
    } else if (folded == family->first) {
      entries.back().second.insert(entries.back().second.find(':'), fmt::format(", {}", words[1]));
    } else {
      folded = family->first;
      entries.emplace_back(family->first, fmt::format("{}: {}", words[1], family->summary));
    }
  }
  return entries;
}

std::string exit_line(std::span<const ExitMeaning> exits) {
  std::vector<std::string> pieces;
  for (const ExitMeaning& exit : exits)
    pieces.push_back(fmt::format("{} {}", static_cast<int>(exit.code), exit.brief));
  constexpr std::string_view kTitle = "exit status: ";
  return fmt::format("{}{}\n", kTitle, after(kTitle.size(), join(pieces, ", ")));
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

// Options in a line or two: they are the same everywhere and must not push the verb's own off the
// screen.
std::string options_line(std::string_view title, const std::vector<Option>& options) {
  std::vector<std::string> pieces;
  for (const Option& option : options) {
    if (option.choices.empty()) {
      pieces.push_back(spelling(option));
    } else {
      pieces.push_back(fmt::format("--{} {}", option.name, fmt::join(option.choices, "|")));
    }
  }
  return fmt::format("{}{}\n", title, fill(pieces, "  ", title.size()));
}

// Beside its command where there is room, under it where there is not.
std::string examples_section(const Command& command) {
  std::size_t left = 0;
  std::size_t right = 0;
  for (const Example& example : command.examples) {
    left = std::max(left, display_width(example.command));
    right = std::max(right, display_width(example.note));
  }
  const bool beside = 2 + left + 2 + right <= kColumns;
  std::string out = "\nexamples:\n";
  for (const Example& example : command.examples) {
    const std::string gap = example.note.empty() ? ""
                            : beside ? std::string(left - display_width(example.command) + 2, ' ')
                                     : std::string("\n      ");
    out += fmt::format("  {}{}{}\n", example.command, gap, example.note);
  }
  return out;
}

enum class Usage { kWhole, kShort };

// A short one names the options that must be given; the list below it has the others.
std::vector<std::string> usage_pieces(const Command& command, Usage form) {
  std::vector<std::string> pieces;
  for (const Argument& argument : command.arguments) {
    if (argument.after_dashes) continue;
    const std::string name = fmt::format("{}{}", argument.name, argument.repeated ? "..." : "");
    pieces.push_back(argument.required ? name : fmt::format("[{}]", name));
  }
  for (const Option& option : command.options) {
    if (form == Usage::kShort && !option.required) continue;
    const std::string value = option.is_flag() ? "" : fmt::format(" {}", option.metavar);
    const std::string text = fmt::format("--{}{}", option.name, value);
    pieces.push_back(option.required ? text
                                     : fmt::format("[{}]{}", text, option.repeated ? "..." : ""));
  }
  if (command.takes_fleet && form == Usage::kWhole) pieces.emplace_back("[FLEET]");
  if (form == Usage::kShort)
    pieces.emplace_back("[OPTIONS]");
  else if (command.judges)
    pieces.emplace_back("[--fail-on SEVERITY]");
  for (const Argument& argument : command.arguments)
    if (argument.after_dashes) pieces.push_back(fmt::format("-- {}...", argument.name));
  return pieces;
}

// Verbs of two words that begin with a verb: "tune judge" beside "tune".
std::string longer_verbs(std::span<const Command> table, std::string_view verb) {
  std::vector<std::string> names;
  for (const Command& command : table)
    if (command.name.starts_with(fmt::format("{} ", verb)))
      names.push_back(fmt::format("weir {}", command.name));
  constexpr std::string_view kTitle = "see also: ";
  return names.empty() ? "" : fmt::format("{}{}\n", kTitle, fill(names, ", ", kTitle.size()));
}

std::string verb_help(std::span<const Command> table, const Command& command) {
  Entries arguments;
  for (const Argument& argument : command.arguments)
    arguments.emplace_back(argument.name, full_help(argument));
  Entries options;
  for (const Option& option : command.options)
    options.emplace_back(spelling(option), full_help(option));
  if (command.judges) {
    const Option fail_on = common_options(command).front();
    options.emplace_back(spelling(fail_on), full_help(fail_on));
  }
  constexpr std::size_t kFewOptions = 8;  // more of them take a screen's lines twice
  const Usage form = command.options.size() > kFewOptions ? Usage::kShort : Usage::kWhole;
  const std::string usage = fmt::format("usage: weir {} ", command.name);
  std::string out =
      fmt::format("{}{}\n\n{}\n", usage, fill(usage_pieces(command, form), " ", usage.size()),
                  wrap(command.description, kColumns));
  out += section("arguments", arguments);
  out += section("options", options);
  if (options.empty()) out += "\n";
  if (command.takes_fleet) {
    const auto takes = [&](std::string_view name) {
      return std::any_of(command.options.begin(), command.options.end(),
                         [&](const Option& option) { return option.name == name; });
    };
    out += fmt::format("fleet:   --hosts SET  --via ssh|slurm|exec{}{}  (more: man weir)\n",
                       takes("lab") ? "|lab DIR" : "", takes("root") ? "|bundles DIR" : "");
  }
  out += options_line("common:  ", common_options(Command{}));
  out += examples_section(command);
  return out + "\n" + longer_verbs(table, command.name) + exit_line(exits_of(command));
}

}  // namespace

std::string_view version_number() {
  return WEIR_VERSION;
}

std::string version_line() {
  return "weir " WEIR_VERSION;
}

std::string overview_help(std::span<const Command> table) {
  std::string out = fmt::format(
      "{}: {}\nusage: weir VERB [ARGUMENTS] [OPTIONS] (all take --help, --json, --quiet)\n",
      version_line(), kTagline);
  const Entries operators = overview_of(table, Group::kOperators);
  out += section("For operators", operators);
  std::vector<std::string> developers;  // on one line: operators need the screen
  for (const auto& entry : overview_of(table, Group::kDevelopers)) {
    const bool is_there = std::any_of(operators.begin(), operators.end(), [&](const auto& above) {
      return above.first == entry.first;
    });
    if (!is_there) developers.emplace_back(entry.first);
  }
  out += fmt::format("For developers: {}\n", join(developers, ", "));
  return out + exit_line(exit_meanings());
}

std::string help_for(std::span<const Command> table, std::string_view verb) {
  if (verb.empty()) return overview_help(table);
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const Command& command) { return command.name == verb; });
  return found == table.end() ? group_help(table, verb) : verb_help(table, *found);
}

std::string usage_line(const Command& command) {
  std::vector<std::string> pieces = usage_pieces(command, Usage::kWhole);
  pieces.insert(pieces.begin(), fmt::format("weir {}", command.name));
  return join(pieces, " ");
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
