#include "sim/peer/hpcc.h"

#include <algorithm>
#include <map>

#include "base/file.h"
#include "base/testing.h"
#include "base/text.h"

namespace weir::sim {
namespace {

const std::string kData = std::string(WEIR_TEST_DATA) + "/sim/hpcc/";

struct Outcome {
  std::string fct;
  std::string pfc;
  std::uint64_t drops = 0;
  std::uint64_t hops = 0;
};

Outcome simulated(const std::string& name) {
  auto run = read_hpcc(kData + name + "/config.txt");
  EXPECT_TRUE(run.has_value()) << (run ? "" : run.error().what);
  auto sim = Sim::make(run->network);
  EXPECT_TRUE(sim.has_value()) << (sim ? "" : sim.error().what);
  PauseLog log;
  (*sim)->set_observer(&log);
  (*sim)->run(run->stop);
  EXPECT_TRUE((*sim)->audit().has_value());
  return {hpcc_fct(*run, **sim), hpcc_pfc(log, **sim), (*sim)->drops(DropReason::kHeadroom),
          (*sim)->hops()};
}

std::string reference(const std::string& name, const std::string& file) {
  auto text = read_file(kData + name + "/" + file);
  EXPECT_TRUE(text.has_value());
  return *text;
}

/// Completion times of a fct file, ascending.
std::vector<double> completions(const std::string& fct) {
  std::vector<double> times;
  for (const std::string_view line : split(fct, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() < 8) continue;
    times.push_back(static_cast<double>(*parse_u64(words[6])));
  }
  std::sort(times.begin(), times.end());
  return times;
}

TEST(Hpcc, SingleFlowsAreExactToTheNanosecond) {
  COVERS("G6");
  for (const char* name : {"single_100G_1000", "single_100G_1000000", "single_400G_1000000"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(simulated(name).fct, reference(name, "fct.txt"));
  }
}

TEST(Hpcc, PauseOnlyIncastIsIdenticalFlowByFlowAndPauseByPause) {
  COVERS("G6");
  const std::string name = "incast16_1MB_pfconly_buf2";
  const Outcome outcome = simulated(name);
  EXPECT_EQ(outcome.fct, reference(name, "fct.txt"));
  EXPECT_EQ(outcome.pfc, reference(name, "pfc.txt"));
  EXPECT_EQ(outcome.drops, 0U);
  EXPECT_EQ(outcome.hops, 64754U);
}

TEST(Hpcc, ShortCablesDropAsOftenAsThePeerAndLeaveOneFlowUnfinished) {
  COVERS("G6");
  const std::string name = "incast16_1MB_pfconly_buf2_50ns";
  const Outcome outcome = simulated(name);
  EXPECT_EQ(outcome.drops, 41520U);
  EXPECT_EQ(outcome.fct, reference(name, "fct.txt"));
  EXPECT_EQ(completions(outcome.fct).size(), 15U);
}

TEST(Hpcc, CongestionControlledRunsAreIdenticalToo) {
  COVERS("G6");
  // The same marks on the same packets: the peer's random numbers, its doubles and its order of
  // ties.
  for (const char* name :
       {"incast16_10MB_dcqcn", "incast16_10MB_dcqcn_buf2", "incast16_10MB_dcqcn_paper",
        "ls64_incast16_10MB_dcqcn", "ls64_perm_1MB_dcqcn"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(simulated(name).fct, reference(name, "fct.txt"));
  }
}

TEST(Hpcc, ConfigurationErrorsNameWhatIsMissing) {
  COVERS("G6");
  const auto missing = read_hpcc(kData + "nowhere/config.txt");
  ASSERT_FALSE(missing.has_value());
  const auto topology = read_hpcc(kData + "inputs/pair100.topo.txt");
  ASSERT_FALSE(topology.has_value());
  EXPECT_NE(topology.error().what.find("CC_MODE"), std::string::npos);
}

/// The pair, with the first `what` of one of its files in another form.
Result<HpccRun> pair_with(std::string HpccFiles::*file, const std::string& what,
                          const std::string& instead) {
  HpccFiles files{read_file(kData + "single_100G_1000000/config.txt").value_or(""),
                  read_file(kData + "inputs/pair100.topo.txt").value_or(""),
                  read_file(kData + "inputs/single_1000000.flow.txt").value_or("")};
  std::string& text = files.*file;
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  if (at != std::string::npos) text.replace(at, what.size(), instead);
  return parse_hpcc(files);
}

TEST(Hpcc, NumbersThatNothingCanHoldAreErrorsOfTheirLine) {
  COVERS("G6");
  ASSERT_TRUE(pair_with(&HpccFiles::topology, "3 1 2", "3 1 2"));
  const auto refused = [](std::string HpccFiles::*file, const std::string& what,
                          const std::string& instead) {
    const auto run = pair_with(file, what, instead);
    return run ? std::string("taken: " + instead) : run.error().what;
  };
  for (const char* const nodes : {"18446744073709551615 1 2", "1000000000 1 2", "6 1 2"})
    EXPECT_TRUE(refused(&HpccFiles::topology, "3 1 2", nodes).starts_with("topology: ")) << nodes;
  EXPECT_EQ(refused(&HpccFiles::topology, "3 1 2", "3 1 18446744073709551615"),
            "topology: 18446744073709551615 links promised, 2 found");
  EXPECT_EQ(refused(&HpccFiles::topology, "0 2 100", "4294967296 2 100"),
            "topology line 3: nodes 4294967296 and 2 of 3");
  EXPECT_EQ(refused(&HpccFiles::flows, "0 1 3", "4294967296 1 3"),
            "flows line 2: from node 4294967296 to node 1 of 3");
  for (const char* const size : {"1000000 1e300", "18446744073709551615 2.0", "1000000 9e9"})
    EXPECT_TRUE(refused(&HpccFiles::flows, "1000000 2.000000000", size).starts_with("flows line 2"))
        << size;
}

}  // namespace
}  // namespace weir::sim
