#pragma once
// The MTU of a path, as probes of it measured.
#include <cstdint>
#include <string>
#include <vector>

#include "finding/finding.h"

namespace weir::diagnose {

struct TooBigReply {
  std::string from;       // empty: from an unknown address
  std::uint32_t mtu = 0;  // what would fit; 0: it did not say
};

/// A counter of this host that moved while the probes ran.
struct MovedCounter {
  std::string name;
  std::uint64_t amount = 0;
};

struct PathMtu {
  std::string host;  // this one
  std::string interface;
  std::string peer;          // "gpu02 (10.0.0.2)"
  std::string method;        // "ping", "udp"
  bool is_answered = false;  // the peer answers small packets: without that nothing is known
  std::uint32_t mtu = 0;     // the largest that was answered
  std::uint32_t tried = 0;   // the largest that was tried
  std::string bottleneck;    // "between 10.1.0.2 (hop 1) and 10.2.0.1 (the peer)"
  bool is_silent = false;    // no router reported that a packet was too big
  std::vector<TooBigReply> replies;
  std::vector<MovedCounter> moved;
};

[[nodiscard]] finding::Judgement judge_path_mtu(const PathMtu& path);

}  // namespace weir::diagnose
