// I18: a cable, an optic or a port: frames with errors, links that flap, links that are down; and
// packets that a device changed. Whatever is lost or late because of them follows from it.
#include <algorithm>

#include <fmt/format.h>

#include "base/count_text.h"
#include "diagnose/rules/rule.h"

namespace weir::diagnose {
namespace {

/// One end of a cable.
struct End {
  const Counts& counts;
  std::string name;
  finding::Where where;
  std::optional<bool> up;  // as a fact
  std::string_view crc;
  std::string_view received;             // bytes
  std::vector<std::string_view> broken;  // other counters of bad frames, symbols and recoveries
  std::string_view downs;
  std::vector<std::string_view> also_downs;  // the same as the kernel and the port's twin count it
};

/// No more errors than a link within its specification may have in as many bits.
bool are_allowed(const End& end, std::uint64_t broken, double errors_per_bit) {
  const auto bytes = end.counts.of(end.received);
  return bytes && static_cast<double>(broken) <= static_cast<double>(*bytes) * 8 * errors_per_bit;
}

void look_for_errors(const View& view, const End& end, Suspicions& out) {
  std::uint64_t broken = end.counts.of(end.crc).value_or(0);
  const bool are_frames = broken > 0;
  std::vector<finding::EvidenceLine> lines;
  if (are_frames) lines.push_back(end.counts.line(end.crc));
  for (const std::string_view id : end.broken) {
    const std::uint64_t more = end.counts.of(id).value_or(0);
    if (more == 0) continue;
    lines.push_back(end.counts.line(id));
    if (!are_frames) broken = std::max(broken, more);
  }
  if (broken == 0) return;
  const std::string what =
      fmt::format("{} counted {} {}", end.name, count_text(broken),
                  are_frames ? "frames with CRC errors" : "physical layer errors");
  if (are_allowed(end, broken, view.thresholds().allowed_bit_errors)) {
    out.add({.id = "link.physical_errors",
             .verdict = what + ", as few as a good link may have for the bytes it received.",
             .where = end.where,
             .confidence = finding::Confidence::kLow,
             .severity = finding::Severity::kInfo,
             .evidence = std::move(lines)});
    return;
  }
  out.add({.id = "link.physical_errors",
           .verdict = what + ": bad cable, optic or port.",
           .where = end.where,
           .confidence = are_frames ? finding::Confidence::kHigh : finding::Confidence::kMedium,
           .evidence = std::move(lines),
           .explains = congestion_anywhere()});
}

void look_for_downs(const End& end, Suspicions& out) {
  // Firmware counts what the kernel may miss, and drivers without such a counter have the kernel's.
  const std::uint64_t by_firmware = end.counts.of(end.downs).value_or(0);
  std::uint64_t downs = by_firmware;
  for (const std::string_view id : end.also_downs)
    downs = std::max(downs, end.counts.of(id).value_or(0));
  const bool is_down = end.up == false;
  if (downs == 0 && !is_down) return;
  std::vector<finding::EvidenceLine> lines;
  if (by_firmware > 0) lines.push_back(end.counts.line(end.downs));
  for (finding::EvidenceLine& line : moved_lines(end.counts, end.also_downs))
    lines.push_back(std::move(line));
  if (is_down) lines.push_back(fact_line(end.name, "link: down"));
  out.add({.id = is_down ? "link.degraded" : "link.flapping",
           .verdict = is_down ? fmt::format("{}: link is down.", end.name)
                              : fmt::format("{}: link went down {}.", end.name,
                                            downs == 1 ? "once" : fmt::format("{} times", downs)),
           .where = end.where,
           .confidence = finding::Confidence::kHigh,
           .evidence = std::move(lines),
           // The other end of the same cable shows the same.
           .explains = congestion_anywhere({"link.flapping", "link.degraded"})});
}

/// The frame was good and the packet in it was not: no cable does that.
void look_for_changed_packets(const View& view, const NicView& nic, Suspicions& out) {
  constexpr std::string_view kId = "nic.rdma.icrc_error.packets";
  const std::uint64_t packets = nic.counts.of(kId).value_or(0);
  if (packets == 0) return;
  const auto bytes = nic.counts.of("nic.port.rx.bytes");
  const bool is_rare =
      bytes && static_cast<double>(packets) <=
                   static_cast<double>(*bytes) * 8 * view.thresholds().allowed_bit_errors;
  out.add({.id = "packet.icrc_bad",
           .verdict = fmt::format("{} received {} RDMA packet{} with a wrong ICRC in good frames: "
                                  "a device on the way changed {}.",
                                  name_of(nic), count_text(packets), packets == 1 ? "" : "s",
                                  packets == 1 ? "it" : "them"),
           .where = nic.where(),
           .confidence = finding::Confidence::kHigh,
           .severity = is_rare ? std::optional(finding::Severity::kInfo) : std::nullopt,
           .evidence = {nic.counts.line(kId)},
           .explains = {{"path.loss"}}});
}

std::optional<bool> known(const evidence::Fact<bool>& fact) {
  return fact.is_known() ? std::optional(fact.value()) : std::nullopt;
}

End end_of(const View& view, const NicView& nic) {
  finding::Where where = nic.where();
  if (nic.port) where.link = name_of(view.ports()[*nic.port]);
  return {nic.counts,
          name_of(nic),
          std::move(where),
          nic.facts == nullptr ? std::nullopt : known(nic.facts->link.up),
          "nic.phy.crc_error.packets",
          "nic.port.rx.bytes",
          {"nic.phy.symbol_error.events", "nic.phy.pcs_symbol_error.symbols",
           "nic.phy.fec_uncorrectable.blocks", "nic.phy.recovery.events",
           "nic.netdev.rx_crc_error.packets", "nic.ibspec.symbol_error.events",
           "nic.ibspec.link_error_recovery.events", "nic.ibspec.link_integrity_error.events"},
          "nic.phy.link_down.events",
          {"nic.link.carrier_down.events", "nic.ibspec.link_downed.events"}};
}

End end_of(const View& view, const PortView& port) {
  finding::Where where = port.where();
  if (port.nic) where.host = view.nics()[*port.nic].host;
  if (port.peer) where.link = name_of(view.ports()[*port.peer]);
  return {port.counts,
          name_of(port),
          std::move(where),
          port.facts == nullptr ? std::nullopt : known(port.facts->up),
          "switch.port.crc_error.packets",
          "switch.port.rx.bytes",
          {},
          "switch.port.link_down.events",
          {}};
}

}  // namespace

void look_for_bad_links(const View& view, Suspicions& out) {
  bool can_see = false;
  const auto look = [&](const End& end) {
    can_see = can_see || end.counts.of(end.crc).has_value();
    look_for_errors(view, end, out);
    look_for_downs(end, out);
  };
  for (const NicView& nic : view.nics()) {
    look(end_of(view, nic));
    look_for_changed_packets(view, nic, out);
  }
  for (const PortView& port : view.ports())
    look(end_of(view, port));
  if (!can_see && view.has_counters()) {
    out.cannot_tell("broken frames", "no counter of the physical layer was read",
                    "ethtool -S <netdev> | grep _phy");
  }
}

}  // namespace weir::diagnose
