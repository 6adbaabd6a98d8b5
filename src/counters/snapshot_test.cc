#include "counters/snapshot.h"

#include <cerrno>
#include <limits>

#include "base/json.h"
#include "base/rng.h"
#include "base/testing.h"

namespace weir::counters {
namespace {

Sample sample(std::string_view key, Reading reading) {
  const std::size_t slash = key.find('/');
  return {*place_of(key.substr(0, slash)), std::string(key.substr(slash + 1)), reading};
}
Sample sample(std::string_view key, std::uint64_t value) {
  return sample(key, Reading::of(value));
}

TEST(Reading, TheFourReasonsAndZeroAreFiveDifferentThings) {
  COVERS("D1");
  const Reading all[] = {Reading::of(0), Reading::missing(Missing::kAbsent),
                         Reading::missing(Missing::kUnsupported),
                         Reading::missing(Missing::kPermission), Reading::missing(Missing::kError)};
  for (std::size_t i = 0; i < std::size(all); ++i) {
    for (std::size_t j = 0; j < std::size(all); ++j)
      EXPECT_EQ(all[i] == all[j], i == j);
    if (i > 0) {
      EXPECT_EQ(parse_missing(to_text(all[i].why())), all[i].why());
    }
  }
  EXPECT_FALSE(parse_missing("zero"));
}

TEST(Reading, AFileIsANumberOrAReason) {
  COVERS("D1");
  EXPECT_EQ(reading_from_text("4294901760\n"), Reading::of(4294901760));
  EXPECT_EQ(reading_from_text("18446744073709551615"),
            Reading::of(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_EQ(reading_from_text("N/A (no PMA)\n"), Reading::missing(Missing::kUnsupported));
  EXPECT_EQ(reading_from_text(""), Reading::missing(Missing::kError));
  EXPECT_EQ(reading_from_text("-3\n"), Reading::missing(Missing::kError));
  EXPECT_EQ(reading_from_errno(ENOENT), Reading::missing(Missing::kAbsent));
  EXPECT_EQ(reading_from_errno(EACCES), Reading::missing(Missing::kPermission));
  EXPECT_EQ(reading_from_errno(EINVAL), Reading::missing(Missing::kUnsupported));
  EXPECT_EQ(reading_from_errno(EIO), Reading::missing(Missing::kError));
}

TEST(PortCounters, AnswersByKeyAndByIdInTheCountersUnit) {
  COVERS("D1");
  const PortCounters nic(
      "mlx5_0", "eth2", "mlx5_core",
      {sample("ethtool/rx_prio3_pause", 57), sample("counters/port_xmit_data", 25),
       sample("hw_counters/np_cnp_sent", 7), sample("hw_counters/np_cnp_sent", 8)});
  EXPECT_EQ(nic.samples().size(), 3U);
  EXPECT_EQ(nic.read(Place::kHwCounters, "np_cnp_sent"), Reading::of(7));  // the first of two
  EXPECT_EQ(nic.read(Place::kCounters, "port_xmit_data"), Reading::of(25));
  EXPECT_EQ(nic.read("nic.rdma.tx.bytes"), Reading::of(100));
  EXPECT_EQ(nic.read("nic.prio.pause_rx.frames", 3), Reading::of(57));
  EXPECT_EQ(nic.read("nic.prio.pause_rx.frames", 4), Reading::missing(Missing::kAbsent));
  EXPECT_EQ(nic.read("nic.prio.pause_rx.frames"), Reading::missing(Missing::kAbsent));
  EXPECT_FALSE(nic.shows(Place::kEthtool, "np_cnp_sent"));
}

TEST(PortCounters, AllOnesOfIonicIsNoValue) {
  COVERS("D1");
  constexpr auto kAllOnes = std::numeric_limits<std::uint64_t>::max();
  const PortCounters ionic("ionic_0", "enp1", "ionic",
                           {sample("ethtool/frames_rx_dropped", kAllOnes)});
  EXPECT_EQ(ionic.read("nic.port.rx_discard.packets"), Reading::missing(Missing::kUnsupported));
  const PortCounters mlx5("mlx5_0", "eth2", "mlx5_core",
                          {sample("ethtool/rx_discards_phy", kAllOnes)});
  EXPECT_EQ(mlx5.read("nic.port.rx_discard.packets"), Reading::of(kAllOnes));
}

TEST(PortCounters, TheFirstNameWithAValueAnswersForAnId) {
  const PortCounters nic("mlx5_0", "eth2", "mlx5_core",
                         {sample("hw_counters/cc_tx_cnp_pkts", Reading::missing(Missing::kError)),
                          sample("hw_counters/np_cnp_sent", 11)});
  EXPECT_EQ(nic.read("nic.np.cnp_sent.packets"), Reading::of(11));
}

TEST(Snapshot, JsonHasTheFieldsOtherProgramsRelyOn) {
  COVERS("D1");
  Snapshot snapshot;
  snapshot.time = "2026-01-02T03:04:05Z";
  snapshot.clock_ns = 17;
  snapshot.nics.emplace_back(
      "mlx5_0", "eth2", "mlx5_core",
      std::vector<Sample>{sample("hw_counters/np_cnp_sent", 90211),
                          sample("counters/port_xmit_data", 25),
                          sample("ethtool/rx_prio3_pause", Reading::missing(Missing::kAbsent)),
                          sample("ethtool/rx17_cache_full", 2)});
  EXPECT_EQ(
      to_json(snapshot).dump(),
      R"({"schema":"weir/snapshot/1","time":"2026-01-02T03:04:05Z","clock_ns":17,"nics":[)"
      R"({"device":"mlx5_0","netdev":"eth2","driver":"mlx5_core","counters":{)"
      R"("hw_counters/np_cnp_sent":{"id":"nic.np.cnp_sent.packets","unit":"packets",)"
      R"("value":90211},)"
      R"("counters/port_xmit_data":{"id":"nic.rdma.tx.bytes","unit":"4-byte words","value":25},)"
      R"("ethtool/rx17_cache_full":{"id":null,"unit":null,"value":2},)"
      R"("ethtool/rx_prio3_pause":{"id":"nic.prio.pause_rx.frames","unit":"frames","number":3,)"
      R"("missing":"absent"}}}]})");
}

TEST(Snapshot, EveryDrawnSnapshotComesBackFromItsJson) {
  COVERS("D1", "D2");
  const auto names = every_name();
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomStream random(seed, 0, 0);
    Snapshot drawn;
    drawn.time = "2026-01-02T03:04:05Z";
    drawn.clock_ns = static_cast<std::int64_t>(random.next() >> 1U);
    for (std::uint64_t n = random.below(4); n > 0; --n) {
      std::vector<Sample> samples;
      for (std::uint64_t k = random.below(60); k > 0; --k) {
        const Reading reading = random.below(5) == 0
                                    ? Reading::missing(static_cast<Missing>(random.below(4)))
                                    : Reading::of(random.next() >> random.below(64));
        samples.push_back(
            {static_cast<Place>(random.below(9)), names[random.below(names.size())], reading});
      }
      constexpr std::string_view kDrivers[] = {"mlx5_core", "bnxt_en", "ionic", "switch", "other"};
      (n % 2 == 0 ? drawn.nics : drawn.switch_ports)
          .emplace_back("device" + std::to_string(n), "eth", std::string(kDrivers[random.below(5)]),
                        std::move(samples));
    }
    const auto back = snapshot_from_json(Json::parse(to_json(drawn).dump()));
    ASSERT_TRUE(back) << back.error().what;
    EXPECT_EQ(*back, drawn);
  }
}

TEST(Snapshot, PortsWrittenLineByLineAreThoseOfItsJson) {
  PortWriter writer;
  const PortCounters first("mlx5_0", "eth2", "mlx5_core",
                           {sample("hw_counters/np_cnp_sent", 90211),
                            sample("ethtool/rx_prio3_pause", Reading::missing(Missing::kAbsent)),
                            sample("ethtool/rx17_cache_full", 2)});
  const PortCounters second =
      first.with({Reading::of(7), Reading::missing(Missing::kPermission), Reading::of(18)});
  const PortCounters other("\"1\\", "", "switch", {});
  for (const PortCounters& port : {first, second, other}) {
    std::string line;
    writer.append("gpu1", port, line);
    Json wanted = {{"host", "gpu1"}};
    wanted.update(to_json(port));
    EXPECT_EQ(line, wanted.dump());
  }
}

TEST(Snapshot, AWrongFieldIsNamedByItsPointerAndAnUnknownOneIgnored) {
  const auto what = [](std::string_view text) {
    const auto result = snapshot_from_json(Json::parse(text));
    return result ? std::string("read") : result.error().what;
  };
  EXPECT_EQ(what(R"({"nics": [], "later": {"x": 1}})"), "read");
  EXPECT_EQ(what(R"([])"), "the document: expected an object, found []");
  EXPECT_EQ(what(R"({})"), "/nics: missing");
  EXPECT_EQ(what(R"({"nics": 3})"), "/nics: expected a list, found 3");
  EXPECT_EQ(what(R"({"nics": [{"device": 1}]})"), "/nics/0/device: expected a text, found 1");
  constexpr std::string_view kNic = R"({"nics": [{"device": "a", "netdev": "b", "driver": "c", )";
  const auto counters = [&](std::string_view object) {
    return what(std::string(kNic) + R"("counters": )" + std::string(object) + "}]}");
  };
  EXPECT_EQ(counters("{}"), "read");
  EXPECT_EQ(counters(R"({"np_cnp_sent": {"value": 1}})").substr(0, 60),
            "/nics/0/counters/np_cnp_sent: expected a key of place and na");
  EXPECT_EQ(
      counters(R"({"hw_counters/x": {"value": -1}})"),
      "/nics/0/counters/hw_counters~1x/value: expected a whole number, not negative, found -1");
  EXPECT_EQ(counters(R"({"hw_counters/x": {"missing": "gone"}})"),
            "/nics/0/counters/hw_counters~1x/missing: expected absent, unsupported, permission or "
            "error, found \"gone\"");
  EXPECT_EQ(counters(R"({"hw_counters/x": {}})"),
            "/nics/0/counters/hw_counters~1x: expected either value or missing, found {}");
}

}  // namespace
}  // namespace weir::counters
