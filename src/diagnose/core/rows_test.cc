// Every row of the mission's table of symptoms, as a case made by hand: what makes its rule speak,
// and the nearest case that must not. A case is given by its counters; what is said of it is the
// first finding's id and place, or the conclusion.
#include "base/testing.h"
#include "diagnose/core/made_case.h"
#include "diagnose/rules/rule.h"
#include "finding/catalog.h"
#include "finding/shown.h"

namespace weir::diagnose {
namespace {

using evidence::Fact;

struct RowCase {
  std::string_view row;
  std::string_view what;
  void (*make)(MadeCase&);
  std::string_view said;
  std::string_view place = {};  // host or switch; empty = not asked
};

/// Two leaves and two spines, one host per leaf, with what each leaf's cables carried.
struct Carried {
  std::uint64_t from_host = 50'000'000;
  std::uint64_t up[2] = {25'000'000, 25'000'000};
  std::uint64_t down[2] = {25'000'000, 25'000'000};
};

void two_tiers(MadeCase& made, const Carried& leaf1) {
  made.host("gpu01");
  made.host("gpu02");
  for (int leaf = 1; leaf <= 2; ++leaf) {
    const std::string name = "leaf" + std::to_string(leaf);
    const Carried carried = leaf == 1 ? leaf1 : Carried();
    made.port_of(name, "swp1", "gpu0" + std::to_string(leaf), "mlx5_0",
                 {{"switch/port.rx.bytes", carried.from_host},
                  {"switch/port.tx.bytes", carried.from_host},
                  {"switch/port.drop.packets", 0}});
    for (int spine = 1; spine <= 2; ++spine) {
      const auto at = static_cast<std::size_t>(spine - 1);
      const std::string peer = "spine" + std::to_string(spine);
      made.port_of(name, "swp" + std::to_string(8 + spine), peer, "swp" + std::to_string(leaf),
                   {{"switch/port.tx.bytes", carried.up[at]},
                    {"switch/port.rx.bytes", carried.down[at]},
                    {"switch/port.drop.packets", 0}})
          .up = Fact<bool>::of(true);
      made.port_of(peer, "swp" + std::to_string(leaf), name, "swp" + std::to_string(8 + spine),
                   {{"switch/port.tx.bytes", carried.down[at]},
                    {"switch/port.rx.bytes", carried.up[at]},
                    {"switch/port.drop.packets", 0}});
    }
  }
}

const RowCase kCases[] = {
    {"I4", "two tiers with one seed hash alike",
     [](MadeCase& made) {
       two_tiers(made, {});
       for (const char* name : {"leaf1", "leaf2", "spine1", "spine2"})
         made.device(name).ecmp_seed = Fact<unsigned>::of(7);
     },
     "ecmp.same_seed"},
    {"I4", "a seed a switch is as it should be",
     [](MadeCase& made) {
       two_tiers(made, {});
       unsigned seed = 0;
       for (const char* name : {"leaf1", "leaf2", "spine1", "spine2"})
         made.device(name).ecmp_seed = Fact<unsigned>::of(++seed);
     },
     "healthy"},
    {"I5", "what came down goes up again to another spine",
     [](MadeCase& made) {
       two_tiers(made, {.up = {5'000'000, 80'000'000}, .down = {60'000'000, 25'000'000}});
     },
     "routing.cyclic_buffer_dependency", "leaf1"},
    {"I5", "what came down goes back to where it came from",
     [](MadeCase& made) {
       two_tiers(made, {.up = {400'000'000, 1'000'000}, .down = {400'000'000, 1'000'000}});
     },
     "routing.loop", "leaf1"},
    {"I5", "up once and down once is a Clos", [](MadeCase& made) { two_tiers(made, {}); },
     "healthy"},
    {"I9", "timeouts without another cause are loss",
     [](MadeCase& made) {
       made.host("gpu01", {{"hw_counters/local_ack_timeout_err", 4}});
     },
     "path.loss", "gpu01"},
    {"I9", "timeouts beside drops in headroom are the headroom's",
     [](MadeCase& made) {
       made.host("gpu01", {{"hw_counters/local_ack_timeout_err", 4}});
       made.port("swp1", "gpu01", "mlx5_0", {{"switch/pg3.drop_headroom.packets", 9}});
     },
     "headroom.too_small", "leaf1"},
    {"I13", "some CNPs ignored: off for that priority",
     [](MadeCase& made) {
       made.host("gpu01",
                 {{"hw_counters/rp_cnp_handled", 100}, {"hw_counters/rp_cnp_ignored", 60}});
     },
     "rp.disabled", "gpu01"},
    {"I13", "a handful ignored is nothing",
     [](MadeCase& made) {
       made.host("gpu01", {{"hw_counters/rp_cnp_handled", 900}, {"hw_counters/rp_cnp_ignored", 6}});
     },
     "healthy"},
    {"I15", "the NIC takes none of its switch's pauses",
     [](MadeCase& made) {
       made.host("gpu01");
       made.port("swp1", "gpu01", "mlx5_0",
                 {{"switch/prio3.pause_tx.frames", 90}, {"switch/queue3.ecn_marked.packets", 900}});
     },
     "pfc.off", "gpu01"},
    {"I15", "the NIC takes them",
     [](MadeCase& made) {
       made.host("gpu01", {{"ethtool/rx_prio3_pause", 90}});
       made.port("swp1", "gpu01", "mlx5_0",
                 {{"switch/prio3.pause_tx.frames", 90}, {"switch/queue3.ecn_marked.packets", 900}});
     },
     "healthy"},
    {"I14", "left in priority 3, arrived in another",
     [](MadeCase& made) {
       made.host("gpu01", {{"ethtool/rx_prio3_bytes", 0}, {"ethtool/rx_prio0_bytes", 50'000'000}});
       made.host("gpu02", {{"ethtool/rx_prio3_bytes", 0}, {"ethtool/rx_prio0_bytes", 50'000'000}});
     },
     "dscp.rewritten"},
    {"I17", "out of order, and nobody dropped",
     [](MadeCase& made) {
       two_tiers(made, {});
       made.host("gpu03", {{"hw_counters/out_of_sequence", 700}});
     },
     "path.reordering", "gpu03"},
    {"I17", "one host alone: what was requested again came twice",
     [](MadeCase& made) {
       made.host("gpu01",
                 {{"hw_counters/out_of_sequence", 700}, {"hw_counters/duplicate_request", 300}});
     },
     "path.reordering", "gpu01"},
    {"I17", "out of order and never twice is loss",
     [](MadeCase& made) {
       made.host("gpu01",
                 {{"hw_counters/out_of_sequence", 700}, {"hw_counters/duplicate_request", 0}});
     },
     "path.loss", "gpu01"},
    {"I17", "sprayed to NICs that mind",
     [](MadeCase& made) {
       two_tiers(made, {});
       made.pieces()[0].nics[0].rdma.out_of_order = Fact<bool>::of(false);
       made.device("leaf1").load_balancing = Fact<std::string>::of("spray");
     },
     "path.reordering", "leaf1"},
    {"I17", "sprayed to NICs that do not",
     [](MadeCase& made) {
       two_tiers(made, {});
       made.pieces()[0].nics[0].rdma.out_of_order = Fact<bool>::of(true);
       made.device("leaf1").load_balancing = Fact<std::string>::of("spray");
     },
     "healthy"},
    {"I18", "symbol errors of the InfiniBand tree",
     [](MadeCase& made) {
       made.host("gpu01", {{"counters/symbol_error", 12}});
     },
     "link.physical_errors", "gpu01"},
    {"I18", "link error recoveries",
     [](MadeCase& made) {
       made.host("gpu01", {{"counters/link_error_recovery", 2}});
     },
     "link.physical_errors", "gpu01"},
    {"I18", "link_downed",
     [](MadeCase& made) {
       made.host("gpu01", {{"counters/link_downed", 1}});
     },
     "link.flapping", "gpu01"},
    {"I19", "both ends: one refused, the other was notified",
     [](MadeCase& made) {
       made.host("gpu01", {{"hw_counters/rnr_nak_retry_err", 9}});
       made.host("gpu02", {{"hw_counters/out_of_buffer", 10}});
     },
     "app.receives_too_few", "gpu02"},
    {"I19", "the sender alone: its peer is meant",
     [](MadeCase& made) {
       made.host("gpu01", {{"hw_counters/rnr_nak_retry_err", 9}});
     },
     "app.receives_too_few", "gpu01"},
    {"I20", "the buffer towards PCIe overflows and the NIC pauses",
     [](MadeCase& made) {
       made.host("gpu01");
       made.host("gpu02", {{"ethtool/outbound_pci_buffer_overflow", 800},
                           {"ethtool/tx_prio3_pause", 900},
                           {"ethtool/tx_prio3_pause_duration", 4000}});
     },
     "receiver.slow", "gpu02"},
    {"I20", "excessive_buffer_overrun",
     [](MadeCase& made) {
       made.host("gpu01", {{"counters/excessive_buffer_overrun_errors", 3}});
     },
     "receiver.slow", "gpu01"},
    {"I20", "PCIe stalls that nobody noticed",
     [](MadeCase& made) {
       made.host("gpu01", {{"ethtool/outbound_pci_stalled_wr_events", 3}});
     },
     "healthy"},
    {"I26", "one leaf with an uplink down",
     [](MadeCase& made) {
       two_tiers(made, {});
       for (evidence::SwitchPort& port : made.device("leaf1").ports)
         if (port.name == "swp9") port.speed = Fact<BitRate>::of(10_Gbps);
     },
     "leaf.uplink_bottleneck", "leaf1"},
    {"I26", "all leaves alike", [](MadeCase& made) { two_tiers(made, {}); }, "healthy"},
    {"I27", "connections begin again at the bottom",
     [](MadeCase& made) {
       made.host("gpu01", {{"hw_counters/roce_slow_restart", 400}});
     },
     "congestion.sustained", "gpu01"},
    {"I27", "a few restarts are a burst's",
     [](MadeCase& made) {
       made.host("gpu01", {{"hw_counters/roce_slow_restart", 3}});
     },
     "healthy"},
    {"I28", "sent again, and loss shows nowhere",
     [](MadeCase& made) {
       made.host("gpu01", {{"hw_counters/roce_adp_retrans", 30}});
     },
     "path.loss", "gpu01"},
    {"I28", "sent again, nobody asked, no switch dropped: the timer",
     [](MadeCase& made) {
       made.host("gpu01", {{"hw_counters/roce_adp_retrans", 30}});
       made.port("swp1", "gpu01", "mlx5_0", {{"switch/port.drop.packets", 0}});
     },
     "transport.timer_below_rtt", "gpu01"},
    {"I29", "port_xmit_discards",
     [](MadeCase& made) {
       made.host("gpu01", {{"counters/port_xmit_discards", 5}});
     },
     "port.discards", "gpu01"},
    {"I29", "port_rcv_errors",
     [](MadeCase& made) {
       made.host("gpu01", {{"counters/port_rcv_errors", 5}});
     },
     "port.discards", "gpu01"},
    {"I29", "a switch port drops and gives no reason",
     [](MadeCase& made) {
       made.host("gpu01");
       made.port("swp1", "gpu01", "mlx5_0", {{"switch/port.drop.packets", 5}});
     },
     "port.discards", "leaf1"},
    {"I29", "a switch port drops of a lossy class",
     [](MadeCase& made) {
       made.host("gpu01");
       made.port("swp1", "gpu01", "mlx5_0",
                 {{"switch/port.drop.packets", 5}, {"switch/queue0.drop_tail.packets", 5}});
     },
     "healthy"},
};

TEST(Rows, EachSymptomIsNamedAndItsNeighbourIsNot) {
  COVERS("I4", "I5", "I9", "I13", "I14", "I15", "I17", "I18", "I19", "I20", "I26", "I27", "I28",
         "I29");
  for (const RowCase& known : kCases) {
    SCOPED_TRACE(std::string(known.row) + ": " + std::string(known.what));
    MadeCase made;
    known.make(made);
    const finding::Judgement judgement = made.judge();
    EXPECT_EQ(made.said(), known.said)
        << (judgement.findings.empty() ? "" : judgement.findings.front().verdict)
        << (judgement.unknown.empty() ? "" : judgement.unknown.front().reason);
    if (judgement.findings.empty() || known.place.empty()) continue;
    const finding::Where& where = judgement.findings.front().where;
    EXPECT_TRUE(where.host == known.place || where.switch_name == known.place)
        << finding::to_text(where);
  }
}

/// Leaves with a host each, two spines, four cables between each two of them. The spines send on
/// these cables only, counted from 0: to all leaves alike, or to each its own.
void bundles(MadeCase& made, bool is_alike, int leaves = 4, std::uint64_t arrived = 0) {
  for (int leaf = 1; leaf <= leaves; ++leaf) {
    const std::string name = "leaf" + std::to_string(leaf);
    const std::string host = "gpu0" + std::to_string(leaf);
    made.host(host);
    made.port_of(name, "swp1", host, "mlx5_0", {{"switch/port.tx.packets", 9000}});
    for (int spine = 1; spine <= 2; ++spine) {
      const std::string above = "spine" + std::to_string(spine);
      for (int cable = 0; cable < 4; ++cable) {
        const std::string up = "up" + std::to_string(spine) + std::to_string(cable);
        const std::string down = "down" + std::to_string(leaf) + std::to_string(cable);
        const bool is_used = cable == (is_alike ? spine : leaf - 1);
        made.port_of(name, up, above, down, {{"switch/port.tx.packets", 2000}});
        made.port_of(above, down, name, up,
                     {{"switch/port.tx.packets", is_used ? 4000U : 0U},
                      {"switch/port.rx.packets", arrived}});
      }
    }
  }
}

TEST(Rows, SwitchesThatLeaveTheSameCablesIdleToAllHashAlike) {
  COVERS("I4");
  const auto says_polarised = [](bool is_alike, int leaves = 4, std::uint64_t arrived = 0) {
    MadeCase made;
    bundles(made, is_alike, leaves, arrived);
    const finding::Judgement judgement = made.judge();
    return finding::is_raised(judgement.findings, "ecmp.polarised");
  };
  EXPECT_TRUE(says_polarised(true));
  EXPECT_FALSE(says_polarised(false)) << "each leaf over a cable of its own is chance";
  EXPECT_FALSE(says_polarised(true, 2)) << "two bundles alike are chance";
  EXPECT_TRUE(says_polarised(true, 2, 1000)) << "eight cables brought traffic, one took it all";
}

/// A window of two seconds in which the busiest line was used for a few percent.
finding::Judgement idle_line(std::uint64_t cnps, std::uint64_t pauses, std::int64_t window_ns) {
  MadeCase made;
  made.host("gpu01", {{"hw_counters/rp_cnp_handled", cnps}, {"ethtool/rx_prio3_pause", pauses}})
      .nics[0]
      .link.speed = Fact<BitRate>::of(100_Gbps);
  made.pieces()[0].snapshots[1].clock_ns = window_ns;
  return made.judge();
}

TEST(Rows, SendersToldToSlowDownOnEmptyLinesMayBeHeldBackByDcqcn) {
  COVERS("I10");
  constexpr std::int64_t kTwoSeconds = 2'000'000'000;
  const finding::Judgement slow = idle_line(5000, 0, kTwoSeconds);
  ASSERT_FALSE(slow.findings.empty());
  EXPECT_EQ(slow.findings.front().id, "dcqcn.too_conservative");
  EXPECT_EQ(slow.findings.front().severity, finding::Severity::kInfo)
      << "a job that computes between its messages looks the same";
  EXPECT_TRUE(idle_line(0, 0, kTwoSeconds).findings.empty()) << "nobody told it to slow down";
  EXPECT_TRUE(idle_line(5000, 9, kTwoSeconds).findings.empty()) << "PFC held it back";
}

TEST(Rows, EveryRowOfTheTableHasARule) {
  COVERS("I1");
  const auto has = [](std::string_view row) {
    for (const Rule& rule : rules())
      if (rule.name == row) return true;
    for (const finding::CatalogEntry& entry : finding::catalog())
      for (const std::string_view name : entry.rows)
        if (name == row) return true;
    return false;
  };
  for (int row = 1; row <= 29; ++row)
    EXPECT_TRUE(has("I" + std::to_string(row))) << row;
}

TEST(Thresholds, ACallersNumberIsTheOneThatDecides) {
  COVERS("I1");
  MadeCase made;
  made.host("gpu01", {{"ethtool/tx_prio3_pause", 40}, {"ethtool/tx_prio3_pause_duration", 400}});
  Thresholds lenient;
  lenient.pause_warning = 0.1;
  EXPECT_EQ(made.judge().conclusion, finding::Conclusion::kFindings);
  EXPECT_EQ(made.judge(lenient).conclusion, finding::Conclusion::kHealthy);
}

}  // namespace
}  // namespace weir::diagnose
