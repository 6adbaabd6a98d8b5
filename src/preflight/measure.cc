#include "preflight/measure.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/text.h"
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

LineUp& LineUp::operator+=(const LineUp& other) {
  samples += other.samples;
  slow += other.slow;
  with_pauses += other.with_pauses;
  with_cnps += other.with_cnps;
  with_marks += other.with_marks;
  with_drops += other.with_drops;
  unseen_pauses += other.unseen_pauses;
  unseen_cnps += other.unseen_cnps;
  unseen_marks += other.unseen_marks;
  return *this;
}

LineUp line_up(const std::vector<double>& rates, const FlowControl& control, double slow_moment) {
  std::vector<double> moving;
  std::copy_if(rates.begin(), rates.end(), std::back_inserter(moving),
               [](double rate) { return rate > 0; });
  if (moving.empty()) return {};
  const auto moves = [](double rate) { return rate > 0; };
  const auto first = std::find_if(rates.begin(), rates.end(), moves) - rates.begin();
  const auto last = rates.rend() - std::find_if(rates.rbegin(), rates.rend(), moves);
  LineUp out{.samples = static_cast<std::size_t>(last - first)};
  const double limit = median_of(moving) * slow_moment;
  for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
    if (rates[i] >= limit) continue;
    ++out.slow;
    const auto add = [i](const FlowControl::Counts& counts, std::size_t& with,
                         std::size_t& unseen) {
      const std::optional<double> count = i < counts.size() ? counts[i] : std::nullopt;
      with += count.value_or(0) > 0 ? 1U : 0U;
      unseen += count ? 0U : 1U;
    };
    std::size_t unseen_drops = 0;  // drops are given where there were some
    add(control.pauses, out.with_pauses, out.unseen_pauses);
    add(control.cnps, out.with_cnps, out.unseen_cnps);
    add(control.marks, out.with_marks, out.unseen_marks);
    add(control.drops, out.with_drops, unseen_drops);
  }
  return out;
}

std::string slow_share_text(double slow_moment) {
  return slow_moment == 0.5 ? "half" : fmt::format("{:g} %", slow_moment * 100);
}

std::string line_up_text(const LineUp& found, std::string_view what) {
  struct Kind {
    std::string_view name;
    std::size_t with = 0;
    std::size_t unseen = 0;
  };
  std::vector<std::string> counted;
  std::vector<std::string> unseen;
  for (const Kind& kind :
       {Kind{"pauses", found.with_pauses, found.unseen_pauses},
        Kind{"marks", found.with_marks, found.unseen_marks},
        Kind{"CNPs", found.with_cnps, found.unseen_cnps}, Kind{"drops", found.with_drops, 0}}) {
    if (kind.name == "drops" && kind.with == 0) continue;
    if (kind.unseen > 0 && kind.unseen == found.slow) {
      unseen.emplace_back(kind.name);
      continue;
    }
    const std::string_view of_these = counted.empty() ? " of these coincide" : "";
    counted.push_back(kind.unseen == 0
                          ? fmt::format("{}{} with {}", kind.with, of_these, kind.name)
                          : fmt::format("{}{} with {} (counted in {} of them)", kind.with, of_these,
                                        kind.name, found.slow - kind.unseen));
  }
  std::string out = fmt::format("{} of {} {}", found.slow, found.samples, what);
  if (!counted.empty()) out += fmt::format("; {}", join(counted, ", "));
  if (!unseen.empty()) out += fmt::format("; not counted: {}", join(unseen, ", "));
  return out;
}

}  // namespace weir::preflight
