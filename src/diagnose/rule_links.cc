// I18: a cable, an optic or a port: frames that arrive broken, links that go down, links that are
// down. Whatever is lost or late because of them follows from it.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "diagnose/rule.h"

namespace weir::diagnose {
namespace {

/// One end of a cable.
struct End {
  const Counts& counts;
  std::string name;
  finding::Where where;
  std::optional<bool> up;  // as a fact
  std::string_view crc;
  std::string_view symbols;  // empty where there is no such counter
  std::string_view downs;
  std::string_view carrier;  // the same as the kernel counts it; empty where it does not
};

std::vector<Consequence> consequences() {
  std::vector<Consequence> out = congestion_anywhere();
  out.push_back({"link.flapping"});  // the other end of the same cable
  out.push_back({"link.degraded"});
  return out;
}

void look_for_errors(const End& end, Suspicions& out) {
  const std::uint64_t broken = end.counts.of(end.crc).value_or(0);
  if (broken == 0) return;
  finding::Finding finding = finding::make_finding(
      "link.physical_errors",
      fmt::format("{} received {} broken frames: the cable, an optic or a port is bad.", end.name,
                  with_thousands(static_cast<std::int64_t>(broken))),
      end.where);
  finding.confidence = finding::Confidence::kHigh;
  finding.evidence.push_back(end.counts.line(end.crc));
  if (!end.symbols.empty() && end.counts.of(end.symbols).value_or(0) > 0)
    finding.evidence.push_back(end.counts.line(end.symbols));
  out.add(std::move(finding), congestion_anywhere());
}

void look_for_downs(const End& end, Suspicions& out) {
  // Firmware counts what the kernel may miss, and drivers without such a counter have the kernel's.
  const std::uint64_t by_firmware = end.counts.of(end.downs).value_or(0);
  const std::uint64_t by_kernel = end.carrier.empty() ? 0 : end.counts.of(end.carrier).value_or(0);
  const std::uint64_t downs = std::max(by_firmware, by_kernel);
  const bool is_down = end.up == false;
  if (downs == 0 && !is_down) return;
  finding::Finding finding = finding::make_finding(
      is_down ? "link.degraded" : "link.flapping",
      is_down ? fmt::format("{}: the link is down.", end.name)
              : fmt::format("{}: the link went down {}.", end.name,
                            downs == 1 ? std::string("once") : fmt::format("{} times", downs)),
      end.where);
  finding.confidence = finding::Confidence::kHigh;
  if (by_firmware > 0) finding.evidence.push_back(end.counts.line(end.downs));
  if (by_kernel > 0) finding.evidence.push_back(end.counts.line(end.carrier));
  if (is_down) finding.evidence.push_back(fact_line(end.name, "link: down"));
  out.add(std::move(finding), consequences());
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
          "nic.phy.symbol_error.events",
          "nic.phy.link_down.events",
          "nic.link.carrier_down.events"};
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
          {},
          "switch.port.link_down.events",
          {}};
}

}  // namespace

void look_for_bad_links(const View& view, Suspicions& out) {
  bool can_see = false;
  const auto look = [&](const End& end) {
    can_see = can_see || end.counts.of(end.crc).has_value();
    look_for_errors(end, out);
    look_for_downs(end, out);
  };
  for (const NicView& nic : view.nics())
    look(end_of(view, nic));
  for (const PortView& port : view.ports())
    look(end_of(view, port));
  if (!can_see && view.has_counters()) {
    out.cannot_tell("broken frames", "no counter of the physical layer was read",
                    "ethtool -S <netdev> | grep _phy");
  }
}

}  // namespace weir::diagnose
