#include "ops/inspect/job_workload.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "readers/job/training_job.h"
#include "sim/workload/workload_spec.h"

namespace weir::ops {
namespace {

struct FlagRow {
  std::string_view flag;
  std::string_view parameter;
};
constexpr std::array<FlagRow, 9> kFlagRows{{{"tensor-model-parallel-size", "tp"},
                                            {"pipeline-model-parallel-size", "pp"},
                                            {"expert-model-parallel-size", "ep"},
                                            {"num-layers", "layers"},
                                            {"hidden-size", "hidden"},
                                            {"seq-length", "seq"},
                                            {"micro-batch-size", "batch"},
                                            {"num-experts", "experts"},
                                            {"moe-router-topk", "topk"}}};

class Choices {
 public:
  void set(std::string_view name, const std::string& value, const std::string& source) {
    const auto found = std::find_if(list_.begin(), list_.end(), [&](const WorkloadChoice& choice) {
      return choice.name == name;
    });
    if (found != list_.end())
      *found = {std::string(name), value, source};
    else
      list_.push_back({std::string(name), value, source});
  }
  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  [[nodiscard]] std::uint64_t number(std::string_view name, std::uint64_t otherwise) const {
    const WorkloadChoice* choice = find(name);
    if (choice == nullptr) return otherwise;
    return parse_u64(choice->value).value_or(otherwise);
  }
  [[nodiscard]] std::vector<WorkloadChoice> take() && { return std::move(list_); }
  [[nodiscard]] const std::vector<WorkloadChoice>& list() const { return list_; }

 private:
  [[nodiscard]] const WorkloadChoice* find(std::string_view name) const {
    const auto found = std::find_if(list_.begin(), list_.end(), [&](const WorkloadChoice& choice) {
      return choice.name == name;
    });
    return found == list_.end() ? nullptr : &*found;
  }
  std::vector<WorkloadChoice> list_;
};

struct ScriptFacts {
  std::uint64_t gpus = 0;
  std::optional<std::uint64_t> global_batch;
};

weir::Status read_scripts(const std::vector<std::string>& files, Choices& choices,
                          ScriptFacts& facts) {
  std::uint64_t nodes = 0;
  std::uint64_t per_node = 0;
  for (const std::string& file : files) {
    WEIR_TRY(text, read_file(file));
    const readers::TrainingJob job = readers::read_training_job(text);
    if (job.nodes) nodes = job.nodes->value;
    if (job.gpus_per_node) per_node = job.gpus_per_node->value;
    for (const FlagRow& row : kFlagRows)
      if (const auto found = job.flags.find(row.flag); found != job.flags.end())
        choices.set(row.parameter, std::to_string(found->second.value),
                    fmt::format("{}:{}", file, found->second.line));
    if (const auto found = job.flags.find("global-batch-size"); found != job.flags.end())
      facts.global_batch = found->second.value;
    if (!job.precision.empty()) choices.set("precision", job.precision, file);
  }
  facts.gpus = nodes * per_node;
  return {};
}

/// Micro-batches of a step follow from the global batch.
void count_micro_batches(const ScriptFacts& facts, Choices& choices) {
  if (choices.has("microbatches") || !facts.global_batch || facts.gpus == 0) return;
  const std::uint64_t share = choices.number("tp", 8) * choices.number("pp", 1);
  const std::uint64_t copies = share == 0 ? 0 : facts.gpus / share;
  const std::uint64_t at_once = copies * choices.number("batch", 1);
  if (at_once == 0 || *facts.global_batch % at_once != 0) return;
  choices.set("microbatches", std::to_string(*facts.global_batch / at_once),
              fmt::format("computed: global batch {} / (dp {} * batch {})", *facts.global_batch,
                          copies, choices.number("batch", 1)));
}

}  // namespace

Result<JobWorkload> job_workload(const JobWorkloadRequest& request) {
  Choices choices;
  ScriptFacts facts;
  WEIR_TRY_STATUS(or_bad_input(read_scripts(request.files, choices, facts)));
  for (const std::string_view piece : split(request.with, ',')) {
    if (trim(piece).empty()) continue;
    const std::size_t equals = piece.find('=');
    if (equals == std::string_view::npos)
      return bad_request(fmt::format("--with: expected parameter=value, found '{}'", piece));
    choices.set(trim(piece.substr(0, equals)), std::string(trim(piece.substr(equals + 1))),
                "--with");
  }
  count_micro_batches(facts, choices);
  JobWorkload out;
  out.gpus = facts.gpus;
  if (!choices.has("of") && !(choices.has("layers") && choices.has("hidden")))
    return bad_request(
        "the model is not known: the script has no --num-layers and --hidden-size; name one, such "
        "as --with of=70B");
  for (const auto& [name, meaning] : {std::pair{"tp", "tensor parallel"},
                                      {"pp", "pipeline stages"},
                                      {"microbatches", "micro-batches of a step"},
                                      {"seq", "tokens of a sequence"},
                                      {"flops", "that a GPU does in a second"}})
    if (!choices.has(name))
      out.open.push_back(
          fmt::format("{} ({}) is not known and left at its default", name, meaning));
  out.workload = "model";
  for (const bool is_shape : {true, false})  // which the others refine
    for (const WorkloadChoice& choice : choices.list())
      if ((choice.name == "of") == is_shape)
        out.workload += fmt::format(",{}={}", choice.name, choice.value);
  if (const auto spec = sim::parse_workload(out.workload); !spec)
    return bad_request(spec.error().what);
  out.choices = std::move(choices).take();
  return out;
}

}  // namespace weir::ops
