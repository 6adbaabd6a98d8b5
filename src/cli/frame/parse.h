#pragma once
// The command line, understood. The only file that knows the parsing library is parse.cc: its
// header is large, and its messages are not ours.
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "cli/frame/command.h"

namespace weir::cli {

/// A verb with its arguments: every name is known, every choice is one of the list, every required
/// argument is there. What a value means is the verb's to check.
struct Invocation {
  const Command* command;
  Args args;
};

/// --help, or no verb at all. `verb` is a verb's name, the first word of several ("calc"), or
/// empty.
struct HelpRequest {
  std::string verb;
};

struct VersionRequest {};

struct UsageError {
  std::string message;  // one line, without a full stop at the end
  std::string verb;     // whose help to see; may be empty
};

using Parsed = std::variant<Invocation, HelpRequest, VersionRequest, UsageError>;

/// `words` are the arguments after the program's name. The verb is the first word (or two) that is
/// not an option; options that every verb has may stand before it. REQUIRES: `table` outlives the
/// result.
[[nodiscard]] Parsed parse(std::span<const Command> table, const std::vector<std::string>& words);

/// The help to show for "tos", "calc headroom", "calc" or nothing; an error for any other word.
[[nodiscard]] Parsed parse_help_topic(std::span<const Command> table,
                                      const std::vector<std::string>& words);

}  // namespace weir::cli
