// What a switch port's counters mean, under names of our own: the simulator shows them, and readers
// translate each system's show output into them.
//
// Scopes: `port` the whole port, `prio` a PFC priority on the wire, `queue` an egress queue, `pg`
// an ingress priority group (where headroom is accounted), `pool` a shared buffer pool. Every drop
// has a reason, because the remedy depends on it.
#include "counters/tables.h"

namespace weir::counters {
namespace switch_meaning_table {

constexpr Counter traffic(std::string_view id, Per per, std::string_view meaning) {
  return {.id = id,
          .topic = Topic::kTraffic,
          .side = Side::kSwitchSide,
          .per = per,
          .meaning = meaning,
          .normal = "Follows the workload; alike on the uplinks of one switch.",
          .climbing = "Traffic flows. Uplinks far apart from each other: hash polarisation.",
          .rows = "I4 I7"};
}

constexpr Counter drop(std::string_view id, Per per, std::string_view meaning,
                       std::string_view climbing, std::string_view rows) {
  return {.id = id,
          .topic = Topic::kLoss,
          .side = Side::kSwitchSide,
          .per = per,
          .meaning = meaning,
          .normal = "Zero for a lossless class.",
          .climbing = climbing,
          .rows = rows};
}

constexpr Counter level(std::string_view id, Per per, std::string_view meaning,
                        std::string_view climbing) {
  return {.id = id,
          .kind = Kind::kGauge,
          .topic = Topic::kBuffer,
          .side = Side::kSwitchSide,
          .per = per,
          .meaning = meaning,
          .normal = "Far below its limit.",
          .climbing = climbing,
          .rows = "G5"};
}

constexpr Counter pause(std::string_view id, std::string_view meaning, std::string_view climbing) {
  return {.id = id,
          .topic = Topic::kPfc,
          .side = Side::kSwitchSide,
          .per = Per::kPriority,
          .meaning = meaning,
          .normal = "Low or zero; PFC is the safety net.",
          .climbing = climbing,
          .rows = "D4 I1 I7 I8 I22"};
}

constexpr Counter watchdog(std::string_view id, std::string_view meaning) {
  return {
      .id = id,
      .topic = Topic::kPfc,
      .side = Side::kSwitchSide,
      .per = Per::kQueue,
      .meaning = meaning,
      .normal = "Zero.",
      .climbing = "A PFC storm or deadlock: something downstream of this port pauses without end.",
      .rows = "I1 I5"};
}

constexpr Counter kMeanings[] = {
    traffic("switch.port.rx.bytes", Per::kNothing, "Bytes received by a port."),
    traffic("switch.port.tx.bytes", Per::kNothing, "Bytes sent by a port."),
    traffic("switch.port.rx.packets", Per::kNothing, "Packets received by a port."),
    traffic("switch.port.tx.packets", Per::kNothing, "Packets sent by a port."),
    traffic("switch.prio.rx.bytes", Per::kPriority, "Bytes received by a port on a priority."),
    traffic("switch.prio.rx.packets", Per::kPriority, "Packets received by a port on a priority."),
    traffic("switch.queue.tx.bytes", Per::kQueue, "Bytes sent by an egress queue."),
    traffic("switch.queue.tx.packets", Per::kQueue, "Packets sent by an egress queue."),
    traffic("switch.port.cnp_tx.packets", Per::kNothing, "CNPs sent by a port."),
    traffic("switch.port.cnp_tx.bytes", Per::kNothing, "Bytes of CNPs sent by a port."),

    {.id = "switch.port.pause_rx.frames",
     .topic = Topic::kPfc,
     .side = Side::kSwitchSide,
     .meaning =
         "PFC frames a port received on all priorities together, where no priority is shown.",
     .normal = "Low or zero; PFC is the safety net.",
     .climbing = "The peer is the bottleneck; ask the switch for the counts per priority.",
     .rows = "D4 I1"},
    {.id = "switch.port.pause_tx.frames",
     .topic = Topic::kPfc,
     .side = Side::kSwitchSide,
     .meaning = "PFC frames a port sent on all priorities together, where no priority is shown.",
     .normal = "Low or zero; PFC is the safety net.",
     .climbing = "The congestion is at an egress of this switch or beyond; ask the switch for the "
                 "counts per priority.",
     .rows = "D4 I1"},
    pause("switch.prio.pause_rx.frames",
          "PFC frames a port received: its peer asked the switch to stop sending.",
          "The peer (a host or the next switch) is the bottleneck; look further that way."),
    pause(
        "switch.prio.pause_tx.frames",
        "PFC frames a port sent: the switch asked its peer to stop sending.",
        "The switch's buffer for this port and priority is full: the congestion is at an egress of "
        "this switch or beyond."),
    pause("switch.prio.pause_rx.microseconds", "Time a port's sending was paused on a priority.",
          "Over 1 % of the window a warning, over 5 % an error."),
    pause("switch.prio.pause_tx.microseconds", "Time a port kept its peer paused on a priority.",
          "Over 1 % of the window a warning, over 5 % an error."),
    pause("switch.prio.pause_rx.transitions.events",
          "Changes from paused to running on a priority.",
          "Many short pauses rather than a few long."),

    {.id = "switch.queue.ecn_marked.packets",
     .topic = Topic::kCongestion,
     .side = Side::kSwitchSide,
     .per = Per::kQueue,
     .meaning = "Packets an egress queue marked CE because it was over its ECN threshold.",
     .normal = "Frequent under load: ECN should work long before PFC does.",
     .climbing =
         "Congestion at this queue. None while PFC fires: the thresholds are too high, or ECN "
         "is off.",
     .rows = "I2 I21 I22"},
    {.id = "switch.queue.ecn_marked.bytes",
     .topic = Topic::kCongestion,
     .side = Side::kSwitchSide,
     .per = Per::kQueue,
     .meaning = "Bytes of packets an egress queue marked CE.",
     .normal = "As for marked packets.",
     .climbing = "As for marked packets.",
     .rows = "I2 I21"},

    level("switch.queue.depth.bytes", Per::kQueue, "Bytes waiting in an egress queue now.",
          "Congestion at this port."),
    level("switch.queue.depth_max.bytes", Per::kQueue,
          "Most bytes an egress queue held since the mark was cleared.",
          "Near the ECN or drop threshold: bursts that an average does not show."),
    level("switch.pg.occupancy.bytes", Per::kGroup,
          "Bytes an ingress priority group holds now, shared buffer and headroom.",
          "At XOFF the port pauses its peer."),
    level("switch.pg.occupancy_max.bytes", Per::kGroup,
          "Most bytes an ingress priority group held since the mark was cleared.",
          "At XOFF the port pauses its peer."),
    level("switch.pg.headroom.bytes", Per::kGroup,
          "Headroom bytes an ingress priority group holds now.",
          "Headroom is in use: XOFF was crossed and data in flight is being absorbed."),
    level(
        "switch.pg.headroom_max.bytes", Per::kGroup,
        "Most headroom bytes an ingress priority group held since the mark was cleared.",
        "Near the headroom configured: the next burst is lost. Compare with the calculated need."),
    level("switch.pool.occupancy.bytes", Per::kNothing, "Bytes of the shared pool in use now.",
          "The whole switch is congested."),
    level("switch.pool.occupancy_max.bytes", Per::kNothing,
          "Most bytes of the shared pool in use since the mark was cleared.",
          "The whole switch was congested."),
    level("switch.pool.headroom_max.bytes", Per::kNothing,
          "Most bytes of the shared headroom pool in use since the mark was cleared.",
          "Near its size: many ports pause at once, and the pool is oversubscribed."),

    drop("switch.port.drop.packets", Per::kNothing, "Packets a port dropped, for any reason.",
         "Something is dropped; the counters of drops by reason say what.", "I3 I9 I29"),
    drop("switch.pg.drop_headroom.packets", Per::kGroup,
         "Packets of a lossless class lost because the headroom was used up.",
         "Headroom too small for the cable, the speed or the peer's reaction time.", "I3 I9"),
    drop("switch.pg.drop_admission.packets", Per::kGroup,
         "Packets refused at ingress because the group's share of the buffer was full.",
         "For a lossless class: it has no PFC here. For a lossy one: congestion.", "I9 I15"),
    drop("switch.queue.drop_tail.packets", Per::kQueue,
         "Packets dropped because an egress queue was full.",
         "For the RoCE queue: traffic in a lossy class, or PFC on the wrong priority.",
         "I9 I15 I23"),
    drop("switch.queue.drop_wred.packets", Per::kQueue,
         "Packets dropped by WRED instead of being marked: they were not ECN-capable.",
         "RoCE without ECT in its TOS byte, or other traffic in the RoCE queue.", "I2 I15"),
    drop("switch.queue.drop_watchdog.packets", Per::kQueue,
         "Packets dropped by the PFC watchdog while it broke a storm.",
         "A PFC storm or deadlock downstream of this port.", "I1 I5"),
    drop("switch.port.drop_mtu.packets", Per::kNothing, "Packets longer than the port's MTU.",
         "An MTU that differs along the path.", "C3 I16"),
    drop("switch.port.drop_ttl.packets", Per::kNothing, "Packets whose time to live ran out.",
         "A routing loop.", "I5"),
    drop("switch.port.drop_no_route.packets", Per::kNothing, "Packets without a route.",
         "Routing or addressing.", "I9"),
    drop("switch.port.drop_link_down.packets", Per::kNothing,
         "Packets lost because a link was down or went down with them on it.",
         "A flapping or failed link.", "I18"),
    drop("switch.port.drop_policer.packets", Per::kNothing, "Packets dropped by a policer.",
         "A limit on a port that carries RDMA.", "A2"),

    {.id = "switch.port.crc_error.packets",
     .topic = Topic::kPhy,
     .side = Side::kSwitchSide,
     .meaning = "Packets a port received with a bad checksum.",
     .normal = "Zero.",
     .climbing = "Optic, cable or port.",
     .rows = "C4 I18"},
    {.id = "switch.port.rx_error.packets",
     .topic = Topic::kPhy,
     .side = Side::kSwitchSide,
     .meaning = "Packets a port received with an error of any kind: a bad checksum, too short, too "
                "long (RX_ERR of SONiC).",
     .normal = "Zero.",
     .climbing = "Optic, cable or port; or frames above the MTU.",
     .rows = "C4 I18"},
    {.id = "switch.port.link_down.events",
     .topic = Topic::kPhy,
     .side = Side::kSwitchSide,
     .meaning = "Times a port's link went down.",
     .normal = "Unchanged during a run.",
     .climbing = "A flapping link.",
     .rows = "C4 I18"},

    {.id = "switch.port.rx.utilisation.percent",
     .kind = Kind::kGauge,
     .topic = Topic::kUtilisation,
     .side = Side::kSwitchSide,
     .meaning = "Share of the line in use towards the switch, as it printed it; rounded down.",
     .normal = "Follows the workload.",
     .climbing = "Near 100 for long: the link is the bottleneck.",
     .rows = "I4"},
    {.id = "switch.port.tx.utilisation.percent",
     .kind = Kind::kGauge,
     .topic = Topic::kUtilisation,
     .side = Side::kSwitchSide,
     .meaning = "Share of the line in use from the switch, as it printed it; rounded down.",
     .normal = "Follows the workload.",
     .climbing = "Near 100 for long: the link is the bottleneck.",
     .rows = "I4"},

    watchdog("switch.queue.watchdog_storm.events",
             "Times the PFC watchdog found an egress queue stuck."),
    watchdog("switch.queue.watchdog_restored.events",
             "Times the PFC watchdog released a queue again."),
};

}  // namespace switch_meaning_table

std::span<const Counter> switch_meanings() {
  return switch_meaning_table::kMeanings;
}

}  // namespace weir::counters
