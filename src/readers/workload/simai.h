#pragma once
// Workload files of SimAI, as AICB writes them; ASTRA-sim 1 read the same layers.
//
//   HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 … all_gpus: 16 …
//   2
//   name -1 fwd_ns FWD_COMM fwd_bytes  ig_ns IG_COMM ig_bytes  wg_ns WG_COMM wg_bytes  update_ns
//
// Times are nanoseconds (cycles of 1 GHz). A communication is NONE or a collective, with a suffix
// _EP or _DP_EP that names its group; without one it is the tensor-parallel group in the forward
// pass and for input gradients, and the data-parallel one for weight gradients.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "readers/workload/chakra.h"
#include "units/quantity.h"

namespace weir::readers {

enum class ParallelGroup : std::uint8_t { kTensor, kData, kExpert, kDataExpert };

struct SimaiCommunication {
  TraceCollective collective = TraceCollective::kAllReduce;
  ParallelGroup group = ParallelGroup::kTensor;
  Bytes size;
};

/// Computing, then the collective that it ends with.
struct SimaiPhase {
  Duration compute;
  std::optional<SimaiCommunication> communication;
};

struct SimaiLayer {
  std::string name;
  SimaiPhase forward;
  SimaiPhase input_gradient;
  SimaiPhase weight_gradient;
  Duration update;
};

struct SimaiWorkload {
  std::uint32_t tensor = 1;
  std::uint32_t expert = 1;
  std::uint32_t pipeline = 1;
  std::uint32_t gpus = 0;  // 0: not said
  std::vector<SimaiLayer> layers;
};

/// Errors say "line 7: expected …, found …".
[[nodiscard]] Result<SimaiWorkload> read_simai(std::string_view text);

}  // namespace weir::readers
