#include "design/prove/fluid.h"

#include <fmt/format.h>

#include "base/testing.h"
#include "design/file/load.h"
#include "design/file/templates.h"

namespace weir::design {
namespace {

struct Fabric {
  Design design;
  Intent intent;
  [[nodiscard]] const SwitchPortIntent& access_port() const {
    return intent.switches.front().ports.front();
  }
};

Fabric fabric(std::string_view name, const std::string& appended) {
  const Template* const found = find_template(name);
  EXPECT_NE(found, nullptr);
  Loaded loaded = load_text(std::string(found->text) + appended, "fabric.yaml");
  EXPECT_TRUE(loaded.is_good()) << to_text(loaded);
  Derived derived = derive(loaded.design);
  EXPECT_TRUE(derived.errors.empty());
  return {std::move(loaded.design), std::move(derived.intent)};
}

TEST(Fluid, ConnectxTakesTheFirmwaresRegisters) {
  COVERS("A2", "F4");
  const Fabric pod = fabric("pod16", "");
  const auto fluid = fluid_at(pod.design, pod.intent, pod.access_port(), 8);
  ASSERT_TRUE(fluid.has_value());
  EXPECT_EQ(fluid->rate, 100_Gbps);
  EXPECT_EQ(fluid->flows, 8);
  EXPECT_EQ(fluid->mtu, 4096_B);
  EXPECT_EQ(fluid->cnp_interval, 4_us);
  EXPECT_EQ(fluid->alpha_period, 1_us);
  EXPECT_EQ(fluid->increase_timer, 300_us);
  EXPECT_EQ(fluid->byte_counter, 64_B * 32767);
  EXPECT_EQ(fluid->fast_recovery, 1);
  EXPECT_DOUBLE_EQ(fluid->gain, 5.0 / 1024);
  EXPECT_EQ(fluid->additive_increase, 5_Mbps);
  EXPECT_EQ(fluid->wred, (model::WredCurve{25_KB, 375_KB, 10_percent}));
}

TEST(Fluid, WrittenKnobsCountUnderAnyOfTheirNames) {
  COVERS("A2");
  const Fabric pod = fabric(
      "pod16",
      "dcqcn: { rp_ai_rate: 20Mbps, rpg_byte_reset: 0B, RATE_REDUCE_MONITOR_PERIOD: 8us }\n");
  const auto fluid = fluid_at(pod.design, pod.intent, pod.access_port(), 8);
  ASSERT_TRUE(fluid.has_value()) << fluid.error().what;
  EXPECT_EQ(fluid->additive_increase, 20_Mbps);
  EXPECT_EQ(fluid->byte_counter, model::kNoByteCounter);
  EXPECT_EQ(fluid->cnp_interval, 8_us);
  ASSERT_NE(written_knob(pod.design, "rpg_ai_rate"), nullptr);
  EXPECT_EQ(written_knob(pod.design, "rpg_ai_rate")->text, "20Mbps");
  EXPECT_EQ(written_knob(pod.design, "rpg_hai_rate"), nullptr);
}

TEST(Fluid, PublishedVariantKeepsItsPapersValuesButForWhatIsWritten) {
  COVERS("A2");
  const Fabric pod = fabric("pod16", "dcqcn: { variant: paper, rpg_time_reset: 100us }\n");
  const auto fluid = fluid_at(pod.design, pod.intent, pod.access_port(), 2);
  ASSERT_TRUE(fluid.has_value());
  EXPECT_EQ(fluid->increase_timer, 100_us);
  EXPECT_EQ(fluid->cnp_interval, 50_us);
  EXPECT_EQ(fluid->alpha_period, 55_us);
  EXPECT_EQ(fluid->additive_increase, 40_Mbps);
  EXPECT_EQ(fluid->fast_recovery, 5);
}

TEST(Fluid, ARampWithoutWidthIsAnError) {
  COVERS("A2");
  const Fabric pod = fabric("pod16", "wred: { min: 300KB, max: 300KB }\n");
  EXPECT_FALSE(fluid_at(pod.design, pod.intent, pod.access_port(), 2).has_value());
}

TEST(Fluid, LoopDelayIsTwiceTheLongestWayAndOnePacket) {
  COVERS("A2");
  // Twice 3 m of copper at 4.3 ns and 30 m of glass at 5 ns, three Spectrum-3 at 500 ns; 4178 B at
  // 100G.
  const Fabric pod = fabric("pod16", "");
  const Duration one_way = 6 * 4'300_ps + 60 * 5_ns + 3 * 500_ns;
  EXPECT_EQ(least_loop_delay(pod.design, pod.intent),
            2 * one_way + serialization_time(4178_B, 100_Gbps));
}

TEST(Fluid, StoreAndForwardAddsAPacketAtEachSwitch) {
  COVERS("A2");
  const Template* const pair = find_template("pair");
  std::string text(pair->text);
  const std::string_view line = "    system: cumulus\n";
  text.replace(text.find(line), line.size(),
               "    system: cumulus\n    forwarding: store-and-forward\n");
  const Loaded slow = load_text(text, "fabric.yaml");
  const Fabric quick = fabric("pair", "");
  EXPECT_EQ(
      least_loop_delay(slow.design, derive(slow.design).intent),
      least_loop_delay(quick.design, quick.intent) + 2 * serialization_time(4178_B, 100_Gbps));
}

}  // namespace
}  // namespace weir::design
