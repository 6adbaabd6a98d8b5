// A class that gets no turn: its queue drops most of what it is given while RDMA goes on in strict
// priority or with too large a share. Management must get its minimum under load.
#include <fmt/format.h>

#include "base/count_text.h"
#include "diagnose/core/switch_queues.h"
#include "diagnose/rules/rule.h"

namespace weir::diagnose {

void look_for_starved_classes(const View& view, Suspicions& out) {
  const Thresholds& limits = view.thresholds();
  for (const PortView& port : view.ports()) {
    const auto rdma = port.counts.of("switch.queue.tx.packets", view.rdma());
    if (rdma.value_or(0) < limits.class_packets) continue;
    for (unsigned queue = 0; queue < 8; ++queue) {
      if (queue == view.rdma()) continue;
      const auto dropped = port.counts.of("switch.queue.drop_tail.packets", queue);
      const auto sent = port.counts.of("switch.queue.tx.packets", queue);
      if (!dropped || !sent || *dropped < limits.class_packets ||
          !is_at_least(*dropped, limits.starved_class, *dropped + *sent))
        continue;
      out.add({.id = "class.starved",
               .verdict = fmt::format(
                   "{} dropped {} of {} packets of queue {} while RDMA was sent: "
                   "the queue gets no share of the line.",
                   name_of(port), count_text(*dropped), count_text(*dropped + *sent), queue),
               .where = port.where(),
               .confidence = finding::Confidence::kMedium,
               .evidence = {port.counts.line("switch.queue.drop_tail.packets", queue),
                            port.counts.line("switch.queue.tx.packets", queue)}});
    }
  }
}

}  // namespace weir::diagnose
