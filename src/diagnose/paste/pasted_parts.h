#pragma once
// What the halves of pasted.h share. Internal to this folder.
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/paste/pasted.h"

namespace weir::diagnose {

/// "gpu01 eth2", "gpu01".
[[nodiscard]] std::string place_of(const std::string& host, const std::string& device);
[[nodiscard]] finding::EvidenceLine line_of(const readers::Cited& at);
[[nodiscard]] finding::Where where_of(const std::string& host, const std::string& device);

/// "spine" of "spine-2", "leaf" of "dc1-leaf-07": what a switch is, by its name; may be empty.
[[nodiscard]] std::string tier_in(std::string_view name);

/// All that the text says RDMA is marked with: by the ports, the job, or RDMA-CM.
[[nodiscard]] std::vector<Dscp> dscps_said(const PastedCase& input);

/// Speeds, addresses and routes of hosts; neighbours; code points and queues of switches.
void judge_seen(const PastedCase& input, finding::Judgement& out);

/// Ports of one piece of a configuration of which one lacks what its sisters have.
void judge_config_pieces(const PastedCase& input, finding::Judgement& out);

}  // namespace weir::diagnose
