#include "cli/text/sim_text.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/count_text.h"
#include "base/table.h"
#include "base/text.h"
#include "units/format.h"

namespace weir::cli {
namespace {

constexpr std::size_t kRunWidth = 100;
constexpr std::size_t kRunPortsShown = 5;

using sim::Outcome;
using sim::Results;
using sim::Totals;
using sim::WorkloadResult;

std::string drops_text(const Totals& totals) {
  std::vector<std::string> words;
  for (std::size_t r = 0; r < sim::kDropReasons; ++r)
    if (totals.drops[r] > 0)
      words.push_back(fmt::format("{} {}", count_text(totals.drops[r]),
                                  sim::to_text(static_cast<sim::DropReason>(r))));
  return words.empty() ? "none" : join(words, ", ");
}

std::string workload_table(const std::vector<WorkloadResult>& workloads) {
  TextTable table({"workload", "ranks", "messages", "completed", "mean", "p99", "max", "steps",
                   "step", "bus Gb/s"},
                  {Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  for (const WorkloadResult& load : workloads) {
    Duration steps;
    for (const sim::StepResult& step : load.steps)
      steps += step.time();
    const auto count = static_cast<std::int64_t>(load.steps.size());
    const auto time = [&](Duration value) {
      return load.completed == 0 ? std::string("-") : approximate(value);
    };
    table.add_row({load.label, std::to_string(load.ranks), count_text(load.messages),
                   count_text(load.completed), time(load.completion.mean),
                   time(load.completion.p99), time(load.completion.max),
                   count == 0 ? "-" : std::to_string(count),
                   count == 0 ? "-" : approximate(steps / count),
                   load.bus_bandwidth ? fmt::format("{:.1f}", *load.bus_bandwidth / 1e9) : "-"});
  }
  return table.to_text(2);
}

std::string pauses_text(const Totals& totals) {
  if (totals.pauses == 0 && totals.pause_time.raw() == 0) return "none";
  return fmt::format("{}, {} in all", count_text(totals.pauses), approximate(totals.pause_time));
}

std::string totals_table(const Totals& totals) {
  const double share = totals.received == 0 ? 0
                                            : static_cast<double>(totals.marked) /
                                                  static_cast<double>(totals.received);
  std::string text = fmt::format(
      "  pauses       {}\n"
      "  ECN          {} packets marked ({:.2f} %), {} CNPs sent, {} handled\n"
      "  drops        {}\n"
      "  retransmits  {} packets\n"
      "  utilisation  {:.1f} % of the receiving NICs",
      pauses_text(totals), count_text(totals.marked), share * 100, count_text(totals.cnp_sent),
      count_text(totals.cnp_handled), drops_text(totals), count_text(totals.retransmitted),
      totals.utilisation * 100);
  if (totals.finished > 0)
    text += fmt::format("; fairness (Jain) {:.3f}; slowdown {:.2f} mean, {:.2f} p99", totals.jain,
                        totals.slowdown_mean, totals.slowdown_p99);
  return text + "\n";
}

struct PortRow {
  const counters::PortCounters* port;
  std::string peer;
  std::uint64_t depth = 0;
  std::uint64_t marked = 0;
  std::uint64_t pauses = 0;
  std::uint64_t drops = 0;
};

std::uint64_t summed(const counters::PortCounters& port, std::string_view id) {
  std::uint64_t sum = 0;
  for (const counters::ShownSample& sample : port.samples())
    if (sample.match && sample.match.counter->id == id) sum += sample.reading.value();
  return sum;
}

/// The switch ports with the deepest queues; nothing where all stayed empty.
std::string port_table(const Results& results) {
  if (results.switches.snapshots.empty()) return "";
  std::vector<PortRow> rows;
  const auto& ports = results.switches.snapshots.back().switch_ports;
  std::size_t at = 0;
  for (const evidence::Switch& sw : results.switches.switches)
    for (const evidence::SwitchPort& fact : sw.ports) {
      const counters::PortCounters& port = ports[at++];
      rows.push_back({&port, fact.neighbour->system, summed(port, "switch.queue.depth_max.bytes"),
                      summed(port, "switch.queue.ecn_marked.packets"),
                      summed(port, "switch.prio.pause_tx.frames"),
                      summed(port, "switch.port.drop.packets")});
    }
  std::stable_sort(rows.begin(), rows.end(), [](const PortRow& a, const PortRow& b) {
    return std::tie(a.drops, a.depth, a.pauses) > std::tie(b.drops, b.depth, b.pauses);
  });
  rows.resize(std::min(rows.size(), kRunPortsShown));
  TextTable table(
      {"switch port", "to", "deepest queue", "marked", "pause frames sent", "drops"},
      {Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  bool is_empty = true;
  for (const PortRow& row : rows) {
    if (row.depth == 0 && row.pauses == 0 && row.drops == 0) continue;
    is_empty = false;
    table.add_row({row.port->device() + " " + row.port->netdev(), row.peer,
                   approximate(Bytes::raw(static_cast<std::int64_t>(row.depth))),
                   count_text(row.marked), count_text(row.pauses), count_text(row.drops)});
  }
  return is_empty ? "" : "\n" + table.to_text(2);
}

/// Packets that found no buffer in a lossy class, RDMA that was put there by mistake among them.
std::uint64_t lossy_drops(const Totals& totals) {
  std::uint64_t all = 0;
  for (std::size_t r = 0; r < sim::kDropReasons; ++r)
    if (sim::is_buffer_shortage(static_cast<sim::DropReason>(r))) all += totals.drops[r];
  return all - std::min(all, totals.lossless_drops);
}

std::string unfinished_text(const Totals& totals) {
  const std::uint64_t open = totals.flows - totals.finished - totals.failed;
  std::vector<std::string> parts;
  if (totals.failed > 0)
    parts.push_back(fmt::format("{} of {} flows FAILED (retries exhausted)",
                                count_text(totals.failed), count_text(totals.flows)));
  if (open > 0)
    parts.push_back(fmt::format("{} of {} flows NOT finished in time", count_text(open),
                                count_text(totals.flows)));
  return parts.empty() ? std::string("the workload did NOT finish in time") : join(parts, ", ");
}

}  // namespace

std::string sim_verdict(const Results& results, bool is_finished,
                        const std::vector<WorkloadResult>& workloads) {
  const Totals& totals = results.totals;
  const bool is_whole = is_finished && totals.finished == totals.flows;
  std::vector<std::string> parts;
  if (!is_whole) parts.push_back(unfinished_text(totals));
  parts.push_back(
      totals.lossless_drops > 0
          ? fmt::format("NOT lossless: {} packets of lossless traffic dropped for want of buffer",
                        count_text(totals.lossless_drops))
      : is_whole ? std::string("lossless: 0 drops of lossless traffic")
                 : std::string("0 drops of lossless traffic for want of buffer"));
  if (const std::uint64_t lossy = lossy_drops(totals); lossy > 0)
    parts.push_back(
        fmt::format("{} packets of lossy classes dropped for want of buffer", count_text(lossy)));
  if (is_whole)
    parts.push_back(fmt::format("{} {} finished", count_text(totals.flows),
                                totals.flows == 1 ? "flow" : "flows"));
  for (const WorkloadResult& load : workloads) {
    if (!load.bus_bandwidth || load.steps.empty()) continue;
    Duration all;
    for (const sim::StepResult& step : load.steps)
      all += step.time();
    parts.push_back(fmt::format("{} took {}", load.label,
                                approximate(all / static_cast<std::int64_t>(load.steps.size()))));
  }
  if (totals.finished > 0)
    parts.push_back(
        fmt::format("{} p50 {}, p99 {}", parts.size() > 2 && is_whole ? "one flow" : "completion",
                    approximate(totals.completion.p50), approximate(totals.completion.p99)));
  return join(parts, ", ") + " (simulated).";
}

namespace {

/// Where the time of the training steps went.
std::string training_steps_text(const Outcome& outcome) {
  std::string text;
  for (const WorkloadResult& load : outcome.workloads) {
    if (!sim::has_steps(load.kind) || load.steps.empty()) continue;
    Duration all;
    Duration exposed;
    Duration worst;
    const sim::StepResult* latest = &load.steps.front();
    for (const sim::StepResult& step : load.steps) {
      all += step.time();
      exposed += step.exposed();
      worst = std::max(worst, step.exposed());
      if (step.late > latest->late) latest = &step;
    }
    const auto count = static_cast<std::int64_t>(load.steps.size());
    text += fmt::format(
        "  exposed      {} of communication per step beside {} of computing ({:.1f} %), at most "
        "{}\n"
        "  straggler    {}, {} after the median NIC\n",
        approximate(exposed / count), approximate(latest->compute),
        100 * static_cast<double>(exposed.raw()) / static_cast<double>(all.raw()),
        approximate(worst), outcome.sim->network().nodes[latest->straggler].name,
        approximate(latest->late));
  }
  return text;
}

/// A list of tests, in the columns of nccl-tests.
std::string tests_text(const Outcome& outcome) {
  std::string text;
  for (const WorkloadResult& load : outcome.workloads) {
    if (load.phases.empty()) continue;
    TextTable table({"test", "size", "time", "algbw GB/s", "busbw GB/s"},
                    {Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
    for (const sim::PhaseResult& phase : load.phases)
      table.add_row({phase.name, to_text(phase.size), approximate(phase.time),
                     fmt::format("{:.2f}", phase.algorithm_bandwidth / 8e9),
                     fmt::format("{:.2f}", phase.bus_bandwidth / 8e9)});
    text += "\n" + table.to_text(2);
  }
  return text;
}

std::string replay_text(const Outcome& outcome, bool is_checked) {
  std::size_t steps = 0;
  for (const WorkloadResult& load : outcome.workloads)
    if (sim::has_steps(load.kind)) steps += load.steps.size();
  if (steps < 2) return "";
  const std::string_view how = is_checked ? "and checked: simulated one by one they are the same"
                                          : "exactly as they would be simulated";
  if (outcome.replay.steps == 0 && outcome.replay.region_steps > 0)
    return fmt::format(
        "{} steps of single rails or regions replayed, {}; of the whole fabric none: {}\n",
        count_text(outcome.replay.region_steps), how, outcome.replay.why_not);
  if (outcome.replay.steps == 0)
    return fmt::format("no step was replayed: {}\n", outcome.replay.why_not);
  return fmt::format("{} of {} steps replayed, {}\n", count_text(outcome.replay.steps),
                     count_text(steps), how);
}

}  // namespace

void print_sim(const Outcome& outcome, Context& context, bool is_replay_checked) {
  const Results& results = outcome.results;
  const bool is_good = results.totals.lossless_drops == 0 && outcome.is_finished;
  context.out << paint(context, is_good ? Tone::kGood : Tone::kBad,
                       sim_verdict(results, outcome.is_finished, outcome.workloads))
              << '\n';
  if (context.quiet) return;
  if (!outcome.workloads.empty()) context.out << '\n' << workload_table(outcome.workloads);
  context.out << '\n'
              << training_steps_text(outcome) << totals_table(results.totals) << tests_text(outcome)
              << port_table(results);
  for (const std::string& note : outcome.notes)
    context.out << "\nnote: " << hang(note, kRunWidth - 6, 6);
  if (!outcome.notes.empty()) context.out << '\n';
  context.out << fmt::format("\nsimulated {}, seed {}, digest {:016x}\n",
                             approximate(results.totals.duration), results.seed, results.digest)
              << replay_text(outcome, is_replay_checked);
}

}  // namespace weir::cli
