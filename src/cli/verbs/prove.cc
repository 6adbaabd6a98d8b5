// weir prove: each class of RDMA traffic hop by hop on every path, and whether pauses can close a
// cycle.
#include <fmt/format.h>

#include "base/table.h"
#include "base/text.h"
#include "cli/frame/commands.h"
#include "cli/frame/design_input.h"
#include "cli/frame/judging.h"
#include "cli/frame/switch_input.h"
#include "cli/json/design_json.h"
#include "ops/fabric/design.h"

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

/// What failures do to a fabric that is lossless; empty where none was to be examined.
std::string failures_text(const FailureWalk& walk, const design::Intent& intent) {
  std::vector<std::string> bad;
  if (walk.cutting > 0) bad.push_back(parted_text(walk, intent));
  if (!walk.isolated.empty()) bad.push_back(isolated_text(walk, intent));
  if (!bad.empty()) return "; " + join(bad, "; ");
  if (walk.failures == 0 || intent.routing != design::Routing::kUpDown) return "";
  return fmt::format(", and all hosts reach each other after any {}",
                     walk.failures == 1 ? "failure" : "two failures");
}

std::string prove_verdict(const ops::Proved& proved) {
  const Proof& proof = proved.proof;
  const std::string& file = proved.fabric.design.file;
  if (proof.chains.empty()) return fmt::format("{} has no class 'rdma': nothing to prove.", file);
  // CNPs are lossy by design: what is wrong with them makes RDMA no less lossless.
  const Chain* cnps = nullptr;
  for (const Chain& chain : proof.chains) {
    if (chain.proven != Proven::kBroken) continue;
    if (chain.kind == design::TrafficKind::kCnp) {
      cnps = &chain;
      continue;
    }
    return fmt::format("{} is not lossless: {} break{} at {}.", file, title_of(chain.kind),
                       chain.kind == design::TrafficKind::kData ? "s" : "",
                       finding::to_text(chain.where));
  }
  for (const Chain& chain : proof.chains)
    if (chain.proven == Proven::kUnknown)
      return fmt::format("{} is not proven lossless: {} was not read.", file, chain.reason);
  if (cnps != nullptr)
    return fmt::format("{} is lossless for RDMA data and ACKs, but not right for CNPs: {}.", file,
                       cnps->reason);
  if (!proved.walk.deadlocks.empty())
    return fmt::format("{} is lossless on {}, and can deadlock.", file, with_paths(proof.paths));
  return fmt::format("{} is lossless on {} in {}{}.", file, with_paths(proof.paths),
                     size_of(proved.fabric.intent),
                     failures_text(proved.walk, proved.fabric.intent));
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

/// Why there are fewer scenarios than links.
std::string parallel_text(const design::Intent& intent, int failures) {
  const design::SwitchGraph graph = switch_graph(intent);
  std::size_t cables = 0;
  for (const auto& edge : graph.edges)
    if (edge.cables > static_cast<std::uint32_t>(failures)) cables += edge.cables;
  if (cables == 0) return "";
  return fmt::format(
      "\n  {} between switches are no scenarios of their own: with {} down, parallel "
      "ones remain",
      counted(cables, "link"), failures == 1 ? "one" : "two");
}

std::string routing_text(const FailureWalk& walk, const design::Intent& intent) {
  const std::string scenarios =
      fmt::format("{} scenario{} with up to {} failure{}{}",
                  with_thousands(static_cast<std::int64_t>(walk.scenarios)),
                  walk.scenarios == 1 ? "" : "s", walk.failures, walk.failures == 1 ? "" : "s",
                  walk.by_symmetry ? ", one of each group of equivalent ones" : "");
  std::string text;
  if (!walk.deadlocks.empty()) {
    text = fmt::format("a cycle of buffers that wait for each other is possible ({} examined)",
                       scenarios);
  } else if (walk.by_structure) {
    text = "up, then down: no cycle of buffers is possible, whatever fails";
  } else {
    text = fmt::format("no cycle of buffers in {}", scenarios);
  }
  if (walk.cutting > 0) {
    text += fmt::format("\n  {} of {} part hosts: {}", walk.cutting, scenarios,
                        parted_text(walk, intent));
  } else if (walk.failures > 0 && intent.routing == design::Routing::kUpDown) {
    text += fmt::format("\n  {} still reach each other in {}",
                        walk.isolated.empty() ? "all hosts" : "hosts whose leaf is up", scenarios);
    text += parallel_text(intent, walk.failures);
  }
  if (!walk.isolated.empty()) {
    text += fmt::format("\n  {}: {} no NIC elsewhere", isolated_text(walk, intent),
                        walk.isolated.size() == 1 ? "it has" : "they have");
    if (walk.isolating > 1) text += fmt::format(" ({} more like it)", walk.isolating - 1);
  }
  return text;
}

ops::Result<ops::ProveRequest> prove_request(const Args& args, const Context& context) {
  ops::ProveRequest request;
  WEIR_TRY(path, design_path(args, context));
  request.design = std::move(path);
  WEIR_TRY(files, switch_files(args.all("switch"), "--switch", SwitchNames::kOptional));
  request.switches = std::move(files);
  request.failures = args.value("failures").front() - '0';
  return request;
}

ExitCode run_prove(const Args& args, Context& context) {
  const auto request = prove_request(args, context);
  if (!request) return fail(context, args.command(), request.error());
  const auto proved = ops::prove(*request);
  if (!proved) return fail(context, args.command(), proved.error());
  print_unread(proved->configs, context);
  const ExitCode code = exit_for(args, proved->judgement);
  if (context.json) {
    print_proved_json(context, args.command(), *proved, prove_verdict(*proved));
    return code;
  }
  print_findings(context, proved->judgement, prove_verdict(*proved));
  if (context.quiet) return code;
  for (const Chain& chain : proved->proof.chains)
    print_chain(chain, context);
  context.out << fmt::format("\nrouting: {}\n", routing_text(proved->walk, proved->fabric.intent));
  return code;
}

}  // namespace

Command prove_command() {
  return {
      .name = "prove",
      .group = Group::kOperators,
      .summary = "prove that RDMA is lossless on every path, or name the hop",
      .description =
          "Follows RDMA data, its ACKs and CNPs from the job's traffic class through every NIC and "
          "switch of every path: trust, map, priority group, PFC, queue, ECN, scheduler, rewrite. "
          "Prints the longest path of each class, or the first hop that breaks it. Also proves "
          "that PFC cannot deadlock, with --failures for links and switches that are down.",
      .arguments = {design_argument()},
      .options = {switch_option(),
                  {.name = "failures",
                   .metavar = "N",
                   .help = "links and switches that may be down at the same time",
                   .default_value = "0",
                   .choices = {"0", "1", "2"}}},
      .examples = {{"weir prove", "the design as written"},
                   {"weir prove --switch leaf1=leaf1.cfg", "with a switch as configured"},
                   {"weir prove --failures 2", "every pair of failures"}},
      .exit_codes = {ExitCode::kOk, ExitCode::kFindings, ExitCode::kBadInput, ExitCode::kPartial},
      .judges = true,
      .looks = Looks::kAtFiles,
      .run = run_prove,
  };
}

}  // namespace weir::cli
