#pragma once
// How far a long operation is, told to whoever asked for it.
#include <functional>
#include <string_view>

namespace weir::ops {

/// The share that is done, 0 to 1, and a word on where it is; may be empty.
using ProgressCallback = std::function<void(double share, std::string_view detail)>;

inline void tell(const ProgressCallback& progress, double share, std::string_view detail = {}) {
  if (progress) progress(share, detail);
}

}  // namespace weir::ops
