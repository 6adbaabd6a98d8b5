#include "finding/catalog_parts.h"
#include "finding/catalog_sources.h"

namespace weir::finding {
namespace {

CatalogEntry nccl_socket_fallback() {
  return {
      .id = "nccl.socket_fallback",
      .title = "NCCL fell back to TCP sockets",
      .severity = Severity::kError,
      .rows = {"E2", "I24"},
      .phase = "job",
      .why =
          "When NCCL finds no usable RDMA device it uses sockets and continues: GPU utilisation "
          "falls, CPU load rises, and the job is several times slower. The decisive line of the "
          "log is 'Using network Socket' (or IB); 'NET/IB : Using' alone proves nothing, since "
          "newer versions print it with no device at all. Causes: a device list that matches "
          "nothing, NCCL_IB_DISABLE, no /dev/infiniband in the container, or a port that is down.",
      .fix = {{.platform = "nccl",
               .commands = {"NCCL_DEBUG=INFO <command>", "export NCCL_NET=IB", "weir job <log>"},
               .note = "NCCL_NET=IB makes it fail instead of falling back."},
              {.platform = "host", .commands = {"ls /dev/infiniband", "rdma link"}}},
      .sources = {cite::kNcclIb, cite::kNcclEnv},
  };
}

CatalogEntry nccl_socket_loopback() {
  return {
      .id = "nccl.socket_loopback",
      .title = "NCCL_SOCKET_IFNAME selects loopback",
      .severity = Severity::kError,
      .rows = {"E2"},
      .phase = "job",
      .why =
          "The ranks of a job find each other over TCP on the interface that NCCL_SOCKET_IFNAME "
          "names, before any RDMA. Loopback works on one host and was usually set for a test "
          "there; with two hosts each rank advertises 127.0.0.1, and the job waits for its peers "
          "until it times out. It does not select the RDMA devices: that is NCCL_IB_HCA.",
      .fix = {{.platform = "nccl",
               .commands = {"export NCCL_SOCKET_IFNAME=^docker,lo"},
               .note = "Or the interface of the management network by name: =<interface>."}},
      .sources = {cite::kNcclEnv},
  };
}

CatalogEntry load_no_rdma() {
  return {
      .id = "load.no_rdma",
      .title = "the load did not use RDMA",
      .severity = Severity::kError,
      .rows = {"D5", "D8"},
      .phase = "verify",
      .why =
          "The program says that it moved data, and no RDMA device counted any. It went elsewhere: "
          "over TCP, through shared memory or NVLink within a host, or back inside one NIC because "
          "both ends were the same port. Or the counters are not those of the device: a container "
          "sees a copy of the device without them. Whatever was measured, it was not this fabric.",
      .fix = {{.platform = "host",
               .commands = {"rdma link", "rdma resource show qp", "weir snapshot"},
               .note = "Run it between two hosts, and look from the host, not from a container."},
              {.platform = "nccl",
               .commands = {"NCCL_DEBUG=INFO <command>", "export NCCL_NET=IB"}}},
      .sources = {cite::kIbSysfs},
  };
}

CatalogEntry load_wrong_device() {
  return {
      .id = "load.wrong_device",
      .title = "the load used a different device than intended",
      .severity = Severity::kError,
      .aliases = {"measurement.methods_disagree", "verify.two_methods"},
      .rows = {"D5", "D8"},
      .phase = "verify",
      .why =
          "The counters of the device that the program names, or that the design has, did not "
          "change, and those of another did. The GID index belongs to another interface, the "
          "device has another name than last time, or the job's list of devices names the wrong "
          "one. What was measured is a different path than intended. perftest with -R and without "
          "it sets up connections in different ways: if one is slow, compare GID, traffic class "
          "and device before the fabric is blamed.",
      .fix = {{.platform = "host",
               .commands = {"weir show", "rdma link", "show_gids"},
               .note = "Name device and GID index: ib_write_bw -d <device> -x <index>."},
              {.platform = "nccl", .commands = {"export NCCL_IB_HCA==<device>,<device>"}}},
      .sources = {cite::kIbSysfs},
  };
}

CatalogEntry nccl_ib_disabled() {
  return {
      .id = "nccl.ib_disabled",
      .title = "the job disables RDMA (NCCL_IB_DISABLE)",
      .severity = Severity::kError,
      .aliases = {"lint.job_env", "NCCL_IB_DISABLED"},
      .rows = {"E2"},
      .phase = "job",
      .why =
          "NCCL_IB_DISABLE=1 is copied from guides for clusters without InfiniBand. It turns off "
          "RoCE too: one training step took 5.72 s instead of 2.51 s. Nothing warns about it, "
          "because it is a valid setting.",
      .fix = {{.platform = "nccl",
               .commands = {"unset NCCL_IB_DISABLE"},
               .note = "In the script, in the image, and in /etc/nccl.conf."}},
      .sources =
          {"scottclowe/pytorch-experiment-template issue 11: 5.72 s instead of 2.51 s per step",
           cite::kNcclEnv},
  };
}

CatalogEntry job_env_typo() {
  return {
      .id = "job.env_typo",
      .title = "unknown environment variable",
      .severity = Severity::kWarning,
      .aliases = {"ENV_TYPO"},
      .rows = {"E2"},
      .phase = "job",
      .why =
          "Libraries ignore variables they do not know, so a misspelt one changes nothing and no "
          "message says so: the job runs with the default that the line was meant to replace. "
          "Compare with the names the library really reads.",
      .fix = {{.platform = "nccl",
               .commands = {"weir job <script>", "NCCL_DEBUG=INFO <command>"},
               .note = "NCCL prints 'set by environment' for each variable that it took."}},
      .sources = {"NERSC/podman-hpc issue 136: a misspelt variable", cite::kNcclEnv},
  };
}

CatalogEntry nccl_stale_conf() {
  return {
      .id = "nccl.stale_conf",
      .title = "nccl.conf contradicts the design",
      .severity = Severity::kWarning,
      .aliases = {"env.nccl_conf_scan", "STALE_NCCL_CONF"},
      .rows = {"E2"},
      .phase = "job",
      .why =
          "NCCL reads /etc/nccl.conf and ~/.nccl.conf, on the host and inside the image. A file "
          "left from another cluster sets devices, traffic class or GID index for every variable "
          "the job does not set itself, and no job script shows it.",
      .fix = {{.platform = "nccl",
               .commands = {"cat /etc/nccl.conf ~/.nccl.conf", "weir job /etc/nccl.conf",
                            "weir render --to nccl"},
               .note = "Replace it with the rendered one, on hosts and in images alike."}},
      .sources = {cite::kNcclEnv},
  };
}

CatalogEntry nccl_hca_unknown() {
  return {
      .id = "nccl.hca_unknown",
      .title = "NCCL_IB_HCA names devices that do not exist",
      .severity = Severity::kError,
      .rows = {"E2"},
      .phase = "job",
      .why =
          "NCCL_IB_HCA takes RDMA device names and matches prefixes. A network interface's name "
          "(ib0, eth2) matches nothing, and the job falls back to sockets; mlx5_1 also takes "
          "mlx5_10 to mlx5_19. An equals sign in front asks for exact names.",
      .fix = {{.platform = "nccl",
               .commands = {"export NCCL_IB_HCA==<device>,<device>"},
               .note = "weir show prints the device of each rail; rdma link does too."},
              {.platform = "host", .commands = {"rdma link"}}},
      .sources = {cite::kNcclEnv, cite::kNcclIb},
  };
}

CatalogEntry nccl_hca_list_short() {
  return {
      .id = "nccl.hca_list_short",
      .title = "NCCL_IB_HCA lists fewer NICs than the host has rails",
      .severity = Severity::kWarning,
      .rows = {"E2"},
      .phase = "job",
      .why =
          "Rails that are not in NCCL_IB_HCA carry nothing: eight GPUs share the NICs that are, "
          "and those links congest at a fraction of the host's bandwidth. The list must name every "
          "rail of the design, the same on every host.",
      .fix = {{.platform = "nccl",
               .commands = {"export NCCL_IB_HCA==<device>,<device>", "weir render --to nccl"},
               .note = "One device per rail of the design."}},
      .sources = {cite::kNcclEnv, "deepseek-ai/DeepEP issue 336: one NIC of four in use"},
  };
}

CatalogEntry app_receives_too_few() {
  return {
      .id = "app.receives_too_few",
      .title = "application posts too few receives (RNR)",
      .severity = Severity::kWarning,
      .aliases = {"diagnose.rnr", "RNR_APP"},
      .rows = {"I19"},
      .phase = "diagnose",
      .why =
          "out_of_buffer on one host equals rnr_nak_retry_err on its peer: messages arrive and no "
          "receive is posted for them. The NIC asks the sender to wait, and after enough retries "
          "the connection fails with status 13. The network delivered every packet; the receiving "
          "application is too slow or posts too little.",
      .fix = {{.platform = "nccl",
               .commands =
                   {"cat /sys/class/infiniband/<device>/ports/1/hw_counters/out_of_buffer",
                    "cat /sys/class/infiniband/<device>/ports/1/hw_counters/rnr_nak_retry_err"},
               .note = "Deeper receive queues, a shared receive queue with a higher limit, or an "
                       "RNR retry count of 7 (for ever) in the application."}},
      .sources =
          {cite::kIbTransport, cite::kMlx5Counters,
           "unionxic/rdma-fault-characterization: counters of a receiver that posts nothing"},
  };
}

CatalogEntry app_protocol_error() {
  return {
      .id = "app.protocol_error",
      .title = "application error reported by RDMA",
      .severity = Severity::kInfo,
      .aliases = {"diagnose.app_error", "APP_PROTOCOL"},
      .rows = {"D8"},
      .phase = "diagnose",
      .why =
          "A wrong rkey, an address out of range or a length error breaks the connection at once: "
          "req_remote_access_errors, req_remote_invalid_request or resp_local_length_error move by "
          "one, and loss counters do not move at all. It is a bug between the two ends of the "
          "application; the fabric is not involved.",
      .fix = {{.platform = "any",
               .commands = {"weir diagnose <bundles>"},
               .note = "Hand the status and the work request to the application's developers. "
                       "Flush errors at the end of a connection are normal."}},
      .sources = {cite::kIbTransport, cite::kMlx5Counters,
                  "unionxic/rdma-fault-characterization: counters of an invalid rkey"},
  };
}

CatalogEntry app_not_fabric() {
  return {
      .id = "app.not_fabric",
      .title = "not the network",
      .severity = Severity::kInfo,
      .aliases = {"diagnose.exonerate", "NOT_FABRIC", "tool.about_a_tool", "TOOL_BUG",
                  "FEATURE_REQUEST", "SIM_CRASH", "SIM_FIDELITY", "SIM_SPEED"},
      .rows = {"D8", "I10"},
      .phase = "diagnose",
      .why =
          "perftest with the job's message size and number of connections reaches line rate on the "
          "same rail, and the counters stay clean: no loss, no pauses, traffic in the right class. "
          "The cause is above the network, such as per-step overhead in the library; one case ran "
          "at 13 GB/s where perftest made 392 Gb/s. A tool that crashes or lacks a function says "
          "nothing about the fabric either.",
      .fix = {{.platform = "nccl",
               .commands = {"ib_write_bw -d <device> -x <gid index> -q <connections> -s <size> "
                            "--tclass=106 --report_gbits <peer>",
                            "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,TUNING <command>"},
               .note = "Same device, same size, same number of connections as the job."}},
      .sources = {"NVIDIA/nccl issue 2409: 13 GB/s per connection, 392 Gb/s by perftest",
                  cite::kPerftest},
  };
}

CatalogEntry peer_dead() {
  return {
      .id = "peer.dead",
      .title = "peer process or host died",
      .severity = Severity::kInfo,
      .aliases = {"diagnose.retry_exhaustion", "PEER_DEAD"},
      .rows = {"I9"},
      .phase = "diagnose",
      .why =
          "Retries exceeded (status 12) is also what a crashed process looks like from its peer: "
          "nobody acknowledges any more. Where out_of_sequence and packet_seq_err stay at zero and "
          "the TCP side channel was reset, no packet was lost. The host that stopped answering is "
          "the cause: read its own log first.",
      .fix = {{.platform = "any",
               .commands = {"weir diagnose <logs of all ranks>"},
               .note = "The first rank that reports another error than status 12 is where it "
                       "began; out-of-memory kills and GPU errors are in that host's kernel log."}},
      .sources = {cite::kIbTransport, cite::kMlx5Counters},
  };
}

CatalogEntry nccl_hca_prefix() {
  return {
      .id = "nccl.hca_prefix",
      .title = "NCCL_IB_HCA matches more devices than intended",
      .severity = Severity::kWarning,
      .rows = {"E2"},
      .phase = "job",
      .why =
          "NCCL compares the beginning of the name: mlx5_1 also takes mlx5_10 to mlx5_19, among "
          "them perhaps the storage or management NIC. The job then spreads its traffic over ports "
          "that are not in the lossless fabric. An equals sign in front of the list asks for exact "
          "names.",
      .fix = {{.platform = "nccl",
               .commands = {"export NCCL_IB_HCA==<device>,<device>"},
               .note = "The second equals sign belongs to the value."}},
      .sources = {cite::kNcclEnv, cite::kNcclIb},
  };
}

CatalogEntry nccl_intra_node_network() {
  return {
      .id = "nccl.intra_node_network",
      .title = "GPUs of one host talk over the network",
      .severity = Severity::kWarning,
      .rows = {"E2"},
      .phase = "job",
      .why =
          "Ranks on one machine should reach each other over NVLink, PCIe or shared memory. Over "
          "the network they take a NIC's bandwidth twice and are many times slower. Causes: "
          "NCCL_P2P_DISABLE and NCCL_SHM_DISABLE left from debugging, containers that do not share "
          "/dev/shm or the process namespace, or ranks that believe they are on different hosts.",
      .fix = {{.platform = "nccl",
               .commands = {"unset NCCL_P2P_DISABLE NCCL_SHM_DISABLE"},
               .note = "In containers also: --ipc=host or a larger /dev/shm."}},
      .sources = {cite::kNcclEnv},
  };
}

CatalogEntry job_gloo_backend() {
  return {
      .id = "job.gloo_backend",
      .title = "Gloo backend used instead of NCCL",
      .severity = Severity::kWarning,
      .rows = {"E2", "I24"},
      .phase = "job",
      .why =
          "PyTorch's Gloo backend copies GPU tensors to host memory and sends them over TCP. It is "
          "right for the CPU side channel of a job and wrong for its gradients: the RDMA fabric "
          "stays idle. A script that names gloo alone, for a model on GPUs, was usually written "
          "for a laptop.",
      .fix = {{.platform = "any",
               .commands = {"torch.distributed.init_process_group(\"nccl\")",
                            "torch.distributed.init_process_group(\"cpu:gloo,cuda:nccl\")"},
               .note = "The second form keeps Gloo for tensors in host memory."}},
      .sources = {"PyTorch documentation, torch.distributed, backends"},
  };
}

CatalogEntry job_bad_value() {
  return {
      .id = "job.bad_value",
      .title = "value outside the range the library accepts",
      .severity = Severity::kError,
      .rows = {"E2"},
      .phase = "job",
      .why =
          "A number outside its field is cut off, refused when the queue pair is set up, or "
          "replaced by the default, depending on the version: in no case is it the value that was "
          "set. A timeout has five bits, a retry count three, a service level four, a traffic "
          "class eight.",
      .fix = {{.platform = "nccl",
               .commands = {"weir render --to nccl"},
               .note = "Prints every value with its reason, for a design."}},
      .sources = {cite::kNcclEnv, cite::kIbTransport},
  };
}

CatalogEntry job_rank_differs() {
  return {
      .id = "job.rank_differs",
      .title = "one rank runs with different settings",
      .severity = Severity::kError,
      .rows = {"E2", "C2"},
      .phase = "job",
      .why =
          "Collectives run at the speed of the slowest rank. A rank with another traffic class, "
          "another device list, another version of NCCL, or on sockets, slows or hangs all of "
          "them, and only its own log shows it. Usually an environment that the launcher did not "
          "pass on, or an image that differs on one host.",
      .fix = {{.platform = "nccl",
               .commands = {"weir job <logs of all ranks>",
                            "mpirun -x NCCL_IB_TC -x NCCL_IB_HCA <command>"},
               .note = "Pass every variable on explicitly, or keep them in /etc/nccl.conf."}},
      .sources = {cite::kNcclEnv},
  };
}

CatalogEntry transport_retries_exhausted() {
  return {
      .id = "transport.retries_exhausted",
      .title = "retries exhausted: the peer never answered",
      .severity = Severity::kError,
      .rows = {"E2", "I9"},
      .phase = "diagnose",
      .why =
          "Status 12 (vendor error 129 on ConnectX) says that a request was sent eight times and "
          "never acknowledged. From one end alone the cause is open: the peer's process died, the "
          "GID is not routable, the MTU of a hop is too small for full packets, the link went down "
          "for longer than the retries last, or packets are dropped. At the first transfer of a "
          "job it is the address; in the middle of one it is the peer or the path.",
      .fix = {{.platform = "any",
               .commands = {"weir job <logs of all ranks>", "weir probe mtu <peer>",
                            "weir verify --pair <peer>"},
               .note = "The first rank that reports another error is where it began."}},
      .sources = {cite::kIbTransport, "NVIDIA/nccl issue 426: error 12, vendor error 129"},
  };
}

}  // namespace

std::vector<CatalogEntry> job_entries() {
  return {nccl_socket_fallback(),
          nccl_socket_loopback(),
          load_no_rdma(),
          load_wrong_device(),
          nccl_ib_disabled(),
          job_env_typo(),
          nccl_stale_conf(),
          nccl_hca_unknown(),
          nccl_hca_list_short(),
          app_receives_too_few(),
          app_protocol_error(),
          app_not_fabric(),
          peer_dead(),
          nccl_hca_prefix(),
          nccl_intra_node_network(),
          job_gloo_backend(),
          job_bad_value(),
          job_rank_differs(),
          transport_retries_exhausted()};
}

}  // namespace weir::finding
