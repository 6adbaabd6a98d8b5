#pragma once
// What a pasted text shows literally and evidence has no place for: neighbours, addresses and
// routes, what a port could run at, code points and queues of switches. Each with its line, since
// a finding quotes it.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "readers/job/job.h"
#include "units/qos_code.h"
#include "units/quantity.h"

namespace weir::readers {

/// Who is at the other end of a port, as LLDP says it.
struct PasteNeighbour {
  std::string host;  // or switch
  bool is_switch = false;
  std::string port;
  std::string system;
  std::string remote_port;
  Cited at;
  /// Where a host is at the other end: its interface, or the MAC of it where it sends no more.
  std::string remote_netdev = {};
};

/// An address of a host's interface, with its prefix length: "10.9.0.40/24".
struct PasteAddress {
  std::string host;
  std::string netdev;
  std::string address;
  Cited at;
  bool is_inside = false;  // "eth0@if92": the other end is in another namespace
};

/// The MTU of a host's interface.
struct PasteMtu {
  std::string host;
  std::string netdev;
  Bytes mtu;
  Cited at;
};

/// Whether a host's interface has a carrier; one that is shut down is left out.
struct PasteCarrier {
  std::string host;
  std::string netdev;
  bool is_up = false;
  Cited at;
};

/// What `ip route get` answered; without a device there is no route.
struct PasteRoute {
  std::string host;
  std::string target;
  std::string source;  // as requested; may be empty
  std::string netdev;
  Cited at;
};

/// A path whose hops come again: packets go round.
struct PasteLoop {
  std::string host;
  std::string target;
  std::vector<std::string> hops;  // those that come again
  Cited at;
};

/// An RDMA port that is disabled: by an operator, or because it has no cable.
struct PasteDisabled {
  std::string host;
  std::string device;
};

/// What a host's port is set to, as ethtool prints it, beside what is in effect on its link.
struct PastePortSetting {
  std::string host;
  std::string device;
  std::string fec;        // "Off", "Auto", "RS"; may be empty
  bool is_empty = false;  // "Link detected: no (No cable)"
};

/// A route through a gateway, not the default one: the interface that it leaves by.
struct PasteGateway {
  std::string host;
  std::string netdev;
};

/// One line of `ip rule`.
struct PasteRule {
  std::string host;
  std::string source;  // "all", "10.9.0.41", "10.9.0.0/24"
  std::string table;
  Cited at;
};

/// Whether a NIC takes packets in any order (adaptive_routing_forced_en of mlxreg's ROCE_ACCEL).
struct PasteOrdering {
  std::string host;
  bool takes_any = false;
  Cited at;
};

/// Which RDMA protocol a device speaks, as ibv_devinfo says it.
struct PasteProtocol {
  std::string host;
  std::string device;
  bool is_iwarp = false;
  Cited at;
};

/// The fastest speed that the port and its cable are both able to run at.
struct PasteAble {
  std::string host;
  std::string device;
  BitRate port;
  BitRate cable;
  Cited at;
};

/// An entry of a switch's map of code points.
struct PasteCodePoint {
  std::string switch_name;
  Dscp dscp;
  TrafficClass traffic_class;
  Cited at;
};

/// WRED of a queue of a switch, and whether it marks instead of dropping.
struct PasteWred {
  std::string switch_name;
  std::string profile;
  std::optional<Queue> queue;  // where the text says it
  bool marks = false;
  Cited at;
};

/// "no-loss", "NO_LOSS", "lossless", "roce", "rdma": a class that is named for what it carries.
[[nodiscard]] bool is_lossless_class(std::string_view name);

/// A classifier of Junos: which forwarding class a code point is in.
struct PasteClassifier {
  struct Entry {
    Dscp dscp;
    std::string forwarding_class;
    Cited at;
  };
  std::string switch_name;
  std::string name;
  bool is_whole = true;  // no filter in the command: a code point that is not listed has no entry
  std::vector<Entry> entries;
  Cited at;
};

/// "mode lossy" of `nv show qos roce`.
struct PasteRoceMode {
  std::string switch_name;
  bool is_lossless = false;
  Cited at;
};

/// A limit on what a switch's port sends, or the speed of its line.
struct PastePortRate {
  std::string switch_name;
  std::string port;
  BitRate rate;
  bool is_limit = false;
  Cited at;
};

/// What a switch's port is for, where its configuration or its name says it.
struct PastePortUse {
  std::string switch_name;
  std::string port;
  std::string description;  // as the operator wrote it; may be empty
  bool is_lossless = false;
};

/// A queue of a switch whose forwarding class is named for being lossless.
struct PasteLosslessQueue {
  std::string switch_name;
  Queue queue;
  std::string forwarding_class;
  Cited at;
};

/// Priorities that a switch pauses, where its configuration says it.
struct PasteLossless {
  std::string switch_name;
  PrioritySet priorities;
  Cited at;
};

}  // namespace weir::readers
