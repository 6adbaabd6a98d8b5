#include "evidence/json.h"

#include "base/json.h"
#include "base/testing.h"
#include "evidence/drawn_evidence.h"
#include "units/format.h"

namespace weir::evidence {
namespace {

TEST(EvidenceJson, EveryDrawnEvidenceComesBackFromItsJson) {
  COVERS("C1", "G8");
  std::size_t with_nics = 0;
  std::size_t with_ports = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Evidence drawn = draw_evidence(seed);
    const auto back = evidence_from_json(Json::parse(to_json(drawn).dump()));
    ASSERT_TRUE(back) << back.error().what;
    EXPECT_TRUE(*back == drawn) << to_json(drawn).dump(1);
    with_nics += drawn.nics.empty() ? 0 : 1;
    with_ports += drawn.switches.empty() || drawn.switches[0].ports.empty() ? 0 : 1;
  }
  EXPECT_GT(with_nics, 30U);
  EXPECT_GT(with_ports, 15U);
}

TEST(EvidenceJson, TheTextOfFactsIsThatOfTheDocument) {
  COVERS("G8");
  FactWriter writer;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Evidence drawn = draw_evidence(seed);
    // Two switches in a row with the same buffers: their text is made once.
    if (!drawn.switches.empty()) drawn.switches.push_back(drawn.switches.back());
    std::string text;
    writer.append(drawn, text);
    drawn.snapshots.clear();
    EXPECT_EQ(text, to_json(drawn).dump());
  }
}

TEST(EvidenceJson, TheTextOfFactsIsReadBackWithoutADocument) {
  COVERS("G8");
  FactWriter writer;
  FactReader reader;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Evidence drawn = draw_evidence(seed);
    std::string text;
    writer.append(drawn, text);
    const auto as_document = evidence_from_json(Json::parse(text));
    ASSERT_TRUE(as_document) << as_document.error().what;
    const auto as_text = reader.read(text);
    ASSERT_TRUE(as_text);
    EXPECT_EQ(*as_text, *as_document);
    // Whatever is cut off or put elsewhere is left to the reader of documents.
    EXPECT_FALSE(reader.read(std::string_view(text).substr(0, text.size() - 1 - seed)));
    EXPECT_FALSE(reader.read(Json::parse(text).dump(1)));
  }
}

TEST(EvidenceJson, WhatTheReaderOfDocumentsRefusesIsNotReadAsText) {
  Evidence evidence;
  evidence.nics.emplace_back().device = "mlx5_0";
  evidence.nics.back().link.speed = Fact<BitRate>::of(400_Gbps);
  std::string text;
  FactWriter().append(evidence, text);
  ASSERT_TRUE(FactReader().read(text));
  const std::string_view speed = R"("value":400000000000)";
  ASSERT_NE(text.find(speed), std::string::npos);
  for (const std::string_view wrong :
       {R"("value":-1)", R"("value":"fast")", R"("value":)", R"("value":1,"missing":"absent")"}) {
    std::string changed = text;
    changed.replace(changed.find(speed), speed.size(), wrong);
    EXPECT_FALSE(FactReader().read(changed)) << wrong;
  }
}

TEST(EvidenceJson, AFactIsAValueAReasonOrLeftOut) {
  COVERS("C1");
  Evidence evidence;
  Nic nic;
  nic.device = "mlx5_0";
  nic.qos.trust = Fact<TrustMode>::of(TrustMode::kDscp, "DCB netlink");
  nic.qos.pfc = Fact<PrioritySet>::of(PrioritySet::from_mask(0b1000));
  nic.ecn.np =
      Fact<PrioritySet>::missing(Missing::kUnsupported, "/sys/class/net/eth2/ecn/roce_np/enable/3");
  nic.rdma.traffic_class = Fact<std::optional<TosByte>>::of(std::nullopt);
  nic.link.speed = Fact<BitRate>::of(400_Gbps);
  evidence.nics.push_back(nic);
  const Json out = to_json(evidence)["nics"][0];
  EXPECT_EQ(out["qos"].dump(),
            R"({"trust":{"value":"dscp","source":"DCB netlink"},"pfc":{"value":[3]}})");
  EXPECT_EQ(
      out["ecn"].dump(),
      R"({"np":{"missing":"unsupported","source":"/sys/class/net/eth2/ecn/roce_np/enable/3"}})");
  EXPECT_EQ(out["rdma"].dump(), R"({"traffic_class":{"value":null}})");
  EXPECT_EQ(out["link"].dump(), R"({"speed_bps":{"value":400000000000}})");
  EXPECT_FALSE(out.contains("rings"));
}

TEST(EvidenceJson, AWrongTypeIsNamedByItsPointer) {
  const auto what = [](std::string_view nic) {
    const auto result = evidence_from_json(
        Json::parse(R"({"provenance": {}, "nics": [)" + std::string(nic) + "]}"));
    return result ? std::string("read") : result.error().what;
  };
  EXPECT_EQ(what(R"({"device": "mlx5_0", "from_the_future": [1, 2]})"), "read");
  EXPECT_EQ(what(R"({"link": {"mtu_bytes": {"value": "9k"}}})"),
            "/nics/0/link/mtu_bytes/value: expected an integer, found \"9k\"");
  EXPECT_EQ(what(R"({"link": {"mtu_bytes": {"value": -1}}})"),
            "/nics/0/link/mtu_bytes/value: expected a whole number, not negative, found -1");
  EXPECT_EQ(what(R"({"qos": {"pfc": {"value": [3, 8]}}})"),
            "/nics/0/qos/pfc/value/1: expected a whole number below 8, found 8");
  EXPECT_EQ(what(R"({"qos": {"priority_to_tc": {"value": [0, 1]}}})"),
            "/nics/0/qos/priority_to_tc/value: expected a list of 8, found [0,1]");
  EXPECT_EQ(what(R"({"qos": {"trust": {"value": "tos"}}})"),
            "/nics/0/qos/trust/value: expected one of dscp pcp both port none, found \"tos\"");
  EXPECT_EQ(what(R"({"qos": {"trust": {}}})"),
            "/nics/0/qos/trust: expected either value or missing, found {}");
  EXPECT_EQ(what(R"({"qos": {"trust": {"value": "dscp", "missing": "error"}}})").substr(0, 36),
            "/nics/0/qos/trust: expected either v");
  EXPECT_EQ(what(R"({"qos": 5})"), "/nics/0/qos: expected an object, found 5");
  EXPECT_EQ(what(R"("mlx5_0")"), "/nics/0: expected an object, found \"mlx5_0\"");
}

TEST(EvidenceJson, ErrorsInASnapshotAreNamedWithinTheDocument) {
  const auto result =
      evidence_from_json(Json::parse(R"({"provenance": {}, "snapshots": [{"nics": [7]}]})"));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().what, "/snapshots/0/nics/0: expected an object, found 7");
  EXPECT_EQ(evidence_from_json(Json::parse("{}")).error().what, "/provenance: missing");
  EXPECT_FALSE(evidence_from_json(Json::parse("[]")));
}

TEST(Evidence, FactsOfAMissingValueEqualNothing) {
  const Fact<bool> unlooked;
  const auto denied = Fact<bool>::missing(Missing::kPermission);
  const auto off = Fact<bool>::of(false);
  EXPECT_FALSE(unlooked.was_looked_at());
  EXPECT_TRUE(denied.was_looked_at());
  EXPECT_FALSE(denied.is(false));
  EXPECT_FALSE(unlooked.is(false));
  EXPECT_TRUE(off.is(false));
  EXPECT_FALSE(denied == unlooked);
  EXPECT_FALSE(denied == off);
}

TEST(Evidence, FindsNicsAndSwitchesByName) {
  Evidence evidence;
  evidence.nics.resize(2);
  evidence.nics[1].device = "mlx5_1";
  evidence.switches.resize(1);
  evidence.switches[0].name = "leaf1";
  EXPECT_EQ(evidence.find_nic("mlx5_1"), &evidence.nics[1]);
  EXPECT_EQ(evidence.find_nic("mlx5_2"), nullptr);
  EXPECT_EQ(evidence.find_switch("leaf1"), &evidence.switches[0]);
  EXPECT_EQ(evidence.find_switch("leaf2"), nullptr);
}

}  // namespace
}  // namespace weir::evidence
