#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "cli/docs/documents.h"
#include "cli/fleet/fleet_input.h"
#include "cli/frame/help.h"

namespace weir::cli {
namespace {

// A cell of a Markdown table: a bar would end it.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

// GitHub's rule for the anchor of a heading: small letters, blanks to hyphens.
std::string anchor(std::string_view name) {
  std::string out = fmt::format("weir-{}", name);
  for (char& c : out)
    c = c == ' ' ? '-' : c;
  return out;
}

std::string overview(std::span<const Command> table, Group group, std::string_view title) {
  std::string out;
  for (const Command& command : table) {
    if (command.group != group) continue;
    out += fmt::format("| [`{}`](#{}) | {} |\n", command.name, anchor(command.name),
                       cell(command.summary));
  }
  return out.empty() ? "" : fmt::format("\n{}:\n\n| verb | does |\n|---|---|\n{}", title, out);
}

std::string verb_section(const Command& command) {
  std::string out = fmt::format("\n## weir {}\n\n```\n{}\n```\n\n{}\n", command.name,
                                usage_line(command), wrap(command.description, 100));
  std::string inputs;
  for (const Argument& argument : command.arguments)
    inputs += fmt::format("| `{}` | {} |\n", argument.name, cell(full_help(argument)));
  for (const Option& option : command.options)
    inputs += fmt::format("| `{}` | {} |\n", spelling(option), cell(full_help(option)));
  if (command.judges) {
    const Option fail_on = common_options(command).front();
    inputs += fmt::format("| `{}` | {} |\n", spelling(fail_on), cell(full_help(fail_on)));
  }
  if (!inputs.empty()) out += "\n| argument or option | |\n|---|---|\n" + inputs;
  out += "\n```sh\n";
  for (const Example& example : command.examples)
    out +=
        fmt::format("{}{}{}\n", example.command, example.note.empty() ? "" : "  # ", example.note);
  out += "```\n\nExit status: ";
  std::vector<std::string> exits;
  for (const ExitMeaning& exit : exits_of(command))
    exits.push_back(fmt::format("{} {}", static_cast<int>(exit.code), exit.brief));
  return out + join(exits, ", ") + ".\n";
}

}  // namespace

std::string commands_page(std::span<const Command> table) {
  std::string out =
      "# Commands\n\n<!-- Made by weir-docs from the command table (src/cli); a test compares. Do "
      "not edit. -->\n\n"
      "The first line of every output is the verdict in words. Every verb takes these:\n\n"
      "| option | |\n|---|---|\n";
  for (const Option& option : common_options(Command{}))
    out += fmt::format("| `{}` | {} |\n", spelling(option), cell(full_help(option)));
  out +=
      "\nVerbs that look at hosts take many of them over a network ([fleet](fleet.md)); their "
      "usage "
      "ends in FLEET:\n\n| option | |\n|---|---|\n";
  for (const Option& option : fleet_options(Command{}))
    out += fmt::format("| `{}` | {} |\n", spelling(option), cell(full_help(option)));
  out += overview(table, Group::kOperators, "For operators");
  out += overview(table, Group::kDevelopers, "For developers");
  out += "\n## Exit status\n\n| exit | meaning |\n|---|---|\n";
  for (const ExitMeaning& exit : exit_meanings())
    out += fmt::format("| {} | {} |\n", static_cast<int>(exit.code), cell(exit.meaning));
  for (const Command& command : table)
    out += verb_section(command);
  return out;
}

}  // namespace weir::cli
