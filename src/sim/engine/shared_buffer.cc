#include "sim/engine/shared_buffer.h"

#include <algorithm>

#include "base/check.h"

namespace weir::sim {
namespace {

SharedBuffer::Group make_group(const SwitchConfig& config, std::uint32_t port, std::uint32_t g) {
  const IngressGroup& from = config.groups[g];
  SharedBuffer::Group to;
  to.lossless = from.lossless;
  to.pool = config.lossy_pool && !from.lossless ? 1 : 0;
  to.reserved = from.reserved.raw();
  // No buffer is as large as the limit, and beyond the buffer an offset means the same.
  to.xon_offset =
      static_cast<std::int32_t>(std::min<std::int64_t>(from.xon_offset.raw(), INT32_MAX));
  if (from.alpha) to.alpha_log2 = static_cast<std::int8_t>(from.alpha->log2());
  if (from.alpha && port < config.port_alpha.size())
    to.alpha_log2 = static_cast<std::int8_t>(config.port_alpha[port].log2());
  if (from.static_threshold) to.static_threshold = from.static_threshold->raw();
  to.headroom = headroom_of(config, port, g).raw();
  return to;
}

}  // namespace

Bytes headroom_of(const SwitchConfig& config, std::uint32_t port, std::uint32_t group) {
  if (!config.groups[group].lossless) return {};
  return port < config.port_headroom.size() ? config.port_headroom[port]
                                            : config.groups[group].headroom;
}

SharedBuffer::SharedBuffer(const SwitchConfig& config, std::uint32_t ports, const ClassSlots& slots,
                           bool pauses_at_threshold)
    : slots_(slots),
      slot_count_(slots.count()),
      groups_(std::size_t{ports} * slot_count_),
      egress_(std::size_t{ports} * slot_count_),
      pause_at_threshold_(pauses_at_threshold) {
  buffer_ = config.buffer.raw();
  if (config.headroom_pool) pool_size_ = config.headroom_pool->raw();
  if (config.lossy_pool) shared_size_[1] = config.lossy_pool->raw();
  shared_size_[0] = buffer_ - std::max<std::int64_t>(pool_size_, 0) - shared_size_[1];
  for (std::uint32_t port = 0; port < ports; ++port) {
    for (std::uint32_t g = 0; g < 8; ++g) {
      const Group made = make_group(config, port, g);
      if (made.lossless && pool_size_ < 0) shared_size_[0] -= made.headroom;
      shared_size_[0] -= made.reserved;
      if (slots_.contains(g)) groups_[port * slot_count_ + slots_[g]] = made;
    }
    for (std::uint32_t q = 0; q < 8; ++q) {
      const EgressQueue& from = config.queues[q];
      limits_egress_ = limits_egress_ || from.alpha.has_value();
      if (!slots_.contains(q)) continue;
      Egress& to = egress_[port * slot_count_ + slots_[q]];
      to.reserved = from.reserved.raw();
      if (from.alpha) to.alpha_log2 = static_cast<std::int8_t>(from.alpha->log2());
    }
  }
  WEIR_CHECK(shared_size_[0] >= 0);  // check_network has refused such a configuration
  cell_ = config.cell.raw();
  const auto cell = static_cast<std::uint64_t>(cell_);
  per_cell_ = ((std::uint64_t{1} << kCellShift) + cell - 1) / cell;
  round_up_ = static_cast<std::uint64_t>(config.descriptor.raw()) + cell - 1;
}

}  // namespace weir::sim
