#include "diagnose/core/fixes.h"

#include <algorithm>
#include <utility>

#include "counters/catalog.h"
#include "finding/catalog.h"

namespace weir::diagnose {
namespace {

using Names = std::vector<std::pair<std::string_view, std::string>>;

/// The catalogue's name of a NIC's platform; empty where it is not known.
std::string_view platform_of(const evidence::Nic& nic) {
  if (!nic.driver.is_known()) return "";
  switch (counters::driver_of(*nic.driver)) {
    case counters::Driver::kMlx5:
      if (!nic.stack.is_known()) return "";
      return *nic.stack == evidence::Stack::kOfed ? "mlx5-ofed" : "mlx5-inbox";
    case counters::Driver::kBnxt: return "bnxt";
    case counters::Driver::kIrdma: return "ice";
    case counters::Driver::kIonic: return "ionic";
    case counters::Driver::kAny:
    case counters::Driver::kRxe:
    case counters::Driver::kSwitch:
    case counters::Driver::kCumulus:
    case counters::Driver::kEos:
    case counters::Driver::kNxos:
    case counters::Driver::kJunos:
    case counters::Driver::kSonic: return "";
  }
  return "";
}

void replace_names(std::string& text, const Names& names) {
  for (const auto& [name, value] : names)
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
      text.replace(at, name.size(), value);
}

void fit(finding::Finding& finding, std::string_view platform, finding::Side side,
         const Names& names) {
  std::vector<finding::Fix> kept;
  for (finding::Fix& fix : finding::fixes_of(finding)) {
    const finding::Platform* at = finding::find_platform(fix.platform);
    if (at == nullptr) continue;
    const bool is_general = fix.platform == "any" || fix.platform == "host";
    const bool is_side =
        at->side == side || at->side == finding::Side::kAny || at->side == finding::Side::kJob;
    if (!is_side) continue;
    if (!platform.empty() && !is_general && at->side == side && fix.platform != platform) continue;
    for (std::string& command : fix.commands)
      replace_names(command, names);
    replace_names(fix.note, names);
    kept.push_back(std::move(fix));
  }
  if (kept.empty()) return;
  std::stable_sort(kept.begin(), kept.end(), [&](const finding::Fix& a, const finding::Fix& b) {
    return (a.platform == platform) > (b.platform == platform);
  });
  finding.fix = std::move(kept);
}

}  // namespace

void fit_fixes(const evidence::Nic* nic, finding::Finding& finding) {
  if (nic == nullptr) return;
  Names names = {{"<device>", nic->device}};
  if (nic->netdev.is_known()) names.emplace_back("<netdev>", *nic->netdev);
  fit(finding, platform_of(*nic), finding::Side::kHost, names);
}

void fit_fixes(const evidence::Switch* device, std::string_view port, finding::Finding& finding) {
  if (device == nullptr || !device->platform.is_known()) return;
  Names names;
  if (!port.empty()) names.emplace_back("<port>", std::string(port));
  fit(finding, *device->platform, finding::Side::kSwitch, names);
}

void fit_fixes(const View& view, finding::Finding& finding) {
  const finding::Where& where = finding.where;
  if (!where.switch_name.empty()) {
    const auto ports = view.ports_of(where.switch_name);
    if (!ports.empty()) fit_fixes(ports.front()->device, where.port, finding);
    return;
  }
  for (const NicView& nic : view.nics())
    if (nic.host == where.host && nic.device == where.device) return fit_fixes(nic.facts, finding);
}

}  // namespace weir::diagnose
