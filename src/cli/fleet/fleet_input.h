#pragma once
// The hosts of a fleet as words: --hosts and --via, what they may cost, and the way to them.
#include <optional>
#include <string>
#include <vector>

#include "cli/frame/command.h"
#include "ops/source/fleet.h"

namespace weir::cli {

/// Options of every verb with `takes_fleet`, less those that the verb has itself.
[[nodiscard]] std::vector<Option> fleet_options(const Command&);

/// Whether the words name a fleet, or hosts of a lab or of captures by --hosts.
[[nodiscard]] bool names_fleet(const Args&);

/// `source` with the hosts that --hosts, --hosts-file, --inventory and --via name: a fleet, or some
/// hosts of the lab or the captures that it has. Signals are noted from here on, so that what is
/// started on other machines is ended.
[[nodiscard]] ops::Result<ops::Source> with_fleet(ops::Source source, const Args&, const Context&);

/// " --hosts gpu[001-128] --via ssh …": the same again, for commands to type next; with `hosts` for
/// these alone.
[[nodiscard]] std::string fleet_words(const Args&, const std::string& hosts = "");
/// The same without these hosts: " --hosts 'gpu[001-128]!gpu003' --via ssh …". No names: all.
[[nodiscard]] std::string fleet_words_without(const Args&, const std::vector<std::string>& names);

/// The verdict, and under it "gpu[001-127]: as designed", one line per answer, where a fleet was
/// named and more than the verdict is wanted.
[[nodiscard]] std::string with_answers(const Args&, const Context&, std::string verdict,
                                       const std::vector<ops::FoldedAnswer>&);

}  // namespace weir::cli
