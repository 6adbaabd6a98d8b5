#include "base/untrusted/printable.h"

#include <sstream>

#include "base/testing.h"

namespace weir {
namespace {

/// As a terminal would get it.
std::string shown(std::initializer_list<std::string_view> pieces) {
  std::ostringstream to;
  {
    PrintableBuffer buffer(to);
    std::ostream out(&buffer);
    for (const std::string_view piece : pieces)
      out << piece;
  }
  return to.str();
}

TEST(Printable, ShowsControlCharactersInsteadOfSendingThem) {
  EXPECT_EQ(printable("a\x1b]0;title\x07"), "a\\u001b]0;title\\u0007");
  EXPECT_EQ(printable("one\r\ntwo\tthree"), "one\\u000d\ntwo\tthree");
  EXPECT_EQ(printable(std::string_view("\0\x7f", 2)), "\\u0000\\u007f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m");  // C1: CSI in one character
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "evil"),
            "\\u202eevil");  // right-to-left override
  EXPECT_EQ(printable("\xe2\x81\xa6x\xe2\x81\xa9"), "\\u2066x\\u2069");
  EXPECT_EQ(printable("é – 漢 😀"), "é – 漢 😀");
  EXPECT_EQ(printable_line("a\nb\tc"), "a\\u000ab\\u0009c");
}

TEST(Printable, ReplacesWhatIsNotUtf8) {
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(printable("\xff"), mark);
  EXPECT_EQ(printable("a\x9b"
                      "31m"),
            "a" + mark + "31m");                             // C1 as a bare byte
  EXPECT_EQ(printable("\xc0\x80"), mark + mark);             // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), mark + mark + mark);  // a surrogate
  EXPECT_EQ(printable("\xe2\x80"), mark);                    // cut
  EXPECT_EQ(printable("\xf4\x90\x80\x80").find('\xf4'), std::string::npos);
}

TEST(Printable, EveryByteAfterEveryByteLeavesNothingThatATerminalObeys) {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const std::string text = {static_cast<char>(a), static_cast<char>(b)};
      for (const char c : printable(text)) {
        const auto byte = static_cast<unsigned char>(c);
        ASSERT_TRUE((byte >= 0x20 && byte != 0x7f) || c == '\n' || c == '\t') << a << ' ' << b;
      }
    }
  }
}

TEST(PrintableBuffer, PassesOurOwnColoursAndNobodyElses) {
  EXPECT_EQ(shown({own_control("\x1b[31m"), "red\x1b[32m", own_control("\x1b[0m")}),
            "\x1b[31mred\\u001b[32m\x1b[0m");
  // A mark that was drawn for another process is text.
  EXPECT_EQ(shown({"\xff"
                   "12345678\xff\x1b[31m\xff"
                   "12345678\xff"})
                .find('\x1b'),
            std::string::npos);
}

TEST(PrintableBuffer, JoinsCharactersThatComeInPieces) {
  EXPECT_EQ(shown({"\xe2", "\x80", "\x93", "!"}), "–!");
  EXPECT_EQ(shown({"\xe2", "\x80", "\xae"}), "\\u202e");
  EXPECT_EQ(shown({"a\xe2\x80"}), "a\xEF\xBF\xBD");
}

}  // namespace
}  // namespace weir
