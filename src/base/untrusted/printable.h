#pragma once
// Text of others on a terminal, in a report, in an error: what it says, and nothing it does.
//
// A control character in a file name, a log or a switch's answer can clear a terminal, set its
// title or answer a question in our place; a bidirectional override can show another word than the
// one that is there (Boucher & Anderson, Trojan Source, 2021). All of that is shown as \uXXXX,
// which JSON reads as the character it was.
#include <cstdint>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace weir {

/// C0 but for line feed and tab, DEL, C1, the bidirectional controls and the separators of lines
/// and paragraphs as \uXXXX; what is not UTF-8 as U+FFFD.
[[nodiscard]] std::string printable(std::string_view text);

/// The same on one line: line feeds and tabs too.
[[nodiscard]] std::string printable_line(std::string_view text);

/// Our own control sequence (a colour): marked so that a PrintableBuffer passes it on. The mark is
/// drawn at random per process, so that no text of others can hold it.
[[nodiscard]] std::string own_control(std::string_view sequence);

/// Between an output and what is printed on it.
class PrintableBuffer : public std::streambuf {
 public:
  explicit PrintableBuffer(std::ostream& to) : to_(to) {}
  PrintableBuffer(const PrintableBuffer&) = delete;
  PrintableBuffer& operator=(const PrintableBuffer&) = delete;
  ~PrintableBuffer() override { finish(); }

  /// What was kept back because its character was not whole.
  void finish();

 protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  void take(std::string_view text, bool is_last);

  std::ostream& to_;
  std::string pending_;
  bool is_own_ = false;
};

}  // namespace weir
