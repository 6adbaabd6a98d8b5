#include "sim/workload/flow.h"

#include <algorithm>
#include <utility>

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
  const Ps asked = record.post - sim.network().nic_config(qp.source).message_latency.raw();
  flow.post = Time::at(Duration::raw(asked));
  flow.state = record.state;
  if (flow.is_done()) flow.completion = Duration::raw(record.done - asked);
  return flow;
}

CompletionTimes completion_times(std::vector<Duration> times) {
  std::vector<TimesOf> each;
  each.reserve(times.size());
  for (const Duration time : times)
    each.push_back({time, 1});
  return completion_times_of(std::move(each));
}

CompletionTimes completion_times_of(std::vector<TimesOf> times) {
  CompletionTimes out;
  if (times.empty()) return out;
  std::sort(times.begin(), times.end(),
            [](const TimesOf& a, const TimesOf& b) { return a.time < b.time; });
  Int128 sum = 0;
  for (const TimesOf& value : times) {
    out.count += value.count;
    sum += Int128{value.time.raw()} * static_cast<Int128>(value.count);
  }
  out.mean = Duration::raw(static_cast<std::int64_t>(sum / static_cast<Int128>(out.count)));
  std::size_t at = 0;
  std::uint64_t passed = times[0].count;              // values up to and with times[at]
  const auto rank = [&](std::uint64_t thousandths) {  // asked in rising order
    const auto wanted = static_cast<std::uint64_t>(
        (Int128{static_cast<std::int64_t>(out.count)} * static_cast<Int128>(thousandths) + 999) /
        1000);
    while (passed < wanted)
      passed += times[++at].count;
    return times[at].time;
  };
  out.p50 = rank(500);
  out.p95 = rank(950);
  out.p99 = rank(990);
  out.p999 = rank(999);
  out.max = times.back().time;
  return out;
}

}  // namespace weir::sim
