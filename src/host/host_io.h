#pragma once
// The one seam between the verbs and a host: a real machine, a captured one, or a simulated one in
// a lab. Everything above it works on evidence and operations, and cannot tell which it is.
//
//   observe()   facts and one snapshot of the counters; what could not be read is in there as
//               missing, with the reason: an error means that nothing at all could be looked at
//   facts()     facts alone, of some devices, however long it takes: what a change is planned from
//               and read back with. observe() is for a person who waits, and gives up in time
//   snapshot()  the counters alone, cheap enough for an interval
//   perform()   one change, taken by the driver when it returns; the caller reads it back
//   remember()  everything that a change may touch, exactly as it is now, as one line of text that
//               restore() understands, in another process and on another day. Empty: the typed
//               value (as_found) is all there is, and performing that puts it back
//   restore()   what was remembered, where it differs; no other setting is touched
//   run()       a load: perftest, nccl-tests, any command
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "counters/snapshot.h"
#include "evidence/evidence.h"
#include "host/change/operation.h"

namespace weir::host {

/// Of a load under which hosts were lost (in a lab, by its faults): those, and whether all that the
/// others had to send to each other arrived.
struct Survivors {
  std::vector<std::string> lost;
  bool are_finished = false;
};

struct CommandOutcome {
  int exit_status = 0;
  std::string output;  // stdout, as the command printed it
  std::string errors;  // stderr
  Duration elapsed;
  bool timed_out = false;  // it was ended because its time was over
  std::optional<Survivors> survivors = {};
};

/// What the caller has to do with a load beside waiting for it.
struct LoadControl {
  std::function<bool()> is_interrupted = {};  // then the load and all it started is ended
  /// Told the load's process group before the load does anything; an error: it is not started.
  std::function<Status(std::int64_t group)> on_start = {};
  /// After this long the load and all it started is ended, and run() is an error. A lab's loads
  /// have limits of their own.
  std::optional<Duration> limit = {};
};

/// What facts() looks at.
struct Scope {
  std::vector<std::string> devices;
  bool with_machine = false;  // kernel, limits, sysctls, modules
};

class HostIo {
 public:
  HostIo() = default;
  HostIo(const HostIo&) = delete;
  HostIo& operator=(const HostIo&) = delete;
  virtual ~HostIo() = default;

  [[nodiscard]] virtual const std::string& name() const = 0;  // "gpu03"
  [[nodiscard]] virtual Result<evidence::Evidence> observe() = 0;
  [[nodiscard]] virtual Result<evidence::Evidence> facts(const Scope& /*scope*/) {
    return observe();
  }
  [[nodiscard]] virtual Result<counters::Snapshot> snapshot() = 0;
  [[nodiscard]] virtual Status perform(const Operation& operation) = 0;
  [[nodiscard]] virtual Result<std::string> remember(const Operation& /*operation*/) {
    return std::string();
  }
  [[nodiscard]] virtual Status restore(const std::string& /*device*/,
                                       const std::string& /*memory*/) {
    return Error{ErrorCode::kUnsupported, "this host remembers nothing of its own"};
  }
  [[nodiscard]] virtual Result<CommandOutcome> run(const std::vector<std::string>& command,
                                                   const LoadControl& control = {}) = 0;
};

}  // namespace weir::host
