#include "counters/snapshot.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace weir::counters {
namespace {

constexpr std::uint64_t kAllOnes = std::numeric_limits<std::uint64_t>::max();

bool comes_before(const Sample& a, const Sample& b) {
  return std::tie(a.place, a.name) < std::tie(b.place, b.name);
}

bool is_same_name(const Sample& a, const Sample& b) {
  return a.place == b.place && a.name == b.name;
}

}  // namespace

std::string ShownSample::key() const {
  return std::string(to_text(place)) + "/" + std::string(name);
}

std::vector<Sample> Samples::copy() const {
  std::vector<Sample> out;
  out.reserve(size());
  for (const ShownSample& sample : *this)
    out.push_back(sample.copy());
  return out;
}

PortCounters::PortCounters() : layout_(std::make_shared<const Layout>()) {}

PortCounters::PortCounters(std::string device, std::string netdev, std::string driver,
                           std::vector<Sample> samples)
    : device_(std::move(device)), netdev_(std::move(netdev)), driver_(std::move(driver)) {
  std::stable_sort(samples.begin(), samples.end(), comes_before);
  samples.erase(std::unique(samples.begin(), samples.end(), is_same_name), samples.end());
  const Driver family = driver_of(driver_);
  std::vector<ShownName> names;
  names.reserve(samples.size());
  readings_.reserve(samples.size());
  for (Sample& sample : samples) {
    const Match match = find_raw(family, sample.place, sample.name);
    names.push_back({sample.place, std::move(sample.name), match});
    readings_.push_back(sample.reading);
  }
  layout_ = std::make_shared<const Layout>(std::move(names));
  drop_invalid();
}

PortCounters::PortCounters(std::string device, std::string netdev, std::string driver,
                           SharedLayout layout, std::vector<Reading> readings)
    : device_(std::move(device)),
      netdev_(std::move(netdev)),
      driver_(std::move(driver)),
      layout_(std::move(layout)),
      readings_(std::move(readings)) {
  WEIR_CHECK(layout_ != nullptr && layout_->size() == readings_.size());
  drop_invalid();
}

PortCounters PortCounters::with(std::vector<Reading> readings) const {
  return {device_, netdev_, driver_, layout_, std::move(readings)};
}

void PortCounters::drop_invalid() {
  for (std::size_t i = 0; i < readings_.size(); ++i) {
    const Match& match = (*layout_)[i].match;
    if (readings_[i] == Reading::of(kAllOnes) && match && match.name->maximum_is_invalid)
      readings_[i] = Reading::missing(Missing::kUnsupported);
  }
}

Reading PortCounters::read(Place place, std::string_view name) const {
  const auto at = layout_->find(place, name);
  return at ? readings_[*at] : Reading::missing(Missing::kAbsent);
}

Reading PortCounters::read(std::string_view id, std::optional<unsigned> number) const {
  Reading answer = Reading::missing(Missing::kAbsent);
  for (const std::uint32_t at : layout_->find(id, number)) {
    const Reading reading = readings_[at];
    if (reading.has_value()) return Reading::of(reading.value() * (*layout_)[at].match.name->scale);
    if (answer.why() == Missing::kAbsent) answer = reading;
  }
  return answer;
}

bool operator==(const PortCounters& a, const PortCounters& b) {
  return a.device_ == b.device_ && a.netdev_ == b.netdev_ && a.driver_ == b.driver_ &&
         a.readings_ == b.readings_ && a.layout_->has_same_names(*b.layout_);
}

}  // namespace weir::counters
