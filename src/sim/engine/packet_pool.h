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
  static constexpr std::uint32_t kEnd = 0xFFFFFFFFU;
  struct Node {
    Packet packet;
    std::uint32_t next;
  };
  static_assert(sizeof(Node) == 32);

  void reserve(std::size_t capacity) {
    WEIR_CHECK(used_ == 0 && capacity < kEnd);
    nodes_ = RawArray<Node>(capacity);
    capacity_ = static_cast<std::uint32_t>(capacity);
  }
  std::uint32_t take(const Packet& packet) {
    std::uint32_t node = free_;
    if (node != kEnd) {
      free_ = nodes_[node].next;
    } else {
      WEIR_CHECK(fresh_ < capacity_);  // a bound on what the design can queue was wrong
      node = fresh_++;
    }
    nodes_[node].packet = packet;
    nodes_[node].next = kEnd;
    ++used_;
    return node;
  }
  void give_back(std::uint32_t node) {
    nodes_[node].next = free_;
    free_ = node;
    --used_;
  }
  Node& operator[](std::uint32_t node) { return nodes_[node]; }
  const Node& operator[](std::uint32_t node) const { return nodes_[node]; }
  [[nodiscard]] std::uint32_t used() const { return used_; }

 private:
  RawArray<Node> nodes_;
  std::uint32_t capacity_ = 0;
  std::uint32_t free_ = kEnd;
  std::uint32_t fresh_ = 0;
  std::uint32_t used_ = 0;
};

}  // namespace weir::sim
