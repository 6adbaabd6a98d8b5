#include "preflight/blame.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "finding/catalog.h"
#include "preflight/measure.h"

namespace weir::preflight {
namespace {

finding::EvidenceLine line_of(const Alone& alone) {
  return {.source = "retest, alone in the fabric",
          .line = alone_text(alone),
          .counter = "",
          .value = std::nullopt};
}

/// What to look at on one NIC.
std::vector<finding::Fix> fixes_of_nic(const NicName& nic, const std::string& good_host) {
  const std::string device = "/sys/class/infiniband/" + nic.device + "/device";
  return {
      {.platform = "host",
       .commands = {fmt::format("cat {0}/current_link_width {0}/current_link_speed", device),
                    fmt::format("ethtool {}", nic.netdev),
                    fmt::format("ethtool -S {} | grep -E 'pause|discard|err|outbound_pci'",
                                nic.netdev)},
       .note = fmt::format(
           "On {}, beside a NIC of it that is not slow. If all of it is alike, exchange the cable "
           "of {} with that NIC's: slow on rail {} still is the NIC or its slot, slow on the other "
           "is the cable or the switch port.",
           nic.host, nic.device, nic.rail)},
      {.platform = "mlx5-ofed",
       .commands = {fmt::format("mlxlink -d {} -m -c", nic.device)},
       .note = ""},
      {.platform = "any",
       .commands = {fmt::format("weir diff {} {}", nic.host, good_host),
                    "weir explain pcie.link_degraded"},
       .note = ""}};
}

std::string rates_text(const Alone& alone) {
  return fmt::format("{} of at least {}", rate_text(alone.rate), rate_text(alone.floor));
}

}  // namespace

std::string alone_text(const Alone& alone) {
  return fmt::format("{} to {}, rail {}, alone: {}", alone.from, alone.to, alone.rail,
                     rates_text(alone));
}

finding::Finding slow_nic(const NicName& nic, const Alone& worst,
                          const std::vector<std::string>& partners, std::size_t good) {
  finding::Finding out = finding::make_finding(
      "host.straggler",
      fmt::format("{} rail {} ({}) is slow with both partners: alone with {} it {} {}{}.", nic.host,
                  nic.rail, nic.device, join(partners, " and with "),
                  worst.to == nic.host ? "receives" : "sends", rates_text(worst),
                  good == 0 ? ""
                            : fmt::format("; {} of the host reached {} in the same loads",
                                          counted(good, "other rail"),
                                          good == 1 ? "its floor" : "their floors")),
      {.host = nic.host, .rail = fmt::format("{}", nic.rail), .device = nic.device});
  out.severity = finding::Severity::kError;
  out.evidence.push_back(line_of(worst));
  out.fix = fixes_of_nic(nic, partners.front());
  return out;
}

finding::Finding slow_path(const Alone& worst, const std::string& why) {
  const auto& [first, second] = std::minmax(worst.from, worst.to);
  finding::Finding out = finding::make_finding(
      "link.degraded",
      fmt::format("{} to {} is slow on rail {}, alone: {}{}.", worst.from, worst.to, worst.rail,
                  rates_text(worst), why),
      {.rail = fmt::format("{}", worst.rail), .link = fmt::format("{} - {}", first, second)});
  out.evidence.push_back(line_of(worst));
  return out;
}

finding::Finding slow_together(const SlowTogether& slow) {
  const Alone& worst = slow.alone.front();
  finding::Finding out = finding::make_finding(
      "hosts.below_floor",
      fmt::format("{} is slow on all {} hosts: none stands out, and alone, {} to {} on rail {} {} "
                  "{}.",
                  slow.what, slow.hosts, worst.from, worst.to, worst.rail,
                  worst.rate > 0 ? "reached" : "moved", rates_text(worst)),
      {.rail = slow.rail, .switch_name = slow.switch_name});
  for (const Alone& alone : slow.alone)
    out.evidence.push_back(line_of(alone));
  return out;
}

finding::Finding slow_uplinks(const SlowTogether& slow, const Alone& within, std::size_t uplinks) {
  const Alone& worst = slow.alone.front();
  finding::Finding out = finding::make_finding(
      "leaf.uplink_bottleneck",
      fmt::format("{} hosts below {} are slow with hosts below other leaves, not with each other: "
                  "alone, {} to {} {}, {} to {} {}. It has {}.",
                  slow.hosts, slow.switch_name, worst.from, worst.to, rates_text(worst),
                  within.from, within.to, rates_text(within), counted(uplinks, "uplink")),
      {.rail = slow.rail, .switch_name = slow.switch_name});
  out.severity = finding::Severity::kError;
  for (const Alone& alone : slow.alone)
    out.evidence.push_back(line_of(alone));
  out.evidence.push_back(line_of(within));
  return out;
}

}  // namespace weir::preflight
