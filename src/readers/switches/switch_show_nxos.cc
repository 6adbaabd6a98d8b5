// Cisco NX-OS: `show interface priority-flow-control`, `show queuing interface` (the form of the
// Nexus 9000 and that of the 3000, 5000 and 6000), `show queuing pfc-queue detail`, `show interface
// [counters errors]`, as tables or with `| json` (TABLE_/ROW_, fields of the 9.3 show-command
// reference). "VL bmap" is hexadecimal: (8) is priority 3.
#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "readers/switches/read_show.h"

namespace weir::readers {
namespace {

struct Statistic {
  std::string_view name;  // as printed: type, then unit
  std::string_view counter;
};
constexpr auto kStatistics = std::to_array<Statistic>({
    {"Tx Pkts", "tx.packets"},
    {"Tx Byts", "tx.bytes"},
    {"WRED/AFD & Tail Drop Pkts", "drop_tail.packets"},
    {"WD & Tail Drop Pkts", "drop_watchdog.packets"},
    {"Dropped Pkts", "drop_tail.packets"},
    {"Q Depth Byts", "depth.bytes"},
    {"WRED/AFD Drop Pkts", "drop_wred.packets"},
    {"Tail Drop Pkts", "drop_tail.packets"},
    {"Shutdown", "watchdog_storm.events"},
    {"Restored", "watchdog_restored.events"},
    {"Total pkts dropped", "drop_watchdog.packets"},
});
constexpr std::string_view kOverflow = "Ingress Overflow Drop Pkts";
/// Of a port, whatever the class.
constexpr std::string_view kMmuDrops = "Ingress MMU Drop Pkts";

const Statistic* find_statistic(std::string_view name) {
  const auto* const at =
      std::find_if(kStatistics.begin(), kStatistics.end(),
                   [&](const Statistic& statistic) { return statistic.name == name; });
  return at == kStatistics.end() ? nullptr : at;
}

/// The text between `open` and the next `close`; empty where there is none.
std::string_view between(std::string_view text, std::string_view open, char close) {
  const auto at = text.find(open);
  if (at == std::string_view::npos) return {};
  const auto from = at + open.size();
  const auto end = text.find(close, from);
  return end == std::string_view::npos ? std::string_view() : text.substr(from, end - from);
}

/// A number that JSON holds as such or as text.
std::optional<std::uint64_t> number_in(const Json& row, const char* key) {
  if (!row.contains(key)) return std::nullopt;
  const Json& value = row[key];
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  return value.is_string() ? parse_count(value.get_ref<const std::string&>()) : std::nullopt;
}
std::string text_in(const Json& row, const char* key) {
  return row.contains(key) && row[key].is_string() ? row[key].get<std::string>() : std::string();
}
/// The rows of TABLE_name/ROW_name: one object or a list of them.
std::vector<const Json*> rows_of(const Json& in, const std::string& name) {
  std::vector<const Json*> rows;
  if (!in.is_object() || !in.contains("TABLE_" + name)) return rows;
  const Json& table = in["TABLE_" + name];
  if (!table.is_object() || !table.contains("ROW_" + name)) return rows;
  const Json& row = table["ROW_" + name];
  if (row.is_object()) rows.push_back(&row);
  if (row.is_array())
    for (const Json& item : row)
      if (item.is_object()) rows.push_back(&item);
  return rows;
}

/// "26", "24,26", "24-31": code points of `match dscp`; nullopt for names (af31).
std::optional<std::vector<unsigned>> code_points_of(std::string_view text) {
  std::vector<unsigned> out;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t dash = part.find('-');
    const auto first = parse_count(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_count(part.substr(dash + 1));
    if (!first || !last || *first > *last || *last >= Dscp::kLimit) return std::nullopt;
    for (std::uint64_t dscp = *first; dscp <= *last; ++dscp)
      out.push_back(static_cast<unsigned>(dscp));
  }
  return out;
}

/// The classification in `show running-config ipqos`: the map of the policy that ports or the
/// system use. Nothing where two policies in use differ, where one matches by more than DSCPs, or
/// where the CoS of the pauses is not the number of the qos-group.
class QosConfig {
 public:
  void read(const std::vector<std::string_view>& words, const Line& line, ShowBuilder& out) {
    const std::string name(words.back());
    const auto is = [&](std::size_t i, std::string_view word) {
      return words.size() > i && words[i] == word;
    };
    const std::string_view type = is(1, "type") && words.size() > 3 ? words[2] : "qos";
    if (is(0, "class-map") || is(0, "policy-map")) {
      is_policy_ = is(0, "policy-map");
      type_ = type;
      (is_policy_ ? policy_ : class_) = name;
    } else if (is(0, "service-policy") && type == "qos" && is(3, "input")) {
      use(name, line, out);
    } else if (is(0, "class")) {
      class_ = name;
    } else if (is(0, "match") && !is_policy_ && type_ == "qos") {
      read_match(words.size() == 3 && is(1, "dscp") ? code_points_of(name) : std::nullopt);
    } else if (is(0, "match") && !is_policy_ && is(1, "qos-group")) {
      groups_[class_] = parse_count(name);
    } else if (is(0, "set") && is_policy_ && is(1, "qos-group")) {
      place(parse_count(name));
    } else if (is(0, "pause") && is(1, "pfc-cos")) {
      // The classes that the system comes with end in their group: c-8q-nq3.
      const auto known = groups_.find(class_);
      const std::string digit = class_.empty() ? "" : std::string(1, class_.back());
      const auto group = known != groups_.end() ? known->second : parse_count(digit);
      is_renumbered_ = is_renumbered_ || !group || group != parse_count(name);
    }
  }

 private:
  using Map = std::array<std::optional<TrafficClass>, Dscp::kLimit>;
  struct Matches {
    std::vector<unsigned> points;
    bool is_read = true;
  };
  struct Policy {
    Map map;
    bool is_read = true;
  };

  void read_match(const std::optional<std::vector<unsigned>>& points) {
    Matches& matches = matches_[class_];
    matches.is_read = matches.is_read && points;
    if (points) matches.points.insert(matches.points.end(), points->begin(), points->end());
  }

  /// The first class of a policy that matches decides.
  void place(std::optional<std::uint64_t> group) {
    Policy& policy = policies_[policy_];
    if (class_ == "class-default") return;
    const auto found = matches_.find(class_);
    if (found == matches_.end() || !found->second.is_read || !group || *group > 7) {
      policy.is_read = false;
      return;
    }
    for (const unsigned dscp : found->second.points)
      if (!policy.map.at(dscp))
        policy.map.at(dscp) = TrafficClass::of(static_cast<unsigned>(*group));
  }

  void use(const std::string& name, const Line& line, ShowBuilder& out) {
    const auto found = policies_.find(name);
    const bool is_read = found != policies_.end() && found->second.is_read && !is_renumbered_;
    auto& map = out.state().dscp_to_tc;
    is_open_ = is_open_ || !is_read || (map.is_known() && !map.is(found->second.map));
    map = is_open_ ? evidence::Fact<Map>() : out.fact(found->second.map, line.number);
  }

  bool is_policy_ = false;
  bool is_renumbered_ = false;
  bool is_open_ = false;
  std::string type_;
  std::string class_;
  std::string policy_;
  std::map<std::string, Matches> matches_;
  std::map<std::string, std::optional<std::uint64_t>> groups_;
  std::map<std::string, Policy> policies_;
};

class NxosReader {
 public:
  explicit NxosReader(std::string_view file) : out_(vocab::SwitchSystem::kNxos, file) {}

  void read(const Line& line) {
    const std::string_view text = trim(line.text);
    if (text.empty() || is_rule(text)) return;
    if (const auto prompt = prompt_of(text)) {
      out_.use_prompt(*prompt);
      use_switch(std::string(prompt->host));
      if (prompt->second) time_ = prompt->second;
      part_ = Part::kNone;
      qos_ = QosConfig();
      use_port_of(prompt->command);
      return;
    }
    if (const auto waited = wait_of_line(text)) {
      wait(*waited);
      return;
    }
    if (const auto second = time_of_line(text)) {
      time_ = second;
      return out_.set_time(*second);
    }
    if (starts_part(line, text)) return;
    if (read_interface_line(text, line, port_, out_)) {
      part_ = Part::kNone;
      return;
    }
    if (text.starts_with('|')) return read_cell(line, text);
    const auto words = words_of(text);
    switch (part_) {
      case Part::kPfc:
        if (words[0].starts_with("Ethernet")) read_pfc(line, words);
        return;
      case Part::kEgress: return read_scheduler(line, words);
      case Part::kIngress: return read_pause_buffer(line, words);
      case Part::kPfcTable: return read_pfc_table(line, words);
      case Part::kErrors: return read_errors(line, words);
      case Part::kPolicy: return read_policy(line, text, words);
      case Part::kGroups: return read_group(line, text, words);
      case Part::kNone: return qos_.read(words, line, out_);
    }
  }

  void read_json(const Json& document) {
    for (const Json* module : rows_of(document, "module")) {
      for (const Json* row : rows_of(*module, "pfc_interface"))
        read_json_pfc(*row);
      for (const Json* row : rows_of(*module, "queuing_interface"))
        read_json_queuing(*row);
    }
  }

  Recognised finish() && {
    // What overflowed is the group of the one priority with PFC, wherever the text shows it.
    for (const Overflow& item : overflows_) {
      if (!item.switch_name.empty()) out_.use_switch(item.switch_name);
      if (item.time) out_.set_time(*item.time);
      const auto known = pfc_.find({item.switch_name, item.port});
      const auto priority = known == pfc_.end() ? std::nullopt : only_one(known->second);
      if (priority) {
        out_.count(item.port, fmt::format("pg{}.drop_headroom.packets", priority->value()),
                   item.packets);
      } else {
        out_.count_unplaced(item.port, std::string(kOverflow), item.packets);
      }
    }
    return std::move(out_).finish();
  }

 private:
  enum class Part { kNone, kPfc, kEgress, kIngress, kPfcTable, kErrors, kGroups, kPolicy };
  struct Overflow {
    std::string switch_name;  // empty where no prompt names it
    std::string port;
    std::uint64_t packets = 0;
    std::optional<std::int64_t> time;
  };

  /// What was read before the first prompt is of its switch; another switch has its own clock.
  void use_switch(const std::string& name) {
    if (switch_name_.empty()) {
      for (Overflow& item : overflows_)
        item.switch_name = name;
      std::map<std::pair<std::string, std::string>, PrioritySet> named;
      for (const auto& [key, priorities] : pfc_)
        named.emplace(std::pair(name, key.second), priorities);
      pfc_ = std::move(named);
    } else if (name != switch_name_) {
      time_.reset();
    }
    switch_name_ = name;
  }

  /// Readings before a wait are of the time at which it begins.
  void wait(std::int64_t seconds) {
    if (!time_) {
      time_ = 0;
      for (Overflow& item : overflows_)
        if (!item.time) item.time = 0;
    }
    *time_ += seconds;
    out_.wait(seconds);
  }

  bool starts_part(const Line& line, std::string_view text) {
    const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
    if (has("RxPPP") && has("Oper")) {
      part_ = text.ends_with("TxPPP") ? Part::kPfc : Part::kNone;
      if (part_ == Part::kNone) out_.unread(line, "unknown columns after TxPPP");
    } else if (text.starts_with("Egress Queuing for ")) {
      use_port(text.substr(19));
      part_ = Part::kEgress;
    } else if (text.starts_with("Ingress Queuing for ")) {
      use_port(text.substr(20));
      part_ = Part::kIngress;
      groups_.clear();
    } else if (text.ends_with(" queuing information:")) {
      use_port(text);
      part_ = Part::kGroups;
    } else if (has("Interface PFC watchdog:")) {
      use_port(text);
      part_ = Part::kNone;
      out_.state().watchdog.enabled = out_.fact(has("[Enabled]"), line.number);
    } else if (has("QOS GROUP ")) {
      const auto number = parse_count(words_of(text.substr(text.find("QOS GROUP ") + 10))[0]);
      queue_ = number && *number < 8 ? std::optional(static_cast<unsigned>(*number)) : std::nullopt;
    } else if (text.starts_with("PFC_COS")) {
      part_ = Part::kPfcTable;
    } else if (has("FCS-Err")) {
      part_ = Part::kErrors;
      columns_ = words_of(text);
    } else if (text.starts_with("Port ") && has("-Err")) {
      part_ = Part::kNone;  // a table of errors that does not count broken frames
    } else if (text.starts_with(kOverflow)) {
      read_overflow(line, text);
    } else if (text.starts_with("TxPPP:") && !port_.empty()) {
      read_port_pauses(line, text);
    } else if (text.starts_with("Class-map (queuing):")) {
      part_ = Part::kPolicy;
      queue_ = queue_of_class(words_of(text.substr(20)));
    } else if (text.starts_with(kMmuDrops)) {
      const auto value = parse_count(trim(text.substr(kMmuDrops.size())));
      if (!value || port_.empty()) {
        out_.unread(line, "expected a number of a port");
      } else {
        out_.count(port_, "port.drop.packets", *value);
      }
    } else {
      return false;
    }
    return true;
  }

  /// "show queuing interface ethernet 1/29 | begin …": a filter may cut the heading off.
  void use_port_of(std::string_view command) {
    const auto words = words_of(command);
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::size_t digit = words[i].find_first_of("0123456789");
      const std::string_view stem = words[i].substr(0, digit);
      const bool is_kind = stem == "ethernet" || stem == "Ethernet" || stem == "eth" || stem == "e";
      if (!is_kind) continue;
      const std::string_view number = digit != std::string_view::npos ? words[i].substr(digit)
                                      : i + 1 < words.size()          ? words[i + 1]
                                                                      : std::string_view();
      if (number.find('/') != std::string_view::npos) use_port(fmt::format("Ethernet{}", number));
      return;
    }
  }

  void use_port(std::string_view rest) {
    const auto words = words_of(rest);
    const std::string port = words.empty() ? std::string() : std::string(words[0]);
    if (port != port_) groups_.clear();
    port_ = port;
    queue_.reset();
  }

  // "Ethernet1/1  On  On  (8)  0  1043"; "Ethernet1/4  Auto Off  0  0"
  void read_pfc(const Line& line, const std::vector<std::string_view>& words) {
    const std::size_t n = words.size();
    const auto received = n >= 5 ? parse_count(words[n - 2]) : std::nullopt;
    const auto sent = n >= 5 ? parse_count(words[n - 1]) : std::nullopt;
    if (!received || !sent) return out_.unread(line, "expected port, mode, state, RxPPP and TxPPP");
    const auto map = priorities_of_hex(between(line.text, "(", ')'));
    const bool is_on = words[2] == "On";
    set_pfc(words[0], is_on, map, line.number);
    add_pauses(words[0], is_on ? map : std::nullopt, *received, *sent);
  }

  void set_pfc(std::string_view port, bool is_on, std::optional<PrioritySet> map, int line) {
    if (is_on && !map) return;
    const PrioritySet set = is_on ? map.value_or(PrioritySet()) : PrioritySet();
    out_.port(port).pfc_active = out_.fact(set, line);
    pfc_[{switch_name_, std::string(port)}] = set;
  }

  void add_pauses(std::string_view port, std::optional<PrioritySet> map, std::uint64_t received,
                  std::uint64_t sent) {
    const auto priority = map ? only_one(*map) : std::nullopt;
    if (priority) {
      out_.count_pauses(port, priority->value(), received, sent);
      return;
    }
    out_.count(port, "port.pause_rx.frames", received);
    out_.count(port, "port.pause_tx.frames", sent);
    if (received + sent > 0)
      out_.gap({"the priority of the pause frames", std::string(port), evidence::Missing::kAbsent,
                "paste `show queuing interface` of the port too"});
  }

  // "| Tx Pkts |  2990112|  0|": unicast, then multicast.
  void read_cell(const Line& line, std::string_view text) {
    std::vector<std::string_view> cells;
    for (const std::string_view cell : split(text, '|'))
      if (!trim(cell).empty()) cells.push_back(trim(cell));
    if (cells.size() < 2) return;
    const Statistic* const statistic = find_statistic(cells[0]);
    if (statistic == nullptr || !queue_) return;
    const auto value = parse_count(cells[1]);
    if (!value) return out_.unread(line, "expected a number");
    add_statistic(*queue_, *statistic, *value, line.number);
  }

  void add_statistic(unsigned queue, const Statistic& statistic, std::uint64_t value, int line) {
    if (port_.empty()) return;
    out_.count(port_, fmt::format("queue{}.{}", queue, statistic.counter), value);
    if (statistic.name == "Shutdown") shutdowns_ = value;
    if (statistic.name == "Restored") {
      out_.queue(port_, Queue::of(queue)).stuck = out_.fact(shutdowns_ > value, line);
    }
  }

  // "3  50  -  …": bandwidth, then the level of strict priority.
  void read_scheduler(const Line& line, const std::vector<std::string_view>& words) {
    const auto group = parse_count(words[0]);
    if (!group || *group > 7 || words.size() < 3) return;
    evidence::EgressQueue& queue = out_.queue(port_, Queue::of(static_cast<unsigned>(*group)));
    if (words[2] != "-") {
      queue.scheduler = out_.fact(evidence::Scheduler::kStrict, line.number);
    } else if (const auto share = parse_count(words[1]); share && *share <= 100) {
      queue.scheduler = out_.fact(evidence::Scheduler::kWeighted, line.number);
      queue.weight = out_.fact(static_cast<unsigned>(*share), line.number);
    }
  }

  // "3  348608  77376  75712": headroom is what remains above the pause threshold.
  void read_pause_buffer(const Line& line, const std::vector<std::string_view>& words) {
    const auto group = words.size() == 4 ? parse_count(words[0]) : std::nullopt;
    if (!group || *group > 7) return;
    if (words[1] == "-" && words[2] == "-")
      return;  // a group without pauses has no buffer of its own
    const auto size = parse_count(words[1]);
    const auto pause = parse_count(words[2]);
    const auto resume = parse_count(words[3]);
    constexpr std::uint64_t kLargest = 268'435'456;  // bytes, the system's own limit
    if (!size || !pause || !resume || *size > kLargest || *pause > *size || *resume > *pause)
      return out_.unread(line, "expected buffer size >= pause threshold >= resume threshold");
    const auto bytes = [&](std::uint64_t n) {
      return out_.fact(Bytes::raw(static_cast<std::int64_t>(n)), line.number);
    };
    evidence::GroupBuffer& buffer =
        out_.group(port_, PriorityGroup::of(static_cast<unsigned>(*group)));
    buffer.lossless = out_.fact(true, line.number);
    buffer.headroom = bytes(*size - *pause);
    buffer.xoff = bytes(*pause);
    buffer.xon = bytes(*pause - *resume);
    groups_.push_back(static_cast<unsigned>(*group));
  }

  // "Eth1/5  0  12  0  12  0  0" under "Port  Align-Err  FCS-Err  …".
  void read_errors(const Line& line, const std::vector<std::string_view>& words) {
    if (!words[0].starts_with("Eth")) return;
    const auto at = std::find(columns_.begin(), columns_.end(), "FCS-Err");
    const auto column = static_cast<std::size_t>(at - columns_.begin());
    const bool is_whole = at != columns_.end() && words.size() == columns_.size();
    const auto value = is_whole ? parse_count(words[column]) : std::nullopt;
    if (!value) return out_.unread(line, fmt::format("expected {} cells", columns_.size()));
    const std::size_t digits = words[0].find_first_of("0123456789");
    if (digits == std::string_view::npos) return;
    out_.count(fmt::format("Ethernet{}", words[0].substr(digits)), "port.crc_error.packets",
               *value);
  }

  void read_overflow(const Line& line, std::string_view text) {
    std::string_view rest = trim(text.substr(kOverflow.size()));
    if (rest.starts_with(':')) rest = trim(rest.substr(1));
    const auto value = parse_count(rest);
    if (!value || port_.empty()) return out_.unread(line, "expected a number");
    if (groups_.size() == 1) {
      out_.count(port_, fmt::format("pg{}.drop_headroom.packets", groups_.front()), *value);
    } else {
      overflows_.push_back({switch_name_, port_, *value, time_});
    }
  }

  // "TxPPP:  88120334,   RxPPP:   12": of the port whose queuing is shown.
  void read_port_pauses(const Line& line, std::string_view text) {
    const std::size_t comma = text.find(',');
    const std::size_t received_at = text.find("RxPPP:");
    const auto sent = parse_count(trim(text.substr(6, std::min(comma, text.size()) - 6)));
    const auto received = received_at == std::string_view::npos
                              ? std::nullopt
                              : parse_count(trim(text.substr(received_at + 6)));
    if (!sent || !received) return out_.unread(line, "expected TxPPP and RxPPP");
    PrioritySet set;
    if (groups_.size() == 1) set.insert(Priority::of(groups_.front()));
    add_pauses(port_, set.count() == 1 ? std::optional(set) : std::nullopt, *received, *sent);
  }

  // The classes that the system comes with end in their queue: c-out-8q-q3.
  static std::optional<unsigned> queue_of_class(const std::vector<std::string_view>& words) {
    if (words.empty()) return std::nullopt;
    const std::size_t at = words[0].rfind("-q");
    const auto number =
        at == std::string_view::npos ? std::nullopt : parse_count(words[0].substr(at + 2));
    return number && *number < 8 ? std::optional(static_cast<unsigned>(*number)) : std::nullopt;
  }

  // `show policy-map interface … type queuing`: "random-detect minimum-threshold 9000 kbytes
  // maximum-threshold 12000 kbytes … ecn", "queue dropped pkts : 0".
  void read_policy(const Line& line, std::string_view text,
                   const std::vector<std::string_view>& words) {
    if (words.size() == 1 && words[0].starts_with("Ethernet")) return use_port(words[0]);
    if (!queue_ || port_.empty()) return;
    const std::size_t colon = text.find(':');
    if (text.starts_with("queue dropped pkts") && colon != std::string_view::npos) {
      if (const auto value = parse_count(trim(text.substr(colon + 1))))
        out_.count(port_, fmt::format("queue{}.drop_tail.packets", *queue_), *value);
    }
    if (words[0] != "random-detect") return;
    const auto threshold = [&](std::string_view name) -> std::optional<Bytes> {
      const auto at = std::find(words.begin(), words.end(), name);
      if (words.end() - at < 3) return std::nullopt;
      const auto number = parse_count(at[1]);
      const std::int64_t unit = at[2] == "bytes"    ? 1
                                : at[2] == "kbytes" ? 1'000
                                : at[2] == "mbytes" ? 1'000'000
                                                    : 0;
      constexpr std::uint64_t kMost = 1'000'000'000;
      if (!number || unit == 0 || *number > kMost) return std::nullopt;
      return Bytes::raw(static_cast<std::int64_t>(*number) * unit);
    };
    evidence::EgressQueue& queue = out_.queue(port_, Queue::of(*queue_));
    queue.ecn = out_.fact(words.back() == "ecn", line.number);
    if (const auto min = threshold("minimum-threshold"))
      queue.ecn_min = out_.fact(*min, line.number);
    if (const auto max = threshold("maximum-threshold"))
      queue.ecn_max = out_.fact(*max, line.number);
  }

  // Nexus 3000, 5000 and 6000: "qos-group 3", "drop-type: no-drop, xon: 17280, xoff: 37120", "Pkts
  // discarded on ingress  : 220200".
  void read_group(const Line& line, std::string_view text,
                  const std::vector<std::string_view>& words) {
    constexpr std::string_view kDiscarded = "Pkts discarded on ingress";
    if (words[0] == "qos-group" && words.size() == 2) {
      const auto number = parse_count(words[1]);
      queue_ = number && *number < 8 ? std::optional(static_cast<unsigned>(*number)) : std::nullopt;
      is_no_drop_ = false;
    } else if (words[0] == "drop-type:") {
      is_no_drop_ = text.find("no-drop") != std::string_view::npos;
    } else if (text.starts_with(kDiscarded) && is_no_drop_ && queue_) {
      const std::size_t colon = text.find(':');
      const auto value = colon == std::string_view::npos
                             ? std::nullopt
                             : parse_count(trim(text.substr(colon + 1)));
      if (!value) return out_.unread(line, "expected a number");
      out_.count(port_, fmt::format("pg{}.drop_headroom.packets", *queue_), *value);
    }
  }

  // PFC_COS QOS_Group TxPause TxCount RxPause RxCount
  void read_pfc_table(const Line& line, const std::vector<std::string_view>& words) {
    const auto cos = words.size() == 6 ? parse_count(words[0]) : std::nullopt;
    if (!cos || *cos > 7) return;
    const auto sent = parse_count(words[3]);
    const auto received = parse_count(words[5]);
    if (!sent || !received) return out_.unread(line, "expected TxCount and RxCount");
    out_.count_pauses(port_, *cos, *received, *sent);
  }

  void read_json_pfc(const Json& row) {
    const std::string port = text_in(row, "if_name_str");
    const auto received = number_in(row, "rx-stats");
    const auto sent = number_in(row, "tx-stats");
    if (port.empty() || !received || !sent) return;
    const std::string oper = text_in(row, "oper");
    const auto map = priorities_of_hex(between(oper, "(", ')'));
    const bool is_on = oper.starts_with("On");
    set_pfc(port, is_on, map, 1);
    add_pauses(port, is_on ? map : std::nullopt, *received, *sent);
  }

  void read_json_queuing(const Json& row) {
    const std::string name = text_in(row, "if_name_str");
    if (name.empty()) return;
    use_port(name);
    for (const Json* group : rows_of(row, "qosgrp_egress_stats")) {
      const auto queue = number_in(*group, "eq-qosgrp");
      if (!queue || *queue > 7) continue;
      for (const Json* entry : rows_of(*group, "qosgrp_egress_stats_entry")) {
        const Statistic* const statistic = find_statistic(fmt::format(
            "{} {}", text_in(*entry, "eq-stat-type"), text_in(*entry, "eq-stat-units")));
        const auto value = number_in(*entry, "eq-uc-stat-value");
        if (statistic != nullptr && value)
          add_statistic(static_cast<unsigned>(*queue), *statistic, *value, 1);
      }
    }
    for (const Json* entry : rows_of(row, "pfc_stats")) {
      const auto cos = number_in(*entry, "cos");
      const auto sent = number_in(*entry, "tx-pause-count");
      const auto received = number_in(*entry, "rx-pause-count");
      if (!cos || *cos > 7 || !sent || !received) continue;
      out_.count_pauses(port_, *cos, *received, *sent);
    }
  }

  QosConfig qos_;
  ShowBuilder out_;
  Part part_ = Part::kNone;
  std::string port_;
  std::optional<unsigned> queue_;
  std::vector<std::string_view> columns_;
  std::vector<unsigned> groups_;  // of the port's ingress: those with a pause buffer
  std::uint64_t shutdowns_ = 0;
  std::string switch_name_;
  std::optional<std::int64_t> time_;
  std::map<std::pair<std::string, std::string>, PrioritySet> pfc_;  // by switch and port
  std::vector<Overflow> overflows_;
  bool is_no_drop_ = false;
};

}  // namespace

bool recognises_nxos_show(std::string_view text) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  return (has("RxPPP") && has("TxPPP")) || has(kMmuDrops) || has("Egress Queuing for ") ||
         (has(" queuing information:") && has("drop-type: ")) || has("Interface PFC watchdog:") ||
         (has("FCS-Err") && has("Align-Err")) || (has("admin state is") && has("MTU ")) ||
         (has("Service-policy (queuing)") && has("Class-map (queuing):")) ||
         (has("Ingress Queuing for ") && has("TxPPP:")) || has("class-map type qos ") ||
         has("policy-map type network-qos ") ||
         (has("runts") && has("giants") && has(" CRC") && !has("line protocol is")) ||
         has("TABLE_pfc_interface") || has("TABLE_queuing_interface");
}

Result<Recognised> read_nxos_show(std::string_view text, std::string_view file) {
  return read_show(text, NxosReader(file));
}

}  // namespace weir::readers
