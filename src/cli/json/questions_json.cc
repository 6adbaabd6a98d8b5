#include "cli/json/questions_json.h"

#include "base/json.h"

namespace weir::cli {

Json questions_json(const std::vector<diagnose::Question>& questions) {
  Json list = Json::array();
  for (const diagnose::Question& question : questions) {
    Json lines = Json::array();
    for (const finding::EvidenceLine& line : question.lines) {
      Json entry = {{"source", line.source},
                    {"line", line.line},
                    {"counter", line.counter},
                    {"value", nullptr}};
      if (line.value) entry["value"] = *line.value;
      lines.push_back(std::move(entry));
    }
    list.push_back({{"question", question.question},
                    {"answer", finding::to_text(question.answer)},
                    {"good", question.is_good},
                    {"sentence", question.sentence},
                    {"evidence", std::move(lines)}});
  }
  return list;
}

}  // namespace weir::cli
