// A device per row, as loops over ibstat, ethtool or mlnx_qos print them through awk: state and
// rate, trust and PFC.
#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "readers/paste/rows/rows_tools.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

using RowWords = std::vector<std::string_view>;

std::string_view device_word(std::string_view word) {
  while (!word.empty() && (word.back() == ':' || word.back() == ','))
    word.remove_suffix(1);
  return is_rdma_name(word) || is_netdev_name(word) ? word : std::string_view();
}

/// "400", "400G", "400Gb/s", "400000Mb/s": a speed that links have, in Gbit/s.
std::optional<unsigned> link_speed(std::string_view word, bool& has_unit) {
  constexpr auto kSpeeds =
      std::to_array<std::uint64_t>({10, 25, 40, 50, 56, 100, 200, 400, 800, 1600});
  const std::size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
  auto value = parse_count(word.substr(0, digits));
  const std::string_view unit = word.substr(digits);
  if (!value) return std::nullopt;
  has_unit = !unit.empty();
  if (unit == "Mb/s" || unit == "Mbps") {
    if (*value % 1000 != 0) return std::nullopt;
    value = *value / 1000;
  } else if (has_unit && unit != "G" && !unit.starts_with("Gb")) {
    return std::nullopt;
  }
  const bool is_one = std::find(kSpeeds.begin(), kSpeeds.end(), *value) != kSpeeds.end();
  return is_one ? std::optional(static_cast<unsigned>(*value)) : std::nullopt;
}

/// Whether a port is up, as ibstat, ibdev2netdev and ip say it.
std::optional<bool> state_word(std::string_view word) {
  std::string plain = lower_case(word);
  std::erase_if(plain, [](char c) { return c == '(' || c == ')' || c == ',' || c == ';'; });
  if (plain == "active" || plain == "up" || plain == "linkup") return true;
  if (plain == "down" || plain == "disabled" || plain == "polling") return false;
  return std::nullopt;
}

struct DeviceColumns {
  std::size_t count = 0;
  std::size_t speed = 0;
  std::optional<std::size_t> state;
  std::optional<std::size_t> netdev;
};

/// Every row has in this column what `fits` accepts.
template <class Fits>
std::optional<std::size_t> column_of(const std::vector<RowWords>& rows, Fits fits) {
  for (std::size_t i = 1; i < rows.front().size(); ++i)
    if (std::all_of(rows.begin(), rows.end(), [&](const RowWords& row) { return fits(row[i]); }))
      return i;
  return std::nullopt;
}

bool asks_for_speed(const Mark& mark) {
  const std::string lower = lower_case(mark.command);
  return lower.find("rate") != std::string::npos || lower.find("speed") != std::string::npos;
}

std::optional<unsigned> speed_in(std::string_view word) {
  bool has_unit = false;
  return link_speed(word, has_unit);
}

/// The columns of rows of one shape, each of another device, with its speed. Three rows decide,
/// since one alone may be anything.
std::optional<DeviceColumns> device_columns(const PasteAt& at) {
  constexpr std::size_t kDeciding = 3;
  constexpr std::size_t kMost = 6;  // words
  std::vector<RowWords> rows;
  for (std::size_t n = 0; n < kDeciding; ++n) {
    RowWords words = words_of(at.line(n));
    const bool is_row =
        words.size() > 1 && words.size() <= kMost && !device_word(words[0]).empty() &&
        (rows.empty() || (words.size() == rows.front().size() && words[0] != rows.back()[0]));
    if (!is_row) return std::nullopt;
    rows.push_back(std::move(words));
  }
  const auto speed =
      column_of(rows, [](std::string_view word) { return speed_in(word).has_value(); });
  if (!speed) return std::nullopt;
  DeviceColumns out;
  out.count = rows.front().size();
  out.speed = *speed;
  out.state = column_of(rows, [](std::string_view word) { return state_word(word).has_value(); });
  out.netdev = column_of(rows, [](std::string_view word) { return is_netdev_name(word); });
  // A number without a unit may count something, and up to 100 be a share in percent.
  constexpr unsigned kNoShare = 200;
  bool has_unit = false;
  bool is_fast = false;
  for (const RowWords& row : rows)
    is_fast = link_speed(row[out.speed], has_unit).value_or(0) >= kNoShare || is_fast;
  const bool is_speed = out.state && is_fast;
  if (!has_unit && !is_speed && !asks_for_speed(at.mark)) return std::nullopt;
  return out;
}

/// A row that goes on with these columns.
bool fits_columns(const RowWords& row, const DeviceColumns& columns) {
  return row.size() == columns.count && !device_word(row[0]).empty() &&
         speed_in(row[columns.speed]) && (!columns.state || state_word(row[*columns.state])) &&
         (!columns.netdev || is_netdev_name(row[*columns.netdev]));
}

}  // namespace

bool begins_device_rows(const PasteAt& at) {
  return !device_word(at.line(0).substr(0, at.line(0).find_first_of(" \t"))).empty() &&
         device_columns(at).has_value();
}

std::size_t read_device_rows(const PasteAt& at, PasteSink& out) {
  const auto columns = device_columns(at);
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const RowWords row = words_of(at.line(taken));
    if (!fits_columns(row, *columns)) break;
    const std::string_view name = device_word(row[0]);
    if (columns->netdev && is_rdma_name(name))
      out.hosts().connect(out.host(), name, row[*columns->netdev]);
    evidence::Nic& nic = out.hosts().by_name(out.host(), name).nic;
    out.set(nic.link.speed,
            BitRate::raw(static_cast<std::int64_t>(*speed_in(row[columns->speed])) * 1'000'000'000),
            at.lines[taken]);
    if (columns->state && is_rdma_name(name))
      out.set(nic.rdma.active, *state_word(row[*columns->state]), at.lines[taken]);
  }
  out.detail = "state and rate";
  return taken;
}

void note_lanes(std::string_view device, std::string_view rate, const PasteLine& line,
                PasteSink& out) {
  const std::size_t open = rate.find('(');
  const std::size_t sign = rate.find("X ", open == std::string_view::npos ? 0 : open);
  const std::size_t close = rate.find(')', sign == std::string_view::npos ? 0 : sign);
  if (open == std::string_view::npos || sign == std::string_view::npos ||
      close == std::string_view::npos)
    return;
  const auto lanes = parse_u64(rate.substr(open + 1, sign - open - 1));
  if (!lanes || *lanes == 0 || *lanes > 16) return;
  out.paste().rows.lanes.push_back({out.host(), std::string(device), static_cast<unsigned>(*lanes),
                                    std::string(rate.substr(sign + 2, close - sign - 2)),
                                    out.cite(line)});
}

// ---- trust and PFC ----

namespace {

struct SettingRow {
  std::string_view host;
  std::string_view device;
  std::optional<evidence::TrustMode> trust;
  std::optional<PrioritySet> pfc;
  bool is_assigned = false;  // "trust=pcp"
};

/// "0 0 0 1 0 0 0 0", "0,0,0,1,0,0,0,0" or "00010000" from word `at` on.
std::optional<PrioritySet> pfc_bits(const RowWords& words, std::size_t at) {
  std::string bits;
  for (; at < words.size() && bits.size() < Priority::kLimit; ++at) {
    for (const char c : words[at]) {
      if (c == ',') continue;
      if (c != '0' && c != '1') return std::nullopt;
      bits += c;
    }
  }
  if (bits.size() != Priority::kLimit) return std::nullopt;
  PrioritySet out;
  for (unsigned p = 0; p < Priority::kLimit; ++p)
    if (bits[p] == '1') out.insert(Priority::of(p));
  return out;
}

std::optional<evidence::TrustMode> trust_word(std::string_view word) {
  while (!word.empty() && (word.back() == ',' || word.back() == ';'))
    word.remove_suffix(1);
  if (word == "dscp") return evidence::TrustMode::kDscp;
  return word == "pcp" ? std::optional(evidence::TrustMode::kPcp) : std::nullopt;
}

/// "rail6 trust=pcp enabled 0 0 0 1 0 0 0 0", "rail7 trust dscp  pfc 0 0 0 0 0 0 0 0  26->3",
/// "gpu03 rail2: trust=dscp pfc=0,0,0,1,0,0,0,0".
std::optional<SettingRow> setting_row(std::string_view text) {
  constexpr std::size_t kMost = 24;
  const RowWords words = words_of(text);
  if (words.size() < 2 || words.size() > kMost) return std::nullopt;
  SettingRow out;
  std::size_t at = 1;
  out.device = device_word(words[0]);
  if (out.device.empty() && is_netdev_name(device_word(words[1]))) {
    out.host = words[0].substr(0, words[0].find(':'));
    out.device = device_word(words[1]);
    at = 2;
  }
  if (out.device.empty()) return std::nullopt;
  for (; at < words.size(); ++at) {
    const std::size_t sign = words[at].find_first_of("=:");
    const std::string_view key = words[at].substr(0, sign);
    const bool is_pair = sign != std::string_view::npos && sign + 1 < words[at].size();
    const std::string_view value = is_pair                 ? words[at].substr(sign + 1)
                                   : at + 1 < words.size() ? words[at + 1]
                                                           : std::string_view();
    if (key == "trust" || key == "state") {
      if (const auto trust = trust_word(value)) {
        out.trust = trust;
        out.is_assigned = out.is_assigned || is_pair;
      }
    } else if (key == "pfc" || key == "enabled") {
      out.pfc = pfc_bits(is_pair ? RowWords{value} : words, is_pair ? 0 : at + 1);
    }
  }
  const bool is_said = (out.trust && out.pfc) || (out.trust && out.is_assigned);
  return is_said ? std::optional(out) : std::nullopt;
}

/// "rail2 pcp" between rows of its kind: alone it may be words.
std::optional<SettingRow> bare_row(std::string_view text) {
  const RowWords words = words_of(text);
  if (words.size() != 2) return std::nullopt;
  SettingRow out;
  out.device = device_word(words[0]);
  out.trust = trust_word(words[1]);
  return out.device.empty() || !out.trust ? std::nullopt : std::optional(out);
}
bool begins_bare_rows(const PasteAt& at) {
  constexpr std::size_t kFewest = 3;
  std::set<std::string_view> devices;
  for (std::size_t n = 0; n < kFewest; ++n)
    if (const auto row = bare_row(at.line(n))) devices.insert(row->device);
  return devices.size() == kFewest;
}

}  // namespace

bool begins_setting_rows(const PasteAt& at) {
  return setting_row(at.line(0)).has_value() || begins_bare_rows(at);
}

/// A device that comes again is a later reading: the last one holds.
std::size_t read_setting_rows(const PasteAt& at, PasteSink& out) {
  const std::string before = out.host();
  const bool are_bare = !setting_row(at.line(0));
  std::size_t taken = 0;
  for (; taken < at.lines.size(); ++taken) {
    const auto row = are_bare ? bare_row(at.line(taken)) : setting_row(at.line(taken));
    if (!row) break;
    if (!row->host.empty()) out.use_host(row->host);
    evidence::Nic& nic = out.hosts().by_name(out.host(), row->device).nic;
    if (row->trust) out.set(nic.qos.trust, *row->trust, at.lines[taken]);
    if (row->pfc) out.set(nic.qos.pfc, *row->pfc, at.lines[taken]);
    if (!row->host.empty()) out.use_host(before);
  }
  return taken;
}

}  // namespace weir::readers
