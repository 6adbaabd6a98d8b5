#include "serve/page/api.h"

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "base/untrusted/json_parse.h"
#include "base/untrusted/printable.h"

namespace weir::serve {
namespace {

constexpr std::size_t kMostSeries = 256;
constexpr std::size_t kMostPoints = 900;
constexpr std::size_t kLongestFault = 200;
constexpr auto kPingAfter = std::chrono::seconds(15);

Answer answer_with(const Json& json) {
  return {200, json_text(json)};
}

Answer refuse(int status, std::string_view why) {
  return {status, json_text({{"error", why}})};
}

/// nullopt where it is not a number; `fallback` where it is not given.
std::optional<std::uint64_t> number_of(const Question& question, std::string_view name,
                                       std::uint64_t fallback) {
  const auto found = question.values.find(name);
  if (found == question.values.end()) return fallback;
  const auto number = parse_u64(found->second);
  if (!number) return std::nullopt;
  return *number;
}

/// In the order given, each once; nullopt where one is not known. None given: pause alone.
std::optional<std::vector<Quantity>> quantities_of(const Question& question) {
  const auto found = question.values.find("quantities");
  if (found == question.values.end()) return std::vector{Quantity::kPause};
  std::vector<Quantity> out;
  for (const std::string_view name : split(std::string_view(found->second), ',')) {
    const auto quantity = parse_quantity(name);
    if (!quantity) return std::nullopt;
    if (std::find(out.begin(), out.end(), *quantity) == out.end()) out.push_back(*quantity);
  }
  return out;
}

std::optional<std::vector<std::size_t>> ports_of(const Question& question, std::size_t count) {
  const auto found = question.values.find("ports");
  if (found == question.values.end()) return std::nullopt;
  std::vector<std::size_t> out;
  for (const std::string_view word : split(std::string_view(found->second), ',')) {
    const auto port = parse_u64(word);
    if (!port || *port >= count || out.size() == kMostSeries) return std::nullopt;
    out.push_back(*port);
  }
  return out;
}

std::string sse(std::string_view name, const Json& data) {
  return fmt::format("event: {}\ndata: {}\n\n", name, json_text(data));
}

}  // namespace

bool Api::knows(std::string_view path) const {
  static constexpr std::array<std::string_view, 9> kPaths = {
      "/api/topology", "/api/frame",   "/api/history", "/api/series", "/api/follow",
      "/api/findings", "/api/explain", "/api/events",  "/api/lab"};
  return std::find(kPaths.begin(), kPaths.end(), path) != kPaths.end();
}

Answer Api::get(const Question& question) const {
  if (question.path == "/api/topology") return topology();
  if (question.path == "/api/frame") return frame(question);
  if (question.path == "/api/history") return history();
  if (question.path == "/api/series") return series(question);
  if (question.path == "/api/follow") return follow(question);
  if (question.path == "/api/findings") return findings();
  if (question.path == "/api/events") return events(question);
  if (question.path == "/api/lab") return lab();
  if (question.path == "/api/explain") {
    const auto id = question.values.find("id");
    const Json entry = id == question.values.end() ? Json(nullptr) : explain_json(id->second);
    return entry.is_null() ? refuse(404, "no finding has this id") : answer_with(entry);
  }
  return refuse(404, "no such question");
}

Answer Api::topology() const {
  return answer_with(topology_json(info_, feed_.now()));
}

Answer Api::frame(const Question& question) const {
  const auto at = number_of(question, "at", 0);
  const auto quantities = quantities_of(question);
  if (!at || !quantities) return refuse(400, "expected at=NUMBER and quantities of frames");
  const Feed::State state = feed_.now();
  const SharedFrame wanted = *at == 0 ? state.frame : feed_.frame(*at);
  if (wanted == nullptr) return refuse(404, "no such moment is kept");
  return answer_with(frame_json(*wanted, state.topology_version, *quantities));
}

/// As many moments as a scrubber can show.
Answer Api::history() const {
  Json out = {{"numbers", Json::array()}, {"times", Json::array()}, {"highest", Json::object()}};
  constexpr std::array<Quantity, 4> kShown = {Quantity::kPause, Quantity::kSent, Quantity::kMarks,
                                              Quantity::kDrops};
  for (const SharedFrame& frame : feed_.history()) {
    out["numbers"].push_back(frame->number);
    out["times"].push_back(frame->unix_ms);
    for (const Quantity quantity : kShown)
      out["highest"][std::string(kQuantityNames[static_cast<std::size_t>(quantity)])].push_back(
          frame->highest(quantity));
  }
  return answer_with(out);
}

Answer Api::series(const Question& question) const {
  const Feed::State state = feed_.now();
  const auto ports = ports_of(question, state.topology ? state.topology->size() : 0);
  const auto last = number_of(question, "last", 120);
  const auto until = number_of(question, "until", 0);
  const auto quantities = quantities_of(question);
  if (!ports || !last || !until || !quantities)
    return refuse(400,
                  "expected ports=N,N… of the topology, last=NUMBER, until=NUMBER, quantities");
  std::vector<SharedFrame> frames = feed_.history();
  if (*until != 0)
    std::erase_if(frames, [&](const SharedFrame& frame) { return frame->number > *until; });
  const std::size_t kept = std::min({frames.size(), kMostPoints, static_cast<std::size_t>(*last)});
  frames.erase(frames.begin(), frames.end() - static_cast<std::ptrdiff_t>(kept));
  Json out = {{"numbers", Json::array()}, {"times", Json::array()}, {"ports", Json::array()}};
  for (const SharedFrame& frame : frames) {
    out["numbers"].push_back(frame->number);
    out["times"].push_back(frame->unix_ms);
  }
  for (const std::size_t port : *ports) {
    Json row = {{"port", port}};
    for (const Quantity quantity : *quantities) {
      std::vector<std::uint8_t> cells;
      for (const SharedFrame& frame : frames)
        cells.push_back(frame->cell(quantity, port));
      row[std::string(kQuantityNames[static_cast<std::size_t>(quantity)])] =
          base64(cells.data(), cells.size());
    }
    out["ports"].push_back(std::move(row));
  }
  return answer_with(out);
}

Answer Api::follow(const Question& question) const {
  const Feed::State state = feed_.now();
  const auto port = number_of(question, "port", UINT64_MAX);
  const auto at = number_of(question, "at", 0);
  if (!port || !at || !state.topology || *port >= state.topology->size())
    return refuse(400, "expected port=NUMBER of the topology and at=NUMBER");
  const SharedFrame wanted = *at == 0 ? state.frame : feed_.frame(*at);
  if (wanted == nullptr) return refuse(404, "no such moment is kept");
  return answer_with(follow_json(*wanted, *state.topology, *port, info_.thresholds));
}

Answer Api::findings() const {
  return answer_with(findings_json(feed_.now().judged.get()));
}

Answer Api::events(const Question& question) const {
  const auto after = number_of(question, "after", 0);
  if (!after) return refuse(400, "expected after=NUMBER");
  Json out = Json::array();
  for (const PageEvent& event : feed_.events_after(*after))
    out.push_back(event_json(event));
  return answer_with({{"events", std::move(out)}});
}

Answer Api::lab() const {
  if (!lab_) return refuse(404, "this is no lab: nothing can be changed from here");
  Json faults = Json::array();
  for (const std::string& fault : lab_->faults())
    faults.push_back(fault);
  return answer_with(
      {{"load", info_.load}, {"faults", std::move(faults)}, {"types", fault_types_json()}});
}

Answer Api::post(const Question& question) {
  if (question.path != "/api/lab/fault" || !lab_)
    return refuse(404, "nothing can be changed from here");
  const auto body = parse_json(question.body);
  if (!body || !body->is_object() || !body->contains("fault") || !(*body)["fault"].is_string() ||
      !body->contains("on") || !(*body)["on"].is_boolean())
    return refuse(400, "expected {\"fault\": \"name,at=place\", \"on\": true}");
  const auto fault = (*body)["fault"].get<std::string>();
  const bool is_on = (*body)["on"].get<bool>();
  if (fault.empty() || fault.size() > kLongestFault)
    return refuse(400, "expected a fault of at most 200 characters");
  if (const Status done = lab_->set_fault(fault, is_on); !done)
    return refuse(409, done.error().what);
  return answer_with({{"fault", fault}, {"on", is_on}});
}

std::optional<Api::Stream> Api::stream(const Question& question) const {
  const auto quantities = quantities_of(question);
  const auto after = number_of(question, "after", 0);
  if (!quantities || !after) return std::nullopt;
  return Stream(*this, *quantities, *after);
}

/// A look that comes before the one before it was paid for is left out; the next one counts.
void Api::Stream::add_tick(Feed::State& now, std::string& out) {
  if (now.frame == known_.frame || now.frame == nullptr) return;
  const auto time = std::chrono::steady_clock::now();
  if (time < next_tick_) {
    now.frame = known_.frame;
    return;
  }
  out += sse("tick", frame_json(*now.frame, now.topology_version, quantities_));
  next_tick_ = time + std::chrono::microseconds(out.size() * 1'000'000 / kBytesPerSecond);
}

std::optional<std::string> Api::Stream::next(std::chrono::milliseconds most) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      next_tick_ - std::chrono::steady_clock::now());
  if (left.count() > 0) std::this_thread::sleep_for(std::min(left, most));
  Feed::State now = api_.feed_.wait(known_, most);
  if (now.is_closed) return std::nullopt;
  std::string out;
  add_tick(now, out);
  if (now.judged_version != known_.judged_version)
    out += sse("judged", findings_json(now.judged.get()));
  if (now.last_event != known_.last_event)
    for (const PageEvent& event : api_.feed_.events_after(known_.last_event))
      out += sse("log", event_json(event));
  silent_ = out.empty() ? silent_ + most : std::chrono::milliseconds{};
  if (silent_ >= kPingAfter) {
    silent_ = {};
    out = ": still here\n\n";
  }
  known_ = std::move(now);
  return out;
}

}  // namespace weir::serve
