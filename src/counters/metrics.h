#pragma once
// Names of counters for Prometheus: base units, `_total` on counters, received and transmitted as
// names of their own, because for a pause the two mean opposite culprits.
//
// Counters that operators plot and alert on have a name in a table (the lean profile). Every other
// counter of the catalogue has a name made from its id: `nic.req.cqe_error.events` is
// `weir_nic_req_cqe_error_events_total`.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "counters/catalog.h"

namespace weir::counters {

struct Metric {
  std::string_view id;          // of the counter
  std::string_view name;        // "weir_port_pfc_paused_seconds_total"
  std::string_view label = {};  // a label that tells this counter from others of the name …
  std::string_view value = {};  // … and its value: severity="error"
};

/// Sorted by the counter's id.
[[nodiscard]] std::span<const Metric> lean_metrics();
/// nullptr where the lean profile does not have it.
[[nodiscard]] const Metric* lean_metric(std::string_view id);

/// The name from the table, else the one made from the id.
[[nodiscard]] std::string metric_name(const Counter& counter);

/// What a reading in the counter's unit is multiplied by: microseconds are exported as seconds,
/// words as bytes. Bits stay: the catalogue counts them where they are errors.
[[nodiscard]] double metric_scale(Unit unit);

/// "priority" "queue" …; empty where the counter has no number.
[[nodiscard]] std::string_view number_label(Per per);

}  // namespace weir::counters
