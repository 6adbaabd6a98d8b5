#pragma once
// A progress bar for work that takes long: on stderr, only when that is a terminal, only after two
// seconds, and gone without a trace when the work ends.
#include <chrono>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

#include "ops/source/progress.h"

namespace weir::cli {

class Progress {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  static constexpr std::chrono::milliseconds kSilence{2000};  // shorter work needs no bar
  static constexpr std::chrono::milliseconds kPeriod{100};    // between two redraws

  /// `what` names the work: "simulating". Nothing is ever written unless `is_terminal`.
  Progress(std::ostream& err, bool is_terminal, std::string what,
           Clock now = std::chrono::steady_clock::now);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  /// The share that is done, 0 to 1, and a word on where it is. Cheap enough for every batch of
  /// work, not for every packet: it reads the clock.
  void update(double share, std::string_view detail = {});

  /// For an operation that tells how far it is. REQUIRES: this bar outlives it.
  [[nodiscard]] ops::ProgressCallback callback() {
    return [this](double share, std::string_view detail) { update(share, detail); };
  }

  /// Takes the bar off the screen, for other output or at the end. A later update draws it again.
  void clear();

 private:
  std::ostream& err_;
  bool is_terminal_;
  std::string what_;
  Clock now_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point next_;  // no redraw before
  bool is_drawn_ = false;
};

}  // namespace weir::cli
