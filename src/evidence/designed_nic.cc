#include "evidence/designed_nic.h"

namespace weir::evidence {

const design::NicIntent* designed_nic(const design::HostIntent& host, Origin origin,
                                      std::string_view device, std::string_view netdev) {
  for (const design::NicIntent& wanted : host.nics)
    if (wanted.device == device) return &wanted;
  if (origin != Origin::kText) return nullptr;
  for (const design::NicIntent& wanted : host.nics) {
    if (wanted.netdev.empty()) continue;
    if (wanted.netdev == device || wanted.netdev == netdev) return &wanted;
  }
  return nullptr;
}

const design::NicIntent* designed_nic(const design::HostIntent& host, Origin origin,
                                      const Nic& nic) {
  return designed_nic(host, origin, nic.device,
                      nic.netdev.is_known() ? std::string_view(*nic.netdev) : std::string_view());
}

const Nic* find_designed(const Evidence& found, const design::HostIntent& host,
                         const design::NicIntent& wanted) {
  if (const Nic* const nic = found.find_nic(wanted.device)) return nic;
  if (found.provenance.origin != Origin::kText || wanted.netdev.empty()) return nullptr;
  for (const Nic& nic : found.nics) {
    // Few have the name: only these are looked for among all that the design has.
    if (nic.device != wanted.netdev && !nic.netdev.is(wanted.netdev)) continue;
    if (designed_nic(host, found.provenance.origin, nic) == &wanted) return &nic;
  }
  return nullptr;
}

}  // namespace weir::evidence
