#include "diagnose/account_likeness.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/check.h"
#include "base/text.h"
#include "diagnose/examples_data.h"
#include "finding/catalog.h"

namespace weir::diagnose {
namespace {

constexpr std::string_view kSettlesNothing = "-";

// A word that an example of a kind does not have counts a little against the kind, never a lot: a
// kind has few examples. One that only this kind has counts for it, but no single word decides.
constexpr double kUnseen = 0.3;  // examples' worth of the general frequency
constexpr double kMostAgainst = -1.5;
constexpr double kMostFor = 3.0;
constexpr double kPair = 0.6;    // a pair repeats what its words say
constexpr double kCommon = 0.2;  // how far a kind with many examples is preferred

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The word without an English ending, so that "drops" and "dropped" are one.
std::string stem(std::string_view word) {
  constexpr std::size_t kLeast = 4;
  for (const std::string_view end : {"ing", "ed", "es", "s", "ly"})
    if (word.ends_with(end) && word.size() - end.size() >= kLeast)
      return std::string(word.substr(0, word.size() - end.size()));
  return std::string(word);
}

/// Numbers within a name are one sign: mlx5_0 and mlx5_7 are the same.
std::string without_digits(std::string_view word) {
  std::string out;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (!is_digit(word[i])) {
      out += word[i];
    } else if (i == 0 || !is_digit(word[i - 1])) {
      out += '#';
    }
  }
  return out;
}

/// A word, and where it is a name with underscores or humps ("LinkDownedCounter") its parts.
void add_word(std::string_view written, std::vector<std::string>& out) {
  constexpr std::size_t kLeastHump = 4;  // "RoCE" and "GPUs" have no parts
  if (std::all_of(written.begin(), written.end(), is_digit)) return;
  std::string plain;
  std::string humps;
  for (std::size_t i = 0; i < written.size(); ++i) {
    const char c = written[i];
    const bool is_capital = c >= 'A' && c <= 'Z';
    const bool is_hump = is_capital && i > 0 && written[i - 1] >= 'a' && written[i - 1] <= 'z';
    if (is_hump) humps += ' ';
    plain += is_capital ? static_cast<char>(c - 'A' + 'a') : c;
    humps += plain.back();
  }
  plain = without_digits(plain);
  out.push_back(stem(plain));
  if (plain.find('_') != std::string::npos)
    for (const std::string_view part : split(plain, '_'))
      if (part.size() > 1) out.push_back(stem(part));
  if (humps.find(' ') != std::string::npos)
    for (const std::string_view part : split(humps, ' '))
      if (part.size() >= kLeastHump) out.push_back(stem(without_digits(part)));
}

/// The words of a line in their order.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> out;
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
  };
  for (std::size_t i = 0; i < line.size();) {
    std::size_t end = i;
    while (end < line.size() &&
           (is_part(line[end]) ||
            (line[end] == '\'' && end > i && end + 1 < line.size() && is_part(line[end + 1]))))
      ++end;
    if (end > i) add_word(line.substr(i, end - i), out);
    i = std::max(end, i + 1);
  }
  return out;
}

/// What counts of a text: each word once, and each pair of neighbours within a line.
std::set<std::string> features_of(const std::vector<std::string_view>& lines) {
  std::set<std::string> out;
  for (const std::string_view line : lines) {
    const auto words = words_of(line);
    for (std::size_t i = 0; i < words.size(); ++i) {
      out.insert(words[i]);
      if (i + 1 < words.size()) out.insert(words[i] + ' ' + words[i + 1]);
    }
  }
  return out;
}

std::vector<AccountExample> parsed_examples() {
  std::vector<AccountExample> out;
  for (const std::string_view line : kExampleLines) {
    if (line.empty() || line.starts_with('#')) continue;
    auto cells = split(line, '\t');
    WEIR_CHECK(cells.size() > 1);
    const std::string_view finding = cells.front();
    cells.erase(cells.begin());
    out.push_back({finding, std::move(cells)});
  }
  return out;
}

}  // namespace

std::span<const AccountExample> account_examples() {
  static const std::vector<AccountExample> all = parsed_examples();
  return all;
}

double Likeness::of(std::string_view finding) const {
  const auto at = std::find_if(ranked.begin(), ranked.end(),
                               [&](const auto& one) { return one.first == finding; });
  if (at != ranked.end()) return at->second;
  return ranked.empty() ? 0 : ranked.back().second;
}

double Likeness::lead() const {
  return ranked.size() < 2 ? 0 : ranked[0].second - ranked[1].second;
}

double Likeness::over_open() const {
  return ranked.empty() ? 0 : ranked[0].second - open;
}

LikenessModel::LikenessModel(std::span<const AccountExample> examples) {
  for (const AccountExample& one : examples)
    learn(one.finding, one.lines);
  // What the catalogue itself says of a finding is one example more.
  for (const std::string_view name : std::vector(names_)) {
    const finding::CatalogEntry* entry = finding::find(name);
    if (entry == nullptr) continue;
    std::vector<std::string_view> lines = {entry->title, entry->why};
    for (const finding::CatalogFix& fix : entry->fix) {
      lines.push_back(fix.note);
      lines.insert(lines.end(), fix.commands.begin(), fix.commands.end());
    }
    learn(name, lines);
  }
  length_of_.assign(kind_of_.size(), 0);
  for (const auto& [word, feature] : features_)
    for (const std::uint32_t example : feature.examples)
      length_of_[example] += rarity(feature) * rarity(feature);
  for (double& length : length_of_)
    length = std::sqrt(length);
}

double LikenessModel::rarity(const Feature& feature) const {
  constexpr double kPairSays = 0.5;
  return std::log(1 + examples_ / feature.times) * (feature.is_pair ? kPairSays : 1);
}

/// By the cosine; of a finding's examples the nearest counts most, and two more help.
std::string_view LikenessModel::nearest(const std::vector<const Feature*>& features) const {
  constexpr auto kCounts = std::to_array<double>({1, 0.6, 0.36});
  std::vector<double> common(kind_of_.size(), 0);
  for (const Feature* feature : features)
    for (const std::uint32_t example : feature->examples)
      common[example] += rarity(*feature) * rarity(*feature);
  std::vector<std::vector<double>> of_kind(names_.size());
  for (std::size_t i = 0; i < common.size(); ++i)
    if (common[i] > 0) of_kind[kind_of_[i]].push_back(common[i] / length_of_[i]);
  std::string_view best = kSettlesNothing;
  double most = 0;
  for (std::size_t kind = 0; kind < names_.size(); ++kind) {
    std::sort(of_kind[kind].rbegin(), of_kind[kind].rend());
    double sum = 0;
    for (std::size_t i = 0; i < std::min(of_kind[kind].size(), kCounts.size()); ++i)
      sum += kCounts[i] * of_kind[kind][i];
    if (sum <= most || names_[kind] == kSettlesNothing) continue;
    most = sum;
    best = names_[kind];
  }
  return best;
}

void LikenessModel::learn(std::string_view finding, const std::vector<std::string_view>& lines) {
  const auto [at, is_new] = kinds_.emplace(finding, static_cast<std::uint16_t>(kinds_.size()));
  const std::uint16_t kind = at->second;
  if (is_new) {
    names_.push_back(finding);
    sizes_.push_back(0);
  }
  const auto example = static_cast<std::uint32_t>(kind_of_.size());
  kind_of_.push_back(kind);
  sizes_[kind] += 1;
  examples_ += 1;
  for (const std::string& word : features_of(lines)) {
    Feature& feature = features_[word];
    feature.times += 1;
    feature.is_pair = word.find(' ') != std::string::npos;
    feature.examples.push_back(example);
    const auto count = std::find_if(feature.kinds.begin(), feature.kinds.end(),
                                    [&](const Count& one) { return one.kind == kind; });
    if (count == feature.kinds.end()) {
      feature.kinds.push_back({kind, 1});
    } else {
      ++count->times;
    }
  }
}

Likeness LikenessModel::compare(const std::vector<readers::Statement>& statements) const {
  std::vector<std::string_view> lines;
  for (const readers::Statement& statement : statements)
    lines.emplace_back(statement.text);
  std::vector<double> scores;
  for (const double size : sizes_)
    scores.push_back(kCommon * std::log(size));
  std::vector<double> times(names_.size());
  std::vector<const Feature*> known;
  for (const std::string& word : features_of(lines)) {
    const auto found = features_.find(word);
    if (found == features_.end()) continue;
    const Feature& feature = found->second;
    known.push_back(&feature);
    std::fill(times.begin(), times.end(), 0.0);
    for (const Count& count : feature.kinds)
      times[count.kind] = count.times;
    const double general = feature.times / examples_;
    for (std::size_t kind = 0; kind < names_.size(); ++kind) {
      const double here = (times[kind] + kUnseen * general) / (sizes_[kind] + kUnseen);
      const double says = std::clamp(std::log(here / general), kMostAgainst, kMostFor);
      scores[kind] += feature.is_pair ? kPair * says : says;
    }
  }
  Likeness out;
  out.nearest = nearest(known);
  for (std::size_t kind = 0; kind < names_.size(); ++kind) {
    if (names_[kind] == kSettlesNothing) {
      out.open = scores[kind];
    } else {
      out.ranked.emplace_back(names_[kind], scores[kind]);
    }
  }
  std::stable_sort(out.ranked.begin(), out.ranked.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

const LikenessModel& LikenessModel::standard() {
  static const LikenessModel model(account_examples());
  return model;
}

}  // namespace weir::diagnose
