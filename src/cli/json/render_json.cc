#include "cli/json/render_json.h"

#include "base/json.h"
#include "cli/json/object.h"

namespace weir::cli {
namespace {

Json files_json(const ops::RenderedFiles& output, const std::string& directory) {
  Json files = Json::array();
  for (const ops::NodeFile& entry : output.files) {
    Json file = {
        {"name", entry.file.name}, {"node", entry.node}, {"bytes", entry.file.text.size()}};
    if (directory.empty()) {
      file["text"] = entry.file.text;
    } else {
      file["path"] = directory + "/" + entry.file.name;
    }
    files.push_back(std::move(file));
  }
  Json remarks = Json::array();
  for (const ops::NodeRemark& entry : output.remarks)
    remarks.push_back({{"node", entry.node},
                       {"what", entry.remark.what},
                       {"wanted", entry.remark.wanted},
                       {"becomes", entry.remark.becomes},
                       {"why", entry.remark.why}});
  return {{"files", std::move(files)}, {"remarks", std::move(remarks)}};
}

}  // namespace

void print_rendered_json(Context& context, const Command& command, const ops::RenderedFiles& output,
                         const std::string& directory) {
  Json object = json_object(command);
  object["target"] = output.target->name;
  object.update(files_json(output, directory));
  print_json(context, object);
}

}  // namespace weir::cli
