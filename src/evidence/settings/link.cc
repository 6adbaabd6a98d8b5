// The link as such: up, its speed, its GIDs, 802.3x.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "evidence/address.h"
#include "evidence/settings/row.h"

namespace weir::evidence {
namespace {

using vocab::LinkSpeed;
using vocab::LinkState;
using vocab::RoceGids;
using vocab::SetGlobalPause;

std::optional<SettingValue> wanted_gid(const NicCase& c) {
  if (!gid_of(c.wanted.address)) return RoceGids{};
  return RoceGids{{c.wanted.address}};
}

Fact<SettingValue> found_gids(const SettingValue& /*like*/, const Nic& nic) {
  const auto& gids = nic.rdma.gids;
  if (!gids.is_known()) return Fact<SettingValue>::missing(why_unknown(gids), gids.source());
  RoceGids out;
  for (const Gid& gid : *gids)
    if (gid.type == GidType::kRoceV2) out.gids.push_back(gid.gid);
  return Fact<SettingValue>::of(std::move(out), gids.source());
}

/// Sites number their hosts in their own way: any address of the rail's subnet is the rail's.
void compare_gid(const NicCase& c, std::vector<Deviation>& out) {
  const SettingValue wanted = *wanted_gid(c);
  const std::optional<Address> address = gid_of(c.wanted.address);
  const Fact<SettingValue> found = found_gids(wanted, c.nic);
  if (!found.is_known()) return out.push_back(not_read(wanted, found.why()));
  const auto is_right = [&](const std::string& text) {
    const std::optional<Address> gid = gid_of(text);
    if (!gid) return false;
    if (!address) return !is_link_local(*gid);
    return *gid == *address || is_within(*gid, c.wanted.subnet);
  };
  const std::vector<std::string>& gids = std::get<RoceGids>(*found).gids;
  if (std::none_of(gids.begin(), gids.end(), is_right)) out.push_back(differs(wanted, *found));
}

/// Each direction on its own: one that is not shown does not hide that the other is wrong.
void compare_pause(const NicCase& c, std::vector<Deviation>& out) {
  const SetGlobalPause wanted{c.wanted.global_pause, c.wanted.global_pause};
  const Fact<bool>& rx = c.nic.link.pause_rx;
  const Fact<bool>& tx = c.nic.link.pause_tx;
  const auto value = [](const Fact<bool>& fact) {
    return fact.is_known() ? std::optional<bool>(*fact) : std::nullopt;
  };
  const auto is_wrong = [&](const Fact<bool>& fact) {
    return fact.is_known() && *fact != c.wanted.global_pause;
  };
  if (is_wrong(rx) || is_wrong(tx))
    return out.push_back(differs(wanted, SetGlobalPause{value(rx), value(tx)}));
  if (!rx.is_known() || !tx.is_known())
    out.push_back(not_read(wanted, why_unknown(rx.is_known() ? tx : rx)));
}

Lines pause_commands(const SetGlobalPause& value, const CommandPort& port, const Nic&) {
  const auto word = [](std::optional<bool> is_on) { return is_on.value_or(false) ? "on" : "off"; };
  return {fmt::format("ethtool -A {} rx {} tx {}", port.netdev, word(value.rx), word(value.tx))};
}

void pause_rail(RailScript& script) {
  const std::string_view pause = script.nic.global_pause ? "on" : "off";
  script.settle("global pause", fmt::format("{0},{0}", pause), "read_pause", script.netdev,
                fmt::format("set_pause {} {}", script.netdev, pause));
}

constexpr std::string_view kPauseShell = R"sh(read_pause() {
  ethtool -a "$1" | awk '/^RX:/ { rx = $2 } /^TX:/ { tx = $2 } END { if (rx) print rx "," tx }'
}
set_pause() { ethtool -A "$1" rx "$2" tx "$2"; }

)sh";

constexpr std::string_view kLinkTools = "ip link show <netdev>, ethtool <netdev>";
constexpr std::string_view kRdmaTools =
    "rdma link show; /sys/class/infiniband/<device>/ports/1/gids";

constexpr auto kLinkRows = std::to_array<SettingRow>({
    {.setting = Setting::kDevice,
     .finding = "link.degraded",
     .how_to_read = kLinkTools,
     .not_changed = "check that the NIC is there (lspci) and that its driver is loaded"},
    {.setting = Setting::kLinkUp,
     .wanted = [](const NicCase&) -> std::optional<SettingValue> { return LinkState{}; },
     .found = [](const SettingValue&, const Nic& nic) { return value_of<LinkState>(nic.link.up); },
     .finding = "link.degraded",
     .how_to_read = kLinkTools,
     .not_changed = "check the cable, the optics and the switch port"},
    {.setting = Setting::kSpeed,
     .wanted = [](const NicCase& c) -> std::optional<SettingValue> {
       if (c.wanted.speed.raw() <= 0) return std::nullopt;
       return LinkSpeed{c.wanted.speed};
     },
     .found = [](const SettingValue&,
                 const Nic& nic) { return value_of<LinkSpeed>(nic.link.speed); },
     .finding = "link.degraded",
     .how_to_read = kLinkTools,
     .not_changed = "check the cable and the speed set on the switch port"},
    {.setting = Setting::kGidV2,
     .wanted = wanted_gid,
     .found = found_gids,
     .compare = compare_gid,
     .finding = "gid.not_routable",
     .how_to_read = kRdmaTools,
     .not_changed = "give the interface its address; the GID follows"},
    {.setting = Setting::kGlobalPause,
     .wanted = [](const NicCase& c) -> std::optional<SettingValue> {
       return SetGlobalPause{c.wanted.global_pause, c.wanted.global_pause};
     },
     .found =
         [](const SettingValue&, const Nic& nic) {
           return value_of<SetGlobalPause>(nic.link.pause_rx, nic.link.pause_tx);
         },
     .compare = compare_pause,
     .finding = "pause.global_on",
     .how_to_read = "ethtool -g <netdev>, ethtool -a <netdev>",
     .absent_is_right = true,
     .commands = Typed<pause_commands>::commands,
     .script = {.common = kPauseShell, .rail = pause_rail}},
});

}  // namespace

std::span<const SettingRow> link_rows() {
  return kLinkRows;
}

}  // namespace weir::evidence
