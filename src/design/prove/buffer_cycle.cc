#include "design/prove/buffer_cycle.h"

#include <algorithm>
#include <deque>

#include "base/check.h"

namespace weir::design {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFFU;

/// Tarjan's strongly connected components, with a stack of its own: paths may be long.
class Components {
 public:
  explicit Components(const std::vector<std::vector<std::uint32_t>>& edges)
      : edges_(edges), order_(edges.size(), kNone), low_(edges.size()), on_stack_(edges.size()) {}

  /// Those that hold a cycle.
  std::vector<std::vector<std::uint32_t>> find() {
    for (std::uint32_t node = 0; node < edges_.size(); ++node)
      if (order_[node] == kNone) search(node);
    return std::move(found_);
  }

 private:
  struct Frame {
    std::uint32_t node;
    std::size_t next;  // edge to look at
  };

  void enter(std::uint32_t node) {
    order_[node] = low_[node] = count_++;
    stack_.push_back(node);
    on_stack_[node] = true;
    frames_.push_back({node, 0});
  }

  void search(std::uint32_t root) {
    enter(root);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      const std::uint32_t node = frame.node;
      if (frame.next < edges_[node].size()) {
        const std::uint32_t target = edges_[node][frame.next++];
        if (order_[target] == kNone) {
          enter(target);
        } else if (on_stack_[target]) {
          low_[node] = std::min(low_[node], order_[target]);
        }
        continue;
      }
      frames_.pop_back();
      if (!frames_.empty())
        low_[frames_.back().node] = std::min(low_[frames_.back().node], low_[node]);
      if (low_[node] == order_[node]) leave(node);
    }
  }

  void leave(std::uint32_t root) {
    std::vector<std::uint32_t> component;
    std::uint32_t node = kNone;
    while (node != root) {
      node = stack_.back();
      stack_.pop_back();
      on_stack_[node] = false;
      component.push_back(node);
    }
    const auto& own = edges_[root];
    if (component.size() > 1 || std::find(own.begin(), own.end(), root) != own.end())
      found_.push_back(std::move(component));
  }

  const std::vector<std::vector<std::uint32_t>>& edges_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> low_;
  std::vector<bool> on_stack_;
  std::vector<std::uint32_t> stack_;
  std::vector<Frame> frames_;
  std::uint32_t count_ = 0;
  std::vector<std::vector<std::uint32_t>> found_;
};

}  // namespace

BufferGraph::Index BufferGraph::index_of(const Buffer& buffer) {
  constexpr std::uint32_t kLimit = 1U << 28U;
  WEIR_CHECK(buffer.from < kLimit && buffer.to < kLimit);
  const std::uint64_t key =
      (std::uint64_t{buffer.from} << 36U) | (std::uint64_t{buffer.to} << 8U) | buffer.priority;
  const auto [at, is_new] = known_.emplace(key, static_cast<Index>(buffers_.size()));
  if (is_new) {
    buffers_.push_back(buffer);
    waits_for_.emplace_back();
  }
  return at->second;
}

void BufferGraph::depend(const Buffer& held, const Buffer& wanted) {
  const Index from = index_of(held);
  const Index to = index_of(wanted);
  if (edges_.insert((std::uint64_t{from} << 32U) | to).second) waits_for_[from].push_back(to);
}

std::vector<std::vector<BufferGraph::Index>> BufferGraph::components() const {
  return Components(waits_for_).find();
}

std::size_t BufferGraph::cyclic_components() const {
  return components().size();
}

std::vector<Buffer> BufferGraph::find_cycle() const {
  const auto cyclic = components();
  if (cyclic.empty()) return {};
  // Breadth first from the component's first-named buffer back to itself.
  const Index start = *std::min_element(cyclic.back().begin(), cyclic.back().end());
  std::vector<Index> before(buffers_.size(), kNone);
  std::deque<Index> frontier = {start};
  while (!frontier.empty()) {
    const Index at = frontier.front();
    frontier.pop_front();
    for (const Index next : waits_for_[at]) {
      if (next == start) {
        std::vector<Buffer> cycle;
        for (Index back = at; back != start; back = before[back])
          cycle.push_back(buffers_[back]);
        cycle.push_back(buffers_[start]);
        std::reverse(cycle.begin(), cycle.end());
        return cycle;
      }
      if (before[next] != kNone) continue;
      before[next] = at;
      frontier.push_back(next);
    }
  }
  WEIR_UNREACHABLE("a component with a cycle leads back to each of its buffers");
}

}  // namespace weir::design
