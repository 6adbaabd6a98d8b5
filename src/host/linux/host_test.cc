#include "host/linux/host.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/testing.h"
#include "evidence/json.h"
#include "host/kernel/capture.h"
#include "host/kernel/faulty.h"
#include "host/kernel/replay.h"

namespace weir::host {

namespace {

const std::string kData = std::string(WEIR_TEST_DATA) + "/host/";
constexpr std::array kCaptures = {"mlx5-ofed", "mlx5-inbox", "fakenic-6.1", "veth-rxe-6.1",
                                  "bnxt",      "irdma",      "ionic",       "infiniband"};

evidence::Evidence observe_capture(const std::string& name) {
  auto host = open_captured_host(kData + name);
  EXPECT_TRUE(host) << (host ? "" : host.error().what);
  auto seen = (*host)->observe();
  EXPECT_TRUE(seen) << (seen ? "" : seen.error().what);
  return std::move(*seen);
}

std::shared_ptr<Kernel> remembered(const std::string& name) {
  auto kernel = open_replay(kData + name);
  EXPECT_TRUE(kernel) << (kernel ? "" : kernel.error().what);
  return std::make_shared<RememberingKernel>(std::move(*kernel));
}

Result<evidence::Evidence> observe_with(const std::shared_ptr<Kernel>& inner,
                                        FaultyKernel::Decide decide) {
  return make_host(std::make_unique<FaultyKernel>(inner, std::move(decide)), "capture")->observe();
}

/// Facts alone; counters have a table of their own.
Json facts_of(const evidence::Evidence& evidence) {
  evidence::Evidence facts = evidence;
  facts.snapshots.clear();
  facts.provenance.detail = "";
  return to_json(facts);
}

std::string counters_text(const evidence::Evidence& evidence) {
  std::string out;
  for (const counters::PortCounters& port : evidence.snapshots.at(0).nics) {
    out += fmt::format("{} {} {}\n", port.device(), port.netdev(), port.driver());
    for (const counters::ShownSample& sample : port.samples()) {
      out += fmt::format("  {} {} {}\n", sample.key(),
                         sample.reading.has_value()
                             ? fmt::format("{}", sample.reading.value())
                             : std::string(counters::to_text(sample.reading.why())),
                         sample.match ? sample.match.counter->id : "-");
    }
  }
  return out;
}

/// WEIR_UPDATE_GOLDEN=1 writes it anew.
void expect_golden(const std::string& path, const std::string& text) {
  if (std::getenv("WEIR_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(write_file_atomic(path, text));
    return;
  }
  const auto golden = read_file(path);
  ASSERT_TRUE(golden) << golden.error().what;
  EXPECT_EQ(text, *golden) << "WEIR_UPDATE_GOLDEN=1 rewrites " << path;
}

bool is_fact(const Json& json) {
  return json.is_object() && (json.contains("value") || json.contains("missing"));
}

/// Every fact of `found` that is known has the value of `clean`. `lenient`: keys of facts that an
/// absence legitimately changes.
void expect_no_invention(const Json& clean, const Json& found, const std::string& at,
                         const std::set<std::string>& lenient) {
  if (is_fact(found) && (is_fact(clean) || clean.is_null())) {
    if (!found.contains("value")) return;
    if (lenient.contains(at.substr(at.rfind('/') + 1))) return;
    ASSERT_TRUE(clean.is_object() && clean.contains("value")) << at << " is known all of a sudden";
    EXPECT_EQ(found.at("value"), clean.at("value")) << at;
    return;
  }
  if (found.is_object()) {
    for (const auto& [key, value] : found.items()) {
      if (key == "gaps" || key == "gpus" || key == "distances" || key == "provenance") continue;
      const Json none;
      expect_no_invention(clean.is_object() && clean.contains(key) ? clean.at(key) : none, value,
                          at + "/" + key, lenient);
    }
  } else if (found.is_array() && clean.is_array()) {
    ASSERT_EQ(found.size(), clean.size()) << at;
    for (std::size_t n = 0; n < found.size(); ++n)
      expect_no_invention(clean[n], found[n], at + "/" + std::to_string(n), lenient);
  }
}

void expect_no_invented_counters(const evidence::Evidence& clean, const evidence::Evidence& found) {
  const auto& before = clean.snapshots.at(0).nics;
  const auto& after = found.snapshots.at(0).nics;
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t n = 0; n < after.size(); ++n) {
    for (const counters::ShownSample& sample : after[n].samples()) {
      if (!sample.reading.has_value()) continue;
      EXPECT_EQ(sample.reading, before[n].read(sample.place, sample.name)) << sample.key();
    }
  }
}

}  // namespace

TEST(LinuxHost, ReadsEveryCaptureAsItWasReadBefore) {
  COVERS("C1", "C4", "C5", "C8", "D1");
  for (const std::string name : kCaptures) {
    SCOPED_TRACE(name);
    const evidence::Evidence seen = observe_capture(name);
    expect_golden(kData + name + "/facts.json", facts_of(seen).dump(1) + "\n");
    expect_golden(kData + name + "/counters.txt", counters_text(seen));
  }
}

TEST(LinuxHost, SeesTheVendorsStackWithEverySetting) {
  COVERS("C1", "C10");
  const evidence::Evidence seen = observe_capture("mlx5-ofed");
  ASSERT_EQ(seen.nics.size(), 1U);
  const evidence::Nic& nic = seen.nics[0];
  EXPECT_EQ(seen.provenance.host, "gpu01");
  EXPECT_TRUE(nic.netdev.is("eth2"));
  EXPECT_TRUE(nic.driver.is("mlx5_core"));
  EXPECT_TRUE(nic.model.is("NVIDIA ConnectX-7"));
  EXPECT_TRUE(nic.stack.is(evidence::Stack::kOfed));
  EXPECT_TRUE(nic.qos.trust.is(evidence::TrustMode::kDscp));
  EXPECT_EQ((*nic.qos.dscp_to_priority)[26], 3_prio);
  EXPECT_TRUE(nic.qos.pfc.is(PrioritySet::from_mask(0x08)));
  EXPECT_TRUE(nic.qos.cable_length.is(7_m));
  EXPECT_TRUE(nic.qos.dcbx.is(evidence::DcbxMode::kOs));
  EXPECT_TRUE(nic.ecn.np.is(PrioritySet::from_mask(0xFF)));
  EXPECT_TRUE(nic.ecn.cnp_dscp.is(48_dscp));
  EXPECT_EQ(nic.ecn.parameters->size(), 19U);
  EXPECT_TRUE(nic.rdma.traffic_class.is(std::nullopt));
  EXPECT_EQ(nic.rdma.gids->size(), 4U) << "the other slots of the table are empty";
  EXPECT_TRUE(nic.link.speed.is(400_Gbps));
  EXPECT_TRUE(nic.link.active_mtu.is(4096_B));
  EXPECT_TRUE(nic.link.fec.is("RS"));
  EXPECT_TRUE(nic.link.pause_rx.is(false));
  EXPECT_TRUE(nic.addresses.is({"10.10.1.5/24"}));
}

TEST(LinuxHost, SeesWhereTheCardsSit) {
  COVERS("C5");
  const evidence::Evidence seen = observe_capture("mlx5-ofed");
  EXPECT_TRUE(seen.nics[0].pcie.acs_redirect.is(true));
  EXPECT_TRUE(seen.nics[0].pcie.max_read_request.is(4096_B));
  EXPECT_TRUE(seen.nics[0].pcie.relaxed_ordering.is(true));
  EXPECT_TRUE(seen.nics[0].pcie.irq_numa_nodes.is({0, 1}));
  ASSERT_EQ(seen.gpus.size(), 2U);
  ASSERT_EQ(seen.distances.size(), 2U);
  EXPECT_TRUE(seen.distances[0].distance.is(evidence::Distance::kPix));
  EXPECT_TRUE(seen.distances[1].distance.is(evidence::Distance::kSys));
  EXPECT_TRUE(seen.host.iommu.is(evidence::Iommu::kOff));
  EXPECT_TRUE(seen.host.peermem.is(true));
  EXPECT_TRUE(seen.host.lldpad_running.is(true));
}

TEST(LinuxHost, SaysWhatItWasRefusedWithoutPrivilege) {
  COVERS("C1");
  const evidence::Evidence seen = observe_capture("mlx5-inbox");
  const evidence::Nic& nic = seen.nics.at(0);
  EXPECT_TRUE(nic.stack.is(evidence::Stack::kInbox));
  EXPECT_EQ(nic.ecn.parameters.why(), evidence::Missing::kPermission);
  EXPECT_EQ(nic.pcie.acs_redirect.why(), evidence::Missing::kPermission);
  EXPECT_EQ(nic.ecn.np.why(), evidence::Missing::kAbsent) << "no such files in the kernel's own";
  EXPECT_TRUE(nic.qos.pfc.is(PrioritySet::from_mask(0x18)));
  EXPECT_TRUE(nic.link.pause_rx.is(true)) << "by ioctl: an old kernel";
  std::string gaps;
  for (const evidence::Gap& gap : seen.gaps)
    gaps += gap.what + "|" + gap.how + "\n";
  EXPECT_NE(gaps.find("ecn.parameters"), std::string::npos) << gaps;
  EXPECT_NE(gaps.find("pcie.acs_redirect"), std::string::npos) << gaps;
  EXPECT_NE(gaps.find("run weir as root"), std::string::npos) << gaps;
}

TEST(LinuxHost, ReadsSoftRoceAsARealKernelShowsIt) {
  COVERS("C8");
  const evidence::Evidence seen = observe_capture("veth-rxe-6.1");
  const evidence::Nic& nic = seen.nics.at(0);
  EXPECT_TRUE(nic.netdev.is("eth_a"));
  EXPECT_TRUE(nic.driver.is("rdma_rxe"));
  EXPECT_EQ(nic.firmware.why(), evidence::Missing::kUnsupported) << "an empty file";
  EXPECT_EQ(nic.qos.pfc.why(), evidence::Missing::kUnsupported) << "a veth device has no DCB";
  EXPECT_EQ(nic.pcie.address.is_known(), false);
}

TEST(LinuxHost, SaysThatThereIsNoRdmaAtAll) {
  COVERS("C11");
  const auto seen = observe_with(remembered("mlx5-ofed"), [](std::size_t, const std::string& path) {
    return path == "/sys/class/infiniband" ? std::optional(Errno{ENOENT}) : std::nullopt;
  });
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().code, ErrorCode::kNotFound);
  EXPECT_NE(seen.error().what.find("no RDMA device"), std::string::npos) << seen.error().what;
}

namespace {

constexpr std::array kStrictErrors = {EACCES, EPERM, EIO, EINVAL, EOPNOTSUPP, ETIMEDOUT};
// Of these an entry that could not be read is left out, the rest is.
const std::set<std::string> kPartial = {"parameters", "sysctls"};
// And of these an absence says something: no such file is how the kernel answers "no".
const std::set<std::string> kByAbsence = {
    "parameters", "sysctls",        "model",          "stack",        "is_virtual",     "driver",
    "peermem",    "uverbs_visible", "lldpad_running", "in_container", "cable_length_mm"};

/// Every question of a look at a capture, each with every errno. Six questions fail at a time, each
/// with another errno, which makes a sixth of the looks; what an earlier failure hid fails alone.
class ErrnoTrial {
 public:
  explicit ErrnoTrial(const std::string& name) : kernel_(remembered(name)) {
    const auto clean = observe_with(kernel_, [&](std::size_t, const std::string& about) {
      if (std::find(questions_.begin(), questions_.end(), about) == questions_.end())
        questions_.push_back(about);
      return std::optional<Errno>();
    });
    EXPECT_TRUE(clean);
    clean_ = *clean;
    clean_facts_ = facts_of(clean_);
  }

  void run() {
    constexpr std::size_t kStride = 37;  // neighbours depend on each other more
    for (std::size_t first = 0; first < questions_.size(); ++first) {
      std::map<std::string, Errno> failing;
      for (std::size_t i = 0; i < kStrictErrors.size(); ++i)
        failing[questions_[(first + i * kStride) % questions_.size()]] = {kStrictErrors.at(i)};
      look(failing, kPartial);
      look({{questions_[first], Errno{ENOENT}}}, kByAbsence);
      if (testing::Test::HasFailure()) return;
    }
    for (const std::string& question : questions_) {
      for (const int error : kStrictErrors) {
        if (!tried_.contains({question, error})) look({{question, Errno{error}}}, kPartial);
        EXPECT_TRUE(tried_.contains({question, error})) << question << " " << errno_name({error});
        if (testing::Test::HasFailure()) return;
      }
    }
    EXPECT_GT(questions_.size(), 200U);
  }

 private:
  void look(const std::map<std::string, Errno>& failing, const std::set<std::string>& lenient) {
    std::vector<std::pair<std::string, int>> asked;
    const auto found = observe_with(kernel_, [&](std::size_t, const std::string& about) {
      const auto error = failing.find(about);
      if (error == failing.end()) return std::optional<Errno>();
      asked.emplace_back(about, error->second.number);
      return std::optional(error->second);
    });
    const bool is_alone = failing.size() == 1;
    if (!found && !is_alone) return;  // which of them it was is tried one by one
    tried_.insert(asked.begin(), asked.end());
    if (!found) return;
    std::string names;
    for (const auto& [question, error] : failing)
      names += fmt::format("{} {}, ", question, errno_name(error));
    SCOPED_TRACE("failing: " + names);
    expect_no_invention(clean_facts_, facts_of(*found), "", lenient);
    expect_no_invented_counters(clean_, *found);
  }

  std::shared_ptr<Kernel> kernel_;
  std::vector<std::string> questions_;
  evidence::Evidence clean_;
  Json clean_facts_;
  std::set<std::pair<std::string, int>> tried_;
};

}  // namespace

TEST(LinuxHost, TurnsNoErrnoAtAnyReadIntoAValue) {
  COVERS("C1", "D2");
  ErrnoTrial("mlx5-ofed").run();
}

TEST(LinuxHost, TurnsNoErrnoOfARunningKernelIntoAValue) {
  COVERS("C1", "D2");
  ErrnoTrial("fakenic-6.1").run();
}

TEST(LinuxHost, KnowsNothingOfFilesItCannotRead) {
  COVERS("C1");
  const auto kernel = remembered("mlx5-ofed");
  const auto clean = observe_with(kernel, [](auto, auto&) { return std::optional<Errno>(); });
  ASSERT_TRUE(clean);
  const Json clean_facts = facts_of(*clean);
  for (const std::size_t half : {0U, 1U}) {
    std::size_t refused = 0;
    const auto found = observe_with(kernel, [&](std::size_t n, const std::string& path) {
      if (n % 2 != half || path == "/sys/class/infiniband") return std::optional<Errno>();
      ++refused;
      return std::optional(Errno{EACCES});
    });
    ASSERT_TRUE(found) << found.error().what;
    EXPECT_GT(refused, 50U);
    EXPECT_FALSE(found->gaps.empty());
    expect_no_invention(clean_facts, facts_of(*found), "", {"parameters", "sysctls", "addresses"});
  }
}

TEST(LinuxHost, ChangesAndRunsNothingInACapture) {
  auto host = open_captured_host(kData + "mlx5-ofed");
  ASSERT_TRUE(host);
  EXPECT_EQ((*host)->perform({"mlx5_0", SetTrust{}}).error().code, ErrorCode::kUnsupported);
  EXPECT_EQ((*host)->run({"true"}).error().code, ErrorCode::kUnsupported);
}

TEST(LinuxHost, RunsACommandAndKeepsWhatItPrinted) {
  COVERS("D5");
  const auto host = make_linux_host();
  const auto outcome = host->run({"sh", "-c", "echo out; echo err >&2; exit 3"});
  ASSERT_TRUE(outcome) << outcome.error().what;
  EXPECT_EQ(outcome->exit_status, 3);
  EXPECT_EQ(outcome->output, "out\n");
  EXPECT_EQ(outcome->errors, "err\n");
  EXPECT_EQ(host->run({"sh", "-c", "kill -9 $$"})->exit_status, 137);
  EXPECT_EQ(host->run({"/nonexistent/weir-load"}).error().code, ErrorCode::kNotFound);
}

}  // namespace weir::host
