#include "diagnose/paste/pasted.h"

#include <algorithm>
#include <ctime>
#include <limits>

#include <fmt/format.h>

#include "base/file.h"
#include "base/testing.h"
#include "diagnose/paste/configs.h"
#include "finding/shown.h"
#include "readers/paste/merge.h"

namespace weir::diagnose {
namespace {

std::string data(const std::string& name) {
  const auto text = read_file(std::string(WEIR_TEST_DATA) + "/" + name, std::size_t{1} << 22U);
  EXPECT_TRUE(text.has_value()) << name;
  return text ? *text : std::string();
}

finding::Judgement judged(std::string_view text) {
  const readers::Paste paste = readers::read_paste({{"paste.txt", text}});
  return judge_pasted({paste, paste.evidence});
}

bool names(const finding::Judgement& judgement, std::string_view id) {
  return finding::is_raised(judgement.findings, id);
}

std::string counters_of_hosts(int hosts) {
  std::string text;
  for (int i = 0; i < hosts; ++i)
    text += fmt::format(
        "[root@gpu{0} ~]# ethtool -S eth{0}\nNIC statistics:\n     rx_prio3_pause: {0}\n", i);
  return text;
}

TEST(Pasted, FoldsWhatWasNotPastedOfEachHostToOneLine) {
  constexpr int kHosts = 40;
  const finding::Judgement judgement = judged(counters_of_hosts(kHosts));
  const auto folded =
      std::count_if(judgement.unknown.begin(), judgement.unknown.end(),
                    [](const auto& item) { return item.check.ends_with(": what was not pasted"); });
  EXPECT_EQ(folded, kHosts);
}

std::string counters_of_nics(int nics) {
  std::string text;
  for (int i = 0; i < nics; ++i)
    text += fmt::format(
        "[root@gpu1 ~]# ethtool -S eth{0}\nNIC statistics:\n     rx_prio3_pause: {0}\n"
        "     rx_discards_phy: 3\n",
        i);
  return text;
}

TEST(Pasted, TakesTimeInProportionToTheHostsAndTheNics) {
  const auto time_of = [](const std::string& text) {
    std::clock_t least = std::numeric_limits<std::clock_t>::max();
    for (int i = 0; i < 2; ++i) {
      const std::clock_t begin = std::clock();
      static_cast<void>(judged(text));
      least = std::min(least, std::clock() - begin);
    }
    return static_cast<double>(least);
  };
  // Eight times as many: 64 times the time where each is compared with each.
  EXPECT_LT(time_of(counters_of_hosts(1600)), 32 * time_of(counters_of_hosts(200)));
  EXPECT_LT(time_of(counters_of_nics(800)), 32 * time_of(counters_of_nics(100)));
}

struct Case {
  std::string_view what;
  std::string text;
  std::vector<std::string_view> ids;
  std::vector<std::string_view> not_ids;
};

/// Settings and devices.
std::vector<Case> shown_cases() {
  return {
      {"trust and PFC of a NIC as it comes",
       data("paste/mlnx_qos_default.txt"),
       {"trust.not_dscp", "pfc.off"},
       {}},
      {"PFC on 3 and trust in PCP",
       "DCBX mode: OS controlled\nPriority trust state: pcp\nPFC configuration:\n"
       "\tpriority    0   1   2   3   4   5   6   7\n"
       "\tenabled     0   0   0   1   0   0   0   0\n",
       {"trust.not_dscp"},
       {"pfc.off", "pfc.wrong_priority"}},
      {"the usual recipe",
       data("paste/mlnx_qos_recipe.txt"),
       {},
       {"trust.not_dscp", "pfc.off", "pfc.wrong_priority", "dscp.nic_map_wrong"}},
      {"a second agent", data("paste/mlnx_qos_lldpad.txt"), {"dcbx.two_agents"}, {}},
      {"a limit on the class", data("paste/mlnx_qos_wrapped.txt"), {"shaper.on_rdma_path"}, {}},
      {"a site that moved DSCP 46 to priority 4",
       "Priority trust state: dscp\ndscp2prio mapping:\n\tprio:4 dscp:46,\n\tprio:6 dscp:48,\n"
       "PFC configuration:\n\tenabled     0   0   0   0   1   0   0   0\n",
       {},
       {"pfc.wrong_priority", "pfc.off"}},
      {"GIDs that route", data("paste/show_gids.txt"), {}, {"gid.not_routable"}},
      {"GIDs of v1 and link-local alone",
       "DEV\tPORT\tINDEX\tGID\n"
       "mlx5_0\t1\t0\tfe80:0000:0000:0000:5aa2:e1ff:fe10:0a00\t\tv1\teth2\n"
       "mlx5_0\t1\t1\tfe80:0000:0000:0000:5aa2:e1ff:fe10:0a00\t\tv2\teth2\n"
       "mlx5_0\t1\t2\t0000:0000:0000:0000:0000:ffff:0a0a:0105\t10.10.1.5\tv1\teth2\n",
       {"gid.not_routable"},
       {}},
      {"a small RDMA MTU",
       "hca_id:\tmlx5_0\n\tstate:\tPORT_ACTIVE (4)\n\tactive_mtu:\t1024 (3)\n",
       {"mtu.below_4096"},
       {}},
      {"a card at half its lanes",
       data("paste/lspci_nic_downgraded.txt"),
       {"pcie.link_degraded"},
       {}},
      {"a bridge with ACS", data("paste/lspci_acs.txt"), {"pcie.acs_on"}, {}},
  };
}

/// One data packet as `tcpdump -v` prints it.
std::string captured(std::string_view tos, unsigned ttl, unsigned port) {
  return fmt::format(
      "10:21:07.118201 IP (tos {},ECT(0), ttl {}, id 5, offset 0, flags [DF], proto UDP (17), "
      "length 4156)\n    10.1.0.1.{} > 10.1.4.9.4791: UDP, length 4128\n",
      tos, ttl, port);
}

/// What ib_write_bw prints with this GID: these rows, or an error in their place.
std::string tested(std::string_view gid, std::string_view rows) {
  constexpr std::string_view kError =
      " Completion with error at client\n Failed status 12: wr_id 0 syndrom 0x81\n";
  return fmt::format(
      "                    RDMA_Write BW Test\n Dual-port       : OFF\t\tDevice         : mlx5_3\n"
      " Mtu             : 4096[B]\n GID index       : 0\n"
      "---------------------------------------------------------------------\n"
      " local address: LID 0000 QPN 0x0a31 PSN 0x33ac09\n GID: {}\n"
      "---------------------------------------------------------------------\n"
      " #bytes     #iterations    BW average[Gb/sec]    MsgRate[Mpps]\n{}",
      gid, rows.empty() ? kError : rows);
}

/// Addresses of tests, and one flow at two places.
std::vector<Case> path_cases() {
  return {
      {"a test over link-local GIDs without an answer",
       tested("254:128:00:00:00:00:00:00:186:63:210:255:254:170:16:44", ""),
       {"gid.not_routable"},
       {}},
      {"a test over link-local GIDs within one subnet",
       tested("254:128:00:00:00:00:00:00:186:63:210:255:254:170:16:44",
              " 65536      100000           392.44             0.748\n"),
       {},
       {"gid.not_routable"}},
      {"a test over GIDs that route without an answer",
       tested("00:00:00:00:00:00:00:00:00:00:255:255:10:64:03:22", ""),
       {},
       {"gid.not_routable"}},
      {"a marking that is lost on the way",
       captured("0x6a", 64, 53312) + "3 packets captured\n\n" + captured("0x2", 61, 53312),
       {"dscp.rewritten"},
       {"dscp.unmarked"}},
      {"a site's own marking that is lost on the way",
       captured("0x2", 61, 53312) + captured("0x62", 64, 53312),
       {"dscp.rewritten"},
       {"dscp.unmarked"}},
      {"another flow without a mark",
       captured("0x6a", 64, 53312) + captured("0x2", 61, 53313),
       {"dscp.unmarked"},
       {"dscp.rewritten"}},
      {"a sender that lost its marking",
       captured("0x6a", 64, 53312) + captured("0x2", 64, 53312),
       {"dscp.unmarked"},
       {"dscp.rewritten"}},
      {"one marking at both ends",
       captured("0x6a", 64, 53312) + captured("0x6b", 61, 53312),
       {},
       {"dscp.unmarked", "dscp.rewritten"}},
  };
}

/// The machine, the kernel, packets, tests, jobs.
std::vector<Case> told_cases() {
  return {
      {"802.3x pause", data("paste/ethtool_a_pause_on.txt"), {"pause.global_on"}, {}},
      {"little memory to lock", "$ ulimit -l\n8192\n", {"limits.memlock_low"}, {}},
      {"all memory to lock", "$ ulimit -l\nunlimited\n", {}, {"limits.memlock_low"}},
      {"socket buffers", "net.core.rmem_max = 212992\n", {"host.tcp_untuned"}, {}},
      {"a link that flaps, a slot too small",
       data("paste/dmesg_flaps.txt"),
       {"link.flapping", "pcie.link_degraded", "pcie.errors"},
       {"nic.failed"}},
      {"firmware that died", data("paste/journal_firmware.txt"), {"nic.failed"}, {}},
      {"a module that did not load",
       "modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument\n",
       {"gdr.off"},
       {}},
      {"packets as they should be",
       data("paste/tcpdump_v.txt"),
       {},
       {"dscp.unmarked", "ecn.not_ect"}},
      {"packets without a mark",
       "12:00:00.0 IP (tos 0x0, ttl 64, id 1, offset 0, flags [DF], proto UDP (17), length 1084)\n"
       "    192.0.2.1.49476 > 192.0.2.2.4791: UDP, length 1056\n",
       {"dscp.unmarked"},
       {"ecn.not_ect"}},
      {"packets with 26 as the byte",
       "12:00:00.0 IP (tos 0x1a,ECT(0), ttl 64, id 1, proto UDP (17), length 1084)\n"
       "    192.0.2.1.49476 > 192.0.2.2.4791: UDP, length 1056\n",
       {"dscp.tos_confusion"},
       {}},
      {"packets that cannot be marked",
       "12:00:00.0 IP (tos 0x68, ttl 64, id 1, proto UDP (17), length 1084)\n"
       "    192.0.2.1.49476 > 192.0.2.2.4791: UDP, length 1056\n",
       {"ecn.not_ect"},
       {"dscp.unmarked"}},
      {"a test whose peer is gone",
       data("load/errors_stderr.composed.txt"),
       {"transport.retries_exhausted"},
       {}},
      {"a test with small packets",
       " RDMA_Write BW Test\n Dual-port       : OFF\t\tDevice         : mlx5_0\n"
       " Mtu             : 1024[B]\n",
       {"mtu.below_4096"},
       {}},
      {"a job that fell back to TCP",
       data("nccl/nccl_2.28.9_ib_hca_missing_socket_fallback.realrun.log"),
       {"nccl.socket_fallback"},
       {}},
  };
}

void expect_named(const std::vector<Case>& cases) {
  for (const Case& test : cases) {
    const finding::Judgement judgement = judged(test.text);
    std::string found;
    for (const finding::Finding& finding : judgement.findings)
      found += finding.id + " ";
    for (const std::string_view id : test.ids)
      EXPECT_TRUE(names(judgement, id)) << test.what << ": expected " << id << ", found " << found;
    for (const std::string_view id : test.not_ids)
      EXPECT_FALSE(names(judgement, id)) << test.what << ": found " << found;
    EXPECT_NE(judgement.conclusion, finding::Conclusion::kHealthy) << test.what;
  }
}

TEST(Pasted, ALoneOutputNamesItsFault) {
  COVERS("D8", "C11", "C8", "C3");
  expect_named(shown_cases());
}

TEST(Pasted, TheMachineThePacketsAndTheJobNameTheirFaults) {
  COVERS("C5", "C6", "E2", "I24");
  expect_named(told_cases());
}

TEST(Pasted, AddressesAndMarkingsOfAPathNameTheirFaults) {
  expect_named(path_cases());
}

TEST(Pasted, HostsThatDifferAreAFindingOfItsOwn) {
  COVERS("C2");
  const auto host = [](std::string_view name, std::string_view trust) {
    return fmt::format(
        "root@{}:~# mlnx_qos -i eth2\nDCBX mode: OS controlled\nPriority trust state: {}\n"
        "PFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n"
        "\tenabled     0   0   0   1   0   0   0   0\n",
        name, trust);
  };
  const std::string alike = host("gpu01", "dscp") + host("gpu02", "dscp");
  EXPECT_TRUE(names(judged(alike + host("gpu03", "pcp")), "fleet.drift"));
  EXPECT_FALSE(names(judged(alike + host("gpu03", "dscp")), "fleet.drift"));
}

TEST(Pasted, WhatWasNotPastedIsUnknownInOneLine) {
  const finding::Judgement judgement = judged(data("paste/show_gids.txt"));
  EXPECT_TRUE(judgement.findings.empty());
  EXPECT_EQ(judgement.conclusion, finding::Conclusion::kInconclusive);
  ASSERT_EQ(judgement.unknown.size(), 1U);
  EXPECT_EQ(judgement.unknown[0].check, "this host: what was not pasted");
  EXPECT_NE(judgement.unknown[0].reason.find("trust"), std::string::npos);
}

TEST(Pasted, NothingFromAConventionIsCertain) {
  for (const finding::Finding& finding : judged(data("paste/mlnx_qos_default.txt")).findings)
    EXPECT_LT(finding.confidence, finding::Confidence::kCertain) << finding.id;
}

/// The same all-reduce of 64 MiB, as all_reduce_perf prints it, in these microseconds.
std::string repeated(const std::vector<int>& microseconds) {
  std::string out =
      "# nThread 1 nGpus 1 minBytes 67108864 maxBytes 67108864 step: 2(factor) warmup iters: 5\n"
      "#       size         count      type   redop    root     time   algbw   busbw #wrong     "
      "time "
      "  algbw   busbw #wrong\n"
      "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            "
      "(us)"
      "  (GB/s)  (GB/s)\n";
  for (const int time : microseconds) {
    const std::string text = std::to_string(time);
    out += "    67108864      16777216     float     sum      -1   " + text +
           ".0   20.00   35.00      0   " + text + ".0   20.00   35.00      0\n";
  }
  return out + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 35.0\n";
}

TEST(Pasted, ACollectiveWhoseTimeVariesIsANoteOnLateMarking) {
  COVERS("I6");
  const finding::Judgement varies = judged(repeated({3300, 7100, 3400, 6900}));
  ASSERT_TRUE(names(varies, "ecn.thresholds_too_high"));
  const finding::Finding& note = varies.findings.front();
  EXPECT_EQ(note.severity, finding::Severity::kInfo) << "other jobs do it too";
  EXPECT_EQ(varies.conclusion, finding::Conclusion::kInconclusive);
  EXPECT_NE(note.verdict.find("4 runs"), std::string::npos) << note.verdict;
  EXPECT_FALSE(names(judged(repeated({3300, 3500, 3400, 3600})), "ecn.thresholds_too_high"));
  EXPECT_FALSE(names(judged(repeated({3300, 7100})), "ecn.thresholds_too_high"))
      << "two runs are a comparison of something";
}

TEST(Pasted, CombinedNamesAFaultOnceAndKeepsSuspicionsSuspicions) {
  finding::Judgement sure;
  finding::Where where;
  where.host = "gpu01";
  sure.findings.push_back(finding::Finding{.id = "pfc.off", .where = where});
  sure.conclusion = finding::Conclusion::kFindings;
  finding::Judgement told;
  told.findings.push_back(
      finding::Finding{.id = "pfc.off", .confidence = finding::Confidence::kLow});
  told.findings.push_back(
      finding::Finding{.id = "mtu.mismatch", .confidence = finding::Confidence::kLow});
  told.conclusion = finding::Conclusion::kInconclusive;
  const finding::Judgement both = combined(sure, told);
  ASSERT_EQ(both.findings.size(), 2U);
  EXPECT_EQ(both.findings[0].id, "pfc.off");
  EXPECT_EQ(both.findings[0].where.host, "gpu01");
  EXPECT_EQ(both.conclusion, finding::Conclusion::kFindings);
  EXPECT_EQ(combined(told, {}).conclusion, finding::Conclusion::kInconclusive);
}

finding::Judgement diagnosed(std::string_view text) {
  const readers::Paste paste = readers::read_paste({{"paste.txt", text}});
  std::vector<evidence::Evidence> pieces = paste.evidence;
  for (evidence::Evidence& config : pasted_configs(paste))
    pieces.push_back(std::move(config));
  const std::vector<evidence::Evidence> evidence = readers::merge_texts(std::move(pieces));
  const View view({evidence, nullptr, {}});
  return diagnose_paste(paste, view);
}

std::string loud(const finding::Judgement& judgement) {
  std::string out;
  for (const finding::Finding& finding : judgement.findings)
    if (finding.severity > finding::Severity::kInfo) out += finding.id + ": " + finding.verdict;
  return out;
}

/// Received by Et7/1 at 09:14:02 and `seconds` later.
std::string pauses_of_eos(unsigned first, unsigned second, std::string_view later,
                          std::string_view header = "Port RxPfc TxPfc") {
  return fmt::format(
      "leaf21#show clock\nWed Apr  8 09:14:02 2026\n"
      "leaf21#show priority-flow-control counters\n{0}\nEt6/1 17 210\nEt7/1 {1} 0\nEt8/1 22 198\n"
      "leaf21#show clock\nWed Apr  8 {3} 2026\n"
      "leaf21#show priority-flow-control counters\n{0}\nEt6/1 17 211\nEt7/1 {2} 0\nEt8/1 22 199\n",
      header, first, second, later);
}

TEST(Pasted, APortThatIsFloodedWithPausesIsFoundByItsRate) {
  COVERS("I1", "D4");
  const finding::Judgement storm = diagnosed(pauses_of_eos(9'120'441, 9'523'882, "09:14:32"));
  ASSERT_FALSE(storm.findings.empty());
  EXPECT_EQ(storm.findings[0].id, "pfc.storm") << loud(storm);
  EXPECT_EQ(storm.findings[0].severity, finding::Severity::kWarning);
  EXPECT_NE(storm.findings[0].verdict.find("13,448 per second"), std::string::npos)
      << storm.findings[0].verdict;
  // The same frames in ten minutes are a busy fabric.
  EXPECT_EQ(loud(diagnosed(pauses_of_eos(9'120'441, 9'523'882, "09:24:02"))), "");
  // And once they are a sum since an unknown time.
  const finding::Judgement once = diagnosed(
      "leaf02#show priority-flow-control counters\nPort RxPfc TxPfc\nEt1/1 0 0\nEt2/1 9182736 0\n"
      "Et3/1 0 412311\n");
  EXPECT_EQ(loud(once), "");
  EXPECT_EQ(once.conclusion, finding::Conclusion::kInconclusive);
  EXPECT_TRUE(names(once, "pfc.storm"));
  EXPECT_FALSE(names(diagnosed("Port RxPfc TxPfc\nEt1/1 12 0\nEt2/1 18 0\n"), "pfc.storm"));
}

TEST(Pasted, AWatchdogThatHoldsAnyQueueHasFoundAStorm) {
  COVERS("I1");
  constexpr std::string_view kStats =
      "admin@tor-9:~$ show pfcwd stats\n"
      "QUEUE  STATUS  STORM DETECTED/RESTORED  TX OK/DROP  RX OK/DROP\n"
      "Ethernet40:{0}  {1}  {2}  812/91  0/4\nEthernet44:{0}  operational  0/0  0/0  0/0\n";
  for (const unsigned queue : {3U, 4U, 5U}) {
    const finding::Judgement held =
        diagnosed(fmt::format(fmt::runtime(kStats), queue, "stormed", "18/17"));
    EXPECT_TRUE(loud(held).starts_with("pfc.storm")) << queue << loud(held);
    EXPECT_EQ(held.findings[0].where.priority, std::to_string(queue));
    EXPECT_EQ(loud(diagnosed(fmt::format(fmt::runtime(kStats), queue, "operational", "1/1"))), "")
        << "one reading of a storm that is over";
    EXPECT_EQ(loud(diagnosed(fmt::format(fmt::runtime(kStats), queue, "operational", "0/0"))), "");
  }
}

TEST(Pasted, APortWithoutPfcIsAFaultWhereItsRdmaQueueDrops) {
  COVERS("I15");
  const auto text = [](std::string_view drops, std::string_view oper) {
    return fmt::format(
        "lf3# show interface priority-flow-control\n"
        "Port               Mode Oper(VL bmap)  RxPPP      TxPPP\n"
        "Ethernet1/3        On   On  (8)       1204       88\n"
        "Ethernet1/5        {}           0          0\n"
        "lf3# show queuing interface ethernet 1/5\n"
        "Egress Queuing for Ethernet1/5 [System]\n"
        "|                              QOS GROUP 3                    |\n"
        "|                   Tx Pkts |      8172635441|               0|\n"
        "| WRED/AFD & Tail Drop Pkts |         {}|               0|\n",
        oper, drops);
  };
  EXPECT_TRUE(loud(diagnosed(text("1928374", "Auto Off"))).starts_with("pfc.off"));
  EXPECT_EQ(loud(diagnosed(text("0", "Auto Off"))), "") << "it may lead anywhere";
  EXPECT_EQ(loud(diagnosed(text("0", "On   On  (8)"))), "");
}

TEST(Pasted, ASiteWithAPlanOfItsOwnIsLeftInPeace) {
  COVERS("C1");
  const auto text = [](unsigned priority, unsigned tos) {
    std::string map;
    for (unsigned p = 0; p < 8; ++p)
      map += fmt::format("\tprio:{} dscp:{},{},{},{},{},{},{},{},\n", p, 8 * p + 7, 8 * p + 6,
                         8 * p + 5, 8 * p + 4, 8 * p + 3, 8 * p + 2, 8 * p + 1, 8 * p);
    std::string enabled = "\tenabled  ";
    for (unsigned p = 0; p < 8; ++p)
      enabled += p == priority ? "   1" : "   0";
    return fmt::format(
        "root@cn44:~# mlnx_qos -i eth4\nDCBX mode: OS controlled\nPriority trust state: dscp\n"
        "dscp2prio mapping:\n{}default priority:\nReceive buffer size (bytes): "
        "19872,243072,0,0,0,0,0,0,max_buffer_size=2097152\nCable len: 7\nPFC configuration:\n"
        "\tpriority    0   1   2   3   4   5   6   7\n{}\n"
        "root@cn44:~# cat /sys/class/infiniband/mlx5_4/tc/1/traffic_class\nGlobal tclass={}\n",
        map, enabled, tos);
  };
  EXPECT_EQ(loud(diagnosed(text(5, 186))), "");  // DSCP 46
  EXPECT_EQ(loud(diagnosed(text(4, 136))), "");  // DSCP 34
  EXPECT_EQ(loud(diagnosed(text(3, 106))), "");  // the usual one
  EXPECT_NE(loud(diagnosed(text(5, 106))), "") << "DSCP 26 leaves in priority 3, PFC is on 5";
  EXPECT_NE(loud(diagnosed(text(3, 186))), "") << "DSCP 46 leaves in priority 5, PFC is on 3";
}

std::string mlnx_qos_text(unsigned protected_priority) {
  std::string map;
  for (unsigned p = 0; p < 8; ++p)
    map += fmt::format("\tprio:{} dscp:{},{},{},{},{},{},{},{},\n", p, 8 * p + 7, 8 * p + 6,
                       8 * p + 5, 8 * p + 4, 8 * p + 3, 8 * p + 2, 8 * p + 1, 8 * p);
  std::string enabled = "\tenabled  ";
  for (unsigned p = 0; p < 8; ++p)
    enabled += p == protected_priority ? "   1" : "   0";
  return fmt::format(
      "root@cn44:~# mlnx_qos -i eth4\nDCBX mode: OS controlled\nPriority trust state: dscp\n"
      "dscp2prio mapping:\n{}default priority:\nPFC configuration:\n"
      "\tpriority    0   1   2   3   4   5   6   7\n{}\n",
      map, enabled);
}

TEST(Pasted, PfcOnAnotherPriorityIsAnErrorOnlyWhereTheTextSaysWhatRdmaUses) {
  const auto job = [](unsigned tc) {
    return fmt::format("root@cn44:~# env | grep NCCL\nNCCL_IB_TC={}\nNCCL_DEBUG=INFO\n", tc);
  };
  EXPECT_EQ(loud(diagnosed(mlnx_qos_text(4))), "");
  EXPECT_EQ(loud(diagnosed(mlnx_qos_text(5))), "");
  EXPECT_EQ(loud(diagnosed(mlnx_qos_text(4) + job(136))), "");  // DSCP 34
  const std::string wrong = loud(diagnosed(mlnx_qos_text(4) + job(106)));
  EXPECT_TRUE(wrong.starts_with("pfc.wrong_priority: ")) << wrong;
  EXPECT_EQ(wrong.find("instead of"), std::string::npos) << wrong;
  const std::string cm = "root@cn44:~# cma_roce_tos -d mlx5_4\n";
  EXPECT_EQ(loud(diagnosed(mlnx_qos_text(4) + cm + "136\n")), "");
}

/// `show running-config ipqos` with RoCE in one qos-group and pauses for another or the same.
std::string nxos_text(unsigned roce_group, unsigned paused_group, unsigned pfc_cos,
                      std::string_view match = "dscp 26") {
  return fmt::format(
      "leaf7# show interface priority-flow-control interface ethernet 1/9\n"
      "Port               Mode Oper(VL bmap)  RxPPP      TxPPP\n"
      "Ethernet1/9        On   On   ({:x})      0          0\n"
      "leaf7# show running-config ipqos\n"
      "class-map type qos match-all ROCE\n  match {}\n"
      "class-map type qos match-all CNP\n  match dscp 48\n"
      "policy-map type qos QOS_IN\n  class ROCE\n    set qos-group {}\n"
      "  class CNP\n    set qos-group 7\n  class class-default\n    set qos-group 0\n"
      "policy-map type network-qos LOSSLESS\n"
      "  class type network-qos c-8q-nq{}\n    mtu 9216\n    pause pfc-cos {}\n"
      "interface Ethernet1/9\n  priority-flow-control mode on\n"
      "  service-policy type qos input QOS_IN\n",
      1U << pfc_cos, match, roce_group, paused_group, pfc_cos);
}

TEST(Pasted, TheClassOfRoceOnASwitchSaysWhichPriorityRdmaUses) {
  EXPECT_EQ(loud(diagnosed(nxos_text(3, 3, 3))), "");
  EXPECT_EQ(loud(diagnosed(nxos_text(4, 4, 4))), "");
  const std::string wrong = loud(diagnosed(nxos_text(3, 4, 4)));
  EXPECT_TRUE(wrong.starts_with("pfc.wrong_priority: ")) << wrong;
  EXPECT_NE(loud(diagnosed(nxos_text(4, 3, 3))), "");
  // Nothing is said where the numbers or the matches of the policy are not understood.
  EXPECT_EQ(loud(diagnosed(nxos_text(3, 3, 4))), "");
  EXPECT_EQ(loud(diagnosed(nxos_text(3, 4, 4, "access-group name ROCE"))), "");
}

TEST(Pasted, APortThatTrustsTheTagAmongOthersIsAFault) {
  COVERS("C7");
  const auto config = [](std::string_view port, std::string_view trust, std::string_view pfc) {
    return fmt::format(
        "leaf2#show running-config interfaces {0}\ninterface {0}\n   mtu 9214\n   no switchport\n"
        "   ip address 10.40.4.1/31\n   qos trust {1}\n{2}",
        port, trust, pfc);
  };
  constexpr std::string_view kPfc =
      "   priority-flow-control on\n   priority-flow-control priority 3 no-drop\n";
  EXPECT_TRUE(loud(diagnosed(config("Ethernet4/1", "cos", kPfc)))
                  .starts_with("trust.not_dscp: leaf2 Ethernet4/1 trusts pcp"));
  EXPECT_TRUE(loud(diagnosed(config("Ethernet4/1", "cos", "") + config("Ethernet5/1", "dscp", "")))
                  .starts_with("trust.not_dscp"));
  EXPECT_EQ(loud(diagnosed(config("Ethernet4/1", "dscp", kPfc))), "");
  EXPECT_EQ(loud(diagnosed(config("Ethernet4/1", "cos", ""))), "") << "it may be for anything";
  // A piece says nothing of what it does not show.
  EXPECT_EQ(loud(diagnosed("leaf2#show running-config interfaces Ethernet4/1\n"
                           "interface Ethernet4/1\n   no switchport\n   qos trust dscp\n")),
            "");
  EXPECT_EQ(loud(diagnosed("n9k# show running-config interface Ethernet1/9\n"
                           "interface Ethernet1/9\n  priority-flow-control mode on\n"
                           "  service-policy type qos input QOS_IN\n")),
            "");
}

TEST(Pasted, TheRdmaQueueThatDropsWhileItIsWatchedIsAFault) {
  COVERS("D4");
  const auto queue = [](unsigned number, unsigned rate) {
    return fmt::format(
        "ops@qfx1> show interfaces queue et-0/0/7\nPhysical interface: et-0/0/7, Enabled, Physical "
        "link is Up\nQueue: {}, Forwarding classes: x\n  Transmitted:\n"
        "    Packets              :  99122312231   8880221 pps\n"
        "    Tail-dropped packets :      1000000   {} pps\n",
        number, rate);
  };
  EXPECT_TRUE(loud(diagnosed(queue(3, 11000))).starts_with("pfc.off: qfx1 et-0/0/7 dropped"));
  EXPECT_EQ(loud(diagnosed(queue(3, 0))), "") << "a sum since an unknown time";
  EXPECT_EQ(loud(diagnosed(queue(0, 11000))), "") << "a lossy queue drops";
}

TEST(Pasted, UplinksThatAreFullOrIdleAmongPortsOfHosts) {
  COVERS("I4");
  const auto rates = [](std::string_view second, std::string_view received) {
    return fmt::format(
        "l4#show interfaces counters rates\n"
        "Port      Name   Intvl   In Mbps      %  In Kpps  Out Mbps      %  Out Kpps\n"
        "Et1/1     h1      5:00   98100.0  24.5%     2920   97110.0  24.3%      2900\n"
        "Et31/1    sp1     5:00   97000.0  24.3%     2910  388110.2  97.0%     11680\n"
        "Et32/1    sp2     5:00   98000.0  {1}%     2912    4011.7   {0}%       121\n"
        "Et33/1    sp3     5:00   97700.0  24.4%     2911  392201.0  98.0%     11802\n"
        "Et34/1    sp4     5:00   97400.0  {1}%     2911    4120.0   {0}%       124\n",
        second, received);
  };
  EXPECT_TRUE(loud(diagnosed(rates("1.0", "24.5"))).starts_with("ecmp.imbalance"));
  EXPECT_EQ(loud(diagnosed(rates("88.0", "24.5"))), "");
  EXPECT_EQ(loud(diagnosed(rates("1.0", "0.1"))), "") << "ports that nobody uses";
}

TEST(Pasted, ReceiveErrorsOfTheKernelCountWhereTheyGrow) {
  const auto link = [](unsigned errors) {
    return fmt::format(
        "7: eth2: <BROADCAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP\n    RX:  bytes packets "
        "errors "
        "dropped  missed   mcast\n     812331223  912331    {}       1       0    8812\n",
        errors);
  };
  const std::string command = "n2# ip -s link show eth2\n";
  EXPECT_TRUE(loud(diagnosed(command + link(120) + command + link(81120)))
                  .starts_with("link.physical_errors"));
  EXPECT_EQ(loud(diagnosed(command + link(120) + command + link(120))), "");
  EXPECT_EQ(loud(diagnosed(command + link(81120))), "");
}

TEST(Pasted, AListOfMappedCodePointsSaysNothingOfTheOthers) {
  const std::string pfc =
      "# dcb pfc show dev eth3\nprio-pfc 0:off 1:off 2:off 3:on 4:off 5:off "
      "6:off 7:off\n# dcb app show dev eth3 dscp-prio\n";
  EXPECT_EQ(loud(diagnosed(pfc + "dscp-prio 24:3 26:3 48:6\n")), "");
  EXPECT_TRUE(loud(diagnosed(pfc + "dscp-prio 26:2 48:6\n")).starts_with("dscp.nic_map_wrong"));
}

TEST(Pasted, OutputsWithoutAFaultShowNothingWrong) {
  const auto is_clean = [](std::string_view text) {
    const readers::Paste paste = readers::read_paste({{"paste.txt", text}});
    return shows_nothing_wrong(paste, diagnosed(text));
  };
  const std::string good = data("paste/mlnx_qos_recipe.txt");
  EXPECT_TRUE(is_clean(good));
  EXPECT_TRUE(is_clean("Is this right?\n\n" + good));
  EXPECT_FALSE(is_clean(data("paste/mlnx_qos_default.txt"))) << "findings";
  EXPECT_FALSE(is_clean("The weather is fine and no port is down.\n")) << "nothing was read";
  EXPECT_FALSE(is_clean(good + "\nThe job fails with a timeout.\n"));
  EXPECT_FALSE(is_clean(tested("00:00:00:00:00:00:00:00:00:00:255:255:10:64:03:22", "")))
      << "a test without an answer";
}

TEST(Pasted, FecIsNeverOffAt400Gigabit) {
  COVERS("C4");
  const auto link = [](std::string_view fec, int speed) {
    return fmt::format(
        "# ethtool --show-fec eth3\nFEC parameters for eth3:\nActive FEC encoding: "
        "{}\n# ethtool eth3 | grep -i speed\n\tSpeed: {}Mb/s\n",
        fec, speed);
  };
  EXPECT_TRUE(loud(diagnosed(link("None", 400000))).starts_with("fec.wrong"));
  EXPECT_EQ(loud(diagnosed(link("RS", 400000))), "");
  EXPECT_EQ(loud(diagnosed(link("None", 100000))), "") << "four lanes of 25 Gb/s may do without";
}

TEST(Pasted, AMapThatIsCutOffIsNotWrong) {
  const std::string head =
      "Priority trust state: dscp\ndscp2prio mapping:\n"
      "\tprio:0 dscp:07,06,05,04,03,02,01,00,\n";
  EXPECT_EQ(loud(diagnosed(head)), "");
  EXPECT_EQ(loud(diagnosed(head + "\tprio:5 dscp:47,46,45,44,43,42,41,40,\nPFC configuration:\n"
                                  "\tenabled     0   0   0   0   0   1   0   0\n"
                                  "n1# cat /sys/class/infiniband/mlx5_0/tc/1/traffic_class\n"
                                  "Global tclass=160\n")),
            "");
}

TEST(Pasted, ErrorsOfSonicPortsAndDropsOfClassesCountWhereTheyGrow) {
  const auto table = [](std::string_view errors) {
    return fmt::format(
        "t5:~$ show interfaces counters\nIFACE STATE RX_OK RX_BPS RX_UTIL RX_ERR TX_OK\n"
        "Ethernet0 U 812,331 200.1 MB/s 0.40% {} 712\n",
        errors);
  };
  EXPECT_TRUE(loud(diagnosed(table("10,233") + table("88,233"))).starts_with("link.physical"));
  EXPECT_EQ(loud(diagnosed(table("10,233"))), "");
  const auto discards = [](unsigned packets) {
    return fmt::format(
        "b7# ethtool -S ens5np0\n     rx_bytes_pri3: 5\n"
        "     rx_discard_packets_cos3: {}\n",
        packets);
  };
  EXPECT_TRUE(loud(diagnosed(discards(1) + discards(812331))).starts_with("port.discards"));
  EXPECT_EQ(loud(diagnosed(discards(812331))), "");
}

TEST(Pasted, WhatIsMeantToBeIsNoFault) {
  const std::string counted =
      "gpu1# for c in out_of_sequence packet_seq_err local_ack_timeout_err; do echo $c $(cat "
      "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/$c); done\n"
      "out_of_sequence 1000000\npacket_seq_err 0\nlocal_ack_timeout_err 0\n"
      "gpu1# sleep 60; same again\n"
      "out_of_sequence 9000000\npacket_seq_err 0\nlocal_ack_timeout_err 0\n";
  const std::string routed =
      "gpu1# mlxconfig -d mlx5_0 q ROCE_ADAPTIVE_ROUTING_EN | grep ADAPT\n"
      "         ROCE_ADAPTIVE_ROUTING_EN                    True(1)\n";
  EXPECT_EQ(loud(diagnosed(routed + counted)), "") << "adaptive routing reorders by design";
  EXPECT_TRUE(loud(diagnosed(counted)).starts_with("path.reordering"));

  const std::string host =
      "root@gpu1:~# mlnx_qos -i eth0 | grep -A2 \"PFC conf\"\nPFC configuration:\n"
      "\tpriority    0   1   2   3   4   5   6   7\n"
      "\tenabled     0   0   0   0   0   0   0   0\n";
  const auto mode = [](const std::string& word) {
    return "cumulus@leaf1:mgmt:~$ nv show qos roce | head -4\nenable   on\nmode   " + word + "   " +
           word + "   Roce Mode\ncongestion-control\n";
  };
  EXPECT_EQ(loud(diagnosed(mode("lossy") + host)), "") << "a lossy fabric on purpose";
  EXPECT_TRUE(loud(diagnosed(mode("lossless") + host)).starts_with("pfc.off"));
}

TEST(Pasted, ALinkThatComesUpAtBootDidNotFlap) {
  const auto log = [](const std::string& down, const std::string& up) {
    return "[" + down + "] mlx5_core 0000:18:00.0 rail0: Link down\n[" + up +
           "] mlx5_core 0000:18:00.0 rail0: Link up\n";
  };
  EXPECT_EQ(loud(diagnosed(log("   14.220114", "   18.931770"))), "");
  EXPECT_TRUE(loud(diagnosed(log("86414.220114", "86418.931770"))).starts_with("link.flapping"));
}

TEST(Pasted, APingBeyondTheJumboFrameIsMeantToFail) {
  const auto pings = [](const std::string& passes, const std::string& fails) {
    return "$ ping -M do -s " + passes + " -c 1 10.10.1.15\nPING 10.10.1.15 (10.10.1.15) " +
           passes +
           "(1) bytes of data.\n1 packets transmitted, 1 received, 0% packet loss, time 0ms\n"
           "$ ping -M do -s " +
           fails + " -c 1 10.10.1.15\nPING 10.10.1.15 (10.10.1.15) " + fails +
           "(1) bytes of data.\nping: local error: message too long, mtu=9000\n"
           "1 packets transmitted, 0 received, +1 errors, 100% packet loss, time 0ms\n";
  };
  EXPECT_EQ(loud(diagnosed(pings("8972", "8973"))), "");
  EXPECT_TRUE(loud(diagnosed(pings("1472", "8972"))).starts_with("mtu.mismatch"));
}

TEST(Pasted, AMistakeInARunbookIsNotASetting) {
  EXPECT_EQ(loud(diagnosed("Typical mistakes we have seen over the years:\n\n"
                           "1. `NCCL_IB_TC=26` instead of 104/106. TC is the TOS byte.\n"
                           "2. MTU 1500 on one leaf port.\n")),
            "");
  EXPECT_TRUE(loud(diagnosed("export NCCL_IB_TC=26\nexport NCCL_IB_HCA=mlx5_0\n"))
                  .starts_with("dscp.tos_confusion"));
}

TEST(Pasted, APortWithoutPfcThatDropsAmongSistersWithIt) {
  COVERS("D4");
  const auto pfc = [](std::string_view second, std::string_view third) {
    return fmt::format(
        "leaf12# show interface priority-flow-control | i \"Port|1/47|1/48|1/49\"\n"
        "Port               Mode Oper(VL bmap)  RxPPP      TxPPP\n"
        "Ethernet1/47       On   On  (8)       22188      40192\n"
        "Ethernet1/48       {}       21873      39904\n"
        "Ethernet1/49       {}       0          0\n",
        second, third);
  };
  const auto drops = [](unsigned packets) {
    return fmt::format(
        "leaf12# show queuing interface ethernet 1/49 | i \"Ingress MMU\"\n"
        "Ingress MMU Drop Pkts      {}\nIngress MMU Drop Bytes     21722447746\n",
        packets);
  };
  const std::string odd = pfc("On   On  (8)", "Auto Off");
  const std::string said = loud(diagnosed(odd + drops(5219233) + drops(5304871)));
  EXPECT_TRUE(said.starts_with("pfc.off: leaf12 Ethernet1/49 dropped 85,638 packets")) << said;
  EXPECT_EQ(said.find("port.discards"), std::string::npos) << said;
  EXPECT_EQ(loud(diagnosed(odd + drops(5219233))), "") << "a sum since an unknown time";
  EXPECT_EQ(loud(diagnosed(odd + drops(5219233) + drops(5219233))), "") << "it drops no more";
  EXPECT_EQ(loud(diagnosed(odd)), "") << "a port that may carry no RDMA";
  EXPECT_FALSE(names(
      diagnosed(pfc("On   On  (8)", "On   On  (8)") + drops(5219233) + drops(5304871)), "pfc.off"));
  EXPECT_FALSE(
      names(diagnosed(pfc("Auto Off", "Auto Off") + drops(5219233) + drops(5304871)), "pfc.off"))
      << "which of them is meant to have PFC nobody says";
}

}  // namespace
}  // namespace weir::diagnose
