#pragma once
// Text → evidence: whatever a person pastes or a tool printed, recognised by its content.
//
// One table of readers; the first that recognises a text reads it. A reader never guesses: a line
// that it knows to be data and cannot read is listed with its number, and what depends on it stays
// unknown. To add one, write its two functions in a file of its own and add a row to kReaders
// (readers.cc).
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "evidence/evidence.h"

namespace weir::readers {

/// A line that was not understood.
struct Unread {
  int line = 0;  // from 1
  std::string text;
  std::string why;
  friend bool operator==(const Unread&, const Unread&) = default;
};

struct Recognised {
  std::string kind;             // the reader's name
  evidence::Evidence evidence;  // origin kText; provenance.detail is the file
  std::vector<Unread> unread;
};

struct Reader {
  std::string_view name;   // "sonic-show"
  std::string_view title;  // what it reads, for people: "output of SONiC's show commands"
  /// Cheap, by words that no other text has.
  bool (*recognises)(std::string_view text);
  /// Errors name `file`:line, what was expected and what was found.
  Result<Recognised> (*read)(std::string_view text, std::string_view file);
};

[[nodiscard]] std::span<const Reader> readers();

/// The first reader that recognises the text; nullptr where none does.
[[nodiscard]] const Reader* recognise(std::string_view text);

/// Reads a text by the first reader that recognises it. Where none does, an error of code
/// kUnsupported lists what can be read.
[[nodiscard]] Result<Recognised> read_text(std::string_view text, std::string_view file);

}  // namespace weir::readers
