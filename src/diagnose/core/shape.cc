#include "diagnose/core/shape.h"

#include <algorithm>

namespace weir::diagnose {

bool has_hosts(const View& view, std::string_view switch_name) {
  const auto ports = view.ports_of(switch_name);
  return std::any_of(ports.begin(), ports.end(), [](const PortView* port) {
    return port->nic.has_value() || port->is_fabric() == std::optional(false);
  });
}

std::optional<bool> leads_up(const View& view, const PortView& port) {
  if (port.nic || port.is_fabric() == std::optional(false)) return false;
  if (!port.peer) return std::nullopt;
  const PortView& peer = view.ports()[*port.peer];
  if (port.wanted_switch != nullptr && peer.wanted_switch != nullptr) {
    if (port.wanted_switch->tier == peer.wanted_switch->tier) return std::nullopt;
    return peer.wanted_switch->tier > port.wanted_switch->tier;
  }
  const bool own = has_hosts(view, port.switch_name);
  const bool other = has_hosts(view, peer.switch_name);
  return own == other ? std::nullopt : std::optional(own);
}

std::optional<std::uint64_t> drops_of_switches(const View& view) {
  std::optional<std::uint64_t> sum;
  for (const PortView& port : view.ports()) {
    auto drops = port.counts.of("switch.port.drop.packets");
    if (!drops) {
      for (const std::string_view id :
           {"switch.queue.drop_tail.packets", "switch.queue.drop_wred.packets",
            "switch.pg.drop_admission.packets", "switch.pg.drop_headroom.packets"}) {
        if (const auto item = port.counts.sum(id)) drops = drops.value_or(0) + *item;
      }
    }
    if (!drops) return std::nullopt;
    sum = sum.value_or(0) + *drops;
  }
  return sum;
}

std::optional<double> use_of(const PortView& port) {
  const auto sent = port.counts.of("switch.port.tx.bytes");
  if (!sent || !port.speed || port.speed->raw() <= 0 || port.counts.window().raw() <= 0)
    return std::nullopt;
  const auto possible = static_cast<double>(bytes_in(port.counts.window(), *port.speed).raw());
  return possible <= 0 ? std::nullopt : std::optional(static_cast<double>(*sent) / possible);
}

bool sees_every_nic(const View& view) {
  if (view.intent() == nullptr || view.nics().size() < view.intent()->nic_count) return false;
  return std::all_of(view.nics().begin(), view.nics().end(),
                     [](const NicView& nic) { return nic.counts.are_there(); });
}

}  // namespace weir::diagnose
