#include "lab/fabric/nic_settings.h"

#include "base/json.h"
#include "base/rng.h"
#include "base/testing.h"
#include "design/tables/platforms.h"

namespace weir::lab {
namespace {

using evidence::TrustMode;
using evidence::Tsa;

NicPlatform platform(std::string_view name, design::HostStack stack = design::HostStack::kOfed) {
  return {design::find_nic(name), stack};
}

std::string refusal(const host::Change& change, const NicPlatform& on) {
  NicSettings settings = factory_settings(on);
  const NicSettings before = settings;
  const auto done = perform(change, on, settings);
  EXPECT_TRUE(done || settings == before) << "a refused change must change nothing";
  return done ? "taken" : done.error().what;
}

TEST(NicSettings, AFactoryConnectXIsAsItComesOutOfTheBox) {
  COVERS("G8");
  const NicSettings factory = factory_settings(platform("connectx6dx"));
  EXPECT_EQ(factory.trust, TrustMode::kPcp);
  EXPECT_EQ(factory.pfc.count(), 0);
  EXPECT_EQ(factory.np.mask(), 0xFF);  // ROCE_CC_PRIO_MASK is 255
  EXPECT_EQ(factory.rp.mask(), 0xFF);
  EXPECT_EQ(factory.priority_to_tc[0].value(), 1U);  // priorities 0 and 1 are swapped
  EXPECT_EQ(factory.priority_to_tc[1].value(), 0U);
  EXPECT_EQ(factory.priority_to_tc[3].value(), 3U);
  EXPECT_EQ(factory.mtu, 1500_B);
  EXPECT_TRUE(factory.pause_rx && factory.pause_tx);
  EXPECT_FALSE(factory.traffic_class.has_value());
  EXPECT_EQ(factory.cm_tos.value(), 0U);
  EXPECT_EQ(factory.knobs.at("rpg_threshold"), 1);
  EXPECT_EQ(factory.ring_rx, 1024U);
}

TEST(NicSettings, ADscpMapTurnsTrustToDscpAndPcpEmptiesTheMap) {
  const NicPlatform on = platform("connectx7");
  NicSettings settings = factory_settings(on);
  ASSERT_TRUE(perform(host::SetTrust{TrustMode::kDscp}, on, settings));
  EXPECT_EQ(settings.dscp_to_priority[26], Priority::of(3));  // octets
  host::SetDscpMap map;
  map.priority[26] = Priority::of(5);
  ASSERT_TRUE(perform(map, on, settings));
  EXPECT_EQ(settings.dscp_to_priority[26], Priority::of(5));
  EXPECT_FALSE(settings.dscp_to_priority[27].has_value());
  ASSERT_TRUE(perform(host::SetTrust{TrustMode::kPcp}, on, settings));
  EXPECT_FALSE(settings.dscp_to_priority[26].has_value());
  ASSERT_TRUE(perform(map, on, settings));
  EXPECT_EQ(settings.trust, TrustMode::kDscp);
}

TEST(NicSettings, OnlyANewPfcMaskTakesTheLinkDown) {
  const NicPlatform on = platform("connectx7");
  NicSettings settings = factory_settings(on);
  const host::SetPfc pfc{PrioritySet::from_mask(8)};
  EXPECT_TRUE(perform(pfc, on, settings)->flaps_link);
  const auto again = perform(pfc, on, settings);
  EXPECT_FALSE(again->flaps_link);
  EXPECT_FALSE(again->changed);
}

TEST(NicSettings, WhatTheDriverWouldRefuseIsRefusedInItsWords) {
  const NicPlatform ofed = platform("connectx7");
  const NicPlatform inbox = platform("connectx7", design::HostStack::kInbox);
  host::SetScheduling uneven;
  uneven.tsa.fill(Tsa::kEts);
  uneven.percent.fill(10);
  EXPECT_NE(refusal(uneven, ofed).find("add up to 80 %"), std::string::npos);
  EXPECT_NE(refusal(host::SetRings{16384, 1024}, ofed).find("1 to 8192"), std::string::npos);
  EXPECT_NE(refusal(host::SetTrust{TrustMode::kBoth}, ofed).find("pcp and dscp"),
            std::string::npos);
  EXPECT_NE(refusal(host::SetCableLength{1000_m}, ofed).find("1m to 999m"), std::string::npos);
  EXPECT_NE(refusal(host::SetKnob{"rpg_min_dec_fac", 101}, ofed).find("1% to 100%"),
            std::string::npos);
  EXPECT_NE(refusal(host::SetMtu{10'000_B}, ofed).find("9978B"), std::string::npos);
  EXPECT_NE(refusal(host::SetEcn{}, inbox).find("the kernel's own mlx5 driver"), std::string::npos);
  EXPECT_NE(refusal(host::SetTrafficClass{106_tos}, inbox).find("no such file"), std::string::npos);
  EXPECT_EQ(refusal(host::SetKnob{"rpg_ai_rate", 10}, inbox).find("no such"), std::string::npos)
      << "debugfs has the parameters on the kernel's driver too";
  EXPECT_NE(refusal(host::SetPfc{}, platform("pollara")).find("nicctl"), std::string::npos);
  EXPECT_NE(refusal(host::SetKnob{"rpg_ai_rate", 10}, platform("thor2")).find("cc_config"),
            std::string::npos);
}

TEST(NicSettings, RingsAreRoundedUpToAPowerOfTwo) {
  const NicPlatform on = platform("connectx7");
  NicSettings settings = factory_settings(on);
  ASSERT_TRUE(perform(host::SetRings{5000, 600}, on, settings));
  EXPECT_EQ(settings.ring_rx, 8192U);
  EXPECT_EQ(settings.ring_tx, 1024U);
}

NicSettings drawn(const NicPlatform& on, std::uint64_t seed) {
  RandomStream draw(seed, 0, 0);
  const auto flip = [&] { return draw.below(2) == 1; };
  NicSettings out = factory_settings(on);
  out.pause_rx = flip();
  out.pause_tx = flip();
  out.dcbx = flip() ? evidence::DcbxMode::kOs : evidence::DcbxMode::kFirmware;
  out.trust = flip() ? TrustMode::kDscp : TrustMode::kPcp;
  for (auto& entry : out.dscp_to_priority)
    if (flip()) entry = Priority::of(static_cast<unsigned>(draw.below(8)));
  for (auto& tc : out.priority_to_tc)
    tc = TrafficClass::of(static_cast<unsigned>(draw.below(8)));
  for (auto& tsa : out.tsa)
    tsa = flip() ? Tsa::kEts : Tsa::kStrict;
  for (auto& percent : out.tc_bandwidth)
    percent = static_cast<unsigned>(draw.below(101));
  out.pfc = PrioritySet::from_mask(static_cast<std::uint8_t>(draw.below(256)));
  out.np = PrioritySet::from_mask(static_cast<std::uint8_t>(draw.below(256)));
  out.rp = PrioritySet::from_mask(static_cast<std::uint8_t>(draw.below(256)));
  out.cnp_dscp = Dscp::of(static_cast<unsigned>(draw.below(64)));
  out.cnp_priority = Priority::of(static_cast<unsigned>(draw.below(8)));
  out.knobs["rpg_ai_rate"] = static_cast<std::int64_t>(draw.below(1000)) + 1;
  if (flip()) out.traffic_class = TosByte::of(static_cast<unsigned>(draw.below(256)));
  out.cm_tos = TosByte::of(static_cast<unsigned>(draw.below(256)));
  out.mtu = Bytes::raw(static_cast<std::int64_t>(draw.below(9000)) + 68);
  out.ring_rx = static_cast<unsigned>(draw.below(8192));
  return out;
}

TEST(NicSettings, WhatIsWrittenIsReadBack) {
  const NicPlatform on = platform("connectx7");
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const NicSettings settings = drawn(on, seed);
    const Json json = difference(factory_settings(on), settings);
    NicSettings read = factory_settings(on);
    const Status done = set_keys(JsonCursor(json), read);
    ASSERT_TRUE(done.has_value()) << "seed " << seed << ": " << done.error().what;
    EXPECT_TRUE(read == settings) << "seed " << seed << ": " << json.dump();
  }
  EXPECT_TRUE(difference(factory_settings(on), factory_settings(on)).empty());
}

TEST(NicSettings, AKeyOfALaterVersionIsAnErrorAndNotLost) {
  NicSettings settings = factory_settings(platform("connectx7"));
  const Json later = {{"pause_rx", false}, {"quantum", 3}};
  const Status read = set_keys(JsonCursor(later), settings);
  ASSERT_FALSE(read.has_value());
  EXPECT_NE(read.error().what.find("/quantum"), std::string::npos) << read.error().what;
  const Json wrong = {{"dscp_to_priority", {1, 2, 3}}};
  EXPECT_FALSE(set_keys(JsonCursor(wrong), settings).has_value());
}

}  // namespace
}  // namespace weir::lab
