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

}  // namespace weir::render
