#include "host/linux/dcb.h"

#include <cerrno>

#include "base/file.h"
#include "base/testing.h"
#include "host/kernel/capture.h"

namespace weir::host {

using evidence::Missing;

namespace {

const std::string kData = std::string(WEIR_TEST_DATA) + "/host/";

CapturedTalk recording(const std::string& name) {
  const auto text = read_file(kData + name);
  EXPECT_TRUE(text) << (text ? "" : text.error().what);
  const auto talks = parse_hex(*text);
  EXPECT_TRUE(talks) << (talks ? "" : talks.error().what);
  return talks->at(0);
}

}  // namespace

TEST(LinuxDcb, AsksExactlyWhatTheDcbToolAsks) {
  std::string asked = recording("mlx5-ofed/netlink/dcb.hex").request;
  std::string ours = dcb_get_request("eth2");
  ASSERT_EQ(asked.size(), ours.size());
  for (std::size_t at = 8; at < 16; ++at)  // sequence number and port
    asked[at] = ours[at];
  EXPECT_EQ(asked, ours);
}

TEST(LinuxDcb, ReadsWhatAKernelAnswered) {
  COVERS("C1", "C10");
  const DcbState state = parse_dcb(recording("fakenic-6.1/netlink/dcb.hex").replies.at(0));
  const evidence::Qos qos = qos_from(state, "fnic0", true);
  EXPECT_TRUE(qos.trust.is(evidence::TrustMode::kDscp));
  EXPECT_TRUE(qos.pfc.is(PrioritySet::from_mask(0x08)));
  EXPECT_EQ((*qos.dscp_to_priority)[26], 3_prio);
  EXPECT_EQ((*qos.dscp_to_priority)[48], 6_prio);
  EXPECT_EQ((*qos.dscp_to_priority)[0], std::nullopt) << "no entry: the firmware's own choice";
  EXPECT_EQ((*qos.tsa)[3], evidence::Tsa::kEts);
  EXPECT_EQ((*qos.tc_bandwidth)[3], 50U);
  EXPECT_TRUE(qos.buffer_total.is(256_KiB));
  EXPECT_TRUE(qos.dcbx.is(evidence::DcbxMode::kOs));
  EXPECT_EQ(qos_from(state, "fnic0", false).cable_length.why(), Missing::kUnsupported);
}

TEST(LinuxDcb, NeverReadsASetOutOfABrokenReply) {
  const std::string whole = recording("mlx5-ofed/netlink/dcb.hex").replies.at(0);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const DcbState state = parse_dcb(std::string_view(whole).substr(0, size));
    if (state.pfc) {
      EXPECT_EQ(state.pfc->on, PrioritySet::from_mask(0x08)) << size;
    }
    if (state.ets) {
      EXPECT_EQ(state.ets->priority_to_tc[3], 3_tc) << size;
    }
  }
}

TEST(LinuxDcb, KnowsNothingWhereTheDriverHasNoDcb) {
  const evidence::Qos qos = qos_from(Errno{EOPNOTSUPP}, "veth0", false);
  EXPECT_EQ(qos.pfc.why(), Missing::kUnsupported);
  EXPECT_EQ(qos.trust.why(), Missing::kUnsupported);
  EXPECT_EQ(qos_from(Errno{EPERM}, "eth2", true).pfc.why(), Missing::kPermission);
}

}  // namespace weir::host
