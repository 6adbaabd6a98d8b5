#include "evidence/evidence.h"

#include <algorithm>

#include "evidence/enum_names.h"

namespace weir::evidence {

std::string_view to_text(Stack value) {
  return vocab::enum_name(value);
}
std::string_view to_text(GidType value) {
  return vocab::enum_name(value);
}
std::string_view to_text(Distance value) {
  return vocab::enum_name(value);
}

counters::Driver driver_of(const Nic& nic) {
  return nic.driver.is_known() ? counters::driver_of(*nic.driver) : counters::Driver::kAny;
}

bool may_be_mlx5(const Nic& nic) {
  return !nic.driver.is_known() || driver_of(nic) == counters::Driver::kMlx5;
}

const Nic* Evidence::find_nic(std::string_view device) const {
  const auto at =
      std::find_if(nics.begin(), nics.end(), [&](const Nic& nic) { return nic.device == device; });
  return at == nics.end() ? nullptr : &*at;
}

const Switch* Evidence::find_switch(std::string_view name) const {
  const auto at = std::find_if(switches.begin(), switches.end(),
                               [&](const Switch& box) { return box.name == name; });
  return at == switches.end() ? nullptr : &*at;
}

}  // namespace weir::evidence
