#pragma once
// Undoing an apply from its journal: on demand, after a crash, or because it was not confirmed.
#include <functional>
#include <string>
#include <vector>

#include "host/change/apply.h"
#include "host/change/state_directory.h"

namespace weir::host {

/// The host of that name, or nullptr.
using HostFinder = std::function<HostIo*(const std::string& name)>;

/// Ends a failure that weir verify injected.
using Healer = std::function<Status(const JournalFailure& failure)>;

struct Rollback {
  std::vector<HostOutcome> hosts;  // their standing steps, each undone or not
  bool is_whole = true;            // every step was put back, a failure is over
  bool was_restarted = false;      // the machine was: what was changed had gone with it …
  std::size_t survived = 0;        // … but for so many settings, which were put back
  bool stopped_load = false;       // a load of weir verify was still running
  std::string load_error = {};     // why it may still run
  std::string heal_error = {};     // why a failure is not over: the journal stays open
};

/// A setting that is neither what the apply made it nor what it was before.
struct ChangedSince {
  std::string host;
  std::string rail;
  Change applied;
  Change found;
};
/// What other programs changed after the apply: a rollback overwrites it.
[[nodiscard]] std::vector<ChangedSince> changed_since(const Journal& journal,
                                                      const HostFinder& find_host);

/// Puts back every step of the journal that still is, the last first, and writes that down. May be
/// killed and called again: it goes on where it was. `boot` is the kernel's boot id now; where the
/// journal has another one, the settings are gone, and only what still shows the applied value is
/// put back. A load that still runs is stopped, a failure ended by `heal`. A journal that cannot be
/// written (a full disk) does not keep it from that; it is an error at the end. Where settings last
/// only after `keep` (a lab is written as a whole), nothing is written down before it.
[[nodiscard]] Result<Rollback> roll_back(const StateDirectory& state, const StoredJournal& stored,
                                         const HostFinder& find_host, const std::string& boot,
                                         std::string_view reason,
                                         const ApplyEnvironment& environment = {},
                                         const Healer& heal = {},
                                         const std::function<Status()>& keep = {});

/// Ends a load: its process group is sent SIGTERM, and SIGKILL where that does not help; on another
/// host the command does that. False where it has ended already.
[[nodiscard]] Result<bool> stop_load(const JournalLoad& load);
/// Of a process of our own; `started` is 0 where it cannot be read.
[[nodiscard]] JournalLoad load_of_process(std::int64_t pid);
/// 'T' where it was stopped (proc(5)); 0 where there is none.
[[nodiscard]] char process_state(std::int64_t pid);

/// The running kernel's boot id; empty where it cannot be read.
[[nodiscard]] std::string boot_id();

}  // namespace weir::host
