#pragma once
// The MTU of the path to a peer, by probes from this host.
#include <optional>
#include <string>
#include <vector>

#include "diagnose/behaviour/path_mtu.h"
#include "host/probe/probe_mtu.h"
#include "host/probe/probe_socket.h"
#include "ops/source/failure.h"
#include "units/qos_code.h"

namespace weir::ops {

struct ProbeRequest {
  std::string peer;
  int family = 0;                     // 4 or 6; 0: as the name resolves
  std::optional<std::uint32_t> size;  // the largest packet to try; none: the interface's MTU
  Duration wait = 300_ms;             // for one answer
  unsigned most_hops = 16;
  std::optional<Dscp> dscp;                 // mark the probes
  std::optional<host::ProbeMethod> method;  // this one alone
};

struct Probed {
  host::ProbeTarget target;
  host::ProbeMethod method = host::ProbeMethod::kPing;
  host::MtuFinding found;
  std::vector<diagnose::MovedCounter> moved;  // counters of this host, during the probes
  finding::Judgement judgement;
};

[[nodiscard]] Result<Probed> probe_mtu(const ProbeRequest& request);

/// "gpu02 (10.0.0.2)".
[[nodiscard]] std::string peer_text(const host::ProbeTarget& target);
/// "between 10.1.0.2 (hop 1) and 10.2.0.1 (the peer)".
[[nodiscard]] std::string bottleneck_text(const host::ProbeTarget& target,
                                          const host::MtuFinding& found);

}  // namespace weir::ops
