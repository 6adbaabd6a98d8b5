// Jobs as graphs: models by their shape, and files; on a star of hosts.
#include "sim/workload/job_graph.h"

#include <string>
#include <vector>

#include "base/testing.h"
#include "sim/fabric/test_networks.h"
#include "sim/workload/task_graph.h"
#include "sim/workload/test_fabric.h"
#include "sim/workload/workload.h"

namespace weir::sim {
namespace {

const std::string kJobFiles = std::string(WEIR_TEST_DATA) + "/workload/";

struct JobRun {
  std::unique_ptr<Workloads> load;
  std::unique_ptr<Sim> sim;
  [[nodiscard]] WorkloadResult result() const { return load->results().front(); }
};

Result<JobRun> run_job(Fabric fabric, const std::string& text) {
  WEIR_TRY(spec, parse_workload(text));
  JobRun out;
  WEIR_TRY(load, Workloads::add(fabric, {spec}));
  out.load = std::move(load);
  WEIR_TRY(sim, Sim::make(std::move(fabric.network)));
  out.sim = std::move(sim);
  out.load->start(*out.sim);
  out.sim->run();
  EXPECT_TRUE(out.load->finished());
  EXPECT_TRUE(out.sim->audit());
  return out;
}

std::string error_of(const Fabric& fabric, const std::string& text) {
  const auto run = run_job(fabric, text);
  return run ? std::string("none") : run.error().what;
}

TEST(TaskGraph, TasksAndTransfersTakeTheirTime) {
  COVERS("G7");
  // 10 us of computing, 1 MB to another host, 5 us of computing there: the sum of the three.
  TaskGraph graph({0, 1}, 3600_Gbps);
  const TaskId first = graph.compute(0, 10_us, kNoTask);
  const TaskId sent = graph.send(0, 1, 1_MB, 0, first, kNoTask);
  graph.compute(1, 5_us, sent);
  const auto program = std::move(graph).finish();
  ASSERT_TRUE(program);
  EXPECT_EQ(program->transfers.size(), 3U);
  EXPECT_EQ(program->transfers[1].needs, 1U);
}

TEST(TaskGraph, ACircleIsRefused) {
  COVERS("G7");
  TaskGraph graph({0, 1}, 3600_Gbps);
  const TaskId a = graph.send(0, 1, 1_KB, 0, kNoTask, kNoTask);
  const TaskId b = graph.compute(0, 1_us, a);
  graph.order(b, a);
  const auto program = std::move(graph).finish();
  ASSERT_FALSE(program);
  EXPECT_NE(program.error().what.find("circle"), std::string::npos);
}

TEST(TaskGraph, WhatStaysInAHostIsTimeAlone) {
  COVERS("G7");
  TaskGraph graph({0, 0, 1}, 800_Gbps);
  const TaskId inside = graph.send(0, 1, 1_MB, 0, kNoTask, kNoTask);
  graph.send(1, 2, 1_KB, 0, inside, kNoTask);
  const auto program = std::move(graph).finish();
  ASSERT_TRUE(program);
  EXPECT_EQ(program->transfers[0].what, TaskKind::kInside);
  EXPECT_EQ(program->transfers[0].takes, 10_us);
}

TEST(JobGraph, AModelWithOneStageComputesThenReducesItsGradients) {
  COVERS("G7");
  // Two hosts with two NICs: two copies of two tensor-parallel ranks.
  const std::string text =
      "model,layers=2,hidden=1024,seq=1024,tp=2,pp=1,microbatches=2,flops=100T,steps=2";
  const auto spec = parse_workload(text);
  ASSERT_TRUE(spec);
  const auto step = model_step(*spec, 4, 2);
  ASSERT_TRUE(step) << step.error().what;
  EXPECT_EQ(step->data, 2U);
  // 12 * 1024^2 * 2 layers / 2 ranks, two bytes each
  EXPECT_EQ(step->gradients, Bytes::raw(12 * 1024 * 1024 * 2));
  const auto run = run_job(test::star_fabric(2, 2, 100_Gbps), text);
  ASSERT_TRUE(run) << run.error().what;
  const WorkloadResult result = run->result();
  ASSERT_EQ(result.steps.size(), 2U);
  const StepResult& first = result.steps.front();
  EXPECT_EQ(first.compute, (step->forward + step->backward) * 2);
  // Nothing hides the sum of two ranks: each sends its half, then the other half.
  const Duration wire = serialization_time(step->gradients, 100_Gbps);
  EXPECT_GT(first.exposed(), wire);
  EXPECT_LT(first.exposed(), wire * 2);
  EXPECT_EQ(result.steps[1].time(), first.time());
}

TEST(JobGraph, APipelineWaitsForItsStages) {
  COVERS("G7");
  // Four stages and one micro-batch: forward and backward one after the other, so four times as
  // long as a rank computes, and what the stages send on top.
  const auto run =
      run_job(test::star_fabric(4, 1, 400_Gbps),
              "model,layers=4,hidden=1024,seq=1024,tp=1,pp=4,microbatches=1,flops=10T");
  ASSERT_TRUE(run) << run.error().what;
  const StepResult step = run->result().steps.front();
  EXPECT_GT(step.time(), step.compute * 4);
  EXPECT_LT(step.time(), step.compute * 5);
  // With many micro-batches the stages work side by side.
  const auto many = run_job(test::star_fabric(4, 1, 400_Gbps),
                            "model,layers=4,hidden=1024,seq=1024,tp=1,pp=4,microbatches=16,"
                            "flops=10T");
  ASSERT_TRUE(many) << many.error().what;
  const StepResult long_step = many->result().steps.front();
  EXPECT_LT(long_step.time(), long_step.compute * 14 / 10);
}

TEST(JobGraph, OverlapHidesGradients) {
  COVERS("G7");
  const std::string text =
      "model,layers=2,hidden=1024,seq=4096,tp=1,microbatches=1,flops=50T,overlap=";
  const auto plain = run_job(test::star_fabric(4, 1, 100_Gbps), text + "0%");
  const auto hidden = run_job(test::star_fabric(4, 1, 100_Gbps), text + "100%");
  ASSERT_TRUE(plain && hidden);
  EXPECT_LT(hidden->result().steps[0].time(), plain->result().steps[0].time());
  EXPECT_EQ(hidden->result().steps[0].compute, plain->result().steps[0].compute);
}

TEST(JobGraph, ExpertsExchangeTokensInEveryLayer) {
  COVERS("G7");
  const auto run = run_job(test::star_fabric(4, 1, 100_Gbps),
                           "model,layers=2,hidden=512,seq=512,tp=1,ep=4,experts=8,microbatches=1,"
                           "flops=10T");
  ASSERT_TRUE(run) << run.error().what;
  // Forward and backward, two layers, two all-to-alls of 4 ranks each; and gradients.
  EXPECT_GE(run->result().messages, 2U * 2 * 2 * 12);
}

TEST(JobGraph, DegreesThatDoNotFitAreNamed) {
  COVERS("G7");
  const Fabric fabric = test::star_fabric(2, 2, 100_Gbps);
  EXPECT_NE(error_of(fabric, "model,layers=2,hidden=64,tp=2,pp=1,dp=4").find("tp 2 * pp 1 * dp 4"),
            std::string::npos);
  EXPECT_NE(error_of(fabric, "model,layers=2,hidden=64,tp=4").find("does not stay within a host"),
            std::string::npos);
  EXPECT_NE(error_of(fabric, "model,layers=3,hidden=64,tp=2,pp=2").find("3 layers"),
            std::string::npos);
  EXPECT_NE(error_of(fabric, "model,layers=2,hidden=64,tp=1,ep=2").find("experts=N"),
            std::string::npos);
}

TEST(JobGraph, ASimaiFileRuns) {
  COVERS("G7");
  const auto run =
      run_job(test::star_fabric(8, 2, 100_Gbps), "simai,file=" + kJobFiles + "two_hosts.simai.txt");
  ASSERT_TRUE(run) << run.error().what;
  const StepResult step = run->result().steps.front();
  EXPECT_EQ(step.compute,
            40_us * 2 + 20_us + 120_us * 2 + 80_us + 160_us * 2 + 90_us + 10_us + 2_ns);
  EXPECT_GT(step.time(), step.compute);
  EXPECT_NE(
      error_of(test::star_fabric(2, 2, 100_Gbps), "simai,file=" + kJobFiles + "two_hosts.simai.txt")
          .find("it is for 16 GPUs, but 4 NICs"),
      std::string::npos);
}

TEST(JobGraph, ChakraTracesRunAndBothFormsAreEqual) {
  COVERS("G7");
  const Fabric fabric = test::star_fabric(2, 1, 100_Gbps);
  const auto wire = run_job(fabric, "chakra,file=" + kJobFiles + "pair");
  const auto json = run_job(fabric, "chakra,file=" + kJobFiles + "pair_json");
  ASSERT_TRUE(wire) << wire.error().what;
  ASSERT_TRUE(json) << json.error().what;
  EXPECT_EQ(wire->sim->digest(), json->sim->digest());
  EXPECT_EQ(wire->result().steps.front().compute, 150_us);
  EXPECT_NE(error_of(test::star_fabric(3, 1, 100_Gbps), "chakra,file=" + kJobFiles + "pair")
                .find("pair.2.et"),
            std::string::npos);
}

TEST(JobGraph, AListOfTestsHasAResultForEachSize) {
  COVERS("G7");
  const auto run =
      run_job(test::star_fabric(4, 2, 100_Gbps), "nccl-tests,file=" + kJobFiles + "list.nccl");
  ASSERT_TRUE(run) << run.error().what;
  const WorkloadResult result = run->result();
  ASSERT_EQ(result.phases.size(), 4U);
  EXPECT_EQ(result.phases[1].size, Bytes::raw(2 << 20));
  for (std::size_t p = 0; p < 3; ++p) {
    // Two NICs of each host share the work, each at most at line rate. The convention counts 7/8
    // of the data; the links inside the hosts carry so much that a NIC has 3/4 of its half.
    EXPECT_GT(result.phases[p].bus_bandwidth, 100e9);
    EXPECT_LT(result.phases[p].bus_bandwidth, 2 * 100e9 * 7 / 6);
  }
}

TEST(JobGraph, RankTimesAddUpToTheStep) {
  COVERS("G7");
  const auto run = run_job(test::star_fabric(2, 1, 100_Gbps), "chakra,file=" + kJobFiles + "pair");
  ASSERT_TRUE(run);
  const auto times = run->load->rank_times();
  ASSERT_EQ(times.size(), 1U);
  Duration computed;
  for (const RankSpan& span : times[0].spans) {
    EXPECT_LE(span.begin, span.end);
    if (span.what == TaskKind::kCompute && span.rank == 0) computed += span.end - span.begin;
  }
  EXPECT_EQ(computed, 150_us);
}

}  // namespace
}  // namespace weir::sim
