#include <set>

#include "base/testing.h"
#include "vocab/nic_drivers.h"
#include "vocab/switch_systems.h"

namespace weir::vocab {
namespace {

TEST(NicDrivers, AFamilyIsFoundByEveryNameOfItsKernelDrivers) {
  EXPECT_EQ(driver_of("mlx5_core"), Driver::kMlx5);
  EXPECT_EQ(driver_of("mlx5_ib"), Driver::kMlx5);
  EXPECT_EQ(driver_of("ice"), Driver::kIrdma);
  EXPECT_EQ(driver_of("idpf"), Driver::kIrdma);
  EXPECT_EQ(driver_of("rdma_rxe"), Driver::kRxe);
  EXPECT_EQ(driver_of("e1000e"), Driver::kAny);
  EXPECT_EQ(driver_of("mlx4_core"), Driver::kAny) << "a driver without counters of its own";
  EXPECT_EQ(driver_of("sonic"), Driver::kSonic);
}

TEST(NicDrivers, EachRowAgreesWithItself) {
  std::set<std::string_view> names;
  for (const NicDriver& row : kNicDrivers) {
    EXPECT_EQ(driver_of(row.kernel), row.driver) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(rdma_stem(std::string(row.device) + "0"), row.device.size()) << row.name;
    if (row.driver != Driver::kAny) {
      EXPECT_EQ(to_text(row.driver), row.name);
    }
  }
}

TEST(NicDrivers, DevicesAreKnownByTheirNames) {
  ASSERT_NE(driver_of_device("bnxt_re1"), nullptr);
  EXPECT_EQ(driver_of_device("bnxt_re1")->kernel, "bnxt_en");
  EXPECT_EQ(driver_of_device("rocep24s0"), nullptr) << "udev's name says nothing of the driver";
  EXPECT_EQ(rdma_stem("rocep24s0"), 5U);
  EXPECT_EQ(rdma_stem("eth0"), 0U);
}

TEST(NicDrivers, CommandsGoByDriverAndByWhoBuiltIt) {
  EXPECT_EQ(find_stack(Driver::kMlx5, true)->name, "mlx5-ofed");
  EXPECT_EQ(find_stack(Driver::kMlx5, false)->name, "mlx5-inbox");
  EXPECT_EQ(find_stack(Driver::kIrdma, true)->name, "ice");
  EXPECT_EQ(find_stack(Driver::kRxe, false), nullptr);
}

TEST(SwitchSystems, TheTableIsInTheOrderOfTheEnumeration) {
  for (const SwitchSystemName& row : kSwitchSystems) {
    EXPECT_EQ(&names_of(row.system), &row);
    EXPECT_EQ(driver_of(row.name), row.driver);
    EXPECT_EQ(to_text(row.driver), row.name);
  }
}

}  // namespace
}  // namespace weir::vocab
