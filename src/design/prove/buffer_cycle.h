#pragma once
// Cyclic buffer dependencies: the buffer dependency graph of lossless traffic.
//
// A node is a directed link with a lossless priority: the buffer at its receiving end. An edge from
// a to b: packets that came over a wait for b. A cycle of such edges is what a PFC deadlock needs
// (Dally and Seitz's channel dependencies, applied to PFC by Hu et al., HotNets 2016); a graph
// without one cannot deadlock, whatever the load.
#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace weir::design {

struct Buffer {
  std::uint32_t from = 0;  // the caller's numbers of nodes
  std::uint32_t to = 0;
  std::uint8_t priority = 0;
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

class BufferGraph {
 public:
  /// Packets that came by `held` wait for `wanted`. Saying it twice changes nothing.
  /// REQUIRES: node numbers below 2^28.
  void depend(const Buffer& held, const Buffer& wanted);

  /// A shortest cycle of the first strongly connected component that has one, each buffer waiting
  /// for the next and the last for the first; empty where there is none. Linear in the edges.
  [[nodiscard]] std::vector<Buffer> find_cycle() const;
  /// How many strongly connected components hold a cycle.
  [[nodiscard]] std::size_t cyclic_components() const;
  [[nodiscard]] std::size_t edges() const { return edges_.size(); }

 private:
  using Index = std::uint32_t;
  Index index_of(const Buffer&);
  [[nodiscard]] std::vector<std::vector<Index>> components() const;

  std::vector<Buffer> buffers_;
  std::vector<std::vector<Index>> waits_for_;
  std::unordered_map<std::uint64_t, Index> known_;
  std::unordered_set<std::uint64_t> edges_;
};

}  // namespace weir::design
