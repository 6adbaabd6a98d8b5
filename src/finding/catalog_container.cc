#include "finding/catalog_parts.h"
#include "finding/catalog_sources.h"

namespace weir::finding {
namespace {

CatalogEntry limits_memlock_low() {
  return {
      .id = "limits.memlock_low",
      .title = "memlock limit too low for RDMA",
      .severity = Severity::kError,
      .aliases = {"limits.memlock", "MEMLOCK_LOW"},
      .rows = {"C5", "E2"},
      .phase = "validate",
      .why =
          "RDMA pins what it registers. Under a limit of 64 KB registration fails with 'Cannot "
          "allocate memory' although the host has plenty, and perftest from a login shell works. "
          "The limit that counts is that of the job's own context: slurmd's, containerd's, the "
          "shells mpirun starts.",
      .fix = {{.platform = "host",
               .commands = {"echo '* - memlock unlimited' > /etc/security/limits.d/rdma.conf",
                            "systemctl edit slurmd    # [Service] LimitMEMLOCK=infinity",
                            "ulimit -l"},
               .note = "Ask inside the job: the last line must say unlimited there."}},
      .sources = {"NVIDIA/nccl-tests issue 206: memlock in the shells of mpirun", "limits.conf(5)",
                  "systemd.exec(5): LimitMEMLOCK"},
  };
}

CatalogEntry container_no_ipc_lock() {
  return {
      .id = "container.no_ipc_lock",
      .title = "container may not pin memory or see the NIC",
      .severity = Severity::kError,
      .aliases = {"container.caps", "CAP_IPC_LOCK"},
      .rows = {"C5", "E2"},
      .phase = "job",
      .why =
          "A container needs IPC_LOCK to register memory, /dev/infiniband/uverbsN to use the NIC "
          "and rdma_cm for RDMA-CM. Without them the application finds no device or fails to "
          "register, and a library that can silently falls back to TCP.",
      .fix = {{.platform = "host",
               .commands = {"docker run --cap-add=IPC_LOCK --ulimit memlock=-1 "
                            "--device=/dev/infiniband <image>"}},
              {.platform = "any",
               .commands = {"securityContext: {capabilities: {add: [\"IPC_LOCK\"]}}"},
               .note = "In the pod's container; the device comes from the RDMA device plugin's "
                       "resource."}},
      .sources = {"capabilities(7): CAP_IPC_LOCK", "Mellanox/k8s-rdma-shared-dev-plugin, README"},
  };
}

CatalogEntry container_gid_outside() {
  return {
      .id = "container.gid_outside_netns",
      .title = "container has the NIC but not its network interface",
      .severity = Severity::kError,
      .aliases = {"container.gid_netdev_in_netns", "GID_NOT_IN_NETNS"},
      .rows = {"C5", "C8"},
      .phase = "validate",
      .why =
          "The GID belongs to an address on an interface in another network namespace: connections "
          "are set up over TCP, and then no RDMA traffic flows, because the source address has no "
          "interface to send from. The GID's interface must be in the job's own namespace, with a "
          "route.",
      .fix = {{.platform = "any",
               .commands = {"weir validate", "docker run --network=host <image>"},
               .note = "Run validate inside the job's namespace. In Kubernetes attach the rail's "
                       "interface with its CNI (host-device, SR-IOV, macvlan)."}},
      .sources = {"Datura-ai/lium-io pull request 1202: verbs device without its interface",
                  cite::kIbSysfs},
  };
}

CatalogEntry k8s_netns_mode_wrong() {
  return {
      .id = "k8s.netns_mode_wrong",
      .title = "RDMA namespace mode and network plugin do not match",
      .severity = Severity::kError,
      .aliases = {"k8s.rdma_netns_mode", "RDMA_NETNS_MODE"},
      .rows = {"C5"},
      .phase = "validate",
      .why =
          "In shared mode every namespace sees every RDMA device; in exclusive mode a device is in "
          "one namespace only. The shared-device plugin needs shared mode and crashes in the "
          "other; an SR-IOV plugin that moves devices needs exclusive. Counters live only in the "
          "owner's namespace: in shared mode a pod sees GIDs but no hw_counters.",
      .fix = {{.platform = "host",
               .commands = {"rdma system show", "rdma system set netns shared",
                            "rdma system set netns exclusive"},
               .note = "One of the two, before any namespace uses RDMA; persist it with the module "
                       "option netns_mode of ib_core."}},
      .sources =
          {"Mellanox/k8s-rdma-shared-dev-plugin issue 87: exclusive mode with the shared plugin",
           "iproute2, rdma-system(8)", cite::kIbSysfs},
  };
}

CatalogEntry k8s_qos_on_vf() {
  return {
      .id = "k8s.qos_on_vf",
      .title = "QoS configured or read on a virtual function",
      .severity = Severity::kWarning,
      .aliases = {"k8s.qos_on_pf", "QOS_SCOPE_PF"},
      .rows = {"B3", "C1"},
      .phase = "validate",
      .why =
          "Trust, maps, PFC and ECN are the physical function's: a virtual function has no DCB "
          "operations and no ecn directory, and a pod can neither see nor set them. What the pod's "
          "traffic gets is decided on the host. Look there, for the physical function of every "
          "virtual one in use.",
      .fix = {{.platform = "host",
               .commands = {"readlink /sys/class/net/<vf netdev>/device/physfn", "weir validate"},
               .note = "Run validate on the host, outside of any pod."}},
      .sources = {cite::kMlx5Dcb, cite::kMlnxQos},
  };
}

CatalogEntry kernel_regression() {
  return {
      .id = "kernel.regression",
      .title = "kernel or driver release known to break RDMA",
      .severity = Severity::kWarning,
      .aliases = {"kernel.known_bad", "KERNEL_KNOWN_BAD"},
      .rows = {"C5", "J4"},
      .phase = "validate",
      .why =
          "Some releases fail in ways that look like configuration: on one, registering a kilobyte "
          "returned 'Cannot allocate memory' because a contiguous-memory area took everything. "
          "Compare version by version with a host that works before tuning anything.",
      .fix = {{.platform = "host",
               .commands = {"uname -r", "grep Cma /proc/meminfo", "ethtool -i <netdev>"},
               .note = "Move to a release on the vendor's list, or back to the one of the golden "
                       "baseline."}},
      .sources = {"luxingcom/aicad-nccl-optimization issue 1: ENOMEM from a CMA regression"},
  };
}

CatalogEntry inventory_renamed() {
  return {
      .id = "inventory.renamed",
      .title = "RDMA device was renamed",
      .severity = Severity::kWarning,
      .aliases = {"inventory.by_pci", "DEVICE_RENAMED"},
      .rows = {"C1", "E2"},
      .phase = "validate",
      .why =
          "mlx5_0 is whichever NIC was found first: a card more, a firmware or a kernel update, "
          "and the numbers move. Scripts and NCCL_IB_HCA then configure or use another NIC than "
          "before, with no error. The PCI address and the GUID stay; names are to be resolved at "
          "run time.",
      .fix = {{.platform = "host",
               .commands = {"rdma link", "readlink /sys/class/infiniband/<device>/device"},
               .note = "Name rails by PCI address, or pin names with rdma-core's rename rules "
                       "(NAME_PCI)."}},
      .sources = {"rdma-core, rdma_rename and 60-rdma-persistent-naming.rules", cite::kIbSysfs},
  };
}

}  // namespace

std::vector<CatalogEntry> container_entries() {
  return {limits_memlock_low(),   container_no_ipc_lock(), container_gid_outside(),
          k8s_netns_mode_wrong(), k8s_qos_on_vf(),         kernel_regression(),
          inventory_renamed()};
}

}  // namespace weir::finding
