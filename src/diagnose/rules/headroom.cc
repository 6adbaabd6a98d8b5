// I3: drops in the lossless priority group despite PFC. The pause was sent, but what was still in
// flight did not fit.
#include <algorithm>

#include <fmt/format.h>

#include "diagnose/core/switch_queues.h"
#include "diagnose/rules/rule.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

struct Shortage {
  const PortView* port = nullptr;
  Bytes found;
  Bytes wanted;
};

std::vector<Shortage> shortages(const View& view, const std::string& name) {
  std::vector<Shortage> out;
  for (const PortView* port : view.ports_of(name)) {
    const evidence::GroupBuffer* group = rdma_group(view, *port);
    if (group == nullptr || port->wanted == nullptr || !group->headroom.is_known()) continue;
    // A design may deliberately give less than is needed; lint reports that.
    const Bytes wanted = std::min(port->wanted->headroom_need, port->wanted->headroom);
    if (static_cast<double>(group->headroom->raw()) <
        view.thresholds().buffer_share * static_cast<double>(wanted.raw()))
      out.push_back({port, *group->headroom, wanted});
  }
  return out;
}

struct Drop {
  const PortView* port = nullptr;
  std::uint64_t packets = 0;
  std::optional<std::uint64_t> pauses;  // sent by the port in the RDMA priority
  std::optional<unsigned> group;        // where drops are counted by group
};

constexpr std::string_view kGroupDrops = "switch.pg.drop_headroom.packets";

/// The RDMA group, where drops are counted by group.
std::optional<unsigned> group_number(const View& view, const PortView& port) {
  const evidence::GroupBuffer* group = rdma_group(view, port);
  const unsigned number = group != nullptr ? group->group.value() : view.rdma();
  return port.counts.of(kGroupDrops, number) ? std::optional(number) : std::nullopt;
}

/// What a lossy group drops is meant to be.
std::optional<std::uint64_t> lossless_drops(const View& view, const PortView& port) {
  const auto number = group_number(view, port);
  return number ? port.counts.of(kGroupDrops, *number) : port.counts.sum(kGroupDrops);
}

std::vector<Drop> drops(const View& view, const std::string& name) {
  std::vector<Drop> out;
  for (const PortView* port : view.ports_of(name)) {
    const auto packets = lossless_drops(view, *port);
    if (packets.value_or(0) > 0)
      out.push_back({port, *packets, port->counts.of("switch.prio.pause_tx.frames", view.rdma()),
                     group_number(view, *port)});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Drop& a, const Drop& b) { return a.packets > b.packets; });
  return out;
}

/// Whether any port of a switch with counters shows what it dropped.
bool shows_drops(const View& view, const std::string& name) {
  bool is_counted = false;
  for (const PortView* port : view.ports_of(name)) {
    is_counted = is_counted || port->counts.are_there();
    for (const std::string_view id :
         {"switch.port.drop.packets", "switch.pg.drop_headroom.packets",
          "switch.pg.drop_admission.packets", "switch.queue.drop_tail.packets"})
      if (port->counts.sum(id) || port->counts.of(id)) return true;
  }
  return !is_counted;
}

std::string headroom_verdict(const std::string& name, const std::vector<Shortage>& small,
                             const std::vector<Drop>& lost) {
  std::uint64_t packets = 0;
  for (const Drop& drop : lost)
    packets += drop.packets;
  const bool has_paused = std::any_of(lost.begin(), lost.end(),
                                      [](const Drop& drop) { return drop.pauses.value_or(0) > 0; });
  const std::string dropped = lost.empty()
                                  ? std::string()
                                  : fmt::format("dropped {} RDMA packets on {} port{}{}", packets,
                                                lost.size(), lost.size() == 1 ? "" : "s",
                                                has_paused ? " although it had sent pauses" : "");
  if (small.empty())
    return fmt::format("{} {}: its headroom is too small for the data in flight.", name, dropped);
  return fmt::format("{} has {} of headroom on {}{}; speed, cable and MTU need {}{}.", name,
                     approximate(small.front().found), small.front().port->name,
                     small.size() > 1 ? fmt::format(" and {} more ports", small.size() - 1) : "",
                     approximate(small.front().wanted),
                     dropped.empty() ? std::string() : ". It " + dropped);
}

/// A group that drops and never paused is none that PFC protects, whatever the settings say.
void add_unprotected(const View& view, const std::string& name, const std::vector<Drop>& lost,
                     Suspicions& out) {
  std::uint64_t packets = 0;
  for (const Drop& drop : lost)
    packets += drop.packets;
  const bool is_on = std::any_of(lost.begin(), lost.end(), [&](const Drop& drop) {
    return drop.port->facts != nullptr && drop.port->facts->pfc.is_known() &&
           drop.port->facts->pfc->contains(Priority::of(view.rdma()));
  });
  out.add({.id = "config.not_applied",
           .verdict = fmt::format(
               "{} dropped {} packets in priority groups of {} port{} and sent no pause there{}: "
               "the group has no lossless buffer profile, or PFC is not in effect.",
               name, packets, lost.size(), lost.size() == 1 ? "" : "s",
               is_on ? fmt::format(", although PFC is on for priority {}", view.rdma()) : ""),
           .where = switch_place(view, name),
           .confidence = is_on ? finding::Confidence::kHigh : finding::Confidence::kMedium,
           .evidence = {lost.front().port->counts.line(kGroupDrops, lost.front().group),
                        lost.front().port->counts.line("switch.prio.pause_tx.frames", view.rdma())},
           .explains = {{"path.loss"}, {"port.discards"}}});
}

}  // namespace

void look_for_small_headroom(const View& view, Suspicions& out) {
  constexpr std::size_t kLines = 4;
  for (const std::string& name : view.switches()) {
    const std::vector<Shortage> small = shortages(view, name);
    const std::vector<Drop> lost = drops(view, name);
    if (!shows_drops(view, name)) {
      out.cannot_tell("drops at the switches", "no switch port showed its drops",
                      "the switch's drop counters, by port or by queue, before and after");
    }
    if (small.empty() && lost.empty()) continue;
    const bool never_paused =
        small.empty() && std::all_of(lost.begin(), lost.end(), [](const Drop& drop) {
          return drop.pauses == std::optional<std::uint64_t>(0);
        });
    if (never_paused) {
      add_unprotected(view, name, lost, out);
      continue;
    }
    finding::Where where = switch_place(view, name);
    if (lost.size() == 1) {
      where.port = lost.front().port->name;
    } else if (lost.empty() && small.size() == 1) {
      where.port = small.front().port->name;
    }
    Suspicion shortage{
        .id = "headroom.too_small",
        .verdict = headroom_verdict(name, small, lost),
        .where = where,
        .confidence = small.empty() ? finding::Confidence::kMedium : finding::Confidence::kCertain,
        .explains = {{"path.loss"}, {"pfc.sustained"}, {"ecmp.imbalance"}}};
    for (std::size_t i = 0; i < std::min(small.size(), kLines); ++i) {
      shortage.evidence.push_back(fact_line(
          name_of(*small[i].port), fmt::format("headroom: expected {}, found {}",
                                               to_text(small[i].wanted), to_text(small[i].found))));
    }
    for (std::size_t i = 0; i < std::min(lost.size(), kLines); ++i)
      shortage.evidence.push_back(lost[i].port->counts.line(kGroupDrops, lost[i].group));
    out.add(std::move(shortage));
  }
}

}  // namespace weir::diagnose
