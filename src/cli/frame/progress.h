#pragma once
// A progress bar for work that takes long: on stderr, only when that is a terminal, only after a
// second, and gone without a trace when the work ends.
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>
#include <thread>

#include "ops/source/progress.h"

namespace weir::cli {

class Progress {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  static constexpr std::chrono::milliseconds kSilence{1000};  // shorter work needs no bar
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

// ---- a sign of life ----
//
// For a verb that takes longer than a second and does not know how far it is: on stderr, only when
// that is a terminal, until the verb prints something itself (output, an error, or a bar).

/// "weir validate: working, 3 s".
[[nodiscard]] std::string working_line(std::string_view verb, std::chrono::seconds spent);

class Working {
 public:
  static constexpr std::chrono::milliseconds kSilence{1000};
  static constexpr std::chrono::milliseconds kPeriod{500};

  /// Starts nothing unless `is_terminal`.
  Working(std::ostream& err, bool is_terminal, std::string verb);
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;
  ~Working() { stop(); }

  /// Takes the line off the screen, for good. May be called often.
  void stop();

 private:
  void show(std::ostream& err, const std::string& verb);

  std::mutex guard_;
  std::condition_variable wake_;
  bool is_over_ = false;
  std::thread thread_;
};

/// A stream that stops the sign before its first character.
class StoppingStream : public std::ostream {
 public:
  StoppingStream(std::ostream& target, Working& working)
      : std::ostream(nullptr), buffer_(*target.rdbuf(), working) {
    rdbuf(&buffer_);
    if ((target.flags() & std::ios::unitbuf) != 0) setf(std::ios::unitbuf);
  }

 private:
  class Buffer : public std::streambuf {
   public:
    Buffer(std::streambuf& target, Working& working) : target_(target), working_(working) {}

   protected:
    int_type overflow(int_type c) override;
    std::streamsize xsputn(const char* text, std::streamsize count) override;
    int sync() override { return target_.pubsync(); }

   private:
    std::streambuf& target_;
    Working& working_;
  };
  Buffer buffer_;
};

}  // namespace weir::cli
