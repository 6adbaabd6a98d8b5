#include "tune/steps.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "design/lint/lint.h"
#include "design/prove/prove.h"
#include "model/buffers.h"
#include "units/format.h"

namespace weir::tune {
namespace {

/// Above the calculated size by this much, in percent: cells, headers and a frame in flight.
constexpr std::int64_t kBurstMargin = 150;
constexpr std::size_t kMostBurstSenders = 64;
/// A burst larger than this per sender is not run: the buffer cannot be filled by this fan-in.
constexpr Bytes kLargestBurst = 1'000_MB;
/// Of the bytes that NICs receive in the burst, CNPs aside.
constexpr double kLeastShare = 0.9;
constexpr Duration kLongestBurst = 10'000_ms;  // simulated

StepOutcome judge_design(const design::Variant& fabric) {
  StepOutcome out{"classify", StepState::kPassed, {}, {}};
  const finding::Judgement judgement = design::lint(fabric.design, fabric.intent);
  for (const finding::Finding& found : judgement.findings)
    if (found.severity == finding::Severity::kError)
      out.details.push_back(fmt::format("{} ({})", found.verdict, found.id));
  const design::Proof proof = design::prove(fabric.design, fabric.intent);
  for (const design::Chain& chain : proof.chains)
    if (chain.proven != design::Proven::kHolds && out.details.empty())
      out.details.push_back(fmt::format("{} ({})", chain.reason, chain.id));
  if (out.details.empty()) {
    out.text =
        fmt::format("RDMA is in its own lossless class on all {} paths, by proof", proof.paths);
    return out;
  }
  out.state = StepState::kFailed;
  out.text = fmt::format("the design is not sound: {}", out.details.front());
  return out;
}

StepOutcome judge_burst(const Burst& burst, const Metrics& hard, const Metrics& usual) {
  StepOutcome out{"pfc", StepState::kPassed, {}, {}};
  const std::string what = fmt::format("{} x {} into {} with the reaction point off", burst.senders,
                                       to_text(burst.size), burst.receiver);
  out.details.push_back(
      fmt::format("XOFF of {} of {} is {} each; up to {} per sender no pause is possible",
                  counted(burst.ingresses, "ingress port"), burst.leaf, approximate(burst.xoff),
                  approximate(burst.silent)));
  out.details.push_back(fmt::format("with DCQCN the same burst makes {} and {}",
                                    counted(usual.pauses, "pause"),
                                    counted(usual.lossless_drops, "drop")));
  if (hard.lossless_drops > 0 || usual.lossless_drops > 0) {
    out.state = StepState::kFailed;
    out.text = fmt::format("{}: {} of lossless packets", what,
                           counted(std::max(hard.lossless_drops, usual.lossless_drops), "drop"));
  } else if (hard.pauses == 0 && !burst.can_wait) {
    out.text = fmt::format("{}: no pause, and none is possible: no more comes to {} than leaves it",
                           what, burst.leaf);
  } else if (hard.pauses == 0) {
    out.state = StepState::kFailed;
    out.text = fmt::format("{}: no pause, although so much does not fit below XOFF", what);
  } else {
    out.text = fmt::format("{}: {}, no drop", what, counted(hard.pauses, "pause"));
  }
  return out;
}

}  // namespace

std::string Burst::load() const {
  return fmt::format("incast,to={},senders={},size={}", receiver, senders, to_text(size));
}

Burst burst_of(const design::Intent& intent) {
  WEIR_CHECK(intent.hosts.size() >= 2);
  Burst out;
  const design::HostIntent& receiver = intent.hosts.front();
  const design::LinkIntent& link = intent.links[receiver.nics.front().link];
  const design::SwitchIntent& leaf = intent.switches[link.upper.node];
  out.receiver = receiver.name;
  out.leaf = leaf.name;
  out.senders = std::min(intent.hosts.size() - 1, kMostBurstSenders);
  // Senders are the hosts that follow: those of the same switch come in by ports of their own, the
  // others over the uplinks.
  std::int64_t local = 0;
  std::int64_t remote = 0;
  BitRate offered;
  for (std::size_t h = 1; h <= out.senders; ++h) {
    const design::LinkIntent& from = intent.links[intent.hosts[h].nics.front().link];
    ++(from.upper.node == link.upper.node ? local : remote);
    offered = offered + from.speed;
  }
  out.can_wait = offered > link.speed;
  std::int64_t uplinks = 0;
  for (const design::SwitchPortIntent& port : leaf.ports)
    uplinks += port.is_access ? 0 : 1;
  remote = std::min(remote, uplinks);
  const std::int64_t ingresses = std::max<std::int64_t>(local + remote, 1);
  out.ingresses = static_cast<std::size_t>(ingresses);
  out.xoff = leaf.buffers.threshold == design::Threshold::kStatic
                 ? leaf.buffers.static_xoff
                 : model::dynamic_threshold(std::max(leaf.buffers.lossless_shared, 1_B),
                                            leaf.buffers.alpha, ingresses);
  // All bytes of a burst but those that left in the time of one sender wait in this switch at most;
  // how the remote ones come in depends on hashing, so that only the local senders count for what
  // must wait here (without any, half of the uplinks).
  const std::int64_t all = std::max<std::int64_t>(static_cast<std::int64_t>(out.senders) - 1, 1);
  const std::int64_t sure = local > 0 ? local : std::max<std::int64_t>(remote / 2, 1);
  const Bytes filled = out.xoff * ingresses;
  // The earliest pause: one ingress alone holds all that waits.
  const Bytes alone = leaf.buffers.threshold == design::Threshold::kStatic
                          ? leaf.buffers.static_xoff
                          : model::dynamic_threshold(std::max(leaf.buffers.lossless_shared, 1_B),
                                                     leaf.buffers.alpha, 1);
  out.silent = Bytes::raw(alone.raw() / all);
  constexpr std::int64_t kRound = 100'000;
  out.size = Bytes::raw((filled.raw() * kBurstMargin / 100 / sure / kRound + 1) * kRound);
  return out;
}

Result<Groundwork> check_groundwork(const design::Variant& fabric, std::uint64_t seed,
                                    Evaluator& evaluator) {
  Groundwork out;
  out.classify = judge_design(fabric);
  out.pfc.name = "pfc";
  if (out.classify.state != StepState::kPassed) return out;
  const Burst burst = burst_of(fabric.intent);
  if (burst.size > kLargestBurst) {
    out.pfc.state = StepState::kPassed;
    out.pfc.text = fmt::format("not run: it would take {} per sender to make {} pause",
                               to_text(burst.size), burst.leaf);
    return out;
  }
  const std::vector<std::string> load = {burst.load()};
  WEIR_TRY(runs, evaluator.run({{{"dcqcn.reaction_point=off"}, load, {}, seed, kLongestBurst},
                                {{}, load, {}, seed, kLongestBurst}}));
  const double share = runs[0].rdma_share.value_or(0);
  out.classify.details.push_back(fmt::format(
      "{:.1f} % of the bytes that NICs receive in a burst are in the RDMA class", 100 * share));
  if (share < kLeastShare) {
    out.classify.state = StepState::kFailed;
    out.classify.text =
        fmt::format("only {:.0f} % of the bytes of RDMA traffic are in its class", 100 * share);
    return out;
  }
  out.pfc = judge_burst(burst, runs[0], runs[1]);
  return out;
}

}  // namespace weir::tune
