#include "design/tables/platforms.h"

#include <array>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/testing.h"
#include "design/file/value_text.h"
#include "design/tables/nic_knobs.h"
#include "model/headroom.h"
#include "units/format.h"

namespace weir::design {
namespace {

template <class Rows>
std::set<std::string_view> names(const Rows& rows) {
  std::set<std::string_view> out;
  for (const auto& row : rows)
    out.insert(row.name);
  return out;
}

TEST(Platforms, EveryNicThatADesignMayNameIsThereOnce) {
  COVERS("A1");
  const auto known = names(nic_models());
  EXPECT_EQ(known.size(), nic_models().size());
  for (const char* name : {"connectx6dx", "connectx7", "connectx8", "bluefield3", "thor2", "e810",
                           "pollara", "generic"})
    EXPECT_TRUE(known.contains(name)) << name;
}

TEST(Platforms, EveryAsicNameIsThereOnce) {
  COVERS("A1");
  EXPECT_EQ(names(asic_models()).size(), asic_models().size());
}

TEST(Platforms, LookUpFindsEachRowAndNothingElse) {
  for (const NicModel& nic : nic_models())
    EXPECT_EQ(find_nic(nic.name), &nic);
  for (const AsicModel& asic : asic_models())
    EXPECT_EQ(find_asic(asic.name), &asic);
  EXPECT_EQ(find_nic("connectx"), nullptr);
  EXPECT_EQ(find_asic("Spectrum4"), nullptr);
}

TEST(Platforms, EverySystemHasARowUnderTheWordOfTheFile) {
  COVERS("A1");
  std::size_t count = 0;
  for (const auto& [system, word] : words(SwitchSystem{})) {
    EXPECT_EQ(system_model(system).system, system);
    EXPECT_EQ(system_model(system).name, word);
    ++count;
  }
  EXPECT_EQ(system_models().size(), count);
}

TEST(Platforms, EveryFieldOfANicIsSane) {
  for (const NicModel& nic : nic_models()) {
    SCOPED_TRACE(nic.name);
    EXPECT_FALSE(nic.title.empty());
    EXPECT_FALSE(vocab::to_text(nic.driver).empty());
    EXPECT_FALSE(nic.tool.empty());
    EXPECT_FALSE(nic.cc_place.empty());
    EXPECT_FALSE(nic.source.empty());
    EXPECT_GE(nic.max_speed, 100_Gbps);
    EXPECT_GE(nic.max_ring, 1024);
    EXPECT_EQ(nic.has_dcqcn_knobs, nic.driver == vocab::Driver::kMlx5);
  }
}

TEST(Platforms, EveryFieldOfAnAsicIsSane) {
  for (const AsicModel& asic : asic_models()) {
    SCOPED_TRACE(asic.name);
    EXPECT_FALSE(asic.title.empty());
    EXPECT_FALSE(asic.source.empty());
    EXPECT_GE(asic.buffer, 8_MB);
    EXPECT_GE(asic.deep_buffer, 0_B);
    EXPECT_GE(asic.cell, 64_B);
    EXPECT_LE(asic.cell, 512_B);
    EXPECT_EQ(asic.buffer.raw() % asic.cell.raw(), 0) << "a buffer is made of cells";
    EXPECT_LT(asic.packet_descriptor, asic.cell);
    EXPECT_GT(asic.ports, 0);
    EXPECT_GE(asic.max_ports, asic.ports);
    EXPECT_GE(asic.max_speed, 100_Gbps);
    EXPECT_GE(asic.pipeline_latency, 100_ns);
    EXPECT_LE(asic.pipeline_latency, 5_us);
    EXPECT_TRUE(asic.can_adapt || !asic.can_spray) << "what sprays also balances";
  }
}

TEST(Platforms, EveryFieldOfASystemIsSane) {
  for (const SystemModel& system : system_models()) {
    SCOPED_TRACE(system.name);
    EXPECT_FALSE(system.title.empty());
    EXPECT_FALSE(system.source.empty());
    EXPECT_GE(system.max_mtu, 9000_B);
    EXPECT_EQ(system.has_headroom_override, system.headroom_min < system.headroom_max);
    EXPECT_GE(system.auto_headroom_limit, 100_m);
    EXPECT_TRUE(system.has_buffer_pools || !system.has_one_lossless_pool);
    EXPECT_LT(system.min_alpha, system.max_alpha);
    EXPECT_GT(system.probability_step, 0_percent);
    EXPECT_LE(system.probability_step, 1_percent);
    EXPECT_GE(system.max_lossless_priorities, 1);
    EXPECT_LE(system.max_lossless_priorities, 8);
    EXPECT_GT(system.watchdog_detect_min, 0_ms);
    EXPECT_LT(system.watchdog_detect_min, system.watchdog_detect_max);
    EXPECT_GT(system.watchdog_restore_min, 0_ms);
    EXPECT_LT(system.watchdog_restore_min, system.watchdog_restore_max);
  }
}

TEST(Platforms, LimitsThatBiteInPracticeAreAsPublished) {
  COVERS("A2");
  EXPECT_EQ(system_model(SwitchSystem::kEos).max_mtu, 9214_B);
  EXPECT_EQ(system_model(SwitchSystem::kSonic).max_mtu, 9216_B);
  EXPECT_FALSE(system_model(SwitchSystem::kJunos).wred_in_bytes);
  EXPECT_EQ(system_model(SwitchSystem::kJunos).max_lossless_priorities, 6);
  EXPECT_TRUE(system_model(SwitchSystem::kCumulus).has_one_lossless_pool);
  EXPECT_FALSE(system_model(SwitchSystem::kEos).has_buffer_pools);
  EXPECT_EQ(system_model(SwitchSystem::kNxos).auto_headroom_limit, 100_m);
  EXPECT_EQ(system_model(SwitchSystem::kSonic).watchdog_detect_max, 5_s);
  EXPECT_EQ(find_asic("tomahawk5")->buffer, 173'268'640_B);
  EXPECT_EQ(find_asic("spectrum4")->cell, 192_B);
}

TEST(Platforms, EveryHeadroomModelIsOneThatTheCalculatorHas) {
  COVERS("F2");
  for (const AsicModel& asic : asic_models()) {
    SCOPED_TRACE(asic.name);
    EXPECT_TRUE(model::parse_headroom_model(asic.headroom_model).has_value())
        << asic.headroom_model;
  }
}

// Headroom is sized for the standard's bound: a device slower than it would overrun headroom that
// the calculator calls enough.
TEST(Platforms, EveryDeviceStopsWithinTheStandardsBoundAtEverySpeedItHas) {
  constexpr std::array kSpeeds = {10_Gbps,  25_Gbps,  40_Gbps,  50_Gbps,   100_Gbps,
                                  200_Gbps, 400_Gbps, 800_Gbps, 1'600_Gbps};
  const auto check = [&](std::string_view name, BitRate fastest, Duration reaction) {
    SCOPED_TRACE(name);
    EXPECT_GT(reaction, 0_ns);
    for (const BitRate speed : kSpeeds) {
      if (speed > fastest) continue;
      EXPECT_LE(reaction, model::pause_response_bound(speed)) << weir::to_text(speed);
    }
  };
  for (const NicModel& nic : nic_models())
    check(nic.name, nic.max_speed, nic.pfc_reaction);
  for (const AsicModel& asic : asic_models())
    check(asic.name, asic.max_speed, asic.pfc_reaction);
}

TEST(Platforms, SystemsRunOnTheAsicsTheyAreSoldWith) {
  COVERS("A1");
  const auto runs = [](SwitchSystem system, std::string_view asic) {
    return runs_on(system, *find_asic(asic));
  };
  EXPECT_TRUE(runs(SwitchSystem::kCumulus, "spectrum4"));
  EXPECT_FALSE(runs(SwitchSystem::kCumulus, "tomahawk5"));
  EXPECT_TRUE(runs(SwitchSystem::kEos, "jericho2"));
  EXPECT_FALSE(runs(SwitchSystem::kEos, "spectrum4"));
  EXPECT_TRUE(runs(SwitchSystem::kNxos, "cloudscale"));
  EXPECT_TRUE(runs(SwitchSystem::kNxos, "silicon-one-g200"));
  EXPECT_FALSE(runs(SwitchSystem::kNxos, "spectrum3"));
  EXPECT_TRUE(runs(SwitchSystem::kJunos, "tomahawk5"));
  EXPECT_FALSE(runs(SwitchSystem::kJunos, "jericho2"));
  for (const AsicModel& asic : asic_models())
    EXPECT_EQ(runs_on(SwitchSystem::kSonic, asic), asic.family != AsicFamily::kExpress)
        << asic.name;
  for (const SystemModel& system : system_models())
    EXPECT_TRUE(runs(system.system, "generic")) << system.name;
}

TEST(Platforms, NoCableIsSlowerThanTheBoundThatHeadroomUses) {
  COVERS("F2");
  for (const auto& [kind, word] : words(CableKind{})) {
    EXPECT_LE(delay_per_metre(kind), model::cable_delay(1_m)) << word;
    EXPECT_GE(delay_per_metre(kind), 3'336_ps) << word << " is not faster than light";
  }
}

TEST(Platforms, TheTablesForPeopleNameEveryRowWithItsSource) {
  const auto check = [](const std::string& text, const auto& rows) {
    for (const auto& row : rows) {
      EXPECT_NE(text.find("  " + std::string(row.name) + " "), std::string::npos) << row.name;
      const std::string_view first_words = row.source.substr(0, row.source.find(' '));
      EXPECT_NE(text.find(first_words), std::string::npos) << row.source;
    }
  };
  check(explain_nics(), nic_models());
  check(explain_asics(), asic_models());
  check(explain_systems(), system_models());
}

// The tables of docs/platforms.md are the program's own output, so that the manual cannot lie.
// WEIR_UPDATE_GOLDEN=1 rewrites them.
TEST(Platforms, TheManualShowsTheTablesAsTheyAre) {
  const std::string path = std::string(WEIR_TEST_DATA) + "/../../docs/platforms.md";
  auto manual = read_file(path);
  ASSERT_TRUE(manual.has_value()) << manual.error().what;
  const char* const update = std::getenv("WEIR_UPDATE_GOLDEN");
  const bool is_update = update != nullptr && std::string_view(update) == "1";
  const std::vector<std::pair<std::string, std::string>> tables = {{"nics", explain_nics()},
                                                                   {"asics", explain_asics()},
                                                                   {"systems", explain_systems()},
                                                                   {"knobs", explain_knobs()}};
  for (const auto& [name, text] : tables) {
    const std::string begin = "<!-- weir explain " + name + " -->\n";
    const std::string end = "<!-- end -->\n";
    const std::string block = "```text\n" + text + "```\n";
    const auto from = manual->find(begin);
    ASSERT_NE(from, std::string::npos) << begin;
    const auto to = manual->find(end, from);
    ASSERT_NE(to, std::string::npos) << end;
    const auto inside = from + begin.size();
    if (is_update) {
      manual->replace(inside, to - inside, block);
    } else {
      EXPECT_EQ(manual->substr(inside, to - inside), block)
          << "WEIR_UPDATE_GOLDEN=1 rewrites the table of " << name;
    }
  }
  if (is_update) {
    EXPECT_TRUE(write_file_atomic(path, *manual).has_value());
  }
}

}  // namespace
}  // namespace weir::design
