#pragma once
// Which class RDMA has where no design says it: from how it is marked, what carries its bytes, and
// what hosts and switches protect. What is sent decides, as long as a host or a switch protects it:
// then one that protects another priority is wrong. Where nothing that is sent is shown, or it is
// protected nowhere, no class is shown, and no side is said to be wrong by it.
#include <array>
#include <optional>
#include <span>

#include "diagnose/core/view.h"

namespace weir::diagnose {

/// A code point below this one is more likely a DSCP that was written as a TOS byte, 26 and 48 are
/// code points 6 and 12 then, or none.
inline constexpr unsigned kSmallDscp = 16;

/// How many hold each single priority for the lossless one: NICs, ports of switches, statements.
struct Protected {
  std::array<int, Priority::kLimit> votes{};
  PrioritySet any;  // with others beside it too

  [[nodiscard]] bool is_by_one(unsigned priority) const { return votes.at(priority) > 0; }
  [[nodiscard]] bool is_shown() const { return any.count() > 0; }
};
[[nodiscard]] Protected protected_by(std::span<const NicView> nics, std::span<const PortView> ports,
                                     const ToldOfRdma& told);

/// The code point that this NIC forces on RDMA, and the priority that its own map puts it in.
struct SentMark {
  Dscp dscp;
  unsigned priority = 0;
};
[[nodiscard]] std::optional<SentMark> mark_forced(const NicView& nic);

[[nodiscard]] std::optional<RdmaClass> class_shown(std::span<const NicView> nics,
                                                   std::span<const PortView> ports,
                                                   const ToldOfRdma& told,
                                                   const Thresholds& limits);

}  // namespace weir::diagnose
