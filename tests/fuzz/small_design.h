#pragma once
// Two hosts and a leaf: the least that a tuning needs.
#include "base/check.h"
#include "design/file/load.h"

namespace weir {

inline const design::Design& small_design() {
  static const design::Loaded made = design::load_text(
      "weir: 1\nname: pair\nhosts:\n  gpu: { names: \"gpu[1-2]\", nic: connectx6dx, stack: ofed }\n"
      "switches:\n  leaf: { names: leaf1, system: cumulus, asic: spectrum3 }\nlinks:\n"
      "  - { from: gpu, to: leaf, speed: 100G, cable: dac, length: 3m }\n",
      "pair.yaml");
  WEIR_CHECK(made.is_good());
  return made.design;
}

}  // namespace weir
