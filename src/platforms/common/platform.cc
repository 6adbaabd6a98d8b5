#include "platforms/common/platform.h"

#include <array>

#include <fmt/format.h>

#include "base/check.h"
#include "evidence/changes.h"
#include "platforms/common/systems.h"
#include "platforms/openconfig/openconfig.h"

namespace weir::platforms {

std::span<const Platform> platforms() {
  // In the order of design::SwitchSystem.
  static const std::array kTable = {cumulus(), eos(), nxos(), junos(), sonic()};
  return kTable;
}

const Platform& platform_of(design::SwitchSystem system) {
  for (const Platform& platform : platforms())
    if (platform.system == system) return platform;
  WEIR_UNREACHABLE("every switch system has a row");
}

const Platform* recognise(std::string_view text) {
  const Platform* found = nullptr;
  for (const Platform& platform : platforms()) {
    if (!platform.recognises(text)) continue;
    if (found != nullptr) return nullptr;
    found = &platform;
  }
  if (openconfig().recognises(text)) return found == nullptr ? &openconfig() : nullptr;
  return found;
}

bool same_state(const evidence::Switch& a, const evidence::Switch& b) {
  return evidence::values_of(a) == evidence::values_of(b);
}

std::vector<std::string> differences(const evidence::Switch& a, const evidence::Switch& b) {
  std::vector<std::string> out;
  if (a.name != b.name) out.push_back(fmt::format("name: {}, {}", a.name, b.name));
  evidence::Evidence left;
  evidence::Evidence right;
  left.switches.push_back(a);
  right.switches.push_back(b);
  right.switches.front().name = a.name;  // so that their contents are compared
  for (const evidence::FactChange& change : evidence::fact_changes(left, right)) {
    std::string where = change.where;
    if (where.rfind(a.name, 0) == 0) where.erase(0, a.name.size());
    if (!where.empty() && where.front() == ' ') where.erase(0, 1);
    out.push_back(fmt::format("{}{}{}: {}, {}", where, where.empty() ? "" : " ", change.fact,
                              change.before, change.after));
  }
  return out;
}

}  // namespace weir::platforms
