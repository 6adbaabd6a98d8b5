#pragma once
// What a training script says of its model and of how it is spread: Slurm's directives, and the
// flags of Megatron-LM and NeMo that its command has.
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace weir::readers {

struct TrainingValue {
  std::uint64_t value = 0;
  std::size_t line = 0;  // where it is; the last one counts
};

struct TrainingJob {
  std::optional<TrainingValue> nodes;
  std::optional<TrainingValue> gpus_per_node;
  /// By the flag's name without dashes: "tensor-model-parallel-size".
  std::map<std::string, TrainingValue, std::less<>> flags;
  std::string precision;  // "bf16" or "fp16", where a flag says so
};

/// Reads any text; values that only a shell can know are left out. `NAME=8` before `$NAME` is
/// followed.
[[nodiscard]] TrainingJob read_training_job(std::string_view script);

}  // namespace weir::readers
