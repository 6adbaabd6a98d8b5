// weir diff: what changed between two snapshots, or differs between two hosts.
#include <algorithm>

#include <fmt/format.h>

#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/host_input.h"
#include "cli/json/record_json.h"
#include "ops/record/snapshot.h"
#include "render/text/delta_text.h"
#include "units/format.h"

namespace weir::cli {
namespace {

template <class Visit>
void for_each_port(const ops::HostDiff& pair, const Visit& visit) {
  if (!pair.counters) return;
  for (const counters::PortDelta& nic : pair.counters->nics)
    visit(nic, true);
  for (const counters::PortDelta& port : pair.counters->switch_ports)
    visit(port, false);
}

std::string diff_verdict(const ops::Diff& diff) {
  if (diff.hosts.empty()) return "Nothing to compare: no host is in both files.";
  std::size_t moved = 0;
  std::size_t facts = 0;
  std::int64_t elapsed = 0;
  for (const ops::HostDiff& pair : diff.hosts) {
    facts += pair.facts.size();
    if (pair.counters) elapsed = std::max(elapsed, pair.counters->elapsed_ns);
    for_each_port(pair, [&](const auto& port, bool /*is_nic*/) { moved += render::moved(port); });
  }
  constexpr std::int64_t kPicosecondsPerNanosecond = 1000;
  const std::string time =
      elapsed > 0
          ? fmt::format(" in {}", approximate(Duration::raw(elapsed * kPicosecondsPerNanosecond)))
          : "";
  if (moved == 0 && facts == 0)
    return fmt::format("Nothing changed{}{}.", time, simulated_word(diff.is_simulated));
  return fmt::format("{} moved and {} changed{}{}.", counted(moved, "counter"),
                     counted(facts, "fact"), time, simulated_word(diff.is_simulated));
}

std::string port_title(const ops::HostDiff& pair, const counters::PortDelta& port, bool is_nic) {
  if (is_nic) return fmt::format("{} {} ({})", pair.name, port.device, port.netdev);
  return fmt::format("{} {}", port.device, port.netdev);
}

void print_pair(const ops::HostDiff& pair, Context& context) {
  if (!pair.facts.empty()) {
    context.out << fmt::format("\n{}: facts\n", pair.name);
    TextTable table({"where", "fact", "before", "after"});
    for (const evidence::FactChange& change : pair.facts)
      table.add_row(
          {change.where.empty() ? "host" : change.where, change.fact, change.before, change.after});
    context.out << table.to_text(2);
  }
  if (!pair.problem.empty()) context.out << fmt::format("\n{}: {}\n", pair.name, pair.problem);
  if (!pair.counters) return;
  for (const std::string& port : pair.counters->appeared)
    context.out << fmt::format("\n{}: {} was not there before\n", pair.name, port);
  for (const std::string& port : pair.counters->vanished)
    context.out << fmt::format("\n{}: {} is not there any more\n", pair.name, port);
  for_each_port(pair, [&](const counters::PortDelta& port, bool is_nic) {
    const std::int64_t elapsed = pair.counters->elapsed_ns;
    const std::string table = render::delta_table(port, elapsed);
    if (table.empty()) return;
    context.out << fmt::format("\n{}\n{}", port_title(pair, port, is_nic), table);
    if (!is_nic) return;
    for (const std::string& sentence : render::pause_sentences(port, elapsed))
      context.out << "  " << sentence << '\n';
    const std::string processors = render::processor_sentence(port);
    if (!processors.empty()) context.out << "  " << processors << '\n';
  });
}

ExitCode run_diff(const Args& args, Context& context) {
  const auto source = source_of(args, context);
  if (!source) return fail(context, args.command(), source.error());
  const auto diff = ops::diff({args.value("BEFORE"), args.get("AFTER"), *source});
  if (!diff) return fail(context, args.command(), diff.error());
  for (const std::string& text : diff->unseen)
    context.err << "weir: could not read " << text << '\n';
  const bool has_gap = !diff->unpaired.empty() || diff->hosts.empty();
  const ExitCode code = has_gap ? ExitCode::kPartial : ExitCode::kOk;
  if (context.json) {
    print_diff_json(context, args.command(), *diff, diff_verdict(*diff));
    return code;
  }
  context.out << diff_verdict(*diff) << '\n';
  for (const std::string& text : diff->unpaired)
    context.out << text << '\n';
  if (context.quiet) return code;
  for (const ops::HostDiff& pair : diff->hosts)
    print_pair(pair, context);
  return code;
}

}  // namespace

Command diff_command() {
  return {
      .name = "diff",
      .group = Group::kOperators,
      .summary = "what changed between two snapshots, or differs between two hosts",
      .description =
          "Counters with their rates, counters that wrapped or were reset, ports that appeared or "
          "disappeared, settings that changed, and who paused whom. Files of two different hosts "
          "are compared by their settings.",
      .arguments = {{.name = "BEFORE",
                     .help = "a file of weir snapshot --out, or evidence",
                     .required = true,
                     .completes = Completes::kFiles},
                    {.name = "AFTER",
                     .help = "a second file (default: the hosts now)",
                     .completes = Completes::kFiles}},
      .options = with_host_options(),
      .examples = {{"weir diff before.json after.json", "what a job did to the counters"},
                   {"weir diff before.json --lab lab", "until now"},
                   {"weir diff good-node.json bad-node.json", "how they differ"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kCouldNotLook,
                     ExitCode::kPartial},
      .looks = Looks::kAtFilesIfAllNamed,
      .takes_fleet = true,
      .run = run_diff,
  };
}

}  // namespace weir::cli
