#pragma once
// Small fabrics for the tests of the tuner: a run takes a millisecond.
#include <string>
#include <string_view>

#include "base/testing.h"
#include "design/fabric/variant.h"
#include "design/file/load.h"
#include "design/file/templates.h"

namespace weir::tune {

inline design::Variant loaded_fabric(const std::string& text) {
  design::Loaded loaded = design::load_text(text, "test.yaml");
  EXPECT_TRUE(loaded.is_good()) << to_text(loaded);
  design::Derived derived = design::derive(loaded.design);
  EXPECT_TRUE(derived.errors.empty());
  return {std::move(loaded.design), std::move(derived.intent)};
}

inline design::Variant pod16() {
  for (const design::Template& entry : design::templates())
    if (entry.name == "pod16") return loaded_fabric(std::string(entry.text));
  return {};
}

/// One switch, `hosts` hosts.
inline std::string star_text(int hosts, std::string_view more = {}) {
  return "weir: 1\nname: star\nhosts:\n  gpu:\n    names: gpu[1-" + std::to_string(hosts) +
         "]\n    nic: connectx6dx\n    stack: ofed\n    rails: 1\n"
         "switches:\n  leaf:\n    names: leaf1\n    system: cumulus\n    model: sn4600c\n"
         "    asic: spectrum3\n    tier: 1\n"
         "links:\n  - { from: gpu, to: leaf, wiring: block, speed: 100G, cable: dac, length: 3m }\n"
         "addressing:\n  subnets: 10.{rail}.{leaf}.0/24\n" +
         std::string(more);
}
inline design::Variant star(int hosts, std::string_view more = {}) {
  return loaded_fabric(star_text(hosts, more));
}

}  // namespace weir::tune
