// What the scripts of tuning guides print, and probes: a script's deltas of counters, the loop over
// the ECN files, ping with DF, and the time of readings.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "readers/paste/paste_tools.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

/// "gpu02" of "gpu02: rest"; the rest alone where there is none.
struct Named {
  std::string_view host;
  std::string_view rest;
};
Named split_host(std::string_view text) {
  const std::size_t colon = text.find(": ");
  if (colon == std::string_view::npos || colon == 0) return {{}, text};
  const std::string_view host = text.substr(0, colon);
  const bool is_name = std::all_of(host.begin(), host.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.';
  });
  return is_name ? Named{host, trim(text.substr(colon + 2))} : Named{{}, text};
}

std::optional<std::uint64_t> number_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(at + key.size());
  const auto value = parse_u64(rest.substr(0, rest.find_first_not_of("0123456789")));
  return value ? std::optional(*value) : std::nullopt;
}

// ---- deltas of counters ----

/// "np_cnp_sent: pre=501 post=733 DELTA=232", also behind the name of a host.
struct DeltaLine {
  std::string_view host;
  std::string_view name;
  std::uint64_t before = 0;
  std::uint64_t after = 0;
};
std::optional<DeltaLine> delta_line(std::string_view text) {
  const std::size_t values = text.find("pre=");
  if (values == std::string_view::npos || values < 2 ||
      text.find("post=") == std::string_view::npos)
    return std::nullopt;
  const auto before = number_after(text, "pre=");
  const auto after = number_after(text, "post=");
  const Named named = split_host(trim(text.substr(0, values)));
  std::string_view name = trim(named.rest);
  if (name.ends_with(':')) name.remove_suffix(1);
  if (!before || !after || name.empty() || name.find_first_of(" \t:") != std::string_view::npos)
    return std::nullopt;
  return DeltaLine{named.host, name, *before, *after};
}

}  // namespace

bool begins_deltas(const PasteAt& at) {
  return delta_line(at.line(0)).has_value();
}

std::size_t read_deltas(const PasteAt& at, PasteSink& out) {
  const std::string before = out.host();
  std::size_t taken = 0;
  std::vector<std::pair<const PastedNic*, counters::Place>> begun;
  counters::Place place = counters::Place::kHwCounters;
  for (; taken < at.lines.size(); ++taken) {
    const auto item = delta_line(at.line(taken));
    if (!item) break;
    if (!item->host.empty()) out.use_host(item->host);
    PastedNic& nic = out.hosts().by_name(out.host(), at.mark.device);
    place = place_of_counter(item->name).value_or(place);
    const auto key = std::pair<const PastedNic*, counters::Place>(&nic, place);
    if (std::find(begun.begin(), begun.end(), key) == begun.end()) {
      nic.begin_window(place);
      begun.push_back(key);
    }
    nic.add_window(place, item->name, item->before, item->after);
    if (!item->host.empty()) out.use_host(before);
  }
  out.device = at.mark.device;
  return taken;
}

// ---- "Priority 3: NP=1 RP=0" ----

namespace {

struct RoleLine {
  std::string_view host;
  unsigned priority = 0;
  std::optional<bool> np;
  std::optional<bool> rp;
};
std::optional<bool> role(std::string_view text, std::string_view key) {
  const auto value = number_after(text, key);
  return value && *value <= 1 ? std::optional(*value == 1) : std::nullopt;
}
std::optional<RoleLine> role_line(std::string_view text) {
  RoleLine out;
  if (!text.starts_with("Priority ")) {
    const Named named = split_host(text);
    out.host = named.host;
    text = named.rest;
  }
  if (!text.starts_with("Priority ") || text.find("NP=") == std::string_view::npos ||
      text.find("RP=") == std::string_view::npos)
    return std::nullopt;
  const auto priority = number_after(text, "Priority ");
  if (!priority || *priority > 7) return std::nullopt;
  out.priority = static_cast<unsigned>(*priority);
  out.np = role(text, "NP=");
  out.rp = role(text, "RP=");
  return out;
}

/// Adds one priority to a set that may be known in part; a loop that was cut off says nothing of
/// the priorities it does not print.
void add_role(evidence::Fact<PrioritySet>& fact, unsigned priority, bool is_on,
              const PasteLine& line, PasteSink& out) {
  PrioritySet set = fact.is_known() ? *fact : PrioritySet();
  if (is_on) {
    set.insert(Priority::of(priority));
  } else {
    set = PrioritySet::from_mask(static_cast<std::uint8_t>(set.mask() & ~(1U << priority)));
  }
  out.set(fact, set, line);
}

}  // namespace

bool begins_ecn_roles(const PasteAt& at) {
  return role_line(at.line(0)).has_value();
}

std::size_t read_ecn_roles(const PasteAt& at, PasteSink& out) {
  const std::string before = out.host();
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const auto item = role_line(at.line(taken));
    if (!item) break;
    if (!item->host.empty()) out.use_host(item->host);
    evidence::Nic& nic = out.hosts().by_name(out.host(), at.mark.device).nic;
    if (item->np) add_role(nic.ecn.np, item->priority, *item->np, at.lines[taken], out);
    if (item->rp) add_role(nic.ecn.rp, item->priority, *item->rp, at.lines[taken], out);
    if (!item->host.empty()) out.use_host(before);
  }
  out.device = at.mark.device;
  return taken;
}

// ---- ping ----

namespace {

/// "PING 10.0.1.7 (10.0.1.7) 8972(9000) bytes of data."
bool is_ping_heading(std::string_view text) {
  return text.starts_with("PING ") && text.find(" bytes of data") != std::string_view::npos;
}

bool is_reply(std::string_view text) {
  return text.find(" bytes from ") != std::string_view::npos &&
         text.find("icmp_seq=") != std::string_view::npos;
}

bool is_too_long(std::string_view text) {
  return text.find("essage too long") != std::string_view::npos ||
         text.find("Frag needed and DF set") != std::string_view::npos ||
         text.find("Packet too big") != std::string_view::npos;
}

bool is_ping_line(std::string_view text) {
  return is_reply(text) || is_too_long(text) ||
         text.find(" packets transmitted, ") != std::string_view::npos ||
         (text.starts_with("--- ") && text.find(" ping statistics") != std::string_view::npos) ||
         text.starts_with("rtt min/avg/max") || text.starts_with("From ") ||
         text.find("no answer yet for icmp_seq=") != std::string_view::npos;
}

/// "8972" behind -s, the target as the last word.
void read_ping_command(const Mark& mark, PastePing& ping) {
  if (mark.tool() != "ping") return;
  for (std::size_t at = 1; at + 1 < mark.words.size(); ++at) {
    if (mark.words[at] == "-s")
      if (const auto size = parse_u64(mark.words[at + 1]); size && *size < 65536)
        ping.payload = static_cast<unsigned>(*size);
    if (mark.words[at] == "-M") ping.is_whole = mark.words[at + 1] == "do";
  }
  ping.target = mark.words.back();
}

}  // namespace

bool begins_ping(const PasteAt& at) {
  return is_ping_heading(at.line(0)) || (at.mark.tool() == "ping" && is_ping_line(at.line(0)));
}

std::size_t read_ping(const PasteAt& at, PasteSink& out) {
  PastePing ping;
  ping.host = out.host();
  ping.at = out.cite(at.lines[0]);
  read_ping_command(at.mark, ping);
  std::size_t taken = 0;
  std::size_t last = 0;
  std::optional<std::uint64_t> sent;
  std::optional<std::uint64_t> received;
  for (; taken < at.lines.size(); ++taken) {
    const std::string_view text = at.line(taken);
    if (text.empty()) continue;
    if (is_ping_heading(text)) {
      if (taken > 0) break;
      const auto words = words_of(text);
      ping.target = words.size() > 1 ? std::string(words[1]) : std::string();
      const std::size_t open = text.find('(', text.find(") ") + 1);
      const std::size_t begin = text.rfind(' ', open);
      if (open != std::string_view::npos && begin != std::string_view::npos) {
        if (const auto size = parse_u64(text.substr(begin + 1, open - begin - 1));
            size && *size < 65536)
          ping.payload = static_cast<unsigned>(*size);
      }
    } else if (!is_ping_line(text)) {
      break;
    }
    ping.replies += is_reply(text) ? 1 : 0;
    if (is_too_long(text)) {
      ping.is_refused = true;
      ping.at = out.cite(at.lines[taken]);
    }
    if (text.find(" packets transmitted, ") != std::string_view::npos) {
      sent = number_after(" " + std::string(text), " ");
      received = number_after(text, "transmitted, ");
      ping.at = out.cite(at.lines[taken]);
    }
    last = taken;
  }
  if (received) ping.replies = *received;
  ping.sent = sent.value_or(ping.replies);
  out.detail = ping.target;
  if (ping.payload > 0 && (ping.sent > 0 || ping.is_refused))
    out.paste().pings.push_back(std::move(ping));
  return last + 1;
}

// ---- the time of readings ----

bool begins_date(const PasteAt& at) {
  return time_of_line(at.line(0)).has_value();
}

std::size_t read_date(const PasteAt& at, PasteSink& out) {
  PasteTime time = out.hosts().time();
  time.second = time_of_line(at.line(0));
  out.hosts().set_time(time);
  return 1;
}

}  // namespace weir::readers
