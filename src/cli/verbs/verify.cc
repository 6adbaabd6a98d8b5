// weir verify: behaviour under load. Snapshot, run, snapshot, judge.
#include "ops/verify/verify.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/table.h"
#include "base/text.h"
#include "cli/frame/change_input.h"
#include "cli/frame/commands.h"
#include "cli/frame/help.h"
#include "cli/frame/host_input.h"
#include "cli/frame/interruption.h"
#include "cli/frame/judging.h"
#include "cli/frame/progress.h"
#include "cli/frame/threshold_option.h"
#include "cli/json/verify_json.h"
#include "cli/text/questions_text.h"
#include "render/text/findings_text.h"
#include "units/format.h"

namespace weir::cli {
namespace {

// ---- words to requests ----

std::vector<std::string> words_of(const std::string& text, char separator) {
  std::vector<std::string> words;
  for (const std::string_view word : split(text, separator))
    if (!trim(word).empty()) words.emplace_back(trim(word));
  return words;
}

ops::Result<ops::VerifyRequest> verify_request(const Args& args, const Context& context) {
  ops::VerifyRequest request;
  WEIR_TRY(source, source_of(args, context));
  request.source = std::move(source);
  WEIR_TRY(design, design_path_for_hosts(args, context));
  request.design = std::move(design);
  WEIR_TRY(thresholds, ops::or_bad_request(thresholds_of(args)));
  request.thresholds = thresholds;
  return request;
}

ops::Result<ops::RemoteRequest> remote_request(const Args& args) {
  ops::RemoteRequest remote;
  remote.hosts = args.has("pair") ? std::vector{args.value("pair")}
                                  : words_of(args.get("from").value_or(""), ',');
  remote.ssh = words_of(args.get("ssh").value_or(""), ' ');
  remote.perftest = words_of(args.value("perftest"), ' ');
  const auto rail = parse_u64(args.value("rail"));
  if (!rail || *rail > 255) return ops::bad_request("--rail: 0 to 255");
  remote.rail = static_cast<int>(*rail);
  remote.address = args.get("address").value_or("");
  return remote;
}

/// What is wrong with the combination of words; empty where nothing is.
std::string words_error(const Args& args) {
  const bool has_command = !args.all("COMMAND").empty();
  const int ways = (args.has("pair") ? 1 : 0) + (args.has("microburst") ? 1 : 0) +
                   (args.has("under-failure") ? 1 : 0) + (args.has("all-to-all") ? 1 : 0);
  if (ways > 1) return "--pair, --microburst, --all-to-all and --under-failure exclude each other";
  if (args.has("under-failure")) {
    if (args.has("lab")) return "";
    if (!has_command) return "what to run: -- COMMAND";
    return args.has("restore")
               ? ""
               : "on hosts --under-failure is a command, and --restore the one that ends it";
  }
  if (ways == 1 && has_command) return "--pair, --microburst and --all-to-all bring their own load";
  if (args.has("microburst") && !args.has("lab") && !args.has("from"))
    return "--microburst needs senders: --from HOST,HOST,…";
  if (ways == 0 && !has_command)
    return "nothing to run: -- COMMAND, --pair HOST, --microburst or --all-to-all";
  return "";
}

ops::Result<ops::Verified> run_operation(const Args& args, const Context& context,
                                         const ops::VerifyRequest& request) {
  if (args.has("under-failure"))
    return ops::verify_failure(request, {.failure = args.value("under-failure"),
                                         .restore = args.get("restore").value_or(""),
                                         .command = args.all("COMMAND"),
                                         .state = args.get("state").value_or(""),
                                         .tool = version_line(),
                                         .wait = wait_for_lock(context)});
  if (args.has("all-to-all"))
    return ops::verify_all_to_all(request, words_of(args.value("perftest"), ' '));
  if (!args.has("pair") && !args.has("microburst"))
    return ops::verify_load(request, args.all("COMMAND"));
  WEIR_TRY(remote, remote_request(args));
  return args.has("pair") ? ops::verify_pair(request, remote) : ops::verify_burst(request, remote);
}

// ---- verdicts ----

std::string load_verdict(const ops::Verified& verified) {
  const std::string simulated = simulated_word(verified.is_simulated);
  const std::string command = join(verified.drive.words, " ");
  if (verified.is_failed())
    return fmt::format("{} failed on {}{} with status {}.", command, verified.drive.ran_on,
                       simulated, verified.drive.outcome.exit_status);
  const std::string head =
      fmt::format("{}, started on {}{}: ", command, verified.drive.ran_on, simulated);
  switch (verified.judgement().conclusion) {
    case finding::Conclusion::kHealthy: return head + "the fabric carried it without a problem.";
    case finding::Conclusion::kNotFabric: return head + "the problem is not the fabric.";
    case finding::Conclusion::kInconclusive:
      return head + "no problem found, but too little data to call it healthy.";
    case finding::Conclusion::kFindings: break;
  }
  return head + render::count_text(verified.judgement()) + ".";
}

std::string burst_verdict(const ops::Verified& verified, const diagnose::Burst& burst) {
  const std::string head = fmt::format("Burst of {} senders to {}{}: ", burst.senders,
                                       burst.receiver, simulated_word(verified.is_simulated));
  if (verified.is_failed())
    return head + fmt::format("it failed with status {}.", verified.drive.outcome.exit_status);
  if (!burst.lost) return head + "no counter shows whether packets were lost.";
  if (!burst.is_lossless()) return head + fmt::format("{} signs of loss.", *burst.lost);
  if (!burst.has_acted())
    return head + "nothing was lost, but PFC never had to act: it is not proven.";
  return head + fmt::format("nothing was lost; {} pause frames, {} packets marked.", *burst.pauses,
                            burst.marks ? fmt::format("{}", *burst.marks) : "unknown");
}

std::string failure_verdict(const ops::Verified& verified) {
  const auto& during = verified.phases[1].result;
  const auto& after = verified.phases[2].result;
  const std::string head = fmt::format("Under failure ({}){}: ", verified.failure,
                                       simulated_word(verified.is_simulated));
  if (!during.is_survived()) return head + "the load did not survive it.";
  if (during.lossless_drops > 0) return head + "packets of the lossless class were lost.";
  if (!during.is_finished() && after.is_finished() &&
      verified.judgement().count(finding::Severity::kError) == 0)
    return head +
           fmt::format("{} lost; the other hosts finished, and the fabric recovered.",
                       join(during.lost, ", ") + (during.lost.size() == 1 ? " was" : " were"));
  if (!after.is_finished() || verified.judgement().count(finding::Severity::kError) > 0)
    return head + "the load survived, but the fabric did not recover.";
  return head + "stayed lossless during the failure and recovered.";
}

std::string verify_verdict(const ops::Verified& verified) {
  if (!verified.phases.empty()) return failure_verdict(verified);
  return verified.burst ? burst_verdict(verified, *verified.burst) : load_verdict(verified);
}

// ---- text ----

constexpr std::size_t kShownLines = 12;  // of a screen

void print_observations(const ops::Verified& verified, Context& context) {
  const std::vector<std::string> lines = diagnose::summary_of(verified.judged.observations);
  if (lines.empty()) return;
  context.out << "\nwhat the counters show:\n";
  for (std::size_t i = 0; i < std::min(lines.size(), kShownLines); ++i)
    context.out << "  " << hang(lines[i], 96, 4) << '\n';
  context.out << fmt::format("  {} moved; --json lists all of them\n",
                             counted(verified.judged.observations.size(), "counter"));
}

void print_details(const ops::Verified& verified, Context& context) {
  print_questions(verified.judged.questions, context);
  const std::vector<std::string> said = verified.load.lines();
  if (!said.empty()) {
    context.out << fmt::format("\n{} reports{}:\n", verified.load.name(),
                               simulated_word(verified.is_simulated));
    for (const std::string& line : said)
      context.out << "  " << hang(line, 96, 4) << '\n';
  }
  if (verified.judged.volume)
    context.out << '\n' << wrap(diagnose::to_text(*verified.judged.volume), 88) << '\n';
  if (!verified.drive.notes.empty()) {
    context.out << "\nhow it was run:\n";
    for (const std::string& note : verified.drive.notes)
      context.out << "  " << hang(note, 96, 4) << '\n';
  }
  print_observations(verified, context);
}

void print_phases(const std::vector<ops::Phase>& phases, Context& context) {
  TextTable table({"", "took", "lossless drops", "pauses", "load"});
  for (const ops::Phase& phase : phases)
    table.add_row({std::string(phase.name), approximate(phase.elapsed),
                   std::to_string(phase.result.lossless_drops),
                   phase.pauses ? std::to_string(*phase.pauses) : "?",
                   phase.result.is_finished()   ? "finished"
                   : phase.result.is_survived() ? "finished by the others"
                                                : "failed"});
  context.out << '\n' << table.to_text(2);
}

void print_verified(const ops::Verified& verified, Context& context) {
  const bool has_phases = !verified.phases.empty();
  // The command's own output goes to the errors, so that stdout begins with the verdict.
  if (!context.quiet && !has_phases)
    context.err << verified.drive.outcome.output << verified.drive.outcome.errors;
  context.out << verify_verdict(verified) << '\n';
  if (!context.quiet && has_phases) print_phases(verified.phases, context);
  if (!context.quiet && !has_phases) print_details(verified, context);
  const std::string text = render::findings_text(
      verified.judgement(), "", {.colour = context.colour, .quiet = context.quiet});
  context.out << text.substr(text.find('\n') + 1);  // the headline is above the details
}

ExitCode run_verify(const Args& args, Context& context) {
  if (const std::string error = words_error(args); !error.empty())
    return usage_error(context, args.command(), error);
  auto request = verify_request(args, context);
  if (!request) return fail(context, args.command(), request.error());
  Progress bar(context.err, context.stderr_is_terminal, "running");
  request->progress = bar.callback();
  const Interruption interruption;  // what was started is ended with us
  request->is_interrupted = Interruption::has_come;
  auto verified = run_operation(args, context, *request);
  bar.clear();
  if (!verified) {
    // A host that was not asked any more was not asked because of that.
    ops::Failure failure = verified.error();
    const bool is_look = failure.kind == ops::FailureKind::kCouldNotLook;
    if (is_look && Interruption::has_come())
      failure = {ops::FailureKind::kInterrupted, "interrupted: " + failure.what};
    return fail(context, args.command(), failure);
  }
  finding::Judgement& judgement = verified->judged.judgement;
  if (judgement.next.empty()) judgement.next = {fmt::format("weir report{}", source_words(args))};
  if (context.json) {
    print_verified_json(context, args.command(), *verified, verify_verdict(*verified));
  } else {
    print_verified(*verified, context);
  }
  const ExitCode code = exit_for(args, judgement);
  return code == ExitCode::kOk && verified->is_failed() ? ExitCode::kPartial : code;
}

std::vector<Option> own_options() {
  return {
      {.name = "pair",
       .metavar = "HOST",
       .help = "run perftest to HOST, its server started over ssh"},
      {.name = "microburst", .help = "many senders to this host at the same time"},
      {.name = "from", .metavar = "HOSTS", .help = "senders of the burst, started over ssh"},
      {.name = "all-to-all", .help = "perftest from every host of the fleet to the others at once"},
      {.name = "under-failure",
       .metavar = "WHAT",
       .help = "around a failure: link=L, host=H, rail=N, or a command"},
      {.name = "restore", .metavar = "CMD", .help = "command that ends the failure"},
      state_option(),
      {.name = "rail", .metavar = "N", .help = "rail of both ends", .default_value = "0"},
      {.name = "perftest",
       .metavar = "WORDS",
       .help = "perftest command",
       .default_value = "ib_write_bw -D 5"},
      {.name = "address", .metavar = "A", .help = "address of the server (default: of its rail)"},
      {.name = "ssh", .metavar = "CMD", .help = "command to use instead of ssh"},
      threshold_option()};
}

}  // namespace

Command verify_command() {
  return {
      .name = "verify",
      .group = Group::kOperators,
      .summary = "behaviour under load: snapshot, run a command, snapshot, judge",
      .description =
          "Reads every counter, runs a load, reads them again. Answers five questions (DCQCN, "
          "drops, PFC, traffic and its device, link) and lists the findings.",
      .arguments = {design_argument(),
                    {.name = "COMMAND",
                     .help = "the load to run, after --",
                     .repeated = true,
                     .after_dashes = true}},
      .options = with_live_host_options(own_options()),
      .refuses = {{.name = "root",
                   .why = "nothing can be run on a captured machine; weir diagnose --root judges "
                          "what it showed"}},
      .examples = {{"weir verify -- ib_write_bw -d mlx5_0 --tclass=106 gpu02", "from this host"},
                   {"weir verify --hosts gpu[01-16] --all-to-all", "a fleet"},
                   {"weir verify --lab lab -- incast to=gpu01 size=1MB", "in a lab"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kFindings, ExitCode::kBadInput,
                     ExitCode::kCouldNotLook, ExitCode::kPartial, ExitCode::kInterrupted},
      .judges = true,
      .takes_fleet = true,
      .run = run_verify,
  };
}

}  // namespace weir::cli
