#pragma once
// Workers that make runs elsewhere: ranks of weir-mpi, or processes that a cluster's scheduler
// starts. They and the tuning speak in lines of JSON (docs/tuning.md):
//
//   to a worker     {"design": FILE, "text": …, "digest": …}      once
//                   {"run": N, "settings": […], "workloads": […], …}
//   from a worker   {"ready": DIGEST}
//                   {"run": N, "cpu_s": S, "metrics": {…}}  or  {"run": N, "error": …}
//
// A run is a pure function of its order, so that nothing depends on who makes it or when it ends.
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tune/run.h"

namespace weir::tune {

/// How lines come and go; one implementation for each way to reach workers.
class Crew {
 public:
  Crew() = default;
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  virtual ~Crew() = default;

  [[nodiscard]] virtual std::size_t size() const = 0;
  /// False where the worker is gone; receive() says so too.
  [[nodiscard]] virtual bool send(std::size_t worker, std::string_view line) = 0;

  struct Message {
    std::size_t worker = 0;
    std::string line;
    bool is_gone = false;  // it ended; `line` says how
  };
  /// Waits for one. REQUIRES: a worker is there.
  [[nodiscard]] virtual Result<Message> receive() = 0;
};

/// The tuning's side: hands orders out, takes results in.
class Foreman {
 public:
  /// `file` and `text` are the design's; `digest` is Variants::design_digest().
  Foreman(Crew& crew, std::string file, std::string text, std::uint64_t digest);

  [[nodiscard]] unsigned workers() const { return static_cast<unsigned>(is_here_.size()); }

  using Take = std::function<void(std::size_t index, const MadeRun& made)>;
  /// Makes all of them and hands each to `take` as it ends, in any order. Runs of a worker that
  /// ends are given to another one, twice at most. The error is that of the first run (by its
  /// number) that has one, or says that nobody is left.
  [[nodiscard]] Status make(const std::vector<RunOrder>& orders, const Take& take);

 private:
  struct Batch;
  [[nodiscard]] Status introduce();
  void hand_out(Batch& batch);
  [[nodiscard]] Status take_in(Batch& batch, const Crew::Message& message);
  [[nodiscard]] Status lose(Batch& batch, const Crew::Message& message);

  Crew& crew_;
  std::string design_line_;
  std::string digest_;
  std::vector<bool> is_here_;
  bool is_introduced_ = false;
};

/// A worker's side: reads lines until there are no more. `receive` returns false at the end.
struct Channel {
  std::function<bool(std::string& line)> receive;
  std::function<void(const std::string& line)> reply;
};
/// An error is of the first line, or of one that is not in this language; it was replied too.
[[nodiscard]] Status work(const Channel& channel);

}  // namespace weir::tune
