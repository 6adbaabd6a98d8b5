// Cumulus Linux: `nv show qos roce`, `nv show interface [<port>]`, `… counters [qos]`, `… qos roce
// [status|counters]`, `… qos pfc-watchdog`, as a table or with `-o json`. Under `qos roce` the
// lossless switch priority, traffic class and group are 3 in every mode (NVUE documentation 5.19):
// the RoCE counters are theirs. Units are multiples of 1024.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "readers/switches/read_show.h"

namespace weir::readers {
namespace {

struct Field {
  std::string_view section;
  std::string_view name;
  std::string_view counter;
};
constexpr auto kFields = std::to_array<Field>({
    {"rx-pfc-stats", "pause-packets", "prio3.pause_rx.frames"},
    {"rx-pfc-stats", "pause-duration", "prio3.pause_rx.microseconds"},
    {"tx-pfc-stats", "pause-packets", "prio3.pause_tx.frames"},
    {"tx-pfc-stats", "pause-duration", "prio3.pause_tx.microseconds"},
    {"rx-roce-stats", "no-buffer-discard", "pg3.drop_headroom.packets"},
    {"rx-roce-stats", "pg-usage", "pg3.occupancy.bytes"},
    {"rx-roce-stats", "pg-max-usage", "pg3.occupancy_max.bytes"},
    {"rx-roce-stats", "buffer-usage", "pool.occupancy.bytes"},
    {"rx-roce-stats", "buffer-max-usage", "pool.occupancy_max.bytes"},
    {"rx-roce-stats", "roce-bytes", "prio3.rx.bytes"},
    {"rx-roce-stats", "roce-packets", "prio3.rx.packets"},
    {"tx-cnp-stats", "cnp-packets", "port.cnp_tx.packets"},
    {"tx-cnp-stats", "cnp-bytes", "port.cnp_tx.bytes"},
    {"tx-ecn-stats", "ecn-marked-packets", "queue3.ecn_marked.packets"},
    {"tx-roce-stats", "roce-packets", "queue3.tx.packets"},
    {"tx-roce-stats", "roce-bytes", "queue3.tx.bytes"},
    {"tx-roce-stats", "tc-max-usage", "queue3.depth_max.bytes"},
    {"tx-roce-stats", "unicast-no-buffer-discard", "queue3.drop_tail.packets"},
});

/// `nv show interface <port> counters`: one number per line.
struct PortField {
  std::string_view name;
  std::string_view counter;
};
constexpr auto kPortFields = std::to_array<PortField>({
    {"in-bytes", "port.rx.bytes"},
    {"in-pkts", "port.rx.packets"},
    {"out-bytes", "port.tx.bytes"},
    {"out-pkts", "port.tx.packets"},
    {"out-drops", "port.drop.packets"},
});

/// `nv show interface <port> counters qos`: tables with a row per group, class or priority.
/// Discards are printed as sizes there, and their unit is not said: zero is zero, more stays open.
struct TableColumn {
  std::string_view key;  // heading of the first column
  std::string_view heading;
  std::string_view counter;
};
constexpr auto kTableColumns = std::to_array<TableColumn>({
    {"priority-group", "rx-buffer-discards", "pg{}.drop_headroom.packets"},
    {"traffic-class", "tx-frames", "queue{}.tx.packets"},
    {"traffic-class", "tx-bytes", "queue{}.tx.bytes"},
    {"traffic-class", "tx-uc-buffer-discards", "queue{}.drop_tail.packets"},
    {"traffic-class", "wred-discards", "queue{}.drop_wred.packets"},
    {"switch-priority", "rx-pause-frames", "prio{}.pause_rx.frames"},
    {"switch-priority", "rx-pause-duration", "prio{}.pause_rx.microseconds"},
    {"switch-priority", "tx-pause-frames", "prio{}.pause_tx.frames"},
    {"switch-priority", "tx-pause-duration", "prio{}.pause_tx.microseconds"},
});

bool is_table_key(std::string_view word) {
  return word == "priority-group" || word == "traffic-class" || word == "switch-priority";
}

/// "0 Bytes" and "1.19 PB" are one cell: the words of a row, joined by their units.
std::vector<std::string> cells_of(const std::vector<std::string_view>& words) {
  constexpr auto kUnits =
      std::to_array<std::string_view>({"Bytes", "B", "KB", "MB", "GB", "TB", "PB"});
  std::vector<std::string> cells;
  for (const std::string_view word : words) {
    const bool is_unit = std::find(kUnits.begin(), kUnits.end(), word) != kUnits.end();
    if (is_unit && !cells.empty()) {
      cells.back() += fmt::format(" {}", word);
    } else {
      cells.emplace_back(word);
    }
  }
  return cells;
}

bool is_section(std::string_view word) {
  return std::any_of(kFields.begin(), kFields.end(),
                     [&](const Field& field) { return field.section == word; });
}

const Field* find_field(std::string_view section, std::string_view name) {
  const auto* const at = std::find_if(kFields.begin(), kFields.end(), [&](const Field& field) {
    return field.section == section && field.name == name;
  });
  return at == kFields.end() ? nullptr : at;
}

/// "57", "1.22 MB".
std::optional<std::uint64_t> value_of(std::string_view number, std::string_view unit) {
  if (const auto size = parse_size_1024(number, unit))
    return static_cast<std::uint64_t>(size->raw());
  return parse_count(number);
}

class CumulusReader {
 public:
  explicit CumulusReader(std::string_view file) : out_(vocab::SwitchSystem::kCumulus, file) {}

  void read(const Line& line) {
    const std::string_view text = trim(line.text);
    if (text.empty() || is_rule(text)) return;
    if (const auto prompt = prompt_of(text)) return use(*prompt);
    if (const auto waited = wait_of_line(text)) return out_.wait(*waited);
    if (const auto second = time_of_line(text)) return out_.set_time(*second);
    const auto words = words_of(text);
    if (words[0] == "Interface" && text.find("MTU") != std::string_view::npos) {
      columns_ = words_and_places(line.text);
      in_list_ = true;
      return;
    }
    if (in_list_ && words[0].starts_with("swp")) return read_listed(line);
    if (read_roce(line, text, words)) return;
    if (is_table_key(words[0]) && words.size() > 1 &&
        text.find("deadlock-count") == std::string_view::npos) {
      headings_ = words;
      return;
    }
    if (!headings_.empty() && parse_count(words[0])) return read_table_row(line, cells_of(words));
    headings_.clear();
    if (is_section(words[0])) {
      section_ = words[0];
      return;
    }
    if (text.starts_with("traffic-class") && text.find("deadlock-count") != std::string::npos) {
      in_watchdog_ = true;
      return;
    }
    if (in_watchdog_ && words.size() == 3) return read_watchdog(line, words);
    if (words[0] == "state" && words.size() > 1 &&
        command_.find("pfc-watchdog") != std::string::npos)
      return set_watchdog(words[1] == "enabled", line);
    if (text.starts_with("FCS Errors") && words.size() > 2) return read_broken_frames(line, words);
    if (text == "No Data" && command_.find("qos congestion-control") != std::string_view::npos) {
      // RDMA's class under `qos roce` and by custom is 3.
      if (!port_.empty()) out_.queue(port_, Queue::of(3)).ecn = out_.fact(false, line.number);
      return;
    }
    if (section_.empty() && read_port_field(line, words)) return;
    if (section_.empty() && command_.find("roce counters") != std::string_view::npos)
      use_section_of(words[0], text);
    const Field* const field = find_field(section_, words[0]);
    if (command_.find('|') != std::string_view::npos) section_ = {};  // of each line by itself
    if (field == nullptr || words.size() < 2) return;
    const auto value = value_of(words[1], words.size() > 2 ? words[2] : std::string_view());
    if (!value) return out_.unread(line, "expected a number, or a size with its unit");
    if (port_.empty()) return no_port();
    out_.count(port_, std::string(field->counter), *value);
  }

  /// `-o json`: the same names as keys.
  void read_json(const Json& document) {
    for (const char* side : {"rx-stats", "tx-stats"}) {
      if (!document.contains(side) || !document[side].is_object()) continue;
      for (const auto& [section, fields] : document[side].items())
        if (fields.is_object()) read_json_section(section, fields);
    }
    if (document.contains("state") && document["state"].is_string())
      set_watchdog(document["state"] == "enabled", {});
  }

  Recognised finish() && { return std::move(out_).finish(); }

 private:
  void use(const Prompt& prompt) {
    out_.use_prompt(prompt);
    command_ = prompt.command;
    section_ = {};
    in_watchdog_ = false;
    in_list_ = false;
    headings_.clear();
    is_roce_ = command_.find("qos roce") != std::string_view::npos &&
               command_.find("counters") == std::string_view::npos;
    roce_ = {};
    const auto words = words_of(prompt.command);
    const auto at = std::find(words.begin(), words.end(), "interface");
    port_ = at != words.end() && at + 1 != words.end() ? std::string(at[1]) : std::string();
  }

  /// A filter cut the headings off: the name of the field and the words behind it say which it is.
  void use_section_of(std::string_view name, std::string_view text) {
    const bool is_sent = text.find(" Tx ") != std::string_view::npos;
    const bool is_cnp = text.find("CNP") != std::string_view::npos;
    const bool is_other = text.find("non-RoCE") != std::string_view::npos;
    section_ = {};
    for (const Field& field : kFields) {
      const bool is_here = field.section.starts_with(is_sent ? "tx" : "rx") &&
                           is_cnp == (field.section == "tx-cnp-stats");
      if (field.name == name && is_here && !is_other) section_ = field.section;
    }
  }

  bool read_port_field(const Line& line, const std::vector<std::string_view>& words) {
    const auto* const field =
        std::find_if(kPortFields.begin(), kPortFields.end(),
                     [&](const PortField& item) { return item.name == words[0]; });
    if (field == kPortFields.end() || words.size() < 2) return false;
    const auto value = value_of(words[1], words.size() > 2 ? words[2] : std::string_view());
    if (!value) {
      out_.unread(line, "expected a number, or a size with its unit");
    } else if (port_.empty()) {
      no_port();
    } else {
      out_.count(port_, std::string(field->counter), *value);
    }
    return true;
  }

  // "FCS Errors   88120": received, then sent.
  void read_broken_frames(const Line& line, const std::vector<std::string_view>& words) {
    const auto value = parse_count(words[2]);
    if (!value) return out_.unread(line, "expected a number");
    if (port_.empty()) return no_port();
    out_.count(port_, "port.crc_error.packets", *value);
  }

  void read_table_row(const Line& line, const std::vector<std::string>& cells) {
    const auto number = parse_count(cells[0]);
    if (!number || *number > 7) return;
    if (cells.size() != headings_.size())
      return out_.unread(line, fmt::format("expected {} cells", headings_.size()));
    if (port_.empty()) return no_port();
    for (std::size_t i = 1; i < cells.size(); ++i) {
      for (const TableColumn& column : kTableColumns) {
        if (column.key != headings_[0] || column.heading != headings_[i]) continue;
        const auto words = words_of(cells[i]);
        const auto value = value_of(words[0], words.size() > 1 ? words[1] : std::string_view());
        if (!value) return out_.unread(line, "expected a number, or a size with its unit");
        const bool is_size = words.size() > 1;
        const bool is_of_packets = column.counter.ends_with(".packets");
        if (is_size && is_of_packets && *value > 0) continue;
        out_.count(port_, fmt::format(fmt::runtime(column.counter), *number), *value);
      }
    }
  }

  /// Headings with the places where they begin: cells of the list may be empty.
  static std::vector<std::pair<std::string_view, std::size_t>> words_and_places(
      std::string_view text) {
    std::vector<std::pair<std::string_view, std::size_t>> out;
    constexpr std::string_view kGap = "  ";  // "Admin Status" is one heading
    std::size_t at = text.find_first_not_of(' ');
    while (at != std::string_view::npos) {
      const std::size_t end = std::min(text.find(kGap, at), text.size());
      out.emplace_back(text.substr(at, end - at), at);
      at = text.find_first_not_of(' ', end);
    }
    return out;
  }

  /// "swp5  up  up  400G  1500  swp  ml-a6  eth2"
  void read_listed(const Line& line) {
    const std::string name(words_of(line.text)[0]);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const auto& [heading, begin] = columns_[i];
      if (begin >= line.text.size()) return;
      const std::size_t end = i + 1 < columns_.size() ? columns_[i + 1].second : line.text.size();
      const std::string_view cell =
          trim(line.text.substr(begin, std::min(end, line.text.size()) - begin));
      if (heading == "MTU") {
        const auto mtu = parse_count(cell);
        if (!mtu || *mtu > 65'536) return out_.unread(line, "expected an MTU");
        out_.port(name).mtu = out_.fact(Bytes::raw(static_cast<std::int64_t>(*mtu)), line.number);
      } else if (heading == "Oper Status" && cell == "up") {
        out_.port(name).up = out_.fact(true, line.number);
      }
    }
  }

  /// Settings as `nv show qos roce` and `nv show interface PORT qos roce [status]` print them: the
  /// first value behind a name is the one in effect.
  bool read_roce(const Line& line, std::string_view text,
                 const std::vector<std::string_view>& words) {
    if (text.starts_with("RoCE PCP/DSCP")) is_roce_ = true;
    if (words[0] == "lldp-app-tlv" || words[0] == "congestion-control") is_roce_ = true;
    if (!is_roce_) return false;
    const std::string port = port_.empty() ? "qos roce" : port_;
    const auto value = words.size() > 1 ? words[1] : std::string_view();
    if (words.back() == "switch-prio" && words.size() > 1 && words[words.size() - 2] == "dscp") {
      roce_.is_map = true;
      roce_.map = {};
    } else if (roce_.is_map && parse_count(words[0])) {
      read_roce_map(line, words);
    } else if (words[0] == "trust-mode") {
      set_roce_trust(port, value, line);
    } else if (words[0] == "pfc-priority") {
      roce_.pfc = priorities_of_list(value);
    } else if (words[0] == "rx-enabled" || words[0] == "tx-enabled") {
      const bool is_on = value == "yes" || value == "enabled" || value == "on";
      if (!value.empty() && !is_on) roce_.pfc = PrioritySet();
      if (roce_.pfc) out_.port(port).pfc = out_.fact(*roce_.pfc, line.number);
    } else if (text.starts_with("RoCE ")) {
      roce_.is_map = text.starts_with("RoCE PCP/DSCP") && roce_.is_map;
    } else {
      return false;
    }
    return true;
  }

  void set_roce_trust(const std::string& port, std::string_view mode, const Line& line) {
    using evidence::TrustMode;
    const bool has_dscp = mode.find("dscp") != std::string_view::npos;
    const bool has_pcp = mode.find("pcp") != std::string_view::npos;
    if (!has_dscp && !has_pcp) return;
    out_.port(port).trust = out_.fact(has_dscp && has_pcp ? TrustMode::kBoth
                                      : has_dscp          ? TrustMode::kDscp
                                                          : TrustMode::kPcp,
                                      line.number);
  }

  // "3  3  24,25,26,27,28,29,30,31  3": the row, PCP, code points, switch priority.
  void read_roce_map(const Line& line, const std::vector<std::string_view>& words) {
    const auto priority = words.size() > 2 ? parse_count(words.back()) : std::nullopt;
    if (!priority || *priority > 7) return;
    for (const std::string_view cell : split(words[words.size() - 2], ',')) {
      const auto dscp = parse_count(cell);
      if (!dscp || *dscp >= Dscp::kLimit) return;
      roce_.map.at(*dscp) = TrafficClass::of(static_cast<unsigned>(*priority));
    }
    const bool is_whole = std::all_of(roce_.map.begin(), roce_.map.end(),
                                      [](const auto& slot) { return slot.has_value(); });
    if (is_whole) out_.state().dscp_to_tc = out_.fact(roce_.map, line.number);
  }

  void no_port() {
    out_.gap({"the port of the counters", "", evidence::Missing::kAbsent,
              "paste the prompt and the command too"});
  }

  void read_watchdog(const Line& line, const std::vector<std::string_view>& words) {
    const auto tc = parse_count(words[0]);
    const auto count = parse_count(words[2]);
    if (!tc || *tc > 7 || !count)
      return out_.unread(line, "expected a traffic class, a status and a count");
    if (port_.empty()) return no_port();
    out_.count(port_, fmt::format("queue{}.watchdog_storm.events", *tc), *count);
    out_.queue(port_, Queue::of(static_cast<unsigned>(*tc))).stuck =
        out_.fact(words[1] == "DEADLOCK", line.number);
  }

  void set_watchdog(bool is_on, const Line& line) {
    out_.state().watchdog.enabled = out_.fact(is_on, line.number);
  }

  void read_json_section(const std::string& section, const Json& fields) {
    for (const auto& [name, value] : fields.items()) {
      const Field* const field = find_field(section, name);
      if (field == nullptr) continue;
      std::optional<std::uint64_t> number;
      if (value.is_number_unsigned()) number = value.get<std::uint64_t>();
      if (value.is_string()) {
        const auto words = words_of(value.get_ref<const std::string&>());
        if (!words.empty())
          number = value_of(words[0], words.size() > 1 ? words[1] : std::string_view());
      }
      if (!number) continue;
      if (port_.empty()) {
        no_port();
        return;
      }
      out_.count(port_, std::string(field->counter), *number);
    }
  }

  ShowBuilder out_;
  std::string_view command_;
  std::string port_;
  std::string_view section_;
  bool in_watchdog_ = false;
  bool in_list_ = false;
  std::vector<std::pair<std::string_view, std::size_t>> columns_;  // of the list of interfaces
  std::vector<std::string_view> headings_;                         // of a table with numbered rows
  struct Roce {
    std::optional<PrioritySet> pfc;
    bool is_map = false;
    std::array<std::optional<TrafficClass>, Dscp::kLimit> map{};
  };
  bool is_roce_ = false;  // in the settings that `qos roce` shows
  Roce roce_;
};

}  // namespace

bool recognises_cumulus_show(std::string_view text) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  return has("nv show ") || has("rx-pause-frames") || has("rx-buffer-discards") ||
         (has("Admin Status") && has("Oper Status") && has("MTU")) || has("rx-roce-stats") ||
         has("tx-roce-stats") || (has("pfc-priority") && has("trust-mode")) ||
         (has("PFC WD Status") && has("deadlock-count"));
}

Result<Recognised> read_cumulus_show(std::string_view text, std::string_view file) {
  return read_show(text, CumulusReader(file));
}

}  // namespace weir::readers
