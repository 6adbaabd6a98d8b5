#include "serve/page/live_page.h"

#include <algorithm>
#include <chrono>
#include <cmath>
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
constexpr auto kRoundPoll = std::chrono::milliseconds(200);
constexpr auto kNap = std::chrono::milliseconds(20);
// After a look that took longer than the interval: others wait for the lab's lock.
constexpr auto kShortestNap = std::chrono::milliseconds(2);

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

/// "1,700,000" of 1,683,211: it changes with every step.
std::string in_two_digits(double number) {
  const double step = std::pow(10, std::max(0.0, std::floor(std::log10(number)) - 1));
  std::string digits = fmt::format("{:.0f}", std::round(number / step) * step);
  for (std::size_t at = digits.size(); at > 3; at -= 3)
    digits.insert(at - 3, 1, ',');
  return digits;
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
  const auto set = [directory](const std::string& fault, bool is_on) -> Status {
    auto lab = ops::open_lab(directory);
    if (!lab) return invalid_error(lab.error().what);
    return plain(is_on ? ops::add_lab_faults(*lab, {fault}) : ops::clear_lab_faults(*lab, {fault}));
  };
  const auto faults = [this, directory] {
    if (load_) {
      const std::lock_guard lock(faults_mutex_);
      return faults_;
    }
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

void LivePage::note_faults(const std::vector<std::string>& now) {
  const std::int64_t at = unix_ms_now();
  const std::lock_guard lock(faults_mutex_);
  const auto note = [&](const std::vector<std::string>& some,
                        const std::vector<std::string>& others, const char* severity,
                        const char* what) {
    for (const std::string& fault : some)
      if (std::find(others.begin(), others.end(), fault) == others.end())
        feed_.note({.unix_ms = at, .kind = "fault", .severity = severity, .text = what + fault});
  };
  note(now, faults_, "warning", "on: ");
  note(faults_, now, "info", "off: ");
  faults_ = now;
}

/// How slow it is, of late: ten steps or so.
void LivePage::set_clock(const ops::LabStep& step) {
  constexpr double kOfLate = 0.1;
  const Steady::time_point now = Steady::now();
  if (last_step_ != Steady::time_point() && step.simulated > Duration()) {
    const double took = std::chrono::duration<double, std::pico>(now - last_step_).count();
    const double ratio = took / static_cast<double>(step.simulated.raw());
    slowness_ = slowness_ == 0 ? ratio : slowness_ + kOfLate * (ratio - slowness_);
  }
  last_step_ = now;
  clock_ = fmt::format("{:.3f} ms simulated", static_cast<double>(step.clock.raw()) / 1e9);
  if (slowness_ >= 1.5)
    clock_ += fmt::format(", {} times slower than the fabric", in_two_digits(slowness_));
}

/// A failure is said once, until something else happens.
void LivePage::run_load() {
  auto step = load_->step();
  if (!step) {
    if (trouble_ != step.error().what)
      feed_.note({.unix_ms = unix_ms_now(),
                  .kind = "note",
                  .severity = "error",
                  .text = step.error().what});
    trouble_ = step.error().what;
    return;
  }
  trouble_.clear();
  set_clock(*step);
  note_faults(step->faults);
  feed_.add(step->ports, unix_ms_now(), clock_);
  if (std::exchange(judged_changes_, step->shown_changes) != step->shown_changes)
    wants_judging_ = true;
}

/// Hosts that went away or came back.
void LivePage::note_hosts(const ops::Observation& seen) {
  const auto host_of = [](const std::string& text) { return text.substr(0, text.find(": ")); };
  const auto is_in = [&](const std::string& host, const std::vector<std::string>& texts) {
    return std::any_of(texts.begin(), texts.end(),
                       [&](const std::string& text) { return host_of(text) == host; });
  };
  const auto note = [&](const char* severity, std::string text) {
    feed_.note({.unix_ms = unix_ms_now(), .kind = "gap", .severity = severity, .text = text});
  };
  std::vector<std::string> unseen = seen.unseen;
  std::erase_if(unseen,
                [](const std::string& text) { return text.ends_with(ops::FleetRounds::kNotYet); });
  for (const std::string& text : unseen)
    if (!is_in(host_of(text), unseen_)) note("warning", "not seen: " + text);
  for (const std::string& text : unseen_)
    if (!is_in(host_of(text), unseen)) note("info", host_of(text) + ": seen again");
  unseen_ = std::move(unseen);
  clock_ = fmt::format("{} of {} seen", seen.hosts.size(),
                       counted(seen.hosts.size() + seen.unseen.size(), "host"));
}

/// Hosts are shown as they answer: one that does not holds nobody up. Of a large fleet a frame is
/// work, so that it is made again after a multiple of the time it took.
void LivePage::look_at_fleet(const ops::FleetRounds& rounds) {
  constexpr auto kInRound = std::chrono::seconds(1);
  constexpr int kShareOfTime = 10;
  const Steady::time_point begin = Steady::now();
  const std::uint64_t count = rounds.count();
  const std::uint64_t changes = rounds.changes();
  if (changes == changes_ || (count == rounds_ && begin < next_in_round_)) return;
  rounds_ = count;
  changes_ = changes;
  ops::Observation seen = rounds.now_with_window();
  note_hosts(seen);
  const design::Intent* intent = watch_->fabric() ? &watch_->fabric()->intent : nullptr;
  feed_.add(ops::watched_ports(std::move(seen).all(), intent), unix_ms_now(), clock_);
  next_in_round_ =
      begin + std::max<Steady::duration>(kInRound, kShareOfTime * (Steady::now() - begin));
}

void LivePage::look() {
  if (load_) return run_load();
  if (const ops::FleetRounds* rounds = watch_->rounds()) return look_at_fleet(*rounds);
  auto seen = watch_->look();
  if (!seen) return;
  const design::Intent* intent = watch_->fabric() ? &watch_->fabric()->intent : nullptr;
  feed_.add(ports_.next(std::move(*seen), intent), unix_ms_now(), clock_);
}

void LivePage::run(const std::atomic<bool>& is_over) {
  if (!watch_) return;
  const auto interval = std::chrono::milliseconds(api_.info().interval_ms);
  const auto unwatched = std::max<std::chrono::milliseconds>(interval, kUnwatched);
  auto last = Steady::now() - 2 * unwatched;  // the first look is due
  while (!is_over) {
    const auto now = Steady::now();
    const bool is_watched = load_ || streams_ > 0;
    // What hosts answered is shown at once, and asking whether they did costs nothing.
    const std::chrono::milliseconds pace = watch_->rounds() != nullptr ? kRoundPoll
                                           : is_watched                ? interval
                                                                       : unwatched;
    if (now - last >= pace) {
      // From when it was due: ten looks a second are ten, whatever a nap takes. One that comes an
      // interval late is not made up for.
      last = now - last < 2 * pace ? last + pace : now;
      look();
    }
    const Steady::duration left = last + pace - Steady::now();
    std::this_thread::sleep_for(std::clamp<Steady::duration>(left, kShortestNap, kNap));
  }
}

}  // namespace weir::serve
