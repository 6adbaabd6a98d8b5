#pragma once
// Text of a design file → Design, defaults filled in. Every error has its line and column, all
// errors of a file are reported at once, and unknown keys get a suggestion.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "design/file/fabric.h"
#include "design/file/yaml_document.h"

namespace weir::design {

struct Loaded {
  Design design;                   // usable only when there are no errors
  std::vector<Diagnostic> errors;  // in the order of the file
  [[nodiscard]] bool is_good() const { return errors.empty(); }
};

/// `file` is the name to print in messages; nothing is read from disk.
[[nodiscard]] Loaded load_text(std::string_view text, const std::string& file);

/// Reads the file; the error is one that concerns the file as a whole (missing, unreadable).
[[nodiscard]] Result<Loaded> load_file(const std::string& path);

/// "fabric.yaml:12:7: …", one per line.
[[nodiscard]] std::string to_text(const Loaded& loaded);

/// Sets one value as if it had been written: "wred.min", "200KB". For `--set path=value`.
/// Defaults that follow from it are filled anew.
[[nodiscard]] Status set_value(Design& design, std::string_view path, std::string_view text);

}  // namespace weir::design
