#include "lab/fabric/nccl_tests.h"

#include "base/testing.h"
#include "lab/fabric/test_labs.h"
#include "readers/job/nccl_tests.h"

namespace weir::lab {
namespace {

std::vector<std::string> words_in(std::string_view command) {
  std::vector<std::string> words;
  for (const std::string_view word : split(command, ' '))
    words.emplace_back(word);
  return words;
}

TEST(NcclTests, TakeTheWordsPeopleUse) {
  const NcclTestCall call = must(parse_nccl_test(
      words_in("mpirun -np 16 -x NCCL_IB_TC=106 ./build/all_reduce_perf -b 8 -e 8G -f 2 -g 1")));
  EXPECT_EQ(call.tool, "all_reduce_perf");
  EXPECT_EQ(call.ranks, 16U);
  EXPECT_EQ(call.traffic_class, TosByte::of(106));
  EXPECT_EQ(call.sizes().size(), 31U);
  EXPECT_EQ(call.sizes().back(), Bytes::raw(std::int64_t{8} << 30));
  const NcclTestCall steps = must(parse_nccl_test(
      words_in("srun --export=ALL,NCCL_IB_TC=26,X=1 alltoall_perf --minbytes=1M -e 3M -i 1M")));
  EXPECT_EQ(steps.traffic_class, TosByte::of(26));
  EXPECT_EQ(steps.sizes().size(), 3U);
  EXPECT_FALSE(parse_nccl_test(words_in("all_reduce_perf -b x")).has_value());
  EXPECT_FALSE(is_nccl_test(words_in("ib_write_bw gpu02")));
}

TEST(NcclTests, PrintTheTableThatTheProgramsPrint) {
  COVERS("D5");
  const TemporaryDirectory place;
  Lab lab = make_lab(place, pod16(), {.factory_hosts = false});
  const auto done = run(lab, "gpu01", "mpirun -np 8 all_reduce_perf -b 256K -e 1M -f 2");
  ASSERT_EQ(done.exit_status, 0) << done.errors;
  const auto report = readers::read_nccl_tests(done.output);
  EXPECT_EQ(report.test, "all_reduce_perf");
  EXPECT_EQ(report.ranks, 8U);
  EXPECT_EQ(report.hosts.size(), 8U);
  ASSERT_EQ(report.rows.size(), 3U);
  // 100 Gb/s is 12.5 GB/s; a ring cannot be faster than its line.
  for (const auto& row : report.rows) {
    EXPECT_GT(row.bus_bandwidth, 2.0);
    EXPECT_LT(row.bus_bandwidth, 12.5);
  }
  ASSERT_TRUE(report.average_bus_bandwidth.has_value());
  EXPECT_EQ(run(lab, "gpu01", "mpirun -np 1 all_reduce_perf").exit_status, 1);
  EXPECT_EQ(run(lab, "gpu01", "mpirun -np 500 all_reduce_perf").exit_status, 1);
}

// A host that dies takes its own messages along; the others are judged by theirs.
TEST(LabLoads, SurvivorsOfALostHostAreToldApart) {
  COVERS("D6");
  const TemporaryDirectory place;
  Lab lab = make_lab(place, pod16(), {.factory_hosts = false});
  must(lab.add_fault("link-down,at=gpu03,from=20us"));
  const auto spread = run(lab, "gpu01", "all-to-all size=100KB");
  EXPECT_EQ(spread.exit_status, 1);
  ASSERT_TRUE(spread.survivors.has_value());
  EXPECT_EQ(spread.survivors->lost, std::vector<std::string>{"gpu03"});
  EXPECT_TRUE(spread.survivors->are_finished);
  const auto ring = run(lab, "gpu01", "all-reduce size=1MB");
  ASSERT_TRUE(ring.survivors.has_value());
  EXPECT_FALSE(ring.survivors->are_finished) << "a ring stops with its first rank";
  (void)must(lab.clear_all_faults());
  EXPECT_FALSE(run(lab, "gpu01", "all-to-all size=100KB").survivors.has_value());
}

}  // namespace
}  // namespace weir::lab
