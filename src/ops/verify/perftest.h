#pragma once
// perftest between this host and others, driven over ssh.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evidence/evidence.h"
#include "host/probe/remote.h"
#include "ops/source/fabric.h"

namespace weir::ops {

/// One end of a pair: what is known of it, and what was chosen.
struct PairEnd {
  std::string name;
  const evidence::Evidence* seen = nullptr;  // nullptr: weir is not there
  std::string device;
  std::optional<unsigned> gid_index;
  std::string address;                 // of the rail, without its prefix length
  std::optional<std::string> gpu_bus;  // "0000:1b:00.0": the nearest GPU
  bool perftest_has_cuda = false;
};

/// The end as the design and what was seen say: the rail's device, its RoCEv2 GID of the design's
/// address (or the first that is not link-local), the GPU nearest to it. The error names what is
/// missing.
[[nodiscard]] weir::Result<PairEnd> choose_end(const std::string& name,
                                               const evidence::Evidence* seen,
                                               const design::Intent& intent, int rail);

/// Whether both ends use GPU memory, and a sentence that says why or why not.
struct GpuChoice {
  bool uses_gpu = false;
  std::string why;
};
[[nodiscard]] GpuChoice choose_gpu(const PairEnd& client, const PairEnd& server);

struct PairTest {
  std::vector<std::string> words = {"ib_write_bw", "-D", "5"};  // of both ends; the program first
  std::int64_t seconds = 5;
  bool is_timed = true;   // else a number of messages, at most that long
  unsigned port = 18515;  // perftest's own; a burst takes one more for each sender
  TosByte traffic_class;
  bool uses_gpu = false;

  /// Time to run, to connect and to tear down, on a slow host too.
  [[nodiscard]] std::int64_t limit_seconds() const;
};
/// The words of one side; a client names the server's address.
[[nodiscard]] std::vector<std::string> perftest_words(const PairTest& test, const PairEnd& end,
                                                      const std::string& server);

/// The server first, over there; the client when it listens; both outcomes. The error says which
/// side did not come up, in its own words.
struct PairOutcome {
  host::CommandOutcome client;
  host::CommandOutcome server;
};
[[nodiscard]] weir::Result<PairOutcome> run_pair(const host::Remote& remote, const PairTest& test,
                                                 const std::vector<std::string>& server_words,
                                                 const std::vector<std::string>& client_words);

}  // namespace weir::ops
