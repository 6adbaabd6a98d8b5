// I8: PFC everywhere. Senders that ignore congestion have rules of their own; what is left is a
// pool too small: a switch pauses while its buffer is nearly empty.
#include <algorithm>

#include <fmt/format.h>

#include "diagnose/core/switch_queues.h"
#include "diagnose/rules/rule.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

std::optional<Bytes> lossless_pool(const PortView& port) {
  if (port.device == nullptr || !port.device->pools.is_known()) return std::nullopt;
  for (const evidence::Pool& pool : *port.device->pools)
    if (pool.kind == evidence::PoolKind::kLossless) return pool.size;
  return std::nullopt;
}

struct Early {
  std::uint64_t held = 0;
  double expected = 0;
};

/// A group pauses at alpha x (shared - used), and no more was ever used than the pool's peak: a
/// group that paused and never held that much paused earlier than designed.
std::optional<Early> paused_too_early(const View& view, const std::string& name) {
  const auto ports = view.ports_of(name);
  const design::SwitchIntent* wanted = ports.front()->wanted_switch;
  if (wanted == nullptr || wanted->buffers.threshold != design::Threshold::kDynamic)
    return std::nullopt;
  std::optional<std::uint64_t> used;
  for (const PortView* port : ports)
    if (!used) used = port->counts.level("switch.pool.occupancy_max.bytes");
  const auto shared = static_cast<double>(wanted->buffers.lossless_shared.raw());
  if (!used || static_cast<double>(*used) >= shared) return std::nullopt;
  const double expected = wanted->buffers.alpha.value() * (shared - static_cast<double>(*used));
  const unsigned group = wanted->priority_to_pg.at(view.rdma()).value();
  for (const PortView* port : ports) {
    if (port->counts.of("switch.prio.pause_tx.frames", view.rdma()).value_or(0) == 0) continue;
    const auto held = port->counts.level("switch.pg.occupancy_max.bytes", group);
    if (held && static_cast<double>(*held) < view.thresholds().early_pause * expected)
      return Early{*held, expected};
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
      group->alpha->value() * view.thresholds().alpha_factor <=
          first.wanted_switch->buffers.alpha.value()) {
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
      verdict = fmt::format(
          "{} sent pauses from a group with at most {} in it; as designed they come at {}.", name,
          approximate(Bytes::raw(static_cast<std::int64_t>(early->held))),
          approximate(Bytes::raw(static_cast<std::int64_t>(early->expected))));
    }
    const SwitchCounts counts = counts_of(view, name);
    lines.push_back(fact_line(name, fmt::format("pauses sent: {}; most bytes in the group: {}",
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
