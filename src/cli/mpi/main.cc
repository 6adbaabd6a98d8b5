// weir-mpi: weir tune with the runs made by the ranks of an MPI job. Rank 0 is weir itself and
// decides; the others make runs until it is done. With one rank there is nobody else, and rank 0
// makes them on its cores.
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <mpi.h>

#include "cli/frame/exit_code.h"
#include "cli/process.h"
#include "tune/crew/crew.h"

namespace {

constexpr int kLine = 1;  // the tag of a line
constexpr int kEnd = 2;   // … of the end, which has no text

void send_line(int rank, int tag, std::string_view line) {
  MPI_Send(line.data(), static_cast<int>(line.size()), MPI_CHAR, rank, tag, MPI_COMM_WORLD);
}

struct Received {
  int rank = 0;
  int tag = kEnd;
  std::string line;
};

/// Open MPI waits with a busy loop; a manager with nothing to do would take a core from a rank.
Received receive_from(int source) {
  constexpr auto kPause = std::chrono::microseconds(50);
  MPI_Status status;
  int is_there = 0;
  for (;;) {
    MPI_Iprobe(source, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, &status);
    if (is_there != 0) break;
    std::this_thread::sleep_for(kPause);
  }
  int length = 0;
  MPI_Get_count(&status, MPI_CHAR, &length);
  Received out{status.MPI_SOURCE, status.MPI_TAG,
               std::string(static_cast<std::size_t>(length), ' ')};
  MPI_Recv(out.line.data(), length, MPI_CHAR, out.rank, out.tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return out;
}

/// The other ranks. One that dies ends the job: MPI has no other way.
class Ranks final : public weir::tune::Crew {
 public:
  explicit Ranks(int all) : others_(static_cast<std::size_t>(all) - 1) {}
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks() override {
    for (std::size_t worker = 0; worker < others_; ++worker)
      send_line(static_cast<int>(worker) + 1, kEnd, "");
  }
  [[nodiscard]] std::size_t size() const override { return others_; }
  [[nodiscard]] bool send(std::size_t worker, std::string_view line) override {
    send_line(static_cast<int>(worker) + 1, kLine, line);
    return true;
  }
  [[nodiscard]] weir::Result<Message> receive() override {
    Received got = receive_from(MPI_ANY_SOURCE);
    return Message{static_cast<std::size_t>(got.rank) - 1, std::move(got.line), false};
  }

 private:
  std::size_t others_;
};

int follow() {
  const weir::Status done =
      weir::tune::work({.receive =
                            [](std::string& line) {
                              Received got = receive_from(0);
                              line = std::move(got.line);
                              return got.tag == kLine;
                            },
                        .reply = [](const std::string& line) { send_line(0, kLine, line); }});
  // Rank 0 has the error too, and says it; whatever it still sends is read to the end.
  if (!done)
    while (receive_from(0).tag == kLine) {
    }
  return 0;
}

int lead(const std::vector<std::string>& words, int ranks) {
  if (words.empty() || words.front() != "tune") {
    std::fputs("weir-mpi: expected tune: mpirun weir-mpi tune DESIGN\n", stderr);
    for (int rank = 1; rank < ranks; ++rank)
      send_line(rank, kEnd, "");
    return static_cast<int>(weir::cli::ExitCode::kUsage);
  }
  Ranks others(ranks);
  return weir::cli::run_process(words, &others);
}

}  // namespace

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  // Threads of a rank (progress) do not call MPI.
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int code = rank == 0 ? lead({argv + 1, argv + argc}, ranks) : follow();
  MPI_Finalize();
  return code;
}
