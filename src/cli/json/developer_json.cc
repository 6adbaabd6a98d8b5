#include "cli/json/developer_json.h"

#include <fmt/format.h>

#include "base/json.h"
#include "cli/json/object.h"
#include "cli/schemas_data.h"
#include "design/file/schema.h"
#include "evidence/schema.h"

namespace weir::cli {
namespace {

constexpr std::string_view kDesignSchema = "design";

/// The file of counters is `snapshot`; what the verb of that name prints has another.
std::string_view name_of(const EmbeddedSchema& schema) {
  return schema.name == "snapshot" ? "snapshot-verb" : schema.name;
}

Json schema_of(std::string_view name) {
  for (const EmbeddedSchema& schema : kEmbeddedSchemas)
    if (name_of(schema) == name) return Json::parse(schema.text);
  return name == kDesignSchema ? design::design_schema() : evidence::schema(name);
}

}  // namespace

void print_text_json(Context& context, const Command& command, const std::string& text) {
  Json object = json_object(command);
  object["text"] = text;
  print_json(context, object);
}

void print_fidelity_json(Context& context, const Command& command, const sim::FidelityCase& what,
                         const sim::FidelityResult& result, std::string_view verdict) {
  Json object = json_object(command);
  object["verdict"] = verdict;
  object["set"] = what.set;
  object["rate_bps"] = what.rate.raw();
  object["flow_count"] = what.flows;
  object["queue_kb"] = {{"mean", result.queue_mean_kb},
                        {"sd", result.queue_sd_kb},
                        {"min", result.queue_min_kb},
                        {"max", result.queue_max_kb}};
  object["utilisation"] = result.utilisation;
  object["jain"] = result.jain;
  object["mark_probability"] = result.mark_probability;
  object["cnp_per_flow_per_s"] = result.cnp_per_flow_per_s;
  object["fluid_queue_kb"] = result.fluid_queue_kb;
  object["flow_gbps"] = result.flow_gbps;
  object["hops"] = result.hops;
  object["digest"] = fmt::format("{:016x}", result.digest);
  print_json(context, object);
}

void print_demo_json(Context& context, const Command& command, const std::string& folder,
                     const std::vector<DemoStep>& steps, std::string_view verdict) {
  Json object = json_object(command);
  object["folder"] = folder;
  object["steps"] = Json::array();
  for (const DemoStep& step : steps)
    object["steps"].push_back({{"command", step.command},
                               {"what", step.what},
                               {"exit", static_cast<int>(step.code)},
                               {"expected", static_cast<int>(step.expected)}});
  object["verdict"] = verdict;
  print_json(context, object);
}

std::vector<std::string_view> schema_names() {
  const auto of_evidence = evidence::schema_names();
  std::vector<std::string_view> all = {kDesignSchema};
  all.insert(all.end(), of_evidence.begin(), of_evidence.end());
  for (const EmbeddedSchema& schema : kEmbeddedSchemas)
    all.push_back(name_of(schema));
  return all;
}

std::vector<SchemaRow> schema_rows() {
  std::vector<SchemaRow> rows;
  for (const std::string_view name : schema_names())
    rows.push_back({std::string(name), schema_of(name).value("title", "")});
  return rows;
}

void print_schemas_json(Context& context, const Command& command) {
  Json object = json_object(command);
  object["schemas"] = Json::array();
  for (const SchemaRow& row : schema_rows())
    object["schemas"].push_back({{"name", row.name}, {"title", row.title}});
  print_json(context, object);
}

void print_schema(Context& context, const Command& command, const std::string& name) {
  const Json schema = schema_of(name);
  if (!context.json) {
    context.out << schema.dump(2) << '\n';
    return;
  }
  Json object = json_object(command);
  object["name"] = name;
  object["json_schema"] = schema;
  print_json(context, object);
}

}  // namespace weir::cli
