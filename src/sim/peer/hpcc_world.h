#pragma once
// The world of the HPCC ns-3 simulator: hosts that search one list of queue pairs, ACKs in front of
// data, a CNP bit in the ACK, pauses without an end, an event after every frame, its hash and its
// random numbers. With it an independent engine can be compared flow by flow.
#include <cstdint>
#include <vector>

#include "sim/engine/world.h"
#include "sim/peer/hpcc_peer.h"
#include "sim/peer/ns3_random.h"

namespace weir::sim::engine {

struct PeerWorld {
  static constexpr Ties kTies = Ties::kInsertion;
  static constexpr bool kFreesPortsLazily = false;
  static constexpr bool kPausesExpire = false;
  static constexpr bool kPausesAtThreshold = true;
  static constexpr bool kSendsCnps = false;
  static constexpr bool kAnswersDuplicates = false;
  static constexpr bool kMergesAcks = false;
  static constexpr bool kListsReadyQps = false;
  static constexpr bool kHasPlainEcmp = false;
  static constexpr Ps kWakesBefore = 1;
  static constexpr std::size_t kWaitingFrames = 256;

  struct Host {
    std::vector<QpId> qps;   // in the order of their start
    std::uint32_t last = 0;  // place of the one that sent last
    bool wake_pending = false;
  };
  struct Extra {
    explicit Extra(const Network& network) : random(network.peer_streams) {}
    void add_queues(std::size_t count) { mark_share.resize(count); }
    void set_marking(std::size_t queue, const Wred& wred) {
      mark_share[queue] =
          static_cast<double>(wred.max_probability.raw()) / kSharePerWhole;  // as the peer computes
    }
    /// One per NIC, with room for every QP that it will ever have.
    void add_hosts(const std::vector<std::size_t>& senders) {
      for (const std::size_t count : senders)
        hosts.emplace_back().qps.reserve(count);
    }
    /// The peer draws an IP identification for its pause frame.
    void on_announce() { random.skip(); }

    Ns3Random random;
    std::vector<double> mark_share;  // as the peer computes: by queue, at mark_max
    std::vector<Host> hosts;         // by NIC
  };

  static std::int64_t transmission_time(std::int64_t bytes, BitRate rate) {
    return hpcc_time(bytes, rate.raw());
  }
};

}  // namespace weir::sim::engine
