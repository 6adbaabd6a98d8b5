// Linear stability of the fluid model.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>

#include "model/dcqcn_fluid.h"
#include "model/dcqcn_fluid_equations.h"

namespace weir::model {
namespace {

using fluid::Packets;
using fluid::State;
using Complex = std::complex<double>;
using Matrix = std::array<std::array<double, 4>, 4>;

std::array<double, 4> as_array(const State& s) {
  return {s.rate, s.target, s.alpha, s.queue};
}
State as_state(const std::array<double, 4>& x) {
  return {x[0], x[1], x[2], x[3]};
}

/// The linear system dx/dt = now*x(t) + delayed*x(t - delay) around the equilibrium, in relative
/// units (each state divided by its own size), so that its numbers are of comparable size.
struct Linearised {
  Matrix now{};
  Matrix delayed{};
};

Linearised linearise(const Packets& on_ramp, double p) {
  Packets k = on_ramp;  // the ramp continued to p = 1, so that the point exists beyond Kmax too
  k.kmax = k.kmin + (k.kmax - k.kmin) / k.pmax;
  k.pmax = 1;
  const std::array<double, 4> x0 = as_array(fluid::equilibrium(k, p));
  Linearised system;
  for (std::size_t j = 0; j < 4; ++j) {
    const double h = 1e-6 * std::max(std::abs(x0[j]), 1e-9);
    std::array<double, 4> up = x0;
    std::array<double, 4> down = x0;
    up[j] += h;
    down[j] -= h;
    const State at = as_state(x0);
    const auto now_up = as_array(fluid::derivative(k, as_state(up), at));
    const auto now_down = as_array(fluid::derivative(k, as_state(down), at));
    const auto delayed_up = as_array(fluid::derivative(k, at, as_state(up)));
    const auto delayed_down = as_array(fluid::derivative(k, at, as_state(down)));
    for (std::size_t i = 0; i < 4; ++i) {
      const double scale = x0[j] / x0[i] / (2 * h);
      system.now[i][j] = (now_up[i] - now_down[i]) * scale;
      system.delayed[i][j] = (delayed_up[i] - delayed_down[i]) * scale;
    }
  }
  return system;
}

/// det(s*I - now - delayed*z), z = exp(-s*delay), as a polynomial: coefficient[power of z][power of
/// s]. Expanded once; each frequency then costs a few multiplications instead of an elimination.
class Characteristic {
 public:
  explicit Characteristic(const Linearised& system) {
    std::array<int, 4> columns = {0, 1, 2, 3};
    do {
      add_permutation(system, columns);
    } while (std::next_permutation(columns.begin(), columns.end()));
  }

  /// At s = j*omega, in plain doubles: a margin takes some 70,000 of these.
  [[nodiscard]] Complex at(double omega, double delay) const {
    const double cosine = std::cos(omega * delay);
    const double sine = -std::sin(omega * delay);
    const double w2 = omega * omega;
    double real = 0;
    double imaginary = 0;
    for (std::size_t power = kDelayDegree + 1; power-- > 0;) {
      const auto& c = coefficient_[power];
      const double turned = real * cosine - imaginary * sine;
      imaginary = real * sine + imaginary * cosine + omega * (c[1] - c[3] * w2);
      real = turned + c[0] - c[2] * w2 + c[4] * w2 * w2;
    }
    return {real, imaginary};
  }

 private:
  static constexpr std::size_t kDegree = 4;
  static constexpr std::size_t kDelayDegree = 2;  // only rate and queue act with delay: two columns
  using Polynomial = std::array<std::array<double, kDegree + 1>, kDegree + 1>;

  void add_permutation(const Linearised& system, const std::array<int, 4>& columns) {
    int inversions = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = i + 1; j < 4; ++j)
        inversions += columns[i] > columns[j] ? 1 : 0;
    }
    Polynomial product{};
    product[0][0] = inversions % 2 == 0 ? 1 : -1;
    for (std::size_t row = 0; row < 4; ++row) {
      const auto column = static_cast<std::size_t>(columns[row]);
      const double s = row == column ? 1 : 0;
      Polynomial next{};
      for (std::size_t z = 0; z <= kDegree; ++z) {
        for (std::size_t power = 0; power <= kDegree; ++power) {
          const double c = product[z][power];
          if (c == 0) continue;  // degrees never exceed the number of rows taken
          next[z][power] -= c * system.now[row][column];
          if (z < kDegree) next[z + 1][power] -= c * system.delayed[row][column];
          if (power < kDegree) next[z][power + 1] += c * s;
        }
      }
      product = next;
    }
    for (std::size_t z = 0; z <= kDegree; ++z) {
      for (std::size_t power = 0; power <= kDegree; ++power)
        coefficient_[z][power] += product[z][power];
    }
  }

  Polynomial coefficient_{};
};

/// Mikhailov: a system of order 4 has (4 - 2*turn/pi)/2 roots in the right half plane, where `turn`
/// is the total change of the characteristic's argument as the frequency goes from 0 to infinity.
bool is_stable(const Characteristic& characteristic, double delay) {
  constexpr double kRatio = 1.01;
  constexpr int kSteps = 2'083;  // from 0.1 to 1e8 rad/s
  double omega = 0.1;
  double turn = 0;
  Complex previous = characteristic.at(omega, delay);
  for (int step = 0; step < kSteps; ++step) {
    omega *= kRatio;
    const Complex value = characteristic.at(omega, delay);
    turn += std::atan2(value.imag() * previous.real() - value.real() * previous.imag(),
                       value.real() * previous.real() + value.imag() * previous.imag());
    previous = value;
  }
  return std::lround((4 - 2 * turn / std::numbers::pi) / 2) <= 0;
}

/// The authors' open-loop transfer function (CoNEXT 2016, stability.m): first order in small p.
class AuthorsLoop {
 public:
  AuthorsLoop(const Packets& k, double p) : n_(k.flows), gc_(k.gain * k.capacity) {
    const State at = fluid::equilibrium(k, p);
    const double r = at.rate;
    const double rt = at.target;
    const double clock = 1 / k.bytes + 1 / (k.timer * r);
    const double slope = k.flows * k.pmax / (k.kmax - k.kmin);
    const double h = 0.5 + clock / 4;
    const double climb = 1 + 2 * k.recovery + clock / 2;
    const double m = clock / 2 * r - h * p * r;
    pr_ = p * r;
    a_ = (-0.5 * r * r * at.alpha - h * r * rt + h * r * r) * slope;
    b_ = -0.5 * p * r * at.alpha - clock / 2 * r + h * p * r;
    c_ = b_ + clock / 2 * rt - h * p * rt;
    d_ = -0.5 * p * r * r * k.gain * k.capacity * slope;
    e_ = m * (p * r + clock * k.additive);
    f_ = m * (-p * rt + p * r + clock * k.additive - climb * k.additive * p);
    g_ = m * (-r * rt + r * r - climb * k.additive * r) * slope;
  }

  [[nodiscard]] Complex at(double omega) const {
    const Complex s(0, omega);
    const Complex n1 = n_ * s + gc_;
    const Complex n2 = s + pr_;
    return (n1 * n2 * (a_ + s * b_) + n2 * d_ + n1 * (s * f_ + g_)) /
           (s * n1 * (n2 * (c_ - s) + e_));
  }
  [[nodiscard]] bool amplifies(double omega) const { return std::norm(at(omega)) > 1; }

 private:
  double n_;
  double gc_;
  double pr_ = 0;
  double a_ = 0, b_ = 0, c_ = 0, d_ = 0, e_ = 0, f_ = 0, g_ = 0;
};

/// The frequency in (low, high) where the loop's gain passes 1.
double crossover(const AuthorsLoop& loop, double low, double high) {
  const bool below = loop.amplifies(low);
  for (int i = 0; i < 60; ++i) {
    const double middle = std::sqrt(low * high);
    (loop.amplifies(middle) == below ? low : high) = middle;
  }
  return low;
}

/// In (-180, 180].
double wrapped(double degrees) {
  const double turned = std::remainder(degrees, 360.0);
  return turned <= -180 ? turned + 360 : turned;
}

}  // namespace

bool is_stability_meaningful(const FluidParameters& parameters) {
  return parameters.alpha_period >= parameters.cnp_interval;
}

std::optional<Duration> delay_margin(const FluidParameters& parameters) {
  constexpr double kLongest = 5e-3;
  const Packets k = fluid::in_packets(parameters);
  const Characteristic characteristic(linearise(k, fixed_point(parameters).mark_probability));
  if (!is_stable(characteristic, 0)) return Duration();
  double low = 0;
  double high = 1e-6;
  while (is_stable(characteristic, high)) {
    low = high;
    high *= 1.6;
    if (high > kLongest) return std::nullopt;
  }
  for (int i = 0; i < 14; ++i) {
    const double middle = (low + high) / 2;
    (is_stable(characteristic, middle) ? low : high) = middle;
  }
  return Duration::raw(std::llround((low + high) / 2 * 1e12));
}

std::optional<double> authors_phase_margin(const FluidParameters& parameters, Duration loop_delay) {
  constexpr double kRatio = 1.004;
  constexpr int kSteps = 5'768;  // from 0.1 to 1e9 rad/s
  const Packets k = fluid::in_packets(parameters);
  const double p = fluid::cube_root_p(k);
  if (p >= 0.9) return std::nullopt;  // far outside the expansion
  const AuthorsLoop loop(k, p);
  const double delay = static_cast<double>(loop_delay.raw()) * 1e-12;
  std::optional<double> least;
  double omega = 0.1;
  bool was_above = loop.amplifies(omega);
  for (int step = 0; step < kSteps; ++step) {
    omega *= kRatio;
    const bool above = loop.amplifies(omega);
    if (above != was_above) {
      const double at = crossover(loop, omega / kRatio, omega);
      const double phase = (std::arg(loop.at(at)) - at * delay) * 180 / std::numbers::pi;
      const double margin = wrapped(180 + phase);
      if (!least || margin < *least) least = margin;
    }
    was_above = above;
  }
  return least;
}

}  // namespace weir::model
