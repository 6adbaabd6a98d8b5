// weir render: the design as configuration, for hosts, switches and people.
#include "ops/fabric/render.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/host_input.h"
#include "cli/frame/threshold_option.h"
#include "cli/json/render_json.h"

namespace weir::cli {
namespace {

std::string remark_text(const ops::NodeRemark& entry) {
  const std::string node = entry.node.empty() ? "" : entry.node + ": ";
  const std::string wanted =
      entry.remark.wanted.empty() ? "" : fmt::format("the design says {}, ", entry.remark.wanted);
  const std::string becomes =
      entry.remark.becomes.empty() ? "cannot be expressed here" : "becomes " + entry.remark.becomes;
  return fmt::format("{}{}: {}{} ({})", node, entry.remark.what, wanted, becomes, entry.remark.why);
}

/// On stderr, so that what is printed can be piped into a file. The same of many nodes is one line.
void print_remarks(const std::vector<ops::NodeRemark>& remarks, Context& context) {
  std::vector<std::pair<ops::NodeRemark, std::size_t>> folded;
  for (const ops::NodeRemark& entry : remarks) {
    // What each switch has of its own (a seed) and has no place here, or a file, is one line too.
    const auto same = std::find_if(folded.begin(), folded.end(), [&](const auto& seen) {
      const platforms::Remark& known = seen.first.remark;
      return known.what == entry.remark.what && known.becomes == entry.remark.becomes &&
             known.why == entry.remark.why &&
             (known.wanted == entry.remark.wanted || known.becomes.empty() ||
              known.becomes.find(ops::kNodeWord) != std::string::npos);
    });
    if (same == folded.end()) {
      folded.emplace_back(entry, 1);
    } else {
      if (same->first.remark.wanted != entry.remark.wanted) same->first.remark.wanted.clear();
      ++same->second;
    }
  }
  for (const auto& [entry, count] : folded) {
    const std::string others =
        count > 1 ? fmt::format("; the same for {} more", counted(count - 1, "node")) : "";
    context.err << "weir: " << remark_text(entry) << others << '\n';
  }
}

Status write_one(const std::string& directory, const platforms::ConfigFile& file) {
  const std::filesystem::path path = std::filesystem::path(directory) / file.name;
  WEIR_TRY_STATUS(make_directory(path.parent_path().string()));
  return write_file_atomic(path.string(), file.text,
                           file.name.ends_with(".sh") ? FileMode::kScript : FileMode::kUsual);
}

/// What to do with the files, for the first node of them.
std::string with_node(const ops::RenderedFiles& output) {
  std::string text(output.target->how_use);
  for (std::size_t at = 0; (at = text.find(ops::kNodeWord, at)) != std::string::npos;)
    text.replace(at, ops::kNodeWord.size(), output.files.front().node);
  return text;
}

ExitCode print_output(const Args& args, Context& context, const ops::RenderedFiles& output) {
  const std::string directory = args.get("out").value_or("");
  if (!directory.empty()) {
    for (const ops::NodeFile& entry : output.files) {
      if (const Status written = write_one(directory, entry.file); !written)
        return fail(context, ExitCode::kBadInput, written.error().what);
    }
  }
  if (context.json) {
    print_rendered_json(context, args.command(), output, directory);
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
  context.out << fmt::format("Wrote {} for {} to {}.\n", counted(output.files.size(), "file"),
                             output.target->name, directory);
  if (!context.quiet && !output.target->how_use.empty())
    context.out << "\nnext:\n  " << with_node(output) << '\n';
  return ExitCode::kOk;
}

ops::Result<ops::RenderRequest> render_request(const Args& args, const Context& context) {
  ops::RenderRequest request;
  WEIR_TRY(path, design_path(args, context));
  request.design = std::move(path);
  request.target = args.get("to").value_or("");
  request.node = args.get("node").value_or("");
  // A directory has room for every node.
  request.all_nodes = args.has("all") || args.has("out");
  request.tool = args.get("using").value_or("");
  request.format = args.get("format").value_or("");
  request.host_evidence = args.all("host-evidence");
  if (args.has("threshold")) {
    WEIR_TRY(thresholds, ops::or_bad_request(thresholds_of(args)));
    request.thresholds = thresholds;
  }
  WEIR_TRY(source, source_of(args));
  if (args.has("root") || args.has("lab")) request.source = std::move(source);
  return request;
}

ExitCode run_render(const Args& args, Context& context) {
  const auto request = render_request(args, context);
  if (!request) return fail(context, args.command(), request.error());
  const auto output = ops::render(*request);
  if (!output) return fail(context, args.command(), output.error());
  const bool is_fabric = output->target->scope == ops::RenderScope::kFabric;
  const bool has_many = !is_fabric && !output->files.empty() &&
                        output->files.front().node != output->files.back().node;
  if (has_many && !args.has("out") && !context.json)
    return usage_error(context, args.command(), "--all needs a directory to write to: --out DIR");
  return print_output(args, context, *output);
}

std::vector<std::string_view> target_names() {
  std::vector<std::string_view> names;
  for (const ops::RenderTarget& target : ops::render_targets())
    names.push_back(target.name);
  return names;
}

}  // namespace

Command render_command() {
  return {
      .name = "render",
      .group = Group::kOperators,
      .summary = "the design as configuration: hosts, switches, a marking plan",
      .description =
          "Prints the design as configuration: of one node to standard output, of every node with "
          "--out DIR; without --to a switch in its own system. What the target cannot "
          "express is reported on stderr.",
      .arguments = {design_argument()},
      .options = with_host_options(
          {{.name = "to",
            .metavar = "TARGET",
            .help = "kind of configuration; default: the node's own",
            .choices = target_names()},
           {.name = "node", .letter = 'n', .metavar = "N", .help = "a host or switch"},
           {.name = "all", .help = "every node; the default with --out"},
           {.name = "out",
            .letter = 'o',
            .metavar = "DIR",
            .help = "directory to write files to",
            .completes = Completes::kFiles,
            .writes = Writes::kDirectory},
           {.name = "using",
            .metavar = "TOOL",
            .help = "tool that a host-script calls: mlnx_qos, dcb or weir"},
           {.name = "format",
            .metavar = "F",
            .help = "of nccl and ucx: env, nccl.conf, slurm or k8s (default: env); of wiring: "
                    "csv or ptm (default: csv); of k8s-daemonset: loopback or tls (default: "
                    "loopback)"},
           {.name = "host-evidence",
            .metavar = "FILE",
            .help = "of nccl and ucx: snapshots to read GID indexes from",
            .repeated = true,
            .completes = Completes::kFiles},
           threshold_option()}),
      .examples = {{"weir render --out configs/", "every switch in its own system"},
                   {"weir render --to wiring > cables.csv", "the cabling plan"},
                   {"weir render --to host-script --node gpu01 > gpu01.sh",
                    "a script that sets this host, and --check compares"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput},
      .looks = Looks::kAtFiles,
      .run = run_render,
  };
}

}  // namespace weir::cli
