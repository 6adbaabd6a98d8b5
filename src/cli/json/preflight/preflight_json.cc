#include "cli/json/preflight/preflight_json.h"

#include "base/json.h"
#include "cli/json/object.h"

namespace weir::cli {

std::string preflight_text_json(const Command& command, const preflight::Report& report,
                                std::string_view verdict, const std::vector<std::string>& next) {
  finding::Judgement judgement = preflight::whole_judgement(report);
  judgement.next = next;
  Json object = judged_object(command, judgement, verdict);
  object.update(preflight::to_json(report));
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace weir::cli
