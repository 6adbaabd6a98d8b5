#pragma once
// The way of a packet through a switch against the design: code point, class, queue, and the
// bandwidth share that the queue has. Internal to this folder.
#include "design/fabric/intent.h"
#include "diagnose/validate/collector.h"
#include "evidence/evidence.h"

namespace weir::diagnose {

/// RDMA and CNPs in the queues of the design, no other traffic in a lossless one, and all traffic
/// in a queue that has a share.
void check_classes(const evidence::Switch& found, const design::SwitchIntent& wanted,
                   const design::Intent& intent, Collector& out);

/// Strict or weighted as designed, and the shares of the weighted queues.
void check_scheduling(const evidence::SwitchPort& port, const design::SwitchIntent& wanted,
                      Collector& out);

}  // namespace weir::diagnose
