#include "readers/job/perftest.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

constexpr std::uint64_t kIterationsMax = 1'000'000'000'000;     // a larger number is not a row
constexpr std::uint64_t kMessageMax = std::uint64_t{1} << 31U;  // perftest's own limit
constexpr double kBitsMax = 1e15;
constexpr double kPerftestMicrosecondsMax = 1e9;

std::optional<double> perftest_decimal(std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !(value >= 0))
    return std::nullopt;
  return value;
}

std::optional<Duration> microseconds(std::string_view word) {
  const auto value = perftest_decimal(word);
  if (!value || *value > kPerftestMicrosecondsMax) return std::nullopt;
  constexpr double kPicoseconds = 1e6;
  return Duration::raw(static_cast<std::int64_t>(*value * kPicoseconds));
}

constexpr double kMebibyteBits = 8.0 * 1024 * 1024;

/// Bits per second of the unit in the header; 0 where it has none.
double unit_of(std::string_view header) {
  if (header.find("[Gb/sec]") != std::string_view::npos) return 1e9;
  if (header.find("[MiB/sec]") != std::string_view::npos ||
      header.find("[MB/sec]") != std::string_view::npos)
    return kMebibyteBits;
  return 0;
}

struct SizeAndCount {
  Bytes message;
  std::uint64_t iterations = 0;
};
std::optional<SizeAndCount> size_and_count(std::string_view size, std::string_view count) {
  const auto bytes = parse_u64(size);
  const auto iterations = parse_u64(count);
  if (!bytes || !iterations || *bytes > kMessageMax || *iterations > kIterationsMax)
    return std::nullopt;
  const auto message = static_cast<std::int64_t>(*bytes);
  if (message > 0 && static_cast<std::int64_t>(*iterations) > Bytes::max().raw() / message)
    return std::nullopt;
  return SizeAndCount{Bytes::raw(message), *iterations};
}

std::optional<BandwidthRow> bandwidth_row(const SizeAndCount& size, std::string_view average,
                                          double unit) {
  const auto value = perftest_decimal(average);
  if (!value || *value * unit > kBitsMax) return std::nullopt;
  BandwidthRow row{size.message, size.iterations, std::nullopt};
  if (unit > 0) row.average = BitRate::raw(static_cast<std::int64_t>(*value * unit));
  return row;
}

/// A row of t_min t_typical t_avg t_max 99% 99.9%, in this order; without t_avg there is none.
std::optional<LatencyRow> latency_row(const SizeAndCount& size,
                                      const std::array<std::string_view, 6>& times) {
  const auto average = microseconds(times[2]);
  if (!average) return std::nullopt;
  return LatencyRow{.message = size.message,
                    .iterations = size.iterations,
                    .minimum = microseconds(times[0]),
                    .typical = microseconds(times[1]),
                    .average = *average,
                    .maximum = microseconds(times[3]),
                    .p99 = microseconds(times[4]),
                    .p999 = microseconds(times[5])};
}

/// The kinds of table, by a heading that only one of them has.
enum class Table { kNone, kBandwidth, kLatency, kLatencyOfTime };

Table table_of(std::string_view header) {
  const auto has = [&](std::string_view word) {
    return header.find(word) != std::string_view::npos;
  };
  if (has("BW average")) return Table::kBandwidth;
  if (has("t_typical")) return Table::kLatency;
  if (has("t_avg")) return Table::kLatencyOfTime;
  return Table::kNone;
}

class TextReader {
 public:
  explicit TextReader(PerftestReport& report) : report_(report) {}

  void line(std::string_view text) {
    if (text.starts_with("#bytes")) {
      table_ = table_of(text);
      unit_ = unit_of(text);
      // The QoS form has the service level before the numbers.
      first_ = text.find("#sl") == std::string_view::npos ? 2 : 3;
    } else if (text.starts_with("---")) {
      table_ = Table::kNone;
    } else if (text.ends_with(" Test") && report_.test.empty()) {
      report_.test = text;
    } else if (table_ != Table::kNone) {
      row(words_of(text));
    } else {
      banner(text);
    }
  }

 private:
  void row(const std::vector<std::string_view>& words) {
    if (words.size() < 2) return;
    const auto size = size_and_count(words[0], words[1]);
    if (!size) return;
    if (table_ == Table::kBandwidth && words.size() >= first_ + 3) {
      if (const auto row = bandwidth_row(*size, words[first_ + 1], unit_))
        report_.bandwidth.push_back(*row);
    } else if (table_ == Table::kLatency && words.size() >= 9) {
      // #bytes #iterations t_min t_max t_typical t_avg t_stdev 99% 99.9%
      add_latency(latency_row(*size, {words[2], words[4], words[5], words[3], words[7], words[8]}));
    } else if (table_ == Table::kLatencyOfTime && words.size() >= 4) {
      add_latency(latency_row(*size, {"", "", words[2], "", "", ""}));
    }
  }
  void add_latency(const std::optional<LatencyRow>& row) {
    if (row) report_.latency.push_back(*row);
  }

  /// "Dual-port : OFF\t\tDevice : mlx5_0": two of them on a line.
  void banner(std::string_view text) {
    const auto after = [&](std::string_view key) -> std::string_view {
      const std::size_t at = text.find(key);
      if (at == std::string_view::npos) return {};
      const std::size_t colon = text.find(':', at);
      if (colon == std::string_view::npos) return {};
      const std::vector<std::string_view> words = words_of(text.substr(colon + 1));
      return words.empty() ? std::string_view() : words.front();
    };
    if (report_.device.empty() && text.find("Dual-port") != std::string_view::npos)
      report_.device = after("Device");
    if (text.starts_with("GID index")) {
      if (const auto index = parse_u64(after("GID index")); index && *index < 65536)
        report_.gid_index = static_cast<unsigned>(*index);
    }
    if (text.starts_with("Mtu")) {
      std::string_view number = after("Mtu");
      number = number.substr(0, number.find('['));
      if (const auto mtu = parse_u64(number); mtu && *mtu <= kMessageMax)
        report_.mtu = Bytes::raw(static_cast<std::int64_t>(*mtu));
    }
  }

  PerftestReport& report_;
  Table table_ = Table::kNone;
  double unit_ = 0;
  std::size_t first_ = 2;  // of the measured columns
};

// ---- JSON, of either dialect ----

std::string_view unquoted(std::string_view text) {
  text = trim(text);
  while (text.ends_with(','))
    text = trim(text.substr(0, text.size() - 1));
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    text = text.substr(1, text.size() - 2);
  return text;
}

/// One result, with one key and value per line.
class JsonReader {
 public:
  JsonReader(PerftestReport& report, JsonUnit unit) : report_(report), unit_(unit) {}

  void line(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) {
      if (text.starts_with('}')) close();
      return;
    }
    const std::string_view key = unquoted(text.substr(0, colon));
    const std::string_view value = unquoted(text.substr(colon + 1));
    if (value == "{") {
      is_in_results_ = key == "results";
      return;
    }
    is_in_results_ ? result(key, value) : banner(key, value);
  }

 private:
  void banner(std::string_view key, std::string_view value) {
    if (key == "test") report_.test = value;
    if (key == "Device") report_.device = value;
    const auto number = parse_u64(value);
    if (!number || *number > kMessageMax) return;
    if (key == "GID_index") report_.gid_index = static_cast<unsigned>(*number);
    if (key == "Mtu") report_.mtu = Bytes::raw(static_cast<std::int64_t>(*number));
  }

  void result(std::string_view key, std::string_view value) {
    constexpr std::array<std::string_view, 9> kKeys = {
        "MsgSize", "n_iterations", "BW_average",    "t_min",          "t_typical",
        "t_avg",   "t_max",        "percentile_99", "percentile_99.9"};
    const auto* const found = std::find(kKeys.begin(), kKeys.end(), key);
    if (found != kKeys.end()) values_.at(static_cast<std::size_t>(found - kKeys.begin())) = value;
  }

  void close() {
    if (!is_in_results_) return;
    is_in_results_ = false;
    const auto size = size_and_count(values_[0], values_[1]);
    if (size && !values_[2].empty()) {
      const double unit = unit_ == JsonUnit::kGigabits ? 1e9 : kMebibyteBits;
      if (const auto row = bandwidth_row(*size, values_[2], unit))
        report_.bandwidth.push_back(*row);
    } else if (size) {
      const auto row = latency_row(
          *size, {values_[3], values_[4], values_[5], values_[6], values_[7], values_[8]});
      if (row) report_.latency.push_back(*row);
    }
    values_ = {};
  }

  PerftestReport& report_;
  JsonUnit unit_;
  bool is_in_results_ = false;
  std::array<std::string_view, 9> values_{};
};

bool opens_json(std::string_view text) {
  return text.starts_with("test_info:") || text.starts_with("\"test_info\":");
}

// ---- errors ----

/// ibv_wc_status, as far as a fabric can cause it.
std::string_view status_meaning(std::uint64_t status) {
  switch (status) {
    case 2: return "a queue pair error on this host";
    case 5: return "flushed after an earlier error";
    case 10: return "remote access error: the peer refused access to the memory";
    case 11: return "remote operation error: the peer failed to complete the operation";
    case 12:
      return "no answer from the peer: retries exceeded, packets or acknowledgements are lost";
    case 13: return "the peer has no receive posted: RNR retries exceeded";
    default: return "see ibv_wc_status";
  }
}

/// The number after `word`, in brackets or not: "Failed status-… (12)", "Failed status 12:".
std::optional<std::uint64_t> status_in(std::string_view text) {
  constexpr std::string_view kWord = "Failed status";
  const std::size_t at = text.find(kWord);
  if (at == std::string_view::npos) return std::nullopt;
  constexpr std::string_view kDigits = "0123456789";
  const std::size_t begin = text.find_first_of(kDigits, at + kWord.size());
  if (begin == std::string_view::npos) return std::nullopt;
  const auto number = parse_u64(text.substr(begin, text.find_first_not_of(kDigits, begin) - begin));
  return number ? std::optional<std::uint64_t>(*number) : std::nullopt;
}

/// The error in a line; empty where there is none.
std::string problem_of(std::string_view text) {
  if (const auto status = status_in(text))
    return fmt::format("a transfer failed with status {}: {}", *status, status_meaning(*status));
  const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  if (has("Couldn't connect to"))
    return fmt::format("{}: no server is listening there on TCP", text);
  if (has("IB device") && has("not found")) return std::string(text);
  if (has("to RTR")) return fmt::format("{}: GID, MTU or route do not match the peer", text);
  if (has("Couldn't read remote address") || has("Unexpected CM event"))
    return fmt::format("connection lost: {}", text);
  return {};
}

}  // namespace

PerftestReport read_perftest(std::string_view output, JsonUnit json_unit) {
  PerftestReport report;
  TextReader as_text(report);
  JsonReader as_json(report, json_unit);
  bool is_json = false;
  for (const std::string_view line : split(output, '\n')) {
    const std::string_view text = trim(line);
    if (opens_json(text)) is_json = true;
    if (is_json && (text.starts_with("---") || text.starts_with("#bytes"))) is_json = false;
    is_json ? as_json.line(text) : as_text.line(text);
    std::string problem = problem_of(text);
    const bool is_known =
        std::find(report.problems.begin(), report.problems.end(), problem) != report.problems.end();
    if (!problem.empty() && !is_known) report.problems.push_back(std::move(problem));
  }
  return report;
}

std::vector<BandwidthRow> bandwidth_rows(std::string_view output) {
  return read_perftest(output).bandwidth;
}

// ---- the command line ----

namespace {

bool is_tool(std::string_view word) {
  word = word.substr(word.rfind('/') == std::string_view::npos ? 0 : word.rfind('/') + 1);
  const bool is_family = word.starts_with("ib_") || word.starts_with("raw_ethernet_");
  return is_family && (word.ends_with("_bw") || word.ends_with("_lat"));
}

/// Long options that take a value in the next word, and short ones.
bool takes_value(std::string_view word) {
  constexpr std::string_view kShort = "dixqsnDmTSpuortIlQfcWwyMA";
  if (word.size() == 2 && word[0] == '-') return kShort.find(word[1]) != std::string_view::npos;
  constexpr std::array<std::string_view, 14> kLong = {
      "--ib-dev", "--port", "--gid-index", "--qp",       "--size",     "--iters",  "--duration",
      "--tclass", "--mtu",  "--sl",        "--use_cuda", "--tx-depth", "--output", "--tos"};
  return std::find(kLong.begin(), kLong.end(), word) != kLong.end();
}

void read_option(std::string_view name, std::string_view value, PerftestCommand& command) {
  const auto number = parse_u64(value);
  if (name == "-d" || name == "--ib-dev") command.device = value;
  if ((name == "--tclass" || name == "-T" || name == "--tos") && number && *number < 256)
    command.tclass = static_cast<unsigned>(*number);
  constexpr std::uint64_t kLongest = 1'000'000;
  if ((name == "-D" || name == "--duration") && number && *number <= kLongest)
    command.duration = Duration::raw(static_cast<std::int64_t>(*number) * kPicosecondsPerSecond);
  if (name == "--report_gbits") command.unit = JsonUnit::kGigabits;
  if (name == "-b" || name == "--bidirectional") command.is_bidirectional = true;
}

}  // namespace

std::optional<PerftestCommand> perftest_command(const std::vector<std::string>& words) {
  const auto tool = std::find_if(words.begin(), words.end(),
                                 [](const std::string& word) { return is_tool(word); });
  if (tool == words.end()) return std::nullopt;
  PerftestCommand command;
  command.tool = tool->substr(tool->rfind('/') == std::string::npos ? 0 : tool->rfind('/') + 1);
  for (auto word = tool + 1; word != words.end(); ++word) {
    const std::string_view text = *word;
    if (!text.starts_with('-')) {
      command.is_client = true;  // the server's name
    } else if (const std::size_t equals = text.find('=');
               text.starts_with("--") && equals != std::string_view::npos) {
      read_option(text.substr(0, equals), text.substr(equals + 1), command);
    } else if (takes_value(text) && word + 1 != words.end()) {
      read_option(text, *++word, command);
    } else if (text.size() > 2 && text[1] != '-') {
      read_option(text.substr(0, 2), text.substr(2), command);  // "-D10"
    } else {
      read_option(text, "", command);
    }
  }
  return command;
}

}  // namespace weir::readers
