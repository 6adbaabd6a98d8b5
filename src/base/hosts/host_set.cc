#include "base/hosts/host_set.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "base/text.h"
#include "base/untrusted/name_policy.h"
#include "base/untrusted/printable.h"

namespace weir {
namespace {

constexpr std::size_t kLongestSet = std::size_t{1} << 20U;
constexpr std::size_t kMostWork = 4 * kMostHosts;  // names made on the way to the result
constexpr int kDeepestGroup = 16;
constexpr std::string_view kOperators = ",!&^";
constexpr std::string_view kBetweenHosts = " \t\r\n";

using Names = std::vector<std::string>;

Error bad_set(std::string_view text, std::string_view problem) {
  constexpr std::size_t kShown = 80;
  return parse_error(fmt::format("hosts '{}{}': {}", printable_line(text.substr(0, kShown)),
                                 text.size() > kShown ? "…" : "", problem));
}

struct Range {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  std::uint64_t step = 1;
  std::size_t width = 0;

  [[nodiscard]] std::uint64_t count() const { return (high - low) / step + 1; }
};

/// "7", "001-128", "0-6/2".
std::optional<Range> parse_range(std::string_view text) {
  constexpr std::size_t kMostDigits = 15;
  const std::size_t slash = text.find('/');
  const std::string_view span = text.substr(0, slash);
  const std::size_t dash = span.find('-');
  const std::string_view low_text = span.substr(0, dash);
  const std::string_view high_text =
      dash == std::string_view::npos ? low_text : span.substr(dash + 1);
  const auto low = parse_u64(low_text);
  const auto high = parse_u64(high_text);
  const auto step = slash == std::string_view::npos ? Result<std::uint64_t>(1)
                                                    : parse_u64(text.substr(slash + 1));
  if (!low || !high || !step || *step == 0 || *high < *low) return std::nullopt;
  if (low_text.size() > kMostDigits || high_text.size() > kMostDigits) return std::nullopt;
  const bool is_padded = low_text.size() > 1 && low_text.front() == '0';
  const bool ends_padded = high_text.size() > 1 && high_text.front() == '0';
  // "[1-010]", "[01-100]" with a bound that says another width: ClusterShell refuses them too.
  if ((is_padded || ends_padded) && low_text.size() > high_text.size()) return std::nullopt;
  if (ends_padded && low_text.size() != high_text.size()) return std::nullopt;
  return Range{*low, *high, *step, is_padded ? low_text.size() : 0};
}

/// Names in the order in which they were first added; every operation costs what its operand has.
class OrderedNames {
 public:
  void combine(char operation, Names operand) {
    if (operation == '&') return keep_only(operand);
    for (std::string& name : operand) {
      const auto [at, is_new] = index_.try_emplace(name, names_.size());
      if (is_new) {
        names_.push_back(std::move(name));
        is_in_.push_back(false);
      }
      is_in_[at->second] = operation == ',' || (operation == '^' && !is_in_[at->second]);
    }
  }
  [[nodiscard]] Names take() && {
    Names out;
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (is_in_[i]) out.push_back(std::move(names_[i]));
    return out;
  }

 private:
  void keep_only(const Names& operand) {
    const std::unordered_set<std::string_view> right(operand.begin(), operand.end());
    Names kept = std::move(*this).take();
    std::erase_if(kept, [&](const std::string& name) { return !right.contains(name); });
    *this = OrderedNames();
    combine(',', std::move(kept));
  }

  Names names_;
  std::vector<bool> is_in_;
  std::unordered_map<std::string, std::size_t> index_;
};

/// Reads a set from left to right.
class SetParser {
 public:
  explicit SetParser(const GroupLookup& groups) : groups_(groups) {}

  Result<Names> parse(std::string_view text, int depth) {
    if (text.size() > kLongestSet) return bad_set(text, "longer than a list of hosts can be");
    OrderedNames result;
    bool is_empty = true;
    char operation = ',';
    std::size_t at = 0;
    bool wants_operand = true;
    while (at < text.size()) {
      const char c = text[at];
      if (kBetweenHosts.find(c) != std::string_view::npos) {
        ++at;
        continue;
      }
      if (kOperators.find(c) != std::string_view::npos) {
        if (wants_operand)
          return bad_set(text, fmt::format("expected a name, a pattern or @group before '{}'", c));
        operation = c;
        wants_operand = true;
        ++at;
        continue;
      }
      const std::size_t end = operand_end(text, at);
      if (end == std::string_view::npos) return bad_set(text, "'[' without ']'");
      WEIR_TRY(operand, read_operand(text.substr(at, end - at), text, depth));
      result.combine(operation, std::move(operand));
      is_empty = false;
      operation = ',';
      wants_operand = false;
      at = end;
    }
    if (wants_operand)
      return bad_set(text, is_empty ? "expected a name, a pattern or @group, found nothing"
                                    : "expected a name, a pattern or @group at the end");
    Names names = std::move(result).take();
    if (names.size() > kMostHosts) return too_many(text);
    return names;
  }

 private:
  static Error too_many(std::string_view text) {
    return bad_set(text, fmt::format("more than {} names", kMostHosts));
  }

  static std::size_t operand_end(std::string_view text, std::size_t at) {
    bool is_inside = false;
    for (; at < text.size(); ++at) {
      const char c = text[at];
      if (c == '[') is_inside = true;
      if (c == ']') is_inside = false;
      const bool ends = kOperators.find(c) != std::string_view::npos ||
                        kBetweenHosts.find(c) != std::string_view::npos;
      if (ends && !is_inside) return at;
    }
    return is_inside ? std::string_view::npos : at;
  }

  Result<Names> read_operand(std::string_view operand, std::string_view whole, int depth) {
    const bool is_group = operand.starts_with('@');
    if (is_group) operand.remove_prefix(1);
    WEIR_TRY(names, expand(operand, whole));
    if (is_group) return read_groups(names, whole, depth);
    for (const std::string& name : names) {
      if (const auto wrong = wrong_name(NameKind::kHost, name))
        return bad_set(whole, fmt::format("'{}': {}", printable_line(name), *wrong));
    }
    return names;
  }

  Result<Names> read_groups(const Names& groups, std::string_view whole, int depth) {
    if (depth >= kDeepestGroup)
      return bad_set(whole, fmt::format("groups within groups more than {} deep", kDeepestGroup));
    OrderedNames all;
    for (const std::string& group : groups) {
      if (!groups_)
        return bad_set(whole, fmt::format("@{}: no groups are known here", printable_line(group)));
      auto text = groups_(group);
      if (!text) return std::move(text).error();
      if (trim(*text).empty()) continue;
      auto names = parse(*text, depth + 1);
      if (!names) return names.error().within(fmt::format("@{}", printable_line(group)));
      work_ += names->size();
      all.combine(',', std::move(*names));
    }
    return std::move(all).take();
  }

  /// Every combination of what the brackets hold.
  Result<Names> expand(std::string_view pattern, std::string_view whole) {
    Names names = {""};
    while (!pattern.empty()) {
      Names parts;
      const std::size_t open = pattern.find('[');
      if (open == 0) {
        const std::size_t close = pattern.find(']');
        if (close == std::string_view::npos) return bad_set(whole, "'[' without ']'");
        WEIR_TRY(numbers, expand_brackets(pattern.substr(1, close - 1), whole));
        parts = std::move(numbers);
        pattern.remove_prefix(close + 1);
      } else {
        parts = {std::string(pattern.substr(0, open))};
        pattern.remove_prefix(parts.front().size());
      }
      if (names.size() * parts.size() > kMostHosts) return too_many(whole);
      Names longer;
      longer.reserve(names.size() * parts.size());
      for (const std::string& name : names)
        for (const std::string& part : parts)
          longer.push_back(name + part);
      names = std::move(longer);
    }
    work_ += names.size();
    if (work_ > kMostWork) return too_many(whole);
    return names;
  }

  static Result<Names> expand_brackets(std::string_view inside, std::string_view whole) {
    Names out;
    for (const std::string_view piece : split(inside, ',')) {
      const auto range = parse_range(trim(piece));
      if (!range)
        return bad_set(whole, fmt::format("'{}' is no number, range or range with a step; "
                                          "expected such as [1-8], [001,017] or [0-6/2]",
                                          printable_line(piece.substr(0, 40))));
      if (range->count() > kMostHosts || out.size() + range->count() > kMostHosts)
        return too_many(whole);
      for (std::uint64_t i = 0; i < range->count(); ++i)
        out.push_back(fmt::format("{:0{}}", range->low + i * range->step, range->width));
    }
    return out;
  }

  const GroupLookup& groups_;
  std::size_t work_ = 0;
};

// ---- folding ----

/// A name as texts around its numbers: "rack1n02" is {"rack", "n", ""} and {"1", "02"}.
struct Shape {
  std::vector<std::string> texts;
  std::vector<std::string> numbers;
};

Shape shape_of(std::string_view name) {
  constexpr std::size_t kMostDigits = 15;
  Shape shape;
  std::string text;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t end = at;
    while (end < name.size() && name[end] >= '0' && name[end] <= '9')
      ++end;
    if (end == at || end - at > kMostDigits) {
      end = std::max(end, at + 1);
      text += name.substr(at, end - at);
    } else {
      shape.texts.push_back(text);
      text.clear();
      shape.numbers.emplace_back(name.substr(at, end - at));
    }
    at = end;
  }
  shape.texts.push_back(text);
  return shape;
}

bool follows(const std::string& number, const std::string& next) {
  const std::uint64_t value = parse_u64(number).value_or(0) + 1;
  const bool is_padded = number.size() > 1 && number.front() == '0';
  return next == fmt::format("{:0{}}", value, is_padded ? number.size() : 0);
}

/// "[01-03,07]", or the number alone.
std::string ranges_text(std::vector<std::string> numbers) {
  std::sort(numbers.begin(), numbers.end(),
            [](const std::string& a, const std::string& b) { return natural_order(a, b) < 0; });
  if (numbers.size() == 1) return numbers.front();
  std::string text;
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && follows(numbers[last], numbers[last + 1]))
      ++last;
    if (!text.empty()) text += ',';
    text += numbers[first];
    if (last > first) text += "-" + numbers[last];
    first = last + 1;
  }
  return "[" + text + "]";
}

/// One dimension less in each round, the last first: rows that are equal but for that number become
/// one with its ranges.
std::vector<std::vector<std::string>> fold_rows(std::vector<std::vector<std::string>> rows,
                                                std::size_t dimensions) {
  for (std::size_t at = dimensions; at-- > 0;) {
    std::map<std::vector<std::string>, std::vector<std::string>> equal;
    for (std::vector<std::string>& row : rows) {
      std::string number = std::move(row[at]);
      row[at].clear();
      equal[std::move(row)].push_back(std::move(number));
    }
    rows.clear();
    for (auto& [rest, numbers] : equal) {
      std::vector<std::string> row = rest;
      row[at] = ranges_text(std::move(numbers));
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace

Result<std::vector<std::string>> parse_host_set(std::string_view text, const GroupLookup& groups) {
  SetParser parser(groups);
  WEIR_TRY(names, parser.parse(text, 0));
  if (names.empty()) return bad_set(text, "no host is left of it");
  return names;
}

std::string fold_hosts(std::span<const std::string> names) {
  std::map<std::vector<std::string>, std::vector<std::vector<std::string>>> shapes;
  const std::unordered_set<std::string> unique(names.begin(), names.end());
  for (const std::string& name : unique) {
    Shape shape = shape_of(name);
    shapes[std::move(shape.texts)].push_back(std::move(shape.numbers));
  }
  std::vector<std::string> folded;
  for (auto& [texts, rows] : shapes) {
    for (const std::vector<std::string>& row : fold_rows(std::move(rows), texts.size() - 1)) {
      std::string text;
      for (std::size_t i = 0; i < texts.size(); ++i)
        text += texts[i] + (i < row.size() ? row[i] : std::string());
      folded.push_back(std::move(text));
    }
  }
  std::sort(folded.begin(), folded.end(),
            [](const std::string& a, const std::string& b) { return natural_order(a, b) < 0; });
  return join(folded, ",");
}

}  // namespace weir
