#include "diagnose/behaviour/path_mtu.h"

#include <fmt/format.h>

#include "finding/catalog.h"

namespace weir::diagnose {
namespace {

void add_probe_evidence(const PathMtu& path, finding::Finding& finding) {
  const auto line = [&](std::string text) {
    finding.evidence.push_back(
        {.source = fmt::format("probes by {}", path.method), .line = std::move(text)});
  };
  line(fmt::format("{} B answered, {} B not", path.mtu, path.mtu + 1));
  for (const TooBigReply& reply : path.replies)
    line(fmt::format("{} reported that a packet is too big{}",
                     reply.from.empty() ? "an unknown router" : reply.from,
                     reply.mtu > 0 ? fmt::format(", {} B would fit", reply.mtu) : std::string()));
  if (path.is_silent)
    line(
        "no router reported that a packet was too big: a switch port, a receiver, or a router "
        "whose ICMP is filtered");
  for (const MovedCounter& moved : path.moved)
    line(fmt::format("{} on {} rose by {} during the probes", moved.name, path.interface,
                     moved.amount));
}

}  // namespace

finding::Judgement judge_path_mtu(const PathMtu& path) {
  finding::Judgement judgement;
  if (!path.is_answered) {
    judgement.unknown.push_back(
        {"the path's MTU", "the peer answers neither an ICMP echo nor a closed UDP port",
         "let the peer answer pings from here (its firewall, icmp_echo_ignore_all), or probe "
         "from the other end"});
    judgement.conclusion = finding::Conclusion::kInconclusive;
    return judgement;
  }
  if (path.mtu < path.tried) {
    finding::Finding finding = finding::make_finding(
        "mtu.mismatch",
        fmt::format("Packets of more than {} B do not reach {}: the limit is {}.", path.mtu,
                    path.peer, path.bottleneck),
        {.host = path.host, .port = path.interface});
    add_probe_evidence(path, finding);
    judgement.findings.push_back(std::move(finding));
  }
  finding::settle(judgement);
  return judgement;
}

}  // namespace weir::diagnose
