#pragma once
// A simulation at rest: nothing moves, and all that will happen is that messages posted for later
// begin. Two such instants that look alike are followed by the same, later by a constant, so that
// what lies between them can be repeated without simulating it again. The proof, piece of state by
// piece of state: docs/replay.md.
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/engine/records.h"
#include "sim/fabric/ids.h"

namespace weir::sim {

/// As many messages as a run can keep one by one. More are possible where periods repeat; their
/// digest is then that of what was simulated and of how it was repeated.
inline constexpr std::uint64_t kMostMessages = std::uint64_t{1} << 27U;

/// A period that was simulated and then repeated.
struct Repeat {
  MessageId first{0};       // of the messages of the period, in Sim::messages()
  std::uint32_t count = 0;  // of them
  std::uint64_t times = 0;  // how often the period follows itself, the simulated one not counted
  Ps period = 0;            // each as much later than the one before

  [[nodiscard]] MessageId end() const { return first + count; }
};

/// Calls `see(MessageId, Ps shift)` for `count` messages and their repetitions in the order of
/// posting; a repetition happened `shift` later.
template <class See>
void for_each_in_order(const std::vector<Repeat>& repeats, MessageId count, See&& see) {
  MessageId from{0};
  const auto see_all = [&](MessageId first, MessageId end, Ps shift) {
    for (const MessageId m : IdRange<MessageId>(first, end))
      see(m, shift);
  };
  for (const Repeat& repeat : repeats) {
    see_all(from, repeat.end(), 0);
    for (std::uint64_t k = 1; k <= repeat.times; ++k)
      see_all(repeat.first, repeat.end(), repeat.period * static_cast<Ps>(k));
    from = repeat.end();
  }
  see_all(from, count, 0);
}
/// Calls `see(MessageId, std::uint64_t times, Ps last)` for `count` messages: how often each
/// happened, and how much later the last time.
template <class See>
void for_each_with_count(const std::vector<Repeat>& repeats, MessageId count, See&& see) {
  MessageId from{0};
  const auto see_all = [&](MessageId end, std::uint64_t times, Ps last) {
    for (; from != end; from = from + 1)
      see(from, times, last);
  };
  for (const Repeat& repeat : repeats) {
    see_all(repeat.first, 1, 0);
    see_all(repeat.end(), repeat.times + 1, repeat.period * static_cast<Ps>(repeat.times));
  }
  see_all(count, 1, 0);
}

/// What is remembered of an instant of rest.
struct Rest {
  struct Recent {  // a message from the first on that is not complete
    QpId qp{0};
    std::int64_t size = 0;
    Ps post = 0;  // times are counted from `origin`
    Ps delivered = kNever;
    Ps done = kNever;
    friend bool operator==(const Recent&, const Recent&) = default;
  };

  Ps origin = 0;            // when the first message begins
  Ps since = 0;             // the last event before
  MessageId open{0};        // the first message that is not complete
  MessageId end{0};         // messages posted so far
  bool is_compact = false;  // every message from `open` on is posted for later

  // Equal at two instants of rest that are followed by the same.
  std::vector<Recent> recent;
  std::vector<std::uint8_t> turns;  // of the arbiters that have a choice
  std::vector<std::int64_t> rates;  // of the queue pairs
  // Equal where nothing but plain traffic lies between.
  std::vector<std::uint64_t> random;  // states of the streams
  std::uint64_t incidents = 0;  // marks, pauses, drops, CNPs, …: counters that only grow, added up
  // Counted up by plain traffic.
  std::vector<std::uint64_t> counters;
  std::vector<std::uint32_t> acknowledged;  // PSNs, by queue pair
  std::vector<std::int64_t> delivered;      // bytes, by queue pair
  std::uint64_t frames = 0;                 // sent by NICs
  std::uint64_t hops = 0;

  [[nodiscard]] Ps period_since(const Rest& before) const { return origin - before.origin; }
  /// Why what lies between the two was more than plain traffic, or left its traces; empty: neither.
  [[nodiscard]] std::string_view is_touched_since(const Rest& before) const;
  /// Why what lies between the two cannot be repeated; empty: it can.
  [[nodiscard]] std::string_view differs_from(const Rest& before) const;
  /// What follows is what followed the other.
  [[nodiscard]] bool begins_like(const Rest& other) const {
    return turns == other.turns && rates == other.rates && recent == other.recent;
  }
};

/// What a region of the fabric did between two instants of rest, and does again whenever it begins
/// like the first of them. Times are counted from its origin.
struct Episode {
  struct Message {
    QpId qp{0};
    std::int64_t size = 0;
    Ps post = 0;
  };
  struct Entry {  // a message was delivered, or completed
    Ps at = 0;
    PortId port{0};  // where the frame arrived that did it
    std::uint32_t message = 0;
    bool is_done = false;
  };
  struct Qp {  // one that sent something
    QpId qp{0};
    std::uint32_t last = 0;  // of its messages
    std::uint16_t last_wire = 0;
    Ps last_send = 0;
    Ps timeout_at = kNever;
    std::int64_t bytes = 0;
  };
  Rest begin;
  std::vector<Message> messages;  // in the order of posting
  std::vector<Entry> entries;     // in the order of events
  std::vector<Qp> qps;
  std::vector<std::uint64_t> counters;  // by which each grows
  std::uint64_t frames = 0;
  std::uint64_t hops = 0;
  std::uint64_t data_hops = 0;

  [[nodiscard]] Ps length() const { return entries.back().at; }
};

}  // namespace weir::sim
