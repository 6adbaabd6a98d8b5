#include "readers/paste/paste_counted.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>

#include "base/text.h"
#include "readers/paste/kernel_log.h"
#include "readers/paste/text_lines.h"

namespace weir::readers {
namespace {

enum class Piece : std::uint8_t {
  kCounter,
  kNumber,
  kGrowth,  // "+12"
  kRate,    // "81203/s": follows from the others
  kArrow,
  kBefore,  // a word for the first moment
  kAfter,   // and for the second
  kDelta,   // a word for the difference
  kClock,
  kDevice,
  kHost,
  kUnit,
  kLabel,    // "port", "counter": says what its neighbour is
  kComment,  // a person's words follow
  kWord,
};

struct Token {
  Piece piece = Piece::kWord;
  std::string_view text = {};
  std::uint64_t value = 0;
  bool begins_clause = false;  // a comma, a bar or a bracket is in front of it
};

struct Known {
  std::string_view word;
  Piece piece;
};
constexpr auto kKnownWords = std::to_array<Known>({
    {"pre", Piece::kBefore},        {"before", Piece::kBefore},   {"start", Piece::kBefore},
    {"begin", Piece::kBefore},      {"t0", Piece::kBefore},       {"old", Piece::kBefore},
    {"first", Piece::kBefore},      {"earlier", Piece::kBefore},  {"was", Piece::kBefore},
    {"from", Piece::kBefore},       {"initial", Piece::kBefore},  {"baseline", Piece::kBefore},
    {"post", Piece::kAfter},        {"after", Piece::kAfter},     {"end", Piece::kAfter},
    {"t1", Piece::kAfter},          {"new", Piece::kAfter},       {"second", Piece::kAfter},
    {"now", Piece::kAfter},         {"later", Piece::kAfter},     {"to", Piece::kAfter},
    {"final", Piece::kAfter},       {"is", Piece::kAfter},        {"last", Piece::kAfter},
    {"delta", Piece::kDelta},       {"diff", Piece::kDelta},      {"difference", Piece::kDelta},
    {"increase", Piece::kDelta},    {"growth", Piece::kDelta},    {"grew", Piece::kDelta},
    {"change", Piece::kDelta},      {"changed", Piece::kDelta},   {"increment", Piece::kDelta},
    {"packets", Piece::kUnit},      {"pkts", Piece::kUnit},       {"frames", Piece::kUnit},
    {"bytes", Piece::kUnit},        {"us", Piece::kUnit},         {"events", Piece::kUnit},
    {"port", Piece::kLabel},        {"nic", Piece::kLabel},       {"hca", Piece::kLabel},
    {"host", Piece::kLabel},        {"node", Piece::kLabel},      {"device", Piece::kLabel},
    {"dev", Piece::kLabel},         {"rail", Piece::kLabel},      {"counter", Piece::kLabel},
    {"iface", Piece::kLabel},       {"interface", Piece::kLabel}, {"name", Piece::kLabel},
    {"hostname", Piece::kLabel},    {"netdev", Piece::kLabel},    {"metric", Piece::kLabel},
    {"time", Piece::kLabel},        {"timestamp", Piece::kLabel}, {"server", Piece::kLabel},
    {"hw_counters", Piece::kLabel},
});

bool is_name_of_host(std::string_view word) {
  return !word.empty() && word.find_first_of("0123456789") != std::string_view::npos &&
         ((word[0] >= 'a' && word[0] <= 'z') || (word[0] >= 'A' && word[0] <= 'Z')) &&
         std::all_of(word.begin(), word.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '.';
         });
}

/// "mlx5_0" of "mlx5_0/1"; empty where the word is no device.
std::string_view device_of_word(std::string_view word) {
  const std::string_view name = word.substr(0, word.find('/'));
  return is_rdma_name(name) || is_netdev_name(name) ? name : std::string_view();
}

Token token_of(std::string_view word) {
  if (const auto number = parse_count(word)) return {Piece::kNumber, word, *number};
  if (word.starts_with('+'))
    if (const auto number = parse_count(word.substr(1))) return {Piece::kGrowth, word, *number};
  if (word.ends_with("/s")) return {Piece::kRate, word};
  const std::string lower = lower_case(word);
  const auto* const known = std::find_if(kKnownWords.begin(), kKnownWords.end(),
                                         [&](const Known& item) { return item.word == lower; });
  if (known != kKnownWords.end()) return {known->piece, word};
  if (place_of_counter(word)) return {Piece::kCounter, word};
  if (const auto device = device_of_word(word); !device.empty()) return {Piece::kDevice, device};
  return {is_name_of_host(word) ? Piece::kHost : Piece::kWord, word};
}

/// Cuts a line into the pieces above; what is behind a comment's sign is left out.
class Pieces {
 public:
  explicit Pieces(std::string_view text) : text_(text) {
    while (at_ < text_.size())
      if (!step()) break;
  }
  std::vector<Token> tokens;
  bool is_listed = false;  // a counter has a colon or an equal sign behind it

 private:
  static bool is_separator(char c) {
    return std::string_view(" \t,;|()[]{}\"'`:=").find(c) != std::string_view::npos;
  }
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  void take(Piece piece, std::size_t size) {
    add({piece, text_.substr(at_, size)});
    at_ += size;
  }
  void add(Token token) {
    token.begins_clause = std::exchange(is_at_clause_, false);
    tokens.push_back(token);
  }

  bool step() {
    if (is_separator(text_[at_])) {
      is_at_clause_ =
          is_at_clause_ || std::string_view(",;|(").find(text_[at_]) != std::string_view::npos;
      const bool is_sign = text_[at_] == ':' || text_[at_] == '=';
      is_listed = is_listed || (is_sign && !tokens.empty() && !rest().starts_with("=>") &&
                                tokens.back().piece == Piece::kCounter);
      if (!rest().starts_with("=>")) return ++at_, true;
    }
    for (const std::string_view arrow : {"-->", "->", "=>", "→", "~>"})
      if (rest().starts_with(arrow)) return take(Piece::kArrow, arrow.size()), true;
    for (const std::string_view sign : {"Δ", "∆"})
      if (rest().starts_with(sign)) return take(Piece::kDelta, sign.size()), true;
    for (const std::string_view sign : {"<-", "#", "//", "!!", "←", "*"})
      if (rest().starts_with(sign)) return take(Piece::kComment, sign.size()), false;
    constexpr std::size_t kClock = 8;  // "10:31:02"
    if (second_of_day(text_.substr(at_, kClock)) &&
        (at_ + kClock >= text_.size() || is_separator(text_[at_ + kClock]) ||
         text_[at_ + kClock] == '.' || text_[at_ + kClock] == 'Z')) {
      const std::size_t end = std::min(text_.find_first_of(" \t,;|)]", at_), text_.size());
      take(Piece::kClock, end - at_);
      return true;
    }
    for (const std::size_t size : {std::size_t{12}, std::size_t{7}})
      if (is_pci_address(text_.substr(at_, size))) return take(Piece::kLabel, size), true;
    take_word();
    return true;
  }

  void take_word() {
    std::size_t end = at_;
    while (end < text_.size()) {
      const char c = text_[end];
      if (c == ',' && is_thousands(end)) {
        ++end;
        continue;
      }
      const std::string_view here = text_.substr(end);
      if (is_separator(c) || here.starts_with("->") || here.starts_with("→")) break;
      ++end;
    }
    end = std::max(end, at_ + 1);
    add(token_of(text_.substr(at_, end - at_)));
    at_ = end;
  }

  /// A comma within a number.
  [[nodiscard]] bool is_thousands(std::size_t comma) const {
    const auto is_digit_at = [&](std::size_t i) {
      return i < text_.size() && text_[i] >= '0' && text_[i] <= '9';
    };
    return comma > at_ && is_digit_at(comma - 1) && is_digit_at(comma + 1) &&
           is_digit_at(comma + 2) && is_digit_at(comma + 3) && !is_digit_at(comma + 4) &&
           (is_digit_at(at_) || text_[at_] == '+');
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool is_at_clause_ = false;
};

/// What is behind the name of one counter: numbers, and the words and arrows between them.
struct Values {
  std::vector<Token> pieces;  // without units and rates
  std::optional<std::uint64_t> growth;

  [[nodiscard]] bool has(Piece piece) const {
    return std::any_of(pieces.begin(), pieces.end(),
                       [&](const Token& token) { return token.piece == piece; });
  }
  [[nodiscard]] std::vector<std::uint64_t> numbers() const {
    std::vector<std::uint64_t> out;
    for (const Token& token : pieces)
      if (token.piece == Piece::kNumber) out.push_back(token.value);
    return out;
  }
};

bool is_moment(Piece piece) {
  return piece == Piece::kBefore || piece == Piece::kAfter || piece == Piece::kDelta;
}

/// Which moment each number is of, in the order of the numbers; kNumber where no word says it.
using Moments = std::vector<Piece>;

/// "now 40120, was 12", "40120 now, 12 before": one number between commas, and a word at most.
std::optional<Moments> moments_of_clauses(const std::vector<Token>& pieces) {
  Moments out;
  Piece word = Piece::kNumber;
  std::size_t numbers = 0;
  const auto close = [&] {
    if (numbers == 1) out.push_back(word);
    const bool is_one = numbers == 1;
    numbers = 0;
    word = Piece::kNumber;
    return is_one;
  };
  for (const Token& token : pieces) {
    if (token.begins_clause && &token != &pieces.front() && !close()) return std::nullopt;
    if (token.piece == Piece::kArrow || (is_moment(token.piece) && word != Piece::kNumber))
      return std::nullopt;
    if (is_moment(token.piece)) word = token.piece;
    numbers += token.piece == Piece::kNumber ? 1 : 0;
  }
  return close() ? std::optional(out) : std::nullopt;
}

/// "was 12 now 40", "before after 12 40": words wait for the numbers behind them. Where the words
/// come last ("12 before 40 after") the same holds from the end.
Moments moments_in_order(std::vector<Token> pieces) {
  const bool is_from_end = pieces.front().piece == Piece::kNumber && is_moment(pieces.back().piece);
  if (is_from_end) std::reverse(pieces.begin(), pieces.end());
  Moments out;
  std::vector<Piece> waiting;
  for (const Token& token : pieces) {
    if (token.piece == Piece::kNumber) {
      out.push_back(waiting.empty() ? Piece::kNumber : waiting.front());
      if (!waiting.empty()) waiting.erase(waiting.begin());
    } else if (is_moment(token.piece)) {
      // "grew from 12 to 40": the first word says what follows, and is of no number.
      if (!waiting.empty() && waiting.back() == Piece::kDelta) waiting.pop_back();
      waiting.push_back(token.piece);
    }
  }
  // "was 12, 40 now"
  if (!waiting.empty() && !out.empty() && out.back() == Piece::kNumber)
    out.back() = waiting.front();
  if (is_from_end) std::reverse(out.begin(), out.end());
  return out;
}

/// The numbers by their moment: what no word names takes the moments that are left, in the order in
/// which people write them. nullopt where two numbers are of one moment.
struct ByMoment {
  std::optional<std::uint64_t> before;
  std::optional<std::uint64_t> after;
  std::optional<std::uint64_t> delta;
};
std::optional<ByMoment> by_moment(const Values& values) {
  const auto clauses = moments_of_clauses(values.pieces);
  const Moments moments = clauses ? *clauses : moments_in_order(values.pieces);
  const auto numbers = values.numbers();
  ByMoment out;
  const auto place = [&](Piece moment) -> std::optional<std::uint64_t>& {
    return moment == Piece::kBefore ? out.before : moment == Piece::kAfter ? out.after : out.delta;
  };
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (moments[i] == Piece::kNumber) continue;
    if (place(moments[i])) return std::nullopt;
    place(moments[i]) = numbers[i];
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (moments[i] != Piece::kNumber) continue;
    auto& free = !out.before ? out.before : !out.after ? out.after : out.delta;
    if (free) return std::nullopt;
    free = numbers[i];
  }
  return out;
}

/// "12 to 40" is "12 -> 40" where the line speaks of a growth.
void take_to_for_an_arrow(Values& values) {
  bool is_behind_number = false;
  const bool has_delta = values.has(Piece::kDelta);
  for (Token& token : values.pieces) {
    if (is_behind_number && has_delta && token.text == "to") token.piece = Piece::kArrow;
    is_behind_number = token.piece == Piece::kNumber;
  }
}

std::optional<Counted> counted_of_two(std::string_view name, Values values, bool is_delta) {
  take_to_for_an_arrow(values);
  const bool has_delta = values.has(Piece::kDelta);
  const bool is_pair =
      values.has(Piece::kArrow) || (values.has(Piece::kBefore) && values.has(Piece::kAfter));
  if (is_pair)  // "delta: 12 -> 40", "grew from 12 to 40"
    std::erase_if(values.pieces, [](const Token& token) { return token.piece == Piece::kDelta; });
  if (!is_pair && has_delta && !values.has(Piece::kBefore) && !values.has(Piece::kAfter)) {
    const auto clauses = moments_of_clauses(values.pieces);
    const Moments moments = clauses ? *clauses : moments_in_order(values.pieces);
    const auto n = values.numbers();
    const std::size_t delta = moments.front() == Piece::kDelta ? 0 : 1;
    if (delta == 0 && !clauses) return std::nullopt;  // "delta 12 40": what 40 is nobody says
    return n[delta] <= n[1 - delta]
               ? std::optional(Counted{name, n[1 - delta], n[1 - delta] - n[delta]})
               : std::nullopt;
  }
  const auto found = is_pair || has_delta ? by_moment(values) : std::nullopt;
  const auto n = values.numbers();
  if (!found) {
    if (is_pair || has_delta || !is_delta || n[1] > n[0]) return std::nullopt;
    return Counted{name, n[0], n[0] - n[1]};
  }
  if (found->before && found->after) return Counted{name, *found->after, *found->before};
  if (found->before && *found->before <= UINT64_MAX - *found->delta)
    return Counted{name, *found->before + *found->delta, *found->before};
  if (found->after && *found->delta <= *found->after)
    return Counted{name, *found->after, *found->after - *found->delta};
  return std::nullopt;
}

/// Three numbers are two readings and their difference: it must be it.
std::optional<Counted> counted_of_three(std::string_view name, const Values& values) {
  const auto n = values.numbers();
  const bool is_said =
      values.has(Piece::kBefore) || values.has(Piece::kAfter) || values.has(Piece::kDelta);
  if (is_said && !values.has(Piece::kArrow))
    if (const auto found = by_moment(values);
        found && *found->before + *found->delta == *found->after)
      return Counted{name, *found->after, *found->before};
  return n[0] + n[2] == n[1] ? std::optional(Counted{name, n[1], n[0]}) : std::nullopt;
}

std::optional<Counted> counted_of(std::string_view name, const Values& values, bool is_delta) {
  const auto n = values.numbers();
  const bool is_growth = values.has(Piece::kDelta) || is_delta;
  const auto window = [&](std::uint64_t before, std::uint64_t after) {
    return Counted{name, after, before};
  };
  if (n.empty()) return values.growth ? std::optional(window(0, *values.growth)) : std::nullopt;
  if (n.size() == 1 && values.growth)
    return *values.growth <= n[0] ? std::optional(window(n[0] - *values.growth, n[0]))
                                  : std::nullopt;
  if (n.size() == 1) return is_growth ? window(0, n[0]) : Counted{name, n[0], std::nullopt};
  if (n.size() == 2) return counted_of_two(name, values, is_delta);
  return n.size() == 3 ? counted_of_three(name, values) : std::nullopt;
}

/// Reads the pieces in order: whose, then names with their numbers.
class LineReader {
 public:
  std::optional<CountedLine> read(std::string_view text) {
    const Pieces pieces(text);
    out_.is_listed = pieces.is_listed;
    for (const Token& token : pieces.tokens) {
      if (token.piece == Piece::kComment) break;
      const bool is_fitting = name_.empty() ? take_place(token) : take_value(token);
      if (!is_fitting) return std::nullopt;
    }
    if (name_.empty() || !finish_counter()) return std::nullopt;
    const bool is_window = out_.is_window();
    const bool is_one_kind =
        std::all_of(out_.counts.begin(), out_.counts.end(),
                    [&](const Counted& item) { return item.before.has_value() == is_window; });
    return is_one_kind ? std::optional(std::move(out_)) : std::nullopt;
  }

 private:
  bool finish_counter() {
    if (name_.empty()) return true;
    const auto item = counted_of(name_, values_, is_delta_);
    if (item) out_.counts.push_back(*item);
    values_ = {};
    return item.has_value();
  }

  /// In front of the first counter.
  bool take_place(const Token& token) {
    const bool is_labelled = is_label_;
    is_label_ = token.piece == Piece::kLabel;
    const auto is = [&](Piece piece) { return token.piece == piece; };
    if (is(Piece::kCounter)) {
      name_ = token.text;
    } else if (is(Piece::kClock)) {
      out_.second = second_of_day(token.text.substr(0, 8));
    } else if (is(Piece::kDevice) && out_.device.empty()) {
      out_.device = token.text;
    } else if (is(Piece::kHost) && out_.host.empty()) {
      out_.host = token.text;
    } else if (is(Piece::kDelta)) {
      is_delta_ = true;
    } else {
      const bool is_number_of = is(Piece::kNumber) && is_labelled && token.value < 64;  // "port 1"
      return is(Piece::kLabel) || is_number_of || (is(Piece::kHost) && is_labelled);
    }
    return true;
  }

  bool take_value(const Token& token) {
    const auto is = [&](Piece piece) { return token.piece == piece; };
    if (is(Piece::kCounter)) {
      if (!finish_counter()) return false;
      name_ = token.text;
    } else if (is(Piece::kGrowth)) {
      values_.growth = token.value;
    } else if (is(Piece::kNumber) || is(Piece::kArrow) || is_moment(token.piece)) {
      values_.pieces.push_back(token);
    } else {
      return is(Piece::kRate) || is(Piece::kUnit);
    }
    return true;
  }

  CountedLine out_;
  std::string_view name_;
  Values values_;
  bool is_delta_ = false;
  bool is_label_ = false;
};

}  // namespace

std::optional<CountedLine> counted_line(std::string_view text) {
  constexpr std::size_t kLongest = 400;
  if (text.size() > kLongest || text.find('_') == std::string_view::npos) return std::nullopt;
  if (auto line = LineReader().read(text)) return line;
  // "during the run: out_of_sequence +61230, packet_seq_err +3"
  const std::size_t colon = text.rfind(": ");
  if (colon == std::string_view::npos) return std::nullopt;
  auto line = LineReader().read(text.substr(colon + 2));
  const bool is_list = line && line->counts.size() > 1 && line->is_window();
  return is_list ? line : std::nullopt;
}

// ---- tables ----

namespace {

enum class Role : std::uint8_t {
  kHost,
  kDevice,
  kTime,
  kName,     // of a counter, a row each
  kCounter,  // the column counts it
  kOf,       // the column is of this device or host
  kMoment,
  kDelta,
  kOther,
};

struct Column {
  Role role = Role::kOther;
  std::string_view text;
  Piece moment = Piece::kWord;              // kBefore, kAfter, where its heading is such a word
  std::optional<std::int64_t> second = {};  // where it is a time of the day
};

/// The cells of a row: between bars, between commas, or between blanks.
std::vector<std::string_view> row_cells(std::string_view text) {
  text = trim(text);
  const char sign =
      text.find('|') != std::string_view::npos ? '|'
      : text.find(", ") == std::string_view::npos && std::count(text.begin(), text.end(), ',') > 1
          ? ','
          : ' ';
  if (sign == ' ') return words_of(text);
  std::vector<std::string_view> out;
  for (const std::string_view cell : split(text, sign))
    out.push_back(trim(cell));
  if (sign == '|' && !out.empty() && out.front().empty()) out.erase(out.begin());
  if (sign == '|' && !out.empty() && out.back().empty()) out.pop_back();
  return out;
}

std::string_view bare_cell(std::string_view cell) {
  constexpr std::string_view kAround = "`*:\"'";
  const std::size_t begin = cell.find_first_not_of(kAround);
  return begin == std::string_view::npos
             ? std::string_view()
             : cell.substr(begin, cell.find_last_not_of(kAround) + 1 - begin);
}

/// "60s", "+60s", "(60s)", "t0+60s": how much later the second moment is.
std::optional<std::int64_t> seconds_in(std::string_view word) {
  if (word.starts_with("t0+") || word.starts_with("T0+")) word.remove_prefix(3);
  while (!word.empty() && (word.front() == '(' || word.front() == '+'))
    word.remove_prefix(1);
  while (!word.empty() && (word.back() == ')' || word.back() == ':' || word.back() == ','))
    word.remove_suffix(1);
  const std::size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
  const auto value = parse_u64(word.substr(0, digits));
  const std::string_view unit = word.substr(digits);
  constexpr std::uint64_t kDay = 86'400;
  if (!value || *value == 0 || *value > kDay) return std::nullopt;
  const bool is_second = unit == "s" || unit == "sec" || unit == "secs" || unit == "seconds";
  const bool is_minute = unit == "m" || unit == "min" || unit == "mins" || unit == "minutes";
  if (!is_second && !is_minute) return std::nullopt;
  return static_cast<std::int64_t>(*value) * (is_minute ? 60 : 1);
}

struct Heading {
  std::vector<Column> columns;
  std::optional<std::int64_t> seconds;
  std::size_t numbers = 0;  // the first column with a number of a row; names are in front of it
  std::size_t before = 0;   // of two moments or more: the columns of the first reading and the last
  std::size_t after = 0;
  /// Which number of a row is in a column. One with another heading may have words in the rows.
  [[nodiscard]] std::size_t place_of(std::size_t column, std::size_t values) const {
    const bool is_each = values >= columns.size() - numbers;
    std::size_t out = 0;
    for (std::size_t i = numbers; i < column; ++i)
      out += is_each || columns[i].role == Role::kMoment || columns[i].role == Role::kDelta ? 1 : 0;
    return out;
  }
  [[nodiscard]] std::size_t count(Role role) const {
    return static_cast<std::size_t>(std::count_if(
        columns.begin(), columns.end(), [&](const Column& column) { return column.role == role; }));
  }
};

Role role_of(std::string_view cell) {
  constexpr auto kHosts = std::to_array<std::string_view>({"host", "node", "hostname", "server"});
  constexpr auto kDevices = std::to_array<std::string_view>(
      {"device", "dev", "hca", "nic", "interface", "iface", "netdev", "port", "rail"});
  constexpr auto kTimes = std::to_array<std::string_view>({"time", "timestamp", "clock"});
  constexpr auto kNames = std::to_array<std::string_view>(
      {"counter", "name", "metric", "statistic", "stat", "counters"});
  const std::string lower = lower_case(cell);
  const auto is_among = [&](const auto& words) {
    return std::find(words.begin(), words.end(), lower) != words.end();
  };
  if (is_among(kHosts)) return Role::kHost;
  if (is_among(kDevices)) return Role::kDevice;
  if (is_among(kTimes)) return Role::kTime;
  if (is_among(kNames)) return Role::kName;
  constexpr std::size_t kClock = 8;
  if (second_of_day(cell.substr(0, kClock)) || lower.starts_with("t0+")) return Role::kMoment;
  const Piece piece = cell == "Δ" || cell == "∆" ? Piece::kDelta : token_of(cell).piece;
  if (piece == Piece::kCounter) return Role::kCounter;
  if (piece == Piece::kBefore || piece == Piece::kAfter) return Role::kMoment;
  if (piece == Piece::kDelta) return Role::kDelta;
  return piece == Piece::kDevice || piece == Piece::kHost ? Role::kOf : Role::kOther;
}

/// A row per counter: its name, then the numbers of the columns.
struct NamedRow {
  CountedLine place;
  std::string_view name;
  std::vector<std::uint64_t> values;
};
std::optional<NamedRow> named_row(const std::vector<std::string_view>& cells) {
  NamedRow out;
  for (const std::string_view raw : cells) {
    const std::string_view cell = bare_cell(raw);
    const auto value = parse_count(cell.starts_with('+') ? cell.substr(1) : cell);
    if (!out.name.empty()) {
      if (value) out.values.push_back(*value);
      if (!value && !cell.empty() && cell.front() != '(' && token_of(cell).piece != Piece::kRate)
        return std::nullopt;
      continue;
    }
    const Token token = token_of(cell);
    // "mlx5_0 np_cnp_sent 1 2", and a name with an underscore that no catalogue has
    if (token.piece == Piece::kDevice) {
      out.place.device = token.text;
    } else if (token.piece == Piece::kHost) {
      out.place.host = token.text;
    } else if (token.piece == Piece::kCounter || cell.find('_') != std::string_view::npos) {
      out.name = cell;
    } else {
      return std::nullopt;
    }
  }
  return out.name.empty() || out.values.empty() ? std::nullopt : std::optional(out);
}

/// The later of two columns is in front of the other: "after before", "10:00:30 10:00:00".
bool is_reversed(const Column& first, const Column& last) {
  constexpr std::int64_t kHalfDay = 43'200;  // beyond it midnight is between them
  if (first.second && last.second)
    return *first.second > *last.second && *first.second - *last.second < kHalfDay;
  return first.moment == Piece::kAfter && last.moment == Piece::kBefore;
}

void set_ends(Heading& heading) {
  std::vector<std::size_t> moments;
  const auto& columns = heading.columns;
  heading.numbers = columns.size();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].role == Role::kMoment) moments.push_back(i);
    if (columns[i].role == Role::kMoment || columns[i].role == Role::kDelta)
      heading.numbers = std::min(heading.numbers, i);
  }
  if (moments.size() < 2) return;
  heading.before = moments.front();
  heading.after = moments.back();
  if (is_reversed(columns[heading.before], columns[heading.after]))
    std::swap(heading.before, heading.after);
  const auto& first = columns[heading.before].second;
  const auto& last = columns[heading.after].second;
  constexpr std::int64_t kDay = 86'400;
  if (moments.size() == 2 && first && last && *first != *last)
    heading.seconds = (*last - *first + kDay) % kDay;
}

/// The heading's cells with their roles; a time beside a moment belongs to it ("after 60s").
std::optional<Heading> heading_of_table(std::string_view text) {
  constexpr std::size_t kMost = 24;
  const auto cells = row_cells(text);
  if (cells.size() < 2 || cells.size() > kMost) return std::nullopt;
  // A row of numbers heads no table: else each row of a table that nobody knows would begin one
  // more, and the time would grow with the square of the rows.
  if (named_row(cells)) return std::nullopt;
  Heading out;
  for (const std::string_view cell : cells) {
    std::string_view bare = bare_cell(cell);
    // "np_cnp_sent(60s)"
    const std::size_t open = bare.find('(');
    if (open != std::string_view::npos && open > 0 && bare.ends_with(')')) {
      if (const auto seconds = seconds_in(bare.substr(open))) {
        out.seconds = seconds;
        bare = bare.substr(0, open);
      }
    }
    if (const auto seconds = seconds_in(bare); seconds && !out.columns.empty()) {
      out.seconds = seconds;
      if (!lower_case(bare).starts_with("t0+")) continue;
    }
    // "after 60s" between bars is one cell.
    const auto words = words_of(bare);
    if (words.size() == 2)
      if (const auto seconds = seconds_in(words[1])) out.seconds = seconds;
    const Role role = role_of(words.size() == 2 && out.seconds ? words[0] : bare);
    Column column{role, bare};
    if (role == Role::kMoment) {
      column.moment = token_of(words.size() == 2 ? words[0] : bare).piece;
      column.second = second_of_day(bare.substr(0, 8));
      if (lower_case(bare).starts_with("t0+")) column.moment = Piece::kAfter;
    }
    out.columns.push_back(column);
  }
  set_ends(out);
  return out;
}

/// A row per device, host or time, and a column per counter.
std::optional<CountedLine> row_of_counters(const Heading& heading,
                                           const std::vector<std::string_view>& cells) {
  const std::size_t columns = heading.columns.size();
  const bool is_unnamed = cells.size() == columns + 1;  // the first column has no heading
  if (cells.size() != columns && !is_unnamed) return std::nullopt;
  CountedLine out;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Role role =
        is_unnamed && i == 0 ? Role::kOther : heading.columns[is_unnamed ? i - 1 : i].role;
    const std::string_view cell = bare_cell(cells[i]);
    if (role == Role::kCounter) {
      const auto value = parse_count(cell.starts_with('+') ? cell.substr(1) : cell);
      if (!value) return std::nullopt;
      const std::string_view name = heading.columns[is_unnamed ? i - 1 : i].text;
      const bool is_growth = cell.starts_with('+');
      out.counts.push_back(
          {name, *value, is_growth ? std::optional<std::uint64_t>(0) : std::nullopt});
      continue;
    }
    const Token token = token_of(cell);
    if (second_of_day(cell.substr(0, 8))) {
      out.second = second_of_day(cell.substr(0, 8));
    } else if (token.piece == Piece::kDevice) {
      out.device = token.text;
    } else if (role == Role::kHost && !cell.empty()) {
      out.host = cell;
    } else if (token.piece == Piece::kHost && role == Role::kOther) {
      out.host = token.text;
    }
  }
  const bool is_placed = !out.device.empty() || !out.host.empty() || out.second;
  return is_placed ? std::optional(out) : std::nullopt;
}

std::vector<CountedLine> lines_of_row(const Heading& heading, const NamedRow& row) {
  std::vector<CountedLine> out;
  const std::size_t moments = heading.count(Role::kMoment);
  const std::size_t places = heading.count(Role::kOf);
  if (moments >= 2) {
    const std::size_t before = heading.place_of(heading.before, row.values.size());
    const std::size_t after = heading.place_of(heading.after, row.values.size());
    if (std::max(before, after) >= row.values.size()) return out;
    CountedLine line = row.place;
    line.counts.push_back({row.name, row.values[after], row.values[before]});
    out.push_back(std::move(line));
  } else if (moments == 0 && places == 0 && heading.count(Role::kDelta) == 1 &&
             row.values.size() == 1) {
    CountedLine line = row.place;
    line.counts.push_back({row.name, row.values.front(), 0});
    out.push_back(std::move(line));
  } else if (moments == 0 && places >= 2 && row.values.size() == places) {
    std::size_t n = 0;
    for (const Column& column : heading.columns) {
      if (column.role != Role::kOf) continue;
      CountedLine line = row.place;
      (device_of_word(column.text).empty() ? line.host : line.device) = column.text;
      line.counts.push_back({row.name, row.values[n++], std::nullopt});
      out.push_back(std::move(line));
    }
  }
  return out;
}

}  // namespace

std::optional<CountedTable> counted_table(const PasteAt& at) {
  const auto heading = heading_of_table(at.line(0));
  if (!heading) return std::nullopt;
  const bool by_counter = heading->count(Role::kCounter) > 0;
  const bool is_table = by_counter || heading->count(Role::kMoment) >= 2 ||
                        heading->count(Role::kDelta) == 1 || heading->count(Role::kOf) >= 2;
  if (!is_table) return std::nullopt;
  CountedTable out;
  out.seconds = heading->seconds;
  std::size_t n = 1;
  bool is_known = false;
  for (; n < at.lines.size(); ++n) {
    const std::string_view text = at.line(n);
    if (n == 1 && (is_rule(text) || text.find("---") != std::string_view::npos)) continue;
    const auto cells = row_cells(text);
    if (by_counter) {
      auto row = row_of_counters(*heading, cells);
      if (!row) break;
      is_known = true;
      out.rows.push_back(std::move(*row));
      continue;
    }
    const auto row = named_row(cells);
    if (!row) break;
    auto lines = lines_of_row(*heading, *row);
    if (lines.empty()) break;
    is_known = is_known || place_of_counter(row->name).has_value();
    std::move(lines.begin(), lines.end(), std::back_inserter(out.rows));
  }
  out.lines = n;
  // "+12" beside "0": all of them are growth.
  const bool is_growth = std::any_of(out.rows.begin(), out.rows.end(), [](const CountedLine& row) {
    return std::any_of(row.counts.begin(), row.counts.end(),
                       [](const Counted& item) { return item.before == 0U; });
  });
  for (CountedLine& row : out.rows)
    for (Counted& item : row.counts)
      if (by_counter && is_growth && !item.before) item.before = 0;
  return is_known ? std::optional(std::move(out)) : std::nullopt;
}

// ---- where counters go ----

CountedSink::CountedSink(const PasteAt& at, PasteSink& out)
    : out_(out), host_(out.host()), is_ethtool_(at.mark.tool() == "ethtool") {
  device_ = at.mark.device.empty() ? out.told.device : at.mark.device;
  if (out.told.seconds) {
    PasteTime time = out.hosts().time();
    time.interval = out.told.seconds;
    out.hosts().set_time(time);
  }
  if (is_ethtool_) place_ = counters::Place::kEthtool;
}

PastedNic& CountedSink::nic_of(const CountedLine& line) {
  if (line.second) {
    PasteTime time = out_.hosts().time();
    time.second = line.second;
    out_.hosts().set_time(time);
  }
  return out_.hosts().by_name(line.host.empty() ? std::string_view(host_) : line.host,
                              line.device.empty() ? std::string_view(device_) : line.device);
}

void CountedSink::add_window(PastedNic& nic, const Counted& item) {
  const auto key = std::pair<const PastedNic*, counters::Place>(&nic, place_);
  if (std::find(begun_.begin(), begun_.end(), key) == begun_.end()) {
    nic.begin_window(place_, item.name);
    begun_.push_back(key);
  }
  nic.add_window(place_, item.name, item.before.value_or(0), item.value);
}

void CountedSink::add(const CountedLine& line) {
  PastedNic& nic = nic_of(line);
  for (const Counted& item : line.counts) {
    if (!is_ethtool_) place_ = place_of_counter(item.name).value_or(place_);
    if (item.before || out_.told.is_window) {
      add_window(nic, item);
    } else {
      add_count(nic.dump_for(place_, item.name), place_, item.name, item.value);
    }
  }
}

std::size_t CountedSink::add(const CountedTable& table) {
  if (table.seconds) {
    PasteTime time = out_.hosts().time();
    time.interval = table.seconds;
    out_.hosts().set_time(time);
  }
  for (const CountedLine& row : table.rows)
    add(row);
  return table.lines;
}

void CountedSink::add_unknown(std::string_view name, std::uint64_t value) {
  PastedNic& nic = nic_of({});
  add_count(nic.dump_for(place_, name), place_, name, value);
}

// ---- what is said above a list ----

namespace {

/// The one device that a line names; empty where there is none, or several.
std::string_view device_named_in(const std::vector<std::string_view>& words) {
  std::string_view found;
  for (std::string_view word : words) {
    while (!word.empty() && std::string_view("(`'\"[").find(word.front()) != std::string_view::npos)
      word.remove_prefix(1);
    while (!word.empty() &&
           std::string_view(")`'\"],.:;").find(word.back()) != std::string_view::npos)
      word.remove_suffix(1);
    const std::string_view device = device_of_word(word);
    if (device.empty() || device == found) continue;
    if (!found.empty()) return {};
    found = device;
  }
  return found;
}

/// "60 s", "60s", "5 minutes" anywhere in a line.
std::optional<std::int64_t> seconds_among(const std::vector<std::string_view>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (const auto seconds = seconds_in(words[i])) return seconds;
    if (i + 1 == words.size() || !parse_count(words[i])) continue;
    if (const auto seconds = seconds_in(std::string(words[i]) + std::string(words[i + 1])))
      return seconds;
  }
  return std::nullopt;
}

}  // namespace

namespace {

/// A word in lower case without what is around it.
std::string bare_word(std::string_view word) {
  const std::string lower = lower_case(word);
  const std::size_t begin = std::min(lower.find_first_not_of("(`'\"[=#-"), lower.size());
  const std::size_t end = std::min(lower.find_first_of(",.:;)(`'\"]=", begin), lower.size());
  return lower.substr(begin, end - begin);
}

/// A sentence of what is said above a list.
struct Sentence {
  std::vector<std::string_view> raw;
  std::vector<std::string> words;

  using Keys = std::initializer_list<std::string_view>;
  static bool is_of(std::string_view word, Keys keys) {
    return std::find(keys.begin(), keys.end(), word) != keys.end();
  }
  [[nodiscard]] bool has(Keys keys) const {
    return std::any_of(words.begin(), words.end(),
                       [&](const std::string& word) { return is_of(word, keys); });
  }
  [[nodiscard]] bool ends_clause(std::size_t i) const {
    return std::string_view(",;:").find(raw[i].back()) != std::string_view::npos;
  }
};

std::vector<Sentence> sentences_of(std::string_view text) {
  std::vector<Sentence> out;
  bool is_begin = true;
  for (const std::string_view word : words_of(text)) {
    if (is_begin) out.emplace_back();
    out.back().raw.push_back(word);
    out.back().words.push_back(bare_word(word));
    is_begin = word.ends_with('.') || word.ends_with('!');
  }
  return out;
}

constexpr auto kCounterWords =
    std::to_array<std::string_view>({"counter", "statistic", "statistics", "stats"});
bool names_counters(std::string_view word) {  // "hw_counters" too
  return word.ends_with("counters") ||
         std::find(kCounterWords.begin(), kCounterWords.end(), word) != kCounterWords.end();
}

/// "counters were cleared on both sides", "reset all port counters": a switch that was reset and an
/// alarm that cleared say nothing of the numbers.
bool clears_counters(const Sentence& sentence) {
  const auto& words = sentence.words;
  constexpr std::size_t kNear = 4;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!Sentence::is_of(words[i], {"cleared", "zeroed", "reset"})) continue;
    for (std::size_t j = i; j-- > 0;) {
      // "counters after the switch was reset"
      if (Sentence::is_of(words[j], {"after", "since", "when", "until", "while"})) break;
      if (names_counters(words[j])) return true;
    }
    for (std::size_t j = i; j < std::min(i + kNear, words.size()); ++j) {
      if (j > i && names_counters(words[j])) return true;
      if (sentence.ends_clause(j) || Sentence::is_of(words[j], {"at", "and", "on"})) break;
    }
  }
  return false;
}

/// "Increase over 60 s:", "counter increases": not that of an MTU.
bool heads_increases(const Sentence& sentence, bool has_duration) {
  const auto& words = sentence.words;
  if (!has_duration && !sentence.raw.back().ends_with(':')) return false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (Sentence::is_of(words[i], {"after", "since", "before", "despite", "by", "following"}))
      return false;
    if (!Sentence::is_of(words[i], {"increase", "increases", "increments"})) continue;
    const std::string before = i == 0 ? std::string() : words[i - 1];
    const bool is_clause = i == 0 || sentence.ends_clause(i - 1);
    return is_clause || before.empty() || names_counters(before) || place_of_counter(before) ||
           before.find_first_of("0123456789") != std::string::npos ||
           Sentence::is_of(before, {"the", "and", "their", "its", "s", "sec", "seconds", "minutes",
                                    "min", "counted", "only", "as", "total"});
  }
  return false;
}

}  // namespace

PasteTold told_above(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  PasteTold out;
  if (text.size() > kLongest) return out;
  const auto words = words_of(text);
  out.device = device_named_in(words);
  const auto sentences = sentences_of(text);
  if (sentences.empty()) return out;
  const auto has = [&](Sentence::Keys keys) {
    return std::any_of(sentences.begin(), sentences.end(),
                       [&](const Sentence& sentence) { return sentence.has(keys); });
  };
  const auto seconds = seconds_among(words);
  const bool is_doubtful = text.find('?') != std::string_view::npos ||
                           has({"no", "not", "never", "without", "if", "should", "lifetime"});
  const Sentence& heading = sentences.back();
  const bool has_duration = seconds_among(heading.raw).has_value();
  const bool is_delta =
      has({"delta", "deltas"}) || heads_increases(heading, has_duration) ||
      text.find("Δ") != std::string_view::npos ||
      (has_duration && heading.has({"diff", "difference", "differences", "growth"}));
  const bool has_clock = std::any_of(words.begin(), words.end(), [](std::string_view word) {
    return word.size() > 4 && second_of_day(std::string(word.substr(0, 5)) + ":00");
  });
  const bool is_cleared = std::any_of(sentences.begin(), sentences.end(), clears_counters) &&
                          (has({"before", "just", "right", "freshly"}) || seconds || has_clock) &&
                          !has({"last", "days", "weeks", "months"});
  out.is_cleared = !is_doubtful && is_cleared;
  out.is_window = out.is_cleared || (!is_doubtful && is_delta);
  if (out.is_window) out.seconds = seconds;
  return out;
}

}  // namespace weir::readers
