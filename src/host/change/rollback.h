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

struct Rollback {
  std::vector<HostOutcome> hosts;  // their standing steps, each undone or not
  bool is_whole = true;            // every step was put back
  bool was_restarted = false;      // the machine was: what was changed had gone with it
};

/// Puts back every step of the journal that still is, the last first, and writes that down. May
/// be killed and called again: it goes on where it was.
/// `boot` is the kernel's boot id now; where the journal has another one, the settings are gone.
[[nodiscard]] Result<Rollback> roll_back(const StateDirectory& state, const StoredJournal& stored,
                                         const HostFinder& find_host, const std::string& boot,
                                         std::string_view reason,
                                         const ApplyEnvironment& environment = {});

/// The running kernel's boot id; empty where it cannot be read.
[[nodiscard]] std::string boot_id();

}  // namespace weir::host
