#include "cli/frame/context.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/json.h"

namespace weir::cli {
namespace {

// Select Graphic Rendition codes (ECMA-48 8.3.117) that read on dark and light backgrounds.
std::string_view escape_of(Tone tone) {
  switch (tone) {
    case Tone::kStrong: return "1";
    case Tone::kGood: return "32";
    case Tone::kWarning: return "33";
    case Tone::kBad: return "1;31";
    case Tone::kFaint: return "2";
  }
  WEIR_UNREACHABLE("every tone has an escape");
}

}  // namespace

void print_json(Context& context, const Json& object) {
  WEIR_CHECK(object.is_object() && object.begin().key() == "schema");
  // A file name or a pasted text may hold any bytes; JSON may not.
  context.out << object.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

std::string paint(const Context& context, Tone tone, std::string_view text) {
  if (!context.colour || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", escape_of(tone), text);
}

ExitCode fail(Context& context, ExitCode code, std::string_view message) {
  return fail(context, code, message, Json::object());
}

ExitCode fail(Context& context, ExitCode code, std::string_view message, const Json& details) {
  context.err << "weir: " << message << '\n';
  if (context.json) {
    Json object = {{"schema", "weir/error/1"},
                   {"exit", static_cast<int>(code)},
                   {"message", std::string(message)}};
    object.update(details);
    print_json(context, object);
  }
  return code;
}

}  // namespace weir::cli
