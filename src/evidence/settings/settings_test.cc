#include "base/testing.h"
#include "evidence/settings/row.h"
#include "finding/catalog.h"

namespace weir::evidence {
namespace {

TEST(SettingRows, EveryRowSaysWhatADeviationMeansAndHowToReadIt) {
  for (const SettingRow& row : setting_rows()) {
    EXPECT_NE(finding::find(row.finding), nullptr) << vocab::to_text(row.setting);
    EXPECT_FALSE(row.how_to_read.empty()) << vocab::to_text(row.setting);
    const bool compares = row.compare != nullptr || (row.wanted != nullptr && row.found != nullptr);
    const bool is_made_elsewhere =
        row.setting == Setting::kDevice || row.setting == Setting::kSysctl;
    EXPECT_TRUE(compares || is_made_elsewhere) << vocab::to_text(row.setting);
  }
}

TEST(SettingRows, WhatCanBeChangedCanBeTyped) {
  for (const SettingRow& row : setting_rows()) {
    if (row.setting == Setting::kEcnNp) continue;  // written together with kEcnRp
    EXPECT_EQ(row.commands != nullptr, row.not_changed.empty()) << vocab::to_text(row.setting);
  }
}

TEST(SettingRows, AWantedValueIsOfItsOwnSetting) {
  const design::NicIntent wanted;
  for (const SettingRow& row : setting_rows()) {
    const auto value = wanted_of(row.setting, {}, wanted, {});
    if (value) {
      EXPECT_EQ(vocab::setting_of(*value), row.setting);
    }
  }
}

TEST(SettingText, ADeviationReadsAsAnEngineerWouldSayIt) {
  const Deviation dcbx = differs(vocab::SetDcbx{}, vocab::SetDcbx{.mode = DcbxMode::kFirmware});
  EXPECT_EQ(text_of(dcbx).expected, "OS-controlled");
  EXPECT_EQ(text_of(dcbx).found, "firmware-controlled");
  const Deviation ring =
      differs(vocab::SetRings{8192, 8192}, vocab::SetRings{1024, 8192}, Part{0, 0});
  EXPECT_EQ(subject_of(ring), "ring rx");
  EXPECT_EQ(text_of(ring).expected, "8192");
  EXPECT_EQ(text_of(ring).found, "1024");
}

TEST(SettingText, PartsOfAValueArePrintedByTheirNames) {
  EXPECT_EQ(value_text(vocab::SetRings{8192, 1024}), "rx 8192, tx 1024");
  EXPECT_EQ(value_text(vocab::SetGlobalPause{true, std::nullopt}), "rx on, tx unknown");
  EXPECT_EQ(value_text(vocab::SetMtu{9000_B}), "9000");
  EXPECT_EQ(value_text(vocab::SetPfc{PrioritySet::from_mask(8)}), "3");
}

}  // namespace
}  // namespace weir::evidence
