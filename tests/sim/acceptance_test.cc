// The acceptance tests of fabrics with PFC (theory §6: A12-A15, A17-A19), each for more rates,
// sizes and counts than are printed there.
#include <algorithm>
#include <memory>
#include <vector>

#include "base/testing.h"
#include "sim/engine/sim.h"
#include "sim/fabric/test_networks.h"
#include "sim/results/fidelity.h"

namespace weir::sim {
namespace {

using test::add_flow;
using test::leaf_spine;
using test::lossless_switch;
using test::plain_nic;
using test::star;

constexpr Bytes kEndless = 100'000_MB;

std::unique_ptr<Sim> made(Network network) {
  auto sim = Sim::make(std::move(network));
  EXPECT_TRUE(sim.has_value()) << (sim ? "" : sim.error().what);
  return std::move(sim).value();
}

/// User bytes a second of every QP over [from, to), in Gb/s; runs the simulation that far.
std::vector<double> goodput(Sim& sim, Duration from, Duration to) {
  sim.run_until(Time::at(from));
  std::vector<std::int64_t> before;
  for (std::uint32_t q = 0; q < sim.network().qps.size(); ++q)
    before.push_back(sim.qp_delivered(QpId{q}));
  sim.run_until(Time::at(to));
  std::vector<double> gbps;
  for (std::uint32_t q = 0; q < sim.network().qps.size(); ++q)
    gbps.push_back(static_cast<double>(sim.qp_delivered(QpId{q}) - before[q]) * 8e3 /
                   static_cast<double>((to - from).raw()));
  return gbps;
}

std::uint64_t pauses_sent(const Sim& sim, std::uint32_t node, std::uint32_t ports) {
  std::uint64_t sum = 0;
  for (std::uint32_t p = 0; p < ports; ++p)
    for (const std::uint64_t count : sim.port_counters(sim.port_of(NodeId{node}, p)).pause_tx)
      sum += count;
  return sum;
}

// ---- A12 ----------------------------------------------------------------------------------------

struct HotPort {
  BitRate rate;
  std::int64_t mtu;
  std::uint32_t ports;   // k: ingress ports of the switch with flows to the hot one
  std::uint32_t remote;  // f: flows that come in by the uplink, one per NIC; the others are local

  [[nodiscard]] double line() const {  // of user bytes, Gb/s
    return static_cast<double>(rate.raw()) / 1e9 * static_cast<double>(mtu) /
           static_cast<double>(mtu + 82);
  }
};

/// `remote` NICs and the victim's source share the uplink between two switches. Of the local NICs
/// k - 1 send to the hot one (node f + k) as the remote ones do; the victim (the last QP) goes to
/// an idle NIC beside it.
Network hot_port(const HotPort& c, bool dcqcn, bool with_victim) {
  SwitchConfig sw = lossless_switch(8_MB, 100_KB);
  NicConfig nic = plain_nic(Bytes::raw(c.mtu));
  if (dcqcn) {
    nic = test::with_dcqcn(nic, DcqcnVariant::kPaper);
    nic.cnp_interval = 50_us;
    // The published slope (theory §2.3, `paper_ext`) and step, scaled with the rate.
    const std::int64_t scale = std::max<std::int64_t>(c.rate.raw() / 40'000'000'000, 1);
    sw.queues[3].wred = {true, 5'000_B * scale, 2'000'000_B * scale, 10_percent};
    sw.groups[3].alpha = Alpha::from_log2(1);
    sw.buffer = 32_MB;
    nic.dcqcn.ai_rate *= scale;
    prepare(nic.dcqcn);
  }
  Network network;
  network.nics.push_back(nic);
  network.switches.push_back(sw);
  const std::uint32_t far = c.remote + 1;
  const std::uint32_t nics = far + c.ports + 1;
  for (std::uint32_t n = 0; n < nics; ++n)
    network.nodes.push_back({NodeKind::kNic, 0, {}});
  network.nodes.push_back({NodeKind::kSwitch, 0, {}});
  network.nodes.push_back({NodeKind::kSwitch, 0, {}});
  for (std::uint32_t n = 0; n < nics; ++n)
    network.links.push_back({.a = NodeId{n},
                             .b = NodeId{nics + (n < far ? 0U : 1U)},
                             .rate = c.rate,
                             .propagation = 500_ns});
  network.links.push_back(
      {.a = NodeId{nics}, .b = NodeId{nics + 1}, .rate = c.rate, .propagation = 500_ns});
  const std::uint32_t hot = far + c.ports - 1;
  for (std::uint32_t source = 0; source < hot; ++source)
    if (source != c.remote) add_flow(network, source, hot, kEndless);
  if (with_victim) add_flow(network, c.remote, hot + 1, kEndless);
  return network;
}

const HotPort kHotPorts[] = {{40_Gbps, 1024, 3, 2}, {40_Gbps, 1024, 2, 3}, {100_Gbps, 4096, 4, 2}};

TEST(Acceptance, A12UnderPauseAlonePortsShareEquallyAndTheVictimSuffersWithItsPort) {
  COVERS("G2");
  for (const HotPort& c : kHotPorts) {
    SCOPED_TRACE(c.ports);
    const auto sim = made(hot_port(c, false, true));
    const std::vector<double> gbps = goodput(*sim, 2_ms, 12_ms);
    const double of_port = c.line() / c.ports;
    for (std::uint32_t q = 0; q + 1 < gbps.size(); ++q) {
      const double expected = q < c.remote ? of_port / c.remote : of_port;
      EXPECT_NEAR(gbps[q], expected, 0.05 * expected) << q;
    }
    EXPECT_NEAR(gbps.back(), of_port / c.remote, 0.05 * of_port / c.remote) << "the victim";
    EXPECT_EQ(sim->lossless_drops(), 0U);
  }
}

TEST(Acceptance, A12WithDcqcnFlowsAreEqualAndTheVictimHasItsIdealRate) {
  COVERS("G2", "G3");
  for (const HotPort& c : kHotPorts) {
    SCOPED_TRACE(c.ports);
    const auto fair = made(hot_port(c, true, false));
    const double jain = jain_index(goodput(*fair, 200_ms, 700_ms));
    EXPECT_GE(jain, 0.98);
    const auto sim = made(hot_port(c, true, true));
    const double victim = goodput(*sim, 100_ms, 400_ms).back();
    const double ideal = c.line() * (1 - static_cast<double>(c.remote) / (c.remote + c.ports - 1));
    EXPECT_GE(victim, 0.9 * ideal);
    EXPECT_EQ(sim->lossless_drops() + fair->lossless_drops(), 0U);
  }
}

// ---- A13 ----------------------------------------------------------------------------------------

struct EvenFill {
  std::uint32_t egress;   // n: ports whose queues fill
  std::uint32_t classes;  // k: lossless classes, each from one ingress
  int alpha_log2;         // A
  std::int64_t shared;    // B': the buffer without headroom
  std::int64_t mtu;
};

struct FirstSign {
  bool marked = false;  // before the first XOFF
  double queue = 0;     // their mean when it happened, bytes
};

/// Every receiver is stuck, so that queues only grow; class c comes from one NIC, which sends to
/// all receivers in turn. Runs until the switch pauses a sender.
FirstSign fill_evenly(const EvenFill& c, Bytes kmin) {
  constexpr Bytes kFlight = 22'400_B;
  const std::uint32_t nics = c.egress + c.classes;
  SwitchConfig sw = lossless_switch(Bytes::raw(c.shared) + kFlight * (c.classes * nics), kFlight);
  sw.mark_at = MarkAt::kEnqueue;
  NicConfig nic = plain_nic(Bytes::raw(c.mtu));
  for (std::uint32_t k = 0; k < c.classes; ++k) {
    sw.dscp_to_class[k] = static_cast<std::uint8_t>(k);
    nic.dscp_to_priority[k] = static_cast<std::uint8_t>(k);
    sw.groups[k].lossless = true;
    sw.groups[k].headroom = kFlight;
    sw.groups[k].alpha = Alpha::from_log2(c.alpha_log2);
    sw.queues[k].scheduling = Scheduling::kDwrr;
    sw.queues[k].wred = {true, kmin, kmin + 1_B, 100_percent};
    sw.pfc.insert(Priority::of(k));
    nic.pfc.insert(Priority::of(k));
  }
  for (std::uint32_t k = c.classes; k < 8; ++k)
    sw.groups[k].lossless = false;
  Network network = star(nics, 40_Gbps, 100_ns, sw, nic);
  NicConfig stuck = nic;
  stuck.receive_buffer = 100_MB;
  network.nics.push_back(stuck);
  for (std::uint32_t n = 0; n < c.egress; ++n)
    network.nodes[NodeId{n}].config = 1;
  for (std::uint32_t k = 0; k < c.classes; ++k) {
    for (std::uint32_t n = 0; n < c.egress; ++n) {
      add_flow(network, c.egress + k, n, kEndless);
      network.qps.back().tos = static_cast<std::uint8_t>((k << 2U) | 2U);
    }
  }
  const auto sim = made(std::move(network));
  for (Duration at = 1_us; at < 20_ms; at = at + 200_ns) {
    sim->run_until(Time::at(at));
    FirstSign sign;
    for (std::uint32_t p = 0; p < c.egress; ++p) {
      sign.marked = sign.marked || sim->port_counters(sim->port_of(NodeId{nics}, p)).marked > 0;
      for (std::uint32_t q = 0; q < c.classes; ++q)
        sign.queue += static_cast<double>(sim->queue_bytes(sim->port_of(NodeId{nics}, p), q)) /
                      (c.egress * c.classes);
    }
    if (pauses_sent(*sim, nics, nics) > 0) return sign;
  }
  ADD_FAILURE() << "nobody was paused";
  return {};
}

TEST(Acceptance, A13MarkingLeadsPauseBelowTheBoundAndPauseLeadsMarkingAboveIt) {
  COVERS("G2", "G5");
  // The published switch: 12 MB, 32 ports, 8 classes of 22.4 KB headroom per port, beta 8 -> A = 1.
  const EvenFill published{32, 8, 0, 12'000'000 - 256 * 22'400, 1024};
  EXPECT_TRUE(fill_evenly(published, 21_KB).marked);
  const FirstSign late = fill_evenly(published, 30_KB);
  EXPECT_FALSE(late.marked);
  EXPECT_NEAR(late.queue, 21'755, 500);
  for (const EvenFill& c :
       {EvenFill{32, 1, 0, 6'265'600, 1024}, EvenFill{16, 4, -1, 8'000'000, 4096},
        EvenFill{24, 2, 2, 4'000'000, 2048}, EvenFill{8, 3, -3, 16'000'000, 1024}}) {
    // theory §3.1: t_ECN < A B' / (n (1 + A k))
    const double a = c.alpha_log2 >= 0 ? 1 << c.alpha_log2 : 1.0 / (1 << -c.alpha_log2);
    const double bound = a * static_cast<double>(c.shared) / (c.egress * (1 + a * c.classes));
    SCOPED_TRACE(bound);
    const auto part = [&](double share) {
      return Bytes::raw(static_cast<std::int64_t>(bound * share));
    };
    EXPECT_TRUE(fill_evenly(c, part(0.93)).marked);
    const FirstSign sign = fill_evenly(c, part(1.10));
    EXPECT_FALSE(sign.marked);
    EXPECT_NEAR(sign.queue, bound, 0.03 * bound);
  }
}

// ---- A14 ----------------------------------------------------------------------------------------

struct Cable {
  BitRate rate;
  int metres;
  std::int64_t frame;
  Duration response;     // 802.3 31B.3.7
  std::int64_t formula;  // theory §3.5, bytes
  std::int64_t source;   // the rule of thumb that counts the cable alone
};

std::uint64_t drops_with(const Cable& c, Bytes headroom) {
  SwitchConfig sw = lossless_switch(16_MB, headroom);
  sw.groups[3].alpha.reset();
  sw.groups[3].static_threshold = 100'000_B;
  NicConfig nic = plain_nic(Bytes::raw(c.frame - 82));
  nic.pfc_reaction = c.response;
  Network network = star(6, c.rate, 5_ns * c.metres, sw, nic);
  NicConfig stuck = nic;
  stuck.receive_buffer = 1000_MB;
  network.nics.push_back(stuck);
  network.nodes[NodeId{5}].config = 1;
  for (std::uint32_t source = 0; source < 5; ++source) {
    add_flow(network, source, 5, 4_MB);
    add_flow(network, (source + 1) % 5, source, 4_MB,
             Time::at(37_ns * source));  // the way back is busy
    network.qps.back().tos = 2;
  }
  const auto sim = made(std::move(network));
  sim->run_until(Time::at(300_us));
  EXPECT_TRUE(sim->audit().has_value());
  return sim->lossless_drops();
}

TEST(Acceptance, A14HeadroomOfTheFormulaHoldsAndTheCableAloneDoesNot) {
  COVERS("G2");
  for (const Cable& c : {Cable{100_Gbps, 3, 4178, 2017_ns, 34'000, 500},
                         Cable{400_Gbps, 3, 4178, 1159_ns, 68'000, 2'000},
                         Cable{400_Gbps, 30, 4178, 1159_ns, 81'000, 20'000},
                         Cable{400_Gbps, 100, 4178, 1159_ns, 116'000, 65'000},
                         Cable{800_Gbps, 3, 4178, 580_ns, 69'000, 4'000},
                         Cable{400_Gbps, 3, 9216, 1159_ns, 78'000, 2'000}}) {
    SCOPED_TRACE(c.formula);
    EXPECT_EQ(drops_with(c, Bytes::raw(c.formula)), 0U);
    EXPECT_GT(drops_with(c, Bytes::raw(c.source)), 0U);
  }
}

// ---- A15 ----------------------------------------------------------------------------------------

struct Loop {
  BitRate rate;
  std::uint8_t ttl;
  std::uint32_t switches;  // n: hops of the loop
};

/// NIC 0 sends at `share` of the limit (theory §3.3: n B / TTL) to NIC 1; the switches pass its
/// packets round in a circle. The NIC's link is as fast as it sends.
std::unique_ptr<Sim> circle(const Loop& c, int percent, Watchdog watchdog) {
  SwitchConfig sw = lossless_switch(1_MB, 60_KB);
  sw.watchdog = watchdog;
  const NicConfig nic = plain_nic(1024_B);
  Network network;
  network.ttl = c.ttl;
  network.nics.push_back(nic);
  network.switches.push_back(sw);
  network.nodes = {{NodeKind::kNic, 0, {}}, {NodeKind::kNic, 0, {}}};
  for (std::uint32_t s = 0; s < c.switches; ++s)
    network.nodes.push_back({NodeKind::kSwitch, 0, {}});
  const BitRate sends = BitRate::raw(c.rate.raw() * c.switches / c.ttl * percent / 100);
  network.links.push_back({.a = NodeId{0}, .b = NodeId{2}, .rate = sends, .propagation = 500_ns});
  network.links.push_back({.a = NodeId{1}, .b = NodeId{3}, .rate = c.rate, .propagation = 500_ns});
  for (std::uint32_t s = 0; s + (c.switches == 2 ? 1 : 0) < c.switches; ++s)
    network.links.push_back({.a = NodeId{2 + s},
                             .b = NodeId{2 + (s + 1) % c.switches},
                             .rate = c.rate,
                             .propagation = 500_ns});
  ExplicitRoutes routes;
  routes.next.assign(network.nodes.size(), Table<NodeId, std::vector<NodeId>>(2));
  for (std::uint32_t s = 0; s < c.switches; ++s)
    routes.next[NodeId{2 + s}][NodeId{1}] = {NodeId{2 + (s + 1) % c.switches}};
  network.routes = routes;
  add_flow(network, 0, 1, 20_MB);
  return made(std::move(network));
}

const Loop kLoops[] = {{40_Gbps, 64, 2}, {40_Gbps, 16, 2}, {100_Gbps, 32, 3}};

TEST(Acceptance, A15ALoopLocksUpAboveItsLimitAndDrainsBelow) {
  COVERS("G2");
  for (const Loop& c : kLoops) {
    SCOPED_TRACE(int{c.ttl});
    const auto below = circle(c, 80, {});
    below->run_until(Time::at(400_ms));
    EXPECT_EQ(below->live_frames(), 0U);
    EXPECT_GT(below->drops(DropReason::kTtl), 19'000U);
    const auto above = circle(c, 120, {});
    above->run_until(Time::at(400_ms));
    const std::uint64_t gone = above->drops(DropReason::kTtl);
    EXPECT_GT(above->live_frames(), 0U) << "no progress";
    above->run_until(Time::at(2_s));
    EXPECT_EQ(above->drops(DropReason::kTtl), gone) << "for ever";
    EXPECT_EQ(above->lossless_drops(), 0U);
  }
}

TEST(Acceptance, A15TheWatchdogFreesALoopThatStands) {
  COVERS("G2");
  for (const Loop& c : kLoops) {
    const auto sim = circle(c, 120, {100_ms, 200_ms, WatchdogAction::kDrop});
    sim->run_until(Time::at(3_s));
    EXPECT_EQ(sim->live_frames(), 0U) << int{c.ttl};
    EXPECT_GT(sim->drops(DropReason::kWatchdog), 0U);
    EXPECT_TRUE(sim->audit().has_value());
  }
}

// ---- A17 ----------------------------------------------------------------------------------------

struct Storm {
  std::uint32_t leaves;
  std::uint32_t per_leaf;
  std::uint32_t spines;
  BitRate rate;
  Duration detection;  // 0: no watchdog
};

/// Everybody sends to everybody for ever; NIC 0 takes nothing from the start.
std::unique_ptr<Sim> storm(const Storm& c) {
  SwitchConfig sw = lossless_switch(2_MB, 60_KB);
  sw.watchdog = {c.detection, c.detection, WatchdogAction::kDrop};
  const NicConfig nic = plain_nic(4096_B);
  Network network = leaf_spine(c.leaves, c.per_leaf, c.spines, c.rate, 100_ns, sw, nic);
  NicConfig stuck = nic;
  stuck.receive_buffer = 1_MB;
  stuck.receive_xoff = 10_KB;
  network.nics.push_back(stuck);
  network.nodes[NodeId{0}].config = 1;
  const std::uint32_t nics = c.leaves * c.per_leaf;
  for (std::uint32_t source = 0; source < nics; ++source)
    for (std::uint32_t target = 0; target < nics; ++target)
      if (source != target) add_flow(network, source, target, kEndless);
  return made(std::move(network));
}

/// Between servers that are not stuck.
double to_others(Sim& sim, Duration from, Duration to) {
  const std::vector<double> gbps = goodput(sim, from, to);
  double sum = 0;
  for (std::uint32_t q = 0; q < gbps.size(); ++q)
    if (sim.network().qps[QpId{q}].target != NodeId{0} &&
        sim.network().qps[QpId{q}].source != NodeId{0})
      sum += gbps[q];
  return sum;
}

TEST(Acceptance, A17OneStuckNicPausesEveryServerAndTheWatchdogBoundsIt) {
  COVERS("G2");
  for (const Storm& c : {Storm{4, 4, 2, 100_Gbps, {}}, Storm{3, 5, 3, 40_Gbps, {}}}) {
    const std::uint32_t nics = c.leaves * c.per_leaf;
    const auto stuck = storm(c);
    EXPECT_LT(to_others(*stuck, 8_ms, 10_ms), 0.001) << "the fabric is blocked";
    for (std::uint32_t n = 1; n < nics; ++n)
      EXPECT_NE(stuck->paused_now(stuck->port_of(NodeId{n}, 0)), 0U)
          << "server " << n << " is paused";
    EXPECT_EQ(stuck->lossless_drops(), 0U);
    for (const Duration detection : {5_ms, 9_ms}) {
      Storm guarded = c;
      guarded.detection = detection;
      const auto sim = storm(guarded);
      const double standing = to_others(*sim, detection - 1_ms, detection - 500_us);
      const double freed = to_others(*sim, detection * 2, detection * 2 + 1_ms);
      EXPECT_LT(standing, 0.001);
      const double line = static_cast<double>(c.rate.raw()) / 1e9;
      EXPECT_GT(freed, 0.3 * line * (nics - 1)) << "within twice the detection time";
      EXPECT_EQ(sim->lossless_drops(), 0U);
    }
  }
}

// ---- A18 ----------------------------------------------------------------------------------------

struct Victim {
  BitRate rate;
  std::uint32_t burst_senders;
  Duration burst;
};

/// NIC 0 -> NIC 2 (the victim) and NIC 1 -> NIC 3 share the cable between two switches; the burst
/// goes to NIC 3 from NICs at its own switch. The cable is paused, its queue grows and is marked.
Network burst_beside(const Victim& c, Duration begin) {
  SwitchConfig sw = lossless_switch(16_MB, 60_KB);
  sw.queues[3].wred = {true, 5_KB, 100_KB, 1_percent};
  sw.groups[3].alpha.reset();
  sw.groups[3].static_threshold = 400'000_B;  // room for a queue at the near end …
  NicConfig nic = plain_nic(1024_B);
  nic = test::with_dcqcn(nic, DcqcnVariant::kPaper);
  nic.dcqcn.increase_period = 50_us;
  prepare(nic.dcqcn);
  nic.cnp_interval = 50_us;
  Network network;
  network.nics.push_back(nic);
  network.switches.push_back(sw);
  sw.groups[3].static_threshold = 20'000_B;  // … when the far end pauses it
  network.switches.push_back(sw);
  const std::uint32_t nics = 4 + c.burst_senders;
  for (std::uint32_t n = 0; n < nics; ++n)
    network.nodes.push_back({NodeKind::kNic, 0, {}});
  network.nodes.push_back({NodeKind::kSwitch, 0, {}});
  network.nodes.push_back({NodeKind::kSwitch, 1, {}});
  for (std::uint32_t n = 0; n < nics; ++n)
    network.links.push_back({.a = NodeId{n},
                             .b = NodeId{nics + (n < 2 ? 0U : 1U)},
                             .rate = c.rate,
                             .propagation = 500_ns});
  network.links.push_back(
      {.a = NodeId{nics}, .b = NodeId{nics + 1}, .rate = c.rate, .propagation = 500_ns});
  for (const std::uint32_t n : {0U, 1U}) {
    add_flow(network, n, n + 2, kEndless);
    network.qps.back().start_rate = c.rate.raw() / 2;
  }
  // 4 KB messages, new QPs at line rate again and again: what the link carries in the burst.
  const std::int64_t messages = c.rate.raw() / 8 / 1'000'000 * (c.burst.raw() / 1'000'000) / 4096;
  for (std::int64_t m = 0; m < messages; ++m)
    add_flow(network, 4 + static_cast<std::uint32_t>(m % c.burst_senders), 3, 4096_B,
             Time::at(begin + c.burst * (m / c.burst_senders) / (messages / c.burst_senders)));
  return network;
}

TEST(Acceptance, A18AnInnocentFlowRecoversTenTimesLongerThanTheBurstThatPausedIt) {
  COVERS("G2", "G3");
  for (const Victim& c :
       {Victim{40_Gbps, 15, 1_ms}, Victim{40_Gbps, 12, 500_us}, Victim{100_Gbps, 15, 1_ms}}) {
    const Duration begin = 20_ms;
    const std::uint32_t nics = 4 + c.burst_senders;
    const auto sim = made(burst_beside(c, begin));
    sim->run_until(Time::at(begin));
    const std::int64_t before = sim->qp_rate(QpId{0});
    std::int64_t least = before;
    Duration recovered = begin;
    for (Duration at = begin; at < begin + 200_ms; at = at + 100_us) {
      sim->run_until(Time::at(at));
      least = std::min(least, sim->qp_rate(QpId{0}));
      recovered = at;
      if (at > begin + c.burst && sim->qp_rate(QpId{0}) >= before * 9 / 10) break;
    }
    EXPECT_GT(sim->paused_for(sim->port_of(NodeId{nics}, 2), 3), 0) << "the cable was paused";
    EXPECT_LT(least, before * 3 / 4) << "and the victim flow was cut";
    EXPECT_GE(recovered - begin - c.burst, c.burst * 10);
  }
}

// ---- A19 ----------------------------------------------------------------------------------------

struct LargeIncast {
  BitRate rate;
  std::uint32_t senders;
  std::int64_t min_rate;
  Duration per_cnp;  // what the receiver takes to make one; 0: nothing
};

struct Held {
  std::uint64_t pauses;  // of the senders, in the last part
  double mean_queue;     // bytes, then
};

Held hold(const LargeIncast& c) {
  SwitchConfig sw = lossless_switch(24_MB, 20_KB);
  sw.queues[3].wred = {true, 5_KB, 200_KB, 1_percent};
  sw.groups[3].alpha = Alpha::from_log2(-6);
  NicConfig nic = plain_nic(1024_B);
  nic = test::with_dcqcn(nic, DcqcnVariant::kPaper);
  nic.dcqcn.min_rate = c.min_rate;
  prepare(nic.dcqcn);
  nic.cnp_interval = 50_us;
  nic.cnp_capacity_interval = c.per_cnp;
  Network network = star(c.senders + 1, c.rate, 500_ns, sw, nic);
  for (std::uint32_t n = 0; n < c.senders; ++n)
    add_flow(network, n, c.senders, kEndless);
  const auto sim = made(std::move(network));
  const std::uint32_t node = c.senders + 1;
  sim->run_until(Time::at(150_ms));
  const std::uint64_t before = pauses_sent(*sim, node, c.senders);
  sim->watch_queue(sim->port_of(NodeId{node}, c.senders), 3);
  sim->run_until(Time::at(250_ms));
  EXPECT_EQ(sim->lossless_drops(), 0U);
  const QueueWatch watch = sim->queue_watch();
  return {pauses_sent(*sim, node, c.senders) - before,
          static_cast<double>(watch.sum) / static_cast<double>(watch.last - watch.since)};
}

TEST(Acceptance, A19AnIncastDrainsWhileTheFloorOfAllRatesIsBelowTheLink) {
  COVERS("G2", "G3");
  for (const LargeIncast& c :
       {LargeIncast{40_Gbps, 380, 100'000'000, {}}, LargeIncast{40_Gbps, 190, 200'000'000, {}},
        LargeIncast{100_Gbps, 380, 250'000'000, {}}}) {
    const Held drains = hold(c);
    LargeIncast more = c;
    more.senders = c.senders * 42 / 38;
    const Held held = hold(more);
    LargeIncast slow = c;
    slow.senders = c.senders / 2;
    const Held half = hold(slow);
    slow.per_cnp = 5_us;
    const Held limited = hold(slow);
    EXPECT_EQ(drains.pauses, 0U);
    EXPECT_GT(held.pauses, 1000U);
    EXPECT_EQ(half.pauses, 0U);
    EXPECT_GT(limited.pauses, 1000U) << "a receiver that makes a CNP in 5us fails far earlier";
    EXPECT_GT(held.mean_queue, 10 * drains.mean_queue);
  }
}

}  // namespace
}  // namespace weir::sim
