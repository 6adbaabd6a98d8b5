// Sessions of BGP that are down. A finding where the text shows that it belongs to the fabric, by
// the peer's name, its description, LLDP, or others beside it; a collector, a firewall or a host
// that is off is nobody's fault.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "diagnose/paste/noted/noted.h"
#include "diagnose/paste/pasted_parts.h"
#include "finding/catalog.h"
#include "readers/paste/text_lines.h"

namespace weir::diagnose {
namespace {

using finding::Confidence;
using finding::Finding;
using finding::Severity;
using readers::PasteSession;

bool has_one_of(std::string_view text, std::span<const std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

/// Begins with one of them, as a word: "planned" is not in "unplanned".
bool has_word_of(std::string_view text, std::span<const std::string_view> starts) {
  for (const std::string_view start : starts)
    for (std::size_t at = text.find(start); at != std::string_view::npos;
         at = text.find(start, at + 1))
      if (at == 0 || !((text[at - 1] >= 'a' && text[at - 1] <= 'z') || text[at - 1] == '-'))
        return true;
  return false;
}

/// The text says that there is work on it, or that it is wanted so, and not that this is over.
bool is_meant_so(const readers::Paste& paste) {
  constexpr auto kMeant = std::to_array<std::string_view>(
      {"maintenance",    "planned",        "drain",           "decommission",  "on purpose",
       "intention",      "deliberate",     "by design",       "as expected",   "is expected",
       "out of service", "not in service", "not yet",         "pre-provision", "preprovision",
       "being replaced", "being upgraded", "upgrade tonight", "in progress",   "leave it",
       "leave them",     "keep it down",   "keep it shut",    "rma",           "isolated for"});
  constexpr auto kOver = std::to_array<std::string_view>({"closed",
                                                          "complete",
                                                          "finished",
                                                          "was done",
                                                          "is done",
                                                          "over since",
                                                          "is over",
                                                          "ended",
                                                          "successful",
                                                          "back in service",
                                                          "back up",
                                                          "was left",
                                                          "left shut",
                                                          "left down",
                                                          "forgot",
                                                          "nobody knows",
                                                          "no maintenance",
                                                          "no planned",
                                                          "nothing planned",
                                                          "none planned",
                                                          "not planned",
                                                          "no change",
                                                          "since the maintenance",
                                                          "after the maintenance",
                                                          "since maintenance",
                                                          "after maintenance",
                                                          "since the drain",
                                                          "after the drain"});
  bool is_meant = false;
  for (const readers::Cited& line : paste.words) {
    if (paste.is_read(line)) continue;  // "m - Under maintenance": what a table's letters mean
    const std::string text = readers::lower_case(line.text);
    if (has_word_of(text, kOver)) return false;
    is_meant = is_meant || has_word_of(text, kMeant);
  }
  return is_meant;
}

/// All that the text says of the peer, in lower case.
std::string said_of(const PastedCase& input, const PasteSession& session) {
  std::string out = session.name;
  for (const readers::PastePeerLine& line : input.paste.rows.peer_lines)
    if (line.host == session.host && line.peer == session.peer) out += " " + line.description;
  for (const readers::PasteNeighbour& item : input.paste.neighbours)
    if (item.host == session.host && item.port == session.port) out += " " + item.system;
  return readers::lower_case(out);
}

/// Named for another purpose than the traffic between hosts.
bool is_apart(std::string_view said) {
  constexpr auto kApart = std::to_array<std::string_view>(
      {"mgmt",      "management", "oob",          "collector",   "monitor",   "exabgp", "bmp",
       "telemetry", "sflow",      "route-server", "routeserver", "wan",       "border", "internet",
       "isp",       "firewall",   "-fw",          "fw-",         "lab",       "test",   "spare",
       "future",    "reserved",   "unused",       "backup",      "storage-gw"});
  return has_one_of(said, kApart);
}

/// The sessions of one switch, the last reading of each.
struct Sessions {
  std::map<std::string, const PasteSession*> last;  // by peer
  std::vector<const PasteSession*> down;
  std::size_t up = 0;           // of the fabric
  std::set<std::string> as_up;  // of those
};

bool is_named_for_fabric(const PastedCase& input, const PasteSession& session) {
  const std::string said = said_of(input, session);
  return !is_apart(said) && !tier_in(said).empty();
}

/// Sessions to the same AS as at least two that are up, on a leaf, in a text about its uplinks.
bool is_like_uplinks(const PastedCase& input, const PasteSession& session, const Sessions& all) {
  constexpr auto kUp = std::to_array<std::string_view>({"uplink", "spine"});
  const auto alike = std::count_if(all.last.begin(), all.last.end(), [&](const auto& item) {
    return item.second->is_up && item.second->as == session.as;
  });
  const bool is_leaf = tier_in(readers::lower_case(session.host)) == "leaf";
  const bool is_told = std::any_of(
      input.paste.words.begin(), input.paste.words.end(),
      [&](const readers::Cited& line) { return has_one_of(readers::lower_case(line.text), kUp); });
  return is_leaf && is_told && !session.is_inner && !session.as.empty() &&
         static_cast<std::size_t>(alike) >= input.thresholds.sisters_meant_alike &&
         !is_apart(said_of(input, session));
}

Sessions sessions_of(const PastedCase& input, const std::string& host) {
  Sessions out;
  for (const PasteSession& item : input.paste.rows.sessions)
    if (item.host == host) out.last[item.peer] = &item;
  for (const auto& [peer, item] : out.last) {
    if (!item->is_up || !is_named_for_fabric(input, *item)) continue;
    ++out.up;
    out.as_up.insert(item->as);
  }
  for (const auto& [peer, item] : out.last) {
    if (item->is_up) continue;
    // Without a connection the peer has not told its name: its AS is that of a spine.
    const bool is_sister = item->name.empty() && !item->is_inner && out.as_up.contains(item->as) &&
                           !is_apart(said_of(input, *item));
    if (is_sister || is_named_for_fabric(input, *item) || is_like_uplinks(input, *item, out))
      out.down.push_back(item);
  }
  return out;
}

/// A line of the configuration that shuts the session down.
const readers::PastePeerLine* shut_line(const PastedCase& input, const PasteSession& session) {
  const auto& lines = input.paste.rows.peer_lines;
  const auto found = std::find_if(lines.begin(), lines.end(), [&](const auto& line) {
    return line.is_shut && line.peer == session.peer &&
           (line.host == session.host || line.host == readers::kThisHost || line.host.empty());
  });
  return found == lines.end() ? nullptr : &*found;
}

/// "spine-03 (10.255.6.4)", "swp64"
std::string name_of_peer(const PastedCase& input, const PasteSession& session) {
  std::string name = session.name.substr(0, session.name.find(' '));
  for (const readers::PastePeerLine& line : input.paste.rows.peer_lines)
    if (name.empty() && line.host == session.host && line.peer == session.peer)
      name = line.description;
  return name.empty() ? session.peer : fmt::format("{} ({})", name, session.peer);
}

/// A link of the switch is down: the session over it is too.
bool has_link_down(const PastedCase& input, const finding::Judgement& out,
                   const PasteSession& session) {
  const auto is_here = [&](const std::string& name) {
    return name == session.host || name.empty() || session.host == readers::kThisHost;
  };
  const bool is_listed = std::any_of(input.paste.noted.port_states.begin(),
                                     input.paste.noted.port_states.end(), [&](const auto& item) {
                                       return is_here(item.switch_name) && !item.is_up &&
                                              (item.leads_up || item.port == session.port);
                                     });
  const bool is_dark =
      std::any_of(input.paste.carriers.begin(), input.paste.carriers.end(), [&](const auto& item) {
        return is_here(item.host) && item.netdev == session.port && !item.is_up;
      });
  const bool is_found =
      std::any_of(out.findings.begin(), out.findings.end(), [&](const Finding& finding) {
        return (finding.id == "link.degraded" || finding.id == "link.flapping") &&
               finding.severity > Severity::kInfo &&
               (is_here(finding.where.switch_name) || finding.where.host == session.host);
      });
  return is_listed || is_dark || is_found;
}

struct Reason {
  std::string text;
  bool is_note = false;
};
Reason reason_of(const PastedCase& input, const finding::Judgement& out,
                 const PasteSession& session, bool is_shut) {
  if (is_meant_so(input.paste)) return {" The text says that it is meant so.", true};
  if (has_link_down(input, out, session)) return {" A link of it is down, which is why.", true};
  if (session.was_never)
    return {" It was never up: whether its peer is in service the text does not show.", true};
  if (!is_shut && session.seconds && *session.seconds < input.thresholds.session_settles)
    return {" It may be on its way up.", true};
  return {};
}

void judge_sessions_of(const PastedCase& input, const std::string& host, finding::Judgement& out) {
  const Sessions all = sessions_of(input, host);
  for (const PasteSession* session : all.down) {
    const readers::PastePeerLine* const line = shut_line(input, *session);
    const bool is_shut = session->is_shut || line != nullptr;
    const std::string since =
        session->since.empty() ? std::string() : fmt::format(" for {}", session->since);
    const Reason reason = reason_of(input, out, *session, is_shut);
    finding::Where where;
    const bool is_switch = !tier_in(readers::lower_case(host)).empty() || host.empty();
    (is_switch ? where.switch_name : where.host) = host;
    Finding finding = finding::make_finding(
        "routing.bgp_down",
        fmt::format("{}: the BGP session to {} {}{}{}: no routes lead over it.{}",
                    host.empty() ? std::string("The switch") : host, name_of_peer(input, *session),
                    is_shut ? std::string("is shut down by an administrator")
                            : fmt::format("is {}", session->state),
                    since,
                    all.up == 0
                        ? std::string()
                        : fmt::format("; {} beside it {} up", all.up, all.up == 1 ? "is" : "are"),
                    reason.text),
        std::move(where));
    finding.confidence = reason.is_note ? Confidence::kLow : Confidence::kHigh;
    if (reason.is_note) finding.severity = Severity::kInfo;
    finding.evidence.push_back(line_of(session->at));
    if (line != nullptr) finding.evidence.push_back(line_of(line->at));
    out.findings.push_back(std::move(finding));
  }
}

}  // namespace

void judge_sessions(const PastedCase& input, finding::Judgement& out) {
  std::set<std::string> hosts;
  for (const PasteSession& item : input.paste.rows.sessions)
    hosts.insert(item.host);
  for (const std::string& host : hosts)
    judge_sessions_of(input, host, out);
}

}  // namespace weir::diagnose
