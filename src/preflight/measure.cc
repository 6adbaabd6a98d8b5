#include "preflight/measure.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "model/roce_wire.h"
#include "units/format.h"
#include "units/rate_text.h"

namespace weir::preflight {
namespace {

double at_rank(const std::vector<double>& sorted, double share) {
  const auto count = static_cast<double>(sorted.size());
  const auto rank = static_cast<std::size_t>(std::ceil(share * count));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

}  // namespace

std::string_view to_text(Better better) {
  return better == Better::kMore ? "more" : "less";
}

Distribution distribution_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {.count = values.size(),
          .least = values.front(),
          .p50 = at_rank(values, 0.5),
          .p95 = at_rank(values, 0.95),
          .p99 = at_rank(values, 0.99),
          .p999 = at_rank(values, 0.999),
          .most = values.back()};
}

std::string value_text(const Measure& measure, double value) {
  constexpr double kPicosecondsPerSecond = 1e12;
  if (measure.unit == "bit/s") return rate_text(value);
  if (measure.unit == "s")
    return approximate(Duration::raw(std::llround(value * kPicosecondsPerSecond)));
  return fmt::format("{:.3f}", value);
}

BitRate pair_floor(const design::NicIntent& from, const design::NicIntent& to, double share) {
  const BitRate line = std::min(from.speed, to.speed);
  const Bytes payload = std::min(from.rdma_mtu, to.rdma_mtu);
  const bool is_ipv6 = from.address.find(':') != std::string::npos;
  const model::RoceEncapsulation around = {
      .ip = is_ipv6 ? model::IpVersion::kIpv6 : model::IpVersion::kIpv4, .vlan = from.vlan > 0};
  const double ceiling = model::goodput_ceiling(payload, around);
  return BitRate::raw(std::llround(static_cast<double>(line.raw()) * ceiling * share));
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::vector<double> robust_z(const std::vector<double>& values, double least_spread) {
  constexpr double kNormal = 0.6745;  // the MAD of a normal distribution, in deviations
  const double middle = median_of(values);
  std::vector<double> distances;
  distances.reserve(values.size());
  for (const double value : values)
    distances.push_back(std::abs(value - middle));
  const double spread = std::max({median_of(distances), least_spread * std::abs(middle), 1e-12});
  std::vector<double> out;
  out.reserve(values.size());
  for (const double value : values)
    out.push_back(kNormal * (value - middle) / spread);
  return out;
}

double jain_index(const std::vector<double>& values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  double squares = 0;
  for (const double value : values)
    squares += value * value;
  if (squares <= 0) return 1;
  return sum * sum / (static_cast<double>(values.size()) * squares);
}

LineUp line_up(const std::vector<double>& rates, const FlowControl& control, double slow_moment) {
  std::vector<double> moving;
  std::copy_if(rates.begin(), rates.end(), std::back_inserter(moving),
               [](double rate) { return rate > 0; });
  LineUp out{.samples = moving.size()};
  const double limit = median_of(moving) * slow_moment;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    if (rates[i] <= 0 || rates[i] >= limit) continue;
    ++out.slow;
    const auto acted = [i](const std::vector<double>& counts) {
      return i < counts.size() && counts[i] > 0 ? 1U : 0U;
    };
    out.with_pauses += acted(control.pauses);
    out.with_cnps += acted(control.cnps);
    out.with_marks += acted(control.marks);
  }
  return out;
}

}  // namespace weir::preflight
