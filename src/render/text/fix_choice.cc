#include "render/text/fix_choice.h"

#include <algorithm>

#include "finding/catalog.h"

namespace weir::render {
namespace {

using finding::Side;

bool belongs_to(const finding::Where& where, Side side) {
  switch (side) {
    case Side::kAny: return true;
    case Side::kDesign: return !where.file.empty();
    case Side::kSwitch: return !where.switch_name.empty();
    case Side::kHost:
    case Side::kJob: return !where.host.empty() || !where.device.empty() || !where.rail.empty();
  }
  return true;
}

}  // namespace

ShownFixes fixes_for(const finding::Finding& finding) {
  const std::vector<finding::Fix> all = finding::fixes_of(finding);
  ShownFixes shown;
  if (!finding.fix.empty()) {
    shown.fixes = all;
    return shown;
  }
  for (const finding::Fix& fix : all) {
    const finding::Platform* platform = finding::find_platform(fix.platform);
    if (platform == nullptr || belongs_to(finding.where, platform->side)) {
      shown.fixes.push_back(fix);
    } else if (std::find(shown.others.begin(), shown.others.end(), fix.platform) ==
               shown.others.end()) {
      shown.others.push_back(fix.platform);
    }
  }
  if (!shown.fixes.empty()) return shown;
  return {all, {}};  // the place does not decide
}

std::vector<finding::Fix> with_other_rails(std::vector<finding::Fix> fixes,
                                           std::span<const finding::Finding* const> alike) {
  const auto placed = std::find_if(alike.begin(), alike.end(), [](const finding::Finding* found) {
    return !found->where.host.empty();
  });
  if (placed == alike.end()) return fixes;
  for (const finding::Finding* const other : alike) {
    if (other == alike.front() || other->where.host != (*placed)->where.host) continue;
    for (const finding::Fix& more : fixes_for(*other).fixes) {
      const auto same = std::find_if(fixes.begin(), fixes.end(), [&](const finding::Fix& fix) {
        return fix.platform == more.platform;
      });
      if (same == fixes.end()) continue;
      for (const std::string& command : more.commands)
        if (std::find(same->commands.begin(), same->commands.end(), command) ==
            same->commands.end())
          same->commands.push_back(command);
    }
  }
  return fixes;
}

}  // namespace weir::render
