// The order of causes. What a host or switch is told to do stands before what it does under load,
// and a place that makes others suffer before the places that suffer.
#include "diagnose/rules/rule.h"

namespace weir::diagnose {

std::span<const Rule> rules() {
  static constexpr Rule kRules[] = {
      {"D3", "the load travels through the kernel", look_for_sockets},
      {"I14", "RDMA leaves a host in another priority", look_for_marking},
      {"I14", "a switch puts RDMA into another class", look_for_switch_maps},
      {"I14", "another class shares RDMA's queue", look_for_shared_queues},
      {"I15", "PFC is not on RDMA's priority", look_for_pfc_priority},
      {"I15", "pauses that the other end of the cable does not take", look_at_cables},
      {"I25", "PFC is on more than RDMA's priority", look_for_pfc_too_wide},
      {"I16", "one MTU differs", look_for_mtu},
      {"I18", "a cable, an optic or a port is bad, or a link down", look_for_bad_links},
      {"I5", "traffic goes down and up again", look_for_bounces},
      {"D3", "a switch has no way for packets, or a loop", look_for_routes},
      {"I19", "the application posts too few receives", look_for_few_receives},
      {"I5", "switches wait for each other in a circle", look_for_deadlock},
      {"I20", "a host's PCIe or memory is the bottleneck", look_for_host_bottlenecks},
      {"I1", "a host takes data too slowly and pauses its switch", look_for_slow_receivers},
      {"I11", "marks arrive and no CNPs leave", look_for_silent_receivers},
      {"I12", "CNPs arrive and nobody slows down", look_for_deaf_senders},
      {"I4", "switches of two tiers hash alike", look_for_same_hash},
      {"I17", "packets overtake each other", look_for_reordering},
      {"I8", "pauses everywhere", look_for_pauses_everywhere},
      {"I22", "PFC works where ECN should", look_for_late_marking},
      {"I2", "ECN or DCQCN holds senders back", look_for_early_marking},
      {"I3", "headroom does not hold what is in flight", look_for_small_headroom},
      {"I26", "one leaf has less way up than its peers", look_for_uplinks},
      {"I7", "pauses that begin at one port", look_for_hot_spots},
      {"I29", "a port drops without saying why", look_for_discards},
      {"I28", "sent again though nothing was lost", look_for_timers},
      {"I14", "RDMA arrives in another priority than it left in", look_at_ends},
      {"D3", "what one host alone lets guess of its switches", look_from_one_host},
      {"I9", "RDMA packets are lost", look_for_loss},
      {"I27", "senders begin again at the bottom", look_for_restarts},
      {"I10", "lines half empty, and senders told to slow down", look_for_low_use},
      {"I7", "pauses that begin where nobody looked", look_beyond},
  };
  return kRules;
}

}  // namespace weir::diagnose
