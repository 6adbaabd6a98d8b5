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

std::string Sample::key() const {
  return std::string(to_text(place)) + "/" + name;
}

PortCounters::PortCounters(std::string device, std::string netdev, std::string driver,
                           std::vector<Sample> samples)
    : device_(std::move(device)),
      netdev_(std::move(netdev)),
      driver_(std::move(driver)),
      samples_(std::move(samples)) {
  std::stable_sort(samples_.begin(), samples_.end(), comes_before);
  samples_.erase(std::unique(samples_.begin(), samples_.end(), is_same_name), samples_.end());
  const Driver family = driver_of(driver_);
  for (Sample& sample : samples_) {
    sample.match = find_raw(family, sample.place, sample.name);
    if (sample.match && sample.match.name->maximum_is_invalid &&
        sample.reading == Reading::of(kAllOnes))
      sample.reading = Reading::missing(Missing::kUnsupported);
  }
}

const Sample* PortCounters::find(Place place, std::string_view name) const {
  const auto at = std::lower_bound(samples_.begin(), samples_.end(), std::tie(place, name),
                                   [](const Sample& sample, const auto& key) {
                                     return std::tuple<Place, std::string_view>(sample.place,
                                                                                sample.name) < key;
                                   });
  if (at == samples_.end() || at->place != place || at->name != name) return nullptr;
  return &*at;
}

Reading PortCounters::read(Place place, std::string_view name) const {
  const Sample* sample = find(place, name);
  return sample != nullptr ? sample->reading : Reading::missing(Missing::kAbsent);
}

Reading PortCounters::read(std::string_view id, std::optional<unsigned> number) const {
  Reading answer = Reading::missing(Missing::kAbsent);
  for (const Sample& sample : samples_) {
    if (!sample.match || sample.match.counter->id != id || sample.match.number != number) continue;
    if (sample.reading.has_value())
      return Reading::of(sample.reading.value() * sample.match.name->scale);
    if (answer.why() == Missing::kAbsent) answer = sample.reading;
  }
  return answer;
}

}  // namespace weir::counters
