#pragma once
// perftest on many hosts at once: one shell line per host starts its servers and its clients, waits
// for them and prints what each said. One connection per host and load, whichever way it is
// reached; no clock is shared: a client tries until its server listens. For `verify` and
// `preflight`.
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/host_io.h"
#include "ops/source/failure.h"
#include "ops/source/hosts.h"
#include "ops/verify/load_looks.h"
#include "ops/verify/perftest.h"

namespace weir::ops {

/// One program, from a NIC of a host to one of another, or of its own.
struct Flow {
  std::uint32_t from = 0;  // hosts of the design
  std::uint32_t to = 0;
  std::uint32_t rail = 0;
  PairTest test;  // without its port
};

/// What became of it.
struct FlowOutcome {
  int client_status = 0;
  int server_status = 0;
  std::string client;  // what it printed on both streams
  std::string server;

  [[nodiscard]] bool is_done() const { return client_status == 0; }
};

/// Bits per second by the client's own report; 0: it failed, or printed none.
[[nodiscard]] double flow_rate(const FlowOutcome& outcome);
/// "gpu01 to gpu02, rail 0: Couldn't connect": why a flow failed.
[[nodiscard]] std::string failure_text(const std::string& from, const std::string& to,
                                       const Flow& flow, const FlowOutcome& outcome);

/// A host of a load, by its number.
struct FlowHost {
  std::uint32_t number = 0;
  const design::HostIntent* intent = nullptr;
};
/// `words` from one to the other, on every rail that both have, or on the first `most`.
void add_flows(const FlowHost& from, const FlowHost& to, const std::vector<std::string>& words,
               std::vector<Flow>& flows, std::size_t most = 64);

/// Who sends to whom in an all-to-all: every host to all others, or to kMostPeers of them at
/// distances spread over all, since each is a process at both ends.
inline constexpr std::uint32_t kMostPeers = 16;
[[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> all_to_all_pairs(
    std::uint32_t hosts);

/// A fleet for hours of loads: all hosts of one at the same time.
[[nodiscard]] Source source_for_loads(Source source);

/// What one host has to start.
struct HostTask {
  bool is_server = false;
  std::vector<std::string> words;
};
/// The line for it; `limit_seconds` ends a task that hangs. Its directory bears the mark of the
/// load where it has one (host/probe/load_mark.h). The NICs are looked at while it runs.
[[nodiscard]] std::string load_line(const std::vector<HostTask>& tasks, std::int64_t limit_seconds,
                                    const LookPlan& looks = {});

inline constexpr int kDidNotSay = -1;
struct TaskOutcome {
  int status = kDidNotSay;
  std::string text;
};
/// What load_line() printed: one per task. A host may print anything.
[[nodiscard]] std::vector<TaskOutcome> read_load_output(std::string_view output, std::size_t tasks);

/// The hosts of a load, by their number in the design; null: not reached.
using LoadHosts = std::map<std::uint32_t, host::HostIo*>;

/// Counters of the NICs of a load, while it runs.
struct LoadLooks {
  When when = When::kThroughout;
  /// A NIC as it is read there; nothing: it is not looked at.
  std::function<std::optional<LookedNic>(std::uint32_t host, std::uint32_t rail)> nic;
  /// What was seen of each, by host and rail.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<preflight::Look>> seen = {};
};

/// `ends(host, rail)` chooses the device, GID and address; an error names what is missing. All
/// flows run at the same time. An error (kInterrupted too) where a host could not be reached at
/// all, or has no perftest; flows that fail are outcomes.
[[nodiscard]] Result<std::vector<FlowOutcome>> run_flows(
    const LoadHosts& hosts, const std::vector<Flow>& flows,
    const std::function<weir::Result<PairEnd>(std::uint32_t host, std::uint32_t rail)>& ends,
    const std::function<bool()>& is_interrupted, LoadLooks* looks = nullptr);

}  // namespace weir::ops
