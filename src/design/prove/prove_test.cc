#include "design/prove/prove.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "base/file.h"
#include "base/json.h"
#include "base/testing.h"
#include "design/file/load.h"
#include "design/file/templates.h"
#include "design/prove/buffer_cycle.h"
#include "design/prove/failures.h"
#include "finding/catalog.h"
#include "finding/shown.h"

namespace weir::design {
namespace {

struct Made {
  Design design;
  Intent intent;
};

Made make(std::string text,
          const std::vector<std::pair<std::string_view, std::string_view>>& edits = {}) {
  for (const auto& [find, put] : edits) {
    if (find.empty()) {
      text += std::string(put) + "\n";
      continue;
    }
    const auto at = text.find(find);
    EXPECT_NE(at, std::string::npos) << find;
    if (at != std::string::npos) text.replace(at, find.size(), put);
  }
  const Loaded loaded = load_text(text, "fabric.yaml");
  EXPECT_TRUE(loaded.is_good()) << to_text(loaded);
  Derived derived = derive(loaded.design);
  for (const Diagnostic& error : derived.errors)
    ADD_FAILURE() << error.message;
  return {loaded.design, std::move(derived.intent)};
}

Made from_template(std::string_view name,
                   const std::vector<std::pair<std::string_view, std::string_view>>& edits = {}) {
  return make(std::string(find_template(name)->text), edits);
}

const Chain* chain_of(const Proof& proof, TrafficKind kind) {
  for (const Chain& chain : proof.chains)
    if (chain.kind == kind) return &chain;
  return nullptr;
}

std::string broken_ids(const Proof& proof) {
  std::string out;
  for (const Chain& chain : proof.chains)
    if (chain.proven == Proven::kBroken)
      out += std::string(to_text(chain.kind)) + " " + chain.id + " " + chain.where.switch_name +
             chain.where.host + "; ";
  return out;
}

TEST(Prove, EveryTemplateIsLosslessInAllThreeClasses) {
  COVERS("A2");
  for (const Template& design_template : templates()) {
    const Made made = make(std::string(design_template.text));
    const Proof proof = prove(made.design, made.intent);
    EXPECT_TRUE(proof.holds()) << design_template.name << ": " << broken_ids(proof);
    EXPECT_EQ(proof.chains.size(), 3U) << design_template.name;
    EXPECT_TRUE(judge(proof, made.design).findings.empty());
  }
}

TEST(Prove, TheChainNamesEveryStepFromTheJobToTheReceiver) {
  COVERS("A2");
  const Made made = from_template("pod16");
  const Proof proof = prove(made.design, made.intent);
  const Chain* data = chain_of(proof, TrafficKind::kData);
  ASSERT_NE(data, nullptr);
  // job, NIC, three switches in and out, NIC.
  ASSERT_EQ(data->steps.size(), 9U);
  EXPECT_EQ(data->steps[0].what, "traffic class 106: DSCP 26");
  EXPECT_EQ(data->steps[1].what,
            "trust dscp, DSCP 26 -> priority 3 -> traffic class 3; obeys PFC; reaction point on");
  EXPECT_EQ(data->steps[2].place, "leaf1 swp1 in");
  EXPECT_EQ(data->steps[2].what, "trust dscp, DSCP 26 -> priority 3 -> group 3, lossless: PFC 3");
  EXPECT_EQ(data->steps[3].what, "queue 3, weighted, ECN marks");
  EXPECT_EQ(data->steps[8].what, "priority 3, pauses when its buffer fills; notification point on");
  const Chain* cnp = chain_of(proof, TrafficKind::kCnp);
  EXPECT_EQ(cnp->steps[2].what, "queue 6, strict");
  // Eight uplinks per leaf: 2 x 8 x 8 pairs across by 64 ways, 2 x 8 x 7 within a leaf by one.
  EXPECT_EQ(proof.paths, 2U * 8 * 8 * 64 + 2U * 8 * 7);
}

struct BreakCase {
  std::string name;
  std::vector<std::pair<std::string_view, std::string_view>> edits;
  std::string breaks;  // the first broken class, its finding, and where
};

TEST(Prove, TheFirstHopThatBreaksAChainIsNamed) {
  COVERS("A2");
  constexpr std::string_view kSpine = "    tier: 2\n";
  constexpr std::string_view kHosts = "    rails: 1 ";
  const std::vector<BreakCase> cases = {
      {"a spine's map",
       {{kSpine, "    tier: 2\n    dscp_overrides: [{ dscp: 26, priority: 1 }]\n"}},
       "data dscp.unmapped_hop spine1; ack dscp.unmapped_hop spine1; "},
      {"a rewrite is seen one hop later",
       {{kSpine, "    tier: 2\n    rewrites_dscp: on\n"}},
       "data dscp.rewritten spine1; ack dscp.rewritten spine1; cnp dscp.rewritten spine1; "},
      {"a spine's trust",
       {{kSpine, "    tier: 2\n    trust: pcp\n"}},
       "data trust.mixed spine1; ack trust.mixed spine1; cnp trust.mixed spine1; "},
      {"hosts' trust",
       {{kHosts, "    trust: pcp\n    rails: 1 "}},
       "data trust.mixed gpu01; ack trust.mixed gpu01; "},
      {"a DSCP typed as traffic class",
       {{"", "marking: { traffic_class: 26 }"}},
       "data dscp.tos_confusion gpu01; ack dscp.tos_confusion gpu01; "},
      {"no PFC", {{"", "pfc: { priorities: none }"}}, "data pfc.off gpu01; ack pfc.off gpu01; "},
      {"PFC beside the class",
       {{"", "pfc: { priorities: 5 }"}},
       "data pfc.wrong_priority gpu01; ack pfc.wrong_priority gpu01; "},
      {"no marking", {{"", "wred: { ecn: off }"}}, "data ecn.off_on_lossless leaf1; "},
      {"no reaction point", {{"", "dcqcn: { reaction_point: off }"}}, "data rp.disabled gpu01; "},
      {"no notification point",
       {{"", "dcqcn: { notification_point: off }"}},
       "data np.disabled gpu02; "},
      {"link pause",
       {{kSpine, "    tier: 2\n    global_pause: on\n"}},
       "data pause.global_on spine1; ack pause.global_on spine1; "},
      {"CNPs with RDMA", {{"priority: 6", "priority: 3"}}, "cnp cnp.shares_rdma_priority gpu01; "},
      {"CNPs under PFC", {{"", "pfc: { priorities: [3, 6] }"}}, "cnp cnp.lossless gpu01; "},
  };
  for (const BreakCase& test : cases) {
    const Made made = from_template("pod16", test.edits);
    const Proof proof = prove(made.design, made.intent);
    EXPECT_FALSE(proof.holds()) << test.name;
    EXPECT_EQ(broken_ids(proof), test.breaks) << test.name;
    for (const Chain& chain : proof.chains)
      EXPECT_TRUE(chain.id.empty() || finding::find(chain.id) != nullptr) << chain.id;
  }
}

TEST(Prove, AForcedTrafficClassWinsOverTheJobs) {
  COVERS("A2");
  const Made job = from_template("pod16", {{"", "nccl: { traffic_class: 26 }"}});
  EXPECT_EQ(broken_ids(prove(job.design, job.intent)),
            "data dscp.tos_confusion gpu01; ack dscp.tos_confusion gpu01; ");
  const Made forced =
      from_template("pod16", {{"", "nccl: { traffic_class: 26 }"}, {"", "marking: { force: on }"}});
  const Proof proof = prove(forced.design, forced.intent);
  EXPECT_TRUE(proof.holds()) << broken_ids(proof);
  EXPECT_EQ(chain_of(proof, TrafficKind::kData)->steps[0].what,
            "traffic class 26, NIC forces 106: DSCP 26");
}

TEST(Prove, UnderPcpTrustTheServiceLevelAndTheTagDecide) {
  COVERS("A2");
  const std::vector<std::pair<std::string_view, std::string_view>> tagged = {
      {"", "trust: pcp"}, {"", "addressing: { vlan: 100 }"}};
  const Made good = from_template("pair", tagged);
  EXPECT_TRUE(prove(good.design, good.intent).holds())
      << broken_ids(prove(good.design, good.intent));
  auto edits = tagged;
  edits.emplace_back("", "nccl: { service_level: 0 }");
  const Made level = from_template("pair", edits);
  EXPECT_EQ(broken_ids(prove(level.design, level.intent)),
            "data dscp.unmarked gpu1; ack dscp.unmarked gpu1; ");
  const Made untagged = from_template("pair", {{"", "trust: pcp"}});
  EXPECT_EQ(broken_ids(prove(untagged.design, untagged.intent)),
            "data trust.mixed leaf1; ack trust.mixed leaf1; cnp trust.mixed leaf1; ");
}

Hop configured(const Made& made, std::string_view name) {
  for (const SwitchIntent& node : made.intent.switches)
    if (node.name == name) {
      Hop hop = hop_of(node);
      hop.source = "spine1.cfg";
      return hop;
    }
  ADD_FAILURE() << name;
  return {};
}

TEST(Prove, AConfiguredSwitchTakesTheDesignsPlace) {
  COVERS("A2", "C7");
  const Made made = from_template("pod16");
  Hop hop = configured(made, "spine1");
  EXPECT_TRUE(prove(made.design, made.intent, {&hop, 1}).holds());
  // One port of sixteen.
  hop.ports[3].pfc = PrioritySet();
  const Proof one_port = prove(made.design, made.intent, {&hop, 1});
  const Chain* data = chain_of(one_port, TrafficKind::kData);
  EXPECT_EQ(data->id, "pfc.off");
  EXPECT_EQ(data->where.port, "swp4");
  EXPECT_EQ(data->source, "spine1.cfg");

  hop = configured(made, "spine1");
  hop.pfc_to_queue->at(3) = Queue::of(4);  // its own pauses obeyed by the wrong queue
  const Proof wrong_queue = prove(made.design, made.intent, {&hop, 1});
  EXPECT_EQ(chain_of(wrong_queue, TrafficKind::kData)->id, "pfc.wrong_priority");

  hop = configured(made, "spine1");
  for (HopPort& port : hop.ports)
    port.lossless_groups.at(3) = false;
  EXPECT_EQ(chain_of(prove(made.design, made.intent, {&hop, 1}), TrafficKind::kData)->id,
            "headroom.too_small");

  hop = configured(made, "spine1");
  for (HopPort& port : hop.ports)
    port.rewrites = true;
  hop.priority_to_dscp.emplace();
  hop.priority_to_dscp->at(3) = Dscp::of(26);  // to what it was: no harm
  EXPECT_TRUE(prove(made.design, made.intent, {&hop, 1}).holds());
}

TEST(Prove, WhatNobodyReadIsUnknownAndNotProven) {
  COVERS("A2");
  const Made made = from_template("pod16");
  Hop hop = configured(made, "spine1");
  hop.dscp_to_priority.reset();
  const Proof proof = prove(made.design, made.intent, {&hop, 1});
  EXPECT_FALSE(proof.holds());
  const finding::Judgement judgement = judge(proof, made.design);
  EXPECT_TRUE(judgement.findings.empty());
  EXPECT_EQ(judgement.conclusion, finding::Conclusion::kInconclusive);
  ASSERT_FALSE(judgement.unknown.empty());
  EXPECT_EQ(judgement.unknown.front().check, "RDMA data: DSCP map of spine1");
}

TEST(Prove, AFaultOfAWholeGroupIsOneFinding) {
  const Made made = from_template(
      "clos1k",
      {{"    tier: 2\n", "    tier: 2\n    dscp_overrides: [{ dscp: 26, priority: 1 }]\n"}});
  const Proof proof = prove(made.design, made.intent);
  EXPECT_EQ(judge(proof, made.design).findings.size(), 1U);
  EXPECT_GT(chain_of(proof, TrafficKind::kData)->places, 31U);
}

TEST(Prove, ClosOf1024HostsTakesFarLessThanTwoSeconds) {
  COVERS("A2");
  const Made made = from_template("clos1k");
  const auto start = std::chrono::steady_clock::now();
  const Proof proof = prove(made.design, made.intent);
  const FailureWalk walk = walk_failures(made.intent, 2);
  // Debug and sanitised builds run this too; the optimised one has two seconds for the whole verb.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_TRUE(proof.holds());
  EXPECT_TRUE(walk.deadlocks.empty());
  EXPECT_TRUE(walk.by_symmetry);
}

// ---- circles of buffers ----

TEST(BufferCycle, FindsTheCirclesOfTheKnownCases) {
  COVERS("A2", "I5");
  const auto text = read_file(std::string(WEIR_TEST_DATA) + "/design/cbd/cbd_cases.json");
  ASSERT_TRUE(text.has_value());
  const Json document = Json::parse(*text);
  ASSERT_EQ(document["cases"].size(), 6U);
  for (const Json& test : document["cases"]) {
    std::map<std::string, std::uint32_t> numbers;
    const auto number = [&](const Json& name) {
      return numbers.emplace(name.get<std::string>(), static_cast<std::uint32_t>(numbers.size()))
          .first->second;
    };
    BufferGraph graph;
    for (const Json& flow : test["paths"]) {
      const Json& path = flow["path"];
      const auto buffer = [&](std::size_t i) {
        const unsigned priority = flow.contains("prio") ? flow["prio"][i].get<unsigned>() : 3;
        return Buffer{number(path[i]), number(path[i + 1]), static_cast<std::uint8_t>(priority)};
      };
      for (std::size_t i = 0; i + 2 < path.size(); ++i)
        graph.depend(buffer(i), buffer(i + 1));
    }
    const std::vector<Buffer> cycle = graph.find_cycle();
    EXPECT_EQ(!cycle.empty(), test["expect_cycle"].get<bool>()) << test["name"];
    for (std::size_t i = 0; i < cycle.size(); ++i)
      EXPECT_EQ(cycle[i].to, cycle[(i + 1) % cycle.size()].from) << test["name"];
    EXPECT_TRUE(test["name"] != "two failures, bounce" || graph.cyclic_components() == 2U);
  }
}

constexpr std::string_view kFourByTwo = R"(
weir: 1
hosts:
  gpu: { names: "gpu[1-4]", nic: connectx7, stack: ofed }
switches:
  leaf: { names: "leaf[1-4]", system: sonic, asic: tomahawk5, tier: 1 }
  spine: { names: "spine[1-2]", system: sonic, asic: tomahawk5, tier: 2 }
links:
  - { from: gpu, to: leaf, wiring: block, speed: 400G, cable: dac, length: 3m }
  - { from: leaf, to: spine, wiring: mesh, speed: 400G, cable: aoc, length: 30m }
classes:
  rdma: { dscp: [26, 24-31], priority: 3, lossless: on, minimum: 50% }
  cnp: { dscp: [48, 49-55], priority: 6, scheduling: strict }
)";

TEST(Failures, TwoBrokenLinksAndABounceCloseACircleThatIsNamed) {
  COVERS("A2", "I5");
  const Made made = make(std::string(kFourByTwo), {{"", "routing: bounce"}});
  EXPECT_TRUE(walk_failures(made.intent, 0).deadlocks.empty());
  EXPECT_TRUE(walk_failures(made.intent, 1).deadlocks.empty());
  const FailureWalk two = walk_failures(made.intent, 2);
  ASSERT_EQ(two.deadlocks.size(), 1U);
  const Deadlock& first = two.deadlocks.front();
  EXPECT_EQ(first.broken.edges.size(), 2U);
  ASSERT_GE(first.cycle.size(), 4U);
  const auto found = deadlock_finding(two, made.intent);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->id, "routing.cyclic_buffer_dependency");
  EXPECT_NE(found->verdict.find(" > spine"), std::string::npos) << found->verdict;
  EXPECT_EQ(found->evidence.size(), first.cycle.size());
}

TEST(Failures, UpDownHasNoCircleAndNamesWhoIsCutOffInstead) {
  COVERS("A2");
  const Made made = make(std::string(kFourByTwo));
  const FailureWalk single = walk_failures(made.intent, 1);
  EXPECT_TRUE(single.by_structure);
  EXPECT_EQ(single.cutting, 0U);
  EXPECT_EQ(single.scenarios, 1U + 8 + 6);  // intact, 8 links, 6 switches
  const FailureWalk two = walk_failures(made.intent, 2);
  EXPECT_TRUE(two.deadlocks.empty());
  EXPECT_EQ(two.scenarios, 1U + 14 + 14 * 13 / 2);
  EXPECT_GT(two.cutting, 0U);
  ASSERT_FALSE(two.first_cut_off.empty());
  EXPECT_TRUE(finding::is_raised(cut_off_findings(two, made.intent), "routing.cut_off"));
  const FailureWalk none = walk_failures(made.intent, 0);
  EXPECT_FALSE(finding::is_raised(cut_off_findings(none, made.intent), "routing.cut_off"));
}

TEST(Failures, ParallelCablesKeepALinkThroughAsManyFailuresAsTheyAreLessOne) {
  const Made made = make(std::string(kFourByTwo), {{"wiring: mesh", "wiring: mesh, count: 2"}});
  EXPECT_EQ(walk_failures(made.intent, 1).scenarios, 1U + 6);                  // switches alone
  EXPECT_EQ(walk_failures(made.intent, 2).scenarios, 1U + 6 + 6 * 5 / 2 + 8);  // and both cables
}

TEST(Failures, BySymmetryTheKindsOfFailuresAreFew) {
  COVERS("A2");
  // 66 switches: alike failures are walked once.
  std::string text(kFourByTwo);
  const Made made = make(text, {{"gpu[1-4]", "gpu[1-6]"},
                                {"leaf[1-4]", "leaf[1-6]"},
                                {"spine[1-2]", "spine[1-60]"},
                                {"", "routing: bounce"}});
  const FailureWalk single = walk_failures(made.intent, 1);
  EXPECT_TRUE(single.by_symmetry);
  EXPECT_EQ(single.scenarios, 1U + 3);  // a link, a leaf, a spine
  EXPECT_TRUE(single.deadlocks.empty());
  EXPECT_FALSE(walk_failures(made.intent, 2).deadlocks.empty());
}

TEST(Failures, ARingWithinATierHasACircleWithNothingBroken) {
  COVERS("A2", "I5");
  const std::string ring = R"(
weir: 1
hosts:
  gpu: { names: "gpu[1-5]", nic: connectx7, stack: ofed }
switches:
  leaf: { names: "leaf[1-5]", system: sonic, asic: tomahawk5, tier: 1 }
links:
  - { from: gpu, to: leaf, wiring: block, speed: 400G, cable: dac, length: 3m }
  - { from: leaf1, to: leaf2, speed: 400G, cable: aoc, length: 30m }
  - { from: leaf2, to: leaf3, speed: 400G, cable: aoc, length: 30m }
  - { from: leaf3, to: leaf4, speed: 400G, cable: aoc, length: 30m }
  - { from: leaf4, to: leaf5, speed: 400G, cable: aoc, length: 30m }
  - { from: leaf5, to: leaf1, speed: 400G, cable: aoc, length: 30m }
classes:
  rdma: { dscp: [26, 24-31], priority: 3, lossless: on, minimum: 50% }
  cnp: { dscp: [48, 49-55], priority: 6, scheduling: strict }
)";
  const FailureWalk walk = walk_failures(make(ring).intent, 0);
  ASSERT_EQ(walk.deadlocks.size(), 1U);
  EXPECT_EQ(walk.deadlocks.front().cycle.size(), 5U);
}

}  // namespace
}  // namespace weir::design
