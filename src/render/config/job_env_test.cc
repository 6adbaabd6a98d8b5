#include "render/config/job_env.h"

#include "base/file.h"
#include "base/json.h"
#include "base/testing.h"
#include "design/file/load.h"
#include "design/file/templates.h"
#include "evidence/json.h"

namespace weir::render {
namespace {

struct Made {
  design::Design design;
  design::Intent intent;
};

Made make(std::string_view name, std::string_view more = {}) {
  std::string text(design::find_template(name)->text);
  text += more;
  const design::Loaded loaded = design::load_text(text, "fabric.yaml");
  EXPECT_TRUE(loaded.is_good()) << to_text(loaded);
  return {loaded.design, design::derive(loaded.design).intent};
}

std::string value_of(const JobEnvironment& environment, std::string_view name) {
  const Variable* const variable = environment.find(name);
  return variable == nullptr ? "(absent)" : variable->is_set ? variable->value : "(not set)";
}

evidence::Evidence captured() {
  const auto text = read_file(std::string(WEIR_TEST_DATA) + "/host/mlx5-ofed/facts.json");
  EXPECT_TRUE(text.has_value());
  auto read = evidence::evidence_from_json(Json::parse(text.value_or("{}")));
  EXPECT_TRUE(read.has_value()) << read.error().what;
  return read ? std::move(read).value() : evidence::Evidence();
}

TEST(JobEnv, EveryNcclValueHasItsReason) {
  COVERS("E1");
  const Made made = make("rail256");
  const JobEnvironment nccl = nccl_environment(made.design, made.intent, {});
  EXPECT_EQ(value_of(nccl, "NCCL_IB_HCA"),
            "=mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7");
  EXPECT_EQ(value_of(nccl, "NCCL_IB_TC"), "106");
  EXPECT_EQ(value_of(nccl, "NCCL_IB_GID_INDEX"), "(not set)");
  EXPECT_EQ(value_of(nccl, "NCCL_IB_ROCE_VERSION_NUM"), "2");
  EXPECT_EQ(value_of(nccl, "NCCL_CROSS_NIC"), "0");
  EXPECT_EQ(value_of(nccl, "NCCL_IB_TIMEOUT"), "20");
  EXPECT_NE(nccl.find("NCCL_IB_TIMEOUT")->why.find("4.29s"), std::string::npos)
      << nccl.find("NCCL_IB_TIMEOUT")->why;
  EXPECT_NE(nccl.find("NCCL_IB_TC")->why.find("DSCP 26 x 4 + 2"), std::string::npos);
  for (const Variable& variable : nccl.variables)
    EXPECT_FALSE(variable.why.empty()) << variable.name;
}

TEST(JobEnv, TheGidIndexIsTheOneOfTheHostsThatWereRead) {
  COVERS("E1");
  const Made made = make("pair", "addressing: { subnets: 10.10.1.0/24 }\n");
  evidence::Evidence host = captured();
  const JobEnvironment nccl = nccl_environment(made.design, made.intent, {&host, 1});
  EXPECT_EQ(value_of(nccl, "NCCL_IB_GID_INDEX"), "3") << nccl.find("NCCL_IB_GID_INDEX")->why;
  EXPECT_EQ(value_of(nccl, "NCCL_IB_ROCE_VERSION_NUM"), "(absent)");
  EXPECT_EQ(value_of(ucx_environment(made.design, made.intent, {&host, 1}), "UCX_IB_GID_INDEX"),
            "3");
  // Another host has it elsewhere: no number is right for both.
  std::vector<evidence::Evidence> two = {host, host};
  two[1].provenance.host = "gpu2";
  auto gids = *two[1].nics[0].rdma.gids;
  gids.back().index = 5;
  two[1].nics[0].rdma.gids = evidence::Fact<std::vector<evidence::Gid>>::of(gids);
  const JobEnvironment differs = nccl_environment(made.design, made.intent, two);
  EXPECT_EQ(value_of(differs, "NCCL_IB_GID_INDEX"), "(not set)");
  EXPECT_NE(differs.find("NCCL_IB_GID_INDEX")->why.find("differs"), std::string::npos);
  // A host outside of its rail's subnet has no usable GID.
  const Made elsewhere = make("pair");
  const JobEnvironment none = nccl_environment(elsewhere.design, elsewhere.intent, {&host, 1});
  EXPECT_EQ(value_of(none, "NCCL_IB_GID_INDEX"), "(not set)");
  EXPECT_NE(none.find("NCCL_IB_GID_INDEX")->why.find("no RoCE v2 GID"), std::string::npos);
}

TEST(JobEnv, UnderPcpTrustTheServiceLevelIsThePriority) {
  COVERS("E1");
  const Made made = make("pair", "trust: pcp\n");
  EXPECT_EQ(value_of(nccl_environment(made.design, made.intent, {}), "NCCL_IB_SL"), "3");
  EXPECT_EQ(value_of(ucx_environment(made.design, made.intent, {}), "UCX_IB_SL"), "3");
}

TEST(JobEnv, EveryFormatHoldsEveryValueAndReason) {
  COVERS("E1");
  const Made made = make("pod16");
  const JobEnvironment nccl = nccl_environment(made.design, made.intent, {});
  struct Format {
    std::string_view name;
    std::string_view file;
    std::string_view line;
  };
  for (const Format& format : std::vector<Format>{
           {"env", "nccl.env", "\nexport NCCL_IB_TC=106\n"},
           {"nccl.conf", "nccl.conf", "\nNCCL_IB_TC=106\n"},
           {"slurm", "nccl-task-prolog.sh", "\nprintf '%s\\n' 'export NCCL_IB_TC=106'\n"},
           {"k8s", "nccl-configmap.yaml", "\n  NCCL_IB_TC: \"106\"\n"}}) {
    const platforms::ConfigFile file = job_file(nccl, format.name, made.design);
    EXPECT_EQ(file.name, format.file);
    EXPECT_NE(file.text.find(format.line), std::string::npos) << file.text;
    for (const Variable& variable : nccl.variables)
      EXPECT_NE(file.text.find(variable.name), std::string::npos) << variable.name;
    EXPECT_NE(file.text.find("# TOS byte, not DSCP"), std::string::npos);
  }
  EXPECT_EQ(job_formats("UCX").size(), 3U);
}

}  // namespace
}  // namespace weir::render
