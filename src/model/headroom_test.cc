#include "model/headroom.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/file.h"
#include "base/json.h"
#include "base/testing.h"
#include "units/format.h"

namespace weir::model {
namespace {

BitRate gbps(std::int64_t n) {
  return BitRate::raw(n * 1'000'000'000);
}
Length metres(std::int64_t n) {
  return Length::raw(n * 1'000);
}

Json golden() {
  const std::string path = std::string(WEIR_TEST_DATA) + "/model/headroom_golden.json";
  const Result<std::string> text = read_file(path);
  EXPECT_TRUE(text) << path;
  return Json::parse(text.value_or("{}"));
}

HeadroomInput input(HeadroomModel model, std::int64_t speed_gbps, std::int64_t cable_m) {
  HeadroomInput in;
  in.model = model;
  in.speed = gbps(speed_gbps);
  in.cable = metres(cable_m);
  return in;
}

HeadroomInput input(HeadroomModel model, const Json& row) {
  return input(model, row.at("speed_mbps").get<std::int64_t>() / 1000, row.at("cable_m"));
}

Headroom must(const HeadroomInput& in) {
  const Result<Headroom> result = headroom(in);
  EXPECT_TRUE(result) << (result ? "" : result.error().what);
  return result.value_or({});
}

TEST(Headroom, Spectrum4EqualsTheVendorsPublishedRowsToTheByte) {
  COVERS("F2");
  const Json rows = golden().at("nvidia_spectrum4_published").at("xoff_bytes");
  EXPECT_EQ(rows.size(), 24U);
  for (const Json& row : rows) {
    HeadroomInput in = input(HeadroomModel::kSpectrum4, row);
    in.lossless_mtu = 1024_B;
    in.small_percent = 100;
    EXPECT_EQ(must(in).xoff.raw(), row.at("xoff")) << row;
  }
}

TEST(Headroom, Spectrum3LegacyEqualsTheVendorsPublishedRowsToTheByte) {
  COVERS("F2");
  const Json rows = golden().at("nvidia_spectrum3_published_legacy").at("xoff_bytes");
  EXPECT_EQ(rows.size(), 21U);
  for (const Json& row : rows) {
    HeadroomInput in = input(HeadroomModel::kSpectrum3Legacy, row);
    in.lossless_mtu = 1024_B;
    in.small_percent = 100;
    EXPECT_EQ(must(in).xoff.raw(), row.at("xoff")) << row;
  }
}

TEST(Headroom, SpectrumFormulasEqualEveryCalculatedRowWithXonAndSize) {
  COVERS("F2");
  const std::map<int, HeadroomModel> generations = {{3, HeadroomModel::kSpectrum3},
                                                    {4, HeadroomModel::kSpectrum4},
                                                    {6, HeadroomModel::kSpectrum6}};
  const Json rows = golden().at("calculated");
  EXPECT_EQ(rows.size(), 120U);
  for (const Json& row : rows) {
    HeadroomInput in = input(generations.at(row.at("gen")), row);
    in.small_percent = row.at("small_pct");
    in.mtu = Bytes::raw(row.at("port_mtu"));
    in.lossless_mtu = Bytes::raw(row.at("lossless_mtu"));
    const Headroom result = must(in);
    EXPECT_EQ(result.xoff.raw(), row.at("xoff")) << row;
    EXPECT_EQ(result.xon->raw(), row.at("xon")) << row;
    EXPECT_EQ(result.size->raw(), row.at("size")) << row;
  }
}

TEST(Headroom, TheNicFormulaEqualsTheDriversIntegers) {
  COVERS("F2");
  const Json rows = golden().at("mlx5_nic_xoff");
  EXPECT_EQ(rows.size(), 20U);
  for (const Json& row : rows) {
    HeadroomInput in = input(HeadroomModel::kMlx5Nic, row.at("speed_gbps"), row.at("cable_m"));
    in.mtu = Bytes::raw(row.at("mtu"));
    EXPECT_EQ(must(in).xoff.raw(), row.at("xoff")) << row;
  }
  EXPECT_EQ(must(input(HeadroomModel::kMlx5Nic, 10, 7)).xoff,
            must(input(HeadroomModel::kMlx5Nic, 40, 7)).xoff)
      << "the driver computes slower ports as 40G";
}

TEST(Headroom, VendorTablesHoldEveryPublishedRow) {
  COVERS("F2");
  const std::map<std::string, std::vector<HeadroomModel>> boxes = {
      {"DellEMC-Z9332f-M-O16C64", {HeadroomModel::kTomahawk3}},
      {"Nokia-IXR7220-H4/H5", {HeadroomModel::kTomahawk4, HeadroomModel::kTomahawk5}},
      {"Nokia-IXR7220-H5", {HeadroomModel::kTomahawk5}},
      {"Micas-M2-W6940-128QC", {HeadroomModel::kTomahawk5Micas}},
      {"Nokia-IXR7220-H6-O256", {HeadroomModel::kTomahawk6}},
      {"DellEMC-S5448f", {HeadroomModel::kTrident4}}};
  int rows = 0;
  const Json published = golden().at("broadcom_published");
  for (const Json& box : published) {
    for (const HeadroomModel model : boxes.at(box.at("platform"))) {
      for (const auto& [length, xoff] : box.at("xoff").items()) {
        const Headroom result =
            must(input(model, box.at("speed").get<std::int64_t>() / 1000, std::stoll(length)));
        EXPECT_EQ(result.xoff.raw(), xoff) << box << length;
        ++rows;
      }
    }
  }
  EXPECT_EQ(rows, 39);
}

TEST(Headroom, ATableRoundsTheCableUpToItsNextRowAndSaysSo) {
  COVERS("F2");
  const Headroom between = must(input(HeadroomModel::kTomahawk5, 400, 6));
  EXPECT_EQ(between.xoff, 330'200_B);
  EXPECT_EQ(between.notes.front(), "no row for 6m: rounded up to the 40m row");
  EXPECT_EQ(must(input(HeadroomModel::kTomahawk5, 400, 5)).notes.size(), 1U);
}

TEST(Headroom, ATableNeverExtrapolates) {
  const Result<Headroom> beyond = headroom(input(HeadroomModel::kTomahawk5, 400, 301));
  ASSERT_FALSE(beyond);
  EXPECT_EQ(
      beyond.error().what,
      "headroom table tomahawk5 ends at 300m for 400G, the cable is 301m; use a formula (--model "
      "ieee) or the vendor's row for this cable");
  const Result<Headroom> speed = headroom(input(HeadroomModel::kTomahawk5, 200, 5));
  ASSERT_FALSE(speed);
  EXPECT_EQ(speed.error().what,
            "headroom table tomahawk5 has no row for 200G; it has 100G, 400G, 800G");
}

TEST(Headroom, TableRowsAreSortedSoThatRoundingUpFindsTheNearest) {
  for (const HeadroomModelInfo& entry : headroom_models()) {
    const auto rows = headroom_rows(entry.model);
    EXPECT_EQ(rows.empty(), entry.kind != HeadroomKind::kVendorTable) << entry.name;
    EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.speed, a.cable, a.xoff) < std::tuple(b.speed, b.cable, b.xoff);
    })) << entry.name;
  }
}

TEST(Headroom, TheStandardsSumEqualsTheWorkedNumbers) {
  COVERS("F2");
  const std::map<std::int64_t, std::vector<std::int64_t>> worked = {
      {100, {59'507, 62'882, 71'632, 96'632, 309'132}},
      {200, {63'658, 70'408, 87'908, 137'908, 562'908}},
      {400, {93'336, 106'836, 141'836, 241'836, 1'091'836}},
      {800, {94'836, 121'836, 191'836, 391'836, 2'091'836}}};
  const std::vector<std::int64_t> lengths = {3, 30, 100, 300, 2000};
  for (const auto& [speed, bytes] : worked) {
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      EXPECT_EQ(must(input(HeadroomModel::kIeee, speed, lengths[i])).xoff.raw(), bytes[i])
          << speed << "G " << lengths[i] << " m";
    }
  }
}

TEST(Headroom, ASwitchAtTheOtherEndCountsASecondInterfaceDelay) {
  COVERS("F2");
  HeadroomInput in = input(HeadroomModel::kIeee, 400, 30);
  const Bytes nic = must(in).xoff;
  in.peer = Peer::kSwitch;
  const Headroom towards_switch = must(in);
  EXPECT_EQ(towards_switch.xoff - nic, 15'360_B);  // 122,880 bit times
  EXPECT_TRUE(std::any_of(towards_switch.notes.begin(), towards_switch.notes.end(),
                          [](const auto& n) { return n.find("unverified") != std::string::npos; }));
}

TEST(Headroom, TheKindOfCableSetsItsDelay) {
  COVERS("F2");
  HeadroomInput in = input(HeadroomModel::kIeee, 400, 100);
  const Bytes fibre = must(in).xoff;
  in.delay_per_metre = Duration::raw(4'300);  // copper
  EXPECT_EQ(fibre - must(in).xoff, 7'000_B);
  EXPECT_EQ(must(in).cable_only, 43'000_B);
}

TEST(Headroom, TheTaggerSumEqualsThePapersPort) {
  COVERS("F2");
  HeadroomInput in = input(HeadroomModel::kTagger, 40, 200);
  in.mtu = 1500_B;
  in.lossless_mtu = 1100_B;
  in.peer_response = 2750_ns;
  EXPECT_EQ(must(in).xoff, 86'320_B);
  EXPECT_EQ((must(in).xoff * 32).raw(), 2'762'240);
  in.cell = 64_B;  // no inflation left but the rounding to 64 B
  EXPECT_NEAR(static_cast<double>(must(in).xoff.raw()), 26'478, 128);
}

TEST(Headroom, WithoutCellsTheTaggerSumGivesTheRawTable) {
  COVERS("F2");
  struct Raw {
    std::int64_t speed;
    Bytes frame;
    std::vector<std::int64_t> kilobytes;  // 3, 30, 100 m
  };
  const std::vector<Raw> table = {{100, 4178_B, {34, 37, 46}},
                                  {400, 4178_B, {68, 81, 116}},
                                  {400, 9216_B, {78, 92, 127}},
                                  {800, 4178_B, {69, 96, 166}}};
  const std::vector<std::int64_t> lengths = {3, 30, 100};
  for (const Raw& row : table) {
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      HeadroomInput in = input(HeadroomModel::kTagger, row.speed, lengths[i]);
      in.mtu = row.frame;
      in.cell = 64_B;
      EXPECT_NEAR(static_cast<double>(must(in).xoff.raw()) / 1000,
                  static_cast<double>(row.kilobytes[i]), 0.63)
          << row.speed << "G " << lengths[i] << " m";
    }
  }
}

TEST(Headroom, TheFolkloreTableIsTheCableTermAlone) {
  COVERS("F2");
  for (const HeadroomRow& row : cable_only_folklore()) {
    const Headroom result = must({.speed = row.speed, .cable = *row.cable});
    const double ratio =
        static_cast<double>(row.xoff.raw()) / static_cast<double>(result.cable_only.raw());
    EXPECT_NEAR(ratio, 1.315, 0.02);
    EXPECT_LT(row.xoff, result.xoff) << "the standard's sum is larger at every length";
  }
  const Headroom shortest = must(input(HeadroomModel::kIeee, 400, 3));
  EXPECT_EQ(shortest.cable_only, 1'500_B);
  EXPECT_EQ(shortest.hard_floor, 19'932_B);
}

TEST(Headroom, TermsAddUpToTheTotalInEveryModel) {
  COVERS("F2");
  int checked = 0;
  for (const HeadroomModelInfo& entry : headroom_models()) {
    for (const std::int64_t speed : {10, 25, 40, 50, 100, 200, 400, 800}) {
      for (const std::int64_t length : {0, 1, 3, 5, 7, 30, 100, 300}) {
        const Result<Headroom> result = headroom(input(entry.model, speed, length));
        if (!result) continue;
        Bytes sum;
        for (const Term& term : result->terms) {
          sum += term.bytes;
          EXPECT_FALSE(term.name.empty() || term.why.empty());
        }
        EXPECT_EQ(sum, result->xoff) << entry.name << speed << "G" << length << "m";
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 640);
}

TEST(Headroom, NeverShrinksWithCableSpeedOrPortMtu) {
  COVERS("F2");
  const std::vector<std::int64_t> speeds = {10, 25, 40, 50, 100, 200, 400, 800};
  for (const HeadroomModelInfo& entry : headroom_models()) {
    if (entry.kind == HeadroomKind::kVendorTable) continue;
    for (const int small : {0, 50, 100}) {
      const auto xoff = [&](std::int64_t speed, std::int64_t cm, std::int64_t mtu) {
        HeadroomInput in = input(entry.model, speed, 0);
        in.cable = Length::raw(cm * 10);
        in.mtu = Bytes::raw(mtu);
        in.lossless_mtu = 1500_B;
        in.small_percent = small;
        return must(in).xoff;
      };
      for (std::int64_t cm = 0; cm < 40'000; cm += 1777)
        EXPECT_LE(xoff(400, cm, 9216), xoff(400, cm + 1777, 9216)) << entry.name << cm;
      for (std::size_t i = 1; i < speeds.size(); ++i)
        EXPECT_LE(xoff(speeds[i - 1], 3000, 9216), xoff(speeds[i], 3000, 9216)) << entry.name;
      for (std::int64_t mtu = 1500; mtu < 9216; mtu += 331)
        EXPECT_LE(xoff(400, 3000, mtu), xoff(400, 3000, mtu + 331)) << entry.name << mtu;
    }
  }
}

TEST(Headroom, ASharedPoolLeavesXonAsThePortsOwnSize) {
  HeadroomInput in = input(HeadroomModel::kSpectrum4, 400, 30);
  in.shared_headroom = true;
  const Headroom shared = must(in);
  EXPECT_EQ(shared.size, shared.xon);
  in.shared_headroom = false;
  EXPECT_EQ(must(in).xoff - shared.xoff, 2048_B);
  in.eight_lanes = true;
  EXPECT_EQ(*must(in).xon, 38'912_B);
}

TEST(Headroom, AnInputWithoutEffectIsRefused) {
  HeadroomInput in = input(HeadroomModel::kSpectrum4, 400, 30);
  in.peer_response = 2_us;
  EXPECT_FALSE(headroom(in));
  in = input(HeadroomModel::kIeee, 400, 30);
  in.cell = 208_B;
  EXPECT_FALSE(headroom(in));
}

TEST(Headroom, InputsOutOfRangeSayWhatWasExpected) {
  const auto error_of = [](HeadroomInput in) {
    const Result<Headroom> result = headroom(in);
    return result ? std::string() : result.error().what;
  };
  EXPECT_EQ(
      error_of({.speed = 400_Gbps, .cable = 3_m, .mtu = 1500_B, .lossless_mtu = 9216_B}),
      "the lossless MTU 9216B exceeds the port's 1500B; a frame larger than the port's MTU cannot "
      "arrive");
  EXPECT_EQ(error_of({.speed = BitRate(), .cable = 3_m}),
            "expected a speed from 1G to 10T, found " + to_text(BitRate()));
  EXPECT_FALSE(error_of({.speed = 400_Gbps, .cable = 3_m, .small_percent = 101}).empty());
  EXPECT_FALSE(error_of({.speed = 400_Gbps, .cable = Length::raw(-1)}).empty());
  EXPECT_NE(error_of({.model = HeadroomModel::kSpectrum6, .speed = gbps(1600), .cable = 3_m})
                .find("no response entry for 1.6T"),
            std::string::npos);
}

TEST(Headroom, ModelsAreFoundByNameAndTyposAnswered) {
  for (const HeadroomModelInfo& entry : headroom_models()) {
    EXPECT_EQ(*parse_headroom_model(entry.name), entry.model);
    EXPECT_EQ(info(entry.model).name, entry.name);
    EXPECT_FALSE(entry.source.empty());
  }
  const Result<HeadroomModel> typo = parse_headroom_model("spectrum44");
  ASSERT_FALSE(typo);
  EXPECT_NE(typo.error().what.find("did you mean 'spectrum4'?"), std::string::npos);
}

TEST(PauseResponse, IsTheStandardsBoundWhereItHasOne) {
  EXPECT_NEAR(static_cast<double>(pause_response_bound(100_Gbps).raw()), 2.02e6, 5e3);
  EXPECT_NEAR(static_cast<double>(pause_response_bound(200_Gbps).raw()), 1.16e6, 5e3);
  EXPECT_NEAR(static_cast<double>(pause_response_bound(400_Gbps).raw()), 1.16e6, 5e3);
  EXPECT_TRUE(pause_response(800_Gbps).is_published);
  EXPECT_FALSE(pause_response(56_Gbps).is_published);
  EXPECT_EQ(pause_response(56_Gbps).quanta, 394);
  EXPECT_EQ(pause_response(gbps(1600)).quanta, 1810);
}

}  // namespace
}  // namespace weir::model
