// What is set and named in an account: variables, GIDs, subnets, maps, limits, timers.
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/text.h"
#include "counters/catalog.h"
#include "diagnose/paste/account_facts.h"
#include "readers/job/job.h"

namespace weir::diagnose {

using readers::Statement;
using readers::Word;
using readers::WordKind;

void Facts::look_at_variables() {
  // Code points that networks give a name to, and that a person types by mistake where the whole
  // byte is wanted (RFC 2474, RFC 3246, RFC 4594): AF31, AF41, CS3, CS6, EF. A byte of a code point
  // has its two low bits free for ECN, which is why none of these is a usual byte.
  constexpr auto kUsualDscps = std::to_array<std::uint64_t>({24, 26, 34, 46, 48});
  for (const readers::Assignment& one : readers::assignments_of(statements_)) {
    const auto at = std::find_if(statements_.begin(), statements_.end(),
                                 [&](const Statement& s) { return s.line == one.line; });
    const auto i = static_cast<std::size_t>(at - statements_.begin());
    const auto known = readers::knowledge_of(one.name);
    const bool is_upper = one.name.find_first_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos;
    if (is_upper && !known.is_known && !known.nearest.empty()) say("fact-env-typo", i);
    if (one.name == "NCCL_IB_DISABLE" && one.value == "1") say("fact-ib-disabled", i);
    if (one.name.ends_with("_IB_TC") || one.name.ends_with("TRAFFIC_CLASS")) {
      const auto value = parse_u64(one.value);
      if (!value) continue;
      const bool is_dscp =
          std::find(kUsualDscps.begin(), kUsualDscps.end(), *value) != kUsualDscps.end();
      if (is_dscp) say("fact-tc-is-dscp", i);
      if (!is_dscp && *value > 3 && *value < 256) say("fact-tc-site", i);
    }
  }
  for (std::size_t i = 0; i < statements_.size(); ++i) {
    // "cma_roce_tos -t 26", "tclass 46": the same mistake on a command line.
    for (std::size_t j = 0; j < statements_[i].words.size(); ++j) {
      const std::string& name = statements_[i].words[j].text;
      const bool is_byte = name.ends_with("_tos") || name == "tclass" || name == "traffic_class" ||
                           name.ends_with("_ib_tc");
      const auto value = is_byte ? value_after(statements_[i], j) : std::nullopt;
      if (value && std::find(kUsualDscps.begin(), kUsualDscps.end(),
                             static_cast<std::uint64_t>(*value)) != kUsualDscps.end())
        say("fact-tc-is-dscp", i);
    }
    // As NCCL printed completions up to 2.12, when it also used GID index 0 unless told otherwise.
    if (statements_[i].text.find("Got completion with error 12") != std::string::npos)
      say("fact-old-nccl-completion", i);
  }
}

namespace {
/// The numbers behind "index" and "at": "index 3 on mlx5_0, index 5 on mlx5_1", "A at 3, B at 7".
std::set<double> places_named(const Statement& statement) {
  std::set<double> out;
  for (std::size_t i = 0; i + 1 < statement.words.size(); ++i) {
    const Word& word = statement.words[i];
    const Word& next = statement.words[i + 1];
    const bool is_place = word.text == "index" || word.text == "at";
    if (is_place && next.kind == WordKind::kNumber && *next.value < 256) out.insert(*next.value);
  }
  return out;
}
}  // namespace

void Facts::look_at_gids() {
  bool has_mapped = false;
  const bool is_gid_text = std::any_of(statements_.begin(), statements_.end(),
                                       [](const Statement& one) { return mentions(one, "gid"); });
  for (std::size_t i = 0; i < statements_.size(); ++i) {
    const Statement& statement = statements_[i];
    const bool is_gid = mentions(statement, "gid");
    std::vector<double> indexes;
    std::set<std::string> devices;
    std::string before;
    for (const Word& word : statement.words) {
      if (word.kind == WordKind::kAddress && word.text.starts_with("fe80") && is_gid)
        say("fact-gid-link-local", i);
      has_mapped = has_mapped || word.text.starts_with("::ffff:");
      if (word.text.starts_with("::ffff:")) say("fact-gid-mapped", i);
      const bool is_port = before == "port" || before == "first";
      before = word.text;
      if (word.kind == WordKind::kNumber && *word.value < 256 && !is_port)
        indexes.push_back(*word.value);
      if (word.kind == WordKind::kDevice) devices.insert(word.text);
    }
    const std::set<double> different(indexes.begin(), indexes.end());
    const bool is_choice = has(statement, "or") || has(statement, "works");
    if (is_gid && different.size() == 2 && devices.size() == 2) say("fact-gids-per-device", i);
    if (is_gid_text && !is_choice && places_named(statement).size() == 2)
      say("fact-gids-per-device", i);
  }
}

void Facts::look_at_subnets() {
  std::set<std::string> networks;  // of addresses that stand in one statement
  for (std::size_t i = 0; i < statements_.size(); ++i) {
    const Statement& statement = statements_[i];
    networks.clear();
    std::size_t addresses = 0;
    for (const Word& word : statement.words) {
      if (word.kind != WordKind::kAddress || word.text.find(':') != std::string::npos) continue;
      ++addresses;
      networks.insert(word.text.substr(0, word.text.rfind('.')));
    }
    if (addresses >= 2 && networks.size() == addresses) say("fact-own-subnets", i);
    if (addresses >= 2 && networks.size() == 1) say("fact-one-subnet", i);
    // "8 NICs x 3 nodes all in one /24"
    const bool is_one = has(statement, "one") || has(statement, "same") || has(statement, "single");
    const bool is_net = statement.text.find("/24") != std::string::npos ||
                        statement.text.find("/16") != std::string::npos ||
                        statement.text.find("/23") != std::string::npos ||
                        statement.text.find("/22") != std::string::npos;
    const bool is_all =
        (has(statement, "all") || has(statement, "both") || has(statement, "every")) &&
        !has(statement, "own") && !has(statement, "per") && !has(statement, "each") &&
        !mentions(statement, "differ") && !mentions(statement, "separate");
    if ((is_one || is_all) && is_net) say("fact-one-subnet", i);
  }
}

/// "26": "1" where only 3 and 4 are lossless: a map that takes the RDMA code point to a lossy
/// class.
void Facts::look_at_maps() {
  std::set<double> lossless;
  std::optional<double> rdma_class;
  std::size_t where = 0;
  bool is_map = false;
  for (std::size_t i = 0; i < statements_.size(); ++i) {
    const Statement& statement = statements_[i];
    is_map = is_map || mentions(statement, "dscp_to_tc") || mentions(statement, "dscp-map") ||
             (has(statement, "dscp") && mentions(statement, "map"));
    if (mentions(statement, "lossless"))
      for (const Word& word : statement.words)
        if (word.value && *word.value < 8 && word.kind == WordKind::kNumber)
          lossless.insert(*word.value);
    for (std::size_t j = 0; j + 1 < statement.words.size(); ++j) {
      const Word& dscp = statement.words[j];
      const Word& next = statement.words[j + 1];
      if (dscp.value != 26.0 || !next.value || *next.value >= 8) continue;
      if (statement.text.find("26\": \"") == std::string::npos &&
          statement.text.find("26:") == std::string::npos)
        continue;
      rdma_class = next.value;
      where = i;
    }
  }
  if (is_map && rdma_class && !lossless.empty() && !lossless.contains(*rdma_class))
    say("fact-dscp-to-lossy", where);
}

namespace {
/// "64k", "8192kb": a size with its unit.
bool is_size(std::string_view text) {
  const auto end = text.find_first_not_of("0123456789");
  if (end == 0 || end == std::string_view::npos) return false;
  const std::string_view unit = text.substr(end);
  return unit == "k" || unit == "kb" || unit == "kib" || unit == "m" || unit == "mb";
}
}  // namespace

void Facts::look_at_limits() {
  for (std::size_t i = 0; i < statements_.size(); ++i) {
    const Statement& statement = statements_[i];
    const bool is_limit = mentions(statement, "memlock") ||
                          statement.text.find("ulimit -l") != std::string::npos ||
                          (has(statement, "locked") && has(statement, "memory"));
    if (!is_limit) continue;
    // The number stands behind the name: "ulimit -l 64 in the job, unlimited in the shell".
    for (std::size_t j = 0; j < statement.words.size(); ++j) {
      const std::string& name = statement.words[j].text;
      const bool is_name = name == "l" || name.find("memlock") != std::string::npos ||
                           name == "memory" || name == "ulimit";
      if (!is_name) continue;
      const auto value = value_after(statement, j);
      const bool has_size = std::any_of(
          statement.words.begin(), statement.words.end(),
          [&](const Word& word) { return word.at > statement.words[j].at && is_size(word.text); });
      if (!has_size && (!value || *value < 16)) continue;
      say("fact-memlock-low", i);
      break;
    }
  }
}

namespace {
/// A time in milliseconds that stands near a word.
std::optional<double> milliseconds_near(const Statement& statement, std::string_view name) {
  for (const Word& word : statement.words) {
    if (word.text.find(name) == std::string::npos) continue;
    for (const Word& other : statement.words) {
      if (std::abs(other.at - word.at) > 6) continue;
      const auto end = other.text.find("ms");
      if (other.value && statement.text.find(" ms") != std::string::npos) return other.value;
      if (end == std::string::npos || end == 0) continue;
      if (const auto value = parse_u64(other.text.substr(0, end)))
        return static_cast<double>(*value);
    }
  }
  return std::nullopt;
}
}  // namespace

void Facts::look_at_timers() {
  std::optional<double> round_trip;
  std::optional<double> timer;
  std::size_t where = 0;
  for (std::size_t i = 0; i < statements_.size(); ++i) {
    if (const auto value = milliseconds_near(statements_[i], "rtt")) round_trip = value;
    if (const auto value = milliseconds_near(statements_[i], "retrans")) {
      timer = value;
      where = i;
    }
  }
  if (round_trip && timer && *timer < *round_trip) say("fact-timer-below-rtt", where);
}

void Facts::look_at_names() {
  // One meaning by two spellings: what one driver calls a counter, and what another calls it.
  std::map<std::string_view, std::set<const counters::RawName*>> spellings;
  for (std::size_t i = 0; i < statements_.size(); ++i) {
    for (const Word& word : statements_[i].words) {
      if (word.text.find('_') == std::string::npos) continue;
      const auto matches = counters::find_anywhere(word.text);
      if (matches.size() != 1 || matches.front().name == nullptr) continue;
      auto& names = spellings[matches.front().counter->id];
      names.insert(matches.front().name);
      if (names.size() > 1) say("fact-counter-of-two-names", i);
    }
    // "26 instead of 104": the byte holds the code point four times over, and ECN's two bits.
    const bool is_instead = has(statements_[i], "instead") || has(statements_[i], "not") ||
                            has(statements_[i], "rather");
    std::vector<double> numbers;
    for (const Word& word : statements_[i].words)
      if (word.kind == WordKind::kNumber) numbers.push_back(*word.value);
    // "expected DSCP 26, the wire shows DSCP 6": the byte's upper six bits.
    if (has(statements_[i], "dscp") && numbers.size() == 2 && numbers[0] > 8 && numbers[0] < 64 &&
        std::floor(numbers[0] / 4) == numbers[1])
      say("fact-byte-for-dscp", i);
    if (is_instead && numbers.size() == 2 && numbers[0] > 2 && numbers[0] < 64 &&
        (numbers[1] == 4 * numbers[0] || numbers[1] == 4 * numbers[0] + 2))
      say("fact-byte-for-dscp", i);
  }
}

}  // namespace weir::diagnose
