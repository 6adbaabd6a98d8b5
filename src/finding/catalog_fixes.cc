#include "finding/catalog_fixes.h"

namespace weir::finding {

Fixes together(std::initializer_list<Fixes> lists) {
  Fixes all;
  for (const Fixes& list : lists)
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

Fixes wred_on_switches() {
  return {
      {.platform = "cumulus",
       .commands =
           {("nv set qos congestion-control default-global traffic-class 3 min-threshold <min in "
             "bytes>"),
            ("nv set qos congestion-control default-global traffic-class 3 max-threshold <max in "
             "bytes>"),
            ("nv set qos congestion-control default-global traffic-class 3 probability <percent>"),
            "nv set qos congestion-control default-global traffic-class 3 ecn enable",
            "nv config apply"},
       .note = "The RoCE profile alone marks at 150 KB / 1500 KB with 100 % and marks traffic "
               "class 0 too."},
      {.platform = "eos",
       .commands = {"qos profile <profile>", "   uc-tx-queue 3",
                    ("      random-detect ecn minimum-threshold <min> kbytes maximum-threshold "
                     "<max> kbytes max-mark-probability <percent> weight 0")},
       .note = "On 7280R3 and 7800R3 the sub-mode is tx-queue. Weight 0 judges the queue as it is, "
               "without averaging."},
      {.platform = "nxos",
       .commands = {"policy-map type queuing <policy>", "  class type queuing c-out-8q-q3",
                    ("    random-detect minimum-threshold <min> kbytes maximum-threshold <max> "
                     "kbytes drop-probability <percent> weight 0 ecn")},
       .note = "Without the word ecn at the end the same line drops instead of marking."},
      {.platform = "junos",
       .commands =
           {"set class-of-service drop-profiles <profile> interpolate fill-level <min percent>",
            "set class-of-service drop-profiles <profile> interpolate fill-level <max percent>",
            "set class-of-service drop-profiles <profile> interpolate drop-probability 0",
            "set class-of-service drop-profiles <profile> interpolate drop-probability <percent>",
            ("set class-of-service schedulers <scheduler> drop-profile-map loss-priority any "
             "protocol any drop-profile <profile>"),
            "set class-of-service schedulers <scheduler> explicit-congestion-notification"},
       .note = "Junos takes percent of the queue's maximum, not bytes. ECN belongs to the "
               "scheduler, not to the forwarding class."},
      {.platform = "sonic",
       .commands =
           {("ecnconfig -p <profile> -gmin <min in bytes> -gmax <max in bytes> -gdrop <percent>"),
            "ecnconfig -q 3 on"},
       .note = "ecnconfig sets no enable: WRED_PROFILE must also say \"ecn\": \"ecn_all\" and "
               "\"wred_green_enable\": \"true\", and QUEUE|<port>|3 must name the profile."},
  };
}

Fixes headroom_on_switches() {
  return {
      {.platform = "cumulus",
       .commands = {"nv set qos pfc <profile> switch-priority 3",
                    "nv set qos pfc <profile> tx enable", "nv set qos pfc <profile> rx enable",
                    "nv set qos pfc <profile> cable-length <metres>",
                    "nv set interface <port> qos pfc profile <profile>", "nv config apply"},
       .note = "The length is configured, never measured: 100 m under qos roce, 10 m in a profile "
               "of your own. Leave port-buffer, xoff-threshold and xon-threshold to the switch."},
      {.platform = "eos",
       .commands = {"platform trident mmu queue profile <profile>",
                    "   ingress headroom bytes <bytes>",
                    "platform trident mmu queue profile <profile> apply"},
       .note = "One profile serves the whole box: size it for the longest cable."},
      {.platform = "nxos",
       .commands =
           {"policy-map type queuing <policy>", "  class type queuing c-in-q3",
            "    pause buffer-size <bytes> pause-threshold <bytes> resume-threshold <bytes>"},
       .note = "Automatic up to 100 m; above that this line is mandatory. It may not share a "
               "policy with priority or bandwidth."},
      {.platform = "junos",
       .commands = {("set class-of-service congestion-notification-profile <profile> input "
                     "cable-length <metres>"),
                    ("set class-of-service congestion-notification-profile <profile> input dscp "
                     "code-point 011010 mru 9216"),
                    ("set class-of-service shared-buffer ingress buffer-partition "
                     "lossless-headroom percent <percent>")},
       .note = "The ingress partitions must add up to exactly 100 %. Changing them stops traffic "
               "on every port for a moment."},
      {.platform = "sonic",
       .commands = {"config interface cable-length <port> <metres>m"},
       .note = "Dynamic buffer model. In the traditional model CABLE_LENGTH must name a row of "
               "pg_profile_lookup.ini exactly (5m, 40m, 300m): round up. Without a row the port "
               "gets no lossless priority group at all."},
  };
}

Fixes pfc_on_switches() {
  return {
      {.platform = "cumulus",
       .commands = {"nv set qos roce mode lossless", "nv set qos roce state enabled",
                    "nv config apply"},
       .note = "Up to release 5.14 the last word is 'enable on'. A plain 'nv set qos roce' leaves "
               "an earlier lossy mode as it is."},
      {.platform = "eos",
       .commands = {"qos profile <profile>", "   priority-flow-control on",
                    "   priority-flow-control priority 3 no-drop", "interface <port>",
                    "   service-profile <profile>"}},
      {.platform = "nxos",
       .commands = {"policy-map type network-qos <policy>", "  class type network-qos c-8q-nq3",
                    "    mtu 9216", "    pause pfc-cos 3", "system qos",
                    "  service-policy type network-qos <policy>", "interface <port>",
                    "  priority-flow-control mode on"},
       .note = "Mode 'auto' leaves the answer to DCBX and silently ends up off when the peer sends "
               "no DCBX."},
      {.platform = "junos",
       .commands =
           {"set class-of-service forwarding-classes class NO-LOSS queue-num 3",
            "set class-of-service forwarding-classes class NO-LOSS no-loss",
            "set class-of-service forwarding-classes class NO-LOSS pfc-priority 3",
            ("set class-of-service congestion-notification-profile <profile> input dscp code-point "
             "011010 pfc"),
            ("set class-of-service congestion-notification-profile <profile> output ieee-802.1 "
             "code-point 011 flow-control-queue 3"),
            ("set class-of-service interfaces <port> congestion-notification-profile <profile>")}},
      {.platform = "sonic",
       .commands = {"config interface pfc priority <port> 3 on"},
       .note =
           "PORT_QOS_MAP must list 3 in pfc_enable and in pfcwd_sw_enable, and BUFFER_PG|<port>|3 "
           "must have a lossless profile. The stock configuration has PFC on 3 and 4."},
  };
}

Fixes pfc_on_nics() {
  return {
      {.platform = "mlx5-ofed",
       .commands = {"mlnx_qos -i <netdev> --pfc 0,0,0,1,0,0,0,0"},
       .note = "The link goes down and comes back when the mask changes: do it before jobs run."},
      {.platform = "mlx5-inbox",
       .commands = {"dcb pfc set dev <netdev> prio-pfc all:off 3:on"},
       .note = "The link goes down and comes back when the mask changes: do it before jobs run."},
      {.platform = "bnxt",
       .commands = {"dcb dcbx set dev <netdev> host ieee",
                    "dcb pfc set dev <netdev> prio-pfc all:off 3:on"},
       .note = "Refused (EINVAL) while the firmware's LLDP agent owns DCB: turn it off first."},
      {.platform = "ice",
       .commands = {"ethtool --set-priv-flags <netdev> fw-lldp-agent off",
                    "dcb pfc set dev <netdev> prio-pfc all:off 3:on"}},
      {.platform = "ionic",
       .commands = {"nicctl update port --all --pause-type pfc --rx-pause enable --tx-pause enable",
                    "nicctl update qos pfc --priority 3 --no-drop enable"},
       .note = "The driver has no DCB netlink: nicctl is the only way."},
  };
}

Fixes watchdog_on_switches() {
  return {
      {.platform = "cumulus",
       .commands = {"nv set qos pfc-watchdog polling-interval 100",
                    "nv set qos pfc-watchdog robustness 2",
                    "nv set interface <port> qos pfc-watchdog state enabled", "nv config apply"},
       .note =
           "Detection takes polling-interval x robustness. Physical ports only; not on a bond."},
      {.platform = "eos",
       .commands = {"qos profile <profile>", "   priority-flow-control pause watchdog",
                    "   priority-flow-control pause watchdog port action drop",
                    ("   priority-flow-control pause watchdog port timer timeout 0.2 "
                     "polling-interval auto recovery-time 0.4")},
       .note = "The default action is errdisable, which takes the port down. The polling interval "
               "must not exceed half of the shorter of timeout and recovery time."},
      {.platform = "nxos",
       .commands = {"priority-flow-control watch-dog-interval on", "interface <port>",
                    "  priority-flow-control watch-dog-interval on"},
       .note = "Needed twice: globally and on each interface."},
      {.platform = "junos",
       .commands = {("set class-of-service congestion-notification-profile <profile> pfc-watchdog "
                     "poll-interval 100"),
                    ("set class-of-service congestion-notification-profile <profile> pfc-watchdog "
                     "detection 2"),
                    ("set class-of-service congestion-notification-profile <profile> pfc-watchdog "
                     "recovery 400"),
                    ("set class-of-service congestion-notification-profile <profile> pfc-watchdog "
                     "watchdog-action drop")}},
      {.platform = "sonic",
       .commands = {"pfcwd interval 200", ("config pfcwd start --action drop <ports> "
                                           "--detection-time 200 --restoration-time 200")},
       .note = "Detection must not be shorter than the polling interval. pfcwd_sw_enable must list "
               "the priority."},
  };
}

Fixes dscp_map_on_switches() {
  return {
      {.platform = "cumulus",
       .commands =
           {"nv set qos mapping default-global trust l3",
            ("nv set qos mapping default-global dscp 24,25,26,27,28,29,30,31 switch-priority 3"),
            "nv set qos mapping default-global dscp 48 switch-priority 6", "nv config apply"}},
      {.platform = "eos",
       .commands = {"qos map dscp 24 25 26 27 28 29 30 31 to traffic-class 3",
                    "qos map dscp 48 to traffic-class 6", "qos map traffic-class 3 to tx-queue 3",
                    "qos map traffic-class 6 to tx-queue 6", "qos profile <profile>",
                    "   qos trust dscp"},
       .note = "The default already sends 24-31 to class 3. Routed ports trust DSCP by default, "
               "switched ports trust CoS."},
      {.platform = "nxos",
       .commands = {"class-map type qos match-any ROCEv2", "  match dscp 24", "  match dscp 26",
                    "class-map type qos match-any CNP", "  match dscp 48",
                    "policy-map type qos <policy>", "  class ROCEv2", "    set qos-group 3",
                    "  class CNP", "    set qos-group 7", "interface <port>",
                    "  service-policy type qos input <policy>"},
       .note = "qos-group N, c-8q-nqN, pfc-cos and c-out-8q-qN must name the same number; CNPs "
               "usually go to 7 here, with priority level 1."},
      {.platform = "junos",
       .commands = {"set class-of-service classifiers dscp <classifier> import default",
                    ("set class-of-service classifiers dscp <classifier> forwarding-class NO-LOSS "
                     "loss-priority low code-points 011010"),
                    ("set class-of-service classifiers dscp <classifier> forwarding-class CNP "
                     "loss-priority low code-points 110000"),
                    "set class-of-service interfaces <port> unit 0 classifiers dscp <classifier>"},
       .note = "Code points are six binary digits: 011010 is 26, 011000 is 24, 110000 is 48. Every "
               "class needs its queue under forwarding-classes."},
      {.platform = "sonic",
       .commands =
           {"\"DSCP_TO_TC_MAP\": {\"<map>\": {\"24\": \"3\", \"26\": \"3\", \"48\": \"6\"}}",
            "\"PORT_QOS_MAP\": {\"<port>\": {\"dscp_to_tc_map\": \"<map>\"}}"},
       .note = "In CONFIG_DB. The stock map AZURE sends DSCP 26 to class 1, which is lossy; only 3 "
               "and 4 are lossless there."},
  };
}

Fixes dscp_map_on_nics() {
  return {
      {.platform = "mlx5-ofed",
       .commands = {"mlnx_qos -i <netdev> --trust dscp",
                    "mlnx_qos -i <netdev> --dscp2prio set,26,3",
                    "mlnx_qos -i <netdev> --dscp2prio set,48,6"},
       .note = "Separate calls, in this order: --trust writes all 64 code points (DSCP / 8), "
               "--dscp2prio alters one. Deleting the last entry silently turns trust back to PCP."},
      {.platform = "mlx5-inbox",
       .commands =
           {"for d in $(seq 0 63); do dcb app replace dev <netdev> dscp-prio $d:$((d / 8)); done"},
       .note =
           "On mlx5 the first DSCP entry switches trust to DSCP; code points without an entry keep "
           "what the firmware last had, so write all 64: this sends 24-31 to 3 and 48-55 to 6."},
      {.platform = "bnxt",
       .commands = {"dcb dcbx set dev <netdev> host ieee",
                    "dcb app replace dev <netdev> dscp-prio 26:3 48:6"}},
      {.platform = "ice",
       .commands = {"ethtool --set-priv-flags <netdev> fw-lldp-agent off",
                    "dcb app replace dev <netdev> dscp-prio 26:3 48:6"}},
      {.platform = "ionic",
       .commands = {"nicctl update qos --classification-type dscp",
                    "nicctl update qos dscp-to-priority --dscp 26 --priority 3",
                    "nicctl update qos dscp-to-priority --dscp 48 --priority 6"},
       .note = "The driver has no DCB netlink: nicctl is the only way."},
  };
}

Fixes cnp_class_on_nics() {
  return {
      {.platform = "mlx5-ofed",
       .commands = {"echo 48 > /sys/class/net/<netdev>/ecn/roce_np/cnp_dscp",
                    "echo 6 > /sys/class/net/<netdev>/ecn/roce_np/cnp_802p_prio"}},
      {.platform = "mlx5-inbox",
       .commands = {"echo 48 > /sys/kernel/debug/mlx5/<bdf>/cc_params/np_cnp_dscp",
                    "echo 6 > /sys/kernel/debug/mlx5/<bdf>/cc_params/np_cnp_prio"}},
  };
}

Fixes dcqcn_on_other_nics() {
  return {
      {.platform = "mlx5-inbox",
       .commands = {"mstconfig -y -d <bdf> s ROCE_CC_PRIO_MASK_P1=255"},
       .note = "The kernel's driver has no switch at run time; this one takes effect at the next "
               "firmware reset."},
      {.platform = "bnxt",
       .commands = {"echo 1 > /sys/kernel/debug/bnxt_re/<bdf>/cc_config/enable_cc"}},
      {.platform = "ice",
       .commands = {"echo 1 > /sys/kernel/config/irdma/<device>/roce_dcqcn_enable"},
       .note = "Intel's out-of-tree irdma."},
      {.platform = "ionic", .commands = {"nicctl show dcqcn"}},
  };
}

Fixes mtu_on_switches() {
  return {
      {.platform = "cumulus",
       .commands = {"nv set interface <port> link mtu 9216", "nv config apply"}},
      {.platform = "eos",
       .commands = {"interface <port>", "   mtu 9214"},
       .note = "9214 is the most that most boxes take; it matches 9216 elsewhere."},
      {.platform = "nxos",
       .commands = {"interface <port>", "  mtu 9216", "policy-map type network-qos <policy>",
                    "  class type network-qos c-8q-nq3", "    mtu 9216",
                    "  class type network-qos c-8q-nq-default", "    mtu 9216"},
       .note = "Both places, and in every class of the network-qos policy."},
      {.platform = "junos",
       .commands = {"set interfaces <port> mtu 9216"},
       .note = "Counts the Ethernet header; the family inet MTU is lower."},
      {.platform = "sonic",
       .commands = {"\"PORT\": {\"<port>\": {\"mtu\": \"9216\"}}"},
       .note = "In CONFIG_DB; 9216 is the most it takes."},
  };
}

Fixes marking_in_jobs() {
  return {
      {.platform = "nccl",
       .commands = {"export NCCL_IB_TC=106", "export UCX_IB_TRAFFIC_CLASS=106",
                    "ib_write_bw --tclass=106 -d <device> -x <gid index> <peer>"},
       .note = "The byte is DSCP x 4 plus the ECN bits. Set it on both ends of every connection."},
      {.platform = "mlx5-ofed",
       .commands = {"cma_roce_tos -d <device> -p 1 -t 106",
                    "echo 106 > /sys/class/infiniband/<device>/tc/1/traffic_class"},
       .note = "The second line overrides what applications ask for, NCCL_IB_TC included; the "
               "first is only a default of RDMA-CM connections."},
      {.platform = "host",
       .commands = {"mkdir -p /sys/kernel/config/rdma_cm/<device>",
                    "echo 106 > /sys/kernel/config/rdma_cm/<device>/ports/1/default_roce_tos"},
       .note = "For RDMA-CM connections only, on every driver. NCCL and perftest without -R ignore "
               "it."},
  };
}

CatalogFix mtu_on_hosts() {
  return {.platform = "host",
          .commands = {"ip link set dev <netdev> mtu 9000", "weir probe mtu <peer>"},
          .note = "Bond, VLAN and bridge above the NIC need it too."};
}

}  // namespace weir::finding
