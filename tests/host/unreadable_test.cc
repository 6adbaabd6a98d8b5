// What a host does not let us read never counts as right: for every single question to the kernel
// that is refused, the judgement says more than it said before, or the question was about something
// that no check rests on, and those are listed here.
#include <algorithm>
#include <array>
#include <cerrno>
#include <set>

#include <fmt/format.h>

#include "base/json.h"
#include "base/testing.h"
#include "diagnose/core/convention.h"
#include "diagnose/validate/validate.h"
#include "evidence/json.h"
#include "host/bundle/bundle.h"
#include "host/kernel/faulty.h"
#include "host/kernel/replay.h"
#include "host/linux/host.h"

namespace weir {
namespace {

const std::string kData = std::string(WEIR_TEST_DATA) + "/host/";

std::shared_ptr<host::Kernel> remembered(const std::string& name) {
  auto kernel = host::open_replay(kData + name);
  EXPECT_TRUE(kernel) << (kernel ? "" : kernel.error().what);
  return std::make_shared<host::RememberingKernel>(std::move(*kernel));
}

struct Seen {
  evidence::Evidence evidence;
  finding::Judgement judgement;
};

/// Everything that the convention leaves open is requested too, as the clean look shows it: so that
/// every check has something to pass or fail.
design::Intent intent_of(const evidence::Evidence& clean) {
  std::vector<evidence::Evidence> hosts = {clean};
  design::Intent intent = diagnose::conventional_intent(hosts);
  for (std::size_t i = 0; i < clean.nics.size(); ++i) {
    const evidence::Nic& nic = clean.nics[i];
    design::NicIntent& wanted = intent.hosts[0].nics[i];
    if (nic.link.speed.is_known()) wanted.speed = *nic.link.speed;
    if (nic.link.mtu.is_known()) wanted.mtu = *nic.link.mtu;
    if (nic.link.active_mtu.is_known()) wanted.rdma_mtu = *nic.link.active_mtu;
    if (nic.rings.rx.is_known()) wanted.ring = static_cast<int>(*nic.rings.rx);
    if (nic.qos.cable_length.is_known()) wanted.cable = *nic.qos.cable_length;
    if (nic.qos.priority_to_tc.is_known()) wanted.priority_to_tc = *nic.qos.priority_to_tc;
    wanted.traffic_classes[0].used = true;
  }
  intent.dcqcn = {{"rpg_ai_rate", 5}};
  return intent;
}

Result<Seen> look(const std::shared_ptr<host::Kernel>& kernel, host::FaultyKernel::Decide decide,
                  const design::Intent* intent) {
  const auto host =
      host::make_host(std::make_unique<host::FaultyKernel>(kernel, std::move(decide)), "capture");
  WEIR_TRY(evidence, host->observe());
  const design::Intent own = intent == nullptr ? intent_of(evidence) : *intent;
  const std::vector<evidence::Evidence> hosts = {evidence};
  return Seen{std::move(evidence), diagnose::validate(hosts, own)};
}

/// Checks that came to an answer: what is neither found wrong nor unknown has passed. Told by what
/// is said; a judgement that says the same rests on the same.
std::multiset<std::string> said(const finding::Judgement& judgement) {
  std::multiset<std::string> out;
  for (const finding::Finding& finding : judgement.findings)
    out.insert(finding.id + " " + finding.verdict);
  for (const finding::Unknown& unknown : judgement.unknown)
    out.insert("unknown " + unknown.check);
  return out;
}

void collect_lost(const Json& clean, const Json& found, const std::string& at,
                  std::set<std::string>& lost) {
  if (clean.is_object() && clean.contains("value") && clean.contains("source")) {
    if (!found.is_object() || !found.contains("value")) lost.insert(at);
    return;
  }
  if (clean.is_object()) {
    for (const auto& [key, value] : clean.items()) {
      const bool there = found.is_object() && found.contains(key);
      collect_lost(value, there ? found.at(key) : Json(), at + "." + key, lost);
    }
  } else if (clean.is_array() && found.is_array() && clean.size() == found.size()) {
    for (std::size_t i = 0; i < clean.size(); ++i)
      collect_lost(clean[i], found[i], at, lost);
  }
}

std::set<std::string> lost_facts(const evidence::Evidence& clean, const evidence::Evidence& found) {
  std::set<std::string> lost;
  evidence::Evidence a = clean;
  evidence::Evidence b = found;
  for (evidence::Evidence* evidence : {&a, &b}) {
    evidence->snapshots.clear();
    evidence->gaps.clear();
  }
  collect_lost(to_json(a), to_json(b), "", lost);
  return lost;
}

/// Shown and compared between hosts, but nothing passes or fails by them alone.
const std::set<std::string> kForShow = {".host.kernel",
                                        ".host.os",
                                        ".host.architecture",
                                        ".host.ofed",
                                        ".host.cpus",
                                        ".host.numa_nodes",
                                        ".host.command_line",
                                        ".host.modules",
                                        ".host.in_container",
                                        ".host.rdma_namespaces",
                                        ".nics.model",
                                        ".nics.driver",
                                        ".nics.driver_version",
                                        ".nics.stack",
                                        ".nics.firmware",
                                        ".nics.board",
                                        ".nics.is_virtual",
                                        ".nics.link_layer",
                                        ".nics.addresses",
                                        ".nics.netdev",
                                        ".nics.link.autoneg",
                                        ".nics.link.neighbour",
                                        ".nics.qos.pfc_classes",
                                        ".nics.qos.stall_prevention",
                                        ".nics.qos.buffer_xoff_bytes",
                                        ".nics.qos.buffer_xon_bytes",
                                        ".nics.qos.buffer_total_bytes",
                                        ".nics.rdma.cm_mode",
                                        ".nics.rdma.traffic_class_rules",
                                        ".nics.rings.rx_max",
                                        ".nics.rings.tx_max",
                                        ".nics.pcie.address",
                                        ".nics.pcie.path",
                                        ".nics.pcie.numa_node",
                                        ".nics.pcie.speed_mtps",
                                        ".nics.pcie.speed_mtps_max",
                                        ".nics.pcie.width_max",
                                        ".nics.pcie.max_read_request_bytes",
                                        ".nics.pcie.relaxed_ordering",
                                        ".gpus.model",
                                        ".gpus.driver",
                                        ".gpus.open_kernel_module",
                                        ".gpus.pcie.address",
                                        ".gpus.pcie.path",
                                        ".gpus.pcie.numa_node",
                                        ".gpus.pcie.speed_mtps",
                                        ".gpus.pcie.speed_mtps_max",
                                        ".gpus.pcie.width_max",
                                        ".gpus.pcie.max_read_request_bytes",
                                        ".gpus.pcie.relaxed_ordering",
                                        ".gpus.pcie.acs_redirect",
                                        ".gpus.pcie.irq_numa_nodes",
                                        ".distances.distance"};

}  // namespace

TEST(Unreadable, NoCheckPassesOnAFactThatWasRefused) {
  COVERS("C1", "C4", "C5", "C8", "C10");
  for (const std::string name : {"mlx5-ofed", "bnxt"}) {
    const auto kernel = remembered(name);
    std::size_t questions = 0;
    const auto none = [&](std::size_t n, const std::string&) {
      questions = n + 1;
      return std::optional<host::Errno>();
    };
    const auto clean = look(kernel, none, nullptr);
    ASSERT_TRUE(clean);
    const design::Intent intent = intent_of(clean->evidence);
    const auto before = said(clean->judgement);
    for (std::size_t failing = 0; failing < questions; ++failing) {
      std::string where;
      const auto found = look(
          kernel,
          [&](std::size_t n, const std::string& about) {
            if (n != failing) return std::optional<host::Errno>();
            where = about;
            return std::optional(host::Errno{EACCES});
          },
          &intent);
      if (!found) continue;  // nothing could be looked at, and it said so
      const std::set<std::string> lost = lost_facts(clean->evidence, found->evidence);
      const bool has_gpus = !clean->evidence.gpus.empty();
      const bool matters = std::any_of(lost.begin(), lost.end(), [&](const std::string& fact) {
        const bool is_for_gpus = fact == ".host.iommu" || fact == ".host.peermem" ||
                                 fact == ".host.dmabuf" || fact == ".nics.pcie.acs_redirect";
        return !kForShow.contains(fact) && (has_gpus || !is_for_gpus);
      });
      if (!matters) continue;
      EXPECT_NE(said(found->judgement), before)
          << name << ": without " << where << " (" << fmt::format("{}", fmt::join(lost, " "))
          << ") the judgement is the same";
      EXPECT_NE(found->judgement.conclusion, finding::Conclusion::kHealthy) << where;
    }
  }
}

TEST(Unreadable, ATreeWithEverySecondFileClosedIsNotFine) {
  COVERS("C1");
  for (const std::string name : {"mlx5-ofed", "mlx5-inbox", "fakenic-6.1", "bnxt", "irdma"}) {
    const auto kernel = remembered(name);
    const auto clean = look(
        kernel, [](auto, auto&) { return std::optional<host::Errno>(); }, nullptr);
    ASSERT_TRUE(clean);
    const design::Intent intent = intent_of(clean->evidence);
    for (const std::size_t half : {0U, 1U}) {
      const auto found = look(
          kernel,
          [&](std::size_t n, const std::string& path) {
            // Without its name it is not the host that is asked about, without the list no host.
            const bool is_needed =
                path == "/sys/class/infiniband" || path == "/proc/sys/kernel/hostname";
            const bool is_closed = n % 2 == half && !is_needed;
            return is_closed ? std::optional(host::Errno{EACCES}) : std::nullopt;
          },
          &intent);
      ASSERT_TRUE(found) << name;
      EXPECT_NE(found->judgement.conclusion, finding::Conclusion::kHealthy) << name;
      EXPECT_GT(found->judgement.unknown.size(), clean->judgement.unknown.size()) << name;
      EXPECT_FALSE(found->evidence.gaps.empty()) << name;
    }
  }
}

TEST(Unreadable, ABundleIsJudgedAsItsHostIs) {
  COVERS("C1", "C2", "C11");
  for (const std::string name : {"mlx5-ofed", "mlx5-inbox", "fakenic-6.1", "veth-rxe-6.1", "bnxt",
                                 "irdma", "ionic", "infiniband", "hgx01"}) {
    const auto kernel = host::open_replay(kData + name);
    ASSERT_TRUE(kernel);
    const auto bundle = host::record_host(**kernel, "", false, [] {});
    ASSERT_TRUE(bundle);
    const auto captured = host::open_captured_host(kData + name);
    const auto bundled = host::open_bundle(host::bundle_text(*bundle), kData + name);
    ASSERT_TRUE(captured && bundled);
    std::array<std::multiset<std::string>, 2> answers;
    std::size_t at = 0;
    for (const auto* item : {&*captured, &*bundled}) {
      auto seen = (*item)->observe();
      ASSERT_TRUE(seen);
      const std::vector<evidence::Evidence> hosts = {*seen};
      answers.at(at++) = said(diagnose::validate(hosts, diagnose::conventional_intent(hosts)));
    }
    EXPECT_EQ(answers[0], answers[1]) << name;
  }
}

}  // namespace weir
