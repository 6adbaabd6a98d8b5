#include "ops/fabric/render_targets.h"

#include "platforms/openconfig/openconfig.h"
#include "render/config/host_script.h"
#include "render/config/job_env.h"
#include "render/config/marking_plan.h"
#include "render/config/wiring.h"
#include "render/fleet/node_checks.h"
#include "render/watch/alerts.h"

namespace weir::ops {
namespace {

using platforms::Rendered;

weir::Result<Rendered> host_script(const TargetInput& input) {
  return render::host_script(input.design, input.intent, *input.host,
                             render::script_tool(input.tool, *input.host));
}

weir::Result<Rendered> systemd(const TargetInput& input) {
  return render::systemd_unit(input.design, input.intent, *input.host,
                              render::script_tool(input.tool, *input.host));
}

weir::Result<Rendered> ansible(const TargetInput& input) {
  return render::ansible_tasks(input.design, input.intent, *input.host,
                               render::script_tool(input.tool, *input.host));
}
weir::Result<Rendered> ansible_play(const TargetInput& input) {
  return render::ansible_play(input.design, input.intent);
}

weir::Result<Rendered> marking_plan(const TargetInput& input) {
  return Rendered{.files = {{"marking-plan.txt", render::marking_plan(input.design, input.intent)}},
                  .remarks = {}};
}

weir::Result<Rendered> job_environment(const TargetInput& input, render::JobEnvironment made) {
  const auto formats = render::job_formats(made.library);
  const std::string_view format = input.format.empty() ? formats.front() : input.format;
  return Rendered{.files = {render::job_file(made, format, input.design)},
                  .remarks = std::move(made.remarks)};
}
weir::Result<Rendered> nccl(const TargetInput& input) {
  return job_environment(input, render::nccl_environment(input.design, input.intent, input.seen));
}
weir::Result<Rendered> ucx(const TargetInput& input) {
  return job_environment(input, render::ucx_environment(input.design, input.intent, input.seen));
}

weir::Result<Rendered> openconfig(const TargetInput& input) {
  return platforms::openconfig_render(input.intent, *input.switch_at);
}

std::vector<RenderTarget> host_targets() {
  return {
      {.name = "host-script",
       .summary = "a shell script that configures a host as designed; idempotent",
       .how_use = "scp NODE.roce.sh NODE: && ssh NODE sudo ./NODE.roce.sh --check",
       .scope = RenderScope::kHost,
       .render = host_script,
       .tools = render::script_tools()},
      {.name = "ansible",
       .summary = "one task file per host with its script and unit, and a play for all",
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

weir::Result<Rendered> own_system(const TargetInput& input) {
  return platforms::platform_of(input.switch_at->system).render(input.intent, *input.switch_at);
}

weir::Result<Rendered> wiring(const TargetInput& input) {
  const std::string_view format = input.format.empty() ? "csv" : input.format;
  return Rendered{.files = {render::wiring_table(input.intent, format)}, .remarks = {}};
}

std::vector<RenderTarget> switch_targets() {
  std::vector<RenderTarget> targets = {
      {.name = kOwnSystem,
       .summary = "each switch in its own system, as the design has it",
       .how_use = "the first lines of a file, or its notes, say how to load it",
       .scope = RenderScope::kSwitch,
       .render = own_system}};
  for (const platforms::Platform& platform : platforms::platforms())
    targets.push_back({.name = platform.name,
                       .summary = platform.title,
                       .how_use = platform.how_load,
                       .scope = RenderScope::kSwitch,
                       .platform = &platform});
  // For a switch of any system: `platform` would tie it to one.
  targets.push_back({.name = platforms::openconfig().name,
                     .summary = platforms::openconfig().title,
                     .how_use = platforms::openconfig().how_load,
                     .scope = RenderScope::kSwitch,
                     .render = openconfig});
  return targets;
}

weir::Result<Rendered> prometheus(const TargetInput& input) {
  return Rendered{
      .files = {{"weir.rules.yml", render::prometheus_rules(input.design, input.thresholds)},
                {"prometheus.yml", render::prometheus_config(input.design, input.intent)}},
      .remarks = {}};
}

weir::Result<Rendered> alertmanager(const TargetInput& input) {
  return Rendered{.files = {{"alertmanager.yml", render::alertmanager_config(input.design)}},
                  .remarks = {}};
}

weir::Result<Rendered> grafana(const TargetInput& input) {
  return Rendered{.files = {{"weir.dashboard.json", render::grafana_dashboard(input.design)}},
                  .remarks = {}};
}

weir::Result<Rendered> one_file(std::string name, std::string text) {
  return Rendered{.files = {{std::move(name), std::move(text)}}, .remarks = {}};
}

/// Checks of a host for what sites run already.
std::vector<RenderTarget> node_check_targets() {
  return {
      {.name = "slurm-healthcheck",
       .summary = "Slurm's HealthCheckProgram: drains on a proven fault, resumes its own",
       .how_use = "its first lines say what goes into slurm.conf",
       .scope = RenderScope::kFabric,
       .render =
           [](const TargetInput& input) {
             return one_file("weir-healthcheck.sh", render::slurm_healthcheck(input.design));
           }},
      {.name = "slurm-prolog",
       .summary = "Slurm's Prolog: no job where the health check proved a fault",
       .how_use = "slurm.conf: Prolog=/etc/slurm/weir-prolog.sh, beside slurm-healthcheck",
       .scope = RenderScope::kFabric,
       .render =
           [](const TargetInput& input) {
             return one_file("weir-prolog.sh", render::slurm_prolog(input.design));
           }},
      {.name = "npd",
       .summary = "a custom plugin monitor of Kubernetes' node-problem-detector",
       .how_use = "node-problem-detector --config.custom-plugin-monitor=weir.npd.json",
       .scope = RenderScope::kFabric,
       .render =
           [](const TargetInput& input) {
             return one_file("weir.npd.json", render::npd_monitor(input.design));
           }},
      {.name = "nagios",
       .summary = "a Nagios command and service for the hosts, through NRPE",
       .how_use = "its first lines go into nrpe.cfg of each host",
       .scope = RenderScope::kFabric,
       .render =
           [](const TargetInput& input) {
             return one_file("weir.nagios.cfg", render::nagios_objects(input.design, input.intent));
           }},
      {.name = "k8s-daemonset",
       .summary = "weir serve on every node of a Kubernetes cluster, without privilege",
       .how_use = "name an image in it, then kubectl apply -f weir.daemonset.yaml",
       .scope = RenderScope::kFabric,
       .render =
           [](const TargetInput& input) {
             return one_file("weir.daemonset.yaml",
                             render::k8s_daemonset(input.design, input.format == "tls"
                                                                     ? render::Scrape::kNodeAddress
                                                                     : render::Scrape::kLoopback));
           },
       .formats = {"loopback", "tls"}},
      {.name = "ansible-inventory",
       .summary = "the hosts of the design as an Ansible inventory",
       .how_use = "ansible -i roce.inventory.yml roce -m ping",
       .scope = RenderScope::kFabric,
       .render =
           [](const TargetInput& input) {
             return one_file("roce.inventory.yml",
                             render::ansible_inventory(input.design, input.intent));
           }},
  };
}

std::vector<RenderTarget> fabric_targets() {
  return {
      {.name = "marking-plan",
       .summary = "one page: who marks which traffic, and where it is trusted",
       .scope = RenderScope::kFabric,
       .render = marking_plan},
      {.name = "wiring",
       .summary = "every cable: node, port, peer, peer port, speed, cable, length",
       .how_use = "the cabling plan; ptm: what ptmd compares with LLDP",
       .scope = RenderScope::kFabric,
       .render = wiring,
       .formats = render::wiring_formats()},
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
      {.name = "prometheus",
       .summary = "scrape configuration, recording and alerting rules for weir serve",
       .how_use = "promtool check config prometheus.yml; rules beside it",
       .scope = RenderScope::kFabric,
       .render = prometheus,
       .has_thresholds = true},
      {.name = "alertmanager",
       .summary = "grouping, routes and inhibitions of those alerts",
       .how_use = "name a receiver in it, then amtool check-config alertmanager.yml",
       .scope = RenderScope::kFabric,
       .render = alertmanager},
      {.name = "grafana",
       .summary = "a dashboard over weir serve's metrics",
       .how_use = "Dashboards, Import in Grafana 9 or later",
       .scope = RenderScope::kFabric,
       .render = grafana},
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
    add(node_check_targets());
    return targets;
  }();
  return all;
}

}  // namespace weir::ops
