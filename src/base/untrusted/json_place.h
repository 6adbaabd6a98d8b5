#pragma once
// Where the JSON library's lexer is, in lines: for the two builders in this folder.
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

namespace weir {

/// The lexer may be one character ahead (a number ends where something else begins), so what counts
/// is the last character that is not white space.
struct JsonPlace {
  int line = 1;
  int last_line = 1;
};

/// Reads a text for the lexer and keeps count of lines on the way.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, JsonPlace* place) : at_(at), place_(place) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    const char c = *at_++;
    if (c == '\n') ++place_->line;
    if (c != '\n' && c != ' ' && c != '\t' && c != '\r') place_->last_line = place_->line;
    return *this;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) {
    return a.at_ == b.at_;
  }

 private:
  const char* at_;
  JsonPlace* place_;
};

/// "expected …, found …" from the library's "… - unexpected end of input; expected string literal"
/// or "… - invalid literal; last read: '…'".
[[nodiscard]] std::string json_reason(std::string_view what, std::string_view last_token);

/// What both builders say of nesting beyond their limit.
[[nodiscard]] std::string too_deep(std::size_t limit);

}  // namespace weir
