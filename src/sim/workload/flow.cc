#include "sim/workload/flow.h"

#include <algorithm>

#include "sim/engine/sim.h"

namespace weir::sim {

Flow flow_of(const Sim& sim, MessageId message) {
  const MessageRecord& record = sim.messages()[message];
  const QueuePair& qp = sim.network().qps[record.qp];
  Flow flow;
  flow.message = message;
  flow.source = qp.source;
  flow.target = qp.target;
  flow.size = Bytes::raw(record.size);
  flow.post = Time::at(Duration::raw(record.post));
  flow.state = record.state;
  if (flow.is_done()) flow.completion = Duration::raw(record.done - record.post);
  return flow;
}

CompletionTimes completion_times(std::vector<Duration> times) {
  CompletionTimes out;
  out.count = times.size();
  if (times.empty()) return out;
  std::sort(times.begin(), times.end());
  Int128 sum = 0;
  for (const Duration time : times)
    sum += time.raw();
  out.mean = Duration::raw(static_cast<std::int64_t>(sum / static_cast<Int128>(times.size())));
  const auto rank = [&](std::size_t thousandths) {
    return times[(times.size() * thousandths + 999) / 1000 - 1];
  };
  out.p50 = rank(500);
  out.p95 = rank(950);
  out.p99 = rank(990);
  out.p999 = rank(999);
  out.max = times.back();
  return out;
}

}  // namespace weir::sim
