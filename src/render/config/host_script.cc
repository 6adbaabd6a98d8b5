#include "render/config/host_script.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/untrusted/quote.h"
#include "design/fabric/effective.h"
#include "evidence/settings/row.h"
#include "render/config/host_script_shell.h"

namespace weir::render {
namespace {

using design::HostIntent;
using design::NicIntent;
using platforms::Remark;

constexpr std::string_view kInstalledScript = "/usr/local/sbin/weir-roce";
constexpr std::string_view kUnit = "weir-roce.service";

/// What the host's tool can set on a NIC of this model.
struct Abilities {
  bool dcb = true;    // PFC, ETS, maps
  bool dcqcn = true;  // mlx5's parameters
};
Abilities abilities_of(const HostIntent& host) {
  return {.dcb = host.nic_model->has_dcb_netlink, .dcqcn = host.nic_model->has_dcqcn_knobs};
}

std::string head(const design::Design& design, const HostIntent& host, std::string_view how) {
  return fmt::format(R"sh(#!/bin/sh
# RoCEv2 settings of {0} as the design {1} wants them. Rendered by weir; change the design instead.
#
#   {0}.roce.sh            {2}
#   {0}.roce.sh --check    changes nothing, says what differs
#
# exit 0: all is as designed; 1: something is not (--check) or could not be set; 2: usage;
#      4: a tool is missing; 5: what could be read is as designed, some could not be read
# Needs root. Settings of a NIC are lost when its driver is reloaded: run this at boot
# (weir render --to systemd).
)sh",
                     comment_text(host.name), comment_text(*design.name), how);
}

bool has(Abilities can, evidence::ScriptNeeds needs) {
  if (needs == evidence::ScriptNeeds::kDcb) return can.dcb;
  return needs == evidence::ScriptNeeds::kNothing || can.dcqcn;
}

std::string rail_text(const NicIntent& nic, const design::Intent& intent, Abilities can) {
  evidence::RailScript script(nic, intent);
  script.line(fmt::format("\n# ---- rail {}: {}, {} ----", nic.rail, comment_text(nic.device),
                          comment_text(nic.netdev)));
  script.line(fmt::format("if [ ! -d \"$root/sys/class/net/\"{} ]; then", script.netdev));
  script.line(fmt::format("  say {}", shell_word(nic.netdev + ": there is no such interface")));
  script.line("  failed=$((failed + 1))");
  script.line("else");
  script.indent = "  ";
  for (const evidence::SettingRow& row : evidence::setting_rows())
    if (row.script.rail != nullptr && has(can, row.script.needs)) row.script.rail(script);
  script.indent = "";
  script.line("fi");
  return script.take();
}

/// One part of every setting's shell functions, in the order of the settings.
std::string functions(std::string_view evidence::SettingScript::*part) {
  std::string text;
  for (const evidence::SettingRow& row : evidence::setting_rows())
    text += row.script.*part;
  return text;
}

// ---- whole files ----

std::string weir_script(const design::Design& design, const HostIntent& host) {
  return head(design, host, "makes the host as designed (weir apply)") +
         fmt::format(R"sh(set -u
case ${{1-}} in
  '') set -- apply --yes ;;
  --check) set -- validate ;;
  *)
    echo "usage: $0 [--check]" >&2
    exit 2
    ;;
esac
if ! command -v weir >/dev/null 2>&1; then
  echo 'weir is not installed: nothing was changed' >&2
  exit 4
fi
exec weir "$@" - <<'FABRIC'
{}FABRIC
)sh",
                     design::effective_text(design));
}

std::string shell_script(const design::Design& design, const design::Intent& intent,
                         const HostIntent& host, ScriptTool tool) {
  const Abilities can = abilities_of(host);
  std::string text = head(design, host, "reads each setting, writes what differs, reads it back");
  using Script = evidence::SettingScript;
  text += kScriptHead;
  text += functions(&Script::common);
  text += kScriptFinish;
  if (can.dcb) {
    const bool is_vendors = tool == ScriptTool::kMlnxQos;
    text += is_vendors ? kScriptMlnxQos : kScriptDcb;
    text += functions(is_vendors ? &Script::mlnx_qos : &Script::dcb);
    text += functions(&Script::with_both);
  } else {
    text += "\nneed ethtool ip awk\n";
  }
  for (const NicIntent& nic : host.nics)
    text += rail_text(nic, intent, can);
  return text + "\nfinish\n";
}

/// What `weir apply` does beside a NIC's settings, and a script does not.
void remark_tuning(const design::TuningIntent& tuning, std::vector<Remark>& remarks) {
  const auto leave = [&](bool asks, std::string_view what) {
    if (asks)
      remarks.push_back(
          {std::string(what), "on", "", "a script does not; weir apply does (--using weir)"});
  };
  leave(tuning.socket_buffers, "host_tuning.socket_buffers");
  leave(tuning.irq_affinity, "host_tuning.irq_affinity");
  leave(tuning.stack_mtu, "host_tuning.stack_mtu");
}

std::vector<Remark> remarks_of(const design::Intent& intent, const HostIntent& host,
                               ScriptTool tool) {
  std::vector<Remark> remarks;
  if (tool == ScriptTool::kWeir) return remarks;
  remark_tuning(intent.tuning, remarks);
  const design::NicModel& model = *host.nic_model;
  if (!model.has_dcb_netlink) {
    remarks.push_back({"PFC, trust, maps and classes", "", "",
                       fmt::format("{} takes them from {}", model.title, model.tool)});
  }
  if (!model.has_dcqcn_knobs) {
    remarks.push_back({"congestion control", "", "",
                       fmt::format("{} has it in {}", model.title, model.cc_place)});
  } else if (host.stack == design::HostStack::kInbox) {
    remarks.push_back({"ECN per priority", "", "",
                       "the distribution's driver has no live switch for it: set "
                       "ROCE_CC_PRIO_MASK_P1 with mstconfig and reset the firmware"});
  }
  return remarks;
}

/// The script talks to drivers (netlink, ioctl, /sys) and to nobody else: it may do that as root,
/// and nothing else. `strict` leaves /sys writable; weir apply keeps its journal in /var/lib/weir.
constexpr std::string_view kUnitSandbox = R"(NoNewPrivileges=yes
CapabilityBoundingSet=CAP_NET_ADMIN CAP_SYS_ADMIN CAP_DAC_OVERRIDE
ProtectSystem=strict
StateDirectory=weir
StateDirectoryMode=0700
ProtectHome=yes
PrivateTmp=yes
DevicePolicy=closed
ProtectClock=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_NETLINK AF_INET AF_INET6 AF_UNIX
IPAddressDeny=any
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
KeyringMode=private
RemoveIPC=yes
UMask=0077
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@swap @reboot @module @mount @raw-io @clock @cpu-emulation @debug @obsolete
)";

std::string unit_text(const design::Design& design, const HostIntent& host) {
  std::vector<std::string> devices;
  for (const NicIntent& nic : host.nics)
    devices.push_back(fmt::format("sys-subsystem-net-devices-{}.device", unit_name(nic.netdev)));
  const std::string all = join(devices, " ");
  return fmt::format(R"(# RoCEv2 settings of {0} as the design {1} wants them. Rendered by weir.
# Install as /etc/systemd/system/{2} with the script as {3}; then
#   systemctl daemon-reload && systemctl enable --now {2}
[Unit]
Description=RoCEv2 settings of {0} (design {1})
# A NIC's settings are lost with its driver: once at boot, and again whenever an interface appears.
Wants={4}
After={4}
After=network-pre.target
Before=slurmd.service kubelet.service

[Service]
Type=oneshot
ExecStart={3}
# 5: what this driver cannot show was left alone
SuccessExitStatus=5
TimeoutStartSec=10min
{5}
[Install]
WantedBy=multi-user.target {4}
)",
                     unit_value(host.name), unit_value(*design.name), kUnit, kInstalledScript, all,
                     kUnitSandbox);
}

std::string tasks_text(const design::Design& design, const HostIntent& host) {
  const std::string script = "files/" + host.name + ".roce.sh";
  return fmt::format(R"(---
# RoCEv2 settings of {0} as the design {1} wants them. Rendered by weir; change the design instead.
# Run by roce.yml, or: ansible.builtin.include_tasks {0}.tasks.yml. --check changes nothing.
- name: {4}
  ansible.builtin.copy:
    src: {5}
    dest: {2}
    owner: root
    group: root
    mode: "0755"
  become: true

- name: {6}
  ansible.builtin.copy:
    src: {7}
    dest: /etc/systemd/system/{3}
    owner: root
    group: root
    mode: "0644"
  become: true

- name: RoCE settings as designed?
  ansible.builtin.script: {8}
  register: weir_roce
  changed_when: false
  failed_when: weir_roce.rc not in [0, 1, 5]
  check_mode: false
  become: true

- name: RoCE settings made as designed
  ansible.builtin.command: {2}
  when: weir_roce.rc == 1
  register: weir_roce_made
  changed_when: true
  failed_when: weir_roce_made.rc not in [0, 5]
  become: true

- name: RoCE settings again at boot and driver reload
  ansible.builtin.systemd:
    name: {3}
    enabled: true
    daemon_reload: true
  become: true
)",
                     comment_text(host.name), comment_text(*design.name), kInstalledScript, kUnit,
                     ansible_text("RoCE script of " + host.name), ansible_text(script),
                     ansible_text("RoCE unit of " + host.name),
                     ansible_text("files/" + host.name + ".roce.service"),
                     ansible_text(shell_line({script, "--check"})));
}

}  // namespace

std::vector<std::string_view> script_tools() {
  return {"mlnx_qos", "dcb", "weir"};
}

ScriptTool script_tool(std::string_view name, const HostIntent& host) {
  if (name.empty())
    return host.stack == design::HostStack::kOfed ? ScriptTool::kMlnxQos : ScriptTool::kDcb;
  if (name == "mlnx_qos") return ScriptTool::kMlnxQos;
  if (name == "dcb") return ScriptTool::kDcb;
  WEIR_CHECK(name == "weir");
  return ScriptTool::kWeir;
}

platforms::Rendered host_script(const design::Design& design, const design::Intent& intent,
                                const HostIntent& host, ScriptTool tool) {
  const std::string text = tool == ScriptTool::kWeir ? weir_script(design, host)
                                                     : shell_script(design, intent, host, tool);
  return {.files = {{host.name + ".roce.sh", text}}, .remarks = remarks_of(intent, host, tool)};
}

platforms::Rendered systemd_unit(const design::Design& design, const design::Intent& intent,
                                 const HostIntent& host, ScriptTool tool) {
  platforms::Rendered made = host_script(design, intent, host, tool);
  made.files.insert(made.files.begin(), {host.name + ".roce.service", unit_text(design, host)});
  return made;
}

platforms::Rendered ansible_tasks(const design::Design& design, const design::Intent& intent,
                                  const HostIntent& host, ScriptTool tool) {
  platforms::Rendered made = systemd_unit(design, intent, host, tool);
  for (platforms::ConfigFile& file : made.files)
    file.name = "files/" + file.name;
  made.files.insert(made.files.begin(), {host.name + ".tasks.yml", tasks_text(design, host)});
  return made;
}

platforms::Rendered ansible_play(const design::Design& design, const design::Intent& intent) {
  std::string text =
      fmt::format(R"(---
# RoCEv2 settings of the design {0}. Rendered by weir; change the design instead.
#   ansible-playbook -i INVENTORY roce.yml --check    what would change
#   ansible-playbook -i INVENTORY roce.yml
- name: {1}
  hosts:
)",
                  comment_text(*design.name),
                  ansible_text(fmt::format("RoCEv2 as designed ({})", *design.name)));
  for (const HostIntent& host : intent.hosts)
    text += fmt::format("    - {}\n", ansible_text(host.name));
  // A changed PFC mask may take a link down: one host after the other, and stop at the first error.
  text += R"(  gather_facts: false
  serial: 1
  any_errors_fatal: true
  tasks:
    - name: Settings of this host
      ansible.builtin.include_tasks: "{{ inventory_hostname }}.tasks.yml"
)";
  return {.files = {{"roce.yml", text}}, .remarks = {}};
}

}  // namespace weir::render
