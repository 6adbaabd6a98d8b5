#pragma once
// Where waiting frames live: one pool of nodes, linked into the queues that own them. Sized once
// from the buffers of the design; pages that are never used are never touched.
#include <cstdint>

#include "base/check.h"
#include "sim/engine/packet.h"
#include "sim/engine/raw_array.h"

namespace weir::sim {

class PacketPool {
 public:
  static constexpr FrameId kEnd = kNo<FrameId>;
  struct Node {
    Packet packet;
    FrameId next;
  };
  static_assert(sizeof(Node) == 32);

  void reserve(std::size_t capacity) {
    WEIR_CHECK(used_ == 0 && capacity < to_index(kEnd));
    nodes_ = RawArray<Node>(capacity);
    capacity_ = static_cast<std::uint32_t>(capacity);
  }
  FrameId take(const Packet& packet) {
    FrameId node = free_;
    if (node != kEnd) {
      free_ = (*this)[node].next;
    } else {
      WEIR_CHECK(fresh_ < capacity_);  // the design queues more than set-up computed
      node = FrameId{fresh_++};
    }
    (*this)[node] = {packet, kEnd};
    ++used_;
    return node;
  }
  void give_back(FrameId node) {
    (*this)[node].next = free_;
    free_ = node;
    --used_;
  }
  Node& operator[](FrameId node) { return nodes_[to_index(node)]; }
  const Node& operator[](FrameId node) const { return nodes_[to_index(node)]; }
  [[nodiscard]] std::uint32_t used() const { return used_; }

 private:
  RawArray<Node> nodes_;
  std::uint32_t capacity_ = 0;
  FrameId free_ = kEnd;
  std::uint32_t fresh_ = 0;
  std::uint32_t used_ = 0;
};

}  // namespace weir::sim
