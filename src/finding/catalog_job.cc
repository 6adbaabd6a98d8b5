#include "finding/catalog_parts.h"
#include "finding/catalog_sources.h"

namespace weir::finding {
namespace {

CatalogEntry nccl_socket_fallback() {
  return {
      .id = "nccl.socket_fallback",
      .title = "the job runs over TCP without saying so",
      .severity = Severity::kError,
      .rows = {"E2", "I24"},
      .phase = "job",
      .why =
          "When NCCL finds no usable RDMA device it takes sockets and carries on: GPU utilisation "
          "falls, the CPU gets busy, and the job is several times slower. The decisive line of the "
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

CatalogEntry nccl_ib_disabled() {
  return {
      .id = "nccl.ib_disabled",
      .title = "the job turns RDMA off itself",
      .severity = Severity::kError,
      .aliases = {"lint.job_env", "NCCL_IB_DISABLED"},
      .rows = {"E2"},
      .phase = "job",
      .why =
          "NCCL_IB_DISABLE=1 is copied from guides for clusters without InfiniBand. It turns off "
          "RoCE too: one training step took 5.72 s instead of 2.51 s. Nothing warns, because it is "
          "what was asked for.",
      .fix = {{.platform = "nccl",
               .commands = {"unset NCCL_IB_DISABLE"},
               .note = "In the script, in the image, and in /etc/nccl.conf."}},
      .sources =
          {"scottclowe/pytorch-experiment-template issue 11: 5.72 s instead of 2.51 s a step",
           cite::kNcclEnv},
  };
}

CatalogEntry job_env_typo() {
  return {
      .id = "job.env_typo",
      .title = "an environment variable that nobody reads",
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
      .title = "an nccl.conf that contradicts the design",
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
               .note = "Replace it by the rendered one, on hosts and in images alike."}},
      .sources = {cite::kNcclEnv},
  };
}

CatalogEntry nccl_hca_unknown() {
  return {
      .id = "nccl.hca_unknown",
      .title = "NCCL_IB_HCA names devices that do not exist here",
      .severity = Severity::kError,
      .rows = {"E2"},
      .phase = "job",
      .why =
          "NCCL_IB_HCA takes RDMA device names and matches prefixes. A network interface's name "
          "(ib0, eth2) matches nothing, and the job falls back to sockets; mlx5_1 also takes "
          "mlx5_10 to mlx5_19. An equals sign in front asks for exact names.",
      .fix = {{.platform = "nccl",
               .commands = {"export NCCL_IB_HCA==mlx5_0,mlx5_1,mlx5_2,mlx5_3"},
               .note = "weir show prints the device of each rail; rdma link does too."},
              {.platform = "host", .commands = {"rdma link"}}},
      .sources = {cite::kNcclEnv, cite::kNcclIb},
  };
}

CatalogEntry nccl_hca_list_short() {
  return {
      .id = "nccl.hca_list_short",
      .title = "the job uses fewer NICs than the host has rails",
      .severity = Severity::kWarning,
      .rows = {"E2"},
      .phase = "job",
      .why =
          "Rails that are not in NCCL_IB_HCA carry nothing: eight GPUs share the NICs that are, "
          "and those links congest at a fraction of the host's bandwidth. The list must name every "
          "rail of the design, the same on every host.",
      .fix = {{.platform = "nccl",
               .commands = {"export "
                            "NCCL_IB_HCA==mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7",
                            "weir render --to nccl"}}},
      .sources = {cite::kNcclEnv, "deepseek-ai/DeepEP issue 336: one NIC of four in use"},
  };
}

CatalogEntry app_receives_too_few() {
  return {
      .id = "app.receives_too_few",
      .title = "the application posts too few receives",
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
               .commands = {"cat /sys/class/infiniband/<device>/ports/1/hw_counters/out_of_buffer",
                            "cat "
                            "/sys/class/infiniband/<device>/ports/1/hw_counters/rnr_nak_retry_err"},
               .note =
                   "Deeper receive queues, a shared receive queue with a higher limit, or an RNR "
                   "retry count of 7 (for ever) in the application."}},
      .sources =
          {cite::kIbTransport, cite::kMlx5Counters,
           "unionxic/rdma-fault-characterization: counters of a receiver that posts nothing"},
  };
}

CatalogEntry app_protocol_error() {
  return {
      .id = "app.protocol_error",
      .title = "an application error that RDMA reports",
      .severity = Severity::kInfo,
      .aliases = {"diagnose.app_error", "APP_PROTOCOL"},
      .rows = {"D8"},
      .phase = "diagnose",
      .why =
          "A wrong rkey, an address out of range or a length error breaks the connection at once: "
          "req_remote_access_errors, req_remote_invalid_request or resp_local_length_error move by "
          "one, and loss counters do not move at all. It is a bug between the two ends of the "
          "application; the fabric carried it faithfully.",
      .fix = {{.platform = "any",
               .commands = {"weir diagnose <bundles>"},
               .note =
                   "Hand the status and the work request to the application's developers. Flush "
                   "errors at the end of a connection are normal."}},
      .sources = {cite::kIbTransport, cite::kMlx5Counters,
                  "unionxic/rdma-fault-characterization: counters of an invalid rkey"},
  };
}

CatalogEntry app_not_fabric() {
  return {
      .id = "app.not_fabric",
      .title = "the network is innocent",
      .severity = Severity::kInfo,
      .aliases = {"diagnose.exonerate", "NOT_FABRIC"},
      .rows = {"D8", "I10"},
      .phase = "diagnose",
      .why =
          "perftest with the job's message size and number of connections reaches line rate on the "
          "same rail, and the counters stay clean: no loss, no pauses, traffic in the right class. "
          "What is slow lies above the network, such as per-step overhead in the library; one case "
          "ran at 13 GB/s where perftest made 392 Gb/s.",
      .fix = {{.platform = "nccl",
               .commands = {"ib_write_bw -d <device> -x <gid index> -q <connections> -s <size> "
                            "--tclass=106 --report_gbits <peer>",
                            "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,TUNING <command>"},
               .note = "Same device, same size, same number of connections as the job."}},
      .sources = {"NVIDIA/nccl issue 2409: 13 GB/s a connection, 392 Gb/s by perftest",
                  cite::kPerftest},
  };
}

CatalogEntry peer_dead() {
  return {
      .id = "peer.dead",
      .title = "the other end died",
      .severity = Severity::kInfo,
      .aliases = {"diagnose.retry_exhaustion", "PEER_DEAD"},
      .rows = {"I9"},
      .phase = "diagnose",
      .why =
          "Retries exceeded (status 12) is also what a crashed process looks like from its peer: "
          "nobody acknowledges any more. Where out_of_sequence and packet_seq_err stay at zero and "
          "the TCP side channel was reset, no packet was lost. Blame the host that stopped "
          "answering, and look at its own log first.",
      .fix = {{.platform = "any",
               .commands = {"weir diagnose <logs of all ranks>"},
               .note =
                   "The first rank that reports another error than status 12 is where it began; "
                   "out-of-memory kills and GPU errors are in that host's kernel log."}},
      .sources = {cite::kIbTransport, cite::kMlx5Counters},
  };
}

}  // namespace

std::vector<CatalogEntry> job_entries() {
  return {nccl_socket_fallback(), nccl_ib_disabled(),
          job_env_typo(),         nccl_stale_conf(),
          nccl_hca_unknown(),     nccl_hca_list_short(),
          app_receives_too_few(), app_protocol_error(),
          app_not_fabric(),       peer_dead()};
}

}  // namespace weir::finding
