#include "ops/watch/rates.h"

#include <algorithm>
#include <array>
#include <span>

namespace weir::ops {
namespace {

constexpr std::array<std::string_view, 5> kLosses = {
    "nic.req.seq_nak_received.packets", "nic.req.ack_timeout.events", "nic.port.rx_discard.packets",
    "nic.port.tx_discard.packets", "nic.req.retry_exceeded.events"};

/// Where a switch does not count all drops of a port together.
constexpr std::array<std::string_view, 5> kDropReasons = {
    "switch.queue.drop_tail.packets", "switch.queue.drop_wred.packets",
    "switch.queue.drop_watchdog.packets", "switch.pg.drop_headroom.packets",
    "switch.pg.drop_admission.packets"};

const evidence::Evidence* find_seen(const Observation& seen, const std::string& host) {
  for (const evidence::Evidence& evidence : seen.hosts)
    if (evidence.provenance.host == host) return &evidence;
  return nullptr;
}

/// The priority with the largest share of the window.
std::optional<double> largest_share(const counters::PortDelta& delta, std::string_view id,
                                    double microseconds) {
  std::optional<double> largest;
  for (unsigned priority = 0; priority < 8; ++priority)
    if (const auto amount = delta.amount(id, priority))
      largest = std::max(largest.value_or(0), static_cast<double>(*amount) / microseconds);
  return largest;
}

class RatesOf {
 public:
  RatesOf(const counters::PortDelta& delta, std::int64_t elapsed_ns)
      : delta_(delta), seconds_(static_cast<double>(elapsed_ns) / 1e9) {}

  [[nodiscard]] std::optional<double> rate(std::string_view id, double times = 1) const {
    const auto amount = delta_.amount(id);
    if (!amount) return std::nullopt;
    return static_cast<double>(*amount) * times / seconds_;
  }
  /// Over all priorities, queues or groups, and over these counters; absent where none is there.
  [[nodiscard]] std::optional<double> sum(std::span<const std::string_view> ids) const {
    std::optional<double> out;
    for (const counters::Delta& delta : delta_.deltas) {
      if (!delta.match || !delta.amount) continue;
      if (std::find(ids.begin(), ids.end(), delta.match.counter->id) == ids.end()) continue;
      out = out.value_or(0) + static_cast<double>(*delta.amount) / seconds_;
    }
    return out;
  }
  [[nodiscard]] std::optional<double> longest(std::string_view id) const {
    return largest_share(delta_, id, seconds_ * 1e6);
  }

 private:
  const counters::PortDelta& delta_;
  double seconds_;
};

RailRates describe_rail(const evidence::Evidence& host, const evidence::Nic& nic) {
  RailRates out;
  out.host = host.provenance.host;
  out.device = nic.device;
  if (nic.netdev.is_known()) out.netdev = *nic.netdev;
  if (nic.rail.is_known()) out.rail = *nic.rail;
  if (nic.link.up.is_known()) out.up = *nic.link.up;
  if (nic.link.speed.is_known()) out.speed = *nic.link.speed;
  return out;
}

/// From the counters before, nullptr where there are none, to the last that the host shows.
void add_rails(const counters::Snapshot* before, const evidence::Evidence& host,
               std::vector<RailRates>& rows) {
  std::optional<counters::SnapshotDelta> delta;
  if (before != nullptr && !host.snapshots.empty()) {
    auto difference = counters::difference(*before, host.snapshots.back());
    if (difference && difference->elapsed_ns > 0) delta = std::move(*difference);
  }
  for (const evidence::Nic& nic : host.nics) {
    RailRates row = describe_rail(host, nic);
    if (delta)
      for (const counters::PortDelta& port : delta->nics)
        if (port.device == nic.device && (row.netdev.empty() || port.netdev == row.netdev))
          static_cast<Rates&>(row) = nic_rates(port, delta->elapsed_ns);
    rows.push_back(std::move(row));
  }
}

}  // namespace

Rates nic_rates(const counters::PortDelta& delta, std::int64_t elapsed_ns) {
  const RatesOf rates(delta, elapsed_ns);
  Rates out{.sent = rates.rate("nic.rdma.tx.bytes", 8),
            .received = rates.rate("nic.rdma.rx.bytes", 8),
            .paused = rates.longest("nic.prio.pause_rx.microseconds"),
            .pausing = rates.longest("nic.prio.pause_tx.microseconds"),
            .marks = rates.rate("nic.np.ecn_marked.packets"),
            .cnps = rates.rate("nic.rp.cnp_handled.packets")};
  for (const std::string_view id : kLosses)
    if (const auto more = rates.rate(id)) out.losses = out.losses.value_or(0) + *more;
  return out;
}

Rates switch_port_rates(const counters::PortDelta& delta, std::int64_t elapsed_ns) {
  constexpr std::array<std::string_view, 1> kMarks = {"switch.queue.ecn_marked.packets"};
  const RatesOf rates(delta, elapsed_ns);
  const auto dropped = rates.rate("switch.port.drop.packets");
  return {.sent = rates.rate("switch.port.tx.bytes", 8),
          .received = rates.rate("switch.port.rx.bytes", 8),
          .paused = rates.longest("switch.prio.pause_rx.microseconds"),
          .pausing = rates.longest("switch.prio.pause_tx.microseconds"),
          .marks = rates.sum(kMarks),
          .losses = dropped ? dropped : rates.sum(kDropReasons)};
}

std::vector<RailRates> rail_rates(const Observation& seen) {
  std::vector<RailRates> rows;
  for (const evidence::Evidence& host : seen.hosts)
    add_rails(host.snapshots.empty() ? nullptr : &host.snapshots.front(), host, rows);
  return rows;
}

std::vector<RailRates> rail_rates(const Observation& before, const Observation& after) {
  std::vector<RailRates> rows;
  for (const evidence::Evidence& host : after.hosts) {
    const evidence::Evidence* earlier = find_seen(before, host.provenance.host);
    const bool is_counted = earlier != nullptr && !earlier->snapshots.empty();
    add_rails(is_counted ? &earlier->snapshots.back() : nullptr, host, rows);
  }
  return rows;
}

}  // namespace weir::ops
