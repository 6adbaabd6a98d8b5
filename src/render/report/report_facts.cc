#include "render/report/report_facts.h"

#include <algorithm>
#include <map>
#include <set>

#include "counters/delta.h"
#include "design/file/words.h"

namespace weir::render {
namespace {

using counters::PortDelta;
using evidence::Evidence;

/// The sum over priorities and queues; nullopt where no name of this id has an amount.
std::optional<std::uint64_t> summed(const PortDelta& port, std::string_view id) {
  std::optional<std::uint64_t> sum;
  for (const counters::Delta& delta : port.deltas)
    if (delta.match && delta.match.counter->id == id && delta.amount)
      sum = sum.value_or(0) + *delta.amount;
  return sum;
}

std::optional<std::uint64_t> summed(const PortDelta& port,
                                    std::initializer_list<std::string_view> ids) {
  std::optional<std::uint64_t> sum;
  for (const std::string_view id : ids)
    if (const auto amount = summed(port, id)) sum = sum.value_or(0) + *amount;
  return sum;
}

/// The first available of equivalent counters.
std::optional<std::uint64_t> first_of(const PortDelta& port,
                                      std::initializer_list<std::string_view> ids) {
  for (const std::string_view id : ids)
    if (const auto amount = summed(port, id)) return amount;
  return std::nullopt;
}

std::optional<counters::SnapshotDelta> window_of(const Evidence& evidence) {
  if (evidence.snapshots.size() < 2) return std::nullopt;
  auto delta = counters::difference(evidence.snapshots.front(), evidence.snapshots.back());
  if (!delta || delta->elapsed_ns <= 0) return std::nullopt;
  return std::move(*delta);
}

/// Bits per nanosecond are gigabits per second.
std::optional<double> rate_gbps(std::optional<std::uint64_t> bytes, std::int64_t elapsed_ns) {
  if (!bytes) return std::nullopt;
  return static_cast<double>(*bytes) * 8 / static_cast<double>(elapsed_ns);
}

std::optional<double> share_of_time(std::optional<std::uint64_t> us, std::int64_t elapsed_ns) {
  if (!us) return std::nullopt;
  return static_cast<double>(*us) * 1000 / static_cast<double>(elapsed_ns);
}

std::optional<std::uint64_t> sent_bytes(const PortDelta& nic) {
  return first_of(nic, {"nic.port.tx.bytes", "nic.prio.tx.bytes", "nic.netdev.tx.bytes"});
}

void fill(RailRow& row, const PortDelta& nic, std::int64_t elapsed) {
  row.sent_gbps = rate_gbps(sent_bytes(nic), elapsed);
  row.received_gbps = rate_gbps(
      first_of(nic, {"nic.port.rx.bytes", "nic.prio.rx.bytes", "nic.netdev.rx.bytes"}), elapsed);
  row.paused_share = share_of_time(
      first_of(nic, {"nic.prio.pause_rx.microseconds", "nic.pause.rx.microseconds"}), elapsed);
  row.pausing_share = share_of_time(
      first_of(nic, {"nic.prio.pause_tx.microseconds", "nic.pause.tx.microseconds"}), elapsed);
  row.marked = summed(nic, "nic.np.ecn_marked.packets");
  row.cnps_sent = summed(nic, "nic.np.cnp_sent.packets");
  row.cnps_handled = summed(nic, "nic.rp.cnp_handled.packets");
  row.out_of_order =
      summed(nic, {"nic.resp.out_of_sequence.packets", "nic.req.seq_nak_received.packets"});
  row.discards = first_of(nic, {"nic.port.rx_discard.packets", "nic.prio.rx_discard.packets"});
}

/// What each end of a link sent, by the end's name.
using Sent = std::map<std::pair<std::string, std::string>, double>;  // Gb/s

Sent sent_by_ports(std::span<const Evidence> all) {
  Sent sent;
  for (const Evidence& evidence : all) {
    const auto window = window_of(evidence);
    if (!window) continue;
    for (const PortDelta& nic : window->nics)
      if (const auto rate = rate_gbps(sent_bytes(nic), window->elapsed_ns))
        sent[{evidence.provenance.host, nic.device}] = *rate;
    for (const PortDelta& port : window->switch_ports)
      if (const auto rate =
              rate_gbps(first_of(port, {"switch.port.tx.bytes", "switch.queue.tx.bytes"}),
                        window->elapsed_ns))
        sent[{port.device, port.netdev}] = *rate;
  }
  return sent;
}

std::optional<double> load_from(const design::Intent& intent, const Sent& sent,
                                const design::PortRef& end, BitRate speed) {
  const bool is_host = end.kind == design::NodeKind::kHost;
  const auto key =
      is_host ? std::pair(intent.hosts[end.node].name, intent.hosts[end.node].nics[end.port].device)
              : std::pair(intent.switches[end.node].name,
                          intent.switches[end.node].ports[end.port].name);
  const auto at = sent.find(key);
  if (at == sent.end() || speed.raw() <= 0) return std::nullopt;
  return at->second * 1e9 / static_cast<double>(speed.raw());
}

/// The row of finding::platforms() for a NIC; empty where fixes know none of its maker.
std::string platform_of(const design::HostIntent& host) {
  if (host.nic_model == nullptr) return "";
  const vocab::NicStack* const stack =
      vocab::find_stack(host.nic_model->driver, host.stack == design::HostStack::kOfed);
  return stack == nullptr ? "" : std::string(stack->name);
}

}  // namespace

std::vector<RailRow> rails_of(std::span<const Evidence> hosts) {
  std::vector<RailRow> rows;
  for (const Evidence& host : hosts) {
    const auto window = window_of(host);
    for (const evidence::Nic& nic : host.nics) {
      RailRow row{.host = host.provenance.host, .device = nic.device};
      if (nic.rail.is_known()) row.rail = *nic.rail;
      if (window)
        for (const PortDelta& port : window->nics)
          if (port.device == nic.device) fill(row, port, window->elapsed_ns);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::vector<LinkLoad> loads_of(const design::Intent& intent, std::span<const Evidence> all) {
  const Sent sent = sent_by_ports(all);
  std::vector<LinkLoad> loads;
  for (std::uint32_t i = 0; i < intent.links.size(); ++i) {
    const design::LinkIntent& link = intent.links[i];
    LinkLoad load{.link = i,
                  .up = load_from(intent, sent, link.lower, link.speed),
                  .down = load_from(intent, sent, link.upper, link.speed)};
    if (load.up || load.down) loads.push_back(load);
  }
  return loads;
}

std::vector<std::string> platforms_of(const design::Intent& intent) {
  std::set<std::string> names;
  for (const design::SwitchIntent& sw : intent.switches)
    names.emplace(design::to_word(sw.system));
  for (const design::HostIntent& host : intent.hosts)
    names.insert(platform_of(host));
  names.erase("");
  return {names.begin(), names.end()};
}

}  // namespace weir::render
