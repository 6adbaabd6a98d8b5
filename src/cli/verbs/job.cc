// weir job: a job's environment, script or log, judged before (or after) it wastes a night.
#include "diagnose/job/job.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/frame/commands.h"
#include "cli/frame/judging.h"
#include "cli/frame/transition.h"

namespace weir::cli {
namespace {

/// A log of a thousand ranks is large; what is beyond this is something else.
constexpr std::size_t kLargestLog = std::size_t{1} << 30U;

struct JobInput {
  readers::Job job;
  std::optional<DesignInput> design;
  std::vector<evidence::Evidence> hosts;
};

std::optional<JobInput> gather(const Args& args, Context& context, ExitCode& code) {
  JobInput input;
  for (const std::string& path : args.all("FILE")) {
    const auto text = read_file(path, kLargestLog);
    if (!text) {
      code = fail(context, ExitCode::kBadInput, text.error().what);
      return std::nullopt;
    }
    readers::append(input.job, readers::read_job(*text, path));
  }
  for (const std::string& path : args.all("host")) {
    auto hosts = read_snapshot_file(path);
    if (!hosts) {
      code = fail(context, ExitCode::kBadInput, hosts.error().what);
      return std::nullopt;
    }
    std::move(hosts->begin(), hosts->end(), std::back_inserter(input.hosts));
  }
  const bool has_file = file_exists(std::string(kDesignFile));
  if (args.has("design") || has_file) {
    input.design =
        load_design_file(args.get("design").value_or(std::string(kDesignFile)), context, code);
    if (!input.design) return std::nullopt;
  }
  return input;
}

std::string counted_ranks(const readers::Job& job) {
  const std::string lines = counted(static_cast<std::size_t>(job.lines), "line");
  if (job.processes.empty()) return lines;
  return fmt::format("{}, {}", counted(job.processes.size(), "rank"), lines);
}

std::string headline(const JobInput& input, const finding::Judgement& judgement) {
  const std::string read = counted_ranks(input.job);
  if (input.job.is_empty())
    return fmt::format("Nothing here speaks of NCCL or another RDMA library ({}).", read);
  if (judgement.conclusion == finding::Conclusion::kFindings) {
    const auto count = [&](finding::Severity severity, std::string_view word) {
      return counted(static_cast<std::size_t>(judgement.count(severity)), word);
    };
    return fmt::format("The job will not run as it should: {}, {} ({}).",
                       count(finding::Severity::kError, "error"),
                       count(finding::Severity::kWarning, "warning"), read);
  }
  if (judgement.conclusion == finding::Conclusion::kInconclusive)
    return fmt::format("No mistake found, but {} could not look ({}).",
                       counted(judgement.unknown.size(), "check"), read);
  return fmt::format("No mistake found ({}).", read);
}

Json job_json(const readers::Job& job) {
  Json variables = Json::array();
  for (const readers::JobVariable& one : job.variables) {
    variables.push_back({{"name", one.name},
                         {"value", one.value},
                         {"process", one.process},
                         {"file", one.at.file},
                         {"line", one.at.line}});
  }
  Json ranks = Json::array();
  for (const readers::NcclProcess& one : job.processes) {
    Json devices = Json::array();
    for (const readers::NcclDevice& device : one.devices)
      devices.push_back(device.name);
    std::size_t direct = 0;
    for (const readers::NcclChannel& channel : one.channels)
      direct += channel.is_gpu_direct() ? 1 : 0;
    ranks.push_back({{"host", one.host},
                     {"pid", one.pid},
                     {"rank", one.rank ? Json(*one.rank) : Json()},
                     {"version", one.version},
                     {"network", one.network ? Json(*one.network) : Json()},
                     {"devices", devices},
                     {"channels", one.channels.size()},
                     {"gpu_direct_channels", direct}});
  }
  return {{"lines", job.lines}, {"variables", variables}, {"ranks", ranks}};
}

ExitCode run_job(const Args& args, Context& context) {
  ExitCode code = ExitCode::kOk;
  const auto input = gather(args, context, code);
  if (!input) return code;
  diagnose::JobCase subject{input->job, nullptr, input->hosts};
  if (input->design) subject.intent = &input->design->intent;
  finding::Judgement judgement = diagnose::judge_job(subject);
  if (judgement.conclusion == finding::Conclusion::kFindings)
    judgement.next.emplace_back("weir render --to nccl");
  return print_judgement(args, context, judgement, headline(*input, judgement),
                         job_json(input->job));
}

}  // namespace

Command job_command() {
  return {
      .name = "job",
      .group = Group::kOperators,
      .summary = "a job's environment, script or log: what is wrong with it",
      .description =
          "Reads environment dumps, nccl.conf, shell, Slurm and Kubernetes files, mpirun lines and "
          "NCCL logs of one rank or all, and names the mistakes: a DSCP typed as traffic class, "
          "devices that match nothing, GIDs that do not route, a silent fall-back to TCP, "
          "GPUDirect off, variables nobody reads, one rank that differs.",
      .arguments = {{.name = "FILE",
                     .help = "script, environment or log; - reads standard input",
                     .required = true,
                     .repeated = true,
                     .completes = Completes::kFiles}},
      .options = {{.name = "design",
                   .metavar = "DESIGN",
                   .help = "what the fabric wants (default: ./fabric.yaml where it is)",
                   .completes = Completes::kFiles},
                  {.name = "host",
                   .metavar = "EVIDENCE",
                   .help = "a snapshot or bundle of a host of the job",
                   .repeated = true,
                   .completes = Completes::kFiles}},
      .examples = {{"weir job train.sh", "before it is submitted"},
                   {"weir job slurm-4711.out --design fabric.yaml", "after it was slow"},
                   {"env | weir job -", "what is set here"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kFindings, ExitCode::kBadInput, ExitCode::kPartial},
      .rows = {"C8", "E2"},
      .judges = true,
      .run = run_job,
  };
}

}  // namespace weir::cli
