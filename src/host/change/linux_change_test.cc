#include "host/change/linux_change.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/testing.h"
#include "host/change/apply.h"
#include "host/change/journal.h"
#include "host/test_machine.h"

namespace weir::host {
namespace {

using Fate = MemoryKernel::Fate;
using Flavour = TestMachine;

std::string device() {
  return wanted_host().nics[0].device;
}
std::string netdev() {
  return wanted_host().nics[0].netdev;
}

// ---- each operation: exactly these bytes, in exactly these places ----

struct Expectation {
  Flavour flavour;
  Change change;
  std::vector<std::string> changes;
};

SetPriorityToTc tcs() {
  SetPriorityToTc change;
  change.tc.at(3) = 3_tc;
  return change;
}

std::vector<Expectation> expectations() {
  const std::string net = "/sys/class/net/" + netdev();
  const std::string rdma = "/sys/class/infiniband/" + device();
  const std::string config = "/sys/kernel/config/rdma_cm/" + device();
  const std::string debug = "/sys/kernel/debug/mlx5/0000:18:00.0/cc_params";
  const std::string n = netdev();
  const std::string vendor_ets = "000800" + std::string(16, '0');
  SetEcn ecn;
  ecn.np.insert(3_prio);
  ecn.rp.insert(3_prio);
  SetDscpMap set_dscp_map;
  set_dscp_map.priority.at(26) = 3_prio;
  return {
      {Flavour::kOfed, SetGlobalPause{}, {"pause " + n + " rx false tx false"}},
      {Flavour::kOfed, SetRings{8192, 4096}, {"rings " + n + " rx 8192 tx 4096"}},
      {Flavour::kOfed, SetMtu{9000_B}, {"mtu " + n + " 9000"}},
      // HOST, CEE and IEEE: the versions stay.
      {Flavour::kOfed, SetDcbx{evidence::DcbxMode::kOs}, {"dcbx " + n + " 0d"}},
      // struct dcb_app: selector 5, priority 3, protocol 26.
      {Flavour::kOfed,
       set_dscp_map,
       {"ieee-set " + n +
        " 0c000380"
        "08000100"
        "05031a00"}},
      {Flavour::kOfed,
       ecn,
       {"write " + net + "/ecn/roce_np/enable/3 1", "write " + net + "/ecn/roce_rp/enable/3 1"}},
      {Flavour::kOfed,
       SetCnpMarking{48_dscp, 6_prio},
       {"write " + net + "/ecn/roce_np/cnp_dscp 48",
        "write " + net + "/ecn/roce_np/cnp_802p_prio 6"}},
      {Flavour::kInbox,
       SetCnpMarking{48_dscp, 6_prio},
       {"write " + debug + "/np_cnp_dscp 48", "write " + debug + "/np_cnp_prio 6"}},
      {Flavour::kOfed,
       SetKnob{"rpg_ai_rate", 40},
       {"write " + net + "/ecn/roce_rp/rpg_ai_rate 40"}},
      {Flavour::kInbox, SetKnob{"rpg_ai_rate", 40}, {"write " + debug + "/rp_ai_rate 40"}},
      {Flavour::kOfed, SetTrafficClass{106_tos}, {"write " + rdma + "/tc/1/traffic_class 106"}},
      {Flavour::kOfed, SetTrafficClass{}, {"write " + rdma + "/tc/1/traffic_class -1"}},
      {Flavour::kInbox,
       SetCmTos{106_tos},
       {"mkdir " + config, "write " + config + "/ports/1/default_roce_tos 106"}},
  };
}

TEST(LinuxChange, EachOperationWritesExactlyThis) {
  COVERS("B1", "B3");
  for (const Expectation& expected : expectations()) {
    const auto kernel = machine(expected.flavour);
    const auto host = host_on(kernel);
    SCOPED_TRACE(name_of(expected.change));
    const Status done = host->perform({device(), expected.change});
    ASSERT_TRUE(done) << done.error().what;
    EXPECT_EQ(kernel->changes, expected.changes);
    const Status again = host->perform({device(), expected.change});
    ASSERT_TRUE(again) << again.error().what;
    const bool is_file = kernel->changes.front().starts_with("write") ||
                         kernel->changes.front().starts_with("mkdir");
    EXPECT_TRUE(!is_file || kernel->changes.size() == expected.changes.size()) << "twice";
  }
}

TEST(LinuxChange, AnAppEntryIsTheMessageThatTheDcbToolSends) {
  COVERS("B3");
  // dcb app add dev eth0 dscp-prio 26:3 (iproute2 6.1), but for the sequence number.
  const std::string expected =
      "300000004f000500000000000000000000140000"
      "090001006574683000000000"
      "10000d80"
      "0c000380"
      "0800010005031a00";
  std::string hex;
  std::string request = dcb_set_request("eth0", {.app = {{5, 3, 26}}});
  std::fill_n(request.begin() + 8, 8, '\0');  // sequence number and port: the seam's
  for (const char byte : request)
    hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  EXPECT_EQ(hex, expected);
}

TEST(LinuxChange, APfcMaskLeavesDelayAndTheOtherFieldsAlone) {
  COVERS("B1");
  const auto kernel = machine(Flavour::kOfed);
  kernel->netdevs[netdev()].rx_pause = kernel->netdevs[netdev()].tx_pause = false;
  const auto host = host_on(kernel);
  SetPfc change;
  change.on.insert(3_prio);
  ASSERT_TRUE(host->perform({device(), change}));
  EXPECT_EQ(kernel->netdevs[netdev()].pfc.pfc_en, 8);
  EXPECT_EQ(kernel->netdevs[netdev()].pfc.delay, 7);
  ASSERT_TRUE(host->perform({device(), change}));
  EXPECT_EQ(kernel->changes.size(), 1U) << "the same mask again takes the link down for nothing";
  ASSERT_TRUE(host->perform({device(), tcs()}));
  EXPECT_EQ(kernel->netdevs[netdev()].ets.prio_tc[3], 3);
  EXPECT_EQ(kernel->netdevs[netdev()].ets.tc_tsa[3], IEEE_8021QAZ_TSA_VENDOR);
}

TEST(LinuxChange, TrustIsAFileASelectorOrTheMapItself) {
  COVERS("B3");
  const SetTrust dscp{evidence::TrustMode::kDscp};
  const SetTrust pcp{evidence::TrustMode::kPcp};
  auto kernel = machine(Flavour::kOfed);
  const std::string file = "/sys/class/net/" + netdev() + "/qos/trust";
  kernel->files[file] = "pcp\n";
  ASSERT_TRUE(host_on(kernel)->perform({device(), dscp}));
  EXPECT_EQ(kernel->changes, std::vector<std::string>{"write " + file + " dscp"});

  kernel = machine(Flavour::kGeneric);
  kernel->netdevs[netdev()].trust = std::vector<unsigned>{255};
  ASSERT_TRUE(host_on(kernel)->perform({device(), dscp}));
  EXPECT_EQ(kernel->netdevs[netdev()].trust, std::vector<unsigned>{5});

  kernel = machine(Flavour::kInbox);
  ASSERT_TRUE(host_on(kernel)->perform({device(), dscp}));
  EXPECT_EQ(kernel->netdevs[netdev()].app.size(), 65U) << "64 code points and the one that was";
  ASSERT_TRUE(host_on(kernel)->perform({device(), pcp}));
  EXPECT_EQ(kernel->netdevs[netdev()].app, (std::vector<DcbApp>{{1, 4, 0x8906}}));
}

TEST(LinuxChange, ARefusalSaysWhatWouldHelp) {
  EXPECT_EQ(refusal("set PFC of eth2", Errno{EPERM}).what,
            "set PFC of eth2: Operation not permitted; run it as root (sudo), outside of an "
            "unprivileged container");
  const auto kernel = machine(Flavour::kInbox);
  const Status ecn = host_on(kernel)->perform({device(), SetEcn{}});
  ASSERT_FALSE(ecn);
  EXPECT_NE(ecn.error().what.find("this driver does not show it"), std::string::npos);
}

// ---- remembering ----

TEST(LinuxChange, WhatWasRememberedIsPutBackWhateverTheChange) {
  COVERS("B2");
  std::vector<Expectation> all = expectations();
  SetScheduling shares;
  shares.tsa.fill(evidence::Tsa::kEts);
  shares.percent = {30, 10, 10, 10, 10, 10, 10, 10};
  for (const Change& change : {Change(tcs()), Change(shares), Change(SetCableLength{30_m}),
                               Change(SetTrust{evidence::TrustMode::kDscp})})
    all.push_back({Flavour::kOfed, change, {}});
  for (const Expectation& expectation : all) {
    const auto kernel = machine(expectation.flavour);
    if (std::holds_alternative<SetCableLength>(expectation.change))
      kernel->netdevs[netdev()].rx_pause = kernel->netdevs[netdev()].tx_pause = false;
    const auto host = host_on(kernel);
    SCOPED_TRACE(name_of(expectation.change));
    const std::string before = kernel->state();
    const auto memory = host->remember({device(), expectation.change});
    ASSERT_TRUE(memory) << memory.error().what;
    EXPECT_EQ(kernel->state(), before) << "remembering changes nothing";
    const auto parsed = parse_memory(*memory);
    ASSERT_TRUE(parsed) << parsed.error().what;
    EXPECT_EQ(to_text(*parsed), *memory);
    ASSERT_TRUE(host->perform({device(), expectation.change}));
    EXPECT_NE(kernel->state(), before);
    const Status restored = host->restore(device(), *memory);
    ASSERT_TRUE(restored) << restored.error().what;
    EXPECT_EQ(kernel->state(), before);
    const std::size_t changes = kernel->changes.size();
    ASSERT_TRUE(host->restore(device(), *memory));
    const bool is_hidden = std::holds_alternative<SetCmTos>(expectation.change);
    EXPECT_TRUE(is_hidden || kernel->changes.size() == changes) << "put back twice";
  }
}

TEST(LinuxChange, TheAppTableIsPutBackAsASet) {
  COVERS("B2");
  const auto kernel = machine(Flavour::kGeneric);
  // Two priorities for one code point, another selector, no order: as a driver may have it.
  kernel->netdevs[netdev()].app = {
      {5, 2, 26}, {5, 6, 26}, {1, 4, 0x8906}, {5, 1, 10}, {3, 5, 4791}};
  const auto host = host_on(kernel);
  const std::string before = kernel->state();
  SetDscpMap map;
  for (unsigned d = 0; d < 64; ++d)
    map.priority.at(d) = Priority::of(d == 26 ? 3 : 0);
  const auto memory = host->remember({device(), map});
  ASSERT_TRUE(memory);
  ASSERT_TRUE(host->perform({device(), map}));
  EXPECT_EQ(as_found(map, host->observe()->nics[0]), Change(map));
  EXPECT_EQ(kernel->netdevs[netdev()].app.size(), 66U);
  ASSERT_TRUE(host->restore(device(), *memory));
  EXPECT_EQ(kernel->state(), before);
}

TEST(LinuxChange, TheStackAboveADeviceComesBackWithIt) {
  COVERS("B5", "C3");
  const auto kernel = machine(Flavour::kOfed);
  const std::string net = "/sys/class/net/" + netdev();
  kernel->files[net + "/mtu"] = "9000\n";
  kernel->links[net + "/upper_vlan7"] = "/sys/devices/virtual/net/vlan7";
  kernel->files["/sys/class/net/vlan7/mtu"] = "9000\n";
  kernel->files["/sys/class/net/vlan7/ifindex"] = "77\n";
  kernel->files["/sys/class/net/vlan7/uevent"] = "DEVTYPE=vlan\n";
  const auto host = host_on(kernel);
  const std::string before = kernel->state();
  const Operation shrink{device(), SetMtu{1500_B}};
  const auto memory = host->remember(shrink);
  ASSERT_TRUE(memory) << memory.error().what;
  ASSERT_TRUE(host->perform(shrink));
  EXPECT_EQ(kernel->files["/sys/class/net/vlan7/mtu"], "1500\n") << "the kernel shrinks it too";
  ASSERT_TRUE(host->restore(device(), *memory));
  EXPECT_EQ(kernel->state(), before);
}

TEST(LinuxChange, ADeviceThatGotAnotherNameIsNotGuessedAt) {
  const auto kernel = machine(Flavour::kOfed);
  const auto host = host_on(kernel);
  const auto memory = host->remember({device(), SetMtu{9000_B}});
  ASSERT_TRUE(memory);
  std::string other = *memory;
  other.replace(other.find(netdev()), netdev().size(), "eth9");
  const Status done = host->restore(device(), other);
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().what.find("put it back by hand"), std::string::npos);
}

// ---- a whole apply ----

TEST(LinuxApply, BringsEachStackToTheDesignAndThenHasNothingLeftToDo) {
  COVERS("B1", "B2", "B3");
  for (const Flavour flavour : {Flavour::kOfed, Flavour::kInbox}) {
    const auto kernel = machine(flavour);
    const auto host = host_on(kernel);
    const HostPlan plan = plan_of(*host);
    EXPECT_GE(plan.steps.size(), 10U);
    std::string text;
    JournalWriter journal([&](std::string_view line) {
      text += line;
      return Status();
    });
    ASSERT_TRUE(journal.begin({}));
    const HostOutcome outcome = apply_plan(*host, plan, &journal);
    ASSERT_TRUE(outcome.is_done()) << outcome.failure;
    const HostPlan again = plan_of(*host);
    EXPECT_TRUE(again.steps.empty()) << name_of(again.steps.front().operation.change);
    for (const StepOutcome& step : outcome.steps)
      EXPECT_EQ(step.state, StepState::kDone) << name_of(step.step.operation.change);
    for (const Leftover& left : again.left)
      EXPECT_FALSE(left.is_unread && flavour == Flavour::kOfed) << left.reason;
  }
}

TEST(LinuxApply, TheKernelsOwnDriverIsToldWhatItCannotDo) {
  COVERS("B3");
  const auto kernel = machine(Flavour::kInbox);
  const HostPlan plan = plan_of(*host_on(kernel));
  const auto reason = [&](evidence::Setting setting) {
    for (const Leftover& left : plan.left)
      if (left.deviation.setting == setting) return left.reason;
    return std::string();
  };
  EXPECT_NE(reason(evidence::Setting::kEcnRp).find("ROCE_CC_PRIO_MASK"), std::string::npos);
  for (const Leftover& left : plan.left)
    EXPECT_FALSE(left.is_unread) << left.reason;
}

/// Which changes an apply of this flavour makes, by their place among all; whether configfs shows a
/// default is none.
std::vector<std::size_t> changes_of(Flavour flavour) {
  const auto kernel = machine(flavour);
  const auto host = host_on(kernel);
  const HostPlan plan = plan_of(*host);
  EXPECT_TRUE(apply_plan(*host, plan).is_done());
  std::vector<std::size_t> places;
  for (std::size_t nth = 0; nth < kernel->changes.size(); ++nth) {
    const std::string& change = kernel->changes[nth];
    if (!change.starts_with("mkdir") && !change.starts_with("rmdir")) places.push_back(nth);
  }
  return places;
}

TEST(LinuxApply, WhicheverChangeIsRefusedOrIgnoredAllIsAsItWas) {
  COVERS("B2");
  for (const Flavour flavour : {Flavour::kOfed, Flavour::kInbox}) {
    const std::vector<std::size_t> places = changes_of(flavour);
    ASSERT_GE(places.size(), 12U);
    for (const Fate fate : {Fate::kRefused, Fate::kIgnored}) {
      for (const std::size_t nth : places) {
        const auto kernel = machine(flavour);
        const auto host = host_on(kernel);
        const HostPlan plan = plan_of(*host);
        const std::string before = kernel->state();
        kernel->set_fate(nth, fate);
        const HostOutcome outcome = apply_plan(*host, plan);
        SCOPED_TRACE(fmt::format("change {}: {}", nth, outcome.failure));
        EXPECT_FALSE(outcome.is_done());
        EXPECT_TRUE(outcome.is_restored());
        EXPECT_EQ(kernel->state(), before);
      }
    }
  }
}

TEST(LinuxApply, AStepThatCannotBeReadBeforeStopsItAll) {
  COVERS("B2");
  const auto kernel = machine(Flavour::kOfed);
  const auto host = host_on(kernel);
  const HostPlan plan = plan_of(*host);
  kernel->files.erase("/sys/class/net/" + netdev() + "/ecn/roce_np/enable/5");
  const std::string before = kernel->state();
  const HostOutcome outcome = apply_plan(*host, plan);
  EXPECT_FALSE(outcome.is_done());
  EXPECT_TRUE(outcome.was_refused);
  EXPECT_EQ(kernel->state(), before);
}

TEST(LinuxApply, ALinkThatStaysDownIsWaitedForAndThenUndone) {
  COVERS("B2");
  const auto kernel = machine(Flavour::kOfed);
  const auto host = host_on(kernel);
  const HostPlan plan = plan_of(*host);
  const std::string before = kernel->state();
  kernel->loses_link = true;
  Duration waited;
  ApplyEnvironment environment;
  environment.wait = [&](Duration duration) { waited += duration; };
  environment.patience = 10_s;
  const HostOutcome outcome = apply_plan(*host, plan, nullptr, environment);
  EXPECT_FALSE(outcome.is_done());
  EXPECT_NE(outcome.failure.find("the link did not come back"), std::string::npos);
  EXPECT_GE(waited, 10_s);
  kernel->files["/sys/class/net/" + netdev() + "/carrier"] = "1\n";
  EXPECT_EQ(kernel->state(), before);
}

TEST(LinuxApply, ALinkThatComesBackIsWaitedFor) {
  const auto kernel = machine(Flavour::kOfed);
  const auto host = host_on(kernel);
  const HostPlan plan = plan_of(*host);
  kernel->loses_link = true;
  int looks = 0;
  ApplyEnvironment environment;
  environment.wait = [&](Duration) {
    if (++looks == 3)
      for (const design::NicIntent& nic : wanted_host().nics)
        kernel->files["/sys/class/net/" + nic.netdev + "/carrier"] = "1\n";
  };
  const HostOutcome outcome = apply_plan(*host, plan, nullptr, environment);
  EXPECT_TRUE(outcome.is_done()) << outcome.failure;
}

TEST(LinuxApply, AnInterruptionUndoesWhatWasDone) {
  COVERS("B2");
  const auto kernel = machine(Flavour::kOfed);
  const auto host = host_on(kernel);
  const HostPlan plan = plan_of(*host);
  const std::string before = kernel->state();
  int steps = 0;
  ApplyEnvironment environment;
  environment.before_step = [&](const Step&) { ++steps; };
  environment.is_interrupted = [&] { return steps > 4; };
  const HostOutcome outcome = apply_plan(*host, plan, nullptr, environment);
  EXPECT_TRUE(outcome.was_interrupted);
  EXPECT_EQ(kernel->state(), before);
}

// ---- tuning, where the design asks ----

TEST(LinuxApply, HostTuningIsDoneOnlyWhereTheDesignAsks) {
  COVERS("B5");
  const auto kernel = machine(Flavour::kOfed);
  const std::string net = "/sys/class/net/" + netdev();
  kernel->links[net + "/upper_bond0"] = "/sys/devices/virtual/net/bond0";
  kernel->links["/sys/class/net/bond0/upper_vlan7"] = "/sys/devices/virtual/net/vlan7";
  kernel->links["/sys/class/net/bond0/upper_vx1"] = "/sys/devices/virtual/net/vx1";
  unsigned index = 70;
  for (const std::string name : {"bond0", "vlan7", "vx1"}) {
    kernel->files["/sys/class/net/" + name + "/mtu"] = "1500\n";
    kernel->files["/sys/class/net/" + name + "/ifindex"] = fmt::format("{}\n", index++);
    kernel->files["/sys/class/net/" + name + "/uevent"] =
        fmt::format("DEVTYPE={}\n", name == "bond0"   ? "bond"
                                    : name == "vlan7" ? "vlan"
                                                      : "vxlan");
  }
  const std::string pci = "/sys/devices/pci0000:15/0000:15:01.0/0000:18:00.0";
  kernel->files[pci + "/numa_node"] = "1\n";
  kernel->files[pci + "/msi_irqs/90"] = "msix\n";
  kernel->files["/proc/irq/90/smp_affinity_list"] = "0-7\n";
  kernel->files["/sys/devices/system/node/node0/cpulist"] = "0-3\n";
  kernel->files["/sys/devices/system/node/node1/cpulist"] = "4-7\n";
  kernel->files["/proc/sys/net/core/rmem_max"] = "212992\n";
  kernel->files["/proc/sys/net/core/wmem_max"] = "536870912\n";
  kernel->files["/proc/sys/net/ipv4/tcp_rmem"] = "4096\t131072\t6291456\n";
  kernel->files["/proc/sys/net/ipv4/tcp_wmem"] = "4096\t16384\t268435456\n";
  const auto host = host_on(kernel);
  const std::size_t plain = plan_of(*host).steps.size();
  design::Intent tuned = pod16();
  tuned.tuning = {true, true, true};
  const HostPlan plan = plan_host(host->observe().value(), wanted_host(), tuned);
  EXPECT_EQ(plan.steps.size(), plain + 4) << "two sysctls, interrupts, the stack";
  const std::string before = kernel->state();
  ASSERT_TRUE(apply_plan(*host, plan).is_done());
  const std::vector<std::string> last(kernel->changes.end() - 5, kernel->changes.end());
  EXPECT_EQ(last, (std::vector<std::string>{
                      "write /proc/sys/net/core/rmem_max 268435456",
                      "write /proc/sys/net/ipv4/tcp_rmem 4096 131072 268435456", "mtu bond0 9000",
                      "mtu vlan7 9000", "write /proc/irq/90/smp_affinity_list 4-7"}));
  EXPECT_EQ(kernel->files["/sys/class/net/vx1/mtu"], "1500\n") << "an overlay has its own header";
  HostOutcome undone = apply_plan(*host, plan_host(host->observe().value(), wanted_host(), tuned));
  EXPECT_TRUE(undone.steps.empty());
  EXPECT_NE(kernel->state(), before);
}

}  // namespace
}  // namespace weir::host
