#pragma once
// Plain text as `weir diagnose` takes it: read, told to the user, judged.
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "cli/frame/context.h"
#include "diagnose/paste/pasted.h"
#include "readers/paste/paste.h"

namespace weir::cli {

struct PastedText {
  std::string path;  // "-" is standard input
  std::string text;
};

/// An error where nothing in the texts is known and nobody's words are in them either.
[[nodiscard]] Result<readers::Paste> read_pasted(const std::vector<PastedText>& texts);

/// One line on stderr: what the text was taken for. Lines of an output that could not be read are
/// listed, the first few.
void say_what_was_read(const readers::Paste& paste, Context& context);

/// read[]{tool, detail, host, device, file, first_line, last_line}
[[nodiscard]] Json read_json(const readers::Paste& paste);
/// unread[]{file, line, text, why}: of outputs, and whatever no reader took
[[nodiscard]] Json unread_json(const readers::Paste& paste);

/// What the outputs show and what people say beside them; `counted` is what the rules found in the
/// counters, where there are any.
[[nodiscard]] finding::Judgement judge_pasted_text(
    const diagnose::PastedCase& of, std::optional<finding::Judgement> counted = std::nullopt);

}  // namespace weir::cli
