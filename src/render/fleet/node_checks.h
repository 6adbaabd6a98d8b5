#pragma once
// The check of a host for what sites run already: Slurm's health check and prolog, Kubernetes'
// node-problem-detector, Nagios, a DaemonSet; and the hosts of the design as Ansible's inventory.
//
// One rule for all: only a proven fault takes a host out of service. What could not be looked at is
// "unknown" where the world has that word, and no change where it has not.
#include <cstdint>
#include <string>

#include "design/fabric/intent.h"
#include "design/file/fabric.h"

namespace weir::render {

/// What a reason of ours begins with; a reason of others is never touched.
inline constexpr const char* kReasonLeader = "[node_problem] weir:";
/// Where rendered checks expect the design on a host.
inline constexpr const char* kDesignOnHost = "/etc/weir/fabric.yaml";

/// HealthCheckProgram: drains with our own reason, resumes only what it drained, and leaves its
/// verdict for the prolog.
[[nodiscard]] std::string slurm_healthcheck(const design::Design& design);
/// Prolog: no look and no Slurm command of its own; status 1 only where the health check proved a
/// fault lately.
[[nodiscard]] std::string slurm_prolog(const design::Design& design);
/// Custom plugin monitor of node-problem-detector.
[[nodiscard]] std::string npd_monitor(const design::Design& design);
/// A command for NRPE, and a service for the hosts of the design.
[[nodiscard]] std::string nagios_objects(const design::Design& design,
                                         const design::Intent& intent);
/// Who can scrape the DaemonSet: what runs on the node itself, or whoever has a user's password.
enum class Scrape : std::uint8_t { kLoopback, kNodeAddress };
/// weir serve on every node: host network, /sys read-only, no privilege. Beyond loopback only with
/// TLS and users (`weir serve --web-config`) from a Secret.
[[nodiscard]] std::string k8s_daemonset(const design::Design& design, Scrape scrape);
/// YAML; all hosts, and one group per host group of the design.
[[nodiscard]] std::string ansible_inventory(const design::Design& design,
                                            const design::Intent& intent);

}  // namespace weir::render
