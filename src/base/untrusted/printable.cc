#include "base/untrusted/printable.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>
#include <unistd.h>

#include "base/check.h"

namespace weir {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

/// One character at the head of a text.
struct Decoded {
  std::size_t size = 1;
  std::uint32_t code = 0;
  bool is_good = false;
  bool is_cut = false;  // the text ends within it
};

/// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.
Decoded decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80U) return {1, first, true, false};
  const std::size_t size = first >= 0xC2U && first <= 0xDFU   ? 2
                           : first >= 0xE0U && first <= 0xEFU ? 3
                           : first >= 0xF0U && first <= 0xF4U ? 4
                                                              : 0;
  if (size == 0) return {};
  std::uint32_t code = first & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if (i >= text.size()) return {i, 0, false, true};
    if ((byte(i) & 0xC0U) != 0x80U) return {i, 0, false, false};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xD800U && code <= 0xDFFFU;
  if (code < kSmallest.at(size) || is_surrogate || code > 0x10FFFFU) return {1, 0, false, false};
  return {size, code, true, false};
}

/// Unicode's Bidi_Control, its line and paragraph separators, and the byte order mark.
bool is_hidden(std::uint32_t code) {
  return code == 0x061CU || code == 0x200EU || code == 0x200FU ||
         (code >= 0x2028U && code <= 0x202EU) || (code >= 0x2066U && code <= 0x2069U) ||
         code == 0xFEFFU;
}

bool is_control(std::uint32_t code) {
  return code < 0x20U || (code >= 0x7FU && code < 0xA0U);
}

bool is_plain_byte(char c) {
  return (c >= ' ' && c < '\x7f') || c == '\n' || c == '\t';
}

/// Appends to `out`; returns how many bytes of `text` were used: all of it where `is_last`.
std::size_t append_printable(std::string_view text, bool is_last, std::string& out) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto* const stop =
        std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), is_plain_byte);
    const auto end = static_cast<std::size_t>(stop - text.begin());
    out += text.substr(at, end - at);
    at = end;
    if (at == text.size()) break;
    const Decoded next = decode(text.substr(at));
    if (next.is_cut && !is_last) break;
    if (!next.is_good) {
      out += kReplacement;
    } else if (is_control(next.code) || is_hidden(next.code)) {
      out += fmt::format("\\u{:04x}", next.code);
    } else {
      out += text.substr(at, next.size);
    }
    at += next.size;
  }
  return at;
}

/// A byte that UTF-8 never has, then random digits.
const std::string& own_mark() {
  static const std::string mark = [] {
    std::array<unsigned char, 16> bytes{};
    WEIR_CHECK(::getentropy(bytes.data(), bytes.size()) == 0);
    std::string drawn = "\xFF";
    for (const unsigned char byte : bytes)
      drawn += std::to_string(byte);
    return drawn + "\xFF";
  }();
  return mark;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  append_printable(text, true, out);
  return out;
}

std::string printable_line(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '\n') {
      out += "\\u000a";
    } else if (c == '\t') {
      out += "\\u0009";
    } else {
      out += c;
    }
  }
  return out;
}

std::string own_control(std::string_view sequence) {
  return own_mark() + std::string(sequence) + own_mark();
}

void PrintableBuffer::take(std::string_view text, bool is_last) {
  std::string whole;
  if (!pending_.empty()) {
    whole = pending_ + std::string(text);
    pending_.clear();
    text = whole;
  }
  std::string out;
  while (!text.empty()) {
    const std::size_t mark = text.find(own_mark());
    const bool is_found = mark != std::string_view::npos;
    const std::string_view part = text.substr(0, mark);
    if (is_own_) {
      out += part;
      text.remove_prefix(part.size());
    } else {
      const std::size_t used = append_printable(part, is_last || is_found, out);
      text.remove_prefix(used);
      if (used < part.size()) break;
    }
    if (!is_found) break;
    text.remove_prefix(own_mark().size());
    is_own_ = !is_own_;
  }
  pending_ = text;
  to_.write(out.data(), static_cast<std::streamsize>(out.size()));
}

void PrintableBuffer::finish() {
  if (!pending_.empty()) take({}, true);
}

PrintableBuffer::int_type PrintableBuffer::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  const char byte = traits_type::to_char_type(c);
  take({&byte, 1}, false);
  return to_.good() ? c : traits_type::eof();
}

std::streamsize PrintableBuffer::xsputn(const char* text, std::streamsize size) {
  take({text, static_cast<std::size_t>(size)}, false);
  return to_.good() ? size : 0;
}

int PrintableBuffer::sync() {
  to_.flush();
  return to_.good() ? 0 : -1;
}

}  // namespace weir
