#include "preflight/gpu_loopback.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "preflight/measure.h"

namespace weir::preflight {
namespace {

constexpr double kTransfersPerMega = 1e6;
constexpr unsigned kLast8b10b = 5000;    // megatransfers: PCIe 2.0
constexpr unsigned kFirstFlit = 64'000;  // PCIe 6.0
constexpr double kShare8b10b = 0.8;
constexpr double kShare128b130b = 128.0 / 130.0;
constexpr double kShareFlit = 236.0 / 256.0;  // of a flit for packets
// A write of the smallest payload size that servers are set to: framing, sequence, header of four
// words, LCRC (PCI Express Base Specification 3.0, 2.2 and 3.2).
constexpr double kPayload = 128;
constexpr double kAroundPayload = 24;

double coding_share(unsigned megatransfers) {
  if (megatransfers <= kLast8b10b) return kShare8b10b;
  return megatransfers < kFirstFlit ? kShare128b130b : kShareFlit;
}

}  // namespace

std::optional<double> pcie_rate(const evidence::Pcie& pcie) {
  if (!pcie.speed_mtps_max.is_known() || !pcie.width_max.is_known()) return std::nullopt;
  const unsigned speed = *pcie.speed_mtps_max;
  if (speed == 0 || *pcie.width_max == 0) return std::nullopt;
  return kTransfersPerMega * speed * *pcie.width_max * coding_share(speed) * kPayload /
         (kPayload + kAroundPayload);
}

std::optional<double> gpu_floor(const GpuTrial& trial, double share) {
  const bool is_below_switch =
      trial.distance == evidence::Distance::kPix || trial.distance == evidence::Distance::kPxb;
  if (!is_below_switch || !trial.gpu_link) return std::nullopt;
  return share * std::min(trial.line_rate, *trial.gpu_link);
}

GpuComparison compare_gpu_trials(const std::vector<GpuTrial>& trials,
                                 const finding::Thresholds& limits) {
  using Kind = std::tuple<double, std::optional<evidence::Distance>, std::string>;
  std::map<Kind, std::vector<std::size_t>> kinds;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (trials[i].rate <= 0 || gpu_floor(trials[i], limits.loopback_floor)) continue;
    kinds[{trials[i].line_rate, trials[i].distance, trials[i].model}].push_back(i);
  }
  GpuComparison out;
  for (const auto& [kind, members] : kinds) {
    if (members.size() < limits.like_hosts) {
      out.alone += members.size();
      continue;
    }
    out.compared += members.size();
    std::vector<double> rates;
    for (const std::size_t member : members)
      rates.push_back(trials[member].rate);
    const std::vector<double> z = robust_z(rates, limits.least_spread);
    for (std::size_t i = 0; i < members.size(); ++i)
      if (z[i] < -limits.outlier_z) out.outliers.push_back({members[i], median_of(rates)});
  }
  return out;
}

}  // namespace weir::preflight
