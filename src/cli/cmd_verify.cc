// weir verify: behaviour under load. Snapshot, run, snapshot, judge.
#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/host_input.h"
#include "cli/host_judging.h"
#include "cli/progress.h"
#include "cli/questions.h"
#include "diagnose/diagnose.h"
#include "diagnose/interpret.h"
#include "finding/catalog.h"
#include "host/perftest.h"
#include "render/findings_text.h"
#include "units/format.h"

namespace weir::cli {
namespace {

/// Evidence over the window of the command: facts as they are after it, both snapshots.
std::vector<evidence::Evidence> window_of(const Observation& before, const Observation& after) {
  std::vector<evidence::Evidence> window = after.all();
  const std::vector<evidence::Evidence> start = before.all();
  for (evidence::Evidence& one : window) {
    const auto same = std::find_if(start.begin(), start.end(), [&](const auto& other) {
      return other.provenance.host == one.provenance.host;
    });
    if (same == start.end() || same->snapshots.empty()) continue;
    one.snapshots.insert(one.snapshots.begin(), same->snapshots.back());
  }
  return window;
}

/// What the program says it moved, against what the sender's counters saw in the RDMA priority.
struct Volume {
  Bytes expected;               // as the program says
  std::uint64_t rdma = 0;       // bytes sent in the RDMA priority, all hosts
  std::uint64_t elsewhere = 0;  // in the other priorities but the CNPs'
  unsigned priority = 3;
};

std::optional<Volume> volume_of(const host::CommandOutcome& outcome, const diagnose::View& view) {
  const std::vector<host::BandwidthRow> rows = host::bandwidth_rows(outcome.output);
  if (rows.empty()) return std::nullopt;
  Volume volume;
  volume.priority = view.rdma();
  for (const host::BandwidthRow& row : rows)
    volume.expected += row.moved();
  for (const diagnose::NicView& nic : view.nics()) {
    for (unsigned priority = 0; priority < 8; ++priority) {
      const std::uint64_t sent = nic.counts.of("nic.prio.tx.bytes", priority).value_or(0);
      if (priority == view.rdma()) {
        volume.rdma += sent;
      } else if (priority != view.cnp()) {
        volume.elsewhere += sent;
      }
    }
  }
  return volume;
}

std::string volume_text(const Volume& volume) {
  const auto bytes = [](std::uint64_t count) {
    return approximate(Bytes::raw(static_cast<std::int64_t>(count)));
  };
  const bool is_there = volume.rdma >= static_cast<std::uint64_t>(volume.expected.raw());
  return fmt::format(
      "The program moved {}; the NICs sent {} in priority {} and {} in others: {}.",
      approximate(volume.expected), bytes(volume.rdma), volume.priority, bytes(volume.elsewhere),
      is_there ? "all of it was in the RDMA priority" : "NOT all of it was in the RDMA priority");
}

/// Everything that is said of one run.
struct Verified {
  host::CommandOutcome outcome;
  std::string command;
  std::string ran_on;
  std::vector<diagnose::Question> questions;
  std::vector<diagnose::Observation> observations;
  std::optional<Volume> volume;
  finding::Judgement judgement;
};

constexpr std::size_t kShownLines = 12;  // of a screen

void print_observations(const Verified& verified, Context& context) {
  const std::vector<std::string> lines = diagnose::summary_of(verified.observations);
  if (lines.empty()) return;
  context.out << "\nwhat the counters say:\n";
  for (std::size_t i = 0; i < std::min(lines.size(), kShownLines); ++i)
    context.out << "  " << hang(lines[i], 96, 4) << '\n';
  context.out << fmt::format("  {} moved in all; --json has every one\n",
                             counted(verified.observations.size(), "counter"));
}

Json extra_of(const Verified& verified) {
  Json observations = Json::array();
  for (const diagnose::Observation& one : verified.observations)
    observations.push_back({{"where", to_text(one.where)},
                            {"key", one.key},
                            {"id", one.counter},
                            {"amount", one.amount},
                            {"severity", finding::to_text(one.severity)},
                            {"sentence", one.sentence()}});
  Json volume = nullptr;
  if (verified.volume)
    volume = {{"expected_bytes", verified.volume->expected.raw()},
              {"rdma_bytes", verified.volume->rdma},
              {"other_bytes", verified.volume->elsewhere},
              {"priority", verified.volume->priority}};
  return {{"command",
           {{"words", verified.command},
            {"host", verified.ran_on},
            {"exit", verified.outcome.exit_status},
            {"output", verified.outcome.output},
            {"errors", verified.outcome.errors}}},
          {"questions", questions_json(verified.questions)},
          {"volume", std::move(volume)},
          {"observations", std::move(observations)}};
}

std::string verdict_of(const Verified& verified, const Observation& seen) {
  const std::string simulated = simulated_word(seen.is_simulated());
  if (verified.outcome.exit_status != 0) {
    return fmt::format("{} failed on {}{} with status {}.", verified.command, verified.ran_on,
                       simulated, verified.outcome.exit_status);
  }
  const std::string head =
      fmt::format("{}, started on {}{}: ", verified.command, verified.ran_on, simulated);
  switch (verified.judgement.conclusion) {
    case finding::Conclusion::kHealthy: return head + "the fabric carried it as it should.";
    case finding::Conclusion::kNotFabric: return head + "what is wrong is not the fabric.";
    case finding::Conclusion::kInconclusive:
      return head + "nothing is known to be wrong, but too little was seen.";
    case finding::Conclusion::kFindings: break;
  }
  return head + render::count_text(verified.judgement) + ".";
}

ExitCode print_verified(const Args& args, Context& context, const Verified& verified,
                        const Observation& seen) {
  const bool is_failed = verified.outcome.exit_status != 0;
  const std::string verdict = verdict_of(verified, seen);
  if (context.json) {
    Json object = extra_of(verified);
    object["simulated"] = seen.is_simulated();
    const ExitCode code = print_judgement(args, context, verified.judgement, verdict, object);
    return is_failed && code == ExitCode::kOk ? ExitCode::kPartial : code;
  }
  if (!context.quiet) {
    // The command's own words first to the errors, so that stdout begins with the verdict.
    context.err << verified.outcome.output << verified.outcome.errors;
  }
  context.out << verdict << '\n';
  if (!context.quiet) {
    print_questions(verified.questions, context);
    if (verified.volume) context.out << '\n' << wrap(volume_text(*verified.volume), 88) << '\n';
    print_observations(verified, context);
  }
  const std::string text = render::findings_text(
      verified.judgement, "", {.colour = context.colour, .quiet = context.quiet});
  context.out << text.substr(text.find('\n') + 1);  // the headline stands above the questions
  const ExitCode code = exit_for(args, verified.judgement);
  return is_failed && code == ExitCode::kOk ? ExitCode::kPartial : code;
}

/// The TOS byte that the command asks for, where it is perftest's.
std::optional<std::uint64_t> asked_tclass(const std::vector<std::string>& words) {
  constexpr std::string_view kOption = "--tclass";
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with(kOption)) continue;
    const std::string_view rest = std::string_view(words[i]).substr(kOption.size());
    const auto value = rest.starts_with("=")  ? parse_u64(rest.substr(1))
                       : i + 1 < words.size() ? parse_u64(words[i + 1])
                                              : Result<std::uint64_t>(parse_error(""));
    if (value) return *value;
  }
  return std::nullopt;
}

/// A program that says it moved RDMA data, and counters that saw it in another priority: that is a
/// fault whatever the settings are, unless a cause of it is known already.
void judge_volume(const Volume& volume, Dscp rdma, const std::vector<std::string>& words,
                  const std::string& host, finding::Judgement& judgement) {
  const bool is_there = volume.rdma >= static_cast<std::uint64_t>(volume.expected.raw());
  if (is_there || judgement.conclusion == finding::Conclusion::kFindings) return;
  const std::optional<std::uint64_t> tclass = asked_tclass(words);
  const bool is_confused = tclass && *tclass == rdma.value();
  const std::string how =
      is_confused ? fmt::format("--tclass={} is DSCP {}; the TOS byte of DSCP {} is {}", *tclass,
                                *tclass / 4, rdma.value(), tos_byte(rdma, weir::Ecn::kEct0).value())
      : tclass ? fmt::format("--tclass={} is DSCP {}, not {}", *tclass, *tclass / 4, rdma.value())
               : std::string("the program asked for no traffic class, so it sent DSCP 0");
  finding::Finding finding = finding::make_finding(
      is_confused ? "dscp.tos_confusion" : "dscp.unmarked",
      fmt::format("The load did not travel in priority {}: {}.", volume.priority, how),
      {.host = host});
  finding.evidence.push_back({.source = "the program and the counters",
                              .line = volume_text(volume),
                              .counter = "nic.prio.tx.bytes",
                              .value = static_cast<std::int64_t>(volume.rdma)});
  judgement.findings.push_back(std::move(finding));
  finding::settle(judgement);
}

/// A load that failed proves nothing, whatever the counters look like.
void judge_exit(Verified& verified) {
  if (verified.outcome.exit_status == 0) return;
  verified.judgement.unknown.push_back(
      {"behaviour under load",
       fmt::format("the command ended with status {} and did not do its work",
                   verified.outcome.exit_status),
       "what it printed says why; run it by hand"});
  if (verified.judgement.conclusion == finding::Conclusion::kHealthy)
    verified.judgement.conclusion = finding::Conclusion::kInconclusive;
}

/// The load may touch any host, whatever --host runs it: all of a lab are watched.
Result<HostSet> everyone_around(HostSet set) {
  if (!set.lab) return set;
  set.hosts.clear();
  set.with_switches = true;
  for (const std::string& name : set.lab->host_names()) {
    WEIR_TRY(host, set.lab->host(name));
    set.hosts.push_back(std::move(host));
  }
  return set;
}

ExitCode run_verify(const Args& args, Context& context) {
  ExitCode code = ExitCode::kOk;
  auto set = open_hosts(args, context, code);
  if (!set) return code;
  const auto input = design_for(args, context, *set, code);
  if (!input) return code;
  const std::string ran_on = set->hosts.front()->name();
  auto everyone = everyone_around(std::move(*set));
  if (!everyone) return fail(context, ExitCode::kCouldNotLook, everyone.error().what);
  const auto runner = std::find_if(everyone->hosts.begin(), everyone->hosts.end(),
                                   [&](const auto& host) { return host->name() == ran_on; });
  const Observation before = observe(*everyone, context);
  if (before.hosts.empty())
    return fail(context, ExitCode::kCouldNotLook, "no host could be looked at");
  const std::vector<std::string>& words = args.all("COMMAND");
  Progress bar(context.err, context.stderr_is_terminal, "running");
  if (everyone->lab) everyone->lab->on_progress([&](double share) { bar.update(share); });
  auto outcome = (*runner)->run(words);
  bar.clear();
  if (!outcome) return fail(context, ExitCode::kCouldNotLook, outcome.error().what);
  const Observation after = observe(*everyone, context);
  const std::vector<evidence::Evidence> window = window_of(before, after);
  const diagnose::Case of{.evidence = window, .intent = &input->intent};
  const diagnose::View view(of);
  Verified verified{.outcome = std::move(*outcome),
                    .command = join(words, " "),
                    .ran_on = ran_on,
                    .questions = diagnose::five_questions(of),
                    .observations = diagnose::interpret(of),
                    .volume = std::nullopt,
                    .judgement = diagnose::diagnose(of)};
  verified.volume = volume_of(verified.outcome, view);
  if (verified.volume)
    judge_volume(*verified.volume, view.rdma_dscp(), words, ran_on, verified.judgement);
  judge_exit(verified);
  add_unseen(after, verified.judgement);
  if (verified.judgement.next.empty())
    verified.judgement.next = {fmt::format("weir report{}", everyone->flag())};
  return print_verified(args, context, verified, after);
}

}  // namespace

Command verify_command() {
  return {
      .name = "verify",
      .group = Group::kOperators,
      .summary = "behaviour under load: snapshot, run a command, snapshot, judge",
      .description =
          "Runs a command (perftest, a workload, anything) between two looks at every counter, and "
          "answers five questions first: is DCQCN working, are we dropping, is PFC firing, did "
          "traffic flow, is the link healthy. Then what the counters say, and what is wrong. The "
          "command runs on the first host that --host names; its output goes to stderr.",
      .arguments = {design_argument(),
                    {.name = "COMMAND",
                     .help = "what to run, after --",
                     .required = true,
                     .repeated = true,
                     .after_dashes = true}},
      .options = with_host_options(),
      .examples = {{"weir verify --lab lab --host gpu01 -- ib_write_bw --tclass=106 gpu02", ""},
                   {"weir verify --lab lab -- all-to-all size=1MB", "a workload of the simulator"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kFindings, ExitCode::kBadInput,
                     ExitCode::kCouldNotLook, ExitCode::kPartial},
      .rows = {"D2", "D3", "D5", "D8"},
      .judges = true,
      .run = run_verify,
  };
}

}  // namespace weir::cli
