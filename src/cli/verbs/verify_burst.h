#pragma once
// D6: a microburst, many senders to one receiver. It is passed where nothing was lost and flow
// control was seen to act; a burst that no queue noticed proves nothing about it.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/frame/command.h"
#include "cli/verbs/verify_load.h"

namespace weir::cli {

struct Burst {
  std::size_t senders = 0;
  std::string receiver;
  std::optional<std::uint64_t> pauses;        // PFC frames in the RDMA priority, all that was seen
  std::optional<std::uint64_t> pauses_there;  // … sent by the switch that the receiver hangs on
  std::optional<std::uint64_t> marks;         // CE-marked packets
  std::optional<std::uint64_t> cnps;
  std::optional<std::uint64_t> lost;  // drops of switches in the class, signs of loss at NICs

  [[nodiscard]] bool is_lossless() const { return lost && *lost == 0; }
  [[nodiscard]] bool has_acted() const { return pauses.value_or(0) > 0; }
};

/// Adds to the judgement what a burst must show.
[[nodiscard]] Burst judge_burst(const std::vector<evidence::Evidence>& window,
                                const design::Intent& intent, std::size_t senders,
                                const std::string& receiver, finding::Judgement& judgement);

ExitCode print_burst(const Args& args, Context& context, const Verified& verified,
                     const Burst& burst);

}  // namespace weir::cli
