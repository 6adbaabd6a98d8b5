#pragma once
// Collective operations as programs: who sends how much to whom, after what has arrived.
//
// A program is a directed acyclic graph over ranks 0 … n-1. A transfer may start once all it waits
// for is there; a driver (sim/workload/workload.h) posts it then. Reduction itself costs no time:
// what is measured is the fabric. Sizes are exact: chunks differ by one byte at most and add up.
//
//   ring              rank r sends to r+1 only; 2(n-1) steps of S/n      bandwidth-optimal
//   halving-doubling  partners r ^ 2^k; 2*log2(n) steps; n a power of two
//   double tree       two binary trees over half the data each, pipelined in chunks: what is a leaf
//                     in one is inside the other (Sanders, Speck & Traeff 2009; NCCL does the same)
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "units/quantity.h"

namespace weir::sim {

/// Collectives are made of kSend alone; the others are what a job does beside (task_graph.h).
enum class TaskKind : std::uint8_t {
  kSend,     // through the fabric
  kCompute,  // the rank's GPU is busy
  kInside,   // by the links inside a host
  kWait,     // time alone
};

struct Transfer {
  std::uint32_t from = 0;  // ranks
  std::uint32_t to = 0;
  Bytes size;
  std::uint32_t needs = 0;  // transfers that must have arrived before
  std::uint32_t first_next = 0;
  std::uint32_t next_count = 0;  // those that wait for this one: next[first_next …]
  std::uint32_t channel = 0;     // transfers of another one have queue pairs of their own
  TaskKind what = TaskKind::kSend;
  Duration takes = {};  // of all but kSend
};

struct Program {
  std::uint32_t ranks = 0;
  std::vector<Transfer> transfers;
  std::vector<std::uint32_t> next;
};

/// Every rank sends `pair` bytes to every other, in the order r+1, r+2, …
[[nodiscard]] Program all_to_all(std::uint32_t ranks, Bytes pair);
/// Of `size` bytes per rank.
[[nodiscard]] Program ring_all_reduce(std::uint32_t ranks, Bytes size);
[[nodiscard]] Program halving_doubling_all_reduce(std::uint32_t ranks, Bytes size);
/// `chunk`: bytes that travel up and down the trees at once.
[[nodiscard]] Program double_tree_all_reduce(std::uint32_t ranks, Bytes size, Bytes chunk);
/// `size` in total: every rank gives S/n and ends with all of it.
[[nodiscard]] Program ring_all_gather(std::uint32_t ranks, Bytes size);
/// `size` per rank: every rank ends with the sum of its S/n.
[[nodiscard]] Program ring_reduce_scatter(std::uint32_t ranks, Bytes size);

/// Connections without a pattern in time, each with `count` messages of which at most `depth` are
/// outstanding: message k waits for message k - depth.
struct Pairing {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};
[[nodiscard]] Program stream(std::uint32_t ranks, const std::vector<Pairing>& pairs, Bytes size,
                             std::uint32_t count, std::uint32_t depth);

/// Everybody sends to one other and hears from one other: to rank + shift, or, for shift 0, around
/// one random cycle. REQUIRES: ranks >= 2, shift < ranks.
[[nodiscard]] std::vector<Pairing> permutation(std::uint32_t ranks, std::uint32_t shift,
                                               RandomStream random);

/// A tree of the double tree: parent and children of each rank; kNoRank where there is none.
inline constexpr std::uint32_t kNoRank = 0xFFFFFFFFU;
struct TreeNode {
  std::uint32_t parent = kNoRank;
  std::vector<std::uint32_t> children;  // two at most
};
/// `shift` 0 and 1 are the two trees.
[[nodiscard]] std::vector<TreeNode> binary_tree(std::uint32_t ranks, std::uint32_t shift);

/// Part `index` of `parts` equal ones: the first few are a byte longer where it does not divide.
[[nodiscard]] constexpr Bytes part_of(Bytes whole, std::uint32_t parts, std::uint32_t index) {
  return Bytes::raw(whole.raw() / parts + (index < whole.raw() % parts ? 1 : 0));
}

}  // namespace weir::sim
