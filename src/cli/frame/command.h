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
/// Where the verb writes what an option names; "-" is standard output.
enum class Writes {
  kNothing,
  kFile,        // a file, or a directory that is made and removed with all that is in it
  kFileAlways,  // the same; where the option is not given, into the current directory
  kDirectory,   // files in this directory
  kHere,        // files in the current directory, where the option is given: it names an input
};

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
  Writes writes = Writes::kNothing;

  [[nodiscard]] bool is_flag() const { return metavar.empty(); }
};

/// An option of like verbs that this one has no use for: no help lists it, and whoever types it
/// reads why.
struct Refused {
  std::string_view name;
  std::string_view why;
};

struct Example {
  std::string_view command;  // a line to type, beginning with "weir"
  std::string_view note;
};

/// What a verb looks at. Root is given up before files of others are read
/// (base/untrusted/give_up_root.h).
enum class Looks {
  kElsewhere,          // at this host, or it changes something there
  kAtFiles,            // at files alone
  kAtFilesIfNamed,     // at files where its first argument, --root or --lab names them
  kAtFilesIfAllNamed,  // the same where all arguments, --root or --lab do
  kAtHostOrFiles,      // at files where --root or --lab names them
};

struct Command {
  std::string_view name;  // one word, or two: "calc headroom"
  Group group = Group::kOperators;
  std::string_view summary;      // half a line, no full stop
  std::string_view description;  // a short paragraph or two
  std::vector<Argument> arguments = {};
  std::vector<Option> options = {};  // without the common ones
  std::vector<Refused> refuses = {};
  std::vector<Example> examples = {};
  std::vector<ExitCode> exit_codes = {};  // that this verb can give, besides kUsage
  bool judges = false;                    // has findings, hence --fail-on
  Looks looks = Looks::kElsewhere;
  bool takes_fleet = false;  // hosts of a fleet too, hence --hosts and --via (fleet_input.h)
  bool changes = false;      // hosts: its exit code is the outcome, wherever its output went
  bool serves = false;       // answers on a socket, unless an option names a file to write
  ExitCode (*run)(const Args&, Context&) = nullptr;
};

/// Options that every verb has; where it judges, --fail-on before them.
[[nodiscard]] std::vector<Option> common_options(const Command&);

/// The verb's own options, then those of a fleet, then the common ones: what the parser accepts.
[[nodiscard]] std::vector<Option> all_options(const Command&);

/// Of a command line that looks at files alone: the directories that it writes to, none where it
/// only prints. nullopt where it looks at this host or changes it.
[[nodiscard]] std::optional<std::vector<std::string>> confinement(const Args& args);

/// Of a command line that asks hosts of a fleet: it starts programs (ssh, srun, a command of the
/// user's) with the user's keys, and hence stays the user it is.
[[nodiscard]] bool asks_machines(const Args& args);

/// Of a command line that answers on a socket until it is interrupted.
[[nodiscard]] bool is_serving(const Args& args);
/// The directories that such a process writes to.
[[nodiscard]] std::vector<std::string> places_of_server(const Args& args);

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
