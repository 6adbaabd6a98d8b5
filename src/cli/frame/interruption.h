#pragma once
// Signals while hosts are being changed.

namespace weir::cli {

/// SIGINT, SIGTERM, SIGHUP, SIGQUIT and the others that end a process by default are noted instead,
/// and a reader who goes away does not end it either, while this lives: a change is undone, not
/// left.
class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();
  [[nodiscard]] static bool has_come();

  /// What was done is final, and only remains to be printed: a signal from here to the end of the
  /// process is too late and is ignored.
  static void ignore_from_here();
};

}  // namespace weir::cli
