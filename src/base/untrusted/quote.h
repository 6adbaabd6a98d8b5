#pragma once
// A text as one word of another language: one function per target, used by every renderer and every
// command that Weir prints for people to type. What comes out is read back by the target as exactly
// the text, whatever is in it; a text that the target cannot hold at all is said to be so by
// the policy of names before it comes here (name_policy.h).
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// POSIX shell (XCU 2.2): one word. Plain where nothing in it means anything to a shell.
[[nodiscard]] std::string shell_word(std::string_view text);
/// A command line that a shell reads as these words.
[[nodiscard]] std::string shell_line(const std::vector<std::string>& words);
/// A value in a file that shells and tools source: `export NAME=value`. As shell_word, but what
/// is usual in values (commas, '^', '=') stays plain; zsh expands a leading '='.
[[nodiscard]] std::string env_value(std::string_view text);
/// `export NAME=value`, as a line to type or of a file that shells source.
[[nodiscard]] std::string export_line(std::string_view name, std::string_view value);

/// YAML 1.2: a scalar that is a text; plain where that is beyond doubt, else in double quotes.
[[nodiscard]] std::string yaml_text(std::string_view text);
/// The same in double quotes always: a value that must stay a text (Kubernetes' ConfigMap).
[[nodiscard]] std::string yaml_quoted(std::string_view text);
/// The same for Ansible, which expands {{ }} and {% %} in every text: those are marked !unsafe.
[[nodiscard]] std::string ansible_text(std::string_view text);

/// systemd.syntax(7), systemd.service(5): a word of a unit's command line; '%' and '$' are doubled,
/// so that neither specifiers nor variables are expanded.
[[nodiscard]] std::string unit_word(std::string_view text);
/// A text of a unit that is one value to its end, as of Description=: no specifier is expanded, and
/// the line does not go on.
[[nodiscard]] std::string unit_value(std::string_view text);
/// A name within a unit's name (systemd.unit(5), "string escaping").
[[nodiscard]] std::string unit_name(std::string_view text);

/// The text of a comment that ends with its line, in any of these languages and in switch CLIs.
[[nodiscard]] std::string comment_text(std::string_view text);

/// A word of a switch's command line (EOS, NX-OS, Junos set, NVUE): plain, or in double quotes.
[[nodiscard]] std::string switch_word(std::string_view text);

}  // namespace weir
