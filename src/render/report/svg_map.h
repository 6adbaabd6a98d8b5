#pragma once
// The fabric as a drawing: tiers above each other, links as wide as they are loaded, and the number
// of a problem where it sits.
//
// A large fabric is folded: switches of one name ("pod1-leaf…") become one box, hosts follow the
// leaves they hang on, and a node with a problem of its own stays apart. What is folded says how
// many it holds.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "design/fabric/intent.h"
#include "render/report/report.h"
#include "render/report/svg_canvas.h"

namespace weir::render {

struct MapNode {
  std::string name;  // "leaf1", "gpu0001 … gpu0256"
  std::size_t count = 1;
  bool is_host = false;
  std::vector<int> problems;   // numbers
  std::optional<double> up;    // hosts: what their links carried
  std::optional<double> down;  // ditto
};

struct MapEdge {
  std::size_t lower = 0;  // indices into FabricMap::nodes
  std::size_t upper = 0;
  std::size_t count = 0;  // links
  BitRate speed;          // of one; of the fastest where they differ
  std::optional<double> up;
  std::optional<double> down;
  std::vector<int> problems;
};

struct FabricMap {
  std::vector<MapNode> nodes;
  std::vector<std::vector<std::size_t>> tiers;  // top first, hosts last
  std::vector<MapEdge> edges;
};

inline constexpr std::size_t kMostSwitchesDrawn = 8;  // of a tier, singly
inline constexpr std::size_t kMostHostsDrawn = 16;    // ditto

[[nodiscard]] FabricMap fold_fabric(const design::Intent& intent, std::span<const LinkLoad> loads,
                                    std::span<const Problem> problems);

/// The number of a problem, in the shape of its severity: a filled disc for an error, a ring for a
/// warning, a dashed ring for a note.
void draw_mark(SvgCanvas& canvas, Point at, int number, finding::Severity severity);

/// REQUIRES: the problems that the map was folded with.
[[nodiscard]] std::string draw_map(const FabricMap& map, std::span<const Problem> problems);

/// "8 × 100G, up 43 %, down 40 %".
[[nodiscard]] std::string edge_text(const MapEdge& edge);

}  // namespace weir::render
