#pragma once
// Values of a script, as far as its own text decides them. Not for other folders.
//
// Nothing is run: a value is known where the text alone says it (`TC=26`, `$TC`, `$((26 * 4))`,
// `${HCA:-mlx5_0}`), and open where only the shell or another file could (`$(hostname)`, a variable
// that the text never sets).
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace weir::readers {

/// A variable that the text sets: its value, or nullopt where it is open.
using ShellValues = std::map<std::string, std::optional<std::string>, std::less<>>;

/// Whether a character may be part of a variable's name.
[[nodiscard]] bool is_variable_char(char c);

/// Which quote a position of a line is in, kept while the line is walked.
struct QuoteState {
  char around = 0;  // ' or ", or 0 for none
  /// Takes the character at `at`; returns the position behind it (behind both of an escaped pair).
  std::size_t step(std::string_view line, std::size_t at);
};

/// The position behind `$NAME`, `${…}`, `$(…)` or `$((…))`; `at` is that of the dollar.
[[nodiscard]] std::size_t behind_dollar(std::string_view text, std::size_t at);

/// The end of the word that begins at `at`: quotes, $(…), ${…} and $((…)) keep it together.
/// `enclosing` is the quote around it, which ends it too. In a list (`--export=A=1,B=2`) a comma
/// ends it.
[[nodiscard]] std::size_t word_end(std::string_view line, std::size_t at, char enclosing,
                                   bool is_list);

/// The word as the shell would hand it on; nullopt where it is open. Kubernetes writes $(NAME) for
/// a variable, where a shell runs a command.
enum class Dialect { kShell, kKubernetes };
[[nodiscard]] std::optional<std::string> expanded(std::string_view word, const ShellValues& values,
                                                  Dialect dialect = Dialect::kShell);

/// `26 * 4 + 2`, as between $(( and )); nullopt where it is open or no arithmetic.
[[nodiscard]] std::optional<std::int64_t> arithmetic(std::string_view expression,
                                                     const ShellValues& values);

}  // namespace weir::readers
