#include "vocab/nic_drivers.h"

#include <algorithm>

#include "vocab/switch_systems.h"

namespace weir::vocab {
namespace {

constexpr std::string_view kAnyDriver = "any";
constexpr std::string_view kSwitchNames = "switch";

/// What udev calls RDMA devices by their place on the PCI bus (rdma-core,
/// 60-rdma-persistent-naming).
constexpr auto kPersistentNames = std::to_array<std::string_view>({"rocep", "ibp", "rdmap"});

}  // namespace

const NicDriver* find_driver(Driver driver) {
  if (driver == Driver::kAny) return nullptr;
  const auto row = std::find_if(kNicDrivers.begin(), kNicDrivers.end(),
                                [&](const NicDriver& each) { return each.driver == driver; });
  return row == kNicDrivers.end() ? nullptr : &*row;
}

const NicDriver* driver_of_device(std::string_view device) {
  const auto row = std::find_if(kNicDrivers.begin(), kNicDrivers.end(), [&](const NicDriver& each) {
    return device.starts_with(each.device);
  });
  return row == kNicDrivers.end() ? nullptr : &*row;
}

Driver driver_of(std::string_view kernel_driver) {
  for (const NicDriver& row : kNicDrivers)
    for (const std::string_view start : row.modules)
      if (!start.empty() && kernel_driver.starts_with(start)) return row.driver;
  if (kernel_driver.starts_with(kSwitchNames)) return Driver::kSwitch;
  for (const SwitchSystemName& row : kSwitchSystems)
    if (kernel_driver.starts_with(row.name)) return row.driver;
  return Driver::kAny;
}

std::string_view to_text(Driver driver) {
  if (driver == Driver::kAny) return kAnyDriver;
  if (const NicDriver* const row = find_driver(driver)) return row->name;
  for (const SwitchSystemName& row : kSwitchSystems)
    if (row.driver == driver) return row.name;
  return kSwitchNames;
}

std::size_t rdma_stem(std::string_view name) {
  if (const NicDriver* const row = driver_of_device(name)) return row->device.size();
  for (const std::string_view start : kPersistentNames)
    if (name.starts_with(start)) return start.size();
  return 0;
}

const NicStack* find_stack(Driver driver, bool is_vendor) {
  const NicStack* found = nullptr;
  for (const NicStack& row : kNicStacks)
    if (row.driver == driver && (found == nullptr || row.is_vendor == is_vendor)) found = &row;
  return found;
}

}  // namespace weir::vocab
