#pragma once
// What a text says without saying that it is so: "no Xid in dmesg", "NCCL_IB_TC=26 was replaced in
// May", "do not use …", "if you see …", "example: …", a question, a page of documentation.
//
// This is the one place that decides it. Readers of tools, the reader of jobs and the literal
// statements (diagnose/paste/stated.h) all get the text without such sentences, so that what they
// find in it is a report. The test is a coarse one on purpose: any such word in a person's sentence
// is enough. A fault that is described so is still offered by its words (finding/search.h), and a
// wrong word costs more than a fault that is missed. What tools print is no sentence: "No space
// left on device" and "Operation not supported" stay.
#include <string>
#include <string_view>
#include <vector>

namespace weir::readers {

/// A person's sentence, not what a tool prints: words of a language with others between them, no
/// columns, no time stamp or level of a log in front.
[[nodiscard]] bool is_prose(std::string_view sentence);

/// The lines, with blanks in the place of each sentence that reports nothing; places stay. A
/// sentence may go on in the next line, and what is said above a list holds for its points.
[[nodiscard]] std::vector<std::string> without_hearsay(const std::vector<std::string_view>& lines);

/// Whether a line says nothing but that.
[[nodiscard]] bool is_hearsay(std::string_view line);

/// A manual in Markdown: a title, headings, and text. It is about fabrics in general.
[[nodiscard]] bool is_document(const std::vector<std::string_view>& lines);

}  // namespace weir::readers
