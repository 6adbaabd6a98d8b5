// Queues that treat RDMA or its CNPs wrongly: a queue without the profile that its sister marks by,
// CNPs that are dropped on their way back, RDMA among unmarked traffic.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/count_text.h"
#include "diagnose/core/switch_queues.h"
#include "diagnose/paste/noted/noted.h"
#include "diagnose/paste/pasted_parts.h"
#include "finding/catalog.h"
#include "units/format.h"

namespace weir::diagnose {
namespace {

using finding::Confidence;
using finding::Finding;
using finding::Severity;
using readers::PasteQueueEntry;

constexpr std::string_view kQueueDrops = "switch.queue.drop_tail.packets";
constexpr std::string_view kQueueSent = "switch.queue.tx.packets";

// ---- queues without a profile ----

struct Entries {
  const PasteQueueEntry* with = nullptr;
  const PasteQueueEntry* without = nullptr;
};

/// On one switch no entry of the RDMA queue has a WRED profile, on another of its kind all have.
/// That it pauses and marks nothing makes it sure.
void judge_queue_entries(const PastedCase& input, const View& view, finding::Judgement& out) {
  std::map<std::string, Entries> switches;
  for (const PasteQueueEntry& item : input.paste.noted.queue_entries) {
    if (item.queue != std::to_string(view.rdma())) continue;
    Entries& entries = switches[item.switch_name];
    (item.has_profile ? entries.with : entries.without) = &item;
  }
  const auto sister = std::find_if(switches.begin(), switches.end(), [](const auto& item) {
    return item.second.with != nullptr && item.second.without == nullptr;
  });
  if (sister == switches.end()) return;
  for (const auto& [name, entries] : switches) {
    if (entries.with != nullptr || tier_in(name) != tier_in(sister->first)) continue;
    const SwitchCounts counts = counts_of(view, name);
    const std::uint64_t pauses = counts.pauses_sent.value_or(0);
    if (counts.marked.value_or(0) > 0) continue;  // another profile is in effect
    const bool is_shown = counts.marked && pauses >= view.thresholds().frames_noted;
    Finding finding = finding::make_finding(
        "ecn.off_on_lossless",
        fmt::format("{} has no profile on queue {} that marks, {} has one{}.",
                    name.empty() ? "The switch" : name, view.rdma(), sister->first,
                    is_shown
                        ? fmt::format(": it sent {} pauses and marked nothing", count_text(pauses))
                        : std::string()));
    finding.where.switch_name = name;
    finding.severity = is_shown ? Severity::kError : Severity::kWarning;
    finding.confidence = is_shown ? Confidence::kHigh : Confidence::kMedium;
    finding.evidence = {line_of(entries.without->at), line_of(sister->second.with->at)};
    for (Finding& other : out.findings)
      if (other.id == "ecn.thresholds_too_high" && other.where.switch_name == name)
        other.severity = Severity::kInfo;
    out.findings.push_back(std::move(finding));
  }
}

// ---- other traffic in the class of RDMA ----

struct TcpInClass {
  std::string host;
  std::vector<finding::EvidenceLine> lines;
};

/// Packets of TCP that were captured with this code point, and rules that give it to TCP.
std::vector<TcpInClass> tcp_marked(const PastedCase& input, Dscp dscp) {
  std::vector<TcpInClass> out;
  const auto add = [&](const std::string& host, finding::EvidenceLine line) {
    auto at = std::find_if(out.begin(), out.end(),
                           [&](const TcpInClass& known) { return known.host == host; });
    if (at == out.end()) at = out.insert(out.end(), TcpInClass{host, {}});
    constexpr std::size_t kLines = 4;
    if (at->lines.size() < kLines) at->lines.push_back(std::move(line));
  };
  for (const readers::PasteMarkingRule& rule : input.paste.noted.marking_rules)
    if (rule.dscp == dscp) add(rule.host, line_of(rule.at));
  for (const readers::PasteCapture& capture : input.paste.captures)
    for (const auto& marked : capture.tcp)
      if (dscp_of(TosByte::of(marked.tos)) == dscp) add(capture.host, line_of(marked.first));
  return out;
}

/// TCP with the code point of RDMA: it fills the lossless class and heeds no CNP. Where the class
/// carries bytes of which none are RDMA's, that is what fills it; where only the usual code point
/// says which class is RDMA's, it is a warning.
void judge_tcp_in_class(const PastedCase& input, const View& view, finding::Judgement& out) {
  constexpr std::string_view kSent = "nic.prio.tx.bytes";
  constexpr std::string_view kRdma = "nic.rdma.tx_unicast.bytes";
  const std::vector<Dscp> said = dscps_said(input);
  for (TcpInClass& tcp : tcp_marked(input, view.rdma_dscp())) {
    const NicView* full = nullptr;
    for (const NicView& nic : view.nics()) {
      if (nic.host != tcp.host || view.is_read_once(nic.where())) continue;
      const std::uint64_t bytes = nic.counts.of(kSent, view.rdma()).value_or(0);
      const auto rdma = nic.counts.of(kRdma);
      const std::uint64_t least = view.thresholds().bytes_that_matter;
      if (rdma && bytes >= least && *rdma < least) full = &nic;
    }
    const bool is_known = full != nullptr || view.shown_class() ||
                          std::find(said.begin(), said.end(), view.rdma_dscp()) != said.end();
    Finding finding = finding::make_finding(
        "class.shared_queue",
        fmt::format("{} marks TCP with DSCP {}, the code point of RDMA's class{}.",
                    tcp.host.empty() ? std::string("A host") : tcp.host, view.rdma_dscp().value(),
                    full == nullptr
                        ? std::string()
                        : fmt::format(": priority {} sent {} bytes, of which RDMA {}", view.rdma(),
                                      count_text(*full->counts.of(kSent, view.rdma())),
                                      count_text(*full->counts.of(kRdma)))),
        full == nullptr ? where_of(tcp.host, "") : full->where());
    finding.severity = is_known ? Severity::kError : Severity::kWarning;
    finding.confidence = is_known ? Confidence::kHigh : Confidence::kMedium;
    finding.evidence = std::move(tcp.lines);
    if (full != nullptr) {
      finding.evidence.push_back(full->counts.line(kSent, view.rdma()));
      finding.evidence.push_back(full->counts.line(kRdma));
    }
    out.findings.push_back(std::move(finding));
  }
}

// ---- CNPs on their way ----

struct Cnps {
  std::uint64_t sent = 0;
  std::uint64_t heard = 0;
  bool has_senders = false;
  std::vector<finding::EvidenceLine> lines;
};

Cnps cnps_of(const View& view) {
  Cnps out;
  for (const NicView& nic : view.nics()) {
    if (view.is_read_once(nic.where())) continue;
    if (const auto sent = nic.counts.of("nic.np.cnp_sent.packets"); sent && *sent > 0) {
      if (out.sent == 0) out.lines.push_back(nic.counts.line("nic.np.cnp_sent.packets"));
      out.sent += *sent;
    }
    if (const auto handled = nic.counts.of("nic.rp.cnp_handled.packets")) {
      if (!out.has_senders) out.lines.push_back(nic.counts.line("nic.rp.cnp_handled.packets"));
      out.heard += *handled + nic.counts.of("nic.rp.cnp_ignored.packets").value_or(0);
      out.has_senders = true;
    }
  }
  return out;
}

/// The queue of CNPs: of the class that is named for them, or the usual one.
unsigned cnp_queue_of(const PastedCase& input, const View& view, const std::string& name) {
  for (const readers::PasteCnpQueue& item : input.paste.noted.cnp_queues)
    if (item.switch_name == name || item.switch_name.empty()) return item.queue;
  constexpr unsigned kCnpDscp = 48;
  for (const PortView* port : view.ports_of(name))
    if (port->device != nullptr && port->device->dscp_to_tc.is_known())
      if (const auto& to = port->device->dscp_to_tc->at(kCnpDscp)) return to->value();
  return view.cnp();
}

/// What a switch dropped of its CNPs.
struct CnpDrops {
  std::uint64_t packets = 0;
  std::string port;
  finding::EvidenceLine line;
};

CnpDrops cnp_drops_of(const PastedCase& input, const View& view, const std::string& name,
                      unsigned queue) {
  CnpDrops out;
  for (const PortView* port : view.ports_of(name)) {
    const std::uint64_t dropped = port->counts.of(kQueueDrops, queue).value_or(0);
    const std::uint64_t sent = port->counts.of(kQueueSent, queue).value_or(0);
    // A few of many are what any queue drops in a burst.
    const double many = view.thresholds().cnp_queue_drops * static_cast<double>(sent);
    if (dropped <= out.packets || static_cast<double>(dropped) < many) continue;
    out = {dropped, port->name, port->counts.line(kQueueDrops, queue)};
  }
  for (const readers::PasteCnpDrop& item : input.paste.noted.cnp_drops)
    if (item.switch_name == name && item.packets > out.packets)
      out = {item.packets, item.port, line_of(item.at)};
  return out;
}

/// "6", "c-out-8q-q6", or a scheduler that is named for CNPs.
const readers::PasteQueueLimit* limit_of(const PastedCase& input, const std::string& name,
                                         unsigned queue) {
  const std::string number = std::to_string(queue);
  for (const readers::PasteQueueLimit& item : input.paste.noted.queue_limits) {
    const bool is_there = item.switch_name == name || item.switch_name.empty();
    std::string named = item.queue;
    std::transform(named.begin(), named.end(), named.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    if (is_there && (named == number || named.ends_with("-q" + number) ||
                     named.find("cnp") != std::string::npos))
      return &item;
  }
  return nullptr;
}

/// Receivers send CNPs, few of them arrive, and a switch dropped about as many from the queue that
/// carries them.
void judge_cnp_queue(const PastedCase& input, const View& view, finding::Judgement& out) {
  if (has_loud(out, "cnp.lost")) return;
  const Cnps cnps = cnps_of(view);
  const bool is_lost = cnps.has_senders && cnps.sent >= view.thresholds().cnps_sent_that_matter &&
                       static_cast<double>(cnps.heard) <
                           view.thresholds().cnps_heard * static_cast<double>(cnps.sent);
  if (!is_lost) return;
  for (const std::string& name : view.switches()) {
    const unsigned queue = cnp_queue_of(input, view, name);
    const CnpDrops drops = cnp_drops_of(input, view, name, queue);
    if (drops.packets * 2 < cnps.sent - cnps.heard) continue;
    const auto* const limit = limit_of(input, name, queue);
    Finding finding = finding::make_finding(
        "cnp.lost",
        fmt::format("{} {} dropped {} packets of queue {}, which carries CNPs{}: of {} CNPs sent, "
                    "{} arrived.",
                    name, drops.port, count_text(drops.packets), queue,
                    limit == nullptr ? std::string()
                                     : fmt::format(" and is limited to {}", to_text(limit->rate)),
                    count_text(cnps.sent), count_text(cnps.heard)));
    finding.where.switch_name = name;
    finding.where.port = drops.port;
    // Drops that were read once may be old, unless a limit explains them.
    const bool is_sure = limit != nullptr || !view.is_read_once(finding.where);
    finding.severity = is_sure ? Severity::kError : Severity::kWarning;
    finding.confidence = is_sure ? Confidence::kHigh : Confidence::kMedium;
    finding.evidence = {drops.line};
    if (limit != nullptr) finding.evidence.push_back(line_of(limit->at));
    for (const finding::EvidenceLine& line : cnps.lines)
      finding.evidence.push_back(line);
    out.findings.push_back(std::move(finding));
    return;
  }
}

// ---- RDMA among unmarked traffic ----

/// A NIC counts its RDMA by itself, and as many bytes in a priority without PFC; in the one with
/// PFC it sent next to nothing.
void judge_counted_unmarked(const View& view, finding::Judgement& out) {
  const finding::Thresholds& limits = view.thresholds();
  constexpr std::string_view kBytes = "nic.prio.tx.bytes";
  for (const NicView& nic : view.nics()) {
    if (nic.facts == nullptr || !nic.pfc || !nic.pfc->contains(Priority::of(view.rdma())) ||
        nic.pfc->contains(Priority::of(0)) || view.is_read_once(nic.where()))
      continue;
    const evidence::Qos& qos = nic.facts->qos;
    const bool trusts_dscp = qos.trust.is_known() && (qos.trust.is(evidence::TrustMode::kDscp) ||
                                                      qos.trust.is(evidence::TrustMode::kBoth));
    const auto rdma = nic.counts.of("nic.rdma.tx_unicast.bytes");
    const auto low = nic.counts.of(kBytes, 0);
    const auto high = nic.counts.of(kBytes, view.rdma());
    if (!trusts_dscp || !rdma || !low || !high || *rdma < limits.bytes_that_matter) continue;
    const double sent = static_cast<double>(*rdma);
    const double apart = limits.rdma_counted_apart;  // headers are counted by one of the two alone
    const bool is_same = static_cast<double>(*low) >= (1 - apart) * sent &&
                         static_cast<double>(*low) <= (1 + apart) * sent;
    if (!is_same || static_cast<double>(*high) > limits.rdma_elsewhere * sent) continue;
    std::erase_if(out.findings, [&](const Finding& finding) {
      return finding.id == "dscp.unmarked" && finding.where.host == nic.host;
    });
    Finding finding = finding::make_finding(
        "dscp.unmarked",
        fmt::format("{} sent {} bytes of RDMA, and as many in priority 0, without PFC: it leaves "
                    "with DSCP 0. Priority {}, which has PFC, sent {}.",
                    place_of(nic.host, nic.device), count_text(*rdma), view.rdma(),
                    count_text(*high)),
        nic.where());
    finding.severity = Severity::kError;
    finding.confidence = Confidence::kHigh;
    finding.evidence = {nic.counts.line("nic.rdma.tx_unicast.bytes"), nic.counts.line(kBytes, 0),
                        nic.counts.line(kBytes, view.rdma())};
    for (const std::string_view effect : {"port.discards", "path.loss"})
      quieten(out, effect, nic.host);
    out.findings.push_back(std::move(finding));
  }
}

}  // namespace

void judge_queues(const PastedCase& input, const View& view, finding::Judgement& out) {
  if (!has_loud(out, "ecn.off_on_lossless")) judge_queue_entries(input, view, out);
  judge_tcp_in_class(input, view, out);
  judge_cnp_queue(input, view, out);
  judge_counted_unmarked(view, out);
}

}  // namespace weir::diagnose
