// What counts as the right answer, and how an answer is marked.
#include <algorithm>

#include "base/check.h"
#include "finding/catalog.h"
#include "lab/exam/exam.h"

namespace weir::lab {
namespace {

using finding::Finding;

struct Accepted {
  std::string_view fault;
  std::vector<std::string_view> ids;
};

/// Faults and the ids that name them. Symptoms do not count: loss is no answer to a
/// bad cable, and pauses are none to a small buffer.
const std::vector<Accepted>& accepted_table() {
  static const std::vector<Accepted> table = {
      {"bounce-routing", {"routing.cyclic_buffer_dependency", "pfc.deadlock"}},
      {"dcqcn-alpha-period", {"dcqcn.too_conservative", "dcqcn.unstable"}},
      {"dcqcn-rate-ai", {"dcqcn.too_aggressive", "dcqcn.unstable"}},
      {"degraded-link", {"link.physical_errors", "link.degraded"}},
      {"ecn-too-high", {"ecn.thresholds_too_high", "ecn.above_xoff", "ecn.not_marking"}},
      {"ecn-too-low", {"ecn.thresholds_too_low"}},
      {"few-receives", {"app.receives_too_few"}},
      {"headroom-too-small", {"headroom.too_small"}},
      {"link-down", {"link.flapping", "link.degraded"}},
      {"switch-down", {"link.flapping", "link.degraded"}},
      {"nic-pause-storm", {"pfc.storm"}},
      {"np-off", {"np.disabled"}},
      {"pfc-too-wide", {"pfc.multiple_priorities"}},
      {"pool-too-small", {"buffer.too_small"}},
      {"reordering", {"path.reordering", "routing.ordering_risk"}},
      {"routing-loop", {"routing.loop", "routing.cyclic_buffer_dependency", "pfc.deadlock"}},
      {"rp-off", {"rp.disabled"}},
      {"same-hash-seed", {"ecmp.same_seed", "ecmp.polarised"}},
      {"shared-queue", {"class.shared_queue", "cnp.shares_rdma_priority", "cnp.lossless"}},
      {"slow-receiver", {"receiver.slow", "pcie.link_degraded"}},
      {"switch-wrong-map", {"dscp.unmapped_hop", "dscp.narrow_map"}},
      {"tcp-fallback", {"nccl.socket_fallback", "nccl.ib_disabled", "load.no_rdma"}},
      {"wrong-dscp", {"dscp.unmarked", "dscp.one_way"}},
      {"wrong-mtu", {"mtu.mismatch", "mtu.below_4096"}},
      {"wrong-nic-map", {"dscp.nic_map_wrong"}},
      {"wrong-pfc-priority", {"pfc.wrong_priority", "pfc.off"}},
      {"wrong-tc", {"dscp.tos_confusion", "dscp.unmarked", "dscp.one_way"}},
      {"wrong-trust", {"trust.not_dscp", "trust.mixed"}},
  };
  return table;
}

bool is_cause(const Finding& finding, const Culprit& culprit) {
  const std::vector<std::string_view> ids = accepted_ids(culprit.fault);
  return finding.severity != finding::Severity::kInfo &&
         std::find(ids.begin(), ids.end(), finding.id) != ids.end();
}

bool is_place(const finding::Where& where, const Culprit& culprit) {
  if (culprit.is_everywhere) return true;
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return !name.empty() && std::find(names.begin(), names.end(), name) != names.end();
  };
  return has(culprit.hosts, where.host) || has(culprit.switches, where.switch_name) ||
         std::any_of(culprit.ports.begin(), culprit.ports.end(), [&](const auto& port) {
           return port.first == where.switch_name && port.second == where.port;
         });
}

std::string said(const finding::Judgement& judgement) {
  if (judgement.conclusion != finding::Conclusion::kFindings || judgement.findings.empty())
    return std::string(finding::to_text(judgement.conclusion));
  return judgement.findings.front().id;
}

/// With two faults both must be among the first three findings.
void look_for_all(const finding::Judgement& judgement, const std::vector<Culprit>& culprits,
                  Mark& out) {
  constexpr std::size_t kFirst = 3;
  const std::size_t window =
      std::min(judgement.findings.size(), culprits.size() > 1 ? kFirst : std::size_t{1});
  out.cause = true;
  out.place = true;
  for (const Culprit& culprit : culprits) {
    bool is_named = false;
    bool is_placed = false;
    for (std::size_t i = 0; i < window; ++i) {
      const Finding& finding = judgement.findings[i];
      if (!is_cause(finding, culprit)) continue;
      is_named = true;
      is_placed = is_placed || is_place(finding.where, culprit);
    }
    out.cause = out.cause && is_named;
    out.place = out.place && is_placed;
  }
}

}  // namespace

std::vector<std::string_view> accepted_ids(std::string_view fault) {
  for (const Accepted& row : accepted_table())
    if (row.fault == fault) return row.ids;
  return {};
}

Mark mark_answer(const finding::Judgement& judgement, const std::vector<Culprit>& culprits) {
  Mark out;
  out.said = said(judgement);
  out.inconclusive = judgement.conclusion == finding::Conclusion::kInconclusive;
  out.called_healthy = judgement.conclusion == finding::Conclusion::kHealthy;
  const bool has_findings =
      judgement.conclusion == finding::Conclusion::kFindings && !judgement.findings.empty();
  if (culprits.empty()) {
    out.cause = out.place = out.called_healthy;
  } else if (has_findings) {
    look_for_all(judgement, culprits, out);
  }
  const bool is_right_first =
      has_findings && std::any_of(culprits.begin(), culprits.end(), [&](const Culprit& culprit) {
        return is_cause(judgement.findings.front(), culprit);
      });
  out.confident_wrong = has_findings && !is_right_first &&
                        judgement.findings.front().confidence != finding::Confidence::kLow;
  return out;
}

}  // namespace weir::lab
