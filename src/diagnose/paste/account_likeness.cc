#include "diagnose/paste/account_likeness.h"

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
constexpr std::string_view kAnyText = "";  // a word that every text has

// Chosen by leaving out sources (docs/field-cases.md); the answers hardly depend on them.
constexpr int kPasses = 12;
constexpr float kStep = 1.5F;      // of the first pass, falling to 0
constexpr float kForget = 1e-4F;   // keeps weights small where few examples speak
constexpr float kFew = 0.5F;       // how far a kind with few examples counts as much as a large one
constexpr float kNoShare = 2e-3F;  // a kind that had less of a lesson learns nothing from it

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

/// What counts of a text: each word once.
std::set<std::string> words_of(const std::vector<std::string_view>& lines) {
  std::vector<std::string> out = {std::string(kAnyText)};
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
  };
  for (const std::string_view line : lines) {
    for (std::size_t i = 0; i < line.size();) {
      std::size_t end = i;
      while (end < line.size() &&
             (is_part(line[end]) ||
              (line[end] == '\'' && end > i && end + 1 < line.size() && is_part(line[end + 1]))))
        ++end;
      if (end > i) add_word(line.substr(i, end - i), out);
      i = std::max(end, i + 1);
    }
  }
  return {out.begin(), out.end()};
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

LikenessModel::LikenessModel(std::span<const AccountExample> examples) {
  std::vector<Lesson> lessons;
  for (const AccountExample& one : examples)
    add(one.finding, one.lines, lessons);
  // What the catalogue itself says of a finding is one example more.
  for (const std::string_view name : std::vector(names_)) {
    const finding::CatalogEntry* entry = finding::find(name);
    if (entry == nullptr) continue;
    std::vector<std::string_view> lines = {entry->title, entry->why};
    for (const finding::CatalogFix& fix : entry->fix) {
      lines.push_back(fix.note);
      lines.insert(lines.end(), fix.commands.begin(), fix.commands.end());
    }
    add(name, lines, lessons);
  }
  std::vector<float> sizes(names_.size(), 0);
  for (const Lesson& one : lessons)
    sizes[one.kind] += 1;
  const float usual = examples_ / static_cast<float>(names_.size());
  for (Lesson& one : lessons) {
    one.counts = std::pow(usual / sizes[one.kind], kFew);
    weigh(one.text);
  }
  learn(lessons);
}

void LikenessModel::add(std::string_view finding, const std::vector<std::string_view>& lines,
                        std::vector<Lesson>& out) {
  const auto [at, is_new] = kinds_.emplace(finding, kinds_.size());
  if (is_new) names_.push_back(finding);
  Lesson lesson{at->second, 1, {}};
  for (const std::string& word : words_of(lines)) {
    const auto next = static_cast<std::uint32_t>(words_.size());
    const auto [known, is_first] = words_.emplace(word, next);
    if (is_first) times_.push_back(0);
    times_[known->second] += 1;
    lesson.text.emplace_back(known->second, 0.0F);
  }
  examples_ += 1;
  out.push_back(std::move(lesson));
}

void LikenessModel::weigh(Text& text) const {
  float all = 0;
  for (auto& [word, says] : text) {
    says = std::log(1 + examples_ / times_[word]);  // the rarer, the more
    all += says * says;
  }
  for (auto& [word, says] : text)
    says /= std::sqrt(all);
}

std::vector<float> LikenessModel::scores(const Text& text) const {
  std::vector<float> out(names_.size(), 0);
  for (const auto& [word, says] : text) {
    const std::vector<float>& weights = speaks_for_[word];
    for (std::size_t kind = 0; kind < out.size(); ++kind)
      out[kind] += says * weights[kind];
  }
  return out;
}

/// Softmax regression by stochastic descent, the examples in an order that mixes the kinds.
void LikenessModel::learn(const std::vector<Lesson>& lessons) {
  constexpr std::size_t kStride = 7919;  // a prime: every lesson comes once in a pass
  speaks_for_.assign(words_.size(), std::vector<float>(names_.size(), 0));
  const float steps = static_cast<float>(lessons.size()) * kPasses;
  float done = 0;
  std::vector<std::pair<std::size_t, float>> wrong;  // the kinds of which a lesson had more or less
  for (int pass = 0; pass < kPasses; ++pass) {
    for (std::size_t i = 0; i < lessons.size(); ++i) {
      const Lesson& one = lessons[(i * kStride + static_cast<std::size_t>(pass)) % lessons.size()];
      std::vector<float> share = scores(one.text);
      const float most = *std::max_element(share.begin(), share.end());
      float all = 0;
      for (float& part : share)
        all += part = std::exp(part - most);
      const float step = kStep * (1 - done / steps) * one.counts;
      done += 1;
      wrong.clear();
      for (std::size_t kind = 0; kind < share.size(); ++kind) {
        const float off = share[kind] / all - (kind == one.kind ? 1.0F : 0.0F);
        if (std::abs(off) >= kNoShare) wrong.emplace_back(kind, off);
      }
      for (const auto& [word, says] : one.text) {
        std::vector<float>& weights = speaks_for_[word];
        for (const auto& [kind, off] : wrong)
          weights[kind] -= step * (off * says + kForget * weights[kind]);
      }
    }
  }
}

Likeness LikenessModel::compare(const std::vector<readers::Statement>& statements) const {
  std::vector<std::string_view> lines;
  for (const readers::Statement& statement : statements)
    lines.emplace_back(statement.text);
  Text text;
  for (const std::string& word : words_of(lines))
    if (const auto known = words_.find(word); known != words_.end())
      text.emplace_back(known->second, 0.0F);
  weigh(text);
  const std::vector<float> all = scores(text);
  Likeness out;
  for (std::size_t kind = 0; kind < names_.size(); ++kind) {
    if (names_[kind] == kSettlesNothing) {
      out.open = all[kind];
    } else {
      out.ranked.emplace_back(names_[kind], all[kind]);
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
