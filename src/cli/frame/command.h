#pragma once
// A verb as data. Help, "did you mean", the man page, shell completion and docs/commands.md are all
// made from these fields, so they cannot disagree with what the parser accepts.
//
// A verb is one file, verbs/<verb>.cc: it fills in a Command and gives it a run function that turns
// words into a request, calls ops, and prints the model.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/frame/context.h"
#include "cli/frame/exit_code.h"
#include "ops/source/failure.h"

namespace weir::cli {

class Args;

/// Where a verb is listed: help shows what operators need first.
enum class Group { kOperators, kDevelopers };

/// What a shell may offer in a place that has no fixed choices.
enum class Completes { kNothing, kFiles, kVerbs, kTopics };

struct Argument {
  std::string_view name;  // as usage shows it: "N", "DESIGN"
  std::string_view help;
  bool required = false;
  bool repeated = false;
  std::vector<std::string_view> choices = {};
  Completes completes = Completes::kNothing;
  bool after_dashes = false;  // takes every word after "--", options included: a command to run
};

struct Option {
  std::string_view name;          // without dashes: "fail-on"
  char letter = '\0';             // the short form, or none
  std::string_view metavar = {};  // empty: a flag, takes no value
  std::string_view help;
  std::string_view default_value = {};  // given to the verb when the user gives none
  std::vector<std::string_view> choices = {};
  bool required = false;
  bool repeated = false;
  Completes completes = Completes::kNothing;

  [[nodiscard]] bool is_flag() const { return metavar.empty(); }
};

struct Example {
  std::string_view command;  // a line to type, beginning with "weir"
  std::string_view note;
};

/// What a verb looks at. Root is given up before files of others are read
/// (base/untrusted/give_up_root.h).
enum class Looks {
  kElsewhere,       // at this host, or it changes or writes something
  kAtFiles,         // at files alone
  kAtFilesIfNamed,  // at files where its first argument or --root names them
  kAtHostOrFiles,   // at files where --root names them
};

struct Command {
  std::string_view name;  // one word, or two: "calc headroom"
  Group group = Group::kOperators;
  std::string_view summary;      // half a line, no full stop
  std::string_view description;  // a short paragraph or two
  std::vector<Argument> arguments = {};
  std::vector<Option> options = {};  // without the common ones
  std::vector<Example> examples = {};
  std::vector<ExitCode> exit_codes = {};  // that this verb can give, besides kUsage
  bool judges = false;                    // has findings, hence --fail-on
  Looks looks = Looks::kElsewhere;
  ExitCode (*run)(const Args&, Context&) = nullptr;
};

/// Options that every verb has; where it judges, --fail-on before them.
[[nodiscard]] std::vector<Option> common_options(const Command&);

/// The verb's own options, then the common ones: what the parser accepts.
[[nodiscard]] std::vector<Option> all_options(const Command&);

/// Whether this command line only reads files and prints: by the verb's `looks`, by --root (a
/// captured machine instead of this one) and by options that name a file to write.
[[nodiscard]] bool only_reads(const Args& args);

/// A wrong command line: says so on stderr in one line, names the help, and returns kUsage.
ExitCode usage_error(Context&, const Command&, std::string_view message);

/// The end of a verb whose operation gave no answer: says why, and returns the exit code of it.
ExitCode fail(Context&, const Command&, const ops::Failure& failure);

/// What the user gave, as text, by the name in the table; defaults are filled in.
/// Asking for a name that the verb does not have is a bug, and stops the program.
class Args {
 public:
  explicit Args(const Command& command);

  /// Adds one value of an option or argument; a flag's is empty.
  void add(std::string_view name, std::string value);
  /// For each option not given that has a default.
  void fill_defaults();

  [[nodiscard]] bool has(std::string_view name) const { return !all(name).empty(); }
  /// The last value.
  [[nodiscard]] std::optional<std::string> get(std::string_view name) const;
  /// REQUIRES: given, required or with a default.
  [[nodiscard]] const std::string& value(std::string_view name) const;
  [[nodiscard]] const std::vector<std::string>& all(std::string_view name) const;
  [[nodiscard]] const Command& command() const { return *command_; }

 private:
  const Command* command_;
  std::map<std::string, std::vector<std::string>, std::less<>> values_;  // every name of the verb
};

}  // namespace weir::cli
