#pragma once
// The arithmetic of a design's switches, with every term: buffers under each profile, marking
// thresholds by port speed.
#include <optional>
#include <string>
#include <vector>

#include "design/fabric/intent.h"
#include "model/buffers.h"
#include "model/dcqcn_fluid.h"
#include "model/headroom.h"
#include "model/wred.h"
#include "ops/source/fabric.h"

namespace weir::ops {

/// What a profile makes of a switch; no plan where its pools do not add up.
struct BufferVariant {
  const model::BufferProfile* profile = nullptr;
  std::optional<model::BufferPlan> plan;
};

/// Switches that share one arithmetic: of a group, with the same ports.
struct SwitchKind {
  std::vector<std::string> names;
  std::size_t index = 0;  // of the first, in the intent
  std::vector<BufferVariant> variants;
};

struct BufferAnswer {
  Fabric fabric;
  std::string profile;  // the design's
  std::vector<SwitchKind> kinds;

  [[nodiscard]] const design::SwitchIntent& first_of(const SwitchKind& kind) const {
    return fabric.intent.switches[kind.index];
  }
  [[nodiscard]] bool fits(const SwitchKind& kind) const;
};
[[nodiscard]] Result<BufferAnswer> calc_buffers(const std::string& design);

/// Ports of one speed. Flows meet at a host's port first, so one of those stands for the speed.
struct SpeedAnswer {
  BitRate speed;
  std::size_t ports = 0;
  design::SwitchPortIntent port;
  std::string switch_name;  // of `port`
  model::WredStart start;
  std::vector<model::PublishedWred> published;
  /// An error where the model has no place for the values.
  weir::Result<model::FluidParameters> fluid = invalid_error("");
  std::vector<model::FluidRow> rows;
};
struct WredAnswer {
  std::string file;  // of the design
  Duration loop_delay;
  std::vector<SpeedAnswer> speeds;  // fastest first
};
[[nodiscard]] Result<WredAnswer> calc_wred(const std::string& design);

/// One model's answer in a comparison; an error where it has no row or formula for the input.
struct ComparedHeadroom {
  const model::HeadroomModelInfo* model = nullptr;
  weir::Result<model::Headroom> headroom;
};
struct HeadroomAnswer {
  model::HeadroomInput input;
  model::Headroom headroom;
  std::vector<ComparedHeadroom> all;  // where they are compared
};
[[nodiscard]] Result<HeadroomAnswer> calc_headroom(const model::HeadroomInput& input,
                                                   bool compares_models);

}  // namespace weir::ops
