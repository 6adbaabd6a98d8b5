#include "host/linux/text.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "base/text.h"

namespace weir::host {

using evidence::Missing;

namespace {

constexpr std::size_t kListLimit = std::size_t{1} << 16U;

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

std::vector<std::string_view> words_in(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < line.size();) {
    while (at < line.size() && is_blank(line[at]))
      ++at;
    const std::size_t start = at;
    while (at < line.size() && !is_blank(line[at]))
      ++at;
    if (at > start) words.push_back(line.substr(start, at - start));
  }
  return words;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (const std::string_view line : split(text, '\n')) {
    if (!trim(line).empty()) lines.push_back(trim(line));
  }
  return lines;
}

Parsed<Bytes> parse_bytes(std::string_view text) {
  const auto value = parse_u64(text);
  if (!value || *value > static_cast<std::uint64_t>(Bytes::max().raw())) return Missing::kError;
  return Bytes::raw(static_cast<std::int64_t>(*value));
}

/// "2.5" of a unit that is a thousand steps, to steps; no sign, at most three decimals.
std::optional<std::uint64_t> parse_thousandths(std::string_view text) {
  const std::size_t dot = text.find('.');
  const auto whole = parse_u64(text.substr(0, dot));
  if (!whole || *whole > 1'000'000'000) return std::nullopt;
  std::uint64_t fraction = 0;
  if (dot != std::string_view::npos) {
    std::string digits(text.substr(dot + 1));
    if (digits.empty() || digits.size() > 3) return std::nullopt;
    digits.resize(3, '0');
    const auto value = parse_u64(digits);
    if (!value) return std::nullopt;
    fraction = *value;
  }
  return *whole * 1000 + fraction;
}

Parsed<BitRate> rate_from(std::uint64_t value, std::int64_t unit) {
  const auto most = static_cast<std::uint64_t>(BitRate::max().raw() / unit);
  if (value > most) return Missing::kError;
  return BitRate::raw(static_cast<std::int64_t>(value) * unit);
}

}  // namespace

Parsed<std::uint64_t> parse_number(std::string_view text) {
  text = trim(text);
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (hexadecimal) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return Missing::kError;
  return value;
}

Parsed<unsigned> parse_unsigned(std::string_view text) {
  if (trim(text) == "-1") return Missing::kUnsupported;
  const auto value = parse_number(text);
  if (!value) return value.why();
  if (*value > std::numeric_limits<unsigned>::max()) return Missing::kError;
  return static_cast<unsigned>(*value);
}

Parsed<bool> parse_flag(std::string_view text) {
  if (trim(text) == "0") return false;
  if (trim(text) == "1") return true;
  return Missing::kError;
}

Parsed<std::string> parse_word(std::string_view text) {
  if (trim(text).empty()) return Missing::kUnsupported;
  return std::string(trim(text));
}

Parsed<bool> parse_port_active(std::string_view text) {
  const auto pieces = split(trim(text), ':');
  if (pieces.size() != 2 || trim(pieces[1]).empty()) return Missing::kError;
  if (!parse_u64(trim(pieces[0]))) return Missing::kError;
  return trim(pieces[1]) == "ACTIVE";
}

Parsed<evidence::LinkLayer> parse_link_layer(std::string_view text) {
  if (trim(text) == "Ethernet") return evidence::LinkLayer::kEthernet;
  if (trim(text) == "InfiniBand") return evidence::LinkLayer::kInfiniband;
  return trim(text) == "Unknown" ? Missing::kUnsupported : Missing::kError;
}

Parsed<evidence::GidType> parse_gid_type(std::string_view text) {
  if (trim(text) == "RoCE v2") return evidence::GidType::kRoceV2;
  if (trim(text) == "IB/RoCE v1") return evidence::GidType::kRoceV1;
  return Missing::kError;
}

Parsed<evidence::Duplex> parse_duplex(std::string_view text) {
  if (trim(text) == "full") return evidence::Duplex::kFull;
  if (trim(text) == "half") return evidence::Duplex::kHalf;
  return trim(text) == "unknown" ? Missing::kUnsupported : Missing::kError;
}

Parsed<BitRate> parse_speed(std::string_view text) {
  if (trim(text) == "-1") return Missing::kUnsupported;
  const auto megabits = parse_number(text);
  if (!megabits) return megabits.why();
  if (*megabits == std::numeric_limits<std::uint32_t>::max() || *megabits == 0)
    return Missing::kUnsupported;
  return rate_from(*megabits, 1'000'000);
}

Parsed<BitRate> parse_port_rate(std::string_view text) {
  const auto words = words_in(trim(text));
  if (words.size() < 2 || words[1] != "Gb/sec") return Missing::kError;
  const auto megabits = parse_thousandths(words[0]);
  if (!megabits.has_value()) return Missing::kError;
  return rate_from(*megabits, 1'000'000);
}

Parsed<unsigned> parse_pci_speed(std::string_view text) {
  const auto words = words_in(trim(text));
  if (words.empty()) return Missing::kError;
  if (words[0] == "Unknown") return Missing::kUnsupported;
  if (words.size() < 2 || words[1] != "GT/s") return Missing::kError;
  const auto mega = parse_thousandths(words[0]);
  if (!mega.has_value() || *mega > std::numeric_limits<unsigned>::max()) return Missing::kError;
  return static_cast<unsigned>(*mega);
}

Parsed<std::vector<unsigned>> parse_cpu_list(std::string_view text) {
  std::vector<unsigned> out;
  if (trim(text).empty()) return out;
  for (const std::string_view range : split(trim(text), ',')) {
    const std::size_t dash = range.find('-');
    const auto first = parse_u64(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_u64(range.substr(dash + 1));
    if (!first || !last || *last < *first || *last >= kListLimit) return Missing::kError;
    if (out.size() + (*last - *first) >= kListLimit) return Missing::kError;
    for (std::uint64_t n = *first; n <= *last; ++n)
      out.push_back(static_cast<unsigned>(n));
  }
  return out;
}

Parsed<ForcedTrafficClass> parse_traffic_class(std::string_view text) {
  constexpr std::string_view kGlobal = "Global tclass=";
  ForcedTrafficClass out;
  for (const std::string_view line : lines_of(text)) {
    std::string_view number = line;
    if (line.starts_with(kGlobal)) {
      number = line.substr(kGlobal.size());
    } else if (line.find("tclass=") != std::string_view::npos) {
      out.rules.emplace_back(line);
      continue;
    }
    const auto value = parse_u64(number);
    if (!value || out.global.has_value()) return Missing::kError;
    out.global = TosByte::make(*value);
    if (!out.global.has_value()) return Missing::kError;
  }
  return out;
}

Parsed<BufferTable> parse_buffer_table(std::string_view text) {
  constexpr std::string_view kTotal = "Port buffer size =";
  BufferTable table;
  std::array<bool, 8> seen{};
  bool has_total = false;
  for (const std::string_view line : lines_of(text)) {
    if (line.starts_with(kTotal)) {
      const auto total = parse_bytes(trim(line.substr(kTotal.size())));
      if (!total) return total.why();
      table.total = *total;
      has_total = true;
      continue;
    }
    if (line.starts_with("Spare") || line.starts_with("Buffer")) continue;
    const auto words = words_in(line);
    if (words.size() != 4) return Missing::kError;
    const auto index = parse_u64(words[0]);
    const auto size = parse_bytes(words[1]);
    const auto xoff = parse_bytes(words[2]);
    const auto xon = parse_bytes(words[3]);
    if (!index || *index >= seen.size() || !size || !xoff || !xon) return Missing::kError;
    table.size.at(*index) = *size;
    table.xoff.at(*index) = *xoff;
    table.xon.at(*index) = *xon;
    seen.at(*index) = true;
  }
  if (!has_total || std::find(seen.begin(), seen.end(), false) != seen.end())
    return Missing::kError;
  return table;
}

Parsed<std::array<unsigned, 8>> parse_priority_to_buffer(std::string_view text) {
  std::array<unsigned, 8> out{};
  std::array<bool, 8> seen{};
  for (const std::string_view line : lines_of(text)) {
    if (line.starts_with("Priority")) continue;
    const auto words = words_in(line);
    if (words.size() != 2) return Missing::kError;
    const auto priority = parse_u64(words[0]);
    const auto buffer = parse_u64(words[1]);
    if (!priority || *priority >= seen.size() || !buffer || *buffer >= 8) return Missing::kError;
    out.at(*priority) = static_cast<unsigned>(*buffer);
    seen.at(*priority) = true;
  }
  if (std::find(seen.begin(), seen.end(), false) != seen.end()) return Missing::kError;
  return out;
}

Parsed<std::array<BitRate, 8>> parse_max_rates(std::string_view text) {
  const auto words = words_in(trim(text));
  std::array<BitRate, 8> out{};
  if (words.size() != out.size()) return Missing::kError;
  for (std::size_t tc = 0; tc < out.size(); ++tc) {
    const auto kilobits = parse_u64(words[tc]);
    if (!kilobits) return Missing::kError;
    const auto rate = rate_from(*kilobits, 1000);
    if (!rate) return rate.why();
    out.at(tc) = *rate;
  }
  return out;
}

Parsed<evidence::TrustMode> parse_trust(std::string_view text) {
  if (trim(text) == "dscp") return evidence::TrustMode::kDscp;
  if (trim(text) == "pcp") return evidence::TrustMode::kPcp;
  if (trim(text) == "both") return evidence::TrustMode::kBoth;
  return Missing::kError;
}

Parsed<std::optional<Bytes>> parse_memlock(std::string_view text) {
  constexpr std::string_view kName = "Max locked memory";
  for (const std::string_view line : split(text, '\n')) {
    if (!line.starts_with(kName)) continue;
    const auto words = words_in(line.substr(kName.size()));
    if (words.empty()) return Missing::kError;
    if (words[0] == "unlimited") return std::optional<Bytes>();
    const auto bytes = parse_bytes(words[0]);
    if (!bytes) return bytes.why();
    return std::optional<Bytes>(*bytes);
  }
  return Missing::kError;
}

std::optional<std::string> value_of_key(std::string_view text, std::string_view key) {
  for (const std::string_view line : lines_of(text)) {
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == '=')
      return std::string(line.substr(key.size() + 1));
  }
  return std::nullopt;
}

Parsed<std::string> parse_os_release(std::string_view text) {
  auto name = value_of_key(text, "PRETTY_NAME");
  if (!name.has_value()) return Missing::kUnsupported;
  if (name->size() >= 2 && name->front() == '"' && name->back() == '"')
    name = name->substr(1, name->size() - 2);
  return *name;
}

Parsed<std::vector<std::string>> parse_modules(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string_view line : lines_of(text))
    names.emplace_back(words_in(line).front());
  std::sort(names.begin(), names.end());
  return names;
}

Parsed<std::string> parse_colon_value(std::string_view text, std::string_view key) {
  for (const std::string_view line : lines_of(text)) {
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && trim(line.substr(0, colon)) == key)
      return parse_word(line.substr(colon + 1));
  }
  return Missing::kUnsupported;
}

Parsed<Bytes> roce_mtu_within(Bytes netdev_mtu) {
  constexpr std::int64_t kHeaders = 40 + 8 + 12 + 4 + 28 + 4;  // GRH UDP BTH XRC AtomicETH ICRC
  for (const std::int64_t mtu : {4096, 2048, 1024, 512, 256}) {
    if (netdev_mtu.raw() - kHeaders >= mtu) return Bytes::raw(mtu);
  }
  return Missing::kUnsupported;
}

std::optional<std::string> ipv4_of_gid(std::string_view gid) {
  constexpr std::string_view kPrefix = "0000:0000:0000:0000:0000:ffff:";
  if (!gid.starts_with(kPrefix)) return std::nullopt;
  const auto pieces = split(gid.substr(kPrefix.size()), ':');
  if (pieces.size() != 2) return std::nullopt;
  unsigned address = 0;
  for (const std::string_view piece : pieces) {
    const auto part = parse_number("0x" + std::string(piece));
    if (piece.size() != 4 || !part) return std::nullopt;
    address = address << 16U | static_cast<unsigned>(*part);
  }
  return fmt::format("{}.{}.{}.{}", address >> 24U, address >> 16U & 255U, address >> 8U & 255U,
                     address & 255U);
}

Parsed<std::vector<evidence::NamedText>> parse_nccl_conf(std::string_view text) {
  std::vector<evidence::NamedText> out;
  for (const std::string_view whole : split(text, '\n')) {
    const std::string_view line = trim(whole.substr(0, whole.find('#')));
    if (line.empty()) continue;
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || equals == 0) return Missing::kError;
    const std::string_view name = trim(line.substr(0, equals));
    const std::string_view value = trim(line.substr(equals + 1));
    // The file may hold anything; what is not NCCL's is none of our business, and may be a secret.
    if (name.starts_with("NCCL_") || name.starts_with("UCX_"))
      out.push_back({std::string(name), std::string(value)});
  }
  return out;
}

}  // namespace weir::host
