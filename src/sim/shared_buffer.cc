#include "sim/shared_buffer.h"

#include <algorithm>

#include "base/check.h"

namespace weir::sim {
namespace {
constexpr std::int64_t kLargestFrame =
    16384;  // above every jumbo frame; check_network refuses more

std::int64_t shifted(std::int64_t bytes, std::int8_t log2) {
  return log2 >= 0 ? bytes << log2 : bytes >> -log2;
}
}  // namespace

SharedBuffer::SharedBuffer(const SwitchConfig& config, std::uint32_t ports, Model model)
    : groups_(ports * 8), egress_(ports * 8), charges_(kLargestFrame + 1) {
  buffer_ = config.buffer.raw();
  pause_at_threshold_ = model == Model::kHpcc;
  if (config.headroom_pool) pool_size_ = config.headroom_pool->raw();
  if (config.lossy_pool) shared_size_[1] = config.lossy_pool->raw();
  shared_size_[0] = buffer_ - std::max<std::int64_t>(pool_size_, 0) - shared_size_[1];
  for (std::uint32_t port = 0; port < ports; ++port) {
    for (std::uint32_t g = 0; g < 8; ++g) {
      const IngressGroup& from = config.groups[g];
      Group& to = at(port, g);
      to.lossless = from.lossless;
      to.pool = config.lossy_pool && !from.lossless ? 1 : 0;
      to.reserved = from.reserved.raw();
      to.xon_offset = from.xon_offset.raw();
      if (from.alpha) to.alpha_log2 = static_cast<std::int8_t>(from.alpha->log2());
      if (from.alpha && port < config.port_alpha.size())
        to.alpha_log2 = static_cast<std::int8_t>(config.port_alpha[port].log2());
      if (from.static_threshold) to.static_threshold = from.static_threshold->raw();
      if (from.lossless) {
        to.headroom = port < config.port_headroom.size() ? config.port_headroom[port].raw()
                                                         : from.headroom.raw();
        if (pool_size_ < 0) shared_size_[0] -= to.headroom;
      }
      shared_size_[0] -= to.reserved;
    }
    for (std::uint32_t q = 0; q < 8; ++q) {
      const EgressQueue& from = config.queues[q];
      egress_[port * 8 + q].reserved = from.reserved.raw();
      if (from.alpha)
        egress_[port * 8 + q].alpha_log2 = static_cast<std::int8_t>(from.alpha->log2());
    }
  }
  WEIR_CHECK(shared_size_[0] >= 0);  // check_network has refused such a configuration
  const std::int64_t cell = config.cell.raw();
  for (std::int64_t size = 0; size <= kLargestFrame; ++size)
    charges_[static_cast<std::size_t>(size)] =
        static_cast<std::uint32_t>((size + config.descriptor.raw() + cell - 1) / cell * cell);
}

std::int64_t SharedBuffer::threshold(const Group& group) const {
  if (group.static_threshold >= 0) return group.static_threshold;
  const std::int64_t free = shared_size_[group.pool] - shared_used_[group.pool];
  if (group.alpha_log2 == kNoAlpha) return free + shared_part(group);
  return shifted(std::max<std::int64_t>(free, 0), group.alpha_log2);
}

std::optional<DropReason> SharedBuffer::check(std::uint32_t in_port, std::uint32_t group,
                                              std::uint32_t out_port, std::uint32_t queue,
                                              std::int64_t charge) const {
  const Egress& out = egress_[out_port * 8 + queue];
  if (out.alpha_log2 != kNoAlpha && out.used + charge > out.reserved) {
    const std::int64_t limit = out.reserved + shifted(buffer_ - total_used_, out.alpha_log2);
    if (out.used + charge > limit) return DropReason::kEgressBuffer;
  }
  const Group& in = groups_[in_port * 8 + group];
  const std::int64_t beyond = in.used + charge - in.reserved;
  if (beyond <= 0) return std::nullopt;
  if (beyond <= threshold(in) &&
      shared_used_[in.pool] + std::min(charge, beyond) <= shared_size_[in.pool])
    return std::nullopt;
  if (!in.lossless) return DropReason::kIngressBuffer;
  if (pool_size_ >= 0) {
    if (pool_used_ + charge > pool_size_) return DropReason::kHeadroomPool;
    return std::nullopt;
  }
  if (in.headroom_used + charge > in.headroom) return DropReason::kHeadroom;
  return std::nullopt;
}

void SharedBuffer::update(std::uint32_t in_port, std::uint32_t group, std::uint32_t out_port,
                          std::uint32_t queue, std::int64_t charge) {
  Group& in = at(in_port, group);
  const std::int64_t beyond = in.used + charge - in.reserved;
  const std::int64_t shared = std::min(charge, beyond);
  if (beyond <= 0) {
    in.used += charge;
  } else if (beyond <= threshold(in) && shared_used_[in.pool] + shared <= shared_size_[in.pool]) {
    in.used += charge;
    shared_used_[in.pool] += shared;
  } else {
    in.headroom_used += charge;
    in.headroom_peak = std::max(in.headroom_peak, in.headroom_used);
    if (pool_size_ >= 0) pool_used_ += charge;
  }
  in.peak = std::max(in.peak, in.used + in.headroom_used);
  egress_[out_port * 8 + queue].used += charge;
  total_used_ += charge;
  total_peak_ = std::max(total_peak_, total_used_);
}

void SharedBuffer::remove(std::uint32_t in_port, std::uint32_t group, std::uint32_t out_port,
                          std::uint32_t queue, std::int64_t charge) {
  Group& in = at(in_port, group);
  const std::int64_t from_headroom = std::min(in.headroom_used, charge);
  in.headroom_used -= from_headroom;
  if (pool_size_ >= 0) pool_used_ -= from_headroom;
  const std::int64_t rest = charge - from_headroom;
  shared_used_[in.pool] -= std::min(rest, shared_part(in));
  in.used -= rest;
  egress_[out_port * 8 + queue].used -= charge;
  total_used_ -= charge;
}

bool SharedBuffer::should_pause(std::uint32_t in_port, std::uint32_t group) const {
  const Group& in = groups_[in_port * 8 + group];
  if (!in.lossless || in.paused) return false;
  if (in.headroom_used > 0) return true;
  return pause_at_threshold_ && shared_part(in) >= threshold(in);
}

bool SharedBuffer::should_resume(std::uint32_t in_port, std::uint32_t group) const {
  const Group& in = groups_[in_port * 8 + group];
  if (!in.paused || in.headroom_used > 0) return false;
  const std::int64_t shared = shared_part(in);
  return shared == 0 || shared + in.xon_offset <= threshold(in);
}

}  // namespace weir::sim
