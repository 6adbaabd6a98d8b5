// Who answers for an address, and what filters drop.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "diagnose/paste/noted/noted.h"
#include "diagnose/paste/pasted_parts.h"
#include "finding/catalog.h"

namespace weir::diagnose {
namespace {

using finding::Confidence;
using finding::Finding;
using finding::Severity;
using readers::PasteBinding;
using readers::PasteMac;

/// Interfaces by their MAC; one that several hosts show, or several interfaces of one host (a bond
/// and its members), is nobody's.
std::map<std::string, const PasteMac*> owners_of(const readers::PasteNoted& noted) {
  std::map<std::string, const PasteMac*> out;
  for (const PasteMac& item : noted.macs) {
    const auto [at, is_new] = out.try_emplace(item.mac, &item);
    if (!is_new && at->second != nullptr &&
        (at->second->host != item.host || at->second->netdev != item.netdev))
      at->second = nullptr;
  }
  return out;
}

std::size_t ports_of_host(const std::map<std::string, const PasteMac*>& owners,
                          const std::string& host) {
  return static_cast<std::size_t>(std::count_if(
      owners.begin(), owners.end(),
      [&](const auto& owner) { return owner.second != nullptr && owner.second->host == host; }));
}

/// A line of `sysctl` that says why: arp_ignore is 0.
const readers::Cited* answers_for_all(const readers::Paste& paste) {
  for (const readers::Cited& line : paste.words)
    if (line.text.find("arp_ignore") != std::string::npos && line.text.ends_with('0')) return &line;
  return nullptr;
}

/// One port of a host with several answers for several addresses: ARP flux.
void judge_flux(const PastedCase& input, finding::Judgement& out) {
  const std::size_t least = input.thresholds.addresses_of_one_port;
  const auto owners = owners_of(input.paste.noted);
  std::map<std::pair<std::string, std::string>, std::map<std::string, const PasteBinding*>> bound;
  for (const PasteBinding& item : input.paste.noted.bindings)
    bound[{item.host, item.mac}].emplace(item.address, &item);
  for (const auto& [key, addresses] : bound) {
    const auto owner = owners.find(key.second);
    if (addresses.size() < least || owner == owners.end() || owner->second == nullptr ||
        owner->second->host == key.first || ports_of_host(owners, owner->second->host) < least)
      continue;
    Finding finding = finding::make_finding(
        "rail.same_subnet",
        fmt::format("{} of the addresses of {} have the MAC of its {} at {}: one port answers ARP "
                    "for the others (ARP flux), and what is sent to them arrives at the wrong one.",
                    addresses.size(), owner->second->host, owner->second->netdev, key.first),
        where_of(owner->second->host, ""));
    finding.confidence = Confidence::kHigh;
    constexpr std::size_t kLines = 3;
    for (const auto& [address, item] : addresses)
      if (finding.evidence.size() < kLines) finding.evidence.push_back(line_of(item->at));
    finding.evidence.push_back(line_of(owner->second->at));
    if (const auto* const line = answers_for_all(input.paste))
      finding.evidence.push_back(line_of(*line));
    out.findings.push_back(std::move(finding));
    return;
  }
}

/// The entry of one host for one address, shown again and again: a new one may be a new card, one
/// that comes back is of two stations that answer in turn.
struct InTurn {
  const PasteBinding* first = nullptr;
  const PasteBinding* second = nullptr;

  /// True where the first one is back.
  bool take(const PasteBinding& item) {
    if (first == nullptr) first = &item;
    if (item.mac != first->mac) second = &item;
    return second != nullptr && item.mac == first->mac;
  }
};

void judge_turns(const PastedCase& input, std::set<std::string>& judged, finding::Judgement& out) {
  const auto owners = owners_of(input.paste.noted);
  std::map<std::pair<std::string, std::string>, InTurn> seen;
  for (const PasteBinding& item : input.paste.noted.bindings) {
    InTurn& turn = seen[{item.host, item.address}];
    const bool is_back = item.is_fresh && !item.is_probe && turn.take(item);
    if (!is_back || !judged.insert(item.address).second) continue;
    const auto back = owners.find(item.mac);
    const auto other = owners.find(turn.second->mac);
    const bool are_known = back != owners.end() && other != owners.end() &&
                           back->second != nullptr && other->second != nullptr;
    if (are_known && back->second->host == other->second->host) continue;
    const auto configured =
        std::count_if(input.paste.addresses.begin(), input.paste.addresses.end(),
                      [&](const auto& own) { return own.address.starts_with(item.address + "/"); });
    if (configured > 1) continue;  // who has it is said there
    Finding finding = finding::make_finding(
        "address.duplicate",
        fmt::format("The entry of {} for {} goes back and forth between {} and {}: two stations "
                    "may use the address.",
                    item.host, item.address, item.mac, turn.second->mac));
    finding.severity = Severity::kWarning;  // two ports of one host do it too
    finding.confidence = Confidence::kMedium;
    finding.evidence = {line_of(turn.second->at), line_of(item.at)};
    out.findings.push_back(std::move(finding));
  }
}

/// Two MACs for one address, both confirmed now: by one probe, or by two hosts. Two ports of one
/// host are its own doing.
void judge_duplicates(const PastedCase& input, finding::Judgement& out) {
  const auto owners = owners_of(input.paste.noted);
  const auto host_of = [&](const std::string& mac) {
    const auto found = owners.find(mac);
    return found == owners.end() || found->second == nullptr ? mac : found->second->host;
  };
  std::map<std::string, const PasteBinding*> first;
  std::set<std::string> judged;
  for (const PasteBinding& item : input.paste.noted.bindings) {
    if (!item.is_fresh) continue;
    const auto [at, is_new] = first.try_emplace(item.address, &item);
    const PasteBinding& other = *at->second;
    const bool is_at_once = (item.is_probe && other.is_probe) || item.host != other.host;
    if (is_new || other.mac == item.mac || !is_at_once || host_of(other.mac) == host_of(item.mac) ||
        !judged.insert(item.address).second)
      continue;
    Finding finding = finding::make_finding(
        "address.duplicate",
        fmt::format("Two stations use {}: {} and {} both answer for it, and packets go to either.",
                    item.address, other.mac, item.mac));
    finding.confidence = Confidence::kHigh;
    finding.evidence = {line_of(other.at), line_of(item.at)};
    out.findings.push_back(std::move(finding));
  }
  judge_turns(input, judged, out);
  if (!judged.empty() || input.paste.noted.conflicts.empty()) return;
  const readers::PasteConflict& told = input.paste.noted.conflicts.front();
  Finding finding = finding::make_finding("address.duplicate",
                                          "A log says that an address is in use by two stations.");
  finding.confidence = Confidence::kHigh;
  finding.severity = Severity::kWarning;  // which address, and whether still, the line says
  finding.evidence.push_back(line_of(told.at));
  out.findings.push_back(std::move(finding));
}

bool has_finding(const finding::Judgement& judgement, std::string_view id) {
  return std::any_of(judgement.findings.begin(), judgement.findings.end(),
                     [&](const Finding& finding) { return finding.id == id; });
}

}  // namespace

void judge_neighbours(const PastedCase& input, finding::Judgement& out) {
  judge_flux(input, out);
  judge_duplicates(input, out);
}

/// A filter that dropped packets to port 4791. One that matched nothing may be on no path, and one
/// without a count counts where a test in the text got no answer.
void judge_filters(const PastedCase& input, finding::Judgement& out) {
  const bool is_unanswered = has_finding(out, "transport.retries_exhausted");
  for (const readers::PasteFilter& item : input.paste.noted.filters) {
    if (item.matches ? *item.matches == 0 : !is_unanswered) continue;
    finding::Where where;
    (item.is_switch ? where.switch_name : where.host) = item.host;
    Finding finding = finding::make_finding(
        "path.filtered",
        fmt::format("A filter of {} drops packets to UDP port 4791, which is RoCEv2{}.",
                    item.host.empty() ? std::string("the switch") : item.host,
                    item.matches.value_or(0) > 1
                        ? fmt::format(": it matched {} times", *item.matches)
                        : ""),
        std::move(where));
    finding.confidence = item.matches ? Confidence::kHigh : Confidence::kMedium;
    if (!item.matches) finding.severity = Severity::kWarning;
    finding.evidence.push_back(line_of(item.at));
    out.findings.push_back(std::move(finding));
    return;
  }
}

}  // namespace weir::diagnose
