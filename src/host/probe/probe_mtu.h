#pragma once
// The path's MTU, by asking the path: packets that must not be fragmented, a binary search for the
// largest that is answered, and TTL-limited ones that show between which two hops it gets narrow.
//
// Three kinds of narrow place look different from here. A router whose next link is narrow says so
// (ICMP "fragmentation needed", "packet too big"). A switch port or a receiver that is narrow drops
// in silence, and so does a router whose ICMP is filtered: then only the missing answer tells, and
// a large packet whose TTL ends at hop k (which a router answers before it looks at the size of its
// next link) tells how far large packets come.
//
// Everything here is pure logic over ProbeIo; probe_socket.h is the real one.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "units/quantity.h"

namespace weir::host {

/// What came back for one packet.
struct ProbeReply {
  enum class Kind {
    kAnswered,     // by the peer itself
    kTooBigHere,   // the kernel refused: more than the local interface takes
    kTooBig,       // a router said so; `mtu` where it says how much would fit
    kExpired,      // the TTL ended at `from`
    kUnreachable,  // an ICMP error other than "too big": unreachable, prohibited
    kSilent,       // nothing came within the time
  };
  Kind kind = Kind::kSilent;
  std::string from;  // address; empty where nothing came
  std::uint32_t mtu = 0;
  std::string detail;  // of kUnreachable: "host unreachable"
  Duration elapsed;
};

/// One packet at a time. Sizes are of the whole IP packet.
class ProbeIo {
 public:
  ProbeIo() = default;
  ProbeIo(const ProbeIo&) = delete;
  ProbeIo& operator=(const ProbeIo&) = delete;
  virtual ~ProbeIo() = default;

  /// `ttl` 0: the system's own. An error means that no probe can be sent at all.
  [[nodiscard]] virtual Result<ProbeReply> send(std::uint32_t size, unsigned ttl,
                                                Duration wait) = 0;
  /// Waits, so that a device that limits its answers may answer again.
  virtual void pause(Duration time) = 0;
};

struct ProbeOptions {
  std::uint32_t smallest = 576;  // must pass everywhere: IPv4's, RFC 791; IPv6 1280
  std::uint32_t largest = 1500;  // the local interface's MTU, or what the design wants
  unsigned tries = 3;
  unsigned most_hops = 16;
  Duration wait = 300_ms;  // for one answer at most; less where the first came sooner
  /// Routers, and peers asked by UDP, answer about once per second (Linux: icmp_ratelimit;
  /// RFC 4443 2.4 asks for a limit too): the last try waits this long first.
  Duration patience = 1200_ms;
  bool is_peer_limited = false;  // the peer's answers are limited so too
};

/// Whether a hop answered a small and a large packet whose TTL expired there.
struct ProbeHop {
  unsigned ttl = 0;
  std::string address;  // empty: no answer from this hop
  bool small = false;
  bool large = false;
};

struct MtuFinding {
  bool is_answered = false;      // the peer answers small packets: without that nothing is known
  std::uint32_t mtu = 0;         // the largest that was answered
  std::uint32_t tried = 0;       // the largest that was tried
  std::uint32_t small = 0;       // what hops were asked with that must pass
  bool is_local = false;         // the local interface itself is the narrow one
  std::vector<ProbeReply> said;  // what routers said about size, each once
  std::vector<ProbeHop> hops;    // where narrower than tried; the last is the peer
  /// Indexes of `hops` around the narrow segment: large packets reach the first and not the second.
  /// nullopt for `after`: this host is the first end.
  std::optional<std::size_t> after;
  std::optional<std::size_t> before;
  std::string unreachable;  // the ICMP error that came instead of an answer
  Duration round_trip;      // of the first small probe
  unsigned sent = 0;

  [[nodiscard]] bool is_narrow() const { return is_answered && mtu < tried; }
  [[nodiscard]] bool is_silent() const { return is_narrow() && !is_local && said.empty(); }
};

[[nodiscard]] Result<MtuFinding> find_mtu(ProbeIo& io, const ProbeOptions& options);

/// The largest RDMA payload (256 to 4096) whose packets fit, as the kernel chooses it: room for the
/// largest headers of RoCEv2 is left. 0 where none fits.
[[nodiscard]] std::uint32_t rdma_mtu_of(std::uint32_t ip_mtu, bool is_ipv6);

}  // namespace weir::host
