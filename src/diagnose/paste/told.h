#pragma once
// What a job's settings and the words of a paste tell of RDMA's class: "RoCE is DSCP 34, prio 4".
// A wish, a remedy or a complaint tells nothing.
#include <vector>

#include "diagnose/core/view.h"
#include "readers/paste/paste.h"

namespace weir::diagnose {

/// Code points of "hosts send DSCP 26", "RoCE = DSCP 26"; CNPs have one of their own.
[[nodiscard]] std::vector<Dscp> dscps_in_words(const readers::Paste& paste);

/// Code points that the job's variables give to its traffic, written as TOS bytes.
[[nodiscard]] std::vector<Dscp> dscps_of_job(const readers::Job& job);

[[nodiscard]] ToldOfRdma told_of_rdma(const readers::Paste& paste);

}  // namespace weir::diagnose
