#include "host/probe/probe_mtu.h"

#include <gtest/gtest.h>

#include "base/testing.h"
#include "host/probe/probe_socket.h"

namespace weir::host {
namespace {

using Kind = ProbeReply::Kind;

/// A path of routers and a peer, each with the MTU of the link that leads to it.
class Path final : public ProbeIo {
 public:
  struct Hop {
    std::string address;
    std::uint32_t mtu = 9000;
    bool says_too_big = true;  // the hop before it does, where the link is narrow
    bool is_mute = false;
  };
  explicit Path(std::vector<Hop> hops, std::uint32_t local = 9000)
      : hops_(std::move(hops)), local_(local) {}

  Result<ProbeReply> send(std::uint32_t size, unsigned ttl, Duration /*wait*/) override {
    ++sent_;
    if (lose_every_ > 0 && sent_ % lose_every_ == 0) return ProbeReply{};
    if (size > local_) return ProbeReply{.kind = Kind::kTooBigHere};
    for (std::size_t i = 0; i < hops_.size(); ++i) {
      const Hop& hop = hops_[i];
      if (size > hop.mtu) {
        if (!hop.says_too_big || i == 0) return ProbeReply{};
        return ProbeReply{.kind = Kind::kTooBig, .from = hops_[i - 1].address, .mtu = hop.mtu};
      }
      const bool is_peer = i + 1 == hops_.size();
      if (hop.is_mute && (is_peer || ttl == i + 1)) return ProbeReply{};
      if (is_peer) return ProbeReply{.kind = Kind::kAnswered, .from = hop.address, .elapsed = 1_ms};
      if (ttl == i + 1) return ProbeReply{.kind = Kind::kExpired, .from = hop.address};
    }
    return ProbeReply{};
  }
  void pause(Duration /*time*/) override {}

  void lose_every(unsigned n) { lose_every_ = n; }
  [[nodiscard]] unsigned sent() const { return sent_; }

 private:
  std::vector<Hop> hops_;
  std::uint32_t local_;
  unsigned lose_every_ = 0;
  unsigned sent_ = 0;
};

MtuFinding probed(Path& path, std::uint32_t largest = 9000) {
  const auto found = find_mtu(path, {.largest = largest});
  EXPECT_TRUE(found.has_value());
  return found.value_or(MtuFinding{});
}

TEST(ProbeMtu, ACleanPathTakesTwoPackets) {
  COVERS("C3");
  Path path({{"r1"}, {"r2"}, {"peer"}});
  const MtuFinding found = probed(path);
  EXPECT_TRUE(found.is_answered);
  EXPECT_EQ(found.mtu, 9000U);
  EXPECT_FALSE(found.is_narrow());
  EXPECT_EQ(path.sent(), 2U);
}

TEST(ProbeMtu, ARouterThatSaysSoIsBelievedAndChecked) {
  COVERS("C3");
  Path path({{"r1"}, {"r2", 1500}, {"peer"}});
  const MtuFinding found = probed(path);
  EXPECT_EQ(found.mtu, 1500U);
  ASSERT_EQ(found.said.size(), 1U);
  EXPECT_EQ(found.said[0].from, "r1");
  EXPECT_FALSE(found.is_silent());
  ASSERT_TRUE(found.after && found.before);
  EXPECT_EQ(found.hops[*found.after].address, "r1");
  EXPECT_EQ(found.hops[*found.before].address, "r2");
}

TEST(ProbeMtu, TheSilentSegmentIsBracketedWhereverItIs) {
  COVERS("C3");
  for (std::size_t narrow = 0; narrow < 4; ++narrow) {
    std::vector<Path::Hop> hops = {{"r1"}, {"r2"}, {"r3"}, {"peer"}};
    hops[narrow].mtu = 4321;
    hops[narrow].says_too_big = false;
    Path path(hops);
    const MtuFinding found = probed(path);
    EXPECT_EQ(found.mtu, 4321U);
    EXPECT_TRUE(found.is_silent());
    ASSERT_TRUE(found.before.has_value());
    EXPECT_EQ(*found.before, narrow);
    if (narrow == 0) {
      EXPECT_FALSE(found.after.has_value());
    } else {
      ASSERT_TRUE(found.after.has_value());
      EXPECT_EQ(*found.after, narrow - 1);
    }
  }
}

TEST(ProbeMtu, AHopThatNeverAnswersWidensTheBracketOnly) {
  COVERS("C3");
  Path path({{"r1"}, {.address = "r2", .is_mute = true}, {"r3", 1500, false}, {"peer"}});
  const MtuFinding found = probed(path);
  EXPECT_EQ(found.mtu, 1500U);
  EXPECT_EQ(*found.after, 0U);
  EXPECT_EQ(*found.before, 2U);
  EXPECT_TRUE(found.hops[1].address.empty());
}

TEST(ProbeMtu, EverySizeIsFoundExactly) {
  COVERS("C3");
  for (std::uint32_t mtu = 577; mtu < 9000; mtu += 97) {
    Path path({{"r1"}, {"peer", mtu, false}});
    EXPECT_EQ(probed(path).mtu, mtu);
  }
}

TEST(ProbeMtu, LostPacketsAreNoNarrowPath) {
  for (unsigned every = 2; every < 6; ++every) {
    Path path({{"r1"}, {"peer", 1500, false}});
    path.lose_every(every);
    EXPECT_EQ(probed(path).mtu, 1500U) << every;
  }
}

TEST(ProbeMtu, TheOwnInterfaceMayBeTheNarrowOne) {
  Path path({{"peer"}}, 1500);
  const MtuFinding found = probed(path);
  EXPECT_EQ(found.mtu, 1500U);
  EXPECT_TRUE(found.is_local);
  EXPECT_TRUE(found.hops.empty());
}

TEST(ProbeMtu, APeerThatNeverAnswersIsNoAnswer) {
  Path path({{"r1"}, {.address = "peer", .is_mute = true}});
  const MtuFinding found = probed(path);
  EXPECT_FALSE(found.is_answered);
  EXPECT_FALSE(found.is_narrow());
}

TEST(ProbeMtu, RdmaTakesThePowerOfTwoThatFits) {
  COVERS("C3");
  EXPECT_EQ(rdma_mtu_of(9000, false), 4096U);
  EXPECT_EQ(rdma_mtu_of(4200, false), 4096U);
  EXPECT_EQ(rdma_mtu_of(4096, false), 2048U);
  EXPECT_EQ(rdma_mtu_of(2200, true), 2048U);
  EXPECT_EQ(rdma_mtu_of(1500, true), 1024U);
  EXPECT_EQ(rdma_mtu_of(300, false), 0U);
}

TEST(ProbeSocket, IcmpErrorsMeanWhatTheirNumbersSay) {
  COVERS("C3");
  EXPECT_EQ(read_icmp_error(false, 3, 4, 1500, "r1", false).kind, Kind::kTooBig);
  EXPECT_EQ(read_icmp_error(false, 3, 4, 1500, "r1", false).mtu, 1500U);
  EXPECT_EQ(read_icmp_error(true, 2, 0, 1500, "r1", false).kind, Kind::kTooBig);
  EXPECT_EQ(read_icmp_error(false, 11, 0, 0, "r1", false).kind, Kind::kExpired);
  EXPECT_EQ(read_icmp_error(true, 3, 0, 0, "r1", false).kind, Kind::kExpired);
  EXPECT_EQ(read_icmp_error(false, 3, 3, 0, "peer", true).kind, Kind::kAnswered);
  // A port that is closed at another host is not the peer's answer.
  EXPECT_EQ(read_icmp_error(false, 3, 3, 0, "r1", false).kind, Kind::kUnreachable);
  EXPECT_EQ(read_icmp_error(false, 3, 13, 0, "r1", false).detail, "forbidden by a filter");
}

TEST(ProbeSocket, AnEchoReplyIsOursByItsNumbersAlone) {
  std::string packet(28, '\0');
  packet[0] = 0x45;
  packet[20 + 4] = 0x12;
  packet[20 + 5] = 0x34;
  packet[20 + 7] = 7;
  EXPECT_TRUE(is_echo_reply(packet, true, false, 0x1234, 7));
  EXPECT_FALSE(is_echo_reply(packet, true, false, 0x1234, 8));
  packet[20] = 8;  // a request
  EXPECT_FALSE(is_echo_reply(packet, true, false, 0x1234, 7));
  for (std::size_t size = 0; size < packet.size(); ++size)
    EXPECT_FALSE(is_echo_reply(std::string_view(packet).substr(0, size), true, false, 0, 0));
}

}  // namespace
}  // namespace weir::host
