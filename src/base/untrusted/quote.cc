#include "base/untrusted/quote.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "base/untrusted/printable.h"

namespace weir {
namespace {

bool has_only(std::string_view text, std::string_view also) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           also.find(c) != std::string_view::npos;
  });
}

std::string in_single_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\0') continue;  // no shell word holds it
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string hex_escape(char c) {
  return fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
}

/// With `\` before quotes and backslashes, and control characters as \xNN (YAML 5.7, systemd's
/// C-style escapes).
std::string in_double_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20U || c == '\x7f') {
      out += hex_escape(c);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

/// Words that YAML 1.1 readers take for something else than a text.
bool is_yaml_keyword(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  constexpr std::array<std::string_view, 9> kWords = {"null", "true", "false", "yes", "no",
                                                      "on",   "off",  "y",     "n"};
  return std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
}

}  // namespace

std::string shell_word(std::string_view text) {
  if (!text.empty() && has_only(text, "-_=./:,@%+") && text.front() != '=')
    return std::string(text);
  return in_single_quotes(text);
}

std::string shell_line(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  quoted.reserve(words.size());
  for (const std::string& word : words)
    quoted.push_back(shell_word(word));
  return join(quoted, " ");
}

std::string env_value(std::string_view text) {
  if (has_only(text, "_.,:=^/-") && !text.starts_with('=')) return std::string(text);
  return in_single_quotes(text);
}

std::string export_line(std::string_view name, std::string_view value) {
  return fmt::format("export {}={}", shell_word(name), env_value(value));
}

std::string yaml_quoted(std::string_view text) {
  return printable(in_double_quotes(text));
}

std::string yaml_text(std::string_view text) {
  // What begins with a letter is no number, and what has no ':' or '#' is nothing else either.
  const bool is_plain = !text.empty() && has_only(text, "_./+-() ") &&
                        has_only(text.substr(0, 1), "_") &&
                        !(text.front() >= '0' && text.front() <= '9') && !text.ends_with(' ') &&
                        !is_yaml_keyword(text);
  return is_plain ? std::string(text) : yaml_quoted(text);
}

std::string ansible_text(std::string_view text) {
  const bool is_template = text.find('{') != std::string_view::npos;
  return (is_template ? "!unsafe " : "") + yaml_text(text);
}

std::string unit_word(std::string_view text) {
  std::string doubled;
  for (const char c : text) {
    if (c == '%' || c == '$') doubled += c;
    doubled += c;
  }
  const bool is_plain = !text.empty() && has_only(text, "-_./:,@+%$=");
  return is_plain ? doubled : printable(in_double_quotes(doubled));
}

std::string unit_value(std::string_view text) {
  std::string out;
  for (const char c : printable_line(text)) {
    if (c == '%' || c == '\\') out += c;
    out += c;
  }
  return out;
}

std::string unit_name(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += has_only({&c, 1}, "_.:") ? std::string(1, c) : hex_escape(c);
  return out;
}

std::string comment_text(std::string_view text) {
  return printable_line(text);
}

std::string switch_word(std::string_view text) {
  if (!text.empty() && has_only(text, "-_./:+")) return std::string(text);
  std::string out = "\"";
  for (const char c : printable_line(text))
    if (c != '"' && c != '\\') out += c;
  return out + "\"";
}

}  // namespace weir
