#pragma once
// The lab: a simulated fabric behind the host interfaces, kept in a directory, so that every verb
// runs without hardware.
//
//   design.yaml   the design as it was when the lab was made
//   state.json    everything else: settings of every NIC that differ from the factory defaults,
//                 switches, faults, counters, the clock, the last load's curves
//   lock          held while a verb changes the lab
//   journal/      what weir apply changed on the hosts, for weir rollback
//
// Hosts are reached through HostIo as real ones are: facts and counters come out, operations go in,
// and a load runs in the simulator on the fabric *as it is set now*. What a load counted is added
// to the counters and the clock moves on. Everything a lab reports is marked as simulated.
//
// The state is one file, replaced as a whole: a verb that is killed leaves the lab as it was before
// or after its change. Readers need no lock; writers take turns.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "design/fabric/intent.h"
#include "design/file/fabric.h"
#include "evidence/evidence.h"
#include "host/host_io.h"
#include "lab/fabric/run_record.h"
#include "sim/results/results.h"
#include "sim/workload/workload.h"

namespace weir::lab {

struct CreateOptions {
  bool factory_hosts = true;      // NICs start as shipped; otherwise as designed
  bool factory_switches = false;  // switches too
  std::uint64_t seed = 1;
};

/// How an application marks its traffic if the port does not force a traffic class.
struct Job {
  std::optional<TosByte> tos;     // none: what the design sets for NCCL
  bool uses_cm = false;           // connects through RDMA-CM: the port's default, unless `tos`
  std::optional<unsigned> level;  // service level; none: what the design sets for NCCL
};

/// What runs, and for how long at most.
struct Load {
  std::string command;  // as typed; kept with the results
  std::vector<sim::WorkloadSpec> workloads;
  Duration limit = 100_ms;  // simulated: with some faults flows never finish
  Job job;
  std::optional<Bytes> path_mtu;  // as negotiated by both ends; none: each NIC its own
};

struct LoadOutcome {
  sim::Totals totals;
  std::vector<sim::WorkloadResult> workloads;
  std::vector<sim::Flow> flows;
  /// Hosts (of the intent) at both ends of each flow.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
  std::vector<Duration> deliveries;  // per finished flow: from the post to the last byte delivered
  std::vector<std::string> notes;    // parts of the fabric that are not simulated
  Duration elapsed;
  bool is_finished = false;
};

/// A fault that is active in the lab.
struct ActiveFault {
  std::string text;                   // as it was added: "wrong-trust,at=gpu03"
  bool is_setting = false;            // made of wrong settings: correcting them all removes it
  std::vector<std::string> switches;  // whose settings have it now
};

struct LabStatus {
  std::size_t hosts = 0;
  std::size_t nics = 0;
  std::size_t switches = 0;
  std::size_t factory_nics = 0;  // unchanged since they were shipped
  std::size_t factory_switches = 0;
  std::uint64_t seed = 1;
  std::uint64_t loads = 0;  // run so far
  Duration clock;           // simulated time since it was made
  std::vector<ActiveFault> faults;
};

class Lab {
 public:
  /// Makes `dir` a lab of the design in `design_file`. Refuses a directory that is a lab already,
  /// or that holds anything else; a design with errors is refused with all of them.
  [[nodiscard]] static Result<Lab> create(const std::string& dir, const std::string& design_file,
                                          const CreateOptions& options = {});
  /// An error if `dir` is not a lab, is damaged, or was made by a newer Weir; it says what to do.
  [[nodiscard]] static Result<Lab> open(const std::string& dir);
  /// Reads the state again, which another Lab or process may have changed. REQUIRES: not between
  /// begin() and commit().
  [[nodiscard]] Status refresh();
  /// Removes the lab's own files, and the directory if nothing else is in it.
  [[nodiscard]] static Status remove(const std::string& dir);

  [[nodiscard]] const std::string& directory() const;
  [[nodiscard]] const design::Design& design() const;
  /// As designed.
  [[nodiscard]] const design::Intent& intent() const;
  [[nodiscard]] LabStatus status() const;

  [[nodiscard]] std::vector<std::string> host_names() const;
  /// May outlive this Lab. The error suggests the host with the nearest name.
  [[nodiscard]] Result<std::unique_ptr<host::HostIo>> host(std::string_view name) const;
  /// All switches as they are set, with one snapshot of their counters.
  [[nodiscard]] Result<evidence::Evidence> observe_switches() const;

  /// On the fabric as it is now. The error says what does not fit it.
  [[nodiscard]] Result<LoadOutcome> run_load(const Load& load);
  [[nodiscard]] std::optional<RunRecord> last_run() const;
  /// A setting, a switch or a fault is not as it was when that load ended.
  [[nodiscard]] bool was_changed_since_last_run() const;
  /// One item per host, then one for all switches: facts as they are now, counters at the start and
  /// at the end of the last load. Empty if none has run.
  [[nodiscard]] Result<std::vector<evidence::Evidence>> observe_last_run() const;
  /// Called during loads (those run through a HostIo too) with the share that is done, 0 to 1.
  void on_progress(std::function<void(double)> progress);  // report only

  /// Changes after begin() are written once, by commit(), so that a thousand hosts are set up in
  /// seconds. Other writers wait; a verb killed before commit() leaves the lab as it was.
  [[nodiscard]] Status begin();
  [[nodiscard]] Status commit();

  [[nodiscard]] std::vector<ActiveFault> faults() const;
  /// "name[,key=value…]" as for `weir sim --fault`; its times count from the start of each load. A
  /// fault that would change nothing is an error.
  [[nodiscard]] Status add_fault(const std::string& text);
  /// By its text or only its name. Settings that a fault changed on NICs are restored, unless they
  /// were changed again since. Returns how many faults were cleared; none is an error.
  [[nodiscard]] Result<std::size_t> clear_fault(const std::string& text);
  [[nodiscard]] Result<std::size_t> clear_all_faults();

  /// "vendor", "roce-balanced", "roce-aggressive"; "factory" for a switch as shipped, "loaded" for
  /// one with a loaded configuration.
  [[nodiscard]] Result<std::string> buffer_profile(std::string_view switch_name) const;
  [[nodiscard]] Status set_buffer_profile(std::string_view switch_name, std::string_view profile);
  /// Loads a configuration into the switch that it names; what it does not set is as designed. An
  /// error if the switch could not run it.
  [[nodiscard]] Status load_switch(const evidence::Switch& configuration);
  /// Resets every setting of the switch, as shipped or as designed; no fault is left in them.
  [[nodiscard]] Status set_factory(std::string_view switch_name, bool is_factory);

  struct Shared;  // shared with the hosts handed out

 private:
  explicit Lab(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  std::shared_ptr<Shared> shared_;
};

}  // namespace weir::lab
