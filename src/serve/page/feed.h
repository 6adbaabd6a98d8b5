#pragma once
// What the page shows, as it comes: ports, frames, findings, events. One thread adds, any number
// read and wait.
//
// Bounded: a day of frames, and 64 MiB of them whatever comes first; beyond a quarter of an hour a
// frame per 15 s is kept. 500 events.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "serve/metrics/families.h"
#include "serve/page/frame.h"

namespace weir::serve {

/// A port of the page. Its place in the list is its number, for as long as the process runs.
struct PagePort {
  std::string device;
  std::string name;
  int tier = 0;
  std::optional<unsigned> rail;
  std::optional<std::size_t> peer;
  std::string neighbour;
  std::optional<BitRate> speed;

  friend bool operator==(const PagePort&, const PagePort&) = default;
};
using Topology = std::vector<PagePort>;

struct PageEvent {
  std::uint64_t number = 0;  // from 1
  std::int64_t unix_ms = 0;
  std::string kind;  // "finding" "closed" "link" "fault" "gap" "note"
  std::string severity;
  std::string text;
  std::string id;  // of a finding
  std::optional<std::size_t> port;
};

class Feed {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20U;
  static constexpr std::size_t kMostEvents = 500;

  explicit Feed(std::size_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}

  // ---- by the thread that looks
  void add(const std::vector<ops::WatchedPort>& ports, std::int64_t unix_ms, std::string clock);
  /// Opens and closes findings in the list of events.
  void judge(std::shared_ptr<const Judged> judged);
  void note(PageEvent event);
  void close();  // wakes everyone: the server ends

  // ---- by anyone
  struct State {
    SharedFrame frame;  // nullptr: none yet
    std::shared_ptr<const Topology> topology;
    std::uint64_t topology_version = 0;
    std::shared_ptr<const Judged> judged;  // nullptr: not yet
    std::uint64_t judged_version = 0;
    std::uint64_t last_event = 0;
    bool is_closed = false;
  };
  [[nodiscard]] State now() const;
  /// Waits until something is newer than `known`, or for `most`.
  [[nodiscard]] State wait(const State& known, std::chrono::milliseconds most) const;
  /// The latest frame that is not after this number; nullptr where it is not kept any more.
  [[nodiscard]] SharedFrame frame(std::uint64_t number) const;
  [[nodiscard]] std::vector<SharedFrame> history() const;
  [[nodiscard]] std::vector<PageEvent> events_after(std::uint64_t number) const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  [[nodiscard]] bool are_known(const std::vector<ops::WatchedPort>& ports) const;
  void place(const std::vector<ops::WatchedPort>& ports);
  void note_links(const Frame& frame);
  void thin_out();
  void push_event(PageEvent event);

  std::size_t most_bytes_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  State state_;
  std::map<std::pair<std::string, std::string>, std::size_t> places_;  // device, name
  std::vector<std::size_t> last_places_;  // of the ports of the last look, in their order
  std::deque<SharedFrame> frames_;
  std::size_t bytes_ = 0;
  std::deque<PageEvent> events_;
};

}  // namespace weir::serve
