#pragma once
// The lab: a simulated fabric behind the host interfaces, kept in a directory, so that every verb
// runs without hardware.
//
//   design.yaml   the design as it was when the lab was made
//   state.json    everything else: settings of every NIC that are not the factory's, switches,
//                 faults, counters, the clock, the last load's curves
//   lock          held while a verb changes the lab
//   journal/      what weir apply changed on the hosts, for weir rollback
//
// Hosts are reached through HostIo as real ones are: facts and counters come out, operations go in,
// and a load runs in the simulator on the fabric *as it is set now*. What a load counted is added
// to the counters and the clock moves on. Everything said by a lab is marked as simulated.
//
// The state is one file, replaced as a whole: a verb that is killed leaves the lab before or after
// its change, never between. Readers need no lock; two that change take turns.
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
  bool factory_hosts = true;      // NICs begin as shipped; else as designed
  bool factory_switches = false;  // switches too
  std::uint64_t seed = 1;
};

/// How an application marks its traffic, where the port does not force a traffic class.
struct Job {
  std::optional<TosByte> tos;     // none: what the design sets for NCCL
  bool uses_cm = false;           // connects through RDMA-CM: the port's default, unless `tos`
  std::optional<unsigned> level;  // service level; none: what the design sets for NCCL
};

/// What runs, and for how long at most.
struct Load {
  std::string command;  // as a person wrote it: kept with the results
  std::vector<sim::WorkloadSpec> workloads;
  Duration limit = 100_ms;  // simulated: a fault may keep flows from ever finishing
  Job job;
  std::optional<Bytes> path_mtu;  // what the ends agreed on; none: each NIC its own
};

struct LoadOutcome {
  sim::Totals totals;
  std::vector<sim::WorkloadResult> workloads;
  std::vector<sim::FlowOutcome> flows;
  std::vector<Duration> deliveries;  // by flow: posted to last byte there; of finished ones
  std::vector<std::string> notes;    // what of the fabric is not simulated
  Duration elapsed;
  bool is_finished = false;
};

/// A fault that is in the lab now.
struct ActiveFault {
  std::string text;                   // as it was added: "wrong-trust,at=gpu03"
  bool is_setting = false;            // sits in settings: setting all of them right removes it
  std::vector<std::string> switches;  // whose settings have it now
};

struct LabStatus {
  std::size_t hosts = 0;
  std::size_t nics = 0;
  std::size_t switches = 0;
  std::size_t factory_nics = 0;  // nobody has changed anything on them
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
  /// Not a lab, broken, or made by a newer Weir: an error that says which and what to do.
  [[nodiscard]] static Result<Lab> open(const std::string& dir);
  /// Removes the lab's own files, and the directory where nothing else is in it.
  [[nodiscard]] static Status remove(const std::string& dir);

  [[nodiscard]] const std::string& directory() const;
  [[nodiscard]] const design::Design& design() const;
  /// As designed: what the hosts and switches ought to be.
  [[nodiscard]] const design::Intent& intent() const;
  [[nodiscard]] LabStatus status() const;

  [[nodiscard]] std::vector<std::string> host_names() const;
  /// May outlive this Lab. The error names the nearest host.
  [[nodiscard]] Result<std::unique_ptr<host::HostIo>> host(std::string_view name) const;
  /// All switches as they are set, with one snapshot of their counters.
  [[nodiscard]] Result<evidence::Evidence> observe_switches() const;

  /// On the fabric as it is now. The error names what does not fit it.
  [[nodiscard]] Result<LoadOutcome> run_load(const Load& load);
  [[nodiscard]] std::optional<RunRecord> last_run() const;
  /// The hosts, then all switches in one: facts as they are now, counters at the start and at the
  /// end of the last load. Empty where none has run.
  [[nodiscard]] Result<std::vector<evidence::Evidence>> observe_last_run() const;
  /// Of loads, those that a HostIo runs too: the share that is done, 0 to 1.
  void on_progress(std::function<void(double)> progress);  // report only

  /// Changes from here on are written once, by commit(), so that a thousand hosts are set up in
  /// seconds. Others wait meanwhile; a verb killed before commit() leaves the lab as it was.
  [[nodiscard]] Status begin();
  [[nodiscard]] Status commit();

  [[nodiscard]] std::vector<ActiveFault> faults() const;
  /// "name[,key=value…]" as for `weir sim --fault`; its times count from the start of each load. A
  /// fault that would change nothing is an error.
  [[nodiscard]] Status add_fault(const std::string& text);
  /// By its text or by its name alone. What a fault set on NICs goes back to what it was, unless
  /// somebody has set it anew. Gives how many were cleared; none is an error.
  [[nodiscard]] Result<std::size_t> clear_fault(const std::string& text);
  [[nodiscard]] Result<std::size_t> clear_all_faults();

  /// "vendor", "roce-balanced", "roce-aggressive"; of a switch as shipped "factory", of one with a
  /// configuration of its own "loaded".
  [[nodiscard]] Result<std::string> buffer_profile(std::string_view switch_name) const;
  [[nodiscard]] Status set_buffer_profile(std::string_view switch_name, std::string_view profile);
  /// A configuration takes effect on the switch that it names; what it does not say stays as
  /// designed. An error where the switch could not run it.
  [[nodiscard]] Status load_switch(const evidence::Switch& configuration);
  /// As shipped, or as designed: every setting of the switch is written anew, so that no fault is
  /// left in them.
  [[nodiscard]] Status set_factory(std::string_view switch_name, bool is_factory);

  struct Shared;  // what this and its hosts work on

 private:
  explicit Lab(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  std::shared_ptr<Shared> shared_;
};

}  // namespace weir::lab
