// weir tune worker: makes the runs of a tuning that another weir leads. Lines of JSON in, lines out
// (tune/crew/crew.h).
#include <iostream>
#include <string>

#include "cli/frame/commands.h"
#include "tune/crew/crew.h"

namespace weir::cli {
namespace {

ExitCode run_tune_worker(const Args&, Context& context) {
  const Status done = tune::work(
      {.receive = [](std::string& line) { return static_cast<bool>(std::getline(std::cin, line)); },
       .reply = [&](const std::string& line) { context.out << line << '\n'
                                                           << std::flush; }});
  if (done) return ExitCode::kOk;
  return fail(context, ExitCode::kBadInput, done.error().what);
}

}  // namespace

Command tune_worker_command() {
  return {
      .name = "tune worker",
      .group = Group::kDevelopers,
      .summary = "makes the runs of a tuning that another weir leads",
      .description =
          "Reads a design and then orders from standard input, one JSON object per line, and "
          "writes a line for each run. weir tune --launcher slurm starts it; a launcher of another "
          "kind can do the same.",
      .examples = {{"srun -n 8 weir tune worker", "as a launcher starts it"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput},
      .looks = Looks::kAtFiles,
      .run = run_tune_worker,
  };
}

}  // namespace weir::cli
