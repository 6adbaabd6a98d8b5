#include "cli/verbs/render_targets.h"

#include "platforms/openconfig/openconfig.h"
#include "render/config/host_script.h"
#include "render/config/job_env.h"
#include "render/config/marking_plan.h"

namespace weir::cli {
namespace {

using platforms::Rendered;

Result<Rendered> host_script(const RenderRequest& of) {
  return render::host_script(of.design, of.intent, *of.host,
                             render::script_tool(of.tool, *of.host));
}

Result<Rendered> systemd(const RenderRequest& of) {
  return render::systemd_unit(of.design, of.intent, *of.host,
                              render::script_tool(of.tool, *of.host));
}

Result<Rendered> ansible(const RenderRequest& of) {
  return render::ansible_tasks(of.design, of.intent, *of.host,
                               render::script_tool(of.tool, *of.host));
}
Result<Rendered> ansible_play(const RenderRequest& of) {
  return render::ansible_play(of.design, of.intent);
}

Result<Rendered> marking_plan(const RenderRequest& of) {
  return Rendered{.files = {{"marking-plan.txt", render::marking_plan(of.design, of.intent)}},
                  .remarks = {}};
}

Result<Rendered> job_environment(const RenderRequest& of, render::JobEnvironment made) {
  const auto formats = render::job_formats(made.library);
  const std::string_view format = of.format.empty() ? formats.front() : of.format;
  return Rendered{.files = {render::job_file(made, format, of.design)},
                  .remarks = std::move(made.remarks)};
}
Result<Rendered> nccl(const RenderRequest& of) {
  return job_environment(of, render::nccl_environment(of.design, of.intent, of.seen));
}
Result<Rendered> ucx(const RenderRequest& of) {
  return job_environment(of, render::ucx_environment(of.design, of.intent, of.seen));
}

Result<Rendered> openconfig(const RenderRequest& of) {
  return platforms::openconfig_render(of.intent, *of.switch_at);
}

std::vector<RenderTarget> host_targets() {
  return {
      {.name = "host-script",
       .summary = "a shell script that makes a host as designed; idempotent",
       .how_use = "scp gpu01.roce.sh gpu01: && ssh gpu01 sudo ./gpu01.roce.sh --check",
       .scope = RenderScope::kHost,
       .render = host_script,
       .tools = render::script_tools()},
      {.name = "ansible",
       .summary = "a task file a host, with its script and unit, and a play for all",
       .how_use = "ansible-playbook -i INVENTORY roce.yml --check",
       .scope = RenderScope::kHost,
       .render = ansible,
       .render_common = ansible_play,
       .tools = render::script_tools()},
      {.name = "systemd",
       .summary = "a unit that runs the script at boot and driver reload",
       .how_use = "each unit's first lines say where it and its script go",
       .scope = RenderScope::kHost,
       .render = systemd,
       .tools = render::script_tools()},
  };
}

std::vector<RenderTarget> switch_targets() {
  std::vector<RenderTarget> targets;
  for (const platforms::Platform& one : platforms::platforms())
    targets.push_back({.name = one.name,
                       .summary = one.title,
                       .how_use = one.how_load,
                       .scope = RenderScope::kSwitch,
                       .platform = &one});
  // For a switch of any system: `platform` would tie it to one.
  targets.push_back({.name = platforms::openconfig().name,
                     .summary = platforms::openconfig().title,
                     .how_use = platforms::openconfig().how_load,
                     .scope = RenderScope::kSwitch,
                     .render = openconfig});
  return targets;
}

std::vector<RenderTarget> fabric_targets() {
  return {
      {.name = "marking-plan",
       .summary = "one page: who marks what, and where it is trusted",
       .scope = RenderScope::kFabric,
       .render = marking_plan},
      {.name = "nccl",
       .summary = "NCCL's environment, every value with its reason",
       .how_use = "source nccl.env in the job, or let Slurm or Kubernetes set it",
       .scope = RenderScope::kFabric,
       .render = nccl,
       .formats = render::job_formats("NCCL")},
      {.name = "ucx",
       .summary = "UCX's environment, every value with its reason",
       .how_use = "source ucx.env in the job, or let Slurm or Kubernetes set it",
       .scope = RenderScope::kFabric,
       .render = ucx,
       .formats = render::job_formats("UCX")},
  };
}

}  // namespace

std::span<const RenderTarget> render_targets() {
  static const std::vector<RenderTarget> all = [] {
    std::vector<RenderTarget> targets = host_targets();
    const auto add = [&](std::vector<RenderTarget> more) {
      targets.insert(targets.end(), more.begin(), more.end());
    };
    add(switch_targets());
    add(fabric_targets());
    return targets;
  }();
  return all;
}

}  // namespace weir::cli
