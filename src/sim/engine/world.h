#pragma once
// Whose rules a run follows. A world is a compile-time policy: every step of the engine is a
// template over it, and each world is an instantiation of its own.
//
//   NativeWorld  what NICs and switches do
//   PeerWorld    the simplifications of the HPCC ns-3 simulator (sim/peer/hpcc_world.h)
//
// Small differences are constants here; where the two do different things altogether (how a host
// picks the next packet, how a switch hashes), they are overloads for Engine<NativeWorld> and
// Engine<PeerWorld>.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/engine/port_state.h"
#include "sim/events/event_list.h"
#include "sim/fabric/network.h"

namespace weir::sim::engine {

struct NativeWorld {
  static constexpr Ties kTies = Ties::kCanonical;
  /// An event exists only while something waits for the port; else: after every frame.
  static constexpr bool kFreesPortsLazily = true;
  /// A pause lasts its quanta and is repeated; else: until the resume.
  static constexpr bool kPausesExpire = true;
  /// A pause is due at the threshold; else: when headroom is used.
  static constexpr bool kPausesAtThreshold = false;
  /// Receivers answer marks with CNPs; else: with a bit in the ACK.
  static constexpr bool kSendsCnps = true;
  /// Duplicates are acknowledged again (InfiniBand C9-110).
  static constexpr bool kAnswersDuplicates = true;
  /// An ACK that still waits in the NIC takes over the newer number: they are cumulative.
  static constexpr bool kMergesAcks = true;
  /// Nic::ready holds the queue pairs that may send; else: all are searched.
  static constexpr bool kListsReadyQps = true;
  /// pick() spreads flows; else: the world's own hash.
  static constexpr bool kHasPlainEcmp = true;
  /// The wake-up for a message comes so long before its time.
  static constexpr Ps kWakesBefore = 0;
  /// Control frames of a queue pair that may wait in a NIC.
  static constexpr std::size_t kWaitingFrames = 4;

  /// State that only this world has.
  struct Extra {
    explicit Extra(const Network&) {}
    void add_queues(std::size_t) {}
    void set_marking(std::size_t, const Wred&) {}
    void add_hosts(const std::vector<std::size_t>&) {}
    void on_announce() {}
  };

  static std::int64_t transmission_time(std::int64_t bytes, BitRate rate) {
    return serialization_time(Bytes::raw(bytes), rate).raw();
  }
};

}  // namespace weir::sim::engine
