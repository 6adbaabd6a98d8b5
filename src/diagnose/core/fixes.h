#pragma once
// What to type at the place at hand: the catalogue's lines for the platform that is there, with the
// names that are known filled in.
#include <span>

#include "diagnose/core/view.h"
#include "evidence/deviation.h"
#include "finding/finding.h"

namespace weir::diagnose {

/// Sets `finding.fix` from its place. Left to the catalogue where the place is not in the view, or
/// nothing of the catalogue fits it.
void fit_fixes(const View& view, finding::Finding& finding);

/// The same without a view, for one NIC's facts (may be null) or one switch's.
void fit_fixes(const evidence::Nic* nic, finding::Finding& finding);
/// … and with the very commands that set `changes` on this NIC in front, in place of the
/// catalogue's examples for the same. Changes that the driver cannot make are left out.
void fit_fixes(const evidence::Nic& nic, std::span<const evidence::SettingValue> changes,
               finding::Finding& finding);
void fit_fixes(const evidence::Switch* device, std::string_view port, finding::Finding& finding);

}  // namespace weir::diagnose
