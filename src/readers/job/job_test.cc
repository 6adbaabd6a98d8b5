#include "readers/job/job.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/testing.h"

namespace weir::readers {
namespace {

std::string value_of(const Job& job, std::string_view name) {
  const JobVariable* found = job.find(name);
  return found == nullptr ? "(not there)" : found->value;
}

Job read_data(const std::string& name) {
  const auto text = read_file(std::string(WEIR_TEST_DATA) + "/" + name);
  EXPECT_TRUE(text.has_value()) << name;
  return text ? read_job(*text, name) : Job{};
}

TEST(JobText, EveryWayToSetAVariableIsRead) {
  COVERS("E2");
  const struct {
    std::string_view line;
    std::string_view value;
  } cases[] = {
      {"NCCL_IB_TC=106", "106"},
      {"export NCCL_IB_TC=106", "106"},
      {"export NCCL_IB_TC=\"106\"  # the byte", "106"},
      {"NCCL_IB_TC='106' NCCL_DEBUG=INFO ./train", "106"},
      {"mpirun -np 8 -x NCCL_IB_TC=106 -x PATH ./train", "106"},
      {"mpirun -genv NCCL_IB_TC 106 ./train", "106"},
      {"srun --export=ALL,NCCL_DEBUG=INFO,NCCL_IB_TC=106 ./train", "106"},
      {"#SBATCH --export=ALL,NCCL_IB_TC=106", "106"},
      {"docker run -e NCCL_IB_TC=106 image", "106"},
      {"ENV NCCL_IB_TC=106", "106"},
      {"ENV NCCL_IB_TC 106", "106"},
      {"setenv NCCL_IB_TC 106", "106"},
      {"  \"NCCL_IB_TC\": \"106\",", "106"},
      {"  NCCL_IB_TC: \"106\"", "106"},
      {"os.environ['NCCL_DEBUG']; env NCCL_IB_TC=0x6a ./train", "0x6a"},
      {"gpu01:1:2 [0] NCCL INFO NCCL_IB_TC set by environment to 106.", "106"},
      {"[2026-01-02 03:04:05] gpu01:1:2 [0] NCCL INFO NCCL_IB_TC set by environment to 106.",
       "106"},
      {"# NCCL_IB_TC=106", "(not there)"},
      {"echo ${NCCL_IB_TC=106}", "(not there)"},
      {"MY_NCCL_IB_TC=106", "(not there)"},
  };
  for (const auto& example : cases)
    EXPECT_EQ(value_of(read_job(example.line, "f"), "NCCL_IB_TC"), example.value) << example.line;
  EXPECT_EQ(value_of(read_job("export NCCL_IB_HCA==mlx5_0,mlx5_1", "f"), "NCCL_IB_HCA"),
            "=mlx5_0,mlx5_1");
  const Job pod = read_job("env:\n- name: NCCL_IB_HCA\n  value: \"=mlx5_0\"\n", "pod.yaml");
  EXPECT_EQ(value_of(pod, "NCCL_IB_HCA"), "=mlx5_0");
  EXPECT_EQ(pod.find("NCCL_IB_HCA")->at.line, 3);
}

TEST(JobScript, ItsOwnVariablesAreResolved) {
  COVERS("E2");
  const struct {
    std::string_view script;
    std::string_view value;  // of NCCL_IB_TC; "open" where only a shell could know
  } cases[] = {
      {"TC=26\nexport NCCL_IB_TC=$TC\n", "26"},
      {"TC=26\nexport NCCL_IB_TC=${TC}\n", "26"},
      {"export DSCP=26 TC=104\nexport NCCL_IB_TC=\"$TC\"\n", "104"},
      {"export NCCL_IB_TC=$((26*4))\n", "104"},
      {"export NCCL_IB_TC=$(( 26 * 4 + 2 ))\n", "106"},
      {"D=26\nexport NCCL_IB_TC=$((D << 2 | 2))\n", "106"},
      {"D=0x1a\nexport NCCL_IB_TC=\"$(($D*4))\"\n", "104"},
      {"export NCCL_IB_TC=$[26*4]\n", "104"},
      {"export NCCL_IB_TC=${MY_TC:-104}\n", "104"},
      {"MY_TC=26\nexport NCCL_IB_TC=${MY_TC:-104}\n", "26"},
      {"((TC = 26 * 4))\nexport NCCL_IB_TC=$TC\n", "104"},
      {"export NCCL_IB_TC=$TC\n", "open"},
      {"export NCCL_IB_TC=$(cat /etc/tc)\n", "open"},
      {"export NCCL_IB_TC=`cat /etc/tc`\n", "open"},
      {"export NCCL_IB_TC=$((DSCP*4))\n", "open"},
      {"export NCCL_IB_TC=26\nexport NCCL_IB_TC=104\nsrun a\n", "104"},
      {"export NCCL_IB_TC=106 NCCL_DEBUG=INFO\nunset NCCL_IB_TC\nsrun train\n", "(not there)"},
      {"export NCCL_IB_TC=106\nexport -n NCCL_IB_TC\nsrun train\n", "(not there)"},
      {"#!/bin/bash\nexport NCCL_IB_TC=106\nenv -u NCCL_IB_TC ./train\n", "(not there)"},
      {"unset NCCL_IB_TC\nexport NCCL_IB_TC=106\nsrun train\n", "106"},
      {"if [ $A = b ]; then TC=26; else TC=104; fi\nexport NCCL_IB_TC=$TC\n", "open"},
      {"if [ $A = b ]; then TC=26; else TC=26; fi\nexport NCCL_IB_TC=$TC\n", "26"},
      {"TC=104\nif x; then\n  TC=26\nfi\nexport NCCL_IB_TC=$TC\n", "open"},
      {"if x; then\n  TC=26\n  export NCCL_IB_TC=$TC\nfi\n", "26"},
      {"case $C in\n a) TC=26 ;;\n *) TC=26 ;;\nesac\nexport NCCL_IB_TC=$TC\n", "26"},
      {"for t in 26 104; do\n  export NCCL_IB_TC=$t\n  srun a\ndone\n", "open"},
      {"#SBATCH --export=ALL,NCCL_IB_TC=26\nsrun a\n", "26"},
      {"#SBATCH --export=NCCL_IB_TC=26,PATH\nsrun a\n", "26"},
      {"#!/bin/bash\nsrun --export=ALL,NCCL_IB_TC=26 ./a\n", "26"},
      {"#!/bin/bash\nsrun bash -c 'export NCCL_IB_TC=26; python x.py'\n", "26"},
      {"#!/bin/bash\nsrun bash -c \"export NCCL_IB_TC=\\\"26\\\" && ./a\"\n", "26"},
      {"#!/bin/bash\n# export NCCL_IB_TC=26\nsrun a\n", "(not there)"},
      {"setenv TC 26\nsetenv NCCL_IB_TC $TC\n", "26"},
      {"os.environ['NCCL_IB_TC'] = '26'\n", "26"},
      {"os.environ.setdefault(\"NCCL_IB_TC\", \"26\")\n", "26"},
      {"os.environ['NCCL_IB_TC'] = str(tc)\n", "open"},
      {"if os.environ['NCCL_IB_TC'] == '26': pass\n", "(not there)"},
  };
  for (const auto& item : cases) {
    const Job job = read_job(item.script, "f");
    const bool is_open = job.find("NCCL_IB_TC") == nullptr && job.sets("NCCL_IB_TC");
    EXPECT_EQ(is_open ? "open" : value_of(job, "NCCL_IB_TC"), item.value) << item.script;
  }
}

TEST(JobScript, AValueThatDoublesWithEveryLineIsOpen) {
  constexpr int kDoublings = 24;  // 128 MB of an eight-byte word
  std::string shell = "export A0=aaaaaaaa\n";
  std::string appended = "export A=aaaaaaaa\n";
  std::string pod = "env:\n- {name: A0, value: \"aaaaaaaa\"}\n";
  for (int i = 1; i <= kDoublings; ++i) {
    const std::string now = "A" + std::to_string(i);
    const std::string before = "A" + std::to_string(i - 1);
    shell += "export " + now + "=$" + before + "$" + before + "\n";
    appended += "A+=$A\n";
    pod += "- {name: " + now + ", value: \"$(" + before + ")$(" + before + ")\"}\n";
  }
  shell += "export NCCL_IB_TC=$A24\n";
  appended += "export NCCL_IB_TC=$A\n";
  pod += "- {name: NCCL_IB_TC, value: \"$(A24)\"}\n";
  for (const std::string& text : {shell, appended, pod}) {
    const Job job = read_job(text, "f");
    EXPECT_EQ(job.find("NCCL_IB_TC"), nullptr) << text.substr(0, 40);
    EXPECT_TRUE(job.sets("NCCL_IB_TC"));
  }
}

TEST(JobScript, OneThatWasMadeToBeExpensiveIsFollowedNoFurther) {
  // Each branch keeps what is in force: this would copy 6 GB.
  std::string text = "export NCCL_DEBUG=INFO\n";
  for (int i = 0; i < 3000; ++i)
    text += "V" + std::to_string(i) + "=" + std::string(200, 'x') + "\n";
  for (int i = 0; i < 3000; ++i)
    text += "if a; then B=1; else B=2; fi\n";
  text += "TC=26\nexport NCCL_IB_TC=104\nexport NCCL_IB_SL=$TC\n";
  const Job job = read_job(text, "f");
  EXPECT_EQ(value_of(job, "NCCL_DEBUG"), "INFO");
  EXPECT_EQ(value_of(job, "NCCL_IB_TC"), "104");
  EXPECT_EQ(job.find("NCCL_IB_SL"), nullptr);
  EXPECT_TRUE(job.sets("NCCL_IB_SL"));
}

TEST(JobScript, WhatACommandRanWithIsKept) {
  COVERS("E2");
  const Job job =
      read_job("#!/bin/bash\nexport NCCL_IB_TC=26\nsrun a\nexport NCCL_IB_TC=104\nsrun b\n", "f");
  ASSERT_EQ(job.variables.size(), 2U);
  const Job unset = read_job("export NCCL_IB_TC=106\nunset NCCL_IB_TC\nsrun a\n", "f");
  ASSERT_EQ(unset.unset.size(), 1U);
  EXPECT_EQ(unset.unset[0].at.line, 2);
  EXPECT_TRUE(read_job("export NCCL_IB_TC=1\nsrun a\nunset NCCL_IB_TC\n", "f").unset.empty());
}

TEST(JobScript, KubernetesListsAreReadInEveryForm) {
  COVERS("E2");
  const struct {
    std::string_view manifest;
    std::string_view value;
  } cases[] = {
      {"env:\n- {name: NCCL_IB_TC, value: \"26\"}\n", "26"},
      {"env:\n  - name: NCCL_IB_TC\n    value: '26'\n", "26"},
      {"env:\n  - value: \"26\"\n    name: NCCL_IB_TC\n", "26"},
      {"{\"env\": [\n  {\"name\": \"NCCL_IB_TC\", \"value\": \"26\"}]}\n", "26"},
      {"    {\n \"name\": \"NCCL_IB_TC\",\n \"value\": \"26\"\n }\n", "26"},
      {"- name: TC\n  value: \"26\"\n- name: NCCL_IB_TC\n  value: $(TC)\n", "26"},
      {"- name: NCCL_IB_TC\n  valueFrom:\n    configMapKeyRef: {name: cm, key: tc}\n", "open"},
      {"- {name: NCCL_IB_TC, valueFrom: {configMapKeyRef: {name: cm, key: tc}}}\n", "open"},
      {"- name: w\n  image: x\n  env:\n  - name: OTHER\n    value: \"26\"\n", "(not there)"},
      {"data:\n  NCCL_IB_TC: \"26\"\n", "26"},
      {"  # - {name: NCCL_IB_TC, value: \"26\"}\n", "(not there)"},
  };
  for (const auto& item : cases) {
    const Job job = read_job(item.manifest, "pod.yaml");
    const bool is_open = job.find("NCCL_IB_TC") == nullptr && job.sets("NCCL_IB_TC");
    EXPECT_EQ(is_open ? "open" : value_of(job, "NCCL_IB_TC"), item.value) << item.manifest;
  }
}

TEST(JobScript, AssignmentsWithinValuesAreReadToALimitedDepth) {
  std::string nested = "#!/bin/sh\nexport ";
  for (int i = 0; i < 1000; ++i)
    nested += "NCCL_X" + std::to_string(i) + "=";
  const Job deep = read_job(nested + "1\n", "f");
  EXPECT_EQ(deep.variables.size() + deep.open.size(), 16U);
  // Side by side they are not within each other, however many they are.
  std::string list = "#!/bin/sh\nmpirun ";
  for (int i = 0; i < 100; ++i)
    list += "-x NCCL_X" + std::to_string(i) + "=1 ";
  EXPECT_EQ(read_job(list + "app\n", "f").variables.size(), 100U);
}

TEST(JobScript, LimitsOfLockedMemoryAreRead) {
  COVERS("E2");
  const auto limit = [](std::string_view text) {
    const Job job = read_job(text, "f");
    if (job.memlock.empty()) return std::string("none");
    return job.memlock.back().bytes ? std::to_string(*job.memlock.back().bytes)
                                    : std::string("unlimited");
  };
  EXPECT_EQ(limit("#!/bin/sh\nulimit -l 64\n"), "65536");
  EXPECT_EQ(limit("#!/bin/sh\nulimit -Sl 64\n"), "65536");
  EXPECT_EQ(limit("#!/bin/sh\nKB=128\nulimit -l $KB\n"), "131072");
  EXPECT_EQ(limit("#!/bin/sh\nulimit -l 64\nulimit -l unlimited\n"), "unlimited");
  EXPECT_EQ(limit("docker run --ulimit memlock=65536:65536 image\n"), "65536");
  EXPECT_EQ(limit("docker run --ulimit memlock=-1 image\n"), "unlimited");
  EXPECT_EQ(limit("#!/bin/sh\nulimit -n 64\n"), "none");
  EXPECT_EQ(limit("#!/bin/sh\nulimit -l\n"), "none");
}

TEST(JobText, ARealRunOfTwoRanksIsReadWhole) {
  COVERS("E2");
  const Job job = read_data("nccl/nccl_2.28.9_two_ranks_socket.realrun.log");
  ASSERT_EQ(job.processes.size(), 2U);
  for (const NcclProcess& process : job.processes) {
    EXPECT_EQ(process.version, "2.28.9");
    EXPECT_EQ(process.network, "Socket");
    EXPECT_TRUE(process.found_no_device);
    EXPECT_TRUE(process.devices.empty());
    EXPECT_EQ(process.channels.size(), 4U);
    ASSERT_TRUE(process.rank.has_value());
    EXPECT_EQ(process.host_id, *process.rank == 0 ? "host0" : "host1");
    for (const NcclChannel& channel : process.channels)
      EXPECT_EQ(channel.via, "NET/Socket/0");
  }
}

TEST(JobText, LogsOfOldAndNewVersionsAreRead) {
  COVERS("E2");
  const Job now = read_data("nccl/nccl_2.28_roce_gdr_ok.composed.log");
  ASSERT_EQ(now.processes.size(), 1U);
  const NcclProcess& process = now.processes.front();
  ASSERT_EQ(process.devices.size(), 2U);
  EXPECT_EQ(process.devices[1].name, "mlx5_1");
  EXPECT_TRUE(process.devices[1].is_roce);
  ASSERT_EQ(process.queue_pairs.size(), 1U);
  EXPECT_EQ(process.queue_pairs[0].gid_index, 3);
  EXPECT_EQ(process.queue_pairs[0].gid, "0000:0000:0000:0000:0000:ffff:0a0a:0105");
  EXPECT_EQ(process.queue_pairs[0].mtu, 4096U);
  EXPECT_EQ(process.channels.size(), 4U);
  for (const NcclChannel& channel : process.channels)
    EXPECT_TRUE(channel.is_gpu_direct()) << channel.via;

  const Job old = read_data("nccl/nccl_2.12_gdr_no_module.composed.log");
  ASSERT_EQ(old.processes.size(), 1U);
  EXPECT_EQ(old.processes[0].version, "2.12.12");
  ASSERT_EQ(old.processes[0].gpu_direct.size(), 1U);
  EXPECT_FALSE(old.processes[0].gpu_direct[0].is_on);
  EXPECT_EQ(old.processes[0].gpu_direct[0].device, "mlx5_0");
  EXPECT_EQ(old.processes[0].gpu_direct[0].reason, "no module");

  const Job failed = read_data("nccl/nccl_retry_exceeded.composed.log");
  ASSERT_EQ(failed.processes.size(), 1U);
  ASSERT_EQ(failed.processes[0].failures.size(), 3U);
  EXPECT_EQ(failed.processes[0].failures[0].status, 12U);
  EXPECT_EQ(failed.processes[0].failures[0].vendor_error, 129U);
  EXPECT_EQ(failed.processes[0].failures[0].device, "mlx5_0");
  EXPECT_EQ(failed.processes[0].failures[0].peer, "10.10.1.6");
  EXPECT_EQ(failed.processes[0].failures[1].event, "port error");
}

TEST(JobVariables, NamesAreKnownRenamedOrMisspelt) {
  COVERS("E2");
  EXPECT_TRUE(knowledge_of("NCCL_IB_HCA").is_known);
  EXPECT_TRUE(knowledge_of("TORCH_NCCL_BLOCKING_WAIT").is_known);
  EXPECT_TRUE(knowledge_of("UCX_NET_DEVICES").is_known);
  EXPECT_EQ(knowledge_of("NCCL_IB_GDR_LEVEL").renamed_to, "NCCL_NET_GDR_LEVEL");
  // Versions as on NVIDIA's page of environment variables.
  EXPECT_EQ(knowledge_of("NCCL_IB_GDR_LEVEL").note, "renamed in NCCL 2.4.0");
  EXPECT_EQ(knowledge_of("NCCL_IB_CUDA_SUPPORT").note, "removed in NCCL 2.4.0");
  EXPECT_EQ(knowledge_of("NCCL_LL_THRESHOLD").note, "removed in NCCL 2.5");
  EXPECT_TRUE(knowledge_of("NCCL_MAX_NRINGS").is_known) << "an alias that still works";
  EXPECT_TRUE(knowledge_of("NCCL_BLOCKING_WAIT").is_still_read);
  EXPECT_EQ(knowledge_of("CCL_NET_GDR_LEVEL").nearest, "NCCL_NET_GDR_LEVEL");
  EXPECT_EQ(knowledge_of("NCLL_DEBUG").nearest, "NCCL_DEBUG");
  EXPECT_TRUE(knowledge_of("RCCL_DEBUG").is_known);
  EXPECT_TRUE(knowledge_of("CCL_LOG_LEVEL").is_known);
  EXPECT_EQ(knowledge_of("NCCL_IB_HCAS").nearest, "NCCL_IB_HCA");
  EXPECT_FALSE(knowledge_of("NCCL_MAKE_IT_FAST").is_known);
}

TEST(JobVariables, VersionsCompareAsNumbers) {
  EXPECT_TRUE(version_before("2.8.4", 2, 21));
  EXPECT_TRUE(version_before("2.20.5", 2, 21));
  EXPECT_FALSE(version_before("2.21.0", 2, 21));
  EXPECT_FALSE(version_before("2.100.1", 2, 21));
  EXPECT_FALSE(version_before("3.0", 2, 21));
}

TEST(Job, TakesNoSettingThatIsNoMore) {
  EXPECT_TRUE(read_job("NCCL_IB_TC: 26 -> 106 (done Monday)\n", "mail").variables.empty());
  EXPECT_TRUE(read_job("NCCL_IB_TC=26 -> 106\n", "mail").variables.empty());
  EXPECT_NE(read_job("NCCL_IB_TC=26 -> captured DSCP 6\n", "mail").find("NCCL_IB_TC"), nullptr);
}

TEST(Job, TakesNoSettingFromWhatAScriptPrints) {
  EXPECT_TRUE(read_job("echo 'do not use NCCL_IB_TC=26'\n", "job.sh").variables.empty());
  const Job job = read_job(
      "#!/bin/bash\necho \"never NCCL_IB_TC=26\"\nexport NCCL_IB_SL=3\n"
      "echo NCCL_IB_HCA=mlx5 >> /etc/nccl.conf\n",
      "job.sh");
  EXPECT_EQ(job.find("NCCL_IB_TC"), nullptr);
  EXPECT_NE(job.find("NCCL_IB_SL"), nullptr);
  EXPECT_NE(job.find("NCCL_IB_HCA"), nullptr);
}

}  // namespace
}  // namespace weir::readers
