#pragma once
// What is noted beside the readers of pasted outputs: single lines that mean the same whatever
// printed them, and short listings that people cut out with filters and loops. Each with its line,
// since a finding quotes it.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "readers/job/job.h"
#include "units/qos_code.h"
#include "units/quantity.h"

namespace weir::readers {

/// An address and the MAC that answers for it, as a host (or a probe on it) learned it.
struct PasteBinding {
  std::string host;
  std::string address;
  std::string mac;        // in lower case, with colons
  bool is_fresh = false;  // confirmed now, not an entry that may be old
  bool is_probe = false;  // arping: every station that answered
  Cited at;
};

/// The MAC of a host's interface.
struct PasteMac {
  std::string host;
  std::string netdev;
  std::string mac;
  Cited at;
};

/// A log says by itself that two stations use one address.
struct PasteConflict {
  std::string host;
  Cited at;
};

/// A filter that drops packets to UDP port 4791.
struct PasteFilter {
  std::string host;  // or switch
  bool is_switch = false;
  std::optional<std::uint64_t> matches;  // absent where it is not shown
  Cited at;
  std::string rule = {};  // its name, where counts are shown apart
};

/// FEC that is set on a port of a switch.
struct PasteFec {
  std::string switch_name;
  std::string port;
  bool is_off = false;          // "none", "off", "disabled"
  std::optional<bool> is_down;  // the link, where the line says it
  Cited at;
  std::string kind = {};  // "RS", "FC"; empty where it is off or not said
  bool needs_it = false;  // in use, with lanes that do not work without FEC
};

/// FEC that a host's interface forces.
struct PasteForcedFec {
  std::string host;
  std::string netdev;
  std::string fec;
  Cited at;
};

/// Where a switch begins to mark, and where it marks with the full probability.
struct PasteThreshold {
  std::string switch_name;
  std::string queue;  // the queue or the profile, as the lines above name it
  Bytes min;
  Bytes max;
  Cited at;
};

/// The state of a switch's port in a list.
struct PastePortState {
  std::string switch_name;
  std::string port;
  bool is_up = false;
  Cited at;
  bool leads_up = false;  // described as a link to a spine
};

/// What a port of a switch dropped of what it received, in a list of ports.
struct PastePortDrops {
  std::string switch_name;
  std::string port;
  std::uint64_t packets = 0;
  Cited at;
};

/// UDP source ports of packets to port 4791, counted.
struct PasteSourcePorts {
  std::size_t ports = 0;
  std::string first;
  std::uint64_t packets = 0;
  Cited at;
};

/// A rule of a host's firewall that gives a code point to TCP.
struct PasteMarkingRule {
  std::string host;
  Dscp dscp;
  Cited at;
};

/// Bytes that a NIC sent by priority, as one output shows them; the last of several readings.
struct PasteCarried {
  std::array<std::optional<std::uint64_t>, Priority::kLimit> bytes;
};

/// The MTU of a switch's port, below the line that names the port.
struct PastePortMtu {
  std::string switch_name;
  std::string port;
  Bytes mtu;
  Cited at;
};

/// Packets to port 4791 by their code point, counted.
struct PasteDscpCount {
  Dscp dscp;
  std::uint64_t packets = 0;
  Cited at;
};

/// What a test reached with so many queue pairs.
struct PasteQpRate {
  std::string host;
  std::string device;
  unsigned qps = 0;
  double rate = 0;  // in the unit of the text
  Cited at;
};

/// What `ulimit -l` printed first of several commands.
struct PasteLimit {
  std::uint64_t kilobytes = 0;
  Cited at;
};

/// The bandwidth that the kernel states for a card's place on PCIe.
struct PastePcieRate {
  std::string host;
  double gigabits = 0;
};

/// Drops of the queue that carries CNPs, as a switch counts them.
struct PasteCnpDrop {
  std::string switch_name;
  std::string port;
  std::uint64_t packets = 0;
  Cited at;
};

/// A queue's entry in the database of a switch, with or without a profile that marks.
struct PasteQueueEntry {
  std::string switch_name;
  std::string queue;  // "3"
  bool has_profile = false;
  Cited at;
};

/// A limit on what a queue of a switch sends.
struct PasteQueueLimit {
  std::string switch_name;
  std::string queue;  // as it is named there: "6", "c-out-8q-q7", "CNP-SCHED"
  BitRate rate;
  Cited at;
};

/// The queue of a class that is named for CNPs.
struct PasteCnpQueue {
  std::string switch_name;
  unsigned queue = 0;
};

/// At most so many of each list: what is compared with each other is bounded. A whole fabric has no
/// more addresses.
constexpr std::size_t kMostNoted = 1024;
constexpr std::size_t kMostBindings = 4096;  // and MACs

struct PasteNoted {
  std::vector<PasteBinding> bindings;
  std::vector<PasteMac> macs;
  std::vector<PasteConflict> conflicts;
  std::vector<PasteFilter> filters;
  std::vector<PasteFec> fec;
  std::vector<PasteForcedFec> forced_fec;
  std::vector<PasteThreshold> thresholds;
  std::vector<PastePortState> port_states;
  std::vector<PastePortDrops> port_drops;
  std::vector<PasteSourcePorts> source_ports;
  std::vector<std::vector<PasteDscpCount>> dscp_counts;  // one list per capture
  std::vector<PasteQpRate> qp_rates;
  std::vector<PasteLimit> limits;
  std::vector<PastePcieRate> pcie_rates;
  std::vector<PasteCnpDrop> cnp_drops;
  std::vector<PasteQueueEntry> queue_entries;
  std::vector<PasteQueueLimit> queue_limits;
  std::vector<PasteCnpQueue> cnp_queues;
  std::vector<PasteMarkingRule> marking_rules;
  std::vector<PastePortMtu> port_mtus;
  std::vector<PasteCarried> carried;
};

}  // namespace weir::readers
