#pragma once
// Which hosts a fleet has: a set in ClusterShell's syntax with its group files, a list in a file,
// an inventory of Ansible or NetBox, or the hosts of the design.
#include <string>
#include <vector>

#include "base/hosts/host_set.h"
#include "finding/finding.h"
#include "ops/source/failure.h"
#include "ops/source/hosts.h"

namespace weir::ops {

/// Where names of hosts come from. The set chooses among all; none: all of the file, the inventory
/// or, where neither is given, of the design.
struct FleetNames {
  std::string set = {};         // "gpu[001-128]!@down"; "@design": the hosts of the design
  std::string hosts_file = {};  // a set on each line; # begins a comment
  std::string inventory = {};   // of Ansible or NetBox: also its groups
  std::string design = {};      // empty: none at hand
  /// ClusterShell's, the later ones first asked; those that are not there are no error.
  std::vector<std::string> group_folders = {};
};

/// Each host once. A failure names the set, file or group that is wrong.
[[nodiscard]] Result<std::vector<host::FleetHost>> find_fleet_hosts(const FleetNames& names);

/// $CLUSTERSHELL_CFGDIR alone where it is set, else /etc/clustershell and the user's own.
[[nodiscard]] std::vector<std::string> usual_group_folders();

/// Hosts with the same answer.
struct FoldedAnswer {
  std::vector<std::string> hosts;
  std::string answer;  // "as designed", "mtu.mismatch mlx5_0, …", "not read: …"
};
/// With those that gave the same answer before, or as the first of its own.
void add_answer(const std::string& host, const std::string& answer,
                std::vector<FoldedAnswer>& folded);
/// Every host of the request, by what was found on it: `good` where that is nothing. The most
/// hosts first.
[[nodiscard]] std::vector<FoldedAnswer> fold_answers(const Observation& seen,
                                                     const finding::Judgement& judgement,
                                                     const std::string& good);

/// "gpu03: why" of many hosts, those with the same reason as one: "gpu[03,07]: why".
[[nodiscard]] std::vector<std::string> fold_reasons(const std::vector<std::string>& unseen);

}  // namespace weir::ops
