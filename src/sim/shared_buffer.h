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
// check() decides, update() books, remove() gives back; check must precede update. Charges are
// whole cells, see charge_of(). A frame is given back when its transmission starts, as in the peer
// model.
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/network.h"
#include "sim/packet.h"

namespace weir::sim {

class SharedBuffer {
 public:
  SharedBuffer(const SwitchConfig& config, std::uint32_t ports, Model model);

  /// Bytes a frame of `size` occupies: whole cells, the first with the descriptor.
  [[nodiscard]] std::int64_t charge_of(std::uint16_t size) const { return charges_[size]; }

  /// Why the frame cannot be taken, or nullopt when it can.
  [[nodiscard]] std::optional<DropReason> check(std::uint32_t in_port, std::uint32_t group,
                                                std::uint32_t out_port, std::uint32_t queue,
                                                std::int64_t charge) const;
  void update(std::uint32_t in_port, std::uint32_t group, std::uint32_t out_port,
              std::uint32_t queue, std::int64_t charge);
  void remove(std::uint32_t in_port, std::uint32_t group, std::uint32_t out_port,
              std::uint32_t queue, std::int64_t charge);

  /// Whether a pause (resume) must be sent now for this group; the caller then calls set_paused.
  [[nodiscard]] bool should_pause(std::uint32_t in_port, std::uint32_t group) const;
  [[nodiscard]] bool should_resume(std::uint32_t in_port, std::uint32_t group) const;
  void set_paused(std::uint32_t in_port, std::uint32_t group, bool paused) {
    at(in_port, group).paused = paused;
  }

  struct Group {
    std::int64_t used = 0;  // reserve and shared
    std::int64_t headroom_used = 0;
    std::int64_t reserved = 0;
    std::int64_t headroom = 0;
    std::int64_t xon_offset = 0;
    std::int64_t static_threshold = -1;
    std::int64_t peak = 0;  // most ever held, headroom included
    std::int64_t headroom_peak = 0;
    std::int8_t alpha_log2 = kNoAlpha;
    std::uint8_t pool = 0;  // 1: the lossy groups' own
    bool lossless = false;
    bool paused = false;
  };
  [[nodiscard]] const Group& group(std::uint32_t port, std::uint32_t group) const {
    return groups_[port * 8 + group];
  }
  [[nodiscard]] std::int64_t egress_used(std::uint32_t port, std::uint32_t queue) const {
    return egress_[port * 8 + queue].used;
  }
  /// Of the lossless groups' pool, or of the one pool for all.
  [[nodiscard]] std::int64_t shared_size() const { return shared_size_[0]; }
  [[nodiscard]] std::int64_t shared_used() const { return shared_used_[0] + shared_used_[1]; }
  [[nodiscard]] std::int64_t total_used() const { return total_used_; }
  [[nodiscard]] std::int64_t total_peak() const { return total_peak_; }
  /// XOFF of the group now: shared bytes it may hold before its headroom begins.
  [[nodiscard]] std::int64_t threshold(const Group& group) const;

 private:
  static constexpr std::int8_t kNoAlpha = 127;
  struct Egress {
    std::int64_t used = 0;
    std::int64_t reserved = 0;
    std::int8_t alpha_log2 = kNoAlpha;
  };
  Group& at(std::uint32_t port, std::uint32_t group) { return groups_[port * 8 + group]; }
  [[nodiscard]] static std::int64_t shared_part(const Group& group) {
    return group.used > group.reserved ? group.used - group.reserved : 0;
  }

  std::vector<Group> groups_;
  std::vector<Egress> egress_;
  std::vector<std::uint32_t> charges_;
  std::int64_t buffer_ = 0;
  std::array<std::int64_t, 2> shared_size_{};  // by pool
  std::array<std::int64_t, 2> shared_used_{};
  std::int64_t pool_size_ = -1;  // shared headroom pool; -1: every group has its own headroom
  std::int64_t pool_used_ = 0;
  std::int64_t total_used_ = 0;
  std::int64_t total_peak_ = 0;
  bool pause_at_threshold_ = false;  // the peer pauses at T, not beyond it
};

}  // namespace weir::sim
