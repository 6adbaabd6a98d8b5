#pragma once
// The designs that `weir init --template` writes: the files of designs/, built in.
#include <span>
#include <string_view>

namespace weir::design {

struct Template {
  std::string_view name;
  std::string_view summary;  // the file's first comment line
  std::string_view text;
};

/// Smallest first.
[[nodiscard]] std::span<const Template> templates();
[[nodiscard]] const Template* find_template(std::string_view name);

}  // namespace weir::design
