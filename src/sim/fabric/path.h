#pragma once
// The way of a queue pair through the fabric, and how long a message takes on it alone.
#include <cstdint>
#include <vector>

#include "sim/fabric/network.h"
#include "sim/fabric/route.h"

namespace weir::sim {

/// A frame leaves `node` by its local port `port`, onto `link`.
struct PathStep {
  NodeId node{0};
  std::uint32_t port = 0;
  LinkId link{0};
};

enum class PathChoice : std::uint8_t {
  kFirst,   // of equal paths the first: they take the same time where links are alike
  kHashed,  // as switches with plain ECMP choose for this queue pair
};

/// What a path adds to the time that a message takes on its slowest link.
struct PathTimes {
  BitRate slowest;
  Duration delay;  // cables and pipelines
  Duration frame;  // waits for a whole frame, but for the slowest link's
  Duration ack;    // the same for an ACK, all links
};

class QpPaths {
 public:
  /// Both outlive it.
  QpPaths(const Network& network, const Routes& routes);

  /// Empty where there is no path.
  [[nodiscard]] std::vector<PathStep> of(const QueuePair& qp, PathChoice choice) const;
  /// Of frames of `full_frame` bytes.
  [[nodiscard]] PathTimes times(const std::vector<PathStep>& path, std::int64_t full_frame) const;

  /// Bytes of a message on the wire: headers, preambles and gaps included.
  [[nodiscard]] Bytes on_wire(const QueuePair& qp, Bytes size) const;
  /// Of the largest frame of a message.
  [[nodiscard]] std::int64_t full_frame(const QueuePair& qp, Bytes size) const;
  /// Alone in the fabric, to the last ACK; 0 where there is no path.
  [[nodiscard]] Duration ideal(const QueuePair& qp, Bytes size) const;

 private:
  const Network& network_;
  const Routes& routes_;
  Table<NodeId, std::vector<LinkId>> links_at_;  // in the order of the node's ports
};

}  // namespace weir::sim
