// Tools of RDMA and of the vendor: ibstatus, ibstat, mlxlink, mlxconfig, nvidia-smi; and how busy a
// machine is (nvidia-smi dmon, top).
#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"
#include "readers/paste/paste_tools.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

/// "400" of "400 Gb/sec (4X NDR)", of "400", and of "400G".
std::optional<BitRate> gigabits(std::string_view value) {
  const std::size_t end = std::min(value.find_first_not_of("0123456789"), value.size());
  const auto number = parse_u64(value.substr(0, end));
  constexpr std::uint64_t kMost = 10'000;
  if (!number || *number == 0 || *number > kMost) return std::nullopt;
  return BitRate::raw(static_cast<std::int64_t>(*number) * 1'000'000'000);
}

/// One port of ibstatus or ibstat. The rate of a port that is down is a placeholder.
struct IbPort {
  std::optional<bool> is_active;
  std::optional<bool> is_up;
  bool is_shut = false;  // "Disabled": by an operator, or without a cable; nobody may use it
  std::optional<BitRate> rate;
  const PasteLine* state_line = nullptr;
  const PasteLine* physical_line = nullptr;
  const PasteLine* rate_line = nullptr;
};

void read_ib_line(const KeyValue& pair, const PasteLine& line, IbPort& port, evidence::Nic& nic,
                  PasteSink& out) {
  std::string key(pair.key);
  std::transform(key.begin(), key.end(), key.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c == '_' ? ' ' : c;
  });
  std::string value(pair.value);
  // ibstatus puts the number in front: "4: ACTIVE".
  if (value.size() > 3 && value[1] == ':') value = value.substr(3);
  if (key == "state") {
    port.is_active = value == "ACTIVE" || value == "Active";
    port.state_line = &line;
  } else if (key == "physical state" || key == "phys state") {
    port.is_shut = value == "Disabled" || value == "DISABLED";
    port.is_up = value == "LinkUp" || value == "LINK_UP";
    port.physical_line = &line;
  } else if (key == "rate") {
    port.rate = gigabits(value);
    port.rate_line = &line;
  } else if (key == "link layer") {
    out.set(
        nic.link_layer,
        value == "InfiniBand" ? evidence::LinkLayer::kInfiniband : evidence::LinkLayer::kEthernet,
        line);
  } else if (key == "firmware version") {
    out.set(nic.firmware, value, line);
  }
}

void set_ib_port(const IbPort& port, evidence::Nic& nic, PasteSink& out) {
  if (port.is_active) out.set(nic.rdma.active, *port.is_active, *port.state_line);
  if (port.is_shut) out.paste().disabled.push_back({out.host(), nic.device});
  if (port.is_up) out.set(nic.link.up, *port.is_up, *port.physical_line);
  if (port.rate && port.is_up.value_or(true) && port.is_active.value_or(true))
    out.set(nic.link.speed, *port.rate, *port.rate_line);
}

/// "mlx5_0" of "Infiniband device 'mlx5_0' port 1 status:" and of "CA 'mlx5_0'".
std::string_view quoted_name(std::string_view text, std::string_view start) {
  if (!text.starts_with(start)) return {};
  const std::size_t begin = text.find('\'');
  const std::size_t end = begin == std::string_view::npos ? begin : text.find('\'', begin + 1);
  return end == std::string_view::npos ? std::string_view()
                                       : text.substr(begin + 1, end - begin - 1);
}

std::size_t read_ib_ports(const PasteAt& at, PasteSink& out, std::string_view start) {
  const bool is_cut = quoted_name(at.line(0), start).empty();  // its first line was not pasted
  std::string device(is_cut ? std::string_view(at.mark.device) : quoted_name(at.line(0), start));
  out.device = device;
  evidence::Nic* nic = &out.hosts().by_device(out.host(), device).nic;
  IbPort port;
  std::size_t taken = is_cut ? 0 : 1;
  std::size_t last = 0;
  for (; taken < at.lines.size(); ++taken) {
    const std::string_view text = at.line(taken);
    if (text.empty()) continue;
    const std::string_view next = quoted_name(text, start);
    if (!next.empty()) {
      set_ib_port(port, *nic, out);
      port = {};
      out.device += ", " + std::string(next);
      nic = &out.hosts().by_device(out.host(), next).nic;
    } else if (const auto pair = key_value(text)) {
      const bool is_indented =
          at.lines[taken].text.starts_with(' ') || at.lines[taken].text.starts_with('\t');
      if (!is_indented && taken > 0) break;
      read_ib_line(*pair, at.lines[taken], port, *nic, out);
    } else {
      break;
    }
    last = taken;
  }
  set_ib_port(port, *nic, out);
  return last + 1;
}

constexpr std::string_view kIbstatus = "Infiniband device '";
constexpr std::string_view kIbstat = "CA '";

}  // namespace

bool begins_ibstatus(const PasteAt& at) {
  return !quoted_name(at.line(0), kIbstatus).empty();
}

std::size_t read_ibstatus(const PasteAt& at, PasteSink& out) {
  return read_ib_ports(at, out, kIbstatus);
}

bool begins_ibstat(const PasteAt& at) {
  const bool is_cut =
      at.line(0).starts_with("CA type:") && at.line(1).starts_with("Number of ports:");
  return is_cut || (!quoted_name(at.line(0), kIbstat).empty() && key_value(at.line(1)).has_value());
}

std::size_t read_ibstat(const PasteAt& at, PasteSink& out) {
  return read_ib_ports(at, out, kIbstat);
}

// ---- facts of a port, whatever printed them ----

namespace {

/// What ibstat, ibstatus and loops over them print of a port, after a filter.
bool is_port_fact(std::string_view text) {
  const auto pair = key_value(text);
  if (!pair) return false;
  const std::string key = lower_case(pair->key);
  std::string_view value = pair->value;
  if (value.size() > 3 && value[1] == ':') value = trim(value.substr(2));  // "4: ACTIVE"
  if (key == "state")
    return value == "Active" || value == "ACTIVE" || value == "Down" || value == "DOWN" ||
           value.starts_with("Init");
  if (key == "physical state" || key == "phys state")
    return value == "LinkUp" || value == "Disabled" || value == "Polling" || value == "LINK_UP";
  if (key == "rate") return gigabits(value).has_value();
  return key == "link layer" || key == "link_layer";
}

}  // namespace

bool begins_port_facts(const PasteAt& at) {
  if (at.mark.device.empty() || !is_port_fact(at.line(0))) return false;
  return is_port_fact(at.line(1)) || at.mark.command.find("ibstat") != std::string::npos;
}

std::size_t read_port_facts(const PasteAt& at, PasteSink& out) {
  evidence::Nic& nic = out.hosts().by_name(out.host(), at.mark.device).nic;
  IbPort port;
  std::size_t taken = 0;
  for (; taken < at.lines.size() && is_port_fact(at.line(taken)); ++taken)
    read_ib_line(*key_value(at.line(taken)), at.lines[taken], port, nic, out);
  set_ib_port(port, nic, out);
  out.device = at.mark.device;
  return taken;
}

// ---- mlxlink ----

namespace {

bool is_mlxlink_heading(std::string_view text) {
  constexpr auto kSections = std::to_array<std::string_view>(
      {"Operational Info", "Supported Info", "Troubleshooting Info", "Tool Information",
       "Module Info", "Physical Counters and BER Info", "PCIe Operational (Enumerated) Info",
       "Errors Recovered", "EYE Opening Info", "Serdes Tuning Transmitter Info"});
  return std::find(kSections.begin(), kSections.end(), text) != kSections.end();
}

std::optional<double> decimal(std::string_view text) {
  text = trim(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end != text.data() ? std::optional(value) : std::nullopt;
}

/// "0.91,1.03,-11.84,0.88 [-9.9..6]": the first lane outside of what the module allows, from 1; 0
/// where there is one alone.
std::optional<std::size_t> lane_out_of_range(std::string_view value) {
  const std::size_t open = value.find('[');
  const std::size_t dots = value.find("..", open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || dots == std::string_view::npos) return std::nullopt;
  const auto low = decimal(value.substr(open + 1));
  const auto high = decimal(value.substr(dots + 2));
  if (!low || !high || *low >= *high) return std::nullopt;
  const auto lanes = split(value.substr(0, open), ',');
  const auto found = std::find_if(lanes.begin(), lanes.end(), [&](std::string_view lane) {
    const auto level = decimal(lane);
    return level && (*level < *low || *level > *high);
  });
  if (found == lanes.end()) return std::nullopt;
  return lanes.size() == 1 ? 0 : static_cast<std::size_t>(found - lanes.begin()) + 1;
}

/// The share of wrong bits that the error correction let through. IEEE 802.3 asks for at most one
/// in 1e12 (clauses 91 and 119 with their PMDs); mlxlink prints 15E-255 where there were none.
bool is_bad_error_rate(std::string_view value) {
  constexpr double kMost = 1e-12;
  const auto rate = decimal(value);
  return rate && *rate > kMost && *rate < 1;
}

/// The largest of "0x00010ff2 (400G_4X,200G_2X,…)".
std::optional<BitRate> fastest_of(std::string_view value) {
  std::optional<BitRate> out;
  const std::size_t open = value.find('(');
  if (open == std::string_view::npos) return out;
  for (const std::string_view mode : split(value.substr(open + 1), ',')) {
    const std::size_t unit = mode.find('G');
    const auto rate =
        unit == std::string_view::npos ? std::nullopt : gigabits(mode.substr(0, unit));
    if (rate && (!out || *rate > *out)) out = rate;
  }
  return out;
}

/// What the port is allowed to run at, and what its cable can.
void read_able(const KeyValue& pair, const PasteLine& line, const std::string& device,
               PasteSink& out) {
  const auto fastest = fastest_of(pair.value);
  if (!fastest) return;
  auto& all = out.paste().able;
  auto able = std::find_if(all.begin(), all.end(), [&](const PasteAble& known) {
    return known.host == out.host() && known.device == device;
  });
  if (able == all.end()) able = all.insert(all.end(), PasteAble{out.host(), device, {}, {}, {}});
  (pair.key.starts_with("Enabled") ? able->port : able->cable) = *fastest;
  able->at = out.cite(line);
}

void read_mlxlink_line(const KeyValue& pair, const PasteLine& line, const std::string& device,
                       evidence::Nic& nic, PasteSink& out) {
  if (pair.key == "State") {
    const bool is_active = pair.value.starts_with("Active");
    out.set(nic.rdma.active, is_active, line);
    out.set(nic.link.up, is_active, line);
  } else if (pair.key == "Physical state") {
    // An active Ethernet port may show a state of its auto-negotiation here (ETH_AN_FSM_ENABLE).
    if (!nic.link.up.is(true)) out.set(nic.link.up, pair.value.starts_with("LinkUp"), line);
  } else if (pair.key == "Speed") {
    if (const auto speed = gigabits(pair.value.substr(0, pair.value.find('G'))))
      out.set(nic.link.speed, *speed, line);
  } else if (pair.key == "Effective Physical Errors" || pair.key == "Symbol Errors") {
    const auto count = parse_count(pair.value);
    if (count && out.has_grown(device, pair.key, *count))
      out.event(EventKind::kSignal, device, line);
  } else if (pair.key == "Effective Physical BER" || pair.key == "Symbol BER") {
    if (is_bad_error_rate(pair.value)) out.event(EventKind::kSignal, device, line);
  } else if (pair.key.starts_with("Enabled Link Speed") ||
             pair.key.starts_with("Supported Cable Speed")) {
    read_able(pair, line, out.hosts().known_name(out.host(), device), out);
  } else if (pair.key == "FEC" && pair.value != "N/A") {
    out.set(nic.link.fec, std::string(pair.value), line);
  } else if (pair.key == "Recommendation") {
    if (pair.value.find("unplugged") != std::string_view::npos)
      out.event(EventKind::kUnplugged, device, line);
    if (pair.value.find("signal integrity") != std::string_view::npos ||
        pair.value.find("Bad signal") != std::string_view::npos)
      out.event(EventKind::kSignal, device, line);
  } else if (pair.key.find("Rx Power Current") != std::string_view::npos ||
             pair.key.find("Tx Power Current") != std::string_view::npos) {
    if (const auto lane = lane_out_of_range(pair.value))
      out.event(EventKind::kSignal, device, line,
                *lane == 0 ? std::string() : fmt::format("lane {}", *lane));
  }
}

}  // namespace

bool begins_mlxlink(const PasteAt& at) {
  if (is_mlxlink_heading(at.line(0))) return true;
  const auto first = key_value(at.line(0));
  const auto second = key_value(at.line(1));
  return at.mark.tool() == "mlxlink" && first && (second || !first->value.empty());
}

std::size_t read_mlxlink(const PasteAt& at, PasteSink& out) {
  const std::string device = at.mark.device;
  PastedNic& nic = device.find('.') != std::string::npos
                       ? out.hosts().by_address(out.host(), device)
                       : out.hosts().by_name(out.host(), device);
  std::size_t taken = 0;
  std::size_t last = 0;
  for (; taken < at.lines.size(); ++taken) {
    const std::string_view text = at.line(taken);
    if (text.empty() || is_rule(text) || is_mlxlink_heading(text)) {
      if (is_mlxlink_heading(text)) last = taken;
      continue;
    }
    const auto pair = key_value(text);
    if (!pair) break;
    read_mlxlink_line(*pair, at.lines[taken], device, nic.nic, out);
    last = taken;
  }
  out.device = device;
  return last + 1;
}

// ---- mlxconfig ----

namespace {

/// "LINK_TYPE_P1   ETH(2)": an upper-case name and its value, the last of several columns.
std::optional<evidence::FirmwareSetting> config_line(std::string_view text) {
  auto words = words_of(text);
  if (!words.empty() && words[0] == "*") words.erase(words.begin());
  if (words.size() < 2 || words.size() > 4) return std::nullopt;
  const bool is_name =
      words[0].size() > 3 &&
      std::all_of(
          words[0].begin(), words[0].end(),
          [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }) &&
      words[0].find('_') != std::string_view::npos;
  if (!is_name) return std::nullopt;
  evidence::FirmwareSetting out;
  out.name = words[0];
  out.next_boot = words.back();
  if (words.size() > 3) out.current = words[2];
  return out;
}

/// ROCE_CC_PRIO_MASK_P1: the priorities for which the firmware notifies and reacts. Files of the
/// driver, where they were read, say it more exactly.
void take_cc_mask(const evidence::FirmwareSetting& setting, PastedNic& nic, const PasteAt& at,
                  PasteSink& out) {
  const std::string& text = setting.current.empty() ? setting.next_boot : setting.current;
  const bool is_hex = text.starts_with("0x");
  unsigned mask = 0;
  const char* const begin = text.data() + (is_hex ? 2 : 0);
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(begin, end, mask, is_hex ? 16 : 10);
  if (error != std::errc() || last != end || mask > 255) return;
  const auto set = PrioritySet::from_mask(static_cast<std::uint8_t>(mask));
  nic.cc_mask = evidence::Fact<PrioritySet>::of(set, out.source(at.lines[0]));
}

}  // namespace

bool begins_mlxconfig(const PasteAt& at) {
  return at.line(0).starts_with("Device type:") || at.line(0) == "Device #1:" ||
         ((at.mark.tool() == "mlxconfig" || at.mark.tool() == "mstconfig") &&
          config_line(at.line(0)).has_value());
}

namespace {

/// "d8:00.0" or "mlx5_3" behind -d: the device of an output that a filter left without it.
std::string device_of_query(const Mark& mark) {
  for (std::size_t i = 1; i + 1 < mark.words.size(); ++i)
    if (mark.words[i] == "-d" && mark.words[i + 1].find('/') == std::string::npos)
      return mark.words[i + 1];
  return {};
}

}  // namespace

std::size_t read_mlxconfig(const PasteAt& at, PasteSink& out) {
  std::vector<evidence::FirmwareSetting> settings;
  std::string address;
  std::size_t taken = 0;
  std::size_t last = 0;
  for (; taken < at.lines.size(); ++taken) {
    const std::string_view text = at.line(taken);
    if (text.empty() || is_rule(text)) continue;
    const auto pair = key_value(text);
    if (auto setting = config_line(text)) {
      settings.push_back(std::move(*setting));
    } else if (!pair) {
      break;
    } else if (pair->key == "Device" && pair->value.find('.') != std::string_view::npos &&
               pair->value.find('/') == std::string_view::npos) {
      address = pair->value;
    }
    last = taken;
  }
  if (settings.empty()) return last + 1;
  if (address.empty()) address = device_of_query(at.mark);
  const bool is_address = address.find(':') != std::string::npos;
  PastedNic& nic = is_address ? out.hosts().by_address(out.host(), address)
                              : out.hosts().by_name(out.host(), address);
  for (const evidence::FirmwareSetting& setting : settings) {
    if (!setting.name.starts_with("LINK_TYPE_P")) continue;
    out.set(nic.nic.link_layer,
            setting.next_boot.starts_with("IB") ? evidence::LinkLayer::kInfiniband
                                                : evidence::LinkLayer::kEthernet,
            at.lines[0]);
    break;
  }
  for (const evidence::FirmwareSetting& setting : settings)
    if (setting.name.starts_with("ROCE_CC_PRIO_MASK_P")) take_cc_mask(setting, nic, at, out);
  out.device = address;
  out.set(nic.nic.firmware_settings, std::move(settings), at.lines[0]);
  return last + 1;
}

// ---- mlxreg ----

bool begins_mlxreg(const PasteAt& at) {
  return at.line(0).starts_with("Field Name") && at.line(0).ends_with("| Data");
}

/// "adaptive_routing_forced_en            | 0x00000001": fields of a register, one per line.
std::size_t read_mlxreg(const PasteAt& at, PasteSink& out) {
  std::size_t n = 1;
  for (; n < at.lines.size(); ++n) {
    const std::string_view text = at.line(n);
    const std::size_t bar = text.find('|');
    if (bar == std::string_view::npos && !is_rule(text)) break;
    if (bar == std::string_view::npos) continue;
    const std::string_view value = trim(text.substr(bar + 1));
    if (trim(text.substr(0, bar)) == "adaptive_routing_forced_en" && value.starts_with("0x"))
      out.paste().orderings.push_back({out.host(),
                                       value.find_first_not_of("0x") != std::string_view::npos,
                                       out.cite(at.lines[n])});
  }
  return n;
}

// ---- nvidia-smi topo -m ----

namespace {

std::optional<evidence::Distance> distance_of(std::string_view word) {
  using evidence::Distance;
  if (word == "PIX") return Distance::kPix;
  if (word == "PXB") return Distance::kPxb;
  if (word == "PHB") return Distance::kPhb;
  if (word == "NODE") return Distance::kNode;
  if (word == "SYS") return Distance::kSys;
  return std::nullopt;
}

bool is_numbered(std::string_view word, std::string_view stem) {
  return word.starts_with(stem) && word.size() > stem.size() &&
         parse_u64(word.substr(stem.size())).has_value();
}

bool is_nic_column(std::string_view word) {
  return is_numbered(word, "NIC") || is_rdma_name(word);
}

}  // namespace

bool begins_topology(const PasteAt& at) {
  const auto words = words_of(at.line(0));
  return words.size() >= 2 && is_numbered(words[0], "GPU") &&
         (is_numbered(words[1], "GPU") || is_nic_column(words[1]));
}

std::size_t read_topology(const PasteAt& at, PasteSink& out) {
  std::vector<std::string> columns;
  for (const std::string_view word : words_of(at.line(0))) {
    if (!is_numbered(word, "GPU") && !is_nic_column(word)) break;
    columns.emplace_back(word);
  }
  auto& distances = out.hosts().host(out.host()).distances;
  auto& gpus = out.hosts().host(out.host()).gpus;
  std::size_t taken = 1;
  std::size_t last = 0;
  for (; taken < at.lines.size(); ++taken) {
    const std::string_view text = at.line(taken);
    if (text.empty()) continue;
    const auto words = words_of(text);
    const bool is_legend =
        text == "Legend:" || text == "NIC Legend:" || (words.size() > 2 && words[1] == "=") ||
        (words.size() == 2 && words[0].ends_with(':') && words[0].starts_with("NIC"));
    const bool is_row = is_numbered(words[0], "GPU") || is_nic_column(words[0]);
    if (!is_legend && !is_row) break;
    last = taken;
    if (!is_numbered(words[0], "GPU")) continue;
    const auto gpu = parse_u64(words[0].substr(3));
    if (!gpu || *gpu > 1024) continue;
    bool has_nic = false;
    for (std::size_t at_word = 1; at_word < words.size() && at_word <= columns.size(); ++at_word) {
      if (!is_nic_column(columns[at_word - 1])) continue;
      const auto distance = distance_of(words[at_word]);
      if (!distance) continue;
      evidence::GpuDistance item;
      item.nic = columns[at_word - 1];
      item.gpu = static_cast<unsigned>(*gpu);
      out.set(item.distance, *distance, at.lines[taken]);
      distances.push_back(std::move(item));
      has_nic = true;
    }
    if (!has_nic) continue;
    gpus.emplace_back();
    gpus.back().index = static_cast<unsigned>(*gpu);
  }
  return last + 1;
}

// ---- how busy the machine is ----

namespace {

/// "14 %"
std::optional<unsigned> percent_of(std::string_view text) {
  const std::size_t sign = text.find('%');
  if (sign == std::string_view::npos || sign + 1 != text.size()) return std::nullopt;
  const auto value = parse_u64(trim(text.substr(0, sign)));
  return value && *value <= 100 ? std::optional(static_cast<unsigned>(*value)) : std::nullopt;
}

bool is_gpu_query(const Mark& mark) {
  return mark.tool() == "nvidia-smi" &&
         std::any_of(mark.words.begin(), mark.words.end(), [](const std::string& word) {
           return word.starts_with("--query-gpu=utilization.gpu");
         });
}

bool is_dmon_heading(std::string_view text) {
  const auto words = words_of(text);
  return words.size() > 2 && words[0] == "#" && words[1] == "gpu" &&
         std::find(words.begin(), words.end(), "sm") != words.end();
}

}  // namespace

bool begins_gpu_use(const PasteAt& at) {
  return is_dmon_heading(at.line(0)) || (is_gpu_query(at.mark) && percent_of(at.line(0)));
}

std::size_t read_gpu_use(const PasteAt& at, PasteSink& out) {
  PasteUse use;
  use.host = out.host();
  use.at = out.cite(at.lines[0]);
  std::size_t taken = 0;
  std::size_t last = 0;
  std::size_t column = 0;
  if (is_dmon_heading(at.line(0))) {
    const auto words = words_of(at.line(0));
    column =
        static_cast<std::size_t>(std::find(words.begin(), words.end(), "sm") - words.begin()) - 1;
  }
  for (; taken < at.lines.size(); ++taken) {
    const std::string_view text = at.line(taken);
    const auto words = words_of(text);
    if (const auto percent = percent_of(text); percent && column == 0) {
      use.percent.push_back(*percent);
    } else if (column > 0 && words.size() > column && parse_u64(words[0])) {
      const auto value = parse_u64(words[column]);
      if (value && *value <= 100) use.percent.push_back(static_cast<unsigned>(*value));
    } else if (!text.starts_with('#')) {
      break;
    }
    last = taken;
  }
  out.paste().uses.push_back(std::move(use));
  return last + 1;
}

/// "%Cpu(s): 96.8 us,  2.9 sy,  0.0 ni,  0.1 id,  0.0 wa"
bool begins_cpu_use(const PasteAt& at) {
  return at.line(0).starts_with("%Cpu(s):") && at.line(0).find(" id") != std::string_view::npos;
}

std::size_t read_cpu_use(const PasteAt& at, PasteSink& out) {
  const std::string_view text = at.line(0);
  for (const std::string_view part : split(text.substr(8), ',')) {
    const auto words = words_of(part);
    if (words.size() != 2 || words[1] != "id") continue;
    const auto idle = decimal(words[0]);
    if (!idle || *idle < 0 || *idle > 100) continue;
    PasteUse use;
    use.host = out.host();
    use.is_gpu = false;
    use.percent.push_back(static_cast<unsigned>(100 - *idle + 0.5));
    use.at = out.cite(at.lines[0]);
    out.paste().uses.push_back(std::move(use));
  }
  return 1;
}

}  // namespace weir::readers
