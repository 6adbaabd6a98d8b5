#include "lab/fabric/lab.h"

#include <csignal>
#include <filesystem>

#include <sys/wait.h>

#include "base/json.h"
#include "base/testing.h"
#include "lab/fabric/test_labs.h"
#include "sim/workload/workload_spec.h"

namespace weir::lab {
namespace {

std::string open_error(const TemporaryDirectory& place) {
  const auto lab = Lab::open(place.file("lab"));
  return lab ? "no error" : lab.error().what;
}

TEST(Lab, IsMadeOnceAndOpensAsItWas) {
  COVERS("G8");
  const TemporaryDirectory place;
  const Lab made = make_lab(place, pod16(), {.seed = 7});
  EXPECT_EQ(made.host_names().size(), 16U);
  const auto again = Lab::create(place.file("lab"), place.file("fabric.yaml"));
  ASSERT_FALSE(again.has_value());
  EXPECT_NE(again.error().what.find("is already a lab"), std::string::npos);
  const Lab opened = must(Lab::open(place.file("lab")));
  const LabStatus status = opened.status();
  EXPECT_EQ(status.seed, 7U);
  EXPECT_EQ(status.nics, 16U);
  EXPECT_EQ(status.factory_nics, 16U);
  EXPECT_EQ(status.factory_switches, 0U);
  EXPECT_EQ(status.loads, 0U);
}

TEST(Lab, RefusesADirectoryThatHoldsSomethingElse) {
  const TemporaryDirectory place;
  must(write_file_atomic(place.file("fabric.yaml"), pod16()));
  must(make_directory(place.file("lab")));
  must(write_file_atomic(place.file("lab/thesis.txt"), "years of work"));
  const auto lab = Lab::create(place.file("lab"), place.file("fabric.yaml"));
  ASSERT_FALSE(lab.has_value());
  EXPECT_NE(lab.error().what.find("thesis.txt"), std::string::npos) << lab.error().what;
}

TEST(Lab, GoesAndLeavesWhatIsNotItsOwn) {
  const TemporaryDirectory place;
  (void)make_lab(place, pod16());
  must(write_file_atomic(place.file("lab/notes.txt"), "mine"));
  must(Lab::remove(place.file("lab")));
  EXPECT_TRUE(file_exists(place.file("lab/notes.txt")));
  EXPECT_FALSE(file_exists(place.file("lab/state.json")));
  EXPECT_FALSE(file_exists(place.file("lab/design.yaml")));
  EXPECT_FALSE(Lab::remove(place.file("lab")).has_value());
}

TEST(Lab, AnotherProgramsStateAndFilesAreNotRemoved) {
  const TemporaryDirectory place;
  std::filesystem::create_directories(place.file("other/journal/2026"));
  must(write_file_atomic(place.file("other/state.json"), ""));
  must(write_file_atomic(place.file("other/journal/diary.txt"), "mine"));
  EXPECT_FALSE(Lab::remove(place.file("other")));
  EXPECT_TRUE(file_exists(place.file("other/state.json")));
  (void)make_lab(place, pod16());
  std::filesystem::create_directories(place.file("lab/journal"));
  must(write_file_atomic(place.file("lab/journal/journal-000001"), "x"));
  must(write_file_atomic(place.file("lab/journal/diary.txt"), "mine"));
  must(Lab::remove(place.file("lab")));
  EXPECT_TRUE(file_exists(place.file("lab/journal/diary.txt")));
  EXPECT_FALSE(file_exists(place.file("lab/journal/journal-000001")));
}

TEST(Lab, WhoseJournalIsALinkElsewhereIsNotRemoved) {
  const TemporaryDirectory place;
  (void)make_lab(place, pod16());
  std::filesystem::create_directories(place.file("elsewhere"));
  must(write_file_atomic(place.file("elsewhere/lock"), "theirs"));
  must(write_file_atomic(place.file("elsewhere/journal-000001"), "theirs"));
  std::filesystem::create_directory_symlink(place.file("elsewhere"), place.file("lab/journal"));
  const Status refused = Lab::remove(place.file("lab"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().what.find("is not trusted: it is no directory of its own"),
            std::string::npos)
      << refused.error().what;
  for (const char* const kept : {"elsewhere/lock", "elsewhere/journal-000001", "lab/state.json",
                                 "lab/design.yaml", "lab/journal"})
    EXPECT_TRUE(file_exists(place.file(kept))) << kept;
}

TEST(Lab, SaysWhyAStateCannotBeRead) {
  const TemporaryDirectory place;
  EXPECT_NE(open_error(place).find("is not a lab"), std::string::npos);
  (void)make_lab(place, pod16());
  const std::string path = place.file("lab/state.json");
  const Json good = Json::parse(must(read_file(path)));
  const auto with = [&](std::string_view key, Json value) {
    Json changed = good;
    changed[std::string(key)] = std::move(value);
    must(write_file_atomic(path, changed.dump()));
    return open_error(place);
  };
  EXPECT_NE(with("schema", "weir/lab-state/3").find("newer Weir"), std::string::npos);
  EXPECT_NE(with("schema", "weir/sim/1").find("not the state of a lab"), std::string::npos);
  EXPECT_NE(with("nics", Json::array({{{"nic", "gpu99/mlx5_0"}, {"set", Json::object()}}}))
                .find("a NIC of the design"),
            std::string::npos);
  EXPECT_NE(with("nics", Json::array({{{"nic", "gpu01/mlx5_0"}, {"set", {{"trust", "blind"}}}}}))
                .find("/nics/0/set/trust"),
            std::string::npos);
  EXPECT_NE(with("clock_ps", -1).find("/clock_ps"), std::string::npos);
  EXPECT_NE(with("switches", {{"leaf9", Json::object()}}).find("a switch of the design"),
            std::string::npos);
  EXPECT_NE(with("counters",
                 {{"names", Json::array()}, {"ports", Json::array({Json::array({"a/b", 0, 1})})}})
                .find("the index of a name"),
            std::string::npos);
  EXPECT_NE(with("faults", {{{"fault", "x"}}}).find("/faults/0/is_setting"), std::string::npos);
  const Json elsewhere = {{"fault", "ecn-too-low"},
                          {"is_setting", true},
                          {"changes", Json::array()},
                          {"switches", {"leaf9"}}};
  EXPECT_NE(with("faults", Json::array({elsewhere})).find("/faults/0/switches/0"),
            std::string::npos);
  must(write_file_atomic(path, "]["));
  EXPECT_NE(open_error(place).find("the lab is damaged"), std::string::npos);
  must(write_file_atomic(path, good.dump()));
  EXPECT_EQ(open_error(place), "no error");
  must(write_file_atomic(place.file("lab/design.yaml"), pod16_inbox()));
  EXPECT_NE(open_error(place).find("not the one that the lab was made with"), std::string::npos);
}

TEST(Lab, ACutStateIsRefusedWhereverItWasCut) {
  const TemporaryDirectory place;
  const Lab lab = make_lab(place, pod16());
  must(must(lab.host("gpu01"))->perform({"mlx5_0", host::SetPfc{PrioritySet::from_mask(8)}}));
  (void)run(lab, "gpu01", "ib_write_bw -n 5 gpu02");
  const std::string path = place.file("lab/state.json");
  const std::string whole = must(read_file(path));
  for (std::size_t size = 0; size + 2 < whole.size(); size += whole.size() / 50 + 1) {
    must(write_file_atomic(path, whole.substr(0, size)));
    EXPECT_FALSE(Lab::open(place.file("lab")).has_value()) << size << " bytes";
  }
}

TEST(Lab, FactsAreThoseOfTheNicsAsTheyAreSetAndMarkedAsSimulated) {
  COVERS("G8");
  const TemporaryDirectory place;
  const Lab lab = make_lab(place, pod16_inbox());
  const auto host = must(lab.host("gpu03"));
  const evidence::Evidence seen = must(host->observe());
  EXPECT_TRUE(seen.provenance.simulated);
  EXPECT_EQ(seen.provenance.origin, evidence::Origin::kLab);
  EXPECT_EQ(seen.provenance.host, "gpu03");
  ASSERT_EQ(seen.nics.size(), 1U);
  const evidence::Nic& nic = seen.nics[0];
  EXPECT_TRUE(nic.qos.trust.is(evidence::TrustMode::kPcp));
  EXPECT_TRUE(nic.link.mtu.is(1500_B));
  EXPECT_TRUE(nic.link.active_mtu.is(1024_B));
  EXPECT_TRUE(nic.link.pause_rx.is(true));
  EXPECT_TRUE(nic.ecn.np.is_missing()) << "the kernel's driver does not show it";
  EXPECT_TRUE(nic.rdma.traffic_class.is_missing());
  ASSERT_TRUE(nic.rdma.gids.is_known());
  ASSERT_EQ(nic.rdma.gids->size(), 4U);
  EXPECT_EQ(nic.rdma.gids->at(3).gid, "0000:0000:0000:0000:0000:ffff:0a00:0003");
  EXPECT_EQ(nic.rdma.gids->at(3).type, evidence::GidType::kRoceV2);
  EXPECT_TRUE(nic.link.neighbour.is_known());
  ASSERT_EQ(seen.snapshots.size(), 1U);
  const auto unknown = lab.host("gpu3");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_NE(unknown.error().what.find("did you mean 'gpu03'"), std::string::npos);
}

TEST(Lab, ANicSetAsDesignedShowsTheDesign) {
  const TemporaryDirectory place;
  const Lab lab = make_lab(place, pod16(), {.factory_hosts = false});
  const evidence::Nic nic = must(must(lab.host("gpu16"))->observe()).nics[0];
  const design::NicIntent& wanted = lab.intent().hosts[15].nics[0];
  EXPECT_TRUE(nic.qos.trust.is(evidence::TrustMode::kDscp));
  EXPECT_TRUE(nic.qos.pfc.is(wanted.pfc));
  EXPECT_TRUE(nic.qos.priority_to_tc.is(wanted.priority_to_tc));
  EXPECT_EQ(nic.qos.dscp_to_priority->at(26), wanted.dscp_to_priority[26]);
  EXPECT_TRUE(nic.ecn.rp.is(wanted.ecn_rp));
  EXPECT_TRUE(nic.rdma.traffic_class.is(std::optional(wanted.traffic_class)));
  EXPECT_TRUE(nic.link.active_mtu.is(4096_B));
  EXPECT_TRUE(nic.link.pause_tx.is(false));
}

TEST(Lab, PauseCountersAreThereOnlyWhilePfcIsOn) {
  const TemporaryDirectory place;
  const Lab lab = make_lab(place, pod16());
  const auto host = must(lab.host("gpu01"));
  const auto reading = [&] {
    return must(host->snapshot()).nics[0].read("nic.prio.pause_rx.frames", 3U);
  };
  EXPECT_FALSE(reading().has_value());
  must(host->perform({"mlx5_0", host::SetPfc{PrioritySet::from_mask(8)}}));
  EXPECT_TRUE(reading().has_value());
  EXPECT_EQ(counter(lab, "gpu01", "nic.phy.link_down.events"), 1U) << "the mask flaps the link";
}

TEST(Lab, WhatAHostShowsFollowsItsSettingsFaultsAndLoadsHoweverOftenItIsAsked) {
  COVERS("G8");
  const TemporaryDirectory place;
  Lab lab = make_lab(place, pod16(), {.factory_hosts = false});
  const auto seen = [&](std::string_view name) { return must(must(lab.host(name))->observe()); };
  const evidence::Evidence first = seen("gpu01");
  EXPECT_EQ(seen("gpu01"), first);
  const evidence::Evidence other = seen("gpu02");
  EXPECT_EQ(other.provenance.host, "gpu02");
  EXPECT_EQ(seen("gpu01"), first) << "another was looked at in between";

  must(must(lab.host("gpu01"))->perform({"mlx5_0", host::SetMtu{1500_B}}));
  EXPECT_TRUE(seen("gpu01").nics[0].link.mtu.is(1500_B));
  must(lab.add_fault("link-down,at=gpu01"));
  EXPECT_TRUE(seen("gpu01").nics[0].link.up.is(false));
  (void)must(lab.clear_all_faults());
  EXPECT_TRUE(seen("gpu01").nics[0].link.up.is(true));
  (void)run(lab, "gpu02", "incast to=gpu01 size=1MB hosts=gpu[01-02]");
  EXPECT_GT(counter(lab, "gpu01", "nic.prio.rx.bytes", 3), 1'000'000U);
  EXPECT_GT(counter(lab, "gpu02", "nic.prio.tx.bytes", 3), 1'000'000U);
}

TEST(Lab, TwoProcessesThatChangeALabLoseNoChange) {
  const TemporaryDirectory place;
  const Lab first = make_lab(place, pod16());
  const Lab second = must(Lab::open(place.file("lab")));
  must(must(first.host("gpu01"))->perform({"mlx5_0", host::SetMtu{9000_B}}));
  must(must(second.host("gpu02"))->perform({"mlx5_0", host::SetMtu{4200_B}}));
  const Lab now = must(Lab::open(place.file("lab")));
  EXPECT_EQ(now.status().factory_nics, 14U);
  const auto seen = must(must(now.host("gpu01"))->observe());
  EXPECT_TRUE(seen.nics[0].link.mtu.is(9000_B));
}

TEST(Lab, KeepsWhenPacketsWereMarked) {
  COVERS("J3");
  const TemporaryDirectory place;
  Lab lab = make_lab(place, pod16(), {.factory_hosts = false});
  Load load;
  load.workloads.push_back(must(sim::parse_workload("incast,to=gpu03,size=1MB")));
  const LoadOutcome outcome = must(lab.run_load(load));
  ASSERT_GT(outcome.totals.marked, 0U);
  const RunRecord record = must(Lab::open(place.file("lab"))).last_run().value();
  double marks = 0;
  for (const Curve& curve : record.curves)
    if (curve.measure == Measure::kMarks)
      for (const double value : curve.values)
        marks += value;
  EXPECT_EQ(marks, static_cast<double>(outcome.totals.marked));
}

TEST(Lab, ReadsWhatAnotherHandleChangedWhenItIsAskedTo) {
  const TemporaryDirectory place;
  Lab first = make_lab(place, pod16(), {.factory_hosts = false});
  const auto is_down = [&] {
    const auto found = must(must(first.host("gpu01"))->observe());
    return found.nics[0].link.up.is(false);
  };
  EXPECT_FALSE(is_down());
  Lab second = must(Lab::open(place.file("lab")));
  must(second.add_fault("link-down,at=gpu01"));
  (void)run(second, "gpu03", "ib_write_bw -n 10 --tclass=106 gpu02");
  EXPECT_FALSE(is_down());
  EXPECT_EQ(counter(first, "gpu03", "nic.prio.tx.packets", 3), 0U);
  must(first.refresh());
  EXPECT_TRUE(is_down());
  EXPECT_EQ(counter(first, "gpu03", "nic.prio.tx.packets", 3), 160U);
}

TEST(Lab, ChangesBetweenBeginAndCommitAreWrittenTogetherOrNotAtAll) {
  const TemporaryDirectory place;
  Lab lab = make_lab(place, pod16());
  must(lab.begin());
  for (const std::string& name : lab.host_names())
    must(must(lab.host(name))->perform({"mlx5_0", host::SetMtu{9000_B}}));
  EXPECT_EQ(must(Lab::open(place.file("lab"))).status().factory_nics, 16U);
  must(lab.commit());
  EXPECT_EQ(must(Lab::open(place.file("lab"))).status().factory_nics, 0U);
}

TEST(Lab, CountersAddUpOverLoadsAndTheClockMovesOn) {
  const TemporaryDirectory place;
  const Lab lab = make_lab(place, pod16(), {.factory_hosts = false});
  const auto host = must(lab.host("gpu01"));
  const counters::Snapshot start = must(host->snapshot());
  const auto done = run(lab, "gpu01", "ib_write_bw -n 10 --tclass=106 gpu02");
  const std::uint64_t once = counter(lab, "gpu01", "nic.prio.tx.packets", 3);
  EXPECT_EQ(once, 160U);  // ten messages of sixteen packets
  (void)run(lab, "gpu01", "ib_write_bw -n 10 --tclass=106 gpu02");
  EXPECT_EQ(counter(lab, "gpu01", "nic.prio.tx.packets", 3), 2 * once);
  const counters::Snapshot end = must(host->snapshot());
  EXPECT_GE(end.clock_ns - start.clock_ns, 2 * done.elapsed.raw() / 1000);
  const auto last = must(Lab::open(place.file("lab"))).last_run();
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(last->load, 2U);
  EXPECT_EQ(last->command, "ib_write_bw -n 10 --tclass=106 gpu02");
  ASSERT_FALSE(last->times.empty());
  for (const Curve& curve : last->curves)
    EXPECT_EQ(curve.values.size(), last->times.size());
}

TEST(Lab, WhatIsChangedAfterALoadIsKnownUntilTheNext) {
  const TemporaryDirectory place;
  Lab lab = make_lab(place, pod16(), {.factory_hosts = false});
  EXPECT_FALSE(lab.was_changed_since_last_run());
  must(lab.add_fault("np-off,at=gpu02"));
  EXPECT_FALSE(lab.was_changed_since_last_run());  // no load yet
  (void)run(lab, "gpu01", "ib_write_bw -n 10 --tclass=106 gpu02");
  EXPECT_FALSE(must(Lab::open(place.file("lab"))).was_changed_since_last_run());
  (void)must(lab.clear_all_faults());
  EXPECT_TRUE(must(Lab::open(place.file("lab"))).was_changed_since_last_run());
  (void)run(lab, "gpu01", "ib_write_bw -n 10 --tclass=106 gpu02");
  EXPECT_FALSE(must(Lab::open(place.file("lab"))).was_changed_since_last_run());
}

TEST(Lab, TheSameLabAndCommandGiveTheSameCounters) {
  COVERS("G8");
  const TemporaryDirectory a;
  const TemporaryDirectory b;
  for (const TemporaryDirectory* place : {&a, &b}) {
    const Lab lab = make_lab(*place, pod16(), {.factory_hosts = false});
    (void)run(lab, "gpu01", "all-to-all size=64KB");
  }
  EXPECT_EQ(must(read_file(a.file("lab/state.json"))), must(read_file(b.file("lab/state.json"))));
}

// ---- faults ----

TEST(LabFaults, AFaultOfASettingIsRepairedBySettingItRight) {
  COVERS("G9");
  const TemporaryDirectory place;
  Lab lab = make_lab(place, pod16(), {.factory_hosts = false});
  must(lab.add_fault("wrong-trust,at=gpu03"));
  ASSERT_EQ(lab.faults().size(), 1U);
  EXPECT_TRUE(lab.faults()[0].is_setting);
  const auto host = must(lab.host("gpu03"));
  EXPECT_TRUE(must(host->observe()).nics[0].qos.trust.is(evidence::TrustMode::kPcp));
  (void)run(lab, "gpu03", "ib_write_bw -n 5 --tclass=106 gpu04");
  EXPECT_EQ(counter(lab, "gpu03", "nic.prio.tx.packets", 3), 0U);
  host::SetDscpMap map;
  const auto& wanted = lab.intent().hosts[2].nics[0].dscp_to_priority;
  std::copy(wanted.begin(), wanted.end(), map.priority.begin());
  must(host->perform({"mlx5_0", map}));
  EXPECT_TRUE(lab.faults().empty());
  (void)run(lab, "gpu03", "ib_write_bw -n 5 --tclass=106 gpu04");
  EXPECT_GT(counter(lab, "gpu03", "nic.prio.tx.packets", 3), 0U);
}

TEST(LabFaults, AFaultInTheSettingsOfSwitchesIsRepairedBySettingThemRight) {
  COVERS("G9");
  const TemporaryDirectory place;
  Lab lab = make_lab(place, pod16(), {.factory_hosts = false});
  const auto ports = [&] {
    std::vector<std::vector<evidence::SwitchPort>> out;
    for (const evidence::Switch& sw : must(lab.observe_switches()).switches)
      out.push_back(sw.ports);
    return out;
  };
  const auto before = ports();
  must(lab.add_fault("ecn-too-low"));
  must(lab.add_fault("headroom-too-small,at=leaf1"));
  ASSERT_EQ(lab.faults().size(), 2U);
  EXPECT_TRUE(lab.faults()[0].is_setting);
  EXPECT_EQ(lab.faults()[0].switches.size(), lab.intent().switches.size());
  EXPECT_EQ(lab.faults()[1].switches, std::vector<std::string>{"leaf1"});
  const auto broken = ports();
  must(lab.set_factory("leaf1", false));
  ASSERT_EQ(lab.faults().size(), 1U) << "the other switches still mark too early";
  EXPECT_TRUE(ports()[0] == before[0]);
  EXPECT_TRUE(ports()[1] == broken[1]);
  lab = must(Lab::open(lab.directory()));
  EXPECT_TRUE(ports()[0] == before[0]) << "it is remembered who was set right";
  for (const std::string& name : std::vector<std::string>(lab.faults()[0].switches))
    must(lab.set_factory(name, false));
  EXPECT_TRUE(lab.faults().empty());
  EXPECT_TRUE(ports() == before);
}

TEST(LabFaults, AFaultOfNicsAndSwitchesIsThereUntilBothAreRight) {
  COVERS("G9");
  const TemporaryDirectory place;
  Lab lab = make_lab(place, pod16(), {.factory_hosts = false});
  must(lab.add_fault("pfc-too-wide"));
  for (const design::SwitchIntent& sw : lab.intent().switches)
    must(lab.set_factory(sw.name, false));
  EXPECT_EQ(lab.faults().size(), 1U) << "the NICs still have it";
  for (const design::HostIntent& host : lab.intent().hosts)
    for (const design::NicIntent& nic : host.nics)
      must(must(lab.host(host.name))->perform({nic.device, host::SetPfc{nic.pfc}}));
  EXPECT_TRUE(lab.faults().empty());
}

TEST(LabFaults, RoutesAreInNoSwitchSetting) {
  COVERS("G9");
  const TemporaryDirectory place;
  Lab lab = make_lab(place, pod16(), {.factory_hosts = false});
  must(lab.add_fault("routing-loop,at=leaf1"));
  EXPECT_FALSE(lab.faults()[0].is_setting);
  must(lab.set_factory("leaf1", false));
  EXPECT_EQ(lab.faults().size(), 1U);
}

TEST(LabFaults, ClearingPutsEverySettingBackAsItWas) {
  COVERS("G9");
  const TemporaryDirectory place;
  Lab lab = make_lab(place, pod16(), {.factory_hosts = false});
  const std::vector<std::string> faults = {"wrong-trust,at=gpu03",
                                           "wrong-dscp,at=gpu04",
                                           "wrong-tc,at=gpu05",
                                           "wrong-nic-map,at=gpu06",
                                           "wrong-pfc-priority,at=gpu07",
                                           "wrong-mtu,at=gpu08",
                                           "np-off,at=gpu09",
                                           "rp-off,at=gpu10",
                                           "dcqcn-rate-ai,at=gpu11",
                                           "dcqcn-alpha-period,at=gpu12"};
  const auto facts = [&] {
    std::vector<evidence::Nic> out;
    for (const std::string& name : lab.host_names())
      out.push_back(must(must(lab.host(name))->observe()).nics[0]);
    return out;
  };
  const auto before = facts();
  for (const std::string& fault : faults) {
    must(lab.add_fault(fault));
    EXPECT_TRUE(lab.faults().back().is_setting) << fault;
    EXPECT_FALSE(facts() == before) << fault << " shows nowhere";
    EXPECT_EQ(must(lab.clear_fault(fault)), 1U);
    EXPECT_TRUE(facts() == before) << fault;
  }
  for (const std::string& fault : faults)
    must(lab.add_fault(fault));
  EXPECT_EQ(must(lab.clear_all_faults()), faults.size());
  EXPECT_TRUE(facts() == before);
}

TEST(LabFaults, ClearingLeavesAloneWhatSomebodyHasSetSince) {
  const TemporaryDirectory place;
  Lab lab = make_lab(place, pod16(), {.factory_hosts = false});
  must(lab.add_fault("pfc-too-wide"));
  const auto host = must(lab.host("gpu01"));
  must(host->perform({"mlx5_0", host::SetPfc{PrioritySet::from_mask(16)}}));
  EXPECT_EQ(lab.faults().size(), 1U) << "the switches still have it";
  (void)must(lab.clear_fault("pfc-too-wide"));
  EXPECT_TRUE(must(host->observe()).nics[0].qos.pfc.is(PrioritySet::from_mask(16)));
  EXPECT_TRUE(must(must(lab.host("gpu02"))->observe())
                  .nics[0]
                  .qos.pfc.is(lab.intent().hosts[1].nics[0].pfc));
}

TEST(LabFaults, WhatChangesNothingOrIsThereOrDoesNotFitIsAnError) {
  const TemporaryDirectory place;
  Lab lab = make_lab(place, pod16());
  const auto error = [&](const std::string& text) {
    const Status added = lab.add_fault(text);
    return added ? std::string("added") : added.error().what;
  };
  EXPECT_NE(error("wrong-trust,at=gpu03").find("has no effect"), std::string::npos);
  EXPECT_NE(error("wrong-trust,at=gpu99").find("gpu99"), std::string::npos);
  EXPECT_NE(error("wrong-trsut,at=gpu03").find("did you mean"), std::string::npos);
  EXPECT_NE(error("bounce-routing,at=leaf1").find("needs two switches above"), std::string::npos);
  EXPECT_EQ(error("slow-receiver,at=gpu03"), "added");
  EXPECT_NE(error("slow-receiver,at=gpu03").find("already has"), std::string::npos);
  EXPECT_FALSE(lab.clear_fault("link-down").has_value());
  EXPECT_EQ(lab.faults().size(), 1U);
}

TEST(LabFaults, ALinkThatIsDownCountsOnceAndStaysCounted) {
  const TemporaryDirectory place;
  Lab lab = make_lab(place, pod16(), {.factory_hosts = false});
  must(lab.add_fault("link-down,at=gpu05"));
  EXPECT_TRUE(must(must(lab.host("gpu05"))->observe()).nics[0].link.up.is(false));
  const auto downs = [&] { return counter(lab, "gpu05", "nic.phy.link_down.events"); };
  EXPECT_EQ(downs(), 1U);
  (void)run(lab, "gpu01", "ib_write_bw -n 5 gpu02");
  (void)run(lab, "gpu01", "ib_write_bw -n 5 gpu02");
  EXPECT_EQ(downs(), 1U);
  (void)must(lab.clear_fault("link-down"));
  EXPECT_EQ(downs(), 1U);
  EXPECT_TRUE(must(must(lab.host("gpu05"))->observe()).nics[0].link.up.is(true));
}

// ---- switches ----

TEST(LabSwitches, FactorySwitchesLoseWhatDesignedOnesDoNot) {
  COVERS("G8");
  const TemporaryDirectory place;
  Lab lab = make_lab(place, pod16(), {.factory_hosts = false, .factory_switches = true});
  EXPECT_EQ(must(lab.buffer_profile("leaf1")), "factory");
  EXPECT_FALSE(lab.set_buffer_profile("leaf1", "roce-balanced").has_value());
  (void)run(lab, "gpu02", "incast to=gpu01 size=1MB");
  EXPECT_EQ(counter(lab, "gpu01", "nic.np.ecn_marked.packets"), 0U) << "nothing marks";
  for (const design::SwitchIntent& sw : lab.intent().switches)
    must(lab.set_factory(sw.name, false));
  EXPECT_EQ(lab.status().factory_switches, 0U);
  const auto done = run(lab, "gpu02", "incast to=gpu01 size=1MB");
  EXPECT_EQ(done.exit_status, 0) << done.output;
  EXPECT_GT(counter(lab, "gpu01", "nic.np.ecn_marked.packets"), 0U);
}

// ---- killed ----

/// Loads and changes the lab until it is killed.
[[noreturn]] void work_for_ever(const std::string& dir) {
  for (unsigned round = 0;; ++round) {
    auto lab = Lab::open(dir);
    if (!lab) ::_exit(3);
    auto host = lab->host("gpu01");
    if (!host) ::_exit(4);
    const auto changed = (*host)->perform({"mlx5_0", host::SetRings{512U << (round % 4), 1024}});
    const auto ran = (*host)->run({"ib_write_bw", "-n", "20", "gpu02"});
    if (!changed || !ran || ran->exit_status != 0) ::_exit(5);
  }
}

TEST(Lab, SurvivesAKillAtAnyMoment) {
  COVERS("G8");
  const TemporaryDirectory place;
  (void)make_lab(place, pod16());
  const std::string dir = place.file("lab");
  std::uint64_t loads = 0;
  for (int round = 0; round < 8; ++round) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) work_for_ever(dir);
    // Every state seen on the way is whole and later than the one before; the kill comes in the
    // midst of whatever is going on.
    const std::uint64_t goal = loads + 3;
    while (loads < goal) {
      const auto seen = Lab::open(dir);
      ASSERT_TRUE(seen.has_value()) << (seen ? "" : seen.error().what);
      ASSERT_GE(seen->status().loads, loads);
      loads = seen->status().loads;
      ASSERT_EQ(::waitpid(child, nullptr, WNOHANG), 0) << "the worker gave up";
    }
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    const Lab after = must(Lab::open(dir));
    loads = after.status().loads;
    must(must(after.host("gpu02"))->perform({"mlx5_0", host::SetMtu{9000_B}}));
  }
  must(Lab::remove(dir));
  EXPECT_FALSE(file_exists(dir)) << "nothing of a killed verb stays behind";
}

TEST(Lab, AThousandHostsAreALabToo) {
  const TemporaryDirectory place;
  Lab lab = make_lab(place, design::find_template("clos1k")->text);
  EXPECT_LT(must(read_file(place.file("lab/state.json"))).size(), 1000U);
  must(lab.begin());
  for (const std::string& name : lab.host_names())
    must(must(lab.host(name))->perform({"mlx5_0", host::SetMtu{9000_B}}));
  must(lab.commit());
  (void)run(lab, "gpu0001", "ib_write_bw -n 20 --tclass=106 gpu1024");
  EXPECT_LT(must(read_file(place.file("lab/state.json"))).size(), 2'000'000U);
  EXPECT_EQ(must(Lab::open(place.file("lab"))).status().loads, 1U);
}

}  // namespace
}  // namespace weir::lab
