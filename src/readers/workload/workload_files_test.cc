// Files in which people have jobs: each form read, and each mistake named with its place.
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/testing.h"
#include "readers/job/training_job.h"
#include "readers/workload/chakra.h"
#include "readers/workload/nccl_list.h"
#include "readers/workload/simai.h"

namespace weir::readers {
namespace {

std::string data_file(const std::string& name) {
  const auto text = read_file(std::string(WEIR_TEST_DATA) + "/workload/" + name);
  EXPECT_TRUE(text) << name;
  return text ? *text : std::string();
}

TEST(Chakra, ProtobufAndJsonSayTheSame) {
  COVERS("G7");
  for (const int rank : {0, 1}) {
    const auto wire = read_chakra(data_file("pair." + std::to_string(rank) + ".et"));
    const auto json = read_chakra(data_file("pair_json." + std::to_string(rank) + ".json"));
    ASSERT_TRUE(wire) << wire.error().what;
    ASSERT_TRUE(json) << json.error().what;
    ASSERT_EQ(wire->nodes.size(), 5U);
    ASSERT_EQ(json->nodes.size(), 5U);
    for (std::size_t i = 0; i < 5; ++i) {
      const TraceNode& a = wire->nodes[i];
      const TraceNode& b = json->nodes[i];
      EXPECT_EQ(a.id, b.id);
      EXPECT_EQ(a.name, b.name);
      EXPECT_EQ(a.kind, b.kind);
      EXPECT_EQ(a.after, b.after);
      EXPECT_EQ(a.takes, b.takes);
      EXPECT_EQ(a.collective, b.collective);
      EXPECT_EQ(a.size, b.size);
      EXPECT_EQ(a.peer, b.peer);
      EXPECT_EQ(a.tag, b.tag);
      EXPECT_EQ(a.group, b.group);
    }
    EXPECT_EQ(wire->nodes[0].takes, 100_us);
    EXPECT_EQ(wire->nodes[1].collective, TraceCollective::kAllReduce);
    EXPECT_EQ(wire->nodes[1].size, Bytes::raw(1'000'000));
    EXPECT_EQ(wire->nodes[4].kind, rank == 0 ? TraceNodeKind::kSend : TraceNodeKind::kReceive);
    EXPECT_EQ(wire->nodes[4].peer, rank == 0 ? 1U : 0U);
  }
}

TEST(Chakra, TracesOfThePublicSchemaByProtobufItself) {
  COVERS("G7");
  for (const unsigned rank : {0U, 1U}) {
    const auto trace = read_chakra(data_file("schema." + std::to_string(rank) + ".et"));
    ASSERT_TRUE(trace) << trace.error().what;
    EXPECT_EQ(trace->groups.at("0"), (std::vector<std::uint32_t>{0, 1}));
    const std::vector<TraceNode>& nodes = trace->nodes;
    ASSERT_EQ(nodes.size(), 9U);
    EXPECT_EQ(nodes[2].kind, TraceNodeKind::kOther);  // of the CPU
    EXPECT_EQ(nodes[2].after, (std::vector<std::uint64_t>{1, 2}));
    EXPECT_EQ(nodes[3].kind, TraceNodeKind::kCompute);
    EXPECT_EQ(nodes[3].takes, 100_us);
    EXPECT_EQ(nodes[4].collective, TraceCollective::kAllReduce);
    EXPECT_EQ(nodes[4].size, Bytes::raw(1'000'000));
    EXPECT_EQ(nodes[4].group, "0");  // a text
    EXPECT_EQ(nodes[5].collective, TraceCollective::kAllGather);
    EXPECT_EQ(nodes[5].size, Bytes::raw(300'000));
    EXPECT_EQ(nodes[5].group, "0");  // a number
    EXPECT_EQ(nodes[7].kind, rank == 0 ? TraceNodeKind::kSend : TraceNodeKind::kReceive);
    EXPECT_EQ(nodes[7].peer, rank == 0 ? 1U : 0U);  // zigzag, and as it is
    EXPECT_EQ(nodes[7].size, Bytes::raw(250'000));  // of eight bytes
    EXPECT_EQ(nodes[7].tag, 300U);                  // of four
    EXPECT_EQ(nodes[7].after, (std::vector<std::uint64_t>{6, 7}));
    EXPECT_EQ(nodes[8].id, (std::uint64_t{1} << 63U) + 9);
    EXPECT_EQ(nodes[8].collective, TraceCollective::kBarrier);
  }
}

TEST(Chakra, ComputingWithoutADurationIsNotTakenForNone) {
  COVERS("G7");
  const auto is_untimed = [](std::string_view members) {
    const auto trace = read_chakra(fmt::format("{{\"id\": 1, \"type\": 4, {}}}", members));
    return trace && trace->nodes.front().is_untimed;
  };
  const std::string operations = "\"attr\": [{\"name\": \"num_ops\", \"int64Val\": \"1000000\"}]";
  EXPECT_TRUE(is_untimed(operations));
  EXPECT_FALSE(is_untimed(operations + ", \"durationMicros\": 7"));
  EXPECT_FALSE(is_untimed("\"attr\": []"));
}

TEST(Chakra, EveryCutIsAnErrorWithItsOffset) {
  COVERS("G7");
  const std::string whole = data_file("pair.0.et");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto cut = read_chakra(whole.substr(0, size));
    if (!cut) {
      EXPECT_FALSE(cut.error().what.empty());
    }
  }
  const auto cut = read_chakra(whole.substr(0, whole.size() - 3));
  ASSERT_FALSE(cut);
  EXPECT_NE(cut.error().what.find("offset "), std::string::npos) << cut.error().what;
}

TEST(Chakra, MistakesAreNamed) {
  COVERS("G7");
  const auto error_of = [](std::string_view text) {
    const auto trace = read_chakra(text);
    return trace ? std::string("none") : trace.error().what;
  };
  EXPECT_EQ(error_of(""), "expected a trace, found an empty file");
  EXPECT_NE(error_of("\x1f\x8b\x08 zipped").find("gunzip"), std::string::npos);
  EXPECT_EQ(error_of("{\"id\": 1, \"type\": \"COMM_COLL_NODE\",\n \"attr\": [{\"name\": "
                     "\"comm_type\", \"int64Val\": 42}, {\"name\": \"comm_size\", \"int64Val\": "
                     "8}]}"),
            "line 1: node 1: expected a comm_type from 0 to 9, found 42");
  EXPECT_EQ(error_of("{\"id\": 1, \"type\": \"COMM_SEND_NODE\",\n \"attr\": [{\"name\": "
                     "\"comm_size\", \"int64Val\": 8}]}"),
            "line 1: node 1: expected a rank as comm_dst, found none");
  EXPECT_NE(error_of("{\"id\": 1,\n \"type\": }").find("line 2"), std::string::npos);
  EXPECT_FALSE(read_rank_groups("{\"1\": [0, \"x\"]}", "groups.json"));
  EXPECT_EQ(read_rank_groups("{\"1\": [0, 3]}", "groups.json")->at("1").back(), 3U);
}

TEST(Simai, LayersAndTheirGroups) {
  COVERS("G7");
  const auto job = read_simai(data_file("two_hosts.simai.txt"));
  ASSERT_TRUE(job) << job.error().what;
  EXPECT_EQ(job->gpus, 16U);
  ASSERT_EQ(job->layers.size(), 4U);
  EXPECT_EQ(job->layers[1].forward.compute, 120_us);
  ASSERT_TRUE(job->layers[1].forward.communication);
  EXPECT_EQ(job->layers[1].forward.communication->group, ParallelGroup::kTensor);
  EXPECT_EQ(job->layers[1].weight_gradient.communication->group, ParallelGroup::kData);
  EXPECT_EQ(job->layers[1].update, 500_ns);
  EXPECT_FALSE(job->layers[3].forward.communication);  // of no bytes
}

TEST(Simai, MistakesNameTheLine) {
  COVERS("G7");
  const std::string head = "HYBRID_TRANSFORMER model_parallel_NPU_group: 1 all_gpus: 2\n";
  const auto error_of = [](const std::string& text) {
    const auto job = read_simai(text);
    return job ? std::string("none") : job.error().what;
  };
  EXPECT_EQ(error_of("DLRM\n1\nx\n"),
            "line 1: parallelism: expected HYBRID_TRANSFORMER or "
            "HYBRID_TRANSFORMER_FWD_IN_BCKWD, found 'DLRM'");
  EXPECT_EQ(error_of(head + "2\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n"),
            "line 2: 2 layers are promised, 1 found");
  EXPECT_NE(error_of(head + "1\na -1 1 NONE 0 1 NONE\n").find("line 3: expected a layer of 12"),
            std::string::npos);
  EXPECT_NE(error_of(head + "1\na -1 1 ALLREDUCES 9 1 NONE 0 1 NONE 0 1\n").find("'ALLREDUCES'"),
            std::string::npos);
  EXPECT_NE(error_of(head + "1\na -1 x NONE 0 1 NONE 0 1 NONE 0 1\n").find("forward time"),
            std::string::npos);
}

TEST(NcclList, SizesAreThoseOfTheTests) {
  COVERS("G7");
  const auto runs = read_nccl_list(data_file("list.nccl"));
  ASSERT_TRUE(runs) << runs.error().what;
  ASSERT_EQ(runs->size(), 2U);
  EXPECT_EQ((*runs)[0].sizes,
            (std::vector<Bytes>{Bytes::raw(1 << 20), Bytes::raw(2 << 20), Bytes::raw(4 << 20)}));
  EXPECT_EQ((*runs)[0].iterations, 20U);
  EXPECT_EQ((*runs)[1].collective, TraceCollective::kAllToAll);
  EXPECT_EQ(read_nccl_list("sendrecv_perf -b 8\n").error().what,
            "line 1: test: expected all_reduce_perf, all_gather_perf, reduce_scatter_perf or "
            "alltoall_perf, found 'sendrecv_perf'");
  EXPECT_EQ(read_nccl_list("# none\n\nall_reduce_perf -b 8Q\n").error().what,
            "line 3: -b: expected a size such as 8M, found '8Q'");
  EXPECT_FALSE(read_nccl_list(""));
}

TEST(TrainingJob, SlurmAndMegatronFlags) {
  COVERS("E2");
  const TrainingJob job = read_training_job(data_file("train.sbatch"));
  ASSERT_TRUE(job.nodes && job.gpus_per_node);
  EXPECT_EQ(job.nodes->value * job.gpus_per_node->value, 32U);
  EXPECT_EQ(job.flags.at("tensor-model-parallel-size").value, 8U);
  EXPECT_EQ(job.flags.at("pipeline-model-parallel-size").value, 2U);
  EXPECT_EQ(job.flags.at("num-layers").line, 12U);
  EXPECT_EQ(job.precision, "bf16");
  const TrainingJob nemo =
      read_training_job("python train.py model.tensor_model_parallel_size=4 model.num_layers=$N\n");
  EXPECT_EQ(nemo.flags.at("tensor-model-parallel-size").value, 4U);
  EXPECT_FALSE(nemo.flags.contains("num-layers"));
}

}  // namespace
}  // namespace weir::readers
