#include "diagnose/core/join.h"

#include <algorithm>

namespace weir::diagnose {
namespace {

std::int64_t clock_of(const evidence::Evidence& piece) {
  return piece.snapshots.empty() ? 0 : piece.snapshots.back().clock_ns;
}

bool is_same(const evidence::Evidence& a, const evidence::Evidence& b) {
  if (a.provenance.host != b.provenance.host) return false;
  // Without a host it is a fabric: the same where it has a switch in common, or none.
  if (!a.provenance.host.empty() || a.switches.empty() || b.switches.empty()) return true;
  return std::any_of(a.switches.begin(), a.switches.end(), [&](const evidence::Switch& device) {
    return b.find_switch(device.name) != nullptr;
  });
}

void add(evidence::Evidence& to, evidence::Evidence piece) {
  std::vector<counters::Snapshot> snapshots = std::move(to.snapshots);
  std::move(piece.snapshots.begin(), piece.snapshots.end(), std::back_inserter(snapshots));
  std::stable_sort(snapshots.begin(), snapshots.end(),
                   [](const counters::Snapshot& a, const counters::Snapshot& b) {
                     return a.clock_ns < b.clock_ns;
                   });
  to = std::move(piece);
  to.snapshots = std::move(snapshots);
}

}  // namespace

std::vector<evidence::Evidence> join_windows(std::vector<evidence::Evidence> pieces) {
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const evidence::Evidence& a, const evidence::Evidence& b) {
                     return clock_of(a) < clock_of(b);
                   });
  std::vector<evidence::Evidence> out;
  for (evidence::Evidence& piece : pieces) {
    const auto at = std::find_if(out.begin(), out.end(), [&](const evidence::Evidence& known) {
      return is_same(known, piece);
    });
    if (at == out.end()) {
      out.push_back(std::move(piece));
    } else {
      add(*at, std::move(piece));
    }
  }
  return out;
}

}  // namespace weir::diagnose
