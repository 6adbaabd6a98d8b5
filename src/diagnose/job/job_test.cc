#include "diagnose/job/job.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/testing.h"
#include "base/text.h"
#include "design/file/load.h"
#include "design/file/templates.h"
#include "finding/shown.h"

namespace weir::diagnose {
namespace {

namespace fs = std::filesystem;

design::Intent intent_of(std::string_view name) {
  const design::Template* chosen = design::find_template(name);
  const auto loaded = design::load_text(chosen->text, std::string(name));
  return design::derive(loaded.design).intent;
}

readers::Job read(const fs::path& path) {
  const auto text = read_file(path.string());
  EXPECT_TRUE(text.has_value()) << path;
  return text ? readers::read_job(*text, path.filename().string()) : readers::Job{};
}

bool names(const finding::Judgement& judgement, std::string_view id) {
  return finding::is_raised(judgement.findings, id);
}

std::string ids_of(const finding::Judgement& judgement) {
  std::string text;
  for (const auto& known : judgement.findings)
    text += known.id + " (" + known.verdict + ") ";
  return text;
}

TEST(JobWarnings, ThatNoRuleKnowsLeaveTheAnswerOpen) {
  COVERS("E3");
  for (const std::string_view line :
       {"gpu01:77:90 [0] NCCL WARN Call to ibv_modify_qp failed with 110 Connection timed out",
        "gpu01:77:90 [0] NCCL WARN socketStartConnect: Connect to 10.0.0.7<4711> failed : "
        "Connection refused",
        "[rank3]:[E101 ProcessGroupNCCL.cpp:632] [Rank 3] Watchdog caught collective operation "
        "timeout: WorkNCCL(SeqNum=12)"}) {
    const readers::Job job = readers::read_job(std::string(line) + "\n", "job.log");
    const finding::Judgement judgement = judge_job({.job = job});
    EXPECT_NE(judgement.conclusion, finding::Conclusion::kHealthy) << line;
    EXPECT_TRUE(judgement.is_partial() || judgement.count(finding::Severity::kWarning) > 0 ||
                judgement.count(finding::Severity::kError) > 0)
        << line;
  }
  // One that is explained leaves nothing open, and what is no warning never does.
  for (const std::string_view line :
       {"gpu01:77:90 [0] NCCL WARN NET/IB: Got completion from peer 10.10.1.6<48211> with "
        "status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_RECV(128) reqSize=0 vendor_err=129",
        "gpu01:77:90 [0] NCCL INFO Connected all rings"}) {
    const readers::Job job = readers::read_job(std::string(line) + "\n", "job.log");
    const finding::Judgement judgement = judge_job({.job = job});
    for (const finding::Unknown& unknown : judgement.unknown)
      EXPECT_NE(unknown.check, "warnings of the log") << line;
  }
}

TEST(JobFixes, HoldNoValueThatAShellWouldRun) {
  COVERS("E2");
  const readers::Job job = readers::read_job(
      "export NCCL_IB_HCAA='x;touch /tmp/PWNED'\n"
      "export NCCL_IB_CUDA_SUPPORT='$(id)'\nexport NCCL_LL_THRESHOLD='`id`'\n",
      "job.sh");
  const finding::Judgement judgement = judge_job({.job = job});
  std::string commands;
  for (const finding::Finding& item : judgement.findings)
    for (const finding::Fix& fix : item.fix)
      commands += join(fix.commands, "\n") + "\n";
  EXPECT_NE(commands.find("export NCCL_IB_HCA='x;touch /tmp/PWNED'\n"), std::string::npos)
      << commands;
  EXPECT_EQ(commands.find("=x;"), std::string::npos);
  EXPECT_EQ(commands.find("=$("), std::string::npos);
  EXPECT_EQ(commands.find("=`"), std::string::npos);
}

TEST(JobNames, ThousandsOfUnknownOnesAreAHundredFindingsAndOneForTheRest) {
  COVERS("E2");
  std::string text = "#!/bin/bash\nexport NCCL_IB_TCC=106\n";
  for (int i = 0; i < 5000; ++i)
    text += "export NCCL_MADE_UP_" + std::to_string(i) + "=1\n";
  text += "export NCCL_MADE_UP_4999=2\nexport NCCL_IB_GID_INDEX=x\n";
  const readers::Job job = readers::read_job(text, "job.sh");
  const finding::Judgement judgement = judge_job({.job = job});
  const auto typos = std::count_if(judgement.findings.begin(), judgement.findings.end(),
                                   [](const auto& item) { return item.id == "job.env_typo"; });
  EXPECT_EQ(typos, 101);
  const std::string said = ids_of(judgement);
  EXPECT_NE(said.find("NCCL_IB_TCC; did you mean NCCL_IB_TC?"), std::string::npos);
  EXPECT_NE(said.find("4901 more unknown variables, NCCL_MADE_UP_99 the first of them."),
            std::string::npos);
}

/// A host with these devices; each has the four GIDs that mlx5 makes of one IPv4 address.
evidence::Evidence host_with(const std::vector<std::string>& devices) {
  evidence::Evidence host;
  host.provenance.host = "gpu01";
  for (const std::string& device : devices) {
    evidence::Nic nic;
    nic.device = device;
    nic.rdma.gids = evidence::Fact<std::vector<evidence::Gid>>::of(
        {{0, "fe80:0000:0000:0000:0ac0:ebff:feda:1cfb", evidence::GidType::kRoceV1, "eth0"},
         {1, "fe80:0000:0000:0000:0ac0:ebff:feda:1cfb", evidence::GidType::kRoceV2, "eth0"},
         {2, "0000:0000:0000:0000:0000:ffff:0a0a:0105", evidence::GidType::kRoceV1, "eth0"},
         {3, "0000:0000:0000:0000:0000:ffff:0a0a:0105", evidence::GidType::kRoceV2, "eth0"}});
    host.nics.push_back(std::move(nic));
  }
  return host;
}

// Each finding of a job has a file that shows it and a near one that does not: tests/data/job.
TEST(JudgeJob, EachFindingHasAFileThatShowsItAndOneThatDoesNot) {
  COVERS("E2");
  const design::Intent intent = intent_of("rail256");
  std::set<std::string> bad;
  std::set<std::string> good;
  for (const auto& entry : fs::directory_iterator(fs::path(WEIR_TEST_DATA) / "job")) {
    const std::string name = entry.path().filename().string();
    const bool is_bad = name.find(".bad.") != std::string::npos;
    const std::string id = name.substr(0, name.find(is_bad ? ".bad." : ".good."));
    const readers::Job job = read(entry.path());
    const auto judgement = judge_job({job, &intent, {}});
    EXPECT_EQ(names(judgement, id), is_bad) << name << ": " << ids_of(judgement);
    (is_bad ? bad : good).insert(id);
  }
  EXPECT_EQ(bad, good);
  EXPECT_GE(bad.size(), 20U);
}

TEST(JudgeJob, WhatANearFileShowsIsNothing) {
  COVERS("E2");
  const design::Intent intent = intent_of("rail256");
  for (const auto& name : {"dscp.tos_confusion.good.sh", "nccl.hca_unknown.good.sh",
                           "nccl.hca_list_short.good.yaml", "dscp.unmarked.good.env"}) {
    const readers::Job job = read(fs::path(WEIR_TEST_DATA) / "job" / name);
    EXPECT_EQ(ids_of(judge_job({job, &intent, {}})), "") << name;
  }
}

TEST(JudgeJob, RealLogsAreAnswered) {
  COVERS("E2");
  const struct {
    std::string_view file;
    std::set<std::string> ids;
  } cases[] = {
      {"nccl_2.28.9_two_ranks_socket.realrun.log", {"nccl.socket_fallback"}},
      {"nccl_2.28.9_ib_hca_missing_socket_fallback.realrun.log", {"nccl.socket_fallback"}},
      {"nccl_2.28.9_tc26_typo.realrun.log", {"nccl.socket_fallback"}},
      {"nccl_2.28.9_ib_disabled.realrun.log", {"nccl.ib_disabled"}},
      {"nccl_2.28.9_hca_netdev.realrun.log", {"nccl.socket_fallback", "nccl.hca_unknown"}},
      {"nccl_2.28.9_net_ib_forced.realrun.log", {"nccl.socket_fallback"}},
      {"nccl_2.28.9_rank_differs.realrun.log", {"nccl.socket_fallback"}},
      {"nccl_2.12_gdr_no_module.composed.log", {"gdr.off", "gid.not_routable"}},
      {"nccl_2.18_roce_no_gdr.composed.log", {"gdr.off"}},
      {"nccl_2.28_roce_gdr_ok.composed.log", {}},
      {"nccl_retry_exceeded.composed.log",
       {"transport.retries_exhausted", "link.flapping", "app.protocol_error"}},
  };
  for (const auto& item : cases) {
    const readers::Job job = read(fs::path(WEIR_TEST_DATA) / "nccl" / item.file);
    const auto judgement = judge_job({job, nullptr, {}});
    std::set<std::string> found;
    for (const auto& finding : judgement.findings)
      found.insert(finding.id);
    EXPECT_EQ(found, item.ids) << item.file << ": " << ids_of(judgement);
  }
}

TEST(JudgeJob, ATrafficClassIsTheSitesOwnUnlessTheDesignSaysOtherwise) {
  COVERS("E2");
  const readers::Job own = readers::read_job("NCCL_IB_TC=41\nNCCL_IB_TIMEOUT=22\n", "env");
  const finding::Judgement alone = judge_job({own, nullptr, {}});
  EXPECT_EQ(alone.count(finding::Severity::kError) + alone.count(finding::Severity::kWarning), 0U)
      << ids_of(alone);
  const design::Intent intent = intent_of("pod16");
  EXPECT_TRUE(names(judge_job({own, &intent, {}}), "dscp.unmarked"));
  const readers::Job typed = readers::read_job("NCCL_IB_TC=26\n", "env");
  EXPECT_TRUE(names(judge_job({typed, nullptr, {}}), "dscp.tos_confusion"));
  const readers::Job priority = readers::read_job("NCCL_IB_TC=3\n", "env");
  EXPECT_TRUE(names(judge_job({priority, nullptr, {}}), "dscp.tos_confusion"));
}

TEST(JudgeJob, ADeviceListIsMatchedAsNcclMatchesIt) {
  COVERS("E2");
  const std::vector<evidence::Evidence> hosts = {
      host_with({"mlx5_0", "mlx5_1", "mlx5_10", "mlx5_11"})};
  const struct {
    std::string_view list;
    std::string_view id;  // empty: nothing
  } cases[] = {
      {"mlx5_0,mlx5_1", "nccl.hca_prefix"},
      {"=mlx5_0,mlx5_1", "nccl.hca_list_short"},
      {"mlx5", ""},
      {"=mlx5_0,mlx5_1,mlx5_10,mlx5_11", ""},
      {"^mlx5_1", "nccl.hca_list_short"},
      {"mlx5_7", "nccl.hca_unknown"},
      {"mlx5_0:0", "nccl.hca_unknown"},
      {"mlx5_0:1,mlx5_1:1", "nccl.hca_prefix"},
      {"eth0", "nccl.hca_unknown"},
  };
  for (const auto& item : cases) {
    const readers::Job job =
        readers::read_job("NCCL_IB_HCA=" + std::string(item.list) + "\n", "env");
    const auto judgement = judge_job({job, nullptr, hosts});
    if (item.id.empty()) {
      EXPECT_EQ(ids_of(judgement), "") << item.list;
      EXPECT_FALSE(names(judgement, "nccl.hca_prefix"));
    } else {
      EXPECT_TRUE(names(judgement, item.id)) << item.list << ": " << ids_of(judgement);
    }
  }
}

TEST(JudgeJob, TheGidIndexIsLookedUpOnTheHost) {
  COVERS("C8", "E2");
  const std::vector<evidence::Evidence> hosts = {host_with({"mlx5_0"})};
  const auto judged = [&](std::string_view index) {
    const readers::Job job =
        readers::read_job("NCCL_IB_GID_INDEX=" + std::string(index) + "\n", "env");
    return judge_job({job, nullptr, hosts});
  };
  EXPECT_EQ(ids_of(judged("3")), "");
  EXPECT_TRUE(names(judged("0"), "gid.not_routable"));
  EXPECT_TRUE(names(judged("1"), "gid.not_routable"));
  EXPECT_TRUE(names(judged("2"), "gid.not_routable"));
  EXPECT_TRUE(names(judged("7"), "gid.index_differs"));
  // Without a host it is listed, and not required.
  const readers::Job job = readers::read_job("NCCL_IB_GID_INDEX=3\n", "env");
  const auto open = judge_job({job, nullptr, {}});
  ASSERT_EQ(open.unknown.size(), 1U);
  EXPECT_FALSE(open.is_partial());
  EXPECT_EQ(open.conclusion, finding::Conclusion::kHealthy);
}

TEST(JudgeJob, AFixNeverNamesADeviceThatDoesNotExist) {
  COVERS("E2");
  const std::vector<std::string> devices = {"mlx5_0", "mlx5_3", "mlx5_10", "mlx5_11"};
  const std::vector<evidence::Evidence> hosts = {host_with(devices)};
  for (const std::string_view list :
       {"mlx5_1,mlx5_2", "mlx5_0,mlx5_9", "=mlx5_0,mlx5_7", "mlx5_1", "eth0", "mlx5_0:0"}) {
    const readers::Job job = readers::read_job("NCCL_IB_HCA=" + std::string(list) + "\n", "env");
    const auto judgement = judge_job({job, nullptr, hosts});
    EXPECT_FALSE(judgement.findings.empty()) << list;
    for (const auto& finding : judgement.findings)
      for (const auto& fix : finding.fix)
        for (const std::string& command : fix.commands) {
          if (!command.starts_with("export NCCL_IB_HCA==")) continue;
          const std::string list_of_fix = command.substr(20);
          for (const std::string_view name : split(list_of_fix, ','))
            EXPECT_EQ(std::count(devices.begin(), devices.end(), name), 1) << command;
        }
  }
}

TEST(JudgeJob, WhatAScriptLeavesOpenIsNoFault) {
  COVERS("E2");
  const design::Intent intent = intent_of("rail256");
  const readers::Job open = readers::read_job("export NCCL_IB_TC=$TC\nsrun a\n", "job.sh");
  const auto judgement = judge_job({open, &intent, {}});
  EXPECT_EQ(ids_of(judgement), "");
  ASSERT_EQ(judgement.unknown.size(), 1U);
  EXPECT_NE(judgement.unknown[0].reason.find("cannot tell"), std::string::npos);
  EXPECT_TRUE(judgement.unknown[0].is_required);
  EXPECT_EQ(judgement.conclusion, finding::Conclusion::kInconclusive);
  const readers::Job set = readers::read_job("TC=26\nexport NCCL_IB_TC=$TC\nsrun a\n", "job.sh");
  EXPECT_TRUE(names(judge_job({set, &intent, {}}), "dscp.tos_confusion"));
  const readers::Job right = readers::read_job("export NCCL_IB_TC=$((26*4))\nsrun a\n", "job.sh");
  EXPECT_EQ(ids_of(judge_job({right, &intent, {}})), "");
  const readers::Job gone =
      readers::read_job("export NCCL_IB_TC=106\nunset NCCL_IB_TC\nsrun a\n", "job.sh");
  EXPECT_TRUE(names(judge_job({gone, &intent, {}}), "dscp.unmarked"));
}

TEST(JudgeJob, ValuesAndLimitsOfAScriptAreJudged) {
  COVERS("E2");
  const struct {
    std::string_view text;
    std::string_view id;  // empty: nothing
  } cases[] = {
      {"export NCCL_SOCKET_IFNAME=lo", "nccl.socket_loopback"},
      {"export NCCL_SOCKET_IFNAME==lo", "nccl.socket_loopback"},
      {"export NCCL_SOCKET_IFNAME=eth0:,lo", "nccl.socket_loopback"},
      {"export NCCL_SOCKET_IFNAME=^docker,lo", ""},
      {"export NCCL_SOCKET_IFNAME=bond0", ""},
      {"#SBATCH -N 1\nexport NCCL_SOCKET_IFNAME=lo", ""},
      {"export NCCL_IB_GID_INDEX=0", "gid.not_routable"},
      {"export NCCL_IB_GID_INDEX=3", ""},
      {"ulimit -l 64\nexport NCCL_DEBUG=INFO", "limits.memlock_low"},
      {"ulimit -l unlimited\nexport NCCL_DEBUG=INFO", ""},
      {"export NCCL_ALGO=Rings", "job.bad_value"},
      {"export NCCL_ALGO=ring,xtree", "job.bad_value"},
      {"export NCCL_ALGO=^Tree,NVLSTree", ""},
      {"export NCCL_ALGO=ring;allreduce:tree,collnetdirect", ""},
      {"export NCCL_PROTO=LL129", "job.bad_value"},
      {"export NCCL_PROTO=^LL128", ""},
      {"export NCCL_P2P_LEVEL=NVLink", "job.bad_value"},
      {"export NCCL_P2P_LEVEL=NVL", ""},
      {"export NCCL_NET_GDR_LEVEL=SYS", ""},
      {"export NCCL_NET_GDR_LEVEL=3", ""},
      {"export NCCL_IB_CUDA_SUPPORT=0", "job.env_typo"},
  };
  for (const auto& item : cases) {
    const readers::Job job = readers::read_job(std::string(item.text) + "\nsrun a\n", "job.sh");
    const auto judgement = judge_job({job, nullptr, {}});
    if (item.id.empty()) {
      EXPECT_EQ(ids_of(judgement), "") << item.text;
    } else {
      EXPECT_TRUE(names(judgement, item.id)) << item.text << ": " << ids_of(judgement);
      EXPECT_FALSE(names(judgement, "gdr.off")) << item.text;
    }
  }
}

TEST(JudgeJob, ARankThatLogsOnlyWarningsIsNotDifferent) {
  COVERS("E2");
  constexpr std::string_view kStart =
      "a:1:1 [0] NCCL INFO NCCL_IB_TC set by environment to 106.\n"
      "a:1:1 [0] NCCL INFO Using network IB\n";
  const std::string warns =
      std::string(kStart) + "b:1:1 [0] NCCL WARN NET/IB : something\nb:1:1 [0] NCCL INFO x -> 6\n";
  EXPECT_FALSE(names(judge_job({readers::read_job(warns, "log")}), "job.rank_differs"));
  const std::string lacks = std::string(kStart) + "b:1:1 [0] NCCL INFO Using network IB\n";
  EXPECT_TRUE(names(judge_job({readers::read_job(lacks, "log")}), "job.rank_differs"));
}

TEST(JudgeJob, RailsThatDoNotMeetAreNotCrossed) {
  COVERS("E2");
  design::Intent isolated = intent_of("rail256");
  std::erase_if(isolated.links, [](const design::LinkIntent& link) {
    return link.lower.kind == design::NodeKind::kSwitch;
  });
  const readers::Job job = readers::read_job("NCCL_CROSS_NIC=1\nNCCL_IB_TC=106\n", "env");
  EXPECT_TRUE(names(judge_job({job, &isolated, {}}), "rail.cross_rail_unreachable"));
  const design::Intent joined = intent_of("rail256");
  EXPECT_FALSE(names(judge_job({job, &joined, {}}), "rail.cross_rail_unreachable"));
}

std::string first_fix(const finding::Judgement& judgement, std::string_view id) {
  for (const auto& known : judgement.findings)
    if (known.id == id && !known.fix.empty() && !known.fix.front().commands.empty())
      return known.fix.front().commands.front();
  return "";
}

TEST(JudgeJob, AFixUndoesTheLineThatIsWrong) {
  COVERS("E2");
  const design::Template* chosen = design::find_template("rail256");
  const auto loaded = design::load_text(chosen->text, "rail256");
  const design::Intent intent = design::derive(loaded.design).intent;
  const auto judged = [&](std::string_view text) {
    const readers::Job job = readers::read_job(text, "env");
    return judge_job({.job = job, .intent = &intent, .nccl = &loaded.design.nccl});
  };
  EXPECT_EQ(first_fix(judged("NCCL_NET_GDR_LEVEL=0\nNCCL_IB_TC=106\n"), "gdr.off"),
            "export NCCL_NET_GDR_LEVEL=PXB");
  EXPECT_EQ(first_fix(judged("NCCL_IB_TIMEOUT=40\nNCCL_IB_TC=106\n"), "job.bad_value"),
            "export NCCL_IB_TIMEOUT=20");
  EXPECT_EQ(first_fix(judged("NCCL_IB_SL=9\nNCCL_IB_TC=106\n"), "job.bad_value"),
            "export NCCL_IB_SL=0");
  EXPECT_TRUE(names(judged("NCCL_CROSS_NIC=1\nNCCL_IB_TC=106\n"), "rail.rings_cross"));
  EXPECT_FALSE(names(judged("NCCL_CROSS_NIC=0\nNCCL_IB_TC=106\n"), "rail.rings_cross"));
  EXPECT_EQ(first_fix(judged("NCCL_CROSS_NIC=1\nNCCL_IB_TC=106\n"), "rail.rings_cross"),
            "export NCCL_CROSS_NIC=0");
  for (const std::string_view right :
       {"NCCL_CROSS_NIC=0\nNCCL_IB_TC=106\n", "NCCL_CROSS_NIC=2\nNCCL_IB_TC=106\nNCCL_IB_SL=7\n"})
    EXPECT_EQ(ids_of(judged(right)), "");
}

TEST(JudgeJob, UnderPcpTrustTheServiceLevelMustBeTheClass) {
  COVERS("E2");
  const design::Template* chosen = design::find_template("pair");
  const auto loaded = design::load_text(std::string(chosen->text) + "trust: pcp\n", "pair");
  const design::Intent intent = design::derive(loaded.design).intent;
  const auto is_wrong = [&](std::string_view text) {
    const readers::Job job = readers::read_job(text, "env");
    return names(judge_job({.job = job, .intent = &intent, .nccl = &loaded.design.nccl}),
                 "dscp.unmarked");
  };
  EXPECT_TRUE(is_wrong("NCCL_IB_SL=5\nNCCL_IB_TC=106\n"));
  EXPECT_FALSE(is_wrong("NCCL_IB_SL=3\nNCCL_IB_TC=106\n"));
}

TEST(JudgeJob, SixtyFourMebibytesOfLockedMemoryAreTooFew) {
  COVERS("E2");
  const auto is_low = [](std::string_view text) {
    const readers::Job job = readers::read_job(text, "job.sh");
    return names(judge_job({.job = job}), "limits.memlock_low");
  };
  EXPECT_TRUE(is_low("#!/bin/bash\nexport NCCL_DEBUG=INFO\nulimit -l 65536\n"));
  EXPECT_FALSE(is_low("#!/bin/bash\nexport NCCL_DEBUG=INFO\nulimit -l unlimited\n"));
  EXPECT_FALSE(is_low("#!/bin/bash\nexport NCCL_DEBUG=INFO\nulimit -l 8388608\n"));
}

// The gid, tc, gdr and env families of troubles from public trackers, as far as they carry text of
// a job or log.
TEST(JudgeJob, TroublesFromTheFieldAreNamed) {
  COVERS("E2");
  const struct {
    std::string_view text;
    std::string_view id;
  } cases[] = {
      {"NCCL WARN NET/IB : Got completion with error 12, opcode 0, len 0, vendor err 129",
       "gid.not_routable"},
      {"NCCL WARN NET/IB: read failed in ncclIbRoceGetVersionNum: Invalid argument", "gid.sparse"},
      {"reads /sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/6 and fails", "gid.sparse"},
      {"No suitable GID found on mlx5_bond_1/", "gid.wrong_family"},
      {"GID is NULL, please check your GID index by specifying MC_GID_INDEX", "gid.not_routable"},
      {"gpu:1:1 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'", "gdr.off"},
      {"NCCL_IB_DISABLE=1 in job script", "nccl.ib_disabled"},
      {"-e CCL_NET_GDR_LEVEL=PHB (missing N)", "job.env_typo"},
      {"NCCL_IB_TC=41", "dscp.site_plan"},
  };
  for (const auto& item : cases) {
    const readers::Job job = readers::read_job(item.text, "pasted");
    const auto judgement = judge_job({job, nullptr, {}});
    const std::string first = judgement.findings.empty() ? "" : judgement.findings.front().id;
    EXPECT_EQ(first, item.id) << item.text << ": " << ids_of(judgement);
  }
}

TEST(JudgeJob, CompletionsAreExplained) {
  COVERS("E2");
  EXPECT_NE(explain_completion(12).find("IBV_WC_RETRY_EXC_ERR"), std::string::npos);
  EXPECT_EQ(explain_completion(99), "");
}

TEST(Job, OneConnectionOverABondUsesOneMember) {
  COVERS("E1", "E2");
  const auto said = [](const std::string& text) {
    const readers::Job job = readers::read_job(text, "job.sh");
    return names(judge_job({job}), "lag.too_few_qps");
  };
  EXPECT_TRUE(said("export NCCL_IB_HCA=mlx5_bond_0\n"));
  EXPECT_TRUE(said("export NCCL_IB_HCA=mlx5_bond_0\nexport NCCL_IB_QPS_PER_CONNECTION=1\n"));
  EXPECT_FALSE(said("export NCCL_IB_HCA=mlx5_bond_0\nexport NCCL_IB_QPS_PER_CONNECTION=2\n"));
  EXPECT_FALSE(said("export NCCL_IB_HCA=mlx5_0\n"));
  EXPECT_FALSE(said("export NCCL_IB_HCA=^mlx5_bond_0\n"));
  EXPECT_FALSE(said("source site.env\nexport NCCL_IB_HCA=mlx5_bond_0\n"));
}

TEST(Job, AnotherCodePointThanTheUsualIsTheSitesPlan) {
  COVERS("A2", "E2");
  const auto said = [](const std::string& value) {
    const readers::Job job = readers::read_job("export NCCL_IB_TC=" + value + "\n", "job.sh");
    const finding::Judgement judgement = judge_job({job});
    EXPECT_EQ(judgement.count(finding::Severity::kError), 0U) << value;
    return names(judgement, "dscp.site_plan");
  };
  EXPECT_TRUE(said("41"));
  EXPECT_FALSE(said("106"));
  EXPECT_FALSE(said("104"));
}

}  // namespace
}  // namespace weir::diagnose
