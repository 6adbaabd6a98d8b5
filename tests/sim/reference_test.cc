// Larger runs of the peer (model `hpcc`), flow by flow.
#include <map>

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

TEST(Reference, WebSearchOnAFatTreeIsIdentical) {
  COVERS("G6");
  const Fct fct = reference("fat320_websearch30_1ms_dcqcn");
  const auto peers = completions(fct.peers);
  EXPECT_EQ(peers.size(), 388U);
  EXPECT_TRUE(completions(fct.ours) == peers);  // too many to print
}

}  // namespace
}  // namespace weir::sim
