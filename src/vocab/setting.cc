#include "vocab/setting.h"

#include "base/check.h"
#include "vocab/enum_names.h"

namespace weir::vocab {
std::string_view to_text(TrustMode trust) {
  return enum_name(trust);
}
std::string_view to_text(Tsa tsa) {
  return enum_name(tsa);
}

std::string_view to_text(Setting setting) {
  const SettingNames& names = kSettingNames.at(static_cast<std::size_t>(setting));
  WEIR_CHECK(names.setting == setting);
  return names.title;
}

std::string name_of(const SettingValue& value) {
  if (const auto* knob = std::get_if<SetKnob>(&value)) return knob->name;
  if (const auto* sysctl = std::get_if<SetSysctl>(&value)) return sysctl->name;
  if (std::holds_alternative<SetEcn>(value)) return "ECN";
  return std::string(to_text(setting_of(value)));
}

}  // namespace weir::vocab
