#pragma once
// The lossless queue of a switch, over all its ports: what is set, what is wanted, what it counted.
#include <optional>
#include <string>
#include <vector>

#include "diagnose/core/view.h"

namespace weir::diagnose {

/// Of the RDMA priority on one port.
[[nodiscard]] const evidence::EgressQueue* rdma_queue(const View& view, const PortView& port);
[[nodiscard]] const evidence::GroupBuffer* rdma_group(const View& view, const PortView& port);

/// What a switch did in the window, summed over its ports.
struct SwitchCounts {
  std::optional<std::uint64_t> marked;       // in the RDMA queue
  std::optional<std::uint64_t> pauses_sent;  // of the RDMA priority
  std::uint64_t sent = 0;                    // packets of the RDMA queue
  double longest_pause = 0;                  // share of the window, of one port
};
[[nodiscard]] SwitchCounts counts_of(const View& view, std::string_view switch_name);

/// The marks that the designed curve gives a switch, from what its queues did, against those it
/// set. A queue that rose to its peak saw at least the packets that filled it, less those that
/// still wait in it; and one that was as often at every length up to its peak is as full as queues
/// are that senders react to.
struct MarksByCurve {
  double at_least = 0;
  double about = 0;
  std::uint64_t marked = 0;
  const PortView* fullest = nullptr;
  Bytes peak;  // of that port's queue
};
/// Absent where no design, no marks or no queue lengths are known.
[[nodiscard]] std::optional<MarksByCurve> marks_by_curve(const View& view,
                                                         std::string_view switch_name);

/// Where marking should begin on a port: by the design, or scaled from the usual start by speed.
struct WantedMarking {
  Bytes min;
  Bytes max;
  bool is_designed = false;
};
[[nodiscard]] std::optional<WantedMarking> wanted_marking(const PortView& port);

}  // namespace weir::diagnose
