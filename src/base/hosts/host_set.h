#pragma once
// Sets of host names in the syntax of ClusterShell, which Slurm's host lists are a part of.
//
//   gpu[001-128,200]         numbers and ranges, padded as the lower bound is
//   gpu[0-6/2]               a range with a step
//   rack[1-4]n[01-16]        several dimensions: every combination
//   @rack1  @slurm:gpu       a group, by name or by source and name
//   a,b  a b  a!b  a&b  a^b  union (comma or blank), difference, intersection, symmetric
//   difference;
//                            read from left to right, none binds tighter
//
// Every name is one that ssh and a file system may see (untrusted/name_policy.h, kHost). What a
// text can cost is bounded, whatever is in it.
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace weir {

inline constexpr std::size_t kMostHosts = 100'000;

/// The hosts of a group, as the text of a set, which may name groups in turn; an error where there
/// is no such group. The name comes without the '@': "rack1", "slurm:gpu", "*" (all hosts).
using GroupLookup = std::function<Result<std::string>(const std::string& name)>;

/// The names, each once, in the order in which they were first named. An error says what was
/// expected where; without a lookup every group is one. An empty set is an error too.
[[nodiscard]] Result<std::vector<std::string>> parse_host_set(std::string_view text,
                                                              const GroupLookup& groups = {});

/// The same names in few words: "gpu[001-127,200]", "rack[1-4]n[01-16]"; parse_host_set() reads it
/// back. Sorted as people list names, each name once; no names: an empty text.
[[nodiscard]] std::string fold_hosts(std::span<const std::string> names);

}  // namespace weir
