#include "diagnose/validate/switch_buffers.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "evidence/as_set.h"
#include "model/headroom.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

using evidence::GroupBuffer;
using evidence::Pool;
using evidence::PoolKind;

const Pool* pool_named(const std::vector<Pool>& pools, std::string_view name) {
  const auto at =
      std::find_if(pools.begin(), pools.end(), [&](const Pool& pool) { return pool.name == name; });
  return at == pools.end() ? nullptr : &*at;
}

/// Junos refuses a commit whose ingress partitions are not 100 % in sum; on newer QFX egress must
/// repeat them.
void check_shares(const std::vector<Pool>& pools, const Wrong& wrong) {
  Share sum;
  for (const Pool& pool : pools)
    if (pool.name.starts_with("ingress ")) sum += pool.share;
  if (sum.raw() == 0) return;
  if (sum != 100_percent)
    wrong("buffer.pools_over_100", "",
          fmt::format("ingress partitions: expected a sum of 100%, found {}", to_text(sum)));
  for (const std::string_view kind : {"lossless", "lossy"}) {
    const Pool* const in = pool_named(pools, fmt::format("ingress {}", kind));
    const Pool* const out = pool_named(pools, fmt::format("egress {}", kind));
    if (in != nullptr && out != nullptr && in->share != out->share)
      wrong("buffer.pools_over_100", "",
            fmt::format("{} partition at egress: expected {} as at ingress, found {}", kind,
                        to_text(in->share), to_text(out->share)));
  }
}

/// Lengths that some published lookup table has for a speed.
std::vector<Length> published_rows(BitRate speed) {
  std::vector<Length> rows;
  for (const model::HeadroomModelInfo& model : model::headroom_models())
    for (const model::HeadroomRow& row : model::headroom_rows(model.model))
      if (row.cable && row.speed == speed) rows.push_back(*row.cable);
  if (rows.empty()) rows = {5_m, 40_m, 300_m};
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

/// SONiC, traditional buffer model: without a row for speed and cable there is no lossless group.
void check_lookup(const evidence::SwitchPort& port, const GroupBuffer& group,
                  const design::SwitchPortIntent& intent, const Wrong& wrong) {
  if (!group.headroom_auto.is(true) || group.headroom.is_known() || !port.cable_length.is_known())
    return;
  const std::vector<Length> rows =
      published_rows(port.speed.is_known() ? *port.speed : intent.speed);
  if (std::find(rows.begin(), rows.end(), *port.cable_length) != rows.end()) return;
  std::vector<std::string> names;
  for (const Length row : rows)
    names.push_back(to_text(row));
  wrong("headroom.too_small", port.name,
        fmt::format("cable length: expected one with a row in pg_profile_lookup.ini ({}), found "
                    "{}: the port gets no lossless group",
                    fmt::join(names, ", "), to_text(*port.cable_length)));
}

void check_percent_thresholds(const evidence::Switch& found, const evidence::SwitchPort& port,
                              const evidence::EgressQueue& queue,
                              const design::SwitchIntent& wanted,
                              const design::SwitchPortIntent& intent, const Wrong& wrong) {
  const auto whole = evidence::largest_queue(found, queue, wanted.buffers.total);
  if (!whole || !intent.wred.ecn || !queue.ecn.is(true)) return;
  // The system sets whole percents: one step is not a fault.
  const Bytes step = *whole / 100;
  const auto compare = [&](std::string_view what, const evidence::Fact<Share>& share, Bytes want) {
    if (!share.is_known()) return true;
    const Bytes is = share_of(*whole, *share);
    if (is <= want + step && is + step >= want) return true;
    wrong(is < want ? "ecn.thresholds_too_low" : "ecn.thresholds_too_high", port.name,
          fmt::format("{}: expected {}, found {} ({} of a queue of {})", what, approximate(want),
                      approximate(is), to_text(*share), approximate(*whole)));
    return false;
  };
  if (compare("ECN min threshold", queue.ecn_min_share, intent.wred.min))
    (void)compare("ECN max threshold", queue.ecn_max_share, intent.wred.max);
}

}  // namespace

void check_partitions(const evidence::Switch& found, const design::SwitchIntent& wanted,
                      const Wrong& wrong) {
  if (!found.pools.is_known()) return;
  if (found.platform.is(std::string(vocab::names_of(vocab::SwitchSystem::kJunos).name)))
    check_shares(*found.pools, wrong);
  const Bytes total = wanted.buffers.total;
  for (const Pool& pool : *found.pools) {
    if (pool.kind != PoolKind::kHeadroom) continue;
    const bool is_share = pool.share.raw() != 0;
    const Bytes is = is_share ? share_of(total, pool.share) : pool.size;
    // A value in percent may be rounded down by one percent.
    const Bytes least = wanted.buffers.headroom_pool - (is_share ? total / 100 : 0_B);
    if (is < least)
      wrong("headroom.too_small", "",
            fmt::format("headroom of all ports: expected {}, found {}",
                        approximate(wanted.buffers.headroom_pool), approximate(is)));
  }
}

void check_port_buffers(const evidence::Switch& found, const evidence::SwitchPort& port,
                        const design::SwitchIntent& wanted, const design::SwitchPortIntent& intent,
                        const Wrong& wrong) {
  const bool is_looked_up = found.buffer_model.is("traditional");
  for (std::size_t i = 0; i < port.groups.size(); ++i) {
    const GroupBuffer& group = port.groups[i];
    if (is_looked_up) check_lookup(port, group, intent, wrong);
    const bool is_second =
        std::any_of(port.groups.begin(), port.groups.begin() + static_cast<std::ptrdiff_t>(i),
                    [&](const GroupBuffer& other) { return other.group == group.group; });
    if (is_second)
      wrong("config.differs", port.name,
            fmt::format("priority group {}: expected one buffer profile, found two overlapping "
                        "rows: it is undefined which one applies",
                        group.group.value()));
  }
  for (unsigned p = 0; p < Priority::kLimit; ++p) {
    if (!wanted.lossless.contains(Priority::of(p))) continue;
    for (const evidence::EgressQueue& queue : port.queues)
      if (queue.queue == wanted.priority_to_queue.at(p))
        check_percent_thresholds(found, port, queue, wanted, intent, wrong);
  }
}

}  // namespace weir::diagnose
