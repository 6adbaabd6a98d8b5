#include "units/dscp_name.h"

#include <algorithm>
#include <array>

namespace weir {
namespace {

struct Named {
  std::string_view name;
  unsigned dscp;
};

// IANA "Differentiated Services Field Codepoints": CS RFC 2474, AF RFC 2597, EF RFC 3246,
// VOICE-ADMIT RFC 5865, LE RFC 8622. The first name of a value is the one printed.
constexpr std::array kNames = {
    Named{"DF", 0},   Named{"BE", 0},           Named{"CS0", 0},   Named{"LE", 1},
    Named{"CS1", 8},  Named{"AF11", 10},        Named{"AF12", 12}, Named{"AF13", 14},
    Named{"CS2", 16}, Named{"AF21", 18},        Named{"AF22", 20}, Named{"AF23", 22},
    Named{"CS3", 24}, Named{"AF31", 26},        Named{"AF32", 28}, Named{"AF33", 30},
    Named{"CS4", 32}, Named{"AF41", 34},        Named{"AF42", 36}, Named{"AF43", 38},
    Named{"CS5", 40}, Named{"VOICE-ADMIT", 44}, Named{"EF", 46},   Named{"CS6", 48},
    Named{"CS7", 56},
};

constexpr char upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

}  // namespace

std::string_view dscp_name(Dscp dscp) {
  const auto* found = std::find_if(kNames.begin(), kNames.end(),
                                   [&](const Named& named) { return named.dscp == dscp.value(); });
  return found == kNames.end() ? std::string_view() : found->name;
}

std::optional<Dscp> dscp_named(std::string_view name) {
  const auto* found = std::find_if(kNames.begin(), kNames.end(), [&](const Named& named) {
    return std::equal(name.begin(), name.end(), named.name.begin(), named.name.end(),
                      [](char a, char b) { return upper(a) == b; });
  });
  if (found == kNames.end()) return std::nullopt;
  return Dscp::of(found->dscp);
}

}  // namespace weir
