#pragma once
// Small text work that every layer needs: splitting, joining, wrapping, and the "did you mean".
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace weir {

/// Without white space at either end.
[[nodiscard]] std::string_view trim(std::string_view text);

/// The pieces between `separator`s; "a,,b" has three. An empty text has one, empty.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
/// Refused: the views would point into a text that is gone.
template <std::same_as<std::string> Temporary>
std::vector<std::string_view> split(Temporary&& text, char separator) = delete;

[[nodiscard]] std::string join(std::span<const std::string> pieces, std::string_view separator);

/// Lines of at most `width` columns, broken at blanks; a longer word gets a line of its own. Line
/// breaks in `text` stay; every line but the first starts with `indent` blanks.
[[nodiscard]] std::string wrap(std::string_view text, std::size_t width, std::size_t indent = 0);

/// The same for text that starts after `indent` columns: lines of `width` columns each, the first
/// where it is put, the others under it.
[[nodiscard]] std::string hang(std::string_view text, std::size_t width, std::size_t indent);

/// Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate a typist most likely meant, or nullopt when none is near (a third of its length,
/// at least one edit); a candidate that `word` is a prefix of counts as near. First of equals.
[[nodiscard]] std::optional<std::string> nearest(std::string_view word,
                                                 std::span<const std::string> candidates);

/// `; did you mean 'x'?`, or nothing: made to be appended to an error.
[[nodiscard]] std::string did_you_mean(std::string_view word,
                                       std::span<const std::string> candidates);

/// The order in which a person lists names: runs of digits compare as numbers, so "swp2" comes
/// before "swp10". Total: equal only where the texts are.
[[nodiscard]] std::strong_ordering natural_order(std::string_view a, std::string_view b);

/// A decimal integer and nothing else: no sign, no blanks, no overflow.
[[nodiscard]] Result<std::uint64_t> parse_u64(std::string_view text);

/// 1234567 as "1,234,567" is for people; machines get JSON.
[[nodiscard]] std::string with_thousands(std::int64_t value);

/// "16 hosts", "1 rail", "2 switches".
[[nodiscard]] std::string counted(std::size_t n, std::string_view noun);

/// Columns a terminal shows: code points, not bytes (no wide characters in our output).
[[nodiscard]] std::size_t display_width(std::string_view utf8);

}  // namespace weir
