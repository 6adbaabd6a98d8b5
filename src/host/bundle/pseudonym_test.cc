#include "host/bundle/pseudonym.h"

#include <algorithm>
#include <set>

#include "base/testing.h"

namespace weir::host {
namespace {

template <std::size_t N>
std::size_t common_bits(const std::array<unsigned char, N>& a,
                        const std::array<unsigned char, N>& b) {
  for (std::size_t at = 0; at < N * 8; ++at) {
    const unsigned differ = static_cast<unsigned>(a.at(at / 8)) ^ b.at(at / 8);
    if (((differ >> (7U - at % 8)) & 1U) != 0) return at;
  }
  return N * 8;
}

}  // namespace

TEST(Pseudonyms, KeepPrefixesAndNothingElse) {
  COVERS("C2");
  const Pseudonyms names("a key");
  std::set<Ipv4> seen;
  for (unsigned char net = 0; net < 32; ++net) {
    for (unsigned char node = 1; node < 32; ++node) {
      const Ipv4 a{10, net, 1, node};
      const Ipv4 b{10, 3, 1, 17};
      EXPECT_EQ(common_bits(a, b), common_bits(names.of(a), names.of(b)));
      EXPECT_EQ(names.of(a)[0], 10) << "private stays private";
      seen.insert(names.of(a));
    }
  }
  EXPECT_EQ(seen.size(), 32U * 31U) << "no two addresses have one pseudonym";
  EXPECT_NE(names.of(Ipv4{10, 0, 1, 1}), (Ipv4{10, 0, 1, 1}));
  EXPECT_EQ(names.of(Ipv4{127, 0, 0, 1}), (Ipv4{127, 0, 0, 1}));
  const Ipv4 private16 = names.of(Ipv4{192, 168, 7, 7});
  EXPECT_TRUE(private16[0] == 192 && private16[1] == 168);
}

TEST(Pseudonyms, AreOneForAnAddressAndItsGid) {
  COVERS("C2");
  const Pseudonyms names;
  const auto gid = parse_gid("0000:0000:0000:0000:0000:ffff:0a0a:0105\n");
  ASSERT_TRUE(gid);
  const Ipv6 other = names.of(*gid);
  const Ipv4 address = names.of(Ipv4{10, 10, 1, 5});
  EXPECT_TRUE(std::equal(address.begin(), address.end(), other.begin() + 12));
  EXPECT_EQ(gid_text(*gid), "0000:0000:0000:0000:0000:ffff:0a0a:0105");
}

TEST(Pseudonyms, AreOneForAMacAndTheLinkLocalAddressMadeOfIt) {
  const Pseudonyms names;
  const Mac mac = names.of(Mac{0xb8, 0xce, 0xf6, 0x01, 0x02, 0x03});
  EXPECT_TRUE(mac[0] == 0xb8 && mac[1] == 0xce && mac[2] == 0xf6) << "the vendor stays";
  const Ipv6 other = names.of(*parse_gid("fe80:0000:0000:0000:bace:f6ff:fe01:0203"));
  EXPECT_EQ(other[0], 0xfe);
  EXPECT_EQ(other[8], mac[0] ^ 0x02);
  EXPECT_EQ(other[13], mac[3]);
  EXPECT_EQ(other[15], mac[5]);
  EXPECT_NE(mac, (Mac{0xb8, 0xce, 0xf6, 0x01, 0x02, 0x03}));
}

TEST(Pseudonyms, HaveAWayBackForWhoHasTheKey) {
  COVERS("C2");
  const Pseudonyms names("key");
  for (const char* text :
       {"0000:0000:0000:0000:0000:ffff:0a0a:0105", "0000:0000:0000:0000:0000:ffff:ac10:0001",
        "0000:0000:0000:0000:0000:ffff:acc8:0001", "0000:0000:0000:0000:0000:ffff:c0a8:0701",
        "0000:0000:0000:0000:0000:ffff:c633:6401", "fe80:0000:0000:0000:bace:f6ff:fe01:0203",
        "2001:0db8:0001:0002:bace:f6ff:fe01:0203", "fd00:0001:0000:0000:0000:0000:0000:0007"}) {
    const Ipv6 address = *parse_gid(text);
    EXPECT_EQ(gid_text(names.original(names.of(address))), text);
    EXPECT_NE(names.of(address), address) << text;
  }
}

TEST(Pseudonyms, DependOnTheKey) {
  EXPECT_EQ(Pseudonyms("x").of_host("gpu01"), Pseudonyms("x").of_host("gpu01.example.net"));
  EXPECT_NE(Pseudonyms("x").of_host("gpu01"), Pseudonyms("y").of_host("gpu01"));
  EXPECT_NE(Pseudonyms("x").of(Ipv4{10, 9, 8, 7}), Pseudonyms("y").of(Ipv4{10, 9, 8, 7}));
}

TEST(Pseudonyms, FindAddressesInATextAndLeaveTheRest) {
  const Pseudonyms names;
  const std::string text = names.of_text(
      "Global tclass=106\nsrc_ip=10.1.2.3,dst_ip=10.1.2.0/24,tclass=104\nversion 5.8 of 12:30\n");
  EXPECT_EQ(text.find("10.1.2.3"), std::string::npos) << text;
  EXPECT_NE(text.find("tclass=104\nversion 5.8 of 12:30\n"), std::string::npos) << text;
  EXPECT_NE(text.find("/24,"), std::string::npos) << text;
  const std::string macs = names.of_macs("upper_enxb8cef6010203 b8:ce:f6:01:02:03 0000:18:00.0");
  EXPECT_EQ(macs.find("010203"), std::string::npos) << macs;
  EXPECT_EQ(macs.find("01:02:03"), std::string::npos) << macs;
  EXPECT_NE(macs.find(" 0000:18:00.0"), std::string::npos) << macs;
  EXPECT_EQ(macs.size(),
            std::string("upper_enxb8cef6010203 b8:ce:f6:01:02:03 0000:18:00.0").size());
}

}  // namespace weir::host
