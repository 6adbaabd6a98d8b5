#pragma once
// A setting's value as JSON: {"set":"trust","mode":"dscp"}. What is written reads back as the same
// value; whatever else is in a text is an error that names the place.
#include "base/json_cursor.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "vocab/setting.h"

namespace weir::vocab {

[[nodiscard]] Json to_json(const SettingValue& value);
[[nodiscard]] Result<SettingValue> setting_from(const JsonCursor& place);

}  // namespace weir::vocab
