// Settings and counters that only say something together: PFC that is off on the port that drops, a
// class that is empty beside one that drops, a switch that never marks beside one that does. And
// which finding is the cause of others.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/count_text.h"
#include "diagnose/core/switch_queues.h"
#include "diagnose/paste/noted/noted.h"
#include "diagnose/paste/pasted_parts.h"
#include "finding/catalog.h"
#include "readers/paste/notes/noted.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

using finding::Confidence;
using finding::Finding;
using finding::Severity;

/// As in effect, or as it is set where only that is shown.
const evidence::Fact<PrioritySet>* pfc_of(const PortView& port) {
  if (port.facts == nullptr) return nullptr;
  if (port.facts->pfc_active.is_known()) return &port.facts->pfc_active;
  return port.facts->pfc.is_known() ? &port.facts->pfc : nullptr;
}
bool is_pfc_on(const PortView& port) {
  const auto* const pfc = pfc_of(port);
  return pfc != nullptr && (*pfc)->count() > 0;
}
bool is_pfc_off(const PortView& port) {
  const auto* const pfc = pfc_of(port);
  return pfc != nullptr && (*pfc)->count() == 0 && !port.facts->up.is(false);
}

finding::EvidenceLine pfc_line(const PortView& port) {
  finding::EvidenceLine line;
  line.source = pfc_of(port)->source();
  line.line = fmt::format("{}: PFC {}", port.name, is_pfc_on(port) ? "on" : "off");
  return line;
}

/// What is noted of the drops of ports: by port what it dropped between the first reading and the
/// last, or all it has where it was read once.
class PortDrops {
 public:
  using ByPort = std::map<std::string, readers::PastePortDrops>;
  explicit PortDrops(const PastedCase& input) {
    for (const readers::PastePortDrops& item : input.paste.noted.port_drops)
      by_switch_[item.switch_name].push_back(&item);
  }
  /// Of this switch, and of a text that does not say whose they are.
  [[nodiscard]] ByPort of(const std::string& name) const {
    std::vector<const readers::PastePortDrops*> all;
    for (const std::string& known : {name, std::string()})
      if (const auto found = by_switch_.find(known); found != by_switch_.end())
        all.insert(all.end(), found->second.begin(), found->second.end());
    std::sort(all.begin(), all.end());  // in the order of the text: they are of one list
    std::map<std::string, std::uint64_t> first;
    ByPort out;
    for (const readers::PastePortDrops* item : all) {
      const auto [at, is_first] = first.emplace(item->port, item->packets);
      out[item->port] = *item;
      if (!is_first && item->packets >= at->second) out[item->port].packets -= at->second;
    }
    return out;
  }

 private:
  std::map<std::string, std::vector<const readers::PastePortDrops*>> by_switch_;
};

/// Without PFC this port dropped what it received, and none of its sisters with PFC did.
void judge_drops_without_pfc(const PortDrops& noted, const View& view, const std::string& name,
                             finding::Judgement& out) {
  const finding::Thresholds& limits = view.thresholds();
  constexpr std::string_view kDropped = "switch.port.drop.packets";
  struct Dropped {
    std::uint64_t packets = 0;
    finding::EvidenceLine line;
  };
  std::map<std::string, Dropped> drops;
  for (const auto& [port, item] : noted.of(name))
    drops[port] = {item.packets, line_of(item.at)};
  for (const PortView* port : view.ports_of(name))
    if (const auto packets = port->counts.of(kDropped); packets && !drops.contains(port->name))
      drops[port->name] = {*packets, port->counts.line(kDropped)};
  const PortView* sister = nullptr;
  std::size_t clean = 0;
  std::vector<const PortView*> without;
  for (const PortView* port : view.ports_of(name)) {
    const auto found = drops.find(port->name);
    if (found == drops.end()) continue;
    if (is_pfc_off(*port) && found->second.packets >= limits.drops_without_pfc)
      without.push_back(port);
    if (!is_pfc_on(*port)) continue;
    if (found->second.packets > 0) return;  // drops have another reason too
    sister = port;
    ++clean;
  }
  if (clean < limits.sisters_meant_alike || without.empty() || without.size() > clean) return;
  for (const PortView* port : without) {
    const Dropped& lost = drops.at(port->name);
    Finding finding = finding::make_finding(
        "pfc.off",
        fmt::format("{} {} dropped {} packets that it received and PFC is off on it; its {} "
                    "sisters have PFC and dropped nothing.",
                    name, port->name, count_text(lost.packets), clean),
        port->where());
    finding.confidence = Confidence::kHigh;
    finding.evidence = {pfc_line(*port), pfc_line(*sister), lost.line};
    out.findings.push_back(std::move(finding));
  }
}

/// The lossless queue of a switch dropped, which pauses on some of its ports and has PFC off on
/// others: who sends from there is not held back.
void judge_queue_without_pfc(const View& view, const std::string& name, finding::Judgement& out) {
  constexpr std::string_view kDrops = "switch.queue.drop_tail.packets";
  const PortView* dropping = nullptr;
  std::vector<const PortView*> with;
  std::vector<const PortView*> without;
  for (const PortView* port : view.ports_of(name)) {
    if (port->counts.of(kDrops, view.rdma()).value_or(0) > 0) dropping = port;
    const bool has_paused = port->counts.of("switch.prio.pause_tx.frames", view.rdma()) > 0U;
    if (is_pfc_on(*port) && has_paused) with.push_back(port);
    if (is_pfc_off(*port)) without.push_back(port);
  }
  if (dropping == nullptr || !is_pfc_on(*dropping) || without.empty() ||
      with.size() < view.thresholds().sisters_meant_alike || without.size() > with.size())
    return;
  std::string names;
  for (const PortView* port : without)
    names += (names.empty() ? "" : ", ") + port->name;
  Finding finding = finding::make_finding(
      "pfc.off",
      fmt::format("{}: queue {} of {} dropped {} packets, and PFC is not in effect on {}: who is "
                  "behind {} is never paused, as on {} other ports.",
                  name, view.rdma(), dropping->name,
                  count_text(dropping->counts.of(kDrops, view.rdma()).value_or(0)), names,
                  without.size() == 1 ? "it" : "them", with.size()),
      without.front()->where());
  finding.severity = Severity::kWarning;  // that RDMA comes from there is not shown
  finding.confidence = Confidence::kHigh;
  finding.evidence = {pfc_line(*without.front()), pfc_line(*with.front()),
                      dropping->counts.line(kDrops, view.rdma())};
  for (Finding& other : out.findings)
    if ((other.id == "headroom.too_small" || other.id == "port.discards") &&
        other.where.switch_name == name)
      other.severity = Severity::kInfo;
  out.findings.push_back(std::move(finding));
}

/// PFC is off on one port alone, that port dropped what it received, and the others have paused:
/// who is behind it is never held back.
void judge_port_without_pfc(const PortDrops& noted, const View& view, finding::Judgement& out) {
  const finding::Thresholds& limits = view.thresholds();
  const bool is_felt = std::any_of(view.nics().begin(), view.nics().end(), [&](const NicView& nic) {
    return !view.is_read_once(nic.where()) &&
           nic.counts.of("nic.req.seq_nak_received.packets").value_or(0) > 0;
  });
  for (const std::string& name : view.switches()) {
    const PortDrops::ByPort drops = noted.of(name);
    const PortView* odd = nullptr;
    const PortView* sister = nullptr;
    std::size_t off = 0;
    std::size_t on = 0;
    std::size_t shown_clean = 0;  // with PFC, and their drops are in the text
    bool is_clean = true;
    for (const PortView* port : view.ports_of(name)) {
      if (pfc_of(*port) == nullptr) continue;
      const auto dropped = drops.find(port->name);
      const std::uint64_t packets = dropped == drops.end() ? 0 : dropped->second.packets;
      if (is_pfc_on(*port)) {
        const auto paused = port->counts.of("switch.prio.pause_tx.frames", view.rdma());
        is_clean = is_clean && packets == 0;
        shown_clean += dropped != drops.end() ? 1 : 0;
        if (paused.value_or(0) == 0) continue;
        sister = port;
        ++on;
      } else if (is_pfc_off(*port)) {
        ++off;
        if (packets >= limits.drops_without_pfc) odd = port;
      }
    }
    const std::size_t fewest = shown_clean > 0 ? limits.sisters_meant_alike : limits.sisters;
    if (odd == nullptr || off != 1 || on < fewest || !is_clean) continue;
    const readers::PastePortDrops& lost = drops.at(odd->name);
    Finding finding = finding::make_finding(
        "pfc.off",
        fmt::format("{} {} dropped {} packets that it received, and PFC is not in effect on it; "
                    "{} other ports have PFC and pause.",
                    name, odd->name, count_text(lost.packets), on),
        odd->where());
    finding.severity = is_felt ? Severity::kError : Severity::kWarning;
    finding.confidence = Confidence::kHigh;
    finding.evidence = {pfc_line(*odd), line_of(lost.at), pfc_line(*sister)};
    out.findings.push_back(std::move(finding));
  }
}

/// Hosts in the text lose packets that they mark for one class; the switch has nothing in it and
/// drops from another.
bool loses_what_it_marks(const PastedCase& input, const View& view) {
  return !dscps_said(input).empty() &&
         std::any_of(view.nics().begin(), view.nics().end(), [](const NicView& nic) {
           return nic.counts.of("nic.req.seq_nak_received.packets").value_or(0) > 0;
         });
}

/// Where hosts lose what they mark. True where it found one.
bool judge_empty_queue(const View& view, const std::string& name, finding::Judgement& out) {
  constexpr std::string_view kSent = "switch.queue.tx.packets";
  constexpr std::string_view kDrops = "switch.queue.drop_tail.packets";
  for (const PortView* port : view.ports_of(name)) {
    if (port->counts.of(kSent, view.rdma()) != std::optional<std::uint64_t>(0)) continue;
    for (unsigned queue = 0; queue < Queue::kLimit; ++queue) {
      if (queue == view.rdma() || queue == view.cnp() ||
          port->counts.of(kSent, queue).value_or(0) < view.thresholds().other_queue_packets ||
          port->counts.of(kDrops, queue).value_or(0) == 0)
        continue;
      finding::Where where = port->where();
      Finding finding = finding::make_finding(
          "dscp.unmapped_hop",
          fmt::format("{} {} sent nothing in queue {}, the one of RDMA, and dropped {} packets "
                      "from queue {}: it maps RDMA to a class without PFC.",
                      name, port->name, view.rdma(),
                      count_text(port->counts.of(kDrops, queue).value_or(0)), queue),
          std::move(where));
      finding.confidence = Confidence::kMedium;
      finding.evidence = {port->counts.line(kSent, view.rdma()), port->counts.line(kDrops, queue)};
      out.findings.push_back(std::move(finding));
      return true;
    }
  }
  return false;
}

const readers::PasteQueueEntry* entry_without_profile(const PastedCase& input,
                                                      const std::string& name, unsigned queue) {
  const auto& all = input.paste.noted.queue_entries;
  const bool has_sister = std::any_of(all.begin(), all.end(), [&](const auto& item) {
    return item.has_profile && item.switch_name != name && item.queue == std::to_string(queue);
  });
  for (const readers::PasteQueueEntry& item : all)
    if (has_sister && !item.has_profile && item.switch_name == name &&
        item.queue == std::to_string(queue))
      return &item;
  return nullptr;
}

/// Of two switches in the text one marks, and the other pauses and marks nothing at all.
void judge_never_marking(const PastedCase& input, const View& view, finding::Judgement& out) {
  const std::string* marking = nullptr;
  std::uint64_t marks = 0;
  for (const std::string& name : view.switches()) {
    const std::uint64_t marked = counts_of(view, name).marked.value_or(0);
    if (marked <= marks) continue;
    marks = marked;
    marking = &name;
  }
  if (marking == nullptr) return;
  for (const std::string& name : view.switches()) {
    const SwitchCounts counts = counts_of(view, name);
    if (counts.marked != std::optional<std::uint64_t>(0) ||
        counts.pauses_sent.value_or(0) < view.thresholds().frames_noted)
      continue;
    const auto* const entry = entry_without_profile(input, name, view.rdma());
    Finding finding = finding::make_finding(
        entry != nullptr ? "ecn.off_on_lossless" : "ecn.not_marking",
        entry != nullptr
            ? fmt::format("{} has no WRED profile on queue {}: it sent {} pauses and marked "
                          "nothing; {} has one and marks.",
                          name, view.rdma(), count_text(*counts.pauses_sent), *marking)
            : fmt::format("{} sent {} pauses and marked no packet; {} marked {}: ECN is not in "
                          "effect on {}.",
                          name, count_text(*counts.pauses_sent), *marking, count_text(marks),
                          name));
    finding.where.switch_name = name;
    finding.confidence = Confidence::kHigh;
    finding.evidence.push_back(
        {.source = name,
         .line = fmt::format("pauses sent: {}; packets marked: 0", *counts.pauses_sent)});
    finding.evidence.push_back(
        {.source = *marking, .line = fmt::format("packets marked: {}", marks)});
    if (entry != nullptr) finding.evidence.push_back(line_of(entry->at));
    for (Finding& other : out.findings)
      if (other.id == "ecn.thresholds_too_high" && other.where.switch_name == name)
        other.severity = Severity::kInfo;
    out.findings.push_back(std::move(finding));
  }
}

/// The only profile that the text has for this queue, or for the switch, where it names no queue.
bool is_only_profile(const PastedCase& input, const readers::PasteWred& item) {
  return std::none_of(input.paste.wred.begin(), input.paste.wred.end(), [&](const auto& other) {
    return other.switch_name == item.switch_name && other.profile != item.profile &&
           (!item.queue || other.queue == item.queue);
  });
}

/// WRED without ECN, and the queue bears it out: WRED dropped from it, or the switch paused, and no
/// packet was marked.
void judge_profile_without_ecn(const View& view, const readers::PasteWred& item,
                               const std::string& name, finding::Judgement& out) {
  const unsigned queue = item.queue ? item.queue->value() : view.rdma();
  std::optional<std::uint64_t> marked;
  std::uint64_t dropped = 0;
  const PortView* seen = nullptr;
  for (const PortView* port : view.ports_of(name)) {
    const auto marks = port->counts.of("switch.queue.ecn_marked.packets", queue);
    if (marks) marked = marked.value_or(0) + *marks;
    dropped += port->counts.of("switch.queue.drop_wred.packets", queue).value_or(0);
    if (marks && seen == nullptr) seen = port;
  }
  const std::uint64_t paused = counts_of(view, name).pauses_sent.value_or(0);
  if (marked != std::optional<std::uint64_t>(0) ||
      (dropped == 0 && paused < view.thresholds().frames_noted))
    return;
  Finding finding = finding::make_finding(
      "ecn.off_on_lossless",
      fmt::format("{}: profile {} has ECN off: {} and marked no packet of queue {}.", name,
                  item.profile,
                  dropped > 0 ? fmt::format("it dropped {} packets", count_text(dropped))
                              : fmt::format("the switch sent {} pauses", count_text(paused)),
                  queue));
  finding.where.switch_name = name;
  finding.confidence = Confidence::kHigh;
  finding.evidence = {line_of(item.at),
                      seen->counts.line("switch.queue.ecn_marked.packets", queue)};
  for (Finding& other : out.findings)
    if ((other.id == "ecn.thresholds_too_high" || other.id == "ecn.not_marking") &&
        (other.where.switch_name == name || other.where.switch_name.empty()))
      other.severity = Severity::kInfo;
  out.findings.push_back(std::move(finding));
}

void judge_profiles_without_ecn(const PastedCase& input, const View& view,
                                finding::Judgement& out) {
  std::set<std::string> judged;
  for (const readers::PasteWred& item : input.paste.wred) {
    if (item.marks || !is_only_profile(input, item)) continue;
    for (const std::string& name : view.switches()) {
      const bool is_here =
          item.switch_name.empty() ? view.switches().size() == 1 : item.switch_name == name;
      if (is_here && judged.insert(name).second) judge_profile_without_ecn(view, item, name, out);
    }
  }
}

bool arrives_marked(const View& view) {
  return std::any_of(view.nics().begin(), view.nics().end(), [](const NicView& nic) {
    return nic.counts.of("nic.np.ecn_marked.packets").value_or(0) > 0 ||
           nic.counts.of("nic.rp.cnp_handled.packets").value_or(0) > 0;
  });
}

/// One host sends CNPs and one handles them, both in a window: almost none arrive.
void judge_cnps_of_pair(const View& view, finding::Judgement& out) {
  const NicView* receiver = nullptr;
  const NicView* sender = nullptr;
  std::size_t receivers = 0;
  std::size_t senders = 0;
  for (const NicView& nic : view.nics()) {
    const bool is_window = nic.counts.are_there() && !view.is_read_once(nic.where());
    if (!is_window) continue;
    if (nic.counts.of("nic.np.cnp_sent.packets").value_or(0) > 0) receiver = &nic, ++receivers;
    if (nic.counts.of("nic.rp.cnp_handled.packets").value_or(0) > 0) sender = &nic, ++senders;
  }
  if (receivers != 1 || senders != 1 || receiver->host == sender->host ||
      has_loud(out, "cnp.lost") || has_loud(out, "rp.disabled"))
    return;
  const std::uint64_t sent = *receiver->counts.of("nic.np.cnp_sent.packets");
  const std::uint64_t heard = *sender->counts.of("nic.rp.cnp_handled.packets") +
                              sender->counts.of("nic.rp.cnp_ignored.packets").value_or(0);
  const finding::Thresholds& limits = view.thresholds();
  if (sent < limits.frames_noted ||
      static_cast<double>(heard) > limits.cnps_heard_by_one * static_cast<double>(sent))
    return;
  Finding finding = finding::make_finding(
      "cnp.lost", fmt::format("{} sent {} CNPs and {} received {}: CNPs are lost on the path.",
                              receiver->host, count_text(sent), sender->host, count_text(heard)));
  finding.severity = Severity::kWarning;  // other senders may have received them
  finding.confidence = Confidence::kMedium;
  finding.evidence = {receiver->counts.line("nic.np.cnp_sent.packets"),
                      sender->counts.line("nic.rp.cnp_handled.packets")};
  out.findings.push_back(std::move(finding));
}

/// Every packet has one UDP source port, and of the switch's ports some are full and more are idle.
void judge_entropy(const PastedCase& input, const View& view, finding::Judgement& out) {
  const finding::Thresholds& limits = view.thresholds();
  for (const readers::PasteSourcePorts& item : input.paste.noted.source_ports) {
    if (item.ports != 1 || item.packets < limits.source_ports_counted) continue;
    for (const std::string& name : view.switches()) {
      std::size_t full = 0;
      std::size_t idle = 0;
      for (const PortView* port : view.ports_of(name)) {
        const auto sent = port->counts.level("switch.port.tx.utilisation.percent");
        if (!sent) continue;
        const double share = static_cast<double>(*sent) / 100;
        full += share >= limits.full_path ? 1 : 0;
        idle += share <= limits.idle_path ? 1 : 0;
      }
      if (full == 0 || idle < full) continue;
      Finding finding = finding::make_finding(
          "ecmp.imbalance",
          fmt::format("All {} packets have UDP source port {}, so that ECMP cannot spread them: "
                      "{} ports of {} are full and {} are idle.",
                      count_text(item.packets), item.first, full, name, idle));
      finding.where.switch_name = name;
      finding.severity = Severity::kError;
      finding.confidence = Confidence::kHigh;
      finding.evidence.push_back(line_of(item.at));
      quieten(out, "ecmp.imbalance");
      out.findings.push_back(std::move(finding));
      return;
    }
  }
}

// ---- causes first ----

/// SONiC comes with two lossless priorities, of which RDMA uses one.
void rank_usual_priorities(const PastedCase& input, finding::Judgement& out) {
  constexpr std::uint8_t kUsual = 0x18;  // 3 and 4
  std::set<std::string_view> usual;      // switches
  for (const evidence::Evidence& evidence : input.evidence)
    for (const evidence::Switch& device : evidence.switches)
      if (device.platform.is("sonic") &&
          std::all_of(
              device.ports.begin(), device.ports.end(), [](const evidence::SwitchPort& port) {
                return !port.pfc.is_known() || port.pfc->count() == 0 || port.pfc->mask() == kUsual;
              }))
        usual.insert(device.name);
  for (Finding& finding : out.findings)
    if (finding.id == "pfc.multiple_priorities" && !finding.where.switch_name.empty() &&
        usual.contains(finding.where.switch_name))
      finding.severity = Severity::kInfo;
}

/// Hosts whose PFC is off do not stop for the pauses that a switch sends: its headroom overflows
/// however large it is.
void rank_deaf_hosts(const PastedCase& input, finding::Judgement& out) {
  const bool is_off =
      std::any_of(out.findings.begin(), out.findings.end(),
                  [](const Finding& finding) {
                    return finding.id == "pfc.off" && finding.severity >= Severity::kWarning &&
                           finding.where.switch_name.empty();
                  }) &&
      std::any_of(input.evidence.begin(), input.evidence.end(), [](const auto& host) {
        return std::any_of(host.nics.begin(), host.nics.end(), [](const evidence::Nic& nic) {
          return nic.qos.pfc.is_known() && nic.qos.pfc->count() == 0;
        });
      });
  if (!is_off) return;
  for (const std::string_view effect : {"headroom.too_small", "port.discards", "path.loss"})
    quieten(out, effect);
}

void quieten_at(finding::Judgement& judgement, std::string_view id,
                const std::set<std::string>& hosts) {
  for (Finding& finding : judgement.findings)
    if (finding.id == id && hosts.contains(finding.where.host)) finding.severity = Severity::kInfo;
}

/// An IOMMU that translates is as most systems come: it is a fault where the NIC waits for PCIe.
void rank_iommu(const PastedCase& input, finding::Judgement& out) {
  const auto passed = std::find_if(
      input.evidence.begin(), input.evidence.end(),
      [](const auto& other) { return other.host.iommu.is(evidence::Iommu::kIdentity); });
  std::map<std::string, std::size_t> slow_hosts;  // by name: the first finding
  for (std::size_t i = 0; i < out.findings.size(); ++i) {
    const Finding& finding = out.findings[i];
    if (finding.id == "receiver.slow" && finding.severity > Severity::kInfo &&
        finding.verdict.find("PCIe") != std::string::npos)
      slow_hosts.emplace(finding.where.host, i);
  }
  std::set<std::string> explained;
  for (const evidence::Evidence& host : input.evidence) {
    const std::string& name = host.provenance.host;
    if (!host.host.iommu.is(evidence::Iommu::kTranslating)) continue;
    const auto slow = slow_hosts.find(name);
    if (slow == slow_hosts.end() || !explained.insert(name).second) continue;
    Finding finding = finding::make_finding(
        "pcie.acs_on",
        fmt::format("The IOMMU of {} translates what its NICs write (no iommu=pt), and the NIC "
                    "waits for PCIe and pauses its switch{}.",
                    name,
                    passed == input.evidence.end()
                        ? std::string()
                        : fmt::format("; that of {} passes it through", passed->provenance.host)),
        where_of(name, ""));
    finding.confidence = Confidence::kHigh;
    finding.evidence.push_back(
        {.source = host.host.iommu.source(), .line = "IOMMU: its groups are translated"});
    for (const finding::EvidenceLine& line : out.findings[slow->second].evidence)
      finding.evidence.push_back(line);
    out.findings.push_back(std::move(finding));
  }
  quieten_at(out, "receiver.slow", explained);
}

/// A test that reached most of what the kernel states for the card on PCIe: the power of its slot
/// limits nothing.
void rank_slot_power(const PastedCase& input, finding::Judgement& out) {
  std::set<std::string> unlimited;  // hosts
  for (const readers::PastePerftest& test : input.paste.perftests) {
    double best = 0;  // Gbit/s
    for (const readers::BandwidthRow& row : test.report.bandwidth)
      if (row.average) best = std::max(best, static_cast<double>(row.average->raw()) / 1e9);
    const auto& rates = input.paste.noted.pcie_rates;
    if (std::any_of(rates.begin(), rates.end(), [&](const readers::PastePcieRate& rate) {
          return rate.host == test.host && best >= input.thresholds.pcie_reached * rate.gigabits;
        }))
      unlimited.insert(test.host);
  }
  quieten_at(out, "pcie.slot_power", unlimited);
}

/// Without PFC no class of a NIC is paused, and the whole port is: how it sorts its packets comes
/// after that.
void rank_global_pause(finding::Judgement& out) {
  const auto is_at = [&](const Finding& finding, std::string_view id, const std::string& host) {
    return finding.id == id && finding.severity == Severity::kError && finding.where.host == host;
  };
  std::set<std::string> without_pfc;
  for (const Finding& finding : out.findings)
    if (is_at(finding, "pfc.off", finding.where.host)) without_pfc.insert(finding.where.host);
  for (const Finding& pause : out.findings) {
    const std::string host = pause.where.host;
    if (!is_at(pause, "pause.global_on", host) || !without_pfc.contains(host)) continue;
    std::stable_partition(out.findings.begin(), out.findings.end(), [&](const Finding& other) {
      return is_at(other, "pause.global_on", host) || is_at(other, "pfc.off", host);
    });
    return;
  }
}

}  // namespace

bool has_loud(const finding::Judgement& judgement, std::string_view id) {
  return std::any_of(judgement.findings.begin(), judgement.findings.end(),
                     [&](const Finding& finding) {
                       return finding.id == id && finding.severity > Severity::kInfo;
                     });
}

void quieten(finding::Judgement& judgement, std::string_view id, std::string_view host) {
  for (Finding& finding : judgement.findings)
    if (finding.id == id && (host.empty() || finding.where.host == host))
      finding.severity = Severity::kInfo;
}

void judge_relations(const PastedCase& input, const View& view, finding::Judgement& out) {
  if (input.intent != nullptr) return;
  const bool is_pfc_told = has_loud(out, "pfc.off") || has_loud(out, "pfc.wrong_priority");
  const PortDrops drops(input);
  bool looks_for_hop = !has_loud(out, "dscp.unmapped_hop") && loses_what_it_marks(input, view);
  for (const std::string& name : view.switches()) {
    if (!is_pfc_told) judge_drops_without_pfc(drops, view, name, out);
    if (!is_pfc_told) judge_queue_without_pfc(view, name, out);
    if (looks_for_hop) looks_for_hop = !judge_empty_queue(view, name, out);
  }
  if (!is_pfc_told && !has_loud(out, "pfc.off")) judge_port_without_pfc(drops, view, out);
  judge_never_marking(input, view, out);
  if (!has_loud(out, "ecn.off_on_lossless")) judge_profiles_without_ecn(input, view, out);
  if (arrives_marked(view)) judge_low_thresholds(input, true, out);
  judge_queues(input, view, out);  // it says where CNPs are lost
  judge_cnps_of_pair(view, out);
  judge_entropy(input, view, out);
}

void rank_causes(const PastedCase& input, finding::Judgement& out) {
  if (input.intent != nullptr) return;
  rank_usual_priorities(input, out);
  rank_deaf_hosts(input, out);
  rank_iommu(input, out);
  rank_slot_power(input, out);
  if (has_loud(out, "dscp.unmapped_hop")) quieten(out, "path.loss");
  std::stable_sort(out.findings.begin(), out.findings.end(),
                   [](const Finding& a, const Finding& b) {
                     if (a.severity != b.severity) return a.severity > b.severity;
                     return false;
                   });
  rank_global_pause(out);
}

}  // namespace weir::diagnose
