// Every rule of the table by itself: what makes it speak (the id, and where), the nearest case that
// leaves it silent, and the counters without which it says that it cannot tell. Each case runs the
// rules up to the one it is about, so that a rule is judged by what it says and not by what folding
// makes of it; what speaks must then also be among the findings of the whole diagnosis.
#include <algorithm>
#include <cstdlib>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/testing.h"
#include "base/text.h"
#include "design/file/load.h"
#include "design/file/templates.h"
#include "diagnose/core/made_case.h"
#include "diagnose/core/switch_queues.h"
#include "diagnose/rules/rule.h"
#include "finding/shown.h"

namespace weir::diagnose {
namespace {

using evidence::Fact;
using evidence::TrustMode;
using Look = void (*)(const View&, Suspicions&);

/// Two hosts (gpu1, gpu2) and leaf1; it marks from 100 kB on, a tenth of all at 200 kB.
const design::Intent& designed() {
  static const design::Intent intent = [] {
    const auto loaded = design::load_text(design::find_template("pair")->text, "fabric.yaml");
    EXPECT_TRUE(loaded.is_good());
    design::Intent out = design::derive(loaded.design).intent;
    for (design::SwitchPortIntent& port : out.switches.front().ports)
      port.wred = {true, 100'000_B, 200'000_B, Share::raw(kSharePerWhole / 10)};
    return out;
  }();
  return intent;
}
const design::SwitchIntent& designed_leaf() {
  return designed().switches.front();
}

enum class Given : std::uint8_t { kNothing, kDesign };

struct Proof {
  Look look;
  std::string_view what;
  void (*make)(MadeCase&);
  std::string_view
      says;  // an id; "~id" = a note; "" = nothing worse; "?marking" = cannot tell that
  std::string_view place = {};  // host or switch
  Given given = Given::kNothing;
};

// ---- pieces of cases ----

std::vector<Count> over(std::uint64_t sockets, std::uint64_t rdma) {
  return {{"ethtool/tx_prio0_bytes", sockets},
          {"ethtool/rx_prio0_bytes", sockets},
          {"ethtool/tx_prio3_bytes", rdma},
          {"ethtool/rx_prio3_bytes", rdma},
          {"ethtool/tx_vport_rdma_unicast_bytes", rdma},
          {"ethtool/rx_vport_rdma_unicast_bytes", rdma}};
}

evidence::Nic& nic(MadeCase& made, const std::string& name, const std::vector<Count>& counts = {}) {
  return made.host(name, counts).nics[0];
}

/// gpu1 at leaf1's swp1, and what both counted.
evidence::SwitchPort& cable(MadeCase& made, const std::vector<Count>& at_nic,
                            const std::vector<Count>& at_port) {
  made.host("gpu1", at_nic);
  return made.port("swp1", "gpu1", "mlx5_0", at_port);
}

evidence::EgressQueue& queue(evidence::SwitchPort& port) {
  port.queues.emplace_back().queue = 3_queue;
  port.queues.back().ecn = Fact<bool>::of(true);
  return port.queues.back();
}

evidence::GroupBuffer& group(evidence::SwitchPort& port) {
  port.groups.emplace_back().group = PriorityGroup::of(3);
  return port.groups.back();
}

void map_nic(MadeCase& made, unsigned priority) {
  std::array<std::optional<Priority>, 64> map{};
  map.at(26) = Priority::of(priority);
  nic(made, "gpu1").qos.dscp_to_priority = Fact<std::array<std::optional<Priority>, 64>>::of(map);
}

/// gpu1 trusts DSCP, maps 26 to 3 and 32 to 4, forces DSCP 26, and sent this much in the priority,
/// and this much as RDMA.
void right_settings(MadeCase& made, std::string_view key, std::uint64_t bytes, std::uint64_t rdma) {
  evidence::Nic& gpu = nic(made, "gpu1",
                           {{key, bytes},
                            {"ethtool/tx_prio3_bytes", 1000},
                            {"ethtool/tx_prio3_packets", 10},
                            {"ethtool/tx_vport_rdma_unicast_bytes", rdma}});
  std::array<std::optional<Priority>, 64> map{};
  map.fill(Priority::of(0));
  map.at(26) = Priority::of(3);
  map.at(32) = Priority::of(4);
  gpu.qos.trust = Fact<TrustMode>::of(TrustMode::kDscp);
  gpu.qos.dscp_to_priority = Fact<std::array<std::optional<Priority>, 64>>::of(map);
  gpu.rdma.traffic_class = Fact<std::optional<TosByte>>::of(104_tos);
}

void map_switch(MadeCase& made, unsigned tc) {
  cable(made, {}, {});
  std::array<std::optional<TrafficClass>, 64> map{};
  map.at(26) = TrafficClass::of(tc);
  made.device("leaf1").dscp_to_tc = Fact<std::array<std::optional<TrafficClass>, 64>>::of(map);
}

/// The designed queues, with this priority in RDMA's.
void share_queue(MadeCase& made, std::optional<unsigned> priority,
                 const std::vector<Count>& at_nic = {}, const std::vector<Count>& at_port = {}) {
  cable(made, at_nic, at_port);
  std::array<Queue, 8> queues = designed_leaf().priority_to_queue;
  if (priority) queues.at(*priority) = queues.at(3);
  made.device("leaf1").tc_to_queue = Fact<std::array<Queue, 8>>::of(queues);
}

void set_knob(MadeCase& made, std::int64_t share_of_wanted) {
  const std::int64_t wanted = designed().dcqcn.find("rpg_ai_rate")->second;
  nic(made, "gpu1").ecn.parameters =
      Fact<std::vector<evidence::Parameter>>::of({{"rpg_ai_rate", wanted * share_of_wanted / 100}});
}

/// A queue of leaf1 that rose to 300 kB: as designed that is 25 marks at least, and 350 of the
/// 1000 packets where it was as often at every length.
evidence::SwitchPort& marked(MadeCase& made, std::uint64_t marks) {
  return cable(made, {},
               {{"switch/queue3.depth_max.bytes", 300'000},
                {"switch/queue3.tx.packets", 1000},
                {"switch/queue3.ecn_marked.packets", marks}});
}

/// leaf1 paused gpu1 with so much of the designed threshold in the group, the pool else empty.
void paused_at(MadeCase& made, double share) {
  const design::BufferIntent& buffers = designed_leaf().buffers;
  const double threshold =
      buffers.alpha.value() * static_cast<double>(buffers.lossless_shared.raw());
  cable(made, {{"ethtool/rx_prio3_pause", 90}},
        {{"switch/prio3.pause_tx.frames", 90},
         {"switch/queue3.ecn_marked.packets", 900},
         {"switch/pool.occupancy_max.bytes", 0},
         {"switch/pg3.occupancy_max.bytes", static_cast<std::uint64_t>(share * threshold)}});
}

void set_pool(MadeCase& made, double share) {
  cable(made, {}, {});
  const auto wanted = static_cast<double>(designed_leaf().buffers.lossless_shared.raw());
  evidence::Pool pool;
  pool.size = Bytes::raw(static_cast<std::int64_t>(share * wanted));
  made.device("leaf1").pools = Fact<std::vector<evidence::Pool>>::of({pool});
}

void set_headroom(MadeCase& made, double share) {
  const auto wanted = static_cast<double>(designed_leaf().ports.front().headroom.raw());
  group(cable(made, {}, {})).headroom =
      Fact<Bytes>::of(Bytes::raw(static_cast<std::int64_t>(share * wanted)));
}

/// Leaves with a host each under two spines, one cable each way. All that spine1 sends goes to
/// leaf1, and all that leaf1 sends upwards to spine2, in packets of this size.
void one_way(MadeCase& made, int leaves, std::uint64_t packet_bytes, std::uint64_t to_host) {
  const auto counts = [&](std::uint64_t sent, std::uint64_t received) -> std::vector<Count> {
    return {{"switch/port.tx.packets", sent},
            {"switch/port.rx.packets", received},
            {"switch/port.tx.bytes", sent * packet_bytes},
            {"switch/port.rx.bytes", received * packet_bytes}};
  };
  for (int leaf = 1; leaf <= leaves; ++leaf) {
    const bool is_first = leaf == 1;
    const std::string name = "leaf" + std::to_string(leaf);
    const std::string host = "gpu" + std::to_string(leaf);
    made.host(host);
    made.port_of(name, "swp1", host, "mlx5_0", counts(is_first ? to_host : 1000, 6000));
    const std::uint64_t down = is_first ? 3000 : 0;
    const std::uint64_t up = is_first ? 0 : 1000;
    made.port_of(name, "up1", "spine1", "to" + name, counts(up, down));
    made.port_of("spine1", "to" + name, name, "up1", counts(down, up));
    made.port_of(name, "up2", "spine2", "to" + name, counts(3000, is_first ? 0 : 1000));
    made.port_of("spine2", "to" + name, name, "up2", counts(is_first ? 0 : 1000, 3000));
  }
}

/// What leaf1's uplinks carried; leaf2 is as it should be.
struct Carried {
  std::uint64_t up[2] = {25'000'000, 25'000'000};
  std::uint64_t down[2] = {25'000'000, 25'000'000};
};

/// Two leaves with a host each, two spines.
void two_tiers(MadeCase& made, const Carried& leaf1 = {}) {
  for (int leaf = 1; leaf <= 2; ++leaf) {
    const std::string name = "leaf" + std::to_string(leaf);
    const std::string host = "gpu" + std::to_string(leaf);
    const Carried carried = leaf == 1 ? leaf1 : Carried();
    made.host(host);
    made.port_of(name, "swp1", host, "mlx5_0",
                 {{"switch/port.rx.bytes", 50'000'000}, {"switch/port.tx.bytes", 50'000'000}});
    for (std::size_t spine = 0; spine < 2; ++spine) {
      const std::string above = "spine" + std::to_string(spine + 1);
      const std::string up = "up" + std::to_string(spine + 1);
      made.port_of(name, up, above, "to" + name,
                   {{"switch/port.tx.bytes", carried.up[spine]},
                    {"switch/port.rx.bytes", carried.down[spine]}})
          .up = Fact<bool>::of(true);
      made.port_of(above, "to" + name, name, up,
                   {{"switch/port.tx.bytes", carried.down[spine]},
                    {"switch/port.rx.bytes", carried.up[spine]}});
    }
  }
}

/// The uplinks of these leaves at a tenth of their speed.
void narrow(MadeCase& made, std::initializer_list<const char*> leaves) {
  for (const char* leaf : leaves)
    for (evidence::SwitchPort& port : made.device(leaf).ports)
      if (port.name == "up1") port.speed = Fact<BitRate>::of(10_Gbps);
}

void seeds(MadeCase& made, std::initializer_list<unsigned> all) {
  two_tiers(made);
  const std::string names[] = {"leaf1", "leaf2", "spine1", "spine2"};
  std::size_t at = 0;
  for (const unsigned seed : all)
    made.device(names[at++]).ecmp_seed = Fact<unsigned>::of(seed);
}

/// leaf1 and spine1, whose ports to each other were paused for so long of 10,000 us.
void waiting(MadeCase& made, std::uint64_t leaf_us, std::uint64_t spine_us, std::uint64_t sent = 0,
             std::uint64_t frames = 0) {
  made.host("gpu1");
  made.port_of("leaf1", "up", "spine1", "down",
               {{"switch/prio3.pause_rx.microseconds", leaf_us},
                {"switch/prio3.pause_rx.frames", frames},
                {"switch/queue3.tx.bytes", sent}});
  made.port_of("spine1", "down", "leaf1", "up",
               {{"switch/prio3.pause_rx.microseconds", spine_us},
                {"switch/prio3.pause_rx.frames", frames},
                {"switch/queue3.tx.bytes", sent}});
}

/// CNPs of two hosts at leaf1, too few to judge a single port by; the RDMA class counts as many
/// packets on top of 12,000, and the queue of CNPs sent so many.
void few_cnps(MadeCase& made, std::uint64_t on_top, std::uint64_t from_their_queue) {
  for (const char* name : {"gpu1", "gpu2"}) {
    made.host(name, {{"ethtool/tx_prio6_packets", 15}, {"ethtool/tx_prio6_bytes", 960}});
    made.port(name[3] == '1' ? "swp1" : "swp2", name, "mlx5_0",
              {{"switch/prio3.rx.packets", 12'000 + on_top},
               {"switch/queue6.tx.packets", from_their_queue}});
  }
}

/// Receivers of so many marked packets each, the first of which sent no CNP.
void answers(MadeCase& made, std::initializer_list<std::uint64_t> marks) {
  std::size_t at = 0;
  for (const std::uint64_t count : marks) {
    ++at;
    made.host("gpu" + std::to_string(at), {{"hw_counters/np_ecn_marked_roce_packets", count},
                                           {"hw_counters/np_cnp_sent", at == 1 ? 0U : 1U}});
  }
}

/// leaf1 pauses gpu1 for a tenth of two seconds; of its two links to spine1 the first has most
/// marks, and the second this many bytes of the first's.
void hot_link(MadeCase& made, double share_of_other, std::uint64_t held_back_us = 0) {
  cable(made, {{"ethtool/rx_prio3_pause", 900}},
        {{"switch/prio3.pause_tx.frames", 900}, {"switch/prio3.pause_tx.microseconds", 200'000}});
  constexpr std::uint64_t kBytes = 90'000'000;
  const auto other = static_cast<std::uint64_t>(share_of_other * kBytes);
  for (int cable = 1; cable <= 2; ++cable) {
    const std::string up = "up" + std::to_string(cable);
    const std::string down = "down" + std::to_string(cable);
    made.port(up, "spine1", down,
              {{"switch/port.tx.bytes", cable == 1 ? kBytes : other},
               {"switch/prio3.pause_rx.microseconds", cable == 1 ? held_back_us : 0},
               {"switch/queue3.ecn_marked.packets", cable == 1 ? 5000U : 0U}});
    made.port_of("spine1", down, "leaf1", up);
  }
  for (evidence::Evidence& piece : made.pieces())
    piece.snapshots[1].clock_ns = 2'000'000'000;
}

/// gpu1 alone, at 100G, for two seconds.
void alone_for_long(MadeCase& made, const std::vector<Count>& counts) {
  nic(made, "gpu1", counts).link.speed = Fact<BitRate>::of(100_Gbps);
  made.pieces()[0].snapshots[1].clock_ns = 2'000'000'000;
}

/// leaf1's uplink paused for so long of two seconds.
void watched(MadeCase& made, std::uint64_t paused_us, bool has_watchdog) {
  made.host("gpu1");
  made.port_of("leaf1", "up", "spine1", "down",
               {{"switch/prio3.pause_rx.microseconds", paused_us},
                {"switch/prio3.pause_rx.frames", 9000},
                {"switch/queue3.tx.bytes", 5'000'000'000}});
  made.port_of("spine1", "down", "leaf1", "up");
  made.device("leaf1").watchdog.enabled = Fact<bool>::of(has_watchdog);
  for (evidence::Evidence& piece : made.pieces())
    piece.snapshots[1].clock_ns = 2'000'000'000;
}

/// leaf1's uplink, whose RDMA queue the watchdog holds.
void held(MadeCase& made, std::uint64_t pauses) {
  made.host("gpu1");
  evidence::SwitchPort& port =
      made.port_of("leaf1", "up", "spine1", "down", {{"switch/prio3.pause_rx.frames", pauses}});
  queue(port).stuck = Fact<bool>::of(true);
  made.port_of("spine1", "down", "leaf1", "up");
}

/// gpu1 sent three packets again without a request; gpu2 missed some, and had some already.
void sent_again(MadeCase& made, std::uint64_t missed, std::uint64_t twice) {
  made.host("gpu1", {{"hw_counters/roce_adp_retrans", 3},
                     {"hw_counters/packet_seq_err", 0},
                     {"hw_counters/out_of_sequence", 0},
                     {"hw_counters/duplicate_request", 0}});
  made.host("gpu2", {{"hw_counters/packet_seq_err", 0},
                     {"hw_counters/out_of_sequence", missed},
                     {"hw_counters/duplicate_request", twice}});
}

void both_ends(MadeCase& made, std::uint64_t in_priority,
               std::initializer_list<const char*> hosts) {
  for (const char* name : hosts)
    made.host(name, {{"ethtool/rx_prio3_bytes", in_priority},
                     {"ethtool/rx_prio0_bytes", 50'000'000 - in_priority}});
}

// ---- the cases, in the order of the rules ----

const Proof kSettings[] = {
    {look_for_sockets, "one host without RDMA beside others that use it",
     [](MadeCase& made) {
       made.host("gpu1", over(80'000'000, 0));
       made.host("gpu2", over(40'000'000, 50'000'000));
       made.host("gpu3", over(1000, 90'000'000));
     },
     "nccl.socket_fallback", "gpu1"},
    {look_for_sockets, "one host alone that fills its line without RDMA",
     [](MadeCase& made) {
       nic(made, "gpu1", over(80'000'000, 0)).link.speed = Fact<BitRate>::of(100_Gbps);
     },
     "~nccl.socket_fallback", "gpu1"},
    {look_for_sockets, "the usual kernel traffic of a host without a job",
     [](MadeCase& made) {
       nic(made, "gpu1", over(1'000'000, 0)).link.speed = Fact<BitRate>::of(100_Gbps);
     },
     ""},
    {look_for_sockets, "hosts without a job, some with more kernel traffic",
     [](MadeCase& made) {
       made.host("gpu1", over(80'000'000, 0));
       made.host("gpu2", over(70'000'000, 0));
       made.host("gpu3", over(60'000'000, 0));
       made.host("gpu4", over(10'000'000, 0));
       for (const char* name : {"gpu5", "gpu6", "gpu7", "gpu8"})
         made.host(name, over(1000, 50'000'000));
     },
     ""},
    {look_for_sockets, "a host outside the job with a fifth of what the job moves",
     [](MadeCase& made) {
       made.host("gpu1", over(10'000'000, 0));
       for (const char* name : {"gpu2", "gpu3", "gpu4"})
         made.host(name, over(1'000'000, 50'000'000));
     },
     ""},
    {look_for_sockets, "two hosts, neither of which uses RDMA, that fill their lines",
     [](MadeCase& made) {
       for (const char* name : {"gpu1", "gpu2"})
         nic(made, name, over(name[3] == '1' ? 90'000'000 : 80'000'000, 0)).link.speed =
             Fact<BitRate>::of(100_Gbps);
     },
     "~nccl.socket_fallback", "gpu1"},
    {look_for_sockets, "two hosts, neither of which uses RDMA, with some traffic",
     [](MadeCase& made) {
       for (const char* name : {"gpu1", "gpu2"})
         nic(made, name, over(name[3] == '1' ? 9'000'000 : 8'000'000, 0)).link.speed =
             Fact<BitRate>::of(100_Gbps);
     },
     ""},
    {look_for_sockets, "as much kernel traffic as all others",
     [](MadeCase& made) {
       made.host("gpu1", over(1'000'000, 0));
       made.host("gpu2", over(900'000, 50'000'000));
     },
     ""},

    {look_for_marking, "trust is PCP",
     [](MadeCase& made) { nic(made, "gpu1").qos.trust = Fact<TrustMode>::of(TrustMode::kPcp); },
     "trust.not_dscp", "gpu1"},
    {look_for_marking, "trust is DSCP",
     [](MadeCase& made) { nic(made, "gpu1").qos.trust = Fact<TrustMode>::of(TrustMode::kDscp); },
     ""},
    {look_for_marking, "the map sends DSCP 26 to another priority",
     [](MadeCase& made) { map_nic(made, 0); }, "dscp.nic_map_wrong", "gpu1"},
    {look_for_marking, "the map sends DSCP 26 to 3", [](MadeCase& made) { map_nic(made, 3); }, ""},
    {look_for_marking, "the DSCP used as the TOS byte",
     [](MadeCase& made) {
       nic(made, "gpu1").rdma.traffic_class = Fact<std::optional<TosByte>>::of(26_tos);
     },
     "dscp.tos_confusion", "gpu1"},
    {look_for_marking, "a forced traffic class of another DSCP",
     [](MadeCase& made) {
       nic(made, "gpu1").rdma.traffic_class = Fact<std::optional<TosByte>>::of(0_tos);
     },
     "dscp.unmarked", "gpu1"},
    {look_for_marking, "the right byte, with or without ECN bits",
     [](MadeCase& made) {
       nic(made, "gpu1").rdma.traffic_class = Fact<std::optional<TosByte>>::of(104_tos);
       nic(made, "gpu2").rdma.traffic_class = Fact<std::optional<TosByte>>::of(106_tos);
     },
     ""},
    {look_for_marking, "RDMA counted in priority 0 although all settings are right",
     [](MadeCase& made) {
       right_settings(made, "ethtool/tx_prio0_bytes", 400'000'000, 400'000'000);
     },
     "dscp.unmarked", "gpu1"},
    {look_for_marking, "the same with traffic of the kernel",
     [](MadeCase& made) { right_settings(made, "ethtool/tx_prio0_bytes", 400'000'000, 1000); }, ""},
    {look_for_marking, "the same with RDMA of a class of its own",
     [](MadeCase& made) {
       right_settings(made, "ethtool/tx_prio4_bytes", 400'000'000, 400'000'000);
     },
     ""},
    {look_for_marking, "RDMA beside other classes, counted in priority 3 by the switch alone",
     [](MadeCase& made) {
       cable(made,
             {{"ethtool/tx_prio3_bytes", 0},
              {"ethtool/tx_prio3_packets", 0},
              {"ethtool/tx_prio0_bytes", 3'000'000},
              {"ethtool/tx_prio0_packets", 2000}},
             {{"switch/prio3.rx.bytes", 500'000}, {"switch/prio0.rx.bytes", 2'500'000}});
     },
     "trust.not_dscp", "gpu1", Given::kDesign},
    {look_for_marking, "the same, and the switch counts nothing in priority 3 either",
     [](MadeCase& made) {
       cable(made,
             {{"ethtool/tx_prio3_bytes", 0},
              {"ethtool/tx_prio3_packets", 0},
              {"ethtool/tx_prio0_bytes", 3'000'000},
              {"ethtool/tx_prio0_packets", 2000}},
             {{"switch/prio3.rx.bytes", 0}, {"switch/prio0.rx.bytes", 3'000'000}});
     },
     "dscp.unmarked", "gpu1", Given::kDesign},
    {look_for_marking, "traffic from the switch's RDMA queue arrives in priority 0",
     [](MadeCase& made) {
       cable(made,
             {{"ethtool/tx_prio3_bytes", 1000},
              {"ethtool/rx_prio3_bytes", 0},
              {"ethtool/rx_prio0_bytes", 50'000'000}},
             {{"switch/queue3.tx.bytes", 50'000'000}});
     },
     "trust.not_dscp", "gpu1", Given::kDesign},
    {look_for_marking, "traffic from the switch's RDMA queue arrives in priority 3",
     [](MadeCase& made) {
       cable(made, {{"ethtool/tx_prio3_bytes", 1000}}, {{"switch/queue3.tx.bytes", 50'000'000}});
     },
     "", "", Given::kDesign},
    {look_for_marking, "neither trust nor bytes by priority",
     [](MadeCase& made) {
       made.host("gpu1");
       made.forget("prio");
     },
     "?marking"},

    {look_for_switch_maps, "the switch maps DSCP 26 to class 0",
     [](MadeCase& made) { map_switch(made, 0); }, "dscp.unmapped_hop", "leaf1"},
    {look_for_switch_maps, "the switch maps DSCP 26 to class 3",
     [](MadeCase& made) { map_switch(made, 3); }, ""},
    {look_for_switch_maps, "what left in priority 3 is counted in priority 0",
     [](MadeCase& made) {
       cable(made, {}, {{"switch/prio0.rx.bytes", 50'000'000}, {"switch/prio3.rx.bytes", 0}});
     },
     "dscp.unmapped_hop", "leaf1"},
    {look_for_switch_maps, "what left in priority 3 is counted in it",
     [](MadeCase& made) {
       cable(made, {}, {{"switch/prio3.rx.bytes", 50'000'000}});
     },
     ""},
    {look_for_switch_maps, "a switch that does not count by priority",
     [](MadeCase& made) {
       cable(made, {}, {{"switch/port.rx.bytes", 50'000'000}});
     },
     ""},

    {look_for_shared_queues, "CNPs in the RDMA queue", [](MadeCase& made) { share_queue(made, 6); },
     "cnp.shares_rdma_priority", "leaf1", Given::kDesign},
    {look_for_shared_queues, "management in the RDMA queue",
     [](MadeCase& made) { share_queue(made, 2); }, "class.shared_queue", "leaf1", Given::kDesign},
    {look_for_shared_queues, "one queue per class, as designed",
     [](MadeCase& made) { share_queue(made, std::nullopt); }, "", "", Given::kDesign},
    {look_for_shared_queues, "received CNPs are counted in the RDMA class",
     [](MadeCase& made) {
       cable(made, {{"ethtool/tx_prio6_packets", 1000}, {"ethtool/tx_prio6_bytes", 64'000}},
             {{"switch/prio3.rx.packets", 13'000}});
     },
     "cnp.shares_rdma_priority", "leaf1", Given::kDesign},
    {look_for_shared_queues, "received CNPs are counted in their own class",
     [](MadeCase& made) {
       cable(made, {{"ethtool/tx_prio6_packets", 1000}, {"ethtool/tx_prio6_bytes", 64'000}},
             {{"switch/prio3.rx.packets", 12'000}});
     },
     "", "", Given::kDesign},
    {look_for_shared_queues, "data of a single port may be that NIC's map",
     [](MadeCase& made) {
       cable(made, {{"ethtool/tx_prio2_packets", 1000}, {"ethtool/tx_prio2_bytes", 1'500'000}},
             {{"switch/prio3.rx.packets", 13'000}});
     },
     "", "", Given::kDesign},
    {look_for_shared_queues, "data of two ports is the switch's map",
     [](MadeCase& made) {
       for (const char* name : {"gpu1", "gpu2"}) {
         made.host(name,
                   {{"ethtool/tx_prio2_packets", 1000}, {"ethtool/tx_prio2_bytes", 1'500'000}});
         made.port(name[3] == '1' ? "swp1" : "swp2", name, "mlx5_0",
                   {{"switch/prio3.rx.packets", 13'000}});
       }
     },
     "class.shared_queue", "leaf1", Given::kDesign},
    {look_for_shared_queues, "short packets of a single port that are no CNPs",
     [](MadeCase& made) {
       cable(made, {{"ethtool/tx_prio2_packets", 1000}, {"ethtool/tx_prio2_bytes", 64'000}},
             {{"switch/prio3.rx.packets", 13'000}});
     },
     "", "", Given::kDesign},
    {look_for_shared_queues, "a few CNPs on each port that leave in the RDMA queue",
     [](MadeCase& made) { few_cnps(made, 15, 0); }, "cnp.shares_rdma_priority", "leaf1",
     Given::kDesign},
    {look_for_shared_queues, "a few CNPs on each port that leave in their own queue",
     [](MadeCase& made) { few_cnps(made, 15, 15); }, "", "", Given::kDesign},
    {look_for_shared_queues, "a few CNPs on each port that nobody counted on top",
     [](MadeCase& made) { few_cnps(made, 0, 0); }, "", "", Given::kDesign},
    {look_for_shared_queues, "a queue map that was read decides",
     [](MadeCase& made) {
       share_queue(made, std::nullopt,
                   {{"ethtool/tx_prio6_packets", 1000}, {"ethtool/tx_prio6_bytes", 64'000}},
                   {{"switch/prio3.rx.packets", 13'000}});
     },
     "", "", Given::kDesign},

    {look_for_pfc_priority, "PFC is set on priority 4",
     [](MadeCase& made) {
       made.host("gpu1");
       nic(made, "gpu2").qos.pfc = Fact<PrioritySet>::of(PrioritySet::from_mask(1U << 4U));
     },
     "pfc.wrong_priority", "gpu2"},
    {look_for_pfc_priority, "pause counters exist for priority 4 alone",
     [](MadeCase& made) {
       made.host("gpu1", {{"ethtool/rx_prio4_pause", 0}});
       made.forget("prio3_pause");
     },
     "pfc.wrong_priority", "gpu1", Given::kDesign},
    {look_for_pfc_priority, "no PFC where another host has it",
     [](MadeCase& made) {
       made.host("gpu1");
       nic(made, "gpu2").qos.pfc = Fact<PrioritySet>::of(PrioritySet());
     },
     "pfc.off", "gpu2"},
    {look_for_pfc_priority, "no PFC anywhere and no design that wants it",
     [](MadeCase& made) { nic(made, "gpu1").qos.pfc = Fact<PrioritySet>::of(PrioritySet()); }, ""},
    {look_for_pfc_priority, "a switch with PFC on priority 4",
     [](MadeCase& made) {
       cable(made, {}, {}).pfc = Fact<PrioritySet>::of(PrioritySet::from_mask(1U << 4U));
     },
     "pfc.wrong_priority", "leaf1"},
    {look_for_pfc_priority, "a switch with PFC on priority 3",
     [](MadeCase& made) {
       cable(made, {}, {}).pfc = Fact<PrioritySet>::of(PrioritySet::from_mask(1U << 3U));
     },
     ""},
    {look_for_pfc_priority, "neither the setting nor pause counters",
     [](MadeCase& made) {
       made.host("gpu1");
       made.forget("prio");
     },
     "?PFC on the NICs"},

    {look_at_cables, "the NIC counts none of its switch's pauses",
     [](MadeCase& made) {
       cable(made, {}, {{"switch/prio3.pause_tx.frames", 90}});
     },
     "pfc.off", "gpu1"},
    {look_at_cables, "the switch counts none of its NIC's pauses",
     [](MadeCase& made) {
       cable(made, {{"ethtool/tx_prio3_pause", 90}}, {{"switch/prio3.pause_rx.frames", 0}});
     },
     "pfc.off", "leaf1"},
    {look_at_cables, "both count what the other sends",
     [](MadeCase& made) {
       cable(made, {{"ethtool/rx_prio3_pause", 90}, {"ethtool/tx_prio3_pause", 90}},
             {{"switch/prio3.pause_tx.frames", 90}, {"switch/prio3.pause_rx.frames", 90}});
     },
     ""},
    {look_at_cables, "a few pauses may still be in flight",
     [](MadeCase& made) {
       cable(made, {}, {{"switch/prio3.pause_tx.frames", 9}});
     },
     ""},
    {look_at_cables, "a switch that does not count received pauses",
     [](MadeCase& made) {
       cable(made, {{"ethtool/tx_prio3_pause", 90}}, {{"switch/port.rx.bytes", 1}});
     },
     ""},

    {look_at_cables, "a cable that leads to another host than designed",
     [](MadeCase& made) {
       made.host("gpu1");
       made.port(designed_leaf().ports[0].name, "gpu9", "mlx5_0");
     },
     "wiring.mismatch", "leaf1", Given::kDesign},
    {look_at_cables, "a cable that leads where it should",
     [](MadeCase& made) {
       made.host("gpu1");
       made.port(designed_leaf().ports[0].name, "gpu1", "mlx5_0");
     },
     "", "", Given::kDesign},
    {look_at_cables, "the host sees the link up, the switch down",
     [](MadeCase& made) {
       cable(made, {}, {}).up = Fact<bool>::of(false);
       made.pieces()[0].nics[0].link.up = Fact<bool>::of(true);
     },
     "telemetry.sources_disagree", "gpu1"},
    {look_at_cables, "both see the link up",
     [](MadeCase& made) {
       cable(made, {}, {}).up = Fact<bool>::of(true);
       made.pieces()[0].nics[0].link.up = Fact<bool>::of(true);
     },
     ""},

    {look_for_pfc_too_wide, "pause counters exist for priority 4 too",
     [](MadeCase& made) {
       made.host("gpu1", {{"ethtool/rx_prio4_pause", 0}});
     },
     "pfc.multiple_priorities", "gpu1"},
    {look_for_pfc_too_wide, "pause counters exist for priority 3 alone",
     [](MadeCase& made) { made.host("gpu1"); }, ""},
    {look_for_pfc_too_wide, "a switch with PFC on all priorities",
     [](MadeCase& made) {
       cable(made, {}, {}).pfc = Fact<PrioritySet>::of(PrioritySet::from_mask(0xFF));
     },
     "pfc.multiple_priorities", "leaf1"},
    {look_for_pfc_too_wide, "a switch that pauses on priority 0",
     [](MadeCase& made) {
       cable(made, {}, {{"switch/prio0.pause_tx.frames", 3}});
     },
     "pfc.multiple_priorities", "leaf1"},
    {look_for_pfc_too_wide, "a switch that pauses on priority 4 alone, and nothing shows RDMA's",
     [](MadeCase& made) {
       made.port("swp1", "", "", {{"switch/prio4.pause_tx.frames", 118}});
     },
     ""},
    {look_for_pfc_too_wide, "a switch that pauses on priority 3",
     [](MadeCase& made) {
       cable(made, {{"ethtool/rx_prio3_pause", 90}}, {{"switch/prio3.pause_tx.frames", 90}});
     },
     ""},

    {look_for_mtu, "a host that drops packets as too long",
     [](MadeCase& made) {
       made.host("gpu1", {{"ethtool/rx_oversize_pkts_phy", 44}});
     },
     "mtu.mismatch", "gpu1"},
    {look_for_mtu, "a host with a smaller MTU than most",
     [](MadeCase& made) {
       for (const char* name : {"gpu1", "gpu2", "gpu3"})
         nic(made, name).link.mtu = Fact<Bytes>::of(name[3] == '2' ? 1500_B : 9000_B);
     },
     "mtu.mismatch", "gpu2"},
    {look_for_mtu, "all alike",
     [](MadeCase& made) {
       for (const char* name : {"gpu1", "gpu2", "gpu3"})
         nic(made, name).link.mtu = Fact<Bytes>::of(9000_B);
     },
     ""},
    {look_for_mtu, "two that differ without a majority",
     [](MadeCase& made) {
       nic(made, "gpu1").link.mtu = Fact<Bytes>::of(9000_B);
       nic(made, "gpu2").link.mtu = Fact<Bytes>::of(4200_B);
     },
     ""},
    {look_for_mtu, "a switch port that drops long packets",
     [](MadeCase& made) {
       cable(made, {}, {{"switch/port.drop_mtu.packets", 7}});
     },
     "mtu.mismatch", "leaf1"},
    {look_for_mtu, "a switch port below the design's MTU",
     [](MadeCase& made) { cable(made, {}, {}).mtu = Fact<Bytes>::of(1500_B); }, "mtu.mismatch",
     "leaf1", Given::kDesign},
    {look_for_mtu, "a switch port at the design's MTU",
     [](MadeCase& made) {
       cable(made, {}, {}).mtu = Fact<Bytes>::of(designed_leaf().ports.front().mtu);
     },
     "", "", Given::kDesign},
};

const Proof kPaths[] = {
    {look_for_bad_links, "CRC errors at a NIC",
     [](MadeCase& made) {
       made.host("gpu1", {{"ethtool/rx_crc_errors_phy", 12}});
     },
     "link.physical_errors", "gpu1"},
    {look_for_bad_links, "CRC errors at a switch",
     [](MadeCase& made) {
       cable(made, {}, {{"switch/port.crc_error.packets", 12}});
     },
     "link.physical_errors", "leaf1"},
    {look_for_bad_links, "one CRC error in 320 GB, which IEEE 802.3 allows",
     [](MadeCase& made) {
       made.host("gpu1",
                 {{"ethtool/rx_crc_errors_phy", 1}, {"ethtool/rx_bytes_phy", 320'000'000'000}});
     },
     ""},
    {look_for_bad_links, "twelve CRC errors in 320 GB",
     [](MadeCase& made) {
       made.host("gpu1",
                 {{"ethtool/rx_crc_errors_phy", 12}, {"ethtool/rx_bytes_phy", 320'000'000'000}});
     },
     "link.physical_errors", "gpu1"},
    {look_for_bad_links, "packets with a wrong ICRC",
     [](MadeCase& made) {
       made.host("gpu1", {{"hw_counters/rx_icrc_encapsulated", 812}});
     },
     "packet.icrc_bad", "gpu1"},
    {look_for_bad_links, "one packet with a wrong ICRC in 320 GB",
     [](MadeCase& made) {
       made.host("gpu1", {{"hw_counters/rx_icrc_encapsulated", 1},
                          {"ethtool/rx_bytes_phy", 320'000'000'000}});
     },
     ""},
    {look_for_bad_links, "a link that went down",
     [](MadeCase& made) {
       made.host("gpu1", {{"ethtool/link_down_events_phy", 2}});
     },
     "link.flapping", "gpu1"},
    {look_for_bad_links, "a link that is down",
     [](MadeCase& made) { cable(made, {}, {}).up = Fact<bool>::of(false); }, "link.degraded",
     "leaf1"},
    {look_for_bad_links, "no CRC errors, no link down",
     [](MadeCase& made) {
       cable(made, {}, {{"switch/port.crc_error.packets", 0}, {"switch/port.link_down.events", 0}});
     },
     ""},
    {look_for_bad_links, "no counter of the physical layer",
     [](MadeCase& made) {
       made.host("gpu1");
       made.forget("_phy");
     },
     "?broken frames"},

    {look_for_bounces, "traffic from one spine goes up again to another",
     [](MadeCase& made) {
       two_tiers(made, {.up = {5'000'000, 80'000'000}, .down = {60'000'000, 25'000'000}});
     },
     "routing.cyclic_buffer_dependency", "leaf1"},
    {look_for_bounces, "traffic from a spine goes back to it",
     [](MadeCase& made) {
       two_tiers(made, {.up = {400'000'000, 1'000'000}, .down = {400'000'000, 1'000'000}});
     },
     "routing.loop", "leaf1"},
    {look_for_bounces, "all that reaches one spine goes to one leaf, and on to the other spine",
     [](MadeCase& made) { one_way(made, 4, 4000, 500); }, "routing.cyclic_buffer_dependency",
     "leaf1"},
    {look_for_bounces, "all that reaches one spine goes to one leaf and its host",
     [](MadeCase& made) { one_way(made, 4, 4000, 3000); }, ""},
    {look_for_bounces, "acknowledgements of few flows use a single path by chance",
     [](MadeCase& made) { one_way(made, 4, 64, 500); }, ""},
    {look_for_bounces, "up once and down once", [](MadeCase& made) { two_tiers(made); }, ""},
    {look_for_bounces, "two switches of unknown tiers",
     [](MadeCase& made) {
       made.port_of("leaf1", "swp1", "leaf2", "swp1", {{"switch/port.tx.bytes", 50'000'000}});
       made.port_of("leaf2", "swp1", "leaf1", "swp1", {{"switch/port.tx.bytes", 50'000'000}});
     },
     "?routes"},

    {look_for_routes, "packets with an expired TTL",
     [](MadeCase& made) {
       cable(made, {}, {{"switch/port.drop_ttl.packets", 700}});
     },
     "routing.loop", "leaf1"},
    {look_for_routes, "packets without a route",
     [](MadeCase& made) {
       cable(made, {}, {{"switch/port.drop_no_route.packets", 7}});
     },
     "path.loss", "leaf1"},
    {look_for_routes, "neither",
     [](MadeCase& made) {
       cable(made, {},
             {{"switch/port.drop_ttl.packets", 0}, {"switch/port.drop_no_route.packets", 0}});
     },
     ""},

    {look_for_few_receives, "messages without a posted receive",
     [](MadeCase& made) {
       made.host("gpu1", {{"hw_counters/rnr_nak_retry_err", 9}});
       made.host("gpu2", {{"hw_counters/out_of_buffer", 10}});
     },
     "app.receives_too_few", "gpu2"},
    {look_for_few_receives, "a sender that got RNR NAKs",
     [](MadeCase& made) {
       made.host("gpu1", {{"hw_counters/rnr_nak_retry_err", 9}});
     },
     "app.receives_too_few", "gpu1"},
    {look_for_few_receives, "no RNR",
     [](MadeCase& made) {
       made.host("gpu1", {{"hw_counters/rnr_nak_retry_err", 0}, {"hw_counters/out_of_buffer", 0}});
     },
     ""},

    {look_for_deadlock, "two switches that pause each other",
     [](MadeCase& made) { waiting(made, 10'000, 9'900); }, "pfc.deadlock", "leaf1"},
    {look_for_deadlock, "only one pauses the other",
     [](MadeCase& made) { waiting(made, 10'000, 300); }, ""},
    {look_for_deadlock, "paused nearly all the time, but still sending",
     [](MadeCase& made) { waiting(made, 9'700, 9'700, 50'000'000); }, ""},
    {look_for_deadlock, "two that sent until they paused each other and never released",
     [](MadeCase& made) { waiting(made, 9'730, 9'770, 2'000'000, 60); }, "pfc.deadlock", "leaf1"},
    {look_for_deadlock, "two that pause each other as long, and release all the time",
     [](MadeCase& made) { waiting(made, 9'730, 9'770, 2'000'000, 900); }, ""},
    {look_for_deadlock, "one of two that never releases the other",
     [](MadeCase& made) { waiting(made, 9'730, 2'000, 2'000'000, 60); }, ""},
    {look_for_deadlock, "the watchdog saw a storm",
     [](MadeCase& made) {
       cable(made, {}, {{"switch/queue3.watchdog_storm.events", 2}});
     },
     "pfc.storm", "leaf1"},
    {look_for_deadlock, "the watchdog saw none",
     [](MadeCase& made) {
       cable(made, {}, {{"switch/queue3.watchdog_storm.events", 0}});
     },
     ""},

    {look_for_host_bottlenecks, "the buffer towards PCIe overflows, and the NIC pauses",
     [](MadeCase& made) {
       made.host("gpu1",
                 {{"ethtool/outbound_pci_buffer_overflow", 800}, {"ethtool/tx_prio3_pause", 9}});
     },
     "receiver.slow", "gpu1"},
    {look_for_host_bottlenecks, "PCIe writes stalled, and the NIC dropped",
     [](MadeCase& made) {
       made.host("gpu1",
                 {{"ethtool/outbound_pci_stalled_wr_events", 3}, {"ethtool/rx_discards_phy", 5}});
     },
     "receiver.slow", "gpu1"},
    {look_for_host_bottlenecks, "PCIe writes stalled without pauses or drops",
     [](MadeCase& made) {
       made.host("gpu1", {{"ethtool/outbound_pci_stalled_wr_events", 3}});
     },
     ""},

    {look_for_host_bottlenecks, "relaxed ordering off on a NIC that pauses its switch",
     [](MadeCase& made) {
       nic(made, "gpu1",
           {{"ethtool/tx_prio3_pause", 400}, {"ethtool/tx_prio3_pause_duration", 2000}})
           .pcie.relaxed_ordering = Fact<bool>::of(false);
     },
     "pcie.relaxed_ordering_wrong", "gpu1"},
    {look_for_host_bottlenecks, "relaxed ordering off on a NIC that keeps up",
     [](MadeCase& made) { nic(made, "gpu1").pcie.relaxed_ordering = Fact<bool>::of(false); }, ""},
    {look_for_host_bottlenecks, "relaxed ordering on, and the NIC pauses its switch",
     [](MadeCase& made) {
       nic(made, "gpu1",
           {{"ethtool/tx_prio3_pause", 400}, {"ethtool/tx_prio3_pause_duration", 2000}})
           .pcie.relaxed_ordering = Fact<bool>::of(true);
     },
     ""},

    {look_for_slow_receivers, "an uplink paused 60 % of two seconds under a watchdog",
     [](MadeCase& made) { watched(made, 1'200'000, true); }, "watchdog.blind", "leaf1"},
    {look_for_slow_receivers, "the watchdog holds a queue that nobody pauses",
     [](MadeCase& made) { held(made, 0); }, "watchdog.stuck", "leaf1"},
    {look_for_slow_receivers, "the watchdog holds a queue that is being paused",
     [](MadeCase& made) { held(made, 90); }, ""},
    {look_for_slow_receivers, "the same without a watchdog",
     [](MadeCase& made) { watched(made, 1'200'000, false); }, ""},
    {look_for_slow_receivers, "paused 20 % of the time under a watchdog",
     [](MadeCase& made) { watched(made, 400'000, true); }, ""},
    {look_for_slow_receivers, "a NIC pauses its switch for 40 % of the window",
     [](MadeCase& made) {
       made.host("gpu1",
                 {{"ethtool/tx_prio3_pause", 900}, {"ethtool/tx_prio3_pause_duration", 4000}});
     },
     "receiver.slow", "gpu1"},
    {look_for_slow_receivers, "a NIC that only renews its pauses",
     [](MadeCase& made) {
       nic(made, "gpu1",
           {{"ethtool/tx_prio3_pause", 30}, {"ethtool/tx_prio3_pause_duration", 6000}})
           .link.speed = Fact<BitRate>::of(100_Gbps);
     },
     "pfc.storm", "gpu1"},
    {look_for_slow_receivers, "a NIC without PFC that drops what arrives",
     [](MadeCase& made) {
       made.host("gpu1", {{"ethtool/rx_discards_phy", 5}});
     },
     "receiver.slow", "gpu1"},
    {look_for_slow_receivers, "pauses of 0.5 % of the window",
     [](MadeCase& made) {
       made.host("gpu1", {{"ethtool/tx_prio3_pause", 4}, {"ethtool/tx_prio3_pause_duration", 50}});
     },
     ""},
    {look_for_slow_receivers, "no pause counters of the priority",
     [](MadeCase& made) {
       made.host("gpu1");
       made.forget("prio3_pause");
     },
     "?slow receivers"},
};

const Proof kCongestion[] = {
    {look_for_silent_receivers, "marked packets and no CNP",
     [](MadeCase& made) {
       made.host("gpu1", {{"hw_counters/np_cnp_sent", 0}});
     },
     "np.disabled", "gpu1"},
    {look_for_silent_receivers, "NP is off on all priorities",
     [](MadeCase& made) { nic(made, "gpu1").ecn.np = Fact<PrioritySet>::of(PrioritySet()); },
     "np.disabled", "gpu1"},
    {look_for_silent_receivers, "marked packets and CNPs",
     [](MadeCase& made) { made.host("gpu1"); }, ""},
    {look_for_silent_receivers, "three marks prove nothing",
     [](MadeCase& made) {
       made.host("gpu1",
                 {{"hw_counters/np_ecn_marked_roce_packets", 3}, {"hw_counters/np_cnp_sent", 0}});
     },
     ""},
    {look_for_silent_receivers, "two marks without a CNP beside three hosts that answer theirs",
     [](MadeCase& made) {
       answers(made, {2, 1, 1, 3});
     },
     "np.disabled", "gpu1"},
    {look_for_silent_receivers, "one mark without a CNP beside three hosts that answer theirs",
     [](MadeCase& made) {
       answers(made, {1, 1, 1, 3});
     },
     ""},
    {look_for_silent_receivers, "two marks without a CNP beside two hosts that answer theirs",
     [](MadeCase& made) {
       answers(made, {2, 1, 3});
     },
     ""},
    {look_for_silent_receivers, "no counter of marks and no setting",
     [](MadeCase& made) {
       made.host("gpu1");
       made.forget("np_");
     },
     "?notification points"},

    {look_for_deaf_senders, "CNPs are ignored and none handled",
     [](MadeCase& made) {
       made.host("gpu1", {{"hw_counters/rp_cnp_handled", 0}, {"hw_counters/rp_cnp_ignored", 300}});
     },
     "rp.disabled", "gpu1"},
    {look_for_deaf_senders, "packets in the CNP priority and none handled",
     [](MadeCase& made) {
       made.host("gpu1", {{"hw_counters/rp_cnp_handled", 0}, {"ethtool/rx_prio6_packets", 30}});
     },
     "rp.disabled", "gpu1"},
    {look_for_deaf_senders, "RP is off on the priority",
     [](MadeCase& made) {
       nic(made, "gpu1").ecn.rp = Fact<PrioritySet>::of(PrioritySet::from_mask(1U << 4U));
     },
     "rp.disabled", "gpu1"},
    {look_for_deaf_senders, "a third of the CNPs ignored",
     [](MadeCase& made) {
       made.host("gpu1", {{"hw_counters/rp_cnp_handled", 100}, {"hw_counters/rp_cnp_ignored", 50}});
     },
     "rp.disabled", "gpu1"},
    {look_for_deaf_senders, "CNPs sent and not received",
     [](MadeCase& made) {
       for (const char* name : {"gpu1", "gpu2"})
         made.host(name, {{"hw_counters/np_cnp_sent", 500}, {"hw_counters/rp_cnp_handled", 20}});
     },
     "cnp.lost", "", Given::kDesign},
    {look_for_deaf_senders, "CNPs sent and received",
     [](MadeCase& made) {
       for (const char* name : {"gpu1", "gpu2"})
         made.host(name, {{"hw_counters/np_cnp_sent", 500}, {"hw_counters/rp_cnp_handled", 480}});
     },
     "", "", Given::kDesign},
    {look_for_deaf_senders, "no CNPs to handle",
     [](MadeCase& made) {
       made.host("gpu1", {{"hw_counters/rp_cnp_handled", 0}});
     },
     ""},
    {look_for_deaf_senders, "no counter of CNPs and no setting",
     [](MadeCase& made) {
       made.host("gpu1");
       made.forget("rp_");
     },
     "?reaction points"},

    {look_for_same_hash, "two tiers with one seed",
     [](MadeCase& made) {
       seeds(made, {7, 7, 7, 7});
     },
     "ecmp.same_seed"},
    {look_for_same_hash, "one leaf with a spine's seed",
     [](MadeCase& made) {
       seeds(made, {7, 2, 7, 4});
     },
     "ecmp.same_seed", "leaf1"},
    {look_for_same_hash, "one seed per switch",
     [](MadeCase& made) {
       seeds(made, {1, 2, 3, 4});
     },
     ""},
    {look_for_same_hash, "one seed per tier: no packet meets a seed twice",
     [](MadeCase& made) {
       seeds(made, {1, 1, 2, 2});
     },
     ""},

    {look_for_reordering, "out of order, and no switch dropped",
     [](MadeCase& made) {
       cable(made, {{"hw_counters/out_of_sequence", 700}}, {{"switch/port.drop.packets", 0}});
     },
     "path.reordering", "gpu1"},
    {look_for_reordering, "out of order, and a switch dropped",
     [](MadeCase& made) {
       cable(made, {{"hw_counters/out_of_sequence", 700}}, {{"switch/port.drop.packets", 9}});
     },
     ""},
    {look_for_reordering, "out of order, a few drops and many more requests to repeat",
     [](MadeCase& made) {
       cable(made,
             {{"hw_counters/out_of_sequence", 700},
              {"hw_counters/duplicate_request", 300},
              {"hw_counters/packet_seq_err", 400}},
             {{"switch/port.drop.packets", 9}});
     },
     "path.reordering", "gpu1"},
    {look_for_reordering, "out of order, and as many requests to repeat as drops",
     [](MadeCase& made) {
       cable(made,
             {{"hw_counters/out_of_sequence", 700},
              {"hw_counters/duplicate_request", 300},
              {"hw_counters/packet_seq_err", 60}},
             {{"switch/port.drop.packets", 9}});
     },
     ""},
    {look_for_reordering, "many requests to repeat after a link went down",
     [](MadeCase& made) {
       cable(made,
             {{"hw_counters/out_of_sequence", 700},
              {"hw_counters/duplicate_request", 300},
              {"hw_counters/packet_seq_err", 400},
              {"ethtool/link_down_events_phy", 1}},
             {{"switch/port.drop.packets", 9}});
     },
     ""},
    {look_for_reordering, "one host, and retransmitted packets arrived twice",
     [](MadeCase& made) {
       made.host("gpu1",
                 {{"hw_counters/out_of_sequence", 700}, {"hw_counters/duplicate_request", 300}});
     },
     "path.reordering", "gpu1"},
    {look_for_reordering, "one host, and nothing arrived twice",
     [](MadeCase& made) {
       made.host("gpu1",
                 {{"hw_counters/out_of_sequence", 700}, {"hw_counters/duplicate_request", 0}});
     },
     ""},
    {look_for_reordering, "spraying to NICs that need order",
     [](MadeCase& made) {
       cable(made, {}, {});
       made.pieces()[0].nics[0].rdma.out_of_order = Fact<bool>::of(false);
       made.device("leaf1").load_balancing = Fact<std::string>::of("spray");
     },
     "path.reordering", "leaf1"},
    {look_for_reordering, "ECMP to NICs that need order",
     [](MadeCase& made) {
       cable(made, {}, {});
       made.pieces()[0].nics[0].rdma.out_of_order = Fact<bool>::of(false);
       made.device("leaf1").load_balancing = Fact<std::string>::of("ecmp");
     },
     ""},

    {look_for_pauses_everywhere, "a lossless pool of a third of the design's",
     [](MadeCase& made) { set_pool(made, 0.33); }, "buffer.too_small", "leaf1", Given::kDesign},
    {look_for_pauses_everywhere, "a lossless pool a little smaller than the design's",
     [](MadeCase& made) { set_pool(made, 0.9); }, "", "", Given::kDesign},
    {look_for_pauses_everywhere, "an alpha of a thousandth",
     [](MadeCase& made) {
       group(cable(made, {}, {})).alpha = Fact<Alpha>::of(Alpha::from_log2(-10));
     },
     "buffer.too_small", "leaf1", Given::kDesign},
    {look_for_pauses_everywhere, "the design's alpha",
     [](MadeCase& made) {
       group(cable(made, {}, {})).alpha = Fact<Alpha>::of(designed_leaf().buffers.alpha);
     },
     "", "", Given::kDesign},
    {look_for_pauses_everywhere, "pauses with a tenth of the threshold in the group",
     [](MadeCase& made) { paused_at(made, 0.1); }, "buffer.too_small", "leaf1", Given::kDesign},
    {look_for_pauses_everywhere, "pauses at the threshold",
     [](MadeCase& made) { paused_at(made, 1.0); }, "", "", Given::kDesign},
    {look_for_pauses_everywhere, "pauses, and nobody knows the threshold",
     [](MadeCase& made) { paused_at(made, 0.1); }, ""},

    {look_for_late_marking, "ECN is off on the RDMA queue",
     [](MadeCase& made) { queue(cable(made, {}, {})).ecn = Fact<bool>::of(false); },
     "ecn.off_on_lossless", "leaf1"},
    {look_for_late_marking, "marking begins at twice the design's length",
     [](MadeCase& made) { queue(cable(made, {}, {})).ecn_min = Fact<Bytes>::of(200'000_B); },
     "ecn.thresholds_too_high", "leaf1", Given::kDesign},
    {look_for_late_marking, "marking starts 20 % later than designed",
     [](MadeCase& made) { queue(cable(made, {}, {})).ecn_min = Fact<Bytes>::of(120'000_B); }, "",
     "", Given::kDesign},
    {look_for_late_marking, "fewer marks than a queue that long must have had",
     [](MadeCase& made) { marked(made, 2); }, "ecn.thresholds_too_high", "leaf1", Given::kDesign},
    {look_for_late_marking, "as few marks as a queue that long may have had",
     [](MadeCase& made) { marked(made, 25); }, "", "", Given::kDesign},
    {look_for_late_marking, "few marks of a queue that has not drained yet",
     [](MadeCase& made) {
       cable(made, {},
             {{"switch/queue3.depth_max.bytes", 300'000},
              {"switch/queue3.depth.bytes", 300'000},
              {"switch/queue3.tx.packets", 1000},
              {"switch/queue3.ecn_marked.packets", 2}});
     },
     "", "", Given::kDesign},
    {look_for_late_marking, "few marks of a queue that has drained",
     [](MadeCase& made) {
       cable(made, {},
             {{"switch/queue3.depth_max.bytes", 300'000},
              {"switch/queue3.depth.bytes", 10'000},
              {"switch/queue3.tx.packets", 1000},
              {"switch/queue3.ecn_marked.packets", 2}});
     },
     "ecn.thresholds_too_high", "leaf1", Given::kDesign},
    {look_for_late_marking, "400 pauses and two marks",
     [](MadeCase& made) {
       cable(made, {{"ethtool/rx_prio3_pause", 400}},
             {{"switch/prio3.pause_tx.frames", 400}, {"switch/queue3.ecn_marked.packets", 2}});
     },
     "ecn.thresholds_too_high", "leaf1"},
    {look_for_late_marking, "400 pauses and two marks, though it marks early enough",
     [](MadeCase& made) {
       queue(
           cable(made, {{"ethtool/rx_prio3_pause", 400}},
                 {{"switch/prio3.pause_tx.frames", 400}, {"switch/queue3.ecn_marked.packets", 2}}))
           .ecn_min = Fact<Bytes>::of(150'000_B);
     },
     "ecn.above_xoff", "leaf1"},
    {look_for_late_marking, "400 pauses and more marks",
     [](MadeCase& made) {
       cable(made, {{"ethtool/rx_prio3_pause", 400}},
             {{"switch/prio3.pause_tx.frames", 400}, {"switch/queue3.ecn_marked.packets", 900}});
     },
     ""},
    {look_for_late_marking, "400 pauses of a switch that does not count marks",
     [](MadeCase& made) {
       cable(made, {{"ethtool/rx_prio3_pause", 400}}, {{"switch/prio3.pause_tx.frames", 400}});
     },
     ""},

    {look_for_early_marking, "marking starts at half the designed queue",
     [](MadeCase& made) { queue(cable(made, {}, {})).ecn_min = Fact<Bytes>::of(50'000_B); },
     "ecn.thresholds_too_low", "leaf1", Given::kDesign},
    {look_for_early_marking, "marking starts 20 % earlier than designed",
     [](MadeCase& made) { queue(cable(made, {}, {})).ecn_min = Fact<Bytes>::of(80'000_B); }, "", "",
     Given::kDesign},
    {look_for_early_marking, "without a design only what is far from usual counts",
     [](MadeCase& made) { queue(cable(made, {}, {})).ecn_min = Fact<Bytes>::of(1000_B); },
     "ecn.thresholds_too_low", "leaf1"},
    {look_for_early_marking, "more marks than a queue that long can have had",
     [](MadeCase& made) { marked(made, 900); }, "ecn.thresholds_too_low", "leaf1", Given::kDesign},
    {look_for_early_marking, "as many marks as a queue that long may have had",
     [](MadeCase& made) { marked(made, 450); }, "", "", Given::kDesign},
    {look_for_early_marking, "many marks, and the threshold that was read is right",
     [](MadeCase& made) { queue(marked(made, 900)).ecn_min = Fact<Bytes>::of(100'000_B); }, "", "",
     Given::kDesign},
    {look_for_early_marking, "many marks, and nobody knows how long the queue was",
     [](MadeCase& made) {
       cable(made, {},
             {{"switch/queue3.tx.packets", 1000}, {"switch/queue3.ecn_marked.packets", 900}});
     },
     "", "", Given::kDesign},
    {look_for_early_marking, "the rate grows in steps of a hundred times the design's",
     [](MadeCase& made) { set_knob(made, 10'000); }, "dcqcn.too_aggressive", "gpu1",
     Given::kDesign},
    {look_for_early_marking, "the rate grows in steps of a fifth of the design's",
     [](MadeCase& made) { set_knob(made, 20); }, "dcqcn.too_conservative", "gpu1", Given::kDesign},
    {look_for_early_marking, "the rate grows in the design's steps",
     [](MadeCase& made) { set_knob(made, 100); }, "", "", Given::kDesign},

    {look_for_small_headroom, "drops in the lossless group, and not one pause",
     [](MadeCase& made) {
       cable(made, {},
             {{"switch/pg3.drop_headroom.packets", 40}, {"switch/prio3.pause_tx.frames", 0}});
     },
     "config.not_applied", "leaf1"},
    {look_for_small_headroom, "drops in the lossless group",
     [](MadeCase& made) {
       cable(made, {}, {{"switch/pg3.drop_headroom.packets", 12}});
     },
     "headroom.too_small", "leaf1"},
    {look_for_small_headroom, "no drop in the lossless group",
     [](MadeCase& made) {
       cable(made, {}, {{"switch/pg3.drop_headroom.packets", 0}});
     },
     ""},
    {look_for_small_headroom, "a switch that does not count what it drops",
     [](MadeCase& made) {
       cable(made, {}, {{"switch/port.tx.bytes", 50'000'000}});
       made.forget_at_switches("drop");
     },
     "?drops at the switches"},
    {look_for_small_headroom, "half of the headroom that speed and cable need",
     [](MadeCase& made) { set_headroom(made, 0.5); }, "headroom.too_small", "leaf1",
     Given::kDesign},
    {look_for_small_headroom, "the headroom that the design gives",
     [](MadeCase& made) { set_headroom(made, 1.0); }, "", "", Given::kDesign},
};

const Proof kRest[] = {
    {look_for_uplinks, "one leaf with a slower uplink",
     [](MadeCase& made) {
       two_tiers(made);
       narrow(made, {"leaf1"});
     },
     "leaf.uplink_bottleneck", "leaf1"},
    {look_for_uplinks, "all leaves alike",
     [](MadeCase& made) {
       two_tiers(made);
       narrow(made, {"leaf1", "leaf2"});
     },
     ""},
    {look_for_uplinks, "the state of an uplink is not known",
     [](MadeCase& made) {
       two_tiers(made);
       narrow(made, {"leaf1"});
       for (evidence::SwitchPort& port : made.device("leaf1").ports)
         port.up = Fact<bool>();
     },
     ""},

    {look_for_hot_spots, "pauses that start at the one link that carries all",
     [](MadeCase& made) { hot_link(made, 0.001); }, "ecmp.imbalance", "leaf1"},
    {look_for_hot_spots, "pauses that begin at one of two links used alike",
     [](MadeCase& made) { hot_link(made, 0.9); }, "pfc.sustained", "leaf1"},
    {look_for_hot_spots, "a switch that is paused itself is not the root",
     [](MadeCase& made) { hot_link(made, 0.9, 400'000); }, ""},
    {look_for_hot_spots, "a host alone, paused for a tenth of two seconds",
     [](MadeCase& made) {
       alone_for_long(
           made, {{"ethtool/rx_prio3_pause", 900}, {"ethtool/rx_prio3_pause_duration", 200'000}});
     },
     "pfc.sustained", "gpu1"},
    {look_for_hot_spots, "a host alone, paused in a burst",
     [](MadeCase& made) {
       made.host("gpu1", {{"ethtool/rx_prio3_pause", 9}, {"ethtool/rx_prio3_pause_duration", 800}});
     },
     ""},

    {look_for_discards, "a NIC that could not send",
     [](MadeCase& made) {
       made.host("gpu1", {{"ethtool/tx_discards_phy", 5}});
     },
     "port.discards", "gpu1"},
    {look_for_discards, "a NIC without a receive buffer for a priority",
     [](MadeCase& made) {
       made.host("gpu1", {{"ethtool/rx_prio3_discards", 5}});
     },
     "port.discards", "gpu1"},
    {look_for_discards, "a switch port that gives no reason",
     [](MadeCase& made) {
       cable(made, {}, {{"switch/port.drop.packets", 5}});
     },
     "port.discards", "leaf1"},
    {look_for_discards, "a switch port with a policer",
     [](MadeCase& made) {
       cable(made, {}, {{"switch/port.drop_policer.packets", 5}});
     },
     "port.discards", "leaf1"},
    {look_for_discards, "a switch port that counts a reason for each",
     [](MadeCase& made) {
       cable(made, {},
             {{"switch/port.drop.packets", 12},
              {"switch/queue0.drop_tail.packets", 5},
              {"switch/port.drop_mtu.packets", 7}});
     },
     ""},
    {look_for_discards, "a port whose drops nobody counts",
     [](MadeCase& made) {
       cable(made, {}, {{"switch/port.tx.bytes", 5}});
     },
     ""},

    {look_for_timers, "retransmitted without request or drop",
     [](MadeCase& made) {
       cable(made, {{"hw_counters/roce_adp_retrans", 30}}, {{"switch/port.drop.packets", 0}});
     },
     "transport.timer_below_rtt", "gpu1"},
    {look_for_timers, "retransmitted on request",
     [](MadeCase& made) {
       cable(made, {{"hw_counters/roce_adp_retrans", 30}, {"hw_counters/packet_seq_err", 30}},
             {{"switch/port.drop.packets", 0}});
     },
     ""},
    {look_for_timers, "no switch was looked at, and all that was sent again had arrived",
     [](MadeCase& made) { sent_again(made, 0, 5); }, "transport.timer_below_rtt", "gpu1"},
    {look_for_timers, "no switch was looked at, and a packet was missed",
     [](MadeCase& made) { sent_again(made, 1, 5); }, ""},
    {look_for_timers, "no switch was looked at, and fewer arrived twice than were sent again",
     [](MadeCase& made) { sent_again(made, 0, 2); }, ""},
    {look_for_timers, "sent again, and no switch was looked at",
     [](MadeCase& made) {
       made.host("gpu1", {{"hw_counters/roce_adp_retrans", 30}});
     },
     ""},

    {look_at_ends, "left in priority 3, arrived in another",
     [](MadeCase& made) {
       both_ends(made, 0, {"gpu1", "gpu2"});
     },
     "dscp.rewritten"},
    {look_at_ends, "left in priority 3, arrived in it",
     [](MadeCase& made) {
       both_ends(made, 50'000'000, {"gpu1", "gpu2"});
     },
     ""},
    {look_at_ends, "three hosts of a fabric that nobody knows the size of",
     [](MadeCase& made) {
       both_ends(made, 0, {"gpu1", "gpu2", "gpu3"});
     },
     ""},

    {look_from_one_host, "RDMA sent and nothing received",
     [](MadeCase& made) {
       made.host("gpu1", {{"ethtool/rx_prio3_packets", 0}, {"ethtool/rx_prio3_bytes", 0}});
     },
     "routing.loop", "gpu1", Given::kDesign},
    {look_from_one_host, "paused more than told to slow down",
     [](MadeCase& made) {
       nic(made, "gpu1", {{"ethtool/rx_prio3_pause", 50}, {"ethtool/rx_prio3_pause_duration", 800}})
           .link.neighbour = Fact<evidence::Neighbour>::of({"leaf1", "swp1"});
     },
     "buffer.too_small", "leaf1", Given::kDesign},
    {look_from_one_host, "far more CNPs than pauses",
     [](MadeCase& made) {
       made.host("gpu1", {{"ethtool/rx_prio3_pause", 5},
                          {"ethtool/rx_prio3_pause_duration", 800},
                          {"hw_counters/rp_cnp_handled", 900}});
     },
     "", "", Given::kDesign},
    {look_from_one_host, "lost while it was paused",
     [](MadeCase& made) {
       made.host("gpu1", {{"ethtool/rx_prio3_pause", 1}, {"hw_counters/out_of_sequence", 5}});
     },
     "headroom.too_small", "gpu1", Given::kDesign},
    {look_from_one_host, "asked again for one packet in a hundred",
     [](MadeCase& made) {
       made.host("gpu1", {{"hw_counters/packet_seq_err", 120}});
     },
     "path.reordering", "", Given::kDesign},
    {look_from_one_host, "asked again for two packets",
     [](MadeCase& made) {
       made.host("gpu1", {{"hw_counters/packet_seq_err", 2}});
     },
     "link.physical_errors", "", Given::kDesign},
    {look_from_one_host, "the same of two hosts",
     [](MadeCase& made) {
       made.host("gpu1", {{"hw_counters/packet_seq_err", 2}});
       made.host("gpu2");
     },
     "", "", Given::kDesign},
    {look_from_one_host, "the same, and its switch was looked at",
     [](MadeCase& made) {
       cable(made, {{"hw_counters/packet_seq_err", 2}}, {});
     },
     "", "", Given::kDesign},
    {look_from_one_host, "the same without a design",
     [](MadeCase& made) {
       made.host("gpu1", {{"hw_counters/packet_seq_err", 2}});
     },
     ""},
    {look_from_one_host, "the same of a host whose own cable is bad",
     [](MadeCase& made) {
       made.host("gpu1", {{"hw_counters/packet_seq_err", 2}, {"ethtool/rx_crc_errors_phy", 2}});
     },
     "", "", Given::kDesign},

    {look_for_loss, "timeouts without a cause",
     [](MadeCase& made) {
       made.host("gpu1", {{"hw_counters/local_ack_timeout_err", 4}});
     },
     "path.loss", "gpu1"},
    {look_for_loss, "nothing was lost", [](MadeCase& made) { made.host("gpu1"); }, ""},
    {look_for_loss, "loss where only a lossy class dropped is a note",
     [](MadeCase& made) {
       cable(made, {{"hw_counters/packet_seq_err", 5}}, {{"switch/queue0.drop_tail.packets", 9}});
     },
     ""},
    {look_for_loss, "no counter of retransmissions",
     [](MadeCase& made) {
       made.host("gpu1");
       made.forget("seq");
     },
     "?loss"},

    {look_for_restarts, "ten slow restarts",
     [](MadeCase& made) {
       made.host("gpu1", {{"hw_counters/roce_slow_restart", 10}});
     },
     "congestion.sustained", "gpu1"},
    {look_for_restarts, "nine slow restarts",
     [](MadeCase& made) {
       made.host("gpu1", {{"hw_counters/roce_slow_restart", 9}});
     },
     ""},
    {look_for_restarts, "a NIC that does not count them", [](MadeCase& made) { made.host("gpu1"); },
     ""},

    {look_for_low_use, "CNPs on a nearly empty link for two seconds",
     [](MadeCase& made) {
       alone_for_long(made, {{"hw_counters/rp_cnp_handled", 5000}});
     },
     "~dcqcn.too_conservative"},
    {look_for_low_use, "the same with PFC pauses",
     [](MadeCase& made) {
       alone_for_long(made, {{"hw_counters/rp_cnp_handled", 5000}, {"ethtool/rx_prio3_pause", 9}});
     },
     ""},
    {look_for_low_use, "the same with 802.3x pauses",
     [](MadeCase& made) {
       alone_for_long(made,
                      {{"hw_counters/rp_cnp_handled", 5000}, {"ethtool/rx_pause_ctrl_phy", 9}});
     },
     ""},
    {look_for_low_use, "a line that is nearly empty because nobody sends",
     [](MadeCase& made) {
       alone_for_long(made, {{"hw_counters/rp_cnp_handled", 0}});
     },
     ""},
    {look_for_low_use, "told to slow down on a full line",
     [](MadeCase& made) {
       alone_for_long(made, {{"hw_counters/rp_cnp_handled", 5000},
                             {"ethtool/tx_prio3_bytes", 20'000'000'000}});
     },
     ""},
    {look_for_low_use, "the same in a burst is a note",
     [](MadeCase& made) {
       nic(made, "gpu1", {{"hw_counters/rp_cnp_handled", 5000}}).link.speed =
           Fact<BitRate>::of(400_Gbps);
     },
     ""},

    {look_beyond, "a host that was paused, and no switch",
     [](MadeCase& made) {
       made.host("gpu1", {{"ethtool/rx_prio3_pause", 9}, {"ethtool/rx_prio3_pause_duration", 800}});
     },
     "?cause of the pauses"},
    {look_beyond, "one host of two, and no switch", [](MadeCase& made) { made.host("gpu1"); },
     "?the rest of the fabric", "", Given::kDesign},
    {look_beyond, "a host that was not paused", [](MadeCase& made) { made.host("gpu1"); }, ""},
    {look_beyond, "a host that was paused, and its switch",
     [](MadeCase& made) {
       cable(made, {{"ethtool/rx_prio3_pause", 9}, {"ethtool/rx_prio3_pause_duration", 800}},
             {{"switch/prio3.pause_tx.frames", 9}});
     },
     "", "", Given::kDesign},
};

std::vector<Proof> proofs() {
  std::vector<Proof> all(std::begin(kSettings), std::end(kSettings));
  all.insert(all.end(), std::begin(kPaths), std::end(kPaths));
  all.insert(all.end(), std::begin(kCongestion), std::end(kCongestion));
  all.insert(all.end(), std::begin(kRest), std::end(kRest));
  return all;
}

/// What a rule added to what those before it had said.
struct Said {
  std::vector<finding::Finding> findings;  // worse than notes
  std::vector<finding::Finding> notes;
  std::vector<finding::Unknown> unknown;
};

Said said_by(Look look, const Case& subject) {
  const View view(subject);
  Suspicions all;
  for (const Rule& rule : rules()) {
    const std::size_t before = all.candidates().size();
    const std::size_t unknown = all.unknown().size();
    rule.look(view, all);
    if (rule.look != look) continue;
    Said out;
    for (std::size_t i = before; i < all.candidates().size(); ++i)
      (all.candidates()[i].finding.severity == finding::Severity::kInfo ? out.notes : out.findings)
          .push_back(all.candidates()[i].finding);
    out.unknown.assign(all.unknown().begin() + static_cast<std::ptrdiff_t>(unknown),
                       all.unknown().end());
    return out;
  }
  ADD_FAILURE() << "no such rule";
  return {};
}

/// What the cases of a rule say.
std::set<std::string_view> ids_of(Look look) {
  std::set<std::string_view> ids;
  for (const Proof& proof : proofs())
    if (proof.look == look && !proof.says.empty() && !proof.says.starts_with("?") &&
        !proof.says.starts_with("~"))
      ids.insert(proof.says);
  return ids;
}

void check(const Proof& proof) {
  MadeCase made;
  proof.make(made);
  const Case subject{made.pieces(), proof.given == Given::kDesign ? &designed() : nullptr, {}};
  const Said said = said_by(proof.look, subject);
  if (proof.says.empty()) {
    EXPECT_TRUE(said.findings.empty()) << said.findings.front().verdict;
    EXPECT_TRUE(said.unknown.empty()) << said.unknown.front().reason;
    for (const std::string_view id : ids_of(proof.look))
      EXPECT_FALSE(finding::is_raised(said.findings, id));
    return;
  }
  if (proof.says.starts_with("?")) {
    EXPECT_TRUE(said.findings.empty()) << said.findings.front().verdict;
    ASSERT_FALSE(said.unknown.empty());
    EXPECT_EQ(said.unknown.front().check, proof.says.substr(1));
    EXPECT_FALSE(said.unknown.front().how.empty());
    return;
  }
  if (proof.says.starts_with("~")) {
    EXPECT_TRUE(said.findings.empty()) << said.findings.front().verdict;
    EXPECT_TRUE(finding::is_raised(said.notes, proof.says.substr(1)));
    return;
  }
  ASSERT_FALSE(said.findings.empty());
  const finding::Finding& first = said.findings.front();
  EXPECT_EQ(first.id, proof.says) << first.verdict;
  EXPECT_TRUE(finding::is_raised(said.findings, proof.says));
  EXPECT_FALSE(finding::fixes_of(first).empty());
  if (subject.intent == nullptr) {
    const finding::CatalogEntry* entry = finding::find(first.id);
    for (const std::string_view text : {std::string_view(first.verdict), entry->title})
      EXPECT_EQ(text.find("design"), std::string_view::npos) << "nobody gave one: " << text;
  }
  if (proof.place.empty()) {
    EXPECT_EQ(finding::to_text(first.where), "");
  } else {
    EXPECT_TRUE(first.where.host == proof.place || first.where.switch_name == proof.place)
        << finding::to_text(first.where);
  }
  const finding::Judgement whole = diagnose(subject);
  EXPECT_TRUE(
      std::any_of(whole.findings.begin(), whole.findings.end(),
                  [&](const finding::Finding& finding) { return finding.id == proof.says; }))
      << "explained away";
}

TEST(RuleProofs, EachRuleSpeaksWhereItShouldAndIsSilentBesideIt) {
  COVERS("I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9", "I10", "I11", "I12", "I13", "I14",
         "I15", "I16", "I17", "I18", "I19", "I20", "I21", "I22", "I23", "I24", "I25", "I26", "I27",
         "I28", "I29");
  for (const Proof& proof : proofs()) {
    SCOPED_TRACE(proof.what);
    check(proof);
  }
}

TEST(RuleProofs, NoRuleIsWithoutACaseForAndACaseAgainst) {
  COVERS("I1");
  const std::vector<Proof> all = proofs();
  for (const Rule& rule : rules()) {
    const auto count = [&](bool speaks) {
      return std::count_if(all.begin(), all.end(), [&](const Proof& proof) {
        return proof.look == rule.look && proof.says.empty() != speaks;
      });
    };
    EXPECT_GE(count(true), 1) << rule.what;
    EXPECT_GE(count(false), 1) << rule.what;
  }
}

/// The faults of the lab that a rule names and whose fix was applied there, by
/// src/lab/exam/repairs_test.cc; else why there is none.
struct Repair {
  Look look;
  std::string_view faults;
  std::string_view why_none = {};
};
constexpr Repair kRepairs[] = {
    {look_for_sockets, "tcp-fallback"},
    {look_for_marking, "wrong-trust wrong-tc wrong-dscp wrong-nic-map"},
    {look_for_switch_maps, "switch-wrong-map"},
    {look_for_shared_queues, "shared-queue"},
    {look_for_pfc_priority, "wrong-pfc-priority"},
    {look_at_cables, "", "a simulated NIC without PFC shows no pause counters: the rule above"},
    {look_for_pfc_too_wide, "pfc-too-wide"},
    {look_for_mtu, "wrong-mtu"},
    {look_for_bad_links, "degraded-link link-down switch-down"},
    {look_for_bounces, "bounce-routing"},
    {look_for_routes, "routing-loop"},
    {look_for_few_receives, "few-receives"},
    {look_for_deadlock, "", "in the lab the wrong routes are found before they deadlock"},
    {look_for_host_bottlenecks, "", "simulated NICs have no PCIe counters: see the next rule"},
    {look_for_slow_receivers, "slow-receiver nic-pause-storm"},
    {look_for_silent_receivers, "np-off"},
    {look_for_deaf_senders, "rp-off"},
    {look_for_same_hash, "same-hash-seed"},
    {look_for_reordering, "reordering"},
    {look_for_pauses_everywhere, "pool-too-small"},
    {look_for_late_marking, "ecn-too-high"},
    {look_for_early_marking, "ecn-too-low dcqcn-rate-ai dcqcn-alpha-period"},
    {look_for_small_headroom, "headroom-too-small"},
    {look_for_uplinks, "",
     "in the lab only a link that is down causes it, which has its own finding"},
    {look_for_hot_spots, "", "a load, not a setting: `same-hash-seed` if hashing is the cause"},
    {look_for_discards, "", "simulated ports count a reason for every drop"},
    {look_for_timers, "", "the lab has no setting for the timer"},
    {look_at_ends, "", "simulated switches do not rewrite the marking"},
    {look_from_one_host, "", "guesses: each suspected fault has its own row"},
    {look_for_loss, "", "a consequence: its causes have rows of their own"},
    {look_for_restarts, "", "simulated NICs do not count restarts"},
    {look_for_low_use, "", "`dcqcn-alpha-period`, where the parameters are read"},
    {look_beyond, "", "reports only what is missing"},
};

/// How many cases, and the first of them.
std::string cases(const std::vector<Proof>& all, const Rule& rule,
                  bool (*is_meant)(std::string_view)) {
  std::size_t count = 0;
  std::string_view first;
  for (const Proof& proof : all) {
    if (proof.look != rule.look || !is_meant(proof.says)) continue;
    if (count++ == 0) first = proof.what;
  }
  return count == 0 ? std::string() : fmt::format("{}: {}", count, first);
}

std::string in_code(std::string_view faults) {
  std::string out;
  for (const std::string_view fault : split(faults, ' '))
    out += fmt::format("{}`{}`", out.empty() ? "" : ", ", fault);
  return out;
}

std::string table_of_proofs() {
  const std::vector<Proof> all = proofs();
  std::string out =
      "| row | rule | reports | does not report | cannot tell | fix applied in the lab |\n"
      "|---|---|---|---|---|---|\n";
  for (const Rule& rule : rules()) {
    const auto* const repair =
        std::find_if(std::begin(kRepairs), std::end(kRepairs),
                     [&](const Repair& item) { return item.look == rule.look; });
    EXPECT_NE(repair, std::end(kRepairs)) << rule.what;
    if (repair == std::end(kRepairs)) continue;
    const std::string speaks = cases(
        all, rule, [](std::string_view says) { return !says.empty() && !says.starts_with("?"); });
    const std::string silent = cases(all, rule, [](std::string_view says) { return says.empty(); });
    const std::string blind =
        cases(all, rule, [](std::string_view says) { return says.starts_with("?"); });
    out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", rule.name, rule.what, speaks, silent,
                       blind,
                       repair->faults.empty() ? fmt::format("none: {}", repair->why_none)
                                              : in_code(repair->faults));
  }
  return out;
}

// WEIR_UPDATE_GOLDEN=1 rewrites the table.
TEST(RuleProofs, TheManualListsThemWithTheFixThatWasApplied) {
  COVERS("I1");
  const std::string path = std::string(WEIR_TEST_DATA) + "/../../docs/diagnosis.md";
  auto manual = read_file(path);
  ASSERT_TRUE(manual.has_value()) << manual.error().what;
  const std::string begin = "<!-- proofs -->\n";
  const auto from = manual->find(begin);
  const auto to = manual->find("<!-- end of proofs -->");
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);
  const auto inside = from + begin.size();
  const char* const update = std::getenv("WEIR_UPDATE_GOLDEN");
  if (update != nullptr && std::string_view(update) == "1") {
    manual->replace(inside, to - inside, table_of_proofs());
    EXPECT_TRUE(write_file_atomic(path, *manual).has_value());
  } else {
    EXPECT_EQ(manual->substr(inside, to - inside), table_of_proofs())
        << "WEIR_UPDATE_GOLDEN=1 rewrites it";
  }
}

TEST(MarksByCurve, AreTheAreaUnderTheDesignedCurveUpToThePeak) {
  COVERS("I2", "I22");
  MadeCase made;
  marked(made, 40);
  const View view(Case{made.pieces(), &designed(), {}});
  const auto marks = marks_by_curve(view, "leaf1");
  ASSERT_TRUE(marks.has_value());
  // From 100 kB to 200 kB the chance rises to a tenth, 5 kB of area; the 100 kB above are marked.
  constexpr double kArea = 105'000;
  EXPECT_NEAR(marks->at_least, kArea / 4196, 0.01);
  EXPECT_NEAR(marks->about, 1000 * kArea / 300'000, 0.01);
  EXPECT_EQ(marks->marked, 40U);
  EXPECT_EQ(marks->fullest->name, "swp1");
  EXPECT_EQ(marks->peak, 300'000_B);
}

TEST(MarksByCurve, ThresholdsOfTheCallerMoveTheBounds) {
  COVERS("I2", "I22");
  const auto says = [](std::uint64_t marks, const Thresholds& limits, std::string_view id) {
    MadeCase made;
    marked(made, marks);
    const finding::Judgement judgement = diagnose({made.pieces(), &designed(), limits});
    return std::any_of(judgement.findings.begin(), judgement.findings.end(),
                       [&](const finding::Finding& finding) { return finding.id == id; });
  };
  Thresholds patient;
  patient.marks_over_curve = 3;
  EXPECT_TRUE(says(900, {}, "ecn.thresholds_too_low"));
  EXPECT_FALSE(says(900, patient, "ecn.thresholds_too_low"));
  Thresholds sure;
  sure.chance = 5;
  EXPECT_TRUE(says(2, {}, "ecn.thresholds_too_high"));
  EXPECT_FALSE(says(2, sure, "ecn.thresholds_too_high"));
}

TEST(MarksByCurve, AQueueWithoutAPeakInTheWindowSaysNothing) {
  COVERS("I2", "I22");
  MadeCase made;
  marked(made, 900);
  // The peak is an earlier one: it stood at the start of the window already.
  counters::PortCounters& before = made.pieces()[1].snapshots[0].switch_ports[0];
  std::vector<counters::Sample> samples = before.samples().copy();
  for (counters::Sample& sample : samples)
    if (sample.name == "queue3.depth_max.bytes") sample.reading = counters::Reading::of(300'000);
  before = {before.device(), before.netdev(), before.driver(), samples};
  const View view(Case{made.pieces(), &designed(), {}});
  const auto marks = marks_by_curve(view, "leaf1");
  ASSERT_TRUE(marks.has_value());
  EXPECT_EQ(marks->fullest, nullptr);
  EXPECT_EQ(diagnose({made.pieces(), &designed(), {}}).conclusion, finding::Conclusion::kHealthy);
  // Without a design there is no curve.
  EXPECT_FALSE(marks_by_curve(View(Case{made.pieces(), nullptr, {}}), "leaf1").has_value());
}

}  // namespace
}  // namespace weir::diagnose
