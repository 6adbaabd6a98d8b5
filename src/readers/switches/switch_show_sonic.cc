// SONiC: `show pfc counters|priority`, `show queue wredcounters|counters|watermark`, `show
// priority-group watermark|drop`, `show pfcwd config|stats`, `show interfaces counters`. Columns
// are those of sonic-utilities; numbers carry thousands separators.
#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "base/text.h"
#include "readers/switches/switch_show.h"

namespace weir::readers {
namespace {

/// A table with numbered columns: PFC0…, PG0…, UC0….
struct Matrix {
  std::string_view title;    // the line above the header, or the header's own beginning
  std::string_view scope;    // of the counter: "prio"
  std::string_view counter;  // "pause_rx.frames"
  std::string_view command;  // that prints it; empty where the header says what it is
};
constexpr auto kMatrices = std::to_array<Matrix>({
    {"Port Rx", "prio", "pause_rx.frames", ""},
    {"Port Tx", "prio", "pause_tx.frames", ""},
    {"Ingress headroom per PG", "pg", "headroom_max.bytes", "priority-group watermark headroom"},
    {"Ingress shared pool occupancy per PG", "pg", "occupancy_max.bytes",
     "priority-group watermark shared"},
    {"Ingress PG dropped packets", "pg", "drop_headroom.packets", "priority-group drop"},
    {"Egress shared pool occupancy per unicast queue", "queue", "depth_max.bytes",
     "queue watermark unicast"},
});

/// A table with one row per queue: "Ethernet16  UC3  0  0 …".
struct QueueColumn {
  std::string_view heading;
  std::string_view counter;
};
constexpr auto kQueueColumns = std::to_array<QueueColumn>({
    {"WredDrp/pkts", "drop_wred.packets"},
    {"EcnMarked/pkts", "ecn_marked.packets"},
    {"EcnMarked/bytes", "ecn_marked.bytes"},
    {"Counter/pkts", "tx.packets"},
    {"Counter/bytes", "tx.bytes"},
    {"Drop/pkts", "drop_tail.packets"},
});

constexpr auto kMarks = std::to_array<std::string_view>(
    {"EcnMarked/pkts", "Ingress headroom per PG", "Ingress PG dropped packets",
     "Ingress shared pool occupancy per PG", "Egress shared pool occupancy per unicast queue",
     "STORM DETECTED/RESTORED", "RESTORATION TIME", "Lossless priorities"});

bool is_sonic_port(std::string_view word) {
  return word.starts_with("Ethernet") || word.starts_with("PortChannel");
}

/// "3" of "PG3", "UC3", "PFC3"; nullopt beyond the eight that a fabric uses.
std::optional<unsigned> number_of(std::string_view word) {
  const auto digits = word.find_first_of("0123456789");
  if (digits == std::string_view::npos) return std::nullopt;
  const auto number = parse_u64(word.substr(digits));
  if (!number || *number > 7) return std::nullopt;
  return static_cast<unsigned>(*number);
}

class SonicReader {
 public:
  explicit SonicReader(std::string_view file) : out_(vocab::SwitchSystem::kSonic, file) {}

  void read(const Line& line) {
    const std::string_view text = trim(line.text);
    if (text.empty()) {
      table_ = Table::kNone;
      return;
    }
    if (is_rule(text)) return;
    if (const auto prompt = prompt_of(text)) {
      end_watchdog_config(line);
      out_.use_prompt(*prompt);
      table_ = Table::kNone;
      matrix_ = matrix_of(prompt->command);
      return;
    }
    if (const auto waited = wait_of_line(text)) return out_.wait(*waited);
    if (const auto second = time_of_line(text)) return out_.set_time(*second);
    if (starts_table(text)) return;
    const auto words = words_of(text);
    if (table_ == Table::kNone) return;
    if (table_ == Table::kMatrixTitle) {
      if (words.front() == "Port" || words.front() == "Interface") return set_columns(words, 1);
      table_ = Table::kNone;
      return;
    }
    if (!is_sonic_port(words.front()) && table_ != Table::kNone) {
      table_ = Table::kNone;
      return;
    }
    read_row(line, words);
  }

  Recognised finish() && { return std::move(out_).finish(); }

 private:
  enum class Table {
    kNone,
    kMatrixTitle,
    kMatrix,
    kQueues,
    kWatchdogStats,
    kWatchdogConfig,
    kPriorities,
    kInterfaces,
    kStatus
  };

  void set_columns(const std::vector<std::string_view>& words, std::size_t skip) {
    table_ = Table::kMatrix;
    columns_.clear();
    for (std::size_t i = skip; i < words.size(); ++i)
      columns_.push_back(number_of(words[i]));
  }

  /// The table that a command prints: a filter may cut its title off.
  static const Matrix* matrix_of(std::string_view command) {
    for (const Matrix& matrix : kMatrices)
      if (!matrix.command.empty() && command.find(matrix.command) != std::string_view::npos)
        return &matrix;
    return nullptr;
  }

  bool starts_table(std::string_view text) {
    for (const Matrix& matrix : kMatrices) {
      if (!text.starts_with(matrix.title)) continue;
      matrix_ = &matrix;
      table_ = Table::kMatrixTitle;
      if (matrix.scope == "prio") set_columns(words_of(text), 2);
      return true;
    }
    const auto words = words_of(text);
    const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
    const bool is_heading = words.size() > 2 && words[0] == "Port" &&
                            (words[1] == "PG0" || words[1] == "UC0") && table_ == Table::kNone;
    if (is_heading && matrix_ != nullptr) {
      set_columns(words, 1);
    } else if (words.size() > 2 && words[0] == "Port" && words[1] == "TxQ") {
      table_ = Table::kQueues;
      headings_.assign(words.begin() + 2, words.end());
    } else if (has("STORM DETECTED/RESTORED")) {
      table_ = Table::kWatchdogStats;
    } else if (has("RESTORATION TIME")) {
      table_ = Table::kWatchdogConfig;
      is_watchdog_empty_ = true;
    } else if (has("Lossless priorities")) {
      table_ = Table::kPriorities;
    } else if (words[0] == "Interface" && has(" Lanes ") && has(" Oper ")) {
      table_ = Table::kStatus;
      headings_ = words;
    } else if (words[0] == "IFACE" && has("RX_OK")) {
      table_ = Table::kInterfaces;
      headings_.assign(words.begin() + 1, words.end());
    } else {
      return false;
    }
    return true;
  }

  void read_row(const Line& line, const std::vector<std::string_view>& words) {
    switch (table_) {
      case Table::kMatrix: return read_matrix(line, words);
      case Table::kQueues: return read_queue(line, words);
      case Table::kWatchdogStats: return read_watchdog(line, words);
      case Table::kWatchdogConfig: return read_watchdog_config(line, words);
      case Table::kPriorities: return read_priorities(line, words);
      case Table::kInterfaces: return read_interface(line, words);
      case Table::kStatus: return read_status(line, words);
      case Table::kNone:
      case Table::kMatrixTitle: return;
    }
  }

  void read_matrix(const Line& line, const std::vector<std::string_view>& words) {
    if (words.size() != columns_.size() + 1)
      return out_.unread(line, fmt::format("expected a port and {} numbers", columns_.size()));
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const auto value = parse_count(words[i + 1]);
      if (!value && words[i + 1] != "N/A") return out_.unread(line, "expected a number");
      if (!value || !columns_[i]) continue;
      out_.count(words[0], fmt::format("{}{}.{}", matrix_->scope, *columns_[i], matrix_->counter),
                 *value);
    }
  }

  // "0 B" is one cell in newer releases.
  void read_queue(const Line& line, std::vector<std::string_view> words) {
    std::erase(words, "B");
    if (words.size() != headings_.size() + 2)
      return out_.unread(line,
                         fmt::format("expected port, queue and {} numbers", headings_.size()));
    const auto queue = number_of(words[1]);
    if (!words[1].starts_with("UC") || !queue) return;  // RDMA is never multicast
    for (std::size_t i = 0; i < headings_.size(); ++i) {
      const auto* const column =
          std::find_if(kQueueColumns.begin(), kQueueColumns.end(),
                       [&](const QueueColumn& row) { return row.heading == headings_[i]; });
      const auto value = parse_count(words[i + 2]);
      if (!value && words[i + 2] != "N/A") return out_.unread(line, "expected a number");
      if (column == kQueueColumns.end() || !value) continue;
      out_.count(words[0], fmt::format("queue{}.{}", *queue, column->counter), *value);
    }
  }

  // "Ethernet0:3  stormed  1/0  100/300 …"
  void read_watchdog(const Line& line, const std::vector<std::string_view>& words) {
    const auto colon = words[0].find(':');
    const auto slash = words.size() > 2 ? words[2].find('/') : std::string_view::npos;
    const auto queue = colon == std::string_view::npos ? std::optional<unsigned>()
                                                       : number_of(words[0].substr(colon));
    if (!queue || slash == std::string_view::npos)
      return out_.unread(line, "expected PORT:QUEUE, a status and DETECTED/RESTORED");
    const std::string_view port = words[0].substr(0, colon);
    const auto storms = parse_count(words[2].substr(0, slash));
    const auto restored = parse_count(words[2].substr(slash + 1));
    if (!storms || !restored) return out_.unread(line, "expected numbers");
    out_.count(port, fmt::format("queue{}.watchdog_storm.events", *queue), *storms);
    out_.count(port, fmt::format("queue{}.watchdog_restored.events", *queue), *restored);
    out_.queue(port, Queue::of(*queue)).stuck = out_.fact(words[1] == "stormed", line.number);
    out_.state().watchdog.enabled = out_.fact(true, line.number);
    if (words.size() < 4) return;
    const auto drops = words[3].find('/');
    const auto dropped =
        drops == std::string_view::npos ? std::nullopt : parse_count(words[3].substr(drops + 1));
    if (dropped) out_.count(port, fmt::format("queue{}.drop_watchdog.packets", *queue), *dropped);
  }

  /// `show pfcwd config` lists the ports with a watchdog: a whole table without rows has none. A
  /// text that ends below the heading may be cut off.
  void end_watchdog_config(const Line& line) {
    if (is_watchdog_empty_ && !out_.state().watchdog.enabled.is_known())
      out_.state().watchdog.enabled = out_.fact(false, line.number);
    is_watchdog_empty_ = false;
  }

  // "Ethernet0  drop  200  400  disable"
  void read_watchdog_config(const Line& line, const std::vector<std::string_view>& words) {
    is_watchdog_empty_ = false;
    const auto detect = words.size() > 3 ? parse_count(words[2]) : std::nullopt;
    const auto restore = words.size() > 3 ? parse_count(words[3]) : std::nullopt;
    constexpr std::uint64_t kLongest = 60'000;  // milliseconds, the YANG model's limit
    if (!detect || !restore || *detect > kLongest || *restore > kLongest)
      return out_.unread(line, "expected port, action and two times in milliseconds");
    evidence::Watchdog& watchdog = out_.state().watchdog;
    const auto milliseconds = [&](std::uint64_t ms) {
      return out_.fact(Duration(1_ms * static_cast<std::int64_t>(ms)), line.number);
    };
    watchdog.enabled = out_.fact(true, line.number);
    watchdog.action = out_.fact(std::string(words[1]), line.number);
    watchdog.detection = milliseconds(*detect);
    watchdog.restoration = milliseconds(*restore);
  }

  void read_priorities(const Line& line, const std::vector<std::string_view>& words) {
    const bool is_none = words.size() == 1 || words[1] == "N/A";
    const auto set =
        is_none ? std::optional<PrioritySet>(PrioritySet()) : priorities_of_list(words[1]);
    if (!set) return out_.unread(line, "expected a port and its priorities");
    out_.port(words[0]).pfc = out_.fact(*set, line.number);
  }

  // "Ethernet0  1,2,3,4  400G  9100  rs  etp1  routed  up  up  OSFP 8X Pluggable  N/A": up to the
  // kind of module each column is one word.
  void read_status(const Line& line, const std::vector<std::string_view>& words) {
    evidence::SwitchPort& port = out_.port(words[0]);
    for (std::size_t i = 1; i < headings_.size() && i < words.size(); ++i) {
      if (headings_[i] == "Type") return;
      if (headings_[i] == "MTU") {
        const auto mtu = parse_count(words[i]);
        if (!mtu || *mtu > 65'536) return out_.unread(line, "expected an MTU");
        port.mtu = out_.fact(Bytes::raw(static_cast<std::int64_t>(*mtu)), line.number);
      } else if (headings_[i] == "Oper" && words[i] == "up") {
        port.up = out_.fact(true, line.number);
      }
    }
  }

  // Rates of bytes are two words ("200.54 B/s"), all other columns one ("1.5M/s").
  void read_interface(const Line& line, const std::vector<std::string_view>& words) {
    std::vector<std::string_view> cells;
    for (std::size_t i = 1; i < words.size(); ++i)
      if (!words[i].ends_with("/s") || parse_count(words[i].substr(0, 1)))
        cells.push_back(words[i]);
    if (cells.size() != headings_.size())
      return out_.unread(line, "fewer or more cells than columns");
    const std::string_view port = words[0];
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto value = parse_count(cells[i]);
      const std::string_view heading = headings_[i];
      const bool is_rx = heading.starts_with("RX_");
      // A port that is down may be one that nobody uses: it stays open.
      if (heading == "STATE" && cells[i] == "U") out_.port(port).up = out_.fact(true, line.number);
      if (heading.ends_with("_UTIL") && cells[i].ends_with('%')) {
        const auto whole = parse_count(cells[i].substr(0, cells[i].find_first_of(".%")));
        if (whole && *whole <= 100)
          out_.count(port, fmt::format("port.{}.utilisation.percent", is_rx ? "rx" : "tx"), *whole);
      }
      if (!value) continue;
      if (heading == "RX_OK") out_.count(port, "port.rx.packets", *value);
      if (heading == "TX_OK") out_.count(port, "port.tx.packets", *value);
      if (heading == "RX_ERR") out_.count(port, "port.rx_error.packets", *value);
      if (heading == "RX_DRP") out_.count(port, "port.drop.packets", *value);
    }
  }

  ShowBuilder out_;
  Table table_ = Table::kNone;
  const Matrix* matrix_ = nullptr;
  std::vector<std::optional<unsigned>> columns_;
  std::vector<std::string_view> headings_;
  bool is_watchdog_empty_ = false;
};

/// "Ethernet40  UC3 …": EOS has tables with the same headings and short names of ports.
bool has_queue_row(std::string_view text) {
  for (const Line& line : lines_of(text)) {
    const auto words = words_of(line.text);
    if (words.size() > 2 && is_sonic_port(words[0]) && words[1].starts_with("UC")) return true;
  }
  return false;
}

}  // namespace

bool recognises_sonic_show(std::string_view text) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  return std::any_of(kMarks.begin(), kMarks.end(), has) ||
         ((has("Port Rx") || has("Port Tx")) && has("PFC0")) ||
         (has("TxQ") && has("Counter/pkts") && has_queue_row(text)) ||
         (has("Lanes") && has("Alias") && has("Oper") && has("Admin")) ||
         (has("IFACE") && has("RX_OK") && has("TX_OK")) ||
         (has("show priority-group ") && has("PG0"));
}

Result<Recognised> read_sonic_show(std::string_view text, std::string_view file) {
  SonicReader reader(file);
  for (const Line& line : lines_of(text))
    reader.read(line);
  return std::move(reader).finish();
}

}  // namespace weir::readers
