// I7: pauses that start at one port. The switch that pauses without being paused itself is the root
// of the tree, and its fullest port the hot spot: a host that many send to, or an uplink that ECMP
// gave too many flows.
#include <algorithm>

#include <fmt/format.h>

#include "diagnose/core/switch_queues.h"
#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

/// The share of the window that other switches held this one back.
double held_back(const View& view, const std::string& name) {
  double most = 0;
  for (const PortView* port : view.ports_of(name)) {
    if (!port->is_fabric().value_or(false)) continue;
    most = std::max(
        most,
        port->counts.share_of_window("switch.prio.pause_rx.microseconds", view.rdma()).value_or(0));
  }
  return most;
}

/// Where packets of the RDMA queue waited: the port with most marks, else with the longest queue.
const PortView* hot_port(const View& view, const std::string& name) {
  const auto weight = [&](const PortView& port) {
    return std::pair(port.counts.of("switch.queue.ecn_marked.packets", view.rdma()).value_or(0),
                     port.counts.level("switch.queue.depth_max.bytes", view.rdma()).value_or(0));
  };
  const PortView* hottest = nullptr;
  for (const PortView* port : view.ports_of(name))
    if (hottest == nullptr || weight(*port) > weight(*hottest)) hottest = port;
  const bool is_known =
      hottest != nullptr && weight(*hottest) > std::pair<std::uint64_t, std::uint64_t>();
  return is_known ? hottest : nullptr;
}

/// A port beside those that lead the same way: up, or to the same switch.
struct Balance {
  double over_mean = 0;    // its bytes over the mean of all
  double least_share = 1;  // bytes of the least used, as a share of its own
};

std::optional<Balance> balance(const View& view, const PortView& hot) {
  const auto tier = [](const PortView& port) {
    return port.wanted_switch == nullptr ? 0 : port.wanted_switch->tier;
  };
  const auto leads_up = [&](const PortView& port) {
    return port.peer && tier(view.ports()[*port.peer]) > tier(port);
  };
  const auto own = hot.counts.of("switch.port.tx.bytes");
  std::uint64_t sum = 0;
  std::uint64_t count = 0;
  std::uint64_t least = own.value_or(0);
  for (const PortView* port : view.ports_of(hot.switch_name)) {
    const auto bytes = port->counts.of("switch.port.tx.bytes");
    if (!bytes || !port->is_fabric().value_or(false)) continue;
    const bool is_same_way =
        leads_up(hot) ? leads_up(*port) : port->neighbour == hot.neighbour && !leads_up(*port);
    if (!is_same_way) continue;
    sum += *bytes;
    least = std::min(least, *bytes);
    ++count;
  }
  if (count < 2 || sum == 0 || !own || *own == 0) return std::nullopt;
  return Balance{static_cast<double>(*own) * static_cast<double>(count) / static_cast<double>(sum),
                 static_cast<double>(least) / static_cast<double>(*own)};
}

finding::Severity severity(const View& view, double share, Duration window) {
  if (static_cast<double>(window.raw()) < view.thresholds().steady_window * 1e9)
    return finding::Severity::kInfo;
  return share >= view.thresholds().pause_error     ? finding::Severity::kError
         : share >= view.thresholds().pause_warning ? finding::Severity::kWarning
                                                    : finding::Severity::kInfo;
}

struct HotSpot {
  const PortView* port = nullptr;
  SwitchCounts counts;
  std::optional<Balance> uneven;  // of uplinks and of links to the same switch
  bool is_collision = false;      // it carries far more than its share
  bool has_idle_link = false;     // and a link beside it is almost idle in spite of the pauses
};

std::optional<HotSpot> hot_spot(const View& view, const std::string& name) {
  HotSpot spot;
  spot.counts = counts_of(view, name);
  const double pause = spot.counts.longest_pause;
  if (pause < view.thresholds().pause_warning) return std::nullopt;
  if (held_back(view, name) >= pause) return std::nullopt;  // another is the root
  spot.port = hot_port(view, name);
  if (spot.port == nullptr) return std::nullopt;
  if (spot.port->is_fabric().value_or(false)) spot.uneven = balance(view, *spot.port);
  spot.is_collision = spot.uneven && spot.uneven->over_mean >= view.thresholds().hot_link;
  spot.has_idle_link = spot.is_collision && pause >= view.thresholds().pause_error &&
                       spot.uneven->least_share < view.thresholds().idle_link;
  return spot;
}

/// `alike`: how many switches leave links idle beside full ones.
void report_hot_spot(const View& view, const HotSpot& spot, std::size_t alike, Suspicions& out) {
  // A few flows collide somewhere by chance. On several switches at once it is their hash.
  const bool is_polarised = spot.has_idle_link && alike >= view.thresholds().alike_switches;
  const PortView& hot = *spot.port;
  const std::string neighbour = hot.neighbour.empty() ? std::string() : " to " + hot.neighbour;
  std::string why = fmt::format("; they start at port {}{}.", hot.name, neighbour);
  if (spot.is_collision) {
    why = fmt::format(
        ": {} carries {:.1f} times the mean of its links; {}.", hot.name, spot.uneven->over_mean,
        is_polarised ? fmt::format("{} switches leave links idle beside full ones, so "
                                   "they use the same hash",
                                   alike)
                     : "flows collide there");
  }
  finding::Severity worst = severity(view, spot.counts.longest_pause, hot.counts.window());
  if (is_polarised) worst = std::max(worst, finding::Severity::kWarning);
  out.add({.id = is_polarised        ? "ecmp.polarised"
                 : spot.is_collision ? "ecmp.imbalance"
                                     : "pfc.sustained",
           .verdict = fmt::format("{} paused its neighbours for up to {} of the window{}",
                                  hot.switch_name, percent(spot.counts.longest_pause), why),
           .where = with_priority(view, hot.where()),
           .confidence = finding::Confidence::kMedium,
           .severity = worst,
           .evidence = {fact_line(hot.switch_name,
                                  fmt::format("pauses sent in priority {}: {}", view.rdma(),
                                              spot.counts.pauses_sent.value_or(0))),
                        hot.counts.line("switch.queue.ecn_marked.packets", view.rdma()),
                        hot.counts.line("switch.port.tx.bytes")},
           .explains = {{"pfc.sustained"}}});
}

/// With a host alone: its switch paused it, and the cause is on the other side.
void look_from_host(const View& view, const NicView& nic, Suspicions& out) {
  constexpr std::string_view kPaused = "nic.prio.pause_rx.microseconds";
  const auto share = nic.counts.share_of_window(kPaused, view.rdma());
  if (!share || *share < view.thresholds().pause_warning) return;
  out.add(
      {.id = "pfc.sustained",
       .verdict = fmt::format("{} was paused by its switch for {} of the window: the congestion "
                              "is in the fabric or at the receiver, not on this host.",
                              name_of(nic), percent(*share)),
       .where = with_priority(view, nic.where()),
       .confidence = finding::Confidence::kMedium,
       .severity = severity(view, *share, nic.counts.window()),
       .evidence = {nic.counts.line(kPaused, view.rdma())},
       .explains = {{"pfc.sustained", nic.host}}});
}

}  // namespace

void look_for_hot_spots(const View& view, Suspicions& out) {
  std::vector<HotSpot> spots;
  for (const std::string& name : view.switches())
    if (auto spot = hot_spot(view, name)) spots.push_back(*std::move(spot));
  const auto alike = static_cast<std::size_t>(std::count_if(
      spots.begin(), spots.end(), [](const HotSpot& spot) { return spot.has_idle_link; }));
  for (const HotSpot& spot : spots)
    report_hot_spot(view, spot, alike, out);
  if (!view.ports().empty()) return;
  for (const NicView& nic : view.nics())
    look_from_host(view, nic, out);
}

}  // namespace weir::diagnose
