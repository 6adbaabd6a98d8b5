#include "diagnose/core/switch_queues.h"

#include <algorithm>

#include "model/wred.h"

namespace weir::diagnose {
namespace {

unsigned queue_of(const View& view, const PortView& port) {
  if (port.wanted_switch != nullptr)
    return port.wanted_switch->priority_to_queue.at(view.rdma()).value();
  if (port.device != nullptr && port.device->tc_to_queue.is_known())
    return port.device->tc_to_queue->at(view.rdma()).value();
  return view.rdma();
}

unsigned group_of(const View& view, const PortView& port) {
  if (port.wanted_switch != nullptr)
    return port.wanted_switch->priority_to_pg.at(view.rdma()).value();
  if (port.device != nullptr && port.device->tc_to_group.is_known())
    return port.device->tc_to_group->at(view.rdma()).value();
  return view.rdma();
}

}  // namespace

const evidence::EgressQueue* rdma_queue(const View& view, const PortView& port) {
  if (port.facts == nullptr) return nullptr;
  const unsigned wanted = queue_of(view, port);
  for (const evidence::EgressQueue& queue : port.facts->queues)
    if (queue.queue.value() == wanted) return &queue;
  return nullptr;
}

const evidence::GroupBuffer* rdma_group(const View& view, const PortView& port) {
  if (port.facts == nullptr) return nullptr;
  const unsigned wanted = group_of(view, port);
  for (const evidence::GroupBuffer& group : port.facts->groups)
    if (group.group.value() == wanted) return &group;
  return nullptr;
}

SwitchCounts counts_of(const View& view, std::string_view switch_name) {
  SwitchCounts out;
  for (const PortView* port : view.ports_of(switch_name)) {
    const unsigned queue = queue_of(view, *port);
    if (const auto marked = port->counts.of("switch.queue.ecn_marked.packets", queue))
      out.marked = out.marked.value_or(0) + *marked;
    if (const auto pauses = port->counts.of("switch.prio.pause_tx.frames", view.rdma()))
      out.pauses_sent = out.pauses_sent.value_or(0) + *pauses;
    out.sent += port->counts.of("switch.queue.tx.packets", queue).value_or(0);
    const auto share =
        port->counts.share_of_window("switch.prio.pause_tx.microseconds", view.rdma());
    out.longest_pause = std::max(out.longest_pause, share.value_or(0));
  }
  return out;
}

namespace {

/// Of the probability to be marked: the integral over queue lengths from nothing to `peak`.
double area_under(const design::WredIntent& curve, double peak) {
  const auto min = static_cast<double>(curve.min.raw());
  const auto max = static_cast<double>(curve.max.raw());
  if (peak <= min || max <= min) return std::max(peak - max, 0.0);
  const double top = std::min(peak, max);
  const double slope = static_cast<double>(curve.probability.raw()) / kSharePerWhole / (max - min);
  return slope * (top - min) * (top - min) / 2 + std::max(peak - max, 0.0);
}

}  // namespace

std::optional<MarksByCurve> marks_by_curve(const View& view, std::string_view switch_name) {
  std::optional<MarksByCurve> out;
  double longest = 0;
  for (const PortView* port : view.ports_of(switch_name)) {
    if (port->wanted == nullptr || !port->wanted->wred.ecn) continue;
    const unsigned queue = queue_of(view, *port);
    const auto marked = port->counts.of("switch.queue.ecn_marked.packets", queue);
    const auto packets = port->counts.of("switch.queue.tx.packets", queue);
    const auto peak = port->counts.peak("switch.queue.depth_max.bytes", queue);
    if (!marked || !packets) continue;
    if (!out) out = MarksByCurve();
    out->marked += *marked;
    if (!peak || *packets == 0) continue;
    const auto length = static_cast<double>(*peak);
    const double area = area_under(port->wanted->wred, length);
    // A full packet is the largest step in which a queue grows.
    constexpr double kHeaders = 100;
    const double step =
        view.intent() == nullptr || view.intent()->hosts.empty()
            ? 4096 + kHeaders
            : static_cast<double>(view.intent()->hosts.front().nics.front().rdma_mtu.raw()) +
                  kHeaders;
    // Packets are marked as they leave: those that still wait have had no mark yet.
    const auto waiting =
        static_cast<double>(port->counts.level("switch.queue.depth.bytes", queue).value_or(0));
    const double left = area - area_under(port->wanted->wred, std::min(waiting, length));
    out->at_least += left / step;
    out->about += static_cast<double>(*packets) * area / length;
    if (length <= longest) continue;
    longest = length;
    out->fullest = port;
    out->peak = Bytes::raw(static_cast<std::int64_t>(*peak));
  }
  return out;
}

std::optional<WantedMarking> wanted_marking(const PortView& port) {
  if (port.wanted != nullptr && port.wanted->wred.ecn)
    return WantedMarking{port.wanted->wred.min, port.wanted->wred.max, true};
  if (port.wanted != nullptr || !port.speed) return std::nullopt;
  constexpr std::int64_t kSlowest = 1'000'000'000;
  constexpr std::int64_t kFastest = 10'000'000'000'000;
  if (port.speed->raw() < kSlowest || port.speed->raw() > kFastest) return std::nullopt;
  const model::WredCurve curve = model::wred_start(*port.speed).curve;
  return WantedMarking{curve.min, curve.max, false};
}

}  // namespace weir::diagnose
