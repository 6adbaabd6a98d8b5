#include "base/untrusted/name_policy.h"

#include "base/testing.h"

namespace weir {
namespace {

TEST(NamePolicy, TakesNamesAsSystemsGiveThem) {
  for (const char* name : {"gpu01", "gpu-01.rack3.example.com", "LEAF_1", "_spare", "7"})
    EXPECT_FALSE(wrong_name(NameKind::kHost, name)) << name;
  for (const char* name : {"eth0", "enp1s0f0np0", "bond0.100", "br-3f2c", "rail0"})
    EXPECT_FALSE(wrong_name(NameKind::kNetdev, name)) << name;
  for (const char* name : {"mlx5_0", "rocep24s0", "mlx5_bond_0", "bnxt_re1"})
    EXPECT_FALSE(wrong_name(NameKind::kDevice, name)) << name;
  for (const char* name : {"Ethernet1/1", "et-0/0/1:0", "swp1s0", "Ethernet1/1/1", "ge-0/0/0.0"})
    EXPECT_FALSE(wrong_name(NameKind::kPort, name)) << name;
  EXPECT_FALSE(wrong_name(NameKind::kTitle, "pod 16"));
}

TEST(NamePolicy, RefusesWhatCouldBeMoreThanAName) {
  const std::string_view zero("a\0b", 3);
  for (const std::string_view name : {std::string_view(""),
                                      std::string_view("../../../PWN"),
                                      std::string_view("a/b"),
                                      std::string_view("-oProxyCommand=id"),
                                      std::string_view(".hidden"),
                                      std::string_view(".."),
                                      std::string_view("a..b"),
                                      std::string_view("a b"),
                                      std::string_view("a;id"),
                                      std::string_view("e'; id > F; '"),
                                      std::string_view("$(id)"),
                                      std::string_view("`id`"),
                                      std::string_view("a\nb"),
                                      std::string_view("\x1b[2J"),
                                      std::string_view("gpu\xc3\xa9"),
                                      std::string_view("a\"b"),
                                      std::string_view("a\\b"),
                                      std::string_view("%i"),
                                      std::string_view("{{ x }}"),
                                      std::string_view("a,b"),
                                      std::string_view("a|b"),
                                      std::string_view("a#b"),
                                      std::string_view("a:b"),
                                      zero}) {
    for (const NameKind kind :
         {NameKind::kHost, NameKind::kNetdev, NameKind::kDevice, NameKind::kWord})
      EXPECT_TRUE(wrong_name(kind, name)) << name;
    const bool is_port = name == "a/b" || name == "a:b";
    EXPECT_EQ(wrong_name(NameKind::kPort, name).has_value(), !is_port) << name;
  }
}

TEST(NamePolicy, MakesANameOfAnyText) {
  EXPECT_EQ(as_name(NameKind::kHost, "a bundle"), "a-bundle");
  EXPECT_EQ(as_name(NameKind::kHost, "gpu01.bundle"), "gpu01.bundle");
  EXPECT_EQ(as_name(NameKind::kHost, "../../-x;y..z"), "x-y.-z");
  EXPECT_EQ(as_name(NameKind::kHost, "\x1b"), "unnamed");
  for (int c = 0; c < 256; ++c) {
    const std::string text = {'a', static_cast<char>(c), static_cast<char>(c), 'b'};
    EXPECT_FALSE(wrong_name(NameKind::kHost, as_name(NameKind::kHost, text))) << c;
  }
}

TEST(NamePolicy, HasLimitsOfLength) {
  EXPECT_FALSE(wrong_name(NameKind::kNetdev, std::string(15, 'a')));
  EXPECT_TRUE(wrong_name(NameKind::kNetdev, std::string(16, 'a')));
  EXPECT_FALSE(wrong_name(NameKind::kHost, std::string(253, 'a')));
  EXPECT_TRUE(wrong_name(NameKind::kHost, std::string(254, 'a')));
  EXPECT_TRUE(wrong_name(NameKind::kPort, std::string(64, 'a')));
}

TEST(NamePolicy, SaysPlaceExpectedAndFoundWithoutControlCharacters) {
  const Status wrong = check_name(NameKind::kHost, "a\x1b[2Jb", "x.bundle");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().what,
            "x.bundle: expected the name of a host or switch (letters, digits, '-', '_' and '.', "
            "at most 253), found 'a\\u001b[2Jb'");
}

TEST(NamePolicy, OfDestinationsTakesUsersAndAddresses) {
  for (const char* good : {"gpu02", "ops@gpu02", "10.0.0.2", "fd00::2", "root@fe80::1"})
    EXPECT_TRUE(check_destination(good)) << good;
  for (const char* bad : {"-oProxyCommand=id", "a b", "@gpu02", "x@", "-l@gpu", "ops@-v", "a;b",
                          "gpu02:2", "", "fd00::2%eth0"})
    EXPECT_FALSE(check_destination(bad)) << bad;
}

}  // namespace
}  // namespace weir
