// Classes, PFC and marking of a NIC as mlnx_qos, dcb, lldptool and the files of the traffic class
// show them.
#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "readers/paste/paste_tools.h"
#include "readers/paste/text_lines.h"
#include "units/dscp_name.h"

namespace weir::readers {
namespace {

using evidence::Missing;

std::optional<unsigned> small_number(std::string_view text, unsigned limit) {
  const auto value = parse_u64(trim(text));
  if (!value || *value >= limit) return std::nullopt;
  return static_cast<unsigned>(*value);
}

std::optional<Bytes> byte_count(std::string_view text) {
  const auto value = parse_u64(trim(text));
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40U;
  if (!value || *value > kMost) return std::nullopt;
  return Bytes::raw(static_cast<std::int64_t>(*value));
}

/// "200.0" of a unit.
std::optional<BitRate> rate(std::string_view number, double unit) {
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  constexpr double kMost = 1e15;
  if (error != std::errc() || end != number.data() + number.size() || !(value >= 0) ||
      value * unit > kMost)
    return std::nullopt;
  return BitRate::raw(static_cast<std::int64_t>(value * unit));
}

std::optional<evidence::Tsa> tsa_of(std::string_view text) {
  if (text == "strict") return evidence::Tsa::kStrict;
  if (text == "ets") return evidence::Tsa::kEts;
  if (text == "vendor") return evidence::Tsa::kVendor;
  if (text == "cb-shaper" || text == "cbs") return evidence::Tsa::kCbs;
  return std::nullopt;
}

// ---- mlnx_qos ----

/// One output; parts of it that were cut off stay unknown.
class MlnxQos {
 public:
  MlnxQos(PastedNic& nic, PasteSink& out) : nic_(nic.nic), out_(out) {}

  /// False where the line is none of its own.
  bool line(const PasteLine& line, std::string_view text) {
    if (text.empty()) return true;
    const auto pair = key_value(text);
    if (is_refusal(line, text)) return true;
    if (!pair) return read_table(line, text);
    if (pair->key == "DCBX mode") {
      out_.set(
          nic_.qos.dcbx,
          pair->value.starts_with("OS") ? evidence::DcbxMode::kOs : evidence::DcbxMode::kFirmware,
          line);
    } else if (pair->key == "Priority trust state" || pair->key == "Trust state") {
      read_trust(pair->value, line);
    } else if (pair->key == "dscp2prio mapping" || pair->key == "PFC configuration" ||
               pair->key == "default priority") {
      has_map_heading_ = has_map_heading_ || pair->key == "dscp2prio mapping";
      return true;
    } else if (text.starts_with("prio:")) {
      return read_map(text, line);
    } else if (pair->key == "Receive buffer size (bytes)") {
      read_buffers(pair->value, line);
    } else if (pair->key == "Cable len") {
      if (const auto metres = small_number(pair->value, 65536))
        out_.set(nic_.qos.cable_length, Length::raw(std::int64_t{*metres} * 1000), line);
    } else if (pair->key == "tc") {
      return read_class(pair->value, line);
    } else if (pair->key == "priority") {
      return read_member(pair->value);
    } else {
      return false;
    }
    return true;
  }

  void finish(const PasteLine& last) {
    // Without its heading it is what a grep left of the list: whole only if nothing is missing.
    const bool is_whole =
        std::all_of(map_.begin(), map_.end(), [](const auto& entry) { return entry.has_value(); });
    if (has_map_ && (is_whole || has_map_heading_)) {
      // The tool prints all 64: what is missing was cut off, and is as mlx5 comes (DSCP / 8).
      for (unsigned dscp = 0; dscp < Dscp::kLimit; ++dscp)
        if (!map_.at(dscp)) map_.at(dscp) = Priority::of(dscp / 8);
      out_.set(nic_.qos.dscp_to_priority, map_, last);
    }
    if (classes_ == 0) return;
    if (members_ != 8) return set_limits(last);  // cut off
    out_.set(nic_.qos.priority_to_tc, priority_to_tc_, last);
    out_.set(nic_.qos.tc_max_rate, limit_, last);
    if (classes_ != 8) return;  // classes without a priority are not printed
    out_.set(nic_.qos.tsa, tsa_, last);
    out_.set(nic_.qos.tc_bandwidth, share_, last);
  }

 private:
  /// Of classes that were cut off nothing is known: their priorities are put where no limit is.
  void set_limits(const PasteLine& last) {
    const auto* const free = std::find(limit_.begin(), limit_.end(), BitRate());
    if (members_ == 0 || free == limit_.end()) return;
    const auto open = TrafficClass::of(static_cast<unsigned>(free - limit_.begin()));
    for (unsigned p = 0; p < Priority::kLimit; ++p)
      if (!seen_.contains(Priority::of(p))) priority_to_tc_.at(p) = open;
    out_.set(nic_.qos.priority_to_tc, priority_to_tc_, last);
    out_.set(nic_.qos.tc_max_rate, limit_, last);
  }

  bool is_refusal(const PasteLine& line, std::string_view text) {
    const bool is_permission = text.find("Operation not permitted") != std::string_view::npos;
    const bool is_unsupported = text.find("not supported on your system") != std::string_view::npos;
    if (text.find("lldpad service is running") != std::string_view::npos) {
      out_.set(out_.facts().lldpad_running, true, line);
      return true;
    }
    if (!is_permission && !is_unsupported) return false;
    const Missing why = is_permission ? Missing::kPermission : Missing::kUnsupported;
    if (is_permission || text.starts_with("Priority trust")) {
      out_.refuse(nic_.qos.trust, why, line);
      out_.refuse(nic_.qos.dscp_to_priority, why, line);
    }
    if (is_permission || text.starts_with("ETS")) {
      out_.refuse(nic_.qos.pfc, why, line);
      out_.refuse(nic_.qos.priority_to_tc, why, line);
    }
    return true;
  }

  void read_trust(std::string_view value, const PasteLine& line) {
    using evidence::TrustMode;
    if (value == "dscp") out_.set(nic_.qos.trust, TrustMode::kDscp, line);
    if (value == "pcp") out_.set(nic_.qos.trust, TrustMode::kPcp, line);
    if (value == "both") out_.set(nic_.qos.trust, TrustMode::kBoth, line);
    if (value == "port") out_.set(nic_.qos.trust, TrustMode::kPort, line);
    if (value == "none") out_.refuse(nic_.qos.trust, Missing::kError, line);
  }

  /// "prio:3 dscp:26,31,30,"
  bool read_map(std::string_view text, const PasteLine& line) {
    const std::size_t at = text.find("dscp:");
    const auto priority = small_number(text.substr(5, text.find(' ') - 5), 8);
    if (at == std::string_view::npos || !priority) {
      out_.unread(line, "expected prio:N dscp:NN,NN,…");
      return true;
    }
    for (const std::string_view item : split(text.substr(at + 5), ',')) {
      if (trim(item).empty()) continue;
      const auto dscp = small_number(item, 64);
      if (!dscp) {
        out_.unread(line, "expected code points from 0 to 63");
        return true;
      }
      map_.at(*dscp) = Priority::of(*priority);
      has_map_ = true;
    }
    return true;
  }

  /// "130944,130944,0,0,0,0,0,0,max_buffer_size=262016"
  void read_buffers(std::string_view value, const PasteLine& line) {
    std::array<Bytes, 8> sizes{};
    std::size_t count = 0;
    for (const std::string_view item : split(value, ',')) {
      if (item.starts_with("max_buffer_size=")) {
        if (const auto total = byte_count(item.substr(16)))
          out_.set(nic_.qos.buffer_total, *total, line);
      } else if (const auto size = byte_count(item); size && count < sizes.size()) {
        sizes.at(count++) = *size;
      }
    }
    if (count == sizes.size()) out_.set(nic_.qos.buffer_size, sizes, line);
  }

  /// "priority 0 1 …", "enabled 0 0 0 1 …", "buffer 0 0 0 1 …"
  bool read_table(const PasteLine& line, std::string_view text) {
    const auto words = words_of(text);
    if (words.empty()) return false;
    if (words[0] != "priority" && words[0] != "enabled" && words[0] != "buffer") return false;
    if (words.size() != 9) {
      out_.unread(line, "expected eight numbers");
      return true;
    }
    std::array<unsigned, 8> numbers{};
    for (std::size_t p = 0; p < numbers.size(); ++p) {
      const auto number = small_number(words[p + 1], 8);
      if (!number) {
        out_.unread(line, "expected eight numbers");
        return true;
      }
      numbers.at(p) = *number;
    }
    if (words[0] == "enabled") {
      PrioritySet set;
      for (unsigned p = 0; p < 8; ++p)
        if (numbers.at(p) != 0) set.insert(Priority::of(p));
      out_.set(nic_.qos.pfc, set, line);
    } else if (words[0] == "buffer") {
      out_.set(nic_.qos.priority_to_buffer, numbers, line);
    }
    return true;
  }

  /// "3 ratelimit: 200.0 Gbps, tsa: ets, bw: 90%"
  bool read_class(std::string_view value, const PasteLine& line) {
    const auto number = small_number(value.substr(0, value.find(' ')), 8);
    const std::size_t limit = value.find("ratelimit:");
    if (!number || limit == std::string_view::npos) return false;
    class_ = *number;
    ++classes_;
    for (std::string_view item : split(value.substr(limit), ',')) {
      const auto pair = key_value(trim(item));
      if (!pair) continue;
      const auto words = words_of(pair->value);
      if (words.empty()) continue;
      if (pair->key == "ratelimit" && words[0] != "unlimited") {
        const auto entry = rate(words[0], words.size() > 1 && words[1] == "Mbps" ? 1e6 : 1e9);
        if (!entry) out_.unread(line, "expected a rate");
        limit_.at(class_) = entry.value_or(BitRate());
      } else if (pair->key == "tsa") {
        tsa_.at(class_) = tsa_of(words[0]).value_or(evidence::Tsa::kVendor);
      } else if (pair->key == "bw") {
        share_.at(class_) = small_number(words[0].substr(0, words[0].find('%')), 101).value_or(0);
      }
    }
    return true;
  }

  bool read_member(std::string_view value) {
    const auto priority = small_number(value, 8);
    if (!priority || classes_ == 0) return false;
    priority_to_tc_.at(*priority) = TrafficClass::of(class_);
    seen_.insert(Priority::of(*priority));
    ++members_;
    return true;
  }

  evidence::Nic& nic_;
  PasteSink& out_;
  std::array<std::optional<Priority>, 64> map_{};
  bool has_map_ = false;
  bool has_map_heading_ = false;
  unsigned class_ = 0;
  std::size_t classes_ = 0;
  std::size_t members_ = 0;
  PrioritySet seen_;
  std::array<TrafficClass, 8> priority_to_tc_{};
  std::array<evidence::Tsa, 8> tsa_{};
  std::array<unsigned, 8> share_{};
  std::array<BitRate, 8> limit_{};
};

}  // namespace

namespace {

/// A row that a filter left without its heading: "prio:3 dscp:26,31,…", "enabled 0 0 0 1 …".
bool is_row_of_mlnx_qos(std::string_view text) {
  const auto words = words_of(text);
  const bool is_map = text.starts_with("prio:") && text.find(" dscp:") != std::string_view::npos;
  return is_map || (words.size() == 9 && (words[0] == "priority" || words[0] == "enabled"));
}

}  // namespace

bool begins_mlnx_qos(const PasteAt& at) {
  const std::string_view text = at.line(0);
  return text.starts_with("DCBX mode:") || text.starts_with("Priority trust state") ||
         text.starts_with("PFC configuration:") || text.starts_with("dscp2prio mapping:") ||
         text.find("lldpad service is running and may overwrite") != std::string_view::npos ||
         (text.starts_with("tc: ") && text.find(" ratelimit: ") != std::string_view::npos) ||
         (at.mark.tool() == "mlnx_qos" && is_row_of_mlnx_qos(text)) ||
         (at.mark.tool() == "mlnx_qos" &&
          text.find("Operation not permitted") != std::string_view::npos);
}

std::size_t read_mlnx_qos(const PasteAt& at, PasteSink& out) {
  PastedNic& nic = out.hosts().by_netdev(out.host(), at.mark.device);
  MlnxQos reader(nic, out);
  std::size_t taken = 0;
  std::size_t last = 0;
  bool has_trust = false;
  for (; taken < at.lines.size(); ++taken) {
    const std::string_view text = at.line(taken);
    // A second output right behind the first.
    if (text.starts_with("DCBX mode:") && has_trust) break;
    has_trust = has_trust || text.starts_with("Priority trust state");
    if (!reader.line(at.lines[taken], text)) break;
    if (!text.empty()) last = taken;
  }
  if (taken > 0) reader.finish(at.lines[last]);
  out.device = at.mark.device;
  return last + 1;
}

// ---- dcb ----

namespace {

constexpr auto kDcbKeys = std::to_array<std::string_view>(
    {"pfc-cap",         "prio-pfc",     "requests",     "indications",  "willing",
     "tc-bw",           "pg-bw",        "tc-tsa",       "prio-tc",      "reco-tc-bw",
     "reco-tc-tsa",     "reco-prio-tc", "dscp-prio",    "prio-buffer",  "buffer-size",
     "total-size",      "tc-maxrate",   "default-prio", "ethtype-prio", "stream-port-prio",
     "dgram-port-prio", "port-prio",    "pcp-prio",     "order"});

bool is_dcb_line(std::string_view text) {
  const std::string_view key = text.substr(0, text.find(' '));
  if (std::find(kDcbKeys.begin(), kDcbKeys.end(), key) == kDcbKeys.end()) return false;
  return text.find(':') != std::string_view::npos || key == "pfc-cap" || key == "willing" ||
         key == "total-size" || key == "order";
}

/// "3:on" → (3, "on"); code points may be names: "AF31:3".
struct Item {
  std::string_view key;
  std::string_view value;
};
std::vector<Item> items_of(std::string_view text) {
  std::vector<Item> items;
  const auto words = words_of(text);
  for (std::size_t at = 1; at < words.size(); ++at) {
    const std::size_t colon = words[at].find(':');
    if (colon != std::string_view::npos)
      items.push_back({words[at].substr(0, colon), words[at].substr(colon + 1)});
  }
  return items;
}

/// Eight values by number; nullopt where one is missing or wrong.
template <class T, class Parse>
std::optional<std::array<T, 8>> eight(const std::vector<Item>& items, Parse&& parse) {
  std::array<T, 8> out{};
  unsigned seen = 0;
  for (const Item& item : items) {
    const auto index = small_number(item.key, 8);
    const std::optional<T> value = parse(item.value);
    if (!index || !value) return std::nullopt;
    out.at(*index) = *value;
    seen |= 1U << *index;
  }
  return seen == 0xFF ? std::optional(out) : std::nullopt;
}

/// "130944b", "128Kb", "1Mb": bytes; dcb writes b for bytes and multiples of 1024.
std::optional<Bytes> dcb_size(std::string_view text) {
  const std::size_t end = text.find_first_not_of("0123456789.");
  if (end == std::string_view::npos) return byte_count(text);
  const std::string_view unit = text.substr(end);
  return parse_size_1024(text.substr(0, end), unit == "b"    ? "B"
                                              : unit == "Kb" ? "KB"
                                              : unit == "Mb" ? "MB"
                                                             : "GB");
}

/// "0bit", "100Gbit".
std::optional<BitRate> dcb_rate(std::string_view text) {
  const std::size_t end = text.find_first_not_of("0123456789.");
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view unit = text.substr(end);
  const double scale = unit == "bit" ? 1 : unit == "Kbit" ? 1e3 : unit == "Mbit" ? 1e6 : 1e9;
  return rate(text.substr(0, end), scale);
}

void read_dscp_map(const std::vector<Item>& items, evidence::Nic& nic, const PasteLine& line,
                   PasteSink& out) {
  std::array<std::optional<Priority>, 64> map{};
  for (const Item& item : items) {
    auto dscp = small_number(item.key, 64);
    if (!dscp) {
      if (const auto named = dscp_named(item.key)) dscp = named->value();
    }
    const auto priority = small_number(item.value, 8);
    if (!dscp || !priority) {
      out.unread(line, "expected code points with a priority each");
      return;
    }
    map.at(*dscp) = Priority::of(*priority);
  }
  out.set(nic.qos.dscp_to_priority, map, line);
  // Drivers trust DSCP as soon as there is an entry for it (mlx5, host-interfaces 1.1).
  if (!items.empty()) out.set(nic.qos.trust, evidence::TrustMode::kDscp, line);
}

void read_pfc_counts(std::string_view key, const std::vector<Item>& items, PastedNic& nic) {
  for (const Item& item : items) {
    const auto value = parse_u64(item.value);
    if (!value || !small_number(item.key, 8)) continue;
    const std::string name = std::string(key) + "_" + std::string(item.key);
    add_count(nic.dump_for(counters::Place::kDcb, name), counters::Place::kDcb, name, *value);
  }
}

template <class T, class Parse>
void set_eight(evidence::Fact<std::array<T, 8>>& fact, const std::vector<Item>& items,
               const PasteLine& line, PasteSink& out, Parse&& parse) {
  if (const auto values = eight<T>(items, parse)) {
    out.set(fact, *values, line);
  } else {
    out.unread(line, "expected eight values");
  }
}

void read_dcb_line(std::string_view text, const PasteLine& line, PastedNic& pasted,
                   PasteSink& out) {
  evidence::Nic& nic = pasted.nic;
  const std::string_view key = text.substr(0, text.find(' '));
  const auto items = items_of(text);
  const auto number = [](std::string_view value) { return small_number(value, 101); };
  if (key == "prio-pfc") {
    const auto on = eight<bool>(items, [](std::string_view value) -> std::optional<bool> {
      if (value != "on" && value != "off") return std::nullopt;
      return value == "on";
    });
    if (!on) return out.unread(line, "expected on or off for eight priorities");
    PrioritySet set;
    for (unsigned p = 0; p < 8; ++p)
      if (on->at(p)) set.insert(Priority::of(p));
    out.set(nic.qos.pfc, set, line);
  } else if (key == "requests" || key == "indications") {
    read_pfc_counts(key, items, pasted);
  } else if (key == "pfc-cap") {
    const auto words = words_of(text);
    if (const auto classes = words.size() > 1 ? small_number(words[1], 9) : std::nullopt)
      out.set(nic.qos.pfc_classes, *classes, line);
  } else if (key == "willing") {
    out.set(nic.qos.dcbx_willing, text.starts_with("willing on"), line);
  } else if (key == "tc-tsa") {
    set_eight(nic.qos.tsa, items, line, out, tsa_of);
  } else if (key == "tc-bw") {
    set_eight(nic.qos.tc_bandwidth, items, line, out, number);
  } else if (key == "prio-tc") {
    set_eight(nic.qos.priority_to_tc, items, line, out,
              [](std::string_view value) -> std::optional<TrafficClass> {
                const auto tc = small_number(value, 8);
                return tc ? std::optional(TrafficClass::of(*tc)) : std::nullopt;
              });
  } else if (key == "dscp-prio") {
    read_dscp_map(items, nic, line, out);
  } else if (key == "prio-buffer") {
    set_eight(nic.qos.priority_to_buffer, items, line, out,
              [](std::string_view value) { return small_number(value, 8); });
  } else if (key == "buffer-size") {
    set_eight(nic.qos.buffer_size, items, line, out, dcb_size);
  } else if (key == "total-size") {
    const auto words = words_of(text);
    if (const auto total = words.size() > 1 ? dcb_size(words[1]) : std::nullopt)
      out.set(nic.qos.buffer_total, *total, line);
  } else if (key == "tc-maxrate") {
    set_eight(nic.qos.tc_max_rate, items, line, out, dcb_rate);
  }
}

bool is_dcbx_line(std::string_view text) {
  const auto words = words_of(text);
  return !words.empty() && std::all_of(words.begin(), words.end(), [](std::string_view word) {
    return word == "host" || word == "cee" || word == "ieee" || word == "lld-managed" ||
           word == "static";
  });
}

bool is_dcb_refusal(const PasteAt& at, std::string_view text) {
  return at.mark.tool() == "dcb" && text.starts_with("Attribute read:");
}

}  // namespace

bool begins_dcb(const PasteAt& at) {
  const std::string_view text = at.line(0);
  return is_dcb_line(text) || is_dcb_refusal(at, text) ||
         (at.mark.tool() == "dcb" && at.mark.has_word("dcbx") && is_dcbx_line(text));
}

std::size_t read_dcb(const PasteAt& at, PasteSink& out) {
  PastedNic& nic = out.hosts().by_netdev(out.host(), at.mark.device);
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const std::string_view text = at.line(taken);
    const PasteLine& line = at.lines[taken];
    if (is_dcb_line(text)) {
      read_dcb_line(text, line, nic, out);
    } else if (is_dcb_refusal(at, text)) {
      const Missing why = text.find("not supported") != std::string_view::npos
                              ? Missing::kUnsupported
                              : Missing::kError;
      if (at.mark.has_word("pfc")) out.refuse(nic.nic.qos.pfc, why, line);
      if (at.mark.has_word("ets")) out.refuse(nic.nic.qos.priority_to_tc, why, line);
      if (at.mark.has_word("app")) {
        out.refuse(nic.nic.qos.trust, why, line);
        out.refuse(nic.nic.qos.dscp_to_priority, why, line);
      }
    } else if (at.mark.has_word("dcbx") && is_dcbx_line(text)) {
      const bool is_host = text.find("host") != std::string_view::npos;
      out.set(nic.nic.qos.dcbx, is_host ? evidence::DcbxMode::kOs : evidence::DcbxMode::kFirmware,
              line);
    } else {
      break;
    }
  }
  out.device = at.mark.device;
  return taken;
}

// ---- lldptool ----

namespace {

/// "willing=yes": what `lldptool -V PFC -c willing` prints.
bool is_willing_line(const PasteAt& at) {
  return at.mark.tool() == "lldptool" &&
         (at.line(0) == "willing=yes" || at.line(0) == "willing=no");
}

}  // namespace

bool begins_lldptool(const PasteAt& at) {
  if (is_willing_line(at)) return true;
  return at.line(0).find("8021QAZ PFC TLV") != std::string_view::npos ||
         at.line(0).find("PFC Configuration TLV") != std::string_view::npos;
}

std::size_t read_lldptool(const PasteAt& at, PasteSink& out) {
  PastedNic& nic = out.hosts().by_netdev(out.host(), at.mark.device);
  out.device = at.mark.device;
  if (is_willing_line(at)) {
    out.set(nic.nic.qos.dcbx_willing, at.line(0) == "willing=yes", at.lines[0]);
    return 1;
  }
  std::size_t taken = 1;
  for (; taken < at.lines.size(); ++taken) {
    const auto pair = key_value(at.line(taken));
    if (!pair) break;
    const PasteLine& line = at.lines[taken];
    if (pair->key == "Willing") {
      out.set(nic.nic.qos.dcbx_willing, pair->value == "yes", line);
    } else if (pair->key == "PFC enabled") {
      PrioritySet set;
      bool is_clean = true;
      for (const std::string_view word : words_of(pair->value)) {
        if (word == "none") continue;
        const auto priority = small_number(word.substr(0, word.find(',')), 8);
        is_clean = is_clean && priority.has_value();
        if (priority) set.insert(Priority::of(*priority));
      }
      if (is_clean) {
        out.set(nic.nic.qos.pfc, set, line);
      } else {
        out.unread(line, "expected priorities");
      }
    } else if (pair->key == "PFC capable traffic classes") {
      if (const auto classes = small_number(pair->value, 9))
        out.set(nic.nic.qos.pfc_classes, *classes, line);
    }
  }
  return taken;
}

// ---- traffic class and TOS ----

namespace {

bool asks_for_cm_tos(const Mark& mark) {
  if (mark.tool() == "cma_roce_tos") return true;
  return mark.tool() == "cat" && !mark.words.empty() &&
         mark.words.back().ends_with("default_roce_tos");
}

bool asks_for_traffic_class(const Mark& mark) {
  return mark.tool() == "cat" && !mark.words.empty() &&
         mark.words.back().ends_with("traffic_class");
}

}  // namespace

bool begins_tos(const PasteAt& at) {
  const std::string_view text = at.line(0);
  if (text.starts_with("Global tclass=")) return true;
  const bool is_asked = asks_for_cm_tos(at.mark) || asks_for_traffic_class(at.mark);
  return is_asked && small_number(text, 256).has_value();
}

std::size_t read_tos(const PasteAt& at, PasteSink& out) {
  PastedNic& nic = out.hosts().by_device(out.host(), at.mark.device);
  const PasteLine& line = at.lines[0];
  std::string_view text = at.line(0);
  const bool is_forced = text.starts_with("Global tclass=") || asks_for_traffic_class(at.mark);
  if (const auto equals = text.find('='); equals != std::string_view::npos)
    text = text.substr(equals + 1);
  const auto value = small_number(text, 256);
  if (!value) {
    out.unread(line, "expected a number from 0 to 255");
  } else if (is_forced) {
    out.set(nic.nic.rdma.traffic_class, std::optional(TosByte::of(*value)), line);
  } else {
    out.set(nic.nic.rdma.cm_tos, TosByte::of(*value), line);
  }
  out.device = at.mark.device;
  return 1;
}

// ---- the file of the trust ----

/// Of the oldest stacks: one word.
bool begins_trust(const PasteAt& at) {
  // Also behind another command of the same line.
  const bool is_asked = at.mark.command.find("cat ") != std::string::npos &&
                        trim(at.mark.command).ends_with("/qos/trust");
  return is_asked && (at.line(0) == "pcp" || at.line(0) == "dscp");
}

std::size_t read_trust(const PasteAt& at, PasteSink& out) {
  PastedNic& nic = out.hosts().by_netdev(out.host(), at.mark.device);
  out.set(nic.nic.qos.trust,
          at.line(0) == "dscp" ? evidence::TrustMode::kDscp : evidence::TrustMode::kPcp,
          at.lines[0]);
  out.device = at.mark.device;
  return 1;
}

// ---- nicctl show qos (ionic) ----

bool begins_nicctl(const PasteAt& at) {
  return at.line(0).starts_with("Classification type") &&
         (at.line(0).ends_with("DSCP") || at.line(0).ends_with("PCP"));
}

/// "Classification type : DSCP", "DSCP : 24 ==> priority : 3", "PFC no-drop priorities : 3".
std::size_t read_nicctl(const PasteAt& at, PasteSink& out) {
  evidence::Nic& nic = out.hosts().by_name(out.host(), at.mark.device).nic;
  out.set(nic.qos.trust,
          at.line(0).ends_with("DSCP") ? evidence::TrustMode::kDscp : evidence::TrustMode::kPcp,
          at.lines[0]);
  std::size_t last = 0;
  for (std::size_t n = 1; n < at.lines.size(); ++n) {
    const auto pair = key_value(at.line(n));
    if (at.line(n).empty()) continue;
    if (!pair) break;
    last = n;
    constexpr std::string_view kTo = "==> priority :";
    const std::size_t to = pair->value.find(kTo);
    const auto dscp = pair->key == "DSCP" && to != std::string_view::npos
                          ? parse_count(trim(pair->value.substr(0, to)))
                          : std::nullopt;
    const auto priority =
        dscp ? parse_count(trim(pair->value.substr(to + kTo.size()))) : std::nullopt;
    if (priority && *dscp < Dscp::kLimit && *priority < Priority::kLimit) {
      auto map = nic.qos.dscp_to_priority.is_known()
                     ? *nic.qos.dscp_to_priority
                     : std::array<std::optional<Priority>, Dscp::kLimit>();
      map.at(*dscp) = Priority::of(static_cast<unsigned>(*priority));
      out.set(nic.qos.dscp_to_priority, map, at.lines[n]);
    }
    if (pair->key != "PFC no-drop priorities") continue;
    PrioritySet set;
    for (const std::string_view word : split(pair->value, ','))
      if (const auto value = parse_count(trim(word)); value && *value < Priority::kLimit)
        set.insert(Priority::of(static_cast<unsigned>(*value)));
    out.set(nic.qos.pfc, set, at.lines[n]);
  }
  return last + 1;
}

}  // namespace weir::readers
