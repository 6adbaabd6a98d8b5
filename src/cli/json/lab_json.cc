#include "cli/json/lab_json.h"

#include "base/json.h"
#include "cli/json/object.h"

namespace weir::cli {
namespace {

Json fault_list(const std::vector<lab::ActiveFault>& faults) {
  Json list = Json::array();
  for (const lab::ActiveFault& fault : faults)
    list.push_back({{"fault", fault.text}, {"is_setting", fault.is_setting}});
  return list;
}

void add_status(const lab::Lab& lab, Json& object) {
  const lab::LabStatus status = lab.status();
  object["dir"] = lab.directory();
  object["name"] = lab.design().name.value_or("");
  object["hosts"] = status.hosts;
  object["nics"] = status.nics;
  object["factory_nics"] = status.factory_nics;
  object["switches"] = status.switches;
  object["factory_switches"] = status.factory_switches;
  object["seed"] = status.seed;
  object["loads"] = status.loads;
  object["clock_ns"] = status.clock.raw() / 1000;
  object["faults"] = fault_list(status.faults);
  const auto last = lab.last_run();
  object["last_load"] = last ? Json(last->command) : Json(nullptr);
}

}  // namespace

void print_lab_json(Context& context, const Command& command, const lab::Lab& lab) {
  Json object = json_object(command);
  add_status(lab, object);
  print_json(context, object);
}

void print_lab_gone_json(Context& context, const Command& command, const std::string& directory) {
  Json object = json_object(command);
  object["dir"] = directory;
  print_json(context, object);
}

void print_lab_faults_json(Context& context, const Command& command, const lab::Lab& lab) {
  Json object = json_object(command);
  object["dir"] = lab.directory();
  object["faults"] = fault_list(lab.faults());
  print_json(context, object);
}

void print_lab_switch_json(Context& context, const Command& command, const ops::LabSwitch& shown) {
  Json object = json_object(command);
  object["switch"] = shown.name;
  object["buffer_profile"] = shown.buffer_profile;
  object["ports"] = Json::array();
  for (const ops::LabPort& port : shown.ports)
    object["ports"].push_back(
        {{"port", port.name},
         {"neighbour", port.neighbour},
         {"up", port.is_up},
         {"headroom_bytes", port.headroom ? Json(port.headroom->raw()) : Json(nullptr)},
         {"headroom_drops", or_null(port.headroom_drops)}});
  print_json(context, object);
}

void print_loaded_json(Context& context, const std::vector<ops::LoadedConfig>& loaded) {
  Json object = {{"schema", "weir/lab-switch-load/1"}, {"loaded", Json::array()}};
  for (const ops::LoadedConfig& entry : loaded)
    object["loaded"].push_back({{"switch", entry.config.name},
                                {"file", entry.config.file},
                                {"system", entry.system},
                                {"unread", entry.config.parsed.unread.size()}});
  print_json(context, object);
}

}  // namespace weir::cli
