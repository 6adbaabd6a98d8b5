#pragma once
// The hosts of an operation: this machine, captured ones, those of a lab, or a fleet. Every
// operation that looks at hosts goes through here, so that none of them knows which it is.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evidence/evidence.h"
#include "host/fleet/fleet.h"
#include "host/host_io.h"
#include "lab/fabric/lab.h"
#include "ops/source/fabric.h"
#include "ops/source/failure.h"

namespace weir::ops {

/// Machines that are reached over a network (ops/source/fleet.h finds them).
struct FleetSource {
  std::vector<host::FleetHost> hosts = {};
  host::Reach reach = {};
  host::FleetLimits limits = {};
};

/// Which hosts to look at. Neither a lab nor captures nor a fleet: this machine.
struct Source {
  std::string lab = {};                    // its directory
  std::vector<std::string> hosts = {};     // of the lab: "gpu03", "gpu[01-04]", "all"; none: all
                                           // of captures: names, all of which must be there
  std::vector<std::string> captures = {};  // bundles, captured trees, or directories of them
  std::vector<std::string> excluded = {};  // devices of machines of which no file is opened
  std::optional<FleetSource> fleet = {};
};

struct HostSet {
  std::optional<lab::Lab> lab;  // where the hosts are a lab's
  std::vector<std::unique_ptr<host::HostIo>> hosts;
  bool are_captured = false;                  // nothing can be changed or run there
  bool with_switches = false;                 // all of a lab: its switches too
  unsigned fanout = 1;                        // of a fleet: hosts that are asked at the same time
  std::vector<std::string> absent = {};       // "gpu03: why": asked for, and not to be had
  std::function<bool()> is_interrupted = {};  // of a fleet

  /// REQUIRES: a host of the set.
  [[nodiscard]] host::HostIo& named(const std::string& name) const;
};

[[nodiscard]] Result<HostSet> open_hosts(const Source& source);

/// Calls `body` once for each host, with its place in set.hosts: side by side in a fleet, in order
/// elsewhere. REQUIRES: a body writes to a place of its own.
void for_each_host(const HostSet& set, const std::function<void(std::size_t, host::HostIo&)>& body);

/// The lab that the set is of, with every host of it watched; any other set as it is.
[[nodiscard]] Result<HostSet> with_whole_lab(HostSet set);

/// Everything that could be seen.
struct Observation {
  std::vector<evidence::Evidence> hosts;
  std::optional<evidence::Evidence> switches;  // of a whole lab
  std::vector<std::string> unseen;             // "gpu03: why"

  /// Hosts and switches in one list.
  [[nodiscard]] std::vector<evidence::Evidence> all() const&;
  [[nodiscard]] std::vector<evidence::Evidence> all() &&;
  /// What `all` took out of it with std::move, back in its place.
  void put_back(std::vector<evidence::Evidence> everything, bool with_switches);
  /// The same without copies.
  [[nodiscard]] std::vector<const evidence::Evidence*> pieces() const;
  [[nodiscard]] bool is_simulated() const;
  /// The system kept something back on a host.
  [[nodiscard]] bool was_refused() const;
  [[nodiscard]] std::size_t nic_count() const;
};

/// Looks at every host, and at the switches where the set has them.
[[nodiscard]] Observation observe(const HostSet& set);
/// The same; a failure where no host could be seen.
[[nodiscard]] Result<Observation> observe_some(const HostSet& set);
[[nodiscard]] Failure no_host_seen(const Observation& seen);

/// What a lab showed around its last load, where it had one; else what is there now.
[[nodiscard]] Result<std::vector<evidence::Evidence>> observe_last_load(const HostSet& set);

/// Hosts of bundles that the design knows by another name get their own back, and their addresses.
/// `key` is the secret that the bundles were made with; may be empty.
void restore_names(Observation& seen, const design::Intent& intent, const std::string& key);

/// The design at `path`; an empty path is the lab's own. REQUIRES: a path or a lab.
[[nodiscard]] Result<Fabric> fabric_for(const std::string& path, const HostSet& set);

}  // namespace weir::ops
