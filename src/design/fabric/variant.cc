#include "design/fabric/variant.h"

#include <fmt/format.h>

#include "design/file/load.h"

namespace weir::design {

Result<Variant> with_values(const Design& design, std::span<const std::string> settings) {
  Variant out{design, {}};
  for (const std::string& text : settings) {
    const auto equals = text.find('=');
    if (equals == std::string::npos)
      return parse_error(fmt::format("expected path=value, found '{}'", text));
    WEIR_TRY_STATUS(set_value(out.design, text.substr(0, equals), text.substr(equals + 1)));
  }
  Derived derived = derive(out.design);
  if (!derived.errors.empty()) return invalid_error(derived.errors.front().message);
  out.intent = std::move(derived.intent);
  return out;
}

}  // namespace weir::design
