#include "serve/metrics/families.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "counters/metrics.h"
#include "host/linux/host.h"

namespace weir::serve {
namespace {

using counters::Place;
using counters::PortCounters;
using counters::Reading;
using counters::Sample;

const std::string kHosts = std::string(WEIR_TEST_DATA) + "/host/";

evidence::Evidence host_with(std::vector<Sample> samples) {
  evidence::Evidence host;
  host.provenance.host = "gpu1";
  host.snapshots.emplace_back();
  host.snapshots.back().nics.emplace_back("mlx5_0", "eth0", "mlx5_core", std::move(samples));
  return host;
}

ops::Observation seen_of(evidence::Evidence host) {
  ops::Observation seen;
  seen.hosts.push_back(std::move(host));
  return seen;
}

std::string text_of(const ops::Observation& seen, Profile profile = Profile::kLean) {
  Widened widened;
  Scrape scrape;
  scrape.version = "1";
  scrape.seen = &seen;
  scrape.profile = profile;
  return to_text(families(scrape, widened));
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

// COVERS K1
TEST(Families, CountersAreInBaseUnitsWithTheirPriority) {
  const std::string text = text_of(seen_of(host_with({
      {Place::kEthtool, "rx_prio3_pause_duration", Reading::of(2'500'000)},
      {Place::kCounters, "port_xmit_data", Reading::of(25)},
      {Place::kHwCounters, "np_cnp_sent", Reading::of(7)},
  })));
  EXPECT_TRUE(has_line(text, R"(weir_port_pfc_paused_seconds_total{device="mlx5_0",port="1",)"
                             R"(netdev="eth0",priority="3"} 2.5)"))
      << text;
  EXPECT_TRUE(has_line(text, R"(weir_rdma_transmitted_bytes_total{device="mlx5_0",port="1",)"
                             R"(netdev="eth0"} 100)"))
      << text;
  EXPECT_TRUE(
      has_line(text, R"(weir_roce_cnps_sent_total{device="mlx5_0",port="1",netdev="eth0"} 7)"))
      << text;
}

TEST(Families, ACounterThatCannotBeReadIsAbsentWithItsReasonAndNeverZero) {
  const std::string text = text_of(seen_of(host_with({
      {Place::kHwCounters, "np_cnp_sent", Reading::missing(counters::Missing::kPermission)},
      {Place::kHwCounters, "rp_cnp_handled", Reading::of(0)},
  })));
  EXPECT_EQ(text.find("weir_roce_cnps_sent_total"), std::string::npos);
  EXPECT_TRUE(has_line(text, R"(weir_counters_unreadable{device="mlx5_0",port="1",netdev="eth0",)"
                             R"(collector="hw_counters",reason="permission"} 1)"))
      << text;
  EXPECT_TRUE(
      has_line(text, R"(weir_roce_cnps_handled_total{device="mlx5_0",port="1",netdev="eth0"} 0)"));
}

TEST(Families, ANumberStuckAtItsMaximumIsFlaggedAndOneBelowItIsNot) {
  const auto flagged = [](std::uint64_t value) {
    const std::string text =
        text_of(seen_of(host_with({{Place::kCounters, "symbol_error", Reading::of(value)}})));
    return text.find("weir_counter_saturated") != std::string::npos;
  };
  EXPECT_TRUE(flagged(65'535));
  EXPECT_FALSE(flagged(65'534));
}

TEST(Families, ANarrowNumberGoesOnBeyondItsWidthAndAResetStartsAgain) {
  Widened widened;
  constexpr unsigned kBits = 32;
  const std::uint64_t range = std::uint64_t{1} << kBits;
  EXPECT_EQ(widened.widen("a", range - 10, kBits), range - 10);
  EXPECT_EQ(widened.widen("a", 5, kBits), range + 5) << "went round";
  EXPECT_EQ(widened.widen("a", 7, kBits), range + 7);
  EXPECT_EQ(widened.widen("b", 1'000'000, kBits), 1'000'000U);
  EXPECT_EQ(widened.widen("b", 3, kBits), 3U) << "cleared";
  EXPECT_EQ(widened.size(), 2U);
}

TEST(Families, FindingsAreOpenSeriesAndTheirCountIsThereWhenThereIsNone) {
  Judged judged;
  judged.unix_seconds = 1000;
  Scrape scrape;
  scrape.judged = &judged;
  Widened widened;
  EXPECT_TRUE(has_line(to_text(families(scrape, widened)), R"(weir_findings{severity="error"} 0)"));
  finding::Finding found;
  found.id = "pfc.off";
  found.where.device = "mlx5_0";
  judged.judgement.findings = {found, found};  // one series for what has the same labels
  const std::string text = to_text(families(scrape, widened));
  EXPECT_TRUE(has_line(text,
                       R"(weir_finding{id="pfc.off",severity="error",device="mlx5_0",port="",)"
                       R"(rail="",priority=""} 1)"))
      << text;
  EXPECT_TRUE(has_line(text, R"(weir_findings{severity="error"} 2)"));
  scrape.judged = nullptr;
  EXPECT_EQ(to_text(families(scrape, widened)).find("weir_finding"), std::string::npos)
      << "nobody looked";
}

TEST(Families, AHostileNameIsEscaped) {
  evidence::Evidence host = host_with({});
  host.snapshots.back().nics = {PortCounters(
      "a\"b\\c\nd", "eth0", "mlx5_core", {{Place::kHwCounters, "np_cnp_sent", Reading::of(1)}})};
  const std::string text = text_of(seen_of(std::move(host)));
  EXPECT_NE(text.find(R"(device="a\"b\\c\nd")"), std::string::npos) << text;
}

TEST(Families, EverySeriesOfARecordedHostIsThereOnce) {
  for (const char* const name : {"mlx5-ofed", "mlx5-inbox", "bnxt", "irdma", "ionic", "hgx01"}) {
    auto opened = host::open_captured_host(kHosts + name);
    ASSERT_TRUE(opened) << name;
    auto evidence = (*opened)->observe();
    ASSERT_TRUE(evidence) << name;
    for (const Profile profile : {Profile::kLean, Profile::kFull}) {
      std::istringstream lines(text_of(seen_of(*evidence), profile));
      std::vector<std::string> series;
      for (std::string line; std::getline(lines, line);)
        if (!line.starts_with('#')) series.push_back(line.substr(0, line.rfind(' ')));
      std::sort(series.begin(), series.end());
      EXPECT_EQ(std::adjacent_find(series.begin(), series.end()), series.end())
          << name << ": " << *std::adjacent_find(series.begin(), series.end());
    }
  }
}

TEST(Families, NamesFollowTheConventionsOfPrometheus) {
  for (const counters::Counter& counter : counters::catalog()) {
    const std::string name = counters::metric_name(counter);
    EXPECT_TRUE(std::all_of(name.begin(), name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    })) << name;
    EXPECT_EQ(name.ends_with("_total"), counter.kind == counters::Kind::kCounter) << name;
    EXPECT_EQ(counter.meaning.find_first_of("\\\n"), std::string_view::npos) << counter.id;
  }
  for (const counters::Metric& metric : counters::lean_metrics())
    EXPECT_NE(counters::find(metric.id), nullptr) << metric.id;
}

// COVERS K3
TEST(Families, AHostOfAFleetThatCouldNotBeReadIsNamedAndHasNoOtherSeries) {
  const ops::Observation seen =
      seen_of(host_with({{Place::kHwCounters, "np_cnp_sent", Reading::of(7)}}));
  Widened widened;
  Scrape scrape;
  scrape.seen = &seen;
  scrape.speaks_for_many = true;
  scrape.fleet = FleetScrape{.hosts = {{.host = "gpu1", .is_seen = true, .last_seen = 100},
                                       {.host = "gpu2", .is_seen = false, .last_seen = 70},
                                       {.host = "gpu3"}},
                             .rounds = 2,
                             .last_seconds = 1.5};
  const std::string text = to_text(families(scrape, widened));
  EXPECT_TRUE(has_line(text, R"(weir_fleet_host_seen{host="gpu1"} 1)")) << text;
  EXPECT_TRUE(has_line(text, R"(weir_fleet_host_seen{host="gpu2"} 0)")) << text;
  EXPECT_TRUE(has_line(text, R"(weir_fleet_host_last_seen_timestamp_seconds{host="gpu2"} 70)"));
  EXPECT_TRUE(has_line(text, "weir_fleet_rounds_total 2")) << text;
  EXPECT_TRUE(has_line(text, "weir_fleet_round_duration_seconds 1.5")) << text;
  EXPECT_EQ(text.find("gpu3"), std::string::npos) << "nobody looked at it yet";
}

}  // namespace
}  // namespace weir::serve
