#include "cli/frame/context.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/untrusted/printable.h"
#include "cli/json/error.h"

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

std::string paint(const Context& context, Tone tone, std::string_view text) {
  if (!context.colour || text.empty()) return std::string(text);
  return own_control(fmt::format("\x1b[{}m", escape_of(tone))) + std::string(text) +
         own_control("\x1b[0m");
}

ExitCode fail(Context& context, ExitCode code, std::string_view message) {
  context.err << "weir: " << message << '\n';
  if (context.json) print_error_json(context, code, message, {});
  return code;
}

}  // namespace weir::cli
