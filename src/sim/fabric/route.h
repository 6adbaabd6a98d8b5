#pragma once
// Which ports of a switch lead to a destination: all shortest paths over any graph, as next-hop
// groups. Recomputed in place when links fail, so nothing is allocated during a run.
//
// A NIC has one link, so all NICs of one switch are reached alike: the table has a column for each
// switch that has NICs, not for each NIC, and equal neighbouring groups are kept once. With 32,768
// NICs that is some 10 MB instead of gigabytes. (Explicit paths have one column per NIC.)
#include <cstdint>
#include <span>
#include <vector>

#include "sim/fabric/network.h"

namespace weir::sim {

/// UDP source ports of RoCEv2 (InfiniBand annex A17): what spreads queue pairs over paths.
inline constexpr std::uint16_t kFirstSourcePort = 0xC000;
inline constexpr std::uint32_t kSourcePorts = 0x4000;

/// Hash of a 5-tuple. The protocol and destination port are the same for all RoCEv2 (UDP, 4791).
[[nodiscard]] std::uint32_t flow_key(NodeId source, NodeId target, std::uint16_t source_port);

/// One of `count` by a flow's key at a switch with `seed`: uniform over keys, independent between
/// switches of different seeds, identical between switches of the same one (polarisation).
[[nodiscard]] constexpr std::uint32_t pick(std::uint32_t key, std::uint64_t seed,
                                           std::uint32_t count) {
  std::uint64_t h = (std::uint64_t{key} ^ seed) * 0x9E3779B97F4A7C15U;
  h = (h ^ (h >> 32U)) * 0xD6E8FEB86659FD93U;
  h ^= h >> 32U;
  return static_cast<std::uint32_t>(((h & 0xFFFFFFFFU) * count) >> 32U);
}

class Routes {
 public:
  /// Local port numbers follow the order of links at each node.
  void build(const Network& network);

  /// Takes a link out or puts it back and finds all paths anew.
  void set_link(LinkId link, bool up);

  /// Local ports of switch `node` towards `destination`, a NIC; empty when there is no path.
  [[nodiscard]] std::span<const std::uint16_t> next(NodeId node, NodeId destination) const {
    return next_in(row_of(node), node, destination);
  }
  /// The same in two steps: what stays the same for a switch, and what a packet asks.
  [[nodiscard]] std::size_t row_of(NodeId node) const { return std::size_t{row_[node]} * columns_; }
  [[nodiscard]] std::span<const std::uint16_t> next_in(std::size_t row, NodeId node,
                                                       NodeId destination) const {
    const Attachment& to = attached_[destination];
    if (to.node == node) return {&to.port, 1};
    const Group& group = groups_[row + to.column];
    return {ports_.data() + group.first, group.count};
  }
  /// Links on a shortest path between two nodes, 0 when there is none.
  [[nodiscard]] std::uint32_t distance(NodeId from, NodeId destination) const;

 private:
  struct Group {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  struct Neighbour {
    NodeId node{0};
    LinkId link{0};
    std::uint16_t port = 0;
  };
  struct Attachment {           // of a NIC
    NodeId node = kNo<NodeId>;  // the switch; none: its link is down, or paths are given
    std::uint32_t column = 0;   // 0: no path from anywhere
    std::uint16_t port = 0;     // of that switch
  };
  void use_explicit(const Network& network);
  void number_columns();
  void find_paths();
  void attach(NodeId nic);
  void search_from(NodeId root);
  void add_group(NodeId node);

  Table<NodeId, std::uint32_t> row_;     // of a switch
  Table<NodeId, std::uint32_t> column_;  // of a switch with NICs; 0: it has none
  std::vector<NodeId> roots_;            // by column: that switch (column 0: nothing)
  Table<NodeId, Attachment> attached_;
  Table<NodeId, std::uint8_t> is_switch_;
  std::vector<NodeId> nics_;
  std::vector<NodeId> switches_;
  Table<NodeId, std::vector<Neighbour>> neighbours_;
  Table<LinkId, std::uint8_t> link_up_;
  Table<NodeId, std::uint32_t> distance_;
  std::vector<NodeId> frontier_;
  std::vector<Group> last_group_;     // by row, while paths are found
  std::vector<Group> groups_;         // by row and column
  std::vector<std::uint16_t> ports_;  // room for every port of every switch in every column
  std::size_t columns_ = 0;
  bool fixed_ = false;  // routes came from outside
};

}  // namespace weir::sim
