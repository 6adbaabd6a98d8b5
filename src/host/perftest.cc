#include "host/perftest.h"

#include <charconv>

#include "base/text.h"

namespace weir::host {
namespace {

constexpr std::int64_t kIterationsMax = 1'000'000'000'000;   // a row beyond is no row
constexpr std::int64_t kMessageMax = std::int64_t{1} << 31;  // perftest's own limit

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  constexpr std::string_view kBlank = " \t\r";
  for (std::size_t at = line.find_first_not_of(kBlank); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kBlank, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlank, end);
  }
  return words;
}

std::optional<double> decimal(std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !(value >= 0))
    return std::nullopt;
  return value;
}

/// Bits a second of one unit of the header; 0 where it names none.
double unit_of(std::string_view header) {
  constexpr double kMebibyteBits = 8.0 * 1024 * 1024;
  if (header.find("[Gb/sec]") != std::string_view::npos) return 1e9;
  if (header.find("[MiB/sec]") != std::string_view::npos ||
      header.find("[MB/sec]") != std::string_view::npos)
    return kMebibyteBits;
  return 0;
}

/// #bytes #iterations BW-peak BW-average MsgRate, and perhaps more.
std::optional<BandwidthRow> row_of(std::string_view line, double unit) {
  const std::vector<std::string_view> words = words_of(line);
  if (words.size() < 5) return std::nullopt;
  const auto bytes = parse_u64(words[0]);
  const auto iterations = parse_u64(words[1]);
  const auto average = decimal(words[3]);
  constexpr double kBitsMax = 1e15;
  if (!bytes || !iterations || !average || *bytes > kMessageMax || *iterations > kIterationsMax ||
      *average * unit > kBitsMax)
    return std::nullopt;
  BandwidthRow row{Bytes::raw(static_cast<std::int64_t>(*bytes)), *iterations, std::nullopt};
  if (row.message.raw() > 0 &&
      static_cast<std::int64_t>(row.iterations) > Bytes::max().raw() / row.message.raw())
    return std::nullopt;
  if (unit > 0) row.average = BitRate::raw(static_cast<std::int64_t>(*average * unit));
  return row;
}

}  // namespace

std::vector<BandwidthRow> bandwidth_rows(std::string_view output) {
  std::vector<BandwidthRow> rows;
  bool is_under_header = false;
  double unit = 0;
  for (const std::string_view line : split(output, '\n')) {
    const std::string_view text = trim(line);
    if (text.starts_with("#bytes")) {
      is_under_header = text.find("BW average") != std::string_view::npos;
      unit = unit_of(text);
    } else if (text.starts_with("---")) {
      is_under_header = false;
    } else if (is_under_header) {
      if (const auto row = row_of(text, unit)) rows.push_back(*row);
    }
  }
  return rows;
}

}  // namespace weir::host
