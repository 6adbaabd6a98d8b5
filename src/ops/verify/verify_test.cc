#include "ops/verify/verify.h"

#include <filesystem>

#include <poll.h>
#include <unistd.h>

#include "base/file.h"
#include "base/testing.h"
#include "base/text.h"
#include "design/file/load.h"
#include "design/file/templates.h"
#include "diagnose/core/made_case.h"
#include "finding/shown.h"
#include "ops/verify/perftest.h"

namespace weir::ops {
namespace {

using diagnose::Count;
using diagnose::MadeCase;
using evidence::Evidence;

design::Intent pair_intent() {
  const design::Loaded loaded =
      design::load_text(std::string(design::find_template("pair")->text), "pair.yaml");
  return design::derive(loaded.design).intent;
}

/// A bandwidth test that says it moved 64 MiB through `device`.
Drive moved_64m(std::string words, const std::string& device = "mlx5_0") {
  Drive drive;
  for (const std::string_view word : split(words, ' '))
    drive.words.emplace_back(word);
  drive.ran_on = "gpu1";
  drive.outcome.output =
      " RDMA_Write BW Test\n Dual-port       : OFF\t\tDevice         : " + device +
      "\n#bytes #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate[Mpps]\n"
      "65536 1024 90.0 89.0 0.1\n";
  return drive;
}

std::vector<std::string> ids_of(const finding::Judgement& judgement) {
  std::vector<std::string> ids;
  for (const finding::Finding& found : judgement.findings)
    ids.push_back(found.id);
  return ids;
}

bool has(const finding::Judgement& judgement, std::string_view id) {
  return finding::is_raised(judgement.findings, id);
}

/// gpu1 with one NIC whose RDMA bytes and bytes of two priorities are given.
MadeCase with_traffic(std::uint64_t rdma, std::uint64_t prio3, std::uint64_t prio0) {
  MadeCase made;
  made.host("gpu1", {{"ethtool/tx_vport_rdma_unicast_bytes", rdma},
                     {"ethtool/rx_vport_rdma_unicast_bytes", 0},
                     {"ethtool/tx_vport_rdma_unicast_packets", rdma / 4096},
                     {"ethtool/rx_vport_rdma_unicast_packets", rdma / 40960},
                     {"ethtool/tx_prio3_bytes", prio3},
                     {"ethtool/rx_prio3_bytes", 0},
                     {"ethtool/tx_prio0_bytes", prio0}});
  return made;
}

constexpr std::uint64_t k70M = 70'000'000;

diagnose::View seen(MadeCase& made, const design::Intent& intent) {
  return diagnose::View({.evidence = made.pieces(), .intent = &intent});
}

TEST(VerifyLoad, ALoadInItsPriorityOnItsDeviceIsNoFinding) {
  COVERS("D5", "D8");
  const design::Intent intent = pair_intent();
  MadeCase made = with_traffic(k70M, k70M, 1000);
  const Verified verified =
      judge_drive(moved_64m("ib_write_bw --tclass=106 gpu2"), seen(made, intent));
  ASSERT_TRUE(verified.judged.volume.has_value());
  EXPECT_TRUE(verified.judged.volume->is_there());
  EXPECT_EQ(verified.judged.questions.size(), 5U);
  for (const char* id : {"load.no_rdma", "load.wrong_device", "dscp.unmarked"})
    EXPECT_FALSE(has(verified.judgement(), id)) << id;
}

TEST(VerifyLoad, TheWrongPriorityIsNamedByWhatTheProgramAskedFor) {
  COVERS("D5", "D8", "I14");
  const design::Intent intent = pair_intent();
  const struct {
    const char* words;
    const char* id;
  } kCases[] = {{"ib_write_bw gpu2", "dscp.unmarked"},
                {"ib_write_bw --tclass=26 gpu2", "dscp.tos_confusion"},
                {"ib_write_bw --tclass=40 gpu2", "dscp.unmarked"},
                {"ib_write_bw --tclass=106 gpu2", "dscp.nic_map_wrong"}};
  for (const auto& found : kCases) {
    MadeCase made = with_traffic(k70M, 0, k70M);
    made.pieces()[0].nics.clear();  // settings unknown: only the counters speak
    Verified verified = judge_drive(moved_64m(found.words), seen(made, intent));
    // The rules may know the cause; then it is theirs to name.
    const bool is_named = has(verified.judgement(), found.id) ||
                          verified.judgement().conclusion == finding::Conclusion::kFindings;
    EXPECT_TRUE(is_named) << found.words << ": " << join(ids_of(verified.judgement()), " ");
    EXPECT_FALSE(verified.judged.volume->is_there());
  }
}

TEST(VerifyLoad, ALoadThatNoDeviceSawWentElsewhere) {
  COVERS("D8");
  const design::Intent intent = pair_intent();
  MadeCase made = with_traffic(0, 0, 5000);
  const Verified verified =
      judge_drive(moved_64m("ib_write_bw --tclass=106 gpu2"), seen(made, intent));
  EXPECT_TRUE(has(verified.judgement(), "load.no_rdma")) << join(ids_of(verified.judgement()), " ");
}

TEST(VerifyLoad, SocketsInsteadOfRdmaAreNamed) {
  COVERS("D8", "I24");
  const design::Intent intent = pair_intent();
  MadeCase made = with_traffic(0, 0, 900'000'000);
  Drive drive;
  drive.words = {"all_reduce_perf"};
  drive.ran_on = "gpu1";
  drive.outcome.output =
      "gpu1:1:1 [0] NCCL INFO Using network Socket\n# Avg bus bandwidth    : 1.1 OK\n";
  const Verified verified = judge_drive(std::move(drive), seen(made, intent));
  EXPECT_TRUE(has(verified.judgement(), "nccl.socket_fallback"));
}

TEST(VerifyLoad, AnotherDeviceThanTheOneNamedIsFound) {
  COVERS("D8");
  const design::Intent intent = pair_intent();
  MadeCase made = with_traffic(k70M, k70M, 0);
  // The program says mlx5_7, which stood still; mlx5_0 carried it.
  Evidence& host = made.pieces()[0];
  for (counters::Snapshot& snapshot : host.snapshots)
    snapshot.nics.push_back(counters::PortCounters(
        "mlx5_7", "eth7", "mlx5_core",
        {{counters::Place::kEthtool, "tx_vport_rdma_unicast_bytes", counters::Reading::of(5)}}));
  const Verified verified =
      judge_drive(moved_64m("ib_write_bw -d mlx5_7 gpu2", "mlx5_7"), seen(made, intent));
  EXPECT_TRUE(has(verified.judgement(), "load.wrong_device"))
      << join(ids_of(verified.judgement()), " ");
}

TEST(VerifyLoad, ACommandThatFailsIsInconclusiveAndExplained) {
  COVERS("D5");
  const design::Intent intent = pair_intent();
  MadeCase made = with_traffic(0, 0, 0);
  Drive drive;
  drive.words = {"ib_write_bw", "gpu2"};
  drive.ran_on = "gpu1";
  drive.outcome.exit_status = 1;
  drive.outcome.errors = "Couldn't connect to gpu2:18515\n";
  const Verified verified = judge_drive(std::move(drive), seen(made, intent));
  EXPECT_EQ(verified.judgement().conclusion, finding::Conclusion::kInconclusive);
  EXPECT_FALSE(has(verified.judgement(), "load.no_rdma"));
  EXPECT_NE(verified.judgement().unknown.back().how.find("no server is listening"),
            std::string::npos);
}

TEST(VerifyLoad, WhereNobodyCountsByPriorityThePriorityIsUnknown) {
  COVERS("D8");
  const design::Intent intent = pair_intent();
  MadeCase made;
  Evidence& host = made.host("gpu1");
  // Soft-RoCE: packets alone.
  for (std::size_t i = 0; i < 2; ++i)
    host.snapshots[i].nics = {counters::PortCounters(
        "rxe0", "eth0", "rdma_rxe",
        {{counters::Place::kHwCounters, "sent_pkts", counters::Reading::of(i * 20000)},
         {counters::Place::kHwCounters, "rcvd_pkts", counters::Reading::of(i * 2000)}})};
  host.nics.clear();
  const Verified verified =
      judge_drive(moved_64m("ib_write_bw --tclass=106 gpu2", "rxe0"), seen(made, intent));
  ASSERT_EQ(verified.judged.devices.size(), 1U);
  EXPECT_TRUE(verified.judged.devices[0].is_busy({}));
  EXPECT_FALSE(verified.judged.volume.has_value());
  EXPECT_FALSE(has(verified.judgement(), "load.no_rdma"));
  const auto& unknown = verified.judgement().unknown;
  EXPECT_TRUE(std::any_of(unknown.begin(), unknown.end(), [](const auto& found) {
    return found.check == "the priority of the load";
  }));
}

TEST(VerifyLoad, AHostThatWasNotIdleIsSaidToBe) {
  COVERS("D2");
  const design::Intent intent = pair_intent();
  MadeCase made = with_traffic(k70M, k70M, 0);
  Drive drive = moved_64m("ib_write_bw --tclass=106 gpu2");
  drive.idle = with_traffic(k70M / 2, k70M / 2, 0).pieces();
  const Verified verified = judge_drive(std::move(drive), seen(made, intent));
  const auto is_said = [](const Verified& judged) {
    const auto& unknown = judged.judgement().unknown;
    return std::any_of(unknown.begin(), unknown.end(), [](const auto& found) {
      return found.reason.starts_with("it was not idle before");
    });
  };
  EXPECT_TRUE(is_said(verified));
  // A threshold of the user's holds for the window before the load as well.
  const diagnose::View view(
      {.evidence = made.pieces(), .intent = &intent, .thresholds = {.busy_before = 0.9}});
  Drive again = moved_64m("ib_write_bw --tclass=106 gpu2");
  again.idle = verified.drive.idle;
  EXPECT_FALSE(is_said(judge_drive(std::move(again), view)));
}

TEST(VerifyBurst, PassesWhereFlowControlActedAndNothingWasLost) {
  COVERS("D6");
  const design::Intent intent = pair_intent();
  const auto judged = [&](std::vector<Count> counts) {
    MadeCase made;
    made.host("gpu1", counts);
    made.host("gpu2", {{"ethtool/rx_prio3_pause", 40}});
    finding::Judgement judgement;
    const diagnose::Burst burst = diagnose::count_burst(seen(made, intent), 1, "gpu1");
    diagnose::judge_burst(burst, judgement);
    return std::pair(burst, judgement);
  };
  const auto [good, fine] = judged({});
  EXPECT_TRUE(good.is_lossless());
  EXPECT_TRUE(good.has_acted());
  EXPECT_EQ(good.pauses, 40U);
  EXPECT_TRUE(fine.findings.empty() && fine.unknown.empty());
  const auto [lossy, wrong] = judged({{"hw_counters/out_of_sequence", 12}});
  EXPECT_FALSE(lossy.is_lossless());
  EXPECT_TRUE(has(wrong, "path.loss"));
}

TEST(VerifyBurst, ABurstThatNobodyNoticedProvesNothing) {
  COVERS("D6");
  const design::Intent intent = pair_intent();
  MadeCase made;
  made.host("gpu1");
  finding::Judgement judgement;
  const diagnose::Burst burst = diagnose::count_burst(seen(made, intent), 3, "gpu1");
  diagnose::judge_burst(burst, judgement);
  EXPECT_TRUE(burst.is_lossless());
  EXPECT_EQ(judgement.conclusion, finding::Conclusion::kInconclusive);
}

TEST(VerifyFailure, LinksHostsAndRailsAreFaultsAndAnInterfaceIsNone) {
  COVERS("D7");
  design::Intent intent;
  for (const char* name : {"gpu03", "gpu04"}) {
    intent.hosts.emplace_back().name = name;
    for (int rail = 0; rail < 3; ++rail)
      intent.hosts.back().nics.emplace_back().rail = rail;
  }
  using Words = std::vector<std::string>;
  EXPECT_EQ(faults_of("link=leaf1/swp9", intent), Words{"link-down,at=leaf1/swp9,from=20us"});
  EXPECT_EQ(faults_of("host=gpu03", intent), Words{"link-down,at=gpu03,from=20us"});
  EXPECT_EQ(faults_of("slow-receiver,at=gpu03", intent), Words{"slow-receiver,at=gpu03"});
  EXPECT_EQ(faults_of("rail=1", intent),
            (Words{"link-down,at=gpu03/1,from=20us", "link-down,at=gpu04/1,from=20us"}));
  EXPECT_TRUE(faults_of("rail=3", intent).empty());
  EXPECT_EQ(load_under("rail=1", intent), (Words{"all-to-all", "size=256KB", "rails=0+2"}));
  EXPECT_EQ(load_under("host=gpu03", intent), (Words{"all-to-all", "size=256KB"}));
  for (design::HostIntent& host : intent.hosts)
    host.nics.resize(1);
  EXPECT_TRUE(load_under("rail=0", intent).empty()) << "nothing is left to carry it";
  EXPECT_FALSE(why_no_failure("ip link set eth0 down").empty());
  EXPECT_TRUE(why_no_failure("ssh leaf1 nv set interface swp9 link state down").empty());
}

// ---- pairs ----

Evidence host_with_gpu(const std::string& name, bool has_gpu) {
  Evidence seen;
  seen.provenance.host = name;
  evidence::Nic nic;
  nic.device = "mlx5_0";
  nic.rdma.gids = evidence::Fact<std::vector<evidence::Gid>>::of(
      {{0, "fe80:0000:0000:0000:0000:0000:0000:0001", evidence::GidType::kRoceV2, "eth0"},
       {2, "0000:0000:0000:0000:0000:ffff:0a00:0001", evidence::GidType::kRoceV1, "eth0"},
       {3, "0000:0000:0000:0000:0000:ffff:0a00:0001", evidence::GidType::kRoceV2, "eth0"}});
  seen.nics.push_back(nic);
  if (!has_gpu) return seen;
  for (unsigned i = 0; i < 2; ++i) {
    evidence::Gpu gpu;
    gpu.index = i;
    gpu.pcie.address = evidence::Fact<std::string>::of(i == 0 ? "0000:1b:00.0" : "0000:43:00.0");
    seen.gpus.push_back(gpu);
    seen.distances.push_back({"mlx5_0", i,
                              evidence::Fact<evidence::Distance>::of(
                                  i == 0 ? evidence::Distance::kSys : evidence::Distance::kPix)});
  }
  return seen;
}

TEST(VerifyPair, AnEndIsTheDesignsRailWithItsGidAndItsNearestGpu) {
  COVERS("D5");
  const design::Intent intent = pair_intent();
  const Evidence seen = host_with_gpu("gpu1", true);
  const auto end = choose_end("gpu1", &seen, intent, 0);
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->device, "mlx5_0");
  EXPECT_EQ(end->gid_index, 3U);
  EXPECT_EQ(end->gpu_bus, "0000:43:00.0");
  EXPECT_FALSE(end->address.empty());
  EXPECT_EQ(end->address.find('/'), std::string::npos);
  EXPECT_FALSE(choose_end("gpu1", &seen, intent, 5).has_value());
  EXPECT_FALSE(choose_end("unknown_host", nullptr, intent, 0).has_value());
  // Without weir over there the design alone says which device it is.
  const auto blind = choose_end("gpu2", nullptr, intent, 0);
  ASSERT_TRUE(blind.has_value());
  EXPECT_FALSE(blind->gid_index.has_value());
}

TEST(VerifyPair, GpuMemoryIsUsedWhereBothEndsCan) {
  COVERS("D5");
  const design::Intent intent = pair_intent();
  const Evidence with = host_with_gpu("gpu1", true);
  const Evidence without = host_with_gpu("gpu2", false);
  PairEnd client = *choose_end("gpu1", &with, intent, 0);
  PairEnd two = *choose_end("gpu2", &without, intent, 0);
  EXPECT_EQ(choose_gpu(client, two).why, "host memory: perftest on gpu1 was built without CUDA");
  client.perftest_has_cuda = true;
  EXPECT_EQ(choose_gpu(client, two).why, "host memory: gpu2 shows no GPU");
  two.gpu_bus = "0000:9d:00.0";
  two.perftest_has_cuda = true;
  EXPECT_TRUE(choose_gpu(client, two).uses_gpu);
  PairTest test{.traffic_class = TosByte::of(106)};
  test.uses_gpu = true;
  EXPECT_EQ(join(perftest_words(test, client, "10.0.0.2"), " "),
            "ib_write_bw -D 5 -d mlx5_0 -x 3 -p 18515 --tclass=106 -F --report_gbits "
            "--use_cuda_bus_id=0000:43:00.0 10.0.0.2");
  test.words = {"ib_write_lat", "-n", "5000"};
  test.uses_gpu = false;
  EXPECT_EQ(join(perftest_words(test, client, ""), " "),
            "ib_write_lat -n 5000 -d mlx5_0 -x 3 -p 18515 --tclass=106 -F");
}

/// An ssh that runs the line here, and programs that meet on a TCP port as perftest does.
class FakeSsh {
 public:
  FakeSsh()
      : folder_(std::filesystem::temp_directory_path() /
                ("weir-ssh-" + std::to_string(::getpid()))) {
    std::filesystem::create_directory(folder_);
    write("ssh",
          "#!/bin/sh\n[ \"$1\" = -- ] || exit 9\nshift\n[ \"$1\" = nobody ] && { echo 'no route to "
          "host' >&2; exit 255; }\n"
          "shift\nexec sh -c \"$*\"\n");
    write("server.py",
          "import socket, sys\ns = socket.socket()\n"
          "s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n"
          "s.bind(('127.0.0.1', int(sys.argv[1])))\ns.listen(1)\nc, _ = s.accept()\n"
          "print('served', c.recv(16).decode())\n");
    write("client.py",
          "import socket, sys\nc = socket.create_connection(('127.0.0.1', int(sys.argv[1])))\n"
          "c.sendall(b'hello')\nprint('sent')\n");
  }
  FakeSsh(const FakeSsh&) = delete;
  FakeSsh& operator=(const FakeSsh&) = delete;
  ~FakeSsh() { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }

 private:
  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(write_file_atomic(path(name), text).has_value());
    std::filesystem::permissions(path(name), std::filesystem::perms{0755});
  }
  std::filesystem::path folder_;
};

TEST(VerifyPair, TheServerComesFirstAndTheClientWhenItListens) {
  COVERS("D5");
  const FakeSsh fake;
  const auto made = host::Remote::make("gpu2", {fake.path("ssh")});
  ASSERT_TRUE(made.has_value());
  const host::Remote& remote = *made;
  PairTest test{.seconds = 1, .port = 20000 + static_cast<unsigned>(::getpid()) % 20000};
  const std::string port = std::to_string(test.port);
  const auto both = run_pair(remote, test, {"python3", fake.path("server.py"), port},
                             {"python3", fake.path("client.py"), port});
  ASSERT_TRUE(both.has_value()) << both.error().what;
  EXPECT_EQ(both->client.output, "sent\n");
  EXPECT_EQ(both->server.output, "served hello\n");
  EXPECT_EQ(both->server.exit_status, 0);
}

TEST(VerifyPair, ANameThatSshCouldTakeForAnOptionIsRefused) {
  for (const char* name : {"-oProxyCommand=id", "gpu2;id", "gpu 2", "", "ops@-v"})
    EXPECT_FALSE(host::Remote::make(name, {})) << name;
  const auto remote = host::Remote::make("ops@gpu2", {});
  ASSERT_TRUE(remote.has_value());
  const std::vector<std::string> words = remote->shell("true");
  ASSERT_GE(words.size(), 4U);
  EXPECT_EQ(words.front(), "ssh");
  EXPECT_EQ(words[words.size() - 3], "--");
  EXPECT_EQ(words[words.size() - 2], "ops@gpu2");
  EXPECT_NE(std::find(words.begin(), words.end(), "ConnectTimeout=10"), words.end());
}

TEST(RunningCommand, OneThatIgnoresTheSignalIsEndedAllTheSame) {
  const auto running = host::RunningCommand::start(
      {"sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.1; done"});
  ASSERT_TRUE(running.has_value());
  const auto done = (*running)->finish(Duration::raw(kPicosecondsPerSecond / 2));
  ASSERT_TRUE(done.has_value());
  EXPECT_TRUE(done->timed_out);
  EXPECT_EQ(done->exit_status, 124);
  EXPECT_EQ(done->output, "up\n");
}

/// The processes that have this word in their command line.
std::size_t processes_with(const std::string& word) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto line = read_file((entry.path() / "cmdline").string());
    if (line && line->find(word) != std::string::npos) ++count;
  }
  return count;
}

TEST(RunningCommand, WhatItStartedEndsWithItEvenWhereSignalsAreIgnored) {
  // A number that no other process has in its words.
  const std::string mark = "300." + std::to_string(::getpid());
  const std::vector<std::string> words = {"sh", "-c",
                                          "trap '' TERM HUP; sleep " + mark + " & sleep " + mark};
  {
    const auto running = host::RunningCommand::start(words);
    ASSERT_TRUE(running.has_value());
    for (int look = 0; look < 200 && processes_with(mark) < 3; ++look)
      ::poll(nullptr, 0, 10);
    ASSERT_EQ(processes_with(mark), 3U);
  }
  for (int look = 0; look < 100 && processes_with(mark) > 0; ++look)
    ::poll(nullptr, 0, 10);
  EXPECT_EQ(processes_with(mark), 0U);
}

TEST(VerifyPair, AnInterruptedOneLeavesNoProcessBehind) {
  COVERS("D5");
  const FakeSsh fake;
  const std::string mark = "301." + std::to_string(::getpid());
  PairTest test{.seconds = 1, .port = 20000 + static_cast<unsigned>(::getpid()) % 20000};
  const std::string port = std::to_string(test.port);
  // The client ignores SIGTERM and never comes to its end; timeout(1) ends the server over there.
  bool has_come = false;
  const auto remote = host::Remote::make("gpu2", {fake.path("ssh")}, [&] {
    has_come = has_come || processes_with(mark) > 0;
    return has_come;
  });
  ASSERT_TRUE(remote.has_value());
  const auto both = run_pair(*remote, test, {"python3", fake.path("server.py"), port},
                             {"sh", "-c", "trap '' TERM; sleep " + mark + "; :"});
  ASSERT_TRUE(both.has_value()) << both.error().what;
  EXPECT_EQ(both->client.exit_status, 130);
  EXPECT_EQ(processes_with(mark), 0U);
}

TEST(RunningCommand, OneThatClosesItsOutputIsStillBounded) {
  const auto running = host::RunningCommand::start({"sh", "-c", "exec >&- 2>&-; sleep 30"});
  ASSERT_TRUE(running.has_value());
  const auto done = (*running)->finish(Duration::raw(kPicosecondsPerSecond / 2));
  ASSERT_TRUE(done.has_value());
  EXPECT_TRUE(done->timed_out);
}

TEST(RunningCommand, AnInterruptionEndsTheQuestionThatIsAsked) {
  const FakeSsh fake;
  const auto remote = host::Remote::make("gpu2", {fake.path("ssh")}, [] { return true; });
  ASSERT_TRUE(remote.has_value());
  const auto done = remote->run_shell("sleep 30");
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->exit_status, 130);
}

TEST(RunningCommand, OfEndlessOutputBothEndsAreKept) {
  const auto done = host::run_command(
      {"sh", "-c", "echo first; head -c 50000000 /dev/zero | tr '\\0' x; echo; echo last"});
  ASSERT_TRUE(done.has_value());
  EXPECT_LT(done->output.size(), 4 * host::kKeptOutput);
  EXPECT_TRUE(done->output.starts_with("first\n"));
  EXPECT_TRUE(done->output.ends_with("\nlast\n"));
  EXPECT_NE(done->output.find("bytes of output left out]"), std::string::npos);
}

}  // namespace
}  // namespace weir::ops
