#include "render/text/host_screen.h"

#include "base/testing.h"

namespace weir::render {
namespace {

using evidence::Evidence;
using evidence::Fact;
using evidence::Setting;

Evidence host(std::string name, evidence::TrustMode trust) {
  Evidence out;
  out.provenance.host = std::move(name);
  evidence::Nic nic;
  nic.device = "mlx5_0";
  nic.rail = Fact<unsigned>::of(0, "test");
  nic.qos.trust = Fact<evidence::TrustMode>::of(trust, "test");
  nic.qos.pfc = Fact<PrioritySet>::missing(evidence::Missing::kPermission, "test");
  out.nics.push_back(nic);
  return out;
}

TEST(HostScreen, WhatLooksWrongIsMarkedAndWhatIsUnknownIsNot) {
  COVERS("C11");
  const Evidence wrong = host("gpu01", evidence::TrustMode::kPcp);
  const ScreenHost screen{&wrong, {{Setting::kTrust, Setting::kPfc}}};
  const std::string text = host_screen({&screen, 1});
  EXPECT_NE(text.find(" pcp!"), std::string::npos) << text;
  EXPECT_EQ(text.find("?!"), std::string::npos) << "a gap is no fault";
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  const std::string painted = as_printed(host_screen({&screen, 1}, {.colour = true}));
  EXPECT_NE(painted.find("\x1b[1;31mpcp!\x1b[0m"), std::string::npos);
}

TEST(HostScreen, HostsThatShowTheSameAreToldOnce) {
  COVERS("C11");
  const std::vector<Evidence> all = {
      host("gpu01", evidence::TrustMode::kDscp), host("gpu02", evidence::TrustMode::kDscp),
      host("gpu03", evidence::TrustMode::kPcp), host("gpu04", evidence::TrustMode::kDscp)};
  std::vector<ScreenHost> screen;
  for (const Evidence& host_evidence : all)
    screen.push_back({&host_evidence, {}});
  const std::string text = host_screen(screen);
  EXPECT_NE(text.find("gpu[02,04]: same settings"), std::string::npos) << text;
  EXPECT_NE(text.find("\ngpu03\n"), std::string::npos);
}

TEST(HostScreen, ACounterThatUsesAll64BitsIsNotNegative) {
  COVERS("C11");
  Evidence right = host("gpu01", evidence::TrustMode::kDscp);
  right.snapshots.emplace_back();
  right.snapshots.back().nics.emplace_back(
      "mlx5_0", "eth0", "mlx5_core",
      std::vector<counters::Sample>{{counters::Place::kHwCounters, "np_cnp_sent",
                                     counters::Reading::of(18'446'744'073'709'551'615U)}});
  const ScreenHost screen{&right, {}};
  const std::string text = host_screen({&screen, 1});
  EXPECT_NE(text.find("18,446,744,073,709,551,615"), std::string::npos) << text;
}

TEST(HostScreen, AHostWithoutRdmaSaysSo) {
  Evidence none;
  none.provenance.host = "login1";
  const ScreenHost screen{&none, {}};
  EXPECT_EQ(host_screen({&screen, 1}), "login1\n  no RDMA device\n");
}

}  // namespace
}  // namespace weir::render
