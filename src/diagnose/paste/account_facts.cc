// What an account says in numbers: two values that differ, a counter at zero, a limit that is low.
// Looked up nowhere, so that it holds for every number and every name.
#include "diagnose/paste/account_facts.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "base/text.h"

namespace weir::diagnose {

using readers::Statement;
using readers::Word;
using readers::WordKind;

namespace {

constexpr auto kFacts = std::to_array<std::string_view>({
    "fact-active-mtus-differ", "fact-mtu-4096-on-1500", "fact-marks-zero",
    "fact-marks-positive",     "fact-cnp-sent-zero",    "fact-cnp-sent-positive",
    "fact-cnp-handled-zero",   "fact-overload",         "fact-rnr-both-ends",
    "fact-pair-straggler",     "fact-env-typo",         "fact-ib-disabled",
    "fact-tc-is-dscp",         "fact-tc-site",          "fact-gid-link-local",
    "fact-gid-mapped",         "fact-gids-per-device",  "fact-one-subnet",
    "fact-own-subnets",        "fact-dscp-to-lossy",    "fact-prio-one-way",
    "fact-prio0-only",         "fact-memlock-low",      "fact-timer-below-rtt",
    "fact-half-rate",          "fact-more-qps-faster",  "fact-old-nccl-completion",
    "fact-seq-zero",           "fact-pause-counters",   "fact-global-pause-counters",
    "fact-link-down-counter",  "fact-phy-counter",      "fact-pci-stall-counter",
    "fact-byte-for-dscp",      "fact-uneven-rates",     "fact-counter-of-two-names",
    "fact-mtu-small",
});

/// ibv_mtu as a number of the verbs (enum ibv_mtu: 1 is 256, 5 is 4096) or in bytes.
std::optional<int> rdma_mtu(double value) {
  constexpr auto kSizes = std::to_array<int>({256, 512, 1024, 2048, 4096});
  for (const int size : kSizes)
    if (value == size) return size;
  return std::nullopt;
}

}  // namespace

void Facts::look_at_mtus() {
  std::map<int, std::size_t> active;  // RDMA's
  std::map<int, std::size_t> ethernet;
  for (std::size_t i = 0; i < statements_.size(); ++i) {
    const Statement& statement = statements_[i];
    // "1024 instead of 4096" is one value and one wish.
    const bool is_wish =
        has(statement, "instead") || has(statement, "expected") || has(statement, "should") ||
        has(statement, "gives") || has(statement, "could") || has(statement, "was") ||
        has(statement, "previously") || has(statement, "formerly") || has(statement, "least") ||
        has(statement, "more") || has(statement, "or") || has(statement, "allows") ||
        has(statement, "raising") || has(statement, "raised");
    if (is_wish) continue;
    const bool is_about_mtu = mentions(statement, "mtu");
    const bool continues =
        i > 0 && mentions(statements_[i - 1], "mtu") && mentions(statement, "nic");
    std::string before;
    for (const Word& word : statement.words) {
      // A constant of the verbs' header: IBV_MTU_4096.
      if (const auto at = word.text.find("mtu_"); at != std::string::npos) {
        const auto size = parse_u64(word.text.substr(at + 4));
        if (size && rdma_mtu(static_cast<double>(*size)))
          active.emplace(static_cast<int>(*size), i);
      }
      // What a port could do ("max_mtu: 4096") is no MTU that is used.
      const bool is_most = before == "max_mtu";
      if (!word.text.empty()) before = word.text;
      if (is_most || !word.value || (!is_about_mtu && !continues)) continue;
      if (const auto size = rdma_mtu(*word.value)) active.emplace(*size, i);
      if (is_about_mtu && *word.value >= 1400 && *word.value <= 1600)
        ethernet.emplace(static_cast<int>(*word.value), i);
      if (is_about_mtu && *word.value >= 4200 && *word.value <= 9500)
        ethernet.emplace(static_cast<int>(*word.value), i);
    }
  }
  if (active.size() > 1)
    for (const auto& [size, statement] : active)
      say("fact-active-mtus-differ", statement);
  if (ethernet.size() > 1)
    for (const auto& [size, statement] : ethernet)
      say("fact-active-mtus-differ", statement);
  const bool is_small = !active.empty() && active.rbegin()->first < 4096;
  if (is_small && active.size() == 1) say("fact-mtu-small", active.begin()->second);
  const bool has_large = active.contains(4096) || active.contains(2048);
  if (has_large && !ethernet.empty() && ethernet.begin()->first < 2000) {
    say("fact-mtu-4096-on-1500", ethernet.begin()->second);
    say("fact-mtu-4096-on-1500", active.rbegin()->second);
  }
}

namespace {
bool is_like(std::string_view name, std::string_view a, std::string_view b = {}) {
  return name.find(a) != std::string_view::npos &&
         (b.empty() || name.find(b) != std::string_view::npos);
}

/// As the tools of InfiniBand print a port's counters: LinkDownedCounter, SymbolErrorCounter.
bool is_pma(std::string_view name) {
  return name.starts_with("linkdown") || name.starts_with("symbolerr");
}
}  // namespace

void Facts::look_at_counter(std::size_t i, std::string_view name, double value) {
  const bool is_zero = value == 0;
  if (is_like(name, "ecn_marked") || is_like(name, "ecn-marked"))
    say(is_zero ? "fact-marks-zero" : "fact-marks-positive", i);
  if (is_like(name, "cnp_sent")) say(is_zero ? "fact-cnp-sent-zero" : "fact-cnp-sent-positive", i);
  if (is_like(name, "cnp_handled") && is_zero) say("fact-cnp-handled-zero", i);
  if ((is_like(name, "out_of_sequence") || is_like(name, "seq_err")) && is_zero)
    say("fact-seq-zero", i);
  if (is_zero) return;
  const bool is_pfc = is_like(name, "prio", "pause") || is_like(name, "pfc_ena", "pri");
  if (is_pfc) say("fact-pause-counters", i);
  if (!is_pfc && (is_like(name, "pause_ctrl") || is_like(name, "global_pause") ||
                  name == "rx_pause" || name == "tx_pause" || is_like(name, "pause_frames")))
    say("fact-global-pause-counters", i);
  if (is_like(name, "link_down") || is_like(name, "linkdown") || is_like(name, "carrier_changes"))
    say("fact-link-down-counter", i);
  if (is_like(name, "symbol_err") || is_like(name, "symbolerr") || is_like(name, "crc_err") ||
      is_like(name, "uncorrectable"))
    say("fact-phy-counter", i);
  if (is_like(name, "pci_stalled")) say("fact-pci-stall-counter", i);
}

void Facts::look_at_counters() {
  double nak = -1;
  double short_of = -1;
  std::map<std::string, double> of_priority;  // "tx0" "rx3"
  std::size_t at_priority = 0;
  for (std::size_t i = 0; i < statements_.size(); ++i) {
    const Statement& statement = statements_[i];
    for (std::size_t j = 0; j < statement.words.size(); ++j) {
      const std::string& name = statement.words[j].text;
      if (name.find('_') == std::string::npos && !is_pma(name)) continue;
      const auto value = value_after(statement, j);
      if (!value) continue;
      look_at_counter(i, name, *value);
      if (is_like(name, "rnr_nak")) nak = *value;
      if (is_like(name, "out_of_buffer")) short_of = *value;
      const bool is_prio =
          name.size() >= 8 && (name.starts_with("tx_prio") || name.starts_with("rx_prio"));
      if (is_prio && name.find("pause") == std::string::npos) {
        of_priority[name.substr(0, 2) + name.substr(7, 1)] = *value;
        at_priority = i;
      }
    }
  }
  if (nak > 0 && nak == short_of)
    for (std::size_t i = 0; i < statements_.size(); ++i)
      if (mentions(statements_[i], "rnr_nak") || mentions(statements_[i], "out_of_buffer"))
        say("fact-rnr-both-ends", i);
  // One direction in a class of its own, the other in priority 0: most packets of each.
  double sent_marked = 0;
  double received_marked = 0;
  for (const auto& [name, value] : of_priority) {
    if (name[2] == '0') continue;
    (name.starts_with("tx") ? sent_marked : received_marked) += value;
  }
  const double sent_plain = of_priority.contains("tx0") ? of_priority["tx0"] : 0;
  const double received_plain = of_priority.contains("rx0") ? of_priority["rx0"] : 0;
  const bool out_is_marked = sent_marked > 10 * sent_plain && sent_marked > 0;
  const bool in_is_marked = received_marked > 10 * received_plain && received_marked > 0;
  const bool out_is_plain = sent_plain > 10 * sent_marked && sent_plain > 1;
  const bool in_is_plain = received_plain > 10 * received_marked && received_plain > 1;
  if ((out_is_marked && in_is_plain) || (in_is_marked && out_is_plain))
    say("fact-prio-one-way", at_priority);
  if ((out_is_plain && !in_is_marked) || (in_is_plain && !out_is_marked && sent_marked == 0))
    say("fact-prio0-only", at_priority);
}

namespace {
/// "2x25G": what that makes together, in Gbit/s.
std::optional<double> product(std::string_view word) {
  const auto x = word.find('x');
  if (x == std::string_view::npos || x == 0 || x + 2 > word.size()) return std::nullopt;
  const auto times = parse_u64(word.substr(0, x));
  const auto end = word.find_first_not_of("0123456789", x + 1);
  if (!times || end == std::string_view::npos || word[end] != 'g') return std::nullopt;
  const auto rate = parse_u64(word.substr(x + 1, end - x - 1));
  if (!rate) return std::nullopt;
  return static_cast<double>(*times * *rate);
}
}  // namespace

void Facts::look_at_rates() {
  for (std::size_t i = 0; i < statements_.size(); ++i) {
    const auto& words = statements_[i].words;
    for (std::size_t j = 0; j + 2 < words.size(); ++j) {
      const auto in = words[j].kind == WordKind::kRate ? words[j].value : product(words[j].text);
      if (!in) continue;
      const bool is_into =
          words[j + 1].text == "into" || words[j + 1].text == "to" || words[j + 1].text == "->";
      if (!is_into) continue;
      const Word& target = words[j + 2];
      if (target.kind == WordKind::kRate && *in > *target.value) say("fact-overload", i);
    }
    // "10:1 incast" is words; "240 Gb/s vs 395 Gb/s" is about half.
    std::vector<double> rates;
    for (const Word& word : words)
      if (word.kind == WordKind::kRate) rates.push_back(*word.value);
    if (rates.size() < 2) continue;
    const auto [least, most] = std::minmax_element(rates.begin(), rates.end());
    if (*least > 0.3 * *most && *least < 0.7 * *most) say("fact-half-rate", i);
    if (*least < 0.2 * *most) say("fact-uneven-rates", i);
  }
}

/// "-q 1: 97; -q 4: 188", "1 QP 97 Gb/s, 4 QPs 188": the rate grows with the number of connections.
void Facts::look_at_qps() {
  for (std::size_t i = 0; i < statements_.size(); ++i) {
    const auto& words = statements_[i].words;
    std::map<double, double> rates;  // by number of connections
    for (std::size_t j = 0; j + 2 < words.size(); ++j) {
      const bool is_option = words[j].text == "q" || words[j].text == "-q";
      const bool is_count = words[j + 1].text == "qp" || words[j + 1].text == "qps";
      const Word& count = is_option ? words[j + 1] : words[j];
      if ((!is_option && !is_count) || count.kind != WordKind::kNumber) continue;
      for (std::size_t k = j + 2; k < words.size() && words[k].at <= words[j].at + 4; ++k) {
        if (!words[k].value) continue;
        rates.emplace(*count.value, *words[k].value);
        break;
      }
    }
    if (rates.size() < 2) continue;
    const bool is_faster = rates.rbegin()->second > 1.4 * rates.begin()->second;
    if (is_faster) say("fact-more-qps-faster", i);
  }
}

/// "gpu1,gpu2: 49.4": pairs of hosts and what they reached. A host that is in every slow pair and
/// in no fast one is the slow one; it takes two slow pairs that have nothing else in common.
void Facts::look_at_pairs() {
  struct Pair {
    std::string a;
    std::string b;
    double rate;
    std::size_t statement;
  };
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < statements_.size(); ++i) {
    const std::string_view text = statements_[i].text;
    const auto colon = text.rfind(": ");
    const auto comma = text.find_first_of(",-");
    if (colon == std::string_view::npos || comma == std::string_view::npos || comma > colon)
      continue;
    const std::string first(trim(text.substr(0, comma)));
    const std::string second(trim(text.substr(comma + 1, colon - comma - 1)));
    const auto& last = statements_[i].words.back();
    if (first.empty() || second.empty() || !last.value || first.find(' ') != std::string::npos ||
        second.find(' ') != std::string::npos)
      continue;
    pairs.push_back({first, second, *last.value, i});
  }
  if (pairs.size() < 3) return;
  // The second name of a pair is often shortened to its number: compare by the last digits.
  const auto key = [](const std::string& name) {
    const auto at = name.find_last_not_of("0123456789");
    const std::string digits = at == std::string::npos ? name : name.substr(at + 1);
    return digits.empty() ? name : digits;
  };
  const double best =
      std::max_element(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
        return a.rate < b.rate;
      })->rate;
  std::map<std::string, int> slow;
  std::set<std::string> fast;
  int slow_pairs = 0;
  for (const Pair& pair : pairs) {
    const bool is_slow = pair.rate < 0.8 * best;
    slow_pairs += is_slow ? 1 : 0;
    for (const std::string& name : {key(pair.a), key(pair.b)}) {
      if (is_slow) {
        ++slow[name];
      } else {
        fast.insert(name);
      }
    }
  }
  const auto culprits = std::count_if(slow.begin(), slow.end(), [&](const auto& one) {
    return one.second == slow_pairs && slow_pairs >= 2 && !fast.contains(one.first);
  });
  if (culprits != 1) return;
  for (const Pair& pair : pairs)
    say("fact-pair-straggler", pair.statement);
}

std::span<const std::string_view> fact_names() {
  return kFacts;
}

void add_facts(const std::vector<Statement>& statements, std::vector<Said>& out) {
  Facts(statements, out).find();
}

}  // namespace weir::diagnose
