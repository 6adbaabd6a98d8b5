// Arista EOS: `show priority-flow-control [counters [detail|watchdog]]`, `show qos interfaces …
// ecn [counters queue]`, `show interfaces [counters [errors|discards|queue|rates]]`, as tables or
// with `| json`. Port names are short in tables (Et1/1) and long in JSON (Ethernet1/1).
#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "readers/switches/read_show.h"

namespace weir::readers {
namespace {

/// "Et1/1" → "Ethernet1/1"; other names stay.
std::string long_name(std::string_view port) {
  if (port.starts_with("Et") && port.size() > 2 && port[2] >= '0' && port[2] <= '9')
    return fmt::format("Ethernet{}", port.substr(2));
  return std::string(port);
}

bool is_port(std::string_view word) {
  return word.starts_with("Et") && word.find_first_of("0123456789") != std::string_view::npos;
}

/// Tables with a number per port and column, known by their headings. Pauses of a priority have its
/// number in the heading.
struct EosColumn {
  std::string_view heading;
  std::string_view counter;
};
constexpr auto kEosColumns = std::to_array<EosColumn>({
    {"InOctets", "port.rx.bytes"},
    {"OutOctets", "port.tx.bytes"},
    {"InUcastPkts", "port.rx.packets"},
    {"OutUcastPkts", "port.tx.packets"},
    {"FCS", "port.crc_error.packets"},
    {"OutDiscards", "port.drop.packets"},
    {"RxPfc#", "prio#.pause_rx.frames"},
    {"TxPfc#", "prio#.pause_tx.frames"},
});

/// "queue#…" and the like with the number in place; nullopt where the heading is not known.
std::optional<std::string> counter_of_heading(std::string_view heading) {
  for (const EosColumn& column : kEosColumns) {
    if (heading == column.heading) return std::string(column.counter);
    const std::string_view stem = column.heading.substr(0, column.heading.size() - 1);
    const bool is_numbered = column.heading.ends_with('#') && heading.starts_with(stem) &&
                             heading.size() == stem.size() + 1 && heading.back() >= '0' &&
                             heading.back() <= '7';
    if (!is_numbered) continue;
    std::string out(column.counter);
    out[out.find('#')] = heading.back();
    return out;
  }
  return std::nullopt;
}

/// "Port  TxQ  Counter/pkts …"; "Interface  Tx-Queue  ECN Marked Packets" has one number.
constexpr auto kEosQueueColumns = std::to_array<EosColumn>({
    {"Counter/pkts", "tx.packets"},
    {"Counter/bytes", "tx.bytes"},
    {"Drop/pkts", "drop_tail.packets"},
});

class EosReader {
 public:
  explicit EosReader(std::string_view file) : out_(vocab::SwitchSystem::kEos, file) {}

  void read(const Line& line) {
    const std::string_view text = trim(line.text);
    if (text.empty() || is_rule(text)) return;
    if (const auto prompt = prompt_of(text)) return use(*prompt);
    if (const auto waited = wait_of_line(text)) return wait(*waited);
    if (const auto second = time_of_line(text)) {
      time_ = second;
      return out_.set_time(*second);
    }
    const auto words = words_of(text);
    if (words[0] == "Port" && words.size() > 1 && starts_columns(words)) return;
    if (read_interface_line(text, line, port_, out_)) return;
    if (words[0] == "Port" && text.find("Total times") != std::string_view::npos) {
      table_ = Table::kWatchdog;
    } else if (words[0] == "Port" && words.size() > 2 && words[1] == "TxQ") {
      table_ = Table::kQueues;
      columns_.assign(words.begin() + 2, words.end());
    } else if (text.find("ECN Marked Packets") != std::string_view::npos) {
      table_ = Table::kQueues;
      columns_.assign({"ECN Marked Packets"});
    } else if (text.find("Trust Mode") != std::string_view::npos) {
      read_trust_heading(line, text);
    } else if (text.starts_with("Dscp-tc map") || text.starts_with("DSCP-TC map")) {
      table_ = Table::kDscpMap;
      dscp_map_ = {};
      mapped_ = 0;
    } else if (table_ == Table::kDscpMap) {
      read_dscp_map(line, words);
    } else if (words[0] == "Port" && text.find("RxPfc") != std::string_view::npos) {
      table_ = Table::kCounters;
    } else if (words[0] == "Port" && text.find("Priorities") != std::string_view::npos) {
      table_ = table_of_status(words);
    } else if (words[0] == "Port" && text.find("Priority") != std::string_view::npos) {
      table_ = Table::kCountersDetail;
    } else if (words[0] == "Port" && text.find("Mbps") != std::string_view::npos) {
      table_ = Table::kRates;
    } else if (text.find("ECN/WRED") != std::string_view::npos && words[0] == "Tx") {
      table_ = Table::kQueueModes;
    } else if (table_ == Table::kQueueModes && parse_count(words[0]) && words.size() > 3) {
      read_queue_mode(line, words);
    } else if (is_port(words[0]) && words[0].ends_with(':') && words.size() == 1) {
      port_ = long_name(words[0].substr(0, words[0].size() - 1));
    } else if (words[0] == "Tx-Queue") {
      table_ = Table::kEcn;
    } else if (table_ == Table::kEcn && parse_count(words[0])) {
      read_ecn(line, words);
    } else if (is_port(words[0])) {
      read_row(line, words);
    }
  }

  void read_json(const Json& document) {
    if (document.contains("interfaces") && document["interfaces"].is_object())
      for (const auto& [port, value] : document["interfaces"].items())
        if (value.is_object() && value.contains("txQueues") && value["txQueues"].is_object())
          read_json_queues(port, value["txQueues"]);
    if (document.contains("interfaceCounters") && document["interfaceCounters"].is_object())
      for (const auto& [port, value] : document["interfaceCounters"].items())
        if (value.is_object()) read_json_counters(port, value);
  }

  Recognised finish() && {
    // The totals of a port are those of its priority where only one has PFC.
    for (const Total& total : totals_) {
      if (!total.switch_name.empty()) out_.use_switch(total.switch_name);
      if (total.time) out_.set_time(*total.time);
      const auto known = pfc_.find({total.switch_name, total.port});
      const auto priority = known == pfc_.end() ? std::nullopt : only_one(known->second);
      if (priority) {
        out_.count_pauses(total.port, priority->value(), total.received, total.sent);
        continue;
      }
      out_.count(total.port, "port.pause_rx.frames", total.received);
      out_.count(total.port, "port.pause_tx.frames", total.sent);
      out_.gap({"the priority of the pause frames", total.port, evidence::Missing::kAbsent,
                "paste `show priority-flow-control` or `… counters detail` too"});
    }
    return std::move(out_).finish();
  }

 private:
  enum class Table {
    kNone,
    kStatus,
    kStatusLetters,
    kStatusUnknown,
    kStatusFiltered,
    kCounters,
    kCountersDetail,
    kColumns,
    kQueues,
    kEcn,
    kQueueModes,
    kRates,
    kTrust,
    kDscpMap,
    kWatchdog
  };
  struct Total {
    std::string switch_name;  // empty where no prompt names it
    std::string port;
    std::uint64_t received = 0;
    std::uint64_t sent = 0;
    std::optional<std::int64_t> time;
  };

  void wait(std::int64_t seconds) {
    if (!time_) {
      time_ = 0;
      for (auto& total : totals_)
        total.time = 0;
    }
    *time_ += seconds;
    out_.wait(seconds);
  }
  void use(const Prompt& prompt) {
    if (prompt.second) time_ = prompt.second;
    out_.use_prompt(prompt);
    switch_name_ = prompt.host;
    table_ = Table::kNone;
    const auto words = words_of(prompt.command);
    // "show priority-flow-control status | include Et7": the filter leaves rows without a heading.
    const bool is_pfc = prompt.command.find("priority-flow-control") != std::string_view::npos &&
                        prompt.command.find("counters") == std::string_view::npos;
    const bool is_filtered = prompt.command.find('|') != std::string_view::npos;
    if (is_pfc && is_filtered) table_ = Table::kStatusFiltered;
    if (is_filtered) use_columns_of(prompt.command);
    const auto at = std::find_if(words.begin(), words.end(), [](std::string_view word) {
      return word == "ethernet" || word == "Ethernet" || word == "interface" || word == "Et";
    });
    port_ = at != words.end() && at + 1 != words.end() && parse_count(at[1].substr(0, 1))
                ? fmt::format("Ethernet{}", at[1])
                : std::string();
    // "show interfaces Ethernet2/1": one port, no range.
    for (const std::string_view word : words)
      if (is_port(word) && word.find_first_of(",-|") == std::string_view::npos)
        port_ = long_name(word);
  }

  /// A filter cuts the heading off: the command says which table it is.
  void use_columns_of(std::string_view command) {
    const auto has = [&](std::string_view part) { return command.find(part) != std::string::npos; };
    if (has("counters rates")) {
      table_ = Table::kRates;
    } else if (has("priority-flow-control counters") && !has("watchdog")) {
      table_ = has("detail") ? Table::kCountersDetail : Table::kCounters;
    } else if (has("counters queue")) {
      table_ = Table::kQueues;
      columns_.assign({"Counter/pkts", "Counter/bytes", "Drop/pkts", "Drop/bytes"});
    }
  }

  bool starts_columns(const std::vector<std::string_view>& words) {
    const bool is_known = std::any_of(words.begin() + 1, words.end(), [](std::string_view word) {
      return counter_of_heading(word).has_value();
    });
    if (!is_known) return false;
    table_ = Table::kColumns;
    columns_.assign(words.begin() + 1, words.end());
    return true;
  }

  void read_columns(const Line& line, const std::vector<std::string_view>& words) {
    if (words.size() != columns_.size() + 1)
      return out_.unread(line, fmt::format("expected a port and {} numbers", columns_.size()));
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const auto counter = counter_of_heading(columns_[i]);
      const auto value = parse_count(words[i + 1]);
      if (!value) return out_.unread(line, "expected a number");
      if (counter) out_.count(long_name(words[0]), *counter, *value);
    }
  }

  // "Et3/1  UC3  81726354": RDMA is never multicast.
  void read_queues(const Line& line, const std::vector<std::string_view>& words) {
    const bool is_unicast = words.size() > 1 && words[1].starts_with("UC");
    const auto queue = is_unicast ? parse_count(words[1].substr(2)) : std::nullopt;
    if (words.size() != columns_.size() + 2)
      return out_.unread(line, fmt::format("expected port, queue and {} numbers", columns_.size()));
    if (!queue || *queue > 7) return;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const auto value = parse_count(words[i + 2]);
      if (!value) return out_.unread(line, "expected a number");
      std::string_view counter =
          columns_[i] == "ECN Marked Packets" ? "ecn_marked.packets" : std::string_view();
      for (const EosColumn& column : kEosQueueColumns)
        if (column.heading == columns_[i]) counter = column.counter;
      if (!counter.empty())
        out_.count(long_name(words[0]), fmt::format("queue{}.{}", *queue, counter), *value);
    }
  }

  void read_row(const Line& line, const std::vector<std::string_view>& words) {
    const std::string port = long_name(words[0]);
    if (table_ == Table::kRates) return read_rates(words);
    if (table_ == Table::kTrust) return read_trust(line, words);
    if (table_ == Table::kWatchdog) return read_watchdog(line, words);
    if (table_ == Table::kColumns) return read_columns(line, words);
    if (table_ == Table::kQueues) return read_queues(line, words);
    if (table_ == Table::kStatus) {
      read_status(line, words);
    } else if (table_ == Table::kStatusLetters) {
      read_status_letters(line, words);
    } else if (table_ == Table::kStatusFiltered && words.size() > 2) {
      const bool is_yes_no = words[1] == "Yes" || words[1] == "No";
      is_yes_no ? read_status(line, words) : read_status_letters(line, words);
    } else if (table_ == Table::kStatusUnknown) {
      out_.unread(line, "expected the columns Port, Enabled or Status, Priorities");
    } else if (table_ == Table::kCounters) {
      const auto received = words.size() == 3 ? parse_count(words[1]) : std::nullopt;
      const auto sent = words.size() == 3 ? parse_count(words[2]) : std::nullopt;
      if (!received || !sent) return out_.unread(line, "expected port, RxPfc and TxPfc");
      totals_.push_back({switch_name_, port, *received, *sent, time_});
    } else if (table_ == Table::kCountersDetail) {
      const auto priority = words.size() == 4 ? parse_count(words[1]) : std::nullopt;
      const auto received = words.size() == 4 ? parse_count(words[2]) : std::nullopt;
      const auto sent = words.size() == 4 ? parse_count(words[3]) : std::nullopt;
      if (!priority || *priority > 7 || !received || !sent)
        return out_.unread(line, "expected port, priority, RxPfc and TxPfc");
      out_.count_pauses(port, *priority, *received, *sent);
    }
  }

  // EOS has two forms: "Port Enabled Priorities Active Note" and "Port Status Priorities Action …".
  static Table table_of_status(const std::vector<std::string_view>& words) {
    if (words.size() < 3 || words[2] != "Priorities") return Table::kStatusUnknown;
    if (words[1] == "Status") return Table::kStatusLetters;
    const bool is_yes_no = words[1] == "Enabled" && words.size() > 3 && words[3] == "Active";
    return is_yes_no ? Table::kStatus : Table::kStatusUnknown;
  }

  /// "3", "34", "3 4", "3,4" from `at` on, which moves behind them; nothing where none is there.
  static PrioritySet take_priorities(const std::vector<std::string_view>& words, std::size_t& at) {
    PrioritySet out;
    for (; at < words.size(); ++at) {
      const auto some = priorities_of_list(words[at]);
      if (!some) break;
      for (unsigned p = 0; p < Priority::kLimit; ++p)
        if (some->contains(Priority::of(p))) out.insert(Priority::of(p));
    }
    return out;
  }

  void set_pfc(const Line& line, std::string_view name, PrioritySet priorities, bool is_active) {
    const std::string port = long_name(name);
    out_.port(port).pfc = out_.fact(priorities, line.number);
    out_.port(port).pfc_active = out_.fact(is_active ? priorities : PrioritySet(), line.number);
    pfc_[{switch_name_, port}] = priorities;
  }

  // "Et1/1  Yes  3 4  Yes  DCBX disabled": port, enabled, priorities (may be empty), active, note.
  void read_status(const Line& line, const std::vector<std::string_view>& words) {
    std::size_t at = 2;
    const PrioritySet priorities = take_priorities(words, at);
    if (priorities.count() == 0 && at < words.size() && words[at] == "-") ++at;
    const auto is_yes_or_no = [&](std::size_t i) {
      return i < words.size() && (words[i] == "Yes" || words[i] == "No");
    };
    if (!is_yes_or_no(1) || !is_yes_or_no(at))
      return out_.unread(line, "expected port, enabled, priorities, active");
    set_pfc(line, words[0], words[1] == "Yes" ? priorities : PrioritySet(), words[at] == "Yes");
  }

  // "Et1/1  E A W  3  drop …": E is enabled, D disabled, A active, W watched; "-" where a letter or
  // the priorities are missing.
  void read_status_letters(const Line& line, const std::vector<std::string_view>& words) {
    constexpr std::size_t kPlaces = 3;  // of E or D, A and W
    std::string letters;
    std::size_t at = 1;
    while (at < words.size() && letters.size() < kPlaces &&
           words[at].find_first_not_of("EDAW-") == std::string_view::npos)
      letters += words[at++];
    const auto has = [&](char letter) { return letters.find(letter) != std::string::npos; };
    const bool are_none = has('-') || at == words.size() || words[at] == "-";
    const std::size_t before = at;
    const PrioritySet priorities = take_priorities(words, at);
    const bool is_read = has('D') || are_none || at > before;
    if (has('E') == has('D') || !is_read)
      return out_.unread(line, "expected port, letters of the status (E, D, A, W), priorities");
    set_pfc(line, words[0], has('E') ? priorities : PrioritySet(), has('A'));
  }

  // "3   50   - ( - )   -   ( - )   RR   D": L is ECN by queue length, W is WRED, D is off.
  void read_queue_mode(const Line& line, const std::vector<std::string_view>& words) {
    const auto queue = parse_count(words[0]);
    if (!queue || *queue > 7 || port_.empty()) return;
    const std::string_view mode = words.back();
    if (mode != "L" && mode != "W" && mode != "D") return;
    out_.queue(port_, Queue::of(static_cast<unsigned>(*queue))).ecn =
        out_.fact(mode == "L", line.number);
  }

  // "Et49/1  spine1  5:00  44120.0  11.0%  1320  392110.2  98.0%  11800"
  void read_rates(const std::vector<std::string_view>& words) {
    std::vector<std::uint64_t> percents;
    for (const std::string_view word : words) {
      if (!word.ends_with('%')) continue;
      const auto whole = parse_count(word.substr(0, word.find_first_of(".%")));
      if (whole && *whole <= 100) percents.push_back(*whole);
    }
    if (percents.size() != 2) return;
    const std::string port = long_name(words[0]);
    out_.count(port, "port.rx.utilisation.percent", percents[0]);
    out_.count(port, "port.tx.utilisation.percent", percents[1]);
  }

  // "Et7/1  UC3  12  11": how often stuck, how often recovered.
  void read_watchdog(const Line& line, const std::vector<std::string_view>& words) {
    const bool is_queue = words.size() == 4 && words[1].starts_with("UC");
    const auto queue = is_queue ? parse_count(words[1].substr(2)) : std::nullopt;
    const auto stuck = is_queue ? parse_count(words[2]) : std::nullopt;
    const auto recovered = is_queue ? parse_count(words[3]) : std::nullopt;
    if (!queue || *queue > 7 || !stuck || !recovered)
      return out_.unread(line, "expected port, queue, times stuck and times recovered");
    const std::string port = long_name(words[0]);
    out_.count(port, fmt::format("queue{}.watchdog_storm.events", *queue), *stuck);
    out_.count(port, fmt::format("queue{}.watchdog_restored.events", *queue), *recovered);
    out_.queue(port, Queue::of(static_cast<unsigned>(*queue))).stuck =
        out_.fact(*stuck > *recovered, line.number);
  }

  // The head of `show qos interfaces trust`, or "Trust Mode: COS" under a port.
  void read_trust_heading(const Line& line, std::string_view text) {
    if (text.starts_with("Port")) {
      table_ = Table::kTrust;
      return;
    }
    const auto colon = text.find(':');
    if (colon == std::string_view::npos || port_.empty()) return;
    set_trust(port_, trim(text.substr(colon + 1)), line);
  }

  // "Ethernet4/1  COS  COS": in effect, then as configured. A switched port trusts the VLAN tag by
  // default, whatever it is for; only what was typed is a wish.
  void read_trust(const Line& line, const std::vector<std::string_view>& words) {
    if (words.size() != 3) return out_.unread(line, "expected port, trust in effect, configured");
    if (words[1] != "DSCP" && words[2] == "DEFAULT") return;
    set_trust(long_name(words[0]), words[1], line);
  }

  void set_trust(const std::string& port, std::string_view mode, const Line& line) {
    using evidence::TrustMode;
    const auto is = [&](std::string_view name) { return mode == name; };
    if (!is("DSCP") && !is("COS") && !is("UNTRUSTED")) return;
    out_.port(port).trust = out_.fact(is("DSCP")  ? TrustMode::kDscp
                                      : is("COS") ? TrustMode::kPcp
                                                  : TrustMode::kNone,
                                      line.number);
  }

  // "2 :  2  2  2  2  3  3  3  3  3  3": the classes of the code points 20 to 29.
  void read_dscp_map(const Line& line, const std::vector<std::string_view>& words) {
    const auto tens = words.size() > 2 && words[1] == ":" ? parse_count(words[0]) : std::nullopt;
    if (!tens || *tens > 6) return;  // the heading
    for (std::size_t i = 2; i < words.size(); ++i) {
      const std::uint64_t dscp = *tens * 10 + i - 2;
      const auto tc = parse_count(words[i]);
      if (dscp >= Dscp::kLimit || !tc || *tc > 7)
        return out_.unread(line, "expected the traffic classes of ten code points");
      dscp_map_.at(dscp) = TrafficClass::of(static_cast<unsigned>(*tc));
      ++mapped_;
    }
    if (mapped_ == Dscp::kLimit) out_.state().dscp_to_tc = out_.fact(dscp_map_, line.number);
  }

  // "3  kbytes  100  1500"
  void read_ecn(const Line& line, const std::vector<std::string_view>& words) {
    const auto queue = parse_count(words[0]);
    const bool is_off = words.size() >= 4 && std::all_of(words.begin() + 1, words.end(),
                                                         [](auto word) { return word == "-"; });
    if (is_off && queue && *queue < Queue::kLimit && !port_.empty()) {
      out_.queue(port_, Queue::of(static_cast<unsigned>(*queue))).ecn =
          out_.fact(false, line.number);
      return;
    }
    const bool is_set = words.size() >= 4;
    const auto min = is_set ? parse_count(words[2]) : std::nullopt;
    const auto max = is_set ? parse_count(words[3]) : std::nullopt;
    if (!queue || *queue > 7 || !min || !max || *max > 256'000'000)
      return out_.unread(line, "expected queue, unit, minimum and maximum");
    const std::int64_t unit = words[1] == "bytes"    ? 1
                              : words[1] == "kbytes" ? 1'000
                              : words[1] == "mbytes" ? 1'000'000
                                                     : 0;
    if (unit == 0)
      return out_.unread(line, "thresholds in segments or time cannot be converted to bytes");
    if (port_.empty()) return out_.unread(line, "no port: paste the prompt and the command too");
    evidence::EgressQueue& found = out_.queue(port_, Queue::of(static_cast<unsigned>(*queue)));
    found.ecn = out_.fact(true, line.number);
    found.ecn_min = out_.fact(Bytes::raw(static_cast<std::int64_t>(*min) * unit), line.number);
    found.ecn_max = out_.fact(Bytes::raw(static_cast<std::int64_t>(*max) * unit), line.number);
  }

  // A missing key means zero.
  void read_json_queues(const std::string& port, const Json& queues) {
    for (const auto& entry : queues.items()) {
      const Json& value = entry.value();
      const auto number = parse_count(entry.key());
      if (!number || *number > 7 || !value.is_object()) continue;
      const auto count = [&value](const char* key) -> std::uint64_t {
        return value.contains(key) && value[key].is_number_unsigned()
                   ? value[key].get<std::uint64_t>()
                   : 0;
      };
      out_.count(port, fmt::format("queue{}.watchdog_storm.events", *number), count("stuckCount"));
      out_.count(port, fmt::format("queue{}.watchdog_restored.events", *number),
                 count("recoveryCount"));
      out_.queue(port, Queue::of(static_cast<unsigned>(*number))).stuck =
          out_.fact(count("stuckCount") > count("recoveryCount"), 1);
    }
  }

  void read_json_counters(const std::string& port, const Json& value) {
    const auto count = [&](const char* key) -> std::optional<std::uint64_t> {
      if (!value.contains(key) || !value[key].is_number_unsigned()) return std::nullopt;
      return value[key].get<std::uint64_t>();
    };
    const auto received = count("rxFrames");
    const auto sent = count("txFrames");
    if (received && sent) totals_.push_back({switch_name_, port, *received, *sent, time_});
  }

  ShowBuilder out_;
  Table table_ = Table::kNone;
  std::string port_;
  std::vector<std::string_view> columns_;
  std::string switch_name_;
  std::optional<std::int64_t> time_;
  std::map<std::pair<std::string, std::string>, PrioritySet> pfc_;  // by switch and port
  std::vector<Total> totals_;
  std::array<std::optional<TrafficClass>, Dscp::kLimit> dscp_map_{};
  std::size_t mapped_ = 0;  // code points of the map at hand
};

}  // namespace

namespace {

/// Rows of EOS below a command whose heading a filter cut off.
bool has_filtered_rows(std::string_view text) {
  bool is_asked = false;
  for (const Line& line : lines_of(text)) {
    if (const auto prompt = prompt_of(line.text)) {
      const auto has = [&](std::string_view part) {
        return prompt->command.find(part) != std::string_view::npos;
      };
      is_asked = has("|") &&
                 (has("counters rates") || has("counters queue") || has("priority-flow-control"));
      continue;
    }
    const auto words = words_of(line.text);
    if (is_asked && words.size() > 2 && words[0].size() > 2 && is_port(words[0]) &&
        words[0][2] >= '0' && words[0][2] <= '9')
      return true;
  }
  return false;
}

}  // namespace

bool recognises_eos_show(std::string_view text) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  return has_filtered_rows(text) || (has("RxPfc") && has("TxPfc")) ||
         (has("ECN/WRED") && has("Shape Rate")) ||
         (has("In Mbps") && has("Out Mbps") && has("Intvl")) ||
         (has("Enabled") && has("Priorities") && has("Active")) ||
         (has("Port") && has("Status") && has("Priorities") && has("Action")) ||
         (has("InOctets") && has("InUcastPkts")) || (has("FCS") && has("Giants") && has("Runts")) ||
         (has("line protocol is") && has("MTU ")) || (has("RxPfc0") || has("TxPfc0")) ||
         (has("TxQ") && has("Total times")) ||
         (has("Trust Mode") && has("Operational") && has("Configured")) || has("Dscp-tc map") ||
         has("DSCP-TC map") || (has("Trust Mode: ") && has("Default COS")) ||
         has("ECN Marked Packets") || (has("TxQ") && has("Counter/pkts") && has("Et")) ||
         (has("Tx-Queue") && has("ECN Min")) || (has("\"txQueues\"") && has("\"stuckCount\"")) ||
         (has("\"interfaceCounters\"") && has("\"rxFrames\""));
}

Result<Recognised> read_eos_show(std::string_view text, std::string_view file) {
  return read_show(text, EosReader(file));
}

}  // namespace weir::readers
