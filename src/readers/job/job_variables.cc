// The environment variables of NCCL and PyTorch, current and removed.
//
// NCCL: the names in the strings of libnccl.so.2 of 2.28.9 (the build that PyTorch 2.11 carries),
// and those that its page of environment variables lists for other versions from 2.8 to 2.30
// (https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html) or its plugins read.
// A name that is missing here causes a needless warning; the warning says so.
#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"
#include "readers/job/job.h"

namespace weir::readers {
namespace {

constexpr auto kNcclNames = std::to_array<std::string_view>({
    "NCCL_ALGO",
    "NCCL_ALLOC_P2P_NET_LL_BUFFERS",
    "NCCL_BUFFSIZE",
    "NCCL_CGA_CLUSTER_SIZE",
    "NCCL_CHECKS_DISABLE",
    "NCCL_CHECK_MODE",
    "NCCL_CHECK_POINTERS",
    "NCCL_COLLNET_ENABLE",
    "NCCL_COLLNET_NODE_THRESHOLD",
    "NCCL_COMM_BLOCKING",
    "NCCL_COMM_ID",
    "NCCL_COMM_SHRINK_SHARE_RESOURCES",
    "NCCL_COMM_SPLIT_SHARE_RESOURCES",
    "NCCL_CONF_FILE",
    "NCCL_CONNECT_ROUND_MAX_PEERS",
    "NCCL_CREATE_THREAD_CONTEXT",
    "NCCL_CROSS_NIC",
    "NCCL_CTA_POLICY",
    "NCCL_CUDA_PATH",
    "NCCL_CUMEM_ENABLE",
    "NCCL_CUMEM_HOST_ENABLE",
    "NCCL_DEBUG",
    "NCCL_DEBUG_FILE",
    "NCCL_DEBUG_SUBSYS",
    "NCCL_DEBUG_TIMESTAMP",
    "NCCL_DEBUG_TIMESTAMP_FORMAT",
    "NCCL_DEBUG_TIMESTAMP_LEVELS",
    "NCCL_DMABUF_ENABLE",
    "NCCL_ENV_PLUGIN",
    "NCCL_FASTRAK_CTRL_DEV",
    "NCCL_FASTRAK_IFNAME",
    "NCCL_GDRCOPY_ENABLE",
    "NCCL_GDRCOPY_FIFO_ENABLE",
    "NCCL_GDRCOPY_FLUSH_ENABLE",
    "NCCL_GDRCOPY_SYNC_ENABLE",
    "NCCL_GDR_FLUSH_DISABLE",
    "NCCL_GIN_COUNTER_POOL_SIZE",
    "NCCL_GIN_ENABLE",
    "NCCL_GIN_ERROR_QUERY_SEC",
    "NCCL_GIN_GDAKI_NIC_HANDLER",
    "NCCL_GIN_GDAKI_QP_DEPTH",
    "NCCL_GIN_NCONTEXTS",
    "NCCL_GIN_PLUGIN",
    "NCCL_GIN_PROXY_QUEUE_SIZE",
    "NCCL_GIN_SIGNAL_POOL_SIZE",
    "NCCL_GIN_TYPE",
    "NCCL_GPUDIRECTTCPX_CTRL_DEV",
    "NCCL_GRAPH_DUMP_FILE",
    "NCCL_GRAPH_DUMP_FILE_RANK",
    "NCCL_GRAPH_FILE",
    "NCCL_GRAPH_HELPER_DISABLE",
    "NCCL_GRAPH_MIXING_SUPPORT",
    "NCCL_GRAPH_REGISTER",
    "NCCL_GRAPH_STREAM_ORDERING",
    "NCCL_GROUP_CUDA_STREAM",
    "NCCL_HOME",
    "NCCL_HOSTID",
    "NCCL_IBEXT_DISABLE",
    "NCCL_IB_ADAPTIVE_ROUTING",
    "NCCL_IB_ADDR_FAMILY",
    "NCCL_IB_ADDR_RANGE",
    "NCCL_IB_AR_THRESHOLD",
    "NCCL_IB_DATA_DIRECT",
    "NCCL_IB_DISABLE",
    "NCCL_IB_ECE_ENABLE",
    "NCCL_IB_FIFO_TC",
    "NCCL_IB_GID_INDEX",
    "NCCL_IB_HCA",
    "NCCL_IB_MERGE_NICS",
    "NCCL_IB_MERGE_VFS",
    "NCCL_IB_MQP_RETRY_ALL",
    "NCCL_IB_MQP_RETRY_CNT",
    "NCCL_IB_MQP_RETRY_SLEEP_MSEC",
    "NCCL_IB_OOO_RQ",
    "NCCL_IB_PCI_RELAXED_ORDERING",
    "NCCL_IB_PKEY",
    "NCCL_IB_PKEY_VALUE",
    "NCCL_IB_PREPOST_RECEIVE_WORK_REQUESTS",
    "NCCL_IB_QPS_PER_CONNECTION",
    "NCCL_IB_RESILIENCY",
    "NCCL_IB_RETRY_CNT",
    "NCCL_IB_RETURN_ASYNC_EVENTS",
    "NCCL_IB_ROCE_VERSION_NUM",
    "NCCL_IB_ROUTABLE_FLID_GID_INDEX",
    "NCCL_IB_SL",
    "NCCL_IB_SPLIT_DATA_ON_QPS",
    "NCCL_IB_SUBNET_AWARE_ROUTING",
    "NCCL_IB_TC",
    "NCCL_IB_TIMEOUT",
    "NCCL_IB_USE_INLINE",
    "NCCL_IB_WARN_RAIL_LOCAL",
    "NCCL_IGNORE_COLLNET_MISMATCH",
    "NCCL_IGNORE_CPU_AFFINITY",
    "NCCL_IGNORE_DISABLED_P2P",
    "NCCL_IGNORE_NET_MISMATCH",
    "NCCL_INCLUDE_DIR",
    "NCCL_IPC_USE_ABSTRACT_SOCKET",
    "NCCL_L1_SHARED_MEMORY_CARVEOUT",
    "NCCL_LAUNCH_MODE",
    "NCCL_LAUNCH_ORDER_IMPLICIT",
    "NCCL_LAUNCH_RACE_FATAL",
    "NCCL_LEGACY_CUDA_REGISTER",
    "NCCL_LIBRARY",
    "NCCL_LIB_DIR",
    "NCCL_LL128_BUFFSIZE",
    "NCCL_LL128_C2C",
    "NCCL_LL128_NTHREADS",
    "NCCL_LL_BUFFSIZE",
    "NCCL_LOCAL_REGISTER",
    "NCCL_MAX_CTAS",
    "NCCL_MAX_NCHANNELS",
    "NCCL_MAX_NRINGS",
    "NCCL_MAX_P2P_NCHANNELS",
    "NCCL_MEM_SYNC_DOMAIN",
    "NCCL_MIN_CTAS",
    "NCCL_MIN_NCHANNELS",
    "NCCL_MIN_NRINGS",
    "NCCL_MIN_P2P_NCHANNELS",
    "NCCL_MNNVL_CLIQUE_ID",
    "NCCL_MNNVL_ENABLE",
    "NCCL_MNNVL_RAIL_PER_HOST",
    "NCCL_MNNVL_SCATTER_NETS_ENABLE",
    "NCCL_MNNVL_UUID",
    "NCCL_MULTI_RANK_GPU_ENABLE",
    "NCCL_NCHANNELS_PER_NET_PEER",
    "NCCL_NET",
    "NCCL_NETDEVS_POLICY",
    "NCCL_NET_DISABLE_INTRA",
    "NCCL_NET_FORCE_FLUSH",
    "NCCL_NET_FORCE_MERGE",
    "NCCL_NET_GDR_C2C",
    "NCCL_NET_GDR_LEVEL",
    "NCCL_NET_GDR_READ",
    "NCCL_NET_MERGE_LEVEL",
    "NCCL_NET_MERGE_POLICY",
    "NCCL_NET_OPTIONAL_RECV_COMPLETION",
    "NCCL_NET_OVERHEAD",
    "NCCL_NET_PLUGIN",
    "NCCL_NET_PLUGIN_REF_COUNT",
    "NCCL_NET_SHARED_BUFFERS",
    "NCCL_NET_SHARED_COMMS",
    "NCCL_NSOCKS_PERTHREAD",
    "NCCL_NTHREADS",
    "NCCL_NVB_DISABLE",
    "NCCL_NVB_PRECONNECT",
    "NCCL_NVLINK_UTIL_CENTRIC_SCHED_ENABLE",
    "NCCL_NVLSTREE_MAX_CHUNKSIZE",
    "NCCL_NVLS_CHUNKSIZE",
    "NCCL_NVLS_ENABLE",
    "NCCL_NVLS_NCHANNELS",
    "NCCL_NVLS_TREE_NCHANNELS",
    "NCCL_NVTX_DISABLE",
    "NCCL_OOB_NET_ENABLE",
    "NCCL_OOB_NET_IFNAME",
    "NCCL_P2P_DIRECT_DISABLE",
    "NCCL_P2P_DISABLE",
    "NCCL_P2P_LEVEL",
    "NCCL_P2P_LL_THRESHOLD",
    "NCCL_P2P_NET_CHUNKSIZE",
    "NCCL_P2P_NVL_CHUNKSIZE",
    "NCCL_P2P_PCI_CHUNKSIZE",
    "NCCL_P2P_PXN_LEVEL",
    "NCCL_P2P_READ_ENABLE",
    "NCCL_P2P_SCHEDULE_GROUP_SIZE",
    "NCCL_P2P_USE_CUDA_MEMCPY",
    "NCCL_PAT_ENABLE",
    "NCCL_PLUGIN_P2P",
    "NCCL_PROFILER_PLUGIN",
    "NCCL_PROGRESS_APPENDOP_FREQ",
    "NCCL_PROTO",
    "NCCL_PROXY_APPEND_BATCH_SIZE",
    "NCCL_PROXY_CPUSET",
    "NCCL_PROXY_DUMP_SIGNAL",
    "NCCL_PXN_C2C",
    "NCCL_PXN_DISABLE",
    "NCCL_RAS_ADDR",
    "NCCL_RAS_ENABLE",
    "NCCL_RAS_TIMEOUT_FACTOR",
    "NCCL_REPORT_CONNECT_PROGRESS",
    "NCCL_RINGS",
    "NCCL_ROOT",
    "NCCL_ROOT_DIR",
    "NCCL_RUNTIME_CONNECT",
    "NCCL_SET_CPU_STACK_SIZE",
    "NCCL_SET_STACK_SIZE",
    "NCCL_SET_THREAD_NAME",
    "NCCL_SHARP_DISABLE",
    "NCCL_SHARP_GROUP_SIZE_THRESH",
    "NCCL_SHARP_MAX_COMMS",
    "NCCL_SHM_DISABLE",
    "NCCL_SHM_LOCALITY",
    "NCCL_SHM_MEMCPY_MODE",
    "NCCL_SHM_USE_CUDA_MEMCPY",
    "NCCL_SINGLE_PROC_MEM_REG_ENABLE",
    "NCCL_SOCKET_FAMILY",
    "NCCL_SOCKET_IFNAME",
    "NCCL_SOCKET_INLINE",
    "NCCL_SOCKET_MAGIC",
    "NCCL_SOCKET_MIN_TASKSIZE",
    "NCCL_SOCKET_NTHREADS",
    "NCCL_SOCKET_POLL_TIMEOUT_MSEC",
    "NCCL_SOCKET_RCVBUF",
    "NCCL_SOCKET_RETRY_CNT",
    "NCCL_SOCKET_RETRY_SLEEP_MSEC",
    "NCCL_SOCKET_SNDBUF",
    "NCCL_SYM_CTAS",
    "NCCL_SYM_GIN_KERNELS_ENABLE",
    "NCCL_SYM_KERNEL",
    "NCCL_TESTS_DEVICE",
    "NCCL_TESTS_SPLIT",
    "NCCL_THREAD_THRESHOLDS",
    "NCCL_TOPO_DUMP_FILE",
    "NCCL_TOPO_DUMP_FILE_RANK",
    "NCCL_TOPO_FILE",
    "NCCL_TUNER_CONFIG_PATH",
    "NCCL_TUNER_PLUGIN",
    "NCCL_UCX_RNDV_SCHEME",
    "NCCL_UCX_RNDV_THRESH",
    "NCCL_UCX_TLS",
    "NCCL_UID_STAGGER_RATE",
    "NCCL_UID_STAGGER_THRESHOLD",
    "NCCL_UNPACK_DOUBLE_NCHANNELS",
    "NCCL_VERSION",
    "NCCL_WARN_ENABLE_DEBUG_INFO",
    "NCCL_WIN_ENABLE",
    "NCCL_WIN_STRIDE",
    "NCCL_WORK_ARGS_BYTES",
    "NCCL_WORK_FIFO_BYTES",
});

constexpr auto kTorchNames = std::to_array<std::string_view>({
    "TORCH_NCCL_ASYNC_ERROR_HANDLING",
    "TORCH_NCCL_BLOCKING_WAIT",
    "TORCH_NCCL_DESYNC_DEBUG",
    "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC",
    "TORCH_NCCL_ENABLE_MONITORING",
    "TORCH_NCCL_TRACE_BUFFER_SIZE",
    "TORCH_NCCL_DUMP_ON_TIMEOUT",
    "TORCH_NCCL_AVOID_RECORD_STREAMS",
    "TORCH_NCCL_USE_COMM_NONBLOCKING",
    "TORCH_NCCL_HIGH_PRIORITY",
    "TORCH_NCCL_ENABLE_TIMING",
    "TORCH_NCCL_COORD_CHECK_MILSEC",
    "TORCH_NCCL_LOG_CPP_STACK_ON_UNCLEAN_SHUTDOWN",
    "TORCH_NCCL_CUDA_EVENT_CACHE",
    "TORCH_NCCL_NAN_CHECK",
    "TORCH_NCCL_RETHROW_CUDA_ERRORS",
    "TORCH_NCCL_DEBUG_INFO_TEMP_FILE",
    "TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC",
    "TORCH_NCCL_RANKS_PER_ROOT",
    "TORCH_NCCL_PROPAGATE_ERROR",
});

/// What the page of NCCL's environment variables calls renamed or removed, and what PyTorch renamed
/// (ProcessGroupNCCL.hpp lists the old name behind the new one: it is read, with a warning).
struct Renamed {
  std::string_view old_name;
  std::string_view new_name;
  std::string_view note;
  bool is_still_read = false;
};
constexpr auto kRenamed = std::to_array<Renamed>({
    {"NCCL_IB_GDR_LEVEL", "NCCL_NET_GDR_LEVEL", "renamed in NCCL 2.4.0"},
    {"NCCL_IB_CUDA_SUPPORT", "NCCL_NET_GDR_LEVEL", "removed in NCCL 2.4.0"},
    {"NCCL_TREE_THRESHOLD", "NCCL_ALGO", "removed in NCCL 2.5"},
    {"NCCL_LL_THRESHOLD", "NCCL_PROTO", "removed in NCCL 2.5"},
    {"NCCL_SINGLE_RING_THRESHOLD", "", "removed in NCCL 2.3"},
    {"NCCL_ASYNC_ERROR_HANDLING", "TORCH_NCCL_ASYNC_ERROR_HANDLING", "renamed in PyTorch 2.2",
     true},
    {"NCCL_BLOCKING_WAIT", "TORCH_NCCL_BLOCKING_WAIT", "renamed in PyTorch 2.2", true},
    {"NCCL_DESYNC_DEBUG", "TORCH_NCCL_DESYNC_DEBUG", "renamed in PyTorch 2.2", true},
    {"NCCL_ENABLE_TIMING", "TORCH_NCCL_ENABLE_TIMING", "renamed in PyTorch 2.2", true},
    {"NCCL_USE_COMM_NONBLOCKING", "TORCH_NCCL_USE_COMM_NONBLOCKING", "renamed in PyTorch 2.2",
     true},
});

bool is_in(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const std::vector<std::string>& all_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all(kNcclNames.begin(), kNcclNames.end());
    all.insert(all.end(), kTorchNames.begin(), kTorchNames.end());
    return all;
  }();
  return names;
}

}  // namespace

VariableKnowledge knowledge_of(std::string_view name, Suggests suggests) {
  VariableKnowledge known;
  for (const Renamed& renamed : kRenamed) {
    if (renamed.old_name != name) continue;
    known.is_known = false;
    known.is_removed = true;
    known.is_still_read = renamed.is_still_read;
    known.renamed_to = renamed.new_name;
    known.note = renamed.note;
    return known;
  }
  if (is_in(kNcclNames, name) || is_in(kTorchNames, name)) return known;
  // Variables of other libraries are not checked. "CCL_NET_GDR_LEVEL" and "NCLL_DEBUG" are NCCL's
  // with one typing error in the prefix. (RCCL and UCCL are libraries of their own.)
  const auto underscore = name.find('_');
  const std::string_view prefix = name.substr(0, underscore);
  const bool is_ours = prefix == "NCCL" || name.starts_with("TORCH_NCCL_");
  if (!is_ours) {
    if (underscore == std::string_view::npos || prefix == "RCCL" || prefix == "UCCL") return known;
    const std::string repaired = "NCCL" + std::string(name.substr(underscore));
    if (edit_distance(prefix, "NCCL") != 1 || !is_in(kNcclNames, repaired)) return known;
    known.is_known = false;
    known.nearest = repaired;
    return known;
  }
  known.is_known = false;
  if (suggests == Suggests::kNothing) return known;
  if (const auto close = nearest(name, all_names())) known.nearest = *close;
  return known;
}

}  // namespace weir::readers
