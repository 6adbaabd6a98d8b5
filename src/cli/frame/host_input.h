#pragma once
// The hosts of a verb: --lab, --host and --root, and what is said of hosts that could not be read.
#include <string>
#include <vector>

#include "cli/frame/command.h"
#include "cli/frame/design_input.h"
#include "ops/change/plan.h"
#include "ops/source/hosts.h"

namespace weir::cli {

/// --lab DIR, --host H and --root PATH, in front of a verb's own options.
[[nodiscard]] std::vector<Option> with_host_options(std::vector<Option> own = {});
/// Of a verb that changes hosts or runs something there: --lab DIR and --host H. A captured machine
/// can be read alone.
[[nodiscard]] std::vector<Option> with_live_host_options(std::vector<Option> own = {});
/// --lab DIR alone: of a verb that takes a lab as a whole.
[[nodiscard]] std::vector<Option> with_lab_option(std::vector<Option> own = {});

[[nodiscard]] ops::Result<ops::Source> source_of(const Args&);
/// The same for a verb that takes a fleet.
[[nodiscard]] ops::Result<ops::Source> source_of(const Args&, const Context&);

/// " --lab DIR", " --root DIR", " --hosts SET": the same hosts again, for commands to type next;
/// empty on this machine.
[[nodiscard]] std::string source_words(const Args&);

/// The hosts and the design of `plan` and `apply`, and the same as words to type next.
[[nodiscard]] ops::Result<ops::PlanRequest> plan_request(const Args&, const Context&);
[[nodiscard]] std::string plan_words(const Args&);

/// kOk, kPartial where a host is missing or kept something back, kCouldNotLook where all are
/// missing.
[[nodiscard]] ExitCode completeness(const ops::Observation&);

/// One line on stderr for each host that could not be read.
void print_unseen(const ops::Observation&, Context&);

/// What could not be read on each host, and how to get it; nothing where all was.
void print_gaps(const std::vector<evidence::Evidence>& hosts, Context&);

/// Agreed on by who makes bundles and who reads them; not an option, because `ps` shows those.
inline constexpr const char* kBundleKeyVariable = "WEIR_BUNDLE_KEY";
[[nodiscard]] std::string bundle_key(const Context&);

/// " (simulated)" for a headline over hosts that are.
[[nodiscard]] std::string simulated_word(bool is_simulated);

}  // namespace weir::cli
