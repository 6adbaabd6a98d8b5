#pragma once
// What a port saw, as a capture: every frame it put on its wire and every frame that arrived whole,
// with real headers and a right ICRC. Only an Observer: a run without it costs what it did.
//
// Times: a frame sent has the time of its first bit, one received that of its last; time 0 of the
// simulation is 1970. Frames damaged on the way or lost with their link do not appear, as on a real
// port. The engine's frame sizes leave out two things that the wire has: padding to four bytes, and
// the AETH of READ responses.
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "design/fabric/intent.h"
#include "sim/engine/sim.h"
#include "wire/capture_writer.h"
#include "wire/encode.h"
#include "wire/sequence.h"

namespace weir::sim {

/// A port by its place in the network: node and local number.
struct PortPlace {
  NodeId node{0};
  std::uint32_t local = 0;
};

/// "gpu01" (its first rail), "gpu01:mlx5_2", "leaf1:swp3". The error names what is near.
[[nodiscard]] Result<PortPlace> find_port(const design::Intent& intent, std::string_view text);

class CaptureTap final : public Observer {
 public:
  CaptureTap(wire::CaptureWriter writer, PortPlace place, const design::Intent& intent);

  /// The simulation does not exist yet when the file is opened. REQUIRES: before the first event.
  void watch(const Sim& sim);
  /// After the run: what has arrived by now is written, and the file gets its name.
  [[nodiscard]] Status close();
  [[nodiscard]] std::uint64_t frames() const { return writer_.frames(); }

  void on_frame(Ps at, PortId port, const Packet& packet) override;
  void on_pause(Ps at, PortId port, std::uint8_t pause, std::uint8_t resume) override;
  void on_drop(Ps at, PortId port, const Packet& packet, DropReason reason) override;

 private:
  struct Pending {
    Ps at = 0;       // first bit of a frame sent, last bit of one received
    Ps counted = 0;  // when the engine counts it: a pause frame's reaction later
    bool is_sent = false;
    Packet packet;
  };
  void write(Ps at, const Packet& packet, bool is_sent);
  void write_pause(const Packet& packet, bool is_sent);
  void write_socket(const Packet& packet);
  void write_roce(const Packet& packet);
  void write_before(Ps at);
  void number(PortId port, const Packet& packet);
  void read_messages();
  [[nodiscard]] const MessageRecord* message_of(const Packet& packet);
  [[nodiscard]] std::uint32_t messages_before(const Packet& packet);
  void set_data(const Packet& packet, wire::RoceFrame& frame);
  [[nodiscard]] std::vector<wire::VlanTag> tags(const Packet& packet, NodeId from) const;
  /// The NIC that sent this packet.
  [[nodiscard]] NodeId sender_of(const Packet& packet) const;

  wire::CaptureWriter writer_;
  PortPlace place_;
  Table<NodeId, wire::Address> addresses_;  // of NICs
  Table<NodeId, int> vlans_;
  const Sim* sim_ = nullptr;
  PortId port_ = kNo<PortId>;
  PortId peer_ = kNo<PortId>;
  BitRate rate_;
  Duration propagation_;
  Duration reaction_;            // of this port's node to a pause
  std::deque<Pending> pending_;  // by time; of equal times what arrives first: it is answered
  Table<QpId, std::vector<MessageId>> messages_;  // in order
  MessageId messages_read_{0};
  // IPv4 identifications: every NIC counts the data packets it sends, so that one sent again
  // differs from its original and is the same at every port. Of each QP the latest kIds packets.
  static constexpr std::size_t kIds = 1024;
  Table<NodeId, std::uint16_t> counters_;  // of NICs
  Table<QpId, std::vector<std::uint16_t>> ids_;
  std::vector<std::uint8_t> frame_;
};

}  // namespace weir::sim
