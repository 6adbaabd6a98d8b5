#include "design/tables/nic_knobs.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/testing.h"
#include "base/text.h"

namespace weir::design {
namespace {

const NicKnob& knob(std::string_view name) {
  const NicKnob* const found = find_knob(name);
  WEIR_CHECK(found != nullptr);
  return *found;
}

std::string error_of(std::string_view name, std::string_view text) {
  const auto value = parse_knob(knob(name), text);
  return value ? "no error: " + std::to_string(*value) : value.error().what;
}

/// Setting → its Default column, as `mlxconfig -e query` prints them.
std::map<std::string, std::string, std::less<>> firmware_defaults() {
  std::map<std::string, std::string, std::less<>> out;
  const auto dump = read_file(std::string(WEIR_TEST_DATA) + "/design/mlxconfig_roce.txt");
  WEIR_CHECK(dump.has_value());
  for (std::string_view line : split(*dump, '\n')) {
    if (line.starts_with('*')) line.remove_prefix(1);  // next boot differs from now
    std::vector<std::string> words;
    for (const std::string_view word : split(line, ' '))
      if (!trim(word).empty()) words.emplace_back(trim(word));
    if (words.size() == 4) out[words[0]] = words[1];
  }
  return out;
}

std::string as_mlxconfig_prints(const NicKnob& a_knob) {
  if (a_knob.unit != KnobUnit::kFlag) return std::to_string(a_knob.fallback);
  return a_knob.fallback != 0 ? "True(1)" : "False(0)";
}

TEST(NicKnobs, DefaultsAreThoseOfAFirmwareDumpByteForByte) {
  COVERS("A2", "G3");
  const auto dump = firmware_defaults();
  ASSERT_GE(dump.size(), nic_knobs().size());
  for (const NicKnob& a_knob : nic_knobs()) {
    const auto found = dump.find(a_knob.mlxconfig);
    ASSERT_NE(found, dump.end()) << a_knob.mlxconfig;
    EXPECT_EQ(as_mlxconfig_prints(a_knob), found->second) << a_knob.name;
  }
}

TEST(NicKnobs, SixteenParametersReactAndThreeNotify) {
  COVERS("G3");
  int reaction = 0;
  int notification = 0;
  for (const NicKnob& a_knob : nic_knobs())
    ++(a_knob.is_notification_point ? notification : reaction);
  EXPECT_EQ(reaction, 16);
  EXPECT_EQ(notification, 3);
}

TEST(NicKnobs, NoNameStandsForTwoKnobs) {
  std::set<std::string_view> names;
  std::size_t count = 0;
  for (const NicKnob& a_knob : nic_knobs()) {
    names.insert({a_knob.name, a_knob.debugfs, a_knob.mlxconfig});
    count += 3;
    EXPECT_TRUE(a_knob.debugfs.starts_with(a_knob.is_notification_point ? "np_" : "rp_"));
    EXPECT_TRUE(a_knob.mlxconfig.ends_with("_P1"));
  }
  EXPECT_EQ(names.size(), count);
}

TEST(NicKnobs, EachIsFoundUnderEveryNameItHas) {
  COVERS("A2");
  for (const NicKnob& a_knob : nic_knobs()) {
    const std::string firmware(a_knob.mlxconfig);
    const std::string bare = firmware.substr(0, firmware.size() - 3);
    EXPECT_EQ(find_knob(a_knob.name), &a_knob);
    EXPECT_EQ(find_knob(a_knob.debugfs), &a_knob);
    EXPECT_EQ(find_knob(firmware), &a_knob);
    EXPECT_EQ(find_knob(bare), &a_knob);
    EXPECT_EQ(find_knob(bare + "_P2"), &a_knob);
  }
  EXPECT_EQ(find_knob("np_cnp_prio"), find_knob("CNP_802P_PRIO"));
  EXPECT_EQ(find_knob("RPG_AI_RATE_P3"), nullptr);
  EXPECT_EQ(find_knob(""), nullptr);
}

TEST(NicKnobs, EveryRowIsSaneAndExplained) {
  for (const NicKnob& a_knob : nic_knobs()) {
    SCOPED_TRACE(a_knob.name);
    EXPECT_LT(a_knob.min, a_knob.max);
    EXPECT_LE(a_knob.min, a_knob.fallback);
    EXPECT_GE(a_knob.max, a_knob.fallback);
    EXPECT_TRUE(a_knob.meaning.ends_with('.'));
    EXPECT_TRUE(a_knob.trap.empty() || a_knob.trap.ends_with('.'));
    EXPECT_FALSE(a_knob.source.empty());
  }
}

TEST(NicKnobs, WhatIsPrintedReadsBack) {
  for (const NicKnob& a_knob : nic_knobs()) {
    for (const std::int64_t value : {a_knob.min, a_knob.max, a_knob.fallback}) {
      const std::string text = knob_text(a_knob, value);
      const auto back = parse_knob(a_knob, text);
      ASSERT_TRUE(back.has_value()) << a_knob.name << ": " << back.error().what;
      EXPECT_EQ(*back, value) << a_knob.name << ": " << text;
    }
  }
}

TEST(NicKnobs, ValuesCarryTheUnitPeopleWrite) {
  COVERS("A1");
  EXPECT_EQ(*parse_knob(knob("rpg_ai_rate"), "5Mbps"), 5);
  EXPECT_EQ(*parse_knob(knob("rpg_ai_rate"), " 1.5G "), 1500);
  EXPECT_EQ(*parse_knob(knob("rpg_time_reset"), "0.3ms"), 300);
  EXPECT_EQ(*parse_knob(knob("rpg_min_dec_fac"), "50%"), 50);
  EXPECT_EQ(*parse_knob(knob("rpg_byte_reset"), "2MB"), 31'250);
  EXPECT_EQ(*parse_knob(knob("clamp_tgt_rate"), "true"), 1);
  EXPECT_EQ(*parse_knob(knob("dce_tcp_g"), "1019"), 1019);
  EXPECT_EQ(*parse_knob(knob("cnp_dscp"), "48"), 48);
}

TEST(NicKnobs, ABareNumberIsAnErrorThatSuggestsTheUnit) {
  COVERS("A1", "A2");
  EXPECT_EQ(
      error_of("rpg_ai_rate", "5"),
      "expected a rate from 1Mbps to 131071Mbps, found '5'; a bare number has no unit: did you "
      "mean 5Mbps?");
  EXPECT_EQ(error_of("rpg_time_reset", "300"),
            "expected a time from 1us to 131071us, found '300'; a bare number has no unit: did you "
            "mean 300us?");
  EXPECT_EQ(
      error_of("rpg_byte_reset", "32767"),
      "expected a size from 0B to 2097088B, found '32767'; a bare number has no unit: did you "
      "mean 2097088B?");
  EXPECT_EQ(error_of("rpg_byte_reset", "10000000"),
            "expected a size from 0B to 2097088B, found '10000000'; a bare number has no unit");
  EXPECT_EQ(error_of("clamp_tgt_rate", "1"),
            "expected true or false, found '1'; did you mean true?");
}

TEST(NicKnobs, AValueOutOfRangeNamesTheRange) {
  COVERS("A2");
  EXPECT_EQ(error_of("rpg_threshold", "32"), "expected a number from 1 to 31, found '32'");
  EXPECT_EQ(error_of("rpg_gd", "7"), "expected a number from 10 to 11, found '7'");
  EXPECT_EQ(error_of("rpg_min_dec_fac", "101%"), "expected a share from 1% to 100%, found '101%'");
  EXPECT_EQ(error_of("dce_tcp_rtt", "0us"), "expected a time from 1us to 131071us, found '0us'");
  EXPECT_EQ(error_of("rpg_byte_reset", "10MB"),
            "expected a size from 0B to 2097088B, found '10MB'");
  EXPECT_EQ(error_of("cnp_dscp", "192"), "expected a DSCP from 0 to 63, found '192'");
  EXPECT_EQ(error_of("cnp_802p_prio", "8"), "expected a priority from 0 to 7, found '8'");
}

TEST(NicKnobs, AValueBetweenTwoStepsOffersBoth) {
  EXPECT_EQ(
      error_of("rpg_byte_reset", "100B"),
      "expected a size from 0B to 2097088B, found '100B'; the NIC counts in steps of 64B: 64B "
      "or 128B");
  EXPECT_EQ(error_of("min_time_between_cnps", "1500ns"),
            "expected a time from 0us to 131071us, found '1500ns'; the NIC counts in steps of 1us: "
            "1us or 2us");
}

TEST(NicKnobs, WordsAndWrongUnitsAreRefused) {
  for (const char* text : {"", "fast", "5 apples", "-5Mbps", "5us", "1e3Mbps"})
    EXPECT_FALSE(parse_knob(knob("rpg_ai_rate"), text).has_value()) << text;
  for (const char* text : {"", "yes", "TRUE", "2"})
    EXPECT_FALSE(parse_knob(knob("clamp_tgt_rate"), text).has_value()) << text;
  for (const char* text : {"", "11.0", "-11", "0xb", "99999999999999999999"})
    EXPECT_FALSE(parse_knob(knob("rpg_gd"), text).has_value()) << text;
}

TEST(NicKnobs, APhantomIsNoKnobAndNamesAKnobOrTheSwitch) {
  COVERS("A2");
  std::set<std::string_view> names;
  for (const PhantomKnob& phantom : phantom_knobs()) {
    SCOPED_TRACE(phantom.name);
    EXPECT_TRUE(names.insert(phantom.name).second) << "listed twice";
    EXPECT_EQ(find_knob(phantom.name), nullptr);
    EXPECT_FALSE(phantom.instead.empty());
    if (phantom.real.empty()) {
      EXPECT_NE(phantom.instead.find("wred"), std::string_view::npos);
      continue;
    }
    ASSERT_NE(find_knob(phantom.real), nullptr);
    EXPECT_EQ(find_knob(phantom.real)->name, phantom.real);
    EXPECT_NE(phantom.instead.find(phantom.real), std::string_view::npos);
  }
  for (const NicKnob& a_knob : nic_knobs()) {
    for (const std::string_view name : {a_knob.name, a_knob.debugfs, a_knob.mlxconfig})
      EXPECT_EQ(find_phantom(name), nullptr) << name;
  }
}

TEST(NicKnobs, TheKnobsOfTheUsualTuningTablesAreAnsweredInTheirOwnWords) {
  COVERS("A2", "H4");
  const std::map<std::string, std::string_view> expected = {
      {"Kmin / Kmax", ""},
      {"Kmin", ""},
      {"α update period", "dce_tcp_rtt"},
      {"alpha-update-period", "dce_tcp_rtt"},
      {"Rate AI", "rpg_ai_rate"},
      {"Rate HAI", "rpg_hai_rate"},
      {"Fast recovery threshold", "rpg_threshold"}};
  for (const auto& [words, real] : expected) {
    const PhantomKnob* const found = find_phantom(words);
    ASSERT_NE(found, nullptr) << words;
    EXPECT_EQ(found->real, real) << words;
  }
  EXPECT_EQ(find_phantom("rpg"), nullptr);
}

TEST(NicKnobs, ExplainSaysWhatWhereAndWhatToWatchFor) {
  COVERS("H4");
  const std::string text = explain(knob("rpg_byte_reset"));
  for (const char* piece :
       {"rpg_byte_reset: ", "0B to 2097088B", "register: 32767, blocks of 64 bytes",
        "/sys/class/net/<interface>/ecn/roce_rp/rpg_byte_reset", "cc_params/rp_byte_reset",
        "RPG_BYTE_RESET_P1=32767", "not 32 KB", "isekai"})
    EXPECT_NE(text.find(piece), std::string::npos) << piece << "\n" << text;
  EXPECT_NE(explain(knob("cnp_dscp")).find("ecn/roce_np/cnp_dscp"), std::string::npos);
  EXPECT_NE(explain(*find_phantom("Rate AI")).find("rpg_ai_rate"), std::string::npos);
  for (const NicKnob& a_knob : nic_knobs()) {
    const std::string each = explain(a_knob);
    for (const std::string_view line : split(each, '\n'))
      EXPECT_LE(display_width(line), 100U) << line;
  }
}

TEST(NicKnobs, TheTableForPeopleListsEveryKnobAndEveryPhantom) {
  const std::string text = explain_knobs();
  for (const NicKnob& a_knob : nic_knobs())
    EXPECT_NE(text.find("  " + std::string(a_knob.name) + " "), std::string::npos) << a_knob.name;
  for (const PhantomKnob& phantom : phantom_knobs())
    EXPECT_NE(text.find(phantom.name), std::string::npos) << phantom.name;
}

}  // namespace
}  // namespace weir::design
