#include "ops/preflight/host_moments.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/name_pattern.h"
#include "base/text.h"
#include "ops/preflight/bench.h"

namespace weir::ops {

LoadLooks HostMoments::looks(When when) const {
  LoadLooks out;
  out.when = when;
  out.nic = [this](std::uint32_t host, std::uint32_t rail) -> std::optional<LookedNic> {
    const evidence::Evidence* const seen = bench_.last_seen(host);
    const evidence::Nic* const nic =
        seen == nullptr ? nullptr : seen->find_nic(bench_.host(host).nics.at(rail).device);
    if (nic == nullptr) return std::nullopt;
    return LookedNic{.device = nic->device,
                     .port = nic->port,
                     .netdev = nic->netdev.is_known() ? *nic->netdev : "",
                     .driver = nic->driver.is_known() ? *nic->driver : ""};
  };
  return out;
}

void HostMoments::add(const LoadLooks& looks) {
  const finding::Thresholds& limits = bench_.request().thresholds;
  for (const auto& [nic, seen] : looks.seen) {
    const auto line = bench_.line_rate(bench_.host(nic.first).nics.at(nic.second));
    const preflight::NicMoments moments =
        preflight::moments_of(seen, static_cast<double>(line.raw()), limits);
    switch (moments.seen) {
      case preflight::Seen::kNoBytes: gathered_.silent.insert(nic); break;
      case preflight::Seen::kCoarse: gathered_.coarse.insert(nic); break;
      case preflight::Seen::kMoments:
        gathered_.found += moments.found;
        gathered_.intervals.push_back(moments.interval);
        if (moments.found.slow > 0) gathered_.slow[nic] += moments.found.slow;
        break;
    }
  }
}

void HostMoments::add_tail(const Flow& flow, double seconds, const LoadLooks& looks) {
  const auto acted = [&](std::uint32_t host) -> preflight::Acted {
    const auto seen = looks.seen.find({host, flow.rail});
    if (seen == looks.seen.end() || seen->second.size() < 2) return {};
    return preflight::acted_between(seen->second.front(), seen->second.back());
  };
  if (seconds <= 0) return;
  gathered_.tail_rates.push_back(1 / seconds);
  preflight::add_moment(preflight::acted_at(acted(flow.from), acted(flow.to)),
                        gathered_.tail_control);
}

std::string HostMoments::nic_text(const NicKey& nic) const {
  return fmt::format("{} rail {}", bench_.name(nic.first),
                     bench_.host(nic.first).nics.at(nic.second).rail);
}

std::string HostMoments::hosts_of(const std::set<NicKey>& nics) const {
  std::vector<std::string> names;
  for (const NicKey& nic : nics)
    if (names.empty() || names.back() != bench_.name(nic.first))
      names.push_back(bench_.name(nic.first));
  return compact_names(names);
}

std::vector<std::string> HostMoments::take() {
  const Gathered all = std::exchange(gathered_, {});
  const double share = bench_.request().thresholds.slow_moment;
  std::vector<std::string> out;
  constexpr double kMilliseconds = 1000;
  if (all.found.samples > 0) {
    std::string text = preflight::line_up_text(
        all.found, fmt::format("moments of {:.0f} ms moved less than {} of their NIC's median rate",
                               preflight::median_of(all.intervals) * kMilliseconds,
                               preflight::slow_share_text(share)));
    const auto most =
        std::max_element(all.slow.begin(), all.slow.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != all.slow.end())
      text += fmt::format("; most at {}, {}", nic_text(most->first), most->second);
    out.push_back(std::move(text));
  }
  if (!all.silent.empty())
    out.push_back(
        fmt::format("slow moments are not known of {}: no bytes could be read of {} while "
                    "the load ran, or too few times",
                    hosts_of(all.silent), counted(all.silent.size(), "NIC")));
  if (!all.coarse.empty())
    out.push_back(
        fmt::format("slow moments are not known of {}: {} counted in jumps, not as data "
                    "moved",
                    hosts_of(all.coarse), counted(all.coarse.size(), "NIC")));
  constexpr std::size_t kFewest = 5;  // fewer have no median worth the name
  if (all.tail_rates.size() >= kFewest)
    out.push_back(preflight::line_up_text(
        preflight::line_up(all.tail_rates, all.tail_control, share),
        fmt::format("pairs had a p99 of small messages above {:g} times the median pair's",
                    1 / share)));
  return out;
}

}  // namespace weir::ops
