#pragma once
// What readers of printed text share: lines with their numbers, words, and numbers as people print
// them.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "units/quantity.h"

namespace weir::readers {

struct Line {
  int number = 0;  // from 1
  std::string_view text;
};
/// Without line ends ("\r\n" too).
[[nodiscard]] std::vector<Line> lines_of(std::string_view text);

/// What is between blanks.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text);

/// Of ASCII letters only.
[[nodiscard]] std::string lower_case(std::string_view text);

/// "1,043" and "1043"; nullopt for anything else.
[[nodiscard]] std::optional<std::uint64_t> parse_count(std::string_view text);

/// "12" and "3.9"; nullopt for anything else.
[[nodiscard]] std::optional<double> parse_decimal(std::string_view text);

/// "10:31:02" and "10:31:02.123": seconds since midnight.
[[nodiscard]] std::optional<std::int64_t> second_of_day(std::string_view word);
/// The same of a line that is nothing but a date: "Mon Nov  4 10:31:02 UTC 2024", "11:20:01",
/// "2026-05-12 10:31:02", "16:20:11.402 UTC Tue Mar 10 2026", "Current time: 2026-05-12 10:31:02
/// UTC".
[[nodiscard]] std::optional<std::int64_t> time_of_line(std::string_view text);
/// The date that a line of a log begins with, or that `date` printed: "Jun  3 06:24:40 …",
/// "[Tue Apr 7 04:00:11 2026] …", "Thu Jul 10 10:02:44 UTC 2025". Days of months of 31 days, the
/// year left out: they compare within a year.
[[nodiscard]] std::optional<int> day_of_line(std::string_view text);
/// "(30 seconds later)", "one minute later:", "after 10 s": how long a person waited before what
/// follows; nullopt for other lines.
[[nodiscard]] std::optional<std::int64_t> wait_of_line(std::string_view text);
/// "date", "show pfc counters" of "date; show pfc counters": the commands of one line of a shell.
[[nodiscard]] std::vector<std::string_view> commands_of(std::string_view line);

/// "1.22 MB", "231.00 KB", "0 Bytes", "11314 KB": multiples of 1024, as switches print them.
[[nodiscard]] std::optional<Bytes> parse_size_1024(std::string_view number, std::string_view unit);

/// Nothing but dashes, equal signs, plus signs and blanks: a rule of a table.
[[nodiscard]] bool is_rule(std::string_view line);

}  // namespace weir::readers
