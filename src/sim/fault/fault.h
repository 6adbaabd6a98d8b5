#pragma once
// Faults on demand: what is wrong, where, from when to when, and how badly.
//
//   slow-receiver,at=gpu03,rate=40G,from=100us
//
// One table names them all: `weir sim --list-faults`, docs/faults.md and the matrix test read it. A
// fault that a real host or switch would show in its configuration is an edit of the intent, so
// that the facts of the run show it too; what no configuration shows (a slow PCIe, a bad cable) is
// an edit of the network; what happens at a moment is a link change or an action between two slices
// of the run.
//
//   parse_fault()          text -> Fault: a typed variant, its values read once
//   resolve()              its places exist in this fabric
//   apply_to_intent()      before the network is made from the intent
//   apply_to_network()     before Sim::make(); gives the actions of the run
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "design/fabric/intent.h"
#include "sim/engine/sim.h"
#include "sim/fabric/network.h"
#include "sim/fabric/placement.h"

namespace weir::sim {

/// What `at` names: hosts ("gpu03", "gpu[01-04]", one rail: "gpu03/1" or "gpu03/mlx5_1"), switches
/// ("leaf1"), or links (a switch's port "leaf1/swp9", a pair of nodes "leaf1-spine1", a host's).
enum class FaultPlace : std::uint8_t { kHosts, kSwitches, kLinks };

enum class ValueKind : std::uint8_t {
  kRate,
  kBytes,
  kDuration,
  kShare,
  kNumber,
  kDscp,
  kTos,
  kPriority,
  kErrorRate,  // bit errors per bit: "1e-7"
  kName,       // of a class or a host
};

struct FaultParameter {
  std::string_view name;
  ValueKind kind = ValueKind::kNumber;
  std::string_view fallback;
  std::string_view help;
};

/// A counter that the fault must move, compared with the same run without it.
struct Sign {
  enum class Moves : std::uint8_t { kUp, kDown };
  enum class Scope : std::uint8_t {
    kPlace,     // of the NICs or switch ports at the place (link faults: at its ends)
    kAnywhere,  // summed over the fabric
    kLargest,   // of the port between switches that has most
  };
  enum class Classes : std::uint8_t { kAll, kRdma, kOthers };  // priorities, queues or groups
  std::string_view counter;                                    // catalogue id
  Moves moves = Moves::kUp;
  Scope scope = Scope::kPlace;
  Classes classes = Classes::kAll;
};

// ---- what is wrong, with its parameters: one type per way to be wrong

struct WrongTrust {};
struct WrongDscp {
  Dscp dscp;
};
struct WrongTrafficClass {
  std::optional<TosByte> tos;  // none: the class's DSCP itself
};
struct WrongNicMap {
  Priority priority;
};
struct WrongSwitchMap {
  std::optional<Dscp> dscp;  // none: the RDMA class's
  Priority priority;
};
struct SharedQueue {
  std::optional<Priority> priority;  // none: that of CNPs
};
struct TcpFallback {};
struct WrongMtu {
  Bytes mtu;
};
struct WrongPfcPriority {
  Priority priority;
};
struct PfcTooWide {};
struct HeadroomTooSmall {
  Share share;
};
struct PoolTooSmall {
  Share share;
};
struct NicPauseStorm {};
struct SlowReceiver {
  BitRate rate;
};
struct NpOff {};
struct RpOff {};
struct WrongEcnThresholds {
  Bytes min;
  Bytes max;
};
struct WrongRateIncrease {
  BitRate rate;
};
struct WrongAlphaPeriod {
  Duration period;
};
struct SameHashSeed {};
struct Reordering {};
struct RoutingLoop {
  std::string to;  // a host; empty: the first not below the switch
};
struct BounceRouting {};
struct LinkDown {
  Duration reroute;
};
struct SwitchDown {
  Duration reroute;
};
struct DegradedLink {
  double bit_error_rate = 0;  // report only: an edit of the network before the run
};
struct FewReceives {
  std::int32_t receives = 0;
  Duration repost;
};

using FaultKind =
    std::variant<WrongTrust, WrongDscp, WrongTrafficClass, WrongNicMap, WrongSwitchMap, SharedQueue,
                 TcpFallback, WrongMtu, WrongPfcPriority, PfcTooWide, HeadroomTooSmall,
                 PoolTooSmall, NicPauseStorm, SlowReceiver, NpOff, RpOff, WrongEcnThresholds,
                 WrongRateIncrease, WrongAlphaPeriod, SameHashSeed, Reordering, RoutingLoop,
                 BounceRouting, LinkDown, SwitchDown, DegradedLink, FewReceives>;

/// The values of a fault's parameters, each read once, as its ValueKind says.
class FaultValues {
 public:
  using Value = std::variant<std::monostate, BitRate, Bytes, Duration, Share, std::uint64_t,
                             double,  // report only: a bit error rate as written
                             std::string>;

  void set(std::string_view name, Value value) {
    values_.insert_or_assign(std::string(name), std::move(value));
  }
  [[nodiscard]] bool is_given(std::string_view name) const {
    return !std::holds_alternative<std::monostate>(values_.find(name)->second);
  }
  /// REQUIRES: the table has it, with a default or a value.
  template <class T>
  [[nodiscard]] const T& get(std::string_view name) const {
    return std::get<T>(values_.find(name)->second);
  }
  /// Of the numbers that are codes: Dscp, TosByte, Priority.
  template <class Code>
  [[nodiscard]] Code code(std::string_view name) const {
    return Code::of(static_cast<unsigned>(get<std::uint64_t>(name)));
  }
  template <class Code>
  [[nodiscard]] std::optional<Code> find_code(std::string_view name) const {
    if (!is_given(name)) return std::nullopt;
    return code<Code>(name);
  }

 private:
  std::map<std::string, Value, std::less<>> values_;
};

struct FaultType {
  std::string_view name;
  std::string_view summary;  // half a line
  FaultPlace place = FaultPlace::kHosts;
  bool needs_place = true;  // else: everywhere, unless `at` says where
  bool is_timed = false;    // takes `from` and `until`; else it holds for the whole run
  FaultKind (*make)(const FaultValues& values) = nullptr;
  std::vector<FaultParameter> parameters = {};
  std::vector<Sign> signs = {};  // at least one of them, under any load that congests
  std::vector<std::string_view> findings = {};  // ids that name this fault rightly
  /// Whether the exam draws it unasked. What came later would change every seed of the exam.
  bool is_drawn = true;
};

/// All of them, in the order of their names.
[[nodiscard]] std::span<const FaultType> fault_types();
[[nodiscard]] const FaultType* find_fault(std::string_view name);

struct Fault {
  const FaultType* type = nullptr;
  std::string text;             // as the user wrote it
  std::vector<std::string> at;  // names, patterns expanded; empty: everywhere
  Time from;
  Time until = Time::never();
  FaultKind kind;

  [[nodiscard]] bool is_whole_run() const { return from == Time() && until == Time::never(); }
};

/// "name[,key=value…]". The error names the piece that is wrong, what may stand there, and what was
/// probably meant.
[[nodiscard]] Result<Fault> parse_fault(std::string_view text);

/// Where a fault sits in a fabric.
struct FaultSite {
  std::vector<NicRef> nics;
  std::vector<std::uint32_t> switches;  // of Intent::switches
  std::vector<LinkId> links;            // of Intent::links, which are the network's
};
[[nodiscard]] Result<FaultSite> resolve(const Fault& fault, const design::Intent& intent);

/// What changes in a running simulation, and when.
struct DrainChange {
  NodeId nic{0};
  BitRate drain;
};
struct CongestionControlChange {
  NodeId nic{0};
  bool np = true;
  bool rp = true;
};
struct ErrorChange {
  LinkId link{0};
  std::uint64_t threshold = 0;
};
struct FaultAction {
  Time at;
  std::variant<DrainChange, CongestionControlChange, ErrorChange> change;
};
void act(Sim& sim, const FaultAction& action);

[[nodiscard]] Status apply_to_intent(const Fault& fault, design::Intent& intent);

/// Adds its actions to `actions`, which stay in the order of time.
[[nodiscard]] Status apply_to_network(const Fault& fault, const design::Intent& intent,
                                      const Placement& placement, Network& network,
                                      std::vector<FaultAction>& actions);

/// `weir sim --list-faults`: a table of names, places, parameters with their defaults, and effects.
[[nodiscard]] std::string fault_list(std::size_t width);

}  // namespace weir::sim
