#include "design/file/drawn_design.h"

#include "base/testing.h"
#include "design/fabric/intent.h"
#include "design/file/load.h"

namespace weir::design {
namespace {

TEST(DrawnDesign, EveryDrawnDesignLoadsAndDerives) {
  for (const SystemModel& system : system_models()) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      SCOPED_TRACE(fmt::format("{} seed {}", system.name, seed));
      const std::string text = drawn_design(seed, system.system);
      const Loaded loaded = load_text(text, "drawn");
      ASSERT_TRUE(loaded.is_good()) << to_text(loaded) << text;
      const Derived derived = derive(loaded.design);
      ASSERT_TRUE(derived.errors.empty()) << derived.errors.front().message << "\n" << text;
      ASSERT_FALSE(derived.intent.switches.empty());
      EXPECT_EQ(text, drawn_design(seed, system.system));
    }
  }
}

}  // namespace
}  // namespace weir::design
