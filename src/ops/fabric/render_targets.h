#pragma once
// What `weir render --to` can print: one row per target. A new target is a row in render_targets.cc
// and a function that makes files from intent; files, options, --json and help come from the verb.
// The switch systems come by themselves: one row for each of platforms::platforms().
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "design/fabric/intent.h"
#include "design/file/fabric.h"
#include "evidence/evidence.h"
#include "finding/thresholds.h"
#include "platforms/common/platform.h"

namespace weir::ops {

/// Stands for the name of a node in RenderTarget::how_use.
inline constexpr std::string_view kNodeWord = "NODE";

/// What a target prints files for.
enum class RenderScope {
  kHost,    // each host
  kSwitch,  // each switch of the target's system
  kFabric,  // the design as a whole: --node has no meaning
};

struct TargetInput {
  const design::Design& design;
  const design::Intent& intent;
  const design::HostIntent* host = nullptr;         // of kHost
  const design::SwitchIntent* switch_at = nullptr;  // of kSwitch
  std::string_view tool;                            // --using; empty: the target's own choice
  std::string_view format;                          // --format; empty: the target's first
  std::span<const evidence::Evidence> seen = {};    // hosts that --host-evidence and --root show
  finding::Thresholds thresholds = {};
};

struct RenderTarget {
  std::string_view name;     // "host-script"
  std::string_view summary;  // half a line
  std::string_view how_use;  // what to do with the files, one line; kNodeWord is a node's name
  RenderScope scope = RenderScope::kHost;
  /// Of kHost and kFabric, and of kSwitch where `platform` is not set. The first file is the one
  /// that is printed where no directory is named; names end in .sh where a file is to be run.
  weir::Result<platforms::Rendered> (*render)(const TargetInput&) = nullptr;
  /// Files for all nodes together (an inventory, a playbook); may be empty.
  weir::Result<platforms::Rendered> (*render_common)(const TargetInput&) = nullptr;
  const platforms::Platform* platform = nullptr;  // of kSwitch: a switch's own system
  std::vector<std::string_view> tools = {};       // that --using may name
  std::vector<std::string_view> formats = {};     // that --format may name
  bool has_thresholds = false;                    // its rules have limits: --threshold
};

/// The target that needs no name: a switch's own system.
inline constexpr std::string_view kOwnSystem = "switch";

/// Hosts first, then switches, then the whole fabric.
[[nodiscard]] std::span<const RenderTarget> render_targets();

}  // namespace weir::ops
