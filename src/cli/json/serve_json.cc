#include "cli/json/serve_json.h"

#include "base/json.h"
#include "cli/json/object.h"

namespace weir::cli {

void print_serving_json(Context& context, const Command& command, const std::string& verdict,
                        const std::string& url, const std::string& page) {
  Json object = json_object(command);
  object["verdict"] = verdict;
  object["url"] = url;
  object["page"] = page;
  print_json(context, object);
}

void print_textfile_json(Context& context, const Command& command, const std::string& verdict,
                         const std::string& file) {
  Json object = json_object(command);
  object["verdict"] = verdict;
  object["file"] = file;
  print_json(context, object);
}

void print_top_json(Context& context, const Command& command,
                    const std::vector<ops::RailRates>& rows, const finding::Judgement* judgement,
                    bool is_simulated) {
  Json object = json_object(command);
  object["simulated"] = is_simulated;
  object["rails"] = Json::array();
  for (const ops::RailRates& row : rows)
    object["rails"].push_back({{"host", row.host},
                               {"device", row.device},
                               {"netdev", row.netdev},
                               {"up", row.up ? Json(*row.up) : Json(nullptr)},
                               {"speed_bps", row.speed ? Json(row.speed->raw()) : Json(nullptr)},
                               {"sent_bps", or_null(row.sent)},
                               {"received_bps", or_null(row.received)},
                               {"paused_share", or_null(row.paused)},
                               {"pausing_share", or_null(row.pausing)},
                               {"marks_per_second", or_null(row.marks)},
                               {"cnps_per_second", or_null(row.cnps)},
                               {"losses_per_second", or_null(row.losses)}});
  object["findings"] = Json::array();
  if (judgement != nullptr)
    for (const finding::Finding& found : judgement->findings)
      object["findings"].push_back({{"id", found.id},
                                    {"severity", finding::to_text(found.severity)},
                                    {"where", finding::to_text(found.where)}});
  print_json(context, object);
}

}  // namespace weir::cli
