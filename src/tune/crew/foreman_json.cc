#include <algorithm>
#include <deque>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/json.h"
#include "base/json_cursor.h"
#include "base/untrusted/json_parse.h"
#include "tune/crew/crew.h"

namespace weir::tune {
namespace {

/// Orders that a worker holds: one that it makes, and one that waits there while the result of the
/// first is under way.
constexpr std::size_t kOrdersAhead = 2;
/// A run whose worker ends is given out again; who ends twice with it was ended by it.
constexpr int kMostLosses = 2;

std::string hex(std::uint64_t value) {
  return fmt::format("{:016x}", value);
}

/// What a worker said, as its error or as a result.
struct Reply {
  std::size_t run = 0;
  std::optional<Error> error;
  MadeRun made;
};

Result<Reply> reply_of(const Json& document) {
  const JsonCursor at(document);
  WEIR_TRY_STATUS(at.expect_object());
  Reply out;
  WEIR_TRY(run_at, at.member("run"));
  WEIR_TRY(run, run_at.whole_number());
  out.run = run;
  if (const auto error = at.find("error")) {
    WEIR_TRY(text, error->text());
    out.error = invalid_error(std::move(text));
    return out;
  }
  WEIR_TRY(cpu_at, at.member("cpu_s"));
  WEIR_TRY(cpu, cpu_at.number());
  WEIR_TRY(metrics_at, at.member("metrics"));
  WEIR_TRY(metrics, metrics_from_json(metrics_at.value()));
  out.made = {metrics, cpu};
  return out;
}

}  // namespace

struct Foreman::Batch {
  const std::vector<RunOrder>& orders;
  const Take& take;
  std::deque<std::size_t> waiting;
  std::vector<std::vector<std::size_t>> held;  // by worker
  std::vector<int> losses;                     // by order
  std::vector<std::optional<Error>> errors;    // by order
  std::size_t open = 0;                        // not yet answered
};

Foreman::Foreman(Crew& crew, std::string file, std::string text, std::uint64_t digest)
    : crew_(crew), digest_(hex(digest)), is_here_(crew.size(), true) {
  design_line_ =
      Json{{"design", std::move(file)}, {"text", std::move(text)}, {"digest", digest_}}.dump(
          -1, ' ', true, Json::error_handler_t::replace);
}

Status Foreman::introduce() {
  std::size_t open = 0;
  for (std::size_t worker = 0; worker < is_here_.size(); ++worker)
    if (crew_.send(worker, design_line_)) ++open;
  std::string trouble = "no worker could be started";
  std::size_t here = 0;
  std::fill(is_here_.begin(), is_here_.end(), false);
  while (open > 0) {
    WEIR_TRY(message, crew_.receive());
    --open;
    if (message.is_gone) {
      trouble = message.line;
      continue;
    }
    WEIR_TRY(document, parse_json(message.line));
    const JsonCursor at(document);
    WEIR_TRY_STATUS(at.expect_object());
    if (const auto error = at.find("error")) {
      WEIR_TRY(text, error->text());
      return invalid_error(fmt::format("worker {}: {}", message.worker + 1, text));
    }
    WEIR_TRY(ready_at, at.member("ready"));
    WEIR_TRY(ready, ready_at.text());
    if (ready != digest_)
      return invalid_error(fmt::format(
          "worker {} reads another design from the same file: another version of Weir is there",
          message.worker + 1));
    is_here_[message.worker] = true;
    ++here;
  }
  is_introduced_ = true;
  if (here == 0) return Error{ErrorCode::kIo, trouble};
  return {};
}

void Foreman::hand_out(Batch& batch) {
  // One each before anyone gets a second.
  for (std::size_t ahead = 1; ahead <= kOrdersAhead; ++ahead)
    for (std::size_t worker = 0; worker < is_here_.size() && !batch.waiting.empty(); ++worker) {
      if (!is_here_[worker] || batch.held[worker].size() >= ahead) continue;
      const std::size_t index = batch.waiting.front();
      Json line = to_json(batch.orders[index]);
      line["run"] = index;
      batch.waiting.pop_front();
      batch.held[worker].push_back(index);
      // One that is gone is reported by receive(), and its runs come back then.
      static_cast<void>(
          crew_.send(worker, line.dump(-1, ' ', true, Json::error_handler_t::replace)));
    }
}

Status Foreman::take_in(Batch& batch, const Crew::Message& message) {
  WEIR_TRY(document, parse_json(message.line));
  WEIR_TRY(reply, reply_of(document));
  auto& held = batch.held[message.worker];
  const auto found = std::find(held.begin(), held.end(), reply.run);
  if (found == held.end())
    return invalid_error(fmt::format("worker {} answers a run that it was not given: {}",
                                     message.worker + 1, reply.run));
  held.erase(found);
  --batch.open;
  if (reply.error) {
    batch.errors[reply.run] = *reply.error;
  } else {
    batch.take(reply.run, reply.made);
  }
  return {};
}

Status Foreman::lose(Batch& batch, const Crew::Message& message) {
  is_here_[message.worker] = false;
  for (const std::size_t index : batch.held[message.worker]) {
    if (++batch.losses[index] >= kMostLosses)
      return Error{ErrorCode::kIo, fmt::format("{} workers ended while they made one run: {}",
                                               kMostLosses, message.line)};
    batch.waiting.push_front(index);
  }
  batch.held[message.worker].clear();
  if (std::none_of(is_here_.begin(), is_here_.end(), [](bool here) { return here; }))
    return Error{ErrorCode::kIo, fmt::format("no worker is left: {}", message.line)};
  return {};
}

Status Foreman::make(const std::vector<RunOrder>& orders, const Take& take) {
  if (orders.empty()) return {};
  if (!is_introduced_) WEIR_TRY_STATUS(introduce());
  Batch batch{orders, take, {}, {}, {}, {}, orders.size()};
  batch.held.resize(is_here_.size());
  batch.losses.resize(orders.size());
  batch.errors.resize(orders.size());
  for (std::size_t i = 0; i < orders.size(); ++i)
    batch.waiting.push_back(i);
  while (batch.open > 0) {
    hand_out(batch);
    WEIR_TRY(message, crew_.receive());
    WEIR_TRY_STATUS(message.is_gone ? lose(batch, message) : take_in(batch, message));
  }
  for (const auto& error : batch.errors)
    if (error) return *error;
  return {};
}

}  // namespace weir::tune
