// I11: marked packets arrive and no CNP leaves.
#include <fmt/format.h>

#include "diagnose/rules/rule.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

/// Every other NIC that received marked packets sent CNPs, and there are several. One mark is
/// enough for a CNP (IBTA A17), but a reading may fall between the two.
bool do_others_answer(const View& view, const NicView& nic) {
  std::uint64_t answer = 0;
  for (const NicView& other : view.nics()) {
    if (&other == &nic || other.counts.of("nic.np.ecn_marked.packets").value_or(0) == 0) continue;
    if (other.counts.of("nic.np.cnp_sent.packets").value_or(0) == 0) return false;
    ++answer;
  }
  return answer >= view.thresholds().receivers_that_answer;
}

void look_at_receiver(const View& view, const NicView& nic, Suspicions& out) {
  const auto marked = nic.counts.of("nic.np.ecn_marked.packets");
  const auto sent = nic.counts.of("nic.np.cnp_sent.packets");
  const bool has_marks_only = marked && sent && *marked > 0 && *sent == 0;
  const bool is_sure = has_marks_only && *marked >= view.thresholds().marks_that_matter;
  const bool is_wanted = nic.wanted == nullptr || nic.wanted->ecn_np != PrioritySet();
  const bool is_read = nic.facts != nullptr && nic.facts->ecn.np.is_known();
  // On ConnectX one priority turns CNPs on for the whole port: none at all is off.
  const bool is_off = is_read && nic.facts->ecn.np->count() == 0;
  // Off on the RDMA priority alone: what the counter shows beats the setting.
  const bool is_off_here =
      is_read && !is_off && sent.value_or(0) == 0 &&
      !nic.facts->ecn.np->contains(Priority::of(view.rdma())) &&
      (nic.wanted == nullptr || nic.wanted->ecn_np.contains(Priority::of(view.rdma())));
  const bool is_guess = has_marks_only && !is_sure && !is_off && !is_off_here &&
                        *marked >= view.thresholds().marks_others_answer &&
                        do_others_answer(view, nic);
  const bool is_silent = is_sure || is_guess;
  if (marked.value_or(0) >= view.thresholds().marks_that_matter && !sent && !is_read)
    out.cannot_tell("notification points", "np_cnp_sent was not read",
                    "cat /sys/class/infiniband/<device>/ports/1/hw_counters/np_*");
  if (!is_wanted || (!is_silent && !is_off && !is_off_here)) return;
  Suspicion silent{
      .id = "np.disabled",
      .verdict =
          is_guess
              ? fmt::format("{} received {} marked packets and sent no CNP, while all others that "
                            "received some sent CNPs: probably its notification point (NP) is off.",
                            name_of(nic), *marked)
          : is_silent ? fmt::format("{} received {} marked packets and sent no CNP: its senders "
                                    "do not slow down.",
                                    name_of(nic), *marked)
          : is_off
              ? fmt::format("{} sends no CNPs: its notification point (NP) is off.", name_of(nic))
              : fmt::format("{} has its notification point (NP) off on priority {}.", name_of(nic),
                            view.rdma()),
      .where = nic.where(),
      .confidence = is_off ? finding::Confidence::kCertain : finding::Confidence::kHigh,
      .explains = congestion_anywhere()};
  if (is_guess) {
    silent.confidence = finding::Confidence::kLow;
    silent.severity = finding::Severity::kWarning;
    silent.explains.clear();
  }
  if (is_off) silent.evidence.push_back(fact_line(nic.counts.source(), "ECN NP: off"));
  if (is_off_here) {
    silent.evidence.push_back(
        fact_line(nic.counts.source(), fmt::format("ECN NP: off on priority {}", view.rdma())));
  }
  if (marked) silent.evidence.push_back(nic.counts.line("nic.np.ecn_marked.packets"));
  if (sent) silent.evidence.push_back(nic.counts.line("nic.np.cnp_sent.packets"));
  out.add(std::move(silent));
}

}  // namespace

void look_for_silent_receivers(const View& view, Suspicions& out) {
  bool can_see = view.nics().empty();
  for (const NicView& nic : view.nics()) {
    can_see = can_see || nic.counts.of("nic.np.ecn_marked.packets").has_value() ||
              (nic.facts != nullptr && nic.facts->ecn.np.is_known());
    look_at_receiver(view, nic, out);
  }
  if (!can_see) {
    out.cannot_tell("notification points", "no NIC showed np_ecn_marked_roce_packets",
                    "cat /sys/class/infiniband/<device>/ports/1/hw_counters/np_*");
  }
}

}  // namespace weir::diagnose
