// What every word of others passes through: the JSON reader, the policy of names, the printing and
// the quoting. Whatever comes, nothing that a terminal obeys comes out, JSON is as the library
// reads it, and a name that passes needs no quotes anywhere.
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/json.h"
#include "base/json_lines.h"
#include "base/untrusted/json_parse.h"
#include "base/untrusted/name_policy.h"
#include "base/untrusted/printable.h"
#include "base/untrusted/quote.h"

namespace weir {
namespace {

bool is_tame(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F) return false;
  }
  return true;
}

/// libFuzzer sees what a text is compared with, so it learns the random mark of our own colours,
/// which no file can know.
bool has_own_mark(std::string_view text) {
  const std::string twice = own_control("");
  return text.find(twice.substr(0, twice.size() / 2)) != std::string_view::npos;
}

void check_printing(std::string_view text) {
  if (has_own_mark(text)) return;
  const std::string shown = printable(text);
  WEIR_CHECK(is_tame(shown));
  WEIR_CHECK(printable(shown) == shown);
  // In pieces it is the same.
  std::ostringstream to;
  {
    PrintableBuffer buffer(to);
    std::ostream out(&buffer);
    const std::size_t half = text.size() / 2;
    out << text.substr(0, half) << text.substr(half);
  }
  WEIR_CHECK(to.str() == shown);
  WEIR_CHECK(comment_text(text).find_first_of("\n\r") == std::string::npos);
}

void check_quoting(std::string_view text) {
  for (const std::string& quoted : {yaml_text(text), yaml_quoted(text), ansible_text(text),
                                    unit_word(text), unit_value(text), switch_word(text)})
    WEIR_CHECK(quoted.find('\n') == std::string::npos);
  const std::string word = shell_word(text);
  WEIR_CHECK(!word.empty());
  for (const NameKind kind : {NameKind::kHost, NameKind::kNetdev, NameKind::kDevice,
                              NameKind::kPort, NameKind::kWord, NameKind::kTitle}) {
    const bool is_name = !wrong_name(kind, text);
    if (is_name && kind != NameKind::kTitle) WEIR_CHECK(word == text && printable(text) == text);
  }
  WEIR_CHECK(!wrong_name(NameKind::kHost, as_name(NameKind::kHost, text)));
}

void check_json(std::string_view text) {
  const auto read = parse_json(text);
  (void)parse_json_lines(text, "fuzz.json");
  if (!read) {
    WEIR_CHECK(!read.error().what.empty());
    return;
  }
  const Json library = Json::parse(text, nullptr, false);
  WEIR_CHECK(!library.is_discarded());
  WEIR_CHECK(library.dump(-1, ' ', false, Json::error_handler_t::replace) ==
             read->dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace
}  // namespace weir

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  weir::check_printing(text);
  weir::check_quoting(text);
  weir::check_json(text);
  return 0;
}
