// weir verify: behaviour under load. Snapshot, run, snapshot, judge.
#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

#include <fmt/format.h>

#include "base/name_pattern.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/progress.h"
#include "cli/frame/transition.h"
#include "cli/verbs/verify_burst.h"
#include "cli/verbs/verify_failure.h"
#include "cli/verbs/verify_load.h"
#include "cli/verbs/verify_pair.h"
#include "host/probe/linux_command.h"
#include "ops/inspect/validate.h"

namespace weir::cli {
namespace {

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

/// Everything a load needs: who is watched, the design, and who runs it.
struct Stage {
  HostSet set;
  DesignInput input;
  std::string ran_on;
};

std::optional<Stage> set_up(const Args& args, Context& context, ExitCode& code) {
  auto set = open_hosts(args, context, code);
  if (!set) return std::nullopt;
  auto input = design_for(args, context, *set, code);
  if (!input) return std::nullopt;
  std::string ran_on = set->hosts.front()->name();
  auto everyone = everyone_around(std::move(*set));
  if (!everyone) {
    code = fail(context, ExitCode::kCouldNotLook, everyone.error().what);
    return std::nullopt;
  }
  return Stage{std::move(*everyone), std::move(*input), std::move(ran_on)};
}

/// What goes on where nothing is started yet. A lab stands still by itself.
std::vector<evidence::Evidence> idle_window(const Stage& stage, const Observation& first,
                                            Context& context) {
  if (stage.set.lab) return {};
  std::this_thread::sleep_for(std::chrono::seconds(1));
  return window_of(first.all(), observe(stage.set, context).all());
}

/// Looks, runs, looks again, judges; `print` has the last word.
using Printer = std::function<ExitCode(Verified&, const std::vector<evidence::Evidence>& window)>;

ExitCode run_command_under_watch(const Args& args, Context& context, Stage& stage,
                                 const std::vector<std::string>& words, const Printer& print) {
  const auto runner = std::find_if(stage.set.hosts.begin(), stage.set.hosts.end(),
                                   [&](const auto& host) { return host->name() == stage.ran_on; });
  const Observation first = observe(stage.set, context);
  if (first.hosts.empty())
    return fail(context, ExitCode::kCouldNotLook, "no host could be looked at");
  std::vector<evidence::Evidence> idle = idle_window(stage, first, context);
  const Observation before = idle.empty() ? first : observe(stage.set, context);
  Progress bar(context.err, context.stderr_is_terminal, "running");
  if (stage.set.lab) stage.set.lab->on_progress([&](double share) { bar.update(share); });
  auto outcome = (*runner)->run(words);
  bar.clear();
  if (!outcome) return fail(context, ExitCode::kCouldNotLook, outcome.error().what);
  const Observation after = observe(stage.set, context);
  Drive drive;
  drive.words = words;
  drive.ran_on = stage.ran_on;
  drive.outcome = std::move(*outcome);
  drive.sees_all_ends = stage.set.lab.has_value();
  drive.idle = std::move(idle);
  const std::vector<evidence::Evidence> window = window_of(before.all(), after.all());
  Verified verified = judge_load(std::move(drive), window, stage.input.intent);
  ops::add_unseen(after, verified.judgement);
  if (verified.judgement.next.empty())
    verified.judgement.next = {fmt::format("weir report{}", source_words(args))};
  return print(verified, window);
}

ExitCode run_load(const Args& args, Context& context) {
  ExitCode code = ExitCode::kOk;
  auto stage = set_up(args, context, code);
  if (!stage) return code;
  return run_command_under_watch(
      args, context, *stage, args.all("COMMAND"),
      [&](Verified& verified, const std::vector<evidence::Evidence>& /*window*/) {
        return print_verified(args, context, verified);
      });
}

/// In a lab: everybody, or those of --from, to the host of --host.
ExitCode run_lab_burst(const Args& args, Context& context) {
  ExitCode code = ExitCode::kOk;
  auto stage = set_up(args, context, code);
  if (!stage) return code;
  std::vector<std::string> names;
  const std::string from = args.get("from").value_or("");
  for (const std::string_view name : split(from, ','))
    if (!trim(name).empty()) names.emplace_back(trim(name));
  if (names.empty()) names = stage->set.lab->host_names();
  std::erase(names, stage->ran_on);
  const std::size_t senders = names.size();
  if (senders < 2)
    return usage_error(context, args.command(), "a burst needs two senders: --from H1,H2,…");
  names.push_back(stage->ran_on);
  // Many connections start at line rate before the first notification comes back.
  std::vector<std::string> words = {"incast", "to=" + stage->ran_on, "size=4MB", "qps=16",
                                    "depth=1"};
  if (args.has("from")) words.push_back("hosts=" + compact_names(names));
  return run_command_under_watch(
      args, context, *stage, words,
      [&](Verified& verified, const std::vector<evidence::Evidence>& window) {
        const Burst burst =
            judge_burst(window, stage->input.intent, senders, stage->ran_on, verified.judgement);
        return print_burst(args, context, verified, burst);
      });
}

Failure lab_failure(const std::string& what, std::vector<std::string> faults, lab::Lab& lab) {
  const auto clear = [&lab, faults]() -> Status {
    for (const std::string& fault : faults) {
      WEIR_TRY(cleared, lab.clear_fault(fault));
      WEIR_CHECK(cleared > 0);
    }
    return {};
  };
  return {
      .text = what,
      .begin = [&lab, faults, what]() -> Status {
        for (const std::string& fault : faults) {
          const Status added = lab.add_fault(fault);
          if (added) continue;
          for (const std::string* one = faults.data(); one != &fault; ++one)
            static_cast<void>(lab.clear_fault(*one));
          if (what != fault) return added;
          return added.error().within("--under-failure (link=LINK, host=HOST, rail=N or a fault)");
        }
        return {};
      },
      .end = clear};
}

ExitCode run_lab_failure(const Args& args, Context& context, Stage& stage) {
  const std::string& what = args.value("under-failure");
  const std::vector<std::string> faults = faults_of(what, stage.input.intent);
  if (faults.empty())
    return fail(context, ExitCode::kBadInput,
                fmt::format("--under-failure {}: no host of the design has that rail", what));
  std::vector<std::string> words = args.all("COMMAND");
  if (words.empty()) words = load_under(what, stage.input.intent);
  if (words.empty())
    return usage_error(context, args.command(),
                       "the design has no other rail to carry a load: say what to run with -- "
                       "COMMAND");
  return run_under_failure(args, context, stage.set, stage.input, stage.ran_on, words,
                           lab_failure(what, faults, *stage.set.lab));
}

Failure commanded_failure(const std::string& begin, const std::string& end) {
  const auto run = [](const std::string& line) -> Status {
    WEIR_TRY(outcome, host::run_command({"sh", "-c", line}));
    if (outcome.exit_status == 0) return {};
    return Error{ErrorCode::kIo,
                 fmt::format("{}: status {}: {}", line, outcome.exit_status, trim(outcome.errors))};
  };
  return {.text = begin,
          .begin = [run, begin] { return run(begin); },
          .end = [run, end] { return run(end); }};
}

ExitCode run_failure(const Args& args, Context& context) {
  ExitCode code = ExitCode::kOk;
  auto stage = set_up(args, context, code);
  if (!stage) return code;
  if (stage->set.lab) return run_lab_failure(args, context, *stage);
  const std::string& what = args.value("under-failure");
  const std::vector<std::string> words = args.all("COMMAND");
  if (words.empty()) return usage_error(context, args.command(), "what to run: -- COMMAND");
  if (!args.has("restore"))
    return usage_error(context, args.command(),
                       "on hosts --under-failure is a command, and --restore the one that ends it");
  const std::string why = why_no_failure(what);
  if (!why.empty())
    return fail(
        context, ExitCode::kBadInput,
        fmt::format("--under-failure '{}': {} (weir explain failover.not_injected)", what, why));
  return run_under_failure(args, context, stage->set, stage->input, stage->ran_on, words,
                           commanded_failure(what, args.value("restore")));
}

ExitCode run_verify(const Args& args, Context& context) {
  const int ways = (args.has("pair") ? 1 : 0) + (args.has("microburst") ? 1 : 0) +
                   (args.has("under-failure") ? 1 : 0);
  if (ways > 1)
    return usage_error(context, args.command(),
                       "--pair, --microburst and --under-failure exclude each other");
  const bool has_command = !args.all("COMMAND").empty();
  if (args.has("under-failure")) return run_failure(args, context);
  if (ways == 1 && has_command)
    return usage_error(context, args.command(), "--pair and --microburst bring their own load");
  if (args.has("pair")) {
    if (args.has("lab"))
      return usage_error(context, args.command(),
                         "in a lab the server runs by itself: -- ib_write_bw --tclass=106 HOST");
    return run_verify_pair(args, context);
  }
  if (args.has("microburst")) {
    if (args.has("lab")) return run_lab_burst(args, context);
    if (!args.has("from"))
      return usage_error(context, args.command(), "--microburst needs senders: --from H1,H2,…");
    return run_verify_burst(args, context);
  }
  if (!has_command)
    return usage_error(context, args.command(),
                       "nothing to run: -- COMMAND, --pair HOST, or --microburst");
  return run_load(args, context);
}

std::vector<Option> own_options() {
  return {{.name = "pair", .metavar = "HOST", .help = "perftest to HOST, its server over ssh"},
          {.name = "microburst", .help = "many senders to this host at once"},
          {.name = "from", .metavar = "H1,H2", .help = "the burst's senders, over ssh"},
          {.name = "under-failure",
           .metavar = "WHAT",
           .help = "in a lab link=L, host=H, rail=N; else a command"},
          {.name = "restore", .metavar = "CMD", .help = "ends the failure that a command began"},
          {.name = "rail", .metavar = "N", .help = "of both ends", .default_value = "0"},
          {.name = "perftest",
           .metavar = "WORDS",
           .help = "of both ends",
           .default_value = "ib_write_bw -D 5"},
          {.name = "address", .metavar = "A", .help = "of the server (default: the rail's)"},
          {.name = "ssh", .metavar = "CMD", .help = "instead of ssh"}};
}

}  // namespace

Command verify_command() {
  return {
      .name = "verify",
      .group = Group::kOperators,
      .summary = "behaviour under load: snapshot, run a command, snapshot, judge",
      .description =
          "Runs a load between two looks at every counter; answers five questions first (DCQCN, "
          "drops, PFC, traffic and its device, link), then says what is wrong.",
      .arguments = {design_argument(),
                    {.name = "COMMAND",
                     .help = "what to run, after --",
                     .repeated = true,
                     .after_dashes = true}},
      .options = with_host_options(own_options()),
      .examples = {{"weir verify -- ib_write_bw -d mlx5_0 --tclass=106 gpu02", ""}},
      .exit_codes = {ExitCode::kOk, ExitCode::kFindings, ExitCode::kBadInput,
                     ExitCode::kCouldNotLook, ExitCode::kPartial},
      .rows = {"D2", "D3", "D5", "D6", "D7", "D8"},
      .judges = true,
      .run = run_verify,
  };
}

}  // namespace weir::cli
