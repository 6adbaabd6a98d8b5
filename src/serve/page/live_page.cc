#include "serve/page/live_page.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>

#include <fmt/format.h>

#include "base/text.h"
#include "ops/simulate/lab.h"
#include "units/format.h"

namespace weir::serve {
namespace {

using Steady = std::chrono::steady_clock;
constexpr auto kUnwatched = std::chrono::seconds(15);
constexpr auto kNap = std::chrono::milliseconds(20);

std::int64_t unix_ms_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Of "2026-11-18T02:17:35Z" or with a fraction; nullopt where it is something else.
std::optional<std::int64_t> unix_ms_of(const std::string& rfc3339) {
  std::tm parts{};
  const char* rest = ::strptime(rfc3339.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr) return std::nullopt;
  return static_cast<std::int64_t>(::timegm(&parts)) * 1000;
}

Status plain(const ops::Status& status) {
  if (status) return {};
  return invalid_error(status.error().what);
}

}  // namespace

LivePage::LivePage(ops::Watch watch, PageInfo info, std::optional<ops::LiveLab> load,
                   const std::string& lab_directory)
    : watch_(std::move(watch)),
      load_(std::move(load)),
      api_(feed_, std::move(info),
           lab_directory.empty() ? std::nullopt : std::optional(control_of(lab_directory))) {}

LivePage::LivePage(const ops::Replay& replay, PageInfo info)
    : api_(feed_, std::move(info), std::nullopt) {
  const std::int64_t begin = unix_ms_of(replay.moments.front().time).value_or(0);
  const std::int64_t first = replay.moments.front().clock_ns;
  for (const ops::ReplayMoment& moment : replay.moments)
    feed_.add(moment.ports, begin + (moment.clock_ns - first) / 1'000'000, moment.time);
  feed_.judge(std::make_shared<Judged>(
      Judged{replay.judgement, static_cast<double>(feed_.now().frame->unix_ms) / 1000}));
}

LabControl LivePage::control_of(const std::string& directory) {
  const auto set = [this, directory](const std::string& fault, bool is_on) -> Status {
    auto lab = ops::open_lab(directory);
    if (!lab) return invalid_error(lab.error().what);
    const Status done =
        plain(is_on ? ops::add_lab_faults(*lab, {fault}) : ops::clear_lab_faults(*lab, {fault}));
    if (done) was_switched_ = true;
    return done;
  };
  const auto faults = [directory] {
    std::vector<std::string> out;
    if (const auto lab = ops::open_lab(directory))
      for (const auto& fault : lab->faults())
        out.push_back(fault.text);
    return out;
  };
  return {faults, set};
}

bool LivePage::open_stream() {
  if (++streams_ <= kMostStreams) return true;
  --streams_;
  return false;
}

/// Said once, until something else happens.
void LivePage::run_load() {
  const bool was_switched = was_switched_.exchange(false);
  auto step = load_->step();
  const std::int64_t now = unix_ms_now();
  if (!step) {
    if (trouble_ != step.error().what)
      feed_.note({.unix_ms = now, .kind = "note", .severity = "error", .text = step.error().what});
    trouble_ = step.error().what;
    return;
  }
  trouble_.clear();
  clock_ = fmt::format("{:.3f} ms simulated", static_cast<double>(step->clock.raw()) / 1e9);
  for (const std::string& fault : step->faults)
    if (std::find(faults_.begin(), faults_.end(), fault) == faults_.end())
      feed_.note({.unix_ms = now, .kind = "fault", .severity = "warning", .text = "on: " + fault});
  for (const std::string& fault : faults_)
    if (std::find(step->faults.begin(), step->faults.end(), fault) == step->faults.end())
      feed_.note({.unix_ms = now, .kind = "fault", .severity = "info", .text = "off: " + fault});
  faults_ = std::move(step->faults);
  if (was_switched) wants_judging_ = true;
}

void LivePage::look() {
  if (load_) run_load();
  auto seen = watch_->look();
  if (!seen) return;
  const design::Intent* intent = watch_->fabric() ? &watch_->fabric()->intent : nullptr;
  feed_.add(ports_.next(std::move(*seen), intent), unix_ms_now(), clock_);
}

void LivePage::run(const std::atomic<bool>& is_over) {
  if (!watch_) return;
  const auto interval = std::chrono::milliseconds(api_.info().interval_ms);
  auto last = Steady::time_point();
  while (!is_over) {
    const auto now = Steady::now();
    const bool is_watched = load_ || streams_ > 0;
    const std::chrono::milliseconds pace =
        is_watched ? interval : std::max<std::chrono::milliseconds>(interval, kUnwatched);
    if (last == Steady::time_point() || now - last >= pace) {
      last = now;
      look();
    }
    std::this_thread::sleep_for(kNap);
  }
}

}  // namespace weir::serve
