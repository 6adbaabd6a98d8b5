#include "cli/frame/parse.h"

#include <algorithm>
#include <array>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/text.h"

namespace weir::cli {
namespace {

// What is before the verb: only the common options, which every verb also takes after it.
struct Split {
  std::vector<std::string> options;  // common options before the verb
  std::vector<std::string> rest;     // from the verb on
};

const Command* find_command(std::span<const Command> table, std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const Command& command) { return command.name == name; });
  return found == table.end() ? nullptr : &*found;
}

// The second words of the verbs that begin with `first`: headroom, buffers, wred for calc.
std::vector<std::string> second_words(std::span<const Command> table, std::string_view first) {
  std::vector<std::string> words;
  for (const Command& command : table) {
    if (command.name.starts_with(fmt::format("{} ", first)))
      words.emplace_back(command.name.substr(first.size() + 1));
  }
  return words;
}

// "a, b or c"
template <class Words>
std::string one_of(const Words& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

/// The same letters, two neighbours exchanged.
bool is_exchanged(std::string_view word, std::string_view other) {
  if (word.size() != other.size()) return false;
  const auto [a, b] = std::mismatch(word.begin(), word.end(), other.begin());
  if (a == word.end() || a + 1 == word.end()) return false;
  return *a == *(b + 1) && *(a + 1) == *b && std::equal(a + 2, word.end(), b + 2);
}

/// What people call a system by its vendor; empty where the word is no vendor's.
std::string_view system_of_vendor(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kVendors{{
      {"cisco", "nxos"},
      {"nexus", "nxos"},
      {"nx-os", "nxos"},
      {"arista", "eos"},
      {"juniper", "junos"},
      {"nvidia", "cumulus"},
      {"mellanox", "cumulus"},
      {"nvue", "cumulus"},
      {"edgecore", "sonic"},
  }};
  for (const auto& [vendor, system] : kVendors)
    if (word == vendor) return system;
  return {};
}

UsageError unknown_verb(std::span<const Command> table, const std::string& word) {
  std::vector<std::string> candidates;
  for (const Command& command : table) {
    const std::vector<std::string_view> words = split(command.name, ' ');
    candidates.emplace_back(words.front());
    if (words.size() > 1 && word == words.back())
      return {fmt::format("unknown verb '{}'; did you mean '{}'?", word, command.name), ""};
  }
  // "lnit" is as near to "lint" as to "init": an exchange of two letters is one slip.
  for (const std::string& other : candidates) {
    const auto guess = nearest(word, candidates);
    if (guess && *guess != other && is_exchanged(word, other))
      return {fmt::format("unknown verb '{}'; did you mean '{}' or '{}'?", word, other, *guess),
              ""};
  }
  return {fmt::format("unknown verb '{}'{}", word, did_you_mean(word, candidates)), ""};
}

std::vector<std::string> spellings(const std::vector<Option>& options) {
  std::vector<std::string> names;
  names.reserve(options.size());
  for (const Option& option : options)
    names.push_back(fmt::format("--{}", option.name));
  return names;
}

UsageError unknown_option(const std::string& word, const std::vector<Option>& options,
                          std::string_view verb) {
  const std::string name = word.substr(0, word.find('='));
  return {fmt::format("unknown option '{}'{}", name, did_you_mean(name, spellings(options))),
          std::string(verb)};
}

// "-" is standard input or output, "--" ends the options.
bool is_option(std::string_view word) {
  return word.size() > 1 && word.front() == '-' && word != "--";
}

// Options before the verb are the common ones of a verb that does not judge.
std::variant<Split, Parsed> split_at_verb(const std::vector<std::string>& words) {
  Split parts;
  std::vector<Option> known = common_options(Command{});
  known.push_back({.name = "version", .help = ""});
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!is_option(word)) {
      parts.rest.assign(words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
      return parts;
    }
    if (word == "--version" || word == "-V") return Parsed(VersionRequest{});
    if (word == "--help" || word == "-h") return Parsed(HelpRequest{});
    const auto option = std::find_if(known.begin(), known.end(), [&](const Option& o) {
      return word == fmt::format("--{}", o.name) ||
             word.starts_with(fmt::format("--{}=", o.name)) ||
             (o.letter != '\0' && word == std::string{'-', o.letter});
    });
    if (option == known.end()) return Parsed(unknown_option(word, known, ""));
    parts.options.push_back(word);
    const bool value_follows = !option->is_flag() && word.find('=') == std::string::npos;
    if (value_follows && i + 1 < words.size()) parts.options.push_back(words[++i]);
  }
  return parts;
}

// Takes the verb's one or two words off `rest`.
std::variant<const Command*, Parsed> take_verb(std::span<const Command> table,
                                               std::vector<std::string>& rest) {
  const std::string first = rest.front();
  rest.erase(rest.begin());
  if (const Command* command = find_command(table, first)) {
    // Where "tune" and "tune judge" are both verbs, the longer one is meant.
    const Command* longer =
        rest.empty() ? nullptr : find_command(table, fmt::format("{} {}", first, rest.front()));
    if (longer == nullptr) return command;
    rest.erase(rest.begin());
    return longer;
  }
  const std::vector<std::string> seconds = second_words(table, first);
  if (seconds.empty()) return Parsed(unknown_verb(table, first));
  if (rest.empty())
    return Parsed(UsageError{fmt::format("{} what? Add {}", first, one_of(seconds)), first});
  if (rest.front() == "--help" || rest.front() == "-h") return Parsed(HelpRequest{first});
  const std::string second = rest.front();
  if (is_option(second)) {
    return Parsed(
        UsageError{fmt::format("{} needs {} before '{}'", first, one_of(seconds), second), first});
  }
  const Command* command = find_command(table, fmt::format("{} {}", first, second));
  if (command == nullptr) {
    const std::string guess = did_you_mean(second, seconds);
    const std::string hint = guess.empty() ? "; expected " + one_of(seconds) : guess;
    return Parsed(UsageError{fmt::format("unknown verb '{} {}'{}", first, second, hint), first});
  }
  rest.erase(rest.begin());
  return command;
}

// The parsing library's view of one verb, and the way back to the table's names.
struct Grammar {
  CLI::App app;
  std::vector<std::pair<std::string_view, CLI::Option*>> entries;
};

void describe(const Command& command, Grammar& grammar) {
  grammar.app.set_help_flag();  // --help is an option of our own table
  grammar.app.allow_extras();   // unknown words are reported in our own words
  for (const Option& option : all_options(command)) {
    std::string names = fmt::format("--{}", option.name);
    if (option.letter != '\0') names += fmt::format(",-{}", option.letter);
    CLI::Option* entry =
        option.is_flag() ? grammar.app.add_flag(names) : grammar.app.add_option(names);
    entry->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    grammar.entries.emplace_back(option.name, entry);
  }
  for (const Argument& argument : command.arguments) {
    if (argument.after_dashes) continue;
    CLI::Option* entry = grammar.app.add_option(std::string(argument.name));
    entry->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    if (argument.repeated) entry->allow_extra_args();
    grammar.entries.emplace_back(argument.name, entry);
  }
}

std::optional<std::string> wrong_choice(std::string_view what, const std::string& value,
                                        const std::vector<std::string_view>& choices) {
  if (choices.empty() || std::find(choices.begin(), choices.end(), value) != choices.end())
    return std::nullopt;
  const std::vector<std::string> candidates(choices.begin(), choices.end());
  const std::string_view system = system_of_vendor(value);
  const bool is_vendor =
      !system.empty() && std::find(choices.begin(), choices.end(), system) != choices.end();
  const std::string guess =
      is_vendor ? fmt::format("; did you mean '{}'?", system) : did_you_mean(value, candidates);
  // A long list would bury the guess; the help has it.
  constexpr std::size_t kFew = 8;
  const std::string expected =
      choices.size() > kFew && !guess.empty()
          ? fmt::format("one of the {} words that --help lists", choices.size())
          : one_of(choices);
  return fmt::format("{}: expected {}, found '{}'{}", what, expected, value, guess);
}

std::string needs_value(const Option& option) {
  return fmt::format("--{} needs a value: {}", option.name,
                     option.choices.empty() ? std::string(option.metavar) : one_of(option.choices));
}

std::optional<std::string> wrong_option(const Option& option, const Args& args) {
  const std::vector<std::string>& values = args.all(option.name);
  if (option.required && values.empty())
    return fmt::format("--{} {} is missing: {}", option.name, option.metavar, option.help);
  if (values.size() > 1 && !option.repeated && !option.is_flag())
    return fmt::format("--{} is given {} times; it takes one value", option.name, values.size());
  if (option.is_flag() && std::find(values.begin(), values.end(), "false") != values.end())
    return fmt::format("--{} takes no value; leave it out instead", option.name);
  for (const std::string& value : values) {
    // An empty name is a variable of a script that was not set.
    if (value.empty() && option.completes == Completes::kFiles) return needs_value(option);
    if (auto wrong = wrong_choice(fmt::format("--{}", option.name), value, option.choices))
      return wrong;
  }
  return std::nullopt;
}

std::optional<std::string> wrong_argument(const Argument& argument, const Args& args) {
  if (argument.required && !args.has(argument.name))
    return fmt::format("{} is missing: {}", argument.name, argument.help);
  for (const std::string& value : args.all(argument.name)) {
    if (auto wrong = wrong_choice(argument.name, value, argument.choices)) return wrong;
  }
  return std::nullopt;
}

// Everything the library leaves to us: unknown words, repetition, choices, what is missing.
std::optional<std::string> wrong_use(const Command& command, const Args& args,
                                     const std::vector<std::string>& extras) {
  for (const std::string& extra : extras) {
    if (!is_option(extra)) continue;
    const auto refused =
        std::find_if(command.refuses.begin(), command.refuses.end(), [&](const Refused& each) {
          return extra.substr(0, extra.find('=')) == fmt::format("--{}", each.name);
        });
    if (refused != command.refuses.end())
      return fmt::format("--{}: {}", refused->name, refused->why);
    return unknown_option(extra, all_options(command), "").message;
  }
  const auto surplus =
      std::find_if(extras.begin(), extras.end(), [](const std::string& e) { return e != "--"; });
  if (surplus != extras.end())
    return fmt::format("'{}' is one argument too many for weir {}", *surplus, command.name);
  for (const Option& option : all_options(command)) {
    if (auto wrong = wrong_option(option, args)) return wrong;
  }
  for (const Argument& argument : command.arguments) {
    if (auto wrong = wrong_argument(argument, args)) return wrong;
  }
  return std::nullopt;
}

// An option whose value is missing is the last word, is before another option, or is written
// "--name=".
std::optional<std::string> missing_value(const Command& command,
                                         const std::vector<std::string>& words) {
  const std::vector<Option> options = all_options(command);
  const auto names_option = [&](const std::string& word) {
    return std::any_of(options.begin(), options.end(), [&](const Option& option) {
      return word == fmt::format("--{}", option.name);
    });
  };
  for (const Option& option : options) {
    if (option.is_flag()) continue;
    const std::string name = fmt::format("--{}", option.name);
    const std::string letter = option.letter == '\0' ? name : std::string{'-', option.letter};
    for (std::size_t i = 0; i < words.size(); ++i) {
      const bool is_named = words[i] == name || words[i] == letter;
      const bool has_value = i + 1 < words.size() && !names_option(words[i + 1]);
      if (words[i] == name + "=" || (is_named && !has_value)) return needs_value(option);
    }
  }
  return std::nullopt;
}

// Takes what follows "--" off `words`, for a verb that runs a command.
void take_after_dashes(const Command& command, std::vector<std::string>& words, Args& args) {
  const auto argument = std::find_if(command.arguments.begin(), command.arguments.end(),
                                     [](const Argument& a) { return a.after_dashes; });
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (argument == command.arguments.end() || dashes == words.end()) return;
  for (auto word = dashes + 1; word != words.end(); ++word)
    args.add(argument->name, *word);
  words.erase(dashes, words.end());
}

// "--via bundles DIR" and "--via lab DIR" are "--via bundles --root DIR" and "--via lab --lab DIR".
// Where that option is given too, the word after them is another argument.
void take_place_of_via(const Command& command, std::vector<std::string>& words) {
  const std::vector<std::string> known = spellings(command.options);
  for (const auto& [way, place] : {std::pair{"bundles", "--root"}, std::pair{"lab", "--lab"}}) {
    const std::string option = place;  // clang 14 captures no binding
    const auto names_option = [&, named = fmt::format("{}=", option)](const std::string& word) {
      return word == option || word.starts_with(named);
    };
    const bool has_it = std::find(known.begin(), known.end(), option) != known.end();
    if (!has_it || std::any_of(words.begin(), words.end(), names_option)) continue;
    auto after = std::find(words.begin(), words.end(), fmt::format("--via={}", way));
    if (after == words.end()) {
      const std::array<std::string, 2> pair = {"--via", way};
      after = std::search(words.begin(), words.end(), pair.begin(), pair.end());
      if (after != words.end()) ++after;
    }
    if (after == words.end() || ++after == words.end()) continue;
    if (!is_option(*after) && *after != "--") words.insert(after, option);
  }
}

Parsed parse_verb(const Command& command, std::vector<std::string> words) {
  const std::string verb(command.name);
  const bool wants_help =
      std::any_of(words.begin(), std::find(words.begin(), words.end(), "--"),
                  [](const std::string& word) { return word == "--help" || word == "-h"; });
  if (wants_help) return HelpRequest{verb};
  Invocation invocation{&command, Args(command)};
  take_after_dashes(command, words, invocation.args);
  take_place_of_via(command, words);
  if (const auto missing = missing_value(command, words)) return UsageError{*missing, verb};
  Grammar grammar;
  describe(command, grammar);
  try {
    grammar.app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    return UsageError{error.what(), verb};
  }
  for (const auto& [name, entry] : grammar.entries) {
    for (const std::string& value : entry->results())
      invocation.args.add(name, value);
  }
  if (const auto wrong = wrong_use(command, invocation.args, grammar.app.remaining()))
    return UsageError{*wrong, verb};
  invocation.args.fill_defaults();
  return invocation;
}

}  // namespace

Parsed parse(std::span<const Command> table, const std::vector<std::string>& words) {
  auto split_or_done = split_at_verb(words);
  if (auto* done = std::get_if<Parsed>(&split_or_done)) return std::move(*done);
  Split& parts = std::get<Split>(split_or_done);
  if (parts.rest.empty()) return HelpRequest{};
  const auto verb_or_done = take_verb(table, parts.rest);
  if (const auto* done = std::get_if<Parsed>(&verb_or_done)) return *done;
  parts.options.insert(parts.options.end(), parts.rest.begin(), parts.rest.end());
  return parse_verb(*std::get<const Command*>(verb_or_done), parts.options);
}

Parsed parse_help_topic(std::span<const Command> table, const std::vector<std::string>& words) {
  if (words.empty()) return HelpRequest{};
  const std::string name = join(words, " ");
  const bool is_group = !second_words(table, name).empty();
  if (is_group || find_command(table, name) != nullptr) return HelpRequest{name};
  std::vector<std::string> rest = words;
  const auto verb_or_done = take_verb(table, rest);
  if (const auto* done = std::get_if<Parsed>(&verb_or_done)) return *done;
  return HelpRequest{std::string(std::get<const Command*>(verb_or_done)->name)};
}

}  // namespace weir::cli
