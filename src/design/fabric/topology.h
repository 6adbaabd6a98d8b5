#pragma once
// Groups, patterns and wiring → nodes and cables, one by one.
#include <cstdint>
#include <string>
#include <vector>

#include "design/file/fabric.h"
#include "design/file/yaml_document.h"

namespace weir::design {

enum class NodeKind : std::uint8_t { kHost, kSwitch };

struct Node {
  std::string name;
  NodeKind kind = NodeKind::kHost;
  std::uint32_t group = 0;  // index into Design::hosts or Design::switches
};

/// A NIC or switch port: `port` is the rail of a host, or counts a switch's links in their order.
struct PortRef {
  NodeKind kind = NodeKind::kHost;
  std::uint32_t node = 0;  // index into Topology::hosts or Topology::switches
  std::uint32_t port = 0;
  friend bool operator==(const PortRef&, const PortRef&) = default;
};

struct Cable {
  PortRef lower;
  PortRef upper;
  std::uint32_t group = 0;  // index into Design::links
  int part = 0;             // which of the equal parts that `groups` makes
};

struct Topology {
  std::vector<Node> hosts;
  std::vector<Node> switches;
  std::vector<Cable> cables;
  std::vector<std::uint32_t> switch_ports;  // how many each switch uses
  std::vector<Diagnostic> errors;           // with places; the rest is then incomplete
};

[[nodiscard]] Topology expand(const Design& design);

}  // namespace weir::design
