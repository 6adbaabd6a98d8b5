// LLDP neighbours: lldpcli and lldpctl (blocks, key=value, JSON, a line per port of a loop), and
// the tables of switches.
#include <algorithm>
#include <array>

#include "base/json.h"
#include "base/text.h"
#include "base/untrusted/json_parse.h"
#include "readers/paste/paste_tools.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {

bool is_switch_port(std::string_view word) {
  const std::size_t digit = word.find_first_of("0123456789");
  if (digit == std::string_view::npos || digit == 0) return false;
  const std::string_view stem = word.substr(0, digit);
  // "0/0/31", "17/1", "64s1", "0:3"
  if (word.substr(digit).find_first_not_of("0123456789/:.s") != std::string_view::npos)
    return false;
  for (const std::string_view known : {"Ethernet", "ethernet", "Eth", "eth", "Et", "et-", "xe-",
                                       "ge-", "swp", "PortChannel", "Po"})
    if (stem == known) return true;
  return false;
}

std::string port_of_command(const Mark& mark) {
  for (std::size_t i = 1; i < mark.words.size(); ++i) {
    const std::string& word = mark.words[i];
    if (is_switch_port(word)) {
      // "ethernet17/1" and "e17/1" are "Ethernet17/1" in what is printed.
      return word.starts_with("ethernet") ? "E" + word.substr(1) : word;
    }
    const bool is_kind = word == "ethernet" || word == "Ethernet" || word == "eth" || word == "e";
    if (is_kind && i + 1 < mark.words.size() && !mark.words[i + 1].empty() &&
        mark.words[i + 1][0] >= '0' && mark.words[i + 1][0] <= '9')
      return "Ethernet" + mark.words[i + 1];
  }
  return {};
}

namespace {

// ---- blocks ----

/// "gpu0_eth" of "Interface:    gpu0_eth, via: LLDP, RID: 1, …".
std::optional<std::string_view> lldp_interface(std::string_view text) {
  constexpr std::string_view kStart = "Interface:";
  if (!text.starts_with(kStart)) return std::nullopt;
  const std::string_view rest = trim(text.substr(kStart.size()));
  const std::size_t comma = rest.find(',');
  if (comma == std::string_view::npos || rest.find("via: LLDP", comma) == std::string_view::npos)
    return std::nullopt;
  return rest.substr(0, comma);
}

/// "ens8np0", "rdma1": an interface of a host, as no switch names its ports.
bool is_host_port(std::string_view word) {
  const bool is_lower = !word.empty() && word[0] >= 'a' && word[0] <= 'z';
  if (!is_lower || word.find_first_of("0123456789") == std::string_view::npos) return false;
  if (word.find_first_of(" /:.,") != std::string_view::npos) return false;
  return !word.starts_with("swp") && word.find('-') == std::string_view::npos;
}

/// "b8:3f:d2:60:07:01", "b83f.d260.0701"
bool is_mac_word(std::string_view word) {
  constexpr std::size_t kDigits = 12;
  const auto digits = std::count_if(word.begin(), word.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
  return static_cast<std::size_t>(digits) == kDigits &&
         word.find_first_not_of("0123456789abcdefABCDEF:.-") == std::string_view::npos &&
         word.find_first_of(":.-") != std::string_view::npos;
}

class Neighbours {
 public:
  Neighbours(const PasteAt& at, PasteSink& out) : is_switch_(at.mark.is_switch), out_(out) {}

  void begin(std::string_view port, const PasteLine& line) {
    flush();
    now_.port = port;
    now_.at = out_.cite(line);
  }
  PasteNeighbour& now() { return now_; }
  /// The port at the other end, by its id or its description; whichever names an interface of a
  /// host is kept as such.
  void set_remote(std::string_view word) {
    if (is_host_port(word) || (is_mac_word(word) && now_.remote_netdev.empty()))
      now_.remote_netdev = word;
  }
  void add(std::string_view port, std::string_view system, std::string_view remote,
           const PasteLine& line, std::string_view description = {}) {
    begin(port, line);
    now_.system = system;
    now_.remote_port = remote;
    set_remote(remote);
    set_remote(description);
    flush();
  }
  void flush() {
    if (!now_.port.empty() && !now_.system.empty()) {
      now_.host = out_.host();
      now_.is_switch = is_switch_ || (is_switch_port(now_.port) && !is_host_port(now_.port));
      out_.paste().neighbours.push_back(now_);
    }
    now_ = {};
  }

 private:
  bool is_switch_;
  PasteSink& out_;
  PasteNeighbour now_;
};

/// "SysName:  leaf-r0" below "== rail0": a loop that prints the port and then a part of the block.
bool begins_lldp_part(const PasteAt& at) {
  const auto pair = key_value(at.line(0));
  return !at.mark.device.empty() && pair && (pair->key == "SysName" || pair->key == "PortID") &&
         !pair->value.empty();
}

std::size_t read_lldp_blocks(const PasteAt& at, PasteSink& out) {
  Neighbours found(at, out);
  if (begins_lldp_part(at)) {
    found.begin(at.mark.device, at.lines[0]);
    found.now().at.text = at.mark.device;
  }
  std::size_t taken = 0;
  std::size_t last = 0;
  for (; taken < at.lines.size(); ++taken) {
    const std::string_view text = at.line(taken);
    if (text.empty() || is_rule(text)) {
      if (is_rule(text)) last = taken;
      continue;
    }
    const auto pair = key_value(text);
    if (!pair) break;
    if (const auto name = lldp_interface(text)) {
      found.begin(*name, at.lines[taken]);
    } else if (pair->key == "SysName") {
      found.now().system = pair->value;
      found.now().at.text += "; " + std::string(text);
    } else if (pair->key == "PortID") {
      const auto words = words_of(pair->value);
      if (!words.empty() && words[0] == "ifname") found.now().remote_port = words.back();
      if (!words.empty()) found.set_remote(words.back());
    } else if (pair->key == "PortDescr") {
      if (found.now().remote_port.empty()) found.now().remote_port = pair->value;
      found.set_remote(pair->value);
    }
    last = taken;
  }
  found.flush();
  return last + 1;
}

// ---- key=value ----

struct LldpKey {
  std::string_view port;
  std::string_view key;  // "chassis.name"
  std::string_view value;
};
/// "lldp.gpu0_eth.chassis.name=rail0-leaf"
std::optional<LldpKey> lldp_key(std::string_view text) {
  if (!text.starts_with("lldp.")) return std::nullopt;
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const std::string_view path = text.substr(5, equals - 5);
  for (const std::string_view part :
       {".chassis.", ".port.", ".via", ".rid", ".age", ".vlan", ".lldp-med", ".unknown-tlvs"}) {
    const std::size_t at = path.find(part);
    if (at != std::string_view::npos && at > 0)
      return LldpKey{path.substr(0, at), path.substr(at + 1), text.substr(equals + 1)};
  }
  return std::nullopt;
}

std::size_t read_lldp_keys(const PasteAt& at, PasteSink& out) {
  Neighbours found(at, out);
  std::string port;
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const auto item = lldp_key(at.line(taken));
    if (!item) break;
    if (item->port != port) found.begin(item->port, at.lines[taken]);
    port = item->port;
    if (item->key == "chassis.name") {
      found.now().system = item->value;
      found.now().at = out.cite(at.lines[taken]);
    }
    if (item->key == "port.ifname" ||
        (item->key == "port.descr" && found.now().remote_port.empty()))
      found.now().remote_port = item->value;
    if (item->key.starts_with("port.")) found.set_remote(item->value);
  }
  found.flush();
  return taken;
}

// ---- JSON ----

std::string lldp_text(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_string()
             ? object[key].get<std::string>()
             : std::string();
}

void read_lldp_interface(const std::string& port, const Json& item, const PasteLine& line,
                         Neighbours& found) {
  if (!item.is_object() || !item.contains("chassis") || !item["chassis"].is_object()) return;
  const Json& chassis = item["chassis"];
  std::string system = lldp_text(chassis, "name");
  // lldpcli names the object after the system.
  if (system.empty() && chassis.size() == 1 && chassis.begin()->is_object())
    system = chassis.begin().key();
  std::string remote;
  if (item.contains("port")) remote = lldp_text(item["port"], "descr");
  found.add(port, system, remote, line);
}

/// The lines of one JSON document; 0 where it does not end.
std::size_t json_lines(const PasteAt& at) {
  int depth = 0;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    for (const char c : at.line(n))
      depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
    if (depth == 0) return n + 1;
    if (depth < 0) return 0;
  }
  return 0;
}

bool begins_lldp_json(const PasteAt& at) {
  const std::string_view first = at.line(0);
  return first.starts_with('{') &&
         (first.find("\"lldp\"") != std::string_view::npos || at.line(1).starts_with("\"lldp\""));
}

std::size_t read_lldp_json(const PasteAt& at, PasteSink& out) {
  const std::size_t count = json_lines(at);
  std::string text;
  for (std::size_t n = 0; n < count; ++n)
    text += std::string(at.line(n)) + "\n";
  auto document = parse_json(text);
  if (count == 0 || !document || !document->is_object() || !(*document)["lldp"].is_object() ||
      !(*document)["lldp"].contains("interface"))
    return 0;
  Neighbours found(at, out);
  const Json& interfaces = (*document)["lldp"]["interface"];
  const auto read_all = [&](const Json& object) {
    for (auto item = object.begin(); object.is_object() && item != object.end(); ++item) {
      // The line that names the port, to be quoted.
      const std::string quoted = "\"" + item.key() + "\"";
      std::size_t line = 0;
      while (line + 1 < count && at.line(line).find(quoted) == std::string_view::npos)
        ++line;
      read_lldp_interface(item.key(), item.value(), at.lines[line], found);
    }
  };
  if (interfaces.is_array())
    for (const Json& item : interfaces)
      read_all(item);
  else
    read_all(interfaces);
  return count;
}

// ---- tables of switches ----

/// Which word of a row is the local port, the system and its port; from the end where negative.
struct LldpTable {
  std::string_view heading;  // without blanks
  int port;
  int system;
  int remote;
  int description = 0;  // 0: none
};
constexpr auto kLldpTables = std::to_array<LldpTable>({
    {"PortNeighborDeviceIDNeighborPortIDTTL", 0, 1, 2},                           // EOS
    {"LocalPortRemoteDeviceRemotePortIDCapabilityRemotePortDescr", 0, 1, 2, -1},  // SONiC
    {"DeviceIDLocalIntfHold-timeCapabilityPortID", 1, 0, -1},                     // NX-OS
    // networkctl of two releases; what a system has to say may have blanks
    {"LINKCHASSISIDSYSTEMNAMECAPSPORTIDPORTDESCRIPTION", 0, 2, 4, -1},
    {"LINKSYSTEM-NAMESYSTEM-DESCRIPTIONCHASSIS-IDPORT-IDPORT-DESCRIPTIONCAPS", 0, 1, -3, -2},
    {"LocalInterfaceParentInterfaceChassisIdPortinfoSystemName", 0, -1, -2},  // Junos
    {"LocalPortSpeedModeRemoteHostRemotePort", 0, 3, 4},                      // Cumulus, NCLU
    {"InterfaceSpeedTypeRemoteHostRemotePort", 0, 3, 4},                      // Cumulus, NVUE
    {"InterfaceRemoteHostRemotePort", 0, 1, 2},
    {"LocalIntfRemoteHostRemotePort", 0, 1, 2},
});

const LldpTable* lldp_table(std::string_view text) {
  std::string heading;
  for (const std::string_view word : words_of(text))
    heading += word;
  const auto* const found =
      std::find_if(kLldpTables.begin(), kLldpTables.end(),
                   [&](const LldpTable& table) { return table.heading == heading; });
  return found == kLldpTables.end() ? nullptr : found;
}

std::size_t read_lldp_table(const LldpTable& table, const PasteAt& at, PasteSink& out) {
  Neighbours found(at, out);
  std::size_t taken = 1;
  for (; taken < at.lines.size(); ++taken) {
    const std::string_view text = at.line(taken);
    if (is_rule(text) && !text.empty()) continue;
    const auto words = words_of(text);
    if (words.size() < 3) break;
    const auto cell = [&](int index) {
      const auto place = index < 0
                             ? static_cast<std::size_t>(static_cast<int>(words.size()) + index)
                             : static_cast<std::size_t>(index);
      return place < words.size() ? words[place] : std::string_view();
    };
    if (!is_switch_port(cell(table.port)) && !is_host_port(cell(table.port))) break;
    found.add(cell(table.port), cell(table.system), cell(table.remote), at.lines[taken],
              table.description == 0 ? std::string_view() : cell(table.description));
  }
  return taken;
}

// ---- details of one neighbour after the other ----

/// "Interface Ethernet5/1 detected 1 LLDP neighbors:" of EOS, "Local Interface    : et-0/0/3" of
/// Junos, "Local Port id: Eth1/5" of NX-OS: the port that this end has.
std::optional<std::string_view> detail_port(std::string_view text) {
  const auto words = words_of(text);
  if (words.size() > 3 && words[0] == "Interface" && words[2] == "detected") return words[1];
  const auto pair = key_value(text);
  if (!pair || pair->value.empty()) return std::nullopt;
  const bool is_local = pair->key == "Local Interface" || pair->key == "Local Port id";
  return is_local ? std::optional(words_of(pair->value).front()) : std::nullopt;
}

std::string_view unquoted(std::string_view value) {
  const bool is_quoted = value.size() > 1 && value.front() == '"' && value.back() == '"';
  return is_quoted ? value.substr(1, value.size() - 2) : value;
}

/// "System Name", "- System Name", "System name  "
bool has_key(const KeyValue& pair, std::string_view key) {
  return lower_case(trim(pair.key)).ends_with(key);
}

/// NX-OS prints the port that this end has in the middle of a block, and begins each with
/// "Chassis id".
bool begins_detail(const PasteAt& at) {
  constexpr std::size_t kNear = 12;
  if (detail_port(at.line(0))) return true;
  if (!at.line(0).starts_with("Chassis id:")) return false;
  for (std::size_t n = 1; n < kNear; ++n)
    if (detail_port(at.line(n))) return true;
  return false;
}

std::size_t read_lldp_details(const PasteAt& at, PasteSink& out) {
  Neighbours found(at, out);
  std::size_t last = 0;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const std::string_view text = at.line(n);
    const auto pair = key_value(text);
    const auto words = words_of(text);
    if (text.starts_with("Chassis id:") && !found.now().system.empty()) found.flush();
    if (const auto port = detail_port(text)) {
      if (!found.now().port.empty()) found.flush();
      found.now().port = *port;
      if (found.now().at.line == 0) found.now().at = out.cite(at.lines[n]);
    } else if (pair && has_key(*pair, "system name")) {
      found.now().system = unquoted(pair->value);
      found.now().at = out.cite(at.lines[n]);
    } else if (pair && has_key(*pair, "port id")) {
      found.now().remote_port = unquoted(pair->value);
      found.set_remote(unquoted(pair->value));
    } else if (pair && has_key(*pair, "port description")) {
      found.set_remote(unquoted(pair->value));
    } else if (!pair && !text.empty() && !is_rule(text) && words.size() > 8) {
      break;  // a sentence
    }
    last = n;
  }
  found.flush();
  return last + 1;
}

/// `lldptool -t -n -i PORT`: a name of each part in one line, what it says in the next.
bool begins_lldptool_neighbour(const PasteAt& at) {
  // Without -n it is what this host says of itself.
  const bool is_of_neighbour =
      std::any_of(at.mark.words.begin(), at.mark.words.end(), [](const std::string& word) {
        return word.starts_with('-') && word.find('n') != std::string::npos;
      });
  return at.line(0) == "Chassis ID TLV" && !at.mark.device.empty() && is_of_neighbour;
}

std::size_t read_lldptool_neighbour(const PasteAt& at, PasteSink& out) {
  Neighbours found(at, out);
  found.begin(at.mark.device, at.lines[0]);
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const std::string_view text = at.line(taken);
    const std::string_view next = at.line(taken + 1);
    if (text == "System Name TLV") {
      found.now().system = next;
      found.now().at = out.cite(at.lines[std::min(taken + 1, at.lines.size() - 1)]);
    }
    if (text == "Port ID TLV") {
      const auto words = words_of(next);
      if (!words.empty()) found.now().remote_port = words.back();
    }
    if (text != "End of LLDPDU TLV") continue;
    ++taken;
    break;
  }
  found.flush();
  return taken;
}

// ---- loops of a shell ----

struct LoopedPort {
  std::string_view port;
  std::string_view system;
  std::string_view remote;  // may be empty
};
/// "rail4: leaf-f-r5 Ethernet14/1", "rail4 -> leaf-f-r5 Ethernet14/1": what a loop around lldpctl
/// prints for each of its ports.
std::optional<LoopedPort> looped_port(std::string_view text, const Mark& mark) {
  if (mark.command.find("lldp") == std::string::npos || mark.is_switch) return std::nullopt;
  std::vector<std::string_view> words = words_of(text);
  const auto is_arrow = [](std::string_view word) {
    return word == "->" || word == "=>" || word == "=" || word == ":" || word == "-";
  };
  const bool has_mark = words.size() > 1 && (words[0].ends_with(':') || is_arrow(words[1]));
  if (words.size() > 1 && is_arrow(words[1])) words.erase(words.begin() + 1);
  if (words.size() < 2 || words.size() > 3) return std::nullopt;
  const bool has_port = words.size() == 3 && is_switch_port(words[2]);
  if (words.size() == 3 ? !has_port : !has_mark) return std::nullopt;
  if (words[0].ends_with(':')) words[0].remove_suffix(1);
  const auto is_name = [](std::string_view word) {
    constexpr std::string_view kChars = "-_.";
    const bool has_digit = word.find_first_of("0123456789") != std::string_view::npos;
    const bool has_letter = std::any_of(word.begin(), word.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    });
    return has_digit && has_letter && std::all_of(word.begin(), word.end(), [&](char c) {
             return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    kChars.find(c) != std::string_view::npos;
           });
  };
  if (!is_name(words[0]) || !is_name(words[1])) return std::nullopt;
  return LoopedPort{words[0], words[1], has_port ? words[2] : std::string_view()};
}

std::size_t read_lldp_loop(const PasteAt& at, PasteSink& out) {
  Neighbours found(at, out);
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const auto item = looped_port(at.line(taken), at.mark);
    if (!item) break;
    found.add(item->port, item->system, item->remote, at.lines[taken]);
  }
  return taken;
}

}  // namespace

bool begins_lldp(const PasteAt& at) {
  return looped_port(at.line(0), at.mark).has_value() || lldp_interface(at.line(0)) ||
         lldp_key(at.line(0)) || begins_lldp_json(at) || lldp_table(at.line(0)) != nullptr ||
         begins_lldp_part(at) || begins_detail(at) || begins_lldptool_neighbour(at) ||
         (at.line(0) == "LLDP neighbors:" && (is_rule(at.line(1)) || lldp_interface(at.line(1))));
}

std::size_t read_lldp(const PasteAt& at, PasteSink& out) {
  if (const LldpTable* const table = lldp_table(at.line(0)))
    return read_lldp_table(*table, at, out);
  if (lldp_key(at.line(0))) return read_lldp_keys(at, out);
  if (begins_lldp_json(at)) return read_lldp_json(at, out);
  if (looped_port(at.line(0), at.mark)) return read_lldp_loop(at, out);
  if (begins_lldptool_neighbour(at)) return read_lldptool_neighbour(at, out);
  if (begins_detail(at)) return read_lldp_details(at, out);
  return read_lldp_blocks(at, out);
}

}  // namespace weir::readers
