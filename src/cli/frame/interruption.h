#pragma once
// Signals while hosts are being changed.

namespace weir::cli {

/// SIGINT, SIGTERM and SIGHUP are noted instead of ending the process, and a reader who goes away
/// does not end it either, while this lives: a change is undone, not left.
class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();
  [[nodiscard]] static bool has_come();
};

}  // namespace weir::cli
