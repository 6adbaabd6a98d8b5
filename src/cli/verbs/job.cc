// weir job: the environment, script or log of a job, judged before (or after) it runs.
#include "ops/inspect/job.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/design_input.h"
#include "cli/frame/judging.h"
#include "cli/frame/threshold_option.h"
#include "cli/json/job_json.h"
#include "ops/inspect/job_workload.h"

namespace weir::cli {
namespace {

std::string counted_ranks(const readers::Job& job) {
  const std::string lines = counted(static_cast<std::size_t>(job.lines), "line");
  if (job.processes.empty()) return lines;
  return fmt::format("{}, {}", counted(job.processes.size(), "rank"), lines);
}

std::string job_verdict(const ops::JudgedJob& judged) {
  const finding::Judgement& judgement = judged.judgement;
  const std::string read = counted_ranks(judged.job);
  if (judged.job.is_empty())
    return fmt::format("No setting or message of NCCL or another RDMA library found ({}).", read);
  if (judgement.conclusion == finding::Conclusion::kFindings) {
    const auto count = [&](finding::Severity severity, std::string_view word) {
      return counted(static_cast<std::size_t>(judgement.count(severity)), word);
    };
    if (judgement.count(finding::Severity::kError) == 0)
      return fmt::format("The job has {} and no error ({}).",
                         count(finding::Severity::kWarning, "warning"), read);
    return fmt::format("The job has mistakes: {}, {} ({}).",
                       count(finding::Severity::kError, "error"),
                       count(finding::Severity::kWarning, "warning"), read);
  }
  if (judgement.conclusion == finding::Conclusion::kInconclusive)
    return fmt::format("No mistake found; {} skipped: data not available ({}).",
                       counted(judgement.unknown.size(), "check"), read);
  if (!judgement.unknown.empty())
    return fmt::format("No mistake found; {} skipped: not enough was given ({}).",
                       counted(judgement.unknown.size(), "check"), read);
  return fmt::format("No mistake found ({}).", read);
}

/// The workload with where each value is from, as a file for `weir sim -w @FILE`.
ExitCode print_workload(const Args& args, Context& context) {
  const auto made = ops::job_workload(
      {.files = args.all("FILE"), .with = args.get("with").value_or(std::string())});
  if (!made) return fail(context, args.command(), made.error());
  if (context.json) {
    print_job_workload_json(context, args.command(), *made);
    return ExitCode::kOk;
  }
  context.out << fmt::format("# A training step of {}, for weir sim -w @FILE\n",
                             join(args.all("FILE"), ", "));
  if (made->gpus > 0) context.out << fmt::format("# ranks: {} GPUs, one NIC each\n", made->gpus);
  for (const ops::WorkloadChoice& choice : made->choices)
    context.out << fmt::format("# {} = {} ({})\n", choice.name, choice.value, choice.source);
  for (const std::string& open : made->open)
    context.out << fmt::format("# {}\n", open);
  context.out << made->workload << '\n';
  return ExitCode::kOk;
}

ExitCode run_job(const Args& args, Context& context) {
  if (args.has("to")) return print_workload(args, context);
  if (args.has("with"))
    return usage_error(context, args.command(), "--with is for --to workload; name both");
  ops::JobRequest request{.files = args.all("FILE"), .hosts = args.all("host")};
  request.design = args.get("design").value_or(
      file_exists(std::string(kDesignFile)) ? std::string(kDesignFile) : std::string());
  const auto thresholds = thresholds_of(args);
  if (!thresholds) return usage_error(context, args.command(), thresholds.error().what);
  request.thresholds = *thresholds;
  auto judged = ops::judge_job(request);
  if (!judged) return fail(context, args.command(), judged.error());
  if (judged->judgement.conclusion == finding::Conclusion::kFindings)
    judged->judgement.next.emplace_back("weir render --to nccl");
  const std::string verdict = job_verdict(*judged);
  if (context.json) {
    print_job_json(context, args.command(), *judged, verdict);
  } else {
    print_findings(context, judged->judgement, verdict);
  }
  return exit_for(args, judged->judgement);
}

}  // namespace

Command job_command() {
  return {
      .name = "job",
      .group = Group::kOperators,
      .summary = "find the mistakes in a job's environment, script or log",
      .description =
          "Reads environment dumps, nccl.conf, shell, Slurm and Kubernetes files, mpirun lines and "
          "NCCL logs of one rank or all, and names the mistakes: a DSCP given as traffic class, "
          "device names that match nothing, GIDs that cannot be routed, a silent fallback to TCP, "
          "GPUDirect off, misspelt variables, one rank that differs.",
      .arguments = {{.name = "FILE",
                     .help = "script, environment or log; - reads standard input",
                     .required = true,
                     .repeated = true,
                     .completes = Completes::kFiles}},
      .options = {{.name = "design",
                   .metavar = "DESIGN",
                   .help = "the design (default: ./fabric.yaml, if there is one)",
                   .completes = Completes::kFiles},
                  {.name = "host",
                   .metavar = "EVIDENCE",
                   .help = "a snapshot or bundle of a host of the job",
                   .repeated = true,
                   .completes = Completes::kFiles},
                  {.name = "to",
                   .metavar = "WHAT",
                   .help = "print it as a workload of weir sim instead of judging it",
                   .choices = {"workload"}},
                  {.name = "with",
                   .metavar = "P=V,…",
                   .help = "parameters of that workload, such as of=70B,tp=8,pp=4"},
                  threshold_option()},
      .examples = {{"weir job train.sh", "before it is submitted"},
                   {"weir job train.sbatch --to workload --with of=70B > train.workload",
                    "to simulate a step of it"},
                   {"weir job slurm-4711.out --design fabric.yaml", "after it was slow"},
                   {"env | weir job -", "what is set here"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kFindings, ExitCode::kBadInput, ExitCode::kPartial},
      .judges = true,
      .looks = Looks::kAtFiles,
      .run = run_job,
  };
}

}  // namespace weir::cli
