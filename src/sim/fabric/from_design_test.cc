#include "sim/fabric/from_design.h"

#include <string>

#include "base/testing.h"
#include "design/file/load.h"
#include "design/file/templates.h"
#include "sim/engine/sim.h"
#include "sim/workload/workload.h"

namespace weir::sim {
namespace {

design::Design template_design(std::string_view name) {
  auto loaded = design::load_text(design::find_template(name)->text, std::string(name));
  EXPECT_TRUE(loaded.is_good()) << to_text(loaded);
  return std::move(loaded.design);
}

void set(design::Design& design, std::string_view path, std::string_view value) {
  const Status status = design::set_value(design, path, value);
  ASSERT_TRUE(status) << status.error().what;
}

Fabric fabric_of(const design::Design& design, std::uint64_t seed = 1) {
  const design::Derived derived = design::derive(design);
  EXPECT_TRUE(derived.errors.empty());
  auto fabric = build_network(design, derived.intent, {seed});
  EXPECT_TRUE(fabric) << fabric.error().what;
  return std::move(*fabric);
}

std::uint64_t all_drops(const Sim& sim) {
  std::uint64_t drops = 0;
  for (std::size_t r = 0; r < kDropReasons; ++r)
    drops += sim.drops(static_cast<DropReason>(r));
  return drops;
}

TEST(FromDesign, EveryTemplateBecomesANetworkThatTheEngineTakes) {
  COVERS("G1");
  for (const design::Template& t : design::templates()) {
    const design::Design design = template_design(t.name);
    const design::Intent intent = design::derive(design).intent;
    const Fabric fabric = fabric_of(design);
    EXPECT_EQ(fabric.nics.size(), intent.nic_count) << t.name;
    EXPECT_EQ(fabric.network.nodes.size(), intent.nic_count + intent.switches.size()) << t.name;
    EXPECT_EQ(fabric.network.links.size(), intent.links.size()) << t.name;
    EXPECT_TRUE(fabric.notes.empty()) << t.name;
    for (const NicPlace& nic : fabric.nics)
      EXPECT_EQ(nic.component, fabric.nics[NodeId{0}].component) << t.name;
  }
}

TEST(FromDesign, ASwitchIsSetAsItsIntentSays) {
  COVERS("G1", "G2");
  design::Design design = template_design("pod16");
  set(design, "buffers.alpha", "1/4");
  set(design, "wred.min", "200KB");
  set(design, "wred.max", "800KB");
  set(design, "watchdog.detect", "300ms");
  const design::Intent intent = design::derive(design).intent;
  const Fabric fabric = fabric_of(design);
  const design::SwitchIntent& leaf = intent.switches[0];
  const Node& node = fabric.network.nodes[fabric.switch_node(0)];
  EXPECT_EQ(node.name, leaf.name);
  const SwitchConfig& config = fabric.network.switches[node.config];
  EXPECT_EQ(config.dscp_to_class[26], 3);
  EXPECT_EQ(config.dscp_to_class[48], 6);
  EXPECT_TRUE(config.groups[3].lossless);
  EXPECT_FALSE(config.groups[0].lossless);
  EXPECT_EQ(config.groups[3].alpha, Alpha::from_log2(-2));
  EXPECT_EQ(config.groups[3].xon_offset, leaf.buffers.xon_offset);
  EXPECT_EQ(config.group_to_priority[3], 3);
  EXPECT_EQ(config.queues[6].scheduling, Scheduling::kStrict);
  EXPECT_GT(config.queues[3].weight, config.queues[0].weight);
  EXPECT_FALSE(config.queues[3].alpha.has_value());
  EXPECT_EQ(config.port_wred_queues, 1U << 3U);
  ASSERT_EQ(config.port_wred.size(), leaf.ports.size());
  ASSERT_EQ(config.port_headroom.size(), leaf.ports.size());
  for (std::size_t p = 0; p < leaf.ports.size(); ++p) {
    EXPECT_EQ(config.port_wred[p].min, leaf.ports[p].wred.min);
    EXPECT_EQ(config.port_headroom[p], leaf.ports[p].headroom);
    EXPECT_EQ(config.port_mtu[p], leaf.ports[p].mtu);
  }
  EXPECT_EQ(config.watchdog.detection, 300_ms);
  EXPECT_EQ(config.pipeline, leaf.asic->pipeline_latency);
  EXPECT_NE(config.ecmp_seed, fabric.network.switches[1].ecmp_seed);
}

TEST(FromDesign, WhatTheLosslessGroupsShareIsWhatThePlanLeavesThem) {
  COVERS("G2");
  for (const std::string_view profile : {"vendor", "roce-balanced", "roce-aggressive"}) {
    design::Design design = template_design("pod16");
    set(design, "buffers.profile", profile);
    const design::Intent intent = design::derive(design).intent;
    const Fabric fabric = fabric_of(design);
    for (std::size_t s = 0; s < intent.switches.size(); ++s) {
      const SwitchConfig& config = fabric.network.switches[s];
      const auto ports = static_cast<std::uint32_t>(intent.switches[s].ports.size());
      const SharedBuffer buffer(config, ports);
      EXPECT_EQ(buffer.shared_size(), intent.switches[s].buffers.lossless_shared.raw()) << profile;
      EXPECT_LE(config.buffer, intent.switches[s].buffers.total) << profile;
    }
  }
}

TEST(FromDesign, ANicIsSetAsItsIntentSays) {
  COVERS("G3");
  design::Design design = template_design("pod16");
  set(design, "mtu.host", "1500B");
  set(design, "nccl.timeout", "10");
  const Fabric fabric = fabric_of(design);
  const NicConfig& nic = fabric.network.nics[0];
  EXPECT_EQ(nic.mtu, 1024_B);  // what fits in 1500
  EXPECT_EQ(nic.max_frame, 1518_B);
  EXPECT_EQ(nic.recovery, Recovery::kSelective);  // ConnectX-6 Dx
  EXPECT_FALSE(nic.accepts_reordering);
  EXPECT_EQ(nic.ack_timeout, 4096_ns * 1024);
  EXPECT_EQ(nic.dscp_to_priority[26], 3);
  EXPECT_TRUE(nic.strict.contains(6_prio));
  EXPECT_FALSE(nic.strict.contains(3_prio));
  EXPECT_EQ(nic.cnp_dscp, 48_dscp);
  EXPECT_EQ(fabric.nics[NodeId{0}].rdma_tos, 106_tos);
  EXPECT_EQ(fabric.nic_name(NodeId{0}), fabric.network.nodes[NodeId{0}].name);
}

TEST(FromDesign, EveryKnobOfTheReactionPointReachesIt) {
  COVERS("G3");
  const auto text = std::string(design::find_template("pod16")->text) +
                    "dcqcn:\n"
                    "  clamp_tgt_rate_after_time_inc: false\n  clamp_tgt_rate: true\n"
                    "  rpg_time_reset: 55us\n  rpg_byte_reset: 640B\n  rpg_threshold: 5\n"
                    "  rpg_max_rate: 90000Mbps\n  rpg_ai_rate: 40Mbps\n  rpg_hai_rate: 400Mbps\n"
                    "  rpg_gd: 10\n  rpg_min_dec_fac: 20%\n  rpg_min_rate: 100Mbps\n"
                    "  rate_to_set_on_first_cnp: 1000Mbps\n  dce_tcp_g: 1020\n"
                    "  dce_tcp_rtt: 7us\n  rate_reduce_monitor_period: 9us\n"
                    "  initial_alpha_value: 512\n  min_time_between_cnps: 50us\n";
  const auto loaded = design::load_text(text, "knobs");
  ASSERT_TRUE(loaded.is_good()) << to_text(loaded);
  const Fabric fabric = fabric_of(loaded.design);
  const DcqcnConfig& rp = fabric.network.nics[0].dcqcn;
  EXPECT_EQ(rp.variant, DcqcnVariant::kConnectx);
  EXPECT_FALSE(rp.clamp_after_timer);
  EXPECT_TRUE(rp.clamp_target);
  EXPECT_EQ(rp.increase_period, 55_us);
  EXPECT_EQ(rp.byte_reset, 640);
  EXPECT_EQ(rp.threshold, 5U);
  EXPECT_EQ(rp.max_rate, 90'000'000'000);
  EXPECT_EQ(rp.ai_rate, 40'000'000);
  EXPECT_EQ(rp.hai_rate, 400'000'000);
  EXPECT_EQ(rp.gd, 10U);
  EXPECT_EQ(rp.min_dec_percent, 20);
  EXPECT_EQ(rp.min_rate, 100'000'000);
  EXPECT_EQ(rp.first_cnp_rate, 1'000'000'000);
  EXPECT_EQ(rp.g, 4 * (kAlphaOne / 1024));
  EXPECT_EQ(rp.alpha_period, 7_us);
  EXPECT_EQ(rp.cut_period, 9_us);
  EXPECT_EQ(rp.initial_alpha, kAlphaOne / 2);
  EXPECT_EQ(fabric.network.nics[0].cnp_interval, 50_us);
}

TEST(FromDesign, Ipv6AndATagLengthenEveryFrame) {
  COVERS("G3");
  design::Design design = template_design("pod16");
  const WireFormat plain = fabric_of(design).network.wire;
  set(design, "addressing.vlan", "100");
  EXPECT_EQ(fabric_of(design).network.wire.data_header, plain.data_header + 4);
  set(design, "addressing.subnets", "fd00:{rail}::/64");
  set(design, "addressing.family", "ipv6");
  const WireFormat wire = fabric_of(design).network.wire;
  EXPECT_EQ(wire.data_header, plain.data_header + 24);
  EXPECT_EQ(wire.ack_frame, plain.ack_frame + 24);
  EXPECT_EQ(wire.cnp_frame, plain.cnp_frame + 24);
  EXPECT_EQ(wire.pfc_frame, plain.pfc_frame);
}

TEST(FromDesign, HeadroomThatDoesNotFitIsRefusedByName) {
  COVERS("G2");
  design::Design design = template_design("pod16");
  set(design, "buffers.headroom", "10MB");
  const design::Intent intent = design::derive(design).intent;
  const auto fabric = build_network(design, intent);
  ASSERT_FALSE(fabric);
  EXPECT_NE(fabric.error().what.find(intent.switches[0].name), std::string::npos)
      << fabric.error().what;
}

TEST(FromDesign, AnAllToAllOnThePodLosesNothing) {
  COVERS("G2", "G6");
  Fabric fabric = fabric_of(template_design("pod16"));
  auto load = Workloads::add(fabric, {*parse_workload("all-to-all,size=200KB")});
  ASSERT_TRUE(load) << load.error().what;
  auto sim = Sim::make(std::move(fabric.network));
  ASSERT_TRUE(sim) << sim.error().what;
  (*load)->start(**sim);
  (*sim)->run();
  EXPECT_TRUE((*load)->finished());
  EXPECT_EQ(all_drops(**sim), 0U);
  const auto audit = (*sim)->audit();
  EXPECT_TRUE(audit) << audit.error().what;
  const WorkloadResult result = (*load)->results()[0];
  EXPECT_EQ(result.completed, 16U * 15);
  EXPECT_EQ(result.bytes, 200_KB * (16 * 15));
  EXPECT_GE(result.steps[0].time(), *result.bound);
}

TEST(FromDesign, TheMapOfOneSwitchCountsOnlyThere) {
  COVERS("G2");
  design::Design design = template_design("pod16");
  design.switches[1].value.dscp_overrides.push_back({});
  design::DscpOverride& over = design.switches[1].value.dscp_overrides.back();
  over.dscp.fill({26_dscp, std::uint64_t{1} << 26U}, "test");
  over.priority.fill(0_prio, "test");
  const Fabric fabric = fabric_of(design);
  EXPECT_EQ(fabric.network.switches[0].dscp_to_class[26], 3);
  EXPECT_EQ(fabric.network.switches[2].dscp_to_class[26], 0);  // the spine
}

}  // namespace
}  // namespace weir::sim
