#pragma once
// What a NIC must move with the memory of its nearest GPU, alone with itself. Where both sit below
// one PCIe switch a floor follows from the line and the GPU's PCIe link; elsewhere the data pass
// the CPU's root complex, of which no floor is known, and NICs with the same hardware are compared
// with each other. Pure.
#include <optional>
#include <string>
#include <vector>

#include "evidence/evidence.h"
#include "finding/thresholds.h"
#include "units/quantity.h"

namespace weir::preflight {

/// Bits per second of payload that the link carries one way at its best speed and width, however it
/// is trained now: that a link is degraded shows below the floor. None: the host does not show it.
[[nodiscard]] std::optional<double> pcie_rate(const evidence::Pcie& pcie);

/// What a NIC moved with its GPU.
struct GpuTrial {
  double line_rate = 0;                             // bit/s
  double rate = 0;                                  // bit/s; 0: it did not finish
  std::optional<evidence::Distance> distance = {};  // of NIC and GPU
  std::optional<double> gpu_link = {};              // pcie_rate()
  std::string model = {};                           // of the GPU
};

/// `share` of the slower of both links, below one PCIe switch (PIX, PXB); none elsewhere.
[[nodiscard]] std::optional<double> gpu_floor(const GpuTrial& trial, double share);

/// Which trials without a floor are outliers among those with the same line, distance and GPU, and
/// what the median of those moved. Fewer than `like_hosts` of a kind are not compared.
struct GpuOutlier {
  std::size_t trial = 0;
  double median = 0;
};
struct GpuComparison {
  std::vector<GpuOutlier> outliers;
  std::size_t compared = 0;
  std::size_t alone = 0;  // neither a floor nor enough like it
};
[[nodiscard]] GpuComparison compare_gpu_trials(const std::vector<GpuTrial>& trials,
                                               const finding::Thresholds& limits);

}  // namespace weir::preflight
