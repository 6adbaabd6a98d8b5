#pragma once
// Many machines at once, each behind HostIo. Whoever has a list of names and a way to them
// (reach.h) gets hosts that are looked at like any other; what they cost is bounded whatever they
// answer.
//
// Contract
//   - Every call on a host is one connection: observe(), facts() and snapshot() each bring one
//     bundle (`weir bundle` there; else the pushed binary; else a shell alone) and read it here;
//     run() runs one load there, and ends it where its connection ends first (probe/load_mark.h).
//     perform(), remember() and restore() are errors: a host is
//     changed by its own weir (run_weir()), whose journal and deadline live on that host.
//   - Calls on different hosts may come from different threads, `limits.fanout` of them make sense;
//     calls on one host must not overlap.
//   - A call ends after limits.host_time, and all of them when limits.budget is over: whatever is
//     asked after that is an error at once. Time counts from make_fleet().
//   - ssh: a TCP connection is tried first (limits.probe_time), so that a dead host costs two
//     seconds and no login. At most limits.logins_per_door logins are in progress at one sshd, be
//     it a jump host or a name that many share; one that turns us away there (MaxStartups) is tried
//     again, later each time, within the host's time. What may change a host (run(), run_weir()) is
//     sent again only where the other end was gone before the session began. No other failure is
//     tried again.
//   - A host may print anything: more than limits.most_output, escape sequences, half a bundle, the
//     name of another host. Each is an error of that host alone, with a reason on one printable
//     line. The evidence bears the name in the fleet, not the one that the host gives itself.
//   - A name in the fleet is one of base/hosts/host_set.h; the names are unique.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/fleet/reach.h"
#include "host/host_io.h"
#include "units/quantity.h"

namespace weir::host {

struct FleetLimits {
  unsigned fanout = 64;
  unsigned logins_per_door = 8;
  Duration host_time = 30_s;
  Duration budget = 300_s;
  Duration probe_time = 2_s;
  std::size_t most_output = std::size_t{8} << 20U;  // of one host; a bundle is about 150 kB
  std::function<bool()> is_interrupted = {};
};

/// What all hosts of a fleet share; they keep it alive.
class Fleet;

/// A host of a fleet, for what HostIo has no words for.
class FleetMember : public HostIo {
 public:
  /// `words` by weir on the host, `input` on its standard input; the time limit is of this call. An
  /// error where the host was not reached or printed too much; a status of weir is an outcome.
  [[nodiscard]] virtual Result<CommandOutcome> run_weir(const std::vector<std::string>& words,
                                                        const std::string& input,
                                                        Duration limit) = 0;
  /// The bundle that observe() would read.
  [[nodiscard]] virtual Result<std::string> fetch_bundle() = 0;
};

/// One per host, in the order given. An error where the way is not one (check_reach()).
[[nodiscard]] Result<std::vector<std::unique_ptr<FleetMember>>> make_fleet(
    const std::vector<FleetHost>& hosts, Reach reach, FleetLimits limits);

/// Whether a TCP port answers within the time; an error says what happened instead, without the
/// address: hosts with the same trouble are then one line.
[[nodiscard]] Status probe_tcp(const std::string& address, unsigned port, Duration limit);

}  // namespace weir::host
