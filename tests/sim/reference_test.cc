// Larger runs of the peer (model `hpcc`), flow by flow.
#include <algorithm>
#include <map>
#include <numeric>

#include "base/file.h"
#include "base/testing.h"
#include "base/text.h"
#include "sim/peer/hpcc.h"

namespace weir::sim {
namespace {

struct Fct {
  std::string ours;
  std::string peers;
};

Fct reference(const std::string& name) {
  const std::string at = std::string(WEIR_TEST_DATA) + "/sim/hpcc/" + name;
  const auto run = read_hpcc(at + "/config.txt");
  EXPECT_TRUE(run.has_value()) << (run ? "" : run.error().what);
  const auto sim = Sim::make(run->network);
  EXPECT_TRUE(sim.has_value());
  (*sim)->run(run->stop);
  EXPECT_TRUE((*sim)->audit().has_value());
  return {hpcc_fct(*run, **sim), *read_file(at + "/fct.txt")};
}

/// Completion times by flow: its addresses, ports, size and start.
std::map<std::string, double> completions(const std::string& fct) {
  std::map<std::string, double> times;
  for (const std::string_view line : split(fct, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() < 8) continue;
    std::string flow;
    for (std::size_t i = 0; i < 6; ++i)
      flow += std::string(words[i]) + " ";
    times[flow] = static_cast<double>(*parse_u64(words[6]));
  }
  return times;
}

TEST(Reference, SixtyFourTenMegabyteFlowsAreIdentical) {
  COVERS("G6");
  const Fct fct = reference("ls64_perm_10MB_dcqcn");
  EXPECT_EQ(fct.ours, fct.peers);
}

TEST(Reference, AnAllToAllOfFourThousandFlowsIsIdentical) {
  COVERS("G6");
  const Fct fct = reference("ls64_a2a_100KB_dcqcn");
  const auto peers = completions(fct.peers);
  EXPECT_EQ(peers.size(), 4032U);
  EXPECT_TRUE(completions(fct.ours) == peers);  // too many to print
}

TEST(Reference, WebSearchOnAFatTreeIsWithinOnePercentFlowByFlow) {
  COVERS("G6");
  const Fct fct = reference("fat320_websearch30_1ms_dcqcn");
  const auto ours = completions(fct.ours);
  const auto peers = completions(fct.peers);
  ASSERT_EQ(ours.size(), peers.size());
  std::vector<double> a;
  std::vector<double> b;
  std::size_t identical = 0;
  for (const auto& [flow, time] : peers) {
    ASSERT_TRUE(ours.contains(flow)) << flow;
    EXPECT_NEAR(ours.at(flow) / time, 1.0, 0.01) << flow;
    identical += ours.at(flow) == time ? 1 : 0;
    a.push_back(ours.at(flow));
    b.push_back(time);
  }
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  EXPECT_GE(identical * 100, peers.size() * 95);
  const auto mean = [](const std::vector<double>& times) {
    return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
  };
  EXPECT_NEAR(mean(a) / mean(b), 1.0, 0.001);
  EXPECT_NEAR(a[a.size() * 99 / 100] / b[b.size() * 99 / 100], 1.0, 0.001) << "p99";
}

}  // namespace
}  // namespace weir::sim
