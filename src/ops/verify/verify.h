#pragma once
// Behaviour under load: look, run, look again, judge. A command of the user's, perftest between two
// hosts, a burst of many senders to one, or any load before, during and after a failure.
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/behaviour/burst.h"
#include "diagnose/behaviour/failure.h"
#include "diagnose/behaviour/load.h"
#include "diagnose/behaviour/totals.h"
#include "host/change/state_directory.h"
#include "host/probe/load_report.h"
#include "ops/source/hosts.h"
#include "ops/source/progress.h"

namespace weir::ops {

/// Who is watched, and against which design. A load may touch any host: all of a lab are watched,
/// and the first host of `source` starts it.
struct VerifyRequest {
  Source source;
  std::string design = {};  // empty: the lab's own
  finding::Thresholds thresholds = {};
  ProgressCallback progress = {};
  std::function<bool()> is_interrupted = {};  // then the load is ended
};

/// The load as it was driven.
struct Drive {
  std::vector<std::string> words;
  std::string ran_on;
  host::CommandOutcome outcome;
  bool sees_all_ends = false;            // every host that took part was watched
  std::vector<std::string> notes;        // what was chosen, and why
  std::vector<evidence::Evidence> idle;  // the window before it, where one was watched
};

/// One of the three runs around a failure.
struct Phase {
  std::string_view name;  // "before", "during", "after"
  Duration elapsed;
  std::optional<std::uint64_t> pauses;
  diagnose::FailurePhase result;
};

struct Verified {
  Drive drive;
  host::LoadReport load;
  diagnose::LoadJudgement judged;
  diagnose::Totals totals;  // of the run; around a failure of the one after it
  bool is_simulated = false;
  std::optional<diagnose::Burst> burst;  // of a burst
  std::string failure;                   // of a run around a failure: what failed
  std::vector<Phase> phases;             // … and its three runs

  [[nodiscard]] const finding::Judgement& judgement() const { return judged.judgement; }
  [[nodiscard]] bool is_failed() const { return drive.outcome.exit_status != 0; }
};

[[nodiscard]] Result<Verified> verify_load(const VerifyRequest& request,
                                           const std::vector<std::string>& command);

/// perftest to one host, or from many, over ssh.
struct RemoteRequest {
  std::vector<std::string> hosts;     // the server of a pair; the senders of a burst
  std::vector<std::string> ssh = {};  // instead of ssh
  std::vector<std::string> perftest = {"ib_write_bw", "-D", "5"};
  int rail = 0;              // of both ends
  std::string address = {};  // of the server; empty: the rail's
};

/// REQUIRES: one host. From this machine; in a lab from its first host.
[[nodiscard]] Result<Verified> verify_pair(const VerifyRequest& request,
                                           const RemoteRequest& remote);

/// In a lab the hosts (none: all of them) send by the simulator; on real hosts by ssh and perftest.
[[nodiscard]] Result<Verified> verify_burst(const VerifyRequest& request,
                                            const RemoteRequest& remote);

/// Every host of a fleet to the others (host_load.h: to 16 of them at most), on every rail, at the
/// same time. `perftest` is a bandwidth test. In a lab by the simulator.
[[nodiscard]] Result<Verified> verify_all_to_all(const VerifyRequest& request,
                                                 const std::vector<std::string>& perftest);

struct FailureRequest {
  std::string failure;       // in a lab "link=L", "host=H", "rail=N" or a fault; else a command
  std::string restore = {};  // the command that ends it; of a lab: nothing
  std::vector<std::string> command;           // the load; of a lab it may be empty: all-to-all
  std::string state = {};                     // where it is written down, as an apply is
  std::string tool = {};                      // who writes it: "weir 0.1.0"
  host::LockWait wait = {};                   // for another that changes the hosts
  std::function<bool()> is_interrupted = {};  // of around_command(); else the request's
};
/// However it ends, the failure is ended and the load with it; where the process is killed, a
/// rollback does that from what is written down. A failure (kLeft) where that did not work: it
/// stays written down, for a rollback and for the next boot.
[[nodiscard]] Result<Verified> verify_failure(const VerifyRequest& request,
                                              const FailureRequest& failure);

struct FailureAround {
  std::vector<Phase> phases;  // before, during, after
  finding::Judgement judgement;
};
/// The same around a load of the caller's, with a command that fails something and one that ends
/// it.
[[nodiscard]] Result<FailureAround> around_command(
    const FailureRequest& failure, const std::string& design,
    const std::function<Result<Phase>(std::string_view name)>& run);

// ---- parts, for tests ----

/// Evidence over the window of a load: facts as they are after it, both snapshots.
[[nodiscard]] std::vector<evidence::Evidence> window_of(
    const std::vector<evidence::Evidence>& before, const std::vector<evidence::Evidence>& after);

/// Pure. The evidence of `view` has both snapshots of each host and of the switches.
[[nodiscard]] Verified judge_drive(Drive drive, const diagnose::View& view);

/// "link=leaf1/swp9", "host=gpu03", "rail=1" (the NICs of that rail, of every host), or a fault of
/// the simulator: as the lab takes them. Empty for a rail that no host has.
[[nodiscard]] std::vector<std::string> faults_of(const std::string& what,
                                                 const design::Intent& intent);

/// What runs in a lab under that failure where nobody says: all-to-all, and not over a rail that is
/// down. Empty where no other rail is left.
[[nodiscard]] std::vector<std::string> load_under(const std::string& what,
                                                  const design::Intent& intent);

/// Why a command is no failure that RoCE notices; empty where it may be one.
[[nodiscard]] std::string why_no_failure(const std::string& command);

}  // namespace weir::ops
