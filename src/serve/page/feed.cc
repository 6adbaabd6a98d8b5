#include "serve/page/feed.h"

#include <algorithm>

#include <fmt/format.h>

namespace weir::serve {
namespace {

constexpr std::int64_t kFineMs = 15 * 60 * 1000;
constexpr std::int64_t kCoarseMs = 15 * 1000;
constexpr std::int64_t kOldestMs = 24 * 3600 * 1000;

std::size_t size_of(const Frame& frame) {
  return sizeof frame + frame.cells.size();
}

bool is_same(const finding::Finding& a, const finding::Finding& b) {
  return a.id == b.id && a.where == b.where;
}

bool has(const Judged* judged, const finding::Finding& wanted) {
  if (judged == nullptr) return false;
  const auto& all = judged->judgement.findings;
  return std::any_of(all.begin(), all.end(), [&](const auto& f) { return is_same(f, wanted); });
}

/// What the page knows of a port; `peer` is the place of the other end.
PagePort page_port(const ops::WatchedPort& port, std::optional<std::size_t> peer) {
  return {port.device, port.name, port.tier, port.rail, peer, port.neighbour, port.speed};
}

}  // namespace

/// The ports of the look before, in the same order and unchanged: the usual case.
bool Feed::are_known(const std::vector<ops::WatchedPort>& ports) const {
  if (!state_.topology || ports.size() != last_places_.size()) return false;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const ops::WatchedPort& port = ports[i];
    const PagePort& known = (*state_.topology)[last_places_[i]];
    const auto peer = port.peer ? std::optional(last_places_[*port.peer]) : std::nullopt;
    if (known.name != port.name || known.device != port.device || known.tier != port.tier ||
        known.rail != port.rail || known.peer != peer || known.speed != port.speed ||
        known.neighbour != port.neighbour)
      return false;
  }
  return true;
}

/// Where each port is in the frame. Ports that were not there before come last.
void Feed::place(const std::vector<ops::WatchedPort>& ports) {
  if (are_known(ports)) return;
  auto next =
      state_.topology ? std::make_shared<Topology>(*state_.topology) : std::make_shared<Topology>();
  last_places_.clear();
  for (const ops::WatchedPort& port : ports) {
    const auto [at, is_new] = places_.try_emplace({port.device, port.name}, next->size());
    if (is_new) next->push_back({});
    last_places_.push_back(at->second);
  }
  for (std::size_t i = 0; i < ports.size(); ++i) {
    std::optional<std::size_t> peer;
    if (ports[i].peer) peer = last_places_[*ports[i].peer];
    (*next)[last_places_[i]] = page_port(ports[i], peer);
  }
  if (!state_.topology || *state_.topology != *next) {
    state_.topology = std::move(next);
    ++state_.topology_version;
  }
}

void Feed::add(const std::vector<ops::WatchedPort>& ports, std::int64_t unix_ms,
               std::string clock) {
  const std::lock_guard lock(mutex_);
  place(ports);
  Frame frame = make_frame(ports, last_places_, state_.topology->size());
  frame.number = state_.frame ? state_.frame->number + 1 : 1;
  frame.unix_ms = unix_ms;
  frame.clock = std::move(clock);
  note_links(frame);
  state_.frame = std::make_shared<const Frame>(std::move(frame));
  frames_.push_back(state_.frame);
  bytes_ += size_of(*state_.frame);
  thin_out();
  changed_.notify_all();
}

void Feed::note_links(const Frame& frame) {
  if (!state_.frame) return;
  for (std::size_t port = 0; port < frame.ports; ++port) {
    const std::uint8_t before = state_.frame->cell(Quantity::kLink, port);
    const std::uint8_t after = frame.cell(Quantity::kLink, port);
    const PagePort& who = (*state_.topology)[port];
    const bool was_counted = state_.frame->cell(Quantity::kSent, port) != kGap;
    const bool is_counted = frame.cell(Quantity::kSent, port) != kGap;
    if (before != after && before != kGap && after != kGap)
      push_event(
          {.unix_ms = frame.unix_ms,
           .kind = "link",
           .severity = after == 0 ? "error" : "info",
           .text = fmt::format("{} {}: link {}", who.device, who.name, after == 0 ? "down" : "up"),
           .port = port});
    if (was_counted && !is_counted && who.tier == 0)
      push_event({.unix_ms = frame.unix_ms,
                  .kind = "gap",
                  .severity = "warning",
                  .text = fmt::format("{} {}: no counters", who.device, who.name),
                  .port = port});
  }
}

/// Beyond a quarter of an hour one frame per 15 s; none older than a day; none beyond the bytes.
void Feed::thin_out() {
  const std::int64_t now = state_.frame->unix_ms;
  // Frames leave the fine part one by one, so that only the youngest of the coarse part can be too
  // close to the one before it.
  for (std::size_t i = frames_.size(); i-- > 1;) {
    if (now - frames_[i]->unix_ms <= kFineMs) continue;
    if (frames_[i]->unix_ms - frames_[i - 1]->unix_ms >= kCoarseMs) break;
    bytes_ -= size_of(*frames_[i]);
    frames_.erase(frames_.begin() + static_cast<std::ptrdiff_t>(i));
    break;
  }
  while (frames_.size() > 1 &&
         (bytes_ > most_bytes_ || now - frames_.front()->unix_ms > kOldestMs)) {
    bytes_ -= size_of(*frames_.front());
    frames_.pop_front();
  }
}

void Feed::judge(std::shared_ptr<const Judged> judged) {
  const std::lock_guard lock(mutex_);
  const auto unix_ms = static_cast<std::int64_t>(judged->unix_seconds * 1000);
  for (const finding::Finding& found : judged->judgement.findings)
    if (!has(state_.judged.get(), found))
      push_event({.unix_ms = unix_ms,
                  .kind = "finding",
                  .severity = std::string(finding::to_text(found.severity)),
                  .text = found.verdict,
                  .id = found.id});
  if (state_.judged)
    for (const finding::Finding& found : state_.judged->judgement.findings)
      if (!has(judged.get(), found))
        push_event({.unix_ms = unix_ms,
                    .kind = "closed",
                    .severity = "info",
                    .text = fmt::format("{}: {}", finding::to_text(found.where), found.id),
                    .id = found.id});
  state_.judged = std::move(judged);
  ++state_.judged_version;
  changed_.notify_all();
}

void Feed::push_event(PageEvent event) {
  event.number = ++state_.last_event;
  events_.push_back(std::move(event));
  if (events_.size() > kMostEvents) events_.pop_front();
}

void Feed::note(PageEvent event) {
  const std::lock_guard lock(mutex_);
  push_event(std::move(event));
  changed_.notify_all();
}

void Feed::close() {
  const std::lock_guard lock(mutex_);
  state_.is_closed = true;
  changed_.notify_all();
}

Feed::State Feed::now() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

Feed::State Feed::wait(const State& known, std::chrono::milliseconds most) const {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, most, [&] {
    return state_.is_closed || state_.frame != known.frame ||
           state_.judged_version != known.judged_version || state_.last_event != known.last_event;
  });
  return state_;
}

SharedFrame Feed::frame(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  const auto after = std::upper_bound(
      frames_.begin(), frames_.end(), number,
      [](std::uint64_t wanted, const SharedFrame& frame) { return wanted < frame->number; });
  return after == frames_.begin() ? nullptr : *std::prev(after);
}

std::vector<SharedFrame> Feed::history() const {
  const std::lock_guard lock(mutex_);
  return {frames_.begin(), frames_.end()};
}

std::vector<PageEvent> Feed::events_after(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  std::vector<PageEvent> out;
  std::copy_if(events_.begin(), events_.end(), std::back_inserter(out),
               [&](const PageEvent& event) { return event.number > number; });
  return out;
}

std::size_t Feed::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace weir::serve
