#pragma once
// A microburst: many senders to one receiver. It passes where nothing was lost and flow control was
// seen to act; a burst that no queue noticed proves nothing about it.
#include <cstdint>
#include <optional>
#include <string>

#include "diagnose/core/view.h"
#include "finding/finding.h"

namespace weir::diagnose {

struct Burst {
  std::size_t senders = 0;
  std::string receiver;
  std::optional<std::uint64_t> pauses;        // PFC frames in the RDMA priority, wherever counted
  std::optional<std::uint64_t> pauses_there;  // … sent by the switch of the receiver
  std::optional<std::uint64_t> marks;         // CE-marked packets
  std::optional<std::uint64_t> cnps;
  std::optional<std::uint64_t> lost;  // drops of switches in the class, signs of loss at NICs

  [[nodiscard]] bool is_lossless() const { return lost && *lost == 0; }
  [[nodiscard]] bool has_acted() const { return pauses.value_or(0) > 0; }
};

/// What flow control did in the window, and what was lost of the lossless class.
[[nodiscard]] Burst count_burst(const View& view, std::size_t senders, const std::string& receiver);

/// Adds to the judgement what a burst must show.
void judge_burst(const Burst& burst, finding::Judgement& judgement);

}  // namespace weir::diagnose
