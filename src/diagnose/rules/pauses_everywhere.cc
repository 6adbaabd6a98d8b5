// I8: PFC everywhere. Senders that ignore congestion have rules of their own; what is left is a
// lossless pool that is too small: a switch pauses while its buffer is nearly empty.
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

/// A priority group pauses at alpha x (shared - used), and no more was used than the pool's peak: a
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

/// What was read of the pool or of alpha and is smaller than designed: the verdict and its line.
std::optional<std::pair<std::string, std::string>> small_setting(const View& view,
                                                                 const std::string& name) {
  const PortView& first = *view.ports_of(name).front();
  if (first.wanted_switch == nullptr) return std::nullopt;
  const Bytes wanted = first.wanted_switch->buffers.lossless_shared;
  if (const auto pool = lossless_pool(first);
      pool && static_cast<double>(pool->raw()) <
                  view.thresholds().pool_share * static_cast<double>(wanted.raw())) {
    return std::pair(
        fmt::format("{} has a shared lossless pool of {} instead of the designed {}.", name,
                    approximate(*pool), approximate(wanted)),
        fmt::format("lossless pool: expected {}, found {}", to_text(wanted), to_text(*pool)));
  }
  const evidence::GroupBuffer* group = rdma_group(view, first);
  const auto& alpha = first.wanted_switch->buffers.alpha;
  if (group == nullptr || !group->alpha.is_known() ||
      group->alpha->value() * view.thresholds().alpha_factor > alpha.value())
    return std::nullopt;
  return std::pair(
      fmt::format("{} has alpha {} on the lossless group instead of the designed {}.", name,
                  to_text(*group->alpha), to_text(alpha)),
      fmt::format("alpha: expected {}, found {}", to_text(alpha), to_text(*group->alpha)));
}

void look_at_pool(const View& view, const std::string& name, Suspicions& out) {
  const auto setting = small_setting(view, name);
  const auto early = paused_too_early(view, name);
  if (!setting && !early) return;
  const auto bytes = [](double count) {
    return approximate(Bytes::raw(static_cast<std::int64_t>(count)));
  };
  Suspicion small{
      .id = "buffer.too_small",
      .verdict = setting ? setting->first
                         : fmt::format("{} sent pauses with at most {} in the priority group; the "
                                       "design pauses at {}.",
                                       name, bytes(static_cast<double>(early->held)),
                                       bytes(early->expected)),
      .where = {.switch_name = name},
      .confidence = setting ? finding::Confidence::kCertain : finding::Confidence::kMedium,
      .explains = {{"pfc.sustained"},
                   {"ecmp.imbalance"},
                   {"ecn.thresholds_too_high"},
                   {"headroom.too_small"},
                   {"path.loss"}}};
  if (setting) small.evidence.push_back(fact_line(name, setting->second));
  if (early) {
    small.evidence.push_back(
        fact_line(name, fmt::format("pauses sent: {}; most bytes in the group: {}",
                                    *counts_of(view, name).pauses_sent, early->held)));
  }
  out.add(std::move(small));
}

}  // namespace

void look_for_pauses_everywhere(const View& view, Suspicions& out) {
  for (const std::string& name : view.switches())
    look_at_pool(view, name, out);
}

}  // namespace weir::diagnose
