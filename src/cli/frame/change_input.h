#pragma once
// The options of verbs that change hosts, and the question before they do.
#include <string>
#include <vector>

#include "cli/frame/command.h"
#include "host/change/state_directory.h"

namespace weir::cli {

[[nodiscard]] Option state_option();
[[nodiscard]] Option despite_lint_option();
/// --state DIR and --yes, after the verb's own options.
[[nodiscard]] std::vector<Option> with_change_options(std::vector<Option> own = {});

/// " --lab DIR", " --state DIR": for commands to type next.
[[nodiscard]] std::string state_words(const Args&);

/// Another weir that changes the hosts is waited for this long; the wait is said on stderr.
[[nodiscard]] host::LockWait wait_for_lock(const Context&);

enum class Consent { kGiven, kRefused, kNobodyToAsk };

/// Given by --yes, or by a person who is asked. Says on stderr what came of it otherwise.
[[nodiscard]] Consent ask_consent(const Args&, Context&, const std::string& question);

/// How a verb ends that was not allowed to go on.
[[nodiscard]] ExitCode exit_for(Consent);

}  // namespace weir::cli
