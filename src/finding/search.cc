#include "finding/search.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "finding/catalog.h"

namespace weir::finding {
namespace {

// How much a word counts by where the entry has it.
constexpr double kNameWeight = 3;  // id, title, symptoms
constexpr double kAliasWeight = 2;
constexpr double kWhyWeight = 1;

// Rare words count more than their share: log(1 + entries / entries with the word) to this power.
constexpr double kRarity = 1.5;
// A word that is repeated counts more, up to twice.
constexpr double kRepeated = 0.3;
constexpr double kMostRepeated = 2;
// Less in common than this is chance. A few words cannot reach it, so a short text needs less: this
// much per word, and two words in common.
constexpr double kLeastScore = 30;
constexpr double kLeastPerWord = 3;
// What shares much less than the best offer is left out.
constexpr double kLeastOfBest = 0.4;

constexpr std::string_view kCommonWords =
    "a an the of to in is are was were be been it its this that these those and or nor for "
    "on at by with from as but if then than so do does did done has have had can could may might "
    "must will would shall should i we you they he she our your their my me us them there here "
    "where when what which who whose how why all any some each every both few more most other "
    "another such only own same too very just also again about after before above below between "
    "into through during over under out up once because until while against within across along "
    "per via yet still ever even though although since";

/// Groups of words that mean the same here; the first of a group stands for the others.
constexpr std::string_view kSynonyms =
    "pause xoff; mark ce; gdr gpudirect gdrdma; peermem nv_peer_mem nvidia_peermem "
    "nvidia-peermem; drop discard; uneven unevenly unequal imbalance unbalanced skewed; hang hung "
    "stuck stall freeze froze frozen; slow slower sluggish poor slowdown; lossless no-drop "
    "nodrop; bond lag bonded lacp port-channel portchannel; busbw bandwidth throughput bw; node "
    "host server machine; nic hca adapter card; container docker pod kubernetes k8s; dmabuf "
    "dma-buf dma_buf; reorder out-of-order ooo overtake; train training; crash oops panic; rtt "
    "round-trip roundtrip; timeout timed; optic transceiver qsfp sfp module; reboot restart; "
    "cable fibre fiber dac cabling; switch tor; missing absent lack; retransmit retransmission "
    "retrans; link-local fe80 linklocal; exporter collector prometheus scrape; inet af_inet; "
    "adaptive ar spray; job script; allreduce all-reduce all_reduce; alltoall all-to-all "
    "all_to_all; threshold kmin kmax min_th max_th";

/// A long text that has none of these is about something else: a log of a web server has
/// words in common with every entry, and nothing would be worth reading.
constexpr std::string_view kFabricWords =
    "rdma roce infiniband pfc pause xoff xon ecn cnp dcqcn dscp tos tclass dcbx lldp mtu gid qp "
    "nic "
    "hca mlx5 mlx5_core bnxt irdma ionic connectx nccl ucx gloo mpi allreduce alltoall collective "
    "rank gpu gpudirect peermem switch leaf spine tor rail fabric network packet link cable optic "
    "fec crc headroom ecmp lag vlan vrf congestion incast bandwidth lossless drop retransmit flap "
    "ethernet ethtool ibstat perftest train mark traffic interface subnet ping port uplink iperf";
constexpr std::size_t kLongText = 12;  // different words
constexpr std::size_t kFewestFabricWords = 1;

bool is_letter(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word_char(char c) {
  return is_letter(c) || is_digit(c) || c == '_';
}

/// Without the ending of a plural, a participle or an adverb. Names with digits or underscores are
/// left as they are.
std::string stem(std::string word) {
  constexpr std::size_t kShortest = 3;
  if (word.size() <= kShortest || !std::all_of(word.begin(), word.end(), is_letter)) return word;
  for (const std::string_view ending : {"ies", "ing", "ed", "ly", "es", "s"}) {
    if (!word.ends_with(ending) || word.size() < ending.size() + kShortest) continue;
    const bool is_plural =
        ending != "s" || !(word.ends_with("ss") || word.ends_with("us") || word.ends_with("is"));
    if (!is_plural) continue;
    word.resize(word.size() - ending.size());
    if (ending == "ies") word += 'y';
    break;
  }
  const bool is_doubled = word.size() > kShortest && word.back() == word[word.size() - 2] &&
                          word.back() != 's' && word.back() != 'l';
  if (is_doubled || (word.size() > kShortest + 1 && word.back() == 'e')) word.pop_back();
  return word;
}

/// "prio3" and "prio4" are the same name: a number after three letters or more becomes '#'.
std::string without_number(std::string_view word) {
  const std::size_t end = word.find_last_not_of("0123456789");
  if (end == std::string_view::npos || end + 1 == word.size() || end < 2) return std::string(word);
  const bool is_name = is_letter(word[end]) && is_letter(word[end - 1]) && is_letter(word[end - 2]);
  return is_name ? std::string(word.substr(0, end + 1)) + '#' : std::string(word);
}

std::string normal_form(std::string_view word) {
  return stem(without_number(word));
}

const std::unordered_map<std::string, std::string>& synonyms() {
  static const auto table = [] {
    std::unordered_map<std::string, std::string> out;
    for (const std::string_view group : split(kSynonyms, ';')) {
      const auto words = split(trim(group), ' ');
      for (const std::string_view word : words)
        out.emplace(normal_form(word), normal_form(words.front()));
    }
    return out;
  }();
  return table;
}

bool is_common(std::string_view word) {
  static const auto table = [] {
    std::unordered_set<std::string_view> out;
    for (const std::string_view common : split(kCommonWords, ' '))
      out.insert(common);
    return out;
  }();
  return table.contains(word);
}

/// As terms are compared.
std::string compared_form(std::string_view word) {
  std::string form = normal_form(word);
  const auto same = synonyms().find(form);
  return same == synonyms().end() ? form : same->second;
}

bool is_fabric_word(const std::string& term) {
  static const auto table = [] {
    std::unordered_set<std::string> out;
    for (const std::string_view word : split(kFabricWords, ' '))
      out.insert(compared_form(word));
    return out;
  }();
  return table.contains(term);
}

struct Term {
  std::string text;   // what is compared
  std::string shown;  // as it was written
};

/// Cuts a text into terms. A compound name counts as a whole and by its parts: "np_cnp_sent", "np",
/// "cnp", "sent". A denied word and a word with a number count once more: "no pause", "priority=0".
class TermReader {
 public:
  void read(std::string_view text) {
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    const std::string_view all = lower;
    for (std::size_t at = 0; at < all.size();) {
      std::size_t end = at;
      while (is_inside(all, at, end))
        ++end;
      if (end > at) read_word(all.substr(at, end - at));
      at = end + 1;
    }
  }
  [[nodiscard]] std::vector<Term> take() && { return std::move(terms_); }

 private:
  /// Letters, digits, underscores; points and hyphens between them.
  static bool is_inside(std::string_view all, std::size_t begin, std::size_t at) {
    if (at >= all.size()) return false;
    if (is_word_char(all[at])) return true;
    return at > begin && (all[at] == '.' || all[at] == '-') && at + 1 < all.size() &&
           is_word_char(all[at + 1]);
  }

  void read_word(std::string_view word) {
    constexpr std::size_t kLongestNumber = 4;
    if (word == "no" || word == "not" || word == "without" || word == "never" || word == "zero") {
      is_denied_ = true;
      before_.clear();
      return;
    }
    if (std::all_of(word.begin(), word.end(), is_digit)) {
      if (!before_.empty() && word.size() <= kLongestNumber)
        terms_.push_back({before_ + "=" + std::string(word), shown_ + " " + std::string(word)});
      before_.clear();
      return;
    }
    const std::size_t known = terms_.size();
    const auto is_joint = [](char c) { return !is_letter(c) && !is_digit(c); };
    if (std::any_of(word.begin(), word.end(), is_joint)) add(word);
    for (std::size_t begin = 0; begin < word.size();) {
      std::size_t end = begin;
      while (end < word.size() && !is_joint(word[end]))
        ++end;
      if (end > begin) add(word.substr(begin, end - begin));
      begin = end + 1;
    }
    if (terms_.size() == known) return;
    before_ = terms_[known].text;
    shown_ = terms_[known].shown;
    if (is_denied_) terms_.push_back({"no " + before_, "no " + shown_});
    is_denied_ = false;
  }

  void add(std::string_view word) {
    const bool is_number = std::all_of(word.begin(), word.end(),
                                       [](char c) { return is_digit(c) || c == '.' || c == '-'; });
    if (word.size() < 2 || is_number || is_common(word)) return;
    terms_.push_back({compared_form(word), std::string(word)});
  }

  std::vector<Term> terms_;
  bool is_denied_ = false;
  std::string before_;  // the last word's term, for a number that follows it
  std::string shown_;
};

std::vector<Term> terms_of(std::string_view text) {
  TermReader reader;
  reader.read(text);
  return std::move(reader).take();
}

/// Which entries have a word, and how much it counts for each.
struct Posting {
  std::size_t entry = 0;
  double weight = 0;
};
using WordIndex = std::unordered_map<std::string, std::vector<Posting>>;

WordIndex make_index() {
  const auto entries = catalog();
  std::unordered_map<std::string_view, std::string_view> words_of_id;
  for (const Symptoms& row : symptoms())
    words_of_id.emplace(row.id, row.words);
  WordIndex index;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const CatalogEntry& entry = entries[i];
    std::map<std::string, double> weights;
    const auto add = [&](std::string_view text, double weight) {
      for (const Term& term : terms_of(text))
        weights[term.text] = std::max(weights[term.text], weight);
    };
    add(entry.id, kNameWeight);
    add(entry.title, kNameWeight);
    add(words_of_id[entry.id], kNameWeight);
    for (const std::string_view alias : entry.aliases)
      add(alias, kAliasWeight);
    add(entry.why, kWhyWeight);
    for (const auto& [term, weight] : weights)
      index[term].push_back({i, weight});
  }
  for (auto& [term, postings] : index) {
    const double share = static_cast<double>(entries.size()) / static_cast<double>(postings.size());
    for (Posting& posting : postings)
      posting.weight *= std::pow(std::log1p(share), kRarity);
  }
  return index;
}

struct Match {
  double score = 0;
  std::vector<std::pair<double, std::string>> words;  // what each adds
};

std::string words_of(Match match) {
  constexpr std::size_t kShown = 5;
  std::sort(match.words.begin(), match.words.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<std::string> shown;
  for (const auto& [adds, word] : match.words)
    if (shown.size() < kShown) shown.push_back(word);
  return "words in common: " + join(shown, ", ");
}

}  // namespace

std::vector<Related> search(std::string_view text, std::size_t most) {
  static const WordIndex index = make_index();
  struct Asked {
    std::string shown;
    int times = 0;
  };
  std::map<std::string, Asked> asked;
  for (Term& term : terms_of(text)) {
    Asked& word = asked[term.text];
    if (word.times++ == 0) word.shown = std::move(term.shown);
  }
  const auto fabric_words = std::count_if(
      asked.begin(), asked.end(), [](const auto& word) { return is_fabric_word(word.first); });
  if (asked.size() >= kLongText && static_cast<std::size_t>(fabric_words) < kFewestFabricWords)
    return {};
  std::map<std::size_t, Match> matches;
  for (const auto& [term, word] : asked) {
    const auto postings = index.find(term);
    if (postings == index.end()) continue;
    const double times = std::min(1 + kRepeated * (word.times - 1), kMostRepeated);
    for (const Posting& posting : postings->second) {
      Match& match = matches[posting.entry];
      match.score += posting.weight * times;
      match.words.emplace_back(posting.weight * times, word.shown);
    }
  }
  const double least = std::min(kLeastScore, kLeastPerWord * static_cast<double>(asked.size()));
  std::vector<std::pair<std::size_t, const Match*>> ranked;
  for (const auto& [entry, match] : matches)
    if (match.score >= least && (match.words.size() > 1 || asked.size() < 3))
      ranked.emplace_back(entry, &match);
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.second->score > b.second->score; });
  std::vector<Related> out;
  for (const auto& [entry, match] : ranked) {
    const bool is_close = match->score >= kLeastOfBest * ranked.front().second->score;
    if (out.size() == most || !is_close) break;
    out.push_back({std::string(catalog()[entry].id), words_of(*match)});
  }
  return out;
}

}  // namespace weir::finding
