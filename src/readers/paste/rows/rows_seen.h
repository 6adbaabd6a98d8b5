#pragma once
// What single rows of tables and of scripts show, and evidence has no place for: how the members
// of a channel are used, what a switch hashes, how it marks. Each with its line, since a finding
// quotes it.
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "readers/job/job.h"
#include "units/qos_code.h"
#include "units/quantity.h"

namespace weir::readers {

/// How much of what a channel sends leaves by one of its members, in percent.
struct PasteMember {
  std::string switch_name;
  std::string channel;
  std::string port;
  double sent = 0;
  Cited at;
};

/// What a switch, or a bond of a host, chooses the member of a channel by.
struct PasteHash {
  std::string name;
  bool has_ports = false;  // of UDP, in which the connections of RDMA differ
  Cited at;
};

/// The seed of the hash by which a switch chooses among equal paths.
struct PasteSeed {
  std::string switch_name;
  std::string seed;
  Cited at;
};

/// WRED of a profile or class: from which fill on it marks, and from which on all.
struct PasteCurve {
  std::string switch_name;
  std::string profile;
  double min = 0;  // in the unit that the text has for both
  double max = 0;
  Cited at;
};

/// A scheduler of Junos: a drop profile without ECN drops what it could have marked.
struct PasteScheduler {
  std::string switch_name;
  std::string name;
  bool marks = false;
  bool has_curve = false;
  bool has_more = false;  // other statements too: it is not a filter's piece
  Cited at;
};

/// What the drop profile of a queue of Junos did.
struct PasteRedQueue {
  std::string switch_name;
  std::string port;
  std::string forwarding_class;
  std::uint64_t dropped = 0;
  std::uint64_t dropped_now = 0;  // per second
  std::uint64_t marked = 0;
  Cited at;
};

/// How a switch sorts what arrives by its DSCP, all of it: NX-OS.
struct PasteSorting {
  std::string switch_name;
  std::string policy;
  std::array<std::optional<unsigned>, Dscp::kLimit> groups;
  unsigned others = 0;  // the group of all that no class matches
  Cited at;
};

/// A driver brings up an interface: "renamed from eth4", "firmware version: 28.39".
struct PasteStart {
  std::string host;
  std::string device;  // as the line names it: address or interface
  Cited at;
};

/// How many lanes an RDMA port runs with, and which generation they are: "100 Gb/sec (1X NDR)".
struct PasteLanes {
  std::string host;
  std::string device;
  unsigned lanes = 0;
  std::string generation;
  Cited at;
};

/// A BGP session as a switch, or a host that routes, prints it.
struct PasteSession {
  std::string host;   // or switch
  std::string peer;   // address or port, as the table names it
  std::string name;   // the peer's own name or its description; may be empty
  std::string port;   // of a session without addresses: "swp64"; may be empty
  std::string as;     // of the peer; may be empty
  std::string state;  // "Idle (Admin)"
  bool is_up = false;
  bool is_shut = false;                       // by an administrator
  bool was_never = false;                     // up, since it is there
  std::optional<std::uint64_t> seconds = {};  // in this state
  std::string since = {};                     // the same as the text has it: "3d06h18m"
  bool is_inner = false;                      // the one of two numbers is its own: iBGP
  Cited at = {};
};

/// A line of a configuration about a neighbour of BGP: its description, or that it is shut down.
struct PastePeerLine {
  std::string host;
  std::string peer;
  std::string description;  // may be empty
  bool is_shut = false;
  Cited at;
};

struct PasteRows {
  std::vector<PasteMember> members;
  std::vector<PasteHash> hashes;
  std::vector<PasteSeed> seeds;
  std::vector<PasteCurve> curves;
  std::vector<PasteScheduler> schedulers;
  std::vector<PasteRedQueue> red_queues;
  std::vector<PasteSorting> sortings;
  std::vector<PasteStart> starts;
  std::vector<PasteLanes> lanes;
  std::vector<PasteSession> sessions;
  std::vector<PastePeerLine> peer_lines;
  bool lists_devices = false;          // a listing of all RDMA devices of a host, without a filter
  std::set<std::string> listed_hosts;  // … of these, by a command that is in the text
};

}  // namespace weir::readers
