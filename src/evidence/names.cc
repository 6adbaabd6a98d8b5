#include "evidence/names.h"

#include <fmt/format.h>

#include "base/untrusted/name_policy.h"

namespace weir::evidence {

Status check_names(const Switch& device, const std::string& place) {
  WEIR_TRY_STATUS(check_name(NameKind::kHost, device.name, place + "/name"));
  for (std::size_t i = 0; i < device.ports.size(); ++i)
    WEIR_TRY_STATUS(check_name(NameKind::kPort, device.ports[i].name,
                               fmt::format("{}/ports/{}/name", place, i)));
  return {};
}

Status check_names(const Evidence& evidence) {
  // Evidence of a whole fabric has no host.
  if (!evidence.provenance.host.empty())
    WEIR_TRY_STATUS(check_name(NameKind::kHost, evidence.provenance.host, "/provenance/host"));
  for (std::size_t i = 0; i < evidence.nics.size(); ++i) {
    const Nic& nic = evidence.nics[i];
    WEIR_TRY_STATUS(check_name(NameKind::kDevice, nic.device, fmt::format("/nics/{}/device", i)));
    if (nic.netdev.is_known())
      WEIR_TRY_STATUS(
          check_name(NameKind::kNetdev, *nic.netdev, fmt::format("/nics/{}/netdev", i)));
  }
  for (std::size_t i = 0; i < evidence.switches.size(); ++i)
    WEIR_TRY_STATUS(check_names(evidence.switches[i], fmt::format("/switches/{}", i)));
  return {};
}

}  // namespace weir::evidence
