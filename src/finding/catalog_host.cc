#include "finding/catalog_parts.h"
#include "finding/catalog_sources.h"

namespace weir::finding {
namespace {

CatalogEntry receiver_slow() {
  return {
      .id = "receiver.slow",
      .title = "slow receiver: the host drains packets more slowly than they arrive",
      .severity = Severity::kError,
      .aliases = {"pfc.direction", "SLOW_RECEIVER_SUSPECT"},
      .rows = {"D4", "I1", "I20"},
      .phase = "verify",
      .why =
          "The NIC sends pauses: its receive buffer is full because PCIe, memory or the CPU does "
          "not drain it. The switch then holds everything for this host, and soon for others; "
          "thousands of pauses per second from one server were traced to address translation "
          "misses. tx pause on the NIC's RDMA priority, with outbound_pci_stalled_wr or "
          "rx_discards_phy beside it, says host; rx pause says fabric. The fabric is not at fault, "
          "so no switch threshold helps.",
      .fix =
          {{.platform = "host",
            .commands = {"ethtool -S <netdev> | grep -E 'tx_prio3_pause|outbound_pci|discards_phy'",
                         "lspci -vvv -s <bdf> | grep -E 'LnkSta|ACSCtl|MaxReadReq'",
                         "cat /sys/bus/pci/devices/<bdf>/current_link_width"},
            .note = "In this order: PCIe width and speed, ACS and IOMMU, relaxed ordering, NUMA of "
                    "NIC and GPU, memory bandwidth, then the application."},
           {.platform = "mlx5-ofed",
            .commands = {"cat /sys/class/net/<netdev>/settings/pfc_stall_prevention"},
            .note = "'auto' stops pausing after 100 ms instead of 8 s: the host loses packets, but "
                    "the fabric is protected."},
           {.platform = "any",
            .commands = {"weir explain pcie.relaxed_ordering_wrong", "weir explain pcie.acs_on",
                         "weir explain pcie.link_degraded"}}},
      .sources = {cite::kAtScale, cite::kMlx5Counters,
                  "NVIDIA/nccl issue 173: server NICs send pause frames"},
  };
}

CatalogEntry pcie_slot_power() {
  return {
      .id = "pcie.slot_power",
      .title = "PCIe slot gives the NIC too little power",
      .severity = Severity::kError,
      .rows = {"C5", "I20"},
      .phase = "validate",
      .why =
          "A NIC asks its slot for the power that it and its optics need. A slot that gives less "
          "lets the card run with ports off or at a lower rate: width and speed of the link look "
          "right, and the NIC falls back under load. The driver says it once, in the kernel's log.",
      .fix = {{.platform = "host",
               .commands = {"dmesg | grep -iE 'insufficient power|power budget'",
                            "mlxlink -d <device> -m"},
               .note =
                   "Move the card to a slot of 75 W, connect its auxiliary power, or use optics "
                   "of a lower power class; look at the slot's limit in the firmware setup."}},
      .sources = {"Linux kernel, drivers/net/ethernet/mellanox/mlx5/core/events.c: "
                  "mlx5_pcie_event, port module events"},
  };
}

CatalogEntry pcie_link_degraded() {
  return {
      .id = "pcie.link_degraded",
      .title = "PCIe link narrower or slower than it could be",
      .severity = Severity::kError,
      .rows = {"C5", "I20"},
      .phase = "validate",
      .why =
          "A 400G NIC needs sixteen lanes of Gen5; at half of that it cannot take line rate and "
          "pauses the switch. A card that trained at x8, or a riser that gives Gen4, shows nowhere "
          "but here. GPUs lower their speed when idle, so for them judge the width, or the speed "
          "under load.",
      .fix = {{.platform = "host",
               .commands = {"cat /sys/bus/pci/devices/<bdf>/current_link_speed",
                            "cat /sys/bus/pci/devices/<bdf>/current_link_width",
                            "cat /sys/bus/pci/devices/<bdf>/max_link_width"},
               .note = "Reseat the card, look at the slot's bifurcation in the firmware setup, "
                       "then at the riser."}},
      .sources = {"PCI Express Base Specification: 32 GT/s per lane and direction in Gen5",
                  "Linux kernel, sysfs-bus-pci: current_link_speed, current_link_width"},
  };
}

CatalogEntry pcie_errors() {
  return {
      .id = "pcie.errors",
      .title = "PCIe link reports errors",
      .severity = Severity::kWarning,
      .aliases = {"pcie.aer", "PCIE_AER"},
      .rows = {"C5", "I20"},
      .phase = "validate",
      .why =
          "A corrected error is a packet sent again: a few are harmless, a steady stream takes "
          "bandwidth from the NIC, which then pauses the switch. An uncorrected one loses data or "
          "resets the device. A card that is not seated, a riser or a retimer is the usual cause.",
      .fix = {{.platform = "host",
               .commands = {"dmesg -T | grep -i -e AER -e 'PCIe Bus Error'",
                            "lspci -vv -s <bdf> | grep -e LnkSta -e UESta -e CESta"},
               .note = "Reseat the card; then the riser, the slot, the firmware of the board."}},
      .sources = {"PCI Express Base Specification: advanced error reporting",
                  "Linux kernel, PCI/pcieaer-howto"},
  };
}

CatalogEntry nic_failed() {
  return {
      .id = "nic.failed",
      .title = "NIC firmware or driver stopped working",
      .severity = Severity::kError,
      .aliases = {"nic.firmware_assert", "NIC_FIRMWARE"},
      .rows = {"C4"},
      .phase = "diagnose",
      .why =
          "The driver lost its firmware: an assert, a health report, a command without an answer, "
          "a queue that does not drain. Connections of the NIC end with retries exceeded at the "
          "other hosts, which look like the cause but are not.",
      .fix = {{.platform = "host",
               .commands = {"devlink health show", "devlink dev info", "mlxfwmanager --query"},
               .note = "Drain the host, reset or power it, bring the firmware to the fleet's "
                       "release, and send the assert to the vendor."}},
      .sources = {"Linux kernel, devlink health: firmware and fatal reporters of mlx5",
                  "Linux kernel, mlx5 health.c: assert_var, health compromised"},
  };
}

CatalogEntry pcie_relaxed_ordering() {
  return {
      .id = "pcie.relaxed_ordering_wrong",
      .title = "PCIe relaxed ordering off, or on where it hurts",
      .severity = Severity::kWarning,
      .aliases = {"pcie.relaxed_ordering", "SLOW_RECEIVER_PCIE", "RELAXED_ORDERING_BAD_CPU"},
      .rows = {"C5", "I20"},
      .phase = "validate",
      .why =
          "Without relaxed ordering every write of the NIC waits for the one before it; on large "
          "servers that is slower than the wire, the NIC pauses the switch, and bursts become "
          "storms. With it, on a CPU that does not follow the rules, large messages took 250 times "
          "as long. NCCL asks for it by default where the NIC allows it and says [RO] in its log.",
      .fix = {{.platform = "mlx5-ofed",
               .commands = {"mlxconfig -d <bdf> -e q PCI_WR_ORDERING",
                            "mlxconfig -y -d <bdf> s PCI_WR_ORDERING=1"},
               .note = "0 lets each application choose, 1 forces it. Takes effect after a reset."},
              {.platform = "mlx5-inbox", .commands = {"mstconfig -y -d <bdf> s PCI_WR_ORDERING=1"}},
              {.platform = "nccl",
               .commands = {"export NCCL_IB_PCI_RELAXED_ORDERING=1"},
               .note = "Use 0 where the CPU does not support it."}},
      .sources =
          {"kvcache-ai/Mooncake pull request 3205: storms fixed by relaxed ordering",
           "linux-rdma/perftest issue 116: relaxed ordering on a CPU that does not support it",
           cite::kNcclEnv},
  };
}

CatalogEntry pcie_acs_on() {
  return {
      .id = "pcie.acs_on",
      .title = "ACS or IOMMU forces GPU traffic through the root complex",
      .severity = Severity::kError,
      .aliases = {"pcie.acs_iommu", "ACS_ENABLED"},
      .rows = {"C5"},
      .phase = "validate",
      .why =
          "With access control services on at the PCIe bridges, a transfer between NIC and GPU "
          "under one switch goes up to the root complex and back: half the bandwidth at best, "
          "hangs at worst. An IOMMU that translates does the same. On bare metal both must be off; "
          "in virtual machines ACS must stay on and ATS helps instead. Without root the setting "
          "cannot be read, so it is reported as unknown.",
      .fix = {{.platform = "host",
               .commands = {"lspci -vvv | grep -E '^[0-9a-f]|ACSCtl'",
                            "setpci -s <bridge bdf> ECAP_ACS+0x6.w=0000",
                            "cat /sys/kernel/iommu_groups/<n>/type"},
               .note = "setpci lasts until the next boot; boot with iommu=pt so that groups say "
                       "'identity'. Never in a virtual machine's host."},
              {.platform = "mlx5-ofed",
               .commands = {"mlxconfig -y -d <bdf> s ATS_ENABLED=1"},
               .note = "For virtual machines."}},
      .sources = {"PCI Express Base Specification: access control services",
                  "NVIDIA/nccl issues 1737 and 489: GPUDirect and ACS",
                  "NVIDIA NCCL documentation, troubleshooting: PCI access control services"},
  };
}

CatalogEntry pcie_gpu_far() {
  return {
      .id = "pcie.gpu_far",
      .title = "GPU reaches its NIC only across the CPU",
      .severity = Severity::kWarning,
      .rows = {"C5"},
      .phase = "validate",
      .why =
          "GPUDirect wants NIC and GPU under one PCIe switch (PIX, PXB). Across the host bridge "
          "(PHB) or the link between sockets (SYS) bandwidth falls and varies with everything else "
          "on that path, and NCCL turns GPUDirect off beyond its distance limit. Interrupts of the "
          "NIC on the far socket cost the TCP side as well.",
      .fix =
          {{.platform = "host",
            .commands = {"nvidia-smi topo -m", "cat /sys/class/net/<netdev>/device/numa_node"},
            .note =
                "Pair each GPU with the NIC next to it; -1 means that the platform does not say."},
           {.platform = "nccl",
            .commands = {"export NCCL_IB_HCA==<nearest device of each GPU>",
                         "export NCCL_NET_GDR_LEVEL=PHB"},
            .note = "Raising the level allows GPUDirect over a longer path; measure before keeping "
                    "it."}},
      .sources = {cite::kNcclEnv, "NVIDIA GPUDirect RDMA documentation: supported systems"},
  };
}

CatalogEntry gdr_off() {
  return {
      .id = "gdr.off",
      .title = "GPUDirect RDMA is off: data goes through host memory",
      .severity = Severity::kError,
      .aliases = {"gdr.module_and_nccl_version", "gdr.dmabuf_path", "GDR_DISABLED"},
      .rows = {"C5", "E2", "I24"},
      .phase = "validate",
      .why =
          "Every byte is copied to host memory and back: CPU load rises, the GPUs wait, and the "
          "network looks slow; one upgrade took all-reduce from 180 to 10 GB/s this way. NCCL "
          "needs nvidia_peermem (or nv_peer_mem) or dma-buf, and older versions do not know the "
          "newer module's name. A missing module alone is not a fault where dma-buf works. The log "
          "says /GDRDMA behind each channel that uses it; a channel without it is staged.",
      .fix = {{.platform = "host",
               .commands = {"modprobe nvidia_peermem", "cat /sys/module/nvidia_peermem/version"},
               .note = "Needs a driver stack with peer memory in ib_core; a plain kernel has "
                       "dma-buf only, from 5.12 on, with the open GPU modules."},
              {.platform = "nccl",
               .commands = {"NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ENV,NET,GRAPH <command>",
                            "export NCCL_DMABUF_ENABLE=1", "weir job <log>"},
               .note = "RCCL on Thor 2 needs CUMEM for its dma-buf path."}},
      .sources = {"NVIDIA/nccl issue 1676: GPUDirect silently off after an upgrade", cite::kNcclIb,
                  "ROCm/cvs, thor2_env_script.sh: dma-buf registration needs CUMEM"},
  };
}

CatalogEntry gdr_not_registered() {
  return {
      .id = "gdr.not_registered",
      .title = "the GPUDirect module is loaded but not in use",
      .severity = Severity::kError,
      .aliases = {"gdr.registered", "GDR_NOT_REGISTERED"},
      .rows = {"C5"},
      .phase = "validate",
      .why =
          "lsmod shows nvidia_peermem, yet it is not registered with the RDMA stack: it was built "
          "against another ib_core, or loaded before it. NCCL looks at /sys/kernel/mm/memory_peers "
          "and at the module's version file, and says Disabled where neither answers. Loaded is "
          "not registered, and registered is not used: only the log of a run proves it.",
      .fix = {{.platform = "host",
               .commands = {"ls /sys/kernel/mm/memory_peers/",
                            "modprobe -r nvidia_peermem && modprobe nvidia_peermem",
                            "journalctl -k | grep -i peermem"},
               .note = "Rebuild the module against the installed driver stack where the log "
                       "complains about symbols."}},
      .sources = {"NVIDIA/nccl issue 1537: module loaded, GPUDirect still disabled", cite::kNcclIb},
  };
}

CatalogEntry gdr_not_persistent() {
  return {
      .id = "gdr.not_persistent",
      .title = "GPUDirect will be gone after the next reboot",
      .severity = Severity::kWarning,
      .aliases = {"gdr.module_persistent"},
      .rows = {"C5"},
      .phase = "validate",
      .why =
          "nvidia_peermem was loaded by hand. It works until the host reboots, and then one host "
          "of the job stages through memory and slows all others, long after the change.",
      .fix = {{.platform = "host",
               .commands = {"echo nvidia_peermem > /etc/modules-load.d/nvidia-peermem.conf"}}},
      .sources = {"NVIDIA/nccl issue 1343: GPUDirect off after reboot", "modules-load.d(5)"},
  };
}

CatalogEntry fleet_drift() {
  return {
      .id = "fleet.drift",
      .title = "configuration drift between rails or hosts",
      .severity = Severity::kWarning,
      .aliases = {"fleet.consistency", "GDR_ASYMMETRIC"},
      .rows = {"C2"},
      .phase = "validate",
      .why =
          "A collective runs at the speed of its slowest member, so one host that differs slows "
          "the whole job: a rail without PFC, another firmware, GPUDirect off on one node. Each "
          "host alone can look right; only the comparison shows it. Host QoS settings are lost "
          "with every driver reload and reboot, which is how they drift.",
      .fix = {{.platform = "any",
               .commands = {"weir diff <host a> <host b>", "weir plan", "weir apply"},
               .note = "Make it persistent: weir render --to systemd."}},
      .sources = {cite::kMlx5Dcb, "NVIDIA/nccl-tests issue 106: pairs with one node are slow"},
  };
}

CatalogEntry host_straggler() {
  return {
      .id = "host.straggler",
      .title = "every pair with one host, or one of its NICs, is slow",
      .severity = Severity::kWarning,
      .aliases = {"verify.pairwise_matrix", "STRAGGLER_NODE"},
      .rows = {"C2", "J3"},
      .phase = "verify",
      .why =
          "A matrix of pairs distinguishes a bad host from a bad fabric: when all slow pairs share "
          "one member, that member is at fault and the paths are not; pairs with it ran at 49 "
          "instead of 88 GB/s. What differs on that host from one that passes is the cause: PCIe, "
          "firmware, GPUDirect, QoS, MTU.",
      .fix = {{.platform = "any",
               .commands = {"weir diff <slow host> <good host>", "weir validate"},
               .note = "Take it out of the job first; then look at what the diff shows."}},
      .sources = {"NVIDIA/nccl-tests issue 106: pairs that contain one node"},
  };
}

CatalogEntry hosts_below_floor() {
  return {
      .id = "hosts.below_floor",
      .title = "hosts below their floors alike: on a rail, below a leaf, or everywhere",
      .severity = Severity::kError,
      .rows = {"J3"},
      .phase = "verify",
      .why =
          "Where every host misses its floor alike, also with nothing else running, no host and no "
          "path stands out: look for what they have in common. Of one rail or leaf that is its "
          "switch (buffers, QoS, speed of its ports) or a setting of that rail's NICs; everywhere, "
          "it is a setting, driver or firmware that all have, the PCIe of their model, options of "
          "the measurement, or a speed in the design that the NICs do not have.",
      .fix = {{.platform = "design",
               .commands = {"links: [ { speed: <as built> } ]"},
               .note = "Only where the design names a speed that NICs and cables do not have."},
              {.platform = "any",
               .commands = {"weir validate",
                            "weir preflight --from-stage loopback --until loopback",
                            "weir explain pcie.link_degraded"},
               .note = "A NIC that misses its floor with itself needs no switch for that."}},
      .sources = {"Weir: preflight compares hosts per rail and per leaf"},
  };
}

CatalogEntry baseline_regressed() {
  return {
      .id = "baseline.regressed",
      .title = "slower than the fabric's own baseline",
      .severity = Severity::kError,
      .rows = {"J4"},
      .phase = "verify",
      .why =
          "The same load on the same design, drivers, firmware and speeds did better before, by "
          "more "
          "than it varies from run to run. Something changed that no setting shows: a cable or "
          "optic that corrects more errors, a link that is gone, another routing, a PCIe lane, a "
          "neighbour's traffic.",
      .fix = {{.platform = "any",
               .commands = {"weir preflight --until pairs", "weir diagnose", "weir diff"},
               .note =
                   "Measure again first; then look at what the stage that is worse uses and the "
                   "stages before it do not."}},
      .sources =
          {"Y. Xiong et al., SuperBench, USENIX ATC 2024: 5 % below the baseline is a defect"},
  };
}

CatalogEntry host_tcp_untuned() {
  return {
      .id = "host.tcp_untuned",
      .title = "TCP settings left at their defaults",
      .severity = Severity::kInfo,
      .rows = {"B5", "C6"},
      .phase = "validate",
      .why =
          "Bootstrap, storage and checkpoints use TCP beside RDMA. With 1500-byte frames and small "
          "socket buffers a 100G path gives a fraction of its rate to one stream. It has nothing "
          "to do with losslessness; NIC rings belong here too, since they carry no RDMA.",
      .fix = {{.platform = "design",
               .commands = {"host_tuning: { socket_buffers: true, irq_affinity: true }"}},
              {.platform = "host",
               .commands = {"sysctl -w net.core.rmem_max=<bytes> net.core.wmem_max=<bytes>",
                            "sysctl -w net.ipv4.tcp_rmem='4096 131072 <bytes>'",
                            "sysctl -w net.ipv4.tcp_wmem='4096 16384 <bytes>'",
                            "ip link set dev <netdev> mtu 9000"},
               .note = "At least bandwidth x round trip; 2147483647 is the most."}},
      .sources = {"Linux kernel, ip-sysctl: tcp_rmem, tcp_wmem, rmem_max, wmem_max"},
  };
}

}  // namespace

std::vector<CatalogEntry> host_entries() {
  return {receiver_slow(),  pcie_link_degraded(),    pcie_slot_power(),    pcie_errors(),
          nic_failed(),     pcie_relaxed_ordering(), pcie_acs_on(),        pcie_gpu_far(),
          gdr_off(),        gdr_not_registered(),    gdr_not_persistent(), fleet_drift(),
          host_straggler(), hosts_below_floor(),     baseline_regressed(), host_tcp_untuned()};
}

}  // namespace weir::finding
