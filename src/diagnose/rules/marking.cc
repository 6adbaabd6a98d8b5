// I14: RDMA bytes in another priority than theirs. Settings say which of trust, map and marking is
// wrong; counters of the NIC and of the switch port behind it say it too, a little less finely: the
// NIC counts by its own trust and map, the switch by the DSCP on the wire.
#include <algorithm>

#include <fmt/format.h>

#include "diagnose/rules/rule.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

/// Bytes of the RDMA priority against the largest other one. CNPs have a priority of their own,
/// which is one of the others only where packets in it are too long to be CNPs.
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

void add_lines(const View& view, const NicView& nic, finding::Finding& out) {
  const auto split = split_of(view, nic.counts, "nic.prio.tx.bytes");
  if (!split || split->total() < view.thresholds().bytes_that_matter) return;
  out.evidence.push_back(nic.counts.line("nic.prio.tx.bytes", view.rdma()));
  if (split->other > 0)
    out.evidence.push_back(nic.counts.line("nic.prio.tx.bytes", split->other_priority));
}

/// Beyond the first switch there is other traffic too: a class that nothing arrives in is its own.
std::vector<Consequence> consequences(const View& view, const NicView& nic) {
  const std::string first_hop = nic.port ? view.ports()[*nic.port].switch_name : std::string();
  return {{"path.loss"},      {"pfc.sustained"},         {"dscp.unmapped_hop", {}, first_hop},
          {"dscp.rewritten"}, {"np.disabled", nic.host}, {"rp.disabled", nic.host}};
}

void add(const View& view, const NicView& nic, Suspicions& out, std::string_view id,
         std::string verdict, std::string fact, finding::Confidence confidence) {
  finding::Finding finding = finding::make_finding(id, std::move(verdict), nic.where());
  finding.confidence = confidence;
  if (!fact.empty()) finding.evidence.push_back(fact_line(nic.counts.source(), std::move(fact)));
  add_lines(view, nic, finding);
  out.add(std::move(finding), consequences(view, nic));
}

/// True where a setting is wrong, and said.
bool look_at_settings(const View& view, const NicView& nic, Suspicions& out) {
  if (nic.facts == nullptr) return false;
  using evidence::TrustMode;
  constexpr auto kCertain = finding::Confidence::kCertain;
  const std::size_t before = out.candidates().size();
  const evidence::Qos& qos = nic.facts->qos;
  const bool wants_dscp = nic.wanted == nullptr || nic.wanted->trust == design::Trust::kDscp;
  const bool trusts_dscp =
      !qos.trust.is_known() || *qos.trust == TrustMode::kDscp || *qos.trust == TrustMode::kBoth;
  if (wants_dscp && !trusts_dscp) {
    add(view, nic, out, "trust.not_dscp",
        fmt::format("{} trusts {}, not dscp: its DSCP map is ignored and RDMA does not leave in "
                    "priority {}.",
                    name_of(nic), to_text(*qos.trust), view.rdma()),
        fmt::format("trust: expected dscp, found {}", to_text(*qos.trust)), kCertain);
  }
  const unsigned dscp = view.rdma_dscp().value();
  if (wants_dscp && trusts_dscp && qos.dscp_to_priority.is_known()) {
    const std::optional<Priority> found = qos.dscp_to_priority->at(dscp);
    if (found && found->value() != view.rdma()) {
      add(view, nic, out, "dscp.nic_map_wrong",
          fmt::format("{} maps DSCP {} to priority {}, not to {}.", name_of(nic), dscp,
                      found->value(), view.rdma()),
          fmt::format("DSCP {}: expected priority {}, found {}", dscp, view.rdma(), found->value()),
          kCertain);
    }
  }
  const auto& forced = nic.facts->rdma.traffic_class;
  if (forced.is_known() && *forced && dscp_of(**forced) != view.rdma_dscp()) {
    const unsigned value = (*forced)->value();
    const bool is_confusion = value == dscp;
    add(view, nic, out, is_confusion ? "dscp.tos_confusion" : "dscp.unmarked",
        is_confusion
            ? fmt::format("{} forces traffic class {}: that byte is DSCP {}, not DSCP {}; {} is "
                          "the byte.",
                          name_of(nic), value, dscp_of(**forced).value(), dscp,
                          tos_byte(view.rdma_dscp(), Ecn::kEct0).value())
            : fmt::format("{} forces traffic class {} (DSCP {}) on RDMA; the class's DSCP is {}.",
                          name_of(nic), value, dscp_of(**forced).value(), dscp),
        fmt::format("traffic class: expected {} (DSCP {}), found {} (DSCP {})",
                    tos_byte(view.rdma_dscp(), Ecn::kEct0).value(), dscp, value,
                    dscp_of(**forced).value()),
        kCertain);
  }
  return out.candidates().size() > before;
}

bool settings_are_right(const NicView& nic) {
  return nic.facts != nullptr && nic.facts->qos.trust.is_known() &&
         nic.facts->qos.dscp_to_priority.is_known() && nic.facts->rdma.traffic_class.is_known() &&
         nic.facts->rdma.traffic_class->has_value();
}

/// What is in the other priority is data: a peer's wrong marking comes back in acknowledgements.
bool is_data(const View& view, const NicView& nic, unsigned priority, std::uint64_t bytes) {
  const auto packets = nic.counts.of("nic.prio.tx.packets", priority);
  return bytes >= view.thresholds().bytes_that_matter &&
         (!packets || static_cast<double>(bytes) >
                          view.thresholds().data_packet_bytes * static_cast<double>(*packets));
}

/// Others send in the RDMA priority: then one that does not is the exception.
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

/// The NIC counts RDMA on its own: what it sent besides is the kernel's, and that is as much as is
/// in the other priority.
bool is_the_kernels(const View& view, const NicView& nic, const Split& sent) {
  const auto rdma = nic.counts.of("nic.rdma.tx_unicast.bytes");
  const auto all = nic.counts.sum("nic.prio.tx.bytes");
  if (!rdma || !all) return false;
  const std::uint64_t kernel = *all > *rdma ? *all - *rdma : 0;
  return sent.other < kernel + view.thresholds().bytes_that_matter;
}

/// The design gives this priority to marked packets of another class: nothing gets there by being
/// forgotten.
bool is_of_another_class(const View& view, const NicView& nic, const Split& sent) {
  if (nic.wanted == nullptr || view.intent() == nullptr) return false;
  const auto& wanted = nic.wanted->dscp_to_priority;
  const bool is_designed = std::any_of(wanted.begin(), wanted.end(), [&](Priority priority) {
    return priority.value() == sent.other_priority;
  });
  return is_designed && wanted.front().value() != sent.other_priority;
}

/// All other hosts send RDMA and this one sends none, but as much as they do in a class that the
/// design gives to something else: it is RDMA that took a wrong turn.
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
/// service level PCP gives priority 0, and a NIC that trusts it takes all that arrives for priority
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

void say_not_on_wire(const View& view, const NicView& nic, const Split& sent,
                     const std::string& seen, Suspicions& out) {
  const TrustOrMap wrong = trust_or_map(view, nic, sent.other_priority);
  add(view, nic, out, wrong.id,
      fmt::format("{}, while its switch port takes them for priority {}: the marking is right, the "
                  "NIC's {} is not.",
                  seen, view.rdma(), wrong.word()),
      "", wrong.confidence);
}

/// One of the NIC's own settings is known to be right: it is not that one.
std::string_view by_elimination(const NicView& nic) {
  const bool is_read = nic.facts != nullptr && nic.facts->qos.trust.is_known() &&
                       nic.facts->qos.dscp_to_priority.is_known();
  return is_read ? "its trust and map are right, so its packets carry another DSCP"
                 : "its marking, trust or map is not the others'";
}

void look_at_counters(const View& view, const NicView& nic, Suspicions& out) {
  const auto sent = split_of(view, nic.counts, "nic.prio.tx.bytes");
  if (!sent || sent->total() < view.thresholds().bytes_that_matter ||
      sent->share() >= view.thresholds().rdma_share ||
      !is_data(view, nic, sent->other_priority, sent->other)) {
    return;
  }
  // What is wrong on a NIC is wrong for all that it sends.
  if (sent->rdma > sent->other && is_data(view, nic, view.rdma(), sent->rdma)) return;
  // Forced to the right byte by settings that were read: what leaves elsewhere is no RDMA.
  if (settings_are_right(nic) || is_the_kernels(view, nic, *sent)) return;
  // Nothing where its port was not seen.
  const Split at_switch =
      nic.port
          ? split_of(view, view.ports()[*nic.port].counts, "switch.prio.rx.bytes").value_or(Split())
          : Split();
  const bool is_right_on_wire =
      at_switch.total() > 0 &&
      at_switch.share() > sent->share() + view.thresholds().switch_disagrees;
  if (!is_right_on_wire && is_of_another_class(view, nic, *sent) &&
      !is_in_place_of_rdma(view, nic, *sent)) {
    return;
  }
  const bool receives_right =
      split_of(view, nic.counts, "nic.prio.rx.bytes").value_or(Split()).rdma >
      view.thresholds().bytes_that_matter;
  const bool is_known_rdma =
      nic.wanted != nullptr && nic.counts.of("nic.rdma.tx_unicast.bytes").has_value();
  if (!is_known_rdma && !receives_right && !others_use_rdma_priority(view, nic)) {
    return out.cannot_tell("marking",
                           "traffic flowed outside the RDMA priority, and nothing tells whether "
                           "it was RDMA",
                           "read the NICs' trust, DSCP map and traffic class: weir show");
  }
  const std::string seen = fmt::format(
      "{} sent {} of its bytes in priority {} and {} in priority {}", name_of(nic),
      percent(1 - sent->share()), sent->other_priority, percent(sent->share()), view.rdma());
  if (at_switch.total() > 0) {
    if (is_right_on_wire) {
      say_not_on_wire(view, nic, *sent, seen, out);
    } else {
      add(view, nic, out, "dscp.unmarked",
          fmt::format("{}, and its switch port agrees: the packets carry another DSCP.", seen), "",
          finding::Confidence::kHigh);
    }
    out.candidates().back().finding.evidence.push_back(
        view.ports()[*nic.port].counts.line("switch.prio.rx.bytes", view.rdma()));
    return;
  }
  add(view, nic, out, "dscp.unmarked", fmt::format("{}: {}.", seen, by_elimination(nic)), "",
      finding::Confidence::kMedium);
}

/// A host that only receives shows it on what arrives: its switch sent it from RDMA's queue, and
/// the NIC takes it for another priority.
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
  add(view, nic, out, wrong.id,
      fmt::format("{} takes what its switch sent from RDMA's queue for priority {}: its {} is not "
                  "the fabric's.",
                  name_of(nic), taken->other_priority, wrong.word()),
      "", wrong.confidence);
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
