#include "ops/inspect/show.h"

#include <algorithm>

#include "diagnose/core/convention.h"

namespace weir::ops {
namespace {

ShownHost held_against(const evidence::Evidence& host, const design::Intent& convention) {
  ShownHost out;
  for (const evidence::Nic& nic : host.nics) {
    out.wrong.emplace_back();
    if (nic.link_layer.is(evidence::LinkLayer::kInfiniband)) continue;  // no convention there
    for (evidence::Deviation& deviation :
         evidence::deviations(nic, diagnose::conventional_nic(nic), convention)) {
      if (!deviation.missing) {
        out.wrong.back().push_back(std::move(deviation));
      } else if (!evidence::cannot_be_wrong(deviation, nic)) {
        ++out.unread;
      }
    }
  }
  return out;
}

}  // namespace

std::size_t Shown::wrong_nics() const {
  std::size_t count = 0;
  for (const ShownHost& host : hosts)
    count += static_cast<std::size_t>(std::count_if(host.wrong.begin(), host.wrong.end(),
                                                    [](const auto& nic) { return !nic.empty(); }));
  return count;
}

std::size_t Shown::unread() const {
  std::size_t count = 0;
  for (const ShownHost& host : hosts)
    count += host.unread;
  return count;
}

Result<Shown> show(const Source& source) {
  WEIR_TRY(set, open_hosts(source));
  set.with_switches = false;
  WEIR_TRY(seen, observe_some(set));
  const design::Intent convention = diagnose::conventional_intent(seen.hosts);
  Shown shown;
  for (const evidence::Evidence& host : seen.hosts)
    shown.hosts.push_back(held_against(host, convention));
  shown.seen = std::move(seen);
  return shown;
}

}  // namespace weir::ops
