#pragma once
// Plain text as `weir diagnose` takes it: what was read of it and what was not, for people and for
// programs.
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "cli/frame/context.h"
#include "readers/paste/paste.h"

namespace weir::cli {

struct PastedText {
  std::string path;  // "-" is standard input
  std::string text;
};

/// An error where there is no text: an empty file, a packet capture, binary data.
[[nodiscard]] Result<readers::Paste> read_pasted(const std::vector<PastedText>& texts);

/// Prints to stderr what the text was read as, how many lines were not read, and the first lines of
/// a known output that could not be parsed.
void print_what_was_read(const readers::Paste& paste, Context& context);

/// read[]{tool, detail, host, device, file, first_line, last_line}
[[nodiscard]] Json read_json(const readers::Paste& paste);
/// unread[]{file, line, text, why}
[[nodiscard]] Json unread_json(const readers::Paste& paste);

}  // namespace weir::cli
