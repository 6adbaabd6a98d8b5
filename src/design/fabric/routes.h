#pragma once
// The switches as a graph, and the paths that the declared routing takes over it, also with parts
// of it broken. Parallel cables are one edge; hosts stand for their leaf.
#include <cstdint>
#include <span>
#include <vector>

#include "design/fabric/intent.h"

namespace weir::design {

struct Edge {
  std::uint32_t a = 0;  // switches; a < b
  std::uint32_t b = 0;
  std::uint32_t cables = 0;
};

struct SwitchGraph {
  struct Neighbour {
    std::uint32_t node = 0;
    std::uint32_t edge = 0;
  };
  std::vector<Edge> edges;
  std::vector<std::vector<Neighbour>> neighbours;  // by switch
  std::vector<int> tier;
  std::vector<std::uint32_t> nics;  // that hang on each switch
  bool has_flat_edges = false;      // an edge within a tier: then routes are plain shortest paths

  [[nodiscard]] std::size_t size() const { return neighbours.size(); }
};
[[nodiscard]] SwitchGraph switch_graph(const Intent&);

/// What does not work; empty: all does.
struct Broken {
  std::vector<std::uint32_t> edges;
  std::vector<std::uint32_t> switches;

  [[nodiscard]] bool has_edge(std::uint32_t edge) const;
  [[nodiscard]] bool has_switch(std::uint32_t node) const;
};

/// Where each switch sends packets for one destination; sorted. Empty where it knows no way.
using NextHops = std::vector<std::vector<std::uint32_t>>;

/// All shortest paths to the hosts of `target`: first up, then down; over any edges where the graph
/// has some within a tier.
[[nodiscard]] NextHops next_hops(const SwitchGraph&, std::uint32_t target, const Broken& = {});

/// Three switches in the order in which packets pass them.
struct Turn {
  std::uint32_t from = 0;
  std::uint32_t at = 0;
  std::uint32_t to = 0;
  std::uint32_t source = 0;  // leaves of a flow that takes it
  std::uint32_t target = 0;
};

/// Every turn that packets between hosts take, with `routing` and what is broken; a turn may come
/// more than once. Under bounce routing a switch that lost every way to a destination sends its
/// packets down to a neighbour that still has one, once.
[[nodiscard]] std::vector<Turn> turns(const SwitchGraph&, Routing, const Broken& = {});

/// By switch, the leaves with hosts that it reaches by going up and then down, a bit each.
using Reach = std::vector<std::vector<std::uint64_t>>;
[[nodiscard]] Reach reach(const SwitchGraph&, const Broken& = {});

/// Two leaves with hosts that a path joined and none does any more.
struct CutOff {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};
[[nodiscard]] std::vector<CutOff> cut_off(const SwitchGraph&, const Reach& intact, const Reach& now,
                                          const Broken&);

}  // namespace weir::design
