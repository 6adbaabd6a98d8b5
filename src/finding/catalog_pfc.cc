#include "finding/catalog_fixes.h"
#include "finding/catalog_parts.h"
#include "finding/catalog_sources.h"

namespace weir::finding {
namespace {

CatalogEntry pfc_multiple_priorities() {
  return {
      .id = "pfc.multiple_priorities",
      .title = "PFC enabled on more than the RDMA priority",
      .severity = Severity::kWarning,
      .rows = {"A2", "C1", "I25"},
      .phase = "lint",
      .why =
          "Every priority with PFC is one more that a single slow receiver can stop, and one more "
          "in which pauses can form a cycle. It also costs buffer: headroom is set aside per port "
          "and lossless priority, 39.4 MB of 173 MB for one priority on a 128 x 400G Tomahawk 5. "
          "TCP and management gain nothing from it; they stall together with RDMA. SONiC's stock "
          "configuration has PFC on 3 and 4, so this often comes from the factory.",
      .fix = together(
          {{{.platform = "design",
             .commands = {"pfc: { priorities: 3 }"},
             .note = "Keep the lossless class alone. Two lossless classes can be a deliberate "
                     "choice: then both need headroom everywhere."}},
           pfc_on_nics(),
           {{.platform = "eos",
             .commands = {"qos profile <profile>", "   priority-flow-control priority 4 drop"}},
            {.platform = "sonic", .commands = {"config interface pfc priority <port> 4 off"}}}}),
      .sources = {cite::kAtScale, cite::kSonicQos, cite::kSonicRows},
  };
}

CatalogEntry pfc_off() {
  return {
      .id = "pfc.off",
      .title = "no flow control on the RDMA priority",
      .severity = Severity::kError,
      .aliases = {"verify.incast_lossless", "NO_FLOW_CONTROL"},
      .rows = {"C1", "C7", "D6", "I9"},
      .phase = "validate",
      .why =
          "PFC works link by link: it must be on, for the same priority, at both ends of every "
          "cable on the path. Where one end lacks it, a full queue drops packets instead of "
          "pausing, and go-back-N sends everything after the loss again: 1 in 1000 packets lost at "
          "400G and 10 us round trip leaves 89 % of the bandwidth, 1 in 100 leaves 45 %. An incast "
          "that shows retransmissions but neither pauses nor CNPs is the sign. On mlx5 the "
          "per-priority pause counters exist only while PFC is on, so their absence says the same.",
      .fix = together({pfc_on_nics(), pfc_on_switches()}),
      .sources = {cite::kPfc, cite::kGoBackN, cite::kMlx5Counters},
  };
}

CatalogEntry pfc_wrong_priority() {
  return {
      .id = "pfc.wrong_priority",
      .title = "PFC enabled on a different priority than RDMA uses",
      .severity = Severity::kError,
      .aliases = {"xdomain.drop_class", "DROPS_DESPITE_PFC"},
      .rows = {"C1", "C7", "I9", "I15"},
      .phase = "validate",
      .why =
          "Pause frames climb, so flow control looks alive, yet RDMA packets are still dropped: "
          "they are in a queue that is never paused. Either the DSCP map puts RDMA elsewhere than "
          "the PFC priority, or PFC was enabled for the wrong one. Look where the drops are: on "
          "the RDMA priority with pauses above zero it is headroom instead, on priority 0 it is "
          "classification.",
      .fix = together({{{.platform = "any",
                         .commands = {"weir prove", "weir validate"},
                         .note = "prove follows the RDMA class through every map on every hop and "
                                 "names the first that leaves the PFC priority."}},
                       pfc_on_nics(),
                       dscp_map_on_switches()}),
      .sources = {cite::kPfc, "linux-rdma/perftest issue 284: drops despite PFC frames"},
  };
}

CatalogEntry pfc_storm() {
  return {
      .id = "pfc.storm",
      .title = "PFC storm: pauses spread from one port",
      .severity = Severity::kError,
      .aliases = {"switch.pause_propagation", "PFC_PROPAGATION"},
      .rows = {"I1"},
      .phase = "verify",
      .why =
          "A port that is paused fills its queue, the switch pauses whoever feeds that queue, and "
          "so on back to senders that have nothing to do with it. One stuck NIC stopped whole "
          "clusters this way in production; training steps go from 200 ms to seconds. Follow the "
          "pauses downstream: the origin is the last port that receives them from a neighbour "
          "which itself receives none. A watchdog bounds the damage; it does not remove the cause.",
      .fix = together({{{.platform = "any",
                         .commands = {"weir diagnose <bundles>", "weir explain receiver.slow"},
                         .note = "Find the first port of the chain, then look at the host behind "
                                 "it: drain it, and look at its PCIe path and its application."}},
                       watchdog_on_switches()}),
      .sources = {cite::kAtScale, cite::kMeta,
                  "sonic-buildimage issues 9430 and 23444: pause leaving ports under a watchdog"},
  };
}

CatalogEntry pfc_deadlock() {
  return {
      .id = "pfc.deadlock",
      .title = "PFC deadlock: switches pause each other in a cycle",
      .severity = Severity::kError,
      .rows = {"I5"},
      .phase = "diagnose",
      .why =
          "Each switch of the cycle waits for buffer in the next one, so none ever sends: the job "
          "hangs in mid-step and stays hung after the load is gone. It needs a cycle of buffer "
          "dependencies, which valley-free routing on a Clos cannot have; a detour after link "
          "failures, flooding or a routing loop can. In a loop of n hops a flow of more than n x B "
          "/ TTL is enough: 1.25 Gb/s at 40G, n = 2, TTL 64. Only dropping packets of that "
          "priority breaks it.",
      .fix = together({{{.platform = "any",
                         .commands = {"weir prove --failures 2",
                                      "weir explain routing.cyclic_buffer_dependency"},
                         .note = "Remove the detour that closes the cycle; the watchdog only frees "
                                 "it again and again."}},
                       watchdog_on_switches()}),
      .sources = {cite::kDeadlocks, cite::kTagger, cite::kAtScale},
  };
}

CatalogEntry pfc_sustained() {
  return {
      .id = "pfc.sustained",
      .title = "sustained pauses, not only in bursts",
      .severity = Severity::kWarning,
      .rows = {"D3", "D4", "I7"},
      .phase = "verify",
      .why =
          "PFC is the emergency brake: in steady state DCQCN should hold the queues and pauses "
          "should be rare. Above 1 % of the time paused is a warning, above 5 % an error: that "
          "much bandwidth is gone, and flows that share a port with the paused ones lose it too. "
          "rx pause climbing on a NIC means the switch or something behind it is the bottleneck; "
          "tx pause climbing means this NIC is. Count pause duration, not frames: one frame holds "
          "a 400G port for up to 84 us.",
      .fix = {{.platform = "any",
               .commands = {"weir diagnose <bundles>", "weir explain ecn.thresholds_too_high",
                            "weir explain receiver.slow", "weir explain ecmp.imbalance"},
               .note =
                   "Pauses on one port: a hot spot, or a slow receiver behind it. Pauses "
                   "everywhere: ECN too late, buffers too small, or DCQCN off at the senders."}},
      .sources = {cite::kDcqcn, cite::kPause, cite::kMlx5Counters},
  };
}

CatalogEntry pause_global_on() {
  return {
      .id = "pause.global_on",
      .title = "802.3x link pause enabled instead of PFC",
      .severity = Severity::kError,
      .aliases = {"pause.global_off", "GLOBAL_PAUSE_ON"},
      .rows = {"A2", "C1"},
      .phase = "lint",
      .why =
          "Link pause stops the whole port: management, CNPs and every other class together with "
          "RDMA. It and PFC exclude each other on a port, so with it on the RDMA priority has no "
          "protection of its own. A 400G link ran at 308 Gb/s with every drop counter at zero for "
          "this reason alone. Only the global pause counters show it.",
      .fix =
          {{.platform = "design",
            .commands = {"hosts: { <group>: { global_pause: false } }",
                         "switches: { <group>: { global_pause: false } }"}},
           {.platform = "host",
            .commands = {"ethtool -A <netdev> rx off tx off", "ethtool -a <netdev>"},
            .note = "mlx5 refuses to change autonegotiation: leave it out of the command."},
           {.platform = "ionic",
            .commands =
                {"nicctl update port --all --pause-type pfc --rx-pause enable --tx-pause enable"}}},
      .sources = {"NVIDIA/daqiri issue 250: 308 of 400 Gb/s under global pause", cite::kPause,
                  cite::kMlx5Counters, cite::kNvue},
  };
}

CatalogEntry watchdog_off() {
  return {
      .id = "watchdog.off",
      .title = "no PFC watchdog on a lossless port",
      .severity = Severity::kWarning,
      .rows = {"A2", "C7"},
      .phase = "lint",
      .why =
          "Without a watchdog a NIC that never stops pausing, or a cycle of pauses, blocks the "
          "fabric until someone finds it. The watchdog sees a queue that is paused without "
          "progress, drops its packets for a while and then releases the port. It is off by "
          "default on all five switch systems. Detect well above an honest pause, which is 84 us "
          "per frame at 400G but refreshed: 100 to 200 ms is usual, Meta uses 200 ms.",
      .fix = together(
          {{{.platform = "design",
             .commands =
                 {"watchdog: { enabled: true, detect: 200ms, restore: 400ms, action: drop }"}}},
           watchdog_on_switches()}),
      .sources = {cite::kAtScale, cite::kMeta, cite::kSonicWatchdog, cite::kNvue},
  };
}

CatalogEntry watchdog_slow() {
  return {
      .id = "watchdog.slow",
      .title = "PFC watchdog that acts too late",
      .severity = Severity::kWarning,
      .rows = {"A2", "C7"},
      .phase = "lint",
      .why =
          "Until the watchdog acts, a receiver that never stops pausing holds every sender behind "
          "it, and their neighbours. An honest pause at 400G lasts 84 us per frame; 100 to 400 ms "
          "of it without a packet is a fault. With a detection time of many seconds RDMA "
          "connections give up first (retries exceeded), and the job dies of what the watchdog "
          "was meant to end.",
      .fix = {{.platform = "design", .commands = {"watchdog: { detect: 200ms, restore: 200ms }"}}},
      .sources = {"SONiC: PFC_WD detection_time 200 ms by default",
                  "Meta, RDMA over Ethernet for distributed AI training, SIGCOMM'24"},
  };
}

CatalogEntry watchdog_blind() {
  return {
      .id = "watchdog.blind",
      .title = "intermittent PFC storm that the watchdog misses",
      .severity = Severity::kWarning,
      .aliases = {"monitor.pause_duty", "PFCWD_BLIND"},
      .rows = {"I1", "K1"},
      .phase = "monitor",
      .why =
          "Watchdogs look for a pause without a break: SONiC on NVIDIA hardware wants 99 % of the "
          "polling interval paused, on Broadcom the queue must stay paused throughout. A storm "
          "that lets a few packets through each interval passes every time, and still takes most "
          "of the bandwidth. Watch the duty cycle instead: pause duration divided by time, per "
          "port and priority.",
      .fix = {{.platform = "any",
               .commands = {"weir snapshot > before.json", "weir snapshot > after.json",
                            "weir diff before.json after.json"},
               .note = "Alert on pause duration above 5 % of the interval; then find the origin "
                       "with weir explain pfc.storm."},
              {.platform = "sonic",
               .commands = {"show pfc counters --history", "show pfcwd stats"},
               .note = "The history needs pfc_stat_history enabled in PFC_WD."}},
      .sources = {cite::kSonicWatchdog},
  };
}

CatalogEntry watchdog_stuck() {
  return {
      .id = "watchdog.stuck",
      .title = "PFC watchdog keeps dropping after the storm ended",
      .severity = Severity::kError,
      .aliases = {"switch.pfcwd_state", "PFCWD_STUCK"},
      .rows = {"I9", "K1"},
      .phase = "monitor",
      .why =
          "While the watchdog holds a queue in the stormed state, that hop drops or ignores pause: "
          "the lossless class is lossy there. It should release the queue once no pause frame has "
          "come for the restoration time. A queue that stays stormed while pause duration falls "
          "loses RDMA packets on a healthy link, and looks like a bad cable.",
      .fix = {{.platform = "sonic",
               .commands = {"show pfcwd stats", "pfcwd stop <ports>",
                            "config pfcwd start --action drop <ports> --detection-time 200 "
                            "--restoration-time 200"}},
              {.platform = "cumulus",
               .commands = {"nv show interface <port> qos pfc-watchdog"},
               .note = "Shows OK or DEADLOCK for each traffic class, and how often it fired."},
              {.platform = "nxos",
               .commands = {"show queuing pfc-queue interface <port> detail"},
               .note = "Compare Shutdown with Restored."},
              {.platform = "eos",
               .commands = {"show priority-flow-control counters watchdog"},
               .note = "Compare stuckCount with recoveryCount; a missing key means zero."}},
      .sources = {cite::kSonicWatchdog, cite::kNvue},
  };
}

CatalogEntry dcbx_two_agents() {
  return {
      .id = "dcbx.two_agents",
      .title = "two LLDP agents write the QoS of one port",
      .severity = Severity::kError,
      .aliases = {"dcbx.single_agent", "DUAL_LLDP_AGENT", "DCB_AGENT_CONFLICT"},
      .rows = {"B1", "C1"},
      .phase = "validate",
      .why =
          "When lldpad and the NIC's firmware both speak DCBX, each overwrites the other: PFC "
          "drops off the RDMA priority minutes after it was set, and the link flaps with every "
          "change of the mask. The configuration file stays right all the while. Exactly one agent "
          "may own a port, and the operational state counts, not the configured one.",
      .fix = {{.platform = "host",
               .commands = {"systemctl disable --now lldpad"},
               .note = "Or keep lldpad and turn the firmware's agent off; never both."},
              {.platform = "mlx5-ofed",
               .commands = {"mlnx_qos -i <netdev> -d os",
                            "mlxconfig -y -d <bdf> s LLDP_NB_DCBX_P1=0 DCBX_WILLING_P1=0"},
               .note = "mlxconfig takes effect after mlxfwreset or a power cycle."},
              {.platform = "mlx5-inbox",
               .commands = {"dcb dcbx set dev <netdev> host ieee",
                            "mstconfig -y -d <bdf> s LLDP_NB_DCBX_P1=0 DCBX_WILLING_P1=0"}},
              {.platform = "bnxt",
               .commands = {"dcb dcbx set dev <netdev> host ieee"},
               .note = "Turn the firmware's LLDP agent off first; otherwise every set is EINVAL."},
              {.platform = "ice",
               .commands = {"ethtool --set-priv-flags <netdev> fw-lldp-agent off"}}},
      .sources = {"Azure/AzureLocal-Supportability pull request 297: dual LLDP agents",
                  "intel/openlldp issue 125: interfaces flap under lldpad", cite::kMlx5Dcb,
                  cite::kMlnxQos},
  };
}

CatalogEntry dcbx_willing() {
  return {
      .id = "dcbx.willing",
      .title = "DCBX willing: the neighbour can rewrite this port's QoS",
      .severity = Severity::kWarning,
      .aliases = {"dcbx.willing_false", "DCBX_WILLING"},
      .rows = {"B1", "C1"},
      .phase = "validate",
      .why =
          "A willing port takes PFC, ETS and the application map from the neighbour's LLDP frames. "
          "With a static design that means the switch, or a replaced switch with factory settings, "
          "can undo the host's configuration at any time. Both ends of a statically configured "
          "link must be unwilling.",
      .fix = {{.platform = "mlx5-ofed",
               .commands = {"mlnx_qos -i <netdev> -d os",
                            "mlxconfig -y -d <bdf> s DCBX_WILLING_P1=0"}},
              {.platform = "mlx5-inbox",
               .commands = {"dcb dcbx set dev <netdev> host ieee",
                            "mstconfig -y -d <bdf> s DCBX_WILLING_P1=0"}},
              {.platform = "nxos",
               .commands = {"interface <port>", "  priority-flow-control mode on"},
               .note = "Mode 'on' does not negotiate; 'auto' does."}},
      .sources = {cite::kDcbx, cite::kMlx5Dcb, cite::kNxos},
  };
}

}  // namespace

std::vector<CatalogEntry> pfc_entries() {
  return {pfc_multiple_priorities(),
          pfc_off(),
          pfc_wrong_priority(),
          pfc_storm(),
          pfc_deadlock(),
          pfc_sustained(),
          pause_global_on(),
          watchdog_off(),
          watchdog_slow(),
          watchdog_blind(),
          watchdog_stuck(),
          dcbx_two_agents(),
          dcbx_willing()};
}

}  // namespace weir::finding
