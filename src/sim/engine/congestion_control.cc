#include "sim/engine/congestion_control.h"

#include <algorithm>

#include "sim/fabric/network.h"

namespace weir::sim {

// Each in the file of its algorithm.
std::unique_ptr<CongestionControl> make_dcqcn(const NicConfig& nic);

namespace {

/// A NIC that reacts to nothing: the line rate, or the limit that the NIC is set to.
class FixedRate final : public CongestionControl {
 public:
  explicit FixedRate(std::int64_t limit) : limit_(limit) {}
  void start(std::int64_t line, std::int64_t initial) override {
    rate_ = limit_ > 0 ? std::min(limit_, line) : line;
    if (initial > 0) rate_ = std::min(initial, rate_);
  }
  void on_cnp(std::int64_t) override {}

 private:
  void advance(std::int64_t) override {}
  std::int64_t limit_;
};

std::unique_ptr<CongestionControl> make_fixed_rate(const NicConfig& nic) {
  return std::make_unique<FixedRate>(nic.dcqcn.max_rate);
}

constexpr CongestionAlgorithm kAlgorithms[] = {
    {"none", make_fixed_rate},
    {"dcqcn", make_dcqcn},
};

}  // namespace

const CongestionAlgorithm* find_congestion_algorithm(std::string_view name) {
  for (const CongestionAlgorithm& algorithm : kAlgorithms)
    if (algorithm.name == name) return &algorithm;
  return nullptr;
}

}  // namespace weir::sim
