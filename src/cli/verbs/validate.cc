// weir validate: is the configuration what the design wants?
#include "diagnose/validate/validate.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "base/json.h"
#include "base/name_pattern.h"
#include "cli/frame/commands.h"
#include "cli/frame/host_input.h"
#include "cli/frame/progress.h"
#include "cli/verbs/host_judging.h"
#include "cli/verbs/switch_audit.h"
#include "units/format.h"

namespace weir::cli {
namespace {

constexpr Duration kLongestWatch = 3600_s;

/// How long to watch, where asked; an error where that makes no sense.
Result<std::optional<Duration>> watch_time(const Args& args) {
  const auto text = args.get("watch");
  if (!text) return std::optional<Duration>();
  if (args.has("lab") || args.has("root"))
    return invalid_error("--watch looks at a running machine, not at a lab or a capture");
  auto time = parse_duration(*text);
  if (!time) return time.error().within("--watch");
  if (time->raw() <= 0 || *time > kLongestWatch)
    return invalid_error(fmt::format("--watch: expected a time up to 1h, found '{}'", *text));
  return std::optional(*time);
}

/// Counts again after `time`: what links did meanwhile is in the difference.
void watch(const HostSet& set, Duration time, Context& context, Observation& seen) {
  constexpr std::int64_t kPicosecondsPerMillisecond = 1'000'000'000;
  constexpr std::int64_t kStep = 500;
  const std::int64_t total = time.raw() / kPicosecondsPerMillisecond;
  Progress progress(context.err, context.stderr_is_terminal, "watching the links");
  for (std::int64_t done = 0; done < total; done += kStep) {
    progress.update(static_cast<double>(done) / static_cast<double>(total));
    std::this_thread::sleep_for(std::chrono::milliseconds(std::min(kStep, total - done)));
  }
  for (const auto& host : set.hosts) {
    const auto same = std::find_if(seen.hosts.begin(), seen.hosts.end(), [&](const auto& one) {
      return one.provenance.host == host->name();
    });
    if (same == seen.hosts.end()) continue;
    auto later = host->snapshot();
    if (later) {
      same->snapshots.push_back(std::move(*later));
    } else {
      seen.unseen.push_back(fmt::format("{}: {}", host->name(), later.error().what));
    }
  }
}

/// Files of switches stand for the switches themselves.
void put_over(const evidence::Evidence& files, Observation& seen) {
  if (files.switches.empty()) return;
  if (!seen.switches) seen.switches.emplace();
  for (const evidence::Switch& one : files.switches) {
    std::erase_if(seen.switches->switches,
                  [&](const evidence::Switch& other) { return other.name == one.name; });
    seen.switches->switches.push_back(one);
  }
}

/// Hosts that were seen and the design does not have.
std::vector<std::string> strangers(const Observation& seen, const design::Intent& intent) {
  std::vector<std::string> names;
  for (const evidence::Evidence& one : seen.hosts) {
    if (find_host(intent, one.provenance.host) == nullptr) names.push_back(one.provenance.host);
  }
  return names;
}

std::string verdict_of(const Observation& seen, const finding::Judgement& judgement,
                       const DesignInput& input) {
  const std::vector<std::string> unknown = strangers(seen, input.intent);
  const std::string verdict = match_verdict(seen, judgement, input.design.file);
  if (unknown.empty()) return verdict;
  std::vector<std::string> known;
  for (const design::HostIntent& host : input.intent.hosts)
    known.push_back(host.name);
  const std::string lost =
      fmt::format("{} {} not in {}, which has {}", compact_names(unknown),
                  unknown.size() == 1 ? "is" : "are", input.design.file, compact_names(known));
  if (unknown.size() == seen.hosts.size()) return lost + ": nothing was compared.";
  return fmt::format("{} {}.", verdict, lost);
}

/// One line for the reason that Slurm drains a node with: a code that stays, then the fault.
std::string drain_reason(const Args& args, const finding::Judgement& judgement) {
  constexpr std::size_t kLongest = 200;
  const auto threshold = finding::parse_severity(args.value("fail-on"));
  std::vector<const finding::Finding*> bad;
  for (const finding::Finding& one : judgement.findings) {
    if (one.severity >= *threshold) bad.push_back(&one);
  }
  if (bad.empty()) return "";
  const std::string more =
      bad.size() > 1 ? fmt::format(" (and {} more)", bad.size() - 1) : std::string();
  std::string text = fmt::format("weir:{} {}", bad.front()->id, bad.front()->verdict);
  if (text.size() + more.size() > kLongest)
    text = text.substr(0, kLongest - more.size() - 3) + "...";
  return text + more;
}

ExitCode print_drain(const Args& args, Context& context, const finding::Judgement& judgement) {
  const std::string reason = drain_reason(args, judgement);
  if (!reason.empty()) context.out << reason << '\n';
  const ExitCode code = exit_for(args, judgement);
  if (code == ExitCode::kPartial)
    context.err << fmt::format("weir: {} could not look; weir validate lists them\n",
                               counted(judgement.unknown.size(), "check"));
  return code;
}

ExitCode could_not_look(const Args& args, Context& context, const Observation& seen) {
  if (args.has("slurm")) {
    const std::string why = seen.unseen.empty() ? "no host" : seen.unseen.front();
    context.out << fmt::format("weir:cannot_look {}\n", why.substr(0, why.find(". ")));
  }
  return fail(context, ExitCode::kCouldNotLook, "no host could be looked at");
}

std::vector<std::string> next_steps(const Args& args, const HostSet& set,
                                    const finding::Judgement& judgement) {
  const std::string design = args.has("DESIGN") ? " " + args.value("DESIGN") : "";
  if (judgement.conclusion == finding::Conclusion::kFindings)
    return {fmt::format("weir plan{}{}", design, set.flag()),
            fmt::format("weir apply{}{}", design, set.flag())};
  return {fmt::format("weir verify{}{} -- ib_write_bw …", design, set.flag())};
}

ExitCode run_validate(const Args& args, Context& context) {
  const auto time = watch_time(args);
  if (!time) return usage_error(context, args.command(), time.error().what);
  if (args.has("switch") && !args.has("lab") && !args.has("root"))
    return validate_switches(args, context);
  ExitCode code = ExitCode::kOk;
  const auto set = open_hosts(args, context, code);
  if (!set) return code;
  const auto input = design_for(args, context, *set, code);
  if (!input) return code;
  auto audit = read_switch_audit(args, input->intent, context, code);
  if (!audit) return code;
  if (set->lab) lower_loaded(*set->lab, audit->intent);
  Observation seen = observe(*set, context);
  if (seen.hosts.empty()) return could_not_look(args, context, seen);
  if (*time) watch(*set, **time, context, seen);
  restore_names(seen, input->intent, context);
  put_over(audit->evidence, seen);
  finding::Judgement judgement = diagnose::validate(seen.all(), audit->intent);
  add_unseen(seen, judgement);
  judgement.unknown.insert(judgement.unknown.end(), audit->unread.begin(), audit->unread.end());
  judgement.next = next_steps(args, *set, judgement);
  if (args.has("slurm") && !context.json) return print_drain(args, context, judgement);
  Json extra = {{"design", input->design.file},
                {"hosts", seen.hosts.size()},
                {"not_in_design", strangers(seen, input->intent)},
                {"switches", seen.switches ? seen.switches->switches.size() : 0},
                {"simulated", seen.is_simulated()}};
  if (args.has("slurm")) extra["drain"] = drain_reason(args, judgement);
  return print_judgement(args, context, judgement, verdict_of(seen, judgement, *input), extra);
}

}  // namespace

Command validate_command() {
  return {
      .name = "validate",
      .group = Group::kOperators,
      .summary = "is the configuration what the design wants?",
      .description =
          "Reads every setting of every rail (and of the switches of a lab) back and holds it "
          "against the design: expected, found, why it matters, what to type. Rails or hosts that "
          "differ from each other are a finding of their own. What could not be read is unknown "
          "and never passes.",
      .arguments = {design_argument()},
      .options = with_host_options(
          {{.name = "slurm", .help = "one line to drain the node with; nothing when well"},
           {.name = "watch",
            .metavar = "TIME",
            .help = "watch the links this long: flaps, broken frames"},
           switch_option()}),
      .examples = {{"weir validate --lab lab", "a lab against its own design"},
                   {"weir validate fabric.yaml --root bundles/", "many hosts, from bundles"},
                   {"weir validate fabric.yaml --switch leaf1=leaf1.cfg", "a switch's file"},
                   {"weir validate fabric.yaml --watch 30s --slurm", "as a health check"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kFindings, ExitCode::kBadInput,
                     ExitCode::kCouldNotLook, ExitCode::kPartial},
      .rows = {"C1", "C2", "C4", "C5", "C6", "C7", "C8", "C9", "C10"},
      .judges = true,
      .run = run_validate,
  };
}

}  // namespace weir::cli
