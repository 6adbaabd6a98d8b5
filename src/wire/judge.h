#pragma once
// What a capture means: findings with their places, and, where RoCE carries a wrong TOS byte, the
// walk back along everything that could have set it. Pure: from the analysis and what was expected.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "design/fabric/intent.h"
#include "design/file/fabric.h"
#include "finding/finding.h"
#include "finding/thresholds.h"
#include "units/qos_code.h"
#include "wire/analysis.h"
#include "wire/join.h"

namespace weir::wire {

/// What RoCE should look like here.
struct Expectation {
  struct Place {
    std::string host;
    std::string rail;
    std::string device;
  };
  std::string source;  // the design's file, or empty: not given
  Dscp rdma = Dscp::of(26);
  std::uint64_t lossless = std::uint64_t{0xFF} << 24U;  // code points of the lossless classes
  Dscp cnp = Dscp::of(48);
  PrioritySet pfc = PrioritySet::from_mask(1U << 3U);
  std::map<std::string, Place, std::less<>> places;  // by address
  finding::Thresholds thresholds = {};

  [[nodiscard]] bool is_design() const { return !source.empty(); }
  [[nodiscard]] bool is_lossless(unsigned dscp) const { return ((lossless >> dscp) & 1U) != 0; }
};

[[nodiscard]] Expectation expectation_of(const design::Design& design,
                                         const design::Intent& intent);

/// How a capture was had, and how far it can be trusted.
struct CaptureSource {
  std::string name;
  std::string damage;  // empty: read to its end
  std::vector<std::uint16_t> strange_links;
  std::uint64_t dropped = 0;  // by the capturing host
  bool is_live = false;
};

/// One step of the walk back: who may have set the byte, what the capture says about it, and what
/// to type to know.
struct WalkStep {
  std::string name;
  std::string seen;
  std::vector<std::string> commands;
};

struct CaptureVerdict {
  finding::Judgement judgement;
  std::string headline;
  std::vector<WalkStep> walk;  // empty where the TOS byte is as it should be
};

/// `join` with a second capture of the same traffic: may be null. `second` is its name.
[[nodiscard]] CaptureVerdict judge(const Analysis& analysis, const CaptureSource& source,
                                   const Expectation& expectation, const Join* join = nullptr,
                                   const std::string& second = {});

}  // namespace weir::wire
