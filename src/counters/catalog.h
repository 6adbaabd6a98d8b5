#pragma once
// The counter catalogue: one id for one meaning, whatever the driver calls it.
//
// Three NIC places hold counters (`hw_counters/`, `counters/`, `ethtool -S`), each driver spells
// its own names, and the same spelling can mean different things in two places. Everything above
// this layer uses ids; this layer knows which raw name carries which id, how wide the number
// is, whether it wraps or sticks at its maximum, and in which unit it counts.
//
//   id        dotted, scope first, unit last: `nic.np.cnp_sent.packets`. Never changes its meaning.
//   raw name  what the driver or switch prints, `#` for a number: `rx_prio#_pause`.
//   alias     what people and documents write for it, with a note on the real name.
//
// The tables are constants; the index over them is built at the first lookup. No lookup allocates,
// except resolve(), which writes sentences.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vocab/nic_drivers.h"

namespace weir::counters {

enum class Kind : std::uint8_t {
  kCounter,  // only grows: deltas mean something
  kGauge,    // a level: the reading itself means something
  kSetting,  // a knob that happens to sit among the counters (`lifespan`)
};

enum class Unit : std::uint8_t {
  kPackets,
  kFrames,
  kBytes,
  kWords,  // 4-byte words, InfiniBand's unit of data
  kBits,
  kBlocks,
  kSymbols,
  kRequests,
  kEvents,
  kMicroseconds,
  kMilliseconds,
  kTicks,
  kPercent,
  kObjects,
};

/// What a counter is about; the diagnosis and the screens group by it.
enum class Topic : std::uint8_t {
  kTraffic,
  kLoss,
  kCongestion,
  kRnr,    // receiver not ready: caused by the application
  kError,  // a work request failed
  kFatal,  // a queue pair died
  kPfc,
  kPause,  // 802.3x: the whole port
  kPhy,
  kPcie,
  kBuffer,
  kOptics,
  kSoftware,  // the kernel's network device: no RDMA passes through it
  kUtilisation,
};

/// Whose view the counter is.
enum class Side : std::uint8_t {
  kRequester,  // the sender of data
  kResponder,  // the receiver of data
  kNotifier,   // DCQCN's notification point: the receiver
  kReactor,    // DCQCN's reaction point: the sender
  kNicPort,    // the physical port, all functions on it
  kHostSide,
  kSwitchSide,
};

/// What the number in a raw name counts.
enum class Per : std::uint8_t { kNothing, kPriority, kCos, kQueue, kGroup, kLane, kRing };

using vocab::Driver;
using vocab::driver_of;
using vocab::to_text;

enum class Place : std::uint8_t {
  kHwCounters,  // /sys/class/infiniband/<device>/ports/<port>/hw_counters/
  kCounters,    // /sys/class/infiniband/<device>/ports/<port>/counters/
  kEthtool,     // ethtool -S <netdev>
  kStatistics,  // /sys/class/net/<netdev>/statistics/
  kNet,         // /sys/class/net/<netdev>/
  kDcb,         // DCB netlink, as `dcb -s pfc show` prints it
  kHost,        // the machine around the NIC
  kSwitch,      // our own names, see Driver::kSwitch
  kShow,        // a switch's show output
};

/// What a number does at the end of its width.
enum class Overflow : std::uint8_t { kWraps, kSaturates };

/// How the entry is known.
enum class Trust : std::uint8_t {
  kVerified,    // read from the driver's source, or seen on a running host
  kDocumented,  // a vendor's document only
  kUnverified,  // an inference, to be confirmed on hardware
};

/// In the order of Unit, as they are printed. The last word of a counter's id is its unit.
inline constexpr std::array<std::string_view, 14> kUnitWords = {
    "packets",  "frames", "bytes",        "4-byte words", "bits",  "blocks",  "symbols",
    "requests", "events", "microseconds", "milliseconds", "ticks", "percent", "objects"};
[[nodiscard]] constexpr Unit unit_of_id(std::string_view id) {
  const std::string_view word = id.substr(id.rfind('.') + 1);
  for (std::size_t i = 0; i < kUnitWords.size(); ++i)
    if (kUnitWords[i] == word) return static_cast<Unit>(i);
  return Unit::kEvents;
}

struct Counter {
  std::string_view id = {};
  Kind kind = Kind::kCounter;
  Unit unit = unit_of_id(id);
  Topic topic = Topic::kTraffic;
  Side side = Side::kNicPort;
  Per per = Per::kNothing;
  std::string_view meaning = {};   // one or two sentences
  std::string_view normal = {};    // what a healthy fabric shows
  std::string_view climbing = {};  // what growth means, and where to look
  std::string_view caveat = {};    // what it is often mistaken for; may be empty
  std::string_view rows = {};      // mission rows, separated by blanks
};

struct RawName {
  Driver driver = Driver::kAny;
  Place place = Place::kHwCounters;
  std::string_view pattern = {};  // the raw name; one `#` stands for a number
  std::string_view id = {};
  std::uint8_t bits = 64;
  Overflow overflow = Overflow::kWraps;
  std::uint8_t scale = 1;         // raw value * scale = value in the counter's unit
  std::optional<Unit> unit = {};  // of the raw value, where it is not the counter's
  Trust trust = Trust::kVerified;
  bool maximum_is_invalid = false;  // all ones mean "no value" (ionic)
  std::string_view condition = {};  // when the name exists; empty = always
  std::string_view note = {};       // which stack or release spells it so, and the like
};

[[nodiscard]] std::string_view to_text(Kind);
[[nodiscard]] std::string_view to_text(Unit);
[[nodiscard]] std::string_view to_text(Topic);
[[nodiscard]] std::string_view to_text(Side);
[[nodiscard]] std::string_view to_text(Per);
[[nodiscard]] std::string_view to_text(Place);  // the prefix of a key: "hw_counters" "ethtool" …

[[nodiscard]] std::optional<Place> place_of(std::string_view prefix);

/// All counters, sorted by id.
[[nodiscard]] std::span<const Counter> catalog();

/// By id; nullptr when there is none.
[[nodiscard]] const Counter* find(std::string_view id);

/// Every raw name of a counter, drivers in the order of the enumeration.
[[nodiscard]] std::span<const RawName> names_of(const Counter& counter);

/// The name under which `driver` shows a counter: one that is always there before one that depends
/// on a condition, the driver's own before the kernel's; nullptr where it shows none.
[[nodiscard]] const RawName* name_for(const Counter& counter, Driver driver);

/// The raw name with its number in place: ("rx_prio#_pause", 3) is "rx_prio3_pause".
[[nodiscard]] std::string spell(const RawName& name, unsigned number);

struct Match {
  const Counter* counter = nullptr;
  const RawName* name = nullptr;
  std::optional<unsigned> number;  // the priority, queue, lane … in the raw name

  explicit operator bool() const { return counter != nullptr; }
};

/// The unit of the raw value. REQUIRES: a match by raw name.
[[nodiscard]] Unit unit_of(const Match& match);

/// The counter behind a raw name in a place. Falls back to what every driver has.
[[nodiscard]] Match find_raw(Driver driver, Place place, std::string_view raw);

/// The same from a key, "hw_counters/np_cnp_sent".
[[nodiscard]] Match find_key(Driver driver, std::string_view key);

/// Every counter with this raw name, in any driver and place; mlx5 first.
[[nodiscard]] std::vector<Match> find_anywhere(std::string_view raw);

/// What a printed name means.
struct Resolution {
  std::string printed;
  Match match;                         // `name` is nullptr where an id or an alias was printed
  std::string word;                    // on the real name; empty when the printed one is it
  std::vector<const Counter*> others;  // further counters the printed name may stand for
};

/// Resolves an id, a key, a raw name of any driver, an exporter's metric, or a name as documents
/// print it ("tx_prio_3_bytes", "ECN marks/sec"). Nullopt when nothing is near.
[[nodiscard]] std::optional<Resolution> resolve(std::string_view printed);

/// Ids and raw names, for "did you mean".
[[nodiscard]] std::vector<std::string> every_name();

}  // namespace weir::counters
