#pragma once
// An apply on many hosts, in waves: a canary, then a batch, then the rest. A wave is kept only when
// every host of it was changed, can be reached again and shows no fault that was not there before;
// the first red flag ends it, and the wave is rolled back. Waves before it stay.
//
// Each host keeps its own journal and is changed by its own weir with a deadline armed there first
// (apply --confirm-within): whatever becomes of this process or of the network, every host is
// confirmed, or rolls itself back. What the waves did is also written down here, one JSON object
// per line, each on disk before the next step is begun.
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ops/change/apply.h"
#include "ops/change/plan.h"

namespace weir::ops {

struct WaveSizes {
  std::size_t canary = 1;
  std::size_t batch = 0;  // 0: a tenth of the hosts, at least one
};

enum class WaveHostState {
  kUntouched,     // the waves ended before it: nothing was sent to it
  kNothing,       // it is as designed: nothing was to be done
  kApplied,       // changed, and not confirmed yet
  kConfirmed,     // changed, and kept
  kRolledBack,    // put back
  kFailed,        // could not be changed; what was begun there was rolled back by its own weir
  kLost,          // no usable answer: rolled back by itself when its deadline is over
  kUndoneInPart,  // it says that some of its changes could not be undone: nobody tries again
};
[[nodiscard]] std::string_view state_text(WaveHostState state);

struct WaveHost {
  std::string host;
  WaveHostState state = WaveHostState::kUntouched;
  std::string detail = {};  // why, in one line
  std::size_t changes = 0;
  bool was_asked_to_keep = false;  // weir confirm was sent, whatever came back
  bool is_unheard = false;         // weir apply was sent and not waited for: it may still begin
};

struct Wave {
  std::string name;  // "canary", "batch", "rest"
  std::vector<WaveHost> hosts;
};

struct WaveRequest {
  PlanRequest planned;
  ApplyRequest apply;
  WaveSizes sizes;
};

struct Waves {
  std::vector<Wave> waves;
  std::string red_flag;  // why it was stopped; empty: it was not
  std::string journal;   // its file
  bool was_interrupted = false;
  bool is_simulated = false;

  [[nodiscard]] std::size_t count(WaveHostState state) const;
};

/// The hosts in waves, in their order. REQUIRES: a canary of one host or more.
[[nodiscard]] std::vector<Wave> plan_waves(const std::vector<std::string>& hosts, WaveSizes sizes);

/// What can be done with the hosts of a wave; of a fleet, or of a lab.
class WaveDriver {
 public:
  WaveDriver() = default;
  WaveDriver(const WaveDriver&) = delete;
  WaveDriver& operator=(const WaveDriver&) = delete;
  virtual ~WaveDriver() = default;
  /// Changes each of them; states as they are afterwards.
  virtual void apply(std::vector<WaveHost>& wave) = 0;
  /// Errors that are there now, "gpu03 mlx5_0: mtu.mismatch"; a host that cannot be read is kLost.
  [[nodiscard]] virtual std::vector<std::string> faults(std::vector<WaveHost>& wave) = 0;
  /// Keeps what was changed. Goes on after an interruption: a wave that passed is kept on every
  /// host of it, or on none.
  virtual void confirm(std::vector<WaveHost>& wave) = 0;
  /// Puts back what was changed and not confirmed. Goes on after an interruption.
  virtual void roll_back(std::vector<WaveHost>& wave) = 0;
};

using WaveEvent = std::function<weir::Status(std::string_view what, const Wave& wave)>;

/// The order of things, for any driver. `note` is called before each step; where that fails,
/// nothing more is begun and the wave is rolled back.
[[nodiscard]] Waves drive_waves(std::vector<Wave> waves, WaveDriver& driver,
                                const std::vector<std::string>& faults_before,
                                const std::function<bool()>& is_interrupted, const WaveEvent& note);

/// What would change: for a person to read before. Of a fleet every host is asked.
struct WavePlan {
  Plan plan;
  std::vector<std::string> lint;
};
[[nodiscard]] Result<WavePlan> plan_wave_apply(const WaveRequest& request);

/// Hosts that the plan could not see are not touched.
[[nodiscard]] Result<Waves> apply_in_waves(WavePlan planned, const WaveRequest& request);

// ---- parts ----

/// Faults of severity error, one text for each place.
[[nodiscard]] std::vector<std::string> error_texts(const std::vector<evidence::Evidence>& hosts,
                                                   const design::Intent& intent);

[[nodiscard]] Result<std::unique_ptr<WaveDriver>> make_fleet_driver(const WaveRequest& request,
                                                                    const Plan& plan);
[[nodiscard]] std::unique_ptr<WaveDriver> make_lab_driver(const WaveRequest& request,
                                                          const Plan& plan);

/// What weir apply --json printed on a host, and its status, as a state. Bounded and checked: a
/// host may print anything.
void read_apply_answer(int status, std::string_view output, std::string_view errors,
                       WaveHost& host);

/// One JSON object per line, each synced: "waves-20261118T092345Z.jsonl".
class WaveJournal {
 public:
  /// `directory` empty: /var/lib/weir for root, else ~/.local/state/weir.
  [[nodiscard]] static Result<WaveJournal> create(const std::string& directory,
                                                  const std::string& design);
  [[nodiscard]] weir::Status add(std::string_view what, const Wave& wave);
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  WaveJournal(std::string path, OwnedDescriptor file)
      : path_(std::move(path)), file_(std::move(file)) {}
  [[nodiscard]] weir::Status write(const std::string& line);
  std::string path_;
  OwnedDescriptor file_;
};

}  // namespace weir::ops
