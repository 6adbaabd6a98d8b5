#include "host/probe/probe_mtu.h"

#include <algorithm>

namespace weir::host {
namespace {

using Kind = ProbeReply::Kind;

/// However fast the first answer was: hosts are busy now and then.
constexpr Duration kLeastWait = 50_ms;
/// A size that was refused by silence is asked once more, with patience, before it is believed.
constexpr int kMostDoubts = 2;

class Search {
 public:
  Search(ProbeIo& io, const ProbeOptions& options) : io_(io), options_(options) {}

  Result<MtuFinding> run() {
    found_.tried = options_.largest;
    found_.small = options_.smallest;
    WEIR_TRY(first, ask(options_.smallest, 0, is_final));
    if (first.kind != Kind::kAnswered) {
      found_.unreachable = first.detail;
      if (first.kind == Kind::kTooBigHere) found_.is_local = true;
      return found_;
    }
    found_.is_answered = true;
    found_.round_trip = first.elapsed;
    wait_ = std::clamp(first.elapsed * 8, std::min(kLeastWait, options_.wait), options_.wait);
    found_.mtu = options_.smallest;
    for (int doubts = 0; doubts <= kMostDoubts; ++doubts) {
      WEIR_TRY_STATUS(search(found_.mtu));
      if (found_.mtu == found_.tried || found_.is_local || !found_.said.empty()) break;
      if (options_.is_peer_limited) io_.pause(options_.patience);
      WEIR_TRY(again, io_.send(found_.mtu + 1, 0, options_.patience));
      ++found_.sent;
      if (again.kind != Kind::kAnswered) break;
      found_.mtu += 1;
    }
    if (found_.mtu < found_.tried && !found_.is_local) WEIR_TRY_STATUS(bracket());
    return found_;
  }

 private:
  static bool is_final(const ProbeReply& reply) { return reply.kind == Kind::kAnswered; }

  /// Asks until `is_enough`, or until another reply settles it, at most `tries`
  /// times. Silence alone is asked again: a lost packet is no narrow path.
  template <class IsEnough>
  Result<ProbeReply> ask(std::uint32_t size, unsigned ttl, const IsEnough& is_enough) {
    ProbeReply last;
    for (unsigned attempt = 0; attempt < options_.tries; ++attempt) {
      const bool is_last = attempt + 1 == options_.tries;
      const bool is_limited = ttl > 0 || options_.is_peer_limited;
      if (is_last && is_limited && attempt > 0) io_.pause(options_.patience);
      ++found_.sent;
      WEIR_TRY(reply, io_.send(size, ttl, wait_));
      last = reply;
      if (is_enough(reply) || reply.kind == Kind::kTooBig || reply.kind == Kind::kTooBigHere) break;
    }
    return last;
  }

  void note(const ProbeReply& reply) {
    const bool is_known =
        std::any_of(found_.said.begin(), found_.said.end(), [&](const ProbeReply& known) {
          return known.from == reply.from && known.mtu == reply.mtu;
        });
    if (!is_known) found_.said.push_back(reply);
  }

  /// The largest size that is answered, between one that is and one that need not be.
  Status search(std::uint32_t good) {
    std::uint32_t bad = options_.largest + 1;
    std::uint32_t next = options_.largest;
    std::uint32_t said = 0;
    while (bad - good > 1) {
      WEIR_TRY(reply, ask(next, 0, is_final));
      bool was_here = false;
      std::uint32_t hint = 0;
      if (reply.kind == Kind::kAnswered) {
        good = next;
      } else {
        bad = next;
        was_here = reply.kind == Kind::kTooBigHere;
        if (reply.kind == Kind::kTooBig) {
          note(reply);
          hint = reply.mtu;
        }
        found_.is_local = was_here;
      }
      const bool is_useful = hint > good && hint < bad;
      // A router's word is tried first, and then whether it is the whole truth.
      next = is_useful ? hint : good == said ? good + 1 : good + (bad - good) / 2;
      if (is_useful) said = hint;
    }
    found_.mtu = good;
    return {};
  }

  /// Small ones show who is on the way, large ones how far they come.
  Status bracket() {
    const std::uint32_t large = found_.mtu + 1;
    const auto is_heard = [](const ProbeReply& reply) {
      return reply.kind == Kind::kExpired || reply.kind == Kind::kAnswered;
    };
    for (unsigned ttl = 1; ttl <= options_.most_hops; ++ttl) {
      WEIR_TRY(small, ask(options_.smallest, ttl, is_heard));
      ProbeHop hop{.ttl = ttl,
                   .address = is_heard(small) ? small.from : "",
                   .small = is_heard(small),
                   .large = false};
      const bool is_peer = small.kind == Kind::kAnswered;
      if (hop.small && !is_peer && !found_.before) {
        WEIR_TRY(reply, ask(large, ttl, is_heard));
        hop.large = is_heard(reply);
        if (reply.kind == Kind::kTooBig) note(reply);
      }
      found_.hops.push_back(hop);
      const std::size_t here = found_.hops.size() - 1;
      if (hop.large) found_.after = here;
      if (!hop.large && hop.small && !found_.before) found_.before = here;
      if (is_peer) return {};
    }
    return {};
  }

  ProbeIo& io_;
  const ProbeOptions& options_;
  Duration wait_ = options_.wait;
  MtuFinding found_;
};

}  // namespace

Result<MtuFinding> find_mtu(ProbeIo& io, const ProbeOptions& options) {
  WEIR_CHECK(options.smallest > 0 && options.smallest <= options.largest && options.tries > 0);
  return Search(io, options).run();
}

std::uint32_t rdma_mtu_of(std::uint32_t ip_mtu, bool is_ipv6) {
  // IP, UDP, BTH, the largest extended header (RETH and immediate data, or an atomic's 28 B) and
  // the ICRC. Seen on Linux: 1500 gives 1024, 2200 gives 2048, 4200 gives 4096 (host-interfaces 9).
  const std::uint32_t headers = (is_ipv6 ? 40U : 20U) + 8 + 12 + 28 + 4;
  for (std::uint32_t payload = 4096; payload >= 256; payload /= 2)
    if (payload + headers <= ip_mtu) return payload;
  return 0;
}

}  // namespace weir::host
