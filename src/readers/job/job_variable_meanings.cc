// The variables that weir renders or judges, in words.
//
// NCCL: NVIDIA's page of environment variables
// (https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html, source of 2.30 in
// docs/userguide/source/env.rst of NVIDIA/nccl), from which ranges, defaults and versions are
// taken. UCX: `ucx_info -f`. PyTorch: ProcessGroupNCCL.hpp, torch.distributed.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "readers/job/job.h"

namespace weir::readers {
namespace {

constexpr std::string_view kNcclPage =
    "NVIDIA NCCL documentation, environment variables "
    "(docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html)";
constexpr std::string_view kUcxInfo = "ucx_info -f";

constexpr auto kMeanings = std::to_array<VariableMeaning>({
    {"NCCL_IB_HCA", "RDMA devices that NCCL uses",
     "a comma-separated list of <device>[:<port>[:<rail>[:<plane>]]]; ^ in front excludes, = in "
     "front asks for exact names",
     "all active devices", "",
     "Without = a name is a prefix: mlx5_1 also takes mlx5_10 to mlx5_19. A network interface "
     "(eth0) "
     "matches nothing, and NCCL falls back to TCP.",
     "nccl.hca_unknown, nccl.hca_prefix, nccl.hca_list_short", kNcclPage},
    {"NCCL_IB_TC", "traffic class of RDMA packets: the whole TOS byte, not the DSCP", "0 to 255",
     "0; since 2.27 the communicator's own, else 0", "2.1.15",
     "DSCP 26 is 104, and 106 with ECN-capable transport set: the DSCP times four, plus 2. weir "
     "tos "
     "converts.",
     "dscp.tos_confusion, dscp.unmarked", kNcclPage},
    {"NCCL_IB_FIFO_TC", "traffic class of NCCL's control messages (credits)", "0 to 255",
     "that of NCCL_IB_TC", "2.22.3",
     "May differ on purpose: a class of higher priority for short messages.", "job.bad_value",
     kNcclPage},
    {"NCCL_IB_GID_INDEX", "which GID of each NIC is the source address (RoCE)",
     "an index of show_gids; -1 lets NCCL select",
     "-1 since 2.21, which selects RoCE v2 of the family of NCCL_IB_ADDR_FAMILY; 0 before", "2.1.4",
     "The index of an address differs between hosts and changes when addresses do. Index 0 is "
     "link-local.",
     "gid.not_routable, gid.index_differs", kNcclPage},
    {"NCCL_IB_ROCE_VERSION_NUM", "RoCE version of the GID that NCCL selects itself", "1 or 2", "2",
     "2.21", "Used only where NCCL_IB_GID_INDEX is not set.", "", kNcclPage},
    {"NCCL_IB_ADDR_FAMILY", "address family of the GID that NCCL selects itself",
     "AF_INET or AF_INET6", "AF_INET", "2.21", "Used only where NCCL_IB_GID_INDEX is not set.",
     "gid.wrong_family, job.bad_value", kNcclPage},
    {"NCCL_IB_ADDR_RANGE", "subnet of the GID that NCCL selects itself",
     "a CIDR prefix: 10.0.0.0/16", "any", "2.21", "Used only where NCCL_IB_GID_INDEX is not set.",
     "", kNcclPage},
    {"NCCL_IB_SL", "service level of the queue pairs", "0 to 15; over Ethernet 0 to 7", "0",
     "2.1.4",
     "On Ethernet the priority of the VLAN tag, where there is one; the DSCP decides otherwise.",
     "job.bad_value", kNcclPage},
    {"NCCL_IB_TIMEOUT", "how long a queue pair waits for an acknowledgement: 4.096 us x 2^value",
     "0 to 31; 0 waits for ever", "20 since 2.23; 18 since 2.14; 14 before", "",
     "With NCCL_IB_RETRY_CNT it decides how long a link may be down before the job fails.",
     "failover.window_too_short, job.bad_value", kNcclPage},
    {"NCCL_IB_RETRY_CNT", "how often a queue pair sends again before it fails", "0 to 7", "7",
     "2.1.15", "The field has three bits: 13 is not possible.",
     "failover.window_too_short, job.bad_value", kNcclPage},
    {"NCCL_IB_QPS_PER_CONNECTION", "queue pairs for each connection between two ranks", "1 to 128",
     "1", "2.10",
     "More queue pairs have more source ports, so ECMP spreads them better; see also "
     "NCCL_IB_SPLIT_DATA_ON_QPS.",
     "job.bad_value", kNcclPage},
    {"NCCL_IB_SPLIT_DATA_ON_QPS", "whether one message is split over the queue pairs",
     "0 (in turn) or 1 (split)", "0 since 2.20; 1 in 2.18 and 2.19", "2.18", "", "", kNcclPage},
    {"NCCL_IB_ADAPTIVE_ROUTING", "whether data may take adaptively routed paths", "0 or 1",
     "1 on InfiniBand, 0 on RoCE", "2.16",
     "On RoCE only with NICs and switches that reorder; otherwise packets out of order are sent "
     "again.",
     "", kNcclPage},
    {"NCCL_IB_PCI_RELAXED_ORDERING", "PCIe relaxed ordering for RDMA", "0 off, 1 required, 2 auto",
     "2", "2.12", "", "", kNcclPage},
    {"NCCL_IB_DISABLE", "disables RDMA, RoCE included: NCCL uses TCP", "0 or 1", "0", "",
     "Copied from guides for clusters without InfiniBand.", "nccl.ib_disabled", kNcclPage},
    {"NCCL_IB_MERGE_NICS", "combines two ports of a NIC into one device", "0 or 1", "1", "2.20", "",
     "", kNcclPage},
    {"NCCL_IB_CUDA_SUPPORT", "GPUDirect RDMA, in old releases", "0 or 1", "", "",
     "Removed in 2.4.0: no longer read. Use NCCL_NET_GDR_LEVEL (0 was LOC, 1 was SYS).",
     "job.env_typo", kNcclPage},
    {"NCCL_IB_GDR_LEVEL", "the old name of NCCL_NET_GDR_LEVEL", "", "", "2.3.4",
     "Renamed to NCCL_NET_GDR_LEVEL in 2.4.0.", "job.env_typo", kNcclPage},
    {"NCCL_NET_GDR_LEVEL", "the largest distance between GPU and NIC for GPUDirect RDMA",
     "LOC (never), PIX, PXB, PHB, SYS (always); numbers are an older way to write it",
     "selected by NCCL", "2.3.4 as NCCL_IB_GDR_LEVEL, this name since 2.4.0",
     "LOC or 0 disables GPUDirect: every byte is copied through host memory.",
     "gdr.off, pcie.gpu_far, job.bad_value", kNcclPage},
    {"NCCL_NET_GDR_READ", "GPUDirect RDMA also for sending", "0 or 1",
     "1 on platforms with NVLink since 2.4.2, else 0", "", "", "", kNcclPage},
    {"NCCL_DMABUF_ENABLE", "GPUDirect RDMA through the kernel's dma-buf, without nvidia_peermem",
     "0 or 1", "1", "2.13", "", "", kNcclPage},
    {"NCCL_NET", "which network NCCL uses",
     "IB, Socket, or the name of a plugin; not case sensitive", "selected by NCCL", "2.10",
     "IB makes the job fail instead of falling back to TCP.",
     "nccl.ib_disabled, nccl.socket_fallback", kNcclPage},
    {"NCCL_NET_PLUGIN", "which network plugin NCCL loads", "a suffix, a file name, or none",
     "libnccl-net.so", "2.11", "", "", kNcclPage},
    {"NCCL_SOCKET_IFNAME", "interfaces over which the ranks find each other (TCP)",
     "a comma-separated list of prefixes; ^ in front excludes, = in front asks for exact names",
     "any but lo and docker*", "", "It does not select the RDMA devices: that is NCCL_IB_HCA.",
     "nccl.socket_loopback", kNcclPage},
    {"NCCL_SOCKET_FAMILY", "address family of the TCP connections", "AF_INET or AF_INET6", "any",
     "", "", "job.bad_value", kNcclPage},
    {"NCCL_CROSS_NIC", "whether a ring may change rails between hosts", "0 no, 1 yes, 2 if better",
     "2", "", "0 where rails share no switch, and where each ring has a rail of its own.",
     "rail.cross_rail_unreachable, rail.rings_cross", kNcclPage},
    {"NCCL_PXN_DISABLE",
     "disables reaching a NIC of another rail over NVLink and the GPU that is next to it", "0 or 1",
     "0", "2.12", "Where rails share no switch, PXN is what connects them.",
     "rail.cross_rail_unreachable", kNcclPage},
    {"NCCL_P2P_DISABLE", "disables direct access between GPUs of a host (NVLink, PCIe)", "0 or 1",
     "0", "", "For debugging; left in place, GPUs of one host talk over the network.",
     "nccl.intra_node_network", kNcclPage},
    {"NCCL_P2P_LEVEL", "the largest distance between GPUs for direct access",
     "LOC (never), NVL, PIX, PXB, PHB, SYS; numbers are an older way to write it",
     "selected by NCCL", "2.3.4", "", "job.bad_value", kNcclPage},
    {"NCCL_SHM_DISABLE", "disables shared memory between the processes of a host", "0 or 1", "0",
     "", "For debugging; left in place, GPUs of one host talk over the network.",
     "nccl.intra_node_network", kNcclPage},
    {"NCCL_ALGO", "algorithms that NCCL may use",
     "a list of Ring, Tree, CollnetChain, CollnetDirect, NVLS, NVLSTree, PAT; ^ in front excludes; "
     "since 2.24 per function: ring;allreduce:tree",
     "selected by NCCL", "2.5", "Since 2.24 an unknown word ends the job; before, it was ignored.",
     "job.bad_value", kNcclPage},
    {"NCCL_PROTO", "protocols that NCCL may use",
     "a list of LL, LL128, Simple; ^ in front excludes", "selected by NCCL", "2.5",
     "NVIDIA advises against setting it.", "job.bad_value", kNcclPage},
    {"NCCL_DEBUG", "how much NCCL logs", "VERSION, WARN, INFO, TRACE", "nothing", "",
     "INFO prints the decisive line: Using network IB, or Socket.", "job.bad_value", kNcclPage},
    {"NCCL_DEBUG_SUBSYS", "which parts of NCCL log with NCCL_DEBUG=INFO",
     "a list of INIT, COLL, P2P, SHM, NET, GRAPH, TUNING, ENV, ALLOC and others, or ALL",
     "INIT,BOOTSTRAP,ENV", "2.3.4", "", "", kNcclPage},
    {"NCCL_DEBUG_FILE", "file that NCCL logs to", "a path; %h is the host, %p the process",
     "standard output", "2.2.12", "", "", kNcclPage},
    {"NCCL_HOSTID", "a name by which NCCL tells hosts apart", "any text", "made by NCCL", "",
     "Ranks with different names count as being on different hosts.", "nccl.intra_node_network",
     "the source of NCCL, getHostHash()"},
    {"NCCL_COMM_ID", "address at which the first rank listens", "address:port", "made by NCCL", "",
     "", "", "the source of NCCL, bootstrap.cc"},
    {"NCCL_TOPO_FILE", "topology that NCCL loads before it looks itself", "a path to an XML file",
     "/var/run/nvidia-topologyd/virtualTopology.xml", "2.6", "", "", kNcclPage},
    {"NCCL_TOPO_DUMP_FILE", "where NCCL writes the topology it found", "a path", "nowhere", "2.6",
     "", "", kNcclPage},
    {"NCCL_GRAPH_DUMP_FILE", "where NCCL writes the rings and trees it made", "a path", "nowhere",
     "", "", "", "the source of NCCL, graph/search.cc"},
    {"UCX_NET_DEVICES", "network devices that UCX uses",
     "a comma-separated list of <device>:<port>, such as mlx5_0:1", "all, TCP included", "",
     "Exact names, unlike NCCL_IB_HCA.", "nccl.hca_list_short", kUcxInfo},
    {"UCX_IB_TRAFFIC_CLASS", "traffic class of RDMA packets: the whole TOS byte, not the DSCP",
     "0 to 255 or auto", "auto", "", "As NCCL_IB_TC.", "dscp.tos_confusion, dscp.unmarked",
     kUcxInfo},
    {"UCX_IB_GID_INDEX", "which GID of each NIC is the source address (RoCE)",
     "an index of show_gids, or auto", "auto: RoCE v2 first", "", "As NCCL_IB_GID_INDEX.",
     "gid.not_routable, gid.index_differs", kUcxInfo},
    {"UCX_IB_SL", "service level of the queue pairs", "0 to 15 or auto", "auto", "",
     "As NCCL_IB_SL.", "", kUcxInfo},
    {"UCX_RC_RETRY_COUNT", "how often a queue pair sends again before it fails", "0 to 7", "7", "",
     "As NCCL_IB_RETRY_CNT.", "", kUcxInfo},
    {"NVSHMEM_IB_TRAFFIC_CLASS", "traffic class of RDMA packets: the whole TOS byte, not the DSCP",
     "0 to 255", "0", "", "As NCCL_IB_TC.", "dscp.tos_confusion, dscp.unmarked",
     "NVIDIA NVSHMEM documentation, environment variables"},
    {"GLOO_SOCKET_IFNAME", "interface that PyTorch's Gloo backend uses (TCP)",
     "the name of one interface, exactly", "the one of the host's own name", "",
     "Unlike NCCL_SOCKET_IFNAME it is no prefix and takes no list with ^.", "nccl.socket_loopback",
     "PyTorch documentation, torch.distributed, common environment variables"},
    {"TORCH_DISTRIBUTED_BACKEND", "backend that launch scripts hand to init_process_group()",
     "nccl, gloo, mpi", "the script's own", "",
     "A convention of scripts; PyTorch does not read it.", "job.gloo_backend",
     "launch scripts of public repositories"},
});

std::string row(std::string_view label, std::string_view text) {
  constexpr std::size_t kIndent = 12;
  constexpr std::size_t kColumns = 100;
  if (text.empty()) return "";
  return fmt::format("  {:<10}{}\n", label, hang(text, kColumns - kIndent, kIndent));
}

}  // namespace

std::span<const VariableMeaning> variable_meanings() {
  return kMeanings;
}

const VariableMeaning* find_variable(std::string_view name) {
  const auto* const found =
      std::find_if(kMeanings.begin(), kMeanings.end(),
                   [&](const VariableMeaning& item) { return item.name == name; });
  return found == kMeanings.end() ? nullptr : found;
}

std::string explain(const VariableMeaning& variable) {
  std::string out = fmt::format("{}: {}\n\n", variable.name, variable.what);
  out += row("values", variable.values);
  out += row("default", variable.fallback);
  out += row("since", variable.since);
  out += row("trap", variable.trap);
  out += row("findings", variable.findings);
  out += row("source", variable.source);
  return out;
}

}  // namespace weir::readers
