#include <algorithm>

#include <fmt/format.h>

#include "diagnose/rules/rule.h"

namespace weir::diagnose {

void Suspicions::cannot_tell(std::string check, std::string reason, std::string how) {
  const bool is_known = std::any_of(
      unknown_.begin(), unknown_.end(),
      [&](const finding::Unknown& one) { return one.check == check && one.reason == reason; });
  if (!is_known) unknown_.push_back({std::move(check), std::move(reason), std::move(how)});
}

std::string percent(double share) {
  const double value = share * 100;
  return value >= 10 ? fmt::format("{:.0f} %", value) : fmt::format("{:.2g} %", value);
}

std::string name_of(const NicView& nic) {
  return nic.host.empty() ? nic.device : fmt::format("{} {}", nic.host, nic.device);
}

std::string name_of(const PortView& port) {
  return fmt::format("{} {}", port.switch_name, port.name);
}

finding::EvidenceLine fact_line(std::string source, std::string line) {
  finding::EvidenceLine out;
  out.source = std::move(source);
  out.line = std::move(line);
  return out;
}

std::vector<Consequence> congestion_anywhere() {
  std::vector<Consequence> out;
  for (const std::string_view id :
       {"ecn.thresholds_too_high", "dcqcn.too_conservative", "ecmp.imbalance", "pfc.sustained",
        "path.loss", "port.discards", "congestion.sustained"})
    out.push_back({.id = id, .is_general = true});
  return out;
}

}  // namespace weir::diagnose
