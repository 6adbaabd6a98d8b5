// Switch ports: names of our own (place `switch`, as in "switch/prio3.pause_rx.frames"), and what
// five switch systems print for the same thing (place `show`), from their documentation and from
// captured show outputs.
#include "counters/tables.h"

namespace weir::counters {
namespace switch_table {

constexpr RawName ours(std::string_view name, std::string_view id) {
  return {.driver = Driver::kSwitch, .place = Place::kSwitch, .pattern = name, .id = id};
}

constexpr RawName show(Driver driver, std::string_view name, std::string_view id,
                       std::string_view command) {
  return {.driver = driver,
          .place = Place::kShow,
          .pattern = name,
          .id = id,
          .trust = Trust::kDocumented,
          .note = command};
}

constexpr std::string_view kRoce = "`nv show interface <port> qos roce counters`";
constexpr std::string_view kEosPfc = "`show priority-flow-control counters`";
constexpr std::string_view kNxPfc = "`show interface priority-flow-control`";
constexpr std::string_view kNxQueue = "`show queuing interface <port>`";
constexpr std::string_view kSonicPfc = "`show pfc counters`";

constexpr RawName kNames[] = {
    ours("port.rx.bytes", "switch.port.rx.bytes"),
    ours("port.tx.bytes", "switch.port.tx.bytes"),
    ours("port.rx.packets", "switch.port.rx.packets"),
    ours("port.tx.packets", "switch.port.tx.packets"),
    ours("port.rx.utilisation.percent", "switch.port.rx.utilisation.percent"),
    ours("port.tx.utilisation.percent", "switch.port.tx.utilisation.percent"),
    ours("port.cnp_tx.packets", "switch.port.cnp_tx.packets"),
    ours("port.cnp_tx.bytes", "switch.port.cnp_tx.bytes"),
    ours("port.drop.packets", "switch.port.drop.packets"),
    ours("port.drop_mtu.packets", "switch.port.drop_mtu.packets"),
    ours("port.drop_ttl.packets", "switch.port.drop_ttl.packets"),
    ours("port.drop_no_route.packets", "switch.port.drop_no_route.packets"),
    ours("port.drop_link_down.packets", "switch.port.drop_link_down.packets"),
    ours("port.drop_policer.packets", "switch.port.drop_policer.packets"),
    ours("port.crc_error.packets", "switch.port.crc_error.packets"),
    ours("port.rx_error.packets", "switch.port.rx_error.packets"),
    ours("port.link_down.events", "switch.port.link_down.events"),
    ours("port.pause_rx.frames", "switch.port.pause_rx.frames"),
    ours("port.pause_tx.frames", "switch.port.pause_tx.frames"),
    ours("prio#.rx.bytes", "switch.prio.rx.bytes"),
    ours("prio#.rx.packets", "switch.prio.rx.packets"),
    ours("prio#.pause_rx.frames", "switch.prio.pause_rx.frames"),
    ours("prio#.pause_tx.frames", "switch.prio.pause_tx.frames"),
    ours("prio#.pause_rx.microseconds", "switch.prio.pause_rx.microseconds"),
    ours("prio#.pause_tx.microseconds", "switch.prio.pause_tx.microseconds"),
    ours("prio#.pause_rx.transitions.events", "switch.prio.pause_rx.transitions.events"),
    ours("queue#.tx.bytes", "switch.queue.tx.bytes"),
    ours("queue#.tx.packets", "switch.queue.tx.packets"),
    ours("queue#.ecn_marked.packets", "switch.queue.ecn_marked.packets"),
    ours("queue#.ecn_marked.bytes", "switch.queue.ecn_marked.bytes"),
    ours("queue#.depth.bytes", "switch.queue.depth.bytes"),
    ours("queue#.depth_max.bytes", "switch.queue.depth_max.bytes"),
    ours("queue#.drop_tail.packets", "switch.queue.drop_tail.packets"),
    ours("queue#.drop_wred.packets", "switch.queue.drop_wred.packets"),
    ours("queue#.drop_watchdog.packets", "switch.queue.drop_watchdog.packets"),
    ours("queue#.watchdog_storm.events", "switch.queue.watchdog_storm.events"),
    ours("queue#.watchdog_restored.events", "switch.queue.watchdog_restored.events"),
    ours("pg#.occupancy.bytes", "switch.pg.occupancy.bytes"),
    ours("pg#.occupancy_max.bytes", "switch.pg.occupancy_max.bytes"),
    ours("pg#.headroom.bytes", "switch.pg.headroom.bytes"),
    ours("pg#.headroom_max.bytes", "switch.pg.headroom_max.bytes"),
    ours("pg#.drop_headroom.packets", "switch.pg.drop_headroom.packets"),
    ours("pg#.drop_admission.packets", "switch.pg.drop_admission.packets"),
    ours("pool.occupancy.bytes", "switch.pool.occupancy.bytes"),
    ours("pool.occupancy_max.bytes", "switch.pool.occupancy_max.bytes"),
    ours("pool.headroom_max.bytes", "switch.pool.headroom_max.bytes"),

    show(Driver::kCumulus, "rx-pfc-stats.pause-packets", "switch.prio.pause_rx.frames", kRoce),
    show(Driver::kCumulus, "rx-pfc-stats.pause-duration", "switch.prio.pause_rx.microseconds",
         kRoce),
    show(Driver::kCumulus, "tx-pfc-stats.pause-packets", "switch.prio.pause_tx.frames", kRoce),
    show(Driver::kCumulus, "tx-pfc-stats.pause-duration", "switch.prio.pause_tx.microseconds",
         kRoce),
    show(Driver::kCumulus, "rx-roce-stats.no-buffer-discard", "switch.pg.drop_headroom.packets",
         kRoce),
    show(Driver::kCumulus, "rx-roce-stats.pg-usage", "switch.pg.occupancy.bytes", kRoce),
    show(Driver::kCumulus, "rx-roce-stats.pg-max-usage", "switch.pg.occupancy_max.bytes", kRoce),
    show(Driver::kCumulus, "rx-roce-stats.buffer-usage", "switch.pool.occupancy.bytes", kRoce),
    show(Driver::kCumulus, "rx-roce-stats.buffer-max-usage", "switch.pool.occupancy_max.bytes",
         kRoce),
    show(Driver::kCumulus, "rx-roce-stats.roce-bytes", "switch.prio.rx.bytes", kRoce),
    show(Driver::kCumulus, "rx-roce-stats.roce-packets", "switch.prio.rx.packets", kRoce),
    show(Driver::kCumulus, "tx-cnp-stats.cnp-packets", "switch.port.cnp_tx.packets", kRoce),
    show(Driver::kCumulus, "tx-cnp-stats.cnp-bytes", "switch.port.cnp_tx.bytes", kRoce),
    show(Driver::kCumulus, "tx-ecn-stats.ecn-marked-packets", "switch.queue.ecn_marked.packets",
         kRoce),
    show(Driver::kCumulus, "tx-roce-stats.roce-packets", "switch.queue.tx.packets", kRoce),
    show(Driver::kCumulus, "tx-roce-stats.tc-max-usage", "switch.queue.depth_max.bytes", kRoce),
    show(Driver::kCumulus, "tx-roce-stats.unicast-no-buffer-discard",
         "switch.queue.drop_tail.packets", kRoce),
    show(Driver::kCumulus, "deadlock-count", "switch.queue.watchdog_storm.events",
         "`nv show interface <port> qos pfc-watchdog`"),
    show(Driver::kEos, "RxPfc", "switch.prio.pause_rx.frames", kEosPfc),
    show(Driver::kEos, "TxPfc", "switch.prio.pause_tx.frames", kEosPfc),
    show(Driver::kEos, "stuckCount", "switch.queue.watchdog_storm.events",
         "`show priority-flow-control counters watchdog | json`; a missing key means zero"),
    show(Driver::kEos, "recoveryCount", "switch.queue.watchdog_restored.events",
         "`show priority-flow-control counters watchdog | json`; a missing key means zero"),
    show(Driver::kNxos, "RxPPP", "switch.prio.pause_rx.frames", kNxPfc),
    show(Driver::kNxos, "TxPPP", "switch.prio.pause_tx.frames", kNxPfc),
    show(Driver::kNxos, "Ingress Overflow Drop Pkts", "switch.pg.drop_headroom.packets", kNxQueue),
    show(Driver::kNxos, "WRED/AFD & Tail Drop Pkts", "switch.queue.drop_tail.packets", kNxQueue),
    show(Driver::kNxos, "WD & Tail Drop Pkts", "switch.queue.drop_watchdog.packets", kNxQueue),
    show(Driver::kNxos, "Q Depth Byts", "switch.queue.depth.bytes", kNxQueue),
    show(Driver::kNxos, "Tx Pkts", "switch.queue.tx.packets", kNxQueue),
    show(Driver::kNxos, "Tx Byts", "switch.queue.tx.bytes", kNxQueue),
    show(Driver::kNxos, "tx_uc_ecn_pkt_qos_#", "switch.queue.ecn_marked.packets",
         "`show queuing tabular`"),
    show(Driver::kNxos, "Shutdown", "switch.queue.watchdog_storm.events",
         "`show queuing pfc-queue detail`"),
    show(Driver::kNxos, "Restored", "switch.queue.watchdog_restored.events",
         "`show queuing pfc-queue detail`"),
    show(Driver::kJunos, "MAC Priority Flow Control Statistics", "switch.prio.pause_rx.frames",
         "`show interfaces <port> extensive`: received, then sent"),
    show(Driver::kJunos, "Resource errors", "switch.pg.drop_headroom.packets",
         "`show interfaces <port> extensive`"),
    show(Driver::kJunos, "PG-Utilization Peak", "switch.pg.occupancy_max.bytes",
         "`show interfaces priority-group buffer-occupancy <port>`: since the previous reading"),
    show(Driver::kJunos, "Lossless Headroom Utilization Used", "switch.pool.headroom_max.bytes",
         "`show class-of-service shared-buffer`"),
    show(Driver::kSonic, "Port Rx PFC#", "switch.prio.pause_rx.frames", kSonicPfc),
    show(Driver::kSonic, "Port Tx PFC#", "switch.prio.pause_tx.frames", kSonicPfc),
    show(Driver::kSonic, "EcnMarked/pkts", "switch.queue.ecn_marked.packets",
         "`show queue wredcounters`"),
    show(Driver::kSonic, "EcnMarked/bytes", "switch.queue.ecn_marked.bytes",
         "`show queue wredcounters`"),
    show(Driver::kSonic, "WredDrp/pkts", "switch.queue.drop_wred.packets",
         "`show queue wredcounters`"),
    show(Driver::kSonic, "Ingress headroom per PG#", "switch.pg.headroom_max.bytes",
         "`show priority-group watermark headroom`"),
    show(Driver::kSonic, "Ingress PG dropped packets PG#", "switch.pg.drop_headroom.packets",
         "`show priority-group drop counters`"),
    show(Driver::kSonic, "STORM DETECTED", "switch.queue.watchdog_storm.events",
         "`show pfcwd stats`"),
    show(Driver::kSonic, "STORM RESTORED", "switch.queue.watchdog_restored.events",
         "`show pfcwd stats`"),
};

}  // namespace switch_table

std::span<const RawName> switch_names() {
  return switch_table::kNames;
}

}  // namespace weir::counters
