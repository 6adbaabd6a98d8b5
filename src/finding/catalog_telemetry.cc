#include "finding/catalog_parts.h"
#include "finding/catalog_sources.h"

namespace weir::finding {
namespace {

CatalogEntry telemetry_counter_absent() {
  return {
      .id = "telemetry.counter_absent",
      .title = "counter missing on this driver, or named differently",
      .severity = Severity::kInfo,
      .aliases = {"monitor.vendor_map", "COUNTER_ABSENT", "COUNTER_NAME_VENDOR",
                  "telemetry.not_comparable", "telemetry.semantics", "COUNTER_SEMANTICS"},
      .rows = {"D1", "K1"},
      .phase = "monitor",
      .why =
          "Drivers differ: bnxt_re has no counters directory on older kernels, irdma's file names "
          "hold blanks, per-priority pause is rx_prio3_pause on mlx5 and rx_pfc_ena_frames_pri3 on "
          "bnxt. A dashboard built for one vendor shows nothing, or -1, on another, which looks "
          "like no problem. Absent is not zero. Equal names may mean different things: "
          "ecn-marked-pkts counts packets marked here on one system and packets that arrived "
          "marked on another. Compare a counter with its own past, never across vendors.",
      .fix = {{.platform = "any",
               .commands = {"weir snapshot", "weir explain <counter>"},
               .note = "The catalogue knows each meaning under each driver's name, and says where "
                       "there is none."}},
      .sources = {"prometheus/procfs pull request 687: no counters directory on bnxt_re",
                  "ROCm/rocm-systems pull request 11027: wrong names on Thor 2",
                  "openconfig/public issue 1298: ecn-marked-pkts differs by vendor", cite::kBnxt},
  };
}

CatalogEntry telemetry_collector_blind() {
  return {
      .id = "telemetry.collector_blind",
      .title = "collector fails, or writes 0, where it cannot read",
      .severity = Severity::kWarning,
      .aliases = {"monitor.parse_na", "COUNTER_NA", "EXPORTER_FALSE_ZERO", "monitor.isolate_device",
                  "COLLECTOR_ABORT"},
      .rows = {"K1"},
      .phase = "monitor",
      .why =
          "A counter file may hold 'N/A (no PMA)' or return EINVAL. Collectors that stop at it "
          "lose every device because of one; those that write 0 instead report health without "
          "having read anything. An unreadable counter must be missing, the others must still "
          "come, and a metric must say which scrape failed.",
      .fix = {{.platform = "any",
               .commands = {"weir snapshot"},
               .note = "Shows absent, unsupported, not permitted and zero apart. Alert on the "
                       "exporter's own success metric as well."}},
      .sources = {"prometheus/node_exporter issue 966: a counter that is not a number",
                  "oracle-quickstart/oci-hpc, rdma_counters_exporter.py: unreadable becomes 0"},
  };
}

CatalogEntry telemetry_sources_disagree() {
  return {
      .id = "telemetry.sources_disagree",
      .title = "two sources disagree about one port",
      .severity = Severity::kWarning,
      .aliases = {"monitor.two_source", "SOURCE_DISAGREE"},
      .rows = {"K1"},
      .phase = "monitor",
      .why =
          "The fabric manager says down and the host says up, or the switch counts pauses that the "
          "NIC does not. That is a state of its own, not an outage: one of the two is stale, looks "
          "at another port, or counts something else. Acting on either alone drains healthy hosts.",
      .fix = {{.platform = "any",
               .commands = {"weir diff <source a> <source b>"},
               .note = "Compare times first, then port names, then meanings; do not page anyone "
                       "until they agree."}},
      .sources = {"one fact from two sources: disagreement is reported as such, never resolved by "
                  "guessing"},
  };
}

CatalogEntry failover_window_too_short() {
  return {
      .id = "failover.window_too_short",
      .title = "job gives up before a failed link returns",
      .severity = Severity::kWarning,
      .aliases = {"failover.time_budget", "RECOVERY_WINDOW"},
      .rows = {"D7"},
      .phase = "verify",
      .why =
          "A NIC that comes back after the recovery window stays unused for the rest of the job: "
          "bandwidth never recovers although the link is healthy. Measure how long a link needs to "
          "return, training of the optics and routing included, and let the window be longer.",
      .fix = {{.platform = "nccl",
               .commands = {"export NCCL_IB_RESILIENCY_PORT_RECOVERY=1",
                            "export NCCL_IB_TIMEOUT=22", "export NCCL_IB_RETRY_CNT=7"},
               .note = "Port recovery is off by default and new in NCCL 2.30. The timeout is 4.096 "
                       "us x 2^n for each of the retries."},
              {.platform = "any",
               .commands = {"weir verify --under-failure -- <command>"},
               .note = "Measures how long recovery takes here."}},
      .sources = {"NVIDIA/nccl issue 2157: bandwidth does not recover", cite::kNcclEnv,
                  cite::kIbTransport},
  };
}

CatalogEntry failover_not_injected() {
  return {
      .id = "failover.not_injected",
      .title = "failure drill did not stop any traffic",
      .severity = Severity::kWarning,
      .aliases = {"failover.fault_injection", "OBSERVABILITY_GAP"},
      .rows = {"D7"},
      .phase = "verify",
      .why =
          "'ip link set down' takes the network interface down, not the RDMA port: in three of "
          "three trials RoCE traffic went on, so the drill passed without a failure. Take the port "
          "down at the switch, or the RDMA device itself. ethtool's error counters are blind to "
          "RDMA errors, so watch hw_counters.",
      .fix = {{.platform = "cumulus",
               .commands = {"nv set interface <port> link state down", "nv config apply"}},
              {.platform = "sonic", .commands = {"config interface shutdown <port>"}},
              {.platform = "eos", .commands = {"interface <port>", "   shutdown"}},
              {.platform = "nxos", .commands = {"interface <port>", "  shutdown"}},
              {.platform = "junos", .commands = {"set interfaces <port> disable"}}},
      .sources = {"unionxic/rdma-fault-characterization: ip link down does not gate RoCE"},
  };
}

}  // namespace

std::vector<CatalogEntry> telemetry_entries() {
  return {telemetry_counter_absent(), telemetry_collector_blind(), telemetry_sources_disagree(),
          failover_window_too_short(), failover_not_injected()};
}

}  // namespace weir::finding
