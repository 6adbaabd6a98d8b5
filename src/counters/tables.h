#pragma once
// The catalogue's data, one table per file; only catalog.cc and the tests of this folder include
// this.
#include <array>
#include <span>
#include <string_view>

#include "counters/catalog.h"

namespace weir::counters {

/// A name that documents print, and what is meant. `printed` is folded: lower case, every run of
/// other characters one underscore, `#` for a number.
struct Alias {
  std::string_view printed;
  std::string_view id;
  std::string_view word;  // what the real name is, and what the document got wrong
  std::string_view also;  // further ids, separated by blanks
};

/// A counter that follows the workload.
constexpr Counter traffic_of(Side side, std::string_view id, std::string_view meaning,
                             std::string_view rows, Per per = Per::kNothing,
                             std::string_view caveat = {}) {
  return {.id = id,
          .topic = Topic::kTraffic,
          .side = side,
          .per = per,
          .meaning = meaning,
          .normal = "Follows the workload.",
          .climbing = "Traffic flows.",
          .caveat = caveat,
          .rows = rows};
}

/// A counter that is zero on a healthy fabric.
constexpr Counter fault_of(Side side, Topic topic, std::string_view id, std::string_view meaning,
                           std::string_view climbing, std::string_view rows,
                           Per per = Per::kNothing, std::string_view caveat = {}) {
  return {.id = id,
          .topic = topic,
          .side = side,
          .per = per,
          .meaning = meaning,
          .normal = "Zero.",
          .climbing = climbing,
          .caveat = caveat,
          .rows = rows};
}

std::span<const Counter> rdma_meanings();
std::span<const Counter> port_meanings();
std::span<const Counter> vendor_meanings();
std::span<const Counter> switch_meanings();

// Raw names, one table per driver; a new driver adds its table here and to name_tables().
std::span<const RawName> common_names();
std::span<const RawName> mlx5_names();
std::span<const RawName> bnxt_names();
std::span<const RawName> irdma_names();
std::span<const RawName> ionic_names();
std::span<const RawName> rxe_names();
std::span<const RawName> switch_names();
inline auto name_tables() {
  return std::array{common_names(), mlx5_names(), bnxt_names(),  irdma_names(),
                    ionic_names(),  rxe_names(),  switch_names()};
}

std::span<const Alias> aliases();

}  // namespace weir::counters
