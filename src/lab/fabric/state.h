#pragma once
// The state of a lab, and its file.
//
// state.json names the schema and the design it belongs to. It contains only settings that differ
// from the factory defaults and counters that are not zero, so that a lab of a thousand hosts stays
// small. Reading is strict: a state is understood completely or refused.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "counters/snapshot.h"
#include "design/fabric/intent.h"
#include "design/file/fabric.h"
#include "evidence/evidence.h"
#include "lab/fabric/nic_settings.h"
#include "lab/fabric/run_record.h"
#include "sim/fabric/placement.h"

namespace weir::lab {

/// The design of a lab, as it was when the lab was made. Never changes.
struct Blueprint {
  std::string directory;
  std::string digest;  // of the design's text
  design::Design design;
  design::Intent intent;

  [[nodiscard]] NicPlatform platform(std::uint32_t host) const {
    return {intent.hosts[host].nic_model, intent.hosts[host].stack};
  }
};

struct SwitchState {
  bool is_factory = false;
  std::optional<std::string> profile;  // of buffers; none: as designed
  /// A loaded configuration; what it does not set is as designed.
  std::optional<evidence::Switch> loaded;
  friend bool operator==(const SwitchState&, const SwitchState&) = default;
};

/// What a fault changed in a setting of a NIC, so that it can be undone.
struct SettingChange {
  sim::NicRef nic;
  std::string key;
  std::string before;  // JSON
  std::string after;
};

struct FaultRecord {
  std::string text;
  bool is_setting = false;              // of NICs or switches: correcting it repairs the fault
  std::vector<SettingChange> changes;   // on NICs
  std::vector<std::uint32_t> switches;  // whose settings still have it
};

/// Counters since the lab was made: by port ("gpu01/mlx5_0", "leaf1/swp3"), then by raw key.
class CounterBank {
 public:
  using Values = std::map<std::string, std::uint64_t, std::less<>>;

  /// Adds the counters of a run. Gauges are replaced; maxima are kept.
  void add(const std::string& port, const counters::PortCounters& run);
  void add(const std::string& port, const std::string& key, std::uint64_t amount);
  /// The port with the counts so far added to each reading, wrapped or clamped at its width.
  [[nodiscard]] counters::PortCounters total(const std::string& port,
                                             const counters::PortCounters& now) const;

  [[nodiscard]] const std::map<std::string, Values, std::less<>>& ports() const { return ports_; }

 private:
  std::map<std::string, Values, std::less<>> ports_;
};

struct State {
  std::uint64_t seed = 1;
  std::uint64_t changes = 0;  // how often it has been changed
  Duration clock;
  std::uint64_t loads = 0;
  std::vector<std::vector<NicSettings>> nics;  // by host and rail
  std::vector<SwitchState> switches;
  std::vector<FaultRecord> faults;
  CounterBank counters;
  CounterBank counters_before;  // at the start of the last load
  std::optional<RunRecord> last_run;
};

[[nodiscard]] State new_state(const Blueprint& blueprint, bool factory_switches,
                              std::uint64_t seed);

[[nodiscard]] std::string nic_key(const Blueprint& blueprint, const sim::NicRef& nic);
[[nodiscard]] std::string port_key(std::string_view switch_name, std::string_view port);

/// Reads the design of a lab (an existing one, or one to be created) and derives its intent.
[[nodiscard]] Result<Blueprint> load_blueprint(const std::string& dir,
                                               const std::string& design_file);

[[nodiscard]] std::string state_file(const std::string& dir);
[[nodiscard]] std::string design_file(const std::string& dir);

[[nodiscard]] Result<State> read_state(const Blueprint& blueprint);
[[nodiscard]] Status write_state(const Blueprint& blueprint, const State& state);

/// Held while a lab is changed; take() waits, five minutes at most: a load is simulated under it.
/// The kernel releases it when the process ends, killed or not.
class Lock {
 public:
  [[nodiscard]] static Result<Lock> take(const std::string& dir);
  Lock(Lock&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Lock& operator=(Lock&&) = delete;
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock();

 private:
  explicit Lock(int fd) : fd_(fd) {}
  int fd_;
};

/// The state file says that it is one.
[[nodiscard]] bool is_lab_state(const std::string& dir);

/// Removes the files of the lab and temporary files of killed verbs; nothing else.
[[nodiscard]] Status remove_files(const std::string& dir);

}  // namespace weir::lab
