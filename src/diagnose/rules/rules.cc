// The order of causes. Settings come before behaviour under load, and a device that affects others
// before the devices that are affected.
#include "diagnose/rules/rule.h"

namespace weir::diagnose {

std::span<const Rule> rules() {
  static constexpr Rule kRules[] = {
      {"D3", "traffic goes through the kernel instead of RDMA", look_for_sockets},
      {"I14", "host sends RDMA in the wrong priority", look_for_marking},
      {"I14", "switch maps RDMA to the wrong class", look_for_switch_maps},
      {"I14", "another class shares the RDMA queue", look_for_shared_queues},
      {"I15", "PFC is not on the RDMA priority", look_for_pfc_priority},
      {"I15", "the other end of a cable ignores pauses", look_at_cables},
      {"I25", "PFC is on more than the RDMA priority", look_for_pfc_too_wide},
      {"I16", "MTU mismatch", look_for_mtu},
      {"I18", "bad cable, optic or port, or link down", look_for_bad_links},
      {"I5", "traffic goes down and up again (bounce or loop)", look_for_bounces},
      {"D3", "routing loop or missing route", look_for_routes},
      {"I19", "application posts too few receives", look_for_few_receives},
      {"I5", "PFC deadlock", look_for_deadlock},
      {"I20", "PCIe or memory of a host is the bottleneck", look_for_host_bottlenecks},
      {"I1", "slow receiver pauses its switch", look_for_slow_receivers},
      {"I11", "receiver sends no CNPs", look_for_silent_receivers},
      {"I12", "sender ignores CNPs, or CNPs are lost", look_for_deaf_senders},
      {"I4", "two tiers use the same ECMP hash", look_for_same_hash},
      {"I17", "packets arrive out of order", look_for_reordering},
      {"I8", "lossless pool too small: pauses everywhere", look_for_pauses_everywhere},
      {"I22", "ECN starts too late", look_for_late_marking},
      {"I2", "ECN starts too early, or DCQCN off the design", look_for_early_marking},
      {"I3", "headroom too small for the data in flight", look_for_small_headroom},
      {"I26", "one leaf has less uplink bandwidth than its peers", look_for_uplinks},
      {"I7", "pauses that start at one port", look_for_hot_spots},
      {"I29", "port drops packets without a reason in its counters", look_for_discards},
      {"I28", "retransmissions without loss", look_for_timers},
      {"I14", "RDMA arrives in another priority than it was sent in", look_at_ends},
      {"D3", "what a single host suggests about its switches", look_from_one_host},
      {"I9", "RDMA packets are lost", look_for_loss},
      {"I27", "senders restart at a low rate", look_for_restarts},
      {"I10", "links half empty although senders get CNPs", look_for_low_use},
      {"I7", "pauses from devices that were not read", look_beyond},
  };
  return kRules;
}

}  // namespace weir::diagnose
