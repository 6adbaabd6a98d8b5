// Ports of switches in lists: FEC as it is set, links that are not connected. And FEC that a host
// forces.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "readers/paste/notes/notes.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

/// "" where it is off, "RS", "FC" (Firecode, BASE-R); nullopt for words that name no FEC.
std::optional<std::string> fec_kind(std::string_view word) {
  std::string lower = lower_case(word);
  while (!lower.empty() && (lower.back() == ';' || lower.back() == ','))
    lower.pop_back();
  if (lower == "none" || lower == "off" || lower == "disabled" || lower == "fec-off")
    return std::string();
  for (const std::string_view start :
       {"rs", "reed", "kp", "cl91", "cl108", "fec91", "fec108", "fec119"})
    if (lower.starts_with(start)) return "RS";
  for (const std::string_view start : {"fc", "fire", "baser", "base-r", "cl74", "fec74"})
    if (lower.starts_with(start)) return "FC";
  return std::nullopt;
}

/// Columns of a list that tell FEC: their places among the words of a row.
struct FecColumns {
  std::size_t fec = 0;  // as it is set
  std::size_t oper = 0;
};

/// "Interface  FEC Oper  FEC Admin" of SONiC, "Name Ifindex Admin-fec Oper-fec Status …" of NX-OS.
std::optional<FecColumns> fec_columns(const std::vector<std::string_view>& words) {
  const auto place = [&](std::string_view name) -> std::size_t {
    const auto found = std::find(words.begin(), words.end(), name);
    return found == words.end() ? 0 : static_cast<std::size_t>(found - words.begin());
  };
  if (words.size() == 5 && words[1] == "FEC" && words[2] == "Oper" && words[4] == "Admin")
    return FecColumns{2, 1};
  if (place("Admin-fec") > 0 && place("Status") > 0)
    return FecColumns{place("Admin-fec"), place("Status")};
  return std::nullopt;
}

std::optional<bool> is_down_word(std::string_view word) {
  if (word == "down" || word == "N/A" || word.starts_with("notconn")) return true;
  const auto kind = fec_kind(word);
  if (word == "up" || word == "connected" || (kind && !kind->empty())) return false;
  return std::nullopt;
}

/// A row of SONiC's `show interfaces status`, which people cut out without its heading: "Ethernet0
/// 1,2,3,4 400G 9216 rs etp1 routed up up QSFP-DD …".
std::optional<PasteFec> status_row(const std::vector<std::string_view>& words) {
  constexpr std::size_t kType = 9;
  constexpr std::uint64_t kPam4 = 200;  // from here on all lanes are PAM4
  if (words.size() <= kType || !is_switch_port(words[0]) || !words[2].ends_with('G') ||
      words[1].find_first_not_of("0123456789,") != std::string_view::npos)
    return std::nullopt;
  const auto speed = parse_count(words[2].substr(0, words[2].size() - 1));
  const auto kind = fec_kind(words[4]);
  const auto is_down = is_down_word(words[7]);
  if (!speed || !kind || !is_down || !parse_count(words[3])) return std::nullopt;
  PasteFec out;
  out.port = long_port_name(words[0]);
  out.is_off = kind->empty();
  out.kind = *kind;
  out.is_down = is_down;
  out.needs_it = words[8] == "up" && words[kType] != "N/A" && *speed >= kPam4;
  return out;
}

/// "fec off", "fec none;", "ether-options fec none", "no error-correction encoding",
/// "error-correction encoding reed-solomon" below an interface, and what shows print of one port:
/// "Forward Error Correction: Reed-Solomon", "Ethernet FEC Mode  :  FEC119".
std::optional<std::string> fec_statement(std::string_view text,
                                         const std::vector<std::string_view>& words) {
  // "fec  off  off": Cumulus shows what is in effect, then what is applied
  const auto key = std::find(words.begin(), words.end(), "fec");
  const auto behind = words.end() - key;
  const bool is_first = key == words.begin();
  const bool is_set = words[0] == "set" || words[0] == "nv";
  if (key != words.end() && (is_first ? behind == 2 || behind == 3 : behind == 2 && is_set))
    return fec_kind(words.back());
  if (words.size() >= 3 && words[0] == "no" && words[1] == "error-correction") return std::string();
  if (words.size() >= 3 && words[0] == "error-correction" && words[1] == "encoding")
    return fec_kind(words[2]);
  const std::string lower = lower_case(text);
  for (const std::string_view name : {"forward error correction", "fec mode"}) {
    const std::size_t at = lower.find(name);
    if (at == std::string::npos) continue;
    const auto rest = words_of(std::string_view(lower).substr(at + name.size()));
    for (const std::string_view word : rest)
      if (word != ":") return fec_kind(word.starts_with(':') ? word.substr(1) : word);
  }
  return std::nullopt;
}

/// "Ethernet264" of `sonic-db-cli CONFIG_DB hget "PORT|Ethernet264" fec`.
std::string port_of_database(const Mark& mark) {
  constexpr std::string_view kKey = "PORT|";
  const std::size_t at = mark.command.find(kKey);
  if (at == std::string::npos || mark.command.find("fec", at) == std::string::npos) return {};
  const std::string_view rest = std::string_view(mark.command).substr(at + kKey.size());
  return std::string(rest.substr(0, rest.find_first_of("\"' ")));
}

/// The port that a line is about: "interface Ethernet1/1", "set interfaces et-0/0/3 …",
/// "Ethernet15/1  Forward …", "Physical interface: et-0/0/3, Enabled, …"; empty where it names
/// none.
std::string port_of_line(const std::vector<std::string_view>& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const bool is_key =
        words[i] == "interface" || words[i] == "interfaces" || words[i] == "interface:";
    if (!is_key) continue;
    std::string_view port = words[i + 1];
    if (port.ends_with(',')) port.remove_suffix(1);
    if (is_switch_port(port)) return long_port_name(port);
  }
  std::string_view first = words.front();
  if (first.ends_with(':')) first.remove_suffix(1);
  return is_switch_port(first) ? long_port_name(first) : std::string();
}

void note_forced_fec(const PasteAt& at, std::size_t n, std::string& netdev, PasteSink& out) {
  constexpr std::string_view kOf = "FEC parameters for ";
  const std::string_view text = at.line(n);
  if (text.starts_with(kOf)) netdev = text.substr(kOf.size(), text.size() - kOf.size() - 1);
  const auto pair = key_value(text);
  if (!pair || !pair->key.ends_with("onfigured FEC encodings")) return;
  const auto words = words_of(pair->value);
  const bool is_forced = words.size() == 1 && (words[0] == "RS" || words[0] == "BaseR");
  const std::string& device = netdev.empty() ? at.mark.device : netdev;
  if (is_forced && !device.empty())
    note(out, out.paste().noted.forced_fec,
         {out.host(), device, std::string(words[0]), out.cite(at.lines[n])});
}

/// Described as a link to the next tier.
bool leads_up(const std::vector<std::string_view>& words) {
  return std::any_of(words.begin() + 1, words.end(), [](std::string_view word) {
    const std::string lower = lower_case(word);
    for (const std::string_view stem : {"spine", "superspine", "core", "uplink", "agg"})
      if (lower.starts_with(stem)) return true;
    return false;
  });
}

}  // namespace

std::size_t note_fec(const PasteAt& at, PasteSink& out) {
  auto& all = out.paste().noted.fec;
  std::optional<FecColumns> columns;
  const std::string asked = port_of_database(at.mark);
  std::string port = long_port_name(asked.empty() ? port_of_command(at.mark) : asked);
  std::string netdev;
  std::size_t said = 0;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const auto words = words_of(at.line(n));
    if (words.empty()) {
      columns.reset();
      continue;
    }
    note_forced_fec(at, n, netdev, out);
    if (const auto found = fec_columns(words)) {
      columns = found;
      continue;
    }
    if (auto row = status_row(words)) {
      row->switch_name = out.host();
      row->at = out.cite(at.lines[n]);
      note(out, all, std::move(*row));
      ++said;
      continue;
    }
    const std::string named = port_of_line(words);
    if (columns && !named.empty() && words.size() > std::max(columns->fec, columns->oper)) {
      const auto kind = fec_kind(words[columns->fec]);
      if (!kind) continue;
      note(out, all,
           {out.host(), named, kind->empty(), is_down_word(words[columns->oper]),
            out.cite(at.lines[n]), *kind});
      ++said;
      continue;
    }
    if (!named.empty()) port = named;
    const bool is_value = !asked.empty() && words.size() == 1;
    const auto kind = is_value ? fec_kind(words[0]) : fec_statement(at.line(n), words);
    if (kind && !port.empty()) {
      note(out, all, {out.host(), port, kind->empty(), std::nullopt, out.cite(at.lines[n]), *kind});
      ++said;
    } else if (words.size() == 3 && words[0] == "state" && !all.empty() &&
               all.back().port == port && (words[1] == "down" || words[1] == "up")) {
      all.back().is_down = words[1] == "down";
    }
  }
  return said;
}

std::size_t note_port_states(const PasteAt& at, PasteSink& out) {
  if (!at.mark.is_switch) return 0;
  auto& all = out.paste().noted.port_states;
  const bool is_terse = at.mark.command.find("terse") != std::string::npos;
  const bool is_described = at.mark.command.find("description") != std::string::npos;
  const bool is_list =
      is_terse || is_described || at.mark.command.find("status") != std::string::npos;
  std::size_t said = 0;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const auto words = words_of(at.line(n));
    if (words.size() < 3 || !is_switch_port(words[0])) continue;
    // "Ethernet1/51 is down (Link not connected)"
    const bool is_stated =
        words[1] == "is" && (words[2] == "down" || words[2] == "up" || words[2] == "down,");
    const auto state = std::find_if(words.begin() + 1, words.end(), [](std::string_view word) {
      return word.starts_with("notconn") || word == "connected";
    });
    // Junos and EOS: the administrator's state, then the link's.
    const bool is_pair =
        (is_terse || is_described) && words[1] == "up" && (words[2] == "up" || words[2] == "down");
    if (is_pair) {
      note(out, all,
           {out.host(), long_port_name(words[0]), words[2] == "up", out.cite(at.lines[n]),
            is_described && leads_up(words)});
    } else if (is_stated) {
      if (at.line(n).find("dministratively") != std::string_view::npos) continue;
      note(out, all,
           {out.host(), long_port_name(words[0]), words[2] == "up", out.cite(at.lines[n])});
    } else if (is_list && state != words.end()) {
      note(out, all,
           {out.host(), long_port_name(words[0]), *state == "connected", out.cite(at.lines[n]),
            leads_up(words)});
    } else {
      continue;
    }
    ++said;
  }
  return is_list ? said : 0;
}

std::string long_port_name(std::string_view port) {
  const std::size_t digit = port.find_first_of("0123456789");
  const std::string_view stem = port.substr(0, digit);
  const bool is_short = stem == "Et" || stem == "Eth" || stem == "e" || stem == "eth";
  return is_short && digit != std::string_view::npos && port.find('/') != std::string_view::npos
             ? "Ethernet" + std::string(port.substr(digit))
             : std::string(port);
}

/// `show interfaces counters discards` of EOS: the reader of its tables takes what was not sent.
std::size_t note_port_drops(const PasteAt& at, PasteSink& out) {
  std::size_t column = 0;
  std::size_t columns = 0;
  std::size_t said = 0;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const auto words = words_of(at.line(n));
    const auto found = std::find(words.begin(), words.end(), "InDiscards");
    if (found != words.end()) {
      column = static_cast<std::size_t>(found - words.begin());
      columns = words.size();
      continue;
    }
    if (column == 0 || words.size() != columns || !is_switch_port(words[0])) continue;
    const auto packets = parse_count(words[column]);
    if (!packets) continue;
    note(out, out.paste().noted.port_drops,
         {out.host(), long_port_name(words[0]), *packets, out.cite(at.lines[n])});
    ++said;
  }
  return said;
}

/// "0 input with dribble  771204 input discard" of a port that the command or a line above names:
/// what a filter leaves of `show interface` of NX-OS and EOS.
std::size_t note_input_discards(const PasteAt& at, PasteSink& out) {
  if (!at.mark.is_switch) return 0;
  std::string port = port_of_command(at.mark);
  std::size_t said = 0;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const auto words = words_of(at.line(n));
    if (words.size() > 2 && words[1] == "is" && is_switch_port(words[0])) port = words[0];
    for (std::size_t i = 1; i + 1 < words.size() && !port.empty(); ++i) {
      const std::string_view what = words[i + 1].substr(0, words[i + 1].find(','));
      const bool is_count = words[i] == "input" && (what == "discard" || what == "discards");
      const auto packets = is_count ? parse_count(words[i - 1]) : std::nullopt;
      if (!packets) continue;
      note(out, out.paste().noted.port_drops,
           {out.host(), long_port_name(port), *packets, out.cite(at.lines[n])});
      ++said;
    }
  }
  return said;
}

/// "Ethernet1/31 is up" and, below it, "MTU 1500 bytes, BW …" (NX-OS), "IP MTU 9214 bytes" (EOS):
/// what a filter leaves of `show interface`.
std::size_t note_port_mtus(const PasteAt& at, PasteSink& out) {
  std::size_t said = 0;
  std::string port = at.mark.is_switch ? port_of_command(at.mark) : std::string();
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const auto words = words_of(at.line(n));
    if (words.size() > 2 && words[1] == "is" && is_switch_port(words[0]))
      port = long_port_name(words[0]);
    const std::size_t key = !words.empty() && words[0] == "IP" ? 1 : 0;
    const bool is_mtu =
        words.size() > key + 2 && words[key] == "MTU" && words[key + 2].starts_with("bytes");
    const auto bytes = is_mtu ? parse_count(words[key + 1]) : std::nullopt;
    constexpr std::uint64_t kLargest = 65'535;
    if (!bytes || *bytes > kLargest || port.empty()) continue;
    note(out, out.paste().noted.port_mtus,
         {out.host(), port, Bytes::raw(static_cast<std::int64_t>(*bytes)), out.cite(at.lines[n])});
    port.clear();  // what follows may be of a port that a filter left out
    ++said;
  }
  return said;
}

}  // namespace weir::readers
