#pragma once
// The help screens: at most 80 columns, an example for every verb.
#include <span>
#include <string>
#include <string_view>

#include "cli/frame/command.h"

namespace weir::cli {

inline constexpr std::string_view kTagline =
    "lossless RoCEv2 fabrics for GPU clusters: designed, proven, watched";

/// "0.1.0".
[[nodiscard]] std::string_view version_number();

/// "weir 0.1.0".
[[nodiscard]] std::string version_line();

/// `weir --help`: the verbs, grouped.
[[nodiscard]] std::string overview_help(std::span<const Command> table);

/// `weir VERB --help`. `verb` may be the first word of several verbs ("calc"): then those are
/// listed. REQUIRES: a verb of the table, such a first word, or empty for the overview.
[[nodiscard]] std::string help_for(std::span<const Command> table, std::string_view verb);

/// "weir tos [N] [--ecn ECN] [--table]": one line, however long.
[[nodiscard]] std::string usage_line(const Command&);

/// "-q, --quiet", "--ecn ECN".
[[nodiscard]] std::string spelling(const Option&);

/// The help of an option or argument with its choices and default appended.
[[nodiscard]] std::string full_help(const Option&);
[[nodiscard]] std::string full_help(const Argument&);

/// The exit codes a verb can give, usage included, in the order of their numbers.
[[nodiscard]] std::vector<ExitMeaning> exits_of(const Command&);

}  // namespace weir::cli
