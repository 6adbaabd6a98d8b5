#pragma once
// Lines of others' configurations may hold passwords; what a program prints ends in logs.
#include <string>
#include <string_view>

namespace weir {

/// The line, cut behind the first word that names a secret: "username admin secret …".
[[nodiscard]] std::string without_secret(std::string_view line);

}  // namespace weir
