#pragma once
// What one change of the design means on one node: the lines to type there, and those that take it
// back. Both come from the renderers: the configuration before and after, and what differs.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "design/fabric/intent.h"
#include "design/file/fabric.h"
#include "tune/rollout/live_table.h"

namespace weir::tune {

struct ChangeFile {
  std::string name;  // "leaf1.patch.json"
  std::string text;
};

struct NodeChange {
  std::string node;
  bool is_host = false;
  std::vector<std::string> ports;     // whose settings change; of a host its NICs
  std::vector<std::string> commands;  // to type there
  std::vector<std::string> undo;      // and back
  std::vector<ChangeFile> files;      // that the commands load
  std::vector<std::string> notes;     // what the system rounds
  std::string why_none;               // nothing is to be done there; empty: something is
  const LiveRow* live = nullptr;

  [[nodiscard]] bool is_change() const { return why_none.empty(); }
};

/// Two states of one fabric.
struct ChangeStates {
  const design::Intent& before;
  const design::Intent& after;
};

/// `knob` is "dcqcn.…". REQUIRES: an index of hosts that both states have.
[[nodiscard]] NodeChange host_change(const ChangeStates& states, std::size_t host,
                                     std::string_view knob);
/// REQUIRES: an index of switches that both states have.
[[nodiscard]] Result<NodeChange> switch_change(const ChangeStates& states, std::size_t node,
                                               RolloutPlace place);

// ---- parts, for tests ----

/// What to type on a switch of that system so that the first configuration becomes the second.
/// Empty where they are equal. Not for SONiC, whose configuration is JSON.
[[nodiscard]] std::vector<std::string> changed_lines(vocab::SwitchSystem system,
                                                     std::string_view before,
                                                     std::string_view after);
/// RFC 6902, of two texts of JSON, as `config apply-patch` takes it; empty where they are equal.
[[nodiscard]] Result<std::string> json_patch(std::string_view before, std::string_view after);

}  // namespace weir::tune
