// weir prove: each class of RDMA traffic hop by hop on every path, and whether pauses can close a
// circle.
#include "design/prove/prove.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/judging.h"
#include "cli/frame/switch_input.h"
#include "cli/frame/transition.h"
#include "design/prove/failures.h"
#include "diagnose/core/hop.h"

namespace weir::cli {
namespace {

constexpr std::size_t kProofWidth = 88;  // as findings are wrapped

using design::Chain;
using design::FailureWalk;
using design::Proof;
using design::Proven;

std::string with_paths(std::uint64_t paths) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62U;
  return paths > kMost ? "more than 4e18 paths"
                       : fmt::format("{} path{}", with_thousands(static_cast<std::int64_t>(paths)),
                                     paths == 1 ? "" : "s");
}

std::string headline(const DesignInput& input, const Proof& proof,
                     const finding::Judgement& judgement) {
  const std::string& file = input.design.file;
  if (proof.chains.empty())
    return fmt::format("{} has no class 'rdma': there is nothing to prove.", file);
  for (const Chain& chain : proof.chains) {
    if (chain.proven != Proven::kBroken) continue;
    return fmt::format("{} is not lossless: {} break{} at {}.", file, title_of(chain.kind),
                       chain.kind == design::TrafficKind::kData ? "s" : "",
                       finding::to_text(chain.where));
  }
  for (const Chain& chain : proof.chains)
    if (chain.proven == Proven::kUnknown)
      return fmt::format("{} is not proven lossless: {} was not read.", file, chain.reason);
  if (!judgement.findings.empty())
    return fmt::format("{} is lossless on {}, and can deadlock.", file, with_paths(proof.paths));
  return fmt::format("{} is lossless on {} in {}.", file, with_paths(proof.paths),
                     size_of(input.intent));
}

Json chain_json(const Chain& chain) {
  Json steps = Json::array();
  for (const design::ChainStep& step : chain.steps)
    steps.push_back({{"place", step.place}, {"what", step.what}});
  Json json = {{"class", to_text(chain.kind)},
               {"proven", to_text(chain.proven)},
               {"from", chain.from},
               {"to", chain.to},
               {"steps", std::move(steps)}};
  if (chain.proven == Proven::kHolds) return json;
  json["id"] = chain.id;
  json["reason"] = chain.reason;
  json["places"] = chain.places;
  return json;
}

Json broken_json(const design::Broken& broken, const design::Intent& intent,
                 const design::SwitchGraph& graph) {
  Json list = Json::array();
  for (const std::uint32_t edge : broken.edges)
    list.push_back({{"link", Json::array({intent.switches[graph.edges[edge].a].name,
                                          intent.switches[graph.edges[edge].b].name})}});
  for (const std::uint32_t node : broken.switches)
    list.push_back({{"switch", intent.switches[node].name}});
  return list;
}

Json routing_json(const FailureWalk& walk, const design::Intent& intent) {
  const design::SwitchGraph graph = switch_graph(intent);
  Json json = {{"acyclic", walk.deadlocks.empty()}, {"by_structure", walk.by_structure},
               {"failures", walk.failures},         {"scenarios", walk.scenarios},
               {"by_symmetry", walk.by_symmetry},   {"cycle", Json::array()},
               {"broken", Json::array()},           {"parting", walk.cutting},
               {"cut_off", Json::array()}};
  if (!walk.deadlocks.empty()) {
    const design::Deadlock& first = walk.deadlocks.front();
    json["broken"] = broken_json(first.broken, intent, graph);
    for (const design::Buffer& one : first.cycle)
      json["cycle"].push_back({{"from", intent.switches[one.from].name},
                               {"to", intent.switches[one.to].name},
                               {"priority", one.priority}});
  } else if (walk.cutting > 0) {
    json["broken"] = broken_json(walk.first_cut, intent, graph);
  }
  for (const design::CutOff& pair : walk.first_cut_off)
    json["cut_off"].push_back(
        {{"from", intent.switches[pair.from].name}, {"to", intent.switches[pair.to].name}});
  return json;
}

void print_chain(const Chain& chain, Context& context) {
  const std::string ends = chain.to.empty() ? fmt::format("from {}", chain.from)
                                            : fmt::format("{} to {}", chain.from, chain.to);
  context.out << fmt::format("\n{}: {} ({})\n", title_of(chain.kind), to_text(chain.proven), ends);
  TextTable steps({"", ""});
  for (const design::ChainStep& step : chain.steps)
    steps.add_row({step.place, step.what});
  context.out << steps.to_text(2, kProofWidth);
  if (!chain.reason.empty())
    context.out << fmt::format(
        "  {}: {}\n", chain.proven == Proven::kBroken ? "breaks here" : "not known", chain.reason);
}

std::string routing_text(const FailureWalk& walk, const design::Intent& intent) {
  const std::string scenarios =
      fmt::format("{} scenario{} with up to {} failure{}{}",
                  with_thousands(static_cast<std::int64_t>(walk.scenarios)),
                  walk.scenarios == 1 ? "" : "s", walk.failures, walk.failures == 1 ? "" : "s",
                  walk.by_symmetry ? ", one of each kind of alike ones" : "");
  std::string text;
  if (!walk.deadlocks.empty()) {
    text = fmt::format("a circle of buffers is possible ({} looked at)", scenarios);
  } else if (walk.by_structure) {
    text = "up, then down: no buffers wait for each other in a circle, whatever breaks";
  } else {
    text = fmt::format("no circle of buffers in {}", scenarios);
  }
  if (walk.cutting > 0) {
    const design::CutOff& pair = walk.first_cut_off.front();
    text +=
        fmt::format("\n  {} of {} part hosts: with {} down, {} and {} have no path", walk.cutting,
                    scenarios, to_text(walk.first_cut, intent, switch_graph(intent)),
                    intent.switches[pair.from].name, intent.switches[pair.to].name);
  } else if (walk.failures > 0 && intent.routing == design::Routing::kUpDown) {
    text += fmt::format("\n  all hosts still reach each other in {}", scenarios);
  }
  return text;
}

ExitCode run_prove(const Args& args, Context& context) {
  ExitCode code = ExitCode::kOk;
  const auto input = load_design(args, context, code);
  if (!input) return code;
  const auto files = switch_files(args.all("switch"), "--switch");
  if (!files) return fail(context, args.command(), files.error());
  const auto configs = ops::read_switch_configs(*files, input->intent);
  if (!configs) return fail(context, args.command(), configs.error());
  print_unread(*configs, context);
  std::vector<design::Hop> hops;
  for (const ops::SwitchConfig& config : *configs)
    hops.push_back(diagnose::hop_of(config.parsed.state,
                                    *ops::find_switch(input->intent, config.name), config.file));
  const Proof proof = design::prove(input->design, input->intent, hops);
  const FailureWalk walk =
      design::walk_failures(input->intent, args.value("failures").front() - '0');
  finding::Judgement judgement = design::judge(proof, input->design);
  if (auto found = deadlock_finding(walk, input->intent)) {
    judgement.findings.push_back(*std::move(found));
    finding::settle(judgement);
  }
  Json chains = Json::array();
  for (const Chain& chain : proof.chains)
    chains.push_back(chain_json(chain));
  const Json extra = {
      {"design", input->design.file}, {"lossless", proof.holds()},
      {"paths", proof.paths},         {"hops_checked", proof.hops_checked},
      {"chains", std::move(chains)},  {"routing", routing_json(walk, input->intent)}};
  const ExitCode result =
      print_judgement(args, context, judgement, headline(*input, proof, judgement), extra);
  if (context.json || context.quiet) return result;
  for (const Chain& chain : proof.chains)
    print_chain(chain, context);
  context.out << fmt::format("\nrouting: {}\n", routing_text(walk, input->intent));
  return result;
}

}  // namespace

Command prove_command() {
  return {
      .name = "prove",
      .group = Group::kOperators,
      .summary = "that RDMA is lossless on every path, or the hop that breaks it",
      .description =
          "Follows RDMA data, its ACKs and CNPs from the job's traffic class through every NIC and "
          "switch of every path: trust, map, priority group, PFC, queue, ECN, scheduler, rewrite. "
          "Prints the longest chain of each class, or the first hop that breaks it. Also proves "
          "that pauses cannot close a circle, with --failures for links and switches that break.",
      .arguments = {design_argument()},
      .options = {switch_option(),
                  {.name = "failures",
                   .metavar = "N",
                   .help = "links and switches that may be down at once",
                   .default_value = "0",
                   .choices = {"0", "1", "2"}}},
      .examples = {{"weir prove", "the design as it is written"},
                   {"weir prove --switch leaf1=leaf1.cfg", "with a switch as it is configured"},
                   {"weir prove --failures 2", "every pair of failures"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kFindings, ExitCode::kBadInput, ExitCode::kPartial},
      .rows = {"A2", "I5"},
      .judges = true,
      .run = run_prove,
  };
}

}  // namespace weir::cli
