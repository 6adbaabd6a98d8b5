#include "cli/fleet/apply_waves.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/hosts/host_set.h"
#include "base/text.h"
#include "cli/fleet/fleet_input.h"
#include "cli/frame/change_input.h"
#include "cli/frame/commands.h"
#include "cli/frame/host_input.h"
#include "cli/frame/interruption.h"
#include "cli/json/change_json.h"
#include "cli/text/plan_text.h"
#include "ops/change/waves.h"

namespace weir::cli {
namespace {

using ops::WaveHostState;

ops::Result<std::size_t> hosts_option(const Args& args, std::string_view name, std::size_t usual) {
  const auto text = args.get(name);
  if (!text) return usual;
  const auto number = parse_u64(*text);
  if (!number || *number == 0 || *number > kMostHosts)
    return ops::bad_request(
        fmt::format("--{}: expected a number of hosts, 1 or more, found '{}'", name, *text));
  return static_cast<std::size_t>(*number);
}

ops::Result<ops::WaveSizes> sizes_of(const Args& args) {
  ops::WaveSizes sizes;
  WEIR_TRY(canary, hosts_option(args, "canary", sizes.canary));
  WEIR_TRY(batch, hosts_option(args, "batch", sizes.batch));
  return ops::WaveSizes{canary, batch};
}

std::string waves_verdict(const ops::Waves& done, const std::string& design) {
  const std::string simulated = simulated_word(done.is_simulated);
  const std::size_t kept = done.count(WaveHostState::kConfirmed);
  const std::size_t right = done.count(WaveHostState::kNothing);
  const std::string also =
      right > 0 ? fmt::format("; {} as designed already", counted(right, "host")) : "";
  if (done.red_flag.empty()) {
    if (kept == 0)
      return fmt::format("Nothing to do{}: {} match {}.", simulated, counted(right, "host"),
                         design);
    return fmt::format("{}{} changed and confirmed in {}{}.", counted(kept, "host"), simulated,
                       counted(done.waves.size(), "wave"), also);
  }
  const std::size_t back = done.count(WaveHostState::kRolledBack);
  const std::size_t lost = done.count(WaveHostState::kLost);
  const std::string missing = lost > 0
                                  ? fmt::format(", {} not reached and left to {} own deadline",
                                                counted(lost, "host"), lost == 1 ? "its" : "their")
                                  : "";
  const std::size_t part = done.count(WaveHostState::kUndoneInPart);
  const std::string half =
      part > 0 ? fmt::format(", {} in part only", counted(part, "host")) : std::string();
  return fmt::format("Stopped{}: {}. {} confirmed before, {} rolled back{}{}, {} not touched.",
                     simulated, done.red_flag, kept, back, half, missing,
                     done.count(WaveHostState::kUntouched));
}

void print_waves(const ops::Waves& done, Context& context) {
  for (const ops::Wave& wave : done.waves) {
    std::vector<ops::FoldedAnswer> answers;
    for (const ops::WaveHost& host : wave.hosts) {
      ops::add_answer(
          host.host,
          std::string(state_text(host.state)) + (host.detail.empty() ? "" : ": " + host.detail),
          answers);
    }
    context.out << fmt::format("\n{}\n", wave.name);
    for (const ops::FoldedAnswer& answer : answers)
      context.out << fmt::format(
          "  {}\n", hang(fmt::format("{}: {}", fold_hosts(answer.hosts), answer.answer), 94, 4));
  }
}

std::string waves_question(const ops::Plan& plan, const ops::WaveSizes& sizes) {
  if (plan.set.lab || plan.step_count() == 0) return "";
  std::vector<std::string> names;
  for (const host::HostPlan& host : plan.hosts)
    names.push_back(host.host);
  return fmt::format("{} on {}, beginning with {}.\n", counted(plan.step_count(), "change"),
                     counted(plan.hosts.size(), "host"),
                     fold_hosts(std::span(names).first(std::min(sizes.canary, names.size()))));
}

}  // namespace

std::vector<Option> wave_options() {
  return {{.name = "canary", .metavar = "N", .help = "hosts of the first wave (a fleet: 1)"},
          {.name = "batch", .metavar = "N", .help = "hosts of the second (a fleet: a tenth)"}};
}

bool asks_for_waves(const Args& args, const ops::PlanRequest& planned) {
  return planned.source.fleet.has_value() || args.has("canary") || args.has("batch");
}

ExitCode run_waves(const Args& args, Context& context, ops::PlanRequest planned,
                   ops::ApplyRequest apply) {
  if (!planned.source.fleet && planned.source.lab.empty())
    return usage_error(context, args.command(),
                       "--canary and --batch are for many hosts: add --hosts SET or --lab DIR");
  const auto sizes = sizes_of(args);
  if (!sizes) return fail(context, args.command(), sizes.error());
  const ops::WaveRequest request{std::move(planned), std::move(apply), *sizes};
  auto plan = ops::plan_wave_apply(request);
  if (!plan) return fail(context, args.command(), plan.error());
  print_unseen(plan->plan.seen, context);
  const std::string question = waves_question(plan->plan, *sizes);
  if (!question.empty()) {
    const Consent consent = ask_consent(args, context, question);
    if (consent != Consent::kGiven) return exit_for(consent);
  }
  const Interruption interruption;
  const std::string design = plan->plan.fabric.design.file;
  const std::vector<std::string> unseen = plan->plan.seen.unseen;
  const ExitCode if_done = unseen.empty() ? ExitCode::kOk : ExitCode::kPartial;
  const auto done = ops::apply_in_waves(std::move(*plan), request);
  Interruption::ignore_from_here();
  if (!done) return fail(context, args.command(), done.error());
  const std::string verdict = waves_verdict(*done, design);
  std::vector<std::string> next = {"weir validate" + plan_words(args)};
  if (done->count(WaveHostState::kUndoneInPart) > 0)
    next.insert(next.begin(), "weir rollback --pending" + source_words(args));
  const ExitCode code = done->was_interrupted     ? ExitCode::kInterrupted
                        : !done->red_flag.empty() ? ExitCode::kRolledBack
                                                  : if_done;
  if (context.json) {
    print_waves_json(context, args.command(), *done, design, unseen, verdict, next);
    return code;
  }
  context.out << verdict << '\n';
  if (context.quiet) return code;
  print_waves(*done, context);
  context.out << fmt::format("\nWritten down in {}.\n\nnext:\n  {}\n", done->journal, next.front());
  return code;
}

}  // namespace weir::cli
