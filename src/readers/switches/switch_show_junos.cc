// Junos: `show interfaces <port> extensive`, `show interfaces queue <port>`, `show class-of-service
// congestion-notification|shared-buffer`, `show interfaces priority-group|queue buffer-occupancy
// <port>`. Sizes in KB are multiples of 1024.
#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "readers/switches/switch_show.h"

namespace weir::readers {
namespace {

struct PoolName {
  std::string_view name;
  evidence::PoolKind kind;
};
constexpr auto kPools = std::to_array<PoolName>({
    {"Dedicated Buffer", evidence::PoolKind::kReserved},
    {"Lossless", evidence::PoolKind::kLossless},
    {"Lossless Headroom", evidence::PoolKind::kHeadroom},
    {"Lossy", evidence::PoolKind::kLossy},
});

/// Lines of `show interfaces queue` under "Queue: N": the number, then a rate.
struct QueueLine {
  std::string_view name;
  std::string_view counter;
};
constexpr auto kQueueLines = std::to_array<QueueLine>({
    {"Packets", "tx.packets"},
    {"Bytes", "tx.bytes"},
    {"Tail-dropped packets", "drop_tail.packets"},
    {"RED-dropped packets", "drop_wred.packets"},
    {"ECN-CE packets", "ecn_marked.packets"},
    {"ECN-marked packets", "ecn_marked.packets"},
});

bool is_junos_port(std::string_view word) {
  return word.size() > 3 && word[2] == '-' && word.find('/') != std::string_view::npos;
}

class JunosReader {
 public:
  explicit JunosReader(std::string_view file) : out_(vocab::SwitchSystem::kJunos, file) {}

  void read(const Line& line) {
    const std::string_view text = trim(line.text);
    if (text.empty() || is_rule(text)) return;
    if (const auto prompt = prompt_of(text)) return use(*prompt);
    if (const auto waited = wait_of_line(text)) return out_.wait(*waited);
    if (const auto second = time_of_line(text)) return out_.set_time(*second);
    if (text.starts_with("Physical interface:")) return read_interface(line, text);
    if (read_notification(line, text)) return;
    if (read_interface_facts(line, text)) return;
    if (text.starts_with("MAC Priority Flow Control Statistics")) {
      part_ = Part::kPauses;
    } else if (text == "Ingress:" || text == "Egress:") {
      part_ = text == "Ingress:" ? Part::kIngress : Part::kNone;
    } else if (text.starts_with("Lossless Headroom Utilization")) {
      part_ = Part::kHeadroom;
    } else if (text.starts_with("PG:") || text.starts_with("Queue:")) {
      read_number(text);
    } else if (text == "Queued:" || text == "Transmitted:") {
      part_ = text == "Transmitted:" ? Part::kSent : Part::kQueued;
    } else if (text.starts_with("CRC/Align errors")) {
      read_broken_frames(line, text);
    } else if ((part_ == Part::kSent || part_ == Part::kQueued) &&
               text.find(':') != std::string_view::npos) {
      if (part_ == Part::kSent) read_queue_line(line, text);
    } else if (text.starts_with("Peak")) {
      read_peak(line, text);
    } else if (const auto at = text.find("Resource errors:"); at != std::string_view::npos) {
      read_resource_errors(line, text.substr(at + 16));
    } else if (part_ == Part::kPauses && text.starts_with("Priority")) {
      read_pauses(line, text);
    } else if (part_ == Part::kIngress) {
      read_pool(line, text);
    } else if (part_ == Part::kHeadroom) {
      read_headroom(text);
    }
  }

  Recognised finish() && {
    add_rates();
    if (!pools_.empty()) out_.state().pools = out_.fact(pools_, pools_line_);
    // It is of the whole switch, but counters belong to ports.
    if (headroom_used_ && !last_port_.empty())
      out_.count(last_port_, "pool.headroom_max.bytes",
                 static_cast<std::uint64_t>(headroom_used_->raw()));
    return std::move(out_).finish();
  }

 private:
  enum class Part { kNone, kPauses, kIngress, kHeadroom, kQueued, kSent };

  void use(const Prompt& prompt) {
    out_.use_prompt(prompt);
    part_ = Part::kNone;
    port_.clear();
    for (const std::string_view word : words_of(prompt.command))
      if (is_junos_port(word)) use_port(word);
  }
  void use_port(std::string_view name) {
    port_ = name;
    last_port_ = name;
  }

  // "Physical interface: et-0/0/2, Enabled, Physical link is Up"
  void read_interface(const Line& line, std::string_view text) {
    const auto words = words_of(text);
    if (words.size() < 3) return;
    std::string_view name = words[2];
    if (name.ends_with(',')) name.remove_suffix(1);
    use_port(name);
    speed_ = 0;
    part_ = Part::kNone;
    const bool is_up = text.find("link is Up") != std::string_view::npos;
    if (is_up || text.find("link is Down") != std::string_view::npos)
      out_.port(port_).up = out_.fact(is_up, line.number);
  }

  // "Link-level type: Ethernet, MTU: 9216, …"; "Carrier transitions: 0, Errors: 0, Drops: 0, …"
  // below "Output errors:"; "    3   364000518227   364000518227   0" below "Queue counters:".
  bool read_interface_facts(const Line& line, std::string_view text) {
    if (port_.empty()) return false;
    const auto number_behind = [&](std::string_view key) -> std::optional<std::uint64_t> {
      const std::size_t at = text.find(key);
      if (at == std::string_view::npos) return std::nullopt;
      const std::string_view rest = trim(text.substr(at + key.size()));
      return parse_count(rest.substr(0, rest.find_first_not_of("0123456789")));
    };
    if (text.starts_with("Link-level type:")) {
      const auto speed = number_behind("Speed:");
      speed_ =
          speed && text.find("Gbps", text.find("Speed:")) != std::string_view::npos ? *speed : 0;
      const auto mtu = number_behind("MTU:");
      if (mtu && *mtu <= 65'536)
        out_.port(port_).mtu = out_.fact(Bytes::raw(static_cast<std::int64_t>(*mtu)), line.number);
      return true;
    }
    // "Output rate    : 394802989118 bps (11834532 pps)"
    const bool is_sent = text.starts_with("Output rate");
    if (is_sent || text.starts_with("Input rate")) {
      constexpr std::uint64_t kTenMillion = 10'000'000;  // bits: a hundredth of a gigabit
      const auto rate = number_behind(":");
      if (rate && speed_ > 0)
        out_.count(port_, fmt::format("port.{}.utilisation.percent", is_sent ? "tx" : "rx"),
                   std::min<std::uint64_t>(*rate / (speed_ * kTenMillion), 100));
      return true;
    }
    if (text.starts_with("Carrier transitions:")) {
      if (const auto drops = number_behind(" Drops:"))
        out_.count(port_, "port.drop.packets", *drops);
      return false;  // resource errors are in the same line
    }
    if (text.starts_with("Queue counters:")) {
      is_queue_table_ = text.find("Dropped packets") != std::string_view::npos;
      return true;
    }
    const auto words = words_of(text);
    const auto queue = words.size() == 4 ? parse_count(words[0]) : std::nullopt;
    const auto sent = queue ? parse_count(words[2]) : std::nullopt;
    const auto dropped = queue ? parse_count(words[3]) : std::nullopt;
    is_queue_table_ = is_queue_table_ && queue && *queue < 12 && sent && dropped;
    if (!is_queue_table_) return false;
    if (*queue < Queue::kLimit) {
      out_.count(port_, fmt::format("queue{}.tx.packets", *queue), *sent);
      out_.count(port_, fmt::format("queue{}.drop_tail.packets", *queue), *dropped);
    }
    return true;
  }

  bool has_port(const Line& line) {
    if (!port_.empty()) return true;
    out_.unread(line, "no port: paste the prompt and the command too");
    return false;
  }

  // "Priority :  3   57   3": received, then sent.
  void read_pauses(const Line& line, std::string_view text) {
    const auto colon = text.find(':');
    const auto words = words_of(colon == std::string_view::npos ? text : text.substr(colon + 1));
    const auto priority = words.size() == 3 ? parse_count(words[0]) : std::nullopt;
    const auto received = words.size() == 3 ? parse_count(words[1]) : std::nullopt;
    const auto sent = words.size() == 3 ? parse_count(words[2]) : std::nullopt;
    if (!priority || *priority > 7 || !received || !sent)
      return out_.unread(line, "expected a priority and two numbers");
    if (!has_port(line)) return;
    out_.count_pauses(port_, *priority, *received, *sent);
  }

  // Drops because the ingress buffer was full; the group is not printed.
  void read_resource_errors(const Line& line, std::string_view rest) {
    const auto words = words_of(rest);
    std::string_view number = words.empty() ? std::string_view() : words[0];
    if (number.ends_with(',')) number.remove_suffix(1);
    const auto value = parse_count(number);
    if (!value) return out_.unread(line, "expected a number");
    if (!has_port(line)) return;
    out_.count_unplaced(port_, "Resource errors", *value);
    if (*value > 0)
      out_.gap({"the priority group of resource errors", port_, evidence::Missing::kAbsent,
                fmt::format("show interfaces priority-group buffer-occupancy {}", port_)});
  }

  // "CRC/Align errors   4411   0": received, then sent.
  void read_broken_frames(const Line& line, std::string_view text) {
    const auto words = words_of(text);
    const auto value = words.size() >= 3 ? parse_count(words[2]) : std::nullopt;
    if (!value) return out_.unread(line, "expected a number");
    if (has_port(line)) out_.count(port_, "port.crc_error.packets", *value);
  }

  // "Tail-dropped packets :   262   0 pps"
  void read_queue_line(const Line& line, std::string_view text) {
    const auto colon = text.find(':');  // "Total-dropped packets:" has no blank before it
    const std::string_view name = trim(text.substr(0, colon));
    const auto* const row = std::find_if(kQueueLines.begin(), kQueueLines.end(),
                                         [&](const QueueLine& item) { return item.name == name; });
    if (row == kQueueLines.end()) return;
    const auto words = words_of(text.substr(colon + 1));
    const auto value = words.empty() ? std::nullopt : parse_count(words[0]);
    if (!value || is_group_ || !number_) return out_.unread(line, "expected a number under Queue");
    if (!has_port(line)) return;
    const std::string name_of_counter = fmt::format("queue{}.{}", *number_, row->counter);
    out_.count(port_, name_of_counter, *value);
    ++readings_[{port_, name_of_counter}];
    const auto rate = words.size() > 2 ? parse_count(words[1]) : std::nullopt;
    if (rate && words[2] == "pps") rates_.push_back({port_, name_of_counter, *value, *rate});
    if (rate && words[2] == "bps") rates_.push_back({port_, name_of_counter, *value, *rate / 8});
  }

  /// "Name: roce, Index: 21, Type: Input" and the priorities below it.
  bool read_notification(const Line& line, std::string_view text) {
    if (text.find("Index:") != std::string_view::npos &&
        text.find("Type:") != std::string_view::npos) {
      const auto at = text.find("Name:");
      const auto words = words_of(at == std::string_view::npos ? text : text.substr(at + 5));
      std::string_view name = words.empty() ? std::string_view() : words[0];
      if (name.ends_with(',')) name.remove_suffix(1);
      is_notification_ =
          at != std::string_view::npos && text.find("Type: Input") != std::string_view::npos;
      profile_ = fmt::format("congestion-notification {}", name);
      notified_ = {};
      rows_ = 0;
      return true;
    }
    if (!is_notification_) return false;
    const auto words = words_of(text);
    const bool is_row = words.size() > 1 && words[0].size() == 3 &&
                        words[0].find_first_not_of("01") == std::string_view::npos &&
                        (words[1] == "Enabled" || words[1] == "Disabled");
    if (!is_row) return false;
    unsigned priority = 0;
    for (const char bit : words[0])
      priority = priority * 2 + (bit == '1' ? 1U : 0U);
    if (words[1] == "Enabled") notified_.insert(Priority::of(priority));
    if (++rows_ == Priority::kLimit) out_.port(profile_).pfc = out_.fact(notified_, line.number);
    return true;
  }

  /// The system measures rates itself: what was printed once is a window of one second.
  void add_rates() {
    const bool is_once = std::all_of(readings_.begin(), readings_.end(),
                                     [](const auto& item) { return item.second == 1; });
    const bool is_moving = std::any_of(rates_.begin(), rates_.end(),
                                       [](const Rate& rate) { return rate.per_second > 0; });
    if (!is_once || !is_moving) return;
    constexpr std::int64_t kOneSecond = 1;
    for (const Rate& rate : rates_)
      out_.count_later(rate.port, rate.counter, rate.value + rate.per_second, kOneSecond);
  }

  // "Lossless   :  22632 KB"
  void read_pool(const Line& line, std::string_view text) {
    const auto colon = text.find(':');
    if (colon == std::string_view::npos) return;
    const std::string_view name = trim(text.substr(0, colon));
    const auto* const pool = std::find_if(kPools.begin(), kPools.end(),
                                          [&](const PoolName& row) { return row.name == name; });
    if (pool == kPools.end()) return;
    const auto words = words_of(text.substr(colon + 1));
    const auto size = words.size() == 2 ? parse_size_1024(words[0], words[1]) : std::nullopt;
    if (!size) return out_.unread(line, "expected a size with its unit");
    pools_.push_back({std::string(name), pool->kind, *size});
    pools_line_ = line.number;
  }

  // "0   11314 KB   0 KB   11314 KB": node, total, used, free.
  void read_headroom(std::string_view text) {
    const auto words = words_of(text);
    if (words.size() != 7 || !parse_count(words[0])) return;
    const auto used = parse_size_1024(words[3], words[4]);
    if (used && (!headroom_used_ || *used > *headroom_used_)) headroom_used_ = used;
  }

  // "PG: 3", "Queue: 3"
  void read_number(std::string_view text) {
    is_group_ = text.starts_with("PG:");
    const auto words = words_of(text.substr(text.find(':') + 1));
    // "Queue: 3, Forwarding classes: no-loss"
    std::string_view first = words.empty() ? std::string_view() : words[0];
    if (first.ends_with(',')) first.remove_suffix(1);
    const auto number = parse_count(first);
    part_ = Part::kNone;
    number_ = number && *number < 8 ? std::optional(static_cast<unsigned>(*number)) : std::nullopt;
  }

  // "Peak  : 254000"
  void read_peak(const Line& line, std::string_view text) {
    const auto colon = text.find(':');
    const auto value =
        colon == std::string_view::npos ? std::nullopt : parse_count(trim(text.substr(colon + 1)));
    if (!value || !number_) return out_.unread(line, "expected a number under PG or Queue");
    if (!has_port(line)) return;
    out_.count(port_,
               is_group_ ? fmt::format("pg{}.occupancy_max.bytes", *number_)
                         : fmt::format("queue{}.depth_max.bytes", *number_),
               *value);
  }

  ShowBuilder out_;
  Part part_ = Part::kNone;
  std::string port_;
  std::string last_port_;
  bool is_group_ = true;
  std::optional<unsigned> number_;
  std::vector<evidence::Pool> pools_;
  int pools_line_ = 0;
  std::optional<Bytes> headroom_used_;
  struct Rate {
    std::string port;
    std::string counter;
    std::uint64_t value = 0;
    std::uint64_t per_second = 0;
  };
  std::vector<Rate> rates_;
  std::map<std::pair<std::string, std::string>, int> readings_;  // by port and counter
  bool is_notification_ = false;
  std::string profile_;
  bool is_queue_table_ = false;
  std::uint64_t speed_ = 0;  // of the port at hand, in Gb/s; 0: not shown
  PrioritySet notified_;
  std::size_t rows_ = 0;
};

}  // namespace

bool recognises_junos_show(std::string_view text) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  return has("MAC Priority Flow Control Statistics") || has("PG-Utilization") ||
         has("Lossless Headroom Utilization") || has("Queue-depth bytes") ||
         (has("Physical interface: ") && has("Physical link is")) ||
         (has("Priority") && has("PFC") && has("Index: ") && has("Type: Input"));
}

Result<Recognised> read_junos_show(std::string_view text, std::string_view file) {
  JunosReader reader(file);
  for (const Line& line : lines_of(text))
    reader.read(line);
  return std::move(reader).finish();
}

}  // namespace weir::readers
