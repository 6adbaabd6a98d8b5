#include "finding/catalog_fixes.h"
#include "finding/catalog_parts.h"
#include "finding/catalog_sources.h"

namespace weir::finding {
namespace {

CatalogEntry dscp_tos_confusion() {
  return {
      .id = "dscp.tos_confusion",
      .title = "DSCP value used where a TOS byte belongs",
      .severity = Severity::kError,
      .aliases = {"lint.tc_value", "TC_ENCODING"},
      .rows = {"A2", "A3", "E2", "I14"},
      .phase = "lint",
      .why =
          "An RDMA traffic class is the whole TOS byte: DSCP x 4 plus two ECN bits. 26 typed there "
          "is DSCP 6 with ECN bits 10, which the usual maps send to best effort: all RDMA leaves "
          "the lossless class, nothing reports an error, and the job is slow. DSCP 26 is written "
          "104, or 106 with ECT(0). Other fabrics use other code points on purpose (Oracle's 41 is "
          "DSCP 10), so the rule is TC / 4 = the design's DSCP, not a fixed number.",
      .fix = together({{{.platform = "design",
                         .commands = {"marking: { traffic_class: 106, rdma_cm_tos: 106 }",
                                      "nccl: { traffic_class: 106 }"},
                         .note = "weir tos 26 prints both readings."}},
                       marking_in_jobs()}),
      .sources = {cite::kDscp, cite::kNcclEnv,
                  "oracle-quickstart/oci-hpc, nccl-conf templates: NCCL_IB_TC=41"},
  };
}

CatalogEntry dscp_narrow_map() {
  return {
      .id = "dscp.narrow_map",
      .title = "DSCP map covers single code points of a group of eight",
      .severity = Severity::kWarning,
      .rows = {"A2"},
      .phase = "lint",
      .why =
          "Vendors map whole groups of eight: 24-31 to priority 3 on ConnectX, Cumulus, EOS. Where "
          "the design sends only 26 there, a neighbour such as 24 falls out of the lossless class, "
          "and 24 is what NVIDIA's examples use (traffic class 96). Every tool, storage client and "
          "container image with that default then runs unprotected beside jobs that are not. The "
          "octet costs nothing where no other class uses its code points.",
      .fix = together({{{.platform = "design",
                         .commands = {"classes: { rdma: { dscp: [26, 24-31] } }"},
                         .note = "The first code point is the one RDMA is marked with; the rest of "
                                 "the octet follows it into the class."}},
                       dscp_map_on_switches(),
                       dscp_map_on_nics()}),
      .sources = {cite::kMlx5Dcb, cite::kNvue,
                  "NVIDIA RoCE guides: traffic class 96, which is DSCP 24"},
  };
}

CatalogEntry dscp_default_map() {
  return {
      .id = "dscp.default_map",
      .title = "traffic in a queue without a bandwidth share",
      .severity = Severity::kWarning,
      .rows = {"C7"},
      .phase = "validate",
      .why =
          "Shares are planned by the design's map, and traffic goes by the switch's. Where the map "
          "is left at its default the two differ: EOS puts DSCP 0-7 into class 1 and DSCP 8-15 "
          "into class 0, so that best effort, TCP and ssh among it, sits in a queue without a "
          "share. Nothing is lost while the port is idle; under an incast management starves.",
      .fix = {{.platform = "eos",
               .commands = {"qos map dscp 0 1 2 3 4 5 6 7 to traffic-class 0",
                            "qos map dscp 8 9 10 11 12 13 14 15 to traffic-class 0"},
               .note = "Or give the queue that it lands in a share."},
              {.platform = "switch", .commands = {"weir render --node <switch>"}}},
      .sources = {cite::kEos},
  };
}

CatalogEntry dscp_unmapped_hop() {
  return {
      .id = "dscp.unmapped_hop",
      .title = "switch does not map the RDMA DSCP to the lossless class",
      .severity = Severity::kError,
      .aliases = {"xdomain.host_dscp_in_switch_lossless_tc", "DSCP_MAP_MISMATCH"},
      .rows = {"A2", "C7", "I14", "I15"},
      .phase = "lint",
      .why =
          "One hop whose map sends the class's DSCP elsewhere is enough: there RDMA sits in a "
          "lossy queue, is dropped under load, and pushes aside what belongs in that queue. "
          "SONiC's stock map does this to DSCP 26, which it sends to class 1; only DSCP 3 and 4 "
          "are lossless. EOS sends 0-7 to class 1 and 8-15 to class 0 by default. All other hops "
          "look perfect, and the loss shows only at the ends.",
      .fix = together({{{.platform = "design",
                         .commands = {"switches: { <group>: { dscp_overrides: [] } }"},
                         .note = "Remove the override, or render the map: weir render "
                                 "--node <switch>."}},
                       dscp_map_on_switches()}),
      .sources = {cite::kSonicQos, cite::kEos, cite::kPfc},
  };
}

CatalogEntry dscp_unmarked() {
  return {
      .id = "dscp.unmarked",
      .title = "RDMA sent without its DSCP marking",
      .severity = Severity::kError,
      .aliases = {"verify.prio_delta", "lint.env_vs_design", "TC_UNMARKED"},
      .rows = {"D3", "E2", "E3", "I14"},
      .phase = "job",
      .why =
          "An application that sets no traffic class sends DSCP 0, and DSCP 0 is best effort on "
          "every hop: bytes climb on priority 0 where the RDMA priority should carry over 99 %. "
          "NCCL's default is 0 and perftest's too; both ignore the RDMA-CM default. The vendor "
          "driver's per-port traffic_class overrides them all, the kernel's own driver has nothing "
          "like it. Ordinary tcpdump on the host sees no RDMA packet, so believe the priority "
          "counters.",
      .fix = together(
          {marking_in_jobs(),
           {{.platform = "any",
             .commands = {"weir job <script>", "weir verify -- <command>"},
             .note = "verify proves it: bytes of the RDMA priority against RDMA bytes."}}}),
      .sources = {cite::kNcclEnv, cite::kForceTc, cite::kRdmaCm, cite::kPerftest,
                  ("chimera-nas/chimera pull request 617 and ROCm/mori pull request 362: traffic "
                   "left unmarked")},
  };
}

CatalogEntry dscp_one_way() {
  return {
      .id = "dscp.one_way",
      .title = "only one direction is in the lossless class",
      .severity = Severity::kError,
      .aliases = {"verify.prio_delta_both_ends", "TC_ASYMMETRIC"},
      .rows = {"D3", "I14"},
      .phase = "verify",
      .why =
          "Each end marks what it sends. When the environment reaches one end only, or a library "
          "marks the initiator and not the responder, reads and acknowledgements come back as best "
          "effort: half of the traffic is unprotected, and the end that was checked looks right. "
          "Compare the priority counters of both ends in both directions.",
      .fix = together({{{.platform = "any",
                         .commands = {"weir verify --pair <host a> <host b>"},
                         .note = "Looks at both ends."}},
                       marking_in_jobs()}),
      .sources = {"openebs/mayastor pull request 1953: initiator unmarked, responder marked",
                  "openucx/ucx issue 10325: remote side sends DSCP 0"},
  };
}

CatalogEntry dscp_nic_map_wrong() {
  return {
      .id = "dscp.nic_map_wrong",
      .title = "NIC maps the RDMA DSCP to the wrong priority",
      .severity = Severity::kError,
      .rows = {"B1", "C1", "I14"},
      .phase = "validate",
      .why =
          "Under DSCP trust the NIC's own map decides the priority a packet leaves in, and thereby "
          "which pauses it obeys and which DCQCN settings apply. With a wrong row, packets carry "
          "the right DSCP and every switch treats them well, yet this NIC sends them in a priority "
          "that nobody may pause. A table that holds one row only is not enough: the other 63 code "
          "points keep whatever the firmware last had.",
      .fix = dscp_map_on_nics(),
      .sources = {cite::kMlx5Dcb, cite::kMlnxQos, cite::kDcbTool},
  };
}

CatalogEntry dscp_rewritten() {
  return {
      .id = "dscp.rewritten",
      .title = "DSCP is rewritten on the path",
      .severity = Severity::kError,
      .rows = {"A2", "I14"},
      .phase = "lint",
      .why =
          "A rewrite, a remark at an access port or an untrusted port sets the DSCP to another "
          "value, usually 0: from that hop on, RDMA is best effort. Only the hops behind it and "
          "the receiver see it; the sender's counters are perfect. A rewrite that also clears the "
          "ECN bits takes the marks away.",
      .fix = together(
          {{{.platform = "design", .commands = {"switches: { <group>: { rewrites_dscp: false } }"}},
            {.platform = "any",
             .commands = {"weir pcap <file>"},
             .note = "A capture before and after the hop shows it: 0x6a or 0x68 in, another byte "
                     "out."}},
           dscp_map_on_switches()}),
      .sources = {cite::kDscp, cite::kEcn},
  };
}

CatalogEntry trust_mixed() {
  return {
      .id = "trust.mixed",
      .title = "some devices trust DSCP and others PCP",
      .severity = Severity::kError,
      .rows = {"A2", "C2"},
      .phase = "lint",
      .why =
          "A device that trusts PCP reads the priority from the VLAN tag; an untagged or routed "
          "packet has none, so it is priority 0 there whatever its DSCP says. Routers do not carry "
          "the tag across, which is why leaf-spine fabrics trust DSCP. Mixed trust puts the same "
          "flow into different classes on different hops.",
      .fix = together(
          {{{.platform = "design",
             .commands = {"trust: dscp"},
             .note = "Also remove trust settings of single groups under hosts and switches."}},
           dscp_map_on_nics(),
           dscp_map_on_switches()}),
      .sources = {cite::kMlx5Dcb, cite::kNvue, cite::kEos},
  };
}

CatalogEntry trust_not_dscp() {
  return {
      .id = "trust.not_dscp",
      .title = "NIC trusts PCP instead of DSCP",
      .severity = Severity::kError,
      .rows = {"B1", "C1", "I14"},
      .phase = "validate",
      .why =
          "PCP is the factory default. With it the priority follows the service level, and the "
          "DSCP map is ignored: RDMA leaves in priority 0, PFC and DCQCN of priority 3 do nothing "
          "for it. mlx5 changes trust by itself: the first DSCP entry turns it to DSCP, deleting "
          "the last one turns it back silently. There is no file to read it from; mlnx_qos and the "
          "DCB application table show it.",
      .fix = dscp_map_on_nics(),
      .sources = {cite::kMlx5Dcb, cite::kMlnxQos},
  };
}

CatalogEntry class_no_guarantee() {
  return {
      .id = "class.no_guarantee",
      .title = "management class without a guaranteed minimum",
      .severity = Severity::kWarning,
      .rows = {"A2"},
      .phase = "lint",
      .why =
          "RDMA fills any link that is given to it. Without a guaranteed share, SSH, BGP, "
          "monitoring and the job's own control channel wait behind it, and a busy fabric looks "
          "like a dead one: sessions drop, health checks fail, nodes are drained. A few percent "
          "are enough.",
      .fix =
          {{.platform = "design", .commands = {"classes: { management: { minimum: 5% } }"}},
           {.platform = "cumulus",
            .commands = {"nv set qos egress-scheduler default-global traffic-class 0 mode dwrr",
                         "nv set qos egress-scheduler default-global traffic-class 0 bw-percent 50",
                         "nv config apply"}},
           {.platform = "eos",
            .commands = {"qos profile <profile>", "   uc-tx-queue 1", "      no priority",
                         "      bandwidth percent <percent>"}},
           {.platform = "nxos",
            .commands = {"policy-map type queuing <policy>",
                         "  class type queuing c-out-8q-q-default",
                         "    bandwidth remaining percent <percent>"}},
           {.platform = "junos",
            .commands = {(
                "set class-of-service schedulers <scheduler> transmit-rate percent <percent>")}},
           {.platform = "sonic",
            .commands = {(
                "\"SCHEDULER\": {\"<scheduler>\": {\"type\": \"DWRR\", \"weight\": \"<1-100>\"}}")},
            .note = "In CONFIG_DB, bound by QUEUE|<port>|<queue>."}},
      .sources = {cite::kEts, cite::kNvue, cite::kNxos, cite::kJunos, cite::kSonicYang},
  };
}

CatalogEntry class_shared_queue() {
  return {
      .id = "class.shared_queue",
      .title = "RDMA shares a priority or queue with other traffic",
      .severity = Severity::kError,
      .aliases = {"lint.one_class_per_purpose", "CLASS_SHARED"},
      .rows = {"A2", "I23"},
      .phase = "lint",
      .why =
          "Whatever shares the lossless queue is paused with it and fills it: TCP that ignores "
          "CNPs takes the share of RDMA that obeys them, and a backup or checkpoint slows every "
          "training step while it runs. Storage over RDMA in the training priority has aborted "
          "database nodes by heartbeat timeouts. One class per purpose: RDMA, CNPs, storage, "
          "management, best effort.",
      .fix = together(
          {{{.platform = "design",
             .commands = {(
                 "classes: { storage: { dscp: 16, priority: 2, queue: 2, lossless: false } }")},
             .note = "A priority, a queue and code points of its own for each class."}},
           dscp_map_on_switches()}),
      .sources = {cite::kDcqcn,
                  "logicalclocks/rondb pull request 949: heartbeats behind NFS over RDMA",
                  cite::kNxos},
  };
}

CatalogEntry class_starved() {
  return {
      .id = "class.starved",
      .title = "class gets less than its guaranteed minimum under load",
      .severity = Severity::kWarning,
      .rows = {"D3"},
      .phase = "verify",
      .why =
          "The design promises a minimum; under load the queue's counters show less, or its "
          "packets are dropped. Usually a strict-priority class above it takes everything, or the "
          "scheduler is not bound to this port. A guarantee that holds only on an idle fabric is "
          "worthless.",
      .fix = {{.platform = "any",
               .commands = {"weir validate", "weir explain class.no_guarantee"},
               .note = "Strict priority belongs to CNPs and network control only."}},
      .sources = {cite::kEts},
  };
}

CatalogEntry shaper_on_rdma_path() {
  return {
      .id = "shaper.on_rdma_path",
      .title = "rate limit on an RDMA path",
      .severity = Severity::kError,
      .rows = {"A2", "C10"},
      .phase = "lint",
      .why =
          "A shaper makes the port a bottleneck that no counter of congestion explains: packets "
          "wait for tokens, the queue grows, PFC pauses the senders, and the link shows as half "
          "idle. RDMA rates are controlled by DCQCN. Limits belong to other classes and to access "
          "ports.",
      .fix = {{.platform = "design",
               .commands = {"classes: { rdma: { limit: 100% } }"},
               .note = "Also remove the line shaper from these links."},
              {.platform = "mlx5-ofed",
               .commands = {"mlnx_qos -i <netdev> -r 0,0,0,0,0,0,0,0"},
               .note = "Eight values in Gb/s; 0 is unlimited."},
              {.platform = "mlx5-inbox",
               .commands = {"dcb maxrate set dev <netdev> tc-maxrate all:0bit"}},
              {.platform = "eos",
               .commands = {"qos profile <profile>", "   uc-tx-queue 3", "      no shape rate"}}},
      .sources = {cite::kMlnxQos, cite::kDcbTool, cite::kEos},
  };
}

CatalogEntry dscp_site_plan() {
  return {
      .id = "dscp.site_plan",
      .title = "unusual RDMA marking, no fault reported",
      .severity = Severity::kInfo,
      .aliases = {"OK_SITE_SPECIFIC"},
      .rows = {"A2", "D8"},
      .phase = "diagnose",
      .why =
          "DSCP 26 is a convention, not a rule: a production fabric runs with traffic class 41, "
          "which is DSCP 10. What counts is that hosts and every switch agree. Without the design "
          "it cannot be checked further, and nothing else in the input is wrong.",
      .fix = {{.platform = "design",
               .commands = {"classes: { rdma: { dscp: <value> } }"},
               .note = "Then weir lint and weir prove check the marking hop by hop."}},
      .sources = {cite::kDscp, "oracle-quickstart/oci-hpc, nccl-conf templates: traffic class 41"},
  };
}

}  // namespace

std::vector<CatalogEntry> marking_entries() {
  return {dscp_tos_confusion(), dscp_narrow_map(),     dscp_default_map(),   dscp_unmapped_hop(),
          dscp_unmarked(),      dscp_one_way(),        dscp_nic_map_wrong(), dscp_rewritten(),
          trust_mixed(),        trust_not_dscp(),      class_no_guarantee(), class_shared_queue(),
          class_starved(),      shaper_on_rdma_path(), dscp_site_plan()};
}

}  // namespace weir::finding
