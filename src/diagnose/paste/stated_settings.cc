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

bool StatedLine::is_remedy() const {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"should",   "would",     "if",     "recommend",  "recommended", "recommends",
       "suggests", "suggested", "tried",  "workaround", "works",       "worked",
       "avoids",   "helps",     "helped", "example",    "docs",        "documentation",
       "restores", "passes",    "stable", "same",       "without",     "unless"});
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return has(word); }) ||
         mentions("fix") || (has("with") && (has("runs") || has("ran") || has("fine")));
}

std::optional<double> StatedLine::value_after(std::size_t i) const {
  constexpr int kNear = 3;
  const Word& name = statement.words[i];
  for (std::size_t j = i + 1; j < statement.words.size(); ++j) {
    const Word& word = statement.words[j];
    if (word.at > name.at + kNear) break;
    if (word.kind == WordKind::kNumber && word.at > name.at) return word.value;
    if (word.text == "zero") return 0.0;
    if (word.at > name.at && word.text.find('_') != std::string::npos) break;
  }
  return std::nullopt;
}

Lines stated_lines(std::span<const readers::Cited> cited) {
  Lines out;
  for (const readers::Cited& line : cited) {
    auto statements = readers::statements_of(line.text, 1);
    if (statements.empty()) continue;
    std::string lower = line.text;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
      return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    });
    out.push_back({&line, std::move(lower), std::move(statements.front())});
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
    if (!is_limit || line.is_remedy()) continue;
    int named_at = -1;
    for (const Word& word : line.statement.words) {
      const bool is_name = word.text == "l" || word.text == "memory" ||
                           word.text.find("memlock") != std::string::npos;
      if (is_name && named_at < 0) named_at = word.at;
      if (named_at >= 0 && word.text == "unlimited") break;
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

void find_marking(const Lines& lines, Stated& out) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& words = lines[i].statement.words;
    std::vector<double> numbers;
    for (std::size_t j = 0; j < words.size(); ++j) {
      if (words[j].kind == WordKind::kNumber) numbers.push_back(*words[j].value);
      const std::string& name = words[j].text;
      const bool is_byte = name.ends_with("_tos") || name == "tclass" || name == "traffic_class" ||
                           name.ends_with("_ib_tc") || name.ends_with("_traffic_class");
      const auto value = is_byte ? lines[i].value_after(j) : std::nullopt;
      if (value && is_usual_dscp(*value) && !lines[i].is_remedy())
        out.add("dscp.tos_confusion",
                fmt::format("A TOS byte of {}: the packets carry DSCP {}.", *value,
                            std::floor(*value / 4)),
                {i});
    }
    if (numbers.size() != 2 || numbers[0] <= 8 || numbers[0] >= 64) continue;
    const double byte = 4 * numbers[0];
    const bool is_wire = lines[i].has("dscp") && std::floor(numbers[0] / 4) == numbers[1];
    const bool is_instead =
        lines[i].has("instead") || lines[i].has("not") || lines[i].has("rather");
    if (is_wire || (is_instead && (numbers[1] == byte || numbers[1] == byte + 2)))
      out.add("dscp.tos_confusion",
              fmt::format("{} is the upper six bits of the byte {}: a DSCP written as a TOS byte.",
                          std::min(numbers[0], numbers[1]), std::max(numbers[0], numbers[1])),
              {i});
  }
}

/// "length 60" of a packet: too short for data. CNPs and acknowledgements need not be ECN-capable.
bool is_short_packet(const std::string& lower) {
  constexpr std::uint64_t kShortest = 100;  // with IP and UDP; a CNP has 60, an acknowledgement 48
  const auto at = lower.rfind("length ");
  if (at == std::string::npos) return false;
  const std::string_view rest = std::string_view(lower).substr(at + 7);
  const auto value = parse_u64(rest.substr(0, rest.find_first_not_of("0123456789")));
  return value && *value < kShortest;
}

/// "tos 0x68": a byte on the wire whose ECN bits are 00, in a text about ECN.
void find_wire_bytes(const Lines& lines, Stated& out) {
  const bool is_about_ecn = std::any_of(lines.begin(), lines.end(), [](const StatedLine& line) {
    return line.mentions("ecn") || line.has("ect") || line.contains("ect(") ||
           line.contains("-ect");
  });
  for (std::size_t i = 0; is_about_ecn && i < lines.size(); ++i) {
    const auto at = lines[i].lower.find("tos 0x");
    if (at == std::string::npos || lines[i].is_remedy() || is_short_packet(lines[i].lower) ||
        lines[i].mentions("cnp") || lines[i].has("tcp"))
      continue;
    const unsigned byte = hex_number(std::string_view(lines[i].lower).substr(at + 6, 2));
    if (byte != 0 && (byte & 3U) == 0)
      out.add("ecn.not_ect",
              fmt::format("Packets carry TOS {:#04x}: DSCP {}, not ECN-capable.", byte, byte >> 2),
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
      const bool is_entry = words[j].value == kRdmaDscp && j + 1 < words.size() &&
                            words[j + 1].value && *words[j + 1].value < 8 &&
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
    if (lines[i].is_remedy() || lines[i].has("or")) continue;
    const auto& words = lines[i].statement.words;
    std::set<double> indexes;  // "index 3 on mlx5_0, index 5 on mlx5_1", "A at 3, B at 7"
    std::set<std::string> devices;
    bool is_link_local = false;
    for (std::size_t j = 0; j < words.size(); ++j) {
      if (words[j].kind == WordKind::kDevice) devices.insert(words[j].text);
      is_link_local = is_link_local ||
                      (words[j].kind == WordKind::kAddress && words[j].text.starts_with("fe80"));
      const bool is_place = words[j].text == "index" || words[j].text == "at";
      if (is_place && j + 1 < words.size() && words[j + 1].kind == WordKind::kNumber)
        indexes.insert(*words[j + 1].value);
    }
    const bool is_used = lines[i].has("chosen") || lines[i].has("dgid") || lines[i].has("sgid") ||
                         lines[i].has("using") || lines[i].has("picked") ||
                         lines[i].contains("local gid fe80") ||
                         lines[i].contains("remote gid fe80");
    if (is_used && is_link_local) out.add("gid.not_routable", "The GID in use is link-local.", {i});
    if (indexes.size() == 2 && devices.size() == 2)
      out.add("gid.index_differs",
              fmt::format("GID index {} on one device, {} on another.", *indexes.begin(),
                          *indexes.rbegin()),
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

/// "8 NICs x 3 nodes all in one /24", or addresses of several NICs in one line.
void find_subnets(const Lines& lines, Stated& out) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const StatedLine& line = lines[i];
    std::set<std::string> networks;
    std::set<std::string> devices;
    std::size_t addresses = 0;
    for (const Word& word : line.statement.words) {
      if (word.kind == WordKind::kDevice) devices.insert(word.text);
      if (word.kind != WordKind::kAddress || word.text.find(':') != std::string::npos) continue;
      ++addresses;
      networks.insert(word.text.substr(0, word.text.rfind('.')));
    }
    const bool is_net = line.contains("/24") || line.contains("/23") || line.contains("/22") ||
                        line.contains("/16");
    const bool is_shared = (line.has("one") || line.has("same") || line.has("single")) && is_net &&
                           !line.has("per") && !line.has("each") && !line.has("own") &&
                           !line.has("different") && !line.has("separate");
    const bool is_listed = addresses >= 2 && networks.size() == 1 && devices.size() == addresses;
    if (is_shared || is_listed)
      out.add("rail.same_subnet", "Several NICs of a host are in one subnet.", {i});
  }
}

// ---- switches that are in the wrong position ----

void find_states(const Lines& lines, Stated& out) {
  const bool is_roce = std::any_of(lines.begin(), lines.end(), [](const StatedLine& line) {
    return line.mentions("ib_tc") || line.mentions("gid_index") || line.mentions("traffic_class");
  });
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const StatedLine& line = lines[i];
    if (line.is_remedy()) continue;
    if (is_roce && (line.has("link_layer") || line.contains("link layer:")) &&
        line.has("infiniband"))
      out.add("link.infiniband", "The port is InfiniBand; RoCE settings do nothing there.", {i});
    const bool is_yes = line.contains("willing = yes") || line.contains("willing: yes") ||
                        line.contains("willing=1") || line.contains("willing = true") ||
                        line.contains("willing: true") || line.contains("willing on");
    if (is_yes) out.add("dcbx.willing", "The port is willing: its neighbour sets its QoS.", {i});
    const bool is_counted = std::any_of(
        line.statement.words.begin(), line.statement.words.end(),
        [](const Word& word) { return word.kind == WordKind::kNumber && *word.value > 0; });
    if (line.contains("802.3x pause") && is_counted && !line.has("off") && !line.has("disabled"))
      out.add("pause.global_on", "802.3x pause frames stop the port.", {i});
    if (line.contains("ethtool -a") && line.contains("rx on") && line.contains("tx on"))
      out.add("pause.global_on", "802.3x pause is on in both directions.", {i});
    const auto& words = line.statement.words;
    for (std::size_t j = 0; j < words.size(); ++j)
      if (words[j].text == "headroom" && line.value_after(j) == 0.0)
        out.add("headroom.too_small", "The headroom of a lossless port is 0.", {i});
  }
}

// ---- timers ----

/// A time in milliseconds near a word: "12 ms", "12ms".
std::optional<double> milliseconds_near(const StatedLine& line, std::string_view name) {
  constexpr int kNear = 6;
  for (const Word& word : line.statement.words) {
    if (word.text.find(name) == std::string::npos) continue;
    for (const Word& other : line.statement.words) {
      if (std::abs(other.at - word.at) > kNear) continue;
      if (other.value && line.contains(" ms")) return other.value;
      if (!other.text.ends_with("ms")) continue;
      if (const auto value =
              parse_u64(std::string_view(other.text).substr(0, other.text.size() - 2)))
        return static_cast<double>(*value);
    }
  }
  return std::nullopt;
}

void find_timers(const Lines& lines, Stated& out) {
  std::optional<double> round_trip;
  std::optional<double> timer;
  std::size_t where = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (const auto value = milliseconds_near(lines[i], "rtt")) round_trip = value;
    if (const auto value = milliseconds_near(lines[i], "retrans")) {
      timer = value;
      where = i;
    }
  }
  if (round_trip && timer && *timer < *round_trip)
    out.add("transport.timer_below_rtt",
            fmt::format("The retransmission timer is {} ms, the round trip {} ms.", *timer,
                        *round_trip),
            {where});
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
  find_wire_bytes(lines, out);
  find_states(lines, out);
  find_switch_map(lines, out);
  find_gids(lines, out);
  find_container_gid(lines, out);
  find_subnets(lines, out);
  find_timers(lines, out);
  find_slow_host(lines, limits.slow_pair, out);
}

}  // namespace weir::diagnose
