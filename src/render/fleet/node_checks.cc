#include "render/fleet/node_checks.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "base/hosts/host_set.h"
#include "base/text.h"
#include "base/untrusted/quote.h"

namespace weir::render {
namespace {

/// Where the health check leaves what it found: the status, then the reason.
constexpr std::string_view kVerdictFile = "/run/weir/slurm-verdict";

std::string title_of(const design::Design& design) {
  return comment_text(design.name.value());
}

constexpr std::string_view kHealthcheckBody = R"sh(
node=${SLURMD_NODENAME:-$(uname -n)}
node=${node%%.*}
reason=$(timeout 20 weir validate "$design" --slurm 2>/dev/null)
status=$?
mkdir -p "${verdict%/*}" && printf '%s %s\n' "$status" "$reason" >"$verdict.new" &&
  mv "$verdict.new" "$verdict"

# What others wrote is left alone; "(null)" and nothing are no reason.
now=$(scontrol show node "$node" -o 2>/dev/null | sed -n 's/.* Reason=//p')
case $now in
  '' | '(null)'*) owner=nobody ;;
  "$leader"*) owner=weir ;;
  *) owner=other ;;
esac

if [ "$status" -eq 1 ] && [ -n "$reason" ] && [ "$owner" = nobody ]; then
  scontrol update "nodename=$node" state=drain "reason=$reason"
elif [ "$status" -eq 0 ] && [ "$owner" = weir ]; then
  scontrol update "nodename=$node" state=resume
fi
# Any other status: nothing could be proven, so nothing is changed.
exit 0
)sh";

constexpr std::string_view kPrologBody = R"sh(
# Older than ten minutes is no proof.
[ -n "$(find "$verdict" -mmin -10 2>/dev/null)" ] || exit 0
read -r status reason <"$verdict" || exit 0
[ "$status" = 1 ] || exit 0
printf '%s\n' "$reason" >&2
exit 1
)sh";

}  // namespace

std::string slurm_healthcheck(const design::Design& design) {
  return fmt::format(
      "#!/bin/sh\n# HealthCheckProgram of Slurm for {}.\n"
      "# slurm.conf: HealthCheckProgram=THIS_FILE HealthCheckInterval=300 "
      "HealthCheckNodeState=ANY,CYCLE\n"
      "# A proven fault drains the node; a node that is healthy again is resumed where this "
      "drained "
      "it.\n"
      "set -u\ndesign={}\nleader={}\nverdict={}\n{}",
      title_of(design), shell_word(kDesignOnHost), shell_word(kReasonLeader),
      shell_word(kVerdictFile), kHealthcheckBody);
}

std::string slurm_prolog(const design::Design& design) {
  return fmt::format(
      "#!/bin/sh\n# Prolog of Slurm for {}: a job does not start where the health check proved a "
      "fault.\n"
      "# Nothing is looked at here and no Slurm command is run; what is not known is no fault.\n"
      "set -u\nverdict={}\n{}",
      title_of(design), shell_word(kVerdictFile), kPrologBody);
}

std::string npd_monitor(const design::Design& /*design*/) {
  // Every text in it is ours.
  return fmt::format(R"({{
  "plugin": "custom",
  "pluginConfig": {{
    "invoke_interval": "60s",
    "timeout": "5s",
    "max_output_length": 80,
    "concurrency": 1,
    "enable_message_change_based_condition_update": false
  }},
  "source": "weir",
  "metricsReporting": true,
  "conditions": [
    {{
      "type": "RoceFabricProblem",
      "reason": "RoceFabricIsReady",
      "message": "RoCE is configured as designed"
    }}
  ],
  "rules": [
    {{
      "type": "permanent",
      "condition": "RoceFabricProblem",
      "reason": "RoceFinding",
      "path": "/usr/bin/weir",
      "args": ["validate", "{}", "--format", "npd"],
      "timeout": "5s"
    }}
  ]
}}
)",
                     kDesignOnHost);
}

std::string nagios_objects(const design::Design& design, const design::Intent& intent) {
  std::vector<std::string> names;
  for (const design::HostIntent& host : intent.hosts)
    names.push_back(host.name);
  return fmt::format(
      "# RoCE of {}: 0 ok, 1 warning, 2 critical, 3 unknown.\n"
      "# On each host, nrpe.cfg:\n"
      "#   command[check_weir]=/usr/bin/weir validate {} --format npd --exit-style nagios\n\n"
      "define command {{\n"
      "  command_name  check_weir\n"
      "  command_line  $USER1$/check_nrpe -H $HOSTADDRESS$ -c check_weir\n"
      "}}\n\n"
      "define service {{\n"
      "  use                  generic-service\n"
      "  service_description  RoCE\n"
      "  check_command        check_weir\n"
      "  check_interval       5\n"
      "  host_name            {}\n"
      "}}\n",
      title_of(design), kDesignOnHost, join(names, ","));
}

namespace {

constexpr std::string_view kLoopbackHead =
    R"(# It listens on 127.0.0.1: only what runs on the node's own network can scrape it, such as an
# agent (vmagent, Prometheus in agent mode, an OpenTelemetry collector) in a DaemonSet with
# hostNetwork, at http://127.0.0.1:9851/metrics. For a Prometheus elsewhere:
# weir render --to k8s-daemonset --format tls
)";

constexpr std::string_view kTlsHead =
    R"(# It listens on the node's address, with TLS and users. web.yml, for weir serve --web-config:
#   tls_server_config: {cert_file: weir.crt, key_file: weir.key, min_version: TLS13}
#   basic_auth_users: {prometheus: "$2y$10$..."}     # htpasswd -nBC 10 prometheus
# kubectl create secret generic weir-web --from-file=web.yml --from-file=weir.crt \
#   --from-file=weir.key
# One certificate for all nodes; its name is what server_name says. In Prometheus:
#   scrape_configs:
#     - job_name: weir
#       scheme: https
#       basic_auth: {username: prometheus, password_file: /etc/prometheus/weir.password}
#       tls_config: {ca_file: /etc/prometheus/weir-ca.crt, server_name: weir}
#       kubernetes_sd_configs: [{role: pod}]
#       relabel_configs:
#         - source_labels: [__meta_kubernetes_pod_label_app_kubernetes_io_name]
#           regex: weir
#           action: keep
#         - source_labels: [__meta_kubernetes_pod_host_ip]
#           replacement: "$1:9851"
#           target_label: __address__
#         - source_labels: [__meta_kubernetes_pod_node_name]
#           target_label: node
# Of nodes with IPv6 addresses: "[$(NODE_IP)]:9851" below, and "[$1]:9851" above.
)";

}  // namespace

std::string k8s_daemonset(const design::Design& design, Scrape scrape) {
  const bool is_beyond = scrape == Scrape::kNodeAddress;
  return fmt::format(
      R"(# weir serve on every node, for {}.
# kubectl create configmap weir-design --from-file=fabric.yaml, then name an image below.
{}apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: weir
  labels: {{app.kubernetes.io/name: weir}}
spec:
  selector:
    matchLabels: {{app.kubernetes.io/name: weir}}
  updateStrategy:
    rollingUpdate: {{maxUnavailable: 10%}}
  template:
    metadata:
      labels: {{app.kubernetes.io/name: weir}}
    spec:
      hostNetwork: true
      automountServiceAccountToken: false
      tolerations:
        - operator: Exists
      containers:
        - name: weir
          image: IMAGE_WITH_WEIR
          args: ["serve", "/etc/weir/fabric.yaml", "--listen", {}]
          env:
{}            - name: WEIR_LOOK_BUDGET
              value: "2s"
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities: {{drop: ["ALL"]}}
          resources:
            requests: {{cpu: 10m, memory: 64Mi}}
            limits: {{memory: 256Mi}}
          volumeMounts:
            - {{name: design, mountPath: /etc/weir, readOnly: true}}
            - {{name: sys, mountPath: /sys, readOnly: true}}
{}      volumes:
        - name: design
          configMap: {{name: weir-design}}
        - name: sys
          hostPath: {{path: /sys, type: Directory}}
{})",
      title_of(design), is_beyond ? kTlsHead : kLoopbackHead,
      is_beyond ? R"("$(NODE_IP):9851", "--web-config", "/etc/weir-web/web.yml")"
                : R"("127.0.0.1:9851")",
      is_beyond ? "            - name: NODE_IP\n"
                  "              valueFrom: {fieldRef: {fieldPath: status.hostIP}}\n"
                : "",
      is_beyond ? "            - {name: web, mountPath: /etc/weir-web, readOnly: true}\n" : "",
      is_beyond ? "        - name: web\n          secret: {secretName: weir-web}\n" : "");
}

std::string ansible_inventory(const design::Design& design, const design::Intent& intent) {
  std::map<std::uint32_t, std::vector<std::string>> groups;
  for (const design::HostIntent& host : intent.hosts)
    groups[host.group].push_back(host.name);
  std::string out = fmt::format(
      "# Hosts of {}; weir --inventory reads it too.\nroce:\n  children:\n", title_of(design));
  for (const auto& [group, names] : groups) {
    out += fmt::format("    roce_group_{}:  # {}\n      hosts:\n", group + 1,
                       comment_text(fold_hosts(names)));
    for (const std::string& name : names)
      out += fmt::format("        {}:\n", ansible_text(name));
  }
  return out;
}

}  // namespace weir::render
