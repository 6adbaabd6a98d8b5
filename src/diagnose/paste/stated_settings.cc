// Settings that a text states: limits, marking, GIDs, addresses, timers, and pairs of hosts.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "diagnose/paste/stated_parts.h"
#include "finding/catalog.h"
#include "readers/paste/text_lines.h"
#include "readers/paste/words/hearsay.h"

namespace weir::diagnose {

using readers::Word;
using readers::WordKind;

// ---- what both halves use ----

bool StatedLine::has(std::string_view word) const {
  return std::any_of(statement.words.begin(), statement.words.end(),
                     [&](const Word& known) { return known.text == word; });
}

bool StatedLine::mentions(std::string_view piece) const {
  return std::any_of(statement.words.begin(), statement.words.end(), [&](const Word& known) {
    return known.text.find(piece) != std::string::npos;
  });
}

namespace {

/// "64k", "3/4", "31 %", "12 hosts": not a value of what is named before.
bool counts_something(std::string_view rest) {
  constexpr auto kUnits = std::to_array<std::string_view>(
      {"host",   "port",    "node", "leaf",  "leaves", "switch", "link", "nic",
       "gpu",    "rank",    "rail", "day",   "week",   "month",  "year", "hour",
       "minute", "percent", "per ", "times", "gb/s",   "gbit",   "of "});
  if (!rest.empty() && (std::isalnum(static_cast<unsigned char>(rest.front())) != 0 ||
                        rest.front() == '/' || rest.front() == '_'))
    return true;
  rest = trim(rest);
  return rest.starts_with('%') ||
         std::any_of(kUnits.begin(), kUnits.end(),
                     [&](std::string_view unit) { return rest.starts_with(unit); });
}

/// The number at the beginning, with commas between thousands, taken off.
std::optional<double> take_number(std::string_view& text) {
  std::size_t end = 0;
  std::string digits;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    const bool is_between = (c == ',' || c == '.') && end + 1 < text.size() &&
                            std::isdigit(static_cast<unsigned char>(text[end + 1])) != 0;
    if (!is_digit && !is_between) break;
    if (c != ',') digits += c;
  }
  const auto value = readers::parse_decimal(digits);
  if (value) text.remove_prefix(end);
  return value;
}

}  // namespace

std::optional<Shown> StatedLine::shown_after(std::size_t i) const {
  constexpr std::string_view kBetween = " \t:=\"'";
  std::string_view rest = std::string_view(lower).substr(statement.words[i].end);
  const std::size_t begin = rest.find_first_not_of(kBetween);
  if (begin == std::string_view::npos || begin == 0) return std::nullopt;
  const std::string_view between = rest.substr(0, begin);
  Shown out;
  out.is_assigned = between.find_first_of(":=") != std::string_view::npos;
  if (is_prose && between != "=") return std::nullopt;
  rest.remove_prefix(begin);
  out.is_growth = rest.starts_with('+');
  if (out.is_growth) rest.remove_prefix(1);
  const auto first = take_number(rest);
  if (!first) return std::nullopt;
  out.value = *first;
  if (const std::string_view behind = trim(rest);
      behind.starts_with("->") || behind.starts_with("=>")) {
    std::string_view later = trim(behind.substr(2));
    if (const auto last = take_number(later)) {
      if (counts_something(later)) return std::nullopt;
      out.value = *last - *first;
      out.is_growth = true;
      return out;
    }
  }
  if (counts_something(rest)) return std::nullopt;
  return out;
}

Lines stated_lines(std::span<const readers::Cited> cited) {
  // Lines that are left out end a paragraph.
  std::vector<std::string_view> texts;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < cited.size(); ++i) {
    const bool goes_on =
        i > 0 && cited[i].file == cited[i - 1].file && cited[i].line == cited[i - 1].line + 1;
    if (i > 0 && !goes_on) texts.emplace_back();
    places.push_back(texts.size());
    texts.emplace_back(cited[i].text);
  }
  const std::vector<std::string> reported = readers::without_hearsay(texts);
  Lines out;
  for (std::size_t i = 0; i < cited.size(); ++i) {
    if (readers::statements_of(cited[i].text, 1).empty()) continue;
    const std::string& text = reported[places[i]];
    auto statements = readers::statements_of(text, 1);
    StatedLine line;
    line.at = &cited[i];
    line.lower = readers::lower_case(text);
    if (!statements.empty()) line.statement = std::move(statements.front());
    line.is_prose = readers::is_prose(text);
    line.whole = readers::lower_case(cited[i].text);
    out.push_back(std::move(line));
  }
  return out;
}

std::optional<double> bundle_rate(std::string_view word) {
  const auto x = word.find('x');
  if (x == std::string_view::npos || x == 0) return std::nullopt;
  const auto times = parse_u64(word.substr(0, x));
  const auto end = word.find_first_not_of("0123456789", x + 1);
  if (!times || end == std::string_view::npos || word[end] != 'g') return std::nullopt;
  const auto rate = parse_u64(word.substr(x + 1, end - x - 1));
  if (!rate) return std::nullopt;
  return static_cast<double>(*times) * static_cast<double>(*rate);
}

void Stated::add(std::string_view id, std::string verdict, const std::vector<std::size_t>& at) {
  auto known = std::find_if(findings_.begin(), findings_.end(),
                            [&](const finding::Finding& finding) { return finding.id == id; });
  if (known == findings_.end()) {
    findings_.push_back(finding::make_finding(id, std::move(verdict)));
    known = std::prev(findings_.end());
    known->confidence = finding::Confidence::kMedium;
  }
  for (const std::size_t index : at) {
    finding::EvidenceLine line;
    line.source = fmt::format("{}:{}", lines_[index].at->file, lines_[index].at->line);
    line.line = lines_[index].at->text;
    if (std::find(known->evidence.begin(), known->evidence.end(), line) == known->evidence.end())
      known->evidence.push_back(std::move(line));
  }
}

void Stated::note(std::string_view id, std::string verdict, const std::vector<std::size_t>& at) {
  const std::size_t before = findings_.size();
  add(id, std::move(verdict), at);
  if (findings_.size() == before) return;
  findings_.back().severity = finding::Severity::kInfo;
  findings_.back().confidence = finding::Confidence::kLow;
}

namespace {

/// 0 where it is none.
unsigned hex_number(std::string_view text) {
  constexpr std::size_t kDigits = 4;
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && text.size() <= kDigits ? value : 0;
}

// ---- limits ----

/// A size in KiB or MiB: "64", "64k", "8192kb".
bool is_small_limit(const Word& word) {
  constexpr double kLeast = 16;          // below it a number is something else
  constexpr double kEnough = 1'000'000;  // KiB: a gigabyte
  if (word.kind == WordKind::kNumber) return *word.value >= kLeast && *word.value <= kEnough;
  const auto end = word.text.find_first_not_of("0123456789");
  if (end == 0 || end == std::string::npos) return false;
  const std::string_view unit = std::string_view(word.text).substr(end);
  return unit == "k" || unit == "kb" || unit == "kib" || unit == "m" || unit == "mb" ||
         unit == "mib";
}

/// "ulimit -l 64 in the job", "max locked memory in the pod is 64 kbytes".
void find_limits(const Lines& lines, Stated& out) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const StatedLine& line = lines[i];
    const bool is_limit = line.mentions("memlock") || line.contains("ulimit -l") ||
                          line.contains("locked memory") || line.contains("locked-memory");
    if (!is_limit || line.is_prose || line.has("unlimited")) continue;
    int named_at = -1;
    for (const Word& word : line.statement.words) {
      const bool is_name = word.text == "l" || word.text == "memory" ||
                           word.text.find("memlock") != std::string::npos;
      if (is_name && named_at < 0) named_at = word.at;
      if (named_at < 0 || word.at <= named_at || !is_small_limit(word)) continue;
      out.add("limits.memlock_low", "The limit on locked memory is low.", {i});
      break;
    }
  }
}

// ---- marking ----

/// Code points that networks name and that are typed by mistake where the whole byte is wanted
/// (RFC 2474, RFC 3246, RFC 4594): CS3, AF31, AF41, EF, CS6. Their ECN bits would be odd ones.
bool is_usual_dscp(double value) {
  for (const int dscp : {24, 26, 34, 46, 48})
    if (value == dscp) return true;
  return false;
}

/// "cma_roce_tos -d mlx5_0 -t 26": the argument of the command.
std::optional<double> option_t(std::string_view lower) {
  constexpr std::string_view kOption = " -t ";
  const std::size_t command = lower.find("cma_roce_tos");
  const std::size_t at = command == std::string_view::npos ? command : lower.find(kOption, command);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = lower.substr(at + kOption.size());
  return take_number(rest);
}

void find_marking(const Lines& lines, Stated& out) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& words = lines[i].statement.words;
    std::optional<double> value = option_t(lines[i].lower);
    for (std::size_t j = 0; j < words.size() && !value; ++j) {
      const std::string& name = words[j].text;
      const bool is_byte = name.ends_with("_tos") || name == "tclass" || name == "traffic_class" ||
                           name.ends_with("_ib_tc") || name.ends_with("_traffic_class");
      const auto shown = is_byte ? lines[i].shown_after(j) : std::nullopt;
      if (shown && shown->is_assigned) value = shown->value;
    }
    if (value && is_usual_dscp(*value))
      out.add("dscp.tos_confusion",
              fmt::format("A TOS byte of {}: the packets carry DSCP {}.", *value,
                          std::floor(*value / 4)),
              {i});
  }
}

/// "26": "1" where only 3 and 4 are lossless.
void find_switch_map(const Lines& lines, Stated& out) {
  constexpr double kRdmaDscp = 26;
  std::set<double> lossless;
  std::optional<double> rdma_class;
  std::size_t where = 0;
  bool is_map = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& words = lines[i].statement.words;
    is_map = is_map || lines[i].mentions("dscp_to_tc") || lines[i].mentions("dscp-map");
    for (std::size_t j = 0; j < words.size(); ++j) {
      const bool is_class = words[j].kind == WordKind::kNumber && *words[j].value < 8;
      if (is_class && lines[i].mentions("lossless")) lossless.insert(*words[j].value);
      const bool is_entry = !lines[i].is_prose && words[j].value == kRdmaDscp &&
                            j + 1 < words.size() && words[j + 1].value && *words[j + 1].value < 8 &&
                            (lines[i].contains("26\": \"") || lines[i].contains("26:"));
      if (!is_entry) continue;
      rdma_class = words[j + 1].value;
      where = i;
    }
  }
  if (is_map && rdma_class && !lossless.empty() && !lossless.contains(*rdma_class))
    out.add("dscp.unmapped_hop",
            fmt::format("The switch maps DSCP 26 to class {}, which is not lossless.", *rdma_class),
            {where});
}

// ---- GIDs and addresses ----

void find_gids(const Lines& lines, Stated& out) {
  const bool is_gid_text = std::any_of(lines.begin(), lines.end(),
                                       [](const StatedLine& line) { return line.mentions("gid"); });
  for (std::size_t i = 0; is_gid_text && i < lines.size(); ++i) {
    if (lines[i].has("or")) continue;
    const auto& words = lines[i].statement.words;
    std::map<std::string, double> indexes;  // "index 3 on mlx5_0, index 5 on mlx5_1"
    bool is_link_local = false;
    for (std::size_t j = 0; j < words.size(); ++j) {
      is_link_local = is_link_local ||
                      (words[j].kind == WordKind::kAddress && words[j].text.starts_with("fe80"));
      const bool is_place = words[j].text == "index" && j + 3 < words.size() &&
                            words[j + 1].kind == WordKind::kNumber && words[j + 2].text == "on" &&
                            words[j + 3].kind == WordKind::kDevice;
      if (is_place) indexes.emplace(words[j + 3].text, *words[j + 1].value);
    }
    const bool is_used = lines[i].has("chosen") || lines[i].has("dgid") || lines[i].has("sgid") ||
                         lines[i].has("using") || lines[i].has("picked") ||
                         lines[i].contains("local gid fe80") ||
                         lines[i].contains("remote gid fe80");
    if (is_used && is_link_local && !lines[i].is_prose)
      out.add("gid.not_routable", "The GID in use is link-local.", {i});
    if (indexes.size() == 2 && indexes.begin()->second != indexes.rbegin()->second)
      out.note("gid.index_differs",
               fmt::format("GID index {} on one device, {} on another.", indexes.begin()->second,
                           indexes.rbegin()->second),
               {i});
  }
}

/// The IPv4 address in "::ffff:26ff:1c13" or "::ffff:10.0.1.1"; empty where there is none.
std::string mapped_address(std::string_view gid) {
  const auto at = gid.rfind("ffff:");
  if (at == std::string_view::npos) return "";
  const std::string_view tail = gid.substr(at + 5);
  if (tail.find('.') != std::string_view::npos) return std::string(tail);
  const auto colon = tail.find(':');
  if (colon == std::string_view::npos) return "";
  const unsigned high = hex_number(tail.substr(0, colon));
  const unsigned low = hex_number(tail.substr(colon + 1));
  return fmt::format("{}.{}.{}.{}", high >> 8, high & 255, low >> 8, low & 255);
}

/// A container whose own addresses do not include the GID's.
void find_container_gid(const Lines& lines, Stated& out) {
  std::set<std::string> own;
  std::map<std::string, std::size_t> of_gids;
  std::size_t own_line = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool is_inside =
        lines[i].has("container") || lines[i].has("pod") || lines[i].has("docker");
    for (const Word& word : lines[i].statement.words) {
      if (word.kind != WordKind::kAddress) continue;
      if (word.text.find(':') != std::string::npos) {
        if (const auto address = mapped_address(word.text); !address.empty())
          of_gids.emplace(address, i);
      } else if (is_inside && lines[i].contains("inet ")) {
        own.insert(word.text);
        own_line = i;
      }
    }
  }
  for (const auto& [address, line] : of_gids)
    if (!own.empty() && !own.contains(address))
      out.add("container.gid_outside_netns",
              fmt::format("The GID's address {} is not one of the container's.", address),
              {line, own_line});
}

/// The network of "10.1.0.11/16"; nullopt without a length, where nobody knows.
std::optional<std::uint32_t> network_behind(const StatedLine& line, const Word& word) {
  constexpr unsigned kBits = 32;
  std::string_view rest = std::string_view(line.lower).substr(word.end);
  if (!rest.starts_with('/')) return std::nullopt;
  rest.remove_prefix(1);
  const auto length = take_number(rest);
  if (!length || *length < 1 || *length > kBits) return std::nullopt;
  std::uint32_t address = 0;
  for (const std::string_view part : split(word.text, '.')) {
    const auto value = parse_u64(part);
    if (!value || *value > 255) return std::nullopt;
    address = (address << 8U) | static_cast<std::uint32_t>(*value);
  }
  const auto free_bits = kBits - static_cast<unsigned>(*length);
  return free_bits == 0 ? address : (address >> free_bits) << free_bits;
}

/// Addresses of several NICs in one line: "eth2 10.1.0.11/16, eth3 10.1.0.12/16".
void find_subnets(const Lines& lines, Stated& out) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const StatedLine& line = lines[i];
    std::set<std::uint32_t> networks;
    std::set<std::string> devices;
    std::size_t addresses = 0;
    for (const Word& word : line.statement.words) {
      if (word.kind == WordKind::kDevice) devices.insert(word.text);
      if (word.kind != WordKind::kAddress || word.text.find(':') != std::string::npos) continue;
      const auto network = network_behind(line, word);
      if (!network) continue;
      ++addresses;
      networks.insert(*network);
    }
    if (!line.is_prose && addresses >= 2 && networks.size() == 1 && devices.size() == addresses)
      out.add("rail.same_subnet", "Several NICs of a host are in one subnet.", {i});
  }
}

// ---- switches that are in the wrong position ----

/// States as tools print them; a sentence with the same words is none.
void find_states(const Lines& lines, Stated& out) {
  const bool is_roce = std::any_of(lines.begin(), lines.end(), [](const StatedLine& line) {
    return line.whole.find("ib_tc") != std::string::npos ||
           line.whole.find("gid_index") != std::string::npos ||
           line.whole.find("traffic_class") != std::string::npos;
  });
  const auto says = [](const StatedLine& line, std::initializer_list<std::string_view> forms) {
    return std::any_of(forms.begin(), forms.end(),
                       [&](std::string_view form) { return line.contains(form); });
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const StatedLine& line = lines[i];
    if (line.contains("ethtool -a") && line.contains("rx on") && line.contains("tx on"))
      out.add("pause.global_on", "802.3x pause is on in both directions.", {i});
    if (line.is_prose) continue;
    if (is_roce && says(line, {"link_layer: infiniband", "link_layer infiniband",
                               "link layer: infiniband", "link_layer:\t\tinfiniband"}))
      out.add("link.infiniband", "The port is InfiniBand; RoCE settings do nothing there.", {i});
    if (says(line,
             {"willing = yes", "willing: yes", "willing=1", "willing = true", "willing: true"}))
      out.add("dcbx.willing", "The port is willing: its neighbour sets its QoS.", {i});
    if (says(line,
             {"wred_green_enable: false", "wred_green_enable=false", "wred_green_enable false",
              "wred_green_enable\": \"false", "wred_green_enable' 'false"}))
      out.add("ecn.off_on_lossless",
              "The WRED profile does not mark green packets (wred_green_enable false).", {i});
  }
}

// ---- pairs ----

struct HostPair {
  std::string first;
  std::string second;
  double rate = 0;
  std::size_t line = 0;
};

/// "gpu1,gpu2: 49.4". The second name is often shortened to its number, so numbers are compared.
std::vector<HostPair> pairs_in(const Lines& lines) {
  const auto key = [](std::string_view name) {
    const auto end = name.find_last_not_of("0123456789");
    const bool has_number = end != std::string_view::npos && end + 1 < name.size();
    return std::string(has_number ? name.substr(end + 1) : name);
  };
  std::vector<HostPair> out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view text = lines[i].statement.text;
    auto colon = text.rfind(": ");
    // A table has blanks: "n1-n4    98.1".
    if (colon == std::string_view::npos && readers::words_of(text).size() == 2)
      colon = text.find_first_of(" \t");
    const auto comma = text.find_first_of(",-");
    if (colon == std::string_view::npos || comma == std::string_view::npos || comma > colon)
      continue;
    const std::string_view first = trim(text.substr(0, comma));
    const std::string_view second = trim(text.substr(comma + 1, colon - comma - 1));
    if (lines[i].statement.words.empty() || lines[i].is_prose) continue;
    const auto& last = lines[i].statement.words.back();
    const bool is_pair = !first.empty() && !second.empty() && last.value &&
                         first.find(' ') == std::string_view::npos &&
                         second.find(' ') == std::string_view::npos;
    if (is_pair) out.push_back({key(first), key(second), *last.value, i});
  }
  return out;
}

/// A host that is in every slow pair and in no fast one; two slow pairs have nothing else in
/// common.
void find_slow_host(const Lines& lines, double slow_pair, Stated& out) {
  const std::vector<HostPair> pairs = pairs_in(lines);
  if (pairs.size() < 3) return;
  double best = 0;
  for (const HostPair& pair : pairs)
    best = std::max(best, pair.rate);
  std::map<std::string, int> slow;
  std::set<std::string> fast;
  std::vector<std::size_t> at;
  int slow_pairs = 0;
  for (const HostPair& pair : pairs) {
    const bool is_slow = pair.rate < slow_pair * best;
    slow_pairs += is_slow ? 1 : 0;
    at.push_back(pair.line);
    for (const std::string& name : {pair.first, pair.second}) {
      if (is_slow) {
        ++slow[name];
      } else {
        fast.insert(name);
      }
    }
  }
  const auto suspects = std::count_if(slow.begin(), slow.end(), [&](const auto& host) {
    return host.second == slow_pairs && slow_pairs >= 2 && !fast.contains(host.first);
  });
  if (suspects == 1)
    out.add("host.straggler", "Every slow pair has one host in common, no fast pair has it.", at);
}

}  // namespace

void find_settings(const Lines& lines, const finding::Thresholds& limits, Stated& out) {
  find_limits(lines, out);
  find_marking(lines, out);
  find_states(lines, out);
  find_switch_map(lines, out);
  find_gids(lines, out);
  find_container_gid(lines, out);
  find_subnets(lines, out);
  find_slow_host(lines, limits.slow_pair, out);
}

}  // namespace weir::diagnose
