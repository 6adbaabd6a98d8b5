#include "evidence/gaps.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "evidence/fields.h"

namespace weir::evidence {

namespace {

std::string how_to_get(Missing why, const std::string& source) {
  if (why == Missing::kPermission) {
    return source.empty() ? "run weir as root"
                          : fmt::format("run weir as root: {} is not open to others", source);
  }
  return source.empty() ? "try again, and look at dmesg"
                        : fmt::format("read {} by hand, and look at dmesg", source);
}

/// Visits every fact of a device and keeps those that could be had.
class GapCollector {
 public:
  explicit GapCollector(std::vector<Gap>& gaps) : gaps_(gaps) {}
  void set_place(std::string where) { where_ = std::move(where); }

  template <class T>
  void field(std::string_view /*key*/, T& /*value*/, std::string_view /*meaning*/) {}
  template <class T>
  void fact(std::string_view key, T& fact, std::string_view /*meaning*/) {
    if (fact.is_missing()) add(prefix_ + std::string(key), fact.why(), fact.source());
  }
  template <class T>
  void section(std::string_view key, T& value, std::string_view /*meaning*/) {
    const std::string before = prefix_;
    prefix_ += std::string(key) + ".";
    visit(*this, value);
    prefix_ = before;
  }
  template <class T>
  void list(std::string_view /*key*/, T& /*values*/, std::string_view /*meaning*/) {}

  void add(const std::string& what, Missing why, const std::string& source) {
    if (why != Missing::kPermission && why != Missing::kError) return;
    const std::string how = how_to_get(why, source);
    const auto same = std::find_if(gaps_.begin(), gaps_.end(), [&](const Gap& gap) {
      return gap.where == where_ && gap.why == why && gap.how == how;
    });
    if (same == gaps_.end()) {
      gaps_.push_back({what, where_, why, how});
    } else {
      same->what += ", " + what;
    }
  }

 private:
  std::vector<Gap>& gaps_;
  std::string where_;
  std::string prefix_;
};

/// Counters by hundreds: one gap per place and reason, with how many.
void add_counter_gaps(const counters::PortCounters& port, GapCollector& collector) {
  for (const Missing why : {Missing::kPermission, Missing::kError}) {
    std::vector<std::pair<counters::Place, std::size_t>> counts;
    for (const counters::ShownSample& sample : port.samples()) {
      if (sample.reading.has_value() || sample.reading.why() != why) continue;
      if (counts.empty() || counts.back().first != sample.place)
        counts.emplace_back(sample.place, 0);
      ++counts.back().second;
    }
    for (const auto& [place, count] : counts)
      collector.add(fmt::format("{} counters in {}", count, counters::to_text(place)), why,
                    std::string(counters::to_text(place)));
  }
}

}  // namespace

std::vector<Gap> gaps_of(const Evidence& evidence) {
  std::vector<Gap> gaps;
  GapCollector collector(gaps);
  visit(collector, evidence.host);
  for (const Nic& nic : evidence.nics) {
    collector.set_place(nic.device);
    visit(collector, nic);
  }
  for (const Gpu& gpu : evidence.gpus) {
    collector.set_place(fmt::format("GPU {}", gpu.index));
    visit(collector, gpu);
  }
  if (!evidence.snapshots.empty()) {
    for (const counters::PortCounters& port : evidence.snapshots.back().nics) {
      collector.set_place(port.device());
      add_counter_gaps(port, collector);
    }
  }
  return gaps;
}

}  // namespace weir::evidence
