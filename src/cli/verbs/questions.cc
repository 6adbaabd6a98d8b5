#include "cli/verbs/questions.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/table.h"

namespace weir::cli {

void print_questions(const std::vector<diagnose::Question>& questions, Context& context) {
  context.out << '\n';
  TextTable table({"", "", ""});
  for (const diagnose::Question& one : questions) {
    const std::string_view mark = one.answer == diagnose::Answer::kUnknown ? "?"
                                  : one.is_good                            ? "ok"
                                                                           : "!";
    table.add_row({std::string(mark),
                   fmt::format("{} {}", one.question, diagnose::to_text(one.answer)),
                   one.sentence});
  }
  context.out << table.to_text(2, 100);
}

Json questions_json(const std::vector<diagnose::Question>& questions) {
  Json list = Json::array();
  for (const diagnose::Question& one : questions) {
    Json lines = Json::array();
    for (const finding::EvidenceLine& line : one.lines) {
      Json entry = {{"source", line.source},
                    {"line", line.line},
                    {"counter", line.counter},
                    {"value", nullptr}};
      if (line.value) entry["value"] = *line.value;
      lines.push_back(std::move(entry));
    }
    list.push_back({{"question", one.question},
                    {"answer", diagnose::to_text(one.answer)},
                    {"good", one.is_good},
                    {"sentence", one.sentence},
                    {"evidence", std::move(lines)}});
  }
  return list;
}

}  // namespace weir::cli
