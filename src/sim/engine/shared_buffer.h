#pragma once
// The shared buffer of a switch: who may hold how much of it, and when to pause.
//
// A frame is charged twice: at ingress to its (port, priority group), at egress to its (port,
// queue). Ingress decides losslessness. A group first uses its reserve, then the shared pool up to
// a dynamic threshold T = alpha * (what is free in the pool), and, if lossless, its headroom. XOFF
// is crossed, and the pause sent, when headroom begins to be used; exhausted headroom means loss.
// (One of the sources has this backwards.) Egress bounds what a queue may take of the whole buffer
// (lossy classes); lossless queues have no egress limit.
//
// check() decides where a frame goes, update() books it there, remove() gives it back; pass() is
// all three for a frame that does not stay. Charges are whole cells, see charge_of(). A frame is
// released when its transmission starts, as in the peer model. All of it is inline: it runs for
// every hop.
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "sim/engine/packet.h"
#include "sim/fabric/class_slots.h"
#include "sim/fabric/network.h"

namespace weir::sim {

/// As configured, whether or not frames of the group are seen.
[[nodiscard]] Bytes headroom_of(const SwitchConfig& config, std::uint32_t port,
                                std::uint32_t group);

class SharedBuffer {
 public:
  static constexpr std::int8_t kNoAlpha = 127;

  /// `slots`: of the groups and queues that frames can have. `pauses_at_threshold`: a pause is due
  /// at XOFF, not only when headroom is used (the peer's rule).
  SharedBuffer(const SwitchConfig& config, std::uint32_t ports, const ClassSlots& slots = {},
               bool pauses_at_threshold = false);

  /// Bytes a frame of `size` occupies: whole cells, the first with the descriptor.
  [[nodiscard]] std::int64_t charge_of(std::uint16_t size) const {
    return static_cast<std::int64_t>((std::uint64_t{size} + round_up_) * per_cell_ >> kCellShift) *
           cell_;
  }

  struct Group;
  struct Egress;
  /// The two accounts of a frame: found once, used for every step of it.
  struct Account {
    Group* in;
    Egress* out;
  };
  /// Group and queue by their slots.
  [[nodiscard]] Account account(std::uint32_t in_port, std::uint32_t group, std::uint32_t out_port,
                                std::uint32_t queue) {
    return {&groups_[in_port * slot_count_ + group], &egress_[out_port * slot_count_ + queue]};
  }

  /// Where a frame will be charged, or why it cannot be taken.
  struct Admission {
    enum class Place : std::uint8_t { kReserve, kShared, kHeadroom, kNowhere };
    Place place = Place::kReserve;
    DropReason reason = DropReason::kCount;  // of kNowhere
    [[nodiscard]] bool is_refused() const { return place == Place::kNowhere; }
  };
  [[nodiscard, gnu::always_inline]] Admission check(const Account& at, std::int64_t charge) const {
    const Group& in = *at.in;
    if (limits_egress_ && !fits_egress(*at.out, charge)) return refused(DropReason::kEgressBuffer);
    const std::int64_t beyond = in.used + charge - in.reserved;
    if (beyond <= 0) return {Admission::Place::kReserve};
    if (fits_shared(in, charge, beyond)) return {Admission::Place::kShared};
    if (!in.lossless) return refused(DropReason::kIngressBuffer);
    if (pool_size_ >= 0) {
      if (pool_used_ + charge > pool_size_) return refused(DropReason::kHeadroomPool);
      return {Admission::Place::kHeadroom};
    }
    if (in.headroom_used + charge > in.headroom) return refused(DropReason::kHeadroom);
    return {Admission::Place::kHeadroom};
  }
  /// REQUIRES: `place` is what check() said of the same frame, and nothing was booked since.
  void update(const Account& at, std::int64_t charge, Admission::Place place) {
    Group& in = *at.in;
    if (place == Admission::Place::kHeadroom) {
      in.headroom_used += charge;
      in.headroom_peak = std::max(in.headroom_peak, in.headroom_used);
      if (pool_size_ >= 0) pool_used_ += charge;
    } else {
      in.used += charge;
      if (place == Admission::Place::kShared)
        shared_used_[in.pool] += std::min(charge, in.used - in.reserved);
    }
    in.peak = std::max(in.peak, in.used + in.headroom_used);
    at.out->used += charge;
    total_used_ += charge;
    total_peak_ = std::max(total_peak_, total_used_);
  }
  void remove(const Account& at, std::int64_t charge) {
    Group& in = *at.in;
    std::int64_t rest = charge;
    if (in.headroom_used > 0) {
      const std::int64_t from_headroom = std::min(in.headroom_used, charge);
      in.headroom_used -= from_headroom;
      if (pool_size_ >= 0) pool_used_ -= from_headroom;
      rest -= from_headroom;
    }
    shared_used_[in.pool] -= std::min(rest, shared_part(in));
    in.used -= rest;
    at.out->used -= charge;
    total_used_ -= charge;
  }
  /// For a frame that leaves the instant it comes: what check(), update() and remove() amount to,
  /// which is the peaks alone, where it is admitted without headroom and nobody is paused. False:
  /// it is not so simple, and nothing has changed.
  [[nodiscard, gnu::always_inline]] bool pass(const Account& at, std::int64_t charge) {
    Group& in = *at.in;
    if (in.headroom_used != 0 || in.paused || pause_at_threshold_) return false;
    if (limits_egress_ && !fits_egress(*at.out, charge)) return false;
    const std::int64_t held = in.used + charge;
    const std::int64_t beyond = held - in.reserved;
    if (beyond > 0 && !fits_shared(in, charge, beyond)) return false;
    // A branch each: peaks are seldom raised.
    if (held > in.peak) [[unlikely]]
      in.peak = held;
    if (total_used_ + charge > total_peak_) [[unlikely]]
      total_peak_ = total_used_ + charge;
    return true;
  }

  /// Whether a pause (resume) must be sent now for this group; the caller then sets `paused`.
  [[nodiscard]] bool should_pause(const Group& in) const {
    if (in.headroom_used == 0 && !pause_at_threshold_) return false;
    if (!in.lossless || in.paused) return false;
    return in.headroom_used > 0 || shared_part(in) >= threshold(in);
  }
  [[nodiscard]] bool should_resume(const Group& in) const {
    if (!in.paused || in.headroom_used > 0) return false;
    const std::int64_t shared = shared_part(in);
    return shared == 0 || shared + in.xon_offset <= threshold(in);
  }

  struct Egress {
    std::int64_t used = 0;
    std::int64_t reserved = 0;
    std::int8_t alpha_log2 = kNoAlpha;
  };
  struct alignas(64) Group {
    std::int64_t used = 0;  // reserve and shared
    std::int64_t headroom_used = 0;
    std::int64_t reserved = 0;
    std::int64_t static_threshold = -1;
    std::int64_t peak = 0;  // most ever held, headroom included
    std::int64_t headroom = 0;
    std::int64_t headroom_peak = 0;
    std::int32_t xon_offset = 0;
    std::int8_t alpha_log2 = kNoAlpha;
    std::uint8_t pool = 0;  // 1: the lossy groups' own
    bool lossless = false;
    bool paused = false;  // set by the caller when it has told the peer
  };
  static_assert(sizeof(Group) == 64);
  /// As it is now; of a group that no frame has: empty.
  [[nodiscard]] Group group(std::uint32_t port, std::uint32_t group) const {
    return slots_.contains(group) ? groups_[port * slot_count_ + slots_[group]] : Group{};
  }
  [[nodiscard]] std::int64_t egress_used(std::uint32_t port, std::uint32_t queue) const {
    return slots_.contains(queue) ? egress_[port * slot_count_ + slots_[queue]].used : 0;
  }
  /// Of the lossless groups' pool, or of the one pool for all.
  [[nodiscard]] std::int64_t shared_size() const { return shared_size_[0]; }
  [[nodiscard]] std::int64_t shared_used() const { return shared_used_[0] + shared_used_[1]; }
  [[nodiscard]] std::int64_t total_used() const { return total_used_; }
  [[nodiscard]] std::int64_t total_peak() const { return total_peak_; }
  /// XOFF of the group now: shared bytes it may hold before its headroom begins.
  [[nodiscard]] std::int64_t threshold(const Group& group) const {
    if (group.static_threshold >= 0) return group.static_threshold;
    const std::int64_t free = shared_size_[group.pool] - shared_used_[group.pool];
    if (group.alpha_log2 == kNoAlpha) return free + shared_part(group);
    return shifted(std::max<std::int64_t>(free, 0), group.alpha_log2);
  }

 private:
  static constexpr unsigned kCellShift = 40;  // charge_of() divides exactly below 2^40 / cell
  static std::int64_t shifted(std::int64_t bytes, std::int8_t log2) {
    return log2 >= 0 ? bytes << log2 : bytes >> -log2;
  }
  static Admission refused(DropReason reason) { return {Admission::Place::kNowhere, reason}; }
  [[nodiscard]] bool fits_egress(const Egress& out, std::int64_t charge) const {
    if (out.alpha_log2 == kNoAlpha || out.used + charge <= out.reserved) return true;
    return out.used + charge <= out.reserved + shifted(buffer_ - total_used_, out.alpha_log2);
  }
  [[nodiscard]] bool fits_shared(const Group& in, std::int64_t charge, std::int64_t beyond) const {
    return beyond <= threshold(in) &&
           shared_used_[in.pool] + std::min(charge, beyond) <= shared_size_[in.pool];
  }
  [[nodiscard]] static std::int64_t shared_part(const Group& group) {
    return group.used > group.reserved ? group.used - group.reserved : 0;
  }

  ClassSlots slots_;
  std::uint32_t slot_count_;
  std::vector<Group> groups_;   // by port and slot
  std::vector<Egress> egress_;  // the same
  std::int64_t cell_ = 1;
  std::uint64_t per_cell_ = 1;  // 2^kCellShift / cell_, rounded up
  std::uint64_t round_up_ = 0;  // the descriptor, and what makes the division round up
  std::int64_t buffer_ = 0;
  std::array<std::int64_t, 2> shared_size_{};  // by pool
  std::array<std::int64_t, 2> shared_used_{};
  std::int64_t pool_size_ = -1;  // shared headroom pool; -1: every group has its own headroom
  std::int64_t pool_used_ = 0;
  std::int64_t total_used_ = 0;
  std::int64_t total_peak_ = 0;
  bool limits_egress_ = false;       // some queue has a dynamic limit
  bool pause_at_threshold_ = false;  // the peer pauses at T, not beyond it
};

}  // namespace weir::sim
