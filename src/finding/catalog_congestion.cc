#include "finding/catalog_fixes.h"
#include "finding/catalog_parts.h"
#include "finding/catalog_sources.h"

namespace weir::finding {
namespace {

CatalogEntry ecn_above_xoff() {
  return {
      .id = "ecn.above_xoff",
      .title = "PFC can fire before ECN has marked anything",
      .severity = Severity::kError,
      .rows = {"A2"},
      .phase = "lint",
      .why =
          "ECN must lead PFC on every mix of ingress and egress ports: marking is judged on an "
          "egress queue, XOFF on an ingress group, and several queues share what one group may "
          "hold. With dynamic thresholds the rule is min_th < A x B / (n x (1 + A x k)), where A "
          "is alpha, B the shared buffer without headroom, n the ports and k the lossless classes; "
          "with a static XOFF it is min_th < XOFF / n. On the 12 MB, 32-port switch of the DCQCN "
          "paper that is 21.75 KB with eight classes, but 176 KB with one. max_th only has to stay "
          "below the XOFF of one congested queue. Otherwise PFC does the work of DCQCN: storms, "
          "victim flows and unfair shares.",
      .fix =
          together({{{.platform = "design",
                      .commands = {"wred: { min: <size>, max: <size> }", "buffers: { alpha: 1 }"},
                      .note = "Lower wred.min, or raise buffers.alpha; weir calc buffers prints "
                              "XOFF and the largest min_th for each switch."}},
                    wred_on_switches()}),
      .sources = {cite::kDcqcn,
                  "XOFF = alpha x (buffer - headroom - used): Choudhury and Hahne, Dynamic Queue "
                  "Length Thresholds for Shared-Memory Packet Switches, IEEE/ACM ToN 1998"},
  };
}

CatalogEntry ecn_off_on_lossless() {
  return {
      .id = "ecn.off_on_lossless",
      .title = "ECN disabled on a lossless queue",
      .severity = Severity::kError,
      .aliases = {"switch.sonic_wred_enabled", "ECN_PROFILE_INCOMPLETE"},
      .rows = {"A2", "C7"},
      .phase = "lint",
      .why =
          "Without marks no CNP is ever sent, so DCQCN never slows a sender and PFC is the only "
          "thing that does. Every burst then becomes pauses that also stop unrelated flows. On "
          "SONiC a WRED profile is easily half there: it marks only if ecn covers the colour, the "
          "colour's WRED is enabled, and the profile is bound to the queue.",
      .fix = together(
          {{{.platform = "design", .commands = {"wred: { ecn: true }"}}}, wred_on_switches()}),
      .sources = {cite::kDcqcn, cite::kSonicYang,
                  "sonic-net/SONiC issue 788: no WRED profile on lossless queues"},
  };
}

CatalogEntry ecn_on_lossy() {
  return {
      .id = "ecn.on_lossy",
      .title = "ECN enabled on a lossy queue",
      .severity = Severity::kWarning,
      .rows = {"C7"},
      .phase = "validate",
      .why =
          "Marks are for senders that slow down for them. On a queue of best effort they reach "
          "TCP, which cuts its rate to the marks of a threshold that was chosen for DCQCN, and "
          "every packet that cannot be marked may be dropped instead. The RoCE profile of Cumulus "
          "turns ECN on for traffic class 0 as well as 3, from 150 KB on and with probability 100 "
          "%: a configuration that sets only class 3 leaves it on.",
      .fix =
          {{.platform = "cumulus",
            .commands = {"nv set qos congestion-control default-global traffic-class 0 ecn disable",
                         "nv config apply"}},
           {.platform = "eos",
            .commands = {"qos profile <profile>", "   uc-tx-queue <queue>",
                         "      no random-detect ecn"}},
           {.platform = "nxos",
            .commands = {"policy-map type queuing <policy>",
                         "  class type queuing c-out-8q-q-default", "    no random-detect"}}},
      .sources = {cite::kNvue, cite::kDcqcn},
  };
}

CatalogEntry ecn_pmax_too_small() {
  return {
      .id = "ecn.pmax_too_small",
      .title = "DCQCN has no equilibrium at the expected incast",
      .severity = Severity::kWarning,
      .rows = {"A2", "F4"},
      .phase = "lint",
      .why =
          "DCQCN settles where the marking probability p* balances the senders' increase; p* grows "
          "with the number of senders. Where p* exceeds the probability at max_th, the ramp has no "
          "fixed point: the queue sits at max_th, where marking jumps from that probability to 100 "
          "%, and the rates swing. The published 40G values (5 KB, 200 KB, 1 %) hold to 8 senders "
          "and lose it at 16. Packets behave worse than the model by up to 1.45, so leave a factor "
          "of 1.5.",
      .fix = together(
          {{{.platform = "design",
             .commands = {"wred: { probability: <percent> }", "expect: { incast: <senders> }"},
             .note = "Raise the probability, or raise max_th with it to keep the slope, or expect "
                     "fewer senders; weir calc wred prints queue and utilisation for 2 to 64."}},
           wred_on_switches()}),
      .sources = {cite::kEcnOrDelay, cite::kDcqcn},
  };
}

CatalogEntry ecn_thresholds_too_low() {
  return {
      .id = "ecn.thresholds_too_low",
      .title = "ECN thresholds too low: marks before there is congestion",
      .severity = Severity::kWarning,
      .rows = {"I2", "I21"},
      .phase = "verify",
      .why =
          "Marks and CNPs run far above the baseline while no queue is long and nothing is paused: "
          "senders are slowed for bursts that the buffer would have absorbed. A single flow on an "
          "empty fabric must not be marked at all. Published values for min_th at 400G reach from "
          "100 KB to 1.6 MB; one round trip of 10 us is 500 KB. Stricter marking cost Meta about 5 "
          "% of all-reduce at 200G.",
      .fix = together({{{.platform = "any",
                         .commands = {"weir calc wred", "weir sim --workload incast"},
                         .note = "Raise min_th first; if utilisation stays low, raise max_th or "
                                 "lower the probability."}},
                       wred_on_switches()}),
      .sources = {cite::kMeta, cite::kHpcc, cite::kNvue},
  };
}

CatalogEntry ecn_thresholds_too_high() {
  return {
      .id = "ecn.thresholds_too_high",
      .title = "ECN thresholds too high: PFC acts before ECN",
      .severity = Severity::kWarning,
      .rows = {"I6", "I22"},
      .phase = "verify",
      .why =
          "Marks are rare while pauses are constant: by the time the first CNP leaves, the ingress "
          "group has reached XOFF. The all-reduce time then varies from step to step, because "
          "which flows are paused is random. Frequent marks and rare pauses are what a healthy "
          "fabric shows. Relaxing ECN to 5 MB gave Meta 3 % shorter completion and two to three "
          "times the pauses.",
      .fix =
          together({{{.platform = "any",
                      .commands = {"weir calc buffers", "weir lint"},
                      .note = "Lower min_th until pauses leave the steady state; keep max_th below "
                              "XOFF of one congested queue (weir explain ecn.above_xoff)."}},
                    wred_on_switches()}),
      .sources = {cite::kDcqcn, cite::kMeta},
  };
}

CatalogEntry ecn_not_marking() {
  return {
      .id = "ecn.not_marking",
      .title = "congested switch marks no packets",
      .severity = Severity::kError,
      .aliases = {"verify.ecn_marks_under_incast", "ECN_NOT_MARKING"},
      .rows = {"D6", "I8"},
      .phase = "verify",
      .why =
          "Under an incast the receivers must see marked packets. None at all, with pauses or "
          "timeouts instead, means that ECN is not active on the congested egress, whatever the "
          "configuration says: the profile is not bound to this queue, RDMA sits in another queue, "
          "the packets are not ECN-capable, or the platform ignores the command. Ask the switch's "
          "own counter of marked packets for that queue.",
      .fix =
          {{.platform = "cumulus",
            .commands = {"nv show interface <port> qos roce status",
                         "nv show interface <port> qos roce counters"},
            .note = "ecn-marked-packets must grow under load; weir explain ecn.off_on_lossless has "
                    "the settings."},
           {.platform = "eos",
            .commands = {"hardware counter feature ecn out", "show qos interfaces <port> ecn",
                         "show qos interfaces <port> ecn counters queue"},
            .note = "Without the first line some platforms have no counter of marked packets."},
           {.platform = "nxos",
            .commands = {"show queuing tabular"},
            .note = "The column of ECN packets for qos-group 3."},
           {.platform = "junos",
            .commands =
                {"set class-of-service schedulers <scheduler> explicit-congestion-notification"},
            .note = "A drop profile alone drops; the scheduler must say that it marks."},
           {.platform = "sonic",
            .commands = {"show ecn", "show queue wredcounters"},
            .note =
                "QUEUE|<port>|3 must name the profile, and the profile must enable its colour."}},
      .sources = {cite::kEcn,
                  "sonic-buildimage issue 21891: ecnconfig succeeds and nothing is marked"},
  };
}

CatalogEntry ecn_not_ect() {
  return {
      .id = "ecn.not_ect",
      .title = "RDMA packets are not ECN-capable",
      .severity = Severity::kError,
      .aliases = {"verify.ect_on_wire", "NON_ECT_IN_LOSSLESS"},
      .rows = {"E3", "I9"},
      .phase = "verify",
      .why =
          "A switch may mark only packets whose ECN bits say ECT (01 or 10). One that says not-ECT "
          "(00) is dropped in that band instead, unless configured otherwise, so the lossless "
          "queue loses packets without ever being full. ConnectX sets ECT itself, whatever the "
          "traffic class says; other NICs copy the byte, so write 106 and not 104. CNPs and ACKs "
          "of another class are exempt.",
      .fix = together(
          {marking_in_jobs(),
           {{.platform = "any", .commands = {"weir pcap <file>", "weir tos 106"}},
            {.platform = "bnxt",
             .commands = {"mkdir -p /sys/kernel/config/bnxt_re/<device>/ports/1/cc",
                          "echo 1 > /sys/kernel/config/bnxt_re/<device>/ports/1/cc/ecn_enable",
                          "echo 1 > /sys/kernel/config/bnxt_re/<device>/ports/1/cc/ecn_marking",
                          "echo 1 > /sys/kernel/config/bnxt_re/<device>/ports/1/cc/apply"},
             .note = "Broadcom's out-of-tree driver."}}}),
      .sources = {cite::kEcn, "sonic-buildimage issue 27606: non-ECT packets dropped in a VOQ",
                  cite::kBnxt},
  };
}

CatalogEntry np_disabled() {
  return {
      .id = "np.disabled",
      .title = "receiver sends no CNPs (NP disabled)",
      .severity = Severity::kError,
      .rows = {"C1", "I11"},
      .phase = "validate",
      .why =
          "The notification point turns marked packets into CNPs. With it off, "
          "np_ecn_marked_roce_packets climbs and np_cnp_sent stays at zero: the switch marks, no "
          "CNP follows, and every sender to this host keeps its rate until PFC stops it. On "
          "ConnectX the enable is port-wide although it is listed per priority. Marks far above "
          "CNPs are normal, because CNPs are paced per connection; none at all is not.",
      .fix = together({{{.platform = "mlx5-ofed",
                         .commands = {"echo 1 > /sys/class/net/<netdev>/ecn/roce_np/enable/3"},
                         .note = "Only bit 0 counts: a 2 disables. Lost at reboot."}},
                       dcqcn_on_other_nics()}),
      .sources = {cite::kDcqcn, cite::kMlx5Counters,
                  "NVIDIA knowledge base: the notification point is enabled port-wide",
                  cite::kBnxt},
  };
}

CatalogEntry rp_disabled() {
  return {
      .id = "rp.disabled",
      .title = "sender ignores CNPs (RP disabled)",
      .severity = Severity::kError,
      .rows = {"C1", "I8", "I12", "I13"},
      .phase = "validate",
      .why =
          "The reaction point is what slows a sender down. With it off on the RDMA priority, CNPs "
          "arrive, rp_cnp_handled stays at zero and rp_cnp_ignored climbs; the sender keeps its "
          "rate and takes the bandwidth of those that obey. If CNPs are counted as ignored, check "
          "this setting first and the firmware second. Where many senders are affected, PFC "
          "appears everywhere at once.",
      .fix = together({{{.platform = "mlx5-ofed",
                         .commands = {"echo 1 > /sys/class/net/<netdev>/ecn/roce_rp/enable/3"},
                         .note = "Per priority: the one that RDMA is sent on. Lost at reboot."}},
                       dcqcn_on_other_nics()}),
      .sources = {cite::kDcqcn, cite::kMlx5Counters, cite::kBnxt},
  };
}

CatalogEntry cnp_lost() {
  return {
      .id = "cnp.lost",
      .title = "CNPs are lost between receiver and sender",
      .severity = Severity::kError,
      .rows = {"D3", "I12"},
      .phase = "verify",
      .why =
          "The receivers' np_cnp_sent grows, the senders' rp_cnp_handled does not, and "
          "rp_cnp_ignored stays at zero: the CNPs are lost on the way. Usually their DSCP falls "
          "into best effort on some hop and is dropped or queued behind the very congestion it "
          "reports. The defaults disagree: ConnectX sends CNPs with DSCP 48, NVIDIA's operator "
          "preset with 4, NX-OS guides expect queue 7. Firmware has miscounted CNPs before, so the "
          "ratio is evidence, not proof.",
      .fix = together({cnp_class_on_nics(), dscp_map_on_switches()}),
      .sources = {cite::kMlx5Cc, cite::kNvidiaOperator, cite::kNxos, cite::kMeta},
  };
}

CatalogEntry cnp_shares_rdma_priority() {
  return {
      .id = "cnp.shares_rdma_priority",
      .title = "CNPs share the RDMA priority",
      .severity = Severity::kError,
      .rows = {"A2"},
      .phase = "lint",
      .why =
          "A CNP must overtake the congestion that caused it. In the RDMA priority it waits in the "
          "same queues and stops with every pause, so the feedback loop grows by exactly the delay "
          "it should cure; 100G with the published 40G parameters is unstable at 50 us of loop "
          "delay. CNPs are few and small: a strict-priority queue of their own starves nobody.",
      .fix = together({{{.platform = "design",
                         .commands = {"classes: { cnp: { dscp: 48, priority: 6, queue: 6, "
                                      "scheduling: strict, lossless: false } }"}}},
                       cnp_class_on_nics(),
                       dscp_map_on_switches()}),
      .sources = {cite::kDcqcn, cite::kEcnOrDelay, cite::kMlx5Cc},
  };
}

CatalogEntry cnp_lossless() {
  return {
      .id = "cnp.lossless",
      .title = "PFC enabled on the CNP priority",
      .severity = Severity::kWarning,
      .rows = {"A2"},
      .phase = "lint",
      .why =
          "A lost CNP costs little: the next marked packet makes another one within microseconds. "
          "A paused CNP costs much: the sender keeps its rate for as long as the pause lasts. So "
          "the CNP class is strict and lossy, and gets neither PFC nor headroom.",
      .fix = together(
          {{{.platform = "design",
             .commands = {"classes: { cnp: { lossless: false } }", "pfc: { priorities: 3 }"}}},
           pfc_on_nics()}),
      .sources = {cite::kDcqcn, cite::kNvue},
  };
}

CatalogEntry cnp_wrong_class() {
  return {
      .id = "cnp.wrong_class",
      .title = "CNPs carry a different DSCP than designed",
      .severity = Severity::kWarning,
      .rows = {"E3"},
      .phase = "verify",
      .why =
          "A CNP must overtake the congestion it reports. With a code point that the switches do "
          "not know as the CNPs' they queue as best effort and come late or are dropped: senders "
          "keep their rate, and PFC does the work of DCQCN. The receiving NIC marks CNPs, not the "
          "job: ConnectX uses DSCP 48, NVIDIA's operator preset 4, others copy the data's.",
      .fix = together({cnp_class_on_nics(), dscp_map_on_switches()}),
      .sources = {cite::kDcqcn, cite::kMlx5Cc, cite::kNvidiaOperator},
  };
}

CatalogEntry dcqcn_unstable() {
  return {
      .id = "dcqcn.unstable",
      .title = "DCQCN loop delay exceeds its stability margin",
      .severity = Severity::kWarning,
      .rows = {"A2"},
      .phase = "lint",
      .why =
          "Linearised around its fixed point, DCQCN tolerates only so much delay between a mark "
          "and the sender's reaction; beyond that, queue and rates oscillate. With the paper's "
          "parameters the margin is 86 us at 40G and two senders, but 4.9 us at 400G, less than a "
          "round trip over three tiers. The model holds for the paper's parameter family. For "
          "ConnectX parameters it predicts oscillation that packets do not show: use the simulator "
          "there.",
      .fix = {{.platform = "design",
               .commands = {"dcqcn: { variant: connectx }", "dcqcn: { rpg_ai_rate: <rate> }",
                            "wred: { max: <size> }"},
               .note = "A smaller increase or a wider ramp, max_th minus min_th over the "
                       "probability, gains margin."},
              {.platform = "any",
               .commands = {"weir calc wred", "weir sim --workload incast"},
               .note = "weir sim answers for ConnectX."}},
      .sources = {cite::kEcnOrDelay,
                  "delay margins: exact linearisation of the DCQCN fluid model (Mikhailov count)",
                  cite::kNvidiaDcqcn},
  };
}

CatalogEntry dcqcn_too_conservative() {
  return {
      .id = "dcqcn.too_conservative",
      .title = "DCQCN too conservative: senders recover too slowly",
      .severity = Severity::kWarning,
      .rows = {"I2", "I10", "H4"},
      .phase = "verify",
      .why =
          "Utilisation stays under 60 % without errors or pauses: after each cut a sender recovers "
          "more slowly than the next cut arrives. The factory values of ConnectX climb by 5 Mb/s "
          "every 300 us, 16.7 Gb/s per second, which is long at 400G; four flows that join and "
          "leave fell to 198 of 400 Gb/s with them. A shorter alpha period makes cuts smaller "
          "sooner, and a larger increase shortens recovery; both lengthen the queue.",
      .fix = {{.platform = "mlx5-ofed",
               .commands = {"echo 20 > /sys/class/net/<netdev>/ecn/roce_rp/rpg_ai_rate",
                            "echo 100 > /sys/class/net/<netdev>/ecn/roce_rp/rpg_time_reset"},
               .note = "Steps of two, each under all-to-all and incast, and look at pauses as well "
                       "as bandwidth. 8 to 20 Mb/s and 20 to 100 us worked at 400G."},
              {.platform = "mlx5-inbox",
               .commands = {"echo 20 > /sys/kernel/debug/mlx5/<bdf>/cc_params/rp_ai_rate",
                            "echo 100 > /sys/kernel/debug/mlx5/<bdf>/cc_params/rp_time_reset"}},
              {.platform = "any",
               .commands = {"weir sim --workload incast --set dcqcn.rpg_ai_rate=20Mbps"},
               .note = "Try it in the simulator first; rule out marks that come too early (weir "
                       "explain ecn.thresholds_too_low)."}},
      .sources = {cite::kBarre, cite::kNvidiaDcqcn, cite::kMlx5Cc},
  };
}

CatalogEntry dcqcn_too_aggressive() {
  return {
      .id = "dcqcn.too_aggressive",
      .title = "DCQCN too aggressive: senders increase faster than feedback arrives",
      .severity = Severity::kWarning,
      .rows = {"I27", "H4"},
      .phase = "verify",
      .why =
          "Each increase adds to the queue before the first mark has an effect: k steps past "
          "capacity leave N x R_AI x T x k(k+1)/16 bytes. With too large a step or too short a "
          "timer the queue overshoots into PFC or loss, and senders restart at the lowest rate "
          "again and again. On real ConnectX hardware 1200 us / 1 / 10 Mb/s converged in four of "
          "four runs, the default 300 / 5 / 50 in one, and 75 / 50 / 500 in none.",
      .fix = {{.platform = "mlx5-ofed",
               .commands = {"echo 300 > /sys/class/net/<netdev>/ecn/roce_rp/rpg_time_reset",
                            "echo 5 > /sys/class/net/<netdev>/ecn/roce_rp/rpg_ai_rate",
                            "echo 50 > /sys/class/net/<netdev>/ecn/roce_rp/rpg_hai_rate"},
               .note = "The factory values; from there lower the rates or lengthen the timer."},
              {.platform = "mlx5-inbox",
               .commands = {"echo 300 > /sys/kernel/debug/mlx5/<bdf>/cc_params/rp_time_reset",
                            "echo 5 > /sys/kernel/debug/mlx5/<bdf>/cc_params/rp_ai_rate",
                            "echo 50 > /sys/kernel/debug/mlx5/<bdf>/cc_params/rp_hai_rate"}},
              {.platform = "any",
               .commands = {"weir sim --workload incast --seed <n>"},
               .note = "Compare several seeds: a single run proves nothing here."}},
      .sources = {"queue after k increases: arithmetic of DCQCN's increase rule",
                  "public lab note: three parameter sets on ConnectX at a 20G bottleneck",
                  cite::kNvidiaDcqcn},
  };
}

CatalogEntry cc_wrong_algorithm() {
  return {
      .id = "cc.wrong_algorithm",
      .title = "NIC runs a different congestion control than designed",
      .severity = Severity::kError,
      .aliases = {"cc.algorithm_vs_design", "CC_ALGO_MISMATCH"},
      .rows = {"C1"},
      .phase = "validate",
      .why =
          "Newer NICs carry a programmable algorithm (RTT-based) and can negotiate another one per "
          "connection (ECE). Then the DCQCN parameters are silently ignored, marks and CNPs lose "
          "their meaning, and two ends that differ do not share fairly: all-reduce became slow and "
          "unstable on 400G ConnectX-7 with ECE on. Every NIC of the fabric must run what the "
          "design says.",
      .fix = {{.platform = "mlx5-ofed",
               .commands = {"mlxconfig -d <bdf> -e q USER_PROGRAMMABLE_CC",
                            "mlxconfig -y -d <bdf> s USER_PROGRAMMABLE_CC=0"},
               .note = "Takes effect after mlxfwreset or a power cycle. Ask for one parameter at a "
                       "time: firmware that lacks one fails the whole query."},
              {.platform = "mlx5-inbox",
               .commands = {"mstconfig -d <bdf> -e q USER_PROGRAMMABLE_CC",
                            "mstconfig -y -d <bdf> s USER_PROGRAMMABLE_CC=0"}},
              {.platform = "nccl",
               .commands = {"export NCCL_IB_ECE_ENABLE=0"},
               .note = "If the problem started with ECE."}},
      .sources = {"NVIDIA/nccl issue 1403: slow and unstable with ECE", cite::kNvidiaDcqcn,
                  "Mellanox/mstflint, mlxconfig database: USER_PROGRAMMABLE_CC"},
  };
}

}  // namespace

std::vector<CatalogEntry> congestion_entries() {
  return {ecn_above_xoff(),
          ecn_off_on_lossless(),
          ecn_on_lossy(),
          ecn_pmax_too_small(),
          ecn_thresholds_too_low(),
          ecn_thresholds_too_high(),
          ecn_not_marking(),
          ecn_not_ect(),
          np_disabled(),
          rp_disabled(),
          cnp_lost(),
          cnp_shares_rdma_priority(),
          cnp_lossless(),
          cnp_wrong_class(),
          dcqcn_unstable(),
          dcqcn_too_conservative(),
          dcqcn_too_aggressive(),
          cc_wrong_algorithm()};
}

}  // namespace weir::finding
