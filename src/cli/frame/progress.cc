#include "cli/frame/progress.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/text.h"
#include "base/untrusted/printable.h"

namespace weir::cli {
namespace {

constexpr int kBarWidth = 24;
constexpr std::size_t kLineWidth = 79;
constexpr std::string_view kEraseLine = "\r\x1b[K";  // ECMA-48 EL

/// A terminal that was halted (Ctrl-S) takes nothing; what only shows progress does not wait.
bool takes_output() {
  pollfd err{STDERR_FILENO, POLLOUT, 0};
  return ::poll(&err, 1, 0) != 0;
}

std::string time_left(std::chrono::steady_clock::duration spent, double share) {
  // Below one percent the estimate is noise.
  if (share < 0.01) return "";
  const double seconds =
      std::chrono::duration<double>(spent).count() * (1.0 - share) / std::max(share, 1e-9);
  const auto whole = static_cast<long long>(std::ceil(seconds));
  return whole < 60 ? fmt::format(", {} s left", whole)
                    : fmt::format(", {} min {:02} s left", whole / 60, whole % 60);
}

}  // namespace

Progress::Progress(std::ostream& err, bool is_terminal, std::string what, Clock now)
    : err_(err),
      is_terminal_(is_terminal),
      what_(std::move(what)),
      now_(std::move(now)),
      start_(now_()),
      next_(start_ + kSilence) {}

void Progress::update(double share, std::string_view detail) {
  if (!is_terminal_) return;
  const auto now = now_();
  if (now < next_ || !takes_output()) return;
  next_ = now + kPeriod;
  const double clamped = std::clamp(share, 0.0, 1.0);
  const auto filled = static_cast<int>(clamped * kBarWidth);
  std::string line =
      fmt::format("{} [{:#<{}}{:.<{}}] {:3.0f}%{}{}{}", what_, "", filled, "", kBarWidth - filled,
                  std::floor(clamped * 100), time_left(now - start_, clamped),
                  detail.empty() ? "" : "  ", detail);
  if (line.size() > kLineWidth) line.resize(kLineWidth);  // a wrapped line could not be erased
  err_ << own_control(kEraseLine) << line << std::flush;
  is_drawn_ = true;
}

void Progress::clear() {
  if (!is_drawn_) return;
  err_ << own_control(kEraseLine) << std::flush;
  is_drawn_ = false;
}

std::string working_line(std::string_view verb, std::chrono::seconds spent) {
  return fmt::format("weir {}: working, {} s", verb, spent.count());
}

Working::Working(std::ostream& err, bool is_terminal, std::string verb) {
  if (!is_terminal) return;
  // Signals are for the verb: its system calls must be the ones that Ctrl-C interrupts.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this, &err, name = std::move(verb)] { show(err, name); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Working::show(std::ostream& err, const std::string& verb) {
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(guard_);
  if (wake_.wait_for(lock, kSilence, [this] { return is_over_; })) return;
  do {
    const auto spent =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start);
    if (!takes_output()) continue;
    err << own_control(kEraseLine) << working_line(verb, spent) << std::flush;
  } while (!wake_.wait_for(lock, kPeriod, [this] { return is_over_; }));
  err << own_control(kEraseLine) << std::flush;
}

void Working::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(guard_);
    is_over_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

StoppingStream::Buffer::int_type StoppingStream::Buffer::overflow(int_type c) {
  working_.stop();
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  return target_.sputc(traits_type::to_char_type(c));
}

std::streamsize StoppingStream::Buffer::xsputn(const char* text, std::streamsize count) {
  working_.stop();
  return target_.sputn(text, count);
}

}  // namespace weir::cli
