#pragma once
// The page's questions and their answers, without a socket: JSON of what the Feed holds. Only one
// of them changes anything, and only in a lab.
//
//   /api/topology                         ports, devices, who is at the other end
//   /api/frame?at=N&quantities=pause      one moment; at=0: the latest
//   /api/history                          which moments are kept, and the highest of each
//   /api/series?ports=1,2&last=120        curves of some ports; until=N: up to that moment
//   /api/follow?port=N&at=N               from a paused port to the root
//   /api/findings  /api/explain?id=X      what is open; what it means
//   /api/events?after=N                   the log
//   /api/lab                              faults that are on, those that exist, the load
//   POST /api/lab/fault {fault, on}       switches one
//   /api/stream?quantities=…&after=N      all of it as it comes (text/event-stream)
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "finding/thresholds.h"
#include "serve/page/feed.h"

namespace weir::serve {

struct PageInfo {
  std::string mode;    // "host" "recorded" "lab" "fleet" "replay"
  std::string title;   // whose page it is
  std::string source;  // of a command that looks at the same: "--lab build/demo/lab"
  std::string design;  // its name; empty: none
  std::string version;
  bool is_simulated = false;
  std::string load;  // of a lab
  std::int64_t interval_ms = 1000;
  finding::Thresholds thresholds = {};
};

/// A lab that the page may break. Both are called from any thread.
struct LabControl {
  std::function<std::vector<std::string>()> faults;
  std::function<Status(const std::string& fault, bool is_on)> set_fault;
};

struct Question {
  std::string path;
  std::map<std::string, std::string, std::less<>> values;
  std::string body;
};

struct Answer {
  int status = 200;
  std::string body;  // JSON
};

class Api {
 public:
  Api(Feed& feed, PageInfo info, std::optional<LabControl> lab)
      : feed_(feed), info_(std::move(info)), lab_(std::move(lab)) {}

  [[nodiscard]] bool knows(std::string_view path) const;
  [[nodiscard]] Answer get(const Question& question) const;
  /// REQUIRES: the door let it in.
  [[nodiscard]] Answer post(const Question& question);

  /// One client of /api/stream. Looks take 90 kB/s at most: of a large fabric that is looked at
  /// often some are left out.
  class Stream {
   public:
    static constexpr std::size_t kBytesPerSecond = 90'000;

    Stream(const Api& api, std::vector<Quantity> quantities, std::uint64_t last_event)
        : api_(api), quantities_(std::move(quantities)) {
      known_.last_event = last_event;
    }
    /// What is new, as server-sent events; a comment after 15 s of silence; nullopt: the end.
    [[nodiscard]] std::optional<std::string> next(std::chrono::milliseconds most);

   private:
    void add_tick(Feed::State& now, std::string& out);

    const Api& api_;
    std::vector<Quantity> quantities_;
    Feed::State known_;
    std::chrono::steady_clock::time_point next_tick_;
    std::chrono::milliseconds silent_{};
  };
  /// nullopt: the question makes no sense.
  [[nodiscard]] std::optional<Stream> stream(const Question& question) const;
  /// Live pictures come only while someone looks.
  [[nodiscard]] const PageInfo& info() const { return info_; }

 private:
  friend class Stream;
  [[nodiscard]] Answer topology() const;
  [[nodiscard]] Answer frame(const Question& question) const;
  [[nodiscard]] Answer history() const;
  [[nodiscard]] Answer series(const Question& question) const;
  [[nodiscard]] Answer follow(const Question& question) const;
  [[nodiscard]] Answer findings() const;
  [[nodiscard]] Answer events(const Question& question) const;
  [[nodiscard]] Answer lab() const;

  Feed& feed_;
  PageInfo info_;
  std::optional<LabControl> lab_;
};

/// Pieces of answers (api_json.cc).
[[nodiscard]] Json topology_json(const PageInfo& info, const Feed::State& state);
[[nodiscard]] Json frame_json(const Frame& frame, std::uint64_t topology_version,
                              const std::vector<Quantity>& quantities);
[[nodiscard]] Json event_json(const PageEvent& event);
[[nodiscard]] Json findings_json(const Judged* judged);
[[nodiscard]] Json follow_json(const Frame& frame, const Topology& topology, std::size_t from,
                               const finding::Thresholds& limits);
[[nodiscard]] Json explain_json(std::string_view id);
[[nodiscard]] Json fault_types_json();
/// Others' names may be no UTF-8: replaced, not refused.
[[nodiscard]] std::string json_text(const Json& json);

}  // namespace weir::serve
