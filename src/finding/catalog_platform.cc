#include "finding/catalog_parts.h"
#include "finding/catalog_sources.h"

namespace weir::finding {
namespace {

CatalogEntry nic_knob_does_not_exist() {
  return {
      .id = "nic_knob.does_not_exist",
      .title = "NIC parameter does not exist",
      .severity = Severity::kError,
      .rows = {"A2"},
      .phase = "lint",
      .why =
          "Kmin, Kmax and Pmax are marking thresholds: they live in the switch's WRED profile "
          "alone, and no NIC has them, whatever guides say about matching the two. A NIC has "
          "DCQCN's rates, timers and alpha. A design that sets a parameter which does not exist "
          "relies on a protection that does not exist.",
      .fix =
          {{.platform = "design",
            .commands = {"wred: { min: 100KB, max: 1.5MB, probability: 10%, at_speed: 400G }"},
            .note =
                "Thresholds go to wred; weir explain knobs lists the parameters that NICs have."},
           {.platform = "mlx5-ofed",
            .commands =
                {"ls /sys/class/net/<netdev>/ecn/roce_rp /sys/class/net/<netdev>/ecn/roce_np"}},
           {.platform = "mlx5-inbox", .commands = {"ls /sys/kernel/debug/mlx5/<bdf>/cc_params"}}},
      .sources = {cite::kNvidiaDcqcn, cite::kMlx5Cc, cite::kDcqcn},
  };
}

CatalogEntry nic_knob_bad_value() {
  return {
      .id = "nic_knob.bad_value",
      .title = "NIC parameter out of range",
      .severity = Severity::kError,
      .rows = {"A2", "B1"},
      .phase = "lint",
      .why =
          "Each parameter is a register with a unit and a range: rpg_byte_reset counts blocks of "
          "64 bytes in 15 bits, dce_tcp_g is a share of 1024, rates are whole Mb/s. A value "
          "outside is refused by the driver or cut off by the firmware, and what then runs is not "
          "what was designed.",
      .fix = {{.platform = "design",
               .commands = {"dcqcn: { <parameter>: <value with its unit> }"},
               .note = "The message names the range; weir explain <parameter> has the unit and the "
                       "default."}},
      .sources = {cite::kNvidiaDcqcn, cite::kMlx5Cc,
                  "Mellanox/mstflint, mlxconfig database: widths of the DCQCN fields"},
  };
}

CatalogEntry platform_cannot() {
  return {
      .id = "platform.cannot",
      .title = "platform does not support what the design asks for",
      .severity = Severity::kError,
      .aliases = {"design.platform_capability", "ECN_PLATFORM_LIMIT"},
      .rows = {"A2", "F1"},
      .phase = "lint",
      .why =
          "Systems differ: Junos sets ECN in percent of a queue and not in bytes, EOS and NX-OS "
          "carve no pools, NVUE has one lossless pool, NX-OS needs explicit headroom above 100 m, "
          "not every ASIC sprays. A renderer that silently drops such a line leaves a gap in the "
          "design. Either the design changes, or the nearest thing the platform can do is accepted "
          "by name.",
      .fix = {{.platform = "design",
               .commands = {"switches: { <group>: { system: <system>, asic: <asic> } }"},
               .note = "The message says what the platform offers instead; weir render marks every "
                       "place where it had to approximate."}},
      .sources = {cite::kJunos, cite::kNvue, cite::kNxos, cite::kEos},
  };
}

CatalogEntry config_not_applied() {
  return {
      .id = "config.not_applied",
      .title = "hardware does not run what was configured",
      .severity = Severity::kError,
      .aliases = {"pfc.readback_from_driver", "switch.queue_counters_match", "CONFIG_NOT_APPLIED",
                  "buffer.platform_bug", "BUFFER_PLATFORM_BUG"},
      .rows = {"C1", "C7"},
      .phase = "validate",
      .why =
          "A tool reports its own database: lldptool showed PFC set while the NIC was never "
          "programmed, and a switch's CONFIG_DB held the right map while the ASIC used another. "
          "Read the state back from the driver, and prove it with a packet: the queue whose "
          "counter moves must be the designed one. Switch software may size its buffers wrongly, "
          "on "
          "one model or with ports of mixed speed: a group that drops and never paused is not "
          "protected, whatever the configuration says.",
      .fix = {{.platform = "host",
               .commands = {"dcb pfc show dev <netdev>", "dcb app show dev <netdev>", "weir plan",
                            "weir apply"},
               .note = "dcb asks the driver. weir apply reads every item back."},
              {.platform = "cumulus", .commands = {"nv show interface <port> qos roce status"}},
              {.platform = "eos", .commands = {"show priority-flow-control", "show qos maps"}},
              {.platform = "nxos",
               .commands = {"show interface priority-flow-control"},
               .note = "VL bmap is hexadecimal: 8 is priority 3."},
              {.platform = "junos", .commands = {"show class-of-service congestion-notification"}},
              {.platform = "sonic",
               .commands = {"show queue wredcounters", "show buffer information"}}},
      .sources = {"intel/openlldp issue 34: PFC reported and never programmed",
                  "sonic-buildimage issue 27310: CONFIG_DB and ASIC disagree",
                  "sonic-buildimage issue 23727: 100G ports under a 400G profile", cite::kDcbTool},
  };
}

CatalogEntry config_differs() {
  return {
      .id = "config.differs",
      .title = "setting differs from the design",
      .severity = Severity::kError,
      .rows = {"C1", "C7"},
      .phase = "validate",
      .why =
          "What is configured and what was designed differ in one item: bandwidth shares, a map of "
          "priorities to traffic classes, thresholds, a probability. Vendors' defaults are the "
          "usual reason: Cumulus marks with 100 % and SONiC with 5 % where the design says 10. All "
          "host QoS state is lost with a driver reload or a reboot.",
      .fix = {{.platform = "host",
               .commands = {"weir plan", "weir apply"},
               .note = "plan shows what is and what will be; nothing is written before apply."},
              {.platform = "switch", .commands = {"weir render --node <switch>"}}},
      .sources = {cite::kNvue, cite::kSonicQos, cite::kMlx5Dcb},
  };
}

CatalogEntry ports_differ() {
  return {
      .id = "ports.differ",
      .title = "switch has other ports, port-channels or VLAN members than the design",
      .severity = Severity::kError,
      .rows = {"C7", "C3"},
      .phase = "validate",
      .why =
          "The configuration is for other ports than those that the design's cables end in: "
          "another model, another breakout, a link that is missing from its port-channel or is in "
          "that of another switch, a port outside the VLAN of its hosts. What the design says of "
          "such a port is not in effect: its traffic goes where nobody looks, or nowhere. LACP "
          "leaves out a member whose other end is in another port-channel.",
      .fix = {{.platform = "switch",
               .commands = {"weir render --node <switch>"},
               .note = "If the switch is right, correct `model`, `ports`, `lag` or `vlan` in the "
                       "design instead."}},
      .sources = {cite::kNvue, cite::kNxos, cite::kSonicQos},
  };
}

}  // namespace

std::vector<CatalogEntry> platform_entries() {
  return {nic_knob_does_not_exist(), nic_knob_bad_value(), platform_cannot(),
          config_not_applied(),      config_differs(),     ports_differ()};
}

}  // namespace weir::finding
