#include "tune/rollout/node_change.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "design/tables/nic_knobs.h"
#include "evidence/deviation.h"
#include "platforms/common/platform.h"
#include "vocab/nic_drivers.h"

namespace weir::tune {
namespace {

using LineList = std::vector<std::string>;

LineList config_lines(std::string_view text) {
  LineList out;
  for (const std::string_view line : split(text, '\n'))
    if (!trim(line).empty()) out.emplace_back(line);
  return out;
}

/// Those of `lines` that `others` does not have.
LineList lines_only_in(const LineList& lines, const LineList& others) {
  const std::set<std::string_view> known(others.begin(), others.end());
  LineList out;
  for (const std::string& line : lines)
    if (!known.contains(line)) out.push_back(line);
  return out;
}

/// Without the last word: what a later line with the same begin replaces.
std::string_view path_of_line(std::string_view line) {
  return line.substr(0, line.rfind(' '));
}

// ---- NVUE: a set of the same path replaces ----

LineList nvue_lines(const LineList& before, const LineList& after) {
  constexpr std::string_view kSet = "nv set ";
  LineList out;
  std::set<std::string> replaced;
  for (const std::string& line : lines_only_in(after, before)) {
    if (!line.starts_with(kSet)) continue;
    out.push_back(line);
    replaced.emplace(path_of_line(line));
  }
  for (const std::string& line : lines_only_in(before, after))
    if (line.starts_with(kSet) && !replaced.contains(std::string(path_of_line(line))))
      out.push_back(fmt::format("nv unset {}", path_of_line(line.substr(kSet.size()))));
  if (!out.empty()) out.emplace_back("nv config apply");
  return out;
}

// ---- Junos: a set of the same path replaces, but lists (fill levels) grow ----

LineList junos_lines(const LineList& before, const LineList& after) {
  constexpr std::string_view kList = " interpolate ";
  LineList changes;
  std::set<std::string> lists;  // "set class-of-service drop-profiles ROCE-ECN interpolate"
  const auto list_of = [&](const std::string& line) {
    const std::size_t at = line.find(kList);
    return at == std::string::npos ? std::string() : line.substr(0, at + kList.size() - 1);
  };
  for (const std::string& line : lines_only_in(after, before)) {
    if (!line.starts_with("set ")) continue;
    if (const std::string list = list_of(line); !list.empty()) {
      lists.insert(list);
    } else {
      changes.push_back(line);
    }
  }
  for (const std::string& line : lines_only_in(before, after))
    if (const std::string list = list_of(line); line.starts_with("set ") && !list.empty())
      lists.insert(list);
  for (const std::string& list : lists) {
    changes.push_back("delete" + list.substr(std::string_view("set").size()));
    for (const std::string& line : after)
      if (line.starts_with(list + " ")) changes.push_back(line);
  }
  if (changes.empty()) return {};
  LineList out = {"configure"};
  out.insert(out.end(), changes.begin(), changes.end());
  out.insert(out.end(), {"commit check", "commit confirmed 10", "commit"});
  return out;
}

// ---- indented CLIs: a line needs the lines above it that are indented less ----

std::size_t depth_of(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

bool is_remark_line(std::string_view line) {
  return trim(line).starts_with('!');
}

/// Every line with those that it is inside of, outermost first.
std::vector<LineList> lines_in_blocks(const LineList& lines) {
  std::vector<LineList> out;
  LineList open;
  for (const std::string& line : lines) {
    if (is_remark_line(line)) continue;
    while (!open.empty() && depth_of(open.back()) >= depth_of(line))
      open.pop_back();
    open.push_back(line);
    out.push_back(open);
  }
  return out;
}

LineList indented_lines(const LineList& before, const LineList& after) {
  const std::vector<LineList> old = lines_in_blocks(before);
  const std::set<LineList> known(old.begin(), old.end());
  LineList out;
  LineList open;  // the blocks that the lines so far are in
  std::set<std::string> changed_blocks;
  for (const LineList& path : lines_in_blocks(after)) {
    if (known.contains(path)) continue;
    changed_blocks.insert(path.front());
    for (std::size_t i = 0; i < path.size(); ++i)
      if (i >= open.size() || open[i] != path[i]) {
        open.assign(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        out.push_back(path[i]);
      }
  }
  // A block that takes effect by a line of its own: "platform trident mmu queue profile X apply".
  for (const std::string& line : after)
    if (line.ends_with(" apply") && changed_blocks.contains(std::string(path_of_line(line))))
      out.push_back(line);
  return out;
}

LineList wrapped(LineList first, const LineList& lines, const LineList& last) {
  if (lines.empty()) return {};
  first.insert(first.end(), lines.begin(), lines.end());
  first.insert(first.end(), last.begin(), last.end());
  return first;
}

// ---- a switch ----

const design::SwitchIntent& switch_in(const design::Intent& intent, std::size_t index) {
  WEIR_CHECK(index < intent.switches.size());
  return intent.switches[index];
}

std::string config_text(const design::Intent& intent, const design::SwitchIntent& node) {
  const platforms::Rendered rendered = platforms::platform_of(node.system).render(intent, node);
  WEIR_CHECK(!rendered.files.empty());
  return rendered.files.front().text;
}

/// Ports whose state differs, in the order of the switch.
std::vector<std::string> changed_ports(const evidence::Switch& before,
                                       const evidence::Switch& after) {
  std::set<std::string> named;
  for (const std::string& line : platforms::differences(before, after))
    named.insert(line.substr(0, line.find(' ')));
  std::vector<std::string> out;
  for (const evidence::SwitchPort& port : after.ports)
    if (named.contains(port.name)) out.push_back(port.name);
  return out;
}

/// What this system makes of the new values otherwise than the design has them.
std::vector<std::string> new_remarks(const platforms::Lowered& before,
                                     const platforms::Lowered& after) {
  std::vector<std::string> out;
  for (const platforms::Remark& remark : after.remarks) {
    if (std::find(before.remarks.begin(), before.remarks.end(), remark) != before.remarks.end())
      continue;
    out.push_back(remark.becomes.empty() ? fmt::format("{} ({}) cannot be expressed: {}",
                                                       remark.what, remark.wanted, remark.why)
                                         : fmt::format("{}: {} becomes {}: {}", remark.what,
                                                       remark.wanted, remark.becomes, remark.why));
  }
  return out;
}

Status add_sonic_change(const std::string& before, const std::string& after, NodeChange& out) {
  WEIR_TRY(forth, json_patch(before, after));
  WEIR_TRY(back, json_patch(after, before));
  if (forth.empty()) return {};
  out.files = {{out.node + ".patch.json", forth}, {out.node + ".undo.json", back}};
  out.commands = {fmt::format("sudo config apply-patch --dry-run {}.patch.json", out.node),
                  fmt::format("sudo config apply-patch {}.patch.json", out.node)};
  out.undo = {fmt::format("sudo config apply-patch {}.undo.json", out.node)};
  return {};
}

}  // namespace

std::vector<std::string> changed_lines(vocab::SwitchSystem system, std::string_view before,
                                       std::string_view after) {
  const LineList old = config_lines(before);
  const LineList wanted = config_lines(after);
  switch (system) {
    case vocab::SwitchSystem::kCumulus: return nvue_lines(old, wanted);
    case vocab::SwitchSystem::kJunos: return junos_lines(old, wanted);
    case vocab::SwitchSystem::kEos:
      return wrapped({"configure session weir"}, indented_lines(old, wanted),
                     {"show session-config diffs", "commit"});
    case vocab::SwitchSystem::kNxos:
      return wrapped({"configure terminal"}, indented_lines(old, wanted), {"end"});
    case vocab::SwitchSystem::kSonic: break;
  }
  WEIR_UNREACHABLE("SONiC has no lines");
}

Result<NodeChange> switch_change(const ChangeStates& states, std::size_t node, RolloutPlace place) {
  const design::SwitchIntent& old = switch_in(states.before, node);
  const design::SwitchIntent& wanted = switch_in(states.after, node);
  NodeChange out;
  out.node = wanted.name;
  out.live = &live_row(wanted.system, place);
  if (!wanted.ports_fault.empty()) {
    out.why_none = "its ports do not fit the box: weir lint";
    return out;
  }
  const platforms::Platform& system = platforms::platform_of(wanted.system);
  const platforms::Lowered before = system.lower(states.before, old);
  const platforms::Lowered after = system.lower(states.after, wanted);
  out.notes = new_remarks(before, after);
  if (platforms::same_state(before.state, after.state)) {
    out.why_none = out.notes.empty() ? std::string("this change is not for it")
                                     : fmt::format("nothing changes there: {}", out.notes.front());
    return out;
  }
  out.ports = changed_ports(before.state, after.state);
  const std::string old_text = config_text(states.before, old);
  const std::string new_text = config_text(states.after, wanted);
  if (wanted.system == vocab::SwitchSystem::kSonic) {
    WEIR_TRY_STATUS(add_sonic_change(old_text, new_text, out));
  } else {
    out.commands = changed_lines(wanted.system, old_text, new_text);
    out.undo = changed_lines(wanted.system, new_text, old_text);
  }
  if (out.commands.empty()) out.why_none = "nothing changes there";
  return out;
}

NodeChange host_change(const ChangeStates& states, std::size_t host, std::string_view knob) {
  WEIR_CHECK(host < states.after.hosts.size() && knob.starts_with("dcqcn."));
  const design::HostIntent& node = states.after.hosts[host];
  NodeChange out;
  out.node = node.name;
  out.is_host = true;
  out.live = live_row(node);
  if (out.live == nullptr) {
    out.why_none = "its NICs have no DCQCN parameters of that name";
    return out;
  }
  const std::string name(knob.substr(std::string_view("dcqcn.").size()));
  const auto value_in = [&](const design::Intent& intent) {
    const auto found = intent.dcqcn.find(name);
    return found == intent.dcqcn.end() ? std::int64_t{0} : found->second;
  };
  for (const design::NicIntent& nic : node.nics) {
    evidence::Nic as_found;
    as_found.device = nic.device;
    as_found.netdev = evidence::Fact<std::string>::of(nic.netdev);
    as_found.driver = evidence::Fact<std::string>::of(
        std::string(vocab::find_driver(vocab::Driver::kMlx5)->kernel));
    as_found.stack = evidence::Fact<evidence::Stack>::of(
        node.stack == design::HostStack::kOfed ? evidence::Stack::kOfed : evidence::Stack::kInbox);
    out.ports.push_back(nic.netdev);
    const auto add = [&](const design::Intent& intent, std::vector<std::string>& lines) {
      for (std::string& line :
           evidence::commands_for(vocab::SetKnob{name, value_in(intent)}, as_found))
        lines.push_back(std::move(line));
    };
    add(states.after, out.commands);
    add(states.before, out.undo);
  }
  return out;
}

}  // namespace weir::tune
