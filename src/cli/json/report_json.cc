#include "cli/json/report_json.h"

#include "base/json.h"
#include "cli/json/object.h"

namespace weir::cli {
namespace {

Json report_object(const Command& command, const render::Report& report) {
  Json object = json_object(command);
  render::add_report_json(object, report);
  return object;
}

}  // namespace

std::string report_document(const Command& command, const render::Report& report) {
  return report_object(command, report).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void print_report_json(Context& context, const Command& command, const render::Report& report) {
  print_json(context, report_object(command, report));
}

}  // namespace weir::cli
