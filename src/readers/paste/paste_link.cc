// Links and interfaces: ethtool without -S, ip link and ip addr.
#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"
#include "readers/paste/paste_tools.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

using evidence::Missing;

/// "eth2" of "Pause parameters for eth2:".
std::string_view named_in(std::string_view heading, std::string_view start) {
  if (!heading.starts_with(start) || !heading.ends_with(':')) return {};
  return heading.substr(start.size(), heading.size() - start.size() - 1);
}

constexpr std::string_view kSettings = "Settings for ";
constexpr std::string_view kPause = "Pause parameters for ";
constexpr std::string_view kRings = "Ring parameters for ";
constexpr std::string_view kFec = "FEC parameters for ";

bool is_indented(const PasteLine& line) {
  return line.text.starts_with(' ') || line.text.starts_with('\t');
}

/// "100000Mb/s"
std::optional<BitRate> speed_of(std::string_view value) {
  const std::size_t unit = value.find("Mb/s");
  if (unit == std::string_view::npos) return std::nullopt;
  const auto megabits = parse_u64(trim(value.substr(0, unit)));
  constexpr std::uint64_t kMost = 100'000'000;
  if (!megabits || *megabits == 0 || *megabits > kMost) return std::nullopt;
  return BitRate::raw(static_cast<std::int64_t>(*megabits) * 1'000'000);
}

/// False for a line that says nothing of the link.
bool read_setting(const KeyValue& pair, const PasteLine& line, evidence::Link& link,
                  PasteSink& out) {
  if (pair.key == "Speed") {
    if (const auto speed = speed_of(pair.value)) {
      out.set(link.speed, *speed, line);
    } else {
      out.refuse(link.speed, Missing::kUnsupported, line);
    }
  } else if (pair.key == "Duplex") {
    if (pair.value == "Full") out.set(link.duplex, evidence::Duplex::kFull, line);
    if (pair.value == "Half") out.set(link.duplex, evidence::Duplex::kHalf, line);
  } else if (pair.key == "Auto-negotiation") {
    out.set(link.autoneg, pair.value == "on", line);
  } else if (pair.key == "Link detected") {
    out.set(link.up, pair.value.starts_with("yes"), line);
  } else if (pair.key.starts_with("Active FEC encoding")) {
    out.set(link.fec, std::string(pair.value), line);
  } else {
    return false;
  }
  return true;
}

/// What read_setting() has no field for.
void note_setting(const KeyValue& pair, PasteSink& out) {
  constexpr auto kFecKeys = std::to_array<std::string_view>(
      {"Configured FEC encodings", "Supported/Configured FEC encodings"});
  const bool is_fec = std::find(kFecKeys.begin(), kFecKeys.end(), pair.key) != kFecKeys.end();
  const bool is_empty =
      pair.key == "Link detected" && lower_case(pair.value).find("no cable") != std::string::npos;
  if (!is_fec && !is_empty) return;
  out.paste().port_settings.push_back({out.host(), out.hosts().known_name(out.host(), out.device),
                                       is_fec ? std::string(pair.value) : std::string(), is_empty});
}

std::size_t read_settings(const PasteAt& at, PastedNic& pasted, PasteSink& out) {
  std::size_t taken = 1;
  for (; taken < at.lines.size(); ++taken) {
    const std::string_view text = at.line(taken);
    const PasteLine& line = at.lines[taken];
    if (text.empty() || !is_indented(line)) break;
    // A line without a colon is the second one of a list of modes.
    const auto pair = key_value(text);
    if (!pair) continue;
    read_setting(*pair, line, pasted.nic.link, out);
    note_setting(*pair, out);
  }
  return taken;
}

/// What a grep left of the settings: the command has the interface.
bool is_filtered_setting(const PasteAt& at, std::size_t n) {
  const bool is_asked =
      at.mark.tool() == "ethtool" ||
      (at.mark.tool() == "for" && at.mark.command.find("ethtool ") != std::string::npos);
  if (!is_asked || at.mark.device.empty()) return false;
  const auto pair = key_value(at.line(n));
  return pair && (pair->key == "Speed" || pair->key == "Duplex" || pair->key == "Link detected" ||
                  pair->key == "Auto-negotiation" || pair->key.starts_with("Active FEC encoding"));
}

std::size_t read_filtered_settings(const PasteAt& at, PasteSink& out) {
  out.device = at.mark.device;
  PastedNic& nic = out.hosts().by_netdev(out.host(), at.mark.device);
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const auto pair = key_value(at.line(taken));
    if (!pair || !read_setting(*pair, at.lines[taken], nic.nic.link, out)) break;
    note_setting(*pair, out);
  }
  return taken;
}

std::size_t read_pause(const PasteAt& at, PastedNic& pasted, PasteSink& out) {
  std::size_t taken = 1;
  for (; taken < at.lines.size(); ++taken) {
    const auto pair = key_value(at.line(taken));
    if (!pair || (pair->value != "on" && pair->value != "off")) break;
    const bool is_on = pair->value == "on";
    if (pair->key == "RX") out.set(pasted.nic.link.pause_rx, is_on, at.lines[taken]);
    if (pair->key == "TX") out.set(pasted.nic.link.pause_tx, is_on, at.lines[taken]);
  }
  return taken;
}

std::size_t read_rings(const PasteAt& at, PastedNic& pasted, PasteSink& out) {
  evidence::Rings& rings = pasted.nic.rings;
  bool is_maximum = true;
  std::size_t taken = 1;
  for (; taken < at.lines.size(); ++taken) {
    const std::string_view text = at.line(taken);
    const auto pair = key_value(text);
    if (!pair) break;
    if (text.starts_with("Current hardware settings")) is_maximum = false;
    const auto value = parse_u64(pair->value);
    if (!value || *value > 1'000'000) continue;
    const auto entries = static_cast<unsigned>(*value);
    if (pair->key == "RX") out.set(is_maximum ? rings.rx_max : rings.rx, entries, at.lines[taken]);
    if (pair->key == "TX") out.set(is_maximum ? rings.tx_max : rings.tx, entries, at.lines[taken]);
  }
  return taken;
}

std::size_t read_fec(const PasteAt& at, PastedNic& pasted, PasteSink& out) {
  std::size_t taken = 1;
  for (; taken < at.lines.size(); ++taken) {
    const auto pair = key_value(at.line(taken));
    if (!pair || pair->key.find("FEC") == std::string_view::npos) break;
    note_setting(*pair, out);
    if (pair->key.starts_with("Active FEC encoding"))
      out.set(pasted.nic.link.fec, std::string(pair->value), at.lines[taken]);
  }
  return taken;
}

}  // namespace

namespace {

/// The settings without the line that names the interface.
bool is_cut_settings(const PasteAt& at) {
  return at.line(0).starts_with("Supported ports: [") &&
         at.line(1).starts_with("Supported link modes:");
}

}  // namespace

bool begins_ethtool(const PasteAt& at) {
  const std::string_view text = at.line(0);
  return !named_in(text, kSettings).empty() || !named_in(text, kPause).empty() ||
         !named_in(text, kRings).empty() || !named_in(text, kFec).empty() || is_cut_settings(at) ||
         is_filtered_setting(at, 0);
}

std::size_t read_ethtool(const PasteAt& at, PasteSink& out) {
  const std::string_view text = at.line(0);
  if (is_filtered_setting(at, 0)) return read_filtered_settings(at, out);
  if (is_cut_settings(at)) {
    out.device = at.mark.device;
    return read_settings(at, out.hosts().by_netdev(out.host(), at.mark.device), out);
  }
  for (const std::string_view start : {kSettings, kPause, kRings, kFec}) {
    const std::string_view name = named_in(text, start);
    if (name.empty()) continue;
    out.device = name;
    PastedNic& nic = out.hosts().by_netdev(out.host(), name);
    if (start == kSettings) return read_settings(at, nic, out);
    if (start == kPause) {
      out.detail = "pause";
      return read_pause(at, nic, out);
    }
    if (start == kRings) {
      out.detail = "rings";
      return read_rings(at, nic, out);
    }
    out.detail = "FEC";
    return read_fec(at, nic, out);
  }
  return 0;
}

// ---- ethtool -i ----

bool begins_ethtool_driver(const PasteAt& at) {
  const auto first = key_value(at.line(0));
  const auto second = key_value(at.line(1));
  return first && second && first->key == "driver" && second->key == "version";
}

std::size_t read_ethtool_driver(const PasteAt& at, PasteSink& out) {
  const std::string_view device = at.mark.device;
  std::string address;
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const auto pair = key_value(at.line(taken));
    if (!pair) break;
    if (pair->key == "bus-info") address = pair->value;
  }
  out.hosts().connect(out.host(), "", device, address);
  evidence::Nic& nic = out.hosts().by_netdev(out.host(), device).nic;
  for (std::size_t n = 0; n < taken; ++n) {
    const auto pair = key_value(at.line(n));
    const PasteLine& line = at.lines[n];
    if (pair->value.empty()) continue;
    if (pair->key == "driver") out.set(nic.driver, std::string(pair->value), line);
    if (pair->key == "version") {
      out.set(nic.driver_version, std::string(pair->value), line);
      // "25.10-0.8.1" is the vendor's; "6.8.0-60-generic" the kernel's.
      const auto numbers = split(pair->value.substr(0, pair->value.find('-')), '.');
      if (evidence::driver_of(nic) == vocab::Driver::kMlx5)
        out.set(nic.stack, numbers.size() == 2 ? evidence::Stack::kOfed : evidence::Stack::kInbox,
                line);
    }
    if (pair->key == "firmware-version") {
      const std::size_t open = pair->value.find(" (");
      out.set(nic.firmware, std::string(pair->value.substr(0, open)), line);
      if (open != std::string_view::npos && pair->value.ends_with(')'))
        out.set(nic.board, std::string(pair->value.substr(open + 2, pair->value.size() - open - 3)),
                line);
    }
    if (pair->key == "bus-info") out.set(nic.pcie.address, std::string(pair->value), line);
  }
  out.device = device;
  return taken;
}

// ---- ethtool -m ----

namespace {

/// "-18.21" of "0.0151 mW / -18.21 dBm".
std::optional<double> module_dbm(std::string_view value) {
  const std::size_t slash = value.find(" / ");
  return slash == std::string_view::npos || !value.ends_with("dBm")
             ? std::nullopt
             : leading_decimal(value.substr(slash + 3));
}

/// "channel 2" of "Rcvr signal avg optical power(Channel 2)"; empty where there is one alone.
std::string channel_in(std::string_view text) {
  constexpr std::string_view kWord = "(Channel ";
  const std::size_t at = text.find(kWord);
  const std::size_t end = text.find(')', at == std::string_view::npos ? 0 : at);
  if (at == std::string_view::npos || end == std::string_view::npos) return {};
  const std::size_t begin = at + kWord.size();
  return "channel " + std::string(trim(text.substr(begin, end - begin)));
}

bool is_module_light(std::string_view key) {
  return key.starts_with("Rcvr signal avg optical power") ||
         key.starts_with("Receiver signal average optical power");
}

}  // namespace

bool begins_ethtool_module(const PasteAt& at) {
  const auto pair = key_value(at.line(0));
  if (!pair) return false;
  return (pair->key == "Identifier" && pair->value.starts_with("0x")) ||
         (at.mark.tool() == "ethtool" && at.mark.has_word("-m") &&
          (is_module_light(pair->key) || pair->key.starts_with("Laser ") ||
           pair->key.starts_with("Module ")));
}

/// Nothing of it is a setting; a warning of the module itself, or too little light for its own
/// threshold, is worth a line. No light at all is what a port has whose other end is off.
std::size_t read_ethtool_module(const PasteAt& at, PasteSink& out) {
  constexpr double kDark = -30;  // dBm
  std::size_t taken = 0;
  std::optional<double> lowest;
  std::optional<double> weakest;
  std::optional<double> strongest;
  const PasteLine* where = nullptr;
  std::string lane;
  for (; taken < at.lines.size(); ++taken) {
    const auto pair = key_value(at.line(taken));
    if (!pair) break;
    // "Laser rx power low alarm", "Laser rx power low alarm   (Channel 2)"
    const bool is_alarm = pair->key.find(" alarm") != std::string_view::npos ||
                          pair->key.find(" warning") != std::string_view::npos;
    const bool is_light = pair->key.starts_with("Laser rx power");
    if (is_alarm && pair->value == "On" && !is_light)
      out.event(EventKind::kModule, at.mark.device, at.lines[taken]);
    if (is_alarm && pair->value == "On" && is_light && where == nullptr) where = &at.lines[taken];
    const auto level = module_dbm(pair->value);
    if (level && pair->key == "Laser rx power low alarm threshold") lowest = level;
    if (!level || !is_module_light(pair->key)) continue;
    if (!strongest || *level > *strongest) strongest = level;
    if (!weakest || *level < *weakest) {
      weakest = level;
      lane = channel_in(pair->key);
      if (where == nullptr || is_module_light(trim(where->text))) where = &at.lines[taken];
    }
  }
  const bool is_alarm = where != nullptr && !is_module_light(trim(where->text));
  const bool is_dark = strongest && *strongest < kDark;
  if (is_alarm || (lowest && weakest && *weakest < *lowest))
    out.event(is_dark ? EventKind::kNoLight : EventKind::kSignal, at.mark.device, *where,
              is_alarm ? channel_in(trim(where->text)) : lane);
  out.device = at.mark.device;
  return taken;
}

// ---- ip ----

namespace {

/// "2: eth2: <BROADCAST,UP,LOWER_UP> mtu 9000 …" → eth2; of "eth2@if3" too.
std::optional<std::string_view> interface_of(std::string_view line) {
  const auto words = words_of(line);
  if (words.size() < 5 || !words[0].ends_with(':') || !words[1].ends_with(':')) return std::nullopt;
  if (!parse_u64(words[0].substr(0, words[0].size() - 1)) || !words[2].starts_with('<'))
    return std::nullopt;
  const std::string_view name = words[1].substr(0, words[1].size() - 1);
  return name.substr(0, name.find('@'));
}

void read_interface(const std::vector<std::string_view>& words, PastedNic& pasted,
                    const PasteLine& line, PasteSink& out) {
  evidence::Nic& nic = pasted.nic;
  out.set(nic.link.up, words[2].find("LOWER_UP") != std::string_view::npos, line);
  for (std::size_t at = 3; at + 1 < words.size(); ++at) {
    if (words[at] != "mtu") continue;
    const auto mtu = parse_u64(words[at + 1]);
    if (!mtu || *mtu > 65536) continue;
    const Bytes size = Bytes::raw(static_cast<std::int64_t>(*mtu));
    out.set(nic.link.mtu, size, line);
    if (nic.netdev.is_known())
      out.paste().mtus.push_back({out.host(), *nic.netdev, size, out.cite(line)});
  }
}

/// A column of `ip -s link` and the file of the same number.
struct IpColumn {
  std::string_view heading;
  std::string_view word;
  std::string_view file;
};
/// As iproute2 prints them, old and new releases.
constexpr auto kIpColumns = std::to_array<IpColumn>({
    {"RX:", "bytes", "rx_bytes"},
    {"RX:", "packets", "rx_packets"},
    {"RX:", "errors", "rx_errors"},
    {"RX:", "dropped", "rx_dropped"},
    {"RX:", "missed", "rx_missed_errors"},
    {"RX:", "overrun", "rx_over_errors"},
    {"RX:", "mcast", "multicast"},
    {"RX errors:", "length", "rx_length_errors"},
    {"RX errors:", "crc", "rx_crc_errors"},
    {"RX errors:", "frame", "rx_frame_errors"},
    {"RX errors:", "fifo", "rx_fifo_errors"},
    {"RX errors:", "missed", "rx_missed_errors"},
    {"RX errors:", "overrun", "rx_over_errors"},
    {"RX errors:", "nohandler", "rx_nohandler"},
    {"TX:", "bytes", "tx_bytes"},
    {"TX:", "packets", "tx_packets"},
    {"TX:", "errors", "tx_errors"},
    {"TX:", "dropped", "tx_dropped"},
    {"TX:", "carrier", "tx_carrier_errors"},
    {"TX:", "collsns", "collisions"},
    {"TX errors:", "aborted", "tx_aborted_errors"},
    {"TX errors:", "fifo", "tx_fifo_errors"},
    {"TX errors:", "window", "tx_window_errors"},
    {"TX errors:", "heartbeat", "tx_heartbeat_errors"},
    {"TX errors:", "heartbt", "tx_heartbeat_errors"},
    {"TX errors:", "transns", "carrier_changes"},
});

/// "RX:", "RX errors:", "TX:", "TX errors:"; empty for any other line.
std::string_view ip_heading(std::string_view text) {
  for (const std::string_view heading : {"RX:", "RX errors:", "TX:", "TX errors:"})
    if (text.starts_with(heading)) return heading;
  return {};
}

/// A heading with its columns, and the line of numbers under it; false where they do not fit.
bool read_ip_statistics(std::string_view heading, const PasteAt& at, std::size_t line,
                        std::vector<counters::Sample>& samples) {
  const auto columns = words_of(at.line(line).substr(heading.size()));
  const auto numbers = words_of(at.line(line + 1));
  if (columns.empty() || columns.size() != numbers.size()) return false;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto value = parse_u64(numbers[i]);
    if (!value) return false;
    for (const IpColumn& column : kIpColumns) {
      if (column.heading != heading || column.word != columns[i]) continue;
      const counters::Place place =
          column.file == "carrier_changes" ? counters::Place::kNet : counters::Place::kStatistics;
      add_count(samples, place, column.file, *value);
    }
  }
  return true;
}

}  // namespace

bool begins_ip(const PasteAt& at) {
  return interface_of(at.line(0)).has_value();
}

std::size_t read_ip(const PasteAt& at, PasteSink& out) {
  std::size_t taken = 0;
  PastedNic* nic = nullptr;
  std::vector<counters::Sample>* dump = nullptr;  // of the interface at hand
  std::vector<std::string> addresses;
  bool is_inside = false;  // of a container: the interface's other end is elsewhere
  for (; taken < at.lines.size(); ++taken) {
    const PasteLine& line = at.lines[taken];
    const std::string_view text = at.line(taken);
    const auto words = words_of(text);
    if (const auto name = interface_of(text)) {
      is_inside = words[1].find("@if") != std::string_view::npos;
      addresses.clear();
      dump = nullptr;
      nic = &out.hosts().by_netdev(out.host(), *name, false);
      read_interface(words, *nic, line, out);
      const bool is_dark = text.find("NO-CARRIER") != std::string_view::npos;
      if (is_dark || text.find("LOWER_UP") != std::string_view::npos)
        out.paste().carriers.push_back({out.host(), std::string(*name), !is_dark, out.cite(line)});
      continue;
    }
    if (!is_indented(line) || words.empty()) break;
    if (const std::string_view heading = ip_heading(text); !heading.empty()) {
      if (heading == "RX:") dump = &nic->begin_dump(counters::Place::kStatistics);
      if (dump == nullptr || !read_ip_statistics(heading, at, taken, *dump)) {
        out.unread(line, "expected as many numbers under the heading as it has columns");
      } else {
        ++taken;
      }
      continue;
    }
    const bool is_address = words.size() > 1 && (words[0] == "inet" || words[0] == "inet6");
    if (is_address && !words[1].starts_with("fe80")) {
      addresses.emplace_back(words[1]);
      out.set(nic->nic.addresses, addresses, line);
      if (words[0] == "inet" && nic->nic.netdev.is_known())
        out.paste().addresses.push_back(
            {out.host(), *nic->nic.netdev, std::string(words[1]), out.cite(line), is_inside});
    }
  }
  return taken;
}

// ---- /proc/net/bonding ----

bool begins_bonding(const PasteAt& at) {
  return at.line(0).starts_with("Ethernet Channel Bonding Driver") ||
         (at.line(0).starts_with("Slave Interface: ") && at.line(1).starts_with("MII Status: "));
}

/// A member is there to carry traffic: one that is down is a link that is down.
std::size_t read_bonding(const PasteAt& at, PasteSink& out) {
  std::string member;
  std::size_t last = 0;
  for (std::size_t n = 0; n < at.lines.size(); ++n) {
    const std::string_view text = at.line(n);
    if (text.empty()) continue;
    const auto pair = key_value(text);
    if (!pair && text != "802.3ad info" && text != "details actor lacp pdu" &&
        text != "details partner lacp pdu")
      break;
    last = n;
    if (!pair) continue;
    if (pair->key == "Slave Interface") member = pair->value;
    if (member.empty()) continue;
    evidence::Nic& nic = out.hosts().by_netdev(out.host(), member).nic;
    if (pair->key == "MII Status") out.set(nic.link.up, pair->value == "up", at.lines[n]);
    const std::size_t unit = pair->value.find(" Mbps");
    const auto speed = pair->key == "Speed" && unit != std::string_view::npos
                           ? parse_count(pair->value.substr(0, unit))
                           : std::nullopt;
    if (speed && *speed < 10'000'000)
      out.set(nic.link.speed, BitRate::raw(static_cast<std::int64_t>(*speed) * 1'000'000),
              at.lines[n]);
  }
  out.device = member;
  return last + 1;
}

}  // namespace weir::readers
