// Sessions of BGP: the summaries of FRR (SONiC, Cumulus), EOS, NX-OS and Junos, NVUE's table of
// neighbours, and the blocks of single neighbours. A table of another address family shows the same
// peers, so that of EVPN and of a VRF for management is passed over.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "readers/paste/notes/notes.h"
#include "readers/paste/rows/rows_tools.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

using Words = std::vector<std::string_view>;

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

/// "65001", "4200006000", "65000.17"
bool is_as_number(std::string_view word) {
  return !word.empty() && word.front() != '.' &&
         word.find_first_not_of("0123456789.") == std::string_view::npos &&
         std::count(word.begin(), word.end(), '.') < 2;
}

bool is_address(std::string_view word) {
  const std::size_t zone = word.find('%');  // "fe80::1%swp1"
  if (zone != std::string_view::npos) word = word.substr(0, zone);
  const auto parts = split(word, '.');
  if (parts.size() == 4 && std::all_of(parts.begin(), parts.end(), is_number)) return true;
  return std::count(word.begin(), word.end(), ':') > 1 &&
         word.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

/// A port or a channel, plain or tagged, on which a session without addresses runs.
bool is_session_port(std::string_view word) {
  for (const std::string_view stem :
       {"PortChannel", "port-channel", "peerlink", "bond", "vlan", "Vlan", "ae"}) {
    const bool has_more = word.size() > stem.size();
    if (word.starts_with(stem) && has_more &&
        word.find_first_of("0123456789", stem.size()) != std::string_view::npos)
      return true;
  }
  return is_switch_port(word) || is_netdev_name(word);
}

struct Peer {
  std::string_view peer;
  std::string_view name;
  std::string_view port;
};
/// "10.255.6.4", "2001:db8::1", "swp64", "*10.0.0.1" (a dynamic one), "spine6-2(swp64)".
std::optional<Peer> peer_of(std::string_view word) {
  if (word.starts_with('*')) word.remove_prefix(1);
  if (is_address(word)) return Peer{word, {}, {}};
  const std::size_t open = word.find('(');
  if (open != std::string_view::npos && open > 0 && word.ends_with(')')) {
    const std::string_view inside = word.substr(open + 1, word.size() - open - 2);
    if (is_address(inside)) return Peer{inside, word.substr(0, open), {}};
    if (is_session_port(inside)) return Peer{inside, word.substr(0, open), inside};
    return std::nullopt;
  }
  return is_session_port(word) ? std::optional(Peer{word, {}, word}) : std::nullopt;
}

struct State {
  bool is_up = false;
  bool is_shut = false;
  std::string text;
};
/// "Established", "Estab", "Idle(Admin)", and "Idle" before "(Admin)"; nullopt for other words.
std::optional<State> state_of(std::string_view word, std::string_view next) {
  while (!word.empty() && (word.back() == ',' || word.back() == ';'))
    word.remove_suffix(1);
  const std::string lower = lower_case(word);
  // Established, and no policy lets a prefix through (RFC 8212).
  if (lower.starts_with("estab") || lower == "(policy)")
    return State{true, false, std::string(word)};
  const std::string plain = lower.substr(0, lower.find('('));
  const bool is_down = plain == "idle" || plain == "active" || plain == "connect" ||
                       plain == "opensent" || plain == "openconfirm" || plain == "shut" ||
                       plain == "closing" || plain == "clearing";
  if (!is_down) return std::nullopt;
  State out{false, plain == "shut", std::string(word)};
  const bool has_reason = next.starts_with('(') && next.ends_with(')');
  if (has_reason) out.text += " " + std::string(next);
  out.is_shut = out.is_shut || lower_case(out.text).find("admin") != std::string::npos;
  return out;
}

/// "3d06h18m", "04w2d11h", "00:41:10", "5w0d", "1y2w": seconds; nullopt for other words.
std::optional<std::uint64_t> seconds_of(std::string_view word) {
  if (const auto clock = second_of_day(word)) return static_cast<std::uint64_t>(*clock);
  if (word.find(':') != std::string_view::npos) {  // "221:10:05", "47:26"
    std::uint64_t sum = 0;
    for (const std::string_view part : split(word, ':')) {
      const auto value = is_number(part) ? parse_count(part) : std::nullopt;
      if (!value) return std::nullopt;
      sum = sum * 60 + *value;
    }
    return sum;
  }
  std::uint64_t sum = 0;
  std::uint64_t value = 0;
  bool has_digit = false;
  for (const char c : word) {
    if (c >= '0' && c <= '9') {
      value = value * 10 + static_cast<std::uint64_t>(c - '0');
      has_digit = true;
      if (value > 1'000'000) return std::nullopt;
      continue;
    }
    constexpr std::uint64_t kDay = 86'400;
    const std::uint64_t unit = c == 'y'   ? 365 * kDay
                               : c == 'w' ? 7 * kDay
                               : c == 'd' ? kDay
                               : c == 'h' ? 3600
                               : c == 'm' ? 60
                                          : 0;
    if (unit == 0 || !has_digit) return std::nullopt;
    sum += value * unit;
    value = 0;
    has_digit = false;
  }
  return has_digit || word.empty() ? std::nullopt : std::optional(sum);
}

/// "2/2/2/0" of Junos, once for each table.
bool is_counts(std::string_view word) {
  return std::count(word.begin(), word.end(), '/') == 3 &&
         word.find_first_not_of("0123456789/") == std::string_view::npos;
}

/// What a heading and the lines above it say of the rows.
struct SessionTable {
  bool has_heading = false;
  bool begins_with_text = false;  // EOS: the description comes first
  bool is_foreign = false;        // EVPN, or a VRF for management
  std::string local_as;
};

bool is_session_heading(const Words& words) {
  const auto has = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  const bool has_peer = has("Neighbor") || has("Neighbhor") || has("Peer");
  const bool has_state = has("Up/Down") || has("Up/Dwn") || has("State") || has("State/PfxRcd");
  return has_peer && has_state && has("AS");
}

/// What is printed above a table, and between its rows.
bool is_session_text(std::string_view text) {
  for (const std::string_view start : {"BGP router identifier",
                                       "BGP summary information",
                                       "BGP table version",
                                       "RIB entries",
                                       "Peers ",
                                       "Peer groups",
                                       "Router identifier",
                                       "Neighbor Status Codes",
                                       "Threading mode",
                                       "Default eBGP mode",
                                       "Groups: ",
                                       "Table ",
                                       "inet.0",
                                       "inet6.0",
                                       "bgp.evpn.0",
                                       "IPv4 Unicast Summary",
                                       "IPv6 Unicast Summary",
                                       "L2VPN EVPN Summary",
                                       "ipv4 Unicast",
                                       "ipv6 Unicast",
                                       "Total number of neighbors",
                                       "Displayed neighbors",
                                       "Dynamic neighbors",
                                       "Configured neighbors",
                                       "BGP activity",
                                       "BGP attribute entries",
                                       "BGP community entries",
                                       "network entries",
                                       "AS - Remote Autonomous",
                                       "UTC format",
                                       "BGP is not"})
    if (text.starts_with(start)) return true;
  // "inet.0: 2/2/2/0", "508 network entries and 1012 paths using 121 bytes of memory"
  const auto words = words_of(text);
  const bool is_table = words.size() == 2 && words[0].ends_with(':') && is_counts(words[1]);
  const bool is_numbers = words.size() > 1 && std::all_of(words.begin(), words.end(), is_number);
  return is_table || is_numbers || text.find(" network entries") != std::string_view::npos;
}

void note_text(std::string_view text, SessionTable& table) {
  const std::string lower = lower_case(text);
  const bool names_family =
      lower.find("summary") != std::string::npos && lower.find("bgp router") == std::string::npos;
  const bool names_vrf = lower.find("vrf ") != std::string::npos;
  if (names_family || names_vrf)
    table.is_foreign = lower.find("evpn") != std::string::npos ||
                       lower.find("vrf mgmt") != std::string::npos ||
                       lower.find("vrf management") != std::string::npos ||
                       lower.find("vrf oob") != std::string::npos;
  constexpr std::string_view kLocal = "local AS number ";
  const std::size_t at = text.find(kLocal);
  if (at == std::string_view::npos) return;
  const auto words = words_of(text.substr(at + kLocal.size()));
  if (!words.empty()) table.local_as = words.front();
}

/// The state in a row and where it is.
struct Found {
  State state;
  std::size_t at = 0;     // of the state
  std::size_t after = 0;  // the first word that may belong to a description
};
std::optional<Found> find_state(const Words& words, std::size_t from) {
  constexpr std::size_t kColumns = 6;  // messages, queues, time: a row without them is no row
  for (std::size_t i = from; i < words.size(); ++i) {
    const std::string_view next = i + 1 < words.size() ? words[i + 1] : std::string_view();
    if (const auto state = state_of(words[i], next)) {
      const bool has_reason = state->text.find(' ') != std::string::npos;
      return Found{*state, i, i + (has_reason ? 2 : 1)};
    }
    if (is_counts(words[i])) return Found{{true, false, "Established"}, i, words.size()};
    const bool is_value = is_number(words[i]) || seconds_of(words[i]) || words[i] == "never" ||
                          words[i].find('T') == 10;  // a date of NVUE
    if (!is_value) {
      if (i < from + kColumns) return std::nullopt;
      return Found{{true, false, "Established"}, i, i};
    }
  }
  // "508  12": prefixes instead of a state
  if (words.size() < from + kColumns) return std::nullopt;
  return Found{{true, false, "Established"}, words.size(), words.size()};
}

std::string joined(const Words& words, std::size_t begin, std::size_t end) {
  std::string out;
  for (std::size_t i = begin; i < end; ++i)
    out += (out.empty() ? "" : " ") + std::string(words[i]);
  return out;
}

/// The description behind the numbers that follow the state.
std::string description_in(const Words& words, std::size_t from) {
  while (from < words.size() && (is_number(words[from]) || words[from] == "N/A"))
    ++from;
  return joined(words, from, words.size());
}

void note_time(const Words& words, std::size_t first, std::size_t state, PasteSession& out) {
  if (state <= first || state > words.size()) return;
  const std::string_view last = words[state - 1];
  out.was_never = lower_case(last) == "never";
  const auto seconds = is_number(last) ? parse_count(last) : seconds_of(last);
  if (!seconds || out.was_never) return;
  out.seconds = seconds;
  out.since = last;
  // "24w1d 5:09:41": two words of Junos
  const auto before =
      state >= first + 2 && !is_number(words[state - 2]) && last.find(':') != last.npos
          ? seconds_of(words[state - 2])
          : std::nullopt;
  if (!before || words[state - 2].find(':') != std::string_view::npos) return;
  out.seconds = *seconds + *before;
  out.since = std::string(words[state - 2]) + " " + out.since;
}

/// One row of a table, of any of the systems; nullopt where it is none.
std::optional<PasteSession> session_in(std::string_view text, const SessionTable& table) {
  const Words words = words_of(text);
  constexpr std::size_t kMostText = 6;  // words of a description in front
  for (std::size_t p = 0; p + 2 < words.size() && p < kMostText; ++p) {
    if (p > 0 && table.has_heading && !table.begins_with_text) break;
    const auto peer = peer_of(words[p]);
    if (!peer) continue;
    const bool has_version = words[p + 1] == "4" && is_as_number(words[p + 2]);
    const std::size_t as = p + (has_version ? 2 : 1);
    if (!is_as_number(words[as])) continue;
    const auto found = find_state(words, as + 1);
    if (!found) continue;
    PasteSession out;
    out.peer = peer->peer;
    out.port = peer->port;
    out.as = words[as];
    out.name = peer->name;
    // Where the state follows the AS, counters and dates come last (NVUE, EOS).
    const bool is_last = found->at > as + 1;
    const std::string description = p > 0     ? joined(words, 0, p)
                                    : is_last ? description_in(words, found->after)
                                              : std::string();
    if (!description.empty()) out.name += (out.name.empty() ? "" : " ") + description;
    out.state = found->state.text;
    out.is_up = found->state.is_up;
    out.is_shut = found->state.is_shut;
    out.is_inner = !table.local_as.empty() && out.as == table.local_as;
    // Where prefixes stand instead of a state, what is before them is of no use.
    if (!out.is_up) note_time(words, as + 1, found->at, out);
    return out;
  }
  return std::nullopt;
}

bool asks_for_sessions(const Mark& mark) {
  const std::string lower = lower_case(mark.command);
  return lower.find("bgp") != std::string::npos &&
         (lower.find("summ") != std::string::npos || lower.find("neighbor") != std::string::npos);
}

// ---- single neighbours ----

/// "BGP neighbor is 10.255.6.4, remote AS 65003, …", "BGP neighbor on swp64: fe80::1, remote AS …",
/// "Peer: 10.0.0.3+179 AS 65000    Local: …".
std::optional<PasteSession> block_begin(std::string_view text) {
  const Words words = words_of(text);
  const bool is_frr = words.size() > 5 && words[0] == "BGP" && words[1] == "neighbor" &&
                      (words[2] == "is" || words[2] == "on");
  const bool is_junos = words.size() > 3 && words[0] == "Peer:" && words[2] == "AS";
  if (!is_frr && !is_junos) return std::nullopt;
  std::string_view peer = words[is_frr ? 3 : 1];
  peer = peer.substr(0, peer.find('+'));
  while (!peer.empty() && (peer.back() == ',' || peer.back() == ':'))
    peer.remove_suffix(1);
  const auto found = peer_of(peer);
  if (!found) return std::nullopt;
  PasteSession out;
  out.peer = found->peer;
  out.port = found->port;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    std::string_view as = words[i + 1];
    if (as.ends_with(',')) as.remove_suffix(1);
    if (words[i] == "AS" && is_as_number(as) && out.as.empty()) out.as = as;
  }
  out.is_inner = text.find("internal link") != std::string_view::npos ||
                 text.find("ibgp link") != std::string_view::npos;
  return out;
}

/// "BGP state = Idle (Admin), down for 5w0d", "BGP state is Established, up for 3d", "Type:
/// External    State: Idle (route reflector client)", "Administratively shut down".
void note_block_line(std::string_view text, PasteSession& session) {
  const Words words = words_of(text);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const bool is_key = (words[i] == "=" || words[i] == "is") && i > 0 && words[i - 1] == "state";
    if (!is_key && words[i] != "State:") continue;
    const auto state = state_of(words[i + 1], i + 2 < words.size() ? words[i + 2] : "");
    if (!state) continue;
    session.state = state->text;
    session.is_up = state->is_up;
    session.is_shut = session.is_shut || state->is_shut;
  }
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    if (words[i] != "down" || words[i + 1] != "for") continue;
    std::string_view since = words[i + 2];
    if (since.ends_with(',')) since.remove_suffix(1);
    session.seconds = seconds_of(since);
    session.since = since;
  }
  if (text.starts_with("Description:")) session.name = trim(text.substr(12));
  if (text.starts_with("Hostname:")) session.name = trim(text.substr(9));
  if (lower_case(text).find("administratively shut") != std::string::npos) session.is_shut = true;
}

std::size_t read_block(const PasteAt& at, PasteSink& out) {
  auto session = block_begin(at.line(0));
  std::size_t taken = 1;
  for (; session && taken < at.lines.size() && !block_begin(at.line(taken)); ++taken)
    note_block_line(at.line(taken), *session);
  if (!session || session->state.empty()) return 0;
  session->host = out.host();
  session->at = out.cite(at.lines[0]);
  note(out, out.paste().rows.sessions, std::move(*session));
  return taken;
}

}  // namespace

bool begins_sessions(const PasteAt& at) {
  const std::string_view text = at.line(0);
  if (block_begin(text)) return true;
  // "Router identifier" alone is EOS, whose first line reads like a sentence.
  if (text.starts_with("BGP router identifier") || text.starts_with("BGP summary information") ||
      text.starts_with("Neighbor Status Codes") ||
      (text.starts_with("Router identifier") && text.find("local AS number") != text.npos))
    return true;
  if (is_session_heading(words_of(text))) return true;
  const bool is_above = text.starts_with("Groups: ") || text.starts_with("Threading mode") ||
                        text.find("nicast Summary") != std::string_view::npos ||
                        text.starts_with("L2VPN EVPN Summary") ||
                        text.starts_with("AS - Remote Autonomous");
  if (!asks_for_sessions(at.mark)) return false;
  return is_above || session_in(text, {}).has_value();
}

std::size_t read_sessions(const PasteAt& at, PasteSink& out) {
  if (block_begin(at.line(0))) return read_block(at, out);
  SessionTable table;
  const std::string asked = lower_case(at.mark.command);
  const bool is_asked_foreign = asked.find("evpn") != std::string::npos ||
                                asked.find("vrf mgmt") != std::string::npos ||
                                asked.find("vrf management") != std::string::npos;
  std::size_t last = 0;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    std::string text(at.line(n));
    if (text.empty() || is_rule(text)) continue;
    const Words words = words_of(at.line(n));
    const std::size_t first = n;
    // A long address has a line of its own.
    if (words.size() == 1 && is_address(words[0])) text += " " + std::string(at.line(++n));
    if (is_session_heading(words)) {
      table.has_heading = true;
      table.begins_with_text = words.front() == "Description";
    } else if (is_session_text(text)) {
      note_text(text, table);
    } else if (auto session = session_in(text, table)) {
      session->host = out.host();
      session->at = out.cite(at.lines[first]);
      session->at.text = trim(text);
      if (!table.is_foreign && !is_asked_foreign)
        note(out, out.paste().rows.sessions, std::move(*session));
    } else {
      break;
    }
    last = n;
  }
  return last + 1;
}

}  // namespace weir::readers
