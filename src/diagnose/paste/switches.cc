#include "diagnose/paste/switches.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/count_text.h"
#include "finding/catalog.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

using evidence::TrustMode;
using finding::Confidence;
using finding::Finding;
using finding::Severity;

bool is_found(const finding::Judgement& judgement, std::initializer_list<std::string_view> ids) {
  return std::any_of(judgement.findings.begin(), judgement.findings.end(),
                     [&](const Finding& finding) {
                       return finding.severity > Severity::kInfo &&
                              std::any_of(ids.begin(), ids.end(),
                                          [&](std::string_view id) { return finding.id == id; });
                     });
}

finding::EvidenceLine stated_line(std::string source, std::string line) {
  finding::EvidenceLine out;
  out.source = std::move(source);
  out.line = std::move(line);
  return out;
}

// ---- trust ----

bool trusts_dscp(const evidence::Fact<TrustMode>& trust) {
  return trust.is(TrustMode::kDscp) || trust.is(TrustMode::kBoth);
}

bool any_nic_trusts_dscp(const View& view) {
  return std::any_of(view.nics().begin(), view.nics().end(), [](const NicView& nic) {
    return nic.facts != nullptr && trusts_dscp(nic.facts->qos.trust);
  });
}

/// A port that reads the VLAN tag where others read the DSCP, or where a priority is lossless.
void judge_trust_of(const View& view, const std::string& name, finding::Judgement& out) {
  const auto ports = view.ports_of(name);
  const bool is_plan =
      any_nic_trusts_dscp(view) || std::any_of(ports.begin(), ports.end(), [](const PortView* p) {
        return p->facts != nullptr && trusts_dscp(p->facts->trust);
      });
  const PortView* first = nullptr;
  std::vector<finding::EvidenceLine> lines;
  for (const PortView* port : ports) {
    if (port->facts == nullptr || port->wanted != nullptr || port->facts->up.is(false)) continue;
    const bool is_tag =
        port->facts->trust.is(TrustMode::kPcp) || port->facts->trust.is(TrustMode::kNone);
    const bool is_lossless = port->facts->pfc.is_known() && port->facts->pfc->count() > 0;
    if (!is_tag || (!is_plan && !is_lossless)) continue;
    if (first == nullptr) first = port;
    constexpr std::size_t kLines = 4;
    if (lines.size() < kLines)
      lines.push_back(stated_line(
          port->facts->trust.source(),
          fmt::format("{} {}: trust {}", name, port->name, to_text(*port->facts->trust))));
  }
  if (first == nullptr) return;
  Finding finding = finding::make_finding(
      "trust.not_dscp",
      fmt::format("{} {} trusts {}, not dscp: routed or untagged RDMA is in its default class "
                  "there, whatever its DSCP.",
                  name, first->name, to_text(*first->facts->trust)),
      first->where());
  finding.confidence = is_plan ? Confidence::kHigh : Confidence::kMedium;
  // With a VLAN and its tag everywhere the plan may be one.
  if (!is_plan) finding.severity = Severity::kWarning;
  finding.evidence = std::move(lines);
  out.findings.push_back(std::move(finding));
}

// ---- drops ----

/// The queue of RDMA dropped in the window: it is not lossless, or its buffer is too small for what
/// was under way when it paused.
void judge_drops_of(const View& view, const std::string& name, unsigned queue,
                    finding::Judgement& out) {
  constexpr std::string_view kDrops = "switch.queue.drop_tail.packets";
  const PortView* worst = nullptr;
  std::uint64_t most = 0;
  for (const PortView* port : view.ports_of(name)) {
    if (!port->counts.are_there() || view.is_read_once(port->where())) continue;
    const std::uint64_t packets = port->counts.of(kDrops, queue).value_or(0);
    if (packets > most) {
      most = packets;
      worst = port;
    }
  }
  if (worst == nullptr) return;
  const auto has_priority = [&](const evidence::Fact<PrioritySet>& set) {
    return set.is_known() && set->contains(Priority::of(queue));
  };
  const bool is_protected =
      worst->counts.of("switch.prio.pause_tx.frames", queue).value_or(0) > 0 ||
      (worst->facts != nullptr &&
       (has_priority(worst->facts->pfc) || has_priority(worst->facts->pfc_active)));
  finding::Where where = worst->where();
  where.priority = std::to_string(queue);
  Finding finding = finding::make_finding(
      is_protected ? "headroom.too_small" : "pfc.off",
      is_protected
          ? fmt::format("{} {} dropped {} packets from queue {} although PFC is on: its buffer is "
                        "too small for what is under way.",
                        name, worst->name, count_text(most), queue)
          : fmt::format("{} {} dropped {} packets from queue {}, the one of RDMA: a queue with PFC "
                        "pauses and does not drop.",
                        name, worst->name, count_text(most), queue),
      std::move(where));
  finding.confidence = Confidence::kMedium;
  finding.severity = Severity::kWarning;
  finding.evidence.push_back(worst->counts.line(kDrops, queue));
  out.findings.push_back(std::move(finding));
}

/// The queue of RDMA's priority, and those whose class is named for being lossless.
std::set<unsigned> lossless_queues_of(const View& view, const readers::Paste& paste,
                                      const std::string& name) {
  std::set<unsigned> out;
  for (const readers::PasteLosslessQueue& item : paste.lossless_queues)
    if (item.switch_name == name) out.insert(item.queue.value());
  if (out.empty()) out.insert(view.rdma());
  return out;
}

// ---- marks that cannot come before pauses ----

/// Marking starts far above the fill at which ports pause, pauses were sent in the window and no
/// packet was marked: PFC works in place of ECN.
void judge_marking_of(const View& view, const std::string& name, finding::Judgement& out) {
  const evidence::EgressQueue* late = nullptr;
  const PortView* where = nullptr;
  std::optional<Bytes> xoff;
  std::string xoff_source;
  std::uint64_t pauses = 0;
  std::uint64_t marks = 0;
  for (const PortView* port : view.ports_of(name)) {
    pauses += port->counts.sum("switch.prio.pause_tx.frames").value_or(0) +
              port->counts.of("switch.port.pause_tx.frames").value_or(0);
    marks += port->counts.sum("switch.queue.ecn_marked.packets").value_or(0);
    if (port->facts == nullptr || port->wanted != nullptr) continue;
    for (const evidence::GroupBuffer& group : port->facts->groups.get()) {
      if (!group.xoff.is_known() || (xoff && *xoff >= *group.xoff)) continue;
      xoff = *group.xoff;
      xoff_source = group.xoff.source();
    }
    for (const evidence::EgressQueue& queue : port->facts->queues.get())
      if (queue.queue.value() == view.rdma() && queue.ecn.is(true) && queue.ecn_min.is_known() &&
          (late == nullptr || *queue.ecn_min < *late->ecn_min)) {
        late = &queue;
        where = port;
      }
  }
  if (late == nullptr || !xoff || marks > 0 || pauses < view.thresholds().frames_noted ||
      view.is_read_once(where->where()))
    return;
  if (static_cast<double>(late->ecn_min->raw()) <
      view.thresholds().far_from_usual * static_cast<double>(xoff->raw()))
    return;
  Finding finding = finding::make_finding(
      "ecn.above_xoff",
      fmt::format("{} marks RDMA from a queue of {} and its ports pause at {}: {} pauses were sent "
                  "and no packet was marked.",
                  name, approximate(*late->ecn_min), approximate(*xoff), count_text(pauses)),
      where->where());
  finding.confidence = Confidence::kHigh;
  finding.evidence = {
      stated_line(late->ecn_min.source(), fmt::format("ECN minimum: {}", to_text(*late->ecn_min))),
      stated_line(xoff_source, fmt::format("XOFF: {}", to_text(*xoff)))};
  out.findings.push_back(std::move(finding));
}

// ---- PFC of sister ports ----

/// PFC is in effect on most of the ports that are shown and not on this one, which drops what
/// arrives. A port without drops may carry no RDMA.
void judge_pfc_of(const View& view, const std::string& name, finding::Judgement& out) {
  constexpr std::string_view kDrops = "switch.port.drop.packets";
  std::vector<const PortView*> with;
  std::vector<const PortView*> without;
  for (const PortView* port : view.ports_of(name)) {
    if (port->facts == nullptr || port->wanted != nullptr || port->facts->up.is(false) ||
        !port->facts->pfc_active.is_known())
      continue;
    (port->facts->pfc_active->count() > 0 ? with : without).push_back(port);
  }
  if (with.size() < view.thresholds().sisters_meant_alike || with.size() <= without.size()) return;
  for (const PortView* port : without) {
    const std::uint64_t drops = port->counts.of(kDrops).value_or(0);
    if (drops == 0 || view.is_read_once(port->where())) continue;
    Finding finding = finding::make_finding(
        "pfc.off",
        fmt::format("{} {} dropped {} packets between the readings and PFC is not in effect on it; "
                    "on {} other ports it is.",
                    name, port->name, count_text(drops), with.size()),
        port->where());
    finding.confidence = Confidence::kHigh;
    finding.evidence = {
        stated_line(port->facts->pfc_active.source(), fmt::format("{}: PFC off", port->name)),
        stated_line(with.front()->facts->pfc_active.source(),
                    fmt::format("{}: PFC on", with.front()->name)),
        port->counts.line(kDrops)};
    // The drops are its effect.
    for (Finding& other : out.findings)
      if (other.id == "port.discards" && other.where.switch_name == name &&
          other.where.port == port->name)
        other.severity = Severity::kInfo;
    out.findings.push_back(std::move(finding));
  }
}

// ---- use of the paths ----

struct PortUse {
  const PortView* port = nullptr;
  double sent = 0;
  double received = 0;
};

/// Ports that are full or idle in one direction, among others that are neither: alike if as much
/// arrives on each of them.
void judge_paths_of(const View& view, const std::string& name, finding::Judgement& out) {
  const finding::Thresholds& limits = view.thresholds();
  std::vector<PortUse> full;
  std::vector<PortUse> idle;
  for (const PortView* port : view.ports_of(name)) {
    const auto sent = port->counts.level("switch.port.tx.utilisation.percent");
    const auto received = port->counts.level("switch.port.rx.utilisation.percent");
    if (!sent || !received || port->nic) continue;
    const PortUse use{port, static_cast<double>(*sent) / 100, static_cast<double>(*received) / 100};
    if (use.sent >= limits.full_path) full.push_back(use);
    if (use.sent <= limits.idle_path) idle.push_back(use);
  }
  std::vector<PortUse> all = full;
  all.insert(all.end(), idle.begin(), idle.end());
  if (full.size() < 2 || idle.size() < full.size() || all.size() < limits.paths_compared) return;
  const auto [least, most] = std::minmax_element(
      all.begin(), all.end(),
      [](const PortUse& a, const PortUse& b) { return a.received < b.received; });
  // An idle port that nobody uses receives nothing either.
  if (least->received <= limits.idle_path || most->received > limits.hot_link * least->received)
    return;
  finding::Where where;
  where.switch_name = name;
  Finding finding = finding::make_finding(
      "ecmp.imbalance",
      fmt::format("{} sends over {} of {} alike ports at {:.0f} % of the line or more, and {} of "
                  "them are idle: ECMP does not spread the flows.",
                  name, full.size(), all.size(), limits.full_path * 100, idle.size()),
      std::move(where));
  finding.confidence = Confidence::kMedium;
  constexpr std::size_t kLines = 8;
  for (const PortUse& use : all)
    if (finding.evidence.size() < kLines)
      finding.evidence.push_back(use.port->counts.line("switch.port.tx.utilisation.percent"));
  out.findings.push_back(std::move(finding));
}

}  // namespace

void judge_switches(const View& view, const readers::Paste& paste, finding::Judgement& out) {
  const bool is_trust = is_found(out, {"trust.mixed"});
  const bool is_loss = is_found(out, {"pfc.off", "pfc.wrong_priority", "headroom.too_small",
                                      "config.not_applied", "pfc.storm", "class.starved"});
  const bool is_balance = is_found(out, {"ecmp.imbalance", "ecmp.polarised", "ecmp.same_seed"});
  const bool is_marking = is_found(out, {"ecn.off_on_lossless", "ecn.thresholds_too_high"});
  for (const std::string& name : view.switches()) {
    if (!is_marking) judge_marking_of(view, name, out);
    if (!is_trust) judge_trust_of(view, name, out);
    if (!is_loss) judge_pfc_of(view, name, out);
    for (const unsigned queue : lossless_queues_of(view, paste, name))
      if (!is_loss) judge_drops_of(view, name, queue, out);
    if (!is_balance) judge_paths_of(view, name, out);
  }
}

}  // namespace weir::diagnose
