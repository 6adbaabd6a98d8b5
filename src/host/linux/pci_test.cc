#include "host/linux/pci.h"

#include "base/testing.h"

namespace weir::host {

using evidence::Distance;
using evidence::Fact;
using evidence::Missing;

namespace {

Fact<PciPlace> place(std::string_view path) {
  const auto parsed = parse_pci_path(path);
  return parsed ? Fact<PciPlace>::of(*parsed) : Fact<PciPlace>::missing(parsed.why());
}

Fact<Distance> distance(std::string_view a, unsigned node_a, std::string_view b, unsigned node_b) {
  return distance_between(place(a), Fact<unsigned>::of(node_a), place(b),
                          Fact<unsigned>::of(node_b));
}

void put16(std::string& config, std::size_t at, unsigned value) {
  config[at] = static_cast<char>(value & 255U);
  config[at + 1] = static_cast<char>(value >> 8U);
}

}  // namespace

TEST(LinuxPci, TakesThePathApart) {
  const auto nic = parse_pci_path(
      "/sys/devices/pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0/0000:18:00.0/infiniband/"
      "mlx5_0");
  ASSERT_TRUE(nic);
  EXPECT_EQ(nic->root, "pci0000:15");
  EXPECT_EQ(nic->address, "0000:18:00.0");
  EXPECT_EQ(nic->bridges,
            (std::vector<std::string>{"0000:15:01.0", "0000:16:00.0", "0000:17:00.0"}));
  EXPECT_EQ(parse_pci_path("/sys/devices/virtual/infiniband/rxe0").why(), Missing::kUnsupported);
}

TEST(LinuxPci, NamesTheDistanceOfANicAndAGpu) {
  COVERS("C5");
  const std::string_view nic =
      "/sys/devices/pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0/0000:18:00.0";
  EXPECT_TRUE(
      distance(nic, 0,
               "/sys/devices/pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:01.0/0000:1b:00.0", 0)
          .is(Distance::kPix));
  EXPECT_TRUE(
      distance(nic, 0,
               "/sys/devices/pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:02.0/0000:19:00.0/"
               "0000:1a:00.0/0000:1c:00.0",
               0)
          .is(Distance::kPxb));
  EXPECT_TRUE(
      distance(nic, 0, "/sys/devices/pci0000:15/0000:15:03.0/0000:20:00.0", 0).is(Distance::kPhb));
  EXPECT_TRUE(
      distance(nic, 0, "/sys/devices/pci0000:30/0000:30:01.0/0000:31:00.0", 0).is(Distance::kNode));
  EXPECT_TRUE(
      distance(nic, 0, "/sys/devices/pci0000:97/0000:97:01.0/0000:98:00.0", 1).is(Distance::kSys));
  EXPECT_EQ(
      distance("/sys/devices/pci0000:00/0000:00:05.0", 0, "/sys/devices/pci0000:00/0000:00:06.0", 0)
          .why(),
      Missing::kUnsupported)
      << "a virtual machine's flat tree says nothing";
}

TEST(LinuxPci, ReadsConfigSpaceAndKnowsWhenItWasRefused) {
  COVERS("C5");
  std::string config(4096, '\0');
  config[0x34] = 0x60;
  config[0x60] = 0x10;
  put16(config, 0x68, (5U << 12U) | 0x10U);
  put16(config, 0x100, 0x000D);
  put16(config, 0x106, 0x0005);
  EXPECT_EQ(parse_device_control(config)->max_read_request, 4096_B);
  EXPECT_TRUE(parse_device_control(config)->relaxed_ordering);
  EXPECT_TRUE(*parse_acs_redirect(config));
  put16(config, 0x106, 0);
  EXPECT_FALSE(*parse_acs_redirect(config));
  EXPECT_EQ(parse_acs_redirect(config.substr(0, 64)).why(), Missing::kPermission);
  EXPECT_EQ(parse_device_control(config.substr(0, 64)).why(), Missing::kPermission);
  config[0x61] = 0x60;
  config[0x60] = 0x01;
  EXPECT_EQ(parse_device_control(config).why(), Missing::kUnsupported) << "a list in a circle ends";
}

}  // namespace weir::host
