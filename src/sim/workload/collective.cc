#include "sim/workload/collective.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "sim/workload/limits.h"

namespace weir::sim {
namespace {

/// Collects transfers and who waits for whom, then packs the lists.
class Composer {
 public:
  explicit Composer(std::uint32_t ranks) { program_.ranks = ranks; }

  std::uint32_t add(std::uint32_t from, std::uint32_t to, Bytes size) {
    program_.transfers.push_back({.from = from, .to = to, .size = size});
    return static_cast<std::uint32_t>(program_.transfers.size() - 1);
  }
  void order(std::uint32_t before, std::uint32_t after) { edges_.emplace_back(before, after); }

  Program finish() {
    std::stable_sort(edges_.begin(), edges_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    program_.next.reserve(edges_.size());
    for (const auto& [before, after] : edges_) {
      Transfer& transfer = program_.transfers[before];
      if (transfer.next_count == 0)
        transfer.first_next = static_cast<std::uint32_t>(program_.next.size());
      ++transfer.next_count;
      ++program_.transfers[after].needs;
      program_.next.push_back(after);
    }
    return std::move(program_);
  }

 private:
  Program program_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;
};

/// `steps` times around: in step k, rank r passes on the chunk that it got in step k-1. `first` is
/// the chunk of rank r in step 0, counted from r.
Program ring(std::uint32_t ranks, Bytes size, std::uint32_t steps, std::uint32_t first) {
  WEIR_CHECK(ranks >= 2);
  Composer composer(ranks);
  for (std::uint32_t step = 0; step < steps; ++step) {
    for (std::uint32_t r = 0; r < ranks; ++r) {
      const std::uint32_t chunk = (r + first + ranks - step % ranks) % ranks;
      const std::uint32_t transfer = composer.add(r, (r + 1) % ranks, part_of(size, ranks, chunk));
      if (step > 0) composer.order(transfer - ranks - r + (r + ranks - 1) % ranks, transfer);
    }
  }
  return composer.finish();
}

struct Range {  // of a rank's buffer that it is still responsible for
  Bytes begin;
  Bytes end;
};

/// The chunks that one tree carries: up to the root, and down again.
void add_tree(Composer& composer, std::uint32_t ranks, std::uint32_t shift, Bytes half,
              Bytes chunk) {
  const std::vector<TreeNode> tree = binary_tree(ranks, shift);
  std::vector<std::uint32_t> order;  // the root first, every parent before its children
  for (std::uint32_t r = 0; r < ranks; ++r)
    if (tree[r].parent == kNoRank) order.push_back(r);
  for (std::size_t i = 0; i < order.size(); ++i)
    order.insert(order.end(), tree[order[i]].children.begin(), tree[order[i]].children.end());
  WEIR_CHECK(order.size() == ranks);
  std::vector<std::uint32_t> up(ranks, kNoRank);
  std::vector<std::uint32_t> down(ranks, kNoRank);
  for (Bytes at; at < half; at += chunk) {
    const Bytes size = std::min(chunk, half - at);
    for (auto r = order.rbegin(); r != order.rend(); ++r) {
      const TreeNode& node = tree[*r];
      if (node.parent == kNoRank) continue;
      up[*r] = composer.add(*r, node.parent, size);
      for (const std::uint32_t child : node.children)
        composer.order(up[child], up[*r]);
    }
    for (const std::uint32_t r : order) {
      for (const std::uint32_t child : tree[r].children) {
        down[child] = composer.add(r, child, size);
        if (tree[r].parent != kNoRank) {
          composer.order(down[r], down[child]);
          continue;
        }
        for (const std::uint32_t other : tree[r].children)
          composer.order(up[other], down[child]);
      }
    }
  }
}

}  // namespace

Program all_to_all(std::uint32_t ranks, Bytes pair) {
  WEIR_CHECK(ranks >= 2);
  Composer composer(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r)
    for (std::uint32_t k = 1; k < ranks; ++k)
      composer.add(r, (r + k) % ranks, pair);
  return composer.finish();
}

Program ring_all_reduce(std::uint32_t ranks, Bytes size) {
  return ring(ranks, size, 2 * (ranks - 1), 0);
}

Program ring_reduce_scatter(std::uint32_t ranks, Bytes size) {
  return ring(ranks, size, ranks - 1, ranks - 1);  // so that rank r ends with chunk r
}

Program ring_all_gather(std::uint32_t ranks, Bytes size) {
  return ring(ranks, size, ranks - 1, 0);
}

Program halving_doubling_all_reduce(std::uint32_t ranks, Bytes size) {
  WEIR_CHECK(ranks >= 2 && std::has_single_bit(ranks));
  Composer composer(ranks);
  const auto rounds = static_cast<std::uint32_t>(std::countr_zero(ranks));
  std::vector<Range> mine(ranks, Range{Bytes(), size});
  std::vector<std::uint32_t> last(ranks, kNoRank);  // what arrived at each rank
  std::vector<std::vector<Range>> history;
  const auto exchange = [&](std::uint32_t distance, auto size_of) {
    const auto before = static_cast<std::uint32_t>(last[0] == kNoRank ? 0 : 1);
    std::vector<std::uint32_t> arrived(ranks);
    for (std::uint32_t r = 0; r < ranks; ++r) {
      const std::uint32_t partner = r ^ distance;
      const std::uint32_t transfer = composer.add(r, partner, size_of(r));
      if (before == 1) composer.order(last[r], transfer);
      arrived[partner] = transfer;
    }
    last = std::move(arrived);
  };
  // Reduce-scatter: each keeps the half on its side and sends the other.
  for (std::uint32_t k = 0; k < rounds; ++k) {
    const std::uint32_t distance = ranks >> (k + 1);
    history.push_back(mine);
    std::vector<Range> kept(ranks);
    for (std::uint32_t r = 0; r < ranks; ++r) {
      const Bytes middle = mine[r].begin + (mine[r].end - mine[r].begin) / 2;
      kept[r] = (r & distance) == 0 ? Range{mine[r].begin, middle} : Range{middle, mine[r].end};
    }
    exchange(distance, [&](std::uint32_t r) {
      return (mine[r].end - mine[r].begin) - (kept[r].end - kept[r].begin);
    });
    mine = std::move(kept);
  }
  // All-gather: the same partners backwards, each sends all it has.
  for (std::uint32_t k = rounds; k-- > 0;) {
    exchange(ranks >> (k + 1), [&](std::uint32_t r) { return mine[r].end - mine[r].begin; });
    mine = history[k];
  }
  return composer.finish();
}

std::size_t tree_transfers(std::uint32_t ranks, Bytes size, Bytes chunk) {
  WEIR_CHECK(ranks >= 2 && chunk > Bytes());
  // Each of the two trees carries half of it: every rank but the root up, and down again.
  const auto chunks = static_cast<std::uint64_t>(size.raw() / chunk.raw()) + 2;
  const std::uint64_t per_chunk = 2 * (std::uint64_t{ranks} - 1);
  return chunks > kMostTransfers / per_chunk ? kMostTransfers + 1 : chunks * per_chunk;
}

Program double_tree_all_reduce(std::uint32_t ranks, Bytes size, Bytes chunk) {
  WEIR_CHECK(ranks >= 2 && chunk > Bytes());
  Composer composer(ranks);
  add_tree(composer, ranks, 0, part_of(size, 2, 0), chunk);
  add_tree(composer, ranks, 1, part_of(size, 2, 1), chunk);
  return composer.finish();
}

std::vector<TreeNode> binary_tree(std::uint32_t ranks, std::uint32_t shift) {
  // Positions 1 … n in the order of a walk through the tree: the number of trailing zeros is the
  // height, odd positions are leaves. Where n cuts the tree off, the next ancestor within it steps
  // in.
  const auto rank_at = [&](std::uint32_t position) { return (position - 1 + shift) % ranks; };
  std::vector<TreeNode> tree(ranks);
  for (std::uint32_t position = 1; position <= ranks; ++position) {
    std::uint32_t up = position;
    do {
      const std::uint32_t low = up & (~up + 1);
      if (low == up && 2 * low > ranks) break;
      up = (up ^ low) | (low << 1U);
    } while (up > ranks);
    if (up == position) continue;
    tree[rank_at(position)].parent = rank_at(up);
    tree[rank_at(up)].children.push_back(rank_at(position));
  }
  return tree;
}

Program stream(std::uint32_t ranks, const std::vector<Pairing>& pairs, Bytes size,
               std::uint32_t count, std::uint32_t depth) {
  WEIR_CHECK(depth >= 1);
  Composer composer(ranks);
  const auto width = static_cast<std::uint32_t>(pairs.size());
  for (std::uint32_t k = 0; k < count; ++k)
    for (const Pairing& pair : pairs) {
      const std::uint32_t transfer = composer.add(pair.from, pair.to, size);
      if (k >= depth) composer.order(transfer - width * depth, transfer);
    }
  return composer.finish();
}

std::vector<Pairing> permutation(std::uint32_t ranks, std::uint32_t shift, RandomStream random) {
  WEIR_CHECK(ranks >= 2 && shift < ranks);
  std::vector<Pairing> pairs;
  if (shift != 0) {
    for (std::uint32_t r = 0; r < ranks; ++r)
      pairs.push_back({r, (r + shift) % ranks});
    return pairs;
  }
  // Sattolo's shuffle gives one cycle through all: nobody sends to itself.
  std::vector<std::uint32_t> target(ranks);
  std::iota(target.begin(), target.end(), 0U);
  for (std::uint32_t i = ranks - 1; i > 0; --i)
    std::swap(target[i], target[random.below(i)]);
  for (std::uint32_t r = 0; r < ranks; ++r)
    pairs.push_back({r, target[r]});
  return pairs;
}

}  // namespace weir::sim
