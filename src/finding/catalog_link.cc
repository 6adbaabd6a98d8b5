#include "finding/catalog_parts.h"
#include "finding/catalog_sources.h"

namespace weir::finding {
namespace {

constexpr std::string_view kSwapParts =
    "Clean and reseat first, then swap the cable, then the optic, then the port: the counter "
    "follows "
    "the part that is bad.";

CatalogEntry link_physical_errors() {
  return {
      .id = "link.physical_errors",
      .title = "bit errors: bad cable, optic or port",
      .severity = Severity::kError,
      .rows = {"C4", "I18"},
      .phase = "verify",
      .why =
          "Frames arrive damaged and are dropped before classification: no PFC, no ECN and no "
          "headroom helps, and go-back-N multiplies the cost. Count the Ethernet side: "
          "rx_crc_errors_phy, rx_symbol_err_phy, rx_pcs_symbol_err_phy and errors after FEC; a "
          "rising rate of corrected bits comes first. symbol_error and link_error_recovery of the "
          "InfiniBand tree stay at zero on Ethernet whatever happens.",
      .fix = {{.platform = "host",
               .commands = {"ethtool -S <netdev> | grep -E '_phy|fec'",
                            "ethtool --show-fec <netdev>", "ethtool -m <netdev>"},
               .note = kSwapParts},
              {.platform = "mlx5-ofed",
               .commands = {"mlxlink -d <bdf> -m -c"},
               .note = "Shows raw and effective bit error rates and a recommendation. An effective "
                       "BER of 15E-255 means none seen."},
              {.platform = "mlx5-inbox", .commands = {"mstlink -d <bdf> -m -c"}},
              {.platform = "sonic",
               .commands = {"show interfaces counters errors", "show interfaces counters fec-stats",
                            "show interfaces transceiver eeprom --dom <port>"},
               .note = kSwapParts},
              {.platform = "cumulus",
               .commands = {"nv show interface <port> counters", "nv show interface <port> link",
                            "ethtool -m <port>"},
               .note = kSwapParts},
              {.platform = "eos",
               .commands = {"show interfaces <port> counters errors",
                            "show interfaces <port> phy detail",
                            "show interfaces <port> transceiver detail"},
               .note = kSwapParts},
              {.platform = "nxos",
               .commands = {"show interface <port> counters errors",
                            "show interface <port> transceiver details"},
               .note = kSwapParts},
              {.platform = "junos",
               .commands = {"show interfaces <port> extensive",
                            "show interfaces diagnostics optics <port>"},
               .note = kSwapParts}},
      .sources = {cite::kMlx5Counters, "Mellanox/mstflint, mlxlink", cite::kIbSysfs,
                  "sonic-net/sonic-utilities, command reference"},
  };
}

CatalogEntry cable_too_long() {
  return {
      .id = "cable.too_long",
      .title = "cable longer than its kind carries the signal",
      .severity = Severity::kError,
      .rows = {"A2"},
      .phase = "lint",
      .why =
          "How far copper carries a lane depends on its rate: 5 m at 25G, 3 m at 50G, 2 m at 100G "
          "(split 800G cables to 3 m). Active copper ends at 5 to 7 m, active optical cables at "
          "100 m. Beyond that the link stays down or corrects so many bits that frames are lost. "
          "A wrong kind of cable in the design also gives a wrong delay.",
      .fix = {{.platform = "design", .commands = {"cable: aoc"}, .note = "Or the true length."}},
      .sources = {"IEEE 802.3by, 802.3cd, 802.3ck: copper reach",
                  "NVIDIA LinkX cables: 2x400G DAC to 2 m, 800G splitters to 3 m"},
  };
}

CatalogEntry fec_wrong() {
  return {
      .id = "fec.wrong",
      .title = "error correction that the lanes cannot do without",
      .severity = Severity::kError,
      .rows = {"A2"},
      .phase = "lint",
      .why =
          "Lanes of 50G and more are PAM4 and have bit errors at any length: without RS-FEC the "
          "link stays down. 100G over four lanes of 25G needs RS-FEC on copper and short optics. "
          "Both ends must use the same, or the link stays down.",
      .fix = {{.platform = "design", .commands = {"fec: rs"}},
              {.platform = "host", .commands = {"ethtool --set-fec <netdev> encoding rs"}}},
      .sources = {"IEEE 802.3cd, 802.3ck", "Cumulus Linux 5.19, switch port attributes: FEC"},
  };
}

CatalogEntry link_flapping() {
  return {
      .id = "link.flapping",
      .title = "link flaps: it goes down and comes back",
      .severity = Severity::kError,
      .aliases = {"phy.link_downed_delta", "phy.link_stability", "diagnose.error12_origin",
                  "LINK_FLAP"},
      .rows = {"C4", "I18"},
      .phase = "validate",
      .why =
          "Each flap takes away the GIDs, moves ECMP paths and times out every connection over the "
          "link: the peers report status 12 (retries exceeded) minutes later and look like the "
          "cause. The host with the port event is the cause, the hosts with status 12 are the "
          "victims. A single reading of 'up' proves nothing: watch it for 30 seconds, and compare "
          "carrier_changes and link_down_events_phy.",
      .fix = {{.platform = "host",
               .commands = {"cat /sys/class/net/<netdev>/carrier_changes",
                            "ethtool -S <netdev> | grep link_down_events_phy",
                            "journalctl -k | grep -i 'link down'"},
               .note =
                   "A change of the PFC mask flaps an mlx5 link once, on purpose, and a restart "
                   "of the host or its driver up to three times within minutes; what goes on "
                   "is a cable, an optic, FEC or autonegotiation."},
              {.platform = "mlx5-ofed", .commands = {"mlxlink -d <bdf> -m -c"}}},
      .sources = {cite::kMlx5Counters, cite::kIbTransport,
                  "Lightning-AI/lit-llama issue 380: port down on one node, peers time out",
                  cite::kMlx5Dcb},
  };
}

CatalogEntry link_degraded() {
  return {
      .id = "link.degraded",
      .title = "link down, or below its expected speed, width or FEC",
      .severity = Severity::kError,
      .rows = {"C4"},
      .phase = "validate",
      .why =
          "A link that came up at 200G instead of 400G makes its rail the slowest, and a "
          "synchronous collective runs at that speed on all of them. FEC that differs between the "
          "ends brings the link up with errors or not at all. Half duplex cannot occur at these "
          "speeds, so a report of it means a wrong reading.",
      .fix = {{.platform = "host",
               .commands = {"ethtool <netdev>", "ethtool --show-fec <netdev>",
                            "cat /sys/class/net/<netdev>/speed"},
               .note = "Compare both ends: speed, lanes, autonegotiation, FEC."},
              {.platform = "mlx5-ofed", .commands = {"mlxlink -d <bdf> -m -c"}},
              {.platform = "sonic",
               .commands = {"\"PORT\": {\"<port>\": {\"speed\": \"400000\", \"fec\": \"rs\"}}"},
               .note = "In CONFIG_DB."}},
      .sources = {"ethtool(8)", "Mellanox/mstflint, mlxlink", cite::kSonicYang},
  };
}

CatalogEntry port_discards() {
  return {
      .id = "port.discards",
      .title = "port drops packets",
      .severity = Severity::kError,
      .rows = {"D3", "I29"},
      .phase = "verify",
      .why =
          "Something is dropped at this very port: rx_discards_phy and rx_prioN_buf_discard mean "
          "the NIC's receive buffer was full (headroom of the NIC, or a host too slow), no-buffer "
          "discards of the switch mean its headroom was used up. On Ethernet port_xmit_discards "
          "and port_rcv_errors of the InfiniBand tree are not fed by the port and stay at zero. "
          "Rings of the network interface carry no RDMA, so a larger ring helps TCP only.",
      .fix = {{.platform = "host",
               .commands = {"ethtool -S <netdev> | grep -E 'discard|out_of_buffer'",
                            "weir explain headroom.too_small", "weir explain receiver.slow"},
               .note = "Discards on the RDMA priority: headroom. Discards on priority 0: traffic "
                       "in the wrong class, or ordinary congestion."},
              {.platform = "cumulus",
               .commands = {"nv show interface <port> qos roce counters"},
               .note = "no-buffer-discard on the receive side is headroom."},
              {.platform = "nxos",
               .commands = {"show queuing interface <port>"},
               .note = "Ingress Overflow Drop is headroom."},
              {.platform = "junos",
               .commands = {"show interfaces <port> extensive"},
               .note = "Resource errors on input are headroom."},
              {.platform = "sonic", .commands = {"show priority-group drop counters"}}},
      .sources = {cite::kMlx5Counters, cite::kIbSysfs, cite::kNvue, cite::kNxos},
  };
}

CatalogEntry link_infiniband() {
  return {
      .id = "link.infiniband",
      .title = "RoCE settings on an InfiniBand port",
      .severity = Severity::kWarning,
      .aliases = {"env.link_layer_matches", "KNOB_WRONG_LINK_LAYER"},
      .rows = {"C9", "E2"},
      .phase = "job",
      .why =
          "InfiniBand is lossless by credits: PFC, ECN thresholds, DSCP, trust and GID index mean "
          "nothing there, and NCCL_IB_TC or NCCL_IB_GID_INDEX copied from a RoCE cluster can only "
          "do harm. What counts instead is the service level, adaptive routing and SHARP, and "
          "those are the subnet manager's.",
      .fix = {{.platform = "host",
               .commands = {"cat /sys/class/infiniband/<device>/ports/1/link_layer"},
               .note = "Ethernet means RoCE. A ConnectX that should be Ethernet and says "
                       "InfiniBand: LINK_TYPE_P1."},
              {.platform = "mlx5-ofed",
               .commands = {"mlxconfig -y -d <bdf> s LINK_TYPE_P1=2"},
               .note = "2 is Ethernet, 1 is InfiniBand; takes effect after a reset."},
              {.platform = "nccl",
               .commands = {"unset NCCL_IB_TC NCCL_IB_GID_INDEX", "export NCCL_IB_SL=<level>"},
               .note = "On InfiniBand."}},
      .sources =
          {"InfiniBand Architecture Specification, volume 1: link-level credits, service levels",
           cite::kNcclEnv},
  };
}

}  // namespace

std::vector<CatalogEntry> link_entries() {
  return {link_physical_errors(), cable_too_long(), fec_wrong(),      link_flapping(),
          link_degraded(),        port_discards(),  link_infiniband()};
}

}  // namespace weir::finding
