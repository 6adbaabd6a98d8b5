// I14: RDMA in the wrong priority. Settings show which of trust, map and marking is wrong; so do
// counters of the NIC and of its switch port, less precisely: the NIC counts by its own trust and
// map, the switch by the DSCP on the wire.
#include <algorithm>

#include <fmt/format.h>

#include "diagnose/core/rdma_class.h"
#include "diagnose/rules/rule.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

/// Bytes of the RDMA priority against the largest other one. The CNP priority counts as another one
/// only if its packets are too long to be CNPs.
struct Split {
  std::uint64_t rdma = 0;
  std::uint64_t other = 0;
  unsigned other_priority = 0;

  [[nodiscard]] std::uint64_t total() const { return rdma + other; }
  [[nodiscard]] double share() const {
    return total() == 0 ? 1.0 : static_cast<double>(rdma) / static_cast<double>(total());
  }
};

std::optional<Split> split_of(const View& view, const Counts& counts, std::string_view id) {
  const auto rdma = counts.of(id, view.rdma());
  if (!rdma) return std::nullopt;
  Split split;
  split.rdma = *rdma;
  const std::string packets_id = fmt::format("{}packets", id.substr(0, id.rfind('.') + 1));
  for (unsigned p = 0; p < 8; ++p) {
    if (p == view.rdma()) continue;
    const std::uint64_t bytes = counts.of(id, p).value_or(0);
    const std::uint64_t packets = counts.of(packets_id, p).value_or(bytes);
    const bool is_short = static_cast<double>(bytes) <
                          view.thresholds().data_packet_bytes * static_cast<double>(packets);
    if (p == view.cnp() && is_short) continue;
    if (bytes > split.other) {
      split.other = bytes;
      split.other_priority = p;
    }
  }
  return split;
}

/// Behind the first switch there is other traffic too, so its unmapped class is a fault of its own.
std::vector<Consequence> marking_consequences(const View& view, const NicView& nic) {
  const std::string first_hop = nic.port ? view.ports()[*nic.port].switch_name : std::string();
  return {{"path.loss"},      {"pfc.sustained"},         {"dscp.unmapped_hop", {}, first_hop},
          {"dscp.rewritten"}, {"np.disabled", nic.host}, {"rp.disabled", nic.host}};
}

/// `lines` come first, then what the NIC sent by priority.
void add_marking(const View& view, const NicView& nic, Suspicions& out, std::string_view id,
                 std::string verdict, finding::Confidence confidence,
                 std::vector<finding::EvidenceLine> lines = {}) {
  const auto split = split_of(view, nic.counts, "nic.prio.tx.bytes");
  if (split && split->total() >= view.thresholds().bytes_that_matter) {
    lines.push_back(nic.counts.line("nic.prio.tx.bytes", view.rdma()));
    if (split->other > 0)
      lines.push_back(nic.counts.line("nic.prio.tx.bytes", split->other_priority));
  }
  out.add({.id = id,
           .verdict = std::move(verdict),
           .where = nic.where(),
           .confidence = confidence,
           .evidence = std::move(lines),
           .explains = marking_consequences(view, nic)});
}

/// A port of a switch protects what this NIC protects.
bool any_port_agrees(const View& view, const PrioritySet& pfc) {
  return std::any_of(view.ports().begin(), view.ports().end(), [&](const PortView& port) {
    if (port.facts == nullptr) return false;
    const bool is_set = port.facts->pfc.is_known() && (port.facts->pfc->mask() & pfc.mask()) != 0;
    return is_set || (port.facts->pfc_active.is_known() &&
                      (port.facts->pfc_active->mask() & pfc.mask()) != 0);
  });
}

/// The NIC forces a code point that its own map puts in one priority, and protects another one, and
/// nothing shows that the first is meant. Switches that agree with its PFC say that the marking is
/// wrong; without them either may be.
bool look_at_contradiction(const View& view, const NicView& nic, Suspicions& out) {
  const auto forced = mark_forced(nic);
  if (nic.wanted != nullptr || view.shown_class() || !forced || forced->priority == 0 ||
      forced->dscp.value() < kSmallDscp || !nic.pfc || nic.pfc->count() != 1 ||
      nic.pfc->contains(Priority::of(forced->priority)))
    return false;
  const bool is_marking = any_port_agrees(view, *nic.pfc);
  add_marking(
      view, nic, out, is_marking ? "dscp.unmarked" : "pfc.wrong_priority",
      fmt::format("{} sends RDMA with DSCP {}, which it maps to priority {}, and has PFC on "
                  "priority {}{}: what it sends is not protected{}.",
                  name_of(nic), forced->dscp.value(), forced->priority, to_text(*nic.pfc),
                  is_marking ? " as its switch has" : "",
                  is_marking ? "" : ". Which of the two is meant is not shown"),
      finding::Confidence::kHigh,
      {fact_line(nic.counts.source(),
                 fmt::format("DSCP {} -> priority {}; PFC: priority {}", forced->dscp.value(),
                             forced->priority, to_text(*nic.pfc)))});
  return true;
}

/// True if a setting is wrong and was reported.
bool look_at_settings(const View& view, const NicView& nic, Suspicions& out) {
  if (nic.facts == nullptr) return false;
  using evidence::TrustMode;
  const auto add = [&](std::string_view id, std::string verdict, std::string fact) {
    add_marking(view, nic, out, id, std::move(verdict), finding::Confidence::kCertain,
                {fact_line(nic.counts.source(), std::move(fact))});
  };
  const std::size_t before = out.candidates().size();
  const evidence::Qos& qos = nic.facts->qos;
  const bool wants_dscp = nic.wanted == nullptr || nic.wanted->trust == design::Trust::kDscp;
  const bool trusts_dscp =
      !qos.trust.is_known() || *qos.trust == TrustMode::kDscp || *qos.trust == TrustMode::kBoth;
  if (wants_dscp && !trusts_dscp) {
    add("trust.not_dscp",
        fmt::format("{} trusts {} instead of dscp: its DSCP map is ignored and RDMA does not leave "
                    "in priority {}.",
                    name_of(nic), to_text(*qos.trust), view.rdma()),
        fmt::format("trust: expected dscp, found {}", to_text(*qos.trust)));
  }
  if (trusts_dscp && look_at_contradiction(view, nic, out)) return true;
  const unsigned dscp = view.rdma_dscp().value();
  if (wants_dscp && trusts_dscp && qos.dscp_to_priority.is_known()) {
    const std::optional<Priority> found = qos.dscp_to_priority->at(dscp);
    if (found && found->value() != view.rdma()) {
      add("dscp.nic_map_wrong",
          fmt::format("{} maps DSCP {} to priority {} instead of {}.", name_of(nic), dscp,
                      found->value(), view.rdma()),
          fmt::format("DSCP {}: expected priority {}, found {}", dscp, view.rdma(),
                      found->value()));
    }
  }
  const auto& forced = nic.facts->rdma.traffic_class;
  // Without a design and a map a code point of its own is the site's plan; a small one is a DSCP
  // that was written as a byte, or none.
  const bool may_be_planned = nic.wanted == nullptr && !qos.dscp_to_priority.is_known() &&
                              forced.is_known() && *forced &&
                              dscp_of(**forced).value() >= kSmallDscp;
  if (forced.is_known() && *forced && dscp_of(**forced) != view.rdma_dscp() && !may_be_planned) {
    const unsigned value = (*forced)->value();
    const unsigned found = dscp_of(**forced).value();
    const unsigned byte = tos_byte(view.rdma_dscp(), Ecn::kEct0).value();
    const bool is_confusion = value == dscp;
    add(is_confusion ? "dscp.tos_confusion" : "dscp.unmarked",
        is_confusion ? fmt::format("{} forces traffic class {}, which is DSCP {}; DSCP {} is "
                                   "traffic class {}.",
                                   name_of(nic), value, found, dscp, byte)
                     : fmt::format("{} forces traffic class {} (DSCP {}) on RDMA instead of DSCP "
                                   "{}.",
                                   name_of(nic), value, found, dscp),
        fmt::format("traffic class: expected {} (DSCP {}), found {} (DSCP {})", byte, dscp, value,
                    found));
  }
  return out.candidates().size() > before;
}

bool settings_are_right(const NicView& nic) {
  return nic.facts != nullptr && nic.facts->qos.trust.is_known() &&
         nic.facts->qos.dscp_to_priority.is_known() && nic.facts->rdma.traffic_class.is_known() &&
         nic.facts->rdma.traffic_class->has_value();
}

/// The other priority holds data: a peer with wrong marking shows in acknowledgements only.
bool is_data(const View& view, const NicView& nic, unsigned priority, std::uint64_t bytes) {
  const auto packets = nic.counts.of("nic.prio.tx.packets", priority);
  return bytes >= view.thresholds().bytes_that_matter &&
         (!packets || static_cast<double>(bytes) >
                          view.thresholds().data_packet_bytes * static_cast<double>(*packets));
}

/// Most others send in the RDMA priority: then a NIC that does not is the exception.
bool others_use_rdma_priority(const View& view, const NicView& nic) {
  std::size_t right = 0;
  std::size_t wrong = 0;
  for (const NicView& other : view.nics()) {
    if (&other == &nic) continue;
    const auto split = split_of(view, other.counts, "nic.prio.tx.bytes");
    if (!split || split->rdma + split->other == 0) continue;
    (split->share() >= view.thresholds().rdma_share ? right : wrong) += 1;
  }
  return right > wrong;
}

/// The NIC counts RDMA separately: the rest is kernel traffic, and it accounts for what is in the
/// other priority.
bool is_the_kernels(const View& view, const NicView& nic, const Split& sent) {
  const auto rdma = nic.counts.of("nic.rdma.tx_unicast.bytes");
  const auto all = nic.counts.sum("nic.prio.tx.bytes");
  if (!rdma || !all) return false;
  const std::uint64_t kernel = *all > *rdma ? *all - *rdma : 0;
  return sent.other < kernel + view.thresholds().bytes_that_matter;
}

/// The settings that were read force the right byte, and yet the NIC counts most of its RDMA where
/// unmarked packets go: the counter beats the setting.
bool is_unmarked_rdma(const View& view, const NicView& nic, const Split& sent) {
  const auto rdma = nic.counts.of("nic.rdma.tx_unicast.bytes");
  const auto all = nic.counts.sum("nic.prio.tx.bytes");
  const auto& unmarked = nic.facts->qos.dscp_to_priority->front();
  if (!rdma || !all || !unmarked || unmarked->value() != sent.other_priority) return false;
  const std::uint64_t elsewhere = *all - sent.other;
  const std::uint64_t here = *rdma > elsewhere ? *rdma - elsewhere : 0;
  return here >= view.thresholds().bytes_that_matter &&
         is_at_least(here, view.thresholds().found_elsewhere, *rdma);
}

/// The design gives this priority to marked packets of another class: unmarked packets do not end
/// up there.
bool is_of_another_class(const View& view, const NicView& nic, const Split& sent) {
  if (nic.wanted == nullptr || view.intent() == nullptr) return false;
  const auto& wanted = nic.wanted->dscp_to_priority;
  const bool is_designed = std::any_of(wanted.begin(), wanted.end(), [&](Priority priority) {
    return priority.value() == sent.other_priority;
  });
  return is_designed && wanted.front().value() != sent.other_priority;
}

/// All other hosts send RDMA and this one sends none, but a similar amount in a class that the
/// design gives to something else: it is misclassified RDMA.
bool is_in_place_of_rdma(const View& view, const NicView& nic, const Split& sent) {
  std::vector<std::uint64_t> others;
  for (const NicView& other : view.nics()) {
    if (other.host == nic.host) continue;
    const std::uint64_t rdma = other.counts.of("nic.prio.tx.bytes", view.rdma()).value_or(0);
    const std::uint64_t same =
        other.counts.of("nic.prio.tx.bytes", sent.other_priority).value_or(0);
    if (!is_data(view, other, view.rdma(), rdma) ||
        static_cast<double>(same) >
            view.thresholds().others_use_class * static_cast<double>(sent.other))
      return false;
    others.push_back(rdma);
  }
  if (others.empty() || is_data(view, nic, view.rdma(), sent.rdma)) return false;
  const auto middle = others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2);
  std::nth_element(others.begin(), middle, others.end());
  return static_cast<double>(sent.other) >=
         view.thresholds().in_place_of_rdma * static_cast<double>(*middle);
}

struct TrustOrMap {
  std::string_view id;
  finding::Confidence confidence;

  [[nodiscard]] std::string_view word() const {
    return id == "trust.not_dscp" ? "trust" : "DSCP map";
  }
};

/// Which of the two is wrong on a NIC that sends marked packets from another priority. Without a
/// service level PCP gives priority 0, and a NIC that trusts PCP counts all it receives in priority
/// 0: then CNPs are handled and none is counted in their priority. If no CNP arrived, a map to
/// priority 0 looks the same.
TrustOrMap trust_or_map(const View& view, const NicView& nic, unsigned found) {
  using finding::Confidence;
  if (found != 0) return {"dscp.nic_map_wrong", Confidence::kMedium};
  std::uint64_t elsewhere = 0;
  for (unsigned p = 1; p < 8; ++p)
    if (p != view.rdma()) elsewhere += nic.counts.of("nic.prio.rx.packets", p).value_or(0);
  if (elsewhere > 0) return {"dscp.nic_map_wrong", Confidence::kMedium};
  const bool has_cnps = nic.counts.of("nic.rp.cnp_handled.packets").value_or(0) > 0;
  return {"trust.not_dscp", has_cnps ? Confidence::kMedium : Confidence::kLow};
}

/// What is left once the settings that were read are known to be right.
std::string_view by_elimination(const NicView& nic) {
  const bool is_read = nic.facts != nullptr && nic.facts->qos.trust.is_known() &&
                       nic.facts->qos.dscp_to_priority.is_known();
  return is_read ? "trust and map are right, so its packets carry another DSCP"
                 : "its marking, trust or map differs from the other hosts";
}

void look_at_counters(const View& view, const NicView& nic, Suspicions& out) {
  const auto sent = split_of(view, nic.counts, "nic.prio.tx.bytes");
  if (!sent || sent->total() < view.thresholds().bytes_that_matter ||
      sent->share() >= view.thresholds().rdma_share ||
      !is_data(view, nic, sent->other_priority, sent->other)) {
    return;
  }
  // A wrong NIC setting affects everything it sends.
  if (sent->rdma > sent->other && is_data(view, nic, view.rdma(), sent->rdma)) return;
  if (is_the_kernels(view, nic, *sent)) return;
  // The settings that were read force the right byte: the rest is not RDMA, unless counted so.
  const bool is_counted_so = settings_are_right(nic) && is_unmarked_rdma(view, nic, *sent);
  if (settings_are_right(nic) && !is_counted_so) return;
  // Empty if its switch port was not read.
  const Split at_switch =
      nic.port
          ? split_of(view, view.ports()[*nic.port].counts, "switch.prio.rx.bytes").value_or(Split())
          : Split();
  // Either most of it, or enough where the NIC counts next to nothing: beside other classes RDMA
  // may be the smaller part.
  const bool is_right_on_wire =
      at_switch.total() > 0 &&
      (at_switch.share() > sent->share() + view.thresholds().switch_disagrees ||
       (at_switch.rdma >= view.thresholds().bytes_that_matter &&
        !is_at_least(sent->rdma, view.thresholds().taken_for_rdma, at_switch.rdma)));
  if (!is_right_on_wire && is_of_another_class(view, nic, *sent) &&
      !is_in_place_of_rdma(view, nic, *sent)) {
    return;
  }
  const bool receives_right =
      split_of(view, nic.counts, "nic.prio.rx.bytes").value_or(Split()).rdma >
      view.thresholds().bytes_that_matter;
  const bool is_known_rdma =
      is_counted_so ||
      (nic.wanted != nullptr && nic.counts.of("nic.rdma.tx_unicast.bytes").has_value());
  if (!is_known_rdma && !receives_right && !others_use_rdma_priority(view, nic)) {
    return out.cannot_tell("marking",
                           "traffic flowed outside the RDMA priority, and it is not known whether "
                           "it was RDMA",
                           "read the NICs' trust, DSCP map and traffic class: weir show");
  }
  const std::string seen = fmt::format(
      "{} sent {} of its bytes in priority {} and {} in RDMA priority {}", name_of(nic),
      percent(1 - sent->share()), sent->other_priority, percent(sent->share()), view.rdma());
  if (at_switch.total() == 0) {
    return add_marking(view, nic, out, "dscp.unmarked",
                       fmt::format("{}: {}.", seen, by_elimination(nic)),
                       finding::Confidence::kMedium);
  }
  if (is_right_on_wire) {
    const TrustOrMap wrong = trust_or_map(view, nic, sent->other_priority);
    add_marking(
        view, nic, out, wrong.id,
        fmt::format("{}, but its switch port counts them in priority {}: the DSCP is right, "
                    "the NIC's {} is wrong.",
                    seen, view.rdma(), wrong.word()),
        wrong.confidence);
  } else {
    add_marking(
        view, nic, out, "dscp.unmarked",
        fmt::format("{}, and its switch port agrees: the packets carry another DSCP.", seen),
        finding::Confidence::kHigh);
  }
  out.candidates().back().finding.evidence.push_back(
      view.ports()[*nic.port].counts.line("switch.prio.rx.bytes", view.rdma()));
}

/// On a host that only receives: its switch sent from the RDMA queue, and the NIC counts it in
/// another priority.
void look_at_arrivals(const View& view, const NicView& nic, Suspicions& out) {
  if (!nic.port) return;
  const PortView& port = view.ports()[*nic.port];
  if (port.wanted_switch == nullptr) return;
  const unsigned queue = port.wanted_switch->priority_to_queue.at(view.rdma()).value();
  const std::uint64_t came = port.counts.of("switch.queue.tx.bytes", queue).value_or(0);
  const auto taken = split_of(view, nic.counts, "nic.prio.rx.bytes");
  const Thresholds& limits = view.thresholds();
  if (!taken || came < limits.bytes_that_matter ||
      static_cast<double>(taken->rdma) > limits.taken_for_rdma * static_cast<double>(came) ||
      static_cast<double>(taken->other) < limits.found_elsewhere * static_cast<double>(came)) {
    return;
  }
  const TrustOrMap wrong = trust_or_map(view, nic, taken->other_priority);
  add_marking(
      view, nic, out, wrong.id,
      fmt::format("{} counts traffic from the switch's RDMA queue in priority {}: its {} is "
                  "wrong.",
                  name_of(nic), taken->other_priority, wrong.word()),
      wrong.confidence);
  finding::Finding& finding = out.candidates().back().finding;
  finding.evidence.push_back(port.counts.line("switch.queue.tx.bytes", queue));
  finding.evidence.push_back(nic.counts.line("nic.prio.rx.bytes", view.rdma()));
}

}  // namespace

void look_for_marking(const View& view, Suspicions& out) {
  bool can_see = false;
  for (const NicView& nic : view.nics()) {
    can_see = can_see || nic.counts.sum("nic.prio.tx.bytes").has_value() ||
              (nic.facts != nullptr && nic.facts->qos.trust.is_known());
    if (look_at_settings(view, nic, out)) continue;
    const std::size_t before = out.candidates().size();
    look_at_counters(view, nic, out);
    if (out.candidates().size() == before && !settings_are_right(nic))
      look_at_arrivals(view, nic, out);
  }
  if (!can_see && !view.nics().empty()) {
    out.cannot_tell("marking", "neither the NICs' trust nor their bytes by priority were read",
                    "ethtool -S <netdev> shows tx_prioN_bytes; mlnx_qos -i <netdev> the trust");
  }
}

}  // namespace weir::diagnose
