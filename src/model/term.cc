#include "model/term.h"

#include <cmath>
#include <utility>

namespace weir::model {
namespace {
constexpr double kNoise = 1e-6;  // bytes; far above the rounding of doubles, far below a bit
}

void TermSum::add(std::string name, double bytes, std::string why) {
  exact_ += bytes;
  const Bytes rounded = Bytes::raw(static_cast<std::int64_t>(std::ceil(exact_ - kNoise)));
  terms_.push_back({std::move(name), rounded - total_, std::move(why)});
  total_ = rounded;
}

void TermSum::close(Bytes total, std::string name, std::string why) {
  if (total == total_) return;
  terms_.push_back({std::move(name), total - total_, std::move(why)});
  total_ = total;
  exact_ = static_cast<double>(total.raw());
}

}  // namespace weir::model
