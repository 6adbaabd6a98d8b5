#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "cli/docs/documents.h"

namespace weir::cli {
namespace {

// What may stand in a place, as shell assignments. Choices and names hold no shell metacharacters.
std::string offer(const std::vector<std::string_view>& choices, Completes completes) {
  if (!choices.empty()) return fmt::format("words='{}'", fmt::join(choices, " "));
  switch (completes) {
    case Completes::kNothing: return "words=";
    case Completes::kFiles: return "words= files=yes";
    case Completes::kVerbs: return "words=$verbs";
    case Completes::kTopics:
      return "words=$(\"${COMP_WORDS[0]}\" explain --list --quiet 2>/dev/null)";
  }
  WEIR_UNREACHABLE("every kind of completion has an offer");
}

// The second words of verbs that begin with `first`: headroom, buffers, wred of calc.
std::vector<std::string_view> seconds_of(std::span<const Command> table, std::string_view first) {
  std::vector<std::string_view> seconds;
  for (const Command& command : table) {
    if (command.name.starts_with(fmt::format("{} ", first)))
      seconds.push_back(command.name.substr(first.size() + 1));
  }
  return seconds;
}

std::string verb_case(std::span<const Command> table, const Command& command) {
  std::vector<std::string> names;
  std::string values;
  for (const Option& option : all_options(command)) {
    const std::string name = fmt::format("--{}", option.name);
    names.push_back(name);
    if (option.is_flag()) continue;
    const std::string letter = option.letter == '\0' ? "" : fmt::format(" | -{}", option.letter);
    values += fmt::format("        {}{}) {}; value=yes ;;\n", name, letter,
                          offer(option.choices, option.completes));
  }
  std::string out = fmt::format("    '{}')\n      options='{}'\n", command.name, join(names, " "));
  // A shell cannot tell the second argument from the first without parsing; the first one's offer
  // serves them all.
  if (!command.arguments.empty()) {
    out += fmt::format("      {}\n", offer(command.arguments.front().choices,
                                           command.arguments.front().completes));
  }
  // A verb that longer ones begin with: their second words may stand where its argument does.
  if (const auto seconds = seconds_of(table, command.name); !seconds.empty())
    out += fmt::format("      words+=' {}'\n", fmt::join(seconds, " "));
  return out + fmt::format("      case $previous in\n{}      esac\n      ;;\n", values);
}

// First words of verbs that have two, and are none themselves: "calc".
std::string group_case(std::span<const Command> table, std::string_view first) {
  return fmt::format("    '{}') words='{}' ;;\n", first, fmt::join(seconds_of(table, first), " "));
}

constexpr std::string_view kHead =
    R"(# bash completion for weir, made by weir-docs.
_weir() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
  local verbs='{}' first='' second='' words='' options='' files='' value='' i
  # bash splits --option=value into three words.
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${{COMP_WORDS[i]}} == -* ]]; then
      continue
    elif [[ ! $first ]]; then
      first=${{COMP_WORDS[i]}}
    elif [[ ! $second ]]; then
      second=${{COMP_WORDS[i]}}
    fi
  done
  # Some verbs have two words.
  case "$first $second" in
    {}) first+=" $second" ;;
  esac
  case $first in
    '') words=$verbs options='--version --help' ;;
)";

constexpr std::string_view kTail = R"(  esac
  if [[ $current == -* && ! $value ]]; then
    words=$options files=
  fi
  if [[ $files ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current"; compgen -W "$words" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  fi
}
complete -F _weir weir
)";

}  // namespace

std::string bash_completion(std::span<const Command> table) {
  std::vector<std::string_view> first_words;  // each once, in the table's order
  std::vector<std::string_view> groups;
  std::vector<std::string> pairs;
  std::set<std::string_view> seen;
  for (const Command& command : table) {
    const std::vector<std::string_view> words = split(command.name, ' ');
    if (words.size() > 1) pairs.push_back(fmt::format("'{}'", command.name));
    if (!seen.insert(words.front()).second) continue;
    if (words.size() > 1) groups.push_back(words.front());
    first_words.push_back(words.front());
  }
  if (pairs.empty()) pairs.emplace_back("''");
  std::string out = fmt::format(kHead, fmt::join(first_words, " "), fmt::join(pairs, " | "));
  for (const std::string_view group : groups)
    out += group_case(table, group);
  for (const Command& command : table)
    out += verb_case(table, command);
  return out + std::string(kTail);
}

}  // namespace weir::cli
