#include "diagnose/core/pause_tree.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace weir::diagnose {
namespace {

constexpr std::size_t kDeepest = 16;  // steps; a fabric has six

class PauseWalk {
 public:
  PauseWalk(std::span<const PausePort> ports, const finding::Thresholds& limits)
      : ports_(ports), least_(limits.pause_warning), branch_(limits.pause_branch) {
    for (std::size_t at = 0; at < ports.size(); ++at)
      of_device_[ports[at].device].push_back(at);
  }

  [[nodiscard]] bool is_paused(std::size_t port) const {
    return ports_[port].paused.value_or(0) >= least_;
  }

  PauseStep walk(std::size_t port) {
    PauseStep step;
    step.port = port;
    step.by = ports_[port].peer;
    const double weight = ports_[port].paused.value_or(0);
    if (!step.by) return ends(std::move(step), {PauseEnd::kUnseen, port}, weight);
    const PausePort& sender = ports_[*step.by];
    if (sender.tier == 0) return ends(std::move(step), {PauseEnd::kHost, *step.by}, weight);
    if (on_way_.contains(port) || on_way_.size() > kDeepest)
      return ends(std::move(step), {PauseEnd::kCircle, port}, weight);
    const std::vector<std::size_t> blocked = blocked_ports(*step.by);
    if (blocked.empty())
      return ends(std::move(step), {PauseEnd::kQueue, fullest_port(*step.by)}, weight);
    on_way_.insert(port);
    for (const std::size_t next : blocked)
      step.because.push_back(walk(next));
    on_way_.erase(port);
    return step;
  }

  /// Where switches are not seen: hosts that send pauses.
  void infer_hosts() {
    for (std::size_t at = 0; at < ports_.size(); ++at)
      if (ports_[at].tier == 0 && ports_[at].pausing.value_or(0) >= least_)
        note({PauseEnd::kHost, at, true}, *ports_[at].pausing);
  }

  [[nodiscard]] std::vector<PauseRoot> roots() const {
    std::vector<std::pair<PauseRoot, double>> sorted = roots_;
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      const bool a_known = a.first.kind != PauseEnd::kUnseen;
      const bool b_known = b.first.kind != PauseEnd::kUnseen;
      return a_known != b_known ? a_known : a.second > b.second;
    });
    std::vector<PauseRoot> out;
    for (const auto& [root, weight] : sorted)
      out.push_back(root);
    return out;
  }

  /// Ports that wait for the root: those whose pauses come from a device that the root blocks.
  [[nodiscard]] std::vector<std::size_t> victims(const PauseRoot& root) const {
    std::vector<std::size_t> out;
    std::set<std::string_view> blocked;
    std::vector<std::string_view> open = {ports_[root.port].device};
    while (!open.empty()) {
      const std::string_view device = open.back();
      open.pop_back();
      if (!blocked.insert(device).second) continue;
      const auto own = of_device_.find(device);
      if (own == of_device_.end()) continue;
      for (const std::size_t port : own->second) {
        const auto waiting = ports_[port].peer;
        if (!waiting || !is_paused(*waiting) || *waiting == root.port) continue;
        out.push_back(*waiting);
        if (ports_[*waiting].tier > 0) open.push_back(ports_[*waiting].device);
      }
    }
    std::sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) {
      return ports_[a].paused != ports_[b].paused ? ports_[a].paused > ports_[b].paused : a < b;
    });
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

 private:
  void note(const PauseRoot& root, double weight) {
    for (auto& [known, most] : roots_)
      if (known == root) {
        most = std::max(most, weight);
        return;
      }
    roots_.emplace_back(root, weight);
  }

  PauseStep ends(PauseStep step, const PauseRoot& root, double weight) {
    note(root, weight);
    step.root = root;
    return step;
  }

  [[nodiscard]] bool leads_up(std::size_t port) const {
    const auto peer = ports_[port].peer;
    return peer && ports_[*peer].tier > ports_[port].tier;
  }

  /// What came down to a switch is not sent up again, unless routes are broken: only where nothing
  /// below is paused the ports above are looked at.
  [[nodiscard]] std::vector<std::size_t> blocked_ports(std::size_t entry) const {
    std::vector<std::size_t> out = blocked_ports(entry, leads_up(entry));
    return out.empty() ? blocked_ports(entry, false) : out;
  }

  [[nodiscard]] std::vector<std::size_t> blocked_ports(std::size_t entry, bool only_down) const {
    std::vector<std::size_t> out;
    for (const std::size_t port : of_device_.at(ports_[entry].device))
      if (port != entry && is_paused(port) && !(only_down && leads_up(port))) out.push_back(port);
    std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) {
      return *ports_[a].paused > *ports_[b].paused;
    });
    std::size_t kept = 0;
    while (kept < out.size() && *ports_[out[kept]].paused >= branch_ * *ports_[out.front()].paused)
      ++kept;
    out.resize(kept);
    return out;
  }

  /// The port that marks most, or sends most where none marks.
  [[nodiscard]] std::size_t fullest_port(std::size_t entry) const {
    const auto fullness = [&](std::size_t port) {
      return std::pair(ports_[port].marks.value_or(0), ports_[port].used.value_or(0));
    };
    const bool only_down = leads_up(entry);
    std::size_t fullest = entry;
    for (const std::size_t port : of_device_.at(ports_[entry].device)) {
      if (port == entry || (only_down && leads_up(port))) continue;
      if (fullest == entry || fullness(port) > fullness(fullest)) fullest = port;
    }
    return fullest;
  }

  std::span<const PausePort> ports_;
  double least_;
  double branch_;
  std::map<std::string_view, std::vector<std::size_t>> of_device_;
  std::set<std::size_t> on_way_;
  std::vector<std::pair<PauseRoot, double>> roots_;
};

}  // namespace

std::string_view to_text(PauseEnd end) {
  switch (end) {
    case PauseEnd::kHost: return "host";
    case PauseEnd::kQueue: return "queue";
    case PauseEnd::kCircle: return "circle";
    case PauseEnd::kUnseen: return "unseen";
  }
  return "unseen";
}

std::optional<PauseTree> follow_pause(std::span<const PausePort> ports, std::size_t from,
                                      const finding::Thresholds& limits) {
  PauseWalk walk(ports, limits);
  if (from >= ports.size() || !walk.is_paused(from)) return std::nullopt;
  PauseTree tree;
  tree.first = walk.walk(from);
  std::vector<PauseRoot> roots = walk.roots();
  const bool is_blind = std::all_of(roots.begin(), roots.end(), [](const PauseRoot& root) {
    return root.kind == PauseEnd::kUnseen;
  });
  if (is_blind) walk.infer_hosts();
  tree.roots = walk.roots();
  if (!tree.roots.empty()) tree.victims = walk.victims(tree.roots.front());
  return tree;
}

}  // namespace weir::diagnose
