#pragma once
// The one table of finding ids. `weir explain`, the JSON output and the tests all read it, so that
// they cannot disagree.
//
// Commands show the usual convention, because a line that can be read is worth more than one that
// can be pasted blindly: RDMA on DSCP 26, priority and queue 3; CNPs on DSCP 48, priority and
// queue 6. What a user must fill in is in <angle brackets>. `weir render` prints them for a
// design.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "finding/finding.h"

namespace weir::finding {

/// Which end of the work a fix belongs to; tells a renderer which of them matter at a place.
enum class Side : std::uint8_t { kAny, kDesign, kHost, kSwitch, kJob };

struct Platform {
  std::string_view name;   // as in Fix::platform
  std::string_view title;  // "NVIDIA ConnectX, vendor driver (mlnx_qos, sysfs)"
  Side side = Side::kAny;
};

/// Every platform that a fix may name, in the order in which they are shown.
[[nodiscard]] std::span<const Platform> platforms();
[[nodiscard]] const Platform* find_platform(std::string_view name);

struct CatalogFix {
  std::string_view platform;  // see Fix::platform
  std::vector<std::string_view> commands =
      {};  // with <placeholders> where a value is the user's own
  std::string_view note = {};
};

/// Everything about a fault that does not depend on the case at hand.
struct CatalogEntry {
  std::string_view id;                   // "dscp.tos_confusion"
  std::string_view title;                // half a line: "a DSCP typed where a TOS byte belongs"
  Severity severity = Severity::kError;  // the usual one; a rule may lower or raise it and says why
  std::vector<std::string_view> aliases =
      {};  // check ids of field reports and codes that mean this fault
  std::vector<std::string_view> rows = {};  // mission rows: "A2", "I14"
  std::string_view phase;                   // the first step that can find it, see phases()
  std::string_view why;                     // what it does to the fabric, two to five sentences
  std::vector<CatalogFix> fix = {};
  std::vector<std::string_view> sources = {};  // one citation a claim
};

/// The steps of the work, in order: "lint", "job", "validate", "verify", "diagnose", "monitor".
[[nodiscard]] std::span<const std::string_view> phases();

/// All entries, sorted by id.
[[nodiscard]] std::span<const CatalogEntry> catalog();

/// By id or by alias; nullptr when there is none.
[[nodiscard]] const CatalogEntry* find(std::string_view id_or_alias);

/// A finding of this id with the catalogue's severity; the rule adds the case at hand.
/// REQUIRES: an id of the catalogue, not an alias.
[[nodiscard]] Finding make_finding(std::string_view id, std::string verdict, Where where = {});

/// The finding's own fixes, or the catalogue's where it has none.
[[nodiscard]] std::vector<Fix> fixes_of(const Finding&);

}  // namespace weir::finding
