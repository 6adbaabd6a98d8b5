#include "lab/fabric/perftest.h"

#include "base/testing.h"
#include "host/probe/load_report.h"
#include "lab/fabric/test_labs.h"

namespace weir::lab {
namespace {

PerftestCall parsed(std::string_view command) {
  std::vector<std::string> words;
  for (const std::string_view word : split(command, ' '))
    words.emplace_back(word);
  return must(parse_perftest(words));
}

std::string error_of(std::string_view command) {
  std::vector<std::string> words;
  for (const std::string_view word : split(command, ' '))
    words.emplace_back(word);
  const auto call = parse_perftest(words);
  return call ? "no error" : call.error().what;
}

TEST(Perftest, TakesTheFlagsPeopleUse) {
  const PerftestCall call = parsed(
      "/usr/bin/ib_write_bw -d mlx5_1 -i 1 -x 3 -q 4 -s 1M -n 1000 -F --report_gbits "
      "--tclass=106 -m 2048 10.0.0.2");
  EXPECT_EQ(call.tool, "ib_write_bw");
  EXPECT_EQ(call.device, "mlx5_1");
  EXPECT_EQ(call.gid_index, 3U);
  EXPECT_EQ(call.qps, 4U);
  EXPECT_EQ(call.size, 1 << 20);
  EXPECT_EQ(call.iterations, 1000U);
  EXPECT_TRUE(call.in_gbits);
  EXPECT_EQ(call.tclass, TosByte::of(106));
  EXPECT_EQ(call.mtu, 2048_B);
  EXPECT_EQ(call.server, "10.0.0.2");
  EXPECT_EQ(parsed("ib_send_bw gpu02").iterations, 1000U);
  EXPECT_EQ(parsed("ib_write_lat gpu02").size, 2);
  EXPECT_EQ(parsed("ib_write_bw -R -T 106 gpu02").tclass, TosByte::of(106));
  EXPECT_EQ(parsed("ib_write_bw -D 60 gpu02").duration, 60_s);
}

TEST(Perftest, SaysWhatIsWrongWithACommand) {
  EXPECT_NE(error_of("ib_write_bw -d mlx5_0").find("name the other host"), std::string::npos);
  EXPECT_NE(error_of("ib_write_bw -T 106 gpu02").find("rdma_cm"), std::string::npos);
  EXPECT_NE(error_of("ib_write_bw --tclass 300 gpu02").find("0 to 255"), std::string::npos);
  EXPECT_NE(error_of("ib_write_bw -s gpu02").find("found 'gpu02'"), std::string::npos);
  EXPECT_NE(error_of("ib_write_bw -q").find("needs a value"), std::string::npos);
  EXPECT_NE(error_of("ib_write_bw --frobnicate gpu02").find("no such option"), std::string::npos);
  EXPECT_NE(error_of("ib_write_bw gpu02 gpu03").find("beside"), std::string::npos);
}

/// The numbers of the line after the header.
std::vector<std::string> row_of(const std::string& output) {
  std::vector<std::string> numbers;
  bool is_next = false;
  for (const std::string_view line : split(output, '\n')) {
    if (is_next) {
      std::string word;
      for (const char c : std::string(line) + " ") {
        if (c != ' ' && c != '\t') {
          word += c;
        } else if (!word.empty()) {
          numbers.push_back(word);
          word.clear();
        }
      }
      return numbers;
    }
    is_next = line.starts_with(" #bytes");
  }
  return numbers;
}

TEST(Perftest, ANicAloneReachesItsLineRateInPerftestsOwnFormat) {
  COVERS("G8");
  const TemporaryDirectory place;
  const Lab lab = make_lab(place, pod16(), {.factory_hosts = false});
  const auto done = run(lab, "gpu01", "ib_write_bw -n 500 --report_gbits gpu16");
  ASSERT_EQ(done.exit_status, 0) << done.errors;
  const auto row = row_of(done.output);
  ASSERT_EQ(row.size(), 5U) << done.output;
  EXPECT_EQ(row[0], "65536");
  EXPECT_EQ(row[1], "500");
  EXPECT_NEAR(std::stod(row[3]), 98.0, 0.5);  // 4096 of 4178 bytes on a wire of 100G
  EXPECT_NE(done.output.find("GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:00:00:01"),
            std::string::npos);
  EXPECT_NE(done.errors.find("not measured"), std::string::npos);
}

TEST(Perftest, LatencyHasNineColumns) {
  const TemporaryDirectory place;
  const Lab lab = make_lab(place, pod16(), {.factory_hosts = false});
  const auto row = row_of(run(lab, "gpu01", "ib_write_lat -n 100 gpu16").output);
  ASSERT_EQ(row.size(), 9U);
  EXPECT_GT(std::stod(row[2]), 0.5);  // microseconds: three switches on the way
  EXPECT_LT(std::stod(row[2]), 10.0);
}

TEST(Perftest, WithoutTclassAJobIsInPriority0UnlessThePortForcesAClass) {
  COVERS("G8");
  const TemporaryDirectory place;
  const Lab lab = make_lab(place, pod16(), {.factory_hosts = false});
  const auto host = must(lab.host("gpu01"));
  must(host->perform({"mlx5_0", host::SetTrafficClass{}}));
  (void)run(lab, "gpu01", "ib_write_bw -n 10 gpu02");
  EXPECT_GT(counter(lab, "gpu01", "nic.prio.tx.bytes", 0), 600'000U);
  EXPECT_EQ(counter(lab, "gpu01", "nic.prio.tx.bytes", 3), 0U);
  (void)run(lab, "gpu01", "ib_write_bw -n 10 --tclass=106 gpu02");
  const std::uint64_t marked = counter(lab, "gpu01", "nic.prio.tx.bytes", 3);
  EXPECT_GT(marked, 600'000U);
  (void)run(lab, "gpu01", "ib_write_bw -n 10 -R gpu02");  // RDMA-CM's default
  const std::uint64_t with_cm = counter(lab, "gpu01", "nic.prio.tx.bytes", 3);
  EXPECT_GT(with_cm, marked);
  must(host->perform({"mlx5_0", host::SetTrafficClass{106_tos}}));
  (void)run(lab, "gpu01", "ib_write_bw -n 10 --tclass=0 gpu02");  // what is forced wins
  EXPECT_GT(counter(lab, "gpu01", "nic.prio.tx.bytes", 3), with_cm);
}

TEST(Perftest, ALongRunIsCutAndSaysSo) {
  const TemporaryDirectory place;
  const Lab lab = make_lab(place, pod16(), {.factory_hosts = false});
  const auto done = run(lab, "gpu01", "ib_send_bw -D 60 -s 1M gpu02");
  EXPECT_EQ(done.exit_status, 0) << done.errors;
  EXPECT_NE(done.output.find("BW peak won't be measured"), std::string::npos);
  EXPECT_NE(done.errors.find("20ms of the requested 60s were simulated"), std::string::npos)
      << done.errors;
  EXPECT_LT(done.elapsed, 25_ms);
}

TEST(Perftest, AnUnknownServerDeviceOrCommandFailsAsItDoesOnAHost) {
  const TemporaryDirectory place;
  const Lab lab = make_lab(place, pod16());
  EXPECT_NE(run(lab, "gpu01", "ib_write_bw gpu99").errors.find("Couldn't connect to gpu99"),
            std::string::npos);
  EXPECT_NE(run(lab, "gpu01", "ib_write_bw -d mlx5_9 gpu02").errors.find("mlx5_9 not found"),
            std::string::npos);
  EXPECT_NE(run(lab, "gpu01", "ib_write_bw -m 4096 gpu02").errors.find("active mtu 1024"),
            std::string::npos);
  const auto unknown = run(lab, "gpu01", "iperf3 -c gpu02");
  EXPECT_EQ(unknown.exit_status, 127);
  EXPECT_NE(unknown.errors.find("ib_write_bw"), std::string::npos);
  EXPECT_EQ(lab.status().loads, 0U);
}

TEST(Perftest, AllSizesAreARowEach) {
  const TemporaryDirectory place;
  Lab lab = make_lab(place, pod16(), {.factory_hosts = false});
  const auto done = run(lab, "gpu01", "ib_write_bw -a --tclass=106 --report_gbits gpu02");
  ASSERT_EQ(done.exit_status, 0) << done.errors;
  const auto rows = readers::bandwidth_rows(done.output);
  ASSERT_EQ(rows.size(), 23U);
  EXPECT_EQ(rows.front().message, 2_B);
  EXPECT_EQ(rows.back().message, Bytes::raw(8 << 20));
  EXPECT_NE(error_of("ib_write_bw -a -D 5 gpu02").find("duration"), std::string::npos);
}

// What was simulated of a run of a minute is what its counters can show.
TEST(Perftest, ALongRunIsComparedWithWhatWasSimulated) {
  COVERS("D5");
  const TemporaryDirectory place;
  Lab lab = make_lab(place, pod16(), {.factory_hosts = false});
  const std::vector<std::string> words = {"ib_write_bw", "-D", "60", "--tclass=106", "gpu02"};
  const auto done = must(must(lab.host("gpu01"))->run(words));
  const host::LoadReport report = host::read_load(words, done);
  ASSERT_TRUE(report.expected.has_value());
  EXPECT_LT(*report.expected, Bytes::raw(300'000'000)) << "20 ms at 100 Gb/s";
  EXPECT_GT(*report.expected, Bytes::raw(200'000'000));
}

}  // namespace
}  // namespace weir::lab
