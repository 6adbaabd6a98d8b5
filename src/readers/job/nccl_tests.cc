#include "readers/job/nccl_tests.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

std::optional<double> decimal(std::string_view word, double most) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !(value >= 0) || value > most)
    return std::nullopt;
  return value;
}

/// Without the prefix of mpirun --tag-output or srun -l: "[1,0]<stdout>:", "3: ".
std::string_view untagged(std::string_view line) {
  if (line.starts_with('[')) {
    const std::size_t end = line.find(">:");
    if (end != std::string_view::npos && end < 32) return line.substr(end + 2);
  }
  const std::size_t digits = line.find_first_not_of("0123456789");
  if (digits != std::string_view::npos && digits > 0 && line[digits] == ':')
    return line.substr(digits + 1);
  return line;
}

/// "hosta:652:652 [0] init.cc:904 NCCL WARN Duplicate GPU detected : …", "hosta: Test NCCL failure
/// common.cu:221 '…'", " .. hosta pid 652: Test failure common.cu:1409".
std::string_view failure_of(std::string_view line) {
  constexpr std::string_view kWarn = " NCCL WARN ";
  if (const std::size_t at = line.find(kWarn); at != std::string_view::npos)
    return trim(line.substr(at + kWarn.size()));
  for (const std::string_view mark :
       {": Test NCCL failure ", ": Test CUDA failure ", ": Test failure "})
    if (const std::size_t at = line.find(mark); at != std::string_view::npos)
      return trim(line.substr(at + 2));
  return {};
}

constexpr double kMicrosecondsMax = 1e12;
constexpr double kBandwidthMax = 1e9;  // GB/s

class Reader {
 public:
  explicit Reader(CollectiveReport& report) : report_(report) {}

  void line(std::string_view text) {
    if (text.starts_with('#')) {
      comment(trim(text.substr(1)));
    } else if (const std::size_t at = text.find("Using network ");
               at != std::string_view::npos && report_.network.empty()) {
      const std::vector<std::string_view> words = words_of(text.substr(at));
      if (words.size() >= 3) report_.network = words[2];
    } else if (const std::string_view what = failure_of(text); !what.empty()) {
      report_.is_failed = report_.is_failed || text.find(" NCCL WARN ") == std::string_view::npos;
      if (report_.failure.empty()) report_.failure = what;
    } else if (time_at_) {
      row(words_of(text));
    }
  }

 private:
  void comment(std::string_view text) {
    const std::vector<std::string_view> words = words_of(text);
    if (words.empty()) return;
    const auto value = [&]() -> std::string_view {
      const auto colon = std::find(words.begin(), words.end(), ":");
      return colon == words.end() || colon + 1 == words.end() ? std::string_view() : *(colon + 1);
    };
    if (text.starts_with("Collective test ") && words.size() >= 4) {
      report_.test = words[3];
    } else if (words[0] == "Rank") {
      rank(words);
    } else if (words[0] == "size") {
      header(words);
    } else if (text.starts_with("Out of bounds values")) {
      if (const auto count = parse_u64(value())) report_.out_of_bounds = *count;
      report_.is_failed = report_.is_failed || words.back() == "FAILED";
    } else if (text.starts_with("Avg bus bandwidth")) {
      report_.average_bus_bandwidth = decimal(value(), kBandwidthMax);
      report_.is_failed = report_.is_failed || words.back() == "FAILED";
    }
  }

  /// "Rank  0 Group  0 Pid  40120 on      gpu01 device  0 …"
  void rank(const std::vector<std::string_view>& words) {
    ++report_.ranks;
    const auto on = std::find(words.begin(), words.end(), "on");
    if (on == words.end() || on + 1 == words.end()) return;
    const std::string host(*(on + 1));
    if (std::find(report_.hosts.begin(), report_.hosts.end(), host) == report_.hosts.end())
      report_.hosts.push_back(host);
  }

  void header(const std::vector<std::string_view>& words) {
    const auto at = [&](std::string_view name) -> std::optional<std::size_t> {
      const auto found = std::find(words.begin(), words.end(), name);
      if (found == words.end()) return std::nullopt;
      return static_cast<std::size_t>(found - words.begin());
    };
    time_at_ = at("time");
    if (!time_at_) time_at_ = at("cputime");  // with -C 1
    bus_at_ = at("busbw");
    wrong_at_ = at("#wrong");
  }

  void row(const std::vector<std::string_view>& words) {
    if (!bus_at_ || words.size() <= std::max(*time_at_, *bus_at_)) return;
    const auto size = parse_u64(words[0]);
    const auto time = decimal(words[*time_at_], kMicrosecondsMax);
    const auto bus = decimal(words[*bus_at_], kBandwidthMax);
    constexpr std::uint64_t kSizeMax = std::uint64_t{1} << 50U;
    if (!size || *size > kSizeMax || !time || !bus) return;
    constexpr double kPicoseconds = 1e6;
    CollectiveRow row{.size = Bytes::raw(static_cast<std::int64_t>(*size)),
                      .time = Duration::raw(static_cast<std::int64_t>(*time * kPicoseconds)),
                      .bus_bandwidth = *bus,
                      .wrong = std::nullopt};
    if (wrong_at_ && words.size() > *wrong_at_) {
      if (const auto wrong = parse_u64(words[*wrong_at_])) row.wrong = *wrong;
    }
    report_.rows.push_back(row);
  }

  CollectiveReport& report_;
  std::optional<std::size_t> time_at_;
  std::optional<std::size_t> bus_at_;
  std::optional<std::size_t> wrong_at_;
};

}  // namespace

CollectiveReport read_nccl_tests(std::string_view output) {
  CollectiveReport report;
  Reader reader(report);
  for (const std::string_view line : split(output, '\n'))
    reader.line(trim(untagged(trim(line))));
  return report;
}

}  // namespace weir::readers
