#include "cli/frame/progress.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "base/untrusted/printable.h"

namespace weir::cli {
namespace {

constexpr int kBarWidth = 24;
constexpr std::size_t kLineWidth = 79;
constexpr std::string_view kEraseLine = "\r\x1b[K";  // ECMA-48 EL

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
  if (now < next_) return;
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

}  // namespace weir::cli
