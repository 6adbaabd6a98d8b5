// weir snapshot: the counters of every port now, with the facts beside them.
#include <algorithm>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/table.h"
#include "cli/frame/commands.h"
#include "cli/frame/transition.h"
#include "cli/json/object.h"

namespace weir::cli {
namespace {

/// Readable counters of all ports, and those that are not zero.
struct Count {
  std::size_t nics = 0;
  std::size_t read = 0;
  std::size_t nonzero = 0;
  std::size_t refused = 0;  // there, but without a value
};

Count count_of(const std::vector<evidence::Evidence>& captures) {
  Count count;
  const auto add = [&](const std::vector<counters::PortCounters>& ports) {
    for (const counters::PortCounters& port : ports) {
      for (const counters::Sample& sample : port.samples()) {
        if (!sample.reading.has_value()) {
          ++count.refused;
          continue;
        }
        ++count.read;
        if (sample.reading.value() > 0) ++count.nonzero;
      }
    }
  };
  for (const evidence::Evidence& capture : captures) {
    if (capture.snapshots.empty()) continue;
    count.nics += capture.snapshots.back().nics.size();
    add(capture.snapshots.back().nics);
    add(capture.snapshots.back().switch_ports);
  }
  return count;
}

std::string verdict_of(const Observation& seen, const std::vector<evidence::Evidence>& captures) {
  const Count count = count_of(captures);
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
void print_nonzero(const Observation& seen, Context& context) {
  TextTable table({"host", "device", "counter", "value"},
                  {Align::kLeft, Align::kLeft, Align::kLeft, Align::kRight});
  bool is_empty = true;
  for (const evidence::Evidence& host : seen.hosts) {
    if (host.snapshots.empty()) continue;
    for (const counters::PortCounters& port : host.snapshots.back().nics) {
      for (const counters::Sample& sample : port.samples()) {
        if (!sample.reading.has_value() || sample.reading.value() == 0) continue;
        is_empty = false;
        table.add_row({host.provenance.host, port.device(), sample.key(),
                       fmt::format("{}", sample.reading.value())});
      }
    }
  }
  if (!is_empty) context.out << '\n' << table.to_text(2);
}

/// The counters alone, without the facts.
Observation count_hosts(const HostSet& set, Context& context) {
  Observation seen;
  for (const auto& host : set.hosts) {
    Result<counters::Snapshot> snapshot = host->snapshot();
    if (!snapshot) {
      seen.unseen.push_back(fmt::format("{}: {}", host->name(), snapshot.error().what));
      context.err << "weir: could not look at " << seen.unseen.back() << '\n';
      continue;
    }
    evidence::Evidence capture;
    capture.provenance = {.host = host->name(),
                          .time = snapshot->time,
                          .tool = "weir",
                          .origin = set.lab             ? evidence::Origin::kLab
                                    : !set.are_captured ? evidence::Origin::kLive
                                                        : evidence::Origin::kBundle,
                          .simulated = set.lab.has_value(),
                          .detail = ""};
    capture.snapshots.push_back(std::move(*snapshot));
    seen.hosts.push_back(std::move(capture));
  }
  return seen;
}

ExitCode run_snapshot(const Args& args, Context& context) {
  ExitCode code = ExitCode::kOk;
  const auto set = open_hosts(args, context, code);
  if (!set) return code;
  const Observation seen =
      args.has("counters") ? count_hosts(*set, context) : observe(*set, context);
  if (seen.hosts.empty())
    return fail(context, ExitCode::kCouldNotLook, "no host could be looked at");
  const std::vector<evidence::Evidence> captures = seen.all();
  const std::string verdict = verdict_of(seen, captures);
  const auto file = args.get("out");
  if (context.json || file) {
    Json object = json_object(args.command());
    object["verdict"] = verdict;
    object["unseen"] = seen.unseen;
    object.update(snapshot_json(captures));
    if (context.json) print_json(context, object);
    if (file) {
      const Status written = write_file_atomic(*file, object.dump(1) + "\n");
      if (!written) return fail(context, ExitCode::kBadInput, written.error().what);
    }
  }
  if (context.json) return completeness(seen);
  context.out << verdict << '\n';
  if (file) {
    context.out << fmt::format("Written to {}.\n", *file);
    if (!context.quiet) context.out << fmt::format("\nnext:\n  weir diff {} LATER.json\n", *file);
  } else if (!context.quiet) {
    print_nonzero(seen, context);
  }
  return completeness(seen);
}

}  // namespace

Command snapshot_command() {
  return {
      .name = "snapshot",
      .group = Group::kOperators,
      .summary = "the counters of every port now, and the facts beside them",
      .description =
          "Reads every counter of every RDMA port, and of the switches of a lab. A counter that is "
          "absent, refused or unsupported is said to be, and is not a zero. Two files of it are "
          "what weir diff compares.",
      .options = with_host_options(
          {{.name = "counters", .help = "the counters of the NICs alone, for short intervals"},
           {.name = "out",
            .letter = 'o',
            .metavar = "FILE",
            .help = "write the JSON there, for weir diff",
            .completes = Completes::kFiles}}),
      .examples = {{"weir snapshot --lab lab --out before.json", "before a job"},
                   {"weir snapshot --lab lab --host gpu03 --json", "for a program"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kCouldNotLook,
                     ExitCode::kPartial},
      .rows = {"D1", "D2"},
      .run = run_snapshot,
  };
}

}  // namespace weir::cli
