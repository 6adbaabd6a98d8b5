#include "readers/paste/statement.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "base/text.h"
#include "readers/paste/text_lines.h"
#include "vocab/nic_drivers.h"

namespace weir::readers {
namespace {

bool is_statement_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_statement_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}
bool is_word_char(char c) {
  return is_statement_digit(c) || is_statement_letter(c) || c == '_';
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::optional<double> number(std::string_view text) {
  std::string plain;
  for (const char c : text)
    if (c != ',') plain += c;
  double value = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (error != std::errc() || end != plain.data() + plain.size()) return std::nullopt;
  return value;
}

std::size_t count(std::string_view text, char c) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), c));
}

/// Digits and dots, with digits at both ends and this many dots.
bool is_dotted(std::string_view text, std::size_t dots) {
  return !text.empty() && is_statement_digit(text.front()) && is_statement_digit(text.back()) &&
         count(text, '.') == dots && std::all_of(text.begin(), text.end(), [](char c) {
           return is_statement_digit(c) || c == '.';
         });
}

bool is_statement_address(std::string_view text) {
  if (is_dotted(text, 3)) return true;
  if (count(text, ':') < 2) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return std::isxdigit(static_cast<unsigned char>(c)) != 0 || c == ':' || c == '.';
  });
}

/// Names that drivers, udev and switch systems give: a known stem, and a digit behind it.
bool is_device(std::string_view text) {
  constexpr auto kInterfaces = std::to_array<std::string_view>(
      {"roce", "ens", "enp", "eno", "eth", "bond", "swp", "ethernet", "ib"});
  const auto is_numbered = [&](std::size_t stem) {
    return text.size() > stem &&
           (is_statement_digit(text[stem]) || text.substr(stem).starts_with("bond_"));
  };
  if (const std::size_t stem = vocab::rdma_stem(text); stem > 0 && is_numbered(stem)) return true;
  return std::any_of(kInterfaces.begin(), kInterfaces.end(), [&](std::string_view stem) {
    return text.starts_with(stem) && is_numbered(stem.size());
  });
}

/// "400g", "25gbe", "392gbps": Gbit/s. A capital B would have been bytes; lower case has lost that,
/// so bytes ("gb" alone, "gib") are left as words.
std::optional<double> glued_rate(std::string_view text) {
  constexpr auto kUnits = std::to_array<std::pair<std::string_view, double>>(
      {{"g", 1}, {"gbe", 1}, {"gbps", 1}, {"gbit", 1}, {"t", 1000}, {"tbps", 1000}});
  const auto end = text.find_first_not_of("0123456789.");
  if (end == 0 || end == std::string_view::npos) return std::nullopt;
  for (const auto& [unit, factor] : kUnits) {
    if (text.substr(end) != unit) continue;
    const auto value = number(text.substr(0, end));
    if (value) return *value * factor;
  }
  return std::nullopt;
}

Word classified(std::string text, int at) {
  Word word;
  word.text = std::move(text);
  word.at = at;
  if (const auto value = number(word.text)) {
    word.kind = WordKind::kNumber;
    word.value = value;
  } else if (is_statement_address(word.text)) {
    word.kind = WordKind::kAddress;
  } else if (is_dotted(word.text, 2)) {
    word.kind = WordKind::kVersion;
  } else if (is_device(word.text)) {
    word.kind = WordKind::kDevice;
  } else if (const auto rate = glued_rate(word.text)) {
    word.kind = WordKind::kRate;
    word.value = rate;
  }
  return word;
}

/// Cuts a line at blanks and punctuation, and keeps together what belongs together: names with
/// underscores, numbers with points, addresses with colons.
class Cutter {
 public:
  explicit Cutter(std::string_view line) : line_(line) {}

  std::vector<Word> words() {
    while (at_ < line_.size()) {
      if (is_start(at_)) {
        const std::size_t before = words_.size();
        take();
        for (std::size_t i = before; i < words_.size(); ++i)
          words_[i].end = at_;
        continue;
      }
      if (line_.substr(at_).starts_with("->") || line_.substr(at_).starts_with("=>")) {
        add("->");
        at_ += 2;
        continue;
      }
      if (line_[at_] == ';') place_ += kClause;
      ++at_;
    }
    return std::move(words_);
  }

 private:
  static constexpr int kClause = 3;  // a semicolon keeps what is before it at a distance

  [[nodiscard]] char after(std::size_t i) const {
    return i + 1 < line_.size() ? line_[i + 1] : ' ';
  }

  [[nodiscard]] bool is_start(std::size_t i) const {
    return is_word_char(line_[i]) || (line_[i] == ':' && after(i) == ':') ||  // "::ffff:10.0.0.1"
           (line_[i] == '-' && is_statement_digit(after(i)) &&
            (i == 0 || !is_word_char(line_[i - 1])));
  }

  /// Whether the character at i carries the piece on.
  [[nodiscard]] bool goes_on(std::size_t i) const {
    const char c = line_[i];
    if (is_word_char(c)) return true;
    const bool is_between = i > 0 && is_word_char(line_[i - 1]) && is_word_char(after(i));
    if (c == '.') return is_between;
    if (c == ',') return is_between && is_statement_digit(line_[i - 1]) && is_thousands(i);
    if (c == '\'') return is_between;
    return false;
  }

  [[nodiscard]] bool is_thousands(std::size_t i) const {
    std::size_t digits = 0;
    while (i + 1 + digits < line_.size() && is_statement_digit(line_[i + 1 + digits]))
      ++digits;
    return digits == 3;
  }

  [[nodiscard]] std::size_t address_end() const {
    std::size_t end = at_;
    while (end < line_.size() && (std::isxdigit(static_cast<unsigned char>(line_[end])) != 0 ||
                                  line_[end] == ':' || line_[end] == '.'))
      ++end;
    while (end > at_ && (line_[end - 1] == '.' || (line_[end - 1] == ':' && end - at_ < 3)))
      --end;
    const std::string_view piece = line_.substr(at_, end - at_);
    const bool ends_word = end >= line_.size() || !is_word_char(line_[end]);
    return ends_word && count(piece, ':') >= 2 && is_statement_address(piece) ? end : at_;
  }

  void add(std::string text) { words_.push_back(classified(std::move(text), place_++)); }

  void take() {
    if (const std::size_t end = address_end(); end > at_) {
      add(lower(line_.substr(at_, end - at_)));
      at_ = end;
      return;
    }
    const std::size_t begin = at_;
    if (line_[at_] == '-' || line_[at_] == ':') ++at_;
    while (at_ < line_.size() && goes_on(at_))
      ++at_;
    std::string text = lower(line_.substr(begin, at_ - begin));
    if (text.ends_with("'s")) text.resize(text.size() - 2);  // whose
    if (text.empty() || text == "-" || text == ":") return;
    add(text);
    readings(text, begin);
  }

  void readings(const std::string& text, std::size_t begin) {
    const int place = words_.back().at;
    const char next = at_ < line_.size() ? line_[at_] : ' ';
    // A flag of a register dump, as lspci prints it: the sign belongs to the word.
    if ((next == '+' || next == '-') && is_statement_letter(text.front()) &&
        !is_word_char(after(at_)) && after(at_) != '>')
      words_.push_back({text + next, WordKind::kWord, place, std::nullopt});
    if (next == '=' && after(at_) != '>' && after(at_) != '=' &&
        !is_statement_digit(text.front())) {
      const std::size_t end = std::min(line_.find_first_of(" \t,;)\"'", at_ + 1), line_.size());
      if (end > at_ + 1)
        words_.push_back({text + lower(line_.substr(at_, end - at_)), WordKind::kAssignment, place,
                          std::nullopt});
    }
    if (words_.back().kind == WordKind::kVersion && next == '-' && is_statement_digit(after(at_)))
      words_.push_back({text, WordKind::kKernelVersion, place, std::nullopt});
    if (words_.back().kind == WordKind::kNumber) rate_of_units(begin, place);
  }

  /// "392.1 Gb/s": Gbit/s; "49.4 GB/s": bytes, eight times as much.
  void rate_of_units(std::size_t begin, int place) {
    constexpr auto kUnits = std::to_array<std::pair<std::string_view, double>>({{"Gb/s", 1},
                                                                                {"Gbps", 1},
                                                                                {"Gbit", 1},
                                                                                {"Gb/sec", 1},
                                                                                {"GB/s", 8},
                                                                                {"GBps", 8},
                                                                                {"MB/s", 0.008},
                                                                                {"Mb/s", 0.001},
                                                                                {"Tb/s", 1000}});
    const std::string_view rest = trim(line_.substr(at_));
    for (const auto& [unit, factor] : kUnits) {
      if (!rest.starts_with(unit)) continue;
      const auto value = number(line_.substr(begin, at_ - begin));
      if (!value) return;
      words_.push_back({words_.back().text, WordKind::kRate, place, *value * factor});
      return;
    }
  }

  std::string_view line_;
  std::size_t at_ = 0;
  int place_ = 0;
  std::vector<Word> words_;
};

}  // namespace

std::vector<Statement> statements_of(std::string_view text, std::size_t most) {
  std::vector<Statement> out;
  for (const Line& line : lines_of(text)) {
    if (out.size() >= most) break;
    auto words = Cutter(line.text).words();
    if (words.empty()) continue;
    out.push_back({line.number, std::string(trim(line.text)), std::move(words)});
  }
  return out;
}

}  // namespace weir::readers
