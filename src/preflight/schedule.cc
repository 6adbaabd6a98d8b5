#include "preflight/schedule.h"

#include <numeric>

namespace weir::preflight {

std::vector<Round> circle_rounds(std::uint32_t hosts) {
  if (hosts < 2) return {};
  const std::uint32_t seats = hosts + hosts % 2;  // an odd one out meets an empty seat, and rests
  std::vector<std::uint32_t> circle(seats);
  std::iota(circle.begin(), circle.end(), 0U);
  std::vector<Round> rounds;
  rounds.reserve(seats - 1);
  for (std::uint32_t turn = 0; turn + 1 < seats; ++turn) {
    Round round;
    for (std::uint32_t i = 0; i < seats / 2; ++i) {
      const std::uint32_t one_side = circle[i];
      const std::uint32_t other_side = circle[seats - 1 - i];
      if (one_side < hosts && other_side < hosts) round.push_back({one_side, other_side});
    }
    rounds.push_back(std::move(round));
    // The first stays, the others move on by one.
    const std::uint32_t last = circle.back();
    for (std::uint32_t i = seats - 1; i > 1; --i)
      circle[i] = circle[i - 1];
    circle[1] = last;
  }
  return rounds;
}

std::vector<Round> rounds_for(std::uint32_t hosts, bool is_quick) {
  std::vector<Round> all = circle_rounds(hosts);
  std::uint32_t wanted =
      hosts > kAllPairsHosts ? kSampledRounds : static_cast<std::uint32_t>(all.size());
  if (is_quick) wanted = std::min(wanted, kQuickRounds);
  if (wanted >= all.size()) return all;
  std::vector<Round> chosen;
  for (std::uint32_t i = 0; i < wanted; ++i)
    chosen.push_back(std::move(all[std::size_t{i} * all.size() / wanted]));
  return chosen;
}

std::vector<std::uint32_t> growth(std::uint32_t hosts) {
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t size = 2; size < hosts; size *= 2)
    sizes.push_back(size);
  return sizes;
}

}  // namespace weir::preflight
