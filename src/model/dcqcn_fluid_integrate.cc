// The fluid model in time: Heun's method with a ring of past states for the loop delay.
#include <algorithm>
#include <cmath>
#include <span>

#include "model/dcqcn_fluid.h"
#include "model/dcqcn_fluid_equations.h"

namespace weir::model {
namespace {

using fluid::Packets;
using fluid::State;

double seconds(Duration duration) {
  return static_cast<double>(duration.raw()) * 1e-12;
}

/// A rate at the line's cannot rise, an empty queue cannot shrink.
State bounded_slope(const Packets& k, State slope, const State& at) {
  if (at.rate >= k.capacity) slope.rate = std::min(slope.rate, 0.0);
  if (at.target >= k.capacity) slope.target = std::min(slope.target, 0.0);
  if (at.queue <= 0) slope.queue = std::max(slope.queue, 0.0);
  return slope;
}

State stepped(const Packets& k, const State& from, const State& slope, double dt) {
  return {std::clamp(from.rate + dt * slope.rate, 1e-9, k.capacity),
          std::clamp(from.target + dt * slope.target, 1e-9, k.capacity),
          std::clamp(from.alpha + dt * slope.alpha, 0.0, 1.0),
          std::max(from.queue + dt * slope.queue, 0.0)};
}

/// The states of the last loop delay; before the start, the first one.
class History {
 public:
  History(std::size_t steps, const State& first) : ring_(steps + 1, first) {}
  void push(const State& state) {
    newest_ = (newest_ + 1) % ring_.size();
    ring_[newest_] = state;
  }
  /// The state a loop delay before the newest, and the state one step later.
  [[nodiscard]] const State& oldest() const { return ring_[(newest_ + 1) % ring_.size()]; }
  [[nodiscard]] const State& second_oldest() const {
    return ring_[(newest_ + std::min<std::size_t>(2, ring_.size())) % ring_.size()];
  }
  [[nodiscard]] bool has_delay() const { return ring_.size() > 1; }

 private:
  std::vector<State> ring_;
  std::size_t newest_ = 0;
};

State heun_step(const Packets& k, const State& now, const History& history, double dt) {
  const State slope1 = bounded_slope(k, fluid::derivative(k, now, history.oldest()), now);
  const State guess = stepped(k, now, slope1, dt);
  const State& seen = history.has_delay() ? history.second_oldest() : guess;
  const State slope2 = bounded_slope(k, fluid::derivative(k, guess, seen), guess);
  const State mean = {(slope1.rate + slope2.rate) / 2, (slope1.target + slope2.target) / 2,
                      (slope1.alpha + slope2.alpha) / 2, (slope1.queue + slope2.queue) / 2};
  return stepped(k, now, mean, dt);
}

Duration default_step(Duration loop_delay) {
  return std::clamp(loop_delay / 4, 200_ns, 1_us);
}

/// Mean time between upward passages through the middle of the swing; nullopt where it barely
/// swings.
std::optional<double> period_of(std::span<const double> queue, double dt, double low, double high,
                                double mean) {
  if (high - low < mean / 20) return std::nullopt;
  const double middle = (low + high) / 2;
  double first = 0;
  double last = 0;
  int passages = 0;
  for (std::size_t i = 1; i < queue.size(); ++i) {
    if (queue[i - 1] >= middle || queue[i] < middle) continue;
    const double part = (middle - queue[i - 1]) / (queue[i] - queue[i - 1]);
    last = (static_cast<double>(i - 1) + part) * dt;
    if (passages++ == 0) first = last;
  }
  if (passages < 3) return std::nullopt;
  return (last - first) / (passages - 1);
}

void summarise_tail(std::span<const double> queue, double dt, double packet_bytes,
                    FluidOutcome& out) {
  const auto [low, high] = std::minmax_element(queue.begin(), queue.end());
  double sum = 0;
  for (const double q : queue)
    sum += q;
  const double mean = sum / static_cast<double>(queue.size());
  out.queue_mean_bytes = mean * packet_bytes;
  out.queue_min_bytes = *low * packet_bytes;
  out.queue_max_bytes = *high * packet_bytes;
  out.period_s = period_of(queue, dt, *low, *high, mean);
}

}  // namespace

FluidOutcome integrate(const FluidParameters& parameters, const FluidRun& run) {
  WEIR_CHECK(run.duration > Duration() && run.loop_delay >= Duration() && run.step >= Duration());
  constexpr double kStartEnds = 1e-4;  // the queue is empty before the first packets, too
  const Packets k = fluid::in_packets(parameters);
  const double dt = seconds(run.step > Duration() ? run.step : default_step(run.loop_delay));
  const auto steps = std::max<std::size_t>(1, static_cast<std::size_t>(seconds(run.duration) / dt));
  const std::size_t tail = steps - std::max<std::size_t>(1, steps / 5);
  const auto delay_steps = static_cast<std::size_t>(std::lround(seconds(run.loop_delay) / dt));
  const double sample_every = seconds(run.sample_every);

  State state = {k.capacity, k.capacity, 1, 0};
  History history(run.loop_delay > Duration() ? std::max<std::size_t>(1, delay_steps) : 0, state);
  FluidOutcome out;
  std::vector<double> tail_queue;
  tail_queue.reserve(steps - tail);
  double peak = 0;
  double carried = 0;
  double next_sample = 0;
  for (std::size_t i = 1; i <= steps; ++i) {
    state = heun_step(k, state, history, dt);
    history.push(state);
    const double time = static_cast<double>(i) * dt;
    peak = std::max(peak, state.queue);
    if (!out.first_empty_s && state.queue <= 0 && time > kStartEnds) out.first_empty_s = time;
    if (i > tail) {
      tail_queue.push_back(state.queue);
      const double offered = k.flows * state.rate;
      carried += state.queue > 0 ? 1 : std::min(1.0, offered / k.capacity);
    }
    if (sample_every > 0 && time >= next_sample) {
      const double bits = k.packet_bytes * 8;
      out.samples.push_back({time, state.queue * k.packet_bytes, state.rate * bits,
                             state.target * bits, state.alpha});
      next_sample += sample_every;
    }
  }
  out.start_peak_bytes = peak * k.packet_bytes;
  out.utilisation = carried / static_cast<double>(tail_queue.size());
  summarise_tail(tail_queue, dt, k.packet_bytes, out);
  return out;
}

}  // namespace weir::model
