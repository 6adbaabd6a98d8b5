#include "host/linux/counters.h"

#include <array>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "counters/catalog.h"
#include "host/linux/ethtool.h"
#include "host/linux/machine_counters.h"

namespace weir::host {

using counters::Place;
using counters::Reading;
using counters::Sample;

namespace {

class Collector {
 public:
  Collector(Kernel& kernel, const RdmaPort& port)
      : kernel_(kernel),
        driver_(port.driver.is_known() ? counters::driver_of(*port.driver)
                                       : counters::Driver::kAny) {}

  void take_folder(Place place, const std::string& folder);
  void take_files(Place place, const std::string& folder, std::span<const std::string_view> names);
  void take_statistics(const std::string& netdev);
  /// By rtnetlink; from files where that does not answer.
  void take_link(const std::string& net_folder);
  [[nodiscard]] std::vector<Sample>& samples() { return samples_; }

 private:
  /// A refusal is not an absence: the names that belong here could not be read.
  void take_refusal(Place place, Errno error);

  Kernel& kernel_;
  counters::Driver driver_;
  std::vector<Sample> samples_;
};

void Collector::take_refusal(Place place, Errno error) {
  const Reading reading = counters::reading_from_errno(error.number);
  if (reading.why() == counters::Missing::kAbsent) return;
  if (reading.why() == counters::Missing::kUnsupported) return;
  for (const counters::Counter& counter : counters::catalog()) {
    for (const counters::RawName& name : counters::names_of(counter)) {
      if (name.place != place || (name.driver != driver_ && name.driver != counters::Driver::kAny))
        continue;
      const bool per_priority = counter.per == counters::Per::kPriority;
      if (name.pattern.find('#') == std::string_view::npos) {
        samples_.push_back({place, std::string(name.pattern), reading});
      } else if (per_priority) {
        for (unsigned priority = 0; priority < 8; ++priority)
          samples_.push_back({place, counters::spell(name, priority), reading});
      }
    }
  }
}

void Collector::take_folder(Place place, const std::string& folder) {
  const auto names = kernel_.list(folder);
  if (!names) return take_refusal(place, names.error());
  samples_.reserve(samples_.size() + names->size());
  for (const std::string& name : *names) {
    const auto content = kernel_.read_file(folder + "/" + name);
    samples_.push_back({place, name,
                        content ? counters::reading_from_text(*content)
                                : counters::reading_from_errno(content.error().number)});
  }
}

void Collector::take_files(Place place, const std::string& folder,
                           std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    const auto content = kernel_.read_file(fmt::format("{}/{}", folder, name));
    if (content.is(ENOENT)) continue;
    samples_.push_back({place, std::string(name),
                        content ? counters::reading_from_text(*content)
                                : counters::reading_from_errno(content.error().number)});
  }
}

void Collector::take_statistics(const std::string& netdev) {
  const auto statistics = read_statistics(kernel_, netdev);
  if (!statistics) return take_refusal(Place::kEthtool, statistics.error());
  samples_.reserve(samples_.size() + statistics->size());
  for (const auto& [name, value] : *statistics)
    samples_.push_back({Place::kEthtool, name, Reading::of(value)});
}

void Collector::take_link(const std::string& net_folder) {
  const auto samples = read_link_statistics(kernel_, net_folder);
  if (!samples) return take_folder(Place::kStatistics, net_folder + "/statistics");
  samples_.insert(samples_.end(), samples->begin(), samples->end());
}

}  // namespace

counters::PortCounters read_counters(Kernel& kernel, const RdmaPort& port,
                                     const Answer<DcbState>& dcb, bool with_machine) {
  static constexpr std::array<std::string_view, 3> kCarrier = {
      "carrier_changes", "carrier_up_count", "carrier_down_count"};
  Collector collector(kernel, port);
  collector.take_folder(Place::kHwCounters, port.port_folder() + "/hw_counters");
  collector.take_folder(Place::kCounters, port.port_folder() + "/counters");
  if (port.netdev.is_known()) {
    collector.take_statistics(*port.netdev);
    collector.take_link(port.net_folder());
    collector.take_files(Place::kNet, port.net_folder(), kCarrier);
    add_dcb_counters(dcb, collector.samples());
  }
  if (with_machine) add_machine_counters(kernel, collector.samples());
  const std::string name =
      port.port == 1 ? port.device : fmt::format("{}/{}", port.device, port.port);
  return {name, port.netdev.is_known() ? *port.netdev : "",
          port.driver.is_known() ? *port.driver : "", std::move(collector.samples())};
}

}  // namespace weir::host
