#include "finding/catalog_parts.h"
#include "finding/catalog_sources.h"

namespace weir::finding {
namespace {

// What most of these faults have in common: let NCCL choose by address, not by a number.
CatalogFix choose_by_address() {
  return {.platform = "nccl",
          .commands = {"unset NCCL_IB_GID_INDEX", "export NCCL_IB_ROCE_VERSION_NUM=2",
                       "export NCCL_IB_ADDR_FAMILY=AF_INET", "export NCCL_IB_ADDR_RANGE=<subnet>"},
          .note =
              "From NCCL 2.21 on the index is found by these. Before, the default was index 0, "
              "which is usually RoCE v1 and link-local: set NCCL_IB_GID_INDEX to the index that "
              "weir show prints."};
}

CatalogEntry gid_not_routable() {
  return {
      .id = "gid.not_routable",
      .title = "GID in use is RoCE v1 or link-local",
      .severity = Severity::kError,
      .aliases = {"gid.routable_v2", "GID_NOT_ROUTABLE", "GID_LINK_LOCAL"},
      .rows = {"C8", "E2"},
      .phase = "validate",
      .why =
          "A port has several GIDs: RoCE v1 and v2 of each address, the link-local one first. Only "
          "a v2 GID of a routed address in the rail's subnet leaves the first switch; with another "
          "one the bootstrap succeeds over TCP and the job dies when data should move. NCCL before "
          "2.21 took index 0, which is usually the wrong one.",
      .fix = {choose_by_address(),
              {.platform = "host",
               .commands = {"show_gids",
                            "cat /sys/class/infiniband/<device>/ports/1/gid_attrs/types/<index>",
                            "cat /sys/class/infiniband/<device>/ports/1/gids/<index>"},
               .note = "Wanted: 'RoCE v2' and, for IPv4, a GID that begins with "
                       "0000:0000:0000:0000:0000:ffff."}},
      .sources = {cite::kRoce, "NVIDIA/nccl issues 426 and 769: default and link-local GIDs",
                  cite::kNcclEnv},
  };
}

CatalogEntry gid_wrong_netdev() {
  return {
      .id = "gid.wrong_netdev",
      .title = "GID belongs to another interface or rail",
      .severity = Severity::kError,
      .aliases = {"gid.netdev_matches_hca"},
      .rows = {"C8"},
      .phase = "validate",
      .why =
          "The GID at this index comes from an address on another interface than the rail's own (a "
          "VLAN, a macvlan, a bond above it), or from an address of another rail's subnet. Packets "
          "then carry a source that the peer answers elsewhere. Each HCA must use the address of "
          "its own interface in its own rail's subnet.",
      .fix = {{.platform = "host",
               .commands = {"cat /sys/class/infiniband/<device>/ports/1/gid_attrs/ndevs/<index>",
                            "rdma link", "ip -br address"},
               .note = "Remove the address where it does not belong, or choose the index of the "
                       "right one."},
              choose_by_address()},
      .sources = {cite::kIbSysfs, cite::kNcclEnv},
  };
}

CatalogEntry gid_wrong_family() {
  return {
      .id = "gid.wrong_family",
      .title = "no GID of the design's address family",
      .severity = Severity::kError,
      .aliases = {"gid.family_matches_design", "GID_FAMILY_MISMATCH"},
      .rows = {"C8"},
      .phase = "validate",
      .why =
          "The design says IPv4 and the port has IPv6 GIDs only, or the other way round. Software "
          "that accepts IPv4-mapped GIDs alone then finds no NIC at all on an IPv6 fabric; others "
          "choose a GID that the peer's routes do not know.",
      .fix = {{.platform = "design",
               .commands = {"addressing: { family: ipv6 }"},
               .note = "Where the fabric is IPv6; otherwise give the interface its IPv4 address."},
              {.platform = "nccl", .commands = {"export NCCL_IB_ADDR_FAMILY=AF_INET6"}},
              {.platform = "host", .commands = {"ip address add <address>/<prefix> dev <netdev>"}}},
      .sources = {"kvcache-ai/Mooncake issue 1593: IPv6-only RoCE, no device accepted",
                  cite::kNcclEnv},
  };
}

CatalogEntry gid_index_differs() {
  return {
      .id = "gid.index_differs",
      .title = "GID index differs between devices",
      .severity = Severity::kWarning,
      .aliases = {"gid.index_consistent", "GID_INDEX_INCONSISTENT", "gid.index_not_3",
                  "gid.index3_portable", "GID_INDEX_ASSUMED_3"},
      .rows = {"C2", "C8", "E1", "E2"},
      .phase = "validate",
      .why =
          "NCCL_IB_GID_INDEX is one number for every NIC of the job. Where the wanted GID is at 3 "
          "on one device and at 6 on another, as in pods with macvlan or after addresses were "
          "added in another order, one number cannot be right for all. Peers may differ; the "
          "devices of one process may not. Index 3 is only a common case (one IPv4 address, IPv6 "
          "on), and some applications have the number built in.",
      .fix = {choose_by_address(),
              {.platform = "host",
               .commands = {"show_gids"},
               .note = "Or make them equal: the same addresses in the same order on every rail, "
                       "and no more of them."}},
      .sources = {"NVIDIA/nccl issue 890: index 3 on one HCA and 6 on another",
                  "sgl-project/sglang pull request 30737: automatic choice on a bonded NIC",
                  "kvcache-ai/Mooncake pull request 1432: index 3 built in"},
  };
}

CatalogEntry gid_stale() {
  return {
      .id = "gid.stale",
      .title = "stale GID: its address is gone",
      .severity = Severity::kWarning,
      .aliases = {"gid.address_still_present", "GID_STALE"},
      .rows = {"C8"},
      .phase = "validate",
      .why =
          "The table still holds a GID of an address that no interface has any more. A job that "
          "picks it sends packets from an address that gets no answers. It happens after "
          "renumbering, and when an interface moved to another namespace.",
      .fix = {{.platform = "host",
               .commands = {"ip -br address show dev <netdev>", "ip link set dev <netdev> down",
                            "ip link set dev <netdev> up"},
               .note =
                   "Taking the interface down and up rebuilds the table; no job may run on it."}},
      .sources = {cite::kIbSysfs},
  };
}

CatalogEntry gid_changed() {
  return {
      .id = "gid.changed",
      .title = "GID table changed while a job was running",
      .severity = Severity::kWarning,
      .aliases = {"gid.stable_over_time", "GID_CHANGED"},
      .rows = {"C8", "K1"},
      .phase = "monitor",
      .why =
          "A flap, a DHCP renewal or an address added by hand moves GIDs to other indexes. New "
          "connections of the same job then use another address than the old ones, or fail, while "
          "the settings have not changed. Keep the table as part of the baseline.",
      .fix = {{.platform = "any",
               .commands = {"weir snapshot", "weir diff <before> <after>"},
               .note = "Static addresses on the rails, no address manager on them, and no changes "
                       "while jobs run."}},
      .sources = {cite::kIbSysfs},
  };
}

CatalogEntry gid_sparse() {
  return {
      .id = "gid.sparse",
      .title = "GID table has empty entries before the usable one",
      .severity = Severity::kWarning,
      .aliases = {"gid.table_sparse", "GID_TABLE_SPARSE"},
      .rows = {"C5", "C8"},
      .phase = "validate",
      .why =
          "Reading the type of an empty slot returns EINVAL. A library that stops at the first "
          "error, as NCCL did, never reaches the good entry behind the hole, and aborts. Pods with "
          "macvlan have such tables as a rule.",
      .fix = {choose_by_address(),
              {.platform = "any",
               .commands = {"weir show"},
               .note = "Run it in the job's namespace: it prints the first usable index of each "
                       "device. Give that index explicitly, or use an NCCL with the fix."}},
      .sources = {"NVIDIA/nccl issues 1573 and 1538: EINVAL in a sparse table", cite::kIbSysfs},
  };
}

}  // namespace

std::vector<CatalogEntry> gid_entries() {
  return {gid_not_routable(), gid_wrong_netdev(), gid_wrong_family(), gid_index_differs(),
          gid_stale(),        gid_changed(),      gid_sparse()};
}

}  // namespace weir::finding
