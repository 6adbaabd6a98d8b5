#include "ops/watch/rates.h"

#include <algorithm>
#include <array>

#include "counters/delta.h"

namespace weir::ops {
namespace {

constexpr std::array<std::string_view, 5> kLosses = {
    "nic.req.seq_nak_received.packets", "nic.req.ack_timeout.events", "nic.port.rx_discard.packets",
    "nic.port.tx_discard.packets", "nic.req.retry_exceeded.events"};

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

void add_rates(const counters::PortDelta& delta, std::int64_t elapsed_ns, RailRates& out) {
  const double seconds = static_cast<double>(elapsed_ns) / 1e9;
  const auto rate = [&](std::string_view id, double times = 1) -> std::optional<double> {
    const auto amount = delta.amount(id);
    if (!amount) return std::nullopt;
    return static_cast<double>(*amount) * times / seconds;
  };
  out.sent = rate("nic.rdma.tx.bytes", 8);
  out.received = rate("nic.rdma.rx.bytes", 8);
  out.paused = largest_share(delta, "nic.prio.pause_rx.microseconds", seconds * 1e6);
  out.pausing = largest_share(delta, "nic.prio.pause_tx.microseconds", seconds * 1e6);
  out.marks = rate("nic.np.ecn_marked.packets");
  out.cnps = rate("nic.rp.cnp_handled.packets");
  for (const std::string_view id : kLosses)
    if (const auto more = rate(id)) out.losses = out.losses.value_or(0) + *more;
}

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

}  // namespace

std::vector<RailRates> rail_rates(const Observation& before, const Observation& after) {
  std::vector<RailRates> rows;
  for (const evidence::Evidence& host : after.hosts) {
    const evidence::Evidence* earlier = find_seen(before, host.provenance.host);
    std::optional<counters::SnapshotDelta> delta;
    if (earlier != nullptr && !earlier->snapshots.empty() && !host.snapshots.empty()) {
      auto difference = counters::difference(earlier->snapshots.back(), host.snapshots.back());
      if (difference && difference->elapsed_ns > 0) delta = std::move(*difference);
    }
    for (const evidence::Nic& nic : host.nics) {
      RailRates row = describe_rail(host, nic);
      if (delta)
        for (const counters::PortDelta& port : delta->nics)
          if (port.device == nic.device && (row.netdev.empty() || port.netdev == row.netdev))
            add_rates(port, delta->elapsed_ns, row);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace weir::ops
