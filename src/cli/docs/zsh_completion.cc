#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "base/text.h"
#include "cli/docs/documents.h"

namespace weir::cli {
namespace {

// Text inside the single quotes of an _arguments or _describe entry, where colons and brackets have
// a meaning.
std::string spec_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\'': out += "'\\''"; break;
      case ':':
      case '[':
      case ']':
      case '\\':
        out += '\\';
        out += c;
        break;
      default: out += c;
    }
  }
  return out;
}

// What may stand in a place: the part of a specification after "message:".
std::string action(const std::vector<std::string_view>& choices, Completes completes) {
  if (!choices.empty()) return fmt::format("({})", fmt::join(choices, " "));
  switch (completes) {
    case Completes::kNothing: return " ";
    case Completes::kFiles: return "_files";
    case Completes::kVerbs: return "_weir_verbs";
    case Completes::kTopics: return "_weir_topics";
  }
  WEIR_UNREACHABLE("every kind of completion has an action");
}

std::string option_spec(const Option& option) {
  const std::string help = fmt::format("[{}]", spec_text(option.help));
  const std::string value = option.is_flag()
                                ? ""
                                : fmt::format(":{}:{}", spec_text(option.metavar),
                                              action(option.choices, option.completes));
  const std::string_view equals = option.is_flag() ? "" : "=";
  if (option.letter == '\0')
    return fmt::format("'{}--{}{}{}{}'", option.repeated ? "*" : "", option.name, equals, help,
                       value);
  if (option.repeated)
    return fmt::format("'*'{{-{},--{}{}}}'{}{}'", option.letter, option.name, equals, help, value);
  return fmt::format("'(-{0} --{1})'{{-{0},--{1}{2}}}'{3}{4}'", option.letter, option.name, equals,
                     help, value);
}

std::string argument_spec(const Argument& argument, std::size_t number) {
  const std::string place = argument.repeated ? "*" : std::to_string(number);
  const std::string_view optional = argument.required || argument.repeated ? ":" : "::";
  return fmt::format(
      "'{}{}{}:{}'", place, optional, spec_text(argument.name),
      argument.after_dashes ? "_command_names -e" : action(argument.choices, argument.completes));
}

std::string verb_entry(const Command& command) {
  std::vector<std::string> specs;
  for (const Option& option : all_options(command))
    specs.push_back(option_spec(option));
  std::size_t number = 0;
  for (const Argument& argument : command.arguments)
    specs.push_back(argument_spec(argument, ++number));
  return fmt::format("    '{}')\n      _arguments -s -S \\\n        {} ;;\n", command.name,
                     join(specs, " \\\n        "));
}

constexpr std::string_view kZshHead = R"zsh(#compdef weir
# zsh completion for weir, made by weir-docs.
_weir_topics() {
  local -a topics
  topics=(${(f)"$(_call_program topics weir explain --list --quiet 2>/dev/null)"})
  compadd -a topics
}

)zsh";

}  // namespace

std::string zsh_completion(std::span<const Command> table) {
  std::string verbs;   // the first words, each once
  std::string groups;  // the second words of each first word that has some
  std::set<std::string_view> seen;
  for (const Command& command : table) {
    const std::vector<std::string_view> words = split(command.name, ' ');
    if (!seen.insert(words.front()).second) continue;
    verbs += fmt::format(
        "    '{}:{}'\n", words.front(),
        words.size() > 1 ? std::string(words.front()) + " …" : spec_text(command.summary));
    std::string seconds;
    std::vector<std::string> names;
    for (const Command& other : table) {
      const std::string prefix = fmt::format("{} ", words.front());
      if (!other.name.starts_with(prefix)) continue;
      names.emplace_back(other.name.substr(prefix.size()));
      seconds += fmt::format(" '{}:{}'", names.back(), spec_text(other.summary));
    }
    if (names.empty()) continue;
    // The first word may be a verb too: then what follows may also be its argument.
    groups += words.size() > 1 ? fmt::format("    {}) seconds=({} ) ;;\n", words.front(), seconds)
                               : fmt::format(
                                     "    {})\n      local -a longer=({} )\n"
                                     "      (( CURRENT == 3 )) && _describe verb longer\n"
                                     "      (( CURRENT > 3 )) && [[ $words[3] == ({}) ]] && "
                                     "seconds=($longer) ;;\n",
                                     words.front(), seconds, join(names, "|"));
  }
  std::string out(kZshHead);
  out += "_weir_verbs() {\n  local -a verbs\n  verbs=(\n" + verbs +
         "  )\n  _describe verb verbs\n}\n\n_weir() {\n  local -a seconds\n"
         "  if (( CURRENT == 2 )); then\n    _weir_verbs\n    return\n  fi\n"
         "  case $words[2] in\n" +
         groups +
         "  esac\n  local verb=$words[2]\n  if (( $#seconds )); then\n"
         "    if (( CURRENT == 3 )); then\n      _describe verb seconds\n      return\n    fi\n"
         "    verb=\"$words[2] $words[3]\"\n    shift words\n    (( CURRENT-- ))\n  fi\n"
         "  shift words\n  (( CURRENT-- ))\n  case $verb in\n";
  for (const Command& command : table)
    out += verb_entry(command);
  return out + "  esac\n}\n\n_weir \"$@\"\n";
}

}  // namespace weir::cli
