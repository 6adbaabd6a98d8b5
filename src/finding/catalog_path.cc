#include "finding/catalog_fixes.h"
#include "finding/catalog_parts.h"
#include "finding/catalog_sources.h"

namespace weir::finding {
namespace {

CatalogEntry mtu_mismatch() {
  return {
      .id = "mtu.mismatch",
      .title = "MTU mismatch: one MTU on the path is too small",
      .severity = Severity::kError,
      .aliases = {"mtu.active_mtu_equal", "MTU_ACTIVE_ASYMMETRIC", "mtu.path_df_probe",
                  "MTU_PATH_MISMATCH"},
      .rows = {"A2", "C3", "I16"},
      .phase = "lint",
      .why =
          "RDMA packets are never fragmented: a port with a smaller MTU drops the large ones, "
          "small messages pass, and the connection dies with retries exceeded. Two hosts whose "
          "active MTU differs (4096 and 1024) can hang too, because not every library settles on "
          "the smaller one; perftest does, and passes. A host MTU of 9000 works with a switch MTU "
          "of 9216, or "
          "9214 on EOS: compare with the headers allowed for, not for equality. A RoCE packet of "
          "4096 bytes needs about 4200.",
      .fix = together({{{.platform = "design",
                         .commands = {"mtu: { host: 9000B, switch: 9216B, rdma: 4096B }"},
                         .note = "Also remove the mtu of single groups and links."},
                        mtu_on_hosts()},
                       mtu_on_switches()}),
      .sources = {cite::kIbTransport, "NVIDIA/nccl pull request 2135: hang with unequal active_mtu",
                  "kvcache-ai/Mooncake issue 3868: perftest passes, reads fail", cite::kNxos},
  };
}

CatalogEntry mtu_below_4096() {
  return {
      .id = "mtu.below_4096",
      .title = "interface MTU limits RDMA to small packets",
      .severity = Severity::kWarning,
      .aliases = {"mtu.netdev_allows_4096", "MTU_BELOW_4096"},
      .rows = {"B5", "C3"},
      .phase = "validate",
      .why =
          "The RDMA MTU is the largest of 256, 512, 1024, 2048 and 4096 that fits the interface: "
          "1500 gives 1024, 4200 or 9000 give 4096. Four times the packets mean four times the "
          "work per byte in the NIC and 92.6 % instead of 98.0 % of the wire for data. An "
          "application that asks for 4096 over a 1500-byte network reports retries exceeded.",
      .fix = together({{mtu_on_hosts()}, mtu_on_switches()}),
      .sources = {cite::kRoce, "payload share: 4096 / (4096 + 82) and 1024 / (1024 + 82) bytes",
                  "tensorflow/tensorflow issue 9432: retry count exceeded on a 1500-byte network"},
  };
}

CatalogEntry mtu_platform_max() {
  return {
      .id = "mtu.platform_max",
      .title = "MTU larger than the platform supports",
      .severity = Severity::kError,
      .rows = {"A2"},
      .phase = "lint",
      .why =
          "The switch refuses the command, keeps the old value, and the rest of the configuration "
          "is applied: the path's MTU is then smaller than designed. EOS takes at most 9214 on "
          "most boxes, NX-OS, SONiC and NVUE 9216. 9214 and 9216 fit the same host MTU of 9000.",
      .fix = together({{{.platform = "design",
                         .commands = {"switches: { <group>: { mtu: 9214B } }"},
                         .note = "For groups that run EOS."}},
                       mtu_on_switches()}),
      .sources = {cite::kEos, cite::kNxos, cite::kSonicYang},
  };
}

CatalogEntry routing_cyclic() {
  return {
      .id = "routing.cyclic_buffer_dependency",
      .title = "routing allows a cyclic buffer dependency (deadlock risk)",
      .severity = Severity::kError,
      .rows = {"A2"},
      .phase = "lint",
      .why =
          "A queue that waits for the next switch's buffer depends on it; when lossless paths make "
          "a cycle of such dependencies, pauses can block all of it permanently. Up and down once "
          "over a Clos has none. A bounce, down and up again after link failures, makes one: with "
          "four leaves and two spines two failed links are enough. Forbidding the bounce "
          "disconnects those pairs instead; moving bounced traffic to a second lossless priority "
          "keeps both.",
      .fix = {{.platform = "design",
               .commands = {"routing: updown"},
               .note = "weir prove --failures 2 shows the cycle and the flows that close it."},
              {.platform = "any",
               .commands = {"weir prove --failures 2"},
               .note = "In BGP, one AS number for all spines of a pod refuses bounced paths. Keep "
                       "lossless traffic off MLAG peer links and out of flooding VLANs."}},
      .sources = {cite::kTagger, cite::kDeadlocks, cite::kAtScale},
  };
}

CatalogEntry routing_loop() {
  return {
      .id = "routing.loop",
      .title = "routing loop between two switches",
      .severity = Severity::kError,
      .rows = {"D3", "I5"},
      .phase = "diagnose",
      .why =
          "Each of two switches has the other as next hop to a destination, because a route change "
          "reached only one of them or because of a static route. Packets go back and forth until "
          "their TTL ends: the links between the two are full and deliver nothing. In a lossless "
          "class it is worse: both queues fill, each switch pauses the other, and both stop "
          "forwarding permanently.",
      .fix = {{.platform = "any",
               .commands = {"weir prove"},
               .note = "Compare the routes of both switches to the destination, and remove the one "
                       "that points back; restart the queues that the watchdog holds."}},
      .sources = {cite::kTagger, cite::kDeadlocks},
  };
}

CatalogEntry routing_cut_off() {
  return {
      .id = "routing.cut_off",
      .title = "a failure takes hosts off the fabric",
      .severity = Severity::kWarning,
      .rows = {"A2"},
      .phase = "lint",
      .why =
          "A host whose NICs all end at one leaf loses the fabric with that leaf, and the job with "
          "it: what the other leaves still carry does not help it. Leaves that only one spine "
          "joins have no path when it fails. A job that starts again without these hosts goes on; "
          "one that waits for them does not.",
      .fix = {{.platform = "design",
               .commands = {"links: [{ from: gpu, to: leaf, wiring: rail }]"},
               .note = "Rails on several leaves, or a second uplink and spine. Where losing them "
                       "is accepted, plan for it: spare hosts, checkpoints."}},
      .sources = {cite::kAtScale},
  };
}

CatalogEntry routing_bgp_down() {
  return {
      .id = "routing.bgp_down",
      .title = "BGP session between two switches is down",
      .severity = Severity::kWarning,
      .aliases = {"BGP_NEIGHBOR_DOWN"},
      .rows = {"D3"},
      .phase = "diagnose",
      .why =
          "Where each link between leaf and spine carries a BGP session of its own, ECMP uses the "
          "links whose session is established. One that is shut down or idle takes its link out of "
          "use while the port is up, counts no errors and shows good light: what goes up has less "
          "room, and the links beside it pause and mark more. \"Idle (Admin)\" is set by an "
          "operator, "
          "often for a maintenance and not taken back; \"Active\" and \"Connect\" get no answer: "
          "address, AS number, filter or the peer; \"Idle\" often has no route or no link.",
      .fix = {{.platform = "sonic",
               .commands = {"show ip bgp summary", "sudo config bgp startup neighbor <peer>"},
               .note = "Or in vtysh: no neighbor <peer> shutdown. Ask who shut it down first."},
              {.platform = "cumulus",
               .commands = {"nv show vrf default router bgp neighbor",
                            "nv unset vrf default router bgp neighbor <peer> shutdown"}},
              {.platform = "eos",
               .commands = {"show ip bgp summary", "router bgp <as>",
                            "no neighbor <peer> shutdown"}},
              {.platform = "nxos",
               .commands = {"show bgp all summary", "router bgp <as>", "neighbor <peer>",
                            "no shutdown"}},
              {.platform = "junos",
               .commands = {"show bgp summary", "show bgp neighbor <peer>",
                            "delete protocols bgp group <group> neighbor <peer> shutdown"}}},
      .sources = {"RFC 4271, section 8: states of a BGP session, and its timers of 90 and 120 s",
                  "RFC 7938, BGP for routing in large data centers",
                  "FRRouting, BGP: neighbor PEER shutdown; show bgp summary"},
  };
}

CatalogEntry routing_ordering_risk() {
  return {
      .id = "routing.ordering_risk",
      .title = "adaptive routing under a workload that relies on order",
      .severity = Severity::kWarning,
      .aliases = {"design.ar_vs_workload", "AR_ORDERING_RISK"},
      .rows = {"G6", "F1"},
      .phase = "lint",
      .why =
          "Spraying and adaptive routing deliver packets of one connection out of order. A "
          "protocol that writes data and then a flag, and relies on the flag arriving last, reads "
          "garbage; an expert-parallel library lost data that way. NICs that do not accept "
          "out-of-order packets treat reordering as loss. NCCL's RoCE transport has adaptive "
          "routing off by default.",
      .fix = {{.platform = "design",
               .commands = {"load_balancing: { mode: ecmp }"},
               .note = "Or keep it, and list the workloads that write in order on purpose."},
              {.platform = "nccl",
               .commands = {"export NCCL_IB_ADAPTIVE_ROUTING=1"},
               .note = "Only where the NIC accepts out-of-order (ROCE_ADAPTIVE_ROUTING_EN) and the "
                       "switch sprays: NCCL then closes a message with an ordered write."}},
      .sources = {"deepseek-ai/DeepEP issue 20: adaptive routing and a flag behind the data",
                  cite::kNcclEnv},
  };
}

CatalogEntry rail_same_subnet() {
  return {
      .id = "rail.same_subnet",
      .title = "several rails in one subnet",
      .severity = Severity::kError,
      .aliases = {"ip.multi_nic_same_subnet", "MULTI_NIC_SAME_SUBNET", "ARP_FLUX"},
      .rows = {"A2", "C8"},
      .phase = "lint",
      .why =
          "Linux answers ARP for any of its addresses on any interface, and routes a subnet "
          "through one: with all rails in one prefix every neighbour learns the same MAC, and one "
          "400G NIC of eight carries everything. RDMA connections on the other rails time out or "
          "leave by the wrong port. One subnet per rail needs no workaround.",
      .fix = {{.platform = "design",
               .commands = {"addressing: { subnets: [ \"10.{rail}.0.0/16\" ] }"}},
              {.platform = "host",
               .commands = {"sysctl -w net.ipv4.conf.all.arp_ignore=1",
                            "sysctl -w net.ipv4.conf.all.arp_announce=2",
                            "ip rule add from <address> lookup <table>",
                            "ip route add <subnet> dev <netdev> src <address> table <table>"},
               .note = "Only where the prefix cannot change: a rule and a table for each rail."}},
      .sources = {"NVIDIA/nccl issue 1109: one NIC of eight carries traffic",
                  "Linux kernel, ip-sysctl: arp_ignore and arp_announce"},
  };
}

CatalogEntry address_duplicate() {
  return {
      .id = "address.duplicate",
      .title = "one address at two hosts",
      .severity = Severity::kError,
      .aliases = {"ip.duplicate", "DUPLICATE_IP", "ARP_CONFLICT"},
      .rows = {"A2"},
      .phase = "diagnose",
      .why =
          "Two hosts answer for one address, and each neighbour believes the one that answered "
          "last: connections reach the wrong host, whose NIC does not know their queue pairs and "
          "does not answer. Jobs with either host fail now and then with status 12, and no link or "
          "switch counts an error.",
      .fix = {{.platform = "host",
               .commands = {"ip -4 -br addr", "arping -D -I <netdev> <address>"},
               .note = "Give one of them the address of its plan, then flush the neighbours: ip "
                       "neigh flush dev <netdev>."},
              {.platform = "any", .commands = {"weir validate"}}},
      .sources = {"RFC 5227: IPv4 address conflict detection"},
  };
}

CatalogEntry subnet_two_leaves() {
  return {
      .id = "subnet.two_leaves",
      .title = "one subnet behind two leaves that route",
      .severity = Severity::kError,
      .rows = {"A2", "F1"},
      .phase = "lint",
      .why =
          "A leaf that routes announces the subnet of its ports. Where two leaves announce the "
          "same one, the spines send each flow to either of them, and a leaf has no route to a "
          "host behind the other: half of the connections time out. Each leaf needs a subnet of "
          "its own, or each NIC a /31; one subnet on many leaves needs bridging below the spine, "
          "or EVPN with an anycast gateway.",
      .fix = {{.platform = "design",
               .commands = {"addressing: { subnets: \"10.{rail}.{leaf}.0/24\" }"},
               .note = "Or addressing: { nic_prefix: 31 }: a subnet of its own for each NIC."}},
      .sources = {"Juniper JVD, AI data center: a /31 per leaf port, leaf even, NIC odd",
                  "RFC 7938, BGP for routing in large data centers"},
  };
}

CatalogEntry rail_no_route() {
  return {
      .id = "rail.no_route",
      .title = "route to a peer on this rail uses another interface",
      .severity = Severity::kError,
      .aliases = {"ip.route_per_rail", "NO_ROUTE"},
      .rows = {"C8"},
      .phase = "validate",
      .why =
          "A RoCE connection binds to the NIC of its GID, and asks the kernel for the next hop. If "
          "the route from the rail's address to the peer's resolves to another interface, or to "
          "none, the connection fails with a timeout while ping over the management network works.",
      .fix = {{.platform = "host",
               .commands = {"ip route get <peer address> from <rail address> oif <netdev>",
                            "ip rule add from <rail address> lookup <table>",
                            "ip route add <peer subnet> via <gateway> dev <netdev> table <table>"},
               .note = "The first line shows what the kernel would do; it must name the rail's own "
                       "interface."}},
      .sources = {cite::kRoce, "iproute2, ip-route(8) and ip-rule(8)"},
  };
}

CatalogEntry rail_cross_rail_unreachable() {
  return {
      .id = "rail.cross_rail_unreachable",
      .title = "job connects rails that cannot reach each other",
      .severity = Severity::kError,
      .aliases = {"rail.cross_rail_reachability", "nccl.cross_nic_vs_design",
                  "CROSS_RAIL_UNREACHABLE"},
      .rows = {"E1", "E2"},
      .phase = "job",
      .why =
          "In a rail-isolated fabric NIC r of one host reaches only NIC r of another. Ring "
          "all-reduce stays on its rail and works; gather, all-to-all and checkpoint traffic may "
          "pair NICs of different rails, and then the job dies at scale with connection timeouts. "
          "NCCL must be configured not to change rails, and needs PXN to reach the right NIC "
          "through a "
          "neighbour GPU.",
      .fix = {{.platform = "design", .commands = {"nccl: { cross_nic: false }"}},
              {.platform = "nccl",
               .commands = {"export NCCL_CROSS_NIC=0", "export NCCL_PXN_DISABLE=0"}},
              {.platform = "any",
               .commands = {"weir verify --pair <host a> <host b>"},
               .note = "Same rail and across rails."}},
      .sources = {"NVIDIA/nccl issues 2013 and 1348: cross-rail connections time out",
                  cite::kNcclEnv},
  };
}

CatalogEntry rail_rings_cross() {
  return {
      .id = "rail.rings_cross",
      .title = "job lets rings change rails where the design keeps them apart",
      .severity = Severity::kWarning,
      .aliases = {"nccl.cross_nic"},
      .rows = {"E2"},
      .phase = "job",
      .why =
          "In a rail-optimised fabric NIC r of every host is on leaf r, so that a ring which stays "
          "on its rail takes one hop and shares no link with other rings. With NCCL_CROSS_NIC=1 a "
          "ring enters a host on one rail and leaves it on another: every step goes over the "
          "spines, where ECMP makes the rings of all rails collide.",
      .fix = {{.platform = "nccl",
               .commands = {"export NCCL_CROSS_NIC=0"},
               .note = "2, NCCL's default, lets NCCL choose."},
              {.platform = "design",
               .commands = {"nccl: { cross_nic: true }"},
               .note = "If all rails are connected without oversubscription and this is wanted."}},
      .sources = {cite::kNcclEnv},
  };
}

CatalogEntry rail_isolated() {
  return {
      .id = "rail.isolated",
      .title = "rails without a path between them",
      .severity = Severity::kInfo,
      .aliases = {"design.rail_isolation", "DESIGN_RAIL_ISOLATION_RISK"},
      .rows = {"A1", "E1"},
      .phase = "lint",
      .why =
          "Leaving the rails unconnected at the top saves a tier, and is sound for jobs that use "
          "all GPUs of each host. A communicator whose GPUs sit on different rails in different "
          "hosts has no path, though, and fails. The design then carries an obligation for every "
          "job: no cross-NIC rings, PXN on, whole hosts only.",
      .fix = {{.platform = "design",
               .commands = {"nccl: { cross_nic: false }"},
               .note = "Or connect the rails at a second tier."},
              {.platform = "nccl",
               .commands = {"export NCCL_CROSS_NIC=0", "export NCCL_PXN_DISABLE=0"}}},
      .sources = {"NVIDIA/nccl issue 836: rails left unconnected at the top", cite::kNcclEnv},
  };
}

CatalogEntry wiring_mismatch() {
  return {
      .id = "wiring.mismatch",
      .title = "cable goes to a different port than designed",
      .severity = Severity::kError,
      .aliases = {"wiring.lldp_vs_design", "MISWIRED"},
      .rows = {"C1", "A1"},
      .phase = "validate",
      .why =
          "Two cables swapped at a patch panel put a host on the wrong rail: its subnet is "
          "unreachable there, or reachable only by a detour. Connections fail with timeouts or "
          "share an uplink with other traffic. LLDP names the neighbour of every port; the design "
          "names what it should be.",
      .fix = {{.platform = "host",
               .commands = {"lldpcli show neighbors", "weir validate"},
               .note = "Move the cable, or correct the design."},
              {.platform = "cumulus", .commands = {"nv show interface <port> lldp"}},
              {.platform = "eos", .commands = {"show lldp neighbors"}},
              {.platform = "nxos", .commands = {"show lldp neighbors"}},
              {.platform = "junos", .commands = {"show lldp neighbors"}},
              {.platform = "sonic", .commands = {"show lldp table"}}},
      .sources = {"IEEE 802.1AB: LLDP",
                  "luxingcom/aicad-nccl-optimization issue 1: cabling against NCCL's pairing"},
  };
}

CatalogEntry path_reordering() {
  return {
      .id = "path.reordering",
      .title = "packets arrive out of order",
      .severity = Severity::kWarning,
      .rows = {"I17"},
      .phase = "verify",
      .why =
          "out_of_sequence climbs at the receiver while no port drops anything. A path changed "
          "under a running connection (ECMP after a flap), the fabric sprays packets, or a bad "
          "link repeats some. NICs that accept out-of-order only count it; others ask for "
          "everything again, and then packet_seq_err climbs at the sender too. With adaptive "
          "routing on, a rise of these counters alone does not mean loss.",
      .fix = {{.platform = "any",
               .commands = {"weir pcap <file>", "weir diagnose <bundles>"},
               .note = "Look for link flaps and route changes first, then for spraying without a "
                       "NIC that expects it."},
              {.platform = "mlx5-ofed",
               .commands = {"mlxconfig -d <bdf> -e q ROCE_ADAPTIVE_ROUTING_EN"},
               .note = "Must be on where the fabric sprays."}},
      .sources = {cite::kMlx5Counters, cite::kIbTransport},
  };
}

CatalogEntry path_loss() {
  return {
      .id = "path.loss",
      .title = "RDMA packets are lost on the path",
      .severity = Severity::kError,
      .rows = {"D3", "I9", "I28"},
      .phase = "verify",
      .why =
          "RDMA is retransmitting: roce_adp_retrans, packet_seq_err or local_ack_timeout_err grow. "
          "A NAK received means the loss lies on the way from this host; out_of_sequence is the "
          "receiver's view of it. A lost last packet has no NAK and waits for the timer, 4.29 s "
          "with NCCL's timeout of 20. The connection fails only when the retries are used up "
          "(req_transport_retries_exceeded, status 12).",
      .fix = {{.platform = "any",
               .commands = {"weir diagnose <bundles>", "weir explain headroom.too_small",
                            "weir explain pfc.wrong_priority", "weir explain link.physical_errors"},
               .note = "Find where it is dropped: per-priority discards of the NICs, no-buffer "
                       "discards of the switches, CRC errors on the way."}},
      .sources = {cite::kMlx5Counters, cite::kIbTransport, cite::kNcclEnv},
  };
}

CatalogEntry packet_icrc_bad() {
  return {
      .id = "packet.icrc_bad",
      .title = "RDMA packets with a wrong invariant CRC (ICRC)",
      .severity = Severity::kError,
      .rows = {"E3", "I18"},
      .phase = "verify",
      .why =
          "The ICRC covers everything that no hop may change, and each hop checks and rewrites the "
          "Ethernet CRC. A packet with a good frame and a bad ICRC was changed inside a device: a "
          "switch's memory, a NIC, or something on the way that rewrites addresses or ports (NAT, "
          "a load balancer). The receiver drops it without a NAK; rx_icrc_encapsulated counts it.",
      .fix = {{.platform = "any",
               .commands = {"weir pcap <before> <after>"},
               .note = "Capture before and after each hop: the device between the good and the bad "
                       "capture is at fault."},
              {.platform = "host",
               .commands =
                   {"grep . "
                    "/sys/class/infiniband/<device>/ports/1/hw_counters/rx_icrc_encapsulated"}}},
      .sources = {cite::kRoce, cite::kIbTransport, cite::kMlx5Counters},
  };
}

CatalogEntry transport_timer_below_rtt() {
  return {
      .id = "transport.timer_below_rtt",
      .title = "retransmission timer shorter than the round trip",
      .severity = Severity::kWarning,
      .aliases = {"verify.rtt_vs_timer", "RETRANS_TIMER_LT_RTT"},
      .rows = {"I28"},
      .phase = "verify",
      .why =
          "roce_adp_retrans grows while nothing is lost: the NIC gives up on acknowledgements that "
          "are still on their way. On a 30 ms path packets were sent again every 10 ms, and NCCL's "
          "timeout did not help, because the NIC's adaptive retransmission has a timer of its own. "
          "Long paths and long pauses both cause it.",
      .fix = {{.platform = "nccl",
               .commands = {"export NCCL_IB_TIMEOUT=22"},
               .note = "4.096 us x 2^n; must be well above the 99th percentile of the round trip."},
              {.platform = "any",
               .commands = {"weir verify --pair <host a> <host b>"},
               .note = "Measures the round trip and its tail. Where the NIC's adaptive "
                       "retransmission is the cause, turn that off in its firmware settings."}},
      .sources = {"NVIDIA/nccl issue 1555: retransmissions on a 30 ms path", cite::kIbTransport},
  };
}

CatalogEntry congestion_sustained() {
  return {
      .id = "congestion.sustained",
      .title = "sustained congestion: senders restart at the lowest rate",
      .severity = Severity::kWarning,
      .rows = {"I27"},
      .phase = "verify",
      .why =
          "roce_slow_restart counts connections that restart at a low rate, after a retransmission "
          "or a hard cut. A few in a burst are normal; a steady flow of them means that the load "
          "exceeds the capacity of a port or receiver for long periods, or that DCQCN overshoots "
          "each time it recovers. If there are retransmissions too, look for the loss first.",
      .fix = {{.platform = "any",
               .commands = {"weir diagnose <bundles>", "weir explain path.loss",
                            "weir explain dcqcn.too_aggressive", "weir explain ecmp.imbalance"},
               .note = "Is anything lost? Is one port far hotter than the others? Only then the "
                       "parameters."}},
      .sources = {cite::kMlx5Counters, cite::kNvidiaDcqcn},
  };
}

CatalogEntry path_filtered() {
  return {
      .id = "path.filtered",
      .title = "a filter drops RoCEv2 packets",
      .severity = Severity::kError,
      .aliases = {"ACL_DROPS_4791"},
      .rows = {"D3"},
      .phase = "verify",
      .why =
          "RoCEv2 is UDP to port 4791. An access list or a host's firewall that has no entry for "
          "it drops every packet, while ping and TCP pass: connections are set up through TCP and "
          "the first transfer ends with status 12. RDMA itself bypasses the firewall of the host "
          "that sends it; one on the path, or on a bridge of virtual machines, sees it.",
      .fix = {{.platform = "eos",
               .commands = {"show ip access-lists", "permit udp any any eq 4791"}},
              {.platform = "nxos",
               .commands = {"show ip access-lists", "permit udp any any eq 4791"}},
              {.platform = "host", .commands = {"iptables -nvL | grep 4791", "nft list ruleset"}}},
      .sources = {"IBTA Annex A17: RoCEv2 has UDP destination port 4791"},
  };
}

}  // namespace

std::vector<CatalogEntry> path_entries() {
  return {path_filtered(),
          mtu_mismatch(),
          mtu_below_4096(),
          mtu_platform_max(),
          routing_cyclic(),
          routing_cut_off(),
          routing_bgp_down(),
          routing_loop(),
          routing_ordering_risk(),
          rail_same_subnet(),
          address_duplicate(),
          subnet_two_leaves(),
          rail_no_route(),
          rail_cross_rail_unreachable(),
          rail_rings_cross(),
          rail_isolated(),
          wiring_mismatch(),
          path_reordering(),
          path_loss(),
          packet_icrc_bad(),
          transport_timer_below_rtt(),
          congestion_sustained()};
}

}  // namespace weir::finding
