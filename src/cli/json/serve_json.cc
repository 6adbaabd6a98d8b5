#include "cli/json/serve_json.h"

#include "base/json.h"
#include "cli/json/object.h"

namespace weir::cli {

void print_serving_json(Context& context, const Command& command, const std::string& verdict,
                        const std::string& url) {
  Json object = json_object(command);
  object["verdict"] = verdict;
  object["url"] = url;
  print_json(context, object);
}

void print_textfile_json(Context& context, const Command& command, const std::string& verdict,
                         const std::string& file) {
  Json object = json_object(command);
  object["verdict"] = verdict;
  object["file"] = file;
  print_json(context, object);
}

}  // namespace weir::cli
