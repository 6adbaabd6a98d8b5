#include "host/probe/load_report.h"

#include "base/file.h"
#include "base/testing.h"
#include "base/text.h"

namespace weir::host {
namespace {

std::string sample(const std::string& name) {
  const auto text = read_file(std::string(WEIR_TEST_DATA) + "/load/" + name);
  EXPECT_TRUE(text.has_value()) << name;
  return text.value_or("");
}

CommandOutcome printed(std::string output, std::string errors = "") {
  return {
      .exit_status = 0, .output = std::move(output), .errors = std::move(errors), .elapsed = {}};
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  for (const std::string_view word : split(line, ' '))
    words.emplace_back(word);
  return words;
}

TEST(LoadReport, ATestOfATimeMovesBandwidthTimesTime) {
  COVERS("D5");
  const LoadReport report =
      read_load(words_of("ib_write_bw -d mlx5_0 -x 3 --tclass=106 -D 60 --report_gbits 10.10.1.6"),
                printed(sample("ib_write_bw_D60_gbits_client.composed.txt")));
  // Its count of messages is that of the middle of the run: 22472760 * 64 KiB is half of it.
  ASSERT_TRUE(report.expected.has_value());
  EXPECT_EQ(*report.expected, bytes_in(60_s, BitRate::raw(392'740'000'000)));
  EXPECT_EQ(report.flow, Flow::kOut);
  EXPECT_EQ(report.perftest.device, "mlx5_0");
  EXPECT_EQ(report.perftest.gid_index, 3U);
  EXPECT_EQ(report.perftest.mtu, 4096_B);
  EXPECT_EQ(report.perftest_command->tclass, 106U);
  ASSERT_EQ(report.lines().size(), 1U);
  EXPECT_EQ(report.lines()[0], "392.7 Gb/s in messages of 64KiB");
}

TEST(LoadReport, EveryRowOfASweepIsCounted) {
  COVERS("D5");
  const LoadReport report = read_load(words_of("/usr/bin/ib_write_bw -a --report_gbits gpu02"),
                                      printed(sample("ib_write_bw_a_gbits.composed.txt")));
  EXPECT_EQ(report.perftest.bandwidth.size(), 23U);
  Bytes sum;
  for (const BandwidthRow& row : report.perftest.bandwidth)
    sum += row.moved();
  EXPECT_EQ(report.expected, sum);
}

TEST(LoadReport, BothDialectsOfJsonAreRead) {
  COVERS("D5");
  const struct {
    std::string file;
    std::string command;
    std::int64_t bits;
  } kCases[] = {
      {"ib_write_bw_out_json.composed.json", "ib_write_bw --report_gbits gpu02", 392'740'000'000},
      {"rxe_write_bw.json", "ib_write_bw --report_gbits gpu02", 220'000'000},
      {"rxe_write_bw.json", "ib_write_bw gpu02", 1'845'493},  // MiB/s: JSON names no unit
  };
  for (const auto& item : kCases) {
    const LoadReport report = read_load(words_of(item.command), printed(sample(item.file)));
    ASSERT_EQ(report.perftest.bandwidth.size(), 1U) << item.file;
    EXPECT_EQ(report.perftest.bandwidth[0].message, 65536_B);
    EXPECT_EQ(report.perftest.bandwidth[0].average->raw(), item.bits) << item.command;
  }
  // Broken by its own writer: no row, no crash, and the banner all the same.
  const LoadReport broken = read_load(
      words_of("ib_write_bw gpu02"),
      printed(sample("ib_write_bw_out_json_INVALID_with_output_bandwidth.composed.json")));
  EXPECT_TRUE(broken.perftest.bandwidth.empty());
  EXPECT_EQ(broken.perftest.device, "mlx5_0");
}

TEST(LoadReport, LatencyHasItsTails) {
  COVERS("D5");
  const auto text =
      read_load(words_of("ib_write_lat -a gpu02"), printed(sample("ib_write_lat_a.composed.txt")));
  ASSERT_FALSE(text.perftest.latency.empty());
  const LatencyRow& row = text.perftest.latency.front();
  EXPECT_EQ(row.typical, Duration::raw(1'950'000));
  EXPECT_EQ(row.p99, Duration::raw(2'300'000));
  EXPECT_EQ(row.p999, Duration::raw(5'600'000));
  EXPECT_EQ(row.maximum, Duration::raw(6'100'000));
  EXPECT_FALSE(text.expected.has_value());
  const auto json =
      read_load(words_of("ib_write_lat gpu02"), printed(sample("rxe_write_lat.json")));
  ASSERT_EQ(json.perftest.latency.size(), 1U);
  EXPECT_EQ(json.perftest.latency[0].p999, Duration::raw(7'626'210'000));
  const auto timed = read_load(words_of("ib_write_lat -D 10 gpu02"),
                               printed(sample("ib_write_lat_D10.composed.txt")));
  ASSERT_EQ(timed.perftest.latency.size(), 1U);
  EXPECT_EQ(timed.perftest.latency[0].average, Duration::raw(1'940'000));
  EXPECT_FALSE(timed.perftest.latency[0].p999.has_value());
}

TEST(LoadReport, WhichWayDataFlowsFollowsFromTheTest) {
  const auto flow = [](std::string_view command) {
    return read_load(words_of(command), printed("")).flow;
  };
  EXPECT_EQ(flow("ib_write_bw -d mlx5_0 gpu02"), Flow::kOut);
  EXPECT_EQ(flow("ib_write_bw -d mlx5_0"), Flow::kIn);
  EXPECT_EQ(flow("numactl -N 0 ib_read_bw -d mlx5_0 gpu02"), Flow::kIn);
  EXPECT_EQ(flow("ib_read_bw -D 5"), Flow::kOut);
  EXPECT_EQ(flow("ib_send_bw -b gpu02"), Flow::kBoth);
  EXPECT_FALSE(perftest_command(words_of("python3 train.py ib_like")).has_value());
}

TEST(LoadReport, ErrorsAreReportedInWords) {
  COVERS("D5");
  const LoadReport report =
      read_load(words_of("ib_write_bw gpu02"), printed("", sample("errors_stderr.composed.txt")));
  const std::string all = join(report.problems, "\n");
  EXPECT_NE(all.find("no server is listening there"), std::string::npos) << all;
  EXPECT_NE(all.find("status 12: no answer from the peer"), std::string::npos) << all;
  EXPECT_NE(all.find("IB device mlx5_9 not found"), std::string::npos) << all;
  EXPECT_NE(all.find("to RTR"), std::string::npos) << all;
}

TEST(LoadReport, NcclTestsSayHowManyRanksAndHowFast) {
  COVERS("D5");
  const LoadReport report =
      read_load(words_of("mpirun -np 16 all_reduce_perf -b 8 -e 8G -f 2"),
                printed(sample("all_reduce_perf_2node.composed.txt") +
                        "gpu01:40120:40150 [0] NCCL INFO Using network IB\n"));
  EXPECT_EQ(report.name(), "all_reduce_perf");
  EXPECT_EQ(report.collective.ranks, 16U);
  EXPECT_EQ(report.collective.hosts, (std::vector<std::string>{"gpu01", "gpu02"}));
  EXPECT_EQ(report.collective.network, "IB");
  EXPECT_FALSE(report.collective.is_failed);
  EXPECT_GT(report.collective.rows.size(), 20U);
  EXPECT_EQ(report.collective.rows[0].size, 8_B);
  EXPECT_EQ(report.collective.rows[0].time, Duration::raw(28'000'000));
  EXPECT_TRUE(report.problems.empty());
  const LoadReport failed =
      read_load(words_of("all_reduce_perf"), printed(sample("all_reduce_perf_fail.composed.txt")));
  EXPECT_TRUE(failed.collective.is_failed);
  EXPECT_EQ(failed.collective.out_of_bounds, 26U);
  EXPECT_EQ(failed.collective.rows.front().wrong, 13U);
}

TEST(LoadReport, RecordingsOfNcclTestsAreRead) {
  COVERS("D5");
  const auto read = [](std::string_view file) {
    return readers::read_nccl_tests(sample(std::string(file)));
  };
  const auto plain = read("all_reduce_perf_2ranks_socket.txt");
  EXPECT_EQ(plain.ranks, 2U);
  EXPECT_EQ(plain.hosts, (std::vector<std::string>{"hosta", "hostb"}));
  EXPECT_EQ(plain.rows.size(), 24U);
  EXPECT_EQ(plain.out_of_bounds, 0U);
  EXPECT_FALSE(plain.is_failed);
  EXPECT_EQ(plain.failure, "");
  const auto all_to_all = read("alltoall_perf_2ranks_socket.txt");
  EXPECT_EQ(all_to_all.test, "alltoall_perf");
  EXPECT_EQ(all_to_all.rows.front().size, 0_B);
  EXPECT_EQ(all_to_all.rows.size(), 24U);
  EXPECT_FALSE(all_to_all.is_failed);
  const auto with_log = read("all_reduce_perf_info_in_output.txt");
  EXPECT_EQ(with_log.network, "Socket");
  EXPECT_EQ(with_log.rows.size(), 8U);
  ASSERT_TRUE(with_log.average_bus_bandwidth.has_value());
  EXPECT_NEAR(*with_log.average_bus_bandwidth, 5.61068e-05, 1e-9);
  const auto each = read("all_reduce_perf_per_iteration.txt");
  EXPECT_EQ(each.rows.size(), 5U);
  EXPECT_EQ(each.rows.back().wrong, 0U);
  EXPECT_NEAR(each.rows.back().bus_bandwidth, 1.84, 1e-9);
}

TEST(LoadReport, RecordedFailuresOfNcclTestsAreTold) {
  COVERS("D5");
  const auto read = [](std::string_view file) {
    return readers::read_nccl_tests(sample(std::string(file)));
  };
  const auto slow = read("all_reduce_perf_below_min_bw.txt");
  EXPECT_TRUE(slow.is_failed);
  EXPECT_EQ(slow.rows.size(), 4U);  // "cputime" heads the times
  EXPECT_EQ(slow.failure, "Test failure common.cu:1409");
  const auto twice = read("all_reduce_perf_duplicate_gpu.txt");
  EXPECT_TRUE(twice.is_failed);
  EXPECT_TRUE(twice.rows.empty());
  EXPECT_EQ(twice.failure, "Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 60");
  const auto killed = read("all_reduce_perf_rank_killed.txt");
  EXPECT_FALSE(killed.is_there());
  EXPECT_EQ(killed.failure, "socketProgress: Connection closed by remote peer");
}

TEST(LoadReport, ALaunchersPrefixAndASocketFallbackAreSeen) {
  std::string text;
  const std::string whole = sample("all_reduce_perf_2node.composed.txt");
  for (const std::string_view line : split(whole, '\n'))
    text += "[1,0]<stdout>:" + std::string(line) + "\n";
  text += "[1,0]<stdout>:gpu01:1:1 [0] NCCL INFO Using network Socket\n";
  const LoadReport report = read_load({"mpirun"}, printed(text));
  EXPECT_EQ(report.collective.ranks, 16U);
  EXPECT_EQ(report.collective.network, "Socket");
  ASSERT_EQ(report.problems.size(), 1U);
}

TEST(LoadReport, AnyOtherCommandSaysNothing) {
  const LoadReport report = read_load({"true"}, printed("hello\n1 2 3 4 5 6 7\n"));
  EXPECT_EQ(report.name(), "the command");
  EXPECT_TRUE(report.lines().empty());
  EXPECT_FALSE(report.expected.has_value());
}

}  // namespace
}  // namespace weir::host
