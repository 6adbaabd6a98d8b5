#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "cli/docs/documents.h"
#include "cli/fleet/fleet_input.h"
#include "cli/frame/help.h"

namespace weir::cli {
namespace {

// Text that roff must take literally: backslashes, hyphens that are to be typed, and a dot or an
// apostrophe at the start of a line, which would be a request.
std::string literal(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    line_start = c == '\n';
    switch (c) {
      case '\\': out += "\\e"; break;
      case '-': out += "\\-"; break;
      default: out += c;
    }
  }
  return out;
}

std::string bold(std::string_view text) {
  return fmt::format("\\fB{}\\fR", literal(text));
}
std::string italic(std::string_view text) {
  return fmt::format("\\fI{}\\fR", literal(text));
}

std::string heading(std::string_view title) {
  return fmt::format(".SH {}\n", literal(title));
}

std::string item(const std::string& tag, std::string_view text) {
  return fmt::format(".TP\n{}\n{}\n", tag, literal(text));
}

std::string tag_of(const Option& option) {
  std::string tag = option.letter == '\0' ? "" : bold(std::string{'-', option.letter}) + ", ";
  tag += bold(fmt::format("--{}", option.name));
  return option.is_flag() ? tag : tag + " " + italic(option.metavar);
}

std::string paragraphs(std::string_view text) {
  std::string out;
  for (const std::string_view line : split(text, '\n')) {
    out += line.empty() ? ".PP\n" : literal(line) + "\n";
  }
  return out;
}

std::string examples_of(const Command& command) {
  std::string out;
  for (const Example& example : command.examples)
    out += fmt::format(".TP\n{}\n{}\n", bold(example.command), literal(example.note));
  return out;
}

std::string man_verb_section(const Command& command) {
  std::string out =
      fmt::format(".SS {}\n{}.PP\n", literal(usage_line(command)), paragraphs(command.description));
  for (const Argument& argument : command.arguments)
    out += item(italic(argument.name), full_help(argument));
  for (const Option& option : command.options)
    out += item(tag_of(option), full_help(option));
  out += ".PP\nExamples:\n" + examples_of(command);
  std::vector<std::string> exits;
  for (const ExitMeaning& exit : exits_of(command))
    exits.push_back(fmt::format("{} ({})", static_cast<int>(exit.code), exit.brief));
  return out + fmt::format(".PP\nExit status: {}.\n", literal(join(exits, ", ")));
}

std::string verbs_of(std::span<const Command> table, Group group, std::string_view title) {
  std::string sections;
  for (const Command& command : table) {
    if (command.group == group) sections += man_verb_section(command);
  }
  return sections.empty() ? "" : heading(title) + sections;
}

std::string common_section() {
  Command judging;
  judging.judges = true;
  std::string out = heading("COMMON OPTIONS");
  out += literal(
      "Every verb takes these, after the verb or before it; --fail-on only verbs that judge.");
  out += "\n";
  for (const Option& option : common_options(judging))
    out += item(tag_of(option), full_help(option));
  return out;
}

std::string fleet_section() {
  std::string out = heading("OPTIONS OF A FLEET");
  out += literal("Verbs that look at hosts take these, for many machines at once.");
  out += "\n";
  for (const Option& option : fleet_options(Command{}))
    out += item(tag_of(option), full_help(option));
  return out;
}

std::string exit_section() {
  std::string out = heading("EXIT STATUS");
  for (const ExitMeaning& exit : exit_meanings())
    out += item(bold(std::to_string(static_cast<int>(exit.code))), exit.meaning);
  return out;
}

}  // namespace

std::string man_page(std::span<const Command> table) {
  std::string out = fmt::format(".TH WEIR 1 \"\" \"{}\" \"User Commands\"\n", version_line());
  out += heading("NAME") + fmt::format("weir \\- {}\n", literal(kTagline));
  out += heading("SYNOPSIS") + ".B weir\n.I VERB\n[\\fIARGUMENTS\\fR] [\\fIOPTIONS\\fR]\n";
  out += heading("DESCRIPTION");
  out += literal(
      "weir is for the people who bring up and run RDMA over Converged Ethernet (RoCEv2) under GPU "
      "clusters, where every mistake is silent: the traffic still flows, it just flows badly. One "
      "design file holds the intent of a fabric. The first line of every output says in words what "
      "is right or wrong; every finding says what to type.");
  out += "\n";
  out += verbs_of(table, Group::kOperators, "VERBS FOR OPERATORS");
  out += verbs_of(table, Group::kDevelopers, "VERBS FOR DEVELOPERS");
  out += common_section() + fleet_section() + exit_section();
  out += heading("ENVIRONMENT");
  out += item(bold("WEIR_DESIGN"), "the design file of verbs that are given none");
  out += item(bold("NO_COLOR"), "set and not empty: no colours, unless --color always");
  out += heading("FILES");
  out += item(bold("./fabric.yaml"),
              "the design file where neither an argument nor WEIR_DESIGN names one");
  return out;
}

}  // namespace weir::cli
