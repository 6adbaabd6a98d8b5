#include "ops/fabric/render.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "design/file/words.h"
#include "ops/source/snapshot_file.h"

namespace weir::ops {
namespace {

/// The nodes that a target has files for, in the order of the design.
std::vector<std::string> nodes_of(const RenderTarget& target, const design::Intent& intent) {
  std::vector<std::string> names;
  if (target.scope == RenderScope::kHost) {
    for (const design::HostIntent& host : intent.hosts)
      names.push_back(host.name);
  }
  if (target.scope == RenderScope::kSwitch) {
    for (const design::SwitchIntent& node : intent.switches) {
      if (target.platform == nullptr || node.system == target.platform->system)
        names.push_back(node.name);
    }
  }
  return names;
}

/// Why a node that the target has no files for is none; empty where it is no node at all.
std::string why_not(const RenderTarget& target, const design::Intent& intent,
                    const std::string& name) {
  if (const design::SwitchIntent* node = find_switch(intent, name)) {
    if (target.scope == RenderScope::kHost)
      return fmt::format("{} is a switch and {} is for hosts", name, target.name);
    return fmt::format("{} runs {} by the design: weir render --to {} --node {}", name,
                       design::to_word(node->system), design::to_word(node->system), name);
  }
  if (find_host(intent, name) != nullptr)
    return fmt::format("{} is a host and {} is for switches", name, target.name);
  return {};
}

Result<std::vector<std::string>> chosen_nodes(const RenderRequest& request,
                                              const RenderTarget& target,
                                              const design::Intent& intent) {
  const std::vector<std::string> all = nodes_of(target, intent);
  if (target.scope == RenderScope::kFabric) return all;
  if (!request.node.empty()) {
    const std::string& node = request.node;
    if (std::find(all.begin(), all.end(), node) != all.end()) return std::vector{node};
    const std::string why = why_not(target, intent, node);
    if (!why.empty()) return bad_input(why);
    return bad_input(fmt::format("the design has no node '{}'{}", node, did_you_mean(node, all)));
  }
  if (all.empty()) return bad_input(fmt::format("the design has no node for {}", target.name));
  if (request.all_nodes || all.size() == 1) return all;
  return bad_request(
      fmt::format("{} is made for each node: name one of {} with --node ({}, …), or write all with "
                  "--out DIR",
                  target.name, all.size(), all.front()));
}

/// `given` is one of the words that the target knows, or nothing.
Status check_choice(std::string_view option, const std::string& given,
                    const std::vector<std::string_view>& known, std::string_view target) {
  if (given.empty() || std::find(known.begin(), known.end(), given) != known.end()) return {};
  if (known.empty()) return bad_request(fmt::format("{} has no meaning for {}", option, target));
  return bad_request(fmt::format("{} of {} is one of: {}", option, target, fmt::join(known, ", ")));
}

/// Hosts as they were seen, which some targets read GID indexes from.
Result<std::vector<evidence::Evidence>> seen_hosts(const RenderRequest& request) {
  std::vector<evidence::Evidence> seen;
  for (const std::string& path : request.host_evidence) {
    WEIR_TRY(read, or_bad_input(read_snapshot_file(path)));
    std::move(read.begin(), read.end(), std::back_inserter(seen));
  }
  if (!request.source) return seen;
  WEIR_TRY(set, open_hosts(*request.source));
  Observation observed = observe(set);
  std::move(observed.hosts.begin(), observed.hosts.end(), std::back_inserter(seen));
  return seen;
}

void add(const std::string& node, platforms::Rendered made, RenderedFiles& out) {
  for (platforms::ConfigFile& file : made.files)
    out.files.push_back({node, std::move(file)});
  for (platforms::Remark& remark : made.remarks)
    out.remarks.push_back({node, std::move(remark)});
}

/// A switch whose links do not fit its box has no names that exist: nothing is written for it.
weir::Status check_ports(const design::SwitchIntent& node) {
  if (node.ports_fault.empty()) return {};
  return weir::invalid_error(fmt::format("{}: {}; nothing was rendered (weir lint says where)",
                                         node.name, node.ports_fault));
}

weir::Status check_network(const design::Design& design) {
  if (*design.addressing.vrf == "default") return {};
  return weir::invalid_error(fmt::format(
      "{}: addressing.vrf '{}' is not rendered: configure the routing instance by hand and leave "
      "it out of the design",
      design.file, *design.addressing.vrf));
}

weir::Status render_nodes(const Fabric& fabric, const RenderRequest& request,
                          const RenderTarget& target, const std::vector<std::string>& nodes,
                          RenderedFiles& out) {
  for (const std::string& name : nodes) {
    TargetInput input{.design = fabric.design, .intent = fabric.intent, .tool = request.tool};
    if (target.scope == RenderScope::kHost) input.host = find_host(fabric.intent, name);
    if (target.scope == RenderScope::kSwitch) {
      input.switch_at = find_switch(fabric.intent, name);
      WEIR_TRY_STATUS(check_network(fabric.design));
      WEIR_TRY_STATUS(check_ports(*input.switch_at));
    }
    if (target.platform != nullptr) {
      add(name, target.platform->render(fabric.intent, *input.switch_at), out);
      continue;
    }
    WEIR_TRY(made, target.render(input));
    add(name, std::move(made), out);
  }
  return {};
}

/// Files for the design as a whole, or for all nodes together.
weir::Status render_whole(const Fabric& fabric, const RenderRequest& request,
                          const RenderTarget& target, std::span<const evidence::Evidence> seen,
                          RenderedFiles& out) {
  const TargetInput whole{.design = fabric.design,
                          .intent = fabric.intent,
                          .tool = request.tool,
                          .format = request.format,
                          .seen = seen,
                          .thresholds = request.thresholds.value_or(finding::Thresholds())};
  if (target.scope == RenderScope::kFabric) {
    WEIR_TRY(made, target.render(whole));
    add("", std::move(made), out);
  }
  if (request.all_nodes && target.render_common != nullptr) {
    WEIR_TRY(made, target.render_common(whole));
    add("", std::move(made), out);
  }
  return {};
}

}  // namespace

Result<RenderedFiles> render(const RenderRequest& request) {
  WEIR_TRY(fabric, load_fabric(request.design));
  // Without a name: a switch in its own system, a host's script.
  const bool is_host = find_host(fabric.intent, request.node) != nullptr;
  const std::string_view name = !request.target.empty() ? std::string_view(request.target)
                                : is_host               ? "host-script"
                                                        : kOwnSystem;
  const auto targets = render_targets();
  const auto target = std::find_if(targets.begin(), targets.end(),
                                   [&](const RenderTarget& entry) { return entry.name == name; });
  if (target == targets.end()) return bad_request("no target " + request.target);
  WEIR_TRY_STATUS(check_choice("--using", request.tool, target->tools, target->name));
  WEIR_TRY_STATUS(check_choice("--format", request.format, target->formats, target->name));
  if (request.thresholds && !target->has_thresholds)
    return bad_request(fmt::format("--threshold has no meaning for {}", target->name));
  WEIR_TRY(nodes, chosen_nodes(request, *target, fabric.intent));
  WEIR_TRY(seen, seen_hosts(request));
  RenderedFiles out;
  out.target = &*target;
  WEIR_TRY_STATUS(or_bad_input(render_nodes(fabric, request, *target, nodes, out)));
  WEIR_TRY_STATUS(or_bad_input(render_whole(fabric, request, *target, seen, out)));
  return out;
}

}  // namespace weir::ops
