// weir show: every rail as it is, on one screen; no design needed.
#include "ops/inspect/show.h"

#include <fmt/format.h>

#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/host_input.h"
#include "cli/json/inspect_json.h"
#include "render/text/host_screen.h"

namespace weir::cli {
namespace {

std::string show_verdict(const ops::Shown& shown) {
  const std::size_t rails = shown.seen.nic_count();
  const std::size_t wrong = shown.wrong_nics();
  const std::string what =
      fmt::format("{}, {}{}", counted(shown.seen.hosts.size(), "host"), counted(rails, "rail"),
                  simulated_word(shown.seen.is_simulated()));
  if (rails == 0) return fmt::format("{}: no RDMA device.", what);
  const std::string unread = shown.unread() == 0 ? ""
                                                 : fmt::format("; {} could not be read",
                                                               counted(shown.unread(), "setting"));
  if (wrong == 0)
    return fmt::format("{}: {} of {} rails follow the convention{}.", what, rails, rails, unread);
  return fmt::format(
      "{}: {} of {} rails follow the convention (! marks what differs; weir check "
      "lists it){}.",
      what, rails - wrong, rails, unread);
}

std::vector<render::ScreenHost> screen_of(const ops::Shown& shown) {
  std::vector<render::ScreenHost> screen;
  for (std::size_t i = 0; i < shown.hosts.size(); ++i) {
    render::ScreenHost row{&shown.seen.hosts[i], {}};
    for (const auto& deviations : shown.hosts[i].wrong) {
      row.wrong.emplace_back();
      for (const evidence::Deviation& deviation : deviations)
        row.wrong.back().push_back(deviation.setting);
    }
    screen.push_back(std::move(row));
  }
  return screen;
}

void print_facts(const ops::Observation& seen, Context& context) {
  for (const evidence::Evidence& host : seen.hosts) {
    for (const FactGroup& group : all_facts(host)) {
      TextTable table({"fact", "value"});
      for (const FactRow& row : group.rows)
        table.add_row({row.name, row.value});
      context.out << fmt::format("\n{}\n", group.title) << table.to_text(2, 100);
    }
  }
}

ExitCode run_show(const Args& args, Context& context) {
  const auto source = source_of(args, context);
  if (!source) return fail(context, args.command(), source.error());
  const auto shown = ops::show(*source);
  if (!shown) return fail(context, args.command(), shown.error());
  print_unseen(shown->seen, context);
  const std::string verdict = show_verdict(*shown);
  const std::string next = fmt::format(
      "{}{}", shown->wrong_nics() > 0 ? "weir check" : "weir validate", source_words(args));
  const ExitCode code = completeness(shown->seen);
  if (context.json) {
    print_shown_json(context, args.command(), *shown, verdict, {next});
    return code;
  }
  context.out << verdict << '\n';
  if (context.quiet) return code;
  context.out << '\n' << render::host_screen(screen_of(*shown), {.colour = context.colour});
  if (args.has("facts")) print_facts(shown->seen, context);
  print_gaps(shown->seen.hosts, context);
  context.out << "\nnext:\n  " << next << '\n';
  return code;
}

}  // namespace

Command show_command() {
  return {
      .name = "show",
      .group = Group::kOperators,
      .summary = "every rail as it is, on one screen; no design needed",
      .description =
          "One row per rail: link, driver, trust, the priority of the RDMA and CNP code points, "
          "PFC, "
          "802.3x pause, ECN (NP and RP), GID, MTU (interface/RDMA), forced traffic class, and "
          "the pause frames and CNPs counted so far. '!' marks a value that differs from the usual "
          "convention, '?' one that could not be read. Identical hosts share one block.",
      .options = with_host_options(
          {{.name = "facts", .help = "also list every fact, or why it is not known"}}),
      .examples = {{"weir show", "this machine"},
                   {"weir show --facts --root gpu03.bundle", "everything in a bundle"},
                   {"weir show --lab lab", "all hosts of a lab"},
                   {"weir show --lab lab --host gpu03", "one of them"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kCouldNotLook,
                     ExitCode::kPartial},
      .looks = Looks::kAtHostOrFiles,
      .takes_fleet = true,
      .run = run_show,
  };
}

}  // namespace weir::cli
