#pragma once
// Switches as they are sold: cages, lanes, the ways to split a cage, and which systems run on them.
// `model` of a switch group names a row; port names, breakout and native speed follow from it.
//
// Every row cites its source; what no source shows is left out, not guessed: a split that is not
// listed, or a system whose names for this box are not known, makes `ports:` necessary.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "units/quantity.h"
#include "vocab/switch_systems.h"

namespace weir::design {

/// One way to use a cage: `ports` logical ports of `speed` over its first `lanes` lanes.
struct CageMode {
  int ports = 0;  // 0 ends a list
  BitRate speed;
  int lanes = 0;          // of the cage that are used
  bool odd_only = false;  // only odd cages; the next even one is then disabled
};

/// Cages of one kind, numbered on after those of the kind before.
struct CageBlock {
  int count = 0;
  BitRate native;  // of an unsplit cage
  int lanes = 0;
  std::array<CageMode, 5> modes{};  // splits; the unsplit cage is not among them
};

/// Small ports beside the cages, not for the fabric.
struct ServicePorts {
  int count = 0;
  BitRate speed;
  int sonic_step = 0;  // their numbers follow the last lane in such steps
};

struct SwitchModel {
  std::string_view name;   // "sn5600"
  std::string_view title;  // "NVIDIA SN5600"
  std::string_view asic;   // a row of the ASIC table
  std::array<CageBlock, 2> blocks{};
  ServicePorts service;
  Bytes buffer;              // that software can allocate; 0 = as the ASIC table has it
  Bytes sonic_pool_xoff;     // headroom pool of its SONiC hwsku; 0 = not known
  std::string_view systems;  // one letter each: C S E N J; s: SONiC, from its vendor only
  int sonic_base = 0;        // number of the first port
  int sonic_lane_step = 1;   // numbers per lane; 0: one number per cage, and no splits
  bool has_sonic_names = true;
  std::string_view sonic_hwskus;  // "2x400G=Mellanox-SN5600-O128 …": a profile per whole-box mode
  std::string_view source;

  [[nodiscard]] int cages() const { return blocks[0].count + blocks[1].count; }
  /// A chassis: its names need slots, hence `ports:`.
  [[nodiscard]] bool is_modular() const { return cages() == 0; }
  [[nodiscard]] bool runs(vocab::SwitchSystem system) const;
  /// The block of a cage, which counts from 1.
  [[nodiscard]] const CageBlock& block_of(int cage) const;
};

[[nodiscard]] std::span<const SwitchModel> switch_models();
[[nodiscard]] const SwitchModel* find_switch_model(std::string_view name);

/// The mode of a cage for links of this speed; `split`: ports per cage, 0 = as many as it can. The
/// unsplit cage takes its native speed, and any lower one where `split` is 1.
[[nodiscard]] std::optional<CageMode> mode_for(const CageBlock& block, BitRate speed, int split);

/// How many ports of this speed the whole box has.
[[nodiscard]] int most_ports(const SwitchModel& model, BitRate speed);

/// A logical port: cage from 1, sub-port from 0, and how the cage is used.
struct CagePort {
  int cage = 0;
  int sub = 0;
  CageMode mode;
  friend bool operator==(const CagePort& a, const CagePort& b) {
    return a.cage == b.cage && a.sub == b.sub;
  }
};

/// How a system names that port. REQUIRES: the model runs it and has names there.
[[nodiscard]] std::string port_name(const SwitchModel& model, vocab::SwitchSystem system,
                                    const CagePort& port);
/// How a system names the cage itself: what its breakout command addresses.
[[nodiscard]] std::string cage_name(const SwitchModel& model, vocab::SwitchSystem system, int cage);
/// Names of the small ports; empty where they are not known.
[[nodiscard]] std::string service_port_names(const SwitchModel& model, vocab::SwitchSystem system);

/// Text table for `weir explain models`.
[[nodiscard]] std::string explain_models();

}  // namespace weir::design
