// parse(render(design)) == lower(design), for every system: the templates and drawn designs.
#include <algorithm>

#include <fmt/format.h>

#include "base/testing.h"
#include "base/text.h"
#include "design/fabric/intent.h"
#include "design/file/defaults.h"
#include "design/file/drawn_design.h"
#include "design/file/load.h"
#include "design/file/templates.h"
#include "design/tables/switch_models.h"
#include "platforms/common/breakout.h"
#include "platforms/common/platform.h"

namespace weir::platforms {
namespace {

std::string list(const std::vector<std::string>& lines) {
  std::string out;
  for (std::size_t i = 0; i < lines.size() && i < 12; ++i)
    out += lines[i] + "\n";
  return out;
}

std::string list(const std::vector<Unread>& lines) {
  std::string out;
  for (const Unread& unread : lines)
    out += fmt::format("{}: {} ({})\n", unread.line, unread.text, unread.why);
  return out;
}

/// Every file of a switch that can be read says what the switch will hold.
void expect_round_trip(const Platform& platform, const design::Intent& intent,
                       const design::SwitchIntent& node) {
  SCOPED_TRACE(node.name);
  const Lowered lowered = platform.lower(intent, node);
  const Rendered rendered = platform.render(intent, node);
  ASSERT_FALSE(rendered.files.empty());
  EXPECT_EQ(rendered.remarks, lowered.remarks);
  const ConfigFile& file = rendered.files.front();
  const auto parsed = platform.parse(file.text, file.name);
  ASSERT_TRUE(parsed) << parsed.error().what;
  EXPECT_EQ(list(parsed->unread), "");
  EXPECT_TRUE(same_state(lowered.state, parsed->state))
      << list(differences(lowered.state, parsed->state)) << file.text;
  EXPECT_EQ(recognise(file.text), &platform);
  EXPECT_TRUE(parsed->is_whole);
  EXPECT_TRUE(parsed->faults.empty()) << parsed->faults.front().text;
  if (platform.system == design::SwitchSystem::kSonic) return;
  ASSERT_TRUE(parsed->port_modes.has_value());
  EXPECT_EQ(*parsed->port_modes, designed_modes(node, platform.system)) << file.text;
}

class RoundTrip : public testing::TestWithParam<design::SwitchSystem> {};

TEST_P(RoundTrip, EveryTemplateIsReadBackAsItIsLowered) {
  COVERS("F1", "C7");
  const Platform& platform = platform_of(GetParam());
  for (const design::Template& example : design::templates()) {
    SCOPED_TRACE(example.name);
    const design::Loaded loaded = design::load_text(example.text, "template");
    ASSERT_TRUE(loaded.is_good());
    design::Design design = loaded.design;
    for (auto& group : design.switches) {
      group.value.system.write(GetParam(), {});
      group.value.asic.write("generic", {});
      group.value.model = {};
      group.value.ports = {};
    }
    const design::Derived derived = design::derive(design);
    ASSERT_TRUE(derived.errors.empty());
    // Switches of one group are alike; the first and the last of each show it.
    std::uint32_t group = ~0U;
    for (const design::SwitchIntent& node : derived.intent.switches) {
      if (node.group == group) continue;
      group = node.group;
      expect_round_trip(platform, derived.intent, node);
    }
  }
}

TEST_P(RoundTrip, TwoHundredDrawnDesignsAreReadBackAsTheyAreLowered) {
  COVERS("F1", "C7");
  const Platform& platform = platform_of(GetParam());
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const std::string text = design::drawn_design(seed, GetParam());
    const design::Loaded loaded = design::load_text(text, "drawn");
    ASSERT_TRUE(loaded.is_good()) << design::to_text(loaded);
    const design::Derived derived = design::derive(loaded.design);
    ASSERT_TRUE(derived.errors.empty());
    expect_round_trip(platform, derived.intent, derived.intent.switches.front());
    if (derived.intent.switches.back().group != derived.intent.switches.front().group)
      expect_round_trip(platform, derived.intent, derived.intent.switches.back());
    if (HasFailure()) {
      ADD_FAILURE() << text;
      return;
    }
  }
}

/// Every model, on every system it comes with, at every speed of its cages: what is rendered has
/// the ports that the switch has, and is read back as it is lowered.
TEST_P(RoundTrip, EveryModelAtEverySpeedIsReadBack) {
  COVERS("F1", "C7");
  const Platform& platform = platform_of(GetParam());
  for (const design::SwitchModel& model : design::switch_models()) {
    if (!model.runs(GetParam()) || model.is_modular()) continue;
    if (GetParam() == design::SwitchSystem::kSonic && !model.has_sonic_names) continue;
    for (const int speed : {25, 50, 100, 200, 400, 800}) {
      const int most = design::most_ports(model, 1_Gbps * speed);
      if (most == 0) continue;
      const int hosts = std::min(most, 12);
      const std::string text = fmt::format(
          "weir: 1\nhosts:\n  h: {{ names: 'h[01-{}]', nic: connectx8 }}\nswitches:\n  leaf: {{ "
          "names: leaf1, system: {}, model: {} }}\nlinks:\n  - {{ from: h, to: leaf, wiring: "
          "block, speed: {}G, length: 2m }}\naddressing: {{ vlan: 100 }}\n",
          hosts, platform.name, model.name, speed);
      SCOPED_TRACE(text);
      const design::Loaded loaded = design::load_text(text, "model");
      ASSERT_TRUE(loaded.is_good()) << design::to_text(loaded);
      const design::Derived derived = design::derive(loaded.design);
      ASSERT_TRUE(derived.errors.empty());
      const design::SwitchIntent& node = derived.intent.switches.front();
      ASSERT_EQ(node.ports_fault, "");
      expect_round_trip(platform, derived.intent, node);
      if (HasFailure()) return;
    }
  }
}

/// No template gives away more buffer than a switch has, whichever model it is built of.
TEST(BufferSums, PoolsAndHeadroomFitTheBufferOfEveryModel) {
  COVERS("F3");
  for (const design::Template& example : design::templates()) {
    for (const design::SwitchModel& model : design::switch_models()) {
      if (model.is_modular()) continue;
      const design::Loaded loaded = design::load_text(example.text, "template");
      ASSERT_TRUE(loaded.is_good());
      design::Design design = loaded.design;
      for (auto& group : design.switches) {
        group.value.model.write(std::string(model.name), {});
        group.value.asic = {};
        group.value.buffer = {};
        group.value.cell = {};
        group.value.ports = {};
      }
      design::fill_defaults(design);
      const design::Derived derived = design::derive(design);
      ASSERT_TRUE(derived.errors.empty()) << derived.errors.front().message;
      for (const design::SwitchIntent& node : derived.intent.switches) {
        const design::BufferIntent& buffers = node.buffers;
        if (!buffers.plan || buffers.lossless_shared <= 0_B) continue;  // lint says so
        EXPECT_LE(buffers.lossless_shared + buffers.headroom_pool, buffers.total)
            << example.name << " on " << model.name;
      }
    }
  }
}

/// The comparison can fail: what a line says is missed when it is gone.
TEST_P(RoundTrip, ALineThatIsTakenOutIsMissed) {
  COVERS("F1", "C7");
  const Platform& platform = platform_of(GetParam());
  if (GetParam() == design::SwitchSystem::kSonic) GTEST_SKIP() << "JSON is not lines";
  const design::Loaded loaded = design::load_text(design::drawn_design(7, GetParam()), "drawn");
  const design::Derived derived = design::derive(loaded.design);
  const design::SwitchIntent& node = derived.intent.switches.front();
  const evidence::Switch wanted = platform.lower(derived.intent, node).state;
  const ConfigFile file = platform.render(derived.intent, node).files.front();
  const auto lines = split(file.text, '\n');
  std::size_t taken = 0;
  std::string unmissed;
  for (std::size_t gone = 0; gone < lines.size(); ++gone) {
    const std::string_view bare = trim(lines[gone]);
    if (bare.empty() || bare.front() == '#' || bare.front() == '!') continue;
    std::string text;
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (i != gone) text += std::string(lines[i]) + "\n";
    ++taken;
    const auto parsed = platform.parse(text, file.name);
    const bool is_missed = !parsed || !parsed->unread.empty() || !same_state(wanted, parsed->state);
    if (!is_missed) unmissed += std::string(bare) + "\n";
  }
  // Lines that say a default again, or only how to load the rest, change nothing.
  const auto kept = static_cast<std::size_t>(std::count(unmissed.begin(), unmissed.end(), '\n'));
  EXPECT_GT(taken, 20U);
  EXPECT_LT(kept * 3, taken * 2) << unmissed;
}

std::vector<design::SwitchSystem> systems() {
  std::vector<design::SwitchSystem> out;
  for (const Platform& platform : platforms())
    out.push_back(platform.system);
  return out;
}

INSTANTIATE_TEST_SUITE_P(Systems, RoundTrip, testing::ValuesIn(systems()),
                         [](const auto& at) { return std::string(platform_of(at.param).name); });

}  // namespace
}  // namespace weir::platforms
