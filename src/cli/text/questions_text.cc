#include "cli/text/questions_text.h"

#include <fmt/format.h>

#include "base/table.h"

namespace weir::cli {

void print_questions(const std::vector<diagnose::Question>& questions, Context& context) {
  context.out << '\n';
  TextTable table({"", "", ""});
  for (const diagnose::Question& question : questions) {
    const std::string_view mark = question.answer == diagnose::Answer::kUnknown ? "?"
                                  : question.is_good                            ? "ok"
                                                                                : "!";
    table.add_row({std::string(mark),
                   fmt::format("{} {}", question.question, finding::to_text(question.answer)),
                   question.sentence});
  }
  context.out << table.to_text(2, 100);
}

}  // namespace weir::cli
