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
#include "readers/paste/words/hearsay.h"

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

/// Lines of words that follow each other.
struct Remark {
  std::string text;  // in lower case
  std::string file;
  int first = 0;
  int last = 0;
};
std::vector<Remark> remarks_of(const readers::Paste& paste) {
  std::vector<Remark> out;
  for (const readers::Cited& line : paste.words) {
    if (paste.is_read(line)) continue;  // "m - Under maintenance": what a table's letters mean
    const bool goes_on = !out.empty() && out.back().file == line.file &&
                         line.line - out.back().last <= 1 && line.line >= out.back().last;
    if (!goes_on) out.push_back({{}, line.file, line.line, line.line});
    out.back().last = line.line;
    out.back().text += readers::lower_case(line.text) + "\n";
  }
  return out;
}

/// Says that there is work on something, or that it is wanted so.
bool is_of_work(const Remark& remark) {
  constexpr auto kMeant = std::to_array<std::string_view>(
      {"maintenance",    "planned",        "drain",           "decommission",  "on purpose",
       "intention",      "deliberate",     "by design",       "as expected",   "is expected",
       "out of service", "not in service", "not yet",         "pre-provision", "preprovision",
       "being replaced", "being upgraded", "upgrade tonight", "in progress",   "leave it",
       "leave them",     "keep it down",   "keep it shut",    "rma",           "isolated for"});
  return has_word_of(remark.text, kMeant);
}

/// … and that this is over.
bool is_over(const Remark& remark) {
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
  return has_word_of(remark.text, kOver);
}

/// The words of a remark that name it: the peer by its address, its name or its port.
bool names_session(const Remark& remark, const PasteSession& session) {
  const auto is_named = [&](std::string_view name) {
    const std::string wanted = readers::lower_case(name);
    for (std::size_t at = wanted.empty() ? std::string::npos : remark.text.find(wanted);
         at != std::string::npos; at = remark.text.find(wanted, at + 1)) {
      const std::size_t end = at + wanted.size();
      const bool is_longer =
          end < remark.text.size() && remark.text[end] >= '0' && remark.text[end] <= '9';
      if (!is_longer) return true;
    }
    return false;
  };
  return is_named(session.peer) || is_named(session.port) ||
         is_named(std::string_view(session.name).substr(0, session.name.find(' ')));
}

/// "spine-7", "leaf14"
bool names_switch(const Remark& remark) {
  const auto words = readers::words_of(remark.text);
  return std::any_of(words.begin(), words.end(), [](std::string_view word) {
    return word.find_first_of("0123456789") != std::string_view::npos && !tier_in(word).empty();
  });
}

/// A remark is about what it names; one without a name about the output next to it.
bool is_meant_so(const readers::Paste& paste, const PasteSession& session) {
  const std::vector<Remark> all = remarks_of(paste);
  if (std::any_of(all.begin(), all.end(), is_over)) return false;
  const bool has_name = !tier_in(readers::lower_case(session.name)).empty();
  return std::any_of(all.begin(), all.end(), [&](const Remark& remark) {
    if (!is_of_work(remark)) return false;
    if (names_session(remark, session)) return true;
    const bool names_other =
        has_name && names_switch(remark) &&
        remark.text.find(readers::lower_case(session.host)) == std::string::npos;
    const int begin = std::min(remark.last, session.at.line);
    const int end = std::max(remark.first, session.at.line);
    const bool is_next = std::none_of(all.begin(), all.end(), [&](const Remark& other) {
      return other.file == remark.file && other.first > begin && other.last < end &&
             readers::is_prose(other.text);
    });
    return !names_other && is_next && remark.file == session.at.file;
  });
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

/// Named as a host, which may be off.
bool is_named_for_host(std::string_view said) {
  constexpr auto kHosts = std::to_array<std::string_view>(
      {"gpu", "host", "node", "server", "srv", "dgx", "hgx", "compute", "k8s", "worker", "rack"});
  return has_one_of(said, kHosts);
}

/// The sessions of one switch, the last reading of each.
struct Sessions {
  std::map<std::string, const PasteSession*> last;  // by peer
  std::vector<const PasteSession*> down;
  std::size_t up = 0;           // of those that may be the fabric's
  std::set<std::string> as_up;  // of those named for it
};

bool is_named_for_fabric(const PastedCase& input, const PasteSession& session) {
  const std::string said = said_of(input, session);
  return !is_apart(said) && !tier_in(said).empty();
}

/// The part of an address, or of a port's name, that sessions over the same kind of link share:
/// "10.1.5." of "10.1.5.4", "swp" of "swp53".
std::string_view stem_of(const PasteSession& session) {
  const std::string_view peer = session.port.empty() ? session.peer : session.port;
  const std::size_t end = session.port.empty()
                              ? peer.find_last_of(".:") + 1
                              : std::min(peer.find_first_of("0123456789"), peer.size());
  return peer.substr(0, end);
}

/// Others beside it lead to the same AS, or have an AS each over links of the same kind, and are
/// up: links between switches, of which one is missing. Hosts and appliances have names of their
/// own.
bool is_like_others(const PastedCase& input, const PasteSession& session, const Sessions& all) {
  const std::string said = said_of(input, session);
  if (session.is_inner || session.as.empty() || is_apart(said) || is_named_for_host(said))
    return false;
  std::size_t same_as = 0;
  std::size_t same_kind = 0;
  std::size_t same_kind_up = 0;
  std::set<std::string> others;
  for (const auto& [peer, item] : all.last) {
    if (item == &session || item->is_inner) continue;
    if (item->is_up && item->as == session.as) ++same_as;
    if (stem_of(*item) != stem_of(session)) continue;
    ++same_kind;
    if (item->is_up) ++same_kind_up;
    others.insert(item->as);
  }
  const bool has_as_each = others.size() == same_kind && !others.contains(session.as);
  return same_as >= input.thresholds.sisters_meant_alike ||
         (has_as_each && same_kind_up >= input.thresholds.sisters_meant_alike);
}

Sessions sessions_of(const PastedCase& input, const std::string& host) {
  Sessions out;
  for (const PasteSession& item : input.paste.rows.sessions)
    if (item.host == host) out.last[item.peer] = &item;
  for (const auto& [peer, item] : out.last) {
    if (!item->is_up || item->is_inner || is_apart(said_of(input, *item))) continue;
    ++out.up;
    if (is_named_for_fabric(input, *item)) out.as_up.insert(item->as);
  }
  for (const auto& [peer, item] : out.last) {
    if (item->is_up) continue;
    // Without a connection the peer has not told its name: its AS is that of a spine.
    const bool is_sister = item->name.empty() && !item->is_inner && out.as_up.contains(item->as) &&
                           !is_apart(said_of(input, *item));
    if (is_sister || is_named_for_fabric(input, *item) || is_like_others(input, *item, out))
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
  if (is_meant_so(input.paste, session)) return {" The text says that it is meant so.", true};
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
