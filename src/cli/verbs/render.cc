// weir render: the design as configuration, for hosts, switches and people.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/transition.h"
#include "cli/json/object.h"
#include "cli/verbs/render_targets.h"
#include "design/file/words.h"

namespace weir::cli {
namespace {

using platforms::ConfigFile;
using platforms::Remark;

/// One file or remark, and the node it belongs to; empty: to all of them.
struct NodeFile {
  std::string node;
  ConfigFile file;
};
struct NodeRemark {
  std::string node;
  Remark remark;
};
struct Output {
  std::vector<NodeFile> files;
  std::vector<NodeRemark> remarks;

  void add(const std::string& node, platforms::Rendered made) {
    for (ConfigFile& file : made.files)
      files.push_back({node, std::move(file)});
    for (Remark& remark : made.remarks)
      remarks.push_back({node, std::move(remark)});
  }
};

const RenderTarget& target_named(std::string_view name) {
  const auto targets = render_targets();
  const auto found = std::find_if(targets.begin(), targets.end(),
                                  [&](const RenderTarget& one) { return one.name == name; });
  WEIR_CHECK(found != targets.end());  // the parser has checked the choice
  return *found;
}

/// The nodes that a target has files for, in the order of the design.
std::vector<std::string> nodes_of(const RenderTarget& target, const design::Intent& intent) {
  std::vector<std::string> names;
  if (target.scope == RenderScope::kHost) {
    for (const design::HostIntent& host : intent.hosts)
      names.push_back(host.name);
  }
  if (target.scope == RenderScope::kSwitch) {
    for (const design::SwitchIntent& one : intent.switches) {
      if (target.platform == nullptr || one.system == target.platform->system)
        names.push_back(one.name);
    }
  }
  return names;
}

/// Why a node that the target has no files for is none; empty where it is no node at all.
std::string why_not(const RenderTarget& target, const design::Intent& intent,
                    const std::string& node) {
  for (const design::SwitchIntent& one : intent.switches) {
    if (one.name != node) continue;
    if (target.scope == RenderScope::kHost)
      return fmt::format("{} is a switch and {} is for hosts", node, target.name);
    return fmt::format("{} runs {} by the design: weir render --to {} --node {}", node,
                       design::to_word(one.system), design::to_word(one.system), node);
  }
  for (const design::HostIntent& one : intent.hosts)
    if (one.name == node)
      return fmt::format("{} is a host and {} is for switches", node, target.name);
  return {};
}

RenderRequest request_for(const DesignInput& input, const RenderTarget& target,
                          const std::string& node, std::string_view tool) {
  RenderRequest request{.design = input.design, .intent = input.intent, .tool = tool};
  for (const design::HostIntent& one : input.intent.hosts)
    if (target.scope == RenderScope::kHost && one.name == node) request.host = &one;
  for (const design::SwitchIntent& one : input.intent.switches)
    if (target.scope == RenderScope::kSwitch && one.name == node) request.switch_at = &one;
  return request;
}

Result<Output> make(const DesignInput& input, const RenderTarget& target,
                    const std::vector<std::string>& nodes, std::string_view tool,
                    std::string_view format, std::span<const evidence::Evidence> seen,
                    bool with_common) {
  Output output;
  for (const std::string& node : nodes) {
    const RenderRequest request = request_for(input, target, node, tool);
    if (target.platform != nullptr) {
      output.add(node, target.platform->render(input.intent, *request.switch_at));
      continue;
    }
    WEIR_TRY(made, target.render(request));
    output.add(node, std::move(made));
  }
  const RenderRequest whole{
      .design = input.design, .intent = input.intent, .tool = tool, .format = format, .seen = seen};
  if (target.scope == RenderScope::kFabric) {
    WEIR_TRY(made, target.render(whole));
    output.add("", std::move(made));
  }
  if (with_common && target.render_common != nullptr) {
    WEIR_TRY(made, target.render_common(whole));
    output.add("", std::move(made));
  }
  return output;
}

std::string remark_text(const NodeRemark& one) {
  const std::string node = one.node.empty() ? "" : one.node + ": ";
  const std::string wanted =
      one.remark.wanted.empty() ? "" : fmt::format("the design says {}, ", one.remark.wanted);
  const std::string becomes =
      one.remark.becomes.empty() ? "cannot be said here" : "becomes " + one.remark.becomes;
  return fmt::format("{}{}: {}{} ({})", node, one.remark.what, wanted, becomes, one.remark.why);
}

/// On stderr, so that what is printed can be piped into a file. The same of many nodes is one line.
void print_remarks(const std::vector<NodeRemark>& remarks, Context& context) {
  std::vector<std::pair<NodeRemark, std::size_t>> folded;
  for (const NodeRemark& one : remarks) {
    const auto same = std::find_if(folded.begin(), folded.end(), [&](const auto& seen) {
      return seen.first.remark == one.remark;
    });
    if (same == folded.end()) {
      folded.emplace_back(one, 1);
    } else {
      ++same->second;
    }
  }
  for (const auto& [one, count] : folded) {
    const std::string others = count > 1 ? fmt::format(" (and {} more)", count - 1) : "";
    context.err << "weir: " << remark_text(one) << others << '\n';
  }
}

Json json_of(const Output& output, const std::string& directory) {
  Json files = Json::array();
  for (const NodeFile& one : output.files) {
    Json file = {{"name", one.file.name}, {"node", one.node}, {"bytes", one.file.text.size()}};
    if (directory.empty()) {
      file["text"] = one.file.text;
    } else {
      file["path"] = directory + "/" + one.file.name;
    }
    files.push_back(std::move(file));
  }
  Json remarks = Json::array();
  for (const NodeRemark& one : output.remarks)
    remarks.push_back({{"node", one.node},
                       {"what", one.remark.what},
                       {"wanted", one.remark.wanted},
                       {"becomes", one.remark.becomes},
                       {"why", one.remark.why}});
  return {{"files", std::move(files)}, {"remarks", std::move(remarks)}};
}

Status write_one(const std::string& directory, const ConfigFile& file) {
  const std::filesystem::path path = std::filesystem::path(directory) / file.name;
  WEIR_TRY_STATUS(make_directory(path.parent_path().string()));
  WEIR_TRY_STATUS(write_file_atomic(path.string(), file.text));
  if (!file.name.ends_with(".sh")) return {};
  std::error_code error;
  std::filesystem::permissions(path, std::filesystem::perms{0755}, error);
  if (error)
    return Error{ErrorCode::kIo, fmt::format("chmod {}: {}", path.string(), error.message())};
  return {};
}

ExitCode print_output(const Args& args, Context& context, const RenderTarget& target,
                      const Output& output) {
  const std::string directory = args.get("out").value_or("");
  if (!directory.empty()) {
    for (const NodeFile& one : output.files) {
      if (const Status written = write_one(directory, one.file); !written)
        return fail(context, ExitCode::kBadInput, written.error().what);
    }
  }
  if (context.json) {
    Json object = json_object(args.command());
    object["target"] = target.name;
    object.update(json_of(output, directory));
    print_json(context, object);
    return ExitCode::kOk;
  }
  if (!context.quiet) print_remarks(output.remarks, context);
  if (directory.empty()) {
    context.out << output.files.front().file.text;
    for (std::size_t i = 1; i < output.files.size() && !context.quiet; ++i)
      context.err << fmt::format("weir: {} belongs to it: --out DIR writes both\n",
                                 output.files[i].file.name);
    return ExitCode::kOk;
  }
  context.out << fmt::format("Wrote {} file{} for {} to {}.\n", output.files.size(),
                             output.files.size() == 1 ? "" : "s", target.name, directory);
  if (!context.quiet && !target.how_use.empty())
    context.out << "\nnext:\n  " << target.how_use << '\n';
  return ExitCode::kOk;
}

/// Which nodes are asked for; nullopt with the exit code where that is not clear.
std::optional<std::vector<std::string>> chosen_nodes(const Args& args, Context& context,
                                                     const RenderTarget& target,
                                                     const design::Intent& intent, ExitCode& code) {
  const auto refuse = [&](ExitCode how, const std::string& why) {
    code = how == ExitCode::kUsage ? usage_error(context, args.command(), why)
                                   : fail(context, how, why);
    return std::nullopt;
  };
  const std::vector<std::string> all = nodes_of(target, intent);
  if (target.scope == RenderScope::kFabric) return all;
  if (const auto node = args.get("node")) {
    if (std::find(all.begin(), all.end(), *node) != all.end()) return std::vector{*node};
    const std::string why = why_not(target, intent, *node);
    if (!why.empty()) return refuse(ExitCode::kBadInput, why);
    return refuse(ExitCode::kBadInput,
                  fmt::format("the design has no node '{}'{}", *node, did_you_mean(*node, all)));
  }
  if (all.empty())
    return refuse(ExitCode::kBadInput, fmt::format("the design has no node for {}", target.name));
  if (args.has("all") || all.size() == 1) return all;
  return refuse(ExitCode::kUsage,
                fmt::format("{} is made for each node: name one of {} with --node ({}, …), or "
                            "write all with --all --out DIR",
                            target.name, all.size(), all.front()));
}

/// Hosts that --host-evidence and --root name; none where neither is given.
std::optional<std::vector<evidence::Evidence>> seen_hosts(const Args& args, Context& context,
                                                          ExitCode& code) {
  std::vector<evidence::Evidence> seen;
  for (const std::string& path : args.all("host-evidence")) {
    auto read = read_snapshot_file(path);
    if (!read) {
      code = fail(context, ExitCode::kBadInput, read.error().what);
      return std::nullopt;
    }
    std::move(read->begin(), read->end(), std::back_inserter(seen));
  }
  if (!args.has("root") && !args.has("lab")) return seen;
  const auto hosts = open_hosts(args, context, code);
  if (!hosts) return std::nullopt;
  Observation observed = observe(*hosts, context);
  std::move(observed.hosts.begin(), observed.hosts.end(), std::back_inserter(seen));
  return seen;
}

ExitCode run_render(const Args& args, Context& context) {
  const RenderTarget& target = target_named(args.value("to"));
  const std::string tool = args.get("using").value_or("");
  if (!tool.empty() &&
      std::find(target.tools.begin(), target.tools.end(), tool) == target.tools.end())
    return usage_error(context, args.command(),
                       target.tools.empty()
                           ? fmt::format("--using has no meaning for {}", target.name)
                           : fmt::format("--using of {} is one of: {}", target.name,
                                         fmt::join(target.tools, ", ")));
  const std::string format = args.get("format").value_or("");
  if (!format.empty() &&
      std::find(target.formats.begin(), target.formats.end(), format) == target.formats.end())
    return usage_error(context, args.command(),
                       target.formats.empty()
                           ? fmt::format("--format has no meaning for {}", target.name)
                           : fmt::format("--format of {} is one of: {}", target.name,
                                         fmt::join(target.formats, ", ")));
  ExitCode code = ExitCode::kOk;
  const auto input = load_design(args, context, code);
  if (!input) return code;
  const auto nodes = chosen_nodes(args, context, target, input->intent, code);
  if (!nodes) return code;
  if (nodes->size() > 1 && !args.has("out") && !context.json)
    return usage_error(context, args.command(), "--all needs a directory to write to: --out DIR");
  const auto seen = seen_hosts(args, context, code);
  if (!seen) return code;
  const auto output = make(*input, target, *nodes, tool, format, *seen, args.has("all"));
  if (!output) return fail(context, ExitCode::kBadInput, output.error().what);
  return print_output(args, context, target, *output);
}

std::vector<std::string_view> target_names() {
  std::vector<std::string_view> names;
  for (const RenderTarget& one : render_targets())
    names.push_back(one.name);
  return names;
}

}  // namespace

Command render_command() {
  return {
      .name = "render",
      .group = Group::kOperators,
      .summary = "the design as configuration: hosts, switches, a marking plan",
      .description =
          "Prints the design in the words of a target: one node's to standard output, every node's "
          "with --all --out DIR. What the target cannot say is remarked on stderr.",
      .arguments = {design_argument()},
      .options = with_host_options(
          {{.name = "to",
            .metavar = "TARGET",
            .help = "what to print",
            .choices = target_names(),
            .required = true},
           {.name = "node", .letter = 'n', .metavar = "N", .help = "a host or switch"},
           {.name = "all", .help = "every node that the target is for"},
           {.name = "out",
            .letter = 'o',
            .metavar = "DIR",
            .help = "write files there",
            .completes = Completes::kFiles},
           {.name = "using", .metavar = "TOOL", .help = "of a host-script: mlnx_qos, dcb or weir"},
           {.name = "format",
            .metavar = "F",
            .help = "nccl, ucx: env, nccl.conf, slurm or k8s (default: env)"},
           {.name = "host-evidence",
            .metavar = "FILE",
            .help = "nccl, ucx: snapshots with the GID index",
            .repeated = true,
            .completes = Completes::kFiles}}),
      .examples = {{"weir render --to host-script --node gpu01 > gpu01.sh", ""},
                   {"weir render --to marking-plan", ""},
                   {"weir render --to nccl --format slurm", ""},
                   {"weir render --to ansible --all --out roce/", ""}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput},
      .rows = {"B4", "B6", "E1"},
      .run = run_render,
  };
}

}  // namespace weir::cli
