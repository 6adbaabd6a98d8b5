// weir diff: what counters did and which facts changed between two snapshots; or how two hosts
// differ.
#include <algorithm>

#include <fmt/format.h>

#include "base/json.h"
#include "base/table.h"
#include "cli/frame/commands.h"
#include "cli/frame/transition.h"
#include "cli/json/object.h"
#include "evidence/changes.h"
#include "render/text/delta_text.h"
#include "units/format.h"

namespace weir::cli {
namespace {

using Captures = std::vector<evidence::Evidence>;

/// One host (or the switches) at two times, or two hosts.
struct Pair {
  const evidence::Evidence* before = nullptr;
  const evidence::Evidence* after = nullptr;
  std::string name;
  std::vector<evidence::FactChange> facts;
  std::optional<counters::SnapshotDelta> counters;  // of one host only
  std::string problem;                              // why there are no deltas
};

std::string name_of(const evidence::Evidence& capture) {
  return capture.provenance.host.empty() ? "switches" : capture.provenance.host;
}

void subtract(Pair& pair) {
  if (pair.before->snapshots.empty() || pair.after->snapshots.empty()) {
    pair.problem = "no counters in one of the files";
    return;
  }
  auto delta = counters::difference(pair.before->snapshots.back(), pair.after->snapshots.back());
  if (delta) {
    pair.counters = std::move(*delta);
  } else {
    pair.problem = delta.error().what;
  }
}

/// By name; two files of one host each are compared whatever they are called.
std::vector<Pair> pair_up(const Captures& before, const Captures& after,
                          std::vector<std::string>& unpaired) {
  std::vector<Pair> pairs;
  const bool are_two_hosts = before.size() == 1 && after.size() == 1 &&
                             before[0].provenance.host != after[0].provenance.host;
  for (const evidence::Evidence& capture : after) {
    const auto same = std::find_if(before.begin(), before.end(), [&](const auto& other) {
      return are_two_hosts || other.provenance.host == capture.provenance.host;
    });
    if (same == before.end()) {
      unpaired.push_back(name_of(capture) + ": in the second file only");
      continue;
    }
    Pair pair{&*same, &capture, name_of(capture), evidence::fact_changes(*same, capture), {}, ""};
    if (are_two_hosts) {
      pair.name = fmt::format("{} and {}", name_of(*same), name_of(capture));
      pair.problem = "two hosts: their counters are not subtracted";
    } else {
      subtract(pair);
    }
    pairs.push_back(std::move(pair));
  }
  for (const evidence::Evidence& capture : before) {
    const bool is_there =
        are_two_hosts || std::any_of(after.begin(), after.end(), [&](const auto& other) {
          return other.provenance.host == capture.provenance.host;
        });
    if (!is_there) unpaired.push_back(name_of(capture) + ": in the first file only");
  }
  return pairs;
}

template <class Visit>
void for_each_port(const Pair& pair, const Visit& visit) {
  if (!pair.counters) return;
  for (const counters::PortDelta& nic : pair.counters->nics)
    visit(nic, true);
  for (const counters::PortDelta& port : pair.counters->switch_ports)
    visit(port, false);
}

std::string verdict_of(const std::vector<Pair>& pairs, bool is_simulated) {
  std::size_t moved = 0;
  std::size_t facts = 0;
  std::int64_t elapsed = 0;
  for (const Pair& pair : pairs) {
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
    return fmt::format("Nothing changed{}{}.", time, simulated_word(is_simulated));
  return fmt::format("{} moved and {} changed{}{}.", counted(moved, "counter"),
                     counted(facts, "fact"), time, simulated_word(is_simulated));
}

std::string port_title(const Pair& pair, const counters::PortDelta& port, bool is_nic) {
  if (is_nic) return fmt::format("{} {} ({})", pair.name, port.device, port.netdev);
  return fmt::format("{} {}", port.device, port.netdev);
}

void print_pair(const Pair& pair, Context& context) {
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

Json port_json(const counters::PortDelta& port, std::int64_t elapsed, bool is_nic) {
  Json deltas = Json::object();
  for (const counters::Delta& delta : port.deltas) {
    Json entry = {{"id", nullptr},
                  {"change", counters::to_text(delta.change)},
                  {"amount", nullptr},
                  {"per_second", nullptr}};
    if (delta.match) entry["id"] = delta.match.counter->id;
    if (delta.amount) {
      entry["amount"] = *delta.amount;
      if (elapsed > 0)
        entry["per_second"] =
            static_cast<double>(*delta.amount) * 1e9 / static_cast<double>(elapsed);
    }
    if (delta.at_least) entry["at_least"] = *delta.at_least;
    deltas[delta.key()] = std::move(entry);
  }
  Json object = {{"device", port.device}, {"netdev", port.netdev}, {"deltas", std::move(deltas)}};
  if (is_nic) object["pauses"] = render::pause_sentences(port, elapsed);
  return object;
}

Json pair_json(const Pair& pair) {
  Json facts = Json::array();
  for (const evidence::FactChange& change : pair.facts)
    facts.push_back({{"where", change.where},
                     {"fact", change.fact},
                     {"before", change.before},
                     {"after", change.after}});
  Json object = {{"name", pair.name},     {"facts", std::move(facts)},
                 {"elapsed_ns", nullptr}, {"problem", pair.problem},
                 {"nics", Json::array()}, {"switch_ports", Json::array()}};
  if (!pair.counters) return object;
  object["elapsed_ns"] = pair.counters->elapsed_ns;
  object["appeared"] = pair.counters->appeared;
  object["vanished"] = pair.counters->vanished;
  for_each_port(pair, [&](const counters::PortDelta& port, bool is_nic) {
    object[is_nic ? "nics" : "switch_ports"].push_back(
        port_json(port, pair.counters->elapsed_ns, is_nic));
  });
  return object;
}

ExitCode print_diff(const Args& args, Context& context, const Captures& before,
                    const Captures& after) {
  std::vector<std::string> unpaired;
  const std::vector<Pair> pairs = pair_up(before, after, unpaired);
  const bool is_simulated = std::any_of(
      after.begin(), after.end(), [](const auto& capture) { return capture.provenance.simulated; });
  const std::string verdict = pairs.empty() ? "Nothing to compare: no host is in both files."
                                            : verdict_of(pairs, is_simulated);
  const bool has_gap = !unpaired.empty() || pairs.empty();
  if (context.json) {
    Json object = json_object(args.command());
    object["verdict"] = verdict;
    object["simulated"] = is_simulated;
    object["hosts"] = Json::array();
    for (const Pair& pair : pairs)
      object["hosts"].push_back(pair_json(pair));
    object["unpaired"] = unpaired;
    print_json(context, object);
    return has_gap ? ExitCode::kPartial : ExitCode::kOk;
  }
  context.out << verdict << '\n';
  for (const std::string& one : unpaired)
    context.out << one << '\n';
  if (context.quiet) return has_gap ? ExitCode::kPartial : ExitCode::kOk;
  for (const Pair& pair : pairs)
    print_pair(pair, context);
  return has_gap ? ExitCode::kPartial : ExitCode::kOk;
}

ExitCode run_diff(const Args& args, Context& context) {
  const auto before = read_snapshot_file(args.value("BEFORE"));
  if (!before) return fail(context, ExitCode::kBadInput, before.error().what);
  if (const auto path = args.get("AFTER")) {
    const auto after = read_snapshot_file(*path);
    if (!after) return fail(context, ExitCode::kBadInput, after.error().what);
    return print_diff(args, context, *before, *after);
  }
  ExitCode code = ExitCode::kOk;
  const auto set = open_hosts(args, context, code);
  if (!set) return code;
  return print_diff(args, context, *before, observe(*set, context).all());
}

}  // namespace

Command diff_command() {
  return {
      .name = "diff",
      .group = Group::kOperators,
      .summary = "what changed between two snapshots, or differs between two hosts",
      .description =
          "Counters with their rates, numbers that wrapped or began again, ports that came or "
          "went, "
          "facts that changed, and in words who paused whom. Files of two different hosts are "
          "compared by their facts.",
      .arguments = {{.name = "BEFORE",
                     .help = "a file of weir snapshot --out, or evidence",
                     .required = true,
                     .completes = Completes::kFiles},
                    {.name = "AFTER",
                     .help = "a second one; where it is left out, the counters now",
                     .completes = Completes::kFiles}},
      .options = with_host_options(),
      .examples = {{"weir diff before.json after.json", "what a job did to the counters"},
                   {"weir diff before.json --lab lab", "until now"},
                   {"weir diff good-node.json bad-node.json", "what is different on it"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kBadInput, ExitCode::kCouldNotLook,
                     ExitCode::kPartial},
      .rows = {"D2", "D4"},
      .run = run_diff,
  };
}

}  // namespace weir::cli
