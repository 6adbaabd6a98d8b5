// I5, before it deadlocks: traffic that comes down to a switch and goes up again, to another switch
// (a bounce) or back where it came from (a loop). With up-down routing a switch sends no more
// upwards than it received from below; anything more has turned round, and lossless paths that turn
// can form a cyclic buffer dependency.
#include <algorithm>

#include <fmt/format.h>

#include "base/count_text.h"
#include "diagnose/core/shape.h"
#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

struct Turn {
  std::uint64_t came_down = 0;   // packets, from above
  std::uint64_t went_below = 0;  // packets
  std::uint64_t came_from_below = 0;
  std::uint64_t went_up = 0;
  const PortView* in = nullptr;   // of the uplinks, the one with most bytes that came down
  const PortView* out = nullptr;  // ... that went up
  std::uint64_t most_in = 0;
  std::uint64_t most_out = 0;
  std::uint64_t too_old = 0;  // packets dropped because their hops had run out

  /// All that came down was sent on below, and nothing else: nothing turned round.
  [[nodiscard]] bool is_settled(double share) const {
    const std::uint64_t larger = std::max(came_down, went_below);
    const std::uint64_t difference = larger - std::min(came_down, went_below);
    return static_cast<double>(difference) <= share * static_cast<double>(larger);
  }
  [[nodiscard]] std::uint64_t turned() const {
    return went_up > came_from_below ? went_up - came_from_below : 0;
  }
};

/// Absent where a port's direction or bytes are not known: then nothing adds up.
std::optional<Turn> turn_of(const View& view, const std::string& name) {
  Turn turn;
  for (const PortView* port : view.ports_of(name)) {
    const auto up = leads_up(view, *port);
    const auto sent = port->counts.of("switch.port.tx.bytes");
    const auto received = port->counts.of("switch.port.rx.bytes");
    if (!up || !sent || !received) return std::nullopt;
    turn.too_old += port->counts.of("switch.port.drop_ttl.packets").value_or(0);
    if (*up) {
      turn.came_down += port->counts.of("switch.port.rx.packets").value_or(0);
    } else {
      turn.went_below += port->counts.of("switch.port.tx.packets").value_or(0);
    }
    if (!*up) {
      turn.came_from_below += *received;
      continue;
    }
    turn.went_up += *sent;
    if (turn.out == nullptr || *sent > turn.most_out) {
      turn.out = port;
      turn.most_out = *sent;
    }
    if (turn.in == nullptr || *received > turn.most_in) {
      turn.in = port;
      turn.most_in = *received;
    }
  }
  return turn.out == nullptr ? std::nullopt : std::optional(turn);
}

/// What it sends up to a switch is about what comes from it.
bool is_loop(const Turn& turn) {
  return turn.too_old > 0 || turn.in->neighbour == turn.out->neighbour;
}

std::vector<Consequence> consequences() {
  return congestion_anywhere({"pfc.deadlock", "pfc.storm", "routing.loop", "ecmp.polarised",
                              "path.reordering", "congestion.sustained",
                              "transport.retries_exhausted", "port.discards",
                              "leaf.uplink_bottleneck"});
}

/// What a switch sent to each neighbour, in packets, and what it got from it.
struct Exchange {
  std::string neighbour;
  bool is_up = false;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  const PortView* port = nullptr;  // the busiest
  std::uint64_t most = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_bytes = 0;
};

/// Data among them: acknowledgements of a few flows may take a single path by chance.
bool has_data(const View& view, std::uint64_t packets, std::uint64_t bytes) {
  return packets > 0 && static_cast<double>(bytes) >=
                            view.thresholds().mixed_packet_bytes * static_cast<double>(packets);
}

/// Empty where a direction or a count is not known.
std::vector<Exchange> exchanges(const View& view, const std::string& name) {
  std::vector<Exchange> out;
  for (const PortView* port : view.ports_of(name)) {
    const auto up = leads_up(view, *port);
    const auto sent = port->counts.of("switch.port.tx.packets");
    const auto received = port->counts.of("switch.port.rx.packets");
    if (!up || !sent || !received) return {};
    if (!port->peer) continue;
    auto at = std::find_if(out.begin(), out.end(), [&](const Exchange& known) {
      return known.neighbour == port->neighbour;
    });
    if (at == out.end()) at = out.insert(out.end(), {port->neighbour, *up, 0, 0, nullptr, 0, 0, 0});
    at->sent += *sent;
    at->received += *received;
    at->sent_bytes += port->counts.of("switch.port.tx.bytes").value_or(0);
    at->received_bytes += port->counts.of("switch.port.rx.bytes").value_or(0);
    if (at->port == nullptr || *sent > at->most) {
      at->port = port;
      at->most = *sent;
    }
  }
  return out;
}

/// The only one of several that anything is sent to.
const Exchange* only_way(const std::vector<Exchange>& ways, bool up_only) {
  const Exchange* only = nullptr;
  std::size_t count = 0;
  for (const Exchange& way : ways) {
    if (up_only && !way.is_up) continue;
    ++count;
    if (way.sent == 0) continue;
    if (only != nullptr) return nullptr;
    only = &way;
  }
  return count < 2 ? nullptr : only;
}

/// A switch sends everything to one switch below, which sends everything up to another one: not all
/// of that can be for its hosts. Hashed flows leave no link unused at both ends at once, unless
/// there are very few flows. True if it was reported.
bool look_for_one_way(const View& view, const std::string& name, Suspicions& out) {
  const std::vector<Exchange> own = exchanges(view, name);
  const Exchange* only = only_way(own, true);
  if (only == nullptr || !has_data(view, only->sent, only->sent_bytes)) return false;
  for (const Exchange& above : own) {
    if (!above.is_up || &above == only) continue;
    const std::vector<Exchange> theirs = exchanges(view, above.neighbour);
    const Exchange* back = only_way(theirs, false);
    if (back == nullptr || back->neighbour != name || back->is_up) continue;
    std::size_t others = 0;
    for (const Exchange& from : theirs)
      others +=
          from.neighbour != name && has_data(view, from.received, from.received_bytes) ? 1 : 0;
    const std::uint64_t least = view.thresholds().one_way_neighbours;
    if (others < least) continue;  // a single flow may use a single path
    const bool is_sure = others > least;
    finding::Where where = with_priority(view, only->port->where());
    where.link = fmt::format("{} > {} > {}", above.neighbour, name, only->neighbour);
    out.add({.id = "routing.cyclic_buffer_dependency",
             .verdict = fmt::format("{} sends all traffic to {}, which sends all of it up to {}: "
                                    "traffic goes down and up again, which can close a cycle of "
                                    "pauses.",
                                    above.neighbour, name, only->neighbour),
             .where = where,
             .confidence = is_sure ? finding::Confidence::kMedium : finding::Confidence::kLow,
             .severity = is_sure ? finding::Severity::kError : finding::Severity::kWarning,
             .evidence = {back->port->counts.line("switch.port.tx.packets"),
                          only->port->counts.line("switch.port.tx.packets")},
             .explains = is_sure
                             ? consequences()
                             : std::vector<Consequence>{{"ecmp.imbalance"}, {"pfc.sustained"}}});
    return true;
  }
  return false;
}

void report_turn(const View& view, const std::string& name, const Turn& turn, Suspicions& out) {
  const bool loops = is_loop(turn);
  finding::Where where = with_priority(view, turn.out->where());
  where.link = loops ? fmt::format("{} > {} > {}", name, turn.out->neighbour, name)
                     : fmt::format("{} > {} > {}", turn.in->neighbour, name, turn.out->neighbour);
  out.add({.id = loops ? "routing.loop" : "routing.cyclic_buffer_dependency",
           .verdict = fmt::format("{} sent {} bytes up but received only {} from below: the rest "
                                  "came down from {} and went up again to {}{}.",
                                  name, count_text(turn.went_up), count_text(turn.came_from_below),
                                  turn.in->neighbour, turn.out->neighbour,
                                  loops ? ", in a loop" : ", which can close a cycle of pauses"),
           .where = where,
           .confidence = finding::Confidence::kHigh,
           .evidence = {turn.in->counts.line("switch.port.rx.bytes"),
                        turn.out->counts.line("switch.port.tx.bytes")},
           .explains = consequences()});
}

}  // namespace

void look_for_bounces(const View& view, Suspicions& out) {
  const Thresholds& limits = view.thresholds();
  bool can_see = view.switches().size() < 2;
  for (const std::string& name : view.switches()) {
    const auto turn = turn_of(view, name);
    can_see = can_see || turn.has_value();
    const bool has_turned = turn && turn->turned() >= limits.bytes_that_matter &&
                            static_cast<double>(turn->went_up) >=
                                limits.bounced * static_cast<double>(turn->came_from_below);
    const bool is_bounce =
        turn && !turn->is_settled(limits.settled_share) && look_for_one_way(view, name, out);
    if (has_turned && !is_bounce) report_turn(view, name, *turn, out);
  }
  if (!can_see && view.has_counters()) {
    out.cannot_tell("routes", "it is not known which ports lead up, or what they sent",
                    "give the design with --design, or the switches' LLDP neighbours");
  }
}

}  // namespace weir::diagnose
