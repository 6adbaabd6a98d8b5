// weir snapshot: the counters of every port now, with the facts beside them.
#include "ops/record/snapshot.h"

#include <fmt/format.h>

#include "base/partial_file.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/host_input.h"
#include "cli/json/record_json.h"

namespace weir::cli {
namespace {

std::string snapshot_verdict(const ops::Observation& seen) {
  const ops::CounterTotals count = ops::count_counters(seen.pieces());
  const std::string switches =
      seen.switches ? fmt::format(" and {}", counted(seen.switches->switches.size(), "switch"))
                    : "";
  const std::string refused =
      count.refused > 0 ? fmt::format(", {} without a value", count.refused) : "";
  return fmt::format("{}{}: {} on {}{}, {} not zero{}.", counted(seen.hosts.size(), "host"),
                     simulated_word(seen.is_simulated()), counted(count.read, "counter"),
                     counted(count.nics, "NIC"), switches, count.nonzero, refused);
}

/// Counters of NICs that are not zero; the rest is in --json.
void print_nonzero(const ops::Observation& seen, Context& context) {
  TextTable table({"host", "device", "counter", "value"},
                  {Align::kLeft, Align::kLeft, Align::kLeft, Align::kRight});
  bool is_empty = true;
  for (const evidence::Evidence& host : seen.hosts) {
    if (host.snapshots.empty()) continue;
    for (const counters::PortCounters& port : host.snapshots.back().nics) {
      for (const counters::ShownSample& sample : port.samples()) {
        if (!sample.reading.has_value() || sample.reading.value() == 0) continue;
        is_empty = false;
        table.add_row({host.provenance.host, port.device(), sample.key(),
                       fmt::format("{}", sample.reading.value())});
      }
    }
  }
  if (!is_empty) context.out << '\n' << table.to_text(2);
}

ExitCode run_snapshot(const Args& args, Context& context) {
  const auto source = source_of(args, context);
  if (!source) return fail(context, args.command(), source.error());
  const auto seen = ops::snapshot(*source, args.has("counters"));
  if (!seen) return fail(context, args.command(), seen.error());
  print_unseen(*seen, context);
  const std::string verdict = snapshot_verdict(*seen);
  const auto file = args.get("out");
  if (file) {
    const Status written = write_pieces_atomic(*file, [&](const PieceSink& put) {
      write_snapshot_json(args.command(), *seen, verdict, put);
    });
    if (!written) return fail(context, ExitCode::kBadInput, written.error().what);
  }
  if (context.json) {
    write_snapshot_json(args.command(), *seen, verdict,
                        [&](std::string_view piece) { context.out << piece; });
    return completeness(*seen);
  }
  context.out << verdict << '\n';
  if (file) {
    context.out << fmt::format("Written to {}.\n", *file);
    if (!context.quiet) context.out << fmt::format("\nnext:\n  weir diff {} LATER.json\n", *file);
  } else if (!context.quiet) {
    print_nonzero(*seen, context);
  }
  return completeness(*seen);
}

}  // namespace

Command snapshot_command() {
  return {
      .name = "snapshot",
      .group = Group::kOperators,
      .summary = "read all counters and settings of every port now",
      .description =
          "Reads every counter of every RDMA port, and of the switches of a lab. A counter that is "
          "absent, not permitted or not supported is reported as such, never as zero. weir diff "
          "compares two such files.",
      .options = with_host_options(
          {{.name = "counters", .help = "only the counters of the NICs, for short intervals"},
           {.name = "out",
            .letter = 'o',
            .metavar = "FILE",
            .help = "write JSON to FILE, for weir diff",
            .completes = Completes::kFiles,
            .writes = Writes::kFile}}),
      .examples = {{"weir snapshot --lab lab --out before.json", "before a job"},
                   {"weir snapshot --lab lab --host gpu03 --json", "for a program"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kCouldNotLook,
                     ExitCode::kPartial},
      .looks = Looks::kAtHostOrFiles,
      .takes_fleet = true,
      .run = run_snapshot,
  };
}

}  // namespace weir::cli
