// I8: PFC everywhere. Senders that ignore congestion have rules of their own; what is left is a
// pool too small: a switch pauses while its buffer is nearly empty.
#include <algorithm>

#include <fmt/format.h>

#include "diagnose/rule.h"
#include "diagnose/switch_queues.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

constexpr double kNotAFewSteps = 4.0;  // alpha moves in powers of two: two steps are no rounding

std::optional<Bytes> lossless_pool(const PortView& port) {
  if (port.device == nullptr || !port.device->pools.is_known()) return std::nullopt;
  for (const evidence::Pool& pool : *port.device->pools)
    if (pool.kind == evidence::PoolKind::kLossless) return pool.size;
  return std::nullopt;
}

/// The least that the shared buffer holds when the first XOFF is sent: one group at its threshold
/// alpha x (shared - used), that is alpha / (1 + alpha) of the shared part.
std::optional<double> first_xoff(const design::BufferIntent& buffers) {
  if (buffers.threshold != design::Threshold::kDynamic || buffers.lossless_shared.raw() <= 0)
    return std::nullopt;
  const double alpha = buffers.alpha.value();
  return alpha / (1 + alpha) * static_cast<double>(buffers.lossless_shared.raw());
}

struct Early {
  std::uint64_t held = 0;
  double expected = 0;
};

/// Paused with less in the whole buffer than one group needs to reach its threshold.
std::optional<Early> paused_too_early(const View& view, const std::string& name) {
  const auto ports = view.ports_of(name);
  const design::SwitchIntent* wanted = ports.front()->wanted_switch;
  if (wanted == nullptr) return std::nullopt;
  const auto expected = first_xoff(wanted->buffers);
  const SwitchCounts counts = counts_of(view, name);
  if (!expected || counts.pauses_sent.value_or(0) == 0) return std::nullopt;
  for (const PortView* port : ports) {
    const auto held = port->counts.level("switch.pool.occupancy_max.bytes");
    if (!held) continue;
    if (static_cast<double>(*held) < view.thresholds().pool_share * *expected)
      return Early{*held, *expected};
    return std::nullopt;
  }
  return std::nullopt;
}

void look_at(const View& view, const std::string& name, Suspicions& out) {
  const auto ports = view.ports_of(name);
  const PortView& first = *ports.front();
  std::vector<finding::EvidenceLine> lines;
  std::string verdict;
  const auto pool = lossless_pool(first);
  if (pool && first.wanted_switch != nullptr) {
    const Bytes wanted = first.wanted_switch->buffers.lossless_shared;
    if (static_cast<double>(pool->raw()) <
        view.thresholds().pool_share * static_cast<double>(wanted.raw())) {
      verdict = fmt::format("{} has a shared lossless pool of {}; the design's is {}.", name,
                            approximate(*pool), approximate(wanted));
      lines.push_back(fact_line(name, fmt::format("lossless pool: expected {}, found {}",
                                                  to_text(wanted), to_text(*pool))));
    }
  }
  const evidence::GroupBuffer* group = rdma_group(view, first);
  if (lines.empty() && group != nullptr && group->alpha.is_known() &&
      first.wanted_switch != nullptr &&
      group->alpha->value() * kNotAFewSteps <= first.wanted_switch->buffers.alpha.value()) {
    verdict =
        fmt::format("{} lets a group take alpha {} of the free buffer; the design's is {}.", name,
                    to_text(*group->alpha), to_text(first.wanted_switch->buffers.alpha));
    lines.push_back(fact_line(
        name, fmt::format("alpha: expected {}, found {}",
                          to_text(first.wanted_switch->buffers.alpha), to_text(*group->alpha))));
  }
  const bool is_read = !lines.empty();
  if (const auto early = paused_too_early(view, name)) {
    if (verdict.empty()) {
      verdict =
          fmt::format("{} sent pauses with {} in its buffer; as designed the first comes at {}.",
                      name, approximate(Bytes::raw(static_cast<std::int64_t>(early->held))),
                      approximate(Bytes::raw(static_cast<std::int64_t>(early->expected))));
    }
    const SwitchCounts counts = counts_of(view, name);
    lines.push_back(fact_line(name, fmt::format("pauses sent: {}; most bytes held: {}",
                                                *counts.pauses_sent, early->held)));
  }
  if (lines.empty()) return;
  finding::Where where;
  where.switch_name = name;
  finding::Finding finding = finding::make_finding("buffer.too_small", std::move(verdict), where);
  finding.evidence = std::move(lines);
  finding.confidence = is_read ? finding::Confidence::kCertain : finding::Confidence::kMedium;
  out.add(std::move(finding), {{"pfc.sustained"},
                               {"ecmp.imbalance"},
                               {"ecn.thresholds_too_high"},
                               {"headroom.too_small"},
                               {"path.loss"}});
}

}  // namespace

void look_for_pauses_everywhere(const View& view, Suspicions& out) {
  for (const std::string& name : view.switches())
    look_at(view, name, out);
}

}  // namespace weir::diagnose
