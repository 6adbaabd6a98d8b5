#pragma once
// The equations of the DCQCN fluid model in its own units, packets and seconds. Internal to
// dcqcn_fluid*.cc. Symbols as in Zhu et al., CoNEXT 2016, fig. 1:
//
//   dq/dt     = N*Rc - C                                        (q >= 0)
//   dalpha/dt = g/tau' * (1 - (1-p)^(tau'*Rc_d) - alpha)        x_d = x one loop delay earlier
//   dRt/dt    = -(Rt-Rc)/tau * a + R_AI*Rc_d*(c+e)              p = p(q_d)
//   dRc/dt    = -Rc*alpha/(2 tau) * a + (Rt-Rc)/2 * Rc_d*(b+d)
#include <algorithm>
#include <cmath>

#include "model/dcqcn_fluid.h"

namespace weir::model::fluid {

struct Packets {
  double capacity = 0;
  int flows = 1;
  double tau = 0;
  double alpha_period = 0;
  double timer = 0;
  double bytes = 0;  // the byte counter, in packets
  int recovery = 1;
  double gain = 0;
  double additive = 0;
  double kmin = 0;
  double kmax = 0;
  double pmax = 0;
  double packet_bytes = 0;
};

struct State {
  double rate = 0;
  double target = 0;
  double alpha = 0;
  double queue = 0;
};

struct Factors {
  double a, b, c, d, e;
};

/// a = 1-(1-p)^(tau*R); b, c: byte counter's increases and those past fast recovery; d, e: the
/// timer's. expm1 and log1p, or b and d lose all digits below p = 1e-9.
inline Factors factors(const Packets& k, double p, double rate) {
  if (p <= 0) return {0, 1 / k.bytes, 1 / k.bytes, 1 / (k.timer * rate), 1 / (k.timer * rate)};
  if (p >= 1) return {1, 0, 0, 0, 0};
  const double log_keep = std::log1p(-p);
  const double by_bytes = -k.bytes * log_keep;
  const double by_timer = -k.timer * rate * log_keep;
  const double b = p / std::expm1(by_bytes);  // p / inf = 0 where the counter never comes round
  const double d = p / std::expm1(by_timer);
  return {-std::expm1(k.tau * rate * log_keep), b, b * std::exp(-k.recovery * by_bytes), d,
          d * std::exp(-k.recovery * by_timer)};
}

/// Where alpha settles at marking probability p.
inline double alpha_at(const Packets& k, double p, double rate) {
  return p >= 1 ? 1 : -std::expm1(k.alpha_period * rate * std::log1p(-p));
}

inline double marking(const Packets& k, double queue) {
  if (queue <= k.kmin) return 0;
  if (queue > k.kmax) return 1;
  return (queue - k.kmin) / (k.kmax - k.kmin) * k.pmax;
}

/// Time derivative of the state `now`, with the loop's view of `delayed`.
inline State derivative(const Packets& k, const State& now, const State& delayed) {
  const double p = marking(k, delayed.queue);
  const double seen = std::max(delayed.rate, 1e-9);
  const Factors f = factors(k, p, seen);
  return {
      -now.rate * now.alpha * f.a / (2 * k.tau) + (now.target - now.rate) * seen * (f.b + f.d) / 2,
      -(now.target - now.rate) * f.a / k.tau + k.additive * seen * (f.c + f.e),
      k.gain / k.alpha_period * (alpha_at(k, p, seen) - now.alpha),
      k.flows * now.rate - k.capacity};
}

[[nodiscard]] Packets in_packets(const FluidParameters&);
[[nodiscard]] double cube_root_p(const Packets&);
/// The equilibrium at marking probability p, on a ramp without end.
[[nodiscard]] State equilibrium(const Packets&, double p);

}  // namespace weir::model::fluid
