// The parsers of units. Whatever they accept, printing and reading again gives the same quantity.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "units/format.h"

namespace weir {
namespace {

template <class T>
void round_trip(Result<T> (*parse)(std::string_view), std::string_view text) {
  const Result<T> first = parse(text);
  if (!first) {
    WEIR_CHECK(!first.error().what.empty());
    return;
  }
  const Result<T> second = parse(to_text(*first));
  WEIR_CHECK(second.has_value());
  WEIR_CHECK(*second == *first);
}

void parse_all(std::string_view text) {
  round_trip(parse_duration, text);
  round_trip(parse_bytes, text);
  round_trip(parse_rate, text);
  round_trip(parse_length, text);
  round_trip(parse_share, text);
  round_trip(parse_alpha, text);
}

}  // namespace
}  // namespace weir

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weir::parse_all({reinterpret_cast<const char*>(data), size});
  return 0;
}
