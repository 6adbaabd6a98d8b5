// Names every driver has, because the kernel gives them: the InfiniBand specification's `counters/`
// (ib_core sysfs; the directory exists only where the driver answers performance queries), the link
// statistics of a network device, the carrier counts, DCB's PFC counts, and the host around the
// NIC.
//
// Widths are the specification's PortCounters fields: they stick at their maximum. Data counts in
// 4-byte words.
#include "counters/tables.h"

namespace weir::counters {
namespace common_table {

constexpr std::string_view kNeedsPma =
    "where the driver answers performance queries (mlx5, recent bnxt_re)";

constexpr RawName ib(std::string_view name, std::string_view id, std::uint8_t bits) {
  return {.driver = Driver::kAny,
          .place = Place::kCounters,
          .pattern = name,
          .id = id,
          .bits = bits,
          .overflow = bits < 64 ? Overflow::kSaturates : Overflow::kWraps,
          .note = kNeedsPma};
}

constexpr RawName ib_data(std::string_view name, std::string_view id) {
  RawName raw = ib(name, id, 64);
  raw.scale = 4;
  raw.unit = Unit::kWords;
  raw.note = "multiply by 4 for bytes; where the driver answers performance queries";
  return raw;
}

constexpr RawName kernel(Place place, std::string_view name, std::string_view id,
                         std::string_view note = {}) {
  return {.driver = Driver::kAny, .place = place, .pattern = name, .id = id, .note = note};
}

constexpr RawName link(std::string_view name, std::string_view id) {
  return kernel(Place::kStatistics, name, id);
}

constexpr RawName kNames[] = {
    ib("symbol_error", "nic.ibspec.symbol_error.events", 16),
    ib("link_error_recovery", "nic.ibspec.link_error_recovery.events", 8),
    ib("link_downed", "nic.ibspec.link_downed.events", 8),
    ib("port_rcv_errors", "nic.ibspec.rcv_error.packets", 16),
    ib("port_rcv_remote_physical_errors", "nic.ibspec.rcv_remote_physical_error.packets", 16),
    ib("port_rcv_switch_relay_errors", "nic.ibspec.rcv_switch_relay_error.packets", 16),
    ib("port_xmit_discards", "nic.ibspec.xmit_discard.packets", 16),
    ib("port_xmit_constraint_errors", "nic.ibspec.xmit_constraint_error.packets", 8),
    ib("port_rcv_constraint_errors", "nic.ibspec.rcv_constraint_error.packets", 8),
    ib("local_link_integrity_errors", "nic.ibspec.link_integrity_error.events", 4),
    ib("excessive_buffer_overrun_errors", "nic.ibspec.buffer_overrun.events", 4),
    ib("VL15_dropped", "nic.ibspec.vl15_dropped.packets", 16),
    ib("port_xmit_wait", "nic.ibspec.xmit_wait.ticks", 32),
    ib_data("port_xmit_data", "nic.rdma.tx.bytes"),
    ib_data("port_rcv_data", "nic.rdma.rx.bytes"),
    ib("port_xmit_packets", "nic.rdma.tx.packets", 64),
    ib("port_rcv_packets", "nic.rdma.rx.packets", 64),
    ib("unicast_xmit_packets", "nic.rdma.tx_unicast.packets", 64),
    ib("unicast_rcv_packets", "nic.rdma.rx_unicast.packets", 64),
    ib("multicast_xmit_packets", "nic.rdma.tx_multicast.packets", 64),
    ib("multicast_rcv_packets", "nic.rdma.rx_multicast.packets", 64),

    kernel(Place::kHwCounters, "lifespan", "nic.counters.lifespan.milliseconds",
           "writable, 0 to 10000"),

    link("rx_bytes", "nic.netdev.rx.bytes"),
    link("tx_bytes", "nic.netdev.tx.bytes"),
    link("rx_packets", "nic.netdev.rx.packets"),
    link("tx_packets", "nic.netdev.tx.packets"),
    link("rx_errors", "nic.netdev.rx_error.packets"),
    link("tx_errors", "nic.netdev.tx_error.packets"),
    link("rx_dropped", "nic.netdev.rx_dropped.packets"),
    link("tx_dropped", "nic.netdev.tx_dropped.packets"),
    link("rx_crc_errors", "nic.netdev.rx_crc_error.packets"),
    link("rx_frame_errors", "nic.netdev.rx_frame_error.packets"),
    link("rx_length_errors", "nic.netdev.rx_length_error.packets"),
    link("rx_over_errors", "nic.netdev.rx_overrun.packets"),
    link("rx_fifo_errors", "nic.netdev.rx_fifo_error.packets"),
    link("rx_missed_errors", "nic.netdev.rx_missed.packets"),
    link("rx_nohandler", "nic.netdev.rx_no_handler.packets"),
    link("multicast", "nic.netdev.rx_multicast.packets"),
    link("rx_compressed", "nic.netdev.rx_compressed.packets"),
    link("tx_compressed", "nic.netdev.tx_compressed.packets"),
    link("collisions", "nic.netdev.collisions.events"),
    link("tx_aborted_errors", "nic.netdev.tx_aborted.packets"),
    link("tx_carrier_errors", "nic.netdev.tx_carrier_error.packets"),
    link("tx_fifo_errors", "nic.netdev.tx_fifo_error.packets"),
    link("tx_heartbeat_errors", "nic.netdev.tx_heartbeat_error.packets"),
    link("tx_window_errors", "nic.netdev.tx_window_error.packets"),

    kernel(Place::kNet, "carrier_changes", "nic.link.carrier_change.events"),
    kernel(Place::kNet, "carrier_up_count", "nic.link.carrier_up.events"),
    kernel(Place::kNet, "carrier_down_count", "nic.link.carrier_down.events"),

    kernel(Place::kDcb, "requests_#", "nic.prio.pause_tx.frames",
           "mlx5 fills it from cached statistics: prefer `ethtool -S` for rates"),
    kernel(Place::kDcb, "indications_#", "nic.prio.pause_rx.frames",
           "mlx5 fills it from cached statistics: prefer `ethtool -S` for rates"),

    kernel(Place::kHost, "cpu_busy", "host.cpu.busy.percent", "from /proc/stat"),
    kernel(Place::kHost, "cpu_all_ticks", "host.cpu.all.ticks", "from /proc/stat"),
    kernel(Place::kHost, "cpu_busy_ticks", "host.cpu.busy.ticks", "from /proc/stat"),
    kernel(Place::kHost, "cpu_softirq_ticks", "host.cpu.softirq.ticks", "from /proc/stat"),
    kernel(Place::kHost, "gpu_busy", "host.gpu.busy.percent", "as `nvidia-smi dmon` shows it"),
    kernel(Place::kHost, "TcpRetransSegs", "host.tcp.retransmit.packets", "from /proc/net/snmp"),
    kernel(Place::kHost, "IpExtInCEPkts", "host.ip.ce_received.packets", "from /proc/net/netstat"),
};

}  // namespace common_table

std::span<const RawName> common_names() {
  return common_table::kNames;
}

}  // namespace weir::counters
