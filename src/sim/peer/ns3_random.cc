#include "sim/peer/ns3_random.h"

namespace weir::sim {
namespace {

using Vector = std::array<std::uint64_t, 3>;
using Matrix = std::array<Vector, 3>;

constexpr std::uint64_t kM1 = 4294967087;
constexpr std::uint64_t kM2 = 4294944443;
// x_n = 1403580 x_{n-2} - 810728 x_{n-3} mod m1;  y_n = 527612 y_{n-1} - 1370589 y_{n-3} mod m2
constexpr Matrix kA1 = {Vector{0, 1, 0}, Vector{0, 0, 1}, Vector{kM1 - 810728, 1403580, 0}};
constexpr Matrix kA2 = {Vector{0, 1, 0}, Vector{0, 0, 1}, Vector{kM2 - 1370589, 0, 527612}};

Vector times(const Matrix& a, const Vector& v, std::uint64_t m) {
  Vector out{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      out[i] = (out[i] + a[i][j] * v[j] % m) % m;
  return out;
}

Matrix times(const Matrix& a, const Matrix& b, std::uint64_t m) {
  Matrix out{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 3; ++k)
        out[i][j] = (out[i][j] + a[i][k] * b[k][j] % m) % m;
  return out;
}

Matrix squared(Matrix a, int times_over, std::uint64_t m) {
  for (int i = 0; i < times_over; ++i)
    a = times(a, a, m);
  return a;
}

}  // namespace

Ns3Random::Ns3Random(std::uint64_t stream)
    : stream_1_(squared(kA1, 127, kM1)),
      stream_2_(squared(kA2, 127, kM2)),
      run_1_(squared(kA1, 76, kM1)),
      run_2_(squared(kA2, 76, kM2)),
      state_1_{1, 1, 1},
      state_2_{1, 1, 1} {
  for (std::uint64_t i = 0; i < stream; ++i)
    advance();
}

void Ns3Random::advance() {
  state_1_ = times(stream_1_, state_1_, kM1);
  state_2_ = times(stream_2_, state_2_, kM2);
}

double Ns3Random::next() {
  const Vector x = times(kA1, times(run_1_, state_1_, kM1), kM1);
  const Vector y = times(kA2, times(run_2_, state_2_, kM2), kM2);
  advance();
  const std::uint64_t p = x[2] > y[2] ? x[2] - y[2] : x[2] + kM1 - y[2];
  return static_cast<double>(p) * 2.328306549295727688e-10;  // 1 / (m1 + 1)
}

}  // namespace weir::sim
