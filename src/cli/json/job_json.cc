#include "cli/json/job_json.h"

#include "base/json.h"
#include "cli/json/object.h"

namespace weir::cli {
namespace {

Json job_json(const readers::Job& job) {
  Json variables = Json::array();
  for (const readers::JobVariable& variable : job.variables) {
    variables.push_back({{"name", variable.name},
                         {"value", variable.value},
                         {"process", variable.process},
                         {"file", variable.at.file},
                         {"line", variable.at.line}});
  }
  Json ranks = Json::array();
  for (const readers::NcclProcess& rank : job.processes) {
    Json devices = Json::array();
    for (const readers::NcclDevice& device : rank.devices)
      devices.push_back(device.name);
    std::size_t direct = 0;
    for (const readers::NcclChannel& channel : rank.channels)
      direct += channel.is_gpu_direct() ? 1 : 0;
    ranks.push_back({{"host", rank.host},
                     {"pid", rank.pid},
                     {"rank", rank.rank ? Json(*rank.rank) : Json()},
                     {"version", rank.version},
                     {"network", rank.network ? Json(*rank.network) : Json()},
                     {"devices", devices},
                     {"channels", rank.channels.size()},
                     {"gpu_direct_channels", direct}});
  }
  return {{"lines", job.lines}, {"variables", variables}, {"ranks", ranks}};
}

}  // namespace

void print_job_json(Context& context, const Command& command, const ops::JudgedJob& judged,
                    std::string_view verdict) {
  Json object = judged_object(command, judged.judgement, verdict);
  object.update(job_json(judged.job));
  print_json(context, object);
}

void print_job_workload_json(Context& context, const Command& command,
                             const ops::JobWorkload& made) {
  Json object = {{"schema", "weir/job-workload/1"}, {"command", std::string(command.name)}};
  object["workload"] = made.workload;
  object["gpus"] = made.gpus > 0 ? Json(made.gpus) : Json();
  object["parameters"] = Json::array();
  for (const ops::WorkloadChoice& choice : made.choices)
    object["parameters"].push_back(
        {{"name", choice.name}, {"value", choice.value}, {"source", choice.source}});
  object["open"] = made.open;
  print_json(context, object);
}

}  // namespace weir::cli
