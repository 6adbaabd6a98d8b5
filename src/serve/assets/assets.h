#pragma once
// The files of src/web, compiled in: the page needs nothing from elsewhere.
#include <string_view>

namespace weir::serve {

struct Asset {
  std::string_view path;  // "/page.js"
  std::string_view type;
  std::string_view text;
};
/// nullptr: none of this path.
[[nodiscard]] const Asset* find_asset(std::string_view path);

}  // namespace weir::serve
