// The order of causes. What a host or switch is told to do stands before what it does under load,
// and a place that makes others suffer before the places that suffer.
#include "diagnose/rule.h"

namespace weir::diagnose {

std::span<const Rule> rules() {
  static constexpr Rule kRules[] = {
      {"I14", "RDMA leaves a host in another priority", look_for_marking},
      {"I14", "a switch puts RDMA into another class", look_for_switch_maps},
      {"I15", "PFC is not on RDMA's priority", look_for_pfc_priority},
      {"I25", "PFC is on more than RDMA's priority", look_for_pfc_too_wide},
      {"I16", "one MTU differs", look_for_mtu},
      {"I18", "a cable, an optic or a port is bad, or a link down", look_for_bad_links},
      {"D3", "a switch has no way for packets, or a loop", look_for_routes},
      {"D3", "the application posts too few receives", look_for_few_receives},
      {"I5", "switches wait for each other in a circle", look_for_deadlock},
      {"I1", "a host takes data too slowly and pauses its switch", look_for_slow_receivers},
      {"I11", "marks arrive and no CNPs leave", look_for_silent_receivers},
      {"I12", "CNPs arrive and nobody slows down", look_for_deaf_senders},
      {"I8", "pauses everywhere", look_for_pauses_everywhere},
      {"I22", "PFC works where ECN should", look_for_late_marking},
      {"I2", "ECN or DCQCN holds senders back", look_for_early_marking},
      {"I3", "headroom does not hold what is in flight", look_for_small_headroom},
      {"I7", "pauses that begin at one port", look_for_hot_spots},
      {"D3", "RDMA packets are lost", look_for_loss},
  };
  return kRules;
}

}  // namespace weir::diagnose
